//! Responses on their way: what is said on which connection, and how each is framed and ends.
//!
//! A message is for a stream, not for a connection: the answer to a POST may go on in a GET that
//! names its last event, and what a session is told besides waits for a GET that takes it.

use super::ResponseHead;
use super::rows::{Facts, Rows};
use super::stream::{MOST_KEPT, Stream};
use crate::cassette::exchanges::Framing;
use crate::replay::Action;
use crate::replay::plan::NONE;
use crate::wire::lane::Lane;
use crate::wire::sse::writer;
use std::collections::{HashMap, VecDeque};

/// So many ended streams can still be asked for, and no more than [`MOST_KEPT`] of them.
const MOST_ENDED: usize = 256;
const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// What a message is said on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::replay) enum Key {
    /// The response to a POST.
    Post(u32),
    /// What a live session is told besides, on the GETs that it has open.
    Besides(u32),
}

/// How a request is answered.
#[derive(Debug, Default)]
pub(in crate::replay) struct Manner {
    /// The recorded exchange, or [`NONE`].
    pub(in crate::replay) exchange: u32,
    pub(in crate::replay) status: u16,
    pub(in crate::replay) framing: Framing,
    pub(in crate::replay) content_type: Option<String>,
    /// The id that the response gives the session.
    pub(in crate::replay) session: Option<String>,
    /// The head goes out before there is a message.
    pub(in crate::replay) at_once: bool,
    /// The stream is cut after so many messages.
    pub(in crate::replay) cut_after: Option<u64>,
}

/// All streams, and what is to be done about them.
#[derive(Debug, Default)]
pub(in crate::replay) struct Streams {
    pub(in crate::replay) out: VecDeque<Action>,
    open: HashMap<Key, Stream>,
    /// What the open GETs carry.
    carried: HashMap<Lane, Key>,
    /// Streams that are over and kept, the oldest first.
    ended: VecDeque<Key>,
}

/// A message for a stream.
#[derive(Debug)]
pub(in crate::replay) struct Part {
    pub(in crate::replay) bytes: Vec<u8>,
    /// The recorded message, and its exchange; both may be [`NONE`].
    pub(in crate::replay) row: u32,
    pub(in crate::replay) exchange: u32,
    /// It is a request of the server.
    pub(in crate::replay) asks: bool,
}

impl Streams {
    /// A POST has come.
    pub(in crate::replay) fn open(&mut self, number: u32, live: u32) {
        let stream = Stream {
            live,
            outlets: vec![Lane::Post(number)],
            head: ResponseHead::of(200),
            framing: Framing::Json,
            receiving: true,
            exchange: NONE,
            ..Stream::default()
        };
        self.open.insert(Key::Post(number), stream);
    }

    /// The session whose POST it is.
    pub(in crate::replay) fn belongs(&mut self, number: u32, live: u32) {
        if let Some(stream) = self.open.get_mut(&Key::Post(number)) {
            stream.live = live;
        }
    }

    /// Whether the response to a POST is not over.
    pub(in crate::replay) fn is_open(&self, number: u32) -> bool {
        let stream = self.open.get(&Key::Post(number));
        stream.is_some_and(|stream| stream.ended.is_none())
    }

    /// An answer more is to come.
    pub(in crate::replay) fn expect(&mut self, number: u32) {
        if let Some(stream) = self.open.get_mut(&Key::Post(number)) {
            stream.owed += 1;
        }
    }

    /// How a POST is answered, as its first request has it.
    pub(in crate::replay) fn prepare(&mut self, number: u32, manner: Manner, rows: &Rows) {
        let key = Key::Post(number);
        let Some(stream) = self.open.get_mut(&key).filter(|it| !it.prepared) else {
            return;
        };
        stream.prepared = true;
        stream.exchange = manner.exchange;
        stream.framing = manner.framing;
        stream.head.status = manner.status;
        stream.head.session = manner.session;
        let facts = rows.facts(manner.exchange);
        let goes_on = facts.is_some_and(Facts::goes_on);
        stream.keeps = facts.is_some_and(Facts::has_ids) || goes_on;
        stream.cut_after = manner.cut_after;
        stream.keeps |= manner.cut_after.is_some();
        let default = match manner.framing {
            Framing::Json => Some(JSON),
            Framing::Sse => Some(EVENTS),
            Framing::None => None,
        };
        // A recorded type counts if it is one of that framing.
        let recorded = manner.content_type.filter(|recorded| {
            let essence = recorded.split(';').next().unwrap_or_default().trim();
            default.is_some_and(|default| essence.eq_ignore_ascii_case(default))
        });
        stream.head.content_type = recorded.or(default.map(str::to_owned));
        if manner.at_once {
            self.begin(key, rows);
        }
    }

