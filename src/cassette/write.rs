//! The file format as it is written, version 3: the one writer of a head and of a message.
//!
//! A loaded cassette and a running recording are written by the same functions, so that a
//! cassette which is loaded and saved again does not change.

use super::exchanges::{self, HttpExchange};
use super::format::CURRENT_VERSION;
use super::model::{Cassette, Channel, Head, Kind, Message, Sender, Transport};
use crate::wire::json::{Kind as JsonKind, Scanner, Span};

/// Objects and arrays nested deeper than this are written on one line: at two
/// spaces a level, 200,000 levels would be 80 GB of indentation.
const MAX_INDENT_DEPTH: usize = 64;

/// The members before the messages. Every text is a JSON value; `None` is written as null.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeadText<'a> {
    pub(crate) recorded_at: Option<&'a str>,
    pub(crate) transport: Transport,
    pub(crate) server_url: Option<&'a str>,
    pub(crate) session_id: Option<&'a str>,
    pub(crate) protocol_version: Option<&'a str>,
    pub(crate) server_info: Option<&'a str>,
    pub(crate) redaction: Option<&'a str>,
}

/// One message. `method`, `id` and `payload` are JSON values as texts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MessageText<'a> {
    pub(crate) seq: i64,
    pub(crate) t_offset_ms: i64,
    pub(crate) sender: Sender,
    pub(crate) kind: Kind,
    pub(crate) method: Option<&'a str>,
    pub(crate) id: Option<&'a str>,
    pub(crate) payload: &'a str,
    pub(crate) redacted: bool,
    pub(crate) exchange: Option<u32>,
    pub(crate) channel: Option<Channel>,
    pub(crate) batch: Option<u32>,
}

impl<'a> MessageText<'a> {
    /// A message as it stands in its cassette.
    pub(crate) fn of(message: Message<'a>) -> MessageText<'a> {
        let Message { text, row } = message;
        let of = |span: Option<Span>| span.map(|span| span.of(text));
        MessageText {
            seq: row.seq,
            t_offset_ms: row.t_offset_ms,
            sender: row.sender,
            kind: row.kind,
            method: of(row.method),
            id: of(row.id),
            payload: row.payload.of(text),
            redacted: row.redacted,
            exchange: row.exchange,
            channel: row.channel,
            batch: row.batch,
        }
    }
}

/// Everything up to the bracket that opens the messages.
pub(crate) fn head(head: &HeadText<'_>, out: &mut String) {
    out.push('{');
    name(1, "format_version", true, out);
    out.push_str(&CURRENT_VERSION.to_string());
    optional(1, "recorded_at", head.recorded_at, out);
    word(1, "transport", head.transport.as_str(), out);
    optional(1, "server_url", head.server_url, out);
    optional(1, "session_id", head.session_id, out);
    optional(1, "protocol_version", head.protocol_version, out);
    optional(1, "server_info", head.server_info, out);
    optional(1, "redaction", head.redaction, out);
    name(1, "messages", false, out);
    out.push('[');
}

/// How every message begins and ends, and no line of a payload: those are indented deeper.
pub(crate) const MESSAGE_BEGINS: &str = "\n    {";
/// See [`MESSAGE_BEGINS`].
pub(crate) const MESSAGE_ENDS: &str = "\n    }";

/// A whole message, with the comma that parts it from the one before.
pub(crate) fn message(message: &MessageText<'_>, first: bool, out: &mut String) {
    begin_message(message, first, out);
    end_message(out);
}

/// The members of the format; more may follow before [`end_message`].
fn begin_message(message: &MessageText<'_>, first: bool, out: &mut String) {
    if !first {
        out.push(',');
    }
    newline(2, out);
    out.push('{');
    name(3, "seq", true, out);
    out.push_str(&message.seq.to_string());
    name(3, "t_offset_ms", false, out);
    out.push_str(&message.t_offset_ms.to_string());
    word(3, "sender", message.sender.as_str(), out);
    word(3, "kind", message.kind.as_str(), out);
    optional(3, "method", message.method, out);
    optional(3, "msg_id", message.id, out);
    member(3, "\"payload\"", message.payload, out);
    name(3, "redacted", false, out);
    out.push_str(if message.redacted { "true" } else { "false" });
    name(3, "exchange", false, out);
    match message.exchange {
        Some(exchange) => out.push_str(&exchange.to_string()),
        None => out.push_str("null"),
    }
    match message.channel {
        Some(channel) => word(3, "channel", channel.as_str(), out),
        None => optional(3, "channel", None, out),
    }
    if let Some(batch) = message.batch {
        name(3, "batch", false, out);
        out.push_str(&batch.to_string());
    }
}

fn end_message(out: &mut String) {
    newline(2, out);
    out.push('}');
}

/// A cassette that is open after its last message, for more to follow.
#[derive(Clone, Debug)]
pub(crate) struct Unclosed {
    /// The text up to the end of the last message.
    pub(crate) begin: String,
    pub(crate) ending: Ending,
    /// The first numbers that are free.
    pub(crate) next_seq: i64,
    pub(crate) next_batch: u32,
    pub(crate) next_exchange: u32,
    pub(crate) next_session: u32,
    /// The latest time of a message.
    pub(crate) last_offset_ms: i64,
}

/// How a file ends after its messages; by default one that has none so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ending {
    /// The rows about HTTP, each as JSON; `None` if the file has no such member.
    rows: Option<Vec<String>>,
    /// Members of the file that stand behind them.
    members: String,
    has_messages: bool,
    /// Whether one of them says that it was interrupted.
    interrupted: bool,
}

