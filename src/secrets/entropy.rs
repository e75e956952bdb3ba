//! Strings too random to be words: the entropy part of R005.
//!
//! A candidate is a run of key characters whose Shannon entropy reaches the
//! threshold and that is not explained otherwise: as words, an id, a digest, a
//! time, a path, an address, an encoded image, a cursor or a placeholder.

use std::ops::Range;

use super::context::{self, Place, TextContext};
use super::{Entropy, Kind, Secret, encoded, placeholder, prefilter, words};

/// How much of a run is read to tell words from noise.
const READ: usize = 4096;

/// What R005 reports about `text`: random strings and values under telling names.
///
/// JSON and encoded text are looked into, and what [`super::shapes`] knows is left out.
#[cfg(test)]
pub(crate) fn candidates(text: &str, settings: &Entropy, context: TextContext<'_>) -> Vec<Secret> {
    let mut found = super::scan(text, settings, context);
    found.retain(|secret| !matches!(secret.kind, Kind::Shape(_)));
    found
}

/// Shannon entropy of a text in bits a byte.
pub(super) fn bits(bytes: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in bytes {
        counts[usize::from(*byte)] += 1;
    }
    #[expect(clippy::cast_precision_loss, reason = "lengths are far below 2^52")]
    let total = bytes.len() as f64;
    let parts = counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| f64::from(*count) / total);
    // Subtracting from zero keeps the entropy of one repeated character from being -0.
    0.0 - parts.map(|share| share * share.log2()).sum::<f64>()
}

/// A run of key characters, cleaned of what surrounds it.
pub(super) struct Run<'a> {
    pub(super) range: Range<usize>,
    /// The text before it.
    before: &'a str,
    /// The token itself, line breaks inside base64 taken out.
    pub(super) token: std::borrow::Cow<'a, str>,
}

/// Where the addresses in a text stand, so that their paths are left alone.
pub(super) struct Addresses {
    /// Start, start of the query and end of each.
    spans: Vec<(usize, usize, usize)>,
}

impl Addresses {
    pub(super) fn of(text: &str) -> Self {
        let mut spans: Vec<(usize, usize, usize)> = Vec::new();
        for start in memchr::memmem::find_iter(text.as_bytes(), "://") {
            if spans.last().is_some_and(|(.., end)| start < *end) {
                continue;
            }
            let rest = &text.as_bytes()[start..];
            let stops = |byte: &u8| {
                byte.is_ascii_whitespace()
                    || matches!(byte, b'"' | b'\'' | b'<' | b'>' | b'`' | b'\\')
            };
            let length = rest.iter().position(stops).unwrap_or(rest.len());
            let query = rest[..length]
                .iter()
                .position(|byte| *byte == b'?')
                .unwrap_or(length);
            spans.push((start, start + query, start + length));
        }
        Addresses { spans }
    }

    /// Whether a place is in the host or path of an address.
    fn cover(&self, at: usize) -> bool {
        let after = self.spans.partition_point(|(start, ..)| *start <= at);
        let span = after.checked_sub(1).and_then(|i| self.spans.get(i));
        span.is_some_and(|(_, query, _)| at < *query)
    }
}

/// The runs of at least `shortest` key characters in `text`.
pub(super) fn runs(text: &str, shortest: usize) -> impl Iterator<Item = Run<'_>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let range = prefilter::next_run(text.as_bytes(), from, shortest)?;
        let (end, folded) = unfold(text, &range);
        from = end;
        let start = range.start + glued(text, &range);
        Some(match folded {
            Some(joined) => Run {
                range: start..end,
                before: &text[..start],
                token: joined.into(),
            },
            None => Run {
                range: start..end,
                before: &text[..start],
                token: text[start..end].into(),
            },
        })
    })
}

/// Whether random strings are expected where a text stands.
pub(super) fn is_excused(context: TextContext<'_>) -> bool {
    matches!(context.place, Place::Title | Place::Media) || context::is_inert(context.name)
}

/// The secrets in a run: none, one, or several with words between them.
pub(super) fn judge(run: &Run<'_>, settings: &Entropy, addresses: &Addresses) -> Vec<Secret> {
    let excused = encoded::is_binary(&run.token)
        || is_integrity(&run.token)
        || has_inert_label(run)
        || is_public_block(run.before)
        || is_media_address(run.before)
        || addresses.cover(run.range.start);
    if excused {
        return Vec::new();
    }
    let mut found = Vec::new();
    for part in parts(&run.token, settings.min_length) {
        let Some(token) = run.token.get(part.clone()) else {
            continue;
        };
        if is_random(token, settings) {
            let whole = run.token.len() != run.range.len();
            let range = if whole {
                run.range.clone()
            } else {
                run.range.start + part.start..run.range.start + part.end
            };
            found.push(Secret::new(token, range, Kind::Entropy));
        }
    }
    found
}

