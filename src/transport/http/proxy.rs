//! The reverse proxy: a client's request to the server, and what it answers to the client.
//!
//! What belongs to the server's endpoint is recorded; everything else, such as what clients ask to
//! log in, is passed on and leaves no trace.

use super::bodies::{RequestBody, ResponseBody};
use super::body::BROKEN_BODY;
use super::endpoint::Endpoint;
use super::exchange::{answered, asked, encoding, is_events};
use super::headers;
use super::listen::{Body, BodyError, plain};
use super::tap::{Exchange, Tap};
use super::upstream::{Upstream, is_same_path, told};
use crate::record::Asked;
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode, Uri, Version};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;

/// So many paths that are passed on and not recorded are told.
const MOST_TOLD: usize = 8;

/// Passes requests on to one server.
pub(super) struct Proxy {
    upstream: Upstream,
    tap: Arc<Tap>,
    /// Turns to why the server is of no use, if that shows at the first contact.
    contact: watch::Sender<Contact>,
    told: Mutex<BTreeSet<String>>,
}

/// Whether the server was reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Contact {
    None,
    Made,
    /// It was of no use.
    Failed(String),
}

impl Proxy {
    pub(super) fn new(upstream: Upstream, tap: Arc<Tap>) -> Proxy {
        Proxy {
            upstream,
            tap,
            contact: watch::Sender::new(Contact::None),
            told: Mutex::default(),
        }
    }

    pub(super) fn contact(&self) -> watch::Receiver<Contact> {
        self.contact.subscribe()
    }

    /// Answers one request.
    pub(super) async fn handle(self: Arc<Proxy>, request: Request<Incoming>) -> Response<Body> {
        let (mut parts, body) = request.into_parts();
        if parts.method == Method::CONNECT {
            return plain(
                StatusCode::METHOD_NOT_ALLOWED,
                "this is no proxy of that kind",
            );
        }
        let ours = client_origin(&parts);
        let exchange = self
            .is_endpoint(parts.uri.path())
            .then(|| self.begin(&parts));
        if exchange.is_none() {
            self.tell_of(parts.uri.path());
        }
        headers::to_upstream(&mut parts.headers, &self.upstream.origin());
        parts.version = Version::HTTP_11;
        let is_head = parts.method == Method::HEAD;
        let is_get = parts.method == Method::GET;
        let body = match &exchange {
            Some(exchange) => RequestBody::new(body, exchange.request()).boxed_unsync(),
            None => body.map_err(BodyError::from).boxed_unsync(),
        };
        let broke = Arc::new(AtomicBool::new(false));
        let breaks = Arc::clone(&broke);
        let body = body
            .map_err(move |error| {
                breaks.store(true, Ordering::Relaxed);
                error
            })
            .boxed_unsync();
        match self.upstream.send(Request::from_parts(parts, body)).await {
            Ok(response) => self.answer(response, exchange, &ours, is_get, is_head),
            // The client left in the middle, or says what cannot be read: no fault of the server.
            Err(_) if broke.load(Ordering::Relaxed) => plain(BROKEN_BODY.0, BROKEN_BODY.1),
            Err(error) => {
                let why = told(&error);
                self.unreachable(exchange, &why);
                let text = format!("the server did not answer: {why}");
                plain(StatusCode::BAD_GATEWAY, &text)
            }
        }
    }

    fn is_endpoint(&self, path: &str) -> bool {
        is_same_path(path, self.upstream.path()) || self.tap.is_endpoint(path)
    }

    fn begin(&self, parts: &Parts) -> Exchange {
        let path = parts.uri.path();
        let endpoint = self.tap.is_endpoint(path).then(|| {
            let query = parts.uri.query().map(|query| format!("?{query}"));
            format!("{path}{}", query.unwrap_or_default())
        });
        let asked = Asked {
            endpoint,
            ..asked(&parts.method, &parts.headers, &self.upstream)
        };
        self.tap.begin(asked, encoding(&parts.headers))
    }

    fn answer(
        &self,
        response: Response<Incoming>,
        exchange: Option<Exchange>,
        ours: &str,
        is_get: bool,
        is_head: bool,
    ) -> Response<Body> {
        let (mut parts, body) = response.into_parts();
        headers::remove_hop_by_hop(&mut parts.headers);
        if body.size_hint().exact().is_none() && !is_head {
            parts.headers.remove(header::CONTENT_LENGTH);
        }
        parts.version = Version::HTTP_11;
        self.keep_redirect(&mut parts.headers, ours, parts.status);
        let Some(exchange) = exchange else {
            let body = body.map_err(BodyError::from).boxed_unsync();
            return Response::from_parts(parts, body);
        };
        self.contacted(parts.status);
        let encoding = encoding(&parts.headers);
        let endpoint = (is_get && is_events(&parts.headers) && encoding.is_none())
            .then(|| Endpoint::new(self.upstream.origin(), ours.to_owned()));
        exchange.answered(answered(&parts), encoding);
        let body = ResponseBody::new(body, exchange, endpoint).boxed_unsync();
        Response::from_parts(parts, body)
    }

    /// A redirect to another address of the server leads past us; so it leads to the same here.
    fn keep_redirect(&self, headers: &mut HeaderMap, ours: &str, status: StatusCode) {
        let Some(to) = headers::text(headers, header::LOCATION.as_str()) else {
            return;
        };
        let theirs = self.upstream.origin();
        let rest = to.strip_prefix(&theirs);
        let rest = rest.filter(|rest| rest.is_empty() || rest.starts_with(['/', '?', '#']));
        let Some(rest) = rest else {
            return;
        };
        let here: Result<HeaderValue, _> = format!("{ours}{rest}").parse();
        if let (Ok(here), true) = (here, status.is_redirection()) {
            headers.insert(header::LOCATION, here);
        }
    }

    fn contacted(&self, status: StatusCode) {
        self.contact.send_if_modified(|contact| {
            let is_first = *contact == Contact::None;
            if is_first {
                *contact = match status.is_server_error() {
                    true => Contact::Failed(format!("it answers with status {status}")),
                    false => {
                        self.tap.keep();
                        Contact::Made
                    }
                };
            }
            is_first
        });
    }

    fn unreachable(&self, exchange: Option<Exchange>, why: &str) {
        let is_first = self.contact.send_if_modified(|contact| {
            let is_first = *contact == Contact::None;
            if is_first {
                *contact = Contact::Failed(why.to_owned());
            }
            is_first
        });
        if !is_first {
            self.tap
                .say(&format!("warning: the server did not answer: {why}"));
        }
        if let Some(mut exchange) = exchange {
            exchange.unreachable();
        }
    }

    /// Says once of a path that what passes there is not recorded.
    fn tell_of(&self, path: &str) {
        if path.starts_with("/.well-known/") {
            return;
        }
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.len() < MOST_TOLD && told.insert(path.to_owned()) {
            self.tap.say(&format!(
                "note: a request for {path} is passed on and not recorded; the server's address ends in {}",
                self.upstream.path()
            ));
        }
    }
}

/// Our origin as this client knows it.
fn client_origin(parts: &Parts) -> String {
    let host = headers::text(&parts.headers, header::HOST.as_str());
    let named = |uri: &Uri| uri.authority().map(ToString::to_string);
    let host = host.or_else(|| named(&parts.uri));
    format!("http://{}", host.unwrap_or_default())
}
