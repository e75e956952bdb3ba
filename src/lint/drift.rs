//! How the two rules about changed definitions tell what changed.

use super::findings::Findings;
use super::reading::quoted;
use crate::cassette::place::Identity;
use crate::diff::ChangeKind;
use crate::diff::definition::Delta;
use crate::diff::drift::{Drift, Drifts};
use crate::diff::surface::Recorded;
use crate::secrets::conceal::{conceal_diff, conceal_statement};
use crate::wire::json::Span;

/// Reports each member that changed, and each definition that could not be compared.
pub(super) fn report(
    drifts: &Drifts<'_>,
    (old, new): (&Recorded<'_>, &Recorded<'_>),
    since: &str,
    findings: &mut Findings<'_>,
) {
    for drift in &drifts.drifts {
        for delta in &drift.changes {
            one(drift, delta, (old, new), since, findings);
        }
    }
    for (occurrence, error) in &drifts.unreadable {
        let message = format!(
            "tool {} cannot be compared: {error}",
            quoted(&occurrence.shown())
        );
        findings.unchecked(occurrence.span, Some(&occurrence.shown()), message);
    }
}

fn one(
    drift: &Drift<'_>,
    delta: &Delta,
    (old, new): (&Recorded<'_>, &Recorded<'_>),
    since: &str,
    findings: &mut Findings<'_>,
) {
    let tool = drift.occurrence.shown();
    let noun = noun(delta.kind);
    let mut message = format!("tool {}: {noun} changed {since}", quoted(&tool));
    if !delta.diff.is_empty() {
        let lines = |sign: char, header: &str| {
            delta
                .diff
                .iter()
                .filter(|line| line.starts_with(sign) && !line.starts_with(header))
                .count()
        };
        message.push_str(&format!(
            " (+{} -{} lines)",
            lines('+', "+++"),
            lines('-', "---")
        ));
    }
    let before = drift.before.shown();
    if before != tool {
        message.push_str(&format!(", recorded as {} before", quoted(&before)));
    }
    if drift.times > 1 {
        message.push_str(&format!(", {} times", drift.times));
    }
    let mut diff = delta.diff.clone();
    conceal_diff(&mut diff);
    for line in &diff {
        message.push('\n');
        message.push_str(line);
    }
    for detail in &delta.details {
        let mut text = detail.text.clone();
        conceal_statement(&mut text);
        message.push_str(&format!("\n{text} ({})", detail.impact.as_str()));
    }
    let text = |side: &Recorded<'_>, span: Option<Span>| {
        span.map_or("", |span| span.of(&side.cassette.text))
            .to_owned()
    };
    let both = format!("{}\u{0}{}", text(old, delta.old), text(new, delta.new));
    let place = unquoted(
        delta.new.unwrap_or(drift.occurrence.span),
        &new.cassette.text,
    );
    let severity = findings.severity();
    findings.value(
        severity,
        place,
        Some(&tool),
        noun,
        Identity::text(&both),
        message,
    );
}

/// A string's place is the inside of its quotes, as for every other rule.
fn unquoted(span: Span, text: &str) -> Span {
    if span.of(text).starts_with('"') {
        Span {
            start: span.start + 1,
            end: span.end - 1,
        }
    } else {
        span
    }
}

/// The member of a definition by the name that it has on the wire.
fn noun(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Description => "description",
        ChangeKind::InputSchema => "inputSchema",
        ChangeKind::OutputSchema => "outputSchema",
        ChangeKind::Title => "title",
        ChangeKind::Annotations => "annotations",
        ChangeKind::Arguments => "arguments",
        ChangeKind::Added | ChangeKind::Removed | ChangeKind::Attributes | ChangeKind::Text => {
            "definition"
        }
    }
}
