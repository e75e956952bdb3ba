//! `serve --new-episodes`: what was not recorded is asked of the real server and added.

use crate::demo_client;
use crate::recorder::{Recorder, assert_no_gap, files, load, until, wire_server};
use crate::support::{Run, command, write};
use mcp_cassette::Cassette;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use tempfile::tempdir;

const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

fn demo_server() -> Vec<OsString> {
    vec![demo_client::executable().into()]
}

fn wire(options: &[&str]) -> Vec<OsString> {
    let mut server = vec![wire_server().into_os_string(), "answer".into()];
    server.extend(options.iter().map(OsString::from));
    server
}

fn request(id: u64, method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

fn call(id: u64, tool: &str, arguments: &Value) -> String {
    request(
        id,
        "tools/call",
        &json!({"name": tool, "arguments": arguments}),
    )
}

fn hear(session: &mut Recorder) -> Value {
    serde_json::from_str(&session.receive()).expect("JSON")
}

/// The text of an answer.
fn text(answer: &Value) -> &str {
    let text = answer["result"]["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("no text in {answer}"))
}

fn greet(session: &mut Recorder, capabilities: &Value) {
    let hello = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": capabilities,
        "clientInfo": {"name": "test", "version": "0"},
    });
    session.send(&request(0, "initialize", &hello));
    assert_eq!(hear(session)["id"], 0);
    session.send(INITIALIZED);
}

/// Records a session in which `echo` is called once.
fn record(folder: &Path) -> Cassette {
    let mut session = Recorder::start(folder, &[], demo_server());
    greet(&mut session, &json!({"sampling": {}}));
    session.send(&call(1, "echo", &json!({"text": "hello"})));
    assert_eq!(text(&hear(&mut session)), "hello");
    let run = session.finish();
    assert_eq!(run.code, 0, "{}", run.all());
    load(folder)
}

/// `serve c.mcp.json --new-episodes FLAGS -- SERVER`.
fn extend(folder: &Path, flags: &[&str], server: &[OsString]) -> Recorder {
    let mut serve = command(folder);
    serve
        .args(["serve", "c.mcp.json", "--new-episodes"])
        .args(flags)
        .arg("--")
        .args(server);
    Recorder::spawn(serve)
}

fn replay(folder: &Path) -> Recorder {
    let mut serve = command(folder);
    serve.args(["serve", "c.mcp.json"]);
    Recorder::spawn(serve)
}

fn report(folder: &Path) -> Value {
    let report = fs::read_to_string(folder.join("report.json")).expect("a report");
    serde_json::from_str(&report).expect("JSON")
}

/// That the new text is the old one with messages added.
fn assert_only_added(folder: &Path, old: &Cassette) -> String {
    let new = load(folder).to_json();
    let old = old.to_json();
    let end = old.rfind("\n  ]").expect("the end of the messages");
    assert!(new.starts_with(&old[..end]), "{new}");
    assert!(new.ends_with(&old[end..]), "{new}");
    assert_no_gap(&load(folder));
    assert_eq!(files(folder), ["c.mcp.json", "report.json"]);
    new[end..].to_owned()
}

const REPORT: &[&str] = &["--report", "report.json"];

