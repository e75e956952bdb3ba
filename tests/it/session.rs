//! The door for Rust test suites: the same test records first and replays afterwards.

use crate::demo_client::{self, DemoClient, outcome};
use mcp_cassette::session::{
    CassetteSession, Fault, FaultKind, FaultOverlay, MatchConfig, Mode, OnExhausted, Options,
    SessionError, use_cassette, use_cassette_async,
};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

fn options() -> Options {
    Options {
        binary: Some(env!("CARGO_BIN_EXE_mcp-cassette").into()),
        ..Options::default()
    }
}

fn with_mode(mode: Mode) -> Options {
    Options { mode, ..options() }
}

/// A folder for one test, and the path of a cassette in it that is not there yet.
fn place() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let cassette = folder.path().join("tests").join("session.mcp.json");
    (folder, cassette)
}

fn demo_server() -> Vec<String> {
    vec![demo_client::executable().to_str().unwrap().to_owned()]
}

fn client(session: &mut CassetteSession, real: &[String]) -> DemoClient {
    let command = session.server_command(real).unwrap();
    let mut client = DemoClient::of(Command::new(&command[0]).args(&command[1..]));
    client.initialize("2025-11-25", &json!({}));
    client
}

/// What a test says to its server, and what it hears.
fn conversation(session: &mut CassetteSession, real: &[String]) -> Vec<(String, bool)> {
    let mut client = client(session, real);
    let heard = vec![
        client.call("echo", &json!({"text": "héllo \u{2028}"})),
        client.call("counter", &json!({})),
        client.call("counter", &json!({})),
        client.call("add", &json!({"a": 2, "b": 40})),
    ];
    client.end();
    heard
}

fn record(cassette: &Path) -> Vec<(String, bool)> {
    let mut session = use_cassette(cassette, options()).unwrap();
    assert!(session.is_recording());
    let heard = conversation(&mut session, &demo_server());
    assert!(session.finish().unwrap().messages > 8);
    heard
}

#[test]
fn a_test_records_once_and_replays_without_its_server() {
    let (_folder, cassette) = place();
    let recorded = record(&cassette);
    let first = std::fs::read(&cassette).unwrap();
    for _ in 0..2 {
        let mut session = use_cassette(&cassette, options()).unwrap();
        assert!(!session.is_recording());
        let replayed = conversation(&mut session, &["no-such-server".to_owned()]);
        assert_eq!(replayed, recorded);
        assert_eq!(session.finish().unwrap().unused_interactions, 0);
    }
    assert_eq!(std::fs::read(&cassette).unwrap(), first);
    let names: Vec<_> = std::fs::read_dir(cassette.parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, ["session.mcp.json"], "nothing else is left behind");
}

#[test]
fn without_a_cassette_mode_none_fails() {
    let (_folder, cassette) = place();
    let error = use_cassette(&cassette, with_mode(Mode::None)).unwrap_err();
    assert!(matches!(error, SessionError::RecordingForbidden(_)));
    assert!(error.to_string().contains("(mode=none)"), "{error}");
}

#[test]
fn a_request_that_was_not_recorded_fails_the_test() {
    let (_folder, cassette) = place();
    record(&cassette);
    let mut session = use_cassette(&cassette, with_mode(Mode::None)).unwrap();
    let mut client = client(&mut session, &[]);
    let answer = client.request(
        "tools/call",
        &json!({"name": "echo", "arguments": {"text": "other"}}),
    );
    assert_eq!(answer["error"]["code"], -32001, "{answer}");
    assert_eq!(client.close().1.code(), Some(3));
    let error = session.finish().unwrap_err();
    let SessionError::Misses { misses } = &error else {
        panic!("{error}");
    };
    assert!(
        misses.len() == 1 && misses[0].starts_with("tools/call"),
        "{error}"
    );
}

#[test]
fn a_call_that_comes_once_more_follows_the_policy() {
    let (_folder, cassette) = place();
    record(&cassette);
    for (on_exhausted, ends_well) in [(OnExhausted::Auto, false), (OnExhausted::Repeat, true)] {
        let matching = MatchConfig {
            on_exhausted,
            ..MatchConfig::default()
        };
        let options = Options {
            matching,
            ..options()
        };
        let mut session = use_cassette(&cassette, options).unwrap();
        let mut client = client(&mut session, &[]);
        let calls = [(); 3]
            .map(|()| client.request("tools/call", &json!({"name": "counter", "arguments": {}})));
        client.close();
        assert_eq!(outcome(&calls[0]).0, "1");
        assert_eq!(outcome(&calls[1]).0, "2");
        assert_eq!(calls[2].get("result").is_some(), ends_well);
        assert_eq!(session.finish().is_ok(), ends_well);
    }
}

