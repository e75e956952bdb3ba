//! Which concepts make a signal together, and how sure it is.

use super::{Concept, SignalKind, Strength};
use Concept as C;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// A combination of concepts.
pub(super) struct Row {
    pub(super) kind: SignalKind,
    pub(super) strength: Strength,
    /// How many sentences the words may be in.
    pub(super) sentences: usize,
    /// Of each set there is a word.
    pub(super) sets: &'static [&'static [C]],
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

use SignalKind::{
    Addressed, Conceal, Consent, Execute, Exfiltrate, Material, Override, Prime, Role,
};
use Strength::{Doubtful, Strong};

/// The signs that somebody is to be kept in the dark or passed over.
const SLY: &[C] = &[
    C::Conceal,
    C::Hush,
    C::Unknowing,
    C::Unattended,
    C::Asked,
    C::Omission,
];

/// What is worth taking.
const LOOT: &[C] = &[C::Hoard, C::Private, C::PrivatePath];

pub(super) const ROWS: &[Row] = &[
    row(Override, Strong, 2, &[&[C::Told], &[C::Lapse]]),
    row(Override, Doubtful, 1, &[&[C::Despite]]),
    row(
        Override,
        Strong,
        1,
        &[
            &[C::Authority],
            &[C::Lapse, C::Given, C::Unattended, C::Told],
            &[C::Reach, C::Scope, C::Told, C::Threat],
        ],
    ),
    row(
        Override,
        Strong,
        1,
        &[
            &[C::Itself],
            &[C::Rank],
            &[C::Told, C::Despite, C::Giver, C::Authority],
        ],
    ),
    row(Override, Doubtful, 1, &[&[C::Itself], &[C::Rank]]),
    row(
        Override,
        Strong,
        1,
        &[
            &[C::Despite],
            &[
                C::Handover,
                C::Order,
                C::OtherTool,
                C::Reroute,
                C::Rank,
                C::Lapse,
            ],
        ],
    ),
    row(Conceal, Strong, 1, &[&[C::Unknowing], &[C::User, C::Crowd]]),
    row(
        Conceal,
        Strong,
        1,
        &[&[C::Account], &[C::Omission, C::Hush, C::Lie]],
    ),
    row(Conceal, Strong, 1, &[&[C::Asked], &[C::Lie]]),
    row(
        Conceal,
        Strong,
        1,
        &[
            &[C::Verdict],
            &[C::Lie, C::Order],
            &[C::Despite, C::Reach, C::Asked],
        ],
    ),
    row(
        Conceal,
        Doubtful,
        1,
        &[&[C::Hush], &[C::Order, C::Handover]],
    ),
    row(Conceal, Strong, 1, &[&[C::Unknowing], &[C::Deed]]),
    row(Conceal, Strong, 1, &[&[C::Lie], &[C::Hush], &[C::Handover]]),
    row(Conceal, Doubtful, 1, &[&[C::Unknowing]]),
    row(
        Conceal,
        Doubtful,
        1,
        &[&[C::Nix], &[C::Body], &[C::Perceive]],
    ),
    row(
        Exfiltrate,
        Strong,
        2,
        &[LOOT, &[C::Handover, C::TransferVerb], SLY],
    ),
    row(
        Exfiltrate,
        Strong,
        1,
        &[
            &[C::Hoard, C::PrivatePath],
            &[C::Handover],
            &[C::Slot, C::ToolRef],
            &[C::Reach],
        ],
    ),
    row(
        Exfiltrate,
        Strong,
        1,
        &[LOOT, &[C::Handover], &[C::Authority, C::Threat]],
    ),
    row(
        Exfiltrate,
        Doubtful,
        1,
        &[
            &[C::Hoard, C::PrivatePath],
            &[C::Handover],
            &[C::Slot, C::ToolRef, C::Reach],
        ],
    ),
    row(
        Material,
        Strong,
        1,
        &[&[C::Hoard, C::PrivatePath], &[C::Reach]],
    ),
    row(
        Consent,
        Strong,
        1,
        &[&[C::Given], &[C::Giver], &[C::Scope, C::Unattended]],
    ),
    row(
        Consent,
        Strong,
        1,
        &[
            &[C::Unattended],
            &[
                C::Hoard,
                C::Install,
                C::Tamper,
                C::Reader,
                C::Despite,
                C::Authority,
            ],
        ],
    ),
    row(Consent, Doubtful, 1, &[&[C::Unattended]]),
    row(
        Execute,
        Strong,
        1,
        &[&[C::Install], &[C::Elevated, C::Unattended, C::Hush]],
    ),
    row(Execute, Doubtful, 1, &[&[C::Shield], &[C::Off]]),
    row(
        Execute,
        Doubtful,
        1,
        &[&[C::Trigger], &[C::Handover, C::Order, C::Hush]],
    ),
    row(Execute, Strong, 1, &[&[C::Lasting], &[C::Put]]),
    row(Prime, Strong, 1, &[&[C::Memory], &[C::Future]]),
    row(
        Prime,
        Strong,
        1,
        &[&[C::OtherTool, C::ToolRef], &[C::Tamper], &[C::Change]],
    ),
    row(Prime, Strong, 1, &[&[C::OtherTool], &[C::Disparage]]),
    row(
        Prime,
        Strong,
        1,
        &[&[C::OtherTool], &[C::Reroute], &[C::Reach]],
    ),
    row(Prime, Doubtful, 1, &[&[C::OtherTool], &[C::Reroute]]),
    row(
        Prime,
        Doubtful,
        1,
        &[&[C::OtherTool], &[C::Tamper, C::Change]],
    ),
    row(Addressed, Strong, 2, &[&[C::Reader], &[C::Order]]),
    row(
        Role,
        Strong,
        2,
        &[
            &[C::Turn],
            &[
                C::Unattended,
                C::Given,
                C::Hoard,
                C::PrivatePath,
                C::Unknowing,
                C::Hush,
                C::Lapse,
            ],
        ],
    ),
];

