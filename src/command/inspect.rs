//! `inspect`: what is in a cassette, in numbers, message by message, or tool by tool.

mod filter;
mod render;
mod summary;

use super::Outcome;
use super::serve::overlay;
use crate::cassette::Cassette;
use filter::Filter;
use std::path::PathBuf;

/// The options of `inspect`.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) cassette: PathBuf,
    /// Only messages with this method.
    pub(crate) method: Option<String>,
    /// Only messages whose payload this matches.
    pub(crate) grep: Option<String>,
    pub(crate) view: View,
    pub(crate) json: bool,
    /// An overlay of faults, to show which requests it would hit.
    pub(crate) faults: Option<PathBuf>,
}

/// What is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum View {
    /// Numbers.
    Summary,
    /// One line a message.
    Timeline,
    /// One line a tool.
    Tools,
}

/// Reads one file and shows it.
pub(crate) fn run(options: &Options, github_actions: bool) -> Outcome {
    let filter = match Filter::new(options) {
        Ok(filter) => filter,
        Err(message) => return Outcome::failed("inspect", message),
    };
    let salvaged = match Cassette::load_unfinished(&options.cassette) {
        Ok(salvaged) => salvaged,
        Err(error) => return Outcome::failed("inspect", error),
    };
    let mut outcome = Outcome::new("inspect");
    let faults = options.faults.as_deref();
    let faults = match faults
        .map(|path| overlay(Some(path), salvaged.cassette.transport()))
        .transpose()
    {
        Ok(faults) => faults.map(|faults| {
            for doubt in faults.cannot_fire(&salvaged.cassette) {
                outcome.line(format_args!("warning: {doubt}"));
            }
            faults.dry_run(&salvaged.cassette)
        }),
        Err(message) => return Outcome::failed("inspect", message),
    };
    let inspection = match summary::inspect(&salvaged.cassette, &filter, options.view) {
        Ok(inspection) => inspection,
        Err(message) => return Outcome::failed("inspect", message),
    };
    if let Some(note) = salvaged.note() {
        outcome.line(note);
    }
    outcome.stdout = if options.json {
        render::json(&inspection, faults.as_ref())
    } else {
        render::text(&inspection, options.view, faults.as_ref(), github_actions)
    };
    outcome
}
