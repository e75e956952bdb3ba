//! A client for `serve` that a test scripts line by line.

use crate::support::{Run, command, root};
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

/// A running `serve` and our ends of its pipes.
pub(crate) struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Client {
    /// Starts `serve` with these arguments, in the project's root and with an empty environment,
    /// as clients start servers.
    pub(crate) fn start(arguments: &[&str]) -> Client {
        let mut command = command(root());
        command.env_clear().arg("serve").args(arguments);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary runs");
        Client {
            stdin: child.stdin.take(),
            stdout: BufReader::new(child.stdout.take().expect("a pipe")),
            child,
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Says one line.
    pub(crate) fn say(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().expect("the input is open");
        let line = format!("{line}\n");
        stdin.write_all(line.as_bytes()).expect("it reads");
    }

    /// The next line, or nothing at the end.
    pub(crate) fn hear(&mut self) -> Option<String> {
        let mut line = String::new();
        let count = self.stdout.read_line(&mut line).expect("UTF-8");
        (count > 0).then(|| line.trim_end_matches('\n').to_owned())
    }

    /// The next line as JSON.
    pub(crate) fn hear_json(&mut self) -> Value {
        let line = self.hear().expect("a line");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// Ends the input, and gives what is still said and how it ended.
    pub(crate) fn leave(mut self) -> Run {
        drop(self.stdin.take());
        self.wait()
    }

    /// Waits for the end without ending the input.
    pub(crate) fn wait(mut self) -> Run {
        let mut stdout = String::new();
        std::io::Read::read_to_string(&mut self.stdout, &mut stdout).expect("UTF-8");
        let mut stderr = String::new();
        let mut pipe = self.child.stderr.take().expect("a pipe");
        std::io::Read::read_to_string(&mut pipe, &mut stderr).expect("UTF-8");
        let status = self.child.wait().expect("it ends");
        Run {
            code: status.code().expect("it ended by itself"),
            stdout,
            stderr,
        }
    }
}
