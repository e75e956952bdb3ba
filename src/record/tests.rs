//! The core without a disk: what it makes of bytes.

mod http;

use super::recorder::{Options, Recorder};
use super::recording;
use crate::cassette::{Cassette, Kind, Sender, Transport};
use crate::redact::{Redactor, Rules};
use crate::wire::lane::Lane;
use proptest::prelude::*;
use std::time::Duration;

fn recorder(transport: Transport, max_message: usize) -> Recorder {
    with_rules(&Rules::default(), transport, max_message)
}

/// One without rules, which is made quickly.
fn plain(max_message: usize) -> Recorder {
    let none = Rules {
        defaults: false,
        ..Rules::default()
    };
    with_rules(&none, Transport::Stdio, max_message)
}

fn with_rules(rules: &Rules, transport: Transport, max_message: usize) -> Recorder {
    Recorder::new(Options {
        transport,
        recorded_at: "2026-11-30T12:00:00.000000Z".to_owned(),
        server_url: None,
        redactor: Redactor::new(rules).unwrap(),
        max_message,
        earlier: None,
    })
}

fn client(recorder: &mut Recorder, line: &str) {
    let line = format!("{line}\n");
    recorder.observe(Duration::ZERO, Sender::Client, Lane::Stdio, line.as_bytes());
}

fn server(recorder: &mut Recorder, line: &str) {
    let line = format!("{line}\n");
    recorder.observe(Duration::ZERO, Sender::Server, Lane::Stdio, line.as_bytes());
}

fn finished(mut recorder: Recorder) -> Cassette {
    recorder.finish(Duration::ZERO);
    let mut text = recorder.head();
    text.push_str(&recorder.take_messages());
    text.push_str(&recorder.last_ending().text(recorder.messages() > 0, false));
    let cassette = Cassette::parse("c", text.clone().into_bytes()).unwrap();
    assert_eq!(
        cassette.to_json(),
        text,
        "it is written as saving writes it"
    );
    cassette
}

/// What a recording becomes that goes on from `earlier`.
fn continued(earlier: &Cassette, said: &[(Sender, &str)]) -> Cassette {
    let mut recorder = Recorder::new(Options {
        transport: Transport::Stdio,
        recorded_at: "2027-01-01T00:00:00.000000Z".to_owned(),
        server_url: None,
        redactor: Redactor::new(&Rules::default()).unwrap(),
        max_message: 1_000,
        earlier: Some(earlier.unclosed()),
    });
    for (sender, line) in said {
        let line = format!("{line}\n");
        let at = Duration::from_millis(7);
        recorder.observe(at, *sender, Lane::Stdio, line.as_bytes());
    }
    assert!(!recorder.head_has_changed() && !recorder.is_only_a_probe());
    assert_eq!(recorder.messages(), u64::try_from(said.len()).unwrap());
    finished(recorder)
}

#[test]
fn a_recording_goes_on_from_an_earlier_one_and_changes_nothing_of_it() {
    let text = r#"{"format_version":3,"transport":"stdio","recorded_at":"2026-01-01T00:00:00Z","protocol_version":"2025-06-18","redaction":{"packs":[]},"interrupted":true,"x":{"y":[1.50]},"messages":[
        {"seq":4,"t_offset_ms":900,"sender":"client","kind":"request","payload":{"id":1,"method":"ping"},"note":"n","batch":2},
        {"seq":9,"t_offset_ms":500,"sender":"server","kind":"response","payload":{"id":1,"result":{}}}]}"#;
    let earlier = Cassette::parse("c", text.as_bytes().to_vec()).unwrap();
    let asked = r#"{"id":1,"method":"tools/call","params":{"name":"t","arguments":{"password":"hunter2 hunter2"}}}"#;
    let said = [(Sender::Client, asked), (Sender::Server, GREETING)];
    let more = continued(&earlier, &said);
    let numbers: Vec<_> = more
        .messages()
        .map(|message| (message.seq(), message.t_offset_ms()))
        .collect();
    assert_eq!(numbers, [(4, 900), (9, 500), (10, 907), (11, 907)]);
    assert!(!more.text.contains("hunter2"), "{}", more.text);
    let (old, new) = (earlier.to_json(), more.to_json());
    let until = old.find("\n  ],").unwrap();
    assert!(new.starts_with(&old[..until]), "{new}");
    assert!(new.ends_with(&old[until..]), "{new}");
    let empty = r#"{"format_version":3,"transport":"stdio","messages":[]}"#;
    let empty = Cassette::parse("c", empty.as_bytes().to_vec()).unwrap();
    assert_eq!(continued(&empty, &said).messages().len(), 2);
    assert_eq!(continued(&empty, &[]).messages().len(), 0);
}

