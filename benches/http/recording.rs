//! The recording that is replayed: so many different calls over HTTP, in a form that 0.4.0 reads
//! too, so without rows of exchanges.

use std::fmt::Write as _;

pub(crate) const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#;

/// The call with that number.
pub(crate) fn call(id: usize, number: usize) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"search","arguments":{{"query":"the report of build {number}","limit":10}}}}}}"#
    )
}

/// A recording of so many calls, with answers of about 300 bytes. What is framed as SSE has a
/// log message before each answer, since that is how a recording without rows tells.
pub(crate) fn cassette(calls: usize, sse: bool) -> String {
    let mut out = Writer::default();
    out.message(0, true, INITIALIZE);
    out.message(
        0,
        false,
        r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"bench","version":"1"}}}"#,
    );
    out.message(
        1,
        true,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    );
    let prose = "the report shows that every build of this week passed ".repeat(4);
    for number in 0..calls {
        let (id, exchange) = (number + 1, number + 2);
        out.message(exchange, true, &call(id, number));
        if sse {
            let note = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"at work"}}"#;
            out.message(exchange, false, note);
        }
        let answer = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"{prose}{number}"}}],"isError":false}}}}"#
        );
        out.message(exchange, false, &answer);
    }
    format!(
        "{{\n  \"format_version\": 3,\n  \"recorded_at\": \"2026-11-29T12:00:00.000000Z\",\n  \"transport\": \"http\",\n  \
         \"server_url\": \"http://127.0.0.1:1/mcp\",\n  \"session_id\": \"<SESSION>_0123456789ab\",\n  \
         \"protocol_version\": \"2025-11-25\",\n  \"messages\": [\n{}\n  ]\n}}\n",
        out.text
    )
}

#[derive(Default)]
struct Writer {
    text: String,
    seq: usize,
}

impl Writer {
    fn message(&mut self, exchange: usize, client: bool, payload: &str) {
        let comma = if self.seq == 0 { "" } else { ",\n" };
        let (sender, channel) = if client {
            ("client", "null")
        } else {
            ("server", "\"post\"")
        };
        let member = |name: &str| {
            let value = payload.split_once(&format!("\"{name}\":"));
            value.and_then(|(_, rest)| rest.split(['}', ',']).next())
        };
        // The payloads are those above: a method or an id deeper inside does not occur.
        let method = member("method").unwrap_or("null");
        let id = member("id").unwrap_or("null");
        let kind = match (method, id) {
            ("null", _) => "response",
            (_, "null") => "notification",
            _ => "request",
        };
        let seq = self.seq;
        let _ = write!(
            self.text,
            "{comma}    {{\"seq\": {seq}, \"t_offset_ms\": {seq}, \"sender\": \"{sender}\", \"kind\": \"{kind}\", \
             \"method\": {method}, \"msg_id\": {id}, \"payload\": {payload}, \"redacted\": false, \
             \"exchange\": {exchange}, \"channel\": {channel}}}"
        );
        self.seq += 1;
    }
}
