//! What cannot be compared is refused with its remedy, and never passes as "no baseline".

use super::{BaselineError, CommitId, Plan, Repo, UNKNOWN, git};
use crate::baseline::{Repository, Trust};
use std::path::Path;

fn refused(path: &Path) -> BaselineError {
    Repository::containing(path, &Trust::default()).expect_err("refused")
}

fn by_hand(repo: &Repo, revision: &str) -> BaselineError {
    let revision = revision.to_owned();
    repo.base(&Plan::Revision { revision })
        .expect_err("no base")
}

#[test]
fn an_unknown_revision_says_so() {
    let repo = Repo::new();
    let error = by_hand(&repo, "nowhere");
    assert!(
        error
            .to_string()
            .starts_with("unknown revision \"nowhere\""),
        "{error}"
    );
    assert!(error.to_string().contains("fetch it first"), "{error}");
    let head = repo.id("HEAD").to_string();
    repo.git(&["update-ref", "refs/remotes/origin/release", &head]);
    let error = by_hand(&repo, "release");
    assert!(
        error.to_string().contains("is \"origin/release\" meant?"),
        "{error}"
    );
}

#[test]
fn a_whole_sha_that_is_not_there_can_be_fetched() {
    let error = by_hand(&Repo::new(), UNKNOWN);
    assert_eq!(
        error.missing_commit(),
        CommitId::from_hex(UNKNOWN).map(|id| (id, false))
    );
    assert!(!error.to_string().contains("--depth"), "{error}");
}

#[test]
fn a_revision_that_is_no_commit_says_so() {
    let repo = Repo::new();
    for revision in [
        "HEAD:t.mcp.json",
        "HEAD^{tree}",
        "",
        "HEAD..HEAD",
        "a b",
        "\u{1}",
    ] {
        let error = by_hand(&repo, revision);
        assert!(
            matches!(
                error,
                BaselineError::BadRevision { .. } | BaselineError::UnknownRevision { .. }
            ),
            "{revision}: {error}"
        );
    }
    let error = by_hand(&repo, &"x".repeat(10_000));
    assert!(error.to_string().len() < 500, "{error}");
}

#[test]
fn an_abbreviation_of_two_commits_is_ambiguous() {
    let repo = Repo::new();
    // git takes 4 digits at least, and of 2000 commits two have those in common.
    let stream: String = (0..2000)
        .map(|n| format!("commit refs/heads/n{n}\ncommitter A <a> {n} +0000\ndata 0\n"))
        .collect();
    repo.write("stream", stream);
    let status = std::process::Command::new("git")
        .args(["fast-import", "--quiet"])
        .current_dir(&repo.root)
        .stdin(std::fs::File::open(repo.root.join("stream")).expect("a file"))
        .status();
    assert!(status.expect("it runs").success());
    let mut seen = std::collections::BTreeSet::new();
    let listed = repo.git(&["for-each-ref", "--format=%(objectname)"]);
    let ids: std::collections::BTreeSet<&str> = listed.lines().collect();
    let prefix = ids.into_iter().find(|id| !seen.insert(&id[..4]));
    let prefix = prefix.map(|id| id[..4].to_owned());
    let error = by_hand(&repo, &prefix.expect("two commits with one prefix"));
    assert!(error.to_string().contains("ambiguous"), "{error}");
}

#[test]
fn a_revision_by_hand_needs_a_commit_to_compare() {
    assert!(matches!(
        by_hand(&Repo::unborn(), "main"),
        BaselineError::UnknownRevision { .. }
    ));
    let repo = Repo::new();
    repo.git(&["checkout", "-q", "--orphan", "empty"]);
    let error = by_hand(&repo, "main");
    assert!(matches!(error, BaselineError::Unborn), "{error}");
}

#[test]
fn unrelated_and_shallow_histories_are_told_apart() {
    let repo = Repo::new();
    repo.git(&["checkout", "-q", "--orphan", "other"]);
    repo.commit(&[("t.mcp.json", "other\n")]);
    let error = by_hand(&repo, "main");
    assert!(matches!(error, BaselineError::Unrelated { .. }), "{error}");

    repo.git(&["checkout", "-q", "main"]);
    repo.git(&["checkout", "-q", "-b", "topic"]);
    repo.commit(&[("t.mcp.json", "topic\n")]);
    let clone = repo.checkout(Some(1), "refs/heads/topic");
    clone.git(&[
        "fetch",
        "-q",
        "--depth=1",
        "origin",
        "main:refs/remotes/origin/main",
    ]);
    let error = by_hand(&clone, "origin/main");
    assert!(matches!(error, BaselineError::Shallow { .. }), "{error}");
    assert!(error.to_string().contains("fetch-depth: 0"), "{error}");
}

