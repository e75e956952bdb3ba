//! Faults over HTTP, on a body of JSON and on a stream of events.

use super::http::{ID, Web, cassette, greeted};
use super::{INITIALIZE, answer, call, notification, request};
use crate::cassette::Transport;
use crate::replay::Options;
use crate::replay::faults::Overlay;

/// What a call of the tool `json`, answered by a body, and one of `events` bring.
fn played(fault: &str) -> (Web, Vec<String>, Vec<String>) {
    let (one, two) = (call("1", "json", "{}", ""), call("2", "events", "{}", ""));
    let told = notification("notifications/message", r#"{"n":1}"#);
    let (first, second) = (answer("1", "a"), answer("2", "b"));
    let messages = greeted(&[
        ('c', 2, &one),
        ('s', 2, &first),
        ('c', 3, &two),
        ('s', 3, &told),
        ('s', 3, &second),
    ]);
    let text = format!(r#"{{"faults": [{{"target": {{"method": "tools/call"}}, {fault}}}]}}"#);
    let faults = Overlay::parse("faults", text.as_bytes(), Transport::Http).expect("an overlay");
    let options = Options {
        faults,
        ..Options::default()
    };
    let mut web = Web::with(cassette(ID, &messages, &[]), options);
    let id = web.initialize();
    let mut heard = web.post(&id, &one);
    heard.extend(web.pass(100));
    let mut events = web.post(&id, &two);
    events.extend(web.pass(100));
    (web, heard, events)
}

const TOLD: &str = r#"3 data: {"jsonrpc":"2.0","method":"notifications/message","params":{"n":1}}"#;
const FIRST: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"content":"a"}}"#;
const SECOND: &str = r#"{"jsonrpc":"2.0","id":2,"result":{"content":"b"}}"#;

#[test]
fn a_delay_comes_before_the_answer_alone() {
    let (_, json, events) = played(r#""type": "delay", "params": {"ms": 50}"#);
    assert_eq!(json, [format!("2: 200 json {FIRST}")]);
    let expected = [
        "3 begins 200 events",
        TOLD,
        &format!("3 data: {SECOND}"),
        "3 ends",
    ];
    assert_eq!(events, expected);
}

#[test]
fn a_timeout_is_a_head_and_a_body_that_never_ends() {
    let (_, json, events) = played(r#""type": "timeout""#);
    assert_eq!(json, ["2 begins 200 json"]);
    assert_eq!(events, ["3 begins 200 events", TOLD]);
}

#[test]
fn an_error_comes_in_the_place_of_the_answer() {
    let (_, json, events) = played(r#""type": "error", "params": {"code": -5, "message": "no"}"#);
    let error =
        |id: u32| format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-5,"message":"no"}}}}"#);
    assert_eq!(json, [format!("2: 200 json {}", error(1))]);
    assert_eq!(
        events[2..],
        [format!("3 data: {}", error(2)), "3 ends".to_owned()]
    );
}

#[test]
fn a_truncated_answer_breaks_off_in_the_middle() {
    let (_, json, events) = played(r#""type": "malformed", "params": {"strategy": "truncate"}"#);
    let half = |text: &str| text[..text.len() / 2].to_owned();
    let expected = [
        "2 begins 200 json".to_owned(),
        format!("2 {}", half(FIRST)),
        "2 is cut".to_owned(),
    ];
    assert_eq!(json, expected);
    assert_eq!(
        events[2..],
        [format!("3 data: {}", half(SECOND)), "3 is cut".to_owned()]
    );
}

#[test]
fn a_body_that_is_no_json_and_an_answer_to_nobody() {
    let (_, json, events) = played(r#""type": "malformed", "params": {"strategy": "not_json"}"#);
    assert_eq!(json, ["2: 200 json mcp-cassette: this line is not JSON"]);
    assert_eq!(events[2], "3 data: mcp-cassette: this line is not JSON");
    let (_, json, events) = played(r#""type": "malformed", "params": {"strategy": "wrong_id"}"#);
    assert!(
        json[0].contains(r#""id":"mcp-cassette-unknown-id""#),
        "{json:?}"
    );
    assert!(
        events[2].contains(r#""id":"mcp-cassette-unknown-id""#),
        "{events:?}"
    );
}

#[test]
fn a_disconnect_says_nothing_or_the_answer_first() {
    let (_, json, events) = played(r#""type": "disconnect""#);
    assert_eq!(json, ["aborted"]);
    assert_eq!(events, [""; 0]);
    let (_, json, _) = played(r#""type": "disconnect", "params": {"after_response": true}"#);
    assert_eq!(json, [format!("2: 200 json {FIRST}"), "aborted".to_owned()]);
}

#[test]
fn a_status_comes_with_its_body_in_the_place_of_the_response() {
    let fault =
        r#""type": "http_status", "params": {"status": 503, "retry_after": 2, "body": "busy"}"#;
    let (mut web, json, events) = played(fault);
    assert_eq!(json, ["2: 503 text/plain; charset=utf-8 busy"]);
    assert_eq!(events, ["3: 503 text/plain; charset=utf-8 busy"]);
    assert_eq!(web.core.finish().misses, [""; 0]);
    let fault = r#""type": "http_status", "params": {"status": 429, "body": "{}"}"#;
    assert_eq!(played(fault).1, ["2: 429 json {}"]);
}

#[test]
fn a_cut_stream_goes_on_where_the_client_asks() {
    let (mut web, json, events) = played(r#""type": "cut_stream", "params": {"after_events": 1}"#);
    assert_eq!(json, ["2 begins 200 json", "2 is cut"]);
    assert_eq!(
        events,
        [
            "3 begins 200 events".to_owned(),
            TOLD.replace("data", "id: mcc-1 data"),
            "3 is cut".to_owned()
        ]
    );
    let id = web.initialize();
    assert_eq!(
        web.get(&id, Some("mcc-1"))[1..],
        [""; 0],
        "that is of another session"
    );
    let (mut web, _, events) = played(r#""type": "cut_stream""#);
    assert_eq!(
        events,
        ["3 begins 200 events", "3 id: mcc-1 data:", "3 is cut"]
    );
    let session = web.core.ids_for_tests();
    assert_eq!(
        web.get(&session, Some("mcc-1")),
        [
            "4 begins 200 events".to_owned(),
            TOLD.replace("3 data", "4 id: mcc-2 data"),
            format!("4 id: mcc-3 data: {SECOND}"),
            "4 ends".to_owned(),
        ]
    );
}

#[test]
fn an_expired_session_is_unknown_until_a_new_one_is_begun() {
    for session in [ID, "null"] {
        let list = request("1", "tools/list");
        let listed = answer("1", "tools");
        let messages = greeted(&[('c', 2, &list), ('s', 2, &listed)]);
        let text = r#"{"faults": [{"target": {"method": "tools/list", "nth": 1}, "type": "session_expired"}]}"#;
        let faults =
            Overlay::parse("faults", text.as_bytes(), Transport::Http).expect("an overlay");
        let options = Options {
            faults,
            ..Options::default()
        };
        let mut web = Web::with(cassette(session, &messages, &[]), options);
        web.post("", INITIALIZE);
        let id = match session {
            ID => web.core.ids_for_tests(),
            _ => String::new(),
        };
        for number in 1..3 {
            let heard = web.post(&id, &list).join("");
            assert!(heard.starts_with(&format!("{number}: 404 json")), "{heard}");
        }
        web.post("", INITIALIZE);
        let id = match session {
            ID => web.core.ids_for_tests(),
            _ => String::new(),
        };
        assert_eq!(web.post(&id, &list), [format!("4: 200 json {listed}")]);
    }
}
