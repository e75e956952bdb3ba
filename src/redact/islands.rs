//! JSON inside a text: the whole of it, or values that begin on a line of their own.

use crate::wire::json::{Kind, MAX_INPUT, Scanner, Span};
use std::ops::Range;

/// How many places of a text are tried. Each may cost a pass over the rest.
const TRIES: usize = 64;

/// The shortest text that is worth a look: `{"a":1}` and `["ab"]` hold nothing.
const SHORTEST: usize = 7;

/// The JSON objects and arrays in a text, and the text as a whole if it is a JSON string.
pub(super) fn islands(text: &str) -> Vec<Range<usize>> {
    if text.len() < SHORTEST || text.len() >= MAX_INPUT {
        return Vec::new();
    }
    let trimmed = text.trim();
    let start = text.len() - text.trim_start().len();
    let whole = start..start + trimmed.len();
    let outer = (trimmed.chars().next(), trimmed.chars().next_back());
    if matches!(
        outer,
        (Some('{'), Some('}')) | (Some('['), Some(']')) | (Some('"'), Some('"'))
    ) && is_json(text, &whole)
    {
        return vec![whole];
    }
    on_lines(text)
}

fn is_json(text: &str, range: &Range<usize>) -> bool {
    let mut scanner = Scanner::over(text, Span::new(range.start, range.end));
    scanner.value().is_ok() && scanner.finish().is_ok()
}

/// Values that begin a line, as `Found two:` and a value below it, or one a line.
fn on_lines(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    let mut tries = 0;
    while let Some(rest) = text.get(at..).filter(|rest| rest.len() >= SHORTEST) {
        let line_end =
            memchr::memchr(b'\n', rest.as_bytes()).map_or(text.len(), |end| at + end + 1);
        let line = text.get(at..line_end).unwrap_or_default();
        let start = at + line.len() - line.trim_start_matches([' ', '\t']).len();
        at = line_end;
        if !matches!(text.as_bytes().get(start), Some(b'{' | b'[')) {
            continue;
        }
        tries += 1;
        if tries > TRIES {
            break;
        }
        let mut scanner = Scanner::over(text, Span::new(start, text.len()));
        if let Ok(value) = scanner.value()
            && matches!(value.kind, Kind::BeginObject | Kind::BeginArray)
            && value.span.len() >= SHORTEST
        {
            found.push(value.span.range());
            at = (value.span.end as usize).max(line_end.min(value.span.end as usize));
            if let Some(next) = text
                .get(at..)
                .and_then(|rest| memchr::memchr(b'\n', rest.as_bytes()))
            {
                at += next + 1;
            } else {
                break;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        islands(text)
            .into_iter()
            .map(|range| &text[range])
            .collect()
    }

    #[test]
    fn json_is_found_alone_and_on_lines() {
        assert_eq!(found(" {\"a\":12} "), ["{\"a\":12}"]);
        assert_eq!(found("\"{\\\"a\\\":1}\""), ["\"{\\\"a\\\":1}\""]);
        assert_eq!(found("Two:\n{\n \"a\": 1\n}\nend"), ["{\n \"a\": 1\n}"]);
        assert_eq!(
            found("{\"a\":12}\n[\"abc\"]\n"),
            ["{\"a\":12}", "[\"abc\"]"]
        );
        assert_eq!(found("```json\n{\"a\": 1}\n```"), ["{\"a\": 1}"]);
    }

    #[test]
    fn what_is_no_json_is_none() {
        for text in ["", "{a: 1, b: 2}", "[see note]", "{\"a\": }", "plain text"] {
            assert!(found(text).is_empty(), "{text}");
        }
    }
}
