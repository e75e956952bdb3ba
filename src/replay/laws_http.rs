//! The laws of a replay over HTTP, on made-up recordings and clients: every connection is spoken to
//! in order, and whoever asks is answered once.
#![expect(clippy::panic, reason = "a broken law must stop the test")]

use super::http::RequestHead;
use super::{Action, Options, Pace, Replayer};
use crate::cassette::Cassette;
use crate::matching::{OnExhausted, Ordering};
use crate::wire::json::{Span, member};
use crate::wire::lane::Lane;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

/// The first half of `bytes` is the recording, the second what clients do.
pub(crate) fn check(bytes: &[u8]) {
    let (recorded, live) = bytes.split_at(bytes.len() / 2);
    let text = Recording::of(recorded);
    let cassette = match Cassette::parse("laws", text.clone().into_bytes()) {
        Ok(cassette) => Arc::new(cassette),
        Err(error) => panic!("{error}: {text}"),
    };
    let first = live.first().copied().unwrap_or(0);
    let options = Options {
        ordering: [Ordering::PerMethod, Ordering::Strict, Ordering::None][usize::from(first % 3)],
        on_exhausted: [OnExhausted::Auto, OnExhausted::Repeat, OnExhausted::Error]
            [usize::from(first / 3 % 3)],
        pace: (first & 0x40 != 0).then_some(Pace {
            scale: 1.5,
            cap: None,
        }),
        ..Options::default()
    };
    let Ok(core) = Replayer::new(cassette, options) else {
        panic!("there are no pointers");
    };
    let mut clients = Clients::new(core);
    for &byte in live.iter().skip(1) {
        clients.act(byte);
    }
    clients.leave();
}

/// A recording in the making.
#[derive(Default)]
struct Recording {
    messages: Vec<String>,
    rows: Vec<String>,
    /// For each exchange that is open: its number, session, id and whether it is one of events.
    open: Vec<(usize, usize, usize, bool)>,
    gets: Vec<(usize, usize)>,
    asked: Vec<(usize, usize)>,
    exchanges: usize,
    sessions: usize,
}

impl Recording {
    fn of(bytes: &[u8]) -> String {
        let mut recording = Recording::default();
        for &byte in bytes.iter().take(150) {
            recording.act(byte);
        }
        for (exchange, session, _, events) in std::mem::take(&mut recording.open) {
            // What had no answer was cut, or the client left an open stream.
            let ended = if events { "client_closed" } else { "cut" };
            recording.row(exchange, session, "POST", 200, events, ended, "");
        }
        for (exchange, session) in std::mem::take(&mut recording.gets) {
            recording.row(exchange, session, "GET", 200, true, "client_closed", "");
        }
        let rows = match bytes.first().is_some_and(|byte| byte & 1 == 0) {
            true => format!(",\"http_exchanges\":[{}]", recording.rows.join(",")),
            false => String::new(),
        };
        format!(
            "{{\"format_version\":3,\"transport\":\"http\",\"session_id\":\"s\",\"messages\":[{}]{rows}}}",
            recording.messages.join(",")
        )
    }

