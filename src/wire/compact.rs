//! Other spellings of a JSON value: without white space, in ASCII, with sorted
//! members. All but the first serve for counting and searching and are never written back.

use super::json::{Kind, Piece, Scanner, Span, unescape, write_string};
use super::node::{Data, Node};

/// Appends the value at `span` without the white space between its tokens, so on one line,
/// with every token as it stands but for those in `changed`, which are in order and apart.
pub(crate) fn push_compact(text: &str, span: Span, changed: &[(Span, &str)], out: &mut Vec<u8>) {
    out.reserve(span.len());
    let mut scanner = Scanner::over(text, span);
    let mut changes = changed.iter().peekable();
    let mut ended = false;
    while let Ok(Some(token)) = scanner.next_token() {
        // Of a value that is replaced whole, what is left of it is not written.
        while changes
            .next_if(|(span, _)| span.end <= token.span.start)
            .is_some()
        {}
        let changed = changes
            .peek()
            .filter(|(span, _)| span.start <= token.span.start && token.span.end <= span.end);
        if let Some((span, text)) = changed {
            if span.start == token.span.start {
                if ended {
                    out.push(b',');
                }
                out.extend_from_slice(text.as_bytes());
                ended = true;
            }
            continue;
        }
        let closes = matches!(token.kind, Kind::EndObject | Kind::EndArray);
        if ended && !closes {
            out.push(b',');
        }
        out.extend_from_slice(token.span.of(text).as_bytes());
        if token.kind == Kind::Key {
            out.push(b':');
        }
        ended = !matches!(token.kind, Kind::Key | Kind::BeginObject | Kind::BeginArray);
    }
}

/// The length of the value at `span`, without white space and with everything
/// outside printable ASCII as `\uXXXX`: the `bytes` column of `inspect`.
///
/// Numbers count as they are spelled in the file.
pub(crate) fn ascii_len(text: &str, span: Span) -> usize {
    let mut len = 0;
    for_each_part(text, span, |part| match part {
        Part::Plain(token) => len += token.len(),
        Part::String(raw) => {
            len += 2;
            unescape(raw, |piece, _| len += ascii_piece_len(piece));
        }
    });
    len
}

/// The value without white space and with every character that JSON allows as
/// itself: what a reader would type to search for it.
pub(crate) fn readable(text: &str, span: Span) -> String {
    let mut out = String::with_capacity(span.len());
    for_each_part(text, span, |part| match part {
        Part::Plain(token) => out.push_str(token),
        Part::String(raw) => write_string(&super::json::decode(raw), &mut out),
    });
    out
}

/// The value without white space, in ASCII, its members sorted by name: the
/// spelling that `inspect --grep` of mcp-cassette 0.4.0 searches. `None` for a
/// value that is nested too deeply to be sorted.
pub(crate) fn sorted_ascii(text: &str, span: Span) -> Option<String> {
    let node = Node::read(text, span).ok()?;
    let mut out = String::with_capacity(span.len());
    push_sorted(text, &node, &mut out);
    Some(out)
}

/// A token of a compact spelling.
enum Part<'a> {
    /// Stands as it is.
    Plain(&'a str),
    /// A string or member name, without its quotes.
    String(&'a str),
}

fn for_each_part<'a>(text: &'a str, span: Span, mut part: impl FnMut(Part<'a>)) {
    let mut scanner = Scanner::over(text, span);
    // Whether a value has just ended, so that what follows it needs a comma.
    let mut ended = false;
    while let Ok(Some(token)) = scanner.next_token() {
        let closes = matches!(token.kind, Kind::EndObject | Kind::EndArray);
        if ended && !closes {
            part(Part::Plain(","));
        }
        match token.kind {
            Kind::Key | Kind::String => part(Part::String(token.inner().of(text))),
            _ => part(Part::Plain(token.span.of(text))),
        }
        if token.kind == Kind::Key {
            part(Part::Plain(":"));
        }
        ended = !matches!(token.kind, Kind::Key | Kind::BeginObject | Kind::BeginArray);
    }
}

fn ascii_piece_len(piece: Piece<'_>) -> usize {
    match piece {
        Piece::Text(part) => part.chars().map(ascii_char_len).sum(),
        Piece::Char(c) => ascii_char_len(c),
        Piece::Surrogate(_) => 6,
    }
}

fn ascii_char_len(c: char) -> usize {
    match c {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        ' '..='~' => 1,
        c => 6 * c.len_utf16(),
    }
}

/// Recursion is bounded by the depth limit of [`Node::read`].
fn push_sorted(text: &str, node: &Node, out: &mut String) {
    match &node.data {
        Data::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_by(|a, b| a.name.cmp(&b.name));
            out.push('{');
            for (index, member) in sorted.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                push_ascii(member.span.of(text), out);
                out.push(':');
                push_sorted(text, &member.value, out);
            }
            out.push('}');
        }
        Data::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                push_sorted(text, item, out);
            }
            out.push(']');
        }
        Data::Text(_) => push_ascii(node.span.of(text), out),
        _ => out.push_str(node.span.of(text)),
    }
}

