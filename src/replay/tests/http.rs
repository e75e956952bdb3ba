//! The replayer over HTTP: statuses, framings, sessions and streams.

use super::{GREETING, INITIALIZE, INITIALIZED, answer, call, notification, request};
use crate::cassette::Cassette;
use crate::replay::http::{RequestHead, ResponseHead};
use crate::replay::{Action, Options, Replayer};
use crate::wire::lane::Lane;
use std::sync::Arc;
use std::time::Duration;

/// A recorded message: who sent it (`c`, `s` on a POST, `g` on a GET), in which exchange, and what.
pub(super) type Sent<'a> = (char, u32, &'a str);

/// A cassette over HTTP; without rows it is one of 0.4.0.
pub(super) fn cassette(session: &str, messages: &[Sent<'_>], rows: &[&str]) -> Cassette {
    let messages: Vec<String> = messages
        .iter()
        .enumerate()
        .map(|(seq, (who, exchange, payload))| {
            let (sender, channel) = match who {
                'c' => ("client", "null"),
                's' => ("server", "\"post\""),
                _ => ("server", "\"get\""),
            };
            format!(
                r#"{{"seq": {seq}, "t_offset_ms": {}, "sender": "{sender}", "kind": "request", "payload": {payload}, "exchange": {exchange}, "channel": {channel}}}"#,
                seq * 10
            )
        })
        .collect();
    let rows = match rows {
        [] => String::new(),
        rows => format!(", \"http_exchanges\": [{}]", rows.join(",")),
    };
    let text = format!(
        "{{\"format_version\": 3, \"transport\": \"http\", \"session_id\": {session}, \"messages\": [{}]{rows}}}",
        messages.join(",\n")
    );
    Cassette::parse("test", text.into_bytes()).expect("a cassette")
}

/// Clients on HTTP with a clock of their own.
pub(super) struct Web {
    pub(super) core: Replayer,
    pub(super) now: Duration,
    waits: Option<Duration>,
    next: u32,
}

impl Web {
    pub(super) fn new(cassette: Cassette) -> Web {
        Web::with(cassette, Options::default())
    }

    pub(super) fn with(cassette: Cassette, options: Options) -> Web {
        Web {
            core: Replayer::new(Arc::new(cassette), options).expect("pointers"),
            now: Duration::ZERO,
            waits: None,
            next: 0,
        }
    }

    /// What happens on all connections when this is posted.
    pub(super) fn post(&mut self, session: &str, body: &str) -> Vec<String> {
        self.post_as(&head(session), body)
    }

    pub(super) fn post_as(&mut self, head: &RequestHead<'_>, body: &str) -> Vec<String> {
        self.core.post(self.now, self.next, head, body.as_bytes());
        self.next += 1;
        self.heard()
    }

    pub(super) fn get(&mut self, session: &str, last_event_id: Option<&str>) -> Vec<String> {
        let head = RequestHead {
            last_event_id,
            ..head(session)
        };
        self.core.get(self.next, &head);
        self.next += 1;
        self.heard()
    }

    pub(super) fn delete(&mut self, session: &str) -> Vec<String> {
        self.core.delete(self.next, &head(session));
        self.next += 1;
        self.heard()
    }

    pub(super) fn gone(&mut self, lane: Lane) -> Vec<String> {
        self.core.gone(lane);
        self.heard()
    }

    /// Begins the session, and gives its id.
    pub(super) fn initialize(&mut self) -> String {
        let heard = self.post("", INITIALIZE).join("\n");
        let id = heard
            .split_whitespace()
            .find(|word| word.starts_with("mcc-"));
        let id = id
            .unwrap_or_else(|| panic!("no session: {heard}"))
            .to_owned();
        self.post(&id, INITIALIZED);
        id
    }

    pub(super) fn heard(&mut self) -> Vec<String> {
        let mut heard = Vec::new();
        self.waits = None;
        loop {
            let line = match self.core.poll(self.now) {
                Action::Respond { lane, head, body } => {
                    let body = String::from_utf8(body).expect("UTF-8");
                    format!("{}: {} {body}", number(lane), shown(&head))
                }
                Action::Begin { lane, head } => format!("{} begins {}", number(lane), shown(&head)),
                Action::Send { lane, bytes } => {
                    let bytes = String::from_utf8(bytes).expect("UTF-8");
                    let bytes = bytes.trim_end().replace("event: message\n", "");
                    format!("{} {}", number(lane), bytes.replace('\n', " "))
                }
                Action::End { lane, cut: false } => format!("{} ends", number(lane)),
                Action::End { lane, cut: true } => format!("{} is cut", number(lane)),
                Action::Abort => "aborted".to_owned(),
                Action::Forward(_) => panic!("there is no server"),
                Action::Wait(at) => {
                    assert!(at > self.now, "it waits for what is due");
                    self.waits = Some(at);
                    return heard;
                }
                Action::Idle => return heard,
            };
            heard.push(line);
        }
    }

    /// What happens in the next milliseconds.
    pub(super) fn pass(&mut self, ms: u64) -> Vec<String> {
        let end = self.now + Duration::from_millis(ms);
        let mut heard = self.heard();
        while let Some(at) = self.waits.filter(|at| *at <= end) {
            self.now = at;
            heard.extend(self.heard());
        }
        self.now = end;
        heard
    }
}

pub(super) fn head(session: &str) -> RequestHead<'_> {
    RequestHead {
        session: Some(session).filter(|session| !session.is_empty()),
        accepts_events: true,
        ..RequestHead::default()
    }
}

