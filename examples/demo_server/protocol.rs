//! JSON-RPC messages, error codes and protocol versions. No input, output or state.

use serde::Serialize;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

/// The protocol versions that this server speaks, oldest first.
const VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// The newest version, offered to a client that asks for one we do not know.
pub(crate) const NEWEST: &str = VERSIONS[VERSIONS.len() - 1];

/// The only version in which a line may hold an array of messages.
pub(crate) const BATCHING: &str = "2025-03-26";

/// Answers with the version that was asked for if it is one of ours, with the newest otherwise.
pub(crate) fn negotiate(asked: &str) -> &'static str {
    VERSIONS
        .into_iter()
        .find(|known| *known == asked)
        .unwrap_or(NEWEST)
}

/// The result of a request, already written as JSON text so that members keep the order in which
/// the types of this program declare them.
pub(crate) type Answer = Result<Box<RawValue>, Failure>;

/// Writes a result as JSON text.
pub(crate) fn result(value: &impl Serialize) -> Answer {
    to_raw_value(value).map_err(|error| Failure {
        code: Failure::INTERNAL,
        message: error.to_string(),
    })
}

/// A JSON-RPC error object.
#[derive(Debug, Serialize)]
pub(crate) struct Failure {
    pub(crate) code: i64,
    pub(crate) message: String,
}

impl Failure {
    const PARSE: i64 = -32700;
    const INVALID_REQUEST: i64 = -32600;
    const METHOD_NOT_FOUND: i64 = -32601;
    const INVALID_PARAMS: i64 = -32602;
    const INTERNAL: i64 = -32603;
    /// MCP's own code, out of the range that JSON-RPC leaves to servers.
    const RESOURCE_NOT_FOUND: i64 = -32002;

    pub(crate) fn parse(error: &serde_json::Error) -> Self {
        Self::new(Self::PARSE, format!("not JSON: {error}"))
    }

    pub(crate) fn invalid_request(why: &str) -> Self {
        Self::new(Self::INVALID_REQUEST, why.to_owned())
    }

    pub(crate) fn method_not_found(method: &str) -> Self {
        Self::new(Self::METHOD_NOT_FOUND, format!("no method {method:?}"))
    }

    pub(crate) fn invalid_params(why: impl Into<String>) -> Self {
        Self::new(Self::INVALID_PARAMS, why.into())
    }

    pub(crate) fn resource_not_found(uri: &str) -> Self {
        Self::new(Self::RESOURCE_NOT_FOUND, format!("no resource {uri:?}"))
    }

    fn new(code: i64, message: String) -> Self {
        Self { code, message }
    }
}

/// What one JSON value from the client means.
pub(crate) enum Incoming {
    Request {
        id: Value,
        method: String,
        params: Value,
    },
    Notification {
        method: String,
        params: Value,
    },
    /// The client's answer to a request of ours: its result, or its error object.
    Answer {
        id: Value,
        outcome: Result<Value, Value>,
    },
    /// Something that JSON-RPC does not allow; the answer goes to `id`, which may be null.
    Invalid {
        id: Value,
        why: &'static str,
    },
}

impl Incoming {
    pub(crate) fn from_json(message: Value) -> Self {
        let Value::Object(mut members) = message else {
            return Self::Invalid {
                id: Value::Null,
                why: "a message is a JSON object",
            };
        };
        let id = members.remove("id");
        let params = members.remove("params").unwrap_or(Value::Null);
        match (members.remove("method"), id) {
            (Some(Value::String(method)), None) => Self::Notification { method, params },
            (Some(Value::String(method)), Some(id @ (Value::String(_) | Value::Number(_)))) => {
                Self::Request { id, method, params }
            }
            (Some(Value::String(_)), Some(_)) => Self::Invalid {
                id: Value::Null,
                why: "an id is a string or a number",
            },
            (Some(_), id) => Self::Invalid {
                id: id.unwrap_or(Value::Null),
                why: "a method is a string",
            },
            (None, id) => {
                let id = id.unwrap_or(Value::Null);
                match (members.remove("result"), members.remove("error")) {
                    (Some(result), None) => Self::Answer {
                        id,
                        outcome: Ok(result),
                    },
                    (None, Some(error)) => Self::Answer {
                        id,
                        outcome: Err(error),
                    },
                    _ => Self::Invalid {
                        id,
                        why: "a message has a method, a result or an error",
                    },
                }
            }
        }
    }
}

/// A request or notification from this server to the client.
#[derive(Serialize)]
pub(crate) struct Outgoing<P> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    method: &'static str,
    params: P,
}

impl<P: Serialize> Outgoing<P> {
    pub(crate) fn request(id: String, method: &'static str, params: P) -> Self {
        Self {
            jsonrpc: "2.0",
            id: Some(id),
            method,
            params,
        }
    }

    pub(crate) fn notification(method: &'static str, params: P) -> Self {
        Self {
            jsonrpc: "2.0",
            id: None,
            method,
            params,
        }
    }
}

/// This server's answer to a request of the client.
#[derive(Serialize)]
pub(crate) struct Response {
    jsonrpc: &'static str,
    id: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Failure>,
}

impl Response {
    pub(crate) fn new(id: Value, answer: Answer) -> Self {
        let (result, error) = match answer {
            Ok(result) => (Some(result), None),
            Err(failure) => (None, Some(failure)),
        };
        Self {
            jsonrpc: "2.0",
            id,
            result,
            error,
        }
    }
}
