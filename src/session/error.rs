//! What can go wrong with a session of a test.

use crate::record::ClaimError;
use std::error::Error as _;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why a test's session could not be opened, or did not end well.
///
/// Its `Debug` form is the text with its causes, since that is what a test shows that unwraps.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The synchronous door waits for other processes and would block the runtime.
    #[error(
        "use_cassette blocks and was called inside an asynchronous runtime; use use_cassette_async"
    )]
    InsideRuntime,
    /// The runtime was shut down while the session was being opened.
    #[error("the runtime ended before the cassette was open")]
    RuntimeEnded,
    /// A value that is no mode.
    #[error("{value:?} in {origin} is no mode; expected once, none, all or new_episodes")]
    BadMode {
        /// Where the value was found.
        origin: &'static str,
        /// The value.
        value: String,
    },
    /// [`Mode::None`](super::Mode::None) and no cassette.
    #[error(
        "no cassette at {} and recording is forbidden (mode=none)",
        .0.display()
    )]
    RecordingForbidden(PathBuf),
    /// A command line is made of text.
    #[error("the path {} is not UTF-8 and cannot stand in a command", .0.display())]
    PathNotUtf8(PathBuf),
    /// Whether there is a cassette could not be found out.
    #[error("cannot look at {}", path.display())]
    Cassette {
        /// The path of the cassette.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The cassette cannot be written at its path.
    #[error("{0}")]
    Output(String),
    /// Another process holds the cassette for writing, or the claim cannot be made.
    #[error(transparent)]
    Claim(#[from] ClaimHeld),
    /// Faults change what is replayed, and a recording would keep them.
    #[error("faults apply to replay only, and this session records")]
    FaultsWhileRecording,
    /// An overlay that cannot be used.
    #[error("the fault overlay cannot be used: {0}")]
    Faults(String),
    /// The program that records and replays was not found.
    #[error(
        "the program mcp-cassette was not found{}; install it with `cargo install mcp-cassette`, or say \
         where it is with Options::binary or MCP_CASSETTE_BIN",
        looked_at.as_deref().map(|path| format!(" at {}", path.display())).unwrap_or_default()
    )]
    NoProgram {
        /// The place that was asked for, if one was.
        looked_at: Option<PathBuf>,
    },
    /// A listener that was to stand for a server over HTTP ended before it listened.
    #[error("no listener stands for the server: {0}")]
    NotListening(String),
    /// Recording needs the command of the real server.
    #[error("this session records, and server_command was given no command of a real server")]
    NoCommand,
    /// A temporary file could not be written.
    #[error("cannot write a temporary file")]
    Scratch(#[source] io::Error),
    /// A command ended without a report, or goes on, or was never started.
    #[error(
        "the server command was not started, or did not end within {} seconds; close the client before \
         finish()",
        waited.as_secs()
    )]
    NotEnded {
        /// How long was waited.
        waited: std::time::Duration,
    },
    /// A report that cannot be read.
    #[error("the report of the server command cannot be read: {0}")]
    Report(String),
    /// Requests for which the cassette has no answer.
    #[error("{} unmatched request(s): {}", misses.len(), misses.join("; "))]
    Misses {
        /// Method and parameters of each, as `serve` tells them.
        misses: Vec<String>,
    },
    /// Nothing was said between client and server.
    #[error(
        "captured zero messages: the client said nothing to the server, and no cassette was written"
    )]
    NothingRecorded,
}

impl fmt::Debug for SessionError {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{self}")?;
        let mut cause = self.source();
        while let Some(error) = cause {
            write!(to, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

/// Why the cassette could not be claimed for writing.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct ClaimHeld(#[from] ClaimError);

impl From<ClaimError> for SessionError {
    fn from(error: ClaimError) -> Self {
        SessionError::Claim(ClaimHeld(error))
    }
}

impl SessionError {
    /// An error about the file at `path`.
    pub(super) fn cassette(path: &Path) -> impl FnOnce(io::Error) -> SessionError {
        let path = path.to_owned();
        move |source| SessionError::Cassette { path, source }
    }
}
