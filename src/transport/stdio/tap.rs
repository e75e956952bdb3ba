//! The tap: a client on our standard streams, a server as our child, and a recorder that gets
//! copies of what passes.
//!
//! Two threads carry the bytes, a third one records, and [`Watch`] decides when the session is
//! over. A copy is queued before its original is passed on, because the answer to a request may
//! be here before the thread that passed it on runs again, and what is recorded must not be
//! the other way round.

use super::buffers::{Buffers, Bytes, Chunk};
use super::child::{self, Group, StartError};
use super::pipe::{self, BUFFER};
use super::tail::Tail;
use super::watch::{End, Event, Watch};
use crate::cassette::Sender;
use crate::record::{NotSaved, Recording, Saved};
use crate::transport::queue::{self, Abandon, Queue, TICK, yield_to_traffic};
use crate::transport::signals;
use crate::transport::stderr::Stderr;
use crate::wire::lane::Lane;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::process::{ChildStdin, ChildStdout};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender as Events};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

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

/// Runs the server, passes everything on, and records it.
///
/// # Errors
///
/// The server could not be started; nothing was recorded.
pub(crate) fn record(plan: Plan) -> Result<Recorded, StartError> {
    let (events, received) = mpsc::channel();
    let to = events.clone();
    signals::watch(move |signal| {
        // Nobody listens any more when the session is over.
        let _ = to.send(Event::Signal(signal));
    })?;
    let (stdin, stdout) = (pipe::stdin()?, pipe::stdout()?);
    pipe::widen(&stdout);
    let timeout = plan.timeout;
    let started = start(plan, Instant::now(), events)?;
    let tap = &started.tap;
    tap.spawn_from_client(stdin)?;
    tap.spawn_from_server(started.stdout, stdout)?;
    let mut watch = Watch::new(tap, started.group, started.tail, timeout);
    watch.run(&received);
    let recorded = watch.conclude(started.recorder);
    watch.sweep();
    Ok(recorded)
}

/// A server that runs, with a recorder beside it. Nothing is carried yet.
pub(super) struct Started {
    pub(super) tap: Tap,
    pub(super) stdout: ChildStdout,
    pub(super) group: Group,
    pub(super) tail: Tail,
    pub(super) recorder: JoinHandle<Recording>,
}

/// Starts the server and the recorder, whose time is counted since `began`.
pub(super) fn start(
    plan: Plan,
    began: Instant,
    events: Events<Event>,
) -> Result<Started, StartError> {
    let to = events.clone();
    let server = child::start(&plan.command, move |status| {
        let _ = to.send(Event::Exited(status));
    })?;
    pipe::widen(&server.stdout);
    let tail = Tail::follow(server.stderr, plan.stderr)?;
    let tap = Tap {
        began,
        queue: Arc::new(Queue::new(queue::LIMIT)),
        buffers: Arc::new(Buffers::new(BUFFER)),
        events,
        server_in: Arc::new(Mutex::new(Some(server.stdin))),
        draining: Arc::new(AtomicBool::new(false)),
        held_back: Arc::new(AtomicUsize::new(0)),
        notice: plan.notice,
    };
    let recorder = tap.spawn_recorder(plan.recording)?;
    Ok(Started {
        tap,
        stdout: server.stdout,
        group: server.group,
        tail,
        recorder,
    })
}

/// What the threads share.
#[derive(Clone)]
pub(super) struct Tap {
    pub(super) began: Instant,
    pub(super) queue: Arc<Queue<Chunk>>,
    buffers: Arc<Buffers>,
    pub(super) events: Events<Event>,
    /// Taken out to close it.
    pub(super) server_in: Arc<Mutex<Option<ChildStdin>>>,
    /// Whether the recorder is to tell how many requests wait.
    pub(super) draining: Arc<AtomicBool>,
    /// How many messages wait that the recorder has not seen.
    pub(super) held_back: Arc<AtomicUsize>,
    pub(super) notice: Arc<dyn Fn(&str) + Send + Sync>,
}

impl Tap {
    /// Gives the recorder a copy of what passes.
    pub(super) fn copy(&self, sender: Sender, bytes: Bytes) {
        let at = self.began.elapsed();
        let length = bytes.len();
        let chunk = Chunk { at, sender, bytes };
        self.queue
            .push(chunk, length, || queue::full(&*self.notice));
    }

