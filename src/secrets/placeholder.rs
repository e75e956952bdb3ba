//! Stand-ins for secrets: redaction markers, filler and samples from documentation.

/// Values that documentation prints everywhere and that open nothing.
const DOCUMENTED: &[&str] = &[
    // The signatures of the sample token that explains JWT.
    "SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c",
    "TJVA95OrM7E2cBab30RMHrHDcEfxjoYZgeFONFh7HgQ",
];

/// Whether a text is nothing but a redaction marker: `REDACTED`, `<LABEL>`,
/// `<LABEL>_` and 12 hex digits, or a run of mask characters with a short tail.
pub(crate) fn is_marker(text: &str) -> bool {
    let text = text.trim();
    if text.eq_ignore_ascii_case("redacted") || text.eq_ignore_ascii_case("[redacted]") {
        return true;
    }
    if let Some((label, rest)) = text.strip_prefix('<').and_then(|rest| rest.split_once('>')) {
        return is_label(label) && (rest.is_empty() || digest_tail(rest) == Some(rest.len()));
    }
    let tail = text.trim_start_matches(['•', '*']);
    let mask = text.strip_suffix(tail).unwrap_or_default();
    mask.chars().nth(2).is_some() && tail.chars().nth(4).is_none()
}

/// Whether a marker is as short as redaction leaves one: a label of a few words, a mask
/// that shows nothing or four characters. A longer one may be a text in its shape.
pub(crate) fn is_terse(marker: &str) -> bool {
    const LONGEST_LABEL: usize = 24;
    const MOST_WORDS: usize = 3;
    let marker = marker.trim();
    if let Some((label, _)) = marker
        .strip_prefix('<')
        .and_then(|rest| rest.split_once('>'))
    {
        return label.len() <= LONGEST_LABEL && label.split(['-', '_']).count() <= MOST_WORDS;
    }
    let tail = marker.trim_start_matches(['•', '*']);
    tail.len() == marker.len() || matches!(tail.chars().count(), 0 | 4)
}

/// The length of the `_` and 12 hex digits of a hashed marker at the start of `text`.
pub(super) fn digest_tail(text: &str) -> Option<usize> {
    let digits = text.strip_prefix('_')?.as_bytes().get(..12)?;
    digits.iter().all(u8::is_ascii_hexdigit).then_some(13)
}

/// The length of the marker that `text` begins with: `<LABEL>`, or any `<label>` with a
/// hash behind it.
pub(crate) fn marker_at(text: &str) -> Option<usize> {
    const LONGEST_LABEL: usize = 64;
    let rest = text.strip_prefix('<')?;
    let head = rest.as_bytes().get(..rest.len().min(LONGEST_LABEL + 1))?;
    let close = memchr::memchr(b'>', head)?;
    let label = rest.get(..close).filter(|label| !label.is_empty())?;
    let end = close + 2;
    let after = text.get(end..).unwrap_or_default();
    let odd = |c: char| c.is_control() || c == '<';
    match digest_tail(after) {
        Some(tail) if !label.contains(odd) => Some(end + tail),
        _ => is_label(label).then_some(end),
    }
}

/// What is left of a text without the markers in it, or `None` if it holds none.
pub(super) fn beside_markers(text: &str) -> Option<String> {
    let mut left = String::new();
    let mut done = 0;
    for start in memchr::memchr_iter(b'<', text.as_bytes()) {
        let marker = text.get(start..).and_then(marker_at);
        if let Some(length) = marker.filter(|_| start >= done) {
            left.push_str(text.get(done..start).unwrap_or_default());
            done = start + length;
        }
    }
    left.push_str(text.get(done..).unwrap_or_default());
    (done > 0).then_some(left)
}

/// Whether the text up to a place ends in something that no word goes on from: an escape
/// (`%00`, `\n`), or a marker.
pub(crate) fn ends_apart(before: &str) -> bool {
    let bytes = before.as_bytes();
    let escape = match bytes {
        [.., b'%', high, low] => high.is_ascii_hexdigit() && low.is_ascii_hexdigit(),
        [.., b'\\', b'n' | b'r' | b't' | b'b' | b'f' | b'0'] => true,
        _ => false,
    };
    escape || before.ends_with(WORD) || ends_in_marker(before)
}

/// Whether the text up to a place ends in `<LABEL>` or a hashed marker.
pub(crate) fn ends_in_marker(before: &str) -> bool {
    let start = before.len().saturating_sub(13);
    let tail = before.get(start..).and_then(digest_tail);
    let before = match tail {
        Some(_) => before.get(..start).unwrap_or_default(),
        None => before,
    };
    const LONGEST: usize = 66;
    let near = before.len().saturating_sub(LONGEST);
    let opened = memchr::memrchr(b'<', before.as_bytes().get(near..).unwrap_or_default());
    opened.is_some_and(|at| {
        let marker = before.get(near + at..).unwrap_or_default();
        tail.is_some() && marker.ends_with('>') || marker_at(marker) == Some(marker.len())
    })
}

/// Whether the text up to a place ends in `<LABEL>`.
pub(super) fn ends_in_label(before: &str) -> bool {
    let Some(inner) = before.strip_suffix('>') else {
        return false;
    };
    let tail = inner.as_bytes().iter().rev().take(64);
    let length = tail.take_while(|byte| **byte != b'<').count();
    let start = inner.len() - length;
    start > 0
        && inner.as_bytes().get(start - 1) == Some(&b'<')
        && inner.get(start..).is_some_and(is_label)
}

