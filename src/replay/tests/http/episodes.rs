//! What goes to a real server over HTTP, what comes back, and what of both belongs to the recording.

use super::{ID, Web, cassette, greeted};
use crate::cassette::exchanges::Framing;
use crate::replay::tests::{
    GREETING, INITIALIZE, INITIALIZED, answer, call, notification, request,
};
use crate::replay::{Errand, Forward, Options};
use crate::wire::lane::Lane;

/// A recording of a greeting, in which nothing was asked.
fn extended() -> Web {
    let options = Options {
        new_episodes: true,
        ..Options::default()
    };
    Web::with(cassette(ID, &greeted(&[]), &[]), options)
}

/// The only thing that went to the server.
fn only(web: &mut Web) -> Forward {
    let mut forwarded = std::mem::take(&mut web.forwarded);
    assert_eq!(forwarded.len(), 1, "{forwarded:?}");
    forwarded.remove(0)
}

fn bytes(forward: &Forward) -> &str {
    std::str::from_utf8(&forward.bytes).expect("UTF-8")
}

/// What happens when the server answers what was asked of it so.
fn relay(web: &mut Web, forward: &Forward, message: &str) -> Vec<String> {
    web.core
        .relay(forward.line, forward.lane, message.as_bytes());
    web.heard()
}

/// The server is greeted for a session that has asked something: what was asked.
fn greet(web: &mut Web) -> Vec<Forward> {
    let greeting = only(web);
    assert_eq!(bytes(&greeting), INITIALIZE);
    assert!(greeting.begins && !greeting.kept);
    assert!(relay(web, &greeting, GREETING).is_empty());
    web.core.server_is_done(&greeting, None);
    let mut forwarded = std::mem::take(&mut web.forwarded);
    let initialized = forwarded.remove(0);
    assert_eq!(bytes(&initialized), INITIALIZED);
    assert!(!initialized.kept && !initialized.begins);
    assert_eq!(initialized.version.as_deref(), Some("2025-11-25"));
    forwarded
}

/// The same with one call with that id.
fn asked(web: &mut Web, session: &str, id: &str) -> Forward {
    assert!(web.post(session, &call(id, "new", "{}", "")).is_empty());
    let asked = greet(web).remove(0);
    assert!(asked.kept && asked.session == Some(0), "{asked:?}");
    asked
}

