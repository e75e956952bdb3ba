//! Version 1 of the JSON reports. The first members of each struct are those of
//! mcp-cassette 0.4.0, in its order; ours follow. Members are only ever added.

use crate::diff::{Change, Detail, Diff, FieldChange, MethodCount};
use crate::finding::Position;
use crate::finding::{Finding, Region, Report, Status};
use crate::report::checked::{Checked, CheckedCassette, RedactionVerdict};
use crate::report::wording::WAYS_ON;
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct LintReport<'a> {
    cassette: &'a str,
    baseline: Option<&'a str>,
    findings: Vec<LintFinding<'a>>,
    notes: &'a [String],
}

#[derive(Serialize)]
struct LintFinding<'a> {
    rule: &'a str,
    severity: &'static str,
    message: &'a str,
    locator: &'a str,
    tool: Option<&'a str>,
    #[serde(flatten)]
    place: Place,
    fingerprint: &'a str,
    evidence: Option<&'a str>,
    status: &'static str,
    /// Why it is accepted, in the words of the configuration.
    reason: Option<&'a str>,
    help_uri: Option<String>,
    /// How to go on where an entry accepts it that does not hold yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'static str>,
}

/// The members of `check --format json`; `schema` is 1 as long as they only grow.
#[derive(Serialize)]
pub(super) struct CheckReport<'a> {
    schema: u8,
    base: CheckBase<'a>,
    cassettes: Vec<CheckedReport<'a>>,
    summary: CheckSummary,
    errors: &'a [String],
}

#[derive(Serialize)]
struct CheckBase<'a> {
    commit: Option<&'a str>,
    reason: &'a str,
}

#[derive(Serialize)]
struct CheckedReport<'a> {
    path: &'a str,
    status: &'static str,
    old_path: Option<&'a str>,
    findings: Vec<LintFinding<'a>>,
    diff: Option<DiffReport<'a>>,
    redaction: Option<RedactionReport<'a>>,
    notes: &'a [String],
    errors: Vec<&'a str>,
}

#[derive(Serialize)]
struct RedactionReport<'a> {
    profile: Option<&'a str>,
    wanted: Option<&'a str>,
    ok: bool,
}

#[derive(Serialize)]
struct CheckSummary {
    errors: usize,
    warnings: usize,
    existing: usize,
    accepted: usize,
    exit_code: u8,
    findings: usize,
    notes: usize,
    pending: usize,
    fail_on: &'static str,
}

/// Lines and columns from 1; null where a finding is about no place in particular.
#[derive(Serialize)]
struct Place {
    line: Option<u32>,
    column: Option<u32>,
    end_line: Option<u32>,
    end_column: Option<u32>,
}

#[derive(Serialize)]
pub(super) struct DiffReport<'a> {
    old: &'a str,
    new: &'a str,
    metadata: Vec<DiffField<'a>>,
    methods: Vec<DiffMethod<'a>>,
    tools: Vec<ToolChange<'a>>,
    sequence: &'a [String],
    identical: bool,
    prompts: Vec<NamedChange<'a>>,
    resources: Vec<NamedChange<'a>>,
    instructions: Vec<NamedChange<'a>>,
    notes: &'a [String],
    incomplete: bool,
}

#[derive(Serialize)]
struct DiffField<'a> {
    field: &'a str,
    old: Option<&'a str>,
    new: Option<&'a str>,
}

#[derive(Serialize)]
struct DiffMethod<'a> {
    method: &'a str,
    old_count: usize,
    new_count: usize,
}

#[derive(Serialize)]
struct ToolChange<'a> {
    tool: &'a str,
    #[serde(flatten)]
    rest: ChangeRest<'a>,
}

/// A change of a surface that 0.4.0 did not compare.
#[derive(Serialize)]
struct NamedChange<'a> {
    name: &'a str,
    #[serde(flatten)]
    rest: ChangeRest<'a>,
}

#[derive(Serialize)]
struct ChangeRest<'a> {
    change: &'static str,
    diff: &'a [String],
    locator: &'a str,
    impact: &'static str,
    details: Vec<ChangeDetail<'a>>,
    renamed: Option<&'a str>,
    #[serde(flatten)]
    place: Place,
}

#[derive(Serialize)]
struct ChangeDetail<'a> {
    text: &'a str,
    impact: &'static str,
}

impl<'a> From<&'a Report> for LintReport<'a> {
    fn from(report: &'a Report) -> Self {
        LintReport {
            cassette: &report.cassette,
            baseline: report.baseline.as_deref(),
            findings: report.findings.iter().map(LintFinding::from).collect(),
            notes: &report.notes,
        }
    }
}

