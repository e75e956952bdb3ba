//! R001: a tool description that gives the model orders of its own.

use super::{Check, Rule};
use crate::cassette::place::Identity;
use crate::finding::{Evidence, RuleInfo, Severity};
use crate::lint::findings::Findings;
use crate::lint::reading::{Owner, Reading, quoted};
use crate::lint::run::Context;
use crate::lint::stray_order::stray_order;
use crate::lint::surfaces::{Definition, Surface};

pub(in crate::lint) const RULE: Rule = Rule {
    info: RuleInfo {
        id: "R001",
        name: "tool-description-injection",
        summary: "injection phrasing in a tool description",
        severity: Severity::Error,
        evidence: Evidence::Intent,
        owasp: &["MCP03"],
        safe_mcp: &["SAFE-T1001", "SAFE-T1404"],
        page: include_str!("../../../docs/rules/R001.md"),
    },
    checks: &[Check::Text(check), Check::Definition(check_stray)],
};

fn check(reading: &Reading<'_>, findings: &mut Findings<'_>) {
    if reading.surface() != Surface::ToolDescription {
        return;
    }
    if let Some(injection) = super::injection::of_definition(reading) {
        injection.report(reading, findings, "carries instructions to the model");
    }
}

/// An order that has nothing to do with the tool.
fn check_stray(
    _: &Context<'_>,
    definition: &Definition<'_>,
    owner: &Owner<'_>,
    findings: &mut Findings<'_>,
) {
    let Some(order) = stray_order(definition) else {
        return;
    };
    let name = definition.name.as_ref().map_or("", |(name, _)| name);
    let message = format!(
        "tool {}: description perhaps orders what the tool has nothing to do with (stray-order)",
        quoted(name)
    );
    findings.value(
        Severity::Warning,
        order.span,
        owner.tool(),
        "description",
        Identity::text(&order.sentence),
        message,
    );
}
