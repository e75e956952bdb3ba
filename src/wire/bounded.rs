//! A text that comes in pieces, of which no more is kept than a limit.

use super::lines::Line;
use sha2::{Digest as _, Sha256};

/// A buffer that grew for one long text is not kept for ever, in bytes.
const KEPT: usize = 64 * 1024;

/// All texts that are half there at one time take up no more than this, in bytes: each has a limit
/// of its own, and there may be thousands.
pub(crate) const MOST_AT_ONCE: usize = 512 << 20;

/// The pieces of one text. What is longer than the limit is counted and hashed instead.
#[derive(Debug)]
pub(crate) struct Bounded {
    held: Vec<u8>,
    longest: usize,
    long: Option<(u64, Sha256)>,
}

impl Bounded {
    /// Keeps texts of up to `longest` bytes.
    pub(crate) fn new(longest: usize) -> Bounded {
        Bounded {
            held: Vec::new(),
            longest,
            long: None,
        }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if self.long.is_none() && bytes.len() <= self.longest.saturating_sub(self.held.len()) {
            self.held.extend_from_slice(bytes);
            return;
        }
        self.let_go();
        self.count(bytes);
    }

    /// How many bytes are kept.
    pub(crate) fn held(&self) -> usize {
        self.held.len()
    }

    /// Keeps nothing more of this text: it is told by its length and hash.
    pub(crate) fn let_go(&mut self) {
        let held = std::mem::take(&mut self.held);
        self.count(&held);
    }

    fn count(&mut self, bytes: &[u8]) {
        let (length, hash) = self.long.get_or_insert_with(|| (0, Sha256::new()));
        *length += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        hash.update(bytes);
    }

    /// Gives the whole text, and is empty then.
    pub(crate) fn take<T>(&mut self, text: impl FnOnce(Line<'_>) -> T) -> T {
        let taken = match self.long.take() {
            Some((length, hash)) => text(Line::TooLong {
                length,
                sha256: hash.finalize().into(),
            }),
            None => text(Line::Whole(&self.held)),
        };
        self.held.clear();
        self.held.shrink_to(KEPT);
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_longer_than_the_limit_is_told_by_length_and_hash() {
        let mut text = Bounded::new(4);
        for piece in ["ab", "cd"] {
            text.push(piece.as_bytes());
        }
        text.take(|line| assert_eq!(line, Line::Whole(b"abcd")));
        text.take(|line| assert_eq!(line, Line::Whole(b"")));
        for piece in ["ab", "cde", "", "f"] {
            text.push(piece.as_bytes());
        }
        let sha256 = Sha256::digest("abcdef").into();
        text.take(|line| assert_eq!(line, Line::TooLong { length: 6, sha256 }));
        text.push(b"x");
        text.take(|line| assert_eq!(line, Line::Whole(b"x")));
        text.push(b"abc");
        assert_eq!(text.held(), 3);
        text.let_go();
        assert_eq!(text.held(), 0);
        text.push(b"def");
        text.take(|line| assert_eq!(line, Line::TooLong { length: 6, sha256 }));
    }
}
