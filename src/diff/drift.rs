//! Tool definitions that changed, over all occurrences rather than over the one
//! listing that `diff` compares: what R002 and R015 report.

use super::definition::{Delta, MOST_COMPARED, changes_of_tool, equal_tools};
use super::rename::{Candidate, pairs};
use super::surface::{Listing, Occurrence, Recorded};
use crate::wire::node::{Node, NodeError, Text};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// A definition that equals none of those that it should equal.
#[derive(Clone, Debug)]
pub(crate) struct Drift<'r> {
    /// Where the newer definition stands first.
    pub(crate) occurrence: &'r Occurrence,
    /// The older one that it was compared with; it has another name after a rename.
    pub(crate) before: &'r Occurrence,
    /// What differs; never empty.
    pub(crate) changes: Vec<Delta>,
    /// How often the newer definition occurs, word for word.
    pub(crate) times: usize,
}

/// What a comparison of many definitions found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Drifts<'r> {
    /// In the order of the file.
    pub(crate) drifts: Vec<Drift<'r>>,
    /// Definitions that could not be compared, and so were vouched for by nothing.
    pub(crate) unreadable: Vec<(&'r Occurrence, NodeError)>,
}

/// A tool that came or went between two complete listings of one session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Movement<'r> {
    /// The tool in the listing that has it.
    pub(crate) occurrence: &'r Occurrence,
    pub(crate) added: bool,
    /// The first message of the later listing.
    pub(crate) message: u32,
    /// Whether the server announced a change between the two.
    pub(crate) announced: bool,
}

/// R002: each distinct current definition that equals no baseline definition of
/// its name. A tool that vanished and a new one with its input schema are compared
/// as one tool that was renamed; other new tools have nothing to drift from.
pub(crate) fn drifted<'r>(baseline: &'r Recorded<'_>, current: &'r Recorded<'_>) -> Drifts<'r> {
    let (old, new) = (by_name(baseline), by_name(current));
    let mut found = Drifts::default();
    let renames = renames((baseline, &old), (current, &new));
    for (name, definitions) in &new {
        let known = match old.get(name) {
            Some(known) => Some(known),
            None => renames.get(name).and_then(|name| old.get(name)),
        };
        if let Some(known) = known {
            compare((baseline, known), (current, definitions), &mut found);
        }
    }
    found.sort();
    found
}

/// R015: each definition that equals none that the answer before it, among those
/// that had the tool, gave. A change and a change back are two.
pub(crate) fn moved<'r>(recorded: &'r Recorded<'_>) -> Drifts<'r> {
    let mut found = Drifts::default();
    let mut last: HashMap<&Option<Text>, Distinct<'r>> = HashMap::new();
    let mut told: HashSet<(&str, &str)> = HashSet::new();
    let tools: Vec<&Occurrence> = recorded.all(Listing::Tools).collect();
    for answer in tools.chunk_by(|a, b| a.message == b.message) {
        let mut here: BTreeMap<&Option<Text>, Distinct<'r>> = BTreeMap::new();
        for occurrence in answer {
            let definitions = here.entry(&occurrence.name).or_default();
            definitions.add(recorded, occurrence);
        }
        for (name, mut definitions) in here {
            if let Some(known) = last.get(name) {
                let all = definitions.clone();
                let before = known.raw_last(recorded);
                definitions
                    .list
                    .retain(|(occurrence, _)| told.insert((before, recorded.raw(occurrence))));
                compare((recorded, known), (recorded, &definitions), &mut found);
                definitions = all;
            }
            last.insert(name, definitions);
        }
    }
    found.sort();
    found
}

/// Tools that came or went from one complete listing to the next of the session.
pub(crate) fn movements<'r>(recorded: &'r Recorded<'_>) -> Vec<Movement<'r>> {
    let mut found = Vec::new();
    let mut before = None;
    for run in &recorded.runs {
        if run.listing != Listing::Tools || !run.complete {
            continue;
        }
        let names: BTreeMap<&Option<Text>, &Occurrence> = recorded
            .in_run(run)
            .map(|occurrence| (&occurrence.name, occurrence))
            .collect();
        if let Some((session, last_message, old)) =
            before.replace((run.session, run.last_message(), names.clone()))
            && session == run.session
        {
            let message = run.first_message();
            let announced = recorded.announced_between(last_message, message);
            let movement = |occurrence, added| Movement {
                occurrence,
                added,
                message,
                announced,
            };
            let old: BTreeMap<&Option<Text>, &Occurrence> = old;
            let gone = old.iter().filter(|(name, _)| !names.contains_key(*name));
            found.extend(gone.map(|(_, occurrence)| movement(*occurrence, false)));
            let come = names.iter().filter(|(name, _)| !old.contains_key(*name));
            found.extend(come.map(|(_, occurrence)| movement(*occurrence, true)));
        }
    }
    found
}

