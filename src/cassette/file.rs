//! Reading cassette files from disk, refusing with a reason what is none, and
//! writing them so that a crash leaves either the old file or the new one.

use super::locate::position;
use super::model::Cassette;
use super::{format, locate};
use crate::finding::Position;
use crate::regular_file::{self, Refusal};
use crate::wire::json::{MAX_INPUT, Problem, SyntaxError};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Why a file could not be loaded as a cassette, and where in it that shows.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", place(.name, *.position))]
pub struct LoadError {
    /// The file as it was named.
    pub name: String,
    /// The place in the file, if the problem has one.
    pub position: Option<Position>,
    /// What is wrong.
    pub problem: LoadProblem,
}

fn place(name: &str, position: Option<Position>) -> String {
    match position {
        Some(Position { line, column }) => format!("{name}:{line}:{column}"),
        None => name.to_owned(),
    }
}

/// What is wrong with a file that should be a cassette.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadProblem {
    /// The file could not be read.
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
    /// A directory.
    #[error("is a directory, not a cassette file")]
    Directory,
    /// A FIFO, socket or device, which is not opened because that could block.
    #[error("is not a regular file")]
    NotRegular,
    /// Nothing in it.
    #[error("is empty; a cassette is one JSON object")]
    Empty,
    /// Too large for the 32-bit offsets that this version uses.
    #[error("is {size} bytes; cassettes of 4 GiB or more are not supported")]
    TooLarge {
        /// The size of the file in bytes.
        size: u64,
    },
    /// Bytes 0, as a disk that was not synced leaves them.
    #[error("holds NUL bytes; the file is damaged, record it again or restore it")]
    Nul,
    /// UTF-16 or UTF-32 text.
    #[error("is {encoding} text; cassettes are UTF-8, save it again as UTF-8")]
    WrongEncoding {
        /// The encoding that its first bytes show.
        encoding: &'static str,
    },
    /// Some byte that no UTF-8 text has at this place.
    #[error("is not UTF-8 text here")]
    NotUtf8,
    /// A Git LFS pointer in place of the file.
    #[error(
        "is a Git LFS pointer, not the cassette; check out with lfs: true, or run `git lfs pull`"
    )]
    LfsPointer,
    /// Markers of an unresolved merge.
    #[error("holds merge-conflict markers; resolve the conflict, or record the cassette again")]
    MergeConflict,
    /// A recording that was not finished.
    #[error(
        "is an unfinished recording, and this takes finished cassettes only; \
         `mcp-cassette redact FILE.partial --to FILE` makes one of what it holds"
    )]
    Partial,
    /// The text stops in the middle.
    #[error("ends here, inside {inside}; the file is cut off, record it again or restore it")]
    CutOff {
        /// What was being read when the text ended.
        inside: String,
    },
    /// Not JSON.
    #[error("is not valid JSON: {0}")]
    Json(String),
    /// JSON, but no cassette.
    #[error("is not a cassette: {0}")]
    NotACassette(String),
    /// A later format version.
    #[error(
        "has format_version {version}; it was made by a newer version of mcp-cassette, \
         this one reads 1 to 3"
    )]
    Newer {
        /// The version that the file names.
        version: String,
    },
    /// A member of the cassette's own structure twice in one object.
    #[error("has the member \"{0}\" twice; two readers could see two different cassettes")]
    Duplicate(String),
    /// A member of the wrong type or with a value that the format does not have.
    #[error("{0}")]
    Malformed(String),
}

/// Why a cassette could not be saved; the file that was there before is untouched.
#[derive(Debug, thiserror::Error)]
#[error("cannot save {path}: {source}")]
pub struct SaveError {
    /// The file that was to be written.
    pub path: PathBuf,
    /// What went wrong.
    pub source: io::Error,
}

