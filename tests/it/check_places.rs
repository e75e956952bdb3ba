//! Where `check` runs: worktrees, subdirectories, submodules, hooks, other people's
//! repositories, kinds of repositories that are not supported.

use crate::repository::{Event, POISON, Repository, server, tool};

fn clean() -> String {
    tool("echo", "Returns the text.")
}

fn poisoned() -> String {
    tool("echo", POISON)
}

#[test]
fn a_linked_worktree_sees_its_own_branch() {
    let repository = Repository::with(&[("t/a.mcp.json", &clean())]);
    let tree = repository.beside("tree");
    let path = tree.display().to_string();
    repository.git(&["worktree", "add", "-q", &path, "-b", "other"]);
    std::fs::write(tree.join("t/a.mcp.json"), poisoned()).unwrap();
    // A hook in the main working tree would point there.
    let elsewhere = repository.root.join(".git").display().to_string();
    let mut command = repository.command(&tree);
    command.args(["check", "--base", "main", "--output", "json"]);
    let output = command.env("GIT_DIR", elsewhere).output().unwrap();
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["cassettes"][0]["path"], "t/a.mcp.json");
    assert_eq!(json["cassettes"][0]["status"], "modified");
    assert_eq!(output.status.code(), Some(4), "{json:#}");
}

#[test]
fn a_subdirectory_looks_at_what_is_below_and_at_what_it_names_above() {
    let clean = clean();
    let repository = Repository::with(&[
        ("a.mcp.json", &clean),
        ("sub/b.mcp.json", &clean),
        ("sub/c.mcp.json", &clean),
    ]);
    repository.remove("sub/c.mcp.json");
    repository.write("sub/b.mcp.json", poisoned());
    repository.write("a.mcp.json", poisoned());
    let run = |arguments: &[&str]| {
        let arguments = [&["check", "--base", "HEAD", "--format", "json"], arguments].concat();
        let run = repository.run_with("sub", &arguments, &[]);
        let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        let of = |member: &str| -> Vec<String> {
            let all = json["cassettes"].as_array().unwrap().iter();
            all.map(|one| one[member].as_str().unwrap().to_owned())
                .collect()
        };
        (of("path"), of("status"), run.code)
    };
    let words = |words: &[&str]| -> Vec<String> { words.iter().map(|&word| word.into()).collect() };
    assert_eq!(
        run(&[]),
        (
            words(&["b.mcp.json", "c.mcp.json"]),
            words(&["modified", "deleted"]),
            4
        )
    );
    assert_eq!(
        run(&["../*.mcp.json"]),
        (words(&["../a.mcp.json"]), words(&["modified"]), 4)
    );
    assert_eq!(
        run(&["./../sub/c.mcp.json"]),
        (words(&["c.mcp.json"]), words(&["deleted"]), 0)
    );
    // On a runner the annotations name files from the root of the checkout.
    let event = Event::push(&repository.id("HEAD"), "");
    repository.git(&["commit", "-q", "-a", "-m", "a commit"]);
    let step = repository.step_in("sub", &event, &["../a.mcp.json", "b.mcp.json"], &[]);
    assert!(
        step.run.stdout.contains("::error file=a.mcp.json,"),
        "{}",
        step.run.all()
    );
    assert!(
        step.run.stdout.contains("::error file=sub/b.mcp.json,"),
        "{}",
        step.run.all()
    );
}

#[test]
fn a_run_outside_of_the_repository_finds_the_one_of_the_cassette() {
    let repository = Repository::with(&[("a.mcp.json", &clean())]);
    repository.write("a.mcp.json", poisoned());
    let arguments = ["check", "--base", "HEAD", "work/a.mcp.json", "--no-config"];
    let run = repository.run_with("..", &arguments, &[]);
    assert_eq!(run.code, 4, "{}", run.all());
    assert!(run.stdout.contains("R002"), "{}", run.all());
}

