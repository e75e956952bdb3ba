//! The syntax tree of a Python regular expression, and what can be known about it without running it.
//!
//! Flags are resolved while parsing, so a node means the same wherever it stands. The analyses
//! answer the questions that the matcher asks: does the pattern need a backtracking engine, how
//! far to either side of a match does it look, and how large does it become when compiled.

/// Flags that a pack may set, the same four letters that 0.4.0 accepts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flags {
    /// `i`
    pub(crate) ignore_case: bool,
    /// `m`
    pub(crate) multi_line: bool,
    /// `s`
    pub(crate) dot_all: bool,
    /// `x`
    pub(crate) verbose: bool,
}

/// A width that has no upper bound.
pub(super) const UNBOUNDED: u64 = u64::MAX;

/// The most bytes that one character takes in UTF-8.
const CHAR_BYTES: u64 = 4;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node {
    Empty,
    Literal {
        /// A code point; unlike a `char` it may be a surrogate, which no text contains.
        code: u32,
        fold: Fold,
    },
    Any {
        newline: bool,
    },
    Class(Class),
    Assert(Assertion),
    Group {
        /// The number of a capturing group.
        index: Option<usize>,
        inner: Box<Node>,
    },
    Concat(Vec<Node>),
    Alternate(Vec<Node>),
    Repeat {
        inner: Box<Node>,
        min: u32,
        max: Option<u32>,
        kind: Greed,
    },
    Look {
        behind: bool,
        negative: bool,
        inner: Box<Node>,
    },
    Atomic(Box<Node>),
    Backreference {
        group: usize,
        fold: Fold,
    },
    Conditional {
        group: usize,
        yes: Box<Node>,
        no: Box<Node>,
    },
}

