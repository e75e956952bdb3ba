//! `check`: the whole gate. Every cassette that is asked for, on both sides, through
//! lint, the comparison with its base and the redaction check; one verdict.

mod deliver;
mod judge;
mod leftover;

use super::gate::{self, Gate, PolicyFrom, Request};
use super::policy::{self, Policy};
use super::select::Selection;
use super::{Context, Exit, Outcome, Output, Shared, output};
use crate::cassette::Cassette;
use crate::config::{Check, LintFlags};
use crate::finding::Severity;
use crate::lint;
use crate::report::{BaseShown, Checked, CheckedCassette, Format};
use judge::Judge;
use std::path::{Path, PathBuf};

/// Fewer files than this are done before anybody could read a counter.
const PROGRESS_FROM: usize = 20;

/// What people do about a red gate.
const WHAT_NEXT: &str = "`mcp-cassette explain RULE` says what a rule is about and how to fix it; \
    with `--output accept` this run prints the entries for what is to stay as it is";

/// The options of `check`, as they were given.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// Files, directories and globs.
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) baseline: Option<PathBuf>,
    /// `auto`, `none` or a revision.
    pub(crate) base: Option<String>,
    pub(crate) checks: Option<Vec<Check>>,
    pub(crate) flags: LintFlags,
    pub(crate) pii_packs: Vec<PathBuf>,
    pub(crate) no_config: bool,
    pub(crate) all: bool,
    pub(crate) policy_from: Option<PolicyFrom>,
    pub(crate) outputs: Vec<Output>,
    pub(crate) report_dir: Option<PathBuf>,
    pub(crate) shared: Shared,
}

/// Runs every check over every cassette and reports on all of them. `progress` is
/// told how many of how many are done.
///
/// Reports, the job summary and the outputs of the step are written on every path,
/// also when the run could not begin.
pub(crate) fn run(
    options: &Options,
    context: &Context,
    progress: &mut dyn FnMut(usize, usize),
) -> Outcome {
    let mut outcome = Outcome::new("check");
    let mut inputs = options.inputs();
    let mut checked = match check(options, context, &mut inputs, &mut outcome, progress) {
        Ok(checked) => checked,
        Err(message) => {
            outcome.error(&message);
            Checked::failed(
                without_place(&message, &context.directory),
                Exit::CouldNotRun.code(),
                options.flags.fail_on.unwrap_or(Severity::Error),
            )
        }
    };
    deliver::deliver(&mut checked, options, &inputs, context, &mut outcome);
    outcome
}

impl Options {
    /// The files that the command line names, whatever else the run will read.
    fn inputs(&self) -> Vec<PathBuf> {
        let packs = self.pii_packs.iter().chain(&self.flags.pattern_packs);
        let files = self.paths.iter().chain(packs).chain(&self.baseline);
        files.cloned().collect()
    }
}

