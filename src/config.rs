//! Configuration files: where they are looked for, what they may say, and how
//! flags go over them.
//!
//! A project configures the gate in `mcp-cassette.toml`, or under
//! `[tool.mcp_cassette]` in its `pyproject.toml`. Both have the same keys and the
//! same loader, which works on bytes, so that a configuration can also be read from
//! a commit. A key that the loader does not know is an error: a misspelt
//! `ignore` that silently ignores nothing is found too late.

pub(crate) mod policy;
mod reader;

use crate::finding::Severity;
use crate::regular_file::{self, LARGEST_BY_HAND};
use reader::{Document, Section};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub(crate) use reader::{Problem, nearest};

/// The file that is ours alone.
const OWN_FILE: &str = "mcp-cassette.toml";
/// The file that we share with every Python tool, and our table in it.
const SHARED_FILE: &str = "pyproject.toml";
const SHARED_TABLE: [&str; 2] = ["tool", "mcp_cassette"];

/// Why a configuration file cannot be used, and the line that shows it.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", place(.path, *.line))]
pub(crate) struct ConfigError {
    /// The file as it is shown.
    pub(crate) path: PathBuf,
    /// The line, from 1.
    pub(crate) line: Option<usize>,
    /// What is wrong there; boxed because every function of the loader returns it.
    pub(crate) problem: Box<Problem>,
}

fn place(path: &Path, line: Option<usize>) -> String {
    match line {
        Some(line) => format!("{}:{line}", path.display()),
        None => path.display().to_string(),
    }
}

/// A value and the place that it comes from, for a message about it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Located<T> {
    /// The value.
    pub(crate) value: T,
    /// The line, from 1.
    pub(crate) line: usize,
}

/// What one configuration file says; what it does not say is `None` or empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Config {
    /// The file, as it is shown; empty for the defaults.
    pub(crate) path: PathBuf,
    /// `[lint]`
    pub(crate) lint: LintSection,
    /// `[check]`
    pub(crate) check: CheckSection,
    /// `[[accept]]`
    pub(crate) accept: Vec<Accept>,
}

/// The table `[lint]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LintSection {
    /// Pattern packs, already relative to the directory that the file is relative to.
    pub(crate) pattern_packs: Vec<PathBuf>,
    /// Only these rules run.
    pub(crate) select: Option<Located<Vec<String>>>,
    /// These rules do not run.
    pub(crate) ignore: Option<Located<Vec<String>>>,
    /// The least severity that fails.
    pub(crate) fail_on: Option<Severity>,
    /// The redaction profile that every cassette must name.
    pub(crate) require_redaction: Option<String>,
    /// `[lint.entropy]`
    pub(crate) entropy: EntropySection,
}

/// The table `[lint.entropy]`: thresholds of rule R005.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct EntropySection {
    /// Whether strings are judged by their entropy at all.
    pub(crate) enabled: Option<bool>,
    /// Bits a character.
    pub(crate) min_bits: Option<f64>,
    /// Characters.
    pub(crate) min_length: Option<usize>,
    /// Strings that are never reported.
    pub(crate) allowlist: Option<Vec<String>>,
}

/// The table `[check]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CheckSection {
    /// Globs, relative to the file.
    pub(crate) cassettes: Option<Vec<String>>,
    /// Which checks run.
    pub(crate) checks: Option<Vec<Check>>,
    /// A revision, `auto` or `none`.
    pub(crate) base: Option<String>,
}

/// A part of the gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Check {
    /// The rules.
    Lint,
    /// Against the baseline.
    Diff,
    /// What redaction left behind.
    Redaction,
}

/// One entry of `[[accept]]`: a finding that somebody has looked at.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Accept {
    /// The rule of the finding.
    pub(crate) rule: String,
    /// Its fingerprint: `v1:` and 16 hexadecimal digits.
    pub(crate) fingerprint: String,
    /// Why it is accepted.
    pub(crate) reason: String,
    /// The last day on which the entry counts, as `YYYY-MM-DD`.
    pub(crate) expires: Option<String>,
    /// The line of the entry, from 1.
    pub(crate) line: usize,
}