fn number(lane: Lane) -> u32 {
    match lane {
        Lane::Post(number) | Lane::Get(number) => number,
        Lane::Stdio => panic!("stdio"),
    }
}

fn shown(head: &ResponseHead) -> String {
    let kind = match head.content_type.as_deref() {
        Some("application/json") => " json",
        Some("text/event-stream") => " events",
        Some(other) => &format!(" {other}"),
        None => "",
    };
    let session = head.session.as_ref().map(|id| format!(" {id}"));
    format!("{}{kind}{}", head.status, session.unwrap_or_default())
}

pub(super) const ID: &str = "\"<SESSION>_0123456789ab\"";

/// The greeting as exchanges 0 and 1, and then these messages.
pub(super) fn greeted<'a>(messages: &[Sent<'a>]) -> Vec<Sent<'a>> {
    let greeting = [
        ('c', 0, INITIALIZE),
        ('s', 0, GREETING),
        ('c', 1, INITIALIZED),
    ];
    [&greeting, messages].concat()
}

const JSON_0: &str = r#"{"exchange": 0, "session": 0, "http_method": "POST", "framing": "json", "content_type": "application/json"}"#;
const NONE_1: &str =
    r#"{"exchange": 1, "session": 0, "http_method": "POST", "status": 202, "framing": "none"}"#;

