//! A recording as a server for the client that started us.
//!
//! One thread reads, asks the core and writes, so that an answer costs no change of threads.
//! The thread that called waits beside it for what no line of the client brings: a moment at
//! which something is due, the end, a signal. It never waits for the client itself, which may
//! neither write nor read.
//!
//! With a real server for what was not recorded there are three threads more, see
//! [`super::upstream`]; what the server says comes in as what the client says does, and is
//! written by whoever brings it.

use super::pipe;
use super::tap::{Plan, Recorded};
use super::upstream::{Ears, Running, Upstream};
use super::watch::Event;
use crate::replay::{Action, Errand, Forward, Replayer, Summary};
#[cfg(feature = "http")]
use crate::transport::http::{self, Alone};
use crate::transport::signals::{self, Signal};
use crate::wire::lane::Lane;
use crate::wire::lines::{Line, Lines};
use std::fs::File;
use std::io;
use std::sync::mpsc;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError, Weak};
use std::thread;
use std::time::{Duration, Instant};

/// The longest line that is read, in bytes.
const LONGEST_LINE: usize = 1 << 30;
/// So much is put together before it is written, in bytes.
const WRITTEN_AT_ONCE: usize = 64 * 1024;
/// For so long a server over HTTP may say nothing that owes an answer to a client that has gone.
#[cfg(feature = "http")]
const SILENCE: Duration = Duration::from_secs(30);
/// After a signal: how long a write that is under way may take.
const PATIENCE: Duration = Duration::from_secs(1);

/// How a session ended.
pub(crate) struct Served {
    /// What came of it; `None` if a write that the client did not take held it up.
    pub(crate) summary: Option<Summary>,
    pub(crate) signal: Option<Signal>,
    /// What a real server ended with and what was kept of it; `None` if it was not needed.
    pub(crate) recorded: Option<Recorded>,
}

/// What is said on standard error while the session runs.
pub(crate) type Notice = Arc<dyn Fn(&str) + Send + Sync>;

/// Why a request has no answer whose server ended.
#[cfg(feature = "http")]
const SILENT: &str = "the real server did not answer for 30 seconds";
const ENDED: &str = "the real server ended before it answered";

/// Serves until the client has left and nothing is due any more, a fault breaks off, or a
/// signal comes. `real` is the server for what was not recorded.
///
/// # Errors
///
/// A stream, a thread or a signal handler is not to be had.
pub(crate) fn serve(core: Replayer, notice: Notice, real: Option<Real>) -> io::Result<Served> {
    let stdout = pipe::stdout()?;
    #[cfg(feature = "http")]
    let mut remote = None;
    let upstream = match real {
        None => Upstream::Over,
        Some(Real::Process(plan)) => Upstream::Waiting(plan),
        #[cfg(feature = "http")]
        Some(Real::Remote(real)) => {
            let alone = Alone::open(*real, &notice)?;
            let server = alone.server();
            remote = Some(alone);
            Upstream::Remote(server)
        }
    };
    let shared = Arc::new_cyclic(|shared| Shared {
        session: Mutex::new(Session {
            core,
            stdout,
            start: Instant::now(),
            notice,
            broken: false,
            upstream,
            heard: Instant::now(),
            shared: Weak::clone(shared),
        }),
        control: Mutex::new(Control::default()),
        changed: Condvar::new(),
    });
    let on_signal = Arc::clone(&shared);
    signals::watch(move |signal| on_signal.control().signal_came(signal, &on_signal.changed))?;
    let reader = Arc::clone(&shared);
    let stdin = pipe::stdin()?;
    thread::Builder::new()
        .name("stdin".to_owned())
        .spawn(move || reader.read(stdin))?;
    #[cfg_attr(
        not(feature = "http"),
        expect(unused_mut, reason = "only a remote server ends here")
    )]
    let mut served = shared.wait();
    #[cfg(feature = "http")]
    if let Some(remote) = remote {
        served.recorded = remote.finish(served.signal);
    }
    Ok(served)
}

/// The server for what was not recorded.
pub(crate) enum Real {
    /// One that is started.
    Process(Box<Plan>),
    /// One over HTTP.
    #[cfg(feature = "http")]
    Remote(Box<http::Real>),
}

