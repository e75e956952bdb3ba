//! Where the result of `check` goes: every report says the same, and all of them are
//! written whatever happened.

use crate::repository::{Event, POISON, Repository, Step, tool};
use crate::runner_commands::commands_in;
use crate::support::session;
use std::path::Path;

/// What is told, the arguments and the variables that make it so.
type Case<'a> = (&'a str, &'a [&'a str], &'a [(&'a str, &'a str)]);

/// Sixty tools that say what no tool says, on a branch that has none of them.
fn sixty() -> (Repository, Event) {
    let repository = Repository::with(&[("a.mcp.json", &session("[]", &[]))]);
    let base = repository.id("HEAD");
    let tools: Vec<String> = (0..60)
        .map(|n| format!(r#"{{"name": "tool{n}", "description": "{POISON} {n}"}}"#))
        .collect();
    let head = repository.commit(&[(
        "b.mcp.json",
        &session(&format!("[{}]", tools.join(",\n")), &[]),
    )]);
    let event = Event::push(&base, &head);
    (repository, event)
}

#[expect(clippy::too_many_lines, reason = "one report after the other")]
#[test]
fn sixty_findings_are_counted_alike_everywhere() {
    let (repository, event) = sixty();
    let sarif = repository.beside("check.sarif");
    let output = format!("sarif={}", sarif.display());
    let step = repository.step(&event, &["--output", &output]);
    assert_eq!(step.run.code, 4, "{}", step.run.all());
    // One is the note that the cassette is new.
    let json = &step.checked().json["summary"];
    assert_eq!(json["errors"], 60);
    assert_eq!(json["warnings"], 0);
    assert_eq!(json["notes"], 1);
    assert_eq!(json["findings"], 61);
    assert_eq!(json["exit_code"], 4);

    let errors = |text: &str| {
        text.lines()
            .filter(|line| line.starts_with("R001 error "))
            .count()
    };
    assert_eq!(errors(&step.run.stdout), 60);
    let line = "60 errors, 0 warnings, 1 note in 2 cassettes; exit code 4";
    assert!(
        step.run.stdout.contains(&format!("summary: {line}")),
        "{}",
        step.run.all()
    );
    assert!(step.summary.contains(line), "{}", step.summary);
    let rows = step
        .summary
        .lines()
        .filter(|line| line.starts_with("| error |"));
    assert_eq!(rows.count(), 60);

    let commands = commands_in(&step.run.stdout);
    let of = |level: &str| {
        commands
            .iter()
            .filter(|command| command.name == level)
            .count()
    };
    assert_eq!((of("error"), of("warning"), of("notice")), (10, 0, 1));
    let last = commands
        .iter()
        .rfind(|command| command.name == "error")
        .unwrap();
    assert!(
        last.data.starts_with("51 more errors not shown here"),
        "{last:?}"
    );

    let text = std::fs::read_to_string(&sarif).unwrap();
    let log: serde_json::Value = serde_json::from_str(&text).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    let level = |level: &str| results.iter().filter(|one| one["level"] == level).count();
    assert_eq!(
        (level("error"), level("warning"), level("note")),
        (60, 0, 1)
    );

    for (name, value) in [
        ("findings", "61"),
        ("errors", "60"),
        ("warnings", "0"),
        ("exit-code", "4"),
        ("sarif-path", &sarif.display().to_string()),
    ] {
        assert_eq!(step.output(name), value, "{name}");
    }
    let folder = Path::new(step.output("report-path"));
    for name in ["check.json", "summary.md"] {
        assert!(folder.join(name).is_file(), "{name}");
    }
    let page = std::fs::read_to_string(folder.join("summary.md")).unwrap();
    assert_eq!(page, step.summary);
    let full = repository.run(&["check", "--base", "HEAD~1", "--output", "full"]);
    assert!(full.stdout.contains("60 errors"), "{}", full.stdout);
    assert_eq!(full.code, 4);
}

#[test]
fn the_same_input_gives_the_same_bytes_and_no_absolute_path() {
    let runs: Vec<(Step, Vec<String>)> = (0..2)
        .map(|_| {
            let (repository, event) = sixty();
            // A commit's id depends on the clock, so that the base is another way there.
            let files: Vec<String> = ["full", "json", "sarif", "markdown", "github", "text"]
                .iter()
                .map(|format| {
                    let path = repository.beside(format);
                    let output = format!("{format}={}", path.display());
                    let run = repository.run(&["check", "--output", &output]);
                    assert_eq!(run.code, 4, "{}", run.all());
                    let text = std::fs::read_to_string(path).unwrap();
                    let root = repository.beside("").display().to_string();
                    assert!(
                        !text.contains(root.trim_end_matches('/')),
                        "{format}: {text}"
                    );
                    assert!(
                        !run.stdout.contains(root.trim_end_matches('/')),
                        "{}",
                        run.all()
                    );
                    text
                })
                .collect();
            let again = repository.step(&event, &[]);
            let step = repository.step(&event, &[]);
            assert_eq!(again.report, step.report);
            assert_eq!(again.run.stdout, step.run.stdout);
            assert_eq!(again.summary, step.summary);
            for text in [
                &step.report,
                &step.summary,
                &step.run.stdout,
                &step.run.stderr,
            ] {
                let root = repository.beside("").display().to_string();
                assert!(!text.contains(root.trim_end_matches('/')), "{text}");
            }
            (step, files)
        })
        .collect();
    assert_eq!(runs[0].1, runs[1].1);
    assert_eq!(
        runs[0].0.checked().statuses(),
        runs[1].0.checked().statuses()
    );
}

#[test]
fn a_nearly_full_summary_stays_below_what_github_keeps() {
    let (repository, event) = sixty();
    let keep = [("KEEP_SUMMARY", "1")];
    for (taken, shown) in [(999_000, false), (990_000, true), (1_200_000, false)] {
        let path = repository.beside("summary");
        std::fs::write(&path, "x".repeat(taken)).unwrap();
        let step = repository.step_in("", &event, &[], &keep);
        assert_eq!(step.run.code, 4, "{}", step.run.all());
        assert_eq!(step.summary.len() > taken, shown, "{taken}");
        assert!(step.summary.len() <= 1_000_000.max(taken), "{taken}");
        if shown {
            let words = "not shown: a summary is limited in size";
            assert!(step.summary.contains(words), "{}", &step.summary[taken..]);
        } else {
            let note = "the job summary of this step is full";
            assert!(step.run.stderr.contains(note), "{}", step.run.all());
        }
    }
}

#[test]
fn other_reports_can_go_into_the_report_directory() {
    let (repository, event) = sixty();
    let arguments = [
        "--report-dir",
        "out/x",
        "--output",
        "sarif=out/x/check.sarif",
    ];
    let step = repository.step(&event, &arguments);
    assert_eq!(step.run.code, 4, "{}", step.run.all());
    assert_eq!(step.output("report-path"), "out/x");
    assert_eq!(step.output("sarif-path"), "out/x/check.sarif");
    for name in ["check.json", "summary.md", "check.sarif"] {
        assert!(repository.root.join("out/x").join(name).is_file(), "{name}");
    }
}

#[test]
fn what_cannot_be_written_is_told_in_every_other_report() {
    let (repository, event) = sixty();
    let file = repository.beside("file");
    std::fs::write(&file, "").unwrap();
    let below = file.join("below").display().to_string();
    let directory = repository.beside("home").display().to_string();
    let report = format!("json={below}");
    let cases: [Case<'_>; 6] = [
        (
            "the job summary",
            &[],
            &[("GITHUB_STEP_SUMMARY", &directory)],
        ),
        ("the outputs of the step", &[], &[("GITHUB_OUTPUT", &below)]),
        ("the report directory", &["--report-dir", &below], &[]),
        ("the report directory", &[], &[("RUNNER_TEMP", &below)]),
        ("--output json", &["--output", &report], &[]),
        (
            "two formats",
            &["--output", "json", "--output", "sarif"],
            &[],
        ),
    ];
    for (what, arguments, variables) in cases {
        let _ = std::fs::remove_dir_all(repository.beside("temp/mcp-cassette"));
        let step = repository.step_in("", &event, arguments, variables);
        assert_eq!(step.run.code, 2, "{what}: {}", step.run.all());
        let told = |text: &str| text.contains(what);
        assert!(told(&step.run.stderr), "{what}: {}", step.run.all());
        assert!(told(&step.run.stdout), "{what}: {}", step.run.all());
        assert!(
            step.run.stdout.contains("exit code 2"),
            "{what}: {}",
            step.run.all()
        );
        // The findings are told all the same.
        assert!(
            step.run.stdout.contains("R001 error"),
            "{what}: {}",
            step.run.all()
        );
        if !step.output.is_empty() {
            assert_eq!(step.output("exit-code"), "2", "{what}");
            assert_eq!(step.output("errors"), "60", "{what}");
        }
        if !step.report.is_empty() {
            assert_eq!(step.checked().json["summary"]["exit_code"], 2, "{what}");
        }
        if !step.summary.is_empty() {
            assert!(step.summary.contains("exit code 2"), "{what}");
        }
        if what == "the report directory" {
            assert_eq!(step.output("report-path"), "");
        }
    }
}

#[test]
fn a_run_that_could_not_begin_writes_everything_too() {
    let repository = Repository::with(&[("a.mcp.json", &tool("echo", "Fine."))]);
    let event = Event {
        payload: "{\"pull_request\": 7}".to_owned(),
        ..Event::pull_request("", "")
    };
    let step = repository.step(&event, &[]);
    assert_eq!(step.run.code, 2, "{}", step.run.all());
    let words = "the payload of the event pull_request is malformed";
    let errors = step.checked().errors();
    assert!(errors.concat().contains(words), "{errors:?}");
    for text in [&step.run.stdout, &step.run.stderr, &step.summary] {
        assert!(text.contains(words), "{text}");
    }
    let names: Vec<&str> = step.output.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "findings",
            "errors",
            "warnings",
            "exit-code",
            "report-path",
            "sarif-path",
            "baseline-commit",
            "baseline-reason"
        ]
    );
    assert_eq!(step.output("exit-code"), "2");
    assert_eq!(step.output("findings"), "0");
    assert!(
        Path::new(step.output("report-path"))
            .join("summary.md")
            .is_file()
    );
    let commands = commands_in(&step.run.stdout);
    assert_eq!(commands.len(), 1, "{commands:?}");
    assert_eq!(commands[0].name, "error");
}

