//! Typed reading of a pack's TOML: every mistake gets the line and the key that it is at.
//!
//! Pattern packs of lint and redaction packs share the version, the flags and the habit of refusing
//! every key that they do not know; what a rule consists of is theirs.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeInteger, DeString, DeTable, DeValue};

use super::{Flags, Matcher, PackError, PackKind, Problem, Rule};

/// Larger packs are refused before they are parsed.
const MAX_BYTES: usize = 1024 * 1024;

/// A pack as it was read: its name for messages, and its bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PackSource<'a> {
    pub(crate) name: &'a str,
    pub(crate) bytes: &'a [u8],
}

/// A string and the place of it in the pack, in bytes.
pub(crate) type Placed<'t> = (&'t str, Range<usize>);

/// A mistake and the place of it.
pub(crate) type Mistake = (Problem, Option<Range<usize>>);

/// What a kind of pack looks like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub(crate) kind: PackKind,
    /// The keys at the top, `version` included.
    pub(crate) top: &'static [&'static str],
    /// The array of tables that holds the rules.
    pub(crate) list: &'static str,
    /// The keys of one rule.
    pub(crate) rule: &'static [&'static str],
}

/// Reads one pack: `head` sees its top table once version and keys are checked, then `each` every
/// rule in the order of the lines.
///
/// # Errors
///
/// The first mistake, with the name of the pack and the line.
pub(crate) fn read_pack<S>(
    source: PackSource<'_>,
    layout: Layout,
    state: &mut S,
    head: impl FnOnce(&mut S, &Fields<'_, '_>) -> Result<(), Mistake>,
    each: impl FnMut(&mut S, Fields<'_, '_>) -> Result<(), Mistake>,
) -> Result<(), PackError> {
    read_table(source, layout, state, head, each).map_err(|(problem, at)| PackError {
        kind: layout.kind,
        file: source.name.to_owned(),
        line: at.map(|at| line_of(source.bytes, at.start)),
        problem,
    })
}

fn read_table<S>(
    source: PackSource<'_>,
    layout: Layout,
    state: &mut S,
    head: impl FnOnce(&mut S, &Fields<'_, '_>) -> Result<(), Mistake>,
    mut each: impl FnMut(&mut S, Fields<'_, '_>) -> Result<(), Mistake>,
) -> Result<(), Mistake> {
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
    let known = layout.top;
    for key in table.keys() {
        if !known.contains(&key.get_ref().as_ref()) {
            let at = Some(key.span());
            let key = key.get_ref().to_string();
            return Err((Problem::UnknownTopLevelKey { key, known }, at));
        }
    }
    let whole = Fields {
        table,
        whole: 0..0,
        rule: Rule::Pack,
        known,
    };
    head(state, &whole)?;
    let Some(rules) = table.get(layout.list) else {
        return Ok(());
    };
    let not_a_list = |value: &Spanned<DeValue<'_>>| {
        let (list, found) = (layout.list, value.get_ref().type_str());
        (Problem::NotRules { list, found }, Some(value.span()))
    };
    let Some(list) = rules.get_ref().as_array() else {
        return Err(not_a_list(rules));
    };
    for (place, rule) in list.iter().enumerate() {
        let Some(table) = rule.get_ref().as_table() else {
            return Err(not_a_list(rule));
        };
        let fields = Fields {
            table,
            whole: rule.span(),
            rule: Rule::Place(place + 1),
            known: layout.rule,
        };
        each(state, fields)?;
    }
    Ok(())
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

/// The table of one rule.
pub(crate) struct Fields<'t, 'i> {
    table: &'t DeTable<'i>,
    /// The place of the whole table.
    pub(crate) whole: Range<usize>,
    /// What messages call it.
    pub(crate) rule: Rule,
    known: &'static [&'static str],
}

