//! `lint`: recorded cassettes, and what in them is hostile.

use super::{Context, Exit, Outcome, Output, Shared, output};
use crate::cassette::Cassette;
use crate::config::{self, Config, LintFlags, LintSettings, RuleList};
use crate::finding::{Report, Severity};
use crate::lint::{self, LintError, lint_cassette};
use crate::report::{Style, render_lint};
use std::path::PathBuf;

/// Fewer files than this are done before anybody could read a counter.
const PROGRESS_FROM: usize = 20;

/// The options of `lint`, as they were given.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) cassettes: Vec<PathBuf>,
    pub(crate) baseline: Option<PathBuf>,
    pub(crate) flags: LintFlags,
    pub(crate) no_config: bool,
    /// Findings that the baseline has too count as well.
    pub(crate) all: bool,
    pub(crate) outputs: Vec<Output>,
    pub(crate) shared: Shared,
}

/// What a run goes by, once options, configuration and packs are put together.
struct LintPlan {
    settings: LintSettings,
    /// The configuration file, if one was used.
    config: Option<PathBuf>,
    engine: lint::Settings,
    baseline: Option<Cassette>,
    outputs: Vec<Output>,
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
    let plan = match LintPlan::new(options, context) {
        Ok(plan) => plan,
        Err(message) => return Outcome::failed("lint", message),
    };
    let mut outcome = Outcome::new("lint");
    if let (true, Some(path)) = (options.shared.verbose, &plan.config) {
        outcome.line(format_args!("configuration: {}", path.display()));
    }
    let total = options.cassettes.len();
    let mut reports = Vec::new();
    let mut unscrubbed = false;
    for (done, path) in options.cassettes.iter().enumerate() {
        match Cassette::load(path) {
            Ok(cassette) => {
                reports.push(plan.report_on(&cassette, options.shared.quiet));
                if let Some(message) = redaction_problem(&cassette, &plan.settings) {
                    outcome.line(message);
                    unscrubbed = true;
                }
                if options.shared.verbose {
                    let messages = cassette.messages().len();
                    outcome.line(format_args!("{}: {messages} messages", cassette.name()));
                }
            }
            Err(error) => outcome.error(error),
        }
        if total > PROGRESS_FROM && !options.shared.quiet {
            progress(done + 1, total);
        }
    }
    // Entries for other cassettes of the project are unused here and are no news.
    for entry in lint::unused(&plan.engine.accept, &reports) {
        if options.shared.verbose {
            outcome.line(format_args!(
                "the accept entry for {} {} matches no finding of these cassettes",
                entry.rule, entry.fingerprint
            ));
        }
    }
    let verdict = verdict(&reports, plan.settings.fail_on, unscrubbed);
    outcome.exit = outcome.exit.worst(verdict);
    // With no report there is nothing to call clean.
    if !reports.is_empty() {
        let fail_on = plan.settings.fail_on;
        let exit_code = Some(outcome.exit.code());
        output::write(
            &plan.outputs,
            context,
            &options.shared,
            &mut outcome,
            |format, style| {
                let style = Style {
                    several: total > 1,
                    exit_code,
                    ..style.clone()
                };
                render_lint(format, &reports, &style, fail_on)
            },
        );
    }
    outcome
}

impl LintPlan {
    /// Everything that can go wrong before the first cassette is read.
    fn new(options: &Options, context: &Context) -> Result<LintPlan, String> {
        if options.baseline.is_some() && options.cassettes.len() > 1 {
            let given = options.cassettes.len();
            return Err(format!(
                "--baseline compares one cassette, and {given} are given; lint them one by one"
            ));
        }
        let outputs = output::plan(&options.outputs, context.terminal)?;
        let found = if options.no_config {
            None
        } else {
            config::discover(&context.directory).map_err(|error| error.to_string())?
        };
        let (config, path) = match found {
            Some(found) => (found.config, Some(found.path)),
            None => (Config::default(), None),
        };
        let settings = LintSettings::merge(&config, &options.flags);
        let engine = match engine(&settings, options.all, &context.today) {
            Ok(engine) => engine,
            Err(LintError::UnknownRule { valid, .. }) => {
                return Err(unknown_rule(&settings, &config, &valid));
            }
            Err(error) => return Err(error.to_string()),
        };
        let baseline = match &options.baseline {
            Some(path) => Some(Cassette::load(path).map_err(|error| error.to_string())?),
            None => None,
        };
        Ok(LintPlan {
            settings,
            config: path,
            engine,
            baseline,
            outputs,
        })
    }

