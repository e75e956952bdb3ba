//! What can be typed about where a report goes, and in which format.

use crate::command::Output;
use crate::report::Format;
use clap::builder::{OsStringValueParser, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use std::ffi::OsStr;
use std::path::PathBuf;

#[derive(Args)]
#[command(next_help_heading = "Output options")]
pub(super) struct OutputArgs {
    /// Write a report in this format to standard output, or to a file (repeatable):
    /// full, text, json, github, sarif, markdown or accept, as in json=report.json
    ///
    /// full shows the lines of the file with a caret under each finding and is the default on
    /// a terminal; text is one stable line a finding and the default otherwise; json has frozen
    /// member names; github writes workflow commands that annotate a pull request; sarif is for
    /// code scanning; markdown is a job summary; accept is the entries for mcp-cassette.toml that
    /// accept what made the run fail, without their reasons.
    #[arg(long = "output", value_name = "FORMAT[=FILE]",
        value_parser = OsStringValueParser::new().try_map(|value| parse_output(&value)))]
    outputs: Vec<Output>,
    /// The same as --output FORMAT
    #[arg(long, value_name = "FORMAT",
        value_parser = PossibleValuesParser::new(Format::ALL.map(Format::name)))]
    format: Option<String>,
    /// After the report, annotations for this service
    #[arg(long, value_name = "SERVICE")]
    annotate: Option<Annotate>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Annotate {
    Github,
}

impl OutputArgs {
    /// All reports that were asked for, annotations last.
    pub(super) fn all(self) -> Vec<Output> {
        let printed = |format| Output { format, path: None };
        let mut outputs: Vec<Output> = Vec::new();
        let only = self.format.as_deref().and_then(format);
        outputs.extend(only.map(printed));
        outputs.extend(self.outputs);
        outputs.extend(
            self.annotate
                .map(|Annotate::Github| printed(Format::Github)),
        );
        outputs
    }
}

/// The format of that name.
fn format(name: &str) -> Option<Format> {
    Format::ALL.into_iter().find(|format| format.name() == name)
}

/// `FORMAT` or `FORMAT=FILE`; the file may have any name, also one that is not UTF-8.
fn parse_output(value: &OsStr) -> Result<Output, String> {
    let bytes = value.as_encoded_bytes();
    let (name, path) = match bytes.iter().position(|byte| *byte == b'=') {
        None => (bytes, None),
        Some(at) => {
            let (name, rest) = bytes.split_at(at);
            (name, Some(rest.get(1..).unwrap_or_default()))
        }
    };
    let name = String::from_utf8_lossy(name);
    let Some(format) = format(&name) else {
        let names = Format::ALL.map(Format::name).join(", ");
        return Err(format!("the formats are {names}, and not '{name}'"));
    };
    let path = match path {
        None => None,
        Some([]) => return Err(format!("there is no file name after '{name}='")),
        Some(path) => Some(os_string(path)?),
    };
    Ok(Output { format, path })
}

#[cfg(unix)]
fn os_string(bytes: &[u8]) -> Result<PathBuf, String> {
    use std::os::unix::ffi::OsStrExt as _;
    Ok(PathBuf::from(OsStr::from_bytes(bytes)))
}

#[cfg(not(unix))]
fn os_string(bytes: &[u8]) -> Result<PathBuf, String> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(PathBuf::from(text)),
        Err(_) => Err("the file name is not valid Unicode".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_is_a_format_and_perhaps_a_file() {
        let parse = |text: &str| parse_output(OsStr::new(text));
        let json = |path: Option<&str>| Output {
            format: Format::Json,
            path: path.map(PathBuf::from),
        };
        assert_eq!(parse("json"), Ok(json(None)));
        assert_eq!(parse("json=a=b.json"), Ok(json(Some("a=b.json"))));
        assert!(parse("json=").is_err());
        assert!(parse("xml").is_err());
    }
}
