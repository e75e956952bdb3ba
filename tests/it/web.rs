//! A raw HTTP client and a running `serve` for it.

use crate::support::{Run, command, root};
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStderr, Stdio};
use std::time::Duration;

/// For anything that has to come.
const PATIENCE: Duration = Duration::from_secs(20);

/// A `serve` that listens on a port of its own.
pub(crate) struct Site {
    child: Child,
    stderr: BufReader<ChildStderr>,
    pub(crate) port: u16,
    said: String,
}

impl Site {
    /// Starts `serve` with these arguments, and waits until it says where it is.
    pub(crate) fn start(arguments: &[&str]) -> Site {
        Site::start_in(root(), arguments)
    }

    /// The same in another folder.
    pub(crate) fn start_in(folder: &Path, arguments: &[&str]) -> Site {
        let mut command = command(folder);
        command.env_clear().arg("serve").args(arguments);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary runs");
        let stderr = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut site = Site {
            port: 0,
            child,
            stderr,
            said: String::new(),
        };
        while site.port == 0 {
            let before = site.said.len();
            let count = site.stderr.read_line(&mut site.said).expect("UTF-8");
            assert!(count > 0, "it does not listen: {}", site.said);
            let mut line = site.said[before..].split("replaying at http://127.0.0.1:");
            if let Some(rest) = line.nth(1) {
                let port = rest.trim_end().trim_end_matches("/mcp");
                site.port = port.parse().expect("a port");
            }
        }
        site
    }

    pub(crate) fn connect(&self) -> Wire {
        Wire::to(self.port)
    }

    /// Posts a body on a connection of its own.
    pub(crate) fn post(&self, session: &str, body: &str) -> Answer {
        let mut wire = self.connect();
        wire.post(session, body);
        wire.answer()
    }

    /// Begins a session, and gives its id.
    pub(crate) fn initialize(&self, body: &str) -> String {
        let answer = self.post("", body);
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.header("mcp-session-id").expect("an id").to_owned()
    }

    /// Ends it by a signal.
    #[cfg(unix)]
    pub(crate) fn stop(self) -> Run {
        use rustix::process::{Pid, Signal, kill_process};
        let id = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        kill_process(id.expect("a process"), Signal::TERM).expect("a process");
        self.wait()
    }

    /// Kills it.
    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("a process");
        self.child.wait().expect("it ends");
    }

    /// Waits until it ends by itself.
    pub(crate) fn wait(mut self) -> Run {
        let mut stderr = std::mem::take(&mut self.said);
        self.stderr.read_to_string(&mut stderr).expect("UTF-8");
        let status = self.child.wait().expect("it ends");
        Run {
            code: status.code().expect("it ended by itself"),
            stdout: String::new(),
            stderr,
        }
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        // A test that failed leaves nothing running.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One connection.
pub(crate) struct Wire {
    stream: BufReader<TcpStream>,
}

/// A response.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: String,
    /// The connection was closed in the middle of the body.
    pub(crate) cut: bool,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let (_, value) = headers.find(|(found, _)| found == name)?;
        Some(value)
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl Wire {
    /// A connection to a port of this machine.
    pub(crate) fn to(port: u16) -> Wire {
        let stream = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        Wire {
            stream: BufReader::new(stream),
        }
    }

    pub(crate) fn say(&mut self, text: &str) {
        // A server that has had enough closes, which is what a test then hears.
        let _ = self.stream.get_mut().write_all(text.as_bytes());
    }

    pub(crate) fn post(&mut self, session: &str, body: &str) {
        let session = match session {
            "" => String::new(),
            session => format!("Mcp-Session-Id: {session}\r\n"),
        };
        self.post_with(&session, body);
    }

    /// Posts a body with headers that each end a line.
    pub(crate) fn post_with(&mut self, headers: &str, body: &str) {
        self.say(&format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\n{headers}Content-Length: {}\r\n\r\n{body}",
            body.len()
        ));
    }

    pub(crate) fn get(&mut self, session: &str) {
        self.say(&format!(
            "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\
             Mcp-Session-Id: {session}\r\n\r\n"
        ));
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        match self.stream.read_line(&mut line) {
            Ok(0) => None,
            Ok(_) => Some(line.trim_end().to_owned()),
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => None,
            Err(error) => panic!("nothing came: {error}"),
        }
    }

    /// The head of a response; none if the connection was closed.
    pub(crate) fn head(&mut self) -> Option<Answer> {
        let first = self.line()?;
        let status = first.split(' ').nth(1).and_then(|it| it.parse().ok());
        let mut headers = Vec::new();
        while let Some(line) = self.line().filter(|line| !line.is_empty()) {
            let (name, value) = line.split_once(':').expect("a header");
            headers.push((name.to_lowercase(), value.trim().to_owned()));
        }
        Some(Answer {
            status: status.unwrap_or_else(|| panic!("no status: {first}")),
            headers,
            body: String::new(),
            cut: false,
        })
    }

    /// A whole response.
    pub(crate) fn answer(&mut self) -> Answer {
        let mut answer = self.head().expect("a response");
        match answer.header("content-length").map(str::parse::<usize>) {
            Some(length) => {
                let mut bytes = vec![0; length.expect("a length")];
                self.stream.read_exact(&mut bytes).expect("the body");
                answer.body = String::from_utf8(bytes).expect("UTF-8");
            }
            None => loop {
                match self.chunk() {
                    Some(chunk) if chunk.is_empty() => break,
                    Some(chunk) => answer.body.push_str(&chunk),
                    None => {
                        answer.cut = true;
                        break;
                    }
                }
            },
        }
        answer
    }

    /// The next chunk of a body: empty at its end, none if the connection was closed.
    pub(crate) fn chunk(&mut self) -> Option<String> {
        let size = usize::from_str_radix(&self.line()?, 16).expect("a size");
        let mut bytes = vec![0; size + 2];
        self.stream.read_exact(&mut bytes).ok()?;
        bytes.truncate(size);
        Some(String::from_utf8(bytes).expect("UTF-8"))
    }

    /// Takes so many bytes of a body.
    pub(crate) fn skip(&mut self, count: usize) {
        let mut bytes = vec![0; count];
        self.stream.read_exact(&mut bytes).expect("the body");
    }

    /// Takes what is left of a body, however it ends.
    pub(crate) fn drain(&mut self) {
        let short = Some(Duration::from_millis(200));
        self.stream
            .get_ref()
            .set_read_timeout(short)
            .expect("a timeout");
        // A connection that stays open has nothing more to say.
        let _ = self.stream.read_to_end(&mut Vec::new());
    }

    /// What is still said until the connection is closed.
    pub(crate) fn rest(&mut self) -> String {
        let mut rest = Vec::new();
        match self.stream.read_to_end(&mut rest) {
            Err(error) if error.kind() != std::io::ErrorKind::ConnectionReset => {
                panic!("it is not closed: {error}")
            }
            _ => String::from_utf8_lossy(&rest).into_owned(),
        }
    }
}
