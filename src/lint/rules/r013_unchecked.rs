//! R013: something that could not be checked, so that the gate must not pass.

use super::{Check, Rule};
use crate::cassette::doubt;
use crate::cassette::place::{Draft, Identity};
use crate::cassette::view::Paired;
use crate::finding::RuleId;
use crate::finding::{Evidence, RuleInfo, Severity};
use crate::lint::findings::Findings;
use crate::lint::run::{Context, MOST_FINDINGS, Sink};
use crate::wire::json::{Kind, Scanner, Span, decode};
use crate::wire::mcp::{Level, method};
use std::borrow::Cow;
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

/// A member that is the protocol's but for the case of its letters; `run` calls this
/// for what the walk comes upon.
pub(in crate::lint) fn variant(name: &str, at: Span, member: &str, sink: &mut Sink) {
    let message = format!(
        "the member {} is not {member}, but some readers take it for that: two readers could \
         see two different messages",
        crate::lint::reading::quoted(name)
    );
    Findings::new(&RULE.info, sink).value(
        RULE.info.severity,
        at,
        None,
        "member in another case",
        Identity::text(name),
        message,
    );
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
    if let Some(doubt) = doubt::of(context.cassette, paired) {
        findings.value(
            RULE.info.severity,
            row.payload,
            None,
            doubt.noun(),
            Identity::text(row.payload.of(text)),
            doubt.problem().to_owned(),
        );
    }
    if !paired.envelope.is_object {
        return;
    }
    let whole = paired.envelope.result.is_some() && lists_definitions(context, paired);
    for repeated in repeated_members(text, row.payload, whole) {
        let name = decode(inner(repeated.at).of(text));
        let message = format!(
            "the member {} stands twice in one object: two readers could see two different {}",
            crate::lint::reading::quoted(&name),
            if repeated.in_definition {
                "definitions"
            } else {
                "messages"
            }
        );
        findings.value(
            RULE.info.severity,
            repeated.at,
            None,
            "repeated member",
            Identity::text(&name),
            message,
        );
    }
}

fn inner(quoted: Span) -> Span {
    Span {
        start: quoted.start + 1,
        end: quoted.end.saturating_sub(1),
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

/// The second and later occurrence of a member name in one object.
struct Repeated {
    at: Span,
    in_definition: bool,
}

/// Repeated members of the message itself and of its result as far as the protocol
/// reads them, and all of them in definitions; with `whole` anywhere in the message.
fn repeated_members(text: &str, payload: Span, whole: bool) -> Vec<Repeated> {
    let mut scanner = Scanner::over(text, payload);
    let mut open: Vec<HashSet<Cow<'_, str>>> = Vec::new();
    let mut found = Vec::new();
    // Whether the member of the message, and that of its result, matter here.
    let (mut in_result, mut in_list) = (false, false);
    while let Ok(Some(token)) = scanner.next_token() {
        match token.kind {
            Kind::BeginObject | Kind::BeginArray => open.push(HashSet::new()),
            Kind::EndObject | Kind::EndArray => {
                open.pop();
            }
            Kind::Key => {
                let depth = open.len();
                if !(whole || depth == 1 || in_result && (depth == 2 || in_list)) {
                    continue;
                }
                let name = decode(token.inner().of(text));
                match depth {
                    1 => (in_result, in_list) = (name == "result", false),
                    2 => in_list = Level::Result.has(&name),
                    _ => {}
                }
                // Whatever else a call returns is data, which may repeat itself.
                if !whole && depth == 2 && !in_list {
                    continue;
                }
                if open.last_mut().is_some_and(|names| !names.insert(name)) {
                    let in_definition = whole || depth > 1;
                    let at = token.span;
                    found.push(Repeated { at, in_definition });
                }
            }
            _ => {}
        }
    }
    found
}
