//! A parser for the syntax of Python's `re` (3.12, text patterns).
//!
//! It accepts what Python accepts and refuses what Python refuses, so that a pack has one meaning.
//! A refusal says at which character, and, where another dialect is the likely source of the
//! mistake, what to write instead. Escapes and character classes are in `escape.rs`.

use super::groups::Parenthesis;
use super::syntax::{Assertion, Flags, Fold, Greed, GroupWidths, Node, UNBOUNDED};
use super::translate::RegexError;

/// Longer patterns are refused: nobody writes them, and each analysis walks the whole tree.
pub(super) const MAX_CHARS: usize = 16_384;

/// Deeper nesting is refused, which bounds the recursion of every walk over the tree.
pub(super) const MAX_DEPTH: usize = 60;

/// Python's own limit on the counts of a repetition.
const MAX_REPEAT: u64 = u32::MAX as u64;

/// A parsed pattern and the widths of its capturing groups.
pub(super) struct Parsed {
    pub(super) root: Node,
    pub(super) groups: GroupWidths,
}

/// Parses a pattern under the flags that the pack sets for it.
pub(super) fn parse(pattern: &str, flags: Flags) -> Result<Parsed, RegexError> {
    let chars: Vec<char> = pattern.chars().take(MAX_CHARS + 1).collect();
    if chars.len() > MAX_CHARS {
        return Err(RegexError::new(format!(
            "longer than {MAX_CHARS} characters"
        )));
    }
    match Parser::new(&chars, flags).run() {
        Err(Stop::TurnVerbose) => {
            let flags = Flags {
                verbose: true,
                ..flags
            };
            Parser::new(&chars, flags).run().map_err(Stop::into_error)
        }
        other => other.map_err(Stop::into_error),
    }
}

/// Why parsing stopped.
pub(super) enum Stop {
    Refused(RegexError),
    /// A leading `(?x)` turns the whole pattern verbose, what stands before it included.
    TurnVerbose,
}

impl Stop {
    fn into_error(self) -> RegexError {
        match self {
            Stop::Refused(error) => error,
            Stop::TurnVerbose => RegexError::new("flag x is set twice"),
        }
    }
}

pub(super) type Parse<T> = Result<T, Stop>;

/// The flags in force at one place.
#[derive(Clone, Copy)]
pub(super) struct Scope {
    pub(super) flags: Flags,
    pub(super) ascii: bool,
}

impl Scope {
    pub(super) fn fold(self) -> Fold {
        match (self.flags.ignore_case, self.ascii) {
            (false, _) => Fold::Exact,
            (true, false) => Fold::Unicode,
            (true, true) => Fold::Ascii,
        }
    }
}

pub(super) struct Parser<'p> {
    chars: &'p [char],
    pub(super) at: usize,
    pub(super) scope: Scope,
    /// Widths of the groups that are closed; `None` while a group is open.
    pub(super) groups: Vec<Option<(u64, u64)>>,
    pub(super) names: Vec<(String, usize)>,
    /// Groups that a conditional named before they may exist, with the place of the mention.
    pub(super) promised: Vec<(usize, usize)>,
    /// How many groups there were when the outermost open look-behind began.
    pub(super) behind: Option<usize>,
}

impl<'p> Parser<'p> {
    fn new(chars: &'p [char], flags: Flags) -> Self {
        Parser {
            chars,
            at: 0,
            scope: Scope {
                flags,
                ascii: false,
            },
            groups: vec![Some((0, 0))],
            names: Vec::new(),
            promised: Vec::new(),
            behind: None,
        }
    }

    fn run(mut self) -> Parse<Parsed> {
        let root = self.alternation(self.scope, 0)?;
        if self.peek().is_some() {
            return self.refuse_at(self.at, "unbalanced parenthesis");
        }
        if let Some((group, at)) = self.promised.iter().find(|(g, _)| *g >= self.groups.len()) {
            return self.refuse_at(*at, format!("invalid group reference {group}"));
        }
        let groups = self
            .groups
            .into_iter()
            .map(|width| width.unwrap_or((0, UNBOUNDED)));
        Ok(Parsed {
            root,
            groups: groups.collect(),
        })
    }

