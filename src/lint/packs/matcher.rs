//! Runs a pack's regular expression over recorded text, always in bounded time and memory.
//!
//! Most patterns compile with the `regex` crate and cost time linear in the text. Look-around,
//! back-references and the like need a backtracking engine, which can take exponential time. It is
//! therefore given one window of the text at a time:
//!
//! - The relaxed spelling (see `translate.rs`) finds, in linear time, the next place where the
//!   pattern could match. A text without such a place costs nothing more.
//! - If the pattern looks at most [`MARGIN`] bytes ahead, the place is tried alone, in a slice that
//!   shows all that the pattern can see: to the left what its look-behinds reach, which Python
//!   bounds, to the right what the pattern reaches.
//! - Otherwise a window begins at the place. A match must start in the first [`CORE`] bytes of it;
//!   after them it shows another [`MARGIN`] bytes. The next window begins after the core.
//! - Each search runs under [`STEPS`] backtracking steps, and all searches of one [`Budget`]
//!   together under its bytes. Hitting either ends the search as [`Outcome::Exhausted`].
//!
//! Slices are cut between characters. So the answer is that of Python for patterns whose reach is
//! bounded, and for all texts that end within a window. A pattern without a bound (`.*` before a
//! back-reference, `(?!.*x)`) sees at least [`MARGIN`] bytes from where its match starts: a longer
//! match is cut short, missed or found although what stands further away forbids it.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;

use fancy_regex::RegexInput;

use super::syntax::Flags;
use super::translate::{Charset, DISPUTED, Dialect, Pattern, RegexError};

/// Matches start in the first kilobyte of a window: the worst patterns cost about the square of it.
const CORE: usize = 1024;

/// The most bytes that a window shows after its core.
const MARGIN: usize = 3 * 1024;

/// The most characters that a window shows before its core.
const MAX_LOOK_LEFT: u64 = 1024;

/// How much text is searched for a possible match at once.
const BLOCK: usize = 64 * 1024;

/// Backtracking steps a window; at this count the worst windows take milliseconds.
const STEPS: usize = 50_000;

/// What a search costs from the budget apart from the bytes of its slice.
const CALL_COST: usize = 64;

/// What a search that ran out of steps costs more.
const EXHAUSTED_COST: usize = 64 * 1024;

/// Bytes of windows for one pattern in one run.
const BUDGET: u64 = 8 * 1024 * 1024;

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

/// A pattern of this many instructions pays its windows once from the budget, a larger one more.
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
    words: OnceLock<Option<Windows>>,
}

#[derive(Debug)]
enum Engine {
    Linear(Linear),
    Windows(Windows),
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
    /// One window took too many backtracking steps.
    Steps,
    /// The pattern looked at too many windows in this run.
    Budget,
    /// The form of the pattern for text that is not ASCII could not be compiled.
    Compile,
}

impl fmt::Display for Exhaustion {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exhaustion::Steps => write!(out, "more than {STEPS} backtracking steps in one place"),
            Exhaustion::Budget => write!(out, "more than {BUDGET} bytes of backtracking search"),
            Exhaustion::Compile => out.write_str("too large for text that is not ASCII"),
        }
    }
}

/// What is left of the backtracking work that one pattern may do in one run.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    bytes: u64,
}

impl Budget {
    pub(crate) fn new() -> Self {
        Budget { bytes: BUDGET }
    }

    /// Pays for a slice of text, if enough is left.
    fn pay(&mut self, bytes: usize, price: u64) -> bool {
        let cost = u64::try_from(bytes)
            .unwrap_or(u64::MAX)
            .saturating_mul(price);
        let left = self.bytes.checked_sub(cost);
        self.bytes = left.unwrap_or(0);
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
            self.words().map(|windows| windows.find(text, from, budget))
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

    fn words(&self) -> Option<&Windows> {
        let compile = || Windows::compile(&self.pattern, Charset::Full).ok();
        self.words.get_or_init(compile).as_ref()
    }

    /// Whether the linear `\b` or `\B` could differ from Python's on the text.
    fn has_disputed_words(&self, text: &str) -> bool {
        static CLASS: OnceLock<Option<regex::Regex>> = OnceLock::new();
        if matches!(self.ascii, Engine::Windows(_)) {
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
            false => Engine::Windows(Windows::compile(pattern, charset)?),
        })
    }

