//! Reads packs from TOML and checks every key and value.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeInteger, DeString, DeTable, DeValue};

use crate::pattern::{Flags, Matcher, PackError, Problem, Rule};

use super::{PackSet, PackSeverity, PackSource, PackSurface, Pattern};

/// Larger packs are refused before they are parsed.
const MAX_BYTES: usize = 1024 * 1024;

/// Patterns over all packs; each is run over every text of its surfaces.
const MAX_PATTERNS: usize = 1000;

/// Estimated memory of all compiled patterns together, in bytes.
const MAX_COMPILED: u64 = 128 * 1024 * 1024;

const TOP_LEVEL_KEYS: &[&str] = &["version", "patterns"];
const PATTERN_KEYS: &[&str] = &[
    "id", "label", "regex", "flags", "severity", "surfaces", "message",
];

/// Reads packs. Patterns keep the order of the packs and of their lines.
///
/// # Errors
///
/// The first mistake in the first pack that has one.
pub(crate) fn load(sources: &[PackSource<'_>]) -> Result<PackSet, PackError> {
    let mut loader = Loader::default();
    for source in sources {
        loader.read(*source)?;
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

/// A string and the place of it in the pack, in bytes.
type Placed<'t> = (&'t str, Range<usize>);

/// A mistake and the place of it.
type Mistake = (Problem, Option<Range<usize>>);

impl Loader {
    fn read(&mut self, source: PackSource<'_>) -> Result<(), PackError> {
        self.read_table(source).map_err(|(problem, at)| PackError {
            file: source.name.to_owned(),
            line: at.map(|at| line_of(source.bytes, at.start)),
            problem,
        })
    }

    fn read_table(&mut self, source: PackSource<'_>) -> Result<(), Mistake> {
        if source.bytes.len() > MAX_BYTES {
            return Err((Problem::TooLarge { limit: MAX_BYTES }, None));
        }
        let text = std::str::from_utf8(source.bytes).map_err(|error| {
            let at = error.valid_up_to();
            (Problem::NotUtf8, Some(at..at))
        })?;
        let document = DeTable::parse(text)
            .map_err(|error| (Problem::Toml(error.message().to_owned()), error.span()))?;
        let table = document.get_ref();
        // The version comes first: another version may have other keys.
        check_version(table)?;
        for key in table.keys() {
            if !TOP_LEVEL_KEYS.contains(&key.get_ref().as_ref()) {
                let (key, known) = (key.get_ref().to_string(), TOP_LEVEL_KEYS);
                return Err(at_key(table, Problem::UnknownTopLevelKey { key, known }));
            }
        }
        let Some(patterns) = table.get("patterns") else {
            return Ok(());
        };
        let Some(list) = patterns.get_ref().as_array() else {
            let found = patterns.get_ref().type_str();
            return Err((Problem::NotPatterns { found }, Some(patterns.span())));
        };
        for (place, pattern) in list.iter().enumerate() {
            let Some(table) = pattern.get_ref().as_table() else {
                let found = pattern.get_ref().type_str();
                return Err((Problem::NotPatterns { found }, Some(pattern.span())));
            };
            let fields = Fields {
                table,
                whole: pattern.span(),
                rule: Rule::Place(place + 1),
            };
            self.add(fields, source.name)?;
        }
        Ok(())
    }

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
        let flags = fields.flags()?;
        let (regex, at) = fields.required("regex")?;
        let matcher = Matcher::compile(regex, flags).map_err(|source| {
            (
                Problem::Regex {
                    rule: fields.rule.clone(),
                    source,
                },
                Some(at),
            )
        })?;
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
            severity: fields.severity()?,
            surfaces: fields.surfaces()?,
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

fn check_version(table: &DeTable<'_>) -> Result<(), Mistake> {
    let Some(version) = table.get("version") else {
        return Err((
            Problem::Version {
                found: "none".to_owned(),
            },
            None,
        ));
    };
    let found = match version.get_ref() {
        DeValue::Integer(number) if is_one(number) => return Ok(()),
        DeValue::Integer(number) => number.to_string(),
        DeValue::String(text) => format!("\"{text}\""),
        other => format!("of type {}", other.type_str()),
    };
    Err((Problem::Version { found }, Some(version.span())))
}

fn is_one(number: &DeInteger<'_>) -> bool {
    i64::from_str_radix(number.as_str(), number.radix()) == Ok(1)
}

/// The place of an unknown top-level key.
fn at_key(table: &DeTable<'_>, problem: Problem) -> Mistake {
    let Problem::UnknownTopLevelKey { key, .. } = &problem else {
        return (problem, None);
    };
    let at = table
        .keys()
        .find(|found| found.get_ref() == key)
        .map(Spanned::span);
    (problem, at)
}

/// The table of one pattern.
struct Fields<'t, 'i> {
    table: &'t DeTable<'i>,
    whole: Range<usize>,
    rule: Rule,
}

impl<'t, 'i> Fields<'t, 'i> {
    fn check_keys(&self) -> Result<(), Mistake> {
        let unknown =
            |key: &&Spanned<DeString<'i>>| !PATTERN_KEYS.contains(&key.get_ref().as_ref());
        match self.table.keys().find(unknown) {
            None => Ok(()),
            Some(key) => {
                let (rule, at) = (self.rule.clone(), key.span());
                let key = key.get_ref().to_string();
                Err((
                    Problem::UnknownKey {
                        rule,
                        key,
                        known: PATTERN_KEYS,
                    },
                    Some(at),
                ))
            }
        }
    }

    fn required(&self, key: &'static str) -> Result<Placed<'t>, Mistake> {
        match self.string(key)? {
            Some(found) => Ok(found),
            // The key may be there under a name with a typing mistake.
            None => self.check_keys().and_then(|()| {
                let rule = self.rule.clone();
                Err((Problem::MissingKey { rule, key }, Some(self.whole.clone())))
            }),
        }
    }

    fn string(&self, key: &str) -> Result<Option<Placed<'t>>, Mistake> {
        let Some(value) = self.table.get(key) else {
            return Ok(None);
        };
        match value.get_ref().as_str() {
            Some(text) => Ok(Some((text, value.span()))),
            None => Err(self.wrong_type(key, "a string", value)),
        }
    }

    /// The strings of an array and their places.
    fn strings(&self, key: &str) -> Result<Option<Vec<Placed<'t>>>, Mistake> {
        let Some(value) = self.table.get(key) else {
            return Ok(None);
        };
        let Some(list) = value.get_ref().as_array() else {
            return Err(self.wrong_type(key, "an array of strings", value));
        };
        let strings = list.iter().map(|item| match item.get_ref().as_str() {
            Some(text) => Ok((text, item.span())),
            None => Err(self.wrong_type(key, "an array of strings", item)),
        });
        strings.collect::<Result<Vec<_>, _>>().map(Some)
    }

    fn wrong_type(
        &self,
        key: &str,
        expected: &'static str,
        value: &Spanned<DeValue<'_>>,
    ) -> Mistake {
        let (rule, key, found) = (
            self.rule.clone(),
            key.to_owned(),
            value.get_ref().type_str(),
        );
        (
            Problem::Type {
                rule,
                key,
                expected,
                found,
            },
            Some(value.span()),
        )
    }

    fn flags(&self) -> Result<Flags, Mistake> {
        let mut flags = Flags::default();
        for (letter, at) in self.strings("flags")?.unwrap_or_default() {
            match letter {
                "i" => flags.ignore_case = true,
                "m" => flags.multi_line = true,
                "s" => flags.dot_all = true,
                "x" => flags.verbose = true,
                other => {
                    let (rule, found) = (self.rule.clone(), other.to_owned());
                    return Err((Problem::UnknownFlag { rule, found }, Some(at)));
                }
            }
        }
        Ok(flags)
    }

    fn severity(&self) -> Result<PackSeverity, Mistake> {
        let Some((found, at)) = self.string("severity")? else {
            return Ok(PackSeverity::Error);
        };
        let severity = PackSeverity::ALL
            .into_iter()
            .find(|known| known.as_str() == found);
        severity.ok_or_else(|| {
            let (rule, found) = (self.rule.clone(), found.to_owned());
            let known = PackSeverity::ALL.map(PackSeverity::as_str).to_vec();
            (Problem::UnknownSeverity { rule, found, known }, Some(at))
        })
    }

    fn surfaces(&self) -> Result<Vec<PackSurface>, Mistake> {
        let Some(names) = self.strings("surfaces")? else {
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
                    let (rule, found) = (self.rule.clone(), found.to_owned());
                    let known = PackSurface::ALL.map(PackSurface::as_str).to_vec();
                    return Err((Problem::UnknownSurface { rule, found, known }, Some(at)));
                }
            }
        }
        if surfaces.is_empty() {
            let at = self.table.get("surfaces").map(Spanned::span);
            return Err((
                Problem::NoSurfaces {
                    rule: self.rule.clone(),
                },
                at,
            ));
        }
        surfaces.sort_unstable();
        surfaces.dedup();
        Ok(surfaces)
    }
}

/// The line of a byte, counted from 1.
fn line_of(bytes: &[u8], at: usize) -> usize {
    let before = bytes.get(..at).unwrap_or(bytes);
    before.iter().filter(|byte| **byte == b'\n').count() + 1
}
