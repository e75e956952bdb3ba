//! Which ASCII letters a character looks like, and how sure that is.
//!
//! The base is the confusables data of UTS 39. It is made for comparing whole
//! identifiers, so three things are set right here for reading prose: case
//! (`І` is drawn like `l` but read as `I`), prototypes of several letters
//! (`rn` stands for `m`) and letter styles that the data leaves alone, small
//! capitals and boxed letters above all.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_script::{Script, UnicodeScript};

use super::drawn::DRAWN;

/// How a character relates to the ASCII letters it looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Likeness {
    /// A Latin letter in another dress: accents, small capitals, boxes.
    Styled,
    /// A letter of another script that is drawn the same.
    Same,
    /// A letter of another script that is only reminiscent.
    Faint,
}

/// One or two lower-case ASCII letters; the second byte is zero for one.
pub(super) type Letters = [u8; 2];

/// Letters whose look the data does not record, or records for the wrong case.
const STYLED: &[(char, u8)] = &[
    ('Ə', b'e'),
    ('ǝ', b'e'),
    ('ə', b'e'),
    ('ɢ', b'g'),
    ('ɪ', b'i'),
    ('ɴ', b'n'),
    ('ʀ', b'r'),
    ('ʏ', b'y'),
    ('ʙ', b'b'),
    ('ʜ', b'h'),
    ('ʟ', b'l'),
    ('ᴀ', b'a'),
    ('ᴄ', b'c'),
    ('ᴅ', b'd'),
    ('ᴇ', b'e'),
    ('ᴊ', b'j'),
    ('ᴋ', b'k'),
    ('ᴍ', b'm'),
    ('ᴎ', b'n'),
    ('ᴏ', b'o'),
    ('ᴘ', b'p'),
    ('ᴙ', b'r'),
    ('ᴛ', b't'),
    ('ᴜ', b'u'),
    ('ᴠ', b'v'),
    ('ᴡ', b'w'),
    ('ᴢ', b'z'),
    ('℮', b'e'),
    ('ꓲ', b'i'),
    ('ꜰ', b'f'),
    ('ꜱ', b's'),
    ('ꞯ', b'q'),
];

/// Alphabets in rows: the first code point is `a` and 25 more follow.
const ROWS: &[u32] = &[0x249c, 0x1f110, 0x1f150, 0x1f170, 0x1f1e6];

/// Cyrillic and Greek letters that a reader takes for Latin ones only inside
/// an otherwise Latin word.
const FAINT: &[(char, u8)] = &[
    ('β', b'b'),
    ('ε', b'e'),
    ('ζ', b'z'),
    ('κ', b'k'),
    ('μ', b'u'),
    ('π', b'n'),
    ('ς', b's'),
    ('τ', b't'),
    ('χ', b'x'),
    ('ω', b'w'),
    ('в', b'b'),
    ('и', b'u'),
    ('й', b'u'),
    ('к', b'k'),
    ('л', b'n'),
    ('м', b'm'),
    ('н', b'h'),
    ('п', b'n'),
    ('т', b't'),
    ('ц', b'u'),
    ('щ', b'w'),
    ('э', b'e'),
    ('я', b'r'),
    ('є', b'e'),
];

/// What [`native_letter`] answers with, letter for letter.
const CYRILLIC: &str = "\u{430}\u{430}\u{432}\u{441}\u{441}\u{435}\u{435}\u{43d}\u{456}\u{456}\
    \u{458}\u{458}\u{43a}\u{43a}\u{43c}\u{43e}\u{43e}\u{440}\u{440}\u{455}\u{455}\u{442}\
    \u{445}\u{445}\u{443}\u{443}";
const GREEK: &str = "\u{3b1}\u{3b1}\u{3b2}\u{3b5}\u{3b7}\u{3b9}\u{3b9}\u{3ba}\u{3bc}\u{3bd}\u{3b7}\
    \u{3bf}\u{3bf}\u{3c1}\u{3c1}\u{3c4}\u{3c5}\u{3bd}\u{3c7}\u{3c5}\u{3b6}";

