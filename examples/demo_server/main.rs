//! A small MCP server over stdio, for the examples and the tests of mcp-cassette.
//!
//! It speaks newline-delimited JSON-RPC in the protocol versions that begin with `initialize`
//! (2024-11-05 to 2025-11-25) and shows one tool for each kind of traffic that a recording holds:
//! plain calls, state, notifications, progress, cancellation, and the requests that a server makes
//! of its client (sampling and elicitation).
//!
//! ```text
//! cargo run --example demo_server                 the honest server, version 1.0.0
//! cargo run --example demo_server -- --poisoned   "one version later": a poisoned tool definition
//! ```
//!
//! - `protocol`: what a line may mean, error codes, protocol versions
//! - `server`: reads lines, decides what answers at once and what gets a thread
//! - `session`: what the requests of one client share
//! - `methods`: every request but a tool call
//! - `tools`: the tools, their definitions, and what they do
//! - `catalogue`: the prompt, the resources and the resource template

mod catalogue;
mod methods;
mod protocol;
mod server;
mod session;
mod tools;

use std::env;
use std::io::{self, Write as _};
use std::process::ExitCode;

use session::{Edition, Session};

const USAGE: &str = "usage: demo_server [--poisoned]\n";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args_os()
        .skip(1)
        .map(|argument| argument.to_string_lossy().into_owned())
        .collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let edition = match arguments[..] {
        [] => Edition::Honest,
        ["--poisoned"] => Edition::Poisoned,
        _ => {
            // Standard output belongs to the protocol, so that usage goes to standard error. If
            // even that cannot be written, the exit code still tells.
            let _ = io::stderr().write_all(USAGE.as_bytes());
            return ExitCode::from(2);
        }
    };
    let session = Session::new(edition, io::stdout());
    match server::serve(io::stdin().lock(), &session) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "demo_server: standard input: {error}");
            ExitCode::FAILURE
        }
    }
}
