//! The address that a server of the older transport names first on its stream (`event: endpoint`),
//! where the client is to send what it says.
//!
//! Mostly it is a path. If it names the server's own origin, a client would go past us, and so
//! it is given ours.

use crate::wire::lines::Line;
use crate::wire::sse::reader::Reader;
use bytes::Bytes;

/// A longer beginning of a stream is passed on as it is, in bytes.
const LONGEST: usize = 16 << 10;

/// The beginning of a stream, held back until its first event is whole.
#[derive(Debug)]
pub(super) struct Endpoint {
    held: Vec<u8>,
    /// The origin of the server, and ours as the client knows it.
    theirs: String,
    ours: String,
    found: Option<String>,
    is_over: bool,
}

impl Endpoint {
    pub(super) fn new(theirs: String, ours: String) -> Endpoint {
        Endpoint {
            held: Vec::new(),
            theirs,
            ours,
            found: None,
            is_over: false,
        }
    }

    /// Takes the next bytes; gives what can be passed on.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Bytes {
        self.held.extend_from_slice(bytes);
        let mut reader = Reader::new(LONGEST);
        let mut address = None;
        let mut events = 0;
        reader.push(&self.held, |event| {
            events += 1;
            if let (1, Some("endpoint"), Line::Whole(data)) = (events, event.name, &event.data) {
                address = Some(String::from_utf8_lossy(data).into_owned());
            }
        });
        if events == 0 && self.held.len() < LONGEST && self.may_begin_endpoint() {
            return Bytes::new();
        }
        self.is_over = true;
        let held = std::mem::take(&mut self.held);
        let Some(address) = address else {
            return Bytes::from(held);
        };
        let rest = address.strip_prefix(&self.theirs);
        let rest = rest.filter(|rest| rest.is_empty() || rest.starts_with(['/', '?']));
        let path = rest.unwrap_or(&address);
        if path.starts_with('/') && !path.starts_with("//") {
            let end = path.find(['?', '#']).unwrap_or(path.len());
            self.found = path.get(..end).map(str::to_owned);
        }
        let Some(rest) = rest else {
            return Bytes::from(held);
        };
        let ours = format!("{}{rest}", self.ours);
        Bytes::from(replaced(&held, &address, &ours))
    }

    /// Whether what is held may still become such an event: it is the first of its stream.
    fn may_begin_endpoint(&self) -> bool {
        let held = self
            .held
            .strip_prefix(b"\xef\xbb\xbf")
            .unwrap_or(&self.held);
        [&b"event:"[..], b"data:"].into_iter().any(|name| {
            let shorter = held.len().min(name.len());
            held.get(..shorter) == name.get(..shorter)
        })
    }

    /// The path, when it is known.
    pub(super) fn found(&self) -> Option<&str> {
        self.found.as_deref()
    }

    /// Whether nothing more is held back.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// What is held when the stream ends.
    pub(super) fn rest(&mut self) -> Bytes {
        Bytes::from(std::mem::take(&mut self.held))
    }
}

/// The first `old` in `bytes` replaced.
fn replaced(bytes: &[u8], old: &str, new: &str) -> Vec<u8> {
    let Some(at) = memchr::memmem::find(bytes, old.as_bytes()) else {
        return bytes.to_vec();
    };
    let before = bytes.get(..at).unwrap_or_default();
    let after = bytes.get(at + old.len()..).unwrap_or_default();
    [before, new.as_bytes(), after].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(stream: &str, size: usize) -> (String, Option<String>) {
        let mut endpoint = Endpoint::new("http://up:1".to_owned(), "http://127.0.0.1:2".to_owned());
        let mut out = Vec::new();
        for piece in stream.as_bytes().chunks(size) {
            match endpoint.is_over() {
                true => out.extend_from_slice(piece),
                false => out.extend_from_slice(&endpoint.take(piece)),
            }
        }
        out.extend_from_slice(&endpoint.rest());
        let found = endpoint.found().map(str::to_owned);
        (String::from_utf8(out).unwrap(), found)
    }

    #[test]
    fn an_address_of_the_server_becomes_ours_and_everything_else_stays() {
        for (stream, expected, found) in [
            (
                "event: endpoint\r\ndata: http://up:1/m?s=1\r\n\r\ndata: http://up:1/\n\n",
                "event: endpoint\r\ndata: http://127.0.0.1:2/m?s=1\r\n\r\ndata: http://up:1/\n\n",
                Some("/m"),
            ),
            (
                "event: endpoint\ndata: /m/?s=1\n\n",
                "event: endpoint\ndata: /m/?s=1\n\n",
                Some("/m/"),
            ),
            (
                "event: endpoint\ndata: http://up:12/m\n\n",
                "event: endpoint\ndata: http://up:12/m\n\n",
                None,
            ),
            (
                "event: endpoint\ndata: //evil/m\n\n",
                "event: endpoint\ndata: //evil/m\n\n",
                None,
            ),
            (
                "data: {\"u\":\"http://up:1/m\"}\n\n",
                "data: {\"u\":\"http://up:1/m\"}\n\n",
                None,
            ),
            (": ping\n\nid: 1\n", ": ping\n\nid: 1\n", None),
            ("event: endpoi", "event: endpoi", None),
            ("", "", None),
        ] {
            for size in [1, 5, 1000] {
                let expected = (expected.to_owned(), found.map(str::to_owned));
                assert_eq!(passed(stream, size), expected, "by {size}");
            }
        }
    }

    #[test]
    fn only_the_beginning_of_an_event_that_may_be_one_is_held_back() {
        let of = |stream: &str| {
            let mut endpoint = Endpoint::new(String::new(), String::new());
            endpoint.take(stream.as_bytes()).len()
        };
        assert_eq!(of("event: endpoint\ndata: /m"), 0);
        assert_eq!(of("id: 1\ndata"), 10);
        assert_eq!(of(": ping"), 6);
        let long = format!("event: endpoint\ndata: {}", "x".repeat(LONGEST));
        assert_eq!(of(&long), long.len());
    }
}