#[test]
fn a_blob_that_was_not_fetched_is_no_new_file() {
    let repo = Repo::new();
    repo.commit(&[("t.mcp.json", "second\n")]);
    let clone = Repo::folder();
    let url = repo.url();
    clone.git(&["clone", "-q", "--filter=blob:none", &url, "."]);
    let error = clone.text("HEAD~1", "t.mcp.json").expect_err("no content");
    let BaselineError::MissingBlob { path, id } = &error else {
        panic!("{error}");
    };
    assert_eq!(path.as_bytes(), b"t.mcp.json");
    assert!(error.to_string().contains("partial clone"), "{error}");
    assert_eq!(clone.text("HEAD~1", "absent").expect("readable"), None);

    // The remedy that it names.
    clone.git(&["cat-file", "-p", &id.to_string()]);
    let text = clone.text("HEAD~1", "t.mcp.json").expect("readable");
    assert_eq!(text.as_deref(), Some("first\n"));
}

#[test]
fn a_tree_that_was_not_fetched_is_no_empty_directory() {
    let repo = Repo::new();
    repo.commit(&[("d/t.mcp.json", "second\n")]);
    repo.commit(&[("d/t.mcp.json", "third\n")]);
    let clone = Repo::folder();
    clone.git(&["clone", "-q", "--filter=tree:0", &repo.url(), "."]);
    let error = clone
        .text("HEAD~1", "d/t.mcp.json")
        .expect_err("no content");
    assert!(
        matches!(error, BaselineError::MissingTree { .. }),
        "{error}"
    );
}

#[cfg(unix)] // elsewhere objects are protected against being removed
#[test]
fn a_gap_in_the_history_is_damage_and_not_another_history() {
    let repo = Repo::new();
    repo.git(&["branch", "other"]);
    let gap = repo.commit(&[("t.mcp.json", "second\n")]).to_string();
    repo.commit(&[("t.mcp.json", "third\n")]);
    let object = repo
        .root
        .join(".git/objects")
        .join(&gap[..2])
        .join(&gap[2..]);
    std::fs::remove_file(&object).expect("a loose object");
    let error = by_hand(&repo, "other");
    assert!(matches!(error, BaselineError::Corrupt { .. }), "{error}");
}

#[cfg(unix)] // elsewhere objects are protected against being replaced
#[test]
fn a_damaged_object_is_an_error() {
    let repo = Repo::new();
    repo.commit(&[("t.mcp.json", "second\n")]);
    let blob = repo.git(&["rev-parse", "HEAD~1:t.mcp.json"]);
    let object = repo
        .root
        .join(".git/objects")
        .join(&blob[..2])
        .join(&blob[2..]);
    std::fs::remove_file(&object).expect("a loose object");
    std::fs::write(&object, "not zlib").expect("a file");
    let error = repo.text("HEAD~1", "t.mcp.json").expect_err("unreadable");
    assert!(matches!(error, BaselineError::Corrupt { .. }), "{error}");
    assert!(error.to_string().contains("git fsck"), "{error}");
}

#[test]
fn a_file_beyond_any_cassette_is_refused_by_its_size_alone() {
    let repo = Repo::new();
    let id = UNKNOWN;
    let object = repo.root.join(".git/objects").join(&id[..2]).join(&id[2..]);
    std::fs::create_dir_all(object.parent().expect("a directory")).expect("a directory");
    std::fs::write(&object, zlib(b"blob 4294967296\0")).expect("a file");
    repo.git(&[
        "update-index",
        "--add",
        "--cacheinfo",
        &format!("100644,{id},big.mcp.json"),
    ]);
    let tree = repo.git(&["write-tree", "--missing-ok"]);
    let commit = repo.git(&["commit-tree", &tree, "-m", "big"]);
    repo.git(&["update-ref", "refs/heads/main", &commit]);
    let error = repo.text("HEAD", "big.mcp.json").expect_err("refused");
    let BaselineError::TooLarge { size, .. } = error else {
        panic!("{error}");
    };
    assert_eq!(size, 1 << 32);
}