/// The word that stands for a value on its own.
pub(crate) const WORD: &str = "REDACTED";

/// Words in capitals. An account number or a key in angle brackets is none.
fn is_label(label: &str) -> bool {
    const MOST_DIGITS: usize = 7;
    const ACCESS_KEY: usize = 20;
    let digits = label.bytes().filter(u8::is_ascii_digit).count();
    let key = label.len() == ACCESS_KEY && (label.starts_with("AKIA") || label.starts_with("ASIA"));
    if digits > MOST_DIGITS || key {
        return false;
    }
    let allowed = |byte: u8| {
        byte.is_ascii_uppercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-')
    };
    label
        .bytes()
        .next()
        .is_some_and(|byte| byte.is_ascii_uppercase())
        && label.bytes().all(allowed)
}

/// Whether a value stands where a key would: a documented sample, one that says so
/// itself, or a repeated character.
pub(super) fn is_filler(value: &str) -> bool {
    DOCUMENTED.iter().any(|known| value.contains(known)) || says_so(value) || is_repetitive(value)
}

/// As [`is_filler`] for a block of lines, in which a genuine key may repeat a character.
pub(super) fn is_filler_block(value: &str) -> bool {
    let body = value.split_once("KEY").map_or(value, |(_, body)| body);
    let letters: Vec<u8> = body.bytes().filter(u8::is_ascii_alphanumeric).collect();
    let mut seen = [0_usize; 256];
    for letter in &letters {
        seen[usize::from(*letter)] += 1;
    }
    let most = seen.iter().max().copied().unwrap_or(0);
    says_so(value) || most * 2 > letters.len()
}

/// Words that nobody's random key contains by chance.
fn says_so(value: &str) -> bool {
    const WORDS: [&[u8]; 10] = [
        b"example",
        b"placeholder",
        b"changeme",
        b"change-me",
        b"change_me",
        b"redacted",
        b"your-",
        b"your_",
        b"-here",
        b"_here",
    ];
    (0..value.len()).any(|at| {
        let rest = &value.as_bytes()[at..];
        let first = rest[0].to_ascii_lowercase();
        matches!(first, b'e' | b'p' | b'c' | b'r' | b'y' | b'-' | b'_')
            && WORDS.iter().any(|word| {
                rest.get(..word.len())
                    .is_some_and(|head| head.eq_ignore_ascii_case(word))
            })
    })
}

/// At least eight equal characters in a row, or a text of very few different ones.
fn is_repetitive(value: &str) -> bool {
    let bytes = value.as_bytes();
    let mut run = 0;
    let mut previous = None;
    let mut seen = [0_u32; 256];
    for byte in bytes {
        run = if previous == Some(byte) { run + 1 } else { 1 };
        if run >= 8 {
            return true;
        }
        previous = Some(byte);
        seen[usize::from(*byte)] += 1;
    }
    let distinct = seen.iter().filter(|count| **count > 0).count();
    let most = seen.iter().max().copied().unwrap_or(0) as usize;
    bytes.len() >= 8 && (distinct <= 3 || most * 2 > bytes.len())
}

/// Whether half of a text or more counts up or down, as `abcdef…0123456789` does.
pub(super) fn is_sequence(value: &str) -> bool {
    let bytes = value.as_bytes();
    let steps = bytes
        .windows(2)
        .filter(|pair| pair[1].abs_diff(pair[0]) == 1)
        .count();
    bytes.len() >= 4 && steps * 2 >= bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_known() {
        for marker in [
            "REDACTED",
            "<EMAIL>",
            "<EMAIL>_0123456789ab",
            "••••••••6411",
            "***",
        ] {
            assert!(is_marker(marker), "{marker}");
        }
        for other in [
            "REDACTED!x",
            "<email>",
            "<EMAIL>_0123456789abc",
            "6411",
            "••x",
        ] {
            assert!(!is_marker(other), "{other}");
        }
    }

    #[test]
    fn a_sentence_in_the_shape_of_a_marker_is_not_terse() {
        for marker in [
            "REDACTED",
            "<EMAIL>",
            "<AWS_SECRET_KEY>_0123456789ab",
            "•••6411",
            "***",
        ] {
            assert!(is_terse(marker), "{marker}");
        }
        for other in [
            "<DO-NOT-TELL-THEM>",
            "<SOMETHINGTHATISNOLABELATALL>",
            "****id",
        ] {
            assert!(is_marker(other) && !is_terse(other), "{other}");
        }
    }

    #[test]
    fn a_label_is_found_backwards() {
        assert!(ends_in_label("mail <E-MAIL>"));
        assert!(!ends_in_label("mail <e>"));
        assert!(!ends_in_label("a > b >"));
        assert!(!ends_in_label(">"));
    }

    #[test]
    fn filler_is_known() {
        for filler in [
            "XXXXXXXXXXXXXXXXXXXX",
            "AKIAIOSFODNN7EXAMPLE",
            "0000000000",
            "abababababab",
            "your-api-key-here",
        ] {
            assert!(is_filler(filler), "{filler}");
        }
        assert!(!is_filler("q8N2vR5xL1mZ7pK4tW9y"));
        assert!(is_sequence("abcdefghijklmnop0123456789"));
        assert!(!is_sequence("q8N2vR5xL1mZ7pK4tW9y"));
    }
}
