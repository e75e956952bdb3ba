//! An iterative pull tokenizer for JSON (RFC 8259) whose tokens are byte ranges.
//!
//! Recorded payloads must come back token for token, so nothing is parsed into
//! numbers or maps here: a token is a [`Span`] of the input and the text between
//! its ends. The nesting stack is one byte a level and there is no recursion, so
//! depth is bounded by memory alone. The grammar is RFC 8259's, with one liberty:
//! a `\uXXXX` escape may be half of a surrogate pair, because real servers that
//! cut a string send such escapes.

use crate::blocks::{self, Bytes, are, within};
use std::borrow::Cow;
use std::fmt;

/// A byte range of an input: `start` is inclusive, `end` exclusive.
///
/// Offsets are 32 bits wide, which keeps a recorded message small in memory; an
/// input of 4 GiB or more is refused by [`Scanner::new`]'s callers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Span {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

/// The largest input, in bytes, whose offsets fit a [`Span`].
pub(crate) const MAX_INPUT: usize = u32::MAX as usize;

impl Span {
    pub(crate) fn new(start: usize, end: usize) -> Self {
        Span {
            start: offset(start),
            end: offset(end),
        }
    }

    pub(crate) fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }

    pub(crate) fn len(self) -> usize {
        self.end.saturating_sub(self.start) as usize
    }

    /// The text under this span; empty if the span does not fit `text`.
    pub(crate) fn of(self, text: &str) -> &str {
        text.get(self.range()).unwrap_or_default()
    }
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    BeginObject,
    EndObject,
    BeginArray,
    EndArray,
    /// A member name; the colon after it is consumed too.
    Key,
    String,
    Number,
    True,
    False,
    Null,
}

/// One token. The span of a key or string covers its quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) span: Span,
    /// Whether a key or string holds a backslash.
    pub(crate) escaped: bool,
}

impl Token {
    /// The inside of a key or string, without its quotes.
    pub(crate) fn inner(self) -> Span {
        Span {
            start: self.span.start + 1,
            end: self.span.end.saturating_sub(1),
        }
    }
}

/// A whole value, skipped over: where it stands and how it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Value {
    pub(crate) kind: Kind,
    pub(crate) span: Span,
    pub(crate) escaped: bool,
}

/// Why an input is not JSON, and the byte offset at which that shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub(crate) struct SyntaxError {
    pub(crate) at: usize,
    pub(crate) problem: Problem,
}

/// The ways in which an input is not JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    /// The input ends inside a value.
    End,
    Unexpected {
        found: char,
        wanted: &'static str,
    },
    ControlInString(u8),
    BadEscape,
    BadNumber,
    Trailing(char),
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::End => f.write_str("the text ends inside a JSON value"),
            Problem::Unexpected { found, wanted } => {
                write!(f, "found {} where {wanted} should be", shown(*found))
            }
            Problem::ControlInString(byte) => {
                write!(f, "a string holds the raw control character U+{byte:04X}")
            }
            Problem::BadEscape => f.write_str("a string holds an escape that JSON does not know"),
            Problem::BadNumber => f.write_str("this is not a JSON number"),
            Problem::Trailing(found) => {
                write!(f, "found {} after the end of the JSON value", shown(*found))
            }
        }
    }
}

fn shown(c: char) -> String {
    if c.is_ascii_graphic() {
        format!("`{c}`")
    } else {
        format!("U+{:04X}", u32::from(c))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Value,
    FirstKey,
    Key,
    FirstItem,
    AfterValue,
    Done,
}

/// The tokenizer. It yields tokens until the one value in its range has ended.
pub(crate) struct Scanner<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    /// One byte a level: `{` or `[`.
    stack: Vec<u8>,
    state: State,
}

impl<'a> Scanner<'a> {
    /// Tokens of the whole of `text`, which must be shorter than [`MAX_INPUT`].
    pub(crate) fn new(text: &'a str) -> Self {
        Scanner::over(text, Span::new(0, text.len()))
    }

    /// Tokens of the value in `span` of `text`; their spans count from the start of `text`.
    pub(crate) fn over(text: &'a str, span: Span) -> Self {
        let range = span.range();
        let end = range.end.min(text.len());
        Scanner {
            text,
            bytes: &text.as_bytes()[..end],
            at: range.start.min(end),
            stack: Vec::new(),
            state: State::Value,
        }
    }