    /// A POST is answered with an error of ours.
    pub(in crate::replay) fn prepare_error(&mut self, number: u32, status: u16) {
        let stream = self.open.get_mut(&Key::Post(number));
        if let Some(stream) = stream.filter(|stream| !stream.prepared) {
            stream.prepared = true;
            stream.head.status = status;
        }
    }

    /// All of the request was taken in.
    pub(in crate::replay) fn received(&mut self, number: u32, rows: &Rows) {
        let key = Key::Post(number);
        let Some(stream) = self.open.get_mut(&key) else {
            return;
        };
        stream.receiving = false;
        if stream.owed == 0 && !stream.begun {
            stream.head = ResponseHead::of(202);
            stream.framing = Framing::None;
        }
        self.settle(key, rows);
    }

    /// Says a message that others may follow. Whether somebody heard it.
    pub(in crate::replay) fn say(&mut self, key: Key, part: &Part, rows: &Rows) -> bool {
        let Some(stream) = self.open.get_mut(&key) else {
            return false;
        };
        if !stream.begun {
            // One body of JSON holds no two messages.
            stream.framing = Framing::Sse;
            stream.head.content_type = Some(EVENTS.to_owned());
            self.begin(key, rows);
        }
        let Some(stream) = self.open.get_mut(&key) else {
            return false;
        };
        if part.exchange != NONE && part.exchange != stream.exchange {
            stream.exchange = part.exchange;
            stream.next_event = 0;
        }
        let mut own = None;
        let facts = rows.facts(stream.exchange);
        if let Some(facts) = facts {
            let (before, event, next) = facts.events_to(stream.next_event, part.row);
            stream.next_event = next;
            own = event;
            for event in before {
                let bytes = stream.framed(Some(event), b"");
                stream.send(bytes, None, &mut self.out);
            }
        }
        let bytes = stream.framed(own, &part.bytes);
        let asks = part.asks.then_some(part.row);
        let heard = stream.send(bytes, asks, &mut self.out);
        stream.said += 1;
        let breaks = facts.is_some_and(|facts| part.row != NONE && facts.breaks_after(part.row));
        let was_cut = facts.is_some_and(Facts::was_cut);
        if stream.is_to_be_cut() {
            self.break_off(key, true);
        } else if breaks {
            self.break_off(key, was_cut);
        }
        heard
    }

    /// Says the last message of an answer.
    pub(in crate::replay) fn answer(&mut self, key: Key, part: Part, rows: &Rows) {
        let Some(stream) = self.open.get_mut(&key) else {
            return;
        };
        let Some(&lane) = stream.outlets.last().filter(|_| stream.is_one_body()) else {
            self.say(key, &part, rows);
            return self.done(key, rows);
        };
        let mut head = std::mem::take(&mut stream.head);
        head.content_type.get_or_insert_with(|| JSON.to_owned());
        match stream.cut_after {
            None => self.out.push_back(Action::Respond {
                lane,
                head,
                body: part.bytes,
            }),
            Some(_) => {
                self.out.push_back(Action::Begin { lane, head });
                self.out.push_back(Action::End { lane, cut: true });
            }
        }
        self.open.remove(&key);
    }

    /// One of the answers is there, or will never be.
    pub(in crate::replay) fn done(&mut self, key: Key, rows: &Rows) {
        if let Some(stream) = self.open.get_mut(&key) {
            stream.owed = stream.owed.saturating_sub(1);
        }
        self.settle(key, rows);
    }

    /// The head is sent; whether anything follows is open.
    pub(in crate::replay) fn show_head(&mut self, number: u32, rows: &Rows) {
        self.begin(Key::Post(number), rows);
    }

    /// Says a body that breaks off.
    pub(in crate::replay) fn break_in(&mut self, number: u32, half: &[u8], rows: &Rows) {
        let key = Key::Post(number);
        let Some(stream) = self.open.get(&key) else {
            return;
        };
        let bytes = match stream.framing {
            Framing::Sse => {
                let mut framed = Vec::new();
                writer::begin(writer::Event::default(), half, &mut framed);
                framed
            }
            Framing::Json | Framing::None => half.to_vec(),
        };
        self.begin(key, rows);
        let Some(stream) = self.open.remove(&key) else {
            return;
        };
        if let Some(&lane) = stream.outlets.last() {
            self.out.push_back(Action::Send { lane, bytes });
            self.out.push_back(Action::End { lane, cut: true });
        }
    }

