//! Secrets in recorded text: known key shapes (R017), values under names that
//! promise a secret and strings too random to be words (R005).
//!
//! Everything here is a pure function over one decoded string and what the caller
//! knows about its place. [`scan`] is the whole: it looks inside JSON and encoded
//! text, and where two detectors see the same bytes it keeps the more telling one.
//! A [`Secret`] never holds the value, only its first six characters.

use std::fmt;
use std::ops::Range;

pub(crate) mod conceal;
pub(crate) mod context;
pub(crate) mod encoded;
pub(crate) mod entropy;
mod layers;
mod named;
pub(crate) mod placeholder;
pub(crate) mod prefilter;
pub(crate) mod shapes;
mod value;
mod words;

#[cfg(test)]
mod tests;

pub(crate) use context::{Place, TextContext, effective_name, flag_name, words};
pub(crate) use layers::{scan, scan_flat};

/// The settings of the entropy part of R005.
#[derive(Clone, Debug, PartialEq)]
pub struct Entropy {
    /// Whether random-looking strings are reported at all. Named values and key
    /// shapes are found either way.
    pub enabled: bool,
    /// Shannon entropy in bits a character from which a string counts as random.
    pub min_bits: f64,
    /// The shortest string, in characters, that is measured.
    pub min_length: usize,
    /// Literal values that are never reported.
    pub allow: Vec<String>,
}

impl Default for Entropy {
    fn default() -> Self {
        Entropy {
            enabled: true,
            min_bits: 3.5,
            min_length: 20,
            allow: Vec::new(),
        }
    }
}

impl Entropy {
    fn allows(&self, value: &str) -> bool {
        self.allow.iter().any(|allowed| allowed == value)
    }
}

/// Why a piece of text is taken for a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// It has the shape of a known kind of key; the id in `packs/key-shapes.toml`.
    Shape(&'static str),
    /// It stands under a name that promises a secret; the telling word of that name.
    Named(&'static str),
    /// It is too random to be made of words.
    Entropy,
}

/// A secret in a text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Secret {
    /// Where it stands, in bytes of the text that was scanned. For a value inside
    /// encoded text this is the encoded text as a whole.
    pub(crate) range: Range<usize>,
    pub(crate) kind: Kind,
    /// Shannon entropy in bits a character.
    pub(crate) bits: f64,
    /// Length of the value in characters.
    pub(crate) chars: usize,
    /// The first six characters and an ellipsis: all of the value that may be shown.
    pub(crate) sample: String,
    /// What tells it from another secret at the same place: at most six characters.
    pub(crate) mark: String,
}

impl Secret {
    fn new(value: &str, range: Range<usize>, kind: Kind) -> Self {
        Secret {
            range,
            kind,
            bits: entropy::bits(value.as_bytes()),
            chars: value.chars().count(),
            sample: sample(value),
            mark: mark(value, kind),
        }
    }
}

/// The text of a finding's message.
impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Secret {
            bits,
            chars,
            sample,
            ..
        } = self;
        match self.kind {
            Kind::Shape(id) => {
                let label = shapes::label(id);
                write!(f, "{label} ({chars} chars, \"{sample}\")")
            }
            Kind::Named(word) => {
                write!(
                    f,
                    "value under a name with `{word}` ({chars} chars, \"{sample}\")"
                )
            }
            Kind::Entropy => {
                write!(
                    f,
                    "high-entropy string ({bits:.1} bits/char, {chars} chars, \"{sample}\")"
                )
            }
        }
    }
}

/// Whether what stands in the place of a password is a placeholder, a template or a word
/// for one.
pub(crate) fn is_stand_in(value: &str) -> bool {
    value::is_harmless(value, value::Form::Quoted)
}

/// What of a secret may be shown: the first six characters and `…`.
pub(crate) fn sample(value: &str) -> String {
    let mut shown: String = value.chars().take(6).collect();
    shown.push('…');
    shown
}

/// A key of a known shape is told from others by its last six letters and digits, and
/// everything else by its first six characters. What follows the prefix of a shape is
/// often the same in every key as well: `sk-ant-api03-`, the header of a JWT, the first
/// bytes of a private key.
fn mark(value: &str, kind: Kind) -> String {
    /// A shorter value would be given away by a quarter of it.
    const SHORTEST: usize = 24;
    let fixed_start = matches!(kind, Kind::Shape(id) if !shapes::is_password(id));
    if !fixed_start || value.len() < SHORTEST {
        return value.chars().take(6).collect();
    }
    let body = value.split_once("-----END").map_or(value, |(body, _)| body);
    let mut last: Vec<char> = body
        .chars()
        .rev()
        .filter(char::is_ascii_alphanumeric)
        .take(6)
        .collect();
    last.reverse();
    last.into_iter().collect()
}
