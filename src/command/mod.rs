//! The subcommands: typed options in, an [`Outcome`] out. Nothing here prints,
//! ends the process, or reads the clock or the environment; what a command must
//! know of them comes in a [`Context`]. Only `record` speaks while it runs, through
//! [`crate::transport::stderr`].

mod alongside;
mod base;
pub(crate) mod check;
pub(crate) mod diff;
mod episodes;
pub(crate) mod explain;
mod gate;
mod grep;
pub(crate) mod inspect;
pub(crate) mod lint;
mod output;
mod pairs;
mod policy;
mod real_server;
pub(crate) mod record;
pub(crate) mod redact;
pub(crate) mod redaction_check;
mod redaction_rules;
mod select;
pub(crate) mod serve;
mod writing;

pub(crate) use gate::PolicyFrom;
pub(crate) use output::{Output, Shared};
pub(crate) use real_server::{Hidden, ServerFlags};
pub(crate) use redaction_rules::RuleFlags;

use crate::report::{Style, visible};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Display;
use std::path::PathBuf;

/// Everything that a command line leads to: what to print, and the exit code.
#[derive(Debug)]
pub struct Outcome {
    /// The command, as it stands in front of its error lines.
    pub command: &'static str,
    /// For standard output, as it is.
    pub stdout: String,
    /// For standard error, as it is.
    pub stderr: String,
    /// The exit code.
    pub exit: Exit,
}

/// The exit codes of every command: the one table of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: success; for the gate, nothing at or above `--fail-on`.
    Success,
    /// 2: it could not run. Usage, an unreadable or malformed file, an unsupported
    /// version, an unknown rule id, an unresolved pack, a missing salt, an
    /// unresolvable base, shallow history, an LFS pointer, a blob that was not
    /// fetched, an unreachable upstream, an unusable output path.
    CouldNotRun,
    /// 3: `serve` had at least one request that it could not match.
    Unmatched,
    /// 4: `lint` or `redaction-check` has a finding at or above `--fail-on`, or a
    /// redaction profile is missing or another one.
    Findings,
    /// 5: `diff` found a difference.
    Differs,
    /// 6: another live process holds the cassette for writing.
    Held,
    /// 74: traffic went through, but the recording could not be saved.
    NotSaved,
    /// 126: the server command is not executable.
    NotExecutable,
    /// 127: the server command was not found.
    NotFound,
    /// 130: the recording was ended by a signal, after the cassette was saved.
    Interrupted,
    /// The code of the recorded server itself, 128+n if signal n ended it.
    Server(u8),
}

impl Exit {
    /// The code for the operating system.
    pub fn code(self) -> u8 {
        match self {
            Exit::Success => 0,
            Exit::CouldNotRun => 2,
            Exit::Unmatched => 3,
            Exit::Findings => 4,
            Exit::Differs => 5,
            Exit::Held => 6,
            Exit::NotSaved => 74,
            Exit::NotExecutable => 126,
            Exit::NotFound => 127,
            Exit::Interrupted => 130,
            Exit::Server(code) => code,
        }
    }

    /// The more severe of two verdicts of the gate, which is the lower code:
    /// 2, then 4, then 5, then 0.
    #[must_use]
    pub fn worst(self, other: Exit) -> Exit {
        match (self, other) {
            (Exit::Success, other) => other,
            (one, Exit::Success) => one,
            (one, other) if other.code() < one.code() => other,
            (one, _) => one,
        }
    }
}

/// What a command may know of the world around it.
#[derive(Clone, Debug)]
pub struct Context {
    /// Whether standard output is a terminal.
    pub terminal: bool,
    /// Whether colours are welcome there when nobody says `--color`.
    pub color: bool,
    /// The columns of the terminal.
    pub width: Option<usize>,
    /// Whether a GitHub Actions runner reads the output.
    pub github_actions: bool,
    /// The root of the checkout on such a runner.
    pub workspace: Option<PathBuf>,
    /// The working directory.
    pub directory: PathBuf,
    /// What CI and hooks say of the run: the variables `GITHUB_*`, `RUNNER_*` and
    /// `PRE_COMMIT*`.
    pub variables: BTreeMap<String, OsString>,
    /// Today in UTC, as `YYYY-MM-DD`.
    pub today: String,
    /// This moment in UTC, as RFC 3339 with microseconds; `SOURCE_DATE_EPOCH` if that is set.
    pub now: String,
    /// The salt in `MCP_CASSETTE_REDACT_SALT`, if it is set and not empty.
    pub redact_salt: Option<OsString>,
}