impl Ending {
    /// Whether there are messages before it, besides those that may come.
    pub(crate) fn has_messages(&self) -> bool {
        self.has_messages
    }

    /// Adds rows about HTTP to those that are there.
    pub(crate) fn add_exchanges(&mut self, rows: &[HttpExchange]) {
        if !rows.is_empty() {
            let there = self.rows.get_or_insert_default();
            there.extend(rows.iter().map(exchanges::write));
        }
    }

    /// The text. There are messages if there were some already, or if `more` came.
    pub(crate) fn text(&self, more: bool, interrupted: bool) -> String {
        let any = self.has_messages || more;
        let mut out = String::from(if any { "\n  ]" } else { "]" });
        if let Some(rows) = &self.rows {
            let rows = format!("[{}]", rows.join(","));
            member(1, "\"http_exchanges\"", &rows, &mut out);
        }
        out.push_str(&self.members);
        if interrupted && !self.interrupted {
            name(1, "interrupted", false, &mut out);
            out.push_str("true");
        }
        out.push_str("\n}\n");
        out
    }
}

impl Cassette {
    /// The text of the file in format version 3, as [`Cassette::save`] writes it.
    pub fn to_json(&self) -> String {
        let unclosed = self.unclosed();
        let mut out = unclosed.begin;
        out.push_str(&unclosed.ending.text(false, false));
        out
    }

    /// The same, for more messages to follow.
    pub(crate) fn unclosed(&self) -> Unclosed {
        let batches = self.rows.iter().filter_map(|row| row.batch);
        let offsets = self.rows.iter().map(|row| row.t_offset_ms);
        let seqs = self.rows.iter().map(|row| row.seq);
        let rows = self.exchanges();
        let numbers = rows.iter().map(|row| row.exchange);
        let numbers = numbers.chain(self.rows.iter().filter_map(|row| row.exchange));
        let sessions = rows.iter().filter_map(|row| row.session);
        let after = |last: Option<u32>| last.map_or(0, |last| last.saturating_add(1));
        Unclosed {
            begin: self.text_of_messages(),
            ending: Ending {
                rows: self.row_texts(),
                members: self.text_after_rows(),
                has_messages: !self.rows.is_empty(),
                interrupted: self.head.interrupted,
            },
            next_seq: seqs.max().map_or(0, |seq| seq.saturating_add(1)),
            next_batch: after(batches.max()),
            next_exchange: after(numbers.max()),
            next_session: after(sessions.max()),
            last_offset_ms: offsets.max().unwrap_or(0),
        }
    }