/// Which ASCII letters `c` looks like. ASCII itself has no entry.
pub(super) fn ascii_letters(c: char) -> Option<(Letters, Likeness)> {
    if c.is_ascii() {
        return None;
    }
    if let Some(letter) = styled(c) {
        return Some(([letter, 0], Likeness::Styled));
    }
    let latin = c.script() == Script::Latin;
    if latin && let Some(letter) = base_letter(c) {
        return Some(([letter, 0], Likeness::Styled));
    }
    match prototype(c) {
        Some(letters) if latin => Some((letters, Likeness::Styled)),
        Some(letters @ [_, 0]) => Some((letters, Likeness::Same)),
        _ => {
            let lower = c.to_lowercase().next()?;
            let letter = lookup(FAINT, lower)?;
            Some(([letter, 0], Likeness::Faint))
        }
    }
}

/// The ASCII text that `c` passes for, in the case in which it is drawn, or
/// none where there is no real likeness.
pub(crate) fn imitated(c: char) -> Option<String> {
    if c.is_ascii() {
        return None;
    }
    let wide: String = std::iter::once(c).nfkc().collect();
    if wide.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Some(wide);
    }
    let (letters, likeness) = ascii_letters(c)?;
    if likeness == Likeness::Faint && !is_small_capital(c) {
        return None;
    }
    let drawn = letters.iter().filter(|byte| **byte != 0).map(|byte| {
        if c.is_uppercase() {
            char::from(byte.to_ascii_uppercase())
        } else {
            char::from(*byte)
        }
    });
    Some(drawn.collect())
}

/// Whether the data has `c` drawn like a small capital, as Greek tau is.
fn is_small_capital(c: char) -> bool {
    drawn(c).is_some_and(|[first, _]| first.is_ascii_uppercase())
}

/// The Cyrillic or Greek letter that an ASCII letter stands in for, where
/// someone spells a Russian or Greek word with Latin look-alikes.
pub(super) fn native_letter(script: Script, ascii: char) -> Option<char> {
    let (latin, native) = match script {
        Script::Cyrillic => ("AaBCcEeHIiJjKkMOoPpSsTXxYy", CYRILLIC),
        Script::Greek => ("AaBEHIiKMNnOoPpTuvXYZ", GREEK),
        _ => return None,
    };
    native.chars().nth(latin.find(ascii)?)
}

fn styled(c: char) -> Option<u8> {
    let code = u32::from(c);
    for start in ROWS {
        if let Some(offset) = code.checked_sub(*start).filter(|offset| *offset < 26) {
            return Some(b'a' + u8::try_from(offset).ok()?);
        }
    }
    lookup(STYLED, c)
}

/// The letter under the accents, which the data would fold by its capital.
fn base_letter(c: char) -> Option<u8> {
    let mut parts = std::iter::once(c).nfkd();
    let base = parts.next()?;
    let rest_is_marks = parts.all(is_combining_mark);
    ascii_lower(base).filter(|_| rest_is_marks)
}

fn prototype(c: char) -> Option<Letters> {
    // Two ideographs are drawn like letters, but nobody reads them so.
    if !c.is_alphabetic() || c.script() == Script::Han {
        return None;
    }
    match drawn_like(c)? {
        [b'l', 0] if c.is_uppercase() => {
            Some(drawn_like(c.to_lowercase().next()?).unwrap_or([b'i', 0]))
        }
        letters => Some(letters),
    }
}

/// The prototype of UTS 39 without its marks, if it is one or two letters.
fn drawn_like(c: char) -> Option<Letters> {
    match drawn(c)? {
        [first, _] if first.is_ascii_uppercase() => None,
        [b'r', b'n'] => Some([b'm', 0]),
        letters => Some(letters),
    }
}

fn drawn(c: char) -> Option<Letters> {
    let entry = DRAWN.binary_search_by_key(&u32::from(c), |(code, _)| *code);
    DRAWN.get(entry.ok()?).map(|(_, letters)| *letters)
}

fn ascii_lower(c: char) -> Option<u8> {
    u8::try_from(c)
        .ok()
        .filter(u8::is_ascii_alphabetic)
        .map(|byte| byte.to_ascii_lowercase())
}

