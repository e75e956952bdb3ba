//! The real server behind a replay over HTTP: what was not recorded is asked of it, and what it says
//! is recorded and told.
//!
//! Each thing that is passed on is a request of its own, with the headers of the client's. Nothing
//! of it is recorded before the server has answered to some purpose: a server that is down for a
//! moment leaves nothing in the cassette that a replay would repeat for ever.

use super::exchange::{answered, asked, encoding, is_events};
use super::headers::{self, LAST_EVENT, SESSION, VERSION};
use super::listen::{Body, whole};
use super::response::{Events, LONGEST, Live};
use super::tap::{Exchange, Tap};
use super::upstream::{Upstream, told};
use crate::cassette::exchanges::{Ended, Framing};
use crate::record::{NotSaved, Recording, says_json_rpc};
use crate::replay::{Errand, Forward, Replayer};
use crate::transport::signals::Signal;
use crate::transport::stdio::{End, Notice, Recorded};
use crate::wire::lane::Lane;
use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::AbortHandle;

/// The headers that repeat what one message says, and so go with no other.
const OF_A_MESSAGE: &str = "mcp-";
/// How often a request is redirected, and a stream taken up again that brings nothing new.
const MOST_TRIES: u32 = 5;
/// Before a stream is taken up again, unless the server says otherwise; and no longer than the
/// latter.
const PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// What ends the sessions with the server at the end gets so long.
const TO_LEAVE: Duration = Duration::from_millis(300);
/// While the client or the recorder is behind, the server is looked at this often.
const TO_LOOK: Duration = Duration::from_millis(5);

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
    notice: Notice,
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
        set(&mut headers, SESSION, line.session.as_deref());
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

    /// Says a message, and passes on what comes of it.
    async fn post(
        &self,
        forward: &Forward,
        mut headers: HeaderMap,
        taken: Option<watch::Sender<()>>,
        ears: &dyn Ears,
    ) -> Result<(), Lost> {
        let asked_at = self.tap.elapsed();
        let has_session = self.dress(&mut headers, forward);
        let body = Bytes::from(forward.bytes.clone());
        let head = asked(&Method::POST, &headers, &self.upstream);
        let head = crate::record::Asked {
            goes_on: forward.session,
            ..head
        };
        let sent = self.send(Method::POST, headers.clone(), body.clone()).await;
        drop(taken);
        let response = sent.map_err(Lost::Why)?;
        let status = response.status();
        if forward.begins {
            let session = headers::text(response.headers(), SESSION);
            self.lines().entry(forward.line).or_default().session = session;
        }
        let said = format!("the real server answers with status {status}");
        if status == StatusCode::NOT_FOUND && has_session {
            return Err(Lost::Session(said));
        }
        let begin = |parts: &hyper::http::response::Parts| {
            forward.kept.then(|| {
                let exchange = self.tap.begin_late(asked_at, head.clone(), body.clone());
                exchange.answered(answered(parts), None);
                exchange
            })
        };
        let is_stream = status.is_success() && is_events(response.headers());
        let (parts, body) = response.into_parts();
        let mut live = Live::new(body, encoding(&parts.headers));
        if is_stream {
            self.tell_head(forward, &parts, Framing::Sse, ears);
            let mut exchange = begin(&parts);
            let mut events = Events::default();
            let ended = self
                .relay(forward, &mut live, (&mut events, &mut exchange), ears)
                .await;
            return self.take_up(forward, headers, events, ended, ears).await;
        }
        let bytes = live.whole().await.map_err(Lost::Why)?;
        let text = std::str::from_utf8(&bytes).unwrap_or_default();
        let says = says_json_rpc(text);
        let is_taken = forward.errand == Errand::Tell && status.is_success();
        if !says && !is_taken {
            return Err(Lost::Why(match status.is_success() {
                true => format!("{said} and no JSON-RPC message"),
                false => said,
            }));
        }
        let exchange = begin(&parts);
        if says {
            self.tell_head(forward, &parts, Framing::Json, ears);
            if let Some(exchange) = &exchange {
                exchange.bytes(&bytes);
            }
        }
        if let Some(mut exchange) = exchange {
            exchange.ended(Ended::Complete);
        }
        if says {
            ears.tell(&mut |core| {
                core.relay(forward.line, forward.lane, &bytes);
            });
        }
        Ok(())
    }

    /// The client's response begins as that of the server.
    fn tell_head(
        &self,
        forward: &Forward,
        parts: &hyper::http::response::Parts,
        framing: Framing,
        ears: &dyn Ears,
    ) {
        if !matches!(forward.errand, Errand::Ask(_)) {
            return;
        }
        let kind = headers::text(&parts.headers, header::CONTENT_TYPE.as_str());
        ears.tell(&mut |core| {
            core.server_answers(forward.lane, parts.status.as_u16(), framing, kind.clone());
        });
    }

    /// Passes the events of a stream on until it ends.
    async fn relay(
        &self,
        forward: &Forward,
        live: &mut Live,
        (events, exchange): (&mut Events, &mut Option<Exchange>),
        ears: &dyn Ears,
    ) -> Result<(), String> {
        let ended = loop {
            while !self.tap.has_room() || ears.is_behind(forward.lane) {
                tokio::time::sleep(TO_LOOK).await;
            }
            let bytes = match live.next().await {
                Ok(Some(bytes)) => bytes,
                Ok(None) => break Ok(()),
                Err(why) => break Err(why),
            };
            if let Some(exchange) = exchange {
                exchange.bytes(&bytes);
            }
            events.take(&bytes, |message| match message {
                Ok(message) => ears.tell(&mut |core| {
                    core.relay(forward.line, forward.lane, message);
                }),
                Err(length) => self.tap.say(&format!(
                    "the real server said a message of {length} bytes, of which more than {LONGEST} are not \
                     read"
                )),
            });
        };
        if let Some(exchange) = exchange {
            exchange.ended(match ended {
                Ok(()) => Ended::Complete,
                Err(_) => Ended::Cut,
            });
        }
        ended.map_err(|why| format!("the real server's response broke off: {why}"))
    }

    /// Takes a stream up again that ended before the answer, as long as that brings something.
    async fn take_up(
        &self,
        forward: &Forward,
        headers: HeaderMap,
        mut events: Events,
        mut ended: Result<(), String>,
        ears: &dyn Ears,
    ) -> Result<(), Lost> {
        let mut tries = 0;
        while tries < MOST_TRIES && is_awaited(forward, ears) {
            let Some(after) = events.last_id().map(str::to_owned) else {
                break;
            };
            let pause = events.pause().unwrap_or(PAUSE).min(LONGEST_PAUSE);
            tokio::time::sleep(pause).await;
            let mut headers = headers.clone();
            set(&mut headers, LAST_EVENT, Some(&after));
            match self.hear(forward, headers, &mut events, ears).await {
                Some(how) => ended = how,
                None => break,
            }
            tries = match events.last_id() == Some(after.as_str()) {
                true => tries + 1,
                false => 0,
            };
        }
        ended.map_err(Lost::Why)
    }

    /// What the server says besides answers, for as long as it says something there.
    async fn listen(&self, forward: &Forward, mut headers: HeaderMap, ears: &dyn Ears) {
        self.dress(&mut headers, forward);
        let mut events = Events::default();
        let Some(ended) = self.hear(forward, headers.clone(), &mut events, ears).await else {
            return;
        };
        // What became of it in the end is no loss: it answers nothing.
        let _ = self.take_up(forward, headers, events, ended, ears).await;
    }

    /// Passes on what a GET brings, to its end; `None` if it brings no stream. It is recorded when
    /// something is said on it.
    async fn hear(
        &self,
        forward: &Forward,
        headers: HeaderMap,
        events: &mut Events,
        ears: &dyn Ears,
    ) -> Option<Result<(), String>> {
        let mut head = asked(&Method::GET, &headers, &self.upstream);
        head.goes_on = forward.session;
        let asked_at = self.tap.elapsed();
        let sent = self.send(Method::GET, headers, Bytes::new()).await;
        let response = sent.ok()?;
        if response.status() != StatusCode::OK || !is_events(response.headers()) {
            return None;
        }
        let (parts, body) = response.into_parts();
        let mut live = Live::new(body, encoding(&parts.headers));
        events.begin_again();
        let first = match live.next().await {
            Ok(Some(first)) => first,
            Ok(None) => return Some(Ok(())),
            Err(why) => return Some(Err(why)),
        };
        live.put_back(first);
        let mut exchange = forward.kept.then(|| {
            let exchange = self.tap.begin_late(asked_at, head, Bytes::new());
            exchange.answered(answered(&parts), None);
            exchange
        });
        Some(
            self.relay(forward, &mut live, (events, &mut exchange), ears)
                .await,
        )
    }

    /// The headers of the client as they go with a message; whether they name a session.
    fn dress(&self, headers: &mut HeaderMap, forward: &Forward) -> bool {
        let lines = self.lines();
        let session = lines
            .get(&forward.line)
            .and_then(|line| line.session.clone());
        drop(lines);
        if forward.begins {
            headers.remove(VERSION);
        }
        if forward.version.is_some() {
            set(headers, VERSION, forward.version.as_deref());
        }
        set(headers, SESSION, session.as_deref());
        headers.remove(LAST_EVENT);
        session.is_some()
    }

    /// Sends a request, and again to where the server redirects it to on its own site.
    async fn send(
        &self,
        method: Method,
        mut headers: HeaderMap,
        body: Bytes,
    ) -> Result<Response<Incoming>, String> {
        headers::to_upstream(&mut headers, &self.upstream.origin());
        let is_get = method == Method::GET;
        let accepted = match is_get {
            true => "text/event-stream",
            false => "application/json, text/event-stream",
        };
        headers.insert(header::ACCEPT, HeaderValue::from_static(accepted));
        headers.remove(header::CONTENT_TYPE);
        if method == Method::POST {
            let json = HeaderValue::from_static("application/json");
            headers.insert(header::CONTENT_TYPE, json);
        }
        let mut to = self.upstream.path().to_owned();
        for _ in 0..MOST_TRIES {
            let mut request: Request<Body> = Request::new(whole(body.clone()));
            *request.method_mut() = method.clone();
            *request.headers_mut() = headers.clone();
            *request.uri_mut() = to
                .parse()
                .map_err(|_| "the address to ask is none".to_owned())?;
            let sent = self.upstream.send(request).await;
            let response =
                sent.map_err(|error| format!("the real server did not answer: {}", told(&error)))?;
            let repeats = [
                StatusCode::TEMPORARY_REDIRECT,
                StatusCode::PERMANENT_REDIRECT,
            ];
            let moved = headers::text(response.headers(), header::LOCATION.as_str());
            let moved = moved.filter(|_| repeats.contains(&response.status()));
            match moved.and_then(|moved| self.upstream.own_path(&moved)) {
                Some(path) => to = path,
                None => return Ok(response),
            }
        }
        Err("the real server redirects for ever".to_owned())
    }
}

fn is_awaited(forward: &Forward, ears: &dyn Ears) -> bool {
    let mut awaited = false;
    ears.tell(&mut |core| awaited = core.is_awaited(forward));
    awaited
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

/// Sets a header, or removes it.
fn set(headers: &mut HeaderMap, name: &'static str, value: Option<&str>) {
    let name = HeaderName::from_static(name);
    match value.and_then(|value| HeaderValue::from_str(value).ok()) {
        Some(value) => drop(headers.insert(name, value)),
        None => drop(headers.remove(name)),
    }
}
