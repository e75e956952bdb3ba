//! What a value is, by the member names on the way to it: the table behind the walk.

use super::{Defined, Origin, Surface};
use crate::wire::mcp::{Level, method};

/// What the walk is inside of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Context {
    Payload {
        params: Surface,
        result: Answer,
    },
    Answer(Answer),
    Definitions(Defined),
    Tool,
    Annotations,
    Schema {
        output: bool,
    },
    /// A container whose member names are names of properties.
    Properties {
        output: bool,
    },
    Prompt,
    /// The arguments of a prompt, and each of them.
    Arguments,
    Resource,
    ServerInfo,
    /// Everything below is this, and so are its member names unless they are the protocol's.
    All {
        surface: Surface,
        names: bool,
    },
    Content(Surface),
}

/// What a result answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Handshake,
    Listing(Defined),
    Call,
    Prompt,
    Resource,
    /// No request is known, so the members decide.
    Unknown,
    /// The client's answer.
    Client,
}

impl Context {
    pub(super) fn payload(origin: Origin<'_>) -> Context {
        let params = match (origin.from_server, origin.is_request) {
            (false, _) => Surface::Other,
            (true, true) => Surface::ServerRequest,
            (true, false) => Surface::Notification,
        };
        let result = match origin.method {
            _ if !origin.from_server => Answer::Client,
            Some(method::INITIALIZE | method::DISCOVER) => Answer::Handshake,
            Some(method::TOOLS_LIST) => Answer::Listing(Defined::Tool),
            Some(method::PROMPTS_LIST) => Answer::Listing(Defined::Prompt),
            Some(method::RESOURCES_LIST | method::TEMPLATES_LIST) => {
                Answer::Listing(Defined::Resource)
            }
            Some(method::TOOLS_CALL) => Answer::Call,
            Some(method::PROMPTS_GET) => Answer::Prompt,
            Some(method::RESOURCES_READ) => Answer::Resource,
            _ => Answer::Unknown,
        };
        Context::Payload { params, result }
    }

    /// The context of the value of the member `key`.
    pub(super) fn child(self, key: &str) -> Context {
        match self {
            Context::Payload { params, result } => match key {
                "params" => all(params, params.is_server_text()),
                "result" => Context::Answer(result),
                _ if result == Answer::Client => all(Surface::Other, false),
                "error" => all(Surface::Error, true),
                "jsonrpc" | "id" | "method" => all(Surface::Other, false),
                // A client may log what it does not know, or show it.
                _ => all(Surface::Structured, true),
            },
            Context::Answer(answer) => answer.child(key),
            Context::Definitions(_) => all(Surface::Structured, true),
            Context::Tool => match key {
                "name" => all(Surface::ToolName, false),
                "title" => all(Surface::ToolTitle, true),
                "description" => all(Surface::ToolDescription, true),
                "inputSchema" => Context::Schema { output: false },
                "outputSchema" => Context::Schema { output: true },
                "annotations" => Context::Annotations,
                _ => all(Surface::ToolAnnotation, true),
            },
            Context::Annotations if key == "title" => all(Surface::ToolTitle, true),
            Context::Annotations => all(Surface::ToolAnnotation, true),
            Context::Schema { output } => schema_child(key, output),
            Context::Properties { output } => Context::Schema { output },
            Context::Prompt if key == "arguments" => Context::Arguments,
            Context::Prompt | Context::Arguments => all(
                Surface::Prompt,
                !matches!(key, "arguments" | "name" | "title" | "description"),
            ),
            Context::Resource => all(Surface::Resource, true),
            Context::ServerInfo => all(Surface::ServerInfo, true),
            Context::Content(surface) => match key {
                "blob" | "data" => all(Surface::Blob, false),
                _ => self_content(surface),
            },
            Context::All { .. } => self,
        }
    }

    /// The context of an element, for an array.
    pub(super) fn item(self) -> Context {
        match self {
            Context::Definitions(Defined::Tool) => Context::Tool,
            Context::Definitions(Defined::Prompt) => Context::Prompt,
            Context::Definitions(Defined::Resource) => Context::Resource,
            other => other,
        }
    }

    pub(super) fn defines(self) -> Option<Defined> {
        match self {
            Context::Tool => Some(Defined::Tool),
            Context::Prompt => Some(Defined::Prompt),
            Context::Resource => Some(Defined::Resource),
            _ => None,
        }
    }

    /// What a string is that stands here as a value.
    pub(super) fn surface(self) -> Surface {
        match self {
            Context::All { surface, .. } | Context::Content(surface) => surface,
            Context::Tool | Context::Annotations => Surface::ToolAnnotation,
            Context::Schema { output: false } => Surface::SchemaText,
            Context::Properties { output: false } => Surface::SchemaName,
            Context::Schema { output: true } | Context::Properties { output: true } => {
                Surface::OutputSchema
            }
            Context::Prompt | Context::Arguments => Surface::Prompt,
            Context::Resource => Surface::Resource,
            Context::ServerInfo => Surface::ServerInfo,
            Context::Payload { .. } => Surface::Other,
            Context::Answer(Answer::Client) => Surface::Other,
            Context::Answer(_) | Context::Definitions(_) => Surface::Structured,
        }
    }

    /// Which members of the protocol have a meaning here, if a server is speaking.
    pub(super) fn level(self) -> Option<Level> {
        match self {
            Context::Payload {
                result: Answer::Client,
                ..
            }
            | Context::Answer(Answer::Client) => None,
            Context::Payload { .. } => Some(Level::Message),
            Context::Answer(_) => Some(Level::Result),
            Context::Tool => Some(Level::Tool),
            Context::Annotations => Some(Level::Annotations),
            Context::Prompt => Some(Level::Prompt),
            Context::Arguments => Some(Level::Argument),
            Context::Resource => Some(Level::Resource),
            _ => None,
        }
    }

