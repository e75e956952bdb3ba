//! R015: a tool that changed while the recording ran.

use super::{Check, Rule};
use crate::diff::drift::{moved, movements};
use crate::finding::{Evidence, RuleInfo, Severity};
use crate::lint::drift;
use crate::lint::findings::Findings;
use crate::lint::reading::quoted;
use crate::lint::run::Context;

pub(in crate::lint) const RULE: Rule = Rule {
    info: RuleInfo {
        id: "R015",
        name: "changed-in-session",
        summary: "a tool definition that changed within one recording",
        severity: Severity::Error,
        evidence: Evidence::Shape,
        owasp: &["MCP03"],
        safe_mcp: &["SAFE-T1201"],
        page: include_str!("../../../docs/rules/R015.md"),
    },
    checks: &[Check::Session(check)],
};

fn check(context: &Context<'_>, findings: &mut Findings<'_>) {
    let recorded = context.recorded();
    drift::report(
        &moved(recorded),
        (recorded, recorded),
        "within this recording",
        findings,
    );
    for movement in movements(recorded) {
        let verb = if movement.added {
            "was added"
        } else {
            "was removed"
        };
        let announced = if movement.announced {
            "after the server announced a change"
        } else {
            "unannounced"
        };
        findings.note(format!(
            "tool {} {verb} in the listing of message {}, {announced}",
            quoted(&movement.occurrence.shown()),
            movement.message
        ));
    }
}
