//! R011: a definition that steers when other tools are used, or poses as one.

use super::{Check, Rule};
use crate::finding::{Evidence, RuleInfo, Severity};
use crate::lint::findings::Findings;
use crate::lint::reading::Reading;
use crate::lint::signals::{SignalKind, Strength};

pub(in crate::lint) const RULE: Rule = Rule {
    info: RuleInfo {
        id: "R011",
        name: "tool-steering",
        summary: "steers the use of other tools, or of this one before all others",
        severity: Severity::Warning,
        evidence: Evidence::Intent,
        owasp: &["MCP03"],
        safe_mcp: &["SAFE-T1008", "SAFE-T1301", "SAFE-T1401"],
        page: include_str!("../../../docs/rules/R011.md"),
    },
    checks: &[Check::Text(check)],
};

fn check(reading: &Reading<'_>, findings: &mut Findings<'_>) {
    if !reading.surface().is_definition() {
        return;
    }
    let primes = |signal: &&crate::lint::signals::Signal| signal.kind == SignalKind::Prime;
    if let Some(signal) = reading.signals_from(Strength::Weak).find(primes) {
        let message = format!(
            "{} steers which tools are used and when ({})",
            reading.subject(),
            signal.kind.label()
        );
        findings.text(reading, signal.range.clone(), message);
    }
}
