//! One pass over a text that tells whether a secret can be in it at all.
//!
//! The words of telling names and the prefixes of key shapes are searched for
//! together; runs of key characters are found by looking at every twentieth byte.

use std::ops::Range;
use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, AhoCorasickKind, MatchKind};

use super::context::KEY_KINDS;
use super::shapes;

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

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// A stem of a telling name.
    Stem,
    /// The prefix of the key shape with that index.
    Prefix(usize),
}

/// A stem or prefix in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hit {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) what: What,
}

struct Automaton {
    search: AhoCorasick,
    /// What each pattern stands for.
    meanings: Vec<What>,
}

/// Every stem and prefix in `text`, in the order in which they end.
pub(super) fn hits(text: &str) -> impl Iterator<Item = Hit> {
    let automaton = automaton();
    automaton
        .search
        .find_overlapping_iter(text)
        .map(|found| Hit {
            start: found.start(),
            end: found.end(),
            what: automaton.meanings[found.pattern().as_usize()],
        })
}

/// Whether [`super::scan`] can find anything in `text`, whatever its place. It may
/// say yes to a text without secrets, never no to one with. `min_length` is that of
/// the settings; where entropy is off, pass `usize::MAX`. It is also true of text
/// that holds secrets in escaped or encoded form, so that raw JSON can be asked about.
pub(crate) fn may_hold_secret(text: &str, min_length: usize) -> bool {
    // Encoded text is looked into from the usual length on even where entropy is off.
    let length = min_length.min(super::encoded::SHORTEST);
    next_run(text.as_bytes(), 0, length).is_some() || automaton().search.is_match(text)
}

/// Whether a name holds a stem.
pub(super) fn holds_stem(name: &str) -> bool {
    hits(name).any(|hit| hit.what == What::Stem)
}

/// The first run of at least `min_length` key characters that starts at or after `from`.
pub(super) fn next_run(bytes: &[u8], from: usize, min_length: usize) -> Option<Range<usize>> {
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

fn automaton() -> &'static Automaton {
    static AUTOMATON: OnceLock<Automaton> = OnceLock::new();
    AUTOMATON.get_or_init(|| {
        let mut patterns: Vec<String> = STEMS.iter().map(|stem| (*stem).to_owned()).collect();
        for kind in KEY_KINDS {
            patterns.extend(["", "_", "-", " ", "."].map(|joint| format!("{kind}{joint}key")));
        }
        let mut meanings = vec![What::Stem; patterns.len()];
        for (shape, prefix) in shapes::prefixes() {
            patterns.push(prefix.to_owned());
            meanings.push(What::Prefix(shape));
        }
        let search = AhoCorasickBuilder::new()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::DFA))
            .build(&patterns);
        #[expect(
            clippy::expect_used,
            reason = "a few hundred short patterns of our own fit any automaton"
        )]
        let search = search.expect("the patterns are short and few");
        Automaton { search, meanings }
    })
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
        assert!(may_hold_secret("https://example.org", 20));
        assert!(may_hold_secret("q8N2vR5xL1mZ7pK4tW9yB3cF6hJ0", usize::MAX));
    }
}
