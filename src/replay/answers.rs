//! What the server says: playlists, message by message.

use super::faults::{Fault, Strategy};
use super::http::{Key, Said, To};
use super::plan::{NONE, Playlist};
use super::playing::{Playing, Step};
use super::render::{self, Rewriting};
use super::replayer::Replayer;
use super::session::Pending;
use crate::cassette::model::{Row, string_value};
use crate::cassette::pairing::id_key;
use crate::secrets::conceal;
use crate::wire::json::{member, nested};
use crate::wire::lane::Lane;
use crate::wire::mcp::{method, name};
use std::time::Duration;

/// The id that no request has.
const WRONG_ID: &str = "\"mcp-cassette-unknown-id\"";
/// Between progress and the answer that ends it. Clients handle a notification a little later
/// than an answer that came with it, and forget at the answer whom the progress is for: the
/// TypeScript SDKs drop all progress that they read together with its answer. A server that
/// works spends that time by itself.
const AFTER_PROGRESS: Duration = Duration::from_millis(20);

/// What became of a look at a playlist.
enum Turn {
    Said(Said),
    /// Nothing was said of this message; the next one may be.
    Skipped,
    Waits,
    Over,
}

impl Replayer {
    /// Plays on until something is said, or has to wait, or is over.
    pub(super) fn play(&mut self, slot: u32, now: Duration) -> Option<Said> {
        let mut playing = self.stage.take(slot)?;
        loop {
            let mut turn = self.turn(slot, &mut playing, now);
            if playing.owes && !self.owes_more(&playing) {
                playing.owes = false;
                self.end_response(&playing, &mut turn);
            }
            match turn {
                Turn::Said(said) => {
                    self.stage.put_back(slot, playing);
                    self.stage.ready.push_front(Step::Play(slot));
                    return Some(said);
                }
                Turn::Skipped => {}
                Turn::Waits => {
                    self.stage.put_back(slot, playing);
                    return None;
                }
                Turn::Over => {
                    self.end(slot, &mut playing);
                    return None;
                }
            }
        }
    }

    /// Nothing more comes on the response that waits for a playlist; what is said at this turn is
    /// the end of it.
    fn end_response(&mut self, playing: &Playing, turn: &mut Turn) {
        let own = self.lane_of(playing.lane, playing.live);
        match (turn, own) {
            (Turn::Said(said), _) if said.to == own => said.last = true,
            (_, To::Stream(key)) => self.streams.done(key, &self.plan.rows),
            _ => {}
        }
    }

    pub(super) fn end_slot(&mut self, slot: u32) {
        if let Some(mut playing) = self.stage.take(slot) {
            self.end(slot, &mut playing);
        }
    }

    fn end(&mut self, slot: u32, playing: &mut Playing) {
        // A batch is complete without an answer that was never recorded.
        if let Some(batch) = playing.batch.take() {
            self.add_to_batch(batch, None);
        }
        if let Some(live) = self.sessions.get_mut(playing.live as usize)
            && let Some(id) = &playing.id
            && live.waiting.get(&**id) == Some(&slot)
        {
            live.waiting.remove(&**id);
        }
        self.stage.release(slot);
    }

    fn turn(&mut self, slot: u32, playing: &mut Playing, now: Duration) -> Turn {
        let Some(&playlist) = self.plan.playlists.get(playing.playlist as usize) else {
            return Turn::Over;
        };
        if playing.next >= playlist.end {
            return Turn::Over;
        }
        let Some(&row) = self.plan.items.get(playing.next as usize) else {
            return Turn::Over;
        };
        let is_answer = row == playlist.answer;
        let before_answer = playlist.answer == NONE || row <= playlist.answer;
        let skips = match is_answer {
            true => playing.silent,
            false => playing.only_answer || playing.silent && before_answer,
        };
        if skips {
            playing.next += 1;
            return Turn::Skipped;
        }
        if let Some(gate) = self.shut_gate(playing, &playlist, row) {
            return self.wait_at(gate, slot, playing, is_answer || !playing.answered);
        }
        let at = self.due(playing, row, is_answer);
        if at > now {
            if self.closed && playing.answered {
                return Turn::Over;
            }
            self.register(slot, playing);
            self.stage.wake_at(at, slot);
            return Turn::Waits;
        }
        playing.since = at;
        playing.after = row;
        playing.next += 1;
        match is_answer {
            true => self.give_answer(playing, &playlist, row),
            false => self.tell(playing, &playlist, row, now),
        }
    }

