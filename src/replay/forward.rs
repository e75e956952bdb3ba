//! `--new-episodes`: what the recording has no answer to goes to the real server, and what that
//! says goes to the client.
//!
//! The server is greeted with what the client said to the recording, `initialize` and
//! `notifications/initialized`. The client had its answer from the recording, so that the server's
//! own is dropped, and nothing of the greeting belongs to the recording, which has one. A server over
//! HTTP is greeted for each session that needs it; a process has one client.
//!
//! The client's ids are good for both, since it gives each once. Those of the server are not: a
//! recorded request and a live one may have the same. So a live one reaches the client under an
//! id of ours, and its answer goes back under the server's.

mod relay;

use super::plan::{Era, NONE};
use super::playing::Step;
use super::render;
use super::replayer::Replayer;
use super::requests::{Asked, Unmatched};
use crate::cassette::model::string_value;
use crate::cassette::pairing::id_key;
use crate::cassette::view::Envelope;
use crate::wire::json::{Span, nested};
use crate::wire::lane::Lane;
use crate::wire::mcp::{method, name};
use std::collections::{BTreeMap, HashMap, VecDeque};

/// What the ids begin with that the server's requests have for the client.
const OUR_IDS: &str = "mcp-cassette-";

/// Something for the real server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Forward {
    /// Which of the sessions with the server it is for; where there is one, it is 0.
    pub(crate) line: u32,
    /// Where the client waits for what comes of it.
    pub(crate) lane: Lane,
    pub(crate) errand: Errand,
    /// One message without the end of its line; nothing if the errand is none.
    pub(crate) bytes: Vec<u8>,
    /// What passes belongs to the recording.
    pub(crate) kept: bool,
    /// It begins a session with the server.
    pub(crate) begins: bool,
    /// The recorded session that it goes on with, if it goes on with one.
    pub(crate) session: Option<u32>,
    /// The protocol version that the server answered when it was greeted.
    pub(crate) version: Option<String>,
    /// The server knew the session no more, and this is the second time.
    pub(crate) again: bool,
}

/// What the real server is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Errand {
    /// To answer the `initialize` that the recording has answered, for the n-th time.
    Greet(u64),
    /// To answer this request, by the number that it has here.
    Ask(u64),
    /// To take a notification or an answer.
    Tell,
    /// To say what it says besides answers, where that has a stream of its own.
    Listen,
    /// To end the session, where that is said.
    Leave,
}

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

/// The sessions with the real server.
#[derive(Debug, Default)]
pub(super) struct Upstreams {
    lines: BTreeMap<u32, Upstream>,
    /// The server's requests that the client has not answered, by the numbers in our ids.
    questions: BTreeMap<u64, Question>,
    /// Requests of either side so far.
    count: u64,
}

/// One session with the real server, as far as the core knows it.
#[derive(Debug, Default)]
struct Upstream {
    state: State,
    /// The client's `initialize` that the recording answered, and its id.
    greeting: Option<(String, Vec<u8>)>,
    /// What the client said after that.
    initialized: Option<Vec<u8>>,
    /// The protocol version that the server answered.
    version: Option<String>,
    /// What waits until the greeting is answered.
    held: VecDeque<Forward>,
    /// Requests that the server has not answered, in their order, and by where they came from.
    requests: BTreeMap<u64, Open>,
    open: HashMap<(Lane, String), u64>,
    /// It is asked for what it says besides answers.
    listens: bool,
    /// How often it was greeted.
    greetings: u64,
}

/// A request of the client that the real server has.
#[derive(Debug)]
struct Open {
    from: (Lane, String),
    /// What it is if no answer comes; none if the client is not to be told so.
    unmatched: Option<Unmatched>,
}

/// A request of the real server.
#[derive(Debug)]
struct Question {
    line: u32,
    /// The id that the server gave it, as a token.
    id: String,
    /// For people.
    shown: String,
    kept: bool,
}

impl Upstreams {
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

    /// Takes the number in an id of ours.
    fn ours(id: &str) -> Option<u64> {
        let text = string_value(id)?;
        text.strip_prefix(OUR_IDS)?.parse().ok()
    }
}

impl Upstream {
    /// Something that belongs to the recording: what is to be done with it now.
    fn pass(&mut self, forward: Forward) -> Option<Step> {
        match self.state {
            State::Ready => Some(Step::Forward(forward)),
            State::Greeted => {
                self.held.push_back(forward);
                None
            }
            State::Absent | State::Gone => None,
        }
    }

    /// Whether it has not answered the n-th greeting, which is the last.
    fn is_greeted(&self, number: u64) -> bool {
        self.state == State::Greeted && self.greetings == number
    }

    fn take(&mut self, number: u64) -> Option<Open> {
        let open = self.requests.remove(&number)?;
        self.open.remove(&open.from);
        Some(open)
    }
}

