//! Clients and servers that mean no good, or do not know better, with `record --url` between them.
#![cfg(unix)]

use crate::origin::{Origin, Proxy, SESSION, answer_plainly};
use crate::recorder::{load, ping};
use crate::serve_http::INITIALIZE;
use crate::web::Site;
use async_compression::tokio::write::GzipEncoder;
use mcp_cassette::cassette::Kind;
use serde_json::Value;
use std::fs;
use std::path::Path;
use tempfile::tempdir;
use tokio::io::AsyncWriteExt as _;

/// That the recorder still works, and is made to end.
fn still_works(proxy: Proxy, origin: &Origin) -> crate::support::Run {
    origin.others();
    let mut wire = proxy.connect();
    wire.post("", &ping(77));
    assert_eq!(wire.answer().json()["id"], 77);
    assert_eq!(origin.others(), 1);
    let run = proxy.stop();
    assert_eq!(run.code, 130, "{}", run.all());
    assert!(!run.stderr.contains("panicked"), "{}", run.stderr);
    run
}

#[test]
fn foreign_hosts_and_pages_are_refused_and_do_not_reach_the_server() {
    let folder = tempdir().unwrap();
    let origin = Origin::plain();
    let proxy = Proxy::start(folder.path(), &origin.url(), &[]);
    for (headers, status) in [
        ("Host: evil.example\r\n", 403),
        ("Host: localhost\r\nOrigin: https://evil.example\r\n", 403),
        ("", 400),
        ("Host: localhost\r\nHost: localhost\r\n", 400),
    ] {
        let mut wire = proxy.connect();
        wire.say(&format!(
            "POST /mcp HTTP/1.1\r\n{headers}Content-Length: 2\r\n\r\n{{}}"
        ));
        assert_eq!(wire.answer().status, status, "{headers}");
    }
    assert_eq!(origin.others(), 0);
    still_works(proxy, &origin);
    assert_eq!(load(folder.path()).messages().len(), 2);
}

#[test]
fn a_request_that_two_readers_could_cut_in_two_ways_is_refused_or_made_plain() {
    let folder = tempdir().unwrap();
    let origin = Origin::plain();
    let proxy = Proxy::start(folder.path(), &origin.url(), &[]);
    let hidden = "GET /hidden HTTP/1.1\r\nHost: localhost\r\n\r\n";
    for shape in [
        format!("Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{hidden}"),
        format!("Transfer-Encoding: chunked\r\nContent-Length: 6\r\n\r\n0\r\n\r\n{hidden}"),
        format!("Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n{hidden}"),
        format!("Transfer-Encoding: \u{b}chunked\r\n\r\n0\r\n\r\n{hidden}"),
        format!("Content-Length: 2\r\nContent-Length: 5\r\n\r\n{{}}{hidden}"),
        format!("Content-Length: +2\r\n\r\n{{}}{hidden}"),
        format!("Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n{hidden}"),
        "Transfer-Encoding: chunked\r\n\r\nzz\r\n".to_owned(),
        "Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n".to_owned(),
        "Bad Header: 1\r\n\r\n".to_owned(),
        "X: a\rb\r\n\r\n".to_owned(),
    ] {
        let mut wire = proxy.connect();
        wire.say(&format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\n{shape}"));
        let answered = wire.head();
        if let Some(answer) = &answered {
            assert!(answer.status >= 200, "{shape:?}: {answer:?}");
        }
        drop(wire);
    }
    // What reached the server came whole, each on its own, and says its length in one way.
    let run = {
        let mut wire = proxy.connect();
        wire.post("", &ping(1));
        assert_eq!(wire.answer().json()["id"], 1);
        proxy.stop()
    };
    assert!(!run.stderr.contains("panicked"), "{}", run.stderr);
    loop {
        let request = origin.request();
        let both = request.header("content-length").is_some()
            && request.header("transfer-encoding").is_some();
        assert!(!both, "{request:?}");
        if request.body.contains("ping") {
            break;
        }
    }
}

#[test]
fn a_head_that_is_too_long_is_refused() {
    let folder = tempdir().unwrap();
    let origin = Origin::plain();
    let proxy = Proxy::start(folder.path(), &origin.url(), &[]);
    let mut wire = proxy.connect();
    wire.say(&format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n",
        "x".repeat(1 << 20)
    ));
    if let Some(answer) = wire.head() {
        assert_eq!(answer.status, 431);
    }
    still_works(proxy, &origin);
}

