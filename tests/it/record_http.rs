//! `record --url`: a client on one side, a server on the other, real sockets between them.
#![cfg(unix)]

use crate::origin::{Origin, Proxy, SESSION, Talk, answer_plainly};
use crate::recorder::{PATIENCE, files, load, ping, until};
use crate::support::{run_in, write};
use mcp_cassette::Cassette;
use rustix::process::Signal;
use serde_json::{Value, json};
use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use tempfile::tempdir;

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

fn call(id: usize) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"t","arguments":{{}}}}}}"#
    )
}

fn event(id: usize) -> String {
    format!("data: {{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}\n\n")
}

const PROGRESS: &str = "id: p1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":1,\"progress\":1}}\n\n";

/// The rows about HTTP.
fn rows(folder: &Path) -> Vec<Value> {
    let text = fs::read_to_string(folder.join("c.mcp.json")).expect("a cassette");
    let cassette: Value = serde_json::from_str(&text).expect("JSON");
    cassette["http_exchanges"].as_array().expect("rows").clone()
}

fn methods(cassette: &Cassette) -> Vec<String> {
    let name = |message: mcp_cassette::cassette::Message<'_>| {
        let method = message.method();
        method.map_or("<response>".to_owned(), std::borrow::Cow::into_owned)
    };
    cassette.messages().map(name).collect()
}

/// A session whose headers and messages hold what is not to be recorded; the last message.
fn speak_in_secrets(proxy: &Proxy) -> String {
    let mut wire = proxy.connect();
    wire.post("", INITIALIZE);
    let greeting = wire.answer();
    assert_eq!(greeting.header("mcp-session-id"), Some(SESSION));
    wire.post(SESSION, INITIALIZED);
    let accepted = wire.answer();
    assert_eq!((accepted.status, accepted.body.as_str()), (202, ""));
    // What the server repeats of the headers is not recorded either.
    let said = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{SESSION} h3ader-s3cret-h3ader"}}}}"#
    );
    wire.say(&format!(
        "POST /mcp?x=1 HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nOrigin: http://127.0.0.1:{}\r\nAuthorization: Bearer b3arer-t0ken-b3arer\r\n\
         Cookie: sid=c00kie-s3cret-c00kie\r\nMcp-Session-Id: {SESSION}\r\nConnection: x-hop\r\nX-Hop: 1\r\n\
         Accept-Encoding: gzip\r\nContent-Length: {}\r\n\r\n{said}",
        proxy.port,
        proxy.port,
        said.len()
    ));
    assert_eq!(wire.answer().json()["id"], 1);
    said
}

/// What the server got of it.
fn assert_forwarded(origin: &Origin, said: &str) {
    let [first, _, third] = [origin.request(), origin.request(), origin.request()];
    assert_eq!(first.line, "POST /mcp?api_key=qu3ry-t0ken-qu3ry");
    assert_eq!(
        first.header("authorization"),
        Some("Basic bWU6cGE1NXcwcmQtcGE1NQ==")
    );
    assert_eq!(first.header("x-api-key"), Some("h3ader-s3cret-h3ader"));
    assert_eq!(third.line, "POST /mcp?api_key=qu3ry-t0ken-qu3ry&x=1");
    let host = format!("127.0.0.1:{}", origin.port);
    assert_eq!(third.header("host"), Some(host.as_str()));
    assert_eq!(
        third.header("origin"),
        Some(format!("http://{host}").as_str())
    );
    assert_eq!(
        third.header("authorization"),
        Some("Bearer b3arer-t0ken-b3arer")
    );
    assert_eq!(third.header("accept-encoding"), Some("identity"));
    assert_eq!(third.header("x-hop"), None);
    assert_eq!(third.body, said, "live traffic is as it is");
}

