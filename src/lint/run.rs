//! One run of lint over one cassette: walk it, let every rule look, put what they
//! found in order.

use super::findings::Findings;
use super::reading::{Owner, Reading};
use super::rules::{self, Check, Rule};
use super::surfaces::{self, Definition, Item, Origin, Surface, Text};
use super::{Baseline, Settings, pack_patterns, silence};
use crate::cassette::place::{self, Draft, Mask};
use crate::cassette::view::{Exchanges, Paired, Role};
use crate::cassette::{Cassette, Sender};
use crate::diff::surface::Recorded;
use crate::finding::{Finding, Report};
use crate::secrets::conceal;
use crate::wire::json::Span;
use crate::wire::mcp::method;
use std::sync::{Mutex, OnceLock, PoisonError};

/// What a rule gets to see besides the text or definition it looks at.
pub(crate) struct Context<'a> {
    pub(crate) cassette: &'a Cassette,
    pub(crate) baseline: Baseline<'a>,
    pub(crate) settings: &'a Settings,
    recorded: OnceLock<Recorded<'a>>,
}

impl<'a> Context<'a> {
    fn new(cassette: &'a Cassette, baseline: Baseline<'a>, settings: &'a Settings) -> Self {
        Context {
            cassette,
            baseline,
            settings,
            recorded: OnceLock::new(),
        }
    }

    /// The listings of the cassette, gathered once for all rules about them.
    pub(crate) fn recorded(&self) -> &Recorded<'a> {
        self.recorded.get_or_init(|| Recorded::of(self.cassette))
    }

    /// How many threads look at the messages. Patterns of packs share a budget of
    /// work, which threads would spend in an order that differs from run to run.
    fn threads(&self) -> usize {
        let many = self.cassette.text.len() >= MANY;
        if !many || !self.settings.packs.patterns().is_empty() {
            return 1;
        }
        // Beyond this, handing out and reading the file are what takes the time.
        const MOST: usize = 8;
        std::thread::available_parallelism().map_or(1, |cores| cores.get().min(MOST))
    }
}

/// The size of a cassette, in bytes, from which on a second thread is worth its start.
const MANY: usize = 256 * 1024;

/// How many findings of one cassette are listed. Each takes some memory, and nobody
/// reads as many; what is not listed fails the gate.
pub(crate) const MOST_FINDINGS: usize = 10_000;

/// How many notes about one cassette are listed.
const MOST_NOTES: usize = 1_000;

/// What rules found so far in one cassette.
#[derive(Default)]
pub(crate) struct Sink {
    drafts: Vec<Draft>,
    /// Secrets that are no findings, because the rules about them do not run.
    masks: Vec<Mask>,
    notes: Vec<String>,
    /// The first place with a finding that is not listed.
    unlisted: Option<Span>,
    unlisted_notes: usize,
}

impl Sink {
    pub(crate) fn add(&mut self, draft: Draft) {
        if self.drafts.len() < MOST_FINDINGS {
            self.drafts.push(draft);
        } else {
            self.unlisted.get_or_insert(draft.value);
        }
    }

    pub(crate) fn note(&mut self, note: String) {
        if self.notes.len() < MOST_NOTES {
            self.notes.push(note);
        } else {
            self.unlisted_notes += 1;
        }
    }

    /// Takes what another one holds, as far as there is room.
    fn append(&mut self, other: Sink) {
        other.drafts.into_iter().for_each(|draft| self.add(draft));
        other.notes.into_iter().for_each(|note| self.note(note));
        let room = MOST_FINDINGS.saturating_sub(self.masks.len());
        self.masks.extend(other.masks.into_iter().take(room));
        self.unlisted = self.unlisted.or(other.unlisted);
        self.unlisted_notes += other.unlisted_notes;
    }

    /// The findings, and one more if some are not listed.
    fn findings(&mut self, cassette: &Cassette) -> Vec<Finding> {
        let mut drafts = std::mem::take(&mut self.drafts);
        drafts.extend(self.unlisted.map(rules::too_many));
        place::place_masking(cassette, drafts, &self.masks)
    }

    fn notes(&mut self) -> Vec<String> {
        let mut notes = std::mem::take(&mut self.notes);
        if self.unlisted_notes > 0 {
            notes.push(format!("{} more notes are not listed", self.unlisted_notes));
        }
        notes
    }
}

