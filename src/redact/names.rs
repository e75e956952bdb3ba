//! Names whose values are secrets, read from `packs/secret-names.toml`.

use super::view::folded;
use crate::secrets::words;
use serde::Deserialize;
use std::borrow::Cow;
use std::sync::OnceLock;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_security::confusable_detection::skeleton;

const FILE: &str = include_str!("../../packs/secret-names.toml");

/// The longest name that is looked at, in bytes: nobody writes a longer one.
const LONGEST: usize = 256;

/// The file as it is written; its head explains the members.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[cfg_attr(not(test), expect(dead_code, reason = "checked by a test"))]
    version: u32,
    exempt: Vec<String>,
    exempt_first: Vec<String>,
    exempt_last: Vec<String>,
    names: Vec<Name>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Name {
    id: String,
    forms: Vec<String>,
    #[serde(default)]
    plural: Vec<String>,
    #[serde(default)]
    counted: Vec<String>,
    #[cfg_attr(not(test), expect(dead_code, reason = "checked by a test"))]
    examples: Vec<String>,
    #[cfg_attr(not(test), expect(dead_code, reason = "checked by a test"))]
    negatives: Vec<String>,
}

/// What kinds of values a secret name stands before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    /// Anything is a secret.
    Anything,
    /// Numbers are counts.
    NoNumbers,
    /// Only a string is one.
    Strings,
}

/// The ids of all names, in the order of the file.
pub(super) fn ids() -> impl Iterator<Item = &'static str> {
    file().names.iter().map(|name| name.id.as_str())
}

/// Whether there is a name of that id.
pub(super) fn is_known(id: &str) -> bool {
    ids().any(|known| known == id)
}

/// The id of the first name among `wanted` that a member's name matches.
pub(super) fn find(member: &str, wanted: &[String]) -> Option<(&'static str, Holds)> {
    if member.len() > LONGEST || wanted.is_empty() || !may_match(member) {
        return None;
    }
    let words = words(member);
    for name in &file().names {
        if !wanted.contains(&name.id) {
            continue;
        }
        for (forms, holds) in [
            (&name.forms, Holds::Anything),
            (&name.plural, Holds::NoNumbers),
            (&name.counted, Holds::Strings),
        ] {
            let at = forms.iter().find_map(|form| position(&words, form));
            if let Some(at) = at
                && !is_exempt(&words, at)
            {
                return Some((name.id.as_str(), holds));
            }
        }
    }
    None
}

/// A name as a reader sees it: without invisible characters and accents, letters of other
/// scripts as the Latin ones that they look like.
pub(super) fn undisguised(name: &str) -> Cow<'_, str> {
    if name.is_ascii() {
        return Cow::Borrowed(name);
    }
    let mut plain = String::with_capacity(name.len());
    for c in folded(name).nfkd().filter(|c| !is_combining_mark(*c)) {
        match c.is_ascii() {
            true => plain.push(c),
            false => plain.extend(skeleton(c.encode_utf8(&mut [0; 4]))),
        }
    }
    Cow::Owned(plain)
}

/// A cheap test before the name is cut into words: all forms have one of these.
fn may_match(member: &str) -> bool {
    const PARTS: [&str; 10] = [
        "tok", "sec", "pas", "pwd", "key", "aut", "coo", "cre", "jwt", "mcp",
    ];
    let bytes = member.as_bytes();
    bytes.windows(3).any(|window| {
        PARTS
            .iter()
            .any(|part| window.eq_ignore_ascii_case(part.as_bytes()))
    })
}

/// Where the words of a form stand in a row.
fn position(words: &[String], form: &str) -> Option<std::ops::Range<usize>> {
    let length = form.split(' ').count();
    let fits = |window: &[String]| {
        window.iter().zip(form.split(' ')).all(|(word, wanted)| {
            word == wanted || word.trim_end_matches(|c: char| c.is_ascii_digit()) == wanted
        })
    };
    let start = words.windows(length).position(fits)?;
    Some(start..start + length)
}

fn is_exempt(words: &[String], form: std::ops::Range<usize>) -> bool {
    let file = file();
    let last = words.len().saturating_sub(1);
    words.iter().enumerate().any(|(at, word)| {
        !form.contains(&at)
            && (file.exempt.contains(word)
                || at == 0 && file.exempt_first.contains(word)
                || at == last && file.exempt_last.contains(word))
    })
}

fn file() -> &'static File {
    static FILE_READ: OnceLock<File> = OnceLock::new();
    FILE_READ.get_or_init(|| {
        #[expect(
            clippy::expect_used,
            reason = "the file is part of the program and a test reads it"
        )]
        toml::from_str(FILE).expect("the file of secret names is valid")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_matches_its_name_and_no_negative_does() {
        assert_eq!(file().version, 1);
        for name in &file().names {
            for example in &name.examples {
                let found = find(example, std::slice::from_ref(&name.id));
                assert!(found.is_some(), "{example}");
            }
            let all: Vec<String> = ids().map(str::to_owned).collect();
            for negative in &name.negatives {
                assert_eq!(find(negative, &all), None, "{negative}");
            }
        }
    }

    #[test]
    fn disguised_names_are_read_as_they_look() {
        for (name, plain) in [
            ("tok\u{200b}en", "token"),
            ("p\u{0430}ssw\u{043e}rd", "password"),
            ("\u{ff54}\u{ff4f}ken", "token"),
            ("s\u{e9}cret", "secret"),
            ("\u{1d42d}oken", "token"),
            ("token", "token"),
        ] {
            assert_eq!(undisguised(name), plain);
        }
    }

    #[test]
    fn plurals_hold_no_numbers_and_tokens_only_strings() {
        let all: Vec<String> = ids().map(str::to_owned).collect();
        assert_eq!(
            find("passwords", &all),
            Some(("password", Holds::NoNumbers))
        );
        assert_eq!(find("tokens", &all), Some(("token", Holds::Strings)));
        assert_eq!(find("token", &["secret".to_owned()]), None);
    }
}
