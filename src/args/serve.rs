//! What can be typed after `serve`.

use super::examples;
use super::real_server::ServerArgs;
use crate::command::serve::{Asked, Options, Pacing, Transport};
use crate::command::{RuleFlags, Shared};
use crate::matching::{OnExhausted, Ordering};
use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Args)]
#[command(after_long_help = examples::SERVE)]
#[command(override_usage = "mcp-cassette serve [OPTIONS] CASSETTE\n       \
    mcp-cassette serve [OPTIONS] CASSETTE --new-episodes -- CMD...\n       \
    mcp-cassette serve [OPTIONS] CASSETTE --new-episodes --url URL")]
pub(super) struct ServeArgs {
    /// The cassette
    cassette: PathBuf,
    #[command(flatten)]
    matching: MatchingArgs,
    #[command(flatten)]
    replaying: ReplayingArgs,
    #[command(flatten)]
    redaction: ReplayRedactionArgs,
    /// Write a JSON report of the session to this file
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Ask the real server what the recording does not know, and add the answers to it
    #[arg(long)]
    new_episodes: bool,
    #[command(flatten)]
    http: ServeHttpArgs,
    #[command(flatten)]
    real: RealServerArgs,
    /// For a wrapper that holds the claim on the cassette already
    #[arg(long = "claim-held-by", hide = true, value_name = "PID")]
    claim_held_by: Option<u32>,
    /// With --new-episodes: the real server, a program and its arguments
    #[arg(last = true, value_name = "CMD")]
    command: Vec<OsString>,
}

#[derive(Args)]
#[command(next_help_heading = "Matching options")]
struct MatchingArgs {
    /// per_method: the earliest recorded request that is the same and not used up; strict: the
    /// next one of the recording; none: any that is the same, as often as one likes
    #[arg(long, value_name = "ORDERING", default_value = "per_method")]
    ordering: OrderingName,
    /// When all recorded requests that are the same are used up: repeat the last answer, or count
    /// it as unmatched; auto repeats listings and reads and not calls of tools
    #[arg(long, value_name = "WHAT", default_value = "auto")]
    on_exhausted: OnExhaustedName,
    /// A parameter that does not count, as a JSON pointer into the request (repeatable)
    #[arg(long = "ignore-param", value_name = "POINTER")]
    ignored: Vec<String>,
    /// A member of `_meta` that counts (repeatable) [default: none]
    #[arg(long = "match-meta", value_name = "KEY")]
    meta: Vec<String>,
}

#[derive(Args)]
#[command(next_help_heading = "Replaying options")]
struct ReplayingArgs {
    /// A file with what should go wrong
    #[arg(long, value_name = "FILE")]
    faults: Option<PathBuf>,
    /// none: everything at once; recorded: with the gaps of the recording
    #[arg(long, value_name = "PACE", default_value = "none")]
    pace: PaceName,
    /// Multiply the gaps by this [default: 1]
    #[arg(long, value_name = "FACTOR", value_parser = scale)]
    pace_scale: Option<f64>,
    /// The longest gap; 0 is no limit [default: 5000]
    #[arg(long, value_name = "MS")]
    pace_cap_ms: Option<u64>,
    /// Answer `initialize` with the protocol version that the client asks for
    #[arg(long)]
    rewrite_protocol_version: bool,
}

#[derive(Args)]
#[command(next_help_heading = "Redaction options")]
struct ReplayRedactionArgs {
    /// A redaction pack that the manifest names, if it is no longer where it was (repeatable)
    #[arg(long = "pii-pack", value_name = "FILE")]
    packs: Vec<PathBuf>,
    /// The markers of the recording are keyed with the salt in MCP_CASSETTE_REDACT_SALT
    #[arg(long, conflicts_with = "redact_salt_file")]
    redact_salt_env: bool,
    /// The markers of the recording are keyed with the content of this file
    #[arg(long, value_name = "FILE")]
    redact_salt_file: Option<PathBuf>,
}

#[derive(Args)]
#[command(next_help_heading = "HTTP options")]
struct ServeHttpArgs {
    /// How the client connects [default: as it was recorded]
    #[arg(long, value_name = "TRANSPORT")]
    transport: Option<TransportName>,
    /// The port to listen on [default: any that is free]
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// The address to listen on [default: 127.0.0.1]
    #[arg(long, value_name = "HOST")]
    host: Option<String>,
    /// For a wrapper: end when standard input does
    #[arg(long, hide = true)]
    until_input_ends: bool,
}

#[derive(Args)]
#[command(next_help_heading = "Options for --new-episodes over HTTP")]
struct RealServerArgs {
    /// The real server
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Clone, Copy, ValueEnum)]
#[value(rename_all = "snake_case")]
enum OrderingName {
    PerMethod,
    Strict,
    None,
}

#[derive(Clone, Copy, ValueEnum)]
enum OnExhaustedName {
    Auto,
    Repeat,
    Error,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum PaceName {
    None,
    Recorded,
}

#[derive(Clone, Copy, ValueEnum)]
enum TransportName {
    Stdio,
    Http,
}

impl ServeArgs {
    /// `separated` tells whether there is a `--`, after which a command is missing if none is
    /// there.
    pub(super) fn options(self, shared: &Shared, separated: bool) -> Options {
        Options {
            cassette: self.cassette,
            ordering: match self.matching.ordering {
                OrderingName::PerMethod => Ordering::PerMethod,
                OrderingName::Strict => Ordering::Strict,
                OrderingName::None => Ordering::None,
            },
            on_exhausted: match self.matching.on_exhausted {
                OnExhaustedName::Auto => OnExhausted::Auto,
                OnExhaustedName::Repeat => OnExhausted::Repeat,
                OnExhaustedName::Error => OnExhausted::Error,
            },
            ignored: self.matching.ignored,
            meta: self.matching.meta,
            faults: self.replaying.faults,
            pacing: Pacing {
                recorded: self.replaying.pace == PaceName::Recorded,
                scale: self.replaying.pace_scale,
                cap: self.replaying.pace_cap_ms.map(Duration::from_millis),
            },
            rewrite_version: self.replaying.rewrite_protocol_version,
            rules: RuleFlags {
                packs: self.redaction.packs,
                salt_env: self.redaction.redact_salt_env,
                salt_file: self.redaction.redact_salt_file,
                ..RuleFlags::default()
            },
            report: self.report,
            new_episodes: self.new_episodes,
            claim_held_by: self.claim_held_by,
            command: separated.then_some(self.command),
            asked: Asked {
                transport: self.http.transport.map(|transport| match transport {
                    TransportName::Stdio => Transport::Stdio,
                    TransportName::Http => Transport::Http,
                }),
                port: self.http.port,
                host: self.http.host,
                leashed: self.http.until_input_ends,
            },
            server: self.real.server.flags(self.real.url),
            quiet: shared.quiet,
        }
    }
}

fn scale(value: &str) -> Result<f64, String> {
    match value.parse() {
        Ok(scale) if f64::is_finite(scale) && scale > 0.0 => Ok(scale),
        _ => Err("the factor is a number above 0".to_owned()),
    }
}