/// A zlib stream of one block that is stored as it is.
fn zlib(bytes: &[u8]) -> Vec<u8> {
    let length = u16::try_from(bytes.len()).expect("a short text");
    let (mut a, mut b) = (1_u32, 0_u32);
    for byte in bytes {
        a = (a + u32::from(*byte)) % 65_521;
        b = (b + a) % 65_521;
    }
    let parts: [&[u8]; 5] = [
        &[0x78, 0x01, 0x01],
        &length.to_le_bytes(),
        &(!length).to_le_bytes(),
        bytes,
        &(b << 16 | a).to_be_bytes(),
    ];
    parts.concat()
}

#[test]
fn a_pointer_of_git_lfs_is_no_content() {
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n";
    let repo = Repo::unborn();
    repo.commit(&[("t.mcp.json", pointer)]);
    let error = repo.text("HEAD", "t.mcp.json").expect_err("refused");
    assert!(
        error
            .to_string()
            .contains("is a Git LFS pointer in the base"),
        "{error}"
    );
    assert!(error.to_string().contains("lfs: true"), "{error}");
}

#[test]
fn a_place_without_a_repository_says_so() {
    let folder = Repo::folder();
    let error = refused(&folder.root.join("t.mcp.json"));
    assert!(matches!(error, BaselineError::NotARepository(_)), "{error}");
    assert!(error.to_string().contains("--base none"), "{error}");
}

#[test]
fn a_bare_repository_says_so() {
    let folder = Repo::folder();
    folder.git(&["init", "-q", "--bare", "."]);
    assert!(matches!(refused(&folder.root), BaselineError::Bare(_)));
    let folder = Repo::new();
    folder.git(&["config", "core.bare", "true"]);
    assert!(matches!(refused(&folder.root), BaselineError::Bare(_)));
}

#[test]
fn a_path_of_another_place_is_outside() {
    let (repo, other) = (Repo::new(), Repo::new());
    let error = repo
        .open()
        .path_of(&other.root.join("t.mcp.json"))
        .expect_err("outside");
    assert!(matches!(error, BaselineError::Outside { .. }), "{error}");
    let error = repo
        .open()
        .path_of(&repo.root.join("a/../../x/../../b"))
        .expect_err("outside");
    let expected = matches!(
        error,
        BaselineError::Outside { .. } | BaselineError::BadPath(_)
    );
    assert!(expected, "{error}");
}

#[test]
fn formats_that_are_not_read_are_named() {
    for (extension, value, expected) in [
        (
            "refStorage",
            "reftable",
            "git refs migrate --ref-format=files",
        ),
        ("objectFormat", "sha256", "the object format sha256"),
        (
            "partialClone",
            "origin",
            "extension extensions.partialclone",
        ),
        ("novel", "true", "extension extensions.novel"),
    ] {
        let repo = Repo::new();
        let config = repo.root.join(".git/config").display().to_string();
        for (key, value) in [
            ("core.repositoryFormatVersion", "1"),
            (&format!("extensions.{extension}"), value),
        ] {
            git(
                repo.folder.path(),
                &["config", "--file", &config, key, value],
            );
        }
        let error = refused(&repo.root.join("t.mcp.json"));
        assert!(error.to_string().contains(expected), "{extension}: {error}");
    }
}

#[test]
fn repositories_that_git_makes_in_other_formats_are_named() {
    let folder = Repo::folder();
    folder.git(&["init", "-q", "--object-format=sha256", "."]);
    assert!(matches!(
        refused(&folder.root),
        BaselineError::ObjectFormat { .. }
    ));
    let version = folder.git(&["version"]);
    let minor = version
        .split('.')
        .nth(1)
        .and_then(|text| text.parse::<u32>().ok());
    // Older ones cannot make one; the setting itself is tested above.
    if version.starts_with("git version 2.") && minor < Some(45) {
        return;
    }
    let folder = Repo::folder();
    folder.git(&["init", "-q", "--ref-format=reftable", "."]);
    assert!(matches!(refused(&folder.root), BaselineError::Reftable(_)));
}

#[test]
fn extensions_that_do_no_harm_are_read() {
    let repo = Repo::new();
    for (key, value) in [
        ("core.repositoryFormatVersion", "1"),
        ("extensions.worktreeConfig", "true"),
        ("extensions.preciousObjects", "true"),
    ] {
        repo.git(&["config", key, value]);
    }
    let text = repo.text("HEAD", "t.mcp.json").expect("readable");
    assert_eq!(text.as_deref(), Some("first\n"));
}
