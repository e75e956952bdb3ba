//! `serve --new-episodes --url`: what was not recorded is asked of the real server over HTTP and added.
#![cfg(unix)]

use crate::origin::{Origin, Proxy, SESSION, Talk, answer_plainly};
use crate::recorder::{PATIENCE, assert_no_gap, files, load, until};
use crate::support::{Run, run_in, write};
use crate::web::{Answer, Site};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::sync::mpsc;
use tempfile::{TempDir, tempdir};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"c","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#;
const TOLD: &str =
    r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}"#;
const REPORT: &[&str] = &["--report", "report.json"];

fn call(id: u32, tool: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{{}}}}}}"#
    )
}

fn answer(id: &Value, text: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"{text}"}}]}}}}"#
    )
}

fn event(data: &str) -> String {
    format!("event: message\ndata: {data}\n\n")
}

/// A request of the modern era with its headers.
fn modern(id: u32, tool: &str) -> (String, String) {
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{{}},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}}}}"#
    );
    let headers = format!(
        "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {tool}\r\n"
    );
    (headers, body)
}

fn id_of(talk: &Talk) -> Value {
    let body: Value = serde_json::from_str(&talk.request.body).unwrap_or_default();
    body["id"].clone()
}

/// A recording in which the tool `known` was called once: of the older protocol, with a session, or of
/// 2026-07-28.
fn record(is_modern: bool) -> TempDir {
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
fn extend(folder: &Path, url: &str, flags: &[&str]) -> Site {
    let mut all = vec!["c.mcp.json", "--new-episodes", "--url", url];
    all.extend(flags);
    Site::start_in(folder, &all)
}

/// Begins a session as the recorded one.
fn begin(site: &Site) -> String {
    let id = site.initialize(INITIALIZE);
    assert_eq!(site.post(&id, INITIALIZED).status, 202);
    id
}

fn text(answer: &Answer) -> String {
    let json = answer.json();
    let text = json["result"]["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("no text in {answer:?}"))
        .to_owned()
}

fn report(folder: &Path) -> Value {
    let report = fs::read_to_string(folder.join("report.json")).expect("a report");
    serde_json::from_str(&report).expect("JSON")
}

fn cassette(folder: &Path) -> Value {
    let text = fs::read_to_string(folder.join("c.mcp.json")).expect("a cassette");
    serde_json::from_str(&text).expect("JSON")
}

/// That messages and rows were added and nothing else was changed; what was added.
fn added(folder: &Path, old: &Value) -> (Vec<Value>, Vec<Value>) {
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

fn assert_ended(run: &Run, code: i32) {
    assert_eq!(run.code, code, "{}", run.all());
}

/// A server of the older protocol that calls every tool by its name.
fn legacy() -> Origin {
    Origin::start(|talk| {
        if talk.request.body.contains("tools/call") {
            assert_eq!(talk.request.header("mcp-session-id"), Some(SESSION));
            return talk.json(&answer(&id_of(talk), "live"));
        }
        answer_plainly(talk);
    })
}

#[test]
fn a_hit_is_served_and_a_miss_is_asked_in_a_session_of_its_own_and_added() {
    let folder = record(false);
    let old = cassette(folder.path());
    let origin = legacy();
    let header = [
        "--report",
        "report.json",
        "--header",
        "X-Api-Key: h3ader-s3cret-h3ader",
    ];
    let site = extend(folder.path(), &origin.url(), &header);
    let id = begin(&site);
    assert!(id.starts_with("mcc-"), "{id}");
    assert_eq!(text(&site.post(&id, &call(5, "known"))), "recorded");
    assert_eq!(origin.others(), 0, "nothing is asked before the first miss");
    let mut wire = site.connect();
    wire.post_with(
        &format!("Mcp-Session-Id: {id}\r\nAuthorization: Bearer b3arer-t0ken-b3arer\r\nMCP-Protocol-Version: 2025-11-25\r\n"),
        &call(6, "new"),
    );
    let heard = wire.answer();
    assert_eq!(
        (text(&heard), heard.json()["id"].clone()),
        ("live".to_owned(), json!(6))
    );
    assert_eq!(heard.header("mcp-session-id"), None);
    // The greeting, in its order and with the headers of the client.
    let [greeting, initialized, asked] = [origin.request(), origin.request(), origin.request()];
    assert_eq!(
        (greeting.body.as_str(), greeting.header("mcp-session-id")),
        (INITIALIZE, None)
    );
    assert_eq!(
        (initialized.body.as_str(), asked.body.as_str()),
        (INITIALIZED, call(6, "new").as_str())
    );
    for request in [&greeting, &initialized, &asked] {
        assert_eq!(
            request.header("authorization"),
            Some("Bearer b3arer-t0ken-b3arer")
        );
        assert_eq!(request.header("x-api-key"), Some("h3ader-s3cret-h3ader"));
        assert_eq!(
            request.header("accept"),
            Some("application/json, text/event-stream")
        );
        assert!(
            !format!("{request:?}").contains(&id),
            "our id is ours: {request:?}"
        );
    }
    assert_eq!(initialized.header("mcp-session-id"), Some(SESSION));
    assert_eq!(
        initialized.header("mcp-protocol-version"),
        Some("2025-11-25")
    );
    // What the client tells reaches the server from now on, before what follows.
    assert_eq!(site.post(&id, CHANGED).status, 202);
    assert_eq!(text(&site.post(&id, &call(7, "more"))), "live");
    let [told, more] = [origin.request(), origin.request()];
    assert_eq!(
        (told.body.as_str(), more.body.as_str()),
        (CHANGED, call(7, "more").as_str())
    );
    let run = site.stop();
    assert_ended(&run, 130);
    assert!(
        run.stderr.contains("added 5 messages to c.mcp.json"),
        "{}",
        run.all()
    );
    assert_eq!(origin.request().line, "DELETE /mcp", "the session is ended");
    assert_eq!(report(folder.path())["messages"], 5);
    assert_eq!(report(folder.path())["misses"], json!([]));

    let (messages, rows) = added(folder.path(), &old);
    assert_eq!(messages.len(), 5);
    assert_eq!(rows.len(), 3);
    for row in &rows {
        assert_eq!(
            row["session"], 0,
            "it goes on with the recorded session: {row}"
        );
    }
    let written = fs::read_to_string(folder.path().join("c.mcp.json")).unwrap() + &run.stderr;
    for secret in [SESSION, &id, "b3arer", "h3ader"] {
        assert!(!written.contains(secret), "{secret} in {written}");
    }

    // Everything is in the cassette now: nobody is asked, and it stays as it is.
    let before = fs::read(folder.path().join("c.mcp.json")).unwrap();
    let site = extend(folder.path(), "http://127.0.0.1:9/mcp", REPORT);
    let id = begin(&site);
    for (tool, expected) in [("known", "recorded"), ("new", "live"), ("more", "live")] {
        assert_eq!(text(&site.post(&id, &call(9, tool))), expected);
    }
    let run = site.stop();
    assert_ended(&run, 0);
    assert_eq!(before, fs::read(folder.path().join("c.mcp.json")).unwrap());
    assert_eq!(files(folder.path()), ["c.mcp.json", "report.json"]);
}

#[test]
fn a_stateless_server_is_asked_at_once_and_its_status_and_framing_are_passed_on() {
    let folder = record(true);
    let old = cassette(folder.path());
    let (next, told) = mpsc::channel::<()>();
    let told = std::sync::Mutex::new(told);
    let origin = Origin::start(move |talk| {
        let id = id_of(talk);
        assert_eq!(talk.request.header("mcp-session-id"), None);
        match talk.request.header("mcp-name").expect("a name") {
            "events" => {
                talk.stream();
                talk.chunk(&event(TOLD));
                // Not before the client has it.
                told.lock().unwrap().recv_timeout(PATIENCE).unwrap();
                talk.chunk(&event(&answer(&id, "live")));
                talk.chunk("");
            }
            _ => {
                let error = format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32601,"message":"none"}}}}"#
                );
                let kind = "Content-Type: application/json\r\n";
                talk.answer("404 Not Found", kind, error.as_bytes());
            }
        }
    });
    for (url, code) in [
        (origin.url(), 130),
        ("http://127.0.0.1:9/mcp".to_owned(), 0),
    ] {
        let site = extend(folder.path(), &url, REPORT);
        let mut wire = site.connect();
        let (headers, body) = modern(4, "events");
        wire.post_with(&headers, &body);
        let head = wire.head().expect("a response");
        assert_eq!(head.header("content-type"), Some("text/event-stream"));
        assert_eq!(wire.chunk(), Some(event(TOLD)));
        next.send(()).unwrap();
        assert_eq!(wire.chunk(), Some(event(&answer(&json!(4), "live"))));
        assert_eq!(wire.chunk().as_deref(), Some(""));
        let (headers, body) = modern(5, "absent");
        wire.post_with(&headers, &body);
        let heard = wire.answer();
        assert_eq!(
            (heard.status, heard.json()["error"]["code"].clone()),
            (404, json!(-32601))
        );
        let (headers, body) = modern(6, "known");
        wire.post_with(&headers, &body);
        assert_eq!(text(&wire.answer()), "recorded");
        assert_ended(&site.stop(), code);
    }
    let (messages, rows) = added(folder.path(), &old);
    assert_eq!(messages.len(), 5);
    let shown: Vec<_> = rows
        .iter()
        .map(|row| {
            (
                row["status"].clone(),
                row["framing"].clone(),
                row["session"].clone(),
            )
        })
        .collect();
    // 200 is what is meant where there is none.
    assert_eq!(
        shown,
        [
            (
                old["http_exchanges"][0]["status"].clone(),
                json!("sse"),
                Value::Null
            ),
            (json!(404), json!("json"), Value::Null),
        ]
    );
}

