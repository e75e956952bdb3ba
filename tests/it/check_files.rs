//! Files that `check` meets: odd names, odd contents, and what is no cassette at all.
//! What could not be checked fails, and the others are reported all the same.

use crate::repository::{Event, POISON, Repository, server, tool};
use crate::runner_commands::commands_in;
use std::path::Path;

fn clean() -> String {
    tool("echo", "Returns the text.")
}

fn poisoned() -> String {
    tool("echo", POISON)
}

const POINTER: &str = "version https://git-lfs.github.com/spec/v1\noid sha256:\
    4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n";

#[test]
fn a_pointer_of_lfs_on_either_side_is_refused_and_the_rest_is_told() {
    let poison = poisoned();
    let repository = Repository::with(&[
        ("a.mcp.json", &clean()),
        ("b.mcp.json", POINTER),
        ("c.mcp.json", &clean()),
    ]);
    repository.commit(&[
        ("a.mcp.json", POINTER),
        ("b.mcp.json", &clean()),
        ("c.mcp.json", &poison),
    ]);
    let checked = repository.check(&["--base", "HEAD~1"]);
    assert_eq!(checked.run.code, 2, "{}", checked.run.all());
    assert_eq!(
        checked.statuses(),
        [
            ("a.mcp.json", "unreadable", ""),
            ("b.mcp.json", "unreadable", ""),
            ("c.mcp.json", "modified", ""),
        ]
    );
    let errors = checked.errors();
    assert_eq!(errors.len(), 2, "{errors:?}");
    assert!(errors.iter().all(|error| error.contains("Git LFS pointer")));
    assert!(errors[0].contains("lfs: true"), "{errors:?}");
    assert!(errors[1].contains("in the base commit"), "{errors:?}");
    assert!(checked.counting("c.mcp.json").contains(&"R002"));
}

#[test]
fn what_recordings_left_beside_cassettes_is_named() {
    let repository = Repository::with(&[("t/a.mcp.json", &clean())]);
    for name in [
        "t/b.mcp.json.partial",
        "t/a.mcp.json.claim",
        "t/notes.partial",
    ] {
        repository.write(name, "");
    }
    let told = repository.check(&[]).run;
    assert_eq!(told.code, 0, "{}", told.all());
    let partial = "note: t/b.mcp.json.partial is not checked";
    assert!(told.stderr.contains(partial), "{}", told.all());
    assert!(
        told.stderr.contains("note: t/a.mcp.json.claim: "),
        "{}",
        told.all()
    );
    assert!(!told.stderr.contains("notes.partial"), "{}", told.all());
    let quiet = repository.check(&["--quiet"]).run;
    assert_eq!(quiet.stderr, "", "{}", quiet.all());
}

#[test]
fn line_ends_are_no_change() {
    let text = poisoned();
    let repository = Repository::with(&[("a.mcp.json", &text)]);
    for (old, new) in [("\n", "\r\n"), ("\r\n", "\n")] {
        repository.commit(&[("a.mcp.json", &text.replace('\n', old))]);
        repository.write("a.mcp.json", text.replace('\n', new));
        let checked = repository.check(&["--base", "HEAD"]);
        assert_eq!(checked.statuses(), [("a.mcp.json", "unchanged", "")]);
        assert_eq!(checked.run.code, 0, "{}", checked.run.all());
        // A text that did change is found whatever the line ends.
        let other = text.replace("about this", "about that").replace('\n', new);
        repository.write("a.mcp.json", other);
        let checked = repository.check(&["--base", "HEAD"]);
        assert_eq!(checked.run.code, 4, "{}", checked.run.all());
    }
}

/// Nine good cassettes and one that has some finding.
fn good_ones() -> Repository {
    let repository = Repository::init(&[]);
    for number in 0..9 {
        repository.write(format!("good{number}.mcp.json"), clean());
    }
    repository.write("poisoned.mcp.json", poisoned());
    repository.commit(&[]);
    repository
}

