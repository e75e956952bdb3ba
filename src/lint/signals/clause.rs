//! What surrounds a combination of words: whether it tells what the tool does to its own
//! data or asks something of the reader, whether it holds always, whether it is quoted.

use super::plain::is_one_of;
use super::{Concept, Hit, Hits, Strength};
use crate::secrets::conceal::floor_boundary;
use std::ops::Range;

/// How far a switch may be from what it switches.
const PARAM_REACH: usize = 200;
/// How much of a clause is looked at.
const CLAUSE_REACH: usize = 240;
/// How far a condition may follow.
const TAIL_REACH: usize = 240;

impl Hits<'_> {
    pub(super) fn word(&self, hit: Hit) -> &str {
        self.text.get(hit.range()).unwrap_or_default()
    }

    pub(super) fn before(&self, hit: Hit) -> &str {
        self.text.get(..hit.start).unwrap_or_default()
    }

    pub(super) fn behind(&self, hit: Hit) -> &str {
        self.text.get(hit.end..).unwrap_or_default()
    }

    /// The clause up to the hit, its last part if it is long.
    pub(super) fn clause(&self, hit: Hit) -> &str {
        let from = floor_boundary(self.text, hit.start.saturating_sub(CLAUSE_REACH));
        let start = hit.clause.max(from);
        self.text.get(start..hit.start).unwrap_or_default()
    }

    /// Where the hit, or the first one like it, is in the list.
    pub(super) fn index(&self, hit: Hit) -> usize {
        self.list.partition_point(|other| other.start < hit.start)
    }

    /// "the user" as a person, not "user agent" or "user interface".
    pub(super) fn is_person(&self, user: Hit) -> bool {
        const NOUNS: &[&str] = &[
            "agent",
            "interface",
            "id",
            "name",
            "list",
            "input",
            "style",
            "defined",
            "profile",
            "data",
            "account",
            "group",
            "role",
            "record",
            "setting",
            "preference",
            "pool",
        ];
        let word = self.behind(user).trim_start_matches([' ', '-', '_']);
        !NOUNS.iter().any(|noun| word.starts_with(noun))
            && !["by ", "of one ", "of another ", "of other "]
                .iter()
                .any(|word| self.before(user).ends_with(word))
    }

    /// Whether the sentence is about a switch of the tool: "if true, ...".
    pub(super) fn is_param(&self, hit: Hit) -> bool {
        let at = self.index(hit);
        let is_switch =
            |other: &&Hit| other.concept == Concept::Param && other.sentence == hit.sentence;
        let (earlier, later) = self.list.split_at(at);
        earlier
            .iter()
            .rev()
            .take_while(|other| other.start + PARAM_REACH >= hit.start)
            .chain(
                later
                    .iter()
                    .take_while(|other| other.start <= hit.end + PARAM_REACH),
            )
            .any(|other| is_switch(&other))
    }

    /// Whether the clause begins with what the tool does: "Pauses a subscription ...".
    pub(super) fn is_third_person(&self, hit: Hit) -> bool {
        const NO_VERBS: &[&str] = &[
            "always",
            "this",
            "these",
            "its",
            "as",
            "is",
            "unless",
            "users",
            "assistants",
            "agents",
            "models",
            "perhaps",
            "yes",
            "instructions",
            "rules",
        ];
        let first = self.text.get(hit.clause..hit.start).unwrap_or_default();
        let first = first
            .trim_start_matches(|c: char| !c.is_alphanumeric())
            .split(|c: char| !c.is_alphanumeric() && c != '\'')
            .next()
            .unwrap_or_default();
        let passive = [" is ", " are ", " was ", " were ", " gets "];
        first.ends_with('s') && !first.ends_with("ss") && !NO_VERBS.contains(&first)
            || passive.iter().any(|verb| self.clause(hit).contains(verb))
    }

    /// The hit is an order's end if nothing makes it depend on something; otherwise how
    /// much the condition takes off.
    pub(super) fn under_condition(&self, verb: Hit) -> Strength {
        let at = self.index(verb);
        let condition = self
            .list
            .get(at..)
            .unwrap_or_default()
            .iter()
            .take_while(|hit| hit.start <= verb.end + TAIL_REACH && hit.sentence == verb.sentence)
            .find(|hit| hit.concept == Concept::Condition && hit.start >= verb.end);
        let Some(condition) = condition else {
            return Strength::Strong;
        };
        let rest = self.behind(*condition);
        let rest = rest
            .get(..floor_boundary(rest, TAIL_REACH))
            .unwrap_or_default();
        let tail = rest.split(['.', '!', '?', ';']).next().unwrap_or_default();
        let takes_back = [" nor ", " or ever", " not ever", " or at all", " even "];
        if takes_back.iter().any(|words| tail.contains(words)) {
            return Strength::Strong;
        }
        let honest = [
            "asked",
            "requested",
            "necessary",
            "needed",
            "required",
            "relevant",
        ];
        let words = tail.split_whitespace().count();
        let holds = self.word(*condition) == "yet"
            || words >= 2
            || honest.iter().any(|word| tail.trim() == *word);
        if holds {
            Strength::Doubtful
        } else {
            Strength::Strong
        }
    }

    /// Whether it is said where the thing is: "the rules in the file". Not where the
    /// model is: "the rules of this conversation".
    pub(super) fn is_about_data(&self, object: Hit) -> bool {
        const PLACES: &[&str] = &[
            " in ",
            " on ",
            " of ",
            " for ",
            " from ",
            " within ",
            " inside ",
            " at ",
            " defined in ",
            " set on ",
            " set in ",
            " configured in ",
        ];
        const OURS: &[&str] = &[
            "conversation",
            "chat",
            "context",
            "session",
            "system",
            "message",
            "prompt",
            "user",
            "developer",
            "host",
            "client",
            "assistant",
            "model",
            "now",
            "request",
            "task",
            "turn",
            "answer",
            "reply",
            "response",
            "me",
            "us",
            "you",
            "favor",
            "favour",
            "which",
            "these",
            "order",
            "anthropic",
            "openai",
        ];
        let rest = self.behind(object);
        let Some(rest) = PLACES.iter().find_map(|place| rest.strip_prefix(place)) else {
            return false;
        };
        const ARTICLES: &[&str] = &[
            "the", "this", "a", "an", "each", "that", "its", "current", "your",
        ];
        let mut words = rest
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .skip_while(|word| ARTICLES.contains(word));
        words
            .next()
            .is_some_and(|word| !word.is_empty() && !OURS.contains(&word))
    }

    /// Whether other instructions do it: "new instructions override ...", unlike "these
    /// instructions override ...".
    pub(super) fn has_subject(&self, verb: Hit) -> bool {
        let subject = self
            .list
            .iter()
            .take(self.index(verb))
            .rev()
            .take(8)
            .find(|hit| {
                matches!(hit.concept, Concept::Instructions | Concept::Settings)
                    && hit.end < verb.start
                    && verb.start - hit.end == 1
            });
        subject.is_some_and(|subject| {
            let before = self.before(*subject);
            let reach = before.len().saturating_sub(25);
            let near = before.get(floor_boundary(before, reach)..);
            !near.unwrap_or_default().split(' ').any(|word| {
                matches!(
                    word,
                    "these" | "this" | "following" | "my" | "below" | "our"
                )
            })
        })
    }

    /// Whether something in the neighbourhood speaks to the model or presses it.
    pub(super) fn is_pressed(&self, at: usize) -> bool {
        [Concept::Address, Concept::RoleTag, Concept::EmphasisTag]
            .iter()
            .any(|concept| self.near(at, *concept, 400, 3).is_some())
    }

    /// What quotation marks around the range make of it, in a text that speaks of
    /// attacks or shows samples.
    pub(super) fn quotation(&self, range: &Range<usize>) -> Option<Strength> {
        let strength = match (self.about, self.samples) {
            (true, _) => Strength::Quoted,
            (false, true) => Strength::Cited,
            (false, false) if self.is_in_prose(range) => Strength::Cited,
            (false, false) => return None,
        };
        let before = self.text.get(..range.start).unwrap_or_default();
        let rest = self.text.get(range.end..).unwrap_or_default();
        let rest = rest.get(..floor_boundary(rest, 64)).unwrap_or_default();
        let closes = rest.contains(['"', '\'', '\u{201d}', '\u{2019}', '\u{bb}', '`']);
        let is_line = before.trim_end().ends_with('>');
        (is_line || closes && is_open(before)).then_some(strength)
    }
}

