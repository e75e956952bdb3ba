//! Who needs invisible characters: scripts that join letters or have no
//! spaces, and emoji.

use unicode_script::{Script, UnicodeScript};

use super::Sides;
use super::class::{Glyphless, glyphless, is_emoji, is_joining, needs_word_breaks};

/// Whether a run of zero-width characters is what its neighbours ask for.
pub(super) fn joins_honestly(run: &str, count: usize, sides: &Sides) -> bool {
    let mut chars = run.chars();
    let Some(first) = chars.next().filter(|first| chars.all(|c| c == *first)) else {
        return false;
    };
    let near = |test: fn(char) -> bool| {
        sides.run_before.is_some_and(test) || sides.run_after.is_some_and(test)
    };
    match first {
        '\u{200d}' if count == 1 && sides.run_after.is_some_and(is_emoji) => {
            sides.run_before.is_some_and(is_emoji)
        }
        '\u{200c}' | '\u{200d}' => count <= 2 && near(is_joining),
        '\u{200b}' => count <= 2 && near(needs_word_breaks),
        '\u{34f}' => count == 1 && near(|c| !c.is_ascii()),
        '\u{17b4}' | '\u{17b5}' => near(|c| c.script() == Script::Khmer),
        '\u{180b}'..='\u{180f}' => near(|c| matches!(c.script(), Script::Mongolian)),
        '\u{1bca0}'..='\u{1bca3}' => near(|c| c.script() == Script::Duployan),
        '\u{1d173}'..='\u{1d17a}' => near(|c| matches!(c, '\u{1d100}'..='\u{1d1ff}')),
        _ => false,
    }
}

pub(super) fn is_ideograph(c: char) -> bool {
    matches!(c.script(), Script::Han) || matches!(c, '\u{1b000}'..='\u{1b2ff}')
}

/// A Braille pattern with dots.
pub(super) fn is_braille(c: char) -> bool {
    matches!(c, '\u{2801}'..='\u{28ff}')
}

pub(super) fn is_hangul(c: char) -> bool {
    c.script() == Script::Hangul && glyphless(c).is_none()
}

/// Part of a word that soft hyphens may part.
pub(super) fn is_word(c: char) -> bool {
    c.is_alphabetic() || glyphless(c) == Some(Glyphless::SoftHyphen)
}
