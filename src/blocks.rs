//! Many bytes tested at once, in the vectors that every processor of the kind has.

use wide::u8x16;

/// Bytes side by side. A test sets all bits of a byte, or none.
pub(crate) type Bytes = u8x16;

/// How many bytes are side by side.
const SIDE_BY_SIDE: usize = 16;

/// One bit a byte, the first byte in the lowest bit: whether it passes a test. A block has a
/// multiple of 16 bytes and at most 64.
#[inline]
pub(crate) fn bits<const N: usize>(block: &[u8; N], test: impl Fn(Bytes) -> Bytes) -> u64 {
    const { assert!(N <= u64::BITS as usize && N.is_multiple_of(SIDE_BY_SIDE)) };
    let parts = block.as_chunks::<SIDE_BY_SIDE>().0.iter();
    parts.rev().fold(0, |bits, part| {
        bits << SIDE_BY_SIDE | u64::from(test(Bytes::new(*part)).to_bitmask())
    })
}

/// Which bytes are that one.
#[inline]
pub(crate) fn are(bytes: Bytes, byte: u8) -> Bytes {
    bytes.simd_eq(Bytes::splat(byte))
}

/// Which bytes lie in a range, ends included; `first` is not greater than `last`.
#[inline]
pub(crate) fn within(bytes: Bytes, first: u8, last: u8) -> Bytes {
    let above = bytes - Bytes::splat(first);
    above.min(Bytes::splat(last - first)).simd_eq(above)
}

/// The bytes with the ASCII letters in lower case; some signs become others.
#[inline]
pub(crate) fn in_one_case(bytes: Bytes) -> Bytes {
    bytes | Bytes::splat(0x20)
}

/// Of the bits of a mask those that begin so many set ones in a row.
#[inline]
pub(crate) fn runs(bits: u64, length: usize) -> u64 {
    let (mut runs, mut done) = (bits, 1);
    while done < length {
        let more = done.min(length - done);
        runs &= runs >> more;
        done += more;
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_byte_has_its_bit(block in prop::array::uniform32(any::<u8>())) {
            let found = bits(&block, |bytes| within(bytes, 0, 99));
            for (index, byte) in block.iter().enumerate() {
                prop_assert_eq!(found >> index & 1 == 1, *byte < 100);
            }
            prop_assert_eq!(found >> 32, 0);
        }

        #[test]
        fn a_range_holds_its_ends(block in prop::array::uniform16(any::<u8>()), one: u8, other: u8) {
            let (first, last) = (one.min(other), one.max(other));
            let found = bits(&block, |bytes| within(bytes, first, last));
            let single = bits(&block, |bytes| are(bytes, first));
            for (index, byte) in block.iter().enumerate() {
                prop_assert_eq!(found >> index & 1 == 1, (first..=last).contains(byte));
                prop_assert_eq!(single >> index & 1 == 1, first == *byte);
            }
        }

        #[test]
        fn a_run_begins_where_so_many_bits_follow(bits: u64, length in 1_usize..40) {
            for start in 0..64 {
                let all = (start..start + length).all(|bit| bit < 64 && bits >> bit & 1 == 1);
                prop_assert_eq!(runs(bits, length) >> start & 1 == 1, all);
            }
        }
    }
}
