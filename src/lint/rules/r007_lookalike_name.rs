//! R007: a tool name with characters that imitate others, or that no name should have.

use super::{Check, Rule};
use crate::finding::{Evidence, RuleInfo, Severity};
use crate::lint::findings::Findings;
use crate::lint::lookalike::drawn_like;
use crate::lint::names::{capital_for_l, describe_name};
use crate::lint::reading::{Reading, quoted};
use crate::lint::surfaces::Surface;

pub(in crate::lint) const RULE: Rule = Rule {
    info: RuleInfo {
        id: "R007",
        name: "lookalike-name",
        summary: "a non-ASCII or mixed-script tool name",
        severity: Severity::Warning,
        evidence: Evidence::Shape,
        owasp: &["MCP03"],
        safe_mcp: &["SAFE-T1008", "SAFE-T1405"],
        page: include_str!("../../../docs/rules/R007.md"),
    },
    checks: &[Check::Text(check)],
};

fn check(reading: &Reading<'_>, findings: &mut Findings<'_>) {
    if reading.surface() != Surface::ToolName {
        return;
    }
    let name = reading.value();
    let whole = 0..name.len();
    if let Some(issue) = describe_name(name) {
        findings.text(reading, whole, format!("tool {}: {issue}", quoted(name)));
    } else if let Some(at) = capital_for_l(name) {
        let message = format!(
            "tool {}: a capital \"I\" stands where a small \"l\" is read",
            quoted(name)
        );
        findings.text(reading, at..at + 1, message);
    } else if let Some((part, word)) = drawn_like(name) {
        let at = name.find(part).unwrap_or_default();
        let message = format!("tool {}: \"{part}\" is drawn like \"{word}\"", quoted(name));
        findings.text(reading, at..at + part.len(), message);
    }
}
