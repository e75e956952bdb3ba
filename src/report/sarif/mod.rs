//! SARIF 2.1.0, for code scanning and other collectors of findings.

mod log;

use super::checked::Checked;
use super::github::file_in_workspace;
use super::json::document;
use super::sanitize::{shortened, visible, without_old_commands};
use super::text::{field_moved, standing};
use super::{Style, catalogue, wording};
use crate::diff::Diff;
use crate::finding::{Finding, Region, Report, RuleInfo, Severity, Status};
use log::{
    ArtifactLocation, Configuration, Driver, Help, Invocation, Location, Log, Message,
    Notification, PhysicalLocation, RegionOf, ResultOf, Rule, RuleProperties, Run, Suppression,
    Tool,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Code scanning refuses a file with more results.
const MOST_RESULTS: usize = 25_000;
/// Characters of one message; the JSON report has all of it.
const LONGEST_MESSAGE: usize = 4_000;
/// The version of the standard's schema with its errata.
const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
/// What code scanning calls the root of the checkout.
const ROOT: &str = "%SRCROOT%";

/// The findings of one or more cassettes.
pub(super) fn lint(reports: &[Report], style: &Style) -> String {
    let mut notices = Vec::new();
    for report in reports {
        let notes = report.notes.iter().map(|note| ("note", note.as_str()));
        notices
            .extend(notes.map(|(level, text)| notice(level, Some(&report.cassette), text, style)));
    }
    let found = reports.iter().flat_map(|report| {
        let path = report.cassette.as_str();
        report.findings.iter().map(move |finding| (path, finding))
    });
    log(found.collect(), notices, style.exit_code, true, style)
}

/// The changes of one comparison.
pub(super) fn diff(diff: &Diff, findings: &[Finding], style: &Style) -> String {
    let mut notices = Vec::new();
    differences(&mut notices, diff, &diff.new, style);
    let found = findings.iter().map(|finding| (diff.new.as_str(), finding));
    log(found.collect(), notices, style.exit_code, true, style)
}

/// The result of a whole check.
pub(super) fn check(checked: &Checked, style: &Style) -> String {
    let mut notices = Vec::new();
    for (path, problem) in checked.problems() {
        let text = format!("not checked: {problem}");
        notices.push(notice("error", path, &text, style));
    }
    for cassette in &checked.cassettes {
        let path = cassette.path.as_str();
        let remarks = wording::remarks(cassette);
        notices.extend(
            remarks
                .iter()
                .map(|note| notice("note", Some(path), note, style)),
        );
        if let Some(diff) = &cassette.diff {
            other_differences(&mut notices, diff, path, style);
        }
    }
    let found = checked.cassettes.iter().flat_map(|cassette| {
        let findings = cassette.report.findings.iter();
        findings.map(|finding| (cassette.path.as_str(), finding))
    });
    let whole = checked.problems().next().is_none();
    log(
        found.collect(),
        notices,
        Some(checked.exit_code),
        whole,
        style,
    )
}

fn differences(notices: &mut Vec<Notification>, diff: &Diff, path: &str, style: &Style) {
    let notes = diff.notes.iter();
    notices.extend(notes.map(|note| notice("note", Some(path), note, style)));
    other_differences(notices, diff, path, style);
}

/// What differs and is no finding.
fn other_differences(notices: &mut Vec<Notification>, diff: &Diff, path: &str, style: &Style) {
    let fields: Vec<String> = diff.metadata.iter().map(field_moved).collect();
    let methods: Vec<String> = diff.methods.iter().map(wording::method_moved).collect();
    for (section, lines) in [
        ("metadata", &fields),
        ("methods", &methods),
        ("sequence", &diff.sequence),
    ] {
        if !lines.is_empty() {
            let text = format!("{section} {}", lines.join("\n"));
            notices.push(notice("note", Some(path), &text, style));
        }
    }
}

/// The whole document. `whole` says that everything could be checked.
fn log(
    mut found: Vec<(&str, &Finding)>,
    mut notices: Vec<Notification>,
    exit_code: Option<u8>,
    whole: bool,
    style: &Style,
) -> String {
    let left_out = keep_most_severe(&mut found, MOST_RESULTS);
    if left_out > 0 {
        let text = format!(
            "{left_out} results are left out, the least severe ones: this file holds at most \
             {MOST_RESULTS}"
        );
        notices.insert(0, notice("warning", None, &text, style));
    }
    let ids: BTreeSet<&str> = found
        .iter()
        .map(|(_, finding)| finding.rule.as_str())
        .collect();
    let index: BTreeMap<&str, usize> = ids.iter().copied().zip(0..).collect();
    let rules = ids.iter().map(|id| rule(id, &found)).collect();
    let results = found
        .iter()
        .map(|(path, finding)| result(path, finding, &index, style))
        .collect();
    document(&Log {
        schema: SCHEMA,
        version: "2.1.0",
        runs: [Run {
            tool: Tool {
                driver: Driver {
                    name: env!("CARGO_PKG_NAME"),
                    version: env!("CARGO_PKG_VERSION"),
                    semantic_version: env!("CARGO_PKG_VERSION"),
                    information_uri: env!("CARGO_PKG_REPOSITORY"),
                    rules,
                },
            },
            invocations: [Invocation {
                execution_successful: whole && exit_code != Some(2),
                exit_code,
                tool_execution_notifications: notices,
            }],
            column_kind: "unicodeCodePoints",
            results,
        }],
    })
}

/// Drops the least severe findings, those that do not count first, and says how many.
fn keep_most_severe(found: &mut Vec<(&str, &Finding)>, most: usize) -> usize {
    let left_out = found.len().saturating_sub(most);
    if left_out > 0 {
        let mut ranked: Vec<usize> = (0..found.len()).collect();
        ranked.sort_by_key(|&index| {
            let weight = found
                .get(index)
                .map(|(_, finding)| (finding.status.counts(), finding.severity));
            std::cmp::Reverse(weight)
        });
        let kept: BTreeSet<usize> = ranked.into_iter().take(most).collect();
        let mut index = 0..;
        found.retain(|_| index.next().is_some_and(|index| kept.contains(&index)));
    }
    left_out
}

fn level(severity: Severity) -> &'static str {
    severity.as_str()
}

