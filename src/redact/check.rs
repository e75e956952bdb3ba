//! The check: a manifest is a claim, and a scan with its own rules is the proof.

use super::locator::{NAMES_OF_0_4_0, Structural};
use super::manifest::{Manifest, PackFiles};
use super::pseudonym::Salt;
use super::redactor::{Action, Hit, Parts, Redactor};
use super::rewrite::{SESSION_RULE, scan_cassette};
use super::{RedactError, bundled};
use crate::cassette::Cassette;
use crate::cassette::locate::whole;
use crate::cassette::place::{Draft, Identity, place};
use crate::finding::{Evidence, Finding, Report, RuleId, RuleInfo, Severity};
use crate::wire::json::{Span, decode};
use aho_corasick::{AhoCorasickBuilder, MatchKind};
use std::collections::BTreeMap;

/// The rules of the check, for the catalogue.
pub(crate) const RULES: [RuleInfo; 3] = [NO_MANIFEST, OTHER_PROFILE, LEFT_OVER];

const NO_MANIFEST: RuleInfo = RuleInfo {
    id: "R201",
    name: "no-redaction-manifest",
    summary: "a profile is required and nothing says that the recording was scrubbed",
    severity: Severity::Error,
    evidence: Evidence::Shape,
    owasp: &["MCP01", "MCP08"],
    safe_mcp: &[],
    page: include_str!("../../docs/rules/R201.md"),
};

const OTHER_PROFILE: RuleInfo = RuleInfo {
    id: "R202",
    name: "other-redaction-profile",
    summary: "the recording was scrubbed with another profile than the required one",
    severity: Severity::Error,
    evidence: Evidence::Shape,
    owasp: &["MCP01", "MCP08"],
    safe_mcp: &[],
    page: include_str!("../../docs/rules/R202.md"),
};

/// A value that was left behind.
pub(crate) const LEFT_OVER: RuleInfo = RuleInfo {
    id: "R203",
    name: "unredacted-value",
    summary: "a value that a rule of the recording's redaction should have replaced",
    severity: Severity::Error,
    evidence: Evidence::Shape,
    owasp: &["MCP01"],
    safe_mcp: &["SAFE-T1504"],
    page: include_str!("../../docs/rules/R203.md"),
};

/// Member names with personal data that are listed one by one.
const NOTED: usize = 5;

/// What is asked of a cassette.
#[derive(Clone, Copy)]
pub(crate) struct CheckOptions<'a> {
    /// The profile that its manifest must name.
    pub(crate) profile: Option<&'a str>,
    pub(crate) files: PackFiles<'a>,
}

/// Checks one cassette: whether it says that it was scrubbed as required (R201, R202),
/// and whether it was (R203).
///
/// # Errors
///
/// A damaged manifest, and a pack that cannot be resolved: nothing could be proved then.
pub(crate) fn check(
    cassette: &Cassette,
    options: &CheckOptions<'_>,
) -> Result<Report, RedactError> {
    let text = &cassette.text;
    let manifest = cassette
        .head
        .redaction
        .map(|span| Manifest::parse(span.of(text)));
    let manifest = manifest.transpose()?;
    let mut notes = Vec::new();
    let mut drafts = Vec::new();
    drafts.extend(claim(cassette, manifest.as_ref(), options.profile));
    if manifest.is_none() && options.profile.is_none() {
        notes.push(
            "nothing claims to have scrubbed it: there is no redaction manifest, and the \
             bundled rules alone were checked"
                .to_owned(),
        );
    }
    let redactor = scanner(manifest.as_ref(), options.files)?;
    let mut reported = Vec::new();
    let mut names = BTreeMap::new();
    let ours = manifest.as_ref().is_none_or(|manifest| !manifest.is_past());
    for (pointer, hits) in scan_cassette(cassette, &redactor) {
        for hit in hits {
            // 0.4.0 keeps the session id as it is, and says so nowhere.
            if hit.rule == SESSION_RULE && !ours {
                continue;
            }
            if let (true, Some(part)) = (hit.in_name, &hit.part) {
                let name = decode(hit.span.of(text));
                let secret = name.get(part.clone()).unwrap_or_default().to_owned();
                if !secret.is_empty() {
                    names.insert(escaped(&secret), escaped(&hit.sample));
                }
            }
            match hit.action {
                Action::Reported => {
                    reported.push(format!("{pointer}{} ({})", hit.pointer, hit.rule));
                }
                Action::Replaced => drafts.push(left_over(&hit)),
                Action::Unscanned => drafts.push(unchecked(&hit)),
            }
        }
    }
    notes.extend(names_note(&reported));
    Ok(Report {
        cassette: cassette.name().to_owned(),
        baseline: None,
        findings: without_names(place(cassette, drafts), &names)?,
        notes,
    })
}

