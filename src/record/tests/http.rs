//! Exchanges over HTTP, with simulated time.

use super::{finished, recorder, with_rules};
use crate::cassette::exchanges::{Ended, Framing, HttpExchange, StreamEvent};
use crate::cassette::{Cassette, Channel, Kind, Sender, Transport};
use crate::record::exchange::{Answered, Asked, Step};
use crate::record::recorder::{Options, Recorder};
use crate::redact::{Redactor, Rules};
use crate::wire::lane::Lane;
use proptest::prelude::*;
use std::time::Duration;

const INITIALIZE: &str =
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#;
const GREETING: &str = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","serverInfo":{"name":"s","version":"1"}}}"#;
const JSON: &str = "application/json";
const SSE: &str = "text/event-stream; charset=utf-8";

/// A recorder that is told of exchanges.
struct Http {
    recorder: Recorder,
    milliseconds: u64,
}

impl Http {
    fn new() -> Http {
        Http::of(recorder(Transport::Http, 1000))
    }

    fn of(recorder: Recorder) -> Http {
        Http {
            recorder,
            milliseconds: 0,
        }
    }

    fn now(&mut self) -> Duration {
        self.milliseconds += 1;
        Duration::from_millis(self.milliseconds)
    }

    fn step(&mut self, number: u32, step: Step) {
        let at = self.now();
        self.recorder.step(at, number, step);
    }

    fn asked(&mut self, number: u32, asked: Asked) {
        self.step(number, Step::Asked(Box::new(asked)));
    }

    fn bytes(&mut self, lane: Lane, sender: Sender, bytes: &str) {
        let at = self.now();
        self.recorder.observe(at, sender, lane, bytes.as_bytes());
    }

    /// A request of that method with a whole body.
    fn ask(&mut self, number: u32, method: &str, session: Option<&str>, body: &str) {
        self.asked(
            number,
            Asked {
                http_method: method.to_owned(),
                session: session.map(str::to_owned),
                ..Asked::default()
            },
        );
        self.bytes(Lane::Post(number), Sender::Client, body);
        self.step(number, Step::Said);
    }

    fn answered(&mut self, number: u32, status: u16, kind: &str, session: Option<&str>) {
        let answered = Answered {
            status,
            content_type: Some(kind.to_owned()).filter(|kind| !kind.is_empty()),
            session: session.map(str::to_owned),
            ..Answered::default()
        };
        self.step(number, Step::Answered(Box::new(answered)));
    }

    /// A whole answer.
    fn answer(&mut self, number: u32, status: u16, kind: &str, body: &str) {
        self.answered(number, status, kind, None);
        self.bytes(Lane::Post(number), Sender::Server, body);
        self.step(number, Step::Ended(Ended::Complete));
    }

    /// A session that begins with that id.
    fn begin(&mut self, number: u32, session: &str) {
        self.ask(number, "POST", None, INITIALIZE);
        self.answered(number, 200, JSON, Some(session));
        self.bytes(Lane::Post(number), Sender::Server, GREETING);
        self.step(number, Step::Ended(Ended::Complete));
    }

    fn finished(self) -> Cassette {
        finished(self.recorder)
    }
}

fn post() -> Asked {
    Asked {
        http_method: "POST".to_owned(),
        ..Asked::default()
    }
}

fn row(number: u32) -> HttpExchange {
    HttpExchange {
        exchange: number,
        session: Some(0),
        http_method: "POST".to_owned(),
        status: 200,
        framing: Framing::Json,
        content_type: Some(JSON.to_owned()),
        ended: Ended::Complete,
        last_event_id: None,
        events: Vec::new(),
    }
}

fn empty(number: u32, method: &str, status: u16) -> HttpExchange {
    HttpExchange {
        http_method: method.to_owned(),
        status,
        framing: Framing::None,
        content_type: None,
        ..row(number)
    }
}

