//! mcp-cassette records sessions between an MCP client and a tool server into
//! JSON cassettes, and gates what such a recording holds.
//!
//! # Layers
//!
//! A module uses the ones above it in this list and none below:
//!
//! | module | role |
//! |---|---|
//! | `wire` | bytes and messages: the JSON tokenizer, the names of the protocol |
//! | `finding` | the one result type of the gate |
//! | [`cassette`] | the recorded session: load, save, pair, locate |
//! | `diff` | two cassettes, and what moved between them |
//! | `lint` | one cassette, and what in it is hostile |
//! | `config` | configuration files |
//! | `report` | findings and diffs as text, JSON, annotations |
//! | `command` | one file a subcommand: options in, an outcome and an exit code out |

pub mod cassette;
pub mod diff;
pub(crate) mod finding;
mod lint;
mod wire;

pub use cassette::{Cassette, LoadError};
pub use finding::{Excerpt, Finding, Region, Report, RuleId, Severity, Status};
