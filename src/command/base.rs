//! The base side of a run: which commit it is, and what each cassette was there.

use super::Context;
use super::pairs::Paired;
use super::select::{SelectError, Selection, normal};
use crate::baseline::{
    self, Base, BaseCommit, BaselineError, Environment, Handle, LARGE, Pair, Plan, RepoPath,
    Repository, Status, Trust,
};
use crate::cassette::{Cassette, LoadError};
use crate::report::CassetteStatus;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Why there is no other side, or none that can be trusted.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BaseError {
    /// The cassettes themselves could not be found.
    #[error(transparent)]
    Select(#[from] SelectError),
    /// The commit, or a file of it.
    #[error(transparent)]
    Baseline(#[from] BaselineError),
    /// A file of it that is no cassette.
    #[error("on the base side: {0}")]
    Load(#[from] LoadError),
}

/// What a run says about its base: `--base`, and what CI or a hook says.
#[derive(Debug)]
pub(crate) struct Asked {
    plan: Plan,
    trust: Trust,
    /// Whether the policy is that of the base unless somebody says otherwise.
    pub(crate) judges_a_change: bool,
}

impl Asked {
    /// Decides what is compared with. Without `base`, `check` means `auto` and the
    /// other commands `none`.
    pub(crate) fn new(base: Option<&str>, context: &Context) -> Result<Asked, BaselineError> {
        let environment = Environment::from_variables(|name| context.variables.get(name).cloned());
        Ok(Asked {
            plan: baseline::plan(base, &environment, baseline::event_file)?,
            trust: Trust::of(&environment),
            judges_a_change: environment.judges_a_change(),
        })
    }

    /// Why there is nothing to compare with, if that is known before any look at git.
    pub(crate) fn none(&self) -> Option<&str> {
        match &self.plan {
            Plan::None { reason } => Some(reason),
            _ => None,
        }
    }
}

/// The repositories that own the working directory and the cassettes.
#[derive(Debug)]
pub(crate) struct Repositories {
    /// That of the working directory first, if it is in one.
    opened: Vec<Repository>,
}

impl Repositories {
    /// Opens the repository of the working directory, and those of the files that
    /// belong to another one, such as a submodule.
    pub(crate) fn of(
        files: &[PathBuf],
        directory: &Path,
        asked: &Asked,
    ) -> Result<Repositories, BaselineError> {
        let mut opened: Vec<Repository> = Vec::new();
        let mut roots = BTreeSet::new();
        let parents = files.iter().filter_map(|file| {
            let path = directory.join(file);
            path.parent().map(Path::to_owned)
        });
        let (mut first, mut homeless) = (true, None);
        for start in std::iter::once(directory.to_owned()).chain(parents) {
            let own = std::mem::take(&mut first);
            // Opening costs a few file reads, so it is done once a working tree.
            let root = start.ancestors().find(|dir| dir.join(".git").exists());
            if root.is_some_and(|root| !roots.insert(root.to_owned())) {
                continue;
            }
            match Repository::containing(&start, &asked.trust) {
                Ok(repository) => {
                    if opened.iter().all(|other| other.root() != repository.root()) {
                        opened.push(repository);
                    }
                }
                // The cassettes may lie in a repository although we do not.
                Err(error @ BaselineError::NotARepository(_)) if own => homeless = Some(error),
                Err(error) => return Err(error),
            }
        }
        match homeless {
            Some(error) if opened.is_empty() => Err(error),
            _ => Ok(Repositories { opened }),
        }
    }

    /// Resolves what was asked for in each of them.
    pub(crate) fn base(&self, asked: &Asked) -> Result<BaseSide<'_>, BaselineError> {
        let sides = self.opened.iter().map(|repository| {
            let base = match self.outer(repository) {
                Some(outer) => repository.base_inside(outer, &asked.plan)?,
                None => repository.base(&asked.plan)?,
            };
            Ok(Side { repository, base })
        });
        Ok(BaseSide {
            sides: sides.collect::<Result<_, BaselineError>>()?,
        })
    }
}

impl Repositories {
    /// The innermost of the others that a repository lies in.
    fn outer(&self, inner: &Repository) -> Option<&Repository> {
        self.opened
            .iter()
            .filter(|other| other.root() != inner.root())
            .filter(|other| inner.root().starts_with(other.root()))
            .max_by_key(|other| other.root().components().count())
    }
}

/// The base of each repository.
pub(crate) struct BaseSide<'r> {
    sides: Vec<Side<'r>>,
}

struct Side<'r> {
    repository: &'r Repository,
    base: Base<'r>,
}

