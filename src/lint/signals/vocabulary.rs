//! The words that signals are made of, from the files in `words/`.
//!
//! A command that lints one small file must not wait for tables that it does not
//! need: the files are read line by line rather than parsed, and the table of all
//! words is built when the first text has an anchor.

use crate::needles::Needles;
use std::ops::{ControlFlow, Range};
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
    /// What the model was given before. The concepts from here on make up `kinds`; not used abroad.
    Told,
    Lapse,
    Itself,
    Rank,
    Despite,
    Unknowing,
    Hush,
    Omission,
    Account,
    Asked,
    Lie,
    Giver,
    Given,
    Scope,
    Unattended,
    Authority,
    Threat,
    Reader,
    Order,
    Turn,
    Install,
    Elevated,
    Lasting,
    Put,
    Shield,
    Off,
    Memory,
    Future,
    OtherTool,
    Tamper,
    Change,
    Reroute,
    Disparage,
    Hoard,
    Handover,
    Slot,
    Reach,
    Trigger,
    Nix,
    Perceive,
    Body,
    /// What reads texts for people, where it is told to do something.
    Machine,
    /// What it is told to do that nobody should have told it.
    Deed,
    /// That all is well.
    Verdict,
    /// A name in backticks with an underscore: of a tool, most likely. Found without a word.
    ToolRef,
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
            _ => return Concept::of_kinds(key),
        })
    }

    /// The same for the concepts of `rows`.
    fn of_kinds(key: &str) -> Option<Concept> {
        Some(match key {
            "told" => Concept::Told,
            "lapse" => Concept::Lapse,
            "itself" => Concept::Itself,
            "rank" => Concept::Rank,
            "despite" => Concept::Despite,
            "unknowing" => Concept::Unknowing,
            "hush" => Concept::Hush,
            "omission" => Concept::Omission,
            "account" => Concept::Account,
            "asked" => Concept::Asked,
            "lie" => Concept::Lie,
            "giver" => Concept::Giver,
            "given" => Concept::Given,
            "scope" => Concept::Scope,
            "unattended" => Concept::Unattended,
            "authority" => Concept::Authority,
            "threat" => Concept::Threat,
            "reader" => Concept::Reader,
            "order" => Concept::Order,
            "turn" => Concept::Turn,
            "install" => Concept::Install,
            "elevated" => Concept::Elevated,
            "lasting" => Concept::Lasting,
            "put" => Concept::Put,
            "shield" => Concept::Shield,
            "off" => Concept::Off,
            "memory" => Concept::Memory,
            "future" => Concept::Future,
            "other_tool" => Concept::OtherTool,
            "tamper" => Concept::Tamper,
            "change" => Concept::Change,
            "reroute" => Concept::Reroute,
            "disparage" => Concept::Disparage,
            "hoard" => Concept::Hoard,
            "handover" => Concept::Handover,
            "slot" => Concept::Slot,
            "reach" => Concept::Reach,
            "trigger" => Concept::Trigger,
            "nix" => Concept::Nix,
            "perceive" => Concept::Perceive,
            "body" => Concept::Body,
            "machine" => Concept::Machine,
            "deed" => Concept::Deed,
            "verdict" => Concept::Verdict,
            _ => return None,
        })
    }

    pub(super) fn bit(self) -> u128 {
        1 << (self as u32)
    }

    /// Whether honest text seldom has such a word. Each of `COMBINATIONS` has one.
    pub(super) fn is_anchor(self) -> bool {
        super::rows::ANCHORS.contains(&self)
            || matches!(
                self,
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
                    | Concept::Imperative
            )
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

/// All words, and tables that find them.
pub(super) struct Vocabulary {
    words: Vec<Word>,
    all: OnceLock<Needles>,
    joined: OnceLock<Needles>,
}

/// The words of all languages.
pub(super) fn vocabulary() -> &'static Vocabulary {
    static VOCABULARY: OnceLock<Vocabulary> = OnceLock::new();
    VOCABULARY.get_or_init(|| Vocabulary {
        words: FILES.iter().copied().flat_map(words).collect(),
        all: OnceLock::new(),
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
    /// The words that honest text seldom has: no signal is without one.
    pub(super) fn anchors(&self) -> impl Iterator<Item = Word> + '_ {
        let words = self.words.iter().copied();
        words.filter(|word| word.concept.is_anchor())
    }

    /// Hands over every word that occurs in the text, overlapping ones too, be it the
    /// beginning of a longer word, with the bytes where it stands; until it is told to stop.
    pub(super) fn walk<B>(
        &self,
        folded: &str,
        mut each: impl FnMut(Word, Range<usize>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let all = || Needles::new(self.words.iter().map(|word| word.text));
        let table = self.all.get_or_init(all);
        table.walk_words(folded.as_bytes(), |at, index| match self.words.get(index) {
            Some(word) => each(*word, at..at + word.text.len()),
            None => ControlFlow::Continue(()),
        })
    }

    /// Parts a text without spaces into the words that it holds, the longest first; what
    /// is between them is left together.
    pub(super) fn segment(&self, joined: &str) -> String {
        let words = self.joined.get_or_init(|| {
            let words = self.words.iter().map(|word| word.text.replace(' ', ""));
            Needles::new(words)
        });
        let bytes = joined.as_bytes();
        let mut parts = Vec::new();
        let (mut done, mut from) = (0, 0);
        while let Some(start) = words.next_place(bytes, from)
            && let Some(word) = words.longest_at(bytes, start)
        {
            from = start + words.length(word);
            // Two letters are a word by chance.
            if let Some(word) = self.words.get(word).filter(|word| word.text.len() > 2) {
                parts.push(joined.get(done..start).unwrap_or_default());
                parts.push(word.text);
                done = from;
            }
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
            assert!(!word.contains("  ") && !word.starts_with(' '), "{word}");
        }
    }
}
