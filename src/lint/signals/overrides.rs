//! Setting other instructions aside, or the user.

use super::plain::is_one_of;
use super::{Add, Concept, Hit, Hits, SignalKind, Strength};

/// The verbs that programs use of their own data.
const OF_DATA: &[&str] = &[
    "discard",
    "forget",
    "override",
    "overriding",
    "abandon",
    "supersede",
    "bypass",
];

/// What may be said of the user only by one who gives orders.
const OF_USERS: &[&str] = &[
    "forget",
    "discard",
    "abandon",
    "neglect",
    "supersede",
    "circumvent",
];

/// What is said of instructions in data.
const FOUND: &[&str] = &[
    " inside",
    " in it",
    " in them",
    " in the text",
    " in the page",
    " in the document",
    " in the content",
    " in the file",
    " found",
    " on it",
    " on the page",
    " on them",
    " within",
    " inside",
    " contained",
    " in an",
    " in a ",
    " in web",
    " in e",
    " in mail",
    " in file",
    " in tool",
    " in any",
    " that appear",
    " that stand",
    " which appear",
    " they may contain",
    " it may contain",
    " from web",
    " from external",
    " from third",
    " from untrusted",
    " that it contains",
    " it contains",
    " they contain",
    " from the page",
    " from the document",
    " from the text",
    " embedded",
];

/// Words behind which somebody else does it.
const REPORTED: &[&str] = &[
    "told to",
    "agreed to",
    "decided to",
    "chose to",
    "asked to",
    "refused to",
    "ordered to",
    "wanted to",
    "tried to",
    "want to",
    "wants to",
    "tries to",
    "attempts to",
    "trying to",
    "support",
    "supports",
    "allow",
    "allows",
    "could",
    "would",
    "able to",
    "possible to",
    "want it to",
];

