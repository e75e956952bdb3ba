//! What the client says that is no request: its answers open gates, its notifications lead to
//! something or take a request back.

use crate::cassette::pairing::id_key;
use crate::cassette::view::Envelope;
use crate::replay::playing::{Playing, Step};
use crate::replay::replayer::Replayer;
use crate::wire::json::member;
use crate::wire::lane::Lane;
use crate::wire::mcp::{method, name};
use std::time::Duration;

impl Replayer {
    /// The client answers a request of the server: what waited for that goes on.
    pub(super) fn answered(&mut self, now: Duration, lane: Lane, text: &str, envelope: &Envelope) {
        let Some(id) = envelope.id else { return };
        let id = id_key(id.of(text));
        // Over HTTP the request names the session; on stdio an earlier one may be meant.
        let sessions = self.sessions.iter_mut().enumerate().rev();
        let only = (lane != Lane::Stdio).then_some(self.speaking as usize);
        let answered = sessions
            .filter(|(at, _)| only.is_none_or(|only| only == *at))
            .find_map(|(_, live)| live.answered(&id));
        let Some((row, pending)) = answered else {
            return;
        };
        let answer = self.plan.answered_at.get(&row).copied().unwrap_or(row);
        for slot in pending.waiters {
            if let Some(playing) = self.stage.look(slot) {
                playing.since = now;
                playing.after = playing.after.max(answer);
            }
            self.stage.ready.push_back(Step::Play(slot));
        }
    }

    pub(super) fn notified(&mut self, now: Duration, lane: Lane, text: &str, envelope: &Envelope) {
        let Some(method) = envelope.method_name(text) else {
            return;
        };
        if method == method::CANCELLED {
            return self.cancelled(lane, text, envelope);
        }
        if self.plan.notifications.is_empty() {
            return;
        }
        let current = self.speaking;
        let Some(live) = self.sessions.get_mut(current as usize) else {
            return;
        };
        let of_method = (live.session, method.into_owned());
        let Some(list) = self.plan.notifications.get(&of_method) else {
            return;
        };
        let count = live.notified.entry(of_method.1).or_default();
        let playlist = list.get(*count).copied().flatten();
        *count += 1;
        let found = playlist.and_then(|at| Some((at, self.plan.playlists.get(at as usize)?)));
        if let Some((at, playlist)) = found {
            self.stage.begin(Playing {
                playlist: at,
                live: current,
                lane,
                id: None,
                progress: None,
                version: None,
                next: playlist.first,
                since: now,
                after: playlist.begins,
                progressed: None,
                fault: None,
                silent: false,
                only_answer: false,
                answered: true,
                batch: None,
                owes: false,
            });
        }
    }

    /// The client takes a request back: its answer is not given if it is not out yet.
    pub(super) fn cancelled(&mut self, lane: Lane, text: &str, envelope: &Envelope) {
        let id = envelope
            .params
            .and_then(|params| member(text, params, name::REQUEST_ID));
        let Some(id) = id.map(|id| id.span.of(text)) else {
            return;
        };
        let only = (lane != Lane::Stdio).then_some(self.speaking as usize);
        let sessions = self.sessions.iter().enumerate().rev();
        let slot = sessions
            .filter(|(at, _)| only.is_none_or(|only| only == *at))
            .find_map(|(_, live)| live.waiting.get(id).copied());
        let batch = slot
            .and_then(|slot| self.stage.look(slot))
            .and_then(|playing| {
                let open = !std::mem::replace(&mut playing.silent, true) && !playing.answered;
                playing.answered = true;
                playing.batch.take().filter(|_| open)
            });
        if let Some(batch) = batch {
            self.add_to_batch(batch, None);
        }
        if let Some(slot) = slot.filter(|_| lane != Lane::Stdio) {
            // Its response has nothing to wait for any more.
            self.stage.ready.push_back(Step::Play(slot));
        }
    }
}
