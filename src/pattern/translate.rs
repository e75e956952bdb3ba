//! From the syntax of Python's `re` to the syntax of the Rust engines.
//!
//! A pack was written for Python, and several spellings are accepted by the Rust engines with
//! another meaning (`$`, `\w`, `\s`, `[[`, `a++`). So a pattern is parsed as Python parses it
//! (`parser.rs`) and written anew, with every flag resolved and every special character escaped.
//! What cannot be written is refused; nothing is passed through in the hope that it fits.
//!
//! Up to three spellings come out of one tree, each for ASCII texts or for all:
//! - *linear*, for the `regex` crate, if it can express the pattern;
//! - *backtracking*, for `fancy-regex`, exact in every case;
//! - *relaxed*, for the `regex` crate: it matches wherever the pattern matches, and perhaps
//!   elsewhere. It finds the places that the backtracking engine must look at.
//!
//! Two constructs are written in ways that need help from the matcher:
//! - `$` also matches before a newline that ends the text. At the end of a pattern the linear
//!   spelling is `(?:\z|(\n)\z)`; if that capture took part, the match ends before the newline.
//! - `\b` asks for Python's word characters (letters, numbers, `_`), which differ from those of the
//!   `regex` crate (marks, connectors, joiners). The linear spelling is right for every text
//!   without a disputed character ([`DISPUTED`]); for other texts the backtracking one is used.
//!
//! Known deviations: letter case and categories follow a newer Unicode version than Python 3.12
//! (characters assigned since), and a back-reference that ignores case compares by simple case
//! folding and only text of the same length in bytes.

use thiserror::Error;

use super::class::{DOTTED_AND_DOTLESS_I, NEVER, WORD, class_spelling, push_escaped};
use super::error::shown;
use super::parser::{self, Parsed};
use super::syntax::{Assertion, Class, Flags, Fold, Greed, GroupWidths, Node};

/// A class of the characters on which the two definitions of a word character disagree.
pub(super) const DISPUTED: &str = r"[\w~~[\p{L}\p{N}_]]";

/// Why a regular expression of a pack is refused.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{message}{}", at.map(|at| format!(" at character {}", at + 1)).unwrap_or_default())]
pub(crate) struct RegexError {
    message: String,
    /// The place in the pattern, in characters from its start.
    at: Option<usize>,
}

impl RegexError {
    pub(super) fn new(message: impl AsRef<str>) -> Self {
        RegexError {
            message: shown(message.as_ref()),
            at: None,
        }
    }

    pub(super) fn at(message: impl AsRef<str>, at: usize) -> Self {
        RegexError {
            at: Some(at),
            ..RegexError::new(message)
        }
    }
}

/// A parsed pattern, ready to be written.
#[derive(Debug)]
pub(super) struct Pattern {
    pub(super) root: Node,
    pub(super) groups: GroupWidths,
}

/// Which engine a spelling is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    Linear,
    Backtracking,
    Relaxed,
}

/// Which texts a spelling is for. Python's `\w` alone compiles to 50 KB in two milliseconds, and
/// most texts are ASCII, where sixty-three characters of it are left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Charset {
    Ascii,
    Full,
}

impl Pattern {
    /// Parses a Python pattern and refuses what no engine can do.
    pub(super) fn parse(pattern: &str, flags: Flags) -> Result<Pattern, RegexError> {
        let Parsed { root, groups } = parser::parse(pattern, flags)?;
        refuse_ascii_fold_of_back_reference(&root)?;
        Ok(Pattern { root, groups })
    }

    pub(super) fn spell(&self, dialect: Dialect, charset: Charset) -> String {
        Writer::new(dialect, charset, self).node(&self.root, true).0
    }

    /// Whether the pattern has a linear spelling.
    pub(super) fn is_linear(&self) -> bool {
        !self.root.needs_backtracking(true)
    }

    /// Whether the linear spelling has a `\b` or `\B` that disputed characters make inexact.
    pub(super) fn has_word_boundary(&self) -> bool {
        self.root.any(&|node| {
            matches!(
                node,
                Node::Assert(Assertion::WordBoundary { ascii: false, .. })
            )
        })
    }

