//! Changes as findings: rule, severity, place, fingerprint, and what is quoted.

use super::{Session, full, tool, tool_with};
use crate::diff::{cassette_deleted, cassette_new, findings};
use crate::finding::{Finding, Severity};

fn found(old: &Session, new: &Session) -> Vec<Finding> {
    let diff = full(old, new);
    findings(&diff, Some(&old.cassette()), Some(&new.cassette()))
}

fn summary(findings: &[Finding]) -> Vec<String> {
    let line = |finding: &Finding| {
        let tool = finding.tool.as_deref().unwrap_or("-");
        format!("{} {} {tool}", finding.rule, finding.severity)
    };
    findings.iter().map(line).collect()
}

/// The text of a cassette at a finding's place.
fn at<'t>(text: &'t str, finding: &Finding) -> &'t str {
    &text[finding.region.bytes.clone()]
}

#[test]
fn each_kind_of_change_has_its_rule_and_its_severity() {
    let schema = r#""inputSchema": {"type": "object", "required": ["q"], "properties": {"q": {}}}"#;
    let old = Session::new()
        .initialize(r#"{"instructions": "Be kind."}"#)
        .tools(&[&tool("gone", "x"), &tool("kept", "x"), &tool("schema", "x")])
        .call("prompts/list", "{}", r#"{"prompts": [{"name": "p"}]}"#)
        .call(
            "resources/list",
            "{}",
            r#"{"resources": [{"uri": "a:b", "name": "r"}]}"#,
        );
    let new = Session::new()
        .initialize(r#"{"instructions": "Be quick."}"#)
        .tools(&[
            &tool("kept", "y"),
            &tool_with("new", r#""title": "t""#),
            &tool_with(
                "schema",
                &format!(r#""description": "x", "title": "t", {schema}"#),
            ),
        ])
        .call("prompts/list", "{}", r#"{"prompts": []}"#)
        .call(
            "resources/list",
            "{}",
            r#"{"resources": [{"uri": "a:b", "name": "s"}]}"#,
        );
    let mut lines = summary(&found(&old, &new));
    lines.sort();
    assert_eq!(
        lines,
        [
            "R101 error gone",
            "R102 warning new",
            "R103 warning kept",
            "R104 error schema",
            "R106 warning schema",
            "R107 error p",
            "R108 error a:b",
            "R109 warning -",
        ]
    );
}

#[test]
fn a_change_is_at_its_place_and_a_removal_at_the_listing_that_lacks_it() {
    let old = Session::new().tools(&[&tool("a", "old words"), &tool("b", "x")]);
    let new = Session::new().tools(&[&tool("a", "new words")]);
    let text = new.text();
    let findings = found(&old, &new);
    assert_eq!(summary(&findings), ["R101 error b", "R103 warning a"]);
    assert_eq!(at(&text, &findings[0]), "\"tools\"");
    assert_eq!(findings[0].locator, "/messages/1/payload/result/tools");
    assert_eq!(findings[0].excerpt.line, 3);
    assert_eq!(at(&text, &findings[1]), "\"new words\"");
    assert_eq!(
        findings[1].locator,
        "/messages/1/payload/result/tools/0/description"
    );
    assert!(
        findings[1]
            .message
            .starts_with("tool \"a\": description changed (+1 -1 lines) [compatible]\n--- ")
    );
    assert!(findings[1].message.ends_with("\n-old words\n+new words"));
}

#[test]
fn a_removal_is_on_the_first_line_where_nothing_was_listed() {
    let old = Session::new().tools(&[&tool("a", "x")]);
    let findings = found(&old, &Session::new());
    assert_eq!(summary(&findings), ["R101 error a"]);
    assert_eq!(
        (findings[0].region.start.line, &*findings[0].locator),
        (1, "")
    );
}

#[test]
fn removed_instructions_are_at_the_answer_that_lacks_them() {
    let old = Session::new().initialize(r#"{"instructions": "Be kind."}"#);
    let new = Session::new().initialize(r#"{"capabilities": {}}"#);
    let findings = found(&old, &new);
    assert_eq!(findings[0].locator, "/messages/1/payload/result");
    assert_eq!(at(&new.text(), &findings[0]), "\"result\"");
}

#[test]
fn a_fingerprint_survives_moved_lines_and_no_change_of_either_text() {
    let session = |description: &str| Session::new().tools(&[&tool("a", description)]);
    let print = |old: &Session, new: &Session| found(old, new)[0].fingerprint.clone();
    let (old, new) = (session("old"), session("new"));
    let moved = Session::new()
        .call("ping", "{}", "{}")
        .tools(&[&tool("b", "x"), &tool("a", "new")]);
    let moved = found(&old, &moved);
    let moved = moved
        .iter()
        .find(|finding| finding.rule.as_str() == "R103")
        .unwrap();
    assert_eq!(moved.fingerprint, print(&old, &new));
    assert_ne!(print(&old, &session("newer")), print(&old, &new));
    assert_ne!(print(&session("older"), &new), print(&old, &new));
}

/// A detail shows sixty characters of a value, and the fingerprint covers all of it.
#[test]
fn a_fingerprint_covers_what_a_message_cuts_off() {
    let session = |end: &str| {
        let value = format!("{}{end}", "word ".repeat(40));
        let schema = format!(r#""inputSchema": {{"type": "object", "default": "{value}"}}"#);
        Session::new().tools(&[&tool_with("a", &schema)])
    };
    let old = Session::new().tools(&[&tool_with("a", r#""inputSchema": {"type": "object"}"#)]);
    let (one, other) = (found(&old, &session("x")), found(&old, &session("y")));
    assert_eq!(one[0].message, other[0].message);
    assert_ne!(one[0].fingerprint, other[0].fingerprint);
}

#[test]
fn keys_in_changed_text_are_cut_and_a_rotated_key_is_still_a_change() {
    let key = |end: &str| format!("ghp_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3x{end}");
    let session = |key: &str| Session::new().tools(&[&tool("a", &format!("Use {key} here."))]);
    let findings = found(&session(&key("Y5")), &session(&key("Z6")));
    assert_eq!(summary(&findings), ["R103 warning a"]);
    let shown = format!("{findings:?}");
    assert!(
        shown.contains("ghp_aB…") && !shown.contains("ghp_aB3"),
        "{shown}"
    );
}

#[test]
fn a_name_cannot_look_like_a_line_of_the_message() {
    let old = Session::new();
    let new = Session::new().tools(&[&tool(r"a\n--- x", "x")]);
    let findings = found(&old, &new);
    assert_eq!(
        findings[0].message,
        "tool \"a\\n--- x\": added [compatible]"
    );
}

#[test]
fn without_cassettes_there_is_still_a_finding_a_change() {
    let old = Session::new().tools(&[&tool("a", "old"), &tool("b", "x")]);
    let new = Session::new().tools(&[&tool("a", "new")]);
    let findings = findings(&full(&old, &new), None, None);
    assert_eq!(summary(&findings), ["R101 error b", "R103 warning a"]);
}

#[test]
fn equal_cassettes_give_no_finding() {
    let session = Session::new().tools(&[&tool("a", "x")]);
    assert_eq!(found(&session, &session), []);
}

#[test]
fn deleted_and_new_cassettes_name_the_server() {
    let head = r#""server_info": {"name": "weather", "version": "1"}"#;
    let cassette = Session::new().head(head).cassette();
    let gone = cassette_deleted("a.mcp.json", Some(&cassette));
    assert_eq!(
        (gone.rule.as_str(), gone.severity),
        ("R110", Severity::Warning)
    );
    assert!(gone.message.contains("\"weather\""), "{}", gone.message);
    let unread = cassette_deleted("a.mcp.json", None);
    assert_ne!(unread.fingerprint, gone.fingerprint);
    let new = cassette_new(&cassette);
    assert_eq!((new.rule.as_str(), new.severity), ("R111", Severity::Note));
    assert!(new.message.contains("\"weather\""), "{}", new.message);
    assert_eq!(new.region.start.line, 1);
}
