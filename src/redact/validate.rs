//! What a regular expression cannot say: check sums, ranges that belong to nobody,
//! and what around a match makes it something else.

use crate::secrets::placeholder::ends_in_marker;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::ops::Range;

/// A second look at a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Validator {
    None,
    /// The check digit of payment cards.
    Luhn,
    /// The check digits of IBANs.
    Mod97,
    /// Luhn, and the prefix and length of a card network.
    RealCard,
    /// The check digits, and the length that the country gives its IBANs.
    RealIban,
    /// No password and host of a URL.
    RealEmail,
    RealPhone,
    RealIpv4,
    RealIpv6,
}

impl Validator {
    /// The words of packs; the second list is for bundled packs alone.
    pub(super) const WORDS: [(&'static str, Validator); 3] = [
        ("none", Validator::None),
        ("luhn", Validator::Luhn),
        ("mod97", Validator::Mod97),
    ];
    pub(super) const BUNDLED_WORDS: [(&'static str, Validator); 9] = [
        ("none", Validator::None),
        ("luhn", Validator::Luhn),
        ("mod97", Validator::Mod97),
        ("real-card", Validator::RealCard),
        ("real-iban", Validator::RealIban),
        ("real-email", Validator::RealEmail),
        ("real-phone", Validator::RealPhone),
        ("real-ipv4", Validator::RealIpv4),
        ("real-ipv6", Validator::RealIpv6),
    ];

    /// Whether the match at `range` of `text` stands under a member called `name`.
    pub(super) fn accepts(self, text: &str, range: Range<usize>, name: &str) -> bool {
        let Some(found) = text.get(range.clone()) else {
            return false;
        };
        match self {
            Validator::None => true,
            Validator::Luhn => luhn(found),
            Validator::Mod97 => mod97(found),
            Validator::RealCard => {
                let card = luhn(found) && is_card_number(found) && is_grouped(found);
                card && !(found.bytes().all(|byte| byte.is_ascii_digit()) && is_order(name))
            }
            Validator::RealIban => mod97(found) && has_length_of_country(found),
            Validator::RealEmail => {
                !is_nobody(found) && !follows_user(text.get(..range.start).unwrap_or_default())
            }
            Validator::RealPhone => is_phone(found),
            Validator::RealIpv4 => is_address(text, range, name),
            Validator::RealIpv6 => is_public_ipv6(found),
        }
    }
}

fn digits(text: &str) -> impl DoubleEndedIterator<Item = u32> + '_ {
    text.bytes()
        .filter(u8::is_ascii_digit)
        .map(|byte| u32::from(byte - b'0'))
}

fn luhn(text: &str) -> bool {
    let sum: u32 = digits(text)
        .rev()
        .enumerate()
        .map(|(at, digit)| match (at % 2, digit * 2) {
            (0, _) => digit,
            (_, double) if double > 9 => double - 9,
            (_, double) => double,
        })
        .sum();
    sum.is_multiple_of(10)
}

/// ISO 7064, MOD 97-10, as ISO 13616 uses it: the first four characters go last.
fn mod97(text: &str) -> bool {
    let plain: Vec<u8> = text
        .bytes()
        .filter(|byte| !matches!(byte, b' ' | b'-'))
        .collect();
    let (Some(head), Some(tail)) = (plain.get(..4), plain.get(4..)) else {
        return false;
    };
    let mut rest: u32 = 0;
    for byte in tail.iter().chain(head) {
        let Some(value) = char::from(*byte).to_digit(36) else {
            return false;
        };
        let shift = if value > 9 { 100 } else { 10 };
        rest = (rest * shift + value) % 97;
    }
    rest == 1
}

/// Countries and the lengths of their IBANs, from the registry of ISO 13616.
const IBAN_LENGTHS: &str = "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 \
    CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 \
    HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 \
    MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 \
    SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30";

fn has_length_of_country(text: &str) -> bool {
    let length = text.bytes().filter(u8::is_ascii_alphanumeric).count();
    let mut countries = IBAN_LENGTHS.split_whitespace();
    countries.any(|entry| {
        let (country, known) = entry.split_at(2);
        text.starts_with(country) && known.parse() == Ok(length)
    })
}

/// The end of what stands before a match: enough to see what it belongs to, and not so
/// much that many matches cost the square of a text.
fn tail(before: &str) -> &str {
    let mut start = before.len().saturating_sub(256);
    while !before.is_char_boundary(start) {
        start += 1;
    }
    before.get(start..).unwrap_or_default()
}

/// Whether a text ends in `scheme://user:`, so that a password and a host come next.
fn follows_user(before: &str) -> bool {
    let Some(rest) = tail(before).strip_suffix(':') else {
        return false;
    };
    let stops = |c: char| c.is_whitespace() || matches!(c, '/' | '"' | '\'' | '<' | '>');
    rest.rfind(stops)
        .and_then(|at| rest.get(..=at))
        .is_some_and(|start| start.ends_with("://"))
}

/// Whether an address is nobody's: a name for a sample or for no reader, at a domain that
/// is reserved for examples (RFC 2606). Other names at these domains are looked for: they
/// stand in for people where a recording was made with samples.
fn is_nobody(address: &str) -> bool {
    const RESERVED: [&str; 6] = [
        "example.com",
        "example.org",
        "example.net",
        "example",
        "test",
        "invalid",
    ];
    const NAMES: [&str; 9] = [
        "noreply",
        "donotreply",
        "you",
        "yourname",
        "youremail",
        "yourmail",
        "example",
        "someone",
        "somebody",
    ];
    let Some((name, domain)) = address.rsplit_once('@') else {
        return false;
    };
    let (name, domain) = (name.to_ascii_lowercase(), domain.to_ascii_lowercase());
    let plain: String = name.chars().filter(|c| !"._-".contains(*c)).collect();
    let within = |reserved: &str| {
        let above = domain.strip_suffix(reserved);
        above.is_some_and(|above| above.is_empty() || above.ends_with('.'))
    };
    NAMES.contains(&plain.as_str()) && RESERVED.iter().any(|reserved| within(reserved))
}

/// Whether a member's name says that its digits number something that is bought or sent.
/// One in ten of such numbers has the check digit of a card.
fn is_order(name: &str) -> bool {
    #[rustfmt::skip]
    const THINGS: [&str; 16] = [
        "order", "orders", "invoice", "shipment", "tracking", "parcel", "ticket", "booking",
        "reservation", "receipt", "isbn", "ean", "gtin", "upc", "imei", "barcode",
    ];
    #[rustfmt::skip]
    const CARDS: [&str; 9] = [
        "card", "cards", "cc", "pan", "payment", "credit", "debit", "account", "pay",
    ];
    let words = crate::secrets::words(name);
    let any = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    any(&THINGS) && !any(&CARDS)
}

/// The prefixes and lengths that card networks give out (ISO/IEC 7812).
fn is_card_number(text: &str) -> bool {
    let all: Vec<u32> = digits(text).collect();
    let prefix = |length: usize| {
        all.iter()
            .take(length)
            .fold(0, |sum, digit| sum * 10 + digit)
    };
    let (two, three, four) = (prefix(2), prefix(3), prefix(4));
    match all.len() {
        13 | 19 if two / 10 == 4 => true,
        14 => matches!(three, 300..=305 | 309) || matches!(two, 36 | 38 | 39),
        15 => matches!(two, 34 | 37) || four == 2131 || four == 1800,
        16..=19 if four == 6011 || matches!(three, 644..=649) || matches!(two, 62 | 65) => true,
        16..=19 if matches!(four, 3528..=3589) => true,
        16 => two / 10 == 4 || matches!(two, 51..=55) || matches!(four, 2221..=2720),
        12..=19 => matches!(four, 5018 | 5020 | 5038 | 5893 | 6304 | 6759 | 6761..=6763),
        _ => false,
    }
}

/// Cards are printed in groups of four, or of four, six and five.
fn is_grouped(text: &str) -> bool {
    let sizes: Vec<usize> = text.split([' ', '-']).map(str::len).collect();
    match &sizes[..] {
        [_] | [4, 6, 4 | 5] => true,
        [fours @ .., last] => fours.iter().all(|size| *size == 4) && *last <= 4,
        [] => false,
    }
}

/// Numbers of a length that telephones have, and neither dates nor decimals.
fn is_phone(text: &str) -> bool {
    let count = digits(text).count();
    let groups = || {
        text.split(|c: char| !c.is_ascii_digit())
            .filter(|group| !group.is_empty())
    };
    let sizes: Vec<usize> = groups().map(str::len).collect();
    let dotted = text.contains('.');
    let decimal = dotted && (sizes.len() < 3 || sizes.iter().any(|size| *size > 4));
    let century = text.trim_start_matches('+');
    let date = match sizes[..] {
        [4, 2, 2] => century.starts_with("19") || century.starts_with("20"),
        [2, 2, 4] => !text.starts_with('+'),
        _ => false,
    };
    let scattered = sizes.len() > 6 || sizes.iter().filter(|size| **size == 1).count() > 3;
    let balanced = text.matches('(').count() == text.matches(')').count();
    (8..=15).contains(&count) && !decimal && !date && !scattered && balanced
}

fn is_public_ipv6(text: &str) -> bool {
    let Ok(address) = text.parse::<Ipv6Addr>() else {
        return false;
    };
    // Global unicast (RFC 4291) and unique local addresses (RFC 4193).
    let [first, ..] = address.segments();
    matches!(first, 0x2000..=0x3fff | 0xfc00..=0xfdff)
}

/// Words before or around an address that say that it is one.
#[rustfmt::skip]
const ADDRESS_WORDS: &[&str] = &[
    "ip", "ips", "ipv4", "addr", "address", "addresses", "host", "hosts", "hostname", "from",
    "client", "server", "peer", "remote", "dns", "nameserver", "gateway", "ping", "connect",
    "connected", "connecting", "connection", "connections", "listening", "bind", "bound",
    "network", "subnet", "cidr", "proxy", "node", "origin", "inet", "user", "login", "src", "dst",
];

/// Words that make four numbers a version.
#[rustfmt::skip]
const VERSION_WORDS: &[&str] = &[
    "v", "version", "versions", "ver", "release", "build", "firmware", "assembly", "revision",
    "upgrade", "upgraded", "semver", "tag", "sdk", "driver",
];

/// Whether four numbers are an address that belongs to somebody.
fn is_address(text: &str, range: Range<usize>, name: &str) -> bool {
    let found = text.get(range.clone()).unwrap_or_default();
    let Ok(address) = found.parse::<Ipv4Addr>() else {
        return false;
    };
    let [first, second, ..] = address.octets();
    let nobody = address.is_loopback()
        || address.is_link_local()
        || first == 0
        || first == 255
        || address.is_multicast()
        || (first, second) == (100, 100);
    let before = text.get(..range.start).unwrap_or_default();
    let after = text.get(range.end..).unwrap_or_default();
    if nobody || is_private_range(address, after) || is_version_tail(after) || is_product(before) {
        return false;
    }
    let named = crate::secrets::words(name);
    let previous = last_word(before);
    let says = |list: &[&str]| {
        list.iter().any(|word| previous.eq_ignore_ascii_case(word))
            || named.iter().any(|own| list.contains(&own.as_str()))
    };
    if says(VERSION_WORDS) {
        return false;
    }
    let small = address.octets().iter().all(|octet| *octet < 32);
    let trailing_zeros = address.octets().ends_with(&[0, 0]);
    let places = after.starts_with(':') || is_prefix_length(after) || ends_in_marker(before);
    let url = before.ends_with("//") || before.ends_with('@') || before.ends_with('[');
    !(small || trailing_zeros) || places || url || says(ADDRESS_WORDS)
}

/// The ranges of private networks as RFC 1918 and RFC 6598 write them, which are everybody's.
fn is_private_range(address: Ipv4Addr, after: &str) -> bool {
    let range = match address.octets() {
        [10, 0, 0, 0] => "/8",
        [172, 16, 0, 0] => "/12",
        [192, 168, 0, 0] => "/16",
        [100, 64, 0, 0] => "/10",
        _ => return false,
    };
    let rest = after.strip_prefix(range);
    rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// `/24` after an address.
fn is_prefix_length(after: &str) -> bool {
    let length = after.strip_prefix('/').map(|rest| {
        let count = rest.bytes().take_while(u8::is_ascii_digit).count();
        rest.get(..count).unwrap_or_default()
    });
    length.is_some_and(|length| length.parse::<u8>().is_ok_and(|bits| bits <= 32))
}

/// `-beta`, `-rc1`, `+build`.
fn is_version_tail(after: &str) -> bool {
    let mut chars = after.chars();
    matches!(chars.next(), Some('-' | '+')) && chars.next().is_some_and(char::is_alphabetic)
}

/// `Chrome/`, `pkg@`, `==`: what stands before a version.
fn is_product(before: &str) -> bool {
    if before.ends_with("==") || before.ends_with(">=") || before.ends_with("~=") {
        return true;
    }
    let Some(product) = tail(before).strip_suffix('/') else {
        return false;
    };
    // `http://` is none.
    product.ends_with(|c: char| c.is_alphanumeric()) && !product.contains("://")
}

/// The word right before a place, across blanks and the punctuation of key and value.
fn last_word(before: &str) -> &str {
    let end = before.trim_end_matches([' ', '\t', ':', '=', '"', '\'', '(', '[', '`', ',']);
    let start = end
        .char_indices()
        .rev()
        .take(24)
        .take_while(|(_, c)| c.is_ascii_alphanumeric())
        .last()
        .map_or(end.len(), |(at, _)| at);
    end.get(start..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_sums_are_those_of_the_standards() {
        assert!(luhn("4111 1111 1111 1111") && !luhn("4111 1111 1111 1112"));
        assert!(mod97("GB82 WEST 1234 5698 7654 32") && !mod97("GB82WEST12345698765433"));
        assert!(!mod97("é") && !mod97(""));
    }

    #[test]
    fn the_place_decides_what_four_numbers_are() {
        let all = |text: &str, name| Validator::RealIpv4.accepts(text, 0..text.len(), name);
        assert!(!all("10.2.15.1", "") && all("10.2.15.1", "clientIp"));
        assert!(all("203.0.113.77", "") && !all("203.0.113.77", "firmware_version"));
    }
}
