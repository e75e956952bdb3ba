//! Two definitions of one tool, prompt or resource compared member by member.
//!
//! | definition | compared | reported apart, not counted |
//! |---|---|---|
//! | tool | `title`, `description`, `inputSchema`, `outputSchema`, `annotations` with the specification's defaults filled in | `icons`, `_meta`, `execution`, unknown members |
//! | prompt | `title`, `description`, `arguments` by name | the same |
//! | resource, template | `name`, `title`, `description`, `mimeType` | the same, `size`, `annotations` |
//!
//! The member that names the definition is what definitions are paired by; it
//! counts here only where it stands more than once.

use super::bounds::shown;
use super::equal::{Sense, equal, equal_lists, equal_options};
use super::place::Spot;
use super::schema::{self, Flow};
use super::surface::Listing;
use super::text::{clip, unified, words};
use super::{ChangeKind, Detail, Impact};
use crate::secrets::conceal::conceal;
use crate::wire::json::Span;
use crate::wire::node::{Data, Node, Text};
use std::collections::{BTreeMap, BTreeSet};

/// Definitions of one name that are weighed against a definition on the other
/// side, so that a listing of one name many times over costs no square of that.
pub(crate) const MOST_COMPARED: usize = 100;

/// Characters of a name that are shown.
const SHOWN: usize = 60;

/// One member of a definition that differs.
#[derive(Clone, Debug)]
pub(crate) struct Delta {
    pub(crate) kind: ChangeKind,
    pub(crate) impact: Impact,
    /// A unified diff, for texts.
    pub(crate) diff: Vec<String>,
    pub(crate) details: Vec<Detail>,
    /// Where the older definition has the member, if it does.
    pub(crate) old: Option<Span>,
    /// Where the newer definition has the member, if it does.
    pub(crate) new: Option<Span>,
}

impl Delta {
    /// The place in the newer definition: the member, or the definition that lacks it.
    pub(crate) fn spot(&self, message: u32, definition: &Node, listing: Listing) -> Spot {
        match self.new {
            Some(span) => Spot::new(message, span),
            None => Spot {
                message,
                value: definition.span,
                region: name_spot(message, definition, listing).region,
            },
        }
    }

    fn judged(
        kind: ChangeKind,
        details: Vec<Detail>,
        (old, new): (Option<&Node>, Option<&Node>),
    ) -> Delta {
        let worst = details.iter().map(|detail| detail.impact).max();
        Delta {
            kind,
            impact: worst.unwrap_or(Impact::Unclassified),
            diff: Vec::new(),
            details,
            old: old.map(|node| node.span),
            new: new.map(|node| node.span),
        }
    }
}

/// The place of a definition's name, or of the definition if it has none.
pub(crate) fn name_spot(message: u32, definition: &Node, listing: Listing) -> Spot {
    let name = definition.member(listing.key());
    Spot::new(message, name.map_or(definition.span, |node| node.span))
}

/// Whether two tools are the same in everything that counts; their names are not compared.
pub(crate) fn equal_tools(old: &Node, new: &Node) -> bool {
    same(Listing::Tools, old, new)
}

/// Whether [`changes`] would find nothing, without writing down what it finds.
pub(crate) fn same(listing: Listing, old: &Node, new: &Node) -> bool {
    let is_object = |node: &Node| matches!(node.data, Data::Object(_));
    if !(is_object(old) && is_object(new)) {
        return equal(old, new, Sense::Data);
    }
    let equal = |name, sense| equal_lists(&all(old, name), &all(new, name), sense);
    equal("description", Sense::Data)
        && equal("title", Sense::Data)
        && match listing {
            Listing::Tools => {
                equal("inputSchema", Sense::Schema)
                    && equal("outputSchema", Sense::Schema)
                    && annotations(old, new).is_none()
                    && attributes(&["name"], &[], old, new).is_none()
            }
            Listing::Prompts => {
                arguments(old, new).is_none() && attributes(&["name"], &[], old, new).is_none()
            }
            Listing::Resources | Listing::Templates => {
                attributes(&[listing.key()], &["name", "mimeType"], old, new).is_none()
            }
        }
}

/// What counts and differs between two tools, in the order of [`ChangeKind`].
pub(crate) fn changes_of_tool(old: &Node, new: &Node) -> Vec<Delta> {
    changes(Listing::Tools, old, new)
}

