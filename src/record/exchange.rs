//! One HTTP request and its response on their way into the recording: which bytes are messages,
//! and what the row about them says.

use super::log::{Log, Origin};
use super::url::{path_and_query, query_values};
use crate::cassette::Sender;
use crate::cassette::exchanges::{Ended, Framing, HttpExchange, StreamEvent};
use crate::wire::bounded::{Bounded, MOST_AT_ONCE};
use crate::wire::lane::Lane;
use crate::wire::lines::Line;
use crate::wire::mcp::MODERN_REVISION;
use crate::wire::sse::reader::{Event, Reader};
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

/// What a request says before its body.
#[derive(Clone, Default)]
pub(crate) struct Asked {
    pub(crate) http_method: String,
    /// `Mcp-Session-Id`.
    pub(crate) session: Option<String>,
    /// On the older transport, the address that a stream named for what the client says.
    pub(crate) endpoint: Option<String>,
    /// `MCP-Protocol-Version`.
    pub(crate) version: Option<String>,
    pub(crate) last_event_id: Option<String>,
    /// The recorded session that it goes on with.
    pub(crate) goes_on: Option<u32>,
    /// What must not be found in the recording.
    pub(crate) secrets: Vec<String>,
}

/// What a response says before its body.
#[derive(Clone, Default)]
pub(crate) struct Answered {
    pub(crate) status: u16,
    pub(crate) content_type: Option<String>,
    /// `Mcp-Session-Id`.
    pub(crate) session: Option<String>,
    /// What must not be found in the recording.
    pub(crate) secrets: Vec<String>,
}

/// What happens to an exchange besides the bytes of its bodies.
#[derive(Clone)]
pub(crate) enum Step {
    Asked(Box<Asked>),
    /// The body of the request is over.
    Said,
    Answered(Box<Answered>),
    /// What follows in the body of this side cannot be read, and why.
    Unreadable(Sender, String),
    Ended(Ended),
}

/// The exchanges of a recording.
#[derive(Debug)]
pub(super) struct Exchanges {
    max_message: usize,
    /// They are added to an earlier recording, where a response without its answer would keep a
    /// request from being asked again.
    follows: bool,
    open: BTreeMap<u32, Exchange>,
    /// How much is kept of bodies that have not ended, and how much at most, in bytes.
    held: usize,
    room: usize,
    /// How much more is kept of events that carry no message, in bytes; nothing once that was said.
    room_for_events: Option<usize>,
    over: Vec<Row>,
    sessions: Sessions,
}

/// Which session is which number.
#[derive(Debug)]
struct Sessions {
    first: u32,
    by_key: HashMap<String, u32>,
    next: u32,
    /// The one that began last; what names none belongs to it.
    latest: u32,
}

/// So much is kept of events that carry no message, in bytes: some servers keep a stream alive with
/// them for days.
const MOST_OF_EVENTS: usize = 16 << 20;

/// So many ids of sessions are told apart.
const MOST_SESSIONS: usize = 100_000;

#[derive(Debug)]
struct Exchange {
    row: Row,
    said: Body,
    said_over: bool,
    /// Whether the client waits for an answer on it.
    asks: bool,
    endpoint: Option<String>,
    answered: Body,
    has_messages: bool,
}

/// A row whose session may not be known yet.
#[derive(Debug)]
struct Row {
    row: HttpExchange,
    session: Session,
}

#[derive(Debug)]
enum Session {
    Number(u32),
    /// What the request named, and the number if nobody learns what that is.
    Key(String, u32),
    None,
}

/// What is made of the bytes of a body.
#[derive(Debug)]
enum Body {
    /// They are no messages.
    Ignored,
    Whole(Bounded),
    /// Taken only if it is JSON-RPC.
    IfMessage(Bounded),
    Events(Box<Reader>),
    /// Nobody can read it.
    Unreadable(String),
}

impl Exchanges {
    /// `session` is the first number that is free; `follows` says that they are added to an earlier
    /// recording.
    pub(super) fn new(max_message: usize, session: u32, follows: bool) -> Exchanges {
        Exchanges {
            max_message,
            follows,
            open: BTreeMap::new(),
            held: 0,
            room: MOST_AT_ONCE,
            room_for_events: Some(MOST_OF_EVENTS),
            over: Vec::new(),
            sessions: Sessions {
                first: session,
                by_key: HashMap::new(),
                next: session,
                latest: session,
            },
        }
    }

