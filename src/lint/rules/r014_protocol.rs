//! R014: what breaks the protocol, and what a listing left out.

use super::{Check, Rule};
use crate::cassette::Sender;
use crate::cassette::place::Identity;
use crate::cassette::view::{Paired, Role};
use crate::finding::{Evidence, RuleInfo, Severity};
use crate::lint::findings::Findings;
use crate::lint::hints::lie;
use crate::lint::names::name_fault;
use crate::lint::reading::{Owner, Reading, quoted};
use crate::lint::run::Context;
use crate::lint::surfaces::{Definition, Surface};
use crate::wire::json::Span;
use crate::wire::mcp::MODERN_REVISION;

pub(in crate::lint) const RULE: Rule = Rule {
    info: RuleInfo {
        id: "R014",
        name: "protocol-trouble",
        summary: "protocol trouble: answers without a question, lines outside the protocol, cut listings",
        severity: Severity::Warning,
        evidence: Evidence::Shape,
        owasp: &["MCP08"],
        safe_mcp: &[],
        page: include_str!("../../../docs/rules/R014.md"),
    },
    checks: &[
        Check::Message(check),
        Check::Session(listings),
        Check::Text(names),
        Check::Definition(hints),
    ],
};

fn check(context: &Context<'_>, paired: &Paired, findings: &mut Findings<'_>) {
    let Some(row) = context.cassette.rows.get(paired.index as usize) else {
        return;
    };
    let envelope = &paired.envelope;
    let mut report = |place: Span, message: &str| {
        // Lines outside the protocol have nothing but their text to tell them apart.
        let identity = match paired.role {
            Role::Raw | Role::Unclassified => Identity::text(place.of(&context.cassette.text)),
            _ => Identity::text(message),
        };
        findings.value(
            RULE.info.severity,
            place,
            None,
            "message",
            identity,
            message.to_owned(),
        );
    };
    match paired.role {
        Role::Response if envelope.result.is_some() && envelope.error.is_some() => {
            report(row.payload, "a response has both a result and an error");
        }
        Role::Response if envelope.result.is_none() && envelope.error.is_none() => {
            report(row.payload, "a response has neither a result nor an error");
        }
        Role::Raw if row.sender == Sender::Server => {
            report(
                row.payload,
                "the server wrote a line that is no protocol message",
            );
        }
        Role::Unclassified if row.sender == Sender::Server => {
            report(
                row.payload,
                "the server sent a JSON object that is no protocol message",
            );
        }
        Role::Request if row.sender == Sender::Server && is_modern(context) => {
            report(
                row.payload,
                "the server sent a request, which its revision of the protocol does not have",
            );
        }
        Role::Response | Role::Raw | Role::Unclassified | Role::Request | Role::Notification => {}
    }
    let null_id = envelope
        .id
        .is_none_or(|id| id.of(&context.cassette.text) == "null");
    if paired.role == Role::Response && paired.request.is_none() && !null_id {
        report(
            row.payload,
            "a response answers no request of this recording",
        );
    }
}

/// Whether the session is of a revision in which servers send no requests.
/// Revisions are dates, which compare as text.
fn is_modern(context: &Context<'_>) -> bool {
    context
        .cassette
        .protocol_version()
        .is_some_and(|version| *version >= *MODERN_REVISION)
}

/// A listing whose last cursor nobody followed says nothing about what was on the
/// pages that are missing.
fn listings(context: &Context<'_>, findings: &mut Findings<'_>) {
    let recorded = context.recorded();
    for run in recorded.runs.iter().filter(|run| !run.complete) {
        let Some(row) = context.cassette.rows.get(run.last_message() as usize) else {
            continue;
        };
        let message = format!(
            "the {} listing is incomplete: its last cursor was never followed, so what comes after was not checked",
            run.listing.noun()
        );
        findings.value(
            RULE.info.severity,
            row.payload,
            None,
            "listing",
            Identity::text(&message),
            message.clone(),
        );
    }
}

/// Names that the specification does not allow.
fn names(reading: &Reading<'_>, findings: &mut Findings<'_>) {
    if reading.surface() != Surface::ToolName {
        return;
    }
    let name = reading.value();
    if let Some(fault) = name_fault(name) {
        findings.text(
            reading,
            0..name.len(),
            format!("tool {}: {fault}", quoted(name)),
        );
    }
}

/// Hints that the name of the tool contradicts.
fn hints(
    context: &Context<'_>,
    definition: &Definition<'_>,
    owner: &Owner<'_>,
    findings: &mut Findings<'_>,
) {
    let Some(lie) = lie(&context.cassette.text, definition) else {
        return;
    };
    let name = definition.name.as_ref().map_or("", |(name, _)| name);
    let message = format!(
        "tool {}: a hint says that the tool {}, and its name says \"{}\"",
        quoted(name),
        lie.claim,
        lie.verb
    );
    let identity = Identity::text(&message);
    findings.value(
        findings.severity(),
        lie.span,
        owner.tool(),
        "annotations",
        identity,
        message,
    );
}
