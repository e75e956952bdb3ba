//! Keeping something from the user.

use super::{Add, Concept, Hit, Hits, SignalKind, Strength};
use crate::secrets::conceal::floor_boundary;

impl Hits<'_> {
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
        if word.starts_with("without ask") && self.is_harmless(hit) {
            return None;
        }
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

    /// Whether a call is said to be free because it changes nothing.
    pub(super) fn is_harmless(&self, hit: Hit) -> bool {
        let clause = self.clause(hit);
        let rest = self.behind(hit);
        let rest = rest.get(..floor_boundary(rest, 80)).unwrap_or_default();
        let may = ["may be called", "can be called", "safe to call"];
        let free = [
            "changes nothing",
            "read-only",
            "only reads",
            "nothing is changed",
            "no side effect",
        ];
        let told = |words: &[&str]| {
            words
                .iter()
                .any(|words| rest.contains(words) || clause.contains(words))
        };
        let reasons = [
            "because no",
            "because nothing",
            "since no",
            "since nothing",
            "as no money",
        ];
        may.iter().any(|words| clause.contains(words)) && told(&free) || told(&reasons)
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
        } else if user.concept == Concept::Crowd && self.is_of_data(verb, user)
            || self.keeps_data(verb, user) && !self.is_pressed(at)
        {
            // What customers are not to read is, as a rule, of no use to them.
            Strength::Quoted
        } else if self.is_param(negation)
            || user.concept == Concept::Crowd && !self.is_told_of(user)
        {
            Strength::Doubtful
        } else {
            match self.under_condition(verb) {
                // A claim that is not true yet is honestly kept back.
                Strength::Doubtful if self.is_claim(user) => Strength::Quoted,
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
            _ if self.keeps_data(verb, user) && !self.is_pressed(at) => Strength::Quoted,
            // What nobody is shown is a code or a password.
            _ if self.word(verb).starts_with("shar") && self.word(user).starts_with("any") => {
                Strength::Quoted
            }
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

    /// Whether something of the tool's is named as what is not told: "the internal id to
    /// customers", unlike "this to customers".
    fn is_of_data(&self, verb: Hit, user: Hit) -> bool {
        const THIS: &[&str] = &[
            "this", "it", "that", "these", "step", "call", "anything", "what",
        ];
        let between = self.text.get(verb.end..user.start).unwrap_or_default();
        let mut words = between.split_whitespace();
        words.clone().count() >= 2 && !words.any(|word| THIS.contains(&word))
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
}
