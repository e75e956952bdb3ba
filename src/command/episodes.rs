//! `serve --new-episodes`: the cassette that is added to, and what was added in the end.

use super::real_server::Hidden;
use super::writing::{self, Failure};
use super::{Context, Exit, Outcome, serve};
use crate::cassette::Cassette;
use crate::cassette::file::{resolve, save_atomically};
use crate::record::{Begin, Claim, ClaimOptions, Options, Recording, Saved, partial_of};
use crate::redact::{Redactor, Rules};
use crate::transport::stdio::{End, Recorded};
use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// How long a real server may be silent that has something to answer when the client has gone.
pub(super) const TIMEOUT: Duration = Duration::from_secs(30);
/// A longer message is recorded as its length and hash, in bytes; `record` has a flag for it.
const LONGEST_MESSAGE: usize = 64 << 20;

/// A cassette that nobody else writes.
#[derive(Debug)]
pub(super) struct Held {
    target: PathBuf,
    started: SystemTime,
    _claim: Claim,
}

impl Held {
    /// Takes the claim. Whoever had it before may have written the cassette, which is to be loaded
    /// after this.
    pub(super) fn claim(
        path: &Path,
        held_by: Option<u32>,
        outcome: &mut Outcome,
    ) -> Result<Held, Failure> {
        let started = SystemTime::now();
        let target = resolve(path).map_err(|error| {
            let path = path.display();
            Failure::could_not_run(format!("{path}: {error}"))
        })?;
        let notices = RefCell::new(Vec::new());
        let options = ClaimOptions {
            held_by,
            ..ClaimOptions::default()
        };
        let fixes = "Fixes: let it end, or serve without --new-episodes, which needs no claim";
        let claim = writing::claim(&target, &options, fixes, &|notice| {
            notices.borrow_mut().push(notice.to_owned());
        });
        for notice in notices.into_inner() {
            outcome.line(notice);
        }
        Ok(Held {
            target,
            started,
            _claim: claim?,
        })
    }

    /// Puts into the cassette what a run had added that was killed: its checkpoint begins as the
    /// cassette does. Any other checkpoint is that of another recording, and is left alone.
    pub(super) fn take_in(&self, outcome: &mut Outcome) -> Result<(), String> {
        let path = partial_of(&self.target);
        let loaded = Cassette::load_unfinished(&path).ok();
        let Some((left, cassette)) = loaded.zip(Cassette::load(&self.target).ok()) else {
            return Ok(());
        };
        let added = left
            .cassette
            .messages()
            .len()
            .saturating_sub(cassette.messages().len());
        let (before, after) = (cassette.unclosed(), left.cassette.unclosed());
        if added == 0 || !after.begin.starts_with(&before.begin) {
            return Ok(());
        }
        let mut text = after.begin;
        text.push_str(&before.ending.text(true, true));
        let saved = save_atomically(&self.target, text.as_bytes());
        saved
            .and_then(|()| fs::remove_file(&path))
            .map_err(|error| format!("cannot save {}: {error}", self.target.display()))?;
        let added = writing::counted(u64::try_from(added).unwrap_or(u64::MAX));
        outcome.line(format_args!(
            "note: {added} that a run had added which was killed are in the cassette now"
        ));
        Ok(())
    }

    /// The recording that goes on from the cassette, scrubbed like that one: without rules if it
    /// has none, which is said. `url` is the address of the real server, whose secrets are left out too.
    pub(super) fn recording(
        &self,
        cassette: &Cassette,
        redactor: Option<Redactor>,
        url: Option<&Hidden>,
        context: &Context,
        outcome: &mut Outcome,
    ) -> Result<Recording, String> {
        let redactor = match redactor {
            Some(redactor) => redactor,
            None => {
                outcome.line(
                    "warning: the cassette carries no redaction manifest, and what is added to it is \
                     not redacted either",
                );
                let none = Rules {
                    defaults: false,
                    ..Rules::default()
                };
                Redactor::new(&none).map_err(|error| error.to_string())?
            }
        };
        Ok(Recording::begin(Begin {
            target: self.target.clone(),
            recorder: Options {
                transport: cassette.transport(),
                recorded_at: context.now.clone(),
                server_url: url.map(|url| url.0.clone()),
                redactor,
                max_message: LONGEST_MESSAGE,
                earlier: Some(cassette.unclosed()),
            },
            interval: Some(Duration::ZERO),
            started: self.started,
        }))
    }
}

/// Tells what was added, and how many messages that is.
pub(super) fn conclude(
    options: &serve::Options,
    recorded: Option<&Recorded>,
    outcome: &mut Outcome,
) -> u64 {
    let Some(recorded) = recorded else { return 0 };
    if let (End::Signal(_), Exit::Success) = (recorded.end, outcome.exit) {
        outcome.exit = Exit::Interrupted;
    }
    match &recorded.saved {
        Ok(Saved::Cassette { messages }) => {
            if !options.quiet {
                let (added, cassette) = (writing::counted(*messages), options.cassette.display());
                outcome.line(format_args!("added {added} to {cassette}"));
            }
            *messages
        }
        Ok(Saved::Nothing | Saved::OutrunByAnother) => 0,
        Err(error) => {
            outcome.line(writing::not_saved(error));
            outcome.exit = Exit::NotSaved;
            0
        }
    }
}
