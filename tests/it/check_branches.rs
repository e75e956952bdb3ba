//! `check` on a branch: what it changed is told, and what others changed is not held
//! against it.

use crate::repository::{Checked, Event, POISON, Repository, server, tool};
use crate::support::session;

/// A repository whose branch `topic` poisons one cassette, moves and poisons another,
/// deletes a third and adds a fourth. `main` has moved on since.
struct Story {
    repository: Repository,
    fork: String,
    main: String,
    topic: String,
    merge: String,
}

impl Story {
    fn new() -> Story {
        let repository = Repository::with(&[
            ("t/a.mcp.json", &server("alpha", "Returns the text.")),
            ("t/b.mcp.json", &server("beta", "Adds numbers.")),
            ("t/c.mcp.json", &server("gamma", "Lists files.")),
            ("t/d.mcp.json", &server("delta", "Reads a page.")),
        ]);
        let fork = repository.id("HEAD");
        repository.git(&["checkout", "-q", "-b", "topic"]);
        repository.remove("t/b.mcp.json");
        repository.remove("t/c.mcp.json");
        let topic = repository.commit(&[
            ("t/a.mcp.json", &server("alpha", POISON)),
            ("u/moved.mcp.json", &server("beta", POISON)),
            ("t/new.mcp.json", &many_calls()),
        ]);
        repository.git(&["checkout", "-q", "main"]);
        // Whoever did that has answered for it.
        let main = repository.commit(&[("t/d.mcp.json", &server("delta", POISON))]);
        let merge = repository.pull_request("main", "topic");
        Story {
            repository,
            fork,
            main,
            topic,
            merge,
        }
    }

    /// All that `main` has no part in.
    fn assert_told(checked: &Checked) {
        let all = checked.run.all();
        assert_eq!(
            checked.statuses(),
            [
                ("t/a.mcp.json", "modified", ""),
                ("t/d.mcp.json", "unchanged", ""),
                ("t/new.mcp.json", "added", ""),
                ("u/moved.mcp.json", "renamed", "t/b.mcp.json"),
                ("t/c.mcp.json", "deleted", ""),
            ],
            "{all}"
        );
        for path in ["t/a.mcp.json", "u/moved.mcp.json"] {
            let rules = checked.counting(path);
            for rule in ["R001", "R002", "R103"] {
                assert!(rules.contains(&rule), "{path}: {rules:?}\n{all}");
            }
        }
        assert_eq!(checked.counting("t/d.mcp.json"), [""; 0], "{all}");
        assert_eq!(checked.counting("t/new.mcp.json"), ["R111"], "{all}");
        assert_eq!(checked.counting("t/c.mcp.json"), ["R110"], "{all}");
        assert_eq!(checked.json["summary"]["exit_code"], 4);
        assert_eq!(checked.run.code, 4, "{all}");
    }
}

/// A cassette with little in common with those of one call.
fn many_calls() -> String {
    let tools = r#"[{"name": "omega", "description": "Sends a mail."}]"#;
    let result = r#"{"content": [{"type": "text", "text": "sent to everybody on the list"}]}"#;
    session(tools, &[result; 12])
}

#[test]
fn a_branch_that_poisons_moves_deletes_and_adds_is_told_of_all_four() {
    let story = Story::new();
    story.repository.git(&["checkout", "-q", "topic"]);
    let checked = story.repository.check(&["--base", "main"]);
    Story::assert_told(&checked);
    assert_eq!(checked.commit(), story.fork);
    assert_eq!(checked.reason(), "merge base with main");
}

#[test]
fn the_merge_checkout_of_a_pull_request_is_compared_with_its_first_parent() {
    let story = Story::new();
    // GitHub's payload names the base of when the event was sent.
    let event = Event::pull_request(&story.fork, &story.merge);
    for depth in [None, Some(2)] {
        let clone = story.repository.checkout(depth, "refs/pull/1/merge");
        let step = clone.step(&event, &[]);
        let checked = step.checked();
        Story::assert_told(&checked);
        // The poison of the base is its own.
        let findings = checked.findings("t/d.mcp.json");
        assert!(
            findings.contains(&("R001", "existing")),
            "{depth:?} {findings:?}"
        );
        assert_eq!(checked.commit(), story.main, "{depth:?}");
        assert_eq!(step.output("baseline-commit"), story.main);
        let reason = "first parent of the merge commit of the pull request";
        assert_eq!(step.output("baseline-reason"), reason);
        assert_eq!(checked.reason(), reason);
    }
}

#[test]
fn the_head_checkout_of_a_pull_request_is_compared_with_where_it_left() {
    let story = Story::new();
    let event = Event::pull_request(&story.main, &story.merge);
    let clone = story.repository.checkout(None, "refs/pull/1/head");
    let step = clone.step(&event, &[]);
    let checked = step.checked();
    Story::assert_told(&checked);
    assert_eq!(checked.findings("t/d.mcp.json"), []);
    assert_eq!(step.output("baseline-commit"), story.fork);
    assert_eq!(
        step.output("baseline-reason"),
        "merge base with origin/main"
    );
    assert_eq!(clone.id("HEAD"), story.topic);
}

