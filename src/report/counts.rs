//! Findings counted, in one place for every format.

use crate::finding::{Finding, Severity, Status};

/// How many findings there are, by what they count for. `findings` is the sum of
/// `errors`, `warnings` and `notes`; existing and accepted ones are in none of these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) findings: usize,
    pub(crate) errors: usize,
    pub(crate) warnings: usize,
    pub(crate) notes: usize,
    /// The baseline has them too.
    pub(crate) existing: usize,
    /// An entry of the configuration accepts them.
    pub(crate) accepted: usize,
    /// Those of `findings` that an entry of the change under review would accept.
    pub(crate) pending: usize,
}

impl Counts {
    pub(crate) fn of<'f>(findings: impl IntoIterator<Item = &'f Finding>) -> Self {
        let mut counts = Counts::default();
        for finding in findings {
            counts.count(finding);
        }
        counts
    }

    fn count(&mut self, finding: &Finding) {
        match &finding.status {
            Status::Existing => {
                self.existing += 1;
                return;
            }
            Status::Accepted { .. } => {
                self.accepted += 1;
                return;
            }
            Status::PendingAccept { .. } => self.pending += 1,
            Status::New => {}
        }
        self.findings += 1;
        match finding.severity {
            Severity::Error => self.errors += 1,
            Severity::Warning => self.warnings += 1,
            Severity::Note => self.notes += 1,
        }
    }

    /// Findings that are shown and never count.
    pub(crate) fn silenced(self) -> usize {
        self.existing + self.accepted
    }
}
