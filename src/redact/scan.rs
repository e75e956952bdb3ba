//! One text: what in it is personal or secret, and what is written instead.
//!
//! All rules see the decoded text, and the text as a reader sees it (`view`). JSON in
//! the text is walked like a message, encoded text is decoded and scanned. Where
//! matches overlap, the earliest counts, of those the longest, then the rule's id.

use super::encoded;
use super::islands::islands;
use super::markers::Facts;
use super::pack::{Class, PackRule, Strategy};
use super::redactor::{Action, Active};
use super::view::View;
use super::walk::Run;
use crate::secrets::placeholder::is_marker;
use crate::secrets::{self, Kind, Place, TextContext};
use crate::wire::json::Span;
use std::ops::Range;

/// In place of what people choose, and of values that only their name gives away. The
/// label is no word that the detectors know.
pub(super) const CHOSEN: &str = "<REDACTED>";

/// What a string is to the rules.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextPlace<'a> {
    /// The name that it stands under.
    pub(super) name: &'a str,
    /// Only rules of class `secret` apply.
    pub(super) secrets_only: bool,
    /// It is a string of a payload and no member name, so that rules of 0.4.0 see it.
    pub(super) value: bool,
    pub(super) levels: Levels,
}

/// How many more levels are opened.
#[derive(Clone, Copy, Debug)]
pub(super) struct Levels {
    /// Of JSON inside strings.
    pub(super) json: u8,
    /// Of base64 and hexadecimal.
    pub(super) encoding: u8,
}

impl Levels {
    pub(super) const ALL: Levels = Levels {
        json: 4,
        encoding: 3,
    };
}

/// What was found in a text.
#[derive(Default)]
pub(super) struct Scanned {
    /// Ranges of the text and what is written there, ascending and apart.
    pub(super) parts: Vec<(Range<usize>, String)>,
    pub(super) hits: Vec<TextHit>,
}

/// A match and its place.
#[derive(Clone, Debug)]
pub(super) struct TextHit {
    /// In the text that was scanned; `None` if it stands in something inside it.
    pub(super) range: Option<Range<usize>>,
    pub(super) rule: String,
    pub(super) sample: String,
    pub(super) action: Action,
}

/// A match that may yet lose against another one.
struct Candidate {
    range: Range<usize>,
    rule: String,
    /// What is written instead; `None` if it is only reported.
    text: Option<String>,
    hits: Vec<TextHit>,
}

/// The ids of what the `secrets` of a pack find.
pub(super) fn secret_rule_ids() -> impl Iterator<Item = String> {
    let named = ["authorization-value", "cookie-value", "named-value"];
    secrets::shapes::ids()
        .chain(named)
        .map(|id| format!("common/{id}"))
}

