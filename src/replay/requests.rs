//! What the client says: requests find their recorded ones, answers open gates.

mod told;

use super::plan::{Era, NONE};
use super::playing::Playing;
use super::render;
use super::replayer::{Once, Replayer};
use crate::cassette::Sender;
use crate::cassette::model::string_value;
use crate::cassette::view::{Envelope, Role};
use crate::matching::{Candidate, Found, Group, Wanted, explain, shown_params};
use crate::redact::MessageContext;
use crate::wire::json::{MAX_INPUT, Scanner, Span, member, nested};
use crate::wire::lane::Lane;
use crate::wire::mcp::{BATCH_REVISION, code, method, name};
use std::time::Duration;

/// A live request.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) text: &'a str,
    /// The message in the text, which is a batch otherwise.
    pub(super) span: Span,
    pub(super) envelope: &'a Envelope,
    pub(super) method: &'a str,
    pub(super) id: &'a str,
    pub(super) lane: Lane,
    pub(super) batch: Option<u32>,
    pub(super) now: Duration,
}

/// A request that nothing recorded answers.
#[derive(Debug)]
pub(super) struct Unmatched {
    pub(super) lane: Lane,
    pub(super) batch: Option<u32>,
    pub(super) id: String,
    /// For people.
    method: String,
    params: String,
}

impl Unmatched {
    pub(super) fn new(asked: Asked<'_>) -> Unmatched {
        Unmatched {
            lane: asked.lane,
            batch: asked.batch,
            id: asked.id.to_owned(),
            method: crate::secrets::conceal::name(asked.method).into_owned(),
            params: shown_params(asked.text, asked.envelope.params),
        }
    }
}

impl Replayer {
    /// Takes one message, or a batch of them, that the client sent.
    pub(crate) fn receive(&mut self, now: Duration, lane: Lane, bytes: &[u8]) {
        if lane == Lane::Stdio {
            // There is one client, and it has one session at a time.
            self.speaking = u32::try_from(self.sessions.len().saturating_sub(1)).unwrap_or(NONE);
        }
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        let text = std::str::from_utf8(bytes).ok();
        let text = text.filter(|text| text.len() < MAX_INPUT && is_json(text));
        let Some(text) = text else {
            let message = "mcp-cassette: this is not JSON";
            self.refuse_all(lane, code::PARSE_ERROR, message);
            self.notices
                .push("the client sent a line that is not JSON".to_owned());
            return;
        };
        let whole = Span::new(0, text.len());
        if text.trim_start().starts_with('[') {
            self.batch(now, lane, text);
        } else {
            self.message(now, lane, text, whole, None);
        }
    }

    /// A line that is longer than anything that is kept.
    pub(crate) fn receive_too_long(&mut self, lane: Lane, length: u64) {
        let message = format!("mcp-cassette: the message of {length} bytes is too long");
        self.refuse_all(lane, code::INVALID_REQUEST, &message);
        self.notices.push(format!(
            "the client sent a line of {length} bytes, which was not read"
        ));
    }

    fn batch(&mut self, now: Duration, lane: Lane, text: &str) {
        let version = self.live().and_then(|live| live.version.clone());
        if version.as_deref() != Some(BATCH_REVISION) {
            let message = "mcp-cassette: only protocol revision 2025-03-26 has batches";
            return self.refuse_all(lane, code::INVALID_REQUEST, message);
        }
        let mut items = Vec::new();
        let mut scanner = Scanner::new(text);
        let _ = scanner.require();
        while let Ok(Some(item)) = scanner.next_item() {
            items.push(item.span);
        }
        if items.is_empty() {
            let message = "mcp-cassette: the batch is empty";
            return self.refuse_all(lane, code::INVALID_REQUEST, message);
        }
        let answered = |span: &&Span| {
            let role = Envelope::read(text, **span).role();
            matches!(role, Role::Request | Role::Unclassified | Role::Raw)
        };
        let requests = items.iter().filter(answered).count();
        let batch = (requests > 0).then(|| self.batches.begin(lane, requests));
        if batch.is_some() {
            self.expect(lane);
        }
        for item in items {
            self.message(now, lane, text, item, batch);
        }
    }

