//! `serve`: a recording as the server that it was made from.

use super::episodes::{self, Held};
use super::redaction_check::notes_on_packs;
use super::redaction_rules::{packs, recorded_pack};
use super::writing::Failure;
use super::{Context, Exit, Outcome, RuleFlags, ServerFlags, without_old_commands};
use crate::cassette::Cassette;
use crate::cassette::file::save_atomically;
use crate::matching::{OnExhausted, Ordering};
use crate::record::Recording;
use crate::redact::{Manifest, PackFiles, Redactor};
use crate::regular_file::{self, LARGEST_BY_HAND};
use crate::replay::faults::Overlay;
use crate::replay::{self, Pace, Replayer, Summary};
use crate::report::visible;
use crate::secrets::conceal;
use crate::transport::http::{self, Listener, Real, Upstream};
use crate::transport::stderr::Stderr;
use crate::transport::stdio::{self, Notice, Plan, Served};
use serde::Serialize;
use std::ffi::OsString;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

pub(crate) use crate::cassette::Transport;

/// The options of `serve`, as they were given.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) cassette: PathBuf,
    pub(crate) ordering: Ordering,
    pub(crate) on_exhausted: OnExhausted,
    /// JSON pointers to parameters that do not count.
    pub(crate) ignored: Vec<String>,
    /// Members of `_meta` that do.
    pub(crate) meta: Vec<String>,
    pub(crate) faults: Option<PathBuf>,
    pub(crate) pacing: Pacing,
    pub(crate) rewrite_version: bool,
    /// Where packs and the salt of the recording come from.
    pub(crate) rules: RuleFlags,
    pub(crate) report: Option<PathBuf>,
    pub(crate) new_episodes: bool,
    /// The process that holds the claim on the cassette on behalf of this one.
    pub(crate) claim_held_by: Option<u32>,
    /// The server command; `None` if there is no `--`.
    pub(crate) command: Option<Vec<OsString>>,
    pub(crate) asked: Asked,
    /// The real server over HTTP.
    pub(crate) server: ServerFlags,
    pub(crate) quiet: bool,
}

/// What was said of gaps between messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pacing {
    pub(crate) recorded: bool,
    pub(crate) scale: Option<f64>,
    /// Zero is no limit.
    pub(crate) cap: Option<Duration>,
}

/// What was said of the transport.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) transport: Option<Transport>,
    pub(crate) port: Option<u16>,
    pub(crate) host: Option<String>,
    /// For a wrapper: it ends when standard input does.
    pub(crate) leashed: bool,
}

const NAME: &str = "serve";
/// The longest gap unless something else is said.
const CAP: Duration = Duration::from_secs(5);
/// So many lines of a kind are listed.
const LISTED: usize = 50;

/// Serves one client over standard input and output, or any over HTTP.
pub(crate) fn run(options: &Options, context: &Context) -> Outcome {
    let mut outcome = Outcome::new(NAME);
    match session(options, context, &mut outcome) {
        Ok(()) => outcome,
        Err(Failure { exit, message }) => {
            outcome.error(message);
            outcome.exit = exit;
            outcome
        }
    }
}

fn session(options: &Options, context: &Context, outcome: &mut Outcome) -> Result<(), Failure> {
    refuse_combinations(options).map_err(Failure::could_not_run)?;
    let held = match options.new_episodes {
        true => Some(Held::claim(
            &options.cassette,
            options.claim_held_by,
            outcome,
        )?),
        false => None,
    };
    play(options, context, held.as_ref(), outcome).map_err(Failure::could_not_run)
}

