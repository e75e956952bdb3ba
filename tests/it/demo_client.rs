//! The client's end of a running `demo_server`, one line at a time.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// How long a test waits for a line before it gives the server up. It measures nothing: a server
/// that hangs is to fail its test and not to hang the run.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct DemoClient {
    server: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    next_id: u64,
}

impl DemoClient {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::of(Command::new(executable()).args(arguments))
    }

    /// The client of any server, for instance of one behind a recorder.
    pub(crate) fn of(command: &mut Command) -> Self {
        let mut server = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(server.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in output.lines() {
                if sender.send(line.unwrap()).is_err() {
                    break;
                }
            }
        });
        Self {
            input: server.stdin.take(),
            server,
            lines,
            next_id: 1,
        }
    }

    /// Starts the honest server and opens a session in the newest version.
    pub(crate) fn with_capabilities(capabilities: &Value) -> Self {
        let mut client = Self::start(&[]);
        client.initialize("2025-11-25", capabilities);
        client
    }

    /// Opens a session and returns the result of `initialize`.
    pub(crate) fn initialize(&mut self, version: &str, capabilities: &Value) -> Value {
        let answer = self.request(
            "initialize",
            &json!({
                "protocolVersion": version,
                "capabilities": capabilities,
                "clientInfo": {"name": "test", "version": "0"},
            }),
        );
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        answer["result"].clone()
    }

    pub(crate) fn send_line(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line.as_bytes()).unwrap();
        input.write_all(b"\n").unwrap();
        input.flush().unwrap();
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string());
    }

    /// Sends a request and returns its id without waiting.
    pub(crate) fn begin(&mut self, method: &str, params: &Value) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// Sends a request; the next line has to be its answer.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Value {
        let id = self.begin(method, params);
        let answer = self.receive();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Calls a tool; the next line has to be its answer. Returns the text, and whether it is an
    /// error.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> (String, bool) {
        let params = json!({"name": tool, "arguments": arguments});
        outcome(&self.request("tools/call", &params))
    }

    /// The next line from the server.
    pub(crate) fn receive(&self) -> Value {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => serde_json::from_str(&line).unwrap(),
            Err(RecvTimeoutError::Timeout) => panic!("the server does not answer"),
            Err(RecvTimeoutError::Disconnected) => panic!("the server has ended"),
        }
    }

    /// Closes the server's input and returns what it still says. It has to end by itself, and well.
    pub(crate) fn end(self) -> Vec<Value> {
        let (rest, status) = self.close();
        assert!(status.success(), "{status}");
        rest
    }

    /// The same for a server that may end in any way.
    pub(crate) fn close(mut self) -> (Vec<Value>, ExitStatus) {
        self.input = None;
        let mut rest = Vec::new();
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => rest.push(serde_json::from_str(&line).unwrap()),
                Err(RecvTimeoutError::Timeout) => panic!("the server does not end"),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let status = self.server.wait().unwrap();
        (rest, status)
    }
}

impl Drop for DemoClient {
    fn drop(&mut self) {
        // A test that failed leaves a server behind. After `end` there is none, and no error.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// The text of a tool's result, and whether it is an error.
pub(crate) fn outcome(answer: &Value) -> (String, bool) {
    let result = &answer["result"];
    let text = result["content"][0]["text"].as_str();
    let text = text.unwrap_or_else(|| panic!("no text in {answer}"));
    (text.to_owned(), result["isError"] == true)
}

/// Cargo has no variable that names an example, but puts it in a known place beside the tests.
pub(crate) fn executable() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().and_then(|deps| deps.parent()).unwrap();
    let name = format!("demo_server{}", std::env::consts::EXE_SUFFIX);
    let path = profile.join("examples").join(name);
    assert!(
        path.is_file(),
        "{} is missing; a plain `cargo test` builds it, `cargo test --test it` does not: \
         run `cargo build --example demo_server` first",
        path.display()
    );
    path
}
