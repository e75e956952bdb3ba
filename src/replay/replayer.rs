//! The replayer: takes what the client says, and tells what to do next.

use super::batch::Batches;
use super::faults::Overlay;
use super::forward::Upstreams;
use super::http::{Key, Streams, To};
use super::plan::{Plan, Request};
use super::playing::{Stage, Step};
use super::session::Live;
use super::{Action, Options, Pace, Summary, Tally};
use crate::cassette::Cassette;
use crate::matching::{Index, Keyer, PointerError};
use crate::redact::Redactor;
use crate::wire::lane::Lane;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

/// Replays one recording: on stdio to one client at a time, over HTTP to several.
#[derive(Debug)]
pub(crate) struct Replayer {
    pub(super) cassette: Arc<Cassette>,
    pub(super) plan: Plan,
    pub(super) index: Index,
    pub(super) keyer: Keyer,
    pub(super) redactor: Option<Redactor>,
    pub(super) faults: Overlay,
    pub(super) rewrite_version: bool,
    pub(super) pace: Option<Pace>,
    pub(super) stage: Stage,
    pub(super) batches: Batches,
    /// Every session so far.
    pub(super) sessions: Vec<Live>,
    /// The one whose client speaks at the moment.
    pub(super) speaking: u32,
    /// The one that the next `initialize` belongs to, if something was asked before it.
    pub(super) lobby: Option<u32>,
    /// The one that was begun last.
    pub(super) latest: Option<u32>,
    /// Of both sides.
    pub(super) messages: u64,
    /// Over HTTP, by their ids.
    pub(super) ids: HashMap<String, u32>,
    /// Over HTTP, where they have no ids: nothing goes on before a new one.
    pub(super) expired: bool,
    pub(super) streams: Streams,
    /// How many `initialize` came.
    pub(super) initialized: u32,
    /// Which recorded requests were made, and how many.
    pub(super) used: Vec<bool>,
    pub(super) uses: usize,
    /// What somebody should know now, and what was said once.
    pub(super) notices: Vec<String>,
    pub(super) told: HashSet<Once>,
    pub(super) summary: Summary,
    /// The real server, if there is one.
    pub(super) upstreams: Option<Upstreams>,
    /// The client says nothing more.
    pub(super) closed: bool,
    pub(super) aborted: bool,
}

/// What is said once only.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) enum Once {
    /// Requests with one key became equal by redaction.
    Chain(u32),
    Version,
    Capabilities,
}

