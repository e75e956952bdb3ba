//! Patterns of packs applied to the texts that they ask for.
use super::Settings;
use super::reading::Reading;
use super::run::Sink;

/// The patterns of this run, by the texts that they look at.
pub(crate) struct ActivePatterns<'s> {
    settings: &'s Settings,
}
impl<'s> ActivePatterns<'s> {
    pub(crate) fn new(settings: &'s Settings) -> Self {
        ActivePatterns { settings }
    }
    pub(crate) fn apply(&self, _: &Reading<'_>, _: &mut Sink) {}
}
