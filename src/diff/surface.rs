//! The surface of a server as a cassette shows it: every tool, prompt, resource
//! and template definition that a listing ever returned, and which of the
//! listings is the one to compare.
//!
//! This is the one extraction behind `diff`, R002 and R015. It reads payloads
//! only. A message counts as a listing if it answers a listing request, if it
//! answers nothing that was recorded and its result holds an array under the name
//! of a listing, or if it answers something else and that array holds objects: a
//! client that keeps such an answer, or pairs it otherwise than we do, must not be
//! cheaper to fool than a gate. What nobody asked for is not the listing to compare
//! as long as there is one that somebody asked for. Raw messages are never listings.
//!
//! # Runs
//!
//! A *run* is a first page and the pages whose cursors were followed from it. Its
//! definitions are those of all its pages, whatever the cursors looked like. A
//! run is *complete* unless it has no first page or a page whose cursor was not
//! followed, where
//!
//! - no `nextCursor`, or `null`, is the end;
//! - any string is a cursor, the empty one and one that came before included, and
//!   a request that sends it back follows it;
//! - an unfollowed `""` counts as the end, because clients stop there for that
//!   reason and servers send it for that reason; followed, it is like any other;
//! - an unfollowed cursor of a later page that repeated only definitions that the
//!   run already had counts as the end: that is a server whose cursor never
//!   changes, or a page that was asked for twice, and nothing new was to come.
//!
//! Everything else that was not followed, an error on a later page included,
//! leaves the run incomplete, and what it does not show is unknown.

use super::collect::Collector;
use crate::cassette::Cassette;
use crate::cassette::view::Exchanges;
use crate::wire::json::Span;
use crate::wire::mcp::{Level, method};
use crate::wire::node::{Node, NodeError, Text};

/// What a listing lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Listing {
    Tools,
    Prompts,
    Resources,
    Templates,
}

impl Listing {
    pub(crate) const ALL: [Listing; 4] = [
        Listing::Tools,
        Listing::Prompts,
        Listing::Resources,
        Listing::Templates,
    ];

    /// The request that asks for it.
    pub(crate) fn method(self) -> &'static str {
        match self {
            Listing::Tools => method::TOOLS_LIST,
            Listing::Prompts => method::PROMPTS_LIST,
            Listing::Resources => method::RESOURCES_LIST,
            Listing::Templates => method::TEMPLATES_LIST,
        }
    }

    /// The member of the result that holds it.
    pub(crate) fn member(self) -> &'static str {
        match self {
            Listing::Tools => "tools",
            Listing::Prompts => "prompts",
            Listing::Resources => "resources",
            Listing::Templates => "resourceTemplates",
        }
    }

    /// The member of a definition that tells it from the others.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Listing::Tools | Listing::Prompts => "name",
            Listing::Resources => "uri",
            Listing::Templates => "uriTemplate",
        }
    }

    /// What its definitions are.
    pub(crate) fn level(self) -> Level {
        match self {
            Listing::Tools => Level::Tool,
            Listing::Prompts => Level::Prompt,
            Listing::Resources | Listing::Templates => Level::Resource,
        }
    }

    /// One entry of it, for messages.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Listing::Tools => "tool",
            Listing::Prompts => "prompt",
            Listing::Resources => "resource",
            Listing::Templates => "resource template",
        }
    }
}

/// One definition at one place of the recording.
#[derive(Clone, Debug)]
pub(crate) struct Occurrence {
    pub(crate) listing: Listing,
    /// The index of the message.
    pub(crate) message: u32,
    /// Its name or URI; of repeated members the last. `None` if it has none that
    /// is a string, or is no object.
    pub(crate) name: Option<Text>,
    /// The whole definition.
    pub(crate) span: Span,
}

/// A first page and the pages that were reached from it.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) listing: Listing,
    /// Counted up by each `initialize`; 0 before the first.
    pub(crate) session: u32,
    /// Whether its first page answers a request for it.
    pub(crate) asked: bool,
    pub(crate) pages: Vec<Page>,
    /// Indices into [`Recorded::occurrences`].
    pub(crate) occurrences: Vec<u32>,
    /// Whether nothing was left to ask for; see the module's page.
    pub(crate) complete: bool,
}

