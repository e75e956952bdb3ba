//! The recorder beside the bare alternatives, over real pipes:
//!
//! ```text
//! cargo bench --bench stdio
//! ```
//!
//! One process plays the client and times what it sees: of the server itself (`direct`), of a
//! forwarder that does nothing but carry bytes with two threads, of `record`, and with
//! `MCP_CASSETTE_0_4_0` naming the executable of mcp-cassette 0.4.0 for Python, of that too. The
//! contestants take turns in each round, so that a busy machine is busy for all of them;
//! the ratios of one run are what counts. The server and the forwarder are this same program.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a benchmark that cannot run should stop"
)]

mod common;

use std::env;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

fn main() {
    let arguments: Vec<String> = env::args().collect();
    match arguments.get(1).map(String::as_str) {
        Some("server") => serve(arguments.get(2)).expect("the client stays"),
        Some("forward") => forward(&arguments[2..]),
        _ => compare(),
    }
}

/// Answers each line with the text that its `size` asks for, and logs `stderr` bytes first.
fn serve(stderr: Option<&String>) -> io::Result<()> {
    let noise = "a line of a log\n".repeat(stderr.and_then(|n| n.parse().ok()).unwrap_or(0) / 16);
    let mut input = BufReader::with_capacity(1 << 16, File::open("/dev/stdin")?);
    let mut output = File::options().write(true).open("/dev/stdout")?;
    let mut line = String::new();
    let mut answer = Vec::new();
    while input.read_line(&mut line)? > 0 {
        let number = |name: &str| {
            let from = line.find(name).map_or(line.len(), |at| at + name.len());
            let digits = line[from..].chars().take_while(char::is_ascii_digit);
            digits.collect::<String>().parse::<usize>().unwrap_or(0)
        };
        io::stderr().write_all(noise.as_bytes())?;
        answer.clear();
        write!(
            answer,
            "{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":\"",
            number("\"id\":")
        )?;
        let prose = b"the report shows that every build of this week passed and no user ";
        let size = number("\"size\":");
        while answer.len() < size {
            answer.extend_from_slice(prose);
        }
        answer.extend_from_slice(b"\"}]}}\n");
        output.write_all(&answer)?;
        line.clear();
    }
    Ok(())
}

