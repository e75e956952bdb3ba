//! JSON reports: structs of their own, one module a version, never the model
//! serialised, so that member names and their order change only on purpose.
//!
//! Text is written as it is, like every JSON writer of today does, except for the
//! characters that a terminal obeys or hides: these are `\uXXXX`, which says the
//! same to a parser. So is the bracket of `##[`, which a GitHub Actions runner
//! would take for a command wherever it stands.

mod v1;

use super::checked::Checked;
use super::sanitize::is_dangerous;
use crate::diff::Diff;
use crate::finding::Report;
use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};
use std::io;

/// One object for one cassette, otherwise a list.
pub(super) fn lint(reports: &[Report], several: bool) -> String {
    let documents: Vec<v1::LintReport> = reports.iter().map(v1::LintReport::from).collect();
    match documents.as_slice() {
        [only] if !several => document(only),
        several => document(several),
    }
}

/// The comparison as one object.
pub(super) fn diff(diff: &Diff) -> String {
    document(&v1::DiffReport::from(diff))
}

/// The result of `check` as one object.
pub(super) fn check(checked: &Checked) -> String {
    document(&v1::CheckReport::from(checked))
}

/// Several comparisons as a list.
pub(super) fn diffs<'d>(diffs: impl Iterator<Item = &'d Diff>) -> String {
    let documents: Vec<v1::DiffReport> = diffs.map(v1::DiffReport::from).collect();
    document(documents.as_slice())
}

/// Any document, written harmlessly, with a line feed at its end.
pub(super) fn document<T: Serialize + ?Sized>(value: &T) -> String {
    let mut bytes = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut bytes, Harmless::default());
    let written = value.serialize(&mut serializer);
    debug_assert!(
        written.is_ok(),
        "writing strings and numbers to memory cannot fail"
    );
    let mut text = String::from_utf8(bytes).unwrap_or_default();
    text.push('\n');
    text
}

/// Indents by two spaces and escapes what must not reach a terminal.
#[derive(Default)]
struct Harmless(PrettyFormatter<'static>);

impl Formatter for Harmless {
    fn write_string_fragment<W>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()>
    where
        W: ?Sized + io::Write,
    {
        let mut plain_from = 0;
        for (at, c) in fragment.char_indices() {
            let opens_command =
                c == '[' && fragment.get(..at).is_some_and(|text| text.ends_with("##"));
            if !opens_command && !is_dangerous(c) {
                continue;
            }
            writer.write_all(fragment.get(plain_from..at).unwrap_or_default().as_bytes())?;
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
            plain_from = at + c.len_utf8();
        }
        writer.write_all(fragment.get(plain_from..).unwrap_or_default().as_bytes())
    }

    fn begin_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_array(writer)
    }

    fn end_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array(writer)
    }

    fn begin_array_value<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.0.begin_array_value(writer, first)
    }

    fn end_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array_value(writer)
    }

    fn begin_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object(writer)
    }

    fn end_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object(writer)
    }

    fn begin_object_key<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.0.begin_object_key(writer, first)
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object_value(writer)
    }

    fn end_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object_value(writer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_readable_and_hidden_characters_are_escaped() {
        let text = "é中👍 \u{1b}\u{7f}\u{85}\u{2028}\u{202e}\u{e0041}\u{200b} ##[x] #[ \"\\";
        let written = document(text);
        assert_eq!(
            written,
            concat!(
                r#""é中👍 \u001b\u007f\u0085\u2028\u202e\udb40\udc41\u200b ##\u005bx] #[ \"\\""#,
                "\n"
            )
        );
        assert_eq!(serde_json::from_str::<String>(&written).unwrap(), text);
    }

    #[test]
    fn no_cassettes_are_an_empty_list() {
        assert_eq!(lint(&[], false), "[]\n");
    }
}
