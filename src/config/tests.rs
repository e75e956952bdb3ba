use super::*;

fn own(text: &str) -> Result<Config, ConfigError> {
    parse(Path::new("sub/mcp-cassette.toml"), text.as_bytes()).map(|config| config.expect("ours"))
}

fn refused(text: &str) -> String {
    own(text).expect_err(text).to_string()
}

const ALL_KEYS: &str = r#"
[lint]
pattern_packs = ["packs/team.toml", "/abs/pack.toml"]
select = ["R001"]
ignore = ["R002", "P001"]
fail_on = "warning"
require_redaction = "team"
[lint.entropy]
enabled = false
min_bits = 4
min_length = 0x18
allowlist = ["abc"]
[check]
cassettes = ["tests/**/*.mcp.json"]
checks = ["lint", "redaction"]
base = "auto"
[[accept]]
rule = "R011"
fingerprint = "v1:0123456789abcdef"
reason = "looked at"
expires = 2027-01-31
[[accept]]
rule = "R012"
fingerprint = "v1:fedcba9876543210"
reason = "looked at"
expires = "2027-02-28"
"#;

#[test]
fn every_key_is_read_and_paths_are_relative_to_the_file() {
    let config = own(ALL_KEYS).expect("a configuration");
    let lint = &config.lint;
    assert_eq!(
        lint.pattern_packs,
        [
            Path::new("sub/packs/team.toml"),
            Path::new("/abs/pack.toml")
        ]
    );
    assert_eq!(lint.select.as_ref().map(|list| list.line), Some(4));
    assert_eq!(lint.fail_on, Some(Severity::Warning));
    assert_eq!(lint.entropy.enabled, Some(false));
    assert_eq!(lint.entropy.min_bits, Some(4.0));
    assert_eq!(lint.entropy.min_length, Some(24));
    assert_eq!(
        config.check.checks,
        Some(vec![Check::Lint, Check::Redaction])
    );
    assert_eq!(config.check.base.as_deref(), Some("auto"));
    let days: Vec<_> = config.accept.iter().map(|e| e.expires.as_deref()).collect();
    assert_eq!(days, [Some("2027-01-31"), Some("2027-02-28")]);
    assert_eq!(config.accept[1].line, 22);
}

#[test]
fn the_shared_file_has_the_same_keys_in_its_table() {
    let shared = ALL_KEYS
        .replace("[lint", "[tool.mcp_cassette.lint")
        .replace("[check]", "[tool.mcp_cassette.check]")
        .replace("[[accept]]", "[[tool.mcp_cassette.accept]]");
    let path = Path::new("sub/pyproject.toml");
    let config = parse(path, shared.as_bytes())
        .expect("valid")
        .expect("ours");
    let expected = Config {
        path: path.to_owned(),
        ..own(ALL_KEYS).expect("a configuration")
    };
    assert_eq!(config, expected);
}

#[test]
fn a_shared_file_without_our_table_says_nothing() {
    let path = Path::new("pyproject.toml");
    for text in [
        "",
        "[tool.x]\n",
        "not ][ toml",
        "x = 'mcp_cassette'",
        "tool.mcp_cassettes = 1",
    ] {
        assert_eq!(parse(path, text.as_bytes()).expect(text), None, "{text}");
    }
    assert_eq!(parse(path, b"\xff = 1").expect("skipped"), None);
}