/// That a call is unmatched, and why.
fn assert_refused(heard: &Answer, why: &str) {
    let error = &heard.json()["error"];
    assert_eq!(error["code"], -32001, "{heard:?}");
    let message = error["message"].as_str().expect("a message");
    assert!(message.contains(why), "{why}: {message}");
}

#[test]
fn a_server_that_does_not_answer_leaves_a_miss_and_the_recording_as_it_was() {
    let unused = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let nobody = format!("http://{}/mcp", unused.local_addr().unwrap());
    drop(unused);
    let down = Origin::start(|talk| talk.answer("503 Service Unavailable", "", b"down"));
    let page = Origin::start(|talk| {
        talk.answer("200 OK", "Content-Type: text/html\r\n", b"<html></html>");
    });
    let silent = Origin::start(|talk| {
        let _ = talk.stream.shutdown(std::net::Shutdown::Both);
    });
    for is_modern in [false, true] {
        let folder = record(is_modern);
        let before = fs::read(folder.path().join("c.mcp.json")).unwrap();
        for (url, why) in [
            (nobody.clone(), "cannot be connected to"),
            (down.url(), "answers with status 503"),
            (page.url(), "status 200 OK and no JSON-RPC message"),
            (silent.url(), "did not answer"),
        ] {
            let site = extend(folder.path(), &url, REPORT);
            let mut wire = site.connect();
            let mut ask = |id: u32, tool: &str| {
                let (headers, body) = modern(id, tool);
                wire.post_with(&headers, &body);
                wire.answer()
            };
            if is_modern {
                assert_refused(&ask(1, "new"), why);
                assert_eq!(text(&ask(2, "known")), "recorded");
            } else {
                let id = begin(&site);
                assert_refused(&site.post(&id, &call(1, "new")), why);
                assert_eq!(text(&site.post(&id, &call(2, "known"))), "recorded");
            }
            let run = site.stop();
            assert_ended(&run, 3);
            for part in ["1 unmatched request(s):", why] {
                assert!(run.stderr.contains(part), "{part}: {}", run.all());
            }
            let report = report(folder.path());
            assert_eq!(report["messages"], 0);
            assert_eq!(report["misses"].as_array().map(Vec::len), Some(1));
            assert_eq!(fs::read(folder.path().join("c.mcp.json")).unwrap(), before);
            assert_eq!(files(folder.path()), ["c.mcp.json", "report.json"]);
        }
    }
}

