//! What the tool is measured beside: a server, a reverse proxy and a server with one answer, all
//! made of hyper and of nothing else.

use http_body_util::BodyExt as _;
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::header::{CONTENT_TYPE, HOST, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::net::TcpListener;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const SSE: HeaderValue = HeaderValue::from_static("text/event-stream");

/// A body of known parts: with one it has a length, with several it is chunked.
struct Parts(VecDeque<Bytes>, bool);

impl Body for Parts {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.pop_front().map(|part| Ok(Frame::data(part))))
    }

    fn size_hint(&self) -> SizeHint {
        if self.1 {
            return SizeHint::default();
        }
        SizeHint::with_exact(self.0.iter().map(|part| part.len() as u64).sum())
    }
}

/// Answers each call with a text of the `size` that it names, as SSE if it says so.
pub(crate) fn server() {
    run(|request: Request<Incoming>| async {
        let body = request.into_body().collect().await.expect("a request");
        let body = body.to_bytes();
        let body = std::str::from_utf8(&body).expect("text");
        let Some(id) = number(body, "\"id\":") else {
            return accepted();
        };
        let size = number(body, "\"size\":").unwrap_or(0);
        answer(&text(id, size), body.contains("\"sse\":true"))
    });
}

/// Answers every call with the same text.
pub(crate) fn fixed(sse: bool) {
    let text: Arc<str> = text(1, 300).into();
    run(move |request: Request<Incoming>| {
        let text = text.clone();
        async move {
            let body = request.into_body().collect().await.expect("a request");
            let body = body.to_bytes();
            let notification = !body.windows(5).any(|five| five == b"\"id\":");
            if notification {
                return accepted();
            }
            answer(&text, sse)
        }
    });
}

/// Passes everything on to the server at that address.
pub(crate) fn proxy(url: &str) {
    let upstream: Uri = url.parse().expect("an address");
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    run_with(move || {
        let client = Client::builder(TokioExecutor::new()).build(connector);
        move |mut request: Request<Incoming>| {
            let mut parts = upstream.clone().into_parts();
            parts.path_and_query = request.uri().path_and_query().cloned();
            *request.uri_mut() = Uri::from_parts(parts).expect("an address");
            request.headers_mut().remove(HOST);
            let answer = client.request(request);
            async { answer.await.expect("the server answers") }
        }
    });
}

fn number(text: &str, name: &str) -> Option<usize> {
    let (_, rest) = text.split_once(name)?;
    let digits = rest.chars().take_while(char::is_ascii_digit);
    digits.collect::<String>().parse().ok()
}

/// The answer to a call.
fn text(id: usize, size: usize) -> String {
    let prose = "the report shows that every build of this week passed and no user ";
    let prose = prose.repeat(size / prose.len());
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"{prose}"}}]}}}}"#
    )
}

fn answer(text: &str, sse: bool) -> Response<Parts> {
    let note = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"at work"}}"#;
    let events = |texts: &[&str]| {
        let events = texts
            .iter()
            .map(|text| format!("event: message\ndata: {text}\n\n"));
        events.map(Bytes::from).collect()
    };
    let (parts, kind) = if sse {
        (events(&[note, text]), SSE)
    } else {
        (VecDeque::from([Bytes::from(text.to_owned())]), JSON)
    };
    let mut response = Response::new(Parts(parts, sse));
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

fn accepted() -> Response<Parts> {
    let mut response = Response::new(Parts(VecDeque::new(), false));
    *response.status_mut() = StatusCode::ACCEPTED;
    response
}

fn run<F, R>(handler: F)
where
    F: Fn(Request<Incoming>) -> R + Clone + Send + Sync + 'static,
    R: Future<Output = Response<Parts>> + Send + 'static,
{
    run_with(move || handler);
}

/// Listens on a port that is free, says on standard error which, and serves until it is killed.
fn run_with<F, R, B>(handler: impl FnOnce() -> F)
where
    F: Fn(Request<Incoming>) -> R + Clone + Send + Sync + 'static,
    R: Future<Output = Response<B>> + Send + 'static,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: std::error::Error + Send + Sync,
{
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let handler = handler();
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("a port");
        eprintln!("listening at http://{address}/mcp");
        loop {
            let (stream, _) = listener.accept().await.expect("a client");
            stream.set_nodelay(true).expect("a socket");
            let handler = handler.clone();
            tokio::spawn(async move {
                let service = service_fn(move |request| {
                    let answer = handler(request);
                    async { Ok::<_, Infallible>(answer.await) }
                });
                let connection = hyper::server::conn::http1::Builder::new();
                // It ends when the client goes.
                let _ = connection
                    .serve_connection(TokioIo::new(stream), service)
                    .await;
            });
        }
    });
}
