//! The tap: a client on our standard streams, a server as our child, and a recorder that gets
//! copies of what passes.
//!
//! Two threads carry the bytes, a third one records, and [`Watch`] decides when the session is
//! over. A copy is queued before its original is passed on, because the answer to a request may
//! be here before the thread that passed it on runs again, and what is recorded must not be
//! the other way round.

use super::child::{self, Group, Server, StartError};
use super::pipe::{self, BUFFER};
use super::queue::Queue;
use super::tail::Tail;
use crate::cassette::Sender;
use crate::record::{NotSaved, Recording, Saved};
use crate::transport::signals::{self, Signal};
use crate::transport::stderr::Stderr;
use crate::wire::lane::Lane;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::process::{ChildStdin, ChildStdout, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender as Events};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// So much may wait for the recorder, in bytes.
const QUEUE: usize = 256 << 20;
/// The recorder looks for more this long after it began with the last batch, so that a busy
/// session does not wake it for each message.
const TICK: Duration = Duration::from_millis(25);
/// A server that has nothing left to answer gets so long to end by itself. Clients give us two
/// seconds.
const GRACE: Duration = Duration::from_millis(1500);
/// From the request to end until it is made to end.
const TO_KILL: Duration = Duration::from_secs(1);
/// The same if somebody asked us to end, who will not wait long either.
const TO_KILL_ON_SIGNAL: Duration = Duration::from_millis(500);
/// What left the process group may hold its pipes for ever.
const TO_GIVE_UP: Duration = Duration::from_millis(500);

/// What to record.
pub(crate) struct Plan {
    /// The server: a program and its arguments.
    pub(crate) command: Vec<OsString>,
    /// How long a server may be silent that has something to answer when the client has gone.
    pub(crate) timeout: Duration,
    pub(crate) recording: Recording,
    /// Where a notice goes.
    pub(crate) notice: Arc<dyn Fn(&str) + Send + Sync>,
    pub(crate) stderr: Stderr,
}

/// How a session ended, and what was kept of it.
pub(crate) struct Recorded {
    pub(crate) end: End,
    pub(crate) saved: Result<Saved, NotSaved>,
}

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
enum Event {
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

/// Runs the server, passes everything on, and records it.
///
/// # Errors
///
/// The server could not be started; nothing was recorded.
pub(crate) fn record(plan: Plan) -> Result<Recorded, StartError> {
    let Plan {
        command,
        timeout,
        recording,
        notice,
        stderr,
    } = plan;
    let (events, received) = mpsc::channel();
    let to = events.clone();
    signals::watch(move |signal| {
        // Nobody listens any more when the session is over.
        let _ = to.send(Event::Signal(signal));
    })?;
    let (stdin, stdout) = (pipe::stdin()?, pipe::stdout()?);
    let to = events.clone();
    let server = child::start(&command, move |status| {
        let _ = to.send(Event::Exited(status));
    })?;
    let Server {
        stdin: server_in,
        stdout: server_out,
        stderr: server_err,
        group,
    } = server;
    let tail = Tail::follow(server_err, stderr)?;
    let tap = Tap {
        began: Instant::now(),
        queue: Arc::new(Queue::new(QUEUE)),
        events,
        server_in: Arc::new(Mutex::new(Some(server_in))),
        notice: Arc::clone(&notice),
    };
    let draining = Arc::new(AtomicBool::new(false));
    let recorder = tap.spawn_recorder(recording, &draining)?;
    tap.spawn_from_client(stdin)?;
    tap.spawn_from_server(server_out, stdout)?;
    let mut watch = Watch {
        group,
        timeout,
        notice: &*notice,
        tail,
        tap: &tap,
        draining: &draining,
        client_ended: false,
        server_ended: false,
        exited: None,
        signal: None,
        ended_by_us: false,
        unanswered: None,
        next: None,
    };
    watch.run(&received);
    let end = watch.end();
    tap.queue.close();
    let interrupted = matches!(end, End::Signal(_)) && !watch.client_ended;
    if interrupted {
        // Nobody waits long for us now, and nothing may be left behind.
        watch.group.kill();
    }
    let saved = match recorder.join() {
        Ok(recording) => save(recording, tap.began.elapsed(), interrupted, &*notice),
        Err(_) => Err(NotSaved::recorder_failed()),
    };
    watch.sweep();
    Ok(Recorded { end, saved })
}

fn save(
    mut recording: Recording,
    at: Duration,
    interrupted: bool,
    notice: &dyn Fn(&str),
) -> Result<Saved, NotSaved> {
    for text in recording.take_notices() {
        notice(&text);
    }
    recording.finish(at, interrupted)
}

/// What the threads share.
struct Tap {
    began: Instant,
    queue: Arc<Queue>,
    events: Events<Event>,
    /// Taken out to close it.
    server_in: Arc<Mutex<Option<ChildStdin>>>,
    notice: Arc<dyn Fn(&str) + Send + Sync>,
}

impl Tap {
    fn spawn_from_client(&self, mut stdin: File) -> io::Result<()> {
        let (began, queue, events) = (self.began, Arc::clone(&self.queue), self.events.clone());
        let (server_in, notice) = (Arc::clone(&self.server_in), Arc::clone(&self.notice));
        spawn("from-client", move || {
            let mut buffer = vec![0; BUFFER];
            // An error of a descriptor that is read is its end.
            while let Ok(count @ 1..) = pipe::read(&mut stdin, &mut buffer) {
                let bytes = buffer.get(..count).unwrap_or_default();
                queue.push(began.elapsed(), Sender::Client, bytes, || full(&*notice));
                let mut server = lock(&server_in);
                let written = server.as_mut().map(|server| server.write_all(bytes));
                if let Some(Err(_)) = written {
                    // It reads no more. It may still speak, and its end is told elsewhere.
                    *server = None;
                }
            }
            *lock(&server_in) = None;
            let _ = events.send(Event::ClientEnded);
        })
    }

