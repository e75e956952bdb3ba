//! Faults as a client sees them, and the dry run of `inspect`.

use crate::serve_client::Client;
use crate::support::{example, run, write};
use tempfile::tempdir;

const LIST: &str = r#"{"jsonrpc":"2.0","id":"l","method":"tools/list"}"#;
const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}"#;

fn overlay(kind: &str, params: &str) -> String {
    format!(
        r#"{{"faults":[{{"target":{{"method":"tools/list"}},"type":"{kind}","params":{params}}}]}}"#
    )
}

#[test]
fn a_broken_line_is_one_line_and_the_stream_goes_on() {
    let folder = tempdir().expect("a folder");
    let faults = write(
        folder.path(),
        "f.json",
        overlay("malformed", r#"{"strategy":"truncate"}"#),
    );
    let mut client = Client::start(&[&example("tools"), "--faults", &faults.display().to_string()]);
    client.say(INITIALIZE);
    client.hear_json();
    client.say(LIST);
    let line = client.hear().expect("a line");
    assert!(
        serde_json::from_str::<serde_json::Value>(&line).is_err(),
        "{line}"
    );
    client.say(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    assert_eq!(client.hear_json()["id"], 1);
    assert_eq!(client.leave().code, 0);
}

#[test]
fn a_disconnect_ends_the_process_though_the_input_is_open_and_keeps_the_verdict() {
    let folder = tempdir().expect("a folder");
    for (params, heard) in [("{}", false), (r#"{"after_response":true}"#, true)] {
        let faults = write(folder.path(), "f.json", overlay("disconnect", params));
        let faults = faults.display().to_string();
        let mut client = Client::start(&[&example("tools"), "--faults", &faults]);
        client.say(r#"{"jsonrpc":"2.0","id":1,"method":"vendor/none"}"#);
        assert_eq!(client.hear_json()["error"]["code"], -32001);
        client.say(LIST);
        assert_eq!(client.hear().is_some(), heard, "{params}");
        let run = client.wait();
        assert_eq!(run.code, 3, "{}", run.all());
    }
}

#[test]
fn a_timeout_is_no_answer_while_the_server_goes_on() {
    let folder = tempdir().expect("a folder");
    let faults = write(folder.path(), "f.json", overlay("timeout", "{}"));
    let mut client = Client::start(&[&example("tools"), "--faults", &faults.display().to_string()]);
    client.say(LIST);
    client.say(r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#);
    assert_eq!(client.hear_json()["id"], 2);
    let run = client.leave();
    assert_eq!((run.code, &*run.stdout), (0, ""), "{}", run.all());
}

#[test]
fn a_delay_is_waited_for_at_the_end_of_the_input_and_holds_nothing_up() {
    let folder = tempdir().expect("a folder");
    let faults = write(folder.path(), "f.json", overlay("delay", r#"{"ms":300}"#));
    let mut client = Client::start(&[&example("tools"), "--faults", &faults.display().to_string()]);
    client.say(LIST);
    client.say(r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#);
    assert_eq!(client.hear_json()["id"], 2);
    let run = client.leave();
    assert!(run.stdout.contains("\"id\":\"l\""), "{}", run.all());
    assert_eq!(run.code, 0, "{}", run.all());
}

#[test]
fn an_overlay_with_a_mistake_is_refused_and_one_that_did_nothing_is_named() {
    let folder = tempdir().expect("a folder");
    let wrong = write(folder.path(), "wrong.json", overlay("delya", "{}"));
    let run_wrong = run(&[
        "serve",
        &example("tools"),
        "--faults",
        &wrong.display().to_string(),
    ]);
    assert_eq!(run_wrong.code, 2, "{}", run_wrong.all());
    assert!(
        run_wrong
            .stderr
            .contains("wrong.json:1: unknown type `delya`; did you mean `delay`?")
    );
    let unused = overlay("timeout", "{}").replace("tools/list", "tools/none");
    let unused = write(folder.path(), "unused.json", unused);
    let client = Client::start(&[&example("tools"), "--faults", &unused.display().to_string()]);
    let ended = client.leave();
    assert_eq!(ended.code, 0, "{}", ended.all());
    assert!(
        ended
            .stderr
            .contains("the fault timeout on tools/none never fired"),
        "{}",
        ended.all()
    );
}

#[test]
fn inspect_shows_what_an_overlay_would_hit() {
    let folder = tempdir().expect("a folder");
    let text = r#"{"faults":[
        {"target":{"method":"tools/call","nth":1},"type":"error"},
        {"target":{"method":"tools/none"},"type":"timeout"}]}"#;
    let faults = write(folder.path(), "f.json", text);
    let faults = faults.display().to_string();
    let shown = run(&["inspect", &example("sampling"), "--faults", &faults]);
    assert_eq!(shown.code, 0, "{}", shown.all());
    let expected = "fault overlay dry-run:\n  seq 3 tools/call -> error\n  \
                    WARNING: timeout on tools/none matches nothing\n";
    assert!(shown.stdout.ends_with(expected), "{}", shown.all());
    let meant = "warning: the fault timeout on tools/none cannot fire: no recorded request has the \
                 method `tools/none`; did you mean `tools/call`?\n";
    assert!(shown.stderr.ends_with(meant), "{}", shown.all());
    let json = run(&[
        "inspect",
        &example("sampling"),
        "--faults",
        &faults,
        "--format",
        "json",
    ]);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!(json["faults"]["hits"][0]["seq"], 3);
    assert_eq!(json["faults"]["hits"][0]["type"], "error");
    let missing = run(&["inspect", &example("sampling"), "--faults", "none.json"]);
    assert_eq!(missing.code, 2, "{}", missing.all());
}
