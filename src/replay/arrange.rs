//! How a [`Plan`] is made: in one pass over the messages, and one over what it found.

mod place;

use super::http::Rows;
use super::plan::{Era, NONE, Plan, Playlist, Request, Session};
use super::raw::RawAnswer;
use crate::cassette::model::{Row, string_value};
use crate::cassette::view::{Envelope, Paired, Role};
use crate::cassette::{Cassette, Channel, Sender};
use crate::wire::json::{member, nested};
use crate::wire::mcp::{MODERN_REVISION, method, name};
use std::collections::HashMap;

/// What a message means for where others go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// The client asked, told or answered something that may lead to more.
    Asked,
    Told,
    Answered,
    /// The server answered, or said something else.
    Answer,
    Said,
    Other,
}

pub(super) struct Builder<'c, F> {
    cassette: &'c Cassette,
    request: F,
    plan: Plan,
    turns: Vec<Turn>,
    /// For each message the playlist that it begins or belongs to; for an answer of the client
    /// the request that it answers.
    owner: Vec<u32>,
    /// Over HTTP for each message its session; several go on at once.
    homes: Vec<u32>,
    /// The requests that came in an HTTP exchange; more than one is a batch.
    in_exchange: HashMap<u32, Vec<u32>>,
    /// Which requests have a token or id that later messages name; only where some do.
    progress: Option<HashMap<String, u32>>,
    subscriptions: Option<HashMap<String, u32>>,
    modern: bool,
}

