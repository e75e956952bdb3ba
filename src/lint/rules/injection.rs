//! What the rules about injected instructions share: which signals count, and how
//! they are told.

use crate::finding::Severity;
use crate::lint::findings::Findings;
use crate::lint::reading::Reading;
use crate::lint::signals::{Signal, SignalKind, Strength};
use std::collections::BTreeSet;
use std::ops::Range;

/// Signals that make up a finding, and what to point at.
pub(super) struct Injection {
    pub(super) labels: String,
    pub(super) range: Range<usize>,
    /// How sure it is that they are meant.
    certainty: Certainty,
}

/// What a finding is made of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Certainty {
    Clear,
    /// Honest texts say it, if seldom.
    Doubtful,
    /// It only stands in quotes, in a text about attacks.
    Quoted,
}

impl Injection {
    /// Reports it at the rule's severity; what is doubtful is a warning at most, and text
    /// about attacks a note.
    pub(super) fn report(self, reading: &Reading<'_>, findings: &mut Findings<'_>, says: &str) {
        let subject = reading.subject();
        let (verb, severity) = match self.certainty {
            Certainty::Clear => (says.to_owned(), findings.severity()),
            Certainty::Doubtful => {
                let severity = findings.severity().min(Severity::Warning);
                (format!("perhaps {says}"), severity)
            }
            Certainty::Quoted => (
                "quotes or discusses an injection".to_owned(),
                Severity::Note,
            ),
        };
        let message = format!("{subject} {verb} ({})", self.labels);
        findings.text_as(severity, reading, self.range, message);
    }
}

impl Injection {
    fn with(self, certainty: Certainty) -> Injection {
        Injection { certainty, ..self }
    }
}

/// The strong signals of a text, two of different kinds that are less sure, or a doubtful one.
pub(super) fn of_definition(reading: &Reading<'_>) -> Option<Injection> {
    let strong = collect(reading, |signal| signal.strength == Strength::Strong);
    strong
        .or_else(|| {
            let unsure = |signal: &Signal| match signal.strength {
                Strength::Doubtful => signal.kind != SignalKind::Material,
                Strength::Weak => {
                    !matches!(signal.kind, SignalKind::Addressed | SignalKind::Material)
                }
                _ => false,
            };
            let signals = reading.signals().iter().filter(|signal| unsure(signal));
            let kinds: BTreeSet<SignalKind> = signals.map(|signal| signal.kind).collect();
            (kinds.len() >= 2)
                .then(|| collect(reading, unsure))
                .flatten()
        })
        .or_else(|| {
            let doubtful =
                |signal: &Signal| matches!(signal.strength, Strength::Doubtful | Strength::Cited);
            let injection = collect(reading, doubtful)?;
            Some(injection.with(Certainty::Doubtful))
        })
        .or_else(|| quoted(reading))
}

/// The signals that are read as instructions in what a tool returned.
pub(super) fn of_result(reading: &Reading<'_>) -> Option<Injection> {
    let sure = reading
        .signals()
        .iter()
        .any(|signal| is_sure(reading, signal));
    let told = collect(reading, |signal| match signal.strength {
        Strength::Strong => sure || is_accompanied(reading, signal),
        Strength::Doubtful => {
            signal.kind == SignalKind::Override && is_to_reader(reading)
                || is_accompanied(reading, signal)
        }
        Strength::Weak => signal.kind == SignalKind::Addressed,
        Strength::Quoted | Strength::Cited => false,
    });
    told.or_else(|| quoted(reading))
}

/// Whether a strong signal is one that people do not give each other: letters keep secrets
/// from others and manuals say what to run, but neither sets the reader's rules aside or
/// keeps something from "the user".
fn is_sure(reading: &Reading<'_>, signal: &Signal) -> bool {
    const WHOM: &[&str] = &["user", "human", "operator", "person"];
    let words = || {
        let part = reading.value().get(signal.range.clone());
        part.unwrap_or_default().to_ascii_lowercase()
    };
    signal.strength == Strength::Strong
        && match signal.kind {
            SignalKind::Conceal | SignalKind::Consent => {
                let words = words();
                !words.is_ascii()
                    || !is_english(reading.value())
                    || WHOM.iter().any(|whom| words.contains(whom))
            }
            SignalKind::Execute => false,
            _ => true,
        }
}

/// Whether a text looks English: other languages with plain letters have no such word.
fn is_english(value: &str) -> bool {
    const WORDS: &str = "the|and|to|this|with|for|you|your|not|are|that|it|from|please|have|will|can|my|\
        they|don|didn|hi|hello|no";
    value.is_ascii()
        && value.split(|c: char| !c.is_ascii_alphabetic()).any(|word| {
            WORDS
                .split('|')
                .any(|known| word.eq_ignore_ascii_case(known))
        })
}

/// Whether a text speaks to somebody or of what reads texts, unlike a notice of new rules.
fn is_to_reader(reading: &Reading<'_>) -> bool {
    const READERS: &str =
        "you|your|yours|assistant|assistants|model|models|agent|agents|ai|llm|llms|bot|bots|system";
    let value = reading.value();
    !is_english(value)
        || value
            .split(|c: char| !c.is_ascii_alphanumeric())
            .any(|word| {
                READERS
                    .split('|')
                    .any(|known| word.eq_ignore_ascii_case(known))
            })
}

/// Whether a signal of another kind, and not less sure than honest texts have them, stands
/// beside it.
fn is_accompanied(reading: &Reading<'_>, signal: &Signal) -> bool {
    reading
        .signals_from(Strength::Doubtful)
        .any(|other| other.kind != signal.kind && other.kind != SignalKind::Material)
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

/// What is in quotes, or is too often honest to count in what a tool returned.
fn quoted(reading: &Reading<'_>) -> Option<Injection> {
    let quoted = |signal: &Signal| {
        matches!(
            signal.strength,
            Strength::Quoted | Strength::Cited | Strength::Doubtful
        )
    };
    Some(collect(reading, quoted)?.with(Certainty::Quoted))
}

fn collect(reading: &Reading<'_>, counts: impl Fn(&Signal) -> bool) -> Option<Injection> {
    let signals: Vec<&Signal> = reading
        .signals()
        .iter()
        .filter(|signal| signal.kind != SignalKind::Material && counts(signal))
        .collect();
    let first = signals.iter().min_by_key(|signal| signal.range.start)?;
    let mut labels: Vec<&str> = signals.iter().map(|signal| signal.kind.label()).collect();
    labels.dedup();
    Some(Injection {
        labels: labels.join(", "),
        range: first.range.clone(),
        certainty: Certainty::Clear,
    })
}