impl Hits<'_> {
    /// Whether a quotation that the range may be in begins behind a word of a sentence,
    /// unlike a value behind a name.
    fn is_in_prose(&self, range: &Range<usize>) -> bool {
        let before = self.text.get(..range.start).unwrap_or_default();
        const QUOTES: [char; 5] = ['"', '\'', '\u{201c}', '\u{ab}', '\u{2018}'];
        let inside = self.text.get(range.clone()).unwrap_or_default();
        let Some(quote) = before.rfind(QUOTES) else {
            return false;
        };
        if inside.contains(QUOTES) {
            return false;
        }
        let before = before.get(..quote).unwrap_or_default();
        before
            .strip_suffix(' ')
            .is_some_and(|words| words.ends_with(char::is_alphabetic) || words.ends_with("says:"))
    }
}

/// Whether a quotation begins in the text, not long before its end, and does not end there.
fn is_open(text: &str) -> bool {
    const REACH: usize = 160;
    let from = floor_boundary(text, text.len().saturating_sub(REACH));
    let near = text.get(from..).unwrap_or_default();
    let mut open = false;
    let mut before = from == 0;
    for (at, c) in near.char_indices() {
        let after = near
            .get(at + c.len_utf8()..)
            .and_then(|rest| rest.chars().next());
        let begins = before && !after.is_some_and(char::is_whitespace);
        match c {
            '\u{201c}' | '\u{ab}' => open = true,
            '\u{201d}' | '\u{bb}' => open = false,
            // An apostrophe within a word is neither.
            '"' | '\'' | '`' if begins => open = true,
            '"' | '`' => open = false,
            '\'' if !after.is_some_and(char::is_alphanumeric) => open = false,
            _ => {}
        }
        before = c.is_whitespace() || matches!(c, '(' | '[' | ':' | ',' | '>' | '/');
    }
    open
}

