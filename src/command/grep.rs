//! A regular expression that somebody typed, searched in text that somebody else
//! recorded.

use crate::pattern::{Budget, Flags, Matcher, Outcome};
use std::cell::RefCell;

/// A regular expression, on the linear engine unless it needs look-around or
/// back-references. Then it runs as the patterns of packs do: as Python reads it, in
/// slices, with a limit of steps at each place and one for all messages together.
pub(super) struct Pattern<'a> {
    written: &'a str,
    engine: Engine,
}

enum Engine {
    Linear(regex::Regex),
    Bounded(Box<Matcher>, RefCell<Budget>),
}

/// Why a pattern cannot be searched for.
#[derive(Debug, thiserror::Error)]
pub(super) enum GrepError {
    #[error("invalid --grep pattern '{pattern}': {reason}")]
    Invalid { pattern: String, reason: String },
    #[error(
        "--grep pattern '{pattern}' takes too many steps ({why}); \
         write it without look-around and back-references"
    )]
    TooManySteps { pattern: String, why: String },
}

impl<'a> Pattern<'a> {
    /// Compiles the pattern; the backtracking engine is for what the other refuses.
    pub(super) fn new(written: &'a str) -> Result<Self, GrepError> {
        let engine = match regex::Regex::new(written) {
            Ok(regex) => Engine::Linear(regex),
            Err(refusal) => {
                let matcher = Matcher::compile(written, Flags::default());
                let matcher = matcher.map_err(|second| GrepError::Invalid {
                    pattern: written.to_owned(),
                    reason: reason(&refusal, &second.to_string()),
                })?;
                Engine::Bounded(Box::new(matcher), RefCell::new(Budget::new()))
            }
        };
        Ok(Pattern { written, engine })
    }

    /// Whether it matches anywhere in the text.
    pub(super) fn matches(&self, text: &str) -> Result<bool, GrepError> {
        match &self.engine {
            Engine::Linear(regex) => Ok(regex.is_match(text)),
            Engine::Bounded(matcher, budget) => {
                match matcher.find(text, &mut budget.borrow_mut()) {
                    Outcome::Match(_) => Ok(true),
                    Outcome::None => Ok(false),
                    Outcome::Exhausted { why } => Err(GrepError::TooManySteps {
                        pattern: self.written.to_owned(),
                        why: why.to_string(),
                    }),
                }
            }
        }
    }
}

/// What is wrong with a pattern that neither engine takes.
fn reason(linear: &regex::Error, backtracking: &str) -> String {
    let linear = linear.to_string();
    // This engine draws the pattern over several lines; the last says what is wrong.
    let last = linear.lines().last().unwrap_or_default();
    let last = last.trim_start_matches("error: ");
    if last.contains("not supported") {
        backtracking.to_owned()
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
        let pattern = Pattern::new(r"(a|aa)+\1$").expect("a pattern");
        let text = format!("{}b", "a".repeat(256));
        assert!(matches!(
            pattern.matches(&text),
            Err(GrepError::TooManySteps { .. })
        ));
    }

    #[test]
    fn a_look_behind_and_a_search_in_vain_cost_no_more_than_the_text() {
        let vain = Pattern::new("(?=a)(a+)+b").expect("a pattern");
        let text = "a".repeat(1_000_000);
        assert!(!vain.matches(&text).expect("few steps"));
        let behind = Pattern::new("(?<!x)name").expect("a pattern");
        for _ in 0..100 {
            let text = format!("{} name", "y".repeat(20_000));
            assert!(behind.matches(&text).expect("few steps"));
        }
    }
}