#[test]
fn a_session_over_http_becomes_a_cassette_without_its_secrets() {
    let folder = tempdir().unwrap();
    let origin = Origin::plain();
    let url = format!(
        "http://me:pa55w0rd-pa55@127.0.0.1:{}/mcp?api_key=qu3ry-t0ken-qu3ry",
        origin.port
    );
    let header = [
        "--header",
        "X-Api-Key: h3ader-s3cret-h3ader",
        "--header",
        "X-Plain: 1",
    ];
    let proxy = Proxy::start(folder.path(), &url, &header);
    let said = speak_in_secrets(&proxy);
    let run = proxy.stop();
    assert_eq!(run.code, 130, "{}", run.all());
    assert!(
        run.stderr.contains("recorded 5 messages in c.mcp.json"),
        "{}",
        run.stderr
    );
    assert_eq!(files(folder.path()), ["c.mcp.json", "report.json"]);

    assert_forwarded(&origin, &said);

    let cassette = load(folder.path());
    assert_eq!(cassette.protocol_version().as_deref(), Some("2025-11-25"));
    let recorded = format!("http://127.0.0.1:{}/mcp?api_key=REDACTED", origin.port);
    assert_eq!(cassette.server_url().as_deref(), Some(recorded.as_str()));
    let text = fs::read_to_string(folder.path().join("c.mcp.json")).unwrap();
    assert_eq!(
        text,
        cassette.to_json(),
        "it is written as saving writes it"
    );
    let report = fs::read_to_string(folder.path().join("report.json")).unwrap();
    let written = [text, report, run.stderr].concat();
    for secret in [
        SESSION, "pa55w0rd", "bWU6cGE1", "qu3ry", "h3ader", "b3arer", "c00kie", "c00c1e",
    ] {
        assert!(!written.contains(secret), "{secret} in {written}");
    }
    for command in ["lint", "inspect", "redaction-check"] {
        let run = run_in(folder.path(), &[command, "c.mcp.json"], &[]);
        assert_eq!(run.code, 0, "{command}: {}", run.all());
    }
}

#[test]
fn an_event_reaches_the_client_before_the_next_one_is_sent() {
    let folder = tempdir().unwrap();
    let (next, told) = mpsc::channel::<()>();
    let told = Mutex::new(told);
    let origin = Origin::start(move |talk| {
        talk.stream();
        for _ in 0..3 {
            talk.chunk(PROGRESS);
            // Not before the client has it.
            told.lock().unwrap().recv_timeout(PATIENCE).unwrap();
        }
        talk.chunk(&event(1));
        talk.chunk("");
    });
    let proxy = Proxy::start(folder.path(), &origin.url(), &[]);
    let mut wire = proxy.connect();
    wire.post("", &call(1));
    assert_eq!(
        wire.head().unwrap().header("content-type"),
        Some("text/event-stream")
    );
    for _ in 0..3 {
        assert_eq!(wire.chunk().as_deref(), Some(PROGRESS));
        next.send(()).unwrap();
    }
    assert_eq!(wire.chunk().as_deref(), Some(event(1).as_str()));
    assert_eq!(wire.chunk().as_deref(), Some(""));
    assert_eq!(proxy.stop().code, 130);
    let row = &rows(folder.path())[0];
    assert_eq!(
        (&row["framing"], &row["ended"]),
        (&json!("sse"), &Value::Null)
    );
    assert_eq!(row["events"][0], json!({"seq": 1, "id": "p1"}));
    assert_eq!(load(folder.path()).messages().len(), 5);
}