/// What a heading behind "AI" or "model" may be about.
const OF_DOCUMENTS: &str = "policy|policies|notes|card|act|features|usage|disclosure|summary|news|section|ethics|\
    guidelines|generated|index|name|version|id|type|used|provider|output|response|settings|\
    parameters|config|configuration|size|costs|price|pricing|year|wanted|manager|professor|editor|\
    director|coach|position|job|tools";

/// Whether the next word makes a heading of it: "AI policy".
fn is_of_document(text: &str, end: usize) -> bool {
    let rest = text.get(end..).unwrap_or_default().trim_start();
    let next = rest.split(|c: char| !c.is_alphanumeric()).next();
    is_one_of(OF_DOCUMENTS, next.unwrap_or_default())
}

/// Whether a word for what reads texts stands where it is charged with something: "AI
/// reviewers: ...", "agents that read this should ..."; not "a model of", "user-agent:".
pub(super) fn charges(text: &str, range: Range<usize>) -> bool {
    const MODALS: &[&str] = &[
        "must", "should", "shall", "ought", "may", "needs", "need", "has", "have",
    ];
    const BEFORE: &[&str] = &[
        "the",
        "any",
        "all",
        "every",
        "each",
        "dear",
        "to",
        "for",
        "coding",
        "automated",
        "if",
        "you",
        "other",
    ];
    let before = text.get(..range.start).unwrap_or_default();
    let before = before.get(floor_boundary(before, before.len().saturating_sub(24))..);
    let before = before.unwrap_or_default();
    let outside = before.trim_end();
    let begins = outside.is_empty()
        || outside.ends_with([
            '.', '!', '?', ':', ';', '(', '[', '#', '*', '-', '>', '"', ',',
        ]);
    if before.ends_with(['-', '/', '.']) || is_of_document(text, range.end) {
        return false;
    }
    let few = outside
        .rsplit(['.', '!', '?', ':', ';', '(', '[', '#', '*', '>', '"', ','])
        .next()
        .is_some_and(|words| words.split_whitespace().count() <= 2);
    let led = outside
        .rsplit(' ')
        .next()
        .is_some_and(|word| BEFORE.contains(&word));
    let rest = text.get(range.end..).unwrap_or_default();
    let rest = rest.get(..floor_boundary(rest, 48)).unwrap_or_default();
    let rest = rest.split(['.', '!', '?', ';']).next().unwrap_or_default();
    let called = rest.find(": ").is_some_and(|at| {
        let between = rest.get(..at).unwrap_or_default();
        let mut words = between.split_whitespace();
        words.clone().count() <= 3 && !words.any(|word| is_one_of(OF_DOCUMENTS, word))
    });
    let called = called || begins && (rest.starts_with(", ") || rest.starts_with(" please "));
    let told = rest
        .split([' ', ','])
        .take(6)
        .any(|word| MODALS.contains(&word));
    let word = text.get(range).unwrap_or_default();
    let many = word.ends_with('s') && begins;
    (begins || led) && (called || told) || few && called || told && word.starts_with("ai") || many
}

/// Whether a word for the model stands where one is spoken to: "assistant: ...", "the
/// assistant must ..."; not "an assistant: ...", "a message to the assistant".
pub(super) fn addresses(text: &str, range: Range<usize>) -> bool {
    const TOLD: &[&str] = &[
        "must", "should", "shall", "has", "needs", "need", "is", "will", "ought", "always", "never",
    ];
    let before = text.get(..range.start).unwrap_or_default();
    let rest = text.get(range.end..).unwrap_or_default();
    match text.get(range).unwrap_or_default() {
        "assistant:" | "assistant," => !["an ", "each ", "new ", "your ", "of "]
            .iter()
            .any(|article| before.ends_with(article)),
        "the assistant" => {
            let next = rest.split(|c: char| !c.is_alphanumeric()).nth(1);
            rest.starts_with([':', ',']) || next.is_some_and(|next| TOLD.contains(&next))
        }
        _ => true,
    }
}
