//! The cassettes in `examples/cassettes` hold what the demo server says today.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::demo_client::DemoClient;

/// Each cassette: its name, the server's arguments, and the places at which the script that made
/// it edited what the server had said.
const CASSETTES: [(&str, &[&str], &[&str]); 6] = [
    ("echo_and_add", &[], &[]),
    (
        "injected",
        &[],
        &[
            "/messages/4/payload/result/tools/0/description",
            "/messages/6/payload/result/content/0/text",
        ],
    ),
    ("sampling", &[], &[]),
    (
        "surfaces",
        &[],
        &[
            "/messages/4/payload/result/tools/0/inputSchema/properties/text/description",
            "/messages/4/payload/result/tools/3/inputSchema/properties/level/enum/8",
            "/messages/4/payload/result/tools/7",
            "/messages/6/payload/result/content/0/text",
        ],
    ),
    ("tools", &[], &[]),
    ("tools-v2", &["--poisoned"], &[]),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/cassettes")
}

#[test]
fn every_example_cassette_is_in_the_table() {
    let found: BTreeSet<String> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let expected: BTreeSet<String> = CASSETTES
        .iter()
        .map(|(name, ..)| format!("{name}.mcp.json"))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn the_demo_server_says_what_was_recorded_but_for_the_edits() {
    for (name, arguments, edits) in CASSETTES {
        let path = folder().join(format!("{name}.mcp.json"));
        let cassette: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        let differences = replay(&cassette, arguments);
        assert_eq!(
            differences,
            edits.iter().copied().map(str::to_owned).collect(),
            "{name}: run examples/record_cassettes.py after a change of the demo server"
        );
    }
}

/// Says to a demo server what the recorded client said, and returns the pointers of the recorded
/// values that the server does not say now.
fn replay(cassette: &Value, arguments: &[&str]) -> BTreeSet<String> {
    let mut client = DemoClient::start(arguments);
    let mut differences = BTreeSet::new();
    for (index, message) in cassette["messages"].as_array().unwrap().iter().enumerate() {
        if message["sender"] == "client" {
            client.send(&message["payload"]);
            continue;
        }
        let pointer = format!("/messages/{index}/payload");
        compare(
            &pointer,
            Some(&message["payload"]),
            Some(&client.receive()),
            &mut differences,
        );
    }
    assert_eq!(client.end(), Vec::<Value>::new());
    let hello = &cassette["messages"][1]["payload"]["result"];
    assert_eq!(cassette["protocol_version"], hello["protocolVersion"]);
    assert_eq!(cassette["server_info"], hello["serverInfo"]);
    differences
}

fn compare(
    pointer: &str,
    recorded: Option<&Value>,
    live: Option<&Value>,
    differences: &mut BTreeSet<String>,
) {
    match (recorded, live) {
        (Some(Value::Object(old)), Some(Value::Object(new))) => {
            let members: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
            for member in members {
                let place = format!("{pointer}/{member}");
                compare(&place, old.get(member), new.get(member), differences);
            }
        }
        (Some(Value::Array(old)), Some(Value::Array(new))) => {
            for index in 0..old.len().max(new.len()) {
                let place = format!("{pointer}/{index}");
                compare(&place, old.get(index), new.get(index), differences);
            }
        }
        _ if recorded == live => {}
        _ => {
            differences.insert(pointer.to_owned());
        }
    }
}

#[test]
fn a_difference_is_found_at_its_place() {
    let recorded = serde_json::json!({"a": [1, {"b": "x"}], "c": null});
    let live = serde_json::json!({"a": [1, {"b": "y"}, 3]});
    let mut differences = BTreeSet::new();
    compare("", Some(&recorded), Some(&live), &mut differences);
    let found: Vec<&str> = differences.iter().map(String::as_str).collect();
    assert_eq!(found, ["/a/1/b", "/a/2", "/c"]);
}
