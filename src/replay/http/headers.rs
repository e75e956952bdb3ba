//! The headers of 2026-07-28, which repeat what the body says so that whatever stands between
//! client and server need not read it. A server refuses a request whose headers say otherwise.

use super::RequestHead;
use super::requests::plain;
use crate::cassette::view::{Envelope, Role};
use crate::replay::plan::Era;
use crate::replay::replayer::Replayer;
use crate::secrets::encoded::base64;
use crate::wire::json::{Span, member, nested};
use crate::wire::mcp::{code, method, name};

/// The members that `Mcp-Name` repeats.
const NAMED: [(&str, &str); 3] = [
    (method::TOOLS_CALL, "name"),
    (method::PROMPTS_GET, "name"),
    (method::RESOURCES_READ, "uri"),
];

impl Replayer {
    /// What is wrong with the headers of a request of the modern era.
    pub(super) fn wrong_headers(
        &self,
        head: &RequestHead<'_>,
        text: &str,
    ) -> Option<(i64, String)> {
        if self.plan.era != Era::Modern {
            return None;
        }
        let envelope = Envelope::read(text, Span::new(0, text.len()));
        if !matches!(envelope.role(), Role::Request | Role::Notification) {
            return None;
        }
        let method = envelope.method_name(text)?;
        if method == method::INITIALIZE {
            // A client of the older era knows nothing of them, and is told the version.
            return None;
        }
        let says = |header: &str, found: Option<&str>, wanted: &str| {
            let problem = match found {
                None => "is missing".to_owned(),
                Some(found) if found == wanted => return None,
                Some(_) => "says something else than the body".to_owned(),
            };
            let message = format!("mcp-cassette: the header {header} {problem}");
            Some((code::HEADER_MISMATCH, message))
        };
        let params = envelope.params;
        let string = |path: &[&str]| {
            let value = nested(text, params?, path)?;
            plain(value.span.of(text))
        };
        let version = string(&[name::META, name::META_VERSION]);
        if let Some(version) = &version
            && let Some(wrong) = says("MCP-Protocol-Version", head.version, version)
        {
            return Some(wrong);
        }
        if envelope.role() == Role::Notification {
            return None;
        }
        if let Some(wrong) = says("Mcp-Method", head.method, &method) {
            return Some(wrong);
        }
        let (_, named) = NAMED.iter().find(|(of, _)| *of == method)?;
        let value = member(text, params?, named)?;
        let value = plain(value.span.of(text))?;
        let header = head.name.map(decoded);
        says("Mcp-Name", header.as_deref(), &value)
    }
}

/// The headers that have to go with a message of the modern era; none of others have to.
#[cfg(feature = "http")]
pub(crate) fn headers_of(message: &[u8]) -> Vec<(&'static str, String)> {
    let text = std::str::from_utf8(message).unwrap_or_default();
    let envelope = Envelope::read(text, Span::new(0, text.len()));
    let string = |path: &[&str]| {
        let value = nested(text, envelope.params?, path)?;
        plain(value.span.of(text))
    };
    let version = string(&[name::META, name::META_VERSION]);
    let Some((version, method)) = version.zip(envelope.method_name(text)) else {
        return Vec::new();
    };
    let named = NAMED.iter().find(|(of, _)| *of == method);
    let named = named.and_then(|(_, member)| string(&[member]));
    let mut headers = vec![("mcp-protocol-version", version)];
    headers.push(("mcp-method", method.into_owned()));
    headers.extend(named.map(|named| ("mcp-name", encoded(named))));
    headers
}

/// The reverse of [`decoded`].
#[cfg(feature = "http")]
fn encoded(value: String) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let is_plain = value.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    if is_plain && value.trim() == value && !value.starts_with("=?base64?") {
        return value;
    }
    let mut text = String::from("=?base64?");
    for piece in value.as_bytes().chunks(3) {
        let bits = [0, 1, 2].map(|at| u32::from(piece.get(at).copied().unwrap_or(0)));
        let bits = bits[0] << 16 | bits[1] << 8 | bits[2];
        for at in 0..4 {
            let sextet = bits >> (18 - 6 * at) & 63;
            let letter = ALPHABET.get(sextet as usize).filter(|_| at <= piece.len());
            text.push(letter.map_or('=', |letter| char::from(*letter)));
        }
    }
    text + "?="
}

/// A value that is no plain ASCII comes in base64 between `=?base64?` and `?=`.
fn decoded(value: &str) -> String {
    let inner = value
        .strip_prefix("=?base64?")
        .and_then(|value| value.strip_suffix("?="));
    let bytes = inner.and_then(|inner| base64(inner.trim_end_matches('=').as_bytes()));
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    text.unwrap_or_else(|| value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::decoded;
    #[cfg(feature = "http")]
    use super::{encoded, headers_of};

    #[cfg(feature = "http")]
    #[test]
    fn a_message_of_the_newer_protocol_has_headers_and_others_have_none() {
        let modern = r#"{"method":"tools/call","params":{"name":"wörk","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;
        let expected = [
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/call"),
            ("mcp-name", "=?base64?d8O2cms=?="),
        ];
        let expected = expected.map(|(name, value)| (name, value.to_owned()));
        assert_eq!(headers_of(modern.as_bytes()), expected);
        assert!(headers_of(br#"{"method":"tools/call","params":{"name":"a"}}"#).is_empty());
        for name in ["plain", "a b", " a", "ä", "äö", "日本", "=?base64?x?="] {
            assert_eq!(decoded(&encoded(name.to_owned())), name);
        }
    }

    #[test]
    fn a_name_in_base64_is_read_and_others_stay() {
        assert_eq!(decoded("=?base64?SGVsbG8sIOS4lueVjA==?="), "Hello, 世界");
        assert_eq!(decoded("plain"), "plain");
        assert_eq!(decoded("=?base64?%%?="), "=?base64?%%?=");
    }
}