    fn find(&self, text: &str, from: usize, budget: &mut Budget) -> Outcome {
        match self {
            Engine::Linear(linear) => linear.find(text, from),
            Engine::Windows(windows) => windows.find(text, from, budget),
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
struct Windows {
    relaxed: regex::Regex,
    exact: fancy_regex::Regex,
    /// Characters shown before a place, one more than the pattern reaches.
    left: usize,
    /// Bytes shown after a place or a core.
    right: usize,
    /// The reach is bounded and the places are few, so each is tried alone.
    place_by_place: bool,
    /// How often a window's bytes are paid.
    price: u64,
}

impl Windows {
    fn compile(pattern: &Pattern, charset: Charset) -> Result<Self, RegexError> {
        let looks_left = pattern.root.looks_left(&pattern.groups);
        let looks_right = pattern.root.looks_right(&pattern.groups);
        let size = pattern.root.unrolled();
        if looks_left > MAX_LOOK_LEFT {
            let why = format!("looks behind more than {MAX_LOOK_LEFT} characters");
            return Err(RegexError::new(why));
        }
        if size > MAX_BACKTRACKING_SIZE {
            return Err(RegexError::new(
                "too large for look-around, back-references, atomic groups or possessive \
                 quantifiers (lower its repetition counts)",
            ));
        }
        let relaxed = compile_linear(&pattern.spell(Dialect::Relaxed, charset))?;
        let right = usize::try_from(looks_right).unwrap_or(usize::MAX);
        let exact = fancy_regex::RegexBuilder::new(&pattern.spell(Dialect::Backtracking, charset))
            .backtrack_limit(STEPS)
            .delegate_size_limit(COMPILED_LIMIT)
            .delegate_dfa_size_limit(AUTOMATON_LIMIT)
            .max_prog_size(usize::try_from(8 * MAX_BACKTRACKING_SIZE).unwrap_or(usize::MAX))
            .build()
            .map_err(|error| refusal_of_backtracking(&error))?;
        Ok(Windows {
            exact,
            left: usize::try_from(looks_left.saturating_add(1)).unwrap_or(usize::MAX),
            right: right.min(MARGIN),
            place_by_place: right <= MARGIN && !relaxed.is_match(""),
            relaxed,
            price: 1 + size / USUAL_SIZE,
        })
    }

    fn find(&self, text: &str, from: usize, budget: &mut Budget) -> Outcome {
        match self.place_by_place {
            true => self.find_by_place(text, from, budget),
            false => self.find_by_window(text, from, budget),
        }
    }

    /// Tries each possible place alone, in a slice that shows all the pattern can see.
    fn find_by_place(&self, text: &str, from: usize, budget: &mut Budget) -> Outcome {
        let mut from = from;
        while let Some(start) = self.possible_match(text, from) {
            let begin = back(text, start, self.left);
            let end = boundary_from(text, start.saturating_add(self.right));
            let Some(slice) = text.get(begin..end) else {
                return Outcome::None;
            };
            if !budget.pay(slice.len() + CALL_COST, self.price) {
                return Outcome::Exhausted {
                    why: Exhaustion::Budget,
                };
            }
            let input = RegexInput::new(slice)
                .from_pos(start - begin)
                .anchored(true);
            match self.exact.find_input(input) {
                Ok(Some(found)) => {
                    return Outcome::Match(begin + found.start()..begin + found.end());
                }
                Ok(None) if start >= text.len() => return Outcome::None,
                Ok(None) => from = boundary_from(text, start + 1),
                Err(_) => return exhausted(budget),
            }
        }
        Outcome::None
    }

    fn find_by_window(&self, text: &str, from: usize, budget: &mut Budget) -> Outcome {
        let mut from = from;
        while let Some(start) = self.possible_match(text, from) {
            let core_end = boundary_from(text, start.saturating_add(CORE));
            let end = boundary_from(text, core_end.saturating_add(self.right));
            let begin = back(text, start, self.left);
            let Some(window) = text.get(begin..end) else {
                return Outcome::None;
            };
            if !budget.pay(window.len() + CALL_COST, self.price) {
                return Outcome::Exhausted {
                    why: Exhaustion::Budget,
                };
            }
            match self.exact.find_from_pos(window, start - begin) {
                Ok(Some(found)) if begin + found.start() < core_end || end == text.len() => {
                    return Outcome::Match(begin + found.start()..begin + found.end());
                }
                Ok(None) if end == text.len() => return Outcome::None,
                // A match that starts after the core may not have seen all that it depends on.
                Ok(_) => from = core_end,
                Err(_) => return exhausted(budget),
            }
        }
        Outcome::None
    }

    /// The next place where the pattern could match, searched block by block: the engine's own
    /// search would read to the end of the text each time.
    fn possible_match(&self, text: &str, from: usize) -> Option<usize> {
        let mut block = from;
        loop {
            let block_end = boundary_from(text, block.saturating_add(BLOCK));
            let end = boundary_from(text, block_end.saturating_add(CORE + self.right));
            let begin = back(text, block, 1);
            let found = self.relaxed.find_at(text.get(begin..end)?, block - begin);
            match found {
                Some(found) if begin + found.start() < block_end || end == text.len() => {
                    return Some(begin + found.start());
                }
                None if end == text.len() => return None,
                _ => block = block_end,
            }
        }
    }
}

/// A search that was given up was the most expensive kind.
fn exhausted(budget: &mut Budget) -> Outcome {
    budget.pay(EXHAUSTED_COST, 1);
    Outcome::Exhausted {
        why: Exhaustion::Steps,
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
impl Matcher {
    /// The answers of all forms of the pattern that are meant for the text.
    pub(super) fn find_in_every_form(&self, text: &str) -> Vec<Outcome> {
        let budget = &mut Budget::new();
        let mut answers = vec![self.find(text, budget)];
        if !self.has_disputed_words(text) {
            answers.push(self.full().unwrap().find(text, 0, budget));
        }
        if let (true, Ok(windows)) = (
            text.is_ascii(),
            Windows::compile(&self.pattern, Charset::Ascii),
        ) {
            answers.push(windows.find(text, 0, budget));
        }
        if let Some(windows) = self.words() {
            answers.push(windows.find(text, 0, budget));
        }
        answers
    }
}
