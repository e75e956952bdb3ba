//! The real server behind a replay over HTTP: what was not recorded is asked of it, and what it says
//! is recorded and told.
//!
//! Each thing that is passed on is a request of its own, with the headers of the client's. Nothing
//! of it is recorded before the server has answered to some purpose: a server that is down for a
//! moment leaves nothing in the cassette that a replay would repeat for ever.

mod talk;

use super::body::Budget;
use super::headers::{SESSION, VERSION};
use super::tap::Tap;
use super::upstream::Upstream;
use crate::record::{NotSaved, Recording};
use crate::replay::{Errand, Forward, Replayer};
use crate::transport::signals::Signal;
use crate::transport::stdio::{End, Notice, Recorded};
use crate::wire::lane::Lane;
use bytes::Bytes;
use hyper::Method;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::runtime::{Handle, Runtime};
use tokio::sync::watch;
use tokio::task::AbortHandle;

/// The headers that repeat what one message says, and so go with no other.
const OF_A_MESSAGE: &str = "mcp-";
/// What ends the sessions with the server at the end gets so long.
const TO_LEAVE: Duration = Duration::from_millis(300);

/// A real server, and the recording that it is added to.
pub(crate) struct Real {
    pub(crate) upstream: Upstream,
    pub(crate) recording: Recording,
}

/// Who is told what the real server says.
pub(crate) trait Ears: Send + Sync {
    /// Tells the core something, and does what that wants done.
    fn tell(&self, what: &mut dyn FnMut(&mut Replayer));

    /// Whether whoever waits on that lane has not taken what is there already.
    fn is_behind(&self, lane: Lane) -> bool;
}

/// A real server that can be asked.
pub(crate) struct Remote {
    upstream: Upstream,
    tap: Arc<Tap>,
    runtime: Handle,
    was_asked: AtomicBool,
    lines: Mutex<HashMap<u32, Line>>,
    recorder: Mutex<Option<JoinHandle<Recording>>>,
    /// For bodies that are being read.
    budget: Budget,
    notice: Notice,
}

/// A real server whose client is on standard streams: with a runtime of its own.
pub(crate) struct Alone {
    runtime: Runtime,
    server: Arc<Remote>,
}

impl Alone {
    /// See [`Remote::open`].
    ///
    /// # Errors
    ///
    /// There is no thread or runtime to be had.
    pub(crate) fn open(real: Real, notice: &Notice) -> io::Result<Alone> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()?;
        let server = Remote::open(real, runtime.handle().clone(), Arc::clone(notice))?;
        Ok(Alone { runtime, server })
    }

    pub(crate) fn server(&self) -> Arc<Remote> {
        Arc::clone(&self.server)
    }

    /// See [`Remote::finish`].
    pub(crate) fn finish(self, signal: Option<Signal>) -> Option<Recorded> {
        let recorded = self.server.finish(signal);
        self.runtime.shutdown_background();
        recorded
    }
}

/// A session with the server.
#[derive(Default)]
struct Line {
    /// Its id, if it has one.
    session: Option<String>,
    /// What goes with what the client said earlier.
    headers: HeaderMap,
    /// Ends when the server has taken what was said last and is no request: what is said after
    /// that may depend on it.
    taken: Option<watch::Receiver<()>>,
    /// The requests that the client waits for, by their numbers, and the stream besides.
    asked: HashMap<u64, (Lane, AbortHandle)>,
    listening: Option<AbortHandle>,
}

/// Why something came to nothing.
enum Lost {
    /// The server knows the session no more.
    Session(String),
    Why(String),
}

impl Remote {
    /// Nothing is connected so far.
    ///
    /// # Errors
    ///
    /// There is no thread to be had.
    pub(crate) fn open(real: Real, runtime: Handle, notice: Notice) -> io::Result<Arc<Remote>> {
        let Real {
            upstream,
            recording,
        } = real;
        let (tap, recorder) = Tap::open(recording, Arc::clone(&notice), Box::new(|_| ()))?;
        tap.keep();
        Ok(Arc::new(Remote {
            upstream,
            tap,
            runtime,
            was_asked: AtomicBool::new(false),
            lines: Mutex::default(),
            recorder: Mutex::new(Some(recorder)),
            budget: Budget::default(),
            notice,
        }))
    }