#[test]
fn a_message_beyond_the_limit_passes_and_is_told_by_length_and_hash() {
    let folder = tempdir().unwrap();
    let origin = Origin::plain();
    let proxy = Proxy::start(folder.path(), &origin.url(), &["--max-message", "1000"]);
    let mut wire = proxy.connect();
    let long = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{}\"}}",
        "x".repeat(3_000_000)
    );
    wire.post("", &long);
    assert_eq!(wire.answer().json()["id"], 1);
    assert_eq!(origin.request().body, long);
    let run = still_works(proxy, &origin);
    assert!(
        run.stderr.contains("longer than --max-message"),
        "{}",
        run.stderr
    );
    let cassette = load(folder.path());
    let first = cassette.messages().next().unwrap();
    assert_eq!(first.kind(), Kind::Raw);
    assert!(first.payload().contains(&format!("{} bytes", long.len())));
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut encoder = GzipEncoder::new(Vec::new());
        encoder.write_all(text).await.unwrap();
        encoder.shutdown().await.unwrap();
        encoder.into_inner()
    })
}

#[test]
fn a_compressed_answer_passes_as_it_came_and_is_recorded_as_what_it_says() {
    let folder = tempdir().unwrap();
    let headers = "Content-Type: application/json\r\nContent-Encoding: gzip\r\n";
    let bodies = [
        gzip(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#),
        b"this is no gzip".to_vec(),
        // Four million blanks before the end.
        gzip(&[&b"{\"a\":1"[..], &vec![b' '; 4 << 20], b"}"].concat()),
    ];
    let lengths: Vec<usize> = bodies.iter().map(Vec::len).collect();
    let origin = Origin::start(move |talk| {
        let at = ["\"id\":1,", "\"id\":2,", "\"id\":3,"];
        let at = at.iter().position(|id| talk.request.body.contains(id));
        match at {
            Some(at) => talk.answer("200 OK", headers, &bodies[at]),
            None => answer_plainly(talk),
        }
    });
    let proxy = Proxy::start(folder.path(), &origin.url(), &["--max-message", "1000"]);
    for (id, length) in (1..).zip(lengths) {
        let mut wire = proxy.connect();
        wire.post("", &ping(id));
        let head = wire.head().unwrap();
        assert_eq!(head.header("content-encoding"), Some("gzip"));
        assert_eq!(
            head.header("content-length"),
            Some(length.to_string().as_str())
        );
        wire.skip(length);
    }
    let run = still_works(proxy, &origin);
    assert!(
        run.stderr.contains("could not be read (gzip"),
        "{}",
        run.stderr
    );
    let text = fs::read_to_string(folder.path().join("c.mcp.json")).unwrap();
    assert!(
        text.contains("a body that could not be read (gzip"),
        "{text}"
    );
    assert!(
        text.contains(&format!("a message of {} bytes", (4 << 20) + 7)),
        "{text}"
    );
    let cassette = load(folder.path());
    let second = cassette.messages().nth(1).unwrap();
    assert_eq!((second.kind(), second.id()), (Kind::Response, Some("1")));
}

#[test]
fn a_server_that_speaks_nonsense_is_an_error_for_the_client_alone() {
    let folder = tempdir().unwrap();
    let origin = Origin::start(|talk| {
        let body = talk.request.body.clone();
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
        match body.as_str() {
            body if body.contains("two-lengths") => {
                talk.say(format!(
                    "{head}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{{}}"
                ));
            }
            body if body.contains("bad-chunk") => {
                talk.say(format!(
                    "{head}Transfer-Encoding: chunked\r\n\r\nzz\r\n{{}}\r\n"
                ));
            }
            body if body.contains("no-http") => talk.say("SSH-2.0-OpenSSH\r\n"),
            body if body.contains("split") => {
                talk.say(format!(
                    "{head}X: a\nSet-Cookie: b=c\r\nContent-Length: 2\r\n\r\n{{}}"
                ));
            }
            body if body.contains("nothing") => {}
            _ => return answer_plainly(talk),
        }
        let _ = talk.stream.shutdown(std::net::Shutdown::Both);
    });
    let proxy = Proxy::start(folder.path(), &origin.url(), &[]);
    let mut first = proxy.connect();
    first.post("", &ping(1));
    first.answer();
    for shape in ["two-lengths", "bad-chunk", "no-http", "split", "nothing"] {
        let mut wire = proxy.connect();
        wire.post(
            "",
            &format!("{{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"{shape}\"}}"),
        );
        // What breaks off at once may take the head of the answer with it.
        if let Some(head) = wire.head() {
            assert!([200, 502].contains(&head.status), "{shape}: {head:?}");
            wire.drain();
        }
    }
    still_works(proxy, &origin);
    let cassette = load(folder.path());
    let asked = cassette
        .messages()
        .filter(|message| message.kind() == Kind::Request);
    assert_eq!(asked.count(), 7);
}

/// Of the rows of what was recorded.
fn statuses(folder: &Path) -> Vec<u64> {
    let text = fs::read_to_string(folder.join("c.mcp.json")).unwrap();
    let cassette: Value = serde_json::from_str(&text).unwrap();
    let rows = cassette["http_exchanges"].as_array().unwrap();
    let statuses = rows.iter().map(|row| row["status"].as_u64());
    statuses.map(|status| status.unwrap_or(200)).collect()
}

#[test]
fn a_body_that_the_client_breaks_off_is_no_fault_of_the_server() {
    let folder = tempdir().unwrap();
    let origin = Origin::plain();
    let proxy = Proxy::start(folder.path(), &origin.url(), &[]);
    let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\n";
    // Before the server was reached, and after.
    for _ in 0..2 {
        let mut wire = proxy.connect();
        wire.say(&format!(
            "{head}Transfer-Encoding: chunked\r\n\r\n1\r\n{{\r\nzz\r\n"
        ));
        assert_eq!(wire.answer().status, 400);
        let mut wire = proxy.connect();
        wire.say(&format!("{head}Content-Length: 500\r\n\r\n{{"));
        drop(wire);
        let mut wire = proxy.connect();
        wire.post("", &ping(1));
        assert_eq!(wire.answer().json()["id"], 1);
    }
    let run = still_works(proxy, &origin);
    assert!(!run.stderr.contains("the server did not"), "{}", run.all());
    assert!(statuses(folder.path()).iter().all(|status| *status == 200));
}

#[test]
fn a_status_that_the_standard_does_not_know_is_recorded_and_replayed() {
    let folder = tempdir().unwrap();
    let origin = Origin::start(|talk| {
        if talk.request.body.contains("blocked") {
            return talk.answer("999 Request denied", "", b"");
        }
        answer_plainly(talk);
    });
    let blocked = r#"{"jsonrpc":"2.0","id":2,"method":"blocked"}"#;
    let proxy = Proxy::start(folder.path(), &origin.url(), &[]);
    for (body, status) in [(&*ping(1), 200), (blocked, 999)] {
        let mut wire = proxy.connect();
        wire.post("", body);
        assert_eq!(wire.answer().status, status);
    }
    still_works(proxy, &origin);
    load(folder.path());
    assert_eq!(statuses(folder.path()), [200, 999, 200]);
    let site = Site::start_in(folder.path(), &["c.mcp.json"]);
    assert_eq!(site.post("", blocked).status, 999);
}

#[test]
fn many_connections_at_once_are_served() {
    let folder = tempdir().unwrap();
    let origin = Origin::plain();
    let proxy = Proxy::start(folder.path(), &origin.url(), &[]);
    let mut idle: Vec<_> = (0..300).map(|_| proxy.connect()).collect();
    for (id, wire) in idle.iter_mut().enumerate() {
        // Half a head, that never ends.
        if id % 2 == 0 {
            wire.say("POST /mcp HTTP/1.1\r\nHost:");
        }
    }
    still_works(proxy, &origin);
}

#[test]
fn a_request_that_was_redirected_is_replayed_with_the_answer_that_it_got_in_the_end() {
    let folder = tempdir().unwrap();
    let origin = Origin::start(|talk| match talk.request.line.as_str() {
        "POST /mcp" => talk.answer("307 Temporary Redirect", "Location: /mcp/\r\n", b""),
        _ => answer_plainly(talk),
    });
    let proxy = Proxy::start(folder.path(), &origin.url(), &[]);
    let mut wire = proxy.connect();
    for message in [INITIALIZE, &ping(1)] {
        wire.post(SESSION, message);
        let redirect = wire.answer();
        assert_eq!(
            (redirect.status, redirect.header("location")),
            (307, Some("/mcp/"))
        );
        // As a client goes there.
        let length = message.len();
        wire.say(&format!(
            "POST /mcp/ HTTP/1.1\r\nHost: localhost\r\nMcp-Session-Id: {SESSION}\r\nContent-Length: {length}\r\n\r\n{message}"
        ));
        assert_eq!(wire.answer().status, 200);
    }
    let run = proxy.stop();
    assert!(!run.stderr.contains("no answer"), "{}", run.all());
    let site = Site::start_in(folder.path(), &["c.mcp.json"]);
    let id = site.initialize(INITIALIZE);
    let answer = site.post(&id, &ping(2));
    assert_eq!(
        (answer.status, answer.json()["id"].clone()),
        (200, 2.into())
    );
    let run = site.stop();
    assert_eq!(run.code, 0, "{}", run.all());
}
