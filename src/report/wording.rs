//! The words that several formats share: what a change is called, and counts.

use crate::diff::{Change, ChangeKind, Diff, MethodCount};
use crate::finding::{Finding, Report, Severity, Status};

/// A surface of the server, with what changed on it.
pub(super) struct Surface<'a> {
    /// The heading of its section.
    pub(super) heading: &'static str,
    /// What one entry of it is called; empty where the surface is one thing.
    pub(super) noun: &'static str,
    /// The changes.
    pub(super) changes: &'a [Change],
}

/// The surfaces in the order in which every format shows them.
pub(super) fn surfaces(diff: &Diff) -> [Surface<'_>; 4] {
    [
        ("tools", "tool", &diff.tools),
        ("prompts", "prompt", &diff.prompts),
        ("resources", "resource", &diff.resources),
        ("instructions", "", &diff.instructions),
    ]
    .map(|(heading, noun, changes)| Surface {
        heading,
        noun,
        changes,
    })
}

/// What happened, after the name: `removed`, `description changed (+1 -1 lines)`.
pub(super) fn happened(change: &Change) -> String {
    let what = match change.kind {
        ChangeKind::Added => return "added".to_owned(),
        ChangeKind::Removed => return "removed".to_owned(),
        ChangeKind::InputSchema => return "inputSchema changed".to_owned(),
        ChangeKind::OutputSchema => return "outputSchema changed".to_owned(),
        ChangeKind::Annotations => return "annotations changed".to_owned(),
        ChangeKind::Arguments => return "arguments changed".to_owned(),
        ChangeKind::Attributes => return "attributes changed".to_owned(),
        ChangeKind::Description => "description",
        ChangeKind::Title => "title",
        ChangeKind::Text => "text",
    };
    let (added, removed) = lines_moved(&change.diff);
    format!("{what} changed (+{added} -{removed} lines)")
}

/// The guess that an entry was renamed, if there is one.
pub(super) fn renamed(change: &Change) -> Option<String> {
    let other = change.renamed.as_deref()?;
    Some(match change.kind {
        ChangeKind::Removed => format!("equal to the added \"{other}\": possibly renamed to it"),
        _ => format!("equal to the removed \"{other}\": possibly renamed from it"),
    })
}

/// The lines that a unified diff adds and removes, without its two header lines.
fn lines_moved(diff: &[String]) -> (usize, usize) {
    let hunks = diff.iter().skip_while(|line| !line.starts_with("@@"));
    hunks.fold((0, 0), |(added, removed), line| {
        match line.as_bytes().first() {
            Some(b'+') => (added + 1, removed),
            Some(b'-') => (added, removed + 1),
            _ => (added, removed),
        }
    })
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

/// Findings by what they count for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) errors: usize,
    pub(super) warnings: usize,
    pub(super) notes: usize,
    pub(super) existing: usize,
    pub(super) accepted: usize,
}

impl Tally {
    pub(super) fn of(reports: &[Report]) -> Self {
        let mut tally = Tally::default();
        for finding in reports.iter().flat_map(|report| &report.findings) {
            *tally.place_of(finding) += 1;
        }
        tally
    }

    fn place_of(&mut self, finding: &Finding) -> &mut usize {
        match (&finding.status, finding.severity) {
            (Status::Existing, _) => &mut self.existing,
            (Status::Accepted { .. }, _) => &mut self.accepted,
            (Status::New, Severity::Error) => &mut self.errors,
            (Status::New, Severity::Warning) => &mut self.warnings,
            (Status::New, Severity::Note) => &mut self.notes,
        }
    }

    /// Findings that are neither existing nor accepted.
    pub(super) fn unsilenced(self) -> usize {
        self.errors + self.warnings + self.notes
    }

    /// Findings that are shown and never count.
    pub(super) fn silenced(self) -> usize {
        self.existing + self.accepted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moved_lines_are_counted_without_the_header() {
        let diff = [
            "--- baseline",
            "+++ current",
            "@@ -1 +1,2 @@",
            "-- x",
            "++++ y",
            "+z",
            " w",
        ]
        .map(str::to_owned);
        assert_eq!(lines_moved(&diff), (2, 1));
    }
}