#[test]
fn a_client_that_leaves_is_noticed_by_the_server_and_in_the_row() {
    let folder = tempdir().unwrap();
    let (left, noticed) = mpsc::channel();
    let origin = Origin::start(move |talk| {
        if !talk.request.body.contains("silent") {
            talk.stream();
            talk.chunk(PROGRESS);
        }
        left.send(talk.is_left()).unwrap();
    });
    let proxy = Proxy::start(folder.path(), &origin.url(), &[]);
    let mut wire = proxy.connect();
    wire.post("", &call(1));
    wire.head().unwrap();
    wire.chunk().unwrap();
    drop(wire);
    assert!(noticed.recv_timeout(PATIENCE).unwrap());
    // Also before there is any answer.
    let mut wire = proxy.connect();
    wire.post("", r#"{"jsonrpc":"2.0","id":2,"method":"silent"}"#);
    until("the server has the request", || {
        origin.request().body.contains("silent")
    });
    drop(wire);
    assert!(noticed.recv_timeout(PATIENCE).unwrap());
    let run = proxy.stop();
    let ended: Vec<Value> = rows(folder.path())
        .iter()
        .map(|row| row["ended"].clone())
        .collect();
    assert_eq!(ended, ["client_closed", "client_closed"], "{}", run.all());
    assert!(
        !run.stderr.contains("no answer"),
        "nobody waits: {}",
        run.stderr
    );
}

#[test]
fn a_server_that_dies_in_the_middle_is_cut_for_the_client_and_in_the_row() {
    let folder = tempdir().unwrap();
    let origin = Origin::start(|talk| {
        if talk.request.body.contains("whole") {
            let head =
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n";
            talk.say(format!("{head}{{\"jsonrpc\":"));
        } else {
            talk.stream();
            talk.chunk(PROGRESS);
        }
        let _ = talk.stream.shutdown(std::net::Shutdown::Both);
    });
    let proxy = Proxy::start(folder.path(), &origin.url(), &[]);
    let mut wire = proxy.connect();
    wire.post("", &call(1));
    wire.head().unwrap();
    assert_eq!(wire.chunk().as_deref(), Some(PROGRESS));
    assert_eq!(wire.chunk(), None, "it does not look like an end");
    let mut wire = proxy.connect();
    wire.post("", r#"{"jsonrpc":"2.0","id":2,"method":"whole"}"#);
    wire.head().unwrap();
    assert_eq!(wire.rest(), "{\"jsonrpc\":");
    assert_eq!(proxy.stop().code, 130);
    let rows = rows(folder.path());
    assert_eq!(
        (&rows[0]["ended"], &rows[0]["framing"]),
        (&json!("cut"), &json!("sse"))
    );
    assert_eq!(
        (&rows[1]["ended"], &rows[1]["framing"]),
        (&json!("cut"), &json!("json"))
    );
}

#[test]
fn eight_streams_at_once_do_not_wait_for_each_other() {
    let folder = tempdir().unwrap();
    let all = Arc::new(std::sync::Barrier::new(8));
    let origin = Origin::start(move |talk| {
        let body: Value = serde_json::from_str(&talk.request.body).unwrap();
        let id = body["id"].as_u64().unwrap();
        talk.stream();
        talk.chunk(PROGRESS);
        // None is answered before all have begun.
        all.wait();
        talk.chunk(&event(usize::try_from(id).unwrap()));
        talk.chunk("");
    });
    let proxy = Proxy::start(folder.path(), &origin.url(), &[]);
    let clients: Vec<_> = (0..8)
        .map(|id| {
            let mut wire = proxy.connect();
            std::thread::spawn(move || {
                wire.post("", &call(id));
                (id, wire.answer().body)
            })
        })
        .collect();
    for client in clients {
        let (id, body) = client.join().unwrap();
        assert_eq!(body, format!("{PROGRESS}{}", event(id)));
    }
    assert_eq!(proxy.stop().code, 130);
    let cassette = load(folder.path());
    assert_eq!(cassette.messages().len(), 24);
    assert_eq!(rows(folder.path()).len(), 8);
    let lint = run_in(folder.path(), &["lint", "c.mcp.json"], &[]);
    assert!(
        !lint.stdout.contains("R014"),
        "each answer has its request: {}",
        lint.stdout
    );
}

#[test]
fn a_server_that_is_of_no_use_from_the_start_is_exit_2_and_leaves_what_was_there() {
    let unused = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let nobody = format!(
        "http://127.0.0.1:{}/mcp",
        unused.local_addr().unwrap().port()
    );
    drop(unused);
    let broken = Origin::start(|talk| talk.answer("503 Service Unavailable", "", b"down"));
    for (url, status, told) in [
        (nobody, 502, "cannot be connected to"),
        (broken.url(), 503, "status 503"),
    ] {
        let folder = tempdir().unwrap();
        write(folder.path(), "c.mcp.json", "what was there");
        let proxy = Proxy::start(folder.path(), &url, &[]);
        let mut wire = proxy.connect();
        wire.post("", INITIALIZE);
        assert_eq!(wire.answer().status, status);
        let run = proxy.wait();
        assert_eq!(run.code, 2, "{}", run.all());
        assert!(run.stderr.contains(told), "{}", run.stderr);
        assert_eq!(files(folder.path()), ["c.mcp.json"]);
        let kept = fs::read_to_string(folder.path().join("c.mcp.json")).unwrap();
        assert_eq!(kept, "what was there");
    }
}

#[test]
fn a_server_that_fails_later_is_recorded() {
    let folder = tempdir().unwrap();
    let origin = Origin::start(|talk| match talk.request.body.contains("ping") {
        true => talk.answer(
            "500 Internal Server Error",
            "Content-Type: text/html\r\n",
            b"<h1>no",
        ),
        false => answer_plainly(talk),
    });
    let proxy = Proxy::start(folder.path(), &origin.url(), &[]);
    let mut wire = proxy.connect();
    wire.post("", INITIALIZE);
    wire.answer();
    wire.post(SESSION, &ping(1));
    let failed = wire.answer();
    assert_eq!((failed.status, failed.body.as_str()), (500, "<h1>no"));
    assert_eq!(proxy.stop().code, 130);
    let row = &rows(folder.path())[1];
    assert_eq!(
        (&row["status"], &row["framing"]),
        (&json!(500), &json!("none"))
    );
    assert_eq!(
        methods(&load(folder.path())),
        ["initialize", "<response>", "ping"]
    );
}

#[test]
fn a_kill_leaves_the_messages_without_rows_and_a_signal_all() {
    let folder = tempdir().unwrap();
    let origin = Origin::start(|talk| match talk.request.line.starts_with("GET") {
        true => {
            talk.stream();
            talk.chunk(": open\n\n");
            talk.is_left();
        }
        false => answer_plainly(talk),
    });
    let proxy = Proxy::start(folder.path(), &origin.url(), &[]);
    let mut wire = proxy.connect();
    wire.post("", INITIALIZE);
    wire.answer();
    let partial = folder.path().join("c.mcp.json.partial");
    until("the messages are on the disk", || {
        fs::read_to_string(&partial).is_ok_and(|text| {
            text.contains("serverInfo") && text.contains("\"id\": 0,\n        \"result\"")
        })
    });
    proxy.signal(Signal::KILL);
    proxy.wait();
    let text = fs::read_to_string(&partial).unwrap();
    assert!(
        !text.contains("http_exchanges") && !text.contains(SESSION),
        "{text}"
    );
    let left = run_in(folder.path(), &["inspect", "c.mcp.json.partial"], &[]);
    assert!(left.stdout.contains("messages: 2"), "{}", left.all());

    let proxy = Proxy::start(folder.path(), &origin.url(), &["--force"]);
    let mut wire = proxy.connect();
    wire.post("", INITIALIZE);
    wire.answer();
    let mut held = proxy.connect();
    held.get(SESSION);
    held.head().unwrap();
    held.chunk().unwrap();
    proxy.signal(Signal::INT);
    let run = proxy.wait();
    assert_eq!(run.code, 130, "{}", run.all());
    assert_eq!(held.chunk(), None);
    let rows = rows(folder.path());
    assert_eq!(rows[1]["ended"], "client_closed", "it was open");
    let text = fs::read_to_string(folder.path().join("c.mcp.json")).unwrap();
    assert!(
        !text.contains("interrupted"),
        "nothing was under way: {text}"
    );
    assert_eq!(files(folder.path()), ["c.mcp.json", "report.json"]);
}

#[test]
fn a_signal_while_an_answer_is_under_way_marks_the_recording() {
    let folder = tempdir().unwrap();
    let origin = Origin::start(|talk| match talk.request.body.contains("initialize") {
        true => answer_plainly(talk),
        false => {
            talk.is_left();
        }
    });
    let proxy = Proxy::start(folder.path(), &origin.url(), &[]);
    let mut wire = proxy.connect();
    wire.post("", INITIALIZE);
    wire.answer();
    wire.post(SESSION, &ping(1));
    until("the request is there", || {
        origin.request().body.contains("ping")
    });
    assert_eq!(proxy.stop().code, 130);
    let text = fs::read_to_string(folder.path().join("c.mcp.json")).unwrap();
    assert!(text.contains("\"interrupted\": true"), "{text}");
}

#[test]
fn an_idle_client_ends_it_and_so_does_one_that_never_comes() {
    let folder = tempdir().unwrap();
    let origin = Origin::plain();
    let proxy = Proxy::start(folder.path(), &origin.url(), &["--max-idle", "0.3"]);
    let mut wire = proxy.connect();
    wire.post("", INITIALIZE);
    wire.answer();
    let run = proxy.wait();
    assert_eq!(run.code, 0, "{}", run.all());
    assert_eq!(load(folder.path()).messages().len(), 2);

    let folder = tempdir().unwrap();
    let run = Proxy::start(folder.path(), &origin.url(), &["--max-idle", "0.1"]).wait();
    assert_eq!(run.code, 0, "{}", run.all());
    assert!(
        run.stderr.contains("captured zero messages"),
        "{}",
        run.stderr
    );
    assert_eq!(files(folder.path()), ["report.json"]);
}

#[test]
fn the_older_transport_passes_through_us_with_its_addresses() {
    let folder = tempdir().unwrap();
    let (says, said) = mpsc::channel::<String>();
    let (says, said) = (Mutex::new(says), Mutex::new(said));
    let origin = Origin::start(move |talk: &mut Talk| {
        if talk.request.line.starts_with("GET /sse") {
            let host = talk.request.header("host").unwrap().to_owned();
            talk.stream();
            talk.chunk("event: endpoint\n");
            talk.chunk(&format!(
                "data: http://{host}/messages?session_id={SESSION}\n\n"
            ));
            let answer = said.lock().unwrap().recv_timeout(PATIENCE).unwrap();
            talk.chunk(&answer);
            talk.is_left();
        } else {
            talk.answer("202 Accepted", "Content-Type: text/plain\r\n", b"Accepted");
            let answer = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2024-11-05","serverInfo":{"name":"old","version":"1"}}}"#;
            let answer = format!("event: message\ndata: {answer}\n\n");
            says.lock().unwrap().send(answer).unwrap();
        }
    });
    let url = format!("http://127.0.0.1:{}/sse", origin.port);
    let proxy = Proxy::start(folder.path(), &url, &[]);
    let mut stream = proxy.connect();
    stream.say("GET /sse HTTP/1.1\r\nHost: localhost:99\r\nAccept: text/event-stream\r\n\r\n");
    stream.head().unwrap();
    let told = stream.chunk().unwrap();
    let expected =
        format!("event: endpoint\ndata: http://localhost:99/messages?session_id={SESSION}\n\n");
    assert_eq!(told, expected);
    let mut wire = proxy.connect();
    wire.say(&format!(
        "POST /messages?session_id={SESSION} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{INITIALIZE}",
        INITIALIZE.len()
    ));
    assert_eq!(wire.answer().body, "Accepted");
    assert!(stream.chunk().unwrap().contains("2024-11-05"));
    drop(stream);
    let run = proxy.stop();
    assert_eq!(run.code, 130, "{}", run.all());
    let cassette = load(folder.path());
    assert_eq!(methods(&cassette), ["initialize", "<response>"]);
    assert_eq!(cassette.protocol_version().as_deref(), Some("2024-11-05"));
    let rows = rows(folder.path());
    assert_eq!(rows[0]["events"], json!([{"event": "endpoint"}]));
    assert_eq!(
        (&rows[1]["status"], &rows[1]["framing"]),
        (&json!(202), &json!("none"))
    );
    let text = fs::read_to_string(folder.path().join("c.mcp.json")).unwrap();
    assert!(!(text + &run.stderr).contains(SESSION));
}

#[test]
fn what_is_asked_to_log_in_is_passed_on_and_leaves_no_trace() {
    let folder = tempdir().unwrap();
    let origin = Origin::start(|talk| match talk.request.line.as_str() {
        "GET /.well-known/oauth-protected-resource/mcp" => talk.json("{\"resource\":\"m3tadata\"}"),
        "POST /token" => talk.json("{\"access_token\":\"0auth-t0ken-0auth\"}"),
        "GET /moved" => {
            let to = format!(
                "Location: http://{}/mcp/\r\n",
                talk.request.header("host").unwrap()
            );
            talk.answer("307 Temporary Redirect", &to, b"");
        }
        _ => answer_plainly(talk),
    });
    let proxy = Proxy::start(folder.path(), &origin.url(), &[]);
    let mut wire = proxy.connect();
    let ask =
        |line: &str| format!("{line} HTTP/1.1\r\nHost: localhost:7\r\nContent-Length: 0\r\n\r\n");
    wire.say(&ask("GET /.well-known/oauth-protected-resource/mcp"));
    assert!(wire.answer().body.contains("m3tadata"));
    wire.say(&ask("POST /token"));
    assert!(wire.answer().body.contains("0auth"));
    wire.say(&ask("GET /moved"));
    assert_eq!(
        wire.answer().header("location"),
        Some("http://localhost:7/mcp/")
    );
    wire.post("", INITIALIZE);
    wire.answer();
    let run = proxy.stop();
    assert!(
        run.stderr
            .contains("a request for /token is passed on and not recorded"),
        "{}",
        run.stderr
    );
    let text = fs::read_to_string(folder.path().join("c.mcp.json")).unwrap();
    for trace in ["m3tadata", "0auth", "/token", "moved"] {
        assert!(!text.contains(trace), "{trace} in {text}");
    }
    assert_eq!(rows(folder.path()).len(), 1);
}

#[test]
fn a_server_is_reached_through_a_proxy() {
    let folder = tempdir().unwrap();
    let origin = Origin::plain();
    let between = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = between.local_addr().unwrap().port();
    let (asked, asks) = mpsc::channel();
    std::thread::spawn(move || {
        let (mut near, _) = between.accept().unwrap();
        let mut head = String::new();
        let mut lines = std::io::BufReader::new(near.try_clone().unwrap());
        while !head.ends_with("\r\n\r\n") {
            std::io::BufRead::read_line(&mut lines, &mut head).unwrap();
        }
        let to = head.split(' ').nth(1).unwrap().to_owned();
        asked.send(head).unwrap();
        let mut far = std::net::TcpStream::connect(to).unwrap();
        std::io::Write::write_all(&mut near, b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
        let (mut back, mut there) = (far.try_clone().unwrap(), near.try_clone().unwrap());
        std::thread::spawn(move || std::io::copy(&mut back, &mut there));
        let _ = std::io::copy(&mut near, &mut far);
    });
    let through = format!("http://user:pr0xy-s3cret@127.0.0.1:{port}");
    let proxy = Proxy::start(folder.path(), &origin.url(), &["--proxy", &through]);
    let mut wire = proxy.connect();
    wire.post("", INITIALIZE);
    assert_eq!(wire.answer().status, 200);
    let head = asks.recv_timeout(PATIENCE).unwrap();
    assert!(
        head.starts_with(&format!("CONNECT 127.0.0.1:{} ", origin.port)),
        "{head}"
    );
    assert!(
        head.to_lowercase().contains("proxy-authorization: basic"),
        "{head}"
    );
    let run = proxy.stop();
    let text = fs::read_to_string(folder.path().join("c.mcp.json")).unwrap();
    assert!(!(text + &run.stderr).contains("pr0xy-s3cret"));
}

#[test]
fn what_cannot_be_meant_is_refused_without_quoting_a_secret() {
    let folder = tempdir().unwrap();
    let url = ["--url", "http://127.0.0.1:9/mcp"];
    for (arguments, told) in [
        (&["--url", "s3cret"][..], "--url must be"),
        (&["--url", "ftp://s3cret@h/"], "--url must be"),
        (
            &[&url[..], &["--header", "s3cret"]].concat(),
            "--header number 1",
        ),
        (
            &[&url[..], &["--header", "Host: s3cret"]].concat(),
            "--header host",
        ),
        (
            &[&url[..], &["--proxy", "socks5://s3cret"]].concat(),
            "--proxy must be",
        ),
        (
            &[&url[..], &["--ca-file", "missing.pem"]].concat(),
            "--ca-file missing.pem",
        ),
        (
            &[&url[..], &["--host", "256.0.0.1"]].concat(),
            "cannot listen on 256.0.0.1",
        ),
        (&[&url[..], &["--", "cat"]].concat(), "mutually exclusive"),
        (
            &["--port", "1", "--", "cat"],
            "apply to --url recording only",
        ),
    ] {
        let all = [&["record", "--cassette", "c.mcp.json"], arguments].concat();
        let run = run_in(folder.path(), &all, &[]);
        assert_eq!(run.code, 2, "{arguments:?}: {}", run.all());
        assert!(run.stderr.contains(told), "{arguments:?}: {}", run.stderr);
        assert!(!run.stderr.contains("s3cret"), "{}", run.stderr);
        assert_eq!(files(folder.path()), [""; 0]);
    }
}
