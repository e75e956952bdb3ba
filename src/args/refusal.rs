//! What clap answers instead of options, in our own form.

use crate::command::{Context, Exit, Outcome, without_old_commands};
use crate::report::visible;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::ffi::OsString;

/// What clap answers instead of options: help, the version, or a refusal.
pub(super) fn refused(error: &clap::Error, argv: &[OsString], context: &Context) -> Outcome {
    let command = command_of(argv);
    let mut outcome = Outcome::new(command.unwrap_or_default());
    if matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    ) {
        let text = error.render();
        outcome.stdout = if context.color && context.terminal {
            text.ansi().to_string()
        } else {
            text.to_string()
        };
        return outcome;
    }
    let prefix = match command {
        Some(command) => format!("mcp-cassette {command}: "),
        None => "mcp-cassette: ".to_owned(),
    };
    outcome.stderr = without_old_commands(&format!("{prefix}{}", refusal(error, argv)));
    outcome.exit = Exit::CouldNotRun;
    outcome
}

/// Every subcommand.
const NAMES: [&str; 11] = [
    "record",
    "serve",
    "check",
    "lint",
    "diff",
    "redaction-check",
    "redact",
    "inspect",
    "explain",
    "completions",
    "man",
];

/// The subcommand on a command line that may be wrong otherwise.
fn command_of(argv: &[OsString]) -> Option<&'static str> {
    argv.iter()
        .skip(1)
        .find_map(|arg| NAMES.into_iter().find(|name| arg == name))
}

/// clap's message without its `error: `, the hints below it indented.
fn refusal(error: &clap::Error, argv: &[OsString]) -> String {
    let rendered = error.render().to_string();
    let text = match error.kind() {
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let help = rendered.replace('\n', "\n  ");
            format!("a command is missing\n  {help}")
        }
        ErrorKind::UnknownArgument => without_separator(error, argv).unwrap_or(rendered),
        ErrorKind::ArgumentConflict => conflict(error).unwrap_or(rendered),
        _ => rendered,
    };
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    // An argument with a line break in it would begin a line of its own.
    let odd = |arg: &OsString| arg.to_string_lossy().contains(|c: char| c.is_control());
    if argv.iter().any(odd) {
        let flat = text.trim_end().replace('\n', " ");
        return format!("{}\n", visible(&flat));
    }
    let mut told = String::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        if !told.is_empty() && !line.starts_with(' ') {
            told.push_str("  ");
        }
        told.push_str(&visible(line));
        told.push('\n');
    }
    told
}

/// A word that begins a server command, to which `--` is missing.
fn without_separator(error: &clap::Error, argv: &[OsString]) -> Option<String> {
    let start = match command_of(argv)? {
        "record" => "record --cassette PATH",
        "serve" => "serve CASSETTE --new-episodes",
        _ => return None,
    };
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    if word.starts_with('-') || argv.iter().any(|arg| arg == "--") {
        return None;
    }
    Some(format!(
        "unexpected argument '{word}' found; is it the server? Its command goes after --:\n\
         mcp-cassette {start} -- {word} ..."
    ))
}

/// Two options that exclude each other, in the words that scripts look for.
fn conflict(error: &clap::Error) -> Option<String> {
    if error.kind() != ErrorKind::ArgumentConflict {
        return None;
    }
    let name = |kind| match error.get(kind) {
        Some(ContextValue::String(name)) => Some(name.clone()),
        Some(ContextValue::Strings(names)) => Some(names.join("', '")),
        _ => None,
    };
    let (one, other) = (name(ContextKind::InvalidArg)?, name(ContextKind::PriorArg)?);
    (one != other).then(|| {
        format!(
            "'{one}' is not allowed with argument '{other}'\n\
             For more information, try '--help'."
        )
    })
}

#[cfg(test)]
mod tests {
    use super::NAMES;
    use crate::args::Cli;
    use clap::CommandFactory as _;

    #[test]
    fn every_subcommand_has_a_name_here() {
        let program = Cli::command();
        let names: Vec<&str> = program
            .get_subcommands()
            .map(clap::Command::get_name)
            .collect();
        assert_eq!(names, NAMES);
    }
}
