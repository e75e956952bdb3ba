//! Structural rules: values that go because of the name or the place they stand under.

use super::RedactError;
use super::names::{self, Holds};
use globset::{GlobBuilder, GlobMatcher};

/// What stands in place of a value if a rule does not say otherwise.
pub(super) const REDACTED: &str = "REDACTED";

/// The six globs of 0.4.0, which knows no exemptions.
pub(super) const GLOBS_OF_0_4_0: [&str; 6] = [
    "*token*",
    "*secret*",
    "*password*",
    "*apikey*",
    "*api_key*",
    "authorization",
];

/// The default names that those globs are widened forms of.
pub(super) const NAMES_OF_0_4_0: [&str; 5] =
    ["token", "secret", "password", "apikey", "authorization"];

/// One structural rule: `LOCATOR[=REPLACEMENT]`.
#[derive(Clone, Debug)]
pub(crate) struct Structural {
    /// As it stands in the manifest.
    pub(super) locator: String,
    pub(super) replacement: String,
    target: Target,
}

#[derive(Clone, Debug)]
enum Target {
    /// A default name, by whole words: `word:token`.
    Word(String),
    /// The name of a member, with `*` and `?`; case, `-` and `_` do not count.
    Glob(Box<GlobMatcher>),
    /// A place in the payload, as a JSON pointer.
    Pointer,
    /// A glob that an earlier run of 0.4.0 applied: live requests are rewritten by
    /// it, recordings are not: `0.4.0:*token*`.
    Past,
}

impl Structural {
    /// The default rules.
    pub(super) fn defaults() -> Vec<Structural> {
        let word = |id: &str| Structural {
            locator: format!("word:{id}"),
            replacement: REDACTED.to_owned(),
            target: Target::Word(id.to_owned()),
        };
        names::ids().map(word).collect()
    }

    /// `LOCATOR[=REPLACEMENT]` as it is typed after `--redact`.
    pub(super) fn parse(text: &str) -> Result<Structural, RedactError> {
        let (locator, replacement) = text.split_once('=').unwrap_or((text, REDACTED));
        Structural::new(locator, replacement)
    }

    /// A rule from its two parts.
    pub(super) fn new(locator: &str, replacement: &str) -> Result<Structural, RedactError> {
        let refuse = |problem| RedactError::Locator {
            locator: locator.to_owned(),
            problem,
        };
        let target = if locator.is_empty() {
            return Err(refuse(
                "it names nothing; write a glob for member names, as in 'customer_*', or a pointer",
            ));
        } else if locator.starts_with('/') {
            Target::Pointer
        } else if let Some(id) = locator.strip_prefix("word:") {
            if !names::is_known(id) {
                return Err(refuse("there is no default name of that id"));
            }
            Target::Word(id.to_owned())
        } else if let Some(past) = locator.strip_prefix("0.4.0:") {
            // A glob that does not compile could not have been applied either.
            glob(past).ok_or_else(|| refuse("this is no glob"))?;
            Target::Past
        } else {
            let glob = glob(locator).ok_or_else(|| refuse("this is no glob"))?;
            Target::Glob(Box::new(glob))
        };
        Ok(Structural {
            locator: locator.to_owned(),
            replacement: replacement.to_owned(),
            target,
        })
    }
}

fn glob(pattern: &str) -> Option<GlobMatcher> {
    // Braces are no part of these globs and stand for themselves.
    let pattern: String = fold(pattern)
        .chars()
        .flat_map(|c| match c {
            '{' => vec!['[', '{', ']'],
            '}' => vec!['[', '}', ']'],
            c => vec![c],
        })
        .collect();
    let mut builder = GlobBuilder::new(&pattern);
    builder.literal_separator(false).backslash_escape(false);
    builder.build().ok().map(|glob| glob.compile_matcher())
}

fn fold(name: &str) -> String {
    name.to_lowercase().replace('-', "_")
}

