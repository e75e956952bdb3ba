//! What the requests of one client share: the output, the negotiated version, and who waits for
//! what. Calls that wait run on threads of their own, so that everything here sits behind a lock.

use std::collections::HashMap;
use std::io::{Stdout, Write as _};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::{Value, json};

use crate::protocol::{NEWEST, Outgoing};

/// Which of its two versions this server plays.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Edition {
    Honest,
    Poisoned,
}

/// The severities of `notifications/message`, least severe first.
pub(crate) const LEVELS: [&str; 8] = [
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
];

/// One client's session.
pub(crate) struct Session {
    pub(crate) edition: Edition,
    output: Mutex<Stdout>,
    state: Mutex<State>,
}

struct State {
    version: &'static str,
    capabilities: Value,
    /// The index in `LEVELS` of the least severe message that the client wants.
    level: usize,
    count: u64,
    asked: u64,
    client_gone: bool,
    /// The calls in flight, by the id that the client gave them.
    calls: HashMap<Value, Sender<Event>>,
    /// The calls that wait for the client, by the id that we gave our request.
    asks: HashMap<String, Sender<Event>>,
}

/// What can happen to a call that waits.
enum Event {
    Answered(Result<Value, Value>),
    Cancelled,
    ClientGone,
}

impl Session {
    pub(crate) fn new(edition: Edition, output: Stdout) -> Self {
        Self {
            edition,
            output: Mutex::new(output),
            state: Mutex::new(State {
                version: NEWEST,
                capabilities: Value::Null,
                level: 0,
                count: 0,
                asked: 0,
                client_gone: false,
                calls: HashMap::new(),
                asks: HashMap::new(),
            }),
        }
    }

    /// Begins a session, or begins it anew: the counter starts again.
    pub(crate) fn open(&self, version: &'static str, capabilities: Value) {
        let mut state = lock(&self.state);
        state.version = version;
        state.capabilities = capabilities;
        state.level = 0;
        state.count = 0;
    }

    pub(crate) fn version(&self) -> &'static str {
        lock(&self.state).version
    }

    /// What the client declared under `name` in its capabilities.
    pub(crate) fn capability(&self, name: &str) -> Option<Value> {
        lock(&self.state).capabilities.get(name).cloned()
    }

    pub(crate) fn set_level(&self, level: usize) {
        lock(&self.state).level = level;
    }

    /// The next number of the session's counter, from 1.
    pub(crate) fn count(&self) -> u64 {
        let mut state = lock(&self.state);
        state.count += 1;
        state.count
    }

    /// Sends a log message unless the client asked for more severe ones only. Returns whether it
    /// was sent.
    pub(crate) fn log(&self, level: usize, data: &str) -> bool {
        let wanted = level >= lock(&self.state).level;
        if let (true, Some(name)) = (wanted, LEVELS.get(level)) {
            self.send(&Outgoing::notification(
                "notifications/message",
                json!({"level": name, "logger": "demo", "data": data}),
            ));
        }
        wanted
    }

    /// Writes one line. Lines never mix, because the lock is held for the whole of it.
    pub(crate) fn send(&self, message: &impl Serialize) {
        let Ok(mut line) = serde_json::to_vec(message) else {
            return;
        };
        line.push(b'\n');
        let mut output = lock(&self.output);
        // A client that no longer reads also closes our input, and that is what ends the server.
        let _ = output.write_all(&line).and_then(|()| output.flush());
    }

    /// Registers a call, so that a cancellation finds it from now on.
    pub(crate) fn begin(&self, id: Value, progress_token: Option<Value>) -> Call<'_> {
        let (events, inbox) = mpsc::channel();
        lock(&self.state).calls.insert(id.clone(), events.clone());
        Call {
            session: self,
            id,
            progress_token,
            events,
            inbox,
        }
    }

    /// Handles `notifications/cancelled`. A call that has ended in the meantime is no error.
    pub(crate) fn cancel(&self, id: &Value) {
        if let Some(call) = lock(&self.state).calls.get(id) {
            let _ = call.send(Event::Cancelled);
        }
    }

    /// Hands the client's answer to the call that asked. Answers that nobody waits for are dropped.
    pub(crate) fn answered(&self, id: &Value, outcome: Result<Value, Value>) {
        let Some(id) = id.as_str() else { return };
        if let Some(call) = lock(&self.state).asks.remove(id) {
            let _ = call.send(Event::Answered(outcome));
        }
    }

    /// Tells the calls that wait for the client that no answer will come any more.
    pub(crate) fn client_gone(&self) {
        let mut state = lock(&self.state);
        state.client_gone = true;
        for (_, call) in state.asks.drain() {
            let _ = call.send(Event::ClientGone);
        }
    }

    /// Reserves an id for a request to the client; none once the client has gone.
    fn register_ask(&self, call: Sender<Event>) -> Option<String> {
        let mut state = lock(&self.state);
        if state.client_gone {
            return None;
        }
        state.asked += 1;
        let id = format!("server-{}", state.asked);
        state.asks.insert(id.clone(), call);
        Some(id)
    }
}