    /// Takes bytes of a body.
    pub(super) fn bytes(&mut self, log: &mut Log, origin: Origin, number: u32, bytes: &[u8]) {
        let Some(exchange) = self.open.get_mut(&number) else {
            return;
        };
        let body = match origin.sender {
            Sender::Client => &mut exchange.said,
            Sender::Server => &mut exchange.answered,
        };
        let before = body.held();
        if self.held + bytes.len() > self.room {
            body.let_go();
        }
        match body {
            Body::Ignored | Body::Unreadable(_) => {}
            Body::Whole(text) | Body::IfMessage(text) => text.push(bytes),
            Body::Events(reader) => {
                let (row, has_messages) = (&mut exchange.row, &mut exchange.has_messages);
                let room = &mut self.room_for_events;
                reader.push(bytes, |event| {
                    *has_messages |= row.event(log, origin, event, room);
                });
            }
        }
        self.held = self.held.saturating_sub(before) + body.held();
    }

    /// Bodies that have not ended are kept up to so many bytes in all, and of events that carry no
    /// message as much.
    #[cfg(test)]
    pub(super) fn bound(&mut self, room: usize) {
        self.room = room;
        self.room_for_events = Some(room);
    }

    pub(super) fn step(&mut self, log: &mut Log, at: Duration, number: u32, step: Step) {
        match step {
            Step::Asked(asked) => self.asked(log, number, *asked),
            Step::Said => self.said(log, at, number),
            Step::Answered(answered) => self.answered(log, number, *answered),
            Step::Unreadable(sender, why) => {
                if let Some(exchange) = self.open.get_mut(&number) {
                    log.notice(format!(
                        "warning: a body from the {} could not be read ({why}); it was passed on, and \
                         is not in the recording",
                        sender.as_str()
                    ));
                    let body = match sender {
                        Sender::Client => &mut exchange.said,
                        Sender::Server => &mut exchange.answered,
                    };
                    self.held = self.held.saturating_sub(body.held());
                    *body = Body::Unreadable(why);
                }
            }
            Step::Ended(ended) => self.ended(log, at, number, ended),
        }
    }

    /// Nothing more comes: what is open stays so until the client leaves.
    pub(super) fn finish(&mut self, log: &mut Log, at: Duration) {
        let open: Vec<u32> = self.open.keys().copied().collect();
        for number in open {
            let asks = self.open.get(&number).is_some_and(|it| it.asks);
            // Where it is added to others, nobody knows what its client would have waited for.
            let ended = match self.follows && asks && log.is_awaited(number) {
                true => Ended::Cut,
                false => Ended::ClientClosed,
            };
            self.ended(log, at, number, ended);
        }
        if self.follows {
            // The answer may have come on another stream; where none came, the response is no better
            // than one that was cut.
            self.over
                .retain(|Row { row, .. }| !log.is_awaited(row.exchange));
        }
    }

    /// How many sessions began.
    pub(super) fn sessions(&self) -> u32 {
        self.sessions.next.saturating_sub(self.sessions.first)
    }

    /// The rows of the exchanges that are over, in the order in which they began.
    pub(super) fn rows(&self) -> Vec<HttpExchange> {
        let mut rows: Vec<HttpExchange> = self
            .over
            .iter()
            .map(|Row { row, session }| HttpExchange {
                session: match session {
                    Session::Number(number) => Some(*number),
                    Session::Key(key, otherwise) => {
                        Some(self.sessions.by_key.get(key).copied().unwrap_or(*otherwise))
                    }
                    Session::None => None,
                },
                ..row.clone()
            })
            .collect();
        rows.sort_by_key(|row| row.exchange);
        rows
    }

