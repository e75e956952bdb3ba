//! The commands that the documents show do what they are shown to do.
//!
//! In a `console` block a line that begins with `$ ` is a command and what follows
//! is its whole output; a last line `(exit code N)` stands for a code other than 0. ` < FILE` at
//! the end of a command is its standard input.
//! `UPDATE_FIXTURES=1` writes the output into the documents.

use crate::support::{Run, command, finish, root, run};
use std::fs::File;
use std::process::Stdio;

const DOCUMENTS: &[&str] = &[
    "README.md",
    "examples/README.md",
    "docs/cli.md",
    "docs/guide/getting-started.md",
];

#[test]
fn documented_commands_print_what_is_shown() {
    let update = std::env::var_os("UPDATE_FIXTURES").is_some();
    let mut commands = 0;
    for document in DOCUMENTS {
        let path = root().join(document);
        let text = std::fs::read_to_string(&path).expect("the document");
        let mut expected = String::new();
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            expected.push_str(line);
            expected.push('\n');
            let Some(shown) = command_of(line) else {
                continue;
            };
            commands += 1;
            // What is shown ends with the block or with the next command.
            while lines
                .next_if(|line| !line.starts_with("```") && !line.starts_with("$ "))
                .is_some()
            {}
            let run = play(shown);
            expected.push_str(&run.stdout);
            expected.push_str(&run.stderr);
            if run.code != 0 {
                expected.push_str(&format!("(exit code {})\n", run.code));
            }
        }
        if update {
            std::fs::write(&path, &expected).expect("a writable document");
        }
        let shown = std::fs::read_to_string(&path).expect("the document");
        assert_eq!(
            shown, expected,
            "{document}: set UPDATE_FIXTURES=1 to write it"
        );
    }
    assert!(commands >= 8, "only {commands} commands are shown");
}

/// A shown command of ours, and nothing for any other line.
fn command_of(line: &str) -> Option<&str> {
    let shown = line.strip_prefix("$ ")?;
    shown
        .strip_prefix("mcp-cassette ")
        .or_else(|| shown.strip_prefix("cargo run --release -- "))
}

/// Runs what follows the program's name.
fn play(shown: &str) -> Run {
    let Some((words, input)) = shown.split_once(" < ") else {
        return run(&shown.split_whitespace().collect::<Vec<_>>());
    };
    let input = File::open(root().join(input)).expect("the file that is shown as input");
    let output = command(root())
        .args(words.split_whitespace())
        .stdin(Stdio::from(input))
        .output();
    finish(output.expect("the binary runs"))
}
