//! `record` and `serve` beside the bare alternatives, over real sockets:
//!
//! ```text
//! cargo bench --bench http [-- record | replay]
//! ```
//!
//! One process plays the clients, one thread a connection, and times what it sees: of the server
//! itself (`direct`), of a reverse proxy made of hyper that does nothing else (`bare proxy`), of
//! `record`, and with `MCP_CASSETTE_0_4_0` naming the executable of mcp-cassette 0.4.0 for Python
//! (installed with its extra `http`), of that too. A replay is measured beside a server made of
//! hyper that has one answer for everything (`bare server`). The contestants take turns in each
//! round, so that a busy machine is busy for all of them; the ratios of one run are what counts.
//! The server, the proxy and the bare server are this same program.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::indexing_slicing,
    reason = "a benchmark that cannot run should stop"
)]

mod bare;
mod client;
mod recording;

use client::{Connection, Process};
use std::env;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// How many calls the recording that is replayed holds.
const RECORDED: usize = 10_000;
const LARGE: usize = 10_000_000;
/// What is asked of 0.4.0 is less by so much: it takes milliseconds a call.
const SLOWER: usize = 10;

fn main() {
    // `cargo bench` adds its own flag.
    let arguments: Vec<String> = env::args().skip(1).filter(|one| one != "--bench").collect();
    let argument = |at: usize| arguments.get(at).map_or("", String::as_str);
    match argument(0) {
        "server" => bare::server(),
        "proxy" => bare::proxy(argument(1)),
        "bare-server" => bare::fixed(argument(1) == "sse"),
        part => compare(part),
    }
}

fn compare(part: &str) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let rounds = env::var("ROUNDS").ok().and_then(|n| n.parse().ok());
    let bench = Bench {
        folder: folder.path().to_owned(),
        own: shown(&env::current_exe().expect("this program")),
        python: env::var_os("MCP_CASSETTE_0_4_0").map(|path| shown(Path::new(&path))),
        rounds: rounds.unwrap_or(5),
    };
    if part != "replay" {
        bench.recording();
    }
    if part != "record" {
        bench.replaying();
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// What a measurement asks for.
#[derive(Clone, Copy)]
struct Load {
    sse: bool,
    connections: usize,
    /// Of all connections together.
    requests: usize,
    /// Of an answer, in bytes.
    size: usize,
}

/// What a measurement found.
#[derive(Clone, Copy)]
struct Seen {
    /// In microseconds, as the next.
    p50: f64,
    p99: f64,
    /// Requests a second, of all connections together.
    rate: f64,
}

/// What is measured: an address that is there, or a command that prints one.
enum Where {
    There(String),
    Started(Vec<String>),
}

struct Contestant {
    name: &'static str,
    place: Where,
    slow: bool,
}

impl Contestant {
    fn started(name: &'static str, command: &[&str]) -> Contestant {
        let command = command.iter().map(|word| (*word).to_owned()).collect();
        Contestant {
            name,
            place: Where::Started(command),
            slow: name == "0.4.0",
        }
    }

    fn start(&self) -> Process {
        match &self.place {
            Where::There(url) => Process::there(url),
            Where::Started(command) => Process::start(command),
        }
    }
}

struct Bench {
    folder: PathBuf,
    own: String,
    python: Option<String>,
    rounds: usize,
}

const OURS: &str = env!("CARGO_BIN_EXE_mcp-cassette");

impl Bench {
    /// The recorder before a server that answers as it is asked to.
    fn recording(&self) {
        let upstream = Process::start(&[self.own.clone(), "server".to_owned()]);
        let url = upstream.url.as_str();
        let [ours, theirs] =
            ["ours", "theirs"].map(|name| shown(&self.folder.join(name).with_extension("json")));
        let mut contestants = vec![
            Contestant {
                name: "direct",
                place: Where::There(url.to_owned()),
                slow: false,
            },
            Contestant::started("bare proxy", &[&self.own, "proxy", url]),
            Contestant::started(
                "record",
                &[OURS, "record", "--url", url, "--cassette", &ours],
            ),
        ];
        if let Some(python) = &self.python {
            let command = [python, "record", "--url", url, "--cassette", &theirs];
            contestants.push(Contestant::started("0.4.0", &command));
        }
        for sse in [false, true] {
            println!("\nRecording, answers as {}\n", framing(sse));
            head(&contestants, "record / bare proxy");
            let loads = [
                ("1 connection", 1, 3_000, 300),
                ("8 connections", 8, 12_000, 300),
                ("10 MB answers", 1, 24, LARGE),
            ];
            for (title, connections, requests, size) in loads {
                let load = Load {
                    sse,
                    connections,
                    requests,
                    size,
                };
                rows(title, &self.turns(&contestants, load, of_a_size), 1);
            }
        }
    }

    /// A recording of many calls, served.
    fn replaying(&self) {
        for sse in [false, true] {
            let cassette = self
                .folder
                .join(framing(sse))
                .with_extension("recorded.json");
            std::fs::write(&cassette, recording::cassette(RECORDED, sse))
                .expect("a writable folder");
            let cassette = shown(&cassette);
            let mut contestants = vec![
                Contestant::started("bare server", &[&self.own, "bare-server", framing(sse)]),
                Contestant::started("serve", &[OURS, "serve", &cassette]),
            ];
            if let Some(python) = &self.python {
                contestants.push(Contestant::started("0.4.0", &[python, "serve", &cassette]));
            }
            println!(
                "\nReplay of {RECORDED} calls, answers as {}\n",
                framing(sse)
            );
            head(&contestants, "serve / bare server");
            for (title, connections) in [("1 connection", 1), ("8 connections", 8)] {
                let load = Load {
                    sse,
                    connections,
                    requests: RECORDED,
                    size: 0,
                };
                rows(title, &self.turns(&contestants, load, recorded), 0);
            }
        }
    }

    /// Measures all in turn, so many rounds, and returns the medians of each.
    fn turns(
        &self,
        contestants: &[Contestant],
        load: Load,
        call: fn(usize, Load) -> String,
    ) -> Vec<Seen> {
        let mut seen = vec![Vec::new(); contestants.len()];
        for round in 0..self.rounds {
            for (contestant, seen) in contestants.iter().zip(&mut seen) {
                // The slow one is not asked more often than needed.
                if round == 0 || !contestant.slow {
                    let fewer = if contestant.slow { SLOWER } else { 1 };
                    let requests = load.requests / fewer;
                    let load = Load { requests, ..load };
                    let process = contestant.start();
                    seen.push(measure(&process, load, call));
                    process.finish();
                }
            }
        }
        seen.iter().map(|seen| medians(seen)).collect()
    }
}

fn framing(sse: bool) -> &'static str {
    if sse { "sse" } else { "json" }
}

