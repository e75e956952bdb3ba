//! Every request that a client can make, but for tool calls.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::catalogue;
use crate::protocol::{self, Answer, Failure, result};
use crate::session::{Edition, LEVELS, Session};
use crate::tools;

/// Answers a request. Requests before `initialize` are answered too: the handshake only changes
/// what this server may ask of the client.
pub(crate) fn answer(session: &Session, method: &str, params: Value) -> Answer {
    match method {
        "initialize" => initialize(session, params),
        "ping" => result(&json!({})),
        "logging/setLevel" => set_level(session, params),
        "tools/list" => result(&tools::List::of(session.edition)),
        "prompts/list" => result(&catalogue::prompts()),
        "prompts/get" => catalogue::prompt(params),
        "resources/list" => result(&catalogue::resources()),
        "resources/templates/list" => result(&catalogue::templates()),
        "resources/read" => catalogue::read(params),
        _ => Err(Failure::method_not_found(method)),
    }
}

/// Reads a request's parameters; what does not fit is the client's mistake.
pub(crate) fn parameters<'de, P: Deserialize<'de>>(params: Value) -> Result<P, Failure> {
    P::deserialize(params).map_err(|error| Failure::invalid_params(error.to_string()))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct InitializeParams {
    protocol_version: String,
    #[serde(default)]
    capabilities: Value,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct InitializeResult {
    protocol_version: &'static str,
    capabilities: Value,
    server_info: ServerInfo,
    instructions: &'static str,
}

#[derive(Serialize)]
struct ServerInfo {
    name: &'static str,
    version: &'static str,
}

fn initialize(session: &Session, params: Value) -> Answer {
    let params: InitializeParams = parameters(params)?;
    let version = protocol::negotiate(&params.protocol_version);
    session.open(version, params.capabilities);
    result(&InitializeResult {
        protocol_version: version,
        capabilities: json!({"logging": {}, "prompts": {}, "resources": {}, "tools": {}}),
        server_info: ServerInfo {
            name: "demo-server",
            version: match session.edition {
                Edition::Honest => "1.0.0",
                Edition::Poisoned => "2.0.0",
            },
        },
        instructions: "A demonstration server. Its tools need no set-up and touch no files.",
    })
}

#[derive(Deserialize)]
struct SetLevelParams {
    level: String,
}

fn set_level(session: &Session, params: Value) -> Answer {
    let params: SetLevelParams = parameters(params)?;
    let level = LEVELS
        .iter()
        .position(|name| *name == params.level)
        .ok_or_else(|| Failure::invalid_params(format!("no level {:?}", params.level)))?;
    session.set_level(level);
    result(&json!({}))
}