impl Replayer {
    /// Whether the real server has requests of the client to answer.
    pub(crate) fn server_owes(&self) -> bool {
        let mut lines = self.upstreams.iter().flat_map(|it| it.lines.values());
        lines.any(|upstream| {
            let mut asked = upstream.requests.values();
            asked.any(|open| open.unmatched.is_some())
        })
    }

    /// Whether the real server still has to answer this.
    pub(crate) fn is_awaited(&self, forward: &Forward) -> bool {
        let line = self
            .upstreams
            .as_ref()
            .and_then(|it| it.lines.get(&forward.line));
        line.is_some_and(|upstream| match forward.errand {
            Errand::Greet(number) => upstream.is_greeted(number),
            Errand::Ask(number) => upstream.requests.contains_key(&number),
            Errand::Tell | Errand::Leave => false,
            Errand::Listen => upstream.listens,
        })
    }

    /// How many messages wait for the real server to be ready.
    pub(crate) fn held_back(&self) -> usize {
        let lines = self.upstreams.iter().flat_map(|it| it.lines.values());
        lines.map(|upstream| upstream.held.len()).sum()
    }

    /// The session with the real server that is for a client on that lane: on stdio there is one.
    fn line_of(&self, lane: Lane) -> u32 {
        match lane {
            Lane::Stdio => 0,
            Lane::Post(_) | Lane::Get(_) => self.speaking,
        }
    }

    /// That session, which is there from now on; none if there is no real server.
    fn upstream(&mut self, line: u32) -> Option<&mut Upstream> {
        let upstreams = self.upstreams.as_mut()?;
        Some(upstreams.lines.entry(line).or_default())
    }

    /// Something for the server, which belongs to the recording.
    fn to_server(&self, line: u32, lane: Lane, errand: Errand, bytes: Vec<u8>) -> Forward {
        let live = match lane {
            Lane::Stdio => self.speaking,
            Lane::Post(_) | Lane::Get(_) => line,
        };
        let upstream = self.upstreams.as_ref().and_then(|it| it.lines.get(&line));
        let version = upstream.and_then(|upstream| upstream.version.clone());
        let greeted = upstream.is_some_and(|upstream| upstream.greeting.is_some());
        let live = self.sessions.get(live as usize);
        let live = live.filter(|_| greeted && self.plan.era == Era::Legacy);
        Forward {
            line,
            lane,
            errand,
            bytes,
            kept: true,
            begins: false,
            session: live.map(|live| live.session),
            version,
            again: false,
        }
    }

    /// Remembers an `initialize`, unless the recording has no answer to it.
    pub(super) fn keep_greeting(&mut self, exchange: u32, asked: Asked<'_>) {
        let playlist = self.plan.playlists.get(exchange as usize);
        let answered = playlist.is_some_and(|playlist| playlist.answer != NONE);
        let line = self.line_of(asked.lane);
        let Some(upstream) = self.upstream(line).filter(|_| answered) else {
            return;
        };
        let message = asked.span.of(asked.text).as_bytes().to_vec();
        upstream.greeting = Some((id_key(asked.id), message));
        upstream.initialized = None;
        if matches!(upstream.state, State::Greeted | State::Ready) {
            // A client that begins anew does so with the server too.
            self.greet(line, asked.lane);
        }
    }

    /// Says the greeting, if the recording had one to answer.
    fn greet(&mut self, line: u32, lane: Lane) {
        let Some(upstream) = self.upstream(line) else {
            return;
        };
        let Some((_, message)) = upstream.greeting.clone() else {
            upstream.state = State::Ready;
            return;
        };
        upstream.state = State::Greeted;
        upstream.version = None;
        upstream.greetings += 1;
        let errand = Errand::Greet(upstream.greetings);
        let forward = Forward {
            kept: false,
            begins: true,
            ..self.to_server(line, lane, errand, message)
        };
        self.stage.ready.push_back(Step::Forward(forward));
    }

