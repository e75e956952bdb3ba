//! The part of folding that needs no table: ASCII, many bytes at a time.

use super::glyph::Role;
use crate::blocks::{self, Bytes, are, within};

/// Bytes that are compared at once.
const LANES: usize = 16;

/// Whether [`fold`] is all that `text` needs.
pub(super) fn is_plain(text: &str) -> bool {
    text.is_ascii() && memchr::memchr3(b'&', b'\\', 0x1b, text.as_bytes()).is_none()
}

/// Folds a text that [`is_plain`] into `out`.
pub(super) fn fold(out: &mut String, text: &str) {
    out.clear();
    out.reserve(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let after_space = out.is_empty() || out.ends_with(' ');
        let (copied, tail) = rest.split_at(copyable(rest.as_bytes(), after_space));
        out.push_str(copied);
        let blanks = tail
            .bytes()
            .take_while(|byte| !byte.is_ascii_graphic())
            .count();
        let (skipped, tail) = tail.split_at(blanks);
        // Control characters vanish; they do not part words.
        if skipped.bytes().any(is_blank) && !out.is_empty() && !out.ends_with(' ') {
            out.push(' ');
        }
        rest = tail;
    }
    if out.ends_with(' ') {
        out.pop();
    }
    out.make_ascii_lowercase();
}

/// What `char::is_whitespace` says of ASCII, vertical tab included.
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | 0x09..=0x0d)
}

/// What a byte does to a run of bytes that stand in the folded text as they
/// are, case aside.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// Belongs to the run.
    Keep,
    /// Belongs to it unless the next byte makes an escape or a double space.
    Depends,
    /// Ends it: control characters and everything beyond ASCII.
    End,
}

const EFFECTS: [Effect; 256] = {
    let mut effects = [Effect::End; 256];
    let mut byte = 0x20;
    while byte <= 0x7e {
        effects[byte] = match byte {
            // Space, ampersand and backslash.
            0x20 | 0x26 | 0x5c => Effect::Depends,
            _ => Effect::Keep,
        };
        byte += 1;
    }
    effects
};

/// How many bytes at the start of `bytes` stand in the folded text as they
/// are, case aside: printable ASCII that starts no escape, single spaces. An
/// escape that turns out to be none is then taken one byte at a time.
pub(super) fn copyable(bytes: &[u8], after_space: bool) -> usize {
    if after_space && bytes.first() == Some(&b' ') {
        return 0;
    }
    let mut len = 0;
    loop {
        len = skip_blocks(bytes, len);
        let block = bytes.get(len..).unwrap_or_default();
        for (offset, byte) in block.iter().take(LANES).enumerate() {
            match EFFECTS[usize::from(*byte)] {
                Effect::Keep => {}
                Effect::End => return len + offset,
                Effect::Depends => {
                    let next = block.get(offset + 1).copied().unwrap_or(0);
                    if breaks_before(*byte, next) {
                        return len + offset;
                    }
                    if (*byte == b' ') & (next == b' ') {
                        return len + offset + 1;
                    }
                }
            }
        }
        if block.len() <= LANES {
            return bytes.len();
        }
        len += LANES;
    }
}

/// Skips blocks in which nothing can end a run.
fn skip_blocks(bytes: &[u8], from: usize) -> usize {
    let mut len = from;
    while let Some(block) = block_at(bytes, len)
        && let Some(next) = block_at(bytes, len + 1)
    {
        let spaces = are(block, b' ') & are(next, b' ');
        let others = !within(block, 0x20, 0x7e);
        if (others | spaces | break_before(block, next)).any() {
            break;
        }
        len += LANES;
    }
    len
}

fn block_at(bytes: &[u8], at: usize) -> Option<Bytes> {
    let rest = bytes.get(at..)?;
    rest.first_chunk::<LANES>().map(|block| Bytes::new(*block))
}

/// [`breaks_before`] for each byte of a block and the one behind it.
#[inline]
fn break_before(bytes: Bytes, next: Bytes) -> Bytes {
    let lower = blocks::in_one_case(next);
    let references = are(next, b'#') | within(lower, b'a', b'z');
    let escapes = are(lower, b'u') | are(lower, b'x');
    are(bytes, b'&') & references | are(bytes, b'\\') & escapes
}

/// Whether two bytes may start an escape.
#[inline]
fn breaks_before(byte: u8, next: u8) -> bool {
    let lower = next | 0x20;
    ((byte == b'&') & ((next == b'#') | lower.is_ascii_lowercase()))
        | ((byte == b'\\') & ((lower == b'u') | (lower == b'x')))
}

/// How many bytes of the ASCII at the start of `bytes` stand as they are in a
/// text of another script: a few signs and small letters before a character
/// that is not ASCII. Longer ASCII is left to [`copyable`].
#[inline]
pub(super) fn gap(bytes: &[u8]) -> usize {
    const LONGEST: usize = 8;
    for (len, byte) in bytes.iter().take(LONGEST + 1).enumerate() {
        let next = bytes.get(len + 1).copied().unwrap_or(0);
        let verbatim = match byte {
            0x80.. => return len,
            b' ' => next != b' ',
            b'&' | b'\\' => false,
            _ => byte.is_ascii_graphic() && !byte.is_ascii_uppercase(),
        };
        if !verbatim {
            return 0;
        }
    }
    0
}

/// What a byte of a [`gap`] is within a word.
#[inline]
pub(super) fn role(byte: u8) -> Role {
    match byte {
        b'a'..=b'z' | b'A'..=b'Z' => Role::Latin,
        b'0'..=b'9' => Role::Neutral,
        _ => Role::Break,
    }
}

/// How much ASCII white space there is at the start of `bytes`.
pub(super) fn blanks(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| is_blank(**byte)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_ends_at_the_first_byte_that_changes() {
        let long = "x".repeat(40);
        for (text, len) in [
            ("abc", 3),
            ("a b  c", 4),
            ("a\tb", 1),
            ("a & b && c", 10),
            ("a&lt;", 1),
            ("a & b  &&& c", 6),
            ("a\\n b\\u0041", 5),
            ("&#73;", 0),
            ("\\x41", 0),
            ("C:\\dir", 6),
            ("aé", 1),
            ("", 0),
        ] {
            assert_eq!(copyable(text.as_bytes(), true), len, "{text}");
            let shifted = format!("{long}{text}");
            assert_eq!(copyable(shifted.as_bytes(), true), 40 + len, "{text}");
        }
        assert_eq!(copyable(b" a", true), 0);
        assert_eq!(copyable(b" a", false), 2);
    }
}