    fn asked(&mut self, log: &mut Log, number: u32, asked: Asked) {
        for secret in &asked.secrets {
            log.known.add_secret(secret);
        }
        if let Some(id) = &asked.session {
            log.session_id(id);
        }
        let version = asked.version.as_deref();
        let is_modern = version.is_some_and(|version| version >= MODERN_REVISION);
        let session = match asked.session.or(asked.endpoint.clone()) {
            _ if is_modern => Session::None,
            _ if asked.goes_on.is_some() => asked.goes_on.map_or(Session::None, Session::Number),
            Some(key) => Session::Key(key, self.sessions.latest),
            None => Session::Number(self.sessions.latest),
        };
        let is_read = !["GET", "HEAD", "DELETE", "OPTIONS"].contains(&asked.http_method.as_str());
        let exchange = Exchange {
            row: Row {
                row: HttpExchange {
                    exchange: number,
                    session: None,
                    http_method: asked.http_method,
                    status: 200,
                    framing: Framing::None,
                    content_type: None,
                    ended: Ended::Complete,
                    last_event_id: asked.last_event_id.map(|id| log.scrubbed(&id)),
                    events: Vec::new(),
                },
                session,
            },
            said: match is_read {
                true => Body::Whole(Bounded::new(self.max_message)),
                false => Body::Ignored,
            },
            said_over: false,
            asks: false,
            endpoint: asked.endpoint,
            answered: Body::Ignored,
            has_messages: false,
        };
        self.open.insert(number, exchange);
    }

    fn said(&mut self, log: &mut Log, at: Duration, number: u32) {
        let Some(exchange) = self.open.get_mut(&number) else {
            return;
        };
        if std::mem::replace(&mut exchange.said_over, true) {
            return;
        }
        let origin = Origin {
            at,
            sender: Sender::Client,
            lane: exchange.lane(number),
        };
        log.seen.clear();
        self.held = self.held.saturating_sub(exchange.said.held());
        exchange.said.end(log, origin);
        exchange.asks = log.seen.asks;
        if log.seen.modern {
            exchange.row.session = Session::None;
        } else if log.seen.initialize {
            let session = self.sessions.begin();
            exchange.row.session = Session::Number(session);
            if let Some(address) = &exchange.endpoint {
                self.sessions.name(address, session);
            }
        }
    }

    fn answered(&mut self, log: &mut Log, number: u32, answered: Answered) {
        for secret in &answered.secrets {
            log.known.add_secret(secret);
        }
        if let Some(id) = &answered.session {
            log.session_id(id);
        }
        let Some(exchange) = self.open.get_mut(&number) else {
            return;
        };
        if let (Some(id), Session::Number(session)) = (&answered.session, &exchange.row.session) {
            self.sessions.name(id, *session);
        }
        let row = &mut exchange.row.row;
        row.status = answered.status;
        let kind = answered.content_type.as_deref().unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        let is_delete = row.http_method == "DELETE" || row.http_method == "HEAD";
        let text = || Bounded::new(self.max_message);
        exchange.answered = match answered.status {
            _ if is_delete => Body::Ignored,
            _ if kind.eq_ignore_ascii_case("text/event-stream") => {
                row.framing = Framing::Sse;
                Body::Events(Box::new(Reader::new(self.max_message)))
            }
            // No content, whatever a server puts there.
            202 | 204 | 205 => Body::Ignored,
            200..300 => Body::Whole(text()),
            400.. if row.http_method != "GET" => Body::IfMessage(text()),
            _ => Body::Ignored,
        };
        row.content_type = answered
            .content_type
            .map(|kind| log.redacted(&kind, "content_type"));
    }

    fn ended(&mut self, log: &mut Log, at: Duration, number: u32, ended: Ended) {
        self.said(log, at, number);
        let Some(mut exchange) = self.open.remove(&number) else {
            return;
        };
        let origin = Origin {
            at,
            sender: Sender::Server,
            lane: exchange.lane(number),
        };
        self.held = self.held.saturating_sub(exchange.answered.held());
        exchange.has_messages |= exchange.answered.end(log, origin);
        let row = &mut exchange.row.row;
        // Some clients leave as soon as they have their answer, a moment before the stream ends by
        // itself: which of the two comes first is chance, and means nothing.
        let has_answer = exchange.asks && exchange.has_messages && !log.is_awaited(number);
        let ended = match ended {
            Ended::ClientClosed if has_answer => Ended::Complete,
            ended => ended,
        };
        row.ended = ended;
        if row.framing == Framing::None && exchange.has_messages {
            row.framing = Framing::Json;
        }
        if row.framing == Framing::None {
            row.content_type = None;
        }
        if self.follows && ended == Ended::Cut && exchange.asks && log.is_awaited(number) {
            return;
        }
        // A request that was redirected is asked again.
        if ended == Ended::ClientClosed || row.status >= 300 {
            log.gave_up(number);
        }
        self.over.push(exchange.row);
    }
}

