//! A cassette seen as JSON-RPC: what each payload is, and which request a
//! response answers.
//!
//! Everything here is read from the payloads. The `kind`, `method` and `msg_id`
//! that the file states beside them are for people and for `inspect`; a gate that
//! believed them could be told that a tool listing is a notification.

use super::model::{Cassette, Channel, Sender};
use crate::wire::json::{Kind as JsonKind, Scanner, Span, decode};
use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

/// The JSON-RPC members of one payload; of repeated members the last.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Envelope {
    pub(crate) is_object: bool,
    pub(crate) id: Option<Span>,
    pub(crate) method: Option<Span>,
    pub(crate) params: Option<Span>,
    pub(crate) result: Option<Span>,
    pub(crate) error: Option<Span>,
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
            let Ok(value) = scanner.value() else { break };
            let slot = match &*decode(key.inner().of(text)) {
                "id" => &mut envelope.id,
                "method" => &mut envelope.method,
                "params" => &mut envelope.params,
                "result" => &mut envelope.result,
                "error" => &mut envelope.error,
                _ => continue,
            };
            *slot = Some(value.span);
        }
        envelope
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
/// Over HTTP a response on a POST answers a request of the same exchange. On
/// stdio, on a GET stream and for the client's answers, it is the oldest
/// unanswered request of the other side that has the same id with the same JSON
/// type, so a client that reuses ids and two sessions in one file stay apart.
pub(crate) struct Exchanges<'a> {
    cassette: &'a Cassette,
    next: u32,
    open: HashMap<(Sender, String), VecDeque<u32>>,
}

impl<'a> Exchanges<'a> {
    pub(crate) fn new(cassette: &'a Cassette) -> Self {
        Exchanges {
            cassette,
            next: 0,
            open: HashMap::new(),
        }
    }

    /// The indices of the requests that have had no answer so far, in file order.
    pub(crate) fn unanswered(&self) -> Vec<u32> {
        let mut indices: Vec<u32> = self.open.values().flatten().copied().collect();
        indices.sort_unstable();
        indices
    }

    fn answer(&mut self, index: u32, envelope: &Envelope) -> Option<u32> {
        let text = &self.cassette.text;
        let row = self.cassette.rows.get(index as usize)?;
        let key = (row.sender.other(), id_key(envelope.id?.of(text)));
        let queue = self.open.get_mut(&key)?;
        let on_post = row.sender == Sender::Server && row.channel == Some(Channel::Post);
        let place = match row.exchange.filter(|_| on_post) {
            None => 0,
            Some(exchange) => queue.iter().position(|&request| {
                let request = self.cassette.rows.get(request as usize);
                request.is_some_and(|request| request.exchange == Some(exchange))
            })?,
        };
        let request = queue.remove(place);
        if queue.is_empty() {
            self.open.remove(&key);
        }
        request
    }
}

impl Iterator for Exchanges<'_> {
    type Item = Paired;

    fn next(&mut self) -> Option<Paired> {
        let index = self.next;
        let row = self.cassette.rows.get(index as usize)?;
        self.next += 1;
        let text = &self.cassette.text;
        let envelope = Envelope::read(text, row.payload);
        let role = envelope.role();
        let size = row.payload.len();
        let mut request = None;
        match role {
            Role::Request => {
                let id = id_key(envelope.id.unwrap_or_default().of(text));
                self.open
                    .entry((row.sender, id))
                    .or_default()
                    .push_back(index);
            }
            Role::Response => request = self.answer(index, &envelope),
            Role::Notification | Role::Unclassified | Role::Raw => {}
        }
        Some(Paired {
            index,
            envelope,
            role,
            request,
            size,
        })
    }
}

/// An id for comparing: strings by what they spell, everything else by its token.
fn id_key(token: &str) -> String {
    match super::model::string_value(token) {
        Some(text) => format!("\"{text}"),
        None => token.to_owned(),
    }
}
