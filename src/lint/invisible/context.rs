//! Who needs invisible characters: scripts that join letters or have no
//! spaces, and emoji.

use unicode_script::{Script, ScriptExtension, UnicodeScript};

use super::Sides;
use super::class::{Glyphless, glyphless};

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

/// Whether joiners next to `c` can shape it.
pub(super) fn is_joining(c: char) -> bool {
    const JOINING: &[Script] = &[
        Script::Arabic,
        Script::Syriac,
        Script::Mandaic,
        Script::Nko,
        Script::Mongolian,
        Script::Phags_Pa,
        Script::Adlam,
        Script::Hanifi_Rohingya,
        Script::Sogdian,
        Script::Devanagari,
        Script::Bengali,
        Script::Gurmukhi,
        Script::Gujarati,
        Script::Oriya,
        Script::Tamil,
        Script::Telugu,
        Script::Kannada,
        Script::Malayalam,
        Script::Sinhala,
        Script::Khmer,
        Script::Myanmar,
        Script::Balinese,
        Script::Javanese,
        Script::Meetei_Mayek,
        Script::Chakma,
        Script::Tirhuta,
        Script::Newa,
        Script::Grantha,
    ];
    // The blocks where most such text is need no lookup.
    matches!(c, '\u{620}'..='\u{6ff}' | '\u{900}'..='\u{dff}') || is_of(c, JOINING)
}

/// Whether `c` belongs to a script without spaces between words.
pub(super) fn needs_word_breaks(c: char) -> bool {
    const UNSPACED: &[Script] = &[
        Script::Thai,
        Script::Lao,
        Script::Khmer,
        Script::Myanmar,
        Script::Tibetan,
        Script::Javanese,
        Script::Balinese,
        Script::Tai_Le,
        Script::New_Tai_Lue,
        Script::Tai_Tham,
        Script::Tai_Viet,
        Script::Han,
        Script::Hiragana,
        Script::Katakana,
        Script::Yi,
    ];
    is_of(c, UNSPACED)
}

/// Marks that several scripts share count for each of them.
fn is_of(c: char, scripts: &[Script]) -> bool {
    if c.is_ascii() {
        return false;
    }
    let extension: ScriptExtension = c.script_extension();
    !extension.is_common()
        && !extension.is_inherited()
        && scripts
            .iter()
            .any(|script| extension.contains_script(*script))
}

/// Whether `c` may be part of an emoji sequence. No crate in use has the emoji
/// properties; a symbol that is not a letter is close enough, since joiners
/// between two symbols spell nothing.
pub(super) fn is_emoji(c: char) -> bool {
    matches!(c, '©' | '®' | '‼' | '⁉' | '™' | 'ℹ')
        || (c >= '\u{2190}' && !c.is_alphabetic() && glyphless(c).is_none())
        || matches!(c, '\u{1f130}'..='\u{1f1ff}')
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
