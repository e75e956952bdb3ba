//! Which messages `inspect` is asked about.

use super::Options;
use super::summary::raw_text;
use crate::cassette::Message;
use crate::wire::compact;

/// How often the backtracking engine may step on one message before the pattern
/// is refused: about a second of work.
const GREP_STEPS: usize = 10_000_000;

/// Which messages are chosen.
pub(super) struct Filter<'a> {
    method: Option<&'a str>,
    grep: Option<Pattern<'a>>,
}

/// A regular expression, on the linear engine unless it needs look-around or
/// back-references.
struct Pattern<'a> {
    written: &'a str,
    engine: Engine,
}

enum Engine {
    Linear(regex::Regex),
    Backtracking(fancy_regex::Regex),
}

impl<'a> Filter<'a> {
    pub(super) fn new(options: &'a Options) -> Result<Self, String> {
        Ok(Filter {
            method: options.method.as_deref(),
            grep: match &options.grep {
                Some(written) => Some(Pattern::new(written)?),
                None => None,
            },
        })
    }

    pub(super) fn wants(&self, message: &Message<'_>) -> Result<bool, String> {
        if let Some(method) = self.method
            && message.method().as_deref() != Some(method)
        {
            return Ok(false);
        }
        match &self.grep {
            None => Ok(true),
            Some(pattern) => pattern.matches_payload(message),
        }
    }
}

impl<'a> Pattern<'a> {
    fn new(written: &'a str) -> Result<Self, String> {
        let engine = match regex::Regex::new(written) {
            Ok(regex) => Engine::Linear(regex),
            Err(refusal) => fancy_regex::RegexBuilder::new(written)
                .backtrack_limit(GREP_STEPS)
                .build()
                .map(Engine::Backtracking)
                .map_err(|_| {
                    // The first engine draws the pattern over several lines; the
                    // last of them says what is wrong.
                    let refusal = refusal.to_string();
                    let reason = refusal.lines().last().unwrap_or_default();
                    let reason = reason.trim_start_matches("error: ");
                    format!("invalid --grep pattern '{written}': {reason}")
                })?,
        };
        Ok(Pattern { written, engine })
    }

    /// Searches the payload as a reader would type it, then in the spelling that
    /// 0.4.0 searched: in ASCII and with sorted members.
    fn matches_payload(&self, message: &Message<'_>) -> Result<bool, String> {
        let payload = message.row.payload;
        if let Some(text) = raw_text(message) {
            return self.matches(&text, message);
        }
        if self.matches(&compact::readable(message.text, payload), message)? {
            return Ok(true);
        }
        match compact::sorted_ascii(message.text, payload) {
            Some(spelling) => self.matches(&spelling, message),
            None => Ok(false),
        }
    }

    fn matches(&self, text: &str, message: &Message<'_>) -> Result<bool, String> {
        match &self.engine {
            Engine::Linear(regex) => Ok(regex.is_match(text)),
            Engine::Backtracking(regex) => regex.is_match(text).map_err(|_| {
                format!(
                    "--grep pattern '{}' takes too many steps on the message with seq {}; \
                     write it without look-around or back-references",
                    self.written,
                    message.seq()
                )
            }),
        }
    }
}
