//! What happens to a command line that is wrong, odd or interrupted.

use crate::support::{command, finish, run, run_in, session, write};
use std::path::Path;
use std::process::Stdio;
use tempfile::{TempDir, tempdir};

/// A folder with the cassettes `a.json` and `b.json`, both without a manifest.
fn folder() -> TempDir {
    let folder = tempdir().unwrap();
    std::fs::create_dir(folder.path().join(".git")).unwrap();
    for name in ["a.json", "b.json"] {
        write(folder.path(), name, session("[]", &[]));
    }
    folder
}

/// Every line of an error either says who speaks or belongs to the line above it.
fn assert_refused(folder: &Path, arguments: &[&str], prefix: &str, fragment: &str) {
    let run = run_in(folder, arguments, &[]);
    assert_eq!(run.code, 2, "{arguments:?}: {}", run.stderr);
    assert_eq!(run.stdout, "", "{arguments:?}");
    assert!(
        run.stderr.contains(fragment),
        "{arguments:?}: {}",
        run.stderr
    );
    for (index, line) in run.stderr.lines().enumerate() {
        let belongs = if index == 0 { prefix } else { "  " };
        assert!(line.starts_with(belongs), "{arguments:?}: {}", run.stderr);
    }
}

#[test]
fn wrong_usage_exits_2_and_says_which_command_speaks() {
    let folder = folder();
    for (arguments, fragment) in [
        (&["lint"] as &[&str], "<CASSETTE>"),
        (&["lint", "a.json", "--bogus"], "'--bogus'"),
        (&["lint", "a.json", "--fail-on", "note"], "error, warning"),
        (
            &["lint", "a.json", "--format", "xml"],
            "full, text, json, github",
        ),
        (&["lint", "a.json", "--output", "xml"], "full, text, json"),
        (&["lint", "a.json", "--output", "json="], "no file name"),
        (
            &["lint", "a.json", "--output", "text", "--format", "json"],
            "two formats",
        ),
        (
            &["lint", "a.json", "--format", "full", "--annotate", "github"],
            "two formats",
        ),
        (
            &["lint", "a.json", "--output", "text=x", "--output", "json=x"],
            "both go to x",
        ),
        (
            &["lint", "a.json", "b.json", "--baseline", "a.json"],
            "--baseline compares one cassette",
        ),
        (&["lint", "a.json", "--baseline", "none.json"], "none.json"),
        (&["lint", "a.json", "--entropy-min-bits", "0"], "min_bits"),
        (&["lint", "a.json", "--entropy-min-bits", "nan"], "min_bits"),
        (&["lint", "a.json", "--entropy-min-bits", "inf"], "min_bits"),
        (&["lint", "a.json", "--entropy-min-bits=-1"], "min_bits"),
        (
            &["lint", "a.json", "--entropy-min-length", "0"],
            "min_length",
        ),
        (
            &["lint", "a.json", "--entropy-min-length", "x"],
            "min_length",
        ),
        (&["lint", "a.json", "-q", "-v"], "not allowed with argument"),
    ] {
        assert_refused(folder.path(), arguments, "mcp-cassette lint: ", fragment);
    }
    let diff = "mcp-cassette diff: ";
    assert_refused(
        folder.path(),
        &["diff", "a.json"],
        diff,
        "two cassettes are compared",
    );
    assert_refused(folder.path(), &["diff", "x.json", "a.json"], diff, "x.json");
    let explain = "mcp-cassette explain: ";
    assert_refused(folder.path(), &["explain", "R0001"], explain, "'R0001'");
    assert_refused(
        folder.path(),
        &["completions", "x"],
        "mcp-cassette completions: ",
        "bash",
    );
}

#[test]
fn a_server_command_without_its_separator_is_told_where_it_goes() {
    let folder = folder();
    for (arguments, prefix, fragment) in [
        (
            &["record", "--cassette", "c.json", "npx", "-y", "a-server"] as &[&str],
            "mcp-cassette record: ",
            "mcp-cassette record --cassette PATH -- npx ...",
        ),
        (
            &["serve", "a.json", "--new-episodes", "npx", "a-server"],
            "mcp-cassette serve: ",
            "mcp-cassette serve CASSETTE --new-episodes -- npx ...",
        ),
        (
            &["man", "frob"],
            "mcp-cassette man: ",
            "record, serve, check",
        ),
    ] {
        assert_refused(folder.path(), arguments, prefix, fragment);
    }
}

