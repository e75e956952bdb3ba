//! Findings for a terminal: the line of the file with carets under the place,
//! drawn by annotate-snippets, which nothing else in the crate uses. It gets one
//! line that already fits and holds no dangerous character, because it passes most
//! of those on and panics on a span that ends behind the text.

use super::Style;
use super::counts::Counts;
use super::diff_lines;
use super::paint::{Ink, Paint, broken, columns, columns_of};
use super::sanitize::{judged, shortened, visible};
use super::text::guarded;
use super::wording::{self, counted};
use crate::finding::{Excerpt, Finding, Report, Severity, Status};
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use std::fmt::Write as _;

/// Rows of one title or note; `text` and `json` have the rest of a longer one.
const MOST_ROWS: usize = 8;
/// A JSON pointer or path that is longer than this is cut.
const LONGEST_PLACE: usize = 400;
/// A label stands behind the carets, where annotate-snippets does not count it.
const LONGEST_LABEL: usize = 30;
/// Diffs that are compared word by word, which costs milliseconds where two long
/// texts share little. Nobody reads more of them on a terminal.
const MOST_COMPARED: usize = 200;
/// Below this width there is no room for labels.
const LABELS_FROM: usize = 60;

/// The findings, each with its place in the file, and a summary.
pub(super) fn lint(reports: &[Report], style: &Style, fail_on: Severity) -> String {
    let screen = Screen::new(style);
    let mut out = String::new();
    let mut compared = 0;
    for report in reports {
        let (new, silenced): (Vec<_>, Vec<_>) = report
            .findings
            .iter()
            .partition(|finding| finding.status.counts());
        for finding in new {
            let screen = screen.comparing(compared);
            compared += usize::from(finding.message.contains('\n'));
            screen.finding(&mut out, &report.cassette, finding);
            out.push('\n');
        }
        for finding in &silenced {
            screen.silenced(&mut out, &report.cassette, finding);
        }
        let about = if reports.len() > 1 {
            format!("{}: ", visible(&report.cassette))
        } else {
            String::new()
        };
        for note in &report.notes {
            let note = format!("{about}{}", visible(note));
            screen.flow(&mut out, 4, &[(Ink::Note, "note: "), (Ink::Plain, &note)]);
        }
        if !silenced.is_empty() || !report.notes.is_empty() {
            out.push('\n');
        }
    }
    let quotes = !out.is_empty();
    screen.summary(&mut out, reports, fail_on);
    guarded(out, quotes, style)
}

/// Where the report is shown.
#[derive(Clone, Copy)]
pub(super) struct Screen {
    width: usize,
    paint: Paint,
    /// Whether edited lines of diffs are compared word by word.
    by_word: bool,
}

impl Screen {
    pub(super) fn new(style: &Style) -> Self {
        Screen {
            width: style.columns(),
            paint: Paint::new(style.color),
            by_word: true,
        }
    }

    /// The screen for the diff with that index.
    pub(super) fn comparing(self, index: usize) -> Self {
        Screen {
            by_word: index < MOST_COMPARED,
            ..self
        }
    }

    pub(super) fn paint(self, ink: Ink, text: &str) -> String {
        self.paint.with(ink, text)
    }

    /// Text in several colours, broken at the width; all rows but the first are
    /// indented.
    pub(super) fn flow(self, out: &mut String, indent: usize, parts: &[(Ink, &str)]) {
        let cells: Vec<(char, Ink)> = parts
            .iter()
            .flat_map(|(ink, text)| text.chars().map(|c| (c, *ink)))
            .collect();
        let room = self.width.saturating_sub(indent);
        let mut rows = broken(&cells, self.width, room).enumerate().peekable();
        while let Some((index, row)) = rows.next() {
            if index > 0 {
                out.push_str(&" ".repeat(indent));
            }
            let cut = index + 1 == MOST_ROWS && rows.peek().is_some();
            for run in kept(row, room, cut).chunk_by(|a, b| a.1 == b.1) {
                let text: String = run.iter().map(|(c, _)| c).collect();
                let ink = run.first().map_or(Ink::Plain, |cell| cell.1);
                out.push_str(&self.paint(ink, &text));
            }
            if cut {
                out.push_str("…\n");
                return;
            }
            out.push('\n');
        }
    }

