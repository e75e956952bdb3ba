//! Formats that others define: SARIF against the standard's schema, and Markdown
//! read by a parser of it.

use super::runner::{HOSTILE, hostile_checked, hostile_diff, hostile_report};
use super::samples::{demo_checked, demo_diff, demo_report, many};
use super::{Format, Style, lint, render_diff};
use crate::finding::{RuleId, Severity, Status};
use crate::report::{Checked, render_check};
use jsonschema::Validator;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use serde_json::Value;

fn schema() -> Validator {
    let text = include_str!("../../../tests/fixtures/sarif/sarif-schema-2.1.0.json");
    let mut schema: Value = serde_json::from_str(text).unwrap();
    // Its pattern is no regular expression to a strict reader; we never write a language.
    for owner in ["run", "toolComponent"] {
        schema["definitions"][owner]["properties"]["language"] = false.into();
    }
    jsonschema::options()
        .should_validate_formats(true)
        .build(&schema)
        .unwrap()
}

fn assert_valid(schema: &Validator, sarif: &str) -> Value {
    let value: Value = serde_json::from_str(sarif).unwrap();
    let errors: Vec<String> = schema
        .iter_errors(&value)
        .map(|error| error.to_string())
        .collect();
    assert!(errors.is_empty(), "{errors:#?}\n{sarif}");
    value
}

fn sarif(checked: &Checked) -> String {
    render_check(Format::Sarif, checked, &Style::default())
}

#[test]
fn sarif_of_every_command_is_valid() {
    let schema = schema();
    let style = Style::default();
    assert_valid(&schema, &lint(Format::Sarif, &[demo_report()], &style));
    assert_valid(&schema, &lint(Format::Sarif, &[], &style));
    assert_valid(
        &schema,
        &render_diff(Format::Sarif, &demo_diff(), false, &style),
    );
    assert_valid(&schema, &sarif(&demo_checked()));
    for text in HOSTILE {
        assert_valid(
            &schema,
            &lint(Format::Sarif, &[hostile_report(text)], &style),
        );
        assert_valid(
            &schema,
            &render_diff(Format::Sarif, &hostile_diff(text), false, &style),
        );
        assert_valid(&schema, &sarif(&hostile_checked(text)));
    }
    assert!(!schema.is_valid(&serde_json::json!({"version": "2.1.0", "runs": [{}]})));
}

#[test]
fn sarif_says_what_a_finding_says() {
    let mut checked = demo_checked();
    let mut of_pack = checked.cassettes[1].report.findings[0].clone();
    of_pack.rule = RuleId::from_pack("ACME-1");
    checked.cassettes[1].report.findings.push(of_pack);
    let log = assert_valid(&schema(), &sarif(&checked));
    let run = &log["runs"][0];
    assert_eq!(run["columnKind"], "unicodeCodePoints");
    assert_eq!(run["invocations"][0]["exitCode"], 2);
    assert_eq!(run["invocations"][0]["executionSuccessful"], false);
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let ids: Vec<&str> = rules
        .iter()
        .map(|rule| rule["id"].as_str().unwrap())
        .collect();
    assert!(
        ids.contains(&"ACME-1") && ids.contains(&"R101") && !ids.contains(&"R016"),
        "{ids:?}"
    );
    let findings = &checked.cassettes[1].report.findings;
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), findings.len());
    for (result, finding) in results.iter().zip(findings) {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(ids[index], finding.rule.as_str());
        assert_eq!(result["level"], finding.severity.as_str());
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(
            place["artifactLocation"]["uri"],
            "tests/cassettes/search.mcp.json"
        );
        assert_eq!(place["region"]["startLine"], finding.region.start.line);
        assert_eq!(
            result["partialFingerprints"]["mcpCassette/v1"],
            finding.fingerprint
        );
        let existing = finding.status == Status::Existing;
        assert_eq!(
            result["baselineState"],
            if existing { "unchanged" } else { "new" }
        );
        let accepted = matches!(finding.status, Status::Accepted { .. });
        assert_eq!(result["suppressions"].is_array(), accepted);
    }
    let r001 = &rules[ids.iter().position(|id| *id == "R001").unwrap()];
    assert_eq!(r001["defaultConfiguration"]["level"], "error");
    assert_eq!(r001["properties"]["owasp"][0], "MCP03");
    assert!(
        r001["help"]["markdown"]
            .as_str()
            .unwrap()
            .starts_with("# R001 ")
    );
}

#[test]
fn sarif_keeps_the_most_severe_results_and_says_how_many_are_left_out() {
    let checked = many(25_003, "x");
    let log: Value = serde_json::from_str(&sarif(&checked)).unwrap();
    let run = &log["runs"][0];
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), 25_000);
    let notes = results
        .iter()
        .filter(|result| result["level"] == "note")
        .count();
    let expected = checked.counts().notes - 3;
    assert_eq!(notes, expected);
    let said = run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"].as_str();
    assert!(
        said.unwrap().starts_with("3 results are left out"),
        "{said:?}"
    );
}

