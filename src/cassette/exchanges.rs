//! The rows about HTTP: one for each request and its response, in the order in which they began.
//!
//! A row says what the messages do not: the status, how the body was framed, how it ended, and
//! the ids of its events. A cassette of 0.4.0 has none.

use super::model::{Cassette, string_value};
use crate::wire::json::{
    Kind as JsonKind, Scanner, Span, SyntaxError, Value, decode, write_string,
};
use std::collections::HashSet;

/// One HTTP request and its response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HttpExchange {
    /// The number that its messages have too.
    pub(crate) exchange: u32,
    /// Which session it belongs to, counted by the first `initialize` of each; none in the modern
    /// era.
    pub(crate) session: Option<u32>,
    pub(crate) http_method: String,
    pub(crate) status: u16,
    pub(crate) framing: Framing,
    /// The header as it came; none without a body.
    pub(crate) content_type: Option<String>,
    pub(crate) ended: Ended,
    /// What the request named as the last event that it had, if it resumes a stream.
    pub(crate) last_event_id: Option<String>,
    /// The events that have more than data, in their order.
    pub(crate) events: Vec<StreamEvent>,
}

/// How the body of a response holds its messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Framing {
    /// The body is one JSON value.
    Json,
    /// Server-sent events, one message each.
    Sse,
    /// There is no message in it.
    #[default]
    None,
}

/// How a response ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Ended {
    /// As the protocol says.
    #[default]
    Complete,
    /// The server's side broke off.
    Cut,
    /// The client left first, or the recording ended while it was open.
    ClientClosed,
}

/// One server-sent event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StreamEvent {
    /// The number of its (first) message; an event without one only gives an id or a time.
    pub(crate) seq: Option<i64>,
    pub(crate) id: Option<String>,
    pub(crate) retry_ms: Option<u64>,
    /// Its name, if that is not `message`.
    pub(crate) event: Option<String>,
}

impl Framing {
    /// The word in the file.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Framing::Json => "json",
            Framing::Sse => "sse",
            Framing::None => "none",
        }
    }
}

impl Ended {
    /// The word in the file.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Ended::Complete => "complete",
            Ended::Cut => "cut",
            Ended::ClientClosed => "client_closed",
        }
    }
}

impl Cassette {
    /// The rows about HTTP in the order of the file; none in a file of 0.4.0, in one over stdio,
    /// and in a recording that was not finished.
    pub(crate) fn exchanges(&self) -> Vec<HttpExchange> {
        // They were read when the file was loaded, so that there is no error left.
        let rows = self.head.http_exchanges;
        rows.and_then(|rows| read(&self.text, rows).ok())
            .unwrap_or_default()
    }
}

/// Why rows cannot be read.
#[derive(Debug)]
pub(super) enum RowFault {
    Syntax(SyntaxError),
    Row { at: Span, what: String },
}

impl From<SyntaxError> for RowFault {
    fn from(error: SyntaxError) -> RowFault {
        RowFault::Syntax(error)
    }
}

/// Reads the array at `span`. Members that no version has are skipped; the file keeps them.
pub(super) fn read(text: &str, span: Span) -> Result<Vec<HttpExchange>, RowFault> {
    let mut rows = Vec::new();
    let mut numbers = HashSet::new();
    each_item(text, span, |value| {
        let row = row(text, value)?;
        if !numbers.insert(row.exchange) {
            let what = format!("exchange {} has two rows", row.exchange);
            return Err(RowFault::Row {
                at: value.span,
                what,
            });
        }
        rows.push(row);
        Ok(())
    })?;
    Ok(rows)
}

