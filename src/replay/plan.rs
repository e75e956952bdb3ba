//! What a recording says when: made once from a cassette, never changed by a session.
//!
//! Every message that the server sent belongs to one playlist: that of the request which it
//! answers, reports progress on or followed, or that of the client's notification which it
//! followed. A session plays a playlist when the client says what begins it.

use super::arrange::Builder;
use super::http::Rows;
use crate::cassette::Cassette;
use crate::cassette::model::Row;
use crate::cassette::view::Exchanges;
use crate::wire::json::Span;
use std::collections::HashMap;

/// No message, exchange or playlist.
pub(super) const NONE: u32 = u32::MAX;

/// A recording, arranged for replay. Messages are named by their index in the cassette.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// Those of the client's requests come first and in order; then those of its notifications.
    pub(super) playlists: Vec<Playlist>,
    /// How many playlists are those of requests.
    pub(super) exchanges: u32,
    pub(super) sessions: Vec<Session>,
    /// The server's messages, playlist after playlist.
    pub(super) items: Vec<u32>,
    /// The client's recorded answers with the server's requests that they answer, ascending.
    pub(super) answers: Vec<(u32, u32)>,
    /// The same the other way round.
    pub(super) answered_at: HashMap<u32, u32>,
    /// The playlists of a session's notifications of one method, in order.
    pub(super) notifications: HashMap<(u32, String), Vec<Option<u32>>>,
    pub(super) era: Era,
    /// Some requests were of the modern era, whatever the others are.
    pub(super) has_modern: bool,
    /// Whether messages name requests as subscriptions.
    pub(super) has_subscriptions: bool,
    pub(super) rows: Rows,
    /// Recorded over the HTTP of 2024-11-05: all answers come on one GET, which names the place to
    /// post to.
    pub(super) endpoints: bool,
    /// The recorded sessions that a live `initialize` begins, in order.
    pub(super) greeted: Vec<u32>,
}

/// What one message of the client leads to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Playlist {
    /// The client's message.
    pub(super) begins: u32,
    /// The server's answer to it, or [`NONE`].
    pub(super) answer: u32,
    pub(super) session: u32,
    /// Where its messages are in `items`.
    pub(super) first: u32,
    pub(super) end: u32,
    /// The client took the request back.
    pub(super) cancelled: bool,
    /// The HTTP exchange that it came in, or [`NONE`].
    pub(super) http: u32,
    /// It is a `subscriptions/listen`.
    pub(super) listens: bool,
}

/// From one `initialize` to the next.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Session {
    /// The exchange of its `initialize`.
    pub(super) initialize: Option<u32>,
}

/// Which of the two shapes of the protocol was recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Era {
    /// With `initialize`.
    #[default]
    Legacy,
    /// With `_meta` on every request.
    Modern,
}

impl Plan {
    /// Arranges a cassette. `request` is called for each of the client's requests in order.
    pub(super) fn new(cassette: &Cassette, request: impl FnMut(Request<'_>)) -> Plan {
        let mut builder = Builder::new(cassette, request);
        for paired in Exchanges::new(cassette) {
            builder.take(&paired);
        }
        builder.finish()
    }

    /// The server's requests that the client answered between two messages.
    pub(super) fn answered_between(&self, after: u32, before: u32) -> &[(u32, u32)] {
        let from = self.answers.partition_point(|&(row, _)| row <= after);
        let to = self.answers.partition_point(|&(row, _)| row < before);
        self.answers.get(from..to).unwrap_or_default()
    }
}

/// A request of the recorded client.
pub(super) struct Request<'a> {
    pub(super) session: u32,
    pub(super) row: &'a Row,
    pub(super) method: &'a str,
    pub(super) params: Option<Span>,
    /// It was turned away, and asked again.
    pub(super) turned_away: bool,
}
