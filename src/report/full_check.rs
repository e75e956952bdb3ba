//! The result of `check` for a terminal: each cassette that there is something to
//! say about, and the verdict.

use super::Style;
use super::checked::{Checked, CheckedCassette};
use super::full::Screen;
use super::full_diff::{heads, order};
use super::paint::Ink;
use super::sanitize::{shortened, visible};
use super::text::guarded;
use super::wording;
use crate::finding::Finding;

const LONGEST_PATH: usize = 400;

/// Findings with their places, other differences, notes, and one line at the end.
pub(super) fn check(checked: &Checked, style: &Style) -> String {
    let screen = Screen::new(style);
    let mut out = String::new();
    let base = visible(&wording::base(checked)).into_owned();
    screen.flow(&mut out, 4, &[(Ink::Dim, "base: "), (Ink::Plain, &base)]);
    out.push('\n');
    let mut compared = 0;
    for cassette in &checked.cassettes {
        one(&mut out, screen, cassette, &mut compared);
    }
    for error in &checked.errors {
        problem(&mut out, screen, error);
    }
    let passed = checked.exit_code == 0 && checked.problems().next().is_none();
    let ink = if passed { Ink::Note } else { Ink::Error };
    let summary = wording::summary(checked);
    screen.flow(&mut out, 4, &[(ink, &summary)]);
    guarded(out, true, style)
}

fn one(out: &mut String, screen: Screen, cassette: &CheckedCassette, compared: &mut usize) {
    let remarks = wording::remarks(cassette);
    if cassette.is_clean() && remarks.is_empty() {
        return;
    }
    let path = visible(&cassette.path);
    let status = format!(" ({})", cassette.status.as_str());
    // A path may be wider than the screen, as it may in every place that names one.
    let head = format!("--> {}{status}", shortened(&path, LONGEST_PATH));
    out.push_str(&screen.paint(Ink::Bold, &head));
    out.push('\n');
    for said in cassette.problems() {
        problem(out, screen, said);
    }
    let (new, silenced): (Vec<&Finding>, Vec<&Finding>) = cassette
        .report
        .findings
        .iter()
        .partition(|finding| finding.status.counts());
    for finding in new {
        let screen = screen.comparing(*compared);
        *compared += usize::from(finding.message.contains('\n'));
        screen.finding(out, &cassette.path, finding);
        out.push('\n');
    }
    for finding in silenced {
        screen.silenced(out, &cassette.path, finding);
    }
    if let Some(diff) = cassette
        .diff
        .as_ref()
        .filter(|_| cassette.has_other_differences())
    {
        heads(out, screen, diff);
        order(out, screen, diff);
        out.push('\n');
    }
    for remark in remarks {
        let remark = visible(&remark);
        screen.flow(out, 4, &[(Ink::Note, "note: "), (Ink::Plain, &remark)]);
    }
    out.push('\n');
}

fn problem(out: &mut String, screen: Screen, problem: &str) {
    let problem = visible(problem);
    let head = (Ink::Error, "error: not checked: ");
    screen.flow(out, 4, &[head, (Ink::Plain, &problem)]);
}
