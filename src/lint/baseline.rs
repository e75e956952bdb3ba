//! The other side of a comparison, which may still be on its way.

use crate::cassette::Cassette;

/// What a cassette is compared with.
#[derive(Clone, Copy)]
pub(crate) enum Baseline<'a> {
    None,
    Read(&'a Cassette),
    /// Another thread reads it: asking waits until it has, and gets none if there is none.
    Coming(&'a (dyn Fn() -> Option<&'a Cassette> + Sync)),
}

impl<'a> Baseline<'a> {
    /// The cassette, as soon as it is there.
    pub(crate) fn cassette(self) -> Option<&'a Cassette> {
        match self {
            Baseline::None => None,
            Baseline::Read(cassette) => Some(cassette),
            Baseline::Coming(wait) => wait(),
        }
    }
}

impl<'a> From<Option<&'a Cassette>> for Baseline<'a> {
    fn from(cassette: Option<&'a Cassette>) -> Self {
        cassette.map_or(Baseline::None, Baseline::Read)
    }
}