impl Context {
    /// How a report on standard output looks.
    pub(crate) fn style(&self, shared: &Shared) -> Style {
        Style {
            color: shared.color.unwrap_or(self.color && self.terminal),
            width: self.width.unwrap_or(Style::default().width),
            ..self.style_of_files()
        }
    }

    /// The path in a variable that is set to something.
    pub(crate) fn variable_path(&self, name: &str) -> Option<PathBuf> {
        let value = self.variables.get(name)?;
        Some(PathBuf::from(value)).filter(|path| !path.as_os_str().is_empty())
    }

    /// How a report in a file looks: the same on every machine.
    pub(crate) fn style_of_files(&self) -> Style {
        let workspace = self.workspace.as_deref();
        // The working directory has no symbolic links in it, the variable may have some.
        let below = workspace.and_then(|root| {
            let real = root.canonicalize().unwrap_or_else(|_| root.to_owned());
            let directory = &self.directory;
            let below = directory.strip_prefix(root);
            below.or_else(|_| directory.strip_prefix(real)).ok()
        });
        Style {
            github_actions: self.github_actions,
            workspace: workspace.map(|root| root.display().to_string()),
            working_directory: below
                .filter(|path| !path.as_os_str().is_empty())
                .map(|path| path.display().to_string()),
            ..Style::default()
        }
    }
}

impl Outcome {
    /// Success, with nothing to say so far.
    pub(crate) fn new(command: &'static str) -> Self {
        Outcome {
            command,
            stdout: String::new(),
            stderr: String::new(),
            exit: Exit::Success,
        }
    }

    /// The command could not run.
    pub(crate) fn failed(command: &'static str, message: impl Display) -> Self {
        let mut outcome = Outcome::new(command);
        outcome.error(message);
        outcome
    }

    /// Adds an error line; the command could not run, or not wholly.
    pub(crate) fn error(&mut self, message: impl Display) {
        self.line(message);
        self.exit = self.exit.worst(Exit::CouldNotRun);
    }

    /// Adds a line for standard error. It stays one line whatever file names and
    /// recorded text it quotes, and speaks neither to a terminal nor to a runner.
    pub(crate) fn line(&mut self, message: impl Display) {
        let message = message.to_string();
        let message = visible(&message);
        self.raw_line(&format!("mcp-cassette {}: {message}", self.command));
    }

    fn raw_line(&mut self, line: &str) {
        self.stderr.push_str(&without_old_commands(line));
        self.stderr.push('\n');
    }
}

/// Text without the opening of a command in the runner's older syntax, `##[`,
/// which it obeys anywhere in a line.
pub(crate) fn without_old_commands(text: &str) -> String {
    text.replace("##[", "##\\u{5b}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_of_the_parts_is_2_then_4_then_5_then_0() {
        let order = [
            Exit::CouldNotRun,
            Exit::Findings,
            Exit::Differs,
            Exit::Success,
        ];
        for (i, &worse) in order.iter().enumerate() {
            for &better in &order[i..] {
                assert_eq!(worse.worst(better), worse);
                assert_eq!(better.worst(worse), worse);
            }
        }
    }

    #[test]
    fn an_error_line_stays_one_harmless_line() {
        let outcome = Outcome::failed("lint", "a\n::error::b\u{1b}[31m ##[error]c");
        assert_eq!(
            outcome.stderr,
            "mcp-cassette lint: a\\n::error::b\\u{1b}[31m ##\\u{5b}error]c\n"
        );
        assert_eq!(outcome.exit, Exit::CouldNotRun);
    }
}
