//! Many strings looked for at once, in any case of the ASCII letters.
//!
//! A table tells for the first bytes of a place in a text whether a string may stand there.
//! It is built in microseconds, where an automaton over a few hundred strings takes most
//! of a millisecond, and a place is judged without what was read before it, so that the
//! processor looks at several places at a time. Most places are turned down without a
//! branch that depends on the text, which it could not foresee.

use crate::blocks::{self, Bytes, are, within};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// How many bytes are the head of a string: the most that it has.
const SHORT: usize = 3;
const MIDDLE: usize = 5;
const LONG: usize = START;

/// The length of the hash of a short head: few enough heads share one, and the table stays in the
/// nearest cache.
const SHORT_BITS: u32 = 14;

/// The length of the hash of a longer head. There are thousands of them, and one bit for each
/// value takes as much room as one byte for each short one.
const LONG_BITS: u32 = 17;

/// The lists of strings are found by the upper bits of the hash: the lists of a few thousand
/// strings are short.
const SLOT_BITS: u32 = 13;

/// What the tables say of a hash: which kinds of strings may begin so. A place with a longer
/// head has to pass both tables, so that few places pass by chance.
const MAY_BE_PAIR: u8 = 1;
const MAY_BE_SHORT: u8 = 2;
const MAY_BE_MIDDLE: u8 = 4;
const MAY_BE_LONG: u8 = 8;

/// How many bytes of a place are looked at first.
const START: usize = size_of::<u64>();

/// Half of them.
const HALF: usize = START / 2;

/// How many places are looked at together, and the bytes that this takes.
const PLACES: usize = 8;
const BLOCK: usize = PLACES + START - 1;

/// How many bytes are searched for the beginnings of words together, and the bytes that this
/// takes.
const WORDS: usize = 64;
type Window = [u8; WORDS + START];

/// A set of strings to look for.
pub(crate) struct Needles {
    strings: Vec<Cow<'static, str>>,
    /// By the first bytes, as many as a short head has: marks of all kinds.
    short: Box<Marks>,
    /// By longer heads, of both lengths: whether a string begins so.
    heads: Box<Bits>,
    /// The strings of each kind, in the order of the marks.
    slots: [Box<Slots>; KINDS],
    links: Vec<Link>,
    /// What their first bytes are.
    firsts: Firsts,
}

/// The first bytes of strings: the ASCII letters and digits, and those in three ranges, of
/// which the one of ASCII begins behind the blank. What no string begins with may lie in a
/// range as well; the letters of another script mostly do not.
#[derive(Clone, Copy, Debug, Default)]
struct Firsts {
    last_ascii: u8,
    others: [(u8, u8); 2],
}

impl Firsts {
    fn of<'s>(strings: impl Iterator<Item = &'s [u8]>) -> Firsts {
        let firsts = strings.filter_map(|string| string.first().copied());
        let (ascii, others): (BTreeSet<u8>, BTreeSet<u8>) = firsts.partition(u8::is_ascii);
        let others: Vec<u8> = others.into_iter().collect();
        // The widest gap parts them.
        let gap = |at: &usize| others[*at] - others[at - 1];
        let cut = (1..others.len()).max_by_key(gap).unwrap_or(others.len());
        let (low, high) = others.split_at(cut);
        let range = |bytes: &[u8]| match bytes {
            // No text has this byte.
            [] => (u8::MAX, u8::MAX),
            [first, .., last] => (*first, *last),
            [only] => (*only, *only),
        };
        Firsts {
            last_ascii: ascii.last().map_or(b'!', u8::to_ascii_lowercase),
            others: [range(low), range(high)],
        }
    }

    /// Which bytes a string may begin with, if they are no letters or digits.
    #[inline]
    fn are_signs(self, bytes: Bytes) -> Bytes {
        let [low, high] = self.others;
        within(bytes, b' ' + 1, self.last_ascii)
            | within(bytes, low.0, low.1)
            | within(bytes, high.0, high.1)
    }
}

/// What is known of short heads by their hash.
type Marks = [u8; 1 << SHORT_BITS];

/// One bit for each hash of a longer head.
type Bits = [u64; (1 << LONG_BITS) / WIDTH];
const WIDTH: usize = u64::BITS as usize;

