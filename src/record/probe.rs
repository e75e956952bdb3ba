//! What a client asked that started its server only to ask who it is.
//!
//! Such a client starts the same command once more for the session, and on a modern server does
//! not ask again. The recording of the session replaces that of the probe, and without its
//! answer no replay could serve the next probe; so the session takes it over.

use super::checkpoint::partial_of;
use crate::cassette::view::{Exchanges, Role};
use crate::cassette::write::MessageText;
use crate::cassette::{Cassette, Sender, Transport};
use crate::redact::Manifest;
use crate::wire::mcp::method;
use jiff::Timestamp;
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// The longest file that is looked at, in bytes: a client is waiting.
const LARGEST: u64 = 1 << 20;
/// A client that probes goes on at once; it only waits for the server of its probe to end.
const MOMENTS: Duration = Duration::from_secs(10);
/// Its probe is no older than this, even if its file was just written: a checkout does that too.
const OLDEST: Duration = Duration::from_secs(60 * 60);

/// The exchanges of a recording that holds nothing else than `server/discover`.
#[derive(Debug)]
pub(super) struct Probe {
    cassette: Cassette,
    /// The answered requests and their answers, by their place in the file.
    indices: Vec<u32>,
}

impl Probe {
    /// The probe whose recording ended moments before this one was `started`: in the cassette at
    /// `target`, or in what is left beside it of a recording that was killed or still ends. It
    /// must have been made with the same rules of redaction, because a cassette names them once.
    pub(super) fn before(target: &Path, started: SystemTime, rules: &Manifest) -> Option<Probe> {
        let partial = partial_of(target);
        [partial.as_path(), target]
            .into_iter()
            .find_map(|path| Probe::in_file(path, started, rules))
    }

    fn in_file(path: &Path, started: SystemTime, rules: &Manifest) -> Option<Probe> {
        let meta = fs::metadata(path).ok()?;
        let is_small = meta.is_file() && meta.len() <= LARGEST;
        let is_recent = meta.modified().ok()? + MOMENTS >= started;
        if !(is_small && is_recent) {
            return None;
        }
        let cassette = Cassette::load_unfinished(path).ok()?.cassette;
        let recorded_at: Timestamp = cassette.recorded_at()?.parse().ok()?;
        let age = Timestamp::now().duration_since(recorded_at);
        let is_recent = Duration::try_from(age).is_ok_and(|age| age <= OLDEST);
        let manifest = Manifest::parse(cassette.redaction_manifest()?).ok()?;
        let is_alike = cassette.transport() == Transport::Stdio
            && cassette.extras.is_empty()
            && manifest.is_same_as(rules);
        let indices = exchanges(&cassette).filter(|_| is_recent && is_alike)?;
        Some(Probe { cassette, indices })
    }

    /// The messages in their order, as they stand in their cassette.
    pub(super) fn messages(&self) -> impl Iterator<Item = MessageText<'_>> {
        let of = |index: &u32| self.cassette.message(*index);
        self.indices.iter().filter_map(of).map(MessageText::of)
    }

    /// The version of the protocol that the head tells, as JSON.
    pub(super) fn protocol_version(&self) -> Option<&str> {
        let span = self.cassette.head.protocol_version?;
        Some(span.of(&self.cassette.text))
    }

    /// The server that the head tells, as JSON.
    pub(super) fn server_info(&self) -> Option<&str> {
        let span = self.cassette.head.server_info?;
        Some(span.of(&self.cassette.text))
    }
}

/// The answered `server/discover` requests and their answers; `None` if the client said anything
/// else, or no server told who it is.
fn exchanges(cassette: &Cassette) -> Option<Vec<u32>> {
    let mut indices = Vec::new();
    let mut is_told = false;
    for paired in Exchanges::new(cassette) {
        let message = cassette.message(paired.index)?;
        let text = &cassette.text;
        match (message.sender(), paired.role) {
            (_, _) if message.batch().is_some() => return None,
            (Sender::Client, Role::Request)
                if paired.envelope.method_name(text).as_deref() == Some(method::DISCOVER) => {}
            (Sender::Client, _) => return None,
            // What a server says on its own it says in each session.
            (Sender::Server, _) => {
                if let Some(request) = paired.request {
                    indices.extend([request, paired.index]);
                    is_told |= paired.envelope.result.is_some();
                }
            }
        }
    }
    indices.sort_unstable();
    is_told.then_some(indices)
}
