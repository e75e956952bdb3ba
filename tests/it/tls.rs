//! `record --url https://…` against a server with a certificate of its own, over HTTP/1.1 and HTTP/2.
#![cfg(unix)]

use crate::origin::Proxy;
use crate::recorder::{PATIENCE, files, load};
use crate::serve_http::{INITIALIZE, answer, call};
use crate::support::write;
use crate::web::Site;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response, Version};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use std::convert::Infallible;
use std::path::Path;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use tempfile::tempdir;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio_rustls::TlsAcceptor;

/// A server behind TLS that answers a call by the word `secure`.
struct Secure {
    port: u16,
    /// Its certificate, in PEM form.
    certificate: String,
    /// The versions of HTTP that it was spoken to in.
    versions: Receiver<Version>,
    _runtime: Runtime,
}

impl Secure {
    /// One whose certificate is for `name`, and that speaks nothing but `protocol`.
    fn start(name: &str, protocol: &str) -> Secure {
        let made = rcgen::generate_simple_self_signed([name.to_owned()]).expect("a certificate");
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).expect("a key");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .expect("a certificate");
        config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
        let runtime = Runtime::new().expect("a runtime");
        let listening = runtime.block_on(TcpListener::bind(("127.0.0.1", 0)));
        let listener = listening.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let (told, versions) = mpsc::channel();
        runtime.spawn(accept(listener, TlsAcceptor::from(Arc::new(config)), told));
        Secure {
            port,
            certificate: made.cert.pem(),
            versions,
            _runtime: runtime,
        }
    }

    fn url(&self) -> String {
        format!("https://127.0.0.1:{}/mcp", self.port)
    }

    /// Writes its certificate to a file.
    fn trusted(&self, folder: &Path) -> String {
        let path = write(folder, "ca.pem", &self.certificate);
        path.display().to_string()
    }
}

async fn accept(listener: TcpListener, acceptor: TlsAcceptor, told: Sender<Version>) {
    let told = Arc::new(Mutex::new(told));
    while let Ok((stream, _)) = listener.accept().await {
        let (acceptor, told) = (acceptor.clone(), Arc::clone(&told));
        tokio::spawn(async move {
            // A client that does not trust us leaves here.
            let Ok(stream) = acceptor.accept(stream).await else {
                return;
            };
            let service = service_fn(move |request| speak(request, Arc::clone(&told)));
            let builder = auto::Builder::new(TokioExecutor::new());
            let served = builder.serve_connection(TokioIo::new(stream), service);
            let _ = served.await;
        });
    }
}

async fn speak(
    request: Request<Incoming>,
    told: Arc<Mutex<Sender<Version>>>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let version = request.version();
    let body = request.into_body().collect().await.expect("a body");
    let body: serde_json::Value = serde_json::from_slice(&body.to_bytes()).unwrap_or_default();
    told.lock()
        .expect("a channel")
        .send(version)
        .expect("a test");
    let id = u32::try_from(body["id"].as_u64().unwrap_or_default()).expect("a small id");
    let text = match body["method"].as_str() {
        Some("initialize") => INITIALIZED_BY.to_owned(),
        _ => answer(id, "secure"),
    };
    let response = Response::builder()
        .header("content-type", "application/json")
        .body(Full::new(Bytes::from(text)));
    Ok(response.expect("a response"))
}

const INITIALIZED_BY: &str = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"tls","version":"1"}}}"#;

#[test]
fn a_server_whose_certificate_is_trusted_is_recorded_and_added_to_over_either_version() {
    for (protocol, version) in [("http/1.1", Version::HTTP_11), ("h2", Version::HTTP_2)] {
        let folder = tempdir().unwrap();
        let server = Secure::start("127.0.0.1", protocol);
        let trusted = server.trusted(folder.path());
        let proxy = Proxy::start(folder.path(), &server.url(), &["--ca-file", &trusted]);
        let mut wire = proxy.connect();
        for (body, expected) in [
            (INITIALIZE, INITIALIZED_BY),
            (&call(1, "a"), &answer(1, "secure")),
        ] {
            wire.post("", body);
            assert_eq!(wire.answer().body, expected);
            let spoken = server.versions.recv_timeout(PATIENCE).unwrap();
            assert_eq!(spoken, version);
        }
        let run = proxy.stop();
        assert_eq!(run.code, 130, "{}", run.all());
        assert_eq!(load(folder.path()).messages().len(), 4);

        let url = server.url();
        let flags = [
            "c.mcp.json",
            "--new-episodes",
            "--url",
            &url,
            "--ca-file",
            &trusted,
        ];
        let site = Site::start_in(folder.path(), &flags);
        assert_eq!(site.post("", INITIALIZE).status, 200);
        assert_eq!(site.post("", &call(2, "b")).body, answer(2, "secure"));
        assert_eq!(server.versions.recv_timeout(PATIENCE).unwrap(), version);
        let run = site.stop();
        assert_eq!(run.code, 130, "{}", run.all());
        assert_eq!(load(folder.path()).messages().len(), 6);
    }
}

#[test]
fn a_server_whose_certificate_is_not_trusted_or_not_its_own_is_exit_2() {
    for (name, is_trusted, why) in [
        ("127.0.0.1", false, "invalid peer certificate"),
        ("other.example", true, "not valid for name"),
    ] {
        let folder = tempdir().unwrap();
        let server = Secure::start(name, "http/1.1");
        let other = Secure::start(name, "http/1.1");
        let trusted = match is_trusted {
            true => server.trusted(folder.path()),
            false => other.trusted(folder.path()),
        };
        let proxy = Proxy::start(folder.path(), &server.url(), &["--ca-file", &trusted]);
        let mut wire = proxy.connect();
        wire.post("", INITIALIZE);
        assert_eq!(wire.answer().status, 502);
        let run = proxy.wait();
        assert_eq!(run.code, 2, "{}", run.all());
        assert!(run.stderr.contains(why), "{why}: {}", run.all());
        assert_eq!(files(folder.path()), ["ca.pem"]);
        assert!(
            server.versions.try_recv().is_err(),
            "nothing was said to it"
        );
    }
}
