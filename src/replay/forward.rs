//! `--new-episodes`: what the recording has no answer to goes to the real server, and what that
//! says goes to the client.
//!
//! The server is greeted with what the client said to the recording, `initialize` and
//! `notifications/initialized`. The client had its answer from the recording, so that the server's
//! own is dropped, and nothing of the greeting belongs to the recording, which has one.
//!
//! The client's ids are good for both, since it gives each once. Those of the server are not: a
//! recorded request and a live one may have the same. So a live one reaches the client under an
//! id of ours, and its answer goes back under the server's.

use super::plan::NONE;
use super::playing::Step;
use super::render;
use super::replayer::Replayer;
use super::requests::{Asked, Unmatched, is_json};
use crate::cassette::model::string_value;
use crate::cassette::pairing::id_key;
use crate::cassette::view::{Envelope, Role};
use crate::secrets::conceal;
use crate::wire::json::{MAX_INPUT, Scanner, Span, member, nested};
use crate::wire::lane::Lane;
use crate::wire::mcp::{method, name};
use std::collections::{BTreeMap, HashMap, VecDeque};

/// What the ids begin with that the server's requests have for the client.
const OUR_IDS: &str = "mcp-cassette-";

/// How far it is with the real server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Nothing was asked of it.
    #[default]
    Absent,
    /// It has the client's `initialize` and has not answered it.
    Greeted,
    Ready,
    /// It has ended, or could not be started.
    Gone,
}

/// The real server, as far as the core knows it.
#[derive(Debug, Default)]
pub(super) struct Upstream {
    state: State,
    /// The client's `initialize` that the recording answered, and its id.
    greeting: Option<(String, Vec<u8>)>,
    /// What the client said after that.
    initialized: Option<Vec<u8>>,
    /// What waits until the greeting is answered.
    held: VecDeque<(Lane, Vec<u8>)>,
    /// Requests that the server has not answered, by their ids, and the order of them.
    open: HashMap<String, u64>,
    unmatched: BTreeMap<u64, Unmatched>,
    /// Its own requests that the client has not answered, by the numbers in our ids.
    questions: BTreeMap<u64, Question>,
    /// Requests of either side so far.
    count: u64,
}

/// A request of the real server.
#[derive(Debug)]
struct Question {
    /// The id that the server gave it, as a token.
    id: String,
    /// For people.
    shown: String,
    kept: bool,
}

impl Upstream {
    /// The server's requests that the client did not answer, for people.
    pub(super) fn unanswered_questions(&self) -> impl Iterator<Item = String> + '_ {
        self.questions
            .values()
            .map(|question| question.shown.clone())
    }

    fn next(&mut self) -> u64 {
        self.count += 1;
        self.count
    }

    /// A message of the client that belongs to the recording: what is to be done with it now.
    fn pass(&mut self, lane: Lane, bytes: Vec<u8>) -> Option<Step> {
        match self.state {
            State::Ready => Some(Step::Forward(lane, bytes, true)),
            State::Greeted => {
                self.held.push_back((lane, bytes));
                None
            }
            State::Absent | State::Gone => None,
        }
    }

    /// Takes the number in an id of ours.
    fn ours(id: &str) -> Option<u64> {
        let text = string_value(id)?;
        text.strip_prefix(OUR_IDS)?.parse().ok()
    }
}

impl Replayer {
    /// How many messages wait for the real server to be ready.
    pub(crate) fn held_back(&self) -> usize {
        self.upstream
            .as_ref()
            .map_or(0, |upstream| upstream.held.len())
    }

    /// Remembers an `initialize`, unless the recording has no answer to it.
    pub(super) fn keep_greeting(&mut self, exchange: u32, asked: Asked<'_>) {
        let playlist = self.plan.playlists.get(exchange as usize);
        let answered = playlist.is_some_and(|playlist| playlist.answer != NONE);
        let Some(upstream) = self.upstream.as_mut().filter(|_| answered) else {
            return;
        };
        let line = asked.span.of(asked.text).as_bytes().to_vec();
        upstream.greeting = Some((id_key(asked.id), line));
        upstream.initialized = None;
        if matches!(upstream.state, State::Greeted | State::Ready) {
            // A client that begins anew does so with the server too.
            self.greet(asked.lane);
        }
    }

    /// Says the greeting, if the recording had one to answer.
    fn greet(&mut self, lane: Lane) {
        let Some(upstream) = &mut self.upstream else {
            return;
        };
        upstream.state = match &upstream.greeting {
            Some((_, line)) => {
                let step = Step::Forward(lane, line.clone(), false);
                self.stage.ready.push_back(step);
                State::Greeted
            }
            None => State::Ready,
        };
    }

