//! One cassette, and what in it is hostile, secret or not what it seems.
//!
//! [`surfaces`](self) hands every recorded text to the rules in `rules/`, each of
//! which is one file; patterns of packs look at the same texts. What they find
//! becomes a [`Report`] with places in the file.

mod ansi;
mod baseline;
mod disguise;
mod drift;
mod encoded;
mod findings;
mod fold;
mod hints;
mod invisible;
mod lookalike;
mod names;
mod pack_patterns;
pub(crate) mod packs;
mod padding;
mod reading;
mod rewritten;
pub(crate) mod rules;
mod run;
mod signals;
mod silence;
mod stray;
mod stray_order;
mod surfaces;
#[cfg(test)]
mod tests;
mod together;

pub use crate::secrets::Entropy;
pub(crate) use baseline::Baseline;
pub(crate) use run::lint_cassette;
pub use silence::Accept;
pub(crate) use silence::{
    counts_one_by_one, mark_accepted, mark_all_existing, mark_existing, unused,
};

use crate::cassette::{Cassette, LoadError};
use crate::finding::Report;
use crate::pattern::PackError;
use crate::regular_file::{self, LARGEST_BY_HAND};
use packs::{PackSet, PackSource};
use std::path::{Path, PathBuf};

/// What to look for in a cassette, and what to leave out.
///
/// The default is every rule of ours, no pack and no baseline.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Ids of rules and pack patterns to run; empty means all.
    pub select: Vec<String>,
    /// Ids of rules and pack patterns to skip; selection wins.
    pub ignore: Vec<String>,
    /// Pattern packs to load besides the rules.
    pub pattern_packs: Vec<PathBuf>,
    /// An older recording of the same server to compare definitions with.
    pub baseline: Option<PathBuf>,
    /// When a string is random enough to be taken for a secret.
    pub entropy: Entropy,
    /// Findings that somebody looked at and accepted.
    pub accept: Vec<Accept>,
    /// Count findings that the baseline has too.
    pub all: bool,
    /// Today's date as `YYYY-MM-DD`, to let accept entries expire.
    pub today: Option<String>,
}

/// Why a cassette could not be linted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LintError {
    /// The cassette or its baseline could not be loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A pattern pack could not be read.
    #[error("cannot read the pattern pack {}: {source}", path.display())]
    ReadPack {
        /// The pack.
        path: PathBuf,
        /// What went wrong.
        source: std::io::Error,
    },
    /// A pattern pack is not valid.
    #[error("{0}")]
    Pack(String),
    /// `select` or `ignore` names a rule that there is none of.
    #[error("unknown rule id {}; valid ids are {}", quote_all(unknown), valid.join(", "))]
    UnknownRule {
        /// The ids that nothing has.
        unknown: Vec<String>,
        /// The ids that there are.
        valid: Vec<String>,
    },
}

/// The bytes of a pattern pack.
pub(crate) fn read_pack(path: &Path) -> Result<Vec<u8>, LintError> {
    regular_file::read(path, LARGEST_BY_HAND).map_err(|source| LintError::ReadPack {
        path: path.to_owned(),
        source,
    })
}

fn quote_all(ids: &[String]) -> String {
    ids.iter()
        .map(|id| format!("'{id}'"))
        .collect::<Vec<_>>()
        .join(", ")
}

impl From<PackError> for LintError {
    fn from(error: PackError) -> Self {
        LintError::Pack(error.to_string())
    }
}

/// Lints a cassette.
///
/// ```
/// use mcp_cassette::lint::Options;
///
/// let report = mcp_cassette::lint("examples/cassettes/tools-v2.mcp.json", &Options::default())?;
/// let finding = &report.findings[0];
/// assert_eq!(finding.rule.as_str(), "R001");
/// assert_eq!(finding.locator, "/messages/4/payload/result/tools/0/description");
/// # Ok::<(), mcp_cassette::lint::LintError>(())
/// ```
///
/// # Errors
///
/// Whatever could not be read is an error, never a report without findings.
pub fn lint(path: impl AsRef<Path>, options: &Options) -> Result<Report, LintError> {
    let settings = Settings::new(options)?;
    let cassette = Cassette::load(path)?;
    let baseline = options.baseline.as_ref().map(Cassette::load).transpose()?;
    Ok(lint_cassette(&cassette, baseline.as_ref(), &settings))
}

