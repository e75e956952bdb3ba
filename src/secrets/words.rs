//! Tells identifiers made of words from random strings.
//!
//! A token is cut into segments at separators, case changes and digits. A segment
//! of letters is a word if its letter pairs are common ones. Random text of any
//! usual alphabet has few such segments: about 5 % of its letters when it mixes
//! lower case and digits, under 2 % in base64.

/// How common each pair of letters is inside words, from 0 to 9 on a scale of
/// logarithms: row by first letter, column by second. Counted over 7,420 words of
/// English technical prose and identifiers.
const PAIRS: [&[u8; 26]; 26] = [
    b"16762352604878060879443240",
    b"61315100520600510442500020",
    b"71427207506630810547500020",
    b"62148201700401500452400010",
    b"73896652302769363997254720",
    b"52225510700400600433400020",
    b"40007024400314300540400000",
    b"60007000600121600314300010",
    b"65766560002769850578060305",
    b"10002000000000200000200000",
    b"30006000400201100041101000",
    b"71258200800702720055420070",
    b"74028000600240670041500000",
    b"71777582604314620278440020",
    b"34661340404679560866656200",
    b"70127004500600650746400030",
    b"00000000000000000000500000",
    b"82559340804354730576531050",
    b"50528216703432560268602040",
    b"80439307900532730875502050",
    b"45524330400657250766000000",
    b"50007000500000300000000000",
    b"50014003500103300430000000",
    b"20304000300000040004000000",
    b"20002000200223240043000000",
    b"20005000200000100000000000",
];

/// The mean of [`PAIRS`] from which letters count as a word, times two. At 4.5, 95 % of
/// words pass, and 13 % of random four-letter strings, 8 % of six, 4 % of ten.
const WORDLIKE_TWICE: usize = 9;

/// Lengths of hexadecimal pieces that are ids and digests rather than keys: span
/// and object ids, MD5, SHA-1, SHA-224, SHA-256, SHA-384 and SHA-512.
const HEX_IDS: [usize; 8] = [16, 24, 32, 40, 56, 64, 96, 128];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Separator,
    /// Letters that read like a word, or a short piece between such.
    Word,
    /// An id, digest, number or time: random or not, no key.
    Inert,
    Random,
}

/// A stretch of a token and what it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) class: Class,
}

impl Segment {
    fn len(self) -> usize {
        self.end - self.start
    }
}

/// Whether letters read like a word of a natural language.
pub(super) fn is_wordlike(letters: &[u8]) -> bool {
    let vowel = |byte: &u8| {
        matches!(
            byte.to_ascii_lowercase(),
            b'a' | b'e' | b'i' | b'o' | b'u' | b'y'
        )
    };
    if letters.len() < 2 || !letters.iter().any(vowel) {
        return false;
    }
    let pairs = letters.len() - 1;
    let sum: usize = letters.windows(2).map(|pair| score(pair[0], pair[1])).sum();
    sum * 2 >= WORDLIKE_TWICE * pairs
}

fn score(first: u8, second: u8) -> usize {
    let column = |byte: u8| usize::from(byte.to_ascii_lowercase().wrapping_sub(b'a'));
    let row = PAIRS.get(column(first));
    let digit = row.and_then(|row| row.get(column(second)));
    digit.map_or(0, |digit| usize::from(digit - b'0'))
}

/// The share of letters and digits that belong to words and ids, and the longest
/// stretch in bytes that belongs to neither, separators inside it included.
pub(super) fn composition(segments: &[Segment]) -> (f64, usize) {
    let (mut known, mut total, mut longest) = (0_usize, 0_usize, 0_usize);
    let mut stretch: Option<usize> = None;
    for segment in segments {
        match segment.class {
            Class::Separator => continue,
            Class::Random => {
                let start = *stretch.get_or_insert(segment.start);
                longest = longest.max(segment.end - start);
            }
            Class::Word | Class::Inert => {
                known += segment.len();
                stretch = None;
            }
        }
        total += segment.len();
    }
    #[expect(clippy::cast_precision_loss, reason = "a ratio of two lengths")]
    let share = if total == 0 {
        1.0
    } else {
        known as f64 / total as f64
    };
    (share, longest)
}

