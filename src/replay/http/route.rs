//! On which stream a message goes, and how a request is answered.

use super::rows::{Facts, Rows};
use super::streams::{Key, Manner, Part};
use crate::cassette::Channel;
use crate::cassette::exchanges::{Ended, Framing};
use crate::replay::Action;
use crate::replay::faults::Fault;
use crate::replay::plan::{NONE, Playlist};
use crate::replay::playing::{Playing, Step};
use crate::replay::replayer::Replayer;
use crate::replay::requests::Asked;
use crate::wire::lane::Lane;
use crate::wire::mcp::method;

/// A message on its way to the client.
#[derive(Debug)]
pub(in crate::replay) struct Said {
    pub(in crate::replay) to: To,
    pub(in crate::replay) bytes: Vec<u8>,
    /// The live session.
    pub(in crate::replay) live: u32,
    /// The recorded message, or [`NONE`] for one of ours.
    pub(in crate::replay) row: u32,
    /// It is a request of the server.
    pub(in crate::replay) asks: bool,
    /// It ends the answer to a POST.
    pub(in crate::replay) last: bool,
}

/// Where a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::replay) enum To {
    Stdio,
    Stream(Key),
    /// The stream that it was recorded on is not open.
    Nowhere,
}

impl Replayer {
    /// Says a message of ours on a lane; over HTTP it ends an answer.
    pub(in crate::replay) fn say(&mut self, lane: Lane, bytes: Vec<u8>) {
        let to = self.lane_of(lane, self.speaking);
        let last = matches!(to, To::Stream(Key::Post(_)));
        self.stage.ready.push_back(Step::Say(Said {
            to,
            bytes,
            live: self.speaking,
            row: NONE,
            asks: false,
            last,
        }));
    }

    /// The stream that answers what comes on a lane.
    pub(in crate::replay) fn lane_of(&self, lane: Lane, live: u32) -> To {
        match lane {
            Lane::Stdio => To::Stdio,
            Lane::Post(_) | Lane::Get(_) if self.plan.endpoints => To::Stream(Key::Besides(live)),
            Lane::Post(number) => To::Stream(Key::Post(number)),
            Lane::Get(_) => To::Stream(Key::Besides(live)),
        }
    }

    /// Hands a message to its stream; gives what a shell over stdio is to say.
    pub(in crate::replay) fn deliver(&mut self, said: Said) -> Option<Action> {
        self.messages += 1;
        match said.to {
            To::Stdio => {
                if said.asks {
                    self.ask(said.live, said.row);
                }
                Some(Action::Send {
                    lane: Lane::Stdio,
                    bytes: said.bytes,
                })
            }
            To::Stream(key) => {
                let row = self.cassette.rows.get(said.row as usize);
                let part = Part {
                    bytes: said.bytes,
                    row: said.row,
                    exchange: row.and_then(|row| row.exchange).unwrap_or(NONE),
                    asks: said.asks,
                };
                if said.last {
                    self.streams.answer(key, part, &self.plan.rows);
                } else {
                    if let Key::Besides(live) = key {
                        self.besides(live);
                    }
                    // Nobody answers what nobody heard.
                    if self.streams.say(key, &part, &self.plan.rows) && said.asks {
                        self.ask(said.live, said.row);
                    }
                }
                None
            }
            To::Nowhere => None,
        }
    }

    /// The stream that a session has besides its answers, which is there from now on.
    pub(super) fn besides(&mut self, live: u32) -> Key {
        let session = self.sessions.get(live as usize);
        let (session, seen) = session.map_or((0, 0), |live| (live.session, live.gets));
        let exchange = self.plan.rows.get_of(session, seen);
        let facts = self.plan.rows.facts(exchange);
        let keeps = facts.is_some_and(super::rows::Facts::has_ids);
        self.streams.besides(live, exchange, keeps)
    }

    /// Where a message of a playlist goes.
    pub(in crate::replay) fn route(&self, playing: &Playing, playlist: &Playlist, at: u32) -> To {
        let rows = &self.plan.rows;
        let row = self.cassette.rows.get(at as usize);
        let other = row.and_then(|row| row.exchange);
        let other = other.filter(|other| rows.over_http && *other != playlist.http);
        let is_get = row.is_some_and(|row| row.channel == Some(Channel::Get));
        let Lane::Post(number) = playing.lane else {
            return self.lane_of(playing.lane, playing.live);
        };
        if self.plan.endpoints {
            return To::Stream(Key::Besides(playing.live));
        }
        let is_request = playing.id.is_some();
        let own = To::Stream(Key::Post(number));
        let besides = To::Stream(Key::Besides(playing.live));
        if at == playlist.answer {
            return own;
        }
        if !rows.over_http {
            let before = playlist.answer == NONE || at < playlist.answer;
            return match is_request && before && at > playlist.begins {
                true => own,
                false => besides,
            };
        }
        match other {
            None if is_request => own,
            None => besides,
            Some(other) if is_get => match rows.facts(other).and_then(|facts| facts.resumes) {
                Some(origin) if origin == playlist.http => own,
                _ => besides,
            },
            Some(other) => match self.listener(playing.live, other) {
                Some((Lane::Post(number), _)) => To::Stream(Key::Post(*number)),
                _ => To::Nowhere,
            },
        }
    }