#[test]
fn without_a_command_there_is_an_error_and_help() {
    let folder = folder();
    assert_refused(folder.path(), &[], "mcp-cassette: ", "inspect");
    assert_refused(folder.path(), &["frob"], "mcp-cassette: ", "'frob'");
}

#[test]
fn an_argument_cannot_begin_a_line_of_its_own() {
    let folder = folder();
    for odd in ["--x\n::error::y", "--x\r::error::y", "--x##[error]y"] {
        let run = run_in(folder.path(), &["lint", "a.json", odd], &[]);
        assert_eq!(run.code, 2);
        let spoken = run
            .stderr
            .lines()
            .any(|line| line.trim_start().starts_with("::"));
        assert!(!spoken && !run.stderr.contains("##["), "{}", run.stderr);
        assert!(!run.stderr.contains('\r'), "{}", run.stderr);
    }
}

#[test]
fn unknown_rule_ids_are_quoted_with_the_valid_ones() {
    let folder = folder();
    for (flags, unknown) in [
        (&["--select", "R0001"] as &[&str], "'R0001' in --select"),
        (&["--ignore", "r005"], "'r005' in --ignore"),
        (&["--select", "R001", "--select", "R0001"], "'R0001'"),
    ] {
        let run = run_in(folder.path(), &[&["lint", "a.json"], flags].concat(), &[]);
        assert_eq!(run.code, 2);
        assert!(run.stderr.contains(unknown), "{}", run.stderr);
        assert!(run.stderr.contains("R001, R"), "{}", run.stderr);
        assert!(!run.stderr.contains("'R001'"), "{}", run.stderr);
    }
}

#[test]
fn the_help_of_the_program_fits_a_screen() {
    for flag in ["-h", "--help"] {
        let help = run(&[flag]);
        assert_eq!(help.code, 0);
        let lines: Vec<&str> = help.stdout.lines().collect();
        assert!(lines.len() <= 24, "{}", help.stdout);
        assert!(
            lines.iter().all(|line| line.chars().count() <= 80),
            "{}",
            help.stdout
        );
        for command in ["record --cassette", "serve a.mcp.json", "check --base"] {
            assert!(
                help.stdout.contains(&format!("mcp-cassette {command}")),
                "{}",
                help.stdout
            );
        }
    }
}

#[test]
fn every_command_has_a_man_page() {
    let program = run(&["man"]);
    assert_eq!(program.code, 0, "{}", program.all());
    assert!(
        program.stdout.contains(".TH mcp-cassette 1"),
        "{}",
        program.stdout
    );
    for command in ["record", "redaction-check", "completions", "man"] {
        let page = run(&["man", command]).stdout;
        assert!(
            page.contains(&format!(".TH mcp-cassette-{command} 1")),
            "{page}"
        );
        assert!(page.contains("OPTIONS"), "{page}");
    }
}

#[test]
fn help_and_version_go_to_standard_output() {
    let version = run(&["--version"]);
    assert_eq!(version.code, 0);
    assert_eq!(
        version.stdout,
        format!("mcp-cassette {}\n", env!("CARGO_PKG_VERSION"))
    );
    for name in ["lint", "diff", "inspect"] {
        let (short, long) = (run(&[name, "-h"]), run(&[name, "--help"]));
        assert_eq!((short.code, long.code), (0, 0));
        assert!(!short.stdout.contains("Examples:"), "{}", short.stdout);
        assert!(long.stdout.contains("Examples:"), "{}", long.stdout);
        assert_eq!(long.stderr, "");
    }
}

#[test]
fn completions_name_every_command() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let run = run(&["completions", shell]);
        assert_eq!((run.code, &*run.stderr), (0, ""));
        for name in ["lint", "diff", "inspect", "explain"] {
            assert!(run.stdout.contains(name), "{shell}: {name}");
        }
    }
}

