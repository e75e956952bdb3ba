//! The `mcp-cassette` binary: parse, run one command, print, exit.

use mcp_cassette::{Context, Exit, Outcome};
use std::env;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let outcome = mcp_cassette::run(env::args_os(), &context(), &mut progress);
    ExitCode::from(print(outcome).code())
}

/// The world around the command, read once.
fn context() -> Context {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
    let terminal = io::stdout().is_terminal();
    Context {
        terminal,
        color: set("NO_COLOR").is_none() && set("TERM").is_none_or(|term| term != "dumb"),
        width: terminal_size::terminal_size().map(|(width, _)| usize::from(width.0)),
        github_actions: set("GITHUB_ACTIONS").is_some_and(|value| value == "true"),
        workspace: set("GITHUB_WORKSPACE").map(PathBuf::from),
        directory: env::current_dir().unwrap_or_default(),
        variables: env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
            .filter(|(name, _)| {
                ["GITHUB_", "RUNNER_", "PRE_COMMIT", "MCP_CASSETTE_MODE"]
                    .iter()
                    .any(|prefix| name.starts_with(prefix))
            })
            .collect(),
        today: jiff::Timestamp::now().strftime("%F").to_string(),
        now: now().strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string(),
        redact_salt: set("MCP_CASSETTE_REDACT_SALT"),
    }
}

/// The clock, or the moment that a reproducible build asks for.
fn now() -> jiff::Timestamp {
    let asked = env::var("SOURCE_DATE_EPOCH")
        .ok()
        .and_then(|seconds| seconds.parse().ok())
        .and_then(|seconds| jiff::Timestamp::from_second(seconds).ok());
    asked.unwrap_or_else(jiff::Timestamp::now)
}

/// A counter on the terminal, wiped when all is done.
fn progress(done: usize, total: usize) {
    let mut stderr = io::stderr();
    if !stderr.is_terminal() {
        return;
    }
    // A terminal that cannot be written to has nobody looking at it.
    let _ = if done < total {
        write!(stderr, "\r{done}/{total} cassettes")
    } else {
        write!(stderr, "\r\u{1b}[K")
    };
}

/// Prints both streams and returns the exit code. Whoever closes the pipe early
/// has seen enough: that is no failure, and the verdict stands.
fn print(outcome: Outcome) -> Exit {
    let mut exit = outcome.exit;
    let mut stdout = io::stdout().lock();
    let printed = stdout
        .write_all(outcome.stdout.as_bytes())
        .and_then(|()| stdout.flush());
    let mut stderr = outcome.stderr;
    if let Err(error) = printed
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        let command = outcome.command;
        stderr.push_str(&format!(
            "mcp-cassette {command}: cannot write to standard output: {error}\n"
        ));
        exit = exit.worst(Exit::CouldNotRun);
    }
    // There is nowhere left to tell that standard error is gone.
    let _ = io::stderr().write_all(stderr.as_bytes());
    exit
}
