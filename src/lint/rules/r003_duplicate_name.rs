//! R003: two tools that a client, a model or a reader takes for one.

use super::{Check, Rule};
use crate::cassette::place::Identity;
use crate::finding::{Evidence, RuleInfo, Severity};
use crate::lint::findings::Findings;
use crate::lint::names::{look_alike_key, name_key};
use crate::lint::reading::quoted;
use crate::lint::surfaces::Defined;
use crate::wire::json::Span;
use std::collections::HashMap;

pub(in crate::lint) const RULE: Rule = Rule {
    info: RuleInfo {
        id: "R003",
        name: "duplicate-name",
        summary: "two tools of one name, or of names that look like one",
        severity: Severity::Warning,
        evidence: Evidence::Shape,
        owasp: &["MCP03"],
        safe_mcp: &["SAFE-T1008"],
        page: include_str!("../../../docs/rules/R003.md"),
    },
    checks: &[Check::Listing(check)],
};

fn check(defines: Defined, names: &[(String, Span)], findings: &mut Findings<'_>) {
    if defines != Defined::Tool {
        return;
    }
    let mut exact: HashMap<&str, ()> = HashMap::new();
    let mut folded: HashMap<String, &str> = HashMap::new();
    let mut drawn: HashMap<String, &str> = HashMap::new();
    for (name, span) in names {
        let known = folded.get(&name_key(name)).copied();
        let alike = drawn.get(&look_alike_key(name)).copied();
        let shown = quoted(name);
        let message = if exact.contains_key(name.as_str()) {
            format!(
                "tool {shown}: the name stands twice in one listing, so one tool shadows the other"
            )
        } else if let Some(other) = known {
            format!(
                "tool {shown}: the name is {} in other letters",
                quoted(other)
            )
        } else if let Some(other) = alike {
            format!("tool {shown}: the name is drawn like {}", quoted(other))
        } else {
            exact.insert(name, ());
            folded.insert(name_key(name), name);
            drawn.insert(look_alike_key(name), name);
            continue;
        };
        exact.insert(name, ());
        findings.value(
            findings.severity(),
            *span,
            Some(name),
            "tool name",
            Identity::text(name),
            message,
        );
    }
}
