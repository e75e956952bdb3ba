//! The door for Rust test suites: a cassette in front of a server for one test.
//!
//! A test asks a [`CassetteSession`] for the command of its server, hands that to its client, and
//! calls [`CassetteSession::finish`] at the end. Whether the command records the real server or
//! replays the cassette follows from the [`Mode`] and from whether there is a cassette; the test does
//! not change.
//!
//! The command runs the `mcp-cassette` program, so that the client talks to a process as it would in
//! production; the program is looked for where [`Options::binary`] says.

mod error;
mod fault;
mod launch;
mod options;
#[cfg(feature = "http")]
mod site;

pub use error::SessionError;
pub use fault::{Fault, FaultKind, FaultOverlay, Malformed};
pub use options::{MatchConfig, Mode, OnExhausted, Options, Ordering, PaceConfig, RedactionConfig};

pub use launch::Summary;

use self::launch::{Launch, Plan, Real};
use crate::record::{Claim, ClaimOptions, check_output, partial_of};
use std::path::Path;
use std::time::Duration;

/// How long `once` waits for another process that records the same cassette.
const CLAIM_PATIENCE: Duration = Duration::from_secs(30);

/// A cassette in use by one test.
///
/// Dropping it without [`finish`](CassetteSession::finish) gives the cassette free and checks nothing,
/// so that a test that panics shows its own message.
#[derive(Debug)]
pub struct CassetteSession {
    cassette: String,
    plan: Plan,
    options: Options,
    faults: Option<FaultOverlay>,
    /// Held while this session may write the cassette.
    claim: Option<Claim>,
    launches: Vec<Launch>,
    /// The processes that listen.
    #[cfg(feature = "http")]
    sites: Vec<site::Site>,
    /// Reports and overlays of this session.
    directory: tempfile::TempDir,
    binary: String,
}

/// Opens a cassette for a test.
///
/// With [`Mode::Once`], which is the default, a missing cassette is recorded and an existing one is
/// replayed; another process that records it at the moment is waited for, up to 30 seconds, and
/// what it wrote is replayed.
///
/// # Errors
///
/// A mode that forbids what would have to be done, a cassette that another process holds, a program
/// that is not found, and a call inside an asynchronous runtime, which [`use_cassette_async`] is for.
///
/// # Examples
///
/// ```no_run
/// use mcp_cassette::session::{Options, use_cassette};
/// use std::process::Command;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut session = use_cassette("tests/cassettes/weather.mcp.json", Options::default())?;
/// let command = session.server_command(&["npx", "-y", "weather-server"])?;
/// let mut server = Command::new(&command[0]).args(&command[1..]).spawn()?;
/// // ... connect a client to the server, use it, and close it ...
/// server.wait()?;
/// session.finish()?;
/// # Ok(())
/// # }
/// ```
pub fn use_cassette(
    cassette: impl AsRef<Path>,
    options: Options,
) -> Result<CassetteSession, SessionError> {
    if tokio::runtime::Handle::try_current().is_ok() {
        return Err(SessionError::InsideRuntime);
    }
    CassetteSession::open(cassette.as_ref(), options)
}

/// The same inside a tokio runtime: waiting for another process does not block it.
///
/// # Errors
///
/// Those of [`use_cassette`], but for the runtime.
pub async fn use_cassette_async(
    cassette: impl AsRef<Path>,
    options: Options,
) -> Result<CassetteSession, SessionError> {
    let cassette = cassette.as_ref().to_owned();
    let opened = tokio::task::spawn_blocking(move || CassetteSession::open(&cassette, options));
    opened.await.map_err(|_| SessionError::RuntimeEnded)?
}

impl CassetteSession {
    fn open(cassette: &Path, options: Options) -> Result<CassetteSession, SessionError> {
        let mode = options::effective_mode(&options)?;
        let name = cassette
            .to_str()
            .ok_or_else(|| SessionError::PathNotUtf8(cassette.to_owned()))?
            .to_owned();
        let (plan, claim) = decide(cassette, mode)?;
        if plan != Plan::Replay && options.faults.is_some() {
            return Err(SessionError::FaultsWhileRecording);
        }
        let directory = tempfile::Builder::new()
            .prefix("mcp-cassette-")
            .tempdir()
            .map_err(SessionError::Scratch)?;
        let binary = launch::find_binary(options.binary.as_deref())?;
        Ok(CassetteSession {
            cassette: name,
            plan,
            faults: options.faults.clone(),
            options,
            claim,
            launches: Vec::new(),
            #[cfg(feature = "http")]
            sites: Vec::new(),
            directory,
            binary,
        })
    }