    /// The live `subscriptions/listen` that stands for the recorded exchange: its lane and id.
    pub(in crate::replay) fn listener(
        &self,
        live: u32,
        exchange: u32,
    ) -> Option<&(Lane, Box<str>)> {
        let live = self.sessions.get(live as usize)?;
        live.listening.get(&exchange)
    }

    /// Whether anything is still to be said on the response that a playlist belongs to.
    pub(in crate::replay) fn owes_more(&self, playing: &Playing) -> bool {
        let Some(playlist) = self.plan.playlists.get(playing.playlist as usize) else {
            return false;
        };
        let own = self.lane_of(playing.lane, playing.live);
        let range = playing.next as usize..playlist.end as usize;
        let items = self.plan.items.get(range).unwrap_or_default();
        items.iter().any(|&row| {
            let is_answer = row == playlist.answer;
            let before = playlist.answer == NONE || row <= playlist.answer;
            let skipped = match is_answer {
                true => playing.silent,
                false => playing.only_answer || playing.silent && before,
            };
            !skipped && self.route(playing, playlist, row) == own
        })
    }

    /// Whether a request without a recorded answer was answered by a response all the same: a
    /// status, or a stream that ended early.
    pub(in crate::replay) fn had_response(&self, lane: Lane, playlist: &Playlist) -> bool {
        matches!(lane, Lane::Post(_)) && self.plan.rows.facts(playlist.http).is_some()
    }

    /// Whether the response was still open when its client left: nothing ends it.
    pub(in crate::replay) fn stayed_open(&self, playlist: &Playlist) -> bool {
        let facts = self.plan.rows.facts(playlist.http);
        let left = facts.is_some_and(|facts| facts.row.ended == Ended::ClientClosed);
        playlist.answer == NONE && left
    }

    /// Whether the client left with the head of a response that promised an answer, before that came.
    pub(in crate::replay) fn left_early(&self, playlist: &Playlist) -> bool {
        let facts = self.plan.rows.facts(playlist.http);
        let promised = facts.is_some_and(|Facts { row, .. }| {
            (200..300).contains(&row.status) && row.framing != Framing::None
        });
        promised && self.stayed_open(playlist)
    }

    /// Prepares the response to a POST, as it was recorded. `false` if a fault has answered it.
    pub(in crate::replay) fn prepare(
        &mut self,
        exchange: u32,
        asked: Asked<'_>,
        fault: Option<&Fault>,
    ) -> bool {
        let (Lane::Post(number), Some(&playlist)) =
            (asked.lane, self.plan.playlists.get(exchange as usize))
        else {
            return true;
        };
        if self.plan.endpoints {
            return true;
        }
        if let Some(fault) = fault
            && self.answered_by_fault(number, fault)
        {
            return false;
        }
        let facts = self.plan.rows.facts(playlist.http);
        let status = facts.map_or(200, |facts| facts.row.status);
        let is_error = matches!(fault, Some(Fault::Error { .. }));
        let framing = match facts.map(|facts| facts.row.framing) {
            Some(Framing::None) if is_error => Framing::Json,
            Some(framing) => framing,
            None => self.framing_of(&playlist, asked),
        };
        let greets = asked.method == method::INITIALIZE && asked.batch.is_none();
        let live = self.sessions.get(self.speaking as usize);
        let session = live.and_then(|live| live.id.clone());
        let manner = Manner {
            exchange: playlist.http,
            status: if is_error { 200 } else { status },
            framing,
            content_type: facts.and_then(|facts| facts.row.content_type.clone()),
            session: session.filter(|_| greets),
            at_once: framing == Framing::Sse || fault.is_none() && self.left_early(&playlist),
            cut_after: match fault {
                Some(Fault::CutStream { after_events }) => Some(*after_events),
                _ => None,
            },
        };
        self.streams.prepare(number, manner, &self.plan.rows);
        true
    }

    /// Prepares the response to a POST as the real server begins it.
    pub(in crate::replay) fn prepare_live(
        &mut self,
        number: u32,
        status: u16,
        framing: Framing,
        content_type: Option<String>,
    ) {
        let manner = Manner {
            exchange: NONE,
            status,
            framing,
            content_type,
            at_once: framing == Framing::Sse,
            ..Manner::default()
        };
        self.streams.prepare(number, manner, &self.plan.rows);
    }

    /// Without a row: one message is a body of JSON, several are a stream.
    fn framing_of(&self, playlist: &Playlist, asked: Asked<'_>) -> Framing {
        if asked.method == method::LISTEN {
            return Framing::Sse;
        }
        let items = self
            .plan
            .items
            .get(playlist.first as usize..playlist.end as usize);
        let over_http = self.plan.rows.over_http;
        let own = items.unwrap_or_default().iter().filter(|&&at| {
            let row = self.cassette.rows.get(at as usize);
            let exchange = row.and_then(|row| row.exchange);
            match over_http {
                true => exchange == Some(playlist.http),
                false => at > playlist.begins && at <= playlist.answer,
            }
        });
        match own.count() {
            0 | 1 => Framing::Json,
            _ => Framing::Sse,
        }
    }
}

impl Rows {
    /// Whether a session's id is in the recording: it had one.
    pub(in crate::replay) fn has_sessions(&self, cassette: &crate::cassette::Cassette) -> bool {
        !self.over_http || cassette.head.session_id.is_some()
    }
}
