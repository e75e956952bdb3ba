//! The copies on their way to the recorder.

use crate::cassette::Sender;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Bytes that passed.
#[derive(Debug)]
pub(super) struct Chunk {
    /// Since the recording began.
    pub(super) at: Duration,
    pub(super) sender: Sender,
    pub(super) bytes: Vec<u8>,
}

/// A queue of chunks that is bounded by their bytes. Whoever adds to it when it is full waits:
/// then traffic is as slow as the recorder, and neither memory nor the recording suffers.
#[derive(Debug)]
pub(super) struct Queue {
    state: Mutex<State>,
    /// For the recorder: something came, or it is to hurry.
    filled: Condvar,
    /// For the forwarders: something was recorded.
    drained: Condvar,
    limit: usize,
}

#[derive(Debug, Default)]
struct State {
    chunks: Vec<Chunk>,
    /// Of the chunks here and of those that are being recorded.
    bytes: usize,
    /// Whether the recorder sleeps until there is something.
    idle: bool,
    hurry: bool,
    closed: bool,
    warned: bool,
}

/// What the recorder gets.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) chunks: Vec<Chunk>,
    /// Nothing comes after this.
    pub(super) last: bool,
}

impl Queue {
    /// A queue that holds about `limit` bytes.
    pub(super) fn new(limit: usize) -> Queue {
        Queue {
            state: Mutex::default(),
            filled: Condvar::new(),
            drained: Condvar::new(),
            limit,
        }
    }

    /// Adds a copy of `bytes`. When the queue is full it waits; the first time it calls `full`.
    pub(super) fn push(&self, at: Duration, sender: Sender, bytes: &[u8], full: impl Fn()) {
        let chunk = Chunk {
            at,
            sender,
            bytes: bytes.to_vec(),
        };
        let mut state = self.lock();
        while state.bytes >= self.limit && !state.closed {
            if !std::mem::replace(&mut state.warned, true) {
                drop(state);
                full();
                state = self.lock();
                continue;
            }
            state = self
                .drained
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        if state.closed {
            return;
        }
        state.bytes += bytes.len();
        state.chunks.push(chunk);
        if std::mem::take(&mut state.idle) {
            drop(state);
            self.filled.notify_one();
        }
    }

    /// Waits until there is something to record, or somebody is in a hurry.
    pub(super) fn take(&self) -> Batch {
        let mut state = self.lock();
        while state.chunks.is_empty() && !state.hurry && !state.closed {
            state.idle = true;
            state = self
                .filled
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        state.idle = false;
        state.hurry = false;
        Batch {
            chunks: std::mem::take(&mut state.chunks),
            last: state.closed,
        }
    }

    /// So many bytes are recorded and no longer in memory.
    pub(super) fn release(&self, bytes: usize) {
        self.lock().bytes -= bytes;
        self.drained.notify_all();
    }

    /// Lets more come together, for so long at most, unless somebody is in a hurry.
    pub(super) fn rest(&self, time: Duration) {
        let until = Instant::now() + time;
        let mut state = self.lock();
        while !state.hurry && !state.closed && state.bytes < self.limit {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            let waited = self.filled.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Wakes the recorder.
    pub(super) fn hurry(&self) {
        self.lock().hurry = true;
        self.filled.notify_all();
    }

    /// Nothing more is taken; what is here is the last batch.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.filled.notify_all();
        self.drained.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    fn push(queue: &Queue, bytes: &[u8]) {
        queue.push(Duration::ZERO, Sender::Client, bytes, || {});
    }

    #[test]
    fn what_is_pushed_comes_in_order_and_the_last_batch_says_so() {
        let queue = Queue::new(100);
        push(&queue, b"a");
        push(&queue, b"b");
        let batch = queue.take();
        assert_eq!(batch.chunks.len(), 2);
        assert_eq!(batch.chunks[1].bytes, b"b");
        assert!(!batch.last);
        push(&queue, b"c");
        queue.close();
        push(&queue, b"too late");
        let batch = queue.take();
        assert_eq!(batch.chunks.len(), 1);
        assert!(batch.last);
    }

    #[test]
    fn a_full_queue_makes_the_sender_wait_and_warns_once() {
        let queue = Arc::new(Queue::new(4));
        let warnings = Arc::new(AtomicUsize::new(0));
        push(&queue, b"1234");
        let (sender, warned) = (Arc::clone(&queue), Arc::clone(&warnings));
        let forwarder = thread::spawn(move || {
            for _ in 0..3 {
                sender.push(Duration::ZERO, Sender::Server, b"5678", || {
                    warned.fetch_add(1, Ordering::SeqCst);
                });
            }
        });
        let mut seen = 0;
        while seen < 4 {
            for chunk in queue.take().chunks {
                seen += 1;
                queue.release(chunk.bytes.len());
            }
        }
        forwarder.join().unwrap();
        assert_eq!(warnings.load(Ordering::SeqCst), 1);
    }
}