#[test]
fn a_cassette_in_a_submodule_is_compared_with_the_commit_that_the_base_has_of_it() {
    let inner = Repository::with(&[("a.mcp.json", &clean())]);
    let outer = Repository::with(&[("b.mcp.json", &clean())]);
    outer.git(&["submodule", "--quiet", "add", &inner.url(), "inner"]);
    let main = outer.commit(&[]);
    outer.git(&["checkout", "-q", "-b", "topic"]);
    let below = outer.root.join("inner");
    std::fs::write(below.join("a.mcp.json"), poisoned()).unwrap();
    outer.git_in(&below, &["commit", "-q", "-a", "-m", "poison"]);
    outer.commit(&[]);
    let merge = outer.pull_request("main", "topic");
    outer.git(&["checkout", "-q", "--recurse-submodules", "--detach", &merge]);
    let event = Event::pull_request(&main, &merge);
    let checked = outer.step(&event, &[]).checked();
    assert_eq!(
        checked.statuses(),
        [
            ("b.mcp.json", "unchanged", ""),
            ("inner/a.mcp.json", "modified", "")
        ]
    );
    assert!(checked.counting("inner/a.mcp.json").contains(&"R002"));
    assert_eq!(checked.run.code, 4, "{}", checked.run.all());
    assert_eq!(checked.commit(), main);
}

#[test]
fn a_submodule_in_place_of_a_directory_has_no_past_and_is_refused() {
    let inner = Repository::with(&[("a.mcp.json", &tool("echo", "Returns any text."))]);
    let outer = Repository::with(&[("t/a.mcp.json", &clean())]);
    outer.git(&["rm", "-q", "t/a.mcp.json"]);
    outer.git(&["submodule", "--quiet", "add", &inner.url(), "t"]);
    let head = outer.commit(&[]);
    let event = Event::push(&outer.id("HEAD~1"), &head);
    let step = outer.step(&event, &[]);
    assert_eq!(step.run.code, 2, "{}", step.run.all());
    let words = "t: is a directory in the base commit";
    assert!(step.run.stderr.contains(words), "{}", step.run.all());
    let run = outer.run(&["check", "--base", "HEAD~1"]);
    assert_eq!(run.code, 2, "{}", run.all());
}

#[cfg(unix)]
#[test]
fn annotations_name_files_from_the_root_of_a_checkout_that_a_link_leads_to() {
    let repository = Repository::with(&[("sub/a.mcp.json", &poisoned())]);
    let link = repository.beside("link");
    std::os::unix::fs::symlink(&repository.root, &link).unwrap();
    let link = link.display().to_string();
    let variables = [("GITHUB_WORKSPACE", link.as_str())];
    let event = Event::other("schedule", "");
    let step = repository.step_in("sub", &event, &[], &variables);
    let annotation = "::error file=sub/a.mcp.json,";
    assert!(step.run.stdout.contains(annotation), "{}", step.run.all());
}

/// Makes the tree somebody else's. This takes a superuser: this process, or `sudo` where
/// it asks for nothing. Where there is neither, what libgit2 says of owners cannot be
/// brought about, and the test fails rather than passing without having looked.
#[cfg(unix)]
fn give_away(path: &std::path::Path) {
    let run = |program: &str, arguments: &[&str]| {
        let mut command = std::process::Command::new(program);
        let status = command.args(arguments).arg(path).status();
        status.is_ok_and(|status| status.success())
    };
    assert!(
        run("chown", &["-R", "4321"]) || run("sudo", &["-n", "chown", "-R", "4321"]),
        "this test changes the owner of a directory, which takes root or sudo"
    );
}

#[cfg(unix)]
#[test]
fn another_users_repository_is_refused_with_the_line_that_helps() {
    let repository = Repository::with(&[("a.mcp.json", &clean())]);
    give_away(&repository.root);
    let root = repository.root.display().to_string();
    let line = format!("`git config --global --add safe.directory {root}`");
    let arguments = ["check", "--base", "HEAD"];
    // git itself would also read these.
    let only_git = [
        ("GIT_CONFIG_COUNT", "1"),
        ("GIT_CONFIG_KEY_0", "safe.directory"),
        ("GIT_CONFIG_VALUE_0", "*"),
    ];
    for variables in [&[][..], &only_git] {
        let run = repository.run_with("", &arguments, variables);
        assert_eq!(run.code, 2, "{}", run.all());
        assert!(run.stderr.contains(&line), "{}", run.all());
        assert!(!run.stdout.contains("clean"), "{}", run.all());
    }
    let settings = repository.beside("home").join(".gitconfig");
    for (value, code) in [
        (root.clone(), 0),
        ("*".to_owned(), 0),
        (format!("{root}/"), 2),
        (format!("{root}/*"), 2),
    ] {
        std::fs::write(&settings, format!("[safe]\n\tdirectory = {value}\n")).unwrap();
        let run = repository.run(&arguments);
        assert_eq!(run.code, code, "{value}: {}", run.all());
    }
}