/// A cassette with a key and an address in a result.
fn leaky(manifest: &str) -> String {
    let result = r#"{"content": [{"type": "text", "text": "Write to jane.roe@corp.example.org"}]}"#;
    let text = session("[]", &[result]);
    text.replacen("\"messages\"", &format!("{manifest}\"messages\""), 1)
}

#[test]
fn a_value_that_redaction_left_is_a_masked_finding() {
    let repository = Repository::with(&[("a.mcp.json", &leaky(""))]);
    let step = repository.step(&Event::other("schedule", ""), &[]);
    assert_eq!(step.run.code, 4, "{}", step.run.all());
    let checked = step.checked();
    assert!(
        checked.counting("a.mcp.json").contains(&"R203"),
        "{:#}",
        checked.json
    );
    for text in [
        &step.run.stdout,
        &step.run.stderr,
        &step.report,
        &step.summary,
    ] {
        assert!(!text.contains("jane.roe"), "{text}");
        assert!(!text.contains("corp.example"), "{text}");
    }
    assert!(step.run.stdout.contains("jane.r…"), "{}", step.run.all());
    let checked = repository.check(&["--checks", "lint"]);
    assert_eq!(checked.findings("a.mcp.json"), [], "{:#}", checked.json);
}

#[test]
fn a_value_that_is_no_secret_can_be_accepted() {
    let repository = Repository::with(&[("a.mcp.json", &leaky(""))]);
    let checked = repository.check(&[]);
    let finding = &checked.json["cassettes"][0]["findings"][0];
    assert_eq!(finding["rule"], "R203", "{:#}", checked.json);
    let entry = format!(
        "[[accept]]\nrule = \"R203\"\nfingerprint = {}\nreason = \"public\"\n",
        finding["fingerprint"]
    );
    repository.write("mcp-cassette.toml", entry);
    let checked = repository.check(&[]);
    assert_eq!(checked.findings("a.mcp.json"), [("R203", "accepted")]);
    assert_eq!(checked.run.code, 0, "{}", checked.run.all());
}

