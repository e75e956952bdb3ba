//! The way to a real server: its address, certificates, a proxy on the way, and the headers that
//! go there and nowhere else.

use super::headers::Extra;
use super::listen::{Body, BodyError};
use hyper::body::Incoming;
use hyper::header::{self, HeaderValue};
use hyper::http::uri::{Authority, PathAndQuery, Scheme};
use hyper::{Request, Response, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::proxy::matcher::Matcher;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use std::error::Error as _;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::net::TcpStream;
use tower_service::Service;

/// For a connection to the server or the proxy.
const TO_CONNECT: Duration = Duration::from_secs(30);

/// Where a server is and how it is reached.
#[derive(Clone, Debug, Default)]
pub(crate) struct UpstreamOptions {
    /// Its address, as it was given.
    pub(crate) url: Hidden,
    /// `Name: value`, as they were given.
    pub(crate) headers: Vec<Hidden>,
    /// Certificates to trust besides those of the system.
    pub(crate) ca_file: Option<PathBuf>,
    /// A proxy, in place of what the environment says.
    pub(crate) proxy: Option<Hidden>,
}

/// A text that may hold a credential, and so does not show.
#[derive(Clone, Default)]
pub(crate) struct Hidden(pub(crate) String);

impl std::fmt::Debug for Hidden {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Hidden")
    }
}

/// Why a server cannot be asked anything. None of these quotes what may be a credential.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UpstreamError {
    #[error("--url must be an address like https://example.com/mcp, with http:// or https://")]
    Url,
    #[error(
        "--proxy must be an address like http://proxy.example:3128; other kinds are not supported"
    )]
    Proxy,
    #[error(
        "HTTPS_PROXY or HTTP_PROXY names a kind of proxy that is not supported; only http:// ones are"
    )]
    ProxyVariable,
    #[error("--header number {0} is not 'Name: value'")]
    Header(usize),
    #[error("--header {0} belongs to a connection and cannot be set")]
    Connection(String),
    #[error("--ca-file {}: {what}", .path.display())]
    CaFile { path: PathBuf, what: String },
    #[error(
        "the system has no certificates to trust ({0}); name some by SSL_CERT_FILE or --ca-file"
    )]
    NoRoots(String),
    #[error("TLS cannot be used: {0}")]
    Tls(String),
}

/// A real server.
#[derive(Clone, Debug)]
pub(crate) struct Upstream {
    target: Target,
    extra: Extra,
    client: Client<HttpsConnector<Route>, Body>,
}

/// An address in its parts.
#[derive(Clone, Debug)]
struct Target {
    scheme: Scheme,
    authority: Authority,
    path: String,
    query: Option<String>,
    /// User and password of the address.
    login: Option<HeaderValue>,
}

