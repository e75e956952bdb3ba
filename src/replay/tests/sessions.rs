//! Sessions, eras, and what the server says on its own.

use super::{GREETING, INITIALIZE, INITIALIZED, Player, answer, call, notification, request};
use crate::replay::Options;
use crate::wire::lane::Lane;

fn value(line: &str) -> serde_json::Value {
    serde_json::from_str(line).expect("JSON")
}

#[test]
fn each_initialize_begins_the_next_recorded_session_and_the_last_one_again() {
    let list = request("1", "tools/list");
    let count = call("2", "count", "{}", "");
    let answers = [
        answer("1", "a"),
        answer("2", "b"),
        answer("1", "c"),
        answer("2", "d"),
    ];
    let mut player = Player::new(&[
        ('c', 0, INITIALIZE),
        ('s', 1, GREETING),
        ('c', 2, &list),
        ('s', 3, &answers[0]),
        ('c', 4, &count),
        ('s', 5, &answers[1]),
        ('c', 6, INITIALIZE),
        ('s', 7, GREETING),
        ('c', 8, &list),
        ('s', 9, &answers[2]),
        ('c', 10, &count),
        ('s', 11, &answers[3]),
    ]);
    for (tools, counted) in [("a", "b"), ("c", "d"), ("c", "d")] {
        assert_eq!(player.say(INITIALIZE), [GREETING]);
        assert_eq!(player.say(&list), [answer("1", tools)]);
        assert_eq!(player.say(&count), [answer("2", counted)]);
        assert!(player.say(&count)[0].contains("used up"));
    }
}

#[test]
fn what_a_server_says_after_a_message_is_said_after_that_message() {
    let note = |n: usize| notification("notifications/message", &format!("{{\"data\":{n}}}"));
    let early = note(99);
    let notes: Vec<String> = (0..15).map(note).collect();
    let roots = request("0", "roots/list");
    let (list, tools) = (request("1", "tools/list"), answer("1", "tools"));
    let late = notification("notifications/tools/list_changed", "{}");
    let mut messages = vec![
        ('s', 0, &*early),
        ('c', 0, INITIALIZE),
        ('s', 1, &*notes[0]),
    ];
    messages.extend([
        ('s', 1, GREETING),
        ('s', 1, &*notes[1]),
        ('c', 2, INITIALIZED),
    ]);
    messages.extend(notes[2..].iter().map(|note| ('s', 3, &**note)));
    messages.extend([
        ('s', 4, &*roots),
        ('c', 5, &*list),
        ('s', 6, &*tools),
        ('s', 9, &*late),
    ]);
    let mut player = Player::new(&messages);
    assert_eq!(
        player.say(INITIALIZE),
        [&*notes[0], GREETING, &*early, &*notes[1]]
    );
    let mut after = notes[2..].to_vec();
    after.push(roots);
    assert_eq!(player.say(INITIALIZED), after);
    // The request of the server was never answered, then or now, and holds nothing up.
    assert_eq!(player.say(&list), [tools, late]);
    assert_eq!(player.say(INITIALIZED), [""; 0]);
    assert_eq!(
        player.finish().pending_server_requests,
        ["roots/list (id 0)"]
    );
}

#[test]
fn progress_carries_the_live_token_and_comes_before_the_answer() {
    let progress = |n: usize, token: &str| {
        notification(
            "notifications/progress",
            &format!("{{\"progressToken\":{token},\"progress\":{n}}}"),
        )
    };
    let (asked, answered) = (call("1", "slow", "{}", "7"), answer("1", "done"));
    let steps = [progress(1, "7"), progress(2, "7"), progress(3, "7")];
    let messages = [
        ('c', 0, &*asked),
        ('s', 1, &*steps[0]),
        ('s', 2, &*steps[1]),
        ('s', 3, &*answered),
        ('s', 4, &*steps[2]),
    ];
    let mut player = Player::new(&messages);
    assert_eq!(
        player.say(&call("5", "slow", "{}", "\"t\"")),
        [progress(1, "\"t\""), progress(2, "\"t\"")]
    );
    assert_eq!(
        player.pass(1_000),
        [answer("5", "done"), progress(3, "\"t\"")]
    );
    assert_eq!(
        Player::new(&messages).say(&call("5", "slow", "{}", "")),
        [answer("5", "done")]
    );
}

