//! What folding does with one character, from a table filled on first use.
//!
//! Asking the Unicode crates for each character of a text is ten times slower
//! than a table, and filling a whole table up front would cost a cold start of
//! 40 ms. So the table is made of blocks of 256 characters, and a text pays for
//! the blocks that it uses.

use std::sync::OnceLock;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{canonical_combining_class, is_combining_mark};
use unicode_normalization::{IsNormalized, is_nfkc_quick};
use unicode_script::{Script, UnicodeScript};

use super::confusable::{Letters, Likeness, ascii_letters};
use crate::lint::invisible::class::{Glyphless, glyphless, meaningless};

/// How a character appears in the folded text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// As it is.
    Same,
    /// As the character given by `value`.
    Other,
    /// As the piece of the block's text that `value` gives.
    Longer,
    /// As white space.
    Blank,
    /// Not at all.
    Nothing,
    /// As it is, but it may change places with other marks.
    Trailing,
    /// As a mark or syllable part that may compose with the letter before.
    Combining,
}

/// What a character is within a word; up to `Foreign` it ends one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
pub(super) enum Role {
    /// No part of a word.
    Break,
    /// A letter of a script that has words of its own; it ends a word of
    /// Latin look-alikes and shows that the text around is not Latin.
    Foreign,
    /// A digit or a letter that says nothing about the script.
    Neutral,
    /// A mark on the letter before.
    Mark,
    /// An ASCII letter once folded.
    Latin,
    /// A Latin letter that is not ASCII but looks like it.
    Styled,
    /// A letter of another script drawn like an ASCII letter.
    Alike,
    /// A letter of an alphabet like ours that is not drawn like Latin.
    Native,
}

/// How many roles there are.
pub(super) const ROLES: usize = Role::Native as usize + 1;

/// The entry of one character.
#[derive(Debug, Clone, Copy)]
pub(super) struct Glyph {
    pub(super) form: Form,
    pub(super) role: Role,
    /// The ASCII letters it looks like, zeros if none.
    pub(super) ascii: Letters,
    value: u32,
}

impl Glyph {
    const fn plain(form: Form, role: Role) -> Self {
        Self {
            form,
            role,
            ascii: [0; 2],
            value: 0,
        }
    }

    /// The character of [`Form::Other`].
    pub(super) fn other(self) -> char {
        char::from_u32(self.value).unwrap_or(char::REPLACEMENT_CHARACTER)
    }
}

const BLOCK: u32 = 256;
const BLOCKS: usize = 0x30000 / 256;
/// A longer expansion is left unexpanded: U+FDFA alone has 18 characters, and
/// a text of nothing else would grow tenfold.
const LONGEST_EXPANSION: usize = 6;

pub(super) struct Block {
    glyphs: [Glyph; BLOCK as usize],
    /// The expansions of [`Form::Longer`], one after another.
    text: String,
}

static TABLE: [OnceLock<Box<Block>>; BLOCKS] = [const { OnceLock::new() }; BLOCKS];

/// Whether `c` is a CJK ideograph, syllable or plain kana: these never change,
/// make up most of the texts they occur in, and need no table.
#[inline]
pub(super) fn is_ideographic(c: char) -> bool {
    // The first test settles most letters.
    c >= '\u{3041}'
        && matches!(c, '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{3041}'..='\u{3096}'
        | '\u{30a1}'..='\u{30fa}' | '\u{3400}'..='\u{4dbf}')
}

/// What folding does with `c`.
#[inline]
pub(super) fn glyph(c: char) -> Glyph {
    Glyphs::default().of(c)
}

/// Reads glyphs, and remembers the block of the last one: most texts stay in
/// one block for a whole word.
#[derive(Default)]
pub(super) struct Glyphs {
    last: Option<(u32, &'static Block)>,
}

impl Glyphs {
    /// What folding does with `c`.
    #[inline]
    pub(super) fn of(&mut self, c: char) -> Glyph {
        let code = u32::from(c);
        let block = match self.last {
            Some((index, block)) if index == code / BLOCK => block,
            _ => match block(code) {
                Some(block) => {
                    self.last = Some((code / BLOCK, block));
                    block
                }
                None => return beyond_table(c),
            },
        };
        block.glyphs[(code % BLOCK) as usize]
    }
}

/// The last planes hold the characters that vanish and private ones.
#[cold]
fn beyond_table(c: char) -> Glyph {
    let form = if glyphless(c).is_some() || meaningless(c).is_some() {
        Form::Nothing
    } else {
        Form::Same
    };
    Glyph::plain(form, Role::Break)
}

/// The text of a [`Form::Longer`] character.
pub(super) fn expansion(c: char, glyph: Glyph) -> &'static str {
    let start = (glyph.value >> 8) as usize;
    let len = (glyph.value & 0xff) as usize;
    block(u32::from(c))
        .and_then(|block| block.text.get(start..start + len))
        .unwrap_or_default()
}