impl Upstream {
    /// Finds out how the server is reached. Nothing is connected so far.
    ///
    /// # Errors
    ///
    /// The address, a header, the proxy or the certificates cannot be used.
    pub(crate) fn new(options: &UpstreamOptions) -> Result<Upstream, UpstreamError> {
        let target = Target::parse(&options.url.0)?;
        let extra = Extra::parse(options.headers.iter().map(|header| header.0.as_str()))?;
        let route = Route::to(&target, options.proxy.as_ref())?;
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls(&target, options)?)
            .https_or_http()
            .enable_http1()
            .enable_http2()
            .wrap_connector(route);
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .timer(TokioTimer::new())
            .http2_adaptive_window(true)
            .build(connector);
        Ok(Upstream {
            target,
            extra,
            client,
        })
    }

    /// The path of the address.
    pub(crate) fn path(&self) -> &str {
        &self.target.path
    }

    /// Scheme, host and port, as a page of the server would name its origin.
    pub(crate) fn origin(&self) -> String {
        format!("{}://{}", self.target.scheme, self.target.authority)
    }

    /// Values that are sent there and must be found nowhere else.
    pub(crate) fn secrets(&self) -> Vec<String> {
        self.extra.secrets()
    }

    /// Path and query of an address, if it is one of this server; without a query that goes with
    /// every request anyway.
    pub(super) fn own_path(&self, address: &str) -> Option<String> {
        let rest = address.strip_prefix(&self.origin()).unwrap_or(address);
        let rest = rest.split('#').next().unwrap_or_default();
        let own = self.target.query.as_deref();
        let path = match rest.split_once('?') {
            Some((path, query)) if Some(query) == own => path,
            _ => rest,
        };
        (path.starts_with('/') && !path.starts_with("//")).then(|| path.to_owned())
    }

    /// Sends a request for `path` and `query`, whose headers are those of the client already.
    ///
    /// # Errors
    ///
    /// The server cannot be reached, or does not answer.
    pub(crate) async fn send(
        &self,
        mut request: Request<Body>,
    ) -> Result<Response<Incoming>, hyper_util::client::legacy::Error> {
        *request.uri_mut() = self.address(request.uri());
        let headers = request.headers_mut();
        if let Some(login) = &self.target.login
            && !headers.contains_key(header::AUTHORIZATION)
        {
            headers.insert(header::AUTHORIZATION, login.clone());
        }
        self.extra.apply(headers);
        self.client.request(request).await
    }

    /// The same path there. The query of the address goes with every request for its path.
    fn address(&self, asked: &Uri) -> Uri {
        let path = match asked.path() {
            "" => "/",
            path => path,
        };
        let own = self.target.query.as_deref();
        let own = own.filter(|_| is_same_path(path, &self.target.path));
        let queries: Vec<&str> = own.into_iter().chain(asked.query()).collect();
        let mut text = path.to_owned();
        if !queries.is_empty() {
            text.push('?');
            text.push_str(&queries.join("&"));
        }
        let mut parts = hyper::http::uri::Parts::default();
        parts.scheme = Some(self.target.scheme.clone());
        parts.authority = Some(self.target.authority.clone());
        // Both halves were parts of addresses before.
        parts.path_and_query = text.parse::<PathAndQuery>().ok();
        Uri::from_parts(parts).unwrap_or_default()
    }
}

/// Whether two paths are one but for a slash at the end.
pub(super) fn is_same_path(one: &str, other: &str) -> bool {
    one.trim_end_matches('/') == other.trim_end_matches('/')
}

impl Target {
    fn parse(url: &str) -> Result<Target, UpstreamError> {
        let uri: Uri = url.trim().parse().map_err(|_| UpstreamError::Url)?;
        let scheme = uri.scheme().cloned().ok_or(UpstreamError::Url)?;
        if scheme != Scheme::HTTP && scheme != Scheme::HTTPS {
            return Err(UpstreamError::Url);
        }
        let whole = uri.authority().ok_or(UpstreamError::Url)?.as_str();
        let (login, host) = match whole.rsplit_once('@') {
            Some((login, host)) => (Some(login), host),
            None => (None, whole),
        };
        let authority: Authority = host.parse().map_err(|_| UpstreamError::Url)?;
        if authority.host().is_empty() {
            return Err(UpstreamError::Url);
        }
        let path = match uri.path() {
            "" => "/",
            path => path,
        };
        Ok(Target {
            scheme,
            authority,
            path: path.to_owned(),
            query: uri.query().map(str::to_owned),
            login: login.and_then(login_header),
        })
    }

    /// Whether the server is on this machine, where no proxy could reach it.
    fn is_local(&self) -> bool {
        let host = self.authority.host();
        let address = host.trim_start_matches('[').trim_end_matches(']');
        let address = address.parse::<std::net::IpAddr>();
        host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
    }
}

/// User and password of an address, as the header that a browser makes of them.
fn login_header(login: &str) -> Option<HeaderValue> {
    // The matcher has the one Base64 encoder that the dependencies offer.
    let proxy = format!("http://{login}@localhost");
    let matcher = Matcher::builder().http(proxy).build();
    let intercept = matcher.intercept(&Uri::from_static("http://upstream"))?;
    let mut value = intercept.basic_auth()?.clone();
    value.set_sensitive(true);
    Some(value)
}

