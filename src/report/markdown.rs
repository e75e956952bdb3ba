//! A job summary: verdict, findings and changes as GitHub-flavoured Markdown.
//!
//! Everything recorded, file names included, stands in code spans and fenced
//! blocks: GitHub looks for no link, image, mention, reference or HTML there, and
//! a code span cannot be left from inside. The one link that a row has is ours.
//!
//! GitHub throws a summary away as a whole if it is too large, so the size is
//! bounded in bytes, and cut between rows with everything closed.

use super::checked::{BaseShown, CassetteStatus, Checked, CheckedCassette};
use super::sanitize::{shortened, visible, without_old_commands};
use super::text::{identical, sections};
use super::wording;
use crate::diff::Diff;
use crate::finding::{Finding, Report, Severity, Status, help_uri};
use std::borrow::Cow;
use std::fmt::Write as _;

/// The most that GitHub keeps is 1,048,576 bytes a step; some of it is left to others.
pub(crate) const MOST_BYTES: usize = 1_000_000;

/// Kept free for the sentences that say what was left out.
const RESERVE: usize = 1_000;
/// Characters of a path, a tool's name, a note.
const LONGEST_NAME: usize = 200;
/// Characters of the first line of a message.
const LONGEST_MESSAGE: usize = 500;
/// Lines of the differences of one cassette, and characters of one of them.
const MOST_LINES: usize = 300;
const LONGEST_LINE: usize = 1_000;

/// The result of `check`, in at most `limit_bytes` bytes: [`MOST_BYTES`] less what
/// the step wrote before. Nothing at all if not even the verdict fits.
pub(crate) fn check(checked: &Checked, limit_bytes: usize) -> String {
    let mut page = Page::new(limit_bytes);
    let passed = checked.exit_code == 0 && checked.problems().next().is_none();
    let verdict = match (passed, checked.exit_code) {
        (true, _) => "passed",
        (false, 4) => "failed",
        (false, 5) => "the cassettes differ",
        _ => "could not check everything",
    };
    page.add(&format!("## mcp-cassette: {verdict}\n\n"));
    page.add(&format!("{}\n\n", capitalised(&wording::summary(checked))));
    let base = code(&wording::base(checked), LONGEST_MESSAGE);
    page.add(&format!("Baseline: {base}\n\n"));
    problems(&mut page, checked);
    let found = checked.cassettes.iter().flat_map(|cassette| {
        let findings = cassette.report.findings.iter();
        findings.map(|finding| (cassette.path.as_str(), finding))
    });
    findings(&mut page, found.collect());
    let differing: Vec<&CheckedCassette> = checked
        .cassettes
        .iter()
        .filter(|cassette| cassette.diff.as_ref().is_some_and(|diff| !diff.identical()))
        .collect();
    changes(&mut page, &differing);
    notes(&mut page, checked);
    page.finish()
}

/// The findings of one or more cassettes.
/// The exit code is that of the run, which may have met files that have no report.
pub(super) fn lint(
    reports: &[Report],
    fail_on: Severity,
    exit_code: Option<u8>,
    limit_bytes: usize,
) -> String {
    let fails = reports
        .iter()
        .flat_map(|report| &report.findings)
        .any(|finding| finding.counts(fail_on));
    let cassettes = reports.iter().map(|report| CheckedCassette {
        path: report.cassette.clone(),
        status: CassetteStatus::Unchanged,
        old_path: None,
        report: report.clone(),
        diff: None,
        redaction: None,
        errors: Vec::new(),
    });
    let checked = Checked {
        base: BaseShown {
            commit: reports.iter().find_map(|report| report.baseline.clone()),
            reason: "as given on the command line".to_owned(),
        },
        cassettes: cassettes.collect(),
        errors: Vec::new(),
        exit_code: exit_code.unwrap_or(if fails { 4 } else { 0 }),
        fail_on,
        judged: true,
    };
    check(&checked, limit_bytes)
}

/// The changes of one comparison.
pub(super) fn diff(
    diff: &Diff,
    changed: &[Finding],
    tools_only: bool,
    limit_bytes: usize,
) -> String {
    let mut page = Page::new(limit_bytes);
    let (old, new) = (code(&diff.old, LONGEST_NAME), code(&diff.new, LONGEST_NAME));
    if diff.identical() {
        page.add("## mcp-cassette: identical\n\n");
        page.add(&format!("{old} and {new}: {}\n\n", identical(tools_only)));
    } else {
        page.add("## mcp-cassette: the cassettes differ\n\n");
        page.add(&format!("From {old} to {new}.\n\n"));
    }
    let found = changed.iter().map(|finding| (diff.new.as_str(), finding));
    findings(&mut page, found.collect());
    if !diff.identical() {
        page.add(&block(diff));
    }
    for note in &diff.notes {
        page.add(&format!("- {}\n", code(note, LONGEST_MESSAGE)));
    }
    page.finish()
}