/// What a reader of the page sees, and the links in it.
struct Read {
    rows: usize,
    links: Vec<String>,
    code: Vec<String>,
}

/// Fails on everything that is no plain text, table, list, heading, code or link.
fn read(page: &str) -> Read {
    let mut found = Read {
        rows: 0,
        links: Vec::new(),
        code: Vec::new(),
    };
    let mut cells = 0;
    let mut open = 0_i32;
    for event in Parser::new_ext(page, Options::all()) {
        match event {
            Event::Start(tag) => {
                open += 1;
                match tag {
                    Tag::Link { dest_url, .. } => found.links.push(dest_url.into_string()),
                    Tag::TableRow | Tag::TableHead => cells = 0,
                    Tag::TableCell => cells += 1,
                    Tag::Paragraph
                    | Tag::Heading { .. }
                    | Tag::CodeBlock(_)
                    | Tag::List(None)
                    | Tag::Item
                    | Tag::Table(_)
                    | Tag::Strong => {}
                    other => panic!("{other:?} in {page}"),
                }
            }
            Event::End(tag) => {
                open -= 1;
                if tag == TagEnd::TableRow {
                    assert_eq!(cells, 5, "{page}");
                    found.rows += 1;
                }
            }
            Event::Code(text) => found.code.push(text.into_string()),
            Event::Text(_) | Event::SoftBreak => {}
            Event::InlineHtml(html) => assert_eq!(&*html, "<br>", "{page}"),
            other => panic!("{other:?} in {page}"),
        }
    }
    assert_eq!(open, 0, "{page}");
    found
}

fn assert_only_our_links(read: &Read) {
    let ours = "https://github.com/cheneeheng/mcp-cassette/blob/main/docs/rules/R";
    assert!(
        read.links.iter().all(|link| link.starts_with(ours)),
        "{:?}",
        read.links
    );
}

const MARKUP: [&str; 16] = [
    "[text](https://evil.example)",
    "![image](https://evil.example/x.png)",
    "https://evil.example www.evil.example a@evil.example",
    "@someone and #1 and GH-1 and owner/repo#1",
    "<img src=x onerror=alert(1)><script>x</script>",
    "a | b \\| c \\\\| d |",
    "`code` ``more`` ```",
    "`",
    "``|`|``",
    "</details></table>\n\n# heading\n\n- list\n\n> quote",
    "\n\n```\n~~~\n",
    "| a | b |\n|---|---|\n",
    "&lt;b&gt; &#64;x &amp;",
    "$x^2$ *a* _b_ ~c~ :tada:",
    "[^1] [x]: https://evil.example",
    "a\u{202e}b\u{200b}c\u{e0041}\u{1b}[31m",
];

#[test]
fn a_summary_shows_recorded_text_as_text() {
    for text in MARKUP.into_iter().chain(HOSTILE) {
        let checked = hostile_checked(text);
        let page = render_check(Format::Markdown, &checked, &Style::default());
        let read_back = read(&page);
        assert_only_our_links(&read_back);
        let total: usize = checked
            .cassettes
            .iter()
            .map(|c| c.report.findings.len())
            .sum();
        assert_eq!(read_back.rows, total, "{page}");
        let outside_code = !page.replace("##\\u{5b}", "").contains('\u{202e}');
        assert!(outside_code, "{page}");
        assert_only_our_links(&read(&lint(
            Format::Markdown,
            &[hostile_report(text)],
            &Style::default(),
        )));
        let diff = render_diff(
            Format::Markdown,
            &hostile_diff(text),
            false,
            &Style::default(),
        );
        assert_only_our_links(&read(&diff));
    }
}

#[test]
fn a_summary_says_what_was_recorded() {
    for text in ["a|b", "a\\b", "`x`", " x", "<b>", "a`|`b"] {
        let mut checked = many(1, "");
        checked.cassettes[1].report.findings[0].message = text.to_owned();
        let page = render_check(Format::Markdown, &checked, &Style::default());
        let read = read(&page);
        assert!(read.code.iter().any(|code| code == text), "{text}: {page}");
    }
}

#[test]
fn a_cut_summary_is_closed_and_has_the_rows_that_it_says() {
    let long = "日本語と é and 👍 ` | <b>@x</b> [a](b) ".repeat(60);
    let mut checked = many(3_000, &long);
    for finding in &mut checked.cassettes[1].report.findings {
        finding.severity = Severity::Error;
    }
    let page = render_check(Format::Markdown, &checked, &Style::default());
    assert!(page.len() < 1_000_000);
    let read = read(&page);
    assert_only_our_links(&read);
    assert!(read.rows > 300, "{}", read.rows);
    assert!(
        page.contains(&format!("**{} findings", 3_000 - read.rows)),
        "{}",
        read.rows
    );
}
