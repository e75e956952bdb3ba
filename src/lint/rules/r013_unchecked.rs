//! R013: something that could not be checked, so that the gate must not pass.

use super::{Check, Rule};
use crate::cassette::place::{Draft, Identity};
use crate::cassette::view::Paired;
use crate::finding::RuleId;
use crate::finding::{Evidence, RuleInfo, Severity};
use crate::lint::findings::Findings;
use crate::lint::run::{Context, MOST_FINDINGS, Sink};
use crate::wire::json::{Kind, Scanner, Span, decode};
use crate::wire::mcp::method;
use std::collections::HashSet;

pub(in crate::lint) const RULE: Rule = Rule {
    info: RuleInfo {
        id: "R013",
        name: "unchecked",
        summary: "something that two readers could read differently, or that could not be read",
        severity: Severity::Error,
        evidence: Evidence::Shape,
        owasp: &["MCP03", "MCP08"],
        safe_mcp: &["SAFE-T1402"],
        page: include_str!("../../../docs/rules/R013.md"),
    },
    checks: &[Check::Message(check)],
};

/// The depth beyond which a walk does not look; `run` calls this for what it finds there.
pub(in crate::lint) fn too_deep(at: Span, sink: &mut Sink) {
    sink.add(Draft {
        rule: RuleId::bundled(RULE.info.id),
        severity: RULE.info.severity,
        message: format!(
            "nested more than {} levels deep: what is below was not checked",
            crate::wire::node::MAX_DEPTH
        ),
        tool: None,
        value: at,
        part: None,
        noun: "nesting",
        identity: Identity::text("nesting"),
        evidence: None,
    });
}

/// For what was found beyond the number of findings that one report lists.
pub(in crate::lint) fn too_many(at: Span) -> Draft {
    let message = format!(
        "more than {MOST_FINDINGS} findings: the rest was not listed; \
         fix the ones above first, or leave rules out with --ignore"
    );
    Draft {
        rule: RuleId::bundled(RULE.info.id),
        severity: RULE.info.severity,
        identity: Identity::text(&message),
        message,
        tool: None,
        value: at,
        part: None,
        noun: "report",
        evidence: None,
    }
}

fn check(context: &Context<'_>, paired: &Paired, findings: &mut Findings<'_>) {
    let text = &context.cassette.text;
    let Some(row) = context.cassette.rows.get(paired.index as usize) else {
        return;
    };
    if !paired.envelope.is_object {
        unread_batch(text, row.payload, findings);
        return;
    }
    let whole = paired.envelope.result.is_some() && lists_definitions(context, paired);
    for repeated in repeated_members(text, row.payload, whole) {
        let name = decode(
            Span {
                start: repeated.start + 1,
                end: repeated.end - 1,
            }
            .of(text),
        );
        let message = format!(
            "the member {} stands twice in one object: two readers could see two different {}",
            crate::lint::reading::quoted(&name),
            if whole { "definitions" } else { "messages" }
        );
        findings.value(
            RULE.info.severity,
            repeated,
            None,
            "repeated member",
            Identity::text(&name),
            message,
        );
    }
}

/// Whether a result holds the definitions that a server is judged by.
fn lists_definitions(context: &Context<'_>, paired: &Paired) -> bool {
    let asked = paired
        .request
        .and_then(|index| context.cassette.message(index))
        .and_then(|request| {
            crate::cassette::view::Envelope::read(&context.cassette.text, request.row.payload)
                .method_name(&context.cassette.text)
        });
    match asked.as_deref() {
        Some(
            method::TOOLS_LIST
            | method::PROMPTS_LIST
            | method::RESOURCES_LIST
            | method::TEMPLATES_LIST
            | method::INITIALIZE
            | method::DISCOVER,
        )
        | None => true,
        Some(_) => false,
    }
}

/// The second and later occurrences of a member name in one object: in the
/// message's own members, or in everything below them.
fn repeated_members(text: &str, payload: Span, deep: bool) -> Vec<Span> {
    let mut scanner = Scanner::over(text, payload);
    let mut open: Vec<HashSet<std::borrow::Cow<'_, str>>> = Vec::new();
    let mut found = Vec::new();
    while let Ok(Some(token)) = scanner.next_token() {
        match token.kind {
            Kind::BeginObject | Kind::BeginArray => open.push(HashSet::new()),
            Kind::EndObject | Kind::EndArray => {
                open.pop();
            }
            Kind::Key if deep || open.len() == 1 => {
                let name = decode(token.inner().of(text));
                if open.last_mut().is_some_and(|names| !names.insert(name)) {
                    found.push(token.span);
                }
            }
            _ => {}
        }
    }
    found
}

/// Recorders before format members for batches kept a JSON-RPC batch as one raw
/// text, in which the messages are not messages.
fn unread_batch(text: &str, payload: Span, findings: &mut Findings<'_>) {
    let token = payload.of(text);
    let Some(line) = crate::cassette::model::string_value(token) else {
        return;
    };
    let mut scanner = Scanner::new(&line);
    if !matches!(scanner.require(), Ok(first) if first.kind == Kind::BeginArray) {
        return;
    }
    let mut is_batch = false;
    while let Ok(Some(item)) = scanner.next_item() {
        let envelope = crate::cassette::view::Envelope::read(&line, item.span);
        is_batch |=
            envelope.result.is_some() || envelope.method.is_some() || envelope.error.is_some();
    }
    if is_batch {
        let message = "a batch was recorded as raw text, so its messages were not checked; \
                       record the session again"
            .to_owned();
        findings.value(
            RULE.info.severity,
            payload,
            None,
            "raw batch",
            Identity::text(&line),
            message,
        );
    }
}
