//! A cassette seen as JSON-RPC: what each payload is, and which request a
//! response answers.
//!
//! Everything here is read from the payloads. The `kind`, `method` and `msg_id`
//! that the file states beside them are for people and for `inspect`; a gate that
//! believed them could be told that a tool listing is a notification.

use super::model::Cassette;
use super::pairing::{Asks, Pairing, Place};
use crate::wire::json::{Kind as JsonKind, Scanner, Span, SyntaxError, decode};
use crate::wire::mcp::Level;
use std::borrow::Cow;

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
    pub(super) holds: u16,
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

/// Walks the messages in order and pairs responses with requests as it goes, as
/// [`Pairing`] says.
pub(crate) struct Exchanges<'a> {
    cassette: &'a Cassette,
    next: u32,
    pairing: Pairing,
}

impl<'a> Exchanges<'a> {
    pub(crate) fn new(cassette: &'a Cassette) -> Self {
        Exchanges {
            cassette,
            next: 0,
            pairing: Pairing::new(cassette.head.transport),
        }
    }

    /// The indices of the requests that have had no answer so far, in file order.
    pub(crate) fn unanswered(&self) -> Vec<u32> {
        self.pairing.unanswered()
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
        let place = Place {
            sender: row.sender,
            exchange: row.exchange,
            channel: row.channel,
        };
        match role {
            Role::Request => self.pairing.ask(&cassette.text, index, place, &envelope),
            Role::Response => request = self.pairing.answer(&cassette.text, place, &envelope),
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
