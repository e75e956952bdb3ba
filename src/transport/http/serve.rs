//! A recording as an HTTP server.
//!
//! Requests come in on whatever thread the runtime has for them; each locks the core, tells it
//! what came, and carries out all that it wants done, on whichever connections that is. A task
//! beside them does the same at the moments at which something is due.

use super::body::{Budget, read_body};
use super::headers::{LAST_EVENT, SESSION, VERSION};
use super::listen::{self, Body, BodyError, Listener, broken, plain, stopped, whole};
use super::remote::{Ears, Real, Remote};
use super::stream::{Gone, Stream};
use crate::replay::http::{RequestHead, ResponseHead};
use crate::replay::{Action, Forward, Replayer, Tally};
use crate::transport::input;
use crate::transport::signals::{self, Signal};
use crate::transport::stdio::{Notice, Served};
use crate::wire::lane::Lane;
use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::header::{
    ACCEPT, ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER,
};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode, Uri};
use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, mpsc, oneshot, watch};

const METHOD: &str = "mcp-method";
const NAME: &str = "mcp-name";
/// How URLs of the transport of 2024-11-05 name a session.
const SESSION_PARAMETERS: [&str; 2] = ["sessionId", "session_id"];
/// The path that is always there.
pub(crate) const PATH: &str = "/mcp";

/// Is told how far it is, a few times a second.
pub(crate) type Watcher = Box<dyn Fn(Tally) + Send>;

/// The next bytes of a response, or what breaks it off.
pub(super) type Chunk = Result<Bytes, BodyError>;

/// So much may wait for a client that does not read what a real server says, in bytes.
const MOST_WAITING: usize = 4 << 20;

/// Serves until a fault breaks off or a signal comes. `path` is one more that is answered, `real` the
/// server for what was not recorded. If it is `leashed`, it ends when standard input does. `ready` is
/// called once signals are waited for.
///
/// # Errors
///
/// The runtime, the socket or a signal handler is not to be had.
pub(crate) fn serve(
    core: Replayer,
    listener: Listener,
    path: Option<String>,
    (real, leashed): (Option<Real>, bool),
    notice: Notice,
    watcher: Option<Watcher>,
    ready: impl FnOnce(),
) -> io::Result<Served> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let (stop, stopping) = watch::channel(false);
    let open = |real| Remote::open(real, runtime.handle().clone(), Arc::clone(&notice));
    let remote = real.map(open).transpose()?;
    let shared = Arc::new_cyclic(|shared: &Weak<Shared>| Shared {
        state: Mutex::new(State {
            core,
            lanes: HashMap::new(),
            start: Instant::now(),
            notice,
            next: 0,
            due: None,
            over: false,
            remote: remote.clone(),
            asking: None,
            shared: Weak::clone(shared),
        }),
        earlier: Notify::new(),
        stop,
        signal: Mutex::new(None),
        path,
        budget: Budget::default(),
    });
    let on_signal = Arc::clone(&shared);
    signals::watch(move |signal| on_signal.signal_came(signal))?;
    if leashed {
        let held = Arc::clone(&shared);
        input::watch(move || held.end())?;
    }
    ready();
    let served = runtime.block_on(async {
        let clock = tokio::spawn(keep_time(Arc::clone(&shared), stopping.clone()));
        let watch = watcher.map(|watcher| tokio::spawn(keep_told(Arc::clone(&shared), watcher)));
        let handler = {
            let shared = Arc::clone(&shared);
            move |request| answer(Arc::clone(&shared), request)
        };
        let served = listener.serve(handler, stopping).await;
        clock.abort();
        if let Some(watch) = watch {
            watch.abort();
        }
        served
    });
    let signal = *shared.signal.lock().unwrap_or_else(PoisonError::into_inner);
    let recorded = remote.and_then(|remote| remote.finish(signal));
    runtime.shutdown_background();
    served?;
    let mut state = shared.state();
    let summary = Some(state.core.finish());
    drop(state);
    Ok(Served {
        summary,
        signal,
        recorded,
    })
}

