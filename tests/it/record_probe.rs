//! Clients that start a server only to ask who it is, and once more for the session: the answer
//! of the first recording begins the second one, where the client does not ask again.

use crate::recorder::{Recorder, assert_no_gap, files, load, ping, until, wire_server};
use crate::support::write;
use mcp_cassette::Cassette;
use std::fs::File;
use std::path::Path;
use std::time::{Duration, SystemTime};
use tempfile::tempdir;

const META: &str =
    r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"},"cursor":"c"}"#;

fn modern(id: usize, method: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{META}}}")
}

fn start(folder: &Path, flags: &[&str]) -> Recorder {
    let server = wire_server();
    Recorder::start(folder, flags, [server.as_os_str(), "answer".as_ref()])
}

/// Records `lines`, each with an answer.
fn record(folder: &Path, flags: &[&str], lines: &[&str]) {
    let mut session = start(folder, flags);
    for line in lines {
        session.send(line);
        session.receive();
    }
    let run = session.finish();
    assert_eq!(run.code, 0, "{}", run.all());
}

fn methods(cassette: &Cassette) -> Vec<String> {
    let methods = cassette.messages().filter_map(|message| message.method());
    methods.map(|method| method.into_owned()).collect()
}

fn recorded(folder: &Path) -> Vec<String> {
    let cassette = load(folder);
    assert_no_gap(&cassette);
    methods(&cassette)
}

#[test]
fn the_answer_to_a_probe_begins_the_recording_of_the_session() {
    let folder = tempdir().unwrap();
    record(folder.path(), &[], &[&modern(0, "server/discover")]);
    let probe = load(folder.path());
    let payload = |cassette: &Cassette, index: usize| {
        let message = cassette.messages().nth(index).expect("a message");
        message.payload().to_owned()
    };
    // The ids are those of the probe: every session has its own.
    record(
        folder.path(),
        &["--report", "report.json"],
        &[&modern(0, "tools/list"), &modern(1, "tools/call")],
    );
    assert_eq!(
        recorded(folder.path()),
        ["server/discover", "tools/list", "tools/call"]
    );
    let cassette = load(folder.path());
    for index in 0..2 {
        assert_eq!(payload(&cassette, index), payload(&probe, index));
    }
    assert_eq!(cassette.protocol_version().as_deref(), Some("2026-07-28"));
    let offsets: Vec<i64> = cassette.messages().map(|m| m.t_offset_ms()).collect();
    assert!(offsets.is_sorted() && offsets[0] >= 0, "{offsets:?}");
    let text = std::fs::read_to_string(folder.path().join("c.mcp.json")).unwrap();
    assert_eq!(text, cassette.to_json());
    let report = std::fs::read_to_string(folder.path().join("report.json")).unwrap();
    assert_eq!(report, "{\"messages\": 6}\n");
}

/// Waits until the checkpoint holds so many messages.
fn until_written(folder: &Path, count: usize) {
    until("it is written", || {
        let salvaged = Cassette::load_unfinished(folder.join("c.mcp.json.partial"));
        salvaged.is_ok_and(|salvaged| salvaged.cassette.messages().len() == count)
    });
}

#[test]
fn a_probe_that_was_killed_is_taken_from_what_it_left() {
    let folder = tempdir().unwrap();
    record(folder.path(), &[], &[&ping(1)]);
    let mut probe = start(folder.path(), &[]);
    probe.send(&modern(0, "server/discover"));
    probe.receive();
    until_written(folder.path(), 2);
    probe.process.kill().unwrap();
    probe.wait();
    record(folder.path(), &["--force"], &[&modern(0, "tools/list")]);
    assert_eq!(recorded(folder.path()), ["server/discover", "tools/list"]);
    assert_eq!(files(folder.path()), ["c.mcp.json"]);
}

