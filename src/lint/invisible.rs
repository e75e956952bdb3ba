//! Characters that a reader does not see and a model does: hidden text, text
//! that is shown in another order than it is read, and terminal steering.
//!
//! The scan looks only at characters that could hide something, decides from
//! their neighbours whether the script or the emoji around needs them, and
//! decodes what they carry. It reads each part of a text a bounded number of
//! times, and skips ordinary text of any script a block at a time.

mod context;
mod direction;
mod kind;
mod meaningless;
mod payload;
mod skip;
mod steering;

pub(crate) use crate::wire::glyph as class;
use std::collections::BTreeMap;
use std::ops::Range;

use class::{Glyphless, glyphless};
pub(crate) use kind::{Hidden, HiddenKind};
pub(crate) use meaningless::scan_meaningless;

/// Finds what `text` hides, in the order of the text. Findings of one kind
/// that are at most two characters apart are one finding, and all colours are one.
/// Of a kind that occurs very often the last finding stands for the rest.
pub(crate) fn scan(text: &str) -> Vec<Hidden> {
    let mut scanner = Scanner::new(text);
    let mut at = 0;
    while let Some(suspect) = skip::next_suspect(text.as_bytes(), at) {
        at = scanner.judge(suspect);
    }
    scanner.finish()
}

/// Whether invisible characters in a text may spell another one.
pub(crate) fn may_carry_text(text: &str) -> bool {
    !text.is_ascii() && skip::next_suspect(text.as_bytes(), 0).is_some()
}

/// So many doubtful characters are tolerated before all are reported: each may
/// be honest alone, but several are a channel.
const TOLERATED: usize = 2;
/// How many flags of regions that have no flag of their own.
const TOLERATED_FLAGS: usize = 4;
/// A Braille picture may have this many empty cells in a row.
const LONGEST_BRAILLE_GAP: usize = 40;

/// How much of a covered text is decoded, in characters. A message shows less, but a
/// secret must not be cut before it is recognised.
const SHOWN: usize = 4_000;

struct Scanner<'t> {
    text: &'t str,
    found: Vec<Hidden>,
    colour: Option<Hidden>,
    /// For each kind how many were found, and where in `found` the last one is.
    tallies: BTreeMap<HiddenKind, (usize, usize)>,
    doubtful: Vec<Hidden>,
    flags: Vec<Hidden>,
    /// The ends of the line and of the word that were judged as a whole.
    line_done: usize,
    word_done: usize,
    /// Where a carriage return last put the cursor.
    line_start: usize,
    #[cfg(test)]
    steps: usize,
}