    /// A recorded request of the server that the client has not answered, after whose recorded
    /// answer the message stands. One that was not made in this session holds nothing up.
    fn shut_gate(&self, playing: &Playing, playlist: &Playlist, row: u32) -> Option<u32> {
        let live = self.sessions.get(playing.live as usize)?;
        if live.pending.is_empty() {
            return None;
        }
        let answers = self.plan.answered_between(playing.after, row);
        // A server may ask before it is asked anything; that is played with the first request.
        let range = playlist.first as usize..playlist.end as usize;
        let own = self.plan.items.get(range).unwrap_or_default();
        let shut = |&&(_, request): &&(u32, u32)| {
            live.pending.contains_key(&request)
                && (request > playlist.begins || own.contains(&request))
        };
        answers.iter().find(shut).map(|&(_, request)| request)
    }

    fn wait_at(&mut self, gate: u32, slot: u32, playing: &Playing, is_owed: bool) -> Turn {
        let method = self.method_of_request(playing);
        let closed = self.closed;
        let live = self.sessions.get_mut(playing.live as usize);
        let Some(pending) = live.and_then(|live| live.pending.get_mut(&gate)) else {
            return Turn::Over;
        };
        if !closed {
            pending.waiters.push(slot);
            self.register(slot, playing);
            return Turn::Waits;
        }
        if let Some(id) = playing.id.as_ref().filter(|_| is_owed) {
            let id = conceal::name(id);
            let for_what = &pending.shown;
            self.summary
                .dropped
                .push(format!("{method} (id {id}) waits for {for_what}"));
        }
        Turn::Over
    }

    fn method_of_request(&self, playing: &Playing) -> String {
        let text = &self.cassette.text;
        let playlist = self.plan.playlists.get(playing.playlist as usize);
        let row = playlist.and_then(|playlist| self.cassette.rows.get(playlist.begins as usize));
        row.map_or_else(String::new, |row| shown_method(text, row))
    }

    /// So that the client can take the request back.
    fn register(&mut self, slot: u32, playing: &Playing) {
        if let Some(live) = self.sessions.get_mut(playing.live as usize)
            && let Some(id) = playing.id.as_ref().filter(|_| !playing.answered)
        {
            live.waiting.insert(id.to_string(), slot);
        }
    }

    /// When a message is to be said.
    fn due(&self, playing: &Playing, row: u32, is_answer: bool) -> Duration {
        let time = |row: u32| {
            self.cassette
                .rows
                .get(row as usize)
                .map(|row| row.t_offset_ms)
        };
        let mut at = playing.since;
        // What was said before its request has no gap to it.
        if let Some(pace) = self.pace
            && let (Some(then), Some(before)) = (time(row), time(playing.after))
            && row > playing.after
        {
            at += pace.gap(then.saturating_sub(before));
        }
        if let (true, Some(Fault::Delay(delay))) = (is_answer, &playing.fault) {
            at += *delay;
        }
        match playing.progressed {
            Some(progressed) if is_answer => at.max(progressed + AFTER_PROGRESS),
            _ => at,
        }
    }

    fn give_answer(&mut self, playing: &mut Playing, playlist: &Playlist, at: u32) -> Turn {
        playing.answered = true;
        let fault = playing.fault.take();
        let to = self.route(playing, playlist, at);
        let cassette = std::sync::Arc::clone(&self.cassette);
        let Some(row) = cassette.rows.get(at as usize) else {
            return Turn::Over;
        };
        let id = playing.id.as_deref().unwrap_or("null");
        let rewriting = Rewriting {
            id: Some(id),
            version: playing.version.as_deref(),
            ..self.rewriting(playing)
        };
        let text = &cassette.text;
        let whole = || render::answer(text, row, rewriting);
        let halved = matches!(fault, Some(Fault::Malformed(Strategy::Truncate)));
        let bytes = match fault {
            None
            | Some(
                Fault::Delay(_)
                | Fault::HttpStatus { .. }
                | Fault::CutStream { .. }
                | Fault::SessionExpired,
            ) => whole(),
            Some(Fault::Timeout) => return self.no_answer(playing),
            Some(Fault::Error { code, message }) => render::error(id, code, &message, None),
            Some(Fault::Malformed(Strategy::Truncate)) => truncated(whole()),
            Some(Fault::Malformed(Strategy::NotJson)) => {
                b"mcp-cassette: this line is not JSON".to_vec()
            }
            Some(Fault::Malformed(Strategy::WrongId)) => {
                let id = Some(WRONG_ID);
                render::answer(text, row, Rewriting { id, ..rewriting })
            }
            Some(Fault::Disconnect { after_response }) => {
                let last = after_response.then(|| said(to, playing.live, at, whole()));
                return self.disconnect(playing, last);
            }
        };
        if halved
            && playing.batch.is_none()
            && let To::Stream(Key::Post(number)) = to
        {
            // Half of an answer is a body that breaks off.
            playing.owes = false;
            self.streams.break_in(number, &bytes, &self.plan.rows);
            return Turn::Skipped;
        }
        match playing.batch.take() {
            None => Turn::Said(said(to, playing.live, at, bytes)),
            Some(batch) => {
                self.add_to_batch(batch, Some(bytes));
                Turn::Skipped
            }
        }
    }

