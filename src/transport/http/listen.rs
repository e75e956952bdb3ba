//! A listener for clients: connections in, requests to a handler, and an end in good order.
//!
//! What reaches the handler has passed [`Guard`]; a connection that sends no head in time, too
//! long a head or too many headers is ended here, and so many connections at once are taken and
//! no more.

use super::guard::Guard;
use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Frame, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

/// The body of every response.
pub(crate) type Body = UnsyncBoxBody<Bytes, BodyError>;
/// Breaks the response off: the connection is closed, or its HTTP/2 stream reset.
pub(crate) type BodyError = Box<dyn std::error::Error + Send + Sync>;

/// What a body gives when it is asked for more.
pub(crate) type Polled = Poll<Option<Result<Frame<Bytes>, BodyError>>>;

/// For the head of a request, also of the next one on the same connection.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);
/// In bytes; a longer head is answered with 431.
const LARGEST_HEAD: usize = 64 * 1024;
const MOST_HEADERS: usize = 100;
/// More wait in the queue of the operating system.
const MOST_CONNECTIONS: usize = 4096;
/// Requests at once on one connection of HTTP/2.
const MOST_STREAMS: u32 = 256;
/// After the end was asked for: for responses that are under way.
const GRACE: Duration = Duration::from_secs(1);
/// After the system refused a connection, for want of file descriptors mostly.
const AFTER_REFUSAL: Duration = Duration::from_millis(50);

/// A bound port.
#[derive(Debug)]
pub(crate) struct Listener {
    listener: std::net::TcpListener,
    address: SocketAddr,
    host: String,
}

/// A port that cannot be listened on.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {host}:{port} (--host, --port)")]
pub(crate) struct ListenError {
    host: String,
    port: u16,
    #[source]
    source: io::Error,
}

impl Listener {
    /// Binds a port; 0 is any that is free. From now on clients can connect; they are answered
    /// when [`Listener::serve`] runs.
    ///
    /// # Errors
    ///
    /// The host has no address here, or the port is taken.
    pub(crate) fn bind(host: &str, port: u16) -> Result<Listener, ListenError> {
        let failed = |source| ListenError {
            host: host.to_owned(),
            port,
            source,
        };
        let inner = host.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
        let name = inner.unwrap_or(host);
        let listener = std::net::TcpListener::bind((name, port)).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Listener {
            listener,
            address,
            host: name.to_owned(),
        })
    }

    /// Where a client on this machine finds `path`.
    pub(crate) fn url(&self, path: &str) -> String {
        let (ip, port) = (self.address.ip(), self.address.port());
        let host = match ip {
            _ if !ip.is_unspecified() && self.host.parse::<std::net::IpAddr>().is_err() => {
                self.host.clone()
            }
            std::net::IpAddr::V4(_) if ip.is_unspecified() => "127.0.0.1".to_owned(),
            std::net::IpAddr::V6(_) if ip.is_unspecified() => "[::1]".to_owned(),
            std::net::IpAddr::V4(ip) => ip.to_string(),
            std::net::IpAddr::V6(ip) => format!("[{ip}]"),
        };
        format!("http://{host}:{port}{path}")
    }

    /// Answers requests until `stop` turns true, and then ends what is under way: `handler` has
    /// to end its own streams at that moment, and what is left after a second is broken off.
    ///
    /// # Errors
    ///
    /// The runtime does not take the socket.
    pub(crate) async fn serve<H, F>(
        self,
        handler: H,
        mut stop: watch::Receiver<bool>,
    ) -> io::Result<()>
    where
        H: Fn(Request<Incoming>) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = Response<Body>> + Send + 'static,
    {
        let guard = Guard::new(&self.host, self.address.ip());
        let listener = TcpListener::from_std(self.listener)?;
        let room = Arc::new(Semaphore::new(room_for_connections()));
        let mut connections = JoinSet::new();
        loop {
            while connections.try_join_next().is_some() {}
            let next = async {
                let room = Arc::clone(&room).acquire_owned().await;
                (room, listener.accept().await)
            };
            let (room, accepted) = tokio::select! {
                biased;
                () = stopped(&mut stop) => break,
                next = next => next,
            };
            let Ok((stream, _)) = accepted else {
                // A client that went away, or no file descriptor: others are waiting.
                tokio::time::sleep(AFTER_REFUSAL).await;
                continue;
            };
            let connection = Connection {
                guard: guard.clone(),
                handler: handler.clone(),
            };
            let stop = stop.clone();
            // Answers are small, and each is waited for.
            let _ = stream.set_nodelay(true);
            connections.spawn(async move {
                connection.run(stream, stop).await;
                drop(room);
            });
        }
        drop(listener);
        let all = async { while connections.join_next().await.is_some() {} };
        // What does not end by itself is broken off when the set goes.
        let _ = tokio::time::timeout(GRACE, all).await;
        Ok(())
    }
}

/// Until the end is asked for, or nobody is left who could ask.
pub(crate) async fn stopped(stop: &mut watch::Receiver<bool>) {
    let _ = stop.wait_for(|stop| *stop).await;
}

/// What serves one connection.
struct Connection<H> {
    guard: Guard,
    handler: H,
}

