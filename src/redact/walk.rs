//! Walks one payload: which rule sees which value, and which tokens are written anew.
//!
//! The walk is iterative and stops at 512 levels; what is below is reported as not
//! looked at. JSON inside strings is walked by the same code, four levels of it.

use super::locator::Match;
use super::names::Holds;
use super::redactor::{Action, Edit, Hit, MessageContext, Redactor};
use super::scan::{Levels, TextHit, TextPlace, sample, without_markers};
use super::zone::{Zone, is_schema_properties, lists_definitions};
use crate::cassette::Sender;
use crate::pattern::Budget;
use crate::secrets::{effective_name, flag_name};
use crate::wire::json::{Kind, Scanner, Span, Token, decode, raw_offsets, write_string};
use crate::wire::node::MAX_DEPTH;
use std::borrow::Cow;

/// The longest string that is read as the name of a name and value pair, in bytes.
const LABEL: usize = 128;

/// One message, while it is worked on.
pub(super) struct Run<'r> {
    pub(super) redactor: &'r Redactor,
    pub(super) sender: Sender,
    /// What each pattern may still spend on this message.
    pub(super) budgets: Vec<Budget>,
    /// Rules that could not be tried to the end on the current text.
    pub(super) unscanned: Vec<String>,
}

/// What was found in a JSON value.
#[derive(Default)]
pub(super) struct Found {
    pub(super) edits: Vec<Edit>,
    pub(super) hits: Vec<Hit>,
}

impl<'r> Run<'r> {
    pub(super) fn new(redactor: &'r Redactor, sender: Sender) -> Self {
        Run {
            redactor,
            sender,
            budgets: vec![Budget::new(); redactor.active.len()],
            unscanned: Vec::new(),
        }
    }

    /// A whole payload.
    pub(super) fn payload(&mut self, payload: &str, context: &MessageContext<'_>) -> Found {
        let zone = match payload.trim_start().starts_with('[') {
            true => Zone::Batch,
            false => Zone::Message {
                listing: lists_definitions(context.answers),
            },
        };
        let start = Start {
            zone,
            name: String::new(),
            levels: Levels::ALL,
            nested: false,
        };
        Walk::new(self, payload, start).run(Span::new(0, payload.len()))
    }

    /// A value of the file outside the messages, under a member called `name`.
    pub(super) fn head(&mut self, text: &str, name: &str) -> Found {
        let start = Start {
            zone: Zone::Data,
            name: name.to_owned(),
            levels: Levels::ALL,
            nested: true,
        };
        Walk::new(self, text, start).run(Span::new(0, text.len()))
    }

    /// A JSON value inside a string.
    pub(super) fn nested(
        &mut self,
        text: &str,
        span: Span,
        place: TextPlace<'_>,
        levels: Levels,
    ) -> Found {
        let start = Start {
            zone: Zone::Data,
            name: place.name.to_owned(),
            levels,
            nested: true,
        };
        Walk::new(self, text, start).run(span)
    }
}

/// Where a walk begins.
struct Start {
    zone: Zone,
    name: String,
    levels: Levels,
    /// Inside a string or the head, where pointers do not reach and rules of 0.4.0 do not see.
    nested: bool,
}

/// An open object or array.
struct Frame<'r> {
    object: bool,
    zone: Zone,
    /// The name that its members go by if their own says nothing.
    outer: String,
    start: u32,
    /// The member whose value comes next.
    key: String,
    /// What pointers call it, if that is not what it is called.
    shown: Option<String>,
    /// What that member's value is.
    child: Zone,
    /// The index of the next item of an array.
    index: usize,
    /// The structural rule for the next value.
    pending: Option<Match<'r>>,
    /// The `name` and `value` of a pair such as a header.
    label: Option<String>,
    value: Option<(Span, Kind)>,
}

struct Walk<'w, 'r, 't> {
    run: &'w mut Run<'r>,
    text: &'t str,
    start: Start,
    frames: Vec<Frame<'r>>,
    found: Found,
}

impl<'w, 'r, 't> Walk<'w, 'r, 't> {
    fn new(run: &'w mut Run<'r>, text: &'t str, start: Start) -> Self {
        Walk {
            run,
            text,
            start,
            frames: Vec::new(),
            found: Found::default(),
        }
    }

    fn run(mut self, span: Span) -> Found {
        let mut scanner = Scanner::over(self.text, span);
        // What is no JSON cannot stand here: the recorder stores it as a string.
        while let Ok(Some(token)) = scanner.next_token() {
            match token.kind {
                Kind::Key => self.key(token),
                Kind::EndObject | Kind::EndArray => self.close(token),
                _ => self.begin_value(token, &mut scanner),
            }
        }
        self.found.edits.sort_by_key(|edit| {
            let Span { start, end } = edit.span;
            (start, std::cmp::Reverse(end))
        });
        let mut end = 0;
        self.found.edits.retain(|edit| {
            let free = edit.span.start >= end;
            if free {
                end = edit.span.end;
            }
            free
        });
        self.found
    }

