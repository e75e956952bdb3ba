//! The table of bases, row by row.

use super::{BaselineError, CommitId, Plan, Repo, UNKNOWN, ZEROS, git, pull_request, push};
use crate::baseline::{Base, Repository, Trust};

/// A repository with a pull request: `main` has moved on since the branch was made.
struct Request {
    repo: Repo,
    /// Where the branch left `main`; the payload still says so.
    fork: CommitId,
    /// The tip of `main`.
    main: CommitId,
    /// The tip of the branch.
    head: CommitId,
    merge: CommitId,
}

fn request() -> Request {
    let repo = Repo::new();
    let fork = repo.id("HEAD");
    repo.git(&["checkout", "-q", "-b", "topic"]);
    let head = repo.commit(&[("t.mcp.json", "topic\n")]);
    repo.git(&["checkout", "-q", "main"]);
    let main = repo.commit(&[("other.mcp.json", "moved on\n")]);
    let merge = repo.merge(main, head);
    Request {
        repo,
        fork,
        main,
        head,
        merge,
    }
}

fn event(name: &'static str, sha: CommitId) -> [(&'static str, String); 2] {
    [
        ("GITHUB_EVENT_NAME", name.to_owned()),
        ("GITHUB_SHA", sha.to_string()),
    ]
}

/// The base of an event in a checkout.
fn base(
    checkout: &Repo,
    name: &'static str,
    sha: CommitId,
    payload: &str,
) -> Result<Result<CommitId, String>, BaselineError> {
    let variables = event(name, sha);
    let variables: Vec<(&str, &str)> = variables.iter().map(|(n, v)| (*n, v.as_str())).collect();
    checkout.base_of_event(&variables, payload)
}

#[test]
fn pull_request_on_the_merge_commit_compares_with_its_first_parent() {
    let request = request();
    let checkout = request.repo.checkout(None, "refs/pull/1/merge");
    let base = base(
        &checkout,
        "pull_request",
        request.merge,
        &pull_request(request.fork),
    );
    assert_eq!(base.expect("a base"), Ok(request.main));
}

#[test]
fn pull_request_on_its_head_compares_with_the_branch_point() {
    let request = request();
    let checkout = request.repo.checkout(None, "refs/heads/topic");
    let found = base(
        &checkout,
        "pull_request",
        request.merge,
        &pull_request(request.main),
    );
    assert_eq!(found.expect("a base"), Ok(request.fork));

    // Without the branch of the remote, the payload has to do.
    checkout.git(&["update-ref", "-d", "refs/remotes/origin/main"]);
    let found = base(
        &checkout,
        "pull_request",
        request.merge,
        &pull_request(request.main),
    );
    assert_eq!(found.expect("a base"), Ok(request.fork));
    let unknown = CommitId::from_hex(UNKNOWN).expect("an id");
    let error = base(
        &checkout,
        "pull_request",
        request.merge,
        &pull_request(unknown),
    );
    let error = error.expect_err("no base");
    assert_eq!(error.missing_commit(), Some((unknown, false)));
    let command = format!("`git fetch --no-tags origin {UNKNOWN}`");
    assert!(error.to_string().contains(&command), "{error}");
}

#[test]
fn a_head_that_is_a_merge_but_not_the_runs_own_does_not_count_as_one() {
    // Its parents are of the author's choosing: here the first is the poisoned one.
    let request = request();
    let repo = &request.repo;
    repo.git(&["checkout", "-q", "-b", "crafted", &request.head.to_string()]);
    repo.git(&["merge", "-q", "--no-edit", "main"]);
    let checkout = repo.checkout(None, "refs/heads/crafted");
    let base = base(
        &checkout,
        "pull_request",
        request.merge,
        &pull_request(request.fork),
    );
    assert_eq!(base.expect("a base"), Ok(request.main));
}

#[test]
fn pull_request_in_a_shallow_clone_names_the_parent_and_reads_it_once_fetched() {
    let request = request();
    let checkout = request.repo.checkout(Some(1), "refs/pull/1/merge");
    let payload = pull_request(request.fork);
    let error = base(&checkout, "pull_request", request.merge, &payload).expect_err("no base");
    assert_eq!(error.missing_commit(), Some((request.main, true)));
    let command = format!("git fetch --no-tags --depth=1 origin {}", request.main);
    assert!(
        error.to_string().contains(&format!("`{command}`")),
        "{error}"
    );

    let words: Vec<&str> = command.split(' ').skip(1).collect();
    checkout.git(&words);
    let found = base(&checkout, "pull_request", request.merge, &payload);
    assert_eq!(found.expect("a base"), Ok(request.main));
    let repository = checkout.open();
    let variables = event("pull_request", request.merge);
    let variables: Vec<_> = variables.iter().map(|(n, v)| (*n, v.as_str())).collect();
    let plan = super::event_plan(&variables, &payload).expect("a plan");
    let Base::Commit(commit) = repository.base(&plan).expect("a base") else {
        panic!("no base");
    };
    let path = repository
        .path_of(&checkout.root.join("t.mcp.json"))
        .expect("a path");
    assert_eq!(
        commit.file(&path).expect("readable").as_deref(),
        Some(&b"first\n"[..])
    );
}

