//! The surfaces of two cassettes compared, definition by definition.

use super::definition::{Delta, MOST_COMPARED, changes, name_spot, same, text_change, uncounted};
use super::place::{Spot, resolve};
use super::rename::{Candidate, pairs};
use super::surface::{Greeting, Listing, Occurrence, Recorded};
use super::text::unified;
use super::{Change, ChangeKind, Detail, DiffError, Impact};
use crate::cassette::locate::position;
use crate::finding::Region;
use crate::secrets::conceal;
use crate::wire::json::Span;
use crate::wire::node::{Node, Text};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// What a definition without a name is called.
pub(super) const NAMELESS: &str = "(no name)";

/// Names that one note gives.
const NAMED: usize = 10;

/// Both cassettes, and what was found out about them so far.
pub(crate) struct Comparison<'a> {
    pub(crate) old: Recorded<'a>,
    pub(crate) new: Recorded<'a>,
    pub(crate) notes: Vec<String>,
    pub(crate) incomplete: bool,
}

/// A change whose place is still a span.
struct Draft {
    change: Change,
    spot: Spot,
    in_old: bool,
}

/// One definition of a surface, read.
struct Definition<'r> {
    occurrence: &'r Occurrence,
    raw: &'r str,
    node: Node,
}

/// The definitions of one listing by name, each text once.
type Definitions<'r> = BTreeMap<&'r Option<Text>, Vec<Definition<'r>>>;

impl Comparison<'_> {
    /// What changed in one listing.
    pub(crate) fn listing(&mut self, listing: Listing) -> Result<Vec<Change>, DiffError> {
        let mut notes = Vec::new();
        let mut incomplete = false;
        let old = definitions(&self.old, listing)?;
        let new = definitions(&self.new, listing)?;
        let (old_run, new_run) = (self.old.current(listing), self.new.current(listing));
        for (recorded, run) in [(&self.old, old_run), (&self.new, new_run)] {
            if run.is_some_and(|run| !run.complete) {
                incomplete = true;
                notes.push(format!(
                    "{}: the {} listing is incomplete (a cursor was never followed)",
                    recorded.cassette.name(),
                    listing.noun()
                ));
            }
        }
        let mut drafts = Vec::new();
        let mut unknown = Vec::new();
        let names: BTreeSet<_> = old.keys().chain(new.keys()).copied().collect();
        for name in names {
            match (old.get(name), new.get(name)) {
                (Some(old), Some(new)) => drafts.extend(both(listing, old, new, &mut notes)),
                (Some(old), None) if new_run.is_some_and(|run| !run.complete) => {
                    unknown.extend(old.last().map(|old| shown(old.occurrence)));
                }
                // Nobody asked, so nobody can tell. Tools are what the gate is for:
                // a recording without them does not pass for one that has them.
                (Some(old), None) if new_run.is_none() && listing != Listing::Tools => {
                    unknown.extend(old.last().map(|old| shown(old.occurrence)));
                }
                (Some(old), None) => drafts.extend(old.last().map(|old| removed(listing, old))),
                (None, Some(new)) => drafts.extend(new.last().map(|new| {
                    let unsure = old_run.is_some_and(|run| !run.complete);
                    added(listing, new, unsure)
                })),
                (None, None) => {}
            }
        }
        if listing == Listing::Tools {
            suggest_renames(&old, &new, &mut drafts);
        }
        let (name, noun) = (self.new.cassette.name(), listing.noun());
        if new_run.is_none() && !old.is_empty() {
            notes.push(format!("{name}: no {noun} listing was recorded"));
        }
        if !unknown.is_empty() {
            notes.push(format!("{name}: unknown {noun}: {}", quoted(&unknown)));
        }
        let changes = place(drafts, &self.old, &self.new);
        self.notes.extend(notes);
        self.incomplete |= incomplete;
        Ok(changes)
    }

    /// What changed in the instructions that the server gave last.
    pub(crate) fn instructions(&self) -> Result<Vec<Change>, DiffError> {
        let old = instructions(&self.old)?;
        let new = instructions(&self.new)?;
        let (before, after) = (old.as_ref().map(|o| &o.1), new.as_ref().map(|n| &n.1));
        let (diff, details) = text_change("instructions", before, after);
        let string = |node: Option<&Node>| node.and_then(Node::string).map(|s| s.into_owned());
        let (kind, spot, diff) = match (&old, &new) {
            (None, None) => return Ok(Vec::new()),
            (Some((spot, _)), None) => (ChangeKind::Removed, *spot, diff),
            (None, Some((spot, _))) => {
                let diff = unified(None, string(after).as_deref());
                (ChangeKind::Added, *spot, diff)
            }
            (Some(_), Some((spot, _))) => (ChangeKind::Text, *spot, diff),
        };
        if diff.is_empty() && details.is_empty() {
            return Ok(Vec::new());
        }
        let worst = details.iter().map(|detail| detail.impact).max();
        let draft = Draft {
            in_old: kind == ChangeKind::Removed,
            change: Change {
                diff,
                details,
                ..change("instructions", kind, worst.unwrap_or(Impact::Compatible))
            },
            spot,
        };
        Ok(place(vec![draft], &self.old, &self.new))
    }

    /// Notes which tools changed inside one recording: the listing that was
    /// compared does not show that.
    pub(crate) fn note_moves(&mut self) {
        for recorded in [&self.old, &self.new] {
            let moved = super::drift::names(&super::drift::moved(recorded).drifts);
            if !moved.is_empty() {
                let moved: Vec<String> = moved.into_iter().collect();
                self.notes.push(format!(
                    "{}: tools changed inside the recording, the last complete listing counts: {}",
                    recorded.cassette.name(),
                    quoted(&moved)
                ));
            }
        }
    }
}

