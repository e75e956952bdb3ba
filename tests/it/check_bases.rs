//! `lint --base` and `diff --base`: the same base as that of `check`, one command at a time.

use crate::repository::{Event, POISON, Repository, server, tool};

fn clean() -> String {
    tool("echo", "Returns the text.")
}

#[test]
fn lint_with_a_base_counts_what_is_new() {
    let poisoned = tool("echo", POISON);
    let repository = Repository::with(&[("a.mcp.json", &poisoned), ("b.mcp.json", &clean())]);
    repository.git(&["checkout", "-q", "-b", "topic"]);
    repository.git(&["mv", "a.mcp.json", "moved.mcp.json"]);
    repository.commit(&[("b.mcp.json", &poisoned)]);
    let files = ["moved.mcp.json", "b.mcp.json"];
    let run = |arguments: &[&str]| {
        let arguments = [&["lint", "--format", "json"], arguments, &files].concat();
        let run = repository.run(&arguments);
        let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        let of = |report: &serde_json::Value| -> Vec<String> {
            let findings = report["findings"].as_array().unwrap().iter();
            findings
                .map(|one| format!("{} {}", one["rule"], one["status"]).replace('"', ""))
                .collect()
        };
        let reports: Vec<_> = json.as_array().unwrap().iter().map(of).collect();
        (reports, run.code)
    };
    let (reports, code) = run(&["--base", "main"]);
    assert_eq!(reports[0], ["R001 existing"]);
    assert_eq!(reports[1], ["R001 new", "R002 new"]);
    assert_eq!(code, 4);
    let (reports, _) = run(&["--base", "main", "--all"]);
    assert_eq!(reports[0], ["R001 new"]);
    let (reports, _) = run(&[]);
    assert_eq!(reports, [["R001 new"], ["R001 new"]]);
}

#[test]
fn diff_with_a_base_compares_each_with_what_it_was() {
    let repository = Repository::with(&[
        ("a.mcp.json", &server("a", "Returns the text.")),
        ("b.mcp.json", &server("b", "Adds.")),
        ("c.mcp.json", &server("c", "Lists.")),
    ]);
    repository.write("a.mcp.json", server("a", "Returns texts."));
    repository.remove("c.mcp.json");
    repository.write("sub/c.mcp.json", server("c", "Lists files."));
    repository.write(
        "d.mcp.json",
        "{}".replace("{}", &crate::support::session("[]", &[])),
    );
    let run = repository.run(&["diff", "--base", "HEAD", "b.mcp.json"]);
    assert_eq!(run.code, 0, "{}", run.all());
    assert!(
        run.stdout.contains("identical: no structural differences"),
        "{}",
        run.all()
    );
    let run = repository.run(&["diff", "--base", "HEAD", "sub/c.mcp.json"]);
    assert_eq!(run.code, 5, "{}", run.all());
    assert!(
        run.stdout.contains("c: description changed (+1 -1 lines)"),
        "{}",
        run.all()
    );
    let files = ["a.mcp.json", "b.mcp.json", "sub/c.mcp.json", "d.mcp.json"];
    let arguments = [&["diff", "--base", "HEAD", "--format", "json"][..], &files].concat();
    let run = repository.run(&arguments);
    assert_eq!(run.code, 5, "{}", run.all());
    let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let identical: Vec<bool> = json
        .as_array()
        .unwrap()
        .iter()
        .map(|diff| diff["identical"].as_bool().unwrap())
        .collect();
    assert_eq!(identical, [false, true, false]);
    let run = repository.run(&[&["diff", "--base", "HEAD"][..], &files].concat());
    assert!(
        run.stdout.contains("new: the base has no such cassette"),
        "{}",
        run.all()
    );
    // One that is gone or broken is no reason to be silent about the others.
    repository.write("b.mcp.json", "{");
    let run = repository.run(&[&["diff", "--base", "HEAD"][..], &files].concat());
    assert_eq!(run.code, 2, "{}", run.all());
    assert!(
        run.stdout.contains("a: description changed"),
        "{}",
        run.all()
    );
    assert!(
        run.stderr.contains("mcp-cassette diff: b.mcp.json"),
        "{}",
        run.all()
    );
    let run = repository.run(&["diff", "--base", "HEAD", "c.mcp.json"]);
    assert_eq!(run.code, 2, "{}", run.all());
}

#[test]
fn diff_without_a_base_to_be_had_says_that_nothing_was_compared() {
    let repository = Repository::with(&[("a.mcp.json", &clean())]);
    let run = repository.run(&["diff", "--base", "auto", "a.mcp.json"]);
    assert_eq!(run.code, 0, "{}", run.all());
    assert!(run.stdout.contains("not compared: "), "{}", run.all());
    assert!(!run.stdout.contains("identical"), "{}", run.all());
    assert!(!run.stdout.contains("clean"), "{}", run.all());
}

