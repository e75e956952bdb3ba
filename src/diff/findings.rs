//! Changes as findings: where the gate puts everything it knows about a cassette
//! into one list, a change is a finding of the rules R101 to R111.

use super::place::{Spot, resolve};
use super::rules;
use super::surface::{Listing, Occurrence, Recorded};
use super::{Change, ChangeKind, Diff, Impact};
use crate::cassette::Cassette;
use crate::cassette::model::member_string;
use crate::cassette::place::{Identity, excerpt, fingerprint};
use crate::finding::{
    Excerpt, Finding, Position, Region, RuleId, RuleInfo, Severity, Status, in_order,
};
use crate::secrets::conceal::{self, conceal, secrets_in};
use crate::wire::json::{Kind, Scanner, Span, decode};
use crate::wire::node::Node;
use std::collections::HashMap;
use std::fmt::Write as _;

/// Bytes before and after a place that are searched for secrets, so that none is
/// cut in two where the shown line begins or ends.
const SEARCHED: usize = 8 * 1024;

/// The changes of a comparison as findings R101 to R109, in the order of the newer file.
///
/// A change that can break callers, and one that is not judged, is an error; a
/// compatible one is a warning. The place is in the newer cassette: for what was
/// removed it is the listing that lacks it, or the first line. The fingerprint
/// covers the rule, the name, the kind of place and the whole old and new text,
/// which are taken from `old` and `new`; these must be the cassettes that were
/// compared. Without them it covers what the comparison says.
///
/// Other differences (of metadata, method counts, order of requests) are no findings.
#[must_use]
pub fn findings(diff: &Diff, old: Option<&Cassette>, new: Option<&Cassette>) -> Vec<Finding> {
    if diff.changes().next().is_none() {
        return Vec::new();
    }
    let (old, new) = (old.map(Side::of), new.map(Side::of));
    let mut found = Vec::new();
    for surface in Surface::ALL {
        let changes = surface.changes(diff);
        let removed = |change: &Change| change.kind == ChangeKind::Removed;
        let lacking = new
            .as_ref()
            .filter(|_| changes.iter().any(removed))
            .and_then(|new| surface.place_in(&new.recorded));
        for change in changes {
            let (locator, region) = match change.kind {
                ChangeKind::Removed => lacking.clone().unwrap_or_else(first_line),
                _ => (change.locator.clone(), change.region.clone()),
            };
            let identity = match (&old, &new) {
                (None, None) => Identity::text(&said(change)),
                _ => {
                    let text = |side: &Option<Side<'_>>| {
                        let side = side.as_ref();
                        side.map_or_else(String::new, |side| side.text(surface, change))
                    };
                    Identity::text(&format!("{}\0{}", text(&old), text(&new)))
                }
            };
            let rule = RuleId::bundled(surface.rule(change.kind).id);
            let tool = (surface != Surface::Instructions).then(|| change.name.clone());
            let noun = change.kind.as_str();
            found.push(Finding {
                severity: severity(change.impact),
                message: message(surface, change),
                fingerprint: fingerprint(&rule, tool.as_deref(), noun, &identity, &locator),
                excerpt: new
                    .as_ref()
                    .map(|new| shown(&new.recorded.cassette.text, &region))
                    .unwrap_or_default(),
                rule,
                locator,
                tool,
                region,
                evidence: None,
                status: Status::New,
            });
        }
    }
    in_order(&mut found);
    found
}

/// A cassette that the base side has and this one has not (R110). `old` is what it
/// held, if it could be read.
pub(crate) fn cassette_deleted(path: &str, old: Option<&Cassette>) -> Finding {
    let server = old.and_then(server_name).map_or_else(
        || "what it recorded".to_owned(),
        |name| format!("what it recorded of server \"{name}\""),
    );
    let text = old.map_or(path, |old| old.text.as_str());
    of_file(
        &rules::CASSETTE_DELETED,
        format!("the cassette was deleted: {server} is no longer checked"),
        &Identity::text(text),
    )
}

/// A cassette that was renamed to a path that the gate does not look at (R110): the next
/// change of it would be seen by nobody. `from` is its path on the base side.
pub(crate) fn cassette_out_of_sight(from: &str, old: Option<&Cassette>) -> Finding {
    let text = old.map_or(from, |old| old.text.as_str());
    let from = conceal::name(from);
    let message = format!(
        "the cassette was renamed from {from} to a path that this check does not look for, so \
         that it is checked this time and never again"
    );
    Finding {
        severity: Severity::Error,
        ..of_file(&rules::CASSETTE_DELETED, message, &Identity::text(text))
    }
}

/// A cassette that the base side has not (R111).
pub(crate) fn cassette_new(new: &Cassette) -> Finding {
    let server = server_name(new).map_or_else(String::new, |name| format!(" of server \"{name}\""));
    let message =
        format!("the cassette{server} is new: there is nothing yet that it could have moved from");
    of_file(&rules::CASSETTE_NEW, message, &Identity::text(&new.text))
}

