//! Loading packs: what is accepted, and what every mistake says.

use proptest::prelude::*;

use super::{PackSeverity, PackSource, PackSurface, load};

const PATTERN: &str = "version = 1\n[[patterns]]\nid = \"P1\"\nlabel = \"x\"\nregex = 'y'\n";

fn error(pack: &str) -> String {
    error_of(pack.as_bytes())
}

fn error_of(bytes: &[u8]) -> String {
    load(&[PackSource {
        name: "pack.toml",
        bytes,
    }])
    .unwrap_err()
    .to_string()
}

#[test]
fn a_pattern_has_defaults() {
    let set = load(&[PackSource {
        name: "pack.toml",
        bytes: PATTERN.as_bytes(),
    }])
    .unwrap();
    let [pattern] = set.patterns() else {
        panic!("one pattern")
    };
    assert_eq!((&*pattern.id, &*pattern.label), ("P1", "x"));
    assert_eq!(pattern.severity, PackSeverity::Error);
    assert_eq!(
        pattern.surfaces,
        [PackSurface::Description, PackSurface::Result]
    );
    assert_eq!(pattern.message, None);
}

#[test]
fn a_pattern_can_set_everything() {
    let pack = format!(
        "# a comment\r\n{PATTERN}flags = [\"i\", \"i\", \"m\"]\nseverity = \"warning\"\n\
         surfaces = [\"title\", \"name\", \"title\"]\nmessage = \"said\"\n"
    );
    let set = load(&[PackSource {
        name: "pack.toml",
        bytes: pack.as_bytes(),
    }])
    .unwrap();
    let [pattern] = set.patterns() else {
        panic!("one pattern")
    };
    assert_eq!(pattern.severity.as_str(), "warning");
    assert_eq!(pattern.surfaces, [PackSurface::Name, PackSurface::Title]);
    assert_eq!(pattern.message.as_deref(), Some("said"));
}

#[test]
fn every_surface_is_found_under_its_name() {
    for surface in PackSurface::ALL {
        let pack = format!("{PATTERN}surfaces = [\"{}\"]\n", surface.as_str());
        let set = load(&[PackSource {
            name: "p",
            bytes: pack.as_bytes(),
        }])
        .unwrap();
        assert_eq!(set.patterns()[0].surfaces, [surface]);
    }
}

#[test]
fn packs_keep_their_order_and_an_empty_one_is_fine() {
    let second = PATTERN.replace("P1", "A2");
    let set = load(&[
        PackSource {
            name: "a.toml",
            bytes: PATTERN.as_bytes(),
        },
        PackSource {
            name: "empty.toml",
            bytes: b"version = 1\n",
        },
        PackSource {
            name: "b.toml",
            bytes: second.as_bytes(),
        },
    ])
    .unwrap();
    let ids: Vec<&str> = set.patterns().iter().map(|pattern| &*pattern.id).collect();
    assert_eq!(ids, ["P1", "A2"]);
}

#[test]
fn an_empty_message_means_the_default() {
    let pack = format!("{PATTERN}message = \"\"\n");
    let set = load(&[PackSource {
        name: "p",
        bytes: pack.as_bytes(),
    }])
    .unwrap();
    assert_eq!(set.patterns()[0].message, None);
}

#[test]
fn the_version_is_the_number_one() {
    let cases = [
        (
            "",
            "pattern pack pack.toml: unsupported version none (expected `version = 1`)",
        ),
        (
            "\nversion = 2\n",
            "pattern pack pack.toml:2: unsupported version 2 (expected `version = 1`)",
        ),
        (
            "version = \"1\"\n",
            "pattern pack pack.toml:1: unsupported version \"1\" (expected `version = 1`)",
        ),
        (
            "version = true\n",
            "pattern pack pack.toml:1: unsupported version of type boolean (expected `version = 1`)",
        ),
        (
            "version = 1.0\n",
            "pattern pack pack.toml:1: unsupported version of type float (expected `version = 1`)",
        ),
        (
            "version = 2\nextra = 1\n",
            "pattern pack pack.toml:1: unsupported version 2 (expected `version = 1`)",
        ),
    ];
    for (pack, expected) in cases {
        assert_eq!(error(pack), expected);
    }
}