#[test]
fn a_shared_file_that_mentions_us_must_be_valid() {
    let path = Path::new("pyproject.toml");
    for (bytes, expected) in [
        (
            &b"a = 1\n[tool.mcp_cassette\n"[..],
            "pyproject.toml:2: is not valid TOML: ",
        ),
        (
            b"\n# mcp_cassette \xff",
            "pyproject.toml:2: is not UTF-8 text here",
        ),
        (
            b"tool.mcp_cassette = 1",
            "pyproject.toml:1: [tool] \"mcp_cassette\" is 1, it must be a table",
        ),
        (
            b"[tool.mcp_cassette]\nx = 1",
            "pyproject.toml:2: [tool.mcp_cassette] has no key \"x\"",
        ),
    ] {
        let error = parse(path, bytes).expect_err(expected).to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn accept_entries_must_name_a_finding_and_a_reason() {
    let entry = |rest: &str| refused(&format!("[[accept]]\nrule = \"R001\"\n{rest}\n"));
    let print = "fingerprint = \"v1:0123456789abcdef\"";
    for (rest, expected) in [
        (
            "reason = \"x\"".to_owned(),
            ":1: [[accept]] has no \"fingerprint\"",
        ),
        (
            format!("{print}\nreason = \" \""),
            ":4: [[accept]] \"reason\" is \" \"",
        ),
        (
            "fingerprint = \"v1:xyz\"".to_owned(),
            ":3: [[accept]] \"fingerprint\" is \"v1:xyz\"",
        ),
        (
            "fingerprint = \"v1:0123456789ABCDEF\"".to_owned(),
            ":3: [[accept]] \"fingerprint\"",
        ),
        (
            "fingerprint = \"v2:0123456789abcdef\"".to_owned(),
            ":3: [[accept]] \"fingerprint\"",
        ),
        (
            format!("{print}\nreason = \"x\"\nexpires = \"soon\""),
            ":5: [[accept]] \"expires\"",
        ),
        (
            format!("{print}\nreason = \"x\"\nexpires = \"2027-02-30\""),
            ":5: [[accept]] \"expires\"",
        ),
        (
            format!("{print}\nreason = \"x\"\nexpires = 2027-01-31T00:00:00Z"),
            ":5: [[accept]]",
        ),
        (
            format!("{print}\nreason = \"x\"\nexpires = 2027"),
            ":5: [[accept]] \"expires\" is 2027",
        ),
        (
            format!("{print}\nreason = \"x\"\nuntil = 1"),
            ":5: [[accept]] has no key \"until\"",
        ),
    ] {
        let error = entry(&rest);
        let expected = format!("sub/mcp-cassette.toml{expected}");
        assert!(error.starts_with(&expected), "{rest}: {error}");
    }
    assert!(refused("accept = 1").contains("an array of tables, [[accept]]"));
    assert!(refused("accept = [1]").contains("an array of tables, [[accept]]"));
}

#[test]
fn a_glob_that_is_none_is_refused() {
    let error = refused("[check]\ncassettes = [\"a\", \"[\"]");
    assert!(
        error.starts_with("sub/mcp-cassette.toml:2: [check] \"cassettes\" "),
        "{error}"
    );
}

#[test]
fn a_deeply_nested_file_is_refused_and_not_a_crash() {
    let error = refused(&format!("lint = {}", "[".repeat(100_000)));
    assert!(error.contains("is not valid TOML"), "{error}");
}

#[test]
fn a_file_may_begin_with_a_byte_order_mark_and_end_its_lines_with_crlf() {
    let error = refused("\u{feff}[lint]\r\n\r\nx = 1\r\n");
    assert!(error.starts_with("sub/mcp-cassette.toml:3: "), "{error}");
}

#[test]
fn flags_replace_values_and_packs_add_up() {
    let config = own(ALL_KEYS).expect("a configuration");
    let unchanged = LintSettings::merge(&config, &LintFlags::default());
    assert_eq!(unchanged.select.ids, ["R001"]);
    assert_eq!(unchanged.select.origin, "select in sub/mcp-cassette.toml:4");
    assert_eq!(unchanged.fail_on, Severity::Warning);
    assert!(!unchanged.entropy.enabled);
    assert_eq!(unchanged.accept.len(), 2);

    let flags = LintFlags {
        select: vec!["R003".into()],
        pattern_packs: vec!["flag.toml".into()],
        fail_on: Some(Severity::Error),
        require_redaction: Some("other".into()),
        entropy: Some(true),
        min_bits: Some(2.0),
        allow: vec!["x".into()],
        ..LintFlags::default()
    };
    let merged = LintSettings::merge(&config, &flags);
    assert_eq!(merged.select.ids, ["R003"]);
    assert_eq!(merged.select.origin, "--select");
    assert_eq!(merged.ignore, unchanged.ignore);
    assert_eq!(merged.fail_on, Severity::Error);
    assert_eq!(merged.require_redaction.as_deref(), Some("other"));
    let packs = ["sub/packs/team.toml", "/abs/pack.toml", "flag.toml"];
    assert_eq!(merged.pattern_packs, packs.map(PathBuf::from));
    let entropy = EntropySettings {
        enabled: true,
        min_bits: 2.0,
        min_length: 24,
        allow: vec!["x".into()],
    };
    assert_eq!(merged.entropy, entropy);
}

#[test]
fn the_defaults_are_those_of_0_4_0() {
    let settings = LintSettings::merge(&Config::default(), &LintFlags::default());
    assert_eq!(settings.fail_on, Severity::Error);
    assert_eq!(settings.entropy.min_bits, 3.5);
    assert_eq!(settings.entropy.min_length, 20);
    assert!(settings.entropy.enabled && settings.entropy.allow.is_empty());
}
