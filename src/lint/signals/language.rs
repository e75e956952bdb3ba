//! The languages beside English: where their words are, and how they are written.

use super::lexicon::Lexicon;
use std::sync::OnceLock;

/// Every language beside English, one line each.
pub(super) static LANGUAGES: [Language; 0] = [];

/// The letters of a language. How words are joined and how far apart words of one
/// combination stand follow from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Letters {
    Latin,
    Cyrillic,
    Hebrew,
    Arabic,
    Devanagari,
    Han,
    Kana,
    Hangul,
}

/// On which side of a verb a word stands that negates it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Negated {
    Before,
    After,
    /// On either, depending on the form of the verb.
    Around,
}

/// A language and its vocabulary, which is read when a text first seems to need it.
pub(super) struct Language {
    pub(super) code: &'static str,
    pub(super) file: &'static str,
    pub(super) letters: Letters,
    pub(super) negated: Negated,
    lexicon: OnceLock<Lexicon>,
}

const fn language(
    code: &'static str,
    file: &'static str,
    letters: Letters,
    negated: Negated,
) -> Language {
    Language {
        code,
        file,
        letters,
        negated,
        lexicon: OnceLock::new(),
    }
}

impl Language {
    /// The words, and the automata that find them.
    pub(super) fn lexicon(&self) -> &Lexicon {
        self.lexicon.get_or_init(|| Lexicon::of(self.file))
    }

    /// How many bytes say as much as one letter of English, about.
    pub(super) fn width(&self) -> usize {
        match self.letters {
            Letters::Latin | Letters::Han => 1,
            Letters::Cyrillic
            | Letters::Hebrew
            | Letters::Arabic
            | Letters::Kana
            | Letters::Hangul => 2,
            Letters::Devanagari => 3,
        }
    }

    /// Whether a match is a word of its own in this language.
    pub(super) fn stands_alone(
        &self,
        text: &str,
        range: std::ops::Range<usize>,
        stem: bool,
    ) -> bool {
        let before = text.get(..range.start).unwrap_or_default();
        match self.letters {
            Letters::Latin | Letters::Cyrillic | Letters::Devanagari => {
                super::stands_alone(text, range, stem)
            }
            Letters::Hebrew => {
                let start = without_prefixes(before, "והבלמשכ");
                super::stands_alone(text, start..range.end, stem)
            }
            Letters::Arabic => {
                let start = without_prefixes(before, "وفبلكاس");
                super::stands_alone(text, start..range.end, stem)
            }
            Letters::Han | Letters::Kana | Letters::Hangul => is_apart(text, &range, stem),
        }
    }
}

/// Where the word begins whose prefixes (articles, prepositions, "and") end the text: at
/// most four letters of them, or none if there is more to the word.
fn without_prefixes(before: &str, prefixes: &str) -> usize {
    let mut start = before.len();
    for (taken, c) in before.chars().rev().enumerate() {
        if !c.is_alphanumeric() && c != '_' {
            return start;
        }
        if taken == 4 || !prefixes.contains(c) {
            return before.len();
        }
        start -= c.len_utf8();
    }
    start
}

/// Where words are not set apart by spaces, only ASCII letters can make a match a part of
/// a longer word.
fn is_apart(text: &str, range: &std::ops::Range<usize>, stem: bool) -> bool {
    let bytes = text.as_bytes();
    let is_word = |at: usize| {
        bytes
            .get(at)
            .is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
    };
    let cut_before = is_word(range.start) && range.start.checked_sub(1).is_some_and(is_word);
    let cut_after = !stem && range.end.checked_sub(1).is_some_and(is_word) && is_word(range.end);
    !cut_before && !cut_after
}
