//! What goes to the real server, what comes back, and what of both belongs to the recording.

use super::{
    GREETING, INITIALIZE, INITIALIZED, Player, Recorded, answer, call, notification, request,
};
use crate::replay::Options;

fn extended(messages: &[Recorded<'_>]) -> Player {
    let options = Options {
        new_episodes: true,
        ..Options::default()
    };
    Player::with(messages, options)
}

/// A session that begins as the recorded one does, in which `echo` was called once.
fn begun() -> Player {
    let (asked, answered) = (call("1", "echo", "{}", ""), answer("1", "recorded"));
    let mut player = extended(&[
        ('c', 0, INITIALIZE),
        ('s', 1, GREETING),
        ('c', 2, INITIALIZED),
        ('c', 3, &asked),
        ('s', 4, &answered),
    ]);
    assert_eq!(player.say(INITIALIZE), [GREETING]);
    assert_eq!(player.say(INITIALIZED), [""; 0]);
    player
}

fn sent(line: &str) -> String {
    format!("sent {line}")
}

fn kept(line: &str) -> String {
    format!("kept {line}")
}

/// The same with a real server that is ready, after a call of `new` with the id 2.
fn running() -> Player {
    let mut player = begun();
    assert_eq!(player.say(&call("2", "new", "{}", "")), [sent(INITIALIZE)]);
    let (kept_it, said) = player.relay(GREETING);
    assert!(!kept_it);
    assert_eq!(said, [sent(INITIALIZED), kept(&call("2", "new", "{}", ""))]);
    player
}

#[test]
fn a_hit_is_served_and_a_miss_goes_to_a_server_that_is_greeted_first() {
    let mut player = begun();
    assert_eq!(
        player.say(&call("1", "echo", "{}", "")),
        [answer("1", "recorded")]
    );
    // Used up, so that this one is not in the recording; the next one waits with it.
    assert_eq!(player.say(&call("2", "echo", "{}", "")), [sent(INITIALIZE)]);
    assert_eq!(player.say(&call("3", "new", "{}", "")), [""; 0]);
    let told = notification("notifications/roots/list_changed", "{}");
    assert_eq!(player.say(&told), [""; 0]);
    assert_eq!(player.core.held_back(), 3);
    let banner = player.relay("ready to serve");
    assert_eq!(banner, (false, Vec::new()));
    let (kept_it, said) = player.relay(GREETING);
    assert!(!kept_it);
    assert_eq!(
        said,
        [
            sent(INITIALIZED),
            kept(&call("2", "echo", "{}", "")),
            kept(&call("3", "new", "{}", "")),
            kept(&told),
        ]
    );
    // Answers come in the order of the server.
    for id in ["3", "2"] {
        let live = answer(id, "live");
        assert_eq!(player.relay(&live), (true, vec![live]));
    }
    // A call that was made and kept is asked again: the recording is what it was at the start.
    assert_eq!(
        player.say(&call("4", "new", "{}", "")),
        [kept(&call("4", "new", "{}", ""))]
    );
    player.relay(&answer("4", "live"));
    assert_eq!(player.say(&told), [kept(&told)]);
    let summary = player.finish();
    assert!(summary.misses.is_empty() && summary.pending_server_requests.is_empty());
    assert_eq!(player.notices(), "");
}

#[test]
fn requests_of_either_server_with_one_id_get_their_own_answers() {
    let (asked, answered) = (call("1", "ask", "{}", ""), answer("1", "done"));
    let question = request("0", "roots/list");
    let reply = r#"{"jsonrpc":"2.0","id":0,"result":{}}"#;
    let mut player = extended(&[
        ('c', 0, &asked),
        ('s', 1, &question),
        ('c', 2, reply),
        ('s', 3, &answered),
    ]);
    assert_eq!(player.say(&asked), [&*question]);
    let other = call("2", "new", "{}", "");
    assert_eq!(player.say(&other), [kept(&other)]);
    let ours = request("\"mcp-cassette-2\"", "roots/list");
    assert_eq!(player.relay(&question), (true, vec![ours]));
    let to_live = r#"{"jsonrpc":"2.0","id":"mcp-cassette-2","result":{"roots":[]}}"#;
    let as_it_is = r#"{"jsonrpc":"2.0","id":0,"result":{"roots":[]}}"#;
    assert_eq!(player.say(to_live), [kept(as_it_is)]);
    assert_eq!(player.say(to_live), [""; 0], "it was answered");
    assert_eq!(player.say(reply), [answered]);
    // One that is taken back, and one that stays.
    player.relay(&question);
    player.relay(&request("\"q\"", "ping"));
    let cancel = |id: &str| {
        notification(
            "notifications/cancelled",
            &format!(r#"{{"requestId":{id}}}"#),
        )
    };
    let (_, said) = player.relay(&cancel("0"));
    assert_eq!(said, [cancel("\"mcp-cassette-3\"")]);
    player.core.server_is_gone("gone");
    let pending = player.finish().pending_server_requests;
    assert_eq!(pending, ["ping (id \"q\")"]);
}

#[test]
fn a_request_that_is_taken_back_is_so_with_whoever_has_it() {
    let mut player = running();
    let cancel = |id: &str| {
        notification(
            "notifications/cancelled",
            &format!(r#"{{"requestId":{id}}}"#),
        )
    };
    assert_eq!(player.say(&cancel("2")), [kept(&cancel("2"))]);
    assert_eq!(player.say(&cancel("1")), [""; 0], "that was recorded");
    player.core.server_is_gone("gone");
    assert!(player.finish().misses.is_empty());
}

#[test]
fn what_a_server_that_is_gone_owes_is_unmatched_and_the_recording_is_served_on() {
    let mut player = running();
    player.core.server_is_gone("the real server ended");
    let said = player.heard();
    assert!(
        said.len() == 1 && said[0].contains("-32001") && said[0].contains("server ended"),
        "{said:?}"
    );
    assert_eq!(
        player.say(&call("3", "echo", "{}", "")),
        [answer("3", "recorded")]
    );
    let said = player.say(&call("4", "new", "{}", ""));
    assert!(said[0].contains("-32001"), "{said:?}");
    player.core.server_is_gone("the real server ended");
    assert_eq!(player.finish().misses.len(), 2);
}

#[test]
fn what_needs_no_recording_needs_no_server_either() {
    let mut player = begun();
    for line in [
        request("5", "ping"),
        request("6", "server/discover"),
        "not json".to_owned(),
    ] {
        let said = player.say(&line);
        assert!(said.len() == 1 && said[0].starts_with('{'), "{said:?}");
    }
    let told = notification("notifications/roots/list_changed", "{}");
    assert_eq!(player.say(&told), [""; 0]);
}

#[test]
fn a_recording_without_a_greeting_gets_that_of_the_server() {
    let mut player = extended(&[]);
    assert_eq!(player.say(INITIALIZE), [kept(INITIALIZE)]);
    assert_eq!(player.relay(GREETING), (true, vec![GREETING.to_owned()]));
    assert_eq!(player.say(INITIALIZED), [kept(INITIALIZED)]);
    let banner = player.relay("listening");
    assert_eq!(banner, (true, vec!["listening".to_owned()]));
}

#[test]
fn a_server_that_greets_otherwise_is_told_of() {
    let mut player = begun();
    player.say(&call("2", "new", "{}", ""));
    player.relay(&GREETING.replace("2025-11-25", "2025-06-18"));
    assert!(player.notices().contains("version 2025-06-18"));
    let mut player = begun();
    player.say(&call("2", "new", "{}", ""));
    let (_, said) = player.relay(r#"{"jsonrpc":"2.0","id":0,"error":{"code":-1,"message":"no"}}"#);
    assert_eq!(said.len(), 2, "the call is tried all the same: {said:?}");
    assert!(player.notices().contains("refuses"));
}
