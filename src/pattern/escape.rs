//! Escapes and character classes of Python's `re`.

use super::parser::{Parse, Parser, Scope};
use super::syntax::{Assertion, Category, CategoryKind, Class, Node};

/// One member of a character class.
enum Member {
    Code(u32),
    Category(Category),
}

impl Parser<'_> {
    /// An escape outside a class; its backslash is read.
    pub(super) fn escape(&mut self, start: usize, scope: Scope) -> Parse<Node> {
        let Some(kind) = self.peek() else {
            return self.refuse_at(start, "bad escape (end of pattern)");
        };
        self.at += 1;
        let boundary = |negated| {
            Ok(Node::Assert(Assertion::WordBoundary {
                negated,
                ascii: scope.ascii,
            }))
        };
        match kind {
            'A' => return Ok(Node::Assert(Assertion::TextStart)),
            'Z' => return Ok(Node::Assert(Assertion::TextEnd)),
            'b' => return boundary(false),
            'B' => return boundary(true),
            _ => {}
        }
        if let Some(category) = category(kind, scope) {
            return Ok(Node::Class(Class {
                negated: false,
                ranges: Vec::new(),
                categories: vec![category],
                fold: scope.fold(),
            }));
        }
        let code = match kind {
            '0' => octal(&self.take_while(2, is_octal)),
            '1'..='9' => return self.numeric_escape(kind, start, scope),
            _ => self.shared_escape(kind, start)?,
        };
        Ok(Node::Literal {
            code,
            fold: scope.fold(),
        })
    }

    /// A back-reference, or three octal digits. The first digit, which is not zero, is read.
    fn numeric_escape(&mut self, first: char, start: usize, scope: Scope) -> Parse<Node> {
        let mut digits = first.to_string();
        digits.push_str(&self.take_while(1, |c| c.is_ascii_digit()));
        if digits.len() == 2 && digits.chars().all(is_octal) && self.peek().is_some_and(is_octal) {
            digits.push_str(&self.take_while(1, is_octal));
            let code = octal(&digits);
            if code > 0o377 {
                return self.refuse_at(start, octal_too_large(&digits));
            }
            return Ok(Node::Literal {
                code,
                fold: scope.fold(),
            });
        }
        let group = digits.parse::<usize>().unwrap_or(usize::MAX);
        if group >= self.group_count() {
            return self.refuse_at(start, format!("invalid group reference {digits}"));
        }
        self.closed(group, start)?;
        Ok(Node::Backreference {
            group,
            fold: scope.fold(),
        })
    }

    /// Escapes that name one character and mean the same inside and outside a class.
    fn shared_escape(&mut self, kind: char, start: usize) -> Parse<u32> {
        Ok(match kind {
            'a' => 0x07,
            'f' => 0x0c,
            'n' => 0x0a,
            'r' => 0x0d,
            't' => 0x09,
            'v' => 0x0b,
            'x' => return self.hex_escape(2, kind, start),
            'u' => return self.hex_escape(4, kind, start),
            'U' => return self.hex_escape(8, kind, start),
            'N' => return self.named_escape(start),
            c if c.is_ascii_alphanumeric() => {
                return self.refuse_at(start, bad_escape(c));
            }
            other => u32::from(other),
        })
    }

    fn hex_escape(&mut self, digits: usize, kind: char, start: usize) -> Parse<u32> {
        let found = self.take_while(digits, |c| c.is_ascii_hexdigit());
        if found.len() != digits {
            let why = format!("incomplete escape \\{kind}{found} ({digits} hex digits are needed)");
            return self.refuse_at(start, why);
        }
        match u32::from_str_radix(&found, 16) {
            Ok(code) if code <= u32::from(char::MAX) => Ok(code),
            _ => self.refuse_at(start, format!("bad escape \\{kind}{found}")),
        }
    }

    /// `\N{NAME}`.
    fn named_escape(&mut self, start: usize) -> Parse<u32> {
        if !self.eat('{') {
            return self.refuse_at(start, "missing { after \\N");
        }
        let name = self.raw_name('}')?;
        // The crate ignores spaces, hyphens and underscores; Python does not.
        let found = unicode_names2::character(&name).filter(|c| {
            let exact = unicode_names2::name(*c).map(|exact| exact.to_string());
            exact.is_none_or(|exact| {
                let alias = squeezed(&exact) != squeezed(&name);
                alias || exact.eq_ignore_ascii_case(&name)
            })
        });
        match found {
            Some(c) => Ok(u32::from(c)),
            None => self.refuse_at(start, format!("undefined character name `{name}`")),
        }
    }

    /// A character class; its opening bracket is read.
    pub(super) fn class(&mut self, start: usize, scope: Scope) -> Parse<Node> {
        let negated = self.eat('^');
        let (mut ranges, mut categories) = (Vec::new(), Vec::new());
        let mut first = true;
        loop {
            let at = self.at;
            let Some(next) = self.peek() else {
                return self.refuse_at(start, "unterminated character set");
            };
            self.at += 1;
            if next == ']' && !first {
                break;
            }
            first = false;
            let low = self.member(next, at, scope)?;
            if self.peek() == Some('-') {
                self.at += 1;
                let Some(end) = self.peek() else {
                    return self.refuse_at(start, "unterminated character set");
                };
                if end == ']' {
                    ranges.push((u32::from('-'), u32::from('-')));
                } else {
                    self.at += 1;
                    let high = self.member(end, self.at - 1, scope)?;
                    match (low, high) {
                        (Member::Code(low), Member::Code(high)) if low <= high => {
                            ranges.push((low, high));
                        }
                        _ => return self.refuse_at(at, "bad character range"),
                    }
                    continue;
                }
            }
            match low {
                Member::Code(code) => ranges.push((code, code)),
                Member::Category(category) => categories.push(category),
            }
        }
        Ok(Node::Class(Class {
            negated,
            ranges,
            categories,
            fold: scope.fold(),
        }))
    }

    fn member(&mut self, first: char, start: usize, scope: Scope) -> Parse<Member> {
        if first != '\\' {
            return Ok(Member::Code(u32::from(first)));
        }
        let Some(kind) = self.peek() else {
            return self.refuse_at(start, "bad escape (end of pattern)");
        };
        self.at += 1;
        if let Some(category) = category(kind, scope) {
            return Ok(Member::Category(category));
        }
        let code = match kind {
            'b' => 0x08,
            '0'..='7' => {
                let digits = format!("{kind}{}", self.take_while(2, is_octal));
                match octal(&digits) {
                    code if code <= 0o377 => code,
                    _ => return self.refuse_at(start, octal_too_large(&digits)),
                }
            }
            _ => self.shared_escape(kind, start)?,
        };
        Ok(Member::Code(code))
    }
}

