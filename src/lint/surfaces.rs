//! Every recorded text that a person or a model may come to read, with what it is.
//!
//! One walk over the tokens of a payload serves all rules. What a string is
//! follows from the member names on the way to it, through the table in
//! [`Context::child`]; nothing is parsed into a tree, and a repeated member is
//! visited as often as it stands there.

mod around;

use crate::secrets::prefilter::{may_hold_secret, next_run};
use crate::wire::json::{Kind, Scanner, Span, Token, decode};
use crate::wire::mcp::method;
use crate::wire::node::MAX_DEPTH;
use std::borrow::Cow;

pub(crate) use around::{around, walk_around};

/// What a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Surface {
    ToolName,
    /// `title` of a tool, and of its annotations.
    ToolTitle,
    ToolDescription,
    /// Whatever else stands in a tool: annotations, icons, `_meta`, unknown members.
    ToolAnnotation,
    /// Property names, `required` and unknown keywords of an input schema.
    SchemaName,
    SchemaDescription,
    /// `enum` and `const` of an input schema.
    SchemaEnum,
    /// Any other string of an input schema: titles, defaults, examples, patterns, comments.
    SchemaText,
    /// Strings and names of an output schema.
    OutputSchema,
    /// The server's instructions to the model.
    Instructions,
    /// `serverInfo` and what else stands beside it in the handshake.
    ServerInfo,
    /// The definition of a prompt.
    Prompt,
    /// A message of a prompt that was fetched.
    PromptMessage,
    /// The definition of a resource or of a resource template.
    Resource,
    /// The text of a resource that was read.
    ResourceText,
    /// Content of a result.
    Result,
    /// `structuredContent` of a result, and results of methods that we do not know.
    Structured,
    /// Binary content as base64: images, audio, blobs.
    Blob,
    /// `message` and `data` of an error.
    Error,
    /// What the server asks of the client: sampling, elicitation, `input_required`.
    ServerRequest,
    /// What the server tells the client unasked.
    Notification,
    /// A line that was no JSON-RPC message.
    Raw,
    /// What the client sent, and protocol members. Only secrets are looked for there.
    Other,
}

impl Surface {
    /// A part of what the server *is*, shown to the model before anything is called.
    pub(crate) fn is_definition(self) -> bool {
        self.is_tool()
            || matches!(
                self,
                Surface::Instructions | Surface::ServerInfo | Surface::Prompt | Surface::Resource
            )
    }

    /// A part of a tool's definition.
    pub(crate) fn is_tool(self) -> bool {
        self <= Surface::OutputSchema
    }

    /// A text inside a schema.
    pub(crate) fn is_schema(self) -> bool {
        (Surface::SchemaName..=Surface::OutputSchema).contains(&self)
    }

    /// Text that a server sent and that a model may read.
    pub(crate) fn is_server_text(self) -> bool {
        !matches!(self, Surface::Other | Surface::Blob)
    }

    /// What to call it in a message.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Surface::ToolName => "tool name",
            Surface::ToolTitle => "title",
            Surface::ToolDescription => "description",
            Surface::ToolAnnotation => "annotation",
            Surface::SchemaName => "parameter name",
            Surface::SchemaDescription => "schema description",
            Surface::SchemaEnum => "schema enum value",
            Surface::SchemaText => "schema text",
            Surface::OutputSchema => "output schema",
            Surface::Instructions => "server instructions",
            Surface::ServerInfo => "server info",
            Surface::Prompt => "prompt definition",
            Surface::PromptMessage => "prompt message",
            Surface::Resource => "resource definition",
            Surface::ResourceText => "resource text",
            Surface::Result => "result text",
            Surface::Structured => "structured result",
            Surface::Blob => "binary content",
            Surface::Error => "error text",
            Surface::ServerRequest => "server request",
            Surface::Notification => "notification",
            Surface::Raw => "line outside the protocol",
            Surface::Other => "message",
        }
    }
}

/// One string of a payload, or one member name.
#[derive(Clone, Debug)]
pub(crate) struct Text<'a> {
    pub(crate) surface: Surface,
    /// The text with its escapes resolved.
    pub(crate) value: Cow<'a, str>,
    /// The inside of the string literal in the file.
    pub(crate) span: Span,
    /// The inside of the nearest member name above it.
    pub(crate) key: Option<Span>,
    /// What the value goes by where that member name says too little.
    pub(crate) stands_for: Option<&'static str>,
    /// Whether this is a member name itself.
    pub(crate) is_name: bool,
}

/// What a definition defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Defined {
    Tool,
    Prompt,
    Resource,
}

/// A tool, prompt or resource as a server listed it, with all of its texts.
#[derive(Clone, Debug)]
pub(crate) struct Definition<'a> {
    pub(crate) defines: Defined,
    pub(crate) span: Span,
    /// Its `name` (of a resource its `uri` if it has no name), and where that stands.
    pub(crate) name: Option<(Cow<'a, str>, Span)>,
    pub(crate) texts: Vec<Text<'a>>,
}

