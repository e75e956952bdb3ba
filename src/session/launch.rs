//! The command that stands for the server, and what it reports at its end.

use super::{FaultOverlay, MatchConfig, Options, PaceConfig, SessionError};
use serde::Deserialize;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// Where the program is, if `PATH` does not know.
const BINARY_VARIABLE: &str = "MCP_CASSETTE_BIN";

/// A recorder waits 30 seconds for answers after its client is gone, and then saves.
const PATIENCE: Duration = Duration::from_secs(40);

/// Between two looks at whether a command has reported.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// What the commands of a session do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plan {
    Record,
    Replay,
    /// Replay, and record what is not in the cassette.
    Extend,
}

/// One command that was handed out.
#[derive(Debug)]
pub(super) struct Launch {
    report: PathBuf,
    overlay: PathBuf,
}

/// What a command line is made from.
pub(super) struct Setting<'a> {
    pub(super) binary: &'a str,
    pub(super) cassette: &'a str,
    pub(super) plan: Plan,
    pub(super) options: &'a Options,
    pub(super) faults: Option<&'a FaultOverlay>,
    pub(super) real: Real<'a>,
}

/// The server that a session stands for.
#[derive(Clone, Copy)]
pub(super) enum Real<'a> {
    Command(&'a [String]),
    Url(&'a str),
}

/// The report of `record` and `serve`.
#[derive(Debug, Default, Deserialize)]
struct Report {
    #[serde(default)]
    messages: u64,
    #[serde(default)]
    misses: Vec<String>,
    #[serde(default)]
    unused_faults: Vec<serde_json::Value>,
    #[serde(default)]
    pending_server_requests: Vec<serde_json::Value>,
    #[serde(default)]
    unused_interactions: u64,
}

/// How a session went that ended well.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// How many messages were recorded.
    pub messages: u64,
    /// Faults whose target never came, as `serve` tells them: what they were for was not tested.
    pub unused_faults: Vec<String>,
    /// Requests of the server that the client did not answer.
    pub pending_server_requests: Vec<String>,
    /// How many recorded calls were not asked for.
    pub unused_interactions: u64,
}

impl Launch {
    pub(super) fn new(directory: &Path, number: usize) -> Launch {
        Launch {
            report: directory.join(format!("report-{number}.json")),
            overlay: directory.join(format!("faults-{number}.json")),
        }
    }

    pub(super) fn command(&self, setting: &Setting<'_>) -> Result<Vec<String>, SessionError> {
        let mut command = Words(vec![setting.binary.to_owned()]);
        match setting.plan {
            Plan::Record => {
                command.word("record");
                command.flag("--cassette", setting.cassette);
            }
            Plan::Replay | Plan::Extend => {
                command.word("serve");
                command.word(setting.cassette);
                command.matching(&setting.options.matching);
                command.pace(setting.options.pace);
            }
        }
        command.path("--report", &self.report)?;
        if let Some(faults) = setting.faults {
            fs::write(&self.overlay, faults.to_json()).map_err(SessionError::Scratch)?;
            command.path("--faults", &self.overlay)?;
        }
        if let Real::Url(_) = setting.real {
            command.word("--until-input-ends");
        }
        if setting.plan == Plan::Replay {
            // However it was recorded, the client connects as the test has it.
            let transport = match setting.real {
                Real::Command(_) => "stdio",
                Real::Url(_) => "http",
            };
            command.flag("--transport", transport);
            return Ok(command.0);
        }
        if matches!(setting.real, Real::Command([]) | Real::Url("")) {
            return Err(SessionError::NoCommand);
        }
        if setting.plan == Plan::Extend {
            command.word("--new-episodes");
        }
        command.flag("--claim-held-by", &std::process::id().to_string());
        if setting.plan == Plan::Record {
            command.redaction(setting.options)?;
        }
        match setting.real {
            Real::Command(real) => {
                command.word("--");
                command.0.extend_from_slice(real);
            }
            Real::Url(url) => command.flag("--url", url),
        }
        Ok(command.0)
    }

    /// The report, if it is there.
    fn read(&self) -> Result<Option<Report>, SessionError> {
        match fs::read_to_string(&self.report) {
            Ok(text) => serde_json::from_str(&text)
                .map(Some)
                .map_err(|error| SessionError::Report(error.to_string())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(SessionError::Report(error.to_string())),
        }
    }
}

/// Words of a command line.
struct Words(Vec<String>);

impl Words {
    fn word(&mut self, word: &str) {
        self.0.push(word.to_owned());
    }

