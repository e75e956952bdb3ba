//! How a recording ends that does not end well: signals, kills, servers that will not go, and
//! disks that take no more.
#![cfg(unix)]

use crate::recorder::{Recorder, assert_no_gap, files, load, ping, until, wire_server};
use crate::support::{command, run_in};
use mcp_cassette::Cassette;
use rustix::process::{Pid, Signal, test_kill_process};
use std::fs;
use std::path::Path;
use tempfile::tempdir;

fn answering(folder: &Path, options: &[&str]) -> Recorder {
    let server = wire_server();
    let mut command = vec![server.to_str().expect("a path"), "answer"];
    command.extend(options);
    Recorder::start(folder, &[], command)
}

fn partial(folder: &Path) -> Option<Cassette> {
    let salvaged = Cassette::load_unfinished(folder.join("c.mcp.json.partial"));
    salvaged.ok().map(|salvaged| salvaged.cassette)
}

#[test]
fn a_signal_ends_the_server_and_saves_the_cassette() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let folder = tempdir().unwrap();
        let mut session = answering(folder.path(), &[]);
        for id in 0..10 {
            session.ping(id);
        }
        session.signal(signal);
        let run = session.wait();
        assert_eq!(run.code, 130, "{}", run.all());
        assert_eq!(load(folder.path()).messages().len(), 20);
        assert_eq!(files(folder.path()), ["c.mcp.json"]);
        let text = fs::read_to_string(folder.path().join("c.mcp.json")).unwrap();
        assert!(
            text.ends_with("  ],\n  \"interrupted\": true\n}\n"),
            "{text}"
        );
    }
}

/// Whether a process runs; one that nobody has waited for does not.
fn runs(pid: &str) -> bool {
    let state = fs::read_to_string(format!("/proc/{pid}/stat")).ok();
    if let Some(state) = state {
        return !state.contains(") Z ");
    }
    let pid = pid.parse().ok().and_then(Pid::from_raw).expect("a pid");
    test_kill_process(pid).is_ok() && !Path::new("/proc/self").exists()
}

/// A server with a child of its own; both ignore the end of their input and requests to end.
const STUBBORN: &str = "trap '' TERM INT HUP
    sh -c 'echo $$ > grandchild; while :; do sleep 1; done' &
    echo $$ > child
    echo '{\"method\":\"ready\"}'
    while :; do sleep 1; done";

#[test]
fn nothing_is_left_of_a_server_that_will_not_end() {
    for by_signal in [false, true] {
        let folder = tempdir().unwrap();
        let mut session = Recorder::start(folder.path(), &[], ["sh", "-c", STUBBORN]);
        session.receive();
        let pid = |name: &str| {
            let mut pid = String::new();
            until("the pid is written", || {
                pid = fs::read_to_string(folder.path().join(name)).unwrap_or_default();
                pid.ends_with('\n')
            });
            pid.trim().to_owned()
        };
        let pids = [pid("child"), pid("grandchild")];
        let run = if by_signal {
            session.signal(Signal::TERM);
            session.wait()
        } else {
            session.finish()
        };
        assert_eq!(run.code, if by_signal { 130 } else { 0 }, "{}", run.all());
        for pid in pids {
            until("the process is gone", || !runs(&pid));
        }
        assert_eq!(load(folder.path()).messages().len(), 1);
    }
}

#[test]
fn a_kill_loses_nothing_that_was_written_and_the_rest_loads() {
    let folder = tempdir().unwrap();
    // Numbers that look random and are the same in each run.
    let mut random = 12345_u32;
    for _ in 0..20 {
        random = random.wrapping_mul(1_103_515_245).wrapping_add(12345);
        let count = 1 + random as usize / 65536 % 40;
        let mut session = answering(folder.path(), &[]);
        for id in 0..count {
            session.ping(id);
        }
        // Nothing more passes, and still all of it gets to the disk.
        until("all is written", || {
            partial(folder.path()).is_some_and(|cassette| cassette.messages().len() == 2 * count)
        });
        session.process.kill().unwrap();
        session.wait();
        let cassette = partial(folder.path()).expect("a loadable file");
        assert_eq!(cassette.messages().len(), 2 * count);
        assert_no_gap(&cassette);
        for gate in ["lint", "redaction-check"] {
            let run = run_in(folder.path(), &[gate, "c.mcp.json.partial"], &[]);
            assert_eq!(run.code, 2, "{}", run.all());
            assert!(
                run.stderr.contains("is an unfinished recording"),
                "{}",
                run.stderr
            );
        }
        fs::remove_file(folder.path().join("c.mcp.json.partial")).unwrap();
    }
}

