//! Headers on their way through: which belong to one connection, which name us and not the server,
//! and which are credentials.

use super::upstream::UpstreamError;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};

/// Headers that are about one connection, and so end at each (RFC 9110, 7.6.1).
const HOP_BY_HOP: [HeaderName; 7] = [
    header::CONNECTION,
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];
const KEEP_ALIVE: [&str; 3] = ["keep-alive", "proxy-connection", "expect"];

pub(super) const SESSION: &str = "mcp-session-id";
pub(super) const VERSION: &str = "mcp-protocol-version";
pub(super) const LAST_EVENT: &str = "last-event-id";

/// Removes what is about the connection that a message came on.
pub(super) fn remove_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named.iter().chain(&HOP_BY_HOP) {
        headers.remove(name);
    }
    for name in KEEP_ALIVE {
        headers.remove(name);
    }
}

/// The headers of a request as the server at `origin` is to get them.
pub(super) fn to_upstream(headers: &mut HeaderMap, origin: &str) {
    remove_hop_by_hop(headers);
    // The client of hyper names the server that it connects to, and the length of the body.
    headers.remove(header::HOST);
    headers.remove(header::CONTENT_LENGTH);
    if headers.contains_key(header::ORIGIN) {
        match origin.parse() {
            Ok(origin) => headers.insert(header::ORIGIN, origin),
            Err(_) => headers.remove(header::ORIGIN),
        };
    }
    let identity = HeaderValue::from_static("identity");
    headers.insert(header::ACCEPT_ENCODING, identity);
}

/// The text of a header that is there once.
pub(super) fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    let value = headers.get(name)?.to_str().ok()?;
    Some(value.to_owned())
}

/// The values of headers that are credentials by the name of the header.
pub(super) fn secrets(headers: &HeaderMap) -> Vec<String> {
    let mut found = Vec::new();
    for (name, value) in headers {
        if let (true, Ok(value)) = (is_secret(name.as_str()), value.to_str()) {
            found.extend(parts(name, value).map(str::to_owned));
        }
    }
    found
}

fn is_secret(name: &str) -> bool {
    const PARTS: [&str; 8] = [
        "auth",
        "token",
        "secret",
        "key",
        "password",
        "credential",
        "cookie",
        "session",
    ];
    // The protocol's own repeat what stands in the body, and the id of the session has a
    // stand-in of its own.
    !name.starts_with("mcp-")
        && !name.starts_with("sec-")
        && PARTS.iter().any(|part| name.contains(part))
}

/// What of a value is the credential: no scheme before it, and no name or attribute of a cookie.
fn parts<'a>(name: &HeaderName, value: &'a str) -> impl Iterator<Item = &'a str> {
    /// Shorter values of cookies are settings, in bytes.
    const COOKIE: usize = 12;
    let is_cookie = name.as_str().contains("cookie");
    let separator = if is_cookie { ';' } else { ' ' };
    value
        .split(separator)
        .map(move |part| match is_cookie {
            true => part.split_once('=').map_or("", |(_, value)| value.trim()),
            false => part.trim(),
        })
        .filter(move |part| !is_cookie || part.len() >= COOKIE)
        .filter(|part| !part.is_empty() && !part.eq_ignore_ascii_case("bearer"))
}

/// Headers for the server that the user gave.
#[derive(Clone, Debug, Default)]
pub(super) struct Extra {
    headers: HeaderMap,
}

