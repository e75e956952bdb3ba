//! Texts and sequences compared: unified diffs, and the words that changed.
//!
//! The cost is bounded without a clock, so that the same input always gives the
//! same output: what is equal at both ends is cut off first; a long rest is only
//! aligned if it is known to be close, and shown as one replacement otherwise.

use crate::secrets::conceal::conceal;
use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices, group_diff_ops};
use std::collections::HashMap;

/// Lines of context around a change of a text.
const TEXT_CONTEXT: usize = 3;

/// Requests around a change of their order.
const SEQUENCE_CONTEXT: usize = 1;

/// Up to this many items on both sides together, any two sequences are aligned:
/// a tenth of a second at worst.
const ALWAYS_ALIGNED: usize = 20_000;

/// Longer sequences are aligned if they are at most this many insertions and
/// removals apart, which a linear search finds out.
const NEAR: usize = 100;

/// The lines of a unified diff of sequences are no more than this.
const SEQUENCE_LINES: usize = 2_000;

/// Changed phrases that [`words`] shows.
const PHRASES: usize = 6;

/// Characters of a phrase that [`words`] shows.
const PHRASE_LENGTH: usize = 120;

/// A line from which on the words that changed are hard to see in a unified diff.
const LONG_LINE: usize = 60;

/// A unified diff of two texts, where `None` is a text that is not there. Empty if they are equal.
///
/// Lines end at a line feed only, so a carriage return that comes or goes shows.
pub(crate) fn unified(old: Option<&str>, new: Option<&str>) -> Vec<String> {
    let old: Vec<&str> = old.into_iter().flat_map(|text| text.split('\n')).collect();
    let new: Vec<&str> = new.into_iter().flat_map(|text| text.split('\n')).collect();
    render(&old, &new, &align(&old, &new).ops, TEXT_CONTEXT)
}

/// A unified diff of two sequences of short items; a very long one ends in a line that says so.
pub(crate) fn sequence(old: &[&str], new: &[&str]) -> Vec<String> {
    let alignment = align(old, new);
    if !alignment.exact {
        return far_apart(old, new, &alignment.ops);
    }
    let mut lines = render(old, new, &alignment.ops, SEQUENCE_CONTEXT);
    let more = lines.len().saturating_sub(SEQUENCE_LINES);
    if more > 0 {
        lines.truncate(SEQUENCE_LINES);
        lines.push(format!("… and {more} more lines"));
    }
    lines
}

/// The words that changed inside a text, as `words: -"old phrase" +"new phrase"`,
/// if its lines are too long for a unified diff to show them.
pub(crate) fn words(old: &str, new: &str) -> Option<String> {
    let long = |text: &str| text.split('\n').any(|line| line.len() > LONG_LINE);
    if old == new || !(long(old) && long(new)) {
        return None;
    }
    let (old, new) = (split_words(old), split_words(new));
    let alignment = align(&old, &new);
    if !alignment.exact {
        return None;
    }
    let phrases = phrases(&old, &new, &alignment.ops);
    if phrases.is_empty() {
        return None;
    }
    let mut shown: Vec<String> = phrases.iter().take(PHRASES).cloned().collect();
    if phrases.len() > PHRASES {
        shown.push(format!("and {} more", phrases.len() - PHRASES));
    }
    Some(format!("words: {}", shown.join(", ")))
}

/// How many lines a unified diff adds and removes.
pub(crate) fn counts(diff: &[String]) -> (usize, usize) {
    let count = |sign| {
        let body = diff.iter().skip(2);
        body.filter(|line| line.starts_with(sign)).count()
    };
    (count('+'), count('-'))
}

struct Alignment {
    ops: Vec<DiffOp>,
    /// Whether the ops align what lies between the equal ends, or replace it whole.
    exact: bool,
}

