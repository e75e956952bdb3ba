//! Streamable HTTP: the shells that carry bodies and events.

mod bodies;
mod body;
mod decode;
mod doubt;
mod endpoint;
mod exchange;
pub(crate) mod guard;
mod headers;
pub(crate) mod listen;
mod proxy;
mod record;
mod remote;
mod response;
mod serve;
mod stream;
mod tap;
mod upstream;

pub(crate) use listen::Listener;
pub(crate) use record::{Ended, Plan, record};
pub(crate) use remote::{Alone, Ears, Real, Remote, headers_of};
pub(crate) use serve::{Watcher, serve, url};
pub(crate) use tap::Count;
pub(crate) use upstream::{Hidden, Upstream, UpstreamOptions};