/// A cassette of either side.
#[derive(Debug)]
pub(crate) struct Subject {
    /// Relative to the working directory, or as it was given.
    pub(crate) path: PathBuf,
    pub(crate) status: CassetteStatus,
    /// The path on the base side, if it is another one.
    pub(crate) old_path: Option<PathBuf>,
    /// Nothing that was asked for names it; it is here because it may continue a cassette
    /// that is gone.
    pub(crate) out_of_sight: bool,
    /// Where its base is: the side, and the path there.
    old: Option<(usize, RepoPath)>,
}

impl Subject {
    /// A cassette that is compared with nothing.
    pub(crate) fn alone(path: PathBuf) -> Self {
        Subject {
            path,
            status: CassetteStatus::Added,
            old_path: None,
            out_of_sight: false,
            old: None,
        }
    }

    /// What `pair` says of a file of the repository of that number, which `file` is in
    /// the working tree. `shown` shows a path of that repository.
    fn of(
        index: usize,
        pair: Pair,
        file: Option<PathBuf>,
        shown: impl Fn(&RepoPath) -> PathBuf,
    ) -> Self {
        let same = |path: &RepoPath| Some(path.clone());
        let (status, from) = match pair.status {
            Status::Added => (CassetteStatus::Added, None),
            Status::Modified => (CassetteStatus::Modified, same(&pair.path)),
            Status::Unchanged => (CassetteStatus::Unchanged, same(&pair.path)),
            Status::Renamed { from } => (CassetteStatus::Renamed, Some(from)),
            Status::Deleted => (CassetteStatus::Deleted, same(&pair.path)),
            Status::Unreadable => (CassetteStatus::Unreadable, same(&pair.path)),
        };
        let renamed = status == CassetteStatus::Renamed;
        Subject {
            path: file.unwrap_or_else(|| shown(&pair.path)),
            status,
            old_path: from.as_ref().filter(|_| renamed).map(shown),
            out_of_sight: false,
            old: from.map(|from| (index, from)),
        }
    }

    /// The path on the base side, for messages.
    pub(crate) fn shown_on_base(&self) -> String {
        let path = self.old_path.as_ref().unwrap_or(&self.path);
        path.display().to_string()
    }

    /// Whether the base side has it, under this name or another.
    pub(crate) fn has_base(&self) -> bool {
        self.old.is_some()
    }
}

/// A large cassette of the base side that is not read yet.
pub(crate) struct Large {
    handle: Handle,
    path: RepoPath,
    shown: String,
}

impl Large {
    /// As [`BaseSide::load`].
    pub(crate) fn load(self) -> Result<Option<Cassette>, BaseError> {
        parsed(self.shown, self.handle.file(&self.path)?)
    }
}

fn parsed(name: String, bytes: Option<Vec<u8>>) -> Result<Option<Cassette>, BaseError> {
    let cassette = bytes.map(|bytes| Cassette::parse(name, bytes));
    Ok(cassette.transpose()?)
}

