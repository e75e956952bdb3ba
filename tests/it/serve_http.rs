//! `serve` over HTTP, on real sockets.
#![cfg(unix)]

use crate::serve_client::Client;
use crate::support::{example, write};
use crate::web::Site;
use std::path::Path;
use tempfile::{TempDir, tempdir};

pub(crate) const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const GREETING: &str = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#;
const CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
const TOLD: &str = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"n":1}}"#;

pub(crate) fn call(id: u32, tool: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}"}}}}"#)
}

pub(crate) fn answer(id: u32, text: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":"{text}"}}}}"#)
}

/// A recording with a call that is answered by a body of JSON, one that is by events, and one
/// behind which something came on the GET.
pub(crate) fn recording(folder: &Path) -> String {
    let messages: Vec<String> = [
        ("client", "null", 0, INITIALIZE),
        ("server", "\"post\"", 0, GREETING),
        ("client", "null", 1, INITIALIZED),
        ("client", "null", 3, &call(1, "json")),
        ("server", "\"post\"", 3, &answer(1, "a")),
        ("client", "null", 4, &call(2, "events")),
        ("server", "\"post\"", 4, TOLD),
        ("server", "\"post\"", 4, &answer(2, "b")),
        ("client", "null", 5, &call(3, "changes")),
        ("server", "\"post\"", 5, &answer(3, "c")),
        ("server", "\"get\"", 2, CHANGED),
    ]
    .iter()
    .map(|(sender, channel, exchange, payload)| {
        format!(
            r#"{{"sender": "{sender}", "kind": "request", "payload": {payload}, "exchange": {exchange}, "channel": {channel}}}"#
        )
    })
    .collect();
    let text = format!(
        "{{\"format_version\": 3, \"transport\": \"http\", \"session_id\": \"<SESSION>_012345678901\", \
         \"server_url\": \"https://example.com/deep/path\", \"messages\": [{}]}}",
        messages.join(",\n")
    );
    write(folder, "http.mcp.json", text).display().to_string()
}

pub(crate) fn site(arguments: &[&str]) -> (TempDir, Site) {
    let folder = tempdir().expect("a folder");
    let cassette = recording(folder.path());
    let mut all = vec![cassette.as_str()];
    all.extend(arguments);
    let site = Site::start(&all);
    (folder, site)
}

#[test]
fn a_session_is_replayed_with_its_framings_and_statuses() {
    let (_folder, site) = site(&[]);
    let id = site.initialize(INITIALIZE);
    let accepted = site.post(&id, INITIALIZED);
    assert_eq!((accepted.status, accepted.body.as_str()), (202, ""));
    assert_eq!(accepted.header("content-type"), None);
    let json = site.post(&id, &call(7, "json"));
    assert_eq!(json.header("content-type"), Some("application/json"));
    assert_eq!(json.body, answer(7, "a"));
    let events = site.post(&id, &call(8, "events"));
    assert_eq!(events.header("content-type"), Some("text/event-stream"));
    let expected = format!(
        "event: message\ndata: {TOLD}\n\nevent: message\ndata: {}\n\n",
        answer(8, "b")
    );
    assert_eq!((events.body, events.cut), (expected, false));
    assert_eq!(site.post("", &call(9, "json")).status, 400);
    assert_eq!(site.post("mcc-00000000", &call(9, "json")).status, 404);
    let ended = site.stop();
    assert_eq!(ended.code, 0, "{}", ended.all());
    assert!(ended.stderr.contains("ended by SIGTERM"), "{}", ended.all());
}

#[test]
fn what_comes_besides_answers_comes_on_the_get_at_once() {
    let (_folder, site) = site(&[]);
    let id = site.initialize(INITIALIZE);
    let mut stream = site.connect();
    stream.get(&id);
    let head = stream.head().expect("a response");
    assert_eq!(head.status, 200, "{head:?}");
    assert_eq!(head.header("content-type"), Some("text/event-stream"));
    assert_eq!(site.post(&id, &call(1, "changes")).body, answer(1, "c"));
    let event = format!("event: message\ndata: {CHANGED}\n\n");
    assert_eq!(stream.chunk(), Some(event));
    // A stream that is open does not hold the end up.
    let ended = site.stop();
    assert_eq!(ended.code, 0, "{}", ended.all());
    assert_eq!(
        stream.chunk(),
        Some(String::new()),
        "the stream is ended in order"
    );
}

#[test]
fn several_clients_have_sessions_of_their_own_on_one_connection_or_many() {
    let (_folder, site) = site(&["--on-exhausted", "error"]);
    let mut wire = site.connect();
    wire.post("", INITIALIZE);
    let first = wire
        .answer()
        .header("mcp-session-id")
        .expect("an id")
        .to_owned();
    let second = site.initialize(INITIALIZE);
    for id in [&first, &second] {
        wire.post(id, &call(1, "json"));
        assert_eq!(wire.answer().body, answer(1, "a"));
    }
    wire.post(&first, &call(2, "json"));
    assert_eq!(wire.answer().json()["error"]["code"], -32001);
    let ended = site.stop();
    assert_eq!(ended.code, 3, "{}", ended.all());
    assert!(
        ended.stderr.contains("1 unmatched request(s)"),
        "{}",
        ended.all()
    );
}

#[test]
fn what_came_of_it_is_reported() {
    let folder = tempdir().expect("a folder");
    let report = folder.path().join("report.json");
    let (_folder, site) = site(&["--report", &report.display().to_string()]);
    let id = site.initialize(INITIALIZE);
    site.post(&id, &call(1, "none"));
    site.stop();
    let report = std::fs::read_to_string(report).expect("a report");
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    assert_eq!(report["misses"][0], "tools/call params={\"name\":\"none\"}");
    assert_eq!(report["unused_interactions"], 3);
}

