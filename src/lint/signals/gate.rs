//! Which languages a text may be written in, found out in one cheap pass.
//!
//! Nearly all texts are English, and must not pay for twenty other vocabularies. A
//! language of another script is out of the question where no letter of the script
//! occurs. The languages with Latin letters are told apart by their own words: every
//! combination has an anchor (`lexicon::is_anchor`), so a language is in question only
//! where a word begins with the first four bytes of one of its anchors.

use super::language::{LANGUAGES, Language, Letters};
use super::lexicon::anchors_of;
use super::vocabulary::Word;
use std::sync::OnceLock;

/// A set of languages, one bit each in the order of `LANGUAGES`.
type Set = u32;

/// The languages that the folded text may have signals in.
pub(super) fn languages(folded: &str) -> impl Iterator<Item = &'static Language> {
    let mut set = latin(folded);
    if !folded.is_ascii() {
        let scripts = Scripts::of(folded.as_bytes());
        for (at, language) in LANGUAGES.iter().enumerate() {
            if scripts.has(language.letters) {
                set |= 1 << at;
            }
        }
    }
    LANGUAGES
        .iter()
        .enumerate()
        .filter(move |(at, _)| set & 1 << at != 0)
        .map(|(_, language)| language)
}

/// The scripts of a text, by the first bytes of its characters.
struct Scripts {
    seen: u8,
    kana: bool,
    devanagari: bool,
}

const CYRILLIC: u8 = 1;
const HEBREW: u8 = 2;
const ARABIC: u8 = 4;
const HAN: u8 = 8;
const HANGUL: u8 = 16;
/// Devanagari is among these.
const INDIC: u8 = 32;
/// Kana is among these.
const MIXED: u8 = 64;

/// What the first byte of a character says of its script.
static FIRST_BYTES: [u8; 256] = first_bytes();

#[expect(clippy::indexing_slicing, reason = "a byte is an index of the table")]
const fn first_bytes() -> [u8; 256] {
    let mut table = [0; 256];
    let mut byte = 0xd0_usize;
    while byte < 0xf0 {
        table[byte] = match byte {
            0xd0..=0xd3 => CYRILLIC,
            0xd7 => HEBREW,
            0xd8..=0xdb => ARABIC,
            0xe0 => INDIC,
            0xe3 => MIXED,
            0xe4..=0xe9 => HAN,
            0xea..=0xed => HANGUL,
            _ => 0,
        };
        byte += 1;
    }
    table
}

impl Scripts {
    fn of(bytes: &[u8]) -> Scripts {
        let seen = bytes.iter().fold(0, |seen, byte| {
            seen | FIRST_BYTES
                .get(usize::from(*byte))
                .copied()
                .unwrap_or_default()
        });
        let has = |first: u8, seconds: std::ops::RangeInclusive<u8>| {
            memchr::memchr_iter(first, bytes).any(|at| {
                bytes
                    .get(at + 1)
                    .is_some_and(|second| seconds.contains(second))
            })
        };
        Scripts {
            seen,
            kana: seen & MIXED != 0 && has(0xe3, 0x81..=0x83),
            devanagari: seen & INDIC != 0 && has(0xe0, 0xa4..=0xa5),
        }
    }

    fn has(&self, letters: Letters) -> bool {
        let bit = match letters {
            Letters::Latin => return false,
            Letters::Kana => return self.kana,
            Letters::Devanagari => return self.devanagari,
            Letters::Cyrillic => CYRILLIC,
            Letters::Hebrew => HEBREW,
            Letters::Arabic => ARABIC,
            Letters::Han => HAN,
            Letters::Hangul => HANGUL,
        };
        self.seen & bit != 0
    }
}

/// The length of a key: enough that few English words begin like an anchor.
const KEY: usize = 4;
/// The first three bytes of one.
const THREE: u32 = 0x00ff_ffff;

/// The beginnings of the anchors of all languages with Latin letters.
struct Beginnings {
    /// One bit for a hash of the first three bytes of each key. Most words end here.
    threes: Vec<u64>,
    /// One bit for each hash of a key.
    bits: Vec<u64>,
    /// Sorted by key.
    anchors: Vec<(u32, Word, Set)>,
}

/// The languages with Latin letters of which an anchor may begin somewhere.
fn latin(folded: &str) -> Set {
    static BEGINNINGS: OnceLock<Beginnings> = OnceLock::new();
    let beginnings = BEGINNINGS.get_or_init(Beginnings::new);
    let bytes = folded.as_bytes();
    let mut set = 0;
    let mut inside = false;
    for (at, byte) in bytes.iter().enumerate() {
        let letter = LETTERS.get(usize::from(*byte)).is_some_and(|is| *is);
        if letter && !inside {
            set |= beginnings.languages(bytes.get(at..).unwrap_or_default());
        }
        inside = letter;
    }
    set
}

