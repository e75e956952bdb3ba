//! The command line: what can be typed, and which command it runs.
//!
//! This is the only user of clap. Arguments become the typed options of one
//! command, without effects; what clap refuses is told in our own form.

use self::output::OutputArgs;
use self::record::RecordArgs;
use self::redaction::{RedactArgs, RedactionCheckArgs};
use self::serve::ServeArgs;
use crate::command::{self, Context, Outcome, PolicyFrom, Shared};
use crate::config::{Check, LintFlags, valid_min_bits, valid_min_length};
use crate::finding::Severity;
use crate::report::catalogue;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

mod examples;
mod output;
mod pages;
mod real_server;
mod record;
mod redaction;
mod refusal;
mod serve;

/// Runs the command line `argv`, the program's name included.
///
/// `progress` is called with the number of files that are done and of all files,
/// on runs over many.
pub fn run(
    argv: impl IntoIterator<Item = OsString>,
    context: &Context,
    progress: &mut dyn FnMut(usize, usize),
) -> Outcome {
    let argv: Vec<OsString> = argv.into_iter().collect();
    let cli = match Cli::try_parse_from(&argv) {
        Ok(cli) => cli,
        Err(error) => return refusal::refused(&error, &argv, context),
    };
    let shared = cli.shared.options();
    match cli.command {
        Command::Lint(args) => command::lint::run(&args.options(shared), context, progress),
        Command::Check(args) => command::check::run(&args.options(shared), context, progress),
        Command::Diff(args) => command::diff::run(&args.options(shared), context),
        Command::Record(args) => {
            let separated = argv.iter().any(|arg| arg == "--");
            command::record::run(&args.options(&shared, separated), context)
        }
        Command::Redact(args) => command::redact::run(&args.options(shared), context),
        Command::RedactionCheck(args) => {
            command::redaction_check::run(&args.options(shared), context)
        }
        Command::Serve(args) => {
            let separated = argv.iter().any(|arg| arg == "--");
            command::serve::run(&args.options(&shared, separated), context)
        }
        Command::Inspect(args) => command::inspect::run(&args.options(), context.github_actions),
        Command::Explain { rule: None } => command::explain::list(),
        Command::Explain { rule: Some(rule) } => {
            let page = |id: &str| catalogue().find(|rule| rule.id == id).map(|rule| rule.page);
            let known: Vec<&str> = catalogue().map(|rule| rule.id).collect();
            command::explain::run(&rule, page, &known)
        }
        Command::Completions { shell } => pages::completions(shell),
        Command::Man { command } => pages::man(command.as_deref()),
    }
}

#[derive(Parser)]
#[command(
    name = "mcp-cassette",
    bin_name = "mcp-cassette",
    version,
    about = "Record MCP sessions, replay them in tests, and gate them in CI",
    long_about = "Record MCP sessions, replay them in tests, and gate them in CI.\n\n\
        A cassette is a recorded session between an MCP client and a tool server: one JSON \
        file that you commit. `record` writes it and `serve` answers from it; the other commands \
        read it: what in it is hostile, what moved since the last version, and what is in there \
        at all.",
    help_template = examples::SCREEN,
    after_long_help = examples::TOP,
    max_term_width = 100,
    disable_help_subcommand = true
)]
struct Cli {
    #[command(flatten)]
    shared: SharedArgs,
    #[command(subcommand)]
    command: Command,
}

