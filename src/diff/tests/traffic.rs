//! The head, the methods and the order of requests.

use super::{Session, full, tool};

fn calls(methods: &[&str]) -> Session {
    methods.iter().fold(Session::new(), |session, method| {
        session.call(method, "{}", "{}")
    })
}

#[test]
fn fields_of_the_head_are_named_and_dotted() {
    let old = Session::new().head(
        r#""transport": "stdio", "protocol_version": "2025-03-26", "server_info": {"name": "a", "version": "1"}"#,
    );
    let new = Session::new().head(
        r#""transport": "http", "server_url": "https://user:pw@example.org:8443/mcp?token=abc", "server_info": {"name": "b", "version": "2"}"#,
    );
    let found = full(&old, &new);
    let fields: Vec<_> = found
        .metadata
        .iter()
        .map(|change| (&*change.field, change.old.as_deref(), change.new.as_deref()))
        .collect();
    assert_eq!(
        fields,
        [
            ("transport", Some("stdio"), Some("http")),
            ("protocol_version", Some("2025-03-26"), None),
            ("server_info.name", Some("a"), Some("b")),
            ("server_info.version", Some("1"), Some("2")),
            ("server_host", None, Some("example.org:8443")),
        ]
    );
}

#[test]
fn ids_times_and_sequence_numbers_are_not_compared() {
    let text = calls(&["tools/call"]).text();
    let moved = text
        .replace("\"id\": 1", "\"id\": \"abc\"")
        .replace("\"t_offset_ms\": ", "\"t_offset_ms\": 9")
        .replace("\"seq\": ", "\"seq\": 7");
    let parse = |text: String| crate::Cassette::parse("x", text.into_bytes()).expect("a cassette");
    let found = super::diff(&parse(text), &parse(moved), &super::DiffOptions::default());
    assert!(found.expect("a diff").identical());
}

#[test]
fn methods_are_counted_with_names_for_what_has_none() {
    let old = calls(&["tools/call"]);
    let new = calls(&["tools/call", "tools/call"])
        .message("server", r#""a banner""#)
        .message("server", r#"{"level": 30}"#)
        .message("server", r#"{"method": "notifications/message"}"#);
    let found = full(&old, &new);
    let counts: Vec<_> = found
        .methods
        .iter()
        .map(|count| (&*count.method, count.old_count, count.new_count))
        .collect();
    assert_eq!(
        counts,
        [
            ("<raw>", 0, 1),
            ("<response>", 1, 2),
            ("<unclassified>", 0, 1),
            ("notifications/message", 0, 1),
            ("tools/call", 1, 2),
        ]
    );
}

#[test]
fn what_the_file_says_about_a_payload_is_not_believed() {
    let honest = Session::new().tools(&[&tool("a", "x")]);
    let text = honest
        .text()
        .replace("\"kind\": \"request\"", "\"kind\": \"notification\"");
    let lying = crate::Cassette::parse("x", text.into_bytes()).expect("a cassette");
    let found = super::diff(&honest.cassette(), &lying, &super::DiffOptions::default());
    assert!(found.expect("a diff").identical());
}

#[test]
fn the_order_of_requests_is_a_unified_diff() {
    let found = full(
        &calls(&["tools/call", "resources/list"]),
        &calls(&["resources/list", "tools/call"]),
    );
    assert!(found.methods.is_empty());
    assert_eq!(found.sequence[..2], ["--- baseline", "+++ current"]);
    let count = |line: &str| found.sequence.iter().filter(|l| *l == line).count();
    let moved = count("-tools/call") + count("-resources/list");
    assert_eq!(moved, 1, "{:?}", found.sequence);
    assert!(!found.identical());
}

#[test]
fn only_what_the_client_asks_for_is_in_the_sequence() {
    let old = calls(&["tools/call"]);
    let new = old
        .clone()
        .message("server", r#"{"id": 5, "method": "roots/list"}"#)
        .message("client", r#"{"method": "notifications/x"}"#);
    let found = full(&old, &new);
    assert!(found.sequence.is_empty());
    assert_eq!(found.methods.len(), 2);
}

#[test]
fn a_change_of_order_is_shown_with_one_request_around_it() {
    let found = full(
        &calls(&["a", "b", "c", "d", "e"]),
        &calls(&["a", "b", "x", "d", "e"]),
    );
    assert_eq!(
        found.sequence[2..],
        ["@@ -2,3 +2,3 @@", " b", "-c", "+x", " d"]
    );
}
