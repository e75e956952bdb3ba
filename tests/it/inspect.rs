//! What `inspect` prints. The expected lines and members are those of
//! mcp-cassette 0.4.0 for the same file, except where a test says otherwise.

use crate::support::{Run, root, run, run_in, write};
use tempfile::tempdir;

const HTTP: &str = "http.mcp.json";

fn inspect(arguments: &[&str]) -> Run {
    let folder = root().join("tests/fixtures/inspect");
    let run = run_in(&folder, &[&["inspect", HTTP], arguments].concat(), &[]);
    assert_eq!((run.code, &*run.stderr), (0, ""), "{arguments:?}");
    run
}

/// A cassette on stdio with these messages: sender, kind, method, payload.
fn stdio(messages: &[(&str, &str, Option<&str>, &str)]) -> String {
    let messages: Vec<String> = messages
        .iter()
        .enumerate()
        .map(|(seq, (sender, kind, method, payload))| {
            let method = method.map_or("null".to_owned(), |method| format!("{method:?}"));
            format!(
                r#"{{"seq": {seq}, "t_offset_ms": {seq}, "sender": "{sender}", "kind": "{kind}",
                    "method": {method}, "payload": {payload}}}"#
            )
        })
        .collect();
    let messages = messages.join(",");
    format!(r#"{{"format_version": 3, "messages": [{messages}]}}"#)
}

#[test]
fn the_summary_counts_methods_and_says_what_was_recorded() {
    // 0.4.0 would show the password of the URL, and the time as +00:00.
    assert_eq!(
        inspect(&[]).stdout,
        "cassette: http.mcp.json
format_version: 3
transport: http
recorded_at: 2026-07-05T00:00:00Z
server host: 127.0.0.1:9001
exchanges: 2
protocol_version: 2025-11-25
server: demo 1.2.0
messages: 4
  <raw>: 1
  <response>: 1
  tools/call: 1
  tools/list: 1
timing span: 35 ms
unanswered requests: 1 (the recording holds no answer to them, so a replay has none either)
"
    );
}

#[test]
fn the_timeline_has_one_row_a_message() {
    assert_eq!(
        inspect(&["--timeline"]).stdout,
        "seq   t_offset_ms  dir  kind          method                   id         bytes   exch chan \n\
         0               5  ->   request       tools/list               1             46      0 -    \n\
         1              37  <-   response      -                        1            206      0 post \n\
         2              38  ->   request       tools/call               abc           99      1 -    \n\
         3              40  <-   raw           -                        -              7      1 post \n"
    );
}

#[test]
fn a_stdio_timeline_has_no_http_columns() {
    let folder = tempdir().unwrap();
    let message = ("client", "notification", Some("m"), "{}");
    write(folder.path(), "c.json", stdio(&[message]));
    let run = run_in(folder.path(), &["inspect", "c.json", "--timeline"], &[]);
    assert_eq!(
        run.stdout,
        "seq   t_offset_ms  dir  kind          method                   id         bytes\n\
         0               0  ->   notification  m                        -              2\n"
    );
}

#[test]
fn tools_are_listed_by_name_with_the_first_line_of_their_description() {
    assert_eq!(
        inspect(&["--tools"]).stdout,
        "Zoom  (0 args)  \nsearch  (2 args)  Sucht im Netz: Äpfel & Birnen.\n"
    );
}

#[test]
fn json_has_the_members_of_0_4_0_in_ascii() {
    assert_eq!(
        inspect(&["--format", "json", "--timeline", "--method", "tools/call"]).stdout,
        r#"{
  "cassette": "http.mcp.json",
  "format_version": 3,
  "message_counts": {
    "tools/call": 1
  },
  "messages": 1,
  "protocol_version": "2025-11-25",
  "recorded_at": "2026-07-05T00:00:00Z",
  "server_info": {
    "name": "demo",
    "version": "1.2.0"
  },
  "timing_span_ms": 0,
  "tools": [
    {
      "name": "Zoom",
      "description": null,
      "args": 0
    },
    {
      "name": "search",
      "description": "Sucht im Netz: \u00c4pfel & Birnen.\nSecond line.",
      "args": 2
    }
  ],
  "transport": "http",
  "unanswered_requests": 1,
  "server_host": "127.0.0.1:9001",
  "exchanges": 2,
  "timeline": [
    {
      "seq": 2,
      "t_offset_ms": 38,
      "sender": "client",
      "kind": "request",
      "method": "tools/call",
      "id": "abc",
      "bytes": 99,
      "exchange": 1,
      "channel": null
    }
  ]
}
"#
    );
    let without = inspect(&["--format", "json"]).stdout;
    assert!(!without.contains("\"timeline\""), "{without}");
}

#[test]
fn an_empty_selection_has_no_time_span() {
    let run = inspect(&["--method", "nope"]);
    assert!(run.stdout.contains("messages: 0\n"), "{}", run.stdout);
    assert!(!run.stdout.contains("timing span"), "{}", run.stdout);
}

