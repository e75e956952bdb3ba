//! Regular expressions of packs, written for Python's `re` as 0.4.0 read them, and the
//! words for what is wrong with a pack.
//!
//! `parser.rs` (with `groups.rs` and `escape.rs`) parses an expression, `translate.rs` (with
//! `class.rs`) writes it for the Rust engines, `matcher.rs` and `backtracking.rs` run it in
//! bounded time. Nothing here does input or output.

mod backtracking;
mod class;
mod error;
mod escape;
mod groups;
mod matcher;
mod parser;
mod syntax;
mod table;
mod translate;

#[cfg(test)]
mod differential;
#[cfg(test)]
mod matcher_tests;

pub(crate) use backtracking::Budget;
pub(crate) use error::{PackError, PackKind, Problem, Rule};
pub(crate) use matcher::{Matcher, Outcome};
pub(crate) use syntax::Flags;
pub(crate) use table::{Fields, Layout, Mistake, PackSource, read_pack};