impl<H, F> Connection<H>
where
    H: Fn(Request<Incoming>) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Response<Body>> + Send + 'static,
{
    async fn run<S>(self, stream: S, mut stop: watch::Receiver<bool>)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let spoke = Arc::new(AtomicBool::new(false));
        let heard = Arc::clone(&spoke);
        let service = service_fn(move |request: Request<Incoming>| {
            heard.store(true, Ordering::Relaxed);
            let answered = match self.guard.check(request.uri(), request.headers()) {
                Ok(()) => Ok((self.handler)(request)),
                Err(refusal) => Err(refusal),
            };
            async move {
                let response = match answered {
                    Ok(response) => response.await,
                    Err(refusal) => plain(refusal.status, refusal.reason),
                };
                match response.extensions().get::<Broken>() {
                    None => Ok(response),
                    Some(_) => Err(io::Error::from(io::ErrorKind::ConnectionAborted)),
                }
            }
        });
        let builder = builder();
        let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
        let mut ending = false;
        let silence = tokio::time::sleep(HEAD_TIMEOUT);
        let mut silence = pin!(silence);
        let mut may_be_silent = true;
        loop {
            tokio::select! {
                // What goes wrong on a connection ends it, and concerns nobody else.
                _ = connection.as_mut() => return,
                () = stopped(&mut stop), if !ending => {
                    ending = true;
                    connection.as_mut().graceful_shutdown();
                }
                // While it is open which version of HTTP a client speaks, hyper has no timeout.
                () = silence.as_mut(), if may_be_silent => {
                    // Whether it spoke is known only now: a condition above is looked at once, before
                    // the wait.
                    match spoke.load(Ordering::Relaxed) {
                        true => may_be_silent = false,
                        false => return,
                    }
                }
            }
        }
    }
}

fn builder() -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(LARGEST_HEAD)
        .max_headers(MOST_HEADERS);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(HEAD_TIMEOUT)
        .max_concurrent_streams(MOST_STREAMS)
        .max_header_list_size(64 * 1024);
    builder
}

/// Each connection is a file descriptor, of which a process has so many.
fn room_for_connections() -> usize {
    /// For standard streams, the cassette, the connections to a real server.
    #[cfg(unix)]
    const KEPT: u64 = 64;
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit, setrlimit};
        let mut limits = getrlimit(Resource::Nofile);
        let most = u64::try_from(MOST_CONNECTIONS).unwrap_or(u64::MAX) + KEPT;
        let raised = limits.maximum.map_or(most, |maximum| maximum.min(most));
        if limits.current.is_some_and(|current| current < raised) {
            limits.current = Some(raised);
            // Where that is not allowed, there is less room.
            let _ = setrlimit(Resource::Nofile, limits);
        }
        if let Some(limit) = getrlimit(Resource::Nofile).current {
            let room = usize::try_from(limit.saturating_sub(KEPT)).unwrap_or(MOST_CONNECTIONS);
            return room.clamp(16, MOST_CONNECTIONS);
        }
    }
    MOST_CONNECTIONS
}

/// Marks the response that is none.
#[derive(Clone)]
struct Broken;

/// No response: the connection is closed without one, or its HTTP/2 stream reset.
pub(crate) fn broken() -> Response<Body> {
    let mut response = Response::new(whole(Bytes::new()));
    response.extensions_mut().insert(Broken);
    response
}

/// A body that is there as a whole.
pub(crate) fn whole(bytes: impl Into<Bytes>) -> Body {
    let body = Full::new(bytes.into());
    body.map_err(|never| match never {}).boxed_unsync()
}

/// A response with a line for people.
pub(crate) fn plain(status: StatusCode, text: &str) -> Response<Body> {
    let mut response = Response::new(whole(format!("mcp-cassette: {text}\n")));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::time::Instant;

    const REQUEST: &str = "GET /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

    /// What a client hears that says this, until the connection is closed, and after how long that
    /// is, where an answer takes five minutes. Time is simulated.
    fn heard(said: &str) -> (String, Duration) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime");
        runtime.block_on(async {
            let (mut client, server) = tokio::io::duplex(1 << 16);
            let (_running, stop) = watch::channel(false);
            let connection = Connection {
                guard: Guard::new("127.0.0.1", Ipv4Addr::LOCALHOST.into()),
                handler: |_: Request<Incoming>| async {
                    tokio::time::sleep(Duration::from_secs(300)).await;
                    plain(StatusCode::OK, "late")
                },
            };
            let began = Instant::now();
            tokio::spawn(connection.run(server, stop));
            client.write_all(said.as_bytes()).await.expect("a server");
            let mut all = String::new();
            client.read_to_string(&mut all).await.expect("an end");
            (all, began.elapsed())
        })
    }

    #[test]
    fn an_answer_may_take_as_long_as_it_takes() {
        let (heard, after) = heard(REQUEST);
        assert!(heard.ends_with("mcp-cassette: late\n"), "{heard}");
        assert_eq!(after.as_secs(), 300);
    }

    #[test]
    fn who_says_nothing_or_half_a_head_is_let_go() {
        for said in ["", "G", "GET /mcp HTTP/1.1\r\nHost:"] {
            let (heard, after) = heard(said);
            assert_eq!(heard, "", "{said:?}");
            assert_eq!(after.as_secs(), HEAD_TIMEOUT.as_secs(), "{said:?}");
        }
    }
}
