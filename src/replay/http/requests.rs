//! Requests over HTTP: POST, GET and DELETE, and whose session they are of.

use super::streams::Key;
use super::{RequestHead, ResponseHead};
use crate::cassette::model::string_value;
use crate::cassette::view::{Envelope, Role};
use crate::replay::faults::Fault;
use crate::replay::plan::Era;
use crate::replay::playing::Step;
use crate::replay::render;
use crate::replay::replayer::Replayer;
use crate::replay::session::Live;
use crate::wire::json::{MAX_INPUT, Scanner, Span, nested};
use crate::wire::lane::Lane;
use crate::wire::mcp::{code, method, name};
use sha2::{Digest as _, Sha256};
use std::time::Duration;

/// Where clients of 2024-11-05 are told to post.
const ENDPOINT: &str = "/mcp?sessionId=";

/// Why a request is turned away.
struct Refusal {
    status: u16,
    code: i64,
    message: &'static str,
}

const NO_SESSION: Refusal = Refusal {
    status: 400,
    code: code::BAD_REQUEST,
    message: "mcp-cassette: the Mcp-Session-Id header is missing",
};
const UNKNOWN_SESSION: Refusal = Refusal {
    status: 404,
    code: code::SESSION_NOT_FOUND,
    message: "mcp-cassette: there is no such session; begin a new one",
};

impl Replayer {
    /// Takes a POST with all of its body.
    pub(crate) fn post(&mut self, now: Duration, number: u32, head: &RequestHead<'_>, body: &[u8]) {
        let lane = Lane::Post(number);
        self.streams.open(number, 0);
        let text = std::str::from_utf8(body).ok();
        let text =
            text.filter(|text| text.len() < MAX_INPUT && crate::replay::requests::is_json(text));
        let Some(text) = text else {
            return self.turn_away(
                number,
                &Refusal {
                    status: 400,
                    code: code::PARSE_ERROR,
                    message: "mcp-cassette: the body is not JSON",
                },
            );
        };
        let asks = Asks::read(text);
        match self.session_for(head, &asks) {
            Ok(live) => self.speaking = live,
            Err(refusal) => return self.turn_away(number, &refusal),
        }
        if let Some((code, message)) = self.wrong_headers(head, text) {
            let id = asks.id.as_deref().unwrap_or("null");
            let body = render::error(id, code, &message, None);
            return self.streams.refuse(number, ResponseHead::json(400), body);
        }
        if self.plan.endpoints {
            // The answers come on the stream that the session has.
            self.streams
                .refuse(number, ResponseHead::of(202), Vec::new());
        }
        self.receive(now, lane, body);
        self.streams.belongs(number, self.speaking);
        self.streams.received(number, &self.plan.rows);
    }

    /// Takes a GET.
    pub(crate) fn get(&mut self, number: u32, head: &RequestHead<'_>) {
        let lane = Lane::Get(number);
        if self.plan.era == Era::Modern {
            return self.no_such_method(lane, 405);
        }
        if !head.accepts_events {
            let mut response = ResponseHead::of(406);
            response.content_type = Some("text/plain; charset=utf-8".to_owned());
            let body = b"mcp-cassette: a GET has to accept text/event-stream\n".to_vec();
            return self.streams.respond(lane, response, body);
        }
        if self.plan.endpoints {
            return self.open_endpoint(lane);
        }
        let session = self.session_of(head.session);
        let asked_for = head.last_event_id;
        let resumed = session.as_ref().ok().zip(asked_for);
        let resumed = resumed.and_then(|(live, id)| self.streams.with_event(*live, id));
        if let (None, Some(status)) = (resumed, self.plan.rows.get_refusal(&self.cassette)) {
            return self.no_such_method(lane, status);
        }
        let live = match session {
            Ok(live) => live,
            Err(refusal) => return self.turn_away_from(lane, &refusal),
        };
        let key = resumed.unwrap_or_else(|| self.besides(live));
        if let (Key::Besides(_), Some(session)) = (key, self.sessions.get_mut(live as usize)) {
            session.gets += 1;
            self.listen(live, lane);
        }
        let heard = self.streams.attach(lane, key, asked_for, &self.plan.rows);
        for row in heard {
            self.ask(live, row);
        }
    }

