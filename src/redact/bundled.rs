//! The packs that come with the program, and those that came with earlier versions.

use super::pack::{self, Pack};
use crate::pattern::{PackError, PackSource};

/// The pack that is on by default.
pub(super) const COMMON: &str = include_str!("../../packs/common.toml");

/// What 0.4.0's pack of that id matches.
const COMMON_0_4_0: &str = include_str!("../../packs/common-0.4.0.toml");

/// The hash by which recordings of 0.4.0 name its pack.
pub(super) const HASH_0_4_0: &str =
    "d5ba9d03de2178ec019813889984e09cb940724646eb7ca4250341808a783134";

const PATH: &str = "builtin:common";

/// The current pack.
pub(super) fn common() -> Result<Pack, PackError> {
    let bytes = COMMON.as_bytes();
    pack::load_bundled(PackSource { name: PATH, bytes })
}

/// The pack of 0.4.0, under its own hash.
pub(super) fn common_0_4_0() -> Result<Pack, PackError> {
    let bytes = COMMON_0_4_0.as_bytes();
    let mut pack = pack::load_bundled(PackSource { name: PATH, bytes })?;
    HASH_0_4_0.clone_into(&mut pack.sha256);
    Ok(pack)
}

/// Every pack that a version of this program has bundled, by its hash.
pub(super) fn by_hash(sha256: &str) -> Option<Result<Pack, PackError>> {
    if sha256 == HASH_0_4_0 {
        return Some(common_0_4_0());
    }
    let current = common();
    match current {
        Ok(pack) if pack.sha256 != sha256 => None,
        current => Some(current),
    }
}