    /// Passes a request on that was not recorded; `false` if there is nobody to pass it to.
    pub(super) fn forward(&mut self, asked: Asked<'_>) -> bool {
        let line = self.line_of(asked.lane);
        let begins = asked.method == method::INITIALIZE;
        let Some(upstream) = self.upstream(line) else {
            return false;
        };
        if begins && upstream.state != State::Greeted {
            // The recording has no answer, so that this is no greeting but a request like others.
            upstream.greeting = None;
        }
        match upstream.state {
            State::Gone => return false,
            State::Absent => self.greet(line, asked.lane),
            State::Greeted | State::Ready => {}
        }
        if let Some(batch) = asked.batch {
            // Its batch is complete without it, and over HTTP the response is not.
            self.expect(asked.lane);
            self.add_to_batch(batch, None);
        }
        let Some(upstreams) = &mut self.upstreams else {
            return false;
        };
        let number = upstreams.next();
        let message = asked.span.of(asked.text).as_bytes().to_vec();
        let forward = Forward {
            begins,
            ..self.to_server(line, asked.lane, Errand::Ask(number), message)
        };
        let from = (asked.lane, id_key(asked.id));
        // A subscription is answered when it ends, if ever.
        let asked = Asked {
            batch: None,
            ..asked
        };
        let unmatched = (asked.method != method::LISTEN).then(|| Unmatched::new(asked));
        let Some(upstream) = self.upstream(line) else {
            return false;
        };
        upstream.open.insert(from.clone(), number);
        upstream.requests.insert(number, Open { from, unmatched });
        let step = upstream.pass(forward);
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
        let line = self.line_of(lane);
        let Some((upstreams, id)) = self.upstreams.as_mut().zip(envelope.id) else {
            return false;
        };
        let number = Upstreams::ours(id.of(text));
        let of_line = |number: &u64| {
            let question = upstreams.questions.get(number);
            question.is_some_and(|question| question.line == line)
        };
        let number = number.filter(of_line);
        let Some(question) = number.and_then(|number| upstreams.questions.remove(&number)) else {
            return false;
        };
        let bytes = render::compact(text, span, vec![(id, &question.id)]);
        let forward = Forward {
            kept: question.kept,
            ..self.to_server(line, lane, Errand::Tell, bytes)
        };
        self.stage.ready.push_back(Step::Forward(forward));
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
        if self.upstreams.is_none() {
            return;
        }
        let line = self.line_of(lane);
        let message = span.of(text).as_bytes().to_vec();
        let forward = self.to_server(line, lane, Errand::Tell, message);
        let Some(upstream) = self.upstream(line) else {
            return;
        };
        let step = match envelope.method_name(text).as_deref() {
            Some(method::INITIALIZED) if upstream.greeting.is_some() => {
                upstream.initialized = Some(forward.bytes.clone());
                // Otherwise it is said when the greeting is answered.
                let step = Step::Forward(Forward {
                    kept: false,
                    ..forward
                });
                (upstream.state == State::Ready).then_some(step)
            }
            Some(method::CANCELLED) => {
                let id = nested(text, span, &["params", name::REQUEST_ID]);
                let known = id.is_some_and(|id| upstream.take_back(id.span.of(text)));
                known.then(|| upstream.pass(forward)).flatten()
            }
            _ => upstream.pass(forward),
        };
        self.stage.ready.extend(step);
    }

    /// A client hears what comes besides answers: so does its session with the server.
    pub(super) fn listen(&mut self, line: u32, lane: Lane) {
        let ready = |upstream: &Upstream| upstream.state == State::Ready && !upstream.listens;
        let Some(upstreams) = &mut self.upstreams else {
            return;
        };
        let upstream = upstreams.lines.get_mut(&line);
        if let Some(upstream) = upstream.filter(|upstream| ready(upstream)) {
            upstream.listens = true;
            // Over HTTP it is for whichever GET the client has open then.
            let lane = match lane {
                Lane::Stdio => Lane::Stdio,
                Lane::Post(_) | Lane::Get(_) => Lane::Get(NONE),
            };
            let forward = self.to_server(line, lane, Errand::Listen, Vec::new());
            self.stage.ready.push_back(Step::Forward(forward));
        }
    }

    /// A client over HTTP has ended its session: so does ours with the server.
    pub(super) fn leave(&mut self, line: u32) {
        let Some(upstreams) = &mut self.upstreams else {
            return;
        };
        let upstream = upstreams.lines.get_mut(&line);
        let Some(upstream) = upstream.filter(|it| it.state != State::Absent) else {
            return;
        };
        upstream.state = State::Absent;
        upstream.listens = false;
        let lane = Lane::Post(NONE);
        let forward = Forward {
            kept: false,
            ..self.to_server(line, lane, Errand::Leave, Vec::new())
        };
        self.stage.ready.push_back(Step::Forward(forward));
    }

    /// Nobody is there any more for the answers to what came on a lane.
    pub(super) fn forget_forwarded(&mut self, lane: Lane) {
        let Some(upstreams) = &mut self.upstreams else {
            return;
        };
        for upstream in upstreams.lines.values_mut() {
            let asks = |forward: &Forward| {
                forward.lane == lane && matches!(forward.errand, Errand::Ask(_))
            };
            upstream.held.retain(|forward| !asks(forward));
            upstream.requests.retain(|_, open| open.from.0 != lane);
            upstream.open.retain(|(of, _), _| *of != lane);
        }
    }
}

impl Upstream {
    /// The client takes a request back; whether the server has it.
    fn take_back(&mut self, id: &str) -> bool {
        let id = id_key(id);
        let mut found = self.open.iter().filter(|((_, known), _)| *known == id);
        let Some((&(lane, _), &number)) = found.next() else {
            return false;
        };
        if lane == Lane::Stdio {
            self.take(number);
        } else if let Some(open) = self.requests.get_mut(&number) {
            // Its response is still to end.
            open.unmatched = None;
        }
        true
    }
}