    fn act(&mut self, byte: u8) {
        let pick = usize::from(byte >> 3);
        let session = pick % self.sessions.max(1);
        match byte & 7 {
            0 | 1 => {
                let (tool, id) = (pick % 3, pick % 5);
                let exchange = self.client(&format!(
                    "\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"t{tool}\"}}"
                ));
                self.open.push((exchange, session, id, byte & 1 == 0));
            }
            2 if !self.open.is_empty() => self.answer(byte),
            3 => match self.open.iter().find(|(.., events)| *events).copied() {
                Some((exchange, ..)) if byte & 8 == 0 => self.told("\"post\"", exchange),
                Some((exchange, session, ..)) => self.question(exchange, session),
                None => {}
            },
            4 => match self.gets.get(pick % self.gets.len().max(1)).copied() {
                Some((exchange, _)) => self.told("\"get\"", exchange),
                None => {
                    let exchange = self.exchange();
                    self.gets.push((exchange, session));
                }
            },
            5 if !self.asked.is_empty() => {
                let (id, session) = self.asked.remove(pick % self.asked.len());
                let exchange = self.client(&format!("\"id\":{id},\"result\":{{}}"));
                self.row(exchange, session, "POST", 202, false, "complete", "");
            }
            6 if byte > 0xa0 || self.sessions == 0 => {
                let (session, events) = (self.sessions, byte & 8 == 0);
                let exchange = self.client("\"id\":0,\"method\":\"initialize\"");
                self.say("server", "\"post\"", exchange, "\"id\":0,\"result\":{}");
                self.row(exchange, session, "POST", 200, events, "complete", "");
                self.sessions += 1;
            }
            _ => {
                let exchange = self.client(&format!("\"method\":\"notifications/{}\"", pick % 2));
                self.row(exchange, session, "POST", 202, false, "complete", "");
            }
        }
    }

    /// Answers an open request.
    fn answer(&mut self, byte: u8) {
        let at = self.messages.len();
        let pick = usize::from(byte >> 3) % self.open.len();
        let (exchange, session, id, events) = self.open.remove(pick);
        let payload = format!("\"id\":{id},\"result\":{{\"n\":{at}}}");
        self.say("server", "\"post\"", exchange, &payload);
        let ended = if byte > 0xf0 { "cut" } else { "complete" };
        let ids = match byte & 0x40 {
            0 => String::new(),
            _ => format!("{{\"id\":\"p{exchange}\"}},{{\"seq\":{at},\"id\":\"e{at}\"}}"),
        };
        self.row(exchange, session, "POST", 200, events, ended, &ids);
    }

    fn question(&mut self, exchange: usize, session: usize) {
        let at = self.messages.len();
        self.asked.push((at, session));
        let payload = format!("\"id\":{at},\"method\":\"roots/list\",\"params\":{{\"n\":{at}}}");
        self.say("server", "\"post\"", exchange, &payload);
    }

    /// The client posts a message.
    fn client(&mut self, payload: &str) -> usize {
        let exchange = self.exchange();
        self.say("client", "null", exchange, payload);
        exchange
    }

    fn exchange(&mut self) -> usize {
        self.exchanges += 1;
        self.exchanges - 1
    }

    fn told(&mut self, channel: &str, exchange: usize) {
        let at = self.messages.len();
        let method = "notifications/message";
        self.say(
            "server",
            channel,
            exchange,
            &format!("\"method\":\"{method}\",\"params\":{{\"n\":{at}}}"),
        );
    }

    fn say(&mut self, sender: &str, channel: &str, exchange: usize, payload: &str) {
        let at = self.messages.len();
        self.messages.push(format!(
            "{{\"seq\":{at},\"t_offset_ms\":{},\"sender\":\"{sender}\",\"kind\":\"request\",\"exchange\":{exchange},\"channel\":{channel},\"payload\":{{{payload}}}}}",
            at * 10
        ));
    }

    #[expect(clippy::too_many_arguments, reason = "the members of a row, in a test")]
    fn row(
        &mut self,
        exchange: usize,
        session: usize,
        method: &str,
        status: u16,
        events: bool,
        ended: &str,
        ids: &str,
    ) {
        let framing = match (status, events) {
            (202, _) => "none",
            (_, true) => "sse",
            (_, false) => "json",
        };
        self.rows.push(format!(
            "{{\"exchange\":{exchange},\"session\":{session},\"http_method\":\"{method}\",\"status\":{status},\"framing\":\"{framing}\",\"ended\":\"{ended}\",\"events\":[{ids}]}}"
        ));
    }
}

/// What a connection has been told so far.
#[derive(Debug, PartialEq)]
enum Told {
    Nothing,
    Head,
    All,
}

