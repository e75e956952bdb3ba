//! The manifest: which rules scrubbed a recording, never what they found.
//!
//! Replay applies the recording's own rules to live requests, so that everything about
//! them must be in here or reachable from here. The members up to `applied_at` are those
//! of 0.4.0; without `structural` and `ruleset` the rules are those of 0.4.0.

use super::locator::{GLOBS_OF_0_4_0, REDACTED, Structural};
use super::pack::{self, Pack};
use super::pseudonym::{Salt, pack_hash};
use super::redactor::{PackEntry, Parts, Redactor};
use super::{RedactError, bundled};
use crate::pattern::PackSource;
use crate::wire::json::write_string;
use serde::Deserialize;

/// What the structural rules of this version mean.
const RULESET: u32 = 2;

/// In front of a glob that only 0.4.0 applied to the recording.
const PAST: &str = "0.4.0:";

/// A manifest as a cassette holds it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct Manifest {
    #[serde(default)]
    pub(crate) profile: Option<String>,
    #[serde(default)]
    pub(super) backends: Vec<String>,
    #[serde(default)]
    pub(super) packs: Vec<Entry>,
    #[serde(default)]
    pub(super) rule_ids: Vec<String>,
    #[serde(default = "stable")]
    pub(super) salt_mode: String,
    #[serde(default)]
    pub(super) applied_at: Option<String>,
    #[serde(default)]
    pub(super) structural: Option<Vec<Locator>>,
    #[serde(default)]
    pub(super) ruleset: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Entry {
    pub(super) id: String,
    #[serde(default, deserialize_with = "or_empty")]
    pub(super) path: String,
    pub(super) sha256: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Locator {
    pub(super) locator: String,
    pub(super) replacement: String,
}

/// 0.4.0 may write null for a pack that was no file.
fn or_empty<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

fn stable() -> String {
    "stable".to_owned()
}

/// Where packs come from.
#[derive(Clone, Copy)]
pub(crate) struct PackFiles<'a> {
    /// Files that were given: their names and bytes.
    pub(crate) given: &'a [(String, Vec<u8>)],
    /// Reads the file that a manifest names, if there is one.
    pub(crate) read: &'a dyn Fn(&str) -> Option<Vec<u8>>,
}

impl Manifest {
    /// Reads the JSON text of a manifest.
    ///
    /// # Errors
    ///
    /// A member of the wrong type, and rules of a later version.
    pub(crate) fn parse(json: &str) -> Result<Manifest, RedactError> {
        let what = "it does not have the members that this version knows, or other types";
        let damaged = |_| RedactError::Manifest { what };
        let manifest: Manifest = serde_json::from_str(json).map_err(damaged)?;
        if manifest.ruleset.is_some_and(|ruleset| ruleset > RULESET) {
            let what = "its rules are of a newer version of mcp-cassette";
            return Err(RedactError::Manifest { what });
        }
        Ok(manifest)
    }

    /// Whether it was written by 0.4.0.
    pub(super) fn is_past(&self) -> bool {
        self.structural.is_none()
    }

    /// Whether structural rules were among what ran.
    pub(super) fn names_structural(&self) -> bool {
        self.backends.iter().any(|backend| backend == "structural")
    }

    /// The packs that it names.
    ///
    /// # Errors
    ///
    /// A pack that is nowhere, or whose file has mistakes.
    pub(super) fn resolve(&self, files: PackFiles<'_>) -> Result<Vec<Pack>, RedactError> {
        self.packs
            .iter()
            .map(|entry| entry.resolve(files))
            .collect()
    }

    /// Whether it names a file of these bytes.
    pub(crate) fn names_pack(&self, bytes: &[u8]) -> bool {
        let hash = pack_hash(bytes);
        self.packs.iter().any(|entry| entry.sha256 == hash)
    }

