//! Characters written as text: HTML entities and backslash escapes.
//!
//! A model reads `&#73;gnore` and `\u0049gnore` as easily as the plain word,
//! so folding decodes both. Each form is short, which bounds the look-ahead.

use unicode_normalization::char::compose;

/// Entities whose names do not say what they are, sorted by name.
const NAMED: &[(&str, char)] = &[
    ("NewLine", '\n'),
    ("Tab", '\t'),
    ("ZeroWidthSpace", '\u{200b}'),
    ("apos", '\''),
    ("ast", '*'),
    ("bsol", '\\'),
    ("bull", '•'),
    ("colon", ':'),
    ("comma", ','),
    ("commat", '@'),
    ("copy", '©'),
    ("deg", '°'),
    ("dollar", '$'),
    ("emsp", '\u{2003}'),
    ("ensp", '\u{2002}'),
    ("equals", '='),
    ("euro", '€'),
    ("excl", '!'),
    ("grave", '`'),
    ("gt", '>'),
    ("hellip", '…'),
    ("iexcl", '¡'),
    ("iquest", '¿'),
    ("laquo", '«'),
    ("lbrace", '{'),
    ("lbrack", '['),
    ("lcub", '{'),
    ("ldquo", '“'),
    ("lowbar", '_'),
    ("lpar", '('),
    ("lrm", '\u{200e}'),
    ("lsqb", '['),
    ("lsquo", '‘'),
    ("lt", '<'),
    ("mdash", '—'),
    ("middot", '·'),
    ("nbsp", '\u{a0}'),
    ("ndash", '–'),
    ("num", '#'),
    ("percnt", '%'),
    ("period", '.'),
    ("plus", '+'),
    ("quest", '?'),
    ("quot", '"'),
    ("raquo", '»'),
    ("rbrace", '}'),
    ("rbrack", ']'),
    ("rcub", '}'),
    ("rdquo", '”'),
    ("reg", '®'),
    ("rlm", '\u{200f}'),
    ("rpar", ')'),
    ("rsqb", ']'),
    ("rsquo", '’'),
    ("semi", ';'),
    ("shy", '\u{ad}'),
    ("sol", '/'),
    ("szlig", 'ß'),
    ("thinsp", '\u{2009}'),
    ("times", '×'),
    ("trade", '™'),
    ("verbar", '|'),
    ("vert", '|'),
    ("zwj", '\u{200d}'),
    ("zwnj", '\u{200c}'),
];

/// The accented letters are named by letter and accent (`eacute`).
const ACCENTS: &[(&str, char)] = &[
    ("acute", '\u{301}'),
    ("grave", '\u{300}'),
    ("circ", '\u{302}'),
    ("uml", '\u{308}'),
    ("tilde", '\u{303}'),
    ("cedil", '\u{327}'),
    ("caron", '\u{30c}'),
    ("ring", '\u{30a}'),
];

/// The longest name in the table above, and the longest numeric form.
const LONGEST_NAME: usize = 14;
const LONGEST_NUMBER: usize = 10;
/// How often an ampersand may be escaped over again (`&amp;amp;lt;`).
const DEEPEST_AMPERSAND: usize = 4;

/// Decodes the escape at the start of `text`: the character and the bytes it
/// takes. The text starts with `&` or `\`; anything else is no escape.
pub(super) fn decode(text: &str) -> Option<(char, usize)> {
    match text.as_bytes().first()? {
        b'&' => entity(text),
        b'\\' => backslash(text),
        _ => None,
    }
}

fn entity(text: &str) -> Option<(char, usize)> {
    let mut body = text.get(1..)?;
    let mut escaped = 0;
    while escaped < DEEPEST_AMPERSAND
        && let Some(rest) = body.strip_prefix("amp;")
    {
        body = rest;
        escaped += 1;
    }
    let inner = match body.strip_prefix('#') {
        Some(number) => numeric(number).map(|(c, len)| (c, len + 1)),
        None => named(body),
    };
    let taken = text.len() - body.len();
    match inner {
        Some((c, len)) => Some((c, taken + len)),
        None if escaped > 0 => Some(('&', taken)),
        None => None,
    }
}

