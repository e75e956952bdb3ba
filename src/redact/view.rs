//! A text as a reader sees it: without invisible characters, wide forms as plain ones,
//! percent escapes undone; and where each piece of it stands in the original.

use std::ops::Range;
use unicode_normalization::UnicodeNormalization;

/// The folded text and the way back.
pub(super) struct View {
    pub(super) text: String,
    /// For each byte of `text`: where the character that it came from begins and ends.
    places: Vec<(u32, u32)>,
}

impl View {
    /// The view of `raw`, or `None` if it is `raw` itself.
    pub(super) fn of(raw: &str) -> Option<View> {
        if !may_differ(raw) || u32::try_from(raw.len()).is_err() {
            return None;
        }
        let mut view = View {
            text: String::with_capacity(raw.len()),
            places: Vec::with_capacity(raw.len()),
        };
        let mut at = 0;
        while let Some(rest) = raw.get(at..).filter(|rest| !rest.is_empty()) {
            let escaped = percent_run(rest);
            if !escaped.is_empty() {
                for (c, length) in escaped {
                    view.push(c, at..at + length);
                    at += length;
                }
            } else if let Some(c) = rest.chars().next() {
                view.push(c, at..at + c.len_utf8());
                at += c.len_utf8();
            }
        }
        (view.text != raw).then_some(view)
    }

    fn push(&mut self, c: char, from: Range<usize>) {
        let place = (narrow(from.start), narrow(from.end));
        let before = self.text.len();
        fold(c, &mut self.text);
        let added = self.text.len() - before;
        self.places.extend(std::iter::repeat_n(place, added));
    }

    /// Where a range of the view stands in the original.
    pub(super) fn original(&self, range: &Range<usize>) -> Option<Range<usize>> {
        let (start, _) = self.places.get(range.start)?;
        let (_, end) = self.places.get(range.end.checked_sub(1)?)?;
        Some(*start as usize..*end as usize)
    }
}

/// A text without invisible characters, with plain forms of wide and ornamental ones.
pub(super) fn folded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    text.chars().for_each(|c| fold(c, &mut out));
    out
}

fn narrow(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

fn may_differ(raw: &str) -> bool {
    let bytes = raw.as_bytes();
    let escaped = memchr::memchr_iter(b'%', bytes).any(|at| hex_at(bytes, at).is_some());
    escaped || !raw.is_ascii() && raw.chars().any(|c| !c.is_ascii() && folds(c))
}

/// In place of an escape that spells no text. It belongs to no word.
const NO_TEXT: char = '\u{fffd}';

/// The characters that escapes in a row spell, each with the length of its escapes.
fn percent_run(rest: &str) -> Vec<(char, usize)> {
    let bytes = rest.as_bytes();
    let mut decoded = Vec::new();
    while let Some(byte) = hex_at(bytes, decoded.len() * 3) {
        decoded.push(byte);
    }
    let mut spelt = Vec::with_capacity(decoded.len());
    for chunk in decoded.utf8_chunks() {
        // A NUL is no text, and would end it for some readers.
        let plain = |c| if c == '\0' { NO_TEXT } else { c };
        let valid = chunk.valid().chars();
        spelt.extend(valid.map(|c| (plain(c), c.len_utf8() * 3)));
        spelt.extend(chunk.invalid().iter().map(|_| (NO_TEXT, 3)));
    }
    spelt
}

fn hex_at(bytes: &[u8], at: usize) -> Option<u8> {
    let digit = |offset: usize| {
        let byte = bytes.get(at + offset)?;
        u8::try_from(char::from(*byte).to_digit(16)?).ok()
    };
    if bytes.get(at) != Some(&b'%') {
        return None;
    }
    Some(digit(1)? << 4 | digit(2)?)
}

/// Characters that show as nothing and may stand anywhere.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{e0000}'..='\u{e007f}'
    )
}

fn is_dash(c: char) -> bool {
    matches!(
        c,
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}'
    )
}

fn is_blank(c: char) -> bool {
    matches!(
        c,
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}'
    )
}

/// Blocks whose characters are forms of plainer ones.
fn has_plain_form(c: char) -> bool {
    matches!(
        c,
        '\u{2070}'..='\u{209f}' | '\u{2100}'..='\u{214f}' | '\u{2460}'..='\u{24ff}'
            | '\u{fb00}'..='\u{fb06}' | '\u{ff00}'..='\u{ffef}' | '\u{1d400}'..='\u{1d7ff}'
    )
}

fn digit(c: char) -> Option<char> {
    let zero = match c {
        '\u{660}'..='\u{669}' => 0x660,
        '\u{6f0}'..='\u{6f9}' => 0x6f0,
        '\u{966}'..='\u{96f}' => 0x966,
        _ => return None,
    };
    char::from_digit(u32::from(c) - zero, 10)
}

fn folds(c: char) -> bool {
    is_invisible(c) || is_dash(c) || is_blank(c) || has_plain_form(c) || digit(c).is_some()
}

fn fold(c: char, out: &mut String) {
    if c.is_ascii() {
        out.push(c);
    } else if is_invisible(c) {
    } else if is_dash(c) {
        out.push('-');
    } else if is_blank(c) {
        out.push(' ');
    } else if let Some(digit) = digit(c) {
        out.push(digit);
    } else if has_plain_form(c) {
        out.extend(std::iter::once(c).nfkc());
    } else {
        out.push(c);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_leads_back() {
        let raw = "a\u{200b}b%40c\u{ff0e}d";
        let view = View::of(raw).unwrap();
        assert_eq!(view.text, "ab@c.d");
        assert_eq!(view.original(&(1..6)), Some(4..raw.len()));
        assert_eq!(view.original(&(0..2)), Some(0..5));
        assert_eq!(view.original(&(2..3)), Some(5..8));
    }

    #[test]
    fn plain_text_needs_no_view() {
        for raw in ["", "plain", "100% sure", "naïve 日本語", "%zz %4"] {
            assert!(View::of(raw).is_none(), "{raw}");
        }
    }
}
