//! Newline framing: a stream of bytes cut into lines.
//!
//! A line ends at byte 0x0A and nowhere else (not at U+2028, which JSON may hold as it is), and
//! one 0x0D before it belongs to the line's end. Framing is the same whether the stream comes
//! whole or byte by byte.

use sha2::{Digest as _, Sha256};

/// A line without its end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    Whole(&'a [u8]),
    /// Longer than what is kept; what is known of it is told instead.
    TooLong {
        /// In bytes, without the line's end.
        length: u64,
        sha256: [u8; 32],
    },
}

/// Cuts one direction of a stream into lines.
#[derive(Debug)]
pub(crate) struct Lines {
    /// The beginning of a line that has not ended yet.
    held: Vec<u8>,
    /// In bytes: longer lines are counted and hashed, not kept.
    longest: usize,
    long: Option<LongLine>,
}

#[derive(Debug)]
struct LongLine {
    length: u64,
    hash: Sha256,
    /// A carriage return whose successor decides whether it is part of the line.
    pending_return: bool,
}

impl Lines {
    /// Lines of up to `longest` bytes are kept whole.
    pub(crate) fn new(longest: usize) -> Lines {
        Lines {
            held: Vec::new(),
            longest,
            long: None,
        }
    }

    /// Takes the next bytes of the stream and gives `line` each line that ends in them.
    pub(crate) fn push(&mut self, bytes: &[u8], mut line: impl FnMut(Line<'_>)) {
        let mut rest = bytes;
        while let Some(at) = memchr::memchr(b'\n', rest) {
            let (end, after) = rest.split_at(at);
            rest = after.get(1..).unwrap_or_default();
            if self.held.is_empty() && self.long.is_none() && end.len() <= self.longest {
                line(Line::Whole(without_return(end)));
            } else {
                self.hold(end);
                self.end(&mut line);
            }
        }
        self.hold(rest);
    }

    /// The stream is over: gives `line` what came after the last line feed, if anything did.
    pub(crate) fn finish(&mut self, mut line: impl FnMut(Line<'_>)) {
        if !self.held.is_empty() || self.long.is_some() {
            self.end(&mut line);
        }
    }

    fn hold(&mut self, bytes: &[u8]) {
        match &mut self.long {
            Some(long) => long.add(bytes),
            // One byte more than is kept, for the carriage return of the line's end.
            None if self.held.len() + bytes.len() <= self.longest.saturating_add(1) => {
                self.held.extend_from_slice(bytes);
            }
            None => {
                let mut long = LongLine {
                    length: 0,
                    hash: Sha256::new(),
                    pending_return: false,
                };
                long.add(&std::mem::take(&mut self.held));
                long.add(bytes);
                self.long = Some(long);
            }
        }
    }

    fn end(&mut self, line: &mut impl FnMut(Line<'_>)) {
        if let Some(long) = self.long.take() {
            line(Line::TooLong {
                length: long.length,
                sha256: long.hash.finalize().into(),
            });
            return;
        }
        let whole = without_return(&self.held);
        if whole.len() <= self.longest {
            line(Line::Whole(whole));
        } else {
            line(Line::TooLong {
                length: u64::try_from(whole.len()).unwrap_or(u64::MAX),
                sha256: Sha256::digest(whole).into(),
            });
        }
        // A buffer that grew for one long line is not kept for ever.
        self.held.clear();
        self.held.shrink_to(64 * 1024);
    }
}

impl LongLine {
    fn add(&mut self, bytes: &[u8]) {
        let Some((&last, _)) = bytes.split_last() else {
            return;
        };
        if std::mem::take(&mut self.pending_return) {
            self.take(b"\r");
        }
        self.pending_return = last == b'\r';
        self.take(without_return(bytes));
    }

    fn take(&mut self, bytes: &[u8]) {
        self.length += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.hash.update(bytes);
    }
}

fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Owned lines: bytes, or length and hash.
    type Owned = Result<Vec<u8>, (u64, [u8; 32])>;

    fn cut(chunks: &[&[u8]], longest: usize) -> Vec<Owned> {
        let mut lines = Lines::new(longest);
        let mut found = Vec::new();
        let mut keep = |line: Line<'_>| {
            found.push(match line {
                Line::Whole(bytes) => Ok(bytes.to_vec()),
                Line::TooLong { length, sha256 } => Err((length, sha256)),
            });
        };
        for chunk in chunks {
            lines.push(chunk, &mut keep);
        }
        lines.finish(&mut keep);
        found
    }

    #[test]
    fn lines_end_at_line_feeds_only() {
        let text = "a\r\n\u{2028}b\rc\n\nlast".as_bytes();
        let found: Vec<Vec<u8>> = cut(&[text], 100).into_iter().flatten().collect();
        let expected: [&[u8]; 4] = [b"a", "\u{2028}b\rc".as_bytes(), b"", b"last"];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_longer_line_is_counted_and_the_next_one_is_whole() {
        let found = cut(&[b"12345\r\n123456\r\nok\n"], 5);
        let expected = [
            Ok(b"12345".to_vec()),
            Err((6, Sha256::digest(b"123456").into())),
            Ok(b"ok".to_vec()),
        ];
        assert_eq!(found, expected);
    }

    proptest! {
        #[test]
        fn framing_does_not_depend_on_the_chunks(
            text in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), Just(b'x')], 0..60),
            size in 1_usize..7,
            longest in 0_usize..8,
        ) {
            let chunks: Vec<&[u8]> = text.chunks(size).collect();
            prop_assert_eq!(cut(&chunks, longest), cut(&[&text], longest));
        }
    }
}