    pub(super) fn alternation(&mut self, scope: Scope, depth: usize) -> Parse<Node> {
        if depth > MAX_DEPTH {
            return self.refuse_at(self.at, format!("groups nested deeper than {MAX_DEPTH}"));
        }
        let mut branches = vec![self.sequence(scope, depth, depth == 0)?];
        while self.eat('|') {
            // Only the first branch may begin with flags for the whole pattern.
            let scope = if depth == 0 { self.scope } else { scope };
            branches.push(self.sequence(scope, depth, false)?);
        }
        Ok(match branches.pop() {
            Some(only) if branches.is_empty() => only,
            Some(last) => {
                branches.push(last);
                Node::Alternate(branches)
            }
            None => Node::Empty,
        })
    }

    /// One branch: everything up to `|`, `)` or the end.
    pub(super) fn sequence(
        &mut self,
        mut scope: Scope,
        depth: usize,
        leading: bool,
    ) -> Parse<Node> {
        let mut items: Vec<Node> = Vec::new();
        while let Some(next) = self.peek() {
            if next == '|' || next == ')' {
                break;
            }
            let start = self.at;
            self.at += 1;
            if scope.flags.verbose && self.skip_verbose(next) {
                continue;
            }
            let item = match next {
                '\\' => self.escape(start, scope)?,
                '[' => self.class(start, scope)?,
                '*' | '+' | '?' | '{' => match self.quantifier(next, start)? {
                    Some((min, max)) => {
                        let inner = items.pop();
                        self.repeat(inner, min, max, start)?
                    }
                    None => literal('{', scope),
                },
                '.' => Node::Any {
                    newline: scope.flags.dot_all,
                },
                '^' if scope.flags.multi_line => Node::Assert(Assertion::LineStart),
                '^' => Node::Assert(Assertion::TextStart),
                '$' if scope.flags.multi_line => Node::Assert(Assertion::LineEnd),
                '$' => Node::Assert(Assertion::TextEndOrFinalNewline),
                '(' => match self.group(start, scope, depth, leading && items.is_empty())? {
                    Parenthesis::Node(node) => node,
                    Parenthesis::Comment => continue,
                    Parenthesis::WholePattern => {
                        scope = self.scope;
                        continue;
                    }
                },
                other => literal(other, scope),
            };
            items.push(item);
        }
        Ok(match items.pop() {
            None => Node::Empty,
            Some(only) if items.is_empty() => only,
            Some(last) => {
                items.push(last);
                Node::Concat(items)
            }
        })
    }

    /// Skips white space and comments of verbose mode.
    fn skip_verbose(&mut self, first: char) -> bool {
        if first == '#' {
            while let Some(next) = self.next_token() {
                if next == '\n' {
                    break;
                }
            }
            return true;
        }
        matches!(first, ' ' | '\t' | '\n' | '\r' | '\u{b}' | '\u{c}')
    }

    /// The bounds of a quantifier whose first character is read, or nothing for a literal `{`.
    fn quantifier(&mut self, first: char, start: usize) -> Parse<Option<(u32, Option<u32>)>> {
        match first {
            '*' => return Ok(Some((0, None))),
            '+' => return Ok(Some((1, None))),
            '?' => return Ok(Some((0, Some(1)))),
            _ => {}
        }
        let after_brace = self.at;
        if self.peek() == Some('}') {
            return Ok(None);
        }
        let low = self.take_while(usize::MAX, |c| c.is_ascii_digit());
        let high = if self.eat(',') {
            self.take_while(usize::MAX, |c| c.is_ascii_digit())
        } else {
            low.clone()
        };
        if !self.eat('}') {
            self.at = after_brace;
            return Ok(None);
        }
        let min = self.count(&low, start)?.unwrap_or(0);
        let max = self.count(&high, start)?;
        if max.is_some_and(|max| max < min) {
            return self.refuse_at(start, "min repeat greater than max repeat");
        }
        Ok(Some((min, max)))
    }