    fn message(&mut self, now: Duration, lane: Lane, text: &str, span: Span, batch: Option<u32>) {
        let envelope = Envelope::read(text, span);
        let role = envelope.role();
        self.messages += 1;
        if batch.is_none() && matches!(role, Role::Request | Role::Unclassified | Role::Raw) {
            self.expect(lane);
        }
        match role {
            Role::Request => {
                let Some(method) = envelope.method_name(text) else {
                    let message = "mcp-cassette: the method is not a string";
                    return self.refuse(lane, batch, code::INVALID_REQUEST, message);
                };
                let asked = Asked {
                    text,
                    span,
                    envelope: &envelope,
                    method: &method,
                    id: envelope.id.unwrap_or_default().of(text),
                    lane,
                    batch,
                    now,
                };
                match asked.method {
                    method::INITIALIZE => self.initialize(asked),
                    _ => self.request(asked),
                }
            }
            Role::Response => {
                if !self.forward_answer(lane, text, span, &envelope) {
                    self.answered(now, lane, text, &envelope);
                }
            }
            Role::Notification => {
                self.forward_notification(lane, text, span, &envelope);
                self.notified(now, lane, text, &envelope);
            }
            Role::Unclassified | Role::Raw => {
                let message = "mcp-cassette: this is no JSON-RPC message";
                self.refuse(lane, batch, code::INVALID_REQUEST, message);
            }
        }
    }

    /// Over HTTP, a response waits for an answer more.
    pub(super) fn expect(&mut self, lane: Lane) {
        if let Lane::Post(number) = lane {
            self.streams.expect(number);
        }
    }

    /// An error about all that came.
    fn refuse_all(&mut self, lane: Lane, code: i64, message: &str) {
        self.expect(lane);
        self.refuse(lane, None, code, message);
    }

    /// An answer of our own that has a status over HTTP.
    pub(super) fn reply_as(&mut self, status: u16, asked: Asked<'_>, bytes: Vec<u8>) {
        if let (Lane::Post(number), None) = (asked.lane, asked.batch) {
            self.streams.prepare_error(number, status);
        }
        self.reply(asked.lane, asked.batch, bytes);
    }

    /// An error about something that has no id.
    fn refuse(&mut self, lane: Lane, batch: Option<u32>, code: i64, message: &str) {
        let bytes = render::error("null", code, message, None);
        if let (Lane::Post(number), None) = (lane, batch) {
            self.streams.prepare_error(number, 400);
        }
        self.reply(lane, batch, bytes);
    }

    fn request(&mut self, asked: Asked<'_>) {
        let exact = self
            .keyer
            .key(asked.method, asked.text, asked.envelope.params);
        let session = self.live().map_or(0, |live| live.session);
        let mut wanted = Wanted {
            method: asked.method,
            session,
            exact,
            redacted: None,
        };
        let mut found = self.take(&wanted);
        if asked.lane != Lane::Stdio && !matches!(found, Found::New { .. }) {
            found = self.take_elsewhere(&wanted).unwrap_or(found);
        }
        if !matches!(found, Found::New { .. })
            && let Some(key) = self.redacted_key(asked)
        {
            wanted.redacted = Some(key);
            match self.take(&wanted) {
                Found::Nothing => {}
                other => found = other,
            }
        }
        match found {
            Found::New { exchange, group } => {
                self.warn_of_equals(asked.method, group);
                self.begin(exchange, asked, false);
            }
            Found::Again { exchange, .. } => self.begin(exchange, asked, true),
            other => self.unmatched(asked, other),
        }
    }

