//! Characters that nobody agreed on: each font and each model makes of them what it
//! likes, and between letters they break words up for a filter only.

use super::class::{Meaningless, meaningless};
use super::{Hidden, HiddenKind, add, continues};

/// Finds characters without a meaning, in the order of the text. What they decode to is
/// the word around them, if they break one up.
///
/// Only for text that was written with care: the output of programs has them often.
pub(crate) fn scan_meaningless(text: &str) -> Vec<Hidden> {
    let mut found = Vec::new();
    if text.is_ascii() {
        return found;
    }
    for (at, c) in text.char_indices() {
        let kind = match meaningless(c) {
            None => continue,
            Some(Meaningless::Private) => HiddenKind::Private,
            Some(Meaningless::Replacement) => HiddenKind::Replacement,
            Some(Meaningless::Unassigned) => HiddenKind::Unassigned,
        };
        let range = at..at + c.len_utf8();
        // A run, or pieces of one word, need the word once.
        let known = found.last().is_some_and(|last: &Hidden| {
            last.decoded.is_some() && continues(text, last, kind, &range)
        });
        let decoded = (!known).then(|| broken_word(text, at, range.end)).flatten();
        let hidden = Hidden::new(range, kind, decoded);
        add(text, &mut found, hidden);
    }
    found
}

/// The word around a character that stands between two ASCII letters. Accents are lost
/// in decoding too, but seldom where both neighbours and the word are plain English.
fn broken_word(text: &str, start: usize, end: usize) -> Option<String> {
    const REACH: usize = 48;
    let is_part = |c: &char| c.is_alphanumeric() || meaningless(*c).is_some();
    let before = text.get(..start)?.chars().rev().take(REACH);
    let after = text.get(end..)?.chars().take(REACH);
    let head: Vec<char> = before.take_while(is_part).collect();
    let tail: Vec<char> = after.take_while(is_part).collect();
    let is_letter = |c: Option<&char>| c.is_some_and(char::is_ascii_alphabetic);
    let seen = |c: &char| meaningless(*c).is_none();
    if !is_letter(head.iter().find(|c| seen(c))) || !is_letter(tail.iter().find(|c| seen(c))) {
        return None;
    }
    let word = head.into_iter().rev().chain(tail);
    Some(word.filter(seen).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_meaning_is_found_with_the_word_that_it_breaks() {
        for (text, kind, word) in [
            (
                "Ig\u{e000}no\u{e000}re it",
                HiddenKind::Private,
                Some("Ignore"),
            ),
            (
                "Ig\u{f1234}\u{f1234}nore",
                HiddenKind::Private,
                Some("Ignore"),
            ),
            ("Ign\u{fffd}ore", HiddenKind::Replacement, Some("Ignore")),
            ("Ign\u{378}ore", HiddenKind::Unassigned, Some("Ignore")),
            ("Ign\u{ffff}ore", HiddenKind::Unassigned, Some("Ignore")),
            ("\u{e0a0} main branch", HiddenKind::Private, None),
        ] {
            let found = scan_meaningless(text);
            assert_eq!(found.len(), 1, "{text:?}");
            assert_eq!(found[0].kind, kind, "{text:?}");
            assert_eq!(found[0].decoded.as_deref(), word, "{text:?}");
        }
    }

    #[test]
    fn characters_of_any_script_and_new_pictographs_mean_something() {
        for text in [
            "Größe",
            "中文",
            "👨\u{200d}👩",
            "\u{1fac8}",
            "a\u{301}",
            "\u{20000}",
        ] {
            assert_eq!(scan_meaningless(text), [], "{text}");
        }
    }
}
