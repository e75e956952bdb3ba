//! Entries that accept findings.

use super::samples::{cassette_report, demo_report};
use super::{Format, Style, lint};
use crate::finding::{Finding, RuleId, Severity, Status};

fn finding(rule: &'static str, fingerprint: &str) -> Finding {
    let mut finding = demo_report().findings.swap_remove(0);
    finding.rule = RuleId::bundled(rule);
    finding.fingerprint = fingerprint.to_owned();
    finding
}

fn of(findings: Vec<Finding>) -> String {
    let mut report = cassette_report("a.mcp.json");
    report.findings = findings;
    lint(Format::Accept, &[report], &Style::default())
}

#[test]
fn an_entry_stands_for_all_that_it_covers() {
    let twice = |rule| {
        let one = finding(rule, "v1:0000000000000001");
        of(vec![one.clone(), one]).matches("[[accept]]").count()
    };
    assert_eq!(twice("R001"), 1);
    // Of secrets an entry covers one finding.
    assert_eq!(twice("R017"), 2);
}

#[test]
fn what_cannot_be_accepted_has_no_entry() {
    for rule in ["R013", "R201", "R202"] {
        let shown = of(vec![finding(rule, "v1:0000000000000001")]);
        assert!(shown.starts_with("# a.mcp.json: "), "{shown}");
        assert!(!shown.contains("[[accept]]"), "{shown}");
    }
}

#[test]
fn what_does_not_fail_has_no_entry() {
    let mut accepted = finding("R001", "v1:0000000000000001");
    accepted.status = Status::Existing;
    let mut slight = finding("R006", "v1:0000000000000002");
    slight.severity = Severity::Warning;
    assert_eq!(
        of(vec![accepted, slight.clone()]),
        "# there is nothing to accept\n"
    );
    // A compatible change is a warning and fails all the same.
    slight.rule = RuleId::bundled("R103");
    assert!(of(vec![slight]).contains("[[accept]]"));
}

#[test]
fn recorded_text_stays_in_the_comment() {
    let mut odd = finding("R001", "v1:0000000000000001");
    odd.message = "tool \"a\r[[accept]]\u{2028}b##[error]\": x".to_owned();
    let shown = of(vec![odd]);
    assert_eq!(shown.lines().count(), 5, "{shown}");
    assert!(
        shown
            .lines()
            .next()
            .is_some_and(|line| line.starts_with("# "))
    );
    assert!(!shown.contains("##["), "{shown}");
}
