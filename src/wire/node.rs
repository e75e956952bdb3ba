//! A small tree over one JSON value, for the parts of a recording whose *values*
//! are compared: tool, prompt and resource definitions.
//!
//! Wire data never goes through this tree on its way back to a file. Every node
//! knows its [`Span`], so a difference can be shown where it stands.

use super::json::{Kind, Scanner, Span, SyntaxError, Token, decode_bytes};
use std::borrow::Cow;

/// The deepest value that is compared or looked into: cassette-format.md, fidelity rule 4.
pub(crate) const MAX_DEPTH: usize = 512;

/// A JSON value and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) span: Span,
    pub(crate) data: Data,
}

/// The value itself.
#[derive(Clone, Debug)]
pub(crate) enum Data {
    Null,
    Bool(bool),
    Number(Number),
    Text(Text),
    Array(Vec<Node>),
    /// Members in the order they stand in; a repeated name keeps every occurrence.
    Object(Vec<Member>),
}

/// A member of an object. The span covers the name with its quotes.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) name: Text,
    pub(crate) span: Span,
    pub(crate) value: Node,
}

/// An unescaped string as WTF-8: equal bytes are equal strings, half surrogate pairs included.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Text(Vec<u8>);

impl Text {
    /// The text, with half surrogate pairs replaced.
    pub(crate) fn show(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }
}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.0 == other.as_bytes()
    }
}

/// A number as sign, significant digits and a power of ten, so that `10`, `10.0`
/// and `1e1` are equal and no digit is lost.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Number {
    negative: bool,
    digits: String,
    /// The power of ten of the last digit, as text because an exponent may be of any size.
    exponent: String,
}

impl Number {
    /// Appends a spelling that is the same for `10`, `10.0` and `1e1`, and ends in `;`.
    pub(crate) fn push_canonical(raw: &str, out: &mut Vec<u8>) {
        let (sign, digits) = match raw.strip_prefix('-') {
            Some(digits) => ("-", digits),
            None => ("", raw),
        };
        // Most numbers are whole, and need no strings of their own.
        let whole = digits.bytes().all(|byte| byte.is_ascii_digit());
        let significant = digits.trim_end_matches('0');
        if whole && !significant.is_empty() {
            let zeros = digits.len() - significant.len();
            out.extend_from_slice(sign.as_bytes());
            out.extend_from_slice(significant.as_bytes());
            out.push(b'e');
            out.extend_from_slice(zeros.to_string().as_bytes());
        } else {
            let number = Number::parse(raw);
            out.extend_from_slice(if number.negative { b"-" } else { b"" });
            out.extend_from_slice(number.digits.as_bytes());
            out.push(b'e');
            out.extend_from_slice(number.exponent.as_bytes());
        }
        out.push(b';');
    }

    fn parse(raw: &str) -> Self {
        let (negative, rest) = match raw.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, raw),
        };
        let (mantissa, exponent) = rest.split_once(['e', 'E']).unwrap_or((rest, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{fraction}");
        let significant = all.trim_start_matches('0').trim_end_matches('0');
        if significant.is_empty() {
            return Number {
                negative: false,
                digits: "0".into(),
                exponent: "0".into(),
            };
        }
        let dropped = all.trim_start_matches('0').len() - significant.len();
        let shift =
            i128::try_from(dropped).unwrap_or(0) - i128::try_from(fraction.len()).unwrap_or(0);
        let exponent = match exponent.trim_start_matches('+').parse::<i128>() {
            Ok(power) if power.abs() < i128::MAX / 2 => (power + shift).to_string(),
            // Beyond any machine number: such exponents are equal only if they look equal.
            _ => format!("{exponent}/{shift}"),
        };
        Number {
            negative,
            digits: significant.to_owned(),
            exponent,
        }
    }

    /// The value for comparisons of size; infinite where it does not fit.
    pub(crate) fn to_f64(&self) -> f64 {
        let sign = if self.negative { "-" } else { "" };
        format!("{sign}{}e{}", self.digits, self.exponent)
            .parse()
            .unwrap_or(f64::INFINITY)
    }

    /// The number for people, with every digit: `10`, `0.5`, `1e400`.
    pub(crate) fn show(&self) -> String {
        let sign = if self.negative { "-" } else { "" };
        let digits = &self.digits;
        match self.exponent.parse::<i32>() {
            Ok(zeros @ 0..=20) => {
                let zeros = "0".repeat(usize::try_from(zeros).unwrap_or(0));
                format!("{sign}{digits}{zeros}")
            }
            Ok(places @ -20..0) => {
                let places = usize::try_from(places.unsigned_abs()).unwrap_or(0);
                let padded = format!("{digits:0>width$}", width = places + 1);
                let (whole, fraction) = padded.split_at(padded.len() - places);
                format!("{sign}{whole}.{fraction}")
            }
            _ => format!("{sign}{digits}e{}", self.exponent),
        }
    }
}

