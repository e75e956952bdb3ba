//! R002: a tool that is no longer what the baseline recorded, the rug pull.

use super::{Check, Rule};
use crate::diff::drift::drifted;
use crate::diff::surface::{Listing, Recorded};
use crate::finding::{Evidence, RuleInfo, Severity};
use crate::lint::drift;
use crate::lint::findings::Findings;
use crate::lint::run::Context;

pub(in crate::lint) const RULE: Rule = Rule {
    info: RuleInfo {
        id: "R002",
        name: "drift",
        summary: "a tool definition that differs from the baseline",
        severity: Severity::Error,
        evidence: Evidence::Shape,
        owasp: &["MCP03"],
        safe_mcp: &["SAFE-T1201"],
        page: include_str!("../../../docs/rules/R002.md"),
    },
    checks: &[Check::Session(check)],
};

fn check(context: &Context<'_>, findings: &mut Findings<'_>) {
    let Some(baseline) = context.baseline.cassette() else {
        return;
    };
    let old = Recorded::of(baseline);
    let new = context.recorded();
    let (before, now) = (
        old.all(Listing::Tools).count(),
        new.all(Listing::Tools).count(),
    );
    if before > 0 && now == 0 {
        findings.note(format!(
            "the baseline holds {before} tool definitions and this recording none, so nothing \
             was compared"
        ));
    }
    drift::report(&drifted(&old, new), (&old, new), "vs baseline", findings);
}
