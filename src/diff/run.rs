//! One comparison from beginning to end.

use super::Diff;
use super::collect::Collector;
use super::compare::{Comparison, refuse_doubts};
use super::surface::{Listing, Recorded};
use super::traffic::{self, Traffic};
use crate::cassette::Cassette;
use crate::cassette::view::Exchanges;
use crate::finding::Position;
use crate::secrets::conceal::{self, conceal, conceal_diff};
use std::borrow::Cow;

/// What to compare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiffOptions {
    /// Only the tools that the server offers, not how the session went.
    pub tools_only: bool,
}

/// Why two cassettes could not be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DiffError {
    /// A definition that is compared could not be read as a tree, or a message could be
    /// read in two ways.
    #[error(
        "{file}:{}:{}: {pointer} cannot be compared: {problem}",
        position.line,
        position.column
    )]
    Definition {
        /// The cassette as it was named.
        file: String,
        /// The definition as a JSON pointer.
        pointer: String,
        /// Its place in the file.
        position: Position,
        /// What is wrong with it.
        problem: String,
    },
}

/// Compares two cassettes.
///
/// Of tools, prompts and resources the last complete listing of the last session
/// is compared; instructions are those that the server gave last. Changes are in
/// the order of names, then of [`ChangeKind`](super::ChangeKind).
///
/// ```
/// use mcp_cassette::Cassette;
/// use mcp_cassette::diff::{DiffOptions, Impact, diff};
///
/// let cassette = |required: &str| {
///     let tool = format!(
///         r#"{{"name": "search", "inputSchema": {{
///             "type": "object",
///             "properties": {{"query": {{"type": "string"}}}},
///             "required": [{required}]}}}}"#
///     );
///     let file = format!(
///         r#"{{"format_version": 3, "messages": [
///             {{"seq": 0, "t_offset_ms": 0, "sender": "client", "kind": "request",
///               "payload": {{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}}}},
///             {{"seq": 1, "t_offset_ms": 2, "sender": "server", "kind": "response",
///               "payload": {{"jsonrpc": "2.0", "id": 1, "result": {{"tools": [{tool}]}}}}}}
///         ]}}"#
///     );
///     Cassette::parse("example.mcp.json", file.into_bytes())
/// };
/// let (old, new) = (cassette("")?, cassette(r#""query""#)?);
/// let found = diff(&old, &new, &DiffOptions { tools_only: true })?;
///
/// assert!(!found.identical());
/// assert_eq!(found.tools[0].impact, Impact::Breaking);
/// assert_eq!(found.tools[0].details[0].text, "parameter `query` is now required");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// A definition that is nested too deeply to be compared: it could hide anything. A
/// message that two readers could understand differently: what `lint` reports as R013
/// compares with nothing.
pub fn diff(old: &Cassette, new: &Cassette, options: &DiffOptions) -> Result<Diff, DiffError> {
    let (old_recorded, old_traffic) = read(old, options);
    let (new_recorded, new_traffic) = read(new, options);
    refuse_doubts(&old_recorded)?;
    refuse_doubts(&new_recorded)?;
    let mut comparison = Comparison {
        old: old_recorded,
        new: new_recorded,
        notes: Vec::new(),
        incomplete: false,
    };
    let mut found = Diff {
        old: old.name().to_owned(),
        new: new.name().to_owned(),
        tools: comparison.listing(Listing::Tools)?,
        ..Diff::default()
    };
    comparison.note_moves();
    if !options.tools_only {
        found.metadata = traffic::metadata(&comparison.old, &comparison.new);
        found.methods = traffic::methods(&old_traffic, &new_traffic);
        found.prompts = comparison.listing(Listing::Prompts)?;
        found.resources = comparison.listing(Listing::Resources)?;
        found
            .resources
            .extend(comparison.listing(Listing::Templates)?);
        found.instructions = comparison.instructions()?;
        found.sequence = traffic::sequence(&old_traffic, &new_traffic);
    }
    for cassette in [old, new].into_iter().filter(|side| side.rows.is_empty()) {
        let name = cassette.name();
        let note = format!("{name} holds no messages, so nothing was compared");
        comparison.notes.push(note);
    }
    found.notes = comparison.notes;
    found.incomplete = comparison.incomplete;
    conceal_secrets(&mut found);
    Ok(found)
}

/// Changed text is quoted at length, and a key in it must not spread with the report.
fn conceal_secrets(found: &mut Diff) {
    for field in &mut found.metadata {
        field.old.iter_mut().for_each(conceal);
        field.new.iter_mut().for_each(conceal);
    }
    // The name of a resource is a URI, which may carry a token.
    for change in &mut found.resources {
        conceal(&mut change.name);
        change.renamed.iter_mut().for_each(conceal);
    }
    let surfaces = [
        &mut found.tools,
        &mut found.prompts,
        &mut found.resources,
        &mut found.instructions,
    ];
    for change in surfaces.into_iter().flatten() {
        shorten(&mut change.name);
        change.renamed.iter_mut().for_each(shorten);
        conceal_diff(&mut change.diff);
        for detail in &mut change.details {
            conceal::conceal_statement(&mut detail.text);
        }
    }
    for count in &mut found.methods {
        shorten(&mut count.method);
    }
    conceal_diff(&mut found.sequence);
}

/// As a name is shown.
fn shorten(name: &mut String) {
    if let Cow::Owned(shown) = conceal::name(name) {
        *name = shown;
    }
}

/// One pass over the messages for everything that is compared.
fn read<'a>(cassette: &'a Cassette, options: &DiffOptions) -> (Recorded<'a>, Traffic) {
    let mut collector = Collector::new(cassette);
    let mut traffic = Traffic::default();
    for paired in Exchanges::new(cassette) {
        collector.take(&paired);
        if !options.tools_only {
            traffic.take(cassette, &paired);
        }
    }
    (collector.finish(), traffic)
}