fn server_name(cassette: &Cassette) -> Option<String> {
    let mut name = member_string(&cassette.text, cassette.head.server_info?, "name")?;
    conceal(&mut name);
    Some(super::text::clip(&name, 60))
}

/// A finding about a cassette as a whole.
fn of_file(rule: &RuleInfo, message: String, identity: &Identity) -> Finding {
    let id = RuleId::bundled(rule.id);
    let (locator, region) = first_line();
    Finding {
        severity: rule.severity,
        message,
        fingerprint: fingerprint(&id, None, "cassette", identity, &locator),
        rule: id,
        locator,
        tool: None,
        region,
        evidence: None,
        excerpt: Excerpt::default(),
        status: Status::New,
    }
}

fn first_line() -> (String, Region) {
    let at = |column| Position { line: 1, column };
    let region = Region {
        start: at(1),
        end: at(2),
        bytes: 0..1,
    };
    (String::new(), region)
}

fn severity(impact: Impact) -> Severity {
    match impact {
        Impact::Compatible => Severity::Warning,
        Impact::Unclassified | Impact::Breaking => Severity::Error,
    }
}

/// What one list of changes is about.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Surface {
    Tools,
    Prompts,
    Resources,
    Instructions,
}

impl Surface {
    const ALL: [Surface; 4] = [
        Surface::Tools,
        Surface::Prompts,
        Surface::Resources,
        Surface::Instructions,
    ];

    fn changes(self, diff: &Diff) -> &[Change] {
        match self {
            Surface::Tools => &diff.tools,
            Surface::Prompts => &diff.prompts,
            Surface::Resources => &diff.resources,
            Surface::Instructions => &diff.instructions,
        }
    }

    fn listings(self) -> &'static [Listing] {
        match self {
            Surface::Tools => &[Listing::Tools],
            Surface::Prompts => &[Listing::Prompts],
            Surface::Resources => &[Listing::Resources, Listing::Templates],
            Surface::Instructions => &[],
        }
    }

    fn of(listing: Listing) -> Self {
        match listing {
            Listing::Tools => Surface::Tools,
            Listing::Prompts => Surface::Prompts,
            Listing::Resources | Listing::Templates => Surface::Resources,
        }
    }

    fn rule(self, kind: ChangeKind) -> &'static RuleInfo {
        match (self, kind) {
            (Surface::Prompts, _) => &rules::PROMPT,
            (Surface::Resources, _) => &rules::RESOURCE,
            (Surface::Instructions, _) => &rules::INSTRUCTIONS,
            (Surface::Tools, ChangeKind::Removed) => &rules::TOOL_REMOVED,
            (Surface::Tools, ChangeKind::Added) => &rules::TOOL_ADDED,
            (Surface::Tools, ChangeKind::Description) => &rules::DESCRIPTION,
            (Surface::Tools, ChangeKind::InputSchema) => &rules::INPUT_SCHEMA,
            (Surface::Tools, ChangeKind::OutputSchema) => &rules::OUTPUT_SCHEMA,
            (Surface::Tools, _) => &rules::TITLE_OR_ANNOTATIONS,
        }
    }

    /// The place that lacks what was removed: the name of the listing's member, or
    /// the answer that has no instructions any more.
    fn place_in(self, recorded: &Recorded<'_>) -> Option<(String, Region)> {
        let text = &recorded.cassette.text;
        let payload = |message: u32| {
            let row = recorded.cassette.rows.get(message as usize);
            row.map(|row| row.payload)
        };
        let spot = if self == Surface::Instructions {
            let message = recorded.greetings.last()?.message;
            let (key, value) = member(text, payload(message)?, "result")?;
            Spot {
                message,
                value,
                region: key,
            }
        } else {
            let runs = self.listings().iter();
            let (listing, run) = runs
                .filter_map(|&listing| Some((listing, recorded.current(listing)?)))
                .next()?;
            let message = run.first_message();
            let (_, result) = member(text, payload(message)?, "result")?;
            let (key, value) = member(text, result, listing.member())?;
            Spot {
                message,
                value,
                region: key,
            }
        };
        resolve(recorded.cassette, &[spot]).pop()
    }
}

/// The last member of that name: its key and its value.
fn member(text: &str, object: Span, name: &str) -> Option<(Span, Span)> {
    let mut scanner = Scanner::over(text, object);
    if scanner.require().ok()?.kind != Kind::BeginObject {
        return None;
    }
    let mut found = None;
    while let Ok(Some(key)) = scanner.next_key() {
        let Ok(value) = scanner.value() else { break };
        if decode(key.inner().of(text)) == name {
            found = Some((key.span, value.span));
        }
    }
    found
}

/// One of the two cassettes, with its definitions by the names that changes have.
struct Side<'a> {
    recorded: Recorded<'a>,
    /// Indices into the occurrences.
    by_name: HashMap<(Surface, String), Vec<usize>>,
}

