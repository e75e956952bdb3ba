//! What the index says of files that are not where the base commit has them.

use super::super::error::BaselineError;
use super::super::path::RepoPath;
use super::tree::{BaseCommit, Entry};
use git2::{Delta, IndexEntryExtendedFlag, Oid};
use std::collections::BTreeMap;

/// The index, against the base commit.
pub(crate) struct Staged {
    /// Paths that it has and the base commit has not, sorted.
    pub(crate) added: Vec<RepoPath>,
    /// What a sparse checkout leaves out of the working tree.
    left_out: BTreeMap<RepoPath, Oid>,
}

impl Staged {
    /// Whether a file is not in the working tree because a sparse checkout leaves it out.
    pub(crate) fn leaves_out(&self, path: &RepoPath) -> bool {
        self.left_out.contains_key(path)
    }
}

impl BaseCommit<'_> {
    /// Reads the index, which is not written.
    ///
    /// # Errors
    ///
    /// An index that libgit2 cannot read, such as a sparse one.
    pub(crate) fn staged(&self) -> Result<Staged, BaselineError> {
        let failure = |error: git2::Error| BaselineError::Index {
            message: error.message().to_owned(),
        };
        let repository = self.repository();
        let index = repository.inner.index().map_err(failure)?;
        let skipped =
            |flags: u16| IndexEntryExtendedFlag::from_bits_truncate(flags).is_skip_worktree();
        let left_out = index
            .iter()
            .filter(|entry| skipped(entry.flags_extended))
            .map(|entry| (RepoPath::root().child(&entry.path), entry.id))
            .collect();
        let diff = repository
            .inner
            .diff_tree_to_index(Some(self.tree()), Some(&index), None)
            .map_err(failure)?;
        let mut added: Vec<RepoPath> = diff
            .deltas()
            .filter(|delta| delta.status() == Delta::Added)
            .filter_map(|delta| {
                delta
                    .new_file()
                    .path_bytes()
                    .map(|path| RepoPath::root().child(path))
            })
            .collect();
        added.sort();
        Ok(Staged { added, left_out })
    }

    /// Whether a file that a sparse checkout leaves out is what the base commit has.
    ///
    /// # Errors
    ///
    /// A directory that cannot be read.
    pub(crate) fn has_left_out(
        &self,
        staged: &Staged,
        path: &RepoPath,
    ) -> Result<bool, BaselineError> {
        let there = self.entry(path)?;
        let same = |oid: &Oid| there == Some(Entry::File(*oid)) || there == Some(Entry::Link(*oid));
        Ok(staged.left_out.get(path).is_some_and(same))
    }

    /// Whether the base commit has anything at this path.
    ///
    /// # Errors
    ///
    /// A directory that cannot be read.
    pub(crate) fn has(&self, path: &RepoPath) -> Result<bool, BaselineError> {
        Ok(self.entry(path)?.is_some())
    }
}
