//! The kinds of attacks that have no fixed wording, in languages beside English: concepts
//! that ask for something only together, close to each other in a sentence or two.

use super::abroad::{Abroad, Found};
use super::{Concept as C, Hit, SignalKind, Strength};
use SignalKind::{Conceal, Consent, Execute, Exfiltrate, Override, Prime};
use Strength::{Doubtful, Strong};

/// How far apart, in English letters, the words of a row may stand.
const ROW_REACH: usize = 160;

/// A combination of concepts: of each set there is a word in so many sentences.
struct Row {
    kind: SignalKind,
    strength: Strength,
    sentences: usize,
    sets: &'static [&'static [C]],
}

const fn row(
    kind: SignalKind,
    strength: Strength,
    sentences: usize,
    sets: &'static [&'static [C]],
) -> Row {
    Row {
        kind,
        strength,
        sentences,
        sets,
    }
}

/// The first set of each row holds its anchors, see `lexicon::is_anchor`.
const ROWS: &[Row] = &[
    row(
        Override,
        Strong,
        1,
        &[&[C::Told], &[C::Lapse, C::OverrideVerb]],
    ),
    row(Conceal, Doubtful, 1, &[&[C::Unknowing]]),
    row(
        Conceal,
        Doubtful,
        2,
        &[
            &[C::Hush],
            &[C::Deed, C::Tamper, C::PrivatePath, C::Private, C::Lie],
        ],
    ),
    row(Conceal, Doubtful, 1, &[&[C::Asked], &[C::Lie]]),
    row(Prime, Doubtful, 2, &[&[C::OtherTool], &[C::Disparage]]),
    row(Prime, Doubtful, 1, &[&[C::OtherTool], &[C::Tamper]]),
    row(Prime, Doubtful, 1, &[&[C::ToolRef], &[C::Tamper]]),
    row(
        Prime,
        Doubtful,
        1,
        &[&[C::Memory], &[C::Consent, C::Given, C::RemoteExec]],
    ),
    row(
        Prime,
        Doubtful,
        1,
        &[
            &[C::Memory],
            &[C::Future],
            &[C::Deed, C::Lie, C::OtherTool, C::Tamper],
        ],
    ),
    row(
        Exfiltrate,
        Strong,
        2,
        &[
            &[C::TransferVerb],
            &[C::Private, C::PrivatePath],
            &[C::Hush, C::Unknowing],
        ],
    ),
    row(
        Execute,
        Doubtful,
        1,
        &[&[C::TransferVerb, C::Memory], &[C::Lasting]],
    ),
    row(
        Execute,
        Doubtful,
        1,
        &[
            &[C::TransferVerb, C::Memory, C::Consent, C::Address],
            &[C::RemoteExec],
        ],
    ),
    row(Consent, Strong, 2, &[&[C::Consent], &[C::Given]]),
];

impl Abroad<'_> {
    pub(super) fn kinds(&self, found: &mut Vec<Found>) {
        for row in ROWS {
            let first = row.sets.first().copied().unwrap_or_default();
            let anchors = self
                .hits
                .list
                .iter()
                .filter(|hit| first.contains(&hit.concept));
            let whole = anchors
                .filter(|hit| !self.is_switched(**hit) && !self.is_negated_hush(**hit))
                .find_map(|anchor| self.completed(row, *anchor));
            found.extend(whole.map(|range| (row.kind, row.strength, range)));
        }
    }

    /// The bytes of a row around its first word, if it is complete there.
    fn completed(&self, row: &Row, anchor: Hit) -> Option<std::ops::Range<usize>> {
        let mut taken = vec![anchor];
        for set in row.sets.iter().skip(1) {
            let apart = |hit: &Hit| {
                taken
                    .iter()
                    .all(|known| hit.end <= known.start || hit.start >= known.end)
            };
            let near = self.neighbours(anchor, ROW_REACH, row.sentences);
            let nearest = near
                .filter(|hit| set.contains(&hit.concept) && apart(hit))
                .min_by_key(|hit| hit.start.abs_diff(anchor.start))?;
            taken.push(nearest);
        }
        Some(super::abroad::joined(&taken))
    }

    /// Whether it is forbidden to do it quietly.
    fn is_negated_hush(&self, hit: Hit) -> bool {
        hit.concept == C::Hush && self.is_negated(self.hits.index(hit))
    }

    /// Whether the sentence is about a switch of the tool.
    fn is_switched(&self, hit: Hit) -> bool {
        self.neighbours(hit, ROW_REACH, 1)
            .any(|other| other.concept == C::Param)
    }

    /// The hits within reach on either side, in so many sentences.
    fn neighbours(
        &self,
        from: Hit,
        reach: usize,
        sentences: usize,
    ) -> impl Iterator<Item = Hit> + '_ {
        let reach = reach * self.width;
        let list = self.hits.list.as_slice();
        let begin = list.partition_point(|hit| hit.start + reach < from.start);
        let rest = list.get(begin..).unwrap_or_default();
        rest.iter()
            .take_while(move |hit| hit.start <= from.end + reach)
            .filter(move |hit| hit.sentence.abs_diff(from.sentence) < sentences)
            .copied()
    }
}

/// Names with an underscore, which are those of tools as a rule.
pub(super) fn tool_names(text: &str) -> impl Iterator<Item = Hit> + '_ {
    let bytes = text.as_bytes();
    let is_part = move |at: usize| {
        bytes
            .get(at)
            .is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
    };
    memchr::memchr_iter(b'_', bytes)
        .filter(move |at| {
            let before = at.checked_sub(1);
            before
                .and_then(|at| bytes.get(at))
                .is_some_and(u8::is_ascii_alphabetic)
                && bytes.get(at + 1).is_some_and(u8::is_ascii_alphabetic)
        })
        .map(move |at| {
            let mut start = at;
            while start.checked_sub(1).is_some_and(is_part) && at - start < 64 {
                start -= 1;
            }
            let mut end = at;
            while is_part(end) && end - at < 64 {
                end += 1;
            }
            Hit {
                concept: C::ToolRef,
                start,
                end,
                sentence: 0,
                clause: 0,
            }
        })
}
