//! A small MCP server over stdio.
fn main() {}
