//! What can be typed after `record`.

use super::examples;
use super::real_server::ServerArgs;
use super::redaction::RuleArgs;
use crate::command::Shared;
use crate::command::record::{Listening, Options};
use crate::record::ClaimOptions;
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// The largest `--max-message`, in bytes.
const LARGEST_MESSAGE: u64 = 1 << 30;

#[derive(Args)]
#[command(after_long_help = examples::RECORD)]
#[command(
    override_usage = "mcp-cassette record --cassette PATH [OPTIONS] -- CMD...\n       \
    mcp-cassette record --cassette PATH [OPTIONS] --url URL"
)]
pub(super) struct RecordArgs {
    /// The file to write; its directory is made if need be
    #[arg(long, value_name = "PATH")]
    cassette: PathBuf,
    /// Record the server at this address, over HTTP, instead of a command
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    #[command(flatten)]
    session: SessionArgs,
    #[command(flatten)]
    claim: ClaimArgs,
    #[command(flatten)]
    http: HttpArgs,
    #[command(flatten)]
    rules: RuleArgs,
    /// The server: a program and its arguments, as they are
    #[arg(last = true, value_name = "CMD")]
    command: Vec<OsString>,
}

#[derive(Args)]
#[command(next_help_heading = "Recording options")]
struct SessionArgs {
    /// Write PATH.partial every so many seconds; 0 is never [default: as messages come]
    ///
    /// It is what is left of a recording that is killed, and can be inspected and served.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    checkpoint_interval: Option<Duration>,
    /// When the client has gone: how long a server may be silent that has requests to answer
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds, allow_negative_numbers = true)]
    timeout: Duration,
    /// A longer message is passed on and recorded as its length and hash
    #[arg(long, value_name = "BYTES", default_value = "67108864",
        value_parser = clap::value_parser!(u64).range(1..=LARGEST_MESSAGE))]
    max_message: u64,
    /// Write a JSON report of the session to this file
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

#[derive(Args)]
#[command(next_help_heading = "When another process writes the same cassette")]
struct ClaimArgs {
    /// Break the claim of the other process, with a warning
    #[arg(long)]
    force: bool,
    /// Wait so long for the other process before exit 6
    #[arg(long, value_name = "SECONDS", default_value = "0", value_parser = seconds, allow_negative_numbers = true)]
    claim_wait: Duration,
    /// The process that holds the claim on behalf of this one
    #[arg(long, value_name = "PID", hide = true)]
    claim_held_by: Option<u32>,
}

#[derive(Args)]
#[command(next_help_heading = "Options for --url")]
struct HttpArgs {
    /// The local port to listen on; 0 takes a free one
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// The local address to listen on
    #[arg(long, value_name = "ADDRESS")]
    host: Option<String>,
    /// End after the client was idle for so long
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    max_idle: Option<Duration>,
    #[command(flatten)]
    server: ServerArgs,
    /// For a wrapper: end when standard input does
    #[arg(long, hide = true)]
    until_input_ends: bool,
}

impl RecordArgs {
    /// `separated` tells whether there is a `--` on the command line.
    pub(super) fn options(self, shared: &Shared, separated: bool) -> Options {
        let mut only_with_url = self.http.given();
        let server = self.http.server.flags(self.url);
        only_with_url.extend(server.beside_url());
        Options {
            cassette: self.cassette,
            command: separated.then_some(self.command),
            server,
            listening: Listening {
                host: self.http.host,
                port: self.http.port.unwrap_or(0),
                max_idle: self.http.max_idle,
                leashed: self.http.until_input_ends,
            },
            only_with_url,
            rules: self.rules.flags(),
            checkpoint: match self.session.checkpoint_interval {
                None => Some(Duration::ZERO),
                Some(interval) => Some(interval).filter(|interval| !interval.is_zero()),
            },
            claim: ClaimOptions {
                force: self.claim.force,
                wait: self.claim.claim_wait,
                held_by: self.claim.claim_held_by,
            },
            report: self.session.report,
            timeout: self.session.timeout,
            max_message: usize::try_from(self.session.max_message).unwrap_or(usize::MAX),
            quiet: shared.quiet,
        }
    }
}

impl HttpArgs {
    fn given(&self) -> Vec<&'static str> {
        let flags = [
            ("--port", self.port.is_some()),
            ("--host", self.host.is_some()),
            ("--max-idle", self.max_idle.is_some()),
            ("--until-input-ends", self.until_input_ends),
        ];
        let given = flags.into_iter().filter(|(_, given)| *given);
        given.map(|(name, _)| name).collect()
    }
}

/// Seconds from 0 to a year, which may have a fraction.
fn seconds(value: &str) -> Result<Duration, String> {
    const YEAR: f64 = 365.0 * 24.0 * 60.0 * 60.0;
    match value.parse::<f64>() {
        Ok(seconds) if (0.0..=YEAR).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        _ => Err("it must be a number of seconds, 0 or more".to_owned()),
    }
}