#[test]
fn a_server_that_is_back_is_asked_again() {
    let folder = record(false);
    let tries = std::sync::atomic::AtomicU32::new(0);
    let origin = Origin::start(move |talk| {
        if tries.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 0 {
            return talk.answer("503 Service Unavailable", "", b"");
        }
        if talk.request.body.contains("tools/call") {
            return talk.json(&answer(&id_of(talk), "live"));
        }
        answer_plainly(talk);
    });
    let site = extend(folder.path(), &origin.url(), &[]);
    let id = begin(&site);
    assert_refused(&site.post(&id, &call(1, "new")), "status 503");
    assert_eq!(text(&site.post(&id, &call(2, "new"))), "live");
    assert_ended(&site.stop(), 3);
}

#[test]
fn an_answer_that_breaks_off_is_a_miss_and_is_asked_again_in_the_next_run() {
    let folder = record(false);
    let old = cassette(folder.path());
    let breaks = Origin::start(|talk| {
        if !talk.request.body.contains("tools/call") {
            return answer_plainly(talk);
        }
        talk.stream();
        talk.chunk(&event(TOLD));
        if talk.request.body.contains("whole") {
            talk.chunk("");
        }
        let _ = talk.stream.shutdown(std::net::Shutdown::Both);
    });
    let site = extend(folder.path(), &breaks.url(), REPORT);
    let id = begin(&site);
    for (tool, why) in [
        ("cut", "broke off"),
        ("whole", "ended its response without an answer"),
    ] {
        let heard = site.post(&id, &call(3, tool));
        assert!(
            heard.body.contains(TOLD) && heard.body.contains("-32001"),
            "{heard:?}"
        );
        assert!(heard.body.contains(why) && !heard.cut, "{heard:?}");
    }
    let run = site.stop();
    assert_ended(&run, 3);
    assert!(
        run.stderr.contains("2 unmatched request(s)"),
        "{}",
        run.all()
    );
    let (_, rows) = added(folder.path(), &old);
    assert!(rows.iter().all(|row| row["ended"] != "cut"), "{rows:?}");
    let origin = legacy();
    let site = extend(folder.path(), &origin.url(), &[]);
    let id = begin(&site);
    assert_eq!(text(&site.post(&id, &call(4, "cut"))), "live");
    assert_ended(&site.stop(), 130);
}

