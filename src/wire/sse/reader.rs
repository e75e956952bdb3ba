//! Bytes of a stream as server-sent events, as the HTML standard says how to read them.
//!
//! A line ends with LF, CR or both; an event ends with an empty line, and one that does not is
//! none. Framing is the same whether the stream comes whole or byte by byte, and memory is
//! bounded whatever comes.

use crate::wire::bounded::Bounded;
use crate::wire::lines::Line;

/// The longest name of a field that means something.
const LONGEST_NAME: usize = 5;
/// Names, ids and times of events that are longer are as if they were not there, in bytes.
const LONGEST_VALUE: usize = 4096;
const BOM: &[u8] = b"\xef\xbb\xbf";

/// One event, which has at least one of these.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Event<'a> {
    /// Its name; without one it is a `message`.
    pub(crate) name: Option<&'a str>,
    pub(crate) id: Option<&'a str>,
    /// How long a client is to wait before it connects again, in milliseconds.
    pub(crate) retry_ms: Option<u64>,
    /// The lines of its data, joined; empty if there are none.
    pub(crate) data: Line<'a>,
}

/// Reads one stream.
#[derive(Debug)]
pub(crate) struct Reader {
    line: LineState,
    /// The name of the field that is read.
    field: Vec<u8>,
    /// Its value, if it is not data.
    value: Vec<u8>,
    data: Bounded,
    has_data: bool,
    name: Option<String>,
    id: Option<String>,
    retry_ms: Option<u64>,
    /// Whether a line feed belongs to the carriage return before it.
    after_return: bool,
    /// How much of a byte order mark came at the start; `None` when that is over.
    bom: Option<usize>,
}

/// Where in its line the reader is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineState {
    Name,
    /// Behind the colon, where one space does not count.
    Colon,
    Data,
    Value,
    Ignored,
}

impl Reader {
    /// Data of up to `longest` bytes is kept whole.
    pub(crate) fn new(longest: usize) -> Reader {
        Reader {
            line: LineState::Name,
            field: Vec::new(),
            value: Vec::new(),
            data: Bounded::new(longest),
            has_data: false,
            name: None,
            id: None,
            retry_ms: None,
            after_return: false,
            bom: Some(0),
        }
    }

    /// How many bytes are kept of an event that has not ended.
    pub(crate) fn held(&self) -> usize {
        self.data.held()
    }

    /// Keeps nothing more of that event.
    pub(crate) fn let_go(&mut self) {
        self.data.let_go();
    }

    /// Takes the next bytes of the stream and gives `event` each event that ends in them.
    pub(crate) fn push(&mut self, bytes: &[u8], mut event: impl FnMut(&Event<'_>)) {
        let mut rest = self.without_bom(bytes);
        while !rest.is_empty() {
            if std::mem::take(&mut self.after_return) && rest.first() == Some(&b'\n') {
                rest = rest.get(1..).unwrap_or_default();
                continue;
            }
            let end = memchr::memchr2(b'\n', b'\r', rest);
            let (part, after) = rest.split_at(end.unwrap_or(rest.len()));
            self.part(part);
            rest = after;
            if let Some((first, behind)) = after.split_first() {
                self.after_return = *first == b'\r';
                rest = behind;
                self.end_line(&mut event);
            }
        }
    }

    /// The bytes without what belongs to a byte order mark at the start of the stream.
    fn without_bom<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let Some(mut seen) = self.bom else {
            return bytes;
        };
        let mut rest = bytes;
        while let Some((first, behind)) = rest.split_first() {
            if BOM.get(seen) == Some(first) {
                seen += 1;
                rest = behind;
            } else {
                // What looked like one was the beginning of a name that means nothing.
                if seen < BOM.len() {
                    self.part(BOM.get(..seen).unwrap_or_default());
                }
                self.bom = None;
                return rest;
            }
            if seen == BOM.len() {
                self.bom = None;
                return rest;
            }
        }
        self.bom = Some(seen);
        rest
    }

    /// Takes bytes of a line that are not its end.
    fn part(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while !rest.is_empty() {
            match self.line {
                LineState::Name => {
                    let colon = memchr::memchr(b':', rest);
                    let (name, after) = rest.split_at(colon.unwrap_or(rest.len()));
                    let room = (LONGEST_NAME + 1).saturating_sub(self.field.len());
                    self.field.extend(name.iter().take(room));
                    if colon.is_some() {
                        self.line = LineState::Colon;
                    }
                    rest = after.get(1..).unwrap_or_default();
                }
                LineState::Colon => {
                    self.line = match self.field.as_slice() {
                        b"data" => LineState::Data,
                        b"event" | b"id" | b"retry" => LineState::Value,
                        _ => LineState::Ignored,
                    };
                    if self.line == LineState::Data {
                        self.begin_data();
                    }
                    rest = rest.strip_prefix(b" ").unwrap_or(rest);
                }
                LineState::Data => {
                    self.data.push(rest);
                    return;
                }
                LineState::Value => {
                    let room = (LONGEST_VALUE + 1).saturating_sub(self.value.len());
                    self.value.extend(rest.iter().take(room));
                    return;
                }
                LineState::Ignored => return,
            }
        }
    }

    /// One more line of data: those before it end in a line feed.
    fn begin_data(&mut self) {
        if std::mem::replace(&mut self.has_data, true) {
            self.data.push(b"\n");
        }
    }

