//! Signals in languages beside English.
//!
//! Word order differs from language to language, so words are combined that stand close
//! together in one sentence, whatever comes first. Vocabularies list the forms of verbs
//! that give orders ("digas", not "dice"), so that what a tool does itself is not taken
//! for one. What honest texts might say counts only in company.

use super::language::{Language, Negated};
use super::{Concept, Hit, Hits, SignalKind, Strength, number_sentences};
use std::ops::Range;

/// How far apart, in English letters, a verb and its object may stand.
pub(super) const OBJECT_REACH: usize = 60;
/// How far from these a word for "previous" or "all".
const QUALIFIER_REACH: usize = 40;
/// How far from rules what they are about.
const DATA_REACH: usize = 25;
/// How far a negation from its verb, and how far where it may stand at the end.
const NEGATION_REACH: usize = 25;
const LATE_NEGATION_REACH: usize = 60;
/// How close it is where it negates a verb of overriding.
const NEGATED_REACH: usize = 10;
/// How far a person from what is not told.
const PERSON_REACH: usize = 60;
/// How far a path from the verb that passes it on, and that from where to.
const TRANSFER_REACH: usize = 140;
/// How far away something is company.
pub(super) const COMPANY_REACH: usize = 300;

/// The private files that programs are meant to read.
const OF_PROJECTS: &[&str] = &[
    ".env",
    ".env file",
    "mcp.json",
    ".npmrc",
    ".kube/config",
    ".docker/config.json",
];

/// The concepts that must all occur for a signal to be possible.
pub(super) const COMBINATIONS: &[&[Concept]] = &[
    &[Concept::OverrideVerb, Concept::Instructions],
    &[Concept::OverrideVerb, Concept::Settings],
    &[Concept::Negation, Concept::TellVerb, Concept::User],
    &[Concept::Negation, Concept::ShowVerb, Concept::User],
    &[Concept::Untold, Concept::User],
    &[Concept::Negation, Concept::TellVerb, Concept::Crowd],
    &[Concept::Untold, Concept::Crowd],
    &[Concept::Conceal],
    &[Concept::Unseen],
    &[Concept::PrivatePath, Concept::TransferVerb],
    &[Concept::Private, Concept::TransferVerb],
    &[Concept::Address],
    &[Concept::Prime],
    &[Concept::Consent],
    &[Concept::RoleChange],
    &[Concept::Imperative],
    &[Concept::Shield, Concept::Off],
    &[Concept::Negation, Concept::TellVerb, Concept::Account],
    &[Concept::Negation, Concept::ShowVerb, Concept::Account],
    &[Concept::Untold, Concept::Account],
    &[Concept::Told, Concept::Lapse],
    &[Concept::Told, Concept::OverrideVerb],
    &[Concept::Lapse, Concept::Instructions],
    &[Concept::Unknowing],
    &[Concept::Hush],
    &[Concept::Asked, Concept::Lie],
    &[Concept::OtherTool],
    &[Concept::Memory],
    &[Concept::Tamper, Concept::TransferVerb],
    &[Concept::Lasting, Concept::TransferVerb],
    &[Concept::RemoteExec, Concept::TransferVerb],
];

/// A signal: what it asks for, how sure it is, and where it stands.
pub(super) type Found = (SignalKind, Strength, Range<usize>);

/// The signals of a text in one language.
pub(super) fn read(text: &str, language: &Language) -> Vec<Found> {
    let abroad = Abroad {
        hits: hits(text, language),
        width: language.width(),
        negated: language.negated,
    };
    let mut found = Vec::new();
    abroad.overrides(&mut found);
    abroad.untold(&mut found);
    abroad.hidden(&mut found);
    abroad.passed_on(&mut found);
    abroad.material(&mut found);
    abroad.orders(&mut found);
    abroad.unguarded(&mut found);
    abroad.kinds(&mut found);
    promote(&mut found);
    for (_, strength, range) in &mut found {
        if *strength >= Strength::Doubtful {
            *strength = abroad.hits.quotation(range).unwrap_or(*strength);
        }
    }
    found
}

/// What is doubtful alone is not beside a signal of another kind that honest texts seldom
/// have.
fn promote(found: &mut [Found]) {
    let mut telling = found.iter().filter(|(kind, strength, _)| {
        *kind != SignalKind::Material
            && (*strength >= Strength::Doubtful || *kind == SignalKind::Exfiltrate)
    });
    let first = telling.next().map(|(kind, ..)| *kind);
    if telling.any(|(kind, ..)| Some(*kind) != first) {
        for (_, strength, _) in found {
            if *strength == Strength::Doubtful {
                *strength = Strength::Strong;
            }
        }
    }
}