/// What counts and differs between two definitions, in the order of [`ChangeKind`].
pub(crate) fn changes(listing: Listing, old: &Node, new: &Node) -> Vec<Delta> {
    let is_object = |node: &Node| matches!(node.data, Data::Object(_));
    if !(is_object(old) && is_object(new)) {
        return not_objects(old, new);
    }
    let mut deltas = vec![
        text(ChangeKind::Description, "description", old, new),
        text(ChangeKind::Title, "title", old, new),
    ];
    match listing {
        Listing::Tools => deltas.extend([
            schema(ChangeKind::InputSchema, "inputSchema", old, new),
            schema(ChangeKind::OutputSchema, "outputSchema", old, new),
            annotations(old, new),
            attributes(&["name"], &[], old, new),
        ]),
        Listing::Prompts => {
            deltas.extend([arguments(old, new), attributes(&["name"], &[], old, new)])
        }
        Listing::Resources | Listing::Templates => {
            let compared = ["name", "mimeType"];
            deltas.push(attributes(&[listing.key()], &compared, old, new));
        }
    }
    let mut deltas: Vec<Delta> = deltas.into_iter().flatten().collect();
    deltas.sort_by_key(|delta| delta.kind);
    deltas
}

/// The members that differ and are reported apart, each once, in order.
pub(crate) fn uncounted(listing: Listing, old: &Node, new: &Node) -> Vec<String> {
    let counted: &[&str] = match listing {
        Listing::Tools => &[
            "name",
            "title",
            "description",
            "inputSchema",
            "outputSchema",
            "annotations",
        ],
        Listing::Prompts => &["name", "title", "description", "arguments"],
        Listing::Resources => &["uri", "name", "title", "description", "mimeType"],
        Listing::Templates => &["uriTemplate", "name", "title", "description", "mimeType"],
    };
    let members = old.members().iter().chain(new.members());
    let names: BTreeSet<&Text> = members.map(|member| &member.name).collect();
    names
        .into_iter()
        .filter(|name| !counted.iter().any(|counted| **name == **counted))
        .filter(|name| !equal_lists(&named(old, name), &named(new, name), Sense::Data))
        .map(|name| clip(&name.show(), SHOWN))
        .collect()
}

/// An entry of a listing that is no object has no members to compare.
fn not_objects(old: &Node, new: &Node) -> Vec<Delta> {
    if equal(old, new, Sense::Data) {
        return Vec::new();
    }
    let detail = Detail {
        text: format!(
            "the definition changed from {} to {}",
            shown(old),
            shown(new)
        ),
        impact: Impact::Unclassified,
    };
    vec![Delta::judged(
        ChangeKind::Attributes,
        vec![detail],
        (Some(old), Some(new)),
    )]
}

/// All members of that name, in order.
fn all<'n>(node: &'n Node, name: &str) -> Vec<&'n Node> {
    let members = node.members().iter();
    members
        .filter(|member| member.name == *name)
        .map(|member| &member.value)
        .collect()
}

/// As [`all`], for a name that may hold half surrogate pairs.
fn named<'n>(node: &'n Node, name: &Text) -> Vec<&'n Node> {
    let members = node.members().iter();
    members
        .filter(|member| member.name == *name)
        .map(|member| &member.value)
        .collect()
}

/// A detail where a member stands more than once: which one counts is anyone's guess.
fn repeated(name: &str, old: &[&Node], new: &[&Node]) -> Option<Detail> {
    (old.len() > 1 || new.len() > 1).then(|| Detail {
        text: format!("has the member `{name}` more than once"),
        impact: Impact::Unclassified,
    })
}

fn text(kind: ChangeKind, name: &str, old: &Node, new: &Node) -> Option<Delta> {
    let (before, after) = (all(old, name), all(new, name));
    if equal_lists(&before, &after, Sense::Data) {
        return None;
    }
    let (last_before, last_after) = (before.last().copied(), after.last().copied());
    let mut details: Vec<Detail> = repeated(name, &before, &after).into_iter().collect();
    let (diff, more) = text_change(name, last_before, last_after);
    details.extend(more);
    let worst = details.iter().map(|detail| detail.impact).max();
    Some(Delta {
        kind,
        impact: worst.unwrap_or(Impact::Compatible),
        diff,
        details,
        old: last_before.map(|node| node.span),
        new: last_after.map(|node| node.span),
    })
}

