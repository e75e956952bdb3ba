//! The file format as it is read, versions 1 to 3; [`super::write`] writes it.
//!
//! Version 2 added `transport`, `server_url`, `session_id`, `exchange` and
//! `channel`; version 3 added `redaction`. Every later member is optional, so one
//! reader takes all three and the differences are the defaults in [`Parts`].

use super::exchanges::{self, RowFault};
use super::file::LoadProblem;
use super::model::{Channel, Extra, Head, Kind, Row, Sender, Transport};
use crate::secrets::conceal;
use crate::wire::json::{Kind as JsonKind, Scanner, Span, SyntaxError, Token, Value, decode};
use std::collections::HashSet;

/// The newest version that is read, and the one that is written.
pub(crate) const CURRENT_VERSION: u32 = 3;

/// What a file is made of.
pub(crate) struct Parts {
    pub(crate) head: Head,
    pub(crate) rows: Vec<Row>,
    pub(crate) extras: Vec<Extra>,
}

/// Why a text is not a cassette.
#[derive(Debug)]
pub(crate) enum Fault {
    Syntax(SyntaxError),
    Shape { at: usize, problem: LoadProblem },
}

impl From<SyntaxError> for Fault {
    fn from(error: SyntaxError) -> Self {
        Fault::Syntax(error)
    }
}

impl From<RowFault> for Fault {
    fn from(fault: RowFault) -> Self {
        match fault {
            RowFault::Syntax(error) => Fault::Syntax(error),
            RowFault::Row { at, what } => malformed(at, what),
        }
    }
}

fn shape(span: Span, problem: LoadProblem) -> Fault {
    Fault::Shape {
        at: span.start as usize,
        problem,
    }
}

fn malformed(span: Span, what: impl Into<String>) -> Fault {
    shape(span, LoadProblem::Malformed(what.into()))
}

fn repeated(key: Span, name: &str) -> Fault {
    let name = conceal::name(name).into_owned();
    shape(key, LoadProblem::Duplicate(name))
}

/// Reads the parts of a cassette from its text.
pub(crate) fn read(text: &str) -> Result<Parts, Fault> {
    let mut scanner = Scanner::over(text, super::locate::whole(text));
    let first = scanner.require()?;
    if first.kind != JsonKind::BeginObject {
        check_syntax(text)?;
        let what = format!("it must be a JSON object and is {}", noun(first.kind));
        return Err(shape(first.span, LoadProblem::NotACassette(what)));
    }
    let mut reader = Reader {
        text,
        head: empty_head(),
        rows: Vec::new(),
        extras: Vec::new(),
    };
    let mut names = Names::default();
    let mut seen_messages = false;
    while let Some(key) = scanner.next_key()? {
        names.add(text, key)?;
        let name = decode(key.inner().of(text));
        if name == "messages" {
            seen_messages = true;
            reader.messages(&mut scanner)?;
        } else {
            let value = scanner.value()?;
            reader.head_member(&name, key, value)?;
        }
    }
    scanner.finish()?;
    let marked = names.has("format_version") || names.has("recorded_at") || names.has("transport");
    if !seen_messages || !marked {
        let what = "it is a JSON object without the members of a recording \
                    (\"format_version\", \"recorded_at\", \"messages\")";
        return Err(shape(first.span, LoadProblem::NotACassette(what.into())));
    }
    Ok(Parts {
        head: reader.head,
        rows: reader.rows,
        extras: reader.extras,
    })
}

/// A file of another shape may also be broken JSON, which is the better message.
fn check_syntax(text: &str) -> Result<(), Fault> {
    let mut scanner = Scanner::over(text, super::locate::whole(text));
    while scanner.next_token()?.is_some() {}
    Ok(())
}

fn empty_head() -> Head {
    Head {
        format_version: CURRENT_VERSION,
        transport: Transport::Stdio,
        recorded_at: None,
        server_url: None,
        session_id: None,
        protocol_version: None,
        server_info: None,
        redaction: None,
        http_exchanges: None,
        interrupted: false,
    }
}

/// The member names of one object, to refuse a repeated one.
#[derive(Default)]
struct Names {
    seen: HashSet<String>,
}

impl Names {
    fn add(&mut self, text: &str, key: Token) -> Result<(), Fault> {
        let name = decode(key.inner().of(text)).into_owned();
        if self.seen.contains(&name) {
            return Err(repeated(key.span, &name));
        }
        self.seen.insert(name);
        Ok(())
    }

    fn has(&self, name: &str) -> bool {
        self.seen.contains(name)
    }
}

struct Reader<'a> {
    text: &'a str,
    head: Head,
    rows: Vec<Row>,
    extras: Vec<Extra>,
}

