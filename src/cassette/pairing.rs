//! Which request a response answers: one message after the other, so that a running
//! recorder and the reader of a finished cassette come to the same pairs.

use super::model::{Channel, Sender, Transport};
use super::view::Envelope;
use crate::wire::mcp::method;
use std::collections::HashMap;

/// Pairs responses with requests.
///
/// A response answers a request of the other side that is still open and has the
/// same id with the same JSON type; over HTTP, on a POST, one of the same exchange.
/// Clients that use one id over and over leave several open when an answer never
/// came: then it is the newest whose method fits what the result holds, or the
/// newest of all if none does. Over stdio `initialize` begins a new session, in which
/// nothing from before is answered any more.
#[derive(Debug)]
pub(crate) struct Pairing {
    transport: Transport,
    open: HashMap<(Sender, String), Vec<Open>>,
    /// Requests that nothing can answer any more.
    given_up: Vec<u32>,
}

/// Who sent a message, and on which stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) sender: Sender,
    pub(crate) exchange: Option<u32>,
    pub(crate) channel: Option<Channel>,
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

impl Pairing {
    pub(crate) fn new(transport: Transport) -> Pairing {
        Pairing {
            transport,
            open: HashMap::new(),
            given_up: Vec::new(),
        }
    }

    /// The indices of the requests that have had no answer so far, in order.
    pub(crate) fn unanswered(&self) -> Vec<u32> {
        let open = self.open.values().flatten().map(|open| open.index);
        let mut indices: Vec<u32> = open.chain(self.given_up.iter().copied()).collect();
        indices.sort_unstable();
        indices
    }

    /// Takes the request number `index`, whose members point into `text`.
    pub(crate) fn ask(&mut self, text: &str, index: u32, place: Place, envelope: &Envelope) {
        let method = envelope.method_name(text);
        let begins =
            place.sender == Sender::Client && method.as_deref() == Some(method::INITIALIZE);
        if begins && self.transport == Transport::Stdio {
            let old = self.open.drain().flat_map(|(_, queue)| queue);
            self.given_up.extend(old.map(|open| open.index));
        }
        let id = id_key(envelope.id.unwrap_or_default().of(text));
        let queue = self.open.entry((place.sender, id)).or_default();
        if queue.len() >= MOST_OPEN {
            self.given_up.push(queue.remove(0).index);
        }
        queue.push(Open {
            index,
            exchange: place.exchange,
            asks: method.map_or(Asks::Other, |method| Asks::of(&method)),
        });
    }

    /// The request that a response answers.
    pub(crate) fn answer(&mut self, text: &str, place: Place, envelope: &Envelope) -> Option<u32> {
        let key = (place.sender.other(), id_key(envelope.id?.of(text)));
        let queue = self.open.get_mut(&key)?;
        let on_post = place.sender == Sender::Server && place.channel == Some(Channel::Post);
        let exchange = place.exchange.filter(|_| on_post);
        let fits = |open: &Open| exchange.is_none() || open.exchange == exchange;
        let at = match queue.iter().filter(|open| fits(open)).count() {
            0 => return None,
            1 => queue.iter().position(fits)?,
            _ => {
                let asked_for = |open: &Open| fits(open) && envelope.holds & open.asks.bit() != 0;
                let newest = queue.iter().rposition(asked_for);
                newest.or_else(|| queue.iter().rposition(fits))?
            }
        };
        let request = queue.remove(at);
        if queue.is_empty() {
            self.open.remove(&key);
        }
        Some(request.index)
    }

    /// The open request of `sender` with this id token, which stays open.
    pub(crate) fn open(&self, sender: Sender, id: &str) -> Option<u32> {
        let queue = self.open.get(&(sender, id_key(id)))?;
        queue.last().map(|open| open.index)
    }
}

/// What a method asks for, as far as the members of a result show that it was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asks {
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
    pub(super) fn of(method: &str) -> Asks {
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
    pub(super) fn answered_by(member: &str) -> Asks {
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

    pub(super) fn bit(self) -> u16 {
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