impl<'t> Scanner<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            text,
            found: Vec::new(),
            colour: None,
            tallies: BTreeMap::new(),
            doubtful: Vec::new(),
            flags: Vec::new(),
            line_done: 0,
            word_done: 0,
            line_start: 0,
            #[cfg(test)]
            steps: 0,
        }
    }

    /// Merges on the way, so that a text of nothing else stays one finding.
    fn report(&mut self, range: Range<usize>, kind: HiddenKind, decoded: Option<String>) {
        let hidden = Hidden::new(range, kind, decoded);
        if kind.is_harmless() {
            match &mut self.colour {
                Some(colour) => colour.times += 1,
                None => self.colour = Some(hidden),
            }
            return;
        }
        let (count, latest) = self.tallies.get(&kind).copied().unwrap_or_default();
        let joins = self
            .found
            .last()
            .is_some_and(|last| continues(self.text, last, kind, &hidden.range));
        if count >= kind.most() && !joins {
            if let Some(latest) = self.found.get_mut(latest) {
                latest.stand_for(hidden);
            }
            return;
        }
        let index = self.found.len();
        add(self.text, &mut self.found, hidden);
        if self.found.len() > index {
            self.tallies.insert(kind, (count + 1, index));
        }
    }

    /// Keeps what is only reported if there is more of it.
    fn doubt(&mut self, hidden: Hidden) {
        let full = self.doubtful.len() >= hidden.kind.most();
        match self.doubtful.last_mut() {
            Some(last) if full => last.stand_for(hidden),
            _ => self.doubtful.push(hidden),
        }
    }

    #[cfg(test)]
    fn step(&mut self, work: usize) {
        self.steps += work;
    }

    #[cfg(not(test))]
    #[expect(clippy::unused_self, reason = "only tests count the work")]
    fn step(&mut self, _work: usize) {}

    fn slice(&self, range: Range<usize>) -> &'t str {
        self.text.get(range).unwrap_or_default()
    }

    /// Judges the character at `at` and what belongs to it; returns where to
    /// look on.
    fn judge(&mut self, at: usize) -> usize {
        let rest = self.slice(at..self.text.len());
        let Some(c) = rest.chars().next() else {
            return self.text.len();
        };
        let next = at + c.len_utf8();
        self.step(1);
        if c.is_control() {
            return self.steering(c, at);
        }
        match glyphless(c) {
            None => next,
            Some(Glyphless::Direction | Glyphless::DirectionMark) => {
                if at >= self.line_done {
                    self.judge_line(at);
                }
                next
            }
            Some(_) if at == 0 && c == '\u{feff}' => next,
            Some(_) => self.judge_run(at),
        }
    }

    fn judge_line(&mut self, at: usize) {
        let before = self.slice(self.line_done..at);
        let start = self.line_done + before.rfind('\n').map_or(0, |newline| newline + 1);
        let rest = self.slice(start..self.text.len());
        let line = rest.find('\n').map_or(rest, |end| &rest[..end]);
        self.step(line.len() + before.len());
        self.line_done = start + line.len();
        for range in direction::suspicious(line) {
            let inside = line.get(range.clone()).unwrap_or_default();
            let shown: String = visible(inside).chars().take(SHOWN).collect();
            self.report(
                start + range.start..start + range.end,
                HiddenKind::Direction,
                Some(shown).filter(|shown| !shown.is_empty()),
            );
        }
    }

    /// Judges the invisible characters from `at` on, direction controls aside.
    fn judge_run(&mut self, at: usize) -> usize {
        let before = self.slice(0..at).chars().next_back();
        let rest = self.slice(at..self.text.len());
        let end = at + rest.len() - rest.trim_start_matches(is_run_part).len();
        let after = self.slice(end..self.text.len()).chars().next();
        self.step(end - at);
        let mut part = at;
        let mut base = before;
        while part < end {
            let run = self.slice(part..end);
            let group = run.chars().next().map(group).unwrap_or(Group::Other);
            let len = run.len() - run.trim_start_matches(|c| self::group(c) == group).len();
            let sides = Sides {
                before: base,
                run_before: before,
                run_after: after,
            };
            match group {
                Group::Tag => self.tags(part..part + len, &sides),
                Group::Variation => self.variations(part..part + len, &sides),
                Group::Other => self.zero_widths(part..part + len, &sides),
            }
            base = None;
            part += len.max(1);
        }
        end
    }

    fn tags(&mut self, range: Range<usize>, sides: &Sides) {
        let mut start = range.start;
        if sides.before == Some('\u{1f3f4}')
            && let Some((len, real)) = payload::flag(self.slice(range.clone()))
        {
            start += len;
            if !real {
                let place = range.start..start;
                let decoded = payload::tags(self.slice(place.clone()));
                self.flags
                    .push(Hidden::new(place, HiddenKind::Tag, decoded));
            }
        }
        if start < range.end {
            let decoded = payload::tags(self.slice(start..range.end));
            self.report(start..range.end, HiddenKind::Tag, decoded);
        }
    }

    fn variations(&mut self, range: Range<usize>, sides: &Sides) {
        let run = self.slice(range.clone());
        let mut selectors = run.chars();
        let (Some(first), second) = (selectors.next(), selectors.next()) else {
            return;
        };
        let decoded = payload::selectors(run);
        if second.is_some() {
            self.report(range, HiddenKind::VariationSelector, decoded);
            return;
        }
        let after_letter = sides
            .run_before
            .is_none_or(|base| base.is_ascii_alphabetic() || base.is_whitespace());
        if first >= '\u{e0100}' && !sides.before.is_some_and(context::is_ideograph) {
            self.report(range, HiddenKind::VariationSelector, decoded);
        } else if after_letter {
            self.doubt(Hidden::new(range, HiddenKind::VariationSelector, decoded));
        }
    }

    fn zero_widths(&mut self, range: Range<usize>, sides: &Sides) {
        let run = self.slice(range.clone());
        let count = run.chars().count();
        if count >= payload::FEWEST_BITS
            && let Some(decoded) = payload::bits(run)
        {
            self.report(range, HiddenKind::Bits, Some(decoded));
            return;
        }
        let all = |class: Glyphless| run.chars().all(|c| glyphless(c) == Some(class));
        if all(Glyphless::SoftHyphen) && count == 1 {
            self.soft_hyphen(range.start);
        } else if all(Glyphless::SoftHyphen) {
            self.report(range, HiddenKind::SoftHyphen, None);
        } else if all(Glyphless::Operator) {
            self.operators(range, count, sides);
        } else if all(Glyphless::Filler) {
            self.fillers(range, run, count, sides);
        } else if !context::joins_honestly(run, count, sides) {
            let decoded = self.broken_word(&range, HiddenKind::ZeroWidth, self.found.last());
            self.report(range, HiddenKind::ZeroWidth, decoded);
        }
    }

    fn operators(&mut self, range: Range<usize>, count: usize, sides: &Sides) {
        if count > 1 {
            self.report(range, HiddenKind::Operator, None);
        } else if sides.within_ascii_word() {
            let decoded = self.broken_word(&range, HiddenKind::Operator, self.doubtful.last());
            self.doubt(Hidden::new(range, HiddenKind::Operator, decoded));
        }
    }

    fn fillers(&mut self, range: Range<usize>, run: &str, count: usize, sides: &Sides) {
        let any_side = |test: fn(char) -> bool| {
            sides.run_before.is_some_and(test) || sides.run_after.is_some_and(test)
        };
        let honest = if run.contains('\u{2800}') {
            count == 1 || (count <= LONGEST_BRAILLE_GAP && any_side(context::is_braille))
        } else {
            count == 1 && any_side(context::is_hangul)
        };
        if !honest {
            self.report(range, HiddenKind::Filler, None);
        }
    }

    /// A soft hyphen is honest where it parts syllables of a long word.
    fn soft_hyphen(&mut self, at: usize) {
        if at < self.word_done {
            return;
        }
        let before = self.slice(self.word_done..at);
        let start = at - (before.len() - before.trim_end_matches(context::is_word).len());
        let rest = self.slice(start..self.text.len());
        let word = &rest[..rest.len() - rest.trim_start_matches(context::is_word).len()];
        self.step(before.len() + word.len());
        self.word_done = start + word.len();
        let hyphens = word.matches('\u{ad}').count();
        let letters = word.chars().count() - hyphens;
        let single = word.split('\u{ad}').any(|part| part.chars().count() < 2);
        if hyphens > 1 && (single || letters <= 2 * (hyphens + 1)) {
            let last = word.rfind('\u{ad}').unwrap_or_default() + 2;
            self.report(
                at..start + last,
                HiddenKind::SoftHyphen,
                Some(visible(word)),
            );
        }
    }

    /// The visible word around a range, if it is within one, and if the
    /// finding before does not show the same word already.
    fn broken_word(
        &self,
        range: &Range<usize>,
        kind: HiddenKind,
        last: Option<&Hidden>,
    ) -> Option<String> {
        if last.is_some_and(|last| continues(self.text, last, kind, range)) {
            return None;
        }
        const REACH: usize = 200;
        let is_part = |c: &char| c.is_alphanumeric() || *c == '_' || glyphless(*c).is_some();
        let before = self.slice(0..range.start).chars().rev().take(REACH);
        let after = self.slice(range.end..self.text.len()).chars().take(REACH);
        let head: Vec<char> = before.take_while(is_part).collect();
        let tail: String = after.take_while(is_part).collect();
        let is_letter = |c: Option<&char>| c.is_some_and(|c| c.is_alphanumeric());
        let inside = is_letter(head.first()) && is_letter(tail.chars().next().as_ref());
        let word: String = head.into_iter().rev().chain(tail.chars()).collect();
        inside.then(|| visible(&word))
    }

    fn finish(mut self) -> Vec<Hidden> {
        if self.doubtful.len() > TOLERATED {
            self.found.append(&mut self.doubtful);
        }
        if self.flags.len() > TOLERATED_FLAGS {
            self.found.append(&mut self.flags);
        }
        self.found.extend(self.colour.take());
        self.found.sort_by_key(|hidden| hidden.range.start);
        let mut merged = Vec::new();
        for hidden in self.found {
            add(self.text, &mut merged, hidden);
        }
        merged
    }
}

