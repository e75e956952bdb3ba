//! Paths as a tree of git has them: bytes, relative to the root of the repository.

use super::error::BaselineError;
use std::fmt;
use std::path::{Component, Path, PathBuf};

/// A path below the root of a repository: names separated by `/`, in whatever bytes they have.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) struct RepoPath(Vec<u8>);

impl RepoPath {
    /// The root itself.
    pub(crate) fn root() -> Self {
        RepoPath::default()
    }

    /// From the bytes that a tree has.
    #[cfg(test)]
    pub(crate) fn from_bytes(bytes: impl Into<Vec<u8>>) -> Self {
        RepoPath(bytes.into())
    }

    /// From a path of the file system that is already relative to the root.
    ///
    /// # Errors
    ///
    /// A path that leaves the root, and on systems whose paths are no bytes one that
    /// is not Unicode: no tree can be asked for it.
    pub(crate) fn from_relative(path: &Path) -> Result<Self, BaselineError> {
        let mut bytes: Vec<u8> = Vec::new();
        for component in path.components() {
            let name = match component {
                Component::CurDir => continue,
                Component::Normal(name) => name,
                _ => return Err(BaselineError::BadPath(path.to_owned())),
            };
            if !bytes.is_empty() {
                bytes.push(b'/');
            }
            bytes.extend_from_slice(
                bytes_of(name).ok_or_else(|| BaselineError::BadPath(path.to_owned()))?,
            );
        }
        Ok(RepoPath(bytes))
    }

    /// The bytes, with `/` between names.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Its names from the root on; none for the root.
    pub(crate) fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.0
            .split(|byte| *byte == b'/')
            .filter(|name| !name.is_empty())
    }

    /// The last name; empty for the root.
    pub(crate) fn file_name(&self) -> &[u8] {
        self.names().last().unwrap_or_default()
    }

    /// The path of the entry `name` in this directory.
    pub(crate) fn child(&self, name: &[u8]) -> Self {
        let mut bytes = self.0.clone();
        if !bytes.is_empty() {
            bytes.push(b'/');
        }
        bytes.extend_from_slice(name);
        RepoPath(bytes)
    }

    /// As a path of the file system; none if that cannot express it.
    pub(crate) fn to_path(&self) -> Option<PathBuf> {
        path_of(&self.0)
    }
}

impl fmt::Display for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.0))
    }
}

#[cfg(unix)]
fn bytes_of(name: &std::ffi::OsStr) -> Option<&[u8]> {
    use std::os::unix::ffi::OsStrExt;
    Some(name.as_bytes())
}

#[cfg(not(unix))]
fn bytes_of(name: &std::ffi::OsStr) -> Option<&[u8]> {
    name.to_str().map(str::as_bytes)
}

#[cfg(unix)]
fn path_of(bytes: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    Some(PathBuf::from(std::ffi::OsStr::from_bytes(bytes)))
}

#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> Option<PathBuf> {
    std::str::from_utf8(bytes).ok().map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_slashes_and_no_dots() {
        let path = RepoPath::from_relative(Path::new("./a/-b c/x.json")).expect("a path");
        assert_eq!(path.as_bytes(), b"a/-b c/x.json");
        assert_eq!(
            path.names().collect::<Vec<_>>(),
            [&b"a"[..], b"-b c", b"x.json"]
        );
        assert_eq!(path.file_name(), b"x.json");
        assert_eq!(RepoPath::root().child(b"a").child(b"b").as_bytes(), b"a/b");
        assert_eq!(RepoPath::root().names().count(), 0);
    }

    #[test]
    fn a_path_that_leaves_the_root_is_refused() {
        for path in ["../x", "a/../../x", "/x"] {
            let error = RepoPath::from_relative(Path::new(path)).expect_err(path);
            assert!(matches!(error, BaselineError::BadPath(_)), "{error}");
        }
    }
}
