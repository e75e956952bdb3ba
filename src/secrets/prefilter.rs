//! One pass over a text that tells whether a secret can be in it at all.
//!
//! The words of telling names and the prefixes of key shapes are searched for
//! together; runs of key characters are found in blocks.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use super::context::KEY_KINDS;
use super::encoded::SHORTEST;
use super::shapes::{self, Prefix};
use crate::blocks::{self, Bytes, are, within};
use crate::needles::Needles;

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
    needles: Needles,
    /// None for a stem.
    prefixes: Vec<Option<Prefix>>,
}

/// The stems of telling names in `text` and the prefixes of key shapes, each with as
/// many key characters behind it as its shape asks for, in ascending order.
pub(super) fn hits(text: &str) -> impl Iterator<Item = Hit> {
    search().hits(text)
}

/// Whether [`super::scan`] can find anything in `text`, apart from what the name of its
/// place promises. It may say yes to a text without secrets, never no to one with.
/// `min_length` is that of the settings; where entropy is off, pass `usize::MAX`.
///
/// Raw JSON may be asked about as a whole unless it holds a backslash: escapes can
/// spell a telling name so that it is not seen.
pub(crate) fn may_hold_secret(text: &str, min_length: usize) -> bool {
    may_hold_secret_with(text, min_length, || first_run(text))
}

/// The same for who remembers the [`first_run`].
pub(crate) fn may_hold_secret_with(
    text: &str,
    min_length: usize,
    first_run: impl FnOnce() -> Option<usize>,
) -> bool {
    let run = match min_length < SHORTEST {
        true => next_run(text.as_bytes(), 0, min_length).map(|run| run.start),
        false => first_run(),
    };
    run.is_some() || hits(text).next().is_some()
}

/// Where the first run of key characters begins that is long enough to be looked into: encoded
/// text is, from the usual length on, even where entropy is off.
pub(crate) fn first_run(text: &str) -> Option<usize> {
    next_run(text.as_bytes(), 0, SHORTEST).map(|run| run.start)
}

/// Whether a name holds a stem.
pub(super) fn holds_stem(name: &str) -> bool {
    hits(name).any(|hit| hit.shape.is_none())
}

/// The first run of at least `min_length` key characters that starts at or after `from`.
pub(crate) fn next_run(bytes: &[u8], from: usize, min_length: usize) -> Option<Range<usize>> {
    const LANES: usize = 64;
    let mut at = from;
    // Where runs may be as long as most of a block, blocks would not get on.
    while min_length <= LANES / 2
        && let Some(block) = bytes.get(at..).and_then(|rest| rest.first_chunk::<LANES>())
    {
        let runs = blocks::runs(blocks::bits(block, are_key_bytes), min_length);
        if runs != 0 {
            let start = at + runs.trailing_zeros() as usize;
            return Some(start..run_end(bytes, start));
        }
        // A run that the block cut short begins after this.
        at += LANES + 1 - min_length.max(1);
    }
    next_run_probing(bytes, at, min_length)
}

fn run_end(bytes: &[u8], start: usize) -> usize {
    let run = bytes.get(start..).unwrap_or_default().iter();
    start + run.take_while(|byte| is_key_byte(**byte)).count()
}

/// As [`next_run`], by looking at every so many bytes.
fn next_run_probing(bytes: &[u8], from: usize, min_length: usize) -> Option<Range<usize>> {
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
        let end = run_end(bytes, probe);
        if end >= start + step {
            return Some(start..end);
        }
        floor = end;
        probe = end + step;
    }
    None
}

/// The characters of base64, base64url and hexadecimal, without padding.
pub(super) fn is_key_byte(byte: u8) -> bool {
    ((byte | 0x20).wrapping_sub(b'a') < 26)
        | (byte.wrapping_sub(b'0') < 10)
        | (byte == b'+')
        | (byte == b'/')
        | (byte == b'-')
        | (byte == b'_')
}