#[derive(Args)]
#[command(next_help_heading = "Common options")]
struct SharedArgs {
    /// Colours: on a terminal, always, or never (NO_COLOR is respected)
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: Color,
    /// No notes and no progress, only what was found
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Say which configuration and which files were read
    #[arg(short, long, global = true)]
    verbose: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Stand between client and server, and write down what passes
    ///
    /// Give your client this command in place of the server's. Every byte is passed on as it
    /// is; a copy of it, scrubbed of secrets and personal data, becomes the cassette.
    Record(Box<RecordArgs>),
    /// Answer a client from a cassette (exit 3: unknown request)
    ///
    /// Give your client this command in place of the server's. A request is answered as the same
    /// one was when it was recorded; one that was not recorded is an error that says what is
    /// nearest.
    Serve(Box<ServeArgs>),
    /// The whole gate: lint, what moved since the base, redaction
    ///
    /// Looks for cassettes in the working tree and on the base side, so that renamed and
    /// deleted ones show too, and gives one verdict. On GitHub Actions and under pre-commit
    /// the base is found by itself.
    Check(CheckArgs),
    /// Find what is hostile or secret in cassettes (exit 4)
    ///
    /// Recorded tool definitions and results are text that a third party wrote and that ends
    /// in the context of a model. This reads all of it and reports injected instructions,
    /// hidden characters, definitions that drifted from a baseline, leaked secrets and more.
    /// `explain RULE` tells about each rule.
    Lint(LintArgs),
    /// Compare two cassettes (exit 5: they differ)
    ///
    /// Compares metadata, how often each method is used, the tools, prompts, resources and
    /// instructions that the server offers, and the order of requests. Ids, times and sequence
    /// numbers are never compared, so recording the same session again differs in nothing.
    Diff(DiffArgs),
    /// Find what should have been scrubbed from cassettes (exit 4)
    ///
    /// A manifest in the cassette says which redaction rules were applied. This applies them
    /// again, and the bundled ones, and reports what they still find. With a profile it also
    /// fails on a cassette whose manifest is missing or names another one.
    RedactionCheck(RedactionCheckArgs),
    /// Take secrets and personal data out of cassettes
    ///
    /// Values under telling names (`token`, `password`, `x-api-key`) become REDACTED, addresses,
    /// numbers and keys in text become markers such as `<EMAIL>_d82504dac960`: the same value gets
    /// the same marker, so that the recording still replays. Everything else keeps its bytes.
    Redact(RedactArgs),
    /// Show what is in a cassette
    Inspect(InspectArgs),
    /// Explain a rule: what it means, how to fix or accept it
    Explain {
        /// The id of the rule, as reports show it: R001; without one, all rules are listed
        rule: Option<String>,
    },
    /// Print a completion script for a shell
    #[command(after_long_help = examples::COMPLETIONS)]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print a man page
    #[command(after_long_help = examples::MAN)]
    Man {
        /// The command that the page is about; without one, the program
        command: Option<String>,
    },
}

#[derive(Args)]
#[command(after_long_help = examples::LINT)]
struct LintArgs {
    /// The cassettes
    #[arg(required = true, value_name = "CASSETTE")]
    cassettes: Vec<PathBuf>,
    /// An older cassette: report tools whose definition drifted from it, and do not count
    /// what it has already (one CASSETTE only)
    #[arg(long, value_name = "FILE", conflicts_with = "base")]
    baseline: Option<PathBuf>,
    /// Count findings that the baseline has too
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    base: BaseArgs,
    #[command(flatten)]
    rules: RuleArgs,
    #[command(flatten)]
    output: OutputArgs,
}

/// What lint goes by, as flags over the configuration.
#[derive(Args)]
#[command(next_help_heading = "Rules")]
struct RuleArgs {
    /// Exit 4 unless the redaction manifest of every cassette names this profile
    #[arg(long, value_name = "NAME")]
    require_redaction: Option<String>,
    /// Run only this rule (repeatable)
    #[arg(long, value_name = "RULE")]
    select: Vec<String>,
    /// Do not run this rule (repeatable)
    #[arg(long, value_name = "RULE")]
    ignore: Vec<String>,
    /// A TOML file with patterns of your own, added to those of the configuration (repeatable)
    #[arg(long = "pattern-pack", value_name = "FILE")]
    pattern_packs: Vec<PathBuf>,
    /// The least severity that exits 4 [default: error, or what the configuration says]
    #[arg(long, value_name = "SEVERITY")]
    fail_on: Option<FailOn>,
    /// Do not read mcp-cassette.toml or pyproject.toml
    #[arg(long)]
    no_config: bool,
    /// Judge strings by their entropy (R005), whatever the configuration says
    #[arg(long, overrides_with = "no_entropy")]
    entropy: bool,
    /// Do not judge strings by their entropy (R005)
    #[arg(long, overrides_with = "entropy")]
    no_entropy: bool,
    /// The least entropy that R005 reports, in bits a character [default: 3.5]
    #[arg(long, value_name = "BITS", value_parser = min_bits)]
    entropy_min_bits: Option<f64>,
    /// The shortest string that R005 judges, in characters [default: 20]
    #[arg(long, value_name = "N", value_parser = min_length)]
    entropy_min_length: Option<usize>,
    /// A string that R005 never reports; replaces the configuration's list (repeatable)
    #[arg(long, value_name = "STRING", allow_hyphen_values = true)]
    entropy_allow: Vec<String>,
}

