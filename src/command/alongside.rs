//! The base of a large cassette, read by one thread while another lints the cassette.

use super::base::{BaseError, BaseSide, Large, Subject};
use crate::cassette::Cassette;
use crate::finding::Report;
use crate::lint::{Baseline, Settings, lint_cassette};
use crate::report::CassetteStatus;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;

/// What the base side has in the place of a cassette.
pub(super) enum Old {
    None,
    /// The same content.
    Same,
    Cassette(Box<Cassette>),
}

impl Old {
    /// What a cassette continues. One that was renamed is compared with what it was called.
    pub(super) fn of(old: Option<Cassette>, new: &Cassette, status: CassetteStatus) -> Old {
        match old {
            None => Old::None,
            Some(old) if status == CassetteStatus::Modified && old.text == new.text => Old::Same,
            Some(old) => Old::Cassette(Box::new(old)),
        }
    }

    pub(super) fn cassette(&self) -> Option<&Cassette> {
        match self {
            Old::Cassette(old) => Some(old),
            Old::None | Old::Same => None,
        }
    }
}

/// Lints a cassette against its base and hands over both. A base of many megabytes is
/// read in a thread of its own, which nothing waits for before it is needed; the results
/// are the same. Memory is that of both files either way.
///
/// With a base that cannot be read, the report is that of the cassette alone.
pub(super) fn lint_against(
    side: &BaseSide<'_>,
    subject: &Subject,
    cassette: &Cassette,
    settings: &Settings,
) -> (Report, Result<Old, BaseError>) {
    match side.large(subject) {
        Some(large) => at_once(large, subject.status, cassette, settings),
        None => {
            let old = side
                .load(subject)
                .map(|old| Old::of(old, cassette, subject.status));
            let baseline = old.as_ref().ok().and_then(Old::cassette);
            (lint_cassette(cassette, baseline, settings), old)
        }
    }
}

fn at_once(
    large: Large,
    status: CassetteStatus,
    cassette: &Cassette,
    settings: &Settings,
) -> (Report, Result<Old, BaseError>) {
    let read: OnceLock<Result<Old, BaseError>> = OnceLock::new();
    let report = thread::scope(|scope| {
        let reader = scope.spawn(|| large.load().map(|old| Old::of(old, cassette, status)));
        let reader = Mutex::new(Some(reader));
        let wait = || {
            let old = read.get_or_init(|| {
                let reader = reader.lock().unwrap_or_else(PoisonError::into_inner).take();
                match reader.map(thread::ScopedJoinHandle::join) {
                    Some(Ok(old)) => old,
                    Some(Err(panic)) => std::panic::resume_unwind(panic),
                    // Only one caller gets here.
                    None => Ok(Old::None),
                }
            });
            old.as_ref().ok().and_then(Old::cassette)
        };
        lint_cassette(cassette, Baseline::Coming(&wait), settings)
    });
    // Linting asks for the baseline in any case, if only to name it.
    (report, read.into_inner().unwrap_or(Ok(Old::None)))
}
