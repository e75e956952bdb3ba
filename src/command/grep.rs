//! A regular expression that somebody typed, searched in text that somebody else
//! recorded.

use std::cell::{Cell, OnceCell};

/// How often the backtracking engine may step back in one run, on all messages
/// together, before the pattern is refused. That takes it some seconds. What it needs
/// for a text that asks for no more than [`USUAL_STEPS`] is not counted.
const GREP_STEPS: usize = 32_000_000;

/// Steps for each byte of a text that every pattern gets. A look-behind takes one.
const USUAL_STEPS: usize = 2;

/// The smallest limit that a text is tried with, as a power of two, and how many there
/// are, each twice the one before. The engine does not tell how many steps it took, so
/// that a text costs what it was tried with.
const LEAST: u32 = 12;
const LIMITS: usize = 20;

/// A regular expression, on the linear engine unless it needs look-around or
/// back-references.
pub(super) struct Pattern<'a> {
    written: &'a str,
    engine: Engine,
}

enum Engine {
    Linear(regex::Regex),
    Backtracking(Box<Backtracking>),
}

/// The pattern with each of the limits, compiled when it is asked for, and what is left
/// of the steps of this run.
struct Backtracking {
    engines: [OnceCell<Option<fancy_regex::Regex>>; LIMITS],
    left: Cell<usize>,
}

/// Why a pattern cannot be searched for.
#[derive(Debug, thiserror::Error)]
pub(super) enum GrepError {
    #[error("invalid --grep pattern '{pattern}': {reason}")]
    Invalid { pattern: String, reason: String },
    #[error(
        "--grep pattern '{pattern}' takes too many steps; \
         write it without look-around and back-references, or choose fewer messages with --method"
    )]
    TooManySteps { pattern: String },
}

impl<'a> Pattern<'a> {
    /// Compiles the pattern; the backtracking engine is for what the other refuses.
    pub(super) fn new(written: &'a str) -> Result<Self, GrepError> {
        Pattern::with_limit(written, GREP_STEPS)
    }

    fn with_limit(written: &'a str, steps: usize) -> Result<Self, GrepError> {
        let engine = match regex::Regex::new(written) {
            Ok(regex) => Engine::Linear(regex),
            Err(refusal) => {
                let first = compile(written, 1 << LEAST).map_err(|second| GrepError::Invalid {
                    pattern: written.to_owned(),
                    reason: reason(&refusal, &second),
                })?;
                let mut first = Some(first);
                let engines = std::array::from_fn(|_| match first.take() {
                    Some(first) => OnceCell::from(Some(first)),
                    None => OnceCell::new(),
                });
                Engine::Backtracking(Box::new(Backtracking {
                    engines,
                    left: Cell::new(steps),
                }))
            }
        };
        Ok(Pattern { written, engine })
    }

    /// Whether it matches anywhere in the text.
    pub(super) fn matches(&self, text: &str) -> Result<bool, GrepError> {
        match &self.engine {
            Engine::Linear(regex) => Ok(regex.is_match(text)),
            Engine::Backtracking(engine) => {
                let found = engine.matches(self.written, text);
                found.ok_or_else(|| GrepError::TooManySteps {
                    pattern: self.written.to_owned(),
                })
            }
        }
    }
}

impl Backtracking {
    /// `None` if it takes more steps than are left.
    fn matches(&self, written: &str, text: &str) -> Option<bool> {
        let usual = text.len().saturating_mul(USUAL_STEPS);
        let mut free = true;
        for (power, engine) in (LEAST..).zip(&self.engines) {
            let limit = 1_usize << power;
            // One that is too small would only be tried in vain.
            if limit < usual {
                continue;
            }
            if !std::mem::take(&mut free) {
                self.left.set(self.left.get().checked_sub(limit)?);
            }
            let engine = engine.get_or_init(|| compile(written, limit).ok());
            if let Ok(found) = engine.as_ref()?.is_match(text) {
                return Some(found);
            }
        }
        None
    }
}

fn compile(written: &str, steps: usize) -> Result<fancy_regex::Regex, fancy_regex::Error> {
    fancy_regex::RegexBuilder::new(written)
        .backtrack_limit(steps)
        .build()
}

/// What is wrong with a pattern that neither engine takes.
fn reason(linear: &regex::Error, backtracking: &fancy_regex::Error) -> String {
    let linear = linear.to_string();
    // This engine draws the pattern over several lines; the last says what is wrong.
    let last = linear.lines().last().unwrap_or_default();
    let last = last.trim_start_matches("error: ");
    if last.contains("not supported") {
        backtracking.to_string()
    } else {
        last.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn look_around_and_back_references_work() {
        for (pattern, text, found) in [
            (r"(?<!x)name", "a name", true),
            (r"(?<!x)name", "xname", false),
            (r"(a)\1", "aa", true),
            (r"(?P<word>[a-z]+) (?P=word)", "the the", true),
        ] {
            let pattern = Pattern::new(pattern).expect("a pattern");
            assert_eq!(pattern.matches(text).expect("few steps"), found, "{text}");
        }
    }

    #[test]
    fn a_pattern_that_no_engine_takes_is_refused_with_the_reason() {
        let reason = |pattern| Pattern::new(pattern).err().expect("refused").to_string();
        assert_eq!(reason("("), "invalid --grep pattern '(': unclosed group");
        assert!(!reason("(?<=(a").contains("not supported"));
    }

    #[test]
    fn a_pattern_that_never_ends_is_given_up() {
        let pattern = Pattern::with_limit(r"(a|aa)+\1$", 10_000).expect("a pattern");
        let text = format!("{}b", "a".repeat(256));
        assert!(matches!(
            pattern.matches(&text),
            Err(GrepError::TooManySteps { .. })
        ));
    }

    #[test]
    fn all_messages_share_the_steps_and_simple_ones_take_none() {
        let pattern = Pattern::with_limit(r"(a|aa)+\1$", 400_000).expect("a pattern");
        let hard = format!("{}b", "a".repeat(18));
        let outcomes: Vec<bool> = (0..40).map(|_| pattern.matches(&hard).is_ok()).collect();
        assert!(outcomes[0], "one such text is cheap");
        assert!(!outcomes[39], "forty are not");
        let behind = Pattern::with_limit("(?<!x)name", 0).expect("a pattern");
        for _ in 0..100 {
            let text = format!("{} name", "y".repeat(20_000));
            assert!(behind.matches(&text).expect("no more than usual"));
        }
    }
}