const INITIALIZE: &str =
    r#"{"id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#;
const GREETING: &str = r#"{"id":0,"result":{"protocolVersion":"2025-06-18","serverInfo":{"version":"1.5","name":"files","title":"x"}}}"#;

#[test]
fn the_head_tells_what_the_handshake_agreed_on() {
    let mut recorder = recorder(Transport::Stdio, 1000);
    client(&mut recorder, INITIALIZE);
    assert!(!recorder.head_has_changed());
    server(&mut recorder, GREETING);
    assert!(recorder.head_has_changed());
    assert!(!recorder.head_has_changed());
    let cassette = finished(recorder);
    assert_eq!(cassette.protocol_version().as_deref(), Some("2025-06-18"));
    let server = Some(("files".to_owned(), "1.5".to_owned()));
    assert_eq!(cassette.server_info(), server);
}

const DISCOVER: &str = r#"{"id":"d","method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;

#[test]
fn the_head_of_a_modern_session_tells_the_version_that_was_answered() {
    let mut recorder = recorder(Transport::Stdio, 1000);
    client(&mut recorder, DISCOVER);
    server(
        &mut recorder,
        r#"{"id":"d","result":{"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"m","version":"2"}}}}"#,
    );
    let cassette = finished(recorder);
    assert_eq!(cassette.protocol_version().as_deref(), Some("2026-07-28"));
    let server = Some(("m".to_owned(), "2".to_owned()));
    assert_eq!(cassette.server_info(), server);
}

#[test]
fn a_client_that_falls_back_to_the_handshake_is_a_legacy_session() {
    let mut recorder = recorder(Transport::Stdio, 1000);
    client(&mut recorder, DISCOVER);
    assert!(recorder.is_only_a_probe());
    server(
        &mut recorder,
        r#"{"id":"d","error":{"code":-32601,"message":"no"}}"#,
    );
    assert!(recorder.is_only_a_probe());
    client(&mut recorder, INITIALIZE);
    server(&mut recorder, GREETING);
    assert!(!recorder.is_only_a_probe());
    let cassette = finished(recorder);
    assert_eq!(cassette.protocol_version().as_deref(), Some("2025-06-18"));
}