    /// How many containers are open.
    pub(crate) fn depth(&self) -> usize {
        self.stack.len()
    }

    /// The next token, or `None` once the value and the white space after it have ended.
    pub(crate) fn next_token(&mut self) -> Result<Option<Token>, SyntaxError> {
        self.skip_space();
        match self.state {
            State::Value => self.value_token().map(Some),
            State::FirstKey if self.peek() == Some(b'}') => Ok(Some(self.close())),
            State::FirstItem if self.peek() == Some(b']') => Ok(Some(self.close())),
            State::FirstKey | State::Key => self.key().map(Some),
            State::FirstItem => self.value_token().map(Some),
            State::AfterValue => self.after_value(),
            State::Done => match self.peek() {
                None => Ok(None),
                Some(_) => Err(self.error(Problem::Trailing(self.char_here()))),
            },
        }
    }

    /// Skips one whole value, which must be what comes next.
    pub(crate) fn value(&mut self) -> Result<Value, SyntaxError> {
        let first = self.require()?;
        let mut end = first.span.end;
        if matches!(first.kind, Kind::BeginObject | Kind::BeginArray) {
            let floor = self.depth();
            while self.depth() >= floor {
                end = self.require()?.span.end;
            }
        }
        Ok(Value {
            kind: first.kind,
            span: Span {
                start: first.span.start,
                end,
            },
            escaped: first.escaped,
        })
    }

    /// The next member of the object that is open: its key, with the value still to come.
    /// `None` at the end of the object.
    pub(crate) fn next_key(&mut self) -> Result<Option<Token>, SyntaxError> {
        let token = self.require()?;
        Ok((token.kind == Kind::Key).then_some(token))
    }

    /// The next whole element of the array that is open, `None` at its end.
    pub(crate) fn next_item(&mut self) -> Result<Option<Value>, SyntaxError> {
        self.skip_space();
        if self.state == State::AfterValue && self.peek() == Some(b',') {
            self.at += 1;
            self.state = State::Value;
        } else if self.peek() == Some(b']') && self.state != State::Value {
            self.require()?;
            return Ok(None);
        } else if self.state == State::AfterValue {
            return Err(self.unexpected("`,` or `]`"));
        }
        self.value().map(Some)
    }

    /// The next token where there must be one.
    pub(crate) fn require(&mut self) -> Result<Token, SyntaxError> {
        match self.next_token()? {
            Some(token) => Ok(token),
            None => Err(self.error(Problem::End)),
        }
    }

    /// Checks that nothing but white space follows the value.
    pub(crate) fn finish(&mut self) -> Result<(), SyntaxError> {
        self.next_token().map(|_| ())
    }

