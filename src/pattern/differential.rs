//! Compares the matcher with the answers of Python's own `re`.
//!
//! The table and the script that writes it are in `tests/fixtures/packs/`.

use serde_json::Value;

use super::matcher::{Matcher, Outcome};
use super::syntax::Flags;

const TABLE: &str = include_str!("../../tests/fixtures/packs/python-re.json");

/// Patterns that Python accepts and we refuse. Keep this list short.
const REFUSED_BY_US: &[(&str, &str)] = &[
    // Python 3.13 refuses this flag as well; it never had an effect.
    ("(?t)a", "unknown inline flag at character 1"),
    ("(?it)a", "unknown inline flag at character 1"),
    (
        r"(?ai)(a)\1",
        "a back-reference under both (?a) and (?i) is not supported (leave out one of them)",
    ),
];

/// Rows that we answer otherwise. Keep this list shorter.
const ANSWERED_OTHERWISE: &[(&str, &str)] = &[
    // Python 3.12's `search` skips over the match that its own `match` finds at that place.
    (r"(?a:\W)", "aé"),
    (r"(?a:[^\w])", "aé"),
    // The backtracking engine compares by case folding, and only as many bytes as were captured.
    (r"(k)\1", "k\u{212a}"),
    (r"(σ)\1", "σς"),
];

#[derive(Debug, PartialEq, Eq)]
enum Answer {
    Refused,
    None,
    Span(usize, usize),
    Exhausted,
}

struct Row {
    pattern: String,
    flags: String,
    text: String,
    answer: Answer,
}

fn rows_of(table: &str) -> Vec<Row> {
    let table: Vec<(String, String, String, Value)> = serde_json::from_str(table).unwrap();
    let rows = table.into_iter().map(|(pattern, flags, text, answer)| {
        let answer = match answer {
            Value::Null => Answer::None,
            Value::String(_) => Answer::Refused,
            span => {
                let (start, end) = serde_json::from_value(span).unwrap();
                Answer::Span(start, end)
            }
        };
        Row {
            pattern,
            flags,
            text,
            answer,
        }
    });
    rows.collect()
}

fn flags(letters: &str) -> Flags {
    Flags {
        ignore_case: letters.contains('i'),
        multi_line: letters.contains('m'),
        dot_all: letters.contains('s'),
        verbose: letters.contains('x'),
    }
}

/// The answer of a compiled pattern, and whether its other forms give the same.
fn ours(matcher: &Matcher, text: &str) -> (Answer, bool) {
    let outcomes = matcher.find_in_every_form(text);
    let characters = |bytes: usize| text[..bytes].chars().count();
    let answer = match outcomes[0].clone() {
        Outcome::Match(span) => Answer::Span(characters(span.start), characters(span.end)),
        Outcome::None => Answer::None,
        Outcome::Exhausted { .. } => Answer::Exhausted,
    };
    (
        answer,
        outcomes.iter().all(|outcome| *outcome == outcomes[0]),
    )
}

/// What differs from the table, and which patterns only we refuse and why.
fn compare(rows: &[Row]) -> (Vec<String>, Vec<(String, String)>) {
    let (mut wrong, mut refused) = (Vec::new(), Vec::new());
    // Rows of one pattern stand together.
    for rows in rows.chunk_by(|a, b| (&a.pattern, &a.flags) == (&b.pattern, &b.flags)) {
        let compiled = Matcher::compile(&rows[0].pattern, flags(&rows[0].flags));
        if let (Err(why), false) = (&compiled, rows[0].answer == Answer::Refused) {
            refused.push((rows[0].pattern.clone(), why.to_string()));
            continue;
        }
        for row in rows {
            let (answer, agreed) = match &compiled {
                Ok(matcher) => ours(matcher, &row.text),
                Err(_) => (Answer::Refused, true),
            };
            let listed = ANSWERED_OTHERWISE.contains(&(row.pattern.as_str(), row.text.as_str()));
            if (answer != row.answer) != listed || !agreed {
                wrong.push(format!(
                    "{:?} {:?} on {:?}: python {:?}, ours {answer:?}, forms agree: {agreed}",
                    row.pattern, row.flags, row.text, row.answer
                ));
            }
        }
    }
    (wrong, refused)
}

#[test]
fn every_answer_is_pythons_or_a_listed_refusal() {
    let rows = rows_of(TABLE);
    assert!(rows.len() > 2000, "the table has {} rows", rows.len());
    let (wrong, refused) = compare(&rows);
    let refused: Vec<(&str, &str)> = refused.iter().map(|(p, why)| (&**p, &**why)).collect();
    assert_eq!(refused, REFUSED_BY_US);
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