#[test]
fn a_body_of_json_stays_one_and_events_stay_events() {
    let messages = greeted(
        &[
            ('c', 2, &call("1", "one", "{}", "")),
            ('s', 2, &answer("1", "a")),
            ('c', 3, &call("2", "two", "{}", "7")),
            (
                's',
                3,
                &notification("notifications/progress", r#"{"progressToken":7}"#),
            ),
            ('s', 3, &answer("2", "b")),
        ]
        .map(|(who, exchange, payload)| (who, exchange, leak(payload))),
    );
    for rows in [
        &[][..],
        &[
            JSON_0,
            NONE_1,
            r#"{"exchange": 2, "session": 0, "http_method": "POST", "framing": "json"}"#,
            r#"{"exchange": 3, "session": 0, "http_method": "POST", "framing": "sse", "content_type": "text/event-stream"}"#,
        ],
    ] {
        let mut web = Web::new(cassette(ID, &messages, rows));
        let id = web.initialize();
        assert_eq!(
            web.post(&id, &call("\"x\"", "one", "{}", "")),
            [format!("2: 200 json {}", answer("\"x\"", "a"))]
        );
        let mut heard = web.post(&id, &call("9", "two", "{}", "\"t\""));
        heard.extend(web.pass(20));
        let progress = notification("notifications/progress", r#"{"progressToken":"t"}"#);
        assert_eq!(
            heard,
            [
                "3 begins 200 events".to_owned(),
                format!("3 data: {progress}"),
                format!("3 data: {}", answer("9", "b")),
                "3 ends".to_owned(),
            ]
        );
    }
}

/// Texts of tests live as long as the test.
pub(super) fn leak(text: impl Into<String>) -> &'static str {
    Box::leak(text.into().into_boxed_str())
}

#[test]
fn notifications_and_answers_are_accepted_without_a_body() {
    let mut web = Web::new(cassette(ID, &greeted(&[]), &[]));
    let id = web.initialize();
    assert_eq!(web.post(&id, INITIALIZED), ["2: 202 "]);
    assert_eq!(
        web.post(&id, r#"{"jsonrpc":"2.0","id":5,"result":{}}"#),
        ["3: 202 "]
    );
}

#[test]
fn a_session_is_named_asked_for_and_ended() {
    let list = request("1", "tools/list");
    let listed = answer("1", "tools");
    let messages = greeted(&[('c', 2, &list), ('s', 2, &listed)]);
    let mut web = Web::new(cassette(ID, &messages, &[]));
    let first = web.initialize();
    let second = web.initialize();
    assert_ne!(first, second);
    assert_eq!(first.len(), "mcc-01234567".len());
    let again = Web::new(cassette(ID, &messages, &[])).initialize();
    assert_eq!(first, again, "ids are the same in each run");
    for id in [&first, &second] {
        let heard = web.post(id, &list).join("");
        assert!(heard.ends_with(&format!("200 json {listed}")), "{heard}");
    }
    let code = |heard: Vec<String>| heard.join("").split(' ').nth(1).map(str::to_owned);
    assert_eq!(code(web.post("", &list)).as_deref(), Some("400"));
    assert_eq!(
        code(web.post("mcc-ffffffff", &list)).as_deref(),
        Some("404")
    );
    assert_eq!(code(web.get("", None)).as_deref(), Some("400"));
    assert_eq!(code(web.get("nope", None)).as_deref(), Some("404"));
    assert_eq!(code(web.delete("")).as_deref(), Some("400"));
    assert_eq!(code(web.delete("nope")).as_deref(), Some("404"));
    assert_eq!(code(web.delete(&first)).as_deref(), Some("200"));
    assert_eq!(code(web.post(&first, &list)).as_deref(), Some("404"));
    assert_eq!(code(web.post(&second, &list)).as_deref(), Some("200"));
    assert_eq!(code(web.post(&first, INITIALIZE)).as_deref(), Some("200"));
}

#[test]
fn a_recording_without_session_ids_gives_none_and_wants_none() {
    let list = request("1", "tools/list");
    let listed = answer("1", "tools");
    let messages = greeted(&[('c', 2, &list), ('s', 2, &listed)]);
    let mut web = Web::new(cassette("null", &messages, &[]));
    assert_eq!(
        web.post("", INITIALIZE),
        [format!("0: 200 json {GREETING}")]
    );
    assert_eq!(web.post("", &list), [format!("1: 200 json {listed}")]);
    assert_eq!(web.get("", None), ["2: 405 "]);
    assert_eq!(web.delete(""), ["3: 405 "]);
}

#[test]
fn clients_without_sessions_do_not_use_up_what_others_have() {
    let one = call("1", "one", "{}", "");
    let first = answer("1", "a");
    let messages = greeted(&[('c', 2, &one), ('s', 2, &first)]);
    let mut web = Web::new(cassette("null", &messages, &[]));
    web.post("", INITIALIZE);
    web.post("", INITIALIZE);
    for number in 2..4 {
        assert_eq!(web.post("", &one), [format!("{number}: 200 json {first}")]);
    }
    assert!(web.post("", &one).join("").contains("-32001"));
}

#[test]
fn a_server_of_both_eras_is_asked_without_a_session_too() {
    let one = modern("2", "tools/call", r#""name":"one","#);
    let first = answer("2", "a");
    let messages = greeted(&[('c', 2, &one), ('s', 2, &first)]);
    let mut web = Web::new(cassette(ID, &messages, &[]));
    let head = modern_head("tools/call", Some("one"));
    assert_eq!(web.post_as(&head, &one), [format!("0: 200 json {first}")]);
    web.initialize();
    assert!(
        web.post("", &call("3", "one", "{}", ""))
            .join("")
            .starts_with("3: 400")
    );
}

#[test]
fn what_came_on_a_get_comes_after_the_request_before_it_and_waits_for_a_get() {
    let changed = notification("notifications/tools/list_changed", "{}");
    let (one, two) = (call("1", "one", "{}", ""), call("2", "two", "{}", ""));
    let (first, second) = (answer("1", "a"), answer("2", "b"));
    let messages = greeted(&[
        ('c', 3, &one),
        ('s', 3, &first),
        ('g', 2, &changed),
        ('c', 4, &two),
        ('g', 2, &changed),
        ('s', 4, &second),
    ]);
    let mut web = Web::new(cassette(ID, &messages, &[]));
    let id = web.initialize();
    assert_eq!(web.post(&id, &one), [format!("2: 200 json {first}")]);
    assert_eq!(
        web.get(&id, None),
        [
            "3 begins 200 events".to_owned(),
            format!("3 data: {changed}")
        ]
    );
    assert_eq!(
        web.post(&id, &two),
        [
            format!("3 data: {changed}"),
            format!("4: 200 json {second}")
        ]
    );
    // Whoever connects anew hears what comes then, and nothing twice.
    assert_eq!(web.gone(Lane::Get(3)), [""; 0]);
    assert_eq!(web.get(&id, None), ["5 begins 200 events"]);
    assert_eq!(web.delete(&id), ["5 ends", "6: 200 "]);
}

#[test]
fn a_question_on_a_get_holds_an_answer_up_if_somebody_heard_it() {
    let question = request("0", "roots/list");
    let reply = r#"{"jsonrpc":"2.0","id":0,"result":{"roots":[]}}"#;
    let one = call("1", "one", "{}", "");
    let first = answer("1", "a");
    let messages = greeted(&[
        ('c', 3, &one),
        ('g', 2, &question),
        ('c', 4, reply),
        ('s', 3, &first),
    ]);
    let mut web = Web::new(cassette(ID, &messages, &[]));
    let id = web.initialize();
    web.get(&id, None);
    assert_eq!(web.post(&id, &one), [format!("2 data: {question}")]);
    assert_eq!(
        web.post(&id, reply),
        ["4: 202 ".to_owned(), format!("3: 200 json {first}")]
    );
    let deaf = web.initialize();
    assert_eq!(web.post(&deaf, &one), [format!("7: 200 json {first}")]);
    let heard = web.get(&deaf, None);
    assert_eq!(
        heard,
        [
            "8 begins 200 events".to_owned(),
            format!("8 data: {question}")
        ]
    );
    assert_eq!(web.core.finish().pending_server_requests.len(), 1);
}

#[test]
fn an_ended_session_leaves_no_request_waiting_for_its_client() {
    let question = request("0", "roots/list");
    let reply = r#"{"jsonrpc":"2.0","id":0,"result":{}}"#;
    let one = call("1", "one", "{}", "");
    let first = answer("1", "a");
    let messages = greeted(&[
        ('c', 3, &one),
        ('g', 2, &question),
        ('c', 4, reply),
        ('s', 3, &first),
    ]);
    let mut web = Web::new(cassette(ID, &messages, &[]));
    let id = web.initialize();
    web.get(&id, None);
    web.post(&id, &one);
    assert_eq!(
        web.delete(&id),
        [
            "2 ends".to_owned(),
            "4: 200 ".to_owned(),
            format!("3: 200 json {first}")
        ]
    );
    assert_eq!(web.core.finish().pending_server_requests.len(), 1);
}

#[test]
fn a_question_on_the_response_to_a_post_is_answered_by_another_post() {
    let question = request("\"q\"", "sampling/createMessage");
    let reply = r#"{"jsonrpc":"2.0","id":"q","result":{}}"#;
    let one = call("1", "one", "{}", "");
    let first = answer("1", "a");
    let messages = greeted(&[
        ('c', 2, &one),
        ('s', 2, &question),
        ('c', 3, reply),
        ('s', 2, &first),
    ]);
    let mut web = Web::new(cassette(ID, &messages, &[]));
    let (id, other) = (web.initialize(), web.initialize());
    assert_eq!(
        web.post(&id, &one),
        [
            "4 begins 200 events".to_owned(),
            format!("4 data: {question}")
        ]
    );
    // The answer of another session opens nothing here.
    assert_eq!(web.post(&other, reply), ["5: 202 "]);
    assert_eq!(
        web.post(&id, reply),
        [
            "6: 202 ".to_owned(),
            format!("4 data: {first}"),
            "4 ends".to_owned()
        ]
    );
}

#[test]
fn a_get_is_refused_as_it_was_or_if_there_was_none() {
    let rows = [
        JSON_0,
        NONE_1,
        r#"{"exchange": 2, "session": 0, "http_method": "GET", "status": 404, "framing": "none"}"#,
    ];
    for (rows, expected) in [(&rows[..2], "2: 405 "), (&rows[..], "2: 404 ")] {
        let mut web = Web::new(cassette(ID, &greeted(&[]), rows));
        let id = web.initialize();
        assert_eq!(web.get(&id, None), [expected]);
    }
}

#[test]
fn a_client_that_takes_no_events_gets_none() {
    let mut web = Web::new(cassette(ID, &greeted(&[]), &[]));
    let id = web.initialize();
    let head = RequestHead {
        session: Some(&id),
        ..RequestHead::default()
    };
    web.core.get(9, &head);
    assert!(web.heard().join("").starts_with("9: 406 text/plain"));
}

#[test]
fn a_stream_that_the_server_broke_off_goes_on_where_the_client_asks() {
    let one = call("1", "one", "{}", "");
    let told = notification("notifications/message", r#"{"n":1}"#);
    let first = answer("1", "a");
    let messages = greeted(&[('c', 2, &one), ('s', 2, &told), ('g', 3, &first)]);
    let rows = [
        JSON_0,
        NONE_1,
        r#"{"exchange": 2, "session": 0, "http_method": "POST", "framing": "sse", "events": [{"id": "e0", "retry_ms": 500}, {"seq": 4, "id": "e1"}]}"#,
        r#"{"exchange": 3, "session": 0, "http_method": "GET", "framing": "sse", "last_event_id": "e1", "events": [{"seq": 5, "id": "e2"}]}"#,
    ];
    let mut web = Web::new(cassette(ID, &messages, &rows));
    let id = web.initialize();
    assert_eq!(
        web.post(&id, &one),
        [
            "2 begins 200 events".to_owned(),
            "2 id: e0 retry: 500 data:".to_owned(),
            format!("2 id: e1 data: {told}"),
            "2 ends".to_owned(),
        ]
    );
    assert_eq!(
        web.get(&id, Some("e0")),
        [
            "3 begins 200 events".to_owned(),
            format!("3 id: e1 data: {told}"),
            format!("3 id: e2 data: {first}"),
            "3 ends".to_owned(),
        ]
    );
    // What was asked for once can be asked for again, and by nobody else.
    assert_eq!(web.get(&id, Some("e2")), ["4 begins 200 events", "4 ends"]);
    let other = web.initialize();
    assert_eq!(web.get(&other, Some("e0")), ["7: 405 "]);
}

#[test]
fn a_lost_connection_loses_nothing_where_events_have_ids() {
    let one = call("1", "one", "{}", "");
    let told = notification("notifications/message", r#"{"n":1}"#);
    let question = request("5", "roots/list");
    let reply = r#"{"jsonrpc":"2.0","id":5,"result":{}}"#;
    let first = answer("1", "a");
    let messages = greeted(&[
        ('c', 2, &one),
        ('s', 2, &told),
        ('s', 2, &question),
        ('c', 3, reply),
        ('s', 2, &first),
    ]);
    let rows = [
        JSON_0,
        NONE_1,
        r#"{"exchange": 2, "session": 0, "http_method": "POST", "framing": "sse", "events": [{"seq": 4, "id": "e1"}, {"seq": 5, "id": "e2"}, {"seq": 7, "id": "e3"}]}"#,
    ];
    let mut web = Web::new(cassette(ID, &messages, &rows));
    let id = web.initialize();
    assert_eq!(web.post(&id, &one).len(), 3);
    web.gone(Lane::Post(2));
    assert_eq!(web.post(&id, reply), ["3: 202 "]);
    assert_eq!(
        web.get(&id, Some("e1")),
        [
            "4 begins 200 events".to_owned(),
            format!("4 id: e2 data: {question}"),
            format!("4 id: e3 data: {first}"),
            "4 ends".to_owned(),
        ]
    );
}

#[test]
fn a_get_that_the_server_ended_is_ended_and_goes_on() {
    let changed = notification("notifications/tools/list_changed", "{}");
    let one = call("1", "one", "{}", "");
    let first = answer("1", "a");
    let messages = greeted(&[
        ('g', 2, &changed),
        ('c', 4, &one),
        ('g', 3, &changed),
        ('s', 4, &first),
    ]);
    let rows = [
        JSON_0,
        NONE_1,
        r#"{"exchange": 2, "session": 0, "http_method": "GET", "framing": "sse", "ended": "cut"}"#,
        r#"{"exchange": 3, "session": 0, "http_method": "GET", "framing": "sse", "ended": "client_closed"}"#,
        r#"{"exchange": 4, "session": 0, "http_method": "POST", "framing": "json"}"#,
    ];
    let mut web = Web::new(cassette(ID, &messages, &rows));
    let id = web.post("", INITIALIZE).join("");
    let id = id
        .split(' ')
        .find(|word| word.starts_with("mcc-"))
        .expect("an id")
        .to_owned();
    assert_eq!(web.get(&id, None), ["1 begins 200 events"]);
    assert_eq!(
        web.post(&id, INITIALIZED),
        [
            "2: 202 ".to_owned(),
            format!("1 data: {changed}"),
            "1 is cut".to_owned()
        ]
    );
    assert_eq!(web.post(&id, &one), [format!("3: 200 json {first}")]);
    assert_eq!(
        web.get(&id, None),
        [
            "4 begins 200 events".to_owned(),
            format!("4 data: {changed}")
        ]
    );
}

#[test]
fn statuses_and_ends_without_an_answer_are_replayed_and_are_no_misses() {
    let calls: Vec<String> = ["gone", "dies", "half", "open"]
        .iter()
        .map(|tool| call("1", tool, "{}", ""))
        .collect();
    let told = notification("notifications/message", r#"{"n":1}"#);
    let refusal = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"no"}}"#;
    let messages = greeted(&[
        ('c', 2, &calls[0]),
        ('s', 2, refusal),
        ('c', 3, &calls[1]),
        ('s', 3, &told),
        ('c', 4, &calls[2]),
        ('c', 5, &calls[3]),
    ]);
    let rows = [
        JSON_0,
        NONE_1,
        r#"{"exchange": 2, "session": 0, "http_method": "POST", "status": 404, "framing": "json"}"#,
        r#"{"exchange": 3, "session": 0, "http_method": "POST", "framing": "sse", "ended": "cut"}"#,
        r#"{"exchange": 4, "session": 0, "http_method": "POST", "status": 502, "framing": "none"}"#,
        r#"{"exchange": 5, "session": 0, "http_method": "POST", "framing": "sse", "ended": "client_closed"}"#,
    ];
    let mut web = Web::new(cassette(ID, &messages, &rows));
    let id = web.initialize();
    assert_eq!(web.post(&id, &calls[0]), [format!("2: 404 json {refusal}")]);
    assert_eq!(
        web.post(&id, &calls[1]),
        [
            "3 begins 200 events".to_owned(),
            format!("3 data: {told}"),
            "3 is cut".to_owned()
        ]
    );
    assert_eq!(web.post(&id, &calls[2]), ["4: 502 "]);
    assert_eq!(web.post(&id, &calls[3]), ["5 begins 200 events"]);
    assert_eq!(web.core.finish().misses, [""; 0]);
}

#[test]
fn a_recording_asks_for_no_token() {
    let one = call("1", "one", "{}", "");
    let first = answer("1", "a");
    let messages = [
        ('c', 0, INITIALIZE),
        ('c', 1, INITIALIZE),
        ('s', 1, GREETING),
        ('c', 2, &one),
        ('c', 3, &one),
        ('s', 3, &first),
    ];
    let rows = [
        r#"{"exchange": 0, "session": 0, "http_method": "POST", "status": 401, "framing": "none"}"#,
        r#"{"exchange": 1, "session": 1, "http_method": "POST", "framing": "json"}"#,
        r#"{"exchange": 2, "session": 1, "http_method": "POST", "status": 401, "framing": "none"}"#,
        r#"{"exchange": 3, "session": 1, "http_method": "POST", "framing": "json"}"#,
    ];
    let mut web = Web::new(cassette(ID, &messages, &rows));
    let id = web.initialize();
    assert_eq!(web.post(&id, &one), [format!("2: 200 json {first}")]);
}

#[test]
fn sessions_that_were_recorded_side_by_side_are_replayed_apart() {
    let one = call("1", "one", "{}", "5");
    let progress = |n: u32| {
        notification(
            "notifications/progress",
            &format!(r#"{{"progressToken":5,"n":{n}}}"#),
        )
    };
    let (p0, p1) = (progress(0), progress(1));
    let (a0, a1) = (answer("1", "zero"), answer("1", "one"));
    let messages = [
        ('c', 0, INITIALIZE),
        ('c', 1, INITIALIZE),
        ('s', 1, GREETING),
        ('s', 0, GREETING),
        ('c', 2, &one),
        ('c', 3, &one),
        ('s', 2, &p0),
        ('s', 3, &p1),
        ('s', 3, &a1),
        ('s', 2, &a0),
    ];
    let row = |exchange: u32, session: u32| {
        let framing = if exchange < 2 { "json" } else { "sse" };
        leak(format!(
            r#"{{"exchange": {exchange}, "session": {session}, "http_method": "POST", "framing": "{framing}"}}"#
        ))
    };
    for ordering in [
        crate::matching::Ordering::PerMethod,
        crate::matching::Ordering::Strict,
    ] {
        let rows = [row(0, 0), row(1, 1), row(2, 0), row(3, 1)];
        let options = Options {
            ordering,
            ..Options::default()
        };
        let mut web = Web::with(cassette(ID, &messages, &rows), options);
        let (first, second) = (web.initialize(), web.initialize());
        let mut heard = web.post(&second, &one);
        heard.extend(web.post(&first, &one));
        heard.extend(web.pass(50));
        let of = |number: &str| {
            let lines = heard.iter().filter(|line| line.starts_with(number));
            lines.cloned().collect::<Vec<_>>().join("\n")
        };
        assert!(
            of("4 ").contains(&p1) && of("4 ").contains(&a1),
            "{heard:?}"
        );
        assert!(
            of("5 ").contains(&p0) && of("5 ").contains(&a0),
            "{heard:?}"
        );
    }
}

#[test]
fn a_recording_of_stdio_is_served_over_http() {
    let one = call("1", "one", "{}", "3");
    let progress = notification("notifications/progress", r#"{"progressToken":3}"#);
    let changed = notification("notifications/tools/list_changed", "{}");
    let told = notification("notifications/message", r#"{"n":1}"#);
    let first = answer("1", "a");
    let recorded = super::cassette(&[
        ('c', 0, INITIALIZE),
        ('s', 1, GREETING),
        ('c', 2, INITIALIZED),
        ('s', 3, &told),
        ('c', 4, &one),
        ('s', 5, &progress),
        ('s', 6, &first),
        ('s', 7, &changed),
    ]);
    let mut web = Web::new(recorded);
    let id = web.initialize();
    assert_eq!(
        web.get(&id, None),
        ["2 begins 200 events".to_owned(), format!("2 data: {told}")]
    );
    let mut heard = web.post(&id, &one);
    heard.extend(web.pass(20));
    assert_eq!(
        heard,
        [
            "3 begins 200 events".to_owned(),
            format!("3 data: {progress}"),
            format!("3 data: {first}"),
            "3 ends".to_owned(),
            format!("2 data: {changed}"),
        ]
    );
}

#[test]
fn a_batch_is_answered_by_one_body() {
    let old = INITIALIZE.replace("2025-11-25", "2025-03-26");
    let greeting = GREETING.replace("2025-11-25", "2025-03-26");
    let (one, two) = (call("1", "one", "{}", ""), call("2", "two", "{}", ""));
    let (first, second) = (answer("1", "a"), answer("2", "b"));
    let messages = [
        ('c', 0, old.as_str()),
        ('s', 0, &greeting),
        ('c', 2, &one),
        ('c', 2, &two),
        ('s', 2, &first),
        ('s', 2, &second),
    ];
    let rows = [
        JSON_0,
        r#"{"exchange": 2, "session": 0, "http_method": "POST", "framing": "json"}"#,
    ];
    let mut web = Web::new(cassette(ID, &messages, &rows));
    let id = web.initialize();
    assert_eq!(
        web.post(&id, &format!("[{one},{two}]")),
        [format!("2: 200 json [{first},{second}]")]
    );
    assert_eq!(web.post(&id, &format!("[{INITIALIZED}]")), ["3: 202 "]);
    assert!(web.post(&id, "[]").join("").starts_with("4: 400 json"));
    assert!(web.post(&id, "{").join("").starts_with("5: 400 json"));
    assert!(web.post(&id, "[1]").join("").starts_with("6: 200 json [{"));
}

#[test]
fn a_client_that_tries_the_newer_protocol_first_goes_on_at_once() {
    let mut web = Web::new(cassette(ID, &greeted(&[]), &[]));
    let heard = web.post("", &request("1", "server/discover"));
    assert!(heard.join("").starts_with("0: 404 json"), "{heard:?}");
    assert!(heard.join("").contains("-32601"), "{heard:?}");
    web.initialize();
    let heard = web.post("", &request("1", "server/discover"));
    assert!(heard.join("").starts_with("3: 404 json"), "{heard:?}");
    assert_eq!(web.core.finish().misses, [""; 0]);
}

#[test]
fn the_older_transport_has_one_stream_that_names_where_to_post() {
    let one = call("1", "one", "{}", "");
    let first = answer("1", "a");
    let messages = [
        ('c', 1, INITIALIZE),
        ('g', 0, GREETING),
        ('c', 2, INITIALIZED),
        ('c', 3, &one),
        ('g', 0, &first),
    ];
    let rows = [
        r#"{"exchange": 0, "session": 0, "http_method": "GET", "framing": "sse", "ended": "client_closed", "events": [{"event": "endpoint"}]}"#,
        r#"{"exchange": 1, "session": 0, "http_method": "POST", "status": 202, "framing": "none"}"#,
        r#"{"exchange": 2, "session": 0, "http_method": "POST", "status": 202, "framing": "none"}"#,
        r#"{"exchange": 3, "session": 0, "http_method": "POST", "status": 202, "framing": "none"}"#,
    ];
    for rows in [&rows[..], &[]] {
        let mut web = Web::new(cassette("null", &messages, rows));
        assert!(web.post("", INITIALIZE).join("").starts_with("0: 405 json"));
        let ids: Vec<String> = (0..2)
            .map(|_| {
                let opened = web.get("", None);
                assert_eq!(opened.join("").matches("event: endpoint").count(), 1);
                assert!(
                    opened[1].contains("event: endpoint data: /mcp?sessionId=mcc-"),
                    "{opened:?}"
                );
                opened[1]
                    .split("sessionId=")
                    .nth(1)
                    .expect("an id")
                    .to_owned()
            })
            .collect();
        for (at, id) in ids.iter().enumerate() {
            let head = RequestHead {
                in_url: Some(id),
                ..RequestHead::default()
            };
            let stream = at + 1;
            let posted = web.post_as(&head, INITIALIZE);
            assert!(posted[0].ends_with(": 202 "), "{posted:?}");
            assert_eq!(posted[1], format!("{stream} data: {GREETING}"));
            let posted = web.post_as(&head, &one);
            assert_eq!(posted[1], format!("{stream} data: {first}"));
            let missed = web.post_as(&head, &call("7", "none", "{}", ""));
            assert!(
                missed[1].starts_with(&format!("{stream} data: ")),
                "{missed:?}"
            );
        }
    }
}

const MODERN: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;

fn modern_head<'a>(method: &'a str, name: Option<&'a str>) -> RequestHead<'a> {
    RequestHead {
        version: Some("2026-07-28"),
        method: Some(method),
        name,
        accepts_events: true,
        ..RequestHead::default()
    }
}

fn modern(id: &str, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{params}{MODERN}}}}}"#)
}

#[test]
fn headers_of_the_newer_protocol_have_to_say_what_the_body_says() {
    let one = modern("1", "tools/call", r#""name":"wörk","#);
    let first = answer("1", "a");
    let mut web = Web::new(cassette("null", &[('c', 0, &one), ('s', 0, &first)], &[]));
    let right = modern_head("tools/call", Some("=?base64?d8O2cms=?="));
    for (at, wrong) in [
        RequestHead {
            version: None,
            ..right
        },
        RequestHead {
            version: Some("2025-11-25"),
            ..right
        },
        RequestHead {
            method: None,
            ..right
        },
        RequestHead {
            method: Some("tools/list"),
            ..right
        },
        RequestHead {
            name: None,
            ..right
        },
        RequestHead {
            name: Some("work"),
            ..right
        },
    ]
    .iter()
    .enumerate()
    {
        let heard = web.post_as(wrong, &one).join("");
        assert!(heard.starts_with(&format!("{at}: 400 json")), "{heard}");
        assert!(
            heard.contains("\"id\":1") && heard.contains("-32020"),
            "{heard}"
        );
    }
    assert_eq!(web.post_as(&right, &one), [format!("6: 200 json {first}")]);
    assert_eq!(web.get("", None), ["7: 405 "]);
    assert_eq!(web.delete(""), ["8: 405 "]);
    let heard = web.post("", INITIALIZE).join("");
    assert!(
        heard.starts_with("9: 400 json") && heard.contains("2026-07-28"),
        "{heard}"
    );
}

#[test]
fn a_subscription_stays_open_and_hears_what_followed_other_requests() {
    let id_in = |id: &str| format!(r#""io.modelcontextprotocol/subscriptionId":{id}"#);
    let listen = modern("1", "subscriptions/listen", "");
    let said =
        |method: &str, id: &str| notification(method, &format!(r#"{{"_meta":{{{}}}}}"#, id_in(id)));
    let acknowledged = said("notifications/subscriptions/acknowledged", "1");
    let changed = said("notifications/tools/list_changed", "1");
    let one = modern("2", "tools/call", r#""name":"one","#);
    let first = answer("2", "a");
    let messages = [
        ('c', 0, listen.as_str()),
        ('s', 0, &acknowledged),
        ('c', 1, &one),
        ('s', 1, &first),
        ('s', 0, &changed),
    ];
    let rows = [
        r#"{"exchange": 0, "http_method": "POST", "framing": "sse", "ended": "client_closed"}"#,
        r#"{"exchange": 1, "http_method": "POST", "framing": "json"}"#,
    ];
    for rows in [&rows[..], &[]] {
        let mut web = Web::new(cassette("null", &messages, rows));
        let heard = web.post_as(
            &modern_head("subscriptions/listen", None),
            &listen.replace("\"id\":1", "\"id\":\"live\""),
        );
        let acknowledged = said("notifications/subscriptions/acknowledged", "\"live\"");
        assert_eq!(
            heard,
            [
                "0 begins 200 events".to_owned(),
                format!("0 data: {acknowledged}")
            ]
        );
        let call = modern_head("tools/call", Some("one"));
        let changed = said("notifications/tools/list_changed", "\"live\"");
        assert_eq!(
            web.post_as(&call, &one),
            [format!("1: 200 json {first}"), format!("0 data: {changed}")]
        );
        assert_eq!(web.gone(Lane::Post(0)), [""; 0]);
    }
}

#[test]
fn a_request_whose_client_is_gone_is_taken_back_since_2026() {
    let one = modern("2", "tools/call", r#""name":"one","_","#).replace("\"_\",", "");
    let told = notification("notifications/message", r#"{"n":1}"#);
    let first = answer("2", "a");
    let messages = [('c', 0, one.as_str()), ('s', 0, &told), ('s', 0, &first)];
    let mut web = Web::with(cassette("null", &messages, &[]), super::paced(1.0, 0));
    let call = modern_head("tools/call", Some("one"));
    assert_eq!(web.post_as(&call, &one), ["0 begins 200 events"]);
    assert_eq!(web.gone(Lane::Post(0)), [""; 0]);
    assert_eq!(web.pass(1_000), [""; 0]);
}

#[test]
fn a_request_that_is_taken_back_holds_no_response_open() {
    let one = call("1", "one", "{}", "");
    let first = answer("1", "a");
    let messages = greeted(&[('c', 2, &one), ('s', 2, &first)]);
    let mut web = Web::with(cassette(ID, &messages, &[]), super::paced(1.0, 0));
    let heard = web.post("", INITIALIZE);
    assert_eq!(heard, [""; 0]);
    let id = web.pass(10).join("");
    let id = id
        .split(' ')
        .find(|word| word.starts_with("mcc-"))
        .expect("an id")
        .to_owned();
    assert_eq!(web.post(&id, &one), [""; 0]);
    let cancel = notification("notifications/cancelled", r#"{"requestId":1}"#);
    assert_eq!(web.post(&id, &cancel), ["2: 202 ", "1: 202 "]);
    assert_eq!(web.pass(1_000), [""; 0]);
}