/// Clients that check what they hear.
struct Clients {
    core: Replayer,
    now: Duration,
    next: u32,
    connections: HashMap<Lane, Told>,
    /// Which of them are gone.
    left: HashSet<Lane>,
    /// What each POST asks, by its id, which no two have in common.
    ids: HashMap<String, String>,
    answered: HashSet<String>,
    /// The sessions that there are.
    sessions: Vec<String>,
    /// Questions that were heard and are not answered, each with who heard it.
    asked: Vec<(String, String)>,
    /// Whose POST or GET a connection is.
    whose: HashMap<Lane, String>,
    last_event: HashMap<String, String>,
}

impl Clients {
    fn new(core: Replayer) -> Clients {
        Clients {
            core,
            now: Duration::ZERO,
            next: 0,
            connections: HashMap::new(),
            left: HashSet::new(),
            ids: HashMap::new(),
            answered: HashSet::new(),
            sessions: Vec::new(),
            asked: Vec::new(),
            whose: HashMap::new(),
            last_event: HashMap::new(),
        }
    }

    fn act(&mut self, byte: u8) {
        let pick = usize::from(byte >> 3);
        let session = self
            .sessions
            .get(pick % self.sessions.len().max(1))
            .cloned();
        let session = session.unwrap_or_default();
        match byte & 7 {
            0 | 1 => {
                let tool = pick % 4;
                self.request(
                    &session,
                    &format!("\"tools/call\",\"params\":{{\"name\":\"t{tool}\"}}"),
                );
            }
            2 => self.request("", "\"initialize\""),
            3 if !self.asked.is_empty() => {
                let (id, session) = self.asked.remove(pick % self.asked.len());
                self.post(&session, &format!("{{\"id\":{id},\"result\":{{}}}}"));
            }
            4 => self.get(&session, byte & 0x80 != 0),
            5 => self.leave_one(pick),
            6 if byte > 0xd0 => {
                let lane = self.begin(&session, Lane::Post(self.next));
                let head = head(&session);
                self.core.delete(lane, &head);
                self.sessions.retain(|known| *known != session);
            }
            6 => self.post(
                &session,
                &format!("{{\"method\":\"notifications/{}\"}}", pick % 2),
            ),
            _ => self.now += Duration::from_millis(u64::from(byte)),
        }
        self.hear();
    }

    fn begin(&mut self, session: &str, lane: Lane) -> u32 {
        self.connections.insert(lane, Told::Nothing);
        self.whose.insert(lane, session.to_owned());
        self.next += 1;
        self.next - 1
    }

    fn request(&mut self, session: &str, method: &str) {
        let id = format!("\"r{}\"", self.next);
        self.ids.insert(id.clone(), session.to_owned());
        self.post(session, &format!("{{\"id\":{id},\"method\":{method}}}"));
    }

    fn post(&mut self, session: &str, body: &str) {
        let number = self.begin(session, Lane::Post(self.next));
        self.core
            .post(self.now, number, &head(session), body.as_bytes());
    }

    fn get(&mut self, session: &str, resumes: bool) {
        let number = self.begin(session, Lane::Get(self.next));
        let last = self.last_event.get(session).cloned().filter(|_| resumes);
        let head = RequestHead {
            last_event_id: last.as_deref(),
            ..head(session)
        };
        self.core.get(number, &head);
    }

    /// A client goes away in the middle of a response.
    fn leave_one(&mut self, pick: usize) {
        let open = self
            .connections
            .iter()
            .filter(|(_, told)| **told != Told::All);
        let mut open: Vec<Lane> = open.map(|(lane, _)| *lane).collect();
        open.sort_unstable();
        if let Some(lane) = open.get(pick % open.len().max(1)).copied() {
            self.connections.remove(&lane);
            self.left.insert(lane);
            self.core.gone(lane);
        }
    }

