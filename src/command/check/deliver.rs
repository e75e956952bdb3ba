//! Where the result of `check` goes: standard output, files, the report directory,
//! the job summary and the outputs of the workflow step.

use super::super::{Context, Outcome, Output, output};
use super::Options;
use crate::cassette::file::save_atomically;
use crate::report::{Checked, Format, Outputs, render_check, render_summary};
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Writes everything that was asked for. What cannot be written is an error of the
/// run: a report that nobody can read has told nothing.
pub(super) fn deliver(
    checked: &Checked,
    options: &Options,
    inputs: &[PathBuf],
    context: &Context,
    outcome: &mut Outcome,
) {
    let mut outputs = match plan(options, context) {
        Ok(outputs) => outputs,
        Err(message) => {
            outcome.error(message);
            Vec::new()
        }
    };
    if let Err(message) = output::refuse_inputs(&outputs, inputs.iter().map(PathBuf::as_path)) {
        if !checked.errors.contains(&message) {
            outcome.error(message);
        }
        outputs.retain(|output| output.path.is_none());
    }
    output::write(
        &outputs,
        context,
        &options.shared,
        outcome,
        |format, style| render_check(format, checked, style),
    );
    let folder = report_directory(options, context);
    let mut written = String::new();
    if let Some(folder) = &folder {
        match write_directory(checked, folder, context) {
            Ok(()) => written = folder.display().to_string(),
            Err(error) => outcome.error(format_args!(
                "cannot write the report directory {}: {error}",
                folder.display()
            )),
        }
    }
    if let Some(path) = context.variable_path("GITHUB_STEP_SUMMARY") {
        let taken = std::fs::metadata(&path).map_or(0, |meta| meta.len());
        let summary = render_summary(checked, usize::try_from(taken).unwrap_or(usize::MAX));
        if let Err(error) = append(&path, &summary) {
            outcome.error(format_args!("cannot write the job summary: {error}"));
        }
    }
    if let Some(path) = context.variable_path("GITHUB_OUTPUT") {
        let sarif = outputs.iter().find(|output| output.format == Format::Sarif);
        let sarif = sarif.and_then(|output| output.path.as_ref());
        let outputs = Outputs {
            counts: checked.counts(),
            // What went wrong while writing counts too.
            exit_code: outcome.exit.code(),
            report_path: &written,
            sarif_path: &sarif
                .map(|path| path.display().to_string())
                .unwrap_or_default(),
            baseline_commit: checked.base.commit.as_deref().unwrap_or_default(),
            baseline_reason: &checked.base.reason,
        };
        if let Err(error) = append(&path, &outputs.render()) {
            outcome.error(format_args!(
                "cannot write the outputs of the step: {error}"
            ));
        }
    }
}

/// On a runner the log is for people and the annotations for the pull request,
/// unless a format for standard output was asked for.
fn plan(options: &Options, context: &Context) -> Result<Vec<Output>, String> {
    let mut asked = options.outputs.clone();
    if context.github_actions && asked.iter().all(|output| output.path.is_some()) {
        asked.extend([Format::Text, Format::Github].map(|format| Output { format, path: None }));
    }
    output::plan(&asked, context.terminal)
}

/// The directory that was asked for, or on a runner one that goes with the job.
fn report_directory(options: &Options, context: &Context) -> Option<PathBuf> {
    let given = options.report_dir.clone();
    given.or_else(|| {
        let temporary = context.variable_path("RUNNER_TEMP");
        temporary
            .filter(|_| context.github_actions)
            .map(|folder| folder.join("mcp-cassette"))
    })
}

fn write_directory(checked: &Checked, folder: &Path, context: &Context) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let style = context.style_of_files();
    let json = render_check(Format::Json, checked, &style);
    save_atomically(&folder.join("check.json"), json.as_bytes())?;
    let summary = render_summary(checked, 0);
    save_atomically(&folder.join("summary.md"), summary.as_bytes())
}

fn append(path: &Path, text: &str) -> std::io::Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    file.write_all(text.as_bytes())
}