fn rule(id: &str, found: &[(&str, &Finding)]) -> Rule {
    match catalogue().find(|rule| rule.id == id) {
        Some(info) => bundled(info),
        None => of_pack(id, found),
    }
}

fn bundled(info: &'static RuleInfo) -> Rule {
    let tags = ["security", "mcp"]
        .iter()
        .chain(info.owasp)
        .chain(info.safe_mcp);
    let about = info
        .page
        .split("## What it is\n")
        .nth(1)
        .unwrap_or_default();
    let about = about.split("\n##").next().unwrap_or_default().trim();
    Rule {
        id: info.id.to_owned(),
        name: Some(info.name),
        short_description: Message {
            text: info.summary.to_owned(),
        },
        full_description: Some(Message {
            text: about.replace('\n', " "),
        }),
        help: Some(Help {
            text: info.page,
            markdown: info.page,
        }),
        help_uri: Some(crate::finding::help_uri(info.id)),
        default_configuration: Configuration {
            level: level(info.severity),
        },
        properties: RuleProperties {
            tags: tags.map(|tag| (*tag).to_owned()).collect(),
            evidence: Some(info.evidence.as_str()),
            owasp: info.owasp,
            safe_mcp: info.safe_mcp,
        },
    }
}

/// A pattern of a pack weighs what its worst finding weighs; more is not known here.
fn of_pack(id: &str, found: &[(&str, &Finding)]) -> Rule {
    let findings = found.iter().map(|(_, finding)| finding);
    let own = findings.filter(|finding| finding.rule.as_str() == id);
    let worst = own.map(|finding| finding.severity).max();
    Rule {
        id: visible(id).into_owned(),
        name: None,
        short_description: Message {
            text: "a pattern of a pattern pack".to_owned(),
        },
        full_description: None,
        help: None,
        help_uri: None,
        default_configuration: Configuration {
            level: level(worst.unwrap_or(Severity::Warning)),
        },
        properties: RuleProperties {
            tags: vec!["security".to_owned(), "mcp".to_owned()],
            evidence: None,
            owasp: &[],
            safe_mcp: &[],
        },
    }
}

