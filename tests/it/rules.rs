//! Each rule has files that it flags and files that it passes, in
//! `tests/fixtures/rules/`, and a page in `docs/rules/` whose examples hold.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use mcp_cassette::diff::{self, DiffOptions, diff};
use mcp_cassette::lint::Options;
use mcp_cassette::{Cassette, Finding, Severity, lint};

use crate::support::{cassette, message, root, run};

/// The end of the name of a file that another one is compared with.
const BASELINE: &str = ".baseline.mcp.json";

/// The headings of every page.
const SECTIONS: [&str; 8] = [
    "What it is",
    "What it looks at",
    "Bad example",
    "Good example",
    "How to fix it",
    "How to accept it",
    "What it does not see",
    "References",
];

/// Rules about which files there are at all: no single file shows them.
const ABOUT_FILES: [&str; 2] = ["R110", "R111"];

#[test]
fn every_page_has_a_folder_of_fixtures_and_every_folder_a_page() {
    let mut pages = pages();
    pages.retain(|rule| !ABOUT_FILES.contains(&rule.as_str()));
    assert_eq!(folders(), pages);
    assert!(pages.len() >= 26, "{pages:?}");
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

#[test]
fn every_page_has_the_same_sections_and_reads_well_in_a_terminal() {
    for rule in pages() {
        let page = page(&rule);
        let lines: Vec<&str> = page.lines().collect();
        let sections: Vec<&str> = lines
            .iter()
            .filter_map(|line| line.strip_prefix("## "))
            .collect();
        assert_eq!(sections, SECTIONS, "{rule}");
        assert!(lines[0].starts_with(&format!("# {rule} ")), "{rule}");
        assert!((40..=70).contains(&lines.len()), "{rule}: {}", lines.len());
        for line in lines {
            assert!(line.is_ascii() && line.len() <= 78, "{rule}: {line}");
        }
        let accepts = page.contains(&format!("[[accept]]\nrule = \"{rule}\"\n"));
        assert_eq!(
            accepts,
            rule != "R013",
            "{rule}: what was not read cannot be accepted"
        );
    }
}

#[test]
fn the_examples_of_a_page_are_what_its_rule_flags_and_passes() {
    let folder = tempfile::tempdir().unwrap();
    let mut wrong = Vec::new();
    for rule in folders() {
        for (section, kind) in [("Bad example", "flags"), ("Good example", "passes")] {
            let mut examples = examples(&rule, section);
            let path = folder.path().join(format!("{kind}-{rule}.mcp.json"));
            if rule == "R002" || is_change(&rule) {
                let baseline = folder.path().join(format!("{kind}-{rule}{BASELINE}"));
                fs::write(baseline, recording(&[examples.remove(0)])).unwrap();
            }
            fs::write(&path, recording(&examples)).unwrap();
            if let Err(reason) = judge(&rule, &path) {
                wrong.push(format!("{rule}, {section}: {reason}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The fenced blocks of a section.
fn examples(rule: &str, section: &str) -> Vec<String> {
    let page = page(rule);
    let (_, rest) = page.split_once(&format!("## {section}\n")).unwrap();
    let section = rest.split("\n## ").next().unwrap();
    let blocks: Vec<String> = section
        .split("```")
        .skip(1)
        .step_by(2)
        .map(|block| block.split_once('\n').unwrap().1.trim_end().to_owned())
        .collect();
    assert!(!blocks.is_empty(), "{rule} has no example");
    blocks
}

/// A session in which the server said what the examples show, one after the other.
fn recording(examples: &[String]) -> String {
    if let [whole] = examples
        && whole.contains("\"format_version\"")
    {
        return whole.clone();
    }
    let mut messages = Vec::new();
    for (id, example) in examples.iter().enumerate() {
        let example = with_json_escapes(example);
        let Ok(value) = serde_json::from_str::<serde_json::Value>(&example) else {
            let line = serde_json::Value::from(example);
            messages.push(message("server", "raw", &line.to_string()));
            continue;
        };
        if value.get("jsonrpc").is_some() {
            messages.push(message("server", "notification", &example));
            continue;
        }
        let (method, result) = answered(&value, example);
        let request = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#);
        let response = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
        messages.push(message("client", "request", &request));
        messages.push(message("server", "response", &response));
    }
    cassette(&messages)
}

/// The method that is answered by a result of that form, and the whole result.
fn answered(value: &serde_json::Value, example: String) -> (&'static str, String) {
    let forms = [
        ("tools", "tools/list"),
        ("content", "tools/call"),
        ("instructions", "initialize"),
        ("prompts", "prompts/list"),
        ("resources", "resources/list"),
    ];
    let form = forms
        .into_iter()
        .find(|(member, _)| value.get(member).is_some());
    match form {
        Some((_, method)) => (method, example),
        None => {
            assert!(value.get("name").is_some(), "not a tool: {example}");
            ("tools/list", format!(r#"{{"tools":[{example}]}}"#))
        }
    }
}

/// Pages spell odd characters as `\u{200b}`, which a reader takes in at a glance.
fn with_json_escapes(example: &str) -> String {
    let mut parts = example.split("\\u{");
    let mut text = parts.next().unwrap().to_owned();
    for part in parts {
        let (code, rest) = part.split_once('}').unwrap();
        let letter = char::from_u32(u32::from_str_radix(code, 16).unwrap()).unwrap();
        for unit in letter.encode_utf16(&mut [0; 2]) {
            text.push_str(&format!("\\u{unit:04x}"));
        }
        text.push_str(rest);
    }
    text
}

fn page(rule: &str) -> String {
    fs::read_to_string(root().join(format!("docs/rules/{rule}.md"))).unwrap()
}

/// A note is no alarm: text about attacks, colours in a log, a tool that was added
/// after notice.
fn judge(rule: &str, path: &Path) -> Result<(), String> {
    if rule.starts_with("R20") {
        return judge_redaction(rule, path);
    }
    let findings = if is_change(rule) {
        changes(path)?
    } else {
        findings(path)?
    };
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

/// These rules belong to `redaction-check`, which is asked for the profile `strict`
/// where the rule is about profiles.
fn judge_redaction(rule: &str, path: &Path) -> Result<(), String> {
    let path = path.display().to_string();
    let mut arguments = vec!["redaction-check", "--format", "json"];
    if rule != "R203" {
        arguments.push("strict");
    }
    arguments.push(&path);
    let run = run(&arguments);
    let report: serde_json::Value = serde_json::from_str(&run.stdout)
        .map_err(|error| format!("{error}: {}{}", run.stdout, run.stderr))?;
    let findings = report["findings"].as_array().unwrap();
    let fires =
        |finding: &serde_json::Value| finding["rule"] == rule && finding["severity"] == "error";
    let flagged = findings.iter().any(fires);
    let expected = name(Path::new(&path)).starts_with("flags-");
    // One that passes has no finding at all, and the exit code says the same.
    let right = flagged == expected && (expected || findings.is_empty());
    let code = if expected { 4 } else { 0 };
    if right && run.code == code {
        Ok(())
    } else {
        Err(format!("exit {}: {report:#}", run.code))
    }
}

/// Whether a rule is about a change between two cassettes.
fn is_change(rule: &str) -> bool {
    rule.starts_with("R10")
}

fn changes(path: &Path) -> Result<Vec<Finding>, String> {
    let baseline = path.with_file_name(name(path).replace(".mcp.json", BASELINE));
    let load = |path: &Path| Cassette::load(path).map_err(|error| error.to_string());
    let (old, new) = (load(&baseline)?, load(path)?);
    let found = diff(&old, &new, &DiffOptions::default()).map_err(|error| error.to_string())?;
    Ok(diff::findings(&found, Some(&old), Some(&new)))
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
