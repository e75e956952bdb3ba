//! Streamable HTTP: the shells that carry bodies and events.

mod body;
pub(crate) mod guard;
pub(crate) mod listen;
mod serve;
mod stream;

pub(crate) use listen::Listener;
pub(crate) use serve::{serve, url};