struct Shared {
    session: Mutex<Session>,
    control: Mutex<Control>,
    changed: Condvar,
}

/// Held while the core is asked and what it said is written.
struct Session {
    core: Replayer,
    stdout: File,
    start: Instant,
    notice: Notice,
    /// The client does not read any more.
    broken: bool,
    upstream: Upstream,
    /// When a server over HTTP last said something, or was told something.
    heard: Instant,
    /// For the threads of the real server.
    shared: Weak<Shared>,
}

/// What the waiting thread waits for. Never held for long.
#[derive(Default)]
struct Control {
    /// When something is due.
    due: Option<Instant>,
    over: bool,
    signal: Option<Signal>,
    /// The real server, while it runs.
    server: Option<mpsc::Sender<Event>>,
    recorded: Option<Recorded>,
    /// None is started any more.
    ending: bool,
}

impl Control {
    fn signal_came(&mut self, signal: Signal, changed: &Condvar) {
        self.signal.get_or_insert(signal);
        if let Some(server) = &self.server {
            let _ = server.send(Event::Signal(signal));
        }
        changed.notify_all();
    }
}

/// What is left to do when everything that can be said is said.
enum Left {
    Due(Instant),
    /// Until the client says something.
    Nothing,
    Over,
}

impl Shared {
    fn control(&self) -> MutexGuard<'_, Control> {
        self.control.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn session(&self) -> MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn try_session(&self) -> Option<MutexGuard<'_, Session>> {
        match self.session.try_lock() {
            Ok(session) => Some(session),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// The reading thread: until the client has left.
    fn read(&self, mut stdin: File) {
        let mut lines = Lines::new(LONGEST_LINE);
        let mut buffer = vec![0; pipe::BUFFER];
        loop {
            // A stream that fails has ended for us as well.
            let count = pipe::read(&mut stdin, &mut buffer).unwrap_or(0);
            let bytes = buffer.get(..count).unwrap_or_default();
            let mut session = self.session();
            if bytes.is_empty() {
                lines.finish(|line| session.take(&line));
                session.core.close();
            } else {
                lines.push(bytes, |line| session.take(&line));
            }
            let left = session.go_on();
            let over = self.note(&left);
            drop(session);
            if over || bytes.is_empty() {
                return;
            }
        }
    }

    /// The thread that reads what the real server says: nothing at its end.
    fn hear(&self, lines: &mut Lines, bytes: &[u8]) {
        let mut session = self.session();
        if bytes.is_empty() {
            lines.finish(|line| session.relay(&line));
            session.core.server_is_gone(ENDED);
        } else {
            lines.push(bytes, |line| session.relay(&line));
        }
        let left = session.go_on();
        self.note(&left);
    }

    /// The real server has ended, and what it said is saved.
    fn server_is_over(&self, recorded: Recorded) {
        let mut control = self.control();
        control.recorded = Some(recorded);
        control.server = None;
        self.changed.notify_all();
        drop(control);
        let mut session = self.session();
        session.upstream = Upstream::Over;
        session.core.server_is_gone(ENDED);
        let left = session.go_on();
        self.note(&left);
    }

    /// Tells the waiting thread what it is to wait for, and whether that is the end. The session
    /// is held meanwhile, so that what was found later is not told before.
    fn note(&self, left: &Left) -> bool {
        let mut control = self.control();
        let due = match left {
            Left::Due(due) => Some(*due),
            Left::Nothing | Left::Over => None,
        };
        let over = matches!(left, Left::Over);
        if control.due != due || over {
            control.due = due;
            control.over |= over;
            self.changed.notify_all();
        }
        over
    }

    /// The thread that called: until it is over.
    fn wait(&self) -> Served {
        let mut control = self.control();
        loop {
            if control.over || control.signal.is_some() {
                return self.end(control);
            }
            let Some(due) = control.due else {
                control = self
                    .changed
                    .wait(control)
                    .unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = due.saturating_duration_since(Instant::now());
            if !left.is_zero() {
                let waited = self.changed.wait_timeout(control, left);
                control = waited.unwrap_or_else(PoisonError::into_inner).0;
                continue;
            }
            control.due = None;
            drop(control);
            // Whoever holds the session will say what is due, and note what comes after.
            if let Some(mut session) = self.try_session() {
                let left = session.go_on();
                self.note(&left);
            }
            control = self.control();
        }
    }

    /// Waits for a real server, which was told.
    fn end(&self, mut control: MutexGuard<'_, Control>) -> Served {
        control.ending = true;
        while control.server.is_some() {
            let waited = self.changed.wait(control);
            control = waited.unwrap_or_else(PoisonError::into_inner);
        }
        let (signal, recorded) = (control.signal, control.recorded.take());
        drop(control);
        Served {
            summary: self.summary(),
            signal,
            recorded,
        }
    }

    fn summary(&self) -> Option<Summary> {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(mut session) = self.try_session() {
                session.tell();
                return Some(session.core.finish());
            }
            if Instant::now() > until {
                return None;
            }
            let control = self.control();
            drop(self.changed.wait_timeout(control, Duration::from_millis(5)));
        }
    }
}

#[cfg(feature = "http")]
impl http::Ears for Shared {
    fn tell(&self, what: &mut dyn FnMut(&mut Replayer)) {
        let mut session = self.session();
        session.heard = Instant::now();
        what(&mut session.core);
        let left = session.go_on();
        self.note(&left);
    }

