//! Standard error while a session runs: notices of our own, and what a server says on its own.
//!
//! A thread of its own writes, so that a reader who went away or is slow holds up neither
//! traffic nor the server that logs.

use std::collections::VecDeque;
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// So much waits to be written, in bytes.
const LIMIT: usize = 1 << 20;
/// A reader that took nothing for this long has gone away; what comes then is dropped.
const PATIENCE: Duration = Duration::from_secs(1);

/// A handle on standard error; copies of it write to the same one.
#[derive(Clone)]
pub(crate) struct Stderr {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    /// There is something to write.
    filled: Condvar,
    /// Something was written.
    drained: Condvar,
}

struct State {
    waiting: VecDeque<u8>,
    /// How many bytes are in the hands of the writer.
    writing: usize,
    last_progress: Instant,
    /// Whether what was last queued ended a line.
    at_line_start: bool,
    /// Whether somebody looks at it who sees a line change.
    is_terminal: bool,
    /// The last line there, which says how far it is; empty if there is none.
    status: String,
    gone: bool,
}

impl Stderr {
    /// Begins to write.
    ///
    /// # Errors
    ///
    /// There is no thread to be had.
    pub(crate) fn open() -> io::Result<Stderr> {
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                waiting: VecDeque::new(),
                writing: 0,
                last_progress: Instant::now(),
                at_line_start: true,
                is_terminal: io::stderr().is_terminal(),
                status: String::new(),
                gone: false,
            }),
            filled: Condvar::new(),
            drained: Condvar::new(),
        });
        let writer = Arc::clone(&shared);
        thread::Builder::new()
            .name("stderr".to_owned())
            .spawn(move || writer.write())?;
        Ok(Stderr { shared })
    }

    /// Writes a line of our own, which begins on a line of its own.
    pub(crate) fn line(&self, text: &str) {
        let mut state = self.shared.lock();
        if !state.at_line_start {
            state.waiting.push_back(b'\n');
        }
        state.clear_status();
        state.waiting.extend(text.as_bytes());
        state.waiting.push_back(b'\n');
        state.at_line_start = true;
        state.draw_status();
        self.shared.filled.notify_one();
    }

    /// On a terminal, says in one line that changes how far it is; an empty one removes it.
    pub(crate) fn status(&self, text: &str) {
        let mut state = self.shared.lock();
        if !state.is_terminal || state.waiting.len() > LIMIT {
            return;
        }
        state.clear_status();
        text.clone_into(&mut state.status);
        state.draw_status();
        self.shared.filled.notify_one();
    }

    /// Passes bytes on as they are.
    pub(crate) fn pass(&self, bytes: &[u8]) {
        let Some(last) = bytes.last() else { return };
        let mut state = self.shared.lock();
        while state.waiting.len() + bytes.len() > LIMIT && !state.gone {
            let idle = state.last_progress.elapsed();
            if idle >= PATIENCE {
                return;
            }
            let waited = self
                .shared
                .drained
                .wait_timeout(state, PATIENCE.saturating_sub(idle));
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        if state.gone {
            return;
        }
        if state.waiting.is_empty() && state.writing == 0 {
            state.last_progress = Instant::now();
        }
        state.waiting.extend(bytes);
        state.at_line_start = *last == b'\n';
        self.shared.filled.notify_one();
    }

    /// Waits until all is written, for so long at most.
    pub(crate) fn flush(&self, patience: Duration) {
        let until = Instant::now() + patience;
        let mut state = self.shared.lock();
        while !(state.gone || state.waiting.is_empty() && state.writing == 0) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            let waited = self.shared.drained.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl State {
    fn clear_status(&mut self) {
        if !self.status.is_empty() {
            self.waiting.extend(b"\r\x1b[K");
        }
    }

    fn draw_status(&mut self) {
        self.waiting.extend(self.status.as_bytes());
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) {
        let mut stderr = io::stderr();
        loop {
            let mut state = self.lock();
            while state.waiting.is_empty() {
                state = self
                    .filled
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
            }
            let bytes: Vec<u8> = state.waiting.drain(..).collect();
            state.writing = bytes.len();
            drop(state);
            let mut failed = false;
            for piece in bytes.chunks(4096) {
                failed = stderr.write_all(piece).is_err();
                self.lock().last_progress = Instant::now();
                if failed {
                    break;
                }
            }
            let mut state = self.lock();
            state.writing = 0;
            state.gone |= failed;
            self.drained.notify_all();
            if failed {
                return;
            }
        }
    }
}
