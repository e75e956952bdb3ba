//! `serve --new-episodes --url`: what was not recorded is asked of the real server over HTTP and added.
#![cfg(unix)]

use crate::origin::{Origin, Proxy, SESSION, Talk, answer_plainly};
use crate::recorder::{PATIENCE, assert_no_gap, files, load};
use crate::support::{Run, run_in, write};
use crate::web::{Answer, Site, Wire};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::sync::{Mutex, mpsc};
use tempfile::{TempDir, tempdir};

pub(crate) const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"c","version":"1"}}}"#;
pub(crate) const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#;
pub(crate) const TOLD: &str =
    r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}"#;
/// Where no server is.
pub(crate) const NOBODY: &str = "http://127.0.0.1:9/mcp";
pub(crate) const REPORT: &[&str] = &["--report", "report.json"];

pub(crate) fn call(id: u32, tool: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{{}}}}}}"#
    )
}

pub(crate) fn answer(id: &Value, text: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"{text}"}}]}}}}"#
    )
}

pub(crate) fn event(data: &str) -> String {
    format!("event: message\ndata: {data}\n\n")
}

/// A request of the modern era with its headers.
pub(crate) fn modern(id: u32, tool: &str) -> (String, String) {
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{{}},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}}}}"#
    );
    let headers = format!(
        "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {tool}\r\n"
    );
    (headers, body)
}

pub(crate) fn id_of(talk: &Talk) -> Value {
    let body: Value = serde_json::from_str(&talk.request.body).unwrap_or_default();
    body["id"].clone()
}

/// A recording in which the tool `known` was called once: of the older protocol, with a session, or of
/// 2026-07-28.
pub(crate) fn record(is_modern: bool) -> TempDir {
    let folder = tempdir().expect("a folder");
    let origin = Origin::start(|talk| {
        if talk.request.body.contains("tools/call") {
            return talk.json(&answer(&id_of(talk), "recorded"));
        }
        answer_plainly(talk);
    });
    let proxy = Proxy::start(folder.path(), &origin.url(), &[]);
    let mut wire = proxy.connect();
    if is_modern {
        let (headers, body) = modern(1, "known");
        wire.post_with(&headers, &body);
        assert_eq!(wire.answer().status, 200);
    } else {
        for (session, body) in [
            ("", INITIALIZE),
            (SESSION, INITIALIZED),
            (SESSION, &call(1, "known")),
        ] {
            wire.post(session, body);
            wire.answer();
        }
    }
    let run = proxy.stop();
    assert_eq!(run.code, 130, "{}", run.all());
    fs::remove_file(folder.path().join("report.json")).expect("a report");
    folder
}

/// `serve c.mcp.json --new-episodes --url URL FLAGS`.
pub(crate) fn extend(folder: &Path, url: &str, flags: &[&str]) -> Site {
    let mut all = vec!["c.mcp.json", "--new-episodes", "--url", url];
    all.extend(flags);
    Site::start_in(folder, &all)
}

/// Begins a session as the recorded one.
pub(crate) fn begin(site: &Site) -> String {
    let id = site.initialize(INITIALIZE);
    assert_eq!(site.post(&id, INITIALIZED).status, 202);
    id
}