/// `held` is there if the cassette is to be added to.
fn play(
    options: &Options,
    context: &Context,
    held: Option<&Held>,
    outcome: &mut Outcome,
) -> Result<(), String> {
    if let Some(held) = held {
        held.take_in(outcome)?;
    }
    let cassette = load(options, outcome)?;
    let transport = transport(options, &cassette)?;
    if let Some(path) = &options.report {
        check_report(path)?;
    }
    let faults = overlay(options.faults.as_deref(), transport)?;
    for doubt in faults.cannot_fire(&cassette) {
        outcome.line(format_args!("warning: {doubt}"));
    }
    let given = given_packs(options, &cassette, outcome)?;
    let recording = match held {
        Some(held) => {
            let redactor = redactor(options, context, &cassette, &given)?;
            Some(held.recording(
                &cassette,
                redactor,
                options.server.url.as_ref(),
                context,
                outcome,
            )?)
        }
        None => None,
    };
    let replay = replay::Options {
        ordering: options.ordering,
        on_exhausted: options.on_exhausted,
        ignored: options.ignored.clone(),
        meta: options.meta.clone(),
        rewrite_version: options.rewrite_version,
        pace: options.pacing.pace(),
        faults,
        redactor: redactor(options, context, &cassette, &given)?,
        new_episodes: recording.is_some(),
    };
    let path = recorded_path(&cassette);
    let core = Replayer::new(Arc::new(cassette), replay).map_err(|error| error.to_string())?;
    let upstream = real_server(options, &core)?;
    let stderr = Stderr::open().map_err(|error| error.to_string())?;
    let notice = speaker(&stderr, options.quiet);
    if transport == Transport::Http {
        let listener = listen(options)?;
        notice_earlier(&stderr, outcome);
        let real = upstream.zip(recording).map(remote);
        let served = play_over_http(options, core, (listener, path, real), &stderr, notice)?;
        return finish(options, &served, outcome);
    }
    let real = recording.map(|recording| match upstream {
        Some(upstream) => stdio::Real::Remote(Box::new(remote((upstream, recording)))),
        None => process(options, recording, &notice, &stderr),
    });
    // What was said so far comes before what is said while it runs.
    notice_earlier(&stderr, outcome);
    let served = stdio::serve(core, notice, real).map_err(|error| error.to_string())?;
    stderr.flush(Duration::from_secs(1));
    finish(options, &served, outcome)
}

fn remote((upstream, recording): (Upstream, Recording)) -> Real {
    Real {
        upstream,
        recording,
    }
}

fn process(
    options: &Options,
    recording: Recording,
    notice: &Notice,
    stderr: &Stderr,
) -> stdio::Real {
    stdio::Real::Process(Box::new(Plan {
        command: options.command.clone().unwrap_or_default(),
        timeout: episodes::TIMEOUT,
        recording,
        notice: Arc::clone(notice),
        stderr: stderr.clone(),
    }))
}

/// What is left of a recording that was killed is served, and not added to.
fn load(options: &Options, outcome: &mut Outcome) -> Result<Cassette, String> {
    if options.new_episodes {
        return Cassette::load(&options.cassette).map_err(|error| error.to_string());
    }
    let salvaged =
        Cassette::load_unfinished(&options.cassette).map_err(|error| error.to_string())?;
    if let Some(note) = salvaged.note().filter(|_| !options.quiet) {
        outcome.line(note);
    }
    Ok(salvaged.cassette)
}

/// What says something while it runs.
fn speaker(stderr: &Stderr, quiet: bool) -> Notice {
    let voice = stderr.clone();
    Arc::new(move |message: &str| {
        if !quiet {
            let line = format!("mcp-cassette {NAME}: {}", visible(message));
            voice.line(&without_old_commands(&line));
        }
    })
}

/// The real server over HTTP, if there is one.
fn real_server(options: &Options, core: &Replayer) -> Result<Option<Upstream>, String> {
    let upstream = options.server.upstream()?;
    match upstream {
        Some(_) if core.speaks_older_http() => Err(
            "--new-episodes does not go with recordings of HTTP with SSE, the transport of \
             2024-11-05"
                .to_owned(),
        ),
        upstream => Ok(upstream),
    }
}

fn notice_earlier(stderr: &Stderr, outcome: &mut Outcome) {
    for line in std::mem::take(&mut outcome.stderr).lines() {
        stderr.line(line);
    }
}

fn refuse_combinations(options: &Options) -> Result<(), String> {
    let pacing = &options.pacing;
    if !pacing.recorded && (pacing.scale.is_some() || pacing.cap.is_some()) {
        return Err("--pace-scale and --pace-cap-ms need --pace recorded".to_owned());
    }
    if options.new_episodes && options.faults.is_some() {
        return Err("--faults applies to replay only, not to --new-episodes".to_owned());
    }
    if options.command.is_some() && !options.new_episodes {
        return Err("a server command after -- goes with --new-episodes".to_owned());
    }
    let has_url = options.server.url.is_some();
    if options.command.is_some() && has_url {
        return Err("--url and a server command after -- are mutually exclusive".to_owned());
    }
    let beside = options.server.beside_url();
    if !beside.is_empty() && !has_url {
        return Err(format!("{} apply to --url only", beside.join(", ")));
    }
    let has_command = options
        .command
        .as_ref()
        .is_some_and(|command| !command.is_empty());
    if options.new_episodes && !has_command && !has_url {
        return Err(
            "missing server command after --, or --url URL for a recording of HTTP, which \
             --new-episodes needs"
                .to_owned(),
        );
    }
    Ok(())
}

