//! Making recorded text harmless: characters that a terminal obeys or hides are
//! shown as escapes, and a GitHub Actions runner is kept from taking recorded text
//! for a command.

use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::fmt::Write as _;

/// The text with every control, bidirectional, tag and invisible character written
/// out: `\n`, `\r`, `\t`, otherwise `\u{200b}`. The result is one line.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for (c, dangerous) in judged(text) {
        if dangerous {
            push_escape(c, &mut shown);
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// Writes one character out.
pub(super) fn push_escape(c: char, shown: &mut String) {
    match c {
        '\n' => shown.push_str("\\n"),
        '\r' => shown.push_str("\\r"),
        '\t' => shown.push_str("\\t"),
        _ => {
            let _ = write!(shown, "\\u{{{:x}}}", u32::from(c));
        }
    }
}

/// The characters of a text, each with whether it must not be shown as it is.
///
/// A variation selector after a symbol only chooses between its two pictures and
/// occurs in honest text, so one of them is let through.
pub(super) fn judged(text: &str) -> impl Iterator<Item = (char, bool)> {
    let mut after_symbol = false;
    text.chars().map(move |c| {
        let chooses = after_symbol && matches!(c, '\u{fe0e}' | '\u{fe0f}');
        let dangerous = is_dangerous(c) && !chooses;
        after_symbol = !dangerous && has_two_pictures(c);
        (c, dangerous)
    })
}

fn has_two_pictures(c: char) -> bool {
    matches!(c, '\u{a9}' | '\u{ae}' | '\u{203c}'..='\u{3299}' | '\u{1f000}'..='\u{1faff}')
}

/// Whether a character acts on a terminal or hides from the eye: controls, line
/// and paragraph separators, what Unicode lists as default ignorable (zero-width
/// and bidirectional characters, tags, selectors, fillers), the other format
/// controls, and noncharacters.
pub(super) fn is_dangerous(c: char) -> bool {
    match u32::from(c) {
        0x00..=0x1f | 0x7f..=0x9f => true,
        0xa0..=0x02ff if c != '\u{ad}' => false,
        0xad
        | 0x034f
        | 0x061c
        | 0x115f..=0x1160
        | 0x17b4..=0x17b5
        | 0x180b..=0x180f
        | 0x200b..=0x200f
        | 0x2028..=0x202e
        | 0x2060..=0x206f
        | 0x3164
        | 0xfdd0..=0xfdef
        | 0xfe00..=0xfe0f
        | 0xfeff
        | 0xffa0
        | 0xfff0..=0xfffb
        | 0x13430..=0x1343f
        | 0x1bca0..=0x1bca3
        | 0x1d173..=0x1d17a
        | 0xe0000..=0xe0fff => true,
        code => code & 0xfffe == 0xfffe,
    }
}

/// Wraps a block of output so that a GitHub Actions runner reads no command in it.
///
/// The runner takes a line for a command if `::name` follows its leading blanks,
/// and in an older syntax if `##[name` stands anywhere in it. The first is switched
/// off for the block. The token that switches it on again is taken from a hash over
/// the block, so the block cannot contain it. The second is broken up besides.
pub(crate) fn guard_runner(block: &str) -> String {
    if block.is_empty() {
        return String::new();
    }
    let block = without_old_commands(block);
    let token: String =
        Sha256::digest(block.as_bytes())
            .iter()
            .take(16)
            .fold(String::new(), |mut token, byte| {
                let _ = write!(token, "{byte:02x}");
                token
            });
    let feed = if block.ends_with('\n') { "" } else { "\n" };
    format!("::stop-commands::{token}\n{block}{feed}::{token}::\n")
}

/// The text without the opening of a command in the runner's older syntax.
pub(super) fn without_old_commands(text: &str) -> Cow<'_, str> {
    if text.contains("##[") {
        Cow::Owned(text.replace("##[", "##\\u{5b}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// The beginning of a text, at most that many characters, ending in `…` if it was cut.
pub(super) fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most || text.chars().count() <= most {
        return Cow::Borrowed(text);
    }
    let mut cut: String = text.chars().take(most.saturating_sub(1)).collect();
    cut.push('…');
    Cow::Owned(cut)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_and_invisible_characters_are_written_out() {
        assert_eq!(visible("plain ~ text"), "plain ~ text");
        assert_eq!(visible("é 中文 👍"), "é 中文 👍");
        assert_eq!(visible("a\u{1b}[31mb"), "a\\u{1b}[31mb");
        assert_eq!(visible("a\nb\r\tc\0"), "a\\nb\\r\\tc\\u{0}");
        assert_eq!(visible("\u{202e}x\u{2066}"), "\\u{202e}x\\u{2066}");
        assert_eq!(
            visible("\u{e0041}\u{200b}\u{feff}"),
            "\\u{e0041}\\u{200b}\\u{feff}"
        );
        assert_eq!(
            visible("\u{85}\u{9b}\u{2028}\u{ad}"),
            "\\u{85}\\u{9b}\\u{2028}\\u{ad}"
        );
    }

    #[test]
    fn one_selector_after_a_symbol_stays_and_a_run_does_not() {
        assert_eq!(visible("⚠\u{fe0f}"), "⚠\u{fe0f}");
        assert_eq!(visible("⚠\u{fe0f}\u{fe0f}"), "⚠\u{fe0f}\\u{fe0f}");
        assert_eq!(visible("a\u{fe0f}"), "a\\u{fe0f}");
        assert_eq!(visible("\u{3164}\u{fe0f}"), "\\u{3164}\\u{fe0f}");
    }

    #[test]
    fn showing_text_twice_changes_nothing_more() {
        let once = visible("a\u{1b}\u{200b}\n⚠\u{fe0f}").into_owned();
        assert_eq!(visible(&once), once);
    }

    #[test]
    fn a_guarded_block_is_closed_by_a_token_it_does_not_contain() {
        let guarded = guard_runner("  ::error::x\n##[error]y\n");
        let lines: Vec<&str> = guarded.lines().collect();
        let token = lines[0].strip_prefix("::stop-commands::").unwrap();
        assert_eq!(token.len(), 32);
        assert_eq!(lines[1..3], ["  ::error::x", "##\\u{5b}error]y"]);
        assert_eq!(lines[3], format!("::{token}::"));
        assert_eq!(lines.len(), 4);
    }

    #[test]
    fn text_is_cut_at_characters() {
        assert_eq!(shortened("héllo", 5), "héllo");
        assert_eq!(shortened("héllo!", 5), "héll…");
        assert_eq!(shortened("日本語日本語", 3), "日本…");
    }
}
