//! `record`: runs a server for a client, and writes down what passes between them.

use super::writing::{self, Failure, counted, not_saved};
use super::{Context, Exit, Outcome, RuleFlags, without_old_commands};
use crate::cassette::Transport;
use crate::cassette::file::{resolve, save_atomically};
use crate::record::{
    Begin, ClaimOptions, Options as RecorderOptions, Recording, Saved, check_output, check_room,
};
use crate::redact::Redactor;
use crate::report::visible;
use crate::transport::stderr::Stderr;
use crate::transport::stdio::{self, End, Plan, Recorded, StartError};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// The options of `record`, as they were given.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) cassette: PathBuf,
    /// The server command; `None` if there is no `--`.
    pub(crate) command: Option<Vec<OsString>>,
    pub(crate) url: Option<String>,
    /// The flags that were given and belong to `--url`.
    pub(crate) only_with_url: Vec<&'static str>,
    pub(crate) rules: RuleFlags,
    /// How often the checkpoint is written: zero is as often as there is something, `None`
    /// never.
    pub(crate) checkpoint: Option<Duration>,
    pub(crate) claim: ClaimOptions,
    pub(crate) report: Option<PathBuf>,
    pub(crate) timeout: Duration,
    /// In bytes.
    pub(crate) max_message: usize,
    pub(crate) quiet: bool,
}

const NAME: &str = "record";
/// What to do about a claim of somebody else.
const FIXES: &str = "Fixes: give each recording its own --cassette, --claim-wait SECONDS to wait \
    longer, or --force to break the claim";

/// Records a session, and says on standard error how that goes.
pub(crate) fn run(options: &Options, context: &Context) -> Outcome {
    let command = match server_command(options) {
        Ok(command) => command,
        Err(message) => return Outcome::failed(NAME, message),
    };
    let stderr = match Stderr::open() {
        Ok(stderr) => stderr,
        Err(error) => return Outcome::failed(NAME, error),
    };
    let voice = Voice {
        stderr: stderr.clone(),
    };
    let mut outcome = Outcome::new(NAME);
    outcome.exit = match session(options, context, command, &voice) {
        Ok(exit) => exit,
        Err(Failure { exit, message }) => {
            voice.say(&message);
            exit
        }
    };
    stderr.flush(Duration::from_secs(1));
    outcome
}

/// What goes to standard error while the session runs.
#[derive(Clone)]
struct Voice {
    stderr: Stderr,
}

impl Voice {
    /// One line, as [`Outcome::line`] would write it.
    fn say(&self, message: &str) {
        let line = format!("mcp-cassette {NAME}: {}", visible(message));
        self.stderr.line(&without_old_commands(&line));
    }
}

fn server_command(options: &Options) -> Result<Vec<OsString>, String> {
    match (&options.url, &options.command) {
        (Some(_), Some(_)) => {
            Err("--url and a server command after -- are mutually exclusive".into())
        }
        (Some(_), None) => Err(
            "recording over HTTP (--url) is not in this version yet; record a stdio server with \
             -- CMD"
                .into(),
        ),
        (None, None) => Err("pass a remote --url URL or a server command after --".into()),
        (None, Some(command)) if command.is_empty() => {
            Err("missing server command after --".into())
        }
        (None, Some(_)) if !options.only_with_url.is_empty() => Err(format!(
            "{} apply to --url recording only",
            options.only_with_url.join(", ")
        )),
        (None, Some(command)) => Ok(command.clone()),
    }
}

fn session(
    options: &Options,
    context: &Context,
    command: Vec<OsString>,
    voice: &Voice,
) -> Result<Exit, Failure> {
    let started = SystemTime::now();
    let rules = options
        .rules
        .rules(context)
        .map_err(Failure::could_not_run)?;
    let redactor =
        Redactor::new(&rules).map_err(|error| Failure::could_not_run(error.to_string()))?;
    let target = check_output(&options.cassette).map_err(Failure::could_not_run)?;
    if let Some(report) = &options.report {
        check_report(report, &target).map_err(Failure::could_not_run)?;
    }
    let claim = writing::claim(&target, &options.claim, FIXES, &|text| voice.say(text))?;
    check_room(&target, options.checkpoint.is_some()).map_err(Failure::could_not_run)?;
    announce(options, context, &redactor, &target, voice);
    let speaker = voice.clone();
    let recorded = stdio::record(Plan {
        command,
        timeout: options.timeout,
        recording: Recording::begin(Begin {
            target,
            recorder: RecorderOptions {
                transport: Transport::Stdio,
                recorded_at: context.now.clone(),
                server_url: None,
                redactor,
                max_message: options.max_message,
                earlier: None,
            },
            interval: options.checkpoint,
            started,
        }),
        notice: Arc::new(move |text: &str| speaker.say(text)),
        stderr: voice.stderr.clone(),
    });
    drop(claim);
    let recorded = recorded.map_err(|error| Failure {
        exit: match error {
            StartError::NotFound(_) => Exit::NotFound,
            StartError::NotExecutable(..) => Exit::NotExecutable,
            StartError::System(_) => Exit::CouldNotRun,
        },
        message: error.to_string(),
    })?;
    Ok(conclude(options, &recorded, voice))
}

