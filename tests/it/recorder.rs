//! A running `record`, driven as a client would drive it.

use crate::support::{Run, command};
use mcp_cassette::Cassette;
use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How long a test waits before it gives up. It measures nothing: what hangs is to fail its
/// test and not to hang the run.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// An example binary, which cargo builds together with the tests.
pub(crate) fn example(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_BIN_EXE_mcp-cassette")).with_file_name("examples");
    let path = folder
        .join(name)
        .with_extension(std::env::consts::EXE_EXTENSION);
    assert!(
        path.is_file(),
        "{} is missing; a plain `cargo test` builds it, `cargo test --test it` does not: \
         run `cargo build --examples` first",
        path.display()
    );
    path
}

pub(crate) fn wire_server() -> PathBuf {
    example("wire_server")
}

pub(crate) struct Recorder {
    pub(crate) process: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    stderr: JoinHandle<String>,
}

impl Recorder {
    /// Starts `record --cassette c.mcp.json FLAGS -- COMMAND` in a folder.
    pub(crate) fn start(
        folder: &Path,
        flags: &[&str],
        server: impl IntoIterator<Item = impl AsRef<OsStr>>,
    ) -> Recorder {
        let mut record = command(folder);
        record
            .args(["record", "--cassette", "c.mcp.json"])
            .args(flags)
            .arg("--")
            .args(server);
        Recorder::spawn(record)
    }

    pub(crate) fn spawn(mut record: std::process::Command) -> Recorder {
        let mut process = record
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        let output = BufReader::new(process.stdout.take().expect("a pipe"));
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in output.lines() {
                let Ok(line) = line else { break };
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let mut errors = process.stderr.take().expect("a pipe");
        let stderr = thread::spawn(move || {
            let mut bytes = Vec::new();
            // What was read before a failure is what there is.
            let _ = errors.read_to_end(&mut bytes);
            String::from_utf8_lossy(&bytes).into_owned()
        });
        Recorder {
            input: process.stdin.take(),
            process,
            lines,
            stderr,
        }
    }

    pub(crate) fn send(&mut self, line: &str) {
        let input = self.input.as_mut().expect("an open input");
        input.write_all(line.as_bytes()).expect("a reader");
        input.write_all(b"\n").expect("a reader");
    }

    /// Sends a line that nobody may read.
    pub(crate) fn try_send(&mut self, line: &str) {
        let input = self.input.as_mut().expect("an open input");
        // Who ended already cannot be told anything.
        let _ = writeln!(input, "{line}");
    }

    pub(crate) fn receive(&mut self) -> String {
        self.lines.recv_timeout(PATIENCE).expect("a line")
    }

    /// Sends a request and waits for what comes.
    pub(crate) fn ping(&mut self, id: usize) -> String {
        self.send(&ping(id));
        self.receive()
    }

    pub(crate) fn close(&mut self) {
        self.input = None;
    }

    #[cfg(unix)]
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let pid = i32::try_from(self.process.id()).expect("a pid");
        let pid = rustix::process::Pid::from_raw(pid).expect("a pid");
        rustix::process::kill_process(pid, signal).expect("a process");
    }

    /// Closes the input and waits for the end.
    pub(crate) fn finish(mut self) -> Run {
        self.close();
        self.wait()
    }

    /// Waits for the end.
    pub(crate) fn wait(mut self) -> Run {
        let mut status = None;
        until("the recorder ends", || {
            status = self.process.try_wait().expect("a child");
            status.is_some()
        });
        let stdout: Vec<String> = self.lines.iter().collect();
        Run {
            code: status.and_then(|status| status.code()).unwrap_or(-1),
            stdout: stdout.join("\n"),
            stderr: self.stderr.join().expect("the end of stderr"),
        }
    }
}

pub(crate) fn ping(id: usize) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}")
}

/// Waits until something is so.
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "waited in vain until {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// What a folder holds, sorted.
pub(crate) fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let name = |entry: std::io::Result<std::fs::DirEntry>| {
        let name = entry.expect("an entry").file_name();
        name.to_string_lossy().into_owned()
    };
    let mut names: Vec<String> = entries.map(name).collect();
    names.sort();
    names
}

pub(crate) fn load(folder: &Path) -> Cassette {
    Cassette::load(folder.join("c.mcp.json")).expect("a cassette")
}

/// That the numbers of the messages have no gap.
pub(crate) fn assert_no_gap(cassette: &Cassette) {
    for (index, message) in cassette.messages().enumerate() {
        assert_eq!(message.seq(), i64::try_from(index).expect("a number"));
    }
}
