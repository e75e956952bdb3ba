//! `<cassette>.partial`: the recording on the disk while it runs, valid JSON whenever no write
//! is under way.
//!
//! New messages are written where the closing brackets were, together with the closing
//! brackets, so that a checkpoint costs what is new and not what there is. A kill in the middle
//! of a write tears the tail; [`crate::cassette`] loads such a file up to its last whole message.

use crate::cassette::file::create_beside;
use crate::cassette::write::{end_of_file, end_of_messages};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

/// The file that grows.
#[derive(Debug)]
pub(super) struct Checkpoint {
    path: PathBuf,
    file: File,
    /// How long the text before the first message is, in bytes.
    head: u64,
    /// Where the closing brackets begin.
    tail: u64,
}

impl Checkpoint {
    /// Where the checkpoint of a cassette is, beside the file that `target` names.
    pub(super) fn path_of(target: &Path) -> PathBuf {
        let mut name = target.as_os_str().to_owned();
        name.push(".partial");
        PathBuf::from(name)
    }

    /// Begins one with a head and no messages, in place of what an earlier recording left.
    pub(super) fn create(target: &Path, head: &str) -> io::Result<Checkpoint> {
        let path = Checkpoint::path_of(target);
        let (temporary, mut file) = create_beside(&path)?;
        let begun = (|| {
            file.write_all(head.as_bytes())?;
            file.write_all(closing(false, false).as_bytes())?;
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
            head,
            tail: head,
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Adds messages. After an error the file is as it was before, and they can be tried again.
    pub(super) fn append(&mut self, messages: &mut String) -> io::Result<()> {
        if messages.is_empty() {
            return Ok(());
        }
        let added = messages.len();
        messages.push_str(&closing(true, false));
        let written = self.write_at_tail(messages.as_bytes());
        messages.truncate(added);
        match written {
            Ok(()) => {
                self.tail += length(messages);
                messages.clear();
                Ok(())
            }
            Err(error) => {
                // If this fails too, the loader drops the torn tail.
                let _ = self.close(false);
                Err(error)
            }
        }
    }

    /// Puts another head before the messages.
    pub(super) fn replace_head(&mut self, head: &str) -> io::Result<()> {
        let (temporary, mut file) = create_beside(&self.path)?;
        let written = (|| {
            file.write_all(head.as_bytes())?;
            let mut reader = OpenOptions::new().read(true).open(&self.path)?;
            reader.seek(SeekFrom::Start(self.head))?;
            io::copy(&mut reader.take(self.tail - self.head), &mut file)?;
            file.write_all(closing(self.has_messages(), false).as_bytes())?;
            fs::rename(&temporary, &self.path)
        })();
        if let Err(error) = written {
            let _ = fs::remove_file(&temporary);
            return Err(error);
        }
        self.tail = self.tail - self.head + length(head);
        self.head = length(head);
        self.file = file;
        Ok(())
    }

    /// Makes it the cassette at `target`, whole and with the mode of the file that is there.
    pub(super) fn finish(mut self, target: &Path, interrupted: bool) -> Result<(), Unfinished> {
        let finished = (|| {
            if interrupted {
                self.close(true)?;
            }
            if let Ok(meta) = fs::metadata(target) {
                self.file.set_permissions(meta.permissions())?;
            }
            self.file.sync_all()?;
            fs::rename(&self.path, target)
        })();
        finished.map_err(|source| Unfinished {
            kept: self.path.exists().then_some(self.path),
            source,
        })
    }

    /// Removes it.
    pub(super) fn discard(self) {
        // Whoever made it impossible to remove it can see that it is there.
        let _ = fs::remove_file(&self.path);
    }

    /// Writes the closing brackets where they belong and cuts off what is behind them.
    fn close(&mut self, interrupted: bool) -> io::Result<()> {
        let closing = closing(self.has_messages(), interrupted);
        self.write_at_tail(closing.as_bytes())?;
        self.file.set_len(self.tail + length(&closing))
    }

    fn has_messages(&self) -> bool {
        self.tail > self.head
    }

    fn write_at_tail(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.tail))?;
        self.file.write_all(bytes)
    }
}

/// Why the cassette could not be made from a checkpoint.
#[derive(Debug)]
pub(super) struct Unfinished {
    /// Where the messages still are.
    pub(super) kept: Option<PathBuf>,
    pub(super) source: io::Error,
}

/// The text of a file after its last message.
pub(super) fn closing(has_messages: bool, interrupted: bool) -> String {
    let mut text = end_of_messages(has_messages).to_owned();
    end_of_file(interrupted, &mut text);
    text
}

fn length(text: &str) -> u64 {
    u64::try_from(text.len()).unwrap_or(u64::MAX)
}
