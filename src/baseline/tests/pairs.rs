//! Which file continues which.

use super::{Base, BaselineError, Plan, Repo};
use crate::baseline::{Pair, Pairing, RepoPath, Status};

/// Ten lines, of which the last says `word`.
fn lines(word: &str) -> String {
    format!(
        "{}{word}\n",
        "some line of a cassette\nand another one\nand a third\n".repeat(3)
    )
    .lines()
    .enumerate()
    .map(|(number, line)| format!("{number} {line}\n"))
    .collect()
}

/// Pairs everything below `c/` in HEAD with everything there in the working tree. The
/// server's name is what follows "server " in a text.
fn pairs(repo: &Repo) -> Result<Vec<(String, Status)>, BaselineError> {
    let repository = repo.open();
    let Base::Commit(base) = repository.base(&Plan::Head)? else {
        panic!("no base");
    };
    let old = base.files(&RepoPath::from_bytes("c"), |_| true)?;
    let mut new: Vec<RepoPath> = std::fs::read_dir(repo.root.join("c"))
        .expect("a directory")
        .map(|entry| {
            RepoPath::from_bytes("c").child(
                entry
                    .expect("an entry")
                    .file_name()
                    .to_string_lossy()
                    .as_bytes(),
            )
        })
        .collect();
    new.sort();
    new.reverse();
    let pairing = Pairing {
        old: &old,
        new: &new,
        read: &|path| std::fs::read(repo.root.join(path.to_path().expect("a path"))),
        size: &|path| {
            let path = repo.root.join(path.to_path().expect("a path"));
            Some(std::fs::metadata(path).ok()?.len())
        },
        server_name: &|bytes| {
            let text = std::str::from_utf8(bytes).ok()?;
            Some(
                text.strip_prefix("server ")?
                    .split_whitespace()
                    .next()?
                    .to_owned(),
            )
        },
    };
    let named = |Pair { path, status }| (path.to_string(), status);
    Ok(base.pair(&pairing)?.into_iter().map(named).collect())
}

fn from(path: &str) -> Status {
    let from = RepoPath::from_bytes(path);
    Status::Renamed { from }
}

fn expect(repo: &Repo, expected: &[(&str, Status)]) {
    let expected: Vec<_> = expected
        .iter()
        .map(|(p, s)| ((*p).to_owned(), s.clone()))
        .collect();
    assert_eq!(pairs(repo).expect("pairs"), expected);
}

fn repo(files: &[(&str, &str)]) -> Repo {
    let repo = Repo::unborn();
    repo.commit(files);
    repo
}

fn remove(repo: &Repo, path: &str) {
    std::fs::remove_file(repo.root.join(path)).expect("a file");
}

#[test]
fn a_file_is_added_modified_unchanged_or_deleted() {
    let repo = repo(&[
        ("c/same", "same\n"),
        ("c/edited", "old\n"),
        ("c/gone", "gone gone\n"),
    ]);
    repo.write("c/edited", "new\n");
    repo.write("c/new", "another thing\n");
    remove(&repo, "c/gone");
    expect(
        &repo,
        &[
            ("c/edited", Status::Modified),
            ("c/gone", Status::Deleted),
            ("c/new", Status::Added),
            ("c/same", Status::Unchanged),
        ],
    );
}

#[test]
fn ends_of_lines_are_no_change() {
    let repo = repo(&[
        ("c/lf", "a\nb\n"),
        ("c/moved", &lines("moved")),
        ("c/cr", "a\nb\n"),
    ]);
    repo.write("c/lf", "a\r\nb\r\n");
    repo.write("c/cr", "a\rb\n");
    repo.write("c/to", lines("moved").replace('\n', "\r\n"));
    remove(&repo, "c/moved");
    expect(
        &repo,
        &[
            ("c/cr", Status::Modified),
            ("c/lf", Status::Unchanged),
            ("c/to", from("c/moved")),
        ],
    );
}

