//! Which parts of a message are data, which belong to the protocol and which define
//! something. Redaction is for data: a token that pages or matches must come back as it
//! was, and `inputSchema.properties.token` describes a token, it is not one.

use crate::wire::json::{Kind, Scanner, Span};
use crate::wire::mcp::method;

/// What a value is, by the way to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Zone {
    /// A JSON-RPC message.
    Message {
        /// Whether a result may be a listing of definitions.
        listing: bool,
        /// Whether `params.name` is the name of a tool or prompt.
        named: bool,
    },
    /// A JSON-RPC batch.
    Batch,
    Params {
        named: bool,
    },
    Result {
        listing: bool,
    },
    Meta,
    Task,
    /// The requests inside an `input_required` result, by name.
    Requests,
    /// Arguments, results and everything else that carries data.
    Data,
    /// A tool, prompt or resource definition or instructions: only secrets go.
    Definition,
    /// The protocol's own: nothing is touched.
    Protocol,
}

/// Whether the answer to a request of that method may list definitions; an unknown
/// request may have been one.
pub(super) fn lists_definitions(answers: Option<&str>) -> bool {
    answers.is_none_or(|request| {
        matches!(
            request,
            method::TOOLS_LIST
                | method::PROMPTS_LIST
                | method::RESOURCES_LIST
                | method::TEMPLATES_LIST
                | method::INITIALIZE
                | method::DISCOVER
        )
    })
}

/// Whether the `name` among the parameters of a method is the protocol's.
pub(super) fn has_name(called: Option<&str>) -> bool {
    matches!(called, Some(method::TOOLS_CALL | method::PROMPTS_GET))
}

impl Zone {
    /// What stands under a member.
    pub(super) fn member(self, name: &str) -> Zone {
        match self {
            Zone::Message { listing, named } => match name {
                "jsonrpc" | "id" | "method" => Zone::Protocol,
                "params" => Zone::Params { named },
                "result" => Zone::Result { listing },
                _ => Zone::Data,
            },
            Zone::Params { named } => match name {
                "name" if named => Zone::Protocol,
                "cursor" | "requestState" | "taskId" | "progressToken" | "requestId"
                | "protocolVersion" => Zone::Protocol,
                "_meta" => Zone::Meta,
                "task" => Zone::Task,
                "requestedSchema" | "tools" => Zone::Definition,
                _ => Zone::Data,
            },
            Zone::Result { listing } => match name {
                "nextCursor" | "requestState" | "taskId" | "protocolVersion" | "resultType" => {
                    Zone::Protocol
                }
                "tools" | "prompts" | "resources" | "resourceTemplates" if listing => {
                    Zone::Definition
                }
                "instructions" if listing => Zone::Definition,
                "_meta" => Zone::Meta,
                "task" => Zone::Task,
                "inputRequests" => Zone::Requests,
                _ => data_member(name),
            },
            Zone::Meta => match name {
                "progressToken"
                | "io.modelcontextprotocol/related-task"
                | "io.modelcontextprotocol/subscriptionId"
                | "io.modelcontextprotocol/protocolVersion" => Zone::Protocol,
                _ => Zone::Data,
            },
            Zone::Task => match name {
                "taskId" => Zone::Protocol,
                _ => Zone::Data,
            },
            Zone::Requests => Zone::Message {
                listing: false,
                named: true,
            },
            Zone::Data => data_member(name),
            Zone::Definition => Zone::Definition,
            Zone::Protocol => Zone::Protocol,
            Zone::Batch => Zone::Data,
        }
    }

    /// What stands in an array.
    pub(super) fn item(self) -> Zone {
        match self {
            Zone::Batch => Zone::Message {
                listing: true,
                named: true,
            },
            Zone::Definition | Zone::Protocol => self,
            _ => Zone::Data,
        }
    }

    /// Whether structural rules apply to the members of such a value.
    pub(super) fn has_data(self) -> bool {
        !matches!(self, Zone::Definition | Zone::Protocol)
    }
}

fn data_member(name: &str) -> Zone {
    match name {
        "inputSchema" | "outputSchema" | "requestedSchema" | "input_schema" | "output_schema" => {
            Zone::Definition
        }
        _ => Zone::Data,
    }
}

/// Whether a member further on in the object is the probability of what stands under the
/// current key. `key_end` is where the key ends.
pub(super) fn is_weighed(text: &str, key_end: u32) -> bool {
    const MEMBERS: usize = 4;
    let mut end = (key_end as usize + PEEK).min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let skip = |from: usize, sign: u8| {
        let rest = text.get(from..end)?;
        let at = from + rest.len() - rest.trim_start().len();
        (text.as_bytes().get(at) == Some(&sign)).then_some(at + 1)
    };
    let value = |from: usize| {
        let mut scanner = Scanner::over(text, Span::new(from, end));
        scanner.value().ok()
    };
    let mut name = "token";
    let mut at = key_end as usize;
    for _ in 0..MEMBERS {
        let found = skip(at, b':').and_then(value);
        let Some(found) = found else { return false };
        if name == "logprob" {
            return found.kind == Kind::Number;
        }
        let next = skip(found.span.end as usize, b',').and_then(value);
        let Some(key) = next.filter(|key| key.kind == Kind::String) else {
            return false;
        };
        name = key.span.of(text).trim_matches('"');
        at = key.span.end as usize;
    }
    false
}

/// How much of an object is read to tell a schema.
const PEEK: usize = 2048;

/// Whether the value that follows a `properties` key is that part of a JSON Schema: its
/// first member is an object that describes values. `key_end` is where the key ends.
pub(super) fn is_schema_properties(text: &str, key_end: u32) -> bool {
    const KEYWORDS: [&str; 14] = [
        "type",
        "$ref",
        "enum",
        "const",
        "anyOf",
        "oneOf",
        "allOf",
        "description",
        "format",
        "title",
        "items",
        "properties",
        "pattern",
        "additionalProperties",
    ];
    let start = key_end as usize;
    let rest = text.get(start..).unwrap_or_default();
    let colon = rest.len() - rest.trim_start_matches([' ', '\n', '\r', '\t', ':']).len();
    let span = Span::new(start + colon, (start + colon + PEEK).min(text.len()));
    let mut scanner = Scanner::over(text, span);
    let opens = |scanner: &mut Scanner<'_>| matches!(scanner.next_token(), Ok(Some(token)) if token.kind == Kind::BeginObject);
    if !opens(&mut scanner) || !matches!(scanner.next_key(), Ok(Some(_))) || !opens(&mut scanner) {
        return false;
    }
    let mut describes = false;
    while let Ok(Some(key)) = scanner.next_key() {
        let name = key.inner().of(text);
        if name == "value" {
            return false;
        }
        describes |= KEYWORDS.contains(&name);
        if scanner.value().is_err() {
            break;
        }
    }
    describes
}