#[cfg(unix)]
#[test]
fn inside_the_workspace_of_a_runner_the_owner_does_not_matter() {
    let repository = Repository::with(&[("a.mcp.json", &clean())]);
    let head = repository.commit(&[("a.mcp.json", &poisoned())]);
    give_away(&repository.root);
    let event = Event::push(&repository.id("HEAD~1"), &head);
    let step = repository.step(&event, &[]);
    assert_eq!(step.run.code, 4, "{}", step.run.all());
    let outer = repository.beside("").display().to_string();
    let below = repository.root.join("below").display().to_string();
    let elsewhere = tempfile::tempdir().unwrap();
    let elsewhere = elsewhere.path().display().to_string();
    for (workspace, code) in [(&outer, 4), (&below, 2), (&elsewhere, 2)] {
        let variables = [("GITHUB_WORKSPACE", workspace.as_str())];
        let step = repository.step_in("", &event, &[], &variables);
        assert_eq!(step.run.code, code, "{workspace}: {}", step.run.all());
    }
    // Without a runner the variable says nothing.
    let arguments = ["check", "--base", "HEAD~1"];
    let run = repository.run_with("", &arguments, &[("GITHUB_WORKSPACE", &outer)]);
    assert_eq!(run.code, 2, "{}", run.all());
}

#[cfg(unix)]
#[test]
fn a_worktree_in_the_workspace_of_a_repository_elsewhere_is_checked_for_its_owner() {
    let repository = Repository::with(&[("a.mcp.json", &clean())]);
    let tree = repository.beside("tree");
    let path = tree.display().to_string();
    repository.git(&["worktree", "add", "-q", &path, "-b", "other"]);
    give_away(&repository.root);
    let mut command = repository.command(&tree);
    command
        .args(["check", "--base", "HEAD"])
        .env("GITHUB_ACTIONS", "true")
        .env("GITHUB_WORKSPACE", &tree);
    let run = crate::support::finish(command.output().unwrap());
    assert_eq!(run.code, 2, "{}", run.all());
    assert!(run.stderr.contains("safe.directory"), "{}", run.all());
}

#[cfg(unix)]
#[test]
fn the_line_about_the_owner_can_be_pasted_whatever_the_path() {
    let repository = Repository::with(&[("a.mcp.json", &clean())]);
    give_away(&repository.root);
    let odd = repository.beside("it's a $(dir)");
    std::fs::rename(&repository.root, &odd).unwrap();
    let mut command = repository.command(&odd);
    let run = command.args(["check", "--base", "HEAD"]).output().unwrap();
    let run = crate::support::finish(run);
    let parent = odd.parent().unwrap().display();
    let line = format!("safe.directory '{parent}/it'\\''s a $(dir)'`");
    assert!(run.stderr.contains(&line), "{}", run.all());
}

#[test]
fn kinds_of_repositories_that_are_not_supported_are_named() {
    for (option, words) in [
        ("--ref-format=reftable", "reftable"),
        ("--object-format=sha256", "sha256"),
    ] {
        let repository = Repository::init(&[option]);
        repository.commit(&[("a.mcp.json", &clean())]);
        let run = repository.run(&["check", "--base", "HEAD"]);
        assert_eq!(run.code, 2, "{}", run.all());
        assert!(run.stderr.contains(words), "{}", run.all());
        let place = repository.root.display().to_string();
        assert!(run.stderr.contains(&place), "{}", run.all());
        // Reports are the same wherever they were made.
        for format in ["json", "sarif"] {
            let run = repository.run(&["check", "--base", "HEAD", "--format", format]);
            assert_eq!(run.code, 2, "{}", run.all());
            assert!(run.stdout.contains("$PWD: "), "{}", run.all());
            assert!(!run.stdout.contains(&place), "{}", run.all());
        }
        // Without a base nobody needs to understand the repository.
        assert_eq!(repository.run(&["check"]).code, 0);
    }
}

