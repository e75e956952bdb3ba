//! Two cassettes compared: what moved between them, and whom it can break.

mod answer;
mod bounds;
pub(crate) mod collect;
mod compare;
pub(crate) mod definition;
pub(crate) mod drift;
mod equal;
mod findings;
mod keywords;
mod place;
mod rename;
pub(crate) mod rules;
mod run;
mod schema;
pub(crate) mod surface;
mod text;
mod traffic;
mod wording;

#[cfg(test)]
mod tests;

pub use findings::findings;
pub(crate) use findings::{cassette_deleted, cassette_new, cassette_out_of_sight};
pub use run::{DiffError, DiffOptions, diff};

use crate::finding::Region;

/// What differs between two cassettes. Ids, times and sequence numbers are never compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff {
    /// The older cassette as it was named.
    pub old: String,
    /// The newer cassette as it was named.
    pub new: String,
    /// Transport, server host, protocol version, and what the server calls itself.
    pub metadata: Vec<FieldChange>,
    /// Methods that occur more or less often.
    pub methods: Vec<MethodCount>,
    /// The tools that the server offers.
    pub tools: Vec<Change>,
    /// The prompts that it offers.
    pub prompts: Vec<Change>,
    /// Its resources and resource templates.
    pub resources: Vec<Change>,
    /// The instructions that it gives to the model.
    pub instructions: Vec<Change>,
    /// The order of requests, as the lines of a unified diff; empty if it is the same.
    pub sequence: Vec<String>,
    /// What could not be compared, and what changed without counting.
    pub notes: Vec<String>,
    /// Whether a listing on either side was cut short, so that absent tools are unknown.
    pub incomplete: bool,
}

/// A member of the head with another value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldChange {
    /// The member, dotted: `server_info.version`.
    pub field: String,
    /// Its value in the older cassette.
    pub old: Option<String>,
    /// Its value in the newer cassette.
    pub new: Option<String>,
}

/// How often a method was used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodCount {
    /// The method, or `<response>`, `<raw>`, `<unclassified>` for messages without one.
    pub method: String,
    /// Messages in the older cassette.
    pub old_count: usize,
    /// Messages in the newer cassette.
    pub new_count: usize,
}

/// One thing that moved on a surface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The tool, prompt or resource; `instructions` for the server's instructions.
    pub name: String,
    /// What moved.
    pub kind: ChangeKind,
    /// Whom it can break: the worst of `details`.
    pub impact: Impact,
    /// A unified diff, for changes of text.
    pub diff: Vec<String>,
    /// The same in words, one fact a line, for changes of schemas and annotations.
    pub details: Vec<Detail>,
    /// The name of the removed tool that an added one equals, or the reverse.
    pub renamed: Option<String>,
    /// The place as a JSON pointer, into the newer cassette, or into the older one for what was removed.
    pub locator: String,
    /// The place in that file.
    pub region: Region,
}

/// One fact about a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detail {
    /// In words: "parameter `query` is now required".
    pub text: String,
    /// Whom it can break.
    pub impact: Impact,
}

/// What moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    /// Only the newer cassette has it.
    Added,
    /// Only the older cassette has it.
    Removed,
    /// The description.
    Description,
    /// The input schema of a tool.
    InputSchema,
    /// The output schema of a tool.
    OutputSchema,
    /// The title.
    Title,
    /// The annotations.
    Annotations,
    /// The arguments of a prompt.
    Arguments,
    /// Another member of a resource: its name or MIME type.
    Attributes,
    /// The text of the server's instructions.
    Text,
}

/// Whom a change can break.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Impact {
    /// Callers of the older surface go on working.
    Compatible,
    /// It is in a part of a schema that is not judged; treat it as breaking.
    Unclassified,
    /// Callers of the older surface can fail.
    Breaking,
}

impl ChangeKind {
    /// The word used in JSON reports.
    pub fn as_str(self) -> &'static str {
        match self {
            ChangeKind::Added => "added",
            ChangeKind::Removed => "removed",
            ChangeKind::Description => "description",
            ChangeKind::InputSchema => "input_schema",
            ChangeKind::OutputSchema => "output_schema",
            ChangeKind::Title => "title",
            ChangeKind::Annotations => "annotations",
            ChangeKind::Arguments => "arguments",
            ChangeKind::Attributes => "attributes",
            ChangeKind::Text => "text",
        }
    }
}

impl Impact {
    /// The word used in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Impact::Compatible => "compatible",
            Impact::Unclassified => "unclassified",
            Impact::Breaking => "breaking",
        }
    }
}

impl Diff {
    /// Whether nothing that was compared differs; exactly then `diff` exits with 0.
    pub fn identical(&self) -> bool {
        self.metadata.is_empty()
            && self.methods.is_empty()
            && self.sequence.is_empty()
            && self.changes().next().is_none()
    }

    /// The changes of all surfaces: tools, prompts, resources, instructions.
    pub fn changes(&self) -> impl Iterator<Item = &Change> {
        self.tools
            .iter()
            .chain(&self.prompts)
            .chain(&self.resources)
            .chain(&self.instructions)
    }
}

impl Change {
    /// How many lines [`Change::diff`] adds and removes.
    pub fn line_counts(&self) -> (usize, usize) {
        text::counts(&self.diff)
    }

    /// What happened, after the name: `removed`, `description changed (+1 -1 lines)`.
    pub(crate) fn happened(&self) -> String {
        wording::happened(self)
    }

    /// The guess that an entry was renamed, if there is one.
    pub(crate) fn renamed_in_words(&self) -> Option<String> {
        wording::renamed(self)
    }
}
