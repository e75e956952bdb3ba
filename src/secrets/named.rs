//! Values under names that promise a secret, whatever their entropy: members,
//! assignments in text, headers, command-line arguments, query parameters, cookies.

use std::ops::Range;

use super::context::{self, Place, Promise, TextContext};
use super::placeholder;
use super::prefilter::Hit;
use super::value::{self, Form};

/// The longest name around a stem and the longest value that is read, in bytes.
const NAME: usize = 64;
const VALUE: usize = 2048;
/// How far a tag in place of a value and a cookie header are followed.
const SHORT: usize = 256;

/// Schemes before the credentials of an `Authorization` header.
const SCHEMES: &[&str] = &[
    "bearer",
    "basic",
    "token",
    "apikey",
    "digest",
    "bot",
    "jwt",
    "negotiate",
];

/// Words before a name that make it another one: `next page token: …`.
#[rustfmt::skip]
const RULED_OUT_BY: &[&str] = &[
    "page", "next", "previous", "prev", "continuation", "max", "min", "total", "no", "pagination",
    "sync", "cursor", "progress", "stop", "special", "public", "unknown", "invalid", "unexpected",
];

/// A value and the word that gave it away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) range: Range<usize>,
    pub(super) word: &'static str,
}

/// How a value is tied to its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tie {
    Colon,
    /// `=` without blanks around it.
    Equals,
    /// `=` as code and some configuration files write it.
    SpacedEquals,
    /// The next argument of a command.
    Blank,
}

/// The whole text as the value of the name it stands under.
pub(super) fn in_member(text: &str, context: TextContext<'_>) -> Option<Named> {
    let promise = context::promise(context.name)?;
    let start = text.len() - text.trim_start().len();
    let whole = start..start + text.trim().len();
    if whole.len() > VALUE {
        return None;
    }
    let range = if context.name.to_ascii_lowercase().contains("cookie") {
        cookie_value(text, whole)?
    } else {
        without_scheme(text, whole)
    };
    let value = text.get(range.clone())?;
    let word = word_of(promise);
    let accepted = is_secret(value, Form::Quoted, promise, context.place) && fits_name(value, word);
    accepted.then_some(Named { range, word })
}

/// The values of the telling names at `hits` in running text, ascending and apart.
pub(super) fn in_text(text: &str, hits: impl Iterator<Item = Hit>, place: Place) -> Vec<Named> {
    let mut found = Vec::new();
    let mut done = 0;
    for hit in hits {
        if hit.start < done {
            continue;
        }
        let name = name_around(text, &hit);
        match assignment(text, &name, place) {
            Some(named) => {
                done = named.range.end;
                found.push(named);
            }
            None => done = done.max(name.end),
        }
    }
    found
}

fn assignment(text: &str, name: &Range<usize>, place: Place) -> Option<Named> {
    // The tie comes first: most telling words in prose have none, and it is cheap.
    let (at, tie) = tie(text, name)?;
    let promise = promise_in_text(text, name)?;
    let word = word_of(promise);
    let (range, form) = value_at(text, at);
    let mut range = range;
    if word == "cookie" || word == "cookies" {
        range = cookie_value(text, line_rest(text, range, form))?;
    } else if form == Form::Bare && is_scheme(text.get(range.clone())?) {
        range = credentials_after(text, range.end)?;
    } else {
        range = without_scheme(text, range);
    }
    let value = text.get(range.clone())?;
    let accepted = is_secret(value, form, promise, place)
        && fits_name(value, word)
        && (form == Form::Quoted || value::is_credible(value) || stands_alone(text, &range, tie));
    accepted.then_some(Named { range, word })
}

/// What a name in running text promises, looking at what stands right before it.
fn promise_in_text(text: &str, name: &Range<usize>) -> Option<Promise> {
    let spelt = text.get(name.clone())?;
    let before = text.get(..name.start)?;
    let parameter = before.ends_with(['?', '&']);
    if parameter && matches!(spelt, "key" | "auth" | "sig" | "pass") {
        return Some(Promise::Weak("key"));
    }
    let previous = before.strip_suffix(' ').map(|rest| {
        let length = rest
            .bytes()
            .rev()
            .take(20)
            .take_while(u8::is_ascii_alphabetic)
            .count();
        rest.get(rest.len() - length..).unwrap_or_default()
    });
    if previous.is_some_and(|word| {
        RULED_OUT_BY
            .iter()
            .any(|known| word.eq_ignore_ascii_case(known))
    }) {
        return None;
    }
    context::promise(spelt)
}

