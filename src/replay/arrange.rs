//! How a [`Plan`] is made: in one pass over the messages, and one over what it found.

use super::plan::{Era, NONE, Plan, Playlist, Request, Session};
use super::raw::RawAnswer;
use crate::cassette::model::{Row, string_value};
use crate::cassette::view::{Envelope, Paired, Role};
use crate::cassette::{Cassette, Sender};
use crate::wire::json::{member, nested};
use crate::wire::mcp::{MODERN_REVISION, method, name};
use std::collections::{BTreeSet, HashMap};

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
            plan: Plan::default(),
            turns: Vec::with_capacity(cassette.rows.len()),
            owner: Vec::with_capacity(cassette.rows.len()),
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
                None => (Turn::Other, NONE),
            },
            (Sender::Server, Role::Request | Role::Notification) => {
                (Turn::Said, self.said_about(envelope))
            }
            (Sender::Server, Role::Raw) => self.almost_answer(paired.index, row),
            // Banners and other lines that are no messages are not for clients.
            (_, Role::Unclassified | Role::Raw) => (Turn::Other, NONE),
        };
        self.turns.push(turn);
        self.owner.push(owner);
    }

    fn ask(&mut self, index: u32, row: &Row, envelope: &Envelope) -> u32 {
        let text = &self.cassette.text;
        let method = envelope.method_name(text).unwrap_or_default();
        let exchange = len(&self.plan.playlists);
        let initialize = method == method::INITIALIZE;
        let begins = self
            .plan
            .sessions
            .last()
            .is_none_or(|session| initialize && session.initialize.is_some());
        if begins {
            self.plan.sessions.push(Session::default());
        }
        let session = len(&self.plan.sessions) - 1;
        if initialize && let Some(session) = self.plan.sessions.last_mut() {
            session.initialize.get_or_insert(exchange);
        }
        let token = |path: &[&str]| {
            let value = nested(text, envelope.params?, path)?;
            Some(value.span.of(text).to_owned())
        };
        self.modern |= token(&[name::META, name::META_VERSION]).is_some();
        if let Some(progress) = &mut self.progress
            && let Some(token) = token(&[name::META, name::PROGRESS_TOKEN])
        {
            progress.insert(token, exchange);
        }
        if let (Some(subscriptions), Some(id)) = (&mut self.subscriptions, envelope.id) {
            subscriptions.insert(id.of(text).to_owned(), exchange);
        }
        self.plan.playlists.push(Playlist {
            begins: index,
            answer: NONE,
            session,
            first: 0,
            end: 0,
            cancelled: false,
        });
        (self.request)(Request {
            session,
            row,
            method: &method,
            params: envelope.params,
        });
        exchange
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
    fn said_about(&self, envelope: &Envelope) -> u32 {
        let text = &self.cassette.text;
        let find = |map: &Option<HashMap<String, u32>>, path: &[&str]| {
            let value = nested(text, envelope.params?, path)?;
            map.as_ref()?.get(value.span.of(text)).copied()
        };
        let by_token = || find(&self.progress, &[name::PROGRESS_TOKEN]);
        let by_id = || find(&self.subscriptions, &[name::META, name::SUBSCRIPTION_ID]);
        by_token().or_else(by_id).unwrap_or(NONE)
    }

    pub(super) fn finish(mut self) -> Plan {
        self.plan.exchanges = len(&self.plan.playlists);
        self.plan.has_subscriptions = self.subscriptions.is_some();
        self.place();
        self.arrange();
        let initialized = |session: &Session| session.initialize.is_some();
        self.plan.era = match self.modern && !self.plan.sessions.iter().any(initialized) {
            true => Era::Modern,
            false => Era::Legacy,
        };
        self.plan
    }

    /// Gives each message of the server that names no request the playlist of the message which
    /// it followed.
    fn place(&mut self) {
        let answers = self.plan.answers.iter();
        self.plan.answered_at = answers.map(|&(row, request)| (request, row)).collect();
        // Requests that are open and have an answer.
        let mut open = BTreeSet::new();
        let mut last = Last::Nothing;
        // What was said before the first request.
        let mut early = Vec::new();
        for at in 0..self.turns.len() {
            let row = u32::try_from(at).unwrap_or(NONE);
            let (Some(&turn), Some(&owner)) = (self.turns.get(at), self.owner.get(at)) else {
                return;
            };
            match turn {
                Turn::Asked => {
                    last = Last::Playlist(owner);
                    for early in early.drain(..) {
                        self.own(early, owner);
                    }
                    if self
                        .plan
                        .playlists
                        .get(owner as usize)
                        .is_some_and(|p| p.answer != NONE)
                    {
                        open.insert(owner);
                    }
                }
                Turn::Told => last = Last::Told(row),
                Turn::Answered => {
                    last = self
                        .owner
                        .get(owner as usize)
                        .map_or(last, |&o| Last::Answered(o));
                }
                Turn::Answer => {
                    open.remove(&owner);
                }
                Turn::Said if owner != NONE => {}
                Turn::Said => {
                    let answered = self.plan.answered_at.get(&row).copied();
                    let found = match last {
                        Last::Answered(playlist) if answered.is_none() => Some(playlist),
                        _ => self.open_request(&open, answered),
                    };
                    let playlist = match (found, last) {
                        (Some(playlist), _) => playlist,
                        (None, Last::Playlist(playlist) | Last::Answered(playlist)) => playlist,
                        (None, Last::Told(told)) => self.told(told),
                        (None, Last::Nothing) => {
                            early.push(row);
                            continue;
                        }
                    };
                    self.own(row, playlist);
                }
                Turn::Other => {}
            }
        }
    }

    fn own(&mut self, row: u32, playlist: u32) {
        if let Some(owner) = self.owner.get_mut(row as usize) {
            *owner = playlist;
        }
    }

    /// The latest open request; for a request of the server that the client answered at
    /// `answered` the latest one whose answer came after that.
    fn open_request(&self, open: &BTreeSet<u32>, answered: Option<u32>) -> Option<u32> {
        /// More requests than any client has open at once.
        const LOOKED_AT: usize = 256;
        let waits = |exchange: &&u32| {
            let playlist = self.plan.playlists.get(**exchange as usize);
            playlist.is_some_and(|playlist| answered.is_none_or(|at| playlist.answer > at))
        };
        let mut latest = open.iter().rev().take(LOOKED_AT);
        latest.find(waits).or_else(|| open.last()).copied()
    }

    /// The playlist of a notification, made when something follows it.
    fn told(&mut self, row: u32) -> u32 {
        let known = self.owner.get(row as usize).copied().unwrap_or(NONE);
        if known != NONE {
            return known;
        }
        let playlist = len(&self.plan.playlists);
        let before = |playlist: &Playlist| playlist.begins < row;
        let requests = self.plan.playlists.get(..self.plan.exchanges as usize);
        let requests = requests.unwrap_or_default();
        let session = match requests.partition_point(before).checked_sub(1) {
            Some(at) => requests.get(at).map_or(0, |playlist| playlist.session),
            None => 0,
        };
        self.plan.playlists.push(Playlist {
            begins: row,
            answer: NONE,
            session,
            first: 0,
            end: 0,
            cancelled: false,
        });
        self.own(row, playlist);
        playlist
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

/// The latest message of the client that can have led to something.
#[derive(Clone, Copy)]
enum Last {
    Nothing,
    Playlist(u32),
    Told(u32),
    /// It answered a request of the server, which is in this playlist.
    Answered(u32),
}

fn len<T>(list: &[T]) -> u32 {
    u32::try_from(list.len()).unwrap_or(NONE)
}
