//! The words of one language beside English, and automata that find them.

use super::Concept;
use super::vocabulary::{Word, words};
use aho_corasick::{AhoCorasick, AhoCorasickKind};
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// So many bytes of text are searched for all words before a table of anchors pays.
const LITTLE: usize = 256 * 1024;

const SHARED: &str = include_str!("../words/shared.toml");
const ENGLISH: &str = include_str!("../words/en.toml");

/// The words of a language and those that all languages share.
pub(super) struct Lexicon {
    words: Vec<Word>,
    all: OnceLock<Option<AhoCorasick>>,
    anchors: OnceLock<Option<AhoCorasick>>,
    /// How many bytes were searched so far.
    searched: AtomicUsize,
}

/// The concepts whose English words are names and signs of no language.
fn is_neutral(concept: Concept) -> bool {
    matches!(
        concept,
        Concept::PrivatePath
            | Concept::RoleTag
            | Concept::EmphasisTag
            | Concept::RemoteExec
            | Concept::Lasting
    )
}

/// Whether each combination of `abroad::COMBINATIONS` needs such a word, while texts in
/// other languages seldom have one. What a text is first searched for.
pub(super) fn is_anchor(concept: Concept) -> bool {
    matches!(
        concept,
        Concept::OverrideVerb
            | Concept::User
            | Concept::Crowd
            | Concept::Conceal
            | Concept::Unseen
            | Concept::TransferVerb
            | Concept::Address
            | Concept::Prime
            | Concept::Consent
            | Concept::RoleChange
            | Concept::Imperative
            | Concept::Shield
            | Concept::Account
            | Concept::Told
            | Concept::Lapse
            | Concept::Unknowing
            | Concept::Hush
            | Concept::Asked
            | Concept::OtherTool
            | Concept::Memory
    )
}

/// The words of a file, without the examples that stand at its end.
pub(super) fn words_of(file: &'static str) -> impl Iterator<Item = Word> {
    let end = file.find("\npositive = [").unwrap_or(file.len());
    words(file.get(..end).unwrap_or(file))
}

/// The anchors among them. Every run needs these of many files, so lists without anchors
/// are passed over line by line.
pub(super) fn anchors_of(file: &'static str) -> impl Iterator<Item = Word> {
    let mut concept = None;
    file.lines()
        .take_while(|line| !line.starts_with("positive = ["))
        .flat_map(move |line| {
            if !line.starts_with([' ', ']', '#']) {
                let key = line.split_once(" = [").map(|(key, _)| key);
                concept = key.and_then(Concept::named).filter(|key| is_anchor(*key));
            }
            let concept = concept.filter(|_| !line.starts_with('#'));
            let line = concept.map_or("", |_| line);
            let mut marks = memchr::memchr_iter(b'"', line.as_bytes());
            std::iter::from_fn(move || {
                let word = line.get(marks.next()? + 1..marks.next()?)?;
                let text = word.strip_suffix('*').unwrap_or(word);
                Some(Word {
                    concept: concept?,
                    text,
                    stem: text.len() < word.len(),
                })
            })
        })
}

impl Lexicon {
    pub(super) fn of(file: &'static str) -> Lexicon {
        let neutral = words_of(ENGLISH).filter(|word| is_neutral(word.concept));
        Lexicon {
            words: words_of(file)
                .chain(words_of(SHARED))
                .chain(neutral)
                .collect(),
            all: OnceLock::new(),
            anchors: OnceLock::new(),
            searched: AtomicUsize::new(0),
        }
    }

    /// Whether the text holds an anchor, be it inside a longer word. As long as there was little
    /// text the answer is always yes: the table would cost more than the search.
    pub(super) fn has_anchor(&self, folded: &str) -> bool {
        if self.searched.fetch_add(folded.len(), Ordering::Relaxed) < LITTLE {
            return true;
        }
        let build = || {
            let anchors = self.words.iter().filter(|word| is_anchor(word.concept));
            AhoCorasick::builder()
                .kind(Some(AhoCorasickKind::DFA))
                .prefilter(false)
                .build(anchors.map(|word| word.text))
                .ok()
        };
        self.anchors
            .get_or_init(build)
            .as_ref()
            .is_none_or(|anchors| anchors.is_match(folded))
    }

    /// Every word that occurs in the text, be it inside a longer one.
    pub(super) fn find<'v>(
        &'v self,
        folded: &'v str,
    ) -> impl Iterator<Item = (Word, Range<usize>)> + 'v {
        let build = || {
            AhoCorasick::builder()
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
