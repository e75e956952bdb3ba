//! The `mcp-cassette` binary.
fn main() {}
