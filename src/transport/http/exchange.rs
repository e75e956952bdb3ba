//! Heads of requests and responses, as far as they are recorded.

use super::headers;
use super::upstream::Upstream;
use crate::record::{Answered, Asked};
use hyper::Method;
use hyper::header::{self, HeaderMap};
use hyper::http::response;

/// What a request for the server says before its body, with what must not be recorded of it.
pub(super) fn asked(method: &Method, headers: &HeaderMap, upstream: &Upstream) -> Asked {
    let mut secrets = headers::secrets(headers);
    secrets.extend(upstream.secrets());
    Asked {
        http_method: method.as_str().to_owned(),
        session: headers::text(headers, headers::SESSION),
        version: headers::text(headers, headers::VERSION),
        last_event_id: headers::text(headers, headers::LAST_EVENT),
        secrets,
        ..Asked::default()
    }
}

/// What a response of the server says before its body.
pub(super) fn answered(parts: &response::Parts) -> Answered {
    Answered {
        status: parts.status.as_u16(),
        content_type: headers::text(&parts.headers, header::CONTENT_TYPE.as_str()),
        session: headers::text(&parts.headers, headers::SESSION),
        secrets: headers::secrets(&parts.headers),
    }
}

/// Whether the body is a stream of events.
pub(super) fn is_events(headers: &HeaderMap) -> bool {
    let kind = headers::text(headers, header::CONTENT_TYPE.as_str());
    let essence = kind.as_deref().and_then(|kind| kind.split(';').next());
    essence.is_some_and(|essence| essence.trim().eq_ignore_ascii_case("text/event-stream"))
}

/// How the body is compressed.
pub(super) fn encoding(headers: &HeaderMap) -> Option<String> {
    let all: Vec<&str> = headers
        .get_all(header::CONTENT_ENCODING)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .collect();
    (!all.is_empty()).then(|| all.join(", "))
}
