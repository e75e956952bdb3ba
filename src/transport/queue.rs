//! The copies on their way to the recorder.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// So much may wait for the recorder, in bytes.
pub(crate) const LIMIT: usize = 256 << 20;
/// The recorder looks for more this long after it began with the last batch, so that a busy
/// session does not wake it for each message.
pub(crate) const TICK: Duration = Duration::from_millis(25);

/// A queue of chunks that is bounded by their bytes. Whoever adds to it when it is full waits:
/// then traffic is as slow as the recorder, and neither memory nor the recording suffers.
#[derive(Debug)]
pub(crate) struct Queue<C> {
    state: Mutex<State<C>>,
    /// For the recorder: something came, or it is to hurry.
    filled: Condvar,
    /// For the forwarders: something was recorded.
    drained: Condvar,
    limit: usize,
}

#[derive(Debug)]
struct State<C> {
    chunks: Vec<C>,
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
pub(crate) struct Batch<C> {
    pub(crate) chunks: Vec<C>,
    /// Nothing comes after this.
    pub(crate) last: bool,
}

impl<C> Queue<C> {
    /// A queue that holds about `limit` bytes.
    pub(crate) fn new(limit: usize) -> Queue<C> {
        Queue {
            state: Mutex::new(State {
                chunks: Vec::new(),
                bytes: 0,
                idle: false,
                hurry: false,
                closed: false,
                warned: false,
            }),
            filled: Condvar::new(),
            drained: Condvar::new(),
            limit,
        }
    }

    /// Adds a chunk of so many bytes. When the queue is full it waits; the first time it calls
    /// `full`.
    pub(crate) fn push(&self, chunk: C, bytes: usize, full: impl Fn()) {
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
        self.put(state, chunk, bytes);
    }

    /// Adds a chunk without waiting, for who asked [`Queue::has_room`] before.
    pub(crate) fn add(&self, chunk: C, bytes: usize) {
        self.put(self.lock(), chunk, bytes);
    }

    /// Whether there is room for more; the first time there is not it calls `full`.
    pub(crate) fn has_room(&self, full: impl Fn()) -> bool {
        let mut state = self.lock();
        if state.bytes < self.limit || state.closed {
            return true;
        }
        let warned = std::mem::replace(&mut state.warned, true);
        drop(state);
        if !warned {
            full();
        }
        false
    }

    fn put(&self, mut state: MutexGuard<'_, State<C>>, chunk: C, bytes: usize) {
        if state.closed {
            return;
        }
        state.bytes += bytes;
        state.chunks.push(chunk);
        if std::mem::take(&mut state.idle) {
            drop(state);
            self.filled.notify_one();
        }
    }

    /// Waits until there is something to record, or somebody is in a hurry.
    pub(crate) fn take(&self) -> Batch<C> {
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
    pub(crate) fn release(&self, bytes: usize) {
        self.lock().bytes -= bytes;
        self.drained.notify_all();
    }

    /// Lets more come together, for so long at most, unless somebody is in a hurry.
    pub(crate) fn rest(&self, time: Duration) {
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
    pub(crate) fn hurry(&self) {
        self.lock().hurry = true;
        self.filled.notify_all();
    }

    /// Nothing more is taken; what is here is the last batch.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.filled.notify_all();
        self.drained.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State<C>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes the recorder's place when it is gone: from then on traffic waits for nobody.
#[derive(Debug)]
pub(crate) struct Abandon<'a, C, F: Fn()> {
    pub(crate) queue: &'a Queue<C>,
    /// Called if the recorder failed.
    pub(crate) failed: F,
}

impl<C, F: Fn()> Drop for Abandon<'_, C, F> {
    fn drop(&mut self) {
        self.queue.close();
        if thread::panicking() {
            (self.failed)();
        }
    }
}

/// Tells that the queue was full for the first time.
pub(crate) fn full(notice: &dyn Fn(&str)) {
    notice(
        "warning: the recorder is slower than the traffic; from here on the session is slowed \
         down whenever 256 MiB wait to be recorded",
    );
}

/// Traffic comes first where the two compete for a processor.
#[cfg(target_os = "linux")]
pub(crate) fn yield_to_traffic() {
    // On Linux this is about the calling thread. Without the permission nothing is lost.
    let _ = rustix::process::setpriority_process(None, 10);
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn yield_to_traffic() {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn what_is_pushed_comes_in_order_and_the_last_batch_says_so() {
        let queue = Queue::new(100);
        queue.push('a', 1, || {});
        queue.add('b', 1);
        let batch = queue.take();
        assert_eq!(batch.chunks, ['a', 'b']);
        assert!(!batch.last);
        queue.push('c', 1, || {});
        queue.close();
        queue.push('d', 1, || {});
        let batch = queue.take();
        assert_eq!(batch.chunks, ['c']);
        assert!(batch.last);
    }

    #[test]
    fn who_does_not_wait_sees_that_there_is_no_room_and_warns_once() {
        let queue = Queue::new(4);
        let warnings = AtomicUsize::new(0);
        let has_room = || {
            queue.has_room(|| {
                warnings.fetch_add(1, Ordering::SeqCst);
            })
        };
        assert!(has_room());
        queue.add('a', 5);
        assert!(!has_room() && !has_room());
        assert_eq!(warnings.load(Ordering::SeqCst), 1);
        queue.release(5);
        assert!(has_room());
        queue.add('b', 5);
        queue.close();
        assert!(has_room(), "nobody records any more");
    }

    #[test]
    fn a_full_queue_makes_the_sender_wait_and_warns_once() {
        let queue = Arc::new(Queue::new(4));
        let warnings = Arc::new(AtomicUsize::new(0));
        queue.push("1234", 4, || {});
        let (sender, warned) = (Arc::clone(&queue), Arc::clone(&warnings));
        let forwarder = thread::spawn(move || {
            for _ in 0..3 {
                sender.push("5678", 4, || {
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
                queue.release(chunk.len());
            }
        }
        forwarder.join().unwrap();
        assert_eq!(warnings.load(Ordering::SeqCst), 1);
    }
}