#[test]
fn a_probe_that_still_ends_is_taken_over_and_takes_nothing_away() {
    let folder = tempdir().unwrap();
    let mut probe = start(folder.path(), &[]);
    probe.send(&modern(0, "server/discover"));
    probe.receive();
    until_written(folder.path(), 2);
    // As in a test suite, where one process holds the claim for both.
    let holder = probe.process.id().to_string();
    let mut session = start(folder.path(), &["--claim-held-by", &holder]);
    session.send(&modern(0, "tools/list"));
    session.receive();
    until_written(folder.path(), 4);
    let run = probe.finish();
    assert_eq!(run.code, 0, "{}", run.all());
    session.send(&modern(1, "tools/call"));
    session.receive();
    let run = session.finish();
    assert_eq!(run.code, 0, "{}", run.all());
    assert_eq!(
        recorded(folder.path()),
        ["server/discover", "tools/list", "tools/call"]
    );
    assert_eq!(files(folder.path()), ["c.mcp.json"]);
}

#[test]
fn a_session_that_does_not_need_the_probe_does_without_it() {
    let discover = modern(0, "server/discover");
    let list = modern(1, "tools/list");
    let initialize = r#"{"id":0,"method":"initialize","params":{}}"#;
    let no_default = &["--no-default-redactions"][..];
    for (before, flags, session, expected) in [
        (&[&*discover][..], &[][..], &[initialize][..], "initialize"),
        (&[&discover], &[], &[&ping(1)], "ping"),
        (
            &[&discover],
            &[],
            &[&discover, &list],
            "server/discover tools/list",
        ),
        // What another session said is no probe.
        (&[&discover, &list], &[], &[&list], "tools/list"),
        (&[&ping(1)], &[], &[&list], "tools/list"),
        // Its messages are not what the rules of this one would have made of them.
        (&[&discover], no_default, &[&list], "tools/list"),
    ] {
        let folder = tempdir().unwrap();
        record(folder.path(), &[], before);
        record(folder.path(), flags, session);
        assert_eq!(recorded(folder.path()).join(" "), expected);
    }
}

#[test]
fn a_probe_of_another_time_is_no_part_of_the_session() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("c.mcp.json");
    record(folder.path(), &[], &[&modern(0, "server/discover")]);
    let old = SystemTime::now() - Duration::from_secs(20);
    let file = File::options().write(true).open(&path).unwrap();
    file.set_modified(old).unwrap();
    record(folder.path(), &[], &[&modern(0, "tools/list")]);
    assert_eq!(recorded(folder.path()), ["tools/list"]);
    // A checkout writes old files now.
    record(folder.path(), &[], &[&modern(0, "server/discover")]);
    let text = std::fs::read_to_string(&path).unwrap();
    let year = load(folder.path()).recorded_at().unwrap()[..4].to_owned();
    write(folder.path(), "c.mcp.json", text.replace(&year, "2024"));
    record(folder.path(), &[], &[&modern(0, "tools/list")]);
    assert_eq!(recorded(folder.path()), ["tools/list"]);
}

#[test]
fn two_that_record_at_once_keep_each_their_own() {
    let folder = tempdir().unwrap();
    let mut first = start(folder.path(), &[]);
    first.send(&modern(0, "first/a"));
    first.receive();
    until_written(folder.path(), 2);
    let mut second = start(folder.path(), &["--force"]);
    second.send(&modern(0, "second/a"));
    second.receive();
    until("it is replaced", || {
        let partial = folder.path().join("c.mcp.json.partial");
        std::fs::read_to_string(partial).is_ok_and(|text| text.contains("second/a"))
    });
    for session in [&mut first, &mut second] {
        session.send(&ping(1));
        session.receive();
    }
    let run = first.finish();
    assert_eq!(run.code, 0, "{}", run.all());
    assert_eq!(recorded(folder.path()), ["first/a", "ping"]);
    second.ping(2);
    let run = second.finish();
    assert_eq!(run.code, 0, "{}", run.all());
    assert_eq!(recorded(folder.path()), ["second/a", "ping", "ping"]);
    assert_eq!(files(folder.path()), ["c.mcp.json"]);
}