fn event(seq: Option<i64>, id: &str, retry_ms: Option<u64>) -> StreamEvent {
    StreamEvent {
        seq,
        id: Some(id.to_owned()),
        retry_ms,
        event: None,
    }
}

fn stream(number: u32, method: &str, ended: Ended, events: Vec<StreamEvent>) -> HttpExchange {
    HttpExchange {
        http_method: method.to_owned(),
        framing: Framing::Sse,
        content_type: Some(SSE.to_owned()),
        ended,
        events,
        ..row(number)
    }
}

/// Sender, kind, exchange and channel of each message.
fn seen(cassette: &Cassette) -> Vec<(Sender, Kind, Option<u32>, Option<Channel>)> {
    cassette
        .messages()
        .map(|m| (m.sender(), m.kind(), m.exchange(), m.channel()))
        .collect()
}

#[test]
fn bodies_that_are_half_there_are_bounded_in_sum_and_told_by_length_and_hash_beyond_that() {
    let mut http = Http::new();
    http.recorder.bound(800);
    let long = |id: u32| {
        let text = "x".repeat(300);
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{text}"}}"#)
    };
    for number in 0..3 {
        http.asked(number, post());
        let body = long(number);
        let half = &body[..body.len() - 2];
        http.bytes(Lane::Post(number), Sender::Client, half);
    }
    // The third had no room, and gives its own back.
    for number in 0..3 {
        http.bytes(Lane::Post(number), Sender::Client, "\"}");
        http.step(number, Step::Said);
    }
    http.asked(3, post());
    http.bytes(Lane::Post(3), Sender::Client, &long(3));
    http.step(3, Step::Said);
    let notices = http.recorder.take_notices().join("\n");
    assert_eq!(notices.matches("half sent").count(), 1, "{notices}");
    let cassette = http.finished();
    let kinds: Vec<Kind> = cassette.messages().map(|message| message.kind()).collect();
    assert_eq!(
        kinds,
        [Kind::Request, Kind::Request, Kind::Raw, Kind::Request]
    );
}

#[test]
fn events_without_a_message_are_bounded_in_sum_and_messages_are_kept_beyond_that() {
    let mut http = Http::new();
    http.recorder.bound(1000);
    http.asked(
        0,
        Asked {
            http_method: "GET".to_owned(),
            ..Asked::default()
        },
    );
    http.answered(0, 200, SSE, None);
    for id in 0..1000 {
        http.bytes(
            Lane::Get(0),
            Sender::Server,
            &format!("id: {id}\ndata:\n\n"),
        );
    }
    let last = "id: last\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"m\"}\n\n";
    http.bytes(Lane::Get(0), Sender::Server, last);
    let notices = http.recorder.take_notices().join("\n");
    assert_eq!(notices.matches("without a message").count(), 1, "{notices}");
    let cassette = http.finished();
    let rows = cassette.exchanges();
    let events = &rows[0].events;
    assert!((2..100).contains(&events.len()), "{}", events.len());
    assert_eq!(events[0].id.as_deref(), Some("0"));
    let last = events.last().unwrap();
    assert_eq!((last.id.as_deref(), last.seq), (Some("last"), Some(0)));
}

#[test]
fn a_request_that_was_redirected_is_nobody_left_without_an_answer() {
    let mut http = Http::new();
    http.ask(
        0,
        "POST",
        None,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
    );
    http.answer(0, 307, "", "");
    assert_eq!(http.recorder.unanswered(), 0);
}

