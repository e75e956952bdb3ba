//! Kinds of attacks as rows of a table: concepts that ask for something only together,
//! within a sentence or two.
//!
//! The other signals know how their words hang together. Most of what attacks ask for has
//! no fixed wording, so here broad vocabularies are combined, and it counts that several
//! of them meet in few words and that the reader is asked for it.

use super::SignalKind::{Conceal, Consent, Material, Override};
use super::Strength::{Doubtful, Strong};
use super::exfiltration::OF_PROJECTS;
use super::plain::is_one_of;
use super::rows::{ROWS, Row, rows_of};
use super::{Add, Concept, Hit, Hits, Strength};
use crate::secrets::conceal::floor_boundary;
use Concept as C;

/// The words of a row stand no further apart than this, in bytes.
pub(super) const REACH: usize = 400;

/// Where a model writes down what it thinks.
const OF_THOUGHT: &str = "thought|thoughts|thinking|reasoning|analysis|reflection";

/// The words that stand close to each other, in two blocks of the text.
#[derive(Default)]
pub(super) struct Nearby {
    block: usize,
    now: u128,
    before: u128,
}

impl Nearby {
    /// Goes on to the block with that place; says which concepts it has so far.
    pub(super) fn at(&mut self, at: usize) -> u128 {
        let block = at / REACH;
        if block != self.block {
            self.before = if block == self.block + 1 { self.now } else { 0 };
            self.now = 0;
            self.block = block;
        }
        self.now
    }

    /// Takes the next word of that block; says whether a row may be complete.
    pub(super) fn completes(&mut self, concept: C) -> bool {
        let known = self.now | self.before;
        self.now |= concept.bit();
        if known & concept.bit() != 0 {
            return false;
        }
        // Names in backticks are not looked for yet.
        let near = self.now | self.before | C::ToolRef.bit() | C::Slot.bit();
        rows_of(concept).any(|row| row.is_within(near))
    }
}

/// Names in backticks: what something may be put into, and with an underscore a tool.
pub(super) fn tool_refs(text: &str) -> impl Iterator<Item = Hit> + '_ {
    let mut quoted = memchr::memchr_iter(b'`', text.as_bytes()).peekable();
    std::iter::from_fn(move || {
        loop {
            let start = quoted.next()?;
            let end = *quoted.peek()?;
            let name = text.get(start + 1..end).unwrap_or_default();
            let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '/');
            if !name.is_empty() && name.len() <= 64 && name.chars().all(is_word) {
                // The sign that closes it opens nothing.
                quoted.next();
                const SECRETS: &[&str] = &["secret", "credential", "password", "_token", "_env"];
                let concept =
                    if name.starts_with("get_") && SECRETS.iter().any(|word| name.contains(word)) {
                        C::Hoard
                    } else if name.contains('_') {
                        C::ToolRef
                    } else {
                        C::Slot
                    };
                return Some(Hit {
                    concept,
                    start,
                    end: end + 1,
                    sentence: 0,
                    clause: 0,
                });
            }
        }
    })
}

