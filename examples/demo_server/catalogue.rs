//! The prompt, the resources and the resource template.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::methods::parameters;
use crate::protocol::{Answer, Failure, result};

const ABOUT: &str = "demo://about";
const LIMITS: &str = "demo://limits";
const GREETING: &str = "demo://greeting/";

pub(crate) fn prompts() -> Value {
    json!({"prompts": [{
        "name": "review",
        "title": "Code review",
        "description": "Asks for a short review of a piece of code.",
        "arguments": [{
            "name": "code",
            "description": "The code to review.",
            "required": true,
        }],
    }]})
}

#[derive(Deserialize)]
struct PromptParams {
    name: String,
    #[serde(default)]
    arguments: Value,
}

pub(crate) fn prompt(params: Value) -> Answer {
    let params: PromptParams = parameters(params)?;
    if params.name != "review" {
        return Err(Failure::invalid_params(format!(
            "no prompt {:?}",
            params.name
        )));
    }
    let code = params
        .arguments
        .get("code")
        .and_then(Value::as_str)
        .ok_or_else(|| Failure::invalid_params("argument `code` is a string, and required"))?;
    result(&json!({
        "description": "A short code review",
        "messages": [{
            "role": "user",
            "content": {
                "type": "text",
                "text": format!("Review this code for correctness and clarity:\n\n{code}"),
            },
        }],
    }))
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Resource {
    uri: &'static str,
    name: &'static str,
    description: &'static str,
    mime_type: &'static str,
}

const RESOURCES: [Resource; 2] = [
    Resource {
        uri: ABOUT,
        name: "about",
        description: "What this server is.",
        mime_type: "text/plain",
    },
    Resource {
        uri: LIMITS,
        name: "limits",
        description: "The largest values that the tool slow accepts.",
        mime_type: "application/json",
    },
];

#[derive(Serialize)]
pub(crate) struct Resources {
    resources: &'static [Resource],
}

pub(crate) fn resources() -> Resources {
    Resources {
        resources: &RESOURCES,
    }
}

pub(crate) fn templates() -> Value {
    json!({"resourceTemplates": [{
        "uriTemplate": format!("{GREETING}{{name}}"),
        "name": "greeting",
        "description": "A greeting for a name.",
        "mimeType": "text/plain",
    }]})
}

#[derive(Deserialize)]
struct ReadParams {
    uri: String,
}

pub(crate) fn read(params: Value) -> Answer {
    let ReadParams { uri } = parameters(params)?;
    let (mime_type, text) = match uri.as_str() {
        ABOUT => ("text/plain", "A small MCP server for examples.".to_owned()),
        LIMITS => (
            "application/json",
            json!({
                "steps": crate::tools::MAX_STEPS,
                "delay_ms": crate::tools::MAX_DELAY_MS,
            })
            .to_string(),
        ),
        _ => match uri.strip_prefix(GREETING) {
            Some(name) if !name.is_empty() => ("text/plain", format!("Hello, {name}!")),
            _ => return Err(Failure::resource_not_found(&uri)),
        },
    };
    result(&json!({"contents": [{"uri": uri, "mimeType": mime_type, "text": text}]}))
}
