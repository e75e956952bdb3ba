//! `serve --new-episodes --url`: what the server asks and says besides answers, several clients at once, and
//! clients on standard streams.
#![cfg(unix)]

use crate::origin::{Origin, SESSION, answer_plainly};
use crate::recorder::{PATIENCE, Recorder};
use crate::serve_episodes_http::{
    INITIALIZE, INITIALIZED, NOBODY, TOLD, added, answer, assert_ended, begin, call, cassette,
    event, extend, id_of, modern, record, stateless, text,
};
use crate::support::command;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::sync::{Mutex, mpsc};

#[test]
fn what_the_server_asks_on_a_response_reaches_the_client_and_its_answer_goes_back() {
    let folder = record(false);
    let old = cassette(folder.path());
    let (answered, heard) = mpsc::channel::<String>();
    let (answered, heard) = (Mutex::new(answered), Mutex::new(heard));
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
    for (url, code) in [(origin.url(), 130), (NOBODY.to_owned(), 0)] {
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
    let senders: Vec<_> = messages
        .iter()
        .map(|message| message["sender"].clone())
        .collect();
    let order = ["client", "server", "client", "server"];
    assert_eq!(senders, order, "in the order in which it was said");
}

#[test]
fn what_the_server_says_besides_answers_comes_on_the_get_of_the_client() {
    let folder = record(false);
    let old = cassette(folder.path());
    let (opened, has_opened) = mpsc::channel::<()>();
    let (opened, has_opened) = (Mutex::new(opened), Mutex::new(has_opened));
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

/// `serve c.mcp.json --transport stdio --new-episodes --url URL`.
fn over_stdio(folder: &Path, url: &str) -> Recorder {
    let mut serve = command(folder);
    serve
        .args(["serve", "c.mcp.json", "--transport", "stdio"])
        .args(["--new-episodes", "--url", url, "--report", "report.json"]);
    Recorder::spawn(serve)
}

#[test]
fn a_client_on_standard_streams_is_answered_by_a_server_over_http() {
    let folder = record(false);
    let old = cassette(folder.path());
    let origin = Origin::start(|talk| {
        if talk.request.line.starts_with("GET") {
            talk.stream();
            talk.chunk(&event(TOLD));
            talk.is_left();
        } else if talk.request.body.contains("tools/call") {
            talk.json(&answer(&id_of(talk), "live"));
        } else {
            answer_plainly(talk);
        }
    });
    for url in [&*origin.url(), NOBODY] {
        let mut client = over_stdio(folder.path(), url);
        client.send(INITIALIZE);
        assert!(client.receive().contains("serverInfo"));
        client.send(INITIALIZED);
        client.send(&call(5, "known"));
        assert!(client.receive().contains("recorded"));
        client.send(&call(6, "new"));
        // What is said besides comes before or after the answer.
        let heard = [client.receive(), client.receive()];
        for expected in [TOLD, &answer(&json!(6), "live")] {
            assert!(heard.contains(&expected.to_owned()), "{heard:?}");
        }
        // The answer is waited for, although the client has gone.
        client.send(&call(7, "known"));
        let run = client.finish();
        assert_ended(&run, 0);
        assert!(run.stdout.contains("live"), "{}", run.all());
    }
    let (messages, _) = added(folder.path(), &old);
    assert_eq!(messages.len(), 5, "{messages:?}");
}

#[test]
fn a_stateless_client_on_standard_streams_has_the_headers_of_its_messages() {
    let folder = record(true);
    let (_, told) = mpsc::channel::<()>();
    let origin = stateless(told);
    let mut client = over_stdio(folder.path(), &origin.url());
    client.send(&modern(5, "absent").1);
    let heard: Value = serde_json::from_str(&client.receive()).expect("JSON");
    assert_eq!(heard["error"]["code"], -32601, "{heard}");
    let request = origin.request();
    for (name, value) in [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "absent"),
    ] {
        assert_eq!(request.header(name), Some(value));
    }
    assert_ended(&client.finish(), 0);
}
