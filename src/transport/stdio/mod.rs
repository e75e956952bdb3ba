//! Standard streams: a server as a child process, and a client that started us.

mod pipe;
mod serve;

pub(crate) use serve::{Served, serve};
