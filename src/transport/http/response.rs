//! The body of a real server's response, as far as it is read here: decoded, as a whole or by its
//! events.

use super::body::{Budget, Full, ReadBody};
use super::decode::Decoder;
use crate::wire::lines::Line;
use crate::wire::sse::reader::Reader;
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use std::time::Duration;

/// No longer message is read, in bytes: what waits for the recorder may be as much.
pub(super) const LONGEST: usize = 256 << 20;

/// A body that comes.
pub(super) struct Live {
    body: Incoming,
    decoder: Option<Decoder>,
    /// What was looked at.
    first: Option<Bytes>,
}

impl Live {
    /// `encoding` is how it is compressed, which it was asked not to be.
    pub(super) fn new(body: Incoming, encoding: Option<String>) -> Live {
        Live {
            body,
            decoder: encoding.and_then(|encoding| Decoder::new(&encoding)),
            first: None,
        }
    }

    /// The next bytes; `None` at the end.
    ///
    /// # Errors
    ///
    /// The connection broke off, or what came cannot be decoded.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, String> {
        if let Some(first) = self.first.take() {
            return Ok(Some(first));
        }
        loop {
            let mut decoded = BytesMut::new();
            let Some(frame) = self.body.frame().await else {
                if let Some(mut decoder) = self.decoder.take() {
                    decoder.finish(|bytes| decoded.extend_from_slice(bytes))?;
                }
                return Ok((!decoded.is_empty()).then(|| decoded.freeze()));
            };
            let frame = frame.map_err(|error| error.to_string())?;
            let Ok(bytes) = frame.into_data() else {
                continue;
            };
            let bytes = match &mut self.decoder {
                None => bytes,
                Some(decoder) => {
                    decoder.push(&bytes, |bytes| decoded.extend_from_slice(bytes))?;
                    decoded.freeze()
                }
            };
            if !bytes.is_empty() {
                return Ok(Some(bytes));
            }
        }
    }

    /// Has these bytes come next.
    pub(super) fn put_back(&mut self, bytes: Bytes) {
        self.first = Some(bytes);
    }

    /// All of it, and the room that it takes.
    ///
    /// # Errors
    ///
    /// Those of [`Live::next`], and a body that there is no room for.
    pub(super) async fn whole<'b>(&mut self, budget: &'b Budget) -> Result<ReadBody<'b>, String> {
        let mut all = ReadBody::new(budget, LONGEST);
        let broken = |why| format!("the real server's response broke off: {why}");
        while let Some(bytes) = self.next().await.map_err(broken)? {
            all.add(&bytes).map_err(|full| match full {
                Full::TooLarge => format!(
                    "the real server's response is longer than {} MiB",
                    LONGEST >> 20
                ),
                Full::TooMuch => {
                    "the real server's response came when too much was being read".to_owned()
                }
            })?;
        }
        Ok(all)
    }
}

/// The events of a stream, and where to go on with it.
pub(super) struct Events {
    reader: Reader,
    last_id: Option<String>,
    pause: Option<Duration>,
}

impl Default for Events {
    fn default() -> Events {
        Events {
            reader: Reader::new(LONGEST),
            last_id: None,
            pause: None,
        }
    }
}

impl Events {
    /// Takes the next bytes, and gives the messages that end in them, or how long one is that is
    /// too long.
    pub(super) fn take(&mut self, bytes: &[u8], mut message: impl FnMut(Result<&[u8], u64>)) {
        let (last_id, pause) = (&mut self.last_id, &mut self.pause);
        self.reader.push(bytes, |event| {
            if let Some(id) = event.id.filter(|id| !id.is_empty()) {
                *last_id = Some(id.to_owned());
            }
            if let Some(retry) = event.retry_ms {
                *pause = Some(Duration::from_millis(retry));
            }
            if event.name.is_some_and(|name| name != "message") {
                return;
            }
            match event.data {
                Line::Whole([]) => {}
                Line::Whole(data) => message(Ok(data)),
                Line::TooLong { length, .. } => message(Err(length)),
            }
        });
    }

    /// What comes now is another response: what was not whole is lost.
    pub(super) fn begin_again(&mut self) {
        self.reader = Reader::new(LONGEST);
    }

    /// The id to go on after.
    pub(super) fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    /// How long the server asks to wait before that.
    pub(super) fn pause(&self) -> Option<Duration> {
        self.pause
    }
}