/// The unified diff of two texts, and what it does not show.
pub(crate) fn text_change(
    name: &str,
    old: Option<&Node>,
    new: Option<&Node>,
) -> (Vec<String>, Vec<Detail>) {
    if equal_options(old, new, Sense::Data) {
        return (Vec::new(), Vec::new());
    }
    let string = |node: Option<&Node>| node.and_then(Node::string).map(|text| text.into_owned());
    let (before, after) = (string(old), string(new));
    let mut details = Vec::new();
    let is_text = |node: Option<&Node>| node.is_none_or(|node| node.text().is_some());
    if !(is_text(old) && is_text(new)) {
        let value = |node: Option<&Node>| node.map_or("absent".to_owned(), shown);
        details.push(Detail {
            text: format!("{name} changed from {} to {}", value(old), value(new)),
            impact: Impact::Unclassified,
        });
    }
    if let (Some(before), Some(after)) = (&before, &after) {
        // Phrases are cut out of their text, so secrets are looked for before that.
        let [mut old_text, mut new_text] = [before.clone(), after.clone()];
        conceal(&mut old_text);
        conceal(&mut new_text);
        let words = words(&old_text, &new_text).or_else(|| {
            // Half surrogate pairs all look alike once they are shown.
            (before == after).then(|| format!("{name} differs in half surrogate pairs only"))
        });
        details.extend(words.map(|text| Detail {
            text,
            impact: Impact::Compatible,
        }));
    }
    (unified(before.as_deref(), after.as_deref()), details)
}

fn schema(kind: ChangeKind, name: &str, old: &Node, new: &Node) -> Option<Delta> {
    let (before, after) = (all(old, name), all(new, name));
    if equal_lists(&before, &after, Sense::Schema) {
        return None;
    }
    let flow = match kind {
        ChangeKind::OutputSchema => Flow::Output,
        _ => Flow::Input,
    };
    let (last_before, last_after) = (before.last().copied(), after.last().copied());
    let mut details: Vec<Detail> = repeated(name, &before, &after).into_iter().collect();
    details.extend(schema::classify(last_before, last_after, flow));
    Some(Delta::judged(kind, details, (last_before, last_after)))
}

/// The hints that the specification gives a default: what a tool without them means.
const HINTS: [(&str, bool); 4] = [
    ("readOnlyHint", false),
    ("destructiveHint", true),
    ("idempotentHint", false),
    ("openWorldHint", true),
];

fn annotations(old: &Node, new: &Node) -> Option<Delta> {
    let (before, after) = (all(old, "annotations"), all(new, "annotations"));
    if equal_lists(&before, &after, Sense::Data) {
        return None;
    }
    let mut details: Vec<Detail> = repeated("annotations", &before, &after)
        .into_iter()
        .collect();
    let (last_before, last_after) = (before.last().copied(), after.last().copied());
    let absent = |node: &&Node| matches!(node.data, Data::Object(_) | Data::Null);
    if !before.iter().chain(&after).all(absent) {
        details.push(Detail {
            text: "annotations are not an object".to_owned(),
            impact: Impact::Unclassified,
        });
    }
    let members = [last_before, last_after].map(|node| node.map_or(&[][..], Node::members));
    let names: BTreeSet<&Text> = members
        .iter()
        .flat_map(|members| members.iter())
        .map(|member| &member.name)
        .collect();
    for name in names {
        details.extend(annotation(name, last_before, last_after));
    }
    // What is left are differences from the defaults that are none.
    (!details.is_empty())
        .then(|| Delta::judged(ChangeKind::Annotations, details, (last_before, last_after)))
}

fn annotation(name: &Text, old: Option<&Node>, new: Option<&Node>) -> Option<Detail> {
    let hint = HINTS.iter().find(|(hint, _)| *name == **hint);
    let default = hint.map(|(_, value)| Node {
        span: Span::default(),
        data: Data::Bool(*value),
    });
    let values = |node: Option<&'_ Node>| -> Vec<Node> {
        let given = node.map(|node| named(node, name)).unwrap_or_default();
        match (given.is_empty(), &default) {
            (true, Some(default)) => vec![default.clone()],
            _ => given.into_iter().cloned().collect(),
        }
    };
    let (before, after) = (values(old), values(new));
    let (before, after): (Vec<&Node>, Vec<&Node>) =
        (before.iter().collect(), after.iter().collect());
    if equal_lists(&before, &after, Sense::Data) {
        return None;
    }
    let shown_name = clip(&name.show(), SHOWN);
    if let Some(detail) = repeated(&shown_name, &before, &after) {
        return Some(detail);
    }
    let (from, to) = (value(&before), value(&after));
    let impact = match (&*name.show(), &*from, &*to) {
        ("readOnlyHint", "true", "false") | ("destructiveHint", "false", "true") => {
            Impact::Breaking
        }
        _ => Impact::Compatible,
    };
    Some(Detail {
        text: format!("`{shown_name}` changed from {from} to {to}"),
        impact,
    })
}

/// A member for people.
fn value(nodes: &[&Node]) -> String {
    nodes.last().map_or("absent".to_owned(), |node| shown(node))
}

