//! What `record` and `serve --new-episodes` have in common: one writer to a cassette, and what
//! is told of how the writing ended.

use super::Exit;
use crate::record::{Claim, ClaimError, ClaimOptions, NotSaved};
use std::path::Path;

/// Why a command ends before it did what it is for.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) exit: Exit,
    pub(super) message: String,
}

impl Failure {
    pub(super) fn could_not_run(message: String) -> Failure {
        Failure {
            exit: Exit::CouldNotRun,
            message,
        }
    }
}

/// Takes the claim on the cassette at `target`; `fixes` is what to do if somebody holds it.
pub(super) fn claim(
    target: &Path,
    options: &ClaimOptions,
    fixes: &str,
    notice: &dyn Fn(&str),
) -> Result<Claim, Failure> {
    Claim::acquire(target, options, notice).map_err(|error| match error {
        ClaimError::Held { .. } => Failure {
            exit: Exit::Held,
            message: format!("{error}. {fixes}"),
        },
        ClaimError::Io { .. } => Failure::could_not_run(error.to_string()),
    })
}

pub(super) fn not_saved(error: &NotSaved) -> String {
    format!("{error}; the traffic itself was passed on whole")
}

/// `1 message` or `n messages`.
pub(super) fn counted(messages: u64) -> String {
    let noun = if messages == 1 { "message" } else { "messages" };
    format!("{messages} {noun}")
}
