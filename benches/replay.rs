//! `serve` beside a bare server, over real pipes:
//!
//! ```text
//! cargo bench --bench replay
//! ```
//!
//! Two things are measured, for recordings of 1,000, 10,000 and 100,000 calls: the median time of
//! a call, beside a server that sends each line back as it is, and the time from the start of the
//! process to the first answer, beside a process that reads the file and runs `serde_json`'s
//! `IgnoredAny` over it. On Linux the calls are timed on one processor for client and server, since
//! otherwise it is luck whether a server is woken on the client's processor, and waking an idle
//! one takes twenty times as long as any answer. With `MCP_CASSETTE_0_4_0` naming the executable of mcp-cassette 0.4.0
//! for Python, it takes part. Contestants take turns in each round; the ratios of one run are
//! what counts.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a benchmark that cannot run should stop"
)]

mod common;

use std::env;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

const SIZES: [usize; 3] = [1_000, 10_000, 100_000];
/// So many calls are timed in a round.
const CALLS: usize = 900;

fn main() {
    let arguments: Vec<String> = env::args().collect();
    match arguments.get(1).map(String::as_str) {
        Some("--echo") => echo().expect("the client stays"),
        Some("--validate") => common::validate(Path::new(&arguments[2])),
        _ => compare(),
    }
}

/// Sends each line back.
fn echo() -> io::Result<()> {
    let mut input = BufReader::with_capacity(1 << 16, File::open("/dev/stdin")?);
    let mut output = File::options().write(true).open("/dev/stdout")?;
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        output.write_all(&line)?;
        line.clear();
    }
    Ok(())
}

fn initialize() -> String {
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#.to_owned()
}

fn call(id: usize, number: usize) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"search","arguments":{{"query":"the report of build {number}","limit":10}}}}}}"#
    )
}

/// A recording of so many different calls, with answers of about 300 bytes.
fn recording(calls: usize) -> String {
    let mut out = String::from(
        "{\n  \"format_version\": 3,\n  \"recorded_at\": \"2026-11-29T12:00:00.000000Z\",\n  \"transport\": \"stdio\",\n  \"messages\": [\n",
    );
    let mut seq = 0;
    let mut row = |sender: &str, kind: &str, method: &str, id: usize, payload: &str| {
        let comma = if seq == 0 { "" } else { ",\n" };
        let _ = write!(
            out,
            "{comma}    {{\n      \"seq\": {seq},\n      \"t_offset_ms\": {seq},\n      \"sender\": \"{sender}\",\n      \
             \"kind\": \"{kind}\",\n      \"method\": {method},\n      \"msg_id\": {id},\n      \
             \"payload\": {payload},\n      \"redacted\": false,\n      \"exchange\": null,\n      \
             \"channel\": null\n    }}"
        );
        seq += 1;
    };
    row("client", "request", "\"initialize\"", 0, &initialize());
    row(
        "server",
        "response",
        "null",
        0,
        r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"bench","version":"1"}}}"#,
    );
    let prose = "the report shows that every build of this week passed ".repeat(4);
    for number in 0..calls {
        let id = number + 1;
        row("client", "request", "\"tools/call\"", id, &call(id, number));
        let answer = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"{prose}{number}"}}],"isError":false}}}}"#
        );
        row("server", "response", "null", id, &answer);
    }
    out.push_str("\n  ]\n}\n");
    out
}

struct Session {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    line: Vec<u8>,
}