/// Browsers decode a number without its semicolon too.
fn numeric(body: &str) -> Option<(char, usize)> {
    let hex = body.strip_prefix(['x', 'X']);
    let radix = if hex.is_some() { 16 } else { 10 };
    let digits = hex.unwrap_or(body);
    let len = digits
        .bytes()
        .take(LONGEST_NUMBER)
        .take_while(|byte| char::from(*byte).is_digit(radix))
        .count();
    let c = char::from_u32(u32::from_str_radix(digits.get(..len)?, radix).ok()?)?;
    let semicolon = usize::from(digits.get(len..)?.starts_with(';'));
    Some((c, body.len() - digits.len() + len + semicolon))
}

fn named(body: &str) -> Option<(char, usize)> {
    let len = body
        .bytes()
        .take(LONGEST_NAME + 1)
        .position(|byte| byte == b';')?;
    let name = body.get(..len)?;
    let c = match NAMED.binary_search_by(|(known, _)| (*known).cmp(name)) {
        Ok(index) => NAMED.get(index)?.1,
        Err(_) => accented(name)?,
    };
    Some((c, len + 1))
}

fn accented(name: &str) -> Option<char> {
    let letter = name.chars().next().filter(char::is_ascii_alphabetic)?;
    let accent = name.get(1..)?;
    ACCENTS
        .iter()
        .find(|(known, _)| *known == accent)
        .and_then(|(_, mark)| compose(letter, *mark))
}

fn backslash(text: &str) -> Option<(char, usize)> {
    let body = text.get(2..)?;
    match text.as_bytes().get(1)? {
        b'u' => match body.strip_prefix('{') {
            Some(braced) => {
                let len = braced.bytes().take(7).position(|byte| byte == b'}')?;
                Some((hex(braced, len)?, len + 4))
            }
            None => utf16(body),
        },
        b'x' => Some((hex(body, 2)?, 4)),
        b'U' => Some((hex(body, 8)?, 10)),
        _ => None,
    }
}

fn hex(text: &str, len: usize) -> Option<char> {
    char::from_u32(hex_value(text, len)?)
}

/// The sign that `from_str_radix` would allow is no hexadecimal digit.
fn hex_value(text: &str, len: usize) -> Option<u32> {
    let digits = text.get(..len)?;
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    u32::from_str_radix(digits, 16).ok()
}

/// Four digits, or two surrogates of four digits each.
fn utf16(body: &str) -> Option<(char, usize)> {
    let first = hex_value(body, 4)?;
    if let Some(c) = char::from_u32(first) {
        return Some((c, 6));
    }
    let second = hex_value(body.get(4..)?.strip_prefix("\\u")?, 4)?;
    let units = [u16::try_from(first).ok()?, u16::try_from(second).ok()?];
    let c = char::decode_utf16(units).next()?.ok()?;
    Some((c, 12))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_names_is_sorted_and_within_the_look_ahead() {
        assert!(NAMED.is_sorted_by(|a, b| a.0 < b.0));
        assert!(NAMED.iter().all(|(name, _)| name.len() <= LONGEST_NAME));
    }

    #[test]
    fn entities_decode_as_a_browser_decodes_them() {
        for (text, expected) in [
            ("&#73;x", ('I', 5)),
            ("&#x49;x", ('I', 6)),
            ("&#X49 x", ('I', 5)),
            ("&#0000073;", ('I', 10)),
            ("&lt;x", ('<', 4)),
            ("&amp;lt;", ('<', 8)),
            ("&amp;amp;#73;", ('I', 13)),
            ("&amp;x", ('&', 5)),
            ("&eacute;", ('é', 8)),
            ("&Uuml;", ('Ü', 6)),
            ("&ZeroWidthSpace;", ('\u{200b}', 16)),
        ] {
            assert_eq!(decode(text), Some(expected), "{text}");
        }
        for text in ["& b", "&unknown;", "&#;", "&#xd800;", "&lt", "&;", "&"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }

    #[test]
    fn backslash_escapes_decode() {
        for (text, expected) in [
            (r"\u0049", ('I', 6)),
            (r"\u{49}", ('I', 6)),
            (r"\x49", ('I', 4)),
            (r"\U00000049", ('I', 10)),
            (r"\ud83d\ude00", ('😀', 12)),
        ] {
            assert_eq!(decode(text), Some(expected), "{text}");
        }
        for text in [
            r"\n", r"\u", r"\u12", r"\ud83d", r"\x4", r"\u+123", r"\", r"\\u",
        ] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
