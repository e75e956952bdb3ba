//! Walks the layers of a text: the text itself, the strings of the JSON in it and
//! what its base64 and hexadecimal tokens encode.

use std::ops::Range;

use super::context::{Place, TextContext, effective_name, flag_name, promise};
use super::entropy::{self, Addresses};
use super::named::{self, Named};
use super::prefilter::{self, Hit};
use super::shapes::{self, Shape};
use super::{Entropy, Kind, Secret, encoded};
use crate::wire::json::{self, Kind as TokenKind, Scanner, Token};

/// How many levels of JSON inside strings are opened.
const JSON_DEPTH: usize = 4;
/// How many levels of encoding are undone.
const ENCODING_DEPTH: usize = 3;

/// Everything in `text` that looks like a secret, in ascending order.
///
/// Where detectors overlap, a key shape counts before a telling name and that
/// before entropy. A value that the settings allow is reported by none of them.
pub(crate) fn scan(text: &str, settings: &Entropy, context: TextContext<'_>) -> Vec<Secret> {
    let walk = Walk {
        settings,
        json: JSON_DEPTH,
        encoding: ENCODING_DEPTH,
    };
    walk.text(text, context)
}

/// The keys and named values in one text, without looking into JSON or encodings that it
/// holds and without entropy: for callers that open those themselves.
pub(crate) fn scan_flat(text: &str, context: TextContext<'_>) -> Vec<Secret> {
    let hits: Vec<Hit> = prefilter::hits(text).collect();
    let settings = Entropy {
        enabled: false,
        ..Entropy::default()
    };
    found_in(text, context, hits).secrets(text, &settings)
}

#[derive(Clone, Copy)]
struct Walk<'a> {
    settings: &'a Entropy,
    json: usize,
    encoding: usize,
}

impl Walk<'_> {
    fn text(self, text: &str, context: TextContext<'_>) -> Vec<Secret> {
        if self.json > 0 && looks_like_json(text) {
            let deeper = Walk {
                json: self.json - 1,
                ..self
            };
            if let Some(found) = deeper.members(text, context) {
                return found;
            }
        }
        self.plain(text, context)
    }

    /// Text that is not JSON as a whole.
    fn plain(self, text: &str, context: TextContext<'_>) -> Vec<Secret> {
        let hits: Vec<Hit> = prefilter::hits(text).collect();
        let found = found_in(text, context, hits);
        let mut secrets = found.secrets(text, self.settings);
        self.tokens(text, context, &found, &mut secrets);
        secrets.sort_by_key(|secret| (secret.range.start, secret.range.end));
        secrets
    }

    /// Long runs of key characters: what they encode, and whether they are random.
    fn tokens(
        self,
        text: &str,
        context: TextContext<'_>,
        found: &Found,
        secrets: &mut Vec<Secret>,
    ) {
        let shortest = self.settings.min_length.min(encoded::SHORTEST);
        let mut inert: Option<bool> = None;
        let mut addresses: Option<Addresses> = None;
        for run in entropy::runs(text, shortest) {
            if found.overlaps(&run.range) {
                continue;
            }
            let inside = if self.encoding > 0 {
                encoded::decode(&run.token)
            } else {
                None
            };
            if let Some(inside) = inside {
                let deeper = Walk {
                    encoding: self.encoding - 1,
                    ..self
                };
                let inner = deeper.text(&inside, context);
                secrets.extend(inner.into_iter().map(|secret| Secret {
                    range: run.range.clone(),
                    ..secret
                }));
            } else if self.settings.enabled {
                let addresses = addresses.get_or_insert_with(|| Addresses::of(text));
                let inert = *inert.get_or_insert_with(|| entropy::is_excused(context));
                if !inert {
                    secrets.extend(entropy::judge(&run, self.settings, addresses));
                }
            }
        }
    }

    /// The strings of a JSON text, or `None` if it is none.
    fn members(self, text: &str, context: TextContext<'_>) -> Option<Vec<Secret>> {
        let mut found = Vec::new();
        let mut scanner = Scanner::new(text);
        let mut open: Vec<Frame> = vec![Frame::new(context.name.to_owned())];
        while let Some(token) = scanner.next_token().ok()? {
            let place = context.place;
            match token.kind {
                TokenKind::BeginObject | TokenKind::BeginArray => {
                    let name = open.last().map_or("", Frame::name).to_owned();
                    open.push(Frame::new(name));
                }
                TokenKind::EndObject | TokenKind::EndArray => {
                    let frame = open.pop()?;
                    frame.close(|name, value| {
                        self.string(text, value, TextContext { name, place }, &mut found)
                    });
                }
                TokenKind::Key => {
                    // A name is no place for a password, but keys do turn up as one.
                    let inner = token.inner().of(text);
                    if token.escaped || prefilter::may_hold_secret(inner, usize::MAX) {
                        self.string(text, token, TextContext { name: "", place }, &mut found);
                    }
                    let inner = json::decode(token.inner().of(text)).into_owned();
                    open.last_mut()?.key = inner;
                }
                TokenKind::String => {
                    let frame = open.last_mut()?;
                    if !frame.waits(text, token) {
                        let context = TextContext {
                            name: frame.name(),
                            place,
                        };
                        self.string(text, token, context, &mut found);
                        frame.note_flag(text, token);
                    }
                }
                TokenKind::Number | TokenKind::True | TokenKind::False | TokenKind::Null => {}
            }
        }
        found.sort_by_key(|secret: &Secret| secret.range.start);
        Some(found)
    }

    /// One string of a JSON text.
    fn string(self, text: &str, token: Token, context: TextContext<'_>, found: &mut Vec<Secret>) {
        let inner = token.inner();
        let raw = inner.of(text);
        let possible = prefilter::may_hold_secret(raw, self.settings.min_length)
            || promise(context.name).is_some()
            || token.escaped;
        if !possible {
            return;
        }
        let decoded = json::decode(raw);
        let secrets = self.text(&decoded, context);
        if secrets.is_empty() {
            return;
        }
        let start = inner.range().start;
        for secret in secrets {
            let ends = [secret.range.start, secret.range.end];
            let mapped = if token.escaped {
                json::raw_offsets(raw, &ends)
            } else {
                ends.to_vec()
            };
            if let [from, to] = mapped[..] {
                found.push(Secret {
                    range: start + from..start + to,
                    ..secret
                });
            }
        }
    }
}