#[test]
fn the_path_of_the_recorded_server_is_answered_and_others_are_not() {
    let (_folder, site) = site(&[]);
    for (path, expected) in [
        ("/mcp", 200),
        ("/mcp/", 200),
        ("/deep/path", 200),
        ("/", 404),
        ("/.well-known/oauth-protected-resource", 404),
    ] {
        let mut wire = site.connect();
        wire.say(&format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{INITIALIZE}",
            INITIALIZE.len()
        ));
        assert_eq!(wire.answer().status, expected, "{path}");
    }
}

#[test]
fn a_session_is_ended_by_its_client() {
    let (_folder, site) = site(&[]);
    let id = site.initialize(INITIALIZE);
    let mut wire = site.connect();
    let delete = format!("DELETE /mcp HTTP/1.1\r\nHost: localhost\r\nMcp-Session-Id: {id}\r\n\r\n");
    for expected in [200, 404] {
        wire.say(&delete);
        assert_eq!(wire.answer().status, expected);
    }
    wire.say("PUT /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n");
    let answer = wire.answer();
    assert_eq!(
        (answer.status, answer.header("allow")),
        (405, Some("GET, POST, DELETE"))
    );
}

fn with_faults(faults: &str) -> (TempDir, Site) {
    let folder = tempdir().expect("a folder");
    let text = format!(r#"{{"faults": [{{"target": {{"method": "tools/call"}}, {faults}}}]}}"#);
    let overlay = write(folder.path(), "faults.json", text);
    let cassette = recording(folder.path());
    let site = Site::start(&[&cassette, "--faults", &overlay.display().to_string()]);
    (folder, site)
}

#[test]
fn a_disconnect_closes_every_connection_and_ends_the_server() {
    let (_folder, site) = with_faults(r#""type": "disconnect""#);
    let id = site.initialize(INITIALIZE);
    let mut stream = site.connect();
    stream.get(&id);
    assert_eq!(stream.head().expect("a response").status, 200);
    let mut wire = site.connect();
    wire.post(&id, &call(1, "json"));
    assert!(wire.head().is_none(), "there is no response");
    assert_eq!(stream.chunk(), None, "the stream is cut");
    let ended = site.wait();
    assert_eq!(ended.code, 0, "{}", ended.all());
}

#[test]
fn a_disconnect_after_the_answer_gives_it_first() {
    let (_folder, site) =
        with_faults(r#""type": "disconnect", "params": {"after_response": true}"#);
    let id = site.initialize(INITIALIZE);
    assert_eq!(site.post(&id, &call(1, "json")).body, answer(1, "a"));
    assert_eq!(site.wait().code, 0);
}

#[test]
fn broken_bodies_break_the_connection() {
    let (_folder, site) = with_faults(r#""type": "malformed", "params": {"strategy": "truncate"}"#);
    let id = site.initialize(INITIALIZE);
    for tool in ["json", "events"] {
        let broken = site.post(&id, &call(1, tool));
        assert!(broken.cut, "{broken:?}");
        assert!(
            broken.body.contains(r#"{"jsonrpc":"2.0","id":1,"#),
            "{broken:?}"
        );
        assert!(
            !broken.body.ends_with('}') && !broken.body.ends_with('\n'),
            "{broken:?}"
        );
    }
}

#[test]
fn a_status_has_its_headers() {
    let (_folder, site) = with_faults(
        r#""type": "http_status", "params": {"status": 429, "retry_after": 3, "body": "{}"}"#,
    );
    let id = site.initialize(INITIALIZE);
    let answer = site.post(&id, &call(1, "json"));
    assert_eq!((answer.status, answer.body.as_str()), (429, "{}"));
    assert_eq!(answer.header("retry-after"), Some("3"));
    assert_eq!(answer.header("content-type"), Some("application/json"));
}

#[test]
fn a_request_that_times_out_holds_nobody_up() {
    let (_folder, site) = with_faults(r#""type": "timeout""#);
    let id = site.initialize(INITIALIZE);
    let mut wire = site.connect();
    wire.post(&id, &call(1, "json"));
    let head = wire.head().expect("a head");
    assert_eq!(
        (head.status, head.header("content-type")),
        (200, Some("application/json"))
    );
    let ping = site.post(&id, r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#);
    assert_eq!(ping.json()["result"], serde_json::json!({}));
    assert_eq!(site.stop().code, 0);
}

#[test]
fn a_recording_is_served_over_the_other_transport() {
    let site = Site::start(&[&example("tools"), "--transport", "http"]);
    let id = site.initialize(INITIALIZE);
    let list = site.post(&id, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    assert!(list.json()["result"]["tools"].is_array(), "{list:?}");
    assert_eq!(site.stop().code, 0);

    let folder = tempdir().expect("a folder");
    let cassette = recording(folder.path());
    let mut client = Client::start(&[&cassette, "--transport", "stdio"]);
    client.say(INITIALIZE);
    assert_eq!(client.hear().as_deref(), Some(GREETING));
    client.say(&call(5, "events"));
    assert_eq!(client.hear().as_deref(), Some(TOLD));
    assert_eq!(client.hear(), Some(answer(5, "b")));
    assert_eq!(client.leave().code, 0);
}

#[test]
fn a_port_that_is_taken_is_told() {
    let (folder, site) = site(&[]);
    let port = site.port.to_string();
    let cassette = folder.path().join("http.mcp.json");
    let ended = crate::support::run(&["serve", &cassette.display().to_string(), "--port", &port]);
    assert_eq!(ended.code, 2, "{}", ended.all());
    let expected = format!("cannot listen on 127.0.0.1:{port} (--host, --port): ");
    assert!(ended.stderr.contains(&expected), "{}", ended.all());
}
