//! One stream: the response to a POST, or what a session is told besides, and what of it is kept for a
//! connection to come.

use super::ResponseHead;
use crate::cassette::exchanges::{Framing, StreamEvent};
use crate::replay::Action;
use crate::wire::lane::Lane;
use crate::wire::sse::writer;
use std::collections::VecDeque;

/// So much of a stream is kept for whoever asks for it later, in bytes.
const MOST_KEPT: usize = 16 << 20;

#[derive(Debug, Default)]
pub(super) struct Stream {
    pub(super) live: u32,
    /// The connections that carry it; the last one is spoken on.
    pub(super) outlets: Vec<Lane>,
    pub(super) head: ResponseHead,
    pub(super) framing: Framing,
    pub(super) prepared: bool,
    pub(super) begun: bool,
    /// The request has not been read to its end.
    pub(super) receiving: bool,
    /// How many answers are to come.
    pub(super) owed: u32,
    /// The recorded exchange that its messages are of at the moment, and the next of its events.
    pub(super) exchange: u32,
    pub(super) next_event: usize,
    /// Events have ids, so that whoever lost the connection can have them again.
    pub(super) keeps: bool,
    pub(super) log: VecDeque<Entry>,
    /// How many at the end of the log have been sent to nobody.
    pub(super) unsent: usize,
    pub(super) kept: usize,
    /// How many messages were said, and how many events there were.
    pub(super) said: u64,
    pub(super) events: u64,
    pub(super) cut_after: Option<u64>,
    /// It is over, and whether it was cut.
    pub(super) ended: Option<bool>,
}

#[derive(Debug)]
pub(super) struct Entry {
    pub(super) id: Option<String>,
    pub(super) bytes: Vec<u8>,
    /// The request of the server that it holds.
    pub(super) asks: Option<u32>,
}

impl Stream {
    /// Whether an answer is all of the response.
    pub(super) fn is_one_body(&self) -> bool {
        !self.begun && self.framing != Framing::Sse && self.owed <= 1 && !self.receiving
    }

    pub(super) fn is_to_be_cut(&self) -> bool {
        self.cut_after.is_some_and(|after| self.said >= after)
    }

    pub(super) fn framed(&mut self, event: Option<&StreamEvent>, data: &[u8]) -> Framed {
        let recorded = event.and_then(|event| event.id.clone());
        self.events += 1;
        let number = self.events;
        let made_up = || format!("mcc-{number}");
        let id = recorded.or_else(|| self.keeps.then(made_up));
        let mut bytes = Vec::with_capacity(data.len() + 64);
        let event = writer::Event {
            name: event.and_then(|event| event.event.as_deref()),
            id: id.as_deref(),
            retry_ms: event.and_then(|event| event.retry_ms),
        };
        writer::write(event, data, &mut bytes);
        Framed { id, bytes }
    }

    /// Sends an event, or keeps it for a connection to come. Whether it was sent.
    pub(super) fn send(
        &mut self,
        framed: Framed,
        asks: Option<u32>,
        out: &mut VecDeque<Action>,
    ) -> bool {
        let Framed { id, bytes } = framed;
        let lane = self.outlets.last().copied().filter(|_| self.unsent == 0);
        let waits = lane.is_none();
        if self.keeps || waits {
            self.kept += bytes.len();
            self.log.push_back(Entry {
                id,
                bytes: bytes.clone(),
                asks,
            });
            self.unsent += usize::from(waits);
            self.forget();
        }
        if let Some(lane) = lane {
            out.push_back(Action::Send { lane, bytes });
        }
        !waits
    }

    /// Forgets what is too much or of no use to anybody.
    pub(super) fn forget(&mut self) {
        while self.kept > MOST_KEPT || !self.keeps && self.log.len() > self.unsent {
            let Some(entry) = self.log.pop_front() else {
                return;
            };
            self.kept -= entry.bytes.len();
            self.unsent = self.unsent.min(self.log.len());
        }
    }
}

/// An event as bytes.
pub(super) struct Framed {
    id: Option<String>,
    bytes: Vec<u8>,
}
