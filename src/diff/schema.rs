//! What a changed JSON Schema means for callers, in words.
//!
//! A schema is walked through `properties`, `items` and `additionalProperties`,
//! and every keyword that differs becomes one [`Detail`]. For an input schema
//! what narrows breaks; for an output schema what widens does, as the values flow
//! the other way. What a keyword-by-keyword comparison cannot judge (`$ref`,
//! combinations, conditions, keywords that it does not know) is unclassified.

use super::bounds;
use super::equal::{Sense, equal, equal_lists, equal_options, keyword_sense};
use super::keywords::{
    Extra, Properties, Types, allowed, difference, empty_schema, is_true, keywords, values,
};
use super::text::{clip, words};
use super::{Detail, Impact};
use crate::wire::node::{Data, Node};

/// Which way values flow through a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// Callers send values that it has to accept.
    Input,
    /// Callers get values that it describes.
    Output,
}

/// Levels of nesting that are judged; what changed below is unclassified.
const LEVELS: usize = 64;

/// Facts about one schema; the rest is counted.
const MOST_DETAILS: usize = 200;

/// Values of an `enum` that are named.
const NAMED_VALUES: usize = 8;

/// Characters of a name or value that are shown.
const SHOWN: usize = 60;

/// What changed between two schemas, where an absent one says nothing; none if they are equal.
pub(crate) fn classify(old: Option<&Node>, new: Option<&Node>, flow: Flow) -> Vec<Detail> {
    if equal_options(old, new, Sense::Schema) {
        return Vec::new();
    }
    let mut walk = Walk {
        flow,
        details: Vec::new(),
    };
    let empty = empty_schema();
    let root = Place::root(flow);
    walk.schema(&root, old.unwrap_or(&empty), new.unwrap_or(&empty), 0);
    if walk.details.is_empty() {
        let what = match (old, new) {
            (None, _) => "was added and says nothing",
            (_, None) => "was removed and said nothing",
            _ => "is written in another way",
        };
        walk.say(
            Impact::Compatible,
            format!("the {} schema {what}", flow.noun()),
        );
    }
    bounded(walk.details)
}

fn bounded(mut details: Vec<Detail>) -> Vec<Detail> {
    let rest = details.split_off(details.len().min(MOST_DETAILS));
    if let Some(impact) = rest.iter().map(|detail| detail.impact).max() {
        details.push(Detail {
            text: format!("and {} more changes", rest.len()),
            impact,
        });
    }
    details
}

impl Flow {
    fn noun(self) -> &'static str {
        match self {
            Flow::Input => "input",
            Flow::Output => "output",
        }
    }

    /// The impact of accepting or promising less than before.
    pub(crate) fn narrowed(self) -> Impact {
        match self {
            Flow::Input => Impact::Breaking,
            Flow::Output => Impact::Compatible,
        }
    }

    /// The impact of accepting or promising more than before.
    pub(crate) fn widened(self) -> Impact {
        match self {
            Flow::Input => Impact::Compatible,
            Flow::Output => Impact::Breaking,
        }
    }
}

/// The part of a schema that a detail is about.
struct Place {
    /// Member names from the root, dotted; `[]` for the elements of an array and
    /// `*` for members without a name of their own.
    path: String,
    /// In words: "parameter `filter.kind`", "the input".
    shown: String,
}

impl Place {
    fn root(flow: Flow) -> Place {
        Place {
            path: String::new(),
            shown: format!("the {}", flow.noun()),
        }
    }

    fn at(path: String, flow: Flow) -> Place {
        let noun = match flow {
            Flow::Input => "parameter",
            Flow::Output => "output property",
        };
        Place {
            shown: format!("{noun} `{path}`"),
            path,
        }
    }

    fn member(&self, name: &str, flow: Flow) -> Place {
        let name = clip(name, SHOWN);
        let path = if self.path.is_empty() {
            name
        } else {
            format!("{}.{name}", self.path)
        };
        Place::at(path, flow)
    }