#[test]
fn a_shallow_merge_checkout_names_the_fetch_that_helps() {
    let story = Story::new();
    let event = Event::pull_request(&story.fork, &story.merge);
    let clone = story.repository.checkout(Some(1), "refs/pull/1/merge");
    let step = clone.step(&event, &[]);
    assert_eq!(step.run.code, 2, "{}", step.run.all());
    assert_eq!(step.output("exit-code"), "2");
    let command = format!("git fetch --no-tags --depth=1 origin {}", story.main);
    assert!(step.run.stderr.contains(&command), "{}", step.run.all());
    assert!(step.run.stdout.contains(&command), "{}", step.run.all());
    assert!(step.summary.contains(&command), "{}", step.summary);
    assert_eq!(step.checked().errors().len(), 1);
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    clone.git(&words);
    Story::assert_told(&clone.step(&event, &[]).checked());
}

#[test]
fn a_shallow_head_checkout_asks_for_the_whole_history() {
    let story = Story::new();
    let event = Event::pull_request(&story.main, &story.merge);
    let clone = story.repository.checkout(Some(1), "refs/pull/1/head");
    let step = clone.step(&event, &[]);
    assert_eq!(step.run.code, 2, "{}", step.run.all());
    assert!(
        step.run.stderr.contains("fetch-depth: 0"),
        "{}",
        step.run.all()
    );
}

#[test]
fn a_clone_without_blobs_is_refused_and_never_has_new_files() {
    let story = Story::new();
    let clone = Repository::folder();
    let url = story.repository.url();
    clone.git(&[
        "clone",
        "-q",
        "--filter=blob:none",
        "-b",
        "topic",
        &url,
        ".",
    ]);
    // Where it could fetch, git would; here nothing must.
    clone.git(&["remote", "set-url", "origin", "file:///nowhere"]);
    let checked = clone.check(&["--base", "origin/main", "t/a.mcp.json"]);
    assert_eq!(checked.run.code, 2, "{}", checked.run.all());
    assert_eq!(checked.statuses(), [("t/a.mcp.json", "unreadable", "")]);
    let error = checked.errors().concat();
    assert!(error.contains("is in the base commit"), "{error}");
    assert!(error.contains("partial clone"), "{error}");
    // What it is by itself is told all the same.
    assert!(checked.counting("t/a.mcp.json").contains(&"R001"));
    // Whether the new files continue those that are gone cannot be told.
    let checked = clone.check(&["--base", "origin/main"]);
    assert_eq!(checked.run.code, 2, "{}", checked.run.all());
    let statuses = checked.statuses();
    assert!(
        statuses.iter().all(|(_, status, _)| *status != "added"),
        "{statuses:?}"
    );
}

#[test]
fn merge_queue_pushes_and_other_events_have_their_own_bases() {
    let story = Story::new();
    let (repository, zeros) = (&story.repository, "0".repeat(40));
    let unknown = "1234567812345678123456781234567812345678";
    let (main, merge, fork) = (&story.main, &story.merge, &story.fork);
    let before = "the branch before the push";
    let since = "merge base with origin/main, the default branch";
    let group = "base of the merge group";
    for (event, commit, reason) in [
        (Event::merge_group(main, merge), main, group),
        (Event::push(main, merge), main, before),
        // On top of `main` the new branch left it at its tip.
        (Event::push(&zeros, merge), main, since),
        (Event::push(unknown, merge), main, since),
    ] {
        let clone = repository.checkout(None, "refs/pull/1/merge");
        let step = clone.step(&event, &[]);
        assert_eq!(step.output("baseline-commit"), commit, "{}", step.run.all());
        assert_eq!(step.output("baseline-reason"), reason);
        assert_eq!(step.checked().commit(), commit);
        assert_eq!(step.checked().reason(), reason);
        assert_eq!(step.run.code, 4);
    }
    let clone = repository.checkout(None, "refs/pull/1/head");
    let step = clone.step(&Event::push(&zeros, &story.topic), &[]);
    assert_eq!(step.output("baseline-commit"), fork);
}

#[test]
fn events_without_a_commit_compare_with_nothing_and_say_so() {
    let repository = Repository::with(&[("a.mcp.json", &tool("echo", "Returns the text."))]);
    let head = repository.id("HEAD");
    for name in ["schedule", "workflow_dispatch", "release"] {
        let step = repository.step(&Event::other(name, &head), &[]);
        assert_eq!(step.run.code, 0, "{}", step.run.all());
        assert_eq!(step.output("baseline-commit"), "");
        let reason = format!("the event {name} has no commit to compare with");
        assert_eq!(step.output("baseline-reason"), reason);
        assert_eq!(step.checked().reason(), reason);
        assert!(step.checked().json["base"]["commit"].is_null());
    }
    let step = repository.step(&Event::push(&head, &head), &[]);
    assert_eq!(step.output("baseline-commit"), "");
    assert_eq!(step.run.code, 0, "{}", step.run.all());
}

#[test]
fn a_run_on_the_default_branch_for_a_pull_request_is_refused() {
    let story = Story::new();
    let clone = story.repository.checkout(None, "refs/heads/main");
    let event = Event {
        name: "pull_request_target",
        ..Event::pull_request(&story.main, &story.main)
    };
    let step = clone.step(&event, &[]);
    assert_eq!(step.run.code, 2, "{}", step.run.all());
    assert!(
        step.run.stderr.contains("part of the base itself"),
        "{}",
        step.run.all()
    );
    assert_eq!(step.output("exit-code"), "2");
    assert!(!step.run.stdout.contains("clean"), "{}", step.run.all());
}
