//! What honest texts say in the words of attacks: data that is not for display, claims that
//! are not true yet, what people do themselves, labels of private things.

use super::{Concept as C, Hit, Hits};
use crate::secrets::conceal::floor_boundary;

/// So much of a sentence is looked at behind a word, in bytes.
const BEHIND: usize = 80;

/// Words for what a tool has and people seldom need.
const DATA: &str = "id|ids|identifier|identifiers|json|xml|html|yaml|sql|markdown|raw|trace|traces|stack|\
    internals|technical|code|codes|number|numbers|digits|name|names|table|tables|column|columns|\
    field|fields|log|logs|price|prices|cost|costs|margin|margins|salary|salaries|password|\
    passwords|token|tokens|secret|secrets|credentials|card|cards|score|scores|model|error|errors|\
    urls|draft|drafts|customer|customers|uuid|uuids|snippets|weights|probabilities|coordinates|\
    slugs|schema|schemas|hashes|timestamps|metadata|answers|solution|solutions";

/// Words for the step that a text speaks of itself.
const THIS: &str =
    "this|it|that|these|anything|step|call|about|upload|copy|transfer|request|else|any|what|why";

/// What an answer consists of.
const OF_ANSWERS: &str = "number|word|words|sentence|sentences|json|translation|translated|text|code|result|\
    results|final|list|markdown|explanation|explanations|introduction|commentary|quotes|steps|\
    preamble|names|title|yes|language|section|sections|bullet|bullets|paragraph|diff|value|label|\
    format|formatting|disclaimer|disclaimers|command|query|id|ids|points|facts|necessary|relevant|\
    documents|document|sources|citations|essentials";

/// What such material has beside itself.
const LABELS: &str = "id|ids|identifier|identifiers|name|names|title|titles|url|type|types|count|number|settings|\
    policy|reset|field|strength|length|manager's|hint|list|status|usage|window|limit|limits|\
    parameter|variable|variables|format|counter|topic|tab|style|template|templates|scanning";

/// The words of a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '\'')
        .filter(|word| !word.is_empty())
}

/// Whether it is one of the words, which bars part.
pub(super) fn is_one_of(list: &str, word: &str) -> bool {
    list.split('|').any(|known| known == word)
}

