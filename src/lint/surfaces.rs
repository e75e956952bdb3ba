//! Every recorded text that a person or a model may come to read, with what it is.
//!
//! One walk over the tokens of a payload serves all rules. What a string is
//! follows from the member names on the way to it, through the table in [`context`];
//! nothing is parsed into a tree, and a repeated member is visited as often as it
//! stands there.

mod around;
mod context;

use super::encoded::{is_text_type, text_of_blob};
use crate::cassette::model::member_string;
use crate::secrets::prefilter::{may_hold_secret, next_run};
use crate::wire::json::{Kind, Scanner, Span, Token, decode};
use crate::wire::node::MAX_DEPTH;
use context::Context;
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
    /// The text that such content decodes to, if it is text.
    DecodedText,
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
            Surface::DecodedText => "text in base64",
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
    /// A member that is one of the protocol's but for the case of its letters. What
    /// is in it is read as that member's.
    Variant {
        name: Cow<'a, str>,
        at: Span,
        member: &'static str,
    },
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
    /// The member of the protocol that the name stands for in another case.
    alias: Option<&'static str>,
    /// Whether the object gives a media type of text, once somebody asked.
    is_text: Option<bool>,
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
            alias: None,
            is_text: None,
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
        frame.alias = context.level().and_then(|level| level.variant(&name));
        if let Some(member) = frame.alias {
            (self.visit)(Item::Variant {
                name: name.clone(),
                at: token.span,
                member,
            });
        }
        if let Some(surface) = context.name_surface(&name) {
            self.text(token, surface, None, true);
        } else if may_be_key(&name) {
            self.text(token, Surface::Other, None, true);
        }
    }

    /// The context of the value that comes next in `frame`.
    fn child(&self, frame: &Frame) -> Context {
        match frame.key {
            Some(_) if frame.alias.is_some() => frame.context.child(frame.alias.unwrap_or("")),
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
        let surface = settle(surface, &value);
        if surface == Surface::Blob
            && let Some(decoded) = text_of_blob(&value, || self.has_media_type_of_text())
        {
            (self.visit)(Item::Text(Text {
                surface: Surface::DecodedText,
                value: Cow::Owned(decoded),
                span,
                key,
                stands_for: None,
                is_name,
            }));
        }
        let text = Text {
            surface,
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

impl Walk<'_, '_> {
    /// Whether the object that is open has a `mimeType` of text; it may come later.
    fn has_media_type_of_text(&mut self) -> bool {
        // No content of the protocol is nested that deep. Objects in objects, each of
        // which is looked through, would take long, so they count as text unseen.
        const DEEPEST: usize = 8;
        if self.frames.len() > DEEPEST {
            return true;
        }
        let Some(frame) = self.frames.last_mut() else {
            return false;
        };
        let whole = Span::new(frame.start as usize, self.text.len());
        *frame.is_text.get_or_insert_with(|| {
            member_string(self.text, whole, "mimeType").is_some_and(|name| is_text_type(&name))
        })
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
