//! A unified diff for people: lines broken at the width, and in lines that were
//! edited rather than replaced the words that changed. In colour these stand out;
//! without colour they are underlined with `-` and `+`. Long stretches that are the
//! same on both sides are left out of edited lines.

use super::paint::{Ink, Paint, broken, columns, columns_of};
use super::sanitize::visible;
use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::ops::Range;

/// Lines shown of one diff.
const MOST_LINES: usize = 60;
/// Rows shown of one line.
const MOST_ROWS: usize = 12;
/// Characters kept on each side of a change where an edited line is long.
const CONTEXT: usize = 32;
/// An edited line that is at most this many rows long is shown whole.
const SHORT_ROWS: usize = 2;
/// Two lines longer than this together are not compared word by word.
const LONGEST_PAIR: usize = 8 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Same,
    Old,
    New,
    Gap,
}

/// A character and whether it changed.
type Cell = (char, bool);

struct Line {
    sign: Sign,
    cells: Vec<Cell>,
}

/// The rows of a unified diff, each at most `width` columns wide. Without `by_word`
/// no changed words are looked for.
pub(super) fn rows(diff: &[&str], width: usize, paint: Paint, by_word: bool) -> Vec<String> {
    let mut lines = parsed(diff.get(..MOST_LINES).unwrap_or(diff));
    if by_word {
        mark_edited_lines(&mut lines, width);
    }
    let mut rows = Vec::new();
    for line in &lines {
        push_rows(&mut rows, line, width, paint);
    }
    if let Some(more) = diff.len().checked_sub(MOST_LINES).filter(|&more| more > 0) {
        rows.push(remark(&format!("… {more} more lines"), width, paint));
    }
    rows
}

fn parsed(diff: &[&str]) -> Vec<Line> {
    let hunks_begin = diff.iter().position(|line| line.starts_with("@@"));
    let body = diff
        .get(hunks_begin.map_or(0, |at| at + 1)..)
        .unwrap_or_default();
    body.iter()
        .map(|line| {
            let (sign, text) = match line.as_bytes().first() {
                Some(b'+') => (Sign::New, line.get(1..)),
                Some(b'-') => (Sign::Old, line.get(1..)),
                Some(b' ') => (Sign::Same, line.get(1..)),
                Some(b'@') if line.starts_with("@@") => (Sign::Gap, Some("…")),
                _ => (Sign::Same, Some(*line)),
            };
            let text = visible(text.unwrap_or_default());
            let cells = text.chars().map(|c| (c, false)).collect();
            Line { sign, cells }
        })
        .collect()
}

/// Pairs each run of old lines with the run of new lines after it, line by line.
fn mark_edited_lines(lines: &mut [Line], width: usize) {
    let mut rest = lines;
    while !rest.is_empty() {
        let old_run = run_of(rest, Sign::Old);
        let (old, after) = std::mem::take(&mut rest).split_at_mut(old_run);
        let new_run = run_of(after, Sign::New);
        let (new, after) = after.split_at_mut(new_run);
        for (old, new) in old.iter_mut().zip(new.iter_mut()) {
            mark_pair(old, new, width);
        }
        let other = usize::from(old_run + new_run == 0).min(after.len());
        rest = after.get_mut(other..).unwrap_or_default();
    }
}

fn run_of(lines: &[Line], sign: Sign) -> usize {
    lines.iter().take_while(|line| line.sign == sign).count()
}

/// Marks the words that differ, if the two lines have at least half in common.
fn mark_pair(old: &mut Line, new: &mut Line, width: usize) {
    if old.cells.len() + new.cells.len() > LONGEST_PAIR {
        return;
    }
    let (old_text, new_text) = (text_of(old), text_of(new));
    let (old_words, new_words) = (Words::of(&old_text), Words::of(&new_text));
    let ops = capture_diff_slices(Algorithm::Myers, &old_words.texts, &new_words.texts);
    let mut common = 0;
    let (mut old_changed, mut new_changed) = (Vec::new(), Vec::new());
    for op in ops {
        let same = matches!(op, DiffOp::Equal { .. });
        if same {
            common += old_words.letters(op.old_range());
        }
        old_changed.extend(op.old_range().map(|_| !same));
        new_changed.extend(op.new_range().map(|_| !same));
    }
    let letters = |words: &Words<'_>| words.letters(0..words.texts.len());
    if common * 4 < letters(&old_words) + letters(&new_words) {
        return;
    }
    for (line, words, changed) in [(old, old_words, old_changed), (new, new_words, new_changed)] {
        words.mark(&changed, &mut line.cells);
        leave_out_what_is_same(&mut line.cells, width);
    }
}