fn hits<'a>(text: &'a str, language: &Language) -> Hits<'a> {
    let mut list = Vec::new();
    let (mut about, mut samples) = (false, false);
    for (word, range) in language.lexicon().find(text) {
        if !language.stands_alone(text, range.clone(), word.stem) {
            continue;
        }
        about |= word.concept == Concept::About;
        samples |= word.concept == Concept::Sample;
        list.push(Hit {
            concept: word.concept,
            start: range.start,
            end: range.end,
            sentence: 0,
            clause: 0,
        });
    }
    list.extend(super::abroad_kinds::tool_names(text));
    list.sort_unstable_by_key(|hit| (hit.start, hit.end, hit.concept));
    number_sentences(text, &mut list);
    Hits {
        text,
        list,
        about,
        samples,
    }
}

/// A text in one language.
pub(super) struct Abroad<'a> {
    pub(super) hits: Hits<'a>,
    /// The bytes that say as much as an English letter.
    pub(super) width: usize,
    negated: Negated,
}

impl Abroad<'_> {
    /// Hits within reach on either side of one, in its sentence, nearest first.
    fn around(&self, at: usize, reach: usize) -> impl Iterator<Item = Hit> + '_ {
        let reach = reach * self.width;
        let (earlier, later) = self.hits.list.split_at_checked(at).unwrap_or_default();
        let from = later.first().copied();
        let (start, end, sentence) =
            from.map_or((0, 0, 0), |from| (from.start, from.end, from.sentence));
        let later = later
            .iter()
            .skip(1)
            .take_while(move |hit| hit.start <= end + reach);
        let earlier = earlier
            .iter()
            .rev()
            .take_while(move |hit| hit.start + reach >= start);
        let near = later.chain(earlier).copied();
        near.filter(move |hit| from.is_some() && hit.sentence == sentence)
    }

    /// The nearest hit of some concepts on either side that is not cut off by commas.
    pub(super) fn nearest(
        &self,
        at: usize,
        concepts: &[Concept],
        reach: usize,
        commas: usize,
    ) -> Option<Hit> {
        let from = *self.hits.list.get(at)?;
        self.around(at, reach)
            .filter(|hit| concepts.contains(&hit.concept) && self.commas(from, *hit) <= commas)
            .min_by_key(|hit| distance(from, *hit))
    }

    /// How many commas stand between two hits.
    fn commas(&self, one: Hit, other: Hit) -> usize {
        let (first, second) = if one.start <= other.start {
            (one, other)
        } else {
            (other, one)
        };
        let between = self.hits.text.get(first.end..second.start);
        between
            .unwrap_or_default()
            .chars()
            .filter(|c| matches!(c, ',' | '、' | '،' | ':'))
            .count()
    }

    fn has_near(&self, at: usize, concepts: &[Concept], reach: usize) -> bool {
        self.around(at, reach)
            .any(|hit| concepts.contains(&hit.concept))
    }

    /// Whether a negation belongs to the verb.
    pub(super) fn is_negated(&self, at: usize) -> bool {
        let Some(verb) = self.hits.list.get(at).copied() else {
            return false;
        };
        self.around(at, NEGATED_REACH).any(|hit| {
            let before = hit.end <= verb.start && self.negated != Negated::After;
            let after = hit.start >= verb.end && self.negated != Negated::Before;
            hit.concept == Concept::Negation && (before || after) && self.commas(verb, hit) == 0
        })
    }

    /// Whether a word that speaks to the model, or hides something, stands in the
    /// neighbourhood.
    pub(super) fn is_pressed(&self, at: usize) -> bool {
        const PRESSING: &[Concept] = &[
            Concept::Address,
            Concept::RoleTag,
            Concept::EmphasisTag,
            Concept::Conceal,
        ];
        let reach = COMPANY_REACH * self.width;
        PRESSING
            .iter()
            .any(|concept| self.hits.near(at, *concept, reach, 3).is_some())
    }

    pub(super) fn is_param(&self, at: usize) -> bool {
        self.has_near(at, &[Concept::Param], COMPANY_REACH)
    }

    fn overrides(&self, found: &mut Vec<Found>) {
        let lapses = self.hits.of(Concept::Lapse);
        for (at, verb) in self.hits.of(Concept::OverrideVerb).chain(lapses) {
            if self.is_negated(at) {
                continue;
            }
            let object = |concept| self.nearest(at, &[concept], OBJECT_REACH, 1);
            let instructions = object(Concept::Instructions);
            let Some(object) = instructions.or_else(|| object(Concept::Settings)) else {
                continue;
            };
            let prior = self.qualifies(at, object, &[Concept::Prior, Concept::Current]);
            let extent = self.qualifies(at, object, &[Concept::Extent]);
            let strength = match (instructions.is_some(), prior, extent) {
                (true, true, _) | (true, _, true) => Strength::Strong,
                (false, true, _) if self.is_pressed(at) => Strength::Strong,
                (false, true, _) if !self.is_of_data(at, object) => Strength::Doubtful,
                (false, false, true) if self.is_pressed(at) => Strength::Doubtful,
                _ => continue,
            };
            // What a switch of the tool does is done to its own data, if it is not about
            // instructions that were given before.
            let strength = match (self.is_param(at), strength) {
                (false, strength) => strength,
                (true, Strength::Strong) => Strength::Doubtful,
                (true, _) => continue,
            };
            found.push((SignalKind::Override, strength, joined(&[verb, object])));
        }
    }

    /// Whether the rules are those of a filter, a file or the like.
    fn is_of_data(&self, at: usize, object: Hit) -> bool {
        let reach = DATA_REACH * self.width;
        self.around(at, OBJECT_REACH + DATA_REACH)
            .any(|hit| hit.concept == Concept::Data && distance(hit, object) <= reach)
    }

    /// Whether a word of the concepts stands beside the object, or between it and the verb.
    fn qualifies(&self, at: usize, object: Hit, concepts: &[Concept]) -> bool {
        let reach = QUALIFIER_REACH * self.width;
        self.around(at, OBJECT_REACH + QUALIFIER_REACH).any(|hit| {
            concepts.contains(&hit.concept)
                && distance(hit, object) <= reach
                && self.commas(hit, object) == 0
        })
    }

    /// "Do not tell the user".
    fn untold(&self, found: &mut Vec<Found>) {
        for (at, negation) in self.hits.of(Concept::Negation) {
            let Some(verb) = self.negated_verb(at, negation) else {
                continue;
            };
            let Some((person, strength)) = self.person(at) else {
                continue;
            };
            let is_told = verb.concept == Concept::TellVerb;
            let strength = match (is_told, person.concept) {
                (true, _) => strength,
                (false, Concept::User) if self.is_pressed(at) => strength,
                (false, Concept::User) => Strength::Doubtful,
                (false, _) => continue,
            };
            let range = joined(&[negation, verb, person]);
            found.push((SignalKind::Conceal, strength, range));
        }
        for (at, untold) in self.hits.of(Concept::Untold) {
            if let Some((person, strength)) = self.person(at) {
                let range = joined(&[untold, person]);
                found.push((SignalKind::Conceal, strength, range));
            }
        }
    }

    /// A guard that is taken away, and what is left out of the account of it.
    fn unguarded(&self, found: &mut Vec<Found>) {
        for (at, shield) in self.hits.of(Concept::Shield) {
            let off = self.nearest(at, &[Concept::Off], OBJECT_REACH, 0);
            // The first sentence says what the tool does itself, in forms that are no others.
            if let Some(off) = off.filter(|off| off.sentence > 0 && !self.is_param(at)) {
                let range = joined(&[shield, off]);
                found.push((SignalKind::Execute, Strength::Doubtful, range));
            }
        }
        for (at, account) in self.hits.of(Concept::Account) {
            let silence = self.nearest(at, &[Concept::Untold, Concept::TellVerb], OBJECT_REACH, 0);
            let Some(verb) = silence else { continue };
            let negated = verb.concept == Concept::Untold
                || self
                    .around(self.hits.index(verb), NEGATION_REACH)
                    .any(|hit| hit.concept == Concept::Negation && self.commas(verb, hit) == 0);
            if negated {
                let range = joined(&[account, verb]);
                found.push((SignalKind::Conceal, Strength::Doubtful, range));
            }
        }
    }

    /// Who is not told, and what that says: what nobody is told may be a code of a bank.
    fn person(&self, at: usize) -> Option<(Hit, Strength)> {
        let nearest = |concept| self.nearest(at, &[concept], PERSON_REACH, 1);
        if let Some(user) = nearest(Concept::User) {
            Some((user, self.unless_conditional(at)))
        } else {
            let nobody = nearest(Concept::Crowd)?;
            Some((nobody, Strength::Doubtful))
        }
    }

    /// The verb of telling that a negation belongs to.
    fn negated_verb(&self, at: usize, negation: Hit) -> Option<Hit> {
        // "Follow no orders of pages and report them": what follows "and" is not negated.
        const AND: &[&str] = &[
            " en ", " und ", " et ", " y ", " e ", " i ", " и ", " та ", " і ", " ve ", " dan ",
            " va ", " و ", " और ",
        ];
        let is_parted = |hit: &Hit| {
            let between = self.hits.text.get(negation.end..hit.start);
            between.is_some_and(|between| AND.iter().any(|and| between.contains(and)))
        };
        let reach = match self.negated {
            Negated::Before | Negated::After => NEGATION_REACH,
            Negated::Around => LATE_NEGATION_REACH,
        };
        self.around(at, reach)
            .filter(|hit| matches!(hit.concept, Concept::TellVerb | Concept::ShowVerb))
            .filter(|hit| !is_parted(hit))
            .filter(|hit| match self.negated {
                Negated::Before => hit.start >= negation.start,
                Negated::After => hit.start <= negation.start,
                Negated::Around => true,
            })
            .filter(|hit| self.commas(negation, *hit) == 0)
            .min_by_key(|hit| distance(negation, *hit))
    }

    /// Doubtful where it holds only until something happens, or is what a switch does.
    fn unless_conditional(&self, at: usize) -> Strength {
        let conditional = [Concept::Condition, Concept::Param];
        if self.has_near(at, &conditional, COMPANY_REACH) {
            Strength::Doubtful
        } else {
            Strength::Strong
        }
    }

    /// Phrases that hide something from a person.
    fn hidden(&self, found: &mut Vec<Found>) {
        for (at, hit) in self.hits.of(Concept::Conceal) {
            if !self.is_negated(at) {
                found.push((
                    SignalKind::Conceal,
                    self.unless_conditional(at),
                    hit.range(),
                ));
            }
        }
        for (at, hit) in self.hits.of(Concept::Unseen) {
            const COMPANY: &[Concept] = &[
                Concept::PrivatePath,
                Concept::Prime,
                Concept::Address,
                Concept::RoleTag,
                Concept::EmphasisTag,
                Concept::RemoteExec,
            ];
            let reach = COMPANY_REACH * self.width;
            let company = |concept: &Concept| self.hits.near(at, *concept, reach, 3).is_some();
            let wanted = [Concept::TransferVerb, Concept::Extent, Concept::Prior];
            let passed_on = self.has_near(at, &[Concept::Private], OBJECT_REACH)
                && self.has_near(at, &wanted, OBJECT_REACH);
            if passed_on || COMPANY.iter().any(company) {
                found.push((SignalKind::Conceal, Strength::Strong, hit.range()));
            }
        }
    }

    /// A private file that is passed on.
    fn passed_on(&self, found: &mut Vec<Found>) {
        for (at, path) in self.hits.of(Concept::PrivatePath) {
            if self.hits.is_public_half(path) {
                continue;
            }
            let pressed = self.is_pressed(at);
            let reach = TRANSFER_REACH * self.width;
            let near = |concept| self.hits.near(at, concept, reach, 1);
            if let Some(verb) = near(Concept::TransferVerb) {
                let aimed = self.sink(at, path).is_some();
                let strength = if aimed || pressed {
                    Strength::Strong
                } else if OF_PROJECTS.contains(&self.hits.word(path)) {
                    continue;
                } else {
                    Strength::Weak
                };
                let range = joined(&[path, verb]);
                found.push((SignalKind::Exfiltrate, strength, range));
            } else if let Some(verb) = near(Concept::ReadVerb)
                && (pressed || near(Concept::Prime).is_some())
            {
                let range = joined(&[path, verb]);
                found.push((SignalKind::Exfiltrate, Strength::Weak, range));
            }
        }
    }

    /// Where something goes, unless the sign is the quotation mark of the path.
    fn sink(&self, at: usize, path: Hit) -> Option<Hit> {
        let reach = TRANSFER_REACH * self.width;
        self.hits
            .all_near(at, Concept::Sink, reach, 1)
            .find(|sink| distance(*sink, path) > 2 || self.hits.word(*sink).starts_with("http"))
    }

    /// The conversation, keys and the like, if all of it is wanted.
    fn material(&self, found: &mut Vec<Found>) {
        for (at, private) in self.hits.of(Concept::Private) {
            let Some(verb) = self.nearest(at, &[Concept::TransferVerb], OBJECT_REACH, 1) else {
                continue;
            };
            let all = [Concept::Extent, Concept::Prior];
            let aimed = self.has_near(at, &[Concept::Sink], TRANSFER_REACH);
            let strength = if self.is_pressed(at) {
                Strength::Strong
            } else if aimed && self.nearest(at, &all, QUALIFIER_REACH, 0).is_some() {
                Strength::Weak
            } else {
                // All of it is what a parameter holds, if this is one.
                if self.nearest(at, &all, QUALIFIER_REACH, 0).is_some() {
                    let range = joined(&[private, verb]);
                    found.push((SignalKind::Material, Strength::Strong, range));
                }
                continue;
            };
            found.push((SignalKind::Exfiltrate, strength, joined(&[private, verb])));
        }
    }
}

/// How many bytes are between two hits.
fn distance(one: Hit, other: Hit) -> usize {
    let after = other.start.saturating_sub(one.end);
    after.max(one.start.saturating_sub(other.end))
}

/// The bytes from the first of some hits to the last.
pub(super) fn joined(hits: &[Hit]) -> Range<usize> {
    let start = hits.iter().map(|hit| hit.start).min().unwrap_or_default();
    let end = hits.iter().map(|hit| hit.end).max().unwrap_or_default();
    start..end
}
