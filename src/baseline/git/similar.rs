//! Which of some old and new files are similar enough to be one file under two
//! paths, by git's own measure.
//!
//! The files go into a store in memory, below numbers for names. So nothing is written
//! to the repository, its attributes and settings do not matter, and neither do odd names.

use super::super::error::BaselineError;
use super::super::path::RepoPath;
use super::corrupt;
use super::pairing::Text;
use git2::{Delta, DiffDelta, DiffFindOptions, Odb, Oid, Tree};
use std::collections::BTreeMap;

/// Percent of the lines, as in `git diff -M`.
const THRESHOLD: u16 = 50;
/// The mode of a plain file.
const PLAIN_FILE: i32 = 0o100_644;

/// New paths with the old path that each is similar to; no old path occurs twice.
///
/// # Errors
///
/// A failure of libgit2.
pub(super) fn pairs<'a>(
    gone: &[Text<'a>],
    added: &[Text<'a>],
) -> Result<BTreeMap<&'a RepoPath, &'a RepoPath>, BaselineError> {
    compare(gone, added).map_err(|error| corrupt("renamed files", &error))
}

fn compare<'a>(
    gone: &[Text<'a>],
    added: &[Text<'a>],
) -> Result<BTreeMap<&'a RepoPath, &'a RepoPath>, git2::Error> {
    let mut found = BTreeMap::new();
    if gone.is_empty() || added.is_empty() {
        return Ok(found);
    }
    let odb = Odb::new()?;
    let _store = odb.add_new_mempack_backend(1)?;
    let repository = git2::Repository::from_odb(odb)?;
    let old_tree = repository.find_tree(stored(&repository, "old", gone)?)?;
    let new_tree = repository.find_tree(stored(&repository, "new", added)?)?;
    for (old, new) in renamed(&repository, &old_tree, &new_tree, gone.len())? {
        if let (Some((old, _)), Some((new, _))) = (gone.get(old), added.get(new)) {
            found.insert(*new, *old);
        }
    }
    Ok(found)
}

/// A tree with the files below their numbers, which `side` tells from those of the other.
fn stored(
    repository: &git2::Repository,
    side: &str,
    files: &[Text<'_>],
) -> Result<Oid, git2::Error> {
    let mut tree = repository.treebuilder(None)?;
    for (number, (_, text)) in files.iter().enumerate() {
        tree.insert(
            format!("{side}-{number}"),
            repository.blob(text)?,
            PLAIN_FILE,
        )?;
    }
    tree.write()
}

fn renamed(
    repository: &git2::Repository,
    old: &Tree<'_>,
    new: &Tree<'_>,
    sources: usize,
) -> Result<Vec<(usize, usize)>, git2::Error> {
    let mut diff = repository.diff_tree_to_tree(Some(old), Some(new), None)?;
    let mut options = DiffFindOptions::new();
    // libgit2 would otherwise silently stop after a thousand.
    options
        .renames(true)
        .rename_threshold(THRESHOLD)
        .rename_limit(sources.saturating_add(1));
    diff.find_similar(Some(&mut options))?;
    let renamed = diff
        .deltas()
        .filter(|delta| delta.status() == Delta::Renamed);
    Ok(renamed.filter_map(|delta| numbers(&delta)).collect())
}

fn numbers(delta: &DiffDelta<'_>) -> Option<(usize, usize)> {
    let number = |bytes: Option<&[u8]>, side: &[u8]| -> Option<usize> {
        let digits = bytes?.strip_prefix(side)?;
        std::str::from_utf8(digits).ok()?.parse().ok()
    };
    Some((
        number(delta.old_file().path_bytes(), b"old-")?,
        number(delta.new_file().path_bytes(), b"new-")?,
    ))
}
