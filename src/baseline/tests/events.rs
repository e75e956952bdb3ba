//! From variables and payloads to plans, without a repository.

use super::super::ci::{Event, Target};
use super::{
    BaselineError, CommitId, Plan, Trust, UNKNOWN, ZEROS, environment, event_plan, plan,
    pull_request, push, runner,
};
use crate::baseline::event_file;
use std::path::Path;

fn unread(_: &Path) -> Result<Vec<u8>, BaselineError> {
    panic!("the payload was read");
}

fn id(hex: &str) -> CommitId {
    CommitId::from_hex(hex).expect("an id")
}

fn revision(revision: &str) -> Plan {
    let revision = revision.to_owned();
    Plan::Revision { revision }
}

#[test]
fn what_was_asked_for_comes_before_what_the_event_says() {
    let ci = runner(&[("GITHUB_EVENT_NAME", "push")]);
    let asked = plan(Some("main~2"), &ci, unread).expect("a plan");
    assert_eq!(asked, revision("main~2"));
    let asked = plan(Some("none"), &ci, unread).expect("a plan");
    assert!(matches!(asked, Plan::None { .. }), "{asked:?}");
}

#[test]
fn people_get_no_baseline_unless_they_ask() {
    let nothing = environment(&[]);
    for (base, reason) in [
        (None, "no --base was given"),
        (
            Some("auto"),
            "neither GitHub Actions nor pre-commit runs this",
        ),
    ] {
        let reason = reason.to_owned();
        let plan = plan(base, &nothing, unread).expect("a plan");
        assert_eq!(plan, Plan::None { reason });
    }
    for almost in [
        [("GITHUB_ACTIONS", "1")],
        [("GITHUB_ACTIONS", "")],
        [("PRE_COMMIT", "true")],
        [("PRE_COMMIT_FROM_REF", "main")],
    ] {
        let plan = plan(None, &environment(&almost), unread).expect("a plan");
        assert!(matches!(plan, Plan::None { .. }), "{almost:?}: {plan:?}");
    }
}

#[test]
fn a_hook_compares_with_head_or_with_what_pre_commit_names() {
    let hook = [("PRE_COMMIT", "1")];
    assert_eq!(
        plan(None, &environment(&hook), unread).expect("a plan"),
        Plan::Head
    );
    assert_eq!(
        plan(Some("auto"), &environment(&hook), unread).expect("a plan"),
        Plan::Head
    );
    let push = [("PRE_COMMIT", "1"), ("PRE_COMMIT_FROM_REF", "origin/main")];
    let plan = plan(None, &environment(&push), unread).expect("a plan");
    assert_eq!(plan, revision("origin/main"));
}

#[test]
fn pre_commit_on_a_runner_does_not_compare_head_with_itself() {
    let variables = [("PRE_COMMIT", "1"), ("GITHUB_EVENT_NAME", "pull_request")];
    let plan = event_plan(&variables, &pull_request(id(UNKNOWN))).expect("a plan");
    assert!(
        matches!(plan, Plan::Event(Event::PullRequest { .. })),
        "{plan:?}"
    );
}

