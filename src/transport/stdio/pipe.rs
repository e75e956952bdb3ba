//! The descriptors of this process, unbuffered, and the loops that carry bytes between them and
//! the server.

use std::fs::File;
use std::io::{self, Read, Write};

/// So much is read at a time, in bytes.
pub(super) const BUFFER: usize = 64 * 1024;

/// Standard input without a buffer of its own. Reading it blocks a thread that nobody waits for.
pub(super) fn stdin() -> io::Result<File> {
    duplicate(&io::stdin())
}

/// Standard output without a buffer of its own.
pub(super) fn stdout() -> io::Result<File> {
    duplicate(&io::stdout())
}

#[cfg(unix)]
fn duplicate(stream: &impl std::os::fd::AsFd) -> io::Result<File> {
    Ok(File::from(stream.as_fd().try_clone_to_owned()?))
}

#[cfg(windows)]
fn duplicate(stream: &impl std::os::windows::io::AsHandle) -> io::Result<File> {
    Ok(File::from(stream.as_handle().try_clone_to_owned()?))
}

/// Lets a pipe hold more, so that a long message costs fewer turns of the processes at its ends.
/// What is no pipe, and a system that knows no such thing, stays as it is.
#[cfg(target_os = "linux")]
pub(super) fn widen(pipe: &impl std::os::fd::AsFd) {
    // Without the permission it is only slower.
    let _ = rustix::pipe::fcntl_setpipe_size(pipe, 1 << 20);
}

#[cfg(not(target_os = "linux"))]
pub(super) fn widen<T>(_pipe: &T) {}

/// Reads what there is; 0 at the end. A descriptor that somebody else made non-blocking is
/// waited for.
pub(super) fn read(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match file.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => wait(file, false)?,
            other => return other,
        }
    }
}

/// Writes all of it, in the same way.
pub(super) fn write(file: &mut File, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => wait(file, true)?,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(unix)]
fn wait(file: &File, to_write: bool) -> io::Result<()> {
    use rustix::event::{PollFd, PollFlags, poll};
    let flags = if to_write {
        PollFlags::OUT
    } else {
        PollFlags::IN
    };
    match poll(&mut [PollFd::new(file, flags)], None) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(unix))]
fn wait(_file: &File, _to_write: bool) -> io::Result<()> {
    std::thread::yield_now();
    Ok(())
}
