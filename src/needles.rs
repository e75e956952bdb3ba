//! Many strings looked for at once, in any case of the ASCII letters.
//!
//! A table tells for the first bytes of a place in a text whether a string may stand there.
//! It is built in microseconds, where an automaton over a few hundred strings takes most
//! of a millisecond, and a place is judged without what was read before it, so that the
//! processor looks at several places at a time. Most places are turned down without a
//! branch that depends on the text, which it could not foresee.

use crate::blocks;
use std::borrow::Cow;
use std::ops::ControlFlow;

/// How many bytes are the head of a string: the most that it has.
const SHORT: usize = 3;
const MIDDLE: usize = 5;
const LONG: usize = START;

/// The length of a hash: few enough heads share one, and the table stays in the nearest cache.
const HASH_BITS: u32 = 14;

/// The lists of strings are found by the upper bits of the hash: the lists of a few thousand
/// strings are short.
const SLOT_BITS: u32 = 12;

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

/// How many bytes are searched for the beginnings of words together.
const WORDS: usize = 64;

/// A set of strings to look for.
pub(crate) struct Needles {
    strings: Vec<Cow<'static, str>>,
    /// By the first bytes, as many as a short head has: marks of all kinds.
    short: Box<Marks>,
    /// By longer heads: marks of their own kind.
    heads: Box<Marks>,
    /// The strings of each kind, in the order of the marks.
    slots: [Box<Slots>; KINDS],
    links: Vec<Link>,
    /// No string begins with a byte greater than this one.
    last: u8,
}

/// What is known of heads by their hash.
type Marks = [u8; 1 << HASH_BITS];

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
    /// Its first eight bytes, in one case.
    start: u64,
    /// The bits of them that it has.
    mask: u64,
    string: u16,
    /// One more than the index of the next link, 0 at the end.
    next: u16,
}

