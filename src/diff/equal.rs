//! The one meaning of "equal" for definitions: `diff`, R002 and R015 all use it.
//!
//! Equal are numbers of the same value, strings that spell the same, members in
//! any order and, inside a schema, `required`, `enum` and lists of `type` in any
//! order; `$schema` says which dialect a schema is in and is left out. What is data
//! (`default`, `const`, `examples`, unknown keywords) keeps the order of its
//! arrays, and so do `anyOf`, `oneOf`, `allOf` and `prefixItems`. Members that
//! repeat a name are compared one by one in their order, never the last only.

use crate::wire::node::{Data, Member, Node};
use std::cmp::Ordering;

/// What a value is, which decides what may be in another order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sense {
    /// A value that stands for itself.
    Data,
    /// A JSON Schema, or an array of them.
    Schema,
    /// An object whose member names are not keywords and whose values are schemas.
    Schemas,
    /// An array whose order means nothing; anything else stands for itself.
    Set,
    /// An object whose values are sets.
    Sets,
}

/// Whether two values are the same in that sense.
pub(crate) fn equal(old: &Node, new: &Node, sense: Sense) -> bool {
    order(old, new, sense).is_eq()
}

/// As [`equal`] for values that may be absent, which differs from any value.
pub(crate) fn equal_options(old: Option<&Node>, new: Option<&Node>, sense: Sense) -> bool {
    match (old, new) {
        (Some(old), Some(new)) => equal(old, new, sense),
        (None, None) => true,
        _ => false,
    }
}

/// As [`equal`] for all occurrences of a member.
pub(crate) fn equal_lists(old: &[&Node], new: &[&Node], sense: Sense) -> bool {
    old.len() == new.len() && old.iter().zip(new).all(|(old, new)| equal(old, new, sense))
}

/// A total order of values, equal exactly where [`equal`] is. Depth is bounded by
/// [`crate::wire::node::MAX_DEPTH`], and so is the recursion.
pub(crate) fn order(old: &Node, new: &Node, sense: Sense) -> Ordering {
    match (&old.data, &new.data) {
        (Data::Null, Data::Null) => Ordering::Equal,
        (Data::Bool(old), Data::Bool(new)) => old.cmp(new),
        (Data::Number(old), Data::Number(new)) => old.cmp(new),
        (Data::Text(old), Data::Text(new)) => old.cmp(new),
        (Data::Array(old), Data::Array(new)) => order_arrays(old, new, sense),
        (Data::Object(old), Data::Object(new)) => order_objects(old, new, sense),
        (old, new) => rank(old).cmp(&rank(new)),
    }
}

fn rank(data: &Data) -> u8 {
    match data {
        Data::Null => 0,
        Data::Bool(_) => 1,
        Data::Number(_) => 2,
        Data::Text(_) => 3,
        Data::Array(_) => 4,
        Data::Object(_) => 5,
    }
}

fn order_arrays(old: &[Node], new: &[Node], sense: Sense) -> Ordering {
    let element = match sense {
        Sense::Schema | Sense::Schemas => Sense::Schema,
        Sense::Data | Sense::Set | Sense::Sets => Sense::Data,
    };
    let (mut old, mut new): (Vec<&Node>, Vec<&Node>) = (old.iter().collect(), new.iter().collect());
    if sense == Sense::Set {
        old.sort_by(|a, b| order(a, b, Sense::Data));
        new.sort_by(|a, b| order(a, b, Sense::Data));
    }
    lexical(&old, &new, |a, b| order(a, b, element))
}

fn order_objects(old: &[Member], new: &[Member], sense: Sense) -> Ordering {
    let (old, new) = (counted(old, sense), counted(new, sense));
    lexical(&old, &new, |a, b| {
        a.name
            .cmp(&b.name)
            .then_with(|| order(&a.value, &b.value, member_sense(sense, a)))
    })
}

/// The members that count, by name. The sort is stable, so repeated ones keep their order.
fn counted(members: &[Member], sense: Sense) -> Vec<&Member> {
    let mut counted: Vec<&Member> = members
        .iter()
        .filter(|member| sense != Sense::Schema || member.name != *"$schema")
        .collect();
    counted.sort_by(|a, b| a.name.cmp(&b.name));
    counted
}

fn member_sense(sense: Sense, member: &Member) -> Sense {
    match sense {
        Sense::Data | Sense::Set => Sense::Data,
        Sense::Schemas => Sense::Schema,
        Sense::Sets => Sense::Set,
        Sense::Schema => keyword_sense(&member.name.show()),
    }
}

/// What the value of a schema keyword is.
pub(crate) fn keyword_sense(keyword: &str) -> Sense {
    match keyword {
        "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas"
        | "dependencies" => Sense::Schemas,
        "items"
        | "additionalItems"
        | "additionalProperties"
        | "unevaluatedItems"
        | "unevaluatedProperties"
        | "prefixItems"
        | "contains"
        | "propertyNames"
        | "contentSchema"
        | "anyOf"
        | "oneOf"
        | "allOf"
        | "not"
        | "if"
        | "then"
        | "else" => Sense::Schema,
        "required" | "enum" | "type" => Sense::Set,
        "dependentRequired" => Sense::Sets,
        _ => Sense::Data,
    }
}

fn lexical<T>(old: &[T], new: &[T], compare: impl Fn(&T, &T) -> Ordering) -> Ordering {
    old.iter()
        .zip(new)
        .map(|(a, b)| compare(a, b))
        .find(|order| order.is_ne())
        .unwrap_or_else(|| old.len().cmp(&new.len()))
}