/// Which bytes are key bytes.
#[inline]
fn are_key_bytes(bytes: Bytes) -> Bytes {
    within(blocks::in_one_case(bytes), b'a', b'z')
        // The slash stands before the digits.
        | within(bytes, b'/', b'9')
        | are(bytes, b'+')
        | are(bytes, b'-')
        | are(bytes, b'_')
}

/// Whether a byte can go on after the prefix of a key.
pub(super) fn continues(byte: u8) -> bool {
    is_key_byte(byte) || matches!(byte, b'.' | b'=')
}

impl Search {
    fn new() -> Self {
        let (strings, prefixes): (Vec<_>, Vec<_>) = strings().unzip();
        Search {
            needles: Needles::new(strings),
            prefixes,
        }
    }

    fn hits(&'static self, text: &str) -> impl Iterator<Item = Hit> {
        let bytes = text.as_bytes();
        let mut from = 0;
        let places = std::iter::from_fn(move || {
            let start = self.needles.next_place(bytes, from)?;
            // What lies inside a longer string is not looked for again.
            let lengths = self.needles.at(bytes, start);
            from = start + lengths.map(|string| self.length(string)).max()?;
            Some(start)
        });
        places.flat_map(move |start| self.hits_at(text, start))
    }

    /// How many bytes of a string are the stem or prefix.
    fn length(&self, string: usize) -> usize {
        let prefix = self.prefixes.get(string).copied().flatten();
        prefix.map_or_else(|| self.needles.length(string), |prefix| prefix.text.len())
    }

    /// A string speaks for the shorter ones that it begins with: `sk-ant-` for `sk-`,
    /// `secret_` for `secret`.
    fn hits_at(&'static self, text: &str, start: usize) -> impl Iterator<Item = Hit> {
        self.needles
            .at(text.as_bytes(), start)
            .filter_map(move |string| {
                let prefix = self.prefixes.get(string).copied().flatten();
                let end = start + self.length(string);
                let fits = prefix.is_none_or(|prefix| prefix.fits(text, start, end));
                let shape = prefix.map(|prefix| prefix.shape);
                fits.then_some(Hit { start, end, shape })
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

fn search() -> &'static Search {
    static SEARCH: OnceLock<Search> = OnceLock::new();
    SEARCH.get_or_init(Search::new)
}

fn strings() -> impl Iterator<Item = (Cow<'static, str>, Option<Prefix>)> {
    let stems = STEMS.iter().map(|stem| Cow::Borrowed(*stem));
    let keys = KEY_KINDS.iter().flat_map(|kind| {
        ["", "_", "-", " ", "."].map(|joint| Cow::Owned(format!("{kind}{joint}key")))
    });
    let prefixes = shapes::prefixes().flat_map(|prefix| {
        let beginnings = beginnings(prefix).into_iter();
        beginnings.map(move |string| (string, Some(prefix)))
    });
    stems.chain(keys).map(|stem| (stem, None)).chain(prefixes)
}

/// What to look for to find a prefix. Two letters stand everywhere in prose, but not before
/// all that can go on after them, so the next byte is looked for as well.
fn beginnings(prefix: Prefix) -> Vec<Cow<'static, str>> {
    if prefix.text.len() > 2 || prefix.follow == 0 {
        return vec![Cow::Borrowed(prefix.text)];
    }
    // Needles are found in any case.
    let next = (b' '..0x7f).filter(|byte| continues(*byte) && !byte.is_ascii_uppercase());
    next.map(|byte| Cow::Owned(format!("{}{}", prefix.text, char::from(byte))))
        .collect()
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
    fn a_run_is_the_same_however_it_is_looked_for() {
        let mut random = 1_u32;
        for length in 1..40 {
            let mut text = Vec::new();
            while text.len() < 2_000 {
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let run = random >> 26;
                text.extend(std::iter::repeat_n(b'k', run as usize));
                text.push(b' ');
            }
            let mut from = 0;
            while let Some(run) = next_run(&text, from, length) {
                assert_eq!(next_run_probing(&text, from, length), Some(run.clone()));
                from = run.end;
            }
            assert_eq!(next_run_probing(&text, from, length), None);
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
