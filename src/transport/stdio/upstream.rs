//! The real server of a session that adds to its recording: the server and the recorder of
//! `record`, with the replayer in the place of the client.

use super::buffers::Bytes;
use super::child::StartError;
use super::pipe::BUFFER;
use super::tap::{self, Plan, Recorded, Started, Tap};
use super::watch::{Event, Watch};
use crate::cassette::Sender;
#[cfg(feature = "http")]
use crate::transport::http::Remote;
#[cfg(feature = "http")]
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::time::Instant;

/// How far it is with the real server.
pub(super) enum Upstream {
    /// Nothing was asked of it.
    Waiting(Box<Plan>),
    Running(Running),
    /// It is reached over HTTP.
    #[cfg(feature = "http")]
    Remote(Arc<Remote>),
    /// There is none, or none any more.
    Over,
}

/// A real server that runs.
pub(super) struct Running {
    tap: Tap,
    /// Lines for the server, which a thread writes: whoever says something here must not wait
    /// for a server that waits for us to take what it says. Taken out when nothing more comes.
    lines: Option<mpsc::Sender<Vec<u8>>>,
    said_end: bool,
}

/// What is told of a server that runs.
pub(super) struct Ears<H, O> {
    /// What it says, as it comes, and nothing at its end.
    pub(super) hears: H,
    /// How it ended, and what was saved.
    pub(super) over: O,
}

impl Running {
    /// Starts the server. Events of the session go to the other end of `received` too.
    pub(super) fn start<H, O>(
        plan: Plan,
        began: Instant,
        (events, received): (mpsc::Sender<Event>, mpsc::Receiver<Event>),
        ears: Ears<H, O>,
    ) -> Result<Running, StartError>
    where
        H: FnMut(&[u8]) + Send + 'static,
        O: FnOnce(Recorded) + Send + 'static,
    {
        let Ears { mut hears, over } = ears;
        let timeout = plan.timeout;
        let Started {
            tap,
            mut stdout,
            group,
            tail,
            recorder,
        } = tap::start(plan, began, events)?;
        let (lines, to_server) = mpsc::channel::<Vec<u8>>();
        let own = tap.clone();
        tap::spawn("to-server", move || {
            for line in to_server {
                own.tell_server(&line);
            }
            // Only now is nothing on its way: the end may have been said before.
            own.held_back.store(0, Ordering::SeqCst);
            own.client_ended();
        })?;
        let own = tap.clone();
        tap::spawn("from-server", move || {
            let mut buffer = vec![0; BUFFER];
            while let Some(count) = tap::heard(&mut stdout, &mut buffer) {
                hears(buffer.get(..count).unwrap_or_default());
            }
            hears(&[]);
            let _ = own.events.send(Event::ServerEnded);
        })?;
        let own = tap.clone();
        tap::spawn("server-watch", move || {
            let mut watch = Watch::new(&own, group, tail, timeout);
            watch.run(&received);
            let recorded = watch.conclude(recorder);
            watch.sweep();
            over(recorded);
        })?;
        Ok(Running {
            tap,
            lines: Some(lines),
            said_end: false,
        })
    }

    /// Says a line to the server; what is `kept` is recorded.
    pub(super) fn say(&self, mut line: Vec<u8>, kept: bool) {
        line.push(b'\n');
        if kept {
            self.tap.copy(Sender::Client, Bytes::whole(line.clone()));
        }
        if let Some(lines) = &self.lines {
            // The thread at the other end takes all there is.
            let _ = lines.send(line);
        }
    }

    /// Records a line that the server said.
    pub(super) fn keep(&self, line: &[u8]) {
        let line = [line, b"\n"].concat();
        self.tap.copy(Sender::Server, Bytes::whole(line));
    }

    /// The client says nothing more. What is held back is said before the server is told.
    pub(super) fn client_ended(&mut self, held_back: usize) {
        if held_back == 0 {
            self.lines = None;
        } else if !std::mem::replace(&mut self.said_end, true) {
            self.tap.held_back.store(held_back, Ordering::SeqCst);
            let _ = self.tap.events.send(Event::ClientEnded);
        }
    }

    /// The client reads nothing more.
    pub(super) fn client_left(&self) {
        let _ = self.tap.events.send(Event::ClientLeft);
    }
}
