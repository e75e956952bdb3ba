//! What there is to say about a cassette, computed from one pass over it.

use super::View;
use super::filter::Filter;
use crate::cassette::exchanges::Ended;
use crate::cassette::model::string_value;
use crate::cassette::view::Exchanges;
use crate::cassette::{Cassette, Kind, Message, Sender, Transport};
use crate::command::grep::GrepError;
use crate::diff::collect::Collector;
use crate::diff::surface::Listing;
use crate::secrets::conceal;
use crate::wire::compact;
use crate::wire::json::{Kind as JsonKind, Scanner, Span, Value, decode, member};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// What there is to say about a cassette.
pub(super) struct Inspection<'a> {
    pub(super) cassette: &'a Cassette,
    /// How often each method occurs among the chosen messages.
    pub(super) counts: BTreeMap<String, usize>,
    /// How many messages were chosen.
    pub(super) messages: usize,
    /// From the first chosen message to the last; `None` if there is none.
    pub(super) span_ms: Option<i64>,
    /// Client requests of the whole recording without an answer.
    pub(super) unanswered: usize,
    /// HTTP exchanges of the whole recording that carried a message.
    pub(super) exchanges: usize,
    /// How often each kind of exchange is there, by its row: method, status, framing, and how it
    /// ended if it did not as it should.
    pub(super) exchange_counts: BTreeMap<String, usize>,
    /// Host and port of the recorded server.
    pub(super) server_host: Option<String>,
    /// The tools of the whole recording by name; of several by one name the last.
    pub(super) tools: Vec<Tool<'a>>,
    /// The chosen messages, if they are wanted one by one.
    pub(super) timeline: Option<Vec<Row<'a>>>,
}

/// A tool as the server last listed it.
pub(super) struct Tool<'a> {
    pub(super) name: String,
    /// The description as its JSON token, if it is a string.
    pub(super) description: Option<&'a str>,
    /// How many parameters its input schema has.
    pub(super) args: usize,
}

/// A message of the timeline.
pub(super) struct Row<'a> {
    pub(super) message: Message<'a>,
    /// The size of the payload as compact ASCII JSON; of raw text in characters.
    pub(super) bytes: usize,
}

/// Looks at the messages that the filter wants; tools, exchanges and unanswered
/// requests are those of the whole recording.
pub(super) fn inspect<'a>(
    cassette: &'a Cassette,
    filter: &Filter<'_>,
    view: View,
) -> Result<Inspection<'a>, GrepError> {
    let mut counts = BTreeMap::new();
    let mut chosen = Vec::new();
    for message in cassette.messages() {
        if filter.wants(&message)? {
            *counts.entry(label(&message)).or_insert(0) += 1;
            chosen.push(message);
        }
    }
    let span_ms = match (chosen.first(), chosen.last()) {
        (Some(first), Some(last)) => Some(last.t_offset_ms().saturating_sub(first.t_offset_ms())),
        _ => None,
    };
    let (tools, unanswered) = pairs(cassette);
    let exchanges: BTreeSet<u32> = cassette.messages().filter_map(|m| m.exchange()).collect();
    Ok(Inspection {
        cassette,
        counts,
        messages: chosen.len(),
        span_ms,
        unanswered,
        exchanges: exchanges.len(),
        exchange_counts: exchange_counts(cassette),
        server_host: server_host(cassette),
        tools,
        timeline: (view == View::Timeline).then(|| chosen.into_iter().map(row).collect()),
    })
}

fn exchange_counts(cassette: &Cassette) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for row in cassette.exchanges() {
        let method = conceal::name(&row.http_method);
        let mut kind = format!("{method} {} {}", row.status, row.framing.as_str());
        if row.ended != Ended::Complete {
            kind.push(' ');
            kind.push_str(row.ended.as_str());
        }
        *counts.entry(kind).or_insert(0) += 1;
    }
    counts
}

/// The method, or the kind of a message that has none.
fn label(message: &Message<'_>) -> String {
    match message.method() {
        Some(method) => conceal::name(&method).into_owned(),
        None => format!("<{}>", message.kind().as_str()),
    }
}

fn row(message: Message<'_>) -> Row<'_> {
    let bytes = match (message.kind(), raw_text(&message)) {
        (Kind::Raw, Some(text)) => text.chars().count(),
        _ => compact::ascii_len(message.text, message.row.payload),
    };
    Row { message, bytes }
}

/// Host and port of the recorded URL. User name and password are left out: the
/// recorder never stores them, and a cassette edited by hand must not show them.
fn server_host(cassette: &Cassette) -> Option<String> {
    if cassette.transport() != Transport::Http {
        return None;
    }
    let url = cassette.server_url()?;
    let (_, rest) = url.split_once("//")?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    (!host.is_empty()).then(|| host.to_owned())
}

/// The tools that were listed, and how many client requests had no answer. What
/// counts as a listing is the same as for `diff` and `lint`.
fn pairs(cassette: &Cassette) -> (Vec<Tool<'_>>, usize) {
    let text = &cassette.text;
    let mut exchanges = Exchanges::new(cassette);
    let mut collector = Collector::new(cassette);
    for paired in exchanges.by_ref() {
        collector.take(&paired);
    }
    let recorded = collector.finish();
    let mut tools: BTreeMap<String, Tool<'_>> = BTreeMap::new();
    for occurrence in recorded.all(Listing::Tools) {
        let string = |name| {
            member(text, occurrence.span, name).filter(|value| value.kind == JsonKind::String)
        };
        let Some(name) = string("name") else { continue };
        let name = string_value(name.span.of(text)).unwrap_or_default();
        let tool = Tool {
            name: name.into_owned(),
            description: string("description").map(|value| value.span.of(text)),
            args: argument_count(text, occurrence.span),
        };
        tools.insert(tool.name.clone(), tool);
    }
    let unanswered = exchanges
        .unanswered()
        .into_iter()
        .filter_map(|index| cassette.message(index))
        .filter(|message| message.sender() == Sender::Client)
        .count();
    (tools.into_values().collect(), unanswered)
}

fn argument_count(text: &str, tool: Span) -> usize {
    let properties = member(text, tool, "inputSchema")
        .and_then(|schema| member(text, schema.span, "properties"));
    let mut names = HashSet::new();
    if let Some(properties) = properties {
        each_member(text, properties.span, |name, _| {
            names.insert(name.to_owned());
        });
    }
    names.len()
}

/// Calls `each` with every member if the value at `object` is an object.
fn each_member(text: &str, object: Span, mut each: impl FnMut(&str, Value)) {
    let mut scanner = Scanner::over(text, object);
    if !matches!(scanner.require(), Ok(token) if token.kind == JsonKind::BeginObject) {
        return;
    }
    while let Ok(Some(key)) = scanner.next_key() {
        let Ok(value) = scanner.value() else { return };
        each(&decode(key.inner().of(text)), value);
    }
}

/// The text of a payload that is a string: what was on the wire and is no JSON object.
pub(super) fn raw_text<'a>(message: &Message<'a>) -> Option<Cow<'a, str>> {
    string_value(message.payload())
}