impl Session {
    fn start(command: &[String]) -> Session {
        let mut process = Command::new(&command[0])
            .args(&command[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the contestant runs");
        Session {
            input: process.stdin.take().unwrap(),
            output: BufReader::with_capacity(1 << 16, process.stdout.take().unwrap()),
            process,
            line: Vec::new(),
        }
    }

    fn ask(&mut self, line: &str) -> Duration {
        let line = format!("{line}\n");
        let began = Instant::now();
        self.input.write_all(line.as_bytes()).expect("a server");
        self.line.clear();
        self.output
            .read_until(b'\n', &mut self.line)
            .expect("output");
        let time = began.elapsed();
        assert!(!self.line.is_empty(), "the contestant ended");
        time
    }

    fn finish(mut self) {
        drop(self.input);
        let mut rest = Vec::new();
        self.output.read_to_end(&mut rest).expect("its end");
        self.process.wait().expect("its end");
    }
}

struct Contestant {
    name: String,
    command: Vec<String>,
    /// How many calls it knows.
    calls: usize,
}

/// Who is compared over calls, and who over starts.
fn contestants(folder: &Path) -> (Vec<Contestant>, Vec<Contestant>) {
    let own = common::shown(&env::current_exe().expect("this program"));
    let python = env::var_os("MCP_CASSETTE_0_4_0").map(PathBuf::from);
    let mut servers = vec![Contestant {
        name: "line echo".to_owned(),
        command: vec![own.clone(), "--echo".to_owned()],
        calls: SIZES[0],
    }];
    let mut starts = Vec::new();
    for calls in SIZES {
        let path = folder.join(format!("{calls}.mcp.json"));
        std::fs::write(&path, recording(calls)).expect("a writable folder");
        let path = common::shown(&path);
        starts.push(Contestant {
            name: format!("validation, {calls} calls"),
            command: vec![own.clone(), "--validate".to_owned(), path.clone()],
            calls: 0,
        });
        let mut serve = |name: &str, binary: &str| {
            let command = vec![binary.to_owned(), "serve".to_owned(), path.clone()];
            for list in [&mut servers, &mut starts] {
                list.push(Contestant {
                    name: format!("{name}, {calls} calls"),
                    command: command.clone(),
                    calls,
                });
            }
        };
        serve("serve", env!("CARGO_BIN_EXE_mcp-cassette"));
        if let Some(python) = &python {
            serve("0.4.0", &common::shown(python));
        }
    }
    (servers, starts)
}

fn compare() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let rounds = env::var("ROUNDS").ok().and_then(|n| n.parse().ok());
    let rounds = rounds.unwrap_or(7);
    let (servers, starts) = contestants(folder.path());
    print(
        "Median of a call, µs",
        1,
        &servers,
        rounds,
        |contestant, round| {
            let processors = OneProcessor::keep();
            let mut session = Session::start(&contestant.command);
            session.ask(&initialize());
            let step = contestant.calls / CALLS;
            let mut times: Vec<Duration> = (0..CALLS)
                .map(|n| session.ask(&call(n + 1_000_000, n * step.max(1) + round % step.max(1))))
                .skip(CALLS / 10)
                .collect();
            session.finish();
            drop(processors);
            times.sort_unstable();
            times[times.len() / 2].as_secs_f64() * 1e6
        },
    );
    print(
        "Start to first answer, ms",
        2,
        &starts,
        rounds,
        |contestant, _| {
            let began = Instant::now();
            if contestant.calls == 0 {
                let status = Command::new(&contestant.command[0])
                    .args(&contestant.command[1..])
                    .status();
                assert!(status.expect("it runs").success());
                return began.elapsed().as_secs_f64() * 1e3;
            }
            let mut session = Session::start(&contestant.command);
            session.ask(&initialize());
            let time = began.elapsed().as_secs_f64() * 1e3;
            session.finish();
            time
        },
    );
}

/// Keeps this process, and what it starts, on the processor that it runs on.
#[cfg(target_os = "linux")]
struct OneProcessor(rustix::thread::CpuSet);

#[cfg(target_os = "linux")]
impl OneProcessor {
    fn keep() -> OneProcessor {
        let before = rustix::thread::sched_getaffinity(None).expect("the processors");
        let mut one = rustix::thread::CpuSet::new();
        one.set(rustix::thread::sched_getcpu());
        rustix::thread::sched_setaffinity(None, &one).expect("one of them");
        OneProcessor(before)
    }
}

#[cfg(target_os = "linux")]
impl Drop for OneProcessor {
    fn drop(&mut self) {
        rustix::thread::sched_setaffinity(None, &self.0).expect("all of them");
    }
}

/// Elsewhere it is left to the system.
#[cfg(not(target_os = "linux"))]
struct OneProcessor;

#[cfg(not(target_os = "linux"))]
impl OneProcessor {
    fn keep() -> OneProcessor {
        OneProcessor
    }
}

/// A table of medians. The ratio is to the last contestant before that is a comparator: the first
/// one, or with `kind` 2 the validation of the same file.
fn print(
    title: &str,
    kind: usize,
    all: &[Contestant],
    rounds: usize,
    measure: impl Fn(&Contestant, usize) -> f64,
) {
    let mut values = vec![Vec::new(); all.len()];
    for round in 0..=rounds {
        for (contestant, values) in all.iter().zip(&mut values) {
            let value = measure(contestant, round);
            // The first round warms the page cache.
            if round > 0 {
                values.push(value);
            }
        }
    }
    println!("\n{title}\n\n| | median | ratio |\n|---|---|---|");
    let mut base = None;
    for (contestant, values) in all.iter().zip(&mut values) {
        values.sort_unstable_by(f64::total_cmp);
        let median = values[values.len() / 2];
        if base.is_none() || kind == 2 && contestant.calls == 0 {
            base = Some(median);
        }
        let ratio = median / base.unwrap_or(median);
        println!("| {} | {median:.1} | {ratio:.2} |", contestant.name);
    }
}