fn align(old: &[&str], new: &[&str]) -> Alignment {
    let (old, new) = numbered(old, new);
    let pairs = old.iter().zip(&new);
    let prefix = pairs.take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (tail(&old, prefix), tail(&new, prefix));
    let pairs = old_rest.iter().rev().zip(new_rest.iter().rev());
    let suffix = pairs.take_while(|(a, b)| a == b).count();
    let old_middle = head(old_rest, suffix);
    let new_middle = head(new_rest, suffix);
    if old_middle.len() + new_middle.len() <= ALWAYS_ALIGNED || near(old_middle, new_middle) {
        let ops = capture_diff_slices(Algorithm::Myers, &old, &new);
        return Alignment { ops, exact: true };
    }
    let mut ops = vec![DiffOp::Replace {
        old_index: prefix,
        old_len: old_middle.len(),
        new_index: prefix,
        new_len: new_middle.len(),
    }];
    if prefix > 0 {
        let equal = DiffOp::Equal {
            old_index: 0,
            new_index: 0,
            len: prefix,
        };
        ops.insert(0, equal);
    }
    if suffix > 0 {
        ops.push(DiffOp::Equal {
            old_index: prefix + old_middle.len(),
            new_index: prefix + new_middle.len(),
            len: suffix,
        });
    }
    Alignment { ops, exact: false }
}

fn tail(items: &[u32], from: usize) -> &[u32] {
    items.get(from..).unwrap_or_default()
}

fn head(items: &[u32], cut: usize) -> &[u32] {
    items.get(..items.len() - cut).unwrap_or_default()
}

/// Equal items as equal numbers, so that comparing long lines costs nothing.
fn numbered(old: &[&str], new: &[&str]) -> (Vec<u32>, Vec<u32>) {
    let mut numbers: HashMap<&str, u32> = HashMap::new();
    let mut next = 0_u32;
    let mut sides = [Vec::with_capacity(old.len()), Vec::with_capacity(new.len())];
    for (side, items) in sides.iter_mut().zip([old, new]) {
        for item in items {
            let number = *numbers.entry(item).or_insert_with(|| {
                next += 1;
                next
            });
            side.push(number);
        }
    }
    let [old, new] = sides;
    (old, new)
}

/// Whether at most [`NEAR`] items have to be inserted and removed to get from one
/// to the other: Myers' greedy search, given up after that many rounds.
fn near(old: &[u32], new: &[u32]) -> bool {
    if old.len().abs_diff(new.len()) > NEAR {
        return false;
    }
    // The furthest place in `old` on each diagonal `old - new`, shifted to be positive.
    let mut furthest = vec![0_usize; 2 * NEAR + 3];
    let middle = NEAR + 1;
    for round in 0..=NEAR {
        for diagonal in (middle - round..=middle + round).step_by(2) {
            let down = diagonal == middle - round
                || (diagonal != middle + round && furthest[diagonal - 1] < furthest[diagonal + 1]);
            let mut x = if down {
                furthest[diagonal + 1]
            } else {
                furthest[diagonal - 1] + 1
            };
            let Some(mut y) = (x + middle).checked_sub(diagonal) else {
                continue;
            };
            while x < old.len() && y < new.len() && old[x] == new[y] {
                x += 1;
                y += 1;
            }
            if x >= old.len() && y >= new.len() {
                return true;
            }
            furthest[diagonal] = x;
        }
    }
    false
}

fn render(old: &[&str], new: &[&str], ops: &[DiffOp], context: usize) -> Vec<String> {
    let mut lines = Vec::new();
    if ops.iter().all(|op| op.tag() == DiffTag::Equal) {
        return lines;
    }
    lines.extend(["--- baseline".to_owned(), "+++ current".to_owned()]);
    for group in group_diff_ops(ops.to_vec(), context) {
        lines.push(hunk_header(&group));
        for op in &group {
            let (tag, old_range, new_range) = op.as_tag_tuple();
            let removed = old.get(old_range).unwrap_or_default();
            if tag == DiffTag::Equal {
                lines.extend(removed.iter().map(|line| format!(" {line}")));
                continue;
            }
            let added = new.get(new_range).unwrap_or_default();
            lines.extend(removed.iter().map(|line| format!("-{line}")));
            lines.extend(added.iter().map(|line| format!("+{line}")));
        }
    }
    lines
}