#[test]
fn unknown_keys_are_named_with_the_line_and_a_guess() {
    assert_eq!(
        error("version = 1\nextra = true\n"),
        "pattern pack pack.toml:2: unknown top-level key \"extra\" (expected: version, patterns)"
    );
    assert_eq!(
        error("version = 1\n\npattern = []\n"),
        "pattern pack pack.toml:3: unknown top-level key \"pattern\", did you mean \"patterns\"? \
         (expected: version, patterns)"
    );
    assert_eq!(
        error(&format!("{PATTERN}severty = \"error\"\n")),
        "pattern pack pack.toml:6: rule \"P1\": unknown key \"severty\", did you mean \
         \"severity\"? (expected: id, label, regex, flags, severity, surfaces, message)"
    );
}

#[test]
fn a_mistyped_required_key_is_named_rather_than_missed() {
    assert_eq!(
        error(&PATTERN.replace("regex", "regexp")),
        "pattern pack pack.toml:5: rule \"P1\": unknown key \"regexp\", did you mean \"regex\"? \
         (expected: id, label, regex, flags, severity, surfaces, message)"
    );
}

#[test]
fn missing_keys_are_named() {
    for (line, key) in [("label = \"x\"\n", "label"), ("regex = 'y'\n", "regex")] {
        let expected = format!("pattern pack pack.toml:2: rule \"P1\": missing key `{key}`");
        assert_eq!(error(&PATTERN.replace(line, "")), expected);
    }
    let expected = "pattern pack pack.toml:2: pattern 1: missing key `id`";
    assert_eq!(error(&PATTERN.replace("id = \"P1\"\n", "")), expected);
}

#[test]
fn wrong_types_are_named() {
    let cases = [
        (
            "flags = \"i\"\n",
            "rule \"P1\": `flags` must be an array of strings, not string",
        ),
        (
            "flags = [1]\n",
            "rule \"P1\": `flags` must be an array of strings, not integer",
        ),
        (
            "surfaces = {}\n",
            "rule \"P1\": `surfaces` must be an array of strings, not table",
        ),
        (
            "severity = 1\n",
            "rule \"P1\": `severity` must be a string, not integer",
        ),
        (
            "message = [\"a\"]\n",
            "rule \"P1\": `message` must be a string, not array",
        ),
    ];
    for (line, expected) in cases {
        let expected = format!("pattern pack pack.toml:6: {expected}");
        assert_eq!(error(&format!("{PATTERN}{line}")), expected);
    }
    for patterns in ["patterns = 1", "[patterns]\nid = \"P1\"", "patterns = [1]"] {
        let message = error(&format!("version = 1\n{patterns}\n"));
        assert!(
            message.contains("pack.toml:2: `patterns` must be an array of tables"),
            "{message}"
        );
    }
}

#[test]
fn ids_have_a_shape_and_do_not_begin_with_r() {
    for id in ["1bad", "", "é", "a b", "aaaaaaaaaaaaaaaaa", "P1\\n", "-a"] {
        let message = error(&PATTERN.replace("P1", id));
        assert!(
            message.contains(&format!("pack.toml:3: invalid rule id \"{id}\"")),
            "{message}"
        );
    }
    let message = error(&PATTERN.replace("P1", "R005"));
    assert!(
        message.contains("\"R005\" (ids that start with \"R\" belong"),
        "{message}"
    );
    for id in ["r1", "a", "aaaaaaaaaaaaaaaa", "A_b-9"] {
        let pack = PATTERN.replace("P1", id);
        assert!(
            load(&[PackSource {
                name: "p",
                bytes: pack.as_bytes()
            }])
            .is_ok(),
            "{id}"
        );
    }
}

#[test]
fn a_duplicate_id_names_both_files() {
    let packs = ["a.toml", "b.toml"].map(|name| PackSource {
        name,
        bytes: PATTERN.as_bytes(),
    });
    assert_eq!(
        load(&packs).unwrap_err().to_string(),
        "pattern pack b.toml:3: duplicate rule id \"P1\" (already defined by a.toml)"
    );
    let twice = format!("{PATTERN}{}", PATTERN.replace("version = 1\n", ""));
    assert_eq!(
        error(&twice),
        "pattern pack pack.toml:7: duplicate rule id \"P1\" (already defined by pack.toml)"
    );
}