#[test]
fn one_bad_file_among_ten_fails_and_hides_no_other() {
    type Spoil = fn(&Path);
    let broken: Spoil = |path| std::fs::write(path, "{\"format_version\": 3,").unwrap();
    let directory: Spoil = |path| std::fs::create_dir(path).unwrap();
    let mut cases: Vec<(&str, Spoil)> = vec![("broken JSON", broken), ("a directory", directory)];
    #[cfg(unix)]
    {
        // Nothing writes to it: whoever opens it waits.
        cases.push(("a FIFO", |path| {
            let made = std::process::Command::new("mkfifo").arg(path).status();
            assert!(made.unwrap().success());
        }));
        // What chmod would do to other users than root.
        cases.push(("a link to nowhere", |path| {
            std::os::unix::fs::symlink("nowhere", path).unwrap();
        }));
        cases.push(("a link to itself", |path| {
            std::os::unix::fs::symlink(path.file_name().unwrap(), path).unwrap();
        }));
        cases.push(("a link to a device", |path| {
            std::os::unix::fs::symlink("/dev/zero", path).unwrap();
        }));
    }
    for (name, spoil) in cases {
        for was_there in [false, true] {
            let repository = good_ones();
            if was_there {
                repository.commit(&[("bad.mcp.json", &server("bad", "Was good."))]);
                repository.remove("bad.mcp.json");
            }
            spoil(&repository.root.join("bad.mcp.json"));
            for arguments in [&[][..], &["--base", "HEAD"]] {
                let checked = repository.check(arguments);
                let all = checked.run.all();
                assert_eq!(checked.run.code, 2, "{name} {arguments:?}: {all}");
                assert_eq!(checked.json["summary"]["exit_code"], 2, "{name}: {all}");
                assert_eq!(checked.statuses().len(), 11, "{name} {arguments:?}: {all}");
                assert!(
                    checked
                        .statuses()
                        .contains(&("bad.mcp.json", "unreadable", "")),
                    "{name} {arguments:?}: {all}"
                );
                assert_eq!(checked.errors().len(), 1, "{name}: {all}");
                let told = "mcp-cassette check: bad.mcp.json";
                assert!(checked.run.stderr.contains(told), "{name}: {all}");
                let rules = checked.findings("poisoned.mcp.json");
                assert!(
                    rules.iter().any(|(rule, _)| *rule == "R001"),
                    "{name}: {all}"
                );
                let text = repository.run(&[&["check"], arguments].concat());
                let bad = text.stdout.split("bad.mcp.json:\n").nth(1).unwrap();
                assert!(bad.starts_with("error: not checked: "), "{name}: {bad}");
            }
        }
    }
}

#[test]
fn a_cassette_that_became_a_directory_of_other_files_is_deleted() {
    let repository = Repository::with(&[("t/a.json", &clean()), ("t/b.json", &clean())]);
    repository.remove("t/a.json");
    repository.write("t/a.json/readme", "nothing");
    let checked = repository.check(&["--base", "HEAD", "t/*.json"]);
    assert_eq!(
        checked.statuses(),
        [("t/b.json", "unchanged", ""), ("t/a.json", "deleted", "")],
        "{}",
        checked.run.all()
    );
}

/// Names with whatever a format, a shell or a runner could take for its own.
#[cfg(unix)]
fn odd_names() -> Vec<std::ffi::OsString> {
    use std::os::unix::ffi::OsStringExt as _;
    let names: [&[u8]; 12] = [
        b"new\nline.mcp.json",
        b"car\rriage.mcp.json",
        b"quote\"'.mcp.json",
        b"per%cent%0A.mcp.json",
        b"-dash.mcp.json",
        b"::error::x.mcp.json",
        b"\n::error file=x::y.mcp.json",
        b"##[error]x.mcp.json",
        b"not-\xff-utf8.mcp.json",
        "é 日本.mcp.json".as_bytes(),
        b"com,ma:colon;[1]*?{x}.mcp.json",
        b"back\\slash|bar`tick`<b>.mcp.json",
    ];
    names
        .map(|name| std::ffi::OsString::from_vec(name.to_vec()))
        .into()
}

