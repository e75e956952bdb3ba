//! What `inspect` prints, as text and as JSON.
//!
//! The lines, columns and members are those of mcp-cassette 0.4.0. Recorded text
//! is made harmless first: it must neither move a terminal's cursor nor look like
//! a command to a CI runner. Of a secret no more than six characters are shown.

use super::View;
use super::summary::{Inspection, Row, Tool};
use crate::cassette::model::string_value;
use crate::cassette::{Cassette, Sender, Transport};
use crate::replay::faults::{DryRun, Hit};
use crate::report::{guard_runner, visible};
use crate::secrets::conceal;
use serde::Serialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};

/// One of the text views. For a GitHub Actions runner it is wrapped so that the
/// runner looks for no command in it.
pub(super) fn text(
    inspection: &Inspection<'_>,
    view: View,
    faults: Option<&DryRun>,
    github_actions: bool,
) -> String {
    let mut out = String::new();
    match view {
        View::Summary => summary(inspection, &mut out),
        View::Timeline => {
            let http = inspection.cassette.transport() == Transport::Http;
            timeline(inspection.timeline.iter().flatten(), http, &mut out);
        }
        View::Tools => inspection
            .tools
            .iter()
            .for_each(|tool| tool_line(tool, &mut out)),
    }
    if let Some(dry_run) = faults {
        fault_lines(dry_run, &mut out);
    }
    if github_actions && !out.is_empty() {
        return guard_runner(&out);
    }
    out
}

fn fault_lines(dry_run: &DryRun, out: &mut String) {
    out.push_str("fault overlay dry-run:\n");
    for Hit { seq, method, kind } in &dry_run.hits {
        let method = harmless(&conceal::name(method));
        let _ = writeln!(out, "  seq {seq} {method} -> {kind}");
    }
    for warning in &dry_run.warnings {
        let _ = writeln!(out, "  WARNING: {}", harmless(&conceal::name(warning)));
    }
}

fn summary(inspection: &Inspection<'_>, out: &mut String) {
    let cassette = inspection.cassette;
    let mut line = |name: &str, value: &dyn Display| {
        let _ = writeln!(out, "{name}: {}", harmless(&value.to_string()));
    };
    line("cassette", &cassette.name());
    line("format_version", &cassette.format_version());
    line("transport", &cassette.transport().as_str());
    if let Some(recorded_at) = cassette.recorded_at() {
        line("recorded_at", &conceal::name(&recorded_at));
    }
    if cassette.transport() == Transport::Http {
        if let Some(host) = &inspection.server_host {
            line("server host", &conceal::name(host));
        }
        line("exchanges", &inspection.exchanges);
        for (kind, count) in &inspection.exchange_counts {
            line(&format!("  {}", harmless(kind)), count);
        }
    }
    if let Some(version) = cassette.protocol_version().filter(|v| !v.is_empty()) {
        line("protocol_version", &conceal::name(&version));
    }
    if let Some((name, version)) = cassette.server_info() {
        let (name, version) = (conceal::name(&name), conceal::name(&version));
        line("server", &format_args!("{name} {version}"));
    }
    line("messages", &inspection.messages);
    for (method, count) in &inspection.counts {
        line(&format!("  {}", harmless(method)), count);
    }
    if let Some(span) = inspection.span_ms {
        line("timing span", &format_args!("{span} ms"));
    }
    if inspection.unanswered > 0 {
        let what = "the recording holds no answer to them, so a replay has none either";
        line(
            "unanswered requests",
            &format_args!("{} ({what})", inspection.unanswered),
        );
    }
}

fn timeline<'a>(rows: impl Iterator<Item = &'a Row<'a>>, http: bool, out: &mut String) {
    let head = [
        "seq",
        "t_offset_ms",
        "dir",
        "kind",
        "method",
        "id",
        "bytes",
        "exch",
        "chan",
    ];
    timeline_row(&head.map(str::to_owned), http, out);
    for Row { message, bytes } in rows {
        let dash = || "-".to_owned();
        let id = message.id().map(|token| match string_value(token) {
            Some(text) => harmless(&conceal::name(&text)),
            None => conceal::name(token).into_owned(),
        });
        let cells = [
            message.seq().to_string(),
            message.t_offset_ms().to_string(),
            match message.sender() {
                Sender::Client => "->".to_owned(),
                Sender::Server => "<-".to_owned(),
            },
            message.kind().as_str().to_owned(),
            message
                .method()
                .map_or_else(dash, |method| harmless(&conceal::name(&method))),
            id.unwrap_or_else(dash),
            bytes.to_string(),
            message
                .exchange()
                .map_or_else(dash, |exchange| exchange.to_string()),
            message
                .channel()
                .map_or_else(dash, |channel| channel.as_str().to_owned()),
        ];
        timeline_row(&cells, http, out);
    }
}

