//! Plain text, line by line, in shapes that scripts rely on. Recorded text never
//! begins a line: one finding or change begins at the left, what belongs to it is
//! indented.

use super::Style;
use super::checked::Checked;
use super::counts::Counts;
use super::sanitize::{guard_runner, visible};
use super::wording;
use crate::diff::{Change, Diff, FieldChange};
use crate::finding::{Finding, Report, Status};
use std::fmt::Write as _;

/// The findings, cassette by cassette.
pub(super) fn lint(reports: &[Report], style: &Style) -> String {
    let mut out = String::new();
    let several = style.several || reports.len() > 1;
    for report in reports {
        if several {
            line(&mut out, format_args!("{}:", visible(&report.cassette)));
        }
        notes(&mut out, &report.notes);
        for found in &report.findings {
            finding(&mut out, found, true);
        }
        let counts = Counts::of(&report.findings);
        if counts.silenced() > 0 && counts.findings == 0 {
            no_new(&mut out, counts);
        } else if counts.findings == 0 {
            out.push_str("clean: no findings\n");
        }
    }
    let quotes = several
        || reports
            .iter()
            .any(|report| !report.findings.is_empty() || !report.notes.is_empty());
    guarded(out, quotes, style)
}

fn no_new(out: &mut String, counts: Counts) {
    let (existing, accepted) = (counts.existing, counts.accepted);
    line(
        out,
        format_args!("no new findings ({existing} existing, {accepted} accepted)"),
    );
}

/// The result of `check`, cassette by cassette, and a summary line.
pub(super) fn check(checked: &Checked, style: &Style) -> String {
    let mut out = String::new();
    line(
        &mut out,
        format_args!("base: {}", visible(&wording::base(checked))),
    );
    for cassette in &checked.cassettes {
        line(&mut out, format_args!("{}:", visible(&cassette.path)));
        for problem in cassette.problems() {
            let problem = visible(problem);
            line(&mut out, format_args!("error: not checked: {problem}"));
        }
        let shows_diff = cassette.diff.is_some();
        for found in &cassette.report.findings {
            // The sections below say what such a finding says after its first line.
            finding(&mut out, found, !(shows_diff && is_change(found)));
        }
        if let Some(diff) = &cassette.diff {
            sections(&mut out, diff);
        }
        notes(&mut out, &wording::remarks(cassette));
        let counts = Counts::of(&cassette.report.findings);
        if cassette.is_clean() && (checked.judged || cassette.diff.is_some()) {
            out.push_str("clean: no findings\n");
        } else if counts.findings == 0 && counts.silenced() > 0 {
            no_new(&mut out, counts);
        }
    }
    for error in &checked.errors {
        line(&mut out, format_args!("error: {}", visible(error)));
    }
    let summary = wording::summary(checked);
    line(&mut out, format_args!("summary: {summary}"));
    guarded(out, true, style)
}

/// Whether a finding is a change of a surface, R101 to R109.
pub(super) fn is_change(finding: &Finding) -> bool {
    let number = finding.rule.as_str().strip_prefix("R10");
    number.is_some_and(|last| matches!(last.as_bytes(), [b'1'..=b'9']))
}

fn finding(out: &mut String, finding: &Finding, whole: bool) {
    let (first, rest) = match finding.message.split_once('\n') {
        Some((first, rest)) => (first, Some(rest)),
        None => (finding.message.as_str(), None),
    };
    let place = visible(wording::place(&finding.locator));
    line(
        out,
        format_args!(
            "{} {} {place} {}{}",
            visible(finding.rule.as_str()),
            finding.severity,
            visible(first),
            standing(&finding.status),
        ),
    );
    let rest = rest.filter(|_| whole);
    for more in rest.iter().flat_map(|rest| rest.split('\n')) {
        line(out, format_args!("    {}", visible(more)));
    }
}

/// What follows a finding that is not simply new.
pub(super) fn standing(status: &Status) -> String {
    match status {
        Status::New => String::new(),
        Status::Existing => " [existing]".to_owned(),
        Status::Accepted { reason } => format!(" [accepted: {}]", visible(reason)),
        Status::PendingAccept { reason } => {
            let ways = wording::WAYS_ON;
            format!(" [pending-accept: {}; {ways}]", visible(reason))
        }
    }
}

/// What differs, section by section.
pub(super) fn diff(diff: &Diff, tools_only: bool, style: &Style) -> String {
    let mut out = String::new();
    if diff.identical() {
        out.push_str(identical(tools_only));
        out.push('\n');
        notes(&mut out, &diff.notes);
        return guarded(out, !diff.notes.is_empty(), style);
    }
    sections(&mut out, diff);
    notes(&mut out, &diff.notes);
    guarded(out, true, style)
}

/// The sections of a comparison that are not empty.
pub(super) fn sections(out: &mut String, diff: &Diff) {
    section(out, "metadata", &diff.metadata, |out, field| {
        line(out, format_args!("  {}", visible(&field_moved(field))));
    });
    section(out, "methods", &diff.methods, |out, count| {
        line(
            out,
            format_args!("  {}", visible(&wording::method_moved(count))),
        );
    });
    for surface in wording::surfaces(diff) {
        section(out, surface.heading, surface.changes, change);
    }
    section(out, "sequence", &diff.sequence, |out, step| {
        line(out, format_args!("  {}", visible(step)));
    });
}

/// The verdict on two cassettes without a difference.
pub(super) fn identical(tools_only: bool) -> &'static str {
    if tools_only {
        "identical: no tool surface differences"
    } else {
        "identical: no structural differences"
    }
}

/// `server_info.version: 1 -> 2`; a value that is not there is `None`, as it was in 0.4.0.
pub(super) fn field_moved(change: &FieldChange) -> String {
    let old = change.old.as_deref().unwrap_or("None");
    let new = change.new.as_deref().unwrap_or("None");
    format!("{}: {old} -> {new}", change.field)
}

fn change(out: &mut String, change: &Change) {
    let happened = change.happened();
    line(out, format_args!("  {}: {happened}", visible(&change.name)));
    for detail in &change.details {
        let (impact, text) = (detail.impact.as_str(), visible(&detail.text));
        line(out, format_args!("    {impact}: {text}"));
    }
    if let Some(renamed) = change.renamed_in_words() {
        line(out, format_args!("    {}", visible(&renamed)));
    }
    for more in change.diff.iter().flat_map(|more| more.split('\n')) {
        line(out, format_args!("    {}", visible(more)));
    }
}

fn section<T>(out: &mut String, heading: &str, entries: &[T], show: impl Fn(&mut String, &T)) {
    if entries.is_empty() {
        return;
    }
    line(out, format_args!("{heading}:"));
    for entry in entries {
        show(out, entry);
    }
}

fn notes(out: &mut String, notes: &[String]) {
    for note in notes {
        line(out, format_args!("note: {}", visible(note)));
    }
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    let _ = writeln!(out, "{text}");
}

/// The block, made safe for a runner that reads it if it quotes a cassette or a file name.
pub(super) fn guarded(out: String, quotes: bool, style: &Style) -> String {
    if style.github_actions && quotes {
        guard_runner(&out)
    } else {
        out
    }
}
