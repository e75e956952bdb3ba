//! The server's standard error: drained at all times, passed on, its end kept for messages.

use crate::transport::stderr::Stderr;
use std::io::Read;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// So much of the end is kept, in bytes.
const KEPT: usize = 8 * 1024;
/// So many lines of it are told.
const LINES: usize = 5;

/// The end of what a server said on its standard error.
#[derive(Clone, Default)]
pub(super) struct Tail {
    shared: Arc<(Mutex<State>, Condvar)>,
}

#[derive(Default)]
struct State {
    bytes: Vec<u8>,
    ended: bool,
}

impl Tail {
    /// Drains `source` on a thread of its own.
    pub(super) fn follow(
        mut source: impl Read + Send + 'static,
        stderr: Stderr,
    ) -> std::io::Result<Tail> {
        let tail = Tail::default();
        let own = tail.clone();
        thread::Builder::new()
            .name("server-stderr".to_owned())
            .spawn(move || {
                let mut buffer = vec![0; 16 * 1024];
                loop {
                    match source.read(&mut buffer) {
                        Ok(0) => break,
                        Ok(count) => {
                            let bytes = buffer.get(..count).unwrap_or_default();
                            own.keep(bytes);
                            stderr.pass(bytes);
                        }
                        Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                        Err(_) => break,
                    }
                }
                own.end();
            })?;
        Ok(tail)
    }

    fn keep(&self, bytes: &[u8]) {
        let (state, _) = &*self.shared;
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        state.bytes.extend_from_slice(bytes);
        let surplus = state.bytes.len().saturating_sub(KEPT);
        state.bytes.drain(..surplus);
    }

    fn end(&self) {
        let (state, ended) = &*self.shared;
        state.lock().unwrap_or_else(PoisonError::into_inner).ended = true;
        ended.notify_all();
    }

    /// Waits until all is read, for so long at most.
    pub(super) fn settle(&self, patience: Duration) {
        let (state, ended) = &*self.shared;
        let state = state.lock().unwrap_or_else(PoisonError::into_inner);
        // Whether it ended or the time is up makes no difference.
        let _ = ended.wait_timeout_while(state, patience, |state| !state.ended);
    }

    /// The last lines so far.
    pub(super) fn lines(&self) -> Vec<String> {
        let (state, _) = &*self.shared;
        let state = state.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&state.bytes);
        let lines: Vec<&str> = text
            .lines()
            .filter(|line| !line.trim().is_empty())
            .collect();
        let from = lines.len().saturating_sub(LINES);
        let last = lines.get(from..).unwrap_or_default();
        last.iter().map(|line| (*line).to_owned()).collect()
    }
}
