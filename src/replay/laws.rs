//! Laws of the replayer, checked on made-up recordings and sequences of operations: for the
//! property test and the fuzz target, which give the bytes.
#![expect(clippy::panic, reason = "a broken law must stop the test")]

use super::plan::NONE;
use super::{Action, Forward, Options, Pace, Replayer};
use crate::cassette::Cassette;
use crate::matching::{OnExhausted, Ordering};
use crate::wire::json::{Span, member};
use crate::wire::lane::Lane;
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

/// Plays a session that `bytes` describe: the first half is the recording, the second what a
/// client does.
pub(crate) fn check(bytes: &[u8]) {
    let (recorded, live) = bytes.split_at(bytes.len() / 2);
    let text = recording(recorded);
    let cassette = match Cassette::parse("laws", text.clone().into_bytes()) {
        Ok(cassette) => Arc::new(cassette),
        Err(error) => panic!("{error}: {text}"),
    };
    let first = live.first().copied().unwrap_or(0);
    let options = Options {
        ordering: [Ordering::PerMethod, Ordering::Strict, Ordering::None][usize::from(first % 3)],
        on_exhausted: [OnExhausted::Auto, OnExhausted::Repeat, OnExhausted::Error]
            [usize::from(first / 3 % 3)],
        pace: (first & 0x40 != 0).then_some(Pace {
            scale: 1.5,
            cap: None,
        }),
        new_episodes: first & 0x80 != 0,
        ..Options::default()
    };
    let repeats = options.ordering == Ordering::None || options.on_exhausted == OnExhausted::Repeat;
    let Ok(core) = Replayer::new(cassette, options) else {
        panic!("there are no pointers");
    };
    let mut client = Client::new(core, repeats);
    for &byte in live.iter().skip(1) {
        client.act(byte);
    }
    client.leave();
}

/// One message a byte. What the server says carries its own index as `"n"`.
fn recording(bytes: &[u8]) -> String {
    let mut rows: Vec<String> = Vec::new();
    let (mut open, mut asked) = (Vec::new(), Vec::new());
    for (at, &byte) in bytes.iter().take(200).enumerate() {
        let pick = usize::from(byte >> 3);
        // Ids repeat, as clients do that use one over and over.
        let id = usize::from(byte >> 5);
        let (sender, payload) = match byte & 7 {
            0 | 1 => {
                open.push(id);
                let token = match byte & 1 {
                    0 => format!(",\"_meta\":{{\"progressToken\":{id}}}"),
                    _ => String::new(),
                };
                let tool = pick % 3;
                (
                    "client",
                    format!(
                        "\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"t{tool}\"{token}}}"
                    ),
                )
            }
            2 if !open.is_empty() => {
                let id = open.remove(pick % open.len());
                ("server", format!("\"id\":{id},\"result\":{{\"n\":{at}}}"))
            }
            3 => (
                "server",
                format!(
                    "\"method\":\"notifications/progress\",\"params\":{{\"progressToken\":{id},\"n\":{at}}}"
                ),
            ),
            4 => {
                asked.push(at);
                (
                    "server",
                    format!("\"id\":{at},\"method\":\"roots/list\",\"params\":{{\"n\":{at}}}"),
                )
            }
            5 if !asked.is_empty() => {
                let id = asked.remove(pick % asked.len());
                ("client", format!("\"id\":{id},\"result\":{{}}"))
            }
            6 if byte > 0xf0 => ("client", "\"id\":0,\"method\":\"initialize\"".to_owned()),
            6 => (
                "client",
                format!("\"method\":\"notifications/{}\"", pick % 2),
            ),
            _ => (
                "server",
                format!("\"method\":\"notifications/message\",\"params\":{{\"n\":{at}}}"),
            ),
        };
        rows.push(format!(
            "{{\"t_offset_ms\":{},\"sender\":\"{sender}\",\"kind\":\"request\",\"payload\":{{{payload}}}}}",
            at * 10
        ));
    }
    format!("{{\"format_version\":3,\"messages\":[{}]}}", rows.join(","))
}

/// A client that checks what it hears.
struct Client {
    core: Replayer,
    now: Duration,
    next_id: usize,
    /// What was asked and is not answered.
    waiting: HashSet<String>,
    cancelled: HashSet<String>,
    /// The server's requests that were heard and are not answered: their places.
    asked: Vec<usize>,
    /// Whether calls that are used up are answered again.
    repeats: bool,
    /// For each playlist the place of what was heard last.
    last: HashMap<usize, usize>,
    /// What the real server was asked.
    forwarded: HashSet<String>,
}

impl Client {
    fn new(core: Replayer, repeats: bool) -> Client {
        Client {
            core,
            now: Duration::ZERO,
            next_id: 1_000,
            waiting: HashSet::new(),
            cancelled: HashSet::new(),
            asked: Vec::new(),
            repeats,
            last: HashMap::new(),
            forwarded: HashSet::new(),
        }
    }