#[inline]
fn block(code: u32) -> Option<&'static Block> {
    let index = code / BLOCK;
    let cell = TABLE.get(index as usize)?;
    Some(cell.get_or_init(|| Box::new(fill(index * BLOCK))))
}

#[cold]
fn fill(start: u32) -> Block {
    let mut block = Block {
        glyphs: [Glyph::plain(Form::Same, Role::Break); BLOCK as usize],
        text: String::new(),
    };
    for (offset, slot) in block.glyphs.iter_mut().enumerate() {
        let code = start + u32::try_from(offset).unwrap_or_default();
        if let Some(c) = char::from_u32(code) {
            *slot = describe(c, &mut block.text);
        }
    }
    block
}

fn describe(c: char, expansions: &mut String) -> Glyph {
    if c.is_whitespace() || matches!(c, '\u{2800}' | '\u{3164}' | '\u{ffa0}') {
        // The blank letters have a width, so a reader sees a space there.
        return Glyph::plain(Form::Blank, Role::Break);
    }
    // The Arabic stretching stroke is drawn, but only lengthens a word.
    if c.is_control() || c == '\u{640}' || is_dropped(c) {
        return Glyph::plain(Form::Nothing, Role::Break);
    }
    if let Some(form) = joining_form(c) {
        let role = if is_combining_mark(c) {
            Role::Mark
        } else {
            Role::Foreign
        };
        return Glyph::plain(form, role);
    }
    let text = folded(c);
    let (ascii, role) = role(c, &text);
    let mut only = text.chars();
    let (form, value) = match (only.next(), only.next()) {
        (Some(first), None) if first == c => (Form::Same, 0),
        (Some(first), None) => (Form::Other, u32::from(first)),
        _ => {
            let place = expansions.len() << 8 | text.len();
            expansions.push_str(&text);
            (Form::Longer, u32::try_from(place).unwrap_or_default())
        }
    };
    Glyph {
        form,
        role,
        ascii,
        value,
    }
}

/// The form of a character that cannot be folded alone, or none.
fn joining_form(c: char) -> Option<Form> {
    let class = canonical_combining_class(c);
    if class != 0 && is_nfkc_quick(std::iter::once(c)) == IsNormalized::Yes {
        return Some(Form::Trailing);
    }
    // Half-width voicing marks join the letter before once they are widened.
    let wide = std::iter::once(c).nfkc().next()?;
    let composes = is_nfkc_quick(std::iter::once(wide)) == IsNormalized::Maybe;
    (class != 0 || canonical_combining_class(wide) != 0 || composes).then_some(Form::Combining)
}

fn is_dropped(c: char) -> bool {
    glyphless(c).is_some_and(|class| class != Glyphless::Filler || c < '\u{2000}')
        || meaningless(c).is_some()
}

/// Compatibility form, lower case, and one form of each quote and dash.
fn folded(c: char) -> String {
    let single = match c {
        '‘' | '’' | '‚' | '‛' | '′' | '´' | 'ʼ' | '＇' => Some("'"),
        '“' | '”' | '„' | '‟' | '″' | '＂' => Some("\""),
        '‐'..='―' | '−' | '﹘' | '﹣' | '－' => Some("-"),
        '⁄' | '∕' => Some("/"),
        // Full case folding, so that capitals without these letters match.
        'ß' | 'ẞ' => Some("ss"),
        'ς' => Some("σ"),
        // The lower case of this one is `i` and a dot that nobody types.
        'İ' => Some("i"),
        _ => None,
    };
    if let Some(text) = single {
        return text.to_owned();
    }
    let wide: String = std::iter::once(c).nfkc().collect();
    if wide.chars().count() > LONGEST_EXPANSION || wide.starts_with(' ') {
        // Spacing accents would become a space and a mark that joins it.
        return c.to_lowercase().collect();
    }
    let lower: String = wide.to_lowercase().nfkc().collect();
    lower.replace('\u{2044}', "/").replace('ς', "σ")
}