/// What stands next to a part of a run, and next to the whole run.
struct Sides {
    before: Option<char>,
    run_before: Option<char>,
    run_after: Option<char>,
}

impl Sides {
    fn within_ascii_word(&self) -> bool {
        let is_letter = |side: Option<char>| side.is_some_and(|c| c.is_ascii_alphabetic());
        is_letter(self.run_before) && is_letter(self.run_after)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Group {
    Tag,
    Variation,
    Other,
}

fn group(c: char) -> Group {
    match glyphless(c) {
        Some(Glyphless::Tag) => Group::Tag,
        Some(Glyphless::Variation) => Group::Variation,
        _ => Group::Other,
    }
}

fn is_run_part(c: char) -> bool {
    glyphless(c)
        .is_some_and(|class| !matches!(class, Glyphless::Direction | Glyphless::DirectionMark))
}

/// What of a text is seen.
fn visible(text: &str) -> String {
    text.chars()
        .filter(|c| glyphless(*c).is_none() && !c.is_control())
        .collect()
}

/// Adds a finding, or joins it to the one before: neighbours of one kind, such
/// as one joiner after each letter, are one.
fn add(text: &str, found: &mut Vec<Hidden>, hidden: Hidden) {
    if let Some(last) = found.last_mut()
        && continues(text, last, hidden.kind, &hidden.range)
    {
        last.range.end = hidden.range.end;
        join_decoded(last, hidden.decoded);
    } else {
        found.push(hidden);
    }
}

fn continues(text: &str, last: &Hidden, kind: HiddenKind, range: &Range<usize>) -> bool {
    const FARTHEST: usize = 2;
    if last.kind != kind || !kind.may_merge() || last.range.end > range.start {
        return false;
    }
    let gap = text.get(last.range.end..range.start).unwrap_or_default();
    let mut near = gap.chars().take(FARTHEST + 1);
    near.by_ref().take(FARTHEST).all(|c| c != '\n') && near.next().is_none()
}

/// Payloads add up; the pieces of a broken word are the same word.
fn join_decoded(last: &mut Hidden, more: Option<String>) {
    let adds_up = matches!(
        last.kind,
        HiddenKind::Tag | HiddenKind::VariationSelector | HiddenKind::Overwrite
    );
    match (&mut last.decoded, more) {
        (Some(text), Some(more)) if adds_up => text.push_str(&more),
        (Some(text), Some(more)) if last.kind == HiddenKind::SoftHyphen => {
            text.push(' ');
            text.push_str(&more);
        }
        (slot @ None, more) => *slot = more,
        _ => {}
    }
}

#[cfg(test)]
mod tests;
