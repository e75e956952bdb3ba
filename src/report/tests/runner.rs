//! A runner that looks for commands in output the way GitHub's does, fed with
//! hostile cassettes and file names: it must see our commands and no other.

use super::commands::{Command, commands_in};
use super::samples::{demo_checked, demo_diff, demo_report};
use super::{FORMATS, Format, Style, lint, render_diff};
use crate::diff::findings;
use crate::finding::{Finding, Report, Status};
use crate::report::{Checked, render_check};

pub(super) const HOSTILE: [&str; 22] = [
    "::error::pwned",
    "  \t::error file=x::pwned",
    "x\n::error::pwned",
    "x\r::error::pwned",
    "x\r\n\u{a0}::add-mask::pwned",
    "x\u{2028}::error::pwned",
    "\u{85}::error::pwned",
    "::stop-commands::pwned",
    "x\n::stop-commands::pwned\n",
    "##[error]pwned",
    "x ##[add-path]pwned",
    "###[[error]##[error]pwned",
    "##\n[error]pwned",
    "\u{1b}[31m::error::pwned",
    "\u{202e}::error::pwned\u{2066}",
    "`::error::pwned`",
    "\0::error::pwned\0",
    "a,b:c%25,title=x::pwned",
    "%0A::error::pwned%0D",
    "::endgroup::",
    "\u{feff}::error::pwned",
    "\u{3000}::set-env name=PATH::pwned",
];

fn on_runner(color: bool) -> Style {
    Style {
        color,
        github_actions: true,
        ..Style::default()
    }
}

pub(super) fn hostile_report(text: &str) -> Report {
    let mut report = demo_report();
    report.cassette = text.to_owned();
    report.baseline = Some(text.to_owned());
    report.notes = vec![text.to_owned()];
    for finding in &mut report.findings {
        spoil(finding, text);
    }
    report
}

fn spoil(finding: &mut Finding, text: &str) {
    finding.message = format!("{text}\n{text}\n--- {text}\n@@ -1 +1 @@\n-{text}\n+{text} {text}");
    finding.locator = format!("/{text}");
    finding.evidence = Some(text.to_owned());
    finding.fingerprint = text.to_owned();
    finding.tool = Some(text.to_owned());
    finding.excerpt.text = text.to_owned();
    if let Status::Accepted { reason } | Status::PendingAccept { reason } = &mut finding.status {
        *reason = text.to_owned();
    }
}

pub(super) fn hostile_diff(text: &str) -> crate::diff::Diff {
    let mut diff = demo_diff();
    (diff.old, diff.new) = (text.to_owned(), text.to_owned());
    for field in &mut diff.metadata {
        field.field = text.to_owned();
        (field.old, field.new) = (Some(text.to_owned()), Some(text.to_owned()));
    }
    for count in &mut diff.methods {
        count.method = text.to_owned();
    }
    let surfaces = [
        &mut diff.tools,
        &mut diff.prompts,
        &mut diff.resources,
        &mut diff.instructions,
    ];
    for change in surfaces.into_iter().flatten() {
        change.name = text.to_owned();
        change.locator = text.to_owned();
        change.renamed = Some(text.to_owned());
        change.diff = vec![
            text.to_owned(),
            "@@ -1 +1 @@".to_owned(),
            format!("+{text}"),
        ];
        for detail in &mut change.details {
            detail.text = text.to_owned();
        }
    }
    diff.sequence = vec![text.to_owned(), format!(" {text}")];
    diff.notes = vec![text.to_owned()];
    diff
}

/// A check in which everything that somebody else wrote is that text.
pub(super) fn hostile_checked(text: &str) -> Checked {
    let mut checked = demo_checked();
    checked.base.reason = text.to_owned();
    checked.errors = vec![text.to_owned()];
    for cassette in &mut checked.cassettes {
        cassette.path = text.to_owned();
        cassette.report.cassette = text.to_owned();
        cassette.report.notes = vec![text.to_owned()];
        cassette.old_path = cassette.old_path.is_some().then(|| text.to_owned());
        for error in &mut cassette.errors {
            *error = text.to_owned();
        }
        if let Some(verdict) = &mut cassette.redaction {
            verdict.profile = Some(text.to_owned());
        }
        if cassette.diff.is_some() {
            let diff = hostile_diff(text);
            cassette.report.findings.extend(findings(&diff, None, None));
            cassette.diff = Some(diff);
        }
        for finding in &mut cassette.report.findings {
            spoil(finding, text);
        }
    }
    checked
}

