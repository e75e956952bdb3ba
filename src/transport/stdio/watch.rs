//! When a session is over: what the client, the server, signals and the recorder do, and the time
//! that each of them gets.

use super::child::Group;
use super::tail::Tail;
use super::tap::{Recorded, Tap};
use crate::record::{NotSaved, Recording};
use crate::transport::signals::Signal;
use std::io;
use std::process::ExitStatus;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// A server that has nothing left to answer gets so long to end by itself. Clients give us two
/// seconds.
const GRACE: Duration = Duration::from_millis(1500);
/// From the request to end until it is made to end.
const TO_KILL: Duration = Duration::from_secs(1);
/// The same if somebody asked us to end, who will not wait long either.
const TO_KILL_ON_SIGNAL: Duration = Duration::from_millis(500);
/// What left the process group may hold its pipes for ever.
const TO_GIVE_UP: Duration = Duration::from_millis(500);

/// The last of what a server that has ended said on its standard error is here by then.
const TO_SETTLE: Duration = Duration::from_millis(200);

/// Who ended a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The server, with this code, or 128 and the number of the signal that ended it.
    Server(u8),
    /// We, after the client had left.
    Client,
    /// Somebody who sent us a signal.
    Signal(Signal),
}

/// What happens in a session, as far as it matters for its end.
pub(super) enum Event {
    /// The client sends no more.
    ClientEnded,
    /// The client reads no more.
    ClientLeft,
    /// The server sends no more.
    ServerEnded,
    Exited(io::Result<ExitStatus>),
    Signal(Signal),
    /// The recorder has seen all there was: so many requests wait for an answer.
    Caught(usize),
    RecorderFailed,
}

/// What is done when the time has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// The client has gone, and the server was silent for too long.
    TimeOut,
    Terminate,
    Kill,
    GiveUp,
}

/// Decides when a session is over.
pub(super) struct Watch<'a> {
    group: Group,
    timeout: Duration,
    tail: Tail,
    tap: &'a Tap,
    /// The client sends no more, or reads no more.
    client_ended: bool,
    /// It reads no more, so that nothing is to be waited for.
    client_left: bool,
    server_ended: bool,
    exited: Option<ExitStatus>,
    signal: Option<Signal>,
    recorder_failed: bool,
    /// Whether we asked the server to end.
    ended_by_us: bool,
    /// What the recorder last said.
    unanswered: Option<usize>,
    next: Option<(Instant, Step)>,
}

