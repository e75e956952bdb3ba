//! What a step of a workflow hands on: the text for the file that `GITHUB_OUTPUT`
//! names, on every path, also where nothing could be checked.

use super::counts::Counts;
use super::sanitize::{is_dangerous, visible};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// The outputs of the Action.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outputs<'a> {
    pub(crate) counts: Counts,
    pub(crate) exit_code: u8,
    /// The folder or file of the report; empty if none was written.
    pub(crate) report_path: &'a str,
    /// The SARIF file; empty if none was written.
    pub(crate) sarif_path: &'a str,
    /// Empty if there is no baseline.
    pub(crate) baseline_commit: &'a str,
    pub(crate) baseline_reason: &'a str,
}

impl Outputs<'_> {
    /// One output after the other, to be appended to the file.
    pub(crate) fn render(&self) -> String {
        let mut out = String::new();
        for (name, value) in [
            ("findings", self.counts.findings.to_string()),
            ("errors", self.counts.errors.to_string()),
            ("warnings", self.counts.warnings.to_string()),
            ("exit-code", self.exit_code.to_string()),
        ] {
            put(&mut out, name, &value);
        }
        // A path must come out as it is, or the next step does not find it.
        put(&mut out, "report-path", self.report_path);
        put(&mut out, "sarif-path", self.sarif_path);
        put(&mut out, "baseline-commit", &visible(self.baseline_commit));
        put(&mut out, "baseline-reason", &visible(self.baseline_reason));
        out
    }
}

/// `name=value`, or the form for values of several lines where the value could end
/// its line. Its delimiter is taken from a hash over the value, so that no value
/// can contain it.
fn put(out: &mut String, name: &str, value: &str) {
    if !value.contains(is_dangerous) {
        let _ = writeln!(out, "{name}={value}");
        return;
    }
    let digest = Sha256::digest(value.as_bytes());
    let delimiter: String =
        digest
            .iter()
            .take(16)
            .fold("end_".to_owned(), |mut delimiter, byte| {
                let _ = write!(delimiter, "{byte:02x}");
                delimiter
            });
    let _ = writeln!(out, "{name}<<{delimiter}\n{value}\n{delimiter}");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads the file as the runner does.
    fn read(text: &str) -> Vec<(String, String)> {
        let mut found = Vec::new();
        let mut lines = text.split('\n');
        while let Some(line) = lines.next() {
            if line.is_empty() {
                continue;
            }
            let equals = line.find('=').unwrap_or(usize::MAX);
            let heredoc = line.find("<<").unwrap_or(usize::MAX);
            if equals < heredoc {
                found.push((line[..equals].to_owned(), line[equals + 1..].to_owned()));
                continue;
            }
            let delimiter = &line[heredoc + 2..];
            let value: Vec<&str> = lines
                .by_ref()
                .take_while(|line| *line != delimiter)
                .collect();
            found.push((line[..heredoc].to_owned(), value.join("\n")));
        }
        found
    }

    #[test]
    fn hostile_values_give_no_output_of_their_own() {
        for hostile in [
            "a\nfindings=0",
            "a\r\nexit-code=0",
            "x<<EOF\nfindings=0\nEOF",
            "a=b<<c",
            "<<x",
            "\u{2028}errors=0",
            "",
        ] {
            let outputs = Outputs {
                counts: Counts {
                    findings: 3,
                    errors: 2,
                    warnings: 1,
                    ..Counts::default()
                },
                exit_code: 4,
                report_path: hostile,
                sarif_path: hostile,
                baseline_commit: hostile,
                baseline_reason: hostile,
            };
            let read = read(&outputs.render());
            let names: Vec<&str> = read.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(
                names,
                [
                    "findings",
                    "errors",
                    "warnings",
                    "exit-code",
                    "report-path",
                    "sarif-path",
                    "baseline-commit",
                    "baseline-reason"
                ]
            );
            let values: Vec<&str> = read.iter().map(|(_, value)| value.as_str()).collect();
            assert_eq!(values[..4], ["3", "2", "1", "4"]);
            assert_eq!(values[4..6], [hostile, hostile]);
            assert!(!values[7].contains(is_dangerous), "{values:?}");
        }
    }
}