#[derive(Args)]
#[command(next_help_heading = "Base")]
struct BaseArgs {
    /// Compare with what the cassettes were in git: where HEAD left REV, or `auto` for what
    /// the event on GitHub Actions or pre-commit says, or `none`
    #[arg(long, value_name = "REV|auto|none")]
    base: Option<String>,
    /// Whose configuration counts: that of the base, with what the change itself makes
    /// stricter, or that of the working tree
    ///
    /// base is the default where a pull request or a merge queue is judged, so that a change
    /// cannot switch off its own gate.
    #[arg(long, value_name = "SIDE")]
    policy_from: Option<Side>,
}

#[derive(Args)]
#[command(after_long_help = examples::CHECK)]
struct CheckArgs {
    /// Cassettes, directories and globs [default: `[check] cassettes` of the configuration, or
    /// every *.mcp.json]
    #[arg(value_name = "PATH|GLOB")]
    paths: Vec<PathBuf>,
    /// Which checks run, separated by commas [default: lint, redaction, and diff where there
    /// is something to compare with]
    #[arg(long, value_name = "CHECKS", value_delimiter = ',')]
    checks: Option<Vec<CheckName>>,
    /// An older cassette to compare with (one cassette only)
    #[arg(long, value_name = "FILE", conflicts_with = "base")]
    baseline: Option<PathBuf>,
    #[command(flatten)]
    base: BaseArgs,
    /// Count findings that the base side has too
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    rules: RuleArgs,
    /// A redaction pack that a manifest names, if it is not where the manifest says
    /// (repeatable)
    #[arg(long = "pii-pack", value_name = "FILE")]
    pii_packs: Vec<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
    /// Write check.json and summary.md into this directory [default on GitHub Actions:
    /// mcp-cassette in RUNNER_TEMP]
    #[arg(long, value_name = "DIR", help_heading = "Output options")]
    report_dir: Option<PathBuf>,
}

#[derive(Args)]
#[command(after_long_help = examples::DIFF)]
struct DiffArgs {
    /// The older and the newer cassette; with --base any number of cassettes
    #[arg(required = true, value_name = "CASSETTE")]
    cassettes: Vec<PathBuf>,
    /// Compare each cassette with what it was in git: where HEAD left REV, or `auto` for what
    /// the event on GitHub Actions or pre-commit says
    #[arg(long, value_name = "REV|auto")]
    base: Option<String>,
    /// Compare only what the server offers, not how it was used
    #[arg(long)]
    tools_only: bool,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Args)]
#[command(after_long_help = examples::INSPECT)]
struct InspectArgs {
    /// The cassette
    cassette: PathBuf,
    /// Only messages with this method
    #[arg(long)]
    method: Option<String>,
    /// Only messages whose payload this regular expression matches
    #[arg(long, value_name = "REGEX", allow_hyphen_values = true)]
    grep: Option<String>,
    /// One line a message: who sent it, when, with which id and size
    #[arg(long, conflicts_with = "tools")]
    timeline: bool,
    /// One line a tool, as the server last listed it
    #[arg(long)]
    tools: bool,
    /// A file for `serve --faults`: show which recorded requests its faults would hit
    #[arg(long, value_name = "FILE")]
    faults: Option<PathBuf>,
    /// Text for people, or JSON with the same members every time
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: InspectFormat,
}