impl<'t, 'i> Fields<'t, 'i> {
    /// Refuses a key that rules do not have.
    pub(crate) fn check_keys(&self) -> Result<(), Mistake> {
        let unknown = |key: &&Spanned<DeString<'i>>| !self.known.contains(&key.get_ref().as_ref());
        match self.table.keys().find(unknown) {
            None => Ok(()),
            Some(key) => {
                let (rule, at, known) = (self.rule.clone(), key.span(), self.known);
                let key = key.get_ref().to_string();
                Err((Problem::UnknownKey { rule, key, known }, Some(at)))
            }
        }
    }

    /// A string that must be there.
    pub(crate) fn required(&self, key: &'static str) -> Result<Placed<'t>, Mistake> {
        match self.string(key)? {
            Some(found) => Ok(found),
            // The key may be there under a name with a typing mistake.
            None => self.check_keys().and_then(|()| {
                let rule = self.rule.clone();
                Err((Problem::MissingKey { rule, key }, Some(self.whole.clone())))
            }),
        }
    }

    /// A string that may be there.
    pub(crate) fn string(&self, key: &str) -> Result<Option<Placed<'t>>, Mistake> {
        let Some(value) = self.table.get(key) else {
            return Ok(None);
        };
        match value.get_ref().as_str() {
            Some(text) => Ok(Some((text, value.span()))),
            None => Err(self.wrong_type(key, "a string", value)),
        }
    }

    /// The strings of an array and their places.
    pub(crate) fn strings(&self, key: &str) -> Result<Option<Vec<Placed<'t>>>, Mistake> {
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

    /// A number that may be there, from 0.
    pub(crate) fn number(&self, key: &str) -> Result<Option<usize>, Mistake> {
        let Some(value) = self.table.get(key) else {
            return Ok(None);
        };
        let number = match value.get_ref() {
            DeValue::Integer(number) => usize::from_str_radix(number.as_str(), number.radix()).ok(),
            _ => None,
        };
        match number {
            Some(number) => Ok(Some(number)),
            None => Err(self.wrong_type(key, "a number", value)),
        }
    }

    /// The place of a key's value.
    pub(crate) fn place(&self, key: &str) -> Option<Range<usize>> {
        self.table.get(key).map(Spanned::span)
    }

    /// A word of a list, or nothing if the key is absent.
    pub(crate) fn one_of<T: Copy>(
        &self,
        key: &'static str,
        words: &[(&'static str, T)],
    ) -> Result<Option<T>, Mistake> {
        let Some((found, at)) = self.string(key)? else {
            return Ok(None);
        };
        match words.iter().find(|(word, _)| *word == found) {
            Some((_, value)) => Ok(Some(*value)),
            None => {
                let (rule, found) = (self.rule.clone(), found.into());
                let known = words.iter().map(|(word, _)| *word).collect();
                let problem = Problem::UnknownWord {
                    rule,
                    key,
                    found,
                    known,
                };
                Err((problem, Some(at)))
            }
        }
    }

    /// The compiled `regex` under its `flags`.
    pub(crate) fn matcher(&self) -> Result<Matcher, Mistake> {
        let flags = self.flags()?;
        let (regex, at) = self.required("regex")?;
        Matcher::compile(regex, flags).map_err(|source| {
            let rule = self.rule.clone();
            (Problem::Regex { rule, source }, Some(at))
        })
    }

    fn wrong_type(
        &self,
        key: &str,
        expected: &'static str,
        value: &Spanned<DeValue<'_>>,
    ) -> Mistake {
        let problem = Problem::Type {
            rule: self.rule.clone(),
            key: key.to_owned(),
            expected,
            found: value.get_ref().type_str(),
        };
        (problem, Some(value.span()))
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
}

/// The line of a byte, counted from 1.
fn line_of(bytes: &[u8], at: usize) -> u32 {
    let before = bytes.get(..at).unwrap_or(bytes);
    let feeds = before.iter().filter(|byte| **byte == b'\n').count();
    u32::try_from(feeds + 1).unwrap_or(u32::MAX)
}
