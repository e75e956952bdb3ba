//! Findings: the one result type of every check of the gate.

use std::borrow::Cow;
use std::fmt;

/// How much a finding weighs. The order is that of severity: a note is the least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Shown, never a reason to fail.
    Note,
    /// Fails under `--fail-on warning`.
    Warning,
    /// Fails by default.
    Error,
}

impl Severity {
    /// The word used in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The id of a rule: `R001` and so on for ours, anything else for a pattern of a pack.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleId(Cow<'static, str>);

impl RuleId {
    /// A rule that ships with mcp-cassette.
    pub(crate) const fn bundled(id: &'static str) -> Self {
        RuleId(Cow::Borrowed(id))
    }

    /// A rule from a pattern pack.
    pub(crate) fn from_pack(id: &str) -> Self {
        RuleId(Cow::Owned(id.to_owned()))
    }

    /// The id as it is written in reports and configuration.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a rule is called, how much it weighs and where it is explained.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RuleInfo {
    pub(crate) id: &'static str,
    /// In kebab case.
    pub(crate) name: &'static str,
    /// One line, without a full stop.
    pub(crate) summary: &'static str,
    pub(crate) severity: Severity,
    pub(crate) evidence: Evidence,
    /// Entries of the OWASP MCP Top 10 (2025).
    pub(crate) owasp: &'static [&'static str],
    /// Techniques of SAFE-MCP.
    pub(crate) safe_mcp: &'static [&'static str],
    /// `docs/rules/<id>.md`.
    pub(crate) page: &'static str,
}

/// Whether the text alone decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Evidence {
    /// The form of the text is the problem.
    Shape,
    /// The text asks for something that only its author knows the reason of.
    Intent,
}

impl Evidence {
    /// The word used in reports.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Evidence::Shape => "shape",
            Evidence::Intent => "intent",
        }
    }
}

/// Whether a finding counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// It counts.
    #[default]
    New,
    /// The baseline has it too, so it is shown and does not count.
    Existing,
    /// An entry of the configuration accepts it, for the reason given there.
    Accepted {
        /// Why, in the words of the configuration.
        reason: String,
    },
    /// An entry accepts it that only the change under review has. It counts: a
    /// pull request cannot accept its own findings.
    PendingAccept {
        /// Why, in the words of that entry.
        reason: String,
    },
}

impl Status {
    /// The word used in reports.
    pub fn as_str(&self) -> &'static str {
        match self {
            Status::New => "new",
            Status::Existing => "existing",
            Status::Accepted { .. } => "accepted",
            Status::PendingAccept { .. } => "pending-accept",
        }
    }

    /// Whether a finding of this status can be a reason to fail.
    pub fn counts(&self) -> bool {
        match self {
            Status::New | Status::PendingAccept { .. } => true,
            Status::Existing | Status::Accepted { .. } => false,
        }
    }

    /// Why it is accepted or would be, in the words of the configuration.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Status::New | Status::Existing => None,
            Status::Accepted { reason } | Status::PendingAccept { reason } => Some(reason),
        }
    }
}

/// A place in a text file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line, from 1. Lines end at a line feed.
    pub line: u32,
    /// The column, from 1, in Unicode code points.
    pub column: u32,
}

/// A stretch of a cassette file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Region {
    /// Where it begins.
    pub start: Position,
    /// Where it ends, exclusive.
    pub end: Position,
    /// The byte range in the file.
    pub bytes: std::ops::Range<usize>,
}

/// One thing that a rule found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub rule: RuleId,
    /// How much it weighs here.
    pub severity: Severity,
    /// What was found, for people. Lines after the first carry a diff.
    pub message: String,
    /// The place as a JSON pointer (RFC 6901) into the cassette.
    pub locator: String,
    /// The tool, prompt or resource that it belongs to.
    pub tool: Option<String>,
    /// The place in the file.
    pub region: Region,
    /// A name for this finding that survives moved lines and a new recording, and
    /// not a changed text: `v1:` and 16 hexadecimal digits.
    pub fingerprint: String,
    /// The words that gave it away; of a secret at most six characters.
    pub evidence: Option<String>,
    /// The line of the file around the place, cut to a window.
    pub excerpt: Excerpt,
    /// Whether it counts.
    pub status: Status,
}

/// A window of one line of a cassette, with the part that a finding is about.
///
/// The text is as the file has it: a report must make control characters
/// harmless before it shows them. A secret is already masked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Excerpt {
    /// At most some 200 characters before and after the highlighted part.
    pub text: String,
    /// The line that it was cut from, from 1.
    pub line: u32,
    /// The column of its first character, from 1, in code points.
    pub column: u32,
    /// The highlighted bytes of `text`.
    pub highlight: std::ops::Range<usize>,
    /// Whether the line goes on before the window.
    pub cut_before: bool,
    /// Whether the line goes on after the window.
    pub cut_after: bool,
}

/// Puts findings of several checks into the one order of every report: that of
/// the file, then by rule.
pub(crate) fn in_order(findings: &mut [Finding]) {
    findings.sort_by(|one, other| {
        let bytes = |finding: &Finding| finding.region.bytes.clone();
        let (a, b) = (bytes(one), bytes(other));
        (a.start, &one.rule, a.end, &one.message).cmp(&(
            b.start,
            &other.rule,
            b.end,
            &other.message,
        ))
    });
}

/// What one run of a check says about one cassette.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The cassette as it was named.
    pub cassette: String,
    /// The baseline as it was named, if there was one.
    pub baseline: Option<String>,
    /// In the order of the file, then by rule.
    pub findings: Vec<Finding>,
    /// What was not checked, and what the reader should know besides.
    pub notes: Vec<String>,
}

impl Finding {
    /// Whether this finding is a reason to fail at that threshold.
    pub fn counts(&self, fail_on: Severity) -> bool {
        self.status.counts() && self.severity >= fail_on
    }

    /// The page that explains the rule, if it is one of ours.
    pub fn help_uri(&self) -> Option<String> {
        let id = self.rule.as_str();
        id.starts_with('R').then(|| help_uri(id))
    }
}

/// The page of one of our rules.
pub(crate) fn help_uri(id: &str) -> String {
    format!("https://github.com/cheneeheng/mcp-cassette/blob/main/docs/rules/{id}.md")
}
/// Whether a note says that there was nothing to look at. No option hides such a note:
/// a report without it would call clean what was not there.
pub(crate) fn says_nothing_was_checked(note: &str) -> bool {
    note.ends_with("so nothing was checked") || note.ends_with("so nothing was compared")
}