    fn key(&mut self, token: Token) {
        let name = decode(token.inner().of(self.text)).into_owned();
        let redactor = self.run.redactor;
        let Some(frame) = self.frames.last_mut() else {
            return;
        };
        let zone = frame.zone;
        frame.child = match zone.member(&name) {
            _ if redactor.past => Zone::Data,
            Zone::Data
                if name == "properties" && is_schema_properties(self.text, token.span.end) =>
            {
                Zone::Definition
            }
            child => child,
        };
        let applies = redactor.past || zone.has_data() && frame.child.has_data();
        frame.pending = match applies {
            true => redactor.locators.by_name(&without_markers(&name)),
            false => None,
        };
        frame.key = name;
        frame.shown = None;
        if frame.child != Zone::Protocol && may_hold_data(&token, self.text) {
            self.scan_key(token);
        }
    }

    /// A value begins: a scalar, or a container that is opened, replaced or skipped.
    fn begin_value(&mut self, token: Token, scanner: &mut Scanner<'_>) {
        let container = matches!(token.kind, Kind::BeginObject | Kind::BeginArray);
        let zone = self.zone();
        let past = self.run.redactor.past;
        let rule = self
            .structural_rule()
            .filter(|rule| may_hold(rule.holds, token.kind, past))
            .filter(|_| past || zone != Zone::Protocol);
        if let Some(rule) = rule {
            let end = match container {
                true => skip(scanner),
                false => token.span.end,
            };
            let start = token.span.start;
            let span = Span { start, end };
            if past || holds_something(span.of(self.text)) {
                self.replace(span, token.kind, rule);
            }
            self.completed(span, token.kind);
            return;
        }
        if zone == Zone::Protocol && !self.run.redactor.past {
            let end = match container {
                true => skip(scanner),
                false => token.span.end,
            };
            let start = token.span.start;
            self.completed(Span { start, end }, token.kind);
        } else if container && scanner.depth() > MAX_DEPTH {
            let end = skip(scanner);
            let start = token.span.start;
            self.too_deep(Span { start, end });
            self.completed(Span { start, end }, token.kind);
        } else if container {
            self.open(token, zone);
        } else {
            self.scalar(token, zone);
            self.completed(token.span, token.kind);
        }
    }

    fn zone(&self) -> Zone {
        match self.frames.last() {
            None => self.start.zone,
            Some(frame) if frame.object => frame.child,
            Some(frame) => frame.zone.item(),
        }
    }