    fn is_behind(&self, _: Lane) -> bool {
        // Whoever brings something writes it.
        false
    }
}

impl Session {
    fn take(&mut self, line: &Line<'_>) {
        let now = self.start.elapsed();
        match line {
            Line::Whole(bytes) => self.core.receive(now, Lane::Stdio, bytes),
            Line::TooLong { length, .. } => self.core.receive_too_long(Lane::Stdio, *length),
        }
    }

    /// Says everything that is due.
    fn go_on(&mut self) -> Left {
        let mut waiting = Vec::new();
        let left = loop {
            match self.core.poll(self.start.elapsed()) {
                Action::Send { mut bytes, .. } => {
                    bytes.push(b'\n');
                    if waiting.is_empty() {
                        waiting = bytes;
                    } else {
                        waiting.extend_from_slice(&bytes);
                    }
                    if waiting.len() >= WRITTEN_AT_ONCE {
                        self.write(&waiting);
                        waiting.clear();
                    }
                }
                Action::Forward(forward) => self.forward(forward),
                // Of HTTP alone.
                Action::Respond { .. } | Action::Begin { .. } | Action::End { .. } => {}
                Action::Wait(at) => break Left::Due(self.start + at),
                Action::Idle if self.core.is_closed() => break self.client_ended(),
                Action::Idle => break Left::Nothing,
                Action::Abort => break Left::Over,
            }
        };
        self.write(&waiting);
        self.tell();
        if let (Upstream::Running(server), true) = (&self.upstream, self.broken) {
            server.client_left();
        }
        if self.broken { Left::Over } else { left }
    }

    /// Nothing is left to say and the client has ended: a real server may still answer.
    fn client_ended(&mut self) -> Left {
        match &mut self.upstream {
            Upstream::Running(server) => {
                server.client_ended(self.core.held_back());
                Left::Nothing
            }
            #[cfg(feature = "http")]
            Upstream::Remote(_) => self.wait_for_remote(Instant::now()),
            Upstream::Waiting(_) | Upstream::Over => Left::Over,
        }
    }

    /// Until when a server over HTTP is waited for. One that was silent for too long is given up, and
    /// what the client waited for is unmatched.
    #[cfg(feature = "http")]
    fn wait_for_remote(&mut self, now: Instant) -> Left {
        if !self.core.server_owes() {
            return Left::Over;
        }
        let end = self.heard + SILENCE;
        if now < end {
            return Left::Due(end);
        }
        self.core.server_is_gone(SILENT);
        Left::Due(now)
    }

