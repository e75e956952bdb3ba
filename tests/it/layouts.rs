//! A finding's place is right in any layout of the file.

use crate::support::{example, root};
use mcp_cassette::lint::Options;
use mcp_cassette::{Finding, lint};

/// The line and column of a byte offset, counted the slow way.
fn counted(text: &str, at: usize) -> (u32, u32) {
    let before = &text[..at];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().expect("a line").chars().count() + 1;
    (
        u32::try_from(line).expect("small"),
        u32::try_from(column).expect("small"),
    )
}

fn findings(text: &str) -> Vec<Finding> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("c.mcp.json");
    std::fs::write(&path, text).expect("a file");
    let findings = lint(&path, &Options::default())
        .expect("a cassette")
        .findings;
    for finding in &findings {
        let region = &finding.region;
        let start = (region.start.line, region.start.column);
        let end = (region.end.line, region.end.column);
        assert_eq!(
            start,
            counted(text, region.bytes.start),
            "{}",
            finding.message
        );
        assert_eq!(end, counted(text, region.bytes.end), "{}", finding.message);
    }
    findings
}

#[test]
fn lines_and_columns_are_those_of_the_file_in_every_layout() {
    for name in ["tools-v2", "injected", "surfaces"] {
        let original = std::fs::read_to_string(root().join(example(name))).expect("the example");
        let expected = findings(&original);
        assert!(!expected.is_empty());
        let indent = |unit: &str| {
            original
                .lines()
                .map(|line| {
                    let text = line.trim_start();
                    format!("{}{text}\n", unit.repeat((line.len() - text.len()) / 2))
                })
                .collect::<String>()
        };
        let one_line: String = original.lines().map(str::trim_start).collect();
        let layouts = [
            indent("    "),
            indent("\t"),
            original.replace('\n', "\r\n"),
            one_line,
            original.replace("\n", "\n\n \n"),
        ];
        for text in layouts {
            let found = findings(&text);
            let same = |a: &Finding, b: &Finding| {
                (&a.rule, &a.locator, &a.message, &a.fingerprint, &a.evidence)
                    == (&b.rule, &b.locator, &b.message, &b.fingerprint, &b.evidence)
            };
            assert_eq!(found.len(), expected.len());
            assert!(
                found.iter().zip(&expected).all(|(a, b)| same(a, b)),
                "{name}"
            );
        }
    }
}

#[test]
fn an_accepted_finding_stays_accepted_when_lines_move_and_not_when_the_text_changes() {
    let original = std::fs::read_to_string(root().join(example("tools-v2"))).expect("the example");
    let accept = findings(&original)
        .iter()
        .map(|finding| mcp_cassette::lint::Accept {
            rule: finding.rule.to_string(),
            fingerprint: finding.fingerprint.clone(),
            reason: "looked at".to_owned(),
            expires: Some("2027-01-01".to_owned()),
        })
        .collect();
    let mut options = Options {
        accept,
        today: Some("2026-12-31".to_owned()),
        ..Options::default()
    };
    let folder = tempfile::tempdir().expect("a folder");
    let counts = |text: &str, options: &Options| {
        let path = folder.path().join("c.mcp.json");
        std::fs::write(&path, text).expect("a file");
        let report = lint(&path, options).expect("a cassette");
        report
            .findings
            .iter()
            .filter(|finding| finding.counts(mcp_cassette::Severity::Error))
            .count()
    };
    assert_eq!(counts(&original, &options), 0);
    assert_eq!(counts(&original.replace('\n', "\n\n"), &options), 0);
    assert!(
        counts(
            &original.replace("disregard all", "disregard quite all"),
            &options
        ) > 0
    );
    options.today = Some("2027-01-02".to_owned());
    assert!(counts(&original, &options) > 0);
}