/// Whether a value counts as a secret under a name of that promise in that place.
fn is_secret(value: &str, form: Form, promise: Promise, place: Place) -> bool {
    if value::is_harmless(value, form) {
        return false;
    }
    let left = placeholder::beside_markers(value);
    let value = left.as_deref().unwrap_or(value);
    match promise {
        Promise::Weak(_) => value.len() >= 8 && value::is_credible(value),
        Promise::Firm(_) => place == Place::Data || value::is_credible(value),
    }
}

/// Whether a value may be the secret that a name promises, and not something else that has
/// such a name.
fn fits_name(value: &str, word: &str) -> bool {
    is_not_a_count(value, word) && !(word == "pwd" && is_directory(value))
}

/// `PWD` is the working directory in every listing of an environment.
fn is_directory(value: &str) -> bool {
    let drive = |path: &str| {
        let letter = path.bytes().next().is_some_and(|c| c.is_ascii_alphabetic());
        letter
            && path
                .get(1..3)
                .is_some_and(|rest| rest == ":\\" || rest == ":/")
    };
    let below_root = value.strip_prefix('/');
    drive(value) || below_root.is_some_and(|path| path.contains('/') && !path.starts_with('/'))
}

/// Numbers are passwords and codes, but under other names they count something.
fn is_not_a_count(value: &str, word: &str) -> bool {
    let number = value
        .bytes()
        .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b',' | b'%' | b'-'));
    !number || value.len() >= 4 && (word.starts_with("pass") || word == "pwd") || value.len() >= 12
}

/// Whether a word-like bare value is bound to its name and nothing else: at the end of
/// a line, of a quoted stretch or of a parameter. `token: the one you got` is not.
fn stands_alone(text: &str, range: &Range<usize>, tie: Tie) -> bool {
    let value = text.get(range.clone()).unwrap_or_default();
    let next = text.as_bytes().get(range.end).copied();
    let ends = matches!(
        next,
        None | Some(b'\n' | b'\r' | b'"' | b'\'' | b'`' | b'\\' | b'<')
    );
    let wordlike = value::is_words(value);
    let capital = value
        .bytes()
        .next()
        .is_some_and(|byte| byte.is_ascii_uppercase());
    match tie {
        Tie::Colon if wordlike => ends && !capital,
        Tie::Colon => ends || matches!(next, Some(b',' | b';' | b')' | b'}' | b']')),
        Tie::Equals if wordlike => ends || matches!(next, Some(b'&' | b';' | b' ')),
        Tie::Equals => next != Some(b'('),
        Tie::SpacedEquals => ends && !wordlike,
        Tie::Blank => false,
    }
}

/// The name that holds a stem: letters, digits, `_`, `-` and `.` around it.
fn name_around(text: &str, hit: &Hit) -> Range<usize> {
    let bytes = text.as_bytes();
    let part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let left = bytes[..hit.start]
        .iter()
        .rev()
        .take(NAME)
        .take_while(part)
        .count();
    let mut start = hit.start - left;
    // Patterns such as `sig=` and `?key=` take their punctuation with them.
    let own = bytes[hit.start..hit.end].iter();
    let (lead, tail) = (
        own.clone()
            .take_while(|byte| matches!(byte, b'?' | b'&'))
            .count(),
        own.rev().take_while(|byte| **byte == b'=').count(),
    );
    start += if left == 0 { lead } else { 0 };
    let mut end = hit.end - tail;
    if tail == 0 {
        end += bytes[hit.end..].iter().take(NAME).take_while(part).count();
    }
    // The letter of a `\n` escape belongs to the escape.
    let escaped = start.checked_sub(1).is_some_and(|i| bytes[i] == b'\\')
        && matches!(bytes[start], b'n' | b'r' | b't');
    if escaped && start < hit.start {
        start += 1;
    }
    while start < end && matches!(bytes[start], b'-' | b'.') {
        start += 1;
    }
    while end > start && matches!(bytes[end - 1], b'-' | b'.') {
        end -= 1;
    }
    start..end
}

