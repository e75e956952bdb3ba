//! Skipping ordinary text.

/// Bytes that the compiler compares at once.
const LANES: usize = 16;

/// The next byte from `at` on that may start a character which hides or
/// steers. What it finds is decoded and judged, so a false suspect is no harm.
pub(super) fn next_suspect(bytes: &[u8], at: usize) -> Option<usize> {
    let mut at = skip_prose(bytes, at);
    // The last bytes of a text are looked at as if zeros followed, which no
    // test of a second or third byte takes for a suspect.
    while let Some(block) = bytes.get(at..at + LANES + 2) {
        let (first, second, third) = (&block[..LANES], &block[1..=LANES], &block[2..]);
        let any = first
            .iter()
            .zip(second)
            .zip(third)
            .fold(false, |any, ((a, b), c)| any | is_suspect(*a, *b, *c));
        if any {
            break;
        }
        at = skip_prose(bytes, at + LANES);
    }
    let byte = |index: usize| bytes.get(index).copied().unwrap_or(0);
    (at..bytes.len()).find(|index| is_suspect(byte(*index), byte(index + 1), byte(index + 2)))
}

/// Skips blocks of printable ASCII, line ends and tabs, where one byte says enough.
#[inline]
fn skip_prose(bytes: &[u8], from: usize) -> usize {
    let is_other = |byte: u8| !(0x20..0x7f).contains(&byte) & (byte != b'\n') & (byte != b'\t');
    let mut at = from;
    while let Some(block) = bytes.get(at..at + 2 * LANES) {
        if block.iter().fold(false, |any, byte| any | is_other(*byte)) {
            break;
        }
        at += 2 * LANES;
    }
    at
}

/// Looks at three bytes without a branch, so that a block is tested at once.
#[inline]
fn is_suspect(a: u8, b: u8, c: u8) -> bool {
    // A carriage return at a line's end is no overwriting.
    ((a < 0x20) & (a != b'\n') & (a != b'\t') & !((a == b'\r') & (b == b'\n')))
        | (a == 0x7f)
        | ((a == 0xc2) & ((b < 0xa0) | (b == 0xad)))
        | ((a == 0xcd) & (b == 0x8f))
        | ((a == 0xd8) & (b == 0x9c))
        | ((a == 0xe1) & ((b == 0x85) | (b == 0x9e) | (b == 0xa0)))
        | ((a == 0xe2) & (b == 0x80) & ((0x8b..=0x8f).contains(&c) | (0xaa..=0xae).contains(&c)))
        | ((a == 0xe2) & (b == 0x81) & (c >= 0xa0))
        | ((a == 0xe2) & (b == 0xa0) & (c == 0x80))
        | ((a == 0xe3) & (b == 0x85) & (c == 0xa4))
        | ((a == 0xef) & (b == 0xb8) & (c <= 0x8f))
        | ((a == 0xef) & (b == 0xbb) & (c == 0xbf))
        | ((a == 0xef) & (b == 0xbe) & (c == 0xa0))
        | ((a == 0xef) & (b == 0xbf) & (0xb0..=0xbb).contains(&c))
        | ((a == 0xf0) & (((b == 0x9d) & (c == 0x85)) | ((b == 0x9b) & (c == 0xb2))))
        | (a == 0xf3)
}

#[cfg(test)]
mod tests {
    use super::super::class::glyphless;
    use super::*;

    #[test]
    fn every_character_that_hides_or_steers_is_a_suspect() {
        for c in (0..=0x10ffff).filter_map(char::from_u32) {
            let hides = glyphless(c).is_some() || (c.is_control() && !matches!(c, '\n' | '\t'));
            if hides {
                let text = format!("a{c}");
                assert_eq!(next_suspect(text.as_bytes(), 0), Some(1), "{c:?}");
                let text = format!("{:40}{c}{:40}", "", "");
                assert_eq!(next_suspect(text.as_bytes(), 0), Some(40), "{c:?}");
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
