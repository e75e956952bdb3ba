//! Bodies on their way through: each piece is copied for the recorder and passed on at once.
//!
//! The copy comes first, and so does the end of a body: the other side may act on the last byte
//! before the one who passed it on runs again, and what is recorded must not be the other way
//! round.

use super::endpoint::Endpoint;
use super::listen::{BodyError, Polled};
use super::tap::{Exchange, Said, Tap};
use crate::cassette::exchanges::Ended;
use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Sleep, sleep};

/// When the recorder is behind, traffic looks this often whether it has caught up.
const TO_LOOK: Duration = Duration::from_millis(5);

/// What a client says, on its way to the server.
pub(super) struct RequestBody {
    inner: Incoming,
    said: Said,
    room: Room,
    is_over: bool,
}

impl RequestBody {
    pub(super) fn new(inner: Incoming, said: Said) -> RequestBody {
        let room = Room::new(said.tap());
        let mut body = RequestBody {
            inner,
            said,
            room,
            is_over: false,
        };
        body.end_if_over();
        body
    }

    fn end_if_over(&mut self) {
        if self.inner.is_end_stream() {
            self.over();
        }
    }

    fn over(&mut self) {
        if !std::mem::replace(&mut self.is_over, true) {
            self.said.over();
        }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Polled {
        ready!(self.room.poll(context));
        match ready!(Pin::new(&mut self.inner).poll_frame(context)) {
            Some(Ok(frame)) => {
                if let Some(bytes) = frame.data_ref() {
                    self.said.bytes(bytes);
                }
                self.end_if_over();
                Poll::Ready(Some(Ok(frame)))
            }
            Some(Err(error)) => Poll::Ready(Some(Err(error.into()))),
            None => {
                self.over();
                Poll::Ready(None)
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

/// What a server answers, on its way to the client.
pub(super) struct ResponseBody {
    inner: Incoming,
    exchange: Exchange,
    room: Room,
    /// The first event of a stream, if it may be an address.
    endpoint: Option<Endpoint>,
    /// How it ended, when what is held back is passed on.
    last: Option<Result<(), BodyError>>,
}

impl ResponseBody {
    pub(super) fn new(
        inner: Incoming,
        exchange: Exchange,
        endpoint: Option<Endpoint>,
    ) -> ResponseBody {
        let mut body = ResponseBody {
            inner,
            room: Room::new(exchange.tap()),
            exchange,
            endpoint,
            last: None,
        };
        body.end_if_over();
        body
    }

    fn end_if_over(&mut self) {
        if self.inner.is_end_stream() {
            self.exchange.ended(Ended::Complete);
        }
    }

    /// What the client gets of these bytes.
    fn passed(&mut self, bytes: Bytes) -> Bytes {
        self.exchange.bytes(&bytes);
        let Some(endpoint) = &mut self.endpoint else {
            return bytes;
        };
        let passed = endpoint.take(&bytes);
        if let Some(path) = endpoint.found() {
            self.exchange.tap().add_endpoint(path);
        }
        if endpoint.is_over() {
            self.endpoint = None;
        }
        passed
    }

    /// The stream is over: what was held back of it goes first.
    fn end(&mut self, ended: Result<(), BodyError>) -> Option<Result<Frame<Bytes>, BodyError>> {
        self.exchange.ended(match ended {
            Ok(()) => Ended::Complete,
            Err(_) => Ended::Cut,
        });
        if let Some(mut endpoint) = self.endpoint.take() {
            let held = endpoint.rest();
            if !held.is_empty() {
                self.last = Some(ended);
                return Some(Ok(Frame::data(held)));
            }
        }
        ended.err().map(Err)
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Polled {
        if let Some(ended) = self.last.take() {
            return Poll::Ready(ended.err().map(Err));
        }
        loop {
            ready!(self.room.poll(context));
            let frame = match ready!(Pin::new(&mut self.inner).poll_frame(context)) {
                Some(Ok(frame)) => frame,
                Some(Err(error)) => return Poll::Ready(self.end(Err(error.into()))),
                None => return Poll::Ready(self.end(Ok(()))),
            };
            let frame = match frame.into_data() {
                Ok(bytes) => Frame::data(self.passed(bytes)),
                Err(frame) => frame,
            };
            self.end_if_over();
            let holds_back = frame.data_ref().is_some_and(Bytes::is_empty);
            if !holds_back || self.inner.is_end_stream() {
                return Poll::Ready(Some(Ok(frame)));
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream() && self.endpoint.is_none() && self.last.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        match self.endpoint {
            None => self.inner.size_hint(),
            Some(_) => SizeHint::default(),
        }
    }
}

/// Waits while the recorder is too far behind.
struct Room {
    tap: Arc<Tap>,
    sleep: Option<Pin<Box<Sleep>>>,
}

impl Room {
    fn new(tap: &Arc<Tap>) -> Room {
        Room {
            tap: Arc::clone(tap),
            sleep: None,
        }
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        loop {
            if let Some(sleep) = &mut self.sleep {
                ready!(sleep.as_mut().poll(context));
                self.sleep = None;
            }
            if self.tap.has_room() {
                return Poll::Ready(());
            }
            self.sleep = Some(Box::pin(sleep(TO_LOOK)));
        }
    }
}
