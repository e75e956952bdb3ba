//! Each rule has files that it flags and files that it passes, in
//! `tests/fixtures/rules/`, and a page in `docs/rules/` whose examples hold.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use mcp_cassette::lint::Options;
use mcp_cassette::{Finding, Severity, lint};

use crate::support::root;

/// The end of the name of a file that another one is compared with.
const BASELINE: &str = ".baseline.mcp.json";

#[test]
fn every_page_has_a_folder_of_fixtures_and_every_folder_a_page() {
    assert_eq!(folders(), pages());
    assert!(pages().len() >= 17, "{:?}", pages());
}

#[test]
fn every_rule_has_fixtures_of_both_kinds() {
    for rule in folders() {
        let names = fixtures(&rule);
        for kind in ["flags-", "passes-"] {
            let has = names.iter().any(|path| name(path).starts_with(kind));
            assert!(has, "{rule} has no fixture {kind}*");
        }
    }
}

#[test]
fn a_rule_fires_on_what_it_flags_and_on_nothing_that_it_passes() {
    let mut wrong = Vec::new();
    for rule in folders() {
        for path in fixtures(&rule) {
            if let Err(reason) = judge(&rule, &path) {
                wrong.push(format!("{rule}/{}: {reason}", name(&path)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A note is no alarm: text about attacks, colours in a log, a tool that was added
/// after notice.
fn judge(rule: &str, path: &Path) -> Result<(), String> {
    let findings = findings(path)?;
    let fires =
        |finding: &&Finding| finding.rule.as_str() == rule && finding.severity > Severity::Note;
    let fired = findings.iter().find(fires);
    let alarm = findings
        .iter()
        .find(|finding| finding.severity == Severity::Error);
    if name(path).starts_with("flags-") {
        fired.map(|_| ()).ok_or_else(|| "not flagged".to_owned())
    } else if let Some(finding) = fired.or(alarm) {
        Err(format!(
            "{} {} {}: {}",
            finding.rule, finding.severity, finding.locator, finding.message
        ))
    } else {
        Ok(())
    }
}

fn findings(path: &Path) -> Result<Vec<Finding>, String> {
    let baseline = path.with_file_name(name(path).replace(".mcp.json", BASELINE));
    let options = Options {
        baseline: Some(baseline).filter(|baseline| baseline.exists()),
        ..Options::default()
    };
    let report = lint(path, &options).map_err(|error| error.to_string())?;
    Ok(report.findings)
}

fn fixtures(rule: &str) -> Vec<PathBuf> {
    let mut paths = list(&fixture_folder().join(rule));
    for path in &paths {
        let known = ["flags-", "passes-"]
            .iter()
            .any(|kind| name(path).starts_with(kind));
        assert!(known, "{} is of no kind", path.display());
    }
    paths.retain(|path| !name(path).ends_with(BASELINE));
    paths
}

fn folders() -> BTreeSet<String> {
    list(&fixture_folder())
        .iter()
        .map(|path| name(path).to_owned())
        .collect()
}

fn pages() -> BTreeSet<String> {
    let paths = list(&root().join("docs/rules"));
    let ids = paths
        .iter()
        .filter_map(|path| name(path).strip_suffix(".md"));
    ids.filter(|id| *id != "README")
        .map(str::to_owned)
        .collect()
}

fn fixture_folder() -> PathBuf {
    root().join("tests/fixtures/rules")
}

fn list(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    paths
}

fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap()
}
