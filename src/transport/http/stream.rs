//! The body of a response that goes on: what is said comes by a channel, silence is broken by
//! comments, and a client that goes away is noticed.

use super::listen::{BodyError, Polled};
use super::serve::{Chunk, Shared};
use crate::wire::lane::Lane;
use crate::wire::sse::writer::KEEP_ALIVE;
use bytes::Bytes;
use hyper::body::{Body, Frame};
use std::future::Future as _;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, Sleep, sleep};

/// Without an event for so long, a comment is sent. Clients and what is between give up
/// connections that say nothing, most after a minute or later.
const SILENCE: Duration = Duration::from_secs(15);

/// Tells the core when the connection goes away before the response was over.
pub(super) struct Gone {
    shared: Arc<Shared>,
    lane: Option<Lane>,
}

impl Gone {
    pub(super) fn new(shared: Arc<Shared>) -> Gone {
        Gone { shared, lane: None }
    }

    pub(super) fn watch(&mut self, lane: Lane) {
        self.lane = Some(lane);
    }

    /// The response is over.
    pub(super) fn forget(&mut self) {
        self.lane = None;
    }
}

impl Drop for Gone {
    fn drop(&mut self) {
        if let Some(lane) = self.lane.take() {
            self.shared.gone(lane);
        }
    }
}

/// See the module.
pub(super) struct Stream {
    chunks: mpsc::UnboundedReceiver<Chunk>,
    /// How many bytes wait there.
    waiting: Arc<AtomicUsize>,
    gone: Gone,
    silence: Option<Pin<Box<Sleep>>>,
    /// What breaks the response off, when all before it is on its way.
    broken: Option<BodyError>,
}

impl Stream {
    /// Only `events` have comments.
    pub(super) fn new(
        (chunks, waiting): (mpsc::UnboundedReceiver<Chunk>, Arc<AtomicUsize>),
        gone: Gone,
        events: bool,
    ) -> Stream {
        Stream {
            chunks,
            waiting,
            gone,
            silence: events.then(|| Box::pin(sleep(SILENCE))),
            broken: None,
        }
    }
}

impl Body for Stream {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Polled {
        if let Some(error) = self.broken.take() {
            self.gone.forget();
            return Poll::Ready(Some(Err(error)));
        }
        let next = self.chunks.poll_recv(context);
        let said = match next {
            Poll::Ready(None) => {
                self.gone.forget();
                return Poll::Ready(None);
            }
            Poll::Ready(Some(Err(error))) => {
                // An error has hyper drop what it has not written yet, which it does when there is
                // nothing more for the moment.
                self.broken = Some(error);
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            Poll::Ready(Some(Ok(bytes))) => {
                self.waiting.fetch_sub(bytes.len(), Ordering::Relaxed);
                bytes
            }
            Poll::Pending => {
                let silent = self.silence.as_mut();
                match silent.map(|silence| silence.as_mut().poll(context)) {
                    Some(Poll::Ready(())) => Bytes::from_static(KEEP_ALIVE),
                    _ => return Poll::Pending,
                }
            }
        };
        if let Some(silence) = &mut self.silence {
            silence.as_mut().reset(Instant::now() + SILENCE);
        }
        Poll::Ready(Some(Ok(Frame::data(said))))
    }
}