fn category(kind: char, scope: Scope) -> Option<Category> {
    let negated = kind.is_ascii_uppercase();
    let kind = match kind {
        'd' | 'D' => CategoryKind::Digit,
        's' | 'S' => CategoryKind::Space,
        'w' | 'W' => CategoryKind::Word,
        _ => return None,
    };
    Some(Category {
        kind,
        negated,
        ascii: scope.ascii,
    })
}

fn is_octal(c: char) -> bool {
    ('0'..='7').contains(&c)
}

/// The value of at most three octal digits.
fn octal(digits: &str) -> u32 {
    digits
        .chars()
        .filter_map(|c| c.to_digit(8))
        .fold(0, |value, digit| value * 8 + digit)
}

fn octal_too_large(digits: &str) -> String {
    format!("octal escape value \\{digits} outside of range 0-0o377")
}

/// A name without what `unicode_names2` ignores when it compares names.
fn squeezed(name: &str) -> String {
    name.chars()
        .filter(|c| c.is_ascii_alphanumeric())
        .map(|c| c.to_ascii_uppercase())
        .collect()
}

/// Says what to write for escapes that other dialects have.
fn bad_escape(kind: char) -> String {
    let instead = match kind {
        'z' => " (the end of the text is `\\Z`)",
        'p' | 'P' => " (Python's re has no Unicode properties; list the ranges in `[...]`)",
        'h' => " (write `[ \\t]`)",
        'H' => " (write `[^ \\t]`)",
        'R' => " (write `(?:\\r\\n|\\n|\\r)`)",
        'K' => " (write a look-behind, `(?<=...)`)",
        'Q' | 'E' => " (escape the characters one by one)",
        'k' => " (a back-reference by name is `(?P=name)`)",
        'g' => " (a back-reference is `\\1` or `(?P=name)`)",
        'e' => " (write `\\x1b`)",
        'X' => " (write `.`)",
        _ => "",
    };
    format!("bad escape \\{kind}{instead}")
}