#[test]
fn a_kill_at_full_rate_leaves_a_file_without_a_gap() {
    let folder = tempdir().unwrap();
    let mut random = 54321_u32;
    for _ in 0..20 {
        random = random.wrapping_mul(1_103_515_245).wrapping_add(12345);
        let enough = 100_000 + u64::from(random / 65536) * 16;
        let mut session = answering(folder.path(), &["--size", "20000"]);
        for id in 0..200 {
            session.send(&ping(id));
        }
        let path = folder.path().join("c.mcp.json.partial");
        until("much is written", || {
            fs::metadata(&path).is_ok_and(|meta| meta.len() > enough)
        });
        session.process.kill().unwrap();
        session.wait();
        let cassette = partial(folder.path()).expect("a loadable file");
        assert!(cassette.messages().len() > 0);
        assert_no_gap(&cassette);
        let run = run_in(folder.path(), &["inspect", "c.mcp.json.partial"], &[]);
        assert_eq!(run.code, 0, "{}", run.all());
    }
}

#[test]
fn what_a_kill_left_becomes_a_cassette() {
    let folder = tempdir().unwrap();
    let mut session = answering(folder.path(), &[]);
    session.ping(1);
    let path = folder.path().join("c.mcp.json.partial");
    until("it is written", || {
        partial(folder.path()).is_some_and(|cassette| cassette.messages().len() == 2)
    });
    session.process.kill().unwrap();
    session.wait();
    // As if the kill had come in the middle of a write.
    let whole = fs::read_to_string(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 100]).unwrap();
    let inspected = run_in(folder.path(), &["inspect", "c.mcp.json.partial"], &[]);
    assert!(
        inspected
            .stderr
            .contains("bytes of an unfinished message dropped")
    );
    let arguments = ["redact", "c.mcp.json.partial", "--to", "c.mcp.json"];
    let run = run_in(folder.path(), &arguments, &[]);
    assert_eq!(run.code, 0, "{}", run.all());
    assert_eq!(load(folder.path()).messages().len(), 1);
}

#[test]
fn a_full_disk_stops_the_recording_and_not_the_traffic() {
    let folder = tempdir().unwrap();
    let mut record = std::process::Command::new("sh");
    let binary = command(folder.path());
    // A limit on the size of files, in blocks of 512 bytes.
    record
        .current_dir(folder.path())
        .args(["-c", "ulimit -f 128; exec \"$@\"", "sh"])
        .arg(binary.get_program())
        .args(["record", "--cassette", "c.mcp.json", "--"])
        .arg(wire_server())
        .args(["answer", "--size", "3000"]);
    let mut session = Recorder::spawn(record);
    for id in 0..60 {
        assert!(session.ping(id).contains(&"x".repeat(3000)));
    }
    let run = session.finish();
    assert_eq!(run.code, 74, "{}", run.all());
    assert!(run.stderr.contains("traffic goes on"), "{}", run.stderr);
    assert_eq!(files(folder.path()), ["c.mcp.json.partial"]);
    let text = fs::read_to_string(folder.path().join("c.mcp.json.partial")).unwrap();
    assert!(
        text.ends_with("\n  ]\n}\n"),
        "the closing brackets are back"
    );
    let cassette = partial(folder.path()).expect("a loadable file");
    let count = cassette.messages().len();
    assert!(count > 2);
    assert_no_gap(&cassette);
    let lost = format!("holds the first {count} of 120 messages, the rest is lost");
    assert!(run.stderr.contains(&lost), "{}", run.stderr);
}

#[test]
fn a_vanished_directory_stops_the_recording_and_not_the_traffic() {
    let folder = tempdir().unwrap();
    let directory = folder.path().join("cassettes");
    let mut record = command(folder.path());
    record
        .args(["record", "--cassette", "cassettes/c.mcp.json", "--"])
        .arg(wire_server())
        .arg("answer");
    let mut session = Recorder::spawn(record);
    session.ping(1);
    until("it is written", || {
        directory.join("c.mcp.json.partial").exists()
    });
    fs::remove_dir_all(&directory).unwrap();
    session.ping(2);
    let run = session.finish();
    assert_eq!(run.code, 74, "{}", run.all());
    assert!(
        run.stderr
            .contains("all 4 messages of the recording are lost"),
        "{}",
        run.stderr
    );
}

#[test]
fn without_checkpoints_there_is_no_partial_and_the_cassette_is_the_same() {
    let folder = tempdir().unwrap();
    let texts: Vec<String> = [
        &[][..],
        &["--checkpoint-interval", "0"],
        &["--checkpoint-interval", "3600"],
    ]
    .into_iter()
    .map(|flags| {
        let server = wire_server();
        let server = [server.as_os_str(), "answer".as_ref()];
        let mut session = Recorder::start(folder.path(), flags, server);
        for id in 0..5 {
            session.ping(id);
        }
        if flags.contains(&"0") {
            assert!(!files(folder.path()).contains(&"c.mcp.json.partial".to_owned()));
        }
        let run = session.finish();
        assert_eq!(run.code, 0, "{}", run.all());
        let text = fs::read_to_string(folder.path().join("c.mcp.json")).unwrap();
        let timeless = |line: &&str| {
            !["\"t_offset_ms\"", "\"recorded_at\"", "\"applied_at\""]
                .iter()
                .any(|member| line.contains(member))
        };
        text.lines().filter(timeless).collect()
    })
    .collect();
    assert_eq!(texts[0], texts[1]);
    assert_eq!(texts[0], texts[2]);
}
