//! Entries for the configuration that accept what made a run fail, as TOML. Their reasons are
//! left to whoever pastes them: the configuration refuses an entry without one.

use super::checked::Checked;
use super::sanitize::{visible, without_old_commands};
use super::text::{is_change, standing};
use super::wording;
use crate::finding::{Finding, Report, Severity, Status};
use crate::lint::counts_one_by_one;
use std::collections::HashSet;
use std::fmt::Write as _;

/// Rules of which no finding can be accepted.
const NEVER: [&str; 3] = ["R013", "R201", "R202"];

/// What counts of one or more cassettes.
pub(super) fn lint(reports: &[Report], fail_on: Severity) -> String {
    let mut entries = Entries::default();
    for report in reports {
        entries.add(&report.cassette, &report.findings, fail_on);
    }
    entries.finish()
}

/// The changes of one comparison.
pub(super) fn diff(name: &str, findings: &[Finding]) -> String {
    let mut entries = Entries::default();
    entries.add(name, findings, Severity::Error);
    entries.finish()
}

/// What made a check fail. What could not be checked is told: no entry helps there.
pub(super) fn check(checked: &Checked) -> String {
    let mut entries = Entries::default();
    for (path, problem) in checked.problems() {
        let place = path.map(|path| format!("{path}: ")).unwrap_or_default();
        entries.comment(&format!("{place}not checked: {problem}"));
    }
    for cassette in &checked.cassettes {
        let findings = &cassette.report.findings;
        entries.add(&cassette.path, findings, checked.fail_on);
    }
    entries.finish()
}

#[derive(Default)]
struct Entries {
    out: String,
    /// Rules and fingerprints that have an entry.
    written: HashSet<(String, String)>,
}

impl Entries {
    fn add(&mut self, cassette: &str, findings: &[Finding], fail_on: Severity) {
        for finding in findings {
            let fails = finding.counts(fail_on) || is_change(finding) && finding.status.counts();
            if fails {
                self.finding(cassette, finding);
            }
        }
    }

    fn finding(&mut self, cassette: &str, finding: &Finding) {
        let rule = finding.rule.as_str();
        let message = finding.message.lines().next().unwrap_or_default();
        let place = wording::place(&finding.locator);
        let told = format!("{cassette}: {rule} {place} {message}");
        if NEVER.contains(&rule) {
            self.comment(&format!("{told}: this cannot be accepted"));
            return;
        }
        if let Status::PendingAccept { .. } = finding.status {
            self.comment(&format!("{told}{}", standing(&finding.status)));
            return;
        }
        let key = (rule.to_owned(), finding.fingerprint.clone());
        if !self.written.insert(key) && !counts_one_by_one(rule) {
            return;
        }
        self.comment(&told);
        let _ = write!(
            self.out,
            "[[accept]]\nrule = {}\nfingerprint = {}\nreason = \"\"\n",
            quoted(rule),
            quoted(&finding.fingerprint),
        );
    }

    /// A paragraph begins, with a line for people. Whatever it quotes, it stays one line.
    fn comment(&mut self, text: &str) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        let text = visible(text);
        let _ = writeln!(self.out, "# {}", without_old_commands(&text));
    }

    fn finish(self) -> String {
        if self.out.is_empty() {
            return "# there is nothing to accept\n".to_owned();
        }
        self.out
    }
}

/// A basic string of TOML. What JSON escapes is written the same there.
fn quoted(text: &str) -> String {
    let text = serde_json::Value::from(visible(text)).to_string();
    text.replace("##[", "##\\u005b")
}
