//! `record` as its users meet it: what it writes, what it says, and its exit codes.

use crate::recorder::{Recorder, example, files, load, ping, wire_server};
use crate::support::{Run, command, finish, run, run_in, write};
use mcp_cassette::cassette::{Kind, Sender};
use std::path::Path;
use std::process::Stdio;
use tempfile::tempdir;

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// A session with the demo server in which a secret passes.
fn record_demo(folder: &Path, secret: &str) -> Run {
    let mut session = Recorder::start(
        folder,
        &["--report", "report.json"],
        [example("demo_server")],
    );
    session.send(INITIALIZE);
    session.receive();
    session.send(INITIALIZED);
    session.send(r#"{"jsonrpc":"2.0","id":"a","method":"tools/list"}"#);
    session.receive();
    session.send(&format!(
        r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"echo","arguments":{{"text":"{secret}"}}}}}}"#
    ));
    assert!(
        session.receive().contains(secret),
        "live traffic is as it is"
    );
    session.finish()
}

#[test]
fn a_session_becomes_a_cassette_that_every_command_reads() {
    let folder = tempdir().unwrap();
    let secret = format!(
        "sk-ant-{}",
        "api03-Zk9vQw3Rt7Yp2Lm8Xc5Vb1Nn4Hg6Jd0SfTrEwQaUiOpLkMz"
    );
    let run = record_demo(folder.path(), &secret);
    assert_eq!(run.code, 0, "{}", run.all());
    assert!(
        run.stderr.contains("recorded 7 messages in c.mcp.json"),
        "{}",
        run.stderr
    );
    assert_eq!(files(folder.path()), ["c.mcp.json", "report.json"]);
    let report = std::fs::read_to_string(folder.path().join("report.json")).unwrap();
    assert_eq!(report, "{\"messages\": 7}\n");

    let cassette = load(folder.path());
    assert_eq!(cassette.protocol_version().as_deref(), Some("2025-11-25"));
    assert_eq!(
        cassette.server_info(),
        Some(("demo-server".to_owned(), "1.0.0".to_owned()))
    );
    let seen: Vec<_> = cassette
        .messages()
        .map(|message| (message.sender(), message.kind(), message.id()))
        .collect();
    assert_eq!(
        seen,
        [
            (Sender::Client, Kind::Request, Some("0")),
            (Sender::Server, Kind::Response, Some("0")),
            (Sender::Client, Kind::Notification, None),
            (Sender::Client, Kind::Request, Some("\"a\"")),
            (Sender::Server, Kind::Response, Some("\"a\"")),
            (Sender::Client, Kind::Request, Some("2")),
            (Sender::Server, Kind::Response, Some("2")),
        ]
    );
    let text = std::fs::read_to_string(folder.path().join("c.mcp.json")).unwrap();
    assert!(!text.contains(&secret));
    assert_eq!(
        text,
        cassette.to_json(),
        "it is written as saving writes it"
    );
    for arguments in [
        &["lint", "c.mcp.json"][..],
        &["inspect", "c.mcp.json"],
        &["redaction-check", "c.mcp.json"],
    ] {
        let run = run_in(folder.path(), arguments, &[]);
        assert_eq!(run.code, 0, "{arguments:?}: {}", run.all());
    }
}

#[test]
fn a_recording_without_rules_says_that_none_ran() {
    let folder = tempdir().unwrap();
    let server = wire_server();
    let server = [server.as_os_str(), "answer".as_ref()];
    let mut session = Recorder::start(folder.path(), &["--no-default-redactions"], server);
    session.ping(1);
    assert_eq!(session.finish().code, 0);
    let text = std::fs::read_to_string(folder.path().join("c.mcp.json")).unwrap();
    let cassette: serde_json::Value = serde_json::from_str(&text).unwrap();
    let manifest = &cassette["redaction"];
    assert_eq!(manifest["packs"], serde_json::json!([]), "{text}");
    assert_eq!(manifest["rule_ids"], serde_json::json!([]));
    assert_eq!(manifest["structural"], serde_json::json!([]));
    assert_eq!(manifest["backends"], serde_json::json!(["structural"]));
}