fn lookup(table: &[(char, u8)], c: char) -> Option<u8> {
    let index = table.binary_search_by_key(&c, |(known, _)| *known).ok()?;
    table.get(index).map(|(_, letter)| *letter)
}

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_security::confusable_detection::skeleton;

    fn seen_as(c: char) -> Option<(String, Likeness)> {
        ascii_letters(c).map(|(letters, likeness)| {
            let text = letters.iter().filter(|byte| **byte != 0);
            (text.map(|byte| char::from(*byte)).collect(), likeness)
        })
    }

    /// What [`DRAWN`] says of a character, worked out from the data itself.
    fn drawn_by_the_data(c: char) -> Option<Letters> {
        let drawn: Vec<char> = skeleton(c.encode_utf8(&mut [0; 4])).collect();
        if let [only] = drawn[..]
            && let Some(letter) = lookup(STYLED, only)
        {
            // Two are drawn the wrong way round, which is no likeness.
            let wrong = matches!(only, 'ᴎ' | 'ᴙ');
            return (!wrong).then_some([letter.to_ascii_uppercase(), 0]);
        }
        let mut letters = drawn.into_iter().filter(|part| !is_combining_mark(*part));
        let first = ascii_lower(letters.next()?)?;
        let second = letters.next().map_or(Some(0), ascii_lower)?;
        letters.next().is_none().then_some([first, second])
    }

    fn written(entries: &[(u32, Letters)]) -> String {
        let mut file = "//! What characters are drawn like in the confusables data of UTS 39, marks aside: one or\n\
            //! two ASCII letters in lower case, or a small capital, which stands in upper case.\n\
            //!\n\
            //! Written by a test of `confusable` when `UPDATE_FIXTURES=1` is set. The data itself is\n\
            //! full of pointers, which every start of the program would have to set right.\n\n\
            #[rustfmt::skip]\n\
            pub(super) const DRAWN: &[(u32, [u8; 2])] = &["
            .to_owned();
        for (index, (code, letters)) in entries.iter().enumerate() {
            let gap = if index % 6 == 0 { "\n    " } else { " " };
            let letters: String = letters.iter().map(|byte| char::from(*byte)).collect();
            let letters = letters.replace('\0', "\\0");
            file.push_str(&format!("{gap}({code:#x}, *b\"{letters}\"),"));
        }
        file + "\n];\n"
    }

    #[test]
    fn the_generated_table_is_what_the_data_says() {
        let characters =
            ('\0'..=char::MAX).filter_map(|c| Some((u32::from(c), drawn_by_the_data(c)?)));
        let expected: Vec<(u32, Letters)> = characters.collect();
        if std::env::var_os("UPDATE_FIXTURES").is_some_and(|value| value == "1") {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/lint/fold/drawn.rs");
            std::fs::write(path, written(&expected)).expect("the sources can be written");
        }
        assert!(DRAWN == expected, "set UPDATE_FIXTURES=1 to write it");
    }

    #[test]
    fn the_tables_are_sorted() {
        assert!(STYLED.is_sorted_by_key(|(c, _)| *c));
        assert!(FAINT.is_sorted_by_key(|(c, _)| *c));
    }

    #[test]
    fn letters_fold_to_what_a_reader_takes_them_for() {
        use Likeness::{Faint, Same, Styled};
        for (c, letters, likeness) in [
            ('à', "a", Styled),
            ('Ì', "i", Styled),
            ('ł', "l", Styled),
            ('æ', "ae", Styled),
            ('ı', "i", Styled),
            ('ɪ', "i", Styled),
            ('🅰', "a", Styled),
            ('🄐', "a", Styled),
            ('🇿', "z", Styled),
            ('ѕ', "s", Same),
            ('І', "i", Same),
            ('Ν', "n", Same),
            ('ν', "v", Same),
            ('Ι', "i", Same),
            ('օ', "o", Same),
            ('Ꭺ', "a", Same),
            ('ꓳ', "o", Same),
            ('и', "u", Faint),
            ('П', "n", Faint),
            ('τ', "t", Faint),
        ] {
            assert_eq!(seen_as(c), Some((letters.to_owned(), likeness)), "{c}");
        }
        for c in [
            'ж', 'λ', '中', 'か', '한', '│', '∞', '×', '3', 'З', 'a', '¡',
        ] {
            assert_eq!(seen_as(c), None, "{c}");
        }
    }

    #[test]
    fn every_stand_in_looks_like_the_letter_it_replaces() {
        for script in [Script::Cyrillic, Script::Greek] {
            for ascii in ('A'..='Z').chain('a'..='z') {
                if let Some(native) = native_letter(script, ascii) {
                    let cases = [native, native.to_uppercase().next().expect("a capital")];
                    let drawn = cases.map(|c| imitated(c).unwrap_or_default());
                    assert!(
                        drawn.contains(&ascii.to_string()) || ascii == 'k',
                        "{ascii} {native} {drawn:?}"
                    );
                    assert_eq!(native.script(), script, "{ascii} {native}");
                }
            }
        }
    }
}