    fn elements(&self, flow: Flow) -> Place {
        Place::at(format!("{}[]", self.path), flow)
    }
}

struct Walk {
    flow: Flow,
    details: Vec<Detail>,
}

impl Walk {
    fn say(&mut self, impact: Impact, text: String) {
        self.details.push(Detail { text, impact });
    }

    fn unclassified(&mut self, text: String) {
        self.say(Impact::Unclassified, text);
    }

    fn schema(&mut self, place: &Place, old: &Node, new: &Node, level: usize) {
        if equal(old, new, Sense::Schema) {
            return;
        }
        let (old_any, new_any) = (empty_schema(), empty_schema());
        let old = if is_true(old) { &old_any } else { old };
        let new = if is_true(new) { &new_any } else { new };
        let objects = matches!((&old.data, &new.data), (Data::Object(_), Data::Object(_)));
        if !objects || level > LEVELS {
            let depth = if objects { ", deep inside" } else { "" };
            self.unclassified(format!("the schema of {} changed{depth}", place.shown));
            return;
        }
        let said = self.details.len();
        let mut properties_done = false;
        for name in keywords(old, new) {
            let (before, after) = (values(old, name), values(new, name));
            let keyword = name.show();
            if equal_lists(&before, &after, keyword_sense(&keyword)) {
                continue;
            }
            if before.len() > 1 || after.len() > 1 {
                let keyword = clip(&keyword, SHOWN);
                self.unclassified(format!("{} has `{keyword}` more than once", place.shown));
            }
            match &*keyword {
                "properties" | "required" if !properties_done => {
                    properties_done = true;
                    self.properties(place, old, new, level);
                }
                "properties" | "required" => {}
                _ => self.keyword(place, &keyword, (old, new), level),
            }
        }
        if self.details.len() == said {
            let text = format!("{} is written in another way", place.shown);
            self.say(Impact::Compatible, text);
        }
    }

    fn keyword(&mut self, place: &Place, keyword: &str, (old, new): (&Node, &Node), level: usize) {
        let (before, after) = (old.member(keyword), new.member(keyword));
        match keyword {
            "type" => self.types(place, before, after),
            "enum" | "const" => self.fixed_values(place, keyword, old, new),
            "items" => self.items(place, before, after, level),
            "additionalProperties" => self.additional(place, before, after, level),
            "description" | "title" | "$comment" => self.text(place, keyword, before, after),
            "default" => {
                let text = changed("default", place, before, after);
                self.say(Impact::Compatible, text);
            }
            "$defs" | "definitions" => self.definitions(keyword, before, after),
            _ => match bounds::judge(keyword, &place.shown, (before, after), self.flow) {
                Some(detail) => self.details.push(detail),
                None => {
                    let keyword = clip(keyword, SHOWN);
                    self.unclassified(format!("`{keyword}` of {} changed", place.shown));
                }
            },
        }
    }

    /// `properties` and `required` together: neither means much alone.
    fn properties(&mut self, place: &Place, old: &Node, new: &Node, level: usize) {
        let (Some(old), Some(new)) = (Properties::of(old), Properties::of(new)) else {
            self.unclassified(format!(
                "the properties of {} are not written as a schema does",
                place.shown
            ));
            return;
        };
        if old.repeated || new.repeated {
            let text = format!("{} declares a property more than once", place.shown);
            self.unclassified(text);
        }
        let (mut names, more) = (old.names(), new.names());
        names.extend(more);
        for name in names {
            let member = place.member(&name.show(), self.flow);
            let required = (old.required.contains(name), new.required.contains(name));
            match (old.find(name), new.find(name)) {
                (Some(_), None) => {
                    self.say(Impact::Breaking, format!("{} was removed", member.shown));
                }
                (None, Some(_)) => self.added(&member, required.1),
                (before, after) => {
                    self.required(&member, required);
                    if let (Some(before), Some(after)) = (before, after) {
                        self.schema(&member, before, after, level + 1);
                    }
                }
            }
        }
    }