#[test]
fn a_rule_that_makes_requests_equal_is_warned_of() {
    let folder = tempdir().unwrap();
    let pack = "version = 1\nid = \"p\"\n[[rules]]\nid = \"r\"\nlabel = \"R\"\nregex = \"secret\"\n\
        strategy = \"replace\"\ndirection = \"both\"\n";
    let pack = write(folder.path(), "pack.toml", pack);
    let server = wire_server();
    let server = [server.as_os_str(), "answer".as_ref()];
    let flags = ["--pii-pack", pack.to_str().unwrap()];
    let run = Recorder::start(folder.path(), &flags, server).finish();
    assert_eq!(run.code, 0, "{}", run.all());
    assert!(run.stderr.contains("collapse into one"), "{}", run.stderr);
}

#[test]
fn definitions_that_are_recorded_keep_their_words() {
    let folder = tempdir().unwrap();
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"t","inputSchema":{"type":"object","properties":{"token":{"type":"string"}}}}]}}"#;
    let sent = write(folder.path(), "answer", format!("{answer}\n"));
    let server = wire_server();
    let mut session = Recorder::start(
        folder.path(),
        &[],
        [
            server.as_os_str(),
            "mirror".as_ref(),
            sent.as_os_str(),
            "in".as_ref(),
        ],
    );
    session.send(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"token":"abcdefgh"}}"#);
    session.receive();
    assert_eq!(session.finish().code, 0);
    let text = std::fs::read_to_string(folder.path().join("c.mcp.json")).unwrap();
    assert!(text.contains("\"token\": {"), "{text}");
    assert!(text.contains("\"token\": \"REDACTED\""), "{text}");
}

#[test]
fn requests_from_a_pipe_are_all_answered_although_the_server_starts_late() {
    let folder = tempdir().unwrap();
    let requests: String = (1..=20).map(|id| ping(id) + "\n").collect();
    let requests = write(folder.path(), "requests", requests);
    let server = wire_server();
    let output = command(folder.path())
        .args(["record", "--cassette", "c.mcp.json", "--"])
        .arg(&server)
        .args(["answer", "--start", "1500"])
        .stdin(std::fs::File::open(requests).unwrap())
        .output();
    let run = finish(output.unwrap());
    assert_eq!(run.code, 0, "{}", run.all());
    assert_eq!(run.stdout.lines().count(), 20);
    assert_eq!(load(folder.path()).messages().len(), 40);
}

#[cfg(unix)]
#[test]
fn a_server_that_drops_its_work_at_the_end_of_its_input_answers_first() {
    let folder = tempdir().unwrap();
    let requests = write(folder.path(), "requests", ping(1) + "\n");
    let script = r#"
        read -r request
        { sleep 0.3; printf '{"jsonrpc":"2.0","id":1,"result":{}}\n'; } &
        while read -r more; do :; done
        kill $! 2>/dev/null
    "#;
    let output = command(folder.path())
        .args([
            "record",
            "--cassette",
            "c.mcp.json",
            "--",
            "sh",
            "-c",
            script,
        ])
        .stdin(std::fs::File::open(requests).unwrap())
        .output();
    let run = finish(output.unwrap());
    assert_eq!(run.stdout.lines().count(), 1, "{}", run.all());
    assert_eq!(load(folder.path()).messages().len(), 2);
}

#[cfg(unix)]
#[test]
fn requests_without_an_answer_are_told_at_the_end() {
    let folder = tempdir().unwrap();
    let requests = write(folder.path(), "requests", ping(1) + "\n");
    let output = command(folder.path())
        .args([
            "record",
            "--cassette",
            "c.mcp.json",
            "--",
            "sh",
            "-c",
            "read -r request",
        ])
        .stdin(std::fs::File::open(requests).unwrap())
        .output();
    let run = finish(output.unwrap());
    let told = "1 of the client's requests have no answer";
    assert!(run.stderr.contains(told), "{}", run.all());
}