impl<'a> Side<'a> {
    fn of(cassette: &'a Cassette) -> Self {
        let recorded = Recorded::of(cassette);
        let mut by_name: HashMap<_, Vec<usize>> = HashMap::new();
        for listing in Listing::ALL {
            let run = recorded.current(listing);
            for &index in run.iter().flat_map(|run| &run.occurrences) {
                let index = index as usize;
                if let Some(occurrence) = recorded.occurrences.get(index) {
                    let key = (Surface::of(listing), name_of(occurrence));
                    by_name.entry(key).or_default().push(index);
                }
            }
        }
        Side { recorded, by_name }
    }

    /// The texts that a change is about, as they stand in the file: of every
    /// definition of that name, so that none is accepted unseen.
    fn text(&self, surface: Surface, change: &Change) -> String {
        let file = &self.recorded.cassette.text;
        if surface == Surface::Instructions {
            let greeting = self.recorded.greetings.last();
            let span = greeting.and_then(|greeting| greeting.instructions);
            return span.map_or_else(String::new, |span| span.of(file).to_owned());
        }
        let key = (surface, change.name.clone());
        let indices = self.by_name.get(&key).into_iter().flatten();
        let mut all = String::new();
        for occurrence in indices.filter_map(|&index| self.recorded.occurrences.get(index)) {
            self.part(occurrence, change.kind, &mut all);
            all.push('\0');
        }
        all
    }

    /// The member of a definition that changes of that kind are about.
    fn part(&self, occurrence: &Occurrence, kind: ChangeKind, out: &mut String) {
        let member = match kind {
            ChangeKind::Description => "description",
            ChangeKind::InputSchema => "inputSchema",
            ChangeKind::OutputSchema => "outputSchema",
            ChangeKind::Title => "title",
            ChangeKind::Annotations => "annotations",
            ChangeKind::Arguments => "arguments",
            ChangeKind::Added | ChangeKind::Removed | ChangeKind::Attributes | ChangeKind::Text => {
                out.push_str(self.recorded.raw(occurrence));
                return;
            }
        };
        let Ok(node) = self.recorded.read(occurrence) else {
            out.push_str(self.recorded.raw(occurrence));
            return;
        };
        let members = node.members().iter();
        let named = members.filter(|found| found.name == *member);
        for value in named.map(|found| &found.value) {
            out.push_str(text_of(value, &self.recorded));
            out.push('\0');
        }
    }
}

fn text_of<'a>(node: &Node, recorded: &Recorded<'a>) -> &'a str {
    node.span.of(&recorded.cassette.text)
}

/// The name as a change has it.
fn name_of(occurrence: &Occurrence) -> String {
    let Some(name) = &occurrence.name else {
        return super::compare::NAMELESS.to_owned();
    };
    let mut name = name.show().into_owned();
    if Surface::of(occurrence.listing) == Surface::Resources {
        conceal(&mut name);
    }
    conceal::name(&name).into_owned()
}

/// All that a comparison says about a change.
fn said(change: &Change) -> String {
    let details = change.details.iter().map(|detail| detail.text.as_str());
    let lines = change.diff.iter().map(String::as_str);
    details.chain(lines).collect::<Vec<_>>().join("\n")
}

/// What changed and whom it can break, the facts, and a unified diff.
fn message(surface: Surface, change: &Change) -> String {
    let subject = match surface {
        Surface::Tools => format!("tool \"{}\"", change.name),
        Surface::Prompts => format!("prompt \"{}\"", change.name),
        Surface::Resources => format!("resource \"{}\"", change.name),
        Surface::Instructions => "instructions".to_owned(),
    };
    // A name with a line break in it must not look like a line of the diff.
    let subject = subject.replace('\n', "\\n");
    let (happened, impact) = (change.happened(), change.impact.as_str());
    let mut message = format!("{subject}: {happened} [{impact}]");
    for detail in &change.details {
        let text = detail.text.replace('\n', "\\n");
        let _ = write!(message, "\n{}: {text}", detail.impact.as_str());
    }
    for line in change.renamed_in_words().iter().chain(&change.diff) {
        message.push('\n');
        message.push_str(line);
    }
    message
}

/// The line around a place, with the secrets on it cut.
fn shown(text: &str, region: &Region) -> Excerpt {
    let boundary = |mut at: usize| {
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = boundary(region.bytes.start.saturating_sub(SEARCHED).min(text.len()));
    let shown_end = region
        .bytes
        .end
        .min(region.bytes.start.saturating_add(SEARCHED));
    let end = boundary(shown_end.saturating_add(SEARCHED).min(text.len())).max(start);
    let found = secrets_in(text.get(start..end).unwrap_or_default());
    let secrets: Vec<Span> = found
        .into_iter()
        .map(|range| Span::new(start + range.start, start + range.end))
        .collect();
    excerpt(text, region, &secrets)
}