/// Whether a token is an identifier: mostly words, and no random stretch in it
/// that is as long as a key.
pub(super) fn is_identifier(token: &str, key_length: usize) -> bool {
    let (known, longest) = composition(&segments(token));
    known >= 0.5 && longest < key_length || has_simple_pieces(token)
}

/// Whether a token is several short pieces of letters with a number before or
/// after them, at most a third of them otherwise: `armv7-wrs-vxworks-eabihf`.
fn has_simple_pieces(token: &str) -> bool {
    let pieces = || {
        token
            .split(['-', '_', '/', '+'])
            .filter(|piece| !piece.is_empty())
    };
    let count = pieces().count();
    let odd = pieces()
        .filter(|piece| !is_simple(piece.as_bytes()))
        .count();
    count >= 3 && odd * 3 <= count && pieces().all(|piece| piece.len() <= 16)
}

/// Letters of one case, maybe a capital before them, with digits at one end at most.
fn is_simple(piece: &[u8]) -> bool {
    let kind = |byte: &u8| (byte.is_ascii_digit(), byte.is_ascii_uppercase());
    let changes = piece.windows(2).enumerate().filter(|(i, pair)| {
        let capital = *i == 0 && pair[0].is_ascii_uppercase() && pair[1].is_ascii_lowercase();
        kind(&pair[0]) != kind(&pair[1]) && !capital
    });
    changes.count() <= 1
}

/// Cuts a token of ASCII letters, digits and separators into classified segments.
pub(super) fn segments(token: &str) -> Vec<Segment> {
    let bytes = token.as_bytes();
    let mut found = Vec::new();
    if is_uuid_tail(token) {
        found.push(Segment {
            start: 0,
            end: bytes.len(),
            class: Class::Inert,
        });
        return found;
    }
    let mut at = 0;
    while at < bytes.len() {
        if let Some(end) = uuid_at(bytes, at) {
            found.push(Segment {
                start: at,
                end,
                class: Class::Inert,
            });
            at = end;
        } else if bytes[at].is_ascii_alphanumeric() {
            let end = at
                + bytes[at..]
                    .iter()
                    .take_while(|b| b.is_ascii_alphanumeric())
                    .count();
            piece(bytes, at, end, &mut found);
            at = end;
        } else {
            found.push(Segment {
                start: at,
                end: at + 1,
                class: Class::Separator,
            });
            at += 1;
        }
    }
    settle_short_segments(&mut found);
    found
}

/// Classifies what stands between two separators.
fn piece(bytes: &[u8], start: usize, end: usize, found: &mut Vec<Segment>) {
    let all = &bytes[start..end];
    let letters = all.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let whole = bytes.len() == all.len();
    let time_or_number = letters <= 2 && all.len() >= 6 || letters == 0;
    let short = all.len() <= 3 && !whole;
    if time_or_number || short || is_hex_id(all) {
        found.push(Segment {
            start,
            end,
            class: Class::Inert,
        });
        return;
    }
    let mut at = start;
    while at < end {
        let stop = segment_end(bytes, at, end);
        let part = &bytes[at..stop];
        let class = match part.first() {
            // Random text has no eight digits in a row.
            Some(b'0'..=b'9') if part.len() >= 8 => Class::Inert,
            Some(b'A'..=b'Z' | b'a'..=b'z') if part.len() >= 4 && is_wordlike(part) => Class::Word,
            _ => Class::Random,
        };
        found.push(Segment {
            start: at,
            end: stop,
            class,
        });
        at = stop;
    }
}

fn is_hex_id(piece: &[u8]) -> bool {
    let digits = piece.strip_prefix(b"0x").unwrap_or(piece);
    HEX_IDS.contains(&digits.len())
        && digits.iter().all(u8::is_ascii_hexdigit)
        && (!digits.iter().any(u8::is_ascii_lowercase)
            || !digits.iter().any(u8::is_ascii_uppercase))
}

/// The end of the digits, or of the letters of one case with one capital before them.
fn segment_end(bytes: &[u8], start: usize, end: usize) -> usize {
    let run = |from: usize, is: fn(&u8) -> bool| {
        from + bytes[from..end].iter().take_while(|b| is(b)).count()
    };
    if bytes[start].is_ascii_digit() {
        return run(start, u8::is_ascii_digit);
    }
    if bytes[start].is_ascii_lowercase() {
        return run(start, u8::is_ascii_lowercase);
    }
    let capitals = run(start, u8::is_ascii_uppercase);
    if capitals == end || !bytes[capitals].is_ascii_lowercase() {
        return capitals;
    }
    match capitals - start {
        1 => run(capitals, u8::is_ascii_lowercase),
        // The last capital of `HTTPServer` begins the next word.
        _ => capitals - 1,
    }
}

