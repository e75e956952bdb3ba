//! R008: characters that a reader does not see and a model does.

use super::{Check, Rule};
use crate::finding::{Evidence, RuleInfo, Severity};
use crate::lint::findings::Findings;
use crate::lint::invisible::{Hidden, HiddenKind, scan_meaningless};
use crate::lint::padding;
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
        report(reading, findings, hidden, severity);
    }
    if definition {
        for hidden in &scan_meaningless(reading.value()) {
            let breaks_word = hidden.decoded.is_some() && hidden.kind != HiddenKind::Replacement;
            let severity = if breaks_word {
                Severity::Error
            } else {
                Severity::Warning
            };
            report(reading, findings, hidden, severity);
        }
        blanks(reading, findings);
    }
}

fn report(reading: &Reading<'_>, findings: &mut Findings<'_>, hidden: &Hidden, severity: Severity) {
    let mut message = format!("{} has {}", reading.subject(), hidden.kind.description());
    if hidden.times > 1 {
        message.push_str(&format!(" in {} places", hidden.times));
    }
    if let Some(decoded) = &hidden.decoded {
        let relation = match hidden.kind {
            HiddenKind::Hyperlink => "to",
            kind if kind.is_doubtful() => "in a word,",
            _ => "that say",
        };
        message.push_str(&format!(" {relation} {}", quoted_text(decoded)));
    }
    findings.text_as(severity, reading, hidden.range.clone(), message);
}

/// Blanks that push the rest of a definition out of sight. A warning: a careless paste
/// looks the same.
fn blanks(reading: &Reading<'_>, findings: &mut Findings<'_>) {
    for run in padding::concealing(reading.value()) {
        let value = reading.value();
        let count = value.get(run.clone()).unwrap_or_default().chars().count();
        let message = format!(
            "{} has {count} blank characters in a row, which push the rest of it out of sight",
            reading.subject()
        );
        findings.text_as(Severity::Warning, reading, run, message);
    }
}
