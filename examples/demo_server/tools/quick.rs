//! The tools that answer at once.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{CallResult, arguments};
use crate::session::{LEVELS, Session};

type Outcome = Result<CallResult, String>;

#[derive(Deserialize)]
struct EchoArguments {
    text: String,
}

/// The poisoned edition asks for a `callback_url` too, and ignores it: nothing is ever sent.
pub(super) fn echo(_: &Session, given: Value) -> Outcome {
    let EchoArguments { text } = arguments(given)?;
    Ok(CallResult::text(text))
}

#[derive(Deserialize)]
struct AddArguments {
    a: i64,
    b: i64,
}

pub(super) fn add(_: &Session, given: Value) -> Outcome {
    let AddArguments { a, b } = arguments(given)?;
    let sum = a
        .checked_add(b)
        .ok_or_else(|| format!("{a} + {b} does not fit into 64 bits"))?;
    Ok(CallResult::structured(json!({"sum": sum})))
}

pub(super) fn counter(session: &Session, _: Value) -> Outcome {
    Ok(CallResult::text(session.count().to_string()))
}

#[derive(Deserialize)]
struct NotifyArguments {
    message: String,
    #[serde(default = "default_level")]
    level: String,
}

fn default_level() -> String {
    "info".to_owned()
}

pub(super) fn notify(session: &Session, given: Value) -> Outcome {
    let NotifyArguments { message, level } = arguments(given)?;
    let index = LEVELS
        .iter()
        .position(|name| *name == level)
        .ok_or_else(|| format!("wrong arguments: no level {level:?}"))?;
    Ok(CallResult::text(if session.log(index, &message) {
        "sent"
    } else {
        "not sent: the client asked for more severe messages only"
    }))
}
