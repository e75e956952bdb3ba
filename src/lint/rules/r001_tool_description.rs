//! R001: a tool description that gives the model orders of its own.

use super::{Check, Rule};
use crate::finding::{Evidence, RuleInfo, Severity};
use crate::lint::findings::Findings;
use crate::lint::reading::Reading;
use crate::lint::surfaces::Surface;

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
    checks: &[Check::Text(check)],
};

fn check(reading: &Reading<'_>, findings: &mut Findings<'_>) {
    if reading.surface() != Surface::ToolDescription {
        return;
    }
    if let Some(injection) = super::injection::of_definition(reading) {
        injection.report(reading, findings, "carries instructions to the model");
    }
}
