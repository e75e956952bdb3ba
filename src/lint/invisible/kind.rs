//! What can be hidden in a text, and what to say of it.

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
