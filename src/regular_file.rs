//! Reading files that a flag, a configuration or a recorded path names: any of them
//! may lead to a FIFO, which would wait for a writer, or to a device without an end.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

/// The largest configuration, pack or salt, in bytes. They are written by hand;
/// anything larger is another file.
pub(crate) const LARGEST_BY_HAND: u64 = 16 * 1024 * 1024;

/// Why a file is not read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("is a directory, not a file")]
    Directory,
    #[error("is not a regular file")]
    NotRegular,
    #[error("is larger than {largest} bytes")]
    TooLarge { size: u64, largest: u64 },
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<Refusal> for io::Error {
    fn from(refusal: Refusal) -> io::Error {
        let kind = match &refusal {
            Refusal::Directory => io::ErrorKind::IsADirectory,
            Refusal::NotRegular => io::ErrorKind::InvalidInput,
            Refusal::TooLarge { .. } => io::ErrorKind::FileTooLarge,
            Refusal::Io(_) => io::ErrorKind::Other,
        };
        match refusal {
            Refusal::Io(error) => error,
            refusal => io::Error::new(kind, refusal.to_string()),
        }
    }
}

/// As [`bytes()`], with the refusal as an error of the file system.
///
/// # Errors
///
/// As [`bytes()`].
pub(crate) fn read(path: &Path, largest: u64) -> io::Result<Vec<u8>> {
    bytes(path, largest).map_err(io::Error::from)
}

/// The bytes of a regular file, or of what a symbolic link leads to, of at most
/// `largest` bytes.
///
/// # Errors
///
/// Whatever is not a regular file, before it is opened; one that is larger, and one that
/// the kernel makes up, which may have no end or wait for something to happen.
pub(crate) fn bytes(path: &Path, largest: u64) -> Result<Vec<u8>, Refusal> {
    refuse_others(&fs::metadata(path)?, largest)?;
    let file = open(path)?;
    // The path may lead elsewhere by now, and a file may grow while it is read.
    let meta = file.metadata()?;
    refuse_others(&meta, largest)?;
    if is_made_up(&file) {
        return Err(Refusal::NotRegular);
    }
    let mut bytes = Vec::with_capacity(usize::try_from(meta.len()).unwrap_or(0).saturating_add(1));
    file.take(largest.saturating_add(1))
        .read_to_end(&mut bytes)?;
    match u64::try_from(bytes.len()) {
        Ok(size) if size <= largest => Ok(bytes),
        size => {
            let size = size.unwrap_or(u64::MAX);
            Err(Refusal::TooLarge { size, largest })
        }
    }
}

fn refuse_others(meta: &Metadata, largest: u64) -> Result<(), Refusal> {
    let size = meta.len();
    if meta.is_dir() {
        Err(Refusal::Directory)
    } else if !meta.is_file() {
        Err(Refusal::NotRegular)
    } else if size > largest {
        Err(Refusal::TooLarge { size, largest })
    } else {
        Ok(())
    }
}

/// Opens a file without waiting, should the path lead to a FIFO by now.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        let flag = rustix::fs::OFlags::NONBLOCK.bits();
        options.custom_flags(i32::try_from(flag).unwrap_or(0));
    }
    options.open(path)
}

/// Whether a file is on no disk: `/proc/kmsg` and its like say that they are regular files.
#[cfg(target_os = "linux")]
fn is_made_up(file: &File) -> bool {
    /// The file systems that are windows into the kernel, as `linux/magic.h` numbers them.
    const KERNEL: [u64; 13] = [
        0x9fa0,      // proc
        0x6265_6572, // sysfs
        0x6462_6720, // debugfs
        0x7472_6163, // tracefs
        0x7363_6673, // securityfs
        0x0027_e0eb, // cgroup
        0x6367_7270, // cgroup2
        0xcafe_4a11, // bpf
        0x6165_676c, // pstore
        0xf97c_ff8c, // selinux
        0x4249_4e4d, // binfmt_misc
        0x6265_6570, // configfs
        0x6573_5543, // fusectl
    ];
    let Ok(system) = rustix::fs::fstatfs(file) else {
        return false;
    };
    u64::try_from(system.f_type).is_ok_and(|kind| KERNEL.contains(&kind))
}

#[cfg(not(target_os = "linux"))]
fn is_made_up(_: &File) -> bool {
    false
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

    #[cfg(target_os = "linux")]
    #[test]
    fn what_the_kernel_makes_up_is_refused() {
        for path in [
            "/proc/self/status",
            "/sys/kernel/mm/transparent_hugepage/enabled",
        ] {
            if Path::new(path).exists() {
                let error = read(Path::new(path), u64::MAX).expect_err("no file on a disk");
                assert_eq!(error.to_string(), "is not a regular file");
            }
        }
    }
}
