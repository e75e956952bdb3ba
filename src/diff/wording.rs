//! What a change is called.

use super::{Change, ChangeKind};

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
