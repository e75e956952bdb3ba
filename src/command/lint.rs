//! `lint`: recorded cassettes, and what in them is hostile.

use super::alongside::{Old, lint_against};
use super::base::Subject;
use super::gate::{self, Gate, PolicyFrom, Request};
use super::policy;
use super::select::Selection;
use super::{Context, Exit, Outcome, Output, Shared, output};
use crate::cassette::Cassette;
use crate::config::{LintFlags, LintSettings};
use crate::finding::{Report, Severity, says_nothing_was_checked};
use crate::lint::{self, lint_cassette};
use crate::report::{Style, render_lint};
use crate::secrets::conceal;
use std::path::PathBuf;

/// Fewer files than this are done before anybody could read a counter.
const PROGRESS_FROM: usize = 20;

/// The options of `lint`, as they were given.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) cassettes: Vec<PathBuf>,
    pub(crate) baseline: Option<PathBuf>,
    /// `auto`, `none` or a revision; `none` if it is not given.
    pub(crate) base: Option<String>,
    pub(crate) policy_from: Option<PolicyFrom>,
    pub(crate) flags: LintFlags,
    pub(crate) no_config: bool,
    /// Findings that the baseline has too count as well.
    pub(crate) all: bool,
    pub(crate) outputs: Vec<Output>,
    pub(crate) shared: Shared,
}

/// Lints every cassette in turn and reports on all of them.
///
/// A cassette is dropped before the next one is read, so memory is that of the
/// largest. `progress` is told how many of how many are done.
pub(crate) fn run(
    options: &Options,
    context: &Context,
    progress: &mut dyn FnMut(usize, usize),
) -> Outcome {
    let mut outcome = Outcome::new("lint");
    let linted = prepare(options, context).and_then(|(outputs, file)| {
        let request = Request {
            policy: policy::Asked {
                flags: &options.flags,
                no_config: options.no_config,
                all: options.all,
            },
            policy_from: options.policy_from,
            base: Some(options.base.as_deref().unwrap_or("none")),
            baseline_file: false,
            selection: &|_| Ok(Selection::of_files(&options.cassettes, &context.directory)),
        };
        gate::open(&request, context, |gate| {
            let inputs = gate.inputs().chain(options.baseline.as_deref());
            output::refuse_inputs(&outputs, inputs)?;
            let linting = Linting {
                options,
                gate: &gate,
                file,
            };
            let reports = linting.all(&mut outcome, progress);
            linting.report(&reports, &outputs, context, &mut outcome);
            Ok(())
        })
    });
    if let Err(message) = linted {
        outcome.error(message);
    }
    outcome
}

/// What can go wrong before anything else is looked at.
fn prepare(
    options: &Options,
    context: &Context,
) -> Result<(Vec<Output>, Option<Cassette>), String> {
    if let (Some(_), given @ 2..) = (&options.baseline, options.cassettes.len()) {
        return Err(format!(
            "--baseline compares one cassette, and {given} are given; lint them one by one"
        ));
    }
    let outputs = output::plan(&options.outputs, context.terminal)?;
    let baseline = options.baseline.as_ref().map(Cassette::load).transpose();
    Ok((outputs, baseline.map_err(|error| error.to_string())?))
}

struct Linting<'a> {
    options: &'a Options,
    gate: &'a Gate<'a>,
    /// The file of `--baseline`.
    file: Option<Cassette>,
}

