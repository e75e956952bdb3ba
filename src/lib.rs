//! mcp-cassette

mod lint;
