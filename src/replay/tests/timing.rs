//! Gaps, cancellation and the end of the input.

use super::{Player, answer, call, notification, paced};

fn progress(n: usize) -> String {
    notification(
        "notifications/progress",
        &format!("{{\"progressToken\":1,\"progress\":{n}}}"),
    )
}

/// Progress after 100 ms, the answer 300 ms later, a notification much later.
fn slow(scale: f64, cap_ms: u64) -> Player {
    let (asked, step, done) = (
        call("1", "slow", "{}", "1"),
        progress(1),
        answer("1", "done"),
    );
    let late = notification("notifications/message", r#"{"data":"late"}"#);
    let (other, quick) = (call("2", "quick", "{}", ""), answer("2", "quick"));
    Player::with(
        &[
            ('c', 1_000, &asked),
            ('s', 1_100, &step),
            ('s', 1_400, &done),
            ('s', 61_400, &late),
            ('c', 70_000, &other),
            ('s', 69_000, &quick),
        ],
        paced(scale, cap_ms),
    )
}

#[test]
fn recorded_gaps_are_kept_scaled_and_capped() {
    let asked = call("1", "slow", "{}", "1");
    for (scale, cap, first, second, third) in [
        (1.0, 5_000, 100, 300, 5_000),
        (0.5, 5_000, 50, 150, 5_000),
        (2.0, 0, 200, 600, 120_000),
        (1.0, 250, 100, 250, 250),
    ] {
        let mut player = slow(scale, cap);
        player.pass(7_777);
        assert_eq!(player.say(&asked), [""; 0]);
        for (gap, expected) in [(first, progress(1)), (second, answer("1", "done"))] {
            assert_eq!(player.pass(gap - 1), [""; 0], "{scale} {cap}");
            assert_eq!(player.pass(1), [expected], "{scale} {cap}");
        }
        assert_eq!(player.pass(third - 1), [""; 0]);
        assert_eq!(player.pass(1).len(), 1);
    }
}

#[test]
fn a_clock_that_went_backwards_makes_no_gap() {
    let mut player = slow(1.0, 5_000);
    assert_eq!(
        player.say(&call("2", "quick", "{}", "")),
        [answer("2", "quick")]
    );
}

#[test]
fn gaps_of_calls_side_by_side_do_not_add_up() {
    let calls: Vec<String> = (0..3)
        .map(|n| call(&n.to_string(), &format!("t{n}"), "{}", ""))
        .collect();
    let answers: Vec<String> = (0..3).map(|n| answer(&n.to_string(), "x")).collect();
    let mut messages = Vec::new();
    for (call, answer) in calls.iter().zip(&answers) {
        messages.push((
            'c',
            i64::try_from(messages.len()).expect("few") * 1_000,
            &**call,
        ));
        messages.push((
            's',
            i64::try_from(messages.len()).expect("few") * 1_000,
            &**answer,
        ));
    }
    let mut player = Player::with(&messages, paced(1.0, 0));
    for call in &calls {
        assert_eq!(player.say(call), [""; 0]);
    }
    assert_eq!(player.pass(999), [""; 0]);
    assert_eq!(player.pass(1), answers);
}

#[test]
fn a_request_that_the_client_takes_back_gets_no_answer_if_that_is_not_out_yet() {
    let mut player = slow(1.0, 5_000);
    player.say(&call("\"a\"", "slow", "{}", "1"));
    assert_eq!(player.pass(150), [progress(1)]);
    let cancel = notification("notifications/cancelled", r#"{"requestId":"a"}"#);
    assert_eq!(player.say(&cancel), [""; 0]);
    assert_eq!(player.say(&cancel), [""; 0]);
    let late = notification("notifications/message", r#"{"data":"late"}"#);
    assert_eq!(player.pass(100_000), [late]);
}

#[test]
fn at_the_end_of_input_answers_are_still_given_in_time_and_nothing_else() {
    let mut player = slow(1.0, 5_000);
    player.say(&call("1", "slow", "{}", "1"));
    assert_eq!(player.close(), [""; 0]);
    assert_eq!(player.pass(100_000), [progress(1), answer("1", "done")]);
    assert_eq!(player.waits, None);
}

#[test]
fn an_answer_comes_apart_from_the_progress_before_it_and_nothing_else_waits() {
    let asked = |token| call("7", "slow", "{}", token);
    let mut player = slow(1.0, 1);
    player.core.pace = None;
    let late = notification("notifications/message", r#"{"data":"late"}"#);
    assert_eq!(player.say(&asked("1")), [progress(1)]);
    assert_eq!(
        player.say(&call("8", "quick", "{}", "")),
        [answer("8", "quick")]
    );
    assert_eq!(player.pass(19), [""; 0]);
    assert_eq!(player.pass(1), [answer("7", "done"), late.clone()]);
    // Without a token there is no progress, and nothing to keep apart.
    let mut player = slow(1.0, 1);
    player.core.pace = None;
    assert_eq!(player.say(&asked("")), [answer("7", "done"), late]);
    assert_eq!(player.waits, None);
    // A gap of the recording that is longer is enough.
    let mut player = slow(1.0, 300);
    player.say(&asked("1"));
    player.pass(100);
    assert_eq!(player.waits, Some(std::time::Duration::from_millis(400)));
    // The end of the input does not take the answer away.
    let mut player = slow(1.0, 1);
    player.core.pace = None;
    player.say(&asked("1"));
    assert_eq!(player.close(), [""; 0]);
    assert_eq!(player.pass(20)[0], answer("7", "done"));
}