impl Extra {
    /// Reads `Name: value` lines.
    ///
    /// # Errors
    ///
    /// One is none, or names a header that is not the user's to set.
    pub(super) fn parse<'a>(lines: impl Iterator<Item = &'a str>) -> Result<Extra, UpstreamError> {
        let mut headers = HeaderMap::new();
        for (index, line) in lines.enumerate() {
            let wrong = || UpstreamError::Header(index + 1);
            let (name, value) = line.split_once(':').ok_or_else(wrong)?;
            let name: HeaderName = name.trim().parse().map_err(|_| wrong())?;
            let mut value: HeaderValue = value.trim().parse().map_err(|_| wrong())?;
            value.set_sensitive(true);
            let ours = [
                header::CONTENT_LENGTH,
                header::HOST,
                header::ACCEPT_ENCODING,
            ];
            if HOP_BY_HOP.contains(&name)
                || ours.contains(&name)
                || KEEP_ALIVE.contains(&name.as_str())
            {
                return Err(UpstreamError::Connection(name.to_string()));
            }
            headers.append(name, value);
        }
        Ok(Extra { headers })
    }

    /// Puts them in the place of what the client said.
    pub(super) fn apply(&self, headers: &mut HeaderMap) {
        for name in self.headers.keys() {
            headers.remove(name);
        }
        for (name, value) in &self.headers {
            headers.append(name.clone(), value.clone());
        }
    }

    pub(super) fn secrets(&self) -> Vec<String> {
        secrets(&self.headers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(lines: &[&str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for line in lines {
            let (name, value) = line.split_once(": ").unwrap();
            let name: HeaderName = name.parse().unwrap();
            headers.append(name, value.parse().unwrap());
        }
        headers
    }

    fn names(headers: &HeaderMap) -> Vec<&str> {
        let mut names: Vec<&str> = headers.keys().map(HeaderName::as_str).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn what_is_about_the_connection_or_names_us_does_not_reach_the_server() {
        let mut sent = headers(&[
            "connection: x-hop, close",
            "x-hop: 1",
            "keep-alive: 5",
            "te: trailers",
            "transfer-encoding: chunked",
            "content-length: 5",
            "proxy-authorization: Basic x",
            "upgrade: websocket",
            "expect: 100-continue",
            "host: 127.0.0.1:4000",
            "origin: http://127.0.0.1:4000",
            "accept-encoding: gzip, br",
            "authorization: Bearer t",
            "mcp-session-id: s",
        ]);
        to_upstream(&mut sent, "https://h.example");
        assert_eq!(
            names(&sent),
            [
                "accept-encoding",
                "authorization",
                "mcp-session-id",
                "origin"
            ]
        );
        assert_eq!(sent["origin"], "https://h.example");
        assert_eq!(sent["accept-encoding"], "identity");
    }

    #[test]
    fn credentials_are_known_by_the_name_of_their_header() {
        let found = secrets(&headers(&[
            "authorization: Bearer abc.def",
            "cookie: lang=english; sid=0123456789abcdef",
            "set-cookie: sid=fedcba9876543210; Path=/; HttpOnly",
            "x-api-key: k1",
            "mcp-session-id: s1",
            "mcp-param-token: p1",
            "user-agent: python",
        ]));
        assert_eq!(
            found,
            ["abc.def", "0123456789abcdef", "fedcba9876543210", "k1"]
        );
    }

    #[test]
    fn headers_of_the_user_replace_those_of_the_client_and_do_not_show() {
        let lines = ["Authorization: Bearer own-token", "X-A: 1", "X-A: 2"];
        let extra = Extra::parse(lines.into_iter()).unwrap();
        assert!(!format!("{extra:?}").contains("own-token"));
        assert_eq!(extra.secrets(), ["own-token"]);
        let mut sent = headers(&["authorization: Bearer theirs", "x-a: 0"]);
        extra.apply(&mut sent);
        let all: Vec<_> = sent.get_all("x-a").iter().collect();
        assert_eq!(all, ["1", "2"]);
        assert_eq!(sent["authorization"], "Bearer own-token");
        for (line, told) in [
            ("no colon own-token", "number 1"),
            ("Bad Name: own-token", "number 1"),
            ("X: own-token\r\nY: 1", "number 1"),
            ("Transfer-Encoding: own-token", "transfer-encoding"),
            ("Host: own-token", "host"),
        ] {
            let error = Extra::parse([line].into_iter()).unwrap_err().to_string();
            assert!(
                error.contains(told) && !error.contains("own-token"),
                "{error}"
            );
        }
    }
}
