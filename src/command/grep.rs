//! A regular expression that somebody typed, searched in text that somebody else
//! recorded.

/// How often the backtracking engine may step back on one message before the pattern
/// is refused. A look-behind takes a step for every character, and messages of 64 MiB
/// are recorded.
const GREP_STEPS: usize = 100_000_000;

/// A regular expression, on the linear engine unless it needs look-around or
/// back-references.
pub(super) struct Pattern<'a> {
    written: &'a str,
    engine: Engine,
}

enum Engine {
    Linear(regex::Regex),
    Backtracking(fancy_regex::Regex),
}

/// Why a pattern cannot be searched for.
#[derive(Debug, thiserror::Error)]
pub(super) enum GrepError {
    #[error("invalid --grep pattern '{pattern}': {reason}")]
    Invalid { pattern: String, reason: String },
    #[error(
        "--grep pattern '{pattern}' takes too many steps; \
         write it without look-around and back-references"
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
            Err(refusal) => fancy_regex::RegexBuilder::new(written)
                .backtrack_limit(steps)
                .build()
                .map(Engine::Backtracking)
                .map_err(|second| GrepError::Invalid {
                    pattern: written.to_owned(),
                    reason: reason(&refusal, &second),
                })?,
        };
        Ok(Pattern { written, engine })
    }

    /// Whether it matches anywhere in the text.
    pub(super) fn matches(&self, text: &str) -> Result<bool, GrepError> {
        match &self.engine {
            Engine::Linear(regex) => Ok(regex.is_match(text)),
            Engine::Backtracking(regex) => {
                regex.is_match(text).map_err(|_| GrepError::TooManySteps {
                    pattern: self.written.to_owned(),
                })
            }
        }
    }
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
}
