//! Messages that two readers could understand differently, or that we cannot read
//! while somebody else might. Lint reports them and `diff` refuses them: what was
//! not read was not compared either.

use super::model::{Cassette, Sender, string_value};
use super::view::{Paired, Role};
use crate::wire::json::{Kind, Scanner, Span, decode};
use crate::wire::mcp::method;
use std::borrow::Cow;

/// Why a message cannot be relied on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// A batch that was recorded as one text.
    RawBatch,
    /// A text that a lenient reader takes for a message.
    RawMessage,
    /// A request and a response in one.
    BothWays,
    /// A client that describes a server.
    ClientAnswers,
    /// A server that asks what only servers are asked.
    ServerAsks,
}

impl Doubt {
    /// What is wrong, for a message.
    pub(crate) fn problem(self) -> &'static str {
        match self {
            Doubt::RawBatch => {
                "a batch was recorded as raw text, so its messages were not checked; record the \
                 session again"
            }
            Doubt::RawMessage => {
                "a line looks like a protocol message but is not one JSON value, so what it says \
                 was not checked; a lenient client could read it"
            }
            Doubt::BothWays => {
                "a message has a method and a result or an error: one reader could take it for a \
                 request and another for a response"
            }
            Doubt::ClientAnswers => {
                "the client sends what only servers say of themselves: the sender is recorded \
                 wrong, so the message was not checked as the server's"
            }
            Doubt::ServerAsks => {
                "the server asks what only servers are asked: the sender is recorded wrong, so \
                 nothing shows who answered"
            }
        }
    }

    /// The kind of place, for a report.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Doubt::RawBatch => "raw batch",
            Doubt::RawMessage => "raw message",
            Doubt::BothWays | Doubt::ClientAnswers | Doubt::ServerAsks => "message",
        }
    }
}

/// What is doubtful about a message as a whole. Repeated members are not: see
/// [`Envelope::doubtful`](super::view::Envelope::doubtful).
pub(crate) fn of(cassette: &Cassette, paired: &Paired) -> Option<Doubt> {
    let text = &cassette.text;
    let row = cassette.rows.get(paired.index as usize)?;
    let envelope = &paired.envelope;
    let said = |span: Option<Span>| span.is_some_and(|span| span.of(text) != "null");
    let answers = said(envelope.result) || said(envelope.error);
    match (row.sender, paired.role) {
        (_, Role::Raw) => of_raw(&string_value(row.payload.of(text))?),
        _ if envelope.method.is_some() && answers => Some(Doubt::BothWays),
        (Sender::Client, Role::Response) => envelope
            .describes_a_server()
            .then_some(Doubt::ClientAnswers),
        (Sender::Server, Role::Request) => {
            let method = envelope.method_name(text)?;
            asks_a_server(&method).then_some(Doubt::ServerAsks)
        }
        _ => None,
    }
}

fn asks_a_server(name: &str) -> bool {
    [
        method::INITIALIZE,
        method::DISCOVER,
        method::TOOLS_LIST,
        method::TOOLS_CALL,
        method::PROMPTS_LIST,
        method::PROMPTS_GET,
        method::RESOURCES_LIST,
        method::TEMPLATES_LIST,
        method::RESOURCES_READ,
    ]
    .contains(&name)
}

/// What is doubtful about a line that is no JSON object by itself.
fn of_raw(line: &str) -> Option<Doubt> {
    let body = without_lead(line);
    if !body.starts_with(['{', '[']) {
        return None;
    }
    match is_batch(body) {
        Some(true) if body.starts_with('[') => Some(Doubt::RawBatch),
        Some(true) => Some(Doubt::RawMessage),
        // JSON without a message in it: a lenient reader sees the same.
        Some(false) => None,
        None => is_lenient_message(body).then_some(Doubt::RawMessage),
    }
}

/// The text after what lenient readers skip: white space, controls, byte order marks,
/// zero-width characters and comments.
fn without_lead(line: &str) -> &str {
    let skipped = |c: char| {
        c.is_whitespace()
            || c.is_control()
            || matches!(c, '\u{feff}' | '\u{200b}'..='\u{200f}' | '\u{2060}')
    };
    let mut rest = line.trim_start_matches(skipped);
    while let Some(comment) = rest.strip_prefix("/*") {
        let Some((_, after)) = comment.split_once("*/") else {
            break;
        };
        rest = after.trim_start_matches(skipped);
    }
    rest
}

