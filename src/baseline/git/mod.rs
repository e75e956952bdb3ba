//! Repositories: the only user of git2.
//!
//! A repository is found from the file that it owns, never from `GIT_DIR` or the working
//! directory, so that a hook, a linked worktree and a submodule see their own. Nothing
//! here writes to one.

mod index;
mod pairing;
mod resolve;
mod similar;
mod tree;

pub(crate) use index::Staged;
pub(crate) use pairing::{LARGE, Pair, Pairing, Status};
pub(crate) use resolve::Base;
pub(crate) use tree::BaseCommit;

use super::ci::Environment;
use super::error::BaselineError;
use super::id::CommitId;
use super::path::RepoPath;
use git2::{ErrorCode, Oid};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Every repository is opened under this lock, because whether libgit2 checks owners
/// is one switch for the whole process.
static OPENING: Mutex<()> = Mutex::new(());

/// Which repositories are used although they belong to somebody else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Trust {
    /// Those inside this directory: `GITHUB_WORKSPACE` on a runner, whose containers
    /// run as another user than the one that checked out. None elsewhere.
    pub(crate) workspace: Option<PathBuf>,
}

/// An open repository with a working tree.
pub(crate) struct Repository {
    inner: git2::Repository,
    /// The root of the working tree, without symbolic links.
    root: PathBuf,
    trust: Trust,
}

impl fmt::Debug for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Repository").field(&self.root).finish()
    }
}

impl Repository {
    /// Opens the repository that owns the file or directory `path`, which need not
    /// exist (any more).
    ///
    /// # Errors
    ///
    /// No repository, one that libgit2 cannot read, one without a working tree, or
    /// one of another user that `trust` does not cover.
    pub(crate) fn containing(path: &Path, trust: &Trust) -> Result<Self, BaselineError> {
        let (start, _) = resolved(path)?;
        let Some(tree) = working_tree(&start) else {
            return Err(without_working_tree(start));
        };
        let inner = match open(tree, true) {
            Err(error) if error.code() == ErrorCode::Owner && trust.covers(tree) => {
                let inner = open(tree, false).map_err(|error| refusal(tree, &error))?;
                // The `.git` of a linked worktree or submodule leads somewhere else.
                if !(trust.covers(inner.path()) && trust.covers(inner.commondir())) {
                    return Err(refusal(tree, &error));
                }
                inner
            }
            opened => opened.map_err(|error| refusal(tree, &error))?,
        };
        let Some(root) = inner.workdir() else {
            return Err(BaselineError::Bare(tree.to_owned()));
        };
        let root = canonical(root).map_err(|source| BaselineError::Unreadable {
            path: root.to_owned(),
            source,
        })?;
        Ok(Repository {
            inner,
            root,
            trust: trust.clone(),
        })
    }

    /// The root of the working tree, without symbolic links: two files belong to the
    /// same repository if it is the same.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Whether its history is cut off.
    pub(crate) fn is_shallow(&self) -> bool {
        self.inner.is_shallow()
    }

    /// The path that the file or directory `path` has in the trees of this repository,
    /// whether or not it is there. Links on the way to a file are followed and a link in
    /// the place of the file is not, as git does it.
    ///
    /// # Errors
    ///
    /// A path of another place, or one that no tree can hold.
    pub(crate) fn path_of(&self, path: &Path) -> Result<RepoPath, BaselineError> {
        let full = match path.file_name() {
            Some(name) if !path.is_dir() => {
                let (start, rest) = resolved(parent(path))?;
                start.join(rest).join(name)
            }
            _ => {
                let (start, rest) = resolved(path)?;
                start.join(rest)
            }
        };
        match full.strip_prefix(&self.root) {
            Ok(relative) => RepoPath::from_relative(relative),
            Err(_) => Err(BaselineError::Outside {
                path: path.to_owned(),
                root: self.root.clone(),
            }),
        }
    }

    /// The error for a commit that this clone lacks.
    fn missing(&self, id: CommitId) -> BaselineError {
        let shallow = self.is_shallow();
        // Fetching a part of the history into a whole clone would cut that clone off.
        let depth = if shallow { "--depth=1 " } else { "" };
        // The working directory of a run is rarely inside a submodule.
        let submodule = self.root.join(".git").is_file() && !self.inner.is_worktree();
        let place = if submodule {
            format!("-C {} ", shell_word(&self.root))
        } else {
            String::new()
        };
        BaselineError::MissingCommit {
            id,
            shallow,
            repository: self.root.clone(),
            command: format!("git {place}fetch --no-tags {depth}origin {id}"),
        }
    }
}

/// What it takes to open a commit again, in another thread: libgit2's repositories belong
/// to one.
#[derive(Clone, Debug)]
pub(crate) struct Handle {
    root: PathBuf,
    trust: Trust,
    commit: CommitId,
}

impl BaseCommit<'_> {
    /// For another thread.
    pub(crate) fn handle(&self) -> Handle {
        let repository = self.repository();
        Handle {
            root: repository.root.clone(),
            trust: repository.trust.clone(),
            commit: self.id(),
        }
    }
}

impl Handle {
    /// As [`BaseCommit::file`], in a repository that is opened for this.
    ///
    /// # Errors
    ///
    /// As [`Repository::containing`] and [`BaseCommit::file`].
    pub(crate) fn file(&self, path: &RepoPath) -> Result<Option<Vec<u8>>, BaselineError> {
        let repository = Repository::containing(&self.root, &self.trust)?;
        BaseCommit::open(&repository, self.commit, String::new())?.file(path)
    }
}