impl Hits<'_> {
    /// The rest of the sentence behind a word, as far as it is looked at.
    pub(super) fn rest(&self, hit: Hit) -> &str {
        let rest = self.behind(hit);
        let rest = rest.get(..floor_boundary(rest, BEHIND)).unwrap_or_default();
        rest.split(['.', ';', '!', '?']).next().unwrap_or_default()
    }

    /// Whether what a person is not shown is data of the tool's: "raw JSON", "internal ids".
    pub(super) fn keeps_data(&self, verb: Hit, user: Hit) -> bool {
        let between = self.text.get(verb.end..user.start).unwrap_or_default();
        let rest = self.rest(user);
        let rest = rest.split([',', ':']).next().unwrap_or_default();
        let all = || words(between).chain(words(rest));
        !all().any(|word| is_one_of(THIS, word)) && all().any(|word| is_one_of(DATA, word))
    }

    /// Whether a person is told nothing that is not true yet: "the booking is confirmed".
    pub(super) fn is_claim(&self, user: Hit) -> bool {
        const VERBS: &str = "is|was|are|were|has|have|went|will|can|may|worked|succeeded|failed";
        let rest = self.rest(user);
        const NO_CLAIMS: &[&str] = &[
            " about", " unless", " until", " if ", " when", " before", " yet",
        ];
        rest.starts_with(" that ")
            || !NO_CLAIMS.iter().any(|word| rest.starts_with(word))
                && words(rest)
                    .take(8)
                    .skip(1)
                    .any(|word| is_one_of(VERBS, word))
    }

    /// Whether the words behind name a label of private material rather than it:
    /// "conversation id".
    pub(super) fn is_label(&self, hit: Hit) -> bool {
        const OF: &[&str] = &[
            "name of ",
            "names of ",
            "number of ",
            "id of ",
            "ids of ",
            "title of ",
            "kind of ",
            "type of ",
            "length of ",
            "name of the ",
            "names of the ",
            "number of the ",
            "path of ",
            "path of the ",
            "path to the ",
            "path to ",
            "id of the ",
            "names of your ",
        ];
        let next = self.behind(hit).trim_start_matches([' ', '_', '-']);
        let next = words(next).next().unwrap_or_default();
        let joined = self.behind(hit).starts_with([' ', '_', '-']);
        // Why something is done is told to people.
        if self.word(hit) == "your reasoning" && matches!(next, "for" | "behind" | "about") {
            return true;
        }
        joined && is_one_of(LABELS, next)
            || hit.concept != C::PrivatePath
                && OF.iter().any(|words| self.before(hit).ends_with(words))
    }

    /// Whether a person does it: "the user has to enter ...".
    pub(super) fn is_done_by_person(&self, hit: Hit) -> bool {
        const PEOPLE: &[&str] = &[
            "the user ",
            "users ",
            "the customer ",
            "customers ",
            "they ",
            "a person ",
            "the owner ",
            "an administrator ",
            "administrators ",
            "people ",
            "the caller ",
            "members ",
            "admins ",
        ];
        const LED: &[&str] = &[
            " you",
            "assistant",
            " wants",
            " asked",
            " expects",
            " agreed",
            " consent",
            " allow",
            " approved",
            "says",
            "said",
            "wrote",
            "typed",
        ];
        let clause = self.clause(hit).trim_start();
        PEOPLE.iter().any(|who| clause.starts_with(who))
            && !LED.iter().any(|word| clause.contains(word))
    }

    /// Whether a person is said to have to agree: "the user has to approve every purchase".
    pub(super) fn is_asked_of_person(&self, hit: Hit) -> bool {
        const HAVE_TO: &[&str] = &[
            "has to", "have to", "must", "needs to", "need to", "should", "can", "may", "will",
        ];
        let clause = self.clause(hit).trim_end();
        self.is_done_by_person(hit) && HAVE_TO.iter().any(|words| clause.ends_with(words))
    }

    /// Whether a restriction is one of form: "only the number in your answer".
    pub(super) fn is_of_form(&self, hit: Hit) -> bool {
        let clause = self.clause(hit);
        let near = clause.get(floor_boundary(clause, clause.len().saturating_sub(24))..);
        let near = near.unwrap_or_default();
        words(self.rest(hit))
            .take(6)
            .chain(words(near))
            .any(|word| is_one_of(OF_ANSWERS, word))
    }

    /// Whether it is said what an event does to people that the tool has to do with: "they
    /// will not be told".
    pub(super) fn is_outcome(&self, hit: Hit) -> bool {
        const PEOPLE: &[&str] = &[
            "they",
            "members",
            "the member",
            "the author",
            "the sender",
            "the recipient",
            "recipients",
            "customers",
            "the customer",
            "participants",
            "followers",
            "he",
            "she",
            "the other",
            "subscribers",
            "guests",
            "attendees",
            "others",
            "reviewers",
        ];
        let clause = self.clause(hit).trim();
        let told = self.word(hit);
        PEOPLE.iter().any(|who| clause.starts_with(who))
            && (clause.ends_with(" will") || told.starts_with("is ") || told.starts_with("are "))
    }

    /// Whether leave is demanded by a double negation: "never call it without asking".
    pub(super) fn is_forbidden(&self, hit: Hit) -> bool {
        const NOT: &str = "never|not|don't|cannot|nothing|nobody|no";
        let clause = self.clause(hit);
        let near = clause.get(floor_boundary(clause, clause.len().saturating_sub(60))..);
        let near = near
            .unwrap_or_default()
            .rsplit(',')
            .next()
            .unwrap_or_default();
        self.word(hit).starts_with("without") && words(near).any(|word| is_one_of(NOT, word))
    }

    /// Whether other tools come in where this one, or they, can do nothing.
    pub(super) fn is_fallback(&self, hit: Hit) -> bool {
        const NOTHING: &[&str] = &[
            "return nothing",
            "returns nothing",
            "find nothing",
            "finds nothing",
            "found nothing",
            "fail",
            "not available",
            "unavailable",
            "cannot",
            "no result",
            "not enough",
        ];
        let rest = self.rest(hit);
        NOTHING.iter().any(|words| rest.contains(words))
    }

    /// Whether the sentence says that nothing is changed.
    pub(super) fn is_read_only(&self, hit: Hit) -> bool {
        const FREE: &[&str] = &[
            "read-only",
            "read only",
            "only read",
            "change nothing",
            "changes nothing",
            "on a copy",
            "dry run",
            "no side effects",
            "nothing can break",
        ];
        let (clause, rest) = (self.clause(hit), self.rest(hit));
        FREE.iter()
            .any(|words| clause.contains(words) || rest.contains(words))
    }

    /// Whether the person is asked for something rather than for leave: "do not ask the user
    /// to paste ...".
    pub(super) fn is_request(&self, hit: Hit) -> bool {
        const LEAVE: &[&str] = &[
            "confirm",
            "permission",
            "approv",
            "consent",
            "agree",
            "allow",
        ];
        let rest = self.rest(hit);
        let asked =
            rest.starts_with(" to ") || rest.starts_with(" for ") || rest.starts_with(" which ");
        let whom = ["the user", "ask", "users", "customers"];
        asked
            && whom.iter().any(|whom| self.word(hit).ends_with(whom))
            && !LEAVE.iter().any(|word| rest.contains(word))
    }

    /// Whether what is remembered is what such tools are for: preferences, decisions.
    pub(super) fn is_notable(&self, hit: Hit) -> bool {
        const NOTABLE: &str = "preferences|preference|decisions|decision|important|settings|choices|lessons|facts|\
            context|things|information|insights|findings|notes|progress|knowledge|details|what";
        const TOLD: &[&str] = &[" that ", ":", "\"", " always ", " never ", "`"];
        let rest = self.rest(hit);
        words(rest).take(4).any(|word| is_one_of(NOTABLE, word))
            && !TOLD.iter().any(|told| rest.contains(told))
    }

    /// Whether a text about attacks tells what one does: "can make the model send ...".
    pub(super) fn is_reported_attack(&self, start: usize) -> bool {
        const TELLS: &[&str] = &[
            " can make ",
            " could make ",
            " may make ",
            " makes ",
            " made ",
            " tricks ",
            " tricked ",
            " causes ",
            " lets ",
            " tries to ",
            " tried to ",
            " attempts to ",
            " instructs ",
            " instructed ",
            " hopes ",
            " wrote ",
            " writes ",
            " says ",
            " said ",
            " asks ",
            " asked ",
            " told ",
            " tells ",
            " contains ",
            " contained ",
            " attempt to ",
            " attempts ",
            " such as ",
            " like ",
            " would ",
            " try to ",
            " trying to ",
        ];
        if !self.about {
            return false;
        }
        let from = floor_boundary(self.text, start.saturating_sub(240));
        let before = self.text.get(from..start).unwrap_or_default();
        let sentence = before.rsplit(". ").next().unwrap_or_default();
        let from = start - sentence.len();
        let named = self
            .of(C::About)
            .any(|(_, hit)| hit.start >= from && hit.start < start);
        named && TELLS.iter().any(|tells| sentence.contains(tells))
    }
}
