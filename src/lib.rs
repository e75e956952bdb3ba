//! mcp-cassette