#[test]
fn each_session_of_a_client_greets_the_server_and_ids_do_not_meet() {
    let mut web = extended();
    let [one, two] = [web.initialize(), web.initialize()];
    assert!(web.forwarded.is_empty());
    let [first, second] = [asked(&mut web, &one, "1"), asked(&mut web, &two, "1")];
    assert_ne!(first.line, second.line);
    assert_eq!(
        relay(&mut web, &second, &answer("1", "b")),
        [format!("5: 200 json {}", answer("1", "b"))]
    );
    assert_eq!(
        relay(&mut web, &first, &answer("1", "a")),
        [format!("4: 200 json {}", answer("1", "a"))]
    );
    // A question of one session is not answered by the client of the other.
    let third = {
        assert!(web.post(&one, &call("2", "new", "{}", "")).is_empty());
        only(&mut web)
    };
    web.core.server_answers(third.lane, 200, Framing::Sse, None);
    let heard = relay(&mut web, &third, &request("0", "roots/list")).join("\n");
    let ours = heard
        .split('"')
        .find(|word| word.starts_with("mcp-cassette-"));
    let ours = ours
        .unwrap_or_else(|| panic!("no id of ours: {heard}"))
        .to_owned();
    let reply = format!(r#"{{"jsonrpc":"2.0","id":"{ours}","result":{{}}}}"#);
    web.post(&two, &reply);
    assert!(web.forwarded.is_empty());
    web.post(&one, &reply);
    let told = only(&mut web);
    assert_eq!(bytes(&told), r#"{"jsonrpc":"2.0","id":0,"result":{}}"#);
    assert_eq!(
        (told.line, told.errand, told.kept),
        (first.line, Errand::Tell, true)
    );
}

#[test]
fn what_comes_with_the_greeting_comes_besides_answers() {
    let mut web = extended();
    let id = web.initialize();
    assert!(web.post(&id, &call("1", "new", "{}", "")).is_empty());
    let greeting = only(&mut web);
    let told = notification("notifications/message", "{}");
    assert!(relay(&mut web, &greeting, &told).is_empty());
    relay(&mut web, &greeting, GREETING);
    let asked = web.forwarded.remove(1);
    let live = answer("1", "live");
    assert_eq!(
        relay(&mut web, &asked, &live),
        [format!("2: 200 json {live}")],
        "a body of JSON stays one"
    );
    assert_eq!(
        web.get(&id, None),
        ["3 begins 200 events", &format!("3 data: {told}")]
    );
}

#[test]
fn a_request_that_is_taken_back_ends_with_its_response() {
    let mut web = extended();
    let id = web.initialize();
    let asked = asked(&mut web, &id, "1");
    let cancel = notification("notifications/cancelled", r#"{"requestId":1}"#);
    assert_eq!(web.post(&id, &cancel), ["3: 202 "]);
    assert_eq!(bytes(&only(&mut web)), cancel);
    web.core.server_is_done(&asked, Some("broke off"));
    assert_eq!(
        web.heard(),
        ["2: 202 "],
        "nobody is told that it is unmatched"
    );
    assert!(web.core.finish().misses.is_empty());
}

#[test]
fn a_client_that_is_gone_leaves_no_miss_and_nothing_to_ask() {
    let mut web = extended();
    let id = web.initialize();
    assert!(web.post(&id, &call("1", "new", "{}", "")).is_empty());
    assert!(web.gone(Lane::Post(2)).is_empty());
    // Only one of the two that waited for the greeting is left.
    assert!(web.post(&id, &call("2", "new", "{}", "")).is_empty());
    let left = greet(&mut web);
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(left[0].lane, Lane::Post(3));
    assert!(web.core.finish().misses.is_empty());
}

#[test]
fn a_greeting_that_fails_is_tried_again_and_what_waited_is_unmatched() {
    let mut web = extended();
    let id = web.initialize();
    assert!(web.post(&id, &call("1", "new", "{}", "")).is_empty());
    let greeting = only(&mut web);
    web.core.server_is_done(&greeting, Some("it is away"));
    let heard = web.heard().join("\n");
    assert!(
        heard.starts_with("2: 200 json") && heard.contains("it is away"),
        "{heard}"
    );
    asked(&mut web, &id, "2");
    assert_eq!(web.core.finish().misses.len(), 1);
}

#[test]
fn a_batch_is_asked_one_by_one_and_its_response_ends_with_the_last_answer() {
    let old = |text: &str| text.replace("2025-11-25", "2025-03-26");
    let (hello, greeting) = (old(INITIALIZE), old(GREETING));
    let (known, told) = (call("1", "known", "{}", ""), answer("1", "recorded"));
    let messages = [
        ('c', 0, hello.as_str()),
        ('s', 0, &greeting),
        ('c', 2, &known),
        ('s', 2, &told),
    ];
    let options = Options {
        new_episodes: true,
        ..Options::default()
    };
    let mut web = Web::with(cassette(ID, &messages, &[]), options);
    let id = web.initialize();
    let batch = format!(
        "[{known},{},{}]",
        call("2", "new", "{}", ""),
        call("3", "new", "{}", "")
    );
    let mut heard = web.post(&id, &batch);
    let greeting_asked = only(&mut web);
    heard.extend(relay(&mut web, &greeting_asked, &greeting));
    let asked = std::mem::take(&mut web.forwarded).split_off(1);
    assert_eq!(asked.len(), 2, "{asked:?}");
    for (forward, number) in asked.iter().zip(["2", "3"]) {
        heard.extend(relay(&mut web, forward, &answer(number, "live")));
        web.core.server_is_done(forward, None);
    }
    heard.extend(web.heard());
    let heard = heard.join("\n");
    for text in [&told, &answer("2", "live"), &answer("3", "live")] {
        assert!(heard.contains(text), "{text} in {heard}");
    }
    assert!(heard.ends_with("2 ends"), "{heard}");
}
