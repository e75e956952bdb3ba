//! One cassette through all checks.

use super::super::alongside::{Old, lint_against};
use super::super::base::{BaseError, BaseSide, Subject};
use super::super::gate::Gate;
use super::super::policy::Policy;
use super::super::redaction_rules::{packs, recorded_pack};
use super::super::{Exit, redaction_check};
use super::Options;
use crate::cassette::Cassette;
use crate::config::Check;
use crate::diff::{self, Diff, DiffOptions};
use crate::finding::{Finding, Report, in_order, says_nothing_was_checked};
use crate::lint::{self, lint_cassette};
use crate::redact;
use crate::report::{CassetteStatus, CheckedCassette, RedactionVerdict};
use crate::secrets::conceal;

/// Everything that a verdict on a cassette depends on.
pub(super) struct Judge<'a> {
    policy: &'a Policy,
    side: Option<&'a BaseSide<'a>>,
    /// The file of `--baseline`.
    file: Option<Cassette>,
    lint: bool,
    diff: bool,
    redaction: bool,
    /// Packs to resolve manifests with.
    packs: Vec<(String, Vec<u8>)>,
    quiet: bool,
}

impl<'a> Judge<'a> {
    pub(super) fn new(
        options: &Options,
        gate: &'a Gate<'a>,
        file: Option<Cassette>,
    ) -> Result<Self, String> {
        let (policy, side) = (&gate.policy, gate.side);
        let comparable = file.is_some() || side.is_some();
        let named = options.checks.as_ref().or(policy.checks.as_ref());
        let runs = |check| named.is_none_or(|checks| checks.contains(&check));
        if !comparable && named.is_some_and(|checks| checks.contains(&Check::Diff)) {
            return Err(
                "the check diff needs something to compare with, and there is no baseline; give \
                 --base REV or --baseline FILE, or leave diff out of --checks"
                    .to_owned(),
            );
        }
        Ok(Judge {
            policy,
            side,
            file,
            lint: runs(Check::Lint),
            diff: comparable && runs(Check::Diff),
            redaction: runs(Check::Redaction),
            packs: packs(&options.pii_packs)?,
            quiet: options.shared.quiet,
        })
    }

    /// What is to be said of one cassette, and the exit code that it alone would have.
    pub(super) fn cassette(&self, subject: &Subject) -> (CheckedCassette, Exit) {
        let path = subject.path.display().to_string();
        let mut checked = CheckedCassette {
            report: Report {
                cassette: path.clone(),
                ..Report::default()
            },
            path,
            status: subject.status,
            old_path: subject
                .old_path
                .as_ref()
                .map(|path| path.display().to_string()),
            diff: None,
            redaction: None,
            errors: Vec::new(),
        };
        if subject.status == CassetteStatus::Deleted {
            self.deleted(subject, &mut checked);
        } else {
            self.present(subject, &mut checked);
        }
        in_order(&mut checked.report.findings);
        if self.quiet {
            let notes = &mut checked.report.notes;
            notes.retain(|note| says_nothing_was_checked(note));
        }
        if checked.status == CassetteStatus::Unreadable && checked.errors.is_empty() {
            checked.errors.push(
                "it could not be compared with the base and could be read just now; run again"
                    .to_owned(),
            );
        }
        let exit = self.verdict(&checked);
        (checked, exit)
    }

    fn deleted(&self, subject: &Subject, checked: &mut CheckedCassette) {
        let old = match self.side.map(|side| side.load(subject)) {
            Some(Ok(old)) => old,
            // It is gone, and what it was can be told no more: that is no reason to
            // refuse a change that removes a broken file.
            Some(Err(error)) => {
                checked.report.notes.push(error.to_string());
                None
            }
            None => None,
        };
        if self.diff {
            let finding = diff::cassette_deleted(&checked.path, old.as_ref());
            checked.report.findings.push(finding);
            self.accept(&mut checked.report.findings);
        } else {
            let note = "deleted, so what it recorded is no longer checked";
            checked.report.notes.push(note.to_owned());
        }
    }

    fn present(&self, subject: &Subject, checked: &mut CheckedCassette) {
        let cassette = match Cassette::load(&subject.path) {
            Ok(cassette) => cassette,
            Err(error) => {
                checked.status = CassetteStatus::Unreadable;
                checked.errors.push(error.to_string());
                return;
            }
        };
        let (report, old) = self.linted(subject, &cassette);
        let old = old.unwrap_or_else(|error| {
            // What it is by itself is still told; that it could not be compared fails.
            checked.status = CassetteStatus::Unreadable;
            checked.errors.push(error.to_string());
            Old::None
        });
        if matches!(old, Old::Same) && checked.status == CassetteStatus::Modified {
            checked.status = CassetteStatus::Unchanged;
        }
        if let (Some(file), CassetteStatus::Added) = (&self.file, checked.status) {
            checked.status = if file.text == cassette.text {
                CassetteStatus::Unchanged
            } else {
                CassetteStatus::Modified
            };
        }
        if let Some(report) = report {
            self.lint(report, &old, checked);
        }
        if self.redaction || self.policy.settings.require_redaction.is_some() {
            self.redaction(&cassette, &old, checked);
        }
        if self.diff {
            self.diff(&cassette, &old, subject, checked);
        }
        if subject.out_of_sight {
            self.out_of_sight(&old, checked);
        }
    }

