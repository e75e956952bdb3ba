//! TOML tables that know where they stand, so that every refusal names a line.

use super::{ConfigError, Located};
use std::io;
use std::ops::Range;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// What is wrong in a configuration file.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Problem {
    #[error("cannot be read: {0}")]
    Io(#[source] io::Error),
    #[error("is not UTF-8 text but looks like {0}; save it again as UTF-8")]
    Encoding(&'static str),
    #[error("is not UTF-8 text here")]
    NotUtf8,
    #[error("is not valid TOML: {0}")]
    Syntax(String),
    #[error("{table} has no key \"{key}\"{}; its keys are {keys}", did_you_mean(.suggestion))]
    UnknownKey {
        table: String,
        key: String,
        suggestion: Option<String>,
        keys: String,
    },
    #[error("{table} \"{key}\" is {found}, it must be {wanted}")]
    WrongValue {
        table: String,
        key: String,
        found: String,
        wanted: String,
    },
    #[error("{table} \"{key}\" {what}")]
    Invalid {
        table: String,
        key: String,
        what: String,
    },
    #[error("{table} has no \"{key}\", which every entry needs")]
    Missing { table: String, key: &'static str },
    #[error("unknown rule id '{rule}' in [[accept]]{}; valid ids: {known}", did_you_mean(.suggestion))]
    UnknownRule {
        rule: String,
        suggestion: Option<String>,
        known: String,
    },
}

fn did_you_mean(suggestion: &Option<String>) -> String {
    match suggestion {
        Some(name) => format!(" (did you mean \"{name}\"?)"),
        None => String::new(),
    }
}

/// The candidate that `name` is most likely a misspelling of.
pub(crate) fn nearest<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(name, candidate), candidate))
        .filter(|(score, _)| *score > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate.to_owned())
}

/// A parsed file.
pub(super) struct Document<'a> {
    path: &'a Path,
    text: &'a str,
    table: Spanned<DeTable<'a>>,
}

impl<'a> Document<'a> {
    pub(super) fn parse(path: &'a Path, bytes: &'a [u8]) -> Result<Self, ConfigError> {
        let fail = |line, problem| ConfigError {
            path: path.to_owned(),
            line: Some(line),
            problem: Box::new(problem),
        };
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
            fail(line_of(valid), Problem::NotUtf8)
        })?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let table = DeTable::parse(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            let before = text.as_bytes().get(..at).unwrap_or(text.as_bytes());
            let message = error.message().replace('\n', ", ");
            fail(line_of(before), Problem::Syntax(message))
        })?;
        Ok(Document { path, text, table })
    }

    pub(super) fn root(&self) -> Section<'_> {
        Section {
            document: self,
            name: Vec::new(),
            entry: false,
            at: 0,
            table: self.table.get_ref(),
        }
    }

    fn line(&self, at: usize) -> usize {
        line_of(self.text.as_bytes().get(..at).unwrap_or_default())
    }
}

fn line_of(before: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', before).count() + 1
}

/// One table of a file.
#[derive(Clone)]
pub(super) struct Section<'a> {
    document: &'a Document<'a>,
    name: Vec<&'a str>,
    /// Whether it is an element of an array of tables.
    entry: bool,
    at: usize,
    table: &'a DeTable<'a>,
}

type Value<'a> = &'a Spanned<DeValue<'a>>;

impl<'a> Section<'a> {
    /// The line that the table begins on, from 1.
    pub(super) fn line(&self) -> usize {
        self.document.line(self.at)
    }

    /// Refuses every key but these.
    pub(super) fn only(&self, keys: &[&str]) -> Result<(), ConfigError> {
        for (key, _) in self.table {
            let name: &str = key.get_ref();
            if !keys.contains(&name) {
                let problem = Problem::UnknownKey {
                    table: self.title(),
                    key: name.to_owned(),
                    suggestion: nearest(name, keys.iter().copied()),
                    keys: keys.join(", "),
                };
                return Err(self.error(key.span(), problem));
            }
        }
        Ok(())
    }