    fn after_value(&mut self) -> Result<Option<Token>, SyntaxError> {
        let in_object = self.stack.last() == Some(&b'{');
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                self.state = if in_object { State::Key } else { State::Value };
                self.next_token()
            }
            Some(b'}') if in_object => Ok(Some(self.close())),
            Some(b']') if !in_object => Ok(Some(self.close())),
            _ => Err(self.unexpected(if in_object {
                "`,` or `}`"
            } else {
                "`,` or `]`"
            })),
        }
    }

    fn close(&mut self) -> Token {
        let kind = match self.stack.pop() {
            Some(b'{') => Kind::EndObject,
            _ => Kind::EndArray,
        };
        let start = self.at;
        self.at += 1;
        self.ended();
        self.token(kind, start)
    }

    fn ended(&mut self) {
        self.state = if self.stack.is_empty() {
            State::Done
        } else {
            State::AfterValue
        };
    }

    fn key(&mut self) -> Result<Token, SyntaxError> {
        if self.peek() != Some(b'"') {
            return Err(self.unexpected("a member name"));
        }
        let start = self.at;
        let escaped = self.string()?;
        let token = Token {
            kind: Kind::Key,
            span: Span::new(start, self.at),
            escaped,
        };
        self.skip_space();
        if self.peek() != Some(b':') {
            return Err(self.unexpected("`:`"));
        }
        self.at += 1;
        self.state = State::Value;
        Ok(token)
    }

    fn value_token(&mut self) -> Result<Token, SyntaxError> {
        let start = self.at;
        match self.peek() {
            Some(b'"') => {
                let escaped = self.string()?;
                self.ended();
                Ok(Token {
                    kind: Kind::String,
                    span: Span::new(start, self.at),
                    escaped,
                })
            }
            Some(open @ (b'{' | b'[')) => {
                self.stack.push(open);
                self.at += 1;
                self.state = if open == b'{' {
                    State::FirstKey
                } else {
                    State::FirstItem
                };
                let kind = if open == b'{' {
                    Kind::BeginObject
                } else {
                    Kind::BeginArray
                };
                Ok(self.token(kind, start))
            }
            Some(b'-' | b'0'..=b'9') => {
                self.number()?;
                self.ended();
                Ok(self.token(Kind::Number, start))
            }
            Some(b't') => self.literal("true", Kind::True),
            Some(b'f') => self.literal("false", Kind::False),
            Some(b'n') => self.literal("null", Kind::Null),
            _ => Err(self.unexpected("a value")),
        }
    }

    fn literal(&mut self, word: &'static str, kind: Kind) -> Result<Token, SyntaxError> {
        let start = self.at;
        for (i, byte) in word.bytes().enumerate() {
            self.at = start + i;
            if self.peek() != Some(byte) {
                return Err(self.unexpected(word));
            }
        }
        self.at = start + word.len();
        self.ended();
        Ok(self.token(kind, start))
    }

    /// Consumes a string, quotes included, and tells whether it holds an escape.
    fn string(&mut self) -> Result<bool, SyntaxError> {
        /// After so many blocks without a mark, a search in larger steps is faster.
        const PLAIN: usize = 4;
        self.at += 1;
        let mut escaped = false;
        // Most strings are short.
        if self.block_of_string::<SHORT>(&mut escaped)? {
            return Ok(escaped);
        }
        let mut plain = 0;
        loop {
            let at = self.at;
            if self.block_of_string::<LONG>(&mut escaped)? {
                return Ok(escaped);
            }
            plain = if self.at == at + LONG { plain + 1 } else { 0 };
            if plain >= PLAIN {
                self.at = string_stop(self.bytes, self.at);
            }
        }
    }

    /// Goes on in a string to the end of a block, or of an escape that begins in it; tells
    /// whether the string ended.
    #[inline]
    fn block_of_string<const N: usize>(&mut self, escaped: &mut bool) -> Result<bool, SyntaxError> {
        let from = self.at;
        let rest = self.bytes.get(from..).unwrap_or_default();
        let padded;
        let (block, length) = match rest.first_chunk::<N>() {
            Some(block) => (block, N),
            None => {
                padded = with_stops::<N>(rest);
                (&padded, rest.len())
            }
        };
        let mut stops = blocks::bits(block, stop_string);
        while stops != 0 {
            self.at = from + stops.trailing_zeros() as usize;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(true);
                }
                Some(b'\\') => {
                    *escaped = true;
                    self.escape()?;
                }
                Some(byte) => return Err(self.error(Problem::ControlInString(byte))),
                None => return Err(self.error(Problem::End)),
            }
            // What the escape took is done with.
            let taken = u32::try_from(self.at - from).unwrap_or(u64::BITS);
            stops &= u64::MAX.checked_shl(taken).unwrap_or(0);
        }
        self.at = self.at.max(from + length);
        Ok(false)
    }

    fn escape(&mut self) -> Result<(), SyntaxError> {
        let start = self.at;
        let digits = match self.bytes.get(start + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 0,
            Some(b'u') => 4,
            Some(_) => return Err(self.error(Problem::BadEscape)),
            None => return Err(self.end()),
        };
        for i in 0..digits {
            match self.bytes.get(start + 2 + i) {
                Some(byte) if byte.is_ascii_hexdigit() => {}
                Some(_) => return Err(self.error(Problem::BadEscape)),
                None => return Err(self.end()),
            }
        }
        self.at = start + 2 + digits;
        Ok(())
    }

    fn number(&mut self) -> Result<(), SyntaxError> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            _ => self.digits()?,
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        match self.peek() {
            Some(b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-') => {
                Err(self.error(Problem::BadNumber))
            }
            _ => Ok(()),
        }
    }

    fn digits(&mut self) -> Result<(), SyntaxError> {
        match self.peek() {
            Some(byte) if byte.is_ascii_digit() => {}
            Some(_) => return Err(self.error(Problem::BadNumber)),
            None => return Err(self.end()),
        }
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        Ok(())
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.bytes.get(self.at) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn token(&self, kind: Kind, start: usize) -> Token {
        Token {
            kind,
            span: Span::new(start, self.at),
            escaped: false,
        }
    }

    fn unexpected(&self, wanted: &'static str) -> SyntaxError {
        if self.at >= self.bytes.len() {
            return self.end();
        }
        self.error(Problem::Unexpected {
            found: self.char_here(),
            wanted,
        })
    }

    fn char_here(&self) -> char {
        self.text
            .get(self.at..)
            .and_then(|rest| rest.chars().next())
            .unwrap_or('\u{fffd}')
    }

    fn end(&self) -> SyntaxError {
        SyntaxError {
            at: self.bytes.len(),
            problem: Problem::End,
        }
    }

    fn error(&self, problem: Problem) -> SyntaxError {
        SyntaxError {
            at: self.at,
            problem,
        }
    }
}