    fn take(&mut self, wanted: &Wanted<'_>) -> Found {
        match self.sessions.get_mut(self.speaking as usize) {
            Some(live) => self.index.take(wanted, &mut live.usage),
            None => Found::Nothing,
        }
    }

    /// Over HTTP without ids of sessions nobody knows whose request it is: any that was begun may
    /// have an answer left.
    fn take_elsewhere(&mut self, wanted: &Wanted<'_>) -> Option<Found> {
        if self.gives_ids() || self.plan.era == Era::Modern {
            return None;
        }
        let earlier = self.sessions.iter_mut().rev();
        earlier
            .map(|live| self.index.take(wanted, &mut live.usage))
            .find(|found| matches!(found, Found::New { .. }))
    }

    /// The key of what the recording's own rules make of the request, if they change it.
    fn redacted_key(&mut self, asked: Asked<'_>) -> Option<crate::matching::Key> {
        let context = MessageContext {
            sender: Sender::Client,
            answers: None,
        };
        let redacted = self.redactor.as_ref()?.message(asked.text, &context).text?;
        let envelope = Envelope::read(&redacted, Span::new(0, redacted.len()));
        Some(self.keyer.key(asked.method, &redacted, envelope.params))
    }

    fn warn_of_equals(&mut self, method: &str, group: Group) {
        let equal = group.redacted && group.size > 1;
        if equal && self.told.insert(Once::Chain(group.chain)) {
            let method = crate::secrets::conceal::name(method);
            let size = group.size;
            self.notices.push(format!(
                "{size} recorded calls of {method} are equal after redaction; they are answered \
                 in the recorded order"
            ));
        }
    }

    /// Begins to play what was recorded for a request.
    pub(super) fn begin(&mut self, exchange: u32, asked: Asked<'_>, again: bool) {
        let Some(&playlist) = self.plan.playlists.get(exchange as usize) else {
            return;
        };
        self.mark_used(exchange);
        let held = playlist.cancelled || playlist.listens;
        let responds = self.had_response(asked.lane, &playlist);
        if playlist.answer == NONE && !held && !responds {
            return match asked.method {
                method::DISCOVER => self.unmatched(asked, Found::Nothing),
                _ => self.miss(asked, "the recording has no answer to it"),
            };
        }
        let text = asked.text;
        let token = |path: &[&str]| {
            let value = nested(text, asked.envelope.params?, path)?;
            Some(Box::from(value.span.of(text)))
        };
        let fault = self.fault_for(asked);
        if !self.prepare(exchange, asked, fault.as_ref()) {
            return;
        }
        if playlist.listens && playlist.http != NONE {
            let listener = (asked.lane, Box::from(asked.id));
            if let Some(live) = self.live() {
                live.listening.insert(playlist.http, listener);
            }
        }
        // What was still open in the recording is not ended by anything here.
        let stays = held && playlist.answer == NONE || self.stayed_open(&playlist);
        let rewrites = self.rewrite_version && asked.method == method::INITIALIZE;
        self.stage.begin(Playing {
            playlist: exchange,
            live: self.speaking,
            lane: asked.lane,
            id: Some(Box::from(asked.id)),
            progress: token(&[name::META, name::PROGRESS_TOKEN]),
            version: rewrites.then(|| token(&[name::PROTOCOL_VERSION])).flatten(),
            next: playlist.first,
            since: asked.now,
            after: playlist.begins,
            progressed: None,
            fault,
            silent: false,
            only_answer: again,
            answered: false,
            batch: asked.batch,
            owes: asked.batch.is_none() && !stays && matches!(asked.lane, Lane::Post(_)),
        });
    }

    fn mark_used(&mut self, exchange: u32) {
        if let Some(used) = self.used.get_mut(exchange as usize)
            && !std::mem::replace(used, true)
        {
            self.uses += 1;
        }
    }

