//! Streamable HTTP: the shells that carry bodies and events.

mod bodies;
mod body;
mod decode;
mod endpoint;
pub(crate) mod guard;
mod headers;
pub(crate) mod listen;
mod proxy;
mod record;
mod serve;
mod stream;
mod tap;
mod upstream;

pub(crate) use listen::Listener;
pub(crate) use record::{Ended, Plan, Recorded, record};
pub(crate) use serve::{serve, url};
pub(crate) use upstream::{Hidden, Upstream, UpstreamError, UpstreamOptions};
