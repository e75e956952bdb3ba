//! What is different since 2026-07-28.

use super::{ID, Web, cassette, greeted, modern, modern_head};
use crate::replay::http::RequestHead;
use crate::replay::tests::{INITIALIZE, answer, call, notification};
use crate::wire::lane::Lane;

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
    let mut web = Web::with(
        cassette("null", &messages, &[]),
        crate::replay::tests::paced(1.0, 0),
    );
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
    let mut web = Web::with(
        cassette(ID, &messages, &[]),
        crate::replay::tests::paced(1.0, 0),
    );
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