/// Findings whose pointers tell no member name that is a finding itself.
fn without_names(
    mut findings: Vec<Finding>,
    names: &BTreeMap<String, String>,
) -> Result<Vec<Finding>, RedactError> {
    if names.is_empty() {
        return Ok(findings);
    }
    let mut builder = AhoCorasickBuilder::new();
    builder.match_kind(MatchKind::LeftmostLongest);
    let samples: Vec<&str> = names.values().map(String::as_str).collect();
    let automaton = builder
        .build(names.keys())
        .map_err(|_| RedactError::TooManyNames)?;
    for finding in &mut findings {
        if automaton.is_match(&finding.locator) {
            finding.locator = automaton.replace_all(&finding.locator, &samples);
        }
    }
    Ok(findings)
}

fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// What the manifest says against what is required.
fn claim(cassette: &Cassette, manifest: Option<&Manifest>, wanted: Option<&str>) -> Option<Draft> {
    let wanted = wanted?;
    let name = cassette.name();
    let fix = format!("re-record it with --redact-profile {wanted}, or run mcp-cassette redact");
    let (rule, message, span) = match manifest {
        None => {
            let message =
                format!("{name} carries no redaction manifest, expected '{wanted}'; {fix}");
            let start = whole(&cassette.text).start as usize;
            ("R201", message, Span::new(start, start + 1))
        }
        Some(manifest) if manifest.profile.as_deref() == Some(wanted) => return None,
        Some(manifest) => {
            let found = match &manifest.profile {
                Some(profile) => format!("the redaction profile '{profile}'"),
                None => "a redaction that names no profile".to_owned(),
            };
            let message = format!("{name} was scrubbed with {found}, expected '{wanted}'; {fix}");
            ("R202", message, cassette.head.redaction.unwrap_or_default())
        }
    };
    Some(Draft {
        rule: RuleId::bundled(rule),
        severity: Severity::Error,
        identity: Identity::text(wanted),
        message,
        tool: None,
        value: span,
        part: None,
        noun: "redaction manifest",
        evidence: None,
    })
}

/// The rules that the recording names, and the bundled pack.
fn scanner(manifest: Option<&Manifest>, files: PackFiles<'_>) -> Result<Redactor, RedactError> {
    let mut packs = match manifest {
        Some(manifest) => manifest.resolve(files)?,
        None => Vec::new(),
    };
    let common = bundled::common()?;
    if !packs.iter().any(|pack| pack.sha256 == common.sha256) {
        packs.push(common);
    }
    let structural = match manifest {
        None => Vec::new(),
        // The globs of 0.4.0 match `max_tokens` too. A recording without default rules
        // looks the same, so that only what promises a secret is held against it.
        Some(manifest) if manifest.is_past() => match manifest.names_structural() {
            false => Vec::new(),
            true => NAMES_OF_0_4_0
                .iter()
                .map(|id| Structural::new(&format!("word:{id}"), super::locator::REDACTED))
                .collect::<Result<Vec<_>, _>>()?,
        },
        Some(manifest) => manifest
            .structural
            .iter()
            .flatten()
            .map(|rule| Structural::new(&rule.locator, &rule.replacement))
            .collect::<Result<Vec<_>, _>>()?,
    };
    Redactor::assemble(Parts {
        structural,
        packs,
        profile: None,
        // Nothing is written, so that no pseudonym matters.
        salt: Salt::stable(),
        past: false,
    })
}

fn left_over(hit: &Hit) -> Draft {
    let what = match hit.rule.split_once('/') {
        Some((pack, rule)) if !hit.rule.starts_with('/') => {
            format!("rule {rule} of the redaction pack {pack}")
        }
        _ => format!("the redaction locator {}", hit.rule),
    };
    Draft {
        rule: RuleId::bundled("R203"),
        severity: Severity::Error,
        message: format!(
            "{what} should have redacted this value (\"{}\")",
            hit.sample
        ),
        tool: None,
        value: hit.span,
        part: hit.part.clone(),
        noun: "value",
        identity: Identity::Secret(format!("{} {}", hit.rule, hit.sample)),
        evidence: Some(hit.sample.clone()),
    }
}

fn unchecked(hit: &Hit) -> Draft {
    let why = match hit.rule.as_str() {
        "" => "it is nested more than 512 levels deep".to_owned(),
        rule => format!("rule {rule} could not be tried to the end"),
    };
    Draft {
        rule: RuleId::bundled("R013"),
        severity: Severity::Error,
        message: format!("the value was not checked for redaction: {why}"),
        tool: None,
        value: hit.span,
        part: None,
        noun: "value",
        // It may hold a secret, so that its line is not shown.
        identity: Identity::Secret(hit.rule.clone()),
        evidence: None,
    }
}

fn names_note(reported: &[String]) -> Option<String> {
    let shown = reported.get(..reported.len().min(NOTED))?;
    let more = reported.len() - shown.len();
    let more = match more {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!reported.is_empty()).then(|| {
        format!(
            "member names hold personal data, which redaction does not rewrite: {}{more}",
            shown.join(", ")
        )
    })
}
