//! Patterns of packs, applied to the texts that they are aimed at.

use super::Settings;
use super::findings::Findings;
use super::packs::{PackSeverity, PackSurface, Pattern};
use super::reading::Reading;
use super::run::Sink;
use super::surfaces::Surface;
use crate::finding::{RuleId, Severity};
use crate::pattern::{Budget, Outcome};
use std::cell::RefCell;

/// The patterns of a run over one cassette, each with what is left of its budget.
pub(crate) struct ActivePatterns<'s> {
    patterns: Vec<(&'s Pattern, RefCell<Budget>)>,
}

impl<'s> ActivePatterns<'s> {
    pub(crate) fn new(settings: &'s Settings) -> Self {
        let applies = |pattern: &&Pattern| settings.applies(&pattern.id);
        let patterns = settings.packs.patterns().iter().filter(applies);
        ActivePatterns {
            patterns: patterns
                .map(|pattern| (pattern, RefCell::new(Budget::new())))
                .collect(),
        }
    }

    /// Reports the first match of every pattern that is aimed at such a text, and
    /// that a pattern could not be tried to the end.
    pub(crate) fn apply(&self, reading: &Reading<'_>, sink: &mut Sink) {
        let Some(surface) = surface_of(reading) else {
            return;
        };
        for (pattern, budget) in &self.patterns {
            if !pattern.surfaces.contains(&surface) {
                continue;
            }
            let severity = match pattern.severity {
                PackSeverity::Error => Severity::Error,
                PackSeverity::Warning => Severity::Warning,
            };
            let rule = RuleId::from_pack(&pattern.id);
            let mut findings = Findings::with(rule, severity, sink);
            let outcome = pattern
                .matcher
                .find(reading.value(), &mut budget.borrow_mut());
            match outcome {
                Outcome::None => {}
                Outcome::Match(range) => {
                    let message = pattern.message.clone().unwrap_or_else(|| {
                        format!("{} matches {}", reading.subject(), pattern.label)
                    });
                    findings.text(reading, range, message);
                }
                Outcome::Exhausted { why } => {
                    let message = format!(
                        "pattern {} was not tried to the end on the {}: {why}",
                        pattern.id,
                        reading.surface().noun()
                    );
                    findings.unchecked(reading.text.span, reading.owner.tool(), message);
                }
            }
        }
    }
}

/// The name that packs have for such a text; none for texts that patterns do not see.
fn surface_of(reading: &Reading<'_>) -> Option<PackSurface> {
    Some(match reading.surface() {
        Surface::ToolName => PackSurface::Name,
        Surface::ToolTitle => PackSurface::Title,
        Surface::ToolDescription => PackSurface::Description,
        Surface::ToolAnnotation => PackSurface::Annotation,
        Surface::SchemaDescription => PackSurface::SchemaDescription,
        Surface::SchemaEnum => PackSurface::SchemaEnum,
        Surface::OutputSchema => PackSurface::OutputSchema,
        Surface::Instructions => PackSurface::Instructions,
        Surface::Prompt | Surface::PromptMessage => PackSurface::Prompt,
        Surface::Resource | Surface::ResourceText | Surface::DecodedText => PackSurface::Resource,
        Surface::Result => PackSurface::Result,
        Surface::SchemaName
        | Surface::SchemaText
        | Surface::ServerInfo
        | Surface::Structured
        | Surface::Blob
        | Surface::Error
        | Surface::ServerRequest
        | Surface::Notification
        | Surface::Raw
        | Surface::Other => return None,
    })
}