    pub(super) fn table(&self, key: &'a str) -> Result<Option<Section<'a>>, ConfigError> {
        let Some((at, value)) = self.find(key) else {
            return Ok(None);
        };
        match value.get_ref() {
            DeValue::Table(table) => Ok(Some(self.inner(key, false, at, table))),
            _ => Err(self.wrong(key, value, "a table")),
        }
    }

    /// The elements of an array of tables.
    pub(super) fn tables(&self, key: &'a str) -> Result<Vec<Section<'a>>, ConfigError> {
        let Some((_, value)) = self.find(key) else {
            return Ok(Vec::new());
        };
        let wanted = format!("an array of tables, [[{key}]]");
        let DeValue::Array(items) = value.get_ref() else {
            return Err(self.wrong(key, value, &wanted));
        };
        let mut sections = Vec::new();
        for item in items {
            match item.get_ref() {
                DeValue::Table(table) => {
                    sections.push(self.inner(key, true, item.span().start, table));
                }
                _ => return Err(self.wrong(key, item, &wanted)),
            }
        }
        Ok(sections)
    }

    /// A string that is not blank.
    pub(super) fn string(&self, key: &'static str) -> Result<Option<String>, ConfigError> {
        self.string_that(key, "is not empty")
    }

    /// A string that is not blank, and what it should be in the words of a message.
    fn string_that(&self, key: &'static str, wanted: &str) -> Result<Option<String>, ConfigError> {
        match self.find(key) {
            None => Ok(None),
            Some((_, value)) => match value.get_ref() {
                DeValue::String(text) if !text.trim().is_empty() => Ok(Some(text.to_string())),
                _ => Err(self.wrong(key, value, &format!("a string that {wanted}"))),
            },
        }
    }

    pub(super) fn required_string(&self, key: &'static str) -> Result<String, ConfigError> {
        self.required_string_that(key, "is not empty")
    }

    /// The same, with what it should be in the words of a message.
    pub(super) fn required_string_that(
        &self,
        key: &'static str,
        wanted: &str,
    ) -> Result<String, ConfigError> {
        self.string_that(key, wanted)?.ok_or_else(|| {
            let table = self.title();
            self.error(self.at..self.at, Problem::Missing { table, key })
        })
    }

    /// An array of strings that are not empty.
    pub(super) fn strings(
        &self,
        key: &'static str,
    ) -> Result<Option<Located<Vec<String>>>, ConfigError> {
        let Some((at, value)) = self.find(key) else {
            return Ok(None);
        };
        let DeValue::Array(items) = value.get_ref() else {
            return Err(self.wrong(key, value, "an array of strings"));
        };
        let mut strings = Vec::new();
        for item in items {
            match item.get_ref() {
                DeValue::String(text) if !text.is_empty() => strings.push(text.to_string()),
                _ => return Err(self.wrong(key, item, "an array of strings")),
            }
        }
        let line = self.document.line(at);
        Ok(Some(Located {
            value: strings,
            line,
        }))
    }

    /// One of a few words.
    pub(super) fn word<T: Copy>(
        &self,
        key: &'static str,
        words: &[(&str, T)],
    ) -> Result<Option<T>, ConfigError> {
        match self.find(key) {
            None => Ok(None),
            Some((_, value)) => self.one_word(key, value, words).map(Some),
        }
    }

    /// An array of a few words.
    pub(super) fn words<T: Copy>(
        &self,
        key: &'static str,
        words: &[(&str, T)],
    ) -> Result<Option<Vec<T>>, ConfigError> {
        let Some((_, value)) = self.find(key) else {
            return Ok(None);
        };
        let DeValue::Array(items) = value.get_ref() else {
            return Err(self.wrong(key, value, &format!("an array of {}", choices(words))));
        };
        let all = items.iter().map(|item| self.one_word(key, item, words));
        all.collect::<Result<_, _>>().map(Some)
    }

    fn one_word<T: Copy>(
        &self,
        key: &str,
        value: Value<'a>,
        words: &[(&str, T)],
    ) -> Result<T, ConfigError> {
        let found = value
            .get_ref()
            .as_str()
            .and_then(|text| words.iter().find(|(word, _)| *word == text));
        match found {
            Some((_, meaning)) => Ok(*meaning),
            None => Err(self.wrong(key, value, &choices(words))),
        }
    }

    pub(super) fn flag(&self, key: &'static str) -> Result<Option<bool>, ConfigError> {
        match self.find(key) {
            None => Ok(None),
            Some((_, value)) => match value.get_ref() {
                DeValue::Boolean(flag) => Ok(Some(*flag)),
                _ => Err(self.wrong(key, value, "true or false")),
            },
        }
    }

    /// A number, integers included, that `check` lets through.
    pub(super) fn number<T>(
        &self,
        key: &'static str,
        check: impl Fn(f64) -> Result<T, &'static str>,
    ) -> Result<Option<T>, ConfigError> {
        let Some((_, value)) = self.find(key) else {
            return Ok(None);
        };
        let parsed = match value.get_ref() {
            DeValue::Float(float) => float.as_str().parse().ok(),
            #[expect(
                clippy::cast_precision_loss,
                reason = "a threshold of more than 2^53 is nonsense either way"
            )]
            DeValue::Integer(_) => integer(value).map(|number| number as f64),
            _ => None,
        };
        match parsed.map(check) {
            Some(Ok(number)) => Ok(Some(number)),
            Some(Err(what)) => Err(self.invalid(key, format!("is out of range: {what}"))),
            None => Err(self.wrong(key, value, "a number")),
        }
    }

