//! Where a report goes: the formats that were asked for, on standard output and
//! in files.

use super::{Context, Outcome};
use crate::cassette::file::save_atomically;
use crate::report::{Format, Style};
use std::path::{Path, PathBuf};

/// One report: `--output FORMAT[=PATH]`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Output {
    pub(crate) format: Format,
    /// Standard output if there is none.
    pub(crate) path: Option<PathBuf>,
}

/// The options that every command has.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shared {
    /// `--color always|never`; `None` for `auto`.
    pub(crate) color: Option<bool>,
    /// No notes, no progress.
    pub(crate) quiet: bool,
    /// Say what was read.
    pub(crate) verbose: bool,
}

/// Completes what was asked for: a main report on standard output if none is asked
/// for there, annotations after it. Two main reports on one stream could not be
/// told apart, and are refused.
pub(crate) fn plan(asked: &[Output], terminal: bool) -> Result<Vec<Output>, String> {
    let mut outputs: Vec<Output> = Vec::new();
    for output in asked {
        if outputs.contains(output) {
            continue;
        }
        let clash = outputs.iter().find(|other| other.path == output.path);
        if let (Some(other), Some(path)) = (clash, &output.path) {
            let (one, two) = (other.format.name(), output.format.name());
            let path = path.display();
            return Err(format!("--output {one} and {two} both go to {path}"));
        }
        outputs.push(output.clone());
    }
    let (printed, mut written): (Vec<_>, Vec<_>) = outputs
        .into_iter()
        .partition(|output| output.path.is_none());
    let annotate = printed.iter().any(|output| output.format == Format::Github);
    let mut main = printed
        .iter()
        .map(|output| output.format)
        .filter(|format| *format != Format::Github);
    let first = match main.next() {
        Some(format) => format,
        None if terminal && !annotate => Format::Full,
        None => Format::Text,
    };
    let second = main
        .next()
        .or((annotate && first == Format::Full).then_some(Format::Github));
    if let Some(second) = second {
        let (one, two) = (first.name(), second.name());
        return Err(format!(
            "two formats on standard output, {one} and {two}; give one of them a file, as in \
             --output {two}=FILE"
        ));
    }
    let to_stdout = |format| Output { format, path: None };
    let mut all = vec![to_stdout(first)];
    all.extend(annotate.then(|| to_stdout(Format::Github)));
    all.append(&mut written);
    Ok(all)
}

/// Refuses to write a report over what the run reads: the next run would read the report.
pub(crate) fn refuse_inputs<'p>(
    outputs: &[Output],
    inputs: impl IntoIterator<Item = &'p Path>,
) -> Result<(), String> {
    // What does not exist yet is no input, however it is spelled.
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    let written: Vec<(&Output, &Path, PathBuf)> = outputs
        .iter()
        .filter_map(|output| {
            let path = output.path.as_deref()?;
            Some((output, path, real(path)?))
        })
        .collect();
    if written.is_empty() {
        return Ok(());
    }
    for input in inputs {
        let Some(input) = real(input) else { continue };
        if let Some((output, path, _)) = written.iter().find(|(.., real)| *real == input) {
            return Err(format!(
                "--output {}={} would overwrite what this run reads; nothing was written there",
                output.format.name(),
                path.display()
            ));
        }
    }
    Ok(())
}

/// Writes every report: files at once, standard output into the outcome.
pub(crate) fn write(
    outputs: &[Output],
    context: &Context,
    shared: &Shared,
    outcome: &mut Outcome,
    render: impl Fn(Format, &Style) -> String,
) {
    print(outputs, context, shared, outcome, &render);
    for problem in files(outputs, context, render) {
        outcome.error(problem);
    }
}

/// Puts the reports for standard output into the outcome.
pub(crate) fn print(
    outputs: &[Output],
    context: &Context,
    shared: &Shared,
    outcome: &mut Outcome,
    render: impl Fn(Format, &Style) -> String,
) {
    for output in outputs.iter().filter(|output| output.path.is_none()) {
        let report = render(output.format, &context.style(shared));
        outcome.stdout.push_str(&report);
    }
}

/// Writes the reports that go to files, and says which could not be written.
pub(crate) fn files(
    outputs: &[Output],
    context: &Context,
    render: impl Fn(Format, &Style) -> String,
) -> Vec<String> {
    let mut problems = Vec::new();
    for output in outputs {
        let Some(path) = &output.path else {
            continue;
        };
        let report = render(output.format, &context.style_of_files());
        if let Err(error) = save_atomically(path, report.as_bytes()) {
            let format = output.format.name();
            let path = path.display();
            problems.push(format!("cannot write --output {format}={path}: {error}"));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(formats: &[(Format, Option<&str>)]) -> Vec<Output> {
        let output = |&(format, path): &(Format, Option<&str>)| Output {
            format,
            path: path.map(PathBuf::from),
        };
        formats.iter().map(output).collect()
    }

    fn planned(formats: &[(Format, Option<&str>)], terminal: bool) -> Vec<Format> {
        let outputs = plan(&asked(formats), terminal).expect("a plan");
        outputs.iter().map(|output| output.format).collect()
    }

    #[test]
    fn a_terminal_gets_full_and_a_pipe_gets_text() {
        assert_eq!(planned(&[], true), [Format::Full]);
        assert_eq!(planned(&[], false), [Format::Text]);
        assert_eq!(planned(&[(Format::Json, None)], true), [Format::Json]);
    }

    #[test]
    fn annotations_follow_the_report() {
        let text = [Format::Text, Format::Github];
        assert_eq!(planned(&[(Format::Github, None)], true), text);
        assert_eq!(planned(&[(Format::Github, None)], false), text);
        assert_eq!(
            planned(&[(Format::Github, None), (Format::Json, None)], false),
            [Format::Json, Format::Github]
        );
    }

    #[test]
    fn files_add_to_what_is_printed() {
        assert_eq!(
            planned(
                &[(Format::Json, Some("a")), (Format::Text, Some("b"))],
                false
            ),
            [Format::Text, Format::Json, Format::Text]
        );
    }

    #[test]
    fn two_reports_in_one_place_are_refused() {
        for clash in [
            [(Format::Text, None), (Format::Json, None)],
            [(Format::Full, None), (Format::Github, None)],
            [(Format::Text, Some("a")), (Format::Json, Some("a"))],
        ] {
            assert!(plan(&asked(&clash), true).is_err(), "{clash:?}");
        }
        assert_eq!(
            planned(&[(Format::Text, None), (Format::Text, None)], true),
            [Format::Text]
        );
    }
}
