//! Look-around, back-references and the like, in bounded time.
//!
//! The backtracking engine can take exponential time. It is therefore given as little as possible:
//!
//! - The relaxed spelling (see `translate.rs`) finds, in linear time, the next place where the
//!   pattern could match. A text without such a place costs nothing more.
//! - That place is tried alone, in a slice that shows all that the pattern can see: to the left
//!   what its look-behinds reach, which Python bounds, to the right what the pattern reaches. If
//!   that is more than [`FULL_REACH`] bytes, it shows [`CUT_REACH`] bytes after the shortest
//!   relaxed match. Slices are cut between characters.
//! - A place is tried under [`FEW_STEPS`] backtracking steps, which nearly always do, and if not,
//!   under [`STEPS`]. Each trial costs a [`Budget`] that all texts of a run share.
//!   Running out of either ends the search as [`Outcome::Exhausted`].
//!
//! So the answer is that of Python for patterns whose reach is bounded, and for all texts shorter
//! than [`CUT_REACH`]. A longer match of a pattern without a bound (`.*` before a back-reference,
//! `(?!.*x)`) is cut short, missed, or found although what stands further away forbids it.

use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;

use fancy_regex::RegexInput;

use super::matcher::{AUTOMATON_LIMIT, COMPILED_LIMIT, Outcome, compile_linear, one_line};
use super::translate::{Charset, Dialect, Pattern, RegexError};

/// The longest reach to the right, in bytes, that a slice shows in full.
const FULL_REACH: usize = 4 * 1024;

/// What a slice shows of a longer reach, after the shortest relaxed match at its place.
const CUT_REACH: usize = 1024;

/// The most bytes that a slice shows after a place.
const MAX_SLICE: usize = 64 * 1024;

/// The most characters to the left of a place that a slice shows.
const MAX_LEFT: u64 = 1024;

/// How much text is searched for a possible match at once.
const BLOCK: usize = 64 * 1024;

/// Backtracking steps for the first trial of a place.
const FEW_STEPS: usize = 200;

/// Backtracking steps for the second trial, after which the search is given up.
const STEPS: usize = 50_000;

/// What one pattern may spend in one run. The unit is about the work of one step.
const BUDGET: u64 = 128 * 1024 * 1024;

/// What the second trial of a place costs for every so many bytes shown: each step may read them.
const SECOND_TRIAL_COST: usize = 16 * 1024;
const BYTES_PER_SECOND_TRIAL: usize = 256;

/// Instructions of a pattern for the backtracking engine, which runs them without counting.
const MAX_BACKTRACKING_SIZE: u64 = 20_000;

/// The same as a limit of the engine, whose instructions are smaller.
const MAX_PROGRAM: usize = 160_000;

/// A pattern of this many instructions pays a trial once from the budget, a larger one more.
const USUAL_SIZE: u64 = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exhaustion {
    /// One place took too many backtracking steps.
    Steps,
    /// The pattern had too much to try in this run.
    Budget,
    /// The form of the pattern for text that is not ASCII could not be compiled.
    Compile,
}

impl fmt::Display for Exhaustion {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exhaustion::Steps => write!(out, "more than {STEPS} backtracking steps in one place"),
            Exhaustion::Budget => out.write_str("too many places where it could match"),
            Exhaustion::Compile => out.write_str("too large for text that is not ASCII"),
        }
    }
}

/// What is left of the backtracking work that one pattern may do in one run.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    left: u64,
}

impl Budget {
    pub(crate) fn new() -> Self {
        Budget { left: BUDGET }
    }

    /// Pays for a trial, if enough is left.
    fn pay(&mut self, cost: usize, price: u64) -> bool {
        let cost = u64::try_from(cost).unwrap_or(u64::MAX);
        let left = self.left.checked_sub(cost.saturating_mul(price));
        self.left = left.unwrap_or(0);
        left.is_some()
    }
}

/// The backtracking engine and its prefilter.
#[derive(Debug)]
pub(super) struct Backtracking {
    relaxed: regex::Regex,
    /// Runs under few steps.
    quick: fancy_regex::Regex,
    /// The same with all steps, made when the first place asks for it.
    patient: OnceLock<Option<fancy_regex::Regex>>,
    /// Characters shown before a place, one more than the pattern reaches.
    left: usize,
    /// Bytes to the right of a place that the pattern reaches.
    right: usize,
    /// How often a trial is paid.
    price: u64,
}

impl Backtracking {
    pub(super) fn compile(pattern: &Pattern, charset: Charset) -> Result<Self, RegexError> {
        let looks_left = pattern.root.looks_left(&pattern.groups);
        let looks_right = pattern.root.looks_right(&pattern.groups);
        let size = pattern.root.unrolled();
        if looks_left > MAX_LEFT {
            let why = format!("looks behind more than {MAX_LEFT} characters");
            return Err(RegexError::new(why));
        }
        if size > MAX_BACKTRACKING_SIZE {
            return Err(RegexError::new(
                "too large for look-around, back-references, atomic groups or possessive \
                 quantifiers (lower its repetition counts)",
            ));
        }
        Ok(Backtracking {
            relaxed: compile_linear(&pattern.spell(Dialect::Relaxed, charset))?,
            quick: compile_backtracking(&pattern.spell(Dialect::Backtracking, charset), FEW_STEPS)?,
            patient: OnceLock::new(),
            left: usize::try_from(looks_left.saturating_add(1)).unwrap_or(usize::MAX),
            right: usize::try_from(looks_right).unwrap_or(usize::MAX),
            price: 1 + size / USUAL_SIZE,
        })
    }

