//! Runs a pack's regular expression over recorded text, always in bounded time and memory.
//!
//! Most patterns compile with the `regex` crate and cost time linear in the text; the others go to
//! `backtracking.rs`. Each has a small form for ASCII texts, which is compiled when the pack is
//! loaded, and one for all texts, which is compiled when the first such text comes.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use super::backtracking::{Backtracking, Budget, Exhaustion, boundary_from};
use super::syntax::Flags;
use super::translate::{Charset, DISPUTED, Dialect, Pattern, RegexError};

/// Estimated memory of one compiled pattern, in bytes. `\w{1,256}` fits, `\w{1,1000}` does not.
const MAX_COMPILED: u64 = 32 * 1024 * 1024;

/// The same as a limit of the engines, in case the estimate is too low.
pub(super) const COMPILED_LIMIT: usize = 32 * 1024 * 1024;

/// Memory of one lazily filled automaton, in bytes.
pub(super) const AUTOMATON_LIMIT: usize = 1024 * 1024;

/// Nesting of the written pattern: each group of the parser's limit may become a few levels.
const NEST_LIMIT: u32 = 400;

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
    pub(crate) fn compiled_bytes(&self) -> u64 {
        self.pattern.root.compiled_bytes()
    }

    /// Finds the leftmost match, as Python's `search` does.
    pub(crate) fn find(&self, text: &str, budget: &mut Budget) -> Outcome {
        match self.form_for(text) {
            Some(form) => form.find(text, 0, budget),
            None => Outcome::Exhausted {
                why: Exhaustion::Compile,
            },
        }
    }

    /// All matches from left to right, as Python's `finditer` gives them. A search that is given
    /// up is the last item.
    pub(crate) fn find_all<'a>(&'a self, text: &'a str, budget: &'a mut Budget) -> Matches<'a> {
        Matches {
            form: self.form_for(text),
            text,
            from: Some(0),
            budget,
        }
    }

    /// The form of the pattern that is right for a text.
    fn form_for(&self, text: &str) -> Option<Form<'_>> {
        if self.has_disputed_words(text) {
            return self.words().map(Form::Backtracking);
        }
        let engine = if text.is_ascii() {
            &self.ascii
        } else {
            self.full()?
        };
        Some(match engine {
            Engine::Linear(linear) => Form::Linear(linear),
            Engine::Backtracking(exact) => Form::Backtracking(exact),
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
}

/// The form of a pattern that searches one text.
#[derive(Clone, Copy, Debug)]
enum Form<'m> {
    Linear(&'m Linear),
    Backtracking(&'m Backtracking),
}

impl Form<'_> {
    fn find(&self, text: &str, from: usize, budget: &mut Budget) -> Outcome {
        match self {
            Form::Linear(linear) => linear.find(text, from),
            Form::Backtracking(exact) => exact.find(text, from, budget),
        }
    }
}

/// The matches of a pattern in a text; made by [`Matcher::find_all`].
#[derive(Debug)]
pub(crate) struct Matches<'a> {
    form: Option<Form<'a>>,
    text: &'a str,
    /// Where the next search begins; nothing when the last one found nothing.
    from: Option<usize>,
    budget: &'a mut Budget,
}

impl Iterator for Matches<'_> {
    type Item = Result<Range<usize>, Exhaustion>;

    fn next(&mut self) -> Option<Self::Item> {
        let from = self.from.take()?;
        let Some(form) = self.form else {
            return Some(Err(Exhaustion::Compile));
        };
        match form.find(self.text, from, self.budget) {
            Outcome::None => None,
            Outcome::Exhausted { why } => Some(Err(why)),
            Outcome::Match(found) => {
                // After an empty match the search goes on behind the next character.
                self.from = match found.is_empty() {
                    false => Some(found.end),
                    true if found.end >= self.text.len() => None,
                    true => Some(boundary_from(self.text, found.end + 1)),
                };
                Some(Ok(found))
            }
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

pub(super) fn compile_linear(spelling: &str) -> Result<regex::Regex, RegexError> {
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

/// The last line of an engine's message; the ones before it show the rewritten pattern.
pub(super) fn one_line(message: &str) -> Cow<'_, str> {
    Cow::Borrowed(message.lines().last().unwrap_or(message).trim())
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
            let full = match self.full().unwrap() {
                Engine::Linear(linear) => linear.find(text, 0),
                Engine::Backtracking(exact) => exact.find(text, 0, budget),
            };
            answers.push(full);
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