    /// Whether the pattern has a `\B`, which Python refuses to match in an empty text.
    pub(super) fn has_no_boundary(&self) -> bool {
        self.root.any(&|node| {
            matches!(
                node,
                Node::Assert(Assertion::WordBoundary { negated: true, .. })
            )
        })
    }

    /// Whether the linear spelling may capture the final newline.
    pub(super) fn has_final_newline(&self) -> bool {
        self.root
            .any(&|node| matches!(node, Node::Assert(Assertion::TextEndOrFinalNewline)))
    }
}

/// `fancy-regex` compares a back-reference by Unicode folding or exactly, never by ASCII folding.
fn refuse_ascii_fold_of_back_reference(root: &Node) -> Result<(), RegexError> {
    let found = root.any(&|node| {
        matches!(
            node,
            Node::Backreference {
                fold: Fold::Ascii,
                ..
            }
        )
    });
    match found {
        false => Ok(()),
        true => Err(RegexError::new(
            "a back-reference under both (?a) and (?i) is not supported (leave out one of them)",
        )),
    }
}

/// How tightly a spelling holds together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    Alternation,
    Sequence,
    Atom,
}

struct Writer<'a> {
    dialect: Dialect,
    charset: Charset,
    /// Groups that are written as capturing ones, by their number in Python; sorted.
    captured: Vec<usize>,
    groups: &'a GroupWidths,
}

impl<'a> Writer<'a> {
    fn new(dialect: Dialect, charset: Charset, pattern: &'a Pattern) -> Self {
        let mut captured = Vec::new();
        if dialect == Dialect::Backtracking {
            let mut mentioned = Vec::new();
            collect_mentions(&pattern.root, &mut mentioned);
            collect_captures(&pattern.root, &mentioned, &mut captured);
        }
        Writer {
            dialect,
            charset,
            captured,
            groups: &pattern.groups,
        }
    }

    /// Writes a node. `tail` says that nothing follows it in the pattern.
    fn node(&self, node: &Node, tail: bool) -> (String, Binding) {
        match node {
            Node::Empty => (String::new(), Binding::Sequence),
            Node::Literal { .. } => (self.literals(std::slice::from_ref(node)), Binding::Atom),
            Node::Any { newline: true } => ("(?s:.)".to_owned(), Binding::Atom),
            Node::Any { newline: false } => (".".to_owned(), Binding::Atom),
            Node::Class(class) => (class_spelling(class, self.charset), Binding::Atom),
            Node::Assert(assertion) => (self.assertion(*assertion, tail), Binding::Atom),
            Node::Group { index, inner } => {
                let captured = index.is_some_and(|index| self.captured.contains(&index));
                match captured {
                    true => (format!("({})", self.node(inner, tail).0), Binding::Atom),
                    false => self.node(inner, tail),
                }
            }
            Node::Concat(items) => (self.sequence(items, tail), Binding::Sequence),
            Node::Alternate(branches) => {
                let branches: Vec<String> = branches
                    .iter()
                    .map(|branch| self.node(branch, tail).0)
                    .collect();
                (branches.join("|"), Binding::Alternation)
            }
            Node::Repeat {
                inner,
                min,
                max,
                kind,
            } => self.repeat(inner, *min, *max, *kind, tail),
            Node::Look {
                behind,
                negative,
                inner,
            } => match self.dialect {
                Dialect::Relaxed => (String::new(), Binding::Sequence),
                _ => {
                    let sign = if *negative { '!' } else { '=' };
                    let side = if *behind { "<" } else { "" };
                    (
                        format!("(?{side}{sign}{})", self.node(inner, false).0),
                        Binding::Atom,
                    )
                }
            },
            Node::Atomic(inner) => match self.dialect {
                Dialect::Relaxed => self.node(inner, false),
                _ => (format!("(?>{})", self.node(inner, false).0), Binding::Atom),
            },
            Node::Backreference { group, fold } => (self.reference(*group, *fold), Binding::Atom),
            Node::Conditional { group, yes, no } => self.conditional(*group, yes, no),
        }
    }

