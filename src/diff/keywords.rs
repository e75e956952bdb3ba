//! The parts of a schema that are compared, read from its tree.

use super::equal::{Sense, order};
use super::text::clip;
use crate::wire::json::Span;
use crate::wire::node::{Data, Node, Text};
use std::collections::{BTreeMap, BTreeSet};

/// Characters of a name that are shown.
const SHOWN: usize = 60;

/// The names of both sides' members, each once, in order.
pub(crate) fn keywords<'n>(old: &'n Node, new: &'n Node) -> BTreeSet<&'n Text> {
    let members = old.members().iter().chain(new.members());
    members
        .map(|member| &member.name)
        .filter(|name| **name != *"$schema")
        .collect()
}

pub(crate) fn values<'n>(node: &'n Node, name: &Text) -> Vec<&'n Node> {
    let members = node.members().iter();
    members
        .filter(|member| member.name == *name)
        .map(|member| &member.value)
        .collect()
}

pub(crate) fn empty_schema() -> Node {
    Node {
        span: Span::default(),
        data: Data::Object(Vec::new()),
    }
}

pub(crate) fn is_true(node: &Node) -> bool {
    matches!(node.data, Data::Bool(true))
}

/// The properties of an object schema and which of them are required.
pub(crate) struct Properties<'n> {
    members: BTreeMap<&'n Text, &'n Node>,
    pub(crate) required: BTreeSet<&'n Text>,
    /// Whether a property is declared twice; the last one is in `members`.
    pub(crate) repeated: bool,
}

impl<'n> Properties<'n> {
    /// `None` if the keywords do not have the form that they must have.
    pub(crate) fn of(schema: &'n Node) -> Option<Self> {
        let declared = match schema.member("properties") {
            None => &[],
            Some(node) if matches!(node.data, Data::Object(_)) => node.members(),
            Some(_) => return None,
        };
        let members: BTreeMap<_, _> = declared
            .iter()
            .map(|member| (&member.name, &member.value))
            .collect();
        let required = match schema.member("required") {
            None => BTreeSet::new(),
            Some(node) if matches!(node.data, Data::Array(_)) => {
                node.items().iter().map(Node::text).collect::<Option<_>>()?
            }
            Some(_) => return None,
        };
        Some(Properties {
            repeated: members.len() < declared.len(),
            members,
            required,
        })
    }

    pub(crate) fn names(&self) -> BTreeSet<&'n Text> {
        let declared = self.members.keys().copied();
        declared.chain(self.required.iter().copied()).collect()
    }

    pub(crate) fn find(&self, name: &Text) -> Option<&'n Node> {
        self.members.get(name).copied()
    }
}

/// The types that a schema accepts.
pub(crate) enum Types {
    Any,
    Some(BTreeSet<String>),
}

impl Types {
    /// `None` if `type` is neither a string nor a list of them.
    pub(crate) fn of(node: Option<&Node>) -> Option<Types> {
        let Some(node) = node else {
            return Some(Types::Any);
        };
        let name = |node: &Node| node.string().map(|name| name.into_owned());
        match &node.data {
            Data::Text(_) => Some(Types::Some(name(node).into_iter().collect())),
            Data::Array(items) => Some(Types::Some(items.iter().map(name).collect::<Option<_>>()?)),
            _ => None,
        }
    }

    /// Whether whatever `other` accepts is accepted here too.
    pub(crate) fn accepts(&self, other: &Types) -> bool {
        match (self, other) {
            (Types::Any, _) => true,
            (Types::Some(_), Types::Any) => false,
            (Types::Some(types), Types::Some(others)) => others.iter().all(|other| {
                types.contains(other) || (other == "integer" && types.contains("number"))
            }),
        }
    }

    pub(crate) fn show(&self) -> String {
        match self {
            Types::Any => "any".to_owned(),
            Types::Some(types) => {
                let types: Vec<String> = types
                    .iter()
                    .map(|name| format!("`{}`", clip(name, SHOWN)))
                    .collect();
                types.join(" or ")
            }
        }
    }
}

/// What `additionalProperties` allows.
#[derive(Clone, Copy)]
pub(crate) enum Extra<'n> {
    Open,
    Closed,
    Shaped(&'n Node),
}

impl<'n> Extra<'n> {
    pub(crate) fn of(node: Option<&'n Node>) -> Self {
        match node.map(|node| (node, &node.data)) {
            None | Some((_, Data::Bool(true))) => Extra::Open,
            Some((_, Data::Bool(false))) => Extra::Closed,
            Some((_, Data::Object(members))) if members.is_empty() => Extra::Open,
            Some((node, _)) => Extra::Shaped(node),
        }
    }
}

/// The fixed values of a schema, sorted; `Err` if `enum` is no array.
pub(crate) fn allowed(schema: &Node) -> Result<Option<Vec<&Node>>, ()> {
    if let Some(value) = schema.member("const") {
        return Ok(Some(vec![value]));
    }
    match schema.member("enum") {
        None => Ok(None),
        Some(node) if matches!(node.data, Data::Array(_)) => {
            let mut values: Vec<&Node> = node.items().iter().collect();
            values.sort_by(|a, b| order(a, b, Sense::Data));
            Ok(Some(values))
        }
        Some(_) => Err(()),
    }
}

/// What is only in one of two sorted lists.
pub(crate) fn difference<'n>(old: &[&'n Node], new: &[&'n Node]) -> (Vec<&'n Node>, Vec<&'n Node>) {
    let only = |from: &[&'n Node], other: &[&'n Node]| -> Vec<&'n Node> {
        let lacks = |value: &&&Node| {
            other
                .binary_search_by(|candidate| order(candidate, value, Sense::Data))
                .is_err()
        };
        from.iter().filter(lacks).copied().collect()
    };
    (only(old, new), only(new, old))
}
