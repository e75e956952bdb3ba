//! Clients that speak HTTP/2 to a listener of ours without asking first ("prior knowledge"): they are
//! answered as others are.
#![cfg(unix)]

use crate::origin::{Origin, Proxy};
use crate::serve_http::{INITIALIZE, answer, call, site};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper::{Request, Response, Version};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tempfile::tempdir;
use tokio::net::TcpStream;
use tokio::runtime::Runtime;

/// A connection over HTTP/2.
struct Connection {
    runtime: Runtime,
    requests: SendRequest<Full<Bytes>>,
    port: u16,
}

impl Connection {
    fn to(port: u16) -> Connection {
        let runtime = Runtime::new().expect("a runtime");
        let requests = runtime.block_on(async {
            let stream = TcpStream::connect(("127.0.0.1", port)).await;
            let io = TokioIo::new(stream.expect("it listens"));
            let spoken = handshake(TokioExecutor::new(), io).await;
            let (requests, connection) = spoken.expect("HTTP/2");
            tokio::spawn(connection);
            requests
        });
        Connection {
            runtime,
            requests,
            port,
        }
    }

    fn post(&mut self, host: &str, session: &str, body: &str) -> Response<String> {
        let request = Request::post(format!("http://{host}:{}/mcp", self.port))
            .version(Version::HTTP_2)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream");
        let request = match session {
            "" => request,
            session => request.header("mcp-session-id", session),
        };
        let request = request.body(Full::new(Bytes::from(body.to_owned())));
        let sent = self.requests.send_request(request.expect("a request"));
        self.runtime.block_on(async {
            let (parts, body) = sent.await.expect("a response").into_parts();
            let bytes = body.collect().await.expect("a body").to_bytes();
            let text = String::from_utf8(bytes.to_vec()).expect("UTF-8");
            Response::from_parts(parts, text)
        })
    }
}

#[test]
fn a_recording_is_served_over_http_2() {
    let (_folder, site) = site(&[]);
    let mut connection = Connection::to(site.port);
    let greeting = connection.post("localhost", "", INITIALIZE);
    assert_eq!(
        (greeting.status().as_u16(), greeting.version()),
        (200, Version::HTTP_2)
    );
    let id = greeting.headers()["mcp-session-id"]
        .to_str()
        .unwrap()
        .to_owned();
    assert_eq!(
        *connection.post("localhost", &id, &call(7, "json")).body(),
        answer(7, "a")
    );
    let events = connection.post("localhost", &id, &call(8, "events"));
    assert_eq!(events.headers()["content-type"], "text/event-stream");
    assert!(
        events
            .body()
            .ends_with(&format!("data: {}\n\n", answer(8, "b"))),
        "{events:?}"
    );
    let foreign = connection.post("evil.example", &id, &call(9, "json"));
    assert_eq!(foreign.status(), 403, "the authority is checked as Host is");
    let run = site.stop();
    assert_eq!(run.code, 0, "{}", run.all());
}

#[test]
fn a_client_over_http_2_is_recorded_before_a_server_over_http_1() {
    let folder = tempdir().unwrap();
    let origin = Origin::plain();
    let proxy = Proxy::start(folder.path(), &origin.url(), &[]);
    let mut connection = Connection::to(proxy.port);
    let greeting = connection.post("localhost", "", INITIALIZE);
    assert_eq!(
        (greeting.status().as_u16(), greeting.version()),
        (200, Version::HTTP_2)
    );
    let host = format!("127.0.0.1:{}", origin.port);
    assert_eq!(origin.request().header("host"), Some(host.as_str()));
    assert_eq!(
        connection.post("evil.example", "", &call(1, "a")).status(),
        403
    );
    assert_eq!(origin.others(), 0);
    let run = proxy.stop();
    assert_eq!(run.code, 130, "{}", run.all());
    assert!(run.stderr.contains("recorded 2 messages"), "{}", run.all());
}
