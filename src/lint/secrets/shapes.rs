//! Known shapes of keys (R017), read from `packs/key-shapes.toml`.
//!
//! The file is parsed and a regular expression compiled only after the prefix of a
//! shape and enough key characters behind it were seen in a text.

use std::ops::Range;
use std::sync::OnceLock;

use regex::{Regex, RegexBuilder};
use serde::Deserialize;

use super::placeholder;
use super::prefilter::{self, Hit, What};
use super::value::{self, Form};

const PACK: &str = include_str!("../../../packs/key-shapes.toml");

/// Windows from this length on are tried once a run of key characters, not once a
/// prefix in it: `eyJ-eyJ-eyJ-…` would cost the square of its length otherwise.
const LONG_REACH: usize = 600;

/// A key in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// The value, in bytes of the text.
    pub(crate) range: Range<usize>,
    /// The id of the shape, such as `github-token`.
    pub(crate) kind: &'static str,
    /// The first six characters and an ellipsis.
    pub(crate) sample: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pack {
    #[cfg_attr(not(test), expect(dead_code, reason = "checked by a test"))]
    version: u32,
    shapes: Vec<Spec>,
}

/// One entry of the pack; the file's head explains the members.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Spec {
    id: String,
    label: String,
    prefixes: Vec<String>,
    regex: String,
    #[serde(default)]
    follow: usize,
    #[serde(default)]
    back: usize,
    #[serde(default = "default_reach")]
    reach: usize,
    #[serde(default)]
    password: bool,
    #[serde(default)]
    open: bool,
    #[serde(default)]
    ignore_case: bool,
    #[cfg_attr(not(test), expect(dead_code, reason = "checked by a test"))]
    examples: Vec<String>,
    #[cfg_attr(not(test), expect(dead_code, reason = "checked by a test"))]
    negatives: Vec<String>,
    #[serde(skip)]
    compiled: OnceLock<Regex>,
}

fn default_reach() -> usize {
    300
}

/// The keys in `text` in ascending order; ranges do not overlap.
pub(crate) fn find(text: &str) -> Vec<Shape> {
    find_at(text, prefilter::hits(text))
}

/// What a shape is called, or its id if the pack does not know it.
pub(crate) fn label(id: &'static str) -> &'static str {
    pack()
        .iter()
        .find(|spec| spec.id == id)
        .map_or(id, |spec| spec.label.as_str())
}

/// As [`find`], at the prefixes among `hits`.
pub(super) fn find_at(text: &str, hits: impl Iterator<Item = Hit>) -> Vec<Shape> {
    let mut found: Vec<(Range<usize>, usize)> = Vec::new();
    let mut skip: Vec<usize> = Vec::new();
    for hit in hits {
        let What::Prefix(index) = hit.what else {
            continue;
        };
        let Some(spec) = pack().get(index) else {
            continue;
        };
        skip.resize(pack().len(), 0);
        if hit.start < skip[index] || !spec.may_stand_at(text, &hit) {
            continue;
        }
        if let Some(range) = spec.matches(text, &hit) {
            skip[index] = range.end;
            found.push((range, index));
        } else if spec.reach >= LONG_REACH {
            skip[index] = run_end(text, hit.end);
        }
    }
    without_overlaps(found)
        .into_iter()
        .map(|(range, index)| Shape {
            sample: super::sample(text.get(range.clone()).unwrap_or_default()),
            kind: pack().get(index).map_or("", |spec| spec.id.as_str()),
            range,
        })
        .collect()
}

/// Each prefix with the index of its shape, without parsing the pack.
pub(super) fn prefixes() -> impl Iterator<Item = (usize, &'static str)> {
    let lines = PACK
        .lines()
        .filter_map(|line| line.strip_prefix("prefixes = [\""));
    lines.enumerate().flat_map(|(index, list)| {
        let list = list.strip_suffix("\"]").unwrap_or(list);
        list.split("\", \"").map(move |prefix| (index, prefix))
    })
}

fn pack() -> &'static [Spec] {
    static SPECS: OnceLock<Vec<Spec>> = OnceLock::new();
    SPECS.get_or_init(|| {
        #[expect(
            clippy::expect_used,
            reason = "the pack is part of the program and a test reads it"
        )]
        let pack: Pack = toml::from_str(PACK).expect("the bundled pack is valid");
        pack.shapes
    })
}

/// The earliest of overlapping matches, then the longest, then the first in the pack.
fn without_overlaps(mut found: Vec<(Range<usize>, usize)>) -> Vec<(Range<usize>, usize)> {
    found.sort_by_key(|(range, index)| (range.start, std::cmp::Reverse(range.end), *index));
    let mut end = 0;
    found.retain(|(range, _)| {
        let free = range.start >= end;
        if free {
            end = range.end;
        }
        free
    });
    found
}

impl Spec {
    /// The cheap tests: case, what stands before and how much follows.
    fn may_stand_at(&self, text: &str, hit: &Hit) -> bool {
        let Some(prefix) = text.get(hit.start..hit.end) else {
            return false;
        };
        let bytes = text.as_bytes();
        let spelt = self.ignore_case || self.prefixes.iter().any(|known| known == prefix);
        let free = self.open || self.back > 0 || !follows_alphanumeric(bytes, hit.start);
        let rest = &bytes[hit.end..];
        spelt
            && free
            && rest
                .iter()
                .take(self.follow)
                .take_while(|b| continues(**b))
                .count()
                == self.follow
    }