#[test]
fn a_stale_payload_does_not_matter_on_the_merge_commit() {
    let request = request();
    let checkout = request.repo.checkout(Some(2), "refs/pull/1/merge");
    let base = base(
        &checkout,
        "pull_request",
        request.merge,
        &pull_request(request.fork),
    );
    assert_eq!(base.expect("a base"), Ok(request.main));
}

#[test]
fn a_head_in_a_shallow_clone_asks_for_its_history() {
    let request = request();
    let checkout = request.repo.checkout(Some(1), "refs/heads/topic");
    let payload = pull_request(request.main);
    let error = base(&checkout, "pull_request", request.merge, &payload).expect_err("no base");
    assert!(matches!(error, BaselineError::Shallow { .. }), "{error}");
    assert!(error.to_string().contains("fetch-depth: 0"), "{error}");

    // The tip of the base is there, what both have in common is not.
    checkout.git(&[
        "fetch",
        "-q",
        "--depth=1",
        "origin",
        "main:refs/remotes/origin/main",
    ]);
    let error = base(&checkout, "pull_request", request.merge, &payload).expect_err("no base");
    assert!(matches!(error, BaselineError::Shallow { .. }), "{error}");
}

#[test]
fn a_pull_request_run_on_its_own_base_is_refused() {
    let request = request();
    let checkout = request.repo.checkout(None, "refs/heads/main");
    let payload = pull_request(request.fork);
    let error = base(&checkout, "pull_request", request.merge, &payload).expect_err("no base");
    assert!(matches!(error, BaselineError::ItsOwnBase { .. }), "{error}");
}

#[test]
fn pull_request_target_on_the_default_branch_is_refused() {
    let request = request();
    let payload = pull_request(request.main);
    for (reference, depth) in [("main", Some(1)), ("main", None), ("main~1", None)] {
        let commit = request.repo.id(reference).to_string();
        let checkout = request.repo.checkout(depth, &commit);
        let error = base(&checkout, "pull_request_target", request.main, &payload);
        let error = error.expect_err(reference);
        assert!(matches!(error, BaselineError::ItsOwnBase { .. }), "{error}");
        assert!(error.to_string().contains("pull_request_target"), "{error}");
    }
}

#[test]
fn pull_request_target_where_it_started_is_refused_whatever_the_payload_says() {
    let request = request();
    let checkout = request.repo.checkout(None, "refs/heads/main");
    for branch in ["main", "topic"] {
        checkout.git(&["update-ref", "-d", &format!("refs/remotes/origin/{branch}")]);
    }
    // An older commit of the same branch would do as a base, and nothing would be found.
    let error = base(
        &checkout,
        "pull_request_target",
        request.main,
        &pull_request(request.fork),
    );
    let error = error.expect_err("no base");
    assert!(matches!(error, BaselineError::ItsOwnBase { .. }), "{error}");
}

#[test]
fn pull_request_target_on_the_head_compares_with_the_branch_point() {
    let request = request();
    let checkout = request.repo.checkout(None, "refs/heads/topic");
    let base = base(
        &checkout,
        "pull_request_target",
        request.main,
        &pull_request(request.main),
    );
    assert_eq!(base.expect("a base"), Ok(request.fork));
}

