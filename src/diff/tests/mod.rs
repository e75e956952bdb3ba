//! Tests of the comparison as a whole. [`Session`] writes small cassettes.

mod drift;
mod findings;
mod impact;
mod laws;
mod surfaces;
mod texts;
mod traffic;

use super::{Change, Diff, DiffOptions, diff};
use crate::cassette::Cassette;

/// A cassette in the making.
#[derive(Clone)]
pub(crate) struct Session {
    head: String,
    messages: Vec<String>,
    ids: u32,
}

impl Session {
    pub(crate) fn new() -> Self {
        Session {
            head: r#""transport": "stdio", "protocol_version": "2025-06-18""#.to_owned(),
            messages: Vec::new(),
            ids: 0,
        }
    }

    /// With these members in place of the usual head.
    pub(crate) fn head(mut self, members: &str) -> Self {
        self.head = members.to_owned();
        self
    }

    /// One message, with a payload as JSON.
    pub(crate) fn message(mut self, sender: &str, payload: &str) -> Self {
        let seq = self.messages.len();
        let kind = if payload.starts_with('"') {
            "raw"
        } else {
            "request"
        };
        self.messages.push(format!(
            r#"{{"seq": {seq}, "t_offset_ms": {seq}, "sender": "{sender}", "kind": "{kind}", "payload": {payload}}}"#
        ));
        self
    }

    /// A request with these params, and its result.
    pub(crate) fn call(mut self, method: &str, params: &str, result: &str) -> Self {
        self.ids += 1;
        let id = self.ids;
        self.message(
            "client",
            &format!(
                r#"{{"jsonrpc": "2.0", "id": {id}, "method": "{method}", "params": {params}}}"#
            ),
        )
        .message(
            "server",
            &format!(r#"{{"jsonrpc": "2.0", "id": {id}, "result": {result}}}"#),
        )
    }

    /// A whole listing of tools on one page.
    pub(crate) fn tools(self, tools: &[&str]) -> Self {
        let result = format!(r#"{{"tools": [{}]}}"#, tools.join(", "));
        self.call("tools/list", "{}", &result)
    }

    /// A page of tools: the request's cursor and the next one, as JSON.
    pub(crate) fn page(self, cursor: &str, tools: &[&str], next: &str) -> Self {
        let result = format!(
            r#"{{"tools": [{}], "nextCursor": {next}}}"#,
            tools.join(", ")
        );
        self.call("tools/list", &format!(r#"{{"cursor": {cursor}}}"#), &result)
    }

    /// A handshake.
    pub(crate) fn initialize(self, result: &str) -> Self {
        self.call("initialize", "{}", result)
    }

    pub(crate) fn text(&self) -> String {
        format!(
            "{{\"format_version\": 3, {}, \"messages\": [\n{}\n]}}",
            self.head,
            self.messages.join(",\n")
        )
    }

    pub(crate) fn cassette(&self) -> Cassette {
        Cassette::parse("test.mcp.json", self.text().into_bytes()).expect("a valid cassette")
    }
}

/// A tool without parameters.
pub(crate) fn tool(name: &str, description: &str) -> String {
    format!(
        r#"{{"name": "{name}", "description": "{description}", "inputSchema": {{"type": "object"}}}}"#
    )
}

/// A tool with these other members.
pub(crate) fn tool_with(name: &str, members: &str) -> String {
    format!(r#"{{"name": "{name}", {members}}}"#)
}

/// The difference of all that is compared.
pub(crate) fn full(old: &Session, new: &Session) -> Diff {
    diff(&old.cassette(), &new.cassette(), &DiffOptions::default()).expect("comparable cassettes")
}

/// The difference of the tools.
pub(crate) fn tools_only(old: &Session, new: &Session) -> Diff {
    let options = DiffOptions { tools_only: true };
    diff(&old.cassette(), &new.cassette(), &options).expect("comparable cassettes")
}

/// Changes as `name kind impact`.
pub(crate) fn summary(changes: &[Change]) -> Vec<String> {
    let line = |change: &Change| {
        let (kind, impact) = (change.kind.as_str(), change.impact.as_str());
        format!("{} {kind} {impact}", change.name)
    };
    changes.iter().map(line).collect()
}

/// Details of all changes as `impact: text`.
pub(crate) fn details(changes: &[Change]) -> Vec<String> {
    let details = changes.iter().flat_map(|change| &change.details);
    details
        .map(|detail| format!("{}: {}", detail.impact.as_str(), detail.text))
        .collect()
}
