//! R008: characters that a reader does not see and a model does.

use super::{Check, Rule};
use crate::finding::{Evidence, RuleInfo, Severity};
use crate::lint::findings::Findings;
use crate::lint::invisible::HiddenKind;
use crate::lint::reading::{Reading, quoted_text};
use crate::lint::surfaces::Surface;

pub(in crate::lint) const RULE: Rule = Rule {
    info: RuleInfo {
        id: "R008",
        name: "hidden-characters",
        summary: "invisible or steering characters",
        severity: Severity::Error,
        evidence: Evidence::Shape,
        owasp: &["MCP03", "MCP06"],
        safe_mcp: &["SAFE-T1402"],
        page: include_str!("../../../docs/rules/R008.md"),
    },
    checks: &[Check::Text(check)],
};

fn check(reading: &Reading<'_>, findings: &mut Findings<'_>) {
    let surface = reading.surface();
    if !surface.is_server_text() {
        return;
    }
    let definition = surface.is_definition() || surface == Surface::ServerRequest;
    for hidden in reading.hidden() {
        let severity = if definition && !hidden.kind.is_harmless() {
            Severity::Error
        } else if definition || !hidden.kind.is_harmless() {
            Severity::Warning
        } else {
            Severity::Note
        };
        let mut message = format!("{} has {}", reading.subject(), hidden.kind.description());
        if hidden.times > 1 {
            message.push_str(&format!(" in {} places", hidden.times));
        }
        if let Some(decoded) = &hidden.decoded {
            let relation = match hidden.kind {
                HiddenKind::Hyperlink => "to",
                _ => "that say",
            };
            message.push_str(&format!(" {relation} {}", quoted_text(decoded)));
        }
        findings.text_as(severity, reading, hidden.range.clone(), message);
    }
}
