//! One text: what in it is personal or secret, and what is written instead.
//!
//! All rules see the decoded text, and the text as a reader sees it (`view`). JSON in
//! the text is walked like a message, encoded text is decoded and scanned. Where
//! matches overlap, the earliest counts, of those the longest, then the rule's id.

use super::islands::islands;
use super::markers::Facts;
use super::pack::{Class, PackRule, Strategy};
use super::redactor::{Action, Active};
use super::view::View;
use super::walk::Run;
use super::{commands, encoded};
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
    /// It is `user:password`.
    pub(super) has_password: bool,
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
        let seen = Seen { raw, text, view };
        let mut facts = Facts::new(text, &redactor.own);
        for (at, active) in redactor.active.iter().enumerate() {
            let Active { rule, past, .. } = active;
            let applies = self.sees(rule)
                && (!place.secrets_only || rule.class == Class::Secret)
                && (!past || place.value && view.is_none())
                && facts.meets(rule);
            if !applies {
                continue;
            }
            let whole = 0..text.len();
            let touched = self.matches(at, &seen, whole, place.name, &mut facts, out);
            // What was written on the way of a match hides what stands beside it.
            if !redactor.past {
                for piece in facts.pieces(touched) {
                    self.matches(at, &seen, piece, place.name, &mut facts, out);
                }
            }
        }
        if redactor.secrets {
            let whole = 0..text.len();
            self.keys(&seen, whole, place, &mut facts, out);
            for piece in facts.pieces(false) {
                self.keys(&seen, piece, place, &mut facts, out);
            }
        }
    }

    /// The matches of one rule in a piece of a text that is read by itself. Tells whether
    /// one was left out because it touches a marker.
    fn matches(
        &mut self,
        at: usize,
        seen: &Seen<'_>,
        piece: Range<usize>,
        name: &str,
        facts: &mut Facts<'_>,
        out: &mut Vec<Candidate>,
    ) -> bool {
        let (Some(active), Some(budget)) = (self.redactor.active.get(at), self.budgets.get_mut(at))
        else {
            return false;
        };
        let rule = &active.rule;
        let (mut touched, mut gave_up) = (false, false);
        let inner = seen.text.get(piece.clone()).unwrap_or_default();
        for found in rule.matcher.find_all(inner, budget) {
            let Ok(found) = found else {
                gave_up = true;
                break;
            };
            let range = piece.start + found.start..piece.start + found.end;
            if range.is_empty() {
                continue;
            }
            if facts.in_marker(&range) {
                touched = true;
            } else if rule.validator.accepts(seen.text, range.clone(), name) {
                let marker = marker(active, seen.original(&range));
                out.extend(seen.candidate(range, &rule.id, marker));
            }
        }
        if gave_up && !self.unscanned.contains(&rule.id) {
            self.unscanned.push(rule.id.clone());
        }
        touched
    }

    /// Key shapes and named values in a piece of a text. Where it is not the whole, no name
    /// from outside applies.
    fn keys(
        &mut self,
        seen: &Seen<'_>,
        piece: Range<usize>,
        place: TextPlace<'_>,
        facts: &mut Facts<'_>,
        out: &mut Vec<Candidate>,
    ) {
        let whole = piece.len() == seen.text.len();
        let context = TextContext {
            name: if whole { place.name } else { "" },
            place: match place.secrets_only {
                true => Place::Definition,
                false => Place::Data,
            },
        };
        let inner = seen.text.get(piece.clone()).unwrap_or_default();
        let shifted = |range: Range<usize>| piece.start + range.start..piece.start + range.end;
        if !place.secrets_only {
            let mut passwords = commands::passwords(inner);
            passwords.extend(commands::password(inner).filter(|_| whole && place.has_password));
            passwords.retain(|range| {
                !secrets::is_stand_in(inner.get(range.clone()).unwrap_or_default())
            });
            let cookies = super::cookies::values(inner).into_iter();
            let cookies = cookies.map(|range| (range, "common/cookie-value"));
            let passwords = passwords
                .into_iter()
                .map(|range| (range, "common/named-value"));
            for (range, rule) in cookies.chain(passwords) {
                let range = shifted(range);
                if !facts.is_spent(&range) {
                    out.extend(seen.candidate(range, rule, CHOSEN.to_owned()));
                }
            }
        }
        for secret in secrets::scan_flat(inner, context) {
            let range = shifted(secret.range.clone());
            let id = match secret.kind {
                Kind::Shape(id) => id,
                Kind::Named(_) | Kind::Entropy if place.secrets_only => continue,
                Kind::Named("cookie" | "cookies") => "cookie-value",
                Kind::Named("bearer" | "authorization") => "authorization-value",
                Kind::Named(_) | Kind::Entropy => "named-value",
            };
            // `<TOKEN>` before a text is an element with that text for the detector.
            let shape = matches!(secret.kind, Kind::Shape(_));
            let before = seen.text.get(..range.start).unwrap_or_default();
            if facts.is_spent(&range) || !shape && self.redactor.own.ends(before) {
                continue;
            }
            let rule = format!("common/{id}");
            // A password is too easily guessed to leave its pseudonym behind.
            let marker = match shape && !holds_password(id) {
                true => {
                    let key = self.redactor.salt.key(&rule);
                    key.pseudonym(&label_of(id), seen.original(&range))
                }
                false => CHOSEN.to_owned(),
            };
            out.extend(seen.candidate(range, &rule, marker));
        }
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

/// A text that rules look at: as it stands, or its view.
struct Seen<'t> {
    raw: &'t str,
    text: &'t str,
    view: Option<&'t View>,
}

impl Seen<'_> {
    /// What a match is written as in the original: escapes are undone, so that an address is
    /// the same with and without them, everything else is as it stands.
    fn original(&self, range: &Range<usize>) -> &str {
        let place = self.view.and_then(|view| view.original(range));
        let text = place.and_then(|place| self.raw.get(place));
        text.filter(|text| !text.contains('%'))
            .or_else(|| self.text.get(range.clone()))
            .unwrap_or_default()
    }

    fn candidate(&self, range: Range<usize>, rule: &str, marker: String) -> Option<Candidate> {
        let sample = sample(self.text.get(range.clone()).unwrap_or_default());
        let range = match self.view {
            Some(view) => view.original(&range)?,
            None => range,
        };
        // A replacement that is there already changes nothing and is nothing to report.
        if self.raw.get(range.clone()) == Some(marker.as_str()) {
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
