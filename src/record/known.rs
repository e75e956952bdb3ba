//! Values that passed beside the messages and must not stand in them either: ids of sessions,
//! credentials of headers and of the server's address.
//!
//! A server may repeat such a value in what it says. No rule of redaction can know it by its
//! shape, but the recorder has seen it.

use crate::redact::Redactor;
use crate::wire::json::write_string;
use aho_corasick::AhoCorasick;
use std::borrow::Cow;

/// Shorter values would be found everywhere, in bytes.
const SHORTEST: usize = 8;
/// Longer ones are none, in bytes.
const LONGEST: usize = 16 << 10;
/// So many are kept; what comes then takes the place of the oldest.
const MOST: usize = 1024;
/// What stands for a credential.
const REDACTED: &str = "REDACTED";

/// The values seen so far.
#[derive(Debug, Default)]
pub(super) struct Known {
    values: Vec<Value>,
    /// Finds them all; made when it is needed.
    finder: Option<AhoCorasick>,
}

struct Value {
    /// As it stands within a JSON string.
    text: String,
    stand_in: String,
}

/// A secret does not show.
impl std::fmt::Debug for Value {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.stand_in)
    }
}

impl Known {
    /// Takes the id of a session, and gives its stand-in.
    pub(super) fn add_session(&mut self, id: &str, redactor: &Redactor) -> String {
        let stand_in = redactor.session(id);
        self.add(id, stand_in.clone());
        stand_in
    }

    /// Takes a credential.
    pub(super) fn add_secret(&mut self, secret: &str) {
        self.add(secret, REDACTED.to_owned());
    }

    fn add(&mut self, value: &str, stand_in: String) {
        let mut quoted = String::new();
        write_string(value, &mut quoted);
        let text = quoted.get(1..quoted.len().saturating_sub(1));
        let text = text.unwrap_or_default();
        let fits = (SHORTEST..=LONGEST).contains(&text.len());
        if !fits || self.values.iter().any(|known| known.text == text) {
            return;
        }
        if self.values.len() >= MOST {
            self.values.remove(0);
        }
        self.values.push(Value {
            text: text.to_owned(),
            stand_in,
        });
        self.finder = None;
    }

    /// JSON text with stand-ins for the values, if there are some in it.
    pub(super) fn scrub<'a>(&mut self, text: &'a str) -> Cow<'a, str> {
        if self.values.is_empty() {
            return Cow::Borrowed(text);
        }
        let finder = match &self.finder {
            Some(finder) => finder,
            None => {
                let texts = self.values.iter().map(|value| &value.text);
                let built = AhoCorasick::builder()
                    .match_kind(aho_corasick::MatchKind::LeftmostLongest)
                    .build(texts);
                // It fails beyond sizes that the limits above do not reach.
                let Ok(built) = built else {
                    return Cow::Borrowed(text);
                };
                self.finder.insert(built)
            }
        };
        if !finder.is_match(text) {
            return Cow::Borrowed(text);
        }
        let stand_ins: Vec<&str> = self.values.iter().map(|v| v.stand_in.as_str()).collect();
        Cow::Owned(finder.replace_all(text, &stand_ins))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::Rules;

    #[test]
    fn what_passed_in_headers_gets_a_stand_in_wherever_it_stands() {
        let redactor = Redactor::new(&Rules::default()).unwrap();
        let mut known = Known::default();
        assert_eq!(known.scrub("\"abcdefgh\""), "\"abcdefgh\"");
        known.add_secret("short");
        known.add_secret("a\"quote-and-more");
        let stand_in = known.add_session("7f3b-session-one", &redactor);
        assert!(
            stand_in.starts_with("<SESSION>_") && stand_in.len() == 22,
            "{stand_in}"
        );
        assert_eq!(stand_in, known.add_session("7f3b-session-one", &redactor));
        assert_eq!(
            known.scrub(r#"{"t":"short a\"quote-and-more, (7f3b-session-one)"}"#),
            format!("{{\"t\":\"short REDACTED, ({stand_in})\"}}")
        );
        assert!(!format!("{known:?}").contains("7f3b"));
    }

    #[test]
    fn the_oldest_value_gives_way() {
        let mut known = Known::default();
        for number in 0..=MOST {
            known.add_secret(&format!("secret-{number:06}"));
        }
        assert_eq!(
            known.scrub("secret-000000 secret-000001"),
            "secret-000000 REDACTED"
        );
    }
}
