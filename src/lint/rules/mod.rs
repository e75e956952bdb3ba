//! The rules. Each is one file with its metadata and its check; the table below
//! is the list that everything else is made from.

mod injection;
mod r001_tool_description;
mod r002_drift;
mod r003_duplicate_name;
mod r004_result_instructions;
mod r005_high_entropy;
mod r006_schema_phrasing;
mod r007_lookalike_name;
mod r008_hidden_characters;
mod r009_other_definitions;
mod r010_private_material;
mod r011_tool_steering;
mod r012_encoded_payload;
mod r013_unchecked;
mod r014_protocol;
mod r015_changed_in_session;
mod r016_schema_injection;
mod r017_known_secret;

use super::findings::Findings;
use super::reading::{Owner, Reading};
use super::run::Context;
use super::surfaces::{Defined, Definition};
use crate::cassette::view::Paired;
use crate::finding::RuleInfo;
use crate::wire::json::Span;

pub(super) use r002_drift::RULE as DRIFT;
pub(super) use r013_unchecked::{RULE as UNCHECKED, too_deep, too_many, variant};

/// A rule of lint: what it is, and how it looks.
pub(crate) struct Rule {
    pub(crate) info: RuleInfo,
    pub(crate) checks: &'static [Check],
}

/// What a rule looks at.
#[derive(Clone, Copy)]
pub(crate) enum Check {
    /// Each text.
    Text(fn(&Reading<'_>, &mut Findings<'_>)),
    /// Each definition as a whole.
    Definition(fn(&Context<'_>, &Definition<'_>, &Owner<'_>, &mut Findings<'_>)),
    /// The names in each array of definitions.
    Listing(fn(Defined, &[(String, Span)], &mut Findings<'_>)),
    /// Each message with the request that it answers.
    Message(fn(&Context<'_>, &Paired, &mut Findings<'_>)),
    /// The session as a whole.
    Session(fn(&Context<'_>, &mut Findings<'_>)),
}

/// The rules that look for secrets.
pub(super) const ABOUT_SECRETS: [&str; 2] = ["R005", "R017"];

/// Every rule of lint, in order of id.
pub(crate) const ALL: &[Rule] = &[
    r001_tool_description::RULE,
    r002_drift::RULE,
    r003_duplicate_name::RULE,
    r004_result_instructions::RULE,
    r005_high_entropy::RULE,
    r006_schema_phrasing::RULE,
    r007_lookalike_name::RULE,
    r008_hidden_characters::RULE,
    r009_other_definitions::RULE,
    r010_private_material::RULE,
    r011_tool_steering::RULE,
    r012_encoded_payload::RULE,
    r013_unchecked::RULE,
    r014_protocol::RULE,
    r015_changed_in_session::RULE,
    r016_schema_injection::RULE,
    r017_known_secret::RULE,
];
