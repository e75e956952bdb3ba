//! What the commands of the gate have in common: the policy, the base and the
//! cassettes of a run, put together in the one order in which they depend on each other.

use super::Context;
use super::base::{Asked, BaseSide, Repositories, Subject};
use super::policy::{self, Policy};
use super::select::Selection;
use crate::config::Config;
use std::path::{Path, PathBuf};

/// Whose configuration counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PolicyFrom {
    /// That of the base commit, and that of the change where it is stricter.
    Base,
    /// That of the working tree.
    Head,
}

/// What a command asks for.
pub(crate) struct Request<'a> {
    pub(crate) policy: policy::Asked<'a>,
    pub(crate) policy_from: Option<PolicyFrom>,
    /// `auto`, `none` or a revision; without it the configuration and then what runs
    /// the command decide.
    pub(crate) base: Option<&'a str>,
    /// A file is compared with, so that a base gives the policy and nothing else.
    pub(crate) baseline_file: bool,
    /// Which cassettes, once the policy is known.
    pub(crate) selection: &'a dyn Fn(&Policy) -> Result<Selection, String>,
}

/// What a command gets.
pub(crate) struct Gate<'a> {
    pub(crate) policy: Policy,
    /// The base side, if there is one.
    pub(crate) side: Option<&'a BaseSide<'a>>,
    pub(crate) selection: Selection,
    pub(crate) subjects: Vec<Subject>,
    /// The base commit in 40 hexadecimal digits.
    pub(crate) commit: Option<String>,
    /// Why it is that one, or why there is none.
    pub(crate) reason: String,
}

impl Gate<'_> {
    /// The files that the run reads: cassettes, packs and the configuration.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = &Path> {
        let cassettes = self.subjects.iter().map(|subject| subject.path.as_path());
        let packs = self.policy.settings.pattern_packs.iter();
        cassettes
            .chain(packs.map(PathBuf::as_path))
            .chain(self.policy.config.as_deref())
    }
}

/// Works everything out and hands it to `then`.
///
/// # Errors
///
/// Whatever keeps the policy, the base or the cassettes from being known; the run
/// cannot go on without, because it would pass what it did not see.
pub(crate) fn open<T>(
    request: &Request<'_>,
    context: &Context,
    then: impl FnOnce(Gate<'_>) -> Result<T, String>,
) -> Result<T, String> {
    let own = policy::head_config(&request.policy, context)?;
    let asked = asked(request, &own, context)?;
    let from = policy_from(request, &asked);
    if let Some(reason) = asked.none() {
        if request.policy_from == Some(PolicyFrom::Base) && !request.baseline_file {
            return Err(format!("--policy-from base needs a base, and {reason}"));
        }
        let reason = reason.to_owned();
        let policy = match from {
            // Whatever it is compared with, a change does not choose its own policy.
            PolicyFrom::Base if request.baseline_file => {
                let auto = Asked::new(None, context).map_err(text)?;
                of_base(&own, request, context, &auto)?
            }
            _ => Policy::of_head(own, &request.policy, context)?,
        };
        return alone(policy, reason, request, then);
    }
    let directory = working_directory(context)?;
    let policy = match from {
        PolicyFrom::Head => Policy::of_head(own, &request.policy, context)?,
        PolicyFrom::Base => of_base(&own, request, context, &asked)?,
    };
    let selection = (request.selection)(&policy)?;
    let files = selection.working_files().map_err(text)?;
    let repositories = Repositories::of(&files, directory, &asked).map_err(text)?;
    let side = repositories.base(&asked).map_err(text)?;
    let (commit, reason) = side.commit();
    if !side.exists() {
        return alone(policy, reason, request, then);
    }
    let subjects = side.subjects(&selection, files, directory).map_err(text)?;
    then(Gate {
        policy,
        side: Some(&side),
        selection,
        subjects,
        commit,
        reason,
    })
}

/// Where everything is relative to.
///
/// # Errors
///
/// A directory that is gone: nothing is found from there, which would look like
/// nothing being wrong.
pub(crate) fn working_directory(context: &Context) -> Result<&Path, String> {
    let directory = context.directory.as_path();
    if directory.as_os_str().is_empty() {
        return Err("the working directory is not there any more".to_owned());
    }
    Ok(directory)
}

/// The policy of the base of the repository that the working directory is in.
fn of_base(
    own: &Config,
    request: &Request<'_>,
    context: &Context,
    asked: &Asked,
) -> Result<Policy, String> {
    let directory = context.directory.as_path();
    let home = Repositories::of(&[], directory, asked).map_err(text)?;
    let base = home.base(asked).map_err(text)?;
    if !base.exists() {
        let (_, reason) = base.commit();
        return Err(format!("the policy of the base is to count, and {reason}"));
    }
    let read = |path: &Path| base.read(path, directory).map_err(text);
    Policy::of_base(own, &request.policy, context, &read)
}

fn alone<T>(
    policy: Policy,
    reason: String,
    request: &Request<'_>,
    then: impl FnOnce(Gate<'_>) -> Result<T, String>,
) -> Result<T, String> {
    let selection = (request.selection)(&policy)?;
    let files = selection.working_files().map_err(text)?;
    then(Gate {
        policy,
        side: None,
        selection,
        subjects: files.into_iter().map(Subject::alone).collect(),
        commit: None,
        reason,
    })
}

/// What is compared with. Where a change is judged, its own configuration has no say
/// in it.
fn asked(request: &Request<'_>, own: &Config, context: &Context) -> Result<Asked, String> {
    let asked = Asked::new(request.base, context).map_err(text)?;
    match &own.check.base {
        Some(configured)
            if request.base.is_none() && policy_from(request, &asked) == PolicyFrom::Head =>
        {
            Asked::new(Some(configured), context).map_err(text)
        }
        _ => Ok(asked),
    }
}

fn policy_from(request: &Request<'_>, asked: &Asked) -> PolicyFrom {
    request.policy_from.unwrap_or(if asked.judges_a_change {
        PolicyFrom::Base
    } else {
        PolicyFrom::Head
    })
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