/// How letter case is ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fold {
    Exact,
    Unicode,
    Ascii,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Greed {
    Greedy,
    Lazy,
    Possessive,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Assertion {
    TextStart,
    /// Python's `\Z`: the very end.
    TextEnd,
    /// Python's `$`: the very end, or before a newline that ends the text.
    TextEndOrFinalNewline,
    LineStart,
    LineEnd,
    WordBoundary {
        negated: bool,
        ascii: bool,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Class {
    pub(super) negated: bool,
    pub(super) ranges: Vec<(u32, u32)>,
    pub(super) categories: Vec<Category>,
    pub(super) fold: Fold,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Category {
    pub(super) kind: CategoryKind,
    pub(super) negated: bool,
    pub(super) ascii: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CategoryKind {
    Digit,
    Space,
    Word,
}

/// Widths of the capturing groups, in characters, filled as groups close. Index 0 is unused.
pub(super) type GroupWidths = Vec<(u64, u64)>;

impl Node {
    /// The least and the most characters that the node consumes.
    pub(super) fn width(&self, groups: &GroupWidths) -> (u64, u64) {
        match self {
            Node::Empty | Node::Assert(_) | Node::Look { .. } => (0, 0),
            Node::Literal { .. } | Node::Any { .. } | Node::Class(_) => (1, 1),
            Node::Group { inner, .. } | Node::Atomic(inner) => inner.width(groups),
            Node::Concat(items) => items.iter().fold((0, 0), |(low, high), item| {
                let (item_low, item_high) = item.width(groups);
                (low.saturating_add(item_low), high.saturating_add(item_high))
            }),
            Node::Alternate(branches) => widest(branches.iter().map(|branch| branch.width(groups))),
            Node::Repeat {
                inner, min, max, ..
            } => {
                let (low, high) = inner.width(groups);
                (low.saturating_mul(u64::from(*min)), times(high, *max))
            }
            Node::Backreference { group, .. } => {
                groups.get(*group).copied().unwrap_or((0, UNBOUNDED))
            }
            Node::Conditional { yes, no, .. } => {
                widest([yes.width(groups), no.width(groups)].into_iter())
            }
        }
    }

    /// Whether the linear engine cannot express the node.
    ///
    /// `tail` says that nothing follows the node in the pattern: there `$` can be written for the
    /// linear engine (see `translate.rs`), elsewhere it takes a look-ahead.
    pub(super) fn needs_backtracking(&self, tail: bool) -> bool {
        match self {
            Node::Empty | Node::Literal { .. } | Node::Any { .. } | Node::Class(_) => false,
            Node::Assert(Assertion::TextEndOrFinalNewline) => !tail,
            // The linear engine has no negated ASCII word boundary for valid UTF-8.
            Node::Assert(Assertion::WordBoundary { negated, ascii }) => *negated && *ascii,
            Node::Assert(_) => false,
            Node::Group { inner, .. } => inner.needs_backtracking(tail),
            Node::Concat(items) => items
                .iter()
                .enumerate()
                .any(|(place, item)| item.needs_backtracking(tail && place + 1 == items.len())),
            Node::Alternate(branches) => branches.iter().any(|b| b.needs_backtracking(tail)),
            Node::Repeat {
                inner, max, kind, ..
            } => *kind == Greed::Possessive || inner.needs_backtracking(tail && *max == Some(1)),
            Node::Look { .. }
            | Node::Atomic(_)
            | Node::Backreference { .. }
            | Node::Conditional { .. } => true,
        }
    }

    /// Whether any node of the tree satisfies the predicate.
    pub(super) fn any(&self, predicate: &dyn Fn(&Node) -> bool) -> bool {
        predicate(self) || self.children().any(|child| child.any(predicate))
    }

    pub(super) fn children(&self) -> Box<dyn Iterator<Item = &Node> + '_> {
        match self {
            Node::Group { inner, .. }
            | Node::Atomic(inner)
            | Node::Repeat { inner, .. }
            | Node::Look { inner, .. } => Box::new(std::iter::once(&**inner)),
            Node::Concat(items) | Node::Alternate(items) => Box::new(items.iter()),
            Node::Conditional { yes, no, .. } => Box::new([&**yes, &**no].into_iter()),
            _ => Box::new(std::iter::empty()),
        }
    }

    /// Characters to the left of a match that may decide about it.
    pub(super) fn looks_left(&self, groups: &GroupWidths) -> u64 {
        let below = self
            .children()
            .map(|c| c.looks_left(groups))
            .max()
            .unwrap_or(0);
        match self {
            Node::Assert(_) => 1,
            Node::Look {
                behind: true,
                inner,
                ..
            } => inner.width(groups).1.saturating_add(below),
            _ => below,
        }
    }

    /// Bytes, counted from the start of a match, that the node may consume or look at.
    pub(super) fn looks_right(&self, groups: &GroupWidths) -> u64 {
        let consumed = |node: &Node| node.width(groups).1.saturating_mul(CHAR_BYTES);
        match self {
            Node::Assert(_) => 2 * CHAR_BYTES,
            Node::Concat(items) => {
                let mut before = 0u64;
                let mut seen = 0u64;
                for item in items {
                    seen = seen.max(before.saturating_add(item.looks_right(groups)));
                    before = before.saturating_add(consumed(item));
                }
                seen
            }
            Node::Repeat { inner, max, .. } => {
                let earlier = times(consumed(inner), max.map(|max| max.saturating_sub(1)));
                earlier.saturating_add(inner.looks_right(groups))
            }
            // A look-behind starts further left, so this counts too much, never too little.
            Node::Look { inner, .. } => inner.looks_right(groups),
            Node::Group { .. }
            | Node::Atomic(_)
            | Node::Alternate(_)
            | Node::Conditional { .. } => self
                .children()
                .map(|c| c.looks_right(groups))
                .max()
                .unwrap_or(0),
            Node::Empty
            | Node::Literal { .. }
            | Node::Any { .. }
            | Node::Class(_)
            | Node::Backreference { .. } => consumed(self),
        }
    }

    /// How many instructions the node becomes when its counted repetitions are written out.
    pub(super) fn unrolled(&self) -> u64 {
        self.written_out(&|_| 1)
    }

    /// An upper estimate of the memory that the compiled node takes, in bytes.
    pub(super) fn compiled_bytes(&self) -> u64 {
        self.written_out(&|node| match node {
            Node::Literal {
                fold: Fold::Exact, ..
            } => 100,
            Node::Literal { .. } | Node::Any { .. } => 1_000,
            Node::Class(class) => class.compiled_bytes(),
            _ => 200,
        })
    }

    fn written_out(&self, cost: &dyn Fn(&Node) -> u64) -> u64 {
        let children = self.children();
        let all = children.fold(cost(self), |sum, c| sum.saturating_add(c.written_out(cost)));
        match self {
            Node::Repeat { min, max, .. } => {
                let copies = max.unwrap_or(min.saturating_add(1)).max(1);
                all.saturating_mul(u64::from(copies))
            }
            _ => all,
        }
    }
}

impl Class {
    /// The class of one character.
    pub(super) fn of(code: u32, fold: Fold) -> Self {
        Class {
            negated: false,
            ranges: vec![(code, code)],
            categories: Vec::new(),
            fold,
        }
    }

    /// Measured with `regex` 1.13: 60 bytes a range, a kilobyte for a complement.
    fn compiled_bytes(&self) -> u64 {
        let ranges = u64::try_from(self.ranges.len()).unwrap_or(u64::MAX);
        let categories = self.categories.iter().map(|category| match category.kind {
            CategoryKind::Word if !category.ascii => 50_000,
            CategoryKind::Digit if !category.ascii => 6_000,
            _ => 1_500,
        });
        let ascii = self.ranges.iter().all(|(_, high)| *high < 0x80);
        let folded: u64 = match (self.fold, ascii) {
            (Fold::Unicode, false) => 40_000,
            (Fold::Unicode, true) => 1_000,
            _ => 0,
        };
        ranges
            .saturating_mul(100)
            .saturating_add(1_000 + folded + categories.sum::<u64>())
    }
}

fn widest(widths: impl Iterator<Item = (u64, u64)>) -> (u64, u64) {
    widths
        .reduce(|(low, high), (next_low, next_high)| (low.min(next_low), high.max(next_high)))
        .unwrap_or((0, 0))
}

/// A width repeated; zero stays zero however often it is repeated.
fn times(width: u64, count: Option<u32>) -> u64 {
    match count {
        Some(count) => width.saturating_mul(u64::from(count)),
        None if width == 0 => 0,
        None => UNBOUNDED,
    }
}
