//! R010: a definition that wants private material in an argument, a URL or a result.

use super::{Check, Rule};
use crate::cassette::place::Identity;
use crate::finding::{Evidence, RuleInfo, Severity};
use crate::lint::findings::Findings;
use crate::lint::reading::{Owner, Reading, quoted};
use crate::lint::run::Context;
use crate::lint::signals::{Signal, SignalKind, Strength};
use crate::lint::stray;
use crate::lint::surfaces::{Defined, Definition, Surface};

pub(in crate::lint) const RULE: Rule = Rule {
    info: RuleInfo {
        id: "R010",
        name: "private-material",
        summary: "asks for private files, keys, the conversation or the system prompt",
        severity: Severity::Error,
        evidence: Evidence::Intent,
        owasp: &["MCP01", "MCP03", "MCP10"],
        safe_mcp: &[
            "SAFE-T1502",
            "SAFE-T1503",
            "SAFE-T1603",
            "SAFE-T1801",
            "SAFE-T1911",
        ],
        page: include_str!("../../../docs/rules/R010.md"),
    },
    checks: &[Check::Text(check), Check::Definition(check_stray)],
};

fn check(reading: &Reading<'_>, findings: &mut Findings<'_>) {
    if !reading.surface().is_definition() && reading.surface() != Surface::ServerRequest {
        return;
    }
    if reading.surface() == Surface::ServerRequest && stray::asks_person(reading.value()) {
        let message = format!(
            "{} asks a person for a key or password, which the protocol forbids (private-material)",
            reading.subject()
        );
        let whole = 0..reading.value().len();
        findings.text_as(Severity::Warning, reading, whole, message);
        return;
    }
    let wants = |signal: &&Signal| signal.kind == SignalKind::Exfiltrate;
    let Some(signal) = reading
        .signals_from(Strength::Weak)
        .filter(wants)
        .max_by_key(|signal| signal.strength)
    else {
        return;
    };
    // A weak signal alone is honest often enough to be no more than a warning.
    let severity = if signal.strength == Strength::Strong {
        findings.severity()
    } else {
        Severity::Warning
    };
    let message = format!(
        "{} asks for private material to be passed on ({})",
        reading.subject(),
        signal.kind.label()
    );
    findings.text_as(severity, reading, signal.range.clone(), message);
}

/// Material that the tool has nothing to do with.
fn check_stray(
    _: &Context<'_>,
    definition: &Definition<'_>,
    owner: &Owner<'_>,
    findings: &mut Findings<'_>,
) {
    let Some(stray) = stray::stray(definition) else {
        return;
    };
    let severity = match stray.clear {
        true => findings.severity(),
        false => Severity::Warning,
    };
    let name = definition.name.as_ref().map_or("", |(name, _)| name);
    let of = match definition.defines {
        Defined::Prompt => "prompt",
        _ => "tool",
    };
    let message = format!(
        "{of} {}: {} asks for {}, which it has nothing to do with (private-material)",
        quoted(name),
        stray.noun,
        stray.label
    );
    let identity = Identity::text(&stray.sentence);
    findings.value(
        severity,
        stray.span,
        owner.tool(),
        stray.noun,
        identity,
        message,
    );
}
