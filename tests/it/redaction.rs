//! `redact` and `redaction-check`: what they print, write and return, and that no value
//! they find shows anywhere.

use crate::support::{cassette, message, root, run, run_in, session, write};
use mcp_cassette::Cassette;
use std::fs;
use tempfile::tempdir;

const EPOCH: (&str, &str) = ("SOURCE_DATE_EPOCH", "1796040000");

/// Two messages with four values to take out.
fn leaky() -> String {
    let mut text = cassette(&[
        message(
            "client",
            "request",
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"send","arguments":{"to":"jane.doe@example.org","api_key":"zz-4711-key"},"_meta":{"progressToken":"t-1"}}}"#,
        ),
        message(
            "server",
            "response",
            r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"password\": \"Kettle-blue-92\"}"},{"type":"text","text":"sent from 203.0.113.77"}]}}"#,
        ),
        message(
            "server",
            "notification",
            r#"{"jsonrpc":"2.0","method":"n"}"#,
        ),
    ]);
    text = text.replace("\"format_version\": 3,", "\"format_version\": 3,\n  ");
    text
}

const VALUES: [&str; 4] = ["jane.doe@", "zz-4711", "Kettle-blue", "203.0.113"];

fn assert_no_value(text: &str, values: &[&str]) {
    for value in values {
        assert!(!text.contains(value), "{value} in {text}");
    }
}

