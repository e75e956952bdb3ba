//! What a walk writes: the strings, numbers and names of one payload as they are scanned,
//! and the tokens in their place.

use super::locator::Match;
use super::pack::Class;
use super::redactor::{Action, Edit, Hit};
use super::scan::{Levels, Scanned, TextHit, TextPlace, sample};
use super::walk::{Walk, unquoted};
use super::zone::Zone;
use crate::wire::json::{Kind, Span, Token, decode, raw_offsets, write_string};

impl<'r> Walk<'_, 'r, '_> {
    pub(super) fn scalar(&mut self, token: Token, zone: Zone) {
        match token.kind {
            Kind::String => self.scan_string(token, zone),
            Kind::Number if zone != Zone::Definition && !self.run.redactor.past => {
                self.scan_number(token);
            }
            _ => {}
        }
    }

    fn scan_string(&mut self, token: Token, zone: Zone) {
        let name = self.name().into_owned();
        let place = TextPlace {
            name: &name,
            secrets_only: zone == Zone::Definition,
            has_password: self.has_password(),
            value: !self.start.nested,
            levels: self.start.levels,
        };
        self.scan(token, place);
    }

    /// A member name: secrets go, personal data is reported.
    pub(super) fn scan_key(&mut self, token: Token) {
        if self.run.redactor.past {
            return;
        }
        let secrets_only = self
            .frames
            .last()
            .is_some_and(|frame| !frame.zone.has_data());
        let place = TextPlace {
            name: "",
            secrets_only,
            has_password: false,
            value: false,
            levels: Levels {
                json: 0,
                encoding: 0,
            },
        };
        let text = decode(token.inner().of(self.text));
        let mut scanned = self.run.text(&text, place);
        for hit in &mut scanned.hits {
            // What names something beside it is no name itself: only shapes are rewritten.
            let rule = self
                .run
                .redactor
                .active
                .iter()
                .find(|active| active.rule.id == hit.rule);
            let secret = match rule {
                Some(active) => active.rule.class == Class::Secret,
                None => !hit.rule.ends_with("-value"),
            };
            hit.action = if secret {
                Action::Replaced
            } else {
                Action::Reported
            };
        }
        let replaced: Vec<_> = scanned
            .hits
            .iter()
            .filter(|hit| hit.action == Action::Replaced)
            .filter_map(|hit| hit.range.clone())
            .collect();
        scanned.parts.retain(|(range, _)| replaced.contains(range));
        if scanned.hits.is_empty() {
            return;
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.shown = Some(masked(&text, &scanned.hits));
        }
        let before = self.found.hits.len();
        self.take(token, scanned);
        for hit in self.found.hits.iter_mut().skip(before) {
            hit.in_name = true;
        }
    }

    fn scan(&mut self, token: Token, place: TextPlace<'_>) {
        let text = decode(token.inner().of(self.text));
        let scanned = self.run.text(&text, place);
        self.take(token, scanned);
    }

    /// Turns what was found in a decoded string into an edit of its token.
    fn take(&mut self, token: Token, scanned: Scanned) {
        let pointer = match scanned.hits.is_empty() && self.run.unscanned.is_empty() {
            true => return,
            false => self.pointer(),
        };
        let inner = token.inner();
        for rule in std::mem::take(&mut self.run.unscanned) {
            self.found.hits.push(Hit {
                rule,
                pointer: pointer.clone(),
                span: inner,
                part: None,
                in_name: false,
                sample: String::new(),
                action: Action::Unscanned,
            });
        }
        for hit in scanned.hits {
            self.found.hits.push(Hit {
                rule: hit.rule,
                pointer: pointer.clone(),
                span: inner,
                part: hit.range,
                in_name: false,
                sample: hit.sample,
                action: hit.action,
            });
        }
        if scanned.parts.is_empty() {
            return;
        }
        let raw = inner.of(self.text);
        let ends: Vec<usize> = scanned
            .parts
            .iter()
            .flat_map(|(range, _)| [range.start, range.end])
            .collect();
        let mapped = raw_offsets(raw, &ends);
        let mut text = String::with_capacity(raw.len() + 2);
        text.push('"');
        let mut at = 0;
        for ((_, new), place) in scanned.parts.iter().zip(mapped.chunks(2)) {
            let [from, to] = place else { continue };
            text.push_str(raw.get(at..*from).unwrap_or_default());
            text.push_str(&escaped(new));
            at = *to;
        }
        text.push_str(raw.get(at..).unwrap_or_default());
        text.push('"');
        let span = token.span;
        self.found.edits.push(Edit { span, text });
    }

