//! The keywords of a schema that limit a value: lengths, ranges, patterns.

use super::schema::Flow;
use super::text::clip;
use super::{Detail, Impact};
use crate::wire::node::{Data, Node};

/// Characters of a value that are shown.
const SHOWN: usize = 60;

/// How a limit compares with the one before.
enum Moved {
    Tightened,
    Loosened,
    /// Both say the same in other words.
    Same,
    Unknown,
}

/// What a changed limit means; `None` if the keyword is no limit that can be judged.
pub(crate) fn judge(
    keyword: &str,
    place: &str,
    (old, new): (Option<&Node>, Option<&Node>),
    flow: Flow,
) -> Option<Detail> {
    let moved = match keyword {
        "minimum" | "exclusiveMinimum" => number(old, new, Side::Least, None),
        "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => {
            number(old, new, Side::Most, None)
        }
        "minLength" | "minItems" | "minProperties" => number(old, new, Side::Least, Some(0.0)),
        "uniqueItems" => flag(old, new),
        "pattern" | "format" | "multipleOf" => presence(old, new),
        _ => return None,
    };
    let impact = match moved {
        Moved::Tightened => flow.narrowed(),
        Moved::Loosened => flow.widened(),
        Moved::Same => Impact::Compatible,
        Moved::Unknown => Impact::Unclassified,
    };
    let how = match (old, new) {
        (None, Some(new)) => format!("{} was added to {place}", shown(new)),
        (Some(old), None) => format!("{} of {place} was removed", shown(old)),
        (Some(old), Some(new)) => {
            let word = match moved {
                Moved::Tightened => "was tightened",
                Moved::Loosened => "was loosened",
                Moved::Same | Moved::Unknown => "changed",
            };
            format!("of {place} {word} from {} to {}", shown(old), shown(new))
        }
        (None, None) => return None,
    };
    Some(Detail {
        text: format!("`{keyword}` {how}"),
        impact,
    })
}

#[derive(Clone, Copy)]
enum Side {
    Least,
    Most,
}

/// Compares two limits. `absent` is the limit that a missing keyword stands for.
fn number(old: Option<&Node>, new: Option<&Node>, side: Side, absent: Option<f64>) -> Moved {
    let value = |node: Option<&Node>| match node.map(|node| &node.data) {
        None => Ok(absent),
        Some(Data::Number(number)) => Ok(Some(number.to_f64())),
        // Draft 4 writes `"exclusiveMinimum": true`.
        Some(_) => Err(()),
    };
    let (Ok(old), Ok(new)) = (value(old), value(new)) else {
        return Moved::Unknown;
    };
    let (old, new) = match (old, new) {
        (None, None) => return Moved::Unknown,
        (None, Some(_)) => return Moved::Tightened,
        (Some(_), None) => return Moved::Loosened,
        (Some(old), Some(new)) => (old, new),
    };
    let grew = match old.partial_cmp(&new) {
        Some(std::cmp::Ordering::Less) => true,
        Some(std::cmp::Ordering::Greater) => false,
        // Equal to a machine and not digit by digit, unless one is the default.
        _ if absent == Some(old) => return Moved::Same,
        _ => return Moved::Unknown,
    };
    match side {
        Side::Least if grew => Moved::Tightened,
        Side::Most if !grew => Moved::Tightened,
        Side::Least | Side::Most => Moved::Loosened,
    }
}

fn flag(old: Option<&Node>, new: Option<&Node>) -> Moved {
    let value = |node: Option<&Node>| match node.map(|node| &node.data) {
        None => Some(false),
        Some(Data::Bool(value)) => Some(*value),
        Some(_) => None,
    };
    match (value(old), value(new)) {
        (Some(false), Some(true)) => Moved::Tightened,
        (Some(true), Some(false)) => Moved::Loosened,
        (Some(_), Some(_)) => Moved::Same,
        _ => Moved::Unknown,
    }
}

/// For limits that cannot be compared with each other.
fn presence(old: Option<&Node>, new: Option<&Node>) -> Moved {
    match (old, new) {
        (None, Some(_)) => Moved::Tightened,
        (Some(_), None) => Moved::Loosened,
        _ => Moved::Unknown,
    }
}

/// A value for people: short ones as JSON, long ones cut.
pub(crate) fn shown(node: &Node) -> String {
    match &node.data {
        Data::Null => "null".to_owned(),
        Data::Bool(value) => value.to_string(),
        Data::Number(number) => clip(&number.show(), SHOWN),
        Data::Text(text) => format!("\"{}\"", clip(&text.show(), SHOWN)),
        Data::Array(items) if items.is_empty() => "[]".to_owned(),
        Data::Array(items) => format!("a list of {}", items.len()),
        Data::Object(members) if members.is_empty() => "{}".to_owned(),
        Data::Object(_) => "an object".to_owned(),
    }
}
