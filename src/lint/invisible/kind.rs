//! What a text can hide, and how it is told.

use std::ops::Range;

/// So many findings of one kind are told apart in one text. Their texts are few that
/// say something of their own, which must not be lost.
pub(super) const MOST: usize = 100;
pub(super) const MOST_TEXTS: usize = 5_000;

/// One hidden or steering part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hidden {
    /// The bytes of the text it takes.
    pub(crate) range: Range<usize>,
    /// What it is.
    pub(crate) kind: HiddenKind,
    /// What it says, where that can be told: the smuggled text, the word that
    /// is broken up, the text that is covered, a link's target.
    pub(crate) decoded: Option<String>,
    /// How many places it stands for.
    pub(crate) times: usize,
}

impl Hidden {
    pub(super) fn new(range: Range<usize>, kind: HiddenKind, decoded: Option<String>) -> Self {
        Hidden {
            range,
            kind,
            decoded,
            times: 1,
        }
    }

    /// Counts another one that is not told apart, and keeps what it says.
    pub(super) fn stand_for(&mut self, other: Hidden) {
        self.times += other.times;
        if self.kind.carries_text()
            && let Some(more) = other.decoded
        {
            let decoded = self.decoded.get_or_insert_default();
            decoded.push(' ');
            decoded.push_str(&more);
        }
    }
}

/// The ways in which a text hides or steers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum HiddenKind {
    /// Unicode tag characters outside a flag.
    Tag,
    /// Zero-width characters where no script or emoji needs them.
    ZeroWidth,
    /// Two invisible characters in turn that spell bytes.
    Bits,
    /// Overrides, unbalanced or pointless direction controls.
    Direction,
    /// Variation selectors that select nothing.
    VariationSelector,
    /// Runs of invisible mathematical operators.
    Operator,
    /// Blank letters that push text out of sight or part words.
    Filler,
    /// Words broken up by soft hyphens.
    SoftHyphen,
    /// A terminal style that conceals text.
    Conceal,
    /// A terminal hyperlink.
    Hyperlink,
    /// A terminal style that only colours.
    Colour,
    /// Any other terminal sequence.
    Escape,
    /// Text that a terminal overwrites: backspaces and carriage returns.
    Overwrite,
    /// Any other control character.
    Control,
    /// Characters for private use.
    Private,
    /// Halves of surrogate pairs, or what was left of bytes that were no text.
    Replacement,
    /// Code points that are no character.
    Unassigned,
}

impl HiddenKind {
    /// A short description for messages.
    pub(crate) fn description(self) -> &'static str {
        match self {
            Self::Tag => "invisible tag characters",
            Self::ZeroWidth => "zero-width characters",
            Self::Bits => "text encoded in invisible characters",
            Self::Direction => "text direction controls",
            Self::VariationSelector => "variation selectors that select nothing",
            Self::Operator => "invisible operators",
            Self::Filler => "blank filler characters",
            Self::SoftHyphen => "words broken by soft hyphens",
            Self::Conceal => "text concealed by a terminal style",
            Self::Hyperlink => "a terminal hyperlink",
            Self::Colour => "terminal colours",
            Self::Escape => "a terminal escape sequence",
            Self::Overwrite => "text that a terminal overwrites",
            Self::Control => "control characters",
            Self::Private => "private use characters",
            Self::Replacement => "halves of characters",
            Self::Unassigned => "code points that are no character",
        }
    }

    /// Whether neighbours of this kind are one finding.
    pub(super) fn may_merge(self) -> bool {
        !matches!(
            self,
            Self::Bits | Self::Direction | Self::Conceal | Self::Hyperlink
        )
    }

    /// Whether what it says stands nowhere in the text that is seen.
    pub(crate) fn carries_text(self) -> bool {
        matches!(self, Self::Tag | Self::Bits | Self::VariationSelector)
    }

    /// How many of it in one text are told apart.
    pub(super) fn most(self) -> usize {
        if self.carries_text() {
            MOST_TEXTS
        } else {
            MOST
        }
    }

    /// Whether it is ordinary in the output of a command line program.
    pub(crate) fn is_harmless(self) -> bool {
        self == Self::Colour
    }

    /// Whether it may be a picture of some font, or an accident of decoding, unless it
    /// breaks up a word.
    pub(crate) fn is_doubtful(self) -> bool {
        matches!(self, Self::Private | Self::Replacement | Self::Unassigned)
    }
}