    /// The rows of a unified diff, each behind a gutter.
    pub(super) fn diff(self, out: &mut String, gutter: &str, diff: &[&str]) {
        let room = self.width.saturating_sub(columns(gutter) + 1);
        for row in diff_lines::rows(diff, room, self.paint, self.by_word) {
            out.push_str(&self.paint(Ink::Frame, gutter));
            if !row.is_empty() {
                out.push(' ');
                out.push_str(&row);
            }
            out.push('\n');
        }
    }

    pub(super) fn finding(self, out: &mut String, path: &str, finding: &Finding) {
        let mut lines = finding.message.split('\n');
        let title = visible(lines.next().unwrap_or_default());
        let head = format!("{}[{}]: ", finding.severity, visible(finding.rule.as_str()));
        self.flow(
            out,
            4,
            &[(ink_of(finding.severity), &head), (Ink::Bold, &title)],
        );

        let frame = Frame {
            screen: self,
            pad: " ".repeat(finding.excerpt.line.max(1).to_string().len()),
        };
        let arrow = self.paint(Ink::Frame, &format!("{}-->", frame.pad));
        out.push_str(&format!("{arrow} {}\n", place_in_file(path, finding)));
        frame.snippet(out, finding);

        let rest: Vec<&str> = lines.collect();
        let diff_begins = rest
            .iter()
            .position(|line| line.starts_with("--- ") || line.starts_with("@@ "))
            .unwrap_or(rest.len());
        let (said, diff) = rest.split_at(diff_begins);
        if !diff.is_empty() {
            self.diff(out, &format!("{} |", frame.pad), diff);
            frame.bar(out);
        }
        for line in said.iter().filter(|line| !line.is_empty()) {
            frame.footer(out, "note", &visible(line));
        }
        if let Status::PendingAccept { reason } = &finding.status {
            let reason = visible(reason);
            let said = format!("{} ({})", wording::WAYS_ON, shortened(&reason, 120));
            frame.footer(out, "pending-accept", &said);
        }
        if !finding.locator.is_empty() {
            let pointer = visible(&finding.locator);
            frame.footer(out, "at", &shortened(&pointer, LONGEST_PLACE));
        }
        if !finding.fingerprint.is_empty() {
            frame.footer(out, "fingerprint", &visible(&finding.fingerprint));
        }
        if finding.help_uri().is_some() {
            let rule = visible(finding.rule.as_str());
            frame.footer(out, "help", &format!("mcp-cassette explain {rule}"));
        }
    }

    /// A finding that does not count, on one line.
    pub(super) fn silenced(self, out: &mut String, path: &str, finding: &Finding) {
        let first = finding.message.split('\n').next().unwrap_or_default();
        let line = format!(
            "{}{} {}[{}]: {}",
            finding.status.as_str(),
            match &finding.status {
                Status::Accepted { reason } => format!(" ({})", shortened(&visible(reason), 40)),
                Status::New | Status::Existing | Status::PendingAccept { .. } => String::new(),
            },
            finding.severity,
            visible(finding.rule.as_str()),
            visible(first),
        );
        self.flow(out, 4, &[(Ink::Dim, &line)]);
        let place = format!("    --> {}", place_in_file(path, finding));
        out.push_str(&self.paint(Ink::Dim, &place));
        out.push('\n');
    }

