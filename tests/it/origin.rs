//! A server over HTTP that does what a test says, byte by byte, and a running `record --url`
//! before it.

use crate::recorder::{PATIENCE, until};
use crate::support::{Run, command};
use crate::web::Wire;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStderr, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

/// A request as the server got it.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// Method, path and query.
    pub(crate) line: String,
    headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let (_, value) = headers.find(|(found, _)| found == name)?;
        Some(value)
    }
}

/// A connection of a client that has said something.
pub(crate) struct Talk {
    pub(crate) stream: TcpStream,
    pub(crate) request: Request,
}

impl Talk {
    pub(crate) fn say(&mut self, bytes: impl AsRef<[u8]>) {
        // Whoever left does not hear it.
        let _ = self.stream.write_all(bytes.as_ref());
    }

    /// A whole answer; `headers` each end a line.
    pub(crate) fn answer(&mut self, status: &str, headers: &str, body: &[u8]) {
        let length = body.len();
        self.say(format!(
            "HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\n\r\n"
        ));
        self.say(body);
    }

    pub(crate) fn json(&mut self, body: &str) {
        self.answer(
            "200 OK",
            "Content-Type: application/json\r\n",
            body.as_bytes(),
        );
    }

    /// Begins a stream of events.
    pub(crate) fn stream(&mut self) {
        self.say("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
    }

    pub(crate) fn chunk(&mut self, text: &str) {
        self.say(format!("{:x}\r\n{text}\r\n", text.len()));
    }

    /// Whether the other side has closed the connection, which this waits for.
    pub(crate) fn is_left(&mut self) -> bool {
        let _ = self.stream.set_read_timeout(Some(PATIENCE));
        match self.stream.read(&mut [0; 64]) {
            Ok(count) => count == 0,
            Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
        }
    }
}

/// A server on a port of its own, for as long as the test runs.
pub(crate) struct Origin {
    pub(crate) port: u16,
    requests: Receiver<Request>,
}

impl Origin {
    /// Answers each request by `answer`, on a thread for each connection.
    pub(crate) fn start(answer: impl Fn(&mut Talk) + Send + Sync + 'static) -> Origin {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let (told, requests) = mpsc::channel();
        let answer = Arc::new(answer);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else { return };
                let (answer, told) = (Arc::clone(&answer), told.clone());
                thread::spawn(move || talk(&stream, &*answer, &told));
            }
        });
        Origin { port, requests }
    }

    /// One that answers every request with an empty result, and `initialize` with a session.
    pub(crate) fn plain() -> Origin {
        Origin::start(answer_plainly)
    }

    /// The next request that came.
    pub(crate) fn request(&self) -> Request {
        self.requests.recv_timeout(PATIENCE).expect("a request")
    }

    /// The next one, if it has come.
    pub(crate) fn next(&self) -> Option<Request> {
        self.requests.try_recv().ok()
    }

    /// How many came that nobody asked for.
    pub(crate) fn others(&self) -> usize {
        self.requests.try_iter().count()
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }
}

pub(crate) const SESSION: &str = "5e551055-c0ff-ee00-0000-5ec2e75e5510";

pub(crate) fn answer_plainly(talk: &mut Talk) {
    let request = &talk.request;
    let body: serde_json::Value = serde_json::from_str(&request.body).unwrap_or_default();
    let (id, method) = (&body["id"], &body["method"]);
    if request.line.starts_with("DELETE") {
        return talk.answer("200 OK", "", b"");
    }
    if id.is_null() {
        return talk.answer("202 Accepted", "", b"");
    }
    if method == "initialize" {
        let greeting = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"protocolVersion":"2025-11-25","capabilities":{{}},"serverInfo":{{"name":"s","version":"1"}}}}}}"#
        );
        let headers = format!(
            "Content-Type: application/json\r\nMcp-Session-Id: {SESSION}\r\nSet-Cookie: sid=c00c1e-c00c1e-c00c1e; Path=/\r\n"
        );
        return talk.answer("200 OK", &headers, greeting.as_bytes());
    }
    talk.json(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
}

