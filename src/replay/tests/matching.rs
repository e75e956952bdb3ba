//! Which recorded answer a request gets, and what a miss says.

use super::{Player, answer, call, request};
use crate::matching::{OnExhausted, Ordering};
use crate::redact::{Redactor, Rules};
use crate::replay::Options;

fn error_of(line: &str) -> (i64, String) {
    let value: serde_json::Value = serde_json::from_str(line).expect("JSON");
    let error = &value["error"];
    let code = error["code"].as_i64().expect("an error");
    (
        code,
        error["message"].as_str().unwrap_or_default().to_owned(),
    )
}

/// `count` twice with two answers, `set` between them, and a listing.
fn counting(options: Options) -> Player {
    let (one, two) = (call("1", "count", "{}", ""), call("3", "count", "{}", ""));
    let set = call("2", "set", r#"{"to":5}"#, "");
    let (first, second) = (answer("1", "one"), answer("3", "two"));
    let (done, tools) = (answer("2", "set"), answer("4", "tools"));
    let list = request("4", "tools/list");
    let changed = super::notification("notifications/tools/list_changed", "{}");
    Player::with(
        &[
            ('c', 0, &one),
            ('s', 1, &first),
            ('c', 2, &set),
            ('s', 3, &done),
            ('c', 4, &two),
            ('s', 5, &second),
            ('c', 6, &list),
            ('s', 7, &changed),
            ('s', 8, &tools),
        ],
        options,
    )
}

#[test]
fn the_same_call_gets_its_answers_in_the_recorded_order() {
    let mut player = counting(Options::default());
    for (id, text) in [("7", "one"), ("8", "two")] {
        assert_eq!(player.say(&call(id, "count", "{}", "")), [answer(id, text)]);
    }
    let summary = player.finish();
    assert_eq!(summary.unused_interactions, 2);
    assert!(summary.misses.is_empty());
}

#[test]
fn a_call_that_is_used_up_is_a_miss_and_a_listing_is_given_again_without_what_came_with_it() {
    let mut player = counting(Options::default());
    for _ in 0..2 {
        player.say(&call("7", "count", "{}", ""));
    }
    let [third] = player
        .say(&call("9", "count", "{}", ""))
        .try_into()
        .expect("one line");
    let (code, message) = error_of(&third);
    assert_eq!(code, -32001);
    assert!(message.contains("recorded 2 times, all used"), "{message}");
    assert!(
        message.starts_with("mcp-cassette: no recorded interaction matches tools/call (params=")
    );
    assert_eq!(player.say(&request("10", "tools/list")).len(), 2);
    assert_eq!(
        player.say(&request("11", "tools/list")),
        [answer("11", "tools")]
    );
    let misses = player.finish().misses;
    assert_eq!(
        misses,
        [r#"tools/call params={"name":"count","arguments":{}}"#]
    );
}

#[test]
fn what_is_used_up_can_be_repeated_or_refused_altogether() {
    let repeat = Options {
        on_exhausted: OnExhausted::Repeat,
        ..Options::default()
    };
    let mut player = counting(repeat);
    for (id, text) in [("7", "one"), ("8", "two"), ("9", "two")] {
        assert_eq!(player.say(&call(id, "count", "{}", "")), [answer(id, text)]);
    }
    let refuse = Options {
        on_exhausted: OnExhausted::Error,
        ..Options::default()
    };
    let mut player = counting(refuse);
    player.say(&request("10", "tools/list"));
    let said = player.say(&request("11", "tools/list"));
    assert!(
        error_of(&said[0]).1.contains("recorded once, and used up"),
        "{said:?}"
    );
}

#[test]
fn the_strict_order_knows_one_next_request_and_no_order_knows_no_end() {
    let strict = || Options {
        ordering: Ordering::Strict,
        ..Options::default()
    };
    let mut player = counting(strict());
    let said = player.say(&call("1", "set", r#"{"to":5}"#, ""));
    let (_, message) = error_of(&said[0]);
    assert!(
        message.contains("tools/call is next in the recording"),
        "{message}"
    );
    assert_eq!(
        player.say(&call("2", "count", "{}", "")),
        [answer("2", "one")]
    );
    assert_eq!(
        player.say(&call("3", "set", r#"{"to":5.0}"#, "")),
        [answer("3", "set")]
    );
    let mut player = counting(Options {
        ordering: Ordering::None,
        ..Options::default()
    });
    for text in ["one", "two", "two", "two"] {
        assert_eq!(
            player.say(&call("2", "count", "{}", "")),
            [answer("2", text)]
        );
    }
}

#[test]
fn ids_keep_their_type_and_answers_their_tokens() {
    let payload = r#"{ "result" : {"z": 1.0, "a": [1e400, -0, 18446744073709551616], "z": "\ud83d"},
        "id" : 7, "jsonrpc": "2.0" }"#;
    let asked = call("7", "odd", "{}", "");
    let mut player = Player::new(&[('c', 0, &asked), ('s', 1, payload)]);
    assert_eq!(
        player.say(&call("\"x-1\"", "odd", "{}", "")),
        [
            r#"{"result":{"z":1.0,"a":[1e400,-0,18446744073709551616],"z":"\ud83d"},"id":"x-1","jsonrpc":"2.0"}"#
        ]
    );
}

#[test]
fn the_number_1_and_the_text_1_are_two_ids() {
    let (one, other) = (
        call("1", "t", r#"{"a":1}"#, ""),
        call("\"1\"", "t", r#"{"a":2}"#, ""),
    );
    let (first, second) = (answer("\"1\"", "second"), answer("1", "first"));
    let mut player = Player::new(&[
        ('c', 0, &one),
        ('c', 0, &other),
        ('s', 1, &first),
        ('s', 1, &second),
    ]);
    assert_eq!(player.say(&one), [answer("1", "first")]);
    assert_eq!(player.say(&other), [answer("\"1\"", "second")]);
}

#[test]
fn volatile_parts_do_not_count_and_members_of_meta_do_if_they_are_named() {
    let recorded = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","requestState":"a","task":{"ttl":1},"_meta":{"progressToken":1,"traceparent":"00-a","vendor/x":1}}}"#;
    let answered = answer("1", "yes");
    let messages = [('c', 0, recorded), ('s', 1, &*answered)];
    for live in [
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":"p9"},"task":{"ttl":9},"arguments":{},"name":"t"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","task":{}}}"#,
    ] {
        assert_eq!(
            Player::new(&messages).say(live),
            [answer("1", "yes")],
            "{live}"
        );
        let options = Options {
            meta: vec!["vendor/x".to_owned()],
            ..Options::default()
        };
        let said = Player::with(&messages, options).say(live);
        assert_eq!(error_of(&said[0]).0, -32001, "{said:?}");
    }
    let options = Options {
        meta: vec!["vendor/x".to_owned()],
        ..Options::default()
    };
    let live = recorded
        .replace("00-a", "00-b")
        .replace("vendor/x\":1", "vendor/x\":1.0");
    assert_eq!(
        Player::with(&messages, options).say(&live),
        [answer("1", "yes")]
    );
}

#[test]
fn a_miss_names_the_nearest_call_and_a_pointer_that_ignore_param_takes() {
    let (search, find) = (
        call("1", "search", r#"{"q":"a","n":[1,2]}"#, ""),
        call("2", "find", r#"{"q":"b"}"#, ""),
    );
    let (one, two) = (answer("1", "found"), answer("2", "found"));
    let messages = [
        ('c', 0, &*search),
        ('s', 1, &*one),
        ('c', 2, &*find),
        ('s', 3, &*two),
    ];
    let live = call("5", "search", r#"{"q":"b","n":[1,3]}"#, "");
    let said = Player::new(&messages).say(&live);
    let (_, message) = error_of(&said[0]);
    let nearest = r#"nearest recorded: /params/arguments/q: recorded "a", got "b"; /params/arguments/n/1: recorded 2, got 3"#;
    assert!(message.contains(nearest), "{message}");
    let options = Options {
        ignored: vec![
            "/params/arguments/q".to_owned(),
            "/arguments/n/1".to_owned(),
        ],
        ..Options::default()
    };
    assert_eq!(
        Player::with(&messages, options).say(&live),
        [answer("5", "found")]
    );
    let said = Player::new(&messages).say(&call("5", "seek", "{}", ""));
    let (_, message) = error_of(&said[0]);
    assert!(
        message.contains("recorded with the names search, find"),
        "{message}"
    );
    let said = Player::new(&messages).say(&request("5", "vendor/none"));
    assert!(
        error_of(&said[0])
            .1
            .contains("the method was never recorded")
    );
}

#[test]
fn a_miss_tells_no_secret() {
    let key = format!("ghp_{}", "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5");
    let recorded = call("1", "t", r#"{"password":"kettle-blue-eleven","k":1}"#, "");
    let live = call(
        "1",
        "t",
        &format!(r#"{{"password":"teapot-red-twelve","k":"{key}"}}"#),
        "",
    );
    let answered = answer("1", "x");
    let mut player = Player::new(&[('c', 0, &recorded), ('s', 1, &answered)]);
    let mut told = player.say(&live).join("\n");
    let summary = player.finish();
    told.push_str(&summary.explained.join("\n"));
    told.push_str(&summary.misses.join("\n"));
    for secret in [&*key, "kettle-blue-eleven", "teapot-red-twelve"] {
        assert!(!told.contains(&secret[..10]), "{told}");
    }
}

#[test]
fn a_request_without_a_recorded_answer_is_a_miss_unless_the_client_took_it_back() {
    let (one, two) = (call("1", "slow", "{}", ""), call("2", "slower", "{}", ""));
    let cancelled = super::notification("notifications/cancelled", r#"{"requestId":2}"#);
    let mut player = Player::new(&[('c', 0, &one), ('c', 1, &two), ('c', 2, &cancelled)]);
    let said = player.say(&one);
    assert!(
        error_of(&said[0])
            .1
            .contains("the recording has no answer to it")
    );
    assert_eq!(player.say(&two), [""; 0]);
    assert_eq!(player.finish().misses.len(), 1);
}

#[test]
fn a_redacted_call_is_found_by_what_redaction_makes_of_the_live_one() {
    let recorded = |id: &str| call(id, "login", r#"{"token":"REDACTED","q":"a"}"#, "");
    let (one, two) = (recorded("1"), recorded("2"));
    let (first, second) = (answer("1", "first"), answer("2", "second"));
    let messages = [
        ('C', 0, &*one),
        ('s', 1, &*first),
        ('C', 2, &*two),
        ('s', 3, &*second),
    ];
    let options = || Options {
        redactor: Some(Redactor::new(&Rules::default()).expect("rules")),
        ..Options::default()
    };
    let mut player = Player::with(&messages, options());
    let live = |id: &str, token: &str| {
        call(
            id,
            "login",
            &format!(r#"{{"token":"{token}","q":"a"}}"#),
            "",
        )
    };
    assert_eq!(
        player.say(&live("7", "tiger-lily-42")),
        [answer("7", "first")]
    );
    let notice = player.notices();
    assert!(
        notice.contains("2 recorded calls of tools/call are equal after redaction"),
        "{notice}"
    );
    // What an earlier answer held in place of the token is found as it is.
    assert_eq!(player.say(&live("8", "REDACTED")), [answer("8", "second")]);
    let said = player.say(&call(
        "9",
        "login",
        r#"{"token":"tiger-lily-42","q":"b"}"#,
        "",
    ));
    assert_eq!(error_of(&said[0]).0, -32001);
    // A call that redaction left alone is not found by the redacted form of another one.
    let plain = [('c', 0, &*one), ('s', 1, &*first)];
    let said = Player::with(&plain, options()).say(&live("7", "tiger-lily-42"));
    assert_eq!(error_of(&said[0]).0, -32001);
}

#[test]
fn what_is_no_message_is_refused_and_never_met_with_silence() {
    let asked = request("1", "tools/list");
    let answered = answer("1", "x");
    let mut player = Player::new(&[('c', 0, &asked), ('s', 1, &answered)]);
    for (line, code) in [
        ("not json", -32700),
        ("{\"jsonrpc\":\"2.0\"}", -32600),
        ("{\"id\":1,\"method\":7}", -32600),
        ("\"text\"", -32600),
        ("[]", -32600),
        ("[1]", -32600),
    ] {
        let said = player.say(line);
        assert_eq!(error_of(&said[0]).0, code, "{line}");
    }
    assert_eq!(player.say("  "), [""; 0]);
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let said = player.say(&call("3", "deep", &deep, ""));
    assert_eq!(error_of(&said[0]).0, -32001);
    assert_eq!(player.say(&request("2", "tools/list")), [answer("2", "x")]);
}