/// Whether a whole value is a random token.
pub(super) fn is_key(value: &str, settings: &Entropy) -> bool {
    value.bytes().all(prefilter::is_key_byte) && is_random(value, settings)
}

fn is_random(token: &str, settings: &Entropy) -> bool {
    let bytes = token.as_bytes();
    let head = token.get(..READ).unwrap_or(token);
    let varied = bytes.iter().any(u8::is_ascii_digit)
        || bytes.iter().any(u8::is_ascii_lowercase) && bytes.iter().any(u8::is_ascii_uppercase);
    bytes.len() >= settings.min_length
        && varied
        && bits(bytes) >= settings.min_bits
        && !settings.allows(token)
        && !placeholder::is_filler(token)
        && !placeholder::is_sequence(token)
        && !words::is_identifier(head, settings.min_length)
}

/// A token without redaction markers, cut where the path around a key ends.
fn parts(token: &str, min_length: usize) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut at = 0;
    for piece in token.split("REDACTED") {
        path_parts(token, at..at + piece.len(), min_length, &mut parts);
        at += piece.len() + "REDACTED".len();
    }
    parts
}

/// The stretches of a slash-separated token between plain words. Base64 has slashes
/// too, so that short components count as plain only at the ends.
fn path_parts(token: &str, range: Range<usize>, min_length: usize, parts: &mut Vec<Range<usize>>) {
    let text = &token[range.clone()];
    // No path is that long, and a long payload is one thing.
    if text.len() > READ || !text.contains('/') {
        parts.push(trimmed(token, range));
        return;
    }
    let mut components: Vec<(Range<usize>, bool)> = Vec::new();
    let mut at = range.start;
    for component in text.split('/') {
        let whole = at..at + component.len();
        let plain =
            component.len() >= 4 && words::composition(&words::segments(component)).0 >= 0.6;
        components.push((whole, plain));
        at += component.len() + 1;
    }
    for group in components.split(|(_, plain)| *plain) {
        let mut ranges: Vec<Range<usize>> = group.iter().map(|(range, _)| range.clone()).collect();
        let is_short = |range: &Range<usize>| {
            range.len() <= 3
                && !token[range.clone()]
                    .bytes()
                    .any(|byte| byte.is_ascii_uppercase())
        };
        let end = ranges.last().map_or(0, |range| range.end);
        let lead = ranges
            .windows(2)
            .take_while(|pair| is_short(&pair[0]) && end - pair[1].start >= min_length)
            .count();
        ranges.drain(..lead);
        let start = ranges.first().map_or(0, |range| range.start);
        while let [.., before, last] = &ranges[..]
            && is_short(last)
            && before.end - start >= min_length
        {
            ranges.pop();
        }
        if let (Some(first), Some(last)) = (ranges.first(), ranges.last()) {
            parts.push(trimmed(token, first.start..last.end));
        }
    }
}

/// Without separators at the ends, which belong to the text around a key.
fn trimmed(token: &str, range: Range<usize>) -> Range<usize> {
    let separator = |c: char| matches!(c, '-' | '_' | '+' | '/');
    let text = &token[range.clone()];
    let start = range.start + (text.len() - text.trim_start_matches(separator).len());
    let end = range.end - (text.len() - text.trim_end_matches(separator).len());
    start..end.max(start)
}

/// How many bytes at the start of a run belong to what stands before it: the letter
/// of a `\n` escape, the digits of `%2F`, the tail of a hashed redaction marker.
fn glued(text: &str, range: &Range<usize>) -> usize {
    let before = text.as_bytes()[..range.start].last();
    let run = &text[range.clone()];
    let bytes = run.as_bytes();
    match before {
        Some(b'\\')
            if bytes.first() == Some(&b'u')
                && bytes
                    .get(1..5)
                    .is_some_and(|d| d.iter().all(u8::is_ascii_hexdigit)) =>
        {
            5
        }
        Some(b'\\') if matches!(bytes.first(), Some(b'n' | b'r' | b't' | b'b' | b'f')) => 1,
        Some(b'%')
            if bytes
                .get(..2)
                .is_some_and(|d| d.iter().all(u8::is_ascii_hexdigit)) =>
        {
            2
        }
        Some(b'>') if placeholder::ends_in_label(&text[..range.start]) => {
            placeholder::digest_tail(run).unwrap_or(0)
        }
        _ => 0,
    }
}

