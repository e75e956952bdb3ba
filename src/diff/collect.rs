//! Finding the listings of a cassette; what counts as one, and when it is
//! complete, is said in [`super::surface`].

use super::answer::{Answer, Listed, answers};
use super::surface::{Doubtful, Greeting, Listing, Occurrence, Page, Recorded, Run};
use crate::cassette::Cassette;
use crate::cassette::doubt::{self, about_member};
use crate::cassette::model::{Sender, string_value};
use crate::cassette::view::{Paired, Role};
use crate::wire::json::{Kind, Scanner, Span, decode};
use crate::wire::mcp::method;
use crate::wire::node::{Node, Text};
use std::collections::{HashMap, HashSet};

/// Puts a [`Recorded`] together from messages in the order of the file, so that a
/// caller with a pass of its own can share it.
pub(crate) struct Collector<'a> {
    recorded: Recorded<'a>,
    session: u32,
    /// What a request that is still to be answered asked for, by its index.
    asked: HashMap<u32, Asked>,
    /// The newest run that offered a cursor.
    offered: HashMap<(Listing, String), u32>,
    /// The newest run of each listing.
    newest: HashMap<Listing, u32>,
}

enum Asked {
    List(Listing, Option<String>),
    Greeting,
}

impl<'a> Collector<'a> {
    pub(crate) fn new(cassette: &'a Cassette) -> Self {
        Collector {
            recorded: Recorded {
                cassette,
                occurrences: Vec::new(),
                runs: Vec::new(),
                greetings: Vec::new(),
                announcements: Vec::new(),
                doubts: Vec::new(),
            },
            session: 0,
            asked: HashMap::new(),
            offered: HashMap::new(),
            newest: HashMap::new(),
        }
    }

    /// Takes the next message of the file.
    pub(crate) fn take(&mut self, paired: &Paired) {
        let from = self
            .recorded
            .cassette
            .rows
            .get(paired.index as usize)
            .map(|row| row.sender);
        if let Some(doubt) = doubt::of(self.recorded.cassette, paired) {
            self.doubt(paired.index, None, doubt.problem().to_owned());
        }
        match (from, paired.role) {
            (Some(Sender::Client), Role::Request) => self.request(paired),
            (Some(Sender::Server), Role::Raw) | (None | Some(Sender::Client), _) => {}
            (Some(Sender::Server), _) => self.answer(paired),
        }
    }

    /// Notes what cannot be relied on: a member of a message by its name, or all of it.
    fn doubt(&mut self, message: u32, name: Option<Span>, problem: String) {
        let row = self.recorded.cassette.rows.get(message as usize);
        let at = name.or(row.map(|row| row.payload)).unwrap_or_default();
        self.recorded.doubts.push(Doubtful {
            message,
            at,
            problem,
        });
    }

    fn request(&mut self, paired: &Paired) {
        let text = &self.recorded.cassette.text;
        let Some(name) = paired.envelope.method_name(text) else {
            return;
        };
        let asked = if let Some(listing) = Listing::ALL.into_iter().find(|l| l.method() == name) {
            let params = paired.envelope.params;
            Asked::List(listing, params.and_then(|params| cursor_in(text, params)))
        } else if name == method::INITIALIZE || name == method::DISCOVER {
            self.session += u32::from(name == method::INITIALIZE);
            Asked::Greeting
        } else {
            return;
        };
        self.asked.insert(paired.index, asked);
    }

    fn answer(&mut self, paired: &Paired) {
        let text = &self.recorded.cassette.text;
        if paired.role == Role::Notification
            && paired.envelope.method_name(text).as_deref() == Some(method::TOOLS_CHANGED)
        {
            self.recorded.announcements.push(paired.index);
        }
        if let Some(name) = paired.envelope.doubtful {
            self.doubt(paired.index, Some(name), about_member(text, name));
        }
        if paired.envelope.result.is_none() {
            return;
        }
        let asked = paired
            .request
            .and_then(|request| self.asked.remove(&request));
        if asked.is_none() && !paired.envelope.describes_a_server() {
            return;
        }
        let row = self.recorded.cassette.rows.get(paired.index as usize);
        for answer in row.map_or_else(Vec::new, |row| answers(text, row.payload)) {
            if let Some(name) = answer.doubtful {
                self.doubt(paired.index, Some(name), about_member(text, name));
            }
            match &asked {
                Some(Asked::List(listing, cursor)) => {
                    let page = (paired.index, &answer, *listing);
                    self.page(page, Some(cursor.clone()));
                    self.stray(paired.index, &answer, Some(*listing));
                }
                Some(Asked::Greeting) => {
                    self.greeting(paired.index, &answer);
                    self.stray(paired.index, &answer, None);
                }
                None if paired.request.is_some() => self.stray(paired.index, &answer, None),
                None => self.unasked(paired.index, &answer),
            }
        }
    }

    fn greeting(&mut self, message: u32, answer: &Answer) {
        self.recorded.greetings.push(Greeting {
            message,
            instructions: answer.instructions,
            server_info: answer.server_info,
        });
    }

    /// A result that no recorded request asked for, and what it shows all the same.
    fn unasked(&mut self, message: u32, answer: &Answer) {
        for listing in Listing::ALL {
            if answer.lists.contains(&listing) {
                self.page((message, answer, listing), None);
            }
        }
        if answer.greets && answer.instructions.is_some() {
            self.greeting(message, answer);
        }
    }