impl Beginnings {
    fn new() -> Beginnings {
        let mut beginnings = Beginnings {
            threes: vec![0; 1 << 10],
            bits: vec![0; 1 << 10],
            anchors: Vec::new(),
        };
        for (at, language) in LANGUAGES.iter().enumerate() {
            if language.letters != Letters::Latin {
                continue;
            }
            for word in anchors_of(language.file) {
                let key = key(word.text.as_bytes());
                let (index, bit) = place(key);
                if let Some(bits) = beginnings.bits.get_mut(index) {
                    *bits |= bit;
                }
                // Behind a word of two letters may be anything but a letter.
                let behind = if word.text.len() == 2 { 0..=127 } else { 0..=0 };
                for third in behind.filter(|third| !is_letter(*third)) {
                    let key = if word.text.len() == 2 {
                        key & 0xffff | u32::from(third) << 16
                    } else {
                        key
                    };
                    let (index, bit) = place(key & THREE);
                    if let Some(threes) = beginnings.threes.get_mut(index) {
                        *threes |= bit;
                    }
                }
                beginnings.anchors.push((key, word, 1 << at));
            }
        }
        beginnings.anchors.sort_unstable_by_key(|(key, ..)| *key);
        beginnings
    }

    #[inline]
    fn languages(&self, rest: &[u8]) -> Set {
        let key = key(rest);
        let (index, bit) = place(key & THREE);
        if self
            .threes
            .get(index)
            .is_none_or(|threes| threes & bit == 0)
        {
            return 0;
        }
        let mut set = self.languages_at(key, rest);
        if let Some(short) = short_key(key) {
            set |= self.languages_at(short, rest);
        }
        set
    }

    #[inline]
    fn languages_at(&self, key: u32, rest: &[u8]) -> Set {
        let (index, bit) = place(key);
        if self.bits.get(index).is_none_or(|bits| bits & bit == 0) {
            return 0;
        }
        let first = self.anchors.partition_point(|(other, ..)| *other < key);
        self.anchors
            .get(first..)
            .unwrap_or_default()
            .iter()
            .take_while(|(other, ..)| *other == key)
            .filter(|(_, anchor, _)| begins_with(rest, *anchor))
            .fold(0, |set, (.., language)| set | language)
    }
}

/// The bytes that [`is_letter`] holds of.
static LETTERS: [bool; 256] = letters();

#[expect(clippy::indexing_slicing, reason = "a byte is an index of the table")]
const fn letters() -> [bool; 256] {
    let mut table = [false; 256];
    let mut byte = 0_u8;
    loop {
        table[byte as usize] = !byte.is_ascii() || byte.is_ascii_alphanumeric();
        if byte == u8::MAX {
            break;
        }
        byte += 1;
    }
    table
}

#[inline]
fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || !byte.is_ascii()
}

/// Whether the bytes begin with the word, and it ends there or may go on.
fn begins_with(bytes: &[u8], word: Word) -> bool {
    let behind = bytes.strip_prefix(word.text.as_bytes());
    behind.is_some_and(|behind| {
        let next = behind.first().copied();
        word.stem || !next.is_some_and(is_letter)
    })
}

/// The first bytes of a word or phrase, with spaces behind the end of the text.
#[inline]
fn key(bytes: &[u8]) -> u32 {
    if let Some(first) = bytes.first_chunk::<KEY>() {
        return u32::from_le_bytes(*first);
    }
    let mut key = [b' '; KEY];
    for (slot, byte) in key.iter_mut().zip(bytes) {
        *slot = *byte;
    }
    u32::from_le_bytes(key)
}

/// The key of a word of two or three letters with something else behind it than spaces.
#[inline]
fn short_key(key: u32) -> Option<u32> {
    let [first, second, third, fourth] = key.to_le_bytes();
    let short = if !is_letter(third) {
        [first, second, b' ', b' ']
    } else if !is_letter(fourth) {
        [first, second, third, b' ']
    } else {
        return None;
    };
    let short = u32::from_le_bytes(short);
    (short != key).then_some(short)
}

#[inline]
fn place(key: u32) -> (usize, u64) {
    let hash = key.wrapping_mul(0x9e37_79b1) >> 16;
    ((hash >> 6) as usize, 1 << (hash & 63))
}
