//! Runs a pack's regular expression over recorded text, always in bounded time and memory.
//!
//! Most patterns compile with the `regex` crate and cost time linear in the text. Look-around,
//! back-references and the like need a backtracking engine, which can take exponential time. It is
//! therefore given as little as possible:
//!
//! - The relaxed spelling (see `translate.rs`) finds, in linear time, the next place where the
//!   pattern could match. A text without such a place costs nothing more.
//! - That place is tried alone, in a slice that shows all that the pattern can see: to the left
//!   what its look-behinds reach, which Python bounds, to the right what the pattern reaches, but
//!   at most [`MAX_RIGHT`] bytes. Slices are cut between characters.
//! - A place is tried under [`FEW_STEPS`] backtracking steps, which nearly always do, and if not,
//!   under [`STEPS`]. Each trial costs a [`Budget`] that all texts of a run share.
//!   Running out of either ends the search as [`Outcome::Exhausted`].
//!
//! So the answer is that of Python for patterns whose reach is bounded, and for all texts shorter
//! than the reach. A longer match of a pattern without a bound (`.*` before a back-reference,
//! `(?!.*x)`) is cut short, missed, or found although what stands further away forbids it.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;

use fancy_regex::RegexInput;

use super::syntax::Flags;
use super::translate::{Charset, DISPUTED, Dialect, Pattern, RegexError};

/// The most bytes to the right of a place that a slice shows.
const MAX_RIGHT: usize = 4 * 1024;

/// The most characters to the left of a place that a slice shows.
const MAX_LEFT: u64 = 1024;

/// How much text is searched for a possible match at once.
const BLOCK: usize = 64 * 1024;

/// Backtracking steps for the first trial of a place.
const FEW_STEPS: usize = 200;

/// Backtracking steps for the second trial, after which the search is given up.
const STEPS: usize = 50_000;

/// What one pattern may spend in one run. The unit is about the work of one step.
const BUDGET: u64 = 32 * 1024 * 1024;

/// What a place costs, and how many bytes that are shown or searched cost one more.
const PLACE_COST: usize = 16;
const BYTES_PER_COST: usize = 32;

/// What the second trial of a place costs.
const SECOND_TRIAL_COST: usize = 16 * 1024;

/// Estimated memory of one compiled pattern, in bytes. `\w{1,256}` fits, `\w{1,1000}` does not.
const MAX_COMPILED: u64 = 32 * 1024 * 1024;

/// The same as a limit of the engines, in case the estimate is too low.
const COMPILED_LIMIT: usize = 32 * 1024 * 1024;

/// Memory of one lazily filled automaton, in bytes.
const AUTOMATON_LIMIT: usize = 1024 * 1024;

/// Nesting of the written pattern: each group of the parser's limit may become a few levels.
const NEST_LIMIT: u32 = 400;

/// Instructions of a pattern for the backtracking engine, which runs them without counting.
const MAX_BACKTRACKING_SIZE: u64 = 20_000;

/// The same as a limit of the engine, whose instructions are smaller.
const MAX_PROGRAM: usize = 160_000;

/// A pattern of this many instructions pays a trial once from the budget, a larger one more.
const USUAL_SIZE: u64 = 256;

/// One compiled pattern.
#[derive(Debug)]
pub(crate) struct Matcher {
    pattern: Pattern,
    /// For ASCII texts, which are most.
    ascii: Engine,
    /// For the other texts; compiled when the first one comes.
    full: OnceLock<Option<Engine>>,
    /// The backtracking form of a linear pattern, for texts on whose word characters the linear
    /// engine disagrees with Python; compiled when the first one comes.
    words: OnceLock<Option<Box<Backtracking>>>,
}

#[derive(Debug)]
enum Engine {
    Linear(Linear),
    Backtracking(Box<Backtracking>),
}

/// What a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The byte range of the leftmost match.
    Match(Range<usize>),
    None,
    /// The search was given up; whether there is a match is unknown.
    Exhausted {
        why: Exhaustion,
    },
}

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

impl Matcher {
    /// Compiles a regular expression that is written for Python's `re`.
    pub(crate) fn compile(pattern: &str, flags: Flags) -> Result<Matcher, RegexError> {
        let pattern = Pattern::parse(pattern, flags)?;
        if pattern.root.compiled_bytes() > MAX_COMPILED {
            return Err(RegexError::new(
                "too large when compiled (lower its repetition counts)",
            ));
        }
        let ascii = Engine::compile(&pattern, Charset::Ascii)?;
        Ok(Matcher {
            pattern,
            ascii,
            full: OnceLock::new(),
            words: OnceLock::new(),
        })
    }

    /// An upper estimate of the memory that the compiled pattern takes, in bytes.
    pub(super) fn compiled_bytes(&self) -> u64 {
        self.pattern.root.compiled_bytes()
    }

    /// Finds the leftmost match, as Python's `search` does.
    pub(crate) fn find(&self, text: &str, budget: &mut Budget) -> Outcome {
        self.find_from(text, 0, budget)
    }

    /// Finds the leftmost match that starts at or after a byte position. What stands before it is
    /// seen by look-behinds and anchors. A position inside a character means the next one.
    pub(crate) fn find_from(&self, text: &str, from: usize, budget: &mut Budget) -> Outcome {
        if from > text.len() {
            return Outcome::None;
        }
        let from = boundary_from(text, from);
        let found = if self.has_disputed_words(text) {
            self.words().map(|exact| exact.find(text, from, budget))
        } else if text.is_ascii() {
            Some(self.ascii.find(text, from, budget))
        } else {
            self.full().map(|engine| engine.find(text, from, budget))
        };
        found.unwrap_or(Outcome::Exhausted {
            why: Exhaustion::Compile,
        })
    }