fn row(text: &str, value: Value) -> Result<HttpExchange, RowFault> {
    let mut number = None;
    let mut row = HttpExchange {
        exchange: 0,
        session: None,
        http_method: "POST".to_owned(),
        status: 200,
        framing: Framing::None,
        content_type: None,
        ended: Ended::Complete,
        last_event_id: None,
        events: Vec::new(),
    };
    each_member(text, value, "a row of \"http_exchanges\"", |name, value| {
        let field = Field { text, name, value };
        match name {
            "exchange" => number = Some(field.number()?),
            "session" => row.session = Some(field.number()?),
            "http_method" => row.http_method = field.string()?,
            "status" => {
                row.status = field.number()?;
                // Some servers have statuses of their own beyond 599 (RFC 9110, 15).
                if !(100..=999).contains(&row.status) {
                    return Err(field.bad("a status from 100 to 999"));
                }
            }
            "framing" => {
                let known = [Framing::Json, Framing::Sse, Framing::None];
                row.framing = field.one_of(known, Framing::as_str)?;
            }
            "content_type" => row.content_type = Some(field.string()?),
            "ended" => {
                let known = [Ended::Complete, Ended::Cut, Ended::ClientClosed];
                row.ended = field.one_of(known, Ended::as_str)?;
            }
            "last_event_id" => row.last_event_id = Some(field.string()?),
            "events" => {
                if value.kind != JsonKind::BeginArray {
                    return Err(field.bad("an array"));
                }
                each_item(text, value.span, |value| {
                    row.events.push(event(text, value)?);
                    Ok(())
                })?;
            }
            _ => {}
        }
        Ok(())
    })?;
    match number {
        Some(exchange) => Ok(HttpExchange { exchange, ..row }),
        None => Err(RowFault::Row {
            at: value.span,
            what: "a row of \"http_exchanges\" has no \"exchange\"".to_owned(),
        }),
    }
}

fn event(text: &str, value: Value) -> Result<StreamEvent, RowFault> {
    let mut event = StreamEvent::default();
    each_member(text, value, "an event of a row", |name, value| {
        let field = Field { text, name, value };
        match name {
            "seq" => event.seq = Some(field.number()?),
            "id" => event.id = Some(field.string()?),
            "retry_ms" => event.retry_ms = Some(field.number()?),
            "event" => event.event = Some(field.string()?),
            _ => {}
        }
        Ok(())
    })?;
    Ok(event)
}

fn each_item(
    text: &str,
    span: Span,
    mut each: impl FnMut(Value) -> Result<(), RowFault>,
) -> Result<(), RowFault> {
    let mut scanner = Scanner::over(text, span);
    scanner.require()?;
    while let Some(value) = scanner.next_item()? {
        each(value)?;
    }
    Ok(())
}

/// Calls `each` with the members of an object that are not null.
fn each_member(
    text: &str,
    object: Value,
    what: &str,
    mut each: impl FnMut(&str, Value) -> Result<(), RowFault>,
) -> Result<(), RowFault> {
    if object.kind != JsonKind::BeginObject {
        return Err(RowFault::Row {
            at: object.span,
            what: format!("{what} is not an object"),
        });
    }
    let mut scanner = Scanner::over(text, object.span);
    scanner.require()?;
    while let Some(key) = scanner.next_key()? {
        let value = scanner.value()?;
        if value.kind != JsonKind::Null {
            each(&decode(key.inner().of(text)), value)?;
        }
    }
    Ok(())
}

/// A member of a row.
struct Field<'a> {
    text: &'a str,
    name: &'a str,
    value: Value,
}

impl Field<'_> {
    fn string(&self) -> Result<String, RowFault> {
        let string = string_value(self.value.span.of(self.text));
        string
            .map(std::borrow::Cow::into_owned)
            .ok_or_else(|| self.bad("a string"))
    }

    fn number<N: std::str::FromStr>(&self) -> Result<N, RowFault> {
        let token = self.value.span.of(self.text);
        token.parse().map_err(|_| self.bad("an integer in range"))
    }

    fn one_of<W: Copy, const N: usize>(
        &self,
        known: [W; N],
        word: fn(W) -> &'static str,
    ) -> Result<W, RowFault> {
        let told = self.string()?;
        let found = known.into_iter().find(|value| word(*value) == told);
        found.ok_or_else(|| {
            let words: Vec<String> = known.map(|value| format!("\"{}\"", word(value))).into();
            self.bad(&words.join(", "))
        })
    }

    fn bad(&self, wanted: &str) -> RowFault {
        RowFault::Row {
            at: self.value.span,
            what: format!(
                "\"{}\" of a row of \"http_exchanges\" must be {wanted}",
                self.name
            ),
        }
    }
}

/// The row as JSON. Members at their default are left out.
pub(super) fn write(row: &HttpExchange) -> String {
    let events: Vec<String> = row.events.iter().map(write_event).collect();
    object(&[
        ("exchange", Some(row.exchange.to_string())),
        ("session", row.session.map(|session| session.to_string())),
        ("http_method", Some(quoted(&row.http_method))),
        (
            "status",
            (row.status != 200).then(|| row.status.to_string()),
        ),
        ("framing", Some(quoted(row.framing.as_str()))),
        ("content_type", row.content_type.as_deref().map(quoted)),
        (
            "ended",
            (row.ended != Ended::Complete).then(|| quoted(row.ended.as_str())),
        ),
        ("last_event_id", row.last_event_id.as_deref().map(quoted)),
        (
            "events",
            (!events.is_empty()).then(|| format!("[{}]", events.join(","))),
        ),
    ])
}