    fn text_of_messages(&self) -> String {
        let text = &self.text;
        let mut out = String::with_capacity(text.len() + 256);
        head(&head_text(&self.head, text), &mut out);
        let mut extras = self
            .extras
            .iter()
            .filter(|extra| extra.message.is_some())
            .peekable();
        for (index, message) in self.messages().enumerate() {
            begin_message(&MessageText::of(message), index == 0, &mut out);
            while let Some(extra) =
                extras.next_if(|extra| extra.message.is_some_and(|m| m as usize == index))
            {
                member(3, extra.name.of(text), extra.value.of(text), &mut out);
            }
            end_message(&mut out);
        }
        out
    }

    /// The rows about HTTP as they stand in the file.
    fn row_texts(&self) -> Option<Vec<String>> {
        let rows = self.head.http_exchanges?;
        let mut scanner = Scanner::over(&self.text, rows);
        scanner.require().ok()?;
        let mut texts = Vec::new();
        while let Ok(Some(row)) = scanner.next_item() {
            texts.push(row.span.of(&self.text).to_owned());
        }
        Some(texts)
    }

    /// The members behind the rows.
    fn text_after_rows(&self) -> String {
        let text = &self.text;
        let mut out = String::new();
        let whole_file = |extra: &&super::model::Extra| extra.message.is_none();
        if self.head.interrupted {
            name(1, "interrupted", false, &mut out);
            out.push_str("true");
        }
        for extra in self.extras.iter().filter(whole_file) {
            member(1, extra.name.of(text), extra.value.of(text), &mut out);
        }
        out
    }
}

fn head_text<'a>(head: &Head, text: &'a str) -> HeadText<'a> {
    let of = |span: Option<Span>| span.map(|span| span.of(text));
    HeadText {
        recorded_at: of(head.recorded_at),
        transport: head.transport,
        server_url: of(head.server_url),
        session_id: of(head.session_id),
        protocol_version: of(head.protocol_version),
        server_info: of(head.server_info),
        redaction: of(head.redaction),
    }
}

fn name(depth: usize, name: &str, first: bool, out: &mut String) {
    if !first {
        out.push(',');
    }
    newline(depth, out);
    out.push('"');
    out.push_str(name);
    out.push_str("\": ");
}

fn word(depth: usize, member: &str, word: &str, out: &mut String) {
    name(depth, member, false, out);
    out.push('"');
    out.push_str(word);
    out.push('"');
}

fn optional(depth: usize, member: &str, value: Option<&str>, out: &mut String) {
    name(depth, member, false, out);
    match value {
        Some(value) => reindent(value, depth, out),
        None => out.push_str("null"),
    }
}

fn member(depth: usize, quoted: &str, value: &str, out: &mut String) {
    out.push(',');
    newline(depth, out);
    out.push_str(quoted);
    out.push_str(": ");
    reindent(value, depth, out);
}

fn newline(depth: usize, out: &mut String) {
    out.push('\n');
    for _ in 0..depth {
        out.push_str("  ");
    }
}

/// Writes a value with the project's indentation and every token as it stands.
/// `depth` is the nesting of the line that the value begins on.
fn reindent(text: &str, depth: usize, out: &mut String) {
    let mut scanner = Scanner::new(text);
    // The token before this one decides about commas and line breaks.
    let mut before: Option<JsonKind> = None;
    while let Ok(Some(token)) = scanner.next_token() {
        let begins = matches!(token.kind, JsonKind::BeginObject | JsonKind::BeginArray);
        let closes = matches!(token.kind, JsonKind::EndObject | JsonKind::EndArray);
        let opened = matches!(before, Some(JsonKind::BeginObject | JsonKind::BeginArray));
        let level = depth + scanner.depth() - usize::from(begins);
        let item_level = level + usize::from(closes);
        let after_item = before.is_some_and(|kind| kind != JsonKind::Key);
        if after_item && !(closes && opened) {
            let separate = !closes && !opened;
            if separate {
                out.push(',');
            }
            if item_level <= MAX_INDENT_DEPTH {
                newline(level, out);
            } else if separate {
                out.push(' ');
            }
        }
        out.push_str(token.span.of(text));
        if token.kind == JsonKind::Key {
            out.push_str(": ");
        }
        before = Some(token.kind);
    }
}