    fn added(&mut self, member: &Place, required: bool) {
        let (impact, kind) = match (self.flow, required) {
            (Flow::Input, true) => (Impact::Breaking, "required "),
            (Flow::Input, false) => (Impact::Compatible, "optional "),
            (Flow::Output, _) => (Impact::Compatible, ""),
        };
        self.say(impact, format!("{kind}{} was added", member.shown));
    }

    fn required(&mut self, member: &Place, required: (bool, bool)) {
        let (impact, now) = match required {
            (false, true) => (self.flow.narrowed(), "required"),
            (true, false) => (self.flow.widened(), "optional"),
            _ => return,
        };
        self.say(impact, format!("{} is now {now}", member.shown));
    }

    fn types(&mut self, place: &Place, before: Option<&Node>, after: Option<&Node>) {
        let (Some(old), Some(new)) = (Types::of(before), Types::of(after)) else {
            let text = format!("`type` of {} is not written as a schema does", place.shown);
            self.unclassified(text);
            return;
        };
        let wider = new.accepts(&old);
        let narrower = old.accepts(&new);
        // Any declared type that changes can break who reads the output.
        let output = |from: &Types| match from {
            Types::Any => Impact::Compatible,
            Types::Some(_) => Impact::Breaking,
        };
        let (impact, how) = match (narrower, wider, self.flow) {
            (true, true, _) => (Impact::Compatible, "is written in another way:"),
            (_, true, Flow::Input) => (Impact::Compatible, "was widened"),
            (_, _, Flow::Input) if narrower => (Impact::Breaking, "was narrowed"),
            (_, _, Flow::Input) => (Impact::Breaking, "changed"),
            (_, _, Flow::Output) => (output(&old), "changed"),
        };
        let (old, new) = (old.show(), new.show());
        self.say(
            impact,
            format!("type of {} {how} from {old} to {new}", place.shown),
        );
    }

    /// `enum`, and `const` as an `enum` of one.
    fn fixed_values(&mut self, place: &Place, keyword: &str, old: &Node, new: &Node) {
        let both = |node: &Node| node.member("enum").is_some() && node.member("const").is_some();
        if both(old) || both(new) {
            self.unclassified(format!("`{keyword}` of {} changed", place.shown));
            return;
        }
        // Both keywords differ when one replaces the other: that is said once.
        let replaced = old.member("const").is_some() != new.member("const").is_some()
            && old.member("enum").is_some() != new.member("enum").is_some();
        if replaced && keyword == "const" {
            return;
        }
        let shown = &place.shown;
        let (narrowed, widened) = (self.flow.narrowed(), self.flow.widened());
        match (allowed(old), allowed(new)) {
            (Ok(None), Ok(None)) => {}
            (Ok(None), Ok(Some(new))) => {
                self.say(
                    narrowed,
                    format!("{shown} is now limited to {}", named(&new)),
                );
            }
            (Ok(Some(_)), Ok(None)) => {
                self.say(
                    widened,
                    format!("{shown} is no longer limited to fixed values"),
                );
            }
            (Ok(Some(old)), Ok(Some(new))) => {
                let (gone, come) = difference(&old, &new);
                if !gone.is_empty() {
                    self.say(
                        narrowed,
                        format!("{shown} no longer accepts {}", named(&gone)),
                    );
                }
                if !come.is_empty() {
                    self.say(widened, format!("{shown} now accepts {} too", named(&come)));
                }
            }
            _ => self.unclassified(format!("`{keyword}` of {shown} changed")),
        }
    }

    fn items(&mut self, place: &Place, before: Option<&Node>, after: Option<&Node>, level: usize) {
        let tuple = |node: Option<&Node>| node.is_some_and(|n| matches!(n.data, Data::Array(_)));
        if tuple(before) || tuple(after) {
            self.unclassified(format!("the elements of {} changed", place.shown));
            return;
        }
        let any = empty_schema();
        let elements = place.elements(self.flow);
        self.schema(
            &elements,
            before.unwrap_or(&any),
            after.unwrap_or(&any),
            level + 1,
        );
    }

