//! Reads redaction packs: TOML files that say what in free text is personal or secret.

use super::pseudonym::pack_hash;
use super::validate::Validator;
use crate::pattern::{
    Fields, Layout, Matcher, Mistake, PackError, PackKind, PackSource, Problem, Rule, read_pack,
};

/// Rules in one pack; each may be run over every text.
const MAX_RULES: usize = 1000;

/// Estimated memory of all compiled patterns of one pack, in bytes.
const MAX_COMPILED: u64 = 64 * 1024 * 1024;

const LAYOUT: Layout = Layout {
    kind: PackKind::Redaction,
    top: &["version", "id", "rules"],
    list: "rules",
    rule: &[
        "id",
        "label",
        "regex",
        "flags",
        "strategy",
        "replacement",
        "direction",
        "validator",
        "class",
    ],
};

/// What packs of our own may say besides; `packs/common.toml` explains it.
const BUNDLED_LAYOUT: Layout = Layout {
    kind: PackKind::Redaction,
    top: &["version", "id", "rules", "secrets"],
    list: "rules",
    rule: &[
        "id",
        "label",
        "regex",
        "flags",
        "strategy",
        "replacement",
        "direction",
        "validator",
        "class",
        "anchor",
        "digits",
        "numbers",
        "examples",
        "negatives",
    ],
};

/// A pack as it was read.
#[derive(Debug)]
pub(super) struct Pack {
    pub(super) id: String,
    /// The file, or `builtin:` and the id.
    pub(super) path: String,
    pub(super) sha256: String,
    pub(super) rules: Vec<PackRule>,
    /// Whether the detectors of `secrets` belong to it.
    pub(super) secrets: bool,
}

/// One rule of a pack.
#[derive(Debug)]
pub(super) struct PackRule {
    /// `pack/rule`.
    pub(super) id: String,
    pub(super) label: String,
    pub(super) matcher: Matcher,
    pub(super) strategy: Strategy,
    /// What `replace` writes instead of the marker.
    pub(super) replacement: Option<String>,
    /// Whether the client's messages are left alone.
    pub(super) server_only: bool,
    pub(super) validator: Validator,
    pub(super) class: Class,
    pub(super) needs: Needs,
    /// Whether whole JSON numbers count.
    pub(super) numbers: bool,
    /// Texts in which it finds something, and texts in which no rule does.
    #[cfg(test)]
    pub(super) samples: (Vec<String>, Vec<String>),
}

/// What is written in place of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strategy {
    /// `<LABEL>_` and a pseudonym.
    Hash,
    /// `<LABEL>` or the rule's own text.
    Replace,
    /// Bullets, and the last four characters.
    Mask,
}

/// Where a rule applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Everywhere, definitions and member names included.
    Secret,
    /// In data.
    Personal,
}

/// What a text must have for a rule to be tried on it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Needs {
    pub(super) anchor: Option<u8>,
    pub(super) digits: usize,
}

/// Reads a pack of the user's.
pub(super) fn load(source: PackSource<'_>) -> Result<Pack, PackError> {
    read(source, LAYOUT)
}

/// Reads a pack of our own.
pub(super) fn load_bundled(source: PackSource<'_>) -> Result<Pack, PackError> {
    read(source, BUNDLED_LAYOUT)
}

struct Reader {
    pack: Pack,
    bundled: bool,
    compiled: u64,
}

fn read(source: PackSource<'_>, layout: Layout) -> Result<Pack, PackError> {
    let mut reader = Reader {
        pack: Pack {
            id: String::new(),
            path: source.name.to_owned(),
            sha256: pack_hash(source.bytes),
            rules: Vec::new(),
            secrets: false,
        },
        bundled: layout.top.contains(&"secrets"),
        compiled: 0,
    };
    let head = |reader: &mut Reader, fields: &Fields<'_, '_>| {
        reader.pack.id = name(fields, "pack")?;
        reader.pack.secrets = fields.place("secrets").is_some();
        Ok(())
    };
    read_pack(source, layout, &mut reader, head, Reader::add)?;
    Ok(reader.pack)
}