    fn full(&self) -> Option<&Engine> {
        let compile = || Engine::compile(&self.pattern, Charset::Full).ok();
        self.full.get_or_init(compile).as_ref()
    }

    fn words(&self) -> Option<&Backtracking> {
        let compile = || {
            Backtracking::compile(&self.pattern, Charset::Full)
                .ok()
                .map(Box::new)
        };
        self.words.get_or_init(compile).as_deref()
    }

    /// Whether the linear `\b` or `\B` could differ from Python's on the text.
    fn has_disputed_words(&self, text: &str) -> bool {
        static CLASS: OnceLock<Option<regex::Regex>> = OnceLock::new();
        if matches!(self.ascii, Engine::Backtracking(_)) {
            return false;
        }
        if text.is_ascii() {
            return text.is_empty() && self.pattern.has_no_boundary();
        }
        let class = || CLASS.get_or_init(|| regex::Regex::new(DISPUTED).ok());
        self.pattern.has_word_boundary() && class().as_ref().is_none_or(|c| c.is_match(text))
    }
}

impl Engine {
    fn compile(pattern: &Pattern, charset: Charset) -> Result<Engine, RegexError> {
        Ok(match pattern.is_linear() {
            true => Engine::Linear(Linear {
                regex: compile_linear(&pattern.spell(Dialect::Linear, charset))?,
                final_newline: pattern.has_final_newline(),
            }),
            false => Engine::Backtracking(Box::new(Backtracking::compile(pattern, charset)?)),
        })
    }

    fn find(&self, text: &str, from: usize, budget: &mut Budget) -> Outcome {
        match self {
            Engine::Linear(linear) => linear.find(text, from),
            Engine::Backtracking(exact) => exact.find(text, from, budget),
        }
    }
}

/// A linear spelling.
#[derive(Debug)]
struct Linear {
    regex: regex::Regex,
    /// The spelling has a `$`, which captures a final newline that it stands before.
    final_newline: bool,
}

impl Linear {
    fn find(&self, text: &str, from: usize) -> Outcome {
        let found = if self.final_newline && text.ends_with('\n') {
            self.regex.captures_at(text, from).and_then(|captures| {
                let newline = captures.iter().skip(1).flatten().next();
                let whole = captures.get(0)?;
                Some(whole.start()..newline.map_or(whole.end(), |newline| newline.start()))
            })
        } else {
            self.regex.find_at(text, from).map(|found| found.range())
        };
        found.map_or(Outcome::None, Outcome::Match)
    }
}

/// The backtracking engine and its prefilter.
#[derive(Debug)]
struct Backtracking {
    relaxed: regex::Regex,
    /// Runs under few steps.
    quick: fancy_regex::Regex,
    /// The same with all steps, made when the first place asks for it.
    patient: OnceLock<Option<fancy_regex::Regex>>,
    /// Characters shown before a place, one more than the pattern reaches.
    left: usize,
    /// Bytes shown after a place.
    right: usize,
    /// How often a trial is paid.
    price: u64,
}

impl Backtracking {
    fn compile(pattern: &Pattern, charset: Charset) -> Result<Self, RegexError> {
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
            right: usize::try_from(looks_right).map_or(MAX_RIGHT, |right| right.min(MAX_RIGHT)),
            price: 1 + size / USUAL_SIZE,
        })
    }

    fn find(&self, text: &str, from: usize, budget: &mut Budget) -> Outcome {
        let mut from = from;
        while let Some(possible) = self.possible_match(text, from) {
            let start = possible.start;
            let begin = back(text, start, self.left);
            let end = boundary_from(text, start.saturating_add(self.right));
            let Some(slice) = text.get(begin..end) else {
                return Outcome::None;
            };
            let searched = slice.len().saturating_add(possible.len());
            if !budget.pay(PLACE_COST + searched / BYTES_PER_COST, self.price) {
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
        if !budget.pay(SECOND_TRIAL_COST, self.price) {
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
            let end = boundary_from(text, block_end.saturating_add(self.right));
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

fn compile_linear(spelling: &str) -> Result<regex::Regex, RegexError> {
    regex::RegexBuilder::new(spelling)
        .size_limit(COMPILED_LIMIT)
        .dfa_size_limit(AUTOMATON_LIMIT)
        .nest_limit(NEST_LIMIT)
        .build()
        .map_err(|error| match error {
            regex::Error::CompiledTooBig(limit) => RegexError::new(format!(
                "compiles to more than {limit} bytes (lower its repetition counts)"
            )),
            error => RegexError::new(one_line(&error.to_string())),
        })
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

/// The last line of an engine's message; the ones before it show the rewritten pattern.
fn one_line(message: &str) -> Cow<'_, str> {
    Cow::Borrowed(message.lines().last().unwrap_or(message).trim())
}

/// The next place between two characters, or the end of the text.
fn boundary_from(text: &str, at: usize) -> usize {
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

#[cfg(test)]
impl Matcher {
    pub(super) fn is_linear(&self) -> bool {
        self.pattern.is_linear()
    }

    /// The answers of all forms of the pattern that are meant for the text.
    pub(super) fn find_in_every_form(&self, text: &str) -> Vec<Outcome> {
        let budget = &mut Budget::new();
        let mut answers = vec![self.find(text, budget)];
        if !self.has_disputed_words(text) {
            answers.push(self.full().unwrap().find(text, 0, budget));
        }
        if let (true, Ok(exact)) = (
            text.is_ascii(),
            Backtracking::compile(&self.pattern, Charset::Ascii),
        ) {
            answers.push(exact.find(text, 0, budget));
        }
        if let Some(exact) = self.words() {
            answers.push(exact.find(text, 0, budget));
        }
        answers
    }
}