/// What all requests share.
pub(super) struct Shared {
    state: Mutex<State>,
    /// Something is due earlier than it was.
    earlier: Notify,
    stop: watch::Sender<bool>,
    signal: Mutex<Option<Signal>>,
    path: Option<String>,
    budget: Budget,
}

/// Held while the core is asked and what it wants is done; never while anything is waited for.
struct State {
    core: Replayer,
    /// Requests whose responses are not over.
    lanes: HashMap<Lane, Outlet>,
    start: Instant,
    notice: Notice,
    /// The number of the next request.
    next: u32,
    due: Option<Instant>,
    over: bool,
    /// The server for what was not recorded.
    remote: Option<Arc<Remote>>,
    /// The headers of the request that is taken in at the moment, if a server may get them.
    asking: Option<(Lane, HeaderMap)>,
    /// For those who hear that server.
    shared: Weak<Shared>,
}

/// Where the response to a request goes.
enum Outlet {
    Waiting(oneshot::Sender<Reply>),
    Streaming(mpsc::UnboundedSender<Chunk>, Arc<AtomicUsize>),
}

/// What a request is told.
enum Reply {
    Whole(ResponseHead, Vec<u8>),
    Stream(
        ResponseHead,
        mpsc::UnboundedReceiver<Chunk>,
        Arc<AtomicUsize>,
    ),
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn signal_came(&self, signal: Signal) {
        let mut first = self.signal.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(signal);
        drop(first);
        self.end();
    }

    /// Ends every stream, and the listener after them.
    fn end(&self) {
        let mut state = self.state();
        state.over = true;
        state.lanes.clear();
        drop(state);
        self.stop.send_replace(true);
    }

    /// Tells the core something, and does what it wants done.
    fn tell(&self, what: impl FnOnce(&mut State, Duration)) {
        let mut state = self.state();
        if state.over {
            return;
        }
        let now = state.start.elapsed();
        what(&mut state, now);
        self.go_on(&mut state);
        state.asking = None;
    }

    fn go_on(&self, state: &mut State) {
        let before = state.due;
        state.go_on();
        if state.over {
            self.stop.send_replace(true);
        }
        if state
            .due
            .is_some_and(|due| before.is_none_or(|before| due < before))
        {
            self.earlier.notify_one();
        }
    }

    /// The connection of a request is gone before its response was over.
    pub(super) fn gone(&self, lane: Lane) {
        self.tell(|state, _| {
            state.lanes.remove(&lane);
            state.core.gone(lane);
            if let Some(remote) = &state.remote {
                remote.left(lane);
            }
        });
    }

    fn knows(&self, path: &str) -> bool {
        let path = match path.strip_suffix('/') {
            Some(shorter) if !shorter.is_empty() => shorter,
            _ => path,
        };
        path == PATH || self.path.as_deref() == Some(path)
    }
}

impl Ears for Shared {
    fn tell(&self, what: &mut dyn FnMut(&mut Replayer)) {
        Shared::tell(self, |state, _| what(&mut state.core));
    }

    fn is_behind(&self, lane: Lane) -> bool {
        let is_behind = |outlet: &Outlet| match outlet {
            Outlet::Streaming(_, waiting) => waiting.load(Ordering::Relaxed) > MOST_WAITING,
            Outlet::Waiting(_) => false,
        };
        let state = self.state();
        match lane {
            Lane::Get(_) => state
                .lanes
                .iter()
                .any(|(lane, outlet)| matches!(lane, Lane::Get(_)) && is_behind(outlet)),
            lane => state.lanes.get(&lane).is_some_and(is_behind),
        }
    }
}