    fn report_on(&self, cassette: &Cassette, quiet: bool) -> Report {
        let mut report = lint_cassette(cassette, self.baseline.as_ref(), &self.engine);
        if quiet {
            report.notes.clear();
        }
        report
    }
}

/// Names the rule that there is none of, and where it was asked for.
fn unknown_rule(settings: &LintSettings, config: &Config, valid: &[String]) -> String {
    let lists = [&settings.select, &settings.ignore];
    let asked = lists
        .into_iter()
        .find_map(|list| check_ids(list, valid).err());
    let accepted = || {
        config
            .check_accepted_rules(valid)
            .err()
            .map(|error| error.to_string())
    };
    asked
        .or_else(accepted)
        .unwrap_or_else(|| "unknown rule id".to_owned())
}

/// A misspelt id would select nothing, or ignore nothing, without a word.
fn check_ids(list: &RuleList, known: &[String]) -> Result<(), String> {
    let unknown: Vec<&String> = list.ids.iter().filter(|id| !known.contains(id)).collect();
    let Some(first) = unknown.first() else {
        return Ok(());
    };
    let quoted: Vec<String> = unknown.iter().map(|id| format!("'{id}'")).collect();
    let hint = config::nearest(
        &first.to_ascii_uppercase(),
        known.iter().map(String::as_str),
    )
    .map(|id| format!(" (did you mean \"{id}\"?)"))
    .unwrap_or_default();
    Err(format!(
        "unknown rule id {} in {}{hint}; valid ids: {}",
        quoted.join(", "),
        list.origin,
        known.join(", ")
    ))
}

/// The settings of the engine. Whether accept entries name rules can be told
/// only once the packs are loaded.
fn engine(settings: &LintSettings, all: bool, today: &str) -> Result<lint::Settings, LintError> {
    let accept = settings.accept.iter().map(|entry| lint::Accept {
        rule: entry.rule.clone(),
        fingerprint: entry.fingerprint.clone(),
        reason: entry.reason.clone(),
        expires: entry.expires.clone(),
    });
    lint::Settings::new(&lint::Options {
        select: settings.select.ids.clone(),
        ignore: settings.ignore.ids.clone(),
        pattern_packs: settings.pattern_packs.clone(),
        baseline: None,
        entropy: lint::Entropy {
            enabled: settings.entropy.enabled,
            min_bits: settings.entropy.min_bits,
            min_length: settings.entropy.min_length,
            allow: settings.entropy.allow.clone(),
        },
        accept: accept.collect(),
        all,
        today: Some(today.to_owned()),
    })
}

/// What is wrong with the redaction manifest, if a profile is required.
fn redaction_problem(cassette: &Cassette, settings: &LintSettings) -> Option<String> {
    let wanted = settings.require_redaction.as_ref()?;
    let name = cassette.name();
    let what = match cassette.redaction_profile() {
        None => "carries no redaction manifest".to_owned(),
        Some(Some(profile)) if profile == *wanted => return None,
        Some(Some(profile)) => {
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

    #[test]
    fn unknown_ids_are_quoted_and_valid_ones_are_not_blamed() {
        let known = ["R001".to_owned(), "R002".to_owned()];
        let list = RuleList {
            ids: vec!["R001".into(), "R0001".into(), "r002".into()],
            origin: "--select".into(),
        };
        assert_eq!(
            check_ids(&list, &known),
            Err(
                "unknown rule id 'R0001', 'r002' in --select (did you mean \"R001\"?); \
                 valid ids: R001, R002"
                    .into()
            )
        );
    }
}
