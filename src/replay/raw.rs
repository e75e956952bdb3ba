//! Answers that are not quite JSON. Python writes `NaN`, and some servers write bytes that are no
//! UTF-8; clients in the same language read both. A recorder keeps such a line as text, and it
//! is an answer all the same.

use crate::cassette::view::{Envelope, Role};
use crate::wire::json::{Piece, Scanner, Span, unescape};

/// A recorded line, as the bytes that it was, and where the id of an answer stands in it.
#[derive(Debug)]
pub(super) struct RawAnswer {
    pub(super) bytes: Vec<u8>,
    pub(super) id: Span,
}

impl RawAnswer {
    /// Reads the payload of a raw message, a JSON string; `None` if it is no answer.
    pub(super) fn read(payload: &str) -> Option<RawAnswer> {
        let inner = payload.strip_prefix('"')?.strip_suffix('"')?;
        if !inner.trim_start().starts_with('{') {
            return None;
        }
        let bytes = line(inner);
        let text = readable(&bytes);
        let mut scanner = Scanner::new(&text);
        scanner.value().ok()?;
        scanner.finish().ok()?;
        let envelope = Envelope::read(&text, Span::new(0, text.len()));
        let id = envelope.id.filter(|_| envelope.role() == Role::Response)?;
        Some(RawAnswer { bytes, id })
    }

    /// The id as a token.
    pub(super) fn id(&self) -> &str {
        let id = self.bytes.get(self.id.range());
        std::str::from_utf8(id.unwrap_or_default()).unwrap_or_default()
    }

    /// The line with another id.
    pub(super) fn with_id(&self, id: &str) -> Vec<u8> {
        let range = self.id.range();
        let mut out = self.bytes.get(..range.start).unwrap_or_default().to_vec();
        out.extend_from_slice(id.as_bytes());
        out.extend_from_slice(self.bytes.get(range.end..).unwrap_or_default());
        out
    }
}

/// The bytes of a line that is kept as the inside of a JSON string. A byte that was no UTF-8 is
/// kept as a lone surrogate from U+DC80 on.
fn line(inner: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(inner.len());
    unescape(inner, |piece, _| match piece {
        Piece::Text(text) => bytes.extend_from_slice(text.as_bytes()),
        Piece::Char(c) => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        Piece::Surrogate(unit) => match u8::try_from(unit.wrapping_sub(0xdc00)) {
            Ok(byte @ 0x80..) => bytes.push(byte),
            _ => bytes.push(b'?'),
        },
    });
    bytes
}

/// A text of the same length that is JSON if the line is but for bytes and numbers that JSON does
/// not know.
fn readable(bytes: &[u8]) -> String {
    const WORDS: [(&[u8], &[u8]); 2] = [(b"NaN", b"0  "), (b"Infinity", b"0       ")];
    let mut text = Vec::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.extend_from_slice(chunk.valid().as_bytes());
        text.resize(text.len() + chunk.invalid().len(), b'?');
    }
    let (mut at, mut inside) = (0, false);
    while let Some(&byte) = text.get(at) {
        match byte {
            b'\\' if inside => at += 1,
            b'"' => inside = !inside,
            b'N' | b'I' if !inside => {
                for (word, zero) in WORDS {
                    if let Some(place) = text.get_mut(at..at + word.len())
                        && place == word
                    {
                        place.copy_from_slice(zero);
                    }
                }
            }
            _ => {}
        }
        at += 1;
    }
    String::from_utf8(text).unwrap_or_default()
}