/// A call that is answered with a text of the load's size.
fn of_a_size(number: usize, load: Load) -> String {
    let (id, size, sse) = (number + 1, load.size, load.sse);
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo","arguments":{{"size":{size},"sse":{sse}}}}}}}"#
    )
}

/// A call of the recording, with another id; fewer calls are spread over all of it.
fn recorded(number: usize, load: Load) -> String {
    recording::call(number + 1_000_000, number * (RECORDED / load.requests))
}

/// One thread a connection, each with a session of its own that is open before the clock starts.
fn measure(process: &Process, load: Load, call: fn(usize, Load) -> String) -> Seen {
    let each = load.requests / load.connections;
    let mut sessions: Vec<(Connection, Vec<String>)> = (0..load.connections)
        .map(|number| {
            let mut connection = Connection::open(process);
            connection.initialize(recording::INITIALIZE);
            let calls = number * each..(number + 1) * each;
            (connection, calls.map(|number| call(number, load)).collect())
        })
        .collect();
    let began = Instant::now();
    let mut times: Vec<Duration> = thread::scope(|scope| {
        let running: Vec<_> = sessions
            .iter_mut()
            .map(|(connection, calls)| {
                scope.spawn(|| -> Vec<Duration> {
                    calls.iter().map(|call| connection.ask(call)).collect()
                })
            })
            .collect();
        let ended = running.into_iter().map(|one| one.join().expect("a client"));
        ended.flatten().collect()
    });
    let rate = times.len() as f64 / began.elapsed().as_secs_f64();
    times.sort_unstable();
    let percentile = |percent: usize| {
        let time = times[(times.len() - 1) * percent / 100];
        time.as_secs_f64() * 1e6
    };
    Seen {
        p50: percentile(50),
        p99: percentile(99),
        rate,
    }
}

fn medians(seen: &[Seen]) -> Seen {
    let median = |of: fn(&Seen) -> f64| {
        let mut values: Vec<f64> = seen.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    Seen {
        p50: median(|seen| seen.p50),
        p99: median(|seen| seen.p99),
        rate: median(|seen| seen.rate),
    }
}

fn head(contestants: &[Contestant], ratio: &str) {
    let names: Vec<&str> = contestants.iter().map(|one| one.name).collect();
    println!("| | {} | {ratio} |", names.join(" | "));
    println!("|---|{}---|", "---|".repeat(contestants.len()));
}

/// The ratio is that of ours to the bare one, which comes just before it.
fn rows(title: &str, seen: &[Seen], bare: usize) {
    for (at, kind) in ["p50, µs", "p99, µs", "requests/s"].into_iter().enumerate() {
        let values: Vec<f64> = seen
            .iter()
            .map(|one| [one.p50, one.p99, one.rate][at])
            .collect();
        let shown: Vec<String> = values.iter().map(|value| format!("{value:.0}")).collect();
        let ratio = values[bare + 1] / values[bare];
        println!("| {title}, {kind} | {} | {ratio:.2} |", shown.join(" | "));
    }
}
