//! A whole cassette, scrubbed: the messages, the head, the flags and the manifest, with
//! the formatting of everything else as it was.

use super::manifest::Manifest;
use super::redactor::{Action, Edit, Hit, MessageContext, Redaction, Redactor, apply};
use super::{RedactError, scan};
use crate::cassette::model::string_value;
use crate::cassette::view::Exchanges;
use crate::cassette::{Cassette, Sender};
use crate::secrets::placeholder::is_marker;
use crate::wire::json::{Kind, Scanner, Span, decode};
use std::collections::HashMap;

/// The id of the rule for session ids, which is code and in no pack.
pub(super) const SESSION_RULE: &str = "common/session-id";

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
    for part in parts(cassette) {
        let value = part.span.of(text);
        let found = match &part.place {
            Place::Message(index, answers) => {
                redactor.message(value, &context(cassette, *index, answers.as_deref()))
            }
            Place::Head(name) => redactor.head(value, name),
            Place::Session => session(value, redactor),
        };
        if let (Place::Message(index, _), Some(_)) = (&part.place, &found.text) {
            edits.extend(flag(cassette, *index));
        }
        edits.extend(found.text.map(|text| Edit {
            span: part.span,
            text,
        }));
        changes.extend(found.hits.into_iter().map(|hit| Change {
            pointer: format!("{}{}", part.pointer, hit.pointer),
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

/// What the rules find in a cassette as it stands: the pointer of each part, and its hits
/// with places in the file.
pub(super) fn scan_cassette(cassette: &Cassette, redactor: &Redactor) -> Vec<(String, Vec<Hit>)> {
    let text = &cassette.text;
    let scanned = parts(cassette).into_iter().map(|part| {
        let value = part.span.of(text);
        let hits = match &part.place {
            Place::Message(index, answers) => {
                let context = context(cassette, *index, answers.as_deref());
                redactor.scan(value, &context).hits
            }
            Place::Head(name) => redactor.scan_head(value, name).hits,
            Place::Session => session(value, redactor).hits,
        };
        let hits = hits.into_iter().map(|hit| Hit {
            span: Span {
                start: hit.span.start + part.span.start,
                end: hit.span.end + part.span.start,
            },
            ..hit
        });
        (part.pointer, hits.collect())
    });
    scanned.collect()
}

/// A value of the file that rules apply to.
struct Part {
    pointer: String,
    span: Span,
    place: Place,
}

enum Place {
    /// A payload: the index of its message, and the method of the request that it answers.
    Message(u32, Option<String>),
    /// A member around the messages, or one that no version knows.
    Head(String),
    Session,
}

fn parts(cassette: &Cassette) -> Vec<Part> {
    let text = &cassette.text;
    let mut parts = head_parts(cassette);
    let mut methods: HashMap<u32, String> = HashMap::new();
    for paired in Exchanges::new(cassette) {
        let Some(row) = cassette.rows.get(paired.index as usize) else {
            continue;
        };
        let envelope = paired.envelope;
        if let (Some(_), Some(method)) = (envelope.id, envelope.method_name(text)) {
            methods.insert(paired.index, method.into_owned());
        }
        let answers = paired.request.and_then(|request| methods.get(&request));
        parts.push(Part {
            pointer: format!("/messages/{}/payload", paired.index),
            span: row.payload,
            place: Place::Message(paired.index, answers.cloned()),
        });
    }
    parts
}

fn context<'a>(cassette: &Cassette, index: u32, answers: Option<&'a str>) -> MessageContext<'a> {
    let row = cassette.rows.get(index as usize);
    MessageContext {
        sender: row.map_or(Sender::Server, |row| row.sender),
        answers,
    }
}

fn head_parts(cassette: &Cassette) -> Vec<Part> {
    let text = &cassette.text;
    let head = &cassette.head;
    let mut parts = Vec::new();
    for (name, span) in [
        ("server_url", head.server_url),
        ("server_info", head.server_info),
    ] {
        parts.extend(span.map(|span| Part {
            pointer: format!("/{name}"),
            span,
            place: Place::Head(name.to_owned()),
        }));
    }
    parts.extend(head.session_id.map(|span| Part {
        pointer: "/session_id".to_owned(),
        span,
        place: Place::Session,
    }));
    for extra in &cassette.extras {
        let name = decode(extra.name.of(text).trim_matches('"')).into_owned();
        let escaped = name.replace('~', "~0").replace('/', "~1");
        parts.push(Part {
            pointer: match extra.message {
                Some(message) => format!("/messages/{message}/{escaped}"),
                None => format!("/{escaped}"),
            },
            span: extra.value,
            place: Place::Head(name),
        });
    }
    parts
}

/// A session id is as good as a bearer token while the session lives.
fn session(token: &str, redactor: &Redactor) -> Redaction {
    let id = string_value(token).filter(|id| redactor.secrets && !is_marker(id));
    let Some(id) = id else {
        return Redaction::default();
    };
    let marker = redactor.salt.key(SESSION_RULE).pseudonym("SESSION", &id);
    Redaction {
        text: Some(format!("\"{marker}\"")),
        hits: vec![Hit {
            rule: SESSION_RULE.to_owned(),
            pointer: String::new(),
            span: Span::new(1, token.len().saturating_sub(1)),
            part: None,
            in_name: false,
            sample: scan::sample(&id),
            action: Action::Replaced,
        }],
    }
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
