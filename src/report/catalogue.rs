//! Every rule of every check, in order of id: what `explain` lists and machine
//! formats describe.

use crate::diff::rules as changes;
use crate::finding::RuleInfo;
use crate::lint::rules;
use crate::redact;

/// The rules of lint, of the comparison and of the redaction check.
pub(crate) fn catalogue() -> impl Iterator<Item = &'static RuleInfo> {
    let lint = rules::ALL.iter().map(|rule| &rule.info);
    lint.chain(changes::ALL).chain(&redact::RULES)
}

#[cfg(test)]
mod tests {
    use super::{RuleInfo, catalogue};
    use std::collections::BTreeSet;
    use std::path::{Path, PathBuf};

    /// What stands above the table in the index.
    const INDEX_HEAD: &str = "\
# Rules

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

    fn row(rule: &RuleInfo) -> String {
        let RuleInfo {
            id, name, summary, ..
        } = rule;
        let (severity, evidence) = (rule.severity.as_str(), rule.evidence.as_str());
        format!("| [{id}]({id}.md) | {name} | {severity} | {evidence} | {summary} |\n")
    }

    #[test]
    fn the_index_of_the_pages_is_the_table_of_the_rules() {
        let rows: String = catalogue().map(row).collect();
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
        for rule in catalogue() {
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
        let all: Vec<&RuleInfo> = catalogue().collect();
        assert!(all.windows(2).all(|pair| pair[0].id < pair[1].id));
        let names: BTreeSet<&str> = all.iter().map(|rule| rule.name).collect();
        assert_eq!(names.len(), all.len());
    }
}
