//! Streamable HTTP: the shells that carry bodies and events.
