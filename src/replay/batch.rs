//! JSON-RPC batches: several messages on one line, answered on one line. Only the revision
//! 2025-03-26 has them.

use crate::wire::lane::Lane;
use std::collections::HashMap;

/// A batch whose answers are not complete.
#[derive(Debug)]
struct Batch {
    lane: Lane,
    /// How many answers are still to come.
    missing: usize,
    answers: Vec<Vec<u8>>,
}

/// The batches of all sessions, by number.
#[derive(Debug, Default)]
pub(super) struct Batches {
    open: HashMap<u32, Batch>,
    next: u32,
}

impl Batches {
    /// A batch with so many requests.
    pub(super) fn begin(&mut self, lane: Lane, requests: usize) -> u32 {
        let number = self.next;
        self.next = self.next.wrapping_add(1);
        let batch = Batch {
            lane,
            missing: requests,
            answers: Vec::new(),
        };
        self.open.insert(number, batch);
        number
    }

    /// Adds an answer, or the certainty that one request gets none. Gives the whole when it is
    /// complete; it is empty if no request got one.
    pub(super) fn add(&mut self, number: u32, answer: Option<Vec<u8>>) -> Option<(Lane, Vec<u8>)> {
        let batch = self.open.get_mut(&number)?;
        batch.answers.extend(answer);
        batch.missing = batch.missing.saturating_sub(1);
        if batch.missing > 0 {
            return None;
        }
        let batch = self.open.remove(&number)?;
        if batch.answers.is_empty() {
            return Some((batch.lane, Vec::new()));
        }
        let mut bytes = vec![b'['];
        bytes.extend_from_slice(&batch.answers.join(&b','));
        bytes.push(b']');
        Some((batch.lane, bytes))
    }
}