impl Run<'_> {
    /// Everything that is found in one decoded text.
    pub(super) fn text(&mut self, text: &str, place: TextPlace<'_>) -> Scanned {
        if self.writes(text) {
            return Scanned::default();
        }
        let mut candidates = Vec::new();
        let open = !self.redactor.past && !place.secrets_only;
        let inside = match open && place.levels.json > 0 {
            true => islands(text),
            false => Vec::new(),
        };
        for island in &inside {
            candidates.extend(self.island(text, island, place));
        }
        let all = matches!(&inside[..], [island] if text.trim().len() == island.len());
        if !all {
            let mut flat = Vec::new();
            self.flat(text, text, None, place, &mut flat);
            if let Some(view) = View::of(text).filter(|_| !self.redactor.past) {
                self.flat(text, &view.text, Some(&view), place, &mut flat);
            }
            if open && place.levels.encoding > 0 {
                self.encoded(text, place, &mut flat);
            }
            let within = |range: &Range<usize>| {
                let mut islands = inside.iter();
                islands.any(|island| island.start < range.end && range.start < island.end)
            };
            candidates.extend(flat.into_iter().filter(|found| !within(&found.range)));
        }
        settle(text, candidates)
    }

    /// A JSON value inside the text.
    fn island(
        &mut self,
        text: &str,
        island: &Range<usize>,
        place: TextPlace<'_>,
    ) -> Option<Candidate> {
        let levels = Levels {
            json: place.levels.json - 1,
            ..place.levels
        };
        let span = Span::new(island.start, island.end);
        let found = self.nested(text, span, place, levels);
        let inner = text.get(island.clone())?;
        let shifted: Vec<_> = found
            .edits
            .iter()
            .map(|edit| {
                let mut edit = edit.clone();
                let back = u32::try_from(island.start).unwrap_or(0);
                edit.span.start -= back;
                edit.span.end -= back;
                edit
            })
            .collect();
        let hits: Vec<TextHit> = found
            .hits
            .into_iter()
            .map(|hit| TextHit {
                range: None,
                rule: hit.rule,
                sample: hit.sample,
                action: hit.action,
            })
            .collect();
        (!hits.is_empty()).then(|| Candidate {
            range: island.clone(),
            rule: String::new(),
            text: super::redactor::apply(inner, &shifted),
            hits,
        })
    }

    /// Base64 and hexadecimal in the text.
    fn encoded(&mut self, text: &str, place: TextPlace<'_>, out: &mut Vec<Candidate>) {
        let levels = Levels {
            encoding: place.levels.encoding - 1,
            ..place.levels
        };
        for encoded in encoded::find(text) {
            let inner = TextPlace {
                value: false,
                levels,
                ..place
            };
            let scanned = self.text(&encoded.text, inner);
            if scanned.hits.is_empty() {
                continue;
            }
            let changed = scanned.apply(&encoded.text);
            out.push(Candidate {
                range: encoded.range.clone(),
                rule: String::new(),
                text: changed.map(|text| encoded.encode(&text)),
                hits: scanned
                    .hits
                    .into_iter()
                    .map(|hit| TextHit { range: None, ..hit })
                    .collect(),
            });
        }
    }

    /// The matches of all rules in the text itself or in its view.
    fn flat(
        &mut self,
        raw: &str,
        text: &str,
        view: Option<&View>,
        place: TextPlace<'_>,
        out: &mut Vec<Candidate>,
    ) {
        let redactor = self.redactor;
        let mut facts = Facts::new(text);
        for (at, active) in redactor.active.iter().enumerate() {
            let Active { rule, past, .. } = active;
            let seen = self.sees(rule)
                && (!place.secrets_only || rule.class == Class::Secret)
                && (!past || place.value && view.is_none())
                && facts.meets(rule);
            if !seen {
                continue;
            }
            let Some(budget) = self.budgets.get_mut(at) else {
                continue;
            };
            let mut gave_up = None;
            for found in rule.matcher.find_all(text, budget) {
                let range = match found {
                    Ok(range) => range,
                    Err(why) => {
                        gave_up = Some(why);
                        break;
                    }
                };
                let valid = !range.is_empty()
                    && rule.validator.accepts(text, range.clone(), place.name)
                    && !facts.in_marker(&range);
                if valid {
                    let matched = text.get(range.clone()).unwrap_or_default();
                    let marker = marker(active, original(raw, view, &range).unwrap_or(matched));
                    out.extend(candidate(raw, view, range, &rule.id, marker));
                }
            }
            if gave_up.is_some() {
                self.unscanned.push(rule.id.clone());
            }
        }
        if redactor.secrets {
            self.keys(raw, text, view, place, &mut facts, out);
        }
    }

    /// Key shapes and named values.
    fn keys(
        &mut self,
        raw: &str,
        text: &str,
        view: Option<&View>,
        place: TextPlace<'_>,
        facts: &mut Facts<'_>,
        out: &mut Vec<Candidate>,
    ) {
        let context = TextContext {
            name: place.name,
            place: match place.secrets_only {
                true => Place::Definition,
                false => Place::Data,
            },
        };
        if !place.secrets_only {
            for range in super::cookies::values(text) {
                let rule = "common/cookie-value";
                out.extend(candidate(raw, view, range, rule, CHOSEN.to_owned()));
            }
        }
        for secret in secrets::scan_flat(text, context) {
            let range = secret.range.clone();
            let id = match secret.kind {
                Kind::Shape(id) => id,
                Kind::Named(_) | Kind::Entropy if place.secrets_only => continue,
                Kind::Named("cookie" | "cookies") => "cookie-value",
                Kind::Named("bearer" | "authorization") => "authorization-value",
                Kind::Named(_) | Kind::Entropy => "named-value",
            };
            // `<TOKEN>` before a text is an element with that text for the detector.
            let shape = matches!(secret.kind, Kind::Shape(_));
            if !shape && self.ends_in_marker(text.get(..range.start).unwrap_or_default()) {
                continue;
            }
            if facts.in_marker(&range) {
                continue;
            }
            let rule = format!("common/{id}");
            let matched = original(raw, view, &range)
                .or(text.get(range.clone()))
                .unwrap_or_default();
            // A password is too easily guessed to leave its pseudonym behind.
            let marker = match shape && !holds_password(id) {
                true => {
                    let key = self.redactor.salt.key(&rule);
                    key.pseudonym(&label_of(id), matched)
                }
                false => CHOSEN.to_owned(),
            };
            out.extend(candidate(raw, view, range, &rule, marker));
        }
    }

    /// Whether a text ends in what a rule of this redactor writes.
    fn ends_in_marker(&self, text: &str) -> bool {
        let Some(inner) = text.strip_suffix('>') else {
            return false;
        };
        let labels = self.redactor.active.iter().map(|active| &active.rule.label);
        labels.into_iter().any(|label| {
            let rest = inner.strip_suffix(label.as_str());
            rest.is_some_and(|rest| rest.ends_with('<'))
        })
    }

    fn sees(&self, rule: &PackRule) -> bool {
        !rule.server_only || self.sender == crate::cassette::Sender::Server
    }

    /// Whether a whole text is what a rule writes, or any other marker.
    pub(super) fn writes(&self, text: &str) -> bool {
        let own = |active: &Active| active.rule.replacement.as_deref() == Some(text);
        !self.redactor.past
            && (is_marker(text)
                || self.redactor.locators.writes(text)
                || self.redactor.active.iter().any(own))
    }
}

