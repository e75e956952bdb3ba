//! Which messages `inspect` is asked about.

use super::Options;
use super::summary::raw_text;
use crate::cassette::Message;
use crate::command::grep::{GrepError, Pattern};
use crate::wire::compact;

/// Which messages are chosen.
pub(super) struct Filter<'a> {
    method: Option<&'a str>,
    grep: Option<Pattern<'a>>,
}

impl<'a> Filter<'a> {
    pub(super) fn new(options: &'a Options) -> Result<Self, GrepError> {
        Ok(Filter {
            method: options.method.as_deref(),
            grep: match &options.grep {
                Some(written) => Some(Pattern::new(written)?),
                None => None,
            },
        })
    }

    pub(super) fn wants(&self, message: &Message<'_>) -> Result<bool, GrepError> {
        if let Some(method) = self.method
            && message.method().as_deref() != Some(method)
        {
            return Ok(false);
        }
        match &self.grep {
            None => Ok(true),
            Some(pattern) => matches_payload(pattern, message),
        }
    }
}

/// Searches the payload as a reader would type it, then in the spelling that
/// 0.4.0 searched: in ASCII and with sorted members.
fn matches_payload(pattern: &Pattern<'_>, message: &Message<'_>) -> Result<bool, GrepError> {
    let payload = message.row.payload;
    if let Some(text) = raw_text(message) {
        return pattern.matches(&text);
    }
    if pattern.matches(&compact::readable(message.text, payload))? {
        return Ok(true);
    }
    match compact::sorted_ascii(message.text, payload) {
        Some(spelling) => pattern.matches(&spelling),
        None => Ok(false),
    }
}