pub(crate) fn text(answer: &Answer) -> String {
    let json = answer.json();
    let text = json["result"]["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("no text in {answer:?}"))
        .to_owned()
}

pub(crate) fn report(folder: &Path) -> Value {
    let report = fs::read_to_string(folder.join("report.json")).expect("a report");
    serde_json::from_str(&report).expect("JSON")
}

pub(crate) fn cassette(folder: &Path) -> Value {
    let text = fs::read_to_string(folder.join("c.mcp.json")).expect("a cassette");
    serde_json::from_str(&text).expect("JSON")
}

/// That messages and rows were added and nothing else was changed; what was added.
pub(crate) fn added(folder: &Path, old: &Value) -> (Vec<Value>, Vec<Value>) {
    let mut new = cassette(folder);
    let mut rest = |name: &str| {
        let before = old[name].as_array().expect("a list").clone();
        let after = new[name].as_array().expect("a list").clone();
        assert_eq!(after[..before.len()], before[..], "{name}");
        new[name] = old[name].clone();
        after[before.len()..].to_vec()
    };
    let added = (rest("messages"), rest("http_exchanges"));
    new.as_object_mut()
        .expect("an object")
        .remove("interrupted");
    assert_eq!(new, *old);
    assert_no_gap(&load(folder));
    let lint = run_in(folder, &["lint", "c.mcp.json"], &[]);
    assert!(!lint.stdout.contains("R014"), "{}", lint.all());
    added
}

pub(crate) fn assert_ended(run: &Run, code: i32) {
    assert_eq!(run.code, code, "{}", run.all());
}

/// A server of the older protocol that calls every tool by its name.
pub(crate) fn legacy() -> Origin {
    Origin::start(|talk| {
        if talk.request.body.contains("tools/call") {
            assert_eq!(talk.request.header("mcp-session-id"), Some(SESSION));
            return talk.json(&answer(&id_of(talk), "live"));
        }
        answer_plainly(talk);
    })
}

/// Asks what was not recorded, with headers that are to reach the server; gives the id of the session.
fn ask_with_headers(site: &Site) -> String {
    let id = begin(site);
    let mut wire = site.connect();
    let headers = format!(
        "Mcp-Session-Id: {id}\r\nAuthorization: Bearer b3arer-t0ken-b3arer\r\n\
         MCP-Protocol-Version: 2025-11-25\r\n"
    );
    wire.post_with(&headers, &call(6, "new"));
    let heard = wire.answer();
    assert_eq!((&*text(&heard), &heard.json()["id"]), ("live", &json!(6)));
    assert_eq!(heard.header("mcp-session-id"), None);
    id
}

#[test]
fn the_server_is_greeted_as_the_client_greeted_us_in_a_session_of_its_own() {
    let folder = record(false);
    let origin = legacy();
    let header = ["--header", "X-Api-Key: h3ader-s3cret-h3ader"];
    let site = extend(folder.path(), &origin.url(), &header);
    let id = ask_with_headers(&site);
    let [greeting, initialized, asked] = [origin.request(), origin.request(), origin.request()];
    assert_eq!(greeting.body, INITIALIZE);
    assert_eq!(greeting.header("mcp-session-id"), None);
    assert_eq!(initialized.body, INITIALIZED);
    assert_eq!(asked.body, call(6, "new"));
    for (name, value) in [
        ("authorization", "Bearer b3arer-t0ken-b3arer"),
        ("x-api-key", "h3ader-s3cret-h3ader"),
        ("accept", "application/json, text/event-stream"),
        ("content-type", "application/json"),
    ] {
        for request in [&greeting, &initialized, &asked] {
            assert_eq!(request.header(name), Some(value), "{name}");
        }
    }
    for request in [&initialized, &asked] {
        assert_eq!(request.header("mcp-session-id"), Some(SESSION));
        assert_eq!(request.header("mcp-protocol-version"), Some("2025-11-25"));
    }
    let run = site.stop();
    assert_ended(&run, 130);
    assert_eq!(origin.request().line, "DELETE /mcp", "the session is ended");
    let written = fs::read_to_string(folder.path().join("c.mcp.json")).unwrap() + &run.stderr;
    for secret in [SESSION, &id, "b3arer", "h3ader"] {
        assert!(!written.contains(secret), "{secret} in {written}");
    }
    assert!(
        !format!("{greeting:?}{asked:?}").contains(&id),
        "our id is ours"
    );
}

#[test]
fn a_hit_is_served_and_a_miss_is_asked_added_and_served_from_then_on() {
    let folder = record(false);
    let old = cassette(folder.path());
    let origin = legacy();
    let site = extend(folder.path(), &origin.url(), REPORT);
    let id = begin(&site);
    assert!(id.starts_with("mcc-"), "{id}");
    assert_eq!(text(&site.post(&id, &call(5, "known"))), "recorded");
    assert_eq!(origin.others(), 0, "nothing is asked before the first miss");
    assert_eq!(text(&site.post(&id, &call(6, "new"))), "live");
    assert_eq!(origin.others(), 3);
    // What the client tells reaches the server from now on, before what follows.
    assert_eq!(site.post(&id, CHANGED).status, 202);
    assert_eq!(text(&site.post(&id, &call(7, "more"))), "live");
    assert_eq!(origin.request().body, CHANGED);
    assert_eq!(origin.request().body, call(7, "more"));
    let run = site.stop();
    assert_ended(&run, 130);
    let expected = "added 5 messages to c.mcp.json";
    assert!(run.stderr.contains(expected), "{}", run.all());
    let told = report(folder.path());
    assert_eq!(
        (&told["messages"], &told["misses"]),
        (&json!(5), &json!([]))
    );
    let (messages, rows) = added(folder.path(), &old);
    assert_eq!((messages.len(), rows.len()), (5, 3));
    for row in &rows {
        assert_eq!(
            row["session"], 0,
            "it goes on with the recorded session: {row}"
        );
    }

    // Everything is in the cassette now: nobody is asked, and it stays as it is.
    let before = fs::read(folder.path().join("c.mcp.json")).unwrap();
    let site = extend(folder.path(), NOBODY, REPORT);
    let id = begin(&site);
    for (tool, expected) in [("known", "recorded"), ("new", "live"), ("more", "live")] {
        assert_eq!(text(&site.post(&id, &call(9, tool))), expected);
    }
    assert_ended(&site.stop(), 0);
    assert_eq!(before, fs::read(folder.path().join("c.mcp.json")).unwrap());
    assert_eq!(files(folder.path()), ["c.mcp.json", "report.json"]);
}

fn ask_statelessly(site: &Site, id: u32, tool: &str) -> Wire {
    let mut wire = site.connect();
    let (headers, body) = modern(id, tool);
    wire.post_with(&headers, &body);
    wire
}

/// A server of 2026-07-28 whose tool `events` answers by a stream, of which each event is sent when
/// `told` says so, and that has no other tool.
pub(crate) fn stateless(told: mpsc::Receiver<()>) -> Origin {
    let told = Mutex::new(told);
    Origin::start(move |talk| {
        let id = id_of(talk);
        assert_eq!(talk.request.header("mcp-session-id"), None);
        if talk.request.header("mcp-name") == Some("events") {
            talk.stream();
            talk.chunk(&event(TOLD));
            told.lock().unwrap().recv_timeout(PATIENCE).unwrap();
            talk.chunk(&event(&answer(&id, "live")));
            return talk.chunk("");
        }
        let error =
            json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "none"}});
        let kind = "Content-Type: application/json\r\n";
        talk.answer("404 Not Found", kind, error.to_string().as_bytes());
    })
}

