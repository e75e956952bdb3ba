//! What a cassette holds, independent of how it is read and written.

use super::locate::{locate, positions};
use crate::finding::Region;
use crate::wire::json::{Kind as JsonKind, Scanner, Span, decode};
use std::borrow::Cow;

/// A recorded session.
///
/// Loading and saving keep every token of every payload: digits of numbers,
/// order of members, repeated members and escapes stay as they were recorded.
#[derive(Clone, Debug)]
pub struct Cassette {
    /// The name to show in messages: the path as it was given.
    pub(crate) name: String,
    /// The text of the file. Every span below points into it.
    pub(crate) text: String,
    pub(crate) head: Head,
    pub(crate) rows: Vec<Row>,
    /// Members of the file that no known version of the format has.
    pub(crate) extras: Vec<Extra>,
}

/// The members around the messages, as spans of their JSON values.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub(crate) format_version: u32,
    pub(crate) transport: Transport,
    pub(crate) recorded_at: Option<Span>,
    pub(crate) server_url: Option<Span>,
    pub(crate) session_id: Option<Span>,
    pub(crate) protocol_version: Option<Span>,
    pub(crate) server_info: Option<Span>,
    pub(crate) redaction: Option<Span>,
    pub(crate) http_exchanges: Option<Span>,
    pub(crate) interrupted: bool,
}

/// One message: small, because a cassette may hold hundreds of thousands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) seq: i64,
    pub(crate) t_offset_ms: i64,
    pub(crate) sender: Sender,
    pub(crate) kind: Kind,
    pub(crate) channel: Option<Channel>,
    pub(crate) redacted: bool,
    pub(crate) exchange: Option<u32>,
    pub(crate) batch: Option<u32>,
    pub(crate) method: Option<Span>,
    pub(crate) id: Option<Span>,
    pub(crate) payload: Span,
    /// The whole message object, for places in the file.
    pub(crate) span: Span,
}

/// A member that this version does not know and keeps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extra {
    /// The index of the message that has it; `None` at the top level.
    pub(crate) message: Option<u32>,
    pub(crate) name: Span,
    pub(crate) value: Span,
}

/// How the session was carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Newline-delimited JSON over a child process's standard streams.
    Stdio,
    /// Streamable HTTP, or the older HTTP with SSE.
    Http,
}

/// Who sent a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sender {
    /// The MCP client, usually an agent.
    Client,
    /// The MCP server.
    Server,
}

/// What the recorder took a message for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Has a method and an id.
    Request,
    /// Has an id and no method.
    Response,
    /// Has a method and no id.
    Notification,
    /// Was not a JSON object; the payload is a string with its text.
    Raw,
    /// A JSON object with neither method nor id.
    Unclassified,
}

/// Which HTTP stream carried a server message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// The response to a POST.
    Post,
    /// The stream opened by a GET.
    Get,
}

/// One recorded message, borrowed from its [`Cassette`].
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    pub(crate) text: &'a str,
    pub(crate) row: &'a Row,
}

impl Cassette {
    /// The path or name that the cassette was loaded under.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The format version of the file that was read: 1, 2 or 3. Saving always writes 3.
    pub fn format_version(&self) -> u32 {
        self.head.format_version
    }

    /// How the session was carried; a file of version 1 does not say and means stdio.
    pub fn transport(&self) -> Transport {
        self.head.transport
    }

