//! The words that signals are made of, from the files in `words/`.
//!
//! A command that lints one small file must not wait for tables that it does not
//! need: the files are read line by line rather than parsed, the automaton over all
//! words is built when the first text has an anchor, and that over the anchors in
//! the form that suits the amount of text.

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use std::sync::OnceLock;

/// The vocabularies that ship with the binary, one file a language.
const FILES: &[&str] = &[include_str!("../words/en.toml")];

/// The concepts of the vocabulary; the names are the keys of the files in `words/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(test, derive(serde::Deserialize), serde(rename_all = "snake_case"))]
pub(super) enum Concept {
    OverrideVerb,
    Instructions,
    Settings,
    Prior,
    Extent,
    Current,
    User,
    Crowd,
    Negation,
    TellVerb,
    ShowVerb,
    /// A verb of telling that carries its negation; English has none.
    Untold,
    Conceal,
    Unseen,
    Condition,
    Param,
    PrivatePath,
    Private,
    TransferVerb,
    ReadVerb,
    Sink,
    Address,
    RoleTag,
    EmphasisTag,
    Prime,
    Consent,
    RemoteExec,
    RoleChange,
    /// "You must call": ordinary in a definition, an order in a result.
    Imperative,
    /// What rules and limits are about that are not the reader's; not used in English.
    Data,
    About,
    Sample,
}

impl Concept {
    /// The concept that a key of a vocabulary file names.
    pub(super) fn named(key: &str) -> Option<Concept> {
        Some(match key {
            "override_verb" => Concept::OverrideVerb,
            "instructions" => Concept::Instructions,
            "settings" => Concept::Settings,
            "prior" => Concept::Prior,
            "extent" => Concept::Extent,
            "current" => Concept::Current,
            "user" => Concept::User,
            "crowd" => Concept::Crowd,
            "negation" => Concept::Negation,
            "tell_verb" => Concept::TellVerb,
            "show_verb" => Concept::ShowVerb,
            "untold" => Concept::Untold,
            "conceal" => Concept::Conceal,
            "unseen" => Concept::Unseen,
            "condition" => Concept::Condition,
            "param" => Concept::Param,
            "private_path" => Concept::PrivatePath,
            "private" => Concept::Private,
            "transfer_verb" => Concept::TransferVerb,
            "read_verb" => Concept::ReadVerb,
            "sink" => Concept::Sink,
            "address" => Concept::Address,
            "role_tag" => Concept::RoleTag,
            "emphasis_tag" => Concept::EmphasisTag,
            "prime" => Concept::Prime,
            "consent" => Concept::Consent,
            "remote_exec" => Concept::RemoteExec,
            "role_change" => Concept::RoleChange,
            "imperative" => Concept::Imperative,
            "data" => Concept::Data,
            "about" => Concept::About,
            "sample" => Concept::Sample,
            _ => return None,
        })
    }

    pub(super) fn bit(self) -> u32 {
        1 << (self as u32)
    }

    /// Whether honest text seldom has such a word. Each of `COMBINATIONS` has one.
    pub(super) fn is_anchor(self) -> bool {
        match self {
            Concept::OverrideVerb
            | Concept::Negation
            | Concept::Conceal
            | Concept::Unseen
            | Concept::PrivatePath
            | Concept::Private
            | Concept::Address
            | Concept::RoleTag
            | Concept::Prime
            | Concept::Consent
            | Concept::RemoteExec
            | Concept::RoleChange
            | Concept::Imperative => true,
            Concept::Instructions
            | Concept::Settings
            | Concept::Prior
            | Concept::Extent
            | Concept::Current
            | Concept::User
            | Concept::Crowd
            | Concept::TellVerb
            | Concept::ShowVerb
            | Concept::Untold
            | Concept::Condition
            | Concept::Param
            | Concept::TransferVerb
            | Concept::ReadVerb
            | Concept::Sink
            | Concept::EmphasisTag
            | Concept::Data
            | Concept::About
            | Concept::Sample => false,
        }
    }
}

/// How much text is to be searched in all, which decides what tables are worth building.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Amount {
    /// Building a second table would take longer than the search.
    Little,
    /// Worth a compact table of the words that signals cannot do without.
    Some,
    /// Worth the dense form of it, which takes milliseconds to build.
    Much,
}

impl Amount {
    /// Where the building time of the compact table and of the dense one is made up
    /// for, measured on English text.
    pub(crate) fn of(bytes: usize) -> Amount {
        match bytes {
            0..200_000 => Amount::Little,
            200_000..4_000_000 => Amount::Some,
            _ => Amount::Much,
        }
    }
}

/// A word of a vocabulary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) concept: Concept,
    pub(super) text: &'static str,
    /// Whether letters may go on after it.
    pub(super) stem: bool,
}

/// All words, and automata that find them.
pub(super) struct Vocabulary {
    words: Vec<Word>,
    all: OnceLock<Option<AhoCorasick>>,
    some: OnceLock<Option<AhoCorasick>>,
    much: OnceLock<Option<AhoCorasick>>,
    joined: OnceLock<Option<AhoCorasick>>,
}