impl Scanned {
    /// The text with everything replaced; `None` if nothing is.
    pub(super) fn apply(&self, text: &str) -> Option<String> {
        if self.parts.is_empty() {
            return None;
        }
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for (range, new) in &self.parts {
            out.push_str(text.get(at..range.start).unwrap_or_default());
            out.push_str(new);
            at = range.end;
        }
        out.push_str(text.get(at..).unwrap_or_default());
        Some(out)
    }
}

/// What a match is written as in the original: escapes are undone, so that an address is
/// the same with and without them, everything else is as it stands.
fn original<'t>(raw: &'t str, view: Option<&View>, range: &Range<usize>) -> Option<&'t str> {
    let text = raw.get(view?.original(range)?)?;
    (!text.contains('%')).then_some(text)
}

fn candidate(
    raw: &str,
    view: Option<&View>,
    range: Range<usize>,
    rule: &str,
    marker: String,
) -> Option<Candidate> {
    let sample = masked(raw, view, &range);
    let range = match view {
        Some(view) => view.original(&range)?,
        None => range,
    };
    // A replacement that is there already changes nothing and is nothing to report.
    if raw.get(range.clone()) == Some(marker.as_str()) {
        return None;
    }
    Some(Candidate {
        hits: vec![TextHit {
            range: Some(range.clone()),
            rule: rule.to_owned(),
            sample,
            action: Action::Replaced,
        }],
        text: Some(marker),
        rule: rule.to_owned(),
        range,
    })
}

fn masked(raw: &str, view: Option<&View>, range: &Range<usize>) -> String {
    let text = view.map_or(raw, |view| view.text.as_str());
    sample(text.get(range.clone()).unwrap_or_default())
}

/// At most six characters, and never more than half of a value.
pub(super) fn sample(value: &str) -> String {
    let shown = (value.chars().take(12).count() / 2).min(6);
    let mut sample: String = value.chars().take(shown).collect();
    sample.push('…');
    sample
}

fn marker(active: &Active, matched: &str) -> String {
    let rule = &active.rule;
    match rule.strategy {
        Strategy::Hash => active.key.pseudonym(&rule.label, matched),
        Strategy::Replace => match &rule.replacement {
            Some(text) => text.clone(),
            None => format!("<{}>", rule.label),
        },
        Strategy::Mask => mask(matched),
    }
}

/// Bullets for all but the last four characters, and for those too if there are no others.
fn mask(text: &str) -> String {
    let count = text.chars().count();
    let hidden = if count > 4 { count - 4 } else { count };
    let bullets = std::iter::repeat_n('•', hidden);
    bullets.chain(text.chars().skip(hidden)).collect()
}

/// The label of a key shape; three are those of 0.4.0's rules.
fn label_of(id: &str) -> String {
    match id {
        "aws-access-key-id" => "AWS_KEY".to_owned(),
        "pem-private-key" => "PRIVATE_KEY".to_owned(),
        id => id.to_ascii_uppercase().replace('-', "_"),
    }
}

fn holds_password(id: &str) -> bool {
    matches!(
        id,
        "connection-string" | "url-password" | "bitbucket-password"
    )
}

/// Takes the candidates that count.
fn settle(text: &str, mut candidates: Vec<Candidate>) -> Scanned {
    candidates.sort_by(|a, b| {
        let key = |c: &Candidate| (c.range.start, std::cmp::Reverse(c.range.end));
        key(a).cmp(&key(b)).then_with(|| a.rule.cmp(&b.rule))
    });
    let mut scanned = Scanned::default();
    let mut end = 0;
    for candidate in candidates {
        if candidate.range.start < end || candidate.range.end > text.len() {
            continue;
        }
        end = candidate.range.end;
        scanned.hits.extend(candidate.hits);
        if let Some(new) = candidate.text {
            scanned.parts.push((candidate.range, new));
        }
    }
    scanned
}
