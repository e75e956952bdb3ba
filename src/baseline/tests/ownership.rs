//! Repositories of another user. Git's settings come from the home directory, so these
//! tests run themselves again as another process with a home of its own.

use super::Repo;
use crate::baseline::{Repository, Trust};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the process below is told, and what it says.
const REPOSITORY: &str = "MCP_CASSETTE_TEST_REPOSITORY";
const WORKSPACE: &str = "MCP_CASSETTE_TEST_WORKSPACE";
const OPENED: &str = "the repository was opened";

#[test]
#[ignore = "the other process of the tests in this file"]
fn probe() {
    let path = std::env::var_os(REPOSITORY).expect("a repository");
    let workspace = std::env::var_os(WORKSPACE).map(PathBuf::from);
    match Repository::containing(Path::new(&path), &Trust { workspace }) {
        Ok(_) => println!("{OPENED}"),
        Err(error) => println!("{error}"),
    }
    // The switch is off for one repository and not for the next.
    if let Err(error) = Repository::containing(Path::new(&path), &Trust::default()) {
        println!("again: {error}");
    }
}

struct Foreign {
    repo: Repo,
    home: tempfile::TempDir,
}

impl Foreign {
    /// None on a machine where a tree cannot be given away.
    fn new(repo: Repo) -> Option<Foreign> {
        let home = tempfile::tempdir().expect("a directory");
        give_away(&repo.root).then_some(Foreign { repo, home })
    }

    fn open(&self, path: &Path, workspace: Option<&Path>, variables: &[(&str, &str)]) -> String {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command
            .args([
                "--exact",
                "baseline::tests::ownership::probe",
                "--ignored",
                "--nocapture",
            ])
            .env("HOME", self.home.path())
            .env("XDG_CONFIG_HOME", self.home.path().join("xdg"))
            .env(REPOSITORY, path)
            .envs(variables.iter().copied());
        if let Some(workspace) = workspace {
            command.env(WORKSPACE, workspace);
        }
        let output = command.output().expect("it runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{text}");
        assert!(text.contains("1 passed"), "{text}");
        text
    }

    fn safe_directory(&self, value: &str) {
        let text = format!("[safe]\n\tdirectory = {value}\n");
        std::fs::write(self.home.path().join(".gitconfig"), text).expect("a file");
    }
}

/// Makes the tree somebody else's, which takes a superuser: this process, or `sudo`
/// where it asks for nothing. The runners of CI have that, so there it may not fail.
fn give_away(path: &Path) -> bool {
    let run = |program: &str, arguments: &[&str]| {
        let status = Command::new(program).args(arguments).arg(path).status();
        status.is_ok_and(|status| status.success())
    };
    let given = run("chown", &["-R", "4321"]) || run("sudo", &["-n", "chown", "-R", "4321"]);
    if !given {
        assert!(
            std::env::var_os("CI").is_none(),
            "CI must be able to change owners"
        );
        println!("not tested: this takes root, or sudo without a password");
    }
    given
}

#[test]
fn another_users_repository_is_refused_with_the_line_that_helps() {
    let Some(foreign) = Foreign::new(Repo::new()) else {
        return;
    };
    let root = &foreign.repo.root;
    let line = format!(
        "git config --global --add safe.directory {}",
        root.display()
    );
    for (name, variables) in [
        ("no setting", &[][..]),
        (
            "a setting that only git reads",
            &[
                ("GIT_CONFIG_COUNT", "1"),
                ("GIT_CONFIG_KEY_0", "safe.directory"),
                ("GIT_CONFIG_VALUE_0", "*"),
            ],
        ),
    ] {
        let text = foreign.open(&root.join("t.mcp.json"), None, variables);
        assert!(text.contains(&format!("`{line}`")), "{name}: {text}");
        assert!(!text.contains(OPENED), "{name}: {text}");
    }
}

#[test]
fn exactly_the_named_path_is_safe() {
    let Some(foreign) = Foreign::new(Repo::new()) else {
        return;
    };
    let root = foreign.repo.root.display().to_string();
    for (value, opens) in [
        (root.clone(), true),
        ("*".to_owned(), true),
        (format!("{root}/"), false),
        (format!("{root}/*"), false),
    ] {
        foreign.safe_directory(&value);
        let text = foreign.open(&foreign.repo.root, None, &[]);
        assert_eq!(text.contains(OPENED), opens, "{value}: {text}");
    }
}

#[test]
fn inside_the_workspace_of_a_runner_the_owner_does_not_matter() {
    let Some(foreign) = Foreign::new(Repo::new()) else {
        return;
    };
    let root = &foreign.repo.root;
    for workspace in [root.as_path(), foreign.repo.folder.path()] {
        let text = foreign.open(&root.join("t.mcp.json"), Some(workspace), &[]);
        assert!(text.contains(OPENED), "{text}");
        assert!(text.contains("again: "), "the check stayed off: {text}");
    }
    let elsewhere = tempfile::tempdir().expect("a directory");
    let text = foreign.open(root, Some(elsewhere.path()), &[]);
    assert!(!text.contains(OPENED), "{text}");
    let text = foreign.open(root, Some(&root.join("below")), &[]);
    assert!(!text.contains(OPENED), "{text}");
}

#[test]
fn a_worktree_in_the_workspace_of_a_repository_elsewhere_is_checked() {
    let repo = Repo::new();
    let outside = tempfile::tempdir().expect("a directory");
    let tree = outside.path().canonicalize().expect("a path").join("tree");
    repo.git(&[
        "worktree",
        "add",
        "-q",
        &tree.display().to_string(),
        "-b",
        "other",
    ]);
    let Some(foreign) = Foreign::new(repo) else {
        return;
    };
    let text = foreign.open(&tree, Some(&tree), &[]);
    assert!(!text.contains(OPENED), "{text}");
    assert!(text.contains("safe.directory"), "{text}");
    // And the other way round.
    let text = foreign.open(&tree, Some(&foreign.repo.root), &[]);
    assert!(!text.contains(OPENED), "{text}");
}

#[test]
fn the_line_can_be_pasted_whatever_the_path() {
    let Some(foreign) = Foreign::new(Repo::new()) else {
        return;
    };
    let odd = foreign.repo.root.with_file_name("it's a $(dir)");
    std::fs::rename(&foreign.repo.root, &odd).expect("a move");
    let text = foreign.open(&odd, None, &[]);
    let parent = odd.parent().expect("a parent").display();
    let line = format!("safe.directory '{parent}/it'\\''s a $(dir)'`");
    assert!(text.contains(&line), "{text}");
}
