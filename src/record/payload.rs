//! Bytes of the wire as the payload of a message: JSON text that keeps every token, and text
//! for whatever is no JSON object.

use crate::wire::glyph::{Glyphless, glyphless, is_emoji, is_joining, needs_word_breaks};
use crate::wire::json::{Kind, Scanner, Span, member, write_string};
use std::borrow::Cow;
use std::fmt::Write as _;

/// What a frame holds.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// One JSON object.
    Object,
    /// The members of a batch.
    Batch(Vec<Span>),
    /// Anything else.
    Raw,
}

/// Tells what `text` is. It is looked at to its end, so that a broken message is raw.
pub(super) fn frame(text: &str) -> Frame {
    let mut scanner = Scanner::new(text);
    match scanner.require() {
        Ok(first) if first.kind == Kind::BeginObject => loop {
            match scanner.next_token() {
                Ok(Some(_)) => {}
                Ok(None) => return Frame::Object,
                Err(_) => return Frame::Raw,
            }
        },
        Ok(first) if first.kind == Kind::BeginArray => batch(scanner).unwrap_or(Frame::Raw),
        _ => Frame::Raw,
    }
}

/// Whether `text` is a message by what it says of itself.
pub(crate) fn says_json_rpc(text: &str) -> bool {
    let says = |span: Span| member(text, span, "jsonrpc").is_some();
    match frame(text) {
        Frame::Object => says(Span::new(0, text.len())),
        Frame::Batch(members) => members.into_iter().all(says),
        Frame::Raw => false,
    }
}

/// The members of an array of nothing but objects, of which there is at least one.
fn batch(mut scanner: Scanner<'_>) -> Option<Frame> {
    let mut members = Vec::new();
    while let Some(item) = scanner.next_item().ok()? {
        if item.kind != Kind::BeginObject {
            return None;
        }
        members.push(item.span);
    }
    scanner.finish().ok()?;
    (!members.is_empty()).then_some(Frame::Batch(members))
}

/// The JSON string of any bytes. One that belongs to no UTF-8 is written as half of a surrogate
/// pair, `\udc80` to `\udcff`, which no text that is UTF-8 can hold: so the bytes can be had back.
pub(super) fn raw_string(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() + 2);
    out.push('"');
    for chunk in bytes.utf8_chunks() {
        let mut quoted = String::with_capacity(chunk.valid().len() + 2);
        write_string(chunk.valid(), &mut quoted);
        out.push_str(quoted.get(1..quoted.len() - 1).unwrap_or_default());
        for byte in chunk.invalid() {
            // Writing to a string cannot fail.
            let _ = write!(out, "\\udc{byte:02x}");
        }
    }
    out.push('"');
    out
}

/// JSON text with the characters as escapes that a reviewer would not see in it: controls,
/// line separators, what changes the direction of text, tags, and zero-width characters where no
/// script or emoji needs them. All of them can stand in strings only, so the value stays.
pub(super) fn with_visible_characters(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || !text.chars().any(may_hide) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut before: Option<char> = None;
    // An emoji flag of a region is a flag and tags; only those are emoji.
    let mut in_flag = false;
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        let after = rest.clone().find(|c| !is_mark_of_emoji(*c));
        in_flag = match c {
            '\u{1f3f4}' => true,
            '\u{e0020}'..='\u{e007f}' => in_flag,
            _ => false,
        };
        if in_flag || !hides(c, before, after) {
            out.push(c);
        } else {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
        if !is_mark_of_emoji(c) {
            before = Some(c);
        }
    }
    Cow::Owned(out)
}

/// A variation selector or a skin tone, which stands between an emoji and its joiner.
fn is_mark_of_emoji(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}')
}

fn may_hide(c: char) -> bool {
    hides(c, None, None)
}

