//! mcp-cassette records sessions between an MCP client and a tool server into
//! JSON cassettes, and gates what such a recording holds.
//!
//! # Layers
//!
//! A module uses the ones above it in this list and none below:
//!
//! | module | role |
//! |---|---|
//! | `blocks` | many bytes tested at once |
//! | `needles` | many strings looked for at once |
//! | `wire` | bytes and messages: the JSON tokenizer, the names of the protocol |
//! | `finding` | the one result type of the gate |
//! | `regular_file` | files that a flag or a path in a file names, read without waiting for a device |
//! | `pattern` | regular expressions of packs |
//! | `secrets` | what in a text is a secret |
//! | [`cassette`] | the recorded session: load, save, pair, locate |
//! | `redact` | what in a message is personal or secret, and its stand-in |
//! | `matching` | which recorded request a live one is |
//! | `replay` | what a recording answers, and when |
//! | `record` | what passed, as messages of a cassette: a tap, checkpoints, claims |
//! | `diff` | two cassettes, and what moved between them |
//! | `lint` | one cassette, and what in it is hostile |
//! | `baseline` | the other side of a comparison, from git |
//! | `config` | configuration files |
//! | `report` | findings and diffs as text, JSON, annotations |
//! | `transport` | bytes, clocks and processes around the recorder and the replayer |
//! | [`session`] | the door for Rust test suites |
//! | `command` | one file a subcommand: options in, an outcome and an exit code out |
//! | `args` | the command line: the only user of clap |

#![cfg_attr(
    not(feature = "cli"),
    allow(
        dead_code,
        unused_imports,
        reason = "the command line uses what the library alone does not"
    )
)]

#[cfg(feature = "cli")]
mod args;
#[cfg(feature = "cli")]
mod baseline;
mod blocks;
pub mod cassette;
#[cfg(feature = "cli")]
mod command;
#[cfg(feature = "cli")]
mod config;
pub mod diff;
pub(crate) mod finding;
#[cfg(fuzzing)]
pub mod fuzzing;
pub mod lint;
mod matching;
mod needles;
mod pattern;
mod record;
mod redact;
mod regular_file;
mod replay;
#[cfg(feature = "cli")]
mod report;
mod secrets;
pub mod session;
mod transport;
mod wire;

pub use cassette::{Cassette, LoadError};
pub use finding::{Excerpt, Finding, Position, Region, Report, RuleId, Severity, Status};
pub use lint::lint;

// For the binary of this package alone: no part of what the library promises.
#[cfg(feature = "cli")]
#[doc(hidden)]
pub use {
    args::run,
    command::{Context, Exit, Outcome},
};