/// The anchors of the rows: each row has a set of nothing else.
pub(super) const ANCHORS: &[C] = &[
    C::Told,
    C::Rank,
    C::Despite,
    C::Unknowing,
    C::Account,
    C::Asked,
    C::Hush,
    C::Hoard,
    C::Private,
    C::PrivatePath,
    C::Given,
    C::Unattended,
    C::Install,
    C::Shield,
    C::Lasting,
    C::Memory,
    C::OtherTool,
    C::Tamper,
    C::Trigger,
    C::Nix,
    C::Authority,
    C::Reader,
    C::Turn,
    C::Machine,
    C::Verdict,
];

const fn bits(set: &[C]) -> u128 {
    let mut bits = 0;
    let mut rest = set;
    while let [first, others @ ..] = rest {
        bits |= 1 << *first as u32;
        rest = others;
    }
    bits
}

/// The rows that a word of the concept may complete.
pub(super) fn rows_of(concept: C) -> impl Iterator<Item = &'static Row> {
    static ROWS_OF: OnceLock<BTreeMap<C, Vec<&'static Row>>> = OnceLock::new();
    let all = ROWS_OF.get_or_init(|| {
        let mut all = BTreeMap::<C, Vec<&'static Row>>::new();
        for row in ROWS {
            for concept in row.sets.iter().copied().flatten() {
                all.entry(*concept).or_default().push(row);
            }
        }
        all
    });
    all.get(&concept).into_iter().flatten().copied()
}

impl Row {
    /// Whether each set has one of these concepts.
    pub(super) fn is_within(&self, near: u128) -> bool {
        self.sets.iter().all(|set| bits(set) & near != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_a_set_of_anchors() {
        for row in ROWS {
            let anchored = |set: &&[C]| set.iter().all(|concept| concept.is_anchor());
            assert!(
                row.sets.iter().any(anchored),
                "{:?} {:?}",
                row.kind,
                row.sets
            );
        }
    }
}