#[test]
fn renames_are_followed_with_and_without_an_edit() {
    let repo = repo(&[("c/a", &lines("a")), ("c/b", "short, but the same\n")]);
    repo.write("c/x", lines("edited"));
    repo.write("c/y", "short, but the same\n");
    remove(&repo, "c/a");
    remove(&repo, "c/b");
    expect(&repo, &[("c/x", from("c/a")), ("c/y", from("c/b"))]);
}

#[test]
fn two_renames_at_once_each_find_their_own() {
    let body = |word: &str| lines(word).replace("line", word);
    let repo = repo(&[("c/a", &body("red")), ("c/b", &body("blue"))]);
    repo.write("c/x", body("blue").replace("third", "4th"));
    repo.write("c/y", body("red").replace("third", "4th"));
    remove(&repo, "c/a");
    remove(&repo, "c/b");
    expect(&repo, &[("c/x", from("c/b")), ("c/y", from("c/a"))]);
}

#[test]
fn of_equal_files_those_of_one_name_go_together_and_none_is_used_twice() {
    let repo = Repo::unborn();
    repo.commit(&[
        ("c/one/b", "equal\n"),
        ("c/two/a", "equal\n"),
        ("c/keep", "keep\n"),
    ]);
    for path in ["c/one/b", "c/two/a"] {
        remove(&repo, path);
    }
    for directory in ["c/one", "c/two"] {
        std::fs::remove_dir(repo.root.join(directory)).expect("an empty directory");
    }
    for path in ["c/a", "c/b", "c/c"] {
        repo.write(path, "equal\n");
    }
    expect(
        &repo,
        &[
            ("c/a", from("c/two/a")),
            ("c/b", from("c/one/b")),
            ("c/c", Status::Added),
            ("c/keep", Status::Unchanged),
        ],
    );
}

#[test]
fn a_copy_is_new() {
    let repo = repo(&[("c/a", &lines("a"))]);
    repo.write("c/copy", lines("a"));
    expect(
        &repo,
        &[("c/a", Status::Unchanged), ("c/copy", Status::Added)],
    );
}

#[test]
fn files_without_lines_in_common_are_paired_by_the_name_of_their_server() {
    let repo = repo(&[
        ("c/a", "server weather old text"),
        ("c/b", "server files with a text"),
    ]);
    repo.write("c/x", "server weather something else entirely");
    repo.write("c/y", "server other and this");
    remove(&repo, "c/a");
    remove(&repo, "c/b");
    expect(
        &repo,
        &[
            ("c/b", Status::Deleted),
            ("c/x", from("c/a")),
            ("c/y", Status::Added),
        ],
    );
}

#[test]
fn a_server_recorded_twice_is_no_reason_to_pair() {
    let repo = repo(&[
        ("c/a", "server weather one"),
        ("c/b", "server weather of another kind"),
    ]);
    repo.write("c/x", "server weather something else entirely");
    remove(&repo, "c/a");
    remove(&repo, "c/b");
    expect(
        &repo,
        &[
            ("c/a", Status::Deleted),
            ("c/b", Status::Deleted),
            ("c/x", Status::Added),
        ],
    );
}

#[test]
fn many_renames_are_all_followed() {
    const MANY: usize = 1200;
    // libgit2 gives up after a thousand sources unless told otherwise.
    let text = |number: usize, word: &str| {
        let own: String = (0..8)
            .map(|line| format!("{number} own line {line}\n"))
            .collect();
        format!("{own}{word}\n")
    };
    let repo = Repo::unborn();
    for number in 0..MANY {
        repo.write(&format!("c/old{number}"), text(number, "old"));
    }
    repo.commit(&[]);
    for number in 0..MANY {
        remove(&repo, &format!("c/old{number}"));
        repo.write(&format!("c/new{}", MANY - 1 - number), text(number, "new"));
    }
    let pairs = pairs(&repo).expect("pairs");
    assert_eq!(pairs.len(), MANY);
    for (path, status) in pairs {
        let number: usize = path["c/new".len()..].parse().expect("a number");
        assert_eq!(
            status,
            from(&format!("c/old{}", MANY - 1 - number)),
            "{path}"
        );
    }
}

