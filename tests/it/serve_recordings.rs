//! Recordings replay: the client of a recording, played from its own messages, hears what was
//! recorded, in the recorded order.

use crate::serve_client::Client;
use crate::support::{example, root};
use mcp_cassette::Cassette;
use mcp_cassette::cassette::{Kind, Sender, Transport};
use std::path::PathBuf;

fn recordings() -> Vec<PathBuf> {
    let examples = root().join("examples/cassettes");
    let mut folders = vec![examples];
    // Recordings of real servers by 0.4.0, where they lie beside the checkout.
    for beside in ["../shared", "../../shared"] {
        let folder = root().join(beside).join("cassettes/recorded-by-0.4.0");
        folders.extend(folder.is_dir().then_some(folder));
    }
    let mut files: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).expect("a folder"))
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.to_string_lossy().ends_with(".mcp.json"))
        .collect();
    files.sort();
    assert!(files.len() >= 6, "found only {} recordings", files.len());
    files
}

/// The tokens of a JSON text: what is left when white space between them is taken out.
fn compact(json: &str) -> String {
    let mut out = String::new();
    let (mut inside, mut escaped) = (false, false);
    for c in json.chars() {
        if inside || !c.is_ascii_whitespace() {
            out.push(c);
        }
        match c {
            _ if escaped => escaped = false,
            '\\' if inside => escaped = true,
            '"' => inside = !inside,
            _ => {}
        }
    }
    out
}

#[test]
fn every_recording_over_stdio_replays_to_its_own_client_twice() {
    let mut played = 0;
    for path in recordings() {
        let cassette = Cassette::load(&path).expect("a cassette");
        if cassette.transport() == Transport::Http {
            continue;
        }
        let name = path.display().to_string();
        for _ in 0..2 {
            let mut client = Client::start(&[&name]);
            for message in cassette.messages() {
                match (message.sender(), message.kind()) {
                    (_, Kind::Raw) => {}
                    (Sender::Client, _) => client.say(&compact(message.payload())),
                    (Sender::Server, _) => {
                        let heard = client.hear();
                        let expected = compact(message.payload());
                        assert_eq!(heard, Some(expected), "{name}, seq {}", message.seq());
                    }
                }
            }
            let run = client.leave();
            assert_eq!((run.code, &*run.stdout), (0, ""), "{name}: {}", run.all());
            assert_eq!(run.stderr, "", "{name}");
        }
        played += 1;
    }
    assert!(played >= 6, "played only {played} recordings");
}

#[test]
fn requests_that_are_piped_in_are_all_answered_before_the_end() {
    let cassette = Cassette::load(root().join(example("echo_and_add"))).expect("a cassette");
    let mut client = Client::start(&[&example("echo_and_add")]);
    let mut answers = 0;
    for message in cassette.messages() {
        match message.sender() {
            Sender::Client => client.say(&compact(message.payload())),
            Sender::Server if message.kind() == Kind::Response => answers += 1,
            Sender::Server => {}
        }
    }
    let run = client.leave();
    let heard = run
        .stdout
        .lines()
        .filter(|line| line.contains("\"result\"") || line.contains("\"error\""));
    assert_eq!(heard.count(), answers, "{}", run.all());
    assert_eq!(run.code, 0, "{}", run.all());
}