#[test]
fn lint_of_a_pull_request_with_its_base_goes_by_the_policy_of_the_base() {
    let repository = Repository::with(&[("a.mcp.json", &clean())]);
    let main = repository.id("HEAD");
    repository.git(&["checkout", "-q", "-b", "topic"]);
    repository.commit(&[
        ("a.mcp.json", &tool("echo", POISON)),
        (
            "mcp-cassette.toml",
            "[lint]\nignore = [\"R001\", \"R002\"]\n",
        ),
    ]);
    let merge = repository.pull_request("main", "topic");
    let clone = repository.checkout(None, "refs/pull/1/merge");
    let event = Event::pull_request(&main, &merge);
    let payload = repository.beside("payload.json");
    std::fs::write(&payload, &event.payload).unwrap();
    let payload = payload.display().to_string();
    let variables = [
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_EVENT_NAME", event.name),
        ("GITHUB_EVENT_PATH", &payload),
        ("GITHUB_SHA", &merge),
    ];
    let arguments = ["lint", "--base", "auto", "a.mcp.json"];
    let run = clone.run_with("", &arguments, &variables);
    assert_eq!(run.code, 4, "{}", run.all());
    assert!(run.stdout.contains("R001 error"), "{}", run.all());
    let arguments = [
        "lint",
        "--base",
        "auto",
        "--policy-from",
        "head",
        "a.mcp.json",
    ];
    assert_eq!(clone.run_with("", &arguments, &variables).code, 0);
}

/// A cassette of more than the four megabytes from which a base is read alongside.
fn large(description: &str) -> String {
    let result = serde_json::to_string(&"A line of prose that a tool gave. ".repeat(3000)).unwrap();
    let answer = format!(r#"{{"content":[{{"type":"text","text":{result}}}]}}"#);
    let definition = format!(
        r#"{{"name":"echo","description":"{description}","inputSchema":{{"type":"object"}}}}"#
    );
    let answers: Vec<&str> = (0..50).map(|_| answer.as_str()).collect();
    crate::support::session(&format!("[{definition}]"), &answers)
}

#[test]
fn a_large_base_gives_the_same_verdicts_as_a_small_one() {
    let (old, new) = (large("Returns the text."), large("Returns it twice."));
    assert!(old.len() > 5_000_000 && old.len() == new.len());
    let repository = Repository::with(&[("a.mcp.json", &old), ("b.mcp.json", &old)]);
    let checked = repository.check(&["--base", "main"]);
    assert_eq!(
        checked.statuses(),
        [
            ("a.mcp.json", "unchanged", ""),
            ("b.mcp.json", "unchanged", "")
        ]
    );
    repository.write("a.mcp.json", &new);
    let checked = repository.check(&["--base", "main"]);
    assert_eq!(
        checked.statuses(),
        [
            ("a.mcp.json", "modified", ""),
            ("b.mcp.json", "unchanged", "")
        ]
    );
    assert_eq!(checked.counting("a.mcp.json"), ["R103", "R002"]);
    assert!(checked.counting("b.mcp.json").is_empty());
    for (command, code) in [("lint", 4), ("diff", 5), ("redaction-check", 0)] {
        let run = repository.run(&[command, "--base", "main", "a.mcp.json"]);
        assert_eq!(run.code, code, "{command} {}", run.all());
        let run = repository.run(&[command, "--base", "main", "b.mcp.json"]);
        assert_eq!(run.code, 0, "{command} {}", run.all());
    }
    // A cassette that moved is compared with what it was called.
    repository.git(&["mv", "b.mcp.json", "c.mcp.json"]);
    let checked = repository.check(&["--base", "main"]);
    assert_eq!(
        checked.statuses()[1],
        ("c.mcp.json", "renamed", "b.mcp.json")
    );
}

#[test]
fn a_large_base_that_cannot_be_read_is_no_pass() {
    let repository = Repository::with(&[("a.mcp.json", &large("Returns the text."))]);
    let blob = repository.git(&["rev-parse", "main:a.mcp.json"]);
    let blob = blob.trim();
    let object = format!(".git/objects/{}/{}", &blob[..2], &blob[2..]);
    // Another content under the same name, as nothing but damage or malice leaves it.
    repository.write("other", large("Returns it twice."));
    let other = repository.git(&["hash-object", "-w", "other"]);
    let other = other.trim();
    let swapped = std::fs::read(repository.root.join(format!(
        ".git/objects/{}/{}",
        &other[..2],
        &other[2..]
    )));
    repository.remove(&object);
    repository.write(&object, swapped.unwrap());
    repository.write("a.mcp.json", large("Returns it twice."));
    for command in ["check", "lint"] {
        let run = repository.run(&[command, "--base", "main", "a.mcp.json"]);
        assert_eq!(run.code, 2, "{command} {}", run.all());
    }
    repository.remove(&object);
    for command in ["check", "lint"] {
        let run = repository.run(&[command, "--base", "main", "a.mcp.json"]);
        assert_eq!(run.code, 2, "{command} {}", run.all());
    }
}
