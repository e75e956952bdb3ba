//! R006: injection phrasing in the name of a tool or in the text of its schemas.

use super::{Check, Rule};
use crate::finding::{Evidence, RuleInfo, Severity};
use crate::lint::findings::Findings;
use crate::lint::names::asks_for_private_file;
use crate::lint::reading::Reading;
use crate::lint::signals::{Signal, SignalKind, Strength};
use crate::lint::surfaces::Surface;

pub(in crate::lint) const RULE: Rule = Rule {
    info: RuleInfo {
        id: "R006",
        name: "schema-phrasing",
        summary: "injection phrasing in names and schema text",
        severity: Severity::Warning,
        evidence: Evidence::Intent,
        owasp: &["MCP03"],
        safe_mcp: &["SAFE-T1501"],
        page: include_str!("../../../docs/rules/R006.md"),
    },
    checks: &[Check::Text(check)],
};

fn check(reading: &Reading<'_>, findings: &mut Findings<'_>) {
    if reading.surface() != Surface::ToolName && !reading.surface().is_schema() {
        return;
    }
    let injection = super::injection::of_definition(reading)
        .or_else(|| super::injection::at_least(reading, Strength::Weak))
        .filter(|_| !is_switch(reading));
    if let Some(injection) = injection {
        injection.report(reading, findings, "holds injection phrasing");
    } else if reading.surface() == Surface::SchemaName && asks_for_private_file(reading.value()) {
        let message = format!("{} asks for a private file", reading.subject());
        findings.text(reading, 0..reading.value().len(), message);
    }
}

/// Whether all that the description of a parameter says is what it switches: "Delete
/// without asking". What a person is to be spared is said of the person.
fn is_switch(reading: &Reading<'_>) -> bool {
    const PERSONS: &[&str] = &[
        "user", "person", "human", "owner", "anyone", "nobody", "them", "they", "you ",
    ];
    let mild = |signal: &Signal| {
        matches!(
            signal.kind,
            SignalKind::Consent | SignalKind::Execute | SignalKind::Conceal
        ) && (signal.strength < Strength::Strong
            || signal.kind == SignalKind::Execute && reading.surface() == Surface::ToolName)
    };
    let value = reading.value().to_ascii_lowercase();
    matches!(
        reading.surface(),
        Surface::SchemaDescription | Surface::SchemaName | Surface::ToolName
    ) && value.is_ascii()
        && reading.signals().iter().all(mild)
        && !PERSONS.iter().any(|person| value.contains(person))
}