/// An id, which stands in manifests and in front of pseudonyms.
fn name(fields: &Fields<'_, '_>, what: &'static str) -> Result<String, Mistake> {
    let (id, at) = fields.required("id")?;
    let mut bytes = id.bytes();
    let well_formed = id.len() <= 32
        && bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic())
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    if well_formed {
        return Ok(id.to_owned());
    }
    let id = id.to_owned();
    Err((Problem::InvalidName { what, id }, Some(at)))
}

impl Reader {
    fn add(&mut self, mut fields: Fields<'_, '_>) -> Result<(), Mistake> {
        if self.pack.rules.len() >= MAX_RULES {
            let limit = MAX_RULES;
            return Err((Problem::TooMany { limit }, Some(fields.whole)));
        }
        let own = name(&fields, "rule")?;
        fields.rule = Rule::Id(own.clone());
        fields.check_keys()?;
        let id = format!("{}/{own}", self.pack.id);
        if self.pack.rules.iter().any(|rule| rule.id == id) {
            let first = self.pack.path.clone();
            return Err((Problem::DuplicateId { id: own, first }, fields.place("id")));
        }
        let label = label(&fields)?;
        let matcher = fields.matcher()?;
        self.compiled = self.compiled.saturating_add(matcher.compiled_bytes());
        if self.compiled > MAX_COMPILED {
            let rule = fields.rule.clone();
            return Err((Problem::TooLargeTogether { rule }, Some(fields.whole)));
        }
        let server_only = fields
            .one_of("direction", &[("both", false), ("server", true)])?
            .unwrap_or(false);
        let words: &[(&'static str, Validator)] = match self.bundled {
            true => &Validator::BUNDLED_WORDS,
            false => &Validator::WORDS,
        };
        self.pack.rules.push(PackRule {
            id,
            label,
            matcher,
            strategy: strategy(&fields, server_only)?,
            replacement: replacement(&fields)?,
            server_only,
            validator: fields
                .one_of("validator", words)?
                .unwrap_or(Validator::None),
            class: fields
                .one_of(
                    "class",
                    &[("secret", Class::Secret), ("pii", Class::Personal)],
                )?
                .unwrap_or(Class::Personal),
            needs: needs(&fields)?,
            numbers: fields.place("numbers").is_some(),
            #[cfg(test)]
            samples: (
                strings(&fields, "examples")?,
                strings(&fields, "negatives")?,
            ),
        });
        Ok(())
    }
}

/// A label stands between `<` and `>` in markers, which must be known again.
fn label(fields: &Fields<'_, '_>) -> Result<String, Mistake> {
    let (label, at) = fields.required("label")?;
    let odd = |c: char| c.is_control() || matches!(c, '<' | '>');
    if label.is_empty() || label.len() > 64 || label.contains(odd) {
        let rule = fields.rule.clone();
        let what = "`label` must be 1-64 bytes without `<`, `>` and control characters";
        return Err((Problem::Unusable { rule, what }, Some(at)));
    }
    Ok(label.to_owned())
}

/// Requests are matched by what is written for them, so that both directions ask for
/// pseudonyms; what only the server sends can lose more.
fn strategy(fields: &Fields<'_, '_>, server_only: bool) -> Result<Strategy, Mistake> {
    let words = [
        ("replace", Strategy::Replace),
        ("hash", Strategy::Hash),
        ("mask", Strategy::Mask),
    ];
    let default = match server_only {
        true => Strategy::Replace,
        false => Strategy::Hash,
    };
    Ok(fields.one_of("strategy", &words)?.unwrap_or(default))
}

fn replacement(fields: &Fields<'_, '_>) -> Result<Option<String>, Mistake> {
    let text = fields.string("replacement")?;
    Ok(text.map(|(text, _)| text.to_owned()))
}

fn needs(fields: &Fields<'_, '_>) -> Result<Needs, Mistake> {
    let anchor = fields.string("anchor")?;
    Ok(Needs {
        anchor: anchor.and_then(|(text, _)| text.bytes().next()),
        digits: fields.number("digits")?.unwrap_or(0),
    })
}

#[cfg(test)]
fn strings(fields: &Fields<'_, '_>, key: &str) -> Result<Vec<String>, Mistake> {
    let list = fields.strings(key)?.unwrap_or_default();
    Ok(list.into_iter().map(|(text, _)| text.to_owned()).collect())
}