    fn additional(
        &mut self,
        place: &Place,
        before: Option<&Node>,
        after: Option<&Node>,
        level: usize,
    ) {
        let (old, new) = (Extra::of(before), Extra::of(after));
        let shown = &place.shown;
        match (old, new, self.flow) {
            (Extra::Open, Extra::Open, _) => {}
            (Extra::Shaped(old), Extra::Shaped(new), _) => {
                self.schema(&place.member("*", self.flow), old, new, level + 1);
            }
            (Extra::Open | Extra::Closed, Extra::Open | Extra::Closed, Flow::Output) => {
                let text = format!("`additionalProperties` of {shown} changed");
                self.say(Impact::Compatible, text);
            }
            (Extra::Open, _, Flow::Input) | (_, Extra::Closed, Flow::Input) => {
                let now = match new {
                    Extra::Closed => "no longer accepts",
                    _ => "now limits",
                };
                let text = format!("{shown} {now} additional properties");
                self.say(Impact::Breaking, text);
            }
            (_, _, Flow::Input) => {
                let text = format!("{shown} now accepts more additional properties");
                self.say(Impact::Compatible, text);
            }
            (_, _, Flow::Output) => {
                self.unclassified(format!("`additionalProperties` of {shown} changed"));
            }
        }
    }

    fn text(&mut self, place: &Place, keyword: &str, before: Option<&Node>, after: Option<&Node>) {
        let is_text = |node: Option<&Node>| node.is_none_or(|node| node.text().is_some());
        if !(is_text(before) && is_text(after)) {
            self.unclassified(format!("`{keyword}` of {} is not a text", place.shown));
            return;
        }
        let (old, new) = (before.and_then(Node::string), after.and_then(Node::string));
        let how = match (old, new) {
            (None, _) => "was added".to_owned(),
            (_, None) => "was removed".to_owned(),
            (Some(old), Some(new)) => match words(&old, &new) {
                Some(words) => format!("changed, {words}"),
                None => format!(
                    "changed: -\"{}\" +\"{}\"",
                    clip(&old, SHOWN),
                    clip(&new, SHOWN)
                ),
            },
        };
        self.say(
            Impact::Compatible,
            format!("{keyword} of {} {how}", place.shown),
        );
    }

    fn definitions(&mut self, keyword: &str, before: Option<&Node>, after: Option<&Node>) {
        let empty = empty_schema();
        let (old, new) = (before.unwrap_or(&empty), after.unwrap_or(&empty));
        let said = self.details.len();
        for name in keywords(old, new) {
            let sense = Sense::Schema;
            if !equal_lists(&values(old, name), &values(new, name), sense) {
                let name = clip(&name.show(), SHOWN);
                self.unclassified(format!("`{name}` in `{keyword}` changed"));
            }
        }
        if self.details.len() == said {
            self.unclassified(format!("`{keyword}` changed"));
        }
    }
}

fn named(values: &[&Node]) -> String {
    let mut named: Vec<String> = values
        .iter()
        .take(NAMED_VALUES)
        .map(|value| bounds::shown(value))
        .collect();
    if values.len() > NAMED_VALUES {
        named.push(format!("{} more", values.len() - NAMED_VALUES));
    }
    named.join(", ")
}

fn changed(keyword: &str, place: &Place, old: Option<&Node>, new: Option<&Node>) -> String {
    let place = &place.shown;
    match (old, new) {
        (None, Some(new)) => format!("{keyword} {} was added to {place}", bounds::shown(new)),
        (Some(old), None) => format!("{keyword} {} of {place} was removed", bounds::shown(old)),
        (Some(old), Some(new)) => format!(
            "{keyword} of {place} changed from {} to {}",
            bounds::shown(old),
            bounds::shown(new)
        ),
        (None, None) => format!("{keyword} of {place} changed"),
    }
}