/// Why a call that waited ended without a result.
pub(crate) enum Stop {
    /// The client no longer wants the answer, so that none is sent.
    Cancelled,
    /// The tool could not do its work, for this reason.
    Failed(String),
}

/// A tool call in flight.
pub(crate) struct Call<'s> {
    pub(crate) session: &'s Session,
    id: Value,
    progress_token: Option<Value>,
    events: Sender<Event>,
    inbox: Receiver<Event>,
}

impl Call<'_> {
    /// Reports progress, if the client asked for it with a token.
    pub(crate) fn progress(&self, done: u64, total: u64, message: &str) {
        if let Some(token) = &self.progress_token {
            self.session.send(&Outgoing::notification(
                "notifications/progress",
                json!({
                    "progressToken": token,
                    "progress": done,
                    "total": total,
                    "message": message,
                }),
            ));
        }
    }

    /// Waits for a time, or until the call is cancelled.
    pub(crate) fn pause(&self, time: Duration) -> Result<(), Stop> {
        let end = Instant::now() + time;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match self.inbox.recv_timeout(left) {
                Ok(Event::Cancelled) => return Err(Stop::Cancelled),
                Ok(Event::Answered(_) | Event::ClientGone) => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
    }

    /// Asks the client and waits for its answer while the server goes on serving.
    pub(crate) fn ask(&self, method: &'static str, params: Value) -> Result<Value, Stop> {
        let gone = || Stop::Failed("the client left before it answered".to_owned());
        let id = self
            .session
            .register_ask(self.events.clone())
            .ok_or_else(gone)?;
        self.session
            .send(&Outgoing::request(id.clone(), method, params));
        match self.inbox.recv() {
            Ok(Event::Answered(Ok(result))) => Ok(result),
            Ok(Event::Answered(Err(error))) => {
                let why = error.get("message").and_then(Value::as_str);
                let why = why.unwrap_or("it gave no reason");
                Err(Stop::Failed(format!("the client refused: {why}")))
            }
            Ok(Event::Cancelled) => {
                self.withdraw(&id);
                Err(Stop::Cancelled)
            }
            Ok(Event::ClientGone) | Err(_) => Err(gone()),
        }
    }

    /// Tells the client that its answer is no longer needed.
    fn withdraw(&self, id: &str) {
        lock(&self.session.state).asks.remove(id);
        self.session.send(&Outgoing::notification(
            "notifications/cancelled",
            json!({"requestId": id, "reason": "the tool call was cancelled"}),
        ));
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        lock(&self.session.state).calls.remove(&self.id);
    }
}

/// Locks, also after a thread has panicked while it held the lock: every change here is complete
/// after one statement, so that the state is sound.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
