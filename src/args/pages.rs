//! Man pages and completion scripts, made from the definition of the command line.

use super::Cli;
use crate::command::Outcome;
use clap::{Command, CommandFactory as _};

/// The completion script of a shell.
pub(super) fn completions(shell: clap_complete::Shell) -> Outcome {
    let mut outcome = Outcome::new("completions");
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "mcp-cassette", &mut script);
    outcome.stdout = String::from_utf8_lossy(&script).into_owned();
    outcome
}

/// The man page of the program, or of one of its commands.
pub(super) fn man(command: Option<&str>) -> Outcome {
    let mut program = Cli::command();
    // Names of commands and the options that they share are filled in by this.
    program.build();
    let page = match command {
        None => Some(&program),
        Some(name) => program.find_subcommand(name),
    };
    let Some(page) = page else {
        let names: Vec<&str> = program.get_subcommands().map(Command::get_name).collect();
        let names = names.join(", ");
        let asked = command.unwrap_or_default();
        let message = format!("'{asked}' is no command; there are pages of {names}");
        return Outcome::failed("man", message);
    };
    let mut outcome = Outcome::new("man");
    let mut text = Vec::new();
    let source = concat!("mcp-cassette ", env!("CARGO_PKG_VERSION"));
    let page = clap_mangen::Man::new(page.clone()).source(source);
    match page.render(&mut text) {
        Ok(()) => outcome.stdout = String::from_utf8_lossy(&text).into_owned(),
        Err(error) => outcome.error(error),
    }
    outcome
}
