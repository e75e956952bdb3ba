//! `explain`: the page of one rule.

use super::Outcome;
use crate::config::nearest;
use crate::report::catalogue;
use std::fmt::Write as _;

/// Lists every rule with what it weighs and where it is catalogued.
pub(crate) fn list() -> Outcome {
    let mut outcome = Outcome::new("explain");
    for rule in catalogue() {
        let references = [rule.owasp, rule.safe_mcp].concat().join(", ");
        let (severity, evidence) = (rule.severity.as_str(), rule.evidence.as_str());
        let _ = writeln!(
            outcome.stdout,
            "{} {severity:<7} {:<25} {}\n             {evidence}; {references}",
            rule.id, rule.name, rule.summary
        );
    }
    outcome
}

/// Prints the page that `page` has for `rule`. `known` are the ids that have one,
/// in the order in which they are listed.
pub(crate) fn run(
    rule: &str,
    page: impl Fn(&str) -> Option<&'static str>,
    known: &[&str],
) -> Outcome {
    let id = known.iter().find(|id| id.eq_ignore_ascii_case(rule));
    let Some(text) = id.and_then(|id| page(id)) else {
        let hint = nearest(&rule.to_ascii_uppercase(), known.iter().copied())
            .map(|id| format!(" (did you mean \"{id}\"?)"))
            .unwrap_or_default();
        let list = known.join(", ");
        return Outcome::failed(
            "explain",
            format_args!("unknown rule '{rule}'{hint}; the rules are {list}"),
        );
    };
    let mut outcome = Outcome::new("explain");
    outcome.stdout.push_str(text);
    if !text.ends_with('\n') {
        outcome.stdout.push('\n');
    }
    outcome
}

#[cfg(test)]
mod tests {
    use super::super::Exit;
    use super::*;

    fn page(id: &str) -> Option<&'static str> {
        (id == "R001").then_some("# R001")
    }

    #[test]
    fn a_page_is_printed_whatever_the_case_of_its_id() {
        for rule in ["R001", "r001"] {
            let outcome = run(rule, page, &["R001", "R002"]);
            assert_eq!(outcome.stdout, "# R001\n");
            assert_eq!(outcome.exit, Exit::Success);
        }
    }

    #[test]
    fn an_unknown_rule_is_refused_with_the_nearest_one_and_the_list() {
        let outcome = run("R0001", page, &["R001", "R002"]);
        assert_eq!(outcome.exit, Exit::CouldNotRun);
        assert_eq!(
            outcome.stderr,
            "mcp-cassette explain: unknown rule 'R0001' (did you mean \"R001\"?); \
             the rules are R001, R002\n"
        );
    }
}
