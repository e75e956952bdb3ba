//! What the rules about injected instructions share: which signals count, and how
//! they are told.

use crate::finding::Severity;
use crate::lint::findings::Findings;
use crate::lint::reading::Reading;
use crate::lint::signals::{Signal, SignalKind, Strength};
use std::ops::Range;

/// Signals that make up a finding, and what to point at.
pub(super) struct Injection {
    pub(super) labels: String,
    pub(super) range: Range<usize>,
    /// Only in quotes, in a text about attacks.
    pub(super) quoted: bool,
}

impl Injection {
    /// Reports it at the rule's severity; text about attacks is a note.
    pub(super) fn report(self, reading: &Reading<'_>, findings: &mut Findings<'_>, says: &str) {
        let subject = reading.subject();
        if self.quoted {
            let message = format!(
                "{subject} quotes or discusses an injection ({})",
                self.labels
            );
            findings.text_as(Severity::Note, reading, self.range, message);
        } else {
            let message = format!("{subject} {says} ({})", self.labels);
            findings.text(reading, self.range, message);
        }
    }
}

/// The strong signals of a text, or two weak ones of different kinds.
pub(super) fn of_definition(reading: &Reading<'_>) -> Option<Injection> {
    let strong = collect(reading, |signal| signal.strength == Strength::Strong);
    strong.or_else(|| {
        let weak = |signal: &Signal| {
            signal.strength == Strength::Weak && signal.kind != SignalKind::Addressed
        };
        let kinds = reading
            .signals()
            .iter()
            .filter(|signal| weak(signal))
            .count();
        if kinds >= 2 {
            collect(reading, weak)
        } else {
            quoted(reading)
        }
    })
}

/// The signals that are read as instructions in what a tool returned.
pub(super) fn of_result(reading: &Reading<'_>) -> Option<Injection> {
    let told = collect(reading, |signal| {
        signal.strength == Strength::Strong
            || signal.strength == Strength::Weak && signal.kind == SignalKind::Addressed
    });
    told.or_else(|| quoted(reading))
}

/// The signals of at least that strength.
pub(super) fn at_least(reading: &Reading<'_>, strength: Strength) -> Option<Injection> {
    collect(reading, |signal| signal.strength >= strength)
}

/// The strong signals of some kinds.
pub(super) fn of_kinds(reading: &Reading<'_>, kinds: &[SignalKind]) -> Option<Injection> {
    collect(reading, |signal| {
        signal.strength == Strength::Strong && kinds.contains(&signal.kind)
    })
}

fn quoted(reading: &Reading<'_>) -> Option<Injection> {
    let mut injection = collect(reading, |signal| signal.strength == Strength::Quoted)?;
    injection.quoted = true;
    Some(injection)
}

fn collect(reading: &Reading<'_>, counts: impl Fn(&Signal) -> bool) -> Option<Injection> {
    let signals: Vec<&Signal> = reading
        .signals()
        .iter()
        .filter(|signal| counts(signal))
        .collect();
    let first = signals.iter().min_by_key(|signal| signal.range.start)?;
    let mut labels: Vec<&str> = signals.iter().map(|signal| signal.kind.label()).collect();
    labels.dedup();
    Some(Injection {
        labels: labels.join(", "),
        range: first.range.clone(),
        quoted: false,
    })
}