/// The end of base64 that is folded into lines of equal length, and its joined lines.
fn unfold(text: &str, range: &Range<usize>) -> (usize, Option<String>) {
    const BREAKS: [&str; 4] = ["\r\n", "\n", "\\r\\n", "\\n"];
    let bytes = text.as_bytes();
    let start = range.start + glued(text, range);
    let width = range.end - start;
    let mut end = range.end;
    if !(60..=200).contains(&width) {
        return (end, None);
    }
    let mut joined: Option<String> = None;
    loop {
        let rest = &text[end..];
        let Some(line_break) = BREAKS
            .iter()
            .find(|line_break| rest.starts_with(**line_break))
        else {
            break;
        };
        let line = end + line_break.len();
        let length = bytes[line..]
            .iter()
            .take_while(|byte| prefilter::is_key_byte(**byte))
            .count();
        // A line of dashes ends a block and is no part of it.
        if length == 0 || length > width || bytes[line] == b'-' {
            break;
        }
        joined
            .get_or_insert_with(|| text[start..range.end].to_owned())
            .push_str(&text[line..line + length]);
        end = line + length;
        if length < width {
            break;
        }
    }
    (end, joined)
}

/// `sha512-…` of package lock files and Content-Security-Policy.
fn is_integrity(token: &str) -> bool {
    let algorithms = ["sha1", "sha224", "sha256", "sha384", "sha512", "md5"];
    let digest = algorithms.iter().find_map(|name| {
        let rest = token.get(name.len()..)?;
        let named = token.get(..name.len())?.eq_ignore_ascii_case(name);
        named.then(|| rest.strip_prefix(['-', '_', '/'])).flatten()
    });
    digest.is_some_and(|digest| digest.len() >= 20 && digest.len() <= 128)
}

/// Whether the name before a run says that it is a cursor, digest, id or the like.
fn has_inert_label(run: &Run<'_>) -> bool {
    let Some((label, assigned)) = label(run.before) else {
        return false;
    };
    let hex = run.token.bytes().all(|byte| byte.is_ascii_hexdigit());
    (assigned || hex) && (context::is_inert(label) || label == "h1")
}

/// The name right before a value and whether `:` or `=` stands between.
fn label(before: &str) -> Option<(&str, bool)> {
    let quote = |c: char| matches!(c, '"' | '\'' | '`' | '\\' | ' ' | '\t');
    let start = before.len().saturating_sub(96);
    let tail = before.get((start..=before.len()).find(|at| before.is_char_boundary(*at))?..)?;
    let tail = tail.trim_end_matches(quote);
    let tail = tail
        .strip_suffix("W/")
        .map_or(tail, |rest| rest.trim_end_matches(quote));
    let stripped = tail.trim_end_matches([':', '=', '>']);
    let assigned = stripped.len() < tail.len();
    let stripped = stripped.trim_end_matches(quote);
    let name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let length = stripped.chars().rev().take_while(|c| name(*c)).count();
    let found = stripped.get(stripped.len() - length..)?;
    (!found.is_empty()).then_some((found, assigned))
}

/// Whether a run is the body of a PEM block of another kind than a private key.
fn is_public_block(before: &str) -> bool {
    let tail =
        before.trim_end_matches(|c: char| c.is_whitespace() || c == '\\' || c == 'n' || c == 'r');
    let Some(head) = tail.strip_suffix("-----") else {
        return false;
    };
    let mut start = head.len().saturating_sub(64);
    while !head.is_char_boundary(start) {
        start += 1;
    }
    let line = &head[start..];
    line.rfind("-----BEGIN ")
        .is_some_and(|at| !line[at..].contains("PRIVATE"))
}

/// Whether a run is the payload of a `data:` address that is not text.
fn is_media_address(before: &str) -> bool {
    let Some(head) = before.strip_suffix(";base64,") else {
        return false;
    };
    let mut start = head.len().saturating_sub(128);
    while !head.is_char_boundary(start) {
        start += 1;
    }
    let kind = head[start..].rsplit_once("data:").map(|(_, kind)| kind);
    let text = [
        "text/",
        "application/json",
        "application/xml",
        "application/x-yaml",
    ];
    kind.is_some_and(|kind| !kind.is_empty() && !text.iter().any(|start| kind.starts_with(start)))
}