/// Looks for the nearest configuration, in `directory` and above it as far as the
/// root of the repository (the first directory with a `.git`), or of the file
/// system if there is no repository.
///
/// In one directory `mcp-cassette.toml` comes before `pyproject.toml`, and of the
/// two only the first counts. A `pyproject.toml` without our table is passed over.
pub(crate) fn discover(directory: &Path) -> Result<Option<Config>, ConfigError> {
    for path in candidates(directory) {
        let Some(bytes) = read_if_there(&directory.join(&path), &path)? else {
            continue;
        };
        if let Some(config) = parse(&path, &bytes)? {
            return Ok(Some(config));
        }
    }
    Ok(None)
}

/// Where a configuration may lie, relative to `directory`, the nearest place first.
pub(crate) fn candidates(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut upwards = PathBuf::new();
    for ancestor in directory.ancestors() {
        found.extend([OWN_FILE, SHARED_FILE].map(|name| upwards.join(name)));
        if ancestor.join(".git").exists() {
            break;
        }
        upwards.push("..");
    }
    found
}

/// The bytes of a configuration file, if there is anything by that name. What is there
/// and cannot be read is an error, a directory or a link to nowhere too: whoever put it
/// there meant to configure the gate, and running without it could switch a rule off.
fn read_if_there(path: &Path, shown: &Path) -> Result<Option<Vec<u8>>, ConfigError> {
    let nothing = [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory];
    let found = match fs::symlink_metadata(path) {
        Ok(_) => regular_file::read(path, LARGEST_BY_HAND),
        Err(error) if nothing.contains(&error.kind()) => return Ok(None),
        Err(error) => Err(error),
    };
    found.map(Some).map_err(|error| ConfigError {
        path: shown.to_owned(),
        line: None,
        problem: Box::new(Problem::Io(error)),
    })
}

/// Reads a configuration from the bytes of a file. Its paths come out joined to
/// the directory of `path`.
///
/// `None` for a `pyproject.toml` that says nothing about us. One that is not valid
/// TOML is somebody else's to mend, unless its text mentions us: then passing it
/// over could switch a gate off. Whether UTF-16 text mentions us is not to be seen.
pub(crate) fn parse(path: &Path, bytes: &[u8]) -> Result<Option<Config>, ConfigError> {
    let shared = path.file_name().is_some_and(|name| name == SHARED_FILE);
    if let Some(encoding) = other_encoding(bytes) {
        return Err(ConfigError {
            path: path.to_owned(),
            line: None,
            problem: Box::new(Problem::Encoding(encoding)),
        });
    }
    if shared && memchr::memmem::find(bytes, b"mcp_cassette").is_none() {
        return Ok(None);
    }
    let document = Document::parse(path, bytes)?;
    let mut section = document.root();
    if shared {
        for name in SHARED_TABLE {
            match section.table(name)? {
                Some(inner) => section = inner,
                None => return Ok(None),
            }
        }
    }
    config(path, &section).map(Some)
}

/// An encoding of two or four bytes a character, by its mark or by the zero bytes that
/// it has and no TOML file has.
fn other_encoding(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some("UTF-16"),
        _ if bytes.contains(&0) => Some("UTF-16 or UTF-32"),
        _ => None,
    }
}

fn config(path: &Path, section: &Section<'_>) -> Result<Config, ConfigError> {
    section.only(&["lint", "check", "accept"])?;
    let mut accept = Vec::new();
    for entry in section.tables("accept")? {
        accept.push(accept_entry(&entry)?);
    }
    Ok(Config {
        path: path.to_owned(),
        lint: match section.table("lint")? {
            Some(lint) => lint_section(path, &lint)?,
            None => LintSection::default(),
        },
        check: match section.table("check")? {
            Some(check) => check_section(&check)?,
            None => CheckSection::default(),
        },
        accept,
    })
}

