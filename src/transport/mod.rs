//! The shells around the cores: they carry bytes, own the clock and start processes.
//!
//! What to say and when is decided by [`crate::record`] and `crate::replay`; nothing in here
//! knows a method of the protocol.

#[cfg(feature = "http")]
pub(crate) mod http;
#[cfg(feature = "http")]
mod input;
mod queue;
pub(crate) mod signals;
pub(crate) mod stderr;
pub(crate) mod stdio;
