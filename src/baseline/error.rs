//! Why there is no trusted other side. Each message says what to do about it.

use super::id::CommitId;
use super::path::RepoPath;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why a baseline cannot be had.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BaselineError {
    /// No repository here or above.
    #[error(
        "{}: is in no git repository; use --base none, or --baseline FILE to compare with a file",
        .0.display()
    )]
    NotARepository(PathBuf),
    /// The file system refused something on the way to the repository.
    #[error("{}: cannot be read: {source}", .path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    /// A repository without a working tree.
    #[error(
        "{}: is a bare repository, which has no working tree to compare; run in a checkout",
        .0.display()
    )]
    Bare(PathBuf),
    /// Somebody else's repository.
    #[error(
        "{}: belongs to another user, so git does not trust it; if you do, run `{command}` \
         (in $HOME/.gitconfig and with exactly this path: other forms are not honoured here)",
        .directory.display()
    )]
    Owner { directory: PathBuf, command: String },
    /// References in the newer format.
    #[error(
        "{}: keeps its references as reftable, which is not supported; \
         run `git refs migrate --ref-format=files`, or use --baseline FILE",
        .0.display()
    )]
    Reftable(PathBuf),
    /// Objects that are named by another hash than SHA-1.
    #[error(
        "{}: has the object format {format}, only sha1 is supported; use --baseline FILE",
        .path.display()
    )]
    ObjectFormat { path: PathBuf, format: String },
    /// Some extension of the repository format.
    #[error(
        "{}: uses the repository extension {name}, which is not supported; \
         check out again without it, or use --baseline FILE",
        .path.display()
    )]
    Extension { path: PathBuf, name: String },
    /// Anything else that makes a repository unusable.
    #[error("{}: cannot be opened as a git repository: {message}", .path.display())]
    Unusable { path: PathBuf, message: String },
    /// A file of another place.
    #[error("{}: is outside the repository {}", .path.display(), .root.display())]
    Outside { path: PathBuf, root: PathBuf },
    /// A path that no tree can hold.
    #[error("{}: cannot be the path of a file in a git tree", .0.display())]
    BadPath(PathBuf),

    /// A branch without commits.
    #[error("HEAD has no commit yet, so there is nothing to compare with; use --base none")]
    Unborn,
    /// A revision that names nothing.
    #[error("unknown revision {}{}", quoted(.revision), hint(.suggestion.as_deref()))]
    UnknownRevision {
        revision: String,
        suggestion: Option<String>,
    },
    /// A revision that means nothing, or more than one thing.
    #[error("cannot resolve the revision {}: {}", quoted(.revision), shortened(.message))]
    BadRevision { revision: String, message: String },
    /// A commit that is named and not in the object store.
    #[error(
        "the base commit {id} is not in this clone; run `{command}` and try again{}",
        if *.shallow { ", or check out with fetch-depth: 0" } else { "" }
    )]
    MissingCommit {
        id: CommitId,
        /// Whether the history is cut off, so that a fetch may be as well.
        shallow: bool,
        /// The root of the working tree of the repository that lacks it.
        repository: PathBuf,
        command: String,
    },
    /// No common ancestor because the history is cut off.
    #[error(
        "the history is shallow, so the commit that HEAD and {} have in common is not here; \
         check out with fetch-depth: 0, or run `git fetch --unshallow`",
        shortened(.other)
    )]
    Shallow { other: String },
    /// No common ancestor at all.
    #[error(
        "HEAD and {} have no commit in common; name a base of the same history with --base, \
         or use --baseline FILE",
        shortened(.other)
    )]
    Unrelated { other: String },
    /// A comparison of something with itself, which would pass whatever it holds.
    #[error(
        "on {event}, HEAD ({head}) is part of the base itself: comparing would find nothing; \
         check out the pull request, for example with ref: refs/pull/N/merge"
    )]
    ItsOwnBase { event: &'static str, head: CommitId },
    /// A branch of the remote that was not fetched.
    #[error(
        "the branch {} is not here as refs/remotes/origin/…; check out with fetch-depth: 0",
        quoted(.0)
    )]
    NoBranch(String),

    /// A directory of the base commit that is not in the object store.
    #[error(
        "{path}: is in the base commit, but its tree {id} is not in this clone (a partial clone?); \
         check out without a filter, or run `git cat-file -p {id}` to fetch it"
    )]
    MissingTree { path: RepoPath, id: CommitId },
    /// A file of the base commit whose content is not in the object store.
    #[error(
        "{path}: is in the base commit, but its content {id} is not in this clone (a partial \
         clone?); check out without a filter, or run `git cat-file -p {id}` to fetch it"
    )]
    MissingBlob { path: RepoPath, id: CommitId },
    /// A pointer in place of the file.
    #[error("{path}: is a Git LFS pointer{side}")]
    LfsPointer { path: RepoPath, side: Side },
    /// A file beyond the size of a cassette.
    #[error("{path}: is {size} bytes in the base commit; files of 4 GiB or more are not supported")]
    TooLarge { path: RepoPath, size: u64 },
    /// Something that is no file at the path of one.
    #[error("{path}: is {what} in the base commit, not a file; use --baseline FILE")]
    NotAFile { path: RepoPath, what: NotAFile },
    /// A symbolic link that leads to no file of the same tree.
    #[error("{path}: is a symbolic link in the base commit that {problem}; use --baseline FILE")]
    Link {
        path: RepoPath,
        problem: LinkProblem,
    },
    /// More than a listing can hold.
    #[error("{path}: the base commit has more than {limit} below here; name a smaller directory")]
    TooMany { path: RepoPath, limit: String },
    /// An object that git cannot read.
    #[error("cannot read {what} from the repository: {}; `git fsck` tells more", shortened(.message))]
    Corrupt { what: String, message: String },
    /// An index that libgit2 cannot read.
    #[error(
        "the index of the repository cannot be read: {}; if it is a sparse one, run \
         `git sparse-checkout reapply --no-sparse-index`",
        shortened(.message)
    )]
    Index { message: String },
    /// A file that a sparse checkout leaves out although it is not what the base has.
    #[error(
        "{path}: is left out by the sparse checkout and is not what the base commit has; \
         check it out with `git sparse-checkout add`, or all with `git sparse-checkout disable`"
    )]
    LeftOut { path: RepoPath },
    /// A file of the working tree that could not be read.
    #[error("{path}: cannot be read: {source}")]
    Working { path: RepoPath, source: io::Error },

    /// A runner that does not say what started it.
    #[error("GITHUB_ACTIONS is set and {0} is not; give --base REV, or --base none")]
    EventUnset(&'static str),
    /// A payload that cannot be read.
    #[error("the event file {}: {source}; give --base REV, or --base none", .path.display())]
    EventUnreadable { path: PathBuf, source: io::Error },
    /// A payload of another shape than GitHub's.
    #[error("the payload of the event {event} is malformed: {}; give --base REV", shortened(.message))]
    EventMalformed { event: String, message: String },
}

