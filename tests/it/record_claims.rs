//! One writer a cassette: claims, in the file format of 0.4.0.

use crate::recorder::{Recorder, files, load, until, wire_server};
use crate::support::{run_in, write};
use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};
use tempfile::tempdir;

/// A claim as 0.4.0 writes it.
fn claim(folder: &Path, pid: u32, host: &str, age: Duration) {
    let created = SystemTime::now() - age;
    let created = jiff::Timestamp::try_from(created).expect("a time");
    let created = created.strftime("%Y-%m-%dT%H:%M:%S.%6f+00:00");
    let text = format!(
        "{{\"pid\":{pid},\"host\":\"{host}\",\"node_id\":null,\"worker\":\"gw1\",\"mode\":\"all\",\
         \"created_at\":\"{created}\",\"token\":\"3298c720b28fb8ef\"}}"
    );
    write(folder, "c.mcp.json.claim", text);
}

/// The name of this host, as a claim of our own tells it.
fn host() -> String {
    let folder = tempdir().expect("a folder");
    let session = start(folder.path(), &[]);
    let path = folder.path().join("c.mcp.json.claim");
    let mut text = String::new();
    until("there is a claim", || {
        text = std::fs::read_to_string(&path).unwrap_or_default();
        text.ends_with('}')
    });
    session.finish();
    let claim: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(claim["token"].as_str().map(str::len), Some(16), "{text}");
    claim["host"].as_str().expect("a host").to_owned()
}

fn start(folder: &Path, flags: &[&str]) -> Recorder {
    let server = wire_server();
    Recorder::start(folder, flags, [server.as_os_str(), "answer".as_ref()])
}

fn dead_pid() -> u32 {
    let mut child = Command::new(wire_server()).spawn().expect("a process");
    child.wait().expect("its end");
    child.id()
}

const MINUTE: Duration = Duration::from_secs(60);

#[test]
fn a_live_claim_is_honoured_with_who_holds_it_and_what_to_do() {
    let folder = tempdir().unwrap();
    claim(folder.path(), std::process::id(), &host(), MINUTE);
    let run = start(folder.path(), &["--claim-wait", "0.1"]).finish();
    assert_eq!(run.code, 6, "{}", run.all());
    let holder = format!("pid {} on {}, started 6", std::process::id(), host());
    for part in ["held for writing by", &holder, "--force to break the claim"] {
        assert!(run.stderr.contains(part), "{part}: {}", run.stderr);
    }
    assert_eq!(files(folder.path()), ["c.mcp.json.claim"]);
}

#[test]
fn a_claim_of_another_host_is_live_until_it_is_four_hours_old() {
    let folder = tempdir().unwrap();
    claim(folder.path(), dead_pid(), "another-host", MINUTE);
    assert_eq!(start(folder.path(), &[]).finish().code, 6);
    claim(folder.path(), dead_pid(), "another-host", MINUTE * 241);
    let run = start(folder.path(), &[]).finish();
    assert_eq!(run.code, 0, "{}", run.all());
    assert!(run.stderr.contains("older than 4 hours"), "{}", run.stderr);
}

#[test]
fn a_claim_whose_holder_is_gone_is_taken_over_with_a_warning() {
    let folder = tempdir().unwrap();
    claim(folder.path(), dead_pid(), &host(), MINUTE);
    let mut session = start(folder.path(), &[]);
    session.ping(1);
    let run = session.finish();
    assert_eq!(run.code, 0, "{}", run.all());
    assert_eq!(
        run.stderr.matches("reclaiming the claim").count(),
        1,
        "{}",
        run.stderr
    );
    assert_eq!(files(folder.path()), ["c.mcp.json"]);
}

#[test]
fn a_claim_that_cannot_be_read_is_stale_after_five_seconds() {
    let folder = tempdir().unwrap();
    let path = write(folder.path(), "c.mcp.json.claim", "{\"pid\":");
    let old = SystemTime::now() - Duration::from_secs(6);
    File::options()
        .write(true)
        .open(path)
        .unwrap()
        .set_modified(old)
        .unwrap();
    let run = start(folder.path(), &[]).finish();
    assert_eq!(run.code, 0, "{}", run.all());
    assert!(run.stderr.contains("it cannot be read"), "{}", run.stderr);
}

#[test]
fn force_breaks_a_claim_and_the_broken_one_is_not_released_by_its_first_holder() {
    let folder = tempdir().unwrap();
    let mut first = start(folder.path(), &[]);
    first.ping(1);
    let mut second = start(folder.path(), &["--force"]);
    second.ping(1);
    assert_eq!(first.finish().code, 0);
    assert!(files(folder.path()).contains(&"c.mcp.json.claim".to_owned()));
    let run = second.finish();
    assert!(
        run.stderr.contains("--force breaks the claim"),
        "{}",
        run.stderr
    );
    assert!(!files(folder.path()).contains(&"c.mcp.json.claim".to_owned()));
}

#[test]
fn a_claim_is_waited_for() {
    let folder = tempdir().unwrap();
    let mut first = start(folder.path(), &[]);
    first.ping(1);
    let waiting = start(folder.path(), &["--claim-wait", "60"]);
    assert_eq!(first.finish().code, 0);
    let run = waiting.finish();
    assert_eq!(run.code, 0, "{}", run.all());
}

#[test]
fn a_claim_that_another_process_holds_for_us_is_ours_and_stays_its_own() {
    let folder = tempdir().unwrap();
    let own = std::process::id();
    claim(folder.path(), own, &host(), MINUTE);
    let mut session = start(folder.path(), &["--claim-held-by", &own.to_string()]);
    session.ping(1);
    let run = session.finish();
    assert_eq!(run.code, 0, "{}", run.all());
    assert_eq!(files(folder.path()), ["c.mcp.json", "c.mcp.json.claim"]);
}

#[test]
fn every_way_out_releases_the_claim() {
    let folder = tempdir().unwrap();
    let record = ["record", "--cassette", "c.mcp.json", "--"];
    for program in ["no-such-program-anywhere", "/"] {
        run_in(folder.path(), &[&record[..], &[program]].concat(), &[]);
        assert_eq!(files(folder.path()), [""; 0], "{program}");
    }
}

#[test]
fn twenty_at_once_end_with_one_whole_cassette() {
    let folder = tempdir().unwrap();
    // Stale, so that all of them want to take it over.
    claim(folder.path(), dead_pid(), &host(), MINUTE);
    let sessions: Vec<Recorder> = (0..20).map(|_| start(folder.path(), &[])).collect();
    let mut recorded = 0;
    for mut session in sessions {
        // Who has not got the claim reads nothing.
        session.try_send("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
        let run = session.finish();
        match run.code {
            0 => recorded += 1,
            6 => assert!(run.stderr.contains("held for writing by"), "{}", run.stderr),
            _ => panic!("{}", run.all()),
        }
    }
    assert!(recorded >= 1);
    assert_eq!(load(folder.path()).messages().len(), 2);
    assert_eq!(files(folder.path()), ["c.mcp.json"]);
}