impl Cassette {
    /// Reads a cassette of format version 1, 2 or 3.
    ///
    /// # Errors
    ///
    /// Whatever is not a whole cassette is refused with its reason; nothing is
    /// skipped and no default stands in for what could not be read.
    pub fn load(path: impl AsRef<Path>) -> Result<Cassette, LoadError> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let bytes = Cassette::check_finished(path).and_then(|()| read(path));
        match bytes {
            Ok(bytes) => Cassette::parse(name, bytes),
            Err(problem) => Err(LoadError {
                name,
                position: None,
                problem,
            }),
        }
    }

    /// As [`Cassette::load`], from bytes that are already in memory. `name` stands in messages.
    ///
    /// # Errors
    ///
    /// As [`Cassette::load`].
    pub fn parse(name: impl Into<String>, bytes: Vec<u8>) -> Result<Cassette, LoadError> {
        let name = name.into();
        let text = match text_of(bytes) {
            Ok(text) => text,
            Err((position, problem)) => {
                return Err(LoadError {
                    name,
                    position,
                    problem,
                });
            }
        };
        let fault = match format::read(&text) {
            Ok(parts) => {
                let format::Parts { head, rows, extras } = parts;
                return Ok(Cassette {
                    name,
                    text,
                    head,
                    rows,
                    extras,
                });
            }
            Err(fault) => fault,
        };
        let (at, problem) = explain(&text, fault);
        Err(LoadError {
            name,
            position: Some(position(&text, at)),
            problem,
        })
    }

    /// Writes the cassette in format version 3.
    ///
    /// The file appears whole or not at all: the text goes to a temporary file in
    /// the same directory, is synced and renamed over the target. A symbolic link
    /// is followed, and an existing file keeps its mode.
    ///
    /// # Errors
    ///
    /// Any failure of the file system; what was there before stays as it was.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), SaveError> {
        let path = path.as_ref();
        save_atomically(path, self.to_json().as_bytes()).map_err(|source| SaveError {
            path: path.to_owned(),
            source,
        })
    }
}

/// The bytes of a regular file.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, LoadProblem> {
    let largest = MAX_INPUT as u64 - 1;
    regular_file::bytes(path, largest).map_err(|refusal| match refusal {
        Refusal::Directory => LoadProblem::Directory,
        Refusal::NotRegular => LoadProblem::NotRegular,
        Refusal::TooLarge { size, .. } => LoadProblem::TooLarge { size },
        Refusal::Io(error) => LoadProblem::Io(error),
    })
}

fn text_of(bytes: Vec<u8>) -> Result<String, (Option<Position>, LoadProblem)> {
    if bytes.is_empty() {
        return Err((None, LoadProblem::Empty));
    }
    if bytes.len() >= MAX_INPUT {
        return Err((
            None,
            LoadProblem::TooLarge {
                size: bytes.len() as u64,
            },
        ));
    }
    if let Some(encoding) = foreign_encoding(&bytes) {
        return Err((None, LoadProblem::WrongEncoding { encoding }));
    }
    if bytes.iter().all(|&byte| byte == 0) {
        return Err((None, LoadProblem::Nul));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let valid = error.as_bytes().get(..at).unwrap_or_default();
        let place = position(&String::from_utf8_lossy(valid), at);
        let problem = binary_format(error.as_bytes()).map_or(LoadProblem::NotUtf8, |what| {
            LoadProblem::NotACassette(format!("this is {what}"))
        });
        (Some(place), problem)
    })?;
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        return Err((None, LoadProblem::Empty));
    }
    if text.starts_with("version https://git-lfs.github.com/spec/") {
        return Err((None, LoadProblem::LfsPointer));
    }
    Ok(text)
}

fn foreign_encoding(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0xff, 0xfe, 0, 0, ..] | [b'{', 0, 0, 0, ..] => Some("UTF-32 (little endian)"),
        [0, 0, 0xfe, 0xff, ..] | [0, 0, 0, b'{', ..] => Some("UTF-32 (big endian)"),
        [0xff, 0xfe, ..] | [b'{', 0, ..] => Some("UTF-16 (little endian)"),
        [0xfe, 0xff, ..] | [0, b'{', ..] => Some("UTF-16 (big endian)"),
        _ => None,
    }
}

