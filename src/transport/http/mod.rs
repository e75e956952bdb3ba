//! Streamable HTTP: the shells that carry bodies and events.

mod bodies;
mod decode;
mod endpoint;
pub(crate) mod guard;
mod headers;
pub(crate) mod listen;
mod proxy;
mod record;
mod tap;
mod upstream;

pub(crate) use record::{Ended, Plan, record};
pub(crate) use upstream::{Hidden, Upstream, UpstreamOptions};
