//! Cookie headers in running text: each value, not only the first.

use crate::secrets::placeholder::marker_at;
use regex::Regex;
use std::ops::Range;
use std::sync::OnceLock;

/// How much of a header is read, in bytes.
const LONGEST: usize = 4096;

/// Members of a `Set-Cookie` header that are no cookies (RFC 6265, section 4.1.1).
const ATTRIBUTES: [&str; 6] = [
    "path", "domain", "expires", "max-age", "samesite", "priority",
];

/// The values in the cookie headers of a text, from left to right.
pub(super) fn values(text: &str) -> Vec<Range<usize>> {
    static HEADER: OnceLock<Option<Regex>> = OnceLock::new();
    let header = HEADER.get_or_init(|| Regex::new(r#"(?i)\bcookie["']?[ \t]*:[ \t]*["']?"#).ok());
    let mut found = Vec::new();
    let Some(header) = header.as_ref() else {
        return found;
    };
    let mut from = 0;
    while let Some(start) = header.find_at(text, from) {
        let rest = text.get(start.end()..).unwrap_or_default();
        let stops = |byte: &u8| matches!(byte, b'\n' | b'\r' | b'"' | b'\'' | b'`' | b'\\');
        let length = rest
            .bytes()
            .take(LONGEST)
            .take_while(|byte| !stops(byte))
            .count();
        let end = start.end() + length;
        let mut at = start.end();
        for pair in text.get(at..end).unwrap_or_default().split(';') {
            found.extend(value(pair).map(|range| at + range.start..at + range.end));
            at += pair.len() + 1;
        }
        from = end.max(start.end());
    }
    found
}

/// The value of `name=value`, if it is a cookie.
fn value(pair: &str) -> Option<Range<usize>> {
    let (name, value) = pair.split_once('=')?;
    let plain = |byte: u8| byte.is_ascii_graphic() && !br#"()<>@,:\"/[]?{}"#.contains(&byte);
    let attribute = ATTRIBUTES
        .iter()
        .any(|known| name.trim().eq_ignore_ascii_case(known));
    let start = name.len() + 1 + value.len() - value.trim_start().len();
    let value = value.split_whitespace().next()?;
    let fits = !name.trim().is_empty() && name.trim().bytes().all(plain);
    // A marker is one as a whole; the caller sees what is glued to it.
    let tag = value.starts_with('<') && marker_at(value).is_none_or(|end| end == value.len());
    let stand_in = tag || value.starts_with(['$', '{', '%']) || value.starts_with("...");
    (fits && !attribute && !stand_in).then(|| start..start + value.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        values(text).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn every_cookie_is_found_and_no_attribute() {
        assert_eq!(found("Cookie: a=1; b=22 ; c=<REDACTED>"), ["1", "22"]);
        let set = "x\nset-cookie: sid=abc; Path=/; Max-Age=3; HttpOnly\nb=c";
        assert_eq!(found(set), ["abc"]);
        assert_eq!(found("-H 'Cookie: a=x' b=y"), ["x"]);
        assert!(found("a cookie: sweet; a cookie = 3").is_empty());
    }
}
