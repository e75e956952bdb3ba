//! The combinations of words that make a signal, one function a kind.

use super::{Add, Concept, Hit, Hits, SignalKind, Strength};
use crate::secrets::conceal::floor_boundary;

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

/// The verbs that put something into a place as well as passing it on.
const PUTTING: &[&str] = &[
    "write", "add", "append", "put", "copy", "insert", "paste", "embed", "dump", "push", "include",
    "share", "fill",
];

/// The verbs that say nothing of where something goes.
const VAGUE: &[&str] = &[
    "pass", "passing", "include", "put", "append", "copy", "give", "insert", "embed", "write",
    "add", "provide", "fill", "dump", "return", "call", "push",
];

/// The private files that programs are meant to read.
const OF_PROJECTS: &[&str] = &[
    ".env",
    ".env file",
    "mcp.json",
    ".npmrc",
    ".kube/config",
    ".docker/config.json",
];

/// The verbs of a description of what a tool does.
const TOLD: &[&str] = &["uploads", "sends", "transmits", "receives", "collects"];

impl Hits<'_> {
    pub(super) fn overrides(&self, add: Add<'_>) {
        for (at, verb) in self.of(Concept::OverrideVerb) {
            if self.is_negated(&verb) {
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

    fn overridden_instructions(&self, at: usize, verb: Hit) -> Option<(Hit, Strength)> {
        let object = self.after(at, Concept::Instructions, 60)?;
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

    pub(super) fn concealment(&self, add: Add<'_>) {
        for (at, hit) in self.of(Concept::Conceal) {
            if let Some(strength) = self.concealed(at, hit) {
                add(SignalKind::Conceal, strength, hit.range());
            }
        }
        for (at, hit) in self.of(Concept::Unseen) {
            if let Some(strength) = self.unseen(at, hit) {
                add(SignalKind::Conceal, strength, hit.range());
            }
        }
        for (at, negation) in self.of(Concept::Negation) {
            let told = self.untold(at, negation);
            if let Some((user, strength)) = told.or_else(|| self.unshown(at, negation)) {
                add(SignalKind::Conceal, strength, negation.start..user.end);
            }
        }
    }

    /// A phrase that hides something.
    fn concealed(&self, at: usize, hit: Hit) -> Option<Strength> {
        let word = self.word(hit);
        let begins = !self.clause(hit).contains(char::is_alphanumeric);
        let fits = match word {
            "silently, " => begins,
            _ if word.starts_with("silently ") => !self.is_negated(&hit),
            _ if word.ends_with(" from") => {
                self.after(at, Concept::User, 12).is_some() && !self.is_param(hit)
            }
            _ => true,
        };
        if !fits {
            return None;
        }
        let is_key = word.ends_with(" secret") || word.ends_with(" confidential");
        let of_key = is_key && self.near(at, Concept::Private, 120, 1).is_some();
        if word.starts_with("without") {
            if self.after(at, Concept::Crowd, 12).is_some() && self.is_third_person(hit) {
                return None;
            }
            if self.is_third_person(hit) {
                return Some(Strength::Doubtful);
            }
        }
        if of_key || self.is_param(hit) {
            return Some(Strength::Doubtful);
        }
        Some(self.under_condition(hit))
    }

    /// "Hidden from the user" is honest of a comment; not of the text that says it, and
    /// not as an order.
    fn unseen(&self, at: usize, hit: Hit) -> Option<Strength> {
        const SELF: &[&str] = &[
            "this text",
            "this note",
            "this message",
            "this part",
            "this section",
            "this block",
            "this description",
            "these instructions",
            "this instruction",
            "this step",
            "these lines",
        ];
        const ORDERS: &[&str] = &[
            "keep ",
            "keeping ",
            "make sure ",
            "ensure ",
            "remain ",
            "stays ",
            "stay ",
        ];
        let clause = self.clause(hit);
        let rest = self.behind(hit);
        let of_itself = SELF.iter().any(|this| {
            clause.contains(this)
                || rest
                    .strip_prefix(' ')
                    .is_some_and(|rest| rest.starts_with(this))
        });
        let ordered = ORDERS.iter().any(|order| clause.contains(order)) && !self.is_param(hit);
        let ordered = ordered && !self.is_third_person(hit);
        if of_itself || ordered || self.is_pressed(at) {
            Some(Strength::Strong)
        } else if self.near(at, Concept::Prime, 300, 2).is_some()
            || self.near(at, Concept::PrivatePath, 300, 2).is_some()
        {
            Some(Strength::Doubtful)
        } else {
            None
        }
    }

    /// "Do not tell the user": what is said in a conversation is said by the reader.
    fn untold(&self, at: usize, negation: Hit) -> Option<(Hit, Strength)> {
        let verb = self.after(at, Concept::TellVerb, 25)?;
        let person = |concept| self.person_after(verb, concept);
        let user = person(Concept::User).or_else(|| person(Concept::Crowd))?;
        let without = self.word(negation) == "without";
        let strength = if without && self.is_third_person(negation) {
            if user.concept == Concept::Crowd {
                return None;
            }
            Strength::Doubtful
        } else if self.is_param(negation)
            || user.concept == Concept::Crowd && !self.is_told_of(user)
        {
            Strength::Doubtful
        } else {
            match self.under_condition(verb) {
                // A claim that is not true yet is honestly kept back.
                Strength::Doubtful if self.behind(user).starts_with(" that ") => Strength::Quoted,
                strength => strength,
            }
        };
        Some((user, strength))
    }

    /// "Without notifying the user": programs do that too, and to many people.
    fn unshown(&self, at: usize, negation: Hit) -> Option<(Hit, Strength)> {
        let verb = self.after(at, Concept::ShowVerb, 25)?;
        let user = self.person_after(verb, Concept::User)?;
        let strength = match self.word(negation) {
            "cannot" | "can't" | "may not" | "no need to" => return None,
            "without" if self.is_third_person(negation) || self.is_param(negation) => return None,
            "without" if self.is_pressed(at) || self.is_passing_on(at) => Strength::Strong,
            "without" => Strength::Doubtful,
            _ if self.is_param(negation) || !self.is_about_this(verb, user) => Strength::Doubtful,
            _ => self.under_condition(verb),
        };
        Some((user, strength))
    }

    /// The person that something is told, unless it is the person who is spoken of.
    fn person_after(&self, verb: Hit, concept: Concept) -> Option<Hit> {
        const SPEAKING_OF: &[&str] = &[
            "mention",
            "mentioning",
            "reveal",
            "revealing",
            "disclose",
            "disclosing",
            "explain",
            "explaining",
            "discuss",
            "discussing",
            "acknowledge",
            "refer to",
            "bring up",
            "describe",
            "describing",
            "share",
            "sharing",
        ];
        let at = self.index(verb);
        let user = self
            .after(at, concept, 60)
            .filter(|user| self.is_person(*user))?;
        let between = self
            .text
            .get(verb.end..user.start)
            .unwrap_or_default()
            .trim();
        let spoken_of =
            SPEAKING_OF.contains(&self.word(verb)) && matches!(between, "" | "the" | "a");
        (!spoken_of && !self.behind(user).starts_with("'s ")).then_some(user)
    }

    /// Whether what a person is told comes next: "users about it", "users that ...".
    fn is_told_of(&self, user: Hit) -> bool {
        let rest = self.behind(user);
        let next = rest.trim_start();
        next.is_empty()
            || next.starts_with(['.', ',', ';', '!', ')'])
            || [
                "about ", "that ", "of ", "anything", "what ", "why ", "how ",
            ]
            .iter()
            .any(|word| next.starts_with(word))
    }

    /// Whether it is the step itself that is not shown, and in any case, rather than some
    /// data.
    fn is_about_this(&self, verb: Hit, user: Hit) -> bool {
        const THIS: &[&str] = &[
            "this", "it", "that", "these", "anything", "step", "call", "about", "what",
        ];
        let rest = self.behind(user);
        let rest = rest.get(..floor_boundary(rest, 40)).unwrap_or_default();
        let rest = rest.split(['.', ';', '!']).next().unwrap_or_default();
        let between = self.text.get(verb.end..user.start).unwrap_or_default();
        let clause = self.clause(verb).trim_start();
        let holds_always = !clause.starts_with("if ") && !clause.starts_with("when ");
        let mut words = between.split(' ').chain(rest.split(' '));
        holds_always && (rest.trim().is_empty() || words.any(|word| THIS.contains(&word)))
    }

    fn is_passing_on(&self, at: usize) -> bool {
        self.near(at, Concept::TransferVerb, 160, 0).is_some()
            && [Concept::Private, Concept::PrivatePath, Concept::Sink]
                .iter()
                .any(|what| self.near(at, *what, 160, 0).is_some())
    }

    pub(super) fn exfiltration(&self, add: Add<'_>) {
        for (at, path) in self.of(Concept::PrivatePath) {
            if self.is_public_half(path) {
                continue;
            }
            if let Some((verb, strength)) = self.passed_on(at, path) {
                let range = path.start.min(verb.start)..path.end.max(verb.end);
                add(SignalKind::Exfiltrate, strength, range);
            } else if let Some(consent) = self.near(at, Concept::Consent, 160, 1) {
                add(
                    SignalKind::Exfiltrate,
                    Strength::Strong,
                    path.start.min(consent.start)..path.end.max(consent.end),
                );
            }
        }
        for (at, private) in self.of(Concept::Private) {
            let Some(verb) = self.near(at, Concept::TransferVerb, 80, 0) else {
                continue;
            };
            let Some(sink) = self.near(at, Concept::Sink, 120, 0) else {
                continue;
            };
            let range = private.start.min(verb.start)..private.end.max(verb.end).max(sink.end);
            let pressed = self.is_pressed(at) || self.is_hushed(at);
            let strength = if pressed {
                Strength::Strong
            } else {
                Strength::Weak
            };
            add(SignalKind::Exfiltrate, strength, range);
        }
    }

    /// Whether something nearby hides it from the user. That a key is to be kept secret
    /// does not.
    fn is_hushed(&self, at: usize) -> bool {
        let mut hushes = self.all_near(at, Concept::Conceal, 400, 2);
        hushes.any(|hit| !self.word(hit).ends_with(" secret"))
    }

    /// The verb that passes a private file on, if one does.
    fn passed_on(&self, at: usize, path: Hit) -> Option<(Hit, Strength)> {
        let pressed = self.is_pressed(at) || self.is_hushed(at);
        if !pressed && self.is_default(path) {
            return None;
        }
        let mut told = None;
        for verb in self.all_near(at, Concept::TransferVerb, 160, 1) {
            let noun = ["a ", "an ", "the "]
                .iter()
                .any(|article| self.before(verb).ends_with(article));
            if !pressed && (noun || self.is_destination(path, verb)) {
                continue;
            }
            if pressed || !TOLD.contains(&self.word(verb)) && self.is_aimed(at, path, verb) {
                return Some((verb, Strength::Strong));
            }
            if TOLD.contains(&self.word(verb)) || !OF_PROJECTS.contains(&self.word(path)) {
                told = told.or(Some((verb, Strength::Weak)));
            }
        }
        told
    }

    /// Whether the verb has an aim outside of the tool: the path is its object, or a
    /// parameter, an address or an answer is named.
    fn is_aimed(&self, at: usize, path: Hit, verb: Hit) -> bool {
        let word = self.word(verb);
        let between = self.text.get(verb.end..path.start).unwrap_or_default();
        let direct = path.start >= verb.end && word != "push" && between.len() <= 12
            || between.len() <= 60 && between.contains("content");
        !VAGUE.contains(&word)
            || direct
            || self.near(at, Concept::Sink, 160, 1).is_some()
            || self.near(at, Concept::Prime, 200, 1).is_some()
            || self.is_handed_on(verb)
    }

    /// Whether the verb goes on with where to: "into callback_url", but not "to the
    /// container", which is what such files are for.
    fn is_handed_on(&self, verb: Hit) -> bool {
        const WHERE: &[&str] = &["into", "in", "to", "as", "with", "through", "via", "onto"];
        const ARTICLES: &[&str] = &[
            "the", "a", "an", "its", "your", "this", "that", "new", "local",
        ];
        const PROGRAMS: &[&str] = &[
            "container",
            "containers",
            "process",
            "environment",
            "command",
            "script",
            "shell",
            "build",
            "job",
            "pipeline",
            "function",
            "app",
            "application",
            "deployment",
            "runtime",
            "subprocess",
            "cluster",
            "sandbox",
            "values",
            "blanks",
            "gaps",
            "docker",
            "compose",
        ];
        let rest = self.behind(verb);
        let rest = rest.get(..floor_boundary(rest, 120)).unwrap_or_default();
        let tail = rest.split(['.', ';', '!', '?']).next().unwrap_or_default();
        let mut words = tail
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .filter(|word| !word.is_empty())
            .skip_while(|word| !WHERE.contains(word))
            .skip(1)
            .skip_while(|word| ARTICLES.contains(word));
        words.next().is_some_and(|word| !PROGRAMS.contains(&word))
    }

    /// Whether the path is where something is put: "write them to the .env file". Not
    /// where keys are that let others in.
    fn is_destination(&self, path: Hit, verb: Hit) -> bool {
        if path.start < verb.end
            || !PUTTING.contains(&self.word(verb))
            || self.word(path).contains("ssh")
            || path.sentence != verb.sentence
        {
            return false;
        }
        let between = self.text.get(verb.end..path.start).unwrap_or_default();
        // The folder that the file is in belongs to the path.
        let between = match between.rsplit_once(' ') {
            Some((words, last)) if last.contains(['/', '`', '"', '\'']) => words,
            _ => between,
        };
        let mut words: Vec<&str> = between.split(' ').filter(|word| !word.is_empty()).collect();
        const ARTICLES: &[&str] = &["the", "your", "a", "an", "its", "local", "project's"];
        while words.pop_if(|word| ARTICLES.contains(word)).is_some() {}
        matches!(words.last(), Some(&("to" | "into" | "in")))
    }

    /// Whether the path is said to be the default, or where settings come from.
    fn is_default(&self, path: Hit) -> bool {
        let before = self.before(path);
        let reach = floor_boundary(before, before.len().saturating_sub(40));
        let near = before.get(reach..).unwrap_or_default();
        let near = near.rsplit(['.', ';']).next().unwrap_or_default();
        ["default", "falls back to", "fall back to"]
            .iter()
            .any(|words| near.contains(words))
    }

    /// Whether the path goes on to `.pub`, the half of a key that is meant to be given away,
    /// or to `.example`, which holds no value.
    fn is_public_half(&self, path: Hit) -> bool {
        let rest = self.behind(path);
        let ends = |c: char| c.is_whitespace() || "`\"'(),;:<>".contains(c);
        let word = rest.split(ends).next().unwrap_or_default();
        let word = word.trim_end_matches('.');
        [".pub", ".example", ".sample", ".template", ".dist"]
            .iter()
            .any(|end| word.ends_with(end))
    }

    pub(super) fn roles(&self, add: Add<'_>) {
        for (_, tag) in self.of(Concept::RoleTag) {
            add(SignalKind::Role, Strength::Strong, tag.range());
        }
        for (_, change) in self.of(Concept::RoleChange) {
            add(SignalKind::Role, Strength::Strong, change.range());
        }
        for (at, exec) in self.of(Concept::RemoteExec) {
            if self.is_negated(&exec) {
                continue;
            }
            let pressed = [
                Concept::Address,
                Concept::Prime,
                Concept::Consent,
                Concept::TellVerb,
                Concept::ShowVerb,
            ]
            .iter()
            .any(|concept| self.near(at, *concept, 300, 2).is_some());
            let strength = if pressed {
                Strength::Strong
            } else {
                Strength::Weak
            };
            add(SignalKind::Execute, strength, exec.range());
        }
    }

    pub(super) fn orders(&self, add: Add<'_>) {
        for (_, prime) in self.of(Concept::Prime) {
            add(SignalKind::Prime, Strength::Weak, prime.range());
        }
        for (_, imperative) in self.of(Concept::Imperative) {
            add(SignalKind::Addressed, Strength::Weak, imperative.range());
        }
        for (_, consent) in self.of(Concept::Consent) {
            let told = self.is_param(consent) || self.is_negated(&consent);
            if !told {
                add(SignalKind::Consent, Strength::Weak, consent.range());
            }
        }
        let orders = [
            Concept::TransferVerb,
            Concept::ReadVerb,
            Concept::Prime,
            Concept::Consent,
            Concept::RemoteExec,
            Concept::RoleChange,
            Concept::Conceal,
            Concept::Unseen,
            Concept::OverrideVerb,
        ];
        for (at, address) in self.of(Concept::Address) {
            if let Some(order) = orders.iter().find_map(|order| self.after(at, *order, 60)) {
                add(
                    SignalKind::Addressed,
                    Strength::Strong,
                    address.start..order.end,
                );
            }
        }
        for (at, tag) in self.of(Concept::EmphasisTag) {
            let pressed = [
                Concept::Prime,
                Concept::Consent,
                Concept::PrivatePath,
                Concept::Conceal,
                Concept::Unseen,
                Concept::RemoteExec,
            ]
            .iter()
            .find_map(|order| self.near(at, *order, 300, 4));
            if let Some(order) = pressed {
                add(
                    SignalKind::Emphasis,
                    Strength::Strong,
                    tag.start.min(order.start)..tag.end.max(order.end),
                );
            }
        }
    }
}