impl Hits<'_> {
    /// Whether somebody is said to do it: "she was told to ignore".
    pub(super) fn is_reported(&self, verb: Hit) -> bool {
        const READERS: &[&str] = &["you ", "assistant", "model", "agent", "ai "];
        const TELLING: &[&str] = &[
            " told ",
            " asked ",
            " ordered ",
            " begged ",
            " advised ",
            " ask it ",
            " asking it ",
            " tell it ",
            " telling it ",
            " asks it ",
            " tells it ",
        ];
        let clause = self.clause(verb).trim_end();
        let told = clause.ends_with(" to") && TELLING.iter().any(|word| clause.contains(word));
        (told || REPORTED.iter().any(|words| clause.ends_with(words)))
            && !READERS.iter().any(|reader| clause.contains(reader))
    }

    pub(super) fn overrides(&self, add: Add<'_>) {
        for (at, verb) in self.of(Concept::OverrideVerb) {
            if self.is_negated(&verb) || self.is_reported(verb) {
                continue;
            }
            let object = self
                .overridden_instructions(at, verb)
                .or_else(|| self.overridden_settings(at, verb));
            if let Some((object, strength)) = object {
                add(SignalKind::Override, strength, verb.start..object.end);
                continue;
            }
            if let Some((user, strength)) = self.overridden_user(at, verb) {
                add(SignalKind::Override, strength, verb.start..user.end);
            }
        }
    }

    /// Whether the instructions are those that stand in a page or a text, which are not to
    /// be followed, as a rule.
    fn is_found(&self, verb: Hit, object: Hit) -> bool {
        const TEXTS: &str = "page|pages|web|website|websites|text|texts|document|documents|content|contents|mail|\
            mails|e-mail|e-mails|email|emails|file|files|result|results|it|them|comment|comments|\
            data|input|transcript|issue|issues|attachment|attachments|source|sources|article|\
            fetched|untrusted|user-supplied|body|bodies|ticket|tickets|readme|external";
        let follows = self.word(verb).contains("follow") || self.word(verb).contains("obey");
        let rest = self.rest(object);
        FOUND.iter().any(|found| {
            rest.strip_prefix(found).is_some_and(|behind| {
                let mut words = found.split(' ').chain(behind.split([' ', ',']));
                follows || words.any(|word| is_one_of(TEXTS, word))
            })
        })
    }

    fn overridden_instructions(&self, at: usize, verb: Hit) -> Option<(Hit, Strength)> {
        let object = self.after(at, Concept::Instructions, 60)?;
        if self.is_found(verb, object) {
            return None;
        }
        if object.clause != verb.clause && OF_DATA.contains(&self.word(verb)) {
            return None;
        }
        let qualified = [Concept::Prior, Concept::Extent, Concept::Current]
            .iter()
            .any(|concept| self.qualifies(at, verb, object, *concept));
        let qualified = qualified
            || [" from the user", " of the user", " by the user"]
                .iter()
                .any(|whose| self.behind(object).starts_with(whose));
        let pressed = self.is_pressed(at) || self.is_of_reader(verb, object);
        let told = self.is_param(verb) || self.has_subject(verb);
        let strength = if told && !pressed {
            Strength::Doubtful
        } else {
            Strength::Strong
        };
        qualified.then_some((object, strength))
    }

    /// Rules and limits belong to files and networks as well, so it must be clear that
    /// those of the reader are meant.
    fn overridden_settings(&self, at: usize, verb: Hit) -> Option<(Hit, Strength)> {
        let object = self.after(at, Concept::Settings, 60)?;
        let strength = if self.qualifies(at, verb, object, Concept::Prior) {
            if OF_DATA.contains(&self.word(verb)) && !self.is_of_reader(verb, object) {
                Strength::Doubtful
            } else {
                Strength::Strong
            }
        } else if self.qualifies(at, verb, object, Concept::Extent) && self.is_bare(at, object) {
            Strength::Doubtful
        } else {
            return None;
        };
        let told = self.is_param(verb) || self.is_about_data(object) || self.has_subject(verb);
        let pressed = self.is_pressed(at) || self.is_of_reader(verb, object);
        match (told, pressed) {
            (true, true) => Some((object, Strength::Doubtful)),
            (true, false) => None,
            (false, _) => Some((object, strength)),
        }
    }

    fn is_of_reader(&self, verb: Hit, object: Hit) -> bool {
        let phrase = self.text.get(verb.start..object.end).unwrap_or_default();
        [" your ", "user's ", " safety ", " ethical "]
            .iter()
            .any(|words| phrase.contains(words))
    }

    fn overridden_user(&self, at: usize, verb: Hit) -> Option<(Hit, Strength)> {
        let user = self.after(at, Concept::User, 5)?;
        let between = self.text.get(verb.end..user.start).unwrap_or_default();
        let is_the = between.trim() == "the" || self.word(user).starts_with("the ");
        let rest = self.behind(user);
        let of_data = ["'s", " who", " that", " whose", " with ", " if "];
        let told = of_data.iter().any(|words| rest.starts_with(words)) || self.is_param(verb);
        if !is_the || told || !self.is_person(user) {
            return None;
        }
        let strength = if OF_USERS.contains(&self.word(verb)) {
            Strength::Doubtful
        } else {
            Strength::Strong
        };
        Some((user, strength))
    }

    /// Whether a word of the concept stands between verb and object or right behind it.
    fn qualifies(&self, at: usize, verb: Hit, object: Hit, concept: Concept) -> bool {
        let between = |hit: &Hit| hit.start >= verb.end && hit.end <= object.start;
        let behind = |hit: &Hit| hit.start >= object.end && hit.start - object.end <= 12;
        // "Rows above the limits" are not the limits above.
        let is_place =
            |hit: &Hit| self.word(*hit) == "above" && self.behind(*hit).starts_with(" the ");
        self.list
            .iter()
            .skip(at)
            .take_while(|hit| hit.start <= object.end + 12)
            .any(|hit| hit.concept == concept && (between(hit) || behind(hit)) && !is_place(hit))
    }

    /// Whether it is "all rules" rather than "all cache rules", which are not the reader's.
    fn is_bare(&self, at: usize, object: Hit) -> bool {
        const SMALL: &[&str] = &["of", "the", "and", "other", "such"];
        let extent = self
            .list
            .iter()
            .skip(at)
            .take_while(|hit| hit.end <= object.start)
            .filter(|hit| matches!(hit.concept, Concept::Extent | Concept::Current))
            .last();
        extent.is_none_or(|extent| {
            let between = self.text.get(extent.end..object.start).unwrap_or_default();
            between.split_whitespace().all(|word| SMALL.contains(&word))
        })
    }
}
