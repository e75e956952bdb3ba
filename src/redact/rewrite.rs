//! A whole cassette, scrubbed: the messages, the head, the flags and the manifest, with
//! the formatting of everything else as it was.

use super::manifest::Manifest;
use super::redactor::{Action, Edit, Hit, MessageContext, Redactor, apply};
use super::walk::Run;
use super::{RedactError, scan};
use crate::cassette::view::Exchanges;
use crate::cassette::{Cassette, Sender};
use crate::secrets::placeholder::is_marker;
use crate::wire::json::{Kind, Scanner, Span, decode};
use std::collections::HashMap;

/// A scrubbed cassette.
#[derive(Debug)]
pub(crate) struct Rewritten {
    /// The new text of the file; `None` if nothing changes, not even the manifest.
    pub(crate) text: Option<String>,
    pub(crate) changes: Vec<Change>,
}

/// One thing that was found in the cassette.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// A JSON pointer into the cassette.
    pub(crate) pointer: String,
    /// `pack/rule`, or the locator of a structural rule; empty if the value is nested too
    /// deep to be looked at.
    pub(crate) rule: String,
    /// At most six characters of it, and `…`.
    pub(crate) sample: String,
    pub(crate) action: Action,
}

/// Applies the rules to everything in a cassette. `applied_at` is RFC 3339, for the manifest.
///
/// # Errors
///
/// A manifest that is damaged or was written with another salt.
pub(crate) fn redact_cassette(
    cassette: &Cassette,
    redactor: &Redactor,
    applied_at: &str,
) -> Result<Rewritten, RedactError> {
    let text = &cassette.text;
    let earlier = cassette
        .head
        .redaction
        .map(|span| Manifest::parse(span.of(text)));
    let earlier = earlier.transpose()?;
    let mut edits = Vec::new();
    let mut changes = Vec::new();
    for found in scan_cassette(cassette, redactor) {
        if let (Some(message), false) = (found.message, found.edits.is_empty()) {
            edits.extend(flag(cassette, message));
        }
        edits.extend(found.edits);
        changes.extend(found.hits.into_iter().map(|hit| Change {
            pointer: format!("{}{}", found.prefix, hit.pointer),
            rule: hit.rule,
            sample: hit.sample,
            action: hit.action,
        }));
    }
    let new = redactor.manifest(applied_at);
    let (new, same) = match earlier {
        None => (new, false),
        Some(earlier) => {
            let merged = earlier.clone().extended(new)?;
            let same = merged.is_same_as(&earlier);
            (merged, same)
        }
    };
    if !(edits.is_empty() && same) {
        edits.push(manifest_edit(cassette, &new));
    }
    edits.sort_by_key(|edit| edit.span);
    let text = apply(text, &edits);
    if let Some(text) = &text {
        // Whatever went wrong must not reach the disk.
        Cassette::parse(cassette.name(), text.clone().into_bytes()).map_err(Box::new)?;
    }
    Ok(Rewritten { text, changes })
}

/// What was found in one part of a cassette; spans count from the start of the file.
pub(super) struct Part {
    /// The pointer of the part.
    pub(super) prefix: String,
    pub(super) message: Option<u32>,
    pub(super) edits: Vec<Edit>,
    pub(super) hits: Vec<Hit>,
}

/// Runs the rules over the head, the members that no version knows, and every message.
pub(super) fn scan_cassette(cassette: &Cassette, redactor: &Redactor) -> Vec<Part> {
    let mut parts = scan_head(cassette, redactor);
    let mut methods: HashMap<u32, String> = HashMap::new();
    for paired in Exchanges::new(cassette) {
        let Some(row) = cassette.rows.get(paired.index as usize) else {
            continue;
        };
        if let (Some(_), Some(method)) = (
            paired.envelope.id,
            paired.envelope.method_name(&cassette.text),
        ) {
            methods.insert(paired.index, method.into_owned());
        }
        let answers = paired.request.and_then(|request| methods.get(&request));
        let context = MessageContext {
            sender: row.sender,
            answers: answers.map(String::as_str),
        };
        let found = redactor.message(row.payload.of(&cassette.text), &context);
        parts.push(Part {
            prefix: format!("/messages/{}/payload", paired.index),
            message: Some(paired.index),
            edits: shifted(found.edits, row.payload.start).collect(),
            hits: found
                .hits
                .into_iter()
                .map(|hit| Hit {
                    span: shift(hit.span, row.payload.start),
                    ..hit
                })
                .collect(),
        });
    }
    parts
}

