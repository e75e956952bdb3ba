//! `redact`: takes what is personal or secret out of an existing cassette.

use super::{Context, Outcome, RuleFlags, Shared};
use crate::cassette::Cassette;
use crate::cassette::file::save_atomically;
use crate::redact::{Action, Change, Redactor, redact_cassette};
use crate::report::{guard_runner, visible};
use crate::secrets::conceal::conceal_pointer;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The options of `redact`, as they were given.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) cassettes: Vec<PathBuf>,
    pub(crate) target: Target,
    /// Whether `--to` may replace a file that is there.
    pub(crate) force: bool,
    pub(crate) rules: RuleFlags,
    pub(crate) shared: Shared,
}

/// Where the scrubbed cassette goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    InPlace,
    To(PathBuf),
    /// Nowhere: what would change is told.
    DryRun,
}

/// Scrubs every cassette in turn.
pub(crate) fn run(options: &Options, context: &Context) -> Outcome {
    if let (Target::To(_), false) = (&options.target, options.cassettes.len() == 1) {
        let given = options.cassettes.len();
        return Outcome::failed(
            "redact",
            format_args!("--to writes one cassette, and {given} are given"),
        );
    }
    let rules = options.rules.rules(context);
    let redactor = rules.and_then(|rules| Redactor::new(&rules).map_err(|error| error.to_string()));
    let redactor = match redactor {
        Ok(redactor) => redactor,
        Err(message) => return Outcome::failed("redact", message),
    };
    let mut outcome = Outcome::new("redact");
    if !options.shared.quiet {
        for warning in redactor.warnings() {
            outcome.line(format_args!("warning: {warning}"));
        }
    }
    let mut report = String::new();
    for path in &options.cassettes {
        if let Err(message) = scrub(path, options, context, &redactor, &mut report, &mut outcome) {
            outcome.error(message);
        }
    }
    outcome.stdout = match context.github_actions {
        true => guard_runner(&report),
        false => report,
    };
    outcome
}

fn scrub(
    path: &Path,
    options: &Options,
    context: &Context,
    redactor: &Redactor,
    report: &mut String,
    outcome: &mut Outcome,
) -> Result<(), String> {
    refuse_to_replace(path, options)?;
    let salvaged = Cassette::load_unfinished(path).map_err(|error| error.to_string())?;
    if let Some(note) = salvaged.note() {
        outcome.line(note);
    }
    let cassette = salvaged.cassette;
    let name = cassette.name();
    let result = redact_cassette(&cassette, redactor, &context.now);
    let result = result.map_err(|error| format!("{name}: {error}"))?;
    let whole = (result.changes.iter()).all(|change| change.action != Action::Unscanned);
    // A manifest must not say of a file that it was scrubbed if a part was not looked at.
    if whole || options.target == Target::DryRun {
        describe(name, &result.changes, result.text.is_some(), report);
    }
    for change in &result.changes {
        if change.action == Action::Unscanned {
            let why = match change.rule.as_str() {
                "" => "it is nested more than 512 levels deep".to_owned(),
                rule => format!("rule {rule} could not be tried to the end"),
            };
            let mut pointer = change.pointer.clone();
            conceal_pointer(&mut pointer);
            outcome.error(format_args!("{name}: {pointer} was not looked at: {why}"));
        }
    }
    let target = match &options.target {
        Target::DryRun => return Ok(()),
        _ if !whole => return Err(format!("{name}: nothing is written")),
        Target::InPlace if result.text.is_none() => return Ok(()),
        Target::InPlace => path,
        Target::To(target) => target,
    };
    let text = result.text.as_deref().unwrap_or(&cassette.text);
    save_atomically(target, text.as_bytes())
        .map_err(|error| format!("cannot save {}: {error}", target.display()))
}

/// An existing file is replaced only if it is the cassette itself, or on request.
fn refuse_to_replace(path: &Path, options: &Options) -> Result<(), String> {
    let Target::To(target) = &options.target else {
        return Ok(());
    };
    let there = target.exists();
    let same = || match (path.canonicalize(), target.canonicalize()) {
        (Ok(path), Ok(target)) => path == target,
        _ => false,
    };
    match there && !options.force && !same() {
        true => Err(format!(
            "{} is there already; give --force to replace it, or another file",
            target.display()
        )),
        false => Ok(()),
    }
}

/// One line for the file and one for each value.
fn describe(name: &str, changes: &[Change], saved: bool, report: &mut String) {
    let replaced = changes
        .iter()
        .filter(|change| change.action == Action::Replaced)
        .count();
    let what = match (replaced, saved) {
        (0, false) => "nothing to redact".to_owned(),
        (0, true) => "no value to redact; the manifest is updated".to_owned(),
        (1, _) => "1 value redacted".to_owned(),
        (many, _) => format!("{many} values redacted"),
    };
    // Writing to a string cannot fail.
    let _ = writeln!(report, "{}: {what}", visible(name));
    for change in changes {
        let mut pointer = change.pointer.clone();
        conceal_pointer(&mut pointer);
        let (pointer, rule) = (visible(&pointer), visible(&change.rule));
        let sample = visible(&change.sample);
        let _ = match change.action {
            Action::Replaced => writeln!(report, "    {pointer} {rule} \"{sample}\""),
            Action::Reported => writeln!(
                report,
                "    {pointer} {rule} \"{sample}\" stays: it is part of a member name"
            ),
            Action::Unscanned => Ok(()),
        };
    }
}
