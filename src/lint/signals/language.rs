//! The languages beside English: where their words are, and how they are written.

use super::lexicon::Lexicon;
use std::sync::OnceLock;

/// Every language beside English, one line each.
#[rustfmt::skip]
pub(super) static LANGUAGES: [Language; 19] = [
    language(include_str!("../words/ar.toml"), Letters::Arabic, Negated::Before),
    language(include_str!("../words/de.toml"), Letters::Latin, Negated::Around),
    language(include_str!("../words/es.toml"), Letters::Latin, Negated::Before),
    language(include_str!("../words/fa.toml"), Letters::Arabic, Negated::Before),
    language(include_str!("../words/fr.toml"), Letters::Latin, Negated::Around),
    language(include_str!("../words/he.toml"), Letters::Hebrew, Negated::Before),
    language(include_str!("../words/hi.toml"), Letters::Devanagari, Negated::Around),
    language(include_str!("../words/id.toml"), Letters::Latin, Negated::Before),
    language(include_str!("../words/it.toml"), Letters::Latin, Negated::Before),
    language(include_str!("../words/ja.toml"), Letters::Kana, Negated::After),
    language(include_str!("../words/ko.toml"), Letters::Hangul, Negated::After),
    language(include_str!("../words/nl.toml"), Letters::Latin, Negated::Around),
    language(include_str!("../words/pl.toml"), Letters::Latin, Negated::Before),
    language(include_str!("../words/pt.toml"), Letters::Latin, Negated::Before),
    language(include_str!("../words/ru.toml"), Letters::Cyrillic, Negated::Before),
    language(include_str!("../words/tr.toml"), Letters::Latin, Negated::After),
    language(include_str!("../words/uk.toml"), Letters::Cyrillic, Negated::Before),
    language(include_str!("../words/vi.toml"), Letters::Latin, Negated::Before),
    language(include_str!("../words/zh.toml"), Letters::Han, Negated::Before),
];

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
    pub(super) file: &'static str,
    pub(super) letters: Letters,
    pub(super) negated: Negated,
    lexicon: OnceLock<Lexicon>,
}

const fn language(file: &'static str, letters: Letters, negated: Negated) -> Language {
    Language {
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
            Letters::Hebrew | Letters::Arabic => {
                // Two letters are the end of many a word: "لا" of "أولا", "לא" of "מלא".
                let is_short = range.len() <= 4;
                let (prefixes, most) = match (self.letters, is_short) {
                    (Letters::Hebrew, false) => ("והבלמשכ", 4),
                    (Letters::Hebrew, true) => ("וש", 1),
                    (_, false) => ("وفبلكاس", 4),
                    (_, true) => ("وف", 1),
                };
                let start = without_prefixes(before, prefixes, most);
                super::stands_alone(text, start..range.end, stem)
            }
            Letters::Han | Letters::Kana | Letters::Hangul => is_apart(text, &range, stem),
        }
    }
}

