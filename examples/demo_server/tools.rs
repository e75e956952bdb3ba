//! Tool calls: which tool, with which arguments, and what its result looks like.
//!
//! A wrong argument is a result with `isError`, which the model sees and can correct. A tool that
//! does not exist is an error of the protocol, as the specification has it.

mod definitions;
mod quick;
mod waiting;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::methods::parameters;
use crate::protocol::{Answer, Failure, result};
use crate::session::{Call, Session, Stop};

pub(crate) use definitions::List;
pub(crate) use waiting::{MAX_DELAY_MS, MAX_STEPS};

/// A call of a known tool.
pub(crate) enum ToolCall {
    Quick(QuickCall),
    Waiting(WaitingCall),
}

/// A call that is answered at once.
pub(crate) struct QuickCall {
    work: QuickWork,
    arguments: Value,
}

/// A call that waits for a clock or for the client.
pub(crate) struct WaitingCall {
    work: WaitingWork,
    arguments: Value,
    progress_token: Option<Value>,
}

type QuickWork = fn(&Session, Value) -> Result<CallResult, String>;
type WaitingWork = fn(&Call<'_>, Value) -> Result<CallResult, Stop>;

enum Work {
    Quick(QuickWork),
    Waiting(WaitingWork),
}

#[derive(Deserialize)]
struct CallParams {
    name: String,
    #[serde(default = "no_arguments")]
    arguments: Value,
    #[serde(default, rename = "_meta")]
    meta: Value,
}

fn no_arguments() -> Value {
    json!({})
}

impl ToolCall {
    pub(crate) fn from_params(params: Value) -> Result<Self, Failure> {
        let params: CallParams = parameters(params)?;
        let arguments = params.arguments;
        let work = match params.name.as_str() {
            "echo" => Work::Quick(quick::echo),
            "add" => Work::Quick(quick::add),
            "counter" => Work::Quick(quick::counter),
            "notify" => Work::Quick(quick::notify),
            "slow" => Work::Waiting(waiting::slow),
            "summarize" => Work::Waiting(waiting::summarize),
            "ask_user" => Work::Waiting(waiting::ask_user),
            unknown => return Err(Failure::invalid_params(format!("no tool {unknown:?}"))),
        };
        Ok(match work {
            Work::Quick(work) => Self::Quick(QuickCall { work, arguments }),
            Work::Waiting(work) => Self::Waiting(WaitingCall {
                work,
                arguments,
                progress_token: params.meta.get("progressToken").cloned(),
            }),
        })
    }
}

impl QuickCall {
    pub(crate) fn run(self, session: &Session) -> Answer {
        let outcome = (self.work)(session, self.arguments);
        result(&outcome.unwrap_or_else(CallResult::error))
    }
}

impl WaitingCall {
    pub(crate) fn progress_token(&self) -> Option<Value> {
        self.progress_token.clone()
    }

    /// The answer, or none if the client cancelled the call.
    pub(crate) fn run(self, call: &Call<'_>) -> Option<Answer> {
        match (self.work)(call, self.arguments) {
            Ok(outcome) => Some(result(&outcome)),
            Err(Stop::Failed(why)) => Some(result(&CallResult::error(why))),
            Err(Stop::Cancelled) => None,
        }
    }
}

/// The result of a tool call.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CallResult {
    content: [Text; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_content: Option<Value>,
    is_error: bool,
}

#[derive(Serialize)]
struct Text {
    r#type: &'static str,
    text: String,
}

impl CallResult {
    fn text(text: impl Into<String>) -> Self {
        Self {
            content: [Text {
                r#type: "text",
                text: text.into(),
            }],
            structured_content: None,
            is_error: false,
        }
    }

    /// Structured content, and the same as text for clients that do not know it.
    fn structured(value: Value) -> Self {
        let text = value.to_string();
        Self {
            structured_content: Some(value),
            ..Self::text(text)
        }
    }

    fn error(why: String) -> Self {
        Self {
            is_error: true,
            ..Self::text(why)
        }
    }
}

/// Reads a tool's arguments; the error is for the model to read.
fn arguments<'de, A: Deserialize<'de>>(arguments: Value) -> Result<A, String> {
    A::deserialize(arguments).map_err(|error| format!("wrong arguments: {error}"))
}
