//! A recorder or a replay that listens for a test: a process of the session's own.

use super::SessionError;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// A recorder looks at its server before it says where it listens.
const PATIENCE: Duration = Duration::from_secs(60);
/// What a listener says before its URL.
const AT: [&str; 2] = ["replaying at ", "recording at "];
/// So much of what it said otherwise is told if it does not start, in bytes.
const TOLD: usize = 4096;

/// A process that listens. Dropping it ends it in any case.
#[derive(Debug)]
pub(super) struct Site {
    child: Child,
}

impl Site {
    /// Starts a command, and waits until it says where it listens.
    pub(super) fn start(command: &[String]) -> Result<(Site, String), SessionError> {
        let failed = |why: String| SessionError::NotListening(why);
        let Some((program, arguments)) = command.split_first() else {
            return Err(SessionError::NoCommand);
        };
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| failed(error.to_string()))?;
        let stderr = child.stderr.take();
        // From now on it is ended whatever happens.
        let site = Site { child };
        let (sender, url) = mpsc::channel();
        let reader = thread::Builder::new().name("listener".to_owned());
        reader
            .spawn(move || stderr.map(|stderr| read(stderr, &sender)))
            .map_err(|error| failed(error.to_string()))?;
        match url.recv_timeout(PATIENCE) {
            Ok(Ok(url)) => Ok((site, url)),
            Ok(Err(said)) => Err(failed(said)),
            Err(_) => Err(failed("it did not say where it listens".to_owned())),
        }
    }

    /// Asks it to end, and waits until it has: then its report is there.
    pub(super) fn end(&mut self) {
        // It was told to end with its input.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads what a listener says to the end, so that it is never held up: its URL, or all that it said
/// if there is none.
fn read(stderr: ChildStderr, url: &mpsc::Sender<Result<String, String>>) {
    let mut said = String::new();
    for line in BufReader::new(stderr).lines().map_while(Result::ok) {
        let rest = AT.iter().find_map(|at| line.split_once(at));
        if let Some((_, rest)) = rest {
            let found = rest.split_whitespace().next().unwrap_or_default();
            // Whoever waited may have given up.
            let _ = url.send(Ok(found.to_owned()));
        }
        if said.len() < TOLD {
            said.push_str(&line);
            said.push('\n');
        }
    }
    let _ = url.send(Err(said.trim_end().to_owned()));
}