    /// Takes a line of the real server.
    fn relay(&mut self, line: &Line<'_>) {
        match line {
            Line::Whole(bytes) => {
                let kept = self.core.relay(0, Lane::Stdio, bytes);
                if let (true, Upstream::Running(server)) = (kept, &self.upstream) {
                    server.keep(bytes);
                }
            }
            Line::TooLong { length, .. } => (self.notice)(&format!(
                "the real server said a line of {length} bytes, which was not read"
            )),
        }
    }

    /// Says a line to the real server, which is started for it.
    fn forward(&mut self, forward: Forward) {
        self.heard = Instant::now();
        match std::mem::replace(&mut self.upstream, Upstream::Over) {
            Upstream::Waiting(plan) => self.start_server(*plan),
            other => self.upstream = other,
        }
        match &self.upstream {
            // It says all in one stream.
            Upstream::Running(_) if forward.errand == Errand::Listen => {}
            Upstream::Running(server) => server.say(forward.bytes, forward.kept),
            #[cfg(feature = "http")]
            Upstream::Remote(server) => {
                if let Some(shared) = self.shared.upgrade() {
                    let headers = http::headers_of(&forward.bytes);
                    let ears: Arc<dyn http::Ears> = shared;
                    server.say(forward, Some(headers), &ears);
                }
            }
            Upstream::Waiting(_) | Upstream::Over => {}
        }
    }

    fn start_server(&mut self, plan: Plan) {
        let Some(shared) = self.shared.upgrade() else {
            return;
        };
        let (events, received) = mpsc::channel();
        let mut control = shared.control();
        if control.ending || control.signal.is_some() {
            return self.core.server_is_gone("the session is at its end");
        }
        control.server = Some(events.clone());
        drop(control);
        let (hearing, ending) = (Arc::clone(&shared), Arc::clone(&shared));
        let mut lines = Lines::new(LONGEST_LINE);
        let ears = Ears {
            hears: move |bytes: &[u8]| hearing.hear(&mut lines, bytes),
            over: move |recorded| ending.server_is_over(recorded),
        };
        match Running::start(plan, self.start, (events, received), ears) {
            Ok(server) => self.upstream = Upstream::Running(server),
            Err(error) => {
                shared.control().server = None;
                shared.changed.notify_all();
                self.core.server_is_gone(&error.to_string());
            }
        }
    }

    /// A client that stopped reading has left.
    fn write(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() && !self.broken {
            self.broken = pipe::write(&mut self.stdout, bytes).is_err();
        }
    }

    fn tell(&mut self) {
        if self.core.has_notices() {
            for notice in self.core.take_notices() {
                (self.notice)(&notice);
            }
        }
    }
}

#[cfg(all(test, feature = "http"))]
mod tests {
    use super::*;
    use crate::cassette::Cassette;
    use crate::replay::Options;

    #[test]
    fn a_server_that_stays_silent_leaves_an_unmatched_request() {
        let cassette = r#"{"format_version": 3, "transport": "http", "messages": []}"#;
        let cassette = Cassette::parse("test", cassette.into()).expect("a cassette");
        let options = Options {
            new_episodes: true,
            ..Options::default()
        };
        let core = Replayer::new(Arc::new(cassette), options).expect("no pointer");
        let long_ago = Instant::now().checked_sub(2 * SILENCE);
        let mut session = Session {
            core,
            stdout: tempfile::tempfile().expect("a file"),
            start: Instant::now(),
            notice: Arc::new(|_: &str| ()),
            broken: false,
            upstream: Upstream::Over,
            heard: long_ago.expect("a moment"),
            shared: Weak::new(),
        };
        let call = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;
        session.core.receive(Duration::ZERO, Lane::Stdio, call);
        session.core.close();
        session.go_on();
        // It was told something just now.
        let end = session.heard + SILENCE;
        assert!(end > Instant::now());
        let waits = session.wait_for_remote(end - Duration::from_millis(1));
        assert!(matches!(waits, Left::Due(due) if due == end));
        let gives_up = session.wait_for_remote(end);
        assert!(matches!(gives_up, Left::Due(due) if due == end));
        assert!(matches!(session.wait_for_remote(end), Left::Over));
        let summary = session.core.finish();
        assert_eq!(summary.misses.len(), 1, "{summary:?}");
    }
}