    fn lines(&self) -> MutexGuard<'_, HashMap<u32, Line>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes something on. `headers` are those that it came with, if it comes from the client at
    /// this moment. Never waits.
    pub(crate) fn say(
        self: &Arc<Remote>,
        forward: Forward,
        headers: Option<HeaderMap>,
        ears: &Arc<dyn Ears>,
    ) {
        self.was_asked.store(true, Ordering::Relaxed);
        let mut lines = self.lines();
        let line = lines.entry(forward.line).or_default();
        if let Some(headers) = &headers {
            line.headers = without_message(headers);
        }
        let headers = headers.unwrap_or_else(|| line.headers.clone());
        if forward.begins {
            line.session = None;
        }
        let before = line.taken.clone();
        let is_request = matches!(forward.errand, Errand::Ask(_) | Errand::Listen);
        let taken = (!is_request).then(|| {
            let (taken, waits) = watch::channel(());
            line.taken = Some(waits);
            taken
        });
        let (errand, lane) = (forward.errand, forward.lane);
        let task = self.runtime.spawn(Arc::clone(self).run(
            forward,
            headers,
            (before, taken),
            Arc::clone(ears),
        ));
        match errand {
            Errand::Ask(number) => {
                line.asked.insert(number, (lane, task.abort_handle()));
            }
            Errand::Listen => line.listening = Some(task.abort_handle()),
            Errand::Leave => {
                if let Some(listening) = line.listening.take() {
                    listening.abort();
                }
            }
            Errand::Greet(_) | Errand::Tell => {}
        }
    }

    /// The client that waits on a lane has left: so does whoever asks the server for it.
    pub(crate) fn left(&self, lane: Lane) {
        for line in self.lines().values_mut() {
            line.asked.retain(|_, (of, task)| {
                if *of == lane {
                    task.abort();
                }
                *of != lane
            });
        }
    }

    /// Nothing more is recorded: saves what was, and then ends the sessions with the server. `None`
    /// if nothing was asked of it.
    pub(crate) fn finish(&self, signal: Option<Signal>) -> Option<Recorded> {
        let cut_short = self.tap.under_way() > 0 && signal.is_some();
        self.tap.close();
        let at = self.tap.elapsed();
        let mut recorder = self.recorder.lock().unwrap_or_else(PoisonError::into_inner);
        let saved = match recorder.take()?.join() {
            Err(_) => Err(NotSaved::recorder_failed()),
            Ok(recording) => recording.finish(at, cut_short, &*self.notice),
        };
        if !self.was_asked.load(Ordering::Relaxed) {
            return None;
        }
        let lines: Vec<u32> = self.lines().keys().copied().collect();
        let leaving = async {
            for line in lines {
                self.leave(line).await;
            }
        };
        // A server that does not want to know keeps nobody waiting.
        let _ = self
            .runtime
            .block_on(async { tokio::time::timeout(TO_LEAVE, leaving).await });
        Some(Recorded {
            end: signal.map_or(End::Client, End::Signal),
            saved,
        })
    }

    async fn leave(&self, line: u32) {
        let left = self.lines().remove(&line);
        let Some(mut line) = left.filter(|line| line.session.is_some()) else {
            return;
        };
        let mut headers = std::mem::take(&mut line.headers);
        talk::set(&mut headers, SESSION, line.session.as_deref());
        // Some servers have no end of sessions.
        let _ = self.send(Method::DELETE, headers, Bytes::new()).await;
    }

    async fn run(
        self: Arc<Remote>,
        forward: Forward,
        headers: HeaderMap,
        (before, taken): (Option<watch::Receiver<()>>, Option<watch::Sender<()>>),
        ears: Arc<dyn Ears>,
    ) {
        if let Some(mut before) = before {
            // Its other end goes when it is time.
            let _ = before.changed().await;
        }
        let (line, errand) = (forward.line, forward.errand);
        let came = match errand {
            Errand::Leave => {
                self.leave(line).await;
                Ok(())
            }
            Errand::Listen => {
                self.listen(&forward, headers, &*ears).await;
                Ok(())
            }
            Errand::Greet(_) | Errand::Ask(_) | Errand::Tell => {
                self.post(&forward, headers, taken, &*ears).await
            }
        };
        forget(&mut self.lines(), line, errand);
        let mut forward = Some(forward);
        ears.tell(&mut |core| {
            let Some(forward) = forward.take() else {
                return;
            };
            match &came {
                Ok(()) => core.server_is_done(&forward, None),
                Err(Lost::Why(why)) => core.server_is_done(&forward, Some(why)),
                Err(Lost::Session(why)) => core.session_is_gone(forward, why),
            }
        });
    }
}

/// The headers of a message whose client speaks over standard streams.
pub(crate) fn headers_of(message: &[u8]) -> HeaderMap {
    let told = crate::replay::http::headers_of(message);
    let headers = told.into_iter().filter_map(|(name, value)| {
        let value = HeaderValue::from_bytes(value.as_bytes()).ok()?;
        Some((HeaderName::from_static(name), value))
    });
    headers.collect()
}

/// What is over needs no end.
fn forget(lines: &mut HashMap<u32, Line>, line: u32, errand: Errand) {
    let Some(line) = lines.get_mut(&line) else {
        return;
    };
    match errand {
        Errand::Ask(number) => drop(line.asked.remove(&number)),
        Errand::Listen => line.listening = None,
        Errand::Greet(_) | Errand::Tell | Errand::Leave => {}
    }
}

/// The headers without those that are about one message.
fn without_message(headers: &HeaderMap) -> HeaderMap {
    let kept = headers
        .iter()
        .filter(|(name, _)| !name.as_str().starts_with(OF_A_MESSAGE) || name.as_str() == VERSION);
    kept.map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}
