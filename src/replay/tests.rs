//! The replayer against simulated time: nothing sleeps, nothing is written anywhere.

mod episodes;
mod faults;
mod http;
mod http_faults;
mod matching;
mod sessions;
mod timing;

use super::{Action, Errand, Forward, Options, Pace, Replayer, Summary};
use crate::cassette::Cassette;
use crate::wire::lane::Lane;
use std::sync::Arc;
use std::time::Duration;

/// A recorded message: who sent it, when (in ms), and what.
pub(super) type Recorded<'a> = (char, i64, &'a str);

pub(super) fn cassette(messages: &[Recorded<'_>]) -> Cassette {
    let rows: Vec<String> = messages
        .iter()
        .map(|(sender, at, payload)| {
            let (sender, redacted) = match sender {
                'c' => ("client", false),
                'C' => ("client", true),
                _ => ("server", false),
            };
            format!(
                r#"{{"t_offset_ms": {at}, "sender": "{sender}", "kind": "request", "redacted": {redacted}, "payload": {payload}}}"#
            )
        })
        .collect();
    let text = format!(
        "{{\"format_version\": 3, \"transport\": \"stdio\", \"messages\": [{}]}}",
        rows.join(",\n")
    );
    Cassette::parse("test", text.into_bytes()).expect("a cassette")
}

/// A replayer with a clock of its own.
pub(super) struct Player {
    pub(super) core: Replayer,
    pub(super) now: Duration,
    pub(super) waits: Option<Duration>,
    aborted: bool,
}

impl Player {
    pub(super) fn new(messages: &[Recorded<'_>]) -> Player {
        Player::with(messages, Options::default())
    }

    pub(super) fn with(messages: &[Recorded<'_>], options: Options) -> Player {
        let cassette = Arc::new(cassette(messages));
        Player {
            core: Replayer::new(cassette, options).expect("pointers"),
            now: Duration::ZERO,
            waits: None,
            aborted: false,
        }
    }

    /// What is said at once when the client says this.
    pub(super) fn say(&mut self, line: &str) -> Vec<String> {
        self.core.receive(self.now, Lane::Stdio, line.as_bytes());
        self.heard()
    }

    /// What is said at once when the real server says this, after whether that is kept.
    pub(super) fn relay(&mut self, line: &str) -> (bool, Vec<String>) {
        let kept = self.core.relay(0, Lane::Stdio, line.as_bytes());
        (kept, self.heard())
    }

    /// What is said now. What goes to the real server has a mark: whether it is kept.
    pub(super) fn heard(&mut self) -> Vec<String> {
        let mut said = Vec::new();
        self.waits = None;
        loop {
            match self.core.poll(self.now) {
                Action::Send { bytes, .. } => said.push(String::from_utf8(bytes).expect("UTF-8")),
                // A process says all in one stream.
                Action::Forward(Forward {
                    errand: Errand::Listen,
                    ..
                }) => {}
                Action::Forward(Forward { bytes, kept, .. }) => {
                    let bytes = String::from_utf8(bytes).expect("UTF-8");
                    let mark = if kept { "kept" } else { "sent" };
                    said.push(format!("{mark} {bytes}"));
                }
                Action::Abort => self.aborted = true,
                Action::Wait(at) => {
                    assert!(at > self.now, "it waits for what is due");
                    self.waits = Some(at);
                    return said;
                }
                Action::Idle => return said,
                other => panic!("that is for HTTP: {other:?}"),
            }
        }
    }

    /// What is said in the next milliseconds.
    pub(super) fn pass(&mut self, ms: u64) -> Vec<String> {
        let end = self.now + Duration::from_millis(ms);
        let mut said = self.heard();
        while let Some(at) = self.waits.filter(|at| *at <= end) {
            self.now = at;
            said.extend(self.heard());
        }
        self.now = end;
        said
    }

    pub(super) fn close(&mut self) -> Vec<String> {
        self.core.close();
        self.heard()
    }

    pub(super) fn notices(&mut self) -> String {
        self.core.take_notices().join("\n")
    }

    pub(super) fn finish(&mut self) -> Summary {
        self.core.finish()
    }
}

pub(super) fn paced(scale: f64, cap_ms: u64) -> Options {
    Options {
        pace: Some(Pace {
            scale,
            cap: (cap_ms > 0).then(|| Duration::from_millis(cap_ms)),
        }),
        ..Options::default()
    }
}

pub(super) const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}"#;
pub(super) const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
pub(super) const GREETING: &str = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#;

/// A `tools/call`, with a progress token unless it is empty.
pub(super) fn call(id: &str, tool: &str, arguments: &str, token: &str) -> String {
    let meta = match token {
        "" => String::new(),
        token => format!(r#","_meta":{{"progressToken":{token}}}"#),
    };
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}{meta}}}}}"#
    )
}

pub(super) fn answer(id: &str, text: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":"{text}"}}}}"#)
}

pub(super) fn request(id: &str, method: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#)
}

pub(super) fn notification(method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#)
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(400))]
    #[test]
    fn the_laws_hold_for_made_up_sessions(
        bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..160),
    ) {
        super::laws::check(&bytes);
    }

    #[test]
    fn the_laws_hold_for_made_up_clients_over_http(
        bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..240),
    ) {
        super::laws_http::check(&bytes);
    }
}
