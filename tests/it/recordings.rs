//! Every recording that is at hand: the examples, the fixtures, the recordings of real servers
//! by 0.4.0 where they lie beside the checkout, and whatever folder
//! `MCP_CASSETTE_RECORDINGS` names (`.ci/real-servers/record` fills one).

use crate::support::root;
use mcp_cassette::Cassette;
use std::path::{Path, PathBuf};

fn recordings() -> Vec<PathBuf> {
    let mut folders = vec![root().join("examples/cassettes")];
    let beside = root().join("../shared/cassettes/recorded-by-0.4.0");
    folders.extend(beside.is_dir().then_some(beside));
    folders.extend(std::env::var_os("MCP_CASSETTE_RECORDINGS").map(PathBuf::from));
    let mut files: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| cassettes_in(folder))
        .collect();
    files.extend(rule_fixtures());
    assert!(files.len() > 50, "found only {} recordings", files.len());
    files
}

fn cassettes_in(folder: &Path) -> Vec<PathBuf> {
    let entries =
        std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.to_string_lossy().ends_with(".mcp.json"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "{} holds no cassettes", folder.display());
    files
}

fn rule_fixtures() -> Vec<PathBuf> {
    let rules = std::fs::read_dir(root().join("tests/fixtures/rules")).expect("the fixtures");
    let folders = rules
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.is_dir());
    folders.flat_map(|folder| cassettes_in(&folder)).collect()
}

/// The JSON tokens of a text: strings whole, everything else up to a delimiter.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let end = match first {
            '"' => string_end(rest),
            '{' | '}' | '[' | ']' | ',' | ':' => 1,
            _ => rest
                .find(|c: char| c.is_whitespace() || ",:{}[]\"".contains(c))
                .unwrap_or(rest.len()),
        };
        let (token, more) = rest.split_at(end);
        tokens.push(token);
        rest = more.trim_start();
    }
    tokens
}

fn string_end(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[test]
fn saving_keeps_the_tokens_of_every_payload() {
    for path in recordings() {
        let loaded = Cassette::load(&path).unwrap_or_else(|error| panic!("{error}"));
        let saved = Cassette::parse("saved", loaded.to_json().into_bytes())
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert_eq!(loaded.messages().len(), saved.messages().len());
        for (before, after) in loaded.messages().zip(saved.messages()) {
            assert_eq!(
                tokens(before.payload()),
                tokens(after.payload()),
                "{}",
                path.display()
            );
        }
    }
}

#[test]
fn what_0_4_0_or_the_examples_wrote_is_saved_byte_for_byte() {
    for path in recordings()
        .iter()
        .filter(|path| !path.starts_with(root().join("tests")))
    {
        let text = std::fs::read_to_string(path).expect("a file");
        let cassette = Cassette::load(path).expect("a cassette");
        assert!(
            cassette.to_json() == text,
            "{} is saved differently",
            path.display()
        );
    }
}

#[test]
fn every_cassette_of_the_repository_is_valid_against_the_schema() {
    let schema =
        std::fs::read_to_string(root().join("docs/cassette.schema.json")).expect("the schema");
    let schema = serde_json::from_str(&schema).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    for path in recordings() {
        let text = std::fs::read_to_string(&path).expect("a file");
        // A value that serde_json's tree cannot hold is beside the point of the schema.
        let Ok(document) = serde_json::from_str(&text) else {
            assert!(path.starts_with(root().join("tests")), "{}", path.display());
            continue;
        };
        if let Err(error) = validator.validate(&document) {
            panic!("{}: {error}", path.display());
        }
    }
    let wrong = serde_json::json!({"format_version": 3, "messages": [{"sender": "nobody"}]});
    assert!(validator.validate(&wrong).is_err());
}

#[test]
fn a_save_replaces_a_file_whole_follows_links_and_keeps_its_mode() {
    let folder = tempfile::tempdir().expect("a folder");
    let cassette = Cassette::load(crate::support::example("tools")).expect("a cassette");
    let target = folder.path().join("real.mcp.json");
    std::fs::write(&target, "old").expect("a file");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(&target, std::fs::Permissions::from_mode(0o600)).expect("a mode");
        let link = folder.path().join("link.mcp.json");
        std::os::unix::fs::symlink("real.mcp.json", &link).expect("a link");
        cassette.save(&link).expect("saved");
        assert!(link.is_symlink());
        let mode = std::fs::metadata(&target)
            .expect("a file")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    cassette.save(&target).expect("saved");
    assert_eq!(
        std::fs::read_to_string(&target).expect("a file"),
        cassette.to_json()
    );
    let missing = folder.path().join("absent/c.mcp.json");
    assert!(cassette.save(&missing).is_err());
    let left: Vec<_> = std::fs::read_dir(folder.path())
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name())
        .filter(|name| name.to_string_lossy().contains(".tmp"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}