    fn end_line(&mut self, event: &mut impl FnMut(&Event<'_>)) {
        let line = std::mem::replace(&mut self.line, LineState::Name);
        let field = std::mem::take(&mut self.field);
        let value = std::mem::take(&mut self.value);
        if line == LineState::Name && field.is_empty() {
            return self.dispatch(event);
        }
        match (field.as_slice(), line) {
            // A name without a colon has an empty value.
            (b"data", LineState::Name | LineState::Colon) => self.begin_data(),
            (b"data", _) => {}
            _ if value.len() > LONGEST_VALUE => {}
            (b"event", _) => self.name = text(&value).filter(|name| !name.is_empty()),
            (b"id", _) => self.id = text(&value).filter(|id| !id.contains('\0')),
            (b"retry", _) => {
                let digits = text(&value)
                    .filter(|time| !time.is_empty() && time.bytes().all(|b| b.is_ascii_digit()));
                if let Some(time) = digits.and_then(|digits| digits.parse().ok()) {
                    self.retry_ms = Some(time);
                }
            }
            _ => {}
        }
    }

    fn dispatch(&mut self, event: &mut impl FnMut(&Event<'_>)) {
        let (name, id, retry_ms) = (self.name.take(), self.id.take(), self.retry_ms.take());
        let has_data = std::mem::take(&mut self.has_data);
        if !has_data && name.is_none() && id.is_none() && retry_ms.is_none() {
            return;
        }
        self.data.take(|data| {
            event(&Event {
                name: name.as_deref(),
                id: id.as_deref(),
                retry_ms,
                data,
            });
        });
    }
}

/// The text of a value; bytes that are not UTF-8 are what decoders make of them.
fn text(bytes: &[u8]) -> Option<String> {
    Some(String::from_utf8_lossy(bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Each event as text, with the stream in pieces of `size` bytes.
    fn read(stream: &[u8], size: usize) -> Vec<String> {
        let mut reader = Reader::new(20);
        let mut events = Vec::new();
        for piece in stream.chunks(size.max(1)) {
            reader.push(piece, |event| {
                let data = match event.data {
                    Line::Whole(data) => String::from_utf8_lossy(data).into_owned(),
                    Line::TooLong { length, .. } => format!("{length} bytes"),
                };
                let Event {
                    name, id, retry_ms, ..
                } = event;
                let part = |name: &str, value: &dyn std::fmt::Debug| format!("{name}={value:?} ");
                let mut told = String::new();
                told.extend(name.map(|name| part("event", &name)));
                told.extend(id.map(|id| part("id", &id)));
                told.extend(retry_ms.map(|time| part("retry", &time)));
                events.push(told + &data);
            });
        }
        events
    }

    #[test]
    fn a_stream_is_read_as_the_standard_says() {
        for (stream, expected) in [
            ("data: {}\n\n", &["{}"][..]),
            ("data:{}\r\rdata:  a\r\n\r\n", &["{}", " a"]),
            ("data: a\ndata:\ndata\ndata: b\n\n", &["a\n\n\nb"]),
            (": ping\n\n", &[]),
            ("id: 7\ndata: \n\n", &["id=\"7\" "]),
            ("retry: 500\n\n", &["retry=500 "]),
            (
                "event: endpoint\ndata: /m?s=1\n\n",
                &["event=\"endpoint\" /m?s=1"],
            ),
            ("event:\ndata: a\n\n", &["a"]),
            ("id\ndata: a\n\n", &["id=\"\" a"]),
            ("id: a\0b\nretry: 1s\ndata: a\n\n", &["a"]),
            ("retry: 99999999999999999999\ndata: a\n\n", &["a"]),
            ("\u{feff}data: a\n\n", &["a"]),
            ("data: \u{feff}a\n\n", &["\u{feff}a"]),
            ("\u{feff}\u{feff}data: a\n\n", &[]),
            ("DATA: a\ndatas: b\nda ta: c\n\n", &[]),
            ("data: a\ndata: cut off", &[]),
            ("data: a\n", &[]),
            ("data: 12345678901234567890\n\n", &["12345678901234567890"]),
            ("data: 123456789012345678901\n\n", &["21 bytes"]),
            (
                "data: 1234567890\ndata: 123456789\n\n",
                &["1234567890\n123456789"],
            ),
            ("data: 1234567890\ndata: 1234567890\n\n", &["21 bytes"]),
            ("\n\r\n\rdata: a\n\n", &["a"]),
        ] {
            for size in [1, 2, 3, 7, stream.len()] {
                assert_eq!(
                    read(stream.as_bytes(), size),
                    expected,
                    "{stream:?} by {size}"
                );
            }
        }
    }

    #[test]
    fn a_line_that_does_not_end_takes_no_memory() {
        let mut reader = Reader::new(10);
        for name in ["data: ", "id: ", "", ": "] {
            reader.push(name.as_bytes(), |_| {});
            for _ in 0..100 {
                reader.push(&[b'x'; 10_000], |_| {});
            }
            let held = reader.field.capacity() + reader.value.capacity();
            assert!(held < 20_000, "{name}: {held}");
            reader.push(b"\n", |_| {});
        }
        let mut seen = Vec::new();
        reader.push(b"\n", |event| seen.push(event.id.map(str::to_owned)));
        assert_eq!(seen, [None], "an id of a million bytes is none");
    }

    proptest! {
        #[test]
        fn framing_is_the_same_whole_or_in_pieces(
            pieces in proptest::collection::vec(prop_oneof![
                Just("data"), Just("data:"), Just("id: 1"), Just("event: x"), Just("retry: 5"),
                Just("\n"), Just("\r"), Just("\r\n"), Just(" "), Just(":"), Just("é"), Just("\u{feff}"),
                Just("a longer text than is kept"),
            ], 0..30),
            size in 1_usize..9,
        ) {
            let stream = pieces.concat();
            prop_assert_eq!(read(stream.as_bytes(), size), read(stream.as_bytes(), stream.len()));
        }
    }
}