fn problems(page: &mut Page, checked: &Checked) {
    let all: Vec<_> = checked.problems().collect();
    if all.is_empty() {
        return;
    }
    page.add("### Not checked\n\n");
    let rows = all.iter().map(|(path, problem)| {
        let problem = code(problem, LONGEST_MESSAGE);
        match path {
            Some(path) => format!("- {}: {problem}\n", code(path, LONGEST_NAME)),
            None => format!("- {problem}\n"),
        }
    });
    page.rows(rows, all.len(), "failures");
    page.add("\n");
}

/// The table, the most severe first and those that do not count last.
fn findings(page: &mut Page, mut found: Vec<(&str, &Finding)>) {
    if found.is_empty() {
        return;
    }
    found
        .sort_by_key(|(_, finding)| std::cmp::Reverse((finding.status.counts(), finding.severity)));
    let head =
        "### Findings\n\n| severity | rule | place | tool | message |\n|---|---|---|---|---|\n";
    if !page.add(head) {
        return page.left_out(found.len(), "findings");
    }
    let total = found.len();
    let rows = found.iter().map(|(path, finding)| row(path, finding));
    page.rows(rows, total, "findings");
    page.add("\n");
}

fn row(path: &str, finding: &Finding) -> String {
    let id = finding.rule.as_str();
    let ours = super::catalogue().find(|rule| rule.id == id);
    let rule = ours.map_or_else(
        || cell(id, LONGEST_NAME),
        |rule| format!("[{}]({})", rule.id, help_uri(rule.id)),
    );
    let start = finding.region.start;
    let path = shortened(path, LONGEST_NAME);
    let place = match start.line {
        0 => cell(&path, LONGEST_NAME),
        line => cell(&format!("{path}:{line}"), LONGEST_NAME + 12),
    };
    let tool = finding
        .tool
        .as_deref()
        .map_or_else(String::new, |tool| cell(tool, LONGEST_NAME));
    let severity = match &finding.status {
        Status::New => finding.severity.to_string(),
        status => format!("{} ({})", finding.severity, status.as_str()),
    };
    let first = finding.message.split('\n').next().unwrap_or_default();
    let mut message = cell(first, LONGEST_MESSAGE);
    match &finding.status {
        Status::Accepted { reason } => {
            let _ = write!(message, "<br>accepted: {}", cell(reason, LONGEST_NAME));
        }
        Status::PendingAccept { reason } => {
            let (reason, ways) = (cell(reason, LONGEST_NAME), wording::WAYS_ON);
            let _ = write!(message, "<br>pending: {reason}; {ways}");
        }
        Status::New | Status::Existing => {}
    }
    format!("| {severity} | {rule} | {place} | {tool} | {message} |\n")
}

fn changes(page: &mut Page, differing: &[&CheckedCassette]) {
    if differing.is_empty() {
        return;
    }
    if !page.add("### Changes\n\n") {
        return page.left_out(differing.len(), "cassettes with changes");
    }
    let blocks = differing.iter().map(|cassette| {
        let block = cassette.diff.as_ref().map(block).unwrap_or_default();
        format!("{}\n\n{block}", code(&cassette.path, LONGEST_NAME))
    });
    page.rows(blocks, differing.len(), "cassettes with changes");
}

/// The sections of a comparison as they are in the text report, in a fence that is
/// longer than any in them.
fn block(diff: &Diff) -> String {
    let mut text = String::new();
    sections(&mut text, diff);
    let total = text.lines().count();
    let mut shown = String::new();
    for line in text.lines().take(MOST_LINES) {
        // At the left a sign has its colour.
        let line = line.strip_prefix("    ").unwrap_or(line);
        let line = shortened(line, LONGEST_LINE);
        shown.push_str(&no_command(&line));
        shown.push('\n');
    }
    if total > MOST_LINES {
        let _ = writeln!(shown, "… {} more lines", total - MOST_LINES);
    }
    let fence = "`".repeat(longest_run(&shown).max(2) + 1);
    format!("{fence}diff\n{shown}{fence}\n\n")
}