    /// Finds the leftmost match that starts at or after a place between two characters.
    pub(super) fn find(&self, text: &str, from: usize, budget: &mut Budget) -> Outcome {
        let mut from = from;
        while let Some(possible) = self.possible_match(text, from) {
            let start = possible.start;
            let begin = back(text, start, self.left);
            let end = boundary_from(text, start.saturating_add(self.reach(possible.len())));
            let Some(slice) = text.get(begin..end) else {
                return Outcome::None;
            };
            if !budget.pay(trial_cost(slice.len() + possible.len()), self.price) {
                return Outcome::Exhausted {
                    why: Exhaustion::Budget,
                };
            }
            match self.matches_at(slice, start - begin, budget) {
                Ok(Some(length)) => return Outcome::Match(start..start + length),
                Ok(None) if start >= text.len() => return Outcome::None,
                Ok(None) => from = boundary_from(text, start + 1),
                Err(why) => return Outcome::Exhausted { why },
            }
        }
        Outcome::None
    }

    /// How many bytes to show after a place, given the shortest relaxed match there.
    fn reach(&self, possible: usize) -> usize {
        match self.right > FULL_REACH {
            true => possible.saturating_add(CUT_REACH).min(MAX_SLICE),
            false => self.right,
        }
    }

    /// The length of the match that starts at a place of a slice.
    fn matches_at(
        &self,
        slice: &str,
        start: usize,
        budget: &mut Budget,
    ) -> Result<Option<usize>, Exhaustion> {
        let input = RegexInput::new(slice).from_pos(start).anchored(true);
        let length = |found: Option<fancy_regex::Match<'_>>| {
            found.map(|found| found.end().saturating_sub(start))
        };
        if let Ok(found) = self.quick.find_input(input.clone()) {
            return Ok(length(found));
        }
        let cost = SECOND_TRIAL_COST.saturating_mul(1 + slice.len() / BYTES_PER_SECOND_TRIAL);
        if !budget.pay(cost, self.price) {
            return Err(Exhaustion::Budget);
        }
        let compile = || compile_backtracking(self.quick.as_str(), STEPS).ok();
        let patient = self
            .patient
            .get_or_init(compile)
            .as_ref()
            .ok_or(Exhaustion::Compile)?;
        patient
            .find_input(input)
            .map(length)
            .map_err(|_| Exhaustion::Steps)
    }

    /// The next place where the pattern could match, searched block by block: the engine's own
    /// search could read to the end of the text each time.
    fn possible_match(&self, text: &str, from: usize) -> Option<Range<usize>> {
        let mut block = from;
        loop {
            let block_end = boundary_from(text, block.saturating_add(BLOCK));
            let end = boundary_from(text, block_end.saturating_add(MAX_SLICE));
            let begin = back(text, block, 1);
            let found = self.relaxed.find_at(text.get(begin..end)?, block - begin);
            match found {
                Some(found) if begin + found.start() < block_end || end == text.len() => {
                    return Some(begin + found.start()..begin + found.end());
                }
                None if end == text.len() => return None,
                _ => block = block_end,
            }
        }
    }
}

/// What the first trial of a place costs.
///
/// Steps forward are not counted by the engine, and each may look ahead over the whole slice, so
/// the cost grows with the square of it.
fn trial_cost(bytes: usize) -> usize {
    16 + bytes / 8 + bytes.saturating_mul(bytes) / 4096
}

fn compile_backtracking(spelling: &str, steps: usize) -> Result<fancy_regex::Regex, RegexError> {
    fancy_regex::RegexBuilder::new(spelling)
        .backtrack_limit(steps)
        .delegate_size_limit(COMPILED_LIMIT)
        .delegate_dfa_size_limit(AUTOMATON_LIMIT)
        .max_prog_size(MAX_PROGRAM)
        .build()
        .map_err(|error| refusal_of_backtracking(&error))
}

fn refusal_of_backtracking(error: &fancy_regex::Error) -> RegexError {
    use fancy_regex::{CompileError, Error, ParseError};
    match error {
        Error::ParseError(_, ParseError::RecursionExceeded) => {
            RegexError::new("groups nested too deeply")
        }
        Error::CompileError(inner) => match &**inner {
            CompileError::LookBehindNotConst | CompileError::VariableLookBehindRequiresFeature => {
                RegexError::new("a back-reference in a look-behind is not supported")
            }
            CompileError::PatternTooComplex => {
                RegexError::new("too large (lower its repetition counts)")
            }
            _ => RegexError::new(one_line(&error.to_string())),
        },
        error => RegexError::new(one_line(&error.to_string())),
    }
}

/// The next place between two characters, or the end of the text.
pub(super) fn boundary_from(text: &str, at: usize) -> usize {
    (at..text.len())
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(text.len())
}

/// The place some characters earlier, or the start of the text.
fn back(text: &str, from: usize, characters: usize) -> usize {
    let before = text.get(..from).unwrap_or_default();
    match characters.checked_sub(1) {
        Some(skip) => before
            .char_indices()
            .rev()
            .nth(skip)
            .map_or(0, |(at, _)| at),
        None => from,
    }
}

#[cfg(test)]
impl Budget {
    pub(super) fn of(left: u64) -> Self {
        Budget { left }
    }
}