    /// Says something to the server, unless its input is closed.
    pub(super) fn tell_server(&self, bytes: &[u8]) {
        let mut server = lock(&self.server_in);
        let written = server.as_mut().map(|server| server.write_all(bytes));
        if let Some(Err(_)) = written {
            // It reads no more. It may still speak, and its end is told elsewhere.
            *server = None;
        }
    }

    /// The client says nothing more. The server is told of it when it has answered: many servers
    /// drop what they are working on when their input ends.
    pub(super) fn client_ended(&self) {
        let _ = self.events.send(Event::ClientEnded);
    }

    /// Closes the server's input, which is how it is told that nothing more comes.
    pub(super) fn close_server_input(&self) {
        // Whoever holds it is writing to a server that does not read.
        if let Ok(mut server) = self.server_in.try_lock() {
            *server = None;
        }
    }

    fn spawn_from_client(&self, mut stdin: File) -> io::Result<()> {
        let tap = self.clone();
        spawn("from-client", move || {
            let mut buffer = tap.buffers.take();
            // An error of a descriptor that is read is its end.
            while let Ok(count @ 1..) = pipe::read(&mut stdin, &mut buffer) {
                let bytes = tap.buffers.filled(&mut buffer, count);
                tap.copy(Sender::Client, bytes.clone());
                tap.tell_server(bytes.as_slice());
            }
            tap.client_ended();
        })
    }

    fn spawn_from_server(&self, mut server: ChildStdout, mut stdout: File) -> io::Result<()> {
        let tap = self.clone();
        spawn("from-server", move || {
            let mut buffer = tap.buffers.take();
            let mut client_reads = true;
            while let Some(count) = heard(&mut server, &mut buffer) {
                let bytes = tap.buffers.filled(&mut buffer, count);
                tap.copy(Sender::Server, bytes.clone());
                let written = match client_reads {
                    true => pipe::write(&mut stdout, bytes.as_slice()),
                    false => Ok(()),
                };
                if let Err(error) = written {
                    client_reads = false;
                    if error.kind() != io::ErrorKind::BrokenPipe {
                        (tap.notice)(&format!(
                            "warning: standard output cannot be written: {error}; what the server says \
                             does not reach the client"
                        ));
                    }
                    let _ = tap.events.send(Event::ClientLeft);
                }
            }
            let _ = tap.events.send(Event::ServerEnded);
        })
    }

    fn spawn_recorder(&self, mut recording: Recording) -> io::Result<JoinHandle<Recording>> {
        let tap = self.clone();
        thread::Builder::new()
            .name("recorder".to_owned())
            .spawn(move || {
                yield_to_traffic();
                // If this thread fails, traffic goes on without it.
                let _open = Abandon {
                    queue: &tap.queue,
                    failed: || {
                        let _ = tap.events.send(Event::RecorderFailed);
                    },
                };
                loop {
                    let started = Instant::now();
                    // What was sent before these were set is in the batch.
                    let draining = tap.draining.load(Ordering::SeqCst);
                    let held_back = tap.held_back.load(Ordering::SeqCst);
                    let batch = tap.queue.take();
                    for chunk in batch.chunks {
                        let bytes = chunk.bytes;
                        recording.observe(chunk.at, chunk.sender, Lane::Stdio, bytes.as_slice());
                        tap.queue.release(bytes.as_slice().len());
                        tap.buffers.give_back(bytes);
                    }
                    recording.flush(tap.began.elapsed());
                    for text in recording.take_notices() {
                        (tap.notice)(&text);
                    }
                    if batch.last {
                        return recording;
                    }
                    let changed = draining != tap.draining.load(Ordering::SeqCst)
                        || held_back != tap.held_back.load(Ordering::SeqCst);
                    if changed {
                        tap.queue.hurry();
                        continue;
                    }
                    if draining {
                        let waiting = recording.unanswered() + held_back;
                        let _ = tap.events.send(Event::Caught(waiting));
                    }
                    tap.queue.rest(TICK.saturating_sub(started.elapsed()));
                }
            })
    }
}

/// Reads what the server says; `None` at the end.
pub(super) fn heard(server: &mut ChildStdout, buffer: &mut [u8]) -> Option<usize> {
    loop {
        match server.read(buffer) {
            Ok(0) => return None,
            Ok(count) => return Some(count),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
}

pub(super) fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name(name.to_owned()).spawn(run)?;
    Ok(())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
