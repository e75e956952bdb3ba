//! What a listener is sent that it should not be: nothing hangs, grows or panics, and whoever
//! behaves is served meanwhile.
#![cfg(unix)]

use crate::serve_http::{INITIALIZE, call, site};
use crate::web::Site;

fn status_of(site: &Site, request: &str) -> Option<u16> {
    let mut wire = site.connect();
    wire.say(request);
    wire.head().map(|head| head.status)
}

fn is_alive(site: &Site) {
    let id = site.initialize(INITIALIZE);
    assert_eq!(site.post(&id, &call(1, "json")).status, 200);
}

#[test]
fn a_request_in_the_name_of_a_foreign_page_is_refused() {
    let (_folder, site) = site(&[]);
    for (headers, expected) in [
        ("Host: localhost", 200),
        ("Host: 127.0.0.1:1", 200),
        ("Host: evil.example", 403),
        ("Host: localhost\r\nOrigin: https://evil.example", 403),
        ("Host: localhost\r\nOrigin: null", 403),
        ("Host: localhost\r\nOrigin: http://localhost:6274", 200),
        ("Host: localhost\r\nHost: localhost", 400),
        ("X-No-Host: 1", 400),
    ] {
        let request = format!(
            "POST /mcp HTTP/1.1\r\n{headers}\r\nContent-Length: {}\r\n\r\n{INITIALIZE}",
            INITIALIZE.len()
        );
        assert_eq!(status_of(&site, &request), Some(expected), "{headers}");
    }
}

#[test]
fn heads_have_limits() {
    let (_folder, site) = site(&[]);
    let long = format!(
        "GET /mcp HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n",
        "x".repeat(100_000)
    );
    assert_eq!(status_of(&site, &long), Some(431));
    let many = format!(
        "GET /mcp HTTP/1.1\r\nHost: localhost\r\n{}\r\n",
        "X: y\r\n".repeat(200)
    );
    assert_eq!(status_of(&site, &many), Some(431));
    let path = format!(
        "GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "x".repeat(100_000)
    );
    assert!(matches!(status_of(&site, &path), Some(414 | 431)));
    is_alive(&site);
}

#[test]
fn bodies_have_limits_and_types() {
    let (_folder, site) = site(&[]);
    let post = |headers: &str, body: &str| {
        status_of(
            &site,
            &format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n\r\n{body}"),
        )
    };
    assert_eq!(post("Content-Length: 99999999999", "x"), Some(413));
    assert_eq!(
        post("Content-Length: 2\r\nContent-Type: text/plain", "{}"),
        Some(415)
    );
    assert_eq!(
        post("Content-Length: 2\r\nContent-Encoding: gzip", "{}"),
        Some(415)
    );
    assert_eq!(post("Content-Length: 1", "{"), Some(400));
    assert_eq!(post("Content-Length: 0", ""), Some(400));
    assert_eq!(post("Content-Length: x", "{}"), Some(400));
    assert_eq!(post("Content-Length: -1", "{}"), Some(400));
    assert_eq!(
        post("Transfer-Encoding: chunked", "zz\r\n{}\r\n0\r\n\r\n"),
        Some(400)
    );
    assert_eq!(
        post("Transfer-Encoding: chunked", "ffffffffffffffffff\r\n"),
        Some(400)
    );
    is_alive(&site);
}

#[test]
fn requests_that_two_readers_would_frame_differently_are_one_request_or_none() {
    let (_folder, site) = site(&[]);
    let hidden = "POST /hidden HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n";
    for headers in [
        format!(
            "Content-Length: {}\r\nTransfer-Encoding: chunked",
            hidden.len() + 5
        ),
        format!("Content-Length: 5\r\nContent-Length: {}", hidden.len() + 5),
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity".to_owned(),
        "Transfer-Encoding: xchunked".to_owned(),
        "Content-Length : 5".to_owned(),
    ] {
        let mut wire = site.connect();
        wire.say(&format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n\r\n0\r\n\r\n{hidden}"
        ));
        let rest = wire.rest();
        let responses = rest.matches("HTTP/1.1 ").count();
        assert!(responses <= 1, "{headers}: {rest}");
        assert!(!rest.contains("nothing at this path"), "{headers}: {rest}");
    }
    is_alive(&site);
}

#[test]
fn a_client_that_leaves_in_the_middle_is_forgotten() {
    let (_folder, site) = site(&[]);
    for beginning in [
        "",
        "P",
        "POST /mcp HTTP/1.1\r\nHo",
        "PRI * HTTP/2.0\r\n\r\nSM",
    ] {
        let mut wire = site.connect();
        wire.say(beginning);
    }
    let mut short = site.connect();
    short.say("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{");
    drop(short);
    is_alive(&site);
    assert_eq!(site.stop().code, 0);
}

#[test]
fn a_thousand_connections_that_say_nothing_hold_nobody_up() {
    let (_folder, site) = site(&[]);
    let mut idle = Vec::new();
    for at in 0..1_000 {
        let mut wire = site.connect();
        if at % 2 == 0 {
            wire.say("POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Slow: ");
        }
        idle.push(wire);
    }
    is_alive(&site);
    let ended = site.stop();
    assert_eq!(ended.code, 0, "{}", ended.all());
}

#[test]
fn header_values_of_a_recording_add_no_headers() {
    let folder = tempfile::tempdir().expect("a folder");
    let text =
        std::fs::read_to_string(crate::serve_http::recording(folder.path())).expect("a file");
    let row = r#", "http_exchanges": [{"exchange": 0, "session": 0, "http_method": "POST", "framing": "json", "content_type": "application/json;\r\nX-Evil: 1"}]}"#;
    let text = format!("{}{row}", text.trim_end().trim_end_matches('}'));
    let path = crate::support::write(folder.path(), "evil.mcp.json", text);
    let site = Site::start(&[&path.display().to_string()]);
    let answer = site.post("", INITIALIZE);
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("x-evil"), None);
}
