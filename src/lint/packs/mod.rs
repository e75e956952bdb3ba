//! Pattern packs: TOML files that add patterns of a project's own to the bundled rules.
//!
//! [`load()`] reads packs from bytes and checks everything in them, so that a mistake is an error
//! with a file, a line and a key, and never a pattern that silently does nothing.

mod load;

#[cfg(test)]
mod load_tests;

use crate::pattern::Matcher;
pub(crate) use crate::pattern::PackSource;
pub(crate) use load::load;

/// The patterns of all packs of a run, in the order of the packs and of their lines.
#[derive(Debug, Default)]
pub(crate) struct PackSet {
    patterns: Vec<Pattern>,
}

impl PackSet {
    pub(crate) fn patterns(&self) -> &[Pattern] {
        &self.patterns
    }

    /// Adds the patterns of other packs whose id none has here.
    pub(crate) fn add_missing(&mut self, other: PackSet) {
        for pattern in other.patterns {
            if self.patterns.iter().all(|known| known.id != pattern.id) {
                self.patterns.push(pattern);
            }
        }
    }
}

/// One pattern of a pack.
#[derive(Debug)]
pub(crate) struct Pattern {
    /// Stands in the output, in `--select` and in `--ignore`; unique over all packs.
    pub(crate) id: String,
    /// Names the smell in the default message.
    pub(crate) label: String,
    pub(crate) severity: PackSeverity,
    /// Sorted, without repetition, never empty.
    pub(crate) surfaces: Vec<PackSurface>,
    /// Replaces the default message.
    pub(crate) message: Option<String>,
    pub(crate) matcher: Matcher,
}

/// The severities that a pack may give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PackSeverity {
    Error,
    Warning,
}

impl PackSeverity {
    const ALL: [PackSeverity; 2] = [PackSeverity::Error, PackSeverity::Warning];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            PackSeverity::Error => "error",
            PackSeverity::Warning => "warning",
        }
    }
}

/// The kinds of text that a pattern may be aimed at. The first five are those of 0.4.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PackSurface {
    Name,
    Description,
    Result,
    SchemaDescription,
    SchemaEnum,
    Instructions,
    Title,
    Annotation,
    Prompt,
    Resource,
    OutputSchema,
}

impl PackSurface {
    const ALL: [PackSurface; 11] = [
        PackSurface::Name,
        PackSurface::Description,
        PackSurface::Result,
        PackSurface::SchemaDescription,
        PackSurface::SchemaEnum,
        PackSurface::Instructions,
        PackSurface::Title,
        PackSurface::Annotation,
        PackSurface::Prompt,
        PackSurface::Resource,
        PackSurface::OutputSchema,
    ];

    /// What a pattern that names no surface is aimed at.
    const DEFAULT: [PackSurface; 2] = [PackSurface::Description, PackSurface::Result];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            PackSurface::Name => "name",
            PackSurface::Description => "description",
            PackSurface::Result => "result",
            PackSurface::SchemaDescription => "schema_description",
            PackSurface::SchemaEnum => "schema_enum",
            PackSurface::Instructions => "instructions",
            PackSurface::Title => "title",
            PackSurface::Annotation => "annotation",
            PackSurface::Prompt => "prompt",
            PackSurface::Resource => "resource",
            PackSurface::OutputSchema => "output_schema",
        }
    }
}
