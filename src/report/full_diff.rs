//! A comparison for a terminal: what moved, surface by surface, each change with
//! its place in the file and whom it can break.

use super::Style;
use super::full::Screen;
use super::paint::Ink;
use super::sanitize::{shortened, visible};
use super::text::{field_moved, guarded, identical};
use super::wording::{self, counted};
use crate::diff::{Change, ChangeKind, Diff, Impact};

const LONGEST_PATH: usize = 400;

/// What differs, and how many changes can break callers.
pub(super) fn diff(diff: &Diff, tools_only: bool, style: &Style) -> String {
    let screen = Screen::new(style);
    let mut out = String::new();
    if diff.identical() {
        screen.flow(&mut out, 4, &[(Ink::Note, identical(tools_only))]);
        notes(&mut out, screen, diff);
        return guarded(out, !diff.notes.is_empty(), style);
    }
    for (sign, path) in [("---", &diff.old), ("+++", &diff.new)] {
        let path = visible(path);
        let line = format!("{sign} {}", shortened(&path, LONGEST_PATH));
        out.push_str(&screen.paint(Ink::Bold, &line));
        out.push('\n');
    }
    heads(&mut out, screen, diff);
    for surface in wording::surfaces(diff) {
        if surface.changes.is_empty() {
            continue;
        }
        heading(&mut out, screen, surface.heading);
        for (index, change) in surface.changes.iter().enumerate() {
            show(&mut out, screen.comparing(index), diff, change);
        }
    }
    order(&mut out, screen, diff);
    out.push('\n');
    notes(&mut out, screen, diff);
    summary(&mut out, screen, diff);
    guarded(out, true, style)
}

/// What no finding tells: metadata and method counts.
pub(super) fn heads(out: &mut String, screen: Screen, diff: &Diff) {
    let fields = diff.metadata.iter().map(field_moved);
    facts(out, screen, "metadata", fields.collect());
    let methods = diff.methods.iter().map(wording::method_moved);
    facts(out, screen, "methods", methods.collect());
}

/// The order of requests.
pub(super) fn order(out: &mut String, screen: Screen, diff: &Diff) {
    if !diff.sequence.is_empty() {
        heading(out, screen, "sequence");
        let lines: Vec<&str> = diff.sequence.iter().map(String::as_str).collect();
        screen.diff(out, "  |", &lines);
    }
}

fn heading(out: &mut String, screen: Screen, text: &str) {
    out.push('\n');
    out.push_str(&screen.paint(Ink::Bold, text));
    out.push('\n');
}

fn facts(out: &mut String, screen: Screen, title: &str, lines: Vec<String>) {
    if lines.is_empty() {
        return;
    }
    heading(out, screen, title);
    for line in lines {
        screen.flow(out, 4, &[(Ink::Plain, "  "), (Ink::Plain, &visible(&line))]);
    }
}

fn show(out: &mut String, screen: Screen, diff: &Diff, change: &Change) {
    let head = match change.kind {
        ChangeKind::Added => (Ink::Added, "  + "),
        ChangeKind::Removed => (Ink::Removed, "  - "),
        _ => (Ink::Warning, "  ~ "),
    };
    let happened = format!(": {} ", change.happened());
    let name = (Ink::Bold, &*visible(&change.name));
    screen.flow(
        out,
        6,
        &[head, name, (Ink::Plain, &happened), tag(change.impact)],
    );
    let file = match change.kind {
        ChangeKind::Removed => &diff.old,
        _ => &diff.new,
    };
    let start = change.region.start;
    if start.line > 0 {
        let path = visible(file);
        let path = shortened(&path, LONGEST_PATH);
        let place = format!("    --> {path}:{}:{}", start.line, start.column);
        out.push_str(&screen.paint(Ink::Dim, &place));
        out.push('\n');
    }
    for detail in &change.details {
        let text = format!("{} ", visible(&detail.text));
        let head = (Ink::Frame, "    • ");
        screen.flow(out, 6, &[head, (Ink::Plain, &text), tag(detail.impact)]);
    }
    if let Some(renamed) = change.renamed_in_words() {
        let text = (Ink::Plain, &*visible(&renamed));
        screen.flow(out, 6, &[(Ink::Help, "    • "), text]);
    }
    if !change.diff.is_empty() {
        let lines: Vec<&str> = change.diff.iter().map(String::as_str).collect();
        screen.diff(out, "    |", &lines);
    }
}

/// The impact as it stands behind a change.
fn tag(impact: Impact) -> (Ink, &'static str) {
    let tag = match impact {
        Impact::Compatible => "[compatible]",
        Impact::Unclassified => "[unclassified]",
        Impact::Breaking => "[breaking]",
    };
    (ink_of(impact), tag)
}

fn ink_of(impact: Impact) -> Ink {
    match impact {
        Impact::Compatible => Ink::Note,
        Impact::Unclassified => Ink::Warning,
        Impact::Breaking => Ink::Error,
    }
}

fn notes(out: &mut String, screen: Screen, diff: &Diff) {
    for note in &diff.notes {
        screen.flow(
            out,
            4,
            &[(Ink::Note, "note: "), (Ink::Plain, &visible(note))],
        );
    }
}

fn summary(out: &mut String, screen: Screen, diff: &Diff) {
    let total = diff.changes().count();
    let total = match total {
        0 => "no surface changes".to_owned(),
        _ => counted(total, "surface change"),
    };
    let mut parts = vec![(Ink::Plain, total)];
    for impact in [Impact::Breaking, Impact::Unclassified, Impact::Compatible] {
        let count = diff
            .changes()
            .filter(|change| change.impact == impact)
            .count();
        if count > 0 {
            let comma = if parts.len() == 1 { ": " } else { ", " };
            parts.push((Ink::Plain, comma.to_owned()));
            parts.push((ink_of(impact), format!("{count} {}", impact.as_str())));
        }
    }
    let parts: Vec<_> = parts
        .iter()
        .map(|(ink, text)| (*ink, text.as_str()))
        .collect();
    screen.flow(out, 4, &parts);
}