#[test]
fn a_server_that_never_answers_is_ended_after_the_timeout_and_named() {
    let folder = tempdir().unwrap();
    let server = wire_server();
    let arguments = [server.to_str().unwrap(), "answer", "--silent", "1"];
    // It ends by itself at the end of its input, so a shell keeps it open.
    let script = format!(
        "{}; exec sleep 600",
        arguments.map(|a| format!("'{a}'")).join(" ")
    );
    let command = if cfg!(unix) {
        vec!["sh".to_owned(), "-c".to_owned(), script]
    } else {
        arguments.map(str::to_owned).to_vec()
    };
    let mut session = Recorder::start(folder.path(), &["--timeout", "0.2"], command);
    session.send(&ping(1));
    session.send(&ping(2));
    session.receive();
    let run = session.finish();
    assert_eq!(run.code, 0, "{}", run.all());
    if cfg!(unix) {
        assert!(run.stderr.contains("are unanswered"), "{}", run.stderr);
    }
    assert_eq!(load(folder.path()).messages().len(), 3);
}

#[test]
fn the_exit_code_is_the_servers_own_and_its_last_words_are_told() {
    let folder = tempdir().unwrap();
    let server = wire_server();
    let mut session = Recorder::start(
        folder.path(),
        &[],
        [
            server.as_os_str(),
            "answer".as_ref(),
            "--die-after".as_ref(),
            "1".as_ref(),
        ],
    );
    session.send(&ping(1));
    session.receive();
    let run = session.wait();
    assert_eq!(run.code, 3, "{}", run.all());
    assert!(
        run.stderr.contains("ended with exit code 3"),
        "{}",
        run.stderr
    );
    assert!(
        run.stderr.contains("mcp-cassette record:   last complaint"),
        "{}",
        run.stderr
    );
    assert_eq!(load(folder.path()).messages().len(), 2);
}

#[test]
fn a_command_that_cannot_run_has_the_codes_of_a_shell() {
    let folder = tempdir().unwrap();
    let plain = write(folder.path(), "plain", "no program");
    for (program, code, said) in [
        ("no-such-program-anywhere", 127, "was not found"),
        (plain.to_str().unwrap(), 126, "cannot be executed"),
    ] {
        let run = run_in(
            folder.path(),
            &["record", "--cassette", "c.mcp.json", "--", program],
            &[],
        );
        if cfg!(unix) {
            assert_eq!(run.code, code, "{}", run.all());
        }
        assert!(run.stderr.contains(said), "{}", run.stderr);
        assert_eq!(files(folder.path()), ["plain"]);
    }
}

#[test]
fn without_a_message_there_is_no_cassette_and_an_old_one_stays() {
    let folder = tempdir().unwrap();
    write(folder.path(), "c.mcp.json", "old");
    let session = Recorder::start(
        folder.path(),
        &[],
        [wire_server().as_os_str(), "answer".as_ref()],
    );
    let run = session.finish();
    assert_eq!(run.code, 0, "{}", run.all());
    assert!(
        run.stderr.contains("already exists and will be replaced"),
        "{}",
        run.stderr
    );
    assert!(
        run.stderr.contains("captured zero messages"),
        "{}",
        run.stderr
    );
    assert_eq!(files(folder.path()), ["c.mcp.json"]);
    assert_eq!(
        std::fs::read(folder.path().join("c.mcp.json")).unwrap(),
        b"old"
    );
}

#[test]
fn a_command_line_that_makes_no_sense_is_refused_with_the_way_out() {
    let record = ["record", "--cassette", "target/never.mcp.json"];
    for (rest, said) in [
        (&[][..], "pass a remote --url URL or a server command"),
        (&["--"], "missing server command"),
        (
            &["--url", "http://localhost/mcp", "--", "x"],
            "mutually exclusive",
        ),
        (&["--port", "1", "--", "x"], "apply to --url recording only"),
        (
            &["--max-idle", "1", "--", "x"],
            "apply to --url recording only",
        ),
        (&["--claim-wait", "-1", "--", "x"], "--claim-wait"),
        (&["--max-message", "0", "--", "x"], "--max-message"),
        (
            &["--redact-salt-env", "--", "x"],
            "MCP_CASSETTE_REDACT_SALT",
        ),
        (
            &["--pii-pack", "no-such-pack.toml", "--", "x"],
            "no-such-pack.toml",
        ),
    ] {
        let arguments = [&record[..], rest].concat();
        let run = run(&arguments);
        assert_eq!(run.code, 2, "{rest:?}: {}", run.all());
        assert!(
            run.stderr.starts_with("mcp-cassette record: "),
            "{}",
            run.stderr
        );
        assert!(run.stderr.contains(said), "{rest:?}: {}", run.stderr);
        assert_eq!(run.stdout, "");
    }
}

