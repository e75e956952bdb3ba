//! What holds for every report, however odd: no raw control character comes out,
//! nothing panics, and what is shown on a terminal stays inside it.

use super::samples::{demo_diff, demo_report};
use super::{FORMATS, Format, Style, lint, render_diff, reports};
use crate::diff::{Change, ChangeKind, Detail, Diff, FieldChange, Impact, MethodCount};
use crate::finding::Position;
use crate::finding::{Excerpt, Finding, Region, Report, RuleId, Severity, Status};
use crate::report::paint::columns;
use crate::report::sanitize::is_dangerous;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// Text with a taste for trouble.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "\\PC{0,12}",
        any::<char>().prop_map(String::from),
        prop::sample::select(vec![
            "\n",
            "\r",
            "\t",
            "\u{1b}[31m",
            "\u{9b}1m",
            "\0",
            "\u{7f}",
            "\u{85}",
            "\u{2028}",
            "\u{202e}",
            "\u{200b}",
            "\u{200d}",
            "\u{fe0f}",
            "⚠\u{fe0f}",
            "\u{e0041}",
            "##[error]",
            "::error::",
            "--- a",
            "+++ b",
            "@@ -1 +1 @@",
            "\n-old words here",
            "\n+new words here",
            "中文中文",
            "e\u{301}\u{301}",
            "`",
            "\\",
            "%0A",
            "\u{fdfa}",
            "\u{feff}",
            "  ",
        ])
        .prop_map(str::to_owned),
        "[a-z ]{0,200}",
    ];
    vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

fn number() -> impl Strategy<Value = u32> {
    prop_oneof![0..3_u32, 0..100_000_u32, any::<u32>()]
}

fn region() -> impl Strategy<Value = Region> {
    (number(), number(), number(), number()).prop_map(|(line, column, end_line, end_column)| {
        Region {
            start: Position { line, column },
            end: Position {
                line: end_line,
                column: end_column,
            },
            bytes: 0..0,
        }
    })
}

fn excerpt() -> impl Strategy<Value = Excerpt> {
    let ends = prop_oneof![0..40_usize, any::<usize>()];
    let range = (ends.clone(), ends).prop_map(|(start, end)| start..end);
    (
        text(),
        number(),
        number(),
        range,
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(
            |(text, line, column, highlight, cut_before, cut_after)| Excerpt {
                text,
                line,
                column,
                highlight,
                cut_before,
                cut_after,
            },
        )
}

fn finding() -> impl Strategy<Value = Finding> {
    let severity = prop::sample::select(vec![Severity::Note, Severity::Warning, Severity::Error]);
    let status = prop_oneof![
        Just(Status::New),
        Just(Status::Existing),
        text().prop_map(|reason| Status::Accepted { reason }),
        text().prop_map(|reason| Status::PendingAccept { reason }),
    ];
    let texts = (
        text(),
        text(),
        text(),
        text(),
        option::of(text()),
        option::of(text()),
    );
    (texts, severity, status, region(), excerpt()).prop_map(
        |(
            (rule, message, locator, fingerprint, tool, evidence),
            severity,
            status,
            region,
            excerpt,
        )| {
            Finding {
                rule: RuleId::from_pack(&rule),
                severity,
                message,
                locator,
                tool,
                region,
                fingerprint,
                evidence,
                excerpt,
                status,
            }
        },
    )
}

fn report() -> impl Strategy<Value = Report> {
    let lists = (vec(finding(), 0..4), vec(text(), 0..3));
    (text(), option::of(text()), lists).prop_map(|(cassette, baseline, (findings, notes))| Report {
        cassette,
        baseline,
        findings,
        notes,
    })
}

fn change() -> impl Strategy<Value = Change> {
    let kind = prop::sample::select(vec![
        ChangeKind::Added,
        ChangeKind::Removed,
        ChangeKind::Description,
        ChangeKind::InputSchema,
        ChangeKind::OutputSchema,
        ChangeKind::Title,
        ChangeKind::Annotations,
        ChangeKind::Arguments,
        ChangeKind::Attributes,
        ChangeKind::Text,
    ]);
    let impact = || {
        prop::sample::select(vec![
            Impact::Compatible,
            Impact::Unclassified,
            Impact::Breaking,
        ])
    };
    let details = vec(
        (text(), impact()).prop_map(|(text, impact)| Detail { text, impact }),
        0..3,
    );
    let texts = (text(), vec(text(), 0..5), option::of(text()), text());
    (texts, kind, impact(), details, region()).prop_map(
        |((name, diff, renamed, locator), kind, impact, details, region)| Change {
            name,
            kind,
            impact,
            diff,
            details,
            renamed,
            locator,
            region,
        },
    )
}

fn diff() -> impl Strategy<Value = Diff> {
    let changes = || vec(change(), 0..3);
    let field = (text(), option::of(text()), option::of(text()))
        .prop_map(|(field, old, new)| FieldChange { field, old, new });
    let method =
        (text(), any::<usize>(), any::<usize>()).prop_map(|(method, old_count, new_count)| {
            MethodCount {
                method,
                old_count,
                new_count,
            }
        });
    let lists = (
        vec(field, 0..2),
        vec(method, 0..2),
        vec(text(), 0..4),
        vec(text(), 0..3),
    );
    let surfaces = (changes(), changes(), changes(), changes());
    (text(), text(), lists, surfaces, any::<bool>()).prop_map(
        |(old, new, (metadata, methods, sequence, notes), surfaces, incomplete)| Diff {
            old,
            new,
            metadata,
            methods,
            tools: surfaces.0,
            prompts: surfaces.1,
            resources: surfaces.2,
            instructions: surfaces.3,
            sequence,
            notes,
            incomplete,
        },
    )
}

/// Takes the colour sequences that we write out of the output.
fn without_colour(output: &str) -> String {
    let mut plain = String::new();
    let mut rest = output;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        let end = after
            .find(|c: char| c != ';' && !c.is_ascii_digit())
            .unwrap();
        assert!(after[end..].starts_with('m'), "not a colour: {after:.20}");
        rest = &after[end + 1..];
    }
    plain + rest
}