fn lint_section(path: &Path, section: &Section<'_>) -> Result<LintSection, ConfigError> {
    section.only(&[
        "pattern_packs",
        "select",
        "ignore",
        "fail_on",
        "require_redaction",
        "entropy",
    ])?;
    let base = path.parent().unwrap_or(Path::new(""));
    let packs = section.strings("pattern_packs")?;
    Ok(LintSection {
        pattern_packs: packs
            .map(|packs| packs.value.iter().map(|pack| base.join(pack)).collect())
            .unwrap_or_default(),
        select: section.strings("select")?,
        ignore: section.strings("ignore")?,
        fail_on: section.word(
            "fail_on",
            &[("error", Severity::Error), ("warning", Severity::Warning)],
        )?,
        require_redaction: section.string("require_redaction")?,
        entropy: match section.table("entropy")? {
            Some(entropy) => entropy_section(&entropy)?,
            None => EntropySection::default(),
        },
    })
}

fn entropy_section(section: &Section<'_>) -> Result<EntropySection, ConfigError> {
    section.only(&["enabled", "min_bits", "min_length", "allowlist"])?;
    Ok(EntropySection {
        enabled: section.flag("enabled")?,
        min_bits: section.number("min_bits", valid_min_bits)?,
        min_length: section.integer("min_length", valid_min_length)?,
        allowlist: section.strings("allowlist")?.map(|list| list.value),
    })
}

/// The range of the entropy threshold, for the key and the flag alike.
pub(crate) fn valid_min_bits(bits: f64) -> Result<f64, &'static str> {
    if bits.is_finite() && bits > 0.0 {
        Ok(bits)
    } else {
        Err("min_bits must be a number above 0 (bits a character)")
    }
}

/// The range of the length threshold, for the key and the flag alike.
pub(crate) fn valid_min_length(length: i64) -> Result<usize, &'static str> {
    usize::try_from(length)
        .ok()
        .filter(|length| *length >= 1)
        .ok_or("min_length must be an integer from 1 (characters)")
}

fn check_section(section: &Section<'_>) -> Result<CheckSection, ConfigError> {
    section.only(&["cassettes", "checks", "base"])?;
    let cassettes = section.strings("cassettes")?;
    for glob in cassettes.iter().flat_map(|list| &list.value) {
        if let Err(error) = globset::Glob::new(glob) {
            return Err(section.invalid("cassettes", format!("{error}")));
        }
    }
    Ok(CheckSection {
        cassettes: cassettes.map(|list| list.value),
        checks: section.words(
            "checks",
            &[
                ("lint", Check::Lint),
                ("diff", Check::Diff),
                ("redaction", Check::Redaction),
            ],
        )?,
        base: section.string("base")?,
    })
}

fn accept_entry(section: &Section<'_>) -> Result<Accept, ConfigError> {
    section.only(&["rule", "fingerprint", "reason", "expires"])?;
    let fingerprint = section.required_string("fingerprint")?;
    if !is_fingerprint(&fingerprint) {
        let wanted = "it must be \"v1:\" and 16 hexadecimal digits, as a report shows it";
        return Err(section.invalid("fingerprint", format!("is {fingerprint:?}; {wanted}")));
    }
    Ok(Accept {
        rule: section.required_string("rule")?,
        fingerprint,
        reason: section.required_string_that("reason", "says why the finding is accepted")?,
        expires: section.date("expires")?,
        line: section.line(),
    })
}

fn is_fingerprint(text: &str) -> bool {
    text.strip_prefix("v1:").is_some_and(|digits| {
        digits.len() == 16
            && digits
                .bytes()
                .all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
    })
}

impl Config {
    /// Checks the rules that the accept entries name. Which rules there are is
    /// known only once the packs are loaded, hence not while parsing.
    pub(crate) fn check_accepted_rules(&self, known: &[String]) -> Result<(), ConfigError> {
        for entry in &self.accept {
            if !known.contains(&entry.rule) {
                return Err(ConfigError {
                    path: self.path.clone(),
                    line: Some(entry.line),
                    problem: Box::new(Problem::UnknownRule {
                        rule: entry.rule.clone(),
                        suggestion: nearest(&entry.rule, known.iter().map(String::as_str)),
                        known: known.join(", "),
                    }),
                });
            }
        }
        Ok(())
    }
}

