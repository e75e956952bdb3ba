//! The commands that the documents show do what they are shown to do.
//!
//! In a `console` block a line that begins with `$ ` is a command and what follows
//! is its whole output; a last line `(exit code N)` stands for a code other than 0.
//! `UPDATE_FIXTURES=1` writes the output into the documents.

use crate::support::{root, run};

const DOCUMENTS: &[&str] = &["README.md", "examples/README.md"];

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
            let Some(arguments) = arguments_of(line) else {
                continue;
            };
            commands += 1;
            // What is shown ends with the block or with the next command.
            while lines
                .next_if(|line| !line.starts_with("```") && !line.starts_with("$ "))
                .is_some()
            {}
            let run = run(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
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

/// The arguments of a shown command of ours, and nothing for any other line.
fn arguments_of(line: &str) -> Option<Vec<String>> {
    let command = line.strip_prefix("$ ")?;
    let ours = command
        .strip_prefix("mcp-cassette ")
        .or_else(|| command.strip_prefix("cargo run --release -- "))?;
    Some(ours.split_whitespace().map(str::to_owned).collect())
}