fn result<'a>(
    path: &str,
    finding: &'a Finding,
    index: &BTreeMap<&str, usize>,
    style: &Style,
) -> ResultOf<'a> {
    let id = finding.rule.as_str();
    let suppression = match &finding.status {
        Status::Accepted { reason } => Some(Suppression {
            kind: "external",
            status: "accepted",
            justification: harmless(reason),
        }),
        // One that is only pending must not look settled.
        Status::New | Status::Existing | Status::PendingAccept { .. } => None,
    };
    let text = match &finding.status {
        Status::PendingAccept { .. } => match finding.message.split_once('\n') {
            Some((first, rest)) => format!("{first}{}\n{rest}", standing(&finding.status)),
            None => format!("{}{}", finding.message, standing(&finding.status)),
        },
        _ => finding.message.clone(),
    };
    ResultOf {
        rule_id: visible(id).into_owned(),
        rule_index: index.get(id).copied().unwrap_or_default(),
        level: level(finding.severity),
        message: Message {
            text: harmless(&text),
        },
        locations: [location(path, Some(&finding.region), style)],
        partial_fingerprints: BTreeMap::from([("mcpCassette/v1", finding.fingerprint.as_str())]),
        baseline_state: match finding.status {
            Status::Existing => "unchanged",
            _ => "new",
        },
        suppressions: suppression.into_iter().collect(),
    }
}

fn notice(level: &'static str, path: Option<&str>, text: &str, style: &Style) -> Notification {
    Notification {
        level,
        message: Message {
            text: harmless(text),
        },
        locations: path
            .map(|path| location(path, None, style))
            .into_iter()
            .collect(),
    }
}

/// Recorded text as a message: nothing hidden in it, no command, and no link, which
/// is `[text](target)` in messages of this format.
fn harmless(text: &str) -> String {
    let lines: Vec<_> = text.split('\n').map(visible).collect();
    let text = lines.join("\n").replace("](", "] (");
    let text = without_old_commands(&text);
    shortened(&text, LONGEST_MESSAGE).into_owned()
}

fn location(path: &str, region: Option<&Region>, style: &Style) -> Location {
    let file = file_in_workspace(path, style);
    let relative = !file.starts_with('/');
    Location {
        physical_location: PhysicalLocation {
            artifact_location: ArtifactLocation {
                uri: encoded(file.strip_prefix("./").unwrap_or(&file)),
                uri_base_id: relative.then_some(ROOT),
            },
            region: region.map(region_of),
        },
    }
}

/// A finding of the whole file is shown at its first line: code scanning shows none
/// without a place.
fn region_of(region: &Region) -> RegionOf {
    let (start, end) = (region.start, region.end);
    let first = (start.line.max(1), start.column.max(1));
    let last = (end.line.max(1), end.column.max(1)).max(first);
    RegionOf {
        start_line: first.0,
        start_column: first.1,
        end_line: last.0,
        end_column: last.1,
    }
}

/// A path as a relative reference: everything but letters, digits, `-._~` and `/`
/// is percent-encoded.
fn encoded(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            _ => {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_references() {
        let uri = |path: &str| {
            let place = location(path, None, &Style::default()).physical_location;
            place.artifact_location.uri
        };
        assert_eq!(uri("./tests/a b.json"), "tests/a%20b.json");
        assert_eq!(
            uri("a\n\"%::error::x#?é.json"),
            "a%0A%22%25%3A%3Aerror%3A%3Ax%23%3F%C3%A9.json"
        );
    }

    #[test]
    fn a_message_holds_no_link_and_no_command() {
        assert_eq!(
            harmless("see [here](https://x) ##[error]y\u{1b}\n\r"),
            "see [here] (https://x) ##\\u{5b}error]y\\u{1b}\n\\r"
        );
    }
}
