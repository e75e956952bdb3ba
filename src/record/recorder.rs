//! The core: bytes with their time and side in, text of a cassette out.

use super::exchange::{Exchanges, Step};
use super::log::{First, Log, Origin};
use super::probe::Probe;
use crate::cassette::write::{Ending, Unclosed};
use crate::cassette::{Sender, Transport};
use crate::redact::Redactor;
use crate::wire::lane::Lane;
use crate::wire::lines::Lines;
use std::collections::HashMap;
use std::time::Duration;

/// What a recording begins with.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) transport: Transport,
    /// RFC 3339, UTC.
    pub(crate) recorded_at: String,
    /// The address of a server over HTTP, as it was given.
    pub(crate) server_url: Option<String>,
    /// What scrubs the messages.
    pub(crate) redactor: Redactor,
    /// In bytes: a longer message is told by its length and hash.
    pub(crate) max_message: usize,
    /// What it goes on from, if that is not nothing. Head and manifest stay as they are.
    pub(crate) earlier: Option<Unclosed>,
}

/// Turns what passed into the text of a cassette.
#[derive(Debug)]
pub(crate) struct Recorder {
    streams: HashMap<Sender, Lines>,
    exchanges: Exchanges,
    max_message: usize,
    /// The numbers of the first exchange, where a transport begins with 0.
    first_exchange: u32,
    /// The text before the first message, if it is an earlier recording.
    begin: Option<String>,
    ending: Ending,
    log: Log,
}

impl Recorder {
    pub(crate) fn new(mut options: Options) -> Recorder {
        let max_message = options.max_message;
        let earlier = options.earlier.take();
        let follows = earlier.is_some();
        let first = earlier.as_ref().map_or(First::default(), First::after);
        let (begin, ending) = earlier.map_or((None, Ending::default()), |earlier| {
            (Some(earlier.begin), earlier.ending)
        });
        Recorder {
            streams: HashMap::new(),
            exchanges: Exchanges::new(max_message, first.session, follows),
            max_message,
            first_exchange: first.exchange,
            begin,
            ending,
            log: Log::new(options, first, follows),
        }
    }

    /// Bodies that have not ended are kept up to so many bytes in all.
    #[cfg(test)]
    pub(super) fn bound(&mut self, room: usize) {
        self.exchanges.bound(room);
    }

    /// Gives what the client asked in a probe just before. It becomes the beginning of this
    /// recording if the client needs it: if it has a modern session and does not ask again.
    pub(super) fn offer(&mut self, probe: Probe) {
        self.log.offer(probe);
    }

    /// Whether a probe has become the beginning.
    pub(super) fn begins_with_probe(&self) -> bool {
        self.log.begins_with_probe()
    }

    /// Takes bytes that `sender` sent on `lane`, `at` this time after the recording began. Over
    /// HTTP they are those of a body whose request was told by [`Recorder::step`].
    pub(crate) fn observe(&mut self, at: Duration, sender: Sender, lane: Lane, bytes: &[u8]) {
        let log = &mut self.log;
        let number = match lane {
            Lane::Stdio => {
                let longest = self.max_message;
                let lines = self.streams.entry(sender);
                let lines = lines.or_insert_with(|| Lines::new(longest));
                lines.push(bytes, |line| log.line(Origin { at, sender, lane }, &line));
                return;
            }
            Lane::Post(number) | Lane::Get(number) => self.first_exchange.saturating_add(number),
        };
        let lane = match lane {
            Lane::Get(_) => Lane::Get(number),
            _ => Lane::Post(number),
        };
        let origin = Origin { at, sender, lane };
        self.exchanges.bytes(log, origin, number, bytes);
    }

    /// Takes what happened to the exchange of this number besides bytes of its bodies.
    pub(crate) fn step(&mut self, at: Duration, number: u32, step: Step) {
        let number = self.first_exchange.saturating_add(number);
        self.exchanges.step(&mut self.log, at, number, step);
    }

    /// Nothing more will pass: what did not end in a line feed is a message too.
    pub(crate) fn finish(&mut self, at: Duration) {
        let mut streams: Vec<_> = self.streams.drain().collect();
        streams.sort_unstable_by_key(|(sender, _)| *sender == Sender::Server);
        for (sender, mut lines) in streams {
            let log = &mut self.log;
            let lane = Lane::Stdio;
            lines.finish(|line| log.line(Origin { at, sender, lane }, &line));
        }
        self.exchanges.finish(&mut self.log, at);
    }

    /// The text of the messages since this was last asked, as it follows on those before.
    pub(crate) fn take_messages(&mut self) -> String {
        self.log.take_text()
    }

    /// How long that text is by now, in bytes.
    pub(crate) fn pending(&self) -> usize {
        self.log.pending()
    }

    /// The text of the file up to the first message that was observed.
    pub(crate) fn head(&self) -> String {
        match &self.begin {
            Some(begin) => begin.clone(),
            None => self.log.head(),
        }
    }

    /// How the file ends after the messages while there may be more of them.
    pub(crate) fn ending(&self) -> Ending {
        self.ending.clone()
    }

    /// How it ends when all is over: with the rows about HTTP.
    pub(crate) fn last_ending(&self) -> Ending {
        let mut ending = self.ending.clone();
        ending.add_exchanges(&self.exchanges.rows());
        ending
    }

    /// Whether the head has changed since this was last asked.
    pub(crate) fn head_has_changed(&mut self) -> bool {
        self.log.head_has_changed()
    }

    /// How many messages there are so far.
    pub(crate) fn messages(&self) -> u64 {
        u64::from(self.log.messages())
    }

    /// How many sessions over HTTP began.
    pub(crate) fn sessions(&self) -> u32 {
        self.exchanges.sessions()
    }

    /// How many requests of the client still wait for their answer.
    pub(crate) fn unanswered(&self) -> usize {
        self.log.unanswered()
    }

    /// Whether the client did nothing but ask who the server is: some clients start a server
    /// for that alone, and once more for the session.
    pub(crate) fn is_only_a_probe(&self) -> bool {
        self.log.is_only_a_probe()
    }

    /// What the user should know of since this was last asked.
    pub(crate) fn take_notices(&mut self) -> Vec<String> {
        self.log.take_notices()
    }
}