fn scan_head(cassette: &Cassette, redactor: &Redactor) -> Vec<Part> {
    let text = &cassette.text;
    let head = &cassette.head;
    let mut values: Vec<(String, String, Span)> = Vec::new();
    for (name, span) in [
        ("server_url", head.server_url),
        ("server_info", head.server_info),
    ] {
        values.extend(span.map(|span| (format!("/{name}"), name.to_owned(), span)));
    }
    for extra in &cassette.extras {
        let name = decode(extra.name.of(text).trim_matches('"')).into_owned();
        let escaped = name.replace('~', "~0").replace('/', "~1");
        let pointer = match extra.message {
            Some(message) => format!("/messages/{message}/{escaped}"),
            None => format!("/{escaped}"),
        };
        values.push((pointer, name, extra.value));
    }
    let mut parts: Vec<Part> = values
        .into_iter()
        .map(|(prefix, name, span)| {
            let found = Run::new(redactor, Sender::Server).head(text, span, &name);
            Part {
                prefix,
                message: None,
                edits: found.edits,
                hits: found.hits,
            }
        })
        .collect();
    parts.extend(session(cassette, redactor));
    parts
}

/// A session id is as good as a bearer token while the session lives.
fn session(cassette: &Cassette, redactor: &Redactor) -> Option<Part> {
    let span = cassette.head.session_id.filter(|_| redactor.secrets)?;
    let id = crate::cassette::model::string_value(span.of(&cassette.text))?;
    if is_marker(&id) {
        return None;
    }
    let rule = "common/session-id";
    let marker = redactor.salt.key(rule).pseudonym("SESSION", &id);
    Some(Part {
        prefix: "/session_id".to_owned(),
        message: None,
        hits: vec![Hit {
            rule: rule.to_owned(),
            pointer: String::new(),
            span: Span {
                start: span.start + 1,
                end: span.end.saturating_sub(1),
            },
            part: None,
            sample: scan::sample(&id),
            action: Action::Replaced,
        }],
        edits: vec![Edit {
            span,
            text: format!("\"{marker}\""),
        }],
    })
}

fn shift(span: Span, by: u32) -> Span {
    Span {
        start: span.start + by,
        end: span.end + by,
    }
}

fn shifted(edits: Vec<Edit>, by: u32) -> impl Iterator<Item = Edit> {
    edits.into_iter().map(move |edit| Edit {
        span: shift(edit.span, by),
        ..edit
    })
}

/// The edit that says of a message that it was changed.
fn flag(cassette: &Cassette, message: u32) -> Option<Edit> {
    let row = cassette.rows.get(message as usize)?;
    if row.redacted {
        return None;
    }
    let members = Members::of(&cassette.text, row.span)?;
    Some(match members.find("redacted") {
        Some((_, value)) => Edit {
            span: value,
            text: "true".to_owned(),
        },
        None => {
            let (key, _) = members.find("payload")?;
            Edit {
                span: Span {
                    start: key.start,
                    end: key.start,
                },
                text: format!(
                    "\"redacted\": true,{}",
                    members.blank_before(&cassette.text, key)
                ),
            }
        }
    })
}

/// The edit that puts the manifest into the file.
fn manifest_edit(cassette: &Cassette, manifest: &Manifest) -> Edit {
    let text = &cassette.text;
    let whole = crate::cassette::locate::whole(text);
    let members = Members::of(text, whole).unwrap_or_default();
    let old = members.find("redaction");
    // Every cassette that was loaded has messages.
    let place = old.or_else(|| members.find("messages"));
    let Some((key, value)) = place else {
        return Edit {
            span: Span::default(),
            text: String::new(),
        };
    };
    let blank = members.blank_before(text, key);
    let newline = blank.contains('\n').then_some(blank);
    let json = manifest.to_json(newline);
    if old.is_some() {
        return Edit {
            span: value,
            text: json,
        };
    }
    let separator = if newline.is_some() { blank } else { " " };
    Edit {
        span: Span {
            start: key.start,
            end: key.start,
        },
        text: format!("\"redaction\": {json},{separator}"),
    }
}

/// The members of one object of the file.
#[derive(Default)]
struct Members {
    list: Vec<(String, Span, Span)>,
}

impl Members {
    fn of(text: &str, span: Span) -> Option<Members> {
        let mut scanner = Scanner::over(text, span);
        if scanner.require().ok()?.kind != Kind::BeginObject {
            return None;
        }
        let mut list = Vec::new();
        while let Ok(Some(key)) = scanner.next_key() {
            let value = scanner.value().ok()?;
            let name = decode(key.inner().of(text)).into_owned();
            list.push((name, key.span, value.span));
        }
        Some(Members { list })
    }

    fn find(&self, name: &str) -> Option<(Span, Span)> {
        let mut named = self.list.iter().filter(|(own, ..)| own == name);
        named.next().map(|(_, key, value)| (*key, *value))
    }

    /// The white space before a member.
    fn blank_before<'t>(&self, text: &'t str, key: Span) -> &'t str {
        let before = text.get(..key.start as usize).unwrap_or_default();
        let kept = before.trim_end_matches([' ', '\n', '\r', '\t']).len();
        before.get(kept..).unwrap_or_default()
    }
}