impl Trust {
    /// What the runner vouches for, if there is one.
    pub(crate) fn of(environment: &Environment) -> Self {
        let workspace = environment.workspace.clone();
        Trust {
            workspace: workspace.filter(|_| environment.github_actions),
        }
    }

    fn covers(&self, path: &Path) -> bool {
        match (self.workspace.as_deref().map(canonical), canonical(path)) {
            (Some(Ok(workspace)), Ok(path)) => path.starts_with(workspace),
            _ => false,
        }
    }
}

/// Opens the repository of the directory `tree`, which has a `.git`.
#[expect(
    unsafe_code,
    reason = "libgit2 checks owners or not by a plain global; see the safety comment"
)]
fn open(tree: &Path, check_owner: bool) -> Result<git2::Repository, git2::Error> {
    let _opening = OPENING.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: libgit2 reads the switch only while it opens a repository, and this crate
    // opens every repository here and under the lock, so nothing reads it meanwhile.
    unsafe { git2::opts::set_verify_owner_validation(check_owner)? };
    git2::Repository::open(tree.join(".git"))
}

/// Why a directory with no `.git` at or above it cannot be used.
fn without_working_tree(start: PathBuf) -> BaselineError {
    let no_ceilings: [&OsStr; 0] = [];
    match git2::Repository::discover_path(&start, no_ceilings) {
        Ok(bare) => BaselineError::Bare(bare),
        Err(_) => BaselineError::NotARepository(start),
    }
}

/// What libgit2 says of a repository that it does not open.
fn refusal(tree: &Path, error: &git2::Error) -> BaselineError {
    let path = tree.to_owned();
    let message = error.message();
    if error.code() == ErrorCode::Owner {
        let command = format!(
            "git config --global --add safe.directory {}",
            shell_word(tree)
        );
        return BaselineError::Owner {
            directory: path,
            command,
        };
    }
    if let Some(name) = message.strip_prefix("unsupported extension name ") {
        if name.eq_ignore_ascii_case("extensions.refstorage") {
            return BaselineError::Reftable(path);
        }
        let name = name.to_owned();
        return BaselineError::Extension { path, name };
    }
    if let Some(format) = message.strip_prefix("unknown object format ") {
        let format = format.trim_matches('\'').to_owned();
        return BaselineError::ObjectFormat { path, format };
    }
    BaselineError::Unusable {
        path,
        message: message.to_owned(),
    }
}

/// The nearest directory with a `.git` from `start` on upwards.
///
/// libgit2 would also take a directory that merely looks like the inside of a `.git`. A
/// pull request can hold one, with a history of its own making, and git refuses
/// to commit only the name `.git`.
fn working_tree(start: &Path) -> Option<&Path> {
    start.ancestors().find(|path| path.join(".git").exists())
}

fn shell_word(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "/._-+:\\~".contains(c);
    if text.chars().all(plain) {
        text
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// The nearest existing directory at or above `path`, without symbolic links, and
/// what of `path` comes after it.
fn resolved(path: &Path) -> Result<(PathBuf, PathBuf), BaselineError> {
    let unreadable = |source| BaselineError::Unreadable {
        path: path.to_owned(),
        source,
    };
    let mut existing = if path.as_os_str().is_empty() {
        Path::new(".")
    } else {
        path
    };
    let mut rest: Vec<OsString> = Vec::new();
    loop {
        match canonical(existing) {
            Ok(directory) if directory.is_dir() => {
                return Ok((directory, rest.iter().rev().collect()));
            }
            Ok(_) => {}
            Err(error) if absent(&error) => {}
            Err(error) => return Err(unreadable(error)),
        }
        let Some(name) = existing.file_name() else {
            return Err(BaselineError::BadPath(path.to_owned()));
        };
        rest.push(name.to_owned());
        existing = parent(existing);
    }
}

/// The directory of `path`; the working directory for a bare name.
fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

fn absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// As [`std::fs::canonicalize`], in the form that libgit2 takes: on Windows without `\\?\`.
pub(super) fn canonical(path: &Path) -> io::Result<PathBuf> {
    let path = path.canonicalize()?;
    #[cfg(windows)]
    if let Some(plain) = path.to_str().and_then(|text| text.strip_prefix(r"\\?\"))
        && plain.as_bytes().get(1) == Some(&b':')
    {
        return Ok(PathBuf::from(plain));
    }
    Ok(path)
}

/// An id of libgit2's as ours; only SHA-1 repositories are opened.
fn id_of(oid: Oid) -> Result<CommitId, BaselineError> {
    CommitId::from_bytes(oid.as_bytes()).ok_or_else(|| BaselineError::Corrupt {
        what: "an object id".to_owned(),
        message: "it is no SHA-1".to_owned(),
    })
}

fn oid_of(id: CommitId) -> Result<Oid, BaselineError> {
    Oid::from_bytes(id.as_bytes()).map_err(|error| corrupt("an object id", &error))
}

fn corrupt(what: impl Into<String>, error: &git2::Error) -> BaselineError {
    BaselineError::Corrupt {
        what: what.into(),
        message: error.message().to_owned(),
    }
}
