//! The flags, exit codes and reports of `serve`.

use crate::serve_client::Client;
use crate::support::{cassette, example, message, root, run, write};
use tempfile::tempdir;

#[test]
fn combinations_that_mean_nothing_are_refused() {
    let folder = tempdir().expect("a folder");
    let tools = example("tools");
    let folder_name = folder.path().display().to_string();
    for (arguments, expected) in [
        (&["--pace-scale", "2"][..], "need --pace recorded"),
        (&["--pace-cap-ms", "2"], "need --pace recorded"),
        (
            &["--pace", "recorded", "--pace-scale", "0"],
            "the factor is a number above 0",
        ),
        (
            &["--new-episodes", "--faults", "x.json"],
            "--faults applies to replay only",
        ),
        (&["--new-episodes"], "missing server command"),
        (&["--new-episodes", "--"], "missing server command"),
        (&["--", "server"], "goes with --new-episodes"),
        (
            &["--url", "http://localhost"],
            "--url applies to http cassettes",
        ),
        (&["--port", "80"], "go with --transport http"),
        (&["--host", "localhost"], "go with --transport http"),
        (&["--until-input-ends"], "go with --transport http"),
        (
            &["--ignore-param", "q"],
            "'q' is not a pointer to a parameter",
        ),
        (
            &["--pii-pack", "examples/lint-pack.toml"],
            "carries no redaction manifest",
        ),
        (&["--faults", "absent.json"], "--faults absent.json"),
        (&["--report", &folder_name], "is a directory"),
        (
            &["--report", "absent/report.json"],
            "a directory that does not exist",
        ),
        (&["--ordering", "sorted"], "--ordering"),
    ] {
        let mut all = vec!["serve", &*tools];
        all.extend(arguments);
        let ended = run(&all);
        assert_eq!(ended.code, 2, "{arguments:?}: {}", ended.all());
        assert!(
            ended.stderr.contains(expected),
            "{arguments:?}: {}",
            ended.all()
        );
        assert!(
            ended.stderr.starts_with("mcp-cassette serve: "),
            "{}",
            ended.all()
        );
        assert_eq!(ended.stdout, "", "{arguments:?}");
    }
}

#[test]
fn a_host_that_is_not_this_machine_is_told() {
    let tools = example("tools");
    let ended = run(&[
        "serve",
        &tools,
        "--transport",
        "http",
        "--host",
        "host.invalid",
    ]);
    assert_eq!(ended.code, 2, "{}", ended.all());
    let expected = "cannot listen on host.invalid:0";
    assert!(ended.stderr.contains(expected), "{}", ended.all());
}

#[test]
fn a_recording_of_http_is_added_to_over_http() {
    let folder = tempdir().expect("a folder");
    let text = std::fs::read_to_string(root().join(example("tools"))).expect("a cassette");
    let text = text.replacen("\"stdio\"", "\"http\"", 1);
    let path = write(folder.path(), "http.mcp.json", text);
    let path = path.display().to_string();
    let url = ["--url", "http://localhost"];
    for (arguments, expected) in [
        (&["--", "server"][..], "needs its address, --url URL"),
        (
            &["--url", "http://localhost", "--", "server"],
            "are mutually exclusive",
        ),
        (&["--url", "localhost"], "--url must be an address like"),
        (&[url[0], url[1], "--header", "none"], "--header number 1"),
        (
            &[url[0], url[1], "--ca-file", "absent.pem"],
            "--ca-file absent.pem",
        ),
        (
            &["--header", "a: b", "--", "server"],
            "--header apply to --url only",
        ),
        (
            &[url[0], url[1], "--faults", "x.json"],
            "--faults applies to replay only",
        ),
    ] {
        let mut all = vec!["serve", &*path, "--new-episodes"];
        all.extend(arguments);
        let ended = run(&all);
        assert_eq!(ended.code, 2, "{arguments:?}: {}", ended.all());
        assert!(
            ended.stderr.contains(expected),
            "{arguments:?}: {}",
            ended.all()
        );
    }
    let stdio = ["--new-episodes", "--transport", "http", "--", "server"];
    let ended = run(&[&["serve", &*example("tools")][..], &stdio].concat());
    assert_eq!(ended.code, 2, "{}", ended.all());
    let expected = "a recording of stdio over stdio";
    assert!(ended.stderr.contains(expected), "{}", ended.all());
    // The answer to the greeting came on a stream that was there before.
    let older = r#"{"format_version": 3, "transport": "http", "messages": [
        {"sender": "client", "kind": "request", "exchange": 1, "payload": {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}}},
        {"sender": "server", "kind": "response", "exchange": 0, "channel": "get", "payload": {"jsonrpc": "2.0", "id": 0, "result": {}}}]}"#;
    let older = write(folder.path(), "older.mcp.json", older);
    let older = older.display().to_string();
    let ended = run(&["serve", &older, "--new-episodes", url[0], url[1]]);
    assert_eq!(ended.code, 2, "{}", ended.all());
    let expected = "does not go with recordings of HTTP with SSE";
    assert!(ended.stderr.contains(expected), "{}", ended.all());
    let ended = run(&["serve", &path, "--url", "http://localhost"]);
    assert_eq!(ended.code, 2, "{}", ended.all());
    assert!(
        ended.stderr.contains("--url goes with --new-episodes"),
        "{}",
        ended.all()
    );
}

