//! Behaviour of the whole layer.

use super::bundled;
use super::redactor::{Action, Hit, MessageContext, Redaction, Redactor, Rules};
use crate::cassette::Sender;
use crate::wire::json::write_string;
use serde::Deserialize;
use serde_json::value::RawValue;

fn redactor() -> Redactor {
    Redactor::new(&Rules::default()).unwrap()
}

fn server(redactor: &Redactor, payload: &str) -> Redaction {
    let context = MessageContext {
        sender: Sender::Server,
        answers: Some("tools/call"),
    };
    redactor.message(payload, &context)
}

/// A value as the structured result of a tool.
fn result(value: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"structuredContent":{{"item":{value}}}}}}}"#)
}

fn quoted(text: &str) -> String {
    let mut out = String::new();
    write_string(text, &mut out);
    out
}

/// A text as it comes out, and what was found in it.
fn text(redactor: &Redactor, text: &str) -> (String, Vec<Hit>) {
    let payload = result(&quoted(text));
    let redaction = server(redactor, &payload);
    let new = redaction.text.unwrap_or(payload);
    let inner = new
        .strip_prefix(r#"{"jsonrpc":"2.0","id":1,"result":{"structuredContent":{"item":"#)
        .and_then(|rest| rest.strip_suffix("}}}"))
        .unwrap();
    (serde_json::from_str(inner).unwrap(), redaction.hits)
}

#[test]
fn every_example_of_the_bundled_pack_is_found_and_no_negative_is() {
    let redactor = redactor();
    let mut wrong = Vec::new();
    for rule in bundled::common().unwrap().rules {
        let (examples, negatives) = &rule.samples;
        assert!(examples.len() >= 3 && negatives.len() >= 4, "{}", rule.id);
        for example in examples {
            let (new, hits) = text(&redactor, example);
            if new == *example || !hits.iter().any(|hit| hit.rule == rule.id) {
                wrong.push(format!("{} misses {example}", rule.id));
            }
        }
        for negative in negatives {
            let (_, hits) = text(&redactor, negative);
            if let Some(hit) = hits.first() {
                wrong.push(format!("{} finds {negative}", hit.rule));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A row of the tables: what is in a message, and whether it has to go.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    redact: bool,
    value: Box<RawValue>,
    note: String,
    /// What must not be left, if it is more than that something changes.
    secret: Option<String>,
}

fn rows(table: &str) -> Vec<Row> {
    let rows = table.lines().filter(|line| !line.trim().is_empty());
    rows.map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

fn check_rows(table: &str, least: usize) {
    let redactor = redactor();
    let rows = rows(table);
    assert!(rows.len() >= least);
    let mut wrong = Vec::new();
    for row in &rows {
        let payload = result(row.value.get());
        let redaction = server(&redactor, &payload);
        let changed = redaction
            .hits
            .iter()
            .any(|hit| hit.action == Action::Replaced);
        let new = redaction.text.clone().unwrap_or(payload);
        if changed != row.redact || redaction.text.is_some() != row.redact {
            wrong.push(format!("{}: {} -> {new}", row.note, row.value.get()));
        }
        if let Some(secret) = &row.secret
            && row.redact
            && new.contains(secret)
        {
            wrong.push(format!("{}: left in {new}", row.note));
        }
        serde_json::from_str::<&RawValue>(&new).unwrap();
        let again = server(&redactor, &new);
        if again.text.is_some() {
            wrong.push(format!(
                "{}: changed twice {new} {:?}",
                row.note, again.text
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_given_rows_come_out_right() {
    check_rows(
        include_str!("../../tests/fixtures/redaction/given.jsonl"),
        40,
    );
}

#[test]
fn our_own_rows_come_out_right() {
    check_rows(include_str!("../../tests/fixtures/redaction/own.jsonl"), 90);
}