fn talk(stream: &TcpStream, answer: &(impl Fn(&mut Talk) + ?Sized), told: &Sender<Request>) {
    let mut reader = BufReader::new(stream.try_clone().expect("a socket"));
    while let Some(request) = read(&mut reader) {
        // Some tests do not look.
        let _ = told.send(request.clone());
        let stream = stream.try_clone().expect("a socket");
        answer(&mut Talk { stream, request });
    }
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut next = || {
        let mut line = String::new();
        let count = reader.read_line(&mut line).ok()?;
        (count > 0).then(|| line.trim_end().to_owned())
    };
    let line = next()?;
    let mut headers = Vec::new();
    while let Some(line) = next().filter(|line| !line.is_empty()) {
        let (name, value) = line.split_once(':').expect("a header");
        headers.push((name.to_lowercase(), value.trim().to_owned()));
    }
    let mut request = Request {
        line: line.trim_end_matches(" HTTP/1.1").to_owned(),
        headers,
        body: String::new(),
    };
    let mut bytes = Vec::new();
    if let Some(length) = request.header("content-length") {
        bytes.resize(length.parse().ok()?, 0);
        reader.read_exact(&mut bytes).ok()?;
    } else if request.header("transfer-encoding").is_some() {
        loop {
            let mut size = String::new();
            reader.read_line(&mut size).ok()?;
            let size = usize::from_str_radix(size.trim(), 16).ok()?;
            let mut chunk = vec![0; size + 2];
            reader.read_exact(&mut chunk).ok()?;
            if size == 0 {
                break;
            }
            bytes.extend_from_slice(&chunk[..size]);
        }
    }
    request.body = String::from_utf8(bytes).expect("UTF-8");
    Some(request)
}

/// A `record --url` that runs.
pub(crate) struct Proxy {
    pub(crate) process: Child,
    stderr: BufReader<ChildStderr>,
    said: String,
    pub(crate) port: u16,
}

impl Proxy {
    /// Starts `record --cassette c.mcp.json --report report.json --url URL FLAGS` in a folder.
    pub(crate) fn start(folder: &Path, url: &str, flags: &[&str]) -> Proxy {
        let mut record = command(folder);
        record
            .args([
                "record",
                "--cassette",
                "c.mcp.json",
                "--report",
                "report.json",
            ])
            .args(["--url", url])
            .args(flags);
        Proxy::spawn(record)
    }

    pub(crate) fn spawn(mut record: std::process::Command) -> Proxy {
        for name in [
            "HTTP_PROXY",
            "HTTPS_PROXY",
            "ALL_PROXY",
            "http_proxy",
            "https_proxy",
            "all_proxy",
        ] {
            record.env_remove(name);
        }
        let mut process = record
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        let mut stderr = BufReader::new(process.stderr.take().expect("a pipe"));
        let mut said = String::new();
        let port = loop {
            let mut line = String::new();
            let count = stderr.read_line(&mut line).expect("UTF-8");
            said.push_str(&line);
            assert!(count > 0, "it does not listen: {said}");
            if let Some((_, rest)) = line.split_once("recording at http://127.0.0.1:") {
                let end = rest.find('/').expect("a path");
                break rest[..end].parse().expect("a port");
            }
        };
        Proxy {
            process,
            stderr,
            said,
            port,
        }
    }

    pub(crate) fn connect(&self) -> Wire {
        Wire::to(self.port)
    }

    #[cfg(unix)]
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let pid = i32::try_from(self.process.id()).expect("a pid");
        let pid = rustix::process::Pid::from_raw(pid).expect("a pid");
        rustix::process::kill_process(pid, signal).expect("a process");
    }

    /// Asks it to end, and waits.
    #[cfg(unix)]
    pub(crate) fn stop(self) -> Run {
        self.signal(rustix::process::Signal::TERM);
        self.wait()
    }

    /// Waits until it ends.
    pub(crate) fn wait(mut self) -> Run {
        let mut status = None;
        until("the recorder ends", || {
            status = self.process.try_wait().expect("a child");
            status.is_some()
        });
        let mut stderr = std::mem::take(&mut self.said);
        self.stderr.read_to_string(&mut stderr).expect("UTF-8");
        Run {
            code: status.and_then(|status| status.code()).unwrap_or(-1),
            stdout: String::new(),
            stderr,
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        // A test that failed leaves nothing running.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