/// By the upper bits of a hash: one more than the index of the first link, 0 for none.
type Slots = [u16; 1 << SLOT_BITS];

/// How many kinds of strings there are, and their places in the order of the marks.
const KINDS: usize = 4;
const PAIRS: usize = 0;
const BY_SHORT: usize = 1;
const BY_MIDDLE: usize = 2;
const BY_LONG: usize = 3;

/// A string in the list of its slot.
#[derive(Clone, Copy)]
struct Link {
    /// Its first eight bytes.
    start: Eight,
    /// Its last eight bytes, if it has more than eight.
    end: Eight,
    string: u16,
    /// In bytes.
    length: u16,
    /// One more than the index of the next link, 0 at the end.
    next: u16,
}

/// Up to eight bytes of a string.
#[derive(Clone, Copy, Default)]
struct Eight {
    bytes: u64,
    /// The bits of them that count: all of a byte, but for the one that tells the cases of an ASCII
    /// letter apart.
    mask: u64,
}

impl Eight {
    fn of(bytes: &[u8]) -> Eight {
        let mut eight = ([0; START], [0; START]);
        let places = eight.0.iter_mut().zip(&mut eight.1);
        for ((to, mask), byte) in places.zip(bytes) {
            *to = *byte;
            *mask = if byte.is_ascii_alphabetic() {
                !CASE
            } else {
                !0
            };
        }
        Eight {
            bytes: u64::from_le_bytes(eight.0),
            mask: u64::from_le_bytes(eight.1),
        }
    }

    /// Whether a text that goes on so has these bytes, in any case of the ASCII letters.
    #[inline]
    fn is(self, here: u64) -> bool {
        (self.bytes ^ here) & self.mask == 0
    }
}