/// Whether a JSON text has a message anywhere in it; `None` if it is not JSON.
fn is_batch(text: &str) -> Option<bool> {
    let mut scanner = Scanner::new(text);
    let mut found = false;
    while let Some(token) = scanner.next_token().ok()? {
        found |= token.kind == Kind::Key && is_ours(&decode(token.inner().of(text)));
    }
    Some(found)
}

fn is_ours(name: &str) -> bool {
    const MEMBERS: [&str; 5] = ["jsonrpc", "method", "result", "params", "error"];
    MEMBERS.iter().any(|own| own.eq_ignore_ascii_case(name))
}

/// Whether a text that is no JSON begins like an object, or like an array of them,
/// and names a member of a message. A log line that begins with `[INFO]` does not.
fn is_lenient_message(text: &str) -> bool {
    let inside = text.trim_start_matches(|c: char| c == '[' || c.is_whitespace());
    if !inside.starts_with('{') {
        return false;
    }
    // An escape in a name hides it from a search, not from a reader.
    let text: Cow<'_, str> = if inside.contains("\\u") {
        Cow::Owned(unescaped(inside))
    } else {
        Cow::Borrowed(inside)
    };
    let names = text.split(':').filter_map(|part| {
        let part = part.trim_end();
        let part = part.trim_end_matches(['"', '\'']);
        part.rsplit(|c: char| !c.is_ascii_alphanumeric()).next()
    });
    names.into_iter().any(is_ours)
}

/// Letters written as `\u00XX`, put back. Nothing else is an escape here: the text
/// is no JSON, so there is no telling where its strings begin.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\\u00") {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let code = escape
            .get(4..6)
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match code {
            Some(code) => {
                out.push(char::from(code));
                rest = escape.get(6..).unwrap_or_default();
            }
            None => {
                out.push_str("\\u00");
                rest = escape.get(4..).unwrap_or_default();
            }
        }
    }
    out.push_str(rest);
    out
}

/// The name of a member that another reader could take for another one, and why.
pub(crate) fn about_member(text: &str, name: Span) -> String {
    let inner = Span {
        start: name.start + 1,
        end: name.end.saturating_sub(1),
    };
    format!(
        "the member \"{}\" stands twice or differs from one of the protocol by the case of its \
         letters: two readers could see two different answers",
        decode(inner.of(text))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_a_lenient_reader_takes_for_a_message_is_told_from_a_log_line() {
        for line in [
            "\u{feff}{\"jsonrpc\": \"2.0\", \"id\": 1, \"result\": {}}",
            r#"{"id": 1, "result": {"tools": [], "ttl": NaN}}"#,
            r#"{"id": 1, "result": {"tools": [],}}"#,
            r#"{"id": 1}{"id": 1, "result": {}}"#,
            r#"{'id': 1, 'result': {}}"#,
            r#"{id: 1, result : {}}"#,
            r#"{"id": 1, "\u0072esult": {"a": NaN}}"#,
            r#"/* x */ {"id": 1, "Result": {}} x"#,
            r#"[ {"id": 1, "result": {}}, ]"#,
            "\u{1e}{\"method\": \"x\",}",
        ] {
            assert_eq!(of_raw(line), Some(Doubt::RawMessage), "{line}");
        }
        for line in [
            r#"[{"id": 1, "result": {}}]"#,
            r#"[[{"id": 1, "result": {}}]]"#,
            r#"[1, {"method": "x"}]"#,
        ] {
            assert_eq!(of_raw(line), Some(Doubt::RawBatch), "{line}");
        }
        for line in [
            "",
            "Chatty server 2.1, listening on stdio",
            "[INFO] method: tools/list, result: ok",
            r#"2026-11-29 DEBUG sent {"jsonrpc": "2.0", "id": 1, "result": {}}"#,
            r#"[11:20] {"jsonrpc": "2.0"}"#,
            "{}{}",
            "[1, 2, 3]",
            "{ratio: 5 / result}",
            "{\"level\": \"info\", \"note\": NaN}",
        ] {
            assert_eq!(of_raw(line), None, "{line}");
        }
    }
}