    fn structural_rule(&mut self) -> Option<Match<'r>> {
        let pending = self
            .frames
            .last_mut()
            .and_then(|frame| frame.pending.take());
        let locators = &self.run.redactor.locators;
        if !locators.has_pointers() || self.start.nested {
            return pending;
        }
        locators.by_pointer(&self.pointer()).or(pending)
    }

    fn open(&mut self, token: Token, zone: Zone) {
        let outer = self.name().into_owned();
        self.frames.push(Frame {
            object: token.kind == Kind::BeginObject,
            zone,
            outer,
            start: token.span.start,
            key: String::new(),
            shown: None,
            child: zone,
            index: 0,
            pending: None,
            label: None,
            value: None,
        });
    }

    fn close(&mut self, token: Token) {
        let Some(frame) = self.frames.pop() else {
            return;
        };
        self.settle_pair(&frame);
        let kind = match frame.object {
            true => Kind::BeginObject,
            false => Kind::BeginArray,
        };
        let span = Span {
            start: frame.start,
            end: token.span.end,
        };
        self.completed(span, kind);
    }

    /// `{"name": "Authorization", "value": …}`: the value stands under that name.
    fn settle_pair(&mut self, frame: &Frame<'r>) {
        let (Some(label), Some((span, kind))) = (&frame.label, frame.value) else {
            return;
        };
        let redactor = self.run.redactor;
        if redactor.past || !frame.zone.has_data() {
            return;
        }
        let Some(rule) = redactor.locators.by_name(&without_markers(label)) else {
            return;
        };
        if !may_hold(rule.holds, kind, false) || !holds_something(span.of(self.text)) {
            return;
        }
        let apart = |other: Span| other.end <= span.start || span.end <= other.start;
        self.found.edits.retain(|edit| apart(edit.span));
        self.found.hits.retain(|hit| apart(hit.span));
        self.replace_at(span, kind, rule, {
            let mut pointer = self.pointer();
            pointer.push_str("/value");
            pointer
        });
    }

    /// A value has ended; the next one of this array may be named by it.
    fn completed(&mut self, span: Span, kind: Kind) {
        let redactor = self.run.redactor;
        let Some(frame) = self.frames.last_mut() else {
            return;
        };
        frame.pending = None;
        if redactor.past {
            frame.index += 1;
            return;
        }
        let short = kind == Kind::String && span.len() <= LABEL;
        if !frame.object {
            frame.index += 1;
            if short && frame.zone.has_data() {
                let item = decode(unquoted(span).of(self.text));
                let flag = flag_name(&item).filter(|_| item.starts_with("--"));
                frame.pending =
                    flag.and_then(|flag| redactor.locators.by_name(&without_markers(flag)));
            }
            return;
        }
        let is = |names: &[&str]| {
            names
                .iter()
                .any(|name| frame.key.eq_ignore_ascii_case(name))
        };
        if short && is(&["name", "key", "header", "field"]) {
            frame.label = Some(decode(unquoted(span).of(self.text)).into_owned());
        } else if is(&["value"]) && frame.value.is_none() {
            frame.value = Some((span, kind));
        }
    }

    fn scalar(&mut self, token: Token, zone: Zone) {
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
            value: !self.start.nested,
            levels: self.start.levels,
        };
        self.scan(token, place);
    }

    /// A member name: secrets go, personal data is reported.
    fn scan_key(&mut self, token: Token) {
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
                Some(active) => active.rule.class == super::pack::Class::Secret,
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
    fn take(&mut self, token: Token, scanned: super::scan::Scanned) {
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
        let run = &mut *self.run;
        for (active, budget) in run.redactor.active.iter().zip(&mut run.budgets) {
            let rule = &active.rule;
            if !rule.numbers || active.past {
                continue;
            }
            let mut matches = rule.matcher.find_all(digits, budget);
            let all = matches!(matches.next(), Some(Ok(range)) if range == (0..digits.len()));
            if !all || !rule.validator.accepts(digits, 0..digits.len(), "") {
                continue;
            }
            let text = format!("\"{}\"", active.key.pseudonym(&rule.label, digits));
            let rule = rule.id.clone();
            self.edit(token.span, token.kind, text, rule, self.pointer());
            return;
        }
    }

    fn replace(&mut self, span: Span, kind: Kind, rule: Match<'r>) {
        let pointer = self.pointer();
        self.replace_at(span, kind, rule, pointer);
    }

    fn replace_at(&mut self, span: Span, kind: Kind, rule: Match<'r>, pointer: String) {
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

    fn too_deep(&mut self, span: Span) {
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

    /// The name that the next value goes by.
    fn name(&self) -> Cow<'_, str> {
        match self.frames.last() {
            None => Cow::Borrowed(&self.start.name),
            Some(frame) => without_markers(effective_name(&frame.outer, &frame.key)),
        }
    }

    /// The place of the current value, as a pointer from where the walk began.
    fn pointer(&self) -> String {
        let mut pointer = String::new();
        for frame in &self.frames {
            pointer.push('/');
            match frame.object {
                true => {
                    let key = frame.shown.as_ref().unwrap_or(&frame.key);
                    pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
                }
                false => pointer.push_str(&frame.index.to_string()),
            }
        }
        pointer
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

fn unquoted(span: Span) -> Span {
    Span {
        start: span.start + 1,
        end: span.end.saturating_sub(1).max(span.start + 1),
    }
}

/// Consumes the container that was just opened and tells where it ends.
fn skip(scanner: &mut Scanner<'_>) -> u32 {
    let floor = scanner.depth();
    let mut end = 0;
    while scanner.depth() >= floor {
        match scanner.next_token() {
            Ok(Some(token)) => end = token.span.end,
            _ => break,
        }
    }
    end
}

/// `null`, `true`, `false`, `""`, `[]` and `{}` hold no secret.
fn holds_something(token: &str) -> bool {
    let inside = |open, close| {
        token
            .strip_prefix(open)
            .and_then(|rest| rest.strip_suffix(close))
            .is_none_or(|inner: &str| !inner.trim().is_empty())
    };
    !matches!(token, "null" | "true" | "false" | "\"\"") && inside('[', ']') && inside('{', '}')
}

fn may_hold(holds: Holds, kind: Kind, past: bool) -> bool {
    past || match holds {
        Holds::Anything => true,
        Holds::NoNumbers => kind != Kind::Number,
        Holds::Strings => kind == Kind::String,
    }
}

/// Most member names are short words and need no look.
fn may_hold_data(token: &Token, text: &str) -> bool {
    let name = token.inner().of(text);
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'$');
    let digits = name.bytes().filter(u8::is_ascii_digit).count();
    name.len() >= 16 || !name.bytes().all(plain) || digits >= 7
}