#[test]
fn a_stateless_server_is_asked_at_once_and_its_status_and_framing_are_passed_on() {
    let folder = record(true);
    let old = cassette(folder.path());
    let (next, told) = mpsc::channel::<()>();
    let origin = stateless(told);
    for (url, code) in [(&*origin.url(), 130), (NOBODY, 0)] {
        let site = extend(folder.path(), url, REPORT);
        let mut wire = ask_statelessly(&site, 4, "events");
        let head = wire.head().expect("a response");
        assert_eq!(head.header("content-type"), Some("text/event-stream"));
        assert_eq!(wire.chunk(), Some(event(TOLD)));
        // The client has it before the next one is sent.
        next.send(()).unwrap();
        assert_eq!(wire.chunk(), Some(event(&answer(&json!(4), "live"))));
        assert_eq!(wire.chunk().as_deref(), Some(""));
        let heard = ask_statelessly(&site, 5, "absent").answer();
        assert_eq!(
            (heard.status, &heard.json()["error"]["code"]),
            (404, &json!(-32601))
        );
        let heard = ask_statelessly(&site, 6, "known").answer();
        assert_eq!(text(&heard), "recorded");
        assert_ended(&site.stop(), code);
    }
    let (messages, rows) = added(folder.path(), &old);
    assert_eq!(messages.len(), 5);
    let framings: Vec<_> = rows.iter().map(|row| row["framing"].clone()).collect();
    assert_eq!(framings, ["sse", "json"]);
    assert_eq!(rows[1]["status"], 404);
    assert!(rows.iter().all(|row| row["session"].is_null()), "{rows:?}");
}

#[test]
fn what_is_added_is_redacted_by_the_rules_of_the_recording() {
    let folder = record(false);
    let old = cassette(folder.path());
    let origin = Origin::start(|talk| {
        if talk.request.body.contains("tools/call") {
            return talk.json(&answer(&id_of(talk), "write to ada@company.org"));
        }
        answer_plainly(talk);
    });
    let site = extend(folder.path(), &origin.url(), &[]);
    let id = begin(&site);
    let asked = r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"mail","arguments":{"password":"hunter2"}}}"#;
    assert_eq!(text(&site.post(&id, asked)), "write to ada@company.org");
    assert_ended(&site.stop(), 130);
    let (messages, _) = added(folder.path(), &old);
    let shown = json!(messages).to_string();
    assert!(
        !shown.contains("ada@") && !shown.contains("hunter2"),
        "{shown}"
    );
    let site = Site::start_in(folder.path(), &["c.mcp.json"]);
    let id = begin(&site);
    assert!(text(&site.post(&id, asked)).starts_with("write to <"));
    assert_ended(&site.stop(), 0);
}

