//! A cassette seen as JSON-RPC: what each payload is, and which request a
//! response answers.
//!
//! Everything here is read from the payloads. The `kind`, `method` and `msg_id`
//! that the file states beside them are for people and for `inspect`; a gate that
//! believed them could be told that a tool listing is a notification.

use super::model::{Cassette, Channel, Row, Sender, Transport};
use crate::wire::json::{Kind as JsonKind, Scanner, Span, SyntaxError, decode};
use crate::wire::mcp::{Level, method};
use std::borrow::Cow;
use std::collections::HashMap;

/// The JSON-RPC members of one payload; of repeated members the last.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Envelope {
    pub(crate) is_object: bool,
    pub(crate) id: Option<Span>,
    pub(crate) method: Option<Span>,
    pub(crate) params: Option<Span>,
    pub(crate) result: Option<Span>,
    pub(crate) error: Option<Span>,
    /// The first name of a member that another reader could take for another one:
    /// one that stands twice, or is the protocol's but for the case of its letters.
    pub(crate) doubtful: Option<Span>,
    /// What the members of the result answer, as bits of [`Asks`].
    holds: u16,
}

/// What a payload is, by the members that it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Request,
    Response,
    Notification,
    /// An object that is no JSON-RPC message.
    Unclassified,
    /// Not an object.
    Raw,
}

impl Envelope {
    /// Reads the members of the object at `span`.
    pub(crate) fn read(text: &str, span: Span) -> Envelope {
        let mut envelope = Envelope::default();
        let mut scanner = Scanner::over(text, span);
        if !matches!(scanner.require(), Ok(token) if token.kind == JsonKind::BeginObject) {
            return envelope;
        }
        envelope.is_object = true;
        while let Ok(Some(key)) = scanner.next_key() {
            let name = decode(key.inner().of(text));
            let value = match &*name {
                "result" => envelope.read_result(text, &mut scanner),
                _ => scanner.value().map(|value| value.span),
            };
            let Ok(value) = value else { break };
            let slot = match &*name {
                "id" => &mut envelope.id,
                "method" => &mut envelope.method,
                "params" => &mut envelope.params,
                "result" => &mut envelope.result,
                "error" => &mut envelope.error,
                name => {
                    if Level::Message.variant(name).is_some() {
                        envelope.doubtful.get_or_insert(key.span);
                    }
                    continue;
                }
            };
            if slot.replace(value).is_some() {
                envelope.doubtful.get_or_insert(key.span);
            }
        }
        envelope
    }

    /// Skips over the result, and notes which members it has.
    fn read_result(&mut self, text: &str, scanner: &mut Scanner<'_>) -> Result<Span, SyntaxError> {
        let first = scanner.require()?;
        let floor = scanner.depth();
        let mut last = first;
        if !matches!(first.kind, JsonKind::BeginObject | JsonKind::BeginArray) {
            return Ok(first.span);
        }
        while scanner.depth() >= floor {
            last = scanner.require()?;
            if last.kind == JsonKind::Key && scanner.depth() == floor {
                let name = decode(last.inner().of(text));
                self.holds |= Asks::answered_by(&name).bit();
                if Level::Result.variant(&name).is_some() {
                    self.doubtful.get_or_insert(last.span);
                }
            }
        }
        Ok(Span {
            start: first.span.start,
            end: last.span.end,
        })
    }

    /// Whether the result holds what only servers say of themselves.
    pub(crate) fn describes_a_server(&self) -> bool {
        let definitions = [
            Asks::Greeting,
            Asks::Tools,
            Asks::Prompts,
            Asks::Resources,
            Asks::Templates,
        ];
        definitions
            .into_iter()
            .any(|asks| self.holds & asks.bit() != 0)
    }

    pub(crate) fn role(&self) -> Role {
        match (self.is_object, self.method, self.id) {
            (false, ..) => Role::Raw,
            (_, Some(_), Some(_)) => Role::Request,
            (_, Some(_), None) => Role::Notification,
            (_, None, Some(_)) => Role::Response,
            // An error about a request that could not be read has no id that fits.
            (_, None, None) if self.result.is_some() || self.error.is_some() => Role::Response,
            _ => Role::Unclassified,
        }
    }

    /// The method, if it is a string.
    pub(crate) fn method_name<'a>(&self, text: &'a str) -> Option<Cow<'a, str>> {
        super::model::string_value(self.method?.of(text))
    }
}

/// A response and the request that it answers, or a message of another role.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paired {
    pub(crate) index: u32,
    pub(crate) envelope: Envelope,
    pub(crate) role: Role,
    /// For a response: the index of its request.
    pub(crate) request: Option<u32>,
    /// The length of the payload in bytes.
    pub(crate) size: usize,
}

/// Walks the messages in order and pairs responses with requests as it goes.
///
/// A response answers a request of the other side that is still open and has the
/// same id with the same JSON type; over HTTP, on a POST, one of the same exchange.
/// Clients that use one id over and over leave several open when an answer never
/// came: then it is the newest whose method fits what the result holds, or the
/// newest of all if none does. Over stdio `initialize` begins a new session, in which
/// nothing from before is answered any more.
pub(crate) struct Exchanges<'a> {
    cassette: &'a Cassette,
    next: u32,
    open: HashMap<(Sender, String), Vec<Open>>,
    /// Requests that nothing can answer any more.
    given_up: Vec<u32>,
}

