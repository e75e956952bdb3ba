//! Real, throwaway repositories, made by the `git` program.

mod events;
#[cfg(unix)]
mod files;
mod pairs;
mod refusals;
mod rows;

use super::git::canonical;
use super::id::CommitId;
use super::{Base, BaselineError, Environment, Plan, Repository, Trust, plan};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A repository in a directory that goes away with it.
struct Repo {
    folder: TempDir,
    root: PathBuf,
}

impl Repo {
    /// Empty, on a branch `main` that has no commit.
    fn unborn() -> Repo {
        let repo = Repo::folder();
        repo.git(&["init", "-q", "-b", "main", "."]);
        // As GitHub allows it.
        repo.git(&["config", "uploadpack.allowAnySHA1InWant", "true"]);
        repo.git(&["config", "uploadpack.allowFilter", "true"]);
        repo
    }

    /// A directory without a repository.
    fn folder() -> Repo {
        let folder = tempfile::tempdir().expect("a directory");
        let root = canonical(folder.path()).expect("a path").join("w");
        std::fs::create_dir(&root).expect("a directory");
        Repo { folder, root }
    }

    /// With one commit that holds `t.mcp.json`.
    fn new() -> Repo {
        let repo = Repo::unborn();
        repo.commit(&[("t.mcp.json", "first\n")]);
        repo
    }

    /// As `actions/checkout` does it: one ref of `self`, `depth` commits deep, detached.
    fn checkout(&self, depth: Option<usize>, reference: &str) -> Repo {
        let clone = Repo::folder();
        clone.git(&["init", "-q", "."]);
        clone.git(&["remote", "add", "origin", &self.url()]);
        let depth = depth.map(|depth| format!("--depth={depth}"));
        let mut fetch = vec!["fetch", "-q", "--no-tags"];
        fetch.extend(depth.as_deref());
        let spec = format!("+{reference}:refs/remotes/checked/out");
        let all = "+refs/heads/*:refs/remotes/origin/*";
        fetch.extend(["origin", &spec]);
        if depth.is_none() {
            fetch.push(all);
        }
        clone.git(&fetch);
        clone.git(&["checkout", "-q", "--detach", "refs/remotes/checked/out"]);
        clone
    }

    fn url(&self) -> String {
        let path = self.root.display().to_string().replace('\\', "/");
        let path = path.trim_start_matches('/');
        format!("file:///{path}")
    }

    fn git(&self, arguments: &[&str]) -> String {
        git(&self.root, arguments)
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.root.join(path);
        std::fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        std::fs::write(path, text).expect("a file");
    }

    /// Commits everything, with these files written before.
    fn commit(&self, files: &[(&str, &str)]) -> CommitId {
        for (path, text) in files {
            self.write(path, text);
        }
        self.git(&["add", "-A", "."]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "a commit"]);
        self.id("HEAD")
    }

    /// The merge commit that GitHub makes of a pull request: the tree of `head` on `base`.
    fn merge(&self, base: CommitId, head: CommitId) -> CommitId {
        let (base, tree) = (base.to_string(), format!("{head}^{{tree}}"));
        let id = self.git(&[
            "commit-tree",
            &tree,
            "-p",
            &base,
            "-p",
            &head.to_string(),
            "-m",
            "merge",
        ]);
        self.git(&["update-ref", "refs/pull/1/merge", &id]);
        CommitId::from_hex(&id).expect("an id")
    }

    fn id(&self, revision: &str) -> CommitId {
        CommitId::from_hex(&self.git(&["rev-parse", revision])).expect("an id")
    }

    fn open(&self) -> Repository {
        Repository::containing(&self.root, &Trust::default()).expect("a repository")
    }

    /// The base for `plan`, as its commit, or why there is none.
    fn base(&self, plan: &Plan) -> Result<Result<CommitId, String>, BaselineError> {
        let repository = self.open();
        Ok(match repository.base(plan)? {
            Base::Commit(commit) => Ok(commit.id()),
            Base::None { reason } => Err(reason),
        })
    }

    fn base_of_event(
        &self,
        variables: &[(&str, &str)],
        payload: &str,
    ) -> Result<Result<CommitId, String>, BaselineError> {
        self.base(&event_plan(variables, payload)?)
    }

    /// The text of `path` in the base that `--base revision` means.
    fn text(&self, revision: &str, path: &str) -> Result<Option<String>, BaselineError> {
        let repository = self.open();
        let path = repository.path_of(&self.root.join(path))?;
        let plan = Plan::Revision {
            revision: revision.to_owned(),
        };
        let Base::Commit(commit) = repository.base(&plan)? else {
            panic!("no base");
        };
        let bytes = commit.file(&path)?;
        Ok(bytes.map(|bytes| String::from_utf8(bytes).expect("text")))
    }
}

/// Runs git without the settings of whoever runs the tests, and gives its output.
fn git(directory: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("GIT_") {
            command.env_remove(name);
        }
    }
    let nowhere = directory.join("no-such-file");
    let output = command
        .current_dir(directory)
        .env("HOME", &nowhere)
        .env("XDG_CONFIG_HOME", &nowhere)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", &nowhere)
        .args(["-c", "user.name=A", "-c", "user.email=a@example.invalid"])
        .args(["-c", "protocol.file.allow=always", "-c", "safe.directory=*"])
        .args(["-c", "commit.gpgsign=false", "-c", "gc.auto=0"])
        .args(arguments)
        .output()
        .expect("git can be run");
    assert!(
        output.status.success(),
        "git {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout)
        .trim_end()
        .to_owned()
}

/// The variables of a run on GitHub Actions; a later one of the same name counts.
fn runner(variables: &[(&str, &str)]) -> Environment {
    let common = [
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_EVENT_PATH", "event.json"),
    ];
    environment(&[&common, variables].concat())
}

fn environment(variables: &[(&str, &str)]) -> Environment {
    Environment::from_variables(|name| {
        let found = variables.iter().rev().find(|(known, _)| *known == name);
        found.map(|(_, value)| value.into())
    })
}

fn event_plan(variables: &[(&str, &str)], payload: &str) -> Result<Plan, BaselineError> {
    plan(None, &runner(variables), |_| {
        Ok(payload.as_bytes().to_vec())
    })
}

/// The payload of a pull request to `main`, of which the base was `sha` some time ago.
fn pull_request(sha: CommitId) -> String {
    format!(
        r#"{{"pull_request": {{"base": {{"ref": "main", "sha": "{sha}"}}}},
            "repository": {{"default_branch": "main"}}}}"#
    )
}

fn push(before: &str) -> String {
    format!(r#"{{"before": "{before}", "repository": {{"default_branch": "main"}}}}"#)
}

const ZEROS: &str = "0000000000000000000000000000000000000000";
/// A commit that no repository has.
const UNKNOWN: &str = "1234567812345678123456781234567812345678";
