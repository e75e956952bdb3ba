//! `diff`: two cassettes, and what moved between them.

use super::{Context, Exit, Outcome, Output, Shared, output};
use crate::cassette::Cassette;
use crate::diff::{DiffOptions, diff, findings};
use crate::report::{Style, render_diff};
use std::path::PathBuf;

/// The options of `diff`.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) old: PathBuf,
    pub(crate) new: PathBuf,
    pub(crate) tools_only: bool,
    pub(crate) outputs: Vec<Output>,
    pub(crate) shared: Shared,
}

/// Compares two files and reports in every format that was asked for.
pub(crate) fn run(options: &Options, context: &Context) -> Outcome {
    let mut outcome = Outcome::new("diff");
    let outputs = match output::plan(&options.outputs, context.terminal) {
        Ok(outputs) => outputs,
        Err(message) => return Outcome::failed("diff", message),
    };
    // Both are read before giving up, so that both problems are told.
    let mut load = |path: &PathBuf| {
        Cassette::load(path)
            .map_err(|error| outcome.error(error))
            .ok()
    };
    let (Some(old), Some(new)) = (load(&options.old), load(&options.new)) else {
        return outcome;
    };
    let mut diff = match diff(
        &old,
        &new,
        &DiffOptions {
            tools_only: options.tools_only,
        },
    ) {
        Ok(diff) => diff,
        Err(message) => return Outcome::failed("diff", message),
    };
    if options.shared.quiet {
        diff.notes.clear();
    }
    if !diff.identical() {
        outcome.exit = Exit::Differs;
    }
    let changed = findings(&diff, Some(&old), Some(&new));
    let exit_code = Some(outcome.exit.code());
    output::write(
        &outputs,
        context,
        &options.shared,
        &mut outcome,
        |format, style| {
            let style = Style {
                exit_code,
                ..style.clone()
            };
            render_diff(format, &diff, &changed, options.tools_only, &style)
        },
    );
    outcome
}