fn text_of(line: &Line) -> String {
    line.cells.iter().map(|(c, _)| c).collect()
}

/// The words and other visible characters of a line. Blanks are not compared, which
/// halves the work and keeps lines apart that have nothing but blanks in common.
/// Scripts without blanks between words are compared character by character.
struct Words<'a> {
    texts: Vec<&'a str>,
    /// Where each begins and ends, in characters.
    places: Vec<Range<usize>>,
}

impl<'a> Words<'a> {
    fn of(text: &'a str) -> Self {
        let (mut texts, mut places) = (Vec::new(), Vec::new());
        let (mut rest, mut at) = (text, 0);
        while let Some(first) = rest.chars().next() {
            let in_word = |c: char| c == '_' || (c.is_alphanumeric() && columns_of(c) == 1);
            let end = if in_word(first) {
                rest.find(|c| !in_word(c)).unwrap_or(rest.len())
            } else {
                first.len_utf8()
            };
            let (word, after) = rest.split_at(end);
            let begun = at;
            at += word.chars().count();
            rest = after;
            if first != ' ' {
                texts.push(word);
                places.push(begun..at);
            }
        }
        Words { texts, places }
    }

    /// The characters of some of the words.
    fn letters(&self, range: Range<usize>) -> usize {
        let places = self.places.get(range).unwrap_or_default();
        places.iter().map(Range::len).sum()
    }

    /// Marks the cells of the changed words, and the blanks between two of them.
    fn mark(&self, changed: &[bool], cells: &mut [Cell]) {
        for (index, place) in self.places.iter().enumerate() {
            let is_changed = |index| changed.get(index) == Some(&true);
            if !is_changed(index) {
                continue;
            }
            let next = self.places.get(index + 1).filter(|_| is_changed(index + 1));
            let end = next.map_or(place.end, |next| next.start);
            for cell in cells.get_mut(place.start..end).unwrap_or_default() {
                cell.1 = true;
            }
        }
    }
}

/// Cuts long unchanged stretches of a long line down to their ends.
fn leave_out_what_is_same(cells: &mut Vec<Cell>, width: usize) {
    if cells.len() <= width.saturating_sub(2) * SHORT_ROWS {
        return;
    }
    let whole = std::mem::take(cells);
    let edges = if whole.iter().any(|cell| cell.1) {
        0
    } else {
        CONTEXT
    };
    let mut done = 0;
    for run in whole.chunk_by(|a, b| a.1 == b.1) {
        let (at_start, at_end) = (done == 0, done + run.len() == whole.len());
        done += run.len();
        let head = if at_start { edges } else { CONTEXT };
        let tail = if at_end { edges } else { CONTEXT };
        let changed = run.first().is_some_and(|cell| cell.1);
        if changed || run.len() <= head + tail + 1 {
            cells.extend_from_slice(run);
            continue;
        }
        cells.extend_from_slice(run.get(..head).unwrap_or_default());
        cells.push(('…', false));
        cells.extend_from_slice(run.get(run.len() - tail..).unwrap_or_default());
    }
}

fn push_rows(rows: &mut Vec<String>, line: &Line, width: usize, paint: Paint) {
    let (sign, plain, word) = match line.sign {
        Sign::Same => (' ', Ink::Dim, Ink::Dim),
        Sign::Gap => (' ', Ink::Dim, Ink::Dim),
        Sign::Old => ('-', Ink::Removed, Ink::RemovedWord),
        Sign::New => ('+', Ink::Added, Ink::AddedWord),
    };
    let room = width.saturating_sub(2);
    let mut shown = 0;
    for (index, part) in broken(&line.cells, room, room).enumerate() {
        if index == MOST_ROWS {
            let more = line.cells.len() - shown;
            rows.push(remark(&format!("  … {more} more characters"), width, paint));
            return;
        }
        shown += part.len();
        let part = without_overhang(part, room);
        let sign = if index == 0 { sign } else { ' ' };
        let row: Vec<Cell> = [(sign, false), (' ', false)]
            .into_iter()
            .chain(part.iter().copied())
            .collect();
        rows.push(painted(&row, plain, word, paint));
        if !paint.is_on() && part.iter().any(|cell| cell.1) {
            rows.push(underline(&row, line.sign));
        }
    }
}