    /// Takes a DELETE: the client ends its session.
    pub(crate) fn delete(&mut self, number: u32, head: &RequestHead<'_>) {
        let lane = Lane::Post(number);
        let recorded = self.plan.rows.delete_status();
        let refused = recorded.filter(|status| *status >= 400 && *status != 404);
        let ids = self.gives_ids();
        if !ids || refused.is_some() {
            return self.no_such_method(lane, refused.unwrap_or(405));
        }
        match self.session_of(head.session) {
            Ok(live) => {
                self.end_session(live);
                let status = recorded.filter(|status| *status < 300).unwrap_or(200);
                self.streams
                    .respond(lane, ResponseHead::of(status), Vec::new());
            }
            Err(refusal) => self.turn_away_from(lane, &refusal),
        }
    }

    /// The connection of a request is gone before its response was over.
    pub(crate) fn gone(&mut self, lane: Lane) {
        let left = self.streams.gone(lane);
        if left.is_some() {
            self.forget_forwarded(lane);
        }
        // Since 2026-07-28 that takes the request back.
        if let (Some(number), Era::Modern) = (left, self.plan.era) {
            self.stage.silence(Lane::Post(number));
        }
    }

    /// Whether the recording is of the transport of 2024-11-05.
    pub(crate) fn speaks_older_http(&self) -> bool {
        self.plan.endpoints
    }

    /// Whether sessions have ids here.
    pub(in crate::replay) fn gives_ids(&self) -> bool {
        let greets = self.plan.sessions.iter().any(|it| it.initialize.is_some());
        greets && !self.plan.endpoints && self.plan.rows.has_sessions(&self.cassette)
    }

    /// A new session: the one that was begun without `initialize`, or one more.
    pub(in crate::replay) fn new_session(&mut self) -> u32 {
        self.lobby.take().unwrap_or_else(|| self.add_session())
    }

    /// The id of the session that was begun last.
    #[cfg(test)]
    pub(in crate::replay) fn ids_for_tests(&self) -> String {
        let latest = self.ids.iter().max_by_key(|(_, live)| **live);
        latest.map(|(id, _)| id.clone()).unwrap_or_default()
    }

    fn add_session(&mut self) -> u32 {
        self.sessions.push(Live::default());
        u32::try_from(self.sessions.len().saturating_sub(1)).unwrap_or(u32::MAX)
    }

    /// What is asked before any `initialize`.
    fn lobby(&mut self) -> u32 {
        if let Some(lobby) = self.lobby {
            return lobby;
        }
        let lobby = self.add_session();
        let last = self.plan.sessions.len().saturating_sub(1);
        if let Some(live) = self.sessions.get_mut(lobby as usize) {
            let session = (self.initialized as usize).min(last);
            live.session = u32::try_from(session).unwrap_or(0);
        }
        self.lobby = Some(lobby);
        lobby
    }

    /// Gives a session its id: new for each, and the same in each run.
    pub(in crate::replay) fn name_session(&mut self, live: u32) {
        let recorded_at = self.cassette.recorded_at();
        let what = format!("{}/{live}", recorded_at.as_deref().unwrap_or_default());
        let digest = Sha256::digest(what.as_bytes());
        let hex: String = digest
            .iter()
            .take(4)
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let id = format!("mcc-{hex}");
        if let Some(session) = self.sessions.get_mut(live as usize) {
            session.id = Some(id.clone());
        }
        self.ids.insert(id, live);
    }

    pub(in crate::replay) fn end_session(&mut self, live: u32) {
        self.streams.end_besides(live);
        self.leave(live);
        let Some(session) = self.sessions.get_mut(live as usize) else {
            return;
        };
        session.ended = true;
        if let Some(id) = session.id.take() {
            self.ids.remove(&id);
        }
        // Nobody can answer the server's questions any more, so that nothing waits for that.
        session.asked.clear();
        let mut pending: Vec<_> = std::mem::take(&mut session.pending).into_iter().collect();
        pending.sort_unstable_by_key(|(row, _)| *row);
        for (_, pending) in pending {
            self.summary.pending_server_requests.push(pending.shown);
            let waiters = pending.waiters.into_iter();
            self.stage.ready.extend(waiters.map(Step::Play));
        }
    }

    /// Whose session a POST is of.
    fn session_for(&mut self, head: &RequestHead<'_>, asks: &Asks) -> Result<u32, Refusal> {
        if self.plan.era == Era::Modern {
            return Ok(0);
        }
        if self.plan.endpoints {
            let id = head.in_url.or(head.session);
            let known = id.and_then(|id| self.ids.get(id).copied());
            return known.ok_or(match id {
                Some(_) => UNKNOWN_SESSION,
                // A client that tries the newer transport first goes on to the older one.
                None => Refusal {
                    status: 405,
                    code: code::BAD_REQUEST,
                    message: "mcp-cassette: the recording is of HTTP with SSE; begin with a GET",
                },
            });
        }
        // It begins a session, whatever it names.
        if asks.initializes {
            return Ok(self.speaking);
        }
        if self.expired {
            return Err(UNKNOWN_SESSION);
        }
        // A server of both eras was asked without a session too.
        let outside = asks.only_discovers || asks.is_modern && self.plan.has_modern;
        if head.session.is_none() && outside && self.gives_ids() {
            return Ok(self.lobby());
        }
        self.session_of(head.session)
    }

