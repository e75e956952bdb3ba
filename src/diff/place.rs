//! From byte spans to the places that people and tools are given: JSON pointer,
//! line, column.

use crate::cassette::Cassette;
use crate::cassette::locate;
use crate::finding::{Position, Region};
use crate::wire::json::Span;
use std::collections::BTreeMap;

/// A place inside the payload of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    pub(crate) message: u32,
    /// The value that the pointer names.
    pub(crate) value: Span,
    /// What to show of it: the value, or the name of a definition that lacks it.
    pub(crate) region: Span,
}

impl Spot {
    pub(crate) fn new(message: u32, value: Span) -> Self {
        Spot {
            message,
            value,
            region: value,
        }
    }
}

/// The pointer and the region of each spot, in the order given.
///
/// Each payload that has spots is walked once, and the lines of the file are
/// counted once, however many spots there are.
pub(crate) fn resolve(cassette: &Cassette, spots: &[Spot]) -> Vec<(String, Region)> {
    let text = &cassette.text;
    let mut by_message: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    let mut offsets = Vec::with_capacity(spots.len() * 2);
    for spot in spots {
        by_message
            .entry(spot.message)
            .or_default()
            .push(spot.value.start as usize);
        offsets.extend([spot.region.start as usize, spot.region.end as usize]);
    }
    let mut pointers = BTreeMap::new();
    for (message, mut places) in by_message {
        let Some(row) = cassette.rows.get(message as usize) else {
            continue;
        };
        places.sort_unstable();
        places.dedup();
        let prefix = format!("/messages/{message}/payload");
        let found = locate::pointers(text, row.payload, &prefix, &places);
        pointers.extend(places.into_iter().zip(found));
    }
    offsets.sort_unstable();
    offsets.dedup();
    let positions: BTreeMap<usize, Position> = offsets
        .iter()
        .copied()
        .zip(locate::positions(text, &offsets))
        .collect();
    let position = |at: u32| positions.get(&(at as usize)).copied().unwrap_or_default();
    let place = |spot: &Spot| {
        let pointer = pointers.get(&(spot.value.start as usize));
        let region = Region {
            start: position(spot.region.start),
            end: position(spot.region.end),
            bytes: spot.region.range(),
        };
        (pointer.cloned().unwrap_or_default(), region)
    };
    spots.iter().map(place).collect()
}