    /// Answers a POST with something of its own, whatever was to come.
    pub(in crate::replay) fn refuse(&mut self, number: u32, head: ResponseHead, body: Vec<u8>) {
        if self.open.remove(&Key::Post(number)).is_some() {
            let lane = Lane::Post(number);
            self.out.push_back(Action::Respond { lane, head, body });
        }
    }

    /// Answers a request that has no stream.
    pub(in crate::replay) fn respond(&mut self, lane: Lane, head: ResponseHead, body: Vec<u8>) {
        self.out.push_back(Action::Respond { lane, head, body });
    }

    /// A connection is gone. Gives the POST whose client is not there any more.
    pub(in crate::replay) fn gone(&mut self, lane: Lane) -> Option<u32> {
        let key = match lane {
            Lane::Post(number) => Key::Post(number),
            Lane::Get(_) => self.carried.remove(&lane)?,
            Lane::Stdio => return None,
        };
        let stream = self.open.get_mut(&key)?;
        stream.outlets.retain(|outlet| *outlet != lane);
        match key {
            Key::Post(number) if stream.outlets.is_empty() && !stream.keeps => {
                self.open.remove(&key);
                Some(number)
            }
            _ => None,
        }
    }

    /// The stream of a session with an event of that id.
    pub(in crate::replay) fn with_event(&self, live: u32, id: &str) -> Option<Key> {
        let has = |stream: &Stream| {
            stream
                .log
                .iter()
                .any(|entry| entry.id.as_deref() == Some(id))
        };
        let of_session = self.open.iter().filter(|(_, it)| it.live == live);
        let found = of_session.filter(|(_, it)| has(it)).map(|(key, _)| *key);
        // Of streams that replay the same recorded one, the youngest is meant.
        found.max_by_key(|key| match key {
            Key::Besides(_) => 0,
            Key::Post(number) => *number,
        })
    }

    /// The stream that a session has besides its answers.
    pub(in crate::replay) fn besides(&mut self, live: u32, exchange: u32, keeps: bool) -> Key {
        let key = Key::Besides(live);
        let stream = self.open.entry(key).or_insert_with(|| Stream {
            live,
            begun: true,
            exchange,
            keeps,
            framing: Framing::Sse,
            ..Stream::default()
        });
        stream.keeps |= keeps;
        key
    }

    /// A GET takes a stream up, after the event of that id. Gives the server's requests that it
    /// is the first to hear.
    pub(in crate::replay) fn attach(
        &mut self,
        lane: Lane,
        key: Key,
        after: Option<&str>,
        rows: &Rows,
    ) -> Vec<u32> {
        let Some(stream) = self.open.get_mut(&key) else {
            return Vec::new();
        };
        let mut head = ResponseHead::of(200);
        head.content_type = Some(EVENTS.to_owned());
        self.out.push_back(Action::Begin { lane, head });
        let sent = stream.log.len() - stream.unsent;
        let known = |id: &str| {
            stream
                .log
                .iter()
                .rposition(|it| it.id.as_deref() == Some(id))
        };
        let from = after.and_then(known).map_or(sent, |at| at + 1);
        let mut asked = Vec::new();
        for (at, entry) in stream.log.iter().enumerate().skip(from.min(sent)) {
            if at >= from {
                let bytes = entry.bytes.clone();
                self.out.push_back(Action::Send { lane, bytes });
            }
            asked.extend(entry.asks.filter(|_| at >= sent));
        }
        stream.unsent = 0;
        stream.forget();
        if let Some(cut) = stream.ended {
            self.out.push_back(Action::End { lane, cut });
            return asked;
        }
        stream.outlets.push(lane);
        self.carried.insert(lane, key);
        if let (Key::Besides(_), Some(facts)) = (key, rows.facts(stream.exchange)) {
            let (events, _, next) = facts.events_to(stream.next_event, NONE);
            stream.next_event = next;
            for event in events {
                let bytes = stream.framed(Some(event), b"");
                stream.send(bytes, None, &mut self.out);
            }
        }
        asked
    }