    fn flag(&mut self, name: &str, value: &str) {
        // In one word, so that a value may begin with a dash.
        self.0.push(format!("{name}={value}"));
    }

    fn path(&mut self, name: &str, path: &Path) -> Result<(), SessionError> {
        let text = path
            .to_str()
            .ok_or_else(|| SessionError::PathNotUtf8(path.to_owned()))?;
        self.flag(name, text);
        Ok(())
    }

    fn matching(&mut self, matching: &MatchConfig) {
        self.flag("--ordering", matching.ordering.as_str());
        self.flag("--on-exhausted", matching.on_exhausted.as_str());
        for pointer in &matching.ignore_params {
            self.flag("--ignore-param", pointer);
        }
        for key in &matching.match_meta {
            self.flag("--match-meta", key);
        }
        if matching.rewrite_protocol_version {
            self.word("--rewrite-protocol-version");
        }
    }

    fn pace(&mut self, pace: PaceConfig) {
        let PaceConfig::Recorded { scale, cap } = pace else {
            return;
        };
        self.flag("--pace", "recorded");
        self.flag("--pace-scale", &scale.to_string());
        self.flag("--pace-cap-ms", &cap.as_millis().to_string());
    }

    fn redaction(&mut self, options: &Options) -> Result<(), SessionError> {
        let redaction = &options.redaction;
        for locator in &redaction.locators {
            self.flag("--redact", locator);
        }
        if !redaction.defaults {
            self.word("--no-default-redactions");
        }
        for pack in &redaction.packs {
            self.path("--pii-pack", pack)?;
        }
        if let Some(profile) = &redaction.profile {
            self.flag("--redact-profile", profile);
        }
        if redaction.salt_from_environment {
            self.word("--redact-salt-env");
        }
        Ok(())
    }
}

/// Waits for the reports of all commands and judges them.
pub(super) fn collect(
    launches: &[Launch],
    plan: Plan,
    partial: &Path,
) -> Result<Summary, SessionError> {
    let started = Instant::now();
    let mut misses = Vec::new();
    let mut summary = Summary::default();
    for launch in launches {
        let report = loop {
            let unfinished = plan != Plan::Replay && partial.exists();
            match launch.read()? {
                Some(report) if !unfinished => break report,
                _ if started.elapsed() > PATIENCE => {
                    return Err(SessionError::NotEnded { waited: PATIENCE });
                }
                _ => thread::sleep(LOOK_AGAIN),
            }
        };
        misses.extend(report.misses);
        summary.messages += report.messages;
        summary.unused_interactions += report.unused_interactions;
        summary.unused_faults.extend(texts(report.unused_faults));
        let pending = texts(report.pending_server_requests);
        summary.pending_server_requests.extend(pending);
    }
    if !misses.is_empty() {
        return Err(SessionError::Misses { misses });
    }
    if plan == Plan::Record && summary.messages == 0 {
        return Err(SessionError::NothingRecorded);
    }
    Ok(summary)
}

fn texts(values: Vec<serde_json::Value>) -> impl Iterator<Item = String> {
    values.into_iter().map(|value| match value {
        serde_json::Value::String(text) => text,
        other => other.to_string(),
    })
}

/// The program to start: the one that was asked for, or the first that is found.
pub(super) fn find_binary(asked: Option<&Path>) -> Result<String, SessionError> {
    let variable = std::env::var_os(BINARY_VARIABLE)
        .filter(|value| !value.is_empty())
        .map(PathBuf::from);
    if let Some(path) = asked.map(Path::to_owned).or(variable) {
        if !path.is_file() {
            return Err(SessionError::NoProgram {
                looked_at: Some(path),
            });
        }
        return utf8(path);
    }
    let name = format!("mcp-cassette{}", std::env::consts::EXE_SUFFIX);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .map(|directory| directory.join(&name))
        .find(|candidate| candidate.is_file());
    utf8(found.ok_or(SessionError::NoProgram { looked_at: None })?)
}

fn utf8(path: PathBuf) -> Result<String, SessionError> {
    path.into_os_string()
        .into_string()
        .map_err(|path| SessionError::PathNotUtf8(path.into()))
}