impl Reader<'_> {
    fn head_member(&mut self, name: &str, key: Token, value: Value) -> Result<(), Fault> {
        match name {
            "format_version" => self.head.format_version = self.version(value)?,
            "transport" => {
                self.head.transport = match self.word(value) {
                    Some("stdio") => Transport::Stdio,
                    Some("http") => Transport::Http,
                    None if value.kind == JsonKind::Null => Transport::Stdio,
                    _ => return Err(self.bad(name, value, "\"stdio\" or \"http\"")),
                }
            }
            "recorded_at" => self.head.recorded_at = self.optional_string(name, value)?,
            "server_url" => self.head.server_url = self.optional_string(name, value)?,
            "session_id" => self.head.session_id = self.optional_string(name, value)?,
            "protocol_version" => self.head.protocol_version = self.optional_string(name, value)?,
            "server_info" => {
                self.head.server_info = self.structure(name, value, JsonKind::BeginObject)?
            }
            "redaction" => {
                self.head.redaction = self.structure(name, value, JsonKind::BeginObject)?
            }
            "http_exchanges" => {
                self.head.http_exchanges = self.structure(name, value, JsonKind::BeginArray)?;
                if let Some(rows) = self.head.http_exchanges {
                    exchanges::read(self.text, rows)?;
                }
            }
            "interrupted" => self.head.interrupted = self.flag(name, value)?,
            _ => self.extra(None, key, value),
        }
        Ok(())
    }

    fn messages(&mut self, scanner: &mut Scanner<'_>) -> Result<(), Fault> {
        let open = scanner.require()?;
        if open.kind != JsonKind::BeginArray {
            let what = format!("\"messages\" is {}, not an array", noun(open.kind));
            return Err(shape(open.span, LoadProblem::NotACassette(what)));
        }
        loop {
            let token = scanner.require()?;
            match token.kind {
                JsonKind::EndArray => return Ok(()),
                JsonKind::BeginObject => self.message(scanner, token)?,
                kind => {
                    let what = format!("a message is {}, not an object", noun(kind));
                    return Err(malformed(token.span, what));
                }
            }
        }
    }

    fn message(&mut self, scanner: &mut Scanner<'_>, open: Token) -> Result<(), Fault> {
        let index = u32::try_from(self.rows.len()).unwrap_or(u32::MAX);
        let mut draft = Draft::new(index);
        let end = loop {
            let token = scanner.require()?;
            if token.kind == JsonKind::EndObject {
                break token.span.end;
            }
            let value = scanner.value()?;
            if !self.message_member(&mut draft, token, value)? {
                self.extra(Some(index), token, value);
            }
        };
        let span = Span {
            start: open.span.start,
            end,
        };
        self.rows.push(draft.finish(span)?);
        Ok(())
    }

    /// Takes one member into the draft; false if the format does not have it.
    fn message_member(&self, draft: &mut Draft, key: Token, value: Value) -> Result<bool, Fault> {
        let name = decode(key.inner().of(self.text));
        let row = &mut draft.row;
        let bit = match &*name {
            "seq" => {
                row.seq = self.integer(&name, value)?;
                1
            }
            "t_offset_ms" => {
                row.t_offset_ms = self.integer(&name, value)?;
                2
            }
            "sender" => {
                row.sender = match self.word(value) {
                    Some("client") => Sender::Client,
                    Some("server") => Sender::Server,
                    _ => return Err(self.bad(&name, value, "\"client\" or \"server\"")),
                };
                4
            }
            "kind" => {
                row.kind = self.kind(value)?;
                8
            }
            "method" => {
                row.method = self.optional_string(&name, value)?;
                16
            }
            "msg_id" => {
                row.id = self.id(value)?;
                32
            }
            "payload" => {
                row.payload = self.payload(value)?;
                64
            }
            "redacted" => {
                row.redacted = self.flag(&name, value)?;
                128
            }
            "exchange" => {
                row.exchange = self.counter(&name, value)?;
                256
            }
            "channel" => {
                row.channel = self.channel(value)?;
                512
            }
            "batch" => {
                row.batch = self.counter(&name, value)?;
                1024
            }
            _ => return draft.unknown(self.text, key).map(|()| false),
        };
        if draft.seen & bit != 0 {
            return Err(repeated(key.span, &name));
        }
        draft.seen |= bit;
        Ok(true)
    }

    fn extra(&mut self, message: Option<u32>, key: Token, value: Value) {
        self.extras.push(Extra {
            message,
            name: key.span,
            value: value.span,
        });
    }

    fn version(&self, value: Value) -> Result<u32, Fault> {
        let token = value.span.of(self.text);
        let digits = token.bytes().all(|byte| byte.is_ascii_digit());
        match token.parse::<u32>() {
            Ok(version @ 1..=CURRENT_VERSION) => Ok(version),
            _ if digits && token != "0" => Err(shape(
                value.span,
                LoadProblem::Newer {
                    version: clip(token),
                },
            )),
            _ => Err(self.bad("format_version", value, "1, 2 or 3")),
        }
    }

    fn kind(&self, value: Value) -> Result<Kind, Fault> {
        Ok(match self.word(value) {
            Some("request") => Kind::Request,
            Some("response") => Kind::Response,
            Some("notification") => Kind::Notification,
            Some("raw") => Kind::Raw,
            Some("unclassified") => Kind::Unclassified,
            _ => {
                let wanted =
                    "\"request\", \"response\", \"notification\", \"raw\" or \"unclassified\"";
                return Err(self.bad("kind", value, wanted));
            }
        })
    }

    fn channel(&self, value: Value) -> Result<Option<Channel>, Fault> {
        match self.word(value) {
            Some("post") => Ok(Some(Channel::Post)),
            Some("get") => Ok(Some(Channel::Get)),
            None if value.kind == JsonKind::Null => Ok(None),
            _ => Err(self.bad("channel", value, "\"post\", \"get\" or null")),
        }
    }

    fn id(&self, value: Value) -> Result<Option<Span>, Fault> {
        match value.kind {
            JsonKind::Null => Ok(None),
            JsonKind::String | JsonKind::Number => Ok(Some(value.span)),
            _ => Err(self.bad("msg_id", value, "a string, an integer or null")),
        }
    }

    fn payload(&self, value: Value) -> Result<Span, Fault> {
        match value.kind {
            JsonKind::BeginObject | JsonKind::String => Ok(value.span),
            _ => Err(self.bad("payload", value, "an object, or a string in a raw message")),
        }
    }

    fn optional_string(&self, name: &str, value: Value) -> Result<Option<Span>, Fault> {
        match value.kind {
            JsonKind::Null => Ok(None),
            JsonKind::String => Ok(Some(value.span)),
            _ => Err(self.bad(name, value, "a string or null")),
        }
    }

    /// A member of the cassette's own structure that is kept as text; objects in
    /// it may not repeat a name either.
    fn structure(&self, name: &str, value: Value, wanted: JsonKind) -> Result<Option<Span>, Fault> {
        if value.kind == JsonKind::Null {
            return Ok(None);
        }
        if value.kind != wanted {
            return Err(self.bad(name, value, &format!("{} or null", noun(wanted))));
        }
        refuse_duplicates(self.text, value.span)?;
        Ok(Some(value.span))
    }

    fn flag(&self, name: &str, value: Value) -> Result<bool, Fault> {
        match value.kind {
            JsonKind::True => Ok(true),
            JsonKind::False | JsonKind::Null => Ok(false),
            _ => Err(self.bad(name, value, "true or false")),
        }
    }

    fn integer(&self, name: &str, value: Value) -> Result<i64, Fault> {
        value
            .span
            .of(self.text)
            .parse()
            .map_err(|_| self.bad(name, value, "an integer"))
    }

    fn counter(&self, name: &str, value: Value) -> Result<Option<u32>, Fault> {
        if value.kind == JsonKind::Null {
            return Ok(None);
        }
        match value.span.of(self.text).parse() {
            Ok(count) => Ok(Some(count)),
            Err(_) => Err(self.bad(name, value, "an integer from 0, or null")),
        }
    }

    /// The text of a string that needs no unescaping, as every word of the format.
    fn word(&self, value: Value) -> Option<&str> {
        value
            .span
            .of(self.text)
            .strip_prefix('"')?
            .strip_suffix('"')
    }

    fn bad(&self, name: &str, value: Value, wanted: &str) -> Fault {
        let found = clip(value.span.of(self.text));
        malformed(
            value.span,
            format!("\"{name}\" is {found}, it must be {wanted}"),
        )
    }
}

