//! `<cassette>.partial`: the recording on the disk while it runs, valid JSON whenever no write
//! is under way.
//!
//! New messages are written where the closing brackets were, together with the closing
//! brackets, so that a checkpoint costs what is new and not what there is. A kill in the middle
//! of a write tears the tail; [`crate::cassette`] loads such a file up to its last whole message.

use crate::cassette::file::create_beside;
use crate::cassette::write::{Ending, MESSAGE_BEGINS, MESSAGE_ENDS};
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// So long a finished recording waits for the disk before it takes its place.
const TO_SYNC: Duration = Duration::from_millis(500);

/// Where the checkpoint of a cassette is, beside the file that `target` names.
pub(crate) fn partial_of(target: &Path) -> PathBuf {
    let mut name = target.as_os_str().to_owned();
    name.push(".partial");
    PathBuf::from(name)
}

/// The file that grows.
#[derive(Debug)]
pub(super) struct Checkpoint {
    path: PathBuf,
    file: File,
    ending: Ending,
    /// How long the text before the first message of this recording is, in bytes.
    head: u64,
    /// Where the closing brackets begin.
    tail: u64,
    messages: u64,
}

impl Checkpoint {
    /// Whether one can be expected to be writable.
    ///
    /// # Errors
    ///
    /// The file system refuses a file there, or something else is there.
    pub(super) fn check(target: &Path) -> io::Result<()> {
        let path = partial_of(target);
        if fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_dir()) {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let (temporary, _) = create_beside(&path)?;
        fs::remove_file(temporary)
    }