impl Linting<'_> {
    fn all(
        &self,
        outcome: &mut Outcome,
        progress: &mut dyn FnMut(usize, usize),
    ) -> (Vec<Report>, bool) {
        let shared = &self.options.shared;
        let policy = &self.gate.policy;
        if let (true, Some(path)) = (shared.verbose, &policy.config) {
            outcome.line(format_args!("configuration: {}", path.display()));
        }
        if !shared.quiet {
            for note in &policy.notes {
                outcome.line(note);
            }
        }
        let total = self.gate.subjects.len();
        let mut reports = Vec::new();
        let mut unscrubbed = false;
        for (done, subject) in self.gate.subjects.iter().enumerate() {
            match Cassette::load(&subject.path) {
                Ok(cassette) => {
                    reports.extend(self.one(&cassette, subject, outcome));
                    if let Some(message) = redaction_problem(&cassette, &policy.settings) {
                        outcome.line(message);
                        unscrubbed = true;
                    }
                    if shared.verbose {
                        let messages = cassette.messages().len();
                        outcome.line(format_args!("{}: {messages} messages", cassette.name()));
                    }
                }
                Err(error) => outcome.error(error),
            }
            if total > PROGRESS_FROM && !shared.quiet {
                progress(done + 1, total);
            }
        }
        (reports, unscrubbed)
    }

    /// None if there is a baseline that cannot be read: without it the report could
    /// call clean what has drifted.
    fn one(&self, cassette: &Cassette, subject: &Subject, outcome: &mut Outcome) -> Option<Report> {
        let engine = &self.gate.policy.engine;
        let mut report = match (&self.file, self.gate.side) {
            (Some(file), _) => lint_cassette(cassette, Some(file), engine),
            (None, None) => lint_cassette(cassette, None, engine),
            (None, Some(side)) => match lint_against(side, subject, cassette, engine) {
                (report, Ok(Old::Same)) => same_as_base(report, subject, engine),
                (report, Ok(_)) => report,
                (_, Err(error)) => {
                    outcome.error(error);
                    return None;
                }
            },
        };
        if self.options.shared.quiet {
            report.notes.retain(|note| says_nothing_was_checked(note));
        }
        Some(report)
    }

    fn report(
        &self,
        (reports, unscrubbed): &(Vec<Report>, bool),
        outputs: &[Output],
        context: &Context,
        outcome: &mut Outcome,
    ) {
        let shared = &self.options.shared;
        // Entries for other cassettes of the project are unused here and are no news.
        if shared.verbose {
            let findings = reports.iter().flat_map(|report| &report.findings);
            for entry in lint::unused(&self.gate.policy.engine.accept, findings) {
                outcome.line(format_args!(
                    "the accept entry for {} {} matches no finding of these cassettes",
                    entry.rule, entry.fingerprint
                ));
            }
        }
        let fail_on = self.gate.policy.settings.fail_on;
        let verdict = verdict(reports, fail_on, *unscrubbed);
        outcome.exit = outcome.exit.worst(verdict);
        // With no report there is nothing to call clean.
        if reports.is_empty() {
            return;
        }
        let several = self.options.cassettes.len() > 1;
        let exit_code = Some(outcome.exit.code());
        output::write(outputs, context, shared, outcome, |format, style| {
            let style = Style {
                several,
                exit_code,
                ..style.clone()
            };
            render_lint(format, reports, &style, fail_on)
        });
    }
}

/// The report on a cassette that is what it was.
fn same_as_base(mut report: Report, subject: &Subject, engine: &lint::Settings) -> Report {
    report.baseline = Some(subject.shown_on_base());
    if !engine.all {
        lint::mark_all_existing(&mut report.findings);
    }
    report
}

/// What is wrong with the redaction manifest, if a profile is required.
fn redaction_problem(cassette: &Cassette, settings: &LintSettings) -> Option<String> {
    let wanted = settings.require_redaction.as_ref()?;
    let name = cassette.name();
    let what = match cassette.redaction_profile() {
        None => "carries no redaction manifest".to_owned(),
        Some(Some(profile)) if profile == *wanted => return None,
        Some(Some(profile)) => {
            let profile = conceal::name(&profile);
            format!("was scrubbed with the redaction profile '{profile}', expected '{wanted}'")
        }
        Some(None) => {
            format!("has a redaction manifest that names no profile, expected '{wanted}'")
        }
    };
    Some(format!(
        "{name} {what}; re-record it: mcp-cassette record --redact-profile {wanted} \
         --cassette {name} -- COMMAND"
    ))
}

/// The verdict on what could be read.
fn verdict(reports: &[Report], fail_on: Severity, unscrubbed: bool) -> Exit {
    let mut findings = reports.iter().flat_map(|report| &report.findings);
    if unscrubbed || findings.any(|finding| finding.counts(fail_on)) {
        Exit::Findings
    } else {
        Exit::Success
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Excerpt, Finding, Region, RuleId, Status};

    fn report(severity: Severity, status: Status) -> Report {
        let finding = Finding {
            rule: RuleId::bundled("R001"),
            severity,
            message: String::new(),
            locator: String::new(),
            tool: None,
            region: Region::default(),
            fingerprint: String::new(),
            evidence: None,
            excerpt: Excerpt::default(),
            status,
        };
        Report {
            findings: vec![finding],
            ..Report::default()
        }
    }

    #[test]
    fn only_what_counts_at_the_threshold_fails() {
        let warning = report(Severity::Warning, Status::New);
        let error = report(Severity::Error, Status::New);
        let existing = report(Severity::Error, Status::Existing);
        let verdict =
            |report: &Report, fail_on| verdict(std::slice::from_ref(report), fail_on, false);
        assert_eq!(verdict(&warning, Severity::Error), Exit::Success);
        assert_eq!(verdict(&warning, Severity::Warning), Exit::Findings);
        assert_eq!(verdict(&error, Severity::Error), Exit::Findings);
        assert_eq!(verdict(&existing, Severity::Warning), Exit::Success);
    }

    #[test]
    fn a_missing_redaction_profile_fails_without_a_finding() {
        assert_eq!(verdict(&[], Severity::Error, true), Exit::Findings);
        assert_eq!(verdict(&[], Severity::Error, false), Exit::Success);
    }
}
