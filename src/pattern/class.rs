//! Writes characters and character classes for the Rust engines.
//!
//! A class is written with its case rule worked out, because the engines would fold the categories
//! of a class as well, which Python does not.

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use super::syntax::{Category, CategoryKind, Class, Fold};
use super::translate::Charset;

/// Python's word characters as items of a class: `str.isalnum()` and the underscore.
pub(super) const WORD: &str = r"\p{L}\p{N}_";

/// Matches nothing, in either engine.
pub(super) const NEVER: &str = r"[^\x{0}-\x{10FFFF}]";

/// Python takes these for one letter when case is ignored; simple case folding takes only the
/// first two.
pub(super) const DOTTED_AND_DOTLESS_I: [char; 4] = ['I', 'i', '\u{130}', '\u{131}'];

pub(super) fn class_spelling(class: &Class, charset: Charset) -> String {
    let mut items = String::new();
    for (low, high) in folded_ranges(class, charset) {
        push_escaped(&mut items, low);
        if low != high {
            items.push('-');
            push_escaped(&mut items, high);
        }
    }
    let categories = class.categories.iter();
    categories.for_each(|category| items.push_str(&category_items(*category, charset)));
    match (items.is_empty(), class.negated) {
        (true, false) => NEVER.to_owned(),
        (true, true) => "(?s:.)".to_owned(),
        (false, false) => format!("[{items}]"),
        (false, true) => format!("[^{items}]"),
    }
}

/// The ranges of a class as characters, without surrogates, closed under its case rule.
fn folded_ranges(class: &Class, charset: Charset) -> Vec<(char, char)> {
    let mut set = ClassUnicode::empty();
    for (low, high) in &class.ranges {
        // A surrogate is in no text, so the ranges on either side of them are what counts.
        let parts = [(*low, (*high).min(0xd7ff)), ((*low).max(0xe000), *high)];
        for (low, high) in parts.into_iter().filter(|(low, high)| low <= high) {
            if let (Some(low), Some(high)) = (char::from_u32(low), char::from_u32(high)) {
                set.push(ClassUnicodeRange::new(low, high));
            }
        }
    }
    match class.fold {
        Fold::Exact => {}
        Fold::Unicode => {
            set.case_fold_simple();
            let contains = |c: &char| set.iter().any(|r| (r.start()..=r.end()).contains(c));
            if DOTTED_AND_DOTLESS_I.iter().any(contains) {
                let all = DOTTED_AND_DOTLESS_I.map(|c| ClassUnicodeRange::new(c, c));
                set.union(&ClassUnicode::new(all));
            }
        }
        Fold::Ascii => fold_ascii(&mut set),
    }
    if charset == Charset::Ascii {
        set.intersect(&ClassUnicode::new([ClassUnicodeRange::new('\0', '\x7f')]));
    }
    let ranges = set.iter();
    ranges.map(|range| (range.start(), range.end())).collect()
}

fn fold_ascii(set: &mut ClassUnicode) {
    let other_case: Vec<ClassUnicodeRange> = ('a'..='z')
        .chain('A'..='Z')
        .filter(|c| set.iter().any(|r| (r.start()..=r.end()).contains(c)))
        .map(|c| {
            if c.is_ascii_lowercase() {
                c.to_ascii_uppercase()
            } else {
                c.to_ascii_lowercase()
            }
        })
        .map(|c| ClassUnicodeRange::new(c, c))
        .collect();
    set.union(&ClassUnicode::new(other_case));
}

fn category_items(category: Category, charset: Charset) -> String {
    let ascii = category.ascii || charset == Charset::Ascii;
    let items = match (category.kind, ascii) {
        (CategoryKind::Digit, false) => r"\p{Nd}",
        (CategoryKind::Digit, true) => "0-9",
        (CategoryKind::Space, false) => r"\p{White_Space}\x{1C}-\x{1F}",
        (CategoryKind::Space, true) if category.ascii => r"\x{9}-\x{D}\x{20}",
        // `str.isspace()` counts the four information separators.
        (CategoryKind::Space, true) => r"\x{9}-\x{D}\x{1C}-\x{20}",
        (CategoryKind::Word, false) => WORD,
        (CategoryKind::Word, true) => "0-9A-Za-z_",
    };
    match category.negated {
        true => format!("[^{items}]"),
        false => items.to_owned(),
    }
}

pub(super) fn push_escaped(out: &mut String, c: char) {
    if c.is_ascii_alphanumeric() {
        out.push(c);
    } else {
        out.push_str(&format!("\\x{{{:X}}}", u32::from(c)));
    }
}