fn hides(c: char, before: Option<char>, after: Option<char>) -> bool {
    if matches!(c, '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}') {
        return true;
    }
    let near = |test: fn(char) -> bool| before.is_some_and(test) || after.is_some_and(test);
    match glyphless(c) {
        None | Some(Glyphless::Variation | Glyphless::Filler) => false,
        Some(Glyphless::ZeroWidth) => match c {
            '\u{200d}' if near(is_joining) => false,
            '\u{200d}' => !(before.is_some_and(is_emoji) && after.is_some_and(is_emoji)),
            '\u{200c}' => !near(is_joining),
            '\u{200b}' => !near(needs_word_breaks),
            _ => true,
        },
        Some(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::json::decode;
    use proptest::prelude::*;

    #[test]
    fn a_frame_is_an_object_a_batch_or_text() {
        for (text, expected) in [
            ("{}", Frame::Object),
            (" {\"a\": [1]} ", Frame::Object),
            ("{\"a\":1e400,\"b\":\"\\ud83d\"}", Frame::Object),
            (
                "[{}, {}]",
                Frame::Batch(vec![Span::new(1, 3), Span::new(5, 7)]),
            ),
            ("[]", Frame::Raw),
            ("[1]", Frame::Raw),
            ("[{}, 1]", Frame::Raw),
            ("[{}] x", Frame::Raw),
            ("{} x", Frame::Raw),
            ("{", Frame::Raw),
            ("\"{}\"", Frame::Raw),
            ("\u{feff}{}", Frame::Raw),
            ("{\"a\":NaN}", Frame::Raw),
            ("ready", Frame::Raw),
            ("", Frame::Raw),
        ] {
            assert_eq!(frame(text), expected, "{text}");
        }
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(200_000), "]".repeat(200_000));
        assert_eq!(frame(&deep), Frame::Object);
    }

    #[test]
    fn what_a_reviewer_would_not_see_becomes_an_escape() {
        for (text, expected) in [
            ("\"plain ä 日本\"", "\"plain ä 日本\""),
            ("\"a\u{2028}b\"", "\"a\\u2028b\""),
            ("\"a\u{202e}b\"", "\"a\\u202eb\""),
            ("\"a\u{9b}31m\"", "\"a\\u009b31m\""),
            ("\"a\u{200b}b\"", "\"a\\u200bb\""),
            ("\"a\u{e0041}\"", "\"a\\udb40\\udc41\""),
            // Persian, an emoji family, a heart with its selector, the flag of Wales.
            ("\"می\u{200c}خواهم\"", "\"می\u{200c}خواهم\""),
            ("\"👩\u{200d}👧\"", "\"👩\u{200d}👧\""),
            ("\"👩🏽\u{200d}🚀\"", "\"👩🏽\u{200d}🚀\""),
            ("\"❤\u{fe0f}\u{200d}🔥\"", "\"❤\u{fe0f}\u{200d}🔥\""),
            (
                "\"🏴\u{e0067}\u{e0062}\u{e007f}\"",
                "\"🏴\u{e0067}\u{e0062}\u{e007f}\"",
            ),
            ("\"a\u{200d}b\"", "\"a\\u200db\""),
            ("{\"k\u{feff}\":1}", "{\"k\\ufeff\":1}"),
        ] {
            assert_eq!(with_visible_characters(text), expected);
        }
    }

    proptest! {
        #[test]
        fn any_bytes_can_be_had_back(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let json = raw_string(&bytes);
            prop_assert_eq!(Scanner::new(&json).value().map(|v| v.kind), Ok(Kind::String));
            let mut back = Vec::new();
            crate::wire::json::unescape(&json[1..json.len() - 1], |piece, _| match piece {
                crate::wire::json::Piece::Text(text) => back.extend_from_slice(text.as_bytes()),
                crate::wire::json::Piece::Char(c) => {
                    back.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                }
                crate::wire::json::Piece::Surrogate(unit) => back.push(unit.to_be_bytes()[1]),
            });
            prop_assert_eq!(back, bytes);
        }

        #[test]
        fn escapes_do_not_change_the_value(text in "\\PC{0,20}[\u{200b}-\u{2030}\u{feff}]{0,3}\\PC{0,5}") {
            let mut json = String::new();
            write_string(&text, &mut json);
            let shown = with_visible_characters(&json);
            prop_assert_eq!(decode(&shown[1..shown.len() - 1]), decode(&json[1..json.len() - 1]));
        }
    }
}