/// The flags of `lint` that a configuration file can set too.
#[derive(Clone, Debug, Default)]
pub(crate) struct LintFlags {
    /// `--select`; empty if not given.
    pub(crate) select: Vec<String>,
    /// `--ignore`; empty if not given.
    pub(crate) ignore: Vec<String>,
    /// `--pattern-pack`
    pub(crate) pattern_packs: Vec<PathBuf>,
    /// `--fail-on`
    pub(crate) fail_on: Option<Severity>,
    /// `--require-redaction`
    pub(crate) require_redaction: Option<String>,
    /// `--entropy`, `--no-entropy`
    pub(crate) entropy: Option<bool>,
    /// `--entropy-min-bits`
    pub(crate) min_bits: Option<f64>,
    /// `--entropy-min-length`
    pub(crate) min_length: Option<usize>,
    /// `--entropy-allow`; empty if not given.
    pub(crate) allow: Vec<String>,
}

/// What `lint` goes by: flags over configuration over defaults.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LintSettings {
    /// Only these rules run; empty for all.
    pub(crate) select: RuleList,
    /// These rules do not run.
    pub(crate) ignore: RuleList,
    /// Packs of the configuration, then those of the flags.
    pub(crate) pattern_packs: Vec<PathBuf>,
    /// The least severity that fails.
    pub(crate) fail_on: Severity,
    /// The redaction profile that every cassette must name.
    pub(crate) require_redaction: Option<String>,
    /// Thresholds of rule R005.
    pub(crate) entropy: EntropySettings,
    /// Findings that were looked at.
    pub(crate) accept: Vec<Accept>,
}

/// Rule ids, and where they were given.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RuleList {
    /// The ids.
    pub(crate) ids: Vec<String>,
    /// For messages: `--select`, or `select in pyproject.toml:3`.
    pub(crate) origin: String,
}

/// Thresholds of rule R005.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct EntropySettings {
    /// Whether strings are judged by their entropy at all.
    pub(crate) enabled: bool,
    /// Bits a character.
    pub(crate) min_bits: f64,
    /// Characters.
    pub(crate) min_length: usize,
    /// Strings that are never reported.
    pub(crate) allow: Vec<String>,
}

impl LintSettings {
    /// Flags replace what the configuration says; packs add up, because a pack
    /// that a project requires must not be lost by adding another.
    pub(crate) fn merge(config: &Config, flags: &LintFlags) -> Self {
        let lint = &config.lint;
        let entropy = &lint.entropy;
        let rules = |flag: &[String], name: &str, key: &Option<Located<Vec<String>>>| {
            if !flag.is_empty() {
                return RuleList {
                    ids: flag.to_vec(),
                    origin: format!("--{name}"),
                };
            }
            key.as_ref()
                .map_or_else(RuleList::default, |list| RuleList {
                    ids: list.value.clone(),
                    origin: format!("{name} in {}", place(&config.path, Some(list.line))),
                })
        };
        LintSettings {
            select: rules(&flags.select, "select", &lint.select),
            ignore: rules(&flags.ignore, "ignore", &lint.ignore),
            pattern_packs: [&*lint.pattern_packs, &*flags.pattern_packs].concat(),
            fail_on: flags.fail_on.or(lint.fail_on).unwrap_or(Severity::Error),
            require_redaction: flags
                .require_redaction
                .clone()
                .or_else(|| lint.require_redaction.clone()),
            entropy: EntropySettings {
                enabled: flags.entropy.or(entropy.enabled).unwrap_or(true),
                // gate.md, R005: 3.5 bits and 20 characters, as in 0.4.0.
                min_bits: flags.min_bits.or(entropy.min_bits).unwrap_or(3.5),
                min_length: flags.min_length.or(entropy.min_length).unwrap_or(20),
                allow: if flags.allow.is_empty() {
                    entropy.allowlist.clone().unwrap_or_default()
                } else {
                    flags.allow.clone()
                },
            },
            accept: config.accept.clone(),
        }
    }
}

#[cfg(test)]
mod tests;