    fn spawn_from_server(&self, mut server: ChildStdout, mut stdout: File) -> io::Result<()> {
        let (began, queue, events) = (self.began, Arc::clone(&self.queue), self.events.clone());
        let notice = Arc::clone(&self.notice);
        spawn("from-server", move || {
            let mut buffer = vec![0; BUFFER];
            let mut client_reads = true;
            loop {
                let count = match server.read(&mut buffer) {
                    Ok(0) => break,
                    Ok(count) => count,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(_) => break,
                };
                let bytes = buffer.get(..count).unwrap_or_default();
                queue.push(began.elapsed(), Sender::Server, bytes, || full(&*notice));
                if client_reads && pipe::write(&mut stdout, bytes).is_err() {
                    client_reads = false;
                    let _ = events.send(Event::ClientLeft);
                }
            }
            let _ = events.send(Event::ServerEnded);
        })
    }

    fn spawn_recorder(
        &self,
        mut recording: Recording,
        draining: &Arc<AtomicBool>,
    ) -> io::Result<JoinHandle<Recording>> {
        let (began, queue, events) = (self.began, Arc::clone(&self.queue), self.events.clone());
        let (draining, notice) = (Arc::clone(draining), Arc::clone(&self.notice));
        thread::Builder::new()
            .name("recorder".to_owned())
            .spawn(move || {
                yield_to_traffic();
                // If this thread fails, traffic goes on without it.
                let _open = Abandon {
                    queue: &queue,
                    events: &events,
                };
                loop {
                    let started = Instant::now();
                    let batch = queue.take();
                    for chunk in batch.chunks {
                        recording.observe(chunk.at, chunk.sender, Lane::Stdio, &chunk.bytes);
                        queue.release(chunk.bytes.len());
                    }
                    recording.flush(began.elapsed());
                    for text in recording.take_notices() {
                        notice(&text);
                    }
                    if batch.last {
                        return recording;
                    }
                    if draining.load(Ordering::SeqCst) {
                        let _ = events.send(Event::Caught(recording.unanswered()));
                    }
                    queue.rest(TICK.saturating_sub(started.elapsed()));
                }
            })
    }
}

/// Takes the recorder's place when it is gone.
struct Abandon<'a> {
    queue: &'a Queue,
    events: &'a Events<Event>,
}