/// Two threads with buffers of 64 KiB: what any process between the two costs.
fn forward(command: &[String]) {
    let mut child = Command::new(&command[0])
        .args(&command[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the server");
    let (mut to, mut from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    thread::spawn(move || {
        carry(&mut File::open("/dev/stdin").unwrap(), &mut to);
    });
    carry(
        &mut from,
        &mut File::options().write(true).open("/dev/stdout").unwrap(),
    );
    child.wait().unwrap();
}

fn carry(from: &mut impl Read, to: &mut impl Write) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        if to.write_all(&buffer[..count]).is_err() {
            return;
        }
    }
}

/// A contestant that runs.
struct Session {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    id: usize,
    line: Vec<u8>,
}

impl Session {
    fn start(command: &[String]) -> Session {
        let mut session = Session::cold(command);
        for _ in 0..100 {
            session.ask(0);
        }
        session
    }

    /// One that has answered nothing yet.
    fn cold(command: &[String]) -> Session {
        let mut process = Command::new(&command[0])
            .args(&command[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the contestant runs");
        Session {
            input: process.stdin.take().unwrap(),
            output: BufReader::with_capacity(1 << 18, process.stdout.take().unwrap()),
            process,
            id: 0,
            line: Vec::new(),
        }
    }

    fn send(&mut self, size: usize) {
        self.id += 1;
        let line = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"tools/call\",\"params\":{{\"name\":\"echo\",\"arguments\":{{\"size\":{size}}}}}}}\n",
            self.id
        );
        self.input.write_all(line.as_bytes()).expect("a server");
    }

    fn receive(&mut self) {
        self.line.clear();
        let count = self
            .output
            .read_until(b'\n', &mut self.line)
            .expect("output");
        assert!(count > 0, "the contestant ended");
    }

    fn ask(&mut self, size: usize) -> Duration {
        let began = Instant::now();
        self.send(size);
        self.receive();
        began.elapsed()
    }

    /// Seconds for `count` requests of which 64 are always under way.
    fn in_flight(&mut self, count: usize) -> f64 {
        let began = Instant::now();
        for _ in 0..64 {
            self.send(0);
        }
        for _ in 64..count {
            self.receive();
            self.send(0);
        }
        for _ in 0..64 {
            self.receive();
        }
        began.elapsed().as_secs_f64()
    }

    /// Ends it, with the peak of its memory in MB and the seconds that it took to end.
    fn finish(mut self) -> (f64, f64) {
        let status = format!("/proc/{}/status", self.process.id());
        let status = std::fs::read_to_string(status).unwrap_or_default();
        let mark = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = mark.and_then(|mark| mark.trim().trim_end_matches(" kB").parse::<f64>().ok());
        drop(self.input);
        let began = Instant::now();
        self.process.wait().expect("its end");
        (kib.unwrap_or(0.0) * 1.024e-3, began.elapsed().as_secs_f64())
    }
}

/// One thing to measure: its name, in which unit, and how, given whether it is 0.4.0.
type Measure = (&'static str, fn(&mut Session, bool) -> f64);

const MEASURES: &[Measure] = &[
    ("ping-pong p50, µs", |session, _| {
        percentile(session, 4000, 0, 50) * 1e6
    }),
    ("ping-pong p99, µs", |session, _| {
        percentile(session, 4000, 0, 99) * 1e6
    }),
    ("64 in flight, µs a message", |session, slow| {
        let requests = if slow { 2_000 } else { 100_000 };
        session.in_flight(requests) / (2.0 * requests as f64) * 1e6
    }),
    ("20 KB answer p50, ms", |session, _| {
        percentile(session, 200, 20_000, 50) * 1e3
    }),
    ("100 KB answer p50, ms", |session, _| {
        percentile(session, 100, 100_000, 50) * 1e3
    }),
    ("1 MB answer p50, ms", |session, _| {
        percentile(session, 20, 1_000_000, 50) * 1e3
    }),
    ("10 MB answer p50, ms", |session, slow| {
        percentile(session, if slow { 1 } else { 7 }, 10_000_000, 50) * 1e3
    }),
    ("50 MB answer p50, ms", |session, slow| {
        percentile(session, if slow { 1 } else { 3 }, 50_000_000, 50) * 1e3
    }),
];

fn percentile(session: &mut Session, count: usize, size: usize, percent: usize) -> f64 {
    // What is measured is a session that runs, not its first answer of that size.
    for _ in 0..count.min(10) / 2 {
        session.ask(size);
    }
    let mut times: Vec<Duration> = (0..count).map(|_| session.ask(size)).collect();
    times.sort_unstable();
    times[(count - 1) * percent / 100].as_secs_f64()
}

struct Contestant {
    name: &'static str,
    command: Vec<String>,
    slow: bool,
}

fn contestants(folder: &std::path::Path, server: &[&str]) -> Vec<Contestant> {
    let own = common::shown(&env::current_exe().expect("this program"));
    let mut direct = vec![own.clone(), "server".to_owned()];
    direct.extend(server.iter().map(|argument| (*argument).to_owned()));
    let behind = |front: &[&str]| {
        let mut command: Vec<String> = front.iter().map(|part| (*part).to_owned()).collect();
        command.extend(direct.clone());
        command
    };
    let cassette = common::shown(&folder.join("c.mcp.json"));
    let record = |binary: &str| behind(&[binary, "record", "--cassette", &cassette, "--"]);
    let mut all = vec![
        Contestant {
            name: "direct",
            command: direct.clone(),
            slow: false,
        },
        Contestant {
            name: "forwarder",
            command: behind(&[&own, "forward"]),
            slow: false,
        },
        Contestant {
            name: "record",
            command: record(env!("CARGO_BIN_EXE_mcp-cassette")),
            slow: false,
        },
    ];
    if let Some(python) = env::var_os("MCP_CASSETTE_0_4_0").map(PathBuf::from) {
        all.push(Contestant {
            name: "0.4.0",
            command: record(&common::shown(&python)),
            slow: true,
        });
    }
    all
}

fn compare() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let rounds = env::var("ROUNDS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(5);
    let all = contestants(folder.path(), &[]);
    println!("| | {} | record / forwarder |", names(&all));
    println!("|---|{}---|", "---|".repeat(all.len()));
    for (name, measure) in MEASURES {
        row(name, &all, rounds, |contestant| {
            let mut session = Session::start(&contestant.command);
            let value = measure(&mut session, contestant.slow);
            session.finish();
            value
        });
    }
    row(
        "peak memory of 800 answers of 100 KB, MB",
        &all,
        1,
        |contestant| {
            let mut session = Session::start(&contestant.command);
            for _ in 0..if contestant.slow { 200 } else { 800 } {
                session.ask(100_000);
            }
            session.finish().0
        },
    );
    row(
        "from the end of that session to the end of the process, s",
        &all,
        1,
        |contestant| {
            let mut session = Session::start(&contestant.command);
            for _ in 0..if contestant.slow { 200 } else { 800 } {
                session.ask(100_000);
            }
            session.finish().1
        },
    );
    let noisy = contestants(folder.path(), &["2000000"]);
    row(
        "an answer after 2 MB on standard error, ms",
        &noisy,
        rounds.min(3),
        |contestant| {
            let mut session = Session::cold(&contestant.command);
            session.ask(0);
            let time = session.ask(0).as_secs_f64() * 1e3;
            session.finish();
            time
        },
    );
    let ours = all
        .iter()
        .find(|contestant| contestant.name == "record")
        .expect("ours");
    let lost = lost_by_kills(ours, folder.path(), 20);
    println!("\nOf 20 recordings that were killed, the oldest answer lost was {lost:.0} ms old.");
}

/// The age of the oldest answer that is not in what a recording leaves behind when it is killed,
/// in milliseconds: the most of so many kills, at moments of a session of a call a millisecond.
fn lost_by_kills(record: &Contestant, folder: &std::path::Path, kills: u64) -> f64 {
    let partial = folder.join("c.mcp.json.partial");
    let ages = (0..kills).map(|kill| {
        let mut session = Session::cold(&record.command);
        let mut received = Vec::new();
        // Spread over the period in which the recorder writes, whatever that is.
        let end = Instant::now() + Duration::from_millis(500 + 37 * kill % 250);
        while Instant::now() < end {
            session.ask(0);
            received.push(Instant::now());
            thread::sleep(Duration::from_millis(1));
        }
        session.process.kill().expect("it runs");
        let killed = Instant::now();
        session.process.wait().expect("its end");
        let kept = std::fs::read_to_string(&partial).expect("what it left");
        std::fs::remove_file(&partial).expect("a file of ours");
        // Each answer has one result.
        let kept = kept.matches("\"result\"").count();
        received
            .get(kept)
            .map_or(0.0, |lost| (killed - *lost).as_secs_f64() * 1e3)
    });
    ages.fold(0.0, f64::max)
}

fn names(all: &[Contestant]) -> String {
    let names: Vec<&str> = all.iter().map(|contestant| contestant.name).collect();
    names.join(" | ")
}

/// Measures all in turn, so many rounds, and prints the median of each.
fn row(name: &str, all: &[Contestant], rounds: usize, mut measure: impl FnMut(&Contestant) -> f64) {
    let mut values = vec![Vec::new(); all.len()];
    for round in 0..rounds {
        for (contestant, values) in all.iter().zip(&mut values) {
            // The slow one is not asked more often than needed.
            if round == 0 || !contestant.slow {
                values.push(measure(contestant));
            }
        }
    }
    let medians: Vec<f64> = values
        .into_iter()
        .map(|mut values| {
            values.sort_by(f64::total_cmp);
            values[values.len() / 2]
        })
        .collect();
    let shown: Vec<String> = medians.iter().map(|value| format!("{value:.2}")).collect();
    println!(
        "| {name} | {} | {:.2} |",
        shown.join(" | "),
        medians[2] / medians[1]
    );
}