#[test]
fn pre_commit_compares_with_head_and_a_push_with_what_it_starts_from() {
    let repository = Repository::with(&[("a.mcp.json", &clean())]);
    let hook = [("PRE_COMMIT", "1")];
    repository.write("a.mcp.json", poisoned());
    let run = repository.run_with("", &["check", "a.mcp.json"], &hook);
    assert_eq!(run.code, 4, "{}", run.all());
    assert!(run.stdout.contains("(HEAD)"), "{}", run.all());
    assert!(run.stdout.contains("R002"), "{}", run.all());
    repository.commit(&[]);
    // What HEAD has is no news any more.
    let run = repository.run_with("", &["check", "a.mcp.json"], &hook);
    assert_eq!(run.code, 0, "{}", run.all());
    let from = repository.id("HEAD~1");
    let push = [("PRE_COMMIT", "1"), ("PRE_COMMIT_FROM_REF", from.as_str())];
    let run = repository.run_with("", &["check", "a.mcp.json"], &push);
    assert_eq!(run.code, 4, "{}", run.all());
    assert!(run.stdout.contains(&from), "{}", run.all());
    for command in [
        &["lint", "--base", "auto", "a.mcp.json"][..],
        &["diff", "--base", "auto", "a.mcp.json"],
    ] {
        let code = if command[0] == "diff" { 5 } else { 4 };
        let run = repository.run_with("", command, &push);
        assert_eq!(run.code, code, "{}", run.all());
        assert_eq!(repository.run_with("", command, &hook).code, 0);
    }
}

#[test]
fn before_the_first_commit_a_hook_has_nothing_to_compare_with() {
    let repository = Repository::init(&[]);
    repository.write("a.mcp.json", clean());
    let hook = [("PRE_COMMIT", "1")];
    let run = repository.run_with("", &["check"], &hook);
    assert_eq!(run.code, 0, "{}", run.all());
    assert!(
        run.stdout.contains("none (HEAD has no commit yet)"),
        "{}",
        run.all()
    );
    repository.write("a.mcp.json", poisoned());
    assert_eq!(repository.run_with("", &["check"], &hook).code, 4);
    let run = repository.run(&["check", "--base", "HEAD"]);
    assert_eq!(run.code, 2, "{}", run.all());
}

#[cfg(unix)]
#[test]
fn a_hook_that_git_runs_sees_the_files_and_leaves_the_index_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let repository = Repository::with(&[("a.mcp.json", &server("s", "Returns the text."))]);
    let tree = repository.beside("tree");
    let path = tree.display().to_string();
    repository.git(&["worktree", "add", "-q", &path, "-b", "other"]);
    let seen = repository.beside("seen");
    let script = format!(
        "#!/bin/sh\nenv | grep ^GIT_ >'{0}.env'\nPRE_COMMIT=1 '{1}' check >'{0}' 2>&1\n\
         echo $? >>'{0}'\n",
        seen.display(),
        env!("CARGO_BIN_EXE_mcp-cassette"),
    );
    let hook = repository.root.join(".git/hooks/pre-commit");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, script).unwrap();
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::write(tree.join("a.mcp.json"), server("s", POISON)).unwrap();
    // With -a git hands the hook an index of its own.
    repository.git_in(&tree, &["commit", "-q", "-a", "-m", "a commit"]);
    let said = std::fs::read_to_string(&seen).unwrap();
    let variables = std::fs::read_to_string(format!("{}.env", seen.display())).unwrap();
    assert!(variables.contains("GIT_INDEX_FILE="), "{variables}");
    assert!(said.contains("R002"), "{said}");
    assert!(said.ends_with("\n4\n"), "{said}");
    assert_eq!(repository.git_in(&tree, &["status", "--porcelain"]), "");
}

#[cfg(unix)]
#[test]
fn a_directory_that_became_a_link_is_looked_into() {
    let repository = Repository::with(&[
        ("t/a.mcp.json", &clean()),
        ("t/sub/b.mcp.json", &clean()),
        (
            "mcp-cassette.toml",
            "[check]\ncassettes = [\"t/**/*.mcp.json\"]\n",
        ),
    ]);
    repository.remove("t/sub/b.mcp.json");
    let _ = std::fs::remove_dir(repository.root.join("t/sub"));
    repository.write("elsewhere/b.mcp.json", poisoned());
    std::os::unix::fs::symlink("../elsewhere", repository.root.join("t/sub")).unwrap();
    // A link that leads back upwards must not be walked for ever.
    std::os::unix::fs::symlink("..", repository.root.join("elsewhere/up")).unwrap();
    let checked = repository.check(&["--base", "main"]);
    assert_eq!(checked.run.code, 4, "{:#}", checked.json);
    assert!(checked.counting("t/sub/b.mcp.json").contains(&"R001"));
}

