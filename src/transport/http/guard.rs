//! Who may speak to a listener of ours: a check against DNS rebinding.
//!
//! A page that a browser shows can have its own name point at this machine and then speak to a
//! port of it as if it were its own server. The request still names that page, in `Host` and in
//! `Origin`; so a listener takes only requests that name it by an address or name of its own.
//! Ports are not compared: whoever forwards a port to us is no page in a browser.

use hyper::header::{HOST, HeaderMap, HeaderValue, ORIGIN};
use hyper::http::uri::Authority;
use hyper::{StatusCode, Uri};
use std::net::IpAddr;

/// The names that a listener answers to.
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    /// The host that was asked for, without brackets and in lower case.
    given: String,
    bound: IpAddr,
}

/// Why a request is not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    /// For people.
    pub(crate) reason: &'static str,
}

const NO_HOST: Refusal = Refusal {
    status: StatusCode::BAD_REQUEST,
    reason: "the request has no valid Host header, or several",
};
const FOREIGN_HOST: Refusal = Refusal {
    status: StatusCode::FORBIDDEN,
    reason: "the Host header does not name this listener",
};
const FOREIGN_ORIGIN: Refusal = Refusal {
    status: StatusCode::FORBIDDEN,
    reason: "the Origin header does not name this listener",
};

impl Guard {
    /// For a listener that was asked for by `host` and is bound to `bound`.
    pub(crate) fn new(host: &str, bound: IpAddr) -> Guard {
        Guard {
            given: plain(host),
            bound,
        }
    }

    /// Whether a request may be answered.
    ///
    /// # Errors
    ///
    /// It names no host or a foreign one, or comes from a foreign page.
    pub(crate) fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        let header = only(headers, HOST.as_str())?;
        let header = header.map(host_of_authority).transpose()?;
        // HTTP/2 and requests for a whole URL have it in the first line.
        let line = uri.authority().map(|authority| plain(authority.host()));
        let host = match (&header, &line) {
            (Some(host), _) | (None, Some(host)) => host,
            (None, None) => return Err(NO_HOST),
        };
        for named in [&header, &line].into_iter().flatten() {
            if !self.is_ours(named) && !self.is_any_address(named) {
                return Err(FOREIGN_HOST);
            }
        }
        let mut origins = headers.get_all(ORIGIN).iter();
        // A page of our own may be at an address that only the request knows.
        let ours = |origin: &HeaderValue| {
            host_of_origin(origin).is_some_and(|origin| origin == *host || self.is_ours(&origin))
        };
        match origins.all(ours) {
            true => Ok(()),
            false => Err(FOREIGN_ORIGIN),
        }
    }

    fn is_ours(&self, host: &str) -> bool {
        if host == "localhost" || host == self.given {
            return true;
        }
        let address = host.parse().map(|address: IpAddr| address.to_canonical());
        address.is_ok_and(|address| address.is_loopback() || address == self.bound)
    }

    /// A listener on every address of the machine cannot know them all; an address as such is
    /// nothing that a foreign name could be made to point at.
    fn is_any_address(&self, host: &str) -> bool {
        self.bound.is_unspecified() && host.parse::<IpAddr>().is_ok()
    }
}

/// The value of a header that may be there once.
fn only<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a HeaderValue>, Refusal> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (first, None) => Ok(first),
        _ => Err(NO_HOST),
    }
}

fn host_of_authority(value: &HeaderValue) -> Result<String, Refusal> {
    let text = value.to_str().map_err(|_| NO_HOST)?;
    if text.contains('@') {
        return Err(NO_HOST);
    }
    let authority: Authority = text.parse().map_err(|_| NO_HOST)?;
    Ok(plain(authority.host()))
}

/// `null`, which pages without an origin send, has no host.
fn host_of_origin(value: &HeaderValue) -> Option<String> {
    let uri: Uri = value.to_str().ok()?.parse().ok()?;
    uri.scheme()?;
    Some(plain(uri.authority()?.host()))
}

