//! The messages so far, as the text of a cassette, and what they tell of the session.

use super::head::{Head, string_token};
use super::known::Known;
use super::payload::{Frame, frame, raw_string, with_visible_characters};
use super::probe::Probe;
use super::recorder::Options;
use super::url;
use crate::cassette::pairing::{Pairing, Place};
use crate::cassette::view::Envelope;
use crate::cassette::write::{MessageText, Unclosed, message};
use crate::cassette::{Channel, Kind, Sender, Transport};
use crate::redact::{Action, MessageContext, Redactor};
use crate::wire::json::{Span, member, nested, write_string};
use crate::wire::lane::Lane;
use crate::wire::lines::Line;
use crate::wire::mcp::{MODERN_REVISION, method, name};
use std::borrow::Cow;
use std::collections::HashMap;
use std::time::Duration;

/// Where a message came from.
#[derive(Clone, Copy)]
pub(super) struct Origin {
    pub(super) at: Duration,
    pub(super) sender: Sender,
    pub(super) lane: Lane,
}

impl Origin {
    fn place(self) -> Place {
        let (exchange, channel) = match self.lane {
            Lane::Stdio => (None, None),
            Lane::Post(number) => (Some(number), Some(Channel::Post)),
            Lane::Get(number) => (Some(number), Some(Channel::Get)),
        };
        Place {
            sender: self.sender,
            exchange,
            channel: channel.filter(|_| self.sender == Sender::Server),
        }
    }
}

/// A request that has no answer yet.
#[derive(Debug)]
struct Open {
    method: Option<String>,
    /// The revision that a modern request says it speaks, as a JSON string.
    revision: Option<String>,
    /// Whether the client is to be thought of as waiting for it.
    awaited: bool,
    exchange: Option<u32>,
}

/// What requests of the client said since it was last forgotten.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) initialize: bool,
    /// That they wait for an answer.
    pub(super) asks: bool,
    /// That they speak a revision without sessions.
    pub(super) modern: bool,
}

impl Seen {
    pub(super) fn clear(&mut self) {
        *self = Seen::default();
    }
}

/// The numbers with which the messages begin.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct First {
    seq: i64,
    batch: u32,
    pub(super) exchange: u32,
    pub(super) session: u32,
    offset_ms: i64,
    /// Whether there are messages before them.
    follows: bool,
}

impl First {
    pub(super) fn after(earlier: &Unclosed) -> First {
        First {
            seq: earlier.next_seq,
            batch: earlier.next_batch,
            exchange: earlier.next_exchange,
            session: earlier.next_session,
            offset_ms: earlier.last_offset_ms,
            follows: earlier.ending.has_messages(),
        }
    }
}

/// The messages so far.
#[derive(Debug)]
pub(super) struct Log {
    transport: Transport,
    /// A longer message is told by its length and hash, in bytes.
    longest: usize,
    head: Head,
    redactor: Redactor,
    pub(super) known: Known,
    pub(super) seen: Seen,
    pairing: Pairing,
    open: HashMap<u32, Open>,
    first: First,
    count: u32,
    batches: u32,
    probes_only: bool,
    /// What the client asked in a recording before, until it is known whether it is needed.
    probe: Option<Probe>,
    begins_with_probe: bool,
    /// The offset of the last message, in milliseconds.
    at: i64,
    text: String,
    notices: Vec<String>,
    warned_of_depth: bool,
}

impl Log {
    /// One without messages. `follows` is whether it goes on from an earlier recording.
    pub(super) fn new(options: Options, first: First, follows: bool) -> Log {
        let Options {
            transport,
            recorded_at,
            redactor,
            server_url,
            max_message,
            earlier: _,
        } = options;
        let manifest = redactor.manifest(&recorded_at).to_line();
        let mut known = Known::default();
        let stored = server_url.map(|address| url::stored(&address, &redactor));
        for secret in stored.iter().flat_map(|stored| &stored.secrets) {
            known.add_secret(secret);
        }
        let server_url = stored.map(|stored| stored.json);
        let mut head = Head::new(transport, &recorded_at, manifest, server_url);
        if follows {
            head.settle();
        }
        Log {
            transport,
            longest: max_message,
            head,
            redactor,
            known,
            seen: Seen::default(),
            pairing: Pairing::new(transport),
            open: HashMap::new(),
            batches: first.batch,
            first,
            count: 0,
            probes_only: !follows && transport == Transport::Stdio,
            probe: None,
            begins_with_probe: false,
            at: 0,
            text: String::new(),
            notices: Vec::new(),
            warned_of_depth: false,
        }
    }