#[test]
fn faults_are_values_and_apply_to_replays_only() {
    let (_folder, cassette) = place();
    let fault = || -> FaultOverlay {
        let kind = FaultKind::Error {
            code: -32000,
            message: "busy".to_owned(),
        };
        FaultOverlay::from_iter([
            Fault::new("tools/call", kind.clone())
                .tool("counter")
                .nth(2),
            Fault::new("prompts/get", kind),
        ])
    };
    let session = use_cassette(&cassette, options()).unwrap();
    let error = session.with_faults(fault()).unwrap_err();
    assert!(matches!(error, SessionError::FaultsWhileRecording));
    record(&cassette);
    let session = use_cassette(&cassette, options()).unwrap();
    let mut session = session.with_faults(fault()).unwrap();
    let mut client = client(&mut session, &[]);
    let counter = json!({"name": "counter", "arguments": {}});
    assert_eq!(outcome(&client.request("tools/call", &counter)).0, "1");
    let refused = client.request("tools/call", &counter);
    assert_eq!(refused["error"]["message"], "busy", "{refused}");
    client.end();
    let unused = session.finish().unwrap().unused_faults;
    assert!(
        unused.len() == 1 && unused[0].contains("prompts/get"),
        "{unused:?}"
    );
}

#[test]
fn the_second_of_two_tests_replays_what_the_first_records() {
    let (_folder, cassette) = place();
    let mut first = use_cassette(&cassette, options()).unwrap();
    let path = cassette.clone();
    let second = thread::spawn(move || {
        let mut session = use_cassette(path, options()).unwrap();
        assert!(!session.is_recording());
        let heard = conversation(&mut session, &[]);
        session.finish().unwrap();
        heard
    });
    let recorded = conversation(&mut first, &demo_server());
    first.finish().unwrap();
    assert_eq!(second.join().unwrap(), recorded);
}

#[test]
fn a_session_that_is_dropped_gives_the_cassette_free() {
    let (_folder, cassette) = place();
    let session = use_cassette(&cassette, with_mode(Mode::All)).unwrap();
    let error = use_cassette(&cassette, with_mode(Mode::All)).unwrap_err();
    assert!(error.to_string().contains("held for writing by"), "{error}");
    drop(session);
    use_cassette(&cassette, with_mode(Mode::All)).unwrap();
}

#[test]
fn a_recording_without_a_message_is_an_error() {
    let (_folder, cassette) = place();
    let mut session = use_cassette(&cassette, options()).unwrap();
    let command = session.server_command(&demo_server()).unwrap();
    DemoClient::of(Command::new(&command[0]).args(&command[1..])).end();
    let error = session.finish().unwrap_err();
    assert!(
        error.to_string().contains("captured zero messages"),
        "{error}"
    );
}

#[test]
fn inside_a_runtime_only_the_asynchronous_door_opens() {
    let (_folder, cassette) = place();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        let error = use_cassette(&cassette, options()).unwrap_err();
        assert!(error.to_string().contains("use_cassette_async"), "{error}");
        let session = use_cassette_async(&cassette, options()).await.unwrap();
        assert!(session.is_recording());
    });
}

#[test]
fn a_call_that_is_new_is_added_and_replayed_without_the_server_from_then_on() {
    let (_folder, cassette) = place();
    record(&cassette);
    let talk = |session: &mut CassetteSession, real: &[String]| {
        let mut client = client(session, real);
        let heard = [
            client.call("add", &json!({"a": 2, "b": 40})),
            client.call("add", &json!({"a": 1, "b": 1})),
            client.call("counter", &json!({})),
        ];
        client.end();
        heard
    };
    let mut session = use_cassette(&cassette, with_mode(Mode::NewEpisodes)).unwrap();
    assert!(!session.is_recording());
    let heard = talk(&mut session, &demo_server());
    assert_eq!(session.finish().unwrap().messages, 2);
    let added = std::fs::read(&cassette).unwrap();
    for (mode, real) in [
        (Mode::NewEpisodes, vec!["no-such-server".to_owned()]),
        (Mode::None, Vec::new()),
    ] {
        let mut session = use_cassette(&cassette, with_mode(mode)).unwrap();
        assert_eq!(talk(&mut session, &real), heard);
        assert_eq!(session.finish().unwrap().messages, 0);
        assert_eq!(std::fs::read(&cassette).unwrap(), added);
    }
}

#[test]
fn without_a_cassette_new_episodes_records() {
    let (_folder, cassette) = place();
    let mut session = use_cassette(&cassette, with_mode(Mode::NewEpisodes)).unwrap();
    assert!(session.is_recording());
    conversation(&mut session, &demo_server());
    assert!(session.finish().unwrap().messages > 8);
}