    /// Says something on a GET alone that is no message.
    pub(in crate::replay) fn name(&mut self, lane: Lane, event: &str, data: &str) {
        let mut bytes = Vec::new();
        let event = writer::Event {
            name: Some(event),
            ..writer::Event::default()
        };
        writer::write(event, data.as_bytes(), &mut bytes);
        self.out.push_back(Action::Send { lane, bytes });
    }

    /// Nothing more comes besides answers: the session is over.
    pub(in crate::replay) fn end_besides(&mut self, live: u32) {
        if let Some(stream) = self.open.remove(&Key::Besides(live)) {
            for lane in stream.outlets {
                self.carried.remove(&lane);
                self.out.push_back(Action::End { lane, cut: false });
            }
        }
    }

    fn begin(&mut self, key: Key, rows: &Rows) {
        let Some(stream) = self.open.get_mut(&key).filter(|stream| !stream.begun) else {
            return;
        };
        stream.begun = true;
        let Some(&lane) = stream.outlets.last() else {
            return;
        };
        let head = stream.head.clone();
        self.out.push_back(Action::Begin { lane, head });
        if stream.framing != Framing::Sse {
            return;
        }
        let facts = rows.facts(stream.exchange);
        let mut has_id = false;
        if let Some(facts) = facts {
            let (events, _, next) = facts.events_to(stream.next_event, NONE);
            stream.next_event = next;
            for event in events {
                has_id |= event.id.is_some();
                let bytes = stream.framed(Some(event), b"");
                stream.send(bytes, None, &mut self.out);
            }
        }
        if stream.cut_after == Some(0) && !has_id {
            // Without an event there is nothing to go on from.
            let bytes = stream.framed(None, b"");
            stream.send(bytes, None, &mut self.out);
        }
        let breaks = facts.is_some_and(|facts| facts.breaks_after(NONE));
        let was_cut = facts.is_some_and(Facts::was_cut);
        if stream.is_to_be_cut() {
            self.break_off(key, true);
        } else if breaks {
            self.break_off(key, was_cut);
        }
    }

    /// Ends the connections of a stream that goes on.
    fn break_off(&mut self, key: Key, cut: bool) {
        let Some(stream) = self.open.get_mut(&key) else {
            return;
        };
        stream.cut_after = None;
        for lane in std::mem::take(&mut stream.outlets) {
            self.carried.remove(&lane);
            self.out.push_back(Action::End { lane, cut });
        }
    }

    /// Ends a response to which nothing is to come.
    fn settle(&mut self, key: Key, rows: &Rows) {
        let Some(stream) = self.open.get_mut(&key) else {
            return;
        };
        if stream.owed > 0 || stream.receiving || matches!(key, Key::Besides(_)) {
            return;
        }
        let facts = rows.facts(stream.exchange);
        let cut = facts.is_some_and(Facts::was_cut);
        if !stream.begun {
            let head = std::mem::take(&mut stream.head);
            for lane in std::mem::take(&mut stream.outlets) {
                let head = head.clone();
                if cut && stream.framing == Framing::Json {
                    self.out.push_back(Action::Begin { lane, head });
                    self.out.push_back(Action::End { lane, cut });
                } else {
                    // A body of JSON that is none was taken back, or never recorded.
                    let head = match stream.framing {
                        Framing::Json => ResponseHead::of(202),
                        Framing::Sse | Framing::None => ResponseHead {
                            content_type: None,
                            ..head
                        },
                    };
                    let body = Vec::new();
                    self.out.push_back(Action::Respond { lane, head, body });
                }
            }
            self.open.remove(&key);
            return;
        }
        if let Some(facts) = facts {
            let (events, _, next) = facts.events_to(stream.next_event, NONE);
            stream.next_event = next;
            for event in events {
                let bytes = stream.framed(Some(event), b"");
                stream.send(bytes, None, &mut self.out);
            }
        }
        stream.ended = Some(cut);
        for lane in std::mem::take(&mut stream.outlets) {
            self.carried.remove(&lane);
            self.out.push_back(Action::End { lane, cut });
        }
        if !stream.keeps {
            self.open.remove(&key);
            return;
        }
        self.ended.push_back(key);
        let kept = |key: &Key| self.open.get(key).map_or(0, |stream| stream.kept);
        let mut all: usize = self.ended.iter().map(kept).sum();
        while self.ended.len() > MOST_ENDED || all > MOST_KEPT {
            let Some(oldest) = self.ended.pop_front() else {
                return;
            };
            all -= self.open.remove(&oldest).map_or(0, |stream| stream.kept);
        }
    }
}