    /// Whether the real server runs and what it says is written down.
    pub fn is_recording(&self) -> bool {
        self.plan == Plan::Record
    }

    /// The path of the cassette, as it was given.
    pub fn cassette(&self) -> &Path {
        Path::new(&self.cassette)
    }

    /// Sets the faults of the commands that are asked for from now on.
    ///
    /// # Errors
    ///
    /// Faults need a replay: the session records.
    pub fn with_faults(mut self, faults: FaultOverlay) -> Result<CassetteSession, SessionError> {
        if self.plan != Plan::Replay {
            return Err(SessionError::FaultsWhileRecording);
        }
        self.faults = Some(faults);
        Ok(self)
    }

    /// The command to start instead of `real`, the server's own one: first the program, then its
    /// arguments. Each call is for one start of the server.
    ///
    /// # Errors
    ///
    /// `real` is empty where it is needed, and a temporary file that cannot be written.
    pub fn server_command<S: AsRef<str>>(
        &mut self,
        real: &[S],
    ) -> Result<Vec<String>, SessionError> {
        let real: Vec<String> = real.iter().map(|word| word.as_ref().to_owned()).collect();
        self.launch(Real::Command(&real))
    }

    /// The URL to connect to instead of `real`, the server's own one: something listens there until
    /// the session ends. Each call is for one more listener.
    ///
    /// With the feature `http`.
    ///
    /// # Errors
    ///
    /// `real` is empty where it is needed, a temporary file that cannot be written, and a listener
    /// that does not start: a recorder whose server is not there, for one.
    #[cfg(feature = "http")]
    pub fn server_url(&mut self, real: &str) -> Result<String, SessionError> {
        let command = self.launch(Real::Url(real))?;
        match site::Site::start(&command) {
            Ok((site, url)) => {
                self.sites.push(site);
                Ok(url)
            }
            Err(error) => {
                // There is no report to wait for.
                self.launches.pop();
                Err(error)
            }
        }
    }

    fn launch(&mut self, real: Real<'_>) -> Result<Vec<String>, SessionError> {
        let launch = Launch::new(self.directory.path(), self.launches.len());
        let command = launch.command(&launch::Setting {
            binary: &self.binary,
            cassette: &self.cassette,
            plan: self.plan,
            options: &self.options,
            faults: self.faults.as_ref(),
            real,
        })?;
        self.launches.push(launch);
        Ok(command)
    }

    /// Ends the session: waits until every started command has ended, and checks what it reports.
    ///
    /// Close the client first. Gives the cassette free in any case.
    ///
    /// # Errors
    ///
    /// A request that the cassette has no answer for, a recording without a message, and a command
    /// that did not end in time or was never started.
    pub fn finish(mut self) -> Result<Summary, SessionError> {
        let partial = partial_of(Path::new(&self.cassette));
        #[cfg(feature = "http")]
        for site in &mut self.sites {
            site.end();
        }
        let outcome = launch::collect(&self.launches, self.plan, &partial);
        // The claim is given back before anything is told.
        drop(self.claim.take());
        outcome
    }
}

/// What a session does with its cassette, and the claim that it needs for that.
fn decide(cassette: &Path, mode: Mode) -> Result<(Plan, Option<Claim>), SessionError> {
    let exists = |path: &Path| path.try_exists().map_err(SessionError::cassette(path));
    let absent = !exists(cassette)?;
    match (mode, absent) {
        (Mode::None, true) => Err(SessionError::RecordingForbidden(cassette.to_owned())),
        (Mode::None | Mode::Once, false) => Ok((Plan::Replay, None)),
        (Mode::Once, true) => {
            let claim = claim(cassette, CLAIM_PATIENCE)?;
            // Whoever held it may have recorded the cassette meanwhile.
            match exists(cassette)? {
                true => Ok((Plan::Replay, None)),
                false => Ok((Plan::Record, Some(claim))),
            }
        }
        (Mode::All, _) | (Mode::NewEpisodes, true) => {
            let claim = claim(cassette, Duration::ZERO)?;
            Ok((Plan::Record, Some(claim)))
        }
        (Mode::NewEpisodes, false) => {
            let claim = claim(cassette, Duration::ZERO)?;
            Ok((Plan::Extend, Some(claim)))
        }
    }
}

fn claim(cassette: &Path, wait: Duration) -> Result<Claim, SessionError> {
    let target = check_output(cassette).map_err(SessionError::Output)?;
    let options = ClaimOptions {
        wait,
        ..ClaimOptions::default()
    };
    // A claim that is taken over from a process that is gone needs nobody's attention in a test.
    Ok(Claim::acquire(&target, &options, &|_| ())?)
}