/// What a file that is not text is, where its first bytes say so.
fn binary_format(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("a PNG image"),
        [0xff, 0xd8, 0xff, ..] => Some("a JPEG image"),
        [b'P', b'K', 3, 4, ..] => Some("a ZIP archive"),
        [0x1f, 0x8b, ..] => Some("a gzip file; unpack it first"),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Some("a Zstandard file; unpack it first"),
        _ => None,
    }
}

/// Turns what the reader found into what the user should know.
fn explain(text: &str, fault: format::Fault) -> (usize, LoadProblem) {
    let error = match fault {
        format::Fault::Shape { at, problem } => return (at, problem),
        format::Fault::Syntax(error) => error,
    };
    if let Some(at) = conflict_marker(text) {
        return (at, LoadProblem::MergeConflict);
    }
    let SyntaxError { at, problem } = error;
    match problem {
        Problem::End => {
            let pointer = locate::pointers(text, locate::whole(text), "", &[text.len()]);
            let inside = match pointer.first().map(String::as_str) {
                None | Some("") => "the JSON text".to_owned(),
                Some(pointer) => pointer.to_owned(),
            };
            (text.len(), LoadProblem::CutOff { inside })
        }
        Problem::ControlInString(0) | Problem::Unexpected { found: '\0', .. } => {
            (at, LoadProblem::Nul)
        }
        problem => {
            let start = text.trim_start_matches('\u{feff}').trim_start();
            if start.starts_with(['{', '[']) {
                (at, LoadProblem::Json(problem.to_string()))
            } else {
                (
                    at,
                    LoadProblem::NotACassette(format!("the file is not JSON ({problem})")),
                )
            }
        }
    }
}

fn conflict_marker(text: &str) -> Option<usize> {
    let at_line_start = |marker: &str| {
        memchr::memmem::find_iter(text.as_bytes(), marker)
            .find(|&at| at == 0 || text.as_bytes().get(at - 1) == Some(&b'\n'))
    };
    let start = at_line_start("<<<<<<< ")?;
    at_line_start("=======").map(|_| start)
}

/// Writes `bytes` to `path` through a temporary file beside the resolved target.
pub(crate) fn save_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let target = resolve(path)?;
    let mode = match fs::metadata(&target) {
        Ok(meta) if meta.is_file() => Some(meta.permissions()),
        Ok(_) => return Err(io::Error::other("the target is not a regular file")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let (temporary, mut file) = create_beside(&target)?;
    let written = (|| {
        file.write_all(bytes)?;
        if let Some(permissions) = mode {
            file.set_permissions(permissions)?;
        }
        file.sync_all()?;
        fs::rename(&temporary, &target)
    })();
    if written.is_err() {
        // The first error is the one to report; a file that stays behind is only untidy.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Follows symbolic links to the file that they lead to, which need not exist yet.
pub(crate) fn resolve(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_owned();
    // The kernel's own limit on links in a row is 40.
    for _ in 0..40 {
        match fs::read_link(&target) {
            Ok(link) => target = target.parent().unwrap_or(Path::new("")).join(link),
            Err(_) => return Ok(target),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

/// A new file with a name of its own in the directory of `target`.
pub(crate) fn create_beside(target: &Path) -> io::Result<(PathBuf, File)> {
    let name = target
        .file_name()
        .ok_or_else(|| io::Error::other("the path names no file"))?;
    for attempt in 0..1000_u32 {
        let mut temporary = std::ffi::OsString::from(".");
        temporary.push(name);
        temporary.push(format!(".{}-{attempt}.tmp", std::process::id()));
        let candidate = target.with_file_name(temporary);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt as _;
            options.mode(0o644);
        }
        match options.open(&candidate) {
            Ok(file) => return Ok((candidate, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other(
        "no free name for a temporary file beside it",
    ))
}
