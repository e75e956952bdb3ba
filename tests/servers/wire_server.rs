//! A server for tests that look at bytes, exit codes and timing and not at what is said.
//!
//! ```text
//! wire_server mirror SEND RECEIVED       writes the file SEND to its output, and its input to RECEIVED
//! wire_server answer [OPTION VALUE]...   answers every request with an empty or long text
//!     --start MILLISECONDS               begins to read only then
//!     --size BYTES                       of the text in an answer
//!     --stderr BYTES                     written to standard error before each answer
//!     --die-after COUNT                  answers so many requests and exits with code 3
//!     --silent COUNT                     answers so many requests, and no more
//! ```

use std::env;
use std::fs::{self, File};
use std::io::{self, BufRead as _, Write as _};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let ended = match arguments[..] {
        ["mirror", send, received] => mirror(send, received),
        ["answer", ref options @ ..] => answer(options),
        _ => return ExitCode::from(2),
    };
    match ended {
        Ok(code) => code,
        // Whoever was to read is gone.
        Err(_) => ExitCode::FAILURE,
    }
}

fn mirror(send: &str, received: &str) -> io::Result<ExitCode> {
    let text = fs::read(send)?;
    let writer = thread::spawn(move || {
        let mut stdout = io::stdout().lock();
        stdout.write_all(&text).and_then(|()| stdout.flush())
    });
    io::copy(&mut io::stdin().lock(), &mut File::create(received)?)?;
    match writer.join() {
        Ok(written) => written.map(|()| ExitCode::SUCCESS),
        Err(_) => Ok(ExitCode::FAILURE),
    }
}

fn answer(options: &[&str]) -> io::Result<ExitCode> {
    let option = |name: &str| {
        let at = options.iter().position(|option| *option == name)?;
        options.get(at + 1)?.parse::<usize>().ok()
    };
    if let Some(milliseconds) = option("--start") {
        thread::sleep(Duration::from_millis(milliseconds as u64));
    }
    let text = "x".repeat(option("--size").unwrap_or(0));
    let noise = "log line of a talkative server\n".repeat(option("--stderr").unwrap_or(0) / 31);
    let (die_after, silent) = (option("--die-after"), option("--silent"));
    let mut answered = 0;
    let mut stdout = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let Ok(Value::Object(message)) = serde_json::from_str(&line?) else {
            continue;
        };
        let Some(id) = message.get("id") else {
            continue;
        };
        if silent == Some(answered) {
            continue;
        }
        io::stderr().write_all(noise.as_bytes())?;
        let answer = json!({"jsonrpc": "2.0", "id": id, "result": {"text": text}});
        writeln!(stdout, "{answer}")?;
        stdout.flush()?;
        answered += 1;
        if die_after == Some(answered) {
            writeln!(io::stderr(), "first complaint\nlast complaint")?;
            return Ok(ExitCode::from(3));
        }
    }
    Ok(ExitCode::SUCCESS)
}