/// A call during which the server asks the client, and another call beside it.
fn sampling(player_options: Options) -> Player {
    let (asked, beside) = (call("1", "ask", "{}", ""), call("2", "quick", "{}", ""));
    let before = notification("notifications/message", r#"{"data":"before"}"#);
    let after = notification("notifications/message", r#"{"data":"after"}"#);
    let sample = request("\"s-1\"", "sampling/createMessage");
    let sampled = answer("\"s-1\"", "sampled");
    let (done, quick) = (answer("1", "done"), answer("2", "quick"));
    Player::with(
        &[
            ('c', 0, &asked),
            ('s', 1, &before),
            ('s', 2, &sample),
            ('c', 500, &sampled),
            ('s', 510, &after),
            ('s', 520, &done),
            ('c', 600, &beside),
            ('s', 610, &quick),
        ],
        player_options,
    )
}

#[test]
fn what_follows_an_answer_of_the_client_waits_for_the_live_one_and_nothing_else_does() {
    let mut player = sampling(Options::default());
    let said = player.say(&call("\"x\"", "ask", "{}", ""));
    assert_eq!(said.len(), 2, "{said:?}");
    assert_eq!(said[1], request("\"s-1\"", "sampling/createMessage"));
    assert_eq!(
        player.say(&call("9", "quick", "{}", "")),
        [answer("9", "quick")]
    );
    assert_eq!(player.say(&answer("\"other\"", "?")), [""; 0]);
    let refusal = r#"{"jsonrpc":"2.0","id":"s-1","error":{"code":-1,"message":"no"}}"#;
    let said = player.say(refusal);
    assert_eq!(said.len(), 2, "{said:?}");
    assert_eq!(said[1], answer("\"x\"", "done"));
    assert_eq!(player.say(refusal), [""; 0]);
    assert_eq!(player.finish().pending_server_requests, [""; 0]);
}

#[test]
fn an_answer_whose_gate_never_opens_is_named_at_the_end() {
    let mut player = sampling(Options::default());
    player.say(&call("5", "ask", "{}", ""));
    assert_eq!(player.close(), [""; 0]);
    let summary = player.finish();
    let pending = "sampling/createMessage (id \"s-1\")";
    assert_eq!(summary.pending_server_requests, [pending]);
    assert_eq!(
        summary.dropped,
        [format!("tools/call (id 5) waits for {pending}")]
    );
    assert!(summary.misses.is_empty());
}

#[test]
fn answers_that_a_client_awaits_in_another_order_do_not_wait_for_each_other() {
    let (one, two) = (call("1", "a", "{}", ""), call("2", "b", "{}", ""));
    let ask = request("7", "elicitation/create");
    let asked = answer("7", "yes");
    let (first, second) = (answer("1", "a"), answer("2", "b"));
    let messages = [
        ('c', 0, &*one),
        ('c', 1, &*two),
        ('s', 2, &*ask),
        ('c', 3, &*asked),
        ('s', 4, &*second),
        ('s', 5, &*first),
    ];
    let mut player = Player::new(&messages);
    // This client waits for the first before it makes the second, during which it is asked.
    assert_eq!(player.say(&one), [&*first]);
    assert_eq!(player.say(&two), [&*ask]);
    assert_eq!(player.say(&asked), [&*second]);
    // One that makes both at once is asked before either is answered, as it was recorded.
    let mut player = Player::new(&messages);
    player.core.receive(player.now, Lane::Stdio, two.as_bytes());
    assert_eq!(player.say(&one), [&*ask]);
    assert_eq!(player.say(&asked), [second, first]);
}

#[test]
fn a_client_that_tries_the_other_era_is_answered_at_once() {
    let discover = request("1", "server/discover");
    let mut legacy = Player::new(&[('c', 0, INITIALIZE), ('s', 1, GREETING)]);
    assert_eq!(value(&legacy.say(&discover)[0])["error"]["code"], -32601);
    assert_eq!(legacy.say(INITIALIZE), [GREETING]);
    assert_eq!(
        legacy.say(&request("\"p\"", "ping")),
        [r#"{"jsonrpc":"2.0","id":"p","result":{}}"#]
    );
    assert!(legacy.finish().misses.is_empty());
    let modern = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;
    let tools = answer("1", "tools");
    let mut player = Player::new(&[('c', 0, modern), ('s', 1, &tools)]);
    let said = value(&player.say(INITIALIZE)[0]);
    assert_eq!(said["error"]["code"], -32022);
    assert_eq!(said["error"]["data"]["supported"][0], "2026-07-28");
    assert_eq!(said["error"]["data"]["requested"], "2025-11-25");
    assert_eq!(player.say(modern), [tools]);
    assert!(player.finish().misses.is_empty());
}

#[test]
fn a_modern_recording_without_a_discovery_says_what_it_shows() {
    let modern = |id: &str, method: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}}}}"#
        )
    };
    let refused = r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"no"}}"#;
    let changed = notification("notifications/resources/list_changed", "{}");
    let (tools, prompts) = (modern("1", "tools/list"), modern("2", "prompts/list"));
    let listed = answer("1", "tools");
    let (discover, left) = (
        modern("\"d\"", "server/discover"),
        modern("0", "server/discover"),
    );
    let recorded = [
        ('c', 0, &*tools),
        ('s', 1, &*listed),
        ('c', 2, &*prompts),
        ('s', 3, refused),
        ('s', 4, &*changed),
    ];
    let asked_and_left = [&[('c', 0, &*left)], &recorded[..]].concat();
    for recorded in [&recorded[..], &asked_and_left] {
        let mut player = Player::new(recorded);
        for _ in 0..2 {
            assert_eq!(
                player.say(&discover),
                [
                    r#"{"jsonrpc":"2.0","id":"d","result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"resources":{"listChanged":true}},"resultType":"complete","ttlMs":0,"cacheScope":"private"}}"#
                ]
            );
        }
        assert_eq!(player.say(&tools), [&*listed]);
        assert!(player.finish().misses.is_empty());
    }
    // One that was answered is given as it was, and as often as it was.
    let (first, found) = (modern("3", "server/discover"), answer("3", "found"));
    let mut player = Player::new(&[('c', 0, &first), ('s', 1, &found)]);
    assert_eq!(player.say(&discover), [answer("\"d\"", "found")]);
}

