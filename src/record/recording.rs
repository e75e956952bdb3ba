//! A recording on its way to the disk: the recorder, its checkpoint, and what becomes of both
//! at the end.

use super::checkpoint::{Checkpoint, Unfinished, partial_of};
use super::exchange::Step;
use super::probe::Probe;
use super::recorder::{Options, Recorder};
use crate::cassette::file::{create_beside, resolve, save_atomically};
use crate::cassette::{Sender, Transport};
use crate::redact::Manifest;
use crate::wire::json::MAX_INPUT;
use crate::wire::lane::Lane;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Text that waits in memory is written when it is this long, in bytes, however often the
/// checkpoint is due.
const MUCH: usize = 4 << 20;
/// Text that cannot be written is given up beyond this length, in bytes.
const TOO_MUCH: usize = 256 << 20;
/// Clocks of file systems may be behind by a tick.
const TICK: Duration = Duration::from_millis(10);

/// What a recording begins with.
#[derive(Debug)]
pub(crate) struct Begin {
    /// The cassette, as [`check_output`] gave it.
    pub(crate) target: PathBuf,
    pub(crate) recorder: Options,
    /// How often the checkpoint is written: zero is as often as there is something, `None`
    /// never.
    pub(crate) interval: Option<Duration>,
    pub(crate) started: SystemTime,
}

/// A recording that runs.
#[derive(Debug)]
pub(crate) struct Recording {
    target: PathBuf,
    recorder: Recorder,
    interval: Option<Duration>,
    started: SystemTime,
    /// The rules of redaction, until a probe with the same ones was looked for.
    rules: Option<Manifest>,
    checkpoint: Option<Checkpoint>,
    /// Messages that are to be appended.
    pending: String,
    /// Whether the head on the disk is an old one.
    stale_head: bool,
    /// When the checkpoint was last written.
    written_at: Option<Duration>,
    failing: bool,
    /// Whether too much could not be written: what comes now would follow on a gap.
    given_up: bool,
    notices: Vec<String>,
}

/// What was saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Saved {
    Cassette {
        messages: u64,
    },
    /// Nothing passed, and no file was written.
    Nothing,
    /// The recording is of a client that only asked who the server is, and somebody else wrote
    /// the cassette meanwhile: that one stays.
    OutrunByAnother,
}

/// Why the recording is not in its cassette.
#[derive(Debug, thiserror::Error)]
#[error("cannot save {}: {source}; {}", .target.display(), .what)]
pub(crate) struct NotSaved {
    target: PathBuf,
    source: io::Error,
    /// What is lost and where the rest is.
    what: String,
}

impl NotSaved {
    /// The recorder itself failed.
    pub(crate) fn recorder_failed() -> NotSaved {
        NotSaved {
            target: PathBuf::from("the cassette"),
            source: io::Error::other("the recorder failed, which is a bug of mcp-cassette"),
            what: "what was recorded until then is in the .partial file beside it".to_owned(),
        }
    }
}

/// Resolves the path of a cassette that is to be written, and makes its directory.
///
/// # Errors
///
/// It is no place for a file. Whether the directory can be written shows when the claim is made.
pub(crate) fn check_output(path: &Path) -> Result<PathBuf, String> {
    let shown = path.display();
    let target = resolve(path).map_err(|error| format!("--cassette {shown}: {error}"))?;
    let last = target.as_os_str().as_encoded_bytes().last();
    let is_directory = last.is_some_and(|last| std::path::is_separator(char::from(*last)));
    if target.file_name().is_none() || is_directory {
        return Err(format!("--cassette {shown} names no file"));
    }
    match fs::metadata(&target) {
        Ok(meta) if meta.is_dir() => {
            return Err(format!("--cassette {shown} is a directory, not a file"));
        }
        Ok(meta) if !meta.is_file() => {
            return Err(format!("--cassette {shown} is not a regular file"));
        }
        Ok(_) => return Ok(target),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(format!("--cassette {shown}: {error}")),
    }
    if let Some(parent) = target
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
    {
        fs::create_dir_all(parent).map_err(|error| {
            let parent = parent.display();
            format!("--cassette {shown}: the directory {parent} cannot be made: {error}")
        })?;
    }
    Ok(target)
}

