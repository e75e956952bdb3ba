//! What HTTP adds to a replay: requests with heads, sessions with ids, responses with a status and a
//! framing, and streams that a session has besides its answers.
//!
//! What is said and when is decided by the playlists, as over stdio; here it is decided who may
//! ask, on which stream an answer goes and how it is framed.

mod headers;
mod requests;
mod route;
mod rows;
mod stream;
mod streams;

#[cfg(feature = "http")]
pub(crate) use headers::headers_of;
pub(super) use route::{Said, To};
pub(super) use rows::Rows;
pub(super) use streams::{Key, Streams};

/// The head of a request, as far as it counts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RequestHead<'a> {
    /// `Mcp-Session-Id`.
    pub(crate) session: Option<&'a str>,
    /// `MCP-Protocol-Version`.
    pub(crate) version: Option<&'a str>,
    /// `Mcp-Method`.
    pub(crate) method: Option<&'a str>,
    /// `Mcp-Name`.
    pub(crate) name: Option<&'a str>,
    /// `Last-Event-ID`.
    pub(crate) last_event_id: Option<&'a str>,
    /// The client takes server-sent events.
    pub(crate) accepts_events: bool,
    /// The session that the URL names, as the transport of 2024-11-05 has it.
    pub(crate) in_url: Option<&'a str>,
}

/// The head of a response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ResponseHead {
    pub(crate) status: u16,
    pub(crate) content_type: Option<String>,
    /// `Mcp-Session-Id`.
    pub(crate) session: Option<String>,
    /// In seconds.
    pub(crate) retry_after: Option<u64>,
    /// The methods that there are, for a 405.
    pub(crate) allow: Option<&'static str>,
}

impl ResponseHead {
    pub(crate) fn of(status: u16) -> ResponseHead {
        ResponseHead {
            status,
            ..ResponseHead::default()
        }
    }

    fn json(status: u16) -> ResponseHead {
        ResponseHead {
            content_type: Some("application/json".to_owned()),
            ..ResponseHead::of(status)
        }
    }
}