#[test]
fn each_event_takes_its_own_field() {
    let target = Target {
        branch: Some("main".to_owned()),
        sha: Some(id(UNKNOWN)),
    };
    let sha = "00000000000000000000000000000000000000aa";
    let merge_group = format!(r#"{{"merge_group": {{"base_sha": "{UNKNOWN}"}}, "before": 7}}"#);
    for (name, payload, expected) in [
        (
            "pull_request",
            pull_request(id(UNKNOWN)),
            Event::PullRequest {
                merge: Some(id(sha)),
                target: target.clone(),
            },
        ),
        (
            "pull_request_target",
            pull_request(id(UNKNOWN)),
            Event::PullRequestTarget {
                start: Some(id(sha)),
                default_branch: Some("main".to_owned()),
                target,
            },
        ),
        (
            "merge_group",
            merge_group,
            Event::MergeGroup { base: id(UNKNOWN) },
        ),
        (
            "push",
            push(UNKNOWN),
            Event::Push {
                before: Some(id(UNKNOWN)),
                default_branch: Some("main".to_owned()),
            },
        ),
        (
            "push",
            push(ZEROS),
            Event::Push {
                before: None,
                default_branch: Some("main".to_owned()),
            },
        ),
    ] {
        let variables = [("GITHUB_EVENT_NAME", name), ("GITHUB_SHA", sha)];
        assert_eq!(
            event_plan(&variables, &payload).expect(name),
            Plan::Event(expected)
        );
    }
}

#[test]
fn the_base_branch_may_come_from_the_variable() {
    let payload = format!(r#"{{"pull_request": {{"base": {{"sha": "{UNKNOWN}"}}}}}}"#);
    let variables = [
        ("GITHUB_EVENT_NAME", "pull_request"),
        ("GITHUB_BASE_REF", "next"),
    ];
    let Plan::Event(Event::PullRequest { target, merge }) =
        event_plan(&variables, &payload).expect("a plan")
    else {
        panic!("another event");
    };
    assert_eq!(target.branch.as_deref(), Some("next"));
    assert_eq!(merge, None);
}

#[test]
fn events_without_a_base_have_no_baseline_and_need_no_payload() {
    for name in [
        "schedule",
        "workflow_dispatch",
        "release",
        "issue_comment",
        "anything",
    ] {
        let environment = runner(&[("GITHUB_EVENT_NAME", name)]);
        let reason = format!("the event {name} has no commit to compare with");
        let plan = plan(None, &environment, unread).expect(name);
        assert_eq!(plan, Plan::None { reason });
    }
}

#[test]
fn a_payload_of_another_shape_is_an_error_and_never_no_baseline() {
    let pull_request = [
        "",
        "null",
        "[]",
        "{}",
        "{\"pull_request\": null}",
        "{\"pull_request\": {\"base\": 7}}",
        "{\"pull_request\": {\"base\": {}}}",
        "{\"pull_request\": {\"base\": {\"ref\": \"\", \"sha\": \"\"}}}",
        "{\"pull_request\": {\"base\": {\"ref\": \"main\", \"sha\": \"main\"}}}",
        "{\"pull_request\": {\"base\": {\"ref\": \"main\", \"sha\": [1]}}}",
        "{\"pull_request\": {\"base\": {\"ref\": \"main\"}}, \"pull_request\": null}",
    ];
    let merge_group = [
        "{}",
        "{\"merge_group\": {}}",
        "{\"merge_group\": {\"base_sha\": \"\"}}",
    ];
    let push = [
        "{\"before\": 1}",
        "{\"before\": \"HEAD\"}",
        "{\"repository\": []}",
    ];
    for (event, payloads) in [
        ("pull_request", &pull_request[..]),
        ("pull_request_target", &pull_request[..]),
        ("merge_group", &merge_group[..]),
        ("push", &push[..]),
    ] {
        for payload in payloads {
            let error = event_plan(&[("GITHUB_EVENT_NAME", event)], payload).expect_err(payload);
            assert!(
                matches!(error, BaselineError::EventMalformed { .. }),
                "{event} {payload}: {error}"
            );
            assert!(
                error
                    .to_string()
                    .starts_with(&format!("the payload of the event {event} "))
            );
        }
    }
}

#[test]
fn a_hostile_payload_is_refused_in_a_short_message() {
    let long = format!("{{\"before\": \"{}\"}}", "x".repeat(100_000));
    let deep = format!("{{\"x\": {}", "[".repeat(1_000_000));
    let huge = push(UNKNOWN) + &" ".repeat(32 << 20);
    for payload in [long, deep, huge] {
        let error = event_plan(&[("GITHUB_EVENT_NAME", "push")], &payload).expect_err("refused");
        assert!(error.to_string().len() < 500, "{}", error.to_string().len());
    }
}

#[test]
fn a_commit_of_a_longer_hash_is_named() {
    let sha = "a".repeat(64);
    let error = event_plan(&[("GITHUB_EVENT_NAME", "push")], &push(&sha)).expect_err("refused");
    assert!(error.to_string().contains("before is \"aaaa"), "{error}");
    assert!(
        error.to_string().contains("not a SHA-1 of 40 digits"),
        "{error}"
    );
}

#[test]
fn only_a_runner_vouches_for_its_workspace() {
    let variables = [("GITHUB_ACTIONS", "true"), ("GITHUB_WORKSPACE", "/w")];
    let trust = Trust::of(&environment(&variables));
    assert_eq!(trust.workspace.as_deref(), Some(Path::new("/w")));
    assert_eq!(Trust::of(&environment(&variables[1..])), Trust::default());
}

#[test]
fn a_runner_that_does_not_say_what_started_it_is_an_error() {
    let unset = plan(None, &runner(&[]), unread).expect_err("refused");
    assert!(
        unset.to_string().contains("GITHUB_EVENT_NAME is not"),
        "{unset}"
    );
    let variables = [("GITHUB_EVENT_NAME", "push"), ("GITHUB_EVENT_PATH", "")];
    let unset = plan(None, &runner(&variables), unread).expect_err("refused");
    assert!(
        unset.to_string().contains("GITHUB_EVENT_PATH is not"),
        "{unset}"
    );
}

#[test]
fn the_event_file_is_read_and_what_is_none_is_refused() {
    let folder = tempfile::tempdir().expect("a directory");
    let file = folder.path().join("event.json");
    std::fs::write(&file, "{}").expect("a file");
    assert_eq!(event_file(&file).expect("its bytes"), b"{}");
    for path in [folder.path().to_owned(), folder.path().join("absent")] {
        let error = event_file(&path).expect_err("refused");
        assert!(
            matches!(error, BaselineError::EventUnreadable { .. }),
            "{error}"
        );
    }
}
