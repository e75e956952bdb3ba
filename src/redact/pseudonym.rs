//! Pseudonyms: the same text gets the same stand-in, and the stand-in does not tell it.
//!
//! The scheme is that of 0.4.0, so that its recordings match live requests.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use std::fmt;

/// What keys the pseudonyms of a recording without a salt of its own.
const STABLE: &[u8] = b"mcp-cassette/redaction/stable/v1";

/// The hexadecimal digits of a pseudonym.
const DIGITS: usize = 12;

/// What pseudonyms are keyed with.
#[derive(Clone)]
pub(crate) struct Salt {
    bytes: Vec<u8>,
    mode: &'static str,
}

impl Salt {
    /// The same for everybody: pseudonyms are equal in all recordings.
    pub(crate) fn stable() -> Salt {
        Salt {
            bytes: STABLE.to_vec(),
            mode: "stable",
        }
    }

    /// A salt of the user's own. `mode` says where it came from: `env` or `file`.
    pub(crate) fn keyed(bytes: Vec<u8>, mode: &'static str) -> Salt {
        Salt { bytes, mode }
    }

    /// The word in the manifest.
    pub(crate) fn mode(&self) -> &'static str {
        self.mode
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The key of one rule, `pack/rule`.
    pub(super) fn key(&self, rule: &str) -> Key {
        Key(mac(&self.bytes, rule.as_bytes()))
    }
}

/// A salt is a secret: it does not show.
impl fmt::Debug for Salt {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Salt({})", self.mode)
    }
}

/// What the pseudonyms of one rule are keyed with.
#[derive(Clone)]
pub(super) struct Key([u8; 32]);

impl Key {
    /// `<LABEL>_` and 12 hexadecimal digits that depend on the text.
    pub(super) fn pseudonym(&self, label: &str, text: &str) -> String {
        let digest = mac(&self.0, text.as_bytes());
        let hex: String = digest
            .iter()
            .take(DIGITS / 2)
            .map(|byte| format!("{byte:02x}"))
            .collect();
        format!("<{label}>_{hex}")
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Key")
    }
}

/// HMAC-SHA256 (RFC 2104), which takes keys of any length.
fn mac(key: &[u8], text: &[u8]) -> [u8; 32] {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else {
        // Not reached: there is no length that HMAC refuses.
        return Sha256::digest([key, text].concat()).into();
    };
    mac.update(text);
    mac.finalize().into_bytes().into()
}

/// The hash by which a manifest names a pack: SHA-256 over its bytes with CRLF as LF.
pub(super) fn pack_hash(bytes: &[u8]) -> String {
    let mut hash = Sha256::new();
    let mut rest = bytes;
    while let Some(at) = memchr::memmem::find(rest, b"\r\n") {
        hash.update(rest.get(..at).unwrap_or_default());
        rest = rest.get(at + 1..).unwrap_or_default();
    }
    hash.update(rest);
    hash.finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pseudonyms_are_those_of_0_4_0() {
        let key = Salt::stable().key("common/email");
        assert_eq!(key.pseudonym("EMAIL", "a@b.co"), "<EMAIL>_d82504dac960");
        let keyed = Salt::keyed(b"pepper".to_vec(), "env").key("common/email");
        assert_eq!(keyed.pseudonym("EMAIL", "a@b.co"), "<EMAIL>_5af55761ec08");
    }

    #[test]
    fn line_endings_do_not_change_the_hash_of_a_pack() {
        assert_eq!(pack_hash(b"a\r\nb\r\n"), pack_hash(b"a\nb\n"));
        assert_ne!(pack_hash(b"a\rb"), pack_hash(b"a\nb"));
    }

    #[test]
    fn a_salt_does_not_show() {
        let salt = Salt::keyed(b"pepper".to_vec(), "env");
        assert!(!format!("{salt:?}").contains("pepper"));
    }
}
