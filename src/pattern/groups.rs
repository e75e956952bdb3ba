//! What Python's `re` writes in parentheses: groups, look-around, conditionals, flags, comments.

use super::parser::{MAX_CHARS, MAX_DEPTH, Parse, Parser, Scope, Stop};
use super::syntax::Node;

/// What a parenthesis turned out to be.
pub(super) enum Parenthesis {
    Node(Node),
    Comment,
    /// Flags for the whole pattern, which are now in force.
    WholePattern,
}

impl Parser<'_> {
    /// Everything that begins with an opening parenthesis, which is read.
    pub(super) fn group(
        &mut self,
        start: usize,
        scope: Scope,
        depth: usize,
        leading: bool,
    ) -> Parse<Parenthesis> {
        if !self.eat('?') {
            return self.capture(start, scope, depth, None);
        }
        let Some(kind) = self.peek() else {
            return self.refuse_at(self.at, "unexpected end of pattern");
        };
        self.at += 1;
        match kind {
            'P' => self.python_extension(start, scope, depth),
            ':' => {
                let inner = self.body(start, scope, depth)?;
                Ok(Parenthesis::Node(Node::Group {
                    index: None,
                    inner: Box::new(inner),
                }))
            }
            '#' => self.comment(start),
            '=' | '!' => self.look(start, scope, depth, false, kind == '!'),
            '<' => match self.next_token() {
                Some('=') => self.look(start, scope, depth, true, false),
                Some('!') => self.look(start, scope, depth, true, true),
                None => self.refuse_at(self.at, "unexpected end of pattern"),
                Some(_) => self.refuse_at(
                    start,
                    "unknown extension `(?<` (a named group is written `(?P<name>...)`)",
                ),
            },
            '(' => self.conditional(start, scope, depth),
            '>' => {
                let inner = self.body(start, scope, depth)?;
                Ok(Parenthesis::Node(Node::Atomic(Box::new(inner))))
            }
            '-' | 'a' | 'i' | 'L' | 'm' | 's' | 't' | 'u' | 'x' => {
                self.at -= 1;
                self.flags(start, scope, depth, leading)
            }
            other => self.refuse_at(start, format!("unknown extension `(?{other}`")),
        }
    }

    /// `(?P<name>...)` and `(?P=name)`.
    fn python_extension(&mut self, start: usize, scope: Scope, depth: usize) -> Parse<Parenthesis> {
        match self.peek() {
            Some('<') => {
                self.at += 1;
                let name = self.name('>')?;
                if self.names.iter().any(|(known, _)| *known == name) {
                    return self.refuse_at(start, format!("group name `{name}` is used twice"));
                }
                self.capture(start, scope, depth, Some(name))
            }
            Some('=') => {
                self.at += 1;
                let name = self.name(')')?;
                let Some(group) = self.named(&name) else {
                    return self.refuse_at(start, format!("unknown group name `{name}`"));
                };
                self.closed(group, start)?;
                Ok(Parenthesis::Node(Node::Backreference {
                    group,
                    fold: scope.fold(),
                }))
            }
            Some(other) => self.refuse_at(start, format!("unknown extension `(?P{other}`")),
            None => self.refuse_at(self.at, "unexpected end of pattern"),
        }
    }

    fn capture(
        &mut self,
        start: usize,
        scope: Scope,
        depth: usize,
        name: Option<String>,
    ) -> Parse<Parenthesis> {
        let index = self.groups.len();
        self.groups.push(None);
        if let Some(name) = name {
            self.names.push((name, index));
        }
        let inner = self.body(start, scope, depth)?;
        let width = inner.width(&self.known_widths());
        if let Some(slot) = self.groups.get_mut(index) {
            *slot = Some(width);
        }
        Ok(Parenthesis::Node(Node::Group {
            index: Some(index),
            inner: Box::new(inner),
        }))
    }

    fn look(
        &mut self,
        start: usize,
        scope: Scope,
        depth: usize,
        behind: bool,
        negative: bool,
    ) -> Parse<Parenthesis> {
        let outer = self.behind;
        if behind && outer.is_none() {
            self.behind = Some(self.groups.len());
        }
        let inner = self.body(start, scope, depth)?;
        self.behind = outer;
        let (low, high) = inner.width(&self.known_widths());
        if behind && low != high {
            return self.refuse_at(
                start,
                "look-behind requires a fixed-width pattern (write one look-behind a width)",
            );
        }
        Ok(Parenthesis::Node(Node::Look {
            behind,
            negative,
            inner: Box::new(inner),
        }))
    }

    fn conditional(&mut self, start: usize, scope: Scope, depth: usize) -> Parse<Parenthesis> {
        let mention = self.at;
        let name = self.raw_name(')')?;
        let group = if name.bytes().all(|b| b.is_ascii_digit()) {
            match name.parse::<usize>() {
                Ok(0) => return self.refuse_at(mention, "bad group number"),
                Ok(group) if group <= MAX_CHARS => group,
                _ => return self.refuse_at(mention, format!("invalid group reference {name}")),
            }
        } else {
            self.check_name(&name, mention)?;
            match self.named(&name) {
                Some(group) => group,
                None => return self.refuse_at(mention, format!("unknown group name `{name}`")),
            }
        };
        self.promised.push((group, mention));
        self.outside_look_behind(group, start)?;
        let depth = depth + 1;
        let yes = self.conditional_branch(scope, depth)?;
        let no = if self.eat('|') {
            self.conditional_branch(scope, depth)?
        } else {
            Node::Empty
        };
        if self.peek() == Some('|') {
            return self.refuse_at(self.at, "conditional with more than two branches");
        }
        self.close(start)?;
        let (yes, no) = (Box::new(yes), Box::new(no));
        Ok(Parenthesis::Node(Node::Conditional { group, yes, no }))
    }

    fn conditional_branch(&mut self, scope: Scope, depth: usize) -> Parse<Node> {
        if depth > MAX_DEPTH {
            return self.refuse_at(self.at, format!("groups nested deeper than {MAX_DEPTH}"));
        }
        self.sequence(scope, depth, false)
    }

    fn comment(&mut self, start: usize) -> Parse<Parenthesis> {
        loop {
            match self.next_token() {
                Some(')') => return Ok(Parenthesis::Comment),
                Some(_) => {}
                None => return self.refuse_at(start, "missing ), unterminated comment"),
            }
        }
    }

    /// `(?flags)`, `(?flags:...)` and `(?flags-flags:...)`.
    fn flags(
        &mut self,
        start: usize,
        scope: Scope,
        depth: usize,
        leading: bool,
    ) -> Parse<Parenthesis> {
        let on = self.take_while(usize::MAX, |c| c.is_ascii_alphabetic());
        let off = match self.eat('-') {
            true => Some(self.take_while(usize::MAX, |c| c.is_ascii_alphabetic())),
            false => None,
        };
        let inner =
            apply_flags(scope, &on, off.as_deref()).or_else(|why| self.refuse_at(start, why))?;
        if self.eat(':') {
            let inner = self.body(start, inner, depth)?;
            return Ok(Parenthesis::Node(Node::Group {
                index: None,
                inner: Box::new(inner),
            }));
        }
        if off.is_some() || !self.eat(')') {
            return self.refuse_at(self.at, "missing `:` or `)` after inline flags");
        }
        if !leading {
            return self.refuse_at(
                start,
                "global flags not at the start of the expression (scope them: `(?i:...)`)",
            );
        }
        if inner.flags.verbose && !scope.flags.verbose {
            return Err(Stop::TurnVerbose);
        }
        self.scope = inner;
        Ok(Parenthesis::WholePattern)
    }

    /// The inside of a group and its closing parenthesis.
    fn body(&mut self, start: usize, scope: Scope, depth: usize) -> Parse<Node> {
        let inner = self.alternation(scope, depth + 1)?;
        self.close(start)?;
        Ok(inner)
    }

    fn close(&mut self, start: usize) -> Parse<()> {
        match self.eat(')') {
            true => Ok(()),
            false => self.refuse_at(start, "missing ), unterminated subpattern"),
        }
    }
}

