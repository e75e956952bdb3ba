//! Walks one payload: which rule sees which value, and which tokens are written anew.
//!
//! The walk is iterative and stops at 512 levels; what is below is reported as not
//! looked at. JSON inside strings is walked by the same code, four levels of it.

use super::edits::may_hold_data;
use super::lists::{List, Next, is_header_name, plain_name};
use super::locator::Match;
use super::names::Holds;
use super::redactor::{Edit, Hit, MessageContext, Redactor};
use super::scan::{Levels, TextPlace};
use super::zone::{Zone, has_name, is_schema_properties, is_weighed, lists_definitions};
use crate::cassette::Sender;
use crate::cassette::view::Envelope;
use crate::pattern::Budget;
use crate::secrets::effective_name;
use crate::wire::json::{Kind, Scanner, Span, Token, decode};
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
            false => {
                let whole = Span::new(0, payload.len());
                let method = Envelope::read(payload, whole).method_name(payload);
                Zone::Message {
                    listing: lists_definitions(context.answers),
                    named: has_name(method.as_deref()),
                }
            }
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
pub(super) struct Start {
    zone: Zone,
    name: String,
    pub(super) levels: Levels,
    /// Inside a string or the head, where pointers do not reach and rules of 0.4.0 do not see.
    pub(super) nested: bool,
}

/// An open object or array.
pub(super) struct Frame<'r> {
    object: bool,
    pub(super) zone: Zone,
    /// The name that its members go by if their own says nothing.
    outer: String,
    start: u32,
    /// The member whose value comes next.
    key: String,
    /// What pointers call it, if that is not what it is called.
    pub(super) shown: Option<String>,
    /// What that member's value is.
    child: Zone,
    /// The index of the next item of an array.
    index: usize,
    /// The structural rule for the next value.
    pending: Option<Match<'r>>,
    /// What it is the list of, if it is an array.
    list: List,
    /// What the last item says of the next one.
    next: Option<Next>,
    /// Whether the next value is a piece of text that a model wrote, under the name `token`.
    piece: bool,
    /// Whether it has told the probability of such a piece.
    weighed: bool,
    /// The `name` and `value` of a pair such as a header.
    ///
    /// A member may stand twice, and a reader may take either.
    labels: Vec<String>,
    values: Vec<(Span, Kind)>,
    /// How many edits and hits there were before it.
    found: (usize, usize),
}

pub(super) struct Walk<'w, 'r, 't> {
    pub(super) run: &'w mut Run<'r>,
    pub(super) text: &'t str,
    pub(super) start: Start,
    pub(super) frames: Vec<Frame<'r>>,
    pub(super) found: Found,
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
            true => redactor.locators.by_name(&plain_name(&name)),
            false => None,
        };
        frame.piece = false;
        if frame.pending.is_some() && name == "token" && !redactor.past {
            frame.piece = frame.weighed || is_weighed(self.text, token.span.end);
        } else if name == "logprob" {
            frame.weighed = true;
        }
        if frame.piece {
            frame.pending = None;
        }
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
            .filter(|_| !self.names_a_header(token))
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

    /// Whether a value in the place of a header's is the name of another header.
    fn names_a_header(&self, token: Token) -> bool {
        let next = self.frames.last().and_then(|frame| frame.next.as_ref());
        matches!(next, Some(Next::Header(_)))
            && token.kind == Kind::String
            && token.span.len() <= LABEL
            && is_header_name(&decode(token.inner().of(self.text)))
    }

    /// Whether the current value is `user:password`.
    pub(super) fn has_password(&self) -> bool {
        let next = self.frames.last().and_then(|frame| frame.next.as_ref());
        next == Some(&Next::UserAndPassword)
    }

    fn open(&mut self, token: Token, zone: Zone) {
        let outer = self.name().into_owned();
        let inner = self.frames.last().is_some_and(|frame| !frame.object);
        self.frames.push(Frame {
            list: List::under(&outer, inner),
            next: None,
            piece: false,
            weighed: false,
            object: token.kind == Kind::BeginObject,
            zone,
            outer,
            start: token.span.start,
            key: String::new(),
            shown: None,
            child: zone,
            index: 0,
            pending: None,
            labels: Vec::new(),
            values: Vec::new(),
            found: (self.found.edits.len(), self.found.hits.len()),
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
        let redactor = self.run.redactor;
        if frame.values.is_empty() || redactor.past || !frame.zone.has_data() {
            return;
        }
        let mut rules = frame.labels.iter();
        let rule = rules.find_map(|label| redactor.locators.by_name(&plain_name(label)));
        let Some(rule) = rule else {
            return;
        };
        for (span, kind) in &frame.values {
            let (span, kind) = (*span, *kind);
            if !may_hold(rule.holds, kind, false) || !holds_something(span.of(self.text)) {
                continue;
            }
            // What was found inside the value goes with it.
            let apart = |other: Span| other.end <= span.start || span.end <= other.start;
            let (edits, hits) = frame.found;
            let inner = self
                .found
                .edits
                .split_off(edits.min(self.found.edits.len()));
            let kept = inner.into_iter().filter(|edit| apart(edit.span));
            self.found.edits.extend(kept);
            let inner = self.found.hits.split_off(hits.min(self.found.hits.len()));
            let kept = inner.into_iter().filter(|hit| apart(hit.span));
            self.found.hits.extend(kept);
            let pointer = format!("{}/value", self.pointer());
            self.replace_at(span, kind, rule, pointer);
        }
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
            frame.next = match short && frame.zone.has_data() {
                true => {
                    let item = decode(unquoted(span).of(self.text));
                    frame.list.after(&item, frame.index)
                }
                false => None,
            };
            frame.index += 1;
            frame.pending = match &frame.next {
                Some(Next::Value(name) | Next::Header(name)) => {
                    redactor.locators.by_name(&plain_name(name))
                }
                _ => None,
            };
            return;
        }
        let is = |names: &[&str]| {
            names
                .iter()
                .any(|name| frame.key.eq_ignore_ascii_case(name))
        };
        if short && is(&["name", "key", "header", "field"]) {
            let label = decode(unquoted(span).of(self.text)).into_owned();
            frame.labels.push(label);
        } else if is(&["value"]) {
            frame.values.push((span, kind));
        }
    }

    /// The name that the next value goes by.
    pub(super) fn name(&self) -> Cow<'_, str> {
        match self.frames.last() {
            None => Cow::Borrowed(&self.start.name),
            Some(frame) if frame.piece => Cow::Borrowed(""),
            Some(frame) => plain_name(effective_name(&frame.outer, &frame.key)),
        }
    }

    /// The place of the current value, as a pointer from where the walk began.
    pub(super) fn pointer(&self) -> String {
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

pub(super) fn unquoted(span: Span) -> Span {
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
