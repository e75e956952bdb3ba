//! Behaviour of the whole layer.

use super::bundled;
use super::manifest::{Manifest, PackFiles};
use super::pseudonym::Salt;
use super::redactor::{Action, Hit, MessageContext, Redaction, Redactor, Rules};
use crate::cassette::{Cassette, Sender};
use crate::wire::json::write_string;
use serde::Deserialize;
use serde_json::value::RawValue;

fn redactor() -> Redactor {
    Redactor::new(&Rules::default()).unwrap()
}

fn server(redactor: &Redactor, payload: &str) -> Redaction {
    let context = MessageContext {
        sender: Sender::Server,
        answers: Some("tools/call"),
    };
    redactor.message(payload, &context)
}

/// A value as the structured result of a tool.
fn result(value: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"structuredContent":{{"item":{value}}}}}}}"#)
}

fn quoted(text: &str) -> String {
    let mut out = String::new();
    write_string(text, &mut out);
    out
}

/// A text as it comes out, and what was found in it.
fn text(redactor: &Redactor, text: &str) -> (String, Vec<Hit>) {
    let payload = result(&quoted(text));
    let redaction = server(redactor, &payload);
    let new = redaction.text.unwrap_or(payload);
    let inner = new
        .strip_prefix(r#"{"jsonrpc":"2.0","id":1,"result":{"structuredContent":{"item":"#)
        .and_then(|rest| rest.strip_suffix("}}}"))
        .unwrap();
    (serde_json::from_str(inner).unwrap(), redaction.hits)
}

#[test]
fn every_example_of_the_bundled_pack_is_found_and_no_negative_is() {
    let redactor = redactor();
    let mut wrong = Vec::new();
    for rule in bundled::common().unwrap().rules {
        let (examples, negatives) = &rule.samples;
        assert!(examples.len() >= 3 && negatives.len() >= 4, "{}", rule.id);
        for example in examples {
            let (new, hits) = text(&redactor, example);
            if new == *example || !hits.iter().any(|hit| hit.rule == rule.id) {
                wrong.push(format!("{} misses {example}", rule.id));
            }
        }
        for negative in negatives {
            let (_, hits) = text(&redactor, negative);
            if let Some(hit) = hits.first() {
                wrong.push(format!("{} finds {negative}", hit.rule));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A row of the tables: what is in a message, and whether it has to go.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    redact: bool,
    value: Box<RawValue>,
    note: String,
    /// What must not be left, if it is more than that something changes.
    secret: Option<String>,
}

fn rows(table: &str) -> Vec<Row> {
    let rows = table.lines().filter(|line| !line.trim().is_empty());
    rows.map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

fn check_rows(table: &str, least: usize) {
    let redactor = redactor();
    let rows = rows(table);
    assert!(rows.len() >= least);
    let mut wrong = Vec::new();
    for row in &rows {
        let payload = result(row.value.get());
        let redaction = server(&redactor, &payload);
        let changed = redaction
            .hits
            .iter()
            .any(|hit| hit.action == Action::Replaced);
        let new = redaction.text.clone().unwrap_or(payload);
        if changed != row.redact || redaction.text.is_some() != row.redact {
            wrong.push(format!("{}: {} -> {new}", row.note, row.value.get()));
        }
        if let Some(secret) = &row.secret
            && row.redact
            && new.contains(secret)
        {
            wrong.push(format!("{}: left in {new}", row.note));
        }
        serde_json::from_str::<&RawValue>(&new).unwrap();
        let again = server(&redactor, &new);
        if again.text.is_some() {
            wrong.push(format!(
                "{}: changed twice {new} {:?}",
                row.note, again.text
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_given_rows_come_out_right() {
    check_rows(
        include_str!("../../tests/fixtures/redaction/given.jsonl"),
        40,
    );
}

#[test]
fn our_own_rows_come_out_right() {
    check_rows(include_str!("../../tests/fixtures/redaction/own.jsonl"), 90);
}

fn fixture(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/redaction/");
    std::fs::read_to_string(format!("{folder}{name}")).unwrap()
}

/// The rules of the recording that 0.4.0 made of the fixtures.
fn rules_of_0_4_0() -> Redactor {
    let name = "recorded-by-0.4.0.mcp.json";
    let cassette = Cassette::parse(name, fixture(name).into_bytes()).unwrap();
    let manifest = Manifest::parse(cassette.redaction_manifest().unwrap()).unwrap();
    let given = [("acme.toml".to_owned(), fixture("acme.toml").into_bytes())];
    let files = PackFiles {
        given: &given,
        read: &|_| None,
    };
    Redactor::from_manifest(&manifest, files, None).unwrap()
}

#[derive(Deserialize)]
struct Pseudonym {
    text: String,
    server: String,
    client: String,
}

#[test]
fn texts_become_what_0_4_0_made_of_them() {
    let redactor = rules_of_0_4_0();
    let table = fixture("pseudonyms.jsonl");
    let (mut wrong, mut pseudonyms) = (Vec::new(), 0);
    for line in table.lines() {
        let row: Pseudonym = serde_json::from_str(line).unwrap();
        for (sender, expected) in [(Sender::Server, &row.server), (Sender::Client, &row.client)] {
            let params = format!(r#"{{"data":{}}}"#, quoted(&row.text));
            let payload = format!(r#"{{"jsonrpc":"2.0","method":"n","params":{params}}}"#);
            let context = MessageContext {
                sender,
                answers: None,
            };
            let new = redactor.message(&payload, &context).text.unwrap_or(payload);
            let expected = format!(r#"{{"data":{}}}"#, quoted(expected));
            if !new.contains(&expected) {
                wrong.push(format!("{}: {new}, not {expected}", row.text));
            }
        }
        pseudonyms += usize::from(row.server.contains(">_"));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(pseudonyms > 400, "{pseudonyms}");
}

#[test]
fn names_are_redacted_as_0_4_0_did_under_its_manifest() {
    let redactor = rules_of_0_4_0();
    for (given, expected) in [
        (r#"{"max_tokens":5}"#, r#"{"max_tokens":"REDACTED"}"#),
        (r#"{"token":null}"#, r#"{"token":"REDACTED"}"#),
        (r#"{"api-key":{"a":[]}}"#, r#"{"api-key":"REDACTED"}"#),
        (r#"{"x-authorization":"a"}"#, r#"{"x-authorization":"a"}"#),
        (
            r#"{"t":"{\"token\":\"x\"}"}"#,
            r#"{"t":"{\"token\":\"x\"}"}"#,
        ),
        (r#"{"a@b.co":"a"}"#, r#"{"a@b.co":"a"}"#),
    ] {
        let new = server(&redactor, given).text;
        assert_eq!(new.as_deref().unwrap_or(given), expected);
    }
}

#[test]
fn the_protocol_and_definitions_are_left_alone() {
    let redactor = redactor();
    for payload in [
        r#"{"jsonrpc":"2.0","id":"a@b.co","method":"tools/call","params":{"name":"get_password","arguments":{},"_meta":{"progressToken":"tok-1"}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"jane@example.org","progress":1}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[],"nextCursor":"jane@example.org"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"eyJtYWlsIjoiamFuZUBleGFtcGxlLm9yZyJ9"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","requestState":"password=hunter2","inputRequests":{"q":{"method":"elicitation/create","params":{"requestedSchema":{"properties":{"password":{"type":"string"}}}}}}}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"task":{"taskId":"+14155550123","status":"working"}}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"login","description":"Mail admin@example.org, password: hunter2","inputSchema":{"type":"object","properties":{"token":{"type":"string","default":"abc"},"password":{"type":"string"}}}}]}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","instructions":"Call +1 415 555 0123 for a token","serverInfo":{"name":"a","version":"1.2.3.4"}}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"prompts":[{"name":"token","arguments":[{"name":"secret","description":"a secret"}]}]}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"jane@example.org"}}"#,
    ] {
        let context = MessageContext {
            sender: Sender::Server,
            answers: None,
        };
        let redaction = redactor.message(payload, &context);
        assert_eq!(redaction.text, None, "{payload}");
    }
}

#[test]
fn secrets_are_taken_out_of_definitions() {
    let key = "ghp_q8N2vR5xL1mZ7pK4tW9yB3cF6hJ0dG2sA5eU";
    let payload = format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":[{{"name":"x","description":"use {key}","inputSchema":{{"properties":{{"{key}":{{}}}}}}}}],"instructions":"postgres://u:Kettle-blue-92@db/x"}}}}"#
    );
    let redaction = redactor().message(
        &payload,
        &MessageContext {
            sender: Sender::Server,
            answers: Some("tools/list"),
        },
    );
    let new = redaction.text.unwrap();
    assert!(!new.contains("q8N2v") && !new.contains("Kettle"), "{new}");
    assert!(new.contains("use <GITHUB_TOKEN>_") && new.contains("postgres://u:<REDACTED>@db/x"));
}

#[test]
fn a_pair_with_a_repeated_member_hides_nothing() {
    let pair = r#"{"name":"Authorization","name":"x","value":"a b","value":{"c":"d e"}}"#;
    let new = server(&redactor(), &result(pair)).text.unwrap();
    assert!(!new.contains("a b") && !new.contains("d e"), "{new}");
}

#[test]
fn a_name_is_the_protocols_only_where_it_calls_something() {
    let payload = r#"{"jsonrpc":"2.0","method":"users/add","params":{"name":"jane@example.org"}}"#;
    assert!(server(&redactor(), payload).text.is_some());
}

#[test]
fn a_listing_is_a_listing_only_as_the_answer_to_one() {
    let payload = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"token":"abc-123"}]}}"#;
    assert!(server(&redactor(), payload).text.is_some());
}

#[test]
fn other_tokens_keep_their_bytes() {
    let payload = "{ \"jsonrpc\" : \"2.0\",\n \"id\": 1e0, \"result\": {\"n\": 1.0, \"big\": 18446744073709551616, \"a\": \"x\\u0041\\ud83d\", \"t\": \"caf\\u00e9 \\ud83d a@b.co \\/ z\", \"n\": 2}}";
    let redaction = server(&redactor(), payload);
    let new = redaction.text.unwrap();
    assert_eq!(new, payload.replace("a@b.co", "<EMAIL>_d82504dac960"));
    assert_eq!(redaction.hits[0].pointer, "/result/t");
    assert_eq!(redaction.hits[0].sample, "a@b…");
}

#[test]
fn json_in_a_text_stays_json_token_by_token() {
    let (new, _) = text(
        &redactor(),
        "{\"a\" : 1.0,\n  \"token\": 5, \"b\": \"\\u0041\"}",
    );
    assert_eq!(
        new,
        "{\"a\" : 1.0,\n  \"token\": \"REDACTED\", \"b\": \"\\u0041\"}"
    );
}

#[test]
fn locators_reach_what_they_name() {
    let rules = Rules {
        redact: vec![
            "/params/arguments/q=QUERY".into(),
            "cust*".into(),
            "/id=X".into(),
        ],
        ..Rules::default()
    };
    let redactor = Redactor::new(&rules).unwrap();
    let payload = r#"{"jsonrpc":"2.0","id":7,"method":"m","params":{"arguments":{"q":["a"],"Cust-No":4,"r":{"q":1}}}}"#;
    let new = server(&redactor, payload).text.unwrap();
    assert_eq!(
        new,
        r#"{"jsonrpc":"2.0","id":7,"method":"m","params":{"arguments":{"q":"QUERY","Cust-No":"REDACTED","r":{"q":1}}}}"#
    );
}

#[test]
fn a_marker_shields_nothing_beside_it() {
    let redactor = redactor();
    let hash = "_d82504dac960";
    let markers = ["<EMAIL>", "<CARD>", "<Odd label>", "REDACTED", "••••6411"];
    let secrets = [
        ("ghp_q8N2vR5xL1mZ7pK4tW9yB3cF6hJ0dG2sA5eU", "q8N2v"),
        ("jane.doe@corp.io", "jane.doe"),
        ("203.0.113.77", "203.0"),
        ("2001:db8::17", "db8"),
        ("+1 415 555 0123", "0123"),
        ("4111111111111111", "41111"),
        ("123-45-6789", "123-45"),
        ("DE89370400440532013000", "DE8937"),
        ("password=hunter2", "hunter2"),
        ("AKIAQ3EGRT5YHJ2KLMNO", "AKIA"),
        ("https://u:p4ss-w@h/x", "p4ss"),
    ];
    let mut wrong = Vec::new();
    for (marker, (secret, part)) in markers
        .iter()
        .flat_map(|marker| secrets.iter().map(move |secret| (marker, secret)))
    {
        let hashed = match marker.starts_with('<') {
            true => format!("{marker}{hash}"),
            false => (*marker).to_owned(),
        };
        let behind = match (marker.starts_with('•'), *marker == "<Odd label>") {
            // Bullets show four characters of a value, whatever they are.
            (true, _) => format!("{secret} {hashed}"),
            (_, true) => format!("{secret}{hashed}"),
            _ => format!("{secret}{marker}{secret}"),
        };
        for given in [
            format!("{hashed}{secret}"),
            format!("{hashed}{secret}{hashed}"),
            format!("see {hashed}{secret}, {secret}"),
            behind,
        ] {
            let (new, _) = text(&redactor, &given);
            if new.contains(part) {
                wrong.push(format!("{given} -> {new}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn nothing_is_done_without_rules() {
    let rules = Rules {
        defaults: false,
        ..Rules::default()
    };
    let redactor = Redactor::new(&rules).unwrap();
    let payload = result(r#"{"token":"abc","mail":"a@b.co"}"#);
    assert_eq!(server(&redactor, &payload).text, None);
}

#[test]
fn what_is_nested_too_deep_is_reported() {
    let deep = format!("{}\"a@b.co\"{}", "[".repeat(600), "]".repeat(600));
    let redaction = server(&redactor(), &result(&deep));
    assert_eq!(redaction.text, None);
    assert_eq!(redaction.hits.len(), 1);
    assert_eq!(redaction.hits[0].action, Action::Unscanned);
    // No matter how deep, it ends.
    let deep = format!("{}1{}", "[".repeat(200_000), "]".repeat(200_000));
    assert_eq!(server(&redactor(), &deep).hits.len(), 1);
    let tokens = format!("{}1{}", "{\"tokens\":[".repeat(50_000), "]}".repeat(50_000));
    assert_eq!(server(&redactor(), &tokens).hits.len(), 1);
}

#[test]
fn personal_data_in_a_name_is_reported_and_stays() {
    let payload = result(r#"{"jane.doe@example.org":1}"#);
    let redaction = server(&redactor(), &payload);
    assert_eq!(redaction.text, None);
    assert_eq!(redaction.hits[0].action, Action::Reported);
}

/// What is said of a pack with that text.
fn refusal(body: &str) -> String {
    let rules = Rules {
        packs: vec![("p.toml".into(), body.as_bytes().to_vec())],
        ..Rules::default()
    };
    Redactor::new(&rules).unwrap_err().to_string()
}

const RULE: &str = "[[rules]]\nid = \"x\"\nlabel = \"X\"\nregex = \"x\"\n";

#[test]
fn mistakes_in_packs_are_named() {
    for (head, expected) in [
        (
            "version = 2\nid = \"a\"",
            "redaction pack p.toml:1: unsupported version 2",
        ),
        ("version = 1", "missing key `id`"),
        ("version = 1\nid = \"a b\"", "invalid pack id"),
        (
            "version = 1\nid = \"a\"\nfoo = 1",
            "unknown top-level key \"foo\"",
        ),
        (
            "version = 1\nid = \"common\"",
            "'common' is loaded twice (builtin:common and p.toml)",
        ),
    ] {
        let found = refusal(&format!("{head}\n{RULE}"));
        assert!(found.contains(expected), "{found}");
    }
}

#[test]
fn mistakes_in_rules_are_named() {
    for (line, expected) in [
        ("bar = 1", "unknown key \"bar\""),
        ("anchor = \"a\"", "unknown key \"anchor\""),
        ("strategy = \"zap\"", "unknown strategy \"zap\""),
        ("direction = \"client\"", "unknown direction"),
        ("validator = \"real-card\"", "unknown validator"),
        ("flags = [\"q\"]", "unknown regex flag"),
        (RULE, "duplicate rule id"),
        (
            "[[rules]]\nid = \"y\"\nlabel = \"<\"\nregex = \"x\"",
            "`label` must be",
        ),
        (
            "[[rules]]\nid = \"y\"\nlabel = \"Y\"\nregex = \"(\"",
            "invalid regex",
        ),
        ("[[rules]]\nid = \"y z\"", "invalid rule id"),
    ] {
        let found = refusal(&format!("version = 1\nid = \"a\"\n{RULE}{line}\n"));
        assert!(found.contains(expected), "{found}");
    }
}

#[test]
fn strategies_write_what_they_promise_and_warn_of_what_they_lose() {
    let rules = Rules {
        packs: vec![("acme.toml".into(), fixture("acme.toml").into_bytes())],
        ..Rules::default()
    };
    let redactor = Redactor::new(&rules).unwrap();
    assert_eq!(redactor.warnings(), Vec::<String>::new());
    let (new, _) = text(&redactor, "AB-123456 AB-123 room 12 db.internal");
    assert_eq!(new, "•••••3456 ••-123 <ROOM> host.invalid");
    let both = "version = 1\nid = \"a\"\n[[rules]]\nid = \"x\"\nlabel = \"X\"\nregex = \"x\"\nstrategy = \"replace\"\n";
    let rules = Rules {
        packs: vec![("p".into(), both.as_bytes().to_vec())],
        ..Rules::default()
    };
    assert!(Redactor::new(&rules).unwrap().warnings()[0].contains("a/x"));
}

#[test]
fn packs_resolve_by_hash_and_what_does_not_is_an_error() {
    let json = |id: &str, sha256: &str, salt: &str| {
        format!(
            r#"{{"profile":null,"backends":["structural"],"packs":[{{"id":"{id}","path":"gone.toml","sha256":"{sha256}"}}],"salt_mode":"{salt}"}}"#
        )
    };
    let given = [("other name".to_owned(), fixture("acme.toml").into_bytes())];
    let files = PackFiles {
        given: &given,
        read: &|_| None,
    };
    let acme = super::pseudonym::pack_hash(&given[0].1);
    let resolve =
        |json: &str, salt| Redactor::from_manifest(&Manifest::parse(json).unwrap(), files, salt);
    assert!(resolve(&json("acme", &acme, "stable"), None).is_ok());
    assert!(resolve(&json("common", bundled::HASH_0_4_0, "stable"), None).is_ok());
    let current = bundled::common().unwrap().sha256;
    assert!(resolve(&json("common", &current, "stable"), None).is_ok());
    let error = resolve(&json("x", "00", "stable"), None)
        .unwrap_err()
        .to_string();
    assert!(error.contains("'x'") && error.contains("sha256 00") && error.contains("--pii-pack"));
    let error = resolve(&json("acme", &acme, "env"), None)
        .unwrap_err()
        .to_string();
    assert!(error.contains("--redact-salt-env"), "{error}");
    assert!(
        resolve(
            &json("acme", &acme, "env"),
            Some(Salt::keyed(b"x".to_vec(), "env"))
        )
        .is_ok()
    );
    assert!(Manifest::parse(r#"{"ruleset":3}"#).is_err());
    assert!(Manifest::parse(r#"{"packs":1}"#).is_err());
}

#[test]
fn a_manifest_leads_back_to_the_same_rules() {
    let rules = Rules {
        redact: vec!["cust*=C".into(), "/params/q".into()],
        packs: vec![("acme.toml".into(), fixture("acme.toml").into_bytes())],
        profile: Some("strict".into()),
        ..Rules::default()
    };
    let redactor = Redactor::new(&rules).unwrap();
    let json = redactor
        .manifest("2026-11-29T12:00:00.000000Z")
        .to_json(None);
    let manifest = Manifest::parse(&json).unwrap();
    let files = PackFiles {
        given: &rules.packs,
        read: &|_| None,
    };
    let again = Redactor::from_manifest(&manifest, files, None).unwrap();
    for value in [
        r#"{"token":"x","customer":1,"t":"a@b.co CASE-1","max_tokens":4}"#,
        r#"{"t":"{\"password\":1}"}"#,
    ] {
        let payload = result(value);
        let one = server(&redactor, &payload).text;
        assert!(one.is_some());
        assert_eq!(one, server(&again, &payload).text);
    }
    assert_eq!(
        again.manifest("x").to_json(None),
        redactor.manifest("x").to_json(None)
    );
}

#[test]
fn a_manifest_is_laid_out_like_the_file_around_it() {
    let redactor = Redactor::new(&Rules::default()).unwrap();
    let json = redactor
        .manifest("2026-11-29T12:00:00.000000Z")
        .to_json(Some("\n  "));
    let head = r#"{"format_version": 3, "recorded_at": null, "redaction": "#;
    let text = format!("{head}{json}, \"messages\": []}}");
    let cassette = Cassette::parse("x", text.into_bytes()).unwrap();
    assert!(cassette.to_json().contains(&json), "{json}");
}

#[test]
fn the_bundled_pack_names_the_shapes_it_was_released_with() {
    let shapes = include_bytes!("../../packs/key-shapes.toml");
    let hash = super::pseudonym::pack_hash(shapes);
    let line = format!("secrets = \"{hash}\"");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/packs/common.toml");
    if std::env::var_os("UPDATE_FIXTURES").is_some() {
        let text = std::fs::read_to_string(path).unwrap();
        let old = text
            .lines()
            .find(|line| line.starts_with("secrets = "))
            .unwrap();
        std::fs::write(path, text.replace(old, &line)).unwrap();
    }
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.contains(&line), "set UPDATE_FIXTURES=1 to write it");
}

mod laws {
    use super::*;
    use proptest::prelude::*;
    use std::sync::LazyLock;

    const PIECES: &[&str] = &[
        "a@b.co",
        "+14155550123",
        "203.0.113.7",
        "10.1.2.3",
        "4111111111111111",
        "123-45-6789",
        "DE89370400440532013000",
        "2001:db8::1",
        "password=hunter2",
        "Bearer abcdefghijklmnop",
        "{\"token\":\"x1\"}",
        "ghp_q8N2vR5xL1mZ7pK4tW9yB3cF6hJ0dG2sA5eU",
        "https://u:p4ss-w@h/x",
        "Cookie: a=b1; c=d",
        "\u{200b}",
        "%40",
        "é",
        "•",
        "<EMAIL>",
        "<TOKEN>",
        "REDACTED",
        "<EMAIL>_d82504dac960",
        "<Odd label>_0123456789ab",
        "••••6411",
        "%00",
        "%ff",
        "_",
        "\"",
        "\\",
        "\n",
        " ",
        "@",
        ".",
        ":",
        "-",
        "1",
        "x",
        "{",
        "}",
        "[",
        "]",
        "amFuZUBleGFtcGxlLm9yZyBpcyBoZXJlLg==",
        "st0001",
        "AB-12345",
        "\u{0}",
    ];

    fn texts() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            prop::sample::select(PIECES).prop_map(str::to_owned),
            "[a-zA-Z0-9@.:_ %-]{0,6}",
        ];
        prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
    }

    fn values() -> impl Strategy<Value = String> {
        let name = prop_oneof![
            prop::sample::select(
                &[
                    "token",
                    "max_tokens",
                    "q",
                    "name",
                    "value",
                    "properties",
                    "cookies",
                    "a@b.co",
                    "inputSchema"
                ][..]
            )
            .prop_map(str::to_owned),
            texts(),
        ];
        let leaf = prop_oneof![
            texts().prop_map(|text| quoted(&text)),
            texts().prop_map(|text| quoted(&quoted(&text))),
            prop::sample::select(
                &[
                    "null",
                    "1.0",
                    "4111111111111111",
                    "true",
                    "\"\\ud83d a@b.co\""
                ][..]
            )
            .prop_map(str::to_owned),
        ];
        leaf.prop_recursive(3, 24, 4, move |inner| {
            let members = prop::collection::vec((name.clone(), inner.clone()), 0..4);
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4)
                    .prop_map(|items| format!("[{}]", items.join(" , "))),
                members.prop_map(|members| {
                    let members: Vec<String> = members
                        .iter()
                        .map(|(name, value)| format!("{} :{value}", quoted(name)))
                        .collect();
                    format!("{{{}}}", members.join(","))
                }),
                inner.prop_map(|value| quoted(&value)),
            ]
        })
    }

    fn with_pack() -> &'static Redactor {
        static WITH_PACK: LazyLock<Redactor> = LazyLock::new(|| {
            let rules = Rules {
                packs: vec![("acme.toml".into(), fixture("acme.toml").into_bytes())],
                ..Rules::default()
            };
            Redactor::new(&rules).unwrap()
        });
        &WITH_PACK
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(600))]

        #[test]
        fn twice_is_once_and_json_stays_json(value in values()) {
            let redactor = with_pack();
            let payload = result(&value);
            if let Some(once) = server(redactor, &payload).text {
                serde_json::from_str::<&RawValue>(&once).unwrap();
                prop_assert_eq!(server(redactor, &once).text, None, "{}", once);
            }
        }

        #[test]
        fn no_edit_is_no_change_and_edits_are_in_order(value in values()) {
            let redactor = with_pack();
            let payload = result(&value);
            let context = MessageContext {
                sender: Sender::Server,
                answers: None,
            };
            let redaction = redactor.scan(&payload, &context);
            let changed = redactor.message(&payload, &context).text.is_some();
            prop_assert_eq!(changed, !redaction.edits.is_empty());
            let mut end = 0;
            for edit in &redaction.edits {
                prop_assert!(edit.span.start >= end && edit.span.end > edit.span.start);
                end = edit.span.end;
            }
        }

        #[test]
        fn no_payload_panics(payload in ".{0,80}") {
            server(with_pack(), &payload);
        }
    }
}