/// A message that is being read.
struct Draft {
    row: Row,
    /// One bit a member of the format, for repeated and missing ones.
    seen: u16,
    unknown: Vec<String>,
    index: u32,
}

impl Draft {
    fn new(index: u32) -> Self {
        let row = Row {
            seq: i64::from(index),
            t_offset_ms: 0,
            sender: Sender::Client,
            kind: Kind::Unclassified,
            channel: None,
            redacted: false,
            exchange: None,
            batch: None,
            method: None,
            id: None,
            payload: Span::default(),
            span: Span::default(),
        };
        Draft {
            row,
            seen: 0,
            unknown: Vec::new(),
            index,
        }
    }

    fn unknown(&mut self, text: &str, key: Token) -> Result<(), Fault> {
        let name = decode(key.inner().of(text)).into_owned();
        if self.unknown.contains(&name) {
            return Err(repeated(key.span, &name));
        }
        // A message of our own format has a handful of members; thousands of
        // unknown ones would make this check quadratic.
        if self.unknown.len() >= 64 {
            return Err(malformed(
                key.span,
                format!("message {} has too many unknown members", self.index),
            ));
        }
        self.unknown.push(name);
        Ok(())
    }

    fn finish(mut self, span: Span) -> Result<Row, Fault> {
        for (bit, name) in [(4, "sender"), (8, "kind"), (64, "payload")] {
            if self.seen & bit == 0 {
                return Err(malformed(
                    span,
                    format!("message {} has no \"{name}\"", self.index),
                ));
            }
        }
        self.row.span = span;
        Ok(self.row)
    }
}