    /// When the recording started, as written in the file (RFC 3339).
    pub fn recorded_at(&self) -> Option<Cow<'_, str>> {
        self.head_string(self.head.recorded_at)
    }

    /// The upstream URL of an HTTP recording.
    pub fn server_url(&self) -> Option<Cow<'_, str>> {
        self.head_string(self.head.server_url)
    }

    /// The negotiated protocol version, if the recorder saw one.
    pub fn protocol_version(&self) -> Option<Cow<'_, str>> {
        self.head_string(self.head.protocol_version)
    }

    /// Name and version that the server gave itself.
    pub fn server_info(&self) -> Option<(String, String)> {
        let span = self.head.server_info?;
        let field = |name| member_string(&self.text, span, name).unwrap_or_default();
        Some((field("name"), field("version")))
    }

    /// The messages in the order of the file.
    pub fn messages(&self) -> impl ExactSizeIterator<Item = Message<'_>> {
        self.rows.iter().map(|row| Message {
            text: &self.text,
            row,
        })
    }

    /// The place in the file of the value that a JSON pointer (RFC 6901) names; of
    /// repeated members the last.
    pub fn locate(&self, pointer: &str) -> Option<Region> {
        let span = locate(&self.text, pointer)?;
        let offsets = [span.start as usize, span.end as usize];
        let [start, end] = positions(&self.text, &offsets).try_into().ok()?;
        Some(Region {
            start,
            end,
            bytes: span.range(),
        })
    }

    /// One message by its index in the file.
    pub(crate) fn message(&self, index: u32) -> Option<Message<'_>> {
        self.rows.get(index as usize).map(|row| Message {
            text: &self.text,
            row,
        })
    }

    /// The name of the redaction profile in the manifest: the outer `None` is a
    /// file without a manifest, the inner one a manifest that names none.
    pub(crate) fn redaction_profile(&self) -> Option<Option<String>> {
        let manifest = self.head.redaction?;
        Some(member_string(&self.text, manifest, "profile"))
    }

    /// The redaction manifest as JSON text.
    pub(crate) fn redaction_manifest(&self) -> Option<&str> {
        self.head.redaction.map(|span| span.of(&self.text))
    }

    fn head_string(&self, span: Option<Span>) -> Option<Cow<'_, str>> {
        string_value(span?.of(&self.text))
    }
}

impl<'a> Message<'a> {
    /// The position that the recorder gave the message, from 0.
    pub fn seq(&self) -> i64 {
        self.row.seq
    }

    /// Milliseconds since the recording started.
    pub fn t_offset_ms(&self) -> i64 {
        self.row.t_offset_ms
    }

    /// Who sent it.
    pub fn sender(&self) -> Sender {
        self.row.sender
    }

    /// What the recorder took it for.
    pub fn kind(&self) -> Kind {
        self.row.kind
    }

    /// The method of a request or notification.
    pub fn method(&self) -> Option<Cow<'a, str>> {
        string_value(self.row.method?.of(self.text))
    }

    /// The JSON-RPC id as its JSON token: `1` and `"1"` differ.
    pub fn id(&self) -> Option<&'a str> {
        self.row.id.map(|span| span.of(self.text))
    }

    /// The payload as JSON text, with the white space of the file.
    pub fn payload(&self) -> &'a str {
        self.row.payload.of(self.text)
    }

    /// Whether a redaction rule changed the payload.
    pub fn redacted(&self) -> bool {
        self.row.redacted
    }

    /// The HTTP request/response pair that it belongs to.
    pub fn exchange(&self) -> Option<u32> {
        self.row.exchange
    }

    /// The HTTP stream that carried it.
    pub fn channel(&self) -> Option<Channel> {
        self.row.channel
    }

    /// The JSON-RPC batch that it was a member of, counted over the file.
    pub fn batch(&self) -> Option<u32> {
        self.row.batch
    }
}

impl Sender {
    /// The word used in files and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Sender::Client => "client",
            Sender::Server => "server",
        }
    }

    /// The other side.
    pub(crate) fn other(self) -> Sender {
        match self {
            Sender::Client => Sender::Server,
            Sender::Server => Sender::Client,
        }
    }
}

impl Kind {
    /// The word used in files and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Request => "request",
            Kind::Response => "response",
            Kind::Notification => "notification",
            Kind::Raw => "raw",
            Kind::Unclassified => "unclassified",
        }
    }
}

impl Transport {
    /// The word used in files and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Transport::Stdio => "stdio",
            Transport::Http => "http",
        }
    }
}

impl Channel {
    /// The word used in files and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Channel::Post => "post",
            Channel::Get => "get",
        }
    }
}

/// The string that a JSON token spells, if it is a string.
pub(crate) fn string_value(token: &str) -> Option<Cow<'_, str>> {
    let inner = token.strip_prefix('"')?.strip_suffix('"')?;
    Some(decode(inner))
}

/// The string under `name` in the object at `span`, if there is one; the last of repeated members.
pub(crate) fn member_string(text: &str, span: Span, name: &str) -> Option<String> {
    let mut scanner = Scanner::over(text, span);
    if scanner.require().ok()?.kind != JsonKind::BeginObject {
        return None;
    }
    let mut found = None;
    while let Ok(Some(key)) = scanner.next_key() {
        let value = scanner.value().ok()?;
        if decode(key.inner().of(text)) == name {
            found = string_value(value.span.of(text)).map(Cow::into_owned);
        }
    }
    found
}
