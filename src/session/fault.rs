//! Faults as values, and as the overlay file that `serve --faults` reads.

use super::SessionError;
use serde_json::{Map, Value, json};
use std::path::Path;
use std::time::Duration;

/// What goes wrong on purpose in a replay, in the order in which faults are tried.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FaultOverlay {
    json: Value,
}

/// One fault: when it fires, and what it does.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The method of the request, as `tools/call`.
    pub method: String,
    /// Only the request of that number among those of the method, from 1.
    pub nth: Option<u32>,
    /// Only calls of the tool of that name.
    pub tool: Option<String>,
    /// What happens.
    pub kind: FaultKind,
}

/// What a fault does to the answer of a request.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FaultKind {
    /// The answer comes later.
    Delay(Duration),
    /// No answer comes; the server goes on.
    Timeout,
    /// A JSON-RPC error comes instead.
    Error {
        /// The code; -32603 is an internal error.
        code: i64,
        /// The message.
        message: String,
    },
    /// Something broken comes instead.
    Malformed(Malformed),
    /// The server goes away.
    Disconnect {
        /// After it has answered.
        after_response: bool,
    },
}

/// How an answer is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// Cut in the middle.
    Truncate,
    /// Not JSON at all.
    NotJson,
    /// With an id that nobody asked with.
    WrongId,
}

impl Fault {
    /// A fault on every request of a method.
    pub fn new(method: impl Into<String>, kind: FaultKind) -> Fault {
        Fault {
            method: method.into(),
            nth: None,
            tool: None,
            kind,
        }
    }

    /// Only on the request of that number, from 1.
    #[must_use]
    pub fn nth(mut self, nth: u32) -> Fault {
        self.nth = Some(nth);
        self
    }

    /// Only on calls of that tool.
    #[must_use]
    pub fn tool(mut self, name: impl Into<String>) -> Fault {
        self.tool = Some(name.into());
        self
    }

    fn to_json(&self) -> Value {
        let mut target = Map::new();
        target.insert("method".into(), json!(self.method));
        if let Some(nth) = self.nth {
            target.insert("nth".into(), json!(nth));
        }
        if let Some(tool) = &self.tool {
            target.insert("tool".into(), json!(tool));
        }
        let (kind, params) = self.kind.to_json();
        json!({"target": target, "type": kind, "params": params})
    }
}

impl FaultKind {
    fn to_json(&self) -> (&'static str, Value) {
        match self {
            FaultKind::Delay(delay) => {
                let ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
                ("delay", json!({"ms": ms}))
            }
            FaultKind::Timeout => ("timeout", json!({})),
            FaultKind::Error { code, message } => {
                ("error", json!({"code": code, "message": message}))
            }
            FaultKind::Malformed(strategy) => ("malformed", json!({"strategy": strategy.as_str()})),
            FaultKind::Disconnect { after_response } => {
                ("disconnect", json!({"after_response": after_response}))
            }
        }
    }
}

impl Malformed {
    fn as_str(self) -> &'static str {
        match self {
            Malformed::Truncate => "truncate",
            Malformed::NotJson => "not_json",
            Malformed::WrongId => "wrong_id",
        }
    }
}

impl FaultOverlay {
    /// Reads an overlay file. Its members are checked when the replay starts.
    ///
    /// # Errors
    ///
    /// A file that cannot be read or is not JSON.
    pub fn from_file(path: impl AsRef<Path>) -> Result<FaultOverlay, SessionError> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path)
            .map_err(|error| SessionError::Faults(format!("{}: {error}", path.display())))?;
        let json = serde_json::from_str(&text)
            .map_err(|error| SessionError::Faults(format!("{}: {error}", path.display())))?;
        Ok(FaultOverlay { json })
    }

    pub(super) fn to_json(&self) -> String {
        self.json.to_string()
    }
}

impl FromIterator<Fault> for FaultOverlay {
    fn from_iter<I: IntoIterator<Item = Fault>>(faults: I) -> FaultOverlay {
        let faults: Vec<Value> = faults.into_iter().map(|fault| fault.to_json()).collect();
        FaultOverlay {
            json: json!({ "faults": faults }),
        }
    }
}

impl From<Fault> for FaultOverlay {
    fn from(fault: Fault) -> FaultOverlay {
        FaultOverlay::from_iter([fault])
    }
}