#[test]
fn a_dry_run_tells_what_would_change_and_changes_nothing() {
    let folder = tempdir().unwrap();
    let path = write(folder.path(), "a.json", leaky());
    let run = run_in(folder.path(), &["redact", "a.json", "--dry-run"], &[]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    for line in [
        "a.json: 4 values redacted",
        "    /messages/0/payload/params/arguments/to common/email \"jane.d…\"",
        "    /messages/0/payload/params/arguments/api_key word:apikey \"zz-47…\"",
        "    /messages/1/payload/result/content/0/text word:password \"Kettle…\"",
        "    /messages/1/payload/result/content/1/text common/ipv4 \"203.0.…\"",
    ] {
        assert!(
            run.stdout.lines().any(|shown| shown == line),
            "{}",
            run.stdout
        );
    }
    assert_no_value(&run.stdout, &VALUES);
    assert_eq!(fs::read_to_string(path).unwrap(), leaky());
}

#[test]
fn redacting_in_place_keeps_everything_else_and_is_done_once() {
    let folder = tempdir().unwrap();
    let path = write(folder.path(), "a.json", leaky());
    let redact = [
        "redact",
        "a.json",
        "--in-place",
        "--redact-profile",
        "strict",
    ];
    let run = run_in(folder.path(), &redact, &[EPOCH]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let text = fs::read_to_string(&path).unwrap();
    assert_no_value(&text, &VALUES);
    assert!(text.contains(r#""to":"<EMAIL>_"#), "{text}");
    assert!(text.contains(r#""api_key":"REDACTED"},"_meta":{"progressToken":"t-1"}"#));
    assert!(text.contains(r#"{\"password\": \"REDACTED\"}"#));
    assert!(text.contains("\"applied_at\": \"2026-11-30T"), "{text}");
    let untouched = r#"{"sender": "server", "kind": "notification", "payload": {"jsonrpc":"2.0","method":"n"}}"#;
    assert!(text.contains(untouched));
    let cassette = Cassette::load(&path).unwrap();
    let flags: Vec<bool> = cassette
        .messages()
        .map(|message| message.redacted())
        .collect();
    assert_eq!(flags, [true, true, false]);

    let again = run_in(folder.path(), &redact, &[("SOURCE_DATE_EPOCH", "1")]);
    assert_eq!(again.stdout, "a.json: nothing to redact\n");
    assert_eq!(fs::read_to_string(&path).unwrap(), text);

    let check = run_in(folder.path(), &["redaction-check", "strict", "a.json"], &[]);
    assert_eq!(
        (check.code, check.stdout.as_str()),
        (0, "clean: no findings\n")
    );
}

#[test]
fn the_file_keeps_its_formatting() {
    let folder = tempdir().unwrap();
    let source = root().join("tests/fixtures/redaction/recorded-by-0.4.0.mcp.json");
    let old = fs::read_to_string(source).unwrap();
    write(
        folder.path(),
        "acme.toml",
        fs::read(root().join("tests/fixtures/redaction/acme.toml")).unwrap(),
    );
    let leaky = old
        .replace("\"AB-", "\"x@y.example AB-")
        .replace("•••••3456", "x@y.example");
    assert_ne!(leaky, old);
    write(folder.path(), "a.json", &leaky);
    let run = run_in(
        folder.path(),
        &["redact", "a.json", "--to", "b.json"],
        &[EPOCH],
    );
    assert_eq!(run.code, 0, "{}", run.stderr);
    let new = fs::read_to_string(folder.path().join("b.json")).unwrap();
    assert_eq!(
        fs::read_to_string(folder.path().join("a.json")).unwrap(),
        leaky
    );
    // Everything but the manifest differs in the one value.
    let messages = |text: &str| text[text.find("\"messages\"").unwrap()..].to_owned();
    let (before, after) = (messages(&leaky), messages(&new));
    let changed: Vec<_> = before
        .lines()
        .zip(after.lines())
        .filter(|(one, other)| one != other)
        .collect();
    assert_eq!(changed.len(), 1, "{changed:?}");
    assert_eq!(before.lines().count(), after.lines().count());
    // The manifest is the one that was there and what was added, indented like the file.
    assert!(new.contains("\n    \"profile\": null,\n"), "{new}");
    assert!(new.contains("d5ba9d03de2178ec019813889984e09cb940724646eb7ca4250341808a783134"));
    assert!(new.contains("\"0.4.0:*token*\"") && new.contains("\"ruleset\": 2\n  },\n"));
    Cassette::load(folder.path().join("b.json")).unwrap();
}

#[test]
fn the_head_and_unknown_members_are_scrubbed_too() {
    let folder = tempdir().unwrap();
    let text = r#"{"format_version": 3, "transport": "http", "server_url": "https://u:Kettle-blue-92@api.example/mcp?api_key=zz-4711-key&v=1", "session_id": "6f1c22aa-session", "env": {"GITHUB_TOKEN": "zz-4711-key"}, "command": ["run", "--password", "Kettle-blue-92"], "messages": []}"#;
    let path = write(folder.path(), "a.json", text);
    let run = run_in(folder.path(), &["redact", "a.json", "--in-place"], &[EPOCH]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let new = fs::read_to_string(path).unwrap();
    assert_no_value(&new, &["Kettle", "zz-4711", "6f1c22aa"]);
    assert!(
        new.contains("https://u:<REDACTED>@api.example/mcp?api_key=<REDACTED>&v=1"),
        "{new}"
    );
    assert!(
        new.contains(r#""session_id": "<SESSION>_"#)
            && new.contains(r#""command": ["run", "--password", "REDACTED"]"#)
    );
}

#[test]
fn pseudonyms_can_be_keyed() {
    let folder = tempdir().unwrap();
    write(folder.path(), "a.json", leaky());
    write(folder.path(), "salt", "pepper\n");
    let salt = ("MCP_CASSETTE_REDACT_SALT", "pepper");
    let to = |name: &'static str, flags: &[&str], variables: &[(&str, &str)]| {
        let arguments = [&["redact", "a.json", "--to", name][..], flags].concat();
        run_in(folder.path(), &arguments, variables)
    };
    let marker = |name: &str| {
        let text = fs::read_to_string(folder.path().join(name)).unwrap();
        let at = text.find("<EMAIL>_").unwrap();
        text[at..at + 20].to_owned()
    };
    assert_eq!(to("plain.json", &[], &[]).code, 0);
    assert_eq!(to("env.json", &["--redact-salt-env"], &[salt]).code, 0);
    assert_eq!(
        to("file.json", &["--redact-salt-file", "salt"], &[]).code,
        0
    );
    assert_eq!(marker("env.json"), marker("file.json"));
    assert_ne!(marker("env.json"), marker("plain.json"));
    let unset = to("x.json", &["--redact-salt-env"], &[]);
    assert_eq!(unset.code, 2);
    assert!(
        unset.stderr.contains("MCP_CASSETTE_REDACT_SALT"),
        "{}",
        unset.stderr
    );
    // Markers of two salts in one recording would not match each other.
    let mixed = run_in(folder.path(), &["redact", "env.json", "--in-place"], &[]);
    assert_eq!(mixed.code, 2);
    assert!(
        mixed.stderr.contains("--redact-salt-env"),
        "{}",
        mixed.stderr
    );
}

#[test]
fn a_required_profile_that_is_missing_or_another_one_fails() {
    let folder = tempdir().unwrap();
    write(folder.path(), "none.json", session("[]", &[]));
    let manifest =
        r#""redaction": {"profile": "loose", "backends": ["structural"], "packs": []}, "messages""#;
    write(
        folder.path(),
        "loose.json",
        session("[]", &[]).replace("\"messages\"", manifest),
    );
    let check = |arguments: &[&str]| {
        run_in(
            folder.path(),
            &[&["redaction-check"], arguments].concat(),
            &[],
        )
    };
    let none = check(&["strict", "none.json"]);
    assert_eq!(none.code, 4);
    assert!(none.stdout.starts_with("R201 error "), "{}", none.stdout);
    for fragment in [
        "carries no redaction manifest",
        "expected 'strict'",
        "re-record",
        "--redact-profile strict",
    ] {
        assert!(none.stderr.contains(fragment), "{}", none.stderr);
    }
    let other = check(&["strict", "loose.json"]);
    assert_eq!(other.code, 4);
    assert!(
        other.stdout.starts_with("R202 error /redaction "),
        "{}",
        other.stdout
    );
    assert_eq!(check(&["loose", "loose.json"]).code, 0);
    let both = check(&["loose", "none.json", "loose.json"]);
    assert_eq!(both.code, 4);
    // Without a profile nothing is required, and it is said that nothing was claimed.
    let free = check(&["none.json"]);
    assert_eq!(free.code, 0);
    assert!(
        free.stdout.contains("nothing claims to have scrubbed it"),
        "{}",
        free.stdout
    );
}

#[test]
fn what_is_left_is_a_finding_with_its_pack_and_rule() {
    let folder = tempdir().unwrap();
    write(folder.path(), "a.json", leaky());
    for format in ["text", "full", "json", "github"] {
        let run = run_in(
            folder.path(),
            &["redaction-check", "a.json", "--format", format],
            &[],
        );
        assert_eq!(run.code, 4, "{}", run.stderr);
        assert!(run.stdout.contains("R203"), "{}", run.stdout);
        assert!(
            run.stdout.contains("email of the redaction pack common"),
            "{}",
            run.stdout
        );
        assert_no_value(&run.stdout, &VALUES);
        assert_no_value(&run.stderr, &VALUES);
    }
    // Its manifest claims the names as well.
    let manifest = r#""redaction": {"backends": ["structural"], "structural": [{"locator": "to", "replacement": "X"}], "ruleset": 2}, "messages""#;
    write(
        folder.path(),
        "b.json",
        leaky().replace("\"messages\"", manifest),
    );
    let run = run_in(folder.path(), &["redaction-check", "b.json"], &[]);
    assert!(
        run.stdout.contains("the redaction locator to should"),
        "{}",
        run.stdout
    );
}

#[test]
fn what_cannot_be_checked_is_no_pass() {
    let folder = tempdir().unwrap();
    let pack = |sha: &str| {
        format!(
            r#""redaction": {{"packs": [{{"id": "team", "path": "/dev/zero", "sha256": "{sha}"}}]}}, "messages""#
        )
    };
    let clean = session("[]", &[]);
    write(
        folder.path(),
        "pack.json",
        clean.replace("\"messages\"", &pack("00")),
    );
    write(
        folder.path(),
        "odd.json",
        clean.replace(
            "\"messages\"",
            "\"redaction\": {\"packs\": 1}, \"messages\"",
        ),
    );
    let deep = format!("{}1{}", "[".repeat(600), "]".repeat(600));
    write(folder.path(), "deep.json", session("[]", &[&deep]));
    let check = |arguments: &[&str]| {
        run_in(
            folder.path(),
            &[&["redaction-check"], arguments].concat(),
            &[],
        )
    };
    for (arguments, code, fragment) in [
        (
            &["pack.json"] as &[&str],
            2,
            "names the pack 'team' (sha256 00)",
        ),
        (&["odd.json"], 2, "manifest is damaged"),
        (&["gone.json"], 2, "gone.json"),
        (&["strict"], 2, "a cassette is missing"),
        (&["deep.json"], 4, "R013"),
        (&["deep.json", "pack.json"], 2, "R013"),
    ] {
        let run = check(arguments);
        assert_eq!(run.code, code, "{arguments:?} {}", run.stdout);
        let told = format!("{}{}", run.stdout, run.stderr);
        assert!(told.contains(fragment), "{arguments:?} {told}");
        assert!(!run.stdout.contains("clean") || code == 0, "{}", run.stdout);
    }
}

#[cfg(unix)]
#[test]
fn a_manifest_cannot_make_the_check_wait() {
    let folder = tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    std::os::unix::fs::symlink("pipe", folder.path().join("link")).unwrap();
    for path in [
        "pipe",
        "link",
        "/proc/kmsg",
        "/proc/self/status",
        "/dev/tty",
        "/dev/zero",
    ] {
        let manifest = format!(
            r#""redaction": {{"packs": [{{"id": "team", "path": "{path}", "sha256": "00"}}]}}, "messages""#
        );
        let text = session("[]", &[]).replace("\"messages\"", &manifest);
        write(folder.path(), "a.json", text);
        let run = run_in(folder.path(), &["redaction-check", "a.json"], &[]);
        assert_eq!(run.code, 2, "{path}");
        assert!(
            run.stderr.contains("names the pack 'team'"),
            "{}",
            run.stderr
        );
    }
    let link = folder.path().join("kernel.mcp.json");
    std::os::unix::fs::symlink("/proc/self/status", link).unwrap();
    if std::path::Path::new("/proc/self/status").exists() {
        let run = run_in(folder.path(), &["check"], &[]);
        assert_eq!(run.code, 2, "{}", run.stdout);
        assert!(
            run.stderr.contains("is not a regular file"),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn what_cannot_be_scanned_is_not_written() {
    let folder = tempdir().unwrap();
    let deep = format!("{}\"a@b.co\"{}", "[".repeat(600), "]".repeat(600));
    let text = session("[]", &[&deep, r#"{"token":"Kettle-blue-92"}"#]);
    let path = write(folder.path(), "a.json", text.clone());
    for target in [&["--to", "b.json"] as &[&str], &["--in-place"]] {
        let run = run_in(
            folder.path(),
            &[&["redact", "a.json"], target].concat(),
            &[],
        );
        assert_eq!(run.code, 2, "{}", run.stdout);
        assert!(run.stderr.contains("was not looked at"), "{}", run.stderr);
        assert!(
            run.stderr.contains("a.json: nothing is written"),
            "{}",
            run.stderr
        );
        assert_eq!(run.stdout, "");
    }
    assert!(!folder.path().join("b.json").exists());
    assert_eq!(fs::read_to_string(path).unwrap(), text);
}

#[test]
fn another_file_is_replaced_only_on_request() {
    let folder = tempdir().unwrap();
    write(folder.path(), "a.json", leaky());
    write(folder.path(), "b.json", "notes of mine");
    let redact = |arguments: &[&str]| {
        run_in(
            folder.path(),
            &[&["redact", "a.json"], arguments].concat(),
            &[],
        )
    };
    let run = redact(&["--to", "b.json"]);
    assert_eq!(run.code, 2, "{}", run.stdout);
    let told = "b.json is there already; give --force to replace it";
    assert!(run.stderr.contains(told), "{}", run.stderr);
    let kept = fs::read_to_string(folder.path().join("b.json")).unwrap();
    assert_eq!(kept, "notes of mine");
    assert_eq!(redact(&["--to", "b.json", "--force"]).code, 0);
    Cassette::load(folder.path().join("b.json")).unwrap();
    assert_eq!(redact(&["--to", "./a.json"]).code, 0);
    assert_eq!(redact(&["--in-place", "--force"]).code, 2);
}

#[test]
fn packs_are_found_by_their_hash() {
    let folder = tempdir().unwrap();
    let fixtures = root().join("tests/fixtures/redaction");
    let copy =
        |name: &str, to: &str| fs::copy(fixtures.join(name), folder.path().join(to)).unwrap();
    copy("recorded-by-0.4.0.mcp.json", "a.json");
    copy("acme.toml", "elsewhere.toml");
    let check = |arguments: &[&str]| {
        run_in(
            folder.path(),
            &[&["redaction-check", "a.json"], arguments].concat(),
            &[],
        )
    };
    assert_eq!(check(&[]).code, 2);
    let given = check(&["--pii-pack", "elsewhere.toml"]);
    assert_eq!(
        (given.code, given.stdout.as_str()),
        (0, "clean: no findings\n"),
        "{}",
        given.stderr
    );
    copy("acme.toml", "acme.toml");
    assert_eq!(check(&[]).code, 0);
    write(folder.path(), "other.toml", "version = 1\nid = \"other\"\n");
    let other = check(&["--pii-pack", "other.toml"]);
    assert!(
        other
            .stdout
            .contains("is not named by this cassette's redaction manifest"),
        "{}",
        other.stdout
    );
    write(folder.path(), "none.json", session("[]", &[]));
    let none = run_in(
        folder.path(),
        &["redaction-check", "none.json", "--pii-pack", "other.toml"],
        &[],
    );
    assert_eq!(none.code, 2);
    assert!(
        none.stderr.contains("carries no redaction manifest"),
        "{}",
        none.stderr
    );
}

#[test]
fn recordings_of_0_4_0_pass_their_own_check() {
    let beside = root().join("../shared/cassettes/recorded-by-0.4.0");
    if !beside.is_dir() {
        return;
    }
    for entry in fs::read_dir(beside).unwrap() {
        let path = entry.unwrap().path();
        let run = run(&["redaction-check", path.to_str().unwrap()]);
        assert_eq!(
            run.code,
            0,
            "{}: {}{}",
            path.display(),
            run.stdout,
            run.stderr
        );
    }
}

#[test]
fn no_value_of_the_tables_shows_in_any_output() {
    let folder = tempdir().unwrap();
    for table in ["given.jsonl", "own.jsonl"] {
        let rows = fs::read_to_string(root().join("tests/fixtures/redaction").join(table)).unwrap();
        for (index, row) in rows.lines().enumerate() {
            #[derive(serde::Deserialize)]
            struct Row {
                redact: bool,
                value: Box<serde_json::value::RawValue>,
                secret: Option<String>,
            }
            let row: Row = serde_json::from_str(row).unwrap();
            let (true, Some(secret)) = (row.redact, row.secret) else {
                continue;
            };
            // One message a file: the commands are run on all files at once below.
            let result = format!(r#"{{"structuredContent": {}}}"#, row.value.get());
            let name = format!("{table}-{index}.json");
            let manifest = r#""redaction": {"backends": ["structural"]}, "messages""#;
            let text = session("[]", &[&result]).replace("\"messages\"", manifest);
            write(folder.path(), &name, text);
            if secret.chars().count() > 6 {
                write(folder.path(), &format!("{name}.secret"), secret);
            }
        }
    }
    let names = |end: &str| -> Vec<String> {
        let entries = fs::read_dir(folder.path()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.ends_with(end)).collect()
    };
    let secrets: Vec<String> = names(".secret")
        .iter()
        .map(|name| fs::read_to_string(folder.path().join(name)).unwrap())
        .collect();
    assert!(secrets.len() > 25, "{}", secrets.len());
    let secrets: Vec<&str> = secrets.iter().map(String::as_str).collect();
    let cassettes = names(".json");
    let cassettes: Vec<&str> = cassettes.iter().map(String::as_str).collect();
    for command in [
        &["redact", "--dry-run"] as &[&str],
        &["redaction-check", "--format", "text"],
        &["redaction-check", "--format", "full"],
        &["redaction-check", "--format", "json"],
        &[
            "redaction-check",
            "--format",
            "text",
            "--annotate",
            "github",
        ],
    ] {
        let arguments = [command, &cassettes].concat();
        let run = run_in(folder.path(), &arguments, &[]);
        assert!(!run.stdout.is_empty(), "{}", run.stderr);
        assert_no_value(&run.stdout, &secrets);
        assert_no_value(&run.stderr, &secrets);
    }
}

#[test]
fn usage_is_checked() {
    let folder = tempdir().unwrap();
    write(folder.path(), "a.json", leaky());
    write(folder.path(), "b.json", leaky());
    for (arguments, fragment) in [
        (&["redact", "a.json"] as &[&str], "--in-place"),
        (
            &["redact", "a.json", "--in-place", "--dry-run"],
            "--dry-run",
        ),
        (
            &["redact", "a.json", "b.json", "--to", "c.json"],
            "--to writes one cassette",
        ),
        (
            &["redact", "a.json", "--dry-run", "--redact", "=x"],
            "it names nothing",
        ),
        (
            &["redact", "a.json", "--dry-run", "--pii-pack", "gone.toml"],
            "gone.toml",
        ),
        (
            &["redact", "a.json", "--dry-run", "--pii-pack", "a.json"],
            "not valid TOML",
        ),
    ] {
        let run = run_in(folder.path(), arguments, &[]);
        assert_eq!(run.code, 2, "{arguments:?} {}", run.stdout);
        assert!(
            run.stderr.starts_with("mcp-cassette redact: "),
            "{}",
            run.stderr
        );
        assert!(
            run.stderr.contains(fragment),
            "{arguments:?} {}",
            run.stderr
        );
    }
}
