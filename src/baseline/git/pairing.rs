//! Which file of the working tree continues which file of the base commit.

use super::super::error::{BaselineError, Side};
use super::super::path::RepoPath;
use super::similar;
use super::tree::{BaseCommit, Entry, refuse_pointer};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// The most that a Git LFS pointer is long, in bytes, by its specification. What may be
/// one is looked at whatever its size says.
const LARGEST_POINTER: u64 = 1024;

/// The size in bytes from which a file of the base is read by a thread of its own.
pub(crate) const LARGE: u64 = 4 << 20;

/// What became of a file since the base commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// Not in the base commit, and not continued from another path of it.
    Added,
    /// Another content at the same path; of a large file of the same size it may be the
    /// same one, which only unpacking it tells.
    Modified,
    /// The same content; ends of lines do not count.
    Unchanged,
    /// Continues a file that is not in the working tree any more.
    Renamed {
        /// Its path in the base commit.
        from: RepoPath,
    },
    /// Not in the working tree any more.
    Deleted,
    /// One of the sides cannot be read. Why, reading that side tells again.
    Unreadable,
}

/// A file on either side or both, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    /// The path in the working tree; of a deleted file that in the base commit.
    pub(crate) path: RepoPath,
    pub(crate) status: Status,
}

/// What is compared.
pub(crate) struct Pairing<'a> {
    /// Files of the base commit, as [`BaseCommit::files`] lists them.
    pub(crate) old: &'a [RepoPath],
    /// Files of the working tree.
    pub(crate) new: &'a [RepoPath],
    /// Reads a file of the working tree.
    pub(crate) read: &'a dyn Fn(&RepoPath) -> io::Result<Vec<u8>>,
    /// The size in bytes of a file of the working tree, if it is one.
    pub(crate) size: &'a dyn Fn(&RepoPath) -> Option<u64>,
    /// The name of the recorded server in the text of a cassette, if it is one.
    pub(crate) server_name: &'a dyn Fn(&[u8]) -> Option<String>,
}

impl BaseCommit<'_> {
    /// Says of each file what became of it, sorted by path.
    ///
    /// A file that is new is paired with one that is gone: by equal content, then
    /// by similar lines as git does it, then by the name of the recorded server if
    /// only one on each side has it. Line ends do not count anywhere, because a
    /// checkout may convert them and JSON has none inside strings.
    ///
    /// A file that cannot be read on one of the sides is [`Status::Unreadable`], so that
    /// it does not keep the others from being looked at.
    ///
    /// # Errors
    ///
    /// A directory that cannot be read, and where files are new, one that is gone
    /// and cannot be read: whether they continue it cannot be told then.
    pub(crate) fn pair(&self, pairing: &Pairing<'_>) -> Result<Vec<Pair>, BaselineError> {
        let mut pairs: Vec<Pair> = Vec::new();
        let mut added: BTreeMap<&RepoPath, Vec<u8>> = BTreeMap::new();
        let new: BTreeSet<&RepoPath> = pairing.new.iter().collect();
        for &path in &new {
            // Unpacking a large one is left to whoever compares them: it takes as long as
            // that, and can be done at the same time.
            if let Some(size) = (pairing.size)(path)
                && size >= LARGE
                && self.size_at(path)? == Some(size)
            {
                let (path, status) = (path.clone(), Status::Modified);
                pairs.push(Pair { path, status });
                continue;
            }
            let read = (pairing.read)(path).map_err(|source| BaselineError::Working {
                path: path.clone(),
                source,
            });
            let compared = read.and_then(|bytes| {
                refuse_pointer(path, &bytes, Side::Working)?;
                let status = self.at_same_path(path, &bytes)?;
                Ok((bytes, status))
            });
            let status = match compared {
                Ok((_, Some(status))) => status,
                Ok((bytes, None)) => {
                    added.insert(path, bytes);
                    continue;
                }
                Err(error) if error.is_about_one_file() => Status::Unreadable,
                Err(error) => return Err(error),
            };
            let path = path.clone();
            pairs.push(Pair { path, status });
        }
        let gone: BTreeSet<&RepoPath> = pairing.old.iter().filter(|p| !new.contains(p)).collect();
        let renames = if added.is_empty() {
            BTreeMap::new()
        } else {
            renames(&added, &self.texts_of(&gone)?, pairing.server_name)?
        };
        for path in added.into_keys() {
            let path = path.clone();
            let status = match renames.get(&path) {
                Some(from) => Status::Renamed { from: from.clone() },
                None => Status::Added,
            };
            pairs.push(Pair { path, status });
        }
        let continued: BTreeSet<&RepoPath> = renames.values().collect();
        pairs.extend(gone.difference(&continued).map(|path| Pair {
            path: (*path).clone(),
            status: Status::Deleted,
        }));
        pairs.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(pairs)
    }

    /// The files among `paths` that have a text; a link that led nowhere has none.
    fn texts_of<'p>(
        &self,
        paths: &BTreeSet<&'p RepoPath>,
    ) -> Result<BTreeMap<&'p RepoPath, Vec<u8>>, BaselineError> {
        let mut texts = BTreeMap::new();
        for path in paths {
            match self.file(path) {
                Err(BaselineError::Link { .. } | BaselineError::NotAFile { .. }) => {}
                text => {
                    texts.extend(text?.map(|bytes| (*path, bytes)));
                }
            }
        }
        Ok(texts)
    }

    /// The size in bytes of the file that the base commit has at this very path; none if
    /// it has none, or its content is not there.
    pub(crate) fn size_at(&self, path: &RepoPath) -> Result<Option<u64>, BaselineError> {
        Ok(match self.entry(path)? {
            Some(Entry::File(oid)) => self.size(oid),
            _ => None,
        })
    }

    /// None if the base commit has nothing at this path.
    fn at_same_path(&self, path: &RepoPath, bytes: &[u8]) -> Result<Option<Status>, BaselineError> {
        if let Some(Entry::File(oid)) = self.entry(path)?
            && let Some(size) = self.size(oid)
            && size > LARGEST_POINTER
        {
            // Unpacking a blob costs more than all else here, so it is not done where
            // the sizes tell.
            if size == bytes.len() as u64 {
                return Ok(Some(if self.is_content(path, oid, bytes)? {
                    Status::Unchanged
                } else {
                    Status::Modified
                }));
            }
            if !may_differ_in_line_ends_alone(size, bytes) {
                return Ok(Some(Status::Modified));
            }
        }
        Ok(self.file(path)?.map(|old| {
            if with_plain_line_ends(&old) == with_plain_line_ends(bytes) {
                Status::Unchanged
            } else {
                Status::Modified
            }
        }))
    }
}