impl BaseSide<'_> {
    /// The base commit of the first repository, in 40 hexadecimal digits, and why it
    /// is that one; or why there is none.
    pub(crate) fn commit(&self) -> (Option<String>, String) {
        match self.sides.first().map(|side| &side.base) {
            Some(Base::Commit(commit)) => {
                (Some(commit.id().to_string()), commit.reason().to_owned())
            }
            Some(Base::None { reason }) => (None, reason.clone()),
            None => (None, "the cassettes are in no git repository".to_owned()),
        }
    }

    /// Whether there is a base commit anywhere.
    pub(crate) fn exists(&self) -> bool {
        self.commits().next().is_some()
    }

    fn commits(&self) -> impl Iterator<Item = (usize, &Repository, &BaseCommit<'_>)> {
        self.sides
            .iter()
            .enumerate()
            .filter_map(|(index, side)| match &side.base {
                Base::Commit(commit) => Some((index, side.repository, commit)),
                Base::None { .. } => None,
            })
    }

    /// A file of the base, by its path relative to the working directory.
    pub(crate) fn read(
        &self,
        path: &Path,
        directory: &Path,
    ) -> Result<Option<Vec<u8>>, BaselineError> {
        let full = normal(&directory.join(path));
        for (_, repository, commit) in self.commits() {
            // A link that the change put in place of a directory must not lead the look
            // at the base to somewhere else, so the path is taken as it is spelt.
            let inside = match full.strip_prefix(repository.root()) {
                Ok(inside) => RepoPath::from_relative(inside),
                Err(_) => repository.path_of(&full),
            };
            match inside {
                Ok(inside) => return commit.file(&inside),
                Err(BaselineError::Outside { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// The cassette that a subject was on the base side.
    pub(crate) fn load(&self, subject: &Subject) -> Result<Option<Cassette>, BaseError> {
        let Some((commit, path)) = self.place(subject) else {
            return Ok(None);
        };
        parsed(subject.shown_on_base(), commit.file(path)?)
    }

    /// The same for another thread, if it is so large that a thread is worth it.
    pub(crate) fn large(&self, subject: &Subject) -> Option<Large> {
        let (commit, path) = self.place(subject)?;
        // Whatever keeps the size from being known, loading it here tells.
        let size = commit.size_at(path).ok()??;
        (size >= LARGE).then(|| Large {
            handle: commit.handle(),
            path: path.clone(),
            shown: subject.shown_on_base(),
        })
    }

    fn place<'s>(&self, subject: &'s Subject) -> Option<(&BaseCommit<'_>, &'s RepoPath)> {
        let (index, path) = subject.old.as_ref()?;
        match self.sides.get(*index).map(|side| &side.base) {
            Some(Base::Commit(commit)) => Some((commit, path)),
            _ => None,
        }
    }

    /// Every cassette of both sides with what became of it: those of the working tree
    /// in their order, then those that are gone.
    pub(crate) fn subjects(
        &self,
        selection: &Selection,
        mut files: Vec<PathBuf>,
        directory: &Path,
    ) -> Result<Vec<Subject>, BaseError> {
        // A file has one past, under however many names links give it.
        let mut seen = BTreeSet::new();
        files.retain(|file| seen.insert(behind_links(&directory.join(file))));
        let mut known: BTreeMap<PathBuf, Subject> = BTreeMap::new();
        let (mut gone, mut strays) = (Vec::new(), BTreeSet::new());
        let there_is = |path: &Path| std::fs::symlink_metadata(directory.join(path)).is_ok();
        let listed: BTreeSet<PathBuf> = files
            .iter()
            .map(|file| selection.shown_as_named(file))
            .collect();
        for (index, repository, commit) in self.commits() {
            let mut new = self.files_of(index, repository, &files, directory)?;
            let pairing = Paired {
                selection,
                directory,
                repository,
                commit,
            };
            let (pairs, found) = pairing.of(&mut new)?;
            strays.extend(found);
            for pair in pairs {
                let there = |path: &RepoPath| {
                    let path = path.to_path().unwrap_or_default();
                    selection.shown(&repository.root().join(path))
                };
                let file = new.get(&pair.path).cloned();
                let subject = Subject::of(index, pair, file.clone(), there);
                match file {
                    Some(file) => {
                        known.insert(file, subject);
                    }
                    // What is there and is no file is told when it is loaded. A file that is
                    // there belongs to another repository by now, such as a submodule in
                    // place of a directory: here it is gone.
                    None if listed.contains(&selection.shown_as_named(&subject.path))
                        && there_is(&subject.path)
                        && !directory.join(&subject.path).is_file() => {}
                    None => gone.push(subject),
                }
            }
        }
        // A file that was named and is deleted is one subject, not two.
        let deleted = |file: &PathBuf| {
            let path = selection.shown_as_named(file);
            gone.iter().any(|subject| subject.path == path)
        };
        let mut subjects = Vec::new();
        for file in files {
            match known.remove(&file) {
                Some(subject) => subjects.push(subject),
                None if !there_is(&file) && deleted(&file) => {}
                None => subjects.push(Subject::alone(file)),
            }
        }
        subjects.extend(strays.iter().filter_map(|file| {
            let subject = known.remove(file)?;
            Some(Subject {
                out_of_sight: true,
                ..subject
            })
        }));
        subjects.append(&mut gone);
        Ok(subjects)
    }

    /// The files that one repository owns, by their paths in it.
    fn files_of(
        &self,
        index: usize,
        repository: &Repository,
        files: &[PathBuf],
        directory: &Path,
    ) -> Result<BTreeMap<RepoPath, PathBuf>, BaselineError> {
        let mut own = BTreeMap::new();
        for file in files {
            let path = directory.join(file);
            // What is not there, or is no file, is told when it is loaded.
            if !std::fs::metadata(&path).is_ok_and(|meta| meta.is_file()) {
                continue;
            }
            match repository.path_of(&path) {
                Ok(inside) if self.owner(&path) == Some(index) => {
                    own.insert(inside, file.clone());
                }
                Ok(_) | Err(BaselineError::Outside { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(own)
    }

    /// The innermost repository that a file lies in.
    fn owner(&self, path: &Path) -> Option<usize> {
        let parent = path.parent()?.canonicalize().ok()?;
        let depth = |side: &Side<'_>| side.repository.root().components().count();
        self.sides
            .iter()
            .enumerate()
            .filter(|(_, side)| parent.starts_with(side.repository.root()))
            .max_by_key(|(_, side)| depth(side))
            .map(|(index, _)| index)
    }
}

/// The same file by the real path of its directory.
fn behind_links(path: &Path) -> PathBuf {
    let real = path.parent().map(Path::canonicalize);
    match (real, path.file_name()) {
        (Some(Ok(parent)), Some(name)) => parent.join(name),
        _ => normal(path),
    }
}