    fn sequence(&self, items: &[Node], tail: bool) -> String {
        let mut out = String::new();
        let mut rest = items;
        while let Some(item) = rest.first() {
            // Literals of one kind are written together, so that the engines see the whole word.
            let run = literal_run(rest);
            if run > 0 {
                let (literals, after) = rest.split_at(run);
                out.push_str(&self.literals(literals));
                rest = after;
                continue;
            }
            rest = rest.get(1..).unwrap_or_default();
            out.push_str(&at_least(
                Binding::Sequence,
                self.node(item, tail && rest.is_empty()),
            ));
        }
        out
    }

    /// Writes literals that share a case rule, for the engine's own case folding where it is right.
    fn literals(&self, literals: &[Node]) -> String {
        let mut plain = String::new();
        let mut ignoring_case = false;
        for node in literals {
            let Node::Literal { code, fold } = node else {
                continue;
            };
            match (char::from_u32(*code), fold) {
                (Some(c), Fold::Exact) if self.charset == Charset::Full || c.is_ascii() => {
                    push_escaped(&mut plain, c);
                }
                (Some(c), Fold::Unicode)
                    if self.charset == Charset::Full && !DOTTED_AND_DOTLESS_I.contains(&c) =>
                {
                    ignoring_case |= c.is_alphabetic();
                    push_escaped(&mut plain, c);
                }
                _ => plain.push_str(&class_spelling(&Class::of(*code, *fold), self.charset)),
            }
        }
        match ignoring_case {
            true => format!("(?i:{plain})"),
            false => plain,
        }
    }

    fn assertion(&self, assertion: Assertion, tail: bool) -> String {
        let spelling = match (assertion, self.dialect) {
            (Assertion::TextStart, _) => r"\A",
            (Assertion::TextEnd, _) => r"\z",
            (Assertion::LineStart, _) => "(?m:^)",
            (Assertion::LineEnd, _) => "(?m:$)",
            (Assertion::TextEndOrFinalNewline, Dialect::Linear) if tail => r"(?:\z|(\x{A})\z)",
            (Assertion::TextEndOrFinalNewline, Dialect::Relaxed) => "(?m:$)",
            (Assertion::TextEndOrFinalNewline, _) => r"(?=\x{A}?\z)",
            (Assertion::WordBoundary { .. }, Dialect::Relaxed) => "(?:)",
            (Assertion::WordBoundary { negated, ascii }, Dialect::Linear) => {
                match (negated, ascii || self.charset == Charset::Ascii) {
                    (false, true) => r"(?-u:\b)",
                    (false, false) => r"\b",
                    (true, _) => r"\B",
                }
            }
            (Assertion::WordBoundary { negated, ascii }, Dialect::Backtracking) => {
                return word_boundary(negated, ascii || self.charset == Charset::Ascii);
            }
        };
        spelling.to_owned()
    }

    fn repeat(
        &self,
        inner: &Node,
        min: u32,
        max: Option<u32>,
        kind: Greed,
        tail: bool,
    ) -> (String, Binding) {
        if max == Some(0) {
            return (String::new(), Binding::Sequence);
        }
        let inside = self.node(inner, tail && max == Some(1));
        let possessive = kind == Greed::Possessive && self.dialect != Dialect::Relaxed;
        // Only the place of a relaxed match counts, so the shortest one does.
        let lazy = kind == Greed::Lazy || self.dialect == Dialect::Relaxed;
        // What consumes nothing is not repeatable in one of the engines, and repeating it changes
        // nothing: it is tried once or not at all.
        if inner.width(self.groups) == (0, 0) || inside.0.is_empty() {
            let once = at_least(Binding::Atom, inside);
            let spelling = match (min, lazy) {
                (0, false) => format!("(?:{once}|)"),
                (0, true) => format!("(?:|{once})"),
                _ => once,
            };
            return match possessive {
                true => (format!("(?>{spelling})"), Binding::Atom),
                false => (spelling, Binding::Atom),
            };
        }
        let quantifier = match (min, max) {
            (0, None) => "*".to_owned(),
            (1, None) => "+".to_owned(),
            (0, Some(1)) => "?".to_owned(),
            (min, None) => format!("{{{min},}}"),
            (min, Some(max)) => format!("{{{min},{max}}}"),
        };
        let mark = if lazy { "?" } else { "" };
        let spelling = format!("{}{quantifier}{mark}", at_least(Binding::Atom, inside));
        match possessive {
            true => (format!("(?>{spelling})"), Binding::Atom),
            false => (spelling, Binding::Sequence),
        }
    }