impl<'a> From<&'a Finding> for LintFinding<'a> {
    fn from(finding: &'a Finding) -> Self {
        LintFinding {
            rule: finding.rule.as_str(),
            severity: finding.severity.as_str(),
            message: &finding.message,
            locator: &finding.locator,
            tool: finding.tool.as_deref(),
            place: Place::from(&finding.region),
            fingerprint: &finding.fingerprint,
            evidence: finding.evidence.as_deref(),
            status: finding.status.as_str(),
            reason: finding.status.reason(),
            help_uri: finding.help_uri(),
            hint: matches!(finding.status, Status::PendingAccept { .. }).then_some(WAYS_ON),
        }
    }
}

impl From<&Region> for Place {
    fn from(region: &Region) -> Self {
        let known = |position: Position, number| (position.line > 0).then_some(number);
        Place {
            line: known(region.start, region.start.line),
            column: known(region.start, region.start.column),
            end_line: known(region.end, region.end.line),
            end_column: known(region.end, region.end.column),
        }
    }
}

impl<'a> From<&'a Diff> for DiffReport<'a> {
    fn from(diff: &'a Diff) -> Self {
        DiffReport {
            old: &diff.old,
            new: &diff.new,
            metadata: diff.metadata.iter().map(DiffField::from).collect(),
            methods: diff.methods.iter().map(DiffMethod::from).collect(),
            tools: diff.tools.iter().map(ToolChange::from).collect(),
            sequence: &diff.sequence,
            identical: diff.identical(),
            prompts: diff.prompts.iter().map(NamedChange::from).collect(),
            resources: diff.resources.iter().map(NamedChange::from).collect(),
            instructions: diff.instructions.iter().map(NamedChange::from).collect(),
            notes: &diff.notes,
            incomplete: diff.incomplete,
        }
    }
}

impl<'a> From<&'a FieldChange> for DiffField<'a> {
    fn from(change: &'a FieldChange) -> Self {
        DiffField {
            field: &change.field,
            old: change.old.as_deref(),
            new: change.new.as_deref(),
        }
    }
}

impl<'a> From<&'a MethodCount> for DiffMethod<'a> {
    fn from(count: &'a MethodCount) -> Self {
        DiffMethod {
            method: &count.method,
            old_count: count.old_count,
            new_count: count.new_count,
        }
    }
}

impl<'a> From<&'a Change> for ToolChange<'a> {
    fn from(change: &'a Change) -> Self {
        ToolChange {
            tool: &change.name,
            rest: ChangeRest::from(change),
        }
    }
}

impl<'a> From<&'a Change> for NamedChange<'a> {
    fn from(change: &'a Change) -> Self {
        NamedChange {
            name: &change.name,
            rest: ChangeRest::from(change),
        }
    }
}

impl<'a> From<&'a Change> for ChangeRest<'a> {
    fn from(change: &'a Change) -> Self {
        ChangeRest {
            change: change.kind.as_str(),
            diff: &change.diff,
            locator: &change.locator,
            impact: change.impact.as_str(),
            details: change.details.iter().map(ChangeDetail::from).collect(),
            renamed: change.renamed.as_deref(),
            place: Place::from(&change.region),
        }
    }
}

impl<'a> From<&'a Detail> for ChangeDetail<'a> {
    fn from(detail: &'a Detail) -> Self {
        ChangeDetail {
            text: &detail.text,
            impact: detail.impact.as_str(),
        }
    }
}

impl<'a> From<&'a Checked> for CheckReport<'a> {
    fn from(checked: &'a Checked) -> Self {
        let counts = checked.counts();
        CheckReport {
            schema: 1,
            base: CheckBase {
                commit: checked.base.commit.as_deref(),
                reason: &checked.base.reason,
            },
            cassettes: checked.cassettes.iter().map(CheckedReport::from).collect(),
            summary: CheckSummary {
                errors: counts.errors,
                warnings: counts.warnings,
                existing: counts.existing,
                accepted: counts.accepted,
                exit_code: checked.exit_code,
                findings: counts.findings,
                notes: counts.notes,
                pending: counts.pending,
                fail_on: checked.fail_on.as_str(),
            },
            errors: &checked.errors,
        }
    }
}

impl<'a> From<&'a CheckedCassette> for CheckedReport<'a> {
    fn from(cassette: &'a CheckedCassette) -> Self {
        let findings = &cassette.report.findings;
        CheckedReport {
            path: &cassette.path,
            status: cassette.status.as_str(),
            old_path: cassette.old_path.as_deref(),
            findings: findings.iter().map(LintFinding::from).collect(),
            diff: cassette.diff.as_ref().map(DiffReport::from),
            redaction: cassette.redaction.as_ref().map(RedactionReport::from),
            notes: &cassette.report.notes,
            errors: cassette.problems().collect(),
        }
    }
}

impl<'a> From<&'a RedactionVerdict> for RedactionReport<'a> {
    fn from(verdict: &'a RedactionVerdict) -> Self {
        RedactionReport {
            profile: verdict.profile.as_deref(),
            wanted: verdict.wanted.as_deref(),
            ok: verdict.ok,
        }
    }
}