/// Where the word begins whose prefixes (articles, prepositions, "and") end the text: at
/// most so many letters of them, or none if there is more to the word.
fn without_prefixes(before: &str, prefixes: &str, most: usize) -> usize {
    let mut start = before.len();
    for (taken, c) in before.chars().rev().enumerate() {
        if !c.is_alphanumeric() && c != '_' {
            return start;
        }
        if taken == most || !prefixes.contains(c) {
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

#[cfg(test)]
mod tests {
    use super::super::lexicon::{anchors_of, is_anchor, words_of};
    use super::super::vocabulary::Word;
    use super::super::{abroad, gate, may_signal, spelling};
    use super::*;
    use crate::cassette::Cassette;
    use crate::finding::{Finding, Severity};
    use crate::lint::fold::{Fold, fold};
    use crate::lint::{Settings, lint_cassette};
    use serde_json::json;
    use std::collections::{BTreeMap, BTreeSet};

    type Lists = BTreeMap<String, Vec<String>>;

    /// The name of each language, the words of its file and the file as TOML.
    fn vocabularies() -> impl Iterator<Item = (&'static Language, &'static str, Vec<Word>, Lists)> {
        LANGUAGES.iter().map(|language| {
            let name = language.file.split(' ').nth(1).expect("a comment");
            let lists = toml::from_str(language.file).expect(name);
            (language, name, words_of(language.file).collect(), lists)
        })
    }

    fn findings(description: &str) -> Vec<Finding> {
        let tool =
            json!({"name": "a", "description": description, "inputSchema": {"type": "object"}});
        let messages = json!([
            {"sender": "client", "kind": "request",
             "payload": {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}},
            {"sender": "server", "kind": "response",
             "payload": {"jsonrpc": "2.0", "id": 1, "result": {"tools": [tool]}}},
        ]);
        let text = json!({"format_version": 3, "messages": messages}).to_string();
        let cassette = Cassette::parse("test", text.into_bytes()).unwrap();
        lint_cassette(&cassette, None, &Settings::default()).findings
    }

    #[test]
    fn orders_are_found_in_every_language() {
        let mut missed = Vec::new();
        for (_, name, _, lists) in vocabularies() {
            assert!(lists["positive"].len() >= 12, "{name}");
            for sentence in &lists["positive"] {
                let found = findings(sentence);
                let found = found.iter().any(|finding| {
                    finding.rule.as_str() == "R001" && finding.severity >= Severity::Warning
                });
                if !found {
                    missed.push(format!("{name}: {sentence}"));
                }
            }
        }
        assert!(missed.is_empty(), "{}", missed.join("\n"));
    }

    #[test]
    fn honest_sentences_are_silent_in_every_language() {
        let mut wrong = Vec::new();
        for (_, name, _, lists) in vocabularies() {
            assert!(lists["negative"].len() >= 12, "{name}");
            for sentence in &lists["negative"] {
                let found = findings(sentence);
                for finding in found.iter().filter(|f| f.severity > Severity::Note) {
                    wrong.push(format!("{name}: {sentence}: {}", finding.message));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn every_word_is_in_folded_form() {
        for (_, name, words, _) in vocabularies() {
            for word in words {
                let folded = fold(Fold::Plain, word.text);
                let evened = spelling::evened(&folded);
                let folded = evened.as_ref().map_or(folded.as_str(), |even| even.text());
                // Blanks at the ends are dropped from a text.
                assert_eq!(folded, word.text.trim(), "{name}");
                // The gate compares the first letters of words.
                let is_short = word.stem && word.text.len() < 4;
                assert!(
                    !is_short || !is_anchor(word.concept),
                    "{name}: {}",
                    word.text
                );
            }
        }
    }

    #[test]
    fn every_file_has_the_same_keys_and_is_read_the_same_without_a_parser() {
        let (_, _, _, first) = vocabularies().next().expect("a language");
        let keys: BTreeSet<&String> = first.keys().collect();
        for (language, name, words, lists) in vocabularies() {
            assert_eq!(lists.keys().collect::<BTreeSet<_>>(), keys, "{name}");
            let anchors = words.iter().copied().filter(|word| is_anchor(word.concept));
            assert!(anchors_of(language.file).eq(anchors), "{name}");
            let mut parsed: Vec<String> = lists
                .into_iter()
                .filter(|(key, _)| key != "positive" && key != "negative")
                .flat_map(|(_, list)| list)
                .collect();
            let spelled = |word: Word| format!("{}{}", word.text, if word.stem { "*" } else { "" });
            let mut quick: Vec<String> = words.into_iter().map(spelled).collect();
            parsed.sort();
            quick.sort();
            assert_eq!(quick, parsed, "{name}");
        }
    }

    #[test]
    fn every_combination_has_an_anchor() {
        for combination in abroad::COMBINATIONS {
            assert!(
                combination.iter().copied().any(is_anchor),
                "{combination:?}"
            );
        }
    }

    #[test]
    fn the_quick_look_lets_every_order_through() {
        // The second time the tables of anchors are in use.
        for much in [false, true] {
            for language in LANGUAGES.iter().filter(|_| much) {
                language.lexicon().has_anchor(&" ".repeat(1 << 20));
            }
            for (_, name, _, lists) in vocabularies() {
                for sentence in &lists["positive"] {
                    let passes = [Fold::Plain, Fold::Skeleton]
                        .iter()
                        .any(|view| may_signal(&fold(*view, sentence)));
                    assert!(passes, "{name}: {sentence}");
                }
            }
        }
    }

    #[test]
    fn english_needs_no_other_vocabulary() {
        let texts = [
            "returns the notes of a user, newest first, and copies the file if needed",
            "ignores case. use this tool to send a message; do not include secrets",
            "the assistant may call the tool once; no confirmation is asked for",
        ];
        for text in texts {
            let needed = gate::Open::of(text)
                .languages()
                .map(|language| language.file.lines().next());
            assert_eq!(needed.collect::<Vec<_>>(), [], "{text}");
        }
    }
}