    fn reference(&self, group: usize, fold: Fold) -> String {
        match (self.dialect, self.number(group)) {
            // A captured text can be anything that the group matches, so any text will do.
            (Dialect::Linear | Dialect::Relaxed, _) => "(?:(?s:.)*?)".to_owned(),
            (Dialect::Backtracking, None) => NEVER.to_owned(),
            (Dialect::Backtracking, Some(number)) if fold == Fold::Exact => {
                format!(r"(?:\{number})")
            }
            (Dialect::Backtracking, Some(number)) => format!(r"(?i:\{number})"),
        }
    }

    fn conditional(&self, group: usize, yes: &Node, no: &Node) -> (String, Binding) {
        let yes = at_least(Binding::Sequence, self.node(yes, false));
        let no = at_least(Binding::Sequence, self.node(no, false));
        if self.dialect != Dialect::Backtracking {
            return (format!("{yes}|{no}"), Binding::Alternation);
        }
        match self.number(group) {
            None => (no, Binding::Sequence),
            // Without branches the engine would read a bare test of the group.
            Some(_) if yes.is_empty() && no.is_empty() => (String::new(), Binding::Sequence),
            Some(number) => (format!("(?({number}){yes}|{no})"), Binding::Atom),
        }
    }

    /// The number of a Python group in the spelling.
    fn number(&self, group: usize) -> Option<usize> {
        self.captured
            .iter()
            .position(|captured| *captured == group)
            .map(|place| place + 1)
    }
}

/// Wraps a spelling that would fall apart where it is put.
fn at_least(wanted: Binding, (spelling, binding): (String, Binding)) -> String {
    match binding >= wanted {
        true => spelling,
        false => format!("(?:{spelling})"),
    }
}

/// How many literals in a row, under the same case rule, begin the items.
fn literal_run(items: &[Node]) -> usize {
    let Some(Node::Literal { fold: first, .. }) = items.first() else {
        return 0;
    };
    items
        .iter()
        .take_while(|item| matches!(item, Node::Literal { fold, .. } if fold == first))
        .count()
}

fn collect_mentions(node: &Node, mentioned: &mut Vec<usize>) {
    match node {
        Node::Backreference { group, .. } => mentioned.push(*group),
        Node::Conditional { group, .. } => mentioned.push(*group),
        _ => {}
    }
    node.children()
        .for_each(|child| collect_mentions(child, mentioned));
}

/// Collects, in order of opening, the mentioned groups that the writer does not leave out.
fn collect_captures(node: &Node, mentioned: &[usize], captured: &mut Vec<usize>) {
    match node {
        Node::Repeat { max: Some(0), .. } => return,
        Node::Group {
            index: Some(index), ..
        } if mentioned.contains(index) => {
            captured.push(*index);
        }
        _ => {}
    }
    node.children()
        .for_each(|child| collect_captures(child, mentioned, captured));
}

/// A word boundary by look-around, exact for Python's word characters.
fn word_boundary(negated: bool, ascii: bool) -> String {
    let word = if ascii {
        "[0-9A-Za-z_]".to_owned()
    } else {
        format!("[{WORD}]")
    };
    match negated {
        false => format!("(?:(?<={word})(?!{word})|(?<!{word})(?={word}))"),
        // Up to Python 3.13 an empty text has no place that is not a boundary.
        true => format!(r"(?:(?!\A\z)(?:(?<={word})(?={word})|(?<!{word})(?!{word})))"),
    }
}