fn timeline_row(cells: &[String; 9], http: bool, out: &mut String) {
    let [
        seq,
        offset,
        direction,
        kind,
        method,
        id,
        bytes,
        exchange,
        channel,
    ] = cells;
    let _ = write!(
        out,
        "{seq:<5} {offset:>11}  {direction:<3}  {kind:<12}  {method:<24} {id:<8} {bytes:>7}"
    );
    if http {
        let _ = write!(out, "  {exchange:>5} {channel:<5}");
    }
    out.push('\n');
}

fn tool_line(tool: &Tool<'_>, out: &mut String) {
    let description = tool.description.and_then(string_value).unwrap_or_default();
    // A key of several lines is known by all of them.
    let description = unless_secret(&description);
    let first = description.split('\n').next().unwrap_or_default();
    let first = first.strip_suffix('\r').unwrap_or(first);
    let _ = writeln!(
        out,
        "{}  ({} args)  {}",
        at_line_start(&conceal::name(&tool.name)),
        tool.args,
        harmless(first)
    );
}

/// A text with its secrets cut.
fn unless_secret(text: &str) -> Cow<'_, str> {
    let mut shown = text.to_owned();
    conceal::conceal(&mut shown);
    if shown == text {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(shown)
    }
}

/// Recorded text inside a line.
fn harmless(text: &str) -> String {
    // The older syntax of a runner's commands is obeyed anywhere in a line.
    visible(text).replace("##[", "##\\u{5b}")
}

/// Recorded text that begins a line, where `::name` would be a command.
fn at_line_start(text: &str) -> String {
    let text = harmless(text);
    let command = text.trim_start();
    if command.starts_with("::") {
        let indent = text.len() - command.len();
        let (before, colons) = text.split_at(indent);
        return format!("{before}\\u{{3a}}{}", colons.get(1..).unwrap_or_default());
    }
    text
}

/// The JSON document: everything except the timeline, unless that was asked for.
///
/// It is written in ASCII, as 0.4.0 did, so that nothing in it can act on a terminal.
pub(super) fn json(inspection: &Inspection<'_>, faults: Option<&DryRun>) -> String {
    let mut document = Document::from(inspection);
    document.faults = faults.map(|dry_run| Faults {
        hits: dry_run.hits.iter().map(FaultEntry::from).collect(),
        warnings: dry_run
            .warnings
            .iter()
            .map(|text| conceal::name(text))
            .collect(),
    });
    let written = serde_json::to_string_pretty(&document);
    debug_assert!(written.is_ok(), "writing to memory cannot fail");
    let mut text = ascii(&written.unwrap_or_default());
    text.push('\n');
    text
}

/// Outside of strings JSON is ASCII already, so whatever is not may be escaped.
/// So is the bracket of a runner's `##[`, which can only stand in a string too.
fn ascii(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '[' if out.ends_with("##") => out.push_str("\\u005b"),
            '\n' | ' '..='~' => out.push(c),
            c => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out
}

#[derive(Serialize)]
struct Document<'a> {
    cassette: &'a str,
    format_version: u32,
    message_counts: &'a BTreeMap<String, usize>,
    messages: usize,
    protocol_version: Option<String>,
    recorded_at: Option<String>,
    server_info: Option<ServerInfo>,
    timing_span_ms: i64,
    tools: Vec<ToolEntry<'a>>,
    transport: &'static str,
    unanswered_requests: usize,
    #[serde(flatten)]
    http: Option<Http<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeline: Option<Vec<TimelineEntry<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    faults: Option<Faults<'a>>,
}

/// What `--faults` shows.
#[derive(Serialize)]
struct Faults<'a> {
    hits: Vec<FaultEntry<'a>>,
    warnings: Vec<Cow<'a, str>>,
}

#[derive(Serialize)]
struct FaultEntry<'a> {
    seq: i64,
    method: Cow<'a, str>,
    #[serde(rename = "type")]
    kind: &'static str,
}

impl<'a> From<&'a Hit> for FaultEntry<'a> {
    fn from(hit: &'a Hit) -> Self {
        FaultEntry {
            seq: hit.seq,
            method: conceal::name(&hit.method),
            kind: hit.kind,
        }
    }
}

