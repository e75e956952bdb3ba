//! `record`: runs a server for a client, and writes down what passes between them.

use super::writing::{self, Failure, counted, not_saved};
use super::{Context, Exit, Outcome, RuleFlags, ServerFlags, without_old_commands};
use crate::cassette::Transport;
use crate::cassette::file::{resolve, save_atomically};
use crate::record::{
    Begin, ClaimOptions, NotSaved, Options as RecorderOptions, Recording, Saved, check_output,
    check_room,
};
use crate::redact::Redactor;
use crate::report::visible;
use crate::transport::http::listen::Listener;
use crate::transport::http::{self, Count, Upstream};
use crate::transport::signals::Signal;
use crate::transport::stderr::Stderr;
use crate::transport::stdio::{self, End, Plan, StartError};
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
    pub(crate) server: ServerFlags,
    pub(crate) listening: Listening,
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

/// Where a client over HTTP connects to, and for how long.
#[derive(Clone, Debug)]
pub(crate) struct Listening {
    /// Loopback by default.
    pub(crate) host: Option<String>,
    /// 0 is any that is free.
    pub(crate) port: u16,
    pub(crate) max_idle: Option<Duration>,
    /// For a wrapper: it ends when standard input does.
    pub(crate) leashed: bool,
}

const NAME: &str = "record";
const LOOPBACK: &str = "127.0.0.1";
/// What to do about a claim of somebody else.
const FIXES: &str = "Fixes: give each recording its own --cassette, --claim-wait SECONDS to wait \
    longer, or --force to break the claim";