    /// The value at a prefix, if the shape matches there and the value is no stand-in.
    fn matches(&self, text: &str, hit: &Hit) -> Option<Range<usize>> {
        let start = char_start(text, hit.start.saturating_sub(self.back));
        let end = char_start(text, hit.end.saturating_add(self.reach).min(text.len()));
        let window = text.get(start..end)?;
        let regex = self.regex();
        let captures = regex.captures(window)?;
        let whole = captures.get(0)?;
        let bytes = text.as_bytes();
        let touches = follows_alphanumeric(bytes, start + whole.start())
            || bytes
                .get(start + whole.end())
                .is_some_and(u8::is_ascii_alphanumeric);
        if touches && !self.open || start + whole.end() < hit.end {
            return None;
        }
        let value = captures.name("secret").unwrap_or(whole);
        let stand_in = if self.password {
            value::is_harmless(value.as_str(), Form::Quoted)
        } else {
            placeholder::is_filler(value.as_str())
        };
        (!stand_in).then(|| start + value.start()..start + value.end())
    }

    fn regex(&self) -> &Regex {
        self.compiled.get_or_init(|| {
            let anchor = if self.back == 0 { r"\A" } else { "" };
            let pattern = format!("{anchor}(?:{})", self.regex);
            let built = RegexBuilder::new(&pattern)
                .case_insensitive(self.ignore_case)
                .build();
            #[expect(
                clippy::expect_used,
                reason = "the pack is part of the program and a test compiles it"
            )]
            built.expect("the regex of a bundled shape is valid")
        })
    }
}

fn follows_alphanumeric(bytes: &[u8], at: usize) -> bool {
    at.checked_sub(1)
        .and_then(|i| bytes.get(i))
        .is_some_and(u8::is_ascii_alphanumeric)
}

/// Whether a byte can go on after the prefix of a key.
fn continues(byte: u8) -> bool {
    prefilter::is_key_byte(byte) || matches!(byte, b'.' | b'=')
}

fn run_end(text: &str, from: usize) -> usize {
    let rest = text.as_bytes().get(from..).unwrap_or_default();
    from + rest.iter().take_while(|byte| continues(**byte)).count()
}

/// The start of the character that `at` is in.
fn char_start(text: &str, at: usize) -> usize {
    (0..=at)
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::tests::expand;
    use super::*;

    fn kinds(text: &str) -> Vec<&'static str> {
        find(text).into_iter().map(|shape| shape.kind).collect()
    }

    #[test]
    fn the_pack_is_well_formed() {
        let parsed: Pack = toml::from_str(PACK).unwrap();
        assert_eq!(parsed.version, 1);
        assert!(parsed.shapes.len() >= 25);
        let mut ids: Vec<&str> = parsed.shapes.iter().map(|spec| spec.id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), parsed.shapes.len());
        for spec in &parsed.shapes {
            assert!(
                !spec.examples.is_empty() && !spec.negatives.is_empty(),
                "{}",
                spec.id
            );
            assert!(
                spec.prefixes.iter().all(|prefix| prefix.len() >= 2),
                "{}",
                spec.id
            );
        }
    }

    #[test]
    fn prefixes_are_read_the_same_without_a_parser() {
        let quick: Vec<(usize, &str)> = prefixes().collect();
        let parsed: Pack = toml::from_str(PACK).unwrap();
        let slow: Vec<(usize, &str)> = (parsed.shapes.iter().enumerate())
            .flat_map(|(index, spec)| {
                spec.prefixes
                    .iter()
                    .map(move |prefix| (index, prefix.as_str()))
            })
            .collect();
        assert_eq!(quick, slow);
    }

    #[test]
    fn every_example_is_found_as_its_own_kind() {
        for spec in pack() {
            for example in &spec.examples {
                let text = expand(example);
                assert_eq!(kinds(&text), [spec.id.as_str()], "{text}");
                assert_eq!(
                    kinds(&format!("see {text}, please")),
                    [spec.id.as_str()],
                    "{text}"
                );
            }
        }
    }

    #[test]
    fn no_negative_is_found() {
        for spec in pack() {
            for negative in &spec.negatives {
                let text = expand(negative);
                assert!(
                    !kinds(&text).contains(&spec.id.as_str()),
                    "{}: {text}",
                    spec.id
                );
            }
        }
    }

    #[test]
    fn a_private_key_is_found_as_a_whole() {
        let body = expand("{base64:64}");
        let block = format!("-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----");
        let text = format!("before\n{block}\nafter");
        assert_eq!(find(&text)[0].range, 7..7 + block.len());
    }

    #[test]
    fn two_keys_side_by_side_are_two() {
        let text = expand("ghp_{alnum:36} ghp_{alnum:36},AKIA{base32:16}");
        assert_eq!(
            kinds(&text),
            ["github-token", "github-token", "aws-access-key-id"]
        );
    }
}
