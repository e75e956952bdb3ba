//! What the tests share: running the binary and building cassettes.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The project's root.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// One of the cassettes in `examples/cassettes`.
pub(crate) fn example(name: &str) -> String {
    format!("examples/cassettes/{name}.mcp.json")
}

/// What a run of the binary left behind.
#[derive(Clone)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    /// Everything that it said, for the message of a failed test.
    pub(crate) fn all(&self) -> String {
        let Run {
            code,
            stdout,
            stderr,
        } = self;
        format!("exit {code}\n--- stdout\n{stdout}\n--- stderr\n{stderr}")
    }
}

/// Runs the binary in the project's root, away from the caller's environment.
pub(crate) fn run(arguments: &[&str]) -> Run {
    run_in(root(), arguments, &[])
}

/// The same in another folder and with variables of its own.
pub(crate) fn run_in(folder: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Run {
    let output = command(folder)
        .args(arguments)
        .envs(variables.iter().copied())
        .output();
    finish(output.expect("the binary runs"))
}

/// The binary as a command, for tests that need more.
pub(crate) fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-cassette"));
    command.current_dir(folder);
    for variable in [
        "GITHUB_ACTIONS",
        "GITHUB_WORKSPACE",
        "NO_COLOR",
        "MCP_CASSETTE_MODE",
        "PRE_COMMIT",
    ] {
        command.env_remove(variable);
    }
    command
}

pub(crate) fn finish(output: Output) -> Run {
    Run {
        code: output.status.code().expect("it ended by itself"),
        stdout: String::from_utf8(output.stdout).expect("UTF-8 on stdout"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8 on stderr"),
    }
}

/// Writes a file into a temporary folder and gives its path.
pub(crate) fn write(folder: &Path, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, content).expect("a writable temporary folder");
    path
}

/// A session in which a server listed these tools (JSON) and answered each call
/// with one of these results (JSON).
pub(crate) fn session(tools: &str, results: &[&str]) -> String {
    let mut messages = vec![
        message(
            "client",
            "request",
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
        ),
        message(
            "server",
            "response",
            &format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":{tools}}}}}"#),
        ),
    ];
    for (i, result) in results.iter().enumerate() {
        let id = i + 2;
        messages.push(message(
            "client",
            "request",
            &format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo","arguments":{{}}}}}}"#
            ),
        ));
        messages.push(message(
            "server",
            "response",
            &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#),
        ));
    }
    cassette(&messages)
}

/// One message of a cassette.
pub(crate) fn message(sender: &str, kind: &str, payload: &str) -> String {
    format!(r#"{{"sender": "{sender}", "kind": "{kind}", "payload": {payload}}}"#)
}

/// A cassette of these messages.
pub(crate) fn cassette(messages: &[String]) -> String {
    format!(
        "{{\"format_version\": 3, \"recorded_at\": \"2026-11-29T12:00:00.000000Z\", \"messages\": [\n{}\n]}}\n",
        messages.join(",\n")
    )
}
