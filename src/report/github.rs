//! Workflow commands that a GitHub Actions runner turns into annotations: one a
//! finding or change, at its place in the file. A finding that does not count is a
//! notice, whatever its severity.

use super::Style;
use super::checked::Checked;
use super::sanitize::{judged, push_escape, shortened, visible, without_old_commands};
use super::text::{field_moved, standing};
use super::wording;
use crate::diff::Diff;
use crate::finding::{Finding, Region, Report, Severity};
use std::fmt::Write as _;

/// The runner cuts a message after 4,096 characters.
const LONGEST_MESSAGE: usize = 3_999;

/// The runner keeps ten annotations of each level; the tenth says how many more
/// there are.
const MOST_OF_A_LEVEL: usize = 9;

/// One annotation a finding.
pub(super) fn lint(reports: &[Report], style: &Style) -> String {
    let mut out = String::new();
    for report in reports {
        for finding in &report.findings {
            of_finding(&report.cassette, finding).write(&mut out, style);
        }
    }
    out
}

/// The most severe findings of a check, and for each level how many more there are.
pub(super) fn check(checked: &Checked, style: &Style) -> String {
    let mut levels = [
        (Level::Error, Vec::new()),
        (Level::Warning, Vec::new()),
        (Level::Notice, Vec::new()),
    ];
    let mut add = |annotation: Annotation<'_>| {
        let level = levels
            .iter_mut()
            .find(|(level, _)| *level == annotation.level);
        if let Some((_, list)) = level {
            let mut written = String::new();
            // Of those that are not shown only the number is needed.
            if list.len() < MOST_OF_A_LEVEL {
                annotation.write(&mut written, style);
            }
            list.push(written);
        }
    };
    for (path, problem) in checked.problems() {
        add(Annotation {
            level: Level::Error,
            file: path,
            region: None,
            title: "not checked",
            message: format!("not checked: {problem}"),
        });
    }
    // Notices are what counts least: of notes, then of findings that do not count.
    for counting in [true, false] {
        for severity in [Severity::Error, Severity::Warning, Severity::Note] {
            for cassette in &checked.cassettes {
                let findings = cassette.report.findings.iter();
                findings
                    .filter(|finding| finding.severity == severity)
                    .filter(|finding| finding.status.counts() == counting)
                    .for_each(|finding| add(of_finding(&cassette.path, finding)));
            }
        }
    }
    for cassette in &checked.cassettes {
        if let Some(diff) = &cassette.diff {
            other_sections(diff, &cassette.path, Level::Notice).for_each(&mut add);
        }
    }
    let mut out = String::new();
    for (level, annotations) in levels {
        of_level(&mut out, level, annotations, style);
    }
    out
}

/// As many annotations of one level as the runner keeps.
fn of_level(out: &mut String, level: Level, annotations: Vec<String>, style: &Style) {
    let more = annotations.len().saturating_sub(MOST_OF_A_LEVEL);
    out.extend(annotations);
    if more > 0 {
        let annotation = Annotation {
            level,
            file: None,
            region: None,
            title: "mcp-cassette",
            message: format!(
                "{} not shown here: see the job summary and the report",
                wording::counted(more, &format!("more {}", level.as_str()))
            ),
        };
        annotation.write(out, style);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Error,
    Warning,
    Notice,
}

impl Level {
    fn of(finding: &Finding) -> Self {
        match (finding.status.counts(), finding.severity) {
            (true, Severity::Error) => Level::Error,
            (true, Severity::Warning) => Level::Warning,
            _ => Level::Notice,
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Notice => "notice",
        }
    }
}

fn of_finding<'a>(file: &'a str, finding: &'a Finding) -> Annotation<'a> {
    Annotation {
        level: Level::of(finding),
        file: Some(file),
        region: Some(&finding.region),
        title: finding.rule.as_str(),
        message: message(finding),
    }
}

fn message(finding: &Finding) -> String {
    let (rule, locator) = (finding.rule.as_str(), wording::place(&finding.locator));
    let standing = standing(&finding.status);
    match finding.message.split_once('\n') {
        Some((first, rest)) => format!("{rule} {locator} {first}{standing}\n{rest}"),
        None => format!("{rule} {locator} {}{standing}", finding.message),
    }
}

/// One annotation a change of a surface, and one for each other section that differs.
pub(super) fn diff(diff: &Diff, findings: &[Finding], style: &Style) -> String {
    let mut out = String::new();
    for annotation in other_sections(diff, &diff.new, Level::Warning) {
        annotation.write(&mut out, style);
    }
    for finding in findings {
        of_finding(&diff.new, finding).write(&mut out, style);
    }
    out
}

/// What differs and is no finding.
fn other_sections<'a>(
    diff: &'a Diff,
    file: &'a str,
    level: Level,
) -> impl Iterator<Item = Annotation<'a>> {
    let fields = diff.metadata.iter().map(field_moved).collect();
    let methods = diff.methods.iter().map(wording::method_moved).collect();
    let sections: [(&str, Vec<String>); 3] = [
        ("metadata", fields),
        ("methods", methods),
        ("sequence", diff.sequence.clone()),
    ];
    let differ = sections.into_iter().filter(|(_, lines)| !lines.is_empty());
    differ.map(move |(section, lines)| Annotation {
        level,
        file: Some(file),
        region: None,
        title: section,
        message: format!("{section} {}", lines.join("\n")),
    })
}