    /// The same as JSON on one line, or on many: then `newline` is the line feed and the
    /// indentation of the line that the manifest begins on.
    pub(super) fn to_json(&self, newline: Option<&str>) -> String {
        let string = |text: &str| {
            let mut out = String::new();
            write_string(text, &mut out);
            out
        };
        let optional = |text: &Option<String>| match text {
            Some(text) => string(text),
            None => "null".to_owned(),
        };
        let strings = |list: &[String]| list.iter().map(|text| string(text)).collect();
        let deeper = |by: &str| newline.map(|newline| format!("{newline}{by}"));
        let (member, item, inner) = (deeper("  "), deeper("    "), deeper("      "));
        let packs = self.packs.iter().map(|entry| {
            let Entry { id, path, sha256 } = entry;
            object(
                &[
                    ("id", string(id)),
                    ("path", string(path)),
                    ("sha256", string(sha256)),
                ],
                inner.as_deref(),
            )
        });
        let locators = self.structural.iter().flatten().map(|rule| {
            let (locator, replacement) = (string(&rule.locator), string(&rule.replacement));
            let members = [("locator", locator), ("replacement", replacement)];
            object(&members, inner.as_deref())
        });
        let list = |items: Vec<String>| enclosed('[', &items, ']', item.as_deref());
        let mut members = vec![
            ("profile", optional(&self.profile)),
            ("backends", list(strings(&self.backends))),
            ("packs", list(packs.collect())),
            ("rule_ids", list(strings(&self.rule_ids))),
            ("salt_mode", string(&self.salt_mode)),
            ("applied_at", optional(&self.applied_at)),
        ];
        if self.structural.is_some() {
            members.push(("structural", list(locators.collect())));
        }
        if let Some(ruleset) = self.ruleset {
            members.push(("ruleset", ruleset.to_string()));
        }
        object(&members, member.as_deref())
    }

    /// The same on one line.
    pub(crate) fn to_line(&self) -> String {
        self.to_json(None)
    }

    /// What this and a later run over the same recording come to.
    ///
    /// # Errors
    ///
    /// The two would have pseudonyms of different salts.
    pub(super) fn extended(self, later: Manifest) -> Result<Manifest, RedactError> {
        let keyed = !self.packs.is_empty() && !later.packs.is_empty();
        if keyed && self.salt_mode != later.salt_mode {
            let (wanted, fix) = match later.salt_mode.as_str() {
                "stable" => (
                    "stable",
                    "give the salt with --redact-salt-env or --redact-salt-file",
                ),
                _ => ("keyed", "leave the salt out, or re-record"),
            };
            let found = self.salt_mode;
            return Err(RedactError::SaltDiffers { found, wanted, fix });
        }
        let past = self.is_past() && self.names_structural();
        let mut structural: Vec<Locator> = self.structural.unwrap_or_default();
        if past {
            structural.extend(GLOBS_OF_0_4_0.iter().map(|glob| Locator {
                locator: format!("{PAST}{glob}"),
                replacement: REDACTED.to_owned(),
            }));
        }
        let salt_mode = match self.packs.is_empty() {
            true => later.salt_mode,
            false => self.salt_mode,
        };
        Ok(Manifest {
            profile: later.profile.or(self.profile),
            backends: union(self.backends, later.backends),
            packs: union(self.packs, later.packs),
            rule_ids: union(self.rule_ids, later.rule_ids),
            salt_mode,
            applied_at: later.applied_at,
            structural: Some(union(structural, later.structural.unwrap_or_default())),
            ruleset: Some(RULESET),
        })
    }

    /// Whether the two name the same rules, whenever they were applied.
    pub(super) fn is_same_as(&self, other: &Manifest) -> bool {
        let undated = |manifest: &Manifest| Manifest {
            applied_at: None,
            ..manifest.clone()
        };
        undated(self) == undated(other)
    }
}

impl Entry {
    fn resolve(&self, files: PackFiles<'_>) -> Result<Pack, RedactError> {
        let fits = |bytes: &[u8]| pack_hash(bytes) == self.sha256;
        let given = files.given.iter().find(|(_, bytes)| fits(bytes));
        if let Some((name, bytes)) = given {
            return Ok(pack::load(PackSource { name, bytes })?);
        }
        if let Some(bundled) = bundled::by_hash(&self.sha256) {
            return Ok(bundled?);
        }
        let recorded = (files.read)(&self.path).filter(|bytes| fits(bytes));
        match recorded {
            Some(bytes) => {
                let name = &self.path;
                let bytes = &bytes;
                Ok(pack::load(PackSource { name, bytes })?)
            }
            None => Err(RedactError::UnresolvedPack {
                id: self.id.clone(),
                sha256: self.sha256.clone(),
                path: self.path.clone(),
            }),
        }
    }
}