/// Whether a blob of another size could be the same text with other line ends: then it
/// has a carriage return more or less for some of its lines.
fn may_differ_in_line_ends_alone(size: u64, bytes: &[u8]) -> bool {
    let here = bytes.len() as u64;
    let count = |wanted| memchr::memchr_iter(wanted, bytes).count() as u64;
    if size > here {
        size - here <= count(b'\n')
    } else {
        here - size <= count(b'\r')
    }
}

/// New paths with the old path that each continues; no old path occurs twice.
fn renames(
    added: &BTreeMap<&RepoPath, Vec<u8>>,
    gone: &BTreeMap<&RepoPath, Vec<u8>>,
    server_name: &dyn Fn(&[u8]) -> Option<String>,
) -> Result<BTreeMap<RepoPath, RepoPath>, BaselineError> {
    let sides = (texts(gone), texts(added));
    let mut found: BTreeMap<&RepoPath, &RepoPath> = identical(&sides.0, &sides.1);
    let (left_gone, left_added) = left(&sides, &found);
    let names = |texts: &[Text<'_>]| -> Names {
        let named = texts.iter();
        named
            .filter_map(|(path, text)| Some(((*path).clone(), server_name(text)?)))
            .collect()
    };
    let names = (names(&left_gone), names(&left_added));
    found.extend(similar_servers(&left_gone, &left_added, &names)?);
    let (left_gone, left_added) = left(&sides, &found);
    found.extend(same_server(&left_gone, &left_added, &names));
    Ok(found
        .into_iter()
        .map(|(new, old)| (new.clone(), old.clone()))
        .collect())
}

/// A file that looks for its other half: path, and text with plain line ends.
pub(super) type Text<'a> = (&'a RepoPath, Cow<'a, [u8]>);

fn texts<'a>(files: &'a BTreeMap<&'a RepoPath, Vec<u8>>) -> Vec<Text<'a>> {
    let text = |(path, bytes): (&&'a RepoPath, &'a Vec<u8>)| (*path, with_plain_line_ends(bytes));
    files.iter().map(text).collect()
}

