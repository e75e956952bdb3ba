//! Configuration files as `lint` sees them: which one is used, what is refused,
//! and what flags do to it.

use crate::support::{Run, run_in, session, write};
use std::path::Path;
use tempfile::{TempDir, tempdir};

/// A repository with a cassette without a manifest, so that a configuration that
/// requires a redaction profile shows in the exit code.
fn repository() -> TempDir {
    let folder = tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("tests/deep")).unwrap();
    std::fs::create_dir(folder.path().join(".git")).unwrap();
    write(folder.path(), "c.json", session("[]", &[]));
    folder
}

const REQUIRE: &str = "[lint]\nrequire_redaction = \"team\"\n";
const REQUIRE_SHARED: &str = "[tool.mcp_cassette.lint]\nrequire_redaction = \"team\"\n";

fn lint_in(folder: &Path, flags: &[&str]) -> Run {
    let cassette = if folder.join("c.json").exists() {
        "c.json"
    } else {
        "../../c.json"
    };
    run_in(folder, &[&["lint", cassette], flags].concat(), &[])
}

fn assert_refused(folder: &Path, expected: &str) {
    let run = lint_in(folder, &[]);
    assert_eq!((run.code, &*run.stdout), (2, ""), "{}", run.stderr);
    assert_eq!(run.stderr, format!("mcp-cassette lint: {expected}\n"));
}

#[test]
fn either_file_is_found_from_a_subdirectory() {
    for (name, content) in [
        ("mcp-cassette.toml", REQUIRE),
        ("pyproject.toml", REQUIRE_SHARED),
    ] {
        let folder = repository();
        write(folder.path(), name, content);
        assert_eq!(lint_in(folder.path(), &[]).code, 4, "{name}");
        assert_eq!(
            lint_in(&folder.path().join("tests/deep"), &[]).code,
            4,
            "{name}"
        );
        assert_eq!(lint_in(folder.path(), &["--no-config"]).code, 0, "{name}");
    }
}

#[test]
fn the_search_ends_at_the_root_of_the_repository() {
    let folder = repository();
    write(folder.path(), "mcp-cassette.toml", REQUIRE);
    let inner = folder.path().join("tests/deep");
    write(&inner, ".git", "gitdir: elsewhere\n");
    assert_eq!(lint_in(&inner, &[]).code, 0);
}

#[test]
fn the_nearest_file_wins_and_in_one_directory_our_own() {
    let folder = repository();
    let deep = folder.path().join("tests/deep");
    write(folder.path(), "mcp-cassette.toml", REQUIRE);
    write(&folder.path().join("tests"), "mcp-cassette.toml", "");
    assert_eq!(lint_in(&deep, &[]).code, 0);
    write(&deep, "pyproject.toml", REQUIRE_SHARED);
    assert_eq!(lint_in(&deep, &[]).code, 4);
    write(&deep, "mcp-cassette.toml", "");
    assert_eq!(lint_in(&deep, &[]).code, 0);
}

#[test]
fn a_pyproject_that_says_nothing_about_us_is_passed_over() {
    let folder = repository();
    let deep = folder.path().join("tests/deep");
    write(folder.path(), "mcp-cassette.toml", REQUIRE);
    for other in [
        "[tool.black]\nline-length = 88\n",
        "this is ][ not toml",
        "",
    ] {
        write(&deep, "pyproject.toml", other);
        assert_eq!(lint_in(&deep, &[]).code, 4, "{other:?}");
    }
}

#[test]
fn a_broken_pyproject_that_mentions_us_is_an_error() {
    let folder = repository();
    write(
        folder.path(),
        "pyproject.toml",
        "[tool.mcp_cassette.lint]\nselect = [\n",
    );
    let run = lint_in(folder.path(), &[]);
    assert_eq!(run.code, 2);
    let expected = "mcp-cassette lint: pyproject.toml:";
    assert!(run.stderr.starts_with(expected), "{}", run.stderr);
    assert!(run.stderr.contains("is not valid TOML"), "{}", run.stderr);
}

#[test]
fn what_the_file_may_not_say_is_refused_with_its_line() {
    let folder = repository();
    for (content, expected) in [
        (
            "[lint]\n\nfail_onn = \"error\"\n",
            "mcp-cassette.toml:3: [lint] has no key \"fail_onn\" (did you mean \"fail_on\"?); \
             its keys are pattern_packs, select, ignore, fail_on, require_redaction, entropy",
        ),
        (
            "lints = 1\n",
            "mcp-cassette.toml:1: the file has no key \"lints\" (did you mean \"lint\"?); \
             its keys are lint, check, accept",
        ),
        (
            "[lint]\nfail_on = \"sometimes\"\n",
            "mcp-cassette.toml:2: [lint] \"fail_on\" is \"sometimes\", \
             it must be \"error\" or \"warning\"",
        ),
        (
            "[lint]\nselect = \"R001\"\n",
            "mcp-cassette.toml:2: [lint] \"select\" is \"R001\", it must be an array of strings",
        ),
        (
            "[lint.entropy]\nmin_bits = 0\n",
            "mcp-cassette.toml:2: [lint.entropy] \"min_bits\" is out of range: \
             min_bits must be a number above 0 (bits a character)",
        ),
        (
            "[check]\nchecks = [\"lint\", \"dif\"]\n",
            "mcp-cassette.toml:2: [check] \"checks\" is \"dif\", \
             it must be \"lint\" or \"diff\" or \"redaction\"",
        ),
        (
            "[[accept]]\nrule = \"R001\"\nfingerprint = \"v1:0123456789abcdef\"\n",
            "mcp-cassette.toml:1: [[accept]] has no \"reason\", which every entry needs",
        ),
    ] {
        write(folder.path(), "mcp-cassette.toml", content);
        assert_refused(folder.path(), expected);
    }
}

#[test]
fn a_rule_that_nobody_has_is_named_with_its_place() {
    let folder = repository();
    write(
        folder.path(),
        "mcp-cassette.toml",
        "[lint]\nselect = [\"R0001\"]\n",
    );
    let run = lint_in(folder.path(), &[]);
    assert_eq!(run.code, 2);
    let expected = "unknown rule id 'R0001' in select in mcp-cassette.toml:2";
    assert!(run.stderr.contains(expected), "{}", run.stderr);
    assert_eq!(lint_in(folder.path(), &["--select", "R001"]).code, 0);

    let accept = "[[accept]]\nrule = \"R0001\"\nfingerprint = \"v1:0123456789abcdef\"\n\
                  reason = \"looked at\"\n";
    write(folder.path(), "mcp-cassette.toml", accept);
    let run = lint_in(folder.path(), &[]);
    assert_eq!(run.code, 2);
    let expected = "mcp-cassette.toml:1: unknown rule id 'R0001' in [[accept]]";
    assert!(run.stderr.contains(expected), "{}", run.stderr);
}

#[test]
fn a_flag_replaces_what_the_file_says() {
    let folder = repository();
    write(folder.path(), "mcp-cassette.toml", REQUIRE);
    let run = lint_in(folder.path(), &["--require-redaction", "other"]);
    assert_eq!(run.code, 4);
    assert!(
        run.stderr.contains("--redact-profile other"),
        "{}",
        run.stderr
    );
    assert!(!run.stderr.contains("team"), "{}", run.stderr);
}