/// What the walk comes upon.
#[derive(Debug)]
pub(crate) enum Item<'a> {
    /// A text outside definitions.
    Text(Text<'a>),
    /// A definition, whole.
    Definition(Definition<'a>),
    /// The end of an array of definitions.
    ListingEnd(Defined),
    /// A value nested too deep to look into.
    TooDeep(Span),
}

/// What the walk is inside of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Context {
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
enum Answer {
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

/// Which side sent a payload, and the method that it has or answers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin<'m> {
    pub(crate) from_server: bool,
    pub(crate) method: Option<&'m str>,
    /// Whether the payload is a request rather than a notification.
    pub(crate) is_request: bool,
}

/// Walks the value at `span` of `text` and hands over what it comes upon, in order.
pub(crate) fn walk<'a>(
    text: &'a str,
    span: Span,
    origin: Origin<'_>,
    visit: &mut dyn FnMut(Item<'a>),
) {
    let walk = Walk {
        text,
        frames: Vec::new(),
        definition: None,
        recorder: false,
        key: None,
        stands_for: None,
        visit,
    };
    walk.run(span, Context::payload(origin));
}

/// The shortest run of key characters in the shapes that are known.
const SHORTEST_KEY: usize = 16;

/// Whether a member name is long enough for a key. Most are not, and are words of the
/// protocol besides.
fn may_be_key(name: &str) -> bool {
    // Of 16 characters or more no key is made of nothing else.
    let word = |byte: u8| byte.is_ascii_lowercase() || matches!(byte, b'_' | b'-');
    name.len() >= SHORTEST_KEY
        && !name.bytes().all(word)
        && (next_run(name.as_bytes(), 0, SHORTEST_KEY).is_some()
            || may_hold_secret(name, usize::MAX))
}

impl Walk<'_, '_> {
    fn run(mut self, span: Span, root: Context) {
        let mut scanner = Scanner::over(self.text, span);
        let mut below: Option<usize> = None;
        while let Ok(Some(token)) = scanner.next_token() {
            let depth = scanner.depth();
            match below {
                None if depth > MAX_DEPTH => {
                    below = Some(depth);
                    (self.visit)(Item::TooDeep(token.span));
                }
                // The token that closes the first level beyond the limit.
                Some(limit) if depth < limit => below = None,
                Some(_) => {}
                None => self.take(token, root),
            }
        }
    }
}

struct Walk<'a, 'v> {
    text: &'a str,
    frames: Vec<Frame>,
    definition: Option<Definition<'a>>,
    /// Whether the recorder wrote what is walked, and by which name.
    recorder: bool,
    key: Option<Span>,
    stands_for: Option<&'static str>,
    visit: &'v mut dyn FnMut(Item<'a>),
}

struct Frame {
    context: Context,
    start: u32,
    /// The member name that is being looked at.
    key: Option<Span>,
    key_escaped: bool,
}

