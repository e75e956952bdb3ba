//! The copies on their way to the recorder.

use crate::cassette::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Bytes that passed.
#[derive(Debug)]
pub(super) struct Chunk {
    /// Since the recording began.
    pub(super) at: Duration,
    pub(super) sender: Sender,
    pub(super) bytes: Bytes,
}

/// What was read at once.
#[derive(Clone, Debug)]
pub(super) struct Bytes {
    buffer: Arc<Vec<u8>>,
    length: usize,
}

impl Bytes {
    pub(super) fn as_slice(&self) -> &[u8] {
        self.buffer.get(..self.length).unwrap_or_default()
    }

    fn len(&self) -> usize {
        self.length
    }
}

/// So many buffers wait to be used again: what passes in a burst between two looks of the
/// recorder.
const SPARE: usize = 512;
/// What is shorter is copied, so that small messages do not hold a buffer each.
const SMALL: usize = 4096;

/// Buffers to read into. What fills one well is recorded from it without being copied, and it
/// comes back when it is recorded: fresh memory costs more than what is done with it.
#[derive(Debug)]
pub(super) struct Buffers {
    size: usize,
    spare: Mutex<Vec<Vec<u8>>>,
}

impl Buffers {
    /// Buffers of `size` bytes.
    pub(super) fn new(size: usize) -> Buffers {
        Buffers {
            size,
            spare: Mutex::default(),
        }
    }

    /// A buffer whose content means nothing.
    pub(super) fn take(&self) -> Vec<u8> {
        let spare = self.lock().pop();
        spare.unwrap_or_else(|| vec![0; self.size])
    }

    /// The first `length` bytes of a buffer, and a buffer to go on with in its place.
    pub(super) fn filled(&self, buffer: &mut Vec<u8>, length: usize) -> Bytes {
        let full = if length < SMALL {
            buffer.get(..length).unwrap_or_default().to_vec()
        } else {
            std::mem::replace(buffer, self.take())
        };
        Bytes {
            buffer: Arc::new(full),
            length,
        }
    }

    /// Takes back what is recorded, unless it is still being written.
    pub(super) fn give_back(&self, bytes: Bytes) {
        let Some(buffer) = Arc::into_inner(bytes.buffer) else {
            return;
        };
        let mut spare = self.lock();
        if buffer.len() == self.size && spare.len() < SPARE {
            spare.push(buffer);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Vec<u8>>> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }
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

    /// Adds `bytes`. When the queue is full it waits; the first time it calls `full`.
    pub(super) fn push(&self, at: Duration, sender: Sender, bytes: Bytes, full: impl Fn()) {
        let length = bytes.len();
        let chunk = Chunk { at, sender, bytes };
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
        state.bytes += length;
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
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    fn of(bytes: &[u8]) -> Bytes {
        Buffers::new(1).filled(&mut bytes.to_vec(), bytes.len())
    }

    fn push(queue: &Queue, bytes: &[u8]) {
        queue.push(Duration::ZERO, Sender::Client, of(bytes), || {});
    }

    #[test]
    fn what_is_pushed_comes_in_order_and_the_last_batch_says_so() {
        let queue = Queue::new(100);
        push(&queue, b"a");
        push(&queue, b"b");
        let batch = queue.take();
        assert_eq!(batch.chunks.len(), 2);
        assert_eq!(batch.chunks[1].bytes.as_slice(), b"b");
        assert!(!batch.last);
        push(&queue, b"c");
        queue.close();
        push(&queue, b"too late");
        let batch = queue.take();
        assert_eq!(batch.chunks.len(), 1);
        assert!(batch.last);
    }

    #[test]
    fn a_buffer_that_was_filled_comes_back_when_it_is_recorded() {
        let buffers = Buffers::new(10_000);
        let mut buffer = buffers.take();
        buffer[..3].copy_from_slice(b"abc");
        let small = buffers.filled(&mut buffer, 3);
        assert_eq!(small.as_slice(), b"abc");
        buffer[..5000].fill(b'x');
        let filled = buffers.filled(&mut buffer, 5000);
        assert_eq!(filled.as_slice(), [b'x'; 5000]);
        let still_written = filled.clone();
        buffers.give_back(small);
        buffers.give_back(filled);
        assert_eq!(buffers.lock().len(), 0);
        buffers.give_back(still_written);
        assert_eq!(buffers.lock().len(), 1);
    }

    #[test]
    fn a_full_queue_makes_the_sender_wait_and_warns_once() {
        let queue = Arc::new(Queue::new(4));
        let warnings = Arc::new(AtomicUsize::new(0));
        push(&queue, b"1234");
        let (sender, warned) = (Arc::clone(&queue), Arc::clone(&warnings));
        let forwarder = thread::spawn(move || {
            for _ in 0..3 {
                sender.push(Duration::ZERO, Sender::Server, of(b"5678"), || {
                    warned.fetch_add(1, Ordering::SeqCst);
                });
            }
        });
        while warnings.load(Ordering::SeqCst) == 0 {
            thread::yield_now();
        }
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
