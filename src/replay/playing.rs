//! A playlist that is being played.

use super::faults::Fault;
use super::forward::Forward;
use super::http::Said;
use super::plan::NONE;
use crate::wire::lane::Lane;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::time::Duration;

/// One playlist on its way to the client.
#[derive(Debug)]
pub(super) struct Playing {
    pub(super) playlist: u32,
    /// Which live session it belongs to.
    pub(super) live: u32,
    pub(super) lane: Lane,
    /// The live request's id, as a token; none for a notification.
    pub(super) id: Option<Box<str>>,
    pub(super) progress: Option<Box<str>>,
    /// The protocol version that the answer is to claim.
    pub(super) version: Option<Box<str>>,
    /// The next of its messages.
    pub(super) next: u32,
    /// When the message before that was said, and which one it was: the start of the next gap.
    pub(super) since: Duration,
    pub(super) after: u32,
    /// When progress was last said.
    pub(super) progressed: Option<Duration>,
    pub(super) fault: Option<Fault>,
    /// Nothing more is to be said up to the answer: the client took the request back, or a fault
    /// holds the answer.
    pub(super) silent: bool,
    /// The answer was recorded once and is given again: nothing else belongs to it.
    pub(super) only_answer: bool,
    /// The answer is out, or will never be.
    pub(super) answered: bool,
    /// The batch that the request came in.
    pub(super) batch: Option<u32>,
    /// A response over HTTP waits for its end.
    pub(super) owes: bool,
}

/// What is to be done, in order.
#[derive(Debug)]
pub(super) enum Step {
    Say(Said),
    /// To the real server.
    Forward(Forward),
    Play(u32),
    Abort,
}

/// All that is being played, what is to be done now, and what at a later time.
#[derive(Debug, Default)]
pub(super) struct Stage {
    slots: Vec<Option<Playing>>,
    free: Vec<u32>,
    pub(super) ready: VecDeque<Step>,
    timers: BinaryHeap<Reverse<(Duration, u64, u32)>>,
    /// Timers at one moment go off in the order in which they were set.
    serial: u64,
}

impl Stage {
    /// Begins to play after everything that is ready.
    pub(super) fn begin(&mut self, playing: Playing) {
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => {
                self.slots.push(None);
                u32::try_from(self.slots.len() - 1).unwrap_or(NONE)
            }
        };
        if let Some(place) = self.slots.get_mut(slot as usize) {
            *place = Some(playing);
        }
        self.ready.push_back(Step::Play(slot));
    }

    /// Takes what is played in a slot, to look at it; it is put back or it has ended.
    pub(super) fn take(&mut self, slot: u32) -> Option<Playing> {
        self.slots.get_mut(slot as usize)?.take()
    }

    pub(super) fn put_back(&mut self, slot: u32, playing: Playing) {
        if let Some(place) = self.slots.get_mut(slot as usize) {
            *place = Some(playing);
        }
    }

    pub(super) fn look(&mut self, slot: u32) -> Option<&mut Playing> {
        self.slots.get_mut(slot as usize)?.as_mut()
    }

    /// Whoever waits for what is played on a lane is gone.
    pub(super) fn silence(&mut self, lane: Lane) {
        let playing = self.slots.iter_mut().flatten();
        for playing in playing.filter(|playing| playing.lane == lane) {
            playing.silent = true;
            playing.owes = false;
            playing.answered = true;
        }
    }

    /// The slot may be used for something else.
    pub(super) fn release(&mut self, slot: u32) {
        self.free.push(slot);
    }

    pub(super) fn wake_at(&mut self, at: Duration, slot: u32) {
        self.serial += 1;
        self.timers.push(Reverse((at, self.serial, slot)));
    }

    /// Makes ready what was to wait until now.
    pub(super) fn ring(&mut self, now: Duration) {
        while let Some(Reverse((at, _, slot))) = self.timers.peek().copied() {
            if at > now {
                return;
            }
            self.timers.pop();
            self.ready.push_back(Step::Play(slot));
        }
    }

    pub(super) fn next_timer(&self) -> Option<Duration> {
        self.timers.peek().map(|Reverse((at, ..))| *at)
    }

    /// Forgets the timers of what `keep` does not want, and gives their slots.
    pub(super) fn retain_timers(&mut self, keep: impl Fn(&Playing) -> bool) -> Vec<u32> {
        let mut dropped = Vec::new();
        let slots = &self.slots;
        self.timers.retain(|Reverse((_, _, slot))| {
            let playing = slots.get(*slot as usize).and_then(Option::as_ref);
            let kept = playing.is_some_and(&keep);
            if !kept {
                dropped.push(*slot);
            }
            kept
        });
        dropped
    }
}