impl<'a> Watch<'a> {
    pub(super) fn new(tap: &'a Tap, group: Group, tail: Tail, timeout: Duration) -> Watch<'a> {
        Watch {
            group,
            timeout,
            tail,
            tap,
            client_ended: false,
            client_left: false,
            server_ended: false,
            exited: None,
            signal: None,
            recorder_failed: false,
            ended_by_us: false,
            unanswered: None,
            next: None,
        }
    }

    /// Returns when the session is over.
    pub(super) fn run(&mut self, events: &Receiver<Event>) {
        while !(self.server_ended && self.exited.is_some()) {
            let event = match self.next {
                None => events.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some((at, _)) => events.recv_timeout(at.saturating_duration_since(Instant::now())),
            };
            match event {
                Ok(event) => self.take(event),
                Err(RecvTimeoutError::Timeout) => {
                    if self.step() == Step::GiveUp {
                        return;
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::ClientEnded => {
                self.client_ended = true;
                if self.recorder_failed {
                    self.tap.close_server_input();
                    self.at_most(GRACE, Step::Terminate);
                }
                self.tap.draining.store(true, Ordering::SeqCst);
                self.tap.queue.hurry();
            }
            Event::ClientLeft => {
                self.client_ended = true;
                self.client_left = true;
                self.tap.close_server_input();
                self.at_most(GRACE, Step::Terminate);
            }
            Event::ServerEnded => {
                self.server_ended = true;
                self.at_most(GRACE, Step::Terminate);
            }
            Event::Exited(status) => {
                let status = status.unwrap_or_default();
                if !self.ended_by_us && self.signal.is_none() {
                    self.tell_of_exit(status);
                }
                self.exited = Some(status);
                // What it started may hold its output open.
                self.at_most(GRACE, Step::Terminate);
            }
            Event::Signal(signal) => {
                if self.signal.replace(signal).is_none() {
                    self.terminate(TO_KILL_ON_SIGNAL);
                }
            }
            Event::Caught(unanswered) => self.caught(unanswered),
            Event::RecorderFailed => {
                // Nobody knows any more what is unanswered.
                self.recorder_failed = true;
                if self.client_ended {
                    self.tap.close_server_input();
                    self.at_most(GRACE, Step::Terminate);
                }
                self.say("warning: the recorder failed; traffic goes on and is not recorded");
            }
        }
    }

    /// The client has ended, and all that came is recorded.
    fn caught(&mut self, unanswered: usize) {
        let waits = matches!(self.next, None | Some((_, Step::TimeOut | Step::Terminate)));
        if self.exited.is_some() || self.server_ended || self.client_left || !waits {
            return;
        }
        let before = self.unanswered.replace(unanswered);
        if unanswered > 0 {
            self.next = Some((Instant::now() + self.timeout, Step::TimeOut));
        } else if before != Some(0) {
            self.tap.close_server_input();
            self.next = Some((Instant::now() + GRACE, Step::Terminate));
        }
    }

    /// Plans a step unless something is planned that comes sooner or goes further.
    fn at_most(&mut self, time: Duration, step: Step) {
        let at = Instant::now() + time;
        let plan = match self.next {
            Some((sooner, Step::TimeOut | Step::Terminate)) => sooner.min(at),
            Some(_) => return,
            None => at,
        };
        self.next = Some((plan, step));
    }

    /// Does what is planned for now.
    fn step(&mut self) -> Step {
        let step = self.next.map_or(Step::GiveUp, |(_, step)| step);
        match step {
            Step::TimeOut => {
                let (seconds, waiting) = (self.timeout.as_secs(), self.unanswered.unwrap_or(0));
                self.say(&format!(
                    "warning: no message came for {seconds} s and {waiting} of the client's requests \
                     are unanswered; the server is ended (--timeout SECONDS to wait longer)"
                ));
                // A server that reads all of its input before it says anything speaks now.
                self.tap.close_server_input();
                self.next = Some((Instant::now() + GRACE, Step::Terminate));
            }
            Step::Terminate => {
                if self.server_ended && self.exited.is_none() && !self.client_ended {
                    self.say(
                        "the server closed its output while the client was connected, and runs on; \
                         it is ended",
                    );
                }
                self.terminate(TO_KILL);
            }
            Step::Kill => {
                self.group.kill();
                self.next = Some((Instant::now() + TO_GIVE_UP, Step::GiveUp));
            }
            Step::GiveUp => {}
        }
        step
    }

    fn terminate(&mut self, to_kill: Duration) {
        self.ended_by_us |= self.exited.is_none();
        if matches!(self.next, None | Some((_, Step::TimeOut | Step::Terminate))) {
            self.group.terminate();
            self.next = Some((Instant::now() + to_kill, Step::Kill));
        } else {
            // It was asked already, and somebody is in a hurry.
            self.group.kill();
            self.next = Some((Instant::now() + TO_GIVE_UP, Step::GiveUp));
        }
    }

    /// Says of a server that it ended by itself and should not have.
    fn tell_of_exit(&self, status: ExitStatus) {
        if status.success() && self.client_ended {
            return;
        }
        let how = match signal_of(status) {
            Some(signal) => format!("was ended by signal {signal}"),
            None => format!("ended with exit code {}", status.code().unwrap_or_default()),
        };
        let when = match self.client_ended {
            true => "",
            false => " while the client was connected",
        };
        let last = match status.success() {
            true => Vec::new(),
            false => {
                self.tail.settle(TO_SETTLE);
                self.tail.lines()
            }
        };
        let colon = if last.is_empty() {
            ""
        } else {
            "; its last lines:"
        };
        self.say(&format!("the server {how}{when}{colon}"));
        for line in last {
            let cut: String = line.chars().take(300).collect();
            self.say(&format!("  {cut}"));
        }
    }

    /// Stops recording and saves what there is.
    pub(super) fn conclude(&self, recorder: JoinHandle<Recording>) -> Recorded {
        self.tail.settle(TO_SETTLE);
        let end = self.end();
        let interrupted = matches!(end, End::Signal(_)) && !self.client_ended;
        if interrupted {
            // Nobody waits long for us now, and nothing may be left behind.
            self.group.kill();
        }
        self.tap.queue.close();
        let saved = match recorder.join() {
            Ok(recording) => {
                let at = self.tap.began.elapsed();
                recording.finish(at, interrupted, &*self.tap.notice)
            }
            Err(_) => Err(NotSaved::recorder_failed()),
        };
        Recorded { end, saved }
    }

    fn say(&self, text: &str) {
        (self.tap.notice)(text);
    }

    fn end(&self) -> End {
        if let Some(signal) = self.signal {
            return End::Signal(signal);
        }
        match self.exited {
            Some(status) if !self.ended_by_us => End::Server(code_of(status)),
            _ => End::Client,
        }
    }

    /// Ends what the server started and left behind.
    pub(super) fn sweep(&self) {
        let until = Instant::now() + TO_KILL_ON_SIGNAL;
        if self.group.is_alive() && !matches!(self.next, Some((_, Step::Kill | Step::GiveUp))) {
            self.group.terminate();
        }
        while self.group.is_alive() && Instant::now() < until {
            thread::sleep(Duration::from_millis(10));
        }
        self.group.kill();
    }
}

fn code_of(status: ExitStatus) -> u8 {
    match signal_of(status) {
        Some(signal) => u8::try_from(128 + signal).unwrap_or(u8::MAX),
        // Windows has codes of 32 bits; what does not fit is a failure of some kind.
        None => status
            .code()
            .map_or(1, |code| u8::try_from(code).unwrap_or(u8::MAX)),
    }
}

#[cfg(unix)]
fn signal_of(status: ExitStatus) -> Option<i32> {
    use std::os::unix::process::ExitStatusExt as _;
    status.signal()
}

#[cfg(not(unix))]
fn signal_of(_status: ExitStatus) -> Option<i32> {
    None
}