    fn summary(self, out: &mut String, reports: &[Report], fail_on: Severity) {
        let counts = Counts::of(reports.iter().flat_map(|report| &report.findings));
        let mut parts: Vec<(Ink, String)> = Vec::new();
        for (ink, count, noun) in [
            (Ink::Error, counts.errors, "error"),
            (Ink::Warning, counts.warnings, "warning"),
            (Ink::Note, counts.notes, "note"),
        ] {
            if count > 0 {
                let comma = if parts.is_empty() { "" } else { ", " };
                parts.push((Ink::Plain, comma.to_owned()));
                parts.push((ink, counted(count, noun)));
            }
        }
        if parts.is_empty() {
            let silenced = counts.silenced() > 0;
            let verdict = if silenced {
                "no new findings"
            } else {
                "clean: no findings"
            };
            parts.push((Ink::Note, verdict.to_owned()));
        }
        let mut rest = format!(" in {}", counted(reports.len(), "cassette"));
        if counts.silenced() > 0 {
            let _ = write!(
                rest,
                " ({} existing, {} accepted)",
                counts.existing, counts.accepted
            );
        }
        let mut findings = reports.iter().flat_map(|report| &report.findings);
        if counts.findings > 0 && !findings.any(|finding| finding.counts(fail_on)) {
            let _ = write!(rest, ", none that counts under --fail-on {fail_on}");
        }
        parts.push((Ink::Plain, rest));
        let parts: Vec<_> = parts
            .iter()
            .map(|(ink, text)| (*ink, text.as_str()))
            .collect();
        self.flow(out, 4, &parts);
    }
}

/// The cells of a row without blanks at its end, and without its last columns if a
/// mark must follow that says that more was cut.
fn kept(row: &[(char, Ink)], room: usize, cut: bool) -> &[(char, Ink)] {
    let mut filled: usize = row.iter().map(|(c, _)| columns_of(*c)).sum();
    let mut row = row;
    while let Some(((c, _), before)) = row.split_last() {
        if *c != ' ' && !(cut && filled >= room) {
            break;
        }
        filled -= columns_of(*c);
        row = before;
    }
    row
}

fn ink_of(severity: Severity) -> Ink {
    match severity {
        Severity::Error => Ink::Error,
        Severity::Warning => Ink::Warning,
        Severity::Note => Ink::Note,
    }
}

/// `path:line:column`, as terminals and editors open it. This is the one part of
/// the report that may be wider than the screen.
fn place_in_file(path: &str, finding: &Finding) -> String {
    let start = finding.region.start;
    let path = visible(path);
    let path = shortened(&path, LONGEST_PLACE);
    if start.line == 0 {
        return path.into_owned();
    }
    format!("{path}:{}:{}", start.line, start.column)
}

/// The lines that belong to one finding, behind a bar.
struct Frame {
    screen: Screen,
    pad: String,
}

impl Frame {
    fn bar(&self, out: &mut String) {
        let bar = format!("{} |", self.pad);
        out.push_str(&self.screen.paint(Ink::Frame, &bar));
        out.push('\n');
    }

    fn footer(&self, out: &mut String, head: &str, text: &str) {
        let mark = format!("{} = ", self.pad);
        let head = format!("{head}: ");
        let parts = [
            (Ink::Frame, mark.as_str()),
            (Ink::Bold, &head),
            (Ink::Plain, text),
        ];
        self.screen.flow(out, columns(&mark) + 2, &parts);
    }

    fn snippet(&self, out: &mut String, finding: &Finding) {
        let excerpt = &finding.excerpt;
        if excerpt.text.trim().is_empty() {
            return;
        }
        let label = self.label(finding);
        let taken = label.as_deref().map_or(0, |label| columns(label) + 1);
        let frame = columns(&self.pad) + 4;
        let window = Window::of(excerpt, self.screen.width.saturating_sub(frame + taken));
        let level = match finding.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
            Severity::Note => Level::NOTE,
        };
        let renderer = if self.screen.paint.is_on() {
            Renderer::styled()
        } else {
            Renderer::plain()
        };
        let place = AnnotationKind::Primary
            .span(window.start..window.end)
            .label(label);
        let snippet = Snippet::source(window.text)
            .line_start(usize::try_from(excerpt.line.max(1)).unwrap_or(1))
            .annotation(place);
        // The line fits already; the renderer must not cut it a second time.
        let renderer = renderer.term_width(4 * self.screen.width + 200);
        let drawn = renderer.render(&[Group::with_level(level).element(snippet)]);
        for line in drawn.lines() {
            out.push_str(line.trim_end());
            out.push('\n');
        }
        self.bar(out);
    }

    /// What the marked text says, where that cannot be read off the text itself:
    /// where it is encoded, spelled with other letters, or hidden.
    fn label(&self, finding: &Finding) -> Option<String> {
        let evidence = finding
            .evidence
            .as_deref()
            .filter(|said| !said.is_empty())?;
        if self.screen.width < LABELS_FROM {
            return None;
        }
        let excerpt = &finding.excerpt;
        let (_, marked, _) = parts(excerpt);
        if marked.to_lowercase().contains(&evidence.to_lowercase()) {
            return None;
        }
        let label = format!("reads: {}", visible(evidence));
        let narrow = |label: &str| columns(label) <= LONGEST_LABEL;
        let mut most = LONGEST_LABEL;
        while !narrow(&shortened(&label, most)) && most > 1 {
            most -= 1;
        }
        Some(shortened(&label, most).into_owned())
    }
}

