//! Many bytes tested at once: the compiler turns the test into compares of whole vectors
//! as long as it has no branch.

/// One bit a byte, the first byte in the lowest bit: whether it passes a test. A block of
/// more than 64 bytes does not fit.
#[inline]
pub(crate) fn bits<const N: usize>(block: &[u8; N], test: impl Fn(u8) -> bool) -> u64 {
    let mut passed = [0_u8; N];
    for (passed, byte) in passed.iter_mut().zip(block) {
        *passed = u8::from(test(*byte));
    }
    let mut bits = 0;
    for (index, eight) in passed.as_chunks::<8>().0.iter().enumerate() {
        // The product moves the lowest bit of byte `n` to bit `56 + n`.
        let gathered = u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        bits |= gathered << (8 * index);
    }
    bits
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
            let found = bits(&block, |byte| byte < 100);
            for (index, byte) in block.iter().enumerate() {
                prop_assert_eq!(found >> index & 1 == 1, *byte < 100);
            }
            prop_assert_eq!(found >> 32, 0);
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
