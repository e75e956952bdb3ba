//! What keeps a finding from counting: an entry of the configuration, or the
//! baseline that has it too.

use super::Settings;
use super::rules::{ABOUT_SECRETS, UNCHECKED};
use crate::finding::{Finding, Report, Status};
use std::collections::{HashMap, HashSet};

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

/// Whether the fingerprint of a rule's findings leaves most of the value out, so that
/// two values can share one. One entry, and one finding of the baseline, then stands
/// for one finding of a cassette and not for every other key at the same place.
pub(crate) fn counts_one_by_one(rule: &str) -> bool {
    ABOUT_SECRETS.contains(&rule) || rule == crate::redact::LEFT_OVER.id
}

/// Marks the findings that the configuration accepts. R013 says that something was
/// not checked, which nobody can have looked at, so it cannot be accepted.
pub(crate) fn mark_accepted(findings: &mut [Finding], settings: &Settings) {
    let today = settings.today.as_deref();
    let mut used: HashSet<usize> = HashSet::new();
    for finding in findings
        .iter_mut()
        .filter(|finding| finding.rule.as_str() != UNCHECKED.info.id)
    {
        let alone = counts_one_by_one(finding.rule.as_str());
        let entry = settings.accept.iter().enumerate().find(|(index, entry)| {
            entry.covers(finding) && !entry.is_expired(today) && !(alone && used.contains(index))
        });
        if let Some((index, entry)) = entry {
            used.insert(index);
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
    let mut known: HashMap<(&str, &str), usize> = HashMap::new();
    for finding in baseline {
        let key = (finding.rule.as_str(), finding.fingerprint.as_str());
        *known.entry(key).or_default() += 1;
    }
    for finding in findings
        .iter_mut()
        .filter(|finding| finding.status.counts())
    {
        let rule = finding.rule.as_str();
        if rule == UNCHECKED.info.id {
            continue;
        }
        let Some(left) = known.get_mut(&(rule, finding.fingerprint.as_str())) else {
            continue;
        };
        if counts_one_by_one(rule) {
            let Some(fewer) = left.checked_sub(1) else {
                continue;
            };
            *left = fewer;
        }
        finding.status = Status::Existing;
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
