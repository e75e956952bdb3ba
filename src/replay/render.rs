//! Messages as bytes: recorded ones with the live ids in them, and the few of our own.

use super::raw::RawAnswer;
use crate::cassette::model::Row;
use crate::wire::compact::push_compact;
use crate::wire::json::{Kind, Scanner, Span, decode, member, nested, write_string};
use crate::wire::mcp::{method, name};

/// What a recorded message is rewritten for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rewriting<'a> {
    /// The live id, as a token.
    pub(super) id: Option<&'a str>,
    /// The live progress token.
    pub(super) progress: Option<&'a str>,
    /// The protocol version to claim, as a token.
    pub(super) version: Option<&'a str>,
    /// Whether messages may name the request by its id in `_meta`.
    pub(super) subscriptions: bool,
}

/// A recorded answer on one line. Only the tokens that change are written anew.
pub(super) fn answer(text: &str, row: &Row, rewriting: Rewriting<'_>) -> Vec<u8> {
    if let (Some(id), Some(raw)) = (rewriting.id, RawAnswer::read(row.payload.of(text))) {
        return raw.with_id(id);
    }
    let mut changed = Vec::new();
    let mut scanner = Scanner::over(text, row.payload);
    if scanner.require().is_ok() {
        while let Ok(Some(key)) = scanner.next_key() {
            let Ok(value) = scanner.value() else { break };
            match &*decode(key.inner().of(text)) {
                // An error about a request that could not be read names none.
                "id" if value.kind == Kind::Null => {}
                "id" => changed.extend(rewriting.id.map(|id| (value.span, id))),
                "result" => in_result(text, value.span, rewriting, &mut changed),
                _ => {}
            }
        }
    }
    compact(text, row.payload, changed)
}

fn in_result<'a>(
    text: &str,
    result: Span,
    rewriting: Rewriting<'a>,
    changed: &mut Vec<(Span, &'a str)>,
) {
    if let Some(version) = rewriting.version
        && let Some(value) = member(text, result, name::PROTOCOL_VERSION)
    {
        changed.push((value.span, version));
    }
    if rewriting.subscriptions
        && let Some(id) = rewriting.id
        && let Some(value) = nested(text, result, &[name::META, name::SUBSCRIPTION_ID])
    {
        changed.push((value.span, id));
    }
}

/// A recorded request or notification of the server; `None` for one that the live client did not
/// ask for.
pub(super) fn said(text: &str, row: &Row, rewriting: Rewriting<'_>) -> Option<Vec<u8>> {
    let mut changed = Vec::new();
    if is_method(text, row, method::PROGRESS) {
        let token = rewriting.progress?;
        let path = ["params", name::PROGRESS_TOKEN];
        changed.extend(nested(text, row.payload, &path).map(|value| (value.span, token)));
    } else if rewriting.subscriptions
        && let Some(id) = rewriting.id
    {
        let path = ["params", name::META, name::SUBSCRIPTION_ID];
        changed.extend(nested(text, row.payload, &path).map(|value| (value.span, id)));
    }
    Some(compact(text, row.payload, changed))
}

/// Whether a message has that method.
pub(super) fn is_method(text: &str, row: &Row, method: &str) -> bool {
    member(text, row.payload, "method").is_some_and(|value| {
        value.kind == Kind::String
            && value.span.of(text).get(1..value.span.len() - 1) == Some(method)
    })
}

/// A message with other tokens in the place of some.
pub(super) fn compact(text: &str, payload: Span, mut changed: Vec<(Span, &str)>) -> Vec<u8> {
    changed.sort_unstable_by_key(|(span, _)| *span);
    let mut out = Vec::with_capacity(payload.len() + 64);
    push_compact(text, payload, &changed, &mut out);
    out
}

/// An error of our own. `data` is JSON.
pub(super) fn error(id: &str, code: i64, message: &str, data: Option<&str>) -> Vec<u8> {
    let mut out =
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":{code},\"message\":");
    write_string(message, &mut out);
    if let Some(data) = data {
        out.push_str(",\"data\":");
        out.push_str(data);
    }
    out.push_str("}}");
    out.into_bytes()
}

/// A result of our own, which is JSON.
pub(super) fn result(id: &str, result: &str) -> Vec<u8> {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}").into_bytes()
}