/// A host without the brackets of IPv6 and the dot of the root, in lower case.
fn plain(host: &str) -> String {
    let inner = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    let host = inner.unwrap_or(host);
    host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(given: &str, bound: &str, headers: &[(&str, &str)]) -> u16 {
        let guard = Guard::new(given, bound.parse().expect("an address"));
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let name: hyper::header::HeaderName = name.parse().expect("a name");
            map.append(name, value.parse().expect("a value"));
        }
        match guard.check(&Uri::from_static("/mcp"), &map) {
            Ok(()) => 200,
            Err(refusal) => refusal.status.as_u16(),
        }
    }

    #[test]
    fn names_of_this_machine_pass_and_foreign_ones_do_not() {
        for (host, expected) in [
            ("127.0.0.1:4000", 200),
            ("localhost", 200),
            ("LOCALHOST.:80", 200),
            ("[::1]:4000", 200),
            ("127.9.9.9:1", 200),
            ("[::ffff:127.0.0.1]:1", 200),
            ("evil.example:4000", 403),
            ("localhost.evil.example", 403),
            ("127.0.0.1.evil.example", 403),
            ("192.168.1.5", 403),
            ("127.0.0.1@evil.example", 400),
            ("", 400),
        ] {
            assert_eq!(
                verdict("127.0.0.1", "127.0.0.1", &[("host", host)]),
                expected,
                "{host}"
            );
        }
    }

    #[test]
    fn a_request_without_a_host_or_with_two_is_bad() {
        assert_eq!(verdict("127.0.0.1", "127.0.0.1", &[]), 400);
        let two = [("host", "localhost"), ("host", "localhost")];
        assert_eq!(verdict("127.0.0.1", "127.0.0.1", &two), 400);
    }

    #[test]
    fn pages_of_this_machine_pass_and_foreign_ones_do_not() {
        for (origin, expected) in [
            ("http://localhost:3000", 200),
            ("http://[::1]:3000", 200),
            ("https://evil.example", 403),
            ("http://192.168.1.5", 403),
            ("null", 403),
            ("localhost", 403),
        ] {
            let headers = [("host", "localhost:4000"), ("origin", origin)];
            assert_eq!(
                verdict("127.0.0.1", "127.0.0.1", &headers),
                expected,
                "{origin}"
            );
        }
    }

    #[test]
    fn the_host_that_was_asked_for_passes() {
        let named = [("host", "box.lan:1"), ("origin", "http://box.lan:1")];
        assert_eq!(verdict("box.lan", "192.168.1.5", &named), 200);
        assert_eq!(
            verdict("box.lan", "192.168.1.5", &[("host", "192.168.1.5")]),
            200
        );
        assert_eq!(
            verdict("box.lan", "192.168.1.5", &[("host", "192.168.1.6")]),
            403
        );
    }

    #[test]
    fn a_listener_on_all_addresses_is_known_by_each_and_by_no_foreign_name() {
        let own = [("host", "10.0.0.7:1"), ("origin", "http://10.0.0.7:1")];
        assert_eq!(verdict("0.0.0.0", "0.0.0.0", &own), 200);
        let other = [("host", "10.0.0.7:1"), ("origin", "http://10.0.0.8")];
        assert_eq!(verdict("0.0.0.0", "0.0.0.0", &other), 403);
        assert_eq!(
            verdict("0.0.0.0", "0.0.0.0", &[("host", "evil.example")]),
            403
        );
    }

    #[test]
    fn a_request_for_a_whole_url_counts_both_names() {
        let guard = Guard::new("127.0.0.1", IpAddr::from([127, 0, 0, 1]));
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_static("localhost"));
        let uri = Uri::from_static("http://evil.example/mcp");
        assert_eq!(guard.check(&uri, &headers), Err(FOREIGN_HOST));
        let uri = Uri::from_static("http://localhost:1/mcp");
        assert_eq!(guard.check(&uri, &HeaderMap::new()), Ok(()));
    }
}
