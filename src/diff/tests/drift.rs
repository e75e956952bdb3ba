//! What R002 and R015 stand on.

use super::super::drift::{drifted, moved, movements};
use super::super::surface::{Listing, Recorded};
use super::{Session, tool, tool_with};
use crate::cassette::Cassette;
use crate::wire::node::NodeError;

/// The drifted tools as `name < older name: kinds`.
fn drifts(baseline: &Session, current: &Session) -> Vec<String> {
    let (baseline, current) = (baseline.cassette(), current.cassette());
    let (old, new) = (Recorded::of(&baseline), Recorded::of(&current));
    let found = drifted(&old, &new);
    assert!(found.unreadable.is_empty());
    found.drifts.iter().map(line).collect()
}

fn line(drift: &super::super::drift::Drift<'_>) -> String {
    let kinds: Vec<&str> = drift.changes.iter().map(|c| c.kind.as_str()).collect();
    let (name, before) = (drift.occurrence.shown(), drift.before.shown());
    format!("{name} < {before}: {} x{}", kinds.join(" "), drift.times)
}

fn moves(session: &Session) -> Vec<String> {
    let cassette = session.cassette();
    let recorded = Recorded::of(&cassette);
    let found = moved(&recorded);
    assert!(found.unreadable.is_empty());
    found.drifts.iter().map(line).collect()
}

