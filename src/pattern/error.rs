//! What is wrong with a pack, in words that name the file, the line and the key.

use std::fmt;

use thiserror::Error;

use super::translate::RegexError;

/// What a pack is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PackKind {
    /// Patterns that lint looks for.
    Pattern,
    /// Rules of redaction.
    Redaction,
}

impl fmt::Display for PackKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            PackKind::Pattern => "pattern pack",
            PackKind::Redaction => "redaction pack",
        })
    }
}

/// A pack that cannot be used.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{kind} {file}{}: {problem}", line.map(|line| format!(":{line}")).unwrap_or_default())]
pub(crate) struct PackError {
    pub(crate) kind: PackKind,
    /// The name of the pack, as it was given.
    pub(crate) file: String,
    /// Counted from 1.
    pub(crate) line: Option<u32>,
    pub(crate) problem: Problem,
}

/// The kinds of mistakes. Some of the wording is grepped by scripts and has to stay:
/// `unsupported version`, `unknown top-level key`, `invalid regex`, `unknown regex flag` and
/// `duplicate rule id`.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub(crate) enum Problem {
    #[error("larger than {limit} bytes")]
    TooLarge { limit: usize },
    #[error("not valid UTF-8")]
    NotUtf8,
    #[error("not valid TOML: {}", shown(.0))]
    Toml(String),
    #[error("unsupported version {} (expected `version = 1`)", shown(found))]
    Version { found: String },
    #[error("unknown top-level key {}{}", quoted(key), choices(key, known))]
    UnknownTopLevelKey {
        key: String,
        known: &'static [&'static str],
    },
    #[error("{rule}: unknown key {}{}", quoted(key), choices(key, known))]
    UnknownKey {
        rule: Rule,
        key: String,
        known: &'static [&'static str],
    },
    #[error("{rule}: missing key `{key}`")]
    MissingKey { rule: Rule, key: &'static str },
    #[error("{rule}: `{key}` must be {expected}, not {found}")]
    Type {
        rule: Rule,
        key: String,
        expected: &'static str,
        found: &'static str,
    },
    #[error("`{list}` must be an array of tables (`[[{list}]]`), not {found}")]
    NotRules {
        list: &'static str,
        found: &'static str,
    },
    #[error("invalid rule id {} (expected 1-16 characters, [A-Za-z][A-Za-z0-9_-]*)", quoted(.0))]
    InvalidId(String),
    #[error(
        "invalid {what} id {} (expected 1-32 characters, [A-Za-z][A-Za-z0-9_-]*)",
        quoted(id)
    )]
    InvalidName { what: &'static str, id: String },
    #[error("{rule}: {what}")]
    Unusable { rule: Rule, what: &'static str },
    #[error("invalid rule id {} (ids that start with \"R\" belong to the bundled rules)", quoted(.0))]
    ReservedId(String),
    #[error("duplicate rule id {id:?} (already defined by {first})")]
    DuplicateId { id: String, first: String },
    #[error("{rule}: unknown regex flag {} (accepted: i, m, s, x)", quoted(found))]
    UnknownFlag { rule: Rule, found: String },
    #[error("{rule}: unknown {key} {}{}", quoted(found), choices(found, known))]
    UnknownWord {
        rule: Rule,
        key: &'static str,
        found: Box<str>,
        known: Box<[&'static str]>,
    },
    #[error("{rule}: unknown surface {}{}", quoted(found), choices(found, known))]
    UnknownSurface {
        rule: Rule,
        found: String,
        known: Vec<&'static str>,
    },
    #[error(
        "{rule}: `surfaces` is empty, so the pattern would check nothing (leave it out for description and result)"
    )]
    NoSurfaces { rule: Rule },
    #[error("{rule}: invalid regex: {source}")]
    Regex { rule: Rule, source: RegexError },
    #[error("more than {limit} patterns over all packs")]
    TooMany { limit: usize },
    #[error(
        "{rule}: the patterns of all packs are too large together (lower their repetition counts)"
    )]
    TooLargeTogether { rule: Rule },
}

/// A pattern as a message names it: by its id, or by its place if it has none yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    Id(String),
    /// Counted from 1.
    Place(usize),
    /// The pack itself.
    Pack,
}

impl fmt::Display for Rule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rule::Id(id) => write!(out, "rule {id:?}"),
            Rule::Place(place) => write!(out, "pattern {place}"),
            Rule::Pack => out.write_str("the pack"),
        }
    }
}

/// Text of a pack on one line: escaped where it does not print, and cut.
pub(crate) fn shown(text: &str) -> String {
    const MOST: usize = 160;
    let mut chars = text.chars();
    let mut out = String::new();
    for c in chars.by_ref().take(MOST) {
        match c {
            '"' | '\'' | '\\' => out.push(c),
            c => out.extend(c.escape_debug()),
        }
    }
    if chars.next().is_some() {
        out.push('…');
    }
    out
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", shown(text))
}

/// How alike two words must be for one to be offered for the other.
const NEAR: f64 = 0.7;

/// The words that would have been right, and the one that was probably meant.
fn choices(found: &str, known: &[&'static str]) -> String {
    // A long key is no typing mistake, and comparing it would cost its length squared.
    let likeness = |word: &str| match found.len() > 64 {
        true => 0.0,
        false => strsim::jaro_winkler(&found.to_lowercase(), word),
    };
    let nearest = known
        .iter()
        .max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    let expected = known.join(", ");
    match nearest.filter(|word| likeness(word) >= NEAR) {
        Some(word) => format!(", did you mean {word:?}? (expected: {expected})"),
        None => format!(" (expected: {expected})"),
    }
}