impl Redactor {
    /// The rules of a recording, for live requests to it. `salt` is what was given for a
    /// recording with keyed pseudonyms.
    ///
    /// # Errors
    ///
    /// A pack that cannot be resolved, a salt that is missing.
    pub(crate) fn from_manifest(
        manifest: &Manifest,
        files: PackFiles<'_>,
        salt: Option<Salt>,
    ) -> Result<Redactor, RedactError> {
        let salt = match (manifest.salt_mode.as_str(), salt) {
            ("stable", _) => Salt::stable(),
            // Without a pack there are no pseudonyms.
            _ if manifest.packs.is_empty() => Salt::stable(),
            (_, Some(salt)) => salt,
            (mode, None) => {
                let mode = mode.to_owned();
                return Err(RedactError::MissingSalt { mode });
            }
        };
        let structural = match &manifest.structural {
            None if manifest.names_structural() => GLOBS_OF_0_4_0
                .iter()
                .map(|glob| Structural::new(glob, REDACTED))
                .collect::<Result<Vec<_>, _>>()?,
            None => Vec::new(),
            Some(rules) => rules
                .iter()
                .map(|rule| {
                    let locator = rule.locator.strip_prefix(PAST).unwrap_or(&rule.locator);
                    Structural::new(locator, &rule.replacement)
                })
                .collect::<Result<Vec<_>, _>>()?,
        };
        Redactor::assemble(Parts {
            structural,
            packs: manifest.resolve(files)?,
            profile: manifest.profile.clone(),
            salt,
            past: manifest.is_past(),
        })
    }

    /// The manifest of what this redactor does. `applied_at` is RFC 3339.
    pub(crate) fn manifest(&self, applied_at: &str) -> Manifest {
        let mut backends = vec!["structural".to_owned()];
        if !self.packs.is_empty() {
            backends.push("regex-pii".to_owned());
        }
        let entry = |pack: &PackEntry| Entry {
            id: pack.id.clone(),
            path: pack.path.clone(),
            sha256: pack.sha256.clone(),
        };
        let locator = |rule: &Structural| Locator {
            locator: rule.locator.clone(),
            replacement: rule.replacement.clone(),
        };
        Manifest {
            profile: self.profile.clone(),
            backends,
            packs: self.packs.iter().map(entry).collect(),
            rule_ids: self.rule_ids.clone(),
            salt_mode: self.salt.mode().to_owned(),
            applied_at: Some(applied_at.to_owned()),
            structural: Some(self.locators.rules().iter().map(locator).collect()),
            ruleset: Some(RULESET),
        }
    }
}

fn union<T: PartialEq>(mut first: Vec<T>, second: Vec<T>) -> Vec<T> {
    for item in second {
        if !first.contains(&item) {
            first.push(item);
        }
    }
    first
}

fn object(members: &[(&str, String)], newline: Option<&str>) -> String {
    let items: Vec<String> = members
        .iter()
        .map(|(name, value)| format!("\"{name}\": {value}"))
        .collect();
    enclosed('{', &items, '}', newline)
}

/// Items between brackets; `newline` is what stands before each, two blanks deeper than
/// the bracket that closes.
fn enclosed(open: char, items: &[String], close: char, newline: Option<&str>) -> String {
    match newline {
        _ if items.is_empty() => format!("{open}{close}"),
        None => format!("{open}{}{close}", items.join(", ")),
        Some(newline) => {
            let outer = newline.strip_suffix("  ").unwrap_or(newline);
            let items = items.join(&format!(",{newline}"));
            format!("{open}{newline}{items}{outer}{close}")
        }
    }
}