    /// Card numbers are also written as numbers.
    fn scan_number(&mut self, token: Token) {
        let digits = token.span.of(self.text);
        let whole = (13..=19).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
        if !whole {
            return;
        }
        let name = self.name().into_owned();
        let run = &mut *self.run;
        for (active, budget) in run.redactor.active.iter().zip(&mut run.budgets) {
            let rule = &active.rule;
            if !rule.numbers || active.past {
                continue;
            }
            let mut matches = rule.matcher.find_all(digits, budget);
            let all = matches!(matches.next(), Some(Ok(range)) if range == (0..digits.len()));
            if !all || !rule.validator.accepts(digits, 0..digits.len(), &name) {
                continue;
            }
            let text = format!("\"{}\"", active.key.pseudonym(&rule.label, digits));
            let rule = rule.id.clone();
            self.edit(token.span, token.kind, text, rule, self.pointer());
            return;
        }
    }

    pub(super) fn replace(&mut self, span: Span, kind: Kind, rule: Match<'r>) {
        let pointer = self.pointer();
        self.replace_at(span, kind, rule, pointer);
    }

    pub(super) fn replace_at(&mut self, span: Span, kind: Kind, rule: Match<'r>, pointer: String) {
        let mut text = String::new();
        write_string(&rule.rule.replacement, &mut text);
        let old = span.of(self.text);
        let marked = kind == Kind::String && self.run.writes(&decode(unquoted(span).of(self.text)));
        if old == text || marked {
            return;
        }
        let locator = rule.rule.locator.clone();
        self.edit(span, kind, text, locator, pointer);
    }

    fn edit(&mut self, span: Span, kind: Kind, text: String, rule: String, pointer: String) {
        let value = match kind {
            Kind::String => unquoted(span),
            _ => span,
        };
        let shown = decode(value.of(self.text));
        self.found.hits.push(Hit {
            rule,
            pointer,
            span: value,
            part: None,
            in_name: false,
            sample: sample(&shown),
            action: Action::Replaced,
        });
        self.found.edits.push(Edit { span, text });
    }

    pub(super) fn too_deep(&mut self, span: Span) {
        let pointer = self.pointer();
        self.found.hits.push(Hit {
            rule: String::new(),
            pointer,
            span,
            part: None,
            in_name: false,
            sample: String::new(),
            action: Action::Unscanned,
        });
    }
}

/// A name with samples in place of what was found in it.
fn masked(name: &str, hits: &[TextHit]) -> String {
    let mut out = String::new();
    let mut at = 0;
    for hit in hits {
        let Some(range) = &hit.range else { continue };
        out.push_str(name.get(at..range.start).unwrap_or_default());
        out.push_str(&hit.sample);
        at = range.end;
    }
    out.push_str(name.get(at..).unwrap_or_default());
    out
}

fn escaped(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    write_string(text, &mut quoted);
    let inner = quoted.get(1..quoted.len().saturating_sub(1));
    inner.unwrap_or_default().to_owned()
}

/// Most member names are short words and need no look.
pub(super) fn may_hold_data(token: &Token, text: &str) -> bool {
    let name = token.inner().of(text);
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'$');
    let digits = name.bytes().filter(u8::is_ascii_digit).count();
    name.len() >= 16 || !name.bytes().all(plain) || digits >= 7
}