#[test]
fn file_names_may_begin_with_a_dash() {
    let folder = folder();
    write(folder.path(), "-x.json", session("[]", &[]));
    for name in [&["--", "-x.json"] as &[&str], &["./-x.json"]] {
        let run = run_in(folder.path(), &[&["inspect"], name].concat(), &[]);
        assert_eq!((run.code, &*run.stderr), (0, ""), "{name:?}");
        assert!(run.stdout.contains("-x.json"), "{}", run.stdout);
    }
}

#[cfg(unix)]
#[test]
fn file_names_need_not_be_utf_8() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let folder = folder();
    let name = OsStr::from_bytes(b"\xff.json");
    std::fs::copy(folder.path().join("a.json"), folder.path().join(name)).unwrap();
    let mut inspect = command(folder.path());
    let run = finish(inspect.arg("inspect").arg(name).output().unwrap());
    assert_eq!((run.code, &*run.stderr), (0, ""));
    let mut lint = command(folder.path());
    let report = OsStr::from_bytes(b"json=\xfe.out");
    let lint = lint.arg("lint").arg(name).arg("--output").arg(report);
    let run = finish(lint.output().unwrap());
    assert_eq!((run.code, &*run.stderr), (0, ""));
    assert!(folder.path().join(OsStr::from_bytes(b"\xfe.out")).exists());
}

#[test]
fn what_cannot_be_read_exits_2_and_the_rest_is_still_reported() {
    let folder = folder();
    write(folder.path(), "array.json", "[1, 2, 3]");
    let arguments = ["lint", "array.json", "a.json", "none.json"];
    let run = run_in(folder.path(), &arguments, &[]);
    assert_eq!(run.code, 2);
    let lines: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(lines.len(), 2, "{}", run.stderr);
    assert!(lines[0].starts_with("mcp-cassette lint: array.json:1:1: is not a cassette"));
    assert!(lines[1].starts_with("mcp-cassette lint: none.json: "));
    assert_ne!(run.stdout, "");
}

#[test]
fn nothing_is_called_clean_when_nothing_could_be_read() {
    let folder = folder();
    write(folder.path(), "empty.json", "");
    for format in ["text", "json", "full"] {
        let arguments = ["lint", "empty.json", "--format", format];
        let run = run_in(folder.path(), &arguments, &[]);
        assert_eq!((run.code, &*run.stdout), (2, ""), "{format}");
    }
}

#[test]
fn a_required_redaction_profile_is_looked_for_in_every_manifest() {
    let folder = folder();
    let manifest = r#""format_version": 3, "redaction": {"profile": "other", "packs": []},"#;
    let other = session("[]", &[]).replacen("\"format_version\": 3,", manifest, 1);
    assert!(other.contains("\"other\""), "{other}");
    write(folder.path(), "other.json", other);
    let arguments = [
        "lint",
        "a.json",
        "other.json",
        "--require-redaction",
        "team",
    ];
    let run = run_in(folder.path(), &arguments, &[]);
    assert_eq!(run.code, 4);
    let lines: Vec<&str> = run.stderr.lines().collect();
    assert!(lines[0].starts_with("mcp-cassette lint: a.json carries no redaction manifest"));
    assert!(lines[1].starts_with("mcp-cassette lint: other.json "));
    assert!(
        lines[1].contains("'other', expected 'team'"),
        "{}",
        lines[1]
    );
    for line in lines {
        assert!(
            line.contains("re-record") && line.contains("--redact-profile team"),
            "{line}"
        );
    }
    let arguments = ["lint", "other.json", "--require-redaction", "other"];
    let run = run_in(folder.path(), &arguments, &[]);
    assert_eq!((run.code, &*run.stderr), (0, ""));
}

#[test]
fn a_report_goes_to_a_file_and_to_standard_output() {
    let folder = folder();
    let arguments = [
        "lint",
        "a.json",
        "--output",
        "json=report.json",
        "--format",
        "text",
    ];
    let run = run_in(folder.path(), &arguments, &[]);
    assert_eq!((run.code, &*run.stderr), (0, ""));
    assert_ne!(run.stdout, "");
    assert!(folder.path().join("report.json").metadata().unwrap().len() > 0);
}

