//! The address of a server as a cassette may hold it.

use crate::redact::Redactor;
use crate::wire::json::{decode, write_string};

/// Names of query parameters whose values are credentials, as parts of words.
const SECRET: [&str; 9] = [
    "auth", "token", "secret", "key", "pass", "cred", "sig", "session", "code",
];
/// A segment of a path or a value of a query that is this long and mixes letters and digits
/// is taken for a credential, in bytes.
const LONG_SEGMENT: usize = 20;
const LONG_VALUE: usize = 12;
const REDACTED: &str = "REDACTED";

/// An address without what opens it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct StoredUrl {
    /// As a JSON string.
    pub(super) json: String,
    /// What was left out.
    pub(super) secrets: Vec<String>,
}

/// Leaves out the user, secret-looking segments of the path and values of the query, the
/// fragment, and what the rules of redaction find besides.
pub(super) fn stored(url: &str, redactor: &Redactor) -> StoredUrl {
    let mut secrets = Vec::new();
    let url = url.split('#').next().unwrap_or_default();
    let (address, query) = match url.split_once('?') {
        Some((address, query)) => (address, Some(query)),
        None => (url, None),
    };
    let (scheme, rest) = match address.split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None => (String::new(), address),
    };
    let (authority, path) = match rest.find('/') {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    };
    let host = match authority.rsplit_once('@') {
        Some((user, host)) => {
            secrets.extend(
                user.split_once(':')
                    .map(|(_, password)| password.to_owned()),
            );
            host
        }
        None => authority,
    };
    let segments: Vec<&str> = path
        .split('/')
        .map(|segment| keep(segment, is_mixed(segment, LONG_SEGMENT), &mut secrets))
        .collect();
    let mut out = format!("{scheme}{host}{}", segments.join("/"));
    for (at, pair) in query.unwrap_or_default().split('&').enumerate() {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        if pair.is_empty() {
            continue;
        }
        let lower = name.to_ascii_lowercase();
        let is_secret =
            SECRET.iter().any(|part| lower.contains(part)) || is_mixed(value, LONG_VALUE);
        // Some addresses are `?KEY` alone.
        let name = keep(name, is_mixed(name, LONG_SEGMENT), &mut secrets);
        out.push(if at == 0 { '?' } else { '&' });
        out.push_str(name);
        if pair.contains('=') {
            out.push('=');
            out.push_str(keep(value, is_secret, &mut secrets));
        }
    }
    let mut json = String::new();
    write_string(&out, &mut json);
    if let Some(scrubbed) = redactor.head(&json, "server_url").text {
        json = scrubbed;
    }
    StoredUrl { json, secrets }
}

fn keep<'a>(text: &'a str, is_secret: bool, secrets: &mut Vec<String>) -> &'a str {
    if !is_secret || text.is_empty() {
        return text;
    }
    secrets.push(text.to_owned());
    let plain = percent_decoded(text);
    if plain != text {
        secrets.push(plain);
    }
    REDACTED
}

fn is_mixed(text: &str, long: usize) -> bool {
    let has = |test: fn(&u8) -> bool| text.bytes().any(|byte| test(&byte));
    text.len() >= long && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
}

/// What a server reads; escapes that are none stay.
fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let digits = behind.get(..2).filter(|_| *first == b'%');
        let byte = digits
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = match byte {
            Some(_) => behind.get(2..).unwrap_or_default(),
            None => behind,
        };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The values of a query that may be credentials, as a legacy server puts the id of a session there.
pub(super) fn query_values(address: &str) -> impl Iterator<Item = &str> {
    let query = address.split_once('?').map_or("", |(_, query)| query);
    query
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .map(|(_, value)| value)
}

/// Path and query of an address, whatever stands before them.
pub(super) fn path_and_query(address: &str) -> &str {
    match address.split_once("://") {
        Some((_, rest)) => rest
            .find('/')
            .map_or("/", |at| rest.get(at..).unwrap_or("/")),
        None => address,
    }
}

/// What a JSON string spells.
pub(super) fn spelled(json: &str) -> String {
    let inner = json.get(1..json.len().saturating_sub(1));
    decode(inner.unwrap_or_default()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::Rules;

    #[test]
    fn what_opens_a_server_is_not_stored() {
        let redactor = Redactor::new(&Rules {
            defaults: false,
            ..Rules::default()
        })
        .unwrap();
        for (url, kept, secrets) in [
            (
                "http://127.0.0.1:8000/mcp",
                "http://127.0.0.1:8000/mcp",
                &[][..],
            ),
            ("https://h.example", "https://h.example", &[]),
            (
                "https://me:pa55@h.example/mcp#x",
                "https://h.example/mcp",
                &["pa55"],
            ),
            (
                "https://h/mcp?api_key=abc&transport=http&v=2",
                "https://h/mcp?api_key=REDACTED&transport=http&v=2",
                &["abc"],
            ),
            (
                "https://h/mcp?x=9f3kd02lq81m&token=a%2Fb",
                "https://h/mcp?x=REDACTED&token=REDACTED",
                &["9f3kd02lq81m", "a%2Fb", "a/b"],
            ),
            (
                "https://h/s/YjQ0N2E1ZDktMjc4ZC00/mcp",
                "https://h/s/REDACTED/mcp",
                &["YjQ0N2E1ZDktMjc4ZC00"],
            ),
        ] {
            let stored = stored(url, &redactor);
            assert_eq!(spelled(&stored.json), kept, "{url}");
            assert_eq!(stored.secrets, secrets, "{url}");
        }
    }

    #[test]
    fn the_way_to_an_endpoint_is_its_path_and_query() {
        assert_eq!(path_and_query("http://h:1/m?s=1"), "/m?s=1");
        assert_eq!(path_and_query("/m?s=1"), "/m?s=1");
        assert_eq!(query_values("/m?s=1&t=2&u").collect::<Vec<_>>(), ["1", "2"]);
    }
}