    fn fault_for(&mut self, asked: Asked<'_>) -> Option<super::faults::Fault> {
        if self.faults.is_empty() {
            return None;
        }
        let tool = match asked.envelope.params {
            Some(params) if self.faults.names_tools() => member(asked.text, params, "name"),
            _ => None,
        };
        let tool = tool.and_then(|tool| string_value(tool.span.of(asked.text)));
        let notices = &mut self.notices;
        self.faults.next(asked.method, tool.as_deref(), |warning| {
            notices.push(warning)
        })
    }

    /// A request that no recorded one fits. Some can be answered all the same.
    fn unmatched(&mut self, asked: Asked<'_>, found: Found) {
        let legacy = self.plan.era == Era::Legacy;
        match (asked.method, found) {
            (method::PING, _) => {
                let bytes = render::result(asked.id, "{}");
                self.reply(asked.lane, asked.batch, bytes);
            }
            // A client that tries the newer protocol first is to go on at once.
            (method::DISCOVER, _) if legacy => {
                let message = "Method not found";
                let bytes = render::error(asked.id, code::METHOD_NOT_FOUND, message, None);
                self.reply_as(404, asked, bytes);
            }
            (method::DISCOVER, _) if !self.describes_itself() => self.describe(asked),
            (_, Found::UsedUp { times: 1 }) => self.miss(asked, "recorded once, and used up"),
            (_, Found::UsedUp { times }) => {
                self.miss(asked, &format!("recorded {times} times, all used"));
            }
            (_, Found::NotNext { next }) => {
                let next = next.and_then(|next| self.method_of(next));
                let next = next.map_or("nothing".to_owned(), |next| {
                    crate::secrets::conceal::name(&next).into_owned()
                });
                self.miss(
                    asked,
                    &format!("recorded, but {next} is next in the recording"),
                );
            }
            _ => {
                let nearest = self.nearest(asked);
                let nearest = match nearest.is_empty() {
                    true => "the method was never recorded".to_owned(),
                    false => nearest,
                };
                self.miss(asked, &nearest);
            }
        }
    }

    fn method_of(&self, exchange: u32) -> Option<String> {
        let playlist = self.plan.playlists.get(exchange as usize)?;
        let row = self.cassette.rows.get(playlist.begins as usize)?;
        let text = &self.cassette.text;
        let method = member(text, row.payload, "method")?;
        string_value(method.span.of(text)).map(std::borrow::Cow::into_owned)
    }

    fn nearest(&self, asked: Asked<'_>) -> String {
        let text = &self.cassette.text;
        let requests = self
            .plan
            .playlists
            .iter()
            .take(self.plan.exchanges as usize);
        let rows = requests.filter_map(|playlist| self.cassette.rows.get(playlist.begins as usize));
        let same = rows.filter(|row| render::is_method(text, row, asked.method));
        let candidates = same.map(|row| Candidate {
            text,
            params: member(text, row.payload, "params").map(|params| params.span),
        });
        let live = Candidate {
            text: asked.text,
            params: asked.envelope.params,
        };
        explain(live, candidates)
    }

    /// A request without a recorded answer: the real server may have one.
    pub(super) fn miss(&mut self, asked: Asked<'_>, why: &str) {
        if !self.forward(asked) {
            self.refuse_unmatched(Unmatched::new(asked), why);
        }
    }

    pub(super) fn refuse_unmatched(&mut self, unmatched: Unmatched, why: &str) {
        let Unmatched {
            lane,
            batch,
            id,
            method,
            params,
        } = unmatched;
        let message = format!(
            "mcp-cassette: no recorded interaction matches {method} (params={params}): {why}"
        );
        let bytes = render::error(&id, code::NOT_RECORDED, &message, None);
        self.reply(lane, batch, bytes);
        let miss = format!("{method} params={params}");
        self.summary.explained.push(format!("{miss}: {why}"));
        self.summary.misses.push(miss);
    }
}

pub(super) fn is_json(text: &str) -> bool {
    let mut scanner = Scanner::new(text);
    scanner.value().is_ok() && scanner.finish().is_ok()
}
