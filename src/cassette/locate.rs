//! Places in a cassette's text: byte offset to line and column, byte offset to
//! JSON pointer, and JSON pointer to byte range.

use crate::finding::Position;
use crate::secrets::conceal;
use crate::wire::json::{Kind, Scanner, Span, decode};
use std::fmt::Write as _;

/// The positions of ascending byte offsets, found in one pass over the text.
pub(crate) fn positions(text: &str, offsets: &[usize]) -> Vec<Position> {
    let bytes = text.as_bytes();
    let (mut line, mut line_start, mut counted) = (1_u32, 0, 0);
    let mut column_from = (0, 1_u32);
    let mut found = Vec::with_capacity(offsets.len());
    for &offset in offsets {
        let offset = offset.min(bytes.len());
        let stretch = bytes.get(counted..offset).unwrap_or_default();
        if let Some(last) = memchr::memrchr(b'\n', stretch) {
            let feeds = memchr::memchr_iter(b'\n', stretch).count();
            line = line.saturating_add(u32::try_from(feeds).unwrap_or(u32::MAX));
            line_start = counted + last + 1;
            column_from = (line_start, 1);
        } else if counted == 0 && text.starts_with('\u{feff}') {
            column_from = ('\u{feff}'.len_utf8(), 1);
        }
        counted = counted.max(offset);
        let start = column_from.0.max(line_start);
        let chars = count_chars(bytes.get(start..offset).unwrap_or_default());
        let column = column_from.1.saturating_add(chars);
        column_from = (start.max(offset), column);
        found.push(Position { line, column });
    }
    found
}

/// The position of one byte offset.
pub(crate) fn position(text: &str, offset: usize) -> Position {
    positions(text, &[offset])
        .first()
        .copied()
        .unwrap_or_default()
}

fn count_chars(bytes: &[u8]) -> u32 {
    let count = bytes.iter().filter(|byte| (**byte & 0xc0) != 0x80).count();
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The longest pointer, in characters, that is given whole.
const LONGEST_POINTER: usize = 4_000;

/// One step of a JSON pointer.
#[derive(Clone, Debug)]
enum Step {
    Member {
        name: Span,
        /// As it is shown, once somebody asked for it.
        shown: Option<String>,
    },
    Item(usize),
}

/// The JSON pointers (RFC 6901) of ascending byte offsets inside the value at `root`.
///
/// An offset in a member's name gives the pointer of the member, one between two
/// values that of the container around it. `prefix` is put in front. These are for
/// people: a step that is or holds a secret is cut, and so is one that is too long, so
/// that such a pointer leads nowhere.
pub(crate) fn pointers(text: &str, root: Span, prefix: &str, offsets: &[usize]) -> Vec<String> {
    let mut walk = Walk {
        text,
        prefix,
        steps: Vec::new(),
        in_array: Vec::new(),
    };
    let mut wanted = offsets.iter().copied().peekable();
    let mut found = Vec::with_capacity(offsets.len());
    let mut scanner = Scanner::over(text, root);
    while wanted.peek().is_some() {
        let Ok(Some(token)) = scanner.next_token() else {
            break;
        };
        while wanted
            .next_if(|&at| at < token.span.start as usize)
            .is_some()
        {
            found.push(walk.around());
        }
        walk.enter(token.kind, token.inner());
        while wanted.next_if(|&at| at < token.span.end as usize).is_some() {
            found.push(walk.here());
        }
        walk.leave(token.kind);
    }
    found.extend(wanted.map(|_| prefix.to_owned()));
    found
}

struct Walk<'a> {
    text: &'a str,
    prefix: &'a str,
    /// One step for each open container: what it is looking at now.
    steps: Vec<Step>,
    in_array: Vec<bool>,
}

impl Walk<'_> {
    fn enter(&mut self, kind: Kind, inner: Span) {
        match kind {
            Kind::Key => {
                if let Some(step) = self.steps.last_mut() {
                    *step = Step::Member {
                        name: inner,
                        shown: None,
                    };
                }
            }
            Kind::EndObject | Kind::EndArray => {
                self.steps.pop();
                self.in_array.pop();
            }
            _ => {
                if let (Some(true), Some(Step::Item(next))) =
                    (self.in_array.last(), self.steps.last_mut())
                {
                    *next = next.wrapping_add(1);
                }
            }
        }
    }

    fn leave(&mut self, kind: Kind) {
        match kind {
            // `enter` adds one before each element, so the first becomes 0.
            Kind::BeginArray => {
                self.steps.push(Step::Item(usize::MAX));
                self.in_array.push(true);
            }
            Kind::BeginObject => {
                self.steps.push(Step::Item(usize::MAX));
                self.in_array.push(false);
            }
            _ => {}
        }
    }

    fn here(&mut self) -> String {
        self.render(self.steps.len())
    }

    fn around(&mut self) -> String {
        self.render(self.steps.len().saturating_sub(1))
    }

    /// The pointer of the outermost `depth` steps.
    fn render(&mut self, depth: usize) -> String {
        let text = self.text;
        let mut pointer = self.prefix.to_owned();
        for step in self.steps.iter_mut().take(depth) {
            match step {
                Step::Member { name, shown } => {
                    pointer.push_str(shown.get_or_insert_with(|| shown_step(name.of(text))));
                }
                Step::Item(usize::MAX) => {}
                Step::Item(index) => {
                    let _ = write!(pointer, "/{index}");
                }
            }
        }
        conceal::clipped(&pointer, LONGEST_POINTER).unwrap_or(pointer)
    }
}

/// The step of a member as it is shown, with the slash before it.
fn shown_step(name: &str) -> String {
    let name = decode(name);
    let mut step = String::from("/");
    for c in conceal::name(&name).chars() {
        match c {
            '~' => step.push_str("~0"),
            '/' => step.push_str("~1"),
            c => step.push(c),
        }
    }
    step
}

/// The value that a JSON pointer names, as a byte range. Where repeated members
/// make it ambiguous, the last value that it can lead to.
pub(crate) fn locate(text: &str, pointer: &str) -> Option<Span> {
    let root = Scanner::over(text, whole(text)).value().ok()?.span;
    let mut places = vec![root];
    if !pointer.is_empty() {
        for step in pointer.strip_prefix('/')?.split('/') {
            let name = step.replace("~1", "/").replace("~0", "~");
            places = places
                .into_iter()
                .flat_map(|place| children(text, place, &name))
                .collect();
        }
    }
    places.pop()
}

/// The members of that name, or the element of that index.
fn children(text: &str, place: Span, name: &str) -> Vec<Span> {
    let mut scanner = Scanner::over(text, place);
    let mut found = Vec::new();
    match scanner.require() {
        Ok(token) if token.kind == Kind::BeginObject => {
            while let Ok(Some(key)) = scanner.next_key() {
                let Ok(value) = scanner.value() else { break };
                if decode(key.inner().of(text)) == name {
                    found.push(value.span);
                }
            }
        }
        Ok(token) if token.kind == Kind::BeginArray => {
            let Ok(index) = name.parse::<usize>() else {
                return found;
            };
            let mut at = 0;
            while let Ok(Some(value)) = scanner.next_item() {
                if at == index {
                    found.push(value.span);
                    break;
                }
                at += 1;
            }
        }
        _ => {}
    }
    found
}

/// The text without a byte order mark.
pub(crate) fn whole(text: &str) -> Span {
    let start = if text.starts_with('\u{feff}') {
        '\u{feff}'.len_utf8()
    } else {
        0
    };
    Span::new(start, text.len())
}
