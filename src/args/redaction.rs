//! What can be typed after `redact` and `redaction-check`.

use super::{BaseArgs, OutputArgs, Side, examples};
use crate::command::{self, RuleFlags, Shared};
use clap::Args;
use std::path::PathBuf;

#[derive(Args)]
#[command(after_long_help = examples::REDACTION_CHECK)]
pub(super) struct RedactionCheckArgs {
    /// The profile that the manifests must name, if the first argument neither ends in .json
    /// nor is a file; then the cassettes
    #[arg(required = true, value_name = "[PROFILE] CASSETTE")]
    arguments: Vec<PathBuf>,
    /// A redaction pack that a manifest names, if it is no longer where it was (repeatable)
    #[arg(long = "pii-pack", value_name = "FILE")]
    packs: Vec<PathBuf>,
    #[command(flatten)]
    base: BaseArgs,
    /// Count findings that the base side has too
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Args)]
#[command(after_long_help = examples::REDACT)]
#[command(group(clap::ArgGroup::new("target").required(true).args(["in_place", "to", "dry_run"])))]
pub(super) struct RedactArgs {
    /// The cassettes
    #[arg(required = true, value_name = "CASSETTE")]
    cassettes: Vec<PathBuf>,
    /// Replace the files
    #[arg(long)]
    in_place: bool,
    /// Write the scrubbed cassette to this file (one CASSETTE only)
    #[arg(long, value_name = "FILE")]
    to: Option<PathBuf>,
    /// Let --to replace a file that is there
    #[arg(long, conflicts_with_all = ["in_place", "dry_run"])]
    force: bool,
    /// Write nothing, only say what would change
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    rules: RuleArgs,
}

/// What to redact: the flags that `record` has too.
#[derive(Args)]
#[command(next_help_heading = "Redaction options")]
pub(super) struct RuleArgs {
    /// Also redact the members that this glob names, or the value at this JSON pointer into
    /// the payload (repeatable) [default REPLACEMENT: REDACTED]
    #[arg(long, value_name = "LOCATOR[=REPLACEMENT]", allow_hyphen_values = true)]
    redact: Vec<String>,
    /// Leave out the default names and the bundled pack
    #[arg(long)]
    no_default_redactions: bool,
    /// A TOML file with patterns of your own, added to the bundled ones (repeatable)
    #[arg(long = "pii-pack", value_name = "FILE")]
    packs: Vec<PathBuf>,
    /// The name that the manifest gets, for `redaction-check NAME`
    #[arg(long, value_name = "NAME")]
    redact_profile: Option<String>,
    /// Key the markers with the salt in MCP_CASSETTE_REDACT_SALT, so that nobody without it
    /// can guess values and compare
    #[arg(long, conflicts_with = "redact_salt_file")]
    redact_salt_env: bool,
    /// Key the markers with the content of this file, without its last line break
    #[arg(long, value_name = "FILE")]
    redact_salt_file: Option<PathBuf>,
}

impl RedactionCheckArgs {
    pub(super) fn options(self, shared: Shared) -> command::redaction_check::Options {
        command::redaction_check::Options {
            arguments: self.arguments,
            packs: self.packs,
            base: self.base.base,
            policy_from: self.base.policy_from.map(Side::policy),
            all: self.all,
            outputs: self.output.all(),
            shared,
        }
    }
}

impl RedactArgs {
    pub(super) fn options(self, shared: Shared) -> command::redact::Options {
        use command::redact::{Options, Target};
        Options {
            cassettes: self.cassettes,
            target: match self.to {
                Some(path) => Target::To(path),
                None if self.in_place => Target::InPlace,
                None => Target::DryRun,
            },
            force: self.force,
            rules: self.rules.flags(),
            shared,
        }
    }
}

impl RuleArgs {
    pub(super) fn flags(self) -> RuleFlags {
        RuleFlags {
            redact: self.redact,
            no_defaults: self.no_default_redactions,
            packs: self.packs,
            profile: self.redact_profile,
            salt_env: self.redact_salt_env,
            salt_file: self.redact_salt_file,
        }
    }
}
