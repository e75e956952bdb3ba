//! The door for Rust test suites, for servers over HTTP.
#![cfg(unix)]

use crate::serve_http::{INITIALIZE, answer, call, recording};
use crate::web::{Site, Wire};
use mcp_cassette::session::{Mode, Options, SessionError, use_cassette};

fn options() -> Options {
    Options {
        binary: Some(env!("CARGO_BIN_EXE_mcp-cassette").into()),
        ..Options::default()
    }
}

fn port(url: &str) -> u16 {
    let rest = url.strip_prefix("http://127.0.0.1:").expect("a URL");
    let port = rest.strip_suffix("/mcp").expect("a path");
    port.parse().expect("a port")
}

/// What a test says to its server, and what it hears.
fn conversation(url: &str) -> Vec<String> {
    let mut wire = Wire::to(port(url));
    wire.post("", INITIALIZE);
    let greeting = wire.answer();
    let id = greeting.header("mcp-session-id").expect("an id").to_owned();
    let mut heard = vec![greeting.body];
    for tool in ["json", "events"] {
        wire.post(&id, &call(4, tool));
        heard.push(wire.answer().body);
    }
    heard
}

#[test]
fn a_test_replays_a_server_over_http() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut session = use_cassette(recording(folder.path()), options()).expect("a session");
    let url = session
        .server_url("https://example.com/mcp")
        .expect("a URL");
    assert_eq!(conversation(&url)[1], answer(4, "a"));
    let summary = session.finish().expect("a summary");
    assert_eq!(summary.unused_interactions, 1);
}

#[test]
fn a_test_adds_to_a_recording_what_it_does_not_hold() {
    let folder = tempfile::tempdir().expect("a folder");
    let real = Site::start(&[&recording(folder.path())]);
    let url = format!("http://127.0.0.1:{}/mcp", real.port);
    let cassette = folder.path().join("added.mcp.json");
    let empty = r#"{"format_version": 3, "transport": "http", "messages": []}"#;
    std::fs::write(&cassette, empty).expect("a file");
    for (mode, messages) in [(Mode::NewEpisodes, 4), (Mode::None, 0)] {
        let options = Options { mode, ..options() };
        let mut session = use_cassette(&cassette, options).expect("a session");
        let url = session.server_url(&url).expect("a URL");
        let mut wire = Wire::to(port(&url));
        wire.post("", INITIALIZE);
        assert_eq!(wire.answer().json()["result"]["serverInfo"]["name"], "s");
        wire.post("", &call(4, "json"));
        assert_eq!(wire.answer().body, answer(4, "a"));
        let summary = session.finish().expect("a summary");
        assert_eq!(summary.messages, messages);
    }
}

#[test]
fn a_miss_over_http_fails_the_test() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut session = use_cassette(recording(folder.path()), options()).expect("a session");
    let url = session.server_url("").expect("a URL");
    let mut wire = Wire::to(port(&url));
    wire.post("", INITIALIZE);
    let id = wire
        .answer()
        .header("mcp-session-id")
        .expect("an id")
        .to_owned();
    wire.post(&id, &call(1, "other"));
    assert_eq!(wire.answer().json()["error"]["code"], -32001);
    match session.finish() {
        Err(SessionError::Misses { misses }) => assert!(misses[0].contains("other"), "{misses:?}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_test_records_a_server_over_http_and_replays_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let real = Site::start(&[&recording(folder.path())]);
    let url = format!("http://127.0.0.1:{}/mcp", real.port);
    let cassette = folder.path().join("recorded.mcp.json");
    let mut heard = Vec::new();
    for recording in [true, false] {
        let mut session = use_cassette(&cassette, options()).expect("a session");
        assert_eq!(session.is_recording(), recording);
        let url = session.server_url(&url).expect("a URL");
        heard.push(conversation(&url));
        session.finish().expect("a summary");
    }
    assert_eq!(heard[0], heard[1]);
    real.stop();
}

#[test]
fn a_listener_that_does_not_start_says_why() {
    let folder = tempfile::tempdir().expect("a folder");
    let cassette = folder.path().join("broken.mcp.json");
    std::fs::write(&cassette, "{}").expect("a file");
    let mut session = use_cassette(&cassette, options()).expect("a session");
    match session.server_url("http://localhost/mcp") {
        Err(SessionError::NotListening(why)) => assert!(why.contains("broken.mcp.json"), "{why}"),
        other => panic!("{other:?}"),
    }
}