    fn act(&mut self, byte: u8) {
        let pick = usize::from(byte >> 3);
        match byte & 7 {
            0 | 1 => {
                let tool = pick % 4;
                let token = match byte & 1 {
                    0 => format!(",\"_meta\":{{\"progressToken\":\"p{}\"}}", self.next_id),
                    _ => String::new(),
                };
                self.request(&format!(
                    "\"tools/call\",\"params\":{{\"name\":\"t{tool}\",\"arguments\":{{}}{token}}}"
                ));
            }
            2 if byte > 0xc0 => self.request("\"initialize\""),
            2 => self.request("\"ping\""),
            3 | 4 if !self.asked.is_empty() => {
                let at = self.asked.remove(pick % self.asked.len());
                self.say(&format!("{{\"id\":{at},\"error\":{{}}}}"));
            }
            5 => self.say(&format!("{{\"method\":\"notifications/{}\"}}", pick % 2)),
            6 => {
                let id = self.waiting.iter().min().cloned();
                if let Some(id) = id {
                    self.say(&format!(
                        "{{\"method\":\"notifications/cancelled\",\"params\":{{\"requestId\":{id}}}}}"
                    ));
                    // An answer that was out already has been heard.
                    self.cancelled.insert(id);
                }
            }
            _ => self.now += Duration::from_millis(u64::from(byte)),
        }
        self.hear();
    }

    fn request(&mut self, method: &str) {
        self.next_id += 1;
        let mut line = String::new();
        // Writing to a string cannot fail.
        let _ = write!(line, "{{\"id\":{},\"method\":{method}}}", self.next_id);
        self.waiting.insert(self.next_id.to_string());
        self.say(&line);
    }

    fn say(&mut self, line: &str) {
        self.core.receive(self.now, Lane::Stdio, line.as_bytes());
    }

    /// Takes what is said now, and gives the moment at which there is more.
    fn hear(&mut self) -> Option<Duration> {
        for _ in 0..100_000 {
            match self.core.poll(self.now) {
                Action::Send { bytes, .. } => match String::from_utf8(bytes) {
                    Ok(line) => self.heard(&line),
                    Err(error) => panic!("{error}"),
                },
                Action::Forward(Forward { bytes, .. }) => match String::from_utf8(bytes) {
                    Ok(line) => self.serve(&line),
                    Err(error) => panic!("{error}"),
                },
                Action::Wait(at) if at > self.now => return Some(at),
                Action::Wait(at) => panic!("it waits for {at:?} at {:?}", self.now),
                Action::Idle => return None,
                Action::Abort => panic!("there are no faults"),
                other => panic!("that is for HTTP: {other:?}"),
            }
        }
        panic!("it never stops")
    }

    /// The real server: it answers each request once, and asks one of its own with the same id.
    fn serve(&mut self, line: &str) {
        let whole = Span::new(0, line.len());
        let id = member(line, whole, "id").map(|id| id.span.of(line));
        let Some(id) = id.filter(|_| member(line, whole, "method").is_some()) else {
            return;
        };
        assert!(self.forwarded.insert(line.to_owned()), "twice: {line}");
        for said in [
            format!("{{\"id\":{id},\"method\":\"roots/list\"}}"),
            format!("{{\"id\":{id},\"result\":{{}}}}"),
        ] {
            self.core.relay(0, Lane::Stdio, said.as_bytes());
        }
    }

    fn heard(&mut self, line: &str) {
        assert!(!line.contains('\n'), "{line}");
        let whole = Span::new(0, line.len());
        let part = |name: &str| member(line, whole, name).map(|value| value.span.of(line));
        let inside = |outer: &str| {
            let outer = member(line, whole, outer)?;
            member(line, outer.span, "n")?
                .span
                .of(line)
                .parse::<usize>()
                .ok()
        };
        let said = part("method").is_some();
        if !said && let Some(id) = part("id") {
            assert!(self.waiting.remove(id), "nobody waits for {line}");
            assert!(!self.cancelled.contains(id), "taken back: {line}");
        }
        let place = if said {
            inside("params")
        } else {
            inside("result")
        };
        if let Some(at) = place {
            self.placed(at, line);
            if said && part("id").is_some() {
                self.asked.push(at);
            }
        }
    }

    /// What came is in its order, and no gate before it is shut.
    fn placed(&mut self, at: usize, line: &str) {
        // Two live sessions may play one recorded session side by side.
        if self.core.sessions.len() > 1 {
            return;
        }
        let plan = &self.core.plan;
        let row = u32::try_from(at).unwrap_or(NONE);
        let item = plan.items.iter().position(|&item| item == row);
        let Some(item) = item.and_then(|item| u32::try_from(item).ok()) else {
            panic!("{line} is in no playlist");
        };
        let owner = plan
            .playlists
            .iter()
            .position(|playlist| playlist.first <= item && item < playlist.end);
        let Some((owner, playlist)) =
            owner.and_then(|owner| Some((owner, plan.playlists.get(owner)?)))
        else {
            panic!("{line} is in no playlist");
        };
        // An answer that is given again may come while the first one is still waited for.
        if self.repeats && row == playlist.answer {
            return;
        }
        let last = self.last.insert(owner, item as usize);
        if let Some(last) = last {
            assert!(last < item as usize, "{line} comes too late");
        }
        let items = plan.items.get(playlist.first as usize..item as usize);
        for &earlier in items.unwrap_or_default() {
            let answered = plan.answered_at.get(&earlier).copied().unwrap_or(NONE);
            let shut = answered < row && self.asked.contains(&(earlier as usize));
            assert!(!shut, "{line} comes before its gate");
        }
    }

    /// All that is owed comes in the end, but for what waits for the client or was never
    /// recorded.
    fn leave(&mut self) {
        self.core.close();
        while let Some(at) = self.hear() {
            self.now = at;
        }
        let summary = self.core.finish();
        let owed: HashSet<&String> = self.waiting.difference(&self.cancelled).collect();
        assert_eq!(
            owed.len(),
            summary.dropped.len(),
            "{owed:?} {:?}",
            summary.dropped
        );
    }
}