#[cfg(unix)]
#[expect(clippy::too_many_lines, reason = "one report after the other, twice")]
#[test]
fn odd_names_are_compared_and_say_nothing_to_the_runner() {
    let repository = Repository::init(&[]);
    let names = odd_names();
    for name in &names {
        repository.write(name, clean());
    }
    let base = repository.commit(&[]);
    for name in &names {
        repository.write(name, poisoned());
    }
    let head = repository.commit(&[]);
    let event = Event::push(&base, &head);
    let files = ["full", "json", "sarif", "markdown", "github", "text"];
    let folder = repository.beside("reports");
    std::fs::create_dir(&folder).unwrap();
    let outputs: Vec<String> = files
        .iter()
        .map(|format| format!("{format}={}", folder.join(format).display()))
        .collect();
    let arguments: Vec<&str> = outputs
        .iter()
        .flat_map(|output| ["--output", output.as_str()])
        .collect();
    let step = repository.step(&event, &arguments);
    assert_eq!(step.run.code, 4, "{}", step.run.all());
    let checked = step.checked();
    assert_eq!(checked.statuses().len(), names.len());
    for (path, status, _) in checked.statuses() {
        assert_eq!(status, "modified", "{path:?}");
    }
    let commands = commands_in(&step.run.stdout);
    // Two errors and one warning a file; the runner keeps ten of each.
    assert_eq!(commands.len(), 20, "{commands:#?}");
    for command in &commands {
        assert!(
            ["error", "warning"].contains(&command.name.as_str()),
            "{command:?}"
        );
        let title = command.properties.iter().find(|(key, _)| key == "title");
        let known = ["R001", "R002", "R103", "mcp-cassette"];
        assert!(title.is_some_and(|(_, title)| known.contains(&title.as_str())));
    }
    assert_eq!(commands_in(&step.run.stderr), [], "{}", step.run.all());
    for format in files {
        let text = std::fs::read_to_string(folder.join(format)).unwrap();
        let expected = if format == "github" { 20 } else { 0 };
        assert_eq!(commands_in(&text).len(), expected, "{format}: {text}");
    }
    assert_eq!(commands_in(&step.summary), [], "{}", step.summary);
    // The same for names that are deleted, renamed or cannot be read.
    for (number, name) in names.iter().enumerate() {
        let path = repository.root.join(name);
        std::fs::remove_file(&path).unwrap();
        if number % 2 == 0 {
            std::fs::write(path, "nothing").unwrap();
        }
    }
    let step = repository.step(&event, &arguments);
    assert_eq!(step.run.code, 2, "{}", step.run.all());
    assert_eq!(step.checked().statuses().len(), names.len());
    for command in commands_in(&step.run.stdout) {
        let title = command.properties.iter().find(|(key, _)| key == "title");
        let known = ["R110", "not checked", "mcp-cassette"];
        assert!(
            title.is_some_and(|(_, title)| known.contains(&title.as_str())),
            "{command:?}"
        );
    }
    assert_eq!(commands_in(&step.run.stderr), [], "{}", step.run.all());
    for format in files.iter().filter(|format| **format != "github") {
        let text = std::fs::read_to_string(folder.join(format)).unwrap();
        assert_eq!(commands_in(&text), [], "{format}");
    }
}

#[cfg(unix)]
#[test]
fn odd_names_can_be_named_and_followed() {
    let repository = Repository::init(&[]);
    let names = odd_names();
    for name in &names {
        repository.write(name, clean());
    }
    repository.commit(&[]);
    for name in &names {
        repository.write(name, poisoned());
        let mut command = repository.command(&repository.root);
        command.args(["check", "--base", "HEAD", "--"]).arg(name);
        let run = crate::support::finish(command.output().unwrap());
        assert_eq!(run.code, 4, "{name:?}: {}", run.all());
        assert!(run.stdout.contains("R002"), "{name:?}: {}", run.all());
        assert!(
            run.stdout.contains("in 1 cassette;"),
            "{name:?}: {}",
            run.all()
        );
        repository.write(name, clean());
    }
    // Moved as they are, each finds its old self by its name.
    std::fs::create_dir(repository.root.join("sub")).unwrap();
    for name in &names {
        let to = repository.root.join("sub").join(name);
        std::fs::rename(repository.root.join(name), to).unwrap();
    }
    let checked = repository.check(&["--base", "HEAD"]);
    for (path, status, old) in checked.statuses() {
        assert_eq!(status, "renamed", "{path}");
        assert_eq!(path, format!("sub/{old}"));
    }
    assert_eq!(checked.run.code, 0, "{}", checked.run.all());
}

#[test]
fn nothing_to_check_is_an_error_and_a_glob_that_matches_nothing_is_told() {
    let repository = Repository::with(&[("a.mcp.json", &clean()), ("empty/x", "")]);
    for arguments in [
        &["check", "missing/**/*.json"][..],
        &["check", "empty"],
        &["check", "--base", "HEAD", "missing/*.json"],
    ] {
        let run = repository.run(arguments);
        assert_eq!(run.code, 2, "{arguments:?}: {}", run.all());
        assert!(run.stderr.contains("no cassette matches"), "{}", run.all());
        assert!(!run.stdout.contains("clean"), "{}", run.all());
    }
    let run = repository.run(&["check", "missing/*.json", "a.mcp.json"]);
    assert_eq!(run.code, 0, "{}", run.all());
    assert!(
        run.stderr.contains("no cassette matches missing/*.json"),
        "{}",
        run.all()
    );
    let run = repository.run(&["check", "gone.mcp.json", "a.mcp.json"]);
    assert_eq!(run.code, 2, "{}", run.all());
}