    fn session_of(&mut self, id: Option<&str>) -> Result<u32, Refusal> {
        if !self.gives_ids() {
            return Ok(match self.latest {
                Some(latest) => latest,
                None => self.lobby(),
            });
        }
        match id {
            None => Err(NO_SESSION),
            Some(id) => self.ids.get(id).copied().ok_or(UNKNOWN_SESSION),
        }
    }

    fn turn_away(&mut self, number: u32, refusal: &Refusal) {
        let body = render::error("null", refusal.code, refusal.message, None);
        let head = ResponseHead::json(refusal.status);
        self.streams.refuse(number, head, body);
    }

    fn turn_away_from(&mut self, lane: Lane, refusal: &Refusal) {
        let body = render::error("null", refusal.code, refusal.message, None);
        let head = ResponseHead::json(refusal.status);
        self.streams.respond(lane, head, body);
    }

    fn no_such_method(&mut self, lane: Lane, status: u16) {
        let mut head = ResponseHead::of(status);
        head.allow = (status == 405).then_some("POST");
        self.streams.respond(lane, head, Vec::new());
    }

    /// A GET of 2024-11-05 begins a session, and is told where to post.
    fn open_endpoint(&mut self, lane: Lane) {
        let live = self.new_session();
        self.name_session(live);
        let key = self.besides(live);
        self.streams.attach(lane, key, None, &self.plan.rows);
        let session = self.sessions.get(live as usize);
        let id = session.and_then(|live| live.id.clone()).unwrap_or_default();
        self.streams
            .name(lane, "endpoint", &format!("{ENDPOINT}{id}"));
    }

    /// Faults that leave nothing of the recorded response.
    pub(super) fn answered_by_fault(&mut self, number: u32, fault: &Fault) -> bool {
        match fault {
            Fault::HttpStatus {
                status,
                retry_after,
                body,
            } => {
                let mut head = ResponseHead::of(*status);
                head.retry_after = *retry_after;
                let body = body.clone().unwrap_or_default();
                if !body.is_empty() {
                    let kind = match crate::replay::requests::is_json(&body) {
                        true => "application/json",
                        false => "text/plain; charset=utf-8",
                    };
                    head.content_type = Some(kind.to_owned());
                }
                self.streams.refuse(number, head, body.into_bytes());
                true
            }
            Fault::SessionExpired => {
                self.expired = !self.gives_ids();
                self.end_session(self.speaking);
                self.turn_away(number, &UNKNOWN_SESSION);
                true
            }
            _ => false,
        }
    }
}

/// What a body asks for, as far as that decides about its session.
#[derive(Debug, Default)]
struct Asks {
    initializes: bool,
    /// All that it asks is which protocol is spoken.
    only_discovers: bool,
    /// It is of the modern era.
    is_modern: bool,
    /// The id of the request, if it is one.
    id: Option<String>,
}

impl Asks {
    fn read(text: &str) -> Asks {
        let mut asks = Asks::default();
        let mut take = |span: Span| {
            let envelope = Envelope::read(text, span);
            if envelope.role() != Role::Request {
                return false;
            }
            asks.id = envelope.id.map(|id| id.of(text).to_owned());
            let method = envelope.method_name(text);
            asks.initializes |= method.as_deref() == Some(method::INITIALIZE);
            let version = [name::META, name::META_VERSION];
            let params = envelope.params;
            asks.is_modern |= params.is_some_and(|it| nested(text, it, &version).is_some());
            method.as_deref() == Some(method::DISCOVER)
        };
        if !text.trim_start().starts_with('[') {
            asks.only_discovers = take(Span::new(0, text.len()));
            return asks;
        }
        let mut scanner = Scanner::new(text);
        let _ = scanner.require();
        while let Ok(Some(item)) = scanner.next_item() {
            take(item.span);
        }
        asks.id = None;
        asks
    }
}

/// The string in a JSON token, for comparing it with a header.
pub(super) fn plain(token: &str) -> Option<String> {
    string_value(token).map(std::borrow::Cow::into_owned)
}