/// How a connection comes about.
#[derive(Clone, Debug)]
pub(crate) enum Route {
    Direct(HttpConnector),
    Tunnel(Tunnel<HttpConnector>, u16),
}

impl Route {
    fn to(target: &Target, proxy: Option<&Hidden>) -> Result<Route, UpstreamError> {
        let mut direct = HttpConnector::new();
        direct.enforce_http(false);
        direct.set_nodelay(true);
        direct.set_connect_timeout(Some(TO_CONNECT));
        let (matcher, error) = match proxy {
            Some(proxy) => {
                let uri: Uri = proxy.0.parse().map_err(|_| UpstreamError::Proxy)?;
                if uri.scheme_str() != Some("http") {
                    return Err(UpstreamError::Proxy);
                }
                let matcher = Matcher::builder().all(proxy.0.as_str()).build();
                (matcher, UpstreamError::Proxy)
            }
            None if target.is_local() => return Ok(Route::Direct(direct)),
            None => (Matcher::from_env(), UpstreamError::ProxyVariable),
        };
        let text = format!("{}://{}/", target.scheme, target.authority);
        let uri: Uri = text.parse().map_err(|_| UpstreamError::Url)?;
        let Some(intercept) = matcher.intercept(&uri) else {
            return match proxy {
                Some(_) => Err(error),
                None => Ok(Route::Direct(direct)),
            };
        };
        if intercept.uri().scheme_str() != Some("http") {
            return Err(error);
        }
        let mut tunnel = Tunnel::new(intercept.uri().clone(), direct);
        if let Some(login) = intercept.basic_auth() {
            tunnel = tunnel.with_auth(login.clone());
        }
        let port = match target.scheme == Scheme::HTTPS {
            true => 443,
            false => 80,
        };
        Ok(Route::Tunnel(tunnel, port))
    }
}

impl Service<Uri> for Route {
    type Response = TokioIo<TcpStream>;
    type Error = BodyError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BodyError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BodyError>> {
        match self {
            Route::Direct(direct) => direct.poll_ready(context).map_err(Into::into),
            Route::Tunnel(tunnel, _) => tunnel.poll_ready(context).map_err(Into::into),
        }
    }

    fn call(&mut self, to: Uri) -> Self::Future {
        match self {
            Route::Direct(direct) => {
                let connecting = direct.call(to);
                Box::pin(async move { connecting.await.map_err(Into::into) })
            }
            Route::Tunnel(tunnel, port) => {
                let connecting = tunnel.call(with_port(to, *port));
                Box::pin(async move { connecting.await.map_err(Into::into) })
            }
        }
    }
}

/// A tunnel takes 443 for the port of an address that names none.
fn with_port(to: Uri, port: u16) -> Uri {
    if to.port().is_some() {
        return to;
    }
    let named = format!("{}:{port}", to.host().unwrap_or_default());
    let mut parts = to.clone().into_parts();
    parts.authority = named.parse().ok();
    Uri::from_parts(parts).unwrap_or(to)
}

