//! What is to be recorded, in its order, while it is open whether a part of it counts.
//!
//! A request that comes to nothing is not to be in the recording, but if it comes to something, it stands
//! where it was said. So what follows it waits until that is known.

use crate::wire::lane::Lane;
use std::collections::{HashSet, VecDeque};

/// So much waits for one request and no more, in bytes: then it is taken to count.
const MOST: usize = 64 << 20;

/// Something of an exchange.
pub(super) trait Piece {
    fn lane(&self) -> Lane;

    /// How much memory it takes.
    fn bytes(&self) -> usize;
}

/// The pieces that wait, and the exchanges that they wait for.
#[derive(Debug)]
pub(super) struct Doubt<P> {
    waiting: VecDeque<P>,
    bytes: usize,
    open: HashSet<Lane>,
    dropped: HashSet<Lane>,
}

impl<P: Piece> Doubt<P> {
    pub(super) fn new() -> Doubt<P> {
        Doubt {
            waiting: VecDeque::new(),
            bytes: 0,
            open: HashSet::new(),
            dropped: HashSet::new(),
        }
    }

    /// The exchange on a lane, of which nothing was said so far, may not count.
    pub(super) fn begin(&mut self, lane: Lane) {
        self.open.insert(lane);
    }

    /// Whether the exchange on a lane counts is known now.
    pub(super) fn end(&mut self, lane: Lane, counts: bool, take: impl FnMut(P)) {
        self.open.remove(&lane);
        if !counts {
            self.dropped.insert(lane);
        }
        self.go_on(take);
    }

    /// Takes the next piece, and gives what does not wait.
    pub(super) fn push(&mut self, piece: P, mut take: impl FnMut(P)) {
        self.bytes += piece.bytes();
        self.waiting.push_back(piece);
        self.go_on(&mut take);
        while self.bytes > MOST {
            let Some(front) = self.waiting.front().map(P::lane) else {
                return;
            };
            self.end(front, true, &mut take);
        }
    }

    /// Nothing more comes: what is in doubt does not count.
    pub(super) fn finish(&mut self, take: impl FnMut(P)) {
        self.dropped.extend(self.open.drain());
        self.go_on(take);
    }

    fn go_on(&mut self, mut take: impl FnMut(P)) {
        while let Some(front) = self.waiting.front() {
            let lane = front.lane();
            if self.open.contains(&lane) {
                return;
            }
            let Some(piece) = self.waiting.pop_front() else {
                return;
            };
            self.bytes -= piece.bytes();
            if !self.dropped.contains(&lane) {
                take(piece);
            }
        }
        // What did not count says nothing more.
        self.dropped.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Piece for (u32, usize) {
        fn lane(&self) -> Lane {
            Lane::Post(self.0)
        }

        fn bytes(&self) -> usize {
            self.1
        }
    }

    /// What is given when these are pushed.
    fn pushed(doubt: &mut Doubt<(u32, usize)>, pieces: &[(u32, usize)]) -> Vec<(u32, usize)> {
        let mut given = Vec::new();
        for piece in pieces {
            doubt.push(*piece, |piece| given.push(piece));
        }
        given
    }

    #[test]
    fn what_follows_a_request_in_doubt_waits_and_keeps_its_order() {
        let mut doubt = Doubt::new();
        assert_eq!(pushed(&mut doubt, &[(0, 1)]), [(0, 1)]);
        doubt.begin(Lane::Post(1));
        doubt.begin(Lane::Post(2));
        assert_eq!(pushed(&mut doubt, &[(1, 1), (0, 2), (2, 1), (0, 3)]), []);
        let mut given = Vec::new();
        doubt.end(Lane::Post(2), false, |piece| given.push(piece));
        assert_eq!(given, []);
        doubt.end(Lane::Post(1), true, |piece| given.push(piece));
        assert_eq!(given, [(1, 1), (0, 2), (0, 3)]);
        assert_eq!(pushed(&mut doubt, &[(1, 2)]), [(1, 2)]);
        doubt.begin(Lane::Post(3));
        assert_eq!(pushed(&mut doubt, &[(3, 1), (1, 3)]), []);
        let mut given = Vec::new();
        doubt.finish(|piece| given.push(piece));
        assert_eq!(given, [(1, 3)]);
    }

    #[test]
    fn a_request_for_which_too_much_would_wait_counts() {
        let mut doubt = Doubt::new();
        doubt.begin(Lane::Post(1));
        assert_eq!(pushed(&mut doubt, &[(1, 1), (0, MOST - 1)]), []);
        let all = [(1, 1), (0, MOST - 1), (0, 1)];
        assert_eq!(pushed(&mut doubt, &[(0, 1)]), all);
    }
}