#[test]
fn a_required_profile_is_asked_of_every_cassette() {
    let manifest = |profile: &str| {
        format!(
            r#""redaction": {{"profile": "{profile}", "backends": ["structural"], "packs": [],
               "rule_ids": [], "salt_mode": "stable",
               "applied_at": "2026-11-29T12:00:00.000000Z", "structural": [], "ruleset": 2}},
               "#
        )
    };
    let clean = |manifest: &str| {
        session("[]", &[]).replacen("\"messages\"", &format!("{manifest}\"messages\""), 1)
    };
    let repository = Repository::with(&[
        ("mcp-cassette.toml", "[lint]\nrequire_redaction = \"ci\"\n"),
        ("none.mcp.json", &clean("")),
        ("other.mcp.json", &clean(&manifest("old"))),
        ("right.mcp.json", &clean(&manifest("ci"))),
        ("left.mcp.json", &leaky(&manifest("ci"))),
    ]);
    let checked = repository.check(&[]);
    assert_eq!(
        checked.counting("none.mcp.json"),
        ["R201"],
        "{:#}",
        checked.json
    );
    assert_eq!(checked.counting("other.mcp.json"), ["R202"]);
    assert_eq!(checked.counting("right.mcp.json"), [""; 0]);
    assert_eq!(checked.counting("left.mcp.json"), ["R203"]);
    assert_eq!(checked.run.code, 4, "{}", checked.run.all());
    // What the base lacks too is required all the same; what it left behind is not news.
    let checked = repository.check(&["--base", "HEAD"]);
    assert_eq!(checked.counting("none.mcp.json"), ["R201"]);
    assert_eq!(checked.counting("other.mcp.json"), ["R202"]);
    assert_eq!(checked.counting("left.mcp.json"), [""; 0]);
    assert_eq!(checked.run.code, 4);
    // The name is asked for whichever checks run, as lint does it.
    let checked = repository.check(&["--checks", "lint"]);
    assert_eq!(checked.counting("none.mcp.json"), ["R201"]);
    assert_eq!(checked.counting("left.mcp.json"), [""; 0]);
    assert_eq!(checked.run.code, 4);
    for (file, code, words) in [
        ("none.mcp.json", 4, "carries no redaction manifest"),
        ("other.mcp.json", 4, "expected 'ci'"),
        ("right.mcp.json", 0, ""),
        ("left.mcp.json", 0, ""),
    ] {
        let run = repository.run(&["lint", "--no-config", "--require-redaction", "ci", file]);
        assert_eq!(run.code, code, "{}", run.all());
        assert!(run.stderr.contains(words), "{}", run.all());
        let run = repository.run(&["lint", file]);
        assert_eq!(run.code, code, "{}", run.all());
    }
}

#[test]
fn a_redaction_that_cannot_be_proved_names_its_cassette() {
    let repository = Repository::with(&[
        ("a.mcp.json", &leaky("\"redaction\": {\"profile\": 7},\n")),
        ("b.mcp.json", &tool("echo", POISON)),
    ]);
    let checked = repository.check(&[]);
    assert_eq!(checked.run.code, 2, "{}", checked.run.all());
    let told = "mcp-cassette check: a.mcp.json: ";
    assert!(
        checked.run.stderr.starts_with(told),
        "{}",
        checked.run.all()
    );
    assert!(checked.counting("b.mcp.json").contains(&"R001"));
}
