//! From a plan to the commit that it means in one repository.

use super::super::ci::{Event, Plan, Target};
use super::super::error::BaselineError;
use super::super::id::CommitId;
use super::super::path::RepoPath;
use super::tree::Entry;
use super::{BaseCommit, Repository, corrupt, id_of, oid_of, parent};
use git2::{ErrorClass, ErrorCode};

/// The other side of a comparison.
#[derive(Debug)]
pub(crate) enum Base<'repo> {
    /// There is none, and that is no failure.
    None { reason: String },
    /// A commit.
    Commit(BaseCommit<'repo>),
}

/// A base before the commit is known to be there.
enum Choice {
    None { reason: String },
    Commit { id: CommitId, reason: String },
}

impl Choice {
    fn none(reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Choice::None { reason }
    }

    fn commit(id: CommitId, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Choice::Commit { id, reason }
    }
}

impl Repository {
    /// The base that `plan` means here.
    ///
    /// What an event names are commits of the repository that was checked out for it. For
    /// a submodule of that, the base is the commit that the outer base has for it.
    ///
    /// # Errors
    ///
    /// Whatever keeps the base from being known and read. It is never taken for
    /// "there is none".
    pub(crate) fn base(&self, plan: &Plan) -> Result<Base<'_>, BaselineError> {
        let choice = match plan {
            Plan::None { reason } => Choice::none(reason),
            Plan::Revision { revision } => self.by_revision(revision)?,
            Plan::Head => match self.head() {
                Ok(head) => Choice::commit(head, "HEAD"),
                Err(BaselineError::Unborn) => Choice::none("HEAD has no commit yet"),
                Err(error) => return Err(error),
            },
            Plan::Event(event) => match self.superproject()? {
                None => self.by_event(event)?,
                Some((outer, path)) => by_superproject(&outer, &path, plan)?,
            },
        };
        self.chosen(choice)
    }

    /// The base of a repository that lies inside `outer`: the commit that the base of
    /// `outer` has in its place, whatever names the branches in here have. They are as
    /// much a part of a change as its files.
    ///
    /// # Errors
    ///
    /// As [`Repository::base`], and something else than a submodule at that place.
    pub(crate) fn base_inside(
        &self,
        outer: &Repository,
        plan: &Plan,
    ) -> Result<Base<'_>, BaselineError> {
        let path = outer.path_of(self.root())?;
        self.chosen(by_superproject(outer, &path, plan)?)
    }

    fn chosen(&self, choice: Choice) -> Result<Base<'_>, BaselineError> {
        Ok(match choice {
            Choice::None { reason } => Base::None { reason },
            Choice::Commit { id, reason } => Base::Commit(BaseCommit::open(self, id, reason)?),
        })
    }

    fn by_event(&self, event: &Event) -> Result<Choice, BaselineError> {
        match event {
            Event::PullRequest { merge, target } => self.of_pull_request(*merge, target),
            Event::PullRequestTarget {
                start,
                default_branch,
                target,
            } => self.of_pull_request_target(*start, default_branch.as_deref(), target),
            Event::MergeGroup { base } => self.of_merge_group(*base),
            Event::Push {
                before,
                default_branch,
            } => self.of_push(*before, default_branch.as_deref()),
        }
    }

    /// The repository that this one is a submodule of, and the path that it has there.
    fn superproject(&self) -> Result<Option<(Repository, RepoPath)>, BaselineError> {
        let outer = match Repository::containing(parent(self.root()), &self.trust) {
            Ok(outer) => outer,
            // Linked worktrees are often kept inside a bare repository.
            Err(BaselineError::NotARepository(_) | BaselineError::Bare(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        let path = outer.path_of(self.root())?;
        let head = match outer.head() {
            Ok(head) => BaseCommit::open(&outer, head, String::new())?,
            Err(BaselineError::Unborn) => return Ok(None),
            Err(error) => return Err(error),
        };
        let is_submodule = matches!(head.entry(&path)?, Some(Entry::Submodule(_)));
        drop(head);
        Ok(is_submodule.then_some((outer, path)))
    }

    fn of_pull_request(
        &self,
        merge: Option<CommitId>,
        target: &Target,
    ) -> Result<Choice, BaselineError> {
        let head = self.head()?;
        if merge == Some(head)
            && let [first, _, ..] = self.parents(head)?[..]
        {
            let reason = "first parent of the merge commit of the pull request";
            return Ok(Choice::commit(first, reason));
        }
        self.branch_point("pull_request", head, target)
    }

    fn of_pull_request_target(
        &self,
        start: Option<CommitId>,
        default_branch: Option<&str>,
        target: &Target,
    ) -> Result<Choice, BaselineError> {
        let event = "pull_request_target";
        let head = self.head()?;
        let itself = BaselineError::ItsOwnBase { event, head };
        if start == Some(head) {
            return Err(itself);
        }
        if let Some(name) = default_branch
            && let Some(tip) = self.remote_branch(name)?
            && self.common_ancestor(head, tip)? == Some(head)
        {
            return Err(itself);
        }
        self.branch_point(event, head, target)
    }

    /// Where the head of a pull request left the branch that it goes to.
    fn branch_point(
        &self,
        event: &'static str,
        head: CommitId,
        target: &Target,
    ) -> Result<Choice, BaselineError> {
        let branch = match &target.branch {
            Some(name) => self
                .remote_branch(name)?
                .map(|tip| (tip, format!("origin/{name}"))),
            None => None,
        };
        let (tip, name) = match (branch, target.sha, &target.branch) {
            (Some(found), _, _) => found,
            (None, Some(sha), _) if self.has_commit(sha)? => (sha, sha.to_string()),
            (None, Some(sha), _) if self.is_shallow() => {
                let other = sha.to_string();
                return Err(BaselineError::Shallow { other });
            }
            (None, Some(sha), _) => return Err(self.missing(sha)),
            (None, None, name) => {
                return Err(BaselineError::NoBranch(name.clone().unwrap_or_default()));
            }
        };
        let base = self.merge_base(head, tip, &name)?;
        if base == head {
            return Err(BaselineError::ItsOwnBase { event, head });
        }
        Ok(Choice::commit(base, format!("merge base with {name}")))
    }

    fn of_merge_group(&self, base: CommitId) -> Result<Choice, BaselineError> {
        let event = "merge_group";
        let head = self.head()?;
        if head == base {
            return Err(BaselineError::ItsOwnBase { event, head });
        }
        Ok(Choice::commit(base, "base of the merge group"))
    }

    fn of_push(
        &self,
        before: Option<CommitId>,
        default_branch: Option<&str>,
    ) -> Result<Choice, BaselineError> {
        let head = self.head()?;
        if let Some(before) = before {
            if before == head {
                return Ok(Choice::none("the push left HEAD where it was"));
            }
            if self.has_commit(before)? {
                return Ok(Choice::commit(before, "the branch before the push"));
            }
            // One fetch may bring it. In a whole clone it is not there because a forced
            // push took it out of every branch.
            if self.is_shallow() {
                return Err(self.missing(before));
            }
        }
        let Some(name) = default_branch else {
            return Err(BaselineError::EventMalformed {
                event: "push".to_owned(),
                message: "it has neither a commit before the push that is here, nor \
                          repository.default_branch"
                    .to_owned(),
            });
        };
        let tip = self.remote_branch(name)?;
        let tip = tip.ok_or_else(|| BaselineError::NoBranch(name.to_owned()))?;
        let base = self.merge_base(head, tip, &format!("origin/{name}"))?;
        match before {
            _ if base != head => {
                let reason = format!("merge base with origin/{name}, the default branch");
                Ok(Choice::commit(base, reason))
            }
            // HEAD is on the default branch, and what that was before is gone.
            Some(before) => Err(self.missing(before)),
            None => Ok(Choice::none(
                "HEAD is part of the default branch and the push names no earlier commit",
            )),
        }
    }

    /// Where HEAD left a revision that somebody named.
    fn by_revision(&self, revision: &str) -> Result<Choice, BaselineError> {
        let object = match self.inner.revparse_single(revision) {
            Ok(object) => object,
            Err(error) => return Err(self.no_revision(revision, &error)),
        };
        let commit = object
            .peel_to_commit()
            .map_err(|error| BaselineError::BadRevision {
                revision: revision.to_owned(),
                message: error.message().to_owned(),
            })?;
        let tip = id_of(commit.id())?;
        let base = self.merge_base(self.head()?, tip, revision)?;
        let reason = if base == tip {
            revision.to_owned()
        } else {
            format!("merge base with {revision}")
        };
        Ok(Choice::commit(base, reason))
    }

    fn no_revision(&self, revision: &str, error: &git2::Error) -> BaselineError {
        let revision = revision.to_owned();
        if error.code() != ErrorCode::NotFound {
            let message = match error.code() {
                ErrorCode::Ambiguous => "it is ambiguous; give more digits".to_owned(),
                _ => error.message().to_owned(),
            };
            return BaselineError::BadRevision { revision, message };
        }
        if let Some(id) = CommitId::from_hex(&revision) {
            return self.missing(id);
        }
        let remote = format!("origin/{revision}");
        let suggestion = self
            .inner
            .revparse_single(&remote)
            .is_ok()
            .then_some(remote);
        BaselineError::UnknownRevision {
            revision,
            suggestion,
        }
    }

    fn head(&self) -> Result<CommitId, BaselineError> {
        let reference = self.inner.head().map_err(|error| match error.code() {
            ErrorCode::UnbornBranch => BaselineError::Unborn,
            _ => corrupt("HEAD", &error),
        })?;
        let commit = reference.peel_to_commit();
        id_of(commit.map_err(|error| corrupt("HEAD", &error))?.id())
    }

    /// The parents that a commit names. They are read from its text, because where
    /// the history is cut off libgit2 says that there are none.
    fn parents(&self, id: CommitId) -> Result<Vec<CommitId>, BaselineError> {
        let commit = self.inner.find_commit(oid_of(id)?);
        let commit = commit.map_err(|error| corrupt(format!("the commit {id}"), &error))?;
        // "tree", then the parents, then everything else.
        let lines = commit.raw_header_bytes().split(|byte| *byte == b'\n');
        let parents = lines
            .skip(1)
            .map_while(|line| line.strip_prefix(b"parent "))
            .map(|hex| std::str::from_utf8(hex).ok().and_then(CommitId::from_hex));
        parents
            .collect::<Option<Vec<_>>>()
            .ok_or_else(|| BaselineError::Corrupt {
                what: format!("the commit {id}"),
                message: "it names a parent that is no SHA-1".to_owned(),
            })
    }

    fn has_commit(&self, id: CommitId) -> Result<bool, BaselineError> {
        match self.inner.find_commit(oid_of(id)?) {
            Ok(_) => Ok(true),
            Err(error) if error.code() == ErrorCode::NotFound => Ok(false),
            Err(error) => Err(corrupt(format!("the commit {id}"), &error)),
        }
    }

    /// The tip of a branch of the remote as it was last fetched.
    fn remote_branch(&self, name: &str) -> Result<Option<CommitId>, BaselineError> {
        let full = format!("refs/remotes/origin/{name}");
        if !git2::Reference::is_valid_name(&full) {
            return Err(BaselineError::NoBranch(name.to_owned()));
        }
        let reference = match self.inner.find_reference(&full) {
            Ok(reference) => reference,
            Err(error) if error.code() == ErrorCode::NotFound => return Ok(None),
            Err(error) => return Err(corrupt(full, &error)),
        };
        let commit = reference.peel_to_commit();
        id_of(commit.map_err(|error| corrupt(full, &error))?.id()).map(Some)
    }

    fn merge_base(
        &self,
        head: CommitId,
        tip: CommitId,
        name: &str,
    ) -> Result<CommitId, BaselineError> {
        let other = || name.to_owned();
        match self.common_ancestor(head, tip)? {
            Some(id) => Ok(id),
            None if self.is_shallow() => Err(BaselineError::Shallow { other: other() }),
            None => Err(BaselineError::Unrelated { other: other() }),
        }
    }

    fn common_ancestor(
        &self,
        one: CommitId,
        two: CommitId,
    ) -> Result<Option<CommitId>, BaselineError> {
        match self.inner.merge_base(oid_of(one)?, oid_of(two)?) {
            Ok(id) => id_of(id).map(Some),
            Err(error) if no_ancestor(&error) => Ok(None),
            Err(error) => Err(corrupt("the history", &error)),
        }
    }
}

/// A missing object is "not found" too, and no statement about ancestors.
fn no_ancestor(error: &git2::Error) -> bool {
    error.code() == ErrorCode::NotFound && error.class() == ErrorClass::Merge
}

fn by_superproject(
    outer: &Repository,
    path: &RepoPath,
    plan: &Plan,
) -> Result<Choice, BaselineError> {
    let base = match outer.base(plan)? {
        Base::None { reason } => return Ok(Choice::None { reason }),
        Base::Commit(base) => base,
    };
    match base.entry(path)? {
        None => Ok(Choice::none(format!(
            "the base {} has no submodule {path} yet",
            base.id()
        ))),
        Some(Entry::Submodule(id)) => Ok(Choice::commit(
            id,
            format!("submodule {path} at {}: {}", base.id(), base.reason()),
        )),
        Some(entry) => Err(BaselineError::NotAFile {
            path: path.clone(),
            what: entry.what(),
        }),
    }
}