/// All structural rules of a redactor, sorted by how they are looked up.
#[derive(Clone, Debug, Default)]
pub(super) struct Locators {
    rules: Vec<Structural>,
    words: Vec<usize>,
    /// The ids of the names in `words`.
    ids: Vec<String>,
    globs: Vec<usize>,
    pointers: Vec<usize>,
}

/// A rule that applies to a value, and to which kinds of values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Match<'r> {
    pub(super) rule: &'r Structural,
    pub(super) holds: Holds,
}

impl Locators {
    pub(super) fn new(rules: Vec<Structural>) -> Locators {
        let mut locators = Locators::default();
        for (index, rule) in rules.iter().enumerate() {
            match &rule.target {
                Target::Word(id) => {
                    locators.words.push(index);
                    locators.ids.push(id.clone());
                }
                Target::Glob(_) => locators.globs.push(index),
                Target::Pointer => locators.pointers.push(index),
                Target::Past => {}
            }
        }
        locators.rules = rules;
        locators
    }

    pub(super) fn rules(&self) -> &[Structural] {
        &self.rules
    }

    /// The rule for a member of that name: what was asked for comes before the defaults.
    pub(super) fn by_name(&self, name: &str) -> Option<Match<'_>> {
        let holds = Holds::Anything;
        if !self.globs.is_empty() {
            let folded = fold(name);
            let mut globs = self.globs.iter().filter_map(|at| self.rules.get(*at));
            let matches = |rule: &&Structural| matches!(&rule.target, Target::Glob(glob) if glob.is_match(&*folded));
            if let Some(rule) = globs.find(matches) {
                return Some(Match { rule, holds });
            }
        }
        let (id, holds) = names::find(name, &self.ids)?;
        let at = self.ids.iter().position(|known| known == id)?;
        let rule = self.rules.get(*self.words.get(at)?)?;
        Some(Match { rule, holds })
    }

    pub(super) fn has_pointers(&self) -> bool {
        !self.pointers.is_empty()
    }

    /// The rule for the place that a JSON pointer into the payload names.
    pub(super) fn by_pointer(&self, pointer: &str) -> Option<Match<'_>> {
        let mut rules = self.pointers.iter().filter_map(|at| self.rules.get(*at));
        let rule = rules.find(|rule| rule.locator == pointer)?;
        let holds = Holds::Anything;
        Some(Match { rule, holds })
    }

    /// Whether a text is what one of the rules writes.
    pub(super) fn writes(&self, text: &str) -> bool {
        self.rules.iter().any(|rule| rule.replacement == text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locators(rules: &[&str]) -> Locators {
        Locators::new(
            rules
                .iter()
                .map(|rule| Structural::parse(rule).unwrap())
                .collect(),
        )
    }

    #[test]
    fn globs_fold_case_and_dashes() {
        let locators = locators(&["*api_key*", "n", "x{y}*=gone"]);
        for name in ["my-API-key", "api_key2", "N", "X{Y}z"] {
            assert!(locators.by_name(name).is_some(), "{name}");
        }
        for name in ["apikey", "nn", "xy"] {
            assert!(locators.by_name(name).is_none(), "{name}");
        }
        assert_eq!(locators.by_name("x{y}").unwrap().rule.replacement, "gone");
    }

    #[test]
    fn what_is_asked_for_comes_before_the_defaults() {
        let mut rules = Structural::defaults();
        rules.push(Structural::parse("token=T").unwrap());
        let locators = Locators::new(rules);
        assert_eq!(locators.by_name("token").unwrap().rule.replacement, "T");
        let default = locators.by_name("access_token").unwrap().rule;
        assert_eq!(default.locator, "word:token");
    }

    #[test]
    fn what_is_no_locator_is_refused() {
        for text in ["", "=x", "word:nothing", "a[b"] {
            assert!(Structural::parse(text).is_err(), "{text}");
        }
        assert!(locators(&["/params/q"]).by_pointer("/params/q").is_some());
    }
}