#[derive(Clone, Copy, ValueEnum)]
enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Clone, Copy, ValueEnum)]
enum FailOn {
    Error,
    Warning,
}

#[derive(Clone, Copy, ValueEnum)]
enum Side {
    Base,
    Head,
}

#[derive(Clone, Copy, ValueEnum)]
enum CheckName {
    Lint,
    Diff,
    Redaction,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum InspectFormat {
    Text,
    Json,
}

impl SharedArgs {
    fn options(&self) -> Shared {
        Shared {
            color: match self.color {
                Color::Auto => None,
                Color::Always => Some(true),
                Color::Never => Some(false),
            },
            quiet: self.quiet,
            verbose: self.verbose,
        }
    }
}

impl LintArgs {
    fn options(self, shared: Shared) -> command::lint::Options {
        command::lint::Options {
            cassettes: self.cassettes,
            baseline: self.baseline,
            base: self.base.base,
            policy_from: self.base.policy_from.map(Side::policy),
            no_config: self.rules.no_config,
            flags: self.rules.flags(),
            all: self.all,
            outputs: self.output.all(),
            shared,
        }
    }
}

impl RuleArgs {
    fn flags(self) -> LintFlags {
        LintFlags {
            select: self.select,
            ignore: self.ignore,
            pattern_packs: self.pattern_packs,
            fail_on: self.fail_on.map(|severity| match severity {
                FailOn::Error => Severity::Error,
                FailOn::Warning => Severity::Warning,
            }),
            require_redaction: self.require_redaction,
            entropy: match (self.entropy, self.no_entropy) {
                (true, _) => Some(true),
                (_, true) => Some(false),
                _ => None,
            },
            min_bits: self.entropy_min_bits,
            min_length: self.entropy_min_length,
            allow: self.entropy_allow,
        }
    }
}

impl CheckArgs {
    fn options(self, shared: Shared) -> command::check::Options {
        command::check::Options {
            paths: self.paths,
            baseline: self.baseline,
            base: self.base.base,
            policy_from: self.base.policy_from.map(Side::policy),
            checks: self
                .checks
                .map(|checks| checks.into_iter().map(CheckName::check).collect()),
            no_config: self.rules.no_config,
            flags: self.rules.flags(),
            pii_packs: self.pii_packs,
            all: self.all,
            outputs: self.output.all(),
            report_dir: self.report_dir,
            shared,
        }
    }
}

impl Side {
    fn policy(self) -> PolicyFrom {
        match self {
            Side::Base => PolicyFrom::Base,
            Side::Head => PolicyFrom::Head,
        }
    }
}

impl CheckName {
    fn check(self) -> Check {
        match self {
            CheckName::Lint => Check::Lint,
            CheckName::Diff => Check::Diff,
            CheckName::Redaction => Check::Redaction,
        }
    }
}

impl DiffArgs {
    fn options(self, shared: Shared) -> command::diff::Options {
        command::diff::Options {
            cassettes: self.cassettes,
            base: self.base,
            tools_only: self.tools_only,
            outputs: self.output.all(),
            shared,
        }
    }
}

impl InspectArgs {
    fn options(self) -> command::inspect::Options {
        use command::inspect::{Options, View};
        Options {
            cassette: self.cassette,
            method: self.method,
            grep: self.grep,
            view: match (self.timeline, self.tools) {
                (true, _) => View::Timeline,
                (_, true) => View::Tools,
                _ => View::Summary,
            },
            json: self.format == InspectFormat::Json,
            faults: self.faults,
        }
    }
}

fn min_bits(value: &str) -> Result<f64, String> {
    let bits = value.parse().unwrap_or(f64::NAN);
    valid_min_bits(bits).map_err(str::to_owned)
}

fn min_length(value: &str) -> Result<usize, String> {
    let length = value.parse().unwrap_or(0);
    valid_min_length(length).map_err(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_definition_of_the_command_line_is_sound() {
        Cli::command().debug_assert();
    }
}