#[test]
fn a_hit_is_served_and_a_miss_is_asked_added_and_served_from_then_on() {
    let folder = tempdir().unwrap();
    let old = record(folder.path());
    let add = call(2, "add", &json!({"a": 2, "b": 40}));
    let slow = request(
        3,
        "tools/call",
        &json!({"name": "slow", "arguments": {"steps": 2}, "_meta": {"progressToken": "p"}}),
    );
    // The second time everything is in the cassette, and the third time without a server.
    for (server, added) in [
        (Some(demo_server()), 6),
        (Some(vec!["no-such-server".into()]), 0),
        (None, 0),
    ] {
        let mut session = match &server {
            Some(server) => extend(folder.path(), REPORT, server),
            None => replay(folder.path()),
        };
        greet(&mut session, &json!({"sampling": {}}));
        session.send(&call(1, "echo", &json!({"text": "hello"})));
        assert_eq!(text(&hear(&mut session)), "hello");
        session.send(&add);
        let answer = hear(&mut session);
        assert_eq!((&answer["id"], text(&answer)), (&json!(2), r#"{"sum":42}"#));
        session.send(&slow);
        for step in 0..2 {
            let progress = hear(&mut session);
            assert_eq!(progress["params"]["progress"], step, "{progress}");
            assert_eq!(progress["params"]["progressToken"], "p");
        }
        assert_eq!(text(&hear(&mut session)), "finished after 2 steps");
        let before = fs::read(folder.path().join("c.mcp.json")).unwrap();
        let run = session.finish();
        assert_eq!(run.code, 0, "{}", run.all());
        assert_eq!(run.stdout, "", "{}", run.all());
        let report = report(folder.path());
        if added > 0 {
            assert_eq!(report["messages"], added);
            assert!(run.stderr.contains("added 6 messages to c.mcp.json"));
        } else {
            assert_eq!(before, fs::read(folder.path().join("c.mcp.json")).unwrap());
        }
        assert_eq!(report["misses"], json!([]));
        let more = assert_only_added(folder.path(), &old);
        assert!(!more.contains("\"initialize"), "{more}");
        assert!(!more.contains("notifications/initialized"), "{more}");
    }
    assert_eq!(report(folder.path())["messages"], 0);
    let offsets: Vec<i64> = load(folder.path())
        .messages()
        .map(|message| message.t_offset_ms())
        .collect();
    assert!(offsets.is_sorted(), "{offsets:?}");
}

#[test]
fn what_the_real_server_asks_reaches_the_client_and_its_answer_goes_back() {
    let folder = tempdir().unwrap();
    let old = record(folder.path());
    let summarize = call(7, "summarize", &json!({"text": "a long text"}));
    for is_new in [true, false] {
        let mut session = match is_new {
            true => extend(folder.path(), REPORT, &demo_server()),
            false => replay(folder.path()),
        };
        greet(&mut session, &json!({"sampling": {}}));
        session.send(&summarize);
        let question = hear(&mut session);
        assert_eq!(question["method"], "sampling/createMessage", "{question}");
        let result = json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "short"}});
        let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": result});
        session.send(&answer.to_string());
        let answer = hear(&mut session);
        assert_eq!((&answer["id"], text(&answer)), (&json!(7), "short"));
        let run = session.finish();
        assert_eq!(run.code, 0, "{}", run.all());
    }
    assert_only_added(folder.path(), &old);
}

#[test]
fn what_is_added_is_redacted_by_the_rules_of_the_recording() {
    let folder = tempdir().unwrap();
    let old = record(folder.path());
    let secret = "write to ada@company.org";
    let echo = call(5, "echo", &json!({"text": secret, "password": "hunter2"}));
    let mut session = extend(folder.path(), REPORT, &demo_server());
    greet(&mut session, &json!({}));
    session.send(&echo);
    assert_eq!(text(&hear(&mut session)), secret);
    assert_eq!(session.finish().code, 0);
    let more = assert_only_added(folder.path(), &old);
    for hidden in ["ada@", "hunter2"] {
        assert!(!more.contains(hidden), "{more}");
    }
    let mut session = replay(folder.path());
    greet(&mut session, &json!({}));
    session.send(&echo);
    assert!(text(&hear(&mut session)).starts_with("write to <"));
    assert_eq!(session.finish().code, 0);
    // A recording without rules is added to as it is, and that is said.
    let bare = r#"{"format_version": 3, "transport": "stdio", "messages": []}"#;
    write(folder.path(), "c.mcp.json", bare);
    let mut session = extend(folder.path(), &[], &demo_server());
    greet(&mut session, &json!({}));
    session.send(&echo);
    hear(&mut session);
    let run = session.finish();
    assert!(
        run.stderr.contains("no redaction manifest"),
        "{}",
        run.all()
    );
    assert!(load(folder.path()).to_json().contains("ada@"));
    let mut session = replay(folder.path());
    greet(&mut session, &json!({}));
    session.send(&echo);
    assert_eq!(text(&hear(&mut session)), secret);
    assert_eq!(session.finish().code, 0);
}