#[test]
fn a_changed_definition_drifts_wherever_it_stands() {
    let baseline = Session::new().tools(&[&tool("a", "one"), &tool("b", "b")]);
    let current = Session::new()
        .tools(&[&tool("a", "evil"), &tool("b", "b")])
        .tools(&[&tool("a", "one"), &tool("b", "b")])
        .page("null", &[&tool("b", "worse")], r#""never""#)
        .tools(&[&tool("a", "evil"), &tool("b", "b")]);
    assert_eq!(
        drifts(&baseline, &current),
        ["a < a: description x2", "b < b: description x1"]
    );
}

#[test]
fn any_baseline_occurrence_of_the_name_will_do() {
    let baseline = Session::new()
        .tools(&[&tool("a", "one")])
        .tools(&[&tool("a", "two")]);
    for text in ["one", "two"] {
        let current = Session::new().tools(&[&tool("a", text)]);
        assert_eq!(drifts(&baseline, &current), [""; 0]);
    }
    let current = Session::new().tools(&[&tool("a", "three")]);
    assert_eq!(drifts(&baseline, &current), ["a < a: description x1"]);
}

#[test]
fn new_tools_have_nothing_to_drift_from() {
    let baseline = Session::new().tools(&[&tool("a", "one")]);
    let current = Session::new().tools(&[
        &tool("a", "one"),
        &tool_with("b", r#""inputSchema": {"type": "null"}"#),
    ]);
    assert_eq!(drifts(&baseline, &current), [""; 0]);
}

#[test]
fn a_renamed_tool_is_compared_with_what_it_was() {
    let baseline = Session::new().tools(&[&tool("search", "one"), &tool("b", "b")]);
    let renamed = |text: &str| Session::new().tools(&[&tool("find", text), &tool("b", "b")]);
    assert_eq!(drifts(&baseline, &renamed("one")), [""; 0]);
    assert_eq!(
        drifts(&baseline, &renamed("evil")),
        ["find < search: description x1"]
    );
}

#[test]
fn other_spellings_and_uncounted_members_do_not_drift() {
    let baseline = Session::new().tools(&[&tool_with(
        "a",
        r#""inputSchema": {"required": ["x", "y"]}"#,
    )]);
    let current = Session::new().tools(&[&tool_with(
        "a",
        r#""_meta": {}, "inputSchema": {"required": ["\u0079", "x"]}"#,
    )]);
    assert_eq!(drifts(&baseline, &current), [""; 0]);
}

#[test]
fn the_span_of_a_drift_is_the_member_that_differs() {
    let baseline = Session::new().tools(&[&tool("a", "one")]).cassette();
    let session = Session::new().tools(&[&tool("a", "two")]);
    let current = session.cassette();
    let (old, new) = (Recorded::of(&baseline), Recorded::of(&current));
    let found = drifted(&old, &new);
    let change = &found.drifts[0].changes[0];
    assert_eq!(change.new.expect("a span").of(&session.text()), r#""two""#);
    assert_eq!(change.old.expect("a span").of(&baseline.text), r#""one""#);
}

#[test]
fn a_definition_that_changes_in_a_session_and_back_is_two_moves() {
    let one = Session::new().tools(&[&tool("a", "one")]);
    assert_eq!(moves(&one.clone().tools(&[&tool("a", "one")])), [""; 0]);
    let there = one.clone().tools(&[&tool("a", "two")]);
    assert_eq!(moves(&there), ["a < a: description x1"]);
    let back = there.tools(&[&tool("a", "one")]);
    assert_eq!(
        moves(&back),
        ["a < a: description x1", "a < a: description x1"]
    );
    // Once more, and once more: told already.
    let again = back.tools(&[&tool("a", "two")]).tools(&[&tool("a", "one")]);
    assert_eq!(moves(&again).len(), 2);
}

#[test]
fn a_tool_that_was_away_is_compared_with_when_it_was_there() {
    let session = Session::new()
        .tools(&[&tool("a", "one")])
        .tools(&[])
        .tools(&[&tool("a", "two")]);
    assert_eq!(moves(&session), ["a < a: description x1"]);
}

#[test]
fn two_definitions_of_a_name_in_one_answer_are_no_move() {
    let both = [tool("a", "one"), tool("a", "two")];
    let both = both.each_ref().map(String::as_str);
    assert_eq!(moves(&Session::new().tools(&both).tools(&both)), [""; 0]);
}

#[test]
fn a_page_that_changes_when_it_is_asked_for_again_is_a_move() {
    let session = Session::new()
        .page("null", &[&tool("a", "one")], r#""x""#)
        .page(r#""x""#, &[&tool("a", "two")], r#""x""#);
    assert_eq!(moves(&session), ["a < a: description x1"]);
}

#[test]
fn tools_that_come_and_go_are_told_with_their_announcement() {
    let session = Session::new()
        .tools(&[&tool("a", "x")])
        .message(
            "server",
            r#"{"method": "notifications/tools/list_changed"}"#,
        )
        .tools(&[&tool("b", "x")])
        .tools(&[&tool("b", "x"), &tool("c", "x")])
        .initialize("{}")
        .tools(&[]);
    let cassette = session.cassette();
    let recorded = Recorded::of(&cassette);
    let found: Vec<_> = movements(&recorded)
        .iter()
        .map(|m| (m.occurrence.shown(), m.added, m.announced, m.message))
        .collect();
    assert_eq!(
        found,
        [
            ("a".to_owned(), false, true, 4),
            ("b".to_owned(), true, true, 4),
            ("c".to_owned(), true, false, 6)
        ]
    );
}

#[test]
fn a_definition_that_cannot_be_read_is_never_vouched_for() {
    let deep = format!(
        r#"{{"name": "a", "inputSchema": {}1{}}}"#,
        r#"{"a":"#.repeat(600),
        "}".repeat(600)
    );
    let fine = Session::new().tools(&[&tool("a", "x")]).cassette();
    let deep = Session::new().tools(&[&deep]).cassette();
    for (old, new) in [(&fine, &deep), (&deep, &fine)] {
        let (old, new) = (Recorded::of(old), Recorded::of(new));
        let found = drifted(&old, &new);
        assert!(found.drifts.is_empty());
        assert!(matches!(
            found.unreadable[..],
            [(_, NodeError::TooDeep { .. })]
        ));
    }
}

#[test]
fn occurrences_tell_message_and_name() {
    let session = Session::new()
        .page("null", &[&tool("a", "x"), &tool("b", "x")], r#""1""#)
        .page(r#""1""#, &[&tool("c", "x")], "null")
        .tools(&[r#"{"name": 7}"#]);
    let cassette: Cassette = session.cassette();
    let recorded = Recorded::of(&cassette);
    let found: Vec<_> = recorded
        .all(Listing::Tools)
        .map(|o| (o.shown(), o.message))
        .collect();
    assert_eq!(
        found,
        [
            ("a".to_owned(), 1),
            ("b".to_owned(), 1),
            ("c".to_owned(), 3),
            (String::new(), 5)
        ]
    );
    let complete: Vec<_> = recorded.runs.iter().map(|run| run.complete).collect();
    assert_eq!(complete, [true, true]);
}