    /// Nothing is said any more, but for this.
    fn disconnect(&mut self, playing: &mut Playing, last: Option<Said>) -> Turn {
        playing.next = NONE;
        playing.owes &= last.is_some();
        self.stage.ready.clear();
        self.stage.ready.push_back(Step::Abort);
        last.map_or(Turn::Over, Turn::Said)
    }

    /// The answer never comes; a batch is complete without it.
    fn no_answer(&mut self, playing: &mut Playing) -> Turn {
        playing.owes = false;
        match (playing.batch.take(), playing.lane) {
            (Some(batch), _) => self.add_to_batch(batch, None),
            (None, Lane::Post(number)) => self.streams.show_head(number, &self.plan.rows),
            (None, _) => {}
        }
        Turn::Skipped
    }

    fn rewriting<'a>(&self, playing: &'a Playing) -> Rewriting<'a> {
        Rewriting {
            id: playing.id.as_deref(),
            progress: playing.progress.as_deref(),
            version: None,
            subscriptions: self.plan.has_subscriptions,
        }
    }

    /// A notification or request of the server.
    fn tell(&mut self, playing: &mut Playing, playlist: &Playlist, at: u32, now: Duration) -> Turn {
        let cassette = std::sync::Arc::clone(&self.cassette);
        let text = &cassette.text;
        let Some(row) = cassette.rows.get(at as usize) else {
            return Turn::Over;
        };
        let to = self.route(playing, playlist, at);
        let mut rewriting = self.rewriting(playing);
        // A subscription is named by the id of the request that began it.
        let began = row.exchange.filter(|exchange| *exchange != playlist.http);
        let listener = began.and_then(|exchange| self.listener(playing.live, exchange));
        if let Some((_, id)) = listener {
            rewriting.id = Some(id);
        }
        let Some(bytes) = render::said(text, row, rewriting) else {
            return Turn::Skipped;
        };
        if render::is_method(text, row, method::PROGRESS) {
            playing.progressed = Some(now);
        }
        let id = member(text, row.payload, "id").map(|id| id.span.of(text));
        if id.is_none() && render::is_method(text, row, method::CANCELLED) {
            // The server takes its own request back, so nobody has to answer it.
            let path = ["params", name::REQUEST_ID];
            let live = self.sessions.get_mut(playing.live as usize);
            let taken = nested(text, row.payload, &path)
                .zip(live)
                .and_then(|(id, live)| live.answered(&id_key(id.span.of(text))));
            for slot in taken.into_iter().flat_map(|(_, pending)| pending.waiters) {
                self.stage.ready.push_back(Step::Play(slot));
            }
        }
        Turn::Said(Said {
            asks: id.is_some(),
            ..said(to, playing.live, at, bytes)
        })
    }

    /// The client has heard a request of the server.
    pub(super) fn ask(&mut self, live: u32, at: u32) {
        let text = &self.cassette.text;
        let Some(row) = self.cassette.rows.get(at as usize) else {
            return;
        };
        let Some(id) = member(text, row.payload, "id").map(|id| id.span.of(text)) else {
            return;
        };
        let shown = format!("{} (id {})", shown_method(text, row), conceal::name(id));
        let pending = Pending {
            shown,
            id: id_key(id),
            waiters: Vec::new(),
        };
        let live = self.sessions.get_mut(live as usize);
        if let Some(live) = live.filter(|live| !live.ended) {
            live.ask(at, pending);
        }
    }
}

/// A message that others may follow.
fn said(to: To, live: u32, row: u32, bytes: Vec<u8>) -> Said {
    Said {
        to,
        bytes,
        live,
        row,
        asks: false,
        last: false,
    }
}

fn shown_method(text: &str, row: &Row) -> String {
    let method = member(text, row.payload, "method");
    let method = method.and_then(|method| string_value(method.span.of(text)));
    conceal::name(&method.unwrap_or_default()).into_owned()
}

/// The first half, which is no JSON any more and still one line.
fn truncated(mut bytes: Vec<u8>) -> Vec<u8> {
    let mut half = bytes.len() / 2;
    while half > 0 && bytes.get(half).is_some_and(|byte| byte & 0xc0 == 0x80) {
        half -= 1;
    }
    bytes.truncate(half);
    bytes
}