/// Appends a string literal with everything outside printable ASCII escaped.
fn push_ascii(quoted: &str, out: &mut String) {
    let raw = quoted
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .unwrap_or(quoted);
    out.push('"');
    unescape(raw, |piece, _| match piece {
        Piece::Text(part) => part.chars().for_each(|c| push_ascii_char(c, out)),
        Piece::Char(c) => push_ascii_char(c, out),
        Piece::Surrogate(unit) => push_unit(unit, out),
    });
    out.push('"');
}

fn push_ascii_char(c: char, out: &mut String) {
    match c {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\u{8}' => out.push_str("\\b"),
        '\u{c}' => out.push_str("\\f"),
        ' '..='~' => out.push(c),
        c => {
            for unit in c.encode_utf16(&mut [0; 2]) {
                push_unit(*unit, out);
            }
        }
    }
}

fn push_unit(unit: u16, out: &mut String) {
    out.push_str(&format!("\\u{unit:04x}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(text: &str) -> Span {
        Span::new(0, text.len())
    }

    fn compact(text: &str, changed: &[(&str, &str)]) -> String {
        let changed: Vec<(Span, &str)> = changed
            .iter()
            .map(|(old, new)| {
                let at = text.find(old).expect("a part of the text");
                (Span::new(at, at + old.len()), *new)
            })
            .collect();
        let mut out = Vec::new();
        push_compact(text, whole(text), &changed, &mut out);
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn the_compact_spelling_keeps_every_token_and_order() {
        let text = "{ \"b\" : [ 1.50 , -0 , 1e400,{ } , [ ] ],\n \"a\": \"x y\\ud83d\u{2028}\" }";
        let expected = "{\"b\":[1.50,-0,1e400,{},[]],\"a\":\"x y\\ud83d\u{2028}\"}";
        assert_eq!(compact(text, &[]), expected);
    }

    #[test]
    fn tokens_and_whole_values_are_replaced_in_the_compact_spelling() {
        let text = "{\"id\": 7, \"a\": { \"b\": [1, {}] }, \"c\": 1}";
        let changed = [("7", "\"x\""), ("{ \"b\": [1, {}] }", "0")];
        assert_eq!(compact(text, &changed), "{\"id\":\"x\",\"a\":0,\"c\":1}");
        assert_eq!(compact("[1, [2, 3] , 4]", &[("[2, 3]", "[]")]), "[1,[],4]");
    }

    #[test]
    fn the_length_is_that_of_the_ascii_spelling() {
        for text in [
            r#"{ "b" : [ 1.50 , true , null , {} , [ ] ] , "a" : "x" }"#,
            "{\"é\": \"\u{1f600} \u{7f} \\u00e9 \\/ \\n \\\" \\ud83d\"}",
            "\"plain\"",
            "[[], [[]], {\"a\": {}}]",
        ] {
            let sorted = sorted_ascii(text, whole(text)).expect("shallow");
            assert!(sorted.is_ascii());
            assert_eq!(ascii_len(text, whole(text)), sorted.len(), "{sorted}");
        }
    }

    #[test]
    fn the_sorted_spelling_orders_members_and_escapes() {
        let text = "{\"b\": 1, \"a\": [\"é\u{1f600}\"], \"B\": 1e400}";
        assert_eq!(
            sorted_ascii(text, whole(text)).as_deref(),
            Some("{\"B\":1e400,\"a\":[\"\\u00e9\\ud83d\\ude00\"],\"b\":1}")
        );
    }

    #[test]
    fn the_readable_spelling_keeps_the_order_and_unescapes() {
        let text = "{\"b\": \"caf\\u00e9 \\/ \\\"\", \"a\": [ ]}";
        assert_eq!(
            readable(text, whole(text)),
            "{\"b\":\"café / \\\"\",\"a\":[]}"
        );
    }

    #[test]
    fn too_deep_a_value_is_counted_and_not_sorted() {
        let text = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
        assert_eq!(ascii_len(&text, whole(&text)), 10_000);
        assert_eq!(sorted_ascii(&text, whole(&text)), None);
    }
}
