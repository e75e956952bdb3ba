//! What the real server says, and what it does not: on its way to the client.

use super::{Errand, Forward, OUR_IDS, Question, State, Upstream};
use crate::cassette::exchanges::Framing;
use crate::cassette::model::string_value;
use crate::cassette::pairing::id_key;
use crate::cassette::view::{Envelope, Role};
use crate::replay::http::{Key, Said, To};
use crate::replay::plan::NONE;
use crate::replay::playing::Step;
use crate::replay::render;
use crate::replay::replayer::Replayer;
use crate::replay::requests::is_json;
use crate::secrets::conceal;
use crate::wire::json::{MAX_INPUT, Scanner, Span, member, nested};
use crate::wire::lane::Lane;
use crate::wire::mcp::{method, name};
use std::borrow::Cow;

/// Why a request has no answer whose response ended as it should.
const NO_ANSWER: &str = "the real server ended its response without an answer";

impl Replayer {
    /// Takes what the real server says on a line, in answer to what came on a lane; whether it
    /// belongs to the recording.
    pub(crate) fn relay(&mut self, line: u32, lane: Lane, bytes: &[u8]) -> bool {
        if lane != Lane::Stdio {
            self.speaking = line;
        }
        let upstream = self.upstream(line);
        // What it says before it is greeted belongs to the greeting.
        let kept = upstream.is_some_and(|upstream| upstream.state == State::Ready);
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return kept;
        }
        let text = std::str::from_utf8(bytes).ok();
        let Some(text) = text.filter(|text| text.len() < MAX_INPUT && is_json(text)) else {
            if kept {
                self.pass_on(line, lane, bytes.to_vec());
            }
            return kept;
        };
        if !text.trim_start().starts_with('[') {
            self.relay_message(line, lane, text, Span::new(0, text.len()), kept);
            return kept;
        }
        let mut scanner = Scanner::new(text);
        let _ = scanner.require();
        while let Ok(Some(item)) = scanner.next_item() {
            self.relay_message(line, lane, text, item.span, kept);
        }
        kept
    }

    /// The head of the real server's response to a request over HTTP.
    pub(crate) fn server_answers(
        &mut self,
        lane: Lane,
        status: u16,
        framing: Framing,
        content_type: Option<String>,
    ) {
        if let Lane::Post(number) = lane {
            self.prepare_live(number, status, framing, content_type);
        }
    }

    /// Nothing more comes for what was passed on over HTTP, and why, if that is not as it should
    /// be.
    pub(crate) fn server_is_done(&mut self, forward: &Forward, why: Option<&str>) {
        let lane = forward.lane;
        if lane != Lane::Stdio {
            self.speaking = forward.line;
        }
        match forward.errand {
            Errand::Greet(number) => self.greeting_failed(forward.line, number, why),
            Errand::Ask(number) => self.is_over(forward.line, number, why.unwrap_or(NO_ANSWER)),
            Errand::Tell => self
                .notices
                .extend(why.map(|why| format!("the real server does not take a message: {why}"))),
            Errand::Listen => {
                if let Some(upstream) = self.upstream(forward.line) {
                    upstream.listens = false;
                }
            }
            Errand::Leave => {}
        }
    }

    /// The real server knows the session of this request no more: it is greeted anew, once.
    pub(crate) fn session_is_gone(&mut self, forward: Forward, why: &str) {
        let line = forward.line;
        let asked_again = forward.again || forward.begins;
        let upstream = self.upstream(line);
        let Some(upstream) = upstream.filter(|it| it.greeting.is_some() && !asked_again) else {
            return self.server_is_done(&forward, Some(why));
        };
        let lane = forward.lane;
        let is_greeted = upstream.state == State::Greeted;
        upstream.held.push_back(Forward {
            again: true,
            ..forward
        });
        if !is_greeted {
            self.greet(line, lane);
        }
    }

    /// The response to a request is over, which ends it if no answer came.
    fn is_over(&mut self, line: u32, number: u64, why: &str) {
        let open = self.upstream(line).and_then(|it| it.take(number));
        match open.map(|open| (open.unmatched, open.from.0)) {
            Some((Some(unmatched), _)) => self.refuse_unmatched(unmatched, why),
            Some((None, Lane::Post(number))) => {
                self.streams.done(Key::Post(number), &self.plan.rows);
            }
            _ => {}
        }
    }

    /// The response to a greeting is over; if it was not answered, what waits for it is unmatched,
    /// and the next request greets again.
    fn greeting_failed(&mut self, line: u32, number: u64, why: Option<&str>) {
        let upstream = self.upstream(line);
        let Some(upstream) = upstream.filter(|it| it.is_greeted(number)) else {
            return;
        };
        upstream.state = State::Absent;
        let held = std::mem::take(&mut upstream.held);
        for forward in held {
            if let Errand::Ask(number) = forward.errand {
                self.is_over(line, number, why.unwrap_or(NO_ANSWER));
            }
        }
    }

    fn relay_message(&mut self, line: u32, lane: Lane, text: &str, span: Span, kept: bool) {
        let envelope = Envelope::read(text, span);
        let whole = || render::compact(text, span, Vec::new());
        match envelope.role() {
            Role::Response => self.relay_answer(line, lane, text, span, &envelope),
            Role::Request => self.relay_question(line, lane, text, span, &envelope, kept),
            Role::Notification
                if envelope.method_name(text).as_deref() == Some(method::CANCELLED) =>
            {
                let bytes = self.taken_back(line, text, span);
                self.pass_on(line, lane, bytes.unwrap_or_else(whole));
            }
            Role::Notification => self.pass_on(line, lane, whole()),
            Role::Unclassified | Role::Raw if kept => self.pass_on(line, lane, whole()),
            Role::Unclassified | Role::Raw => {}
        }
    }

    /// Says something that is no answer. Over HTTP it goes on the response that it came on, while
    /// that is open, and besides answers otherwise; so does what comes with the greeting, which
    /// answers nothing that the client waits for.
    fn pass_on(&mut self, line: u32, lane: Lane, bytes: Vec<u8>) {
        let upstream = self.upstream(line);
        let is_ready = upstream.is_some_and(|upstream| upstream.state == State::Ready);
        let open = match lane {
            Lane::Stdio => return self.say(lane, bytes),
            Lane::Post(number) if is_ready => self.streams.is_open(number).then_some(lane),
            Lane::Post(_) | Lane::Get(_) => None,
        };
        let to = match open {
            Some(lane) => self.lane_of(lane, line),
            None => To::Stream(Key::Besides(line)),
        };
        self.stage.ready.push_back(Step::Say(Said {
            to,
            bytes,
            live: line,
            row: NONE,
            asks: false,
            last: false,
        }));
    }

    fn relay_answer(&mut self, line: u32, lane: Lane, text: &str, span: Span, envelope: &Envelope) {
        let Some((upstream, id)) = self.upstream(line).zip(envelope.id) else {
            return;
        };
        let id = id_key(id.of(text));
        let greeted = upstream.state == State::Greeted;
        if greeted && upstream.greeting.as_ref().is_some_and(|(of, _)| *of == id) {
            return self.is_ready(line, lane, text, envelope);
        }
        let number = upstream.open.get(&(lane, id)).copied();
        // Over HTTP an error that names no request is about the one that it came in answer to.
        let number = number.or_else(|| upstream.only_request_on(lane));
        let open = number.and_then(|number| upstream.take(number));
        if open.is_some() || lane == Lane::Stdio {
            self.say(lane, render::compact(text, span, Vec::new()));
        }
    }

    /// The greeting is answered, which the client is not told: it had its answer.
    fn is_ready(&mut self, line: u32, lane: Lane, text: &str, envelope: &Envelope) {
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
        let Some(upstream) = self.upstream(line) else {
            return;
        };
        upstream.state = State::Ready;
        upstream.version = version.map(Cow::into_owned);
        let held = std::mem::take(&mut upstream.held);
        if let Some(message) = upstream.initialized.clone() {
            let forward = Forward {
                kept: false,
                // A session that is gone already is not begun for ever.
                again: true,
                ..self.to_server(line, lane, Errand::Tell, message)
            };
            self.stage.ready.push_back(Step::Forward(forward));
        }
        let live = self.sessions.get(line as usize);
        if lane == Lane::Stdio || live.is_some_and(|live| live.gets > 0) {
            self.listen(line, lane);
        }
        self.stage.ready.extend(held.into_iter().map(Step::Forward));
    }

    fn relay_question(
        &mut self,
        line: u32,
        lane: Lane,
        text: &str,
        span: Span,
        envelope: &Envelope,
        kept: bool,
    ) {
        let Some((upstreams, id)) = self.upstreams.as_mut().zip(envelope.id) else {
            return;
        };
        let number = upstreams.next();
        let ours = format!("\"{OUR_IDS}{number}\"");
        let method = envelope.method_name(text).unwrap_or_default();
        let method = conceal::name(&method);
        let shown = format!("{method} (id {})", conceal::name(id.of(text)));
        let question = Question {
            line,
            id: id.of(text).to_owned(),
            shown,
            kept,
        };
        upstreams.questions.insert(number, question);
        let bytes = render::compact(text, span, vec![(id, &ours)]);
        self.pass_on(line, lane, bytes);
    }

    /// The real server takes a request of its own back: the same with our id.
    fn taken_back(&mut self, line: u32, text: &str, span: Span) -> Option<Vec<u8>> {
        let upstreams = self.upstreams.as_mut()?;
        let id = nested(text, span, &["params", name::REQUEST_ID])?.span;
        let key = id_key(id.of(text));
        let mut questions = upstreams.questions.iter().rev();
        let (&number, _) =
            questions.find(|(_, question)| question.line == line && id_key(&question.id) == key)?;
        upstreams.questions.remove(&number);
        let ours = format!("\"{OUR_IDS}{number}\"");
        Some(render::compact(text, span, vec![(id, &ours)]))
    }

    /// The real server is no more, or never was: what it owes is unmatched.
    pub(crate) fn server_is_gone(&mut self, why: &str) {
        let Some(upstreams) = &mut self.upstreams else {
            return;
        };
        let questions = std::mem::take(&mut upstreams.questions).into_values();
        let pending = &mut self.summary.pending_server_requests;
        pending.extend(questions.map(|question| question.shown));
        // It is gone whether it was asked something or not.
        upstreams.lines.entry(0).or_default();
        let mut requests = Vec::new();
        for upstream in upstreams.lines.values_mut() {
            upstream.state = State::Gone;
            upstream.held.clear();
            upstream.open.clear();
            requests.extend(std::mem::take(&mut upstream.requests).into_values());
        }
        for unmatched in requests.into_iter().filter_map(|open| open.unmatched) {
            self.refuse_unmatched(unmatched, why);
        }
    }
}

impl Upstream {
    /// The request that came on a lane of HTTP, if it is the only one.
    fn only_request_on(&self, lane: Lane) -> Option<u64> {
        let requests = self.requests.iter();
        let mut on_it = requests.filter(|(_, open)| lane != Lane::Stdio && open.from.0 == lane);
        let (number, _) = on_it.next()?;
        on_it.next().is_none().then_some(*number)
    }
}