/// Lints one cassette, with the findings of the baseline taken into account.
pub(crate) fn lint_cassette<'a>(
    cassette: &'a Cassette,
    baseline: impl Into<Baseline<'a>>,
    settings: &'a Settings,
) -> Report {
    let baseline = baseline.into();
    let mut sink = scan(cassette, baseline, settings);
    let mut findings = sink.findings(cassette);
    silence::mark_accepted(&mut findings, settings);
    // Reading the baseline costs as much as the cassette did, so it must have a use: a
    // drift from it is nothing that it can have itself.
    let counts = findings
        .iter()
        .any(|finding| finding.status.counts() && finding.rule.as_str() != rules::DRIFT.info.id);
    let baseline = baseline.cassette();
    if let Some(baseline) = baseline.filter(|_| counts && !settings.all) {
        let mut old = scan(baseline, Baseline::None, settings);
        silence::mark_existing(&mut findings, &old.findings(baseline));
    }
    let mut notes = settings.notes();
    notes.extend(sink.notes());
    let mut report = Report {
        cassette: cassette.name.clone(),
        baseline: baseline.map(|baseline| baseline.name.clone()),
        findings,
        notes,
    };
    silence::note_expired(&mut report, settings);
    report
}

/// Runs the rules and gathers what they find, in no particular order.
fn scan<'a>(cassette: &'a Cassette, baseline: Baseline<'a>, settings: &'a Settings) -> Sink {
    let context = Context::new(cassette, baseline, settings);
    let active = Active::new(settings);
    let mut sink = Sink::default();
    if cassette.rows.is_empty() {
        sink.note("the cassette holds no messages, so nothing was checked".to_owned());
    }
    read_around(&context, &active, &mut sink);
    sink.append(scan_blocks(&context));
    // What a long session says as a whole must not be lost behind its messages.
    let mut session = Sink::default();
    for (rule, check) in active.checks() {
        if let Check::Session(check) = check {
            check(&context, &mut Findings::new(&rule.info, &mut session));
        }
    }
    sink.drafts.append(&mut session.drafts);
    sink.append(session);
    sink
}

/// The size of the payloads, in bytes, that one thread takes at a time.
const BLOCK: usize = 64 * 1024;

/// Lets the rules look at what the recorder wrote around the messages, in the head and
/// in members that the format does not have. Nothing of it reaches a model, so only
/// secrets are looked for there.
fn read_around(context: &Context<'_>, active: &Active<'_>, sink: &mut Sink) {
    let cassette = context.cassette;
    let mut read = |text: Text<'_>| read_text(context, active, &text, &Owner::None, sink);
    let mut deep = Vec::new();
    for part in surfaces::around(cassette) {
        surfaces::walk_around(&cassette.text, part, &mut |item| match item {
            Item::Text(text) => read(text),
            Item::TooDeep(span) => deep.push(span),
            Item::Definition(_) | Item::ListingEnd(_) | Item::Variant { .. } => {}
        });
    }
    for span in deep {
        rules::too_deep(span, sink);
    }
}

/// Lets the rules look at every message, on all cores if the file is large. What they
/// found is in the order of the file whichever thread was done first.
fn scan_blocks(context: &Context<'_>) -> Sink {
    let blocks = Mutex::new(Blocks {
        exchanges: Exchanges::new(context.cassette),
        taken: 0,
    });
    let done: Mutex<Vec<(usize, Sink)>> = Mutex::new(Vec::new());
    let work = || {
        let active = Active::new(context.settings);
        loop {
            let block = blocks.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((number, block)) = block else { break };
            let sink = scan_block(context, &active, &block);
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            done.push((number, sink));
            drop_unlisted(&mut done);
        }
    };
    let threads = context.threads();
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_unstable_by_key(|(number, _)| *number);
    let mut all = Sink::default();
    done.into_iter().for_each(|(_, sink)| all.append(sink));
    all
}

/// Of blocks behind as many findings as are listed only the first place is kept.
fn drop_unlisted(done: &mut [(usize, Sink)]) {
    done.sort_unstable_by_key(|(number, _)| *number);
    let mut listed = 0;
    for (_, sink) in done {
        let room = MOST_FINDINGS.saturating_sub(listed);
        if let Some(draft) = sink.drafts.get(room) {
            sink.unlisted = Some(draft.value);
            sink.drafts.truncate(room);
            sink.drafts.shrink_to_fit();
        }
        listed += sink.drafts.len();
    }
}

/// Hands out the messages in numbered blocks. Pairing them depends on their order,
/// so it is done here, one block at a time.
struct Blocks<'a> {
    exchanges: Exchanges<'a>,
    taken: usize,
}

impl Iterator for Blocks<'_> {
    type Item = (usize, Vec<Paired>);

    fn next(&mut self) -> Option<Self::Item> {
        let mut block = Vec::new();
        let mut size = 0;
        while size < BLOCK {
            let Some(paired) = self.exchanges.next() else {
                break;
            };
            size += paired.size;
            block.push(paired);
        }
        self.taken += 1;
        (!block.is_empty()).then_some((self.taken, block))
    }
}

