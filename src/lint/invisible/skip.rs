//! Skipping ordinary text.

/// Bytes that the compiler compares at once.
const LANES: usize = 32;

/// The next byte from `at` on that may start a character which hides or
/// steers: control characters and the lead bytes of the blocks where such
/// characters are. Texts in most scripts have none of these.
pub(super) fn next_suspect(bytes: &[u8], at: usize) -> Option<usize> {
    let mut at = at;
    while let Some(block) = bytes.get(at..at + LANES) {
        if block.iter().fold(false, |any, byte| any | is_lead(*byte))
            && let Some(offset) = first(bytes, at, LANES)
        {
            return Some(at + offset);
        }
        at += LANES;
    }
    let left = bytes.len().saturating_sub(at);
    first(bytes, at, left).map(|offset| at + offset)
}

fn first(bytes: &[u8], at: usize, len: usize) -> Option<usize> {
    (0..len).find(|offset| {
        let rest = bytes.get(at + offset..).unwrap_or_default();
        rest.first().is_some_and(|byte| is_lead(*byte)) && is_suspect(rest)
    })
}

/// A quick test that a whole block of bytes usually fails.
#[inline]
fn is_lead(byte: u8) -> bool {
    ((byte < 0x20) & (byte != b'\n') & (byte != b'\t'))
        | (byte == 0x7f)
        | (byte == 0xc2)
        | (byte == 0xcd)
        | (byte == 0xd8)
        | (0xe1..=0xe3).contains(&byte)
        | (byte == 0xef)
        | (byte == 0xf0)
        | (byte == 0xf3)
}

/// Looks at the bytes after the lead; what passes is decoded and judged.
fn is_suspect(bytes: &[u8]) -> bool {
    match bytes {
        // A carriage return at a line's end is no overwriting.
        [b'\r', b'\n', ..] => false,
        [byte, ..] if *byte < 0x80 => true,
        [0xc2, next, ..] => *next < 0xa0 || *next == 0xad,
        [0xcd, next, ..] => *next == 0x8f,
        [0xd8, next, ..] => *next == 0x9c,
        [0xe1, next, ..] => matches!(next, 0x85 | 0x9e | 0xa0),
        [0xe2, 0x80, last, ..] => matches!(last, 0x8b..=0x8f | 0xaa..=0xae),
        [0xe2, 0x81, last, ..] => *last >= 0xa0,
        [0xe2, 0xa0, last, ..] => *last == 0x80,
        [0xe3, 0x85, last, ..] => *last == 0xa4,
        [0xef, 0xb8, last, ..] => *last <= 0x8f,
        [0xef, 0xbb, last, ..] => *last == 0xbf,
        [0xef, 0xbe, last, ..] => *last == 0xa0,
        [0xef, 0xbf, last, ..] => matches!(last, 0xb0..=0xbb),
        [0xf0, 0x9d, 0x85, ..] | [0xf0, 0x9b, 0xb2, ..] | [0xf3, ..] => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::class::glyphless;
    use super::*;

    #[test]
    fn every_character_that_hides_or_steers_is_a_suspect() {
        for c in (0..=0x10ffff).filter_map(char::from_u32) {
            let hides = glyphless(c).is_some() || (c.is_control() && !matches!(c, '\n' | '\t'));
            let text = format!("a{c}");
            if hides {
                assert_eq!(next_suspect(text.as_bytes(), 0), Some(1), "{c:?}");
            }
        }
    }

    #[test]
    fn ordinary_text_is_skipped() {
        for text in [
            "Plain ASCII text, two lines\r\nand a tab\t.",
            "Обычный русский текст, «кавычки».",
            "返回文件列表，如果目录不存在。",
            "Größe, façade, naïve — “quoted”… 25 °C",
            "ファイルの一覧",
        ] {
            assert_eq!(next_suspect(text.repeat(9).as_bytes(), 0), None, "{text}");
        }
        let late = format!("{}\u{200b}", "x".repeat(77));
        assert_eq!(next_suspect(late.as_bytes(), 0), Some(77));
        assert_eq!(next_suspect(late.as_bytes(), 78), None);
    }
}
