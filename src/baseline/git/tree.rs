//! The files of a base commit, read from the object store.
//!
//! An entry of a tree that is there while its content is not says that the file
//! existed: that is an error, and only a path without an entry is a new file.

use super::super::error::{BaselineError, LinkProblem, NotAFile, Side};
use super::super::id::CommitId;
use super::super::path::RepoPath;
use super::{Repository, corrupt, id_of, oid_of};
use git2::{ErrorCode, Oid, Tree, TreeEntry};
use std::cell::RefCell;
use std::fmt;

/// Symbolic links that one path may lead through.
const MAX_LINKS: usize = 8;
/// Bytes of a path in a listing.
const MAX_PATH: usize = 1 << 16;
/// Entries that a listing looks at, so that a tree that contains itself over and over ends.
const MAX_ENTRIES: usize = 5_000_000;
/// Bytes of a file: cassettes have 32-bit offsets.
const MAX_SIZE: u64 = u32::MAX as u64;
/// Bytes of a symbolic link.
const MAX_LINK_SIZE: u64 = 1 << 16;

const POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";

/// A commit whose files are the other side of the comparison.
pub(crate) struct BaseCommit<'repo> {
    repository: &'repo Repository,
    id: CommitId,
    reason: String,
    root: Tree<'repo>,
    /// The content that was read last and will be asked for again: unpacking and
    /// verifying a large one takes longer than all that is done with it.
    kept: RefCell<Option<(Oid, Vec<u8>)>>,
}

/// What a tree has at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    File(Oid),
    Link(Oid),
    Directory(Oid),
    Submodule(CommitId),
    Other,
}

impl Entry {
    fn of(entry: &TreeEntry<'_>) -> Result<Self, BaselineError> {
        // The kind is in the upper four bits; the lower ones are permissions.
        Ok(match entry.filemode_raw() >> 12 {
            0o10 => Entry::File(entry.id()),
            0o12 => Entry::Link(entry.id()),
            0o04 => Entry::Directory(entry.id()),
            0o16 => Entry::Submodule(id_of(entry.id())?),
            _ => Entry::Other,
        })
    }

    /// What it is, where a file is expected.
    pub(super) fn what(self) -> NotAFile {
        match self {
            Entry::Directory(_) => NotAFile::Directory,
            Entry::Submodule(_) => NotAFile::Submodule,
            Entry::File(_) | Entry::Link(_) | Entry::Other => NotAFile::Other,
        }
    }
}

impl fmt::Debug for BaseCommit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BaseCommit({}, {:?})", self.id, self.reason)
    }
}

impl<'repo> BaseCommit<'repo> {
    pub(super) fn open(
        repository: &'repo Repository,
        id: CommitId,
        reason: String,
    ) -> Result<Self, BaselineError> {
        let oid = oid_of(id)?;
        let commit = match repository.inner.find_commit(oid) {
            Ok(commit) => commit,
            Err(error) if error.code() == ErrorCode::NotFound => return Err(repository.missing(id)),
            Err(error) => return Err(corrupt(format!("the commit {id}"), &error)),
        };
        let root = tree(repository, commit.tree_id(), &RepoPath::root())?;
        Ok(BaseCommit {
            repository,
            id,
            reason,
            root,
            kept: RefCell::default(),
        })
    }