    /// What became of a cassette that nothing names any more.
    fn out_of_sight(&self, old: &Old, checked: &mut CheckedCassette) {
        match &checked.old_path {
            Some(from) if self.diff => {
                let mut finding = [diff::cassette_out_of_sight(from, old.cassette())];
                self.accept(&mut finding);
                checked.report.findings.extend(finding);
            }
            _ => checked.report.notes.push(
                "this check does not look for it by its name; it was looked at because a \
                 cassette is gone"
                    .to_owned(),
            ),
        }
    }

    /// What lint says, if it is asked, and what the cassette is compared with.
    fn linted(
        &self,
        subject: &Subject,
        cassette: &Cassette,
    ) -> (Option<Report>, Result<Old, BaseError>) {
        let engine = &self.policy.engine;
        let side = self.side.filter(|_| subject.has_base());
        let old = match (&self.file, side) {
            (Some(file), _) => Ok(Old::Cassette(Box::new(file.clone()))),
            (None, None) => Ok(Old::None),
            (None, Some(_)) if subject.status == CassetteStatus::Unchanged => Ok(Old::Same),
            (None, Some(side)) if self.lint => {
                let (report, old) = lint_against(side, subject, cassette, engine);
                return (Some(report), old);
            }
            (None, Some(side)) => side
                .load(subject)
                .map(|old| Old::of(old, cassette, subject.status)),
        };
        let baseline = old.as_ref().ok().and_then(Old::cassette);
        let report = self.lint.then(|| lint_cassette(cassette, baseline, engine));
        (report, old)
    }

    fn lint(&self, mut report: Report, old: &Old, checked: &mut CheckedCassette) {
        let engine = &self.policy.engine;
        if matches!(old, Old::Same) && !engine.all {
            lint::mark_all_existing(&mut report.findings);
        }
        checked.report.baseline = report.baseline.take();
        checked.report.findings.append(&mut report.findings);
        checked.report.notes.append(&mut report.notes);
    }

    fn redaction(&self, cassette: &Cassette, old: &Old, checked: &mut CheckedCassette) {
        let wanted = self.policy.settings.require_redaction.clone();
        let options = redact::CheckOptions {
            profile: wanted.as_deref(),
            files: redact::PackFiles {
                given: &self.packs,
                read: &recorded_pack,
            },
        };
        let old = match old {
            Old::None => redaction_check::Old::None,
            Old::Same => redaction_check::Old::Same,
            Old::Cassette(old) => redaction_check::Old::Cassette(old),
        };
        let engine = &self.policy.engine;
        let mut report = match redaction_check::judged(cassette, &options, &old, engine) {
            Ok(report) => report,
            Err(error) => {
                let mut problem = error.to_string();
                conceal::conceal(&mut problem);
                checked.errors.push(problem);
                return;
            }
        };
        report.notes.iter_mut().for_each(conceal::conceal_pointer);
        if !self.redaction {
            // What the manifest says is asked for, and not whether it is true.
            report
                .findings
                .retain(|finding| finding.rule.as_str() != redact::LEFT_OVER.id);
            report.notes.clear();
        }
        let ok = report.findings.is_empty();
        checked.redaction = Some(RedactionVerdict {
            profile: cassette
                .redaction_profile()
                .flatten()
                .map(|profile| conceal::name(&profile).into_owned()),
            wanted,
            ok,
        });
        checked.report.findings.append(&mut report.findings);
        checked.report.notes.append(&mut report.notes);
    }

    fn diff(
        &self,
        cassette: &Cassette,
        old: &Old,
        subject: &Subject,
        checked: &mut CheckedCassette,
    ) {
        let mut findings = match old {
            Old::Same => {
                checked.diff = Some(Diff {
                    old: checked.path.clone(),
                    new: checked.path.clone(),
                    ..Diff::default()
                });
                return;
            }
            Old::None if subject.has_base() => return,
            Old::None => vec![diff::cassette_new(cassette)],
            Old::Cassette(old) => {
                let options = DiffOptions { tools_only: false };
                match diff::diff(old, cassette, &options) {
                    Ok(found) => {
                        let findings = diff::findings(&found, Some(old), Some(cassette));
                        checked.diff = Some(found);
                        findings
                    }
                    Err(error) => {
                        checked.errors.push(error.to_string());
                        return;
                    }
                }
            }
        };
        self.accept(&mut findings);
        checked.report.findings.append(&mut findings);
    }

    fn accept(&self, findings: &mut [Finding]) {
        lint::mark_accepted(findings, &self.policy.engine);
    }

    /// 2 for what could not be checked, then 4 for findings of lint and of the
    /// redaction check, then 5 for a surface that moved.
    fn verdict(&self, checked: &CheckedCassette) -> Exit {
        let fail_on = self.policy.settings.fail_on;
        let mut exit = Exit::Success;
        if !checked.errors.is_empty() {
            exit = Exit::CouldNotRun;
        }
        for finding in &checked.report.findings {
            exit = exit.worst(match finding.rule.as_str() {
                // Files come and go with the code; what a server offers does not.
                "R110" | "R111" if finding.counts(fail_on) => Exit::Differs,
                "R110" | "R111" => Exit::Success,
                id if diff::rules::is_rule(id) && finding.status.counts() => Exit::Differs,
                id if diff::rules::is_rule(id) => Exit::Success,
                _ if finding.counts(fail_on) => Exit::Findings,
                _ => Exit::Success,
            });
        }
        exit
    }
}
