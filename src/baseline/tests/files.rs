//! Reading files of a base commit.

use super::super::error::{LinkProblem, NotAFile};
use super::{Base, BaselineError, Plan, Repo};
use crate::baseline::{BaseCommit, RepoPath, Repository, Trust};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

fn head<T>(repo: &Repo, look: impl FnOnce(&BaseCommit<'_>) -> T) -> T {
    let repository = repo.open();
    let Base::Commit(commit) = repository.base(&Plan::Head).expect("a base") else {
        panic!("no base");
    };
    look(&commit)
}

fn listed(repo: &Repo, below: &str) -> Vec<String> {
    let below = RepoPath::from_bytes(below);
    let files = head(repo, |commit| commit.files(&below, |_| true)).expect("a listing");
    files.iter().map(RepoPath::to_string).collect()
}

#[test]
fn a_file_has_its_committed_bytes_and_not_those_of_the_working_tree() {
    let repo = Repo::new();
    repo.git(&["config", "core.autocrlf", "true"]);
    repo.write(
        ".gitattributes",
        "* eol=crlf ident working-tree-encoding=UTF-16\n",
    );
    repo.write("t.mcp.json", "dirty\n");
    let text = repo.text("HEAD", "t.mcp.json").expect("readable");
    assert_eq!(text.as_deref(), Some("first\n"));
}

#[test]
fn a_path_without_an_entry_is_no_file() {
    let repo = Repo::new();
    for path in ["absent", "d/absent", "t.mcp.json/below"] {
        assert_eq!(repo.text("HEAD", path).expect("readable"), None, "{path}");
    }
}

#[test]
fn a_directory_or_submodule_in_place_of_a_file_is_an_error() {
    let library = Repo::new();
    let repo = Repo::unborn();
    repo.write("d/x", "x\n");
    repo.git(&["submodule", "add", "-q", &library.url(), "lib"]);
    repo.commit(&[]);
    for (path, expected) in [
        ("d", NotAFile::Directory),
        ("lib", NotAFile::Submodule),
        ("lib/t.mcp.json", NotAFile::Submodule),
    ] {
        let path = RepoPath::from_bytes(path);
        let error = head(&repo, |commit| commit.file(&path)).expect_err("refused");
        let BaselineError::NotAFile { what, .. } = &error else {
            panic!("{path}: {error}");
        };
        assert_eq!(*what, expected, "{path}");
    }
    assert_eq!(listed(&repo, ""), [".gitmodules", "d/x"]);
}

#[test]
fn links_are_followed_within_the_commit_only() {
    let repo = Repo::unborn();
    repo.write("real/t.mcp.json", "first\n");
    let link = |target: &str, path: &str| symlink(target, repo.root.join(path)).expect("a link");
    link("real/t.mcp.json", "file");
    link("real", "dir");
    link("../real/./t.mcp.json", "real/back");
    link("file", "chain");
    link("/etc/hostname", "absolute");
    link("../outside", "outside");
    link("real/absent", "dangling");
    link("file/below", "through");
    link("loop", "loop");
    repo.commit(&[]);
    let long = repo.root.join("long");
    std::fs::write(&long, "x/".repeat(1 << 16)).expect("a file");
    let blob = repo.git(&["hash-object", "-w", "long"]);
    std::fs::remove_file(long).expect("a file");
    repo.git(&[
        "update-index",
        "--add",
        "--cacheinfo",
        &format!("120000,{blob},long"),
    ]);
    repo.git(&["commit", "-q", "-m", "a commit"]);
    for path in ["file", "dir/t.mcp.json", "real/back", "dir/back", "chain"] {
        let path = RepoPath::from_bytes(path);
        let bytes = head(&repo, |commit| commit.file(&path)).expect("readable");
        assert_eq!(bytes.as_deref(), Some(&b"first\n"[..]), "{path}");
    }
    for (path, expected) in [
        ("absolute", LinkProblem::Outside),
        ("outside", LinkProblem::Outside),
        ("dangling", LinkProblem::Dangling),
        ("through", LinkProblem::Dangling),
        ("loop", LinkProblem::TooMany),
        ("long", LinkProblem::TooLong),
    ] {
        let path = RepoPath::from_bytes(path);
        let error = head(&repo, |commit| commit.file(&path)).expect_err("refused");
        let BaselineError::Link { problem, .. } = &error else {
            panic!("{path}: {error}");
        };
        assert_eq!(*problem, expected, "{path}");
    }
}

#[test]
fn any_name_that_a_file_can_have_is_read_and_listed() {
    let repo = Repo::unborn();
    let names: [&[u8]; 8] = [
        b"-rf",
        b"a b,c:d%25.json",
        b"line\nbreak\ttab",
        b"quote\"d 'x' \\",
        "é 日本".as_bytes(),
        // Only Linux lets a name be no Unicode.
        if cfg!(target_os = "linux") {
            b"bytes\xff\xfe"
        } else {
            b"bytes"
        },
        b":(glob)*",
        b"...",
    ];
    for name in names {
        let path = repo.root.join("d").join(std::ffi::OsStr::from_bytes(name));
        std::fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        std::fs::write(path, name).expect("a file");
    }
    repo.commit(&[]);
    let repository = repo.open();
    for name in names {
        let file = repo.root.join("d").join(std::ffi::OsStr::from_bytes(name));
        let path = repository.path_of(&file).expect("a path");
        assert_eq!(path.to_path().map(|path| repo.root.join(path)), Some(file));
        let bytes = head(&repo, |commit| commit.file(&path)).expect("readable");
        assert_eq!(bytes.as_deref(), Some(name));
    }
    let below = RepoPath::from_bytes("d");
    let files = head(&repo, |commit| commit.files(&below, |_| true)).expect("a listing");
    let mut expected = names.map(|name| below.child(name));
    expected.sort();
    assert_eq!(files, expected);
}

#[test]
fn a_listing_is_sorted_and_stays_below_its_directory() {
    let repo = Repo::unborn();
    for path in ["b/x", "a/y/z", "a/x", "a.x", "ab"] {
        repo.write(path, path);
    }
    repo.commit(&[]);
    assert_eq!(listed(&repo, ""), ["a.x", "a/x", "a/y/z", "ab", "b/x"]);
    assert_eq!(listed(&repo, "a"), ["a/x", "a/y/z"]);
    assert_eq!(listed(&repo, "absent"), [""; 0]);
    assert_eq!(listed(&repo, "ab"), [""; 0]);
    let wanted = |path: &RepoPath| path.file_name() == b"x";
    let files = head(&repo, |commit| commit.files(&RepoPath::root(), wanted));
    assert_eq!(files.expect("a listing").len(), 2);
}

#[test]
fn a_tree_that_contains_itself_over_and_over_ends() {
    let repo = Repo::new();
    // Ten to the seventh files in eight objects.
    let blob = repo.git(&["rev-parse", "HEAD:t.mcp.json"]);
    let mut entry = format!("100644 blob {blob}");
    for _ in 0..7 {
        let lines: String = (0..10).map(|n| format!("{entry}\tn{n}\n")).collect();
        repo.write("list", lines);
        let output = std::process::Command::new("sh")
            .args(["-c", "git mktree < list"])
            .current_dir(&repo.root)
            .output()
            .expect("it runs");
        let tree = String::from_utf8(output.stdout).expect("an id");
        entry = format!("040000 tree {}", tree.trim_end());
    }
    let tree = entry.rsplit(' ').next().expect("an id").to_owned();
    let commit = repo.git(&["commit-tree", &tree, "-m", "a bomb"]);
    repo.git(&["update-ref", "refs/heads/main", &commit]);
    let error = head(&repo, |commit| commit.files(&RepoPath::root(), |_| false));
    assert!(
        matches!(error, Err(BaselineError::TooMany { .. })),
        "{error:?}"
    );
}

#[test]
fn a_file_is_found_from_wherever_it_lies() {
    let repo = Repo::unborn();
    repo.commit(&[("a/b/t.mcp.json", "first\n")]);
    let tree = repo
        .folder
        .path()
        .canonicalize()
        .expect("a path")
        .join("tree");
    repo.git(&[
        "worktree",
        "add",
        "-q",
        &tree.display().to_string(),
        "-b",
        "other",
    ]);
    symlink(&repo.root, repo.folder.path().join("link")).expect("a link");
    for root in [&repo.root, &tree, &repo.folder.path().join("link")] {
        for path in [
            "a/b/t.mcp.json",
            "a/./b/../b/t.mcp.json",
            "a/b/absent",
            "gone/below/x",
        ] {
            let file = root.join(path);
            let repository = Repository::containing(&file, &Trust::default()).expect(path);
            assert_eq!(repository.root(), root.canonicalize().expect("a path"));
            let found = repository.path_of(&file).expect("a path");
            let plain = path.replace("./b/../", "");
            assert_eq!(found.as_bytes(), plain.as_bytes());
            let Base::Commit(commit) = repository.base(&Plan::Head).expect("a base") else {
                panic!("no base");
            };
            let there = commit.file(&found).expect("readable").is_some();
            assert_eq!(there, plain == "a/b/t.mcp.json");
        }
    }
    assert_eq!(
        repo.open().path_of(&repo.root).expect("a path"),
        RepoPath::root()
    );
}

#[test]
fn a_linked_cassette_has_the_place_of_the_link() {
    let (repo, other) = (Repo::new(), Repo::new());
    symlink(other.root.join("t.mcp.json"), repo.root.join("l.mcp.json")).expect("a link");
    let file = repo.root.join("l.mcp.json");
    let repository = Repository::containing(&file, &Trust::default()).expect("a repository");
    assert_eq!(repository.root(), repo.root);
    assert_eq!(
        repository.path_of(&file).expect("a path").as_bytes(),
        b"l.mcp.json"
    );
}

#[test]
fn a_directory_that_looks_like_a_repository_is_no_repository() {
    // A pull request can hold one, with a history and a working tree of its choosing.
    let repo = Repo::new();
    let inner = repo.root.join("cassettes");
    std::fs::create_dir(&inner).expect("a directory");
    let directory = inner.display().to_string();
    super::git(
        &repo.root,
        &["clone", "-q", "--bare", &repo.url(), &directory],
    );
    super::git(&inner, &["config", "core.bare", "false"]);
    super::git(&inner, &["config", "core.worktree", &directory]);
    std::fs::write(inner.join("t.mcp.json"), "x").expect("a file");
    let file = inner.join("t.mcp.json");
    let repository = Repository::containing(&file, &Trust::default()).expect("a repository");
    assert_eq!(repository.root(), repo.root);

    // Without the outer repository libgit2 finds it, so it is one that could be taken.
    std::fs::rename(repo.root.join(".git"), repo.folder.path().join("away")).expect("a move");
    let error = Repository::containing(&file, &Trust::default()).expect_err("refused");
    assert!(matches!(error, BaselineError::Bare(_)), "{error}");
}
