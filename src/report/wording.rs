//! The words that several formats share: what a change is called, and counts.

use super::checked::{Checked, CheckedCassette};
use super::counts::Counts;
use crate::diff::{Change, Diff, MethodCount};
use std::fmt::Write as _;

/// A surface of the server, with what changed on it.
pub(super) struct Surface<'a> {
    /// The heading of its section.
    pub(super) heading: &'static str,
    /// The changes.
    pub(super) changes: &'a [Change],
}

/// The surfaces in the order in which every format shows them.
pub(super) fn surfaces(diff: &Diff) -> [Surface<'_>; 4] {
    [
        ("tools", &diff.tools),
        ("prompts", &diff.prompts),
        ("resources", &diff.resources),
        ("instructions", &diff.instructions),
    ]
    .map(|(heading, changes)| Surface { heading, changes })
}

/// A JSON pointer as a word of its own; `-` for the cassette as a whole.
pub(super) fn place(locator: &str) -> &str {
    if locator.is_empty() { "-" } else { locator }
}

/// `ping: 0 -> 1`
pub(super) fn method_moved(count: &MethodCount) -> String {
    format!(
        "{}: {} -> {}",
        count.method, count.old_count, count.new_count
    )
}

/// `1 error`, `2 errors`
pub(super) fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// How a finding goes on that only an accept entry of the change itself covers.
pub(super) const WAYS_ON: &str = "merge the entry first, or re-run with policy-from: head after \
                                  a maintainer's review";

/// The verdict in one line: what was found, in how many cassettes, and the exit code.
pub(super) fn summary(checked: &Checked) -> String {
    let counts = checked.counts();
    let found = match counts.findings {
        0 if counts.silenced() > 0 => "no new findings".to_owned(),
        0 => "no findings".to_owned(),
        _ => format!(
            "{}, {}, {}",
            counted(counts.errors, "error"),
            counted(counts.warnings, "warning"),
            counted(counts.notes, "note")
        ),
    };
    let mut line = format!(
        "{found} in {}",
        counted(checked.cassettes.len(), "cassette")
    );
    if counts.silenced() + counts.pending > 0 {
        let _ = write!(
            line,
            " ({} existing, {} accepted, {} pending-accept)",
            counts.existing, counts.accepted, counts.pending
        );
    }
    match checked.problems().count() {
        0 => {}
        count => {
            let _ = write!(line, "; {count} not checked");
        }
    }
    let _ = write!(line, "; exit code {}", checked.exit_code);
    line
}

/// The base line: `1a2b3c (why that commit)`, or why there is none.
pub(super) fn base(checked: &Checked) -> String {
    let reason = &checked.base.reason;
    match &checked.base.commit {
        Some(commit) => format!("{commit} ({reason})"),
        None => format!("none ({reason})"),
    }
}

/// What is to be said of one cassette besides its findings and differences.
pub(super) fn remarks(cassette: &CheckedCassette) -> Vec<String> {
    let mut remarks = Vec::new();
    if let Some(old) = &cassette.old_path {
        remarks.push(format!("{} from {old}", cassette.status.as_str()));
    }
    if let Some(redaction) = cassette.redaction.as_ref().filter(|verdict| !verdict.ok) {
        remarks.push(match (&redaction.profile, &redaction.wanted) {
            (Some(profile), Some(wanted)) => {
                format!("redaction profile '{profile}', expected '{wanted}'")
            }
            (None, Some(wanted)) => format!("no redaction profile, expected '{wanted}'"),
            _ => "the redaction check failed".to_owned(),
        });
    }
    let diff = cassette.diff.iter().flat_map(|diff| &diff.notes);
    remarks.extend(cassette.report.notes.iter().chain(diff).cloned());
    let pending = Counts::of(&cassette.report.findings).pending;
    if pending > 0 {
        let findings = counted(pending, "finding");
        remarks.push(format!(
            "{findings} accepted only by entries of this change, which count: {WAYS_ON}"
        ));
    }
    remarks
}