/// Records a session, and says on standard error how that goes.
pub(crate) fn run(options: &Options, context: &Context) -> Outcome {
    let source = match source(options) {
        Ok(source) => source,
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
    outcome.exit = match session(options, context, source, &voice) {
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

    /// The same without the name of the command, for a line that programs read.
    fn plainly(&self, line: &str) {
        self.stderr.line(&without_old_commands(&visible(line)));
    }
}

/// What is recorded.
enum Source {
    Command(Vec<OsString>),
    Server(Box<Server>),
}

/// A server over HTTP, and the port at which clients reach it through us.
struct Server {
    upstream: Upstream,
    url: String,
}

fn source(options: &Options) -> Result<Source, String> {
    let url = options.server.url.as_ref();
    match (options.server.upstream()?, &options.command) {
        (Some(_), Some(_)) => {
            Err("--url and a server command after -- are mutually exclusive".into())
        }
        (Some(upstream), None) => {
            let url = url.map(|url| url.0.clone()).unwrap_or_default();
            Ok(Source::Server(Box::new(Server { upstream, url })))
        }
        (None, None) => Err("pass a remote --url URL or a server command after --".into()),
        (None, Some(command)) if command.is_empty() => {
            Err("missing server command after --".into())
        }
        (None, Some(_)) if !options.only_with_url.is_empty() => Err(format!(
            "{} apply to --url recording only; leave them out with a server command",
            options.only_with_url.join(", ")
        )),
        (None, Some(command)) => Ok(Source::Command(command.clone())),
    }
}

fn session(
    options: &Options,
    context: &Context,
    source: Source,
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
    let (transport, server_url) = match &source {
        Source::Command(_) => (Transport::Stdio, None),
        Source::Server(server) => (Transport::Http, Some(server.url.clone())),
    };
    let recording = Recording::begin(Begin {
        target,
        recorder: RecorderOptions {
            transport,
            recorded_at: context.now.clone(),
            server_url,
            redactor,
            max_message: options.max_message,
            earlier: None,
        },
        interval: options.checkpoint,
        started,
    });
    let ended = match source {
        Source::Command(command) => over_stdio(options, command, recording, voice),
        Source::Server(server) => over_http(options, *server, recording, voice),
    };
    drop(claim);
    ended.map(|ended| conclude(options, &ended, voice))
}

/// How a session ended.
struct Over {
    exit: Exit,
    /// What is to be told of that.
    why: Option<String>,
    saved: Result<Saved, NotSaved>,
}

fn over_stdio(
    options: &Options,
    command: Vec<OsString>,
    recording: Recording,
    voice: &Voice,
) -> Result<Over, Failure> {
    let speaker = voice.clone();
    let recorded = stdio::record(Plan {
        command,
        timeout: options.timeout,
        recording,
        notice: Arc::new(move |text: &str| speaker.say(text)),
        stderr: voice.stderr.clone(),
    });
    let recorded = recorded.map_err(|error| Failure {
        exit: match error {
            StartError::NotFound(_) => Exit::NotFound,
            StartError::NotExecutable(..) => Exit::NotExecutable,
            StartError::System(_) => Exit::CouldNotRun,
        },
        message: error.to_string(),
    })?;
    let (exit, why) = match recorded.end {
        End::Server(0) | End::Client => (Exit::Success, None),
        End::Server(code) => (Exit::Server(code), None),
        End::Signal(signal) => (Exit::Interrupted, Some(ended_by(signal))),
    };
    Ok(Over {
        exit,
        why,
        saved: recorded.saved,
    })
}

fn over_http(
    options: &Options,
    server: Server,
    recording: Recording,
    voice: &Voice,
) -> Result<Over, Failure> {
    let Listening {
        host,
        port,
        max_idle,
        leashed,
    } = &options.listening;
    let host = host.as_deref().unwrap_or(LOOPBACK);
    let listener = Listener::bind(host, *port).map_err(|error| {
        let source = std::error::Error::source(&error).map(ToString::to_string);
        let source = source.unwrap_or_default();
        Failure::could_not_run(format!("{error}: {source}"))
    })?;
    let url = listener.url(server.upstream.path());
    let (speaker, crier) = (voice.clone(), voice.clone());
    let (stderr, is_quiet) = (voice.stderr.clone(), options.quiet);
    let recorded = http::record(http::Plan {
        listener,
        upstream: server.upstream,
        recording,
        max_idle: *max_idle,
        leashed: *leashed,
        notice: Arc::new(move |text: &str| speaker.say(text)),
        progress: Box::new(move |count| {
            if !is_quiet {
                stderr.status(&status(count));
            }
        }),
        ready: Box::new(move || {
            crier.plainly(&format!(
                "mcp-cassette: recording at {url} -> point the agent there"
            ));
        }),
    });
    voice.stderr.status("");
    let recorded = recorded.map_err(|error| Failure::could_not_run(error.to_string()))?;
    let (exit, why) = match recorded.ended {
        http::Ended::Signal(signal) => (Exit::Interrupted, Some(ended_by(signal))),
        http::Ended::Leash => (Exit::Success, None),
        http::Ended::Idle => (
            Exit::Success,
            Some("ended because the client was idle (--max-idle)".to_owned()),
        ),
        http::Ended::NoServer(why) => {
            return Err(Failure::could_not_run(format!(
                "the server at --url is of no use: {why}; no cassette is written"
            )));
        }
        http::Ended::Listener(why) => (
            Exit::CouldNotRun,
            Some(format!("the listener failed: {why}")),
        ),
    };
    Ok(Over {
        exit,
        why,
        saved: recorded.saved,
    })
}

/// How far it is, for who looks at a terminal.
fn status(Count { messages, sessions }: Count) -> String {
    let noun = if sessions == 1 { "session" } else { "sessions" };
    format!("recording: {}, {sessions} {noun}", counted(messages))
}

fn ended_by(signal: Signal) -> String {
    format!("ended by {}", signal.name())
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
fn conclude(options: &Options, over: &Over, voice: &Voice) -> Exit {
    let cassette = options.cassette.display();
    let mut exit = over.exit;
    if let Some(why) = &over.why
        && (!options.quiet || exit == Exit::CouldNotRun)
    {
        voice.say(why);
    }
    let messages = match &over.saved {
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
                 server sent one. Does the client start this command in place of the server's, or \
                 connect to this address? Without a client, pipe requests into it",
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
