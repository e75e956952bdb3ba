//! Where each part of a folded text came from.
//!
//! Folding is generic over [`Trace`], so that a text without findings pays
//! nothing for positions: it is folded with [`Untraced`] first, and again with
//! a [`SegmentMap`] when something was found in it.

use std::ops::Range;

/// A listener to what folding writes.
pub(super) trait Trace: Default {
    /// Source bytes were written at `out` one for one (letter case aside).
    fn copied(&mut self, out: usize, source: usize);
    /// The source range as a whole gave what is written at `out`.
    fn produced(&mut self, out: usize, source: Range<usize>);
    /// The ASCII letter that ends the output at `out` also covers the source up
    /// to `end`.
    fn extended(&mut self, out: usize, end: usize);
    /// The output was cut back to `out`; the start of the source that was
    /// behind that place, if known.
    fn taken_back(&mut self, out: usize) -> Option<usize>;
    /// The part `from` of another output was appended at `out`.
    fn appended(&mut self, out: usize, other: &Self, from: Range<usize>);
}

/// Keeps no positions.
#[derive(Debug, Default)]
pub(super) struct Untraced;

impl Trace for Untraced {
    #[inline]
    fn copied(&mut self, _out: usize, _source: usize) {}
    #[inline]
    fn produced(&mut self, _out: usize, _source: Range<usize>) {}
    #[inline]
    fn extended(&mut self, _out: usize, _end: usize) {}
    #[inline]
    fn taken_back(&mut self, _out: usize) -> Option<usize> {
        None
    }
    #[inline]
    fn appended(&mut self, _out: usize, _other: &Self, _from: Range<usize>) {}
}

#[derive(Debug, Clone)]
struct Segment {
    /// Where it starts in the folded text; it ends where the next one starts.
    out: usize,
    /// Where it starts in the source.
    source: usize,
    /// Its end in the source, or none when bytes correspond one for one.
    end: Option<usize>,
}

impl Segment {
    fn source_at(&self, out: usize) -> usize {
        match self.end {
            Some(_) => self.source,
            None => self.source + out.saturating_sub(self.out),
        }
    }
}

/// The segments of a folded text in order.
#[derive(Debug, Default)]
pub(super) struct SegmentMap(Vec<Segment>);

impl SegmentMap {
    /// The source bytes behind a range of the folded text.
    pub(super) fn original(&self, range: Range<usize>) -> Range<usize> {
        let start = self.at(range.start).map_or(0, |s| s.source_at(range.start));
        if range.end <= range.start {
            return start..start;
        }
        let end = self
            .at(range.end - 1)
            .map_or(0, |s| s.end.unwrap_or_else(|| s.source_at(range.end)));
        start..end.max(start)
    }

    fn at(&self, out: usize) -> Option<&Segment> {
        self.0.get(self.index(out)?)
    }

    fn index(&self, out: usize) -> Option<usize> {
        self.0
            .partition_point(|segment| segment.out <= out)
            .checked_sub(1)
    }
}

impl Trace for SegmentMap {
    fn copied(&mut self, out: usize, source: usize) {
        let continues = self
            .0
            .last()
            .is_some_and(|last| last.end.is_none() && last.source_at(out) == source);
        if !continues {
            self.0.push(Segment {
                out,
                source,
                end: None,
            });
        }
    }

    fn produced(&mut self, out: usize, source: Range<usize>) {
        self.0.push(Segment {
            out,
            source: source.start,
            end: Some(source.end),
        });
    }

    fn extended(&mut self, out: usize, end: usize) {
        let letter = out.saturating_sub(1);
        match self.0.last_mut() {
            Some(Segment {
                end: Some(last), ..
            }) => *last = end,
            Some(copied) if copied.out < out => {
                let source = copied.source_at(letter);
                self.produced(letter, source..end);
            }
            _ => {}
        }
    }

    fn taken_back(&mut self, out: usize) -> Option<usize> {
        let start = self.at(out)?.source_at(out);
        while self.0.last().is_some_and(|last| last.out >= out) {
            self.0.pop();
        }
        Some(start)
    }

    fn appended(&mut self, out: usize, other: &Self, from: Range<usize>) {
        if from.is_empty() {
            return;
        }
        let Some(first) = other.index(from.start) else {
            return;
        };
        for segment in other.0.iter().skip(first) {
            if segment.out >= from.end {
                break;
            }
            let start = segment.out.max(from.start);
            let place = out + (start - from.start);
            match segment.end {
                None => self.copied(place, segment.source_at(start)),
                Some(end) => self.produced(place, segment.source..end),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_map_through_copies_and_tokens() {
        let mut map = SegmentMap::default();
        map.copied(0, 0);
        map.copied(3, 3);
        map.produced(5, 5..12);
        map.copied(6, 20);
        assert_eq!(map.0.len(), 3, "adjoining copies are one segment");
        assert_eq!(map.original(1..4), 1..4);
        assert_eq!(map.original(5..6), 5..12);
        assert_eq!(map.original(4..8), 4..22);
        assert_eq!(map.original(2..2), 2..2);
        assert_eq!(map.taken_back(5), Some(5));
        map.produced(5, 5..30);
        assert_eq!(map.original(0..7), 0..30);
    }

    #[test]
    fn an_appended_part_keeps_its_positions() {
        let mut other = SegmentMap::default();
        other.copied(0, 10);
        other.produced(4, 14..20);
        other.copied(6, 20);
        let mut map = SegmentMap::default();
        map.produced(0, 0..10);
        map.appended(1, &other, 2..8);
        assert_eq!(map.original(1..2), 12..13);
        assert_eq!(map.original(3..4), 14..20);
        assert_eq!(map.original(5..7), 20..22);
    }
}
