//! `<cassette>.claim`: the sign that a process is writing a cassette.
//!
//! The file is that of mcp-cassette 0.4.0, so that either tool honours the other's. Who creates
//! it owns the cassette until it removes it. A claim whose owner is gone is stale and is taken
//! over; what counts as gone is in [`Claim::acquire`].

use crate::regular_file;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::collections::hash_map::RandomState;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher as _, Hasher as _};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

/// A claim this old is stale, whoever holds it.
const OLDEST: Duration = Duration::from_secs(4 * 60 * 60);
/// A claim that cannot be read is one that is being written, for this long.
const UNREADABLE: Duration = Duration::from_secs(5);
/// What is longer than this is no claim, in bytes.
const LONGEST: u64 = 64 << 10;
/// A claim younger than this is waited for as long, because some clients start the same
/// command twice and kill the first at once.
const YOUNG: Duration = Duration::from_secs(2);
/// How often a claim is looked at while it is waited for.
const LOOK: Duration = Duration::from_millis(20);

/// How to get a claim.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClaimOptions {
    /// Break the claim of another process.
    pub(crate) force: bool,
    /// How long another's claim is waited for.
    pub(crate) wait: Duration,
    /// The process that holds the claim on behalf of this one.
    pub(crate) held_by: Option<u32>,
}

/// A held claim; dropping it releases it.
#[derive(Debug)]
pub(crate) struct Claim {
    path: PathBuf,
    /// `None` if another process holds it for this one.
    token: Option<String>,
}

/// Why there is no claim.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClaimError {
    /// A live process holds it.
    #[error(
        "{} is held for writing by {holder}; waited {}s",
        .cassette.display(), .waited.as_secs()
    )]
    Held {
        cassette: PathBuf,
        holder: String,
        waited: Duration,
    },
    /// The file could not be created.
    #[error("{} cannot be written: {source}", .path.display())]
    Io { path: PathBuf, source: io::Error },
}

/// The content of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Content {
    pid: u32,
    host: String,
    #[serde(default)]
    node_id: Option<String>,
    #[serde(default)]
    worker: Option<String>,
    #[serde(default)]
    mode: Option<String>,
    /// RFC 3339 with microseconds.
    created_at: String,
    token: String,
}

impl Claim {
    /// Takes the claim on the cassette at `target`, which is a resolved path.
    ///
    /// Stale is a claim of a process of this host that is gone, one that is older than four
    /// hours, and one that could not be read for five seconds; it is taken over with a warning.
    ///
    /// # Errors
    ///
    /// Somebody else holds it for longer than the options wait, or the directory cannot be
    /// written.
    pub(crate) fn acquire(
        target: &Path,
        options: &ClaimOptions,
        notice: &dyn Fn(&str),
    ) -> Result<Claim, ClaimError> {
        let mut path = target.as_os_str().to_owned();
        path.push(".claim");
        let path = PathBuf::from(path);
        let began = Instant::now();
        let mut grace = options.wait;
        // The clock of its host may be ahead, so that its age alone says nothing.
        let mut seen: Option<(Option<String>, Duration)> = None;
        loop {
            let holder = match attempt(&path, target, options, notice) {
                Ok(Attempt::Taken(token)) => return Ok(Claim { path, token }),
                Ok(Attempt::Held(holder)) => holder,
                Err(source) => return Err(ClaimError::Io { path, source }),
            };
            let waited = began.elapsed();
            let token = holder.content.as_ref().map(|content| &content.token);
            let since = match &seen {
                Some((before, since)) if before.as_ref() == token => *since,
                _ => waited,
            };
            seen = Some((token.cloned(), since));
            if holder.age < YOUNG {
                let grown_up = waited + YOUNG.saturating_sub(holder.age);
                grace = grace.max(grown_up.min(since + YOUNG));
            }
            if waited >= grace {
                return Err(ClaimError::Held {
                    cassette: target.to_owned(),
                    holder: holder.to_string(),
                    waited,
                });
            }
            thread::sleep(LOOK.min(grace.saturating_sub(waited)));
        }
    }
}

/// The tokens of the claims that this process holds: several tests of one process may each hold
/// one.
fn held_here() -> MutexGuard<'static, BTreeSet<String>> {
    static HELD: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Claim {
    fn drop(&mut self) {
        let Some(token) = &self.token else { return };
        // A claim that somebody broke with force is somebody else's.
        if read(&self.path).is_some_and(|content| content.token == *token) {
            let _ = fs::remove_file(&self.path);
        }
        held_here().remove(token);
    }
}

enum Attempt {
    /// With the token in the file, or without one if it is held on our behalf.
    Taken(Option<String>),
    Held(Holder),
}

/// Who holds a claim, and for how long.
struct Holder {
    content: Option<Content>,
    age: Duration,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let age = self.age.as_secs();
        match &self.content {
            Some(content) => {
                let Content { pid, host, .. } = content;
                let worker = content.worker.as_deref().map(shortened);
                let who = worker.filter(|worker| !worker.trim().is_empty());
                let who = who.as_deref().unwrap_or("another process");
                let host = shortened(host);
                write!(f, "{who} (pid {pid} on {host}, started {age}s ago)")
            }
            None => write!(f, "another process (its claim cannot be read, {age}s old)"),
        }
    }
}

/// A name that anybody can have written, at a length for a message.
fn shortened(name: &str) -> String {
    name.chars().take(100).collect()
}

