//! What the rows about HTTP say of a recording, and what its messages say where there are none:
//! mcp-cassette 0.4.0 wrote no rows.

use crate::cassette::exchanges::{Ended, Framing, HttpExchange, StreamEvent};
use crate::cassette::model::Row;
use crate::cassette::{Cassette, Channel, Sender, Transport};
use crate::replay::plan::NONE;
use std::collections::HashMap;

/// The recorded HTTP exchanges.
#[derive(Debug, Default)]
pub(in crate::replay) struct Rows {
    /// The messages were recorded over HTTP.
    pub(in crate::replay) over_http: bool,
    /// There are rows from the first exchange on: the recording is of ours, and not one of 0.4.0 that
    /// was added to.
    known: bool,
    by_exchange: HashMap<u32, Facts>,
    /// The GET streams of each session, in order.
    gets: HashMap<u32, Vec<u32>>,
}

/// What is known of one exchange.
#[derive(Debug)]
pub(in crate::replay) struct Facts {
    pub(in crate::replay) row: HttpExchange,
    /// For each event that has a message: which one.
    pub(in crate::replay) messages: Vec<u32>,
    /// The last message of the server on it.
    pub(in crate::replay) last: u32,
    /// The exchange whose stream it goes on with.
    pub(in crate::replay) resumes: Option<u32>,
    /// A later exchange goes on with its stream.
    goes_on: bool,
}

impl Rows {
    pub(in crate::replay) fn new(cassette: &Cassette) -> Rows {
        let mut rows = Rows {
            over_http: cassette.transport() == Transport::Http,
            ..Rows::default()
        };
        if !rows.over_http {
            return rows;
        }
        let exchanges = cassette.exchanges();
        let first = cassette.rows.iter().find_map(|row| row.exchange);
        let has_row = |first| exchanges.iter().any(|row| row.exchange == first);
        rows.known = !exchanges.is_empty() && first.is_none_or(has_row);
        for mut row in exchanges {
            // A replay says itself where to post.
            row.events
                .retain(|event| event.seq.is_some() || event.event.as_deref() != Some("endpoint"));
            let facts = Facts {
                messages: vec![NONE; row.events.len()],
                last: NONE,
                resumes: None,
                goes_on: false,
                row,
            };
            rows.by_exchange.insert(facts.row.exchange, facts);
        }
        rows.find_messages(cassette);
        rows.find_resumed();
        rows
    }

    /// Which messages the events of the rows are.
    fn find_messages(&mut self, cassette: &Cassette) {
        let mut by_seq = HashMap::new();
        for (at, row) in cassette.rows.iter().enumerate() {
            let Some(exchange) = row.exchange.filter(|_| row.sender == Sender::Server) else {
                continue;
            };
            let at = u32::try_from(at).unwrap_or(NONE);
            by_seq.entry((exchange, row.seq)).or_insert(at);
            if let Some(facts) = self.by_exchange.get_mut(&exchange) {
                facts.last = at;
            }
        }
        for facts in self.by_exchange.values_mut() {
            let exchange = facts.row.exchange;
            if facts.last != NONE && has_no_body(facts.row.status) {
                // Somebody has changed it: what came with it could not be said otherwise.
                facts.row.status = 200;
            }
            for (event, message) in facts.row.events.iter().zip(&mut facts.messages) {
                let found = event.seq.and_then(|seq| by_seq.get(&(exchange, seq)));
                *message = found.copied().unwrap_or(NONE);
            }
        }
    }

    /// A GET that named an event of another stream goes on with that one; every other GET is of
    /// the stream that a session has besides.
    fn find_resumed(&mut self) {
        let mut streams: HashMap<(Option<u32>, String), u32> = HashMap::new();
        let mut latest: HashMap<u32, u32> = HashMap::new();
        let mut numbers: Vec<u32> = self.by_exchange.keys().copied().collect();
        numbers.sort_unstable();
        for number in numbers {
            let Some(facts) = self.by_exchange.get_mut(&number) else {
                continue;
            };
            let session = facts.row.session;
            let is_get = facts.row.http_method == "GET" && facts.row.framing == Framing::Sse;
            let named = facts.row.last_event_id.clone().filter(|_| is_get);
            let origin = named.and_then(|id| streams.get(&(session, id)).copied());
            let ids = facts.row.events.iter().filter_map(|event| event.id.clone());
            for id in ids {
                streams.insert((session, id), origin.unwrap_or(number));
            }
            let resumes = origin.filter(|origin| !self.is_get(*origin));
            let before = match resumes {
                Some(origin) => latest.insert(origin, number).or(Some(origin)),
                None if is_get => {
                    let gets = self.gets.entry(session.unwrap_or(0)).or_default();
                    gets.push(number);
                    gets.iter().rev().nth(1).copied()
                }
                None => None,
            };
            if let Some(facts) = self.by_exchange.get_mut(&number) {
                facts.resumes = resumes;
            }
            if let Some(before) = before.and_then(|before| self.by_exchange.get_mut(&before)) {
                before.goes_on = true;
            }
        }
    }