/// The definitions of the run to compare. Even those that are the same text on
/// both sides are read, so that what is too deep never passes for compared.
fn definitions<'r>(
    recorded: &'r Recorded<'_>,
    listing: Listing,
) -> Result<Definitions<'r>, DiffError> {
    let mut found = Definitions::new();
    let Some(run) = recorded.current(listing) else {
        return Ok(found);
    };
    let mut seen = HashSet::new();
    for occurrence in recorded.in_run(run) {
        let raw = recorded.raw(occurrence);
        if seen.insert((&occurrence.name, raw)) {
            let node = recorded.read(occurrence).map_err(|error| {
                unreadable(
                    recorded,
                    occurrence.message,
                    occurrence.span,
                    error.to_string(),
                )
            })?;
            let list = found.entry(&occurrence.name).or_default();
            list.push(Definition {
                occurrence,
                raw,
                node,
            });
        }
    }
    Ok(found)
}

/// Refuses a recording in which another reader could see something else.
pub(super) fn refuse_doubts(recorded: &Recorded<'_>) -> Result<(), DiffError> {
    match recorded.doubts.first() {
        None => Ok(()),
        Some(doubt) => Err(unreadable(
            recorded,
            doubt.message,
            doubt.at,
            doubt.problem.clone(),
        )),
    }
}

fn unreadable(recorded: &Recorded<'_>, message: u32, span: Span, problem: String) -> DiffError {
    let cassette = recorded.cassette;
    let (pointer, _) = resolve(cassette, &[Spot::new(message, span)])
        .pop()
        .unwrap_or_default();
    DiffError::Definition {
        file: cassette.name().to_owned(),
        pointer,
        position: position(&cassette.text, span.start as usize),
        problem,
    }
}