/// How the client connects.
fn transport(options: &Options, cassette: &Cassette) -> Result<Transport, String> {
    let asked = &options.asked;
    let recorded = cassette.transport();
    let has_url = options.server.url.is_some();
    if has_url && recorded != Transport::Http {
        return Err("--url applies to http cassettes; give the server command after --".to_owned());
    }
    if has_url && !options.new_episodes {
        return Err("--url goes with --new-episodes".to_owned());
    }
    let transport = asked.transport.unwrap_or(recorded);
    if options.new_episodes && recorded == Transport::Http && !has_url {
        return Err(
            "the recording is of a server over HTTP: --new-episodes needs its address, --url URL, \
             in place of a command"
                .to_owned(),
        );
    }
    if options.new_episodes && transport == Transport::Http && recorded == Transport::Stdio {
        return Err(
            "--new-episodes serves a recording of stdio over stdio: its server has one client"
                .to_owned(),
        );
    }
    let listens = asked.port.is_some() || asked.host.is_some() || asked.leashed;
    if transport == Transport::Stdio && listens {
        return Err("--port and --host go with --transport http or a recording of HTTP".to_owned());
    }
    Ok(transport)
}

/// Serves until a signal comes. It answers one more path, if there is one.
fn play_over_http(
    options: &Options,
    core: Replayer,
    (listener, path, real): (Listener, Option<String>, Option<Real>),
    stderr: &Stderr,
    notice: Notice,
) -> Result<Served, String> {
    let url = http::url(&listener);
    let watcher = watcher(options, stderr);
    let served = http::serve(
        core,
        listener,
        path,
        (real, options.asked.leashed),
        notice,
        watcher,
        || stderr.line(&format!("mcp-cassette: replaying at {url}")),
    );
    stderr.status("");
    stderr.flush(Duration::from_secs(1));
    served.map_err(|error| error.to_string())
}

/// On a terminal a line says how far it is.
fn watcher(options: &Options, stderr: &Stderr) -> Option<http::Watcher> {
    if options.quiet || !io::stderr().is_terminal() {
        return None;
    }
    let stderr = stderr.clone();
    Some(Box::new(move |tally| {
        let replay::Tally {
            sessions,
            messages,
            misses,
        } = tally;
        stderr.status(&format!(
            "{sessions} session(s), {messages} message(s), {misses} unmatched"
        ));
    }))
}

fn listen(options: &Options) -> Result<Listener, String> {
    let host = options.asked.host.as_deref().unwrap_or("127.0.0.1");
    Listener::bind(host, options.asked.port.unwrap_or(0)).map_err(|error| {
        let source = std::error::Error::source(&error);
        let why = source.map_or_else(String::new, |source| format!(": {source}"));
        format!("{error}{why}")
    })
}

/// The path that the recorded server was at: a client may ask for the same.
fn recorded_path(cassette: &Cassette) -> Option<String> {
    let url = cassette.server_url()?;
    let (_, rest) = url.split_once("://")?;
    let path = rest.get(rest.find('/')?..)?;
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let path = path.trim_end_matches('/');
    Some(path.to_owned()).filter(|path| !path.is_empty())
}

/// That the report will find a place is known before the session, not after it.
fn check_report(path: &Path) -> Result<(), String> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let problem = match folder {
        _ if path.is_dir() => "is a directory",
        Some(folder) if !folder.is_dir() => "is in a directory that does not exist",
        _ => return Ok(()),
    };
    Err(format!("--report {} {problem}", path.display()))
}

/// The faults that are asked for.
pub(super) fn overlay(path: Option<&Path>, transport: Transport) -> Result<Overlay, String> {
    let Some(path) = path else {
        return Ok(Overlay::default());
    };
    let name = path.display().to_string();
    let bytes = regular_file::read(path, LARGEST_BY_HAND)
        .map_err(|error| format!("--faults {name}: {error}"))?;
    Overlay::parse(&name, &bytes, transport).map_err(|error| error.to_string())
}

