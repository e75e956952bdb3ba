//! Bodies of requests, read whole: up to a size, not slower than a pace, and not more at once
//! than there is room for.

use crate::wire::bounded::MOST_AT_ONCE;
use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::StatusCode;
use hyper::body::{Body as _, Incoming};
use hyper::header::HeaderMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The largest body, in bytes.
const LARGEST: usize = 64 << 20;
/// For the next part of a body.
const PATIENCE: Duration = Duration::from_secs(30);

/// How much all bodies take up that are being read.
#[derive(Debug, Default)]
pub(super) struct Budget(AtomicUsize);

/// A body, and the room that it takes until it is dropped.
#[derive(Debug)]
pub(super) struct ReadBody<'b> {
    bytes: Vec<u8>,
    budget: &'b Budget,
    taken: usize,
    /// In bytes.
    largest: usize,
}

/// Why no more of a body is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Full {
    /// It is larger than one may be.
    TooLarge,
    /// All that are being read are together.
    TooMuch,
}

impl<'b> ReadBody<'b> {
    /// One of up to `largest` bytes, of which nothing is there.
    pub(super) fn new(budget: &'b Budget, largest: usize) -> ReadBody<'b> {
        ReadBody {
            bytes: Vec::new(),
            budget,
            taken: 0,
            largest,
        }
    }

    /// Takes the next bytes.
    ///
    /// # Errors
    ///
    /// There is no room for them.
    pub(super) fn add(&mut self, data: &Bytes) -> Result<(), Full> {
        if self.bytes.len() + data.len() > self.largest {
            return Err(Full::TooLarge);
        }
        self.taken += data.len();
        let all = self.budget.0.fetch_add(data.len(), Ordering::Relaxed);
        if all + data.len() > MOST_AT_ONCE {
            return Err(Full::TooMuch);
        }
        self.bytes.extend_from_slice(data);
        Ok(())
    }
}

impl AsRef<[u8]> for ReadBody<'_> {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for ReadBody<'_> {
    fn drop(&mut self) {
        self.budget.0.fetch_sub(self.taken, Ordering::Relaxed);
    }
}

const TOO_MUCH: (StatusCode, &str) = (
    StatusCode::SERVICE_UNAVAILABLE,
    "too much is being sent at one time",
);
const TOO_LARGE: (StatusCode, &str) = (
    StatusCode::PAYLOAD_TOO_LARGE,
    "the body is larger than 64 MiB",
);

/// It ended too early, or is not framed as its head says.
pub(super) const BROKEN_BODY: (StatusCode, &str) = (
    StatusCode::BAD_REQUEST,
    "the body is not what the head says",
);

/// Reads the body of a request.
///
/// # Errors
///
/// The status and reason to answer with: it is too large, comes too slowly, or is not framed as
/// its head says.
pub(super) async fn read_body<'b>(
    mut body: Incoming,
    headers: &HeaderMap,
    budget: &'b Budget,
) -> Result<ReadBody<'b>, (StatusCode, &'static str)> {
    let announced = body.size_hint().lower();
    if usize::try_from(announced).map_or(true, |announced| announced > LARGEST) {
        return Err(TOO_LARGE);
    }
    if headers.contains_key(hyper::header::CONTENT_ENCODING) {
        let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        return Err((status, "the body must not be compressed"));
    }
    let mut read = ReadBody::new(budget, LARGEST);
    loop {
        let next = tokio::time::timeout(PATIENCE, body.frame()).await;
        match next {
            Err(_) => return Err((StatusCode::REQUEST_TIMEOUT, "the body did not come in time")),
            Ok(None) => return Ok(read),
            Ok(Some(Err(_))) => {
                return Err(BROKEN_BODY);
            }
            Ok(Some(Ok(frame))) => {
                if let Some(data) = frame.data_ref() {
                    read.add(data).map_err(|full| match full {
                        Full::TooLarge => TOO_LARGE,
                        Full::TooMuch => TOO_MUCH,
                    })?;
                }
            }
        }
    }
}
