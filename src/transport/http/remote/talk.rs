//! Requests of ours to the real server, and what comes of each.

use super::{Ears, Lost, Remote};
use crate::cassette::exchanges::{Ended, Framing};
use crate::record::{Asked, says_json_rpc};
use crate::replay::{Errand, Forward};
use crate::transport::http::exchange::{answered, asked, encoding, is_events};
use crate::transport::http::headers::{self, LAST_EVENT, SESSION, VERSION};
use crate::transport::http::listen::{Body, whole};
use crate::transport::http::response::{Events, LONGEST, Live};
use crate::transport::http::tap::Exchange;
use crate::transport::http::upstream::told;
use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::http::response::Parts;
use hyper::{Method, Request, Response, StatusCode};
use std::time::Duration;
use tokio::sync::watch;

/// How often a request is redirected, and a stream taken up again that brings nothing new.
const MOST_TRIES: u32 = 5;
/// Before a stream is taken up again, unless the server says otherwise; and no longer than the
/// latter.
const PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// While the client or the recorder is behind, the server is looked at this often.
const TO_LOOK: Duration = Duration::from_millis(5);

impl Remote {
    /// Says a message, and passes on what comes of it.
    pub(super) async fn post(
        &self,
        forward: &Forward,
        mut headers: HeaderMap,
        taken: Option<watch::Sender<()>>,
        ears: &dyn Ears,
    ) -> Result<(), Lost> {
        let has_session = self.dress(&mut headers, forward);
        let said = Bytes::from(forward.bytes.clone());
        let head = Asked {
            goes_on: forward.session,
            ..asked(&Method::POST, &headers, &self.upstream)
        };
        // What comes to nothing is not recorded.
        let mut exchange = forward.kept.then(|| {
            let in_doubt = forward.errand != Errand::Tell;
            self.tap.begin_whole(head, said.clone(), in_doubt)
        });
        let sent = self.send(Method::POST, headers.clone(), said).await;
        drop(taken);
        if let (Err(_), Some(exchange)) = (&sent, &mut exchange) {
            exchange.unreachable();
        }
        let response = sent.map_err(Lost::Why)?;
        if forward.begins {
            let session = headers::text(response.headers(), SESSION);
            self.lines().entry(forward.line).or_default().session = session;
        }
        let (parts, body) = response.into_parts();
        if let (Errand::Tell, Some(exchange)) = (forward.errand, &exchange) {
            exchange.answered(answered(&parts), None);
        }
        if parts.status == StatusCode::NOT_FOUND && has_session {
            return Err(Lost::Session(told_status(parts.status)));
        }
        let mut live = Live::new(body, encoding(&parts.headers));
        if !parts.status.is_success() || !is_events(&parts.headers) {
            let bytes = live.whole(&self.budget).await.map_err(Lost::Why)?;
            return self.body(forward, (&parts, bytes.as_ref()), exchange, ears);
        }
        self.tell_head(forward, &parts, Framing::Sse, ears);
        if let Some(exchange) = &mut exchange
            && exchange.counts()
        {
            exchange.answered(answered(&parts), None);
        }
        let mut events = Events::default();
        let told = (&mut events, &mut exchange);
        let ended = self.relay(forward, &mut live, told, ears).await;
        self.take_up(forward, headers, events, ended, ears).await
    }

    /// Passes a body on that is a message, or that says that one was taken.
    fn body(
        &self,
        forward: &Forward,
        (parts, bytes): (&Parts, &[u8]),
        exchange: Option<Exchange>,
        ears: &dyn Ears,
    ) -> Result<(), Lost> {
        let says = says_json_rpc(std::str::from_utf8(bytes).unwrap_or_default());
        let is_taken = forward.errand == Errand::Tell && parts.status.is_success();
        if !says && !is_taken {
            let status = told_status(parts.status);
            return Err(Lost::Why(match parts.status.is_success() {
                true => format!("{status} and no JSON-RPC message"),
                false => status,
            }));
        }
        if says {
            self.tell_head(forward, parts, Framing::Json, ears);
        }
        if let Some(mut exchange) = exchange {
            if exchange.counts() {
                exchange.answered(answered(parts), None);
            }
            if says {
                exchange.bytes(&Bytes::copy_from_slice(bytes));
            }
            exchange.ended(Ended::Complete);
        }
        if says {
            ears.tell(&mut |core| {
                core.relay(forward.line, forward.lane, bytes);
            });
        }
        Ok(())
    }

    /// The client's response begins as that of the server.
    fn tell_head(&self, forward: &Forward, parts: &Parts, framing: Framing, ears: &dyn Ears) {
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
            self.dress(&mut headers, forward);
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
    pub(super) async fn listen(&self, forward: &Forward, mut headers: HeaderMap, ears: &dyn Ears) {
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
            let exchange = self.tap.begin(head, None);
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
    pub(super) async fn send(
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

fn told_status(status: StatusCode) -> String {
    format!("the real server answers with status {status}")
}

/// Sets a header, or removes it.
pub(super) fn set(headers: &mut HeaderMap, name: &'static str, value: Option<&str>) {
    let name = HeaderName::from_static(name);
    match value.and_then(|value| HeaderValue::from_str(value).ok()) {
        Some(value) => drop(headers.insert(name, value)),
        None => drop(headers.remove(name)),
    }
}