    /// See [`super::recorder::Recorder::offer`].
    pub(super) fn offer(&mut self, probe: Probe) {
        self.probe = Some(probe);
    }

    pub(super) fn begins_with_probe(&self) -> bool {
        self.begins_with_probe
    }

    pub(super) fn is_only_a_probe(&self) -> bool {
        self.probes_only
    }

    /// The text of the messages since this was last asked.
    pub(super) fn take_text(&mut self) -> String {
        std::mem::take(&mut self.text)
    }

    /// How long that text is by now, in bytes.
    pub(super) fn pending(&self) -> usize {
        self.text.len()
    }

    pub(super) fn head(&self) -> String {
        self.head.write()
    }

    pub(super) fn head_has_changed(&mut self) -> bool {
        self.head.has_changed()
    }

    pub(super) fn messages(&self) -> u32 {
        self.count
    }

    /// The number of the next message.
    pub(super) fn next_seq(&self) -> i64 {
        self.first.seq.saturating_add(i64::from(self.count))
    }

    /// How many requests of the client still wait for their answer.
    pub(super) fn unanswered(&self) -> usize {
        let waits = |open: &&Open| open.awaited;
        self.open.values().filter(waits).count()
    }

    pub(super) fn take_notices(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notices)
    }

    pub(super) fn notice(&mut self, text: String) {
        self.notices.push(text);
    }

    /// Takes the id of a session, which is as good as a credential.
    pub(super) fn session_id(&mut self, id: &str) {
        let stand_in = self.known.add_session(id, &self.redactor);
        self.head.session(&stand_in);
    }

    /// A text beside the messages as it may be stored.
    pub(super) fn scrubbed(&mut self, text: &str) -> String {
        let mut json = String::new();
        write_string(text, &mut json);
        let json = self.known.scrub(&json);
        url::spelled(&with_visible_characters(&json))
    }

    /// The same of a text that may hold secrets which nobody has seen yet; `name` is that of the member.
    pub(super) fn redacted(&mut self, text: &str, name: &str) -> String {
        let mut json = String::new();
        write_string(text, &mut json);
        let scrubbed = self.redactor.head(&json, name).text.unwrap_or(json);
        self.scrubbed(&url::spelled(&scrubbed))
    }

    /// Whether somebody waits for answers to what was asked in this exchange.
    pub(super) fn is_awaited(&self, exchange: u32) -> bool {
        let waits = |open: &Open| open.awaited && open.exchange == Some(exchange);
        self.open.values().any(waits)
    }

    /// Nobody waits any more for answers to what was asked in this exchange.
    pub(super) fn gave_up(&mut self, exchange: u32) {
        for open in self.open.values_mut() {
            open.awaited &= open.exchange != Some(exchange);
        }
    }

    /// Takes one message or batch as it came.
    pub(super) fn line(&mut self, origin: Origin, line: &Line<'_>) {
        match line {
            // An empty line says nothing on any transport.
            Line::Whole([]) => {}
            Line::Whole(bytes) => self.frame(origin, bytes),
            Line::TooLong { length, sha256 } => {
                let hash: String = sha256.iter().map(|byte| format!("{byte:02x}")).collect();
                let sender = origin.sender.as_str();
                let is_long = usize::try_from(*length).map_or(true, |length| length > self.longest);
                let why = match is_long {
                    true => "is longer than --max-message",
                    false => "came when more was half sent than is kept at one time",
                };
                self.notices.push(format!(
                    "warning: a message of {length} bytes from the {sender} {why}; it was passed on, and the \
                     cassette holds its length and SHA-256 only"
                ));
                let text = format!("mcp-cassette: a message of {length} bytes, sha256 {hash}");
                self.raw(origin, text.as_bytes());
            }
        }
    }

    fn frame(&mut self, origin: Origin, bytes: &[u8]) {
        let Ok(text) = std::str::from_utf8(bytes) else {
            return self.raw(origin, bytes);
        };
        match frame(text) {
            Frame::Object => self.object(origin, text, None),
            Frame::Raw => self.raw(origin, bytes),
            Frame::Batch(members) => {
                let batch = self.batches;
                self.batches = self.batches.saturating_add(1);
                for member in members {
                    self.object(origin, member.of(text), Some(batch));
                }
            }
        }
    }

    /// Takes what is no message.
    pub(super) fn raw(&mut self, origin: Origin, bytes: &[u8]) {
        let payload = raw_string(bytes);
        let what = What {
            kind: Kind::Raw,
            method: None,
            id: None,
            answers: None,
            batch: None,
        };
        self.write(origin, &payload, &what);
    }

    fn object(&mut self, origin: Origin, text: &str, batch: Option<u32>) {
        let envelope = Envelope::read(text, Span::new(0, text.len()));
        let kind = match (envelope.method, envelope.id) {
            (Some(_), Some(_)) => Kind::Request,
            (Some(_), None) => Kind::Notification,
            (None, Some(_)) => Kind::Response,
            (None, None) => Kind::Unclassified,
        };
        let mut answers = None;
        match kind {
            Kind::Request => self.request(origin, text, &envelope, batch.is_some()),
            Kind::Notification => self.notification(origin, text, &envelope),
            Kind::Response => answers = self.response(origin, text, &envelope),
            Kind::Unclassified | Kind::Raw => self.probes_only = false,
        }
        let of = |span: Option<Span>| span.map(|span| span.of(text));
        let what = What {
            kind,
            method: of(envelope.method).filter(|method| method.starts_with('"')),
            id: of(envelope.id).filter(|id| is_plain_id(id)),
            answers: answers.as_deref(),
            batch,
        };
        self.write(origin, text, &what);
    }

    fn request(&mut self, origin: Origin, text: &str, envelope: &Envelope, in_batch: bool) {
        let name = envelope.method_name(text).map(Cow::into_owned);
        let is = |wanted| name.as_deref() == Some(wanted);
        if is(method::INITIALIZE) && self.transport == Transport::Stdio {
            // A new session: nothing from before will be answered.
            self.open.retain(|_, open| !open.awaited);
        }
        let from_client = origin.sender == Sender::Client;
        self.probes_only &= !from_client || is(method::DISCOVER);
        // A subscription is answered when it ends, and the client ends it by leaving.
        let awaited = from_client && !is(method::LISTEN);
        let params = envelope.params.filter(|_| from_client);
        let revision = params
            .and_then(|span| nested(text, span, &[name::META, name::META_VERSION]))
            .and_then(|value| string_token(text, value));
        self.seen.initialize |= from_client && is(method::INITIALIZE);
        self.seen.asks |= awaited;
        self.seen.modern |= revision
            .as_ref()
            .is_some_and(|revision| *url::spelled(revision) >= *MODERN_REVISION);
        if is(method::INITIALIZE) || is(method::DISCOVER) {
            self.probe = None;
        } else if revision.is_some() && !in_batch {
            self.begin_with_probe(origin);
        }
        let index = self.count;
        self.pairing.ask(text, index, origin.place(), envelope);
        self.open.insert(
            index,
            Open {
                method: name,
                revision,
                awaited,
                exchange: origin.place().exchange,
            },
        );
    }

    /// Puts what the client asked in a probe in front of what it says now. The distances of its
    /// messages are kept as far as there is room: offsets go up, and none is below zero.
    fn begin_with_probe(&mut self, origin: Origin) {
        let Some(probe) = self.probe.take() else {
            return;
        };
        let now = milliseconds(origin.at);
        let last = probe.messages().map(|message| message.t_offset_ms).max();
        let earlier = now.saturating_sub(last.unwrap_or_default());
        for entry in probe.messages() {
            let at = earlier.saturating_add(entry.t_offset_ms);
            self.put(&MessageText {
                seq: i64::from(self.count),
                t_offset_ms: at.clamp(self.at, now.max(self.at)),
                ..entry
            });
        }
        self.head.take_over(&probe);
        self.begins_with_probe = true;
        self.notices.push(
            "the client asked who the server is in a recording of its own just before; what was \
             answered is kept in front of this one"
                .to_owned(),
        );
    }

    fn notification(&mut self, origin: Origin, text: &str, envelope: &Envelope) {
        self.probes_only &= origin.sender == Sender::Server;
        let name = envelope.method_name(text);
        if name.as_deref() != Some(method::CANCELLED) {
            return;
        }
        let params = envelope.params;
        let id = params.and_then(|params| member(text, params, name::REQUEST_ID));
        let request = id.and_then(|id| self.pairing.open(origin.sender, id.span.of(text)));
        if let Some(open) = request.and_then(|request| self.open.get_mut(&request)) {
            open.awaited = false;
        }
    }

    /// Notes what a response tells of the session; the method of the request it answers.
    fn response(&mut self, origin: Origin, text: &str, envelope: &Envelope) -> Option<String> {
        let request = self.pairing.answer(text, origin.place(), envelope)?;
        let open = self.open.remove(&request)?;
        if let (Some(result), Sender::Server) = (envelope.result, origin.sender) {
            let greets = open.method.as_deref() == Some(method::INITIALIZE);
            self.head.learn(text, result, greets, open.revision);
            self.head.scrub(&self.redactor);
        }
        open.method
    }

    fn write(&mut self, origin: Origin, payload: &str, what: &What<'_>) {
        let context = MessageContext {
            sender: origin.sender,
            answers: what.answers,
        };
        let scrubbed = self.known.scrub(payload);
        let redaction = self.redactor.message(&scrubbed, &context);
        let unscanned = |action: Action| action == Action::Unscanned;
        if !self.warned_of_depth && redaction.hits.iter().any(|hit| unscanned(hit.action)) {
            self.warned_of_depth = true;
            self.notices.push(format!(
                "warning: message {} could not be searched for secrets to its end and is recorded as it came",
                self.count
            ));
        }
        if what.kind == Kind::Raw {
            self.probes_only &= origin.sender == Sender::Server;
        }
        let redacted = redaction.text.is_some() || matches!(scrubbed, Cow::Owned(_));
        let payload = redaction.text.as_deref().unwrap_or(&scrubbed);
        let method = what.method.map(|method| self.known.scrub(method));
        let id = what.id.map(|id| self.known.scrub(id));
        let method = method.as_deref().map(with_visible_characters);
        let id = id.as_deref().map(with_visible_characters);
        let place = origin.place();
        let entry = MessageText {
            seq: self.next_seq(),
            t_offset_ms: self.first.offset_ms.saturating_add(milliseconds(origin.at)),
            sender: origin.sender,
            kind: what.kind,
            method: method.as_deref(),
            id: id.as_deref(),
            payload: &with_visible_characters(payload),
            redacted,
            exchange: place.exchange,
            channel: place.channel,
            batch: what.batch,
        };
        self.put(&entry);
    }

    fn put(&mut self, entry: &MessageText<'_>) {
        let first = self.count == 0 && !self.first.follows;
        message(entry, first, &mut self.text);
        self.count = self.count.saturating_add(1);
        self.at = entry.t_offset_ms;
    }
}

/// What a message is; the texts are JSON values.
struct What<'a> {
    kind: Kind,
    method: Option<&'a str>,
    id: Option<&'a str>,
    /// The method of the request that it answers.
    answers: Option<&'a str>,
    batch: Option<u32>,
}

fn milliseconds(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

/// Whether an id is one that the format names beside the payload.
fn is_plain_id(token: &str) -> bool {
    token.starts_with('"') || token.parse::<i64>().is_ok() || token.parse::<u64>().is_ok()
}