#[test]
fn a_subscription_is_held_open_and_named_by_the_live_id() {
    let listen = r#"{"jsonrpc":"2.0","id":3,"method":"subscriptions/listen","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;
    let changed = |id: &str| {
        notification(
            "notifications/tools/list_changed",
            &format!(r#"{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}}}"#),
        )
    };
    let noted = changed("3");
    let mut player = Player::new(&[('c', 0, listen), ('s', 1, &noted)]);
    let live = listen.replace("\"id\":3", "\"id\":\"sub\"");
    assert_eq!(player.say(&live), [changed("\"sub\"")]);
    assert!(player.finish().misses.is_empty());
}

#[test]
fn a_client_of_another_version_is_told_the_recorded_one_and_a_warning_is_given() {
    let messages = [('c', 0, INITIALIZE), ('s', 1, GREETING)];
    for (version, warned) in [
        ("2025-11-25", false),
        ("2024-11-05", true),
        ("banana", true),
    ] {
        let live = INITIALIZE.replace("2025-11-25", version);
        let mut player = Player::new(&messages);
        assert_eq!(player.say(&live), [GREETING]);
        let notices = player.notices();
        assert_eq!(notices.contains("protocol version"), warned, "{notices}");
    }
    let options = Options {
        rewrite_version: true,
        ..Options::default()
    };
    let mut player = Player::with(&messages, options);
    let live = INITIALIZE.replace("2025-11-25", "2025-06-18");
    assert_eq!(
        player.say(&live),
        [GREETING.replace("2025-11-25", "2025-06-18")]
    );
    assert_eq!(player.notices(), "");
    let live = INITIALIZE.replace("\"capabilities\":{}", "\"capabilities\":{\"roots\":{}}");
    let mut player = Player::new(&messages);
    player.say(&live);
    assert!(player.notices().contains("capabilities"));
}

#[test]
fn batches_are_answered_as_one_array_in_the_revision_that_has_them() {
    let initialize = INITIALIZE.replace("2025-11-25", "2025-03-26");
    let greeting = GREETING.replace("2025-11-25", "2025-03-26");
    let (one, two) = (request("1", "tools/list"), request("2", "prompts/list"));
    let (tools, prompts) = (answer("1", "tools"), answer("2", "prompts"));
    let mut player = Player::new(&[
        ('c', 0, &initialize),
        ('s', 1, &greeting),
        ('c', 2, &one),
        ('c', 2, &two),
        ('s', 3, &prompts),
        ('s', 3, &tools),
    ]);
    player.say(&initialize);
    let batch = format!("[{one}, {INITIALIZED} ,{two},1,{}]", request("3", "ping"));
    let said = player.say(&batch);
    assert_eq!(said.len(), 1, "{said:?}");
    let items = value(&said[0]);
    let ids: Vec<_> = items
        .as_array()
        .expect("an array")
        .iter()
        .map(|item| &item["id"])
        .collect();
    // In the order in which they were ready.
    assert_eq!(ids.len(), 4, "{ids:?}");
    for id in [
        serde_json::json!(1),
        2.into(),
        3.into(),
        serde_json::Value::Null,
    ] {
        assert!(ids.contains(&&id), "{ids:?}");
    }
    assert_eq!(player.say(&format!("[{INITIALIZED}]")), [""; 0]);
    assert_eq!(value(&player.say("[]")[0])["error"]["code"], -32600);
    assert_eq!(value(&player.say("[1]")[0])[0]["error"]["code"], -32600);
}

#[test]
fn a_banner_is_not_replayed_and_belongs_to_no_request() {
    let (list, tools) = (request("1", "tools/list"), answer("1", "tools"));
    let mut player = Player::new(&[
        ('s', 0, "\"Example MCP Server v1.2\""),
        ('s', 0, r#"{"name":"otel","level":30,"preamble":true}"#),
        ('c', 1, &list),
        ('s', 2, "\"\u{2705} ready\""),
        ('s', 3, &tools),
    ]);
    assert_eq!(player.say(&list), [tools]);
}

#[test]
fn what_follows_a_notification_of_the_client_follows_the_live_one() {
    let told = notification("notifications/roots/list_changed", "{}");
    let (first, second) = (request("1", "roots/list"), request("2", "roots/list"));
    let answers = [answer("1", "a"), answer("2", "b")];
    let logged = notification("notifications/message", r#"{"data":"2 roots"}"#);
    let mut player = Player::new(&[
        ('c', 0, INITIALIZE),
        ('s', 1, GREETING),
        ('c', 2, &told),
        ('s', 3, &first),
        ('c', 4, &answers[0]),
        ('c', 5, &told),
        ('s', 6, &second),
        ('c', 7, &answers[1]),
        ('s', 8, &logged),
    ]);
    player.say(INITIALIZE);
    assert_eq!(player.say(&told), [first]);
    assert_eq!(player.say(&answers[0]), [""; 0]);
    assert_eq!(player.say(&told), [second]);
    assert_eq!(player.say(&answers[1]), [logged]);
}

#[test]
fn an_answer_that_is_not_quite_json_is_given_as_it_was() {
    let (one, two) = (
        call("1", "mean", "{}", ""),
        call("\"1\"", "bytes", "{}", ""),
    );
    let nan = r#""{\"jsonrpc\": \"2.0\", \"id\": 1, \"result\": {\"NaN\": [NaN, -Infinity]}}""#;
    let bytes = r#""{\"id\":\"1\",\"result\":\"\udc81\"}""#;
    let messages = [
        ('c', 0, &*one),
        ('c', 0, &*two),
        ('s', 1, bytes),
        ('s', 2, nan),
    ];
    let mut player = Player::new(&messages);
    assert_eq!(
        player.say(&call("\"x\"", "mean", "{}", "")),
        [r#"{"jsonrpc": "2.0", "id": "x", "result": {"NaN": [NaN, -Infinity]}}"#]
    );
    player.core.receive(player.now, Lane::Stdio, two.as_bytes());
    let said = player.core.poll(player.now);
    let bytes = b"{\"id\":\"1\",\"result\":\"\x81\"}".to_vec();
    let lane = Lane::Stdio;
    assert_eq!(said, crate::replay::Action::Send { lane, bytes });
}
