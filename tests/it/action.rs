//! The Action, its script and the hooks agree with each other, with this version and
//! with what the documents tell people to write.

use crate::support::{root, run, run_in};
use std::collections::BTreeSet;

const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Written for 0.4.0 and kept as it was.
const OLD_WORKFLOW: &str = "from-0.4.0.yml";

fn text(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// What follows each `before` up to the first character that `is_part` refuses.
fn after<'a>(text: &'a str, before: &str, is_part: fn(char) -> bool) -> Vec<&'a str> {
    text.split(before)
        .skip(1)
        .map(|rest| rest.split(|c| !is_part(c)).next().unwrap_or_default())
        .collect()
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || c == '_'
}

fn is_version(c: char) -> bool {
    c.is_ascii_digit() || c == '.'
}

/// The keys of one block of `action.yml`.
fn keys(block: &str) -> BTreeSet<String> {
    let action = text("action.yml");
    let start = format!("\n{block}:\n");
    let (_, body) = action.split_once(&start).expect("the block");
    body.lines()
        .take_while(|line| line.is_empty() || line.starts_with(' '))
        .filter_map(|line| line.strip_prefix("  ")?.strip_suffix(':'))
        .filter(|key| !key.starts_with(' '))
        .map(str::to_owned)
        .collect()
}

fn variable(input: &str) -> String {
    format!("INPUT_{}", input.to_uppercase().replace('-', "_"))
}

#[test]
fn manifest_names_this_version() {
    let manifest: serde_json::Value =
        serde_json::from_str(&text("dist/manifest.json")).expect("JSON");
    assert_eq!(manifest["version"], VERSION);
    assert!(
        manifest["releases"]
            .as_str()
            .is_some_and(|url| url.starts_with("https://"))
    );
    for (target, asset) in manifest["assets"].as_object().expect("assets") {
        let hash = asset["sha256"].as_str().expect("a hash");
        assert_eq!(hash.len(), 64, "{target}");
        assert!(hash.bytes().all(|b| b.is_ascii_hexdigit()), "{target}");
        assert!(asset["size"].as_u64().is_some_and(|size| size > 0));
        assert!(
            asset["name"]
                .as_str()
                .is_some_and(|name| { name == format!("mcp-cassette-{target}.gz") })
        );
    }
}

#[test]
fn documents_pin_the_action_and_the_hooks_at_this_version() {
    let mut documents = vec![
        "README.md".to_owned(),
        "docs/guide/ci.md".to_owned(),
        "docs/guide/pre-commit.md".to_owned(),
    ];
    for entry in std::fs::read_dir(root().join("examples/ci")).expect("a directory") {
        let name = entry.expect("an entry").file_name();
        let name = name.to_string_lossy();
        if name != OLD_WORKFLOW {
            documents.push(format!("examples/ci/{name}"));
        }
    }
    for document in documents {
        let text = text(&document);
        let mut tags = after(&text, "cheneeheng/mcp-cassette@v", is_version);
        tags.extend(after(&text, "rev: v", is_version));
        assert!(!tags.is_empty(), "{document} names no version");
        assert!(
            tags.iter().all(|tag| *tag == VERSION),
            "{document}: {tags:?}"
        );
    }
}

#[test]
fn documents_name_the_oldest_rust_that_builds_it() {
    let oldest = concat!("Rust ", env!("CARGO_PKG_RUST_VERSION"));
    for document in [
        "README.md",
        "docs/guide/getting-started.md",
        "docs/guide/pre-commit.md",
    ] {
        assert!(text(document).contains(oldest), "{document}: {oldest}");
    }
}

#[test]
fn changelog_is_about_this_version() {
    let changelog = text("CHANGELOG.md");
    let headings = after(&changelog, "\n## [", |c| c != ']');
    let released = headings.iter().find(|heading| **heading != "Unreleased");
    assert!(released.is_none_or(|heading| *heading == VERSION));
    assert!(!headings.is_empty());
}

#[test]
fn script_reads_exactly_the_inputs_of_the_action() {
    let script = text("dist/index.mjs");
    let read: BTreeSet<String> = ["input(\"", "is(\""]
        .iter()
        .flat_map(|call| after(&script, call, is_name))
        .map(|name| format!("INPUT_{name}"))
        .collect();
    let action = text("action.yml");
    let passed: BTreeSet<String> = after(&action, "        INPUT_", is_name)
        .into_iter()
        .map(|name| format!("INPUT_{name}"))
        .collect();
    assert_eq!(read, passed);

    let inputs = keys("inputs");
    assert_eq!(inputs.len(), 17, "{inputs:?}");
    for input in &inputs {
        let line = format!("{}: ${{{{ inputs.{input} }}}}", variable(input));
        // The second step of the Action itself decides about the upload.
        if input == "upload-report" {
            assert!(action.contains("inputs.upload-report != 'false'"));
        } else {
            assert!(action.contains(&line), "{line}");
        }
    }
    let inputs: BTreeSet<String> = inputs.iter().map(|input| variable(input)).collect();
    assert_eq!(
        passed.difference(&inputs).count(),
        0,
        "an input that nobody can set"
    );
}

#[test]
fn outputs_of_the_action_are_those_that_check_writes() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("output");
    let run = run_in(
        root(),
        &["check", "--base=none", "examples/cassettes/tools.mcp.json"],
        &[("GITHUB_OUTPUT", path.to_str().expect("UTF-8"))],
    );
    assert_eq!(run.code, 0, "{}", run.stderr);
    let written = std::fs::read_to_string(&path).expect("outputs");
    let written: BTreeSet<String> = written
        .lines()
        .filter_map(|line| Some(line.split_once('=')?.0.to_owned()))
        .collect();
    assert_eq!(keys("outputs"), written);
    let action = text("action.yml");
    for output in written {
        let value = format!("value: ${{{{ steps.check.outputs.{output} }}}}");
        assert!(action.contains(&value), "{value}");
    }
}

#[test]
fn script_is_short_has_no_dependency_and_starts_no_shell() {
    let script = text("dist/index.mjs");
    let lines = script.lines().count();
    assert!(lines <= 250, "{lines} lines");
    for module in after(&script, "} from \"", |c| c != '"') {
        assert!(module.starts_with("node:"), "{module}");
    }
    // Of this module, only what takes an array of arguments.
    assert!(script.contains("import { spawn, spawnSync } from \"node:child_process\";"));
    assert_eq!(script.matches("child_process").count(), 1);
    for forbidden in ["shell:", "eval(", "require(", "import("] {
        assert!(!script.contains(forbidden), "{forbidden}");
    }
}

#[test]
fn hooks_start_commands_that_exist() {
    let hooks = text(".pre-commit-hooks.yaml");
    let entries = after(&hooks, "entry: mcp-cassette ", |c| c != '\n');
    assert_eq!(entries.len(), 3);
    for entry in entries {
        let mut arguments: Vec<&str> = entry.split_whitespace().collect();
        arguments.push("--help");
        let run = run(&arguments);
        assert_eq!(run.code, 0, "{entry}: {}", run.stderr);
    }
}

/// pre-commit builds the root of the repository, with the newest dependencies that
/// `Cargo.toml` allows and the toolchain that is there.
#[test]
fn package_can_be_built_as_a_hook() {
    let package = text("Cargo.toml");
    assert!(package.starts_with("[package]"));
    assert!(package.contains("git2 = { version = \"="));
    assert!(!root().join("rust-toolchain.toml").exists());
    assert!(!root().join("rust-toolchain").exists());
}