impl Drop for Abandon<'_> {
    fn drop(&mut self) {
        self.queue.close();
        if thread::panicking() {
            let _ = self.events.send(Event::RecorderFailed);
        }
    }
}

fn full(notice: &dyn Fn(&str)) {
    notice(
        "warning: the recorder is slower than the traffic; from here on the session is slowed \
         down whenever 256 MiB wait to be recorded",
    );
}

/// Traffic comes first where the two compete for a processor.
#[cfg(target_os = "linux")]
fn yield_to_traffic() {
    // On Linux this is about the calling thread. Without the permission nothing is lost.
    let _ = rustix::process::setpriority_process(None, 10);
}

#[cfg(not(target_os = "linux"))]
fn yield_to_traffic() {}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name(name.to_owned()).spawn(run)?;
    Ok(())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is done when the time has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Terminate,
    Kill,
    GiveUp,
}

/// Decides when a session is over.
struct Watch<'a> {
    group: Group,
    timeout: Duration,
    notice: &'a dyn Fn(&str),
    tail: Tail,
    tap: &'a Tap,
    draining: &'a AtomicBool,
    /// The client sends no more, or reads no more.
    client_ended: bool,
    server_ended: bool,
    exited: Option<ExitStatus>,
    signal: Option<Signal>,
    /// Whether we asked the server to end.
    ended_by_us: bool,
    /// What the recorder last said.
    unanswered: Option<usize>,
    next: Option<(Instant, Step)>,
}

impl Watch<'_> {
    fn run(&mut self, events: &Receiver<Event>) {
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
                self.draining.store(true, Ordering::SeqCst);
                self.tap.queue.hurry();
            }
            Event::ClientLeft => {
                self.client_ended = true;
                // Closing its input is how a server is told.
                if let Ok(mut server) = self.tap.server_in.try_lock() {
                    *server = None;
                }
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
                (self.notice)("warning: the recorder failed; traffic goes on and is not recorded");
            }
        }
    }

    /// The client has ended, and all that came is recorded.
    fn caught(&mut self, unanswered: usize) {
        let waits = matches!(self.next, None | Some((_, Step::Terminate)));
        if self.exited.is_some() || self.server_ended || !waits {
            return;
        }
        let before = self.unanswered.replace(unanswered);
        if unanswered > 0 {
            self.next = Some((Instant::now() + self.timeout, Step::Terminate));
        } else if before != Some(0) {
            self.next = Some((Instant::now() + GRACE, Step::Terminate));
        }
    }

    /// Plans a step unless something is planned that comes sooner or goes further.
    fn at_most(&mut self, time: Duration, step: Step) {
        let at = Instant::now() + time;
        let plan = match self.next {
            Some((sooner, Step::Terminate)) => sooner.min(at),
            Some(_) => return,
            None => at,
        };
        self.next = Some((plan, step));
    }

    /// Does what is planned for now.
    fn step(&mut self) -> Step {
        let step = self.next.map_or(Step::GiveUp, |(_, step)| step);
        match step {
            Step::Terminate => {
                if let (Some(waiting @ 1..), None) = (self.unanswered, self.exited) {
                    let seconds = self.timeout.as_secs();
                    (self.notice)(&format!(
                        "warning: no message came for {seconds} s and {waiting} of the client's requests \
                         are unanswered; the server is ended (--timeout SECONDS to wait longer)"
                    ));
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
        if self.next.is_none_or(|(_, step)| step == Step::Terminate) {
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
            false => self.tail.lines(Duration::from_millis(200)),
        };
        let colon = if last.is_empty() {
            ""
        } else {
            "; its last lines:"
        };
        (self.notice)(&format!("the server {how}{when}{colon}"));
        for line in last {
            let cut: String = line.chars().take(300).collect();
            (self.notice)(&format!("  {cut}"));
        }
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
    fn sweep(&self) {
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
