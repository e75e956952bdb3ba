//! Streamable HTTP: the shells that carry bodies and events.

pub(crate) mod guard;
pub(crate) mod listen;