#[test]
fn merge_group_compares_with_its_base() {
    let request = request();
    let payload = |sha| format!(r#"{{"merge_group": {{"base_sha": "{sha}"}}}}"#);
    let checkout = request.repo.checkout(None, "refs/pull/1/merge");
    let found = base(
        &checkout,
        "merge_group",
        request.merge,
        &payload(request.main),
    );
    assert_eq!(found.expect("a base"), Ok(request.main));
    let error = base(
        &checkout,
        "merge_group",
        request.merge,
        &payload(request.merge),
    );
    assert!(matches!(
        error.expect_err("itself"),
        BaselineError::ItsOwnBase { .. }
    ));

    let shallow = request.repo.checkout(Some(1), "refs/pull/1/merge");
    let error = base(
        &shallow,
        "merge_group",
        request.merge,
        &payload(request.main),
    );
    let missing = error.expect_err("not there").missing_commit();
    assert_eq!(missing, Some((request.main, true)));
}

#[test]
fn push_compares_with_the_branch_before() {
    let request = request();
    let fork = request.fork.to_string();
    let checkout = request.repo.checkout(None, "refs/heads/main");
    let found = base(&checkout, "push", request.main, &push(&fork));
    assert_eq!(found.expect("a base"), Ok(request.fork));

    let shallow = request.repo.checkout(Some(1), "refs/heads/main");
    let error = base(&shallow, "push", request.main, &push(&fork)).expect_err("not there");
    assert_eq!(error.missing_commit(), Some((request.fork, true)));
    let shallow = request.repo.checkout(Some(1), "refs/heads/topic");
    let error = base(&shallow, "push", request.head, &push(&fork)).expect_err("not there");
    assert_eq!(error.missing_commit(), Some((request.fork, true)));
}

#[test]
fn push_of_what_is_there_already_has_no_baseline() {
    let request = request();
    let checkout = request.repo.checkout(None, "refs/heads/main");
    let before = push(&request.main.to_string());
    let none = base(&checkout, "push", request.main, &before).expect("no failure");
    assert_eq!(none, Err("the push left HEAD where it was".to_owned()));
}

#[test]
fn push_of_a_new_branch_compares_with_where_it_left_the_default_branch() {
    let request = request();
    let checkout = request.repo.checkout(None, "refs/heads/topic");
    for payload in [
        push(ZEROS),
        r#"{"repository": {"default_branch": "main"}}"#.to_owned(),
    ] {
        let found = base(&checkout, "push", request.head, &payload);
        assert_eq!(found.expect("a base"), Ok(request.fork));
    }
    let shallow = request.repo.checkout(Some(1), "refs/heads/topic");
    let error = base(&shallow, "push", request.head, &push(ZEROS)).expect_err("no base");
    assert!(error.to_string().contains("fetch-depth: 0"), "{error}");
    let error = base(&checkout, "push", request.head, "{}").expect_err("no base");
    assert!(error.to_string().contains("default_branch"), "{error}");
}

#[test]
fn push_of_the_first_commits_has_no_baseline() {
    let repo = Repo::new();
    let checkout = repo.checkout(None, "refs/heads/main");
    let none = base(&checkout, "push", repo.id("main"), &push(ZEROS)).expect("no failure");
    assert!(none.expect_err("no base").contains("default branch"));
}

#[test]
fn a_forced_push_of_a_branch_falls_back_and_one_of_the_default_branch_does_not() {
    let request = request();
    let topic = request.repo.checkout(None, "refs/heads/topic");
    let found = base(&topic, "push", request.head, &push(UNKNOWN));
    assert_eq!(found.expect("a base"), Ok(request.fork));

    // "HEAD is the default branch" would mean no baseline, although there was one.
    let main = request.repo.checkout(None, "refs/heads/main");
    let error = base(&main, "push", request.main, &push(UNKNOWN)).expect_err("no base");
    assert_eq!(
        error.missing_commit(),
        CommitId::from_hex(UNKNOWN).map(|id| (id, false))
    );
}

#[test]
fn a_branch_name_of_the_payload_is_only_ever_a_branch_name() {
    let request = request();
    let checkout = request.repo.checkout(None, "refs/heads/topic");
    for name in ["main~1", "../../heads/main", "main@{1}", ":/a", "a b", ""] {
        let payload = format!(r#"{{"repository": {{"default_branch": "{name}"}}}}"#);
        let error = base(&checkout, "push", request.head, &payload).expect_err(name);
        assert!(
            matches!(
                error,
                BaselineError::NoBranch(_) | BaselineError::EventMalformed { .. }
            ),
            "{error}"
        );
    }
}

#[test]
fn events_without_a_base_have_no_baseline() {
    let repo = Repo::new();
    for name in ["schedule", "workflow_dispatch", "release"] {
        let none = base(&repo, name, repo.id("HEAD"), "{}").expect("no failure");
        assert!(none.expect_err("no base").contains(name));
    }
}

#[test]
fn a_hook_compares_with_head_and_before_the_first_commit_with_nothing() {
    let repo = Repo::unborn();
    let none = repo.base(&Plan::Head).expect("no failure");
    assert_eq!(none, Err("HEAD has no commit yet".to_owned()));
    let head = repo.commit(&[("t.mcp.json", "first\n")]);
    assert_eq!(repo.base(&Plan::Head).expect("a base"), Ok(head));
}

#[test]
fn a_hook_before_a_push_compares_with_where_the_branch_left_the_other_side() {
    let request = request();
    let repo = &request.repo;
    repo.git(&["checkout", "-q", "topic"]);
    let variables = [("PRE_COMMIT", "1"), ("PRE_COMMIT_FROM_REF", "main")];
    let environment = super::environment(&variables);
    let plan = super::plan(None, &environment, |_| Ok(Vec::new())).expect("a plan");
    assert_eq!(repo.base(&plan).expect("a base"), Ok(request.fork));
}

#[test]
fn a_revision_by_hand_may_be_anything_that_names_a_commit() {
    let request = request();
    let repo = &request.repo;
    repo.git(&["checkout", "-q", "topic"]);
    repo.git(&["tag", "-a", "-m", "a tag", "annotated", "main"]);
    let short = request.main.to_string()[..8].to_owned();
    for (revision, expected) in [
        ("main", request.fork),
        ("annotated", request.fork),
        (short.as_str(), request.fork),
        ("HEAD~1", request.fork),
        ("HEAD", request.head),
        ("refs/heads/topic", request.head),
    ] {
        let revision = revision.to_owned();
        let shown = revision.clone();
        let base = repo.base(&Plan::Revision { revision });
        assert_eq!(base.expect(&shown), Ok(expected), "{shown}");
    }
}

#[test]
fn files_of_a_submodule_are_compared_with_the_commit_that_the_outer_base_has() {
    let library = Repo::new();
    let old = library.id("HEAD");
    let outer = Repo::new();
    outer.git(&["submodule", "add", "-q", &library.url(), "lib"]);
    let fork = outer.commit(&[]);
    let inner = outer.root.join("lib");
    std::fs::write(inner.join("t.mcp.json"), "poisoned\n").expect("a file");
    git(&inner, &["commit", "-q", "-a", "-m", "a commit"]);
    // The head of the submodule is on a branch of its remote: a merge base with that
    // would be the head itself, and nothing would be found.
    git(&inner, &["update-ref", "refs/remotes/origin/main", "HEAD"]);
    let head = outer.commit(&[]);
    let merge = outer.merge(fork, head);
    outer.git(&["checkout", "-q", "--detach", &merge.to_string()]);

    let merge = merge.to_string();
    let variables = [
        ("GITHUB_EVENT_NAME", "pull_request"),
        ("GITHUB_SHA", merge.as_str()),
    ];
    let plan = super::event_plan(&variables, &pull_request(fork)).expect("a plan");
    let file = inner.join("t.mcp.json");
    let repository = Repository::containing(&file, &Trust::default()).expect("a repository");
    assert_eq!(repository.root(), inner);
    let Base::Commit(base) = repository.base(&plan).expect("a base") else {
        panic!("no base");
    };
    assert_eq!(base.id(), old);
    let path = repository.path_of(&file).expect("a path");
    assert_eq!(
        base.file(&path).expect("readable").as_deref(),
        Some(&b"first\n"[..])
    );
    assert!(base.reason().contains("submodule lib"), "{}", base.reason());

    // Where the submodule lacks that commit, the fetch is meant for it.
    let shallow = Repo::folder();
    shallow.git(&["clone", "-q", &outer.url(), "."]);
    shallow.git(&["checkout", "-q", "--detach", &merge]);
    let clone = shallow.root.join("lib");
    git(&clone, &["init", "-q", "."]);
    std::fs::rename(clone.join(".git"), shallow.root.join(".git/lib")).expect("a move");
    std::fs::write(clone.join(".git"), "gitdir: ../.git/lib").expect("a file");
    git(
        &clone,
        &["commit", "-q", "--allow-empty", "-m", "another history"],
    );
    let repository = Repository::containing(&clone, &Trust::default()).expect("a repository");
    let error = repository.base(&plan).expect_err("not there");
    assert_eq!(error.missing_commit(), Some((old, false)));
    let command = format!("`git -C {} fetch --no-tags origin {old}`", clone.display());
    assert!(error.to_string().contains(&command), "{error}");

    // A submodule that the base does not have yet is new as a whole.
    let first = outer.id(&format!("{fork}~1"));
    let payload = format!(r#"{{"merge_group": {{"base_sha": "{first}"}}}}"#);
    let plan = super::event_plan(&[("GITHUB_EVENT_NAME", "merge_group")], &payload);
    let repository = Repository::containing(&file, &Trust::default()).expect("a repository");
    let Base::None { reason } = repository.base(&plan.expect("a plan")).expect("no failure") else {
        panic!("a base");
    };
    assert!(reason.contains("submodule lib"), "{reason}");
}
