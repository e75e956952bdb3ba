//! Known shapes of keys (R017), read from `packs/key-shapes.toml`.
//!
//! The file is parsed and a regular expression compiled only after the prefix of a
//! shape and enough key characters behind it were seen in a text.

use std::ops::Range;
use std::sync::OnceLock;

use regex::{Regex, RegexBuilder};
use serde::Deserialize;

use super::placeholder;
use super::prefilter::{self, Hit};
use super::value::{self, Form};

const PACK: &str = include_str!("../../packs/key-shapes.toml");

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
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "the prefilter reads it, and a test compares")
    )]
    prefixes: Vec<String>,
    regex: String,
    #[serde(default)]
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "the prefilter reads it, and a test compares")
    )]
    follow: usize,
    #[serde(default)]
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "the prefilter reads it, and a test compares")
    )]
    within: Option<char>,
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
#[cfg(test)]
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

/// Whether what a shape finds is a password, chosen by people.
pub(super) fn is_password(id: &str) -> bool {
    pack().iter().any(|spec| spec.id == id && spec.password)
}

/// The ids of all shapes, in the order of the pack.
pub(crate) fn ids() -> impl Iterator<Item = &'static str> {
    pack().iter().map(|spec| spec.id.as_str())
}

/// As `find`, at the prefixes among `hits`.
pub(super) fn find_at(text: &str, hits: impl Iterator<Item = Hit>) -> Vec<Shape> {
    let mut found: Vec<(Range<usize>, usize)> = Vec::new();
    let mut skip: Vec<usize> = Vec::new();
    for hit in hits {
        let Some(index) = hit.shape else { continue };
        let Some(spec) = pack().get(index) else {
            continue;
        };
        skip.resize(pack().len(), 0);
        if hit.start < skip[index] || !spec.may_stand_at(text, hit.start) {
            continue;
        }
        let Some((range, genuine)) = spec.matches(text, hit) else {
            if spec.reach >= LONG_REACH {
                skip[index] = run_end(text, hit.end);
            }
            continue;
        };
        skip[index] = range.end;
        if genuine {
            found.push((range, index));
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

/// What the prefilter needs to know of a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Prefix {
    /// The index of the shape.
    pub(super) shape: usize,
    pub(super) text: &'static str,
    pub(super) follow: usize,
    /// A character that must stand within reach.
    pub(super) within: Option<u8>,
    pub(super) ignore_case: bool,
}

/// Every prefix in the pack, read line by line: parsing it takes most of a millisecond,
/// which texts without a key need not pay.
pub(super) fn prefixes() -> impl Iterator<Item = Prefix> {
    PACK.split("\n[[shapes]]\n")
        .skip(1)
        .enumerate()
        .flat_map(|(shape, entry)| {
            let line = |start: &str| entry.lines().find_map(|line| line.strip_prefix(start));
            let list = line("prefixes = [\"")
                .and_then(|list| list.strip_suffix("\"]"))
                .unwrap_or_default();
            let follow = line("follow = ")
                .and_then(|number| number.parse().ok())
                .unwrap_or(0);
            let within = line("within = \"").and_then(|rest| rest.bytes().next());
            let ignore_case = line("ignore_case = true").is_some();
            list.split("\", \"").map(move |text| Prefix {
                shape,
                text,
                follow,
                within,
                ignore_case,
            })
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
    fn may_stand_at(&self, text: &str, start: usize) -> bool {
        self.open || self.back > 0 || !is_glued(text, start)
    }

    /// The value at a prefix, if the shape matches there, and whether it is no stand-in.
    fn matches(&self, text: &str, hit: Hit) -> Option<(Range<usize>, bool)> {
        let start = char_start(text, hit.start.saturating_sub(self.back));
        let end = char_start(text, hit.end.saturating_add(self.reach).min(text.len()));
        let window = text.get(start..end)?;
        let regex = self.regex();
        let captures = regex.captures(window)?;
        let whole = captures.get(0)?;
        let bytes = text.as_bytes();
        let touches = is_glued(text, start + whole.start())
            || bytes
                .get(start + whole.end())
                .is_some_and(u8::is_ascii_alphanumeric);
        if touches && !self.open || start + whole.end() < hit.end {
            return None;
        }
        let value = captures.name("secret").unwrap_or(whole);
        let stand_in = if self.password {
            value::is_harmless(value.as_str(), Form::Quoted)
        } else if value.as_str().starts_with("-----BEGIN ") {
            // The zeros of a key file are rows of `A` in base64.
            placeholder::is_filler_block(value.as_str())
        } else {
            placeholder::is_filler(value.as_str())
        };
        Some((start + value.start()..start + value.end(), !stand_in))
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

/// Whether a letter or digit stands right before a place, and is not the end of an escape
/// or a marker.
fn is_glued(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    before.ends_with(|c: char| c.is_ascii_alphanumeric()) && !placeholder::ends_apart(before)
}

fn run_end(text: &str, from: usize) -> usize {
    let rest = text.as_bytes().get(from..).unwrap_or_default();
    from + rest
        .iter()
        .take_while(|byte| prefilter::continues(**byte))
        .count()
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
        let quick: Vec<Prefix> = prefixes().collect();
        let parsed: Pack = toml::from_str(PACK).unwrap();
        let slow = parsed.shapes.iter().enumerate().flat_map(|(shape, spec)| {
            let Spec {
                follow,
                ignore_case,
                within,
                ..
            } = *spec;
            spec.prefixes
                .iter()
                .map(move |text| (shape, text.as_str(), follow, within, ignore_case))
        });
        let quick = quick.iter().map(|prefix| {
            (
                prefix.shape,
                prefix.text,
                prefix.follow,
                prefix.within.map(char::from),
                prefix.ignore_case,
            )
        });
        assert!(quick.eq(slow));
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