#[test]
fn grep_finds_text_as_it_is_read_and_as_0_4_0_spelled_it() {
    for (pattern, expected) in [
        ("Äpfel", &["1"] as &[&str]),
        (r"\\u00c4pfel", &["1"]),
        // As recorded the name stands before the arguments, sorted it is behind them.
        (r#""name":"search","arguments""#, &["2"]),
        (r#""arguments":\{"q":"x"\},"name""#, &["2"]),
        ("^schön", &["3"]),
        (r#"(?<="id":)1\b"#, &["0", "1"]),
        ("nothing", &[]),
    ] {
        let run = inspect(&["--timeline", "--grep", pattern]);
        let rows: Vec<&str> = run
            .stdout
            .lines()
            .skip(1)
            .filter_map(|line| line.split_whitespace().next())
            .collect();
        assert_eq!(rows, expected, "{pattern}");
    }
}

#[test]
fn a_pattern_that_cannot_be_searched_for_exits_2() {
    let run = run(&["inspect", "no-such-file.json", "--grep", "("]);
    assert_eq!(run.code, 2);
    assert!(
        run.stderr
            .starts_with("mcp-cassette inspect: invalid --grep pattern '('"),
        "{}",
        run.stderr
    );
}

#[test]
fn timeline_and_tools_exclude_each_other() {
    let run = run(&["inspect", "x.json", "--timeline", "--tools"]);
    assert_eq!(run.code, 2);
    assert!(
        run.stderr.contains("not allowed with argument"),
        "{}",
        run.stderr
    );
}

#[test]
fn of_tools_with_one_name_the_last_counts_whatever_was_asked() {
    let folder = tempdir().unwrap();
    let list = Some("tools/list");
    let cassette = stdio(&[
        (
            "client",
            "request",
            list,
            r#"{"id": 1, "method": "tools/list"}"#,
        ),
        (
            "client",
            "request",
            Some("x"),
            r#"{"id": 2, "method": "x"}"#,
        ),
        (
            "server",
            "response",
            None,
            r#"{"id": 2, "result": {"tools": [{"name": "b"}]}}"#,
        ),
        (
            "server",
            "response",
            None,
            r#"{"id": 1, "result": {"tools": [
            {"name": "a", "description": "old"}, {"name": 5}, "b", {"description": "no name"},
            {"name": "a", "description": "new", "inputSchema": {"properties": {"x": 1, "x": 2}}}
        ]}}"#,
        ),
    ]);
    write(folder.path(), "c.json", cassette);
    let run = run_in(folder.path(), &["inspect", "c.json", "--tools"], &[]);
    assert_eq!(run.stdout, "a  (1 args)  new\nb  (0 args)  \n");
}

#[test]
fn each_request_without_an_answer_is_counted_also_when_ids_repeat() {
    let folder = tempdir().unwrap();
    let request = (
        "client",
        "request",
        Some("x"),
        r#"{"id": 1, "method": "x"}"#,
    );
    let answer = ("server", "response", None, r#"{"id": 1, "result": {}}"#);
    let from_server = (
        "server",
        "request",
        Some("y"),
        r#"{"id": 1, "method": "y"}"#,
    );
    let cassette = stdio(&[request, request, answer, from_server]);
    write(folder.path(), "c.json", cassette);
    let run = run_in(folder.path(), &["inspect", "c.json"], &[]);
    assert!(
        run.stdout.contains("unanswered requests: 1 ("),
        "{}",
        run.stdout
    );
}

/// What a runner of GitHub Actions would take for a command on a line.
fn commands(output: &str) -> Vec<&str> {
    let mut stopped: Option<&str> = None;
    let mut found = Vec::new();
    for line in output.lines() {
        let start = line.trim_start();
        if let Some(token) = stopped {
            if start == format!("::{token}::") {
                stopped = None;
            }
        } else if let Some(token) = start.strip_prefix("::stop-commands::") {
            stopped = Some(token);
        } else if start.starts_with("::") {
            found.push(line);
        }
        if line.contains("##[") {
            found.push(line);
        }
    }
    found
}

#[test]
fn recorded_text_reaches_neither_the_terminal_nor_the_runner() {
    let folder = tempdir().unwrap();
    let cassette = r###"{"format_version": 3, "transport": "http",
        "server_url": "http://h\u001b[1m\n::error::url/x", "protocol_version": "1\n::error::p",
        "recorded_at": "x\n::error::at", "server_info": {"name": "\n::error::n", "version": "##[error]v"},
        "messages": [
          {"sender": "client", "kind": "request", "method": "tools/list", "msg_id": "\n::error::id",
           "payload": {"id": "\n::error::id", "method": "tools/list"}, "exchange": 0},
          {"sender": "server", "kind": "response", "msg_id": "\n::error::id", "exchange": 0, "channel": "post",
           "payload": {"id": "\n::error::id", "result": {"tools": [
             {"name": "::error::tool", "description": "##[error]d\u001b[2J"},
             {"name": "  ::error::tool", "description": "\u009b0m\u202e"},
             {"name": "\n::error::tool", "description": "a\r::error::d"}]}}},
          {"sender": "client", "kind": "notification", "method": "\n::error::m ##[error]m", "payload": {}}
        ]}"###;
    write(folder.path(), "c\n::error::f.json", cassette);
    for view in [
        &[] as &[&str],
        &["--tools"],
        &["--timeline"],
        &["--format", "json"],
    ] {
        for runner in ["false", "true"] {
            let arguments = [&["inspect", "c\n::error::f.json"], view].concat();
            let run = run_in(folder.path(), &arguments, &[("GITHUB_ACTIONS", runner)]);
            assert_eq!(run.code, 0, "{}", run.stderr);
            assert_eq!(commands(&run.stdout), [""; 0], "{view:?}");
            let raw: Vec<char> = run
                .stdout
                .chars()
                .filter(|c| (c.is_control() && *c != '\n') || ('\u{202a}'..='\u{202e}').contains(c))
                .collect();
            assert!(raw.is_empty(), "{view:?}");
            let guarded = run.stdout.starts_with("::stop-commands::");
            assert_eq!(guarded, runner == "true" && !view.contains(&"json"));
        }
    }
}
