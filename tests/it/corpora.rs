//! The corpora in `tests/corpora/`: their lines, the recordings that are made of them, and
//! the rows of `docs/detection.md` that each counts in.

use std::fs;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::support::{cassette, message, root, session};

/// The languages that each corpus of this project covers.
pub(crate) const LANGUAGES: [&str; 20] = [
    "ar", "de", "en", "es", "fa", "fr", "he", "hi", "id", "it", "ja", "ko", "nl", "pl", "pt", "ru",
    "tr", "uk", "vi", "zh",
];

/// The corpora: the heading of each, its attacks and its honest texts.
pub(crate) const SECTIONS: [(&str, &str, &str); 4] = [
    ("Corpus of this project", "attacks.jsonl", "innocent.jsonl"),
    (
        "Second corpus of this project",
        "second-attacks.jsonl",
        "second-innocent.jsonl",
    ),
    (
        "Third corpus of this project",
        "third-attacks.jsonl",
        "third-innocent.jsonl",
    ),
    (
        "Development corpus",
        "dev-attacks.jsonl",
        "dev-innocent.jsonl",
    ),
];

/// One line of a corpus.
#[derive(Deserialize)]
pub(crate) struct Entry {
    pub(crate) id: String,
    pub(crate) surface: String,
    pub(crate) text: String,
    pub(crate) path: String,
    pub(crate) lang: String,
    pub(crate) difficulty: String,
    /// Of an attack.
    #[serde(default)]
    pub(crate) technique: String,
    /// Of an honest text.
    #[serde(default)]
    pub(crate) why_suspicious: String,
    /// As it stood on the wire, byte for byte.
    pub(crate) object: Box<RawValue>,
}

pub(crate) fn is_tool(entry: &Entry) -> bool {
    let object: Value = serde_json::from_str(entry.object.get()).unwrap();
    object.get("inputSchema").is_some()
}

pub(crate) fn copy(entry: &Entry) -> Entry {
    Entry {
        id: entry.id.clone(),
        surface: entry.surface.clone(),
        text: entry.text.clone(),
        path: entry.path.clone(),
        lang: entry.lang.clone(),
        difficulty: entry.difficulty.clone(),
        technique: entry.technique.clone(),
        why_suspicious: entry.why_suspicious.clone(),
        object: entry.object.clone(),
    }
}

/// The text in the other places of definitions and of requests.
pub(crate) fn elsewhere(text: &str) -> Vec<(&'static str, Value)> {
    let tool = |schema: Value| json!({"name": "a", "description": "Adds.", "inputSchema": schema});
    let parameter =
        |parameter: Value| tool(json!({"type": "object", "properties": {"b": parameter}}));
    let message = json!([{"role": "user", "content": {"type": "text", "text": text}}]);
    vec![
        (
            "parameter",
            parameter(json!({"type": "string", "description": text})),
        ),
        ("enum", parameter(json!({"enum": ["c", text]}))),
        ("default", parameter(json!({"default": text}))),
        ("example", parameter(json!({"examples": [text]}))),
        ("comment", tool(json!({"type": "object", "$comment": text}))),
        (
            "title",
            json!({"name": "a", "title": text, "inputSchema": {"type": "object"}}),
        ),
        (
            "instructions",
            json!({"serverInfo": {"name": "a", "version": "1"}, "instructions": text}),
        ),
        ("prompt", json!({"name": "a", "description": text})),
        (
            "argument",
            json!({"name": "a", "arguments": [{"name": "b", "description": text}]}),
        ),
        (
            "template",
            json!({"uriTemplate": "a://{b}", "name": "b", "description": text}),
        ),
        (
            "sampling",
            json!({"method": "sampling/createMessage", "params": {"messages": message}}),
        ),
        (
            "system prompt",
            json!({"method": "sampling/createMessage", "params": {"systemPrompt": text}}),
        ),
        (
            "elicitation",
            json!({"method": "elicitation/create", "params": {"message": text}}),
        ),
    ]
}

/// The rows that an entry counts in, each with its place among the others.
pub(crate) fn rows(entry: &Entry) -> Vec<(usize, String)> {
    let object: Value = serde_json::from_str(entry.object.get()).unwrap();
    // A definition is what a server says of itself before anything is called.
    let answers = ["content", "contents", "messages", "error", "method"];
    let defines = answers.iter().all(|member| object.get(member).is_none());
    let part = if defines {
        "definitions and instructions"
    } else {
        "results and messages"
    };
    let difficulty = ["easy", "medium", "hard"];
    let place = difficulty.iter().position(|name| *name == entry.difficulty);
    [
        (0, "all".to_owned()),
        (1 + place.unwrap(), entry.difficulty.clone()),
        (4 + usize::from(!defines), part.to_owned()),
        (8, format!("surface `{}`", entry.surface)),
        (9, format!("language `{}`", entry.lang)),
    ]
    .into_iter()
    .chain(half(entry))
    .collect()
}

/// The rows of the half of a corpus of this project that the entry belongs to.
fn half(entry: &Entry) -> Vec<(usize, String)> {
    // The development corpus was in view as a whole.
    if entry.id.starts_with("ATK-") || entry.id.starts_with("BEN-") {
        return Vec::new();
    }
    let in_view = Sha256::digest(&entry.id).first().unwrap() % 2 == 0;
    let seen = if in_view { "in view" } else { "not in view" };
    let language = match entry.lang.as_str() {
        "en" => "English",
        _ => "other languages",
    };
    let place = 6 + usize::from(!in_view);
    vec![
        (place, seen.to_owned()),
        (place, format!("{seen}, {language}")),
    ]
}

/// A session in which a server sent the object of an entry.
pub(crate) fn recording(entry: &Entry) -> String {
    let raw = entry.object.get();
    let object: Value = serde_json::from_str(raw).unwrap();
    let has = |member: &str| object.get(member).is_some();
    let answered = |method: &str, result: &str| {
        let request = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{}}}}"#);
        let response = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
        cassette(&[
            message("client", "request", &request),
            message("server", "response", &response),
        ])
    };
    let listed = |what: &str, member: &str| {
        answered(
            &format!("{what}/list"),
            &format!(r#"{{"{member}":[{raw}]}}"#),
        )
    };
    // A whole message but for its version and its id.
    let rest = raw.strip_prefix('{').unwrap();
    if has("error") {
        let request = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}"#;
        cassette(&[
            message("client", "request", request),
            message(
                "server",
                "response",
                &format!(r#"{{"jsonrpc":"2.0","id":1,{rest}"#),
            ),
        ])
    } else if let Some(method) = object.get("method").and_then(Value::as_str) {
        let (kind, id) = match method.starts_with("notifications/") {
            true => ("notification", ""),
            false => ("request", r#""id":1,"#),
        };
        let payload = format!(r#"{{"jsonrpc":"2.0",{id}{rest}"#);
        cassette(&[message("server", kind, &payload)])
    } else if has("content") {
        session("[]", &[raw])
    } else if has("contents") {
        answered("resources/read", raw)
    } else if has("messages") {
        answered("prompts/get", raw)
    } else if has("serverInfo") || has("instructions") {
        answered("initialize", raw)
    } else if has("inputSchema") {
        listed("tools", "tools")
    } else if has("uriTemplate") {
        listed("resources/templates", "resourceTemplates")
    } else if has("uri") {
        listed("resources", "resources")
    } else {
        assert!(has("name"), "{}: no known object", entry.id);
        listed("prompts", "prompts")
    }
}

pub(crate) fn entries(file: &str) -> Vec<Entry> {
    let path = root().join("tests/corpora").join(file);
    let text = fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{file}: {error}")))
        .collect()
}
