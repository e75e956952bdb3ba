//! Reads lines and decides what is answered at once and what gets a thread of its own.

use std::io::{self, BufRead};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Scope};

use serde_json::Value;

use crate::methods;
use crate::protocol::{Answer, BATCHING, Failure, Incoming, Response};
use crate::session::Session;
use crate::tools::ToolCall;

/// Serves until the input ends. Requests that are still in flight then are answered first.
pub(crate) fn serve(input: impl BufRead, session: &Session) -> io::Result<()> {
    thread::scope(|scope| {
        let ended = read_lines(input, |line| receive_line(scope, session, line));
        session.client_gone();
        ended
    })
}

fn read_lines(mut input: impl BufRead, mut receive: impl FnMut(&[u8])) -> io::Result<()> {
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        let text = line.trim_ascii();
        if !text.is_empty() {
            receive(text);
        }
        line.clear();
    }
    Ok(())
}

fn receive_line<'s>(scope: &'s Scope<'s, '_>, session: &'s Session, line: &[u8]) {
    match serde_json::from_slice(line) {
        Ok(Value::Array(messages)) => receive_batch(scope, session, messages),
        Ok(message) => receive(scope, session, message, Reply::Line),
        Err(error) => refuse(session, Value::Null, Failure::parse(&error)),
    }
}

fn receive_batch<'s>(scope: &'s Scope<'s, '_>, session: &'s Session, messages: Vec<Value>) {
    if session.version() != BATCHING {
        let why = "a batch needs protocol version 2025-03-26";
        refuse(session, Value::Null, Failure::invalid_request(why));
    } else if messages.is_empty() {
        let why = "a batch holds at least one message";
        refuse(session, Value::Null, Failure::invalid_request(why));
    } else {
        let batch = Arc::new(Batch {
            session,
            answers: Mutex::new(Vec::new()),
        });
        for message in messages {
            receive(scope, session, message, Reply::Batch(Arc::clone(&batch)));
        }
    }
}

fn receive<'s>(scope: &'s Scope<'s, '_>, session: &'s Session, message: Value, reply: Reply<'s>) {
    match Incoming::from_json(message) {
        Incoming::Request { id, method, params } if method == "tools/call" => {
            call_tool(scope, session, id, params, reply);
        }
        Incoming::Request { id, method, params } => {
            let answer = match (&reply, method.as_str()) {
                (Reply::Batch(_), "initialize") => Err(Failure::invalid_request(
                    "initialize cannot be part of a batch",
                )),
                _ => methods::answer(session, &method, params),
            };
            reply.send(session, id, answer);
        }
        Incoming::Notification { method, params } if method == "notifications/cancelled" => {
            if let Some(id) = params.get("requestId") {
                session.cancel(id);
            }
        }
        // A notification is never answered, not even one that nobody knows.
        Incoming::Notification { .. } => {}
        Incoming::Answer { id, outcome } => session.answered(&id, outcome),
        Incoming::Invalid { id, why } => {
            reply.send(session, id, Err(Failure::invalid_request(why)));
        }
    }
}

/// Quick tools answer here, in the order of their calls, which keeps `counter` predictable. Tools
/// that wait get a thread, so that other requests are served in the meantime.
fn call_tool<'s>(
    scope: &'s Scope<'s, '_>,
    session: &'s Session,
    id: Value,
    params: Value,
    reply: Reply<'s>,
) {
    match ToolCall::from_params(params) {
        Err(failure) => reply.send(session, id, Err(failure)),
        Ok(ToolCall::Quick(tool)) => {
            let answer = tool.run(session);
            reply.send(session, id, answer);
        }
        Ok(ToolCall::Waiting(tool)) => {
            let call = session.begin(id.clone(), tool.progress_token());
            scope.spawn(move || {
                let answer = tool.run(&call);
                // The id is free again before the client can see the answer and reuse it.
                drop(call);
                if let Some(answer) = answer {
                    reply.send(session, id, answer);
                }
            });
        }
    }
}

fn refuse(session: &Session, id: Value, failure: Failure) {
    session.send(&Response::new(id, Err(failure)));
}

/// Where the answer to a request goes.
enum Reply<'s> {
    Line,
    Batch(Arc<Batch<'s>>),
}

impl Reply<'_> {
    fn send(self, session: &Session, id: Value, answer: Answer) {
        let response = Response::new(id, answer);
        match self {
            Self::Line => session.send(&response),
            Self::Batch(batch) => batch
                .answers
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(response),
        }
    }
}

/// The answers to a batch. Each of its requests holds a share of it until it has answered (or was
/// cancelled and never will), so that the last one to let go sends the array.
struct Batch<'s> {
    session: &'s Session,
    answers: Mutex<Vec<Response>>,
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        let answers = self
            .answers
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        // A batch of notifications only gets no answer at all, not an empty array.
        if !answers.is_empty() {
            self.session.send(answers);
        }
    }
}