/// Finds out whether the directory takes the files that a recording makes, before anything is
/// said that would be lost.
///
/// # Errors
///
/// It does not, or something else has the name of the checkpoint.
pub(crate) fn check_room(target: &Path, with_checkpoint: bool) -> Result<(), String> {
    let (path, checked) = match with_checkpoint {
        true => (partial_of(target), Checkpoint::check(target)),
        false => {
            let made = create_beside(target).and_then(|(path, _)| fs::remove_file(path));
            (target.to_owned(), made)
        }
    };
    checked.map_err(|error| format!("{} cannot be written: {error}", path.display()))
}

impl Recording {
    pub(crate) fn begin(begin: Begin) -> Recording {
        let Begin {
            target,
            recorder,
            interval,
            started,
        } = begin;
        Recording {
            target,
            // Nobody starts a server over HTTP once more.
            rules: (recorder.transport == Transport::Stdio)
                .then(|| recorder.redactor.manifest(&recorder.recorded_at)),
            recorder: Recorder::new(recorder),
            interval,
            started,
            checkpoint: None,
            pending: String::new(),
            stale_head: false,
            written_at: None,
            failing: false,
            given_up: false,
            notices: Vec::new(),
        }
    }

    /// See [`Recorder::observe`].
    pub(crate) fn observe(&mut self, at: Duration, sender: Sender, lane: Lane, bytes: &[u8]) {
        if let Some(rules) = self.rules.take()
            && let Some(probe) = Probe::before(&self.target, self.started, &rules)
        {
            self.recorder.offer(probe);
        }
        self.recorder.observe(at, sender, lane, bytes);
        if self.recorder.pending() > MUCH {
            self.flush(at);
        }
    }

    /// See [`Recorder::step`].
    pub(crate) fn step(&mut self, at: Duration, exchange: u32, step: Step) {
        self.recorder.step(at, exchange, step);
    }

    /// How many messages there are so far.
    pub(crate) fn messages(&self) -> u64 {
        self.recorder.messages()
    }

    /// How many sessions over HTTP began.
    pub(crate) fn sessions(&self) -> u32 {
        self.recorder.sessions()
    }

    /// Nothing of it is to be kept.
    pub(crate) fn discard(self) {
        if let Some(checkpoint) = self.checkpoint {
            checkpoint.discard();
        }
    }

    /// How many requests of the client still wait for their answer.
    pub(crate) fn unanswered(&self) -> usize {
        self.recorder.unanswered()
    }

    /// What the user should be told.
    pub(crate) fn take_notices(&mut self) -> Vec<String> {
        let mut notices = std::mem::take(&mut self.notices);
        notices.extend(self.recorder.take_notices());
        notices
    }

    /// Writes the checkpoint if it is due at this time.
    pub(crate) fn flush(&mut self, at: Duration) {
        let Some(interval) = self.interval else {
            return;
        };
        let rests = self
            .written_at
            .is_some_and(|before| at.saturating_sub(before) < interval);
        if rests {
            return;
        }
        if let Err(error) = self.write_checkpoint() {
            self.failed(&error);
        } else {
            self.failing = false;
        }
        self.written_at = Some(at);
    }

    fn write_checkpoint(&mut self) -> io::Result<()> {
        self.pending.push_str(&self.recorder.take_messages());
        self.stale_head |= self.recorder.head_has_changed();
        if self.given_up {
            self.pending = String::new();
        }
        if self.pending.is_empty() {
            return Ok(());
        }
        let checkpoint = match &mut self.checkpoint {
            Some(checkpoint) => checkpoint,
            None => {
                let path = partial_of(&self.target);
                let is_left_over = path.exists() && !self.recorder.begins_with_probe();
                let (head, ending) = (self.recorder.head(), self.recorder.ending());
                let created = Checkpoint::create(&self.target, &head, ending)?;
                self.stale_head = false;
                if is_left_over {
                    self.notices.push(format!(
                        "{} was what a recording left that was killed; it is replaced now",
                        path.display()
                    ));
                }
                self.checkpoint.insert(created)
            }
        };
        if self.stale_head {
            checkpoint.replace_head(&self.recorder.head())?;
            self.stale_head = false;
        }
        let before = checkpoint.length();
        checkpoint.append(&mut self.pending)?;
        let limit = u64::try_from(MAX_INPUT).unwrap_or(u64::MAX);
        if before < limit && checkpoint.length() >= limit {
            self.notices.push(
                "warning: the cassette is larger than 4 GiB by now, and this version cannot load it"
                    .to_owned(),
            );
        }
        Ok(())
    }