/// A request that had no answer so far.
#[derive(Clone, Copy, Debug)]
struct Open {
    index: u32,
    exchange: Option<u32>,
    asks: Asks,
}

/// How many requests with one id are kept open. Honest sessions have one, and a
/// file of nothing but such requests must not make each answer a search.
const MOST_OPEN: usize = 256;

impl<'a> Exchanges<'a> {
    pub(crate) fn new(cassette: &'a Cassette) -> Self {
        Exchanges {
            cassette,
            next: 0,
            open: HashMap::new(),
            given_up: Vec::new(),
        }
    }

    /// The indices of the requests that have had no answer so far, in file order.
    pub(crate) fn unanswered(&self) -> Vec<u32> {
        let open = self.open.values().flatten().map(|open| open.index);
        let mut indices: Vec<u32> = open.chain(self.given_up.iter().copied()).collect();
        indices.sort_unstable();
        indices
    }

    fn ask(&mut self, index: u32, row: &Row, envelope: &Envelope) {
        let text = &self.cassette.text;
        let method = envelope.method_name(text);
        let begins = row.sender == Sender::Client && method.as_deref() == Some(method::INITIALIZE);
        if begins && self.cassette.head.transport == Transport::Stdio {
            let old = self.open.drain().flat_map(|(_, queue)| queue);
            self.given_up.extend(old.map(|open| open.index));
        }
        let id = id_key(envelope.id.unwrap_or_default().of(text));
        let queue = self.open.entry((row.sender, id)).or_default();
        if queue.len() >= MOST_OPEN {
            self.given_up.push(queue.remove(0).index);
        }
        queue.push(Open {
            index,
            exchange: row.exchange,
            asks: method.map_or(Asks::Other, |method| Asks::of(&method)),
        });
    }

    fn answer(&mut self, row: &Row, envelope: &Envelope) -> Option<u32> {
        let text = &self.cassette.text;
        let key = (row.sender.other(), id_key(envelope.id?.of(text)));
        let queue = self.open.get_mut(&key)?;
        let on_post = row.sender == Sender::Server && row.channel == Some(Channel::Post);
        let exchange = row.exchange.filter(|_| on_post);
        let fits = |open: &Open| exchange.is_none() || open.exchange == exchange;
        let place = match queue.iter().filter(|open| fits(open)).count() {
            0 => return None,
            1 => queue.iter().position(fits)?,
            _ => {
                let asked_for = |open: &Open| fits(open) && envelope.holds & open.asks.bit() != 0;
                let newest = queue.iter().rposition(asked_for);
                newest.or_else(|| queue.iter().rposition(fits))?
            }
        };
        let request = queue.remove(place);
        if queue.is_empty() {
            self.open.remove(&key);
        }
        Some(request.index)
    }
}

impl Iterator for Exchanges<'_> {
    type Item = Paired;

    fn next(&mut self) -> Option<Paired> {
        let index = self.next;
        let cassette = self.cassette;
        let row = cassette.rows.get(index as usize)?;
        self.next += 1;
        let envelope = Envelope::read(&cassette.text, row.payload);
        let role = envelope.role();
        let mut request = None;
        match role {
            Role::Request => self.ask(index, row, &envelope),
            Role::Response => request = self.answer(row, &envelope),
            Role::Notification | Role::Unclassified | Role::Raw => {}
        }
        Some(Paired {
            index,
            envelope,
            role,
            request,
            size: row.payload.len(),
        })
    }
}

/// What a method asks for, as far as the members of a result show that it was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asks {
    Greeting,
    Tools,
    Prompts,
    Resources,
    Templates,
    /// `content` of a call.
    Content,
    /// `messages` of a prompt.
    Messages,
    /// `contents` of a resource.
    Contents,
    Other,
}

impl Asks {
    fn of(method: &str) -> Asks {
        match method {
            method::INITIALIZE | method::DISCOVER => Asks::Greeting,
            method::TOOLS_LIST => Asks::Tools,
            method::PROMPTS_LIST => Asks::Prompts,
            method::RESOURCES_LIST => Asks::Resources,
            method::TEMPLATES_LIST => Asks::Templates,
            method::TOOLS_CALL => Asks::Content,
            method::PROMPTS_GET => Asks::Messages,
            method::RESOURCES_READ => Asks::Contents,
            _ => Asks::Other,
        }
    }

    /// What the member of a result of that name answers.
    fn answered_by(member: &str) -> Asks {
        match member {
            "protocolVersion" | "serverInfo" | "instructions" => Asks::Greeting,
            "tools" => Asks::Tools,
            "prompts" => Asks::Prompts,
            "resources" => Asks::Resources,
            "resourceTemplates" => Asks::Templates,
            "content" | "structuredContent" => Asks::Content,
            "messages" => Asks::Messages,
            "contents" => Asks::Contents,
            _ => Asks::Other,
        }
    }

    fn bit(self) -> u16 {
        match self {
            Asks::Other => 0,
            asks => 1 << (asks as u16),
        }
    }
}

/// An id for comparing: strings by what they spell, everything else by its token.
pub(crate) fn id_key(token: &str) -> String {
    match super::model::string_value(token) {
        Some(text) => format!("\"{text}"),
        None => token.to_owned(),
    }
}
