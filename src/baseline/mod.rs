//! Where the other side of a comparison comes from.
//!
//! [`plan`] decides from what CI or a hook says, and without touching git, which
//! commit is meant. A [`Repository`] then resolves the plan to a [`BaseCommit`],
//! whose files are read from the object store: no `git` process, no network, no
//! `GIT_DIR`. Whatever cannot be read is an error that names its remedy. It is
//! never "no baseline", because then nothing would be compared and the gate would pass.

mod ci;
mod error;
mod git;
mod id;
mod path;
#[cfg(test)]
mod tests;

pub(crate) use ci::{Environment, Plan, event_file, plan};
pub(crate) use error::BaselineError;
pub(crate) use git::{
    Base, BaseCommit, Handle, LARGE, Pair, Pairing, Repository, Staged, Status, Trust,
};
pub(crate) use path::RepoPath;