#[test]
fn a_comparison_without_a_baseline_is_an_error() {
    let repository = Repository::with(&[("a.mcp.json", &clean())]);
    let run = repository.run(&["check", "--checks", "lint,diff"]);
    assert_eq!(run.code, 2, "{}", run.all());
    assert!(run.stderr.contains("there is no baseline"), "{}", run.all());
    repository.write("mcp-cassette.toml", "[check]\nchecks = [\"diff\"]\n");
    assert_eq!(repository.run(&["check"]).code, 2);
    assert_eq!(repository.run(&["check", "--base", "HEAD"]).code, 0);
    let run = repository.run(&["check", "--base", "no-such-branch"]);
    assert_eq!(run.code, 2, "{}", run.all());
    let words = "mcp-cassette check: unknown revision \"no-such-branch\"";
    assert!(run.stderr.contains(words), "{}", run.all());
    for command in ["lint", "diff"] {
        let run = repository.run(&[command, "--base", "no-such-branch", "a.mcp.json"]);
        assert_eq!(run.code, 2, "{}", run.all());
        assert!(run.stderr.contains("unknown revision"), "{}", run.all());
    }
}

#[test]
fn a_usage_error_begins_with_the_command() {
    let repository = Repository::with(&[("a.mcp.json", &clean())]);
    for arguments in [
        &["check", "--checks", "everything"][..],
        &["check", "--base", "HEAD", "--baseline", "a.mcp.json"],
        &["check", "--no-such-flag"],
    ] {
        let run = repository.run(arguments);
        assert_eq!(run.code, 2, "{}", run.all());
        assert!(
            run.stderr.starts_with("mcp-cassette check: "),
            "{}",
            run.all()
        );
    }
}

#[test]
fn the_configuration_says_which_cassettes_which_checks_and_which_base() {
    let repository = Repository::with(&[
        ("rec/a.json", &clean()),
        ("rec/b.json", &poisoned()),
        ("c.mcp.json", &poisoned()),
    ]);
    repository.write(
        "mcp-cassette.toml",
        "[check]\ncassettes = [\"rec/a.json\", \"rec/z*.json\"]\nchecks = [\"diff\"]\n\
         base = \"HEAD\"\n",
    );
    repository.write("rec/a.json", poisoned());
    let checked = repository.check(&[]);
    assert_eq!(checked.statuses(), [("rec/a.json", "modified", "")]);
    assert_eq!(checked.counting("rec/a.json"), ["R103"]);
    assert_eq!(checked.run.code, 5, "{}", checked.run.all());
    assert_eq!(checked.reason(), "HEAD");
    // Globs are relative to the file.
    std::fs::create_dir(repository.root.join("below")).unwrap();
    let run = repository.run_with("below", &["check"], &[]);
    assert_eq!(run.code, 5, "{}", run.all());
    assert!(run.stdout.contains("../rec/a.json:"), "{}", run.all());
    let checked = repository.check(&["--base", "none", "--checks", "lint"]);
    assert_eq!(checked.counting("rec/a.json"), ["R001"]);
    assert_eq!(checked.run.code, 4);
}

#[test]
fn changes_of_prompts_resources_and_instructions_count_too() {
    use crate::support::{cassette, message};
    let of = |instructions: &str| {
        let result = format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"protocolVersion":"2025-11-25",
                "capabilities":{{}},"serverInfo":{{"name":"s","version":"1"}},
                "instructions":"{instructions}"}}}}"#
        );
        let request = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#;
        cassette(&[
            message("client", "request", request),
            message("server", "response", &result),
        ])
    };
    let repository = Repository::with(&[("a.mcp.json", &of("Search before you fetch."))]);
    repository.write("a.mcp.json", of("Fetch before you search."));
    let checked = repository.check(&["--base", "HEAD"]);
    assert_eq!(
        checked.counting("a.mcp.json"),
        ["R109"],
        "{:#}",
        checked.json
    );
    assert_eq!(checked.run.code, 5);
}

