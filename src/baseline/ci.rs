//! What started this run, and which commit that makes the base: a pure step from
//! variables and the payload of an event to a [`Plan`], without a look at git.
//!
//! The payload comes from whoever opened the pull request as much as from GitHub, so
//! a member of another type than GitHub documents is an error. No guess stands in
//! for it. Only the members that the event at hand needs are read.

use super::error::{BaselineError, shortened};
use super::id::CommitId;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Bytes of a payload; GitHub delivers none above 25 MB.
const MAX_PAYLOAD: usize = 32 << 20;

/// What CI and hooks say of a run, in their variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Environment {
    /// `GITHUB_ACTIONS=true`
    pub(crate) github_actions: bool,
    /// `GITHUB_WORKSPACE`: where the checkout lies.
    pub(crate) workspace: Option<PathBuf>,
    /// `GITHUB_EVENT_NAME`
    event: Option<String>,
    /// `GITHUB_EVENT_PATH`: the file with the payload.
    event_path: Option<PathBuf>,
    /// `GITHUB_SHA`
    sha: Option<String>,
    /// `GITHUB_BASE_REF`: the name of the branch that a pull request goes to.
    base_ref: Option<String>,
    /// `PRE_COMMIT=1`
    pre_commit: bool,
    /// `PRE_COMMIT_FROM_REF`
    from_ref: Option<String>,
}

impl Environment {
    /// Picks the variables that matter. An empty one counts as unset.
    pub(crate) fn from_variables(lookup: impl Fn(&str) -> Option<OsString>) -> Self {
        let value = |name| lookup(name).filter(|value| !value.is_empty());
        // A value that is not Unicode names no event, commit or branch of GitHub's.
        // It is kept, mangled, so that it fails instead of counting as unset.
        let text = |name| value(name).map(|value| value.to_string_lossy().into_owned());
        Environment {
            github_actions: text("GITHUB_ACTIONS").as_deref() == Some("true"),
            workspace: value("GITHUB_WORKSPACE").map(PathBuf::from),
            event: text("GITHUB_EVENT_NAME"),
            event_path: value("GITHUB_EVENT_PATH").map(PathBuf::from),
            sha: text("GITHUB_SHA"),
            base_ref: text("GITHUB_BASE_REF"),
            pre_commit: text("PRE_COMMIT").as_deref() == Some("1"),
            from_ref: text("PRE_COMMIT_FROM_REF"),
        }
    }

    /// Whether this run judges a change that somebody proposes, so that the policy
    /// must not be the change's own: contract.md, "Whose policy".
    pub(crate) fn judges_a_change(&self) -> bool {
        const EVENTS: [&str; 3] = ["pull_request", "pull_request_target", "merge_group"];
        let event = self.event.as_deref();
        self.github_actions && event.is_some_and(|event| EVENTS.contains(&event))
    }
}

/// Which commit is the base. Turning it into one that is there takes a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Plan {
    /// Nothing is compared.
    None { reason: String },
    /// Where HEAD left what somebody named: by `--base`, or by a hook.
    Revision { revision: String },
    /// HEAD, for what is about to be committed.
    Head,
    /// What an event on GitHub says.
    Event(Event),
}

/// An event that has a base: commits of the repository that was checked out for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A pull request.
    PullRequest {
        /// `GITHUB_SHA`: the merge commit that GitHub made, and that is checked out
        /// unless the workflow asks for something else.
        merge: Option<CommitId>,
        target: Target,
    },
    /// A pull request, in a run that starts out on the branch that it goes to.
    PullRequestTarget {
        /// `GITHUB_SHA`: where such a run starts out.
        start: Option<CommitId>,
        default_branch: Option<String>,
        target: Target,
    },
    /// A merge queue: what the group goes on top of.
    MergeGroup { base: CommitId },
    /// A push.
    Push {
        /// Where the branch was before; none for a new one.
        before: Option<CommitId>,
        default_branch: Option<String>,
    },
}

/// The branch that a pull request goes to; at least one of the two is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// Without `refs/heads/`.
    pub(crate) branch: Option<String>,
    /// Its tip when the event happened, which may be long ago.
    pub(crate) sha: Option<CommitId>,
}

/// Decides what `base` (`auto`, `none` or a revision) asks for. Without it, CI and
/// hooks mean `auto` and people `none`.
///
/// Where both speak, CI comes before pre-commit: `pre-commit run --all-files` on a
/// runner would otherwise compare HEAD with itself.
///
/// # Errors
///
/// An event whose payload is needed and cannot be read or understood. `payload` is
/// only called for such an event.
pub(crate) fn plan(
    base: Option<&str>,
    environment: &Environment,
    payload: impl FnOnce(&Path) -> Result<Vec<u8>, BaselineError>,
) -> Result<Plan, BaselineError> {
    match base {
        Some("none") => Ok(none("--base is none")),
        Some("auto") | None if environment.github_actions => of_event(environment, payload),
        Some("auto") | None if environment.pre_commit => Ok(match &environment.from_ref {
            Some(revision) => Plan::Revision {
                revision: revision.clone(),
            },
            None => Plan::Head,
        }),
        Some("auto") => Ok(none("neither GitHub Actions nor pre-commit runs this")),
        None => Ok(none("no --base was given")),
        Some(revision) => Ok(Plan::Revision {
            revision: revision.to_owned(),
        }),
    }
}

