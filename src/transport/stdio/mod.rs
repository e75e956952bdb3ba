//! Standard streams: a server as a child process, and a client that started us.

mod buffers;
mod child;
mod pipe;
mod serve;
mod tail;
mod tap;
mod upstream;
mod watch;

pub(crate) use child::StartError;
pub(crate) use serve::{Notice, Real, Served, serve};
pub(crate) use tap::{Plan, Recorded, record};
pub(crate) use watch::End;