/// How many bytes of a string are looked at together: at first, and later on.
const SHORT: usize = 32;
const LONG: usize = 64;

/// Which bytes of a string end it, begin an escape, or cannot stand there.
#[inline]
fn stop_string(bytes: Bytes) -> Bytes {
    are(bytes, b'"') | are(bytes, b'\\') | within(bytes, 0, 0x1f)
}

/// The last bytes of a text as a block. What follows them stops a string.
fn with_stops<const N: usize>(rest: &[u8]) -> [u8; N] {
    let mut block = [0; N];
    block
        .iter_mut()
        .zip(rest)
        .for_each(|(to, from)| *to = *from);
    block
}

/// The first quote, backslash or control byte at or after `at`, or the end.
fn string_stop(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let mark = memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
    let plain = rest.get(..mark).unwrap_or_default();
    let least = plain.iter().fold(u8::MAX, |least, byte| least.min(*byte));
    let control = (least < 0x20).then(|| plain.iter().position(|byte| *byte < 0x20));
    at + control.flatten().unwrap_or(mark)
}

/// A stretch of a string literal after unescaping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// Literal text, as it stands.
    Text(&'a str),
    /// One escape and the character it means.
    Char(char),
    /// A `\uXXXX` escape that is half of a surrogate pair and has no other half.
    Surrogate(u16),
}

/// Unescapes the inside of a string literal, calling `piece` with each stretch and
/// the number of bytes that it takes up in `raw`. What the tokenizer accepts cannot fail.
pub(crate) fn unescape<'a>(raw: &'a str, mut piece: impl FnMut(Piece<'a>, usize)) {
    let mut rest = raw;
    while let Some(slash) = memchr::memchr(b'\\', rest.as_bytes()) {
        let (plain, escape) = rest.split_at(slash);
        if !plain.is_empty() {
            piece(Piece::Text(plain), plain.len());
        }
        let (what, used) = unescape_one(escape);
        piece(what, used);
        rest = escape.get(used..).unwrap_or_default();
    }
    if !rest.is_empty() {
        piece(Piece::Text(rest), rest.len());
    }
}

/// The escape at the start of `escape`, and its length in bytes.
fn unescape_one(escape: &str) -> (Piece<'_>, usize) {
    let simple = |c| (Piece::Char(c), 2);
    match escape.as_bytes().get(1) {
        Some(b'b') => simple('\u{8}'),
        Some(b'f') => simple('\u{c}'),
        Some(b'n') => simple('\n'),
        Some(b'r') => simple('\r'),
        Some(b't') => simple('\t'),
        Some(b'u') => unescape_unicode(escape),
        Some(byte) if byte.is_ascii() => simple(char::from(*byte)),
        _ => (Piece::Text(escape), escape.len()),
    }
}