/// Reads the file of `GITHUB_EVENT_PATH`.
///
/// # Errors
///
/// What is no regular file, is larger than any payload, or cannot be read.
pub(crate) fn event_file(path: &Path) -> Result<Vec<u8>, BaselineError> {
    let unreadable = |source| BaselineError::EventUnreadable {
        path: path.to_owned(),
        source,
    };
    // Opening a FIFO would wait for its other end.
    if !fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err(unreadable(io::Error::other("is not a regular file")));
    }
    let mut bytes = Vec::new();
    let limit = MAX_PAYLOAD as u64 + 1;
    let file = File::open(path).map_err(unreadable)?;
    file.take(limit)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    Ok(bytes)
}

fn none(reason: impl Into<String>) -> Plan {
    Plan::None {
        reason: reason.into(),
    }
}

fn of_event(
    environment: &Environment,
    payload: impl FnOnce(&Path) -> Result<Vec<u8>, BaselineError>,
) -> Result<Plan, BaselineError> {
    let name = environment
        .event
        .as_deref()
        .ok_or(BaselineError::EventUnset("GITHUB_EVENT_NAME"))?;
    let delivery = Delivery { name, environment };
    let event = match name {
        "pull_request" | "pull_request_target" => delivery.pull_request(&delivery.read(payload)?),
        "merge_group" => delivery.merge_group(&delivery.read(payload)?),
        "push" => delivery.push(&delivery.read(payload)?),
        _ => {
            let name = shortened(name);
            return Ok(none(format!(
                "the event {name} has no commit to compare with"
            )));
        }
    };
    event.map(Plan::Event)
}

/// An event whose payload matters.
struct Delivery<'a> {
    name: &'a str,
    environment: &'a Environment,
}

impl Delivery<'_> {
    fn read<T: DeserializeOwned>(
        &self,
        payload: impl FnOnce(&Path) -> Result<Vec<u8>, BaselineError>,
    ) -> Result<T, BaselineError> {
        let path = self.environment.event_path.as_deref();
        let bytes = payload(path.ok_or(BaselineError::EventUnset("GITHUB_EVENT_PATH"))?)?;
        if bytes.len() > MAX_PAYLOAD {
            return Err(self.malformed("is larger than any payload of GitHub's"));
        }
        serde_json::from_slice(&bytes).map_err(|error| self.malformed(&error.to_string()))
    }

    fn pull_request(&self, payload: &PullRequestPayload) -> Result<Event, BaselineError> {
        let base = &payload.pull_request.base;
        let target = Target {
            branch: filled(base.branch.as_ref()).or_else(|| self.environment.base_ref.clone()),
            sha: self.commit("pull_request.base.sha", base.sha.as_deref())?,
        };
        if target.branch.is_none() && target.sha.is_none() {
            return Err(self.malformed("pull_request.base has neither ref nor sha"));
        }
        let sha = self.commit("GITHUB_SHA", self.environment.sha.as_deref())?;
        Ok(if self.name == "pull_request" {
            Event::PullRequest { merge: sha, target }
        } else {
            Event::PullRequestTarget {
                start: sha,
                default_branch: payload.repository.default_branch(),
                target,
            }
        })
    }

    fn merge_group(&self, payload: &MergeGroupPayload) -> Result<Event, BaselineError> {
        let sha = Some(payload.merge_group.base_sha.as_str());
        match self.commit("merge_group.base_sha", sha)? {
            Some(base) => Ok(Event::MergeGroup { base }),
            None => Err(self.malformed("merge_group.base_sha names no commit")),
        }
    }

    fn push(&self, payload: &PushPayload) -> Result<Event, BaselineError> {
        Ok(Event::Push {
            before: self.commit("before", payload.before.as_deref())?,
            default_branch: payload.repository.default_branch(),
        })
    }

    /// A commit, or none where it is not given or stands for none (all zeros).
    fn commit(&self, member: &str, sha: Option<&str>) -> Result<Option<CommitId>, BaselineError> {
        let Some(sha) = sha.filter(|sha| !sha.is_empty()) else {
            return Ok(None);
        };
        match CommitId::from_hex(sha) {
            Some(id) => Ok(Some(id).filter(|id| !id.is_zero())),
            None => Err(self.malformed(&format!(
                "{member} is {:?}, not a SHA-1 of 40 digits",
                shortened(sha)
            ))),
        }
    }

    fn malformed(&self, message: &str) -> BaselineError {
        BaselineError::EventMalformed {
            event: self.name.to_owned(),
            message: message.to_owned(),
        }
    }
}

fn filled(text: Option<&String>) -> Option<String> {
    text.filter(|text| !text.is_empty()).cloned()
}

// Of each payload the members that are used, as GitHub documents them under
// https://docs.github.com/en/webhooks/webhook-events-and-payloads.

#[derive(Deserialize)]
struct PullRequestPayload {
    pull_request: PullRequest,
    #[serde(default)]
    repository: HostedRepository,
}

#[derive(Deserialize)]
struct PullRequest {
    base: Tip,
}

#[derive(Deserialize)]
struct Tip {
    #[serde(rename = "ref")]
    branch: Option<String>,
    sha: Option<String>,
}

#[derive(Deserialize)]
struct MergeGroupPayload {
    merge_group: MergeGroup,
}

#[derive(Deserialize)]
struct MergeGroup {
    base_sha: String,
}

#[derive(Deserialize)]
struct PushPayload {
    before: Option<String>,
    #[serde(default)]
    repository: HostedRepository,
}

#[derive(Default, Deserialize)]
struct HostedRepository {
    default_branch: Option<String>,
}

impl HostedRepository {
    fn default_branch(&self) -> Option<String> {
        filled(self.default_branch.as_ref())
    }
}