#[test]
fn the_branches_of_an_embedded_repository_are_no_base() {
    let repository = Repository::with(&[("a.mcp.json", &clean())]);
    repository.write("new/b.mcp.json", poisoned());
    let inner = repository.root.join("new");
    repository.git_in(&inner, &["init", "-q", "-b", "main"]);
    repository.git_in(&inner, &["add", "-A"]);
    repository.git_in(&inner, &["commit", "-q", "-m", "their own main"]);
    let checked = repository.check(&["--base", "main"]);
    assert_eq!(checked.run.code, 4, "{:#}", checked.json);
    assert!(checked.counting("new/b.mcp.json").contains(&"R001"));
}

#[test]
fn a_cassette_cannot_leave_the_sight_of_the_gate_by_its_name() {
    let renamed = |to: &str, text: &str| {
        let repository = Repository::with(&[
            ("tests/a.mcp.json", &server("a", "Returns the text.")),
            ("tests/b.mcp.json", &clean()),
            ("data.json", "{}"),
        ]);
        repository.remove("tests/a.mcp.json");
        repository.write(to, text);
        // What has always been there, and what is no cassette, is none of its business.
        repository.write("tests/other.json", "{\"format_version\": 3}");
        repository
    };
    let good = server("a", "Returns the text.");
    let bad = server("a", POISON);
    for (to, staged) in [("tests/a.json", false), ("hidden/a.txt", true)] {
        let repository = renamed(to, &bad);
        if staged {
            repository.git(&["add", "-A"]);
        }
        let checked = repository.check(&["--base", "main"]);
        assert_eq!(checked.run.code, 4, "{}", checked.run.all());
        let statuses = checked.statuses();
        assert!(
            statuses.contains(&(to, "renamed", "tests/a.mcp.json")),
            "{statuses:?}"
        );
        assert_eq!(statuses.len(), 2, "{statuses:?}");
        let counting = checked.counting(to);
        for rule in ["R001", "R002", "R110"] {
            assert!(counting.contains(&rule), "{counting:?}");
        }
        // Without an edit it is still a cassette that nobody will check again.
        let repository = renamed(to, &good);
        repository.git(&["add", "-A"]);
        let checked = repository.check(&["--base", "main"]);
        assert_eq!(checked.run.code, 5, "{}", checked.run.all());
        assert_eq!(checked.counting(to), ["R110"]);
        let checked = repository.check(&["--base", "main", "--checks", "lint"]);
        assert_eq!(checked.run.code, 0, "{}", checked.run.all());
        assert!(
            checked
                .statuses()
                .contains(&(to, "renamed", "tests/a.mcp.json"))
        );
    }
    // Another server in its place is looked at as well.
    let repository = renamed("tests/x.json", &server("x", POISON));
    let checked = repository.check(&["--base", "main"]);
    assert_eq!(checked.run.code, 4, "{}", checked.run.all());
    assert!(checked.statuses().contains(&("tests/x.json", "added", "")));
    assert!(checked.counting("tests/a.mcp.json").contains(&"R110"));
}

#[test]
fn what_a_sparse_checkout_leaves_out_is_not_deleted() {
    let repository = Repository::with(&[
        ("in/a.mcp.json", &clean()),
        ("out/b.mcp.json", &server("b", "Adds.")),
    ]);
    repository.git(&["sparse-checkout", "set", "--no-sparse-index", "in"]);
    assert!(!repository.root.join("out/b.mcp.json").exists());
    repository.write("in/new.mcp.json", server("n", "Adds."));
    let checked = repository.check(&["--base", "main"]);
    assert_eq!(checked.run.code, 0, "{}", checked.run.all());
    let statuses = [
        ("in/a.mcp.json", "unchanged", ""),
        ("in/new.mcp.json", "added", ""),
    ];
    assert_eq!(checked.statuses(), statuses);
    // One that was changed in the commit that is checked must be there.
    repository.git(&["checkout", "-q", "-b", "topic"]);
    repository.git(&["sparse-checkout", "disable"]);
    repository.commit(&[("out/b.mcp.json", &poisoned())]);
    repository.git(&["sparse-checkout", "set", "--no-sparse-index", "in"]);
    let run = repository.run(&["check", "--base", "main"]);
    assert_eq!(run.code, 2, "{}", run.all());
    assert!(
        run.stderr.contains("left out by the sparse checkout"),
        "{}",
        run.all()
    );
}
