//! R012: a payload in an encoding that a model reads as easily as plain text.

use super::{Check, Rule};
use crate::finding::{Evidence, RuleInfo, Severity};
use crate::lint::encoded::{self, Encoding};
use crate::lint::findings::Findings;
use crate::lint::reading::{Reading, quoted_text, signals_of};
use crate::lint::signals::{SignalKind, Strength};
use crate::lint::surfaces::Surface;

pub(in crate::lint) const RULE: Rule = Rule {
    info: RuleInfo {
        id: "R012",
        name: "encoded-payload",
        summary: "an encoded payload whose decoded text trips another rule",
        severity: Severity::Error,
        evidence: Evidence::Shape,
        owasp: &["MCP03", "MCP06"],
        safe_mcp: &["SAFE-T1402"],
        page: include_str!("../../../docs/rules/R012.md"),
    },
    checks: &[Check::Text(check)],
};

fn check(reading: &Reading<'_>, findings: &mut Findings<'_>) {
    let surface = reading.surface();
    if !surface.is_server_text() {
        return;
    }
    let definition = surface.is_definition() || surface == Surface::ServerRequest;
    for part in encoded::parts(reading.value(), reading.first_run(), definition) {
        let signals = signals_of(&part.decoded, false);
        // What reading the text as it stands finds already is not hidden by an encoding.
        let plain = |kind| {
            part.encoding.covers_whole_text()
                && reading
                    .signals_from(Strength::Doubtful)
                    .any(|signal| signal.kind == kind)
        };
        let hidden = signals.iter().filter(|signal| {
            // What is said in an encoding is not said in passing.
            matches!(signal.strength, Strength::Doubtful | Strength::Strong)
                && signal.kind != SignalKind::Material
                && !plain(signal.kind)
        });
        let Some(signal) = hidden.max_by_key(|signal| signal.strength) else {
            continue;
        };
        // Nobody puts an honest order into signs that have to be worked out one by one.
        let is_clear = signal.strength == Strength::Strong
            || matches!(part.encoding, Encoding::Morse | Encoding::Numbers);
        let severity = if definition && is_clear {
            Severity::Error
        } else {
            Severity::Warning
        };
        let message = format!(
            "{} hides {} text that gives the model instructions ({}): {}",
            reading.subject(),
            part.encoding.label(),
            signal.kind.label(),
            quoted_text(&part.decoded)
        );
        findings.text_as(severity, reading, part.range, message);
        if part.encoding == Encoding::Reversed {
            break;
        }
    }
}
