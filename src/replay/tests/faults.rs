//! Every fault with each of its parameters, what is refused, and what is reported.

use super::{Player, answer, call, paced, request};
use crate::cassette::Transport;
use crate::replay::Options;
use crate::replay::faults::Overlay;

fn overlay(text: &str) -> Overlay {
    Overlay::parse("faults.json", text.as_bytes(), Transport::Stdio).expect("an overlay")
}

fn fault(target: &str, kind: &str, params: &str) -> String {
    format!(r#"{{"target":{target},"type":"{kind}","params":{params}}}"#)
}

fn player(faults: &[String], options: Options) -> Player {
    let text = format!("{{\"faults\":[{}]}}", faults.join(","));
    let (one, two) = (call("1", "echo", "{}", ""), call("2", "add", "{}", ""));
    let three = call("3", "echo", "{}", "");
    let list = request("4", "tools/list");
    let answers = [
        answer("1", "e1"),
        answer("2", "a1"),
        answer("3", "e2"),
        answer("4", "tools"),
    ];
    Player::with(
        &[
            ('c', 0, &one),
            ('s', 10, &answers[0]),
            ('c', 20, &two),
            ('s', 30, &answers[1]),
            ('c', 40, &three),
            ('s', 50, &answers[2]),
            ('c', 60, &list),
            ('s', 70, &answers[3]),
        ],
        Options {
            faults: overlay(&text),
            ..options
        },
    )
}

const CALLS: &str = r#"{"method":"tools/call"}"#;

#[test]
fn each_fault_does_to_an_answer_what_its_parameters_say() {
    let error = |code: i64, message: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":"x","error":{{"code":{code},"message":"{message}"}}}}"#)
    };
    let whole = answer("\"x\"", "e1");
    let half = whole[..whole.len() / 2].to_owned();
    for (kind, params, expected) in [
        ("timeout", "{}", None),
        (
            "error",
            "{}",
            Some(error(-32603, "mcp-cassette injected error")),
        ),
        (
            "error",
            r#"{"code":-5}"#,
            Some(error(-5, "mcp-cassette injected error")),
        ),
        (
            "error",
            r#"{"code":1,"message":"say \"no\""}"#,
            Some(error(1, r#"say \"no\""#)),
        ),
        ("malformed", r#"{"strategy":"truncate"}"#, Some(half)),
        (
            "malformed",
            r#"{"strategy":"not_json"}"#,
            Some("mcp-cassette: this line is not JSON".to_owned()),
        ),
        (
            "malformed",
            r#"{"strategy":"wrong_id"}"#,
            Some(answer("\"mcp-cassette-unknown-id\"", "e1")),
        ),
        ("delay", r#"{"ms":0}"#, Some(whole)),
    ] {
        let mut player = player(&[fault(CALLS, kind, params)], Options::default());
        let said = player.say(&call("\"x\"", "echo", "{}", ""));
        assert_eq!(
            said,
            expected.into_iter().collect::<Vec<_>>(),
            "{kind} {params}"
        );
        // The stream goes on.
        assert_eq!(
            player.say(&request("9", "tools/list")),
            [answer("9", "tools")]
        );
        assert!(player.finish().unused_faults.is_empty());
    }
}

#[test]
fn a_member_that_is_null_is_one_that_is_not_given() {
    for (target, kind, params) in [
        (
            r#"{"method":"tools/call","nth":null,"tool":null}"#,
            "error",
            r#"{"code":null,"message":null}"#,
        ),
        (
            r#"{"method":"tools/list","tool":null}"#,
            "disconnect",
            r#"{"after_response":null}"#,
        ),
        (CALLS, "timeout", "null"),
    ] {
        let text = format!("{{\"faults\":[{}]}}", fault(target, kind, params));
        assert_eq!(overlay(&text).unused().len(), 1, "{text}");
    }
    for (target, kind, params, problem) in [
        (r#"{"method":null}"#, "timeout", "{}", "has no `method`"),
        (CALLS, "delay", r#"{"ms":null}"#, "has no `ms`"),
        (
            CALLS,
            "malformed",
            r#"{"strategy":null}"#,
            "has no `strategy`",
        ),
        (CALLS, "timeout", r#"{"ms":null}"#, "unknown member `ms`"),
    ] {
        let text = format!("{{\"faults\":[{}]}}", fault(target, kind, params));
        let error = Overlay::parse("f", text.as_bytes(), Transport::Stdio).expect_err("refused");
        assert!(error.to_string().contains(problem), "{error}");
    }
}

#[test]
fn a_delay_comes_after_the_pace_and_holds_nobody_else_up() {
    let faults = [fault(CALLS, "delay", r#"{"ms":500}"#)];
    let mut player = player(&faults, paced(1.0, 0));
    player.say(&call("1", "echo", "{}", ""));
    player.say(&call("2", "add", "{}", ""));
    assert_eq!(player.say(&request("3", "tools/list")), [""; 0]);
    assert_eq!(player.pass(10), [answer("3", "tools")]);
    assert_eq!(player.pass(499), [""; 0]);
    assert_eq!(player.pass(1), [answer("1", "e1"), answer("2", "a1")]);
}

#[test]
fn a_timeout_spends_no_pace_and_holds_nobody_up() {
    let target = r#"{"method":"tools/call","nth":1}"#;
    let faults = [fault(target, "timeout", "{}")];
    let mut player = player(&faults, paced(1.0, 0));
    player.say(&call("1", "echo", "{}", ""));
    player.say(&call("2", "add", "{}", ""));
    assert_eq!(player.pass(9), [""; 0]);
    assert_eq!(player.pass(1), [answer("2", "a1")]);
    assert_eq!(player.pass(60_000), [""; 0]);
}

#[test]
fn a_disconnect_breaks_off_before_or_after_the_answer() {
    for (params, said) in [
        ("{}", vec![]),
        (r#"{"after_response":false}"#, vec![]),
        (r#"{"after_response":true}"#, vec![answer("1", "e1")]),
    ] {
        let mut player = player(&[fault(CALLS, "disconnect", params)], Options::default());
        assert_eq!(player.say(&call("1", "echo", "{}", "")), said, "{params}");
        assert!(player.aborted);
        assert_eq!(player.say(&request("2", "tools/list")), [""; 0]);
    }
}

#[test]
fn a_target_is_a_method_and_perhaps_a_tool_and_a_number() {
    let targets = [
        r#"{"method":"tools/call","tool":"echo","nth":2}"#,
        r#"{"method":"tools/list","nth":1}"#,
        r#"{"method":"tools/call","nth":7}"#,
        r#"{"method":"tools/cal"}"#,
    ];
    let faults = targets.map(|target| fault(target, "error", "{}"));
    let mut player = player(&faults, Options::default());
    let mut failed = Vec::new();
    for tool in ["echo", "add", "echo"] {
        failed.push(player.say(&call("1", tool, "{}", ""))[0].contains("injected"));
    }
    assert_eq!(failed, [false, false, true]);
    let listings = [request("5", "tools/list"), request("6", "tools/list")];
    let failed = listings.map(|list| player.say(&list)[0].contains("injected"));
    assert_eq!(failed, [true, false]);
    assert_eq!(
        player.finish().unused_faults,
        ["error on tools/call number 7", "error on tools/cal"]
    );
}

#[test]
fn one_fault_fires_on_a_request_and_another_that_would_is_warned_of() {
    let faults = [
        fault(CALLS, "delay", r#"{"ms":0}"#),
        fault(CALLS, "error", "{}"),
    ];
    let mut player = player(&faults, Options::default());
    assert_eq!(
        player.say(&call("1", "echo", "{}", "")),
        [answer("1", "e1")]
    );
    let notices = player.notices();
    assert!(notices.contains("error on tools/call"), "{notices}");
    assert_eq!(player.finish().unused_faults, ["error on tools/call"]);
}

/// Checks that each text is refused, on that line and with these words.
fn refused(texts: &[(String, usize, &str)]) {
    for (text, line, expected) in texts {
        let error = Overlay::parse("f.json", text.as_bytes(), Transport::Stdio)
            .expect_err(text)
            .to_string();
        assert!(
            error.starts_with(&format!("f.json:{line}: ")),
            "{text}: {error}"
        );
        assert!(error.contains(expected), "{text}: {error}");
    }
}

const TARGET: &str = r#""target":{"method":"tools/call"}"#;

#[test]
fn an_overlay_that_is_not_exactly_one_is_refused_with_its_line() {
    let target = TARGET;
    refused(&[
        ("[]".to_owned(), 1, "the overlay is not an object"),
        ("{".to_owned(), 1, "is not valid JSON"),
        ("{}".to_owned(), 1, "the member `faults` is missing"),
        (
            "{\n\"fault\":[]}".to_owned(),
            2,
            "unknown member `fault`; did you mean `faults`?",
        ),
        ("{\"faults\":{}}".to_owned(), 1, "`faults` is not an array"),
        (
            "{\"faults\":[\n1]}".to_owned(),
            2,
            "a fault is not an object",
        ),
        (
            "{\"faults\":[{\"type\":\"timeout\"}]}".to_owned(),
            1,
            "a fault has no `target`",
        ),
        (
            format!("{{\"faults\":[{{{target}}}]}}"),
            1,
            "a fault has no `type`",
        ),
        (
            format!("{{\"faults\":[{{{target},\n\"type\":\"dely\"}}]}}"),
            2,
            "unknown type `dely`; did you mean `delay`?",
        ),
    ]);
}

#[test]
fn parameters_that_a_fault_does_not_have_are_refused() {
    let target = TARGET;
    refused(&[
        (
            format!("{{\"faults\":[{{{target},\"type\":\"delay\"}}]}}"),
            1,
            "a delay has no `ms`",
        ),
        (
            format!(
                "{{\"faults\":[{{{target},\"type\":\"delay\",\n\"params\":{{\"ms\":\"5\"}}}}]}}"
            ),
            2,
            "`ms` is not a whole number from 0",
        ),
        (
            format!("{{\"faults\":[{{{target},\"type\":\"delay\",\"params\":{{\"ms\":-1}}}}]}}"),
            1,
            "`ms` is not a whole number from 0",
        ),
        (
            format!("{{\"faults\":[{{{target},\"type\":\"timeout\",\"params\":{{\"ms\":1}}}}]}}"),
            1,
            "unknown member `ms`; there are none here",
        ),
        (
            format!("{{\"faults\":[{{{target},\"type\":\"error\",\"params\":{{\"code\":1.5}}}}]}}"),
            1,
            "`code` is not a whole number",
        ),
    ]);
}

#[test]
fn targets_and_types_that_mean_nothing_here_are_refused() {
    let target = TARGET;
    refused(&[
        (
            format!("{{\"faults\":[{{{target},\"type\":\"malformed\",\"params\":{{}}}}]}}"),
            1,
            "a malformed has no `strategy`",
        ),
        (
            format!(
                "{{\"faults\":[{{{target},\"type\":\"malformed\",\"params\":{{\"strategy\":\"truncated\"}}}}]}}"
            ),
            1,
            "unknown strategy `truncated`; did you mean `truncate`?",
        ),
        (
            format!(
                "{{\"faults\":[{{{target},\"type\":\"disconnect\",\"params\":{{\"after_response\":1}}}}]}}"
            ),
            1,
            "`after_response` is neither true nor false",
        ),
        (
            format!(
                "{{\"faults\":[{{{target},\"type\":\"http_status\",\"params\":{{\"status\":503}}}}]}}"
            ),
            1,
            "the fault http_status is for HTTP",
        ),
        (
            "{\"faults\":[{\"target\":{\"method\":\"a\",\"nth\":0},\"type\":\"timeout\"}]}"
                .to_owned(),
            1,
            "`nth` is not a whole number from 1 on",
        ),
        (
            "{\"faults\":[{\"target\":{\"method\":\"a\",\"tool\":\"b\"},\"type\":\"timeout\"}]}"
                .to_owned(),
            1,
            "`tool` goes with the method tools/call only",
        ),
        (
            format!("{{\"faults\":[{{{target},\"type\":\"timeout\",\"type\":\"timeout\"}}]}}"),
            1,
            "the member `type` stands here twice",
        ),
    ]);
    let http = format!(
        "{{\"faults\":[{{{target},\"type\":\"cut_stream\",\"params\":{{\"after_events\":\"x\"}}}}]}}"
    );
    assert!(Overlay::parse("f", http.as_bytes(), Transport::Http).is_err());
    let http = http.replace("\"x\"", "2");
    assert!(Overlay::parse("f", http.as_bytes(), Transport::Http).is_ok());
}