    fn count(&self, digits: &str, start: usize) -> Parse<Option<u32>> {
        if digits.is_empty() {
            return Ok(None);
        }
        match digits.parse::<u64>() {
            Ok(count) if count < MAX_REPEAT => Ok(u32::try_from(count).ok()),
            _ => self.refuse_at(start, "the repetition number is too large"),
        }
    }

    fn repeat(
        &mut self,
        inner: Option<Node>,
        min: u32,
        max: Option<u32>,
        start: usize,
    ) -> Parse<Node> {
        let inner = match inner {
            None | Some(Node::Assert(_)) => return self.refuse_at(start, "nothing to repeat"),
            Some(Node::Repeat { .. }) => {
                return self.refuse_at(start, "multiple repeat (put the first one in `(?:...)`)");
            }
            Some(inner) => inner,
        };
        let kind = if self.eat('?') {
            Greed::Lazy
        } else if self.eat('+') {
            Greed::Possessive
        } else {
            Greed::Greedy
        };
        Ok(Node::Repeat {
            inner: Box::new(inner),
            min,
            max,
            kind,
        })
    }

    /// Checks that a back-reference may name the group at this place.
    pub(super) fn closed(&self, group: usize, start: usize) -> Parse<()> {
        match self.groups.get(group) {
            Some(Some(_)) if group > 0 => self.outside_look_behind(group, start),
            Some(None) => self.refuse_at(start, "cannot refer to an open group"),
            _ => self.refuse_at(start, format!("invalid group reference {group}")),
        }
    }

    pub(super) fn outside_look_behind(&self, group: usize, start: usize) -> Parse<()> {
        let Some(before) = self.behind else {
            return Ok(());
        };
        if matches!(self.groups.get(group), Some(None)) {
            return self.refuse_at(start, "cannot refer to an open group");
        }
        if group >= before {
            let why = "cannot refer to a group defined in the same look-behind";
            return self.refuse_at(start, why);
        }
        Ok(())
    }

    pub(super) fn known_widths(&self) -> GroupWidths {
        self.groups
            .iter()
            .map(|width| width.unwrap_or((0, UNBOUNDED)))
            .collect()
    }

    pub(super) fn named(&self, name: &str) -> Option<usize> {
        self.names
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, group)| *group)
    }

    pub(super) fn name(&mut self, end: char) -> Parse<String> {
        let start = self.at;
        let name = self.raw_name(end)?;
        self.check_name(&name, start)?;
        Ok(name)
    }

    pub(super) fn raw_name(&mut self, end: char) -> Parse<String> {
        let start = self.at;
        let name = self.take_while(usize::MAX, |c| c != end);
        if !self.eat(end) {
            return self.refuse_at(start, format!("missing {end}, unterminated name"));
        }
        if name.is_empty() {
            return self.refuse_at(start, "missing name");
        }
        Ok(name)
    }

    pub(super) fn check_name(&self, name: &str, start: usize) -> Parse<()> {
        let mut chars = name.chars();
        let first = chars.next().is_some_and(|c| c == '_' || c.is_alphabetic());
        match first && chars.all(|c| c == '_' || c.is_alphanumeric()) {
            true => Ok(()),
            false => self.refuse_at(start, format!("bad character in group name `{name}`")),
        }
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    pub(super) fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    /// The next character, where an escape counts as one and is seen as its backslash.
    pub(super) fn next_token(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += if next == '\\' { 2 } else { 1 };
        Some(next)
    }

    pub(super) fn take_while(&mut self, most: usize, wanted: impl Fn(char) -> bool) -> String {
        let rest = self.chars.get(self.at..).unwrap_or_default();
        let taken: String = rest
            .iter()
            .copied()
            .take(most)
            .take_while(|c| wanted(*c))
            .collect();
        self.at += taken.chars().count();
        taken
    }

    pub(super) fn refuse_at<T>(&self, at: usize, message: impl AsRef<str>) -> Parse<T> {
        Err(Stop::Refused(RegexError::at(message, at)))
    }

    pub(super) fn group_count(&self) -> usize {
        self.groups.len()
    }
}

fn literal(c: char, scope: Scope) -> Node {
    Node::Literal {
        code: u32::from(c),
        fold: scope.fold(),
    }
}