/// Where the value of a name begins and how it is tied to it.
fn tie(text: &str, name: &Range<usize>) -> Option<(usize, Tie)> {
    let bytes = text.as_bytes();
    let skip = |from: usize, is: fn(u8) -> bool, most: usize| {
        from + bytes[from..]
            .iter()
            .take(most)
            .take_while(|byte| is(**byte))
            .count()
    };
    if bytes.get(name.end) == Some(&b'>')
        && name.start.checked_sub(1).is_some_and(|i| bytes[i] == b'<')
    {
        // `<TOKEN>_` and 12 digits is a redaction marker, not a tag.
        let marker = text
            .get(name.end + 1..)
            .is_some_and(|rest| placeholder::digest_tail(rest).is_some());
        return (!marker).then_some((name.end + 1, Tie::Equals));
    }
    let closed = skip(
        name.end,
        |byte| matches!(byte, b'\\' | b'"' | b'\'' | b'`' | b']' | b'*'),
        4,
    );
    let sign = skip(closed, |byte| matches!(byte, b' ' | b'\t'), 8);
    let blank = sign > closed;
    let rest = text.get(sign..)?;
    let (length, colon) = if rest.starts_with(":=") || rest.starts_with("=>") {
        (2, true)
    } else if rest.starts_with("::")
        || rest.starts_with("://")
        || rest.starts_with("==")
        || rest.starts_with("=~")
    {
        return None;
    } else if rest.starts_with(':') {
        (1, true)
    } else if rest.starts_with('=') {
        (1, false)
    } else if starts_with_ignore_case(rest, "%3d") || starts_with_ignore_case(rest, "%3a") {
        (3, false)
    } else if is_flag(bytes, name.start) && blank
        || is_bearer(text, name) && (blank || rest.starts_with("%20"))
    {
        return Some((if blank { sign } else { sign + 3 }, Tie::Blank));
    } else {
        return None;
    };
    let after = sign + length;
    let value = skip(after, |byte| matches!(byte, b' ' | b'\t' | b'*'), 8);
    let spaced = blank || value > after;
    Some((
        value,
        if colon {
            Tie::Colon
        } else if spaced {
            Tie::SpacedEquals
        } else {
            Tie::Equals
        },
    ))
}

fn is_bearer(text: &str, name: &Range<usize>) -> bool {
    text.get(name.clone())
        .is_some_and(|name| name.eq_ignore_ascii_case("bearer"))
}

fn is_flag(bytes: &[u8], start: usize) -> bool {
    start
        .checked_sub(2)
        .is_some_and(|i| bytes[i..start] == *b"--")
}

/// The value that begins at `at`, without its quotes.
fn value_at(text: &str, at: usize) -> (Range<usize>, Form) {
    let bytes = text.as_bytes();
    let mut start = at;
    // Python's string prefixes.
    let prefixed = matches!(bytes.get(start), Some(b'b' | b'r' | b'u' | b'f'));
    if prefixed && matches!(bytes.get(start + 1), Some(b'"' | b'\'')) {
        start += 1;
    }
    let slashes = bytes[start..]
        .iter()
        .take(8)
        .take_while(|byte| **byte == b'\\')
        .count();
    if let Some(quote @ (b'"' | b'\'' | b'`')) = bytes.get(start + slashes) {
        let inner = start + slashes + 1;
        if let Some(length) = closing(&bytes[inner..], *quote, slashes) {
            return (inner..inner + length, Form::Quoted);
        }
        start = inner;
    }
    let mut end = start + bare_length(text, start);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    if end > start && bytes[end - 1] == b'.' {
        end = start + text[start..end].trim_end_matches('.').len();
    }
    (start..end, Form::Bare)
}

/// The length of an unquoted value. A template or tag is kept whole, so that it can be
/// told from a value.
fn bare_length(text: &str, start: usize) -> usize {
    let rest = &text.as_bytes()[start..];
    let through = |last: u8| {
        let found = rest.iter().take(SHORT).position(|byte| *byte == last);
        found.map_or(1, |at| at + 1)
    };
    let marker = |at: usize| text.get(start + at..).and_then(placeholder::marker_at);
    match rest.first() {
        Some(b'<') if marker(0).is_none() => return through(b'>'),
        Some(b'[') => return through(b']'),
        _ => {}
    }
    let stops = |byte: &u8| byte.is_ascii_whitespace() || br#""'`<>,;&)[]}|\"#.contains(byte);
    let mut at = 0;
    // A marker in the value is a part of it, and so is what is glued to it.
    while at < VALUE.min(rest.len()) {
        let plain = rest[at..].iter().take(VALUE - at).position(stops);
        at = plain.map_or(VALUE.min(rest.len()), |length| at + length);
        match marker(at) {
            Some(length) => at += length,
            None => break,
        }
    }
    at
}