#[test]
fn one_writer_holds_the_cassette() {
    let folder = tempdir().unwrap();
    record(folder.path());
    let mut writer = Recorder::start(folder.path(), &[], demo_server());
    greet(&mut writer, &json!({}));
    let run = extend(folder.path(), &["-q"], &demo_server()).finish();
    assert_eq!(run.code, 6, "{}", run.all());
    assert!(run.stderr.contains("held for writing by"), "{}", run.all());
    let pid = writer.process.id().to_string();
    let run = extend(folder.path(), &["--claim-held-by", &pid], &demo_server()).finish();
    assert_eq!(run.code, 0, "{}", run.all());
    assert!(files(folder.path()).contains(&"c.mcp.json.claim".to_owned()));
    assert_eq!(writer.finish().code, 0);
    // And the other way round.
    let mut session = extend(folder.path(), &[], &demo_server());
    greet(&mut session, &json!({}));
    let run = Recorder::start(folder.path(), &[], demo_server()).finish();
    assert_eq!(run.code, 6, "{}", run.all());
    assert_eq!(session.finish().code, 0);
    assert_eq!(files(folder.path()), ["c.mcp.json"]);
}

fn assert_unmatched(run: &Run, why: &str) {
    assert_eq!(run.code, 3, "{}", run.all());
    for part in ["1 unmatched request(s):", why] {
        assert!(run.stderr.contains(part), "{part}: {}", run.all());
    }
}

#[test]
fn a_server_that_does_not_start_or_ends_leaves_a_miss_and_the_recording() {
    let folder = tempdir().unwrap();
    let old = record(folder.path());
    let mut session = extend(folder.path(), REPORT, &["no-such-server".into()]);
    greet(&mut session, &json!({}));
    session.send(&call(1, "new", &json!({})));
    let refused = hear(&mut session);
    assert_eq!(refused["error"]["code"], -32001, "{refused}");
    session.send(&call(2, "echo", &json!({"text": "hello"})));
    assert_eq!(text(&hear(&mut session)), "hello");
    let run = session.finish();
    assert_unmatched(&run, "'no-such-server' was not found");
    assert_eq!(report(folder.path())["messages"], 0);
    assert_only_added(folder.path(), &old);

    // It answers the greeting and one call.
    let server = wire(&["--die-after", "2"]);
    let mut session = extend(folder.path(), REPORT, &server);
    greet(&mut session, &json!({}));
    for id in [1, 2] {
        session.send(&call(id, "new", &json!({})));
        let answer = hear(&mut session);
        assert_eq!(answer.get("result").is_some(), id == 1, "{answer}");
    }
    session.send(&call(3, "echo", &json!({"text": "hello"})));
    assert_eq!(text(&hear(&mut session)), "hello");
    let run = session.finish();
    assert_unmatched(&run, "last complaint");
    assert!(
        run.stderr.contains("ended with exit code 3"),
        "{}",
        run.all()
    );
    let report = report(folder.path());
    assert_eq!(report["misses"].as_array().map(Vec::len), Some(1));
    let more = assert_only_added(folder.path(), &old);
    assert!(more.contains("\"response\""), "{more}");
}

#[test]
fn a_client_that_left_is_answered_by_a_server_that_is_slow_to_start() {
    let folder = tempdir().unwrap();
    let old = record(folder.path());
    let mut session = extend(folder.path(), REPORT, &wire(&["--start", "2500"]));
    greet(&mut session, &json!({}));
    session.send(&call(1, "new", &json!({})));
    let run = session.finish();
    assert_eq!(run.code, 0, "{}", run.all());
    assert!(run.stdout.contains("\"id\":1"), "{}", run.all());
    // The server was told of the end, and not given up after a silence.
    assert!(!run.stderr.contains("warning"), "{}", run.all());
    assert_only_added(folder.path(), &old);
}

