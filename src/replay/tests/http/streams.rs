//! The streams that a session has besides its answers, and those that break off and go on.

use super::{ID, JSON_0, NONE_1, Web, cassette, greeted};
use crate::replay::http::RequestHead;
use crate::replay::tests::{
    GREETING, INITIALIZE, INITIALIZED, answer, call, notification, request,
};
use crate::wire::lane::Lane;

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