/// The changes of a definition that both sides have.
///
/// A listing may hold a name more than once. Definitions that equal one of the
/// other side are set aside; those that are left are compared in their order, the
/// surplus with the last one of the other side, so that none goes unseen.
fn both(
    listing: Listing,
    old: &[Definition<'_>],
    new: &[Definition<'_>],
    notes: &mut Vec<String>,
) -> Vec<Draft> {
    let (old_left, new_left) = (unmatched(listing, old, new), unmatched(listing, new, old));
    let mut drafts = Vec::new();
    for index in 0..old_left.len().max(new_left.len()) {
        let before = old_left.get(index).copied().or(old.last());
        let after = new_left.get(index).copied().or(new.last());
        let (Some(before), Some(after)) = (before, after) else {
            continue;
        };
        let deltas = changes(listing, &before.node, &after.node);
        drafts.extend(deltas.into_iter().map(|delta| changed(delta, after)));
    }
    if let (Some(before), Some(after)) = (old.last(), new.last()) {
        let apart = uncounted(listing, &before.node, &after.node);
        if !apart.is_empty() {
            notes.push(format!(
                "{} `{}`: {} changed, which does not count",
                listing.noun(),
                shown(after.occurrence),
                quoted(&apart)
            ));
        }
    }
    drafts
}

/// The definitions that equal none of the other side. Of very many definitions of
/// one name only the first are looked into and the rest are compared as text,
/// which at worst leaves too many.
fn unmatched<'d, 'r>(
    listing: Listing,
    these: &'d [Definition<'r>],
    those: &[Definition<'r>],
) -> Vec<&'d Definition<'r>> {
    let texts: HashSet<&str> = those.iter().map(|that| that.raw).collect();
    let lacks = |this: &&Definition<'_>| {
        if texts.contains(this.raw) {
            return false;
        }
        let mut others = those.iter().take(MOST_COMPARED);
        !others.any(|that| same(listing, &this.node, &that.node))
    };
    these.iter().filter(lacks).collect()
}

fn changed(delta: Delta, after: &Definition<'_>) -> Draft {
    let occurrence = after.occurrence;
    let spot = delta.spot(occurrence.message, &after.node, occurrence.listing);
    Draft {
        change: Change {
            diff: delta.diff,
            details: delta.details,
            ..change(&shown(occurrence), delta.kind, delta.impact)
        },
        spot,
        in_old: false,
    }
}

fn removed(listing: Listing, old: &Definition<'_>) -> Draft {
    let occurrence = old.occurrence;
    Draft {
        change: change(&shown(occurrence), ChangeKind::Removed, Impact::Breaking),
        spot: name_spot(occurrence.message, &old.node, listing),
        in_old: true,
    }
}

fn added(listing: Listing, new: &Definition<'_>, unsure: bool) -> Draft {
    let occurrence = new.occurrence;
    let details = unsure.then(|| Detail {
        text: "the older listing is incomplete and may have had it".to_owned(),
        impact: Impact::Compatible,
    });
    Draft {
        change: Change {
            details: details.into_iter().collect(),
            ..change(&shown(occurrence), ChangeKind::Added, Impact::Compatible)
        },
        spot: name_spot(occurrence.message, &new.node, listing),
        in_old: false,
    }
}

fn change(name: &str, kind: ChangeKind, impact: Impact) -> Change {
    Change {
        name: name.to_owned(),
        kind,
        impact,
        diff: Vec::new(),
        details: Vec::new(),
        renamed: None,
        locator: String::new(),
        region: Region::default(),
    }
}

/// Names removed and added tools to each other where one may be the other renamed.
fn suggest_renames(old: &Definitions<'_>, new: &Definitions<'_>, drafts: &mut [Draft]) {
    let (vanished, fresh) = (only(old, new), only(new, old));
    let said = |drafts: &[Draft], kind: ChangeKind, name: &str| {
        drafts
            .iter()
            .position(|draft| draft.change.kind == kind && draft.change.name == name)
    };
    for (from, to) in pairs(&vanished, &fresh) {
        let (Some(from), Some(to)) = (vanished.get(from), fresh.get(to)) else {
            continue;
        };
        let (old_name, new_name) = (from.name.show(), to.name.show());
        // A tool that is only unknown was not renamed.
        let (Some(gone), Some(come)) = (
            said(drafts, ChangeKind::Removed, &old_name),
            said(drafts, ChangeKind::Added, &new_name),
        ) else {
            continue;
        };
        let differs: Vec<&str> = changes(Listing::Tools, from.tool, to.tool)
            .iter()
            .map(|delta| delta.kind.as_str())
            .collect();
        if let Some(draft) = drafts.get_mut(gone) {
            draft.change.renamed = Some(new_name.into_owned());
        }
        if let Some(draft) = drafts.get_mut(come) {
            if !differs.is_empty() {
                draft.change.details.push(Detail {
                    text: format!("differs from `{old_name}` in: {}", differs.join(", ")),
                    impact: Impact::Compatible,
                });
            }
            draft.change.renamed = Some(old_name.into_owned());
        }
    }
}

fn only<'n>(one: &'n Definitions<'_>, other: &Definitions<'_>) -> Vec<Candidate<'n>> {
    one.iter()
        .filter(|(name, _)| !other.contains_key(*name))
        .filter_map(|(name, definitions)| {
            let name = name.as_ref()?;
            let tool = &definitions.last()?.node;
            Some(Candidate { name, tool })
        })
        .collect()
}

/// The instructions of the last greeting and their place.
fn instructions(recorded: &Recorded<'_>) -> Result<Option<(Spot, Node)>, DiffError> {
    let Some(&Greeting {
        message,
        instructions: Some(span),
        ..
    }) = recorded.greetings.last()
    else {
        return Ok(None);
    };
    match Node::read(&recorded.cassette.text, span) {
        Ok(node) => Ok(Some((Spot::new(message, span), node))),
        Err(error) => Err(unreadable(recorded, message, span, error.to_string())),
    }
}

/// Turns spans into pointers and lines, each file walked once.
fn place(drafts: Vec<Draft>, old: &Recorded<'_>, new: &Recorded<'_>) -> Vec<Change> {
    let spots = |in_old: bool| -> Vec<Spot> {
        let chosen = drafts.iter().filter(|draft| draft.in_old == in_old);
        chosen.map(|draft| draft.spot).collect()
    };
    let mut old_places = resolve(old.cassette, &spots(true)).into_iter();
    let mut new_places = resolve(new.cassette, &spots(false)).into_iter();
    let placed = |draft: Draft| {
        let places = if draft.in_old {
            &mut old_places
        } else {
            &mut new_places
        };
        let (locator, region) = places.next().unwrap_or_default();
        Change {
            locator,
            region,
            ..draft.change
        }
    };
    drafts.into_iter().map(placed).collect()
}

fn shown(occurrence: &Occurrence) -> String {
    match &occurrence.name {
        Some(name) => name.show().into_owned(),
        None => NAMELESS.to_owned(),
    }
}

fn quoted(names: &[String]) -> String {
    let mut quoted: Vec<String> = names
        .iter()
        .take(NAMED)
        .map(|name| format!("`{}`", super::text::clip(&conceal::name(name), 60)))
        .collect();
    if names.len() > NAMED {
        quoted.push(format!("{} more", names.len() - NAMED));
    }
    quoted.join(", ")
}