/// Counts the `2` and `to` of `pathToV2File` as words, because their neighbours are.
fn settle_short_segments(segments: &mut [Segment]) {
    let known = |segment: &Segment| matches!(segment.class, Class::Word | Class::Inert);
    // What the neighbour before was before it was settled itself.
    let mut previous: Option<bool> = None;
    for i in 0..segments.len() {
        let segment = segments[i];
        if segment.class == Class::Separator {
            continue;
        }
        if segment.class == Class::Random && segment.len() <= 3 {
            let next = segments[i + 1..]
                .iter()
                .find(|next| next.class != Class::Separator)
                .map(known);
            let fits = match (previous, next) {
                (None, None) => false,
                (Some(one), None) | (None, Some(one)) => one,
                (Some(one), Some(other)) => one && other,
            };
            if fits {
                segments[i].class = Class::Word;
            }
        }
        previous = Some(known(&segment));
    }
}

/// The end of a UUID (8-4-4-4-12) that starts at `at` between two separators.
fn uuid_at(bytes: &[u8], at: usize) -> Option<usize> {
    let end = at + 36;
    let uuid = bytes.get(at..end)?;
    let dashes = [8, 13, 18, 23];
    let fits = uuid.iter().enumerate().all(|(i, byte)| {
        if dashes.contains(&i) {
            matches!(byte, b'-' | b'_')
        } else {
            byte.is_ascii_hexdigit()
        }
    });
    let free = at
        .checked_sub(1)
        .is_none_or(|i| !bytes[i].is_ascii_alphanumeric())
        && bytes
            .get(end)
            .is_none_or(|byte| !byte.is_ascii_alphanumeric());
    (fits && free).then_some(end)
}

/// Groups of two, four, eight and twelve hexadecimal digits: what is left of a cut
/// UUID, hardware addresses, numbers in code.
fn is_uuid_tail(token: &str) -> bool {
    let groups = || token.strip_prefix("0x").unwrap_or(token).split(['-', '_']);
    groups().count() >= 3
        && groups().all(|group| {
            matches!(group.len(), 2 | 4 | 8 | 12)
                && group.bytes().all(|byte| byte.is_ascii_hexdigit())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_read_like_words_and_random_letters_do_not() {
        for word in [
            "paragraph",
            "Block",
            "REQUEST",
            "anzeigen",
            "utilisateur",
            "config",
        ] {
            assert!(is_wordlike(word.as_bytes()), "{word}");
        }
        for random in ["xqvk", "TBZJ", "wqxr", "pkzvd", "zzxq"] {
            assert!(!is_wordlike(random.as_bytes()), "{random}");
        }
    }

    #[test]
    fn identifiers_are_told_from_keys() {
        for name in [
            "paragraphBlockRequest",
            "getRepositoryPullRequestReviewComments",
            "HTTPServerConnectionTimeoutError",
            "gpt-4o-mini-2024-07-18",
            "claude-3-5-sonnet-20241022",
            "nginx-deployment-66b6c48dd5-7xk2p",
            "some_module_name_with_many_parts_v2",
            "node_modules/typescript/lib/tsserver",
            "armv7-wrs-vxworks-eabihf",
            "LBMD_PI_CSUM_CRC16_T10DIF",
            "mm512_permutex2var_epi64",
            "cjkcodecs/alg_jisx0201",
            "9223372036854775807seconds",
            "PT2562047788015215H30M7S",
            "0x8bb8_4b93_962e_acc9",
        ] {
            assert!(is_identifier(name, 20), "{name}");
        }
        for key in [
            "q8N2vR5xL1mZ7pK4tW9yB3cF6hJ0dG2sA5eU8iO1",
            "x7f9k2m4p8q1w3e5r6t7y9u2i4o6p8a1",
            "XKJ4P-9QWZT-M2VNR-7HCBL-D8FGY",
            "prod-service-q8N2vR5xL1mZ7pK4tW9yB3cF6hJ0",
        ] {
            assert!(!is_identifier(key, 20), "{key}");
        }
    }
}
