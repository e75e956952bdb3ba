//! R004: a result, resource or prompt message that is shaped like instructions.

use super::{Check, Rule};
use crate::finding::{Evidence, RuleInfo, Severity};
use crate::lint::findings::Findings;
use crate::lint::reading::Reading;
use crate::lint::surfaces::Surface;

pub(in crate::lint) const RULE: Rule = Rule {
    info: RuleInfo {
        id: "R004",
        name: "result-instructions",
        summary: "instruction-shaped text in results, resources and prompt messages",
        severity: Severity::Warning,
        evidence: Evidence::Intent,
        owasp: &["MCP06"],
        safe_mcp: &["SAFE-T1102"],
        page: include_str!("../../../docs/rules/R004.md"),
    },
    checks: &[Check::Text(check)],
};

fn check(reading: &Reading<'_>, findings: &mut Findings<'_>) {
    let looks_at = matches!(
        reading.surface(),
        Surface::Result
            | Surface::Structured
            | Surface::ResourceText
            | Surface::DecodedText
            | Surface::PromptMessage
            | Surface::Error
            | Surface::Notification
            | Surface::Raw
    );
    if !looks_at {
        return;
    }
    if let Some(injection) = super::injection::of_result(reading) {
        injection.report(reading, findings, "reads like instructions to the model");
    }
}