impl Hits<'_> {
    pub(super) fn kinds(&self, add: Add<'_>) {
        let mut from = 0;
        while let Some(first) = self.list.get(from) {
            let rest = self.list.get(from..).unwrap_or_default();
            let one = rest
                .iter()
                .take_while(|hit| hit.sentence == first.sentence)
                .count();
            let two = rest
                .iter()
                .take_while(|hit| hit.sentence <= first.sentence + 1)
                .count();
            for (sentences, length) in [(1, one), (2, two)] {
                let words = rest.get(..length).unwrap_or_default();
                if sentences == 1 || two > one {
                    self.kinds_among(words, sentences, add);
                }
            }
            from += one.max(1);
        }
    }

    fn kinds_among(&self, words: &[Hit], sentences: usize, add: Add<'_>) {
        let mut near = 0;
        for hit in words {
            near |= hit.concept.bit();
        }
        for row in ROWS {
            if row.sentences >= sentences && row.is_within(near) {
                self.judge_kind(row, words, add);
            }
        }
    }

    fn judge_kind(&self, row: &Row, words: &[Hit], add: Add<'_>) {
        // Around each word of the first set, the nearest of each other one; one word
        // must not be two.
        let Some((first, others)) = row.sets.split_first() else {
            return;
        };
        for anchor in words.iter().filter(|hit| first.contains(&hit.concept)) {
            let mut taken = vec![*anchor];
            for set in others {
                let free = |hit: &&Hit| {
                    set.contains(&hit.concept)
                        && taken
                            .iter()
                            .all(|known| hit.end <= known.start || hit.start >= known.end)
                };
                let nearest = words
                    .iter()
                    .filter(free)
                    .min_by_key(|hit| hit.start.abs_diff(anchor.start));
                match nearest {
                    Some(hit) if hit.start.abs_diff(anchor.start) <= REACH => taken.push(*hit),
                    _ => break,
                }
            }
            if taken.len() == row.sets.len() {
                let strength = self.strength_of(row, &taken);
                let start = taken.iter().map(|hit| hit.start).min().unwrap_or(0);
                let end = taken.iter().map(|hit| hit.end).max().unwrap_or(start);
                if let Some(strength) = strength {
                    add(row.kind, strength, start..end);
                    return;
                }
            }
        }
    }

    /// What a row is worth here: nothing where it is denied, or told of the tool itself or
    /// of a switch of it, or in a text about attacks.
    fn strength_of(&self, row: &Row, words: &[Hit]) -> Option<Strength> {
        let first = words.iter().min_by_key(|hit| hit.start)?;
        if words
            .iter()
            .any(|hit| self.is_denied(*hit) || self.is_param(*hit))
            || self.tells_of_tool(*first)
            || row.kind == Override && words.iter().any(|hit| self.is_reported(*hit))
            || row.kind == Consent && self.is_required(*first)
            || row.kind == Consent && words.iter().any(|hit| self.is_asked_of_person(*hit))
            || row.kind == Conceal && self.under_condition(*first) != Strong
            || words.iter().any(|hit| self.is_ordinary(row, words, *hit))
            || words
                .iter()
                .any(|hit| self.is_advice(*hit) || self.is_freed(*hit))
        {
            return None;
        }
        if words.iter().any(|hit| self.is_about_attacks(*hit)) {
            return Some(Strength::Quoted);
        }
        // "The answer" is that of a tool as well.
        let of_tool = |hit: &Hit| {
            hit.concept == C::Account
                && self.word(*hit).starts_with("the ")
                && !self.word(*hit).contains("you")
        };
        match row.kind {
            Conceal if words.iter().any(of_tool) => Some(row.strength.min(Doubtful)),
            _ => Some(row.strength),
        }
    }

    /// Whether the clause begins with what the tool does, "Copies a file ...", rather than
    /// with a plural, "Copies that ...".
    pub(super) fn tells_of_tool(&self, hit: Hit) -> bool {
        // The word behind it tells a verb from a plural.
        let end = floor_boundary(self.text, hit.end + 20);
        tells_of_tool(self.text.get(hit.clause..end).unwrap_or_default())
    }

    /// Whether "not" stands shortly before the word.
    fn is_denied(&self, hit: Hit) -> bool {
        let before = self.before(hit);
        let near = floor_boundary(before, before.len().saturating_sub(16));
        let near = before.get(near..).unwrap_or_default();
        self.is_negated(&hit)
            || matches!(
                hit.concept,
                C::Hoard | C::Private | C::PrivatePath | C::Lapse
            ) && near.contains("not ")
            || matches!(hit.concept, C::Hoard | C::Private) && self.is_left_out(hit)
    }

    /// Whether the material is said to stay where it is: "passwords are not included".
    fn is_left_out(&self, hit: Hit) -> bool {
        const STAYS: &[&str] = &[
            "are not part",
            "is not part",
            "are not included",
            "is not included",
            "are never",
            "is never",
            "are masked",
            "is masked",
            "are left out",
            "is left out",
            "never leave",
        ];
        let rest = self.behind(hit);
        let rest = rest.get(..floor_boundary(rest, 40)).unwrap_or_default();
        let rest = rest.split(['.', ';']).next().unwrap_or_default();
        STAYS.iter().any(|words| rest.contains(words))
    }

    /// Whether the words go on with something of the tool's: "remember the id", "never ask
    /// customers for card numbers".
    fn goes_on_with_data(&self, hit: Hit) -> bool {
        const OF_TOOLS: &str = "id|ids|number|numbers|cursor|name|names|path|paths|handle";
        let rest = self.behind(hit);
        let rest = rest.get(..floor_boundary(rest, 32)).unwrap_or_default();
        let rest = rest.split(['.', ';', ',']).next().unwrap_or_default();
        if hit.concept == C::Memory {
            return rest
                .split(' ')
                .take(4)
                .any(|word| is_one_of(OF_TOOLS, word));
        }
        let asked = [" confirm", " permission", " approv", " consent"];
        self.word(hit).ends_with(" ask")
            && rest.contains(" for ")
            && !asked.iter().any(|word| rest.contains(word))
    }

    /// Whether the file is one that programs are meant to read, or the rules are those of
    /// something that has old and new ones.
    fn is_ordinary(&self, row: &Row, words: &[Hit], hit: Hit) -> bool {
        match hit.concept {
            C::Handover if self.is_done_by_person(hit) => true,
            C::Omission => {
                let before = self.before(hit).rsplit(' ').nth(1).unwrap_or_default();
                is_verb_of_tool(before) && self.word(hit).starts_with("no")
                    || words.iter().any(|word| word.concept == C::Account) && self.is_of_form(hit)
            }
            C::Given if self.word(hit).starts_with("approve") => self.is_asked_of_person(hit),
            C::OtherTool => self.is_fallback(hit),
            C::Slot => {
                let name = self.behind(hit).split('`').next().unwrap_or_default();
                is_one_of(OF_THOUGHT, self.word(hit).trim_matches('`'))
                    || self.word(hit).ends_with('`') && is_one_of(OF_THOUGHT, name)
            }
            C::PrivatePath => {
                let vague = row.strength == Doubtful || row.kind == Material;
                self.is_default(hit)
                    || self.is_public_half(hit)
                    || vague && OF_PROJECTS.contains(&self.word(hit))
            }
            C::Hoard | C::Private => self.is_public_half(hit) || self.is_label(hit),
            C::Memory => self.goes_on_with_data(hit) || self.is_notable(hit),
            C::Unattended => {
                self.goes_on_with_data(hit) || self.is_request(hit) || self.is_forbidden(hit)
            }
            // So is "never mention the internal id".
            C::Hush => {
                const OF_DATA: &str = "id|ids|code|codes|password|passwords|token|tokens|price|prices|cost|costs|\
                    key|keys|number|numbers|internal|salary|margin|secret|secrets|values|credentials";
                let object = self.behind(hit).split(['.', ';', ',', '!']).next();
                let object = object.unwrap_or_default().split(' ').take(4);
                (self.word(hit).contains("not ") || self.word(hit).contains("never "))
                    && object.into_iter().any(|word| is_one_of(OF_DATA, word))
            }
            // "Not shown on public pages" is about data.
            C::Unknowing => {
                if self.is_outcome(hit) {
                    return true;
                }
                let places = [" on ", " in ", " until ", " by "];
                self.word(hit) == "not be shown"
                    && places
                        .iter()
                        .any(|place| self.behind(hit).starts_with(place))
            }
            C::Told if !self.word(hit).contains("you") => {
                let first = words.first().map_or(hit.sentence, |hit| hit.sentence);
                words.iter().any(|word| word.sentence != first) || self.clause(hit).contains("new ")
            }

            _ => false,
        }
    }

    /// Whether the consent is one that has to be there.
    fn is_required(&self, hit: Hit) -> bool {
        const REQUIRED: &[&str] = &[
            "must have ",
            "must already",
            "needs to have ",
            "has to have ",
            "whether ",
            "if ",
            "once ",
            "only after ",
            "until ",
            "unless ",
        ];
        let end = floor_boundary(self.text, hit.end + 60);
        let clause = self.text.get(hit.clause..end).unwrap_or_default();
        // "Consent was given when ..." names no condition.
        let conditional = |words: &str, clause: &str| {
            clause
                .match_indices(words)
                .any(|(at, _)| at == 0 || clause.as_bytes().get(at - 1) == Some(&b' '))
        };
        REQUIRED.iter().any(|words| conditional(words, clause))
            || conditional("when ", self.clause(hit))
    }

    /// Whether nobody need be asked because nothing is changed.
    fn is_freed(&self, hit: Hit) -> bool {
        hit.concept == C::Unattended && (self.is_harmless(hit) || self.is_read_only(hit))
    }

    /// Whether what the words are about is to be kept out or asked for: "do not include
    /// passwords", "ask the user before".
    fn is_advice(&self, hit: Hit) -> bool {
        const ADVICE: &str = "never put|never include|never pass|never send|never share|never give|never commit|\
            never store|do not put|do not include|do not pass|do not send|do not share|\
            do not commit|do not store|do not paste|do not enter|don't put|don't include|\
            don't send|don't share|don't paste|must not contain|must not include|\
            should not contain|ask the user first|ask the user before|ask for confirmation|\
            ask before|do not ask the user to|never ask the user to|never ask the user for|\
            do not ask the user for|never ask for|do not ask for|does not send|are not sent|is not sent|never leave|never leaves|\
            untrusted";
        let clause = self.clause(hit);
        ADVICE.split('|').any(|words| clause.contains(words))
    }

    /// Whether the sentence tells what looks for attacks: "Detects texts that ...".
    pub(super) fn is_about_attacks(&self, hit: Hit) -> bool {
        self.about
            && self
                .of(C::About)
                .any(|(_, about)| about.sentence == hit.sentence && about.start < hit.start)
            && self.tells_of_tool(hit)
    }
}