impl<'c, F: FnMut(Request<'_>)> Builder<'c, F> {
    pub(super) fn new(cassette: &'c Cassette, request: F) -> Self {
        let speaks_of = |what: &str| {
            memchr::memmem::find(cassette.text.as_bytes(), what.as_bytes()).map(|_| HashMap::new())
        };
        let version = cassette.protocol_version();
        Builder {
            cassette,
            request,
            plan: Plan {
                rows: Rows::new(cassette),
                ..Plan::default()
            },
            turns: Vec::with_capacity(cassette.rows.len()),
            owner: Vec::with_capacity(cassette.rows.len()),
            homes: Vec::new(),
            in_exchange: HashMap::new(),
            progress: speaks_of(method::PROGRESS),
            subscriptions: speaks_of(name::SUBSCRIPTION_ID),
            modern: version.is_some_and(|version| *version >= *MODERN_REVISION),
        }
    }

    pub(super) fn take(&mut self, paired: &Paired) {
        let Some(row) = self.cassette.rows.get(paired.index as usize) else {
            return;
        };
        let envelope = &paired.envelope;
        let over_http = self.plan.rows.over_http;
        let (turn, owner) = match (row.sender, paired.role) {
            (Sender::Client, Role::Request) => (Turn::Asked, self.ask(paired.index, row, envelope)),
            (Sender::Client, Role::Notification) => self.tell(envelope),
            (Sender::Client, Role::Response) => match paired.request {
                Some(request) => {
                    self.plan.answers.push((paired.index, request));
                    (Turn::Answered, request)
                }
                None => (Turn::Other, NONE),
            },
            (Sender::Server, Role::Response) => match paired.request {
                Some(request) => (Turn::Answer, self.answer(paired.index, request)),
                None if over_http => self.body_of(paired.index, row),
                None => (Turn::Other, NONE),
            },
            (Sender::Server, Role::Request | Role::Notification) => {
                (Turn::Said, self.said_about(row, envelope))
            }
            (Sender::Server, Role::Raw | Role::Unclassified) if over_http => {
                match self.almost_answer(paired.index, row) {
                    (Turn::Answer, owner) => (Turn::Answer, owner),
                    _ => self.body_of(paired.index, row),
                }
            }
            (Sender::Server, Role::Raw) => self.almost_answer(paired.index, row),
            // Banners and other lines that are no messages are not for clients.
            (_, Role::Unclassified | Role::Raw) => (Turn::Other, NONE),
        };
        if over_http {
            let latest = len(&self.plan.sessions).saturating_sub(1);
            let home = self.plan.rows.session(row).unwrap_or(match turn {
                // Its own session may be an earlier one: that of the request.
                Turn::Asked | Turn::Answer => self.session_of(owner, latest),
                _ => latest,
            });
            self.homes.push(home);
        }
        self.turns.push(turn);
        self.owner.push(owner);
    }

    fn session_of(&self, playlist: u32, otherwise: u32) -> u32 {
        let playlist = self.plan.playlists.get(playlist as usize);
        playlist.map_or(otherwise, |playlist| playlist.session)
    }

    /// Over HTTP, what came on the response to a request is its answer, whatever it is: errors
    /// name no request that they are about.
    fn body_of(&mut self, index: u32, row: &Row) -> (Turn, u32) {
        let of_exchange = row.exchange.and_then(|it| self.in_exchange.get(&it));
        let &[exchange] = of_exchange.map(Vec::as_slice).unwrap_or_default() else {
            return (Turn::Other, NONE);
        };
        match self.plan.playlists.get_mut(exchange as usize) {
            Some(playlist) if playlist.answer == NONE => {
                playlist.answer = index;
                (Turn::Answer, exchange)
            }
            _ => (Turn::Other, NONE),
        }
    }

    fn ask(&mut self, index: u32, row: &Row, envelope: &Envelope) -> u32 {
        let text = &self.cassette.text;
        let method = envelope.method_name(text).unwrap_or_default();
        let exchange = len(&self.plan.playlists);
        let initialize = method == method::INITIALIZE;
        let session = self.enter_session(row, exchange, initialize);
        let token = |path: &[&str]| {
            let value = nested(text, envelope.params?, path)?;
            Some(value.span.of(text).to_owned())
        };
        self.modern |= token(&[name::META, name::META_VERSION]).is_some();
        if let Some(progress) = &mut self.progress
            && let Some(token) = token(&[name::META, name::PROGRESS_TOKEN])
        {
            progress.insert(in_session(&self.plan.rows, session, &token), exchange);
        }
        if let (Some(subscriptions), Some(id)) = (&mut self.subscriptions, envelope.id) {
            let id = in_session(&self.plan.rows, session, id.of(text));
            subscriptions.insert(id, exchange);
        }
        let http = row.exchange.filter(|_| self.plan.rows.over_http);
        if let Some(http) = http {
            self.in_exchange.entry(http).or_default().push(exchange);
        }
        self.plan.playlists.push(Playlist {
            begins: index,
            answer: NONE,
            session,
            first: 0,
            end: 0,
            cancelled: false,
            http: http.unwrap_or(NONE),
            listens: method == method::LISTEN,
        });
        (self.request)(Request {
            session,
            row,
            method: &method,
            params: envelope.params,
            turned_away: self.plan.rows.turned_away(row),
        });
        exchange
    }

    /// The session that a request belongs to.
    fn enter_session(&mut self, row: &Row, exchange: u32, initialize: bool) -> u32 {
        let sessions = &mut self.plan.sessions;
        let turned_away = self.plan.rows.turned_away(row);
        let session = match self.plan.rows.session(row) {
            Some(session) => {
                // A file may say anything; more sessions than requests are none of ours.
                let session = session.min(exchange);
                while len(sessions) <= session {
                    sessions.push(Session::default());
                }
                session
            }
            None => {
                let last = sessions.last();
                let begun = |session: &Session| initialize && session.initialize.is_some();
                if last.is_none_or(begun) {
                    sessions.push(Session::default());
                }
                len(sessions) - 1
            }
        };
        if initialize
            && !turned_away
            && let Some(session) = sessions.get_mut(session as usize)
        {
            session.initialize.get_or_insert(exchange);
        }
        session
    }

    /// A notification of the client. What it says of its own requests leads to nothing.
    fn tell(&mut self, envelope: &Envelope) -> (Turn, u32) {
        let text = &self.cassette.text;
        match envelope.method_name(text).as_deref() {
            Some(method::CANCELLED) => {
                self.cancel(envelope);
                (Turn::Other, NONE)
            }
            Some(method::PROGRESS) => (Turn::Other, NONE),
            _ => (Turn::Told, NONE),
        }
    }

    fn cancel(&mut self, envelope: &Envelope) {
        let text = &self.cassette.text;
        let id = envelope
            .params
            .and_then(|params| member(text, params, name::REQUEST_ID));
        let Some(id) = id.map(|id| id.span.of(text)) else {
            return;
        };
        if let Some(playlist) = self.latest(id, |_| true) {
            playlist.cancelled = true;
        }
    }

    /// The latest request with that id; clients speak of what they asked lately.
    fn latest(&mut self, id: &str, fits: impl Fn(&Playlist) -> bool) -> Option<&mut Playlist> {
        const LOOKED_AT: usize = 4096;
        let text = &self.cassette.text;
        let rows = &self.cassette.rows;
        let mut lately = self.plan.playlists.iter_mut().rev().take(LOOKED_AT);
        lately.find(|playlist| {
            let asked = rows
                .get(playlist.begins as usize)
                .filter(|_| fits(playlist));
            asked
                .and_then(|row| member(text, row.payload, "id"))
                .is_some_and(|value| value.span.of(text) == id)
        })
    }

    /// A line that is no JSON and answers a request all the same.
    fn almost_answer(&mut self, index: u32, row: &Row) -> (Turn, u32) {
        let answer = RawAnswer::read(row.payload.of(&self.cassette.text));
        let Some(answer) = answer else {
            return (Turn::Other, NONE);
        };
        let request = self.latest(answer.id(), |playlist| playlist.answer == NONE);
        match request.map(|playlist| {
            playlist.answer = index;
            playlist.begins
        }) {
            Some(begins) => {
                let exchange = self.owner.get(begins as usize).copied();
                (Turn::Answer, exchange.unwrap_or(NONE))
            }
            None => (Turn::Other, NONE),
        }
    }

    fn answer(&mut self, index: u32, request: u32) -> u32 {
        let exchange = self.owner.get(request as usize).copied().unwrap_or(NONE);
        if let Some(playlist) = self.plan.playlists.get_mut(exchange as usize) {
            playlist.answer = index;
        }
        exchange
    }

    /// The request that a message of the server names.
    fn said_about(&self, row: &Row, envelope: &Envelope) -> u32 {
        let text = &self.cassette.text;
        let rows = &self.plan.rows;
        let session = rows.session(row).unwrap_or(0);
        let find = |map: &Option<HashMap<String, u32>>, path: &[&str]| {
            let value = nested(text, envelope.params?, path)?;
            let key = in_session(rows, session, value.span.of(text));
            map.as_ref()?.get(&key).copied()
        };
        let by_token = || find(&self.progress, &[name::PROGRESS_TOKEN]);
        let by_id = || find(&self.subscriptions, &[name::META, name::SUBSCRIPTION_ID]);
        let named = by_token().or_else(by_id).unwrap_or(NONE);
        if !rows.over_http || row.channel == Some(Channel::Get) {
            return named;
        }
        // What comes on the response to a request is said about that.
        let of_exchange = row.exchange.and_then(|it| self.in_exchange.get(&it));
        match of_exchange.map(Vec::as_slice).unwrap_or_default() {
            [] => NONE,
            many if many.contains(&named) => named,
            [.., last] => *last,
        }
    }

    pub(super) fn finish(mut self) -> Plan {
        self.plan.exchanges = len(&self.plan.playlists);
        self.plan.has_subscriptions = self.subscriptions.is_some();
        self.place();
        self.arrange();
        let initialized = |session: &Session| session.initialize.is_some();
        let sessions = self.plan.sessions.iter().enumerate();
        let greeted = sessions.filter(|(_, session)| initialized(session));
        self.plan.greeted = greeted
            .map(|(at, _)| u32::try_from(at).unwrap_or(NONE))
            .collect();
        self.plan.endpoints = self.has_endpoints();
        self.plan.has_modern = self.modern;
        self.plan.era = match self.modern && !self.plan.sessions.iter().any(initialized) {
            true => Era::Modern,
            false => Era::Legacy,
        };
        self.plan
    }

    /// Whether the answer to the first `initialize` came on a GET that was there before: the
    /// transport of 2024-11-05.
    fn has_endpoints(&self) -> bool {
        let mut greetings = self
            .plan
            .sessions
            .iter()
            .filter_map(|session| session.initialize);
        let greeting = greetings.find_map(|at| self.plan.playlists.get(at as usize));
        let answer = greeting.and_then(|it| self.cassette.rows.get(it.answer as usize));
        let Some(answer) = answer.filter(|_| self.plan.rows.over_http) else {
            return false;
        };
        let facts = answer.exchange.and_then(|it| self.plan.rows.facts(it));
        answer.channel == Some(Channel::Get) && facts.is_none_or(|facts| facts.resumes.is_none())
    }

    /// Puts the messages of each playlist together, and numbers the notifications.
    fn arrange(&mut self) {
        let Plan {
            playlists, items, ..
        } = &mut self.plan;
        let belongs = |at: usize| matches!(self.turns.get(at), Some(Turn::Answer | Turn::Said));
        let owned = || {
            let owners = self.owner.iter().enumerate();
            owners.filter(|&(at, &owner)| belongs(at) && owner != NONE)
        };
        for (_, &owner) in owned() {
            if let Some(playlist) = playlists.get_mut(owner as usize) {
                playlist.end += 1;
            }
        }
        let mut next = 0;
        for playlist in playlists.iter_mut() {
            playlist.first = next;
            next += playlist.end;
            playlist.end = playlist.first;
        }
        items.resize(next as usize, NONE);
        for (at, &owner) in owned() {
            let Some(playlist) = playlists.get_mut(owner as usize) else {
                continue;
            };
            if let Some(item) = items.get_mut(playlist.end as usize) {
                *item = u32::try_from(at).unwrap_or(NONE);
            }
            playlist.end += 1;
        }
        for playlist in playlists.iter() {
            // What was said before the first request follows its answer.
            let range = playlist.first as usize..playlist.end as usize;
            let list = items.get_mut(range).unwrap_or_default();
            let early = list.partition_point(|&row| row < playlist.begins);
            if early > 0 {
                let answered = list.iter().position(|&row| row == playlist.answer);
                let upto = answered.map_or(list.len(), |at| at + 1);
                if let Some(list) = list.get_mut(..upto) {
                    list.rotate_left(early.min(upto));
                }
            }
        }
        self.number_notifications();
    }

    fn number_notifications(&mut self) {
        let text = &self.cassette.text;
        let mut session = 0;
        for (at, turn) in self.turns.iter().enumerate() {
            let owner = self.owner.get(at).copied().unwrap_or(NONE);
            if *turn == Turn::Asked {
                let playlist = self.plan.playlists.get(owner as usize);
                session = playlist.map_or(session, |playlist| playlist.session);
            }
            session = self.homes.get(at).copied().unwrap_or(session);
            let row = self.cassette.rows.get(at).filter(|_| *turn == Turn::Told);
            let method = row.and_then(|row| member(text, row.payload, "method"));
            if let Some(method) = method.and_then(|method| string_value(method.span.of(text))) {
                let of_method = (session, method.into_owned());
                let list = self.plan.notifications.entry(of_method).or_default();
                list.push(Some(owner).filter(|&owner| owner != NONE));
            }
        }
        // Notifications that lead to nothing need no place.
        let leads = |list: &mut Vec<Option<u32>>| list.iter().any(Option::is_some);
        self.plan.notifications.retain(|_, list| leads(list));
    }
}

/// What stands for a token or id of a session: over HTTP each has its own.
fn in_session(rows: &Rows, session: u32, token: &str) -> String {
    match rows.over_http {
        true => format!("{session} {token}"),
        false => token.to_owned(),
    }
}

fn len<T>(list: &[T]) -> u32 {
    u32::try_from(list.len()).unwrap_or(NONE)
}
