//! What keeps a finding from counting: an entry of the configuration, or the
//! baseline that has it too.

use super::Settings;
use super::rules::UNCHECKED;
use crate::finding::{Finding, Report, Status};
use std::collections::HashSet;

/// An entry of the configuration that accepts one finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accept {
    /// The rule that found it.
    pub rule: String,
    /// The finding's fingerprint.
    pub fingerprint: String,
    /// Why it is accepted.
    pub reason: String,
    /// The last day on which the entry holds, as `YYYY-MM-DD`.
    pub expires: Option<String>,
}

impl Accept {
    /// Whether the entry has run out. Dates in this form compare as text.
    fn is_expired(&self, today: Option<&str>) -> bool {
        matches!((&self.expires, today), (Some(expires), Some(today)) if expires.as_str() < today)
    }

    fn covers(&self, finding: &Finding) -> bool {
        self.rule == finding.rule.as_str() && self.fingerprint == finding.fingerprint
    }
}

/// Marks the findings that the configuration accepts. R013 says that something was
/// not checked, which nobody can have looked at, so it cannot be accepted.
pub(crate) fn mark_accepted(findings: &mut [Finding], settings: &Settings) {
    let today = settings.today.as_deref();
    for finding in findings
        .iter_mut()
        .filter(|finding| finding.rule.as_str() != UNCHECKED.info.id)
    {
        let entry = settings
            .accept
            .iter()
            .find(|entry| entry.covers(finding) && !entry.is_expired(today));
        if let Some(entry) = entry {
            finding.status = Status::Accepted {
                reason: entry.reason.clone(),
            };
            continue;
        }
        let pending = settings.pending.iter().find(|entry| entry.covers(finding));
        if let Some(entry) = pending {
            finding.status = Status::PendingAccept {
                reason: entry.reason.clone(),
            };
        }
    }
}

/// For a cassette whose content the base has as well: all that it has is there too.
pub(crate) fn mark_all_existing(findings: &mut [Finding]) {
    for finding in findings {
        let unchecked = finding.rule.as_str() == UNCHECKED.info.id;
        if !unchecked && finding.status.counts() {
            finding.status = Status::Existing;
        }
    }
}

/// Marks the findings that the baseline has too.
pub(crate) fn mark_existing(findings: &mut [Finding], baseline: &[Finding]) {
    let known: HashSet<(&str, &str)> = baseline
        .iter()
        .map(|finding| (finding.rule.as_str(), finding.fingerprint.as_str()))
        .collect();
    for finding in findings
        .iter_mut()
        .filter(|finding| finding.status.counts())
    {
        let unchecked = finding.rule.as_str() == UNCHECKED.info.id;
        if !unchecked && known.contains(&(finding.rule.as_str(), finding.fingerprint.as_str())) {
            finding.status = Status::Existing;
        }
    }
}

/// Entries that have run out are named in every report; whether an entry is unused
/// only a run over all cassettes can tell, so that is left to its caller.
pub(crate) fn note_expired(report: &mut Report, settings: &Settings) {
    for entry in &settings.accept {
        if entry.is_expired(settings.today.as_deref())
            && report.findings.iter().any(|finding| entry.covers(finding))
        {
            report.notes.push(format!(
                "the accept entry for {} {} expired on {}",
                entry.rule,
                entry.fingerprint,
                entry.expires.as_deref().unwrap_or_default()
            ));
        }
    }
}

/// The accept entries that none of these findings needed.
pub(crate) fn unused<'e, 'f>(
    accept: &'e [Accept],
    findings: impl IntoIterator<Item = &'f Finding>,
) -> Vec<&'e Accept> {
    let mut unused: Vec<&Accept> = accept.iter().collect();
    for finding in findings {
        unused.retain(|entry| !entry.covers(finding));
    }
    unused
}
