//! Where the rules put what they find.

use super::reading::Reading;
use super::run::Sink;
use crate::cassette::place::{Draft, Identity};
use crate::finding::{RuleId, RuleInfo, Severity};
use crate::secrets::{Secret, conceal};
use crate::wire::json::Span;
use std::ops::Range;

/// Where one rule puts what it finds.
pub(crate) struct Findings<'s> {
    rule: RuleId,
    severity: Severity,
    sink: &'s mut Sink,
}

impl<'s> Findings<'s> {
    pub(crate) fn new(rule: &RuleInfo, sink: &'s mut Sink) -> Self {
        Findings {
            rule: RuleId::bundled(rule.id),
            severity: rule.severity,
            sink,
        }
    }

    /// For a pattern of a pack.
    pub(crate) fn with(rule: RuleId, severity: Severity, sink: &'s mut Sink) -> Self {
        Findings {
            rule,
            severity,
            sink,
        }
    }

    /// A finding in a text, at the rule's own severity. `range` is in the decoded text.
    pub(crate) fn text(&mut self, reading: &Reading<'_>, range: Range<usize>, message: String) {
        self.text_as(self.severity, reading, range, message);
    }

    /// The same with another severity.
    pub(crate) fn text_as(
        &mut self,
        severity: Severity,
        reading: &Reading<'_>,
        range: Range<usize>,
        message: String,
    ) {
        let value = reading.value();
        // A secret that begins before the end of what is searched is cut as a whole.
        let end = conceal::floor_boundary(value, range.end.min(range.start + EVIDENCE_SEARCHED));
        let evidence = clip_evidence(&reading.shown(range.start..end));
        self.push(
            severity,
            reading,
            range,
            message,
            reading.identity(),
            Some(evidence),
        );
    }

    /// A finding that is a secret: nothing of it is kept but the sample.
    pub(crate) fn secret(&mut self, reading: &Reading<'_>, secret: &Secret) {
        self.push(
            self.severity,
            reading,
            secret.range.clone(),
            secret.to_string(),
            Identity::Secret(secret.mark.clone()),
            Some(secret.sample.clone()),
        );
    }

    fn push(
        &mut self,
        severity: Severity,
        reading: &Reading<'_>,
        range: Range<usize>,
        message: String,
        identity: Identity,
        evidence: Option<String>,
    ) {
        self.sink.add(Draft {
            rule: self.rule.clone(),
            severity,
            message,
            tool: reading.owner.tool().map(str::to_owned),
            value: reading.text.span,
            part: Some(range),
            noun: reading.surface().noun(),
            identity,
            evidence,
        });
    }

    /// A finding about a value as a whole.
    pub(crate) fn value(
        &mut self,
        severity: Severity,
        value: Span,
        tool: Option<&str>,
        noun: &'static str,
        identity: Identity,
        message: String,
    ) {
        self.sink.add(Draft {
            rule: self.rule.clone(),
            severity,
            message,
            tool: tool.map(|tool| conceal::name(tool).into_owned()),
            value,
            part: None,
            noun,
            identity,
            evidence: None,
        });
    }

    /// Something that could not be checked: always R013, whichever rule met it.
    pub(crate) fn unchecked(&mut self, value: Span, tool: Option<&str>, message: String) {
        let rule = &super::rules::UNCHECKED.info;
        let identity = Identity::text(&message);
        Findings::new(rule, self.sink).value(
            rule.severity,
            value,
            tool,
            "unchecked",
            identity,
            message,
        );
    }

    /// Something that the reader should know and that is no finding.
    pub(crate) fn note(&mut self, note: String) {
        self.sink.note(note);
    }

    /// The severity that the rule has by itself.
    pub(crate) fn severity(&self) -> Severity {
        self.severity
    }
}

/// How many bytes of a place are looked at for the 120 characters that are shown.
const EVIDENCE_SEARCHED: usize = 2_000;

fn clip_evidence(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(120) {
        Some((at, _)) => format!("{}…", words.get(..at).unwrap_or_default()),
        None => words,
    }
}
