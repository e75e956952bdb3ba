//! R009: the same as R001 in every other text that a server defines itself by.

use super::{Check, Rule};
use crate::finding::{Evidence, RuleInfo, Severity};
use crate::lint::findings::Findings;
use crate::lint::reading::Reading;
use crate::lint::surfaces::Surface;

pub(in crate::lint) const RULE: Rule = Rule {
    info: RuleInfo {
        id: "R009",
        name: "definition-injection",
        summary: "injection phrasing in instructions, titles, annotations, prompts, resources and server requests",
        severity: Severity::Error,
        evidence: Evidence::Intent,
        owasp: &["MCP03", "MCP06"],
        safe_mcp: &["SAFE-T1001", "SAFE-T1102", "SAFE-T1112"],
        page: include_str!("../../../docs/rules/R009.md"),
    },
    checks: &[Check::Text(check)],
};

fn check(reading: &Reading<'_>, findings: &mut Findings<'_>) {
    let looks_at = matches!(
        reading.surface(),
        Surface::ToolTitle
            | Surface::ToolAnnotation
            | Surface::Instructions
            | Surface::ServerInfo
            | Surface::Prompt
            | Surface::Resource
            | Surface::ServerRequest
    );
    if !looks_at {
        return;
    }
    if let Some(injection) = super::injection::of_definition(reading) {
        injection.report(reading, findings, "carries instructions to the model");
    }
}
