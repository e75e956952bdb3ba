//! `diff`: two cassettes, or cassettes and their base, and what moved between them.

use super::gate::{self, Gate, PolicyFrom, Request};
use super::policy;
use super::select::Selection;
use super::{Context, Exit, Outcome, Output, Shared, output};
use crate::cassette::Cassette;
use crate::config::LintFlags;
use crate::diff::{self, Diff, DiffOptions, findings};
use crate::finding::{Finding, Report, Severity, says_nothing_was_checked};
use crate::report::{
    BaseShown, CassetteStatus, Checked, CheckedCassette, Format, Style, render_check, render_diff,
    render_diffs,
};
use std::path::PathBuf;

/// The options of `diff`.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// The older and the newer one; with a base any number, each of which is
    /// compared with what it was there.
    pub(crate) cassettes: Vec<PathBuf>,
    /// `auto`, `none` or a revision.
    pub(crate) base: Option<String>,
    pub(crate) tools_only: bool,
    pub(crate) outputs: Vec<Output>,
    pub(crate) shared: Shared,
}

/// Compares and reports in every format that was asked for.
pub(crate) fn run(options: &Options, context: &Context) -> Outcome {
    let mut outcome = Outcome::new("diff");
    let planned = output::plan(&options.outputs, context.terminal).and_then(|outputs| {
        let inputs = options.cassettes.iter().map(PathBuf::as_path);
        output::refuse_inputs(&outputs, inputs).map(|()| outputs)
    });
    let outputs = match planned {
        Ok(outputs) => outputs,
        Err(message) => return Outcome::failed("diff", message),
    };
    let compared = match (&options.base, options.cassettes.as_slice()) {
        (None, [old, new]) => {
            two_files(old, new, options, &outputs, context, &mut outcome);
            Ok(())
        }
        (None, given) => Err(format!(
            "two cassettes are compared, the older and the newer one, and {} given; with \
             --base REV each cassette is compared with what it was there",
            match given.len() {
                1 => "1 is".to_owned(),
                many => format!("{many} are"),
            }
        )),
        (Some(base), _) => with_base(base, options, &outputs, context, &mut outcome),
    };
    if let Err(message) = compared {
        outcome.error(message);
    }
    outcome
}

fn two_files(
    old: &PathBuf,
    new: &PathBuf,
    options: &Options,
    outputs: &[Output],
    context: &Context,
    outcome: &mut Outcome,
) {
    // Both are read before giving up, so that both problems are told.
    let mut load = |path: &PathBuf| {
        Cassette::load(path)
            .map_err(|error| outcome.error(error))
            .ok()
    };
    let (Some(old), Some(new)) = (load(old), load(new)) else {
        return;
    };
    match options.compare(&old, &new) {
        Ok((diff, changed)) => one(&diff, &changed, options, outputs, context, outcome),
        Err(message) => outcome.error(message),
    }
}

/// Reports on one comparison.
fn one(
    diff: &Diff,
    changed: &[Finding],
    options: &Options,
    outputs: &[Output],
    context: &Context,
    outcome: &mut Outcome,
) {
    if !diff.identical() {
        outcome.exit = outcome.exit.worst(Exit::Differs);
    }
    let exit_code = Some(outcome.exit.code());
    let shared = &options.shared;
    output::write(outputs, context, shared, outcome, |format, style| {
        let style = Style {
            exit_code,
            ..style.clone()
        };
        render_diff(format, diff, changed, options.tools_only, &style)
    });
}

fn with_base(
    base: &str,
    options: &Options,
    outputs: &[Output],
    context: &Context,
    outcome: &mut Outcome,
) -> Result<(), String> {
    let flags = LintFlags::default();
    let request = Request {
        policy: policy::Asked {
            flags: &flags,
            no_config: true,
            all: false,
        },
        policy_from: Some(PolicyFrom::Head),
        base: Some(base),
        baseline_file: false,
        selection: &|_| Ok(Selection::of_files(&options.cassettes, &context.directory)),
    };
    gate::open(&request, context, |gate| {
        let compared: Vec<CheckedCassette> = gate
            .subjects
            .iter()
            .map(|subject| options.subject(subject, &gate, outcome))
            .collect();
        if let ([only], [_]) = (compared.as_slice(), options.cassettes.as_slice())
            && let Some(diff) = &only.diff
        {
            one(
                diff,
                &only.report.findings,
                options,
                outputs,
                context,
                outcome,
            );
            return Ok(());
        }
        if compared
            .iter()
            .any(|cassette| cassette.diff.as_ref().is_some_and(|diff| !diff.identical()))
        {
            outcome.exit = outcome.exit.worst(Exit::Differs);
        }
        let checked = Checked {
            base: BaseShown {
                commit: gate.commit.clone(),
                reason: gate.reason.clone(),
            },
            cassettes: compared,
            errors: Vec::new(),
            exit_code: outcome.exit.code(),
            fail_on: Severity::Note,
            judged: false,
        };
        let shared = &options.shared;
        output::write(outputs, context, shared, outcome, |format, style| {
            if format == Format::Json {
                let diffs = checked.cassettes.iter();
                render_diffs(diffs.filter_map(|cassette| cassette.diff.as_ref()))
            } else {
                render_check(format, &checked, style)
            }
        });
        Ok(())
    })
}

impl Options {
    fn compare(&self, old: &Cassette, new: &Cassette) -> Result<(Diff, Vec<Finding>), String> {
        let options = DiffOptions {
            tools_only: self.tools_only,
        };
        let mut diff = diff::diff(old, new, &options).map_err(|error| error.to_string())?;
        if self.shared.quiet {
            diff.notes.retain(|note| says_nothing_was_checked(note));
        }
        let changed = findings(&diff, Some(old), Some(new));
        Ok((diff, changed))
    }

    /// One cassette and what it was on the base side; a new one has nothing that it
    /// could differ from.
    fn subject(
        &self,
        subject: &super::base::Subject,
        gate: &Gate<'_>,
        outcome: &mut Outcome,
    ) -> CheckedCassette {
        let mut checked = CheckedCassette {
            path: subject.path.display().to_string(),
            status: subject.status,
            old_path: subject
                .old_path
                .as_ref()
                .map(|path| path.display().to_string()),
            report: Report::default(),
            diff: None,
            redaction: None,
            errors: Vec::new(),
        };
        let sides = Cassette::load(&subject.path)
            .map_err(|error| error.to_string())
            .and_then(|new| {
                let old = gate.side.map(|side| side.load(subject)).transpose();
                let old = old.map_err(|error| error.to_string())?;
                Ok((old.flatten(), new))
            });
        let compared = sides.and_then(|(old, new)| match old {
            Some(old) => {
                if old.text == new.text && checked.status == CassetteStatus::Modified {
                    checked.status = CassetteStatus::Unchanged;
                }
                self.compare(&old, &new).map(Some)
            }
            None => Ok(None),
        });
        match compared {
            Ok(Some((diff, changed))) => {
                checked.report.findings = changed;
                checked.diff = Some(diff);
            }
            Ok(None) => {
                let reason = &gate.reason;
                checked.report.notes.push(match gate.side {
                    Some(_) => "new: the base has no such cassette to compare with".to_owned(),
                    None => format!("not compared: {reason}"),
                });
            }
            Err(message) => {
                outcome.error(&message);
                checked.status = CassetteStatus::Unreadable;
                checked.errors.push(message);
            }
        }
        checked
    }
}