    fn hear(&mut self) -> Option<Duration> {
        for _ in 0..100_000 {
            match self.core.poll(self.now) {
                Action::Respond { lane, head, body } => {
                    let text = String::from_utf8_lossy(&body).into_owned();
                    let session = head.session.clone();
                    self.step(lane, &Told::Nothing, Told::All);
                    assert!(
                        head.status == 202
                            || head.status >= 400
                            || !text.is_empty()
                            || self.is_delete(lane),
                        "an empty {head:?}"
                    );
                    self.sessions.extend(session);
                    self.heard(lane, &text);
                }
                Action::Begin { lane, head } => {
                    self.step(lane, &Told::Nothing, Told::Head);
                    self.sessions.extend(head.session);
                }
                Action::Send { lane, bytes } => {
                    self.step(lane, &Told::Head, Told::Head);
                    self.event(lane, &String::from_utf8_lossy(&bytes));
                }
                Action::End { lane, .. } => self.step(lane, &Told::Head, Told::All),
                Action::Wait(at) if at > self.now => return Some(at),
                Action::Wait(at) => panic!("it waits for {at:?} at {:?}", self.now),
                Action::Idle => return None,
                other => panic!("there is no {other:?}"),
            }
        }
        panic!("it never stops")
    }

    /// A DELETE is answered by a head alone.
    fn is_delete(&self, lane: Lane) -> bool {
        let number = match lane {
            Lane::Post(number) | Lane::Get(number) => number,
            Lane::Stdio => return false,
        };
        !self.ids.contains_key(&format!("\"r{number}\""))
    }

    /// A response has a head before its body, and nothing behind its end.
    fn step(&mut self, lane: Lane, from: &Told, to: Told) {
        if self.left.contains(&lane) {
            return;
        }
        match self.connections.insert(lane, to) {
            Some(told) => assert_eq!(told, *from, "{lane:?}"),
            None => panic!("nobody asked on {lane:?}"),
        }
    }

    fn event(&mut self, lane: Lane, text: &str) {
        assert!(text.ends_with("\n\n"), "{text:?}");
        let session = self.whose.get(&lane).cloned().unwrap_or_default();
        for line in text.lines() {
            if let Some(id) = line.strip_prefix("id: ") {
                self.last_event.insert(session.clone(), id.to_owned());
            }
            if let Some(data) = line.strip_prefix("data: ").filter(|data| !data.is_empty()) {
                self.heard(lane, data);
            }
        }
    }

    /// An answer is for who asked on this connection, or goes on with that on a GET.
    fn heard(&mut self, lane: Lane, text: &str) {
        if self.left.contains(&lane) {
            return;
        }
        let whole = Span::new(0, text.len());
        let part = |name: &str| member(text, whole, name).map(|value| value.span.of(text));
        let Some(id) = part("id").filter(|id| *id != "null") else {
            return;
        };
        let session = self.whose.get(&lane).cloned().unwrap_or_default();
        if part("method").is_some() {
            self.asked.push((id.to_owned(), session));
            return;
        }
        let asked = self.ids.get(id);
        assert!(asked.is_some(), "nobody asked for {text}");
        match lane {
            Lane::Post(number) => {
                assert_eq!(id, format!("\"r{number}\""), "{text}");
                assert!(self.answered.insert(id.to_owned()), "twice: {text}");
            }
            // A client that asks for what it has had already gets it again.
            _ => assert_eq!(asked, Some(&session), "{text}"),
        }
    }

    /// In the end everybody who is still there has a head at least.
    fn leave(&mut self) {
        for _ in 0..10_000 {
            while let Some(at) = self.hear() {
                self.now = at;
            }
            let Some((id, session)) = self.asked.pop() else {
                break;
            };
            self.post(&session, &format!("{{\"id\":{id},\"result\":{{}}}}"));
        }
        for (lane, told) in &self.connections {
            assert!(*told != Told::Nothing, "{lane:?} was never answered");
        }
        self.core.finish();
    }
}

fn head(session: &str) -> RequestHead<'_> {
    RequestHead {
        session: Some(session).filter(|session| !session.is_empty()),
        accepts_events: true,
        ..RequestHead::default()
    }
}