/// What is not paired yet of the old and the new files.
fn left<'a>(
    (gone, added): &(Vec<Text<'a>>, Vec<Text<'a>>),
    found: &BTreeMap<&'a RepoPath, &'a RepoPath>,
) -> (Vec<Text<'a>>, Vec<Text<'a>>) {
    let continued: BTreeSet<&RepoPath> = found.values().copied().collect();
    (
        gone.iter()
            .filter(|(path, _)| !continued.contains(path))
            .cloned()
            .collect(),
        added
            .iter()
            .filter(|(path, _)| !found.contains_key(path))
            .cloned()
            .collect(),
    )
}

/// Files moved without an edit. Of several with one content, those that kept their
/// name go together first, the rest in the order of their paths.
fn identical<'a>(gone: &[Text<'a>], added: &[Text<'a>]) -> BTreeMap<&'a RepoPath, &'a RepoPath> {
    let mut by_text: BTreeMap<&[u8], Vec<&'a RepoPath>> = BTreeMap::new();
    for (path, text) in gone {
        by_text.entry(text).or_default().push(path);
    }
    let mut found = BTreeMap::new();
    for same_name in [true, false] {
        for (path, text) in added {
            let Some(candidates) = by_text.get_mut(&text[..]) else {
                continue;
            };
            let fits = |old: &&RepoPath| !same_name || old.file_name() == path.file_name();
            if !found.contains_key(path)
                && let Some(at) = candidates.iter().position(fits)
            {
                found.insert(*path, candidates.remove(at));
            }
        }
    }
    found
}

/// The names of recorded servers, by the files that tell them.
type Names = BTreeMap<RepoPath, String>;

/// Files with similar lines. Recordings of two servers are alike however little they have
/// in common, so that those of the same one go together first, and those of different ones
/// never.
fn similar_servers<'a>(
    gone: &[Text<'a>],
    added: &[Text<'a>],
    (old_names, new_names): &(Names, Names),
) -> Result<BTreeMap<&'a RepoPath, &'a RepoPath>, BaselineError> {
    let mut found: BTreeMap<&'a RepoPath, &'a RepoPath> = BTreeMap::new();
    let both: BTreeSet<&String> = new_names.values().collect();
    let of = |texts: &[Text<'a>], wanted: &dyn Fn(&RepoPath) -> bool| -> Vec<Text<'a>> {
        let wanted = texts.iter().filter(|(path, _)| wanted(path));
        wanted.cloned().collect()
    };
    for name in old_names.values().collect::<BTreeSet<_>>() {
        if both.contains(name) {
            let gone = of(gone, &|path| old_names.get(path) == Some(name));
            let added = of(added, &|path| new_names.get(path) == Some(name));
            found.extend(similar::pairs(&gone, &added)?);
        }
    }
    // A side without a name may be the other side of any.
    for (old_named, new_named) in [(false, true), (true, false)] {
        let taken: BTreeSet<&RepoPath> = found.values().copied().collect();
        let gone = of(gone, &|path| {
            !taken.contains(path) && (old_named || !old_names.contains_key(path))
        });
        let added = of(added, &|path| {
            !found.contains_key(path) && (new_named || !new_names.contains_key(path))
        });
        found.extend(similar::pairs(&gone, &added)?);
    }
    Ok(found)
}

/// Files of which one on each side records the server of a name.
fn same_server<'a>(
    gone: &[Text<'a>],
    added: &[Text<'a>],
    (old_names, new_names): &(Names, Names),
) -> BTreeMap<&'a RepoPath, &'a RepoPath> {
    let mut by_name: BTreeMap<&str, (Vec<&'a RepoPath>, Vec<&'a RepoPath>)> = BTreeMap::new();
    for (path, _) in gone {
        if let Some(name) = old_names.get(path) {
            by_name.entry(name).or_default().0.push(path);
        }
    }
    for (path, _) in added {
        if let Some(name) = new_names.get(path) {
            by_name.entry(name).or_default().1.push(path);
        }
    }
    let only = |(old, new): (Vec<&'a RepoPath>, Vec<&'a RepoPath>)| match (&old[..], &new[..]) {
        ([old], [new]) => Some((*new, *old)),
        _ => None,
    };
    by_name.into_values().filter_map(only).collect()
}

/// The text with LF where it had CR LF.
fn with_plain_line_ends(bytes: &[u8]) -> Cow<'_, [u8]> {
    let mut plain = Vec::new();
    let mut from = 0;
    for at in memchr::memmem::find_iter(bytes, b"\r\n") {
        plain.extend_from_slice(&bytes[from..at]);
        from = at + 1;
    }
    if from == 0 {
        return Cow::Borrowed(bytes);
    }
    plain.extend_from_slice(&bytes[from..]);
    Cow::Owned(plain)
}