impl Drifts<'_> {
    fn sort(&mut self) {
        let place = |occurrence: &Occurrence| occurrence.span;
        self.drifts.sort_by_key(|drift| place(drift.occurrence));
        self.unreadable
            .sort_by_key(|(occurrence, _)| place(occurrence));
    }
}

/// Definitions of one name, each text once, with how often it occurs.
#[derive(Clone, Debug, Default)]
struct Distinct<'r> {
    list: Vec<(&'r Occurrence, usize)>,
    by_text: HashMap<&'r str, usize>,
}

impl<'r> Distinct<'r> {
    fn add(&mut self, recorded: &'r Recorded<'_>, occurrence: &'r Occurrence) {
        let index = *self
            .by_text
            .entry(recorded.raw(occurrence))
            .or_insert(self.list.len());
        match self.list.get_mut(index) {
            Some((_, times)) => *times += 1,
            None => self.list.push((occurrence, 1)),
        }
    }

    fn last(&self) -> Option<&'r Occurrence> {
        self.list.last().map(|(occurrence, _)| *occurrence)
    }

    fn raw_last(&self, recorded: &'r Recorded<'_>) -> &'r str {
        self.last()
            .map_or("", |occurrence| recorded.raw(occurrence))
    }
}

type ByName<'r> = BTreeMap<&'r Option<Text>, Distinct<'r>>;

fn by_name<'r>(recorded: &'r Recorded<'_>) -> ByName<'r> {
    let mut names = ByName::new();
    for occurrence in recorded.all(Listing::Tools) {
        let definitions = names.entry(&occurrence.name).or_default();
        definitions.add(recorded, occurrence);
    }
    names
}

/// New names, each with the vanished name that it may have had before.
fn renames<'r>(
    (baseline, old): (&'r Recorded<'_>, &ByName<'r>),
    (current, new): (&'r Recorded<'_>, &ByName<'r>),
) -> BTreeMap<&'r Option<Text>, &'r Option<Text>> {
    let only = |recorded: &Recorded<'_>, names: &ByName<'r>, other: &ByName<'r>| {
        let lost = names.iter().filter(|(name, _)| !other.contains_key(*name));
        let read = |(name, definitions): (&&'r Option<Text>, &Distinct<'r>)| {
            Some((*name, recorded.read(definitions.last()?).ok()?))
        };
        lost.filter_map(read)
            .filter(|(name, _)| name.is_some())
            .collect::<Vec<(&'r Option<Text>, Node)>>()
    };
    let vanished = only(baseline, old, new);
    let fresh = only(current, new, old);
    let found = pairs(&as_candidates(&vanished), &as_candidates(&fresh));
    let names = |(from, to): (usize, usize)| Some((fresh.get(to)?.0, vanished.get(from)?.0));
    found.into_iter().filter_map(names).collect()
}

fn as_candidates<'n>(tools: &'n [(&'n Option<Text>, Node)]) -> Vec<Candidate<'n>> {
    let candidate = |(name, tool): &'n (&'n Option<Text>, Node)| {
        let name = name.as_ref()?;
        Some(Candidate { name, tool })
    };
    tools.iter().filter_map(candidate).collect()
}

/// Looks for each newer definition among the older ones.
fn compare<'r>(
    (old_side, old): (&'r Recorded<'_>, &Distinct<'r>),
    (new_side, new): (&'r Recorded<'_>, &Distinct<'r>),
    found: &mut Drifts<'r>,
) {
    let mut known: Option<Vec<(&'r Occurrence, Result<Node, NodeError>)>> = None;
    for &(occurrence, times) in &new.list {
        if old.by_text.contains_key(new_side.raw(occurrence)) {
            continue;
        }
        let tool = match new_side.read(occurrence) {
            Ok(tool) => tool,
            Err(error) => {
                found.unreadable.push((occurrence, error));
                continue;
            }
        };
        // Read once a name, and only when the texts are not enough.
        let known = known.get_or_insert_with(|| {
            let read = |&(occurrence, _): &(&'r Occurrence, usize)| {
                (occurrence, old_side.read(occurrence))
            };
            old.list.iter().map(read).collect()
        });
        let mut readable = known
            .iter()
            .filter_map(|(occurrence, node)| Some((*occurrence, node.as_ref().ok()?)));
        let mut first = readable.clone().take(MOST_COMPARED);
        if first.any(|(_, node)| equal_tools(node, &tool)) {
            continue;
        }
        match readable.next_back() {
            Some((before, node)) => found.drifts.push(Drift {
                occurrence,
                changes: changes_of_tool(node, &tool),
                before,
                times,
            }),
            None => {
                let error = known.iter().find_map(|(_, node)| node.as_ref().err());
                found
                    .unreadable
                    .extend(error.map(|error| (occurrence, *error)));
            }
        }
    }
}

/// The names of drifted tools, each once, in order.
pub(crate) fn names(drifts: &[Drift<'_>]) -> BTreeSet<String> {
    drifts
        .iter()
        .map(|drift| drift.occurrence.shown())
        .collect()
}
