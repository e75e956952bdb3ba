//! `redaction-check`: whether cassettes were scrubbed as they say, and as is required.

use super::base::Subject;
use super::gate::{self, Gate, PolicyFrom, Request};
use super::policy;
use super::redaction_rules::{packs, recorded_pack};
use super::select::Selection;
use super::{Context, Exit, Outcome, Output, Shared, output};
use crate::cassette::Cassette;
use crate::config::LintFlags;
use crate::finding::{Report, Severity, Status, says_nothing_was_checked};
use crate::lint;
use crate::redact::{CheckOptions, Manifest, PackFiles, RedactError, check};
use crate::report::{CassetteStatus, Style, render_lint};
use crate::secrets::conceal;
use std::path::PathBuf;

/// The options of `redaction-check`, as they were given.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// Cassettes, and perhaps the name of a profile before them.
    pub(crate) arguments: Vec<PathBuf>,
    pub(crate) packs: Vec<PathBuf>,
    /// `auto`, `none` or a revision; `none` if it is not given.
    pub(crate) base: Option<String>,
    pub(crate) policy_from: Option<PolicyFrom>,
    /// Findings that the base side has too count as well.
    pub(crate) all: bool,
    pub(crate) outputs: Vec<Output>,
    pub(crate) shared: Shared,
}

/// Checks every cassette in turn and reports on all of them.
pub(crate) fn run(options: &Options, context: &Context) -> Outcome {
    let mut outcome = Outcome::new("redaction-check");
    if let Err(message) = check_all(options, context, &mut outcome) {
        outcome.error(message);
    }
    outcome
}

fn check_all(options: &Options, context: &Context, outcome: &mut Outcome) -> Result<(), String> {
    let (profile, cassettes) = split(&options.arguments)?;
    let outputs = output::plan(&options.outputs, context.terminal)?;
    let inputs = cassettes.iter().chain(&options.packs);
    output::refuse_inputs(&outputs, inputs.map(PathBuf::as_path))?;
    let given = packs(&options.packs)?;
    let asked = CheckOptions {
        profile: profile.as_deref(),
        files: PackFiles {
            given: &given,
            read: &recorded_pack,
        },
    };
    let flags = LintFlags::default();
    let request = Request {
        policy: policy::Asked {
            flags: &flags,
            no_config: false,
            all: options.all,
        },
        policy_from: options.policy_from,
        base: Some(options.base.as_deref().unwrap_or("none")),
        baseline_file: false,
        selection: &|_| Ok(Selection::of_files(cassettes, &context.directory)),
    };
    gate::open(&request, context, |gate| {
        let mut reports = Vec::new();
        for subject in &gate.subjects {
            match one(subject, &asked, &gate) {
                Ok(mut report) => {
                    if options.shared.quiet {
                        report.notes.retain(|note| says_nothing_was_checked(note));
                    }
                    reports.push(report);
                }
                Err(message) => outcome.error(message),
            }
        }
        tell(
            &reports,
            cassettes.len() > 1,
            options,
            &outputs,
            context,
            outcome,
        );
        Ok(())
    })
}

fn tell(
    reports: &[Report],
    several: bool,
    options: &Options,
    outputs: &[Output],
    context: &Context,
    outcome: &mut Outcome,
) {
    let findings = || reports.iter().flat_map(|report| &report.findings);
    // Scripts look for these lines on standard error, as after `lint --require-redaction`.
    for finding in findings().filter(|finding| matches!(finding.rule.as_str(), "R201" | "R202")) {
        outcome.line(&finding.message);
    }
    if findings().any(|finding| finding.counts(Severity::Error)) {
        outcome.exit = outcome.exit.worst(Exit::Findings);
    }
    if reports.is_empty() {
        return;
    }
    let exit_code = Some(outcome.exit.code());
    let render = |format, style: &Style| {
        let style = Style {
            several,
            exit_code,
            ..style.clone()
        };
        render_lint(format, reports, &style, Severity::Error)
    };
    output::write(outputs, context, &options.shared, outcome, render);
}

