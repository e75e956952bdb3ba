//! The core: bytes with their time and side in, text of a cassette out.

use super::head::{Head, string_token};
use super::payload::{Frame, frame, raw_string, with_visible_characters};
use super::probe::Probe;
use crate::cassette::pairing::{Pairing, Place};
use crate::cassette::view::Envelope;
use crate::cassette::write::{Ending, MessageText, Unclosed, message};
use crate::cassette::{Channel, Kind, Sender, Transport};
use crate::redact::{Action, MessageContext, Redactor};
use crate::wire::json::{Span, member, nested};
use crate::wire::lane::Lane;
use crate::wire::lines::{Line, Lines};
use crate::wire::mcp::{method, name};
use std::borrow::Cow;
use std::collections::HashMap;
use std::time::Duration;

/// What a recording begins with.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) transport: Transport,
    /// RFC 3339, UTC.
    pub(crate) recorded_at: String,
    /// What scrubs the messages.
    pub(crate) redactor: Redactor,
    /// In bytes: a longer message is told by its length and hash.
    pub(crate) max_message: usize,
    /// What it goes on from, if that is not nothing. Head and manifest stay as they are.
    pub(crate) earlier: Option<Unclosed>,
}

/// Turns what passed into the text of a cassette.
#[derive(Debug)]
pub(crate) struct Recorder {
    streams: HashMap<(Sender, Lane), Lines>,
    max_message: usize,
    /// The text before the first message, if it is an earlier recording.
    begin: Option<String>,
    ending: Ending,
    log: Log,
}

impl Recorder {
    pub(crate) fn new(options: Options) -> Recorder {
        let Options {
            transport,
            recorded_at,
            redactor,
            max_message,
            earlier,
        } = options;
        let follows = earlier.is_some();
        let first = earlier.as_ref().map_or(First::default(), First::after);
        let (begin, ending) = earlier.map_or((None, Ending::default()), |earlier| {
            (Some(earlier.begin), earlier.ending)
        });
        let manifest = redactor.manifest(&recorded_at).to_line();
        let mut head = Head::new(transport, &recorded_at, manifest);
        if follows {
            head.settle();
        }
        Recorder {
            streams: HashMap::new(),
            max_message,
            begin,
            ending,
            log: Log {
                head,
                redactor,
                pairing: Pairing::new(transport),
                open: HashMap::new(),
                batches: first.batch,
                first,
                count: 0,
                probes_only: !follows,
                probe: None,
                begins_with_probe: false,
                at: 0,
                text: String::new(),
                notices: Vec::new(),
                warned_of_depth: false,
            },
        }
    }

    /// Gives what the client asked in a probe just before. It becomes the beginning of this
    /// recording if the client needs it: if it has a modern session and does not ask again.
    pub(super) fn offer(&mut self, probe: Probe) {
        self.log.probe = Some(probe);
    }

    /// Whether a probe has become the beginning.
    pub(super) fn begins_with_probe(&self) -> bool {
        self.log.begins_with_probe
    }

    /// Takes bytes that `sender` sent on `lane`, `at` this time after the recording began.
    pub(crate) fn observe(&mut self, at: Duration, sender: Sender, lane: Lane, bytes: &[u8]) {
        let longest = self.max_message;
        let lines = self.streams.entry((sender, lane));
        let lines = lines.or_insert_with(|| Lines::new(longest));
        let log = &mut self.log;
        lines.push(bytes, |line| log.line(Origin { at, sender, lane }, &line));
    }

    /// Nothing more will pass: what did not end in a line feed is a message too.
    pub(crate) fn finish(&mut self, at: Duration) {
        let mut streams: Vec<_> = self.streams.drain().collect();
        streams.sort_unstable_by_key(|((sender, lane), _)| (*lane, *sender == Sender::Server));
        for ((sender, lane), mut lines) in streams {
            let log = &mut self.log;
            lines.finish(|line| log.line(Origin { at, sender, lane }, &line));
        }
    }

    /// The text of the messages since this was last asked, as it follows on those before.
    pub(crate) fn take_messages(&mut self) -> String {
        std::mem::take(&mut self.log.text)
    }

    /// How long that text is by now, in bytes.
    pub(crate) fn pending(&self) -> usize {
        self.log.text.len()
    }

    /// The text of the file up to the first message that was observed.
    pub(crate) fn head(&self) -> String {
        if let Some(begin) = &self.begin {
            return begin.clone();
        }
        self.log.head.write()
    }

    /// How the file ends after the messages.
    pub(crate) fn ending(&self) -> Ending {
        self.ending.clone()
    }

    /// Whether the head has changed since this was last asked.
    pub(crate) fn head_has_changed(&mut self) -> bool {
        self.log.head.has_changed()
    }

    /// How many messages there are so far.
    pub(crate) fn messages(&self) -> u64 {
        u64::from(self.log.count)
    }

    /// How many requests of the client still wait for their answer.
    pub(crate) fn unanswered(&self) -> usize {
        let waits = |open: &&Open| open.awaited;
        self.log.open.values().filter(waits).count()
    }

    /// Whether the client did nothing but ask who the server is: some clients start a server
    /// for that alone, and once more for the session.
    pub(crate) fn is_only_a_probe(&self) -> bool {
        self.log.probes_only
    }

    /// What the user should know of since this was last asked.
    pub(crate) fn take_notices(&mut self) -> Vec<String> {
        std::mem::take(&mut self.log.notices)
    }
}

/// Where a message came from.
#[derive(Clone, Copy)]
struct Origin {
    at: Duration,
    sender: Sender,
    lane: Lane,
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
}

/// The numbers with which the messages begin.
#[derive(Clone, Copy, Debug, Default)]
struct First {
    seq: i64,
    batch: u32,
    offset_ms: i64,
    /// Whether there are messages before them.
    follows: bool,
}

impl First {
    fn after(earlier: &Unclosed) -> First {
        First {
            seq: earlier.next_seq,
            batch: earlier.next_batch,
            offset_ms: earlier.last_offset_ms,
            follows: earlier.ending.has_messages(),
        }
    }
}

/// The messages so far.
#[derive(Debug)]
struct Log {
    head: Head,
    redactor: Redactor,
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
    fn line(&mut self, origin: Origin, line: &Line<'_>) {
        match line {
            // An empty line says nothing on any transport.
            Line::Whole([]) => {}
            Line::Whole(bytes) => self.frame(origin, bytes),
            Line::TooLong { length, sha256 } => {
                let hash: String = sha256.iter().map(|byte| format!("{byte:02x}")).collect();
                let sender = origin.sender.as_str();
                self.notices.push(format!(
                    "warning: a message of {length} bytes from the {sender} is longer than --max-message; it was \
                     passed on, and the cassette holds its length and SHA-256 only"
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

    fn raw(&mut self, origin: Origin, bytes: &[u8]) {
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
        if is(method::INITIALIZE) {
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
        let redaction = self.redactor.message(payload, &context);
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
        let redacted = redaction.text.is_some();
        let payload = redaction.text.as_deref().unwrap_or(payload);
        let method = what.method.map(with_visible_characters);
        let id = what.id.map(with_visible_characters);
        let place = origin.place();
        let entry = MessageText {
            seq: self.first.seq.saturating_add(i64::from(self.count)),
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