#[test]
fn a_file_that_could_not_be_read_is_no_success_in_any_report() {
    let folder = folder();
    write(folder.path(), "empty.json", "");
    let lint = |format| {
        let arguments = ["lint", "a.json", "empty.json", "--format", format];
        run_in(folder.path(), &arguments, &[("GITHUB_ACTIONS", "true")])
    };
    let sarif = lint("sarif");
    assert_eq!(sarif.code, 2);
    let log: serde_json::Value = serde_json::from_str(&sarif.stdout).unwrap();
    let invocation = &log["runs"][0]["invocations"][0];
    assert_eq!(invocation["exitCode"], 2);
    assert_eq!(invocation["executionSuccessful"], false);
    let page = lint("markdown").stdout;
    assert!(
        page.starts_with("## mcp-cassette: could not check everything\n"),
        "{page}"
    );
}

#[test]
fn a_comparison_is_a_report_for_code_scanning_and_a_job_summary() {
    let folder = folder();
    let tool = r#"[{"name": "new", "inputSchema": {"type": "object"}}]"#;
    write(folder.path(), "b.json", session(tool, &[]));
    let arguments = [
        "diff",
        "a.json",
        "b.json",
        "--output",
        "sarif=b.sarif",
        "--format",
        "markdown",
    ];
    let run = run_in(folder.path(), &arguments, &[]);
    assert_eq!((run.code, &*run.stderr), (5, ""));
    assert!(run.stdout.contains("| [R102]("), "{}", run.stdout);
    let log = std::fs::read_to_string(folder.path().join("b.sarif")).unwrap();
    let log: serde_json::Value = serde_json::from_str(&log).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    let added = results
        .iter()
        .find(|result| result["ruleId"] == "R102")
        .unwrap();
    let place = &added["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "b.json");
    assert_eq!(log["runs"][0]["invocations"][0]["exitCode"], 5);
}

#[test]
fn a_report_that_cannot_be_written_exits_2() {
    let folder = folder();
    let arguments = ["lint", "a.json", "--output", "json=none/report.json"];
    let run = run_in(folder.path(), &arguments, &[]);
    assert_eq!(run.code, 2);
    let expected = "mcp-cassette lint: cannot write --output json=none/report.json: ";
    assert!(run.stderr.starts_with(expected), "{}", run.stderr);
}

/// Runs with a standard output that nobody reads.
fn run_unread(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = command(folder);
    command
        .args(arguments)
        .stdout(writer)
        .stderr(Stdio::piped());
    let output = command.output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    (output.status.code(), stderr)
}

#[test]
fn a_pipe_that_is_closed_early_changes_no_verdict_and_is_no_error() {
    let folder = folder();
    let (code, stderr) = run_unread(folder.path(), &["inspect", "a.json", "--timeline"]);
    assert_eq!((code, &*stderr), (Some(0), ""));
    let arguments = ["lint", "a.json", "--require-redaction", "team"];
    let (code, stderr) = run_unread(folder.path(), &arguments);
    assert_eq!(code, Some(4));
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_behind_standard_output_exits_2() {
    let folder = folder();
    let full = std::fs::File::options()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let mut inspect = command(folder.path());
    let output = inspect.args(["inspect", "a.json"]).stdout(full).output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8(output.stderr).unwrap();
    let expected = "mcp-cassette inspect: cannot write to standard output: ";
    assert!(stderr.starts_with(expected), "{stderr}");
}

#[test]
fn verbose_says_what_was_read() {
    let folder = folder();
    write(folder.path(), "mcp-cassette.toml", "");
    let run = run_in(folder.path(), &["lint", "a.json", "-v"], &[]);
    assert_eq!(run.code, 0);
    assert!(
        run.stderr.contains("configuration: mcp-cassette.toml\n"),
        "{}",
        run.stderr
    );
    assert!(
        run.stderr.contains("mcp-cassette lint: a.json: "),
        "{}",
        run.stderr
    );
}