/// The packs that were given, each with its name and bytes.
fn given_packs(
    options: &Options,
    cassette: &Cassette,
    outcome: &mut Outcome,
) -> Result<Vec<(String, Vec<u8>)>, String> {
    let given = packs(&options.rules.packs)?;
    for note in notes_on_packs(cassette, &given)? {
        if !options.quiet {
            outcome.line(format_args!("note: {note}"));
        }
    }
    Ok(given)
}

/// The rules of the recording.
fn redactor(
    options: &Options,
    context: &Context,
    cassette: &Cassette,
    given: &[(String, Vec<u8>)],
) -> Result<Option<Redactor>, String> {
    let Some(manifest) = cassette.redaction_manifest() else {
        return Ok(None);
    };
    let told = |error: crate::redact::RedactError| {
        let mut problem = error.to_string();
        conceal::conceal(&mut problem);
        format!("{}: {problem}", cassette.name())
    };
    let manifest = Manifest::parse(manifest).map_err(told)?;
    let files = PackFiles {
        given,
        read: &recorded_pack,
    };
    let salted = options.rules.salt_env || options.rules.salt_file.is_some();
    let salt = match salted {
        true => Some(options.rules.salt(context)?),
        false => None,
    };
    let redactor = Redactor::from_manifest(&manifest, files, salt).map_err(told)?;
    Ok(Some(redactor))
}

impl Pacing {
    fn pace(&self) -> Option<Pace> {
        let cap = self.cap.unwrap_or(CAP);
        self.recorded.then(|| Pace {
            scale: self.scale.unwrap_or(1.0),
            cap: (!cap.is_zero()).then_some(cap),
        })
    }
}

/// Says what came of it, and writes the report.
fn finish(options: &Options, served: &Served, outcome: &mut Outcome) -> Result<(), String> {
    if let Some(signal) = served.signal.filter(|_| !options.quiet) {
        outcome.line(format_args!("ended by {}", signal.name()));
    }
    let Some(summary) = &served.summary else {
        return Err("the client took nothing more, so that the session has no report".to_owned());
    };
    tell(summary, options.quiet, outcome);
    if !summary.misses.is_empty() {
        outcome.exit = Exit::Unmatched;
    }
    let messages = episodes::conclude(options, served.recorded.as_ref(), outcome);
    let Some(path) = &options.report else {
        return Ok(());
    };
    let report = Report {
        messages: options.new_episodes.then_some(messages),
        misses: &summary.misses,
        unused_faults: &summary.unused_faults,
        pending_server_requests: &summary.pending_server_requests,
        unused_interactions: summary.unused_interactions,
    };
    let failed = |error: &dyn std::fmt::Display| format!("--report {}: {error}", path.display());
    let mut json = serde_json::to_string_pretty(&report).map_err(|error| failed(&error))?;
    json.push('\n');
    save_atomically(path, json.as_bytes()).map_err(|error| failed(&error))
}

fn tell(summary: &Summary, quiet: bool, outcome: &mut Outcome) {
    if !summary.misses.is_empty() {
        outcome.line(format_args!(
            "{} unmatched request(s):",
            summary.misses.len()
        ));
        list(&summary.explained, outcome);
    }
    if quiet {
        return;
    }
    let pending = &summary.pending_server_requests;
    if !pending.is_empty() {
        outcome.line(format_args!(
            "{} server request(s) still awaiting an answer of the client:",
            pending.len()
        ));
        list(pending, outcome);
    }
    if !summary.dropped.is_empty() {
        outcome.line(format_args!(
            "{} answer(s) not given:",
            summary.dropped.len()
        ));
        list(&summary.dropped, outcome);
    }
    for fault in &summary.unused_faults {
        outcome.line(format_args!("warning: the fault {fault} never fired"));
    }
}

fn list(lines: &[String], outcome: &mut Outcome) {
    for line in lines.iter().take(LISTED) {
        outcome.line(format_args!("  {line}"));
    }
    if lines.len() > LISTED {
        outcome.line(format_args!("  and {} more", lines.len() - LISTED));
    }
}

/// The report file: members are frozen, additions only.
#[derive(Serialize)]
struct Report<'a> {
    /// How many were added, with `--new-episodes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    messages: Option<u64>,
    misses: &'a [String],
    unused_faults: &'a [String],
    pending_server_requests: &'a [String],
    unused_interactions: usize,
}
