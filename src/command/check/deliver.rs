//! Where the result of `check` goes: standard output, files, the report directory,
//! the job summary and the outputs of the workflow step.

use super::super::{Context, Outcome, Output, output};
use super::Options;
use crate::cassette::file::save_atomically;
use crate::report::{Checked, Format, Outputs, Style, render_check, render_summary};
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The variable with the file of the job summary.
const SUMMARY: &str = "GITHUB_STEP_SUMMARY";
/// The variable with the file of the outputs of the step.
const OUTPUTS: &str = "GITHUB_OUTPUT";

/// Writes everything that was asked for. What cannot be written is an error of the
/// run: a report that nobody can read has told nothing.
///
/// Whether all of it can be written is tried before the verdict is told anywhere, so
/// that every report has the exit code that the run will have.
pub(super) fn deliver(
    checked: &mut Checked,
    options: &Options,
    inputs: &[PathBuf],
    context: &Context,
    outcome: &mut Outcome,
) {
    let mut problems = Vec::new();
    let mut outputs = match plan(options, context) {
        Ok(outputs) => outputs,
        Err(message) => {
            problems.push(message);
            vec![Output {
                format: Format::Text,
                path: None,
            }]
        }
    };
    if let Err(message) = output::refuse_inputs(&outputs, inputs.iter().map(PathBuf::as_path)) {
        if !checked.errors.contains(&message) {
            problems.push(message);
        }
        outputs.retain(|output| output.path.is_none());
    }
    let folder = report_directory(options, context);
    problems.extend(obstacles(checked, &outputs, folder.as_deref(), context));
    for problem in problems {
        outcome.error(&problem);
        checked.errors.push(problem);
    }
    checked.exit_code = outcome.exit.code();
    let render = |format, style: &Style| render_check(format, checked, style);
    output::print(&outputs, context, &options.shared, outcome, render);
    // A second failure is the first one again, and was told.
    let _ = output::files(&outputs, context, render);
    let written = folder.filter(|folder| write_directory(checked, folder, context).is_ok());
    if let Some(path) = context.variable_path(SUMMARY) {
        summarise(checked, &path, outcome);
    }
    if let Some(path) = context.variable_path(OUTPUTS) {
        let sarif = outputs.iter().find(|output| output.format == Format::Sarif);
        let sarif = sarif.and_then(|output| output.path.as_ref());
        let shown = |path: Option<&PathBuf>| path.map(|path| path.display().to_string());
        let outputs = Outputs {
            counts: checked.counts(),
            exit_code: outcome.exit.code(),
            report_path: &shown(written.as_ref()).unwrap_or_default(),
            sarif_path: &shown(sarif.filter(|path| path.is_file())).unwrap_or_default(),
            baseline_commit: checked.base.commit.as_deref().unwrap_or_default(),
            baseline_reason: &checked.base.reason,
        };
        // That it can be opened was tried.
        let _ = append(&path, &outputs.render());
    }
}

/// Writes all that can be written over, opens the rest, and says what does not go.
fn obstacles(
    checked: &Checked,
    outputs: &[Output],
    folder: Option<&Path>,
    context: &Context,
) -> Vec<String> {
    let render = |format, style: &Style| render_check(format, checked, style);
    let mut problems = Vec::new();
    // The directory first: other reports may be wanted in it.
    if let Some(folder) = folder
        && let Err(error) = write_directory(checked, folder, context)
    {
        problems.push(format!(
            "cannot write the report directory {}: {error}",
            folder.display()
        ));
    }
    problems.extend(output::files(outputs, context, render));
    for (variable, what) in [
        (SUMMARY, "the job summary"),
        (OUTPUTS, "the outputs of the step"),
    ] {
        if let Some(path) = context.variable_path(variable)
            && let Err(error) = append(&path, "")
        {
            problems.push(format!("cannot write {what}: {error}"));
        }
    }
    problems
}

/// Adds the page for people to what the step has said so far.
fn summarise(checked: &Checked, path: &Path, outcome: &mut Outcome) {
    let taken = std::fs::metadata(path).map_or(0, |meta| meta.len());
    let summary = render_summary(checked, usize::try_from(taken).unwrap_or(usize::MAX));
    if summary.is_empty() {
        outcome.line("the job summary of this step is full, so that nothing was added to it");
    }
    // That it can be opened was tried.
    let _ = append(path, &summary);
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
