//! Whose request it is: sessions with ids and without.

use super::{ID, Web, cassette, greeted, leak, modern, modern_head};
use crate::replay::Options;
use crate::replay::tests::{GREETING, INITIALIZE, answer, call, notification, request};

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
fn a_client_that_leaves_with_the_head_has_it_and_the_id_in_it() {
    for (framing, kind) in [("sse", "events"), ("json", "json")] {
        let messages = [
            ('c', 0, INITIALIZE),
            ('c', 1, INITIALIZE),
            ('s', 1, GREETING),
        ];
        let row = |exchange: u32, ended: &str| {
            leak(format!(
                r#"{{"exchange": {exchange}, "session": {exchange}, "http_method": "POST", "framing": "{framing}", "ended": "{ended}"}}"#
            ))
        };
        let rows = [row(0, "client_closed"), row(1, "complete")];
        let mut web = Web::new(cassette(ID, &messages, &rows));
        let heard = web.post("", INITIALIZE);
        let id = web.core.ids_for_tests();
        assert!(!id.is_empty());
        assert_eq!(heard, [format!("0 begins 200 {kind} {id}")]);
        assert_ne!(web.initialize(), id);
    }
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