/// Refuses a repeated member anywhere in a structure of the cassette's own.
fn refuse_duplicates(text: &str, span: Span) -> Result<(), Fault> {
    let mut scanner = Scanner::over(text, span);
    let mut open: Vec<Names> = Vec::new();
    while let Some(token) = scanner.next_token()? {
        match token.kind {
            JsonKind::BeginObject | JsonKind::BeginArray => open.push(Names::default()),
            JsonKind::EndObject | JsonKind::EndArray => {
                open.pop();
            }
            JsonKind::Key => {
                if let Some(names) = open.last_mut() {
                    names.add(text, token)?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn noun(kind: JsonKind) -> &'static str {
    match kind {
        JsonKind::BeginObject | JsonKind::EndObject => "an object",
        JsonKind::BeginArray | JsonKind::EndArray => "an array",
        JsonKind::Key | JsonKind::String => "a string",
        JsonKind::Number => "a number",
        JsonKind::True | JsonKind::False => "a boolean",
        JsonKind::Null => "null",
    }
}

/// A token for a message: at most 40 characters of it, without secrets.
fn clip(token: &str) -> String {
    let shown = match super::model::string_value(token) {
        Some(text) => format!("\"{text}\""),
        None => token.to_owned(),
    };
    conceal::beginning(&shown, 40)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cassette::Cassette;

    fn parse(text: &str) -> Cassette {
        Cassette::parse("c.mcp.json", text.as_bytes().to_vec()).expect("a cassette")
    }

    fn with_payload(payload: &str) -> String {
        format!(
            "{{\"format_version\": 3, \"messages\": [{{\"sender\": \"server\", \
             \"kind\": \"unclassified\", \"payload\": {payload}}}]}}"
        )
    }

    #[test]
    fn odd_tokens_keep_their_spelling() {
        let payload = r#"{"a": 1.0, "b": 1e400, "c": -0, "d": 18446744073709551616,
            "e": 0.1000000000000000055, "a": 2, "s": "\ud83d \u0041 \/", "o": {}, "l": [ ]}"#;
        let saved = parse(&with_payload(payload)).to_json();
        let again = parse(&saved);
        let squeeze = |text: &str| text.split_whitespace().collect::<String>();
        assert_eq!(
            squeeze(again.messages().next().expect("one").payload()),
            squeeze(payload)
        );
        assert_eq!(saved, again.to_json());
        assert!(saved.contains("\"o\": {},\n        \"l\": []\n"), "{saved}");
    }

    #[test]
    fn deep_values_are_written_inline_below_the_cap() {
        let deep = format!("{{\"v\": {}{}}}", "[".repeat(200_000), "]".repeat(200_000));
        let saved = parse(&with_payload(&deep)).to_json();
        assert!(saved.len() < 2_000_000, "{}", saved.len());
        assert_eq!(saved, parse(&saved).to_json());
    }

    #[test]
    fn members_that_the_format_does_not_have_are_kept() {
        let text = r#"{"format_version": 3, "x-new": [1, 2], "messages": [
            {"sender": "client", "kind": "raw", "payload": "hi", "x-more": {"a": null}}]}"#;
        let saved = parse(text).to_json();
        assert!(
            saved.contains("\"x-more\": {\n        \"a\": null\n      }"),
            "{saved}"
        );
        assert!(
            saved.contains("\"x-new\": [\n    1,\n    2\n  ]"),
            "{saved}"
        );
    }

    #[test]
    fn a_repeated_member_is_refused_with_its_line() {
        for (text, line, name) in [
            (
                "{\"format_version\": 3,\n\"messages\": [],\n\"messages\": []}",
                3,
                "messages",
            ),
            (
                "{\"format_version\": 3, \"messages\": [{\"sender\": \"client\",\n\"sender\": \"server\"}]}",
                2,
                "sender",
            ),
            (
                "{\"format_version\": 3, \"redaction\": {\"profile\": null,\n\n\"profile\": \"a\"}, \"messages\": []}",
                3,
                "profile",
            ),
        ] {
            let error = Cassette::parse("c", text.into()).expect_err("a repeated member");
            assert_eq!(error.position.expect("a place").line, line);
            assert!(
                matches!(&error.problem, LoadProblem::Duplicate(found) if found == name),
                "{error}"
            );
        }
    }
}