/// Members of one value each. `keys` count only where they stand more than once.
fn attributes(keys: &[&str], compared: &[&str], old: &Node, new: &Node) -> Option<Delta> {
    let mut details = Vec::new();
    let (mut from, mut at) = (None, None);
    for name in compared.iter().chain(keys) {
        let (before, after) = (all(old, name), all(new, name));
        if equal_lists(&before, &after, Sense::Data) {
            continue;
        }
        let repeats = repeated(name, &before, &after);
        if keys.contains(name) && repeats.is_none() {
            continue;
        }
        from = from.or(before.last().copied());
        at = at.or(after.last().copied());
        details.push(repeats.unwrap_or_else(|| Detail {
            text: format!(
                "{name} changed from {} to {}",
                value(&before),
                value(&after)
            ),
            impact: Impact::Unclassified,
        }));
    }
    (!details.is_empty()).then(|| Delta::judged(ChangeKind::Attributes, details, (from, at)))
}

/// The arguments of a prompt, which callers pass by name: their order does not count.
fn arguments(old: &Node, new: &Node) -> Option<Delta> {
    let (before, after) = (all(old, "arguments"), all(new, "arguments"));
    if equal_lists(&before, &after, Sense::Data) {
        return None;
    }
    let mut details: Vec<Detail> = repeated("arguments", &before, &after).into_iter().collect();
    let (last_before, last_after) = (before.last().copied(), after.last().copied());
    match (Arguments::of(last_before), Arguments::of(last_after)) {
        (Some(before), Some(after)) => details.extend(before.compare(&after)),
        _ => details.push(Detail {
            text: "arguments are not a list of named objects".to_owned(),
            impact: Impact::Unclassified,
        }),
    }
    (!details.is_empty())
        .then(|| Delta::judged(ChangeKind::Arguments, details, (last_before, last_after)))
}

struct Arguments<'n>(BTreeMap<&'n Text, &'n Node>);

impl<'n> Arguments<'n> {
    /// `None` unless each has a name of its own; no arguments are an empty list.
    fn of(node: Option<&'n Node>) -> Option<Self> {
        let Some(node) = node.filter(|node| !matches!(node.data, Data::Null)) else {
            return Some(Arguments(BTreeMap::new()));
        };
        let Data::Array(items) = &node.data else {
            return None;
        };
        let named = |item: &'n Node| Some((item.member("name")?.text()?, item));
        let arguments: BTreeMap<_, _> = items.iter().map(named).collect::<Option<_>>()?;
        (arguments.len() == items.len()).then_some(Arguments(arguments))
    }

    fn compare(&self, new: &Arguments<'_>) -> Vec<Detail> {
        let mut details = Vec::new();
        let mut names: BTreeSet<&Text> = self.0.keys().copied().collect();
        names.extend(new.0.keys());
        for name in names {
            let shown = format!("argument `{}`", clip(&name.show(), SHOWN));
            match (self.0.get(name), new.0.get(name)) {
                (Some(old), Some(new)) => argument(&shown, old, new, &mut details),
                (Some(_), None) => details.push(Detail {
                    text: format!("{shown} was removed"),
                    impact: Impact::Breaking,
                }),
                (None, new) => {
                    let (kind, impact) = match new.is_some_and(|node| is_required(node)) {
                        true => ("required", Impact::Breaking),
                        false => ("optional", Impact::Compatible),
                    };
                    details.push(Detail {
                        text: format!("{kind} {shown} was added"),
                        impact,
                    });
                }
            }
        }
        details
    }
}

fn is_required(argument: &Node) -> bool {
    let required = argument.member("required");
    required.is_some_and(|node| matches!(node.data, Data::Bool(true)))
}

fn argument(shown: &str, old: &Node, new: &Node, details: &mut Vec<Detail>) {
    let members = old.members().iter().chain(new.members());
    let names: BTreeSet<&Text> = members.map(|member| &member.name).collect();
    for name in names {
        let (before, after) = (named(old, name), named(new, name));
        if equal_lists(&before, &after, Sense::Data) {
            continue;
        }
        let plain = before.len() < 2 && after.len() < 2;
        let flag = |nodes: &[&Node]| match nodes.last().map(|node| &node.data) {
            None => Some(false),
            Some(Data::Bool(value)) => Some(*value),
            Some(_) => None,
        };
        let name = name.show();
        let (text, impact) = match (&*name, flag(&before), flag(&after)) {
            ("required", Some(false), Some(true)) if plain => {
                (format!("{shown} is now required"), Impact::Breaking)
            }
            ("required", Some(true), Some(false)) if plain => {
                (format!("{shown} is now optional"), Impact::Compatible)
            }
            // `false` and nothing mean the same.
            ("required", Some(_), Some(_)) if plain => continue,
            ("description" | "title", ..) if plain => {
                (format!("{name} of {shown} changed"), Impact::Compatible)
            }
            _ => {
                let text = format!("`{}` of {shown} changed", clip(&name, SHOWN));
                (text, Impact::Unclassified)
            }
        };
        details.push(Detail { text, impact });
    }
}