/// One answer to a listing request.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    pub(crate) message: u32,
    /// The cursor that the request sent back.
    pub(crate) cursor: Option<String>,
    /// The cursor for the page after it.
    pub(crate) next: Option<String>,
}

/// What a server says about itself when it is greeted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Greeting {
    pub(crate) message: u32,
    /// The value of `instructions`.
    pub(crate) instructions: Option<Span>,
    /// The value of `serverInfo`.
    pub(crate) server_info: Option<Span>,
}

/// All that was listed in one cassette.
#[derive(Clone, Debug)]
pub(crate) struct Recorded<'a> {
    pub(crate) cassette: &'a Cassette,
    /// In the order of the file.
    pub(crate) occurrences: Vec<Occurrence>,
    /// In the order of their first pages.
    pub(crate) runs: Vec<Run>,
    /// Answers to `initialize` and `server/discover`, in the order of the file.
    pub(crate) greetings: Vec<Greeting>,
    /// Messages that announced that the tools changed.
    pub(crate) announcements: Vec<u32>,
    /// What another reader could understand differently, so that nothing compares.
    pub(crate) doubts: Vec<Doubtful>,
}

/// A place that cannot be relied on, and why.
#[derive(Clone, Debug)]
pub(crate) struct Doubtful {
    pub(crate) message: u32,
    pub(crate) at: Span,
    pub(crate) problem: String,
}

impl<'a> Recorded<'a> {
    /// Reads the whole cassette: one scan of each payload, and a second one of listings.
    pub(crate) fn of(cassette: &'a Cassette) -> Self {
        let mut collector = Collector::new(cassette);
        for paired in Exchanges::new(cassette) {
            collector.take(&paired);
        }
        collector.finish()
    }

    /// The run to compare: of the last session that has any the last complete one that
    /// was asked for, else the last one that was asked for, else what came unasked.
    pub(crate) fn current(&self, listing: Listing) -> Option<&Run> {
        let runs = || self.runs.iter().filter(|run| run.listing == listing);
        let session = runs().map(|run| run.session).max()?;
        runs()
            .filter(|run| run.session == session)
            .max_by_key(|run| (run.asked, run.complete, run.last_message()))
    }

    /// Every definition of that kind, anywhere.
    pub(crate) fn all(&self, listing: Listing) -> impl Iterator<Item = &Occurrence> {
        self.occurrences
            .iter()
            .filter(move |occurrence| occurrence.listing == listing)
    }

    /// The definitions of one run.
    pub(crate) fn in_run<'s>(&'s self, run: &'s Run) -> impl Iterator<Item = &'s Occurrence> {
        run.occurrences
            .iter()
            .filter_map(|&index| self.occurrences.get(index as usize))
    }

    /// The definition as it stands in the file.
    pub(crate) fn raw(&self, occurrence: &Occurrence) -> &'a str {
        occurrence.span.of(&self.cassette.text)
    }

    /// The definition as a tree.
    pub(crate) fn read(&self, occurrence: &Occurrence) -> Result<Node, NodeError> {
        Node::read(&self.cassette.text, occurrence.span)
    }

    /// Whether the server announced a change of its tools between two messages.
    pub(crate) fn announced_between(&self, before: u32, after: u32) -> bool {
        let later = self.announcements.partition_point(|&at| at <= before);
        self.announcements.get(later).is_some_and(|&at| at < after)
    }
}

impl Occurrence {
    /// The name for people; empty if there is none.
    pub(crate) fn shown(&self) -> String {
        self.name
            .as_ref()
            .map(|name| name.show().into_owned())
            .unwrap_or_default()
    }
}

impl Run {
    pub(crate) fn first_message(&self) -> u32 {
        self.pages.first().map_or(0, |page| page.message)
    }

    pub(crate) fn last_message(&self) -> u32 {
        self.pages.last().map_or(0, |page| page.message)
    }
}
