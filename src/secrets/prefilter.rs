//! One pass over a text that tells whether a secret can be in it at all.
//!
//! The words of telling names and the prefixes of key shapes are searched for
//! together; runs of key characters are found by looking at every twentieth byte.

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, AhoCorasickKind, MatchKind};

use super::context::KEY_KINDS;
use super::shapes::{self, Prefix};

/// How many bytes are searched before the compact automaton is worth building.
const LITTLE: usize = 100 << 10;

/// How many bytes are searched before the dense automaton is worth building.
const MUCH: usize = 4 << 20;

/// How far behind a prefix the character that its shape cannot do without may stand.
const WINDOW: usize = 300;

/// Stems of telling names. A name that holds none of these promises nothing.
const STEMS: &[&str] = &[
    "token",
    "secret",
    "passw",
    "passphrase",
    "passcode",
    "pwd",
    "authorization",
    "x-auth",
    "x_auth",
    "cookie",
    "credential",
    "bearer",
    "jwt",
    "_pass",
    "-pass",
    "dbpass",
    "userpass",
    "signature",
    "sig=",
    "auth=",
    "pass=",
    "?key=",
    "&key=",
];

/// A stem or prefix in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hit {
    pub(super) start: usize,
    pub(super) end: usize,
    /// The index of the key shape, none for a stem.
    pub(super) shape: Option<usize>,
}

/// A search for many strings at once, and what each of them stands for.
struct Search {
    automaton: AhoCorasick,
    strings: Vec<(String, Option<Prefix>)>,
    /// Worked out at the first hit of each string.
    meanings: Vec<OnceLock<Vec<Meaning>>>,
}

#[derive(Clone, Copy)]
struct Meaning {
    /// None for a stem.
    prefix: Option<Prefix>,
    /// The length of the stem or prefix, which may be shorter than the string found.
    length: usize,
}

/// The stems of telling names in `text` and the prefixes of key shapes, each with as
/// many key characters behind it as its shape asks for, in ascending order.
pub(super) fn hits(text: &str) -> impl Iterator<Item = Hit> {
    search(text.len()).hits(text)
}

/// Whether [`super::scan`] can find anything in `text`, apart from what the name of its
/// place promises. It may say yes to a text without secrets, never no to one with.
/// `min_length` is that of the settings; where entropy is off, pass `usize::MAX`.
///
/// Raw JSON may be asked about as a whole unless it holds a backslash: escapes can
/// spell a telling name so that it is not seen.
pub(crate) fn may_hold_secret(text: &str, min_length: usize) -> bool {
    // Encoded text is looked into from the usual length on even where entropy is off.
    let length = min_length.min(super::encoded::SHORTEST);
    next_run(text.as_bytes(), 0, length).is_some() || hits(text).next().is_some()
}

/// Whether a name holds a stem.
pub(super) fn holds_stem(name: &str) -> bool {
    hits(name).any(|hit| hit.shape.is_none())
}

/// The first run of at least `min_length` key characters that starts at or after `from`.
pub(crate) fn next_run(bytes: &[u8], from: usize, min_length: usize) -> Option<Range<usize>> {
    let step = min_length.max(1);
    // A run of `step` bytes covers one of these probes, wherever it begins.
    let mut probe = from + step - 1;
    let mut floor = from;
    while let Some(byte) = bytes.get(probe) {
        if !is_key_byte(*byte) {
            probe += step;
            continue;
        }
        let back = bytes[floor..probe]
            .iter()
            .rev()
            .take_while(|b| is_key_byte(**b))
            .count();
        let start = probe - back;
        let wanted = start + step;
        let ahead = bytes[probe..]
            .iter()
            .take_while(|b| is_key_byte(**b))
            .count();
        let end = probe + ahead;
        if end >= wanted {
            return Some(start..end);
        }
        floor = end;
        probe = end + step;
    }
    None
}

/// The characters of base64, base64url and hexadecimal, without padding.
pub(super) fn is_key_byte(byte: u8) -> bool {
    const TABLE: [bool; 256] = {
        let mut table = [false; 256];
        let mut byte = 0_usize;
        while byte < 128 {
            #[expect(clippy::cast_possible_truncation, reason = "below 128")]
            let c = byte as u8;
            table[byte] = c.is_ascii_alphanumeric() || matches!(c, b'+' | b'/' | b'-' | b'_');
            byte += 1;
        }
        table
    };
    TABLE[usize::from(byte)]
}

/// Whether a byte can go on after the prefix of a key.
pub(super) fn continues(byte: u8) -> bool {
    is_key_byte(byte) || matches!(byte, b'.' | b'=')
}

