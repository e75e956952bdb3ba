//! `redaction-check`: whether cassettes were scrubbed as they say, and as is required.

use super::redaction_rules::{packs, recorded_pack};
use super::{Context, Exit, Outcome, Output, Shared, output};
use crate::cassette::Cassette;
use crate::finding::{Report, Severity};
use crate::redact::{CheckOptions, Manifest, PackFiles, RedactError, check};
use crate::report::{Style, render_lint};
use crate::secrets::conceal;
use std::path::PathBuf;

/// The options of `redaction-check`, as they were given.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// Cassettes, and perhaps the name of a profile before them.
    pub(crate) arguments: Vec<PathBuf>,
    pub(crate) packs: Vec<PathBuf>,
    pub(crate) outputs: Vec<Output>,
    pub(crate) shared: Shared,
}

/// Checks every cassette in turn and reports on all of them.
pub(crate) fn run(options: &Options, context: &Context) -> Outcome {
    let (profile, cassettes) = match split(&options.arguments) {
        Ok(split) => split,
        Err(message) => return Outcome::failed("redaction-check", message),
    };
    let planned = output::plan(&options.outputs, context.terminal);
    let given = packs(&options.packs);
    let (outputs, given) = match (planned, given) {
        (Ok(outputs), Ok(given)) => (outputs, given),
        (Err(message), _) | (_, Err(message)) => {
            return Outcome::failed("redaction-check", message);
        }
    };
    let asked = CheckOptions {
        profile: profile.as_deref(),
        files: PackFiles {
            given: &given,
            read: &recorded_pack,
        },
    };
    let mut outcome = Outcome::new("redaction-check");
    let mut reports = Vec::new();
    for path in cassettes {
        match report_on(path, &asked) {
            Ok(mut report) => {
                if options.shared.quiet {
                    report.notes.clear();
                }
                reports.push(report);
            }
            Err(message) => outcome.error(message),
        }
    }
    let findings = || reports.iter().flat_map(|report| &report.findings);
    // Scripts look for these lines on standard error, as after `lint --require-redaction`.
    for finding in findings().filter(|finding| matches!(finding.rule.as_str(), "R201" | "R202")) {
        outcome.line(&finding.message);
    }
    if findings().any(|finding| finding.counts(Severity::Error)) {
        outcome.exit = outcome.exit.worst(Exit::Findings);
    }
    if !reports.is_empty() {
        let several = cassettes.len() > 1;
        let render = |format, style: &Style| {
            let style = Style {
                several,
                ..style.clone()
            };
            render_lint(format, &reports, &style, Severity::Error)
        };
        output::write(&outputs, context, &options.shared, &mut outcome, render);
    }
    outcome
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

fn report_on(path: &PathBuf, asked: &CheckOptions<'_>) -> Result<Report, String> {
    let cassette = Cassette::load(path).map_err(|error| error.to_string())?;
    let name = cassette.name().to_owned();
    let told = |error: RedactError| {
        let mut problem = error.to_string();
        conceal::conceal(&mut problem);
        format!("{name}: {problem}")
    };
    let given = asked.files.given;
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
    let mut report = check(&cassette, asked).map_err(told)?;
    report.notes.iter_mut().for_each(conceal::conceal_pointer);
    report.notes.extend(notes);
    Ok(report)
}