#[test]
fn a_session_over_http_has_its_messages_and_a_row_for_each_exchange() {
    let mut http = Http::new();
    http.begin(0, "7f3b-session-one");
    let session = Some("7f3b-session-one");
    http.ask(
        1,
        "POST",
        session,
        r#"{"method":"notifications/initialized"}"#,
    );
    http.answer(1, 202, "text/plain", "Accepted");
    http.ask(2, "GET", session, "");
    http.answered(2, 200, SSE, None);
    http.ask(3, "POST", session, r#"{"id":1,"method":"tools/list"}"#);
    http.answered(3, 200, SSE, None);
    http.bytes(
        Lane::Post(3),
        Sender::Server,
        "id: p\nretry: 500\ndata: \n\n: ping\n\nid: a\ndata: {\"id\":1,\ndata: \"result\":{}}\n\n",
    );
    http.bytes(Lane::Get(2), Sender::Server, "data: {\"method\":\"n\"}\n\n");
    http.step(3, Step::Ended(Ended::Complete));
    http.ask(4, "DELETE", session, "");
    http.answer(4, 200, "", "");
    let unanswered = http.recorder.unanswered();
    let cassette = http.finished();
    assert_eq!(unanswered, 0);
    let (client, server) = (Sender::Client, Sender::Server);
    assert_eq!(
        seen(&cassette),
        [
            (client, Kind::Request, Some(0), None),
            (server, Kind::Response, Some(0), Some(Channel::Post)),
            (client, Kind::Notification, Some(1), None),
            (client, Kind::Request, Some(3), None),
            (server, Kind::Response, Some(3), Some(Channel::Post)),
            (server, Kind::Notification, Some(2), Some(Channel::Get)),
        ]
    );
    assert_eq!(
        cassette.exchanges(),
        [
            row(0),
            empty(1, "POST", 202),
            // It was open when the recording ended.
            stream(2, "GET", Ended::ClientClosed, Vec::new()),
            stream(
                3,
                "POST",
                Ended::Complete,
                vec![event(None, "p", Some(500)), event(Some(4), "a", None)]
            ),
            empty(4, "DELETE", 200),
        ]
    );
    assert!(!cassette.text.contains("7f3b"), "{}", cassette.text);
    assert_eq!(cassette.protocol_version().as_deref(), Some("2025-11-25"));
}

#[test]
fn sessions_are_counted_by_their_first_initialize() {
    let mut http = Http::new();
    http.ask(
        0,
        "POST",
        Some("an-older-session"),
        r#"{"id":9,"method":"ping"}"#,
    );
    http.answer(0, 404, JSON, "");
    http.begin(1, "session-number-one");
    http.begin(2, "session-number-two");
    for (number, session) in [
        (3, Some("session-number-one")),
        (4, Some("session-number-two")),
        (5, None),
        (6, Some("who-is-this-then")),
    ] {
        http.ask(number, "POST", session, r#"{"id":1,"method":"ping"}"#);
        http.answer(number, 200, JSON, r#"{"id":1,"result":{}}"#);
    }
    let cassette = http.finished();
    let sessions: Vec<_> = cassette.exchanges().iter().map(|row| row.session).collect();
    let of = |sessions: [u32; 7]| sessions.map(Some).to_vec();
    assert_eq!(sessions, of([0, 0, 1, 0, 1, 1, 1]));
    assert!(cassette.text.contains("\"session_id\": \"<SESSION>_"));
}

#[test]
fn requests_of_the_modern_era_have_no_session() {
    let mut http = Http::new();
    let discover = r#"{"id":0,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;
    http.ask(0, "POST", None, discover);
    http.answer(0, 200, JSON, r#"{"id":0,"result":{"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"m","version":"2"}}}}"#);
    http.asked(
        1,
        Asked {
            http_method: "POST".to_owned(),
            version: Some("2026-07-28".to_owned()),
            ..Asked::default()
        },
    );
    http.bytes(Lane::Post(1), Sender::Client, r#"{"id":1,"method":"nope"}"#);
    http.step(1, Step::Said);
    let error = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}"#;
    http.answer(1, 404, JSON, error);
    let cassette = http.finished();
    assert_eq!(
        cassette.exchanges(),
        [
            HttpExchange {
                session: None,
                ..row(0)
            },
            HttpExchange {
                session: None,
                status: 404,
                ..row(1)
            },
        ]
    );
    assert_eq!(
        cassette.messages().len(),
        4,
        "an error of the protocol is a message"
    );
    assert_eq!(cassette.protocol_version().as_deref(), Some("2026-07-28"));
    assert_eq!(
        cassette.server_info(),
        Some(("m".to_owned(), "2".to_owned()))
    );
}

#[test]
fn what_is_no_message_leaves_a_row_and_nothing_else() {
    let mut http = Http::new();
    http.ask(0, "GET", None, "");
    http.answer(
        0,
        405,
        JSON,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no"}}"#,
    );
    http.ask(1, "POST", None, r#"{"id":1,"method":"ping"}"#);
    http.answer(1, 401, JSON, r#"{"error":"invalid_token"}"#);
    http.ask(2, "POST", None, r#"{"id":1,"method":"ping"}"#);
    http.answer(2, 404, "text/html", "<h1>Not found</h1>");
    http.ask(3, "POST", None, r#"{"id":1,"method":"ping"}"#);
    http.answer(3, 307, "", "moved");
    http.ask(4, "DELETE", None, "");
    http.answer(4, 405, JSON, "{}");
    // Of a success every body is kept.
    http.ask(5, "POST", None, r#"{"id":1,"method":"ping"}"#);
    http.answer(5, 200, "text/html", "<h1>Welcome</h1>");
    http.ask(6, "POST", None, r#"{"id":1,"method":"ping"}"#);
    http.answer(6, 200, JSON, "");
    let cassette = http.finished();
    let html = HttpExchange {
        content_type: Some("text/html".to_owned()),
        ..row(5)
    };
    assert_eq!(
        cassette.exchanges(),
        [
            empty(0, "GET", 405),
            empty(1, "POST", 401),
            empty(2, "POST", 404),
            empty(3, "POST", 307),
            empty(4, "DELETE", 405),
            html,
            empty(6, "POST", 200),
        ]
    );
    let kinds: Vec<Kind> = cassette.messages().map(|message| message.kind()).collect();
    let asked = Kind::Request;
    assert_eq!(kinds, [asked, asked, asked, asked, Kind::Raw, asked]);
}

#[test]
fn how_a_stream_ended_is_told_and_half_an_event_is_none() {
    let mut http = Http::new();
    for (number, ended) in [(0, Ended::Cut), (1, Ended::ClientClosed)] {
        let body = format!("{{\"id\":{number},\"method\":\"tools/call\"}}");
        http.ask(number, "POST", None, &body);
        http.answered(number, 200, SSE, None);
        let event = "id: 1\ndata: {\"method\":\"n\"}\n\nid: 2\ndata: {\"id\":";
        http.bytes(Lane::Post(number), Sender::Server, event);
        http.step(number, Step::Ended(ended));
    }
    http.ask(2, "POST", None, r#"{"id":2,"method":"tools/call"}"#);
    http.answered(2, 200, JSON, None);
    http.bytes(Lane::Post(2), Sender::Server, "{\"id\":2,\"res");
    http.step(2, Step::Ended(Ended::Cut));
    // Whoever leaves does not wait for an answer; one that was cut off may come elsewhere.
    assert_eq!(http.recorder.unanswered(), 2);
    http.asked(
        3,
        Asked {
            http_method: "GET".to_owned(),
            last_event_id: Some("1".to_owned()),
            ..Asked::default()
        },
    );
    http.answered(3, 200, SSE, None);
    http.bytes(
        Lane::Get(3),
        Sender::Server,
        "data: {\"id\":0,\"result\":{}}\n\n",
    );
    assert_eq!(http.recorder.unanswered(), 1);
    http.step(3, Step::Ended(Ended::Complete));
    let cassette = http.finished();
    let rows = cassette.exchanges();
    let ended: Vec<Ended> = rows.iter().map(|row| row.ended).collect();
    assert_eq!(
        ended,
        [Ended::Cut, Ended::ClientClosed, Ended::Cut, Ended::Complete]
    );
    assert_eq!(rows[0].events.len(), 1);
    assert_eq!(rows[3].last_event_id.as_deref(), Some("1"));
    let raw: Vec<_> = cassette
        .messages()
        .filter(|m| m.kind() == Kind::Raw)
        .collect();
    assert_eq!(raw.len(), 1, "half of a JSON body is kept as it came");
    assert_eq!(raw[0].payload(), r#""{\"id\":2,\"res""#);
}

#[test]
fn a_client_that_leaves_when_it_has_its_answer_does_not_leave_early() {
    let mut http = Http::new();
    for (number, method, said) in [
        (0, "tools/call", "data: {\"id\":7,\"result\":{}}\n\n"),
        (1, "tools/call", "data: {\"method\":\"n\"}\n\n"),
        (2, "subscriptions/listen", "data: {\"method\":\"n\"}\n\n"),
    ] {
        let body = format!("{{\"id\":7,\"method\":\"{method}\"}}");
        http.ask(number, "POST", None, &body);
        http.answered(number, 200, SSE, None);
        http.bytes(Lane::Post(number), Sender::Server, said);
        http.step(number, Step::Ended(Ended::ClientClosed));
    }
    let rows = http.finished().exchanges();
    let ended: Vec<Ended> = rows.iter().map(|row| row.ended).collect();
    assert_eq!(
        ended,
        [Ended::Complete, Ended::ClientClosed, Ended::ClientClosed]
    );
}

#[test]
fn bodies_are_one_message_or_batch_whatever_their_lines_are_and_have_a_limit() {
    let mut http = Http::new();
    http.ask(
        0,
        "POST",
        None,
        "[\n{\"id\":1,\"method\":\"a\"},\n{\"method\":\"b\"}\n]\n",
    );
    http.answer(0, 200, JSON, "{\n\"id\":1,\n\"result\":{}\n}\n");
    http.ask(1, "POST", None, "not JSON\nat all");
    let long = format!("{{\"id\":\"{}\"}}", "x".repeat(1000));
    http.answer(1, 200, JSON, &long);
    http.ask(2, "POST", None, "");
    http.answered(2, 200, SSE, None);
    http.bytes(Lane::Post(2), Sender::Server, &format!("data: {long}\n\n"));
    http.step(2, Step::Ended(Ended::Complete));
    let notices = http.recorder.take_notices();
    let cassette = http.finished();
    let payloads: Vec<String> = cassette
        .messages()
        .map(|message| message.payload().split_whitespace().collect())
        .collect();
    let hash = "\"mcp-cassette:amessageof1009bytes,sha256";
    assert_eq!(payloads[0], r#"{"id":1,"method":"a"}"#);
    assert_eq!(payloads[2], r#"{"id":1,"result":{}}"#);
    assert_eq!(payloads[3], r#""notJSON\natall""#);
    assert!(
        payloads[4].starts_with(hash) && payloads[5] == payloads[4],
        "{payloads:?}"
    );
    assert_eq!(payloads.len(), 6);
    assert_eq!(notices.len(), 2);
    let batch: Vec<_> = cassette.messages().map(|message| message.batch()).collect();
    assert_eq!(batch, [Some(0), Some(0), None, None, None, None]);
}

#[test]
fn what_cannot_be_read_is_told_in_its_place() {
    let mut http = Http::new();
    http.ask(0, "POST", None, r#"{"id":1,"method":"a"}"#);
    http.answered(0, 200, JSON, None);
    http.bytes(Lane::Post(0), Sender::Server, "{\"id\"");
    let why = "gzip: it is broken".to_owned();
    http.step(0, Step::Unreadable(Sender::Server, why));
    http.bytes(Lane::Post(0), Sender::Server, "more");
    http.step(0, Step::Ended(Ended::Complete));
    assert!(http.recorder.take_notices()[0].contains("gzip: it is broken"));
    let cassette = http.finished();
    let last = cassette.messages().last().unwrap();
    assert!(
        last.payload().contains("could not be read (gzip"),
        "{}",
        last.payload()
    );
}

#[test]
fn the_older_transport_has_its_sessions_by_the_addresses_that_its_streams_name() {
    let mut http = Http::new();
    for (number, id) in [(0, "0123456789abcdef-one"), (1, "0123456789abcdef-two")] {
        http.ask(number, "GET", None, "");
        http.answered(number, 200, SSE, None);
        let event = format!("event: endpoint\ndata: http://up/m?sessionId={id}\n\n");
        http.bytes(Lane::Get(number), Sender::Server, &event);
    }
    for (number, id, body) in [
        (2, "0123456789abcdef-two", INITIALIZE),
        (3, "0123456789abcdef-one", INITIALIZE),
        (4, "0123456789abcdef-two", r#"{"id":1,"method":"ping"}"#),
    ] {
        http.asked(
            number,
            Asked {
                http_method: "POST".to_owned(),
                endpoint: Some(format!("/m?sessionId={id}")),
                ..Asked::default()
            },
        );
        http.bytes(Lane::Post(number), Sender::Client, body);
        http.step(number, Step::Said);
        http.answer(number, 202, "", "Accepted");
    }
    http.bytes(
        Lane::Get(1),
        Sender::Server,
        "event: message\ndata: {\"id\":1,\"result\":{}}\n\n",
    );
    http.bytes(Lane::Get(1), Sender::Server, "event: odd\ndata: text\n\n");
    let cassette = http.finished();
    let rows = cassette.exchanges();
    let sessions: Vec<_> = rows.iter().map(|row| row.session).collect();
    assert_eq!(sessions, [1, 0, 0, 1, 0].map(Some));
    let names: Vec<_> = rows[1]
        .events
        .iter()
        .map(|event| event.event.as_deref())
        .collect();
    assert_eq!(names, [Some("endpoint"), Some("odd")]);
    assert!(
        !cassette.text.contains("0123456789abcdef"),
        "{}",
        cassette.text
    );
}

#[test]
fn what_passed_in_headers_and_is_said_again_is_not_recorded() {
    let none = Rules {
        defaults: false,
        ..Rules::default()
    };
    let mut http = Http::of(with_rules(&none, Transport::Http, 10_000));
    http.begin(0, "7f3b-session-one");
    let asked = Asked {
        http_method: "POST".to_owned(),
        session: Some("7f3b-session-one".to_owned()),
        secrets: vec!["tok-with-\"-in-it".to_owned()],
        ..Asked::default()
    };
    http.asked(1, asked);
    http.bytes(
        Lane::Post(1),
        Sender::Client,
        r#"{"id":"7f3b-session-one","method":"a"}"#,
    );
    http.step(1, Step::Said);
    http.answered(1, 200, SSE, None);
    http.bytes(
        Lane::Post(1),
        Sender::Server,
        "id: 7f3b-session-one/1\ndata: {\"id\":\"7f3b-session-one\",\"result\":{\"t\":\"for 7f3b-session-one: tok-with-\\\"-in-it\"}}\n\n",
    );
    http.step(1, Step::Ended(Ended::Complete));
    let cassette = http.finished();
    assert!(!cassette.text.contains("7f3b-session"), "{}", cassette.text);
    assert!(!cassette.text.contains("tok-with"), "{}", cassette.text);
    let marked: Vec<bool> = cassette.messages().map(|m| m.redacted()).collect();
    assert_eq!(marked, [false, false, true, true]);
    let stand_in = cassette.exchanges()[1].events[0].id.clone().unwrap();
    assert!(
        stand_in.starts_with("<SESSION>_") && stand_in.ends_with("/1"),
        "{stand_in}"
    );
}

#[test]
fn a_recording_that_goes_on_counts_on_and_keeps_the_rows_that_there_are() {
    let mut http = Http::new();
    http.begin(0, "session-number-one");
    http.ask(1, "DELETE", Some("session-number-one"), "");
    http.answer(1, 204, "", "");
    let earlier = http.finished();
    let mut http = Http::of(Recorder::new(Options {
        transport: Transport::Http,
        recorded_at: "2027-01-01T00:00:00.000000Z".to_owned(),
        server_url: None,
        redactor: Redactor::new(&Rules::default()).unwrap(),
        max_message: 1000,
        earlier: Some(earlier.unclosed()),
    }));
    http.begin(0, "session-number-two");
    let cassette = http.finished();
    let rows = cassette.exchanges();
    let numbers: Vec<_> = rows.iter().map(|row| (row.exchange, row.session)).collect();
    assert_eq!(numbers, [(0, Some(0)), (1, Some(0)), (2, Some(1))]);
    let exchanges: Vec<_> = cassette.messages().map(|m| m.exchange()).collect();
    assert_eq!(exchanges, [0, 0, 2, 2].map(Some));
    assert!(!earlier.unclosed().ending.text(true, false).is_empty());
}

#[test]
fn a_content_type_goes_through_the_rules() {
    let mut http = Http::new();
    let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    http.ask(0, "POST", None, r#"{"id":0,"method":"ping"}"#);
    http.answered(0, 200, &format!("{JSON}; charset=utf-8; t={token}"), None);
    http.bytes(Lane::Post(0), Sender::Server, r#"{"id":0,"result":{}}"#);
    http.step(0, Step::Ended(Ended::Complete));
    let cassette = http.finished();
    let kind = cassette.exchanges()[0].content_type.clone();
    let kind = kind.expect("a content type");
    assert!(
        kind.starts_with("application/json; charset=utf-8; t="),
        "{kind}"
    );
    assert!(!cassette.text.contains(&token), "{kind}");
}

#[test]
fn what_is_written_while_it_runs_has_no_rows() {
    let mut http = Http::new();
    http.begin(0, "session-number-one");
    let ending = http.recorder.ending().text(true, false);
    assert!(!ending.contains("http_exchanges"), "{ending}");
    let last = http.recorder.last_ending().text(true, false);
    assert!(last.contains("http_exchanges"), "{last}");
}

proptest! {
    #[test]
    fn any_order_of_steps_is_recorded_and_loads(
        steps in proptest::collection::vec((0_u32..4, 0_usize..12), 0..60),
    ) {
        let mut http = Http::new();
        // No number is given twice.
        let mut numbers = [0, 1, 2, 3];
        for (slot, step) in steps {
            let slot = slot as usize;
            if step < 2 {
                numbers[slot] += 4;
            }
            let number = numbers[slot];
            let lane = if slot == 3 { Lane::Get(number) } else { Lane::Post(number) };
            match step {
                0 | 1 => http.asked(number, Asked {
                    http_method: if slot == 3 { "GET" } else { "POST" }.to_owned(),
                    session: (step == 1).then(|| "a-session-of-some".to_owned()),
                    ..Asked::default()
                }),
                2 => http.bytes(lane, Sender::Client, INITIALIZE),
                3 => http.bytes(lane, Sender::Client, "{"),
                4 => http.step(number, Step::Said),
                5 => http.answered(number, 200, SSE, Some("a-session-of-some")),
                6 => http.answered(number, 200, JSON, None),
                7 => http.bytes(lane, Sender::Server, GREETING),
                8 => http.bytes(lane, Sender::Server, "id: 1\ndata: {\"method\":\"a\"}\n\n"),
                9 => http.bytes(lane, Sender::Server, "event: endpoint\ndata: /m?s=012345678\n\n"),
                10 => http.step(number, Step::Unreadable(Sender::Server, "why".to_owned())),
                _ => http.step(number, Step::Ended(Ended::Cut)),
            }
        }
        let cassette = http.finished();
        prop_assert!(!cassette.text.contains("a-session-of-some"));
    }
}