#[test]
fn requests_wait_until_they_are_answered_cancelled_or_nobody_asks_any_more() {
    let mut recorder = recorder(Transport::Stdio, 1000);
    let mut waiting = |sender: Sender, line: &str| {
        match sender {
            Sender::Client => client(&mut recorder, line),
            Sender::Server => server(&mut recorder, line),
        }
        recorder.unanswered()
    };
    use Sender::{Client, Server};
    for (sender, line, expected) in [
        (Client, r#"{"id":1,"method":"a"}"#, 1),
        (Client, r#"{"id":"1","method":"a"}"#, 2),
        // The other direction has ids of its own.
        (Server, r#"{"id":1,"method":"roots/list"}"#, 2),
        (Client, r#"{"id":1,"result":{}}"#, 2),
        (Server, r#"{"id":"1","result":{}}"#, 1),
        (Server, r#"{"id":"1","result":{}}"#, 1),
        (
            Client,
            r#"[{"id":2,"method":"a"},{"id":3,"method":"b"},{"method":"n"}]"#,
            3,
        ),
        (Server, r#"[{"id":3,"result":{}},{"id":2,"error":{}}]"#, 1),
        (
            Client,
            r#"{"method":"notifications/cancelled","params":{"requestId":"1"}}"#,
            1,
        ),
        (
            Client,
            r#"{"method":"notifications/cancelled","params":{"requestId":1}}"#,
            0,
        ),
        (Client, r#"{"id":4,"method":"subscriptions/listen"}"#, 0),
        (Client, r#"{"id":5,"method":"a"}"#, 1),
        (Client, INITIALIZE, 1),
        (Server, GREETING, 0),
    ] {
        assert_eq!(waiting(sender, line), expected, "{line}");
    }
}

#[test]
fn what_is_secret_is_not_written_and_what_is_changed_is_marked() {
    let mut recorder = recorder(Transport::Stdio, 1000);
    client(
        &mut recorder,
        r#"{"id":1,"method":"tools/call","params":{"api_key":"q8w7e6","n":1.0}}"#,
    );
    client(
        &mut recorder,
        r#"{"id":2,"method":"tools/call","params":{"n":1.0}}"#,
    );
    server(&mut recorder, "log: password=hunter2-hunter2 and more");
    let cassette = finished(recorder);
    let marked: Vec<bool> = cassette
        .messages()
        .map(|message| message.redacted())
        .collect();
    assert_eq!(marked, [true, false, true]);
    assert!(!cassette.to_json().contains("q8w7e6"));
    assert!(!cassette.to_json().contains("hunter2"));
    assert!(cassette.redaction_manifest().is_some());
}

#[test]
fn no_place_for_a_file_is_refused_with_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let refused = recording::check_output(folder.path()).unwrap_err();
    assert!(refused.contains("is a directory"), "{refused}");
    let nested = folder.path().join("a/b/c.mcp.json");
    recording::check_output(&nested).unwrap();
    assert!(folder.path().join("a/b").is_dir());
}

proptest! {
    #[test]
    fn the_recording_does_not_depend_on_how_the_bytes_arrive(
        lines in proptest::collection::vec(prop_oneof![
            Just("{\"id\":1,\"method\":\"a\"}"),
            Just("[{\"id\":2,\"method\":\"b\"},{\"method\":\"c\"}]"),
            Just("{\"id\":1,\"result\":{\"t\":\"\u{2028}é\"}}"),
            Just("ready"),
            Just(""),
            Just("{\"a\":1"),
            Just("a line that is longer than what is kept of any"),
        ], 0..12),
        size in 1_usize..9,
        ended in any::<bool>(),
    ) {
        let mut text = lines.join("\n");
        if ended {
            text.push('\n');
        }
        let record = |size: usize| {
            let mut recorder = plain(44);
            for chunk in text.as_bytes().chunks(size) {
                recorder.observe(Duration::ZERO, Sender::Client, Lane::Stdio, chunk);
            }
            finished(recorder).to_json()
        };
        prop_assert_eq!(record(size), record(text.len().max(1)));
    }

    #[test]
    fn any_bytes_are_recorded_and_load(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
        pieces in proptest::collection::vec(
            prop_oneof![Just("{"), Just("}"), Just("["), Just("]"), Just("\""), Just(","), Just("\n"), Just("\\u")],
            0..20,
        ),
    ) {
        let mut recorder = plain(100);
        recorder.observe(Duration::ZERO, Sender::Server, Lane::Stdio, &bytes);
        recorder.observe(Duration::ZERO, Sender::Server, Lane::Stdio, pieces.concat().as_bytes());
        let cassette = finished(recorder);
        prop_assert!(cassette.messages().all(|message| message.kind() != Kind::Request));
    }
}