impl BaselineError {
    /// Whether it keeps one file from being read, and no other.
    pub(super) fn is_about_one_file(&self) -> bool {
        matches!(
            self,
            BaselineError::MissingBlob { .. }
                | BaselineError::LfsPointer { .. }
                | BaselineError::TooLarge { .. }
                | BaselineError::NotAFile { .. }
                | BaselineError::Link { .. }
                | BaselineError::Working { .. }
        )
    }
}

#[cfg(test)]
impl BaselineError {
    /// The commit that one fetch could bring, and whether that fetch may be shallow.
    pub(crate) fn missing_commit(&self) -> Option<(CommitId, bool)> {
        match self {
            BaselineError::MissingCommit { id, shallow, .. } => Some((*id, *shallow)),
            _ => None,
        }
    }
}

/// A side of the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// The commit that is compared with.
    Base,
    /// The files as they are checked out.
    Working,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            // What LFS keeps beside git is not part of the history that is read here,
            // so `lfs: true` alone helps the checked-out side only.
            Side::Base => {
                " in the base commit, so there is no content to compare with; keep cassettes out \
                 of LFS, or check out with lfs: true and use --baseline FILE"
            }
            Side::Working => "; check out with lfs: true, or run `git lfs pull`",
        })
    }
}

/// What a path of the base commit leads to instead of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotAFile {
    Directory,
    Submodule,
    Other,
}

impl fmt::Display for NotAFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NotAFile::Directory => "a directory",
            NotAFile::Submodule => "a submodule",
            NotAFile::Other => "something unknown",
        })
    }
}

/// What is wrong with a symbolic link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkProblem {
    Outside,
    Dangling,
    TooMany,
    TooLong,
}

impl fmt::Display for LinkProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LinkProblem::Outside => "leaves the repository",
            LinkProblem::Dangling => "leads to nothing there",
            LinkProblem::TooMany => "leads through too many others",
            LinkProblem::TooLong => "is longer than any path",
        })
    }
}

/// Text from outside, short enough for a message.
pub(super) fn shortened(text: &str) -> String {
    const SHOWN: usize = 200;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn quoted(text: &str) -> String {
    format!("{:?}", shortened(text))
}

fn hint(suggestion: Option<&str>) -> String {
    match suggestion {
        Some(suggestion) => format!("; is {} meant?", quoted(suggestion)),
        None => {
            "; --base takes a branch, a tag or a commit of this clone (fetch it first)".to_owned()
        }
    }
}