#[derive(Serialize)]
struct ServerInfo {
    name: String,
    version: String,
}

#[derive(Serialize)]
struct ToolEntry<'a> {
    name: Cow<'a, str>,
    description: Option<Cow<'a, RawValue>>,
    args: usize,
}

/// The members that only an HTTP recording has.
#[derive(Serialize)]
struct Http<'a> {
    server_host: Option<Cow<'a, str>>,
    exchanges: usize,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    exchange_counts: &'a BTreeMap<String, usize>,
}

#[derive(Serialize)]
struct TimelineEntry<'a> {
    seq: i64,
    t_offset_ms: i64,
    sender: &'static str,
    kind: &'static str,
    method: Option<String>,
    id: Option<Cow<'a, RawValue>>,
    bytes: usize,
    exchange: Option<u32>,
    channel: Option<&'static str>,
}

impl<'a> From<&'a Inspection<'a>> for Document<'a> {
    fn from(inspection: &'a Inspection<'a>) -> Self {
        let cassette: &Cassette = inspection.cassette;
        let http = cassette.transport() == Transport::Http;
        Document {
            cassette: cassette.name(),
            format_version: cassette.format_version(),
            message_counts: &inspection.counts,
            messages: inspection.messages,
            protocol_version: cassette.protocol_version().map(|v| shown_name(&v)),
            recorded_at: cassette.recorded_at().map(|at| shown_name(&at)),
            server_info: cassette.server_info().map(|(name, version)| ServerInfo {
                name: shown_name(&name),
                version: shown_name(&version),
            }),
            timing_span_ms: inspection.span_ms.unwrap_or(0),
            tools: inspection.tools.iter().map(ToolEntry::from).collect(),
            transport: cassette.transport().as_str(),
            unanswered_requests: inspection.unanswered,
            http: http.then_some(Http {
                server_host: inspection.server_host.as_deref().map(conceal::name),
                exchanges: inspection.exchanges,
                exchange_counts: &inspection.exchange_counts,
            }),
            timeline: inspection
                .timeline
                .as_ref()
                .map(|rows| rows.iter().map(TimelineEntry::from).collect()),
            faults: None,
        }
    }
}

impl<'a> From<&'a Tool<'a>> for ToolEntry<'a> {
    fn from(tool: &'a Tool<'a>) -> Self {
        ToolEntry {
            name: conceal::name(&tool.name),
            description: tool.description.and_then(|text| token(text, unless_secret)),
            args: tool.args,
        }
    }
}

impl<'a> From<&'a Row<'a>> for TimelineEntry<'a> {
    fn from(row: &'a Row<'a>) -> Self {
        let message = &row.message;
        TimelineEntry {
            seq: message.seq(),
            t_offset_ms: message.t_offset_ms(),
            sender: message.sender().as_str(),
            kind: message.kind().as_str(),
            method: message.method().map(|method| shown_name(&method)),
            id: message.id().and_then(|id| token(id, conceal::name)),
            bytes: row.bytes,
            exchange: message.exchange(),
            channel: message.channel().map(|channel| channel.as_str()),
        }
    }
}

fn shown_name(name: &str) -> String {
    conceal::name(name).into_owned()
}

/// A token of the file, to be written with the spelling that it has there unless
/// something of it is not shown.
fn token(written: &str, shown: fn(&str) -> Cow<'_, str>) -> Option<Cow<'_, RawValue>> {
    if let Some(text) = string_value(written)
        && let Cow::Owned(cut) = shown(&text)
    {
        return serde_json::value::to_raw_value(&cut).ok().map(Cow::Owned);
    }
    serde_json::from_str(written).ok().map(Cow::Borrowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_text_cannot_speak_to_a_runner() {
        assert_eq!(at_line_start("::error::x"), "\\u{3a}:error::x");
        assert_eq!(at_line_start("  ::error::x"), "  \\u{3a}:error::x");
        assert_eq!(at_line_start("a::b"), "a::b");
        assert_eq!(harmless("x ##[error]y\n::z"), "x ##\\u{5b}error]y\\n::z");
    }

    #[test]
    fn json_is_ascii_and_says_the_same() {
        let json = ascii("{\n  \"a\": \"é\u{1f600}\u{7f} ##[x\"\n}");
        assert_eq!(
            json,
            "{\n  \"a\": \"\\u00e9\\ud83d\\ude00\\u007f ##\\u005bx\"\n}"
        );
    }
}