#[cfg(target_os = "linux")]
#[test]
fn a_working_directory_that_is_gone_is_an_error() {
    let repository = Repository::with(&[("a.mcp.json", &clean())]);
    let binary = env!("CARGO_BIN_EXE_mcp-cassette");
    for arguments in ["", "--base HEAD", "../a.mcp.json", "--base HEAD a.mcp.json"] {
        let script =
            format!("mkdir gone && cd gone && rmdir ../gone && '{binary}' check {arguments}");
        let mut command = std::process::Command::new("sh");
        let output = command
            .current_dir(&repository.root)
            .args(["-c", &script])
            .output();
        let run = crate::support::finish(output.unwrap());
        assert_eq!(run.code, 2, "{arguments}: {}", run.all());
        assert!(
            run.stderr.starts_with("mcp-cassette check: "),
            "{}",
            run.all()
        );
        assert!(run.stderr.contains("working directory"), "{}", run.all());
    }
}

#[test]
fn five_hundred_cassettes_are_all_looked_at() {
    let repository = Repository::init(&[]);
    for number in 0..500 {
        repository.write(
            format!("t/{number}.mcp.json"),
            server(&format!("s{number}"), "Fine."),
        );
    }
    repository.commit(&[]);
    // All of them move, and one of them is poisoned on the way.
    std::fs::rename(repository.root.join("t"), repository.root.join("u")).unwrap();
    repository.write("u/321.mcp.json", server("s321", POISON));
    let checked = repository.check(&["--base", "HEAD"]);
    assert_eq!(checked.statuses().len(), 500);
    for (path, status, old) in checked.statuses() {
        assert_eq!(
            (status, old),
            ("renamed", path.replacen('u', "t", 1).as_str())
        );
    }
    assert!(checked.counting("u/321.mcp.json").contains(&"R002"));
    assert_eq!(
        checked.json["summary"]["errors"], 2,
        "{:#}",
        checked.json["summary"]
    );
    assert_eq!(checked.run.code, 4);
}

#[test]
fn a_file_can_be_the_baseline_of_one_cassette() {
    let repository = Repository::with(&[
        ("old.json", &clean()),
        ("same.mcp.json", &clean()),
        ("new.mcp.json", &poisoned()),
    ]);
    let checked = repository.check(&["--baseline", "old.json", "new.mcp.json"]);
    assert_eq!(checked.statuses(), [("new.mcp.json", "modified", "")]);
    let rules = checked.counting("new.mcp.json");
    assert!(
        rules.contains(&"R002") && rules.contains(&"R103"),
        "{rules:?}"
    );
    assert_eq!(checked.reason(), "--baseline old.json");
    let checked = repository.check(&["--baseline", "old.json", "same.mcp.json"]);
    assert_eq!(checked.statuses(), [("same.mcp.json", "unchanged", "")]);
    assert_eq!(checked.run.code, 0, "{}", checked.run.all());
    let run = repository.run(&["check", "--baseline", "old.json"]);
    assert_eq!(run.code, 2, "{}", run.all());
    assert!(
        run.stderr.contains("--baseline compares one cassette"),
        "{}",
        run.all()
    );
    let run = repository.run(&["check", "--baseline", "none.json", "new.mcp.json"]);
    assert_eq!(run.code, 2, "{}", run.all());
}

#[test]
fn a_deleted_cassette_can_be_named_whatever_its_name() {
    let repository = Repository::with(&[("x[1].mcp.json", &clean())]);
    repository.remove("x[1].mcp.json");
    let checked = repository.check(&["--base", "HEAD", "x[1].mcp.json"]);
    assert_eq!(checked.statuses(), [("x[1].mcp.json", "deleted", "")]);
}

#[cfg(unix)]
#[test]
fn a_file_that_a_link_gives_another_name_has_its_own_past() {
    let repository = Repository::with(&[("real/a.mcp.json", &poisoned())]);
    std::os::unix::fs::symlink("real", repository.root.join("link")).unwrap();
    repository.commit(&[]);
    let arguments = [
        "--base",
        "HEAD",
        "real/a.mcp.json",
        "link/a.mcp.json",
        "link",
    ];
    let checked = repository.check(&arguments);
    assert_eq!(checked.statuses(), [("real/a.mcp.json", "unchanged", "")]);
    assert_eq!(checked.run.code, 0, "{}", checked.run.all());
}

#[test]
fn the_same_file_under_two_names_is_one_cassette() {
    let repository = Repository::with(&[("t/a.mcp.json", &poisoned())]);
    let checked = repository.check(&["--base", "HEAD", "t/../t/a.mcp.json", "t/a.mcp.json", "t"]);
    assert_eq!(checked.statuses(), [("t/../t/a.mcp.json", "unchanged", "")]);
    assert_eq!(checked.run.code, 0, "{}", checked.run.all());
}
