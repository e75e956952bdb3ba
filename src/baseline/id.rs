//! The name of a commit, as payloads and error messages give it.

use std::fmt;

/// The SHA-1 name of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct CommitId([u8; CommitId::BYTES]);

impl CommitId {
    /// Bytes of a SHA-1.
    pub(crate) const BYTES: usize = 20;

    /// From 40 hexadecimal digits; anything else, abbreviations included, is none.
    pub(crate) fn from_hex(text: &str) -> Option<Self> {
        let mut bytes = [0; Self::BYTES];
        if text.len() != 2 * Self::BYTES {
            return None;
        }
        for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            let [high, low] = digits else { return None };
            let high = char::from(*high).to_digit(16)?;
            let low = char::from(*low).to_digit(16)?;
            *byte = u8::try_from(high << 4 | low).ok()?;
        }
        Some(CommitId(bytes))
    }

    /// From its raw bytes; a longer hash is none.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(CommitId)
    }

    /// The raw bytes.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Whether it stands for "no commit", as in the `before` of a new branch.
    pub(crate) fn is_zero(&self) -> bool {
        self.0 == [0; Self::BYTES]
    }
}

impl fmt::Display for CommitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_40_hexadecimal_digits_are_a_commit() {
        let text = "0123456789abcdef0123456789abcdef01234567";
        let id = CommitId::from_hex(text).expect("an id");
        assert_eq!(id.to_string(), text);
        assert_eq!(CommitId::from_hex(&text.to_uppercase()), Some(id));
        for wrong in [
            "",
            "0123",
            &text[1..],
            &format!("{text}0"),
            "é".repeat(20).as_str(),
        ] {
            assert_eq!(CommitId::from_hex(wrong), None, "{wrong}");
        }
        assert_eq!(CommitId::from_hex(&text.replace('a', "-")), None);
        assert!(CommitId::from_hex(&"0".repeat(40)).is_some_and(|id| id.is_zero()));
        assert!(!id.is_zero());
    }
}
