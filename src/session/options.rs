//! How a test wants its cassette used.

use super::{FaultOverlay, SessionError};
use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// Overrides the mode of every session.
const MODE_VARIABLE: &str = "MCP_CASSETTE_MODE";

/// When to record and when to replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Record if there is no cassette, replay otherwise.
    #[default]
    Once,
    /// Replay; without a cassette, fail. For CI.
    None,
    /// Record, whether there is a cassette or not.
    All,
    /// Replay what is recorded, and record what is not.
    NewEpisodes,
}

impl Mode {
    /// The word for environment variables and claims.
    pub fn as_str(self) -> &'static str {
        match self {
            Mode::Once => "once",
            Mode::None => "none",
            Mode::All => "all",
            Mode::NewEpisodes => "new_episodes",
        }
    }
}

impl FromStr for Mode {
    type Err = SessionError;

    fn from_str(text: &str) -> Result<Mode, SessionError> {
        let modes = [Mode::Once, Mode::None, Mode::All, Mode::NewEpisodes];
        let found = modes.into_iter().find(|mode| mode.as_str() == text);
        found.ok_or_else(|| SessionError::BadMode {
            origin: "the argument",
            value: text.to_owned(),
        })
    }
}

/// The mode of a session: the variable if it is set, the argument otherwise.
pub(super) fn effective_mode(options: &Options) -> Result<Mode, SessionError> {
    overridden(options.mode, std::env::var_os(MODE_VARIABLE))
}

fn overridden(mode: Mode, variable: Option<OsString>) -> Result<Mode, SessionError> {
    let Some(value) = variable.filter(|value| !value.is_empty()) else {
        return Ok(mode);
    };
    let value = value.to_string_lossy();
    value.parse().map_err(|_| SessionError::BadMode {
        origin: MODE_VARIABLE,
        value: value.into_owned(),
    })
}

/// Everything that a session can be told.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// When to record; the environment variable `MCP_CASSETTE_MODE` wins over it.
    pub mode: Mode,
    /// Which recorded call answers a request.
    pub matching: MatchConfig,
    /// What goes wrong on purpose. Only a replay takes faults.
    pub faults: Option<FaultOverlay>,
    /// Whether answers take the time that they took.
    pub pace: PaceConfig,
    /// What is scrubbed while recording.
    pub redaction: RedactionConfig,
    /// The `mcp-cassette` program. Without it: `MCP_CASSETTE_BIN`, then `PATH`.
    pub binary: Option<PathBuf>,
}

/// Which recorded call answers a request.
#[derive(Clone, Debug, Default)]
pub struct MatchConfig {
    /// In which order recorded calls are used up.
    pub ordering: Ordering,
    /// What happens when a call comes once more than it was recorded.
    pub on_exhausted: OnExhausted,
    /// JSON pointers into a request (`/params/arguments/now`) that are not compared.
    pub ignore_params: Vec<String>,
    /// Members of `_meta` that are compared; without any, none is.
    pub match_meta: Vec<String>,
    /// Answer with the client's protocol version instead of the recorded one.
    pub rewrite_protocol_version: bool,
}

/// In which order recorded calls are used up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ordering {
    /// The earliest unused call that is equal.
    #[default]
    PerMethod,
    /// The next call of the recording, or it is a miss.
    Strict,
    /// Any call that is equal, as often as it is asked for.
    None,
}

/// What happens when a call comes once more than it was recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnExhausted {
    /// Listings and reads repeat their last answer; a tool call is a miss.
    #[default]
    Auto,
    /// The last answer again.
    Repeat,
    /// It is a miss.
    Error,
}

/// Whether answers take the time that they took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum PaceConfig {
    /// At once.
    #[default]
    Immediate,
    /// With the recorded gaps.
    Recorded {
        /// Gaps are multiplied by it; above 0.
        scale: f64,
        /// No gap is longer; zero means no limit.
        cap: Duration,
    },
}

/// What is scrubbed while recording.
#[derive(Clone, Debug)]
pub struct RedactionConfig {
    /// Names and JSON pointers whose values are replaced, as `LOCATOR` or `LOCATOR=REPLACEMENT`.
    pub locators: Vec<String>,
    /// Whether the default names and the bundled pack apply.
    pub defaults: bool,
    /// Packs of patterns.
    pub packs: Vec<PathBuf>,
    /// The name of the profile, for `redaction-check NAME`.
    pub profile: Option<String>,
    /// Key pseudonyms with `MCP_CASSETTE_REDACT_SALT` instead of the stable salt.
    pub salt_from_environment: bool,
}

impl Default for RedactionConfig {
    fn default() -> Self {
        RedactionConfig {
            locators: Vec::new(),
            defaults: true,
            packs: Vec::new(),
            profile: None,
            salt_from_environment: false,
        }
    }
}

impl Ordering {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Ordering::PerMethod => "per_method",
            Ordering::Strict => "strict",
            Ordering::None => "none",
        }
    }
}

impl OnExhausted {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            OnExhausted::Auto => "auto",
            OnExhausted::Repeat => "repeat",
            OnExhausted::Error => "error",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_wins_over_the_argument() {
        let mode = |variable: &str| overridden(Mode::All, Some(variable.into()));
        assert_eq!(mode("none").expect("a mode"), Mode::None);
        assert_eq!(mode("").expect("a mode"), Mode::All);
        assert_eq!(overridden(Mode::Once, None).expect("a mode"), Mode::Once);
        let error = mode("Once").expect_err("modes are lower case").to_string();
        assert!(error.contains("MCP_CASSETTE_MODE"), "{error}");
        assert!(error.contains("new_episodes"), "{error}");
    }
}
