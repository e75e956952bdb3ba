//! What a baseline from git costs: `cargo bench --bench gate`.
//!
//! `check` with a base is compared with `lint` of the same files, on 200 cassettes of
//! 100 KB in a repository with 1,000 commits and on one of 100 MB. In every cassette one
//! tool has another description than in the base, so that nothing can be skipped.
#![expect(clippy::print_stdout, reason = "the table is what a benchmark is for")]
#![expect(clippy::expect_used, reason = "a benchmark that cannot run must stop")]

mod common;

use common::{Contestant, Language, cassette, measure, shown, table};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const COMMITS: usize = 1_000;

fn main() {
    compare("200 cassettes of 100 KB, 1,000 commits", 200, 100_000, 11);
    compare("one cassette of 100 MB, 1,000 commits", 1, 100_000_000, 5);
}

fn compare(title: &str, files: usize, bytes: usize, rounds: usize) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let repository = repository(folder.path(), files, bytes);
    let paths: Vec<String> = (0..files).map(name).collect();
    let in_repository = |arguments: &[&str], paths: &[String]| {
        let mut command = vec![
            "env".to_owned(),
            "--chdir".to_owned(),
            shown(&repository),
            env!("CARGO_BIN_EXE_mcp-cassette").to_owned(),
        ];
        command.extend(arguments.iter().map(|argument| (*argument).to_owned()));
        command.extend_from_slice(paths);
        command
    };
    let contestants = [
        Contestant::new("lint", in_repository(&["lint", "--no-config"], &paths)),
        Contestant::new(
            "check --checks lint --base none",
            in_repository(&["check", "--checks", "lint", "--base", "none"], &[]),
        ),
        Contestant::new(
            "check --checks lint --base main",
            in_repository(&["check", "--checks", "lint", "--base", "main"], &[]),
        ),
        Contestant::new(
            "check --base main (lint, diff, redaction)",
            in_repository(&["check", "--base", "main"], &[]),
        ),
        Contestant::new(
            "redaction-check",
            in_repository(&["redaction-check"], &paths),
        ),
    ];
    table(title, &contestants, &measure(&contestants, rounds));
}

fn name(index: usize) -> String {
    format!("tests/cassettes/{index:03}.mcp.json")
}

/// A repository whose commits each touch a file, with cassettes in the first of them
/// and changed ones in the working tree.
fn repository(folder: &Path, files: usize, bytes: usize) -> PathBuf {
    let root = folder.join("repository");
    git(folder, &["init", "-q", "-b", "main", "repository"]);
    let text = cassette(bytes, Language::English);
    let changed = text.replacen("Adds", "Sums", 1);
    assert_ne!(text, changed, "there is a word to change");
    let mut import = Command::new("git")
        .args(["fast-import", "--quiet"])
        .current_dir(&root)
        .stdin(Stdio::piped())
        .spawn()
        .expect("git runs");
    let mut stream = import.stdin.take().expect("a pipe");
    for commit in 0..COMMITS {
        let head = format!(
            "commit refs/heads/main\ncommitter a <a@example.org> {} +0000\ndata 1\n.\n",
            1_700_000_000 + commit
        );
        let mut body = format!(
            "M 644 inline log/{}\ndata 2\n{}\n",
            commit % 50,
            commit % 10
        );
        if commit == 0 {
            for index in 0..files {
                let name = name(index);
                body.push_str(&format!(
                    "M 644 inline {name}\ndata {}\n{text}\n",
                    text.len()
                ));
            }
        }
        stream
            .write_all((head + &body + "\n").as_bytes())
            .expect("git reads");
    }
    drop(stream);
    assert!(import.wait().expect("git ends").success());
    git(&root, &["reset", "-q", "--hard", "main"]);
    git(&root, &["gc", "-q"]);
    for index in 0..files {
        std::fs::write(root.join(name(index)), &changed).expect("a writable folder");
    }
    root
}

fn git(folder: &Path, arguments: &[&str]) {
    let status = Command::new("git")
        .args(arguments)
        .current_dir(folder)
        .status();
    assert!(status.expect("git runs").success(), "git {arguments:?}");
}
