//! The formats on made-up findings: files that hold the expected output, and laws.

mod accept;
mod checks;
mod commands;
mod laws;
mod runner;
mod samples;
mod standards;

use super::{Format, Style, render_lint};
use crate::diff::{Diff, findings};
use crate::finding::{Finding, Report, Severity, Status};
use samples::{cassette_report, demo_diff, demo_report};
use std::path::Path;

const FORMATS: [Format; Format::ALL.len()] = Format::ALL;

/// The formats that tell everything that was found.
fn reports() -> impl Iterator<Item = Format> {
    FORMATS
        .into_iter()
        .filter(|format| *format != Format::Accept)
}

fn lint(format: Format, reports: &[Report], style: &Style) -> String {
    render_lint(format, reports, style, Severity::Error)
}

fn render_diff(format: Format, diff: &Diff, tools_only: bool, style: &Style) -> String {
    let findings = findings(diff, None, None);
    super::render_diff(format, diff, &findings, tools_only, style)
}

fn style(width: usize, color: bool) -> Style {
    Style {
        width,
        color,
        ..Style::default()
    }
}

/// Compares with a file, or writes it under `UPDATE_FIXTURES=1`.
fn assert_fixture(name: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/report")
        .join(name);
    if std::env::var_os("UPDATE_FIXTURES").is_some_and(|value| value == "1") {
        std::fs::write(&path, actual).unwrap();
    }
    let expected = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{name}: {error}; run with UPDATE_FIXTURES=1"));
    assert_eq!(
        actual, expected,
        "{name} differs; run with UPDATE_FIXTURES=1 if that is right"
    );
}

#[test]
fn one_cassette_in_each_format() {
    let reports = [demo_report()];
    assert_fixture(
        "lint.full.txt",
        &lint(Format::Full, &reports, &style(100, false)),
    );
    assert_fixture(
        "lint.full-color.txt",
        &lint(Format::Full, &reports, &style(100, true)),
    );
    assert_fixture(
        "lint.full-narrow.txt",
        &lint(Format::Full, &reports, &style(44, false)),
    );
    assert_fixture(
        "lint.text.txt",
        &lint(Format::Text, &reports, &Style::default()),
    );
    assert_fixture(
        "lint.json.txt",
        &lint(Format::Json, &reports, &Style::default()),
    );
    assert_fixture(
        "lint.github.txt",
        &lint(Format::Github, &reports, &Style::default()),
    );
}

#[test]
fn several_cassettes_in_each_format() {
    let mut silenced = demo_report();
    silenced.cassette = "tests/old.mcp.json".to_owned();
    silenced
        .findings
        .retain(|finding| finding.status != Status::New);
    let clean = cassette_report("tests/clean.mcp.json");
    let reports = [clean, silenced, demo_report()];
    assert_fixture(
        "several.full.txt",
        &lint(Format::Full, &reports, &style(100, false)),
    );
    assert_fixture(
        "several.text.txt",
        &lint(Format::Text, &reports, &Style::default()),
    );
    assert_fixture(
        "several.json.txt",
        &lint(Format::Json, &reports, &Style::default()),
    );
}

#[test]
fn a_comparison_in_each_format() {
    let diff = demo_diff();
    let show = |format, style: &Style| render_diff(format, &diff, false, style);
    assert_fixture("diff.full.txt", &show(Format::Full, &style(100, false)));
    assert_fixture(
        "diff.full-color.txt",
        &show(Format::Full, &style(100, true)),
    );
    assert_fixture("diff.text.txt", &show(Format::Text, &Style::default()));
    assert_fixture("diff.json.txt", &show(Format::Json, &Style::default()));
    assert_fixture("diff.github.txt", &show(Format::Github, &Style::default()));
}

#[test]
fn a_clean_cassette_says_only_that() {
    let clean = [cassette_report("a.mcp.json")];
    let on_runner = Style {
        github_actions: true,
        ..Style::default()
    };
    assert_eq!(
        lint(Format::Text, &clean, &on_runner),
        "clean: no findings\n"
    );
    assert_eq!(
        lint(Format::Full, &clean, &on_runner),
        "clean: no findings in 1 cassette\n"
    );
    assert_eq!(lint(Format::Github, &clean, &on_runner), "");
    assert_eq!(
        lint(Format::Json, &clean, &on_runner),
        concat!(
            "{\n  \"cassette\": \"a.mcp.json\",\n  \"baseline\": null,\n",
            "  \"findings\": [],\n  \"notes\": []\n}\n"
        )
    );
}