/// A line that a runner takes for no command, should the page be printed.
fn no_command(line: &str) -> Cow<'_, str> {
    if line.trim_start().starts_with("::") {
        return Cow::Owned(line.replacen("::", ":\\u{3a}", 1));
    }
    without_old_commands(line)
}

fn notes(page: &mut Page, checked: &Checked) {
    let mut rows = Vec::new();
    for cassette in &checked.cassettes {
        for remark in wording::remarks(cassette) {
            let (path, remark) = (
                code(&cassette.path, LONGEST_NAME),
                code(&remark, LONGEST_MESSAGE),
            );
            rows.push(format!("- {path}: {remark}\n"));
        }
    }
    if rows.is_empty() {
        return;
    }
    if !page.add("### Notes\n\n") {
        return page.left_out(rows.len(), "notes");
    }
    let total = rows.len();
    page.rows(rows.into_iter(), total, "notes");
}

/// Text as a code span: nothing in it is markup.
fn code(text: &str, most: usize) -> String {
    let shown = visible(text);
    let shown = without_old_commands(&shown);
    let shown = shortened(&shown, most);
    if shown.trim().is_empty() {
        return "(empty)".to_owned();
    }
    let ticks = "`".repeat(longest_run(&shown) + 1);
    // One blank on both sides is taken off again where the text has one of its own,
    // and a backtick at an end would lengthen the fence.
    let pad = if shown.starts_with([' ', '`']) || shown.ends_with([' ', '`']) {
        " "
    } else {
        ""
    };
    format!("{ticks}{pad}{shown}{pad}{ticks}")
}

/// The same inside a table, where a bar ends the cell even in a code span. A bar
/// behind a backslash cannot be escaped there and is written out.
fn cell(text: &str, most: usize) -> String {
    let mut out = String::new();
    let mut before = ' ';
    for c in code(text, most).chars() {
        match c {
            '|' if before == '\\' => out.push_str("u{7c}"),
            '|' => out.push_str("\\|"),
            _ => out.push(c),
        }
        before = c;
    }
    out
}

/// The longest run of backticks.
fn longest_run(text: &str) -> usize {
    let runs = text.split(|c| c != '`');
    runs.map(str::len).max().unwrap_or(0)
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    }
}

/// A page that grows up to a limit.
struct Page {
    out: String,
    limit: usize,
    /// Whether something did not fit; nothing is added then, so that the end of the
    /// page is the end of what is shown.
    full: bool,
    /// What is not shown, and how many of it.
    missing: Vec<(usize, &'static str)>,
}

impl Page {
    fn new(limit: usize) -> Self {
        Page {
            out: String::new(),
            limit,
            full: false,
            missing: Vec::new(),
        }
    }

    /// Adds a piece that leaves nothing open, if it fits.
    fn add(&mut self, piece: &str) -> bool {
        self.full |= self.out.len() + piece.len() + RESERVE > self.limit;
        if !self.full {
            self.out.push_str(piece);
        }
        !self.full
    }

    /// Adds rows as long as they fit.
    fn rows(&mut self, rows: impl Iterator<Item = String>, total: usize, noun: &'static str) {
        for (done, row) in rows.enumerate() {
            if !self.add(&row) {
                return self.left_out(total - done, noun);
            }
        }
    }

    fn left_out(&mut self, count: usize, noun: &'static str) {
        self.missing.push((count, noun));
    }

    fn finish(mut self) -> String {
        if self.full && !self.out.is_empty() {
            let missing: Vec<String> = self
                .missing
                .iter()
                .map(|(count, noun)| format!("{count} {noun}"))
                .collect();
            let missing = if missing.is_empty() {
                "The rest".to_owned()
            } else {
                missing.join(", ")
            };
            let _ = write!(
                self.out,
                "\n**{missing} not shown: a summary is limited in size. The report (`check.json`, \
                 or `--format json`) has everything.**\n"
            );
        }
        self.out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_spans_hold_backticks_bars_and_blanks() {
        assert_eq!(code("plain", 9), "`plain`");
        assert_eq!(code("a`b``c", 9), "```a`b``c```");
        assert_eq!(code("`x", 9), "`` `x ``");
        assert_eq!(code(" x ", 9), "`  x  `");
        assert_eq!(code("", 9), "(empty)");
        assert_eq!(cell("a|b\\|c\n", 20), "`a\\|b\\u{7c}c\\n`");
    }
}
