//! What became of each file of one repository, those that left the sight of the gate
//! included.

use super::select::Selection;
use crate::baseline::{
    BaseCommit, BaselineError, Pair, Pairing, RepoPath, Repository, Staged, Status,
};
use crate::cassette::Cassette;
use crate::diff::surface::Recorded;
use crate::regular_file;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The two sides of one repository.
#[derive(Clone, Copy)]
pub(super) struct Paired<'a> {
    pub(super) selection: &'a Selection,
    pub(super) directory: &'a Path,
    pub(super) repository: &'a Repository,
    pub(super) commit: &'a BaseCommit<'a>,
}

impl Paired<'_> {
    /// What became of each selected file, and of those that nothing names and that may
    /// continue one that is gone: they are added to `new`, the files of the working tree,
    /// and returned as they are shown.
    pub(super) fn of(
        self,
        new: &mut BTreeMap<RepoPath, PathBuf>,
    ) -> Result<(Vec<Pair>, BTreeSet<PathBuf>), BaselineError> {
        let asked_for = wanted(self.selection, self.repository, self.commit)?;
        let mut strays = BTreeSet::new();
        let mut pairs = self.pairs(&asked_for, new)?;
        let settled = |pair: &Pair| !matches!(pair.status, Status::Added | Status::Deleted);
        if pairs.iter().all(settled) {
            return Ok((pairs, strays));
        }
        let staged = self.commit.staged()?;
        let asked_for = self.without_left_out(asked_for, &staged, new)?;
        if pairs.iter().any(|pair| pair.status == Status::Deleted) && self.selection.has_globs() {
            for (path, file) in self.strays(&asked_for, &staged, new)? {
                strays.insert(file.clone());
                new.insert(path, file);
            }
        }
        let mut old = self.gone_elsewhere(&staged)?;
        old.extend(asked_for.iter().cloned());
        old.sort();
        old.dedup();
        pairs = self.pairs(&old, new)?;
        // One that is gone is told only if it was asked for, and so is where it went.
        pairs.retain(|pair| match &pair.status {
            Status::Deleted => asked_for.contains(&pair.path),
            Status::Renamed { from } => {
                let stray = new
                    .get(&pair.path)
                    .is_some_and(|file| strays.contains(file));
                !stray || asked_for.contains(from)
            }
            _ => true,
        });
        Ok((pairs, strays))
    }

    fn pairs(
        self,
        old: &[RepoPath],
        new: &BTreeMap<RepoPath, PathBuf>,
    ) -> Result<Vec<Pair>, BaselineError> {
        let paths: Vec<RepoPath> = new.keys().cloned().collect();
        self.commit.pair(&Pairing {
            old,
            new: &paths,
            read: &|path| match new.get(path) {
                Some(file) => regular_file::read(&self.directory.join(file), u64::MAX),
                None => Err(std::io::ErrorKind::NotFound.into()),
            },
            size: &|path| {
                let file = self.directory.join(new.get(path)?);
                let meta = std::fs::symlink_metadata(file).ok()?;
                meta.is_file().then_some(meta.len())
            },
            server_name: &server_name,
        })
    }

    /// The files that were asked for without those that a sparse checkout leaves out. They
    /// are not gone: nothing became of those that are what the base has.
    fn without_left_out(
        self,
        asked_for: Vec<RepoPath>,
        staged: &Staged,
        new: &BTreeMap<RepoPath, PathBuf>,
    ) -> Result<Vec<RepoPath>, BaselineError> {
        let mut left = Vec::new();
        for path in asked_for {
            if new.contains_key(&path) || !staged.leaves_out(&path) || !self.is_gone(&path) {
                left.push(path);
            } else if !self.commit.has_left_out(staged, &path)? {
                return Err(BaselineError::LeftOut { path });
            }
        }
        Ok(left)
    }

    /// Cassettes that nobody asked for and that are gone: a new file may continue one.
    fn gone_elsewhere(self, staged: &Staged) -> Result<Vec<RepoPath>, BaselineError> {
        self.commit.files(&RepoPath::root(), |path| {
            path.as_bytes().ends_with(b".mcp.json")
                && self.is_gone(path)
                && !staged.leaves_out(path)
        })
    }

    fn is_gone(self, path: &RepoPath) -> bool {
        let path = path.to_path().map(|path| self.repository.root().join(path));
        path.is_some_and(|path| std::fs::symlink_metadata(path).is_err())
    }

    /// New cassettes that nothing names: those in the index, and those beside a file that
    /// is gone. A rename must not take a cassette out of the sight of the gate.
    fn strays(
        self,
        asked_for: &[RepoPath],
        staged: &Staged,
        new: &BTreeMap<RepoPath, PathBuf>,
    ) -> Result<BTreeMap<RepoPath, PathBuf>, BaselineError> {
        let root = self.repository.root();
        let mut paths: BTreeSet<RepoPath> = staged.added.iter().cloned().collect();
        let gone = asked_for.iter().filter(|path| self.is_gone(path));
        let folders: BTreeSet<PathBuf> = gone
            .filter_map(|path| Some(root.join(path.to_path()?).parent()?.to_owned()))
            .collect();
        for folder in folders {
            // A directory that is gone has nothing in it.
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                if let Ok(path) = self.repository.path_of(&entry.path())
                    && !self.commit.has(&path)?
                {
                    paths.insert(path);
                }
            }
        }
        let found = paths.into_iter().filter_map(|path| {
            let full = root.join(path.to_path()?);
            let stray = !new.contains_key(&path) && is_cassette(&full);
            stray.then(|| (path, self.selection.shown(&full)))
        });
        Ok(found.collect())
    }
}

/// Whether a file is a cassette, whatever it is called.
fn is_cassette(path: &Path) -> bool {
    let plain = std::fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file());
    plain && begins_as_json(path) && Cassette::load(path).is_ok()
}

/// Most files are none, and need not be read for that.
fn begins_as_json(path: &Path) -> bool {
    use std::io::Read as _;
    let mut head = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(1024).read_to_end(&mut head));
    let head = head.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&head);
    read.is_ok() && matches!(head.trim_ascii_start().first(), Some(b'{') | None) && !head.is_empty()
}

/// The files of a base commit that the selection means.
fn wanted(
    selection: &Selection,
    repository: &Repository,
    commit: &BaseCommit<'_>,
) -> Result<Vec<RepoPath>, BaselineError> {
    let root = repository.root();
    let is_wanted = |path: &RepoPath| {
        path.to_path()
            .is_some_and(|path| selection.wants(&root.join(path)))
    };
    let mut found = BTreeSet::new();
    for start in selection.starts() {
        let below = match start.strip_prefix(root) {
            Ok(inside) => RepoPath::from_relative(inside)?,
            Err(_) if root.starts_with(&start) => RepoPath::root(),
            Err(_) => continue,
        };
        found.extend(commit.files(&below, is_wanted)?);
    }
    Ok(found.into_iter().collect())
}

/// The name that the recorded server gave itself, of a cassette that tells what the
/// server offers. One that does not continues no other: all that was offered there
/// would seem to be gone.
fn server_name(bytes: &[u8]) -> Option<String> {
    let cassette = Cassette::parse("", bytes.to_vec()).ok()?;
    if Recorded::of(&cassette).occurrences.is_empty() {
        return None;
    }
    cassette.server_info().map(|(name, _)| name)
}
