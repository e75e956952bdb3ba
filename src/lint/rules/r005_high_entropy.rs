//! R005: a string that looks like a secret by its randomness or by its name.

use super::{Check, Rule};
use crate::finding::{Evidence, RuleInfo, Severity};
use crate::lint::findings::Findings;
use crate::lint::reading::Reading;
use crate::secrets::{Kind, Secret};

pub(in crate::lint) const RULE: Rule = Rule {
    info: RuleInfo {
        id: "R005",
        name: "high-entropy",
        summary: "a high-entropy string, or a value under a secret-looking name",
        severity: Severity::Warning,
        evidence: Evidence::Shape,
        owasp: &["MCP01"],
        safe_mcp: &["SAFE-T1504", "SAFE-T1506"],
        page: include_str!("../../../docs/rules/R005.md"),
    },
    checks: &[Check::Text(check)],
};

/// What the secret keys in the documentation of AWS end in. They open nothing.
const DOCUMENTED: &str = "EXAMPLEKEY";

fn check(reading: &Reading<'_>, findings: &mut Findings<'_>) {
    let is_documented = |secret: &Secret| {
        let found = reading.value().get(secret.range.clone());
        found.is_some_and(|value| value.contains(DOCUMENTED))
    };
    for secret in reading
        .secrets()
        .iter()
        .filter(|secret| !matches!(secret.kind, Kind::Shape(_)) && !is_documented(secret))
    {
        findings.secret(reading, secret);
    }
}