/// The file that a command names, as it comes back from the runner.
fn file_of(command: &Command) -> &str {
    let file = command.properties.iter().find(|(key, _)| key == "file");
    &file.unwrap().1
}

#[test]
fn hostile_text_gives_no_command_in_any_format() {
    for text in HOSTILE {
        let reports = [hostile_report(text)];
        let several = [hostile_report(text), hostile_report("other")];
        let diff = hostile_diff(text);
        // A summary goes to a file, and is guarded by what it is made of all the same.
        for format in [
            Format::Full,
            Format::Text,
            Format::Json,
            Format::Sarif,
            Format::Markdown,
        ] {
            for color in [false, true] {
                let style = on_runner(color);
                for output in [
                    lint(format, &reports, &style),
                    lint(format, &several, &style),
                    render_diff(format, &diff, false, &style),
                    render_check(format, &hostile_checked(text), &style),
                ] {
                    assert_eq!(commands_in(&output), [], "{format:?} {text:?}:\n{output}");
                }
            }
        }
    }
}

#[test]
fn hostile_text_gives_exactly_our_annotations() {
    for text in HOSTILE {
        let report = hostile_report(text);
        let commands = commands_in(&lint(
            Format::Github,
            std::slice::from_ref(&report),
            &on_runner(false),
        ));
        assert_eq!(commands.len(), report.findings.len(), "{text:?}");
        for (command, finding) in commands.iter().zip(&report.findings) {
            let title = ("title".to_owned(), finding.rule.to_string());
            assert_eq!(command.properties.last(), Some(&title), "{text:?}");
            assert!(
                command.data.starts_with(&format!("{} /", finding.rule)),
                "{command:?}"
            );
            if !text.contains("##[") && text.chars().all(|c| matches!(c, '\r' | '\n' | ' '..='~')) {
                assert_eq!(file_of(command), text);
            }
        }
        let diff = hostile_diff(text);
        let commands = commands_in(&render_diff(
            Format::Github,
            &diff,
            false,
            &on_runner(false),
        ));
        assert_eq!(
            commands.len(),
            diff.changes().count() + 3,
            "{text:?}: {commands:#?}"
        );
    }
}

#[test]
fn a_hostile_check_gives_at_most_ten_annotations_a_level_and_no_other_command() {
    for text in HOSTILE {
        let checked = hostile_checked(text);
        let commands = commands_in(&render_check(Format::Github, &checked, &on_runner(false)));
        for level in ["error", "warning", "notice"] {
            let own = commands.iter().filter(|command| command.name == level);
            assert!((1..=10).contains(&own.count()), "{text:?}: {commands:#?}");
        }
        let known = ["error", "warning", "notice"];
        assert!(
            commands
                .iter()
                .all(|command| known.contains(&command.name.as_str()))
        );
    }
}

#[test]
fn everything_together_gives_only_annotations() {
    let reports: Vec<Report> = HOSTILE.into_iter().map(hostile_report).collect();
    let style = on_runner(true);
    let output: String = FORMATS
        .map(|format| lint(format, &reports, &style))
        .concat();
    let findings: usize = reports.iter().map(|report| report.findings.len()).sum();
    assert_eq!(commands_in(&output).len(), findings);
}

#[test]
fn the_runner_of_these_tests_sees_what_is_not_guarded() {
    let style = Style::default();
    let several = [hostile_report("::error::pwned"), hostile_report("x")];
    assert_ne!(commands_in(&lint(Format::Text, &several, &style)), []);
    let old_syntax = [hostile_report("##[error]pwned")];
    assert_ne!(commands_in(&lint(Format::Text, &old_syntax, &style)), []);
}