#[test]
fn nothing_is_written_to_the_repository() {
    let repo = repo(&[("c/a", &lines("a"))]);
    remove(&repo, "c/a");
    repo.write("c/x", lines("edited"));
    let before = repo.git(&["count-objects", "-v"]);
    expect(&repo, &[("c/x", from("c/a"))]);
    assert_eq!(repo.git(&["count-objects", "-v"]), before);
}

#[test]
fn a_pointer_of_git_lfs_on_either_side_is_refused() {
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n";
    let checked_out = repo(&[("c/a", "first\n")]);
    checked_out.write("c/a", pointer);
    let committed = repo(&[("c/a", pointer)]);
    committed.write("c/a", "first\n");
    let both = repo(&[("c/a", pointer)]);
    let moved = repo(&[("c/a", pointer)]);
    remove(&moved, "c/a");
    moved.write("c/x", "first\n");
    for (name, repo) in [
        ("checked out", checked_out),
        ("committed", committed),
        ("both", both),
    ] {
        let found = pairs(&repo).expect(name);
        assert_eq!(found, [("c/a".to_owned(), Status::Unreadable)], "{name}");
    }
    let error = pairs(&moved).expect_err("which continues which is unknown");
    assert!(matches!(error, BaselineError::LfsPointer { .. }), "{error}");
    assert!(error.to_string().contains("lfs: true"), "{error}");
}

#[test]
fn content_that_was_not_fetched_fails_and_is_no_new_file() {
    let origin = Repo::unborn();
    origin.commit(&[("c/a", &lines("a")), ("c/b", "b\n")]);
    let first = origin.id("HEAD").to_string();
    origin.commit(&[("c/a", "edited\n")]);
    for moved in [false, true] {
        let clone = Repo::folder();
        clone.git(&["clone", "-q", "--filter=blob:none", &origin.url(), "."]);
        clone.git(&["update-ref", "--no-deref", "HEAD", &first]);
        if moved {
            remove(&clone, "c/a");
            clone.write("c/x", "elsewhere\n");
        }
        match pairs(&clone) {
            Ok(found) => {
                assert!(!moved, "{found:?}");
                let path = |path: &str| path.to_owned();
                let unreadable = (path("c/a"), Status::Unreadable);
                assert_eq!(found, [unreadable, (path("c/b"), Status::Unchanged)]);
            }
            Err(error) => {
                assert!(moved, "{error}");
                let missing = matches!(error, BaselineError::MissingBlob { .. });
                assert!(missing, "{error}");
            }
        }
    }
}

#[test]
fn a_file_that_cannot_be_read_hides_no_other() {
    let repo = repo(&[("c/a", "a\n")]);
    std::fs::create_dir(repo.root.join("c/folder")).expect("a directory");
    expect(
        &repo,
        &[("c/a", Status::Unchanged), ("c/folder", Status::Unreadable)],
    );
}

#[cfg(unix)]
#[test]
fn a_link_that_led_nowhere_can_be_deleted_and_a_file_in_its_place_fails() {
    let repo = Repo::unborn();
    std::fs::create_dir(repo.root.join("c")).expect("a directory");
    std::os::unix::fs::symlink("nowhere", repo.root.join("c/link")).expect("a link");
    repo.commit(&[]);
    remove(&repo, "c/link");
    repo.write("c/empty", "");
    expect(
        &repo,
        &[("c/empty", Status::Added), ("c/link", Status::Deleted)],
    );
    repo.write("c/link", "a text\n");
    expect(
        &repo,
        &[("c/empty", Status::Added), ("c/link", Status::Unreadable)],
    );
}

#[test]
fn similar_recordings_of_different_servers_are_no_rename() {
    let text = |server: &str| format!("server {server}\n{}", lines("x"));
    let repo = repo(&[("c/old", &text("a")), ("c/gone", &text("b"))]);
    remove(&repo, "c/old");
    remove(&repo, "c/gone");
    repo.write("c/new", format!("{}more\n", text("c")));
    repo.write("c/other", format!("{}more\n", text("b")));
    expect(
        &repo,
        &[
            ("c/new", Status::Added),
            ("c/old", Status::Deleted),
            ("c/other", from("c/gone")),
        ],
    );
}