    /// An integer that `check` lets through.
    pub(super) fn integer<T>(
        &self,
        key: &'static str,
        check: impl Fn(i64) -> Result<T, &'static str>,
    ) -> Result<Option<T>, ConfigError> {
        let Some((_, value)) = self.find(key) else {
            return Ok(None);
        };
        match integer(value).map(check) {
            Some(Ok(number)) => Ok(Some(number)),
            Some(Err(what)) => Err(self.invalid(key, format!("is out of range: {what}"))),
            None => Err(self.wrong(key, value, "an integer")),
        }
    }

    /// A day, as a TOML date or as a string, in the form `YYYY-MM-DD`.
    pub(super) fn date(&self, key: &'static str) -> Result<Option<String>, ConfigError> {
        let Some((_, value)) = self.find(key) else {
            return Ok(None);
        };
        let written = match value.get_ref() {
            DeValue::String(text) => text.to_string(),
            DeValue::Datetime(datetime) => datetime.to_string(),
            _ => String::new(),
        };
        // jiff also reads other spellings, which would not compare as text.
        match written.parse::<jiff::civil::Date>() {
            Ok(date) if date.to_string() == written => Ok(Some(written)),
            _ => Err(self.wrong(key, value, "a day as YYYY-MM-DD")),
        }
    }

    /// A refusal of the value of `key` for a reason of its own.
    pub(super) fn invalid(&self, key: &str, what: String) -> ConfigError {
        let at = self.find(key).map_or(self.at, |(at, _)| at);
        let problem = Problem::Invalid {
            table: self.title(),
            key: key.to_owned(),
            what,
        };
        self.error(at..at, problem)
    }

    /// The offset of the key and its value.
    fn find(&self, key: &str) -> Option<(usize, Value<'a>)> {
        let (name, value) = self.table.get_key_value(key)?;
        Some((name.span().start, value))
    }

    fn inner(&self, key: &'a str, entry: bool, at: usize, table: &'a DeTable<'a>) -> Section<'a> {
        let mut name = self.name.clone();
        name.push(key);
        Section {
            document: self.document,
            name,
            entry,
            at,
            table,
        }
    }

    /// The table as its header is written.
    fn title(&self) -> String {
        match (self.name.is_empty(), self.entry) {
            (true, _) => "the file".to_owned(),
            (_, true) => format!("[[{}]]", self.name.join(".")),
            (_, false) => format!("[{}]", self.name.join(".")),
        }
    }

    fn wrong(&self, key: &str, value: Value<'a>, wanted: &str) -> ConfigError {
        let written = self.document.text.get(value.span()).unwrap_or_default();
        let found = match value.get_ref() {
            DeValue::Table(_) => "a table".to_owned(),
            DeValue::Array(_) => "an array".to_owned(),
            _ => written.chars().take(60).collect(),
        };
        let problem = Problem::WrongValue {
            table: self.title(),
            key: key.to_owned(),
            found,
            wanted: wanted.to_owned(),
        };
        self.error(value.span(), problem)
    }

    fn error(&self, span: Range<usize>, problem: Problem) -> ConfigError {
        ConfigError {
            path: self.document.path.to_owned(),
            line: Some(self.document.line(span.start)),
            problem: Box::new(problem),
        }
    }
}

fn integer(value: Value<'_>) -> Option<i64> {
    match value.get_ref() {
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix()).ok(),
        _ => None,
    }
}

fn choices<T>(words: &[(&str, T)]) -> String {
    let quoted: Vec<_> = words
        .iter()
        .map(|(word, _)| format!("\"{word}\""))
        .collect();
    quoted.join(" or ")
}