    /// Passes a request on that was not recorded; `false` if there is nobody to pass it to.
    pub(super) fn forward(&mut self, asked: Asked<'_>) -> bool {
        let Some(upstream) = &mut self.upstream else {
            return false;
        };
        if asked.method == method::INITIALIZE && upstream.state != State::Greeted {
            // The recording has no answer, so that this is no greeting but a request like others.
            upstream.greeting = None;
        }
        match upstream.state {
            State::Gone => return false,
            State::Absent => self.greet(asked.lane),
            State::Greeted | State::Ready => {}
        }
        // Its batch is complete without it.
        if let Some(batch) = asked.batch {
            self.add_to_batch(batch, None);
        }
        let Some(upstream) = &mut self.upstream else {
            return false;
        };
        let number = upstream.next();
        upstream.open.insert(id_key(asked.id), number);
        // A subscription is answered when it ends, if ever.
        if asked.method != method::LISTEN {
            let mut unmatched = Unmatched::new(asked);
            unmatched.batch = None;
            upstream.unmatched.insert(number, unmatched);
        }
        let line = asked.span.of(asked.text).as_bytes().to_vec();
        let step = upstream.pass(asked.lane, line);
        self.stage.ready.extend(step);
        true
    }

    /// Passes the client's answer to a request of the real server on; `false` if it is none.
    pub(super) fn forward_answer(
        &mut self,
        lane: Lane,
        text: &str,
        span: Span,
        envelope: &Envelope,
    ) -> bool {
        let Some((upstream, id)) = self.upstream.as_mut().zip(envelope.id) else {
            return false;
        };
        let number = Upstream::ours(id.of(text));
        let Some(question) = number.and_then(|number| upstream.questions.remove(&number)) else {
            return false;
        };
        let bytes = render::compact(text, span, vec![(id, &question.id)]);
        let step = Step::Forward(lane, bytes, question.kept);
        self.stage.ready.push_back(step);
        true
    }

    /// Passes a notification on, if the real server runs and it is not about the recording.
    pub(super) fn forward_notification(
        &mut self,
        lane: Lane,
        text: &str,
        span: Span,
        envelope: &Envelope,
    ) {
        let Some(upstream) = &mut self.upstream else {
            return;
        };
        let line = || span.of(text).as_bytes().to_vec();
        let step = match envelope.method_name(text).as_deref() {
            Some(method::INITIALIZED) if upstream.greeting.is_some() => {
                upstream.initialized = Some(line());
                // Otherwise it is said when the greeting is answered.
                (upstream.state == State::Ready).then(|| Step::Forward(lane, line(), false))
            }
            Some(method::CANCELLED) => {
                let path = ["params", name::REQUEST_ID];
                let id = nested(text, span, &path);
                let known = id.and_then(|id| upstream.open.remove(&id_key(id.span.of(text))));
                known.and_then(|number| {
                    upstream.unmatched.remove(&number);
                    upstream.pass(lane, line())
                })
            }
            _ => upstream.pass(lane, line()),
        };
        self.stage.ready.extend(step);
    }