impl State {
    /// Does what the core wants done, until there is nothing or it is not time yet.
    fn go_on(&mut self) {
        self.due = loop {
            match self.core.poll(self.start.elapsed()) {
                Action::Respond { lane, head, body } => {
                    if let Some(Outlet::Waiting(reply)) = self.lanes.remove(&lane) {
                        // Whoever went away meanwhile needs none.
                        let _ = reply.send(Reply::Whole(head, body));
                    }
                }
                Action::Begin { lane, head } => {
                    let (sender, receiver) = mpsc::unbounded_channel();
                    let waiting = Arc::new(AtomicUsize::new(0));
                    let outlet = Outlet::Streaming(sender, Arc::clone(&waiting));
                    match self.lanes.insert(lane, outlet) {
                        Some(Outlet::Waiting(reply)) => {
                            let _ = reply.send(Reply::Stream(head, receiver, waiting));
                        }
                        _ => drop(self.lanes.remove(&lane)),
                    }
                }
                Action::Send { lane, bytes } => {
                    if let Some(Outlet::Streaming(sender, waiting)) = self.lanes.get(&lane) {
                        waiting.fetch_add(bytes.len(), Ordering::Relaxed);
                        let _ = sender.send(Ok(bytes.into()));
                    }
                }
                Action::End { lane, cut } => {
                    if let Some(Outlet::Streaming(sender, _)) = self.lanes.remove(&lane)
                        && cut
                    {
                        let _ = sender.send(Err(cut_off()));
                    }
                }
                Action::Abort => {
                    self.abort();
                    break None;
                }
                Action::Forward(forward) => self.forward(forward),
                Action::Wait(at) => break Some(self.start + at),
                Action::Idle => break None,
            }
        };
        if self.core.has_notices() {
            for notice in self.core.take_notices() {
                (self.notice)(&notice);
            }
        }
    }

    /// Passes something on to the real server.
    fn forward(&self, forward: Forward) {
        let Some((remote, shared)) = self.remote.as_ref().zip(self.shared.upgrade()) else {
            return;
        };
        let asking = self.asking.as_ref();
        let asking = asking.filter(|(lane, _)| *lane == forward.lane);
        let headers = asking.map(|(_, headers)| headers.clone());
        let ears: Arc<dyn Ears> = shared;
        remote.say(forward, headers, &ears);
    }

    /// Breaks off whatever is open.
    fn abort(&mut self) {
        self.over = true;
        for (_, outlet) in self.lanes.drain() {
            if let Outlet::Streaming(sender, _) = outlet {
                let _ = sender.send(Err(cut_off()));
            }
        }
    }
}

fn cut_off() -> BodyError {
    Box::new(io::Error::from(io::ErrorKind::ConnectionAborted))
}