/// The scope that inline flags make, or why they are refused.
fn apply_flags(scope: Scope, on: &str, off: Option<&str>) -> Result<Scope, &'static str> {
    let mut inner = scope;
    if on.contains('a') && on.contains('u') {
        return Err("inline flags `a` and `u` exclude each other");
    }
    for flag in on.chars() {
        match flag {
            'i' => inner.flags.ignore_case = true,
            'm' => inner.flags.multi_line = true,
            's' => inner.flags.dot_all = true,
            'x' => inner.flags.verbose = true,
            'a' => inner.ascii = true,
            'u' => inner.ascii = false,
            'L' => return Err("inline flag `L` is for byte patterns only"),
            _ => return Err("unknown inline flag"),
        }
    }
    let Some(off) = off else {
        return Ok(inner);
    };
    if off.is_empty() {
        return Err("missing flag after `-`");
    }
    for flag in off.chars() {
        if on.contains(flag) {
            return Err("an inline flag is turned on and off");
        }
        match flag {
            'i' => inner.flags.ignore_case = false,
            'm' => inner.flags.multi_line = false,
            's' => inner.flags.dot_all = false,
            'x' => inner.flags.verbose = false,
            'a' | 'u' | 'L' => return Err("inline flags `a`, `u` and `L` cannot be turned off"),
            _ => return Err("unknown inline flag"),
        }
    }
    Ok(inner)
}