fn hunk_header(group: &[DiffOp]) -> String {
    let (Some(first), Some(last)) = (group.first(), group.last()) else {
        return String::new();
    };
    let old = first.old_range().start..last.old_range().end;
    let new = first.new_range().start..last.new_range().end;
    format!("@@ -{} +{} @@", hunk_range(&old), hunk_range(&new))
}

/// A range as diff writes it: the first line from 1, or the line before an empty range.
fn hunk_range(range: &std::ops::Range<usize>) -> String {
    match range.len() {
        0 => format!("{},0", range.start),
        1 => format!("{}", range.start + 1),
        len => format!("{},{len}", range.start + 1),
    }
}

/// What to say about two long sequences that have little in common.
fn far_apart(old: &[&str], new: &[&str], ops: &[DiffOp]) -> Vec<String> {
    let replaced = ops.iter().filter(|op| op.tag() != DiffTag::Equal);
    let replaced: Vec<DiffOp> = replaced.copied().collect();
    let old_len: usize = replaced.iter().map(|op| op.old_range().len()).sum();
    let new_len: usize = replaced.iter().map(|op| op.new_range().len()).sum();
    let at = replaced.first().map_or(0, |op| op.old_range().start);
    vec![
        "--- baseline".to_owned(),
        "+++ current".to_owned(),
        hunk_header(&replaced),
        format!(
            "… too far apart to align: after the first {at}, the order of {old_len} of {} \
             requests became that of {new_len} of {}",
            old.len(),
            new.len()
        ),
    ]
}

/// Words and the white space between them, in turns.
fn split_words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let other = |c: char| c.is_whitespace() != first.is_whitespace();
        let (word, after) = rest.split_at(rest.find(other).unwrap_or(rest.len()));
        words.push(word);
        rest = after;
    }
    words
}

/// Unchanged words and spaces that do not end a phrase: one word and what is around it.
const BRIDGE: usize = 3;

/// Each changed stretch, old and new side by side. Changes that a single unchanged
/// word separates are one phrase, which is how a person would quote them.
fn phrases(old: &[&str], new: &[&str], ops: &[DiffOp]) -> Vec<String> {
    let mut stretches: Vec<(std::ops::Range<usize>, std::ops::Range<usize>)> = Vec::new();
    for op in ops {
        let (tag, old_range, new_range) = op.as_tag_tuple();
        if tag == DiffTag::Equal {
            continue;
        }
        match stretches.last_mut() {
            Some((old_last, new_last))
                if old_range.start - old_last.end <= BRIDGE
                    && new_range.start - new_last.end <= BRIDGE =>
            {
                old_last.end = old_range.end;
                new_last.end = new_range.end;
            }
            _ => stretches.push((old_range, new_range)),
        }
    }
    let quoted = |sign, words: &[&str]| {
        let phrase = words.concat();
        let phrase = phrase.trim();
        (!phrase.is_empty()).then(|| format!("{sign}\"{}\"", clip(phrase, PHRASE_LENGTH)))
    };
    let show = |(old_range, new_range): (std::ops::Range<usize>, std::ops::Range<usize>)| {
        let removed = quoted('-', old.get(old_range).unwrap_or_default());
        let added = quoted('+', new.get(new_range).unwrap_or_default());
        let both: Vec<String> = removed.into_iter().chain(added).collect();
        (!both.is_empty()).then(|| both.join(" "))
    };
    stretches.into_iter().filter_map(show).collect()
}

/// Characters behind the end of a clipped text that are searched for secrets.
const SEARCHED: usize = 8 * 1024;

/// At most `limit` characters of a text, with an ellipsis if there are more.
///
/// Secrets are cut out first: of one that reaches over the end the beginning would
/// stay, and no longer look like a secret.
pub(crate) fn clip(text: &str, limit: usize) -> String {
    let cut_at = |text: &str, count| text.char_indices().nth(count).map(|(end, _)| end);
    if cut_at(text, limit).is_none() {
        return text.to_owned();
    }
    let searched = cut_at(text, limit.saturating_add(SEARCHED)).unwrap_or(text.len());
    let mut shown = text.get(..searched).unwrap_or_default().to_owned();
    conceal(&mut shown);
    if let Some(end) = cut_at(&shown, limit) {
        shown.truncate(end);
    }
    shown.push('…');
    shown
}