fn assert_harmless(output: &str) {
    let mut before = ' ';
    for c in output.chars() {
        let picture = matches!(c, '\u{fe0e}' | '\u{fe0f}') && !before.is_ascii();
        assert!(
            c == '\n' || picture || !is_dangerous(c),
            "{c:?} in {output:?}"
        );
        before = c;
    }
    assert!(output.is_empty() || output.ends_with('\n'));
}

/// Rows that show a path are as long as the path.
fn assert_width(output: &str, width: usize) {
    for line in output.lines() {
        let path = line.contains("--> ") || line.starts_with("--- ") || line.starts_with("+++ ");
        let filled = columns(line.trim_end());
        assert!(path || filled <= width, "{filled} > {width}: {line:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn no_report_shows_a_control_character(
        reports in vec(report(), 0..3),
        color in any::<bool>(),
        github_actions in any::<bool>(),
        width in 0..250_usize,
    ) {
        let style = Style { color, width, github_actions, ..Style::default() };
        for format in FORMATS {
            let output = lint(format, &reports, &style);
            let output = if color && format == Format::Full { without_colour(&output) } else { output };
            assert_harmless(&output);
            if format == Format::Full && !github_actions {
                assert_width(&output, width.clamp(20, 200));
            }
        }
    }

    #[test]
    fn no_comparison_shows_a_control_character(
        diff in diff(),
        tools_only in any::<bool>(),
        color in any::<bool>(),
        github_actions in any::<bool>(),
        width in 0..250_usize,
    ) {
        let style = Style { color, width, github_actions, ..Style::default() };
        for format in FORMATS {
            let output = render_diff(format, &diff, tools_only, &style);
            let output = if color && format == Format::Full { without_colour(&output) } else { output };
            assert_harmless(&output);
            if format == Format::Full && !github_actions {
                assert_width(&output, width.clamp(20, 200));
            }
        }
    }

    #[test]
    fn json_says_what_the_model_says(report in report()) {
        let output = lint(Format::Json, std::slice::from_ref(&report), &Style::default());
        let value: serde_json::Value = serde_json::from_str(&output).unwrap();
        prop_assert_eq!(value["cassette"].as_str(), Some(report.cassette.as_str()));
        let findings = value["findings"].as_array().unwrap();
        prop_assert_eq!(findings.len(), report.findings.len());
        for (written, finding) in findings.iter().zip(&report.findings) {
            prop_assert_eq!(written["message"].as_str(), Some(finding.message.as_str()));
            prop_assert_eq!(written["tool"].as_str(), finding.tool.as_deref());
            prop_assert_eq!(written["rule"].as_str(), Some(finding.rule.as_str()));
        }
    }

    #[test]
    fn text_has_one_line_at_the_left_for_each_finding(mut report in report()) {
        for finding in &mut report.findings {
            finding.rule = RuleId::bundled("R001");
        }
        let output = lint(Format::Text, std::slice::from_ref(&report), &Style::default());
        let begun = output.lines().filter(|line| !line.starts_with("    ")).count();
        let verdict = usize::from(!report.findings.iter().any(|f| f.status.counts()));
        prop_assert_eq!(begun, report.findings.len() + report.notes.len() + verdict);
    }
}

#[test]
fn every_width_is_kept() {
    let (report, diff) = (demo_report(), demo_diff());
    for width in 20..=200 {
        for color in [false, true] {
            let style = super::style(width, color);
            let shown = lint(Format::Full, std::slice::from_ref(&report), &style);
            assert_width(&without_colour(&shown), width);
            let shown = render_diff(Format::Full, &diff, false, &style);
            assert_width(&without_colour(&shown), width);
        }
    }
}

/// Three thousand findings with messages of two kibibytes: the size of the output
/// grows with the number of findings and not faster.
#[test]
fn long_runs_stay_proportional() {
    let mut report = demo_report();
    let sample = report.findings[1].clone();
    let long = format!(
        "changed\n--- a\n+++ b\n@@ -1 +1 @@\n-{}\n+{}",
        "some words of a text ".repeat(48),
        "some other words of it ".repeat(48),
    );
    let sizes = [300, 3_000].map(|count| {
        report.findings = vec![sample.clone(); count];
        for finding in &mut report.findings {
            finding.message.clone_from(&long);
        }
        // One entry accepts findings with the same fingerprint, however many there are.
        let shown = reports().map(|format| {
            let shown = lint(
                format,
                std::slice::from_ref(&report),
                &super::style(100, false),
            );
            shown.len()
        });
        shown.collect::<Vec<usize>>()
    });
    for (few, many) in sizes[0].iter().zip(&sizes[1]) {
        assert!(*many > few * 5 && *many < few * 11, "{few} {many}");
    }
}
