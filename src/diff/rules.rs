//! The rules that changes are reported under where findings of all kinds meet.

use crate::finding::{Evidence, RuleInfo, Severity};

/// Whether it is the id of one of these rules.
pub(crate) fn is_rule(id: &str) -> bool {
    ALL.iter().any(|rule| rule.id == id)
}

/// In order of id. The severity is that of the worst change of its kind; a compatible one
/// is a warning, see [`findings`](super::findings()). A deleted cassette is a warning, and
/// an error only where it was renamed out of sight.
pub(crate) const ALL: &[RuleInfo] = &[
    TOOL_REMOVED,
    TOOL_ADDED,
    DESCRIPTION,
    INPUT_SCHEMA,
    OUTPUT_SCHEMA,
    TITLE_OR_ANNOTATIONS,
    PROMPT,
    RESOURCE,
    INSTRUCTIONS,
    CASSETTE_DELETED,
    CASSETTE_NEW,
];

pub(crate) const TOOL_REMOVED: RuleInfo = RuleInfo {
    id: "R101",
    name: "tool-removed",
    summary: "a tool that the baseline has and the new cassette has not",
    severity: Severity::Error,
    evidence: Evidence::Shape,
    owasp: &["MCP04"],
    safe_mcp: &["SAFE-T1201"],
    page: include_str!("../../docs/rules/R101.md"),
};

pub(crate) const TOOL_ADDED: RuleInfo = RuleInfo {
    id: "R102",
    name: "tool-added",
    summary: "a tool that the baseline has not",
    severity: Severity::Warning,
    evidence: Evidence::Shape,
    owasp: &["MCP02"],
    safe_mcp: &["SAFE-T1201"],
    page: include_str!("../../docs/rules/R102.md"),
};

pub(crate) const DESCRIPTION: RuleInfo = RuleInfo {
    id: "R103",
    name: "description",
    summary: "the description of a tool changed",
    severity: Severity::Warning,
    evidence: Evidence::Shape,
    owasp: &["MCP03"],
    safe_mcp: &["SAFE-T1201"],
    page: include_str!("../../docs/rules/R103.md"),
};

pub(crate) const INPUT_SCHEMA: RuleInfo = RuleInfo {
    id: "R104",
    name: "input-schema",
    summary: "the input schema of a tool changed",
    severity: Severity::Error,
    evidence: Evidence::Shape,
    owasp: &["MCP03", "MCP04"],
    safe_mcp: &["SAFE-T1201"],
    page: include_str!("../../docs/rules/R104.md"),
};

pub(crate) const OUTPUT_SCHEMA: RuleInfo = RuleInfo {
    id: "R105",
    name: "output-schema",
    summary: "the output schema of a tool changed",
    severity: Severity::Error,
    evidence: Evidence::Shape,
    owasp: &["MCP03", "MCP04"],
    safe_mcp: &["SAFE-T1201"],
    page: include_str!("../../docs/rules/R105.md"),
};

pub(crate) const TITLE_OR_ANNOTATIONS: RuleInfo = RuleInfo {
    id: "R106",
    name: "title-or-annotations",
    summary: "the title, an annotation or another member of a tool changed",
    severity: Severity::Error,
    evidence: Evidence::Shape,
    owasp: &["MCP02", "MCP03"],
    safe_mcp: &["SAFE-T1201"],
    page: include_str!("../../docs/rules/R106.md"),
};

pub(crate) const PROMPT: RuleInfo = RuleInfo {
    id: "R107",
    name: "prompt",
    summary: "a prompt was added or removed, or its definition changed",
    severity: Severity::Error,
    evidence: Evidence::Shape,
    owasp: &["MCP06"],
    safe_mcp: &["SAFE-T1201"],
    page: include_str!("../../docs/rules/R107.md"),
};

pub(crate) const RESOURCE: RuleInfo = RuleInfo {
    id: "R108",
    name: "resource",
    summary: "a resource was added or removed, or its definition changed",
    severity: Severity::Error,
    evidence: Evidence::Shape,
    owasp: &["MCP06"],
    safe_mcp: &["SAFE-T1201"],
    page: include_str!("../../docs/rules/R108.md"),
};

pub(crate) const INSTRUCTIONS: RuleInfo = RuleInfo {
    id: "R109",
    name: "instructions",
    summary: "the instructions of the server changed",
    severity: Severity::Warning,
    evidence: Evidence::Shape,
    owasp: &["MCP03", "MCP06"],
    safe_mcp: &["SAFE-T1201"],
    page: include_str!("../../docs/rules/R109.md"),
};

pub(crate) const CASSETTE_DELETED: RuleInfo = RuleInfo {
    id: "R110",
    name: "cassette-deleted",
    summary: "a cassette that the base commit has was deleted",
    severity: Severity::Warning,
    evidence: Evidence::Shape,
    owasp: &["MCP08"],
    safe_mcp: &[],
    page: include_str!("../../docs/rules/R110.md"),
};

pub(crate) const CASSETTE_NEW: RuleInfo = RuleInfo {
    id: "R111",
    name: "cassette-new",
    summary: "a cassette that the base commit has not",
    severity: Severity::Note,
    evidence: Evidence::Shape,
    owasp: &["MCP09"],
    safe_mcp: &[],
    page: include_str!("../../docs/rules/R111.md"),
};