#[test]
fn notes_come_before_the_verdict_in_text() {
    let mut report = cassette_report("a.mcp.json");
    report
        .notes
        .push("skipped redacted description of tool \"echo\"".to_owned());
    assert_eq!(
        lint(Format::Text, &[report], &Style::default()),
        "note: skipped redacted description of tool \"echo\"\nclean: no findings\n"
    );
}

#[test]
fn identical_cassettes_say_what_was_compared() {
    let diff = crate::diff::Diff::default();
    let text = |tools_only| render_diff(Format::Text, &diff, tools_only, &Style::default());
    assert_eq!(text(false), "identical: no structural differences\n");
    assert_eq!(text(true), "identical: no tool surface differences\n");
    let json = render_diff(Format::Json, &diff, false, &Style::default());
    assert!(json.contains("\"identical\": true"), "{json}");
    let page = render_diff(Format::Markdown, &diff, false, &Style::default());
    assert!(page.starts_with("## mcp-cassette: identical\n"), "{page}");
}

#[test]
fn findings_that_do_not_count_are_shown_and_are_notices() {
    let mut report = demo_report();
    report
        .findings
        .retain(|finding| finding.status != Status::New);
    let text = lint(
        Format::Text,
        std::slice::from_ref(&report),
        &Style::default(),
    );
    assert!(
        text.ends_with("no new findings (1 existing, 1 accepted)\n"),
        "{text}"
    );
    assert!(text.contains(" [existing]\n"), "{text}");
    assert!(
        text.contains(" [accepted: reviewed with the vendor]\n"),
        "{text}"
    );
    let annotations = lint(Format::Github, &[report], &Style::default());
    assert!(
        annotations
            .lines()
            .all(|line| line.starts_with("::notice file=")),
        "{annotations}"
    );
}

#[test]
fn a_finding_of_the_whole_file_has_no_place() {
    let mut report = cassette_report("a.mcp.json");
    report.findings.push(Finding {
        rule: crate::finding::RuleId::bundled("R201"),
        severity: Severity::Error,
        message: "the cassette carries no redaction manifest".to_owned(),
        locator: String::new(),
        tool: None,
        region: crate::finding::Region::default(),
        fingerprint: "v1:00000000000000aa".to_owned(),
        evidence: None,
        excerpt: crate::finding::Excerpt::default(),
        status: Status::New,
    });
    let show = |format| lint(format, std::slice::from_ref(&report), &Style::default());
    assert_eq!(
        show(Format::Text),
        "R201 error - the cassette carries no redaction manifest\n"
    );
    assert_eq!(
        show(Format::Github),
        "::error file=a.mcp.json,title=R201::R201 - the cassette carries no redaction manifest\n"
    );
    assert!(show(Format::Json).contains("\"line\": null,\n"));
    assert_fixture("whole-file.full.txt", &show(Format::Full));
}

#[test]
fn a_threshold_that_nothing_reaches_is_named_in_the_summary() {
    let mut report = demo_report();
    report
        .findings
        .retain(|finding| finding.severity != Severity::Error);
    let reports = [report];
    let shown = |fail_on| render_lint(Format::Full, &reports, &style(100, false), fail_on);
    assert!(shown(Severity::Error).contains("none that counts under --fail-on error\n"));
    assert!(!shown(Severity::Warning).contains("--fail-on"));
}

#[test]
fn what_a_secret_hides_is_in_no_format() {
    let reports = [demo_report()];
    for format in FORMATS {
        let shown = lint(format, &reports, &style(200, false));
        let is_told = ![Format::Full, Format::Accept].contains(&format);
        assert!(shown.contains("ghp_aB") || !is_told, "{shown}");
        assert!(!shown.contains("ghp_aB3"), "{shown}");
    }
}

#[test]
fn rendering_twice_gives_the_same_bytes() {
    let (reports, diff) = ([demo_report()], demo_diff());
    for format in FORMATS {
        let style = style(80, true);
        assert_eq!(
            lint(format, &reports, &style),
            lint(format, &reports, &style)
        );
        assert_eq!(
            render_diff(format, &diff, false, &style),
            render_diff(format, &diff, false, &style)
        );
    }
}