impl Needles {
    /// Strings of at least two bytes that do not begin with a blank; others are never
    /// found. There is room for some ten thousand.
    pub(crate) fn new<S: Into<Cow<'static, str>>>(strings: impl IntoIterator<Item = S>) -> Needles {
        let mut needles = Needles {
            strings: strings.into_iter().map(Into::into).collect(),
            short: Box::new([0; 1 << HASH_BITS]),
            heads: Box::new([0; 1 << HASH_BITS]),
            slots: std::array::from_fn(|_| Box::new([0; 1 << SLOT_BITS])),
            links: Vec::new(),
            last: 0,
        };
        // The last one first, so that the lists are in the order of the strings.
        for index in (0..needles.strings.len()).rev() {
            needles.link(index);
        }
        needles
    }

    fn link(&mut self, index: usize) {
        let bytes = self.strings[index].as_bytes();
        let Ok(string) = u16::try_from(index) else {
            return;
        };
        let missing = START.saturating_sub(bytes.len());
        let link = Link {
            start: start(bytes),
            mask: u64::MAX >> (8 * missing),
            string,
            next: 0,
        };
        let head = short_hash(link.start);
        let (kind, hash) = match *bytes {
            [a, b] => {
                // Whatever comes third is a part of the head.
                for c in 0..=u8::MAX {
                    self.short[short_hash(start(&[a, b, c]))] |= MAY_BE_PAIR;
                }
                (PAIRS, pair_hash(link.start))
            }
            [_, _, _] | [_, _, _, _] => {
                self.short[head] |= MAY_BE_SHORT;
                (BY_SHORT, head)
            }
            _ if bytes.len() < SHORT => return,
            _ if bytes.len() < LONG => {
                let hash = long_hash(link.start, MIDDLE);
                self.short[head] |= MAY_BE_MIDDLE;
                self.heads[hash] |= MAY_BE_MIDDLE;
                (BY_MIDDLE, hash)
            }
            _ => {
                let hash = long_hash(link.start, LONG);
                self.short[head] |= MAY_BE_LONG;
                self.heads[hash] |= MAY_BE_LONG;
                (BY_LONG, hash)
            }
        };
        chain(&mut self.slots[kind], &mut self.links, hash, link);
        let first = bytes.first().map_or(0, u8::to_ascii_lowercase);
        self.last = self.last.max(first);
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
            *mark = self.short[short_hash(start.map_or(0, |start| in_one_case(*start)))];
        }
        u64::from_le_bytes(marks)
    }

    /// The kinds of strings that may stand at a place that starts so.
    #[inline]
    fn may_stand(&self, start: u64) -> u8 {
        self.short[short_hash(start)]
            & (MAY_BE_PAIR
                | MAY_BE_SHORT
                | self.heads[long_hash(start, MIDDLE)] & MAY_BE_MIDDLE
                | self.heads[long_hash(start, LONG)] & MAY_BE_LONG)
    }

    /// Hands over every place where a string stands, and its index, but for letters and
    /// digits in the middle of a word; until it is told to stop.
    #[inline]
    pub(crate) fn walk_words<B>(
        &self,
        text: &[u8],
        mut each: impl FnMut(usize, usize) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let mut base = 0;
        while base < text.len() {
            let mut places = self.beginnings(text, base);
            while places != 0 {
                let at = base + places.trailing_zeros() as usize;
                places &= places - 1;
                let rest = text.get(at..).unwrap_or_default();
                let here = start(rest);
                let kinds = self.may_stand(here);
                if kinds != 0 {
                    for string in self.standing(rest, here, kinds) {
                        each(at, string)?;
                    }
                }
            }
            base += WORDS;
        }
        ControlFlow::Continue(())
    }

    /// Where words and signs begin in the block at a place, one bit a byte.
    #[inline]
    fn beginnings(&self, text: &[u8], at: usize) -> u64 {
        let rest = text.get(at..).unwrap_or_default();
        let block = rest.first_chunk::<WORDS>().copied().unwrap_or_else(|| {
            let mut block = [b' '; WORDS];
            block
                .iter_mut()
                .zip(rest)
                .for_each(|(to, from)| *to = *from);
            block
        });
        let is_word = |byte: u8| {
            ((byte | 0x20).wrapping_sub(b'a') < 26)
                | (byte.wrapping_sub(b'0') < 10)
                | (byte == b'_')
        };
        let words = blocks::bits(&block, is_word);
        let signs = blocks::bits(&block, |byte| {
            !is_word(byte) & (byte > b' ') & (byte <= self.last)
        });
        let before = at.checked_sub(1).and_then(|before| text.get(before));
        let goes_on = before.is_some_and(|before| is_word(*before));
        words & !(words << 1 | u64::from(goes_on)) | signs
    }

    /// Whether a string stands at a place.
    #[inline]
    fn has_any_at(&self, text: &[u8], at: usize) -> bool {
        let rest = text.get(at..).unwrap_or_default();
        self.may_stand(start(rest)) != 0 && self.at(text, at).next().is_some()
    }

    /// The indices of the strings that stand at a place of the text, those of a length in
    /// their order.
    pub(crate) fn at<'t>(&'t self, text: &'t [u8], at: usize) -> impl Iterator<Item = usize> + 't {
        let rest = text.get(at..).unwrap_or_default();
        let here = start(rest);
        self.standing(rest, here, self.may_stand(here))
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
                    next = self.first_link(here, kinds.trailing_zeros() as usize);
                    kinds &= kinds - 1;
                    continue;
                };
                let link = self.links.get(link)?;
                next = link.next;
                if (link.start ^ here) & link.mask == 0 && self.is_at(rest, link.string) {
                    return Some(usize::from(link.string));
                }
            }
        })
    }

    /// One more than the index of the first string of a kind that may begin so.
    #[inline]
    fn first_link(&self, start: u64, kind: usize) -> u16 {
        let hash = match kind {
            PAIRS => pair_hash(start),
            BY_SHORT => short_hash(start),
            BY_MIDDLE => long_hash(start, MIDDLE),
            _ => long_hash(start, LONG),
        };
        self.slots[kind][slot(hash)]
    }

    fn is_at(&self, rest: &[u8], string: u16) -> bool {
        let string = self.strings[usize::from(string)].as_bytes();
        let head = rest.get(..string.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(string))
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
const ONE_CASE: u64 = 0x2020_2020_2020_2020;

/// Puts a string before the others of its list.
fn chain(slots: &mut Slots, links: &mut Vec<Link>, hash: usize, link: Link) {
    let slot = &mut slots[slot(hash)];
    if let Ok(linked) = u16::try_from(links.len() + 1) {
        links.push(Link {
            next: *slot,
            ..link
        });
        *slot = linked;
    }
}

/// The hash of two bytes.
#[inline]
fn pair_hash(start: u64) -> usize {
    hash(low_half(start) << 16)
}

/// The hash of a head of [`SHORT`] bytes.
#[inline]
fn short_hash(start: u64) -> usize {
    hash(low_half(start) << (8 * (HALF - SHORT)))
}

/// The hash of a head of four to eight bytes.
#[inline]
fn long_hash(start: u64, length: usize) -> usize {
    hash(low_half(start) ^ low_half(start >> (8 * (length - HALF))).rotate_left(9))
}

/// A product of 32 bits takes some processors half the time of one of 64.
#[inline]
fn hash(head: u32) -> usize {
    (head.wrapping_mul(0x9e37_79b1) >> (u32::BITS - HASH_BITS)) as usize
}

fn slot(hash: usize) -> usize {
    hash >> (HASH_BITS - SLOT_BITS)
}

#[inline]
fn low_half(bits: u64) -> u32 {
    let [a, b, c, d, ..] = bits.to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

/// The first eight bytes in one case, as if zeros followed where there are fewer.
#[inline]
fn start(bytes: &[u8]) -> u64 {
    in_one_case(bytes.first_chunk().copied().unwrap_or_else(|| {
        let mut eight = [0; START];
        eight
            .iter_mut()
            .zip(bytes)
            .for_each(|(to, from)| *to = *from);
        eight
    }))
}

#[inline]
fn in_one_case(bytes: [u8; START]) -> u64 {
    u64::from_le_bytes(bytes) | ONE_CASE
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
            strings in prop::collection::vec("[abAB_я]{2,10}", 0..20),
            text in "[abAB_я ]{0,60}",
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
            strings in prop::collection::vec("[abAB_<я]{2,10}", 0..20),
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
