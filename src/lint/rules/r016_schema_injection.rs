//! R016: an order to override, conceal or pass on, in a name or a schema.

use super::{Check, Rule};
use crate::cassette::place::Identity;
use crate::finding::{Evidence, RuleInfo, Severity};
use crate::lint::findings::Findings;
use crate::lint::reading::{Owner, Reading, quoted};
use crate::lint::run::Context;
use crate::lint::signals::SignalKind;
use crate::lint::surfaces::{Definition, Surface};
use crate::lint::together;

pub(in crate::lint) const RULE: Rule = Rule {
    info: RuleInfo {
        id: "R016",
        name: "schema-injection",
        summary: "a strong injection signal in a name or schema text",
        severity: Severity::Error,
        evidence: Evidence::Intent,
        owasp: &["MCP03"],
        safe_mcp: &["SAFE-T1501"],
        page: include_str!("../../../docs/rules/R016.md"),
    },
    checks: &[Check::Text(check), Check::Definition(check_together)],
};

const KINDS: &[SignalKind] = &[
    SignalKind::Override,
    SignalKind::Conceal,
    SignalKind::Exfiltrate,
    SignalKind::Role,
    SignalKind::Emphasis,
    SignalKind::Addressed,
    SignalKind::Execute,
    SignalKind::Consent,
];

const OF_NAMES: &[SignalKind] = &[
    SignalKind::Override,
    SignalKind::Conceal,
    SignalKind::Exfiltrate,
    SignalKind::Role,
    SignalKind::Addressed,
];

fn check(reading: &Reading<'_>, findings: &mut Findings<'_>) {
    if reading.surface() != Surface::ToolName && !reading.surface().is_schema() {
        return;
    }
    // What the name of a tool says is done is what the tool does.
    let kinds = match reading.surface() {
        Surface::ToolName => OF_NAMES,
        _ => KINDS,
    };
    if let Some(injection) = super::injection::of_kinds(reading, kinds) {
        injection.report(reading, findings, "carries instructions to the model");
    }
}

/// An order that is parted over several texts of one definition.
fn check_together(
    _: &Context<'_>,
    definition: &Definition<'_>,
    owner: &Owner<'_>,
    findings: &mut Findings<'_>,
) {
    let Some(split) = together::split(definition) else {
        return;
    };
    let name = definition.name.as_ref().map_or("", |(name, _)| name);
    let message = format!(
        "tool {}: several texts together carry instructions to the model ({})",
        quoted(name),
        split.kind.label()
    );
    findings.value(
        findings.severity(),
        split.span,
        owner.tool(),
        "texts of a tool",
        Identity::text(&split.words),
        message,
    );
}
