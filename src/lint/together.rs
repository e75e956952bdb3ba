//! Orders that are parted over several texts of one tool: one word an entry of an `enum`,
//! or what in the description and where to in a parameter.

use super::reading::signals_of;
use super::signals::{SignalKind, Strength};
use super::surfaces::{Defined, Definition, Surface, Text};
use crate::wire::json::Span;
use std::ops::Range;

/// An order that no text holds alone.
pub(crate) struct Split {
    pub(crate) kind: SignalKind,
    /// Where the first of its texts stands.
    pub(crate) span: Span,
    pub(crate) words: String,
}

/// So much of a tool is read together, in bytes.
const MOST: usize = 8 * 1024;
/// Longer texts say enough by themselves.
const LONGEST_TEXT: usize = 1024;

/// What the texts of a tool ask for together and none of them alone.
pub(crate) fn split(definition: &Definition<'_>) -> Option<Split> {
    if definition.defines != Defined::Tool {
        return None;
    }
    let mut joined = String::new();
    let mut parts: Vec<(Range<usize>, Span)> = Vec::new();
    let mut before: Option<&Text<'_>> = None;
    for text in definition.texts.iter().filter(|text| is_read(text)) {
        if joined.len() + text.value.len() > MOST {
            break;
        }
        joined.push_str(before.map_or("", |before| between(before, text)));
        let start = joined.len();
        joined.push_str(&text.value);
        parts.push((start..joined.len(), text.span));
        before = Some(text);
    }
    if parts.len() < 2 {
        return None;
    }
    let crosses = |range: &Range<usize>| {
        let part = parts.partition_point(|(part, _)| part.end <= range.start);
        parts.get(part).filter(|(part, _)| part.end < range.end)
    };
    signals_of(&joined, false).into_iter().find_map(|signal| {
        let counts = signal.strength == Strength::Strong && signal.kind != SignalKind::Material;
        let (_, span) = crosses(&signal.range).filter(|_| counts)?;
        Some(Split {
            kind: signal.kind,
            span: *span,
            words: joined.get(signal.range)?.to_owned(),
        })
    })
}

fn is_read(text: &Text<'_>) -> bool {
    let prose = matches!(
        text.surface,
        Surface::ToolTitle
            | Surface::ToolDescription
            | Surface::SchemaDescription
            | Surface::SchemaEnum
            | Surface::SchemaText
    );
    prose && text.value.len() <= LONGEST_TEXT && !text.is_name
}

/// Entries of a list go on where the last one ended; other texts end a sentence.
fn between(before: &Text<'_>, text: &Text<'_>) -> &'static str {
    let listed = text.surface == before.surface
        && matches!(text.surface, Surface::SchemaEnum | Surface::SchemaText)
        && text.key == before.key;
    match listed {
        true => " ",
        false if before.value.trim_end().ends_with(['.', '!', '?', ':']) => " ",
        false => ". ",
    }
}
