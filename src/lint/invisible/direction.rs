//! Text that is shown in another order than it is read.

use std::ops::Range;

/// An embedding, override or isolate that waits for its end.
struct Open {
    at: usize,
    control: char,
    /// Right-to-left letters seen before it.
    rtl_before: usize,
}

/// The parts of a line whose direction controls are unbalanced, override the
/// order of characters, or turn text that needs no turning. The controls end
/// with their line, so a line is judged alone.
///
/// Fine are: marks in a line with right-to-left letters, right-to-left parts
/// with such letters in them, left-to-right parts in a line with such letters,
/// and first-strong isolates, which message formatters put around any value.
pub(super) fn suspicious(line: &str) -> Vec<Range<usize>> {
    let line_has_rtl = line.chars().any(is_right_to_left);
    let mut rtl = 0;
    let mut open: Vec<Open> = Vec::new();
    let mut found = Vec::new();
    for (at, c) in line.char_indices() {
        let here = at..at + c.len_utf8();
        match c {
            '\u{200e}' | '\u{200f}' | '\u{61c}' if !line_has_rtl => found.push(here),
            '\u{202a}' | '\u{202b}' | '\u{202d}' | '\u{202e}' | '\u{2066}'..='\u{2068}' => {
                open.push(Open {
                    at,
                    control: c,
                    rtl_before: rtl,
                });
            }
            '\u{202c}' | '\u{2069}' => match open.pop() {
                Some(opened) if closes(c, opened.control) => {
                    let inside = rtl - opened.rtl_before;
                    if !is_fine(opened.control, inside > 0, line_has_rtl) {
                        found.push(opened.at..here.end);
                    }
                }
                Some(opened) => found.push(opened.at..here.end),
                None => found.push(here),
            },
            _ => rtl += usize::from(is_right_to_left(c)),
        }
    }
    found.extend(open.into_iter().map(|opened| opened.at..line.len()));
    outermost(found)
}

fn closes(end: char, start: char) -> bool {
    (end == '\u{2069}') == matches!(start, '\u{2066}'..='\u{2068}')
}

fn is_fine(control: char, rtl_inside: bool, rtl_in_line: bool) -> bool {
    match control {
        '\u{2067}' | '\u{202b}' => rtl_inside,
        '\u{2066}' | '\u{202a}' => rtl_in_line,
        '\u{2068}' => true,
        _ => false,
    }
}

/// Drops ranges inside others, so that a nest is one finding.
fn outermost(mut found: Vec<Range<usize>>) -> Vec<Range<usize>> {
    found.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
    let mut end = 0;
    found.retain(|range| {
        let outer = range.end > end;
        end = end.max(range.end);
        outer
    });
    found
}

/// Letters of the scripts that are written from right to left.
fn is_right_to_left(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}'
        | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}')
        && c.is_alphabetic()
}
