//! What the recorder wrote around the messages. None of it reaches a model, and all of
//! it may hold a secret.

use super::context::all;
use super::{Item, SHORTEST_KEY, Surface, Text, Walk, may_be_key};
use crate::cassette::Cassette;
use crate::wire::json::{Span, decode};

/// A value that the recorder wrote and that is part of no message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Around {
    /// The inside of the member name, or nothing if that is known to be harmless.
    name: Option<Span>,
    value: Span,
    stands_for: Option<&'static str>,
}

/// What stands in a cassette besides payloads: the head, what the recorder said of each
/// message, and members that no version of the format has.
pub(crate) fn around(cassette: &Cassette) -> impl Iterator<Item = Around> {
    let head = &cassette.head;
    let part = |value: Span| Around {
        name: None,
        value,
        stands_for: None,
    };
    let session = head.session_id.map(|value| Around {
        // An id of a session is as good as a token. The recorder puts a stand-in there.
        stands_for: Some("session_token"),
        ..part(value)
    });
    let known = [
        head.recorded_at,
        head.server_url,
        head.protocol_version,
        head.server_info,
        head.redaction,
        head.http_exchanges,
    ];
    let rows = cassette.rows.iter().flat_map(|row| [row.method, row.id]);
    // These are many and short.
    let rows = rows.map(|span| span.filter(|span| span.len() > SHORTEST_KEY));
    let extras = cassette.extras.iter().map(move |extra| Around {
        name: Some(Span {
            start: extra.name.start + 1,
            end: extra.name.end - 1,
        }),
        ..part(extra.value)
    });
    let known = known.into_iter().chain(rows).flatten().map(part);
    session.into_iter().chain(known).chain(extras)
}

/// Walks a value that is part of no message.
pub(crate) fn walk_around<'a>(text: &'a str, part: Around, visit: &mut dyn FnMut(Item<'a>)) {
    if let Some(span) = part.name {
        let value = decode(span.of(text));
        if may_be_key(&value) {
            visit(Item::Text(Text {
                surface: Surface::Other,
                value,
                span,
                key: None,
                stands_for: None,
                is_name: true,
            }));
        }
    }
    let walk = Walk {
        text,
        frames: Vec::new(),
        definition: None,
        recorder: true,
        key: part.name,
        stands_for: part.stands_for,
        visit,
    };
    walk.run(part.value, all(Surface::Other, false));
}
