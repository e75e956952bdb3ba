//! The part of folding that needs no table: ASCII, many bytes at a time.

/// Bytes that the compiler compares at once.
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

/// How many bytes at the start of `bytes` stand in the folded text as they
/// are, case aside: printable ASCII that starts no escape, single spaces.
pub(super) fn copyable(bytes: &[u8], after_space: bool) -> usize {
    let mut previous = if after_space { b' ' } else { 0 };
    let mut len = 0;
    for byte in bytes.iter().take(LANES) {
        if breaks_run(*byte, previous) {
            return before_escape(bytes, len);
        }
        previous = *byte;
        len += 1;
    }
    if len < LANES {
        return before_escape(bytes, len);
    }
    // The compiler turns this inner loop into vector compares.
    while let (Some(now), Some(before)) = (
        bytes.get(len..len + LANES),
        bytes.get(len - 1..len - 1 + LANES),
    ) {
        let pairs = now.iter().zip(before);
        if pairs.fold(false, |broken, (byte, previous)| {
            broken | breaks_run(*byte, *previous)
        }) {
            break;
        }
        len += LANES;
    }
    let tail = bytes.get(len..).unwrap_or_default();
    let before = bytes.get(len - 1..).unwrap_or_default();
    let pairs = tail.iter().zip(before);
    len += pairs
        .take_while(|(byte, previous)| !breaks_run(**byte, **previous))
        .count();
    before_escape(bytes, len)
}

/// Whether a run ends before `byte`; an escape shows by its second byte.
#[inline]
fn breaks_run(byte: u8, previous: u8) -> bool {
    let lower = byte | 0x20;
    !(0x20..=0x7e).contains(&byte)
        | ((byte == b' ') & (previous == b' '))
        | ((previous == b'&') & ((byte == b'#') | lower.is_ascii_lowercase()))
        | ((previous == b'\\') & ((lower == b'u') | (lower == b'x')))
}

/// Moves the end of a run to before an escape whose first byte is in it. An
/// escape that turns out to be none is then taken one byte at a time.
fn before_escape(bytes: &[u8], len: usize) -> usize {
    let pair = bytes.get(len.saturating_sub(1)..=len);
    match pair {
        Some([b'&' | b'\\', next]) if len > 0 && next.is_ascii_graphic() => len - 1,
        _ => len,
    }
}

/// How many bytes of the ASCII at the start of `bytes` stand as they are in a
/// text of another script: a space or a sign, or a sign and a space, between
/// letters. Longer ASCII is left to [`copyable`].
#[inline]
pub(super) fn gap(bytes: &[u8]) -> usize {
    let sign = |byte: &u8| byte.is_ascii_punctuation() && !matches!(byte, b'&' | b'\\');
    match bytes {
        [first, 0x80..=0xff, ..] if *first == b' ' || sign(first) => 1,
        [first, b' ', 0x80..=0xff, ..] if sign(first) => 2,
        _ => 0,
    }
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
