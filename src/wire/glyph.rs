//! Which characters leave no mark on the screen, by what they are for.

use unicode_normalization::char::is_public_assigned;
use unicode_script::{Script, ScriptExtension, UnicodeScript};

/// What a character without a glyph is meant to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Glyphless {
    /// Plane 14 tags and what else is unassigned and ignorable there.
    Tag,
    /// Variation selectors 1–256.
    Variation,
    /// Zero-width space, joiners, word joiner, byte order mark and the rare
    /// format characters.
    ZeroWidth,
    /// Invisible mathematical operators, U+2061–2064.
    Operator,
    /// Blank letters: Hangul fillers and the empty Braille cell.
    Filler,
    /// U+00AD.
    SoftHyphen,
    /// Left-to-right, right-to-left and Arabic letter marks.
    DirectionMark,
    /// Embeddings, overrides, isolates and their ends.
    Direction,
}

/// The class of `c`, or none for everything that is drawn.
///
/// The source is `Default_Ignorable_Code_Point` of Unicode 16 with the format
/// characters that have no glyph and the two blanks that count as letters.
/// Mongolian selectors shape letters and are in no class of their own.
pub(crate) fn glyphless(c: char) -> Option<Glyphless> {
    let class = match c {
        '\u{ad}' => Glyphless::SoftHyphen,
        '\u{61c}' | '\u{200e}' | '\u{200f}' => Glyphless::DirectionMark,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => Glyphless::Direction,
        '\u{2061}'..='\u{2064}' => Glyphless::Operator,
        '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' | '\u{2800}' => Glyphless::Filler,
        '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => Glyphless::Variation,
        '\u{e0000}'..='\u{e0fff}' => Glyphless::Tag,
        '\u{34f}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200d}'
        | '\u{2060}'
        | '\u{2065}'
        | '\u{206a}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' => Glyphless::ZeroWidth,
        _ => return None,
    };
    Some(class)
}

/// A character that nobody agreed on what it looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaningless {
    /// For private use: fonts draw what they like, or nothing.
    Private,
    /// U+FFFD, which stands for half a surrogate pair or for bytes that were no text.
    Replacement,
    /// No character of Unicode.
    Unassigned,
}

/// Why `c` has no meaning, or none for a character that has one.
///
/// The source is the general category in Unicode 16. Places that are kept for
/// pictographs count as assigned: each version of Unicode adds some.
pub(crate) fn meaningless(c: char) -> Option<Meaningless> {
    match c {
        '\0'..='\u{377}' | '\u{1f000}'..='\u{1faff}' => None,
        '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{ffffd}' | '\u{100000}'..='\u{10fffd}' => {
            Some(Meaningless::Private)
        }
        '\u{fffd}' => Some(Meaningless::Replacement),
        _ if glyphless(c).is_some() || is_public_assigned(c) => None,
        _ => Some(Meaningless::Unassigned),
    }
}

/// Whether joiners next to `c` can shape it.
pub(crate) fn is_joining(c: char) -> bool {
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
pub(crate) fn needs_word_breaks(c: char) -> bool {
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
pub(crate) fn is_emoji(c: char) -> bool {
    matches!(c, '©' | '®' | '‼' | '⁉' | '™' | 'ℹ')
        || (c >= '\u{2190}' && !c.is_alphabetic() && glyphless(c).is_none())
        || matches!(c, '\u{1f130}'..='\u{1f1ff}')
}