/// The text before the highlighted part, that part, and the text after it.
fn parts(excerpt: &Excerpt) -> (&str, &str, &str) {
    let text = excerpt.text.as_str();
    let boundary =
        |at: usize| (at.min(text.len())..=text.len()).find(|&at| text.is_char_boundary(at));
    let start = boundary(excerpt.highlight.start).unwrap_or(text.len());
    let end = boundary(excerpt.highlight.end)
        .unwrap_or(text.len())
        .max(start);
    let (before, rest) = text.split_at(start);
    let (marked, after) = rest.split_at(end - start);
    (before, marked, after)
}

/// As much of the line as fits, harmless, with the byte range to mark.
struct Window {
    text: String,
    start: usize,
    end: usize,
}

impl Window {
    fn of(excerpt: &Excerpt, room: usize) -> Self {
        let room = room.max(4);
        let (before, marked, after) = parts(excerpt);
        // Nothing beyond these is ever looked at, however long the line is.
        let before = harmless(before.trim_start());
        let (marked, after) = (harmless(marked), harmless(after.trim_end()));
        let marked = without_middle(&marked, room * 2 / 3);
        let left = room.saturating_sub(columns(&marked));
        let after_wants = columns(&after) + usize::from(excerpt.cut_after);
        let before_room = left.saturating_sub(after_wants.min(left / 2));
        let before = ending(&before, before_room, excerpt.cut_before);
        let after_room = left.saturating_sub(columns(&before));
        let after = beginning(&after, after_room, excerpt.cut_after);
        Window {
            start: before.len(),
            end: before.len() + marked.len(),
            text: format!("{before}{marked}{after}"),
        }
    }
}

/// Dangerous characters replaced one for one, so that columns stay right.
fn harmless(text: &str) -> String {
    judged(text)
        .map(|(c, dangerous)| match c {
            '\t' => ' ',
            _ if dangerous => '\u{fffd}',
            c => c,
        })
        .collect()
}

/// The beginning of a text that fits, with `…` if there is more.
fn beginning(text: &str, room: usize, more: bool) -> String {
    if room == 0 {
        return String::new();
    }
    let whole = columns(text) + usize::from(more) <= room;
    let mut kept = fitting(text.chars(), if whole { room } else { room - 1 });
    if more || !whole {
        kept.push('…');
    }
    kept
}

/// The end of a text that fits, after `…` if there is more.
fn ending(text: &str, room: usize, more: bool) -> String {
    let backwards: String = text.chars().rev().collect();
    beginning(&backwards, room, more).chars().rev().collect()
}

fn without_middle(text: &str, room: usize) -> String {
    if columns(text) <= room {
        return text.to_owned();
    }
    let head = fitting(text.chars(), room.div_ceil(2).saturating_sub(1));
    let tail: String = fitting(text.chars().rev(), room / 2)
        .chars()
        .rev()
        .collect();
    format!("{head}…{tail}")
}

fn fitting(chars: impl Iterator<Item = char>, room: usize) -> String {
    let mut filled = 0;
    chars
        .take_while(|&c| {
            filled += columns_of(c);
            filled <= room
        })
        .collect()
}