#[test]
fn what_the_server_asks_on_a_response_reaches_the_client_and_its_answer_goes_back() {
    let folder = record(false);
    let old = cassette(folder.path());
    let (answered, heard) = mpsc::channel::<String>();
    let (answered, heard) = (
        std::sync::Mutex::new(answered),
        std::sync::Mutex::new(heard),
    );
    let origin = Origin::start(move |talk| {
        let body = talk.request.body.clone();
        if body.contains("tools/call") {
            talk.stream();
            talk.chunk(&event(r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#));
            let told = heard.lock().unwrap().recv_timeout(PATIENCE).unwrap();
            let told: Value = serde_json::from_str(&told).unwrap();
            assert_eq!(told["id"], 1, "its own id");
            talk.chunk(&event(&answer(&id_of(talk), "live")));
            talk.chunk("");
        } else if body.contains("\"roots\":[]") {
            assert_eq!(talk.request.header("mcp-session-id"), Some(SESSION));
            answered.lock().unwrap().send(body).unwrap();
            talk.answer("202 Accepted", "", b"");
        } else {
            answer_plainly(talk);
        }
    });
    for (url, code) in [
        (origin.url(), 130),
        ("http://127.0.0.1:9/mcp".to_owned(), 0),
    ] {
        let site = extend(folder.path(), &url, &[]);
        let id = begin(&site);
        let mut wire = site.connect();
        wire.post(&id, &call(1, "ask"));
        assert_eq!(wire.head().expect("a response").status, 200);
        let chunk = wire.chunk().expect("an event");
        let question = chunk.lines().find_map(|line| line.strip_prefix("data: "));
        let question: Value = serde_json::from_str(question.expect("data")).expect("JSON");
        assert_eq!(question["method"], "roots/list");
        let reply = json!({"jsonrpc": "2.0", "id": question["id"], "result": {"roots": []}});
        assert_eq!(site.post(&id, &reply.to_string()).status, 202);
        assert_eq!(wire.chunk(), Some(event(&answer(&json!(1), "live"))));
        assert_eq!(wire.chunk().as_deref(), Some(""));
        assert_ended(&site.stop(), code);
    }
    let (messages, _) = added(folder.path(), &old);
    let ids: Vec<_> = messages
        .iter()
        .map(|message| message["payload"]["id"].clone())
        .collect();
    assert_eq!(ids, [1, 1, 1, 1], "under the ids of those who gave them");
}

#[test]
fn what_the_server_says_besides_answers_comes_on_the_get_of_the_client() {
    let folder = record(false);
    let old = cassette(folder.path());
    let (opened, has_opened) = mpsc::channel::<()>();
    let (opened, has_opened) = (
        std::sync::Mutex::new(opened),
        std::sync::Mutex::new(has_opened),
    );
    let origin = Origin::start(move |talk| {
        if talk.request.line.starts_with("GET") {
            assert_eq!(talk.request.header("mcp-session-id"), Some(SESSION));
            talk.stream();
            opened.lock().unwrap().send(()).unwrap();
            talk.chunk(&event(TOLD));
            talk.is_left();
            return;
        }
        if talk.request.body.contains("tools/call") {
            has_opened.lock().unwrap().recv_timeout(PATIENCE).unwrap();
            return talk.json(&answer(&id_of(talk), "live"));
        }
        answer_plainly(talk);
    });
    // The recorded server had no such stream, and this one has.
    let text = fs::read_to_string(folder.path().join("c.mcp.json")).unwrap();
    let get = r#""http_exchanges": [{"exchange": 90, "session": 0, "http_method": "GET", "framing": "sse", "content_type": "text/event-stream", "ended": "client_closed"},"#;
    let text = text.replacen("\"http_exchanges\": [", get, 1);
    assert!(text.contains("\"exchange\": 90"), "{text}");
    fs::write(folder.path().join("c.mcp.json"), text).unwrap();
    let old =
        json!({"messages": old["messages"], "rows": cassette(folder.path())["http_exchanges"]});
    let site = extend(folder.path(), &origin.url(), &[]);
    let id = begin(&site);
    let mut stream = site.connect();
    stream.get(&id);
    assert_eq!(stream.head().expect("a response").status, 200);
    assert_eq!(origin.others(), 0, "nothing is asked before the first miss");
    let heard = site.post(&id, &call(1, "new"));
    assert_eq!(heard.json()["result"]["content"][0]["text"], "live");
    assert_eq!(stream.chunk(), Some(event(TOLD)));
    assert_ended(&site.stop(), 130);
    let new = cassette(folder.path());
    let added =
        new["messages"].as_array().unwrap().len() - old["messages"].as_array().unwrap().len();
    assert_eq!(added, 3);
    let rows = new["http_exchanges"].as_array().unwrap();
    let last: Vec<_> = rows
        .iter()
        .rev()
        .take(2)
        .map(|row| row["http_method"].as_str())
        .collect();
    assert_eq!(rows.len(), old["rows"].as_array().unwrap().len() + 2);
    assert!(last.contains(&Some("GET")), "{rows:?}");
}

#[test]
fn a_session_that_the_server_has_forgotten_is_begun_anew_once() {
    let folder = record(false);
    let old = cassette(folder.path());
    let forgets = |times: u32| {
        let left = std::sync::atomic::AtomicU32::new(times);
        Origin::start(move |talk| {
            if !talk.request.body.contains("tools/call") {
                return answer_plainly(talk);
            }
            let before = left.load(std::sync::atomic::Ordering::SeqCst);
            if before > 0 {
                left.store(before - 1, std::sync::atomic::Ordering::SeqCst);
                return talk.answer("404 Not Found", "", b"");
            }
            talk.json(&answer(&id_of(talk), "live"));
        })
    };
    let origin = forgets(1);
    let site = extend(folder.path(), &origin.url(), REPORT);
    let id = begin(&site);
    assert_eq!(text(&site.post(&id, &call(1, "new"))), "live");
    assert_ended(&site.stop(), 130);
    let greetings = std::iter::from_fn(|| origin.next()).filter(|it| it.body == INITIALIZE);
    assert_eq!(greetings.count(), 2);
    assert_eq!(added(folder.path(), &old).0.len(), 2, "it is recorded once");
    let origin = forgets(u32::MAX);
    let site = extend(folder.path(), &origin.url(), &[]);
    let id = begin(&site);
    assert_refused(&site.post(&id, &call(1, "other")), "status 404");
    assert_ended(&site.stop(), 3);
}

#[test]
fn a_stream_that_the_server_ends_before_the_answer_is_taken_up_again() {
    let folder = record(false);
    let old = cassette(folder.path());
    let origin = Origin::start(|talk| {
        if talk.request.line.starts_with("GET") {
            assert_eq!(talk.request.header("last-event-id"), Some("e1"));
            talk.stream();
            talk.chunk(&format!("id: e2\n{}", event(&answer(&json!(3), "live"))));
            talk.chunk("");
        } else if talk.request.body.contains("tools/call") {
            talk.stream();
            talk.chunk(&format!("id: e1\nretry: 1\n{}", event(TOLD)));
            talk.chunk("");
        } else {
            answer_plainly(talk);
        }
    });
    let site = extend(folder.path(), &origin.url(), &[]);
    let id = begin(&site);
    let heard = site.post(&id, &call(3, "new"));
    assert_eq!(
        heard.body,
        format!("{}{}", event(TOLD), event(&answer(&json!(3), "live")))
    );
    assert_ended(&site.stop(), 130);
    let (messages, rows) = added(folder.path(), &old);
    assert_eq!((messages.len(), rows.len()), (3, 2));
    assert_eq!(rows[1]["last_event_id"], "e1");
}

#[test]
fn a_client_that_leaves_is_noticed_by_the_server() {
    let folder = record(true);
    let (left, noticed) = mpsc::channel();
    let left = std::sync::Mutex::new(left);
    let origin = Origin::start(move |talk| {
        talk.stream();
        talk.chunk(&event(TOLD));
        left.lock().unwrap().send(talk.is_left()).unwrap();
    });
    let site = extend(folder.path(), &origin.url(), REPORT);
    let mut wire = site.connect();
    let (headers, body) = modern(4, "events");
    wire.post_with(&headers, &body);
    assert_eq!(wire.head().expect("a response").status, 200);
    assert_eq!(wire.chunk(), Some(event(TOLD)));
    drop(wire);
    assert!(noticed.recv_timeout(PATIENCE).unwrap());
    let run = site.stop();
    assert_ended(&run, 130);
    assert_eq!(report(folder.path())["misses"], json!([]));
}

#[test]
fn clients_have_sessions_of_their_own_with_the_server() {
    let folder = record(false);
    let old = cassette(folder.path());
    let count = std::sync::atomic::AtomicU32::new(0);
    let origin = Origin::start(move |talk| {
        let id = id_of(talk);
        if talk.request.body.contains("\"initialize\"") {
            let number = count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            let headers = format!(
                "Content-Type: application/json\r\nMcp-Session-Id: session-number-{number}\r\n"
            );
            let greeting = format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{"protocolVersion":"2025-11-25","capabilities":{{}}}}}}"#
            );
            return talk.answer("200 OK", &headers, greeting.as_bytes());
        }
        if talk.request.body.contains("tools/call") {
            let session = talk
                .request
                .header("mcp-session-id")
                .expect("a session")
                .to_owned();
            return talk.json(&answer(&id, &session));
        }
        answer_plainly(talk);
    });
    let site = extend(folder.path(), &origin.url(), &[]);
    let [first, second] = [begin(&site), begin(&site)];
    assert_eq!(
        text(&site.post(&first, &call(1, "new"))),
        "session-number-0"
    );
    assert_eq!(
        text(&site.post(&second, &call(1, "new"))),
        "session-number-1"
    );
    assert_eq!(
        text(&site.post(&first, &call(2, "new"))),
        "session-number-0"
    );
    let mut wire = site.connect();
    wire.say(&format!(
        "DELETE /mcp HTTP/1.1\r\nHost: localhost\r\nMcp-Session-Id: {first}\r\n\r\n"
    ));
    assert_eq!(wire.answer().status, 200);
    let left = std::iter::from_fn(|| Some(origin.request()));
    let left = left
        .into_iter()
        .find(|request| request.line.starts_with("DELETE"));
    let left = left.expect("an end");
    assert_eq!(left.header("mcp-session-id"), Some("session-number-0"));
    assert_ended(&site.stop(), 130);
    added(folder.path(), &old);
    let written = fs::read_to_string(folder.path().join("c.mcp.json")).unwrap();
    assert!(!written.contains("session-number"), "{written}");
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
fn one_writer_holds_the_cassette_and_a_killed_one_leaves_what_it_added() {
    let folder = record(false);
    let path = folder.path().join("c.mcp.json");
    let before = fs::read(&path).unwrap();
    let origin = legacy();
    let mut site = extend(folder.path(), &origin.url(), &[]);
    let other = run_in(
        folder.path(),
        &[
            "serve",
            "c.mcp.json",
            "--new-episodes",
            "--url",
            &origin.url(),
        ],
        &[],
    );
    assert_ended(&other, 6);
    let id = begin(&site);
    assert_eq!(text(&site.post(&id, &call(1, "new"))), "live");
    let partial = folder.path().join("c.mcp.json.partial");
    until("it is on the disk", || {
        fs::read_to_string(&partial)
            .unwrap_or_default()
            .contains("live")
    });
    site.kill();
    assert_eq!(
        fs::read(&path).unwrap(),
        before,
        "the cassette is as it was"
    );
    let site = extend(folder.path(), "http://127.0.0.1:9/mcp", &[]);
    let id = begin(&site);
    assert_eq!(text(&site.post(&id, &call(1, "new"))), "live");
    let run = site.stop();
    assert_ended(&run, 0);
    assert!(
        run.stderr.contains("note: 2 messages that"),
        "{}",
        run.all()
    );
    assert_eq!(files(folder.path()), ["c.mcp.json"]);
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