#[test]
fn many_long_calls_at_once_hold_nobody_up() {
    let folder = tempdir().unwrap();
    let old = record(folder.path());
    let mut session = extend(folder.path(), REPORT, &wire(&["--size", "100000"]));
    greet(&mut session, &json!({}));
    let long = "y".repeat(100_000);
    for id in 1..=100 {
        session.send(&call(id, "new", &json!({"text": long, "n": id})));
    }
    for id in 1..=100 {
        assert_eq!(hear(&mut session)["id"], id);
    }
    let run = session.finish();
    assert_eq!(run.code, 0, "{}", run.all());
    assert_eq!(report(folder.path())["messages"], 200);
    assert_only_added(folder.path(), &old);
}

const SUM: &str = r#"{"sum":1777}"#;

fn add() -> String {
    call(4, "add", &json!({"a": 1000, "b": 777}))
}

/// A session that asked the real server something, which is on the disk.
fn begun(folder: &Path, flags: &[&str]) -> Recorder {
    let mut session = extend(folder, flags, &demo_server());
    greet(&mut session, &json!({}));
    session.send(&add());
    assert_eq!(text(&hear(&mut session)), SUM);
    let partial = folder.join("c.mcp.json.partial");
    until("it is on the disk", || {
        let text = fs::read_to_string(&partial).unwrap_or_default();
        text.contains("1777") && !text.contains("\"2024-")
    });
    session
}

#[test]
fn what_a_killed_run_had_added_is_taken_in_by_the_next_one() {
    let folder = tempdir().unwrap();
    record(folder.path());
    let path = folder.path().join("c.mcp.json");
    let before = fs::read(&path).unwrap();
    let mut session = begun(folder.path(), &[]);
    session.process.kill().unwrap();
    session.wait();
    assert_eq!(
        fs::read(&path).unwrap(),
        before,
        "the cassette is as it was"
    );
    let mut left = command(folder.path());
    left.args(["serve", "c.mcp.json.partial"]);
    let mut left = Recorder::spawn(left);
    greet(&mut left, &json!({}));
    left.send(&call(1, "echo", &json!({"text": "hello"})));
    assert_eq!(text(&hear(&mut left)), "hello");
    left.send(&add());
    assert_eq!(text(&hear(&mut left)), SUM);
    assert_eq!(left.finish().code, 0);
    // The next run has it, and asks for nothing.
    let mut next = extend(folder.path(), &[], &["no-such-server".into()]);
    greet(&mut next, &json!({}));
    next.send(&add());
    assert_eq!(text(&hear(&mut next)), SUM);
    let run = next.finish();
    assert_eq!(run.code, 0, "{}", run.all());
    assert!(
        run.stderr.contains("note: 2 messages that"),
        "{}",
        run.all()
    );
    assert_eq!(files(folder.path()), ["c.mcp.json"]);
    assert_no_gap(&load(folder.path()));
    // What another recording left is not taken for that.
    let other = fs::read_to_string(&path).unwrap();
    let other = other.replacen("\"2025-", "\"2024-", 1);
    write(folder.path(), "c.mcp.json.partial", other);
    fs::write(&path, &before).unwrap();
    assert_eq!(begun(folder.path(), &[]).finish().code, 0);
    assert!(!load(folder.path()).to_json().contains("\"2024-"));
}

#[cfg(unix)]
#[test]
fn a_signal_saves_what_was_added() {
    let folder = tempdir().unwrap();
    let old = record(folder.path()).to_json();
    let session = begun(folder.path(), REPORT);
    session.signal(rustix::process::Signal::TERM);
    let run = session.wait();
    assert_eq!(run.code, 130, "{}", run.all());
    assert_eq!(report(folder.path())["messages"], 2);
    let new = load(folder.path()).to_json();
    assert!(new.contains("\"interrupted\": true"), "{new}");
    assert!(new.contains("1777"), "{new}");
    let end = old.rfind("\n  ]").unwrap();
    assert!(new.starts_with(&old[..end]), "{new}");
    assert_eq!(files(folder.path()), ["c.mcp.json", "report.json"]);
}
