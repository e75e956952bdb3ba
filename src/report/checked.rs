//! What `check` knows at its end, and the way from there to every format.

use super::counts::Counts;
use super::{Format, Style, accept, full_check, github, json, markdown, sarif, text};
use crate::diff::Diff;
use crate::finding::{Report, Severity};

/// The whole result of one run of `check`.
#[derive(Clone, Debug)]
pub(crate) struct Checked {
    pub(crate) base: BaseShown,
    /// In the order of their paths.
    pub(crate) cassettes: Vec<CheckedCassette>,
    /// What could not be checked and belongs to no cassette.
    pub(crate) errors: Vec<String>,
    pub(crate) exit_code: u8,
    pub(crate) fail_on: Severity,
    /// Whether each cassette was judged by itself. A comparison alone has nothing to
    /// say of one that was not compared, and does not call it clean.
    pub(crate) judged: bool,
}

/// What the cassettes were compared with.
#[derive(Clone, Debug, Default)]
pub(crate) struct BaseShown {
    /// `None` if there is no baseline.
    pub(crate) commit: Option<String>,
    /// Why that commit, or why none.
    pub(crate) reason: String,
}

/// One cassette, with all that the checks say about it.
#[derive(Clone, Debug)]
pub(crate) struct CheckedCassette {
    pub(crate) path: String,
    pub(crate) status: CassetteStatus,
    /// The path on the base side, if it is another one.
    pub(crate) old_path: Option<String>,
    /// Findings of every kind, in one order.
    pub(crate) report: Report,
    /// What moved, if there was something to compare it with.
    pub(crate) diff: Option<Diff>,
    pub(crate) redaction: Option<RedactionVerdict>,
    /// Why it could not be checked, or not wholly.
    pub(crate) errors: Vec<String>,
}

/// What became of a cassette since the base commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CassetteStatus {
    Added,
    Modified,
    Renamed,
    Deleted,
    Unchanged,
    /// It could not be read on one of the sides.
    Unreadable,
}

impl CassetteStatus {
    /// The word used in reports.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            CassetteStatus::Added => "added",
            CassetteStatus::Modified => "modified",
            CassetteStatus::Renamed => "renamed",
            CassetteStatus::Deleted => "deleted",
            CassetteStatus::Unchanged => "unchanged",
            CassetteStatus::Unreadable => "unreadable",
        }
    }
}

/// Whether a cassette was scrubbed as it should be.
#[derive(Clone, Debug)]
pub(crate) struct RedactionVerdict {
    /// The profile that its manifest names.
    pub(crate) profile: Option<String>,
    /// The profile that is required.
    pub(crate) wanted: Option<String>,
    pub(crate) ok: bool,
}

impl CheckedCassette {
    /// Why it could not be checked; never empty for an unreadable one.
    pub(super) fn problems(&self) -> impl Iterator<Item = &str> {
        let silent = self.status == CassetteStatus::Unreadable && self.errors.is_empty();
        let said = self.errors.iter().map(String::as_str);
        said.chain(silent.then_some("it could not be read"))
    }

    /// Whether there is a difference that no finding tells: of metadata, method
    /// counts or the order of requests.
    pub(super) fn has_other_differences(&self) -> bool {
        self.diff.as_ref().is_some_and(|diff| {
            !(diff.metadata.is_empty() && diff.methods.is_empty() && diff.sequence.is_empty())
        })
    }

    /// Whether nothing at all was found.
    pub(super) fn is_clean(&self) -> bool {
        self.report.findings.is_empty()
            && self.problems().next().is_none()
            && self.diff.as_ref().is_none_or(Diff::identical)
            && self.redaction.as_ref().is_none_or(|verdict| verdict.ok)
    }
}

impl Checked {
    /// A run that could not begin.
    pub(crate) fn failed(error: String, exit_code: u8, fail_on: Severity) -> Self {
        Checked {
            base: BaseShown {
                commit: None,
                reason: "not known, because the run could not begin".to_owned(),
            },
            cassettes: Vec::new(),
            errors: vec![error],
            exit_code,
            fail_on,
            judged: false,
        }
    }

    /// The one count of all findings.
    pub(crate) fn counts(&self) -> Counts {
        let reports = self.cassettes.iter().map(|cassette| &cassette.report);
        Counts::of(reports.flat_map(|report| &report.findings))
    }

    /// All that could not be checked, with the cassette where it is known.
    pub(super) fn problems(&self) -> impl Iterator<Item = (Option<&str>, &str)> {
        let cassettes = self.cassettes.iter().flat_map(|cassette| {
            let path = Some(cassette.path.as_str());
            cassette.problems().map(move |problem| (path, problem))
        });
        let others = self.errors.iter().map(|error| (None, error.as_str()));
        cassettes.chain(others)
    }
}

/// The result of `check` in one format.
pub(crate) fn render_check(format: Format, checked: &Checked, style: &Style) -> String {
    match format {
        Format::Full => full_check::check(checked, style),
        Format::Text => text::check(checked, style),
        Format::Json => json::check(checked),
        Format::Github => github::check(checked, style),
        Format::Sarif => sarif::check(checked, style),
        Format::Markdown => markdown::check(checked, markdown::MOST_BYTES),
        Format::Accept => accept::check(checked),
    }
}
