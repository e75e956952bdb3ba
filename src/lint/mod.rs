//! The linter.

pub(crate) mod packs;
