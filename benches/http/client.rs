//! The side of the client: a contestant that runs, and a connection to it. The connection is a
//! socket and as much of HTTP/1.1 as the answers use, so that the client costs the same and
//! little with each contestant.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);

/// A contestant that listens.
pub(crate) struct Process {
    pub(crate) url: String,
    child: Option<Child>,
}

impl Process {
    /// One that somebody else has started.
    pub(crate) fn there(url: &str) -> Process {
        Process {
            url: url.to_owned(),
            child: None,
        }
    }

    /// Starts it and waits for the line on its standard error that says where it listens.
    pub(crate) fn start(command: &[String]) -> Process {
        let mut child = Command::new(&command[0])
            .args(&command[1..])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the contestant runs");
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        let url = loop {
            let mut line = String::new();
            let read = stderr.read_line(&mut line).expect("its standard error");
            assert!(read > 0, "{command:?} ended: {said}");
            said.push_str(&line);
            if let Some((_, url)) = line.split_once(" at http://") {
                let url = url.split_whitespace().next().unwrap_or_default();
                break format!("http://{url}");
            }
        };
        thread::spawn(move || io::copy(&mut stderr, &mut io::sink()));
        Process {
            url,
            child: Some(child),
        }
    }

    /// Asks it to end, as a user would, so that a recording is saved, and waits for it.
    pub(crate) fn finish(mut self) {
        let Some(mut child) = self.child.take() else {
            return;
        };
        #[cfg(unix)]
        {
            let id = i32::try_from(child.id()).expect("a process id");
            let id = rustix::process::Pid::from_raw(id).expect("a process id");
            rustix::process::kill_process(id, rustix::process::Signal::TERM).expect("its end");
        }
        #[cfg(not(unix))]
        child.kill().expect("its end");
        child.wait().expect("its end");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// One connection with one session.
pub(crate) struct Connection {
    stream: BufReader<TcpStream>,
    authority: String,
    path: String,
    session: String,
    line: String,
    /// The answer, if it is a short one.
    body: Vec<u8>,
}

/// A longer answer is not kept.
const SHORT: u64 = 1 << 16;

impl Connection {
    pub(crate) fn open(process: &Process) -> Connection {
        let address = process.url.strip_prefix("http://").expect("an address");
        let (authority, path) = address.split_once('/').expect("a path");
        let stream = TcpStream::connect(authority).expect("it listens");
        stream.set_nodelay(true).expect("a socket");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
        Connection {
            stream: BufReader::with_capacity(1 << 18, stream),
            authority: authority.to_owned(),
            path: format!("/{path}"),
            session: String::new(),
            line: String::new(),
            body: Vec::new(),
        }
    }

    /// The handshake; a session id that comes with it goes back with each later request.
    pub(crate) fn initialize(&mut self, request: &str) {
        self.ask(request);
        self.ask(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    }

    /// The time of a request, from its first byte to the last of its answer.
    pub(crate) fn ask(&mut self, body: &str) -> Duration {
        let request = format!(
            "POST {} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\nmcp-protocol-version: 2025-11-25\r\n{}\
             content-length: {}\r\n\r\n{body}",
            self.path,
            self.authority,
            self.session,
            body.len()
        );
        let began = Instant::now();
        let stream = self.stream.get_mut();
        stream.write_all(request.as_bytes()).expect("a server");
        self.answer();
        let time = began.elapsed();
        // A refusal is quick: it must not pass for an answer.
        let refused = self.body.windows(8).any(|part| part == b"\"error\":");
        assert!(!refused, "{}", String::from_utf8_lossy(&self.body));
        time
    }

    /// Reads an answer to its end.
    fn answer(&mut self) {
        self.body.clear();
        self.line();
        let status = self.line.split(' ').nth(1).unwrap_or_default();
        assert!(matches!(status, "200" | "202"), "status {:?}", self.line);
        let mut length = None;
        let mut chunked = false;
        loop {
            self.line();
            let Some((name, value)) = self.line.trim_end().split_once(':') else {
                break;
            };
            let value = value.trim();
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = Some(value.parse::<u64>().expect("a length")),
                "transfer-encoding" => chunked = value == "chunked",
                "mcp-session-id" => self.session = format!("mcp-session-id: {value}\r\n"),
                _ => {}
            }
        }
        if !chunked {
            return self.take(length.unwrap_or(0));
        }
        loop {
            self.line();
            let size = u64::from_str_radix(self.line.trim_end(), 16).expect("a chunk");
            self.take(size);
            self.line();
            if size == 0 {
                return;
            }
        }
    }

    fn line(&mut self) {
        self.line.clear();
        let read = self.stream.read_line(&mut self.line).expect("an answer");
        assert!(read > 0, "the contestant closed the connection");
    }

    fn take(&mut self, count: u64) {
        let mut body = self.stream.by_ref().take(count);
        let read = if count <= SHORT {
            body.read_to_end(&mut self.body).expect("a body") as u64
        } else {
            io::copy(&mut body, &mut io::sink()).expect("a body")
        };
        assert_eq!(read, count, "the contestant closed the connection");
    }
}
