//! What a recording answers, and when: the whole decision of `serve`, for every transport.
//!
//! A [`Replayer`] takes what the client says and is asked what to do next. It never sleeps, reads
//! no clock and knows no transport: time comes in as an argument, and a stream is a [`Lane`].
//! [`plan`] arranges the recording once, a playlist for each thing that the client said;
//! [`playing`] plays playlists, each on its own, so that no answer waits for another request.

mod answers;
mod arrange;
mod batch;
pub(crate) mod faults;
mod forward;
mod greeting;
pub(crate) mod http;
#[cfg(any(test, fuzzing))]
pub(crate) mod laws;
#[cfg(any(test, fuzzing))]
pub(crate) mod laws_http;
mod plan;
mod playing;
mod raw;
mod render;
mod replayer;
mod requests;
mod session;
#[cfg(test)]
mod tests;

pub(crate) use forward::{Errand, Forward};
pub(crate) use replayer::Replayer;

use crate::matching::{OnExhausted, Ordering};
use crate::redact::Redactor;
use crate::wire::lane::Lane;
use std::time::Duration;

/// How a recording is replayed.
#[derive(Debug, Default)]
pub(crate) struct Options {
    pub(crate) ordering: Ordering,
    pub(crate) on_exhausted: OnExhausted,
    /// JSON pointers to parameters that do not count when requests are compared.
    pub(crate) ignored: Vec<String>,
    /// Members of `_meta` that do.
    pub(crate) meta: Vec<String>,
    /// Answer `initialize` with the protocol version that the client asks for.
    pub(crate) rewrite_version: bool,
    /// Without one, everything is said at once.
    pub(crate) pace: Option<Pace>,
    pub(crate) faults: faults::Overlay,
    /// The recording's own rules, if it was redacted.
    pub(crate) redactor: Option<Redactor>,
    /// There is a real server for what was not recorded.
    pub(crate) new_episodes: bool,
}

/// Recorded gaps between messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// A gap is multiplied by this.
    pub(crate) scale: f64,
    /// No gap is longer.
    pub(crate) cap: Option<Duration>,
}

impl Pace {
    /// The gap to keep for a recorded one; of clocks that went backwards it is 0.
    fn gap(&self, recorded_ms: i64) -> Duration {
        let recorded = Duration::from_millis(u64::try_from(recorded_ms).unwrap_or(0));
        let scaled = recorded.as_secs_f64() * self.scale;
        // A gap of centuries is one that never ends.
        let scaled = Duration::try_from_secs_f64(scaled).unwrap_or(Duration::from_secs(1 << 40));
        self.cap.map_or(scaled, |cap| scaled.min(cap))
    }
}

/// What the transport is to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Say this: one line without its end, or over HTTP the next bytes of a body.
    Send { lane: Lane, bytes: Vec<u8> },
    /// Say this to the real server, which is started for it if it does not run.
    Forward(Forward),
    /// Answer a request over HTTP with this response, which is all of it.
    Respond {
        lane: Lane,
        head: http::ResponseHead,
        body: Vec<u8>,
    },
    /// Begin the response to a request over HTTP; what is sent on the lane is its body.
    Begin {
        lane: Lane,
        head: http::ResponseHead,
    },
    /// End a response that was begun. One that is cut has its connection broken off.
    End { lane: Lane, cut: bool },
    /// Break the connection off and stop.
    Abort,
    /// Nothing to do before this moment, unless the client says something.
    Wait(Duration),
    /// Nothing to do until the client says something.
    Idle,
}

/// How far it is, for whoever watches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// How often a client began one.
    pub(crate) sessions: u32,
    /// What clients said, and what they were told.
    pub(crate) messages: u64,
    pub(crate) misses: usize,
}

/// What came of a session, for the report and the exit code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    /// `METHOD params=…` of each request without an answer.
    pub(crate) misses: Vec<String>,
    /// The same with what was nearest.
    pub(crate) explained: Vec<String>,
    /// The faults that never fired.
    pub(crate) unused_faults: Vec<String>,
    /// Requests of the server that the client never answered.
    pub(crate) pending_server_requests: Vec<String>,
    /// Answers that were not given because of that.
    pub(crate) dropped: Vec<String>,
    /// Recorded requests that nobody made.
    pub(crate) unused_interactions: usize,
}
