//! Reads pattern packs and checks every key and value.

use std::collections::BTreeMap;

use crate::pattern::{Fields, Layout, Mistake, PackError, PackKind, Problem, Rule, read_pack};

use super::{PackSet, PackSeverity, PackSource, PackSurface, Pattern};

/// Patterns over all packs; each is run over every text of its surfaces.
const MAX_PATTERNS: usize = 1000;

/// Estimated memory of all compiled patterns together, in bytes.
const MAX_COMPILED: u64 = 128 * 1024 * 1024;

const LAYOUT: Layout = Layout {
    kind: PackKind::Pattern,
    top: &["version", "patterns"],
    list: "patterns",
    rule: &[
        "id", "label", "regex", "flags", "severity", "surfaces", "message",
    ],
};

/// Reads packs. Patterns keep the order of the packs and of their lines.
///
/// # Errors
///
/// The first mistake in the first pack that has one.
pub(crate) fn load(sources: &[PackSource<'_>]) -> Result<PackSet, PackError> {
    let mut loader = Loader::default();
    for source in sources {
        let add = |loader: &mut Loader, fields: Fields<'_, '_>| loader.add(fields, source.name);
        read_pack(*source, LAYOUT, &mut loader, |_, _| Ok(()), add)?;
    }
    Ok(PackSet {
        patterns: loader.patterns,
    })
}

#[derive(Default)]
struct Loader {
    patterns: Vec<Pattern>,
    /// Where each id was defined.
    owners: BTreeMap<String, String>,
    compiled: u64,
}

impl Loader {
    fn add(&mut self, mut fields: Fields<'_, '_>, file: &str) -> Result<(), Mistake> {
        if self.patterns.len() >= MAX_PATTERNS {
            return Err((
                Problem::TooMany {
                    limit: MAX_PATTERNS,
                },
                Some(fields.whole),
            ));
        }
        // The id first, so that the other messages can name it.
        let id = self.id(&mut fields, file)?;
        fields.check_keys()?;
        let label = fields.required("label")?.0.to_owned();
        let matcher = fields.matcher()?;
        self.compiled = self.compiled.saturating_add(matcher.compiled_bytes());
        if self.compiled > MAX_COMPILED {
            let rule = fields.rule.clone();
            return Err((Problem::TooLargeTogether { rule }, Some(fields.whole)));
        }
        let message = fields
            .string("message")?
            .map(|(message, _)| message.to_owned());
        self.patterns.push(Pattern {
            id,
            label,
            severity: severity(&fields)?,
            surfaces: surfaces(&fields)?,
            message: message.filter(|message| !message.is_empty()),
            matcher,
        });
        Ok(())
    }

    fn id(&mut self, fields: &mut Fields<'_, '_>, file: &str) -> Result<String, Mistake> {
        let (id, at) = fields.required("id")?;
        let id = id.to_owned();
        let mut bytes = id.bytes();
        let well_formed = bytes.next().is_some_and(|b| b.is_ascii_alphabetic())
            && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
            && id.len() <= 16;
        let problem = if id.starts_with('R') {
            Problem::ReservedId(id)
        } else if !well_formed {
            Problem::InvalidId(id)
        } else if let Some(first) = self.owners.get(&id) {
            Problem::DuplicateId {
                id,
                first: first.clone(),
            }
        } else {
            self.owners.insert(id.clone(), file.to_owned());
            fields.rule = Rule::Id(id.clone());
            return Ok(id);
        };
        Err((problem, Some(at)))
    }
}

fn severity(fields: &Fields<'_, '_>) -> Result<PackSeverity, Mistake> {
    let words = PackSeverity::ALL.map(|severity| (severity.as_str(), severity));
    let severity = fields.one_of("severity", &words)?;
    Ok(severity.unwrap_or(PackSeverity::Error))
}

fn surfaces(fields: &Fields<'_, '_>) -> Result<Vec<PackSurface>, Mistake> {
    let Some(names) = fields.strings("surfaces")? else {
        return Ok(PackSurface::DEFAULT.to_vec());
    };
    let mut surfaces = Vec::new();
    for (found, at) in names {
        match PackSurface::ALL
            .into_iter()
            .find(|known| known.as_str() == found)
        {
            Some(surface) => surfaces.push(surface),
            None => {
                let (rule, found) = (fields.rule.clone(), found.to_owned());
                let known = PackSurface::ALL.map(PackSurface::as_str).to_vec();
                return Err((Problem::UnknownSurface { rule, found, known }, Some(at)));
            }
        }
    }
    if surfaces.is_empty() {
        let at = fields.place("surfaces");
        return Err((
            Problem::NoSurfaces {
                rule: fields.rule.clone(),
            },
            at,
        ));
    }
    surfaces.sort_unstable();
    surfaces.dedup();
    Ok(surfaces)
}