fn scan_block(context: &Context<'_>, active: &Active<'_>, block: &[Paired]) -> Sink {
    let mut sink = Sink::default();
    let mut listing = Vec::new();
    for paired in block {
        for (rule, check) in active.checks() {
            if let Check::Message(check) = check {
                check(context, paired, &mut Findings::new(&rule.info, &mut sink));
            }
        }
        scan_message(context, active, paired, &mut listing, &mut sink);
    }
    sink
}

fn scan_message(
    context: &Context<'_>,
    active: &Active<'_>,
    paired: &Paired,
    listing: &mut Vec<(String, Span)>,
    sink: &mut Sink,
) {
    let cassette = context.cassette;
    let Some(row) = cassette.rows.get(paired.index as usize) else {
        return;
    };
    let request = paired.request.and_then(|index| cassette.message(index));
    let request_envelope = request
        .map(|request| crate::cassette::view::Envelope::read(&cassette.text, request.row.payload));
    let asked = match paired.role {
        Role::Response => {
            request_envelope.and_then(|envelope| envelope.method_name(&cassette.text))
        }
        _ => paired.envelope.method_name(&cassette.text),
    };
    let called = request_envelope
        .filter(|_| asked.as_deref() == Some(method::TOOLS_CALL))
        .and_then(|envelope| envelope.params)
        .and_then(|params| crate::cassette::model::member_string(&cassette.text, params, "name"));
    let owner = match &called {
        Some(tool) => Owner::Call(conceal::name(tool)),
        None => Owner::None,
    };
    let origin = Origin {
        from_server: row.sender == Sender::Server,
        method: asked.as_deref(),
        is_request: paired.role == Role::Request,
    };
    surfaces::walk(
        &cassette.text,
        row.payload,
        origin,
        &mut |item| match item {
            Item::Text(text) => read_text(context, active, &text, &owner, sink),
            Item::Definition(definition) => {
                if let Some((name, span)) = &definition.name {
                    listing.push((name.clone().into_owned(), *span));
                }
                read_definition(context, active, &definition, sink);
            }
            Item::ListingEnd(defines) => {
                let names = std::mem::take(listing);
                for (rule, check) in active.checks() {
                    if let Check::Listing(check) = check {
                        check(defines, &names, &mut Findings::new(&rule.info, sink));
                    }
                }
            }
            Item::TooDeep(span) => rules::too_deep(span, sink),
            Item::Variant { name, at, member } => rules::variant(&name, at, member, sink),
        },
    );
}

fn read_definition(
    context: &Context<'_>,
    active: &Active<'_>,
    definition: &Definition<'_>,
    sink: &mut Sink,
) {
    let owner = Owner::of(definition);
    for text in &definition.texts {
        read_text(context, active, text, &owner, sink);
    }
    for (rule, check) in active.checks() {
        if let Check::Definition(check) = check {
            check(
                context,
                definition,
                &owner,
                &mut Findings::new(&rule.info, sink),
            );
        }
    }
}

fn read_text(
    context: &Context<'_>,
    active: &Active<'_>,
    text: &Text<'_>,
    owner: &Owner<'_>,
    sink: &mut Sink,
) {
    let reading = Reading::new(context, text, owner);
    if reading.is_marker() {
        if text.surface == Surface::ToolDescription {
            let tool = owner.tool().unwrap_or_default();
            sink.note(format!(
                "skipped redacted description of tool {}: what it said cannot be checked",
                super::reading::quoted(tool)
            ));
        }
        return;
    }
    for (rule, check) in active.checks() {
        if let Check::Text(check) = check {
            check(&reading, &mut Findings::new(&rule.info, sink));
        }
    }
    active.packs.apply(&reading, sink);
    if !active.finds_secrets && sink.masks.len() < MOST_FINDINGS {
        sink.masks
            .extend(reading.secrets().iter().map(|secret| Mask {
                value: text.span,
                part: secret.range.clone(),
            }));
    }
}

/// The rules that this run applies.
struct Active<'s> {
    rules: Vec<&'static Rule>,
    /// Whether every secret becomes a finding, which says itself what not to show.
    finds_secrets: bool,
    packs: pack_patterns::ActivePatterns<'s>,
}

impl<'s> Active<'s> {
    fn new(settings: &'s Settings) -> Self {
        Active {
            rules: rules::ALL
                .iter()
                .filter(|rule| settings.applies(rule.info.id))
                .collect(),
            finds_secrets: rules::ABOUT_SECRETS
                .iter()
                .all(|rule| settings.applies(rule)),
            packs: pack_patterns::ActivePatterns::new(settings),
        }
    }

    fn checks(&self) -> impl Iterator<Item = (&'static Rule, Check)> {
        self.rules
            .iter()
            .flat_map(|rule| rule.checks.iter().map(|check| (*rule, *check)))
    }
}
