//! Reports: what a lint or a comparison found, as text for people and scripts, as
//! JSON, and as annotations of GitHub Actions.
//!
//! Every format is a pure function from the same ordered findings to one string
//! that ends in a line feed, or is empty. Nothing here prints or reads the
//! environment. What a cassette recorded is hostile until `sanitize` has seen it.

mod accept;
mod catalogue;
mod checked;
mod counts;
mod diff_lines;
mod full;
mod full_check;
mod full_diff;
mod github;
mod json;
mod markdown;
mod outputs;
mod paint;
mod sanitize;
mod sarif;
mod text;
mod wording;

use crate::diff::Diff;
use crate::finding::{Finding, Report, Severity};

pub(crate) use catalogue::catalogue;
pub(crate) use checked::{
    BaseShown, CassetteStatus, Checked, CheckedCassette, RedactionVerdict, render_check,
};
#[cfg(test)]
pub(crate) use counts::Counts;
pub(crate) use outputs::Outputs;
pub(crate) use sanitize::{guard_runner, visible};

/// How a report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// For a terminal: the line of the file, with a caret under the place.
    Full,
    /// One line a finding, stable, for scripts.
    Text,
    /// One document with frozen member names.
    Json,
    /// Workflow commands that GitHub shows as annotations.
    Github,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// A job summary.
    Markdown,
    /// Entries for the configuration that accept what made the run fail.
    Accept,
}

impl Format {
    /// Every format, in the order of the help.
    pub(crate) const ALL: [Format; 7] = [
        Format::Full,
        Format::Text,
        Format::Json,
        Format::Github,
        Format::Sarif,
        Format::Markdown,
        Format::Accept,
    ];

    /// The word for it on a command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Format::Full => "full",
            Format::Text => "text",
            Format::Json => "json",
            Format::Github => "github",
            Format::Sarif => "sarif",
            Format::Markdown => "markdown",
            Format::Accept => "accept",
        }
    }
}

/// How a report looks, and who reads it.
#[derive(Clone, Debug)]
pub(crate) struct Style {
    /// Whether `full` may use colours.
    pub(crate) color: bool,
    /// The columns that `full` may fill; see [`Style::columns`].
    pub(crate) width: usize,
    /// Whether a GitHub Actions runner reads the output and looks for commands in it.
    pub(crate) github_actions: bool,
    /// The root of the checkout: absolute paths below it are shown relative to it
    /// in annotations.
    pub(crate) workspace: Option<String>,
    /// Where relative paths start, relative to the root of the checkout; put in
    /// front of them in annotations.
    pub(crate) working_directory: Option<String>,
    /// Whether several files were given, of which some may have no report because
    /// they could not be read: what is reported is then one of several.
    pub(crate) several: bool,
    /// The exit code of the run, for the formats that carry it.
    pub(crate) exit_code: Option<u8>,
}

impl Default for Style {
    fn default() -> Self {
        Style {
            color: false,
            width: 100,
            github_actions: false,
            workspace: None,
            working_directory: None,
            several: false,
            exit_code: None,
        }
    }
}

impl Style {
    /// The width that is kept: a terminal of less than 20 columns scrolls, and
    /// nobody reads a line of more than 200.
    fn columns(&self) -> usize {
        self.width.clamp(20, 200)
    }
}

/// The findings of one or more cassettes.
pub(crate) fn render_lint(
    format: Format,
    reports: &[Report],
    style: &Style,
    fail_on: Severity,
) -> String {
    match format {
        Format::Full => full::lint(reports, style, fail_on),
        Format::Text => text::lint(reports, style),
        Format::Json => json::lint(reports, style.several),
        Format::Github => github::lint(reports, style),
        Format::Sarif => sarif::lint(reports, style),
        Format::Markdown => markdown::lint(reports, fail_on, style.exit_code, markdown::MOST_BYTES),
        Format::Accept => accept::lint(reports, fail_on),
    }
}

/// What differs between two cassettes. `findings` are the changes as findings, from
/// [`crate::diff::findings`], for the formats that point at places. `tools_only` says
/// that nothing but the surfaces was compared, so that the report does not claim more.
pub(crate) fn render_diff(
    format: Format,
    diff: &Diff,
    findings: &[Finding],
    tools_only: bool,
    style: &Style,
) -> String {
    match format {
        Format::Full => full_diff::diff(diff, tools_only, style),
        Format::Text => text::diff(diff, tools_only, style),
        Format::Json => json::diff(diff),
        Format::Github => github::diff(diff, findings, style),
        Format::Sarif => sarif::diff(diff, findings, style),
        Format::Markdown => markdown::diff(diff, findings, tools_only, markdown::MOST_BYTES),
        Format::Accept => accept::diff(&diff.new, findings),
    }
}

/// Several comparisons as one JSON list.
pub(crate) fn render_diffs<'d>(diffs: impl Iterator<Item = &'d Diff>) -> String {
    json::diffs(diffs)
}

/// The job summary of `check`. `taken` is how many bytes of its file earlier
/// commands of the step have filled.
pub(crate) fn render_summary(checked: &Checked, taken: usize) -> String {
    markdown::check(checked, markdown::MOST_BYTES.saturating_sub(taken))
}

#[cfg(test)]
mod tests;