/// Looks at the claim, and creates it if it is free, stale or to be broken.
fn attempt(
    path: &Path,
    target: &Path,
    options: &ClaimOptions,
    notice: &dyn Fn(&str),
) -> io::Result<Attempt> {
    // Two that find the same stale claim must not both take it over, one of them from the other.
    let _one_at_a_time = lock_directory(path);
    for _ in 0..100 {
        match create(path) {
            Ok(token) => return Ok(Attempt::Taken(Some(token))),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        let Some(holder) = holder(path) else {
            // It was released between the two looks.
            continue;
        };
        let pid = holder.content.as_ref().map(|content| content.pid);
        if options.held_by.is_some() && options.held_by == pid {
            return Ok(Attempt::Taken(None));
        }
        let cassette = target.display();
        let why = match holder.staleness() {
            Some(why) => {
                format!("reclaiming the claim on {cassette}: {why}; it was held by {holder}")
            }
            None if options.force => {
                format!("--force breaks the live claim on {cassette}, held by {holder}")
            }
            None => return Ok(Attempt::Held(holder)),
        };
        notice(&format!("warning: {why}"));
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Err(io::Error::other("the claim comes and goes"))
}

fn create(path: &Path) -> io::Result<String> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    let content = Content {
        pid: std::process::id(),
        host: host(),
        node_id: None,
        worker: None,
        mode: Some("all".to_owned()),
        created_at: Timestamp::now()
            .strftime("%Y-%m-%dT%H:%M:%S.%6fZ")
            .to_string(),
        token: token(),
    };
    held_here().insert(content.token.clone());
    let json = serde_json::to_string(&content).map_err(io::Error::other)?;
    if let Err(error) = file.write_all(json.as_bytes()) {
        held_here().remove(&content.token);
        let _ = fs::remove_file(path);
        return Err(error);
    }
    Ok(content.token)
}

fn read(path: &Path) -> Option<Content> {
    // Not from a pipe, which would be waited for.
    let bytes = regular_file::bytes(path, LONGEST).ok()?;
    serde_json::from_slice(&bytes).ok()
}

impl Content {
    /// How long ago it was written; none if that cannot be read.
    fn age(&self) -> Option<Duration> {
        let created: Timestamp = self.created_at.parse().ok()?;
        // A clock that is ahead makes a claim new, not broken.
        Some(Duration::try_from(Timestamp::now().duration_since(created)).unwrap_or_default())
    }
}

/// The holder of a claim that is there.
fn holder(path: &Path) -> Option<Holder> {
    // A link that leads nowhere is a claim too: none can be made while it is there.
    let meta = fs::symlink_metadata(path).ok()?;
    let content = read(path);
    let since_written = || {
        let modified = meta.modified().ok()?;
        SystemTime::now().duration_since(modified).ok()
    };
    let age = content.as_ref().and_then(Content::age);
    let age = age.or_else(since_written).unwrap_or_default();
    Some(Holder { content, age })
}

impl Holder {
    /// Why nobody holds it any more.
    fn staleness(&self) -> Option<String> {
        match &self.content {
            None if self.age >= UNREADABLE => Some("it cannot be read".to_owned()),
            None => None,
            Some(_) if self.age >= OLDEST => Some("it is older than 4 hours".to_owned()),
            Some(content) => {
                let here = content.host.eq_ignore_ascii_case(&host());
                let ours = content.pid == std::process::id();
                // A claim with our number that we do not hold was left by a process before us.
                let gone = match ours {
                    true => !held_here().contains(&content.token),
                    false => !is_alive(content.pid),
                };
                let Content { pid, .. } = content;
                (here && gone).then(|| format!("holder pid {pid} is not alive"))
            }
        }
    }
}

/// A number that nobody else has, in hexadecimal. It need not be secret.
fn token() -> String {
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    hasher.write_u128(
        SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or_default()
            .as_nanos(),
    );
    format!("{:016x}", hasher.finish())
}

/// Holds other claimants off until it is dropped; best effort, since a file system may not
/// know locks.
#[cfg(unix)]
fn lock_directory(path: &Path) -> Option<File> {
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let directory = File::open(parent.unwrap_or(Path::new("."))).ok()?;
    rustix::fs::flock(&directory, rustix::fs::FlockOperation::LockExclusive).ok()?;
    Some(directory)
}

#[cfg(not(unix))]
fn lock_directory(_path: &Path) -> Option<File> {
    None
}

#[cfg(unix)]
fn host() -> String {
    let name = rustix::system::uname();
    name.nodename().to_string_lossy().into_owned()
}

#[cfg(not(unix))]
fn host() -> String {
    std::env::var("COMPUTERNAME").unwrap_or_default()
}

#[cfg(unix)]
fn is_alive(pid: u32) -> bool {
    let pid = i32::try_from(pid)
        .ok()
        .and_then(rustix::process::Pid::from_raw);
    // A process of another user is alive although it may not be signalled.
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}

/// Asks the task list, since the system's own call would need unsafe code; what cannot be
/// asked counts as alive.
#[cfg(not(unix))]
fn is_alive(pid: u32) -> bool {
    let output = std::process::Command::new("tasklist")
        .args(["/NH", "/FO", "CSV", "/FI", &format!("PID eq {pid}")])
        .output();
    match output {
        Ok(output) => {
            let listed = String::from_utf8_lossy(&output.stdout).into_owned();
            listed.contains(&format!("\"{pid}\""))
        }
        Err(_) => true,
    }
}