/// What the user should know before it begins.
fn announce(
    options: &Options,
    context: &Context,
    redactor: &Redactor,
    target: &Path,
    voice: &Voice,
) {
    let mode = context.variables.get("MCP_CASSETTE_MODE");
    if mode.is_some_and(|mode| mode == "none") {
        voice.say(
            "warning: MCP_CASSETTE_MODE is none, which forbids recording in tests; this command \
             records all the same",
        );
    }
    for warning in redactor.warnings() {
        voice.say(&format!("warning: {warning}"));
    }
    if target.exists() && !options.quiet {
        let cassette = options.cassette.display();
        voice.say(&format!(
            "{cassette} already exists and will be replaced at the end of this recording"
        ));
    }
}

/// Tells how it ended, writes the report, and chooses the exit code.
fn conclude(options: &Options, recorded: &Recorded, voice: &Voice) -> Exit {
    let cassette = options.cassette.display();
    if let (End::Signal(signal), false) = (recorded.end, options.quiet) {
        voice.say(&format!("ended by {}", signal.name()));
    }
    let mut exit = match recorded.end {
        End::Server(0) | End::Client => Exit::Success,
        End::Server(code) => Exit::Server(code),
        End::Signal(_) => Exit::Interrupted,
    };
    let messages = match &recorded.saved {
        Ok(Saved::Cassette { messages }) => {
            if !options.quiet {
                let messages = counted(*messages);
                voice.say(&format!("recorded {messages} in {cassette}"));
            }
            *messages
        }
        Ok(Saved::Nothing) => {
            voice.say(
                "captured zero messages, so no cassette is written: neither the client nor the \
                 server sent one",
            );
            0
        }
        Ok(Saved::OutrunByAnother) => {
            if !options.quiet {
                voice.say(&format!(
                    "the client only asked who the server is, and another recording wrote \
                     {cassette} meanwhile; that one stays"
                ));
            }
            0
        }
        Err(error) => {
            voice.say(&not_saved(error));
            exit = Exit::NotSaved;
            0
        }
    };
    if let Some(path) = &options.report {
        let report = format!("{{\"messages\": {messages}}}\n");
        if let Err(error) = save_atomically(path, report.as_bytes()) {
            voice.say(&format!("cannot save {}: {error}", path.display()));
            if exit == Exit::Success {
                exit = Exit::CouldNotRun;
            }
        }
    }
    exit
}

/// Whether two paths, of which nothing need be there, name one file.
fn is_same_place(one: &Path, other: &Path) -> bool {
    let directory = |path: &Path| match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.canonicalize().ok(),
        _ => Path::new(".").canonicalize().ok(),
    };
    one.file_name() == other.file_name() && directory(one) == directory(other)
}

/// Whether the report can be expected to be writable in the end.
fn check_report(path: &Path, cassette: &Path) -> Result<(), String> {
    let shown = path.display();
    match path.metadata() {
        Ok(meta) if meta.is_dir() => {
            return Err(format!("--report {shown} is a directory, not a file"));
        }
        Ok(meta) if !meta.is_file() => {
            return Err(format!("--report {shown} is not a regular file"));
        }
        _ => {}
    }
    let report = resolve(path).map_err(|error| format!("--report {shown}: {error}"))?;
    let is_taken = ["", ".partial", ".claim"].iter().any(|ending| {
        let mut name = cassette.as_os_str().to_owned();
        name.push(ending);
        is_same_place(&report, Path::new(&name))
    });
    if is_taken {
        return Err(format!("--report {shown} is a file of the cassette itself"));
    }
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    match parent {
        Some(parent) if !parent.is_dir() => {
            let parent = parent.display();
            Err(format!("--report {shown}: there is no directory {parent}"))
        }
        _ => Ok(()),
    }
}
