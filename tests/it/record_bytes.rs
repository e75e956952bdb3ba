//! Every byte passes as it is, in both directions, and what is recorded loads.

use crate::recorder::{load, wire_server};
use crate::support::{command, write};
use mcp_cassette::Cassette;
use mcp_cassette::cassette::{Kind, Sender};
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::Stdio;
use std::thread;
use tempfile::tempdir;

/// Sends `client` and lets a server send `server`; what either got, and the cassette.
fn pass(
    folder: &Path,
    flags: &[&str],
    client: &[u8],
    server: &[u8],
) -> (Vec<u8>, Vec<u8>, Cassette) {
    write(folder, "to-client", server);
    let mut record = command(folder)
        .args(["record", "--cassette", "c.mcp.json", "--timeout", "2"])
        .args(flags)
        .arg("--")
        .arg(wire_server())
        .args(["mirror", "to-client", "from-client"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary runs");
    let mut input = record.stdin.take().expect("a pipe");
    let mut output = record.stdout.take().expect("a pipe");
    let sent = client.to_vec();
    let writer = thread::spawn(move || input.write_all(&sent).expect("a reader"));
    let mut got = Vec::new();
    output.read_to_end(&mut got).expect("output");
    writer.join().expect("the writer");
    assert_eq!(record.wait().expect("a child").code(), Some(0));
    let received = std::fs::read(folder.join("from-client")).expect("what the server got");
    (received, got, load(folder))
}

/// Lines of every odd kind, and how the recorder is to take each.
fn odd_lines() -> Vec<(Vec<u8>, Vec<Kind>)> {
    let text = |text: &str, kinds: &[Kind]| (text.as_bytes().to_vec(), kinds.to_vec());
    let deep = format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"deep\",\"params\":{}{}}}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let mut lines = vec![
        text("Example MCP Server v1.2", &[Kind::Raw]),
        text("", &[]),
        text(
            "\u{feff}{\"jsonrpc\":\"2.0\",\"method\":\"bom\"}",
            &[Kind::Raw],
        ),
        text(
            "{\"jsonrpc\":\"2.0\",\"method\":\"crlf\"}\r",
            &[Kind::Notification],
        ),
        text(
            "{\"method\":\"a\u{2028}b\u{202e}\u{200b}c\"}",
            &[Kind::Notification],
        ),
        text("a\u{0}b", &[Kind::Raw]),
        (b"\xff\x81{\"a\":1}".to_vec(), vec![Kind::Raw]),
        text(
            "{\"method\":\"half\",\"params\":{\"t\":\"ok \\ud83d\"}}",
            &[Kind::Notification],
        ),
        text(
            "{\"method\":\"big\",\"params\":[1e400,-0,18446744073709551616,1.0]}",
            &[Kind::Notification],
        ),
        text("{\"method\":\"nan\",\"params\":[NaN]}", &[Kind::Raw]),
        text("{\"a\":1,\"a\":2}", &[Kind::Unclassified]),
        text("{\"name\":\"otel\",\"level\":30}", &[Kind::Unclassified]),
        text("[]", &[Kind::Raw]),
        text("[1]", &[Kind::Raw]),
        text(
            "[{\"method\":\"x\"}, {\"id\":1,\"method\":\"y\"}]",
            &[Kind::Notification, Kind::Request],
        ),
        text("\"text\"", &[Kind::Raw]),
        text("{\"id\":1,\"result\":{},\"error\":{}}", &[Kind::Response]),
        text(&deep, &[Kind::Notification]),
    ];
    lines.extend(odd_ids());
    lines
}

/// Requests with ids of every JSON type.
fn odd_ids() -> Vec<(Vec<u8>, Vec<Kind>)> {
    let ids = [
        "0",
        "-1",
        "1.5",
        "\"a\"",
        "null",
        "true",
        "[1]",
        "{}",
        "18446744073709551615",
        "1e2",
    ];
    ids.iter()
        .map(|id| format!("{{\"id\":{id},\"method\":\"m\"}}"))
        .map(|line| (line.into_bytes(), vec![Kind::Request]))
        .collect()
}

#[test]
fn odd_lines_pass_unchanged_in_both_directions_and_are_recorded() {
    let folder = tempdir().unwrap();
    let lines = odd_lines();
    let mut stream: Vec<u8> = lines
        .iter()
        .flat_map(|(line, _)| [line, &b"\n"[..]].concat())
        .collect();
    stream.extend(b"{\"method\":\"half a li");
    let mut kinds: Vec<Kind> = lines.into_iter().flat_map(|(_, kinds)| kinds).collect();
    kinds.push(Kind::Raw);
    let (received, got, cassette) = pass(folder.path(), &[], &stream, &stream);
    assert!(received == stream, "the server got other bytes");
    assert!(got == stream, "the client got other bytes");
    for sender in [Sender::Client, Sender::Server] {
        let own = || {
            cassette
                .messages()
                .filter(move |message| message.sender() == sender)
        };
        assert_eq!(
            own().map(|message| message.kind()).collect::<Vec<_>>(),
            kinds
        );
        let batches: Vec<_> = own().filter_map(|message| message.batch()).collect();
        assert_eq!(batches.len(), 2);
        assert_eq!(batches[0], batches[1]);
        let payload = |method: &str| {
            let mut found = own().filter(|m| m.method().as_deref() == Some(method));
            found
                .next()
                .expect("the message")
                .payload()
                .split_whitespace()
                .collect::<String>()
        };
        assert_eq!(
            payload("big"),
            "{\"method\":\"big\",\"params\":[1e400,-0,18446744073709551616,1.0]}"
        );
        assert!(payload("half").contains("\\ud83d"));
        assert!(payload("a\u{2028}b\u{202e}\u{200b}c").contains("a\\u2028b\\u202e\\u200bc"));
        let raw: Vec<&str> = own().map(|message| message.payload()).collect();
        assert!(
            raw.contains(&"\"\\udcff\\udc81{\\\"a\\\":1}\""),
            "bytes that are no UTF-8"
        );
        assert!(
            raw.contains(&"\"{\\\"method\\\":\\\"half a li\""),
            "half a line at the end"
        );
    }
    assert_eq!(
        std::fs::read_to_string(folder.path().join("c.mcp.json")).unwrap(),
        cassette.to_json()
    );
}

#[test]
fn a_line_of_64_mebibytes_is_recorded_and_a_longer_one_is_told() {
    let folder = tempdir().unwrap();
    let line = |size: usize| {
        let frame = "{\"method\":\"m\",\"params\":\"\"}";
        format!(
            "{{\"method\":\"m\",\"params\":\"{}\"}}\n",
            "x".repeat(size - frame.len())
        )
    };
    let limit = 64 << 20;
    let (fits, longer) = (line(limit), line(limit + 1));
    let flags = ["--no-default-redactions"];
    let (received, got, cassette) = pass(folder.path(), &flags, fits.as_bytes(), longer.as_bytes());
    assert!(received == fits.as_bytes());
    assert!(got == longer.as_bytes());
    let of = |sender: Sender| {
        cassette
            .messages()
            .find(|message| message.sender() == sender)
            .unwrap()
    };
    assert_eq!(of(Sender::Client).kind(), Kind::Notification);
    assert!(of(Sender::Client).payload().len() >= limit);
    assert_eq!(of(Sender::Server).kind(), Kind::Raw);
    let told = of(Sender::Server).payload();
    assert!(told.contains("67108865 bytes, sha256 "), "{told}");
}
