//! One live session: which recorded one it is, and what it has used up of it.

use crate::matching::Usage;
use crate::wire::lane::Lane;
use std::collections::{HashMap, VecDeque};

/// From one live `initialize` to the next.
#[derive(Debug, Default)]
pub(super) struct Live {
    /// The recorded session that it replays.
    pub(super) session: u32,
    pub(super) usage: Usage,
    /// How many notifications of a method came, for methods that lead to something.
    pub(super) notified: HashMap<String, usize>,
    /// The protocol version that `initialize` was answered with.
    pub(super) version: Option<String>,
    /// Requests whose answers wait, by their ids, for when the client takes one back.
    pub(super) waiting: HashMap<String, u32>,
    /// The server's requests that the client has not answered, by the recorded message.
    pub(super) pending: HashMap<u32, Pending>,
    /// The same by id, oldest first.
    pub(super) asked: HashMap<String, VecDeque<u32>>,
    /// Its id over HTTP, while it lasts.
    pub(super) id: Option<String>,
    /// Its client ended it, or a fault did; nobody answers its questions.
    pub(super) ended: bool,
    /// How many GET streams it has had.
    pub(super) gets: usize,
    /// By recorded exchange, the live `subscriptions/listen` in its place: its lane and id.
    pub(super) listening: HashMap<u32, (Lane, Box<str>)>,
}

/// A request of the server that waits for the client.
#[derive(Debug, Default)]
pub(super) struct Pending {
    /// For people.
    pub(super) shown: String,
    pub(super) id: String,
    /// Who goes on when it is answered.
    pub(super) waiters: Vec<u32>,
}

impl Live {
    /// Takes the oldest pending request with that id.
    pub(super) fn answered(&mut self, id: &str) -> Option<(u32, Pending)> {
        let queue = self.asked.get_mut(id)?;
        let row = queue.pop_front()?;
        if queue.is_empty() {
            self.asked.remove(id);
        }
        self.pending.remove(&row).map(|pending| (row, pending))
    }

    pub(super) fn ask(&mut self, row: u32, pending: Pending) {
        self.asked
            .entry(pending.id.clone())
            .or_default()
            .push_back(row);
        self.pending.insert(row, pending);
    }
}