/// What is found by shape and by name.
fn found_in(text: &str, context: TextContext<'_>, hits: Vec<Hit>) -> Found {
    let mut found = Found::default();
    let shapes = shapes::find_at(text, hits.iter().copied()).into_iter();
    found.claim(shapes.map(|Shape { range, kind, .. }| (range, Kind::Shape(kind))));
    if context.place != Place::Media {
        let named = |Named { range, word }: Named| (range, Kind::Named(word));
        found.claim(named::in_member(text, context).into_iter().map(named));
        let stems = hits.into_iter().filter(|hit| hit.shape.is_none());
        found.claim(
            named::in_text(text, stems, context.place)
                .into_iter()
                .map(named),
        );
    }
    found
}

/// An open object or array.
struct Frame {
    /// The name that its members go by if their own says nothing.
    outer: String,
    /// The member whose value comes next; empty in an array.
    key: String,
    /// The `name` of a name and value pair such as a header.
    label: Option<String>,
    /// Its `value`, kept until the label is known.
    value: Option<Token>,
    /// Whether the previous item was an argument such as `--api-key`.
    flag: Option<String>,
}

impl Frame {
    fn new(outer: String) -> Self {
        Frame {
            outer,
            key: String::new(),
            label: None,
            value: None,
            flag: None,
        }
    }

    /// The name that the next value goes by.
    fn name(&self) -> &str {
        match &self.flag {
            Some(flag) if self.key.is_empty() => flag,
            _ => effective_name(&self.outer, &self.key),
        }
    }

    /// Keeps the parts of a name and value pair; true if this string waits for the other.
    fn waits(&mut self, text: &str, token: Token) -> bool {
        let is = |names: &[&str]| names.iter().any(|name| self.key.eq_ignore_ascii_case(name));
        if is(&["name", "key", "header"]) && token.inner().len() <= 128 {
            self.label = Some(json::decode(token.inner().of(text)).into_owned());
        }
        let waits = is(&["value"]) && self.value.is_none();
        if waits {
            self.value = Some(token);
        }
        waits
    }

    /// Remembers an argument whose value is the next item of the array.
    fn note_flag(&mut self, text: &str, token: Token) {
        let item = token.inner().of(text);
        let flag = if self.key.is_empty() && item.len() <= 128 {
            flag_name(item)
        } else {
            None
        };
        self.flag = flag.map(str::to_owned);
    }

    /// Hands over a value that waited for its label.
    fn close(self, mut use_value: impl FnMut(&str, Token)) {
        let Some(value) = self.value else { return };
        let label = self.label.unwrap_or_default();
        let name = if promise(&label).is_some() {
            label
        } else {
            effective_name(&self.outer, "value").to_owned()
        };
        use_value(&name, value);
    }
}

/// What was found in one text by name and shape: ascending and free of overlaps.
#[derive(Default)]
struct Found {
    claims: Vec<(Range<usize>, Kind)>,
}

impl Found {
    /// Adds what does not overlap earlier claims.
    fn claim(&mut self, more: impl Iterator<Item = (Range<usize>, Kind)>) {
        let fresh: Vec<_> = more.filter(|(range, _)| !self.overlaps(range)).collect();
        if !fresh.is_empty() {
            self.claims.extend(fresh);
            self.claims.sort_by_key(|(range, _)| range.start);
        }
    }

    fn overlaps(&self, range: &Range<usize>) -> bool {
        let after = self
            .claims
            .partition_point(|(claim, _)| claim.end <= range.start);
        self.claims
            .get(after)
            .is_some_and(|(claim, _)| claim.start < range.end)
    }

    fn secrets(&self, text: &str, settings: &Entropy) -> Vec<Secret> {
        let claims = self.claims.iter().filter_map(|(range, kind)| {
            let value = text.get(range.clone())?;
            // What is random is called so whatever its name is.
            let random = matches!(kind, Kind::Named(_))
                && settings.enabled
                && entropy::is_key(value, settings);
            let kind = if random { Kind::Entropy } else { *kind };
            (!settings.allows(value)).then(|| Secret::new(value, range.clone(), kind))
        });
        claims.collect()
    }
}

fn looks_like_json(text: &str) -> bool {
    let text = text.trim();
    text.len() < json::MAX_INPUT
        && (text.starts_with('{') && text.ends_with('}')
            || text.starts_with('[') && text.ends_with(']'))
}