fn unescape_unicode(escape: &str) -> (Piece<'_>, usize) {
    let Some(unit) = hex4(escape) else {
        return (Piece::Text(escape), escape.len());
    };
    if let Some(c) = char::from_u32(u32::from(unit)) {
        return (Piece::Char(c), 6);
    }
    let low = escape
        .get(6..)
        .and_then(hex4)
        .filter(|low| (0xdc00..0xe000).contains(low));
    match low {
        Some(low) if unit < 0xdc00 => {
            let code = 0x1_0000 + ((u32::from(unit) - 0xd800) << 10) + (u32::from(low) - 0xdc00);
            (Piece::Char(char::from_u32(code).unwrap_or('\u{fffd}')), 12)
        }
        _ => (Piece::Surrogate(unit), 6),
    }
}

fn hex4(escape: &str) -> Option<u16> {
    let digits = escape.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}

/// The value of a member of the object at `object`; of repeated ones the last.
pub(crate) fn member(text: &str, object: Span, wanted: &str) -> Option<Value> {
    let mut scanner = Scanner::over(text, object);
    if scanner.require().ok()?.kind != Kind::BeginObject {
        return None;
    }
    let mut found = None;
    while let Ok(Some(key)) = scanner.next_key() {
        let value = scanner.value().ok()?;
        if decode(key.inner().of(text)) == wanted {
            found = Some(value);
        }
    }
    found
}

/// The value at the end of a path of member names.
pub(crate) fn nested(text: &str, object: Span, path: &[&str]) -> Option<Value> {
    let (first, rest) = path.split_first()?;
    let mut value = member(text, object, first)?;
    for name in rest {
        value = member(text, value.span, name)?;
    }
    Some(value)
}

/// The inside of a string literal as text for analysis: unescaped, with half
/// surrogate pairs shown as U+FFFD. Never use it to write a payload back.
pub(crate) fn decode(raw: &str) -> Cow<'_, str> {
    if memchr::memchr(b'\\', raw.as_bytes()).is_none() {
        return Cow::Borrowed(raw);
    }
    let mut text = String::new();
    decode_into(raw, &mut text);
    Cow::Owned(text)
}

/// As [`decode`], appended to a buffer that the caller reuses.
pub(crate) fn decode_into(raw: &str, text: &mut String) {
    text.reserve(raw.len());
    unescape(raw, |piece, _| match piece {
        Piece::Text(part) => text.push_str(part),
        Piece::Char(c) => text.push(c),
        Piece::Surrogate(_) => text.push('\u{fffd}'),
    });
}

/// The inside of a string literal as WTF-8 bytes: equal bytes mean equal strings,
/// half surrogate pairs included.
pub(crate) fn decode_bytes(raw: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(raw.len());
    unescape(raw, |piece, _| match piece {
        Piece::Text(part) => bytes.extend_from_slice(part.as_bytes()),
        Piece::Char(c) => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        Piece::Surrogate(unit) => {
            let [high, low] = unit.to_be_bytes();
            bytes.extend_from_slice(&[
                0xe0 | (high >> 4),
                0x80 | ((high & 0x0f) << 2) | (low >> 6),
                0x80 | (low & 0x3f),
            ]);
        }
    });
    bytes
}

/// For ascending byte offsets into the decoded text of `raw`, the matching offsets into `raw`.
///
/// An offset inside an escaped character maps to the start of its escape.
pub(crate) fn raw_offsets(raw: &str, decoded: &[usize]) -> Vec<usize> {
    let mut wanted = decoded.iter().copied().peekable();
    let mut found = Vec::with_capacity(decoded.len());
    let (mut at, mut raw_at) = (0, 0);
    unescape(raw, |piece, used| {
        let (len, direct) = match piece {
            Piece::Text(part) => (part.len(), true),
            Piece::Char(c) => (c.len_utf8(), false),
            Piece::Surrogate(_) => ('\u{fffd}'.len_utf8(), false),
        };
        while let Some(target) = wanted.next_if(|&target| target < at + len) {
            found.push(raw_at + if direct { target.saturating_sub(at) } else { 0 });
        }
        at += len;
        raw_at += used;
    });
    found.extend(wanted.map(|_| raw.len()));
    found
}

/// Appends `text` as a JSON string literal, quotes included, escaping only what
/// JSON requires to be escaped.
pub(crate) fn write_string(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
}