fn one(subject: &Subject, asked: &CheckOptions<'_>, gate: &Gate<'_>) -> Result<Report, String> {
    let cassette = Cassette::load(&subject.path).map_err(|error| error.to_string())?;
    let notes = notes_on_packs(&cassette, asked.files.given)?;
    let side = gate.side.filter(|_| subject.has_base());
    let same = subject.status == CassetteStatus::Unchanged;
    let old = match side.filter(|_| !same) {
        Some(side) => side.load(subject).map_err(|error| error.to_string())?,
        None => None,
    };
    let old = match (same, &old) {
        (true, _) => Old::Same,
        (false, Some(old)) if old.text == cassette.text => Old::Same,
        (false, Some(old)) => Old::Cassette(old),
        (false, None) => Old::None,
    };
    let mut report = judged(&cassette, asked, &old, &gate.policy.engine).map_err(|error| {
        let mut problem = error.to_string();
        conceal::conceal(&mut problem);
        format!("{}: {problem}", cassette.name())
    })?;
    report.notes.iter_mut().for_each(conceal::conceal_pointer);
    report.notes.extend(notes);
    Ok(report)
}

/// What the base side has in the place of a cassette.
pub(super) enum Old<'c> {
    None,
    /// The same content.
    Same,
    Cassette(&'c Cassette),
}

/// The findings of one cassette, with those leftovers marked that are accepted or that the base
/// side has too.
pub(super) fn judged(
    cassette: &Cassette,
    asked: &CheckOptions<'_>,
    old: &Old<'_>,
    engine: &lint::Settings,
) -> Result<Report, RedactError> {
    let mut report = check(cassette, asked)?;
    lint::mark_accepted(&mut report.findings, engine);
    let counts = report
        .findings
        .iter()
        .any(|finding| finding.status.counts());
    match old {
        Old::Same if !engine.all => lint::mark_all_existing(&mut report.findings),
        // A base that cannot be judged has nothing that could excuse anything.
        Old::Cassette(old) if counts && !engine.all => {
            if let Ok(old) = check(old, asked) {
                lint::mark_existing(&mut report.findings, &old.findings);
            }
        }
        _ => {}
    }
    // That a profile is required is about what is there now: a base without one excuses
    // nothing, and neither does an entry.
    for finding in &mut report.findings {
        if matches!(finding.rule.as_str(), "R201" | "R202") {
            finding.status = Status::New;
        }
    }
    Ok(report)
}

/// The profile, if the first argument is one: it names no cassette and is no file.
fn split(arguments: &[PathBuf]) -> Result<(Option<String>, &[PathBuf]), String> {
    let Some((first, rest)) = arguments.split_first() else {
        return Err("a cassette is missing".to_owned());
    };
    let json = first.extension().is_some_and(|ext| ext == "json");
    if json || first.exists() {
        return Ok((None, arguments));
    }
    let profile = first.display().to_string();
    if rest.is_empty() {
        return Err(format!(
            "there is no file '{profile}', and after a profile of that name a cassette is missing"
        ));
    }
    Ok((Some(profile), rest))
}

/// What is to be said of the packs that were given.
/// What there is to say of given packs that the manifest does not name.
pub(super) fn notes_on_packs(
    cassette: &Cassette,
    given: &[(String, Vec<u8>)],
) -> Result<Vec<String>, String> {
    let name = cassette.name().to_owned();
    let told = |error: RedactError| {
        let mut problem = error.to_string();
        conceal::conceal(&mut problem);
        format!("{name}: {problem}")
    };
    let mut notes = Vec::new();
    match cassette.redaction_manifest() {
        None if !given.is_empty() => {
            return Err(format!(
                "{name} carries no redaction manifest, so that --pii-pack has nothing to resolve; \
                 run mcp-cassette redact with the pack"
            ));
        }
        None => {}
        Some(json) => {
            let manifest = Manifest::parse(json).map_err(told)?;
            for (pack, bytes) in given {
                if !manifest.names_pack(bytes) {
                    notes.push(format!(
                        "the pack {pack} is not named by this cassette's redaction manifest"
                    ));
                }
            }
        }
    }
    Ok(notes)
}