    /// Begins one with what comes before the messages of this recording and after them, in place of
    /// what an earlier recording left.
    pub(super) fn create(target: &Path, head: &str, ending: Ending) -> io::Result<Checkpoint> {
        let path = partial_of(target);
        let (temporary, mut file) = create_beside(&path)?;
        let begun = (|| {
            // Whom the cassette is hidden from must not read this either.
            if let Ok(meta) = fs::metadata(target) {
                file.set_permissions(meta.permissions())?;
            }
            file.write_all(head.as_bytes())?;
            file.write_all(ending.text(false, false).as_bytes())?;
            fs::rename(&temporary, &path)
        })();
        if let Err(error) = begun {
            // The first error is the one to report.
            let _ = fs::remove_file(&temporary);
            return Err(error);
        }
        let head = length(head);
        Ok(Checkpoint {
            path,
            file,
            ending,
            head,
            tail: head,
            messages: 0,
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Its length in bytes.
    pub(super) fn length(&self) -> u64 {
        self.tail
    }

    /// How many messages it holds.
    pub(super) fn messages(&self) -> u64 {
        self.messages
    }

    /// Adds messages, and leaves in `messages` those that it could not write: after an error the
    /// file is whole, and they can be tried again.
    pub(super) fn append(&mut self, messages: &mut String) -> io::Result<()> {
        if messages.is_empty() {
            return Ok(());
        }
        self.put_in_place()?;
        let added = messages.len();
        let closing = self.ending.text(true, false);
        messages.push_str(&closing);
        let mut done = 0;
        let written = self.write_at_tail(messages.as_bytes(), &mut done);
        messages.truncate(added);
        if written.is_err() {
            // Of what fitted, the whole messages stay, and the brackets take the place of the rest.
            let room = done.saturating_sub(closing.len());
            let fitted = messages.as_bytes().get(..room).unwrap_or_default();
            done = match memchr::memmem::rfind(fitted, MESSAGE_ENDS.as_bytes()) {
                Some(at) => at + MESSAGE_ENDS.len(),
                None => 0,
            };
        }
        let done = done.min(added);
        let kept = messages.get(..done).unwrap_or_default();
        let begun = memchr::memmem::find_iter(kept.as_bytes(), MESSAGE_BEGINS).count();
        self.messages += u64::try_from(begun).unwrap_or_default();
        self.tail += length(kept);
        messages.drain(..done);
        if written.is_err() {
            // If this fails too, the loader drops the torn tail.
            let _ = self.close(false);
        }
        written
    }

    /// Puts another head before the messages.
    pub(super) fn replace_head(&mut self, head: &str) -> io::Result<()> {
        self.put_in_place()?;
        let path = self.path.clone();
        self.write_again(Some(head), path)
    }

    /// Writes all of it to `path`, which becomes its place, and another head if there is one.
    fn write_again(&mut self, head: Option<&str>, path: PathBuf) -> io::Result<()> {
        let (temporary, mut file) = create_beside(&path)?;
        let written = (|| {
            file.set_permissions(self.file.metadata()?.permissions())?;
            let from = match head {
                Some(head) => {
                    file.write_all(head.as_bytes())?;
                    self.head
                }
                None => 0,
            };
            // Not by its name, where another file may be by now.
            self.file.seek(SeekFrom::Start(from))?;
            io::copy(&mut (&self.file).take(self.tail - from), &mut file)?;
            let closing = self.ending.text(self.has_messages(), false);
            file.write_all(closing.as_bytes())?;
            fs::rename(&temporary, &path)
        })();
        if let Err(error) = written {
            let _ = fs::remove_file(&temporary);
            return Err(error);
        }
        if let Some(head) = head {
            self.tail = self.tail - self.head + length(head);
            self.head = length(head);
        }
        self.file = file;
        self.path = path;
        Ok(())
    }

    /// Whether the file is still the one at its path. Another process may have replaced it that
    /// records to the same cassette, because it broke our claim or shares it.
    pub(super) fn is_in_place(&self) -> bool {
        is_at(&self.file, &self.path)
    }

    /// Writes the file once more if it is gone from its place, and to another place if
    /// something else is there now.
    fn put_in_place(&mut self) -> io::Result<()> {
        if self.is_in_place() {
            return Ok(());
        }
        let mut path = self.path.clone();
        if path.symlink_metadata().is_ok() {
            path.set_extension(format!("{}.partial", std::process::id()));
        }
        self.write_again(None, path)
    }

    /// Makes it the cassette at `target`, whole and with the mode of the file that is there.
    /// `last` is how it ends when nothing more comes.
    pub(super) fn finish(
        mut self,
        target: &Path,
        last: Ending,
        interrupted: bool,
    ) -> Result<(), Unfinished> {
        let finished = (|| {
            self.put_in_place()?;
            let before = std::mem::replace(&mut self.ending, last);
            if interrupted || self.ending != before {
                self.close(interrupted)?;
            }
            if let Ok(meta) = fs::metadata(target) {
                self.file.set_permissions(meta.permissions())?;
            }
            self.sync()?;
            fs::rename(&self.path, target)
        })();
        finished.map_err(|source| Unfinished {
            kept: self.is_in_place().then_some(self.path),
            source,
        })
    }

    /// Gets it onto the disk, as long as that does not take long. A busy disk may need many
    /// seconds, and clients kill us after two: then what they would leave is a checkpoint, where
    /// what a power failure could take in the meantime is far less likely to be taken.
    fn sync(&self) -> io::Result<()> {
        let file = self.file.try_clone()?;
        let (done, result) = mpsc::channel();
        thread::spawn(move || {
            // Nobody listens when it took too long.
            let _ = done.send(file.sync_all());
        });
        match result.recv_timeout(TO_SYNC) {
            Ok(synced) => synced,
            Err(_) => Ok(()),
        }
    }

    /// Removes it.
    pub(super) fn discard(self) {
        if self.is_in_place() {
            // Whoever made it impossible to remove it can see that it is there.
            let _ = fs::remove_file(&self.path);
        }
    }

    /// Writes the closing brackets where they belong and cuts off what is behind them.
    fn close(&mut self, interrupted: bool) -> io::Result<()> {
        let closing = self.ending.text(self.has_messages(), interrupted);
        self.write_at_tail(closing.as_bytes(), &mut 0)?;
        self.file.set_len(self.tail + length(&closing))
    }

    fn has_messages(&self) -> bool {
        self.tail > self.head
    }

    /// Writes `bytes` from the tail on, and counts how many of them are `done`.
    fn write_at_tail(&mut self, bytes: &[u8], done: &mut usize) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.tail))?;
        while let Some(rest) = bytes.get(*done..).filter(|rest| !rest.is_empty()) {
            match self.file.write(rest) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => *done += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Why the cassette could not be made from a checkpoint.
#[derive(Debug)]
pub(super) struct Unfinished {
    /// Where the messages still are.
    pub(super) kept: Option<PathBuf>,
    pub(super) source: io::Error,
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(own), Ok(there)) => own.dev() == there.dev() && own.ino() == there.ino(),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_at(file: &File, path: &Path) -> bool {
    use same_file::Handle;
    let own = file.try_clone().and_then(Handle::from_file);
    match (own, Handle::from_path(path)) {
        (Ok(own), Ok(there)) => own == there,
        _ => false,
    }
}

fn length(text: &str) -> u64 {
    u64::try_from(text.len()).unwrap_or(u64::MAX)
}
