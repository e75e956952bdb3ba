//! Redaction: what in a message is personal or secret, and what is written in its place.
//!
//! A [`Redactor`] is made once from [`Rules`] or from the manifest of a recording and
//! then rewrites one message at a time, so that it serves a running recorder, an
//! existing cassette and the check of one alike. Untouched messages keep their bytes;
//! of a changed one only the changed tokens are written anew. What was replaced is
//! never told: a `Hit` carries the rule, the place and a masked sample.
//!
//! Structural rules (`locator`, `names`) go by the name or place of a value, packs
//! (`pack`, `bundled`) by what the text looks like. They apply to data: the protocol's
//! own members stay, and of definitions only secrets are taken out (`zone`).

mod bundled;
mod check;
mod commands;
mod cookies;
mod edits;
mod encoded;
mod error;
mod islands;
mod lists;
mod locator;
mod manifest;
mod markers;
mod names;
mod pack;
mod pseudonym;
mod redactor;
mod rewrite;
mod scan;
mod validate;
mod view;
mod walk;
mod zone;

#[cfg(test)]
mod tests;

pub(crate) use check::{CheckOptions, LEFT_OVER, RULES, check};
pub(crate) use error::RedactError;
pub(crate) use manifest::{Manifest, PackFiles};
pub(crate) use pseudonym::Salt;
pub(crate) use redactor::{Action, MessageContext, Redactor, Rules};
pub(crate) use rewrite::{Change, redact_cassette};
