//! Workflow commands that a GitHub Actions runner turns into annotations: one a
//! finding or change, at its place in the file. A finding that does not count is a
//! notice, whatever its severity.

use super::Style;
use super::sanitize::{judged, push_escape, shortened, visible, without_old_commands};
use super::text::{field_moved, standing};
use super::wording::{self, Surface};
use crate::diff::{Change, ChangeKind, Diff, Impact};
use crate::finding::{Finding, Region, Report, Severity, Status};
use std::fmt::Write as _;

/// The runner cuts a message after 4,096 characters.
const LONGEST_MESSAGE: usize = 3_999;

/// One annotation a finding.
pub(super) fn lint(reports: &[Report], style: &Style) -> String {
    let mut out = String::new();
    for report in reports {
        for finding in &report.findings {
            let annotation = Annotation {
                level: level(finding),
                file: &report.cassette,
                region: Some(&finding.region),
                title: finding.rule.as_str(),
                message: message(finding),
            };
            annotation.write(&mut out, style);
        }
    }
    out
}

fn level(finding: &Finding) -> &'static str {
    match (&finding.status, finding.severity) {
        (Status::New, Severity::Error) => "error",
        (Status::New, Severity::Warning) => "warning",
        _ => "notice",
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
pub(super) fn diff(diff: &Diff, style: &Style) -> String {
    let mut out = String::new();
    for (section, lines) in sections(diff) {
        if lines.is_empty() {
            continue;
        }
        let annotation = Annotation {
            level: "warning",
            file: &diff.new,
            region: None,
            title: section,
            message: format!("{section} {}", lines.join("\n")),
        };
        annotation.write(&mut out, style);
    }
    for surface in wording::surfaces(diff) {
        for change in surface.changes {
            let rule = rule(&surface, change.kind);
            let annotation = Annotation {
                level: match change.impact {
                    Impact::Compatible => "warning",
                    Impact::Unclassified | Impact::Breaking => "error",
                },
                file: match change.kind {
                    ChangeKind::Removed => &diff.old,
                    _ => &diff.new,
                },
                region: Some(&change.region),
                title: rule,
                message: change_message(rule, &surface, change),
            };
            annotation.write(&mut out, style);
        }
    }
    out
}

fn sections(diff: &Diff) -> [(&'static str, Vec<String>); 3] {
    [
        ("metadata", diff.metadata.iter().map(field_moved).collect()),
        (
            "methods",
            diff.methods.iter().map(wording::method_moved).collect(),
        ),
        ("sequence", diff.sequence.clone()),
    ]
}

/// The rule that a change is reported under where findings and changes meet.
fn rule(surface: &Surface<'_>, kind: ChangeKind) -> &'static str {
    match (surface.heading, kind) {
        ("prompts", _) => "R107",
        ("resources", _) => "R108",
        ("instructions", _) => "R109",
        (_, ChangeKind::Removed) => "R101",
        (_, ChangeKind::Added) => "R102",
        (_, ChangeKind::Description) => "R103",
        (_, ChangeKind::InputSchema) => "R104",
        (_, ChangeKind::OutputSchema) => "R105",
        _ => "R106",
    }
}

fn change_message(rule: &str, surface: &Surface<'_>, change: &Change) -> String {
    let locator = wording::place(&change.locator);
    let subject = match surface.noun {
        "" => surface.heading.to_owned(),
        noun => format!("{noun} \"{}\"", change.name),
    };
    let happened = wording::happened(change);
    let impact = change.impact.as_str();
    let mut message = format!("{rule} {locator} {subject}: {happened} [{impact}]");
    for detail in &change.details {
        let _ = write!(message, "\n{}: {}", detail.impact.as_str(), detail.text);
    }
    for line in wording::renamed(change).iter().chain(&change.diff) {
        message.push('\n');
        message.push_str(line);
    }
    message
}

struct Annotation<'a> {
    level: &'static str,
    file: &'a str,
    region: Option<&'a Region>,
    title: &'a str,
    message: String,
}

impl Annotation<'_> {
    fn write(&self, out: &mut String, style: &Style) {
        let file = property(&file_in_workspace(self.file, style));
        let _ = write!(out, "::{} file={file}", self.level);
        if let Some(region) = self.region.filter(|region| region.start.line > 0) {
            let (start, end) = (region.start, region.end);
            let last = end.line.max(start.line);
            let _ = write!(out, ",line={},endLine={last}", start.line);
            // The runner drops columns with a warning where the lines differ.
            if last == start.line {
                let _ = write!(out, ",col={}", start.column);
            }
        }
        let title = property(self.title);
        let message = data(&self.message);
        let _ = writeln!(out, ",title={title}::{message}");
    }
}

/// The file as GitHub knows it: relative to the root of the checkout, with `/`.
fn file_in_workspace(file: &str, style: &Style) -> String {
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
            format!("{}/{file}", base.trim_end_matches('/'))
        }
        _ => file,
    }
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