    pub(super) fn repository(&self) -> &'repo Repository {
        self.repository
    }

    pub(super) fn tree(&self) -> &Tree<'repo> {
        &self.root
    }

    /// The commit.
    pub(crate) fn id(&self) -> CommitId {
        self.id
    }

    /// Why it is the base, in one line.
    pub(crate) fn reason(&self) -> &str {
        &self.reason
    }

    /// The content of a file, or none if the commit has nothing at this path.
    /// Symbolic links are followed within the commit.
    ///
    /// # Errors
    ///
    /// Content that is not in the object store, a Git LFS pointer, a file of 4 GiB
    /// or more, a link that leads nowhere, and anything that is no file.
    pub(crate) fn file(&self, path: &RepoPath) -> Result<Option<Vec<u8>>, BaselineError> {
        match self.lookup(path)? {
            None => Ok(None),
            Some(Entry::File(oid)) => {
                let kept = self.kept.take().filter(|(of, _)| *of == oid);
                let bytes = match kept {
                    Some((_, bytes)) => bytes,
                    None => self.content(path, oid, MAX_SIZE)?,
                };
                refuse_pointer(path, &bytes, Side::Base)?;
                Ok(Some(bytes))
            }
            Some(other) => Err(BaselineError::NotAFile {
                path: path.clone(),
                what: other.what(),
            }),
        }
    }

    /// The paths of all files (and symbolic links) below a directory that `wanted`
    /// accepts, sorted by their bytes. Submodules are not entered: their files belong
    /// to the repository that owns them. A directory that is not there has no files.
    ///
    /// # Errors
    ///
    /// A directory that is not in the object store, or more entries than any
    /// honest repository has.
    pub(crate) fn files(
        &self,
        below: &RepoPath,
        wanted: impl Fn(&RepoPath) -> bool,
    ) -> Result<Vec<RepoPath>, BaselineError> {
        let top = match below.as_bytes() {
            b"" => self.root.id(),
            _ => match self.entry(below)? {
                Some(Entry::Directory(oid)) => oid,
                _ => return Ok(Vec::new()),
            },
        };
        let mut found = Vec::new();
        let mut seen = 0;
        let mut pending = vec![(below.clone(), top)];
        while let Some((directory, oid)) = pending.pop() {
            for entry in tree(self.repository, oid, &directory)?.iter() {
                let path = directory.child(entry.name_bytes());
                seen += 1;
                if seen > MAX_ENTRIES || path.as_bytes().len() > MAX_PATH {
                    return Err(BaselineError::TooMany {
                        path: below.clone(),
                        limit: format!("{MAX_ENTRIES} entries, or paths over {MAX_PATH} bytes,"),
                    });
                }
                match Entry::of(&entry)? {
                    Entry::Directory(oid) => pending.push((path, oid)),
                    Entry::File(_) | Entry::Link(_) if wanted(&path) => found.push(path),
                    _ => {}
                }
            }
        }
        found.sort();
        Ok(found)
    }

    /// What is at this very path, links not followed.
    pub(super) fn entry(&self, path: &RepoPath) -> Result<Option<Entry>, BaselineError> {
        let mut current = Entry::Directory(self.root.id());
        let mut at = RepoPath::root();
        for name in path.names() {
            let Entry::Directory(oid) = current else {
                return Ok(None);
            };
            let tree = tree(self.repository, oid, &at)?;
            let Some(entry) = tree.get_name_bytes(name) else {
                return Ok(None);
            };
            current = Entry::of(&entry)?;
            at = at.child(name);
        }
        Ok(Some(current))
    }

    /// What is at the path once every symbolic link on the way is followed.
    fn lookup(&self, path: &RepoPath) -> Result<Option<Entry>, BaselineError> {
        let refuse = |problem| BaselineError::Link {
            path: path.clone(),
            problem,
        };
        let mut links = 0;
        // The names that are still to go, last first, and the directories on the way.
        let mut pending: Vec<Vec<u8>> = path.names().map(<[u8]>::to_vec).collect();
        pending.reverse();
        let mut way = vec![(RepoPath::root(), Entry::Directory(self.root.id()))];
        while let Some(name) = pending.pop() {
            let Some((at, Entry::Directory(oid))) = way.last() else {
                return match way.last() {
                    // What is inside a submodule is in another repository.
                    Some((at, Entry::Submodule(_))) => Err(BaselineError::NotAFile {
                        path: at.clone(),
                        what: NotAFile::Submodule,
                    }),
                    _ if links > 0 => Err(refuse(LinkProblem::Dangling)),
                    _ => Ok(None),
                };
            };
            match &name[..] {
                b"." => continue,
                b".." if way.len() > 1 => {
                    way.pop();
                    continue;
                }
                b".." => return Err(refuse(LinkProblem::Outside)),
                _ => {}
            }
            let tree = tree(self.repository, *oid, at)?;
            let Some(entry) = tree.get_name_bytes(&name) else {
                return if links > 0 {
                    Err(refuse(LinkProblem::Dangling))
                } else {
                    Ok(None)
                };
            };
            let at = at.child(&name);
            match Entry::of(&entry)? {
                Entry::Link(oid) => {
                    links += 1;
                    if links > MAX_LINKS {
                        return Err(refuse(LinkProblem::TooMany));
                    }
                    let target = match self.content(&at, oid, MAX_LINK_SIZE) {
                        Err(BaselineError::TooLarge { .. }) => {
                            return Err(refuse(LinkProblem::TooLong));
                        }
                        target => target?,
                    };
                    if target.starts_with(b"/") {
                        return Err(refuse(LinkProblem::Outside));
                    }
                    let names = target.split(|byte| *byte == b'/').rev();
                    pending.extend(names.filter(|name| !name.is_empty()).map(<[u8]>::to_vec));
                }
                entry => way.push((at, entry)),
            }
        }
        Ok(way.pop().map(|(_, entry)| entry))
    }

    /// Whether the content of a blob is `bytes`; if it is not, it is kept for whoever
    /// asks for that file next.
    pub(super) fn is_content(
        &self,
        path: &RepoPath,
        oid: Oid,
        bytes: &[u8],
    ) -> Result<bool, BaselineError> {
        let content = self.content(path, oid, MAX_SIZE)?;
        let same = content == bytes;
        self.kept.replace((!same).then_some((oid, content)));
        Ok(same)
    }

    /// The size of a blob in bytes; none if it is not in the object store.
    pub(super) fn size(&self, oid: Oid) -> Option<u64> {
        let odb = self.repository.inner.odb().ok()?;
        let (size, _) = odb.read_header(oid).ok()?;
        Some(size as u64)
    }

    fn content(&self, path: &RepoPath, oid: Oid, limit: u64) -> Result<Vec<u8>, BaselineError> {
        let odb = self.repository.inner.odb();
        let odb = odb.map_err(|error| corrupt("the object store", &error))?;
        let failure = |error: &git2::Error| -> Result<BaselineError, BaselineError> {
            Ok(match error.code() {
                ErrorCode::NotFound => BaselineError::MissingBlob {
                    path: path.clone(),
                    id: id_of(oid)?,
                },
                _ => corrupt(path.to_string(), error),
            })
        };
        // The size first: a bomb is refused before it is unpacked.
        let (size, _) = match odb.read_header(oid) {
            Ok(header) => header,
            Err(error) => return Err(failure(&error)?),
        };
        let size = size as u64;
        if size > limit {
            return Err(BaselineError::TooLarge {
                path: path.clone(),
                size,
            });
        }
        match self.repository.inner.find_blob(oid) {
            Ok(blob) => Ok(blob.content().to_vec()),
            Err(error) => Err(failure(&error)?),
        }
    }
}

/// Refuses a Git LFS pointer in place of a file.
pub(super) fn refuse_pointer(
    path: &RepoPath,
    bytes: &[u8],
    side: Side,
) -> Result<(), BaselineError> {
    if bytes.starts_with(POINTER) {
        let path = path.clone();
        return Err(BaselineError::LfsPointer { path, side });
    }
    Ok(())
}

fn tree<'repo>(
    repository: &'repo Repository,
    oid: Oid,
    path: &RepoPath,
) -> Result<Tree<'repo>, BaselineError> {
    match repository.inner.find_tree(oid) {
        Ok(tree) => Ok(tree),
        Err(error) if error.code() == ErrorCode::NotFound => Err(BaselineError::MissingTree {
            path: path.clone(),
            id: id_of(oid)?,
        }),
        Err(error) => Err(corrupt(format!("the directory {path}"), &error)),
    }
}