impl<'a> Walk<'a, '_> {
    fn take(&mut self, token: Token, root: Context) {
        match token.kind {
            Kind::BeginObject | Kind::BeginArray => self.open(token, root),
            Kind::EndObject | Kind::EndArray => self.close(token),
            Kind::Key => self.name(token),
            Kind::String => {
                let surface = match self.frames.last() {
                    Some(frame) => self.child(frame).surface(),
                    // A raw message: its payload is one string. So is most of the head.
                    None if self.recorder => Surface::Other,
                    None => Surface::Raw,
                };
                let key = self.frames.iter().rev().find_map(|frame| frame.key);
                let key = key.or(self.key);
                self.text(token, surface, key, false);
            }
            Kind::Number | Kind::True | Kind::False | Kind::Null => {}
        }
    }

    fn open(&mut self, token: Token, root: Context) {
        let context = self.frames.last().map_or(root, |frame| self.child(frame));
        let array = token.kind == Kind::BeginArray;
        let frame = Frame {
            context,
            start: token.span.start,
            key: None,
            key_escaped: false,
        };
        if let (Some(defines), false) = (context.defines(), array) {
            let span = token.span;
            self.definition = Some(Definition {
                defines,
                span,
                name: None,
                texts: Vec::new(),
            });
        }
        self.frames.push(frame);
    }

    fn close(&mut self, token: Token) {
        let Some(frame) = self.frames.pop() else {
            return;
        };
        let span = Span {
            start: frame.start,
            end: token.span.end,
        };
        if let (Context::Definitions(defines), Kind::EndArray) = (frame.context, token.kind) {
            (self.visit)(Item::ListingEnd(defines));
        } else if frame.context.defines().is_some()
            && token.kind == Kind::EndObject
            && let Some(mut definition) = self.definition.take()
        {
            definition.span = span;
            (self.visit)(Item::Definition(definition));
        }
    }

    fn name(&mut self, token: Token) {
        let Some(frame) = self.frames.last_mut() else {
            return;
        };
        frame.key = Some(token.inner());
        frame.key_escaped = token.escaped;
        let context = frame.context;
        let name = decode(token.inner().of(self.text));
        if let Some(surface) = context.name_surface(&name) {
            self.text(token, surface, None, true);
        } else if may_be_key(&name) {
            self.text(token, Surface::Other, None, true);
        }
    }

    /// The context of the value that comes next in `frame`.
    fn child(&self, frame: &Frame) -> Context {
        match frame.key {
            Some(key) if frame.key_escaped => frame.context.child(&decode(key.of(self.text))),
            Some(key) => frame.context.child(key.of(self.text)),
            None => frame.context.item(),
        }
    }

    fn text(&mut self, token: Token, surface: Surface, key: Option<Span>, is_name: bool) {
        let span = token.inner();
        let value = if token.escaped {
            decode(span.of(self.text))
        } else {
            Cow::Borrowed(span.of(self.text))
        };
        let text = Text {
            surface: settle(surface, &value),
            value,
            span,
            key,
            stands_for: self.stands_for.filter(|_| !is_name),
            is_name,
        };
        let Some(definition) = &mut self.definition else {
            (self.visit)(Item::Text(text));
            return;
        };
        // The definition's own member, not one of the same name further in.
        let own = self
            .frames
            .last()
            .is_some_and(|frame| frame.context.defines().is_some());
        let key = key.map(|key| key.of(self.text));
        if own
            && !is_name
            && (key == Some("name") || key == Some("uri") && definition.name.is_none())
        {
            definition.name = Some((text.value.clone(), span));
        }
        definition.texts.push(text);
    }
}

/// Content that says it is binary and is not base64 is text after all.
fn settle(surface: Surface, value: &str) -> Surface {
    let base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=_-\r\n".contains(&byte);
    if surface == Surface::Blob && !value.bytes().all(base64) {
        Surface::Result
    } else {
        surface
    }
}

impl Context {
    fn payload(origin: Origin<'_>) -> Context {
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
    fn child(self, key: &str) -> Context {
        match self {
            Context::Payload { params, result } => match key {
                "params" => all(params, params.is_server_text()),
                "result" => Context::Answer(result),
                "error" if result != Answer::Client => all(Surface::Error, true),
                _ => all(Surface::Other, false),
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
            Context::Prompt => all(
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
    fn item(self) -> Context {
        match self {
            Context::Definitions(Defined::Tool) => Context::Tool,
            Context::Definitions(Defined::Prompt) => Context::Prompt,
            Context::Definitions(Defined::Resource) => Context::Resource,
            other => other,
        }
    }

    fn defines(self) -> Option<Defined> {
        match self {
            Context::Tool => Some(Defined::Tool),
            Context::Prompt => Some(Defined::Prompt),
            Context::Resource => Some(Defined::Resource),
            _ => None,
        }
    }

    /// What a string is that stands here as a value.
    fn surface(self) -> Surface {
        match self {
            Context::All { surface, .. } | Context::Content(surface) => surface,
            Context::Tool | Context::Annotations => Surface::ToolAnnotation,
            Context::Schema { output: false } => Surface::SchemaText,
            Context::Properties { output: false } => Surface::SchemaName,
            Context::Schema { output: true } | Context::Properties { output: true } => {
                Surface::OutputSchema
            }
            Context::Prompt => Surface::Prompt,
            Context::Resource => Surface::Resource,
            Context::ServerInfo => Surface::ServerInfo,
            Context::Payload { .. } => Surface::Other,
            Context::Answer(Answer::Client) => Surface::Other,
            Context::Answer(_) | Context::Definitions(_) => Surface::Structured,
        }
    }

    /// What a member name is here; `None` for names that the protocol gives.
    fn name_surface(self, name: &str) -> Option<Surface> {
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
            _ => None,
        }
    }
}

fn all(surface: Surface, names: bool) -> Context {
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
            (Answer::Handshake, _) | (Answer::Unknown, "serverInfo") => Context::ServerInfo,
            (Answer::Listing(Defined::Tool) | Answer::Unknown, "tools") => {
                Context::Definitions(Defined::Tool)
            }
            (Answer::Listing(Defined::Prompt) | Answer::Unknown, "prompts") => {
                Context::Definitions(Defined::Prompt)
            }
            (
                Answer::Listing(Defined::Resource) | Answer::Unknown,
                "resources" | "resourceTemplates",
            ) => Context::Definitions(Defined::Resource),
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

const ANNOTATION_MEMBERS: &[&str] = &[
    "destructiveHint",
    "idempotentHint",
    "openWorldHint",
    "readOnlyHint",
    "title",
];
