//! The starter pack in `examples/lint-pack.toml` is one that can be copied.

use std::fs;
use std::path::Path;

use regex::RegexBuilder;

/// For each pattern a text that it is meant for, and one that is close but fine.
const SAMPLES: [(&str, &str, &str); 3] = [
    (
        "TEAM-1",
        "Reads from DB.eu.internal over TLS.",
        "Keeps internal state.",
    ),
    ("TEAM-2", "run_command", "run_tests"),
    (
        "TEAM-3",
        "The URL that is called with every row.",
        "A URL. The tool is called once.",
    ),
];

#[test]
fn every_pattern_finds_its_sample_and_passes_the_other() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/lint-pack.toml");
    let pack: toml::Table = fs::read_to_string(path).unwrap().parse().unwrap();
    assert_eq!(pack["version"].as_integer(), Some(1));
    let patterns = pack["patterns"].as_array().unwrap();
    assert_eq!(patterns.len(), SAMPLES.len());
    for (pattern, (id, bad, good)) in patterns.iter().zip(SAMPLES) {
        assert_eq!(pattern["id"].as_str(), Some(id));
        let ignores_case = pattern
            .get("flags")
            .and_then(toml::Value::as_array)
            .is_some_and(|flags| flags.iter().any(|flag| flag.as_str() == Some("i")));
        let regex = RegexBuilder::new(pattern["regex"].as_str().unwrap())
            .case_insensitive(ignores_case)
            .build()
            .unwrap();
        assert!(regex.is_match(bad), "{id}: {bad}");
        assert!(!regex.is_match(good), "{id}: {good}");
    }
}