impl Search {
    fn new(kind: AhoCorasickKind) -> Self {
        let strings = strings();
        let automaton = AhoCorasickBuilder::new()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::LeftmostLongest)
            .kind(Some(kind))
            .prefilter(false)
            .build(strings.iter().map(|(string, _)| string));
        #[expect(
            clippy::expect_used,
            reason = "a few hundred short strings of our own fit any automaton"
        )]
        let automaton = automaton.expect("the strings are short and few");
        let meanings = strings.iter().map(|_| OnceLock::new()).collect();
        Search {
            automaton,
            strings,
            meanings,
        }
    }

    /// What a string stands for. Only the longest string at a place is reported, so that
    /// it speaks for the shorter ones it begins with: `sk-ant-` for `sk-`, `secret_` for
    /// `secret`.
    fn meanings(&self, string: usize) -> &[Meaning] {
        self.meanings[string].get_or_init(|| {
            let whole = &self.strings[string].0;
            let begins = self.strings.iter().filter(|(other, _)| {
                whole
                    .get(..other.len())
                    .is_some_and(|head| head.eq_ignore_ascii_case(other))
            });
            begins
                .map(|(other, prefix)| Meaning {
                    prefix: *prefix,
                    length: other.len(),
                })
                .collect()
        })
    }

    fn hits(&'static self, text: &str) -> impl Iterator<Item = Hit> {
        self.automaton.find_iter(text).flat_map(move |found| {
            let start = found.start();
            let meanings = self.meanings(found.pattern().as_usize()).iter();
            meanings.filter_map(move |meaning| {
                let end = start + meaning.length;
                let fits = meaning
                    .prefix
                    .is_none_or(|prefix| prefix.fits(text, start, end));
                let shape = meaning.prefix.map(|prefix| prefix.shape);
                fits.then_some(Hit { start, end, shape })
            })
        })
    }
}

impl Prefix {
    /// The cheap tests: case, and how much follows.
    fn fits(&self, text: &str, start: usize, end: usize) -> bool {
        let bytes = text.as_bytes();
        let spelt = self.ignore_case || bytes[start..end] == *self.text.as_bytes();
        let following = bytes[end..].iter().take(self.follow);
        let window = &bytes[end..bytes.len().min(end + WINDOW)];
        spelt
            && following.take_while(|byte| continues(**byte)).count() == self.follow
            && self
                .within
                .is_none_or(|byte| memchr::memchr(byte, window).is_some())
    }
}

/// The automaton for a text: at first the one that is built soonest, then a compact one
/// that searches faster, and after a few megabytes a dense one that is three times as fast.
fn search(length: usize) -> &'static Search {
    static FIRST: OnceLock<Search> = OnceLock::new();
    static COMPACT: OnceLock<Search> = OnceLock::new();
    static DENSE: OnceLock<Search> = OnceLock::new();
    static SEEN: AtomicUsize = AtomicUsize::new(0);
    let seen = SEEN.fetch_add(length, Ordering::Relaxed);
    let seen = seen.saturating_add(length);
    if seen <= LITTLE {
        FIRST.get_or_init(|| Search::new(AhoCorasickKind::NoncontiguousNFA))
    } else if seen <= MUCH {
        COMPACT.get_or_init(|| Search::new(AhoCorasickKind::ContiguousNFA))
    } else {
        DENSE.get_or_init(|| Search::new(AhoCorasickKind::DFA))
    }
}

fn strings() -> Vec<(String, Option<Prefix>)> {
    let kinds = KEY_KINDS.iter();
    let keys =
        kinds.flat_map(|kind| ["", "_", "-", " ", "."].map(|joint| format!("{kind}{joint}key")));
    let stems = STEMS.iter().map(|stem| (*stem).to_owned()).chain(keys);
    let prefixes = shapes::prefixes().map(|prefix| (prefix.text.to_owned(), Some(prefix)));
    stems.map(|stem| (stem, None)).chain(prefixes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_found_wherever_they_begin() {
        for lead in 0..45 {
            let text = format!("{}{}!", " ".repeat(lead), "a".repeat(20));
            assert_eq!(next_run(text.as_bytes(), 0, 20), Some(lead..lead + 20));
            let short = format!("{}{}!", " ".repeat(lead), "a".repeat(19));
            assert_eq!(next_run(short.as_bytes(), 0, 20), None);
        }
    }

    #[test]
    fn the_next_run_begins_after_a_short_one() {
        let text = format!("{} {} {}", "a".repeat(19), "b".repeat(3), "c".repeat(30));
        assert_eq!(next_run(text.as_bytes(), 0, 20), Some(24..54));
        assert_eq!(next_run(text.as_bytes(), 54, 20), None);
    }

    #[test]
    fn plain_prose_cannot_hold_a_secret() {
        assert!(!may_hold_secret(
            "The quick brown fox jumps over the lazy dog, again and again.",
            20
        ));
        assert!(may_hold_secret("the API KEY: x", 20));
        assert!(!may_hold_secret("https://example.org", 20));
        assert!(may_hold_secret("https://me@example.org", 20));
        assert!(may_hold_secret("q8N2vR5xL1mZ7pK4tW9yB3cF6hJ0", usize::MAX));
    }
}
