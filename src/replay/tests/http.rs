//! The replayer over HTTP: statuses, framings, sessions and streams.

mod answers;
mod episodes;
mod modern;
mod sessions;
mod streams;

use super::{GREETING, INITIALIZE, INITIALIZED};
use crate::cassette::Cassette;
use crate::replay::http::{RequestHead, ResponseHead};
use crate::replay::{Action, Forward, Options, Replayer};
use crate::wire::lane::Lane;
use std::sync::Arc;
use std::time::Duration;

/// A recorded message: who sent it (`c`, `s` on a POST, `g` on a GET), in which exchange, and what.
pub(super) type Sent<'a> = (char, u32, &'a str);

/// A cassette over HTTP; without rows it is one of 0.4.0.
pub(super) fn cassette(session: &str, messages: &[Sent<'_>], rows: &[&str]) -> Cassette {
    let messages: Vec<String> = messages
        .iter()
        .enumerate()
        .map(|(seq, (who, exchange, payload))| {
            let (sender, channel) = match who {
                'c' => ("client", "null"),
                's' => ("server", "\"post\""),
                _ => ("server", "\"get\""),
            };
            format!(
                r#"{{"seq": {seq}, "t_offset_ms": {}, "sender": "{sender}", "kind": "request", "payload": {payload}, "exchange": {exchange}, "channel": {channel}}}"#,
                seq * 10
            )
        })
        .collect();
    let rows = match rows {
        [] => String::new(),
        rows => format!(", \"http_exchanges\": [{}]", rows.join(",")),
    };
    let text = format!(
        "{{\"format_version\": 3, \"transport\": \"http\", \"session_id\": {session}, \"messages\": [{}]{rows}}}",
        messages.join(",\n")
    );
    Cassette::parse("test", text.into_bytes()).expect("a cassette")
}

/// Clients on HTTP with a clock of their own.
pub(super) struct Web {
    pub(super) core: Replayer,
    pub(super) now: Duration,
    waits: Option<Duration>,
    next: u32,
    /// What went to the real server.
    pub(super) forwarded: Vec<Forward>,
}

impl Web {
    pub(super) fn new(cassette: Cassette) -> Web {
        Web::with(cassette, Options::default())
    }

    pub(super) fn with(cassette: Cassette, options: Options) -> Web {
        Web {
            core: Replayer::new(Arc::new(cassette), options).expect("pointers"),
            now: Duration::ZERO,
            waits: None,
            next: 0,
            forwarded: Vec::new(),
        }
    }

    /// What happens on all connections when this is posted.
    pub(super) fn post(&mut self, session: &str, body: &str) -> Vec<String> {
        self.post_as(&head(session), body)
    }

    pub(super) fn post_as(&mut self, head: &RequestHead<'_>, body: &str) -> Vec<String> {
        self.core.post(self.now, self.next, head, body.as_bytes());
        self.next += 1;
        self.heard()
    }

    pub(super) fn get(&mut self, session: &str, last_event_id: Option<&str>) -> Vec<String> {
        let head = RequestHead {
            last_event_id,
            ..head(session)
        };
        self.core.get(self.next, &head);
        self.next += 1;
        self.heard()
    }

    pub(super) fn delete(&mut self, session: &str) -> Vec<String> {
        self.core.delete(self.next, &head(session));
        self.next += 1;
        self.heard()
    }

    pub(super) fn gone(&mut self, lane: Lane) -> Vec<String> {
        self.core.gone(lane);
        self.heard()
    }

    /// Begins the session, and gives its id.
    pub(super) fn initialize(&mut self) -> String {
        let heard = self.post("", INITIALIZE).join("\n");
        let id = heard
            .split_whitespace()
            .find(|word| word.starts_with("mcc-"));
        let id = id
            .unwrap_or_else(|| panic!("no session: {heard}"))
            .to_owned();
        self.post(&id, INITIALIZED);
        id
    }

    pub(super) fn heard(&mut self) -> Vec<String> {
        let mut heard = Vec::new();
        self.waits = None;
        loop {
            let line = match self.core.poll(self.now) {
                Action::Respond { lane, head, body } => {
                    let body = String::from_utf8(body).expect("UTF-8");
                    format!("{}: {} {body}", number(lane), shown(&head))
                }
                Action::Begin { lane, head } => format!("{} begins {}", number(lane), shown(&head)),
                Action::Send { lane, bytes } => {
                    let bytes = String::from_utf8(bytes).expect("UTF-8");
                    let bytes = bytes.trim_end().replace("event: message\n", "");
                    format!("{} {}", number(lane), bytes.replace('\n', " "))
                }
                Action::End { lane, cut: false } => format!("{} ends", number(lane)),
                Action::End { lane, cut: true } => format!("{} is cut", number(lane)),
                Action::Abort => "aborted".to_owned(),
                Action::Forward(forward) => {
                    self.forwarded.push(forward);
                    continue;
                }
                Action::Wait(at) => {
                    assert!(at > self.now, "it waits for what is due");
                    self.waits = Some(at);
                    return heard;
                }
                Action::Idle => return heard,
            };
            heard.push(line);
        }
    }

    /// What happens in the next milliseconds.
    pub(super) fn pass(&mut self, ms: u64) -> Vec<String> {
        let end = self.now + Duration::from_millis(ms);
        let mut heard = self.heard();
        while let Some(at) = self.waits.filter(|at| *at <= end) {
            self.now = at;
            heard.extend(self.heard());
        }
        self.now = end;
        heard
    }
}

pub(super) fn head(session: &str) -> RequestHead<'_> {
    RequestHead {
        session: Some(session).filter(|session| !session.is_empty()),
        accepts_events: true,
        ..RequestHead::default()
    }
}

fn number(lane: Lane) -> u32 {
    match lane {
        Lane::Post(number) | Lane::Get(number) => number,
        Lane::Stdio => panic!("stdio"),
    }
}

fn shown(head: &ResponseHead) -> String {
    let kind = match head.content_type.as_deref() {
        Some("application/json") => " json",
        Some("text/event-stream") => " events",
        Some(other) => &format!(" {other}"),
        None => "",
    };
    let session = head.session.as_ref().map(|id| format!(" {id}"));
    format!("{}{kind}{}", head.status, session.unwrap_or_default())
}

pub(super) const ID: &str = "\"<SESSION>_0123456789ab\"";

/// The greeting as exchanges 0 and 1, and then these messages.
pub(super) fn greeted<'a>(messages: &[Sent<'a>]) -> Vec<Sent<'a>> {
    let greeting = [
        ('c', 0, INITIALIZE),
        ('s', 0, GREETING),
        ('c', 1, INITIALIZED),
    ];
    [&greeting, messages].concat()
}

pub(super) const JSON_0: &str = r#"{"exchange": 0, "session": 0, "http_method": "POST", "framing": "json", "content_type": "application/json"}"#;
pub(super) const NONE_1: &str =
    r#"{"exchange": 1, "session": 0, "http_method": "POST", "status": 202, "framing": "none"}"#;

/// Texts of tests live as long as the test.
pub(super) fn leak(text: impl Into<String>) -> &'static str {
    Box::leak(text.into().into_boxed_str())
}

const MODERN: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;

pub(super) fn modern_head<'a>(method: &'a str, name: Option<&'a str>) -> RequestHead<'a> {
    RequestHead {
        version: Some("2026-07-28"),
        method: Some(method),
        name,
        accepts_events: true,
        ..RequestHead::default()
    }
}

pub(super) fn modern(id: &str, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{params}{MODERN}}}}}"#)
}