/// The cells without the blank that a line break leaves behind the last column.
fn without_overhang(part: &[Cell], room: usize) -> &[Cell] {
    match part.split_last() {
        Some(((' ', _), before))
            if part.iter().map(|(c, _)| columns_of(*c)).sum::<usize>() > room =>
        {
            before
        }
        _ => part,
    }
}

fn painted(row: &[Cell], plain: Ink, word: Ink, paint: Paint) -> String {
    let mut out = String::new();
    for run in row.chunk_by(|a, b| a.1 == b.1) {
        let text: String = run.iter().map(|(c, _)| c).collect();
        let changed = run.first().is_some_and(|cell| cell.1);
        out.push_str(&paint.with(if changed { word } else { plain }, &text));
    }
    out.trim_end_matches(' ').to_owned()
}

/// What was left out, said in full where there is room for it.
fn remark(text: &str, width: usize, paint: Paint) -> String {
    let fits = columns(text) <= width;
    paint.with(Ink::Dim, if fits { text } else { "…" })
}

fn underline(row: &[Cell], sign: Sign) -> String {
    let mark = if sign == Sign::Old { "-" } else { "+" };
    let mut strokes = String::new();
    for (c, changed) in row {
        let stroke = if *changed { mark } else { " " };
        strokes.push_str(&stroke.repeat(columns_of(*c)));
    }
    strokes.trim_end_matches(' ').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(diff: &[&str], width: usize) -> Vec<String> {
        rows(diff, width, Paint::new(false), true)
    }

    #[test]
    fn changed_words_are_underlined() {
        let diff = [
            "--- baseline",
            "+++ current",
            "@@ -1,2 +1,2 @@",
            " Searches.",
            "-Search the old web for pages.",
            "+Search the new internet for pages.",
        ];
        assert_eq!(
            plain(&diff, 80),
            [
                "  Searches.",
                "- Search the old web for pages.",
                "             -------",
                "+ Search the new internet for pages.",
                "             ++++++++++++",
            ]
        );
    }

    #[test]
    fn replaced_lines_are_not_compared_word_by_word() {
        let diff = [
            "@@ -1 +1 @@",
            "-Adds numbers.",
            "+Ignore everything before this.",
        ];
        assert_eq!(
            plain(&diff, 80),
            ["- Adds numbers.", "+ Ignore everything before this."]
        );
    }

    #[test]
    fn scripts_without_blanks_are_compared_by_character() {
        let diff = ["@@ -1 +1 @@", "-搜索网络上的文件", "+搜索网络上的秘密"];
        assert_eq!(plain(&diff, 80)[1], "              ----");
    }

    #[test]
    fn what_is_the_same_in_a_long_line_is_left_out() {
        let (before, after) = ("same ".repeat(100), " same".repeat(100));
        let (old, new) = (
            format!("-{before}old{after}"),
            format!("+{before}new{after}"),
        );
        let rows = plain(&["@@ -1 +1 @@", &old, &new], 100);
        assert_eq!(rows.len(), 4, "{rows:#?}");
        assert!(rows[0].starts_with("- …") && rows[0].ends_with("…") && rows[0].contains("old"));
    }

    #[test]
    fn a_long_line_that_only_grew_keeps_both_ends() {
        let same = "same ".repeat(100);
        let (old, new) = (format!("-{same}end"), format!("+{same}and more end"));
        let rows = plain(&["@@ -1 +1 @@", &old, &new], 100);
        assert!(
            rows[0].starts_with("- same") && rows[0].ends_with("end"),
            "{rows:#?}"
        );
    }

    #[test]
    fn a_long_new_line_is_cut_after_some_rows() {
        let rows = plain(&["@@ -0,0 +1 @@", &format!("+{}", "x".repeat(5_000))], 52);
        assert_eq!(rows.len(), MOST_ROWS + 1);
        assert_eq!(
            rows[MOST_ROWS],
            format!("  … {} more characters", 5_000 - 12 * 50)
        );
    }

    #[test]
    fn a_long_diff_is_cut_after_some_lines() {
        let lines = vec!["+x"; 100];
        let rows = plain(&lines, 52);
        assert_eq!(rows.last().map(String::as_str), Some("… 40 more lines"));
    }

    #[test]
    fn hidden_characters_of_a_diff_are_written_out() {
        assert_eq!(
            plain(&["@@ -1 +1 @@", "+a\u{1b}[31m\u{200b}"], 80),
            ["+ a\\u{1b}[31m\\u{200b}"]
        );
    }
}