fn tls(target: &Target, options: &UpstreamOptions) -> Result<ClientConfig, UpstreamError> {
    let mut roots = RootCertStore::empty();
    if target.scheme == Scheme::HTTPS {
        let found = rustls_native_certs::load_native_certs();
        let (_, _) = roots.add_parsable_certificates(found.certs);
        if roots.is_empty() && options.ca_file.is_none() {
            let why = found.errors.first().map(ToString::to_string);
            let why = why.unwrap_or_else(|| "none were found".to_owned());
            return Err(UpstreamError::NoRoots(why));
        }
    }
    if let Some(path) = &options.ca_file {
        let failed = |what: String| UpstreamError::CaFile {
            path: path.clone(),
            what,
        };
        let certificates: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(path)
            .and_then(Iterator::collect)
            .map_err(|error| failed(error.to_string()))?;
        if certificates.is_empty() {
            return Err(failed("it holds no certificate in PEM form".to_owned()));
        }
        for certificate in certificates {
            let added = roots.add(certificate);
            added.map_err(|error| failed(error.to_string()))?;
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| UpstreamError::Tls(error.to_string()))?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

/// What went wrong, with its causes.
pub(crate) fn told(error: &hyper_util::client::legacy::Error) -> String {
    let mut told = Vec::new();
    if error.is_connect() {
        told.push("it cannot be connected to".to_owned());
    }
    let mut cause = error.source();
    while let Some(error) = cause {
        told.push(error.to_string());
        cause = error.source();
    }
    match told.is_empty() {
        true => error.to_string(),
        false => told.join(": "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn upstream(url: &str) -> Result<Upstream, UpstreamError> {
        Upstream::new(&UpstreamOptions {
            url: Hidden(url.to_owned()),
            ..UpstreamOptions::default()
        })
    }

    #[test]
    fn a_request_goes_to_the_same_path_there_with_the_query_of_the_address() {
        let upstream = upstream("http://me:pw@127.0.0.1:9/mcp?key=1").unwrap();
        assert_eq!(upstream.origin(), "http://127.0.0.1:9");
        for (asked, sent) in [
            ("/mcp", "http://127.0.0.1:9/mcp?key=1"),
            ("/mcp/?a=b", "http://127.0.0.1:9/mcp/?key=1&a=b"),
            ("http://localhost:4/mcp", "http://127.0.0.1:9/mcp?key=1"),
            ("/.well-known/x?a=b", "http://127.0.0.1:9/.well-known/x?a=b"),
            ("//evil.example/x", "http://127.0.0.1:9//evil.example/x"),
            ("*", "http://127.0.0.1:9/*"),
        ] {
            let Ok(asked) = asked.parse::<Uri>() else {
                continue;
            };
            if asked.path() != "*" {
                assert_eq!(upstream.address(&asked).to_string(), sent);
            }
        }
        let login = upstream.target.login.as_ref().unwrap();
        assert_eq!(login.to_str().unwrap(), "Basic bWU6cHc=");
        assert!(!format!("{upstream:?}").contains("bWU6cHc"));
    }

    #[test]
    fn what_is_no_address_is_refused_without_being_quoted() {
        for url in [
            "",
            "example.com/secret-path",
            "ftp://example.com/secret-path",
            "http://",
            "http://user:secret-path@",
            "https://exa mple/secret-path",
            "stdio",
        ] {
            let error = upstream(url).expect_err(url);
            assert!(!error.to_string().contains("secret-path"));
        }
    }

    #[test]
    fn a_proxy_of_another_kind_is_refused_and_not_passed_by() {
        for (proxy, works) in [
            ("http://user:pw@proxy.example:3128", true),
            ("socks5://proxy.example", false),
            ("https://proxy.example", false),
            ("proxy", false),
        ] {
            let upstream = Upstream::new(&UpstreamOptions {
                url: Hidden("http://127.0.0.1:9/mcp".to_owned()),
                proxy: Some(Hidden(proxy.to_owned())),
                ..UpstreamOptions::default()
            });
            assert_eq!(upstream.is_ok(), works, "{proxy}");
        }
    }

    #[test]
    fn a_file_without_certificates_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ca.pem");
        for text in [
            "",
            "no certificate",
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        ] {
            std::fs::write(&path, text).unwrap();
            let error = Upstream::new(&UpstreamOptions {
                url: Hidden("http://127.0.0.1:9/mcp".to_owned()),
                ca_file: Some(path.clone()),
                ..UpstreamOptions::default()
            });
            let error = error.expect_err("no certificate").to_string();
            assert!(error.starts_with("--ca-file"), "{error}");
        }
    }
}
