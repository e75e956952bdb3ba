//! A text in which some parts were replaced, with the way back to the original.

use std::ops::Range;

/// A text made from another one by replacing parts of it.
#[derive(Debug)]
pub(crate) struct Rewritten {
    text: String,
    /// In order; each ends where the next one starts.
    pieces: Vec<Piece>,
}

/// A part of the new text and what it stands for in the old one.
#[derive(Debug)]
struct Piece {
    at: usize,
    source: Range<usize>,
    /// Whether the bytes are those of the source, one for one.
    copied: bool,
}

impl Rewritten {
    /// Replaces parts of `text`, which must be in order and apart from each other; one
    /// that is not, or that cuts a character, is left alone.
    pub(crate) fn new(text: &str, parts: impl IntoIterator<Item = (Range<usize>, String)>) -> Self {
        let mut rewritten = Rewritten {
            text: String::with_capacity(text.len()),
            pieces: Vec::new(),
        };
        let mut done = 0;
        for (range, with) in parts {
            if range.start < done || text.get(range.clone()).is_none() {
                continue;
            }
            rewritten.copy(text, done..range.start);
            done = range.end;
            rewritten.push(&with, range, false);
        }
        rewritten.copy(text, done..text.len());
        rewritten
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// What of the old text a part of the new one stands for. A replaced part counts as
    /// a whole.
    pub(crate) fn original_range(&self, range: Range<usize>) -> Range<usize> {
        let start = self.piece(range.start).map_or(0, |piece| {
            if piece.copied {
                piece.source.start + (range.start - piece.at)
            } else {
                piece.source.start
            }
        });
        if range.is_empty() {
            return start..start;
        }
        let end = self.piece(range.end - 1).map_or(start, |piece| {
            if piece.copied {
                piece.source.start + (range.end - piece.at)
            } else {
                piece.source.end
            }
        });
        start..end.max(start)
    }

    fn piece(&self, at: usize) -> Option<&Piece> {
        let next = self.pieces.partition_point(|piece| piece.at <= at);
        self.pieces.get(next.checked_sub(1)?)
    }

    fn copy(&mut self, text: &str, range: Range<usize>) {
        if let Some(part) = text.get(range.clone()) {
            self.push(part, range, true);
        }
    }

    fn push(&mut self, part: &str, source: Range<usize>, copied: bool) {
        if !part.is_empty() {
            self.pieces.push(Piece {
                at: self.text.len(),
                source,
                copied,
            });
            self.text.push_str(part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_the_new_text_leads_back_to_the_old_one() {
        let parts = [
            (1..4, " ".to_owned()),
            (6..8, String::new()),
            (7..9, "overlaps".to_owned()),
        ];
        let rewritten = Rewritten::new("a   bc--de", parts);
        assert_eq!(rewritten.text(), "a bcde");
        assert_eq!(rewritten.original_range(0..1), 0..1);
        assert_eq!(rewritten.original_range(1..2), 1..4);
        assert_eq!(rewritten.original_range(2..5), 4..9);
        assert_eq!(rewritten.original_range(4..6), 8..10);
        assert_eq!(rewritten.original_range(3..3), 5..5);
    }
}