    fn is_get(&self, exchange: u32) -> bool {
        let facts = self.by_exchange.get(&exchange);
        facts.is_some_and(|facts| facts.row.http_method == "GET")
    }

    pub(in crate::replay) fn facts(&self, exchange: u32) -> Option<&Facts> {
        self.by_exchange.get(&exchange)
    }

    /// The session that a message belongs to, as its row says.
    pub(in crate::replay) fn session(&self, message: &Row) -> Option<u32> {
        self.facts(message.exchange?)?.row.session
    }

    /// Whether a request was turned away, so that it was asked again: for want of a token, which a
    /// replay does not ask for, or to another address, which it has none of.
    pub(in crate::replay) fn turned_away(&self, message: &Row) -> bool {
        let facts = message.exchange.and_then(|exchange| self.facts(exchange));
        facts.is_some_and(|facts| turns_away(facts.row.status))
    }

    /// The n-th GET stream of a session; beyond the last one that again.
    pub(in crate::replay) fn get_of(&self, session: u32, n: usize) -> u32 {
        let gets = self.gets.get(&session).map(Vec::as_slice);
        let gets = gets.unwrap_or_default();
        gets.get(n).or(gets.last()).copied().unwrap_or(NONE)
    }

    /// What a GET is answered with if there never was a stream; `None` if there was one.
    pub(in crate::replay) fn get_refusal(&self, cassette: &Cassette) -> Option<u16> {
        if !self.over_http || !self.gets.is_empty() {
            return None;
        }
        if !self.known {
            let has_session = cassette.head.session_id.is_some();
            let has_get = |row: &Row| row.channel == Some(Channel::Get);
            return match has_session || cassette.rows.iter().any(has_get) {
                true => None,
                false => Some(405),
            };
        }
        Some(
            self.status_of("GET")
                .filter(|status| *status >= 400)
                .unwrap_or(405),
        )
    }

    /// What a DELETE was answered with, if there was one.
    pub(in crate::replay) fn delete_status(&self) -> Option<u16> {
        self.status_of("DELETE")
    }

    fn status_of(&self, method: &str) -> Option<u16> {
        let exchanges = self.by_exchange.values().map(|facts| &facts.row);
        let of_method = exchanges.filter(|row| row.http_method == method);
        let of_method = of_method.filter(|row| !turns_away(row.status));
        of_method
            .min_by_key(|row| row.exchange)
            .map(|row| row.status)
    }
}

/// Statuses of responses that have no body, and of those that are none yet.
fn has_no_body(status: u16) -> bool {
    matches!(status, 100..200 | 204 | 205 | 304)
}

/// Statuses after which a client asks again, with a token or elsewhere.
fn turns_away(status: u16) -> bool {
    matches!(status, 401 | 301 | 302 | 303 | 307 | 308)
}

impl Facts {
    /// The events from `next` on that come before the message `row`, and that of the message; the
    /// second number is the next one. All events that are left have no message for [`NONE`].
    pub(in crate::replay) fn events_to(
        &self,
        next: usize,
        row: u32,
    ) -> (&[StreamEvent], Option<&StreamEvent>, usize) {
        let rest = self.messages.get(next..).unwrap_or_default();
        let place = match row {
            NONE => None,
            row => rest.iter().position(|message| *message == row),
        };
        match place {
            Some(at) => {
                let before = self.row.events.get(next..next + at).unwrap_or_default();
                (before, self.row.events.get(next + at), next + at + 1)
            }
            None if row == NONE => {
                // Those at the place that have no message.
                let free = rest.iter().take_while(|message| **message == NONE).count();
                let events = self.row.events.get(next..next + free).unwrap_or_default();
                (events, None, next + free)
            }
            None => (&[], None, next),
        }
    }

    /// Whether events of it have ids, so that a client can ask for what comes after one.
    pub(in crate::replay) fn has_ids(&self) -> bool {
        self.row.events.iter().any(|event| event.id.is_some())
    }

    /// Whether another exchange goes on with its stream.
    pub(in crate::replay) fn goes_on(&self) -> bool {
        self.goes_on
    }

    pub(in crate::replay) fn was_cut(&self) -> bool {
        self.row.ended == Ended::Cut
    }

    pub(in crate::replay) fn ended_by_server(&self) -> bool {
        self.row.ended != Ended::ClientClosed
    }

    /// Whether the server ended the connection behind this message, and went on with another.
    pub(in crate::replay) fn breaks_after(&self, row: u32) -> bool {
        self.goes_on && self.ended_by_server() && self.last == row
    }
}
