//! Reading files that a flag, a configuration or a recorded path names: any of them
//! may lead to a FIFO, which would wait for a writer, or to a device without an end.

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::Path;

/// The largest configuration, pack or salt, in bytes. They are written by hand;
/// anything larger is another file.
pub(crate) const LARGEST_BY_HAND: u64 = 16 * 1024 * 1024;

/// The bytes of a regular file, or of what a symbolic link leads to, of at most
/// `largest` bytes.
///
/// # Errors
///
/// Whatever is not a regular file, before it is opened; one that is larger.
pub(crate) fn read(path: &Path, largest: u64) -> io::Result<Vec<u8>> {
    refuse_others(&fs::metadata(path)?, largest)?;
    let file = File::open(path)?;
    // The path may lead elsewhere by now, and a file may grow while it is read.
    refuse_others(&file.metadata()?, largest)?;
    let mut bytes = Vec::new();
    file.take(largest.saturating_add(1))
        .read_to_end(&mut bytes)?;
    match u64::try_from(bytes.len()) {
        Ok(size) if size <= largest => Ok(bytes),
        _ => Err(too_large(largest)),
    }
}

fn refuse_others(meta: &Metadata, largest: u64) -> io::Result<()> {
    if meta.is_dir() {
        let problem = "is a directory, not a file";
        Err(io::Error::new(io::ErrorKind::IsADirectory, problem))
    } else if !meta.is_file() {
        let problem = "is not a regular file";
        Err(io::Error::new(io::ErrorKind::InvalidInput, problem))
    } else if meta.len() > largest {
        Err(too_large(largest))
    } else {
        Ok(())
    }
}

fn too_large(largest: u64) -> io::Error {
    let problem = format!("is larger than {largest} bytes");
    io::Error::new(io::ErrorKind::FileTooLarge, problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_up_to_its_bound_and_nothing_else_is_opened() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("pack");
        fs::write(&path, "12345").expect("a file");
        assert_eq!(read(&path, 5).expect("it fits"), b"12345");
        assert!(read(&path, 4).is_err());
        assert!(read(folder.path(), 5).is_err());
        assert!(read(&folder.path().join("none"), 5).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_device_without_an_end_is_refused() {
        let error = read(Path::new("/dev/zero"), u64::MAX).expect_err("a device");
        assert_eq!(error.to_string(), "is not a regular file");
    }
}
