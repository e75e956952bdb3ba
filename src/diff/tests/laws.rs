//! What holds for all cassettes.

use super::super::definition::{changes_of_tool, equal_tools};
use super::super::{ChangeKind, Diff, DiffOptions, diff};
use super::Session;
use crate::cassette::Cassette;
use crate::wire::json::Span;
use crate::wire::node::Node;
use proptest::prelude::*;

/// A JSON value with its members and sets in an order of its own.
#[derive(Clone, Debug)]
enum Json {
    Token(String),
    List(Vec<Json>),
    /// A list whose order means nothing.
    Set(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    fn write(&self, out: &mut String) {
        match self {
            Json::Token(token) => out.push_str(token),
            Json::List(items) | Json::Set(items) => {
                let items: Vec<String> = items.iter().map(Json::text).collect();
                out.push_str(&format!("[{}]", items.join(",")));
            }
            Json::Object(members) => {
                let members: Vec<String> = members
                    .iter()
                    .map(|(name, value)| format!("\"{name}\":{}", value.text()))
                    .collect();
                out.push_str(&format!("{{{}}}", members.join(", ")));
            }
        }
    }

    fn text(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    /// The same value, with everything turned round that may be.
    fn reversed(&self) -> Json {
        match self {
            Json::Token(token) => Json::Token(respelled(token)),
            Json::List(items) => Json::List(items.iter().map(Json::reversed).collect()),
            Json::Set(items) => Json::Set(items.iter().rev().map(Json::reversed).collect()),
            Json::Object(members) => Json::Object(
                members
                    .iter()
                    .rev()
                    .map(|(name, value)| (name.clone(), value.reversed()))
                    .collect(),
            ),
        }
    }
}

fn respelled(token: &str) -> String {
    match token.parse::<u32>() {
        Ok(number) => format!("{number}.0"),
        Err(_) => token.replacen('a', "\\u0061", if token.starts_with('"') { 9 } else { 0 }),
    }
}

fn string() -> impl Strategy<Value = String> {
    "[a-c \\n]{0,6}".prop_map(|text| format!("\"{}\"", text.replace('\n', "\\n")))
}

fn schema() -> impl Strategy<Value = Json> {
    let token = |text: &'static str| Just(Json::Token(text.to_owned()));
    let leaf = prop_oneof![
        token("{}"),
        token(r#"{"type":"string"}"#),
        token("true"),
        (0..3_u32).prop_map(|n| Json::Object(vec![("minimum".into(), Json::Token(n.to_string()))])),
        proptest::collection::vec(string().prop_map(Json::Token), 0..4)
            .prop_map(|values| Json::Object(vec![("enum".into(), Json::Set(values))])),
        string().prop_map(|text| Json::Object(vec![("description".into(), Json::Token(text))])),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let properties = proptest::collection::btree_map("[a-d]", inner.clone(), 0..4);
        let required = proptest::collection::btree_set("[a-d]", 0..3);
        prop_oneof![
            (properties, required).prop_map(|(properties, required)| {
                let names = required.iter().map(|n| Json::Token(format!("\"{n}\"")));
                Json::Object(vec![
                    ("type".into(), Json::Token("\"object\"".into())),
                    (
                        "properties".into(),
                        Json::Object(properties.into_iter().collect()),
                    ),
                    ("required".into(), Json::Set(names.collect())),
                ])
            }),
            inner
                .clone()
                .prop_map(|items| Json::Object(vec![("items".into(), items)])),
            inner
                .clone()
                .prop_map(|of| Json::Object(vec![("additionalProperties".into(), of)])),
            proptest::collection::vec(inner, 0..3)
                .prop_map(|list| Json::Object(vec![("anyOf".into(), Json::List(list))])),
        ]
    })
}

fn definition() -> impl Strategy<Value = Json> {
    let annotations = proptest::option::of(any::<bool>());
    (
        "[a-e]",
        proptest::option::of(string()),
        schema(),
        proptest::option::of(schema()),
        annotations,
    )
        .prop_map(|(name, description, input, output, read_only)| {
            let mut members = vec![("name".to_owned(), Json::Token(format!("\"{name}\"")))];
            members.extend(description.map(|text| ("description".into(), Json::Token(text))));
            members.push(("inputSchema".into(), input));
            members.extend(output.map(|schema| ("outputSchema".into(), schema)));
            members.extend(read_only.map(|hint| {
                let hint = ("readOnlyHint".into(), Json::Token(hint.to_string()));
                ("annotations".into(), Json::Object(vec![hint]))
            }));
            Json::Object(members)
        })
}

fn definitions() -> impl Strategy<Value = Vec<Json>> {
    proptest::collection::vec(definition(), 0..6)
}

fn cassette(definitions: &[Json]) -> Cassette {
    let tools: Vec<String> = definitions.iter().map(Json::text).collect();
    let tools: Vec<&str> = tools.iter().map(String::as_str).collect();
    Session::new().tools(&tools).cassette()
}

fn compare(old: &[Json], new: &[Json]) -> Diff {
    diff(&cassette(old), &cassette(new), &DiffOptions::default()).expect("comparable cassettes")
}

/// Names with whether they were added or removed, the other way round if `swap`.
fn came_and_went(found: &Diff, swap: bool) -> Vec<(String, bool)> {
    let moved = found.tools.iter().filter_map(|change| match change.kind {
        ChangeKind::Added => Some((change.name.clone(), !swap)),
        ChangeKind::Removed => Some((change.name.clone(), swap)),
        _ => None,
    });
    moved.collect()
}

/// Each changed tool with the kinds of its changes, once.
fn changed(found: &Diff) -> std::collections::BTreeSet<(String, ChangeKind)> {
    let changes = found.tools.iter();
    changes
        .filter(|change| !matches!(change.kind, ChangeKind::Added | ChangeKind::Removed))
        .map(|change| (change.name.clone(), change.kind))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_cassette_is_identical_to_itself(tools in definitions()) {
        let found = compare(&tools, &tools);
        prop_assert!(found.identical(), "{:?}", found.tools);
        prop_assert!(found.notes.is_empty());
    }

    #[test]
    fn order_and_spelling_change_nothing(tools in definitions()) {
        let turned: Vec<Json> = tools.iter().rev().map(Json::reversed).collect();
        let found = compare(&tools, &turned);
        prop_assert!(found.identical(), "{:?}", found.tools);
    }

    #[test]
    fn swapping_the_sides_swaps_added_and_removed(old in definitions(), new in definitions()) {
        let (there, back) = (compare(&old, &new), compare(&new, &old));
        prop_assert_eq!(there.identical(), back.identical());
        prop_assert_eq!(came_and_went(&there, false), came_and_went(&back, true));
    }

    #[test]
    fn swapping_the_sides_keeps_what_changed(old in definition(), new in definition()) {
        let (there, back) = (
            compare(std::slice::from_ref(&old), std::slice::from_ref(&new)),
            compare(&[new], &[old]),
        );
        prop_assert_eq!(changed(&there), changed(&back));
    }

    #[test]
    fn equal_is_what_has_no_changes(old in definition(), new in definition()) {
        let read = |json: &Json| {
            let text = json.text();
            Node::read(&text, Span::new(0, text.len())).expect("a tree")
        };
        for (old, new) in [(&old, &new), (&old, &old), (&old, &old.reversed())] {
            let (old, new) = (read(old), read(new));
            prop_assert_eq!(equal_tools(&old, &new), changes_of_tool(&old, &new).is_empty());
            prop_assert_eq!(equal_tools(&old, &new), equal_tools(&new, &old));
        }
    }

    #[test]
    fn every_change_has_a_place_that_resolves(old in definitions(), new in definitions()) {
        let (before, after) = (cassette(&old), cassette(&new));
        let found = diff(&before, &after, &DiffOptions::default()).expect("a diff");
        for change in found.changes() {
            let side = if change.kind == ChangeKind::Removed { &before } else { &after };
            let span = crate::cassette::locate::locate(&side.text, &change.locator);
            prop_assert!(span.is_some(), "{}", change.locator);
            prop_assert!(!change.region.bytes.is_empty());
        }
    }

    #[test]
    fn every_schema_change_says_what_changed(old in definitions(), new in definitions()) {
        for change in compare(&old, &new).tools {
            if matches!(change.kind, ChangeKind::InputSchema | ChangeKind::OutputSchema) {
                let worst = change.details.iter().map(|detail| detail.impact).max();
                prop_assert_eq!(worst, Some(change.impact));
            }
        }
    }
}
