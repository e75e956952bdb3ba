//! Bytes and messages: the JSON tokenizer, values read from it and the names
//! that the Model Context Protocol gives to methods and members.
//!
//! Nothing here does input or output, and nothing knows the time.

pub(crate) mod bounded;
pub(crate) mod compact;
pub(crate) mod glyph;
pub(crate) mod json;
pub(crate) mod lane;
pub(crate) mod lines;
pub(crate) mod mcp;
pub(crate) mod node;
pub(crate) mod sse;