#[test]
fn a_miss_is_exit_3_and_is_told_and_reported() {
    let folder = tempdir().expect("a folder");
    let report = folder.path().join("report.json");
    let mut client = Client::start(&[
        &example("sampling"),
        "--report",
        &report.display().to_string(),
    ]);
    client.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"summarize","arguments":{"text":"other"}}}"#);
    let error = client.hear_json();
    assert_eq!(error["error"]["code"], -32001);
    let ask = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ask_user","arguments":{"question":"Which colour should the label have?"}}}"#;
    client.say(ask);
    assert_eq!(client.hear_json()["method"], "elicitation/create");
    let run = client.leave();
    assert_eq!(run.code, 3, "{}", run.all());
    for expected in [
        "mcp-cassette serve: 1 unmatched request(s):",
        "/params/arguments/text: recorded \"A cassette",
        "1 server request(s) still awaiting",
        "elicitation/create (id \"server-2\")",
        "1 answer(s) not given:",
        "tools/call (id 2) waits for elicitation/create",
    ] {
        assert!(run.stderr.contains(expected), "{expected}: {}", run.all());
    }
    let report = std::fs::read_to_string(report).expect("a report");
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    let expected = serde_json::json!({
        "misses": [r#"tools/call params={"name":"summarize","arguments":{"text":"other"}}"#],
        "unused_faults": [],
        "pending_server_requests": ["elicitation/create (id \"server-2\")"],
        "unused_interactions": 2,
    });
    assert_eq!(report, expected);
}

#[test]
fn a_client_that_says_nothing_is_no_failure_and_one_that_does_not_read_neither() {
    let ended = Client::start(&[&example("tools")]).leave();
    assert_eq!(
        (ended.code, &*ended.all()),
        (0, "exit 0\n--- stdout\n\n--- stderr\n")
    );
}

#[test]
fn notices_are_said_while_it_runs_and_quiet_silences_them() {
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"banana","capabilities":{}}}"#;
    for (flags, told) in [(&[][..], true), (&["-q"], false)] {
        let tools = example("tools");
        let mut arguments = vec![&*tools];
        arguments.extend(flags);
        let mut client = Client::start(&arguments);
        client.say(hello);
        assert_eq!(
            client.hear_json()["result"]["protocolVersion"],
            "2025-11-25"
        );
        let ended = client.leave();
        assert_eq!(
            ended.stderr.contains("asks for protocol version banana"),
            told,
            "{}",
            ended.all()
        );
    }
    let mut client = Client::start(&[&example("tools"), "--rewrite-protocol-version"]);
    client.say(hello);
    assert_eq!(client.hear_json()["result"]["protocolVersion"], "banana");
    client.leave();
}

#[test]
fn a_recording_whose_rules_are_lost_is_refused_with_what_to_do() {
    let folder = tempdir().expect("a folder");
    let text = cassette(&[message(
        "client",
        "request",
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
    )]);
    let manifest = r#""redaction": {"packs": [{"id": "team", "path": "gone.toml", "sha256": "00"}], "structural": []},"#;
    let text = text.replacen("\"messages\"", &format!("{manifest} \"messages\""), 1);
    let path = write(folder.path(), "c.mcp.json", text);
    let ended = run(&["serve", &path.display().to_string()]);
    assert_eq!(ended.code, 2, "{}", ended.all());
    for expected in ["'team'", "gone.toml", "--pii-pack", "re-record"] {
        assert!(
            ended.stderr.contains(expected),
            "{expected}: {}",
            ended.all()
        );
    }
}

#[test]
fn a_line_of_many_megabytes_is_read_and_answered_whole() {
    let folder = tempdir().expect("a folder");
    let long = "x".repeat(20_000_000);
    let asked = |id: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"t","arguments":{{"text":"{long}"}}}}}}"#
        )
    };
    let answer =
        |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"text":"{long}"}}}}"#);
    let text = cassette(&[
        message("client", "request", &asked("1")),
        message("server", "response", &answer("1")),
    ]);
    let path = write(folder.path(), "c.mcp.json", text);
    let mut client = Client::start(&[&path.display().to_string()]);
    client.say(&asked("9"));
    assert!(client.hear() == Some(answer("9")));
    assert_eq!(client.leave().code, 0);
}

#[cfg(unix)]
#[test]
fn a_signal_ends_it_at_once_though_the_client_neither_writes_nor_reads() {
    for signal in ["INT", "TERM", "HUP"] {
        let mut client = Client::start(&[&example("tools")]);
        client.say(r#"{"jsonrpc":"2.0","id":1,"method":"vendor/none"}"#);
        assert_eq!(client.hear_json()["error"]["code"], -32001);
        let killed = std::process::Command::new("sh")
            .args(["-c", &format!("kill -{signal} {}", client.id())])
            .status();
        assert!(killed.expect("a shell").success());
        let ended = client.wait();
        assert_eq!(ended.code, 3, "{}", ended.all());
        assert!(
            ended.stderr.contains(&format!("ended by SIG{signal}")),
            "{}",
            ended.all()
        );
    }
}
