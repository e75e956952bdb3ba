//! R017: a string in the shape of a known kind of key.

use super::{Check, Rule};
use crate::finding::{Evidence, RuleInfo, Severity};
use crate::lint::findings::Findings;
use crate::lint::reading::Reading;
use crate::secrets::Kind;

pub(in crate::lint) const RULE: Rule = Rule {
    info: RuleInfo {
        id: "R017",
        name: "known-secret",
        summary: "a known key shape: provider prefix, PEM block, JWT, connection string",
        severity: Severity::Error,
        evidence: Evidence::Shape,
        owasp: &["MCP01"],
        safe_mcp: &["SAFE-T1504", "SAFE-T1506"],
        page: include_str!("../../../docs/rules/R017.md"),
    },
    checks: &[Check::Text(check)],
};

fn check(reading: &Reading<'_>, findings: &mut Findings<'_>) {
    for secret in reading
        .secrets()
        .iter()
        .filter(|secret| matches!(secret.kind, Kind::Shape(_)))
    {
        findings.secret(reading, secret);
    }
}