/// The words of all languages.
pub(super) fn vocabulary() -> &'static Vocabulary {
    static VOCABULARY: OnceLock<Vocabulary> = OnceLock::new();
    VOCABULARY.get_or_init(|| Vocabulary {
        words: FILES.iter().copied().flat_map(words).collect(),
        all: OnceLock::new(),
        some: OnceLock::new(),
        much: OnceLock::new(),
        joined: OnceLock::new(),
    })
}

/// The words of one file: TOML of which only lists of plain strings are used, so
/// that no parser is needed. A test compares with one.
pub(super) fn words(file: &'static str) -> impl Iterator<Item = Word> {
    let mut concept = None;
    file.lines()
        .filter(|line| !line.starts_with('#'))
        .flat_map(move |line| {
            if let Some((key, _)) = line.split_once(" = [") {
                concept = Concept::named(key);
            }
            let concept = concept;
            // Every second part stands between two quotation marks.
            let quoted = line.split('"').skip(1).step_by(2);
            quoted.filter_map(move |word| {
                Some(Word {
                    concept: concept?,
                    text: word.trim_end_matches('*'),
                    stem: word.ends_with('*'),
                })
            })
        })
}

impl Vocabulary {
    /// Whether the text holds an anchor, be it inside a longer word.
    ///
    /// For a little text the answer is always yes: building the table for it would
    /// take longer than looking at all words.
    pub(super) fn has_anchor(&self, folded: &str, amount: Amount) -> bool {
        let (cell, kind) = match amount {
            Amount::Little => return true,
            Amount::Some => (&self.some, AhoCorasickKind::ContiguousNFA),
            Amount::Much => (&self.much, AhoCorasickKind::DFA),
        };
        let build = || {
            let anchors = self.words.iter().filter(|word| word.concept.is_anchor());
            let mut builder = AhoCorasick::builder();
            // Anchors begin with every letter, so looking for their first bytes finds little to skip.
            builder
                .kind(Some(kind))
                .prefilter(false)
                .build(anchors.map(|word| word.text))
                .ok()
        };
        // Without the table everything is looked at.
        cell.get_or_init(build)
            .as_ref()
            .is_none_or(|anchors| anchors.is_match(folded))
    }

    /// Every word that occurs in the text, overlapping ones too, be it inside a longer
    /// word, with the byte where it begins and the one where it ends.
    pub(super) fn find<'v>(
        &'v self,
        folded: &'v str,
    ) -> impl Iterator<Item = (Word, std::ops::Range<usize>)> + 'v {
        let build = || {
            let mut builder = AhoCorasick::builder();
            builder
                .match_kind(MatchKind::Standard)
                // Few texts get here, so it is the building that takes the time.
                .kind(Some(AhoCorasickKind::NoncontiguousNFA))
                .prefilter(false)
                .build(self.words.iter().map(|word| word.text))
                .ok()
        };
        let automaton = self.all.get_or_init(build).as_ref();
        let found = automaton.map(|automaton| automaton.find_overlapping_iter(folded));
        found.into_iter().flatten().filter_map(|found| {
            let word = self.words.get(found.pattern().as_usize())?;
            Some((*word, found.range()))
        })
    }
}

impl Vocabulary {
    /// Parts a text without spaces into the words that it holds, the longest first; what
    /// is between them is left together.
    pub(super) fn segment(&self, joined: &str) -> String {
        let build = || {
            let words = self.words.iter().map(|word| word.text.replace(' ', ""));
            AhoCorasick::builder()
                .match_kind(MatchKind::LeftmostLongest)
                .kind(Some(AhoCorasickKind::NoncontiguousNFA))
                .build(words)
                .ok()
        };
        let automaton = self.joined.get_or_init(build).as_ref();
        let mut parts = Vec::new();
        let mut done = 0;
        for found in automaton
            .into_iter()
            .flat_map(|words| words.find_iter(joined))
        {
            let word = self.words.get(found.pattern().as_usize());
            // Two letters are a word by chance.
            let Some(word) = word.filter(|word| word.text.len() > 2) else {
                continue;
            };
            parts.push(joined.get(done..found.start()).unwrap_or_default());
            parts.push(word.text);
            done = found.end();
        }
        parts.push(joined.get(done..).unwrap_or_default());
        parts.retain(|part| !part.is_empty());
        parts.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn every_vocabulary_is_read_the_same_without_a_parser() {
        for file in FILES {
            let lists: BTreeMap<Concept, Vec<String>> = toml::from_str(file).expect("a vocabulary");
            let parsed = lists.iter().flat_map(|(concept, list)| {
                list.iter().map(|word| {
                    let (text, stem) = (word.trim_end_matches('*'), word.ends_with('*'));
                    (*concept, text, stem)
                })
            });
            let mut quick: Vec<_> = words(file)
                .map(|word| (word.concept, word.text, word.stem))
                .collect();
            quick.sort_by_key(|(concept, _, _)| *concept);
            assert!(quick.into_iter().eq(parsed));
        }
    }

    #[test]
    fn every_word_is_in_folded_form() {
        for word in vocabulary().words.iter().map(|word| word.text) {
            assert_eq!(word.to_lowercase(), *word);
            assert!(!word.contains("  "), "{word}");
        }
    }
}
