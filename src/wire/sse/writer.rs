//! Writes server-sent events.

/// One event, as far as it is more than data.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Event<'a> {
    /// Its name; without one it is a `message`.
    pub(crate) name: Option<&'a str>,
    pub(crate) id: Option<&'a str>,
    /// How long a client is to wait before it connects again, in milliseconds.
    pub(crate) retry_ms: Option<u64>,
}

/// A line that no reader takes for an event; it shows that the stream is alive.
pub(crate) const KEEP_ALIVE: &[u8] = b": keep-alive\n\n";

/// Appends an event. A name or id that is no line cannot be said, and is left out; data of several
/// lines stays that.
pub(crate) fn write(event: Event<'_>, data: &[u8], out: &mut Vec<u8>) {
    begin(event, data, out);
    out.extend_from_slice(b"\n\n");
}

/// Appends an event that does not end, as a stream that is cut leaves one.
pub(crate) fn begin(event: Event<'_>, data: &[u8], out: &mut Vec<u8>) {
    field("event", event.name.unwrap_or("message"), out);
    if let Some(id) = event.id {
        field("id", id, out);
    }
    if let Some(retry) = event.retry_ms {
        field("retry", &retry.to_string(), out);
    }
    let mut rest = data;
    out.extend_from_slice(b"data: ");
    while let Some(at) = memchr::memchr2(b'\n', b'\r', rest) {
        let (line, end) = rest.split_at(at);
        out.extend_from_slice(line);
        out.extend_from_slice(b"\ndata: ");
        let length = if end.starts_with(b"\r\n") { 2 } else { 1 };
        rest = end.get(length..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
}

fn field(name: &str, value: &str, out: &mut Vec<u8>) {
    if value.contains(['\n', '\r', '\0']) {
        return;
    }
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
    out.extend_from_slice(value.as_bytes());
    out.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(event: Event<'_>, data: &str) -> String {
        let mut out = Vec::new();
        write(event, data.as_bytes(), &mut out);
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn an_event_has_its_name_id_time_and_data() {
        assert_eq!(
            written(Event::default(), "{}"),
            "event: message\ndata: {}\n\n"
        );
        let event = Event {
            name: Some("endpoint"),
            id: Some("7_a"),
            retry_ms: Some(500),
        };
        assert_eq!(
            written(event, ""),
            "event: endpoint\nid: 7_a\nretry: 500\ndata: \n\n"
        );
    }

    #[test]
    fn nothing_in_an_event_can_begin_another_one() {
        let event = Event {
            name: Some("a\n\ndata: b"),
            id: Some("1\r2"),
            retry_ms: None,
        };
        assert_eq!(
            written(event, "a\nb\r\n\r\nc\rd"),
            "data: a\ndata: b\ndata: \ndata: c\ndata: d\n\n"
        );
    }
}