impl Sessions {
    fn begin(&mut self) -> u32 {
        self.latest = self.next;
        self.next = self.next.saturating_add(1);
        self.latest
    }

    fn name(&mut self, key: &str, session: u32) {
        if self.by_key.len() < MOST_SESSIONS {
            self.by_key.insert(key.to_owned(), session);
        }
    }
}

impl Exchange {
    fn lane(&self, number: u32) -> Lane {
        match self.row.row.http_method == "GET" {
            true => Lane::Get(number),
            false => Lane::Post(number),
        }
    }
}

impl Body {
    /// How many bytes of it are kept.
    fn held(&self) -> usize {
        match self {
            Body::Ignored | Body::Unreadable(_) => 0,
            Body::Whole(text) | Body::IfMessage(text) => text.held(),
            Body::Events(reader) => reader.held(),
        }
    }

    /// Keeps nothing more of the message that is not whole.
    fn let_go(&mut self) {
        match self {
            Body::Ignored | Body::Unreadable(_) => {}
            Body::Whole(text) | Body::IfMessage(text) => text.let_go(),
            Body::Events(reader) => reader.let_go(),
        }
    }

    /// The body is over; whether there were messages in it that are told only now.
    fn end(&mut self, log: &mut Log, origin: Origin) -> bool {
        let before = log.messages();
        match std::mem::replace(self, Body::Ignored) {
            Body::Ignored | Body::Events(_) => {}
            Body::Whole(mut text) => text.take(|line| log.line(origin, &line)),
            Body::IfMessage(mut text) => text.take(|line| {
                if is_message(&line) {
                    log.line(origin, &line);
                }
            }),
            Body::Unreadable(why) => {
                let text = format!("mcp-cassette: a body that could not be read ({why})");
                log.raw(origin, text.as_bytes());
            }
        }
        log.messages() > before
    }
}

/// Whether a body says by itself that it is a message, and is not the page of a web server.
fn is_message(line: &Line<'_>) -> bool {
    match line {
        Line::Whole(bytes) => {
            let text = std::str::from_utf8(bytes).unwrap_or_default();
            super::payload::says_json_rpc(text)
        }
        Line::TooLong { .. } => true,
    }
}

impl Row {
    /// Takes an event; whether it carried a message. `room` is what may still be kept of those that
    /// carry none.
    fn event(
        &mut self,
        log: &mut Log,
        origin: Origin,
        event: &Event<'_>,
        room: &mut Option<usize>,
    ) -> bool {
        let seq = log.next_seq();
        let before = log.messages();
        let name = event.name.filter(|name| *name != "message");
        match (name, &event.data) {
            (None, data) => log.line(origin, data),
            (Some("endpoint"), Line::Whole(address)) => {
                let address = String::from_utf8_lossy(address);
                let address = path_and_query(&address);
                for value in query_values(address) {
                    log.session_id(value);
                }
                // The session begins with the `initialize` that is sent there.
                if let Session::Number(otherwise) = self.session {
                    self.session = Session::Key(address.to_owned(), otherwise);
                }
            }
            (Some(_), Line::Whole([])) => {}
            (Some(_), Line::Whole(data)) => log.raw(origin, data),
            (Some(_), data @ Line::TooLong { .. }) => log.line(origin, data),
        }
        let told = StreamEvent {
            seq: (log.messages() > before).then_some(seq),
            id: event.id.map(|id| log.scrubbed(id)),
            retry_ms: event.retry_ms,
            event: name.map(|name| log.scrubbed(name)),
        };
        let is_plain = told.id.is_none() && told.retry_ms.is_none() && told.event.is_none();
        let carried = told.seq.is_some();
        if !is_plain && (carried || has_room(&told, room, log)) {
            self.row.events.push(told);
        }
        carried
    }
}

/// Whether there is room for an event that carries no message. When there is none any more, that is
/// said once.
fn has_room(told: &StreamEvent, room: &mut Option<usize>, log: &mut Log) -> bool {
    let Some(left) = *room else {
        return false;
    };
    let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    let size = size_of::<StreamEvent>() + length(&told.id) + length(&told.event);
    *room = left.checked_sub(size);
    if room.is_none() {
        log.notice(
            "warning: the server sent very many events without a message; they are passed on, and \
             further ones are not in the recording"
                .to_owned(),
        );
    }
    room.is_some()
}