/// The length of what stands before the closing quote on the same line. Where the
/// opening quote is escaped, so is the closing one.
fn closing(bytes: &[u8], quote: u8, slashes: usize) -> Option<usize> {
    let mut at = 0;
    while at < VALUE {
        match bytes.get(at)? {
            b'\n' => return None,
            b'\\' => {
                let run = bytes[at..]
                    .iter()
                    .take(8)
                    .take_while(|byte| **byte == b'\\')
                    .count();
                let closes = slashes > 0 && run <= slashes && bytes.get(at + run) == Some(&quote);
                if closes {
                    return Some(at);
                }
                at += run + 1;
            }
            byte if *byte == quote => return Some(at),
            _ => at += 1,
        }
    }
    None
}

/// A value without `Bearer `, `Basic%20` and the like before it.
fn without_scheme(text: &str, range: Range<usize>) -> Range<usize> {
    let value = text.get(range.clone()).unwrap_or_default();
    let letters = value.bytes().take_while(u8::is_ascii_alphabetic).count();
    if !is_scheme(&value[..letters]) {
        return range;
    }
    let rest = &value[letters..];
    let blank = match rest.strip_prefix("%20").or_else(|| rest.strip_prefix('+')) {
        Some(after) => rest.len() - after.len(),
        None => rest.len() - rest.trim_start().len(),
    };
    if blank == 0 {
        range
    } else {
        range.start + letters + blank..range.end
    }
}

fn is_scheme(word: &str) -> bool {
    SCHEMES
        .iter()
        .any(|scheme| word.eq_ignore_ascii_case(scheme))
}

/// The bare value after the blank that follows a scheme.
fn credentials_after(text: &str, end: usize) -> Option<Range<usize>> {
    let rest = text.get(end..)?;
    let blank = rest
        .bytes()
        .take_while(|byte| matches!(byte, b' ' | b'\t'))
        .count();
    (blank > 0).then(|| value_at(text, end + blank).0)
}

/// A cookie header goes on over blanks to the end of the line or quoted stretch.
fn line_rest(text: &str, range: Range<usize>, form: Form) -> Range<usize> {
    if form == Form::Quoted {
        return range;
    }
    let rest = text.as_bytes().get(range.start..).unwrap_or_default();
    let stops = |byte: &u8| matches!(byte, b'\n' | b'\r' | b'"' | b'\'' | b'`' | b'\\');
    let mut end = range.start
        + rest
            .iter()
            .take(SHORT)
            .position(stops)
            .unwrap_or(SHORT.min(rest.len()));
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    range.start..end
}

/// The first value in a cookie header that is no attribute.
fn cookie_value(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    const ATTRIBUTES: [&str; 8] = [
        "path", "expires", "max-age", "domain", "samesite", "secure", "httponly", "priority",
    ];
    let header = text.get(range.clone())?;
    let mut at = range.start;
    for pair in header.split(';') {
        if let Some((name, value)) = pair.split_once('=') {
            let attribute = ATTRIBUTES
                .iter()
                .any(|known| name.trim().eq_ignore_ascii_case(known));
            let start = at + name.len() + 1;
            let token = !name.trim().is_empty() && !name.trim().contains(char::is_whitespace);
            if token && !attribute && !value::is_harmless(value, Form::Quoted) {
                return Some(start..start + value.trim_end().len());
            }
        }
        at += pair.len() + 1;
    }
    None
}

fn word_of(promise: Promise) -> &'static str {
    let (Promise::Firm(word) | Promise::Weak(word)) = promise;
    word
}

fn starts_with_ignore_case(text: &str, start: &str) -> bool {
    text.get(..start.len())
        .is_some_and(|head| head.eq_ignore_ascii_case(start))
}