impl Needles {
    /// Strings of two bytes to 64 KiB that do not begin with a blank; others are never
    /// found. There is room for some ten thousand.
    pub(crate) fn new<S: Into<Cow<'static, str>>>(strings: impl IntoIterator<Item = S>) -> Needles {
        let mut needles = Needles {
            strings: strings.into_iter().map(Into::into).collect(),
            short: Box::new([0; 1 << SHORT_BITS]),
            heads: Box::new([0; (1 << LONG_BITS) / WIDTH]),
            slots: std::array::from_fn(|_| Box::new([0; 1 << SLOT_BITS])),
            links: Vec::new(),
            firsts: Firsts::default(),
        };
        needles.firsts = Firsts::of(needles.strings.iter().map(|string| string.as_bytes()));
        // The last one first, so that the lists are in the order of the strings.
        for index in (0..needles.strings.len()).rev() {
            needles.link(index);
        }
        needles
    }

    fn link(&mut self, index: usize) {
        let bytes = self.strings[index].as_bytes();
        let (Ok(string), Ok(length)) = (u16::try_from(index), u16::try_from(bytes.len())) else {
            return;
        };
        let end = bytes.last_chunk::<START>().filter(|_| bytes.len() > START);
        let link = Link {
            start: Eight::of(bytes),
            end: end.map_or(Eight::default(), |end| Eight::of(end)),
            string,
            length,
            next: 0,
        };
        let here = in_one_case(start(bytes));
        let short = of_short(here);
        let head = upper(short, SHORT_BITS);
        let (kind, spread) = match *bytes {
            [a, b] => {
                // Whatever comes third is a part of the head.
                for c in 0..=u8::MAX {
                    let here = in_one_case(start(&[a, b, c]));
                    self.short[upper(of_short(here), SHORT_BITS)] |= MAY_BE_PAIR;
                }
                (PAIRS, of_pair(here))
            }
            [_, _, _] | [_, _, _, _] => {
                self.short[head] |= MAY_BE_SHORT;
                (BY_SHORT, short)
            }
            _ if bytes.len() < SHORT => return,
            _ if bytes.len() < LONG => {
                self.short[head] |= MAY_BE_MIDDLE;
                (BY_MIDDLE, of_long(here, MIDDLE))
            }
            _ => {
                self.short[head] |= MAY_BE_LONG;
                (BY_LONG, of_long(here, LONG))
            }
        };
        if matches!(kind, BY_MIDDLE | BY_LONG) {
            let head = upper(spread, LONG_BITS);
            self.heads[head / WIDTH] |= 1 << (head % WIDTH);
        }
        let slot = upper(spread, SLOT_BITS);
        chain(&mut self.slots[kind][slot], &mut self.links, link);
    }

    /// The length of a string in bytes; the index is that of its place in the set.
    pub(crate) fn length(&self, string: usize) -> usize {
        self.strings[string].len()
    }

    /// The first place at or after `from` where a string stands.
    #[inline]
    pub(crate) fn next_place(&self, text: &[u8], from: usize) -> Option<usize> {
        let mut at = from;
        while let Some(block) = text.get(at..).and_then(|rest| rest.first_chunk()) {
            let mut places = self.places_of_block(block);
            while places != 0 {
                let place = at + (places.trailing_zeros() / u8::BITS) as usize;
                if self.at(text, place).next().is_some() {
                    return Some(place);
                }
                // All marks of the place go.
                let marks = u64::from(u8::MAX) << (places.trailing_zeros() / u8::BITS * u8::BITS);
                places &= !marks;
            }
            at += PLACES;
        }
        (at..text.len()).find(|at| self.has_any_at(text, *at))
    }

    /// Where in a block a string may stand by its first bytes alone, one byte a place.
    #[inline]
    fn places_of_block(&self, block: &[u8; BLOCK]) -> u64 {
        let mut marks = [0_u8; PLACES];
        for (place, mark) in marks.iter_mut().enumerate() {
            let start = block.get(place..).and_then(|rest| rest.first_chunk());
            let start = start.map_or(0, |start| u64::from_le_bytes(*start));
            let short = of_short(in_one_case(start));
            *mark = self.short[upper(short, SHORT_BITS)];
        }
        u64::from_le_bytes(marks)
    }

    /// The kinds of strings that may stand at a place that starts so, in one case.
    #[inline]
    fn may_stand(&self, start: u64) -> u8 {
        self.short[upper(of_short(start), SHORT_BITS)]
            & (MAY_BE_PAIR
                | MAY_BE_SHORT
                | (self.has_head(start, MIDDLE) * MAY_BE_MIDDLE)
                | (self.has_head(start, LONG) * MAY_BE_LONG))
    }

    /// 1 if a string may have that longer head, otherwise 0.
    #[inline]
    fn has_head(&self, start: u64, length: usize) -> u8 {
        let head = upper(of_long(start, length), LONG_BITS);
        u8::from(self.heads[head / WIDTH] >> (head % WIDTH) & 1 == 1)
    }

    /// Hands over every place where a string stands, and its index, but for letters and
    /// digits in the middle of a word; until it is told to stop.
    #[inline]
    pub(crate) fn walk_words<B>(
        &self,
        text: &[u8],
        mut each: impl FnMut(usize, usize) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let mut goes_on = false;
        for base in (0..text.len()).step_by(WORDS) {
            let rest = text.get(base..).unwrap_or_default();
            let padded;
            let window = match rest.first_chunk() {
                Some(window) => window,
                None => {
                    padded = in_blanks(rest);
                    &padded
                }
            };
            let mut places = self.beginnings(window, &mut goes_on);
            while places != 0 {
                let at = places.trailing_zeros() as usize;
                places &= places - 1;
                let here = start_in(window, at);
                let kinds = self.may_stand(in_one_case(here));
                if kinds != 0 {
                    let rest = rest.get(at..).unwrap_or_default();
                    for string in self.standing(rest, here, kinds) {
                        each(base + at, string)?;
                    }
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Where words and signs begin in the first bytes of a window, one bit a byte. `goes_on` says
    /// whether the byte before belongs to a word, and is told the same of the last byte.
    #[inline]
    fn beginnings(&self, window: &Window, goes_on: &mut bool) -> u64 {
        let are_words = |bytes: Bytes| {
            within(blocks::in_one_case(bytes), b'a', b'z')
                | within(bytes, b'0', b'9')
                | are(bytes, b'_')
        };
        let block = window.first_chunk::<WORDS>().unwrap_or(&[b' '; WORDS]);
        let words = blocks::bits(block, are_words);
        let signs = blocks::bits(block, |bytes| self.firsts.are_signs(bytes)) & !words;
        let before = std::mem::replace(goes_on, words >> (WORDS - 1) == 1);
        words & !(words << 1 | u64::from(before)) | signs
    }

    /// Whether a string stands at a place.
    #[inline]
    fn has_any_at(&self, text: &[u8], at: usize) -> bool {
        let rest = text.get(at..).unwrap_or_default();
        self.may_stand(in_one_case(start(rest))) != 0 && self.at(text, at).next().is_some()
    }

    /// The indices of the strings that stand at a place of the text, those of a length in
    /// their order.
    pub(crate) fn at<'t>(&'t self, text: &'t [u8], at: usize) -> impl Iterator<Item = usize> + 't {
        let rest = text.get(at..).unwrap_or_default();
        let here = start(rest);
        self.standing(rest, here, self.may_stand(in_one_case(here)))
    }

    /// The same, if it is known how the text goes on, and which kinds that may be.
    #[inline]
    fn standing<'t>(
        &'t self,
        rest: &'t [u8],
        here: u64,
        kinds: u8,
    ) -> impl Iterator<Item = usize> + 't {
        let (mut kinds, mut next) = (kinds, 0);
        std::iter::from_fn(move || {
            loop {
                let Some(link) = usize::from(next).checked_sub(1) else {
                    if kinds == 0 {
                        return None;
                    }
                    next = self.first_link(in_one_case(here), kinds.trailing_zeros() as usize);
                    kinds &= kinds - 1;
                    continue;
                };
                let link = self.links.get(link)?;
                next = link.next;
                if link.start.is(here) && self.is_at(rest, *link) {
                    return Some(usize::from(link.string));
                }
            }
        })
    }

    /// One more than the index of the first string of a kind that may begin so, in one case.
    #[inline]
    fn first_link(&self, start: u64, kind: usize) -> u16 {
        let spread = match kind {
            PAIRS => of_pair(start),
            BY_SHORT => of_short(start),
            BY_MIDDLE => of_long(start, MIDDLE),
            _ => of_long(start, LONG),
        };
        self.slots[kind][upper(spread, SLOT_BITS)]
    }

    /// Whether the string of a link, of which the first bytes are there, stands at the beginning of
    /// `rest`. Many begin alike, and few of them end alike as well.
    #[inline]
    fn is_at(&self, rest: &[u8], link: Link) -> bool {
        let Some(here) = rest.get(..usize::from(link.length)) else {
            return false;
        };
        let Some(end) = here.last_chunk() else {
            return true;
        };
        if !link.end.is(u64::from_le_bytes(*end)) {
            return false;
        }
        // What lies between them.
        let middle = START..here.len().saturating_sub(START);
        let string = self.strings[usize::from(link.string)].as_bytes();
        match (here.get(middle.clone()), string.get(middle)) {
            (Some(here), Some(string)) => here.eq_ignore_ascii_case(string),
            _ => true,
        }
    }

    /// The longest of the strings that stand at a place; of equal ones the first.
    pub(crate) fn longest_at(&self, text: &[u8], at: usize) -> Option<usize> {
        let mut longest: Option<usize> = None;
        for string in self.at(text, at) {
            if longest.is_none_or(|longest| self.length(longest) < self.length(string)) {
                longest = Some(string);
            }
        }
        longest
    }
}

/// Setting one bit makes the cases of a letter the same, and some signs as well, which
/// does no harm.
const CASE: u8 = 0x20;
const ONE_CASE: u64 = u64::from_le_bytes([CASE; START]);

/// Puts a string before the others of its list.
fn chain(slot: &mut u16, links: &mut Vec<Link>, link: Link) {
    if let Ok(linked) = u16::try_from(links.len() + 1) {
        links.push(Link {
            next: *slot,
            ..link
        });
        *slot = linked;
    }
}

/// A number that is spread over all bits by the first two bytes. Its upper bits are a hash.
#[inline]
fn of_pair(start: u64) -> u32 {
    spread(low_half(start) << 16)
}

/// The same for a head of [`SHORT`] bytes.
#[inline]
fn of_short(start: u64) -> u32 {
    spread(low_half(start) << (8 * (HALF - SHORT)))
}

/// The same for a head of four to eight bytes.
#[inline]
fn of_long(start: u64, length: usize) -> u32 {
    spread(low_half(start) ^ low_half(start >> (8 * (length - HALF))).rotate_left(9))
}

/// A product of 32 bits takes some processors half the time of one of 64.
#[inline]
fn spread(head: u32) -> u32 {
    head.wrapping_mul(0x9e37_79b1)
}

/// A hash of so many bits.
#[inline]
fn upper(spread: u32, bits: u32) -> usize {
    (spread >> (u32::BITS - bits)) as usize
}

#[inline]
fn low_half(bits: u64) -> u32 {
    let [a, b, c, d, ..] = bits.to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

/// The first eight bytes, as if zeros followed where there are fewer.
#[inline]
fn start(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.first_chunk().copied().unwrap_or_else(|| {
        let mut eight = [0; START];
        eight
            .iter_mut()
            .zip(bytes)
            .for_each(|(to, from)| *to = *from);
        eight
    }))
}

/// The last bytes of a text as a window of which the rest is blank.
fn in_blanks(rest: &[u8]) -> Window {
    let mut window = [b' '; WORDS + START];
    window
        .iter_mut()
        .zip(rest)
        .for_each(|(to, from)| *to = *from);
    window
}

/// The first eight bytes of a place in the first half of a window.
#[inline]
fn start_in(window: &Window, at: usize) -> u64 {
    let at = at % WORDS;
    let eight = window
        .get(at..at + START)
        .and_then(|eight| eight.first_chunk());
    u64::from_le_bytes(eight.copied().unwrap_or_default())
}

#[inline]
fn in_one_case(bytes: u64) -> u64 {
    bytes | ONE_CASE
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::convert::Infallible;

    /// Every place and string, found the plain way.
    fn plainly(strings: &[String], text: &[u8]) -> Vec<(usize, usize)> {
        let stands = |at: usize, string: &String| {
            let head = text.get(at..at + string.len());
            head.is_some_and(|head| head.eq_ignore_ascii_case(string.as_bytes()))
        };
        let places = (0..text.len()).flat_map(|at| (0..strings.len()).map(move |i| (at, i)));
        places.filter(|(at, i)| stands(*at, &strings[*i])).collect()
    }

    fn quickly(needles: &Needles, text: &[u8]) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(at) = needles.next_place(text, from) {
            found.extend(needles.at(text, at).map(|string| (at, string)));
            from = at + 1;
        }
        found
    }

    proptest! {
        #[test]
        fn every_string_is_found_wherever_it_stands(
            strings in prop::collection::vec("[abAB_я@`]{2,20}", 0..20),
            text in "[abAB_я@` ]{0,60}",
        ) {
            let strings: Vec<String> = strings.into_iter().filter(|s| s.len() > 1).collect();
            let needles = Needles::new(strings.clone());
            let mut found = quickly(&needles, text.as_bytes());
            found.sort_unstable();
            prop_assert_eq!(found, plainly(&strings, text.as_bytes()));
        }
    }

    proptest! {
        #[test]
        fn words_are_found_where_they_begin(
            strings in prop::collection::vec("[abAB_<я]{2,20}", 0..20),
            text in "[abAB_<я ]{0,200}",
        ) {
            let strings: Vec<String> = strings.into_iter().filter(|s| s.len() > 1).collect();
            let needles = Needles::new(strings.clone());
            let bytes = text.as_bytes();
            let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
            let inside = |at: usize| {
                at.checked_sub(1).is_some_and(|before| is_word(bytes[before])) && is_word(bytes[at])
            };
            let mut expected = plainly(&strings, bytes);
            expected.retain(|(at, _)| !inside(*at));
            let mut found = Vec::new();
            let ControlFlow::Continue(()) = needles.walk_words::<Infallible>(bytes, |at, string| {
                found.push((at, string));
                ControlFlow::Continue(())
            });
            found.sort_unstable();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn the_longest_is_taken_and_of_equal_ones_the_first() {
        let needles = Needles::new(["sk-", "sk-ant-", "SK", "SK-ANT-"]);
        assert_eq!(needles.longest_at(b"a sk-ant-", 2), Some(1));
        assert_eq!(needles.longest_at(b"a sk-an", 2), Some(0));
        assert_eq!(needles.longest_at(b"a Sk", 2), Some(2));
        assert_eq!(needles.longest_at(b"a s", 2), None);
    }
}
