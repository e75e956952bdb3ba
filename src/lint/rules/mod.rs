//! The rules. Each is one file with its metadata and its check; the table below
//! is the list that everything else is made from.

mod injection;
mod r001_tool_description;
mod r002_drift;
mod r003_duplicate_name;
mod r004_result_instructions;
mod r005_high_entropy;
mod r006_schema_phrasing;
mod r007_lookalike_name;
mod r008_hidden_characters;
mod r009_other_definitions;
mod r010_private_material;
mod r011_tool_steering;
mod r012_encoded_payload;
mod r013_unchecked;
mod r014_protocol;
mod r015_changed_in_session;
mod r016_schema_injection;
mod r017_known_secret;

use super::findings::Findings;
use super::reading::Reading;
use super::run::Context;
use super::surfaces::Defined;
use crate::cassette::view::Paired;
use crate::finding::Severity;
use crate::wire::json::Span;

pub(super) use r013_unchecked::{RULE as UNCHECKED, too_deep};

/// A rule: what it is called, how much it weighs and how it looks.
pub(crate) struct Rule {
    pub(crate) id: &'static str,
    /// In kebab case.
    pub(crate) name: &'static str,
    /// One line, without a full stop.
    pub(crate) summary: &'static str,
    pub(crate) severity: Severity,
    pub(crate) evidence: Evidence,
    /// Entries of the OWASP MCP Top 10 (2025).
    pub(crate) owasp: &'static [&'static str],
    /// Techniques of SAFE-MCP.
    pub(crate) safe_mcp: &'static [&'static str],
    /// `docs/rules/<id>.md`.
    pub(crate) page: &'static str,
    pub(crate) checks: &'static [Check],
}

/// Whether the text alone decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Evidence {
    /// The form of the text is the problem.
    Shape,
    /// The text asks for something that only its author knows the reason of.
    Intent,
}

impl Evidence {
    /// The word used in reports.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Evidence::Shape => "shape",
            Evidence::Intent => "intent",
        }
    }
}

/// What a rule looks at.
#[derive(Clone, Copy)]
pub(crate) enum Check {
    /// Each text.
    Text(fn(&Reading<'_>, &mut Findings<'_>)),
    /// The names in each array of definitions.
    Listing(fn(Defined, &[(String, Span)], &mut Findings<'_>)),
    /// Each message with the request that it answers.
    Message(fn(&Context<'_>, &Paired, &mut Findings<'_>)),
    /// The session as a whole.
    Session(fn(&Context<'_>, &mut Findings<'_>)),
}

/// Every rule of lint, in order of id.
pub(crate) const ALL: &[Rule] = &[
    r001_tool_description::RULE,
    r002_drift::RULE,
    r003_duplicate_name::RULE,
    r004_result_instructions::RULE,
    r005_high_entropy::RULE,
    r006_schema_phrasing::RULE,
    r007_lookalike_name::RULE,
    r008_hidden_characters::RULE,
    r009_other_definitions::RULE,
    r010_private_material::RULE,
    r011_tool_steering::RULE,
    r012_encoded_payload::RULE,
    r013_unchecked::RULE,
    r014_protocol::RULE,
    r015_changed_in_session::RULE,
    r016_schema_injection::RULE,
    r017_known_secret::RULE,
];

/// The rule of that id.
pub(crate) fn by_id(id: &str) -> Option<&'static Rule> {
    ALL.iter().find(|rule| rule.id == id)
}

#[cfg(test)]
mod tests {
    use super::{ALL, Rule};
    use std::collections::BTreeSet;
    use std::path::{Path, PathBuf};

    /// What stands above the table in the index.
    const INDEX_HEAD: &str = "\
# Rules of lint

`mcp-cassette explain R001` prints the page of a rule. *Evidence* says what decides: the *shape* of
the text alone, or the *intent* that a person has to judge. The ids under *References* of each page
are those of the [OWASP MCP Top 10](https://owasp.org/www-project-mcp-top-10/) (2025, version 0.1)
and of [SAFE-MCP](https://github.com/safe-agentic-framework/safe-mcp).

This file is written by a test when `UPDATE_FIXTURES=1` is set.

| id | name | severity | evidence | what it finds |
|---|---|---|---|---|
";

    fn folder() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/rules")
    }

    fn row(rule: &Rule) -> String {
        let Rule {
            id, name, summary, ..
        } = rule;
        let (severity, evidence) = (rule.severity.as_str(), rule.evidence.as_str());
        format!("| [{id}]({id}.md) | {name} | {severity} | {evidence} | {summary} |\n")
    }

    #[test]
    fn the_index_of_the_pages_is_the_table_of_the_rules() {
        let rows: String = ALL.iter().map(row).collect();
        let expected = format!("{INDEX_HEAD}{rows}");
        let path = folder().join("README.md");
        if std::env::var_os("UPDATE_FIXTURES").is_some() {
            std::fs::write(&path, &expected).unwrap();
        }
        let written = std::fs::read_to_string(&path).unwrap();
        assert_eq!(written, expected, "set UPDATE_FIXTURES=1 to write it");
    }

    #[test]
    fn every_page_is_that_of_its_rule_and_names_its_references() {
        for rule in ALL {
            let title = format!("# {} {}\n", rule.id, rule.name);
            assert!(rule.page.starts_with(&title), "{title}");
            let references = rule.page.split("## References\n").nth(1).unwrap();
            let named: BTreeSet<&str> = references
                .split([' ', ':'])
                .filter(|word| {
                    word.starts_with("MCP0") || *word == "MCP10" || word.starts_with("SAFE-T")
                })
                .collect();
            let expected = rule.owasp.iter().chain(rule.safe_mcp).copied().collect();
            assert_eq!(named, expected, "{}", rule.id);
        }
    }

    #[test]
    fn ids_are_in_order_and_names_are_unique() {
        assert!(ALL.windows(2).all(|pair| pair[0].id < pair[1].id));
        let names: BTreeSet<&str> = ALL.iter().map(|rule| rule.name).collect();
        assert_eq!(names.len(), ALL.len());
    }
}