struct Annotation<'a> {
    level: Level,
    file: Option<&'a str>,
    region: Option<&'a Region>,
    title: &'a str,
    message: String,
}

impl Annotation<'_> {
    fn write(&self, out: &mut String, style: &Style) {
        let _ = write!(out, "::{} ", self.level.as_str());
        if let Some(file) = self.file {
            let file = property(&file_in_workspace(file, style));
            let _ = write!(out, "file={file},");
        }
        if let Some(region) = self.region.filter(|region| region.start.line > 0) {
            let (start, end) = (region.start, region.end);
            let last = end.line.max(start.line);
            let _ = write!(out, "line={},endLine={last},", start.line);
            // The runner drops columns with a warning where the lines differ.
            if last == start.line {
                let _ = write!(out, "col={},", start.column);
            }
        }
        let title = property(self.title);
        let message = data(&self.message);
        let _ = writeln!(out, "title={title}::{message}");
    }
}

/// The file as GitHub knows it: relative to the root of the checkout, with `/`.
pub(super) fn file_in_workspace(file: &str, style: &Style) -> String {
    let slashed = |path: &str| path.replace(std::path::MAIN_SEPARATOR, "/");
    let file = slashed(file);
    let root = style.workspace.as_deref().map(slashed).unwrap_or_default();
    let below_root = file
        .strip_prefix(root.trim_end_matches('/'))
        .and_then(|rest| rest.strip_prefix('/'))
        .filter(|_| !root.is_empty());
    if let Some(rest) = below_root {
        return rest.to_owned();
    }
    match style.working_directory.as_deref().map(slashed) {
        Some(base) if !base.is_empty() && std::path::Path::new(&file).is_relative() => {
            joined(&base, &file)
        }
        _ => file,
    }
}

/// A path below a directory, without `.` and `..`: GitHub looks files up by their names.
fn joined(base: &str, file: &str) -> String {
    let mut parts: Vec<&str> = base.split('/').filter(|part| !part.is_empty()).collect();
    for part in file.split('/') {
        match part {
            "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// A property of a command. The runner turns the escapes back, so a line feed in a
/// file's name still names that file.
fn property(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for (c, dangerous) in judged(&without_old_commands(value)) {
        match c {
            '%' => out.push_str("%25"),
            '\r' => out.push_str("%0D"),
            '\n' => out.push_str("%0A"),
            ':' => out.push_str("%3A"),
            ',' => out.push_str("%2C"),
            _ if dangerous => push_escape(c, &mut out),
            _ => out.push(c),
        }
    }
    out
}

/// The message of a command, short enough for the runner to keep.
fn data(message: &str) -> String {
    let lines: Vec<_> = message.split('\n').map(visible).collect();
    let shown = lines.join("\n");
    let shown = without_old_commands(&shown);
    let shown = shortened(&shown, LONGEST_MESSAGE);
    shown.replace('%', "%25").replace('\n', "%0A")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_from_the_root_of_the_checkout() {
        let style = Style {
            workspace: Some("/home/runner/work/repo/".to_owned()),
            working_directory: Some("sub/".to_owned()),
            ..Style::default()
        };
        let named = |file| file_in_workspace(file, &style);
        assert_eq!(named("/home/runner/work/repo/tests/a.json"), "tests/a.json");
        assert_eq!(
            named("/home/runner/work/repository/a.json"),
            "/home/runner/work/repository/a.json"
        );
        assert_eq!(named("a.json"), "sub/a.json");
        assert_eq!(named("./../x/../a.json"), "a.json");
        assert_eq!(named("../../a.json"), "../a.json");
        assert_eq!(file_in_workspace("./a.json", &Style::default()), "./a.json");
    }

    #[test]
    fn properties_and_messages_are_escaped_percent_first() {
        assert_eq!(
            property("a,b:c%25\r\n\u{1b}.json"),
            "a%2Cb%3Ac%2525%0D%0A\\u{1b}.json"
        );
        assert_eq!(
            data("50%\nx: y, z\r ##[error]"),
            "50%25%0Ax: y, z\\r ##\\u{5b}error]"
        );
    }

    #[test]
    fn a_long_message_is_cut_below_four_thousand_characters() {
        assert_eq!(data(&"é".repeat(3_999)).chars().count(), 3_999);
        let cut = data(&"é".repeat(5_000));
        assert_eq!(cut.chars().count(), 3_999);
        assert!(cut.ends_with("é…"));
    }
}