impl Replayer {
    /// Arranges a recording.
    ///
    /// # Errors
    ///
    /// A pointer to an ignored parameter that is none.
    pub(crate) fn new(cassette: Arc<Cassette>, options: Options) -> Result<Self, PointerError> {
        let mut keyer = Keyer::new(&options.ignored, options.meta)?;
        let mut index = Index::new(options.ordering, options.on_exhausted);
        index.reserve(cassette.rows.len() / 2);
        let text = &cassette.text;
        let plan = Plan::new(&cassette, |request: Request<'_>| {
            // The n-th `initialize` is that of the n-th session, whatever it says.
            let matched = request.method != crate::wire::mcp::method::INITIALIZE;
            // What was turned away was asked again.
            let key = (matched && !request.turned_away)
                .then(|| keyer.key(request.method, text, request.params));
            index.add(request.session, request.row.redacted, key);
        });
        if plan.sessions.len() > 1 {
            index.join_sessions();
        }
        if plan.rows.over_http {
            index.keep_to_sessions();
        }
        // Rules that changed no request have nothing to do with live ones.
        let rows = cassette.rows.iter();
        let redacts = rows
            .filter(|row| row.sender == crate::cassette::Sender::Client)
            .any(|row| row.redacted);
        let used = vec![false; plan.exchanges as usize];
        Ok(Replayer {
            plan,
            index,
            keyer,
            redactor: options.redactor.filter(|_| redacts),
            faults: options.faults,
            rewrite_version: options.rewrite_version,
            pace: options.pace,
            stage: Stage::default(),
            batches: Batches::default(),
            sessions: vec![Live::default()],
            speaking: 0,
            lobby: Some(0),
            latest: None,
            messages: 0,
            ids: HashMap::new(),
            expired: false,
            streams: Streams::default(),
            initialized: 0,
            used,
            uses: 0,
            notices: Vec::new(),
            told: HashSet::new(),
            summary: Summary::default(),
            upstreams: options.new_episodes.then(Upstreams::default),
            closed: false,
            aborted: false,
            cassette,
        })
    }

    /// What to do next. To be asked until it is to wait or idle.
    pub(crate) fn poll(&mut self, now: Duration) -> Action {
        if self.aborted {
            return Action::Idle;
        }
        self.stage.ring(now);
        loop {
            if let Some(action) = self.streams.out.pop_front() {
                return action;
            }
            let Some(step) = self.stage.ready.pop_front() else {
                break;
            };
            let said = match step {
                Step::Say(said) => Some(said),
                Step::Play(slot) => self.play(slot, now),
                Step::Forward(forward) => return Action::Forward(forward),
                Step::Abort => {
                    self.aborted = true;
                    return Action::Abort;
                }
            };
            if let Some(action) = said.and_then(|said| self.deliver(said)) {
                return action;
            }
        }
        match self.stage.next_timer() {
            Some(at) => Action::Wait(at),
            None => Action::Idle,
        }
    }

    /// The client says nothing more. Answers that only wait for their time are still given.
    pub(crate) fn close(&mut self) {
        self.closed = true;
        let waits = |playing: &super::playing::Playing| playing.id.is_some() && !playing.answered;
        for slot in self.stage.retain_timers(waits) {
            self.end_slot(slot);
        }
        let waiters: Vec<u32> = self
            .sessions
            .iter_mut()
            .flat_map(|live| live.pending.values_mut())
            .flat_map(|pending| std::mem::take(&mut pending.waiters))
            .collect();
        for slot in waiters {
            // Played once more, it finds that its gate stays shut, and says so.
            self.stage.ready.push_back(Step::Play(slot));
        }
    }

    /// Whether the client said that it says nothing more.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    /// What somebody should know, since the last time.
    pub(crate) fn take_notices(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notices)
    }

    /// Whether [`Replayer::take_notices`] has anything.
    pub(crate) fn has_notices(&self) -> bool {
        !self.notices.is_empty()
    }

    /// How far it is.
    pub(crate) fn tally(&self) -> Tally {
        Tally {
            sessions: self.initialized,
            messages: self.messages,
            misses: self.summary.misses.len(),
        }
    }

    /// What came of it all.
    pub(crate) fn finish(&mut self) -> Summary {
        let mut summary = std::mem::take(&mut self.summary);
        summary.unused_faults = self.faults.unused();
        summary.unused_interactions = self.used.len() - self.uses;
        for live in &self.sessions {
            let mut pending: Vec<_> = live.pending.iter().collect();
            pending.sort_unstable_by_key(|(row, _)| **row);
            let shown = pending
                .into_iter()
                .map(|(_, pending)| pending.shown.clone());
            summary.pending_server_requests.extend(shown);
        }
        if let Some(upstreams) = &self.upstreams {
            let questions = upstreams.unanswered_questions();
            summary.pending_server_requests.extend(questions);
        }
        summary
    }

    /// An answer of our own: on its lane, or in its batch.
    pub(super) fn reply(&mut self, lane: Lane, batch: Option<u32>, bytes: Vec<u8>) {
        match batch {
            None => self.say(lane, bytes),
            Some(batch) => self.add_to_batch(batch, Some(bytes)),
        }
    }

    /// An answer in a batch, or the certainty that there is none.
    pub(super) fn add_to_batch(&mut self, batch: u32, answer: Option<Vec<u8>>) {
        match self.batches.add(batch, answer) {
            Some((lane, bytes)) if bytes.is_empty() => {
                if let To::Stream(key @ Key::Post(_)) = self.lane_of(lane, self.speaking) {
                    self.streams.done(key, &self.plan.rows);
                }
            }
            Some((lane, bytes)) => self.say(lane, bytes),
            None => {}
        }
    }

    pub(super) fn live(&mut self) -> Option<&mut Live> {
        self.sessions.get_mut(self.speaking as usize)
    }
}
