//! Server-sent events: the framing of messages in a body that does not end.

pub(crate) mod reader;
pub(crate) mod writer;