    /// Definitions in the answer to a request for something else than `asked`.
    fn stray(&mut self, message: u32, answer: &Answer, asked: Option<Listing>) {
        let text = &self.recorded.cassette.text;
        for listing in Listing::ALL {
            let defines =
                |item: &Listed| item.listing == listing && item.span.of(text).starts_with('{');
            if asked != Some(listing) && answer.listed.iter().any(defines) {
                self.page((message, answer, listing), None);
            }
        }
    }

    /// Adds one page. `request` is there if it was asked for, with the cursor that it
    /// sent if it sent one.
    fn page(
        &mut self,
        (message, answer, listing): (u32, &Answer, Listing),
        request: Option<Option<String>>,
    ) {
        let text = &self.recorded.cassette.text;
        let next = answer.next.and_then(|span| cursor_text(span.of(text)));
        let (run, cursor) = self.run_for(listing, request);
        if let Some(next) = &next {
            self.offered.insert((listing, next.clone()), run);
        }
        let page = Page {
            message,
            cursor,
            next,
        };
        let before = self.recorded.occurrences.len();
        let listed = answer.listed.iter().filter(|item| item.listing == listing);
        self.recorded
            .occurrences
            .extend(listed.map(|item| Occurrence {
                listing,
                message,
                name: item.name.and_then(|span| string_at(text, span)),
                span: item.span,
            }));
        if let Some(run) = self.recorded.runs.get_mut(run as usize) {
            let after = self.recorded.occurrences.len();
            run.pages.push(page);
            run.occurrences.extend(index(before)..index(after));
        }
    }

    /// The run that a page with that cursor belongs to, and the cursor to note for it.
    fn run_for(
        &mut self,
        listing: Listing,
        request: Option<Option<String>>,
    ) -> (u32, Option<String>) {
        let asked = request.is_some();
        let cursor = request.flatten();
        if let Some(cursor) = &cursor {
            let key = (listing, cursor.clone());
            if let Some(&run) = self.offered.get(&key) {
                return (run, Some(key.1));
            }
            // A cursor that redaction changed on one side only still continues
            // the listing that was under way.
            if let Some(&run) = self.newest.get(&listing)
                && let Some(last) = self.recorded.runs.get(run as usize)
                && last.session == self.session
                && let Some(pending) = last.pages.last().and_then(|page| page.next.clone())
            {
                return (run, Some(pending));
            }
        }
        let run = index(self.recorded.runs.len());
        self.recorded.runs.push(Run {
            listing,
            session: self.session,
            asked,
            pages: Vec::new(),
            occurrences: Vec::new(),
            complete: false,
        });
        self.newest.insert(listing, run);
        (run, cursor)
    }

    /// All that was seen, with each run judged.
    pub(crate) fn finish(mut self) -> Recorded<'a> {
        let complete: Vec<bool> = self
            .recorded
            .runs
            .iter()
            .map(|run| is_complete(&self.recorded, run))
            .collect();
        for (run, complete) in self.recorded.runs.iter_mut().zip(complete) {
            run.complete = complete;
        }
        self.recorded
    }
}

/// Whether nothing was left to ask for, by the rules of the module's page.
fn is_complete(recorded: &Recorded<'_>, run: &Run) -> bool {
    if run.pages.first().is_none_or(|page| page.cursor.is_some()) {
        return false;
    }
    let repeats = repeating_pages(recorded, run);
    let mut sent_later: HashSet<&str> = HashSet::new();
    for page in run.pages.iter().rev() {
        let followed = match page.next.as_deref() {
            None | Some("") => true,
            Some(next) => sent_later.contains(next) || repeats.contains(&page.message),
        };
        if !followed {
            return false;
        }
        sent_later.extend(page.cursor.as_deref());
    }
    true
}

/// The messages of later pages that hold definitions, and none that is new to the run.
fn repeating_pages(recorded: &Recorded<'_>, run: &Run) -> HashSet<u32> {
    let mut repeating = HashSet::new();
    if run.pages.len() < 2 {
        return repeating;
    }
    let mut seen = HashSet::new();
    let mut fresh = HashSet::new();
    for occurrence in recorded.in_run(run) {
        repeating.insert(occurrence.message);
        if seen.insert(recorded.raw(occurrence)) {
            fresh.insert(occurrence.message);
        }
    }
    repeating.retain(|message| !fresh.contains(message));
    repeating
}

/// The cursor in the params of a request.
fn cursor_in(text: &str, params: Span) -> Option<String> {
    let mut scanner = Scanner::over(text, params);
    let mut found = None;
    if !matches!(scanner.require(), Ok(token) if token.kind == Kind::BeginObject) {
        return found;
    }
    while let Ok(Some(key)) = scanner.next_key() {
        let Ok(value) = scanner.value() else { break };
        if decode(key.inner().of(text)) == "cursor" {
            found = cursor_text(value.span.of(text));
        }
    }
    found
}

/// A cursor as text; `null` is none, and what is no string stands for itself.
fn cursor_text(token: &str) -> Option<String> {
    match string_value(token) {
        Some(cursor) => Some(cursor.into_owned()),
        None => (token != "null").then(|| token.to_owned()),
    }
}

fn string_at(text: &str, span: Span) -> Option<Text> {
    Node::read(text, span).ok()?.text().cloned()
}

fn index(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