/// Whether a clause begins with a verb in the third person.
pub(in crate::lint) fn tells_of_tool(clause: &str) -> bool {
    const BEHIND_NOUNS: &str = "that|which|who|whose|come|of|are|were|have|go|must|should|will|can|may|ought|need|\
            shall|to|from|in|on|here|below|above|do|made|written|given|work|fail|stay";
    let clause = clause.trim_start_matches(|c: char| !c.is_alphanumeric());
    let (first, rest) = clause
        .split_once(|c: char| !c.is_alphanumeric() && c != '\'')
        .unwrap_or((clause, ""));
    let next = rest
        .split(|c: char| !c.is_alphanumeric() && c != '\'')
        .next()
        .unwrap_or_default();
    !is_one_of(BEHIND_NOUNS, next) && is_verb_of_tool(first)
}

/// Whether the first word of a clause is a verb in the third person.
fn is_verb_of_tool(word: &str) -> bool {
    const NO_VERBS: &str = "always|this|these|its|as|is|unless|users|assistants|agents|models|perhaps|yes|\
            instructions|rules|names|statistics|details|credentials|secrets|tokens|passwords|\
            cookies|contents|words|texts|messages|usage|whatever|let's|people's|others|us|has|\
            was|does|sometimes|besides|afterwards|thus|plus|previous|steps|notes|ours|theirs|\
            yours|emails|mails|files|keys|logs|results|answers|requests|calls|conversations|\
            chats|clients|hosts|servers|tools|outputs|developers|admins|callers|permissions|\
            approvals|confirmations|questions|humans|persons|payments|invoices|transfers";
    word.ends_with('s')
        && !word.ends_with("ss")
        && !word.contains('\'')
        && word.len() > 3
        && !is_one_of(NO_VERBS, word)
}
