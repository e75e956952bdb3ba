//! One spelling of what other scripts spell in several ways: vowel points that are
//! mostly left out, letters that differ by a sign or by the keyboard. Vocabularies are
//! in this spelling.

use crate::lint::rewritten::Rewritten;

/// The text in that spelling, if it differs.
pub(super) fn evened(folded: &str) -> Option<Rewritten> {
    if folded.is_ascii() {
        return None;
    }
    let mut parts = folded
        .char_indices()
        .filter_map(|(at, c)| Some((at..at + c.len_utf8(), even(c)?.to_owned())))
        .peekable();
    parts.peek()?;
    Some(Rewritten::new(folded, parts))
}

/// What stands for the character, if another one or none does.
fn even(c: char) -> Option<&'static str> {
    Some(match c {
        // Hebrew and Arabic points, the superscript alef, and the dot below of Devanagari.
        '\u{591}'..='\u{5bd}'
        | '\u{5bf}'
        | '\u{5c1}'..='\u{5c2}'
        | '\u{5c4}'..='\u{5c5}'
        | '\u{5c7}'
        | '\u{610}'..='\u{61a}'
        | '\u{64b}'..='\u{65f}'
        | '\u{670}'
        | '\u{6d6}'..='\u{6dc}'
        | '\u{6df}'..='\u{6e4}'
        | '\u{6e7}'..='\u{6e8}'
        | '\u{6ea}'..='\u{6ed}'
        | '\u{93c}' => "",
        'ё' => "е",
        'أ' | 'إ' | 'آ' | 'ٱ' => "ا",
        'ى' | 'ی' | 'ئ' => "ي",
        'ک' => "ك",
        'ة' | 'ۀ' => "ه",
        'ؤ' => "و",
        'ँ' => "ं",
        _ => return None,
    })
}
