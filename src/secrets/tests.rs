//! Tables of what is found and what is not, laws, and the pack's own examples.

use proptest::prelude::*;

use super::context::{Place, TextContext};
use super::{Entropy, Kind, Secret, entropy, prefilter, sample, scan, shapes};

/// A random token of 40 characters, and what keys are made of in the tables.
const TOKEN: &str = "q8N2vR5xL1mZ7pK4tW9yB3cF6hJ0dG2sA5eU8iO1";

fn data(text: &str) -> Vec<Secret> {
    scan(text, &Entropy::default(), TextContext::default())
}

fn under(name: &str, text: &str) -> Vec<Secret> {
    scan(
        text,
        &Entropy::default(),
        TextContext {
            name,
            place: Place::Data,
        },
    )
}

fn definition(text: &str) -> Vec<Secret> {
    scan(
        text,
        &Entropy::default(),
        TextContext {
            name: "description",
            place: Place::Definition,
        },
    )
}

/// What was found, as the text under each range.
fn values(text: &str) -> Vec<&str> {
    data(text)
        .into_iter()
        .map(|secret| text.get(secret.range).unwrap())
        .collect()
}

/// Fills in `{class:n}` with characters made up from a fixed seed.
pub(super) fn expand(template: &str) -> String {
    const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut out = String::new();
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        let (lead, tail) = rest.split_at(open);
        out.push_str(lead);
        let inside = tail.split_once('}').and_then(|(head, after)| {
            let (class, count) = head[1..].split_once(':')?;
            Some((class, count.parse::<usize>().ok()?, after))
        });
        let Some((class, count, after)) = inside else {
            out.push('{');
            rest = &tail[1..];
            continue;
        };
        let alphabet: Vec<char> = match class {
            "alnum" => ALNUM.chars().collect(),
            "alpha" => ALNUM[..52].chars().collect(),
            "lower" => ALNUM[26..52].chars().collect(),
            "upper" => ALNUM[..26].chars().chain("0123456789".chars()).collect(),
            "lower36" => ALNUM[26..].chars().collect(),
            "digit" => "123456789".chars().collect(),
            "hex" => "0123456789abcdef".chars().collect(),
            "base32" => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".chars().collect(),
            "bech32" => "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L".chars().collect(),
            "base64" => format!("{ALNUM}+/").chars().collect(),
            "base64url" => format!("{ALNUM}-_").chars().collect(),
            other => panic!("no class {other}"),
        };
        for _ in 0..count {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            out.push(alphabet[usize::try_from(state >> 33).unwrap() % alphabet.len()]);
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// A text, and the value that must be found in it.
#[track_caller]
fn finds(rows: &[(&str, &str)]) {
    let mut failed = Vec::new();
    for (text, wanted) in rows {
        let (text, wanted) = (
            text.replace("TOKEN40", TOKEN),
            wanted.replace("TOKEN40", TOKEN),
        );
        if values(&text) != [wanted.as_str()] {
            failed.push(format!(
                "{text}\n    wanted {wanted}\n    found {:?}",
                values(&text)
            ));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[track_caller]
fn stays_silent(rows: &[&str]) {
    let mut failed = Vec::new();
    for text in rows {
        if !data(text).is_empty() {
            failed.push(format!("{text}\n    found {:?}", data(text)));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn random_strings_are_found() {
    finds(&[
        ("TOKEN40", "TOKEN40"),
        ("deploy key=TOKEN40 ok", "TOKEN40"),
        ("{ truncated log: TOKEN40", "TOKEN40"),
        (r#"{"nested": "TOKEN40"}"#, "TOKEN40"),
        ("It is TOKEN40!", "TOKEN40"),
        ("(TOKEN40)", "TOKEN40"),
        ("alice <EMAIL>_0123456789ab leaked TOKEN40", "TOKEN40"),
        ("<EMAIL>_0123456789abTOKEN40", "TOKEN40"),
        ("REDACTEDTOKEN40", "TOKEN40"),
        (r"line one\nTOKEN40\nline two", "TOKEN40"),
        ("x%2FTOKEN40", "TOKEN40"),
        ("/var/lib/app/TOKEN40", "TOKEN40"),
        ("see /v1/TOKEN40/items for more", "TOKEN40"),
        ("https://example.org/?d=TOKEN40", "TOKEN40"),
        (
            "x7f9k2m4p8q1w3e5r6t7y9u2i4o6p8a1",
            "x7f9k2m4p8q1w3e5r6t7y9u2i4o6p8a1",
        ),
        (
            "kR7/xQ2+vB9wLm4Zt/Nc8sJd1Hf6Gy3Pq0Ua5eWi",
            "kR7/xQ2+vB9wLm4Zt/Nc8sJd1Hf6Gy3Pq0Ua5eWi",
        ),
        (
            "XKJ4P-9QWZT-M2VNR-7HCBL-D8FGY",
            "XKJ4P-9QWZT-M2VNR-7HCBL-D8FGY",
        ),
        (
            "b7e23ec29af22b0b4e41da31e868d57226121c84d1a2",
            "b7e23ec29af22b0b4e41da31e868d57226121c84d1a2",
        ),
        ("日本語TOKEN40です", "TOKEN40"),
        (r#"["a", ["b", {"c": "TOKEN40"}]]"#, "TOKEN40"),
        (r#"{"TOKEN40": 1}"#, "TOKEN40"),
    ]);
}

#[test]
fn ids_digests_times_and_words_are_not() {
    stays_silent(&[
        "",
        "123e4567-e89b-12d3-a456-426614174000",
        "session_123e4567-e89b-12d3-a456-426614174000_end",
        "4c58-924b-38d8186e200a",
        "da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "0x71C7656EC7ab88b098defB751B7401B5f6d8976F"
            .to_ascii_lowercase()
            .as_str(),
        "d41d8cd98f00b204e9800998ecf8427e",
        "507f1f77bcf86cd799439011",
        "sha512-RzgTqFvHxsBD3iPoqK4Jf0WmN7cLyUe1Xo9dA2tS5bVw8hQzGkYjCnEpMrTuIlHaZ6xOvKsD4fBgN3qWyRmXcA==",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "SHA256:uNiVztksCsDhcc0u9e8BrrQXVUpKZIDTMczCvj3tD2s",
        "golang.org/x/text v0.3.0 h1:g61tztE5qeGQ89tm6NTjjM9VPIm088od1l6aSorWRWg=",
        "commit 3f786850e387550fdab836ed7e6dc881de23",
        r#"ETag: W/"q8N2vR5xL1mZ7pK4tW9yB3cF""#,
        "2026-09-13T19:32:03.654263Z",
        "20260913T193203654263Z-0001",
        "123456789012345678901234567890",
        "the quick brown fox jumps over the extraordinarily lazy dog",
        "paragraphBlockRequest and getRepositoryPullRequestReviewComments",
        "HTTPServerConnectionTimeoutErrorHandler2",
        "some_module_name_with_many_parts_v2 kebab-case-name-of-a-package-2024",
        "/usr/local/lib/python3.12/site-packages/numpy/core/_multiarray_umath.cpython-312-x86_64-linux-gnu.so",
        "node_modules/.pnpm/@babel+plugin-transform-typescript@7.23.6/node_modules",
        "ec2-203-0-113-25.compute-1.region-name-one.example.org",
        "nginx-deployment-66b6c48dd5-7xk2p is ready",
        "gpt-4o-mini-2024-07-18, claude-3-5-sonnet-20241022",
        "https://docs.example.org/document/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/edit",
        "https://example.org/list?cursor=q8N2vR5xL1mZ7pK4tW9yB3cF6hJ0&limit=20",
        "nextCursor=eyJvZmZzZXQiOjIwfQ==",
        "nextCursor=q8N2vR5xL1mZ7pK4tW9yB3cF6hJ0dG2sA5eU8iO1",
        r#"{"pageToken": "q8N2vR5xL1mZ7pK4tW9yB3cF6hJ0dG2sA5eU8iO1"}"#,
        r#"{"continuationToken": "q8N2vR5xL1mZ7pK4tW9yB3cF6hJ0dG2sA5eU8iO1"}"#,
        r#"{"requestState": "q8N2vR5xL1mZ7pK4tW9yB3cF6hJ0dG2sA5eU8iO1"}"#,
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4",
        "url(data:font/woff2;base64,q8N2vR5xL1mZ7pK4tW9yB3cF6hJ0dG2sA5eU8iO1)",
        "data:audio/mpeg;base64,q8N2vR5xL1mZ7pK4tW9yB3cF6hJ0dG2sA5eU8iO1",
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4",
        "/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAAMCAgMCAgMDAwMEAwMEBQgFBQQEBQoHBwYI",
        "SGVsbG8gd29ybGQsIHRoaXMgaXMgcGxhaW4gdGV4dA==",
        "48656c6c6f20776f726c642c2068656c6c6f2c20616761696e",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGq8N2vR5xL1mZ7pK4tW9yB3cF6hJ0dG2sA5eU8iO1 me@host",
        "REDACTED",
        "<EMAIL>_0123456789ab, <EMAIL>_abcdef012345-report-of-2024.pdf",
        "••••••••••••••••••••••••••••6411",
        "abcdefghijklmnopqrstuvwxyz0123456789",
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx1",
        "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "-----------------------------------------------",
        "M10.5 20.3c-1.2-3.4-5.6-7.8-9.1-2.3v12.34l-5.67-8.9z",
        "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "Ihre Benutzerkontoeinstellungen2 und Verbindungszeitüberschreitung",
        "-----BEGIN PUBLIC KEY-----\nMFwwDQYJKoZIhvcNAQEBBQADSwAwSAJBALRiMLAHudeSA2q8N2vR5xL1mZ7pK4tW\n-----END PUBLIC KEY-----",
        r"-----BEGIN CERTIFICATE-----\nMIIBq8N2vR5xL1mZ7pK4tW9yB3cF6hJ0dG2sA5eU8iO1kR7xQ2vB9wLm4ZtNc8sJ\nd1Hf6Gy3Pq0Ua5eWiq8N2vR5xL1mZ7pK4tW9y\n-----END CERTIFICATE-----",
    ]);
}

#[test]
fn values_under_telling_names_are_found() {
    finds(&[
        (r#"{"password": "SomeWordsXyz"}"#, "SomeWordsXyz"),
        ("apikey=aAbBcCdDeF", "aAbBcCdDeF"),
        ("GET /v1?apikey=aAbB&lang=en", "aAbB"),
        ("token: abc", "abc"),
        ("token: abc\nuser: bob", "abc"),
        ("run --api-key s3cr3tvalue now", "s3cr3tvalue"),
        ("run --api-key=abcdef", "abcdef"),
        (
            "curl -H 'Authorization: Basic dXNlcjpwYXNzd29yZA=='",
            "dXNlcjpwYXNzd29yZA==",
        ),
        (
            "Authorization: Bearer%20abcdefghijklmnopqrstuvwx",
            "abcdefghijklmnopqrstuvwx",
        ),
        ("Authorization: Bearer abcdefghijklmnop", "abcdefghijklmnop"),
        ("authorization: token 0123abcd", "0123abcd"),
        ("got Bearer q8N2vR5xL1mZ7p back", "q8N2vR5xL1mZ7p"),
        ("Set-Cookie: sid=abc; Path=/", "abc"),
        ("Cookie: theme=; sid=38afes7a8; lang=en", "38afes7a8"),
        (r#"{"headers": {"set-cookie": "sid=abc; Path=/"}}"#, "abc"),
        (
            r#"{"headers": [{"name": "Authorization", "value": "Bearer abcdefghijklmnop"}]}"#,
            "abcdefghijklmnop",
        ),
        (
            r#"{"headers": [{"value": "Bearer abcdefghijklmnop", "name": "Authorization"}]}"#,
            "abcdefghijklmnop",
        ),
        (r#"{"token": {"value": "abc", "expires": 1}}"#, "abc"),
        (r#"{"token": ["abc"]}"#, "abc"),
        (r#"{"args": ["--api-key", "X9f", "--verbose"]}"#, "X9f"),
        (
            r#"{"env": {"GITHUB_TOKEN": "not-a-real-one-1"}}"#,
            "not-a-real-one-1",
        ),
        (r#"{"password":"a\u003cb\u003e"}"#, r"a\u003cb\u003e"),
        (
            r#"{"text": "{\"api_key\":\"8f14e45f-not-real\"}"}"#,
            "8f14e45f-not-real",
        ),
        (
            r#"{"t": "{\"u\": \"{\\\"secret\\\": \\\"hunter2\\\"}\"}"}"#,
            "hunter2",
        ),
        (
            r#"Result: {"client_secret": "hunter2", "x": 1} done"#,
            "hunter2",
        ),
        (r#"cut: {\"password\": \"hunter2\", \"x"#, "hunter2"),
    ]);
}

#[test]
fn values_assigned_in_text_are_found() {
    finds(&[
        ("DB_PASSWORD='correct-horse'", "correct-horse"),
        ("export AWS_SECRET_ACCESS_KEY=abcd/efgh1", "abcd/efgh1"),
        ("password = \"hunter2\"", "hunter2"),
        ("password: hunter2 for the admin", "hunter2"),
        ("<password>hunter2</password>", "hunter2"),
        ("config[\"api_key\"] = 'abc123def'", "abc123def"),
        (
            "//registry.example.org/:_authToken=abc-def-123",
            "abc-def-123",
        ),
        ("Server=db;User Id=sa;Password=Swordfish;", "Swordfish"),
        ("x-api-key: 9f8e7d", "9f8e7d"),
        ("**API key:** 9f8e7d6c", "9f8e7d6c"),
        (
            "https://example.org/x?sig=Zm9vYmFyYmF6cXV4&x=1",
            "Zm9vYmFyYmF6cXV4",
        ),
        (
            "https://example.org/x?access_token=swordfish&x=1",
            "swordfish",
        ),
        ("token%3Dabc123def", "abc123def"),
        ("pwd:1234", "1234"),
        ("db_pwd=/x9Qk2LmZ7", "/x9Qk2LmZ7"),
    ]);
}

#[test]
fn the_working_directory_is_no_password() {
    stays_silent(&[
        "PWD=/tmp/tmpx8k/run4",
        "{\"PWD\": \"/srv/ci4/x8k2\", \"HOME\": \"/root\"}",
        "OLDPWD=C:\\\\a4Kz9\\\\x8k2",
    ]);
}

#[test]
fn words_about_secrets_are_not_secrets() {
    stays_silent(&[
        "Do not put passwords, API keys or personal data in the query.",
        "max_tokens: 4096, total_tokens: 512, tokenizer: bpe",
        "password: string",
        "token: <your token>",
        "token: the one that you got by mail",
        "Authorization: Bearer $TOKEN",
        "Authorization: Bearer <token>",
        "Authorization: Bearer ${TOKEN}",
        "use Authorization: Bearer tokens",
        "apiKey: process.env.API_KEY",
        "password = os.environ['PASSWORD']",
        "token = get_token(user)",
        "token = response.token",
        "api_key=YOUR_API_KEY",
        "API_KEY=your-api-key-here",
        "--api-key <KEY>  the key to use",
        "use --token to pass a token",
        "password=********",
        "password: ••••••••",
        "secret: REDACTED",
        "token: [REDACTED]",
        "<TOKEN>_0123456789ab",
        "token: <SECRET>_0123456789ab",
        "fn login(user: &str, password: &str) -> Token {",
        "def login(user, password: str, token: Optional[str] = None):",
        "interface Auth { token: string; secret?: Buffer }",
        "login(user=user, password=password)",
        "The next page token: abc",
        "secret: none",
        "Token: Overview",
        "## Authentication\nToken: Required",
        "token count: 512",
        "tokens: 512",
        "token == expected",
        "std::token::Kind",
        "password://",
        "cookie: banner",
        "cookies: accepted",
        "Set-Cookie: sid=; Path=/",
        "set API_KEY in .env",
        "To install: 3) set API_KEY in .env 4) restart.",
        "secretary: anna, keyword: plain, author: bob",
        r#"{"max_tokens": "4096", "tokenType": "bearer", "issue_key": "ABC-12"}"#,
        r#"{"password": "string", "token": "", "secret": null}"#,
        r#"{"token": "<token>", "apiKey": "${API_KEY}", "password": "GITHUB_TOKEN"}"#,
        r#"{"tokenEndpoint": "https://example.org/oauth/token"}"#,
        r#"{"token": "https://example.org/oauth/token"}"#,
        r#"{"label": {"password": "Password"}, "secretName": "db-credentials"}"#,
        r#"{"_meta": {"progressToken": "abc123"}, "cursor": "abc123"}"#,
        r#"{"nextPageToken": "abc123", "page_token": "abc123"}"#,
        r#"{"private_key_path": "/etc/ssl/server.pem", "password": "{{ vault_password }}"}"#,
        "https://example.org/search?key=title&sort=asc",
        "https://example.org:8080/a",
        "mysql://root@localhost/db",
        "a bearer of bad news, the Bearer token",
        "jwt: eyJ",
    ]);
}

#[test]
fn names_in_definitions_need_a_value_that_looks_like_a_key() {
    for text in [
        "Args:\n  token: abc\n  password: secretword",
        r#"{"properties": {"password": {"type": "string", "default": "letmein"}}}"#,
        r#"{"dependentRequired": {"password": ["username"]}}"#,
        "login(user='bob', password='swordfish')",
    ] {
        assert_eq!(definition(text), [], "{text}");
    }
    assert_eq!(definition("Use api_key=aAbBcC99dDeF for now").len(), 1);
    assert_eq!(definition(TOKEN).len(), 1);
}

#[test]
fn key_shapes_are_found_in_their_surroundings() {
    for (template, kind) in [
        ("x_AKIA{base32:16}_y", "aws-access-key-id"),
        ("id ASIA{base32:16}.", "aws-access-key-id"),
        ("sk-ant-api03-{base64url:93}AA", "anthropic-key"),
        ("key: sk-proj-{alnum:48}", "openai-key"),
        ("token=ghs_{alnum:36}", "github-token"),
        (r#"{"token": "glpat-{base64url:20}"}"#, "gitlab-token"),
        ("https://u:p@ss{digit:1}@host/db", "url-password"),
        ("https://user:p@ss@db.example/x", "url-password"),
        ("postgres://app:hunter2@db:5432/x", "connection-string"),
        (
            "token=eyJ{base64url:33}.eyJ{base64url:80}.{base64url:43}&x=1",
            "jwt",
        ),
        (
            "Authorization: Bearer eyJ{base64url:33}.eyJ{base64url:80}.{base64url:43}",
            "jwt",
        ),
        (
            r#"{"text": "{\"key\": \"ghp_{alnum:36}\"}"}"#,
            "github-token",
        ),
        (r#"{"a": "\u0067hp_{alnum:36}"}"#, "github-token"),
        (
            r#"{"private_key": "-----BEGIN PRIVATE KEY-----\n{base64:64}\n{base64:20}\n-----END PRIVATE KEY-----\n"}"#,
            "pem-private-key",
        ),
        (
            "-----BEGIN RSA PRIVATE KEY-----\n{base64:64}\n{base64:6",
            "pem-private-key",
        ),
        ("日本 ghp_{alnum:36} 日本", "github-token"),
    ] {
        let text = expand(template);
        let found = data(&text);
        let kinds: Vec<Kind> = found.iter().map(|secret| secret.kind).collect();
        assert_eq!(kinds, [Kind::Shape(kind)], "{text}");
    }
}

#[test]
fn placeholders_of_key_shapes_are_not() {
    stays_silent(&[
        "glpat-XXXXXXXXXXXXXXXXXXXX",
        "ghp_000000000000000000000000000000000000",
        "AKIAIOSFODNN7EXAMPLE",
        "Example key AKIAIOSFODNN7EXAMPLE from the AWS docs",
        "sk-ant-api03-... or sk-...",
        "sk-learn 1.5, task-management, risk-free, disk-image-to-be-mounted",
        "AKIA is the prefix",
        "postgres://user:password@localhost:5432/db",
        "postgres://user:${DB_PASSWORD}@db/x",
        "https://user:pass@example.org",
        "-----BEGIN CERTIFICATE-----",
        "-----BEGIN PRIVATE KEY----- begins a private key",
        "xoxb-your-token-here",
    ]);
}

#[test]
fn encoded_text_is_looked_into() {
    // base64 of `password=hunter2 and more`, of that again, and of a JSON text.
    let once = "cGFzc3dvcmQ9aHVudGVyMiBhbmQgbW9yZQ==";
    let twice = "Y0dGemMzZHZjbVE5YUhWdWRHVnlNaUJoYm1RZ2JXOXlaUT09";
    let json = "eyJwYXNzd29yZCI6ICJodW50ZXIyIn0=";
    for text in [once, twice, json] {
        let found = data(text);
        assert_eq!(found.len(), 1, "{text}");
        assert_eq!(found[0].kind, Kind::Named("password"));
        assert_eq!(found[0].sample, "hunter…");
        assert_eq!(found[0].range, 0..text.trim_end_matches('=').len());
    }
    let off = Entropy {
        enabled: false,
        ..Entropy::default()
    };
    assert_eq!(scan(once, &off, TextContext::default()).len(), 1);
}

#[test]
fn folded_base64_counts_once() {
    let lines = expand("{base64:76}\n{base64:76}\n{base64:30}\n");
    let found = data(&lines);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].chars, 182);
}

#[test]
fn random_keys_of_every_alphabet_are_found() {
    for (alphabet, length) in [
        ("alnum", 20),
        ("alnum", 40),
        ("base64", 40),
        ("base64url", 43),
        ("lower36", 32),
        ("base32", 32),
        ("hex", 48),
    ] {
        let text = expand(&format!("{{{alphabet}:{length}}} ").repeat(1000));
        let found = data(&text).len();
        assert!(found >= 960, "{alphabet}: {found} of 1000");
    }
}

#[test]
fn decoys_do_not_hide_a_key() {
    let many: Vec<String> = (0..500).map(|i| format!("{i:04}{}", &TOKEN[4..])).collect();
    assert_eq!(data(&many.join(" ")).len(), 500);
}

#[test]
fn settings_move_the_boundary() {
    let with = |text: &str, settings: Entropy| scan(text, &settings, TextContext::default()).len();
    assert_eq!(
        with(
            TOKEN,
            Entropy {
                min_bits: 6.0,
                ..Entropy::default()
            }
        ),
        0
    );
    assert_eq!(
        with(
            TOKEN,
            Entropy {
                min_length: 41,
                ..Entropy::default()
            }
        ),
        0
    );
    assert_eq!(with("a1B2c3D4e5F6g7H8", Entropy::default()), 0);
    assert_eq!(
        with(
            "a1B2c3D4e5F6g7H8",
            Entropy {
                min_length: 10,
                ..Entropy::default()
            }
        ),
        1
    );
    assert_eq!(
        with(
            TOKEN,
            Entropy {
                enabled: false,
                ..Entropy::default()
            }
        ),
        0
    );
    assert_eq!(
        with(
            "token: abc",
            Entropy {
                enabled: false,
                ..Entropy::default()
            }
        ),
        1
    );
}

#[test]
fn the_allow_list_holds_whole_literal_values() {
    let allow = |value: &str| Entropy {
        allow: vec![value.to_owned()],
        ..Entropy::default()
    };
    let with = |text: &str, settings: &Entropy| scan(text, settings, TextContext::default()).len();
    assert_eq!(with(TOKEN, &allow(TOKEN)), 0);
    let near = format!("{}X", &TOKEN[..39]);
    assert_eq!(with(&near, &allow(TOKEN)), 1);
    let key = expand("ghp_{alnum:36}");
    assert_eq!(with(&key, &allow(&key)), 0);
    assert_eq!(with("token: abc", &allow("abc")), 0);
}

#[test]
fn the_name_of_the_place_counts() {
    assert_eq!(under("password", "SomeWordsXyz").len(), 1);
    assert_eq!(
        under("Authorization", "Bearer abcdefghijklmnop")[0].sample,
        "abcdef…"
    );
    assert_eq!(under("text", "SomeWordsXyz"), []);
    assert_eq!(under("nextCursor", TOKEN), []);
    assert_eq!(under("etag", TOKEN), []);
    let place = |place| scan(TOKEN, &Entropy::default(), TextContext { name: "", place });
    assert_eq!(place(Place::Title), []);
    assert_eq!(place(Place::Media), []);
}

#[test]
fn messages_show_six_characters() {
    let found = data(&format!("key {TOKEN}"));
    assert_eq!(
        found[0].to_string(),
        "high-entropy string (5.1 bits/char, 40 chars, \"q8N2vR…\")"
    );
    assert_eq!(
        data("token: abcdefghi")[0].to_string(),
        "value under a name with `token` (9 chars, \"abcdef…\")"
    );
    let key = expand("ghp_{alnum:36}");
    assert_eq!(
        data(&key)[0].to_string(),
        "GitHub token (40 chars, \"ghp_".to_owned() + &key[4..6] + "…\")"
    );
    assert_eq!(sample("äöüäöüäöü"), "äöüäöü…");
}

#[test]
fn candidates_leave_key_shapes_out() {
    let text = format!("{} and {TOKEN}", expand("ghp_{alnum:36}"));
    let found = entropy::candidates(&text, &Entropy::default(), TextContext::default());
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].kind, Kind::Entropy);
}

#[derive(serde::Deserialize)]
struct Row<'a> {
    id: String,
    place: String,
    #[serde(borrow)]
    value: &'a serde_json::value::RawValue,
}

/// What is found in the rows of a corpus, by id.
fn corpus(lines: &str) -> Vec<(String, Vec<Secret>)> {
    let rows = lines.lines().map(|line| {
        let row: Row<'_> = serde_json::from_str(line).unwrap();
        let place = if row.place == "data" {
            Place::Data
        } else {
            Place::Definition
        };
        let raw = row.value.get();
        // A plain string is a text; anything else is walked as JSON.
        let text = serde_json::from_str::<String>(raw).unwrap_or_else(|_| raw.to_owned());
        (
            row.id,
            scan(&text, &Entropy::default(), TextContext { name: "", place }),
        )
    });
    rows.collect()
}

#[test]
fn honest_texts_hold_no_secret() {
    let rows = corpus(include_str!("../../tests/fixtures/secrets/silent.jsonl"));
    assert!(rows.len() > 100);
    let loud: Vec<_> = rows
        .into_iter()
        .filter(|(_, found)| !found.is_empty())
        .collect();
    assert!(loud.is_empty(), "{loud:#?}");
}

#[test]
fn every_planted_secret_is_found() {
    let rows = corpus(include_str!("../../tests/fixtures/secrets/found.jsonl"));
    assert!(rows.len() > 9);
    let missed: Vec<_> = rows
        .into_iter()
        .filter(|(_, found)| found.is_empty())
        .collect();
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn hostile_texts_stay_linear() {
    // Each of these took a detector to its worst case; the test ends soon or not at all.
    for piece in [
        "a=",
        "token=",
        "token='",
        "token=\"",
        "eyJ-",
        "eyJ",
        "sk-",
        "://a:",
        "-----BEGIN PRIVATE KEY-----",
        "discord",
        "Bearer ",
        "cookie: a=",
        "a/b_C1-",
        "[",
        "{\"a\":",
        "REDACTED",
        "<A>_",
        "password: x\n",
    ] {
        let text = piece.repeat(50_000 / piece.len());
        assert!(data(&text).len() <= text.len());
    }
}

proptest! {
    #[test]
    fn ranges_ascend_and_lie_on_character_boundaries(text in "(\\PC|[\\\\\"'=:;/ \n]|token|ghp_|eyJ|password|[A-Za-z0-9+/_-]{1,50}|://|\\{|\\}|\\[|\\]){0,40}") {
        let found = data(&text);
        let mut last = 0;
        for secret in &found {
            prop_assert!(secret.range.start >= last);
            prop_assert!(secret.range.start < secret.range.end);
            prop_assert!(text.get(secret.range.clone()).is_some());
            last = secret.range.start;
        }
        if !found.is_empty() {
            prop_assert!(prefilter::may_hold_secret(&text, 20));
        }
    }

    #[test]
    fn any_text_is_survived(text in any::<String>(), name in any::<String>()) {
        scan(&text, &Entropy { min_length: 1, min_bits: 0.1, ..Entropy::default() }, TextContext { name: &name, place: Place::Data });
        shapes::find(&text);
    }
}