fn write_event(event: &StreamEvent) -> String {
    object(&[
        ("seq", event.seq.map(|seq| seq.to_string())),
        ("id", event.id.as_deref().map(quoted)),
        ("retry_ms", event.retry_ms.map(|time| time.to_string())),
        ("event", event.event.as_deref().map(quoted)),
    ])
}

/// An object of the members that there are.
fn object(members: &[(&str, Option<String>)]) -> String {
    let there = |(name, value): &(&str, Option<String>)| {
        let value = value.as_ref()?;
        Some(format!("\"{name}\":{value}"))
    };
    let members: Vec<String> = members.iter().filter_map(there).collect();
    format!("{{{}}}", members.join(","))
}

fn quoted(text: &str) -> String {
    let mut out = String::new();
    write_string(text, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(rows: &str) -> Result<Cassette, crate::cassette::LoadError> {
        let text = format!(
            "{{\"format_version\":3,\"transport\":\"http\",\"messages\":[],\n\"http_exchanges\":{rows}}}"
        );
        Cassette::parse("c", text.into_bytes())
    }

    #[test]
    fn rows_are_read_as_they_are_written() {
        let rows = vec![
            HttpExchange {
                exchange: 0,
                session: Some(0),
                http_method: "POST".to_owned(),
                status: 200,
                framing: Framing::Sse,
                content_type: Some("text/event-stream".to_owned()),
                ended: Ended::Cut,
                last_event_id: Some("é\"1".to_owned()),
                events: vec![
                    StreamEvent {
                        id: Some("a".to_owned()),
                        retry_ms: Some(500),
                        ..StreamEvent::default()
                    },
                    StreamEvent {
                        seq: Some(7),
                        event: Some("endpoint".to_owned()),
                        ..StreamEvent::default()
                    },
                ],
            },
            HttpExchange {
                exchange: 1,
                session: None,
                http_method: "DELETE".to_owned(),
                status: 405,
                framing: Framing::None,
                content_type: None,
                ended: Ended::Complete,
                last_event_id: None,
                events: Vec::new(),
            },
        ];
        let written: Vec<String> = rows.iter().map(write).collect();
        let cassette = load(&format!("[{}]", written.join(","))).unwrap();
        assert_eq!(cassette.exchanges(), rows);
        let again = Cassette::parse("c", cassette.to_json().into_bytes()).unwrap();
        assert_eq!(again.exchanges(), rows);
        assert_eq!(again.to_json(), cassette.to_json());
    }

    #[test]
    fn what_a_row_does_not_say_is_its_default_and_what_nobody_knows_is_kept() {
        let cassette = load(r#"[{"exchange": 4, "ended": null, "x": [1]}]"#).unwrap();
        let [row] = &cassette.exchanges()[..] else {
            panic!("one row");
        };
        assert_eq!((row.exchange, row.status), (4, 200));
        assert_eq!((row.ended, row.framing), (Ended::Complete, Framing::None));
        assert!(cassette.to_json().contains("\"x\": [\n"));
        for none in ["[]", "null"] {
            assert!(load(none).unwrap().exchanges().is_empty());
        }
    }

    #[test]
    fn a_row_that_says_nonsense_is_refused_with_its_line() {
        for (rows, expected) in [
            (r#"[1]"#, "is not an object"),
            (r#"[{}]"#, "has no \"exchange\""),
            (r#"[{"exchange": -1}]"#, "\"exchange\" of a row"),
            (r#"[{"exchange": 0}, {"exchange": 0}]"#, "has two rows"),
            (r#"[{"exchange": 0, "status": 99}]"#, "from 100 to 999"),
            (r#"[{"exchange": 0, "status": 1000}]"#, "from 100 to 999"),
            (
                r#"[{"exchange": 0, "framing": "xml"}]"#,
                "\"json\", \"sse\"",
            ),
            (r#"[{"exchange": 0, "events": {}}]"#, "an array"),
            (r#"[{"exchange": 0, "events": [{"id": 1}]}]"#, "a string"),
            (r#"[{"exchange": 0, "exchange": 1}]"#, "twice"),
        ] {
            let error = load(rows).unwrap_err();
            assert!(error.to_string().contains(expected), "{rows}: {error}");
            assert_eq!(error.position.unwrap().line, 2, "{rows}");
        }
    }
}