/// [`Options`] with packs loaded and ids checked.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    pub(crate) select: Vec<String>,
    pub(crate) ignore: Vec<String>,
    pub(crate) packs: PackSet,
    pub(crate) entropy: Entropy,
    pub(crate) accept: Vec<Accept>,
    /// Entries that only the change under review has; they excuse nothing yet.
    pub(crate) pending: Vec<Accept>,
    pub(crate) all: bool,
    pub(crate) today: Option<String>,
}

impl Settings {
    /// Reads the packs and checks that every id names something.
    pub(crate) fn new(options: &Options) -> Result<Settings, LintError> {
        let mut files = Vec::new();
        for path in &options.pattern_packs {
            let bytes = read_pack(path)?;
            files.push((path.display().to_string(), bytes));
        }
        let sources: Vec<PackSource<'_>> = files
            .iter()
            .map(|(name, bytes)| PackSource { name, bytes })
            .collect();
        Settings::with_packs(options, packs::load(&sources)?)
    }

    /// With packs that were loaded already.
    pub(crate) fn with_packs(options: &Options, packs: PackSet) -> Result<Settings, LintError> {
        let valid = valid_ids(&packs);
        refuse_unknown(options.select.iter().chain(&options.ignore), valid)?;
        let accepted = options.accept.iter().map(|entry| &entry.rule);
        refuse_unknown(accepted, acceptable_ids(&packs))?;
        Ok(Settings {
            select: options.select.clone(),
            ignore: options.ignore.clone(),
            packs,
            entropy: options.entropy.clone(),
            accept: options.accept.clone(),
            pending: Vec::new(),
            all: options.all,
            today: options.today.clone(),
        })
    }

    /// Whether a rule or pattern runs. What could not be checked is always told.
    pub(crate) fn applies(&self, id: &str) -> bool {
        let named = |list: &[String]| list.iter().any(|entry| entry == id);
        if id == rules::UNCHECKED.info.id {
            true
        } else if self.select.is_empty() {
            !named(&self.ignore)
        } else {
            named(&self.select)
        }
    }

    /// Notes about the selection itself.
    pub(crate) fn notes(&self) -> Vec<String> {
        let both = self.select.iter().filter(|id| self.ignore.contains(id));
        let mut notes: Vec<String> = both
            .map(|id| format!("rule {id} is both selected and ignored; selection wins"))
            .collect();
        let unchecked = rules::UNCHECKED.info.id;
        if self.ignore.iter().any(|id| id == unchecked) {
            notes.push(format!(
                "rule {unchecked} cannot be ignored: it says what was not checked"
            ));
        }
        notes
    }
}

fn refuse_unknown<'o>(
    named: impl Iterator<Item = &'o String>,
    valid: Vec<String>,
) -> Result<(), LintError> {
    let unknown: Vec<String> = named.filter(|id| !valid.contains(id)).cloned().collect();
    if unknown.is_empty() {
        Ok(())
    } else {
        Err(LintError::UnknownRule { unknown, valid })
    }
}

/// Every id that an accept entry may name: findings of the other checks can be
/// accepted as well.
fn acceptable_ids(packs: &PackSet) -> Vec<String> {
    let others = crate::diff::rules::ALL.iter();
    let others = others.chain([&crate::redact::LEFT_OVER]);
    let mut ids = valid_ids(packs);
    ids.extend(others.map(|rule| rule.id.to_owned()));
    ids
}

/// Every id that `select` and `ignore` may name.
pub(crate) fn valid_ids(packs: &PackSet) -> Vec<String> {
    let bundled = rules::ALL.iter().map(|rule| rule.info.id.to_owned());
    bundled
        .chain(packs.patterns().iter().map(|pattern| pattern.id.clone()))
        .collect()
}