/// Wakes the core when something is due.
async fn keep_time(shared: Arc<Shared>, mut stop: watch::Receiver<bool>) {
    loop {
        let due = shared.state().due;
        let moment = async {
            match due {
                Some(due) => tokio::time::sleep_until(due.into()).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = moment => shared.tell(|_, _| ()),
            () = shared.earlier.notified() => {}
            () = stopped(&mut stop) => return,
        }
    }
}

/// Tells whoever watches how far it is.
async fn keep_told(shared: Arc<Shared>, watcher: Watcher) {
    /// Between two looks.
    const PAUSE: Duration = Duration::from_millis(200);
    let mut told = None;
    loop {
        let tally = shared.state().core.tally();
        if told.replace(tally) != Some(tally) {
            watcher(tally);
        }
        tokio::time::sleep(PAUSE).await;
    }
}

async fn answer(shared: Arc<Shared>, request: Request<Incoming>) -> Response<Body> {
    let (parts, body) = request.into_parts();
    if let Some(refusal) = refused(&shared, &parts) {
        return refusal;
    }
    let mut bytes = None;
    if parts.method == Method::POST {
        match read_body(body, &parts.headers, &shared.budget).await {
            Ok(read) => bytes = Some(read),
            Err((status, reason)) => return plain(status, reason),
        }
    }
    let (reply, replied) = oneshot::channel();
    let mut gone = Gone::new(Arc::clone(&shared));
    shared.tell(|state, now| {
        let number = state.next;
        state.next = state.next.wrapping_add(1);
        let is_get = parts.method == Method::GET;
        let lane = match is_get {
            true => Lane::Get(number),
            false => Lane::Post(number),
        };
        gone.watch(lane);
        state.lanes.insert(lane, Outlet::Waiting(reply));
        let asks = state.remote.is_some();
        state.asking = asks.then(|| (lane, parts.headers.clone()));
        let head = head(&parts.headers, &parts.uri);
        match &bytes {
            Some(bytes) => state.core.post(now, number, &head, bytes.as_ref()),
            None if is_get => state.core.get(number, &head),
            None => state.core.delete(number, &head),
        }
    });
    drop(bytes);
    match replied.await {
        Ok(Reply::Whole(head, body)) => {
            gone.forget();
            response(&head, whole(body))
        }
        Ok(Reply::Stream(head, chunks, waiting)) => {
            let kind = head.content_type.as_deref().unwrap_or_default();
            let is_events = kind.starts_with("text/event-stream");
            let body = Stream::new((chunks, waiting), gone, is_events).boxed_unsync();
            let mut response = response(&head, body);
            let uncached = HeaderValue::from_static("no-cache, no-transform");
            response.headers_mut().insert(CACHE_CONTROL, uncached);
            response
        }
        Err(_) => {
            gone.forget();
            broken()
        }
    }
}

/// What needs no look at the recording to be refused.
fn refused(shared: &Shared, parts: &Parts) -> Option<Response<Body>> {
    let known = [Method::POST, Method::GET, Method::DELETE];
    if !shared.knows(parts.uri.path()) {
        let reason = "there is nothing at this path; the recording is at /mcp";
        return Some(plain(StatusCode::NOT_FOUND, reason));
    }
    if !known.contains(&parts.method) {
        let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, "only GET, POST and DELETE");
        let methods = HeaderValue::from_static("GET, POST, DELETE");
        response.headers_mut().insert(ALLOW, methods);
        return Some(response);
    }
    if parts.method == Method::POST && !is_json(&parts.headers) {
        let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        return Some(plain(
            status,
            "the body of a POST has to be application/json",
        ));
    }
    None
}

fn head<'a>(headers: &'a HeaderMap, uri: &'a Uri) -> RequestHead<'a> {
    let value = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let accepts = headers.get_all(ACCEPT).iter();
    let accepts = accepts.filter_map(|value| value.to_str().ok());
    let events = ["text/event-stream", "text/*", "*/*"];
    RequestHead {
        session: value(SESSION),
        version: value(VERSION),
        method: value(METHOD),
        name: value(NAME),
        last_event_id: value(LAST_EVENT),
        accepts_events: accepts
            .flat_map(|value| value.split(','))
            .map(essence)
            .any(|kind| events.iter().any(|event| event.eq_ignore_ascii_case(kind))),
        in_url: uri.query().and_then(session_in),
    }
}

/// The session that a query names.
fn session_in(query: &str) -> Option<&str> {
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let (_, value) = pairs.find(|(name, _)| SESSION_PARAMETERS.contains(name))?;
    Some(value)
}

/// A media type without its parameters.
fn essence(kind: &str) -> &str {
    kind.split(';').next().unwrap_or_default().trim()
}

/// A body of a type that is not named is taken for JSON.
fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE);
    kind.is_none_or(|kind| {
        let kind = essence(kind.to_str().unwrap_or_default());
        kind.eq_ignore_ascii_case("application/json")
    })
}

fn response(head: &ResponseHead, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    let status = StatusCode::from_u16(head.status);
    *response.status_mut() = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    let mut set = |name: HeaderName, value: Option<&str>| {
        // What a recording says may be no header.
        if let Some(value) = value.and_then(|value| HeaderValue::from_str(value).ok()) {
            headers.insert(name, value);
        }
    };
    set(CONTENT_TYPE, head.content_type.as_deref());
    set(HeaderName::from_static(SESSION), head.session.as_deref());
    set(ALLOW, head.allow);
    let after = head.retry_after.map(|seconds| seconds.to_string());
    set(RETRY_AFTER, after.as_deref());
    response
}

/// Where a client finds the recording.
pub(crate) fn url(listener: &listen::Listener) -> String {
    listener.url(PATH)
}