/// `inputs` gets every file that is read, also when the run cannot begin after all.
fn check(
    options: &Options,
    context: &Context,
    inputs: &mut Vec<PathBuf>,
    outcome: &mut Outcome,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Checked, String> {
    gate::working_directory(context)?;
    let base = match (&options.base, &options.baseline) {
        (Some(base), _) => Some(base.as_str()),
        (None, Some(_)) => Some("none"),
        (None, None) => None,
    };
    let request = Request {
        policy: policy::Asked {
            flags: &options.flags,
            no_config: options.no_config,
            all: options.all,
        },
        policy_from: options.policy_from,
        base,
        baseline_file: options.baseline.is_some(),
        selection: &|policy| selection(options, policy, context),
    };
    gate::open(&request, context, |gate| {
        inputs.extend(gate.inputs().map(Path::to_owned));
        output::refuse_inputs(&options.outputs, inputs.iter().map(PathBuf::as_path))?;
        judge_all(options, &gate, outcome, progress)
    })
}

fn judge_all(
    options: &Options,
    gate: &Gate<'_>,
    outcome: &mut Outcome,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Checked, String> {
    let total = gate.subjects.len();
    if total == 0 {
        return Err(format!(
            "no cassette matches {}; name cassettes or globs, or set [check] cassettes in \
             mcp-cassette.toml",
            gate.selection.describe()
        ));
    }
    let judge = Judge::new(options, gate, baseline_file(options, total)?)?;
    let mut cassettes = Vec::new();
    let mut exit = Exit::Success;
    for (done, subject) in gate.subjects.iter().enumerate() {
        let (cassette, verdict) = judge.cassette(subject);
        for error in &cassette.errors {
            // What a file says of itself begins with its name.
            if error.starts_with(&cassette.path) {
                outcome.error(error);
            } else {
                outcome.error(format_args!("{}: {error}", cassette.path));
            }
        }
        exit = exit.worst(verdict);
        cassettes.push(cassette);
        if total > PROGRESS_FROM && !options.shared.quiet {
            progress(done + 1, total);
        }
    }
    if !options.shared.quiet {
        notes(options, gate, &cassettes, outcome);
        let failed = matches!(exit, Exit::Findings | Exit::Differs);
        let entries = |output: &Output| output.format == Format::Accept;
        if failed && !options.outputs.iter().any(entries) {
            outcome.line(WHAT_NEXT);
        }
    }
    if let (true, Some(path)) = (options.shared.verbose, &gate.policy.config) {
        outcome.line(format_args!("configuration: {}", path.display()));
    }
    outcome.exit = outcome.exit.worst(exit);
    Ok(Checked {
        base: match &options.baseline {
            Some(file) => BaseShown {
                commit: None,
                reason: format!("--baseline {}", file.display()),
            },
            None => BaseShown {
                commit: gate.commit.clone(),
                reason: gate.reason.clone(),
            },
        },
        cassettes,
        errors: Vec::new(),
        exit_code: outcome.exit.code(),
        fail_on: gate.policy.settings.fail_on,
        judged: true,
    })
}

/// A message for reports, which are the same wherever the run took place. A terminal gets
/// the path itself, because some remedies need it.
fn without_place(message: &str, directory: &Path) -> String {
    let real = directory.canonicalize().unwrap_or_default();
    let mut text = message.to_owned();
    for directory in [real.as_path(), directory] {
        let mut stand_in = "$PWD".to_owned();
        // What lies at the root of a file system is no place of this run.
        for place in directory
            .ancestors()
            .filter(|place| place.components().count() > 2)
        {
            text = replaced(&text, &place.display().to_string(), &stand_in);
            stand_in.push_str("/..");
        }
    }
    text
}

/// A path that ends where it is found, and does not merely begin a longer name.
fn replaced(text: &str, path: &str, stand_in: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(path) {
        let (before, found) = rest.split_at(at);
        let after = found.get(path.len()..).unwrap_or_default();
        let goes_on = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
        out.push_str(before);
        out.push_str(match after.starts_with(goes_on) {
            true => path,
            false => stand_in,
        });
        rest = after;
    }
    out.push_str(rest);
    out
}

/// What is to be known of the run as a whole.
fn notes(options: &Options, gate: &Gate<'_>, cassettes: &[CheckedCassette], outcome: &mut Outcome) {
    for note in &gate.policy.notes {
        outcome.line(note);
    }
    let files: Vec<PathBuf> = gate
        .subjects
        .iter()
        .map(|subject| subject.path.clone())
        .collect();
    for glob in gate.selection.without_a_file(&files) {
        outcome.line(format_args!("no cassette matches {glob}"));
    }
    for note in leftover::notes(files.iter().map(PathBuf::as_path)) {
        outcome.line(note);
    }
    // Only a run over everything can tell that an entry has outlived its finding.
    if options.paths.is_empty() {
        let findings = cassettes
            .iter()
            .flat_map(|cassette| &cassette.report.findings);
        for entry in lint::unused(&gate.policy.engine.accept, findings) {
            outcome.line(format_args!(
                "the accept entry for {} {} matches no finding any more",
                entry.rule, entry.fingerprint
            ));
        }
    }
}

fn selection(options: &Options, policy: &Policy, context: &Context) -> Result<Selection, String> {
    let selection = if options.paths.is_empty() {
        Selection::of_globs(&policy.cassettes, &context.directory)
    } else {
        Selection::of_arguments(&options.paths, &context.directory)
    };
    selection.map_err(|error| error.to_string())
}

fn baseline_file(options: &Options, given: usize) -> Result<Option<Cassette>, String> {
    let Some(path) = &options.baseline else {
        return Ok(None);
    };
    if given > 1 {
        return Err(format!(
            "--baseline compares one cassette, and {given} are given; check them one by one, or \
             use --base"
        ));
    }
    Cassette::load(path)
        .map(Some)
        .map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_do_not_tell_where_a_run_took_place() {
        let told = |message| without_place(message, Path::new("/srv/builds/repo/sub"));
        assert_eq!(
            told("/srv/builds/repo: x; run `y /srv/builds/repo/sub/z`"),
            "$PWD/..: x; run `y $PWD/z`"
        );
        assert_eq!(told("/srv/builds/repository/x"), "$PWD/../../repository/x");
        assert_eq!(told("/srv and /else"), "/srv and /else");
    }
}