    fn failed(&mut self, error: &io::Error) {
        if !self.failing {
            self.failing = true;
            let path = partial_of(&self.target);
            self.notices.push(format!(
                "warning: cannot write {}: {error}; traffic goes on, and what was not written is \
                 kept in memory and tried again",
                path.display()
            ));
        }
        if self.pending.len() > TOO_MUCH {
            self.pending = String::new();
            self.given_up = true;
        }
    }

    /// Makes the cassette from what was recorded.
    ///
    /// # Errors
    ///
    /// The file system refuses; the error says what is kept and where.
    pub(crate) fn finish(
        mut self,
        at: Duration,
        interrupted: bool,
        notice: &dyn Fn(&str),
    ) -> Result<Saved, NotSaved> {
        self.recorder.finish(at);
        for text in self.take_notices() {
            notice(&text);
        }
        let messages = self.recorder.messages();
        if messages == 0 {
            return Ok(Saved::Nothing);
        }
        let unanswered = self.recorder.unanswered();
        if unanswered > 0 && !interrupted {
            notice(&format!(
                "warning: {unanswered} of the client's requests have no answer in the recording; a replay \
                 cannot answer them"
            ));
        }
        if self.recorder.is_only_a_probe() && self.is_outrun() {
            if let Some(checkpoint) = self.checkpoint {
                checkpoint.discard();
            }
            return Ok(Saved::OutrunByAnother);
        }
        let saved = match self.interval {
            None => self.save_at_once(interrupted),
            Some(_) => self.save_checkpoint(interrupted),
        };
        saved.map(|()| Saved::Cassette { messages })
    }

    /// Whether the cassette was written since this recording began.
    fn is_outrun(&self) -> bool {
        let modified = fs::metadata(&self.target).and_then(|meta| meta.modified());
        modified.is_ok_and(|modified| modified + TICK >= self.started)
    }

    fn save_at_once(&mut self, interrupted: bool) -> Result<(), NotSaved> {
        self.pending.push_str(&self.recorder.take_messages());
        let text = self.whole(interrupted);
        save_atomically(&self.target, text.as_bytes()).map_err(|source| NotSaved {
            target: self.target.clone(),
            source,
            what: "the recording is lost".to_owned(),
        })
    }

    /// The text of the cassette, of which nothing was written so far.
    fn whole(&self, interrupted: bool) -> String {
        let mut text = self.recorder.head();
        text.push_str(&self.pending);
        text.push_str(&self.recorder.last_ending().text(true, interrupted));
        text
    }

    fn save_checkpoint(&mut self, interrupted: bool) -> Result<(), NotSaved> {
        let written = self.write_checkpoint();
        let messages = self.recorder.messages();
        let written = written.and_then(|()| match self.given_up {
            false => Ok(()),
            true => Err(io::Error::other("for too long nothing could be written")),
        });
        let not_saved = |source, kept: Option<&Path>, count: u64| NotSaved {
            target: self.target.clone(),
            source,
            what: match kept {
                Some(kept) if count == messages => {
                    format!("all {count} messages are in {}", kept.display())
                }
                Some(kept) => format!(
                    "{} holds the first {count} of {messages} messages, the rest is lost",
                    kept.display()
                ),
                None => format!("all {messages} messages of the recording are lost"),
            },
        };
        let Some(checkpoint) = self.checkpoint.take() else {
            // All of it is still in memory.
            let source = match written {
                Err(source) if self.given_up => source,
                _ => match save_atomically(&self.target, self.whole(interrupted).as_bytes()) {
                    Ok(()) => return Ok(()),
                    Err(source) => source,
                },
            };
            return Err(not_saved(source, None, 0));
        };
        let count = checkpoint.messages();
        if let Err(source) = written {
            let kept = checkpoint.is_in_place().then(|| checkpoint.path());
            return Err(not_saved(source, kept, count));
        }
        checkpoint
            .finish(&self.target, self.recorder.last_ending(), interrupted)
            .map_err(|Unfinished { kept, source }| not_saved(source, kept.as_deref(), count))
    }
}