#[test]
fn unknown_values_are_named_with_the_known_ones() {
    let cases = [
        (
            "flags = [\"i\",\n\"z\"]\n",
            7,
            "unknown regex flag \"z\" (accepted: i, m, s, x)",
        ),
        (
            "flags = [\"I\"]\n",
            6,
            "unknown regex flag \"I\" (accepted: i, m, s, x)",
        ),
        (
            "severity = \"note\"\n",
            6,
            "unknown severity \"note\" (expected: error, warning)",
        ),
        (
            "severity = \"Error\"\n",
            6,
            "unknown severity \"Error\", did you mean \"error\"? (expected: error, warning)",
        ),
        (
            "surfaces = [\"result\", \"descripton\"]\n",
            6,
            "unknown surface \"descripton\", did you mean \"description\"? (expected: name, \
             description, result, schema_description, schema_enum, instructions, title, \
             annotation, prompt, resource, output_schema)",
        ),
    ];
    for (lines, line, expected) in cases {
        let expected = format!("pattern pack pack.toml:{line}: rule \"P1\": {expected}");
        assert_eq!(error(&format!("{PATTERN}{lines}")), expected);
    }
}

#[test]
fn a_pattern_that_would_check_nothing_is_refused() {
    let message = error(&format!("{PATTERN}surfaces = []\n"));
    assert!(
        message.contains("pack.toml:6: rule \"P1\": `surfaces` is empty"),
        "{message}"
    );
}

#[test]
fn a_bad_regex_names_the_rule_the_line_and_the_character() {
    assert_eq!(
        error(&PATTERN.replace("'y'", "'a('")),
        "pattern pack pack.toml:5: rule \"P1\": invalid regex: missing ), unterminated subpattern \
         at character 2"
    );
}

#[test]
fn files_that_are_no_packs_are_named() {
    let message = error("version = 1\nnot toml at all ===\n");
    assert!(
        message.starts_with("pattern pack pack.toml:2: not valid TOML: "),
        "{message}"
    );
    assert!(!message.contains('\n'), "{message}");
    let message = error_of(b"version = 1\n# \xff\n");
    assert_eq!(message, "pattern pack pack.toml:2: not valid UTF-8");
    let message = error_of(&vec![b'#'; 2 * 1024 * 1024]);
    assert_eq!(message, "pattern pack pack.toml: larger than 1048576 bytes");
}

#[test]
fn packs_are_bounded_in_number_and_size_together() {
    let table = |n: usize, regex: &str| {
        format!("[[patterns]]\nid = \"p{n}\"\nlabel = \"\"\nregex = '{regex}'\n")
    };
    let many: String = (0..1001).map(|n| table(n, "a")).collect();
    let message = error(&format!("version = 1\n{many}"));
    assert!(
        message.ends_with("more than 1000 patterns over all packs"),
        "{message}"
    );
    let large: String = (0..20).map(|n| table(n, r"\w{200}")).collect();
    let message = error(&format!("version = 1\n{large}"));
    assert!(message.contains("too large together"), "{message}");
}

#[test]
fn what_a_message_quotes_is_escaped_and_short() {
    let long = "k".repeat(5000);
    for pack in [
        format!("version = 1\n{long} = 1\n"),
        PATTERN.replace("P1", &long),
        format!("{PATTERN}severity = \"{long}\"\n"),
        format!("{PATTERN}\"\\u001b[31m\\n::error::\" = 1\n"),
        PATTERN.replace("'y'", &format!("'(?P={long})'")),
        PATTERN.replace("'y'", "\"(?P=\\u001b[31m\\n)\""),
        PATTERN.replace("'y'", "\"\\\\N{\\u001b}\""),
    ] {
        let message = error(&pack);
        assert!(message.len() < 400, "{message}");
        assert!(!message.chars().any(char::is_control), "{message:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = load(&[PackSource { name: "p", bytes: &bytes }]);
    }

    #[test]
    fn no_text_near_a_pack_panics(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "version = 1\n", "[[patterns]]\n", "id = \"P1\"\n", "id = \"P2\"\n", "label = \"\"\n",
            "regex = '(a'\n", "regex = 'a|b'\n", "flags = [\"i\"]\n", "flags = []\n", "x = {}\n",
            "patterns = 1\n", "surfaces = [\"name\"]\n", "message = 1\n", "\"", "[", "é", "= ",
        ]), 0..12),
    ) {
        let text = pieces.concat();
        if let Err(error) = load(&[PackSource { name: "p", bytes: text.as_bytes() }]) {
            prop_assert!(error.to_string().starts_with("pattern pack p"));
            prop_assert!(error.line.is_none_or(|line| line as usize <= text.lines().count() + 1));
        }
    }
}
