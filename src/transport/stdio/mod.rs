//! Standard streams: a server as a child process, and a client that started us.

mod child;
mod pipe;
mod queue;
mod tail;
mod tap;

pub(crate) use child::StartError;
pub(crate) use tap::{End, Plan, Recorded, record};