fn role(c: char, text: &str) -> (Letters, Role) {
    let likeness = ascii_letters(c).or_else(|| {
        let mut chars = text.chars();
        let only = chars.next().filter(|_| chars.next().is_none());
        only.and_then(ascii_letters)
    });
    // A letter in brackets folds to three characters; the letter is what counts.
    let bracketed = text.starts_with('(');
    if text.bytes().any(|byte| byte.is_ascii_alphabetic()) && !bracketed {
        return ([0; 2], Role::Latin);
    }
    match likeness {
        Some((ascii, Likeness::Styled)) => (ascii, Role::Styled),
        Some((ascii, Likeness::Same)) => (ascii, Role::Alike),
        Some((ascii, Likeness::Faint)) => (ascii, Role::Native),
        None => ([0; 2], role_without_likeness(c)),
    }
}

fn role_without_likeness(c: char) -> Role {
    if is_combining_mark(c) {
        return Role::Mark;
    }
    if c.is_numeric() {
        return Role::Neutral;
    }
    if !c.is_alphabetic() {
        return Role::Break;
    }
    match c.script() {
        Script::Cyrillic
        | Script::Greek
        | Script::Armenian
        | Script::Georgian
        | Script::Coptic
        | Script::Cherokee
        | Script::Glagolitic
        | Script::Lisu => Role::Native,
        Script::Latin => Role::Neutral,
        // Scripts written without spaces stand next to Latin words, and say
        // nothing about them.
        Script::Han | Script::Hiragana | Script::Katakana | Script::Hangul | Script::Bopomofo => {
            Role::Break
        }
        _ => Role::Foreign,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(c: char) -> Option<String> {
        let glyph = glyph(c);
        match glyph.form {
            Form::Same | Form::Trailing | Form::Combining => Some(c.to_string()),
            Form::Other => Some(glyph.other().to_string()),
            Form::Longer => Some(expansion(c, glyph).to_owned()),
            Form::Blank => Some(" ".to_owned()),
            Form::Nothing => None,
        }
    }

    #[test]
    fn characters_fold_to_the_form_that_vocabularies_use() {
        for (c, text) in [
            ('Ａ', "a"),
            ('𝗜', "i"),
            ('ﬁ', "fi"),
            ('Ä', "ä"),
            ('Я', "я"),
            ('ẞ', "ss"),
            ('İ', "i"),
            ('’', "'"),
            ('—', "-"),
            ('…', "..."),
            ('：', ":"),
            ('中', "中"),
            ('\u{a0}', " "),
            ('\u{2028}', " "),
            ('\u{3164}', " "),
            ('\u{2800}', " "),
            ('\u{fdfa}', "\u{fdfa}"),
            ('¨', "¨"),
            ('⒤', "(i)"),
            ('😀', "😀"),
        ] {
            assert_eq!(shown(c).as_deref(), Some(text), "{c:?}");
        }
        for c in [
            '\u{ad}',
            '\u{200b}',
            '\u{202e}',
            '\u{fe0f}',
            '\u{e0041}',
            '\u{115f}',
            '\u{feff}',
            '\u{7}',
            '\u{9b}',
            '\u{2062}',
            '\u{e01ef}',
            '\u{640}',
            '\u{e000}',
            '\u{f8ff}',
            '\u{fffd}',
            '\u{378}',
            '\u{2fe0}',
            '\u{f1234}',
            '\u{10ffff}',
        ] {
            assert_eq!(shown(c), None, "{c:?}");
        }
    }

    #[test]
    fn characters_without_a_table_entry_are_those_that_folding_keeps() {
        for c in (0..=0x10ffff).filter_map(char::from_u32) {
            if is_ideographic(c) {
                let entry = glyph(c);
                assert_eq!((entry.form, entry.role), (Form::Same, Role::Break), "{c}");
            }
        }
    }

    #[test]
    fn no_character_expands_beyond_the_cap() {
        for c in (0..0x30000).filter_map(char::from_u32) {
            let text = shown(c).unwrap_or_default();
            assert!(text.chars().count() <= LONGEST_EXPANSION, "{c}");
            assert!(text.len() <= 6 * c.len_utf8(), "{c}");
        }
    }
}