#[test]
fn an_output_that_cannot_be_written_is_refused_before_the_server_starts() {
    let folder = tempdir().unwrap();
    write(folder.path(), "file", "");
    std::fs::create_dir(folder.path().join("directory")).unwrap();
    for path in ["directory", "file/c.mcp.json", ".."] {
        let run = run_in(
            folder.path(),
            &["record", "--cassette", path, "--", "no-such-program"],
            &[],
        );
        assert_eq!(run.code, 2, "{path}: {}", run.all());
        assert!(run.stderr.contains(path), "{}", run.stderr);
    }
}

#[test]
fn what_would_fail_at_the_end_is_refused_before_the_server_starts() {
    let folder = tempdir().unwrap();
    std::fs::create_dir(folder.path().join("d.mcp.json.partial")).unwrap();
    let long = "a".repeat(240);
    for (cassette, report, said) in [
        (
            "d.mcp.json",
            "r.json",
            "d.mcp.json.partial cannot be written",
        ),
        (&long, "r.json", ".partial cannot be written"),
        ("new/", "r.json", "names no file"),
        ("c.mcp.json", "c.mcp.json", "a file of the cassette itself"),
        (
            "c.mcp.json",
            "./c.mcp.json.partial",
            "a file of the cassette itself",
        ),
        (
            "c.mcp.json",
            "d.mcp.json.partial/../c.mcp.json.claim",
            "a file of the cassette itself",
        ),
    ] {
        let arguments = [
            "record",
            "--cassette",
            cassette,
            "--report",
            report,
            "--",
            "no-such-program",
        ];
        let run = run_in(folder.path(), &arguments, &[]);
        assert_eq!(run.code, 2, "{cassette}: {}", run.all());
        assert!(run.stderr.contains(said), "{cassette}: {}", run.stderr);
        assert_eq!(files(folder.path()), ["d.mcp.json.partial"]);
    }
}

#[test]
fn a_command_is_taken_verbatim_after_the_two_dashes() {
    let folder = tempdir().unwrap();
    let output = command(folder.path())
        .args(["record", "--cassette", "c.mcp.json", "--quiet", "--"])
        .arg(wire_server())
        .args(["answer", "--", "--cassette", "--quiet"])
        .stdin(Stdio::null())
        .output();
    let run = finish(output.unwrap());
    assert_eq!(run.code, 0, "{}", run.all());
}

#[test]
fn two_million_bytes_of_logging_are_passed_on_and_hold_nothing_up() {
    let folder = tempdir().unwrap();
    let server = wire_server();
    let mut session = Recorder::start(
        folder.path(),
        &[],
        [
            server.as_os_str(),
            "answer".as_ref(),
            "--stderr".as_ref(),
            "2000000".as_ref(),
        ],
    );
    session.ping(1);
    let run = session.finish();
    assert_eq!(run.code, 0);
    let passed = run.stderr.matches("log line of a talkative server").count();
    assert_eq!(passed, 2_000_000 / 31);
}

#[test]
fn a_probe_that_ends_late_does_not_replace_what_the_session_recorded() {
    let folder = tempdir().unwrap();
    let server = wire_server();
    let server = [server.as_os_str(), "answer".as_ref()];
    let mut probe = Recorder::start(folder.path(), &[], server);
    probe.send(r#"{"jsonrpc":"2.0","id":"p","method":"server/discover"}"#);
    probe.receive();
    let mut session = Recorder::start(folder.path(), &["--force"], server);
    session.ping(1);
    assert_eq!(session.finish().code, 0);
    let run = probe.finish();
    assert_eq!(run.code, 0, "{}", run.all());
    assert!(run.stderr.contains("that one stays"), "{}", run.stderr);
    let cassette = load(folder.path());
    assert_eq!(
        cassette.messages().next().unwrap().method().as_deref(),
        Some("ping")
    );
    assert_eq!(files(folder.path()), ["c.mcp.json"]);
}
