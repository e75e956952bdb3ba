//! Which languages a text may be written in, found out in one cheap pass.
//!
//! Nearly all texts are English, and must not pay for twenty other vocabularies, nor for
//! that of English where it says nothing. A language of another script is out of the
//! question where no letter of the script occurs. English and the other languages with
//! Latin letters are known by their own words: every combination has an anchor
//! (`Concept::is_anchor`, `lexicon::is_anchor`), so a language is in question only where
//! one of its anchors stands. One table has the anchors of all of them.

use super::language::{LANGUAGES, Language, Letters};
use super::lexicon::anchors_of;
use super::vocabulary::{Word, vocabulary};
use crate::needles::Needles;
use std::convert::Infallible;
use std::ops::ControlFlow;
use std::sync::OnceLock;

/// A set of languages, one bit each in the order of `LANGUAGES`, and one for English.
type Set = u32;

/// The bit of English.
const ENGLISH: Set = 1 << LANGUAGES.len();

/// The languages that a text may have signals in.
#[derive(Clone, Copy)]
pub(super) struct Open(Set);

impl Open {
    /// Those of a folded text.
    pub(super) fn of(folded: &str) -> Open {
        let mut set = by_anchors(folded);
        if !folded.is_ascii() {
            let scripts = Scripts::of(folded.as_bytes());
            for (at, language) in LANGUAGES.iter().enumerate() {
                if scripts.has(language.letters) {
                    set |= 1 << at;
                }
            }
        }
        Open(set)
    }

    pub(super) fn english(self) -> bool {
        self.0 & ENGLISH != 0
    }

    /// Whether there is one beside English.
    pub(super) fn abroad(self) -> bool {
        self.0 & !ENGLISH != 0
    }

    /// Those beside English.
    pub(super) fn languages(self) -> impl Iterator<Item = &'static Language> {
        LANGUAGES
            .iter()
            .enumerate()
            .filter(move |(at, _)| self.0 & 1 << at != 0)
            .map(|(_, language)| language)
    }
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

/// The anchors of English and of all other languages with Latin letters.
struct Anchors {
    table: Needles,
    /// In the order of the table, with the language of each.
    words: Vec<(Word, Set)>,
}

/// English and the languages with Latin letters of which an anchor stands somewhere.
fn by_anchors(folded: &str) -> Set {
    static ANCHORS: OnceLock<Anchors> = OnceLock::new();
    let anchors = ANCHORS.get_or_init(Anchors::new);
    let bytes = folded.as_bytes();
    let mut set = 0;
    let ControlFlow::Continue(()) = anchors.table.walk_words::<Infallible>(bytes, |at, index| {
        if let Some((word, language)) = anchors.words.get(index)
            && set & language == 0
            && (*language == ENGLISH || ends_there(bytes.get(at..).unwrap_or_default(), *word))
        {
            set |= language;
        }
        ControlFlow::Continue(())
    });
    set
}

impl Anchors {
    fn new() -> Anchors {
        let english = vocabulary().anchors().map(|word| (word, ENGLISH));
        let latin = LANGUAGES.iter().enumerate();
        let latin = latin
            .filter(|(_, language)| language.letters == Letters::Latin)
            .flat_map(|(at, language)| anchors_of(language.file).map(move |word| (word, 1 << at)));
        let words: Vec<(Word, Set)> = english.chain(latin).collect();
        Anchors {
            table: Needles::new(words.iter().map(|(word, _)| word.text)),
            words,
        }
    }
}

/// Whether the word that the bytes begin with ends there, or may go on.
fn ends_there(bytes: &[u8], word: Word) -> bool {
    let next = bytes.get(word.text.len());
    word.stem || !next.is_some_and(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii())
}