#[test]
fn what_the_address_of_the_server_holds_is_added_nowhere() {
    const SECRETS: [&str; 2] = ["s3cr3t-of-the-query", "s3cr3t-of-the-user"];
    let folder = record(false);
    let origin = Origin::start(|talk| {
        if talk.request.body.contains("tools/call") {
            return talk.json(&answer(&id_of(talk), &SECRETS.join(" ")));
        }
        answer_plainly(talk);
    });
    let [query, user] = SECRETS;
    let url = format!(
        "http://me:{user}@127.0.0.1:{}/mcp?token={query}",
        origin.port
    );
    let old = cassette(folder.path());
    let site = extend(folder.path(), &url, &[]);
    let id = begin(&site);
    // The client hears what the server says.
    let heard = text(&site.post(&id, &call(6, "new")));
    assert_eq!(heard, SECRETS.join(" "));
    assert_ended(&site.stop(), 130);
    let (messages, _) = added(folder.path(), &old);
    let written = serde_json::to_string(&messages).unwrap();
    assert!(written.contains("REDACTED REDACTED"), "{written}");
}

#[test]
fn the_type_of_a_stream_may_be_in_capitals() {
    let folder = record(false);
    let origin = Origin::start(|talk| {
        if !talk.request.body.contains("tools/call") {
            return answer_plainly(talk);
        }
        let body = event(&answer(&id_of(talk), "live"));
        let kind = "Content-Type: Text/Event-Stream ; charset=utf-8\r\n";
        talk.answer("200 OK", kind, body.as_bytes());
    });
    let site = extend(folder.path(), &origin.url(), &[]);
    let id = begin(&site);
    let heard = site.post(&id, &call(6, "new"));
    assert!(heard.body.contains("\"live\""), "{heard:?}");
    assert_ended(&site.stop(), 130);
}

#[test]
fn a_redirect_within_the_site_is_followed() {
    let folder = record(true);
    let old = cassette(folder.path());
    let origin = Origin::start(|talk| match talk.request.line.as_str() {
        "POST /mcp" => talk.answer("307 Temporary Redirect", "Location: /mcp/\r\n", b""),
        "POST /mcp/" => talk.json(&answer(&id_of(talk), "live")),
        other => panic!("{other}"),
    });
    let site = extend(folder.path(), &origin.url(), &[]);
    let mut wire = site.connect();
    let (headers, body) = modern(4, "new");
    wire.post_with(&headers, &body);
    assert_eq!(text(&wire.answer()), "live");
    assert_ended(&site.stop(), 130);
    let (_, rows) = added(folder.path(), &old);
    assert_eq!(rows.len(), 1);
}

#[test]
fn an_empty_recording_gets_all_of_the_session() {
    let folder = tempdir().unwrap();
    let empty = r#"{"format_version": 3, "transport": "http", "messages": []}"#;
    write(folder.path(), "c.mcp.json", empty);
    let origin = legacy();
    let site = extend(folder.path(), &origin.url(), &[]);
    let greeting = site.post("", INITIALIZE);
    assert_eq!(
        (greeting.status, greeting.header("mcp-session-id")),
        (200, None)
    );
    assert_eq!(site.post("", INITIALIZED).status, 202);
    assert_eq!(text(&site.post("", &call(1, "new"))), "live");
    assert_ended(&site.stop(), 130);
    assert_eq!(load(folder.path()).messages().len(), 5);
    assert!(!load(folder.path()).to_json().contains(SESSION));
    let site = Site::start_in(folder.path(), &["c.mcp.json"]);
    assert_eq!(
        site.post("", INITIALIZE).json()["result"]["serverInfo"]["name"],
        "s"
    );
    assert_eq!(text(&site.post("", &call(1, "new"))), "live");
    assert_ended(&site.stop(), 0);
}

#[test]
fn an_older_recording_is_added_to_and_keeps_its_stream() {
    let folder = tempdir().unwrap();
    let recorded = crate::serve_http::recording(folder.path());
    fs::rename(recorded, folder.path().join("c.mcp.json")).unwrap();
    let origin = legacy();
    let site = extend(folder.path(), &origin.url(), &[]);
    let id = site.initialize(crate::serve_http::INITIALIZE);
    assert_eq!(text(&site.post(&id, &call(1, "new"))), "live");
    assert_ended(&site.stop(), 130);
    let site = Site::start_in(folder.path(), &["c.mcp.json"]);
    let id = site.initialize(crate::serve_http::INITIALIZE);
    assert_eq!(text(&site.post(&id, &call(1, "new"))), "live");
    let mut stream = site.connect();
    stream.get(&id);
    assert_eq!(stream.head().expect("a response").status, 200);
    assert_ended(&site.stop(), 0);
}