/// Why a value was not made into a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NodeError {
    #[error("the value is nested more than {MAX_DEPTH} levels deep")]
    TooDeep { at: Span },
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
}

impl Node {
    /// The tree of the value in `span` of `text`.
    pub(crate) fn read(text: &str, span: Span) -> Result<Node, NodeError> {
        let mut scanner = Scanner::over(text, span);
        let mut builder = Builder {
            open: Vec::new(),
            done: None,
        };
        while let Some(token) = scanner.next_token()? {
            if scanner.depth() > MAX_DEPTH {
                return Err(NodeError::TooDeep { at: token.span });
            }
            builder.take(text, token);
        }
        let empty = Node {
            span,
            data: Data::Null,
        };
        Ok(builder.done.unwrap_or(empty))
    }

    /// The last member of that name, which is the one that most parsers keep.
    pub(crate) fn member(&self, name: &str) -> Option<&Node> {
        self.members()
            .iter()
            .rev()
            .find(|member| member.name == *name)
            .map(|member| &member.value)
    }

    /// The members if this is an object, else none.
    pub(crate) fn members(&self) -> &[Member] {
        match &self.data {
            Data::Object(members) => members,
            _ => &[],
        }
    }

    /// The elements if this is an array, else none.
    pub(crate) fn items(&self) -> &[Node] {
        match &self.data {
            Data::Array(items) => items,
            _ => &[],
        }
    }

    /// The string if this is one.
    pub(crate) fn text(&self) -> Option<&Text> {
        match &self.data {
            Data::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The string if this is one, as a Rust string.
    pub(crate) fn string(&self) -> Option<Cow<'_, str>> {
        self.text().map(Text::show)
    }
}

/// Puts tokens together without recursion.
struct Builder {
    open: Vec<Open>,
    done: Option<Node>,
}

struct Open {
    start: u32,
    data: Data,
}

impl Builder {
    fn take(&mut self, text: &str, token: Token) {
        match token.kind {
            Kind::BeginObject => self.begin(token, Data::Object(Vec::new())),
            Kind::BeginArray => self.begin(token, Data::Array(Vec::new())),
            Kind::EndObject | Kind::EndArray => self.end(token),
            Kind::Key => {
                let name = Text(decode_bytes(token.inner().of(text)));
                let null = Node {
                    span: token.span,
                    data: Data::Null,
                };
                if let Some(Open {
                    data: Data::Object(members),
                    ..
                }) = self.open.last_mut()
                {
                    members.push(Member {
                        name,
                        span: token.span,
                        value: null,
                    });
                }
            }
            Kind::String => {
                self.put(
                    token.span,
                    Data::Text(Text(decode_bytes(token.inner().of(text)))),
                );
            }
            Kind::Number => self.put(token.span, Data::Number(Number::parse(token.span.of(text)))),
            Kind::True => self.put(token.span, Data::Bool(true)),
            Kind::False => self.put(token.span, Data::Bool(false)),
            Kind::Null => self.put(token.span, Data::Null),
        }
    }

    fn begin(&mut self, token: Token, data: Data) {
        self.open.push(Open {
            start: token.span.start,
            data,
        });
    }

    fn end(&mut self, token: Token) {
        if let Some(open) = self.open.pop() {
            self.put(
                Span {
                    start: open.start,
                    end: token.span.end,
                },
                open.data,
            );
        }
    }

    fn put(&mut self, span: Span, data: Data) {
        let node = Node { span, data };
        match self.open.last_mut().map(|open| &mut open.data) {
            Some(Data::Array(items)) => items.push(node),
            // The member was pushed with its name and waits for its value.
            Some(Data::Object(members)) => {
                if let Some(member) = members.last_mut() {
                    member.value = node;
                }
            }
            _ => self.done = Some(node),
        }
    }
}