    /// What a member name is here; `None` for names that the protocol gives.
    pub(super) fn name_surface(self, name: &str) -> Option<Surface> {
        match self {
            Context::Properties { output: false } => Some(Surface::SchemaName),
            Context::Properties { output: true } => Some(Surface::OutputSchema),
            Context::Schema { output } if !SCHEMA_KEYWORDS.contains(&name) => Some(if output {
                Surface::OutputSchema
            } else {
                Surface::SchemaName
            }),
            Context::Tool if !TOOL_MEMBERS.contains(&name) => Some(Surface::ToolAnnotation),
            Context::Annotations if !ANNOTATION_MEMBERS.contains(&name) => {
                Some(Surface::ToolAnnotation)
            }
            Context::All {
                surface,
                names: true,
            } => Some(surface),
            Context::Prompt | Context::Arguments | Context::Resource
                if self.level().is_some_and(|level| !level.has(name)) =>
            {
                Some(self.surface())
            }
            Context::Payload { .. } if self.level().is_some_and(|level| !level.has(name)) => {
                Some(Surface::Structured)
            }
            Context::Answer(answer)
                if answer != Answer::Client && !RESULT_MEMBERS.contains(&name) =>
            {
                Some(Surface::Structured)
            }
            _ => None,
        }
    }
}

pub(super) fn all(surface: Surface, names: bool) -> Context {
    Context::All { surface, names }
}

fn self_content(surface: Surface) -> Context {
    Context::Content(surface)
}

impl Answer {
    fn child(self, key: &str) -> Context {
        match (self, key) {
            (Answer::Client, _) => all(Surface::Other, false),
            (_, "inputRequests") => all(Surface::ServerRequest, true),
            (Answer::Handshake | Answer::Unknown, "instructions") => {
                all(Surface::Instructions, true)
            }
            // Definitions are definitions whatever was asked: two readers may pair
            // a response with two requests.
            (_, "tools") => Context::Definitions(Defined::Tool),
            (_, "prompts") => Context::Definitions(Defined::Prompt),
            (_, "resources" | "resourceTemplates") => Context::Definitions(Defined::Resource),
            (Answer::Handshake, _) | (Answer::Unknown, "serverInfo") => Context::ServerInfo,
            (Answer::Prompt, _) => Context::Content(Surface::PromptMessage),
            (Answer::Resource, _) => Context::Content(Surface::ResourceText),
            (Answer::Call | Answer::Unknown, "content" | "contents") => {
                Context::Content(Surface::Result)
            }
            (_, "nextCursor" | "resultType" | "requestState") => all(Surface::Other, false),
            _ => all(Surface::Structured, true),
        }
    }
}

fn schema_child(key: &str, output: bool) -> Context {
    let text = |surface| {
        all(
            if output {
                Surface::OutputSchema
            } else {
                surface
            },
            true,
        )
    };
    match key {
        "description" => text(Surface::SchemaDescription),
        "enum" | "const" => text(Surface::SchemaEnum),
        "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas"
        | "dependentRequired" => Context::Properties { output },
        "required" => text(Surface::SchemaName),
        "items"
        | "prefixItems"
        | "additionalItems"
        | "additionalProperties"
        | "anyOf"
        | "oneOf"
        | "allOf"
        | "not"
        | "if"
        | "then"
        | "else"
        | "contains"
        | "propertyNames"
        | "unevaluatedItems"
        | "unevaluatedProperties"
        | "contentSchema" => Context::Schema { output },
        _ => text(Surface::SchemaText),
    }
}

/// The vocabulary of JSON Schema (draft-07 and 2020-12) and of OpenAPI's dialect,
/// whose names say nothing.
const SCHEMA_KEYWORDS: &[&str] = &[
    "$anchor",
    "$comment",
    "$defs",
    "$dynamicAnchor",
    "$dynamicRef",
    "$id",
    "$ref",
    "$schema",
    "$vocabulary",
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "contains",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "default",
    "definitions",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "deprecated",
    "description",
    "discriminator",
    "else",
    "enum",
    "example",
    "examples",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "if",
    "items",
    "maxContains",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minContains",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "nullable",
    "oneOf",
    "pattern",
    "patternProperties",
    "prefixItems",
    "properties",
    "propertyNames",
    "readOnly",
    "required",
    "then",
    "title",
    "type",
    "unevaluatedItems",
    "unevaluatedProperties",
    "uniqueItems",
    "writeOnly",
];

/// The members of a tool as of revision 2026-07-28 (older ones have fewer).
const TOOL_MEMBERS: &[&str] = &[
    "_meta",
    "annotations",
    "description",
    "execution",
    "icons",
    "inputSchema",
    "name",
    "outputSchema",
    "title",
];

/// The members of all results of the protocol as of revision 2026-07-28.
const RESULT_MEMBERS: &[&str] = &[
    "_meta",
    "cacheScope",
    "capabilities",
    "completion",
    "content",
    "contents",
    "description",
    "inputRequests",
    "instructions",
    "isError",
    "messages",
    "nextCursor",
    "prompts",
    "protocolVersion",
    "requestState",
    "resourceTemplates",
    "resources",
    "resultType",
    "serverInfo",
    "structuredContent",
    "supportedVersions",
    "tools",
    "ttlMs",
];

const ANNOTATION_MEMBERS: &[&str] = &[
    "destructiveHint",
    "idempotentHint",
    "openWorldHint",
    "readOnlyHint",
    "title",
];