    /// Takes a line of the real server; whether it belongs to the recording.
    pub(crate) fn relay(&mut self, lane: Lane, bytes: &[u8]) -> bool {
        let ready = |upstream: &Option<Upstream>| {
            let state = upstream.as_ref().map(|upstream| upstream.state);
            state == Some(State::Ready)
        };
        // What it says before it is greeted belongs to the greeting.
        let kept = ready(&self.upstream);
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return kept;
        }
        let text = std::str::from_utf8(bytes).ok();
        let Some(text) = text.filter(|text| text.len() < MAX_INPUT && is_json(text)) else {
            if kept {
                self.say(lane, bytes.to_vec());
            }
            return kept;
        };
        if !text.trim_start().starts_with('[') {
            self.relay_message(lane, text, Span::new(0, text.len()), kept);
            return kept;
        }
        let mut scanner = Scanner::new(text);
        let _ = scanner.require();
        while let Ok(Some(item)) = scanner.next_item() {
            self.relay_message(lane, text, item.span, kept);
        }
        kept
    }

    fn relay_message(&mut self, lane: Lane, text: &str, span: Span, kept: bool) {
        let envelope = Envelope::read(text, span);
        let whole = || render::compact(text, span, Vec::new());
        match envelope.role() {
            Role::Response => self.relay_answer(lane, text, span, &envelope),
            Role::Request => self.relay_question(lane, text, span, &envelope, kept),
            Role::Notification
                if envelope.method_name(text).as_deref() == Some(method::CANCELLED) =>
            {
                let bytes = self.taken_back(text, span);
                self.say(lane, bytes.unwrap_or_else(whole));
            }
            Role::Notification => self.say(lane, whole()),
            Role::Unclassified | Role::Raw if kept => self.say(lane, whole()),
            Role::Unclassified | Role::Raw => {}
        }
    }

    fn relay_answer(&mut self, lane: Lane, text: &str, span: Span, envelope: &Envelope) {
        let Some((upstream, id)) = self.upstream.as_mut().zip(envelope.id) else {
            return;
        };
        let id = id_key(id.of(text));
        let greeted = upstream.state == State::Greeted;
        if greeted && upstream.greeting.as_ref().is_some_and(|(of, _)| *of == id) {
            return self.is_ready(lane, text, envelope);
        }
        if let Some(number) = upstream.open.remove(&id) {
            upstream.unmatched.remove(&number);
        }
        self.say(lane, render::compact(text, span, Vec::new()));
    }

    /// The greeting is answered, which the client is not told: it had its answer.
    fn is_ready(&mut self, lane: Lane, text: &str, envelope: &Envelope) {
        let version = envelope.result.and_then(|result| {
            let version = member(text, result, name::PROTOCOL_VERSION)?;
            string_value(version.span.of(text))
        });
        let recorded = self.live().and_then(|live| live.version.clone());
        if envelope.result.is_none() {
            self.notices
                .push("the real server refuses the client's `initialize`".to_owned());
        } else if version.as_deref() != recorded.as_deref() {
            let shown = |version: Option<&str>| match version {
                Some(version) => conceal::name(version).into_owned(),
                None => "no version".to_owned(),
            };
            self.notices.push(format!(
                "the real server answers protocol version {}, and the recording {}",
                shown(version.as_deref()),
                shown(recorded.as_deref())
            ));
        }
        let Some(upstream) = &mut self.upstream else {
            return;
        };
        upstream.state = State::Ready;
        let ready = &mut self.stage.ready;
        ready.extend(
            upstream
                .initialized
                .clone()
                .map(|line| Step::Forward(lane, line, false)),
        );
        let held = std::mem::take(&mut upstream.held).into_iter();
        ready.extend(held.map(|(lane, line)| Step::Forward(lane, line, true)));
    }

    fn relay_question(
        &mut self,
        lane: Lane,
        text: &str,
        span: Span,
        envelope: &Envelope,
        kept: bool,
    ) {
        let Some((upstream, id)) = self.upstream.as_mut().zip(envelope.id) else {
            return;
        };
        let number = upstream.next();
        let ours = format!("\"{OUR_IDS}{number}\"");
        let method = envelope.method_name(text).unwrap_or_default();
        let method = conceal::name(&method);
        let shown = format!("{method} (id {})", conceal::name(id.of(text)));
        let question = Question {
            id: id.of(text).to_owned(),
            shown,
            kept,
        };
        upstream.questions.insert(number, question);
        let bytes = render::compact(text, span, vec![(id, &ours)]);
        self.say(lane, bytes);
    }

    /// The real server takes a request of its own back: the same with our id.
    fn taken_back(&mut self, text: &str, span: Span) -> Option<Vec<u8>> {
        let upstream = self.upstream.as_mut()?;
        let id = nested(text, span, &["params", name::REQUEST_ID])?.span;
        let key = id_key(id.of(text));
        let mut questions = upstream.questions.iter().rev();
        let (&number, _) = questions.find(|(_, question)| id_key(&question.id) == key)?;
        upstream.questions.remove(&number);
        let ours = format!("\"{OUR_IDS}{number}\"");
        Some(render::compact(text, span, vec![(id, &ours)]))
    }

    /// The real server is no more, or never was: what it owes is unmatched.
    pub(crate) fn server_is_gone(&mut self, why: &str) {
        let Some(upstream) = &mut self.upstream else {
            return;
        };
        upstream.state = State::Gone;
        upstream.held.clear();
        upstream.open.clear();
        let questions = std::mem::take(&mut upstream.questions).into_values();
        let pending = &mut self.summary.pending_server_requests;
        pending.extend(questions.map(|question| question.shown));
        for unmatched in std::mem::take(&mut upstream.unmatched).into_values() {
            self.refuse_unmatched(unmatched, why);
        }
    }
}
