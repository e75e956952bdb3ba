//! Statuses and framings of what is answered.

use super::{ID, JSON_0, NONE_1, Web, cassette, greeted, leak};
use crate::replay::tests::{
    GREETING, INITIALIZE, INITIALIZED, answer, call, notification, request,
};

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
fn an_answer_whose_recorded_status_has_no_body_is_given_all_the_same() {
    let one = call("1", "one", "{}", "");
    let first = answer("1", "a");
    let messages = greeted(&[('c', 2, &one), ('s', 2, &first)]);
    for status in [103, 204, 205, 304] {
        let row = format!(
            r#"{{"exchange": 2, "session": 0, "http_method": "POST", "status": {status}, "framing": "json"}}"#
        );
        let mut web = Web::new(cassette(ID, &messages, &[JSON_0, NONE_1, &row]));
        let id = web.initialize();
        assert_eq!(web.post(&id, &one), [format!("2: 200 json {first}")]);
    }
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
fn a_recording_of_stdio_is_served_over_http() {
    let one = call("1", "one", "{}", "3");
    let progress = notification("notifications/progress", r#"{"progressToken":3}"#);
    let changed = notification("notifications/tools/list_changed", "{}");
    let told = notification("notifications/message", r#"{"n":1}"#);
    let first = answer("1", "a");
    let recorded = crate::replay::tests::cassette(&[
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
