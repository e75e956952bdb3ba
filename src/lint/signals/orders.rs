//! Claimed roles, commands, and orders of other kinds.

use super::{Add, Concept, Hit, Hits, SignalKind, Strength};
use crate::secrets::conceal::floor_boundary;

/// What goes on with what a question is about.
const TOPICS: &[&str] = &[
    " questions ",
    " a question about",
    " a question on",
    " about ",
    " on ",
    " regarding ",
    " of ",
];

impl Hits<'_> {
    /// Whether "whenever the user" goes on with something special that the user does:
    /// "changes the address".
    fn names_deed_of_user(&self, prime: Hit) -> bool {
        const ANY: &[&str] = &[
            "anything",
            "something",
            " any ",
            "whatever",
            "a message",
            "types",
            "writes",
            "says",
        ];
        let rest = self.rest(prime);
        let verb = rest.trim_start().split(' ').next().unwrap_or_default();
        verb.ends_with('s') && !ANY.iter().any(|any| rest.contains(any))
    }

    pub(super) fn roles(&self, add: Add<'_>) {
        for (_, tag) in self.of(Concept::RoleTag) {
            if self.is_element(tag) {
                continue;
            }
            if self.is_sample(tag) {
                add(SignalKind::Role, Strength::Cited, tag.range());
                continue;
            }
            add(SignalKind::Role, Strength::Strong, tag.range());
        }
        for (_, change) in self.of(Concept::RoleChange) {
            add(SignalKind::Role, self.changed_role(change), change.range());
        }
        for (at, exec) in self.of(Concept::RemoteExec) {
            if self.is_negated(&exec) {
                continue;
            }
            let pressed = [
                Concept::Address,
                Concept::Prime,
                Concept::Consent,
                Concept::Conceal,
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

    /// Whether the tag is shown as one: "for instance <|im_end|>".
    fn is_sample(&self, tag: Hit) -> bool {
        self.samples
            && self.of(Concept::Sample).any(|(_, sample)| {
                sample.sentence == tag.sentence
                    && sample.end <= tag.start
                    && tag.start - sample.end <= 24
            })
    }

    /// Whether the tag is an element of data: it holds a word or two and ends.
    fn is_element(&self, tag: Hit) -> bool {
        if !matches!(self.word(tag), "<system>" | "</system>") {
            return false;
        }
        let of_tag = |text: &str, end: char| {
            let part = text.split(end).next().unwrap_or_default();
            part.split_whitespace().count() <= 2
        };
        let before = self.before(tag).rsplit('>').next().unwrap_or_default();
        match self.word(tag) {
            "<system>" => self.behind(tag).contains('<') && of_tag(self.behind(tag), '<'),
            _ => before.split_whitespace().count() <= 2,
        }
    }

    /// "You are now in" says what a tool switched to, unless a mode follows; and what
    /// looks for attacks names them.
    fn changed_role(&self, change: Hit) -> Strength {
        const MODES: &[&str] = &[
            "mode",
            "developer",
            "admin",
            "root",
            "god",
            "debug",
            "maintenance",
            "unrestricted",
            "jailbreak",
            "without",
            "free",
            "privileged",
        ];
        if self.is_about_attacks(change) {
            return Strength::Quoted;
        }
        // Lists of tasks have new ones, and people become administrators of something.
        let word = self.word(change);
        let listed = word.starts_with("new ") && word.ends_with(':') && word != "new instructions:";
        let job = word.starts_with("act as a") && self.behind(change).starts_with(" of ");
        if (listed || job) && !self.is_pressed(self.index(change)) {
            return Strength::Doubtful;
        }
        let rest = self.behind(change);
        let rest = rest.get(..floor_boundary(rest, 60)).unwrap_or_default();
        let rest = rest.split(['.', ';', '!']).next().unwrap_or_default();
        if self.word(change) == "you are now in" && !MODES.iter().any(|mode| rest.contains(mode)) {
            return Strength::Quoted;
        }
        Strength::Strong
    }

    /// Orders about which tools are used.
    fn steering(&self, add: Add<'_>) {
        for (_, prime) in self.of(Concept::Prime) {
            if !self.is_ordinary_prime(prime) {
                add(SignalKind::Prime, Strength::Weak, prime.range());
            }
        }
        for (_, imperative) in self.of(Concept::Imperative) {
            if self.orders_call(imperative) {
                add(SignalKind::Addressed, Strength::Weak, imperative.range());
            }
        }
    }

    /// Whether it is how a tool is used: for its topic, among the tools of its server, or
    /// first for a reason.
    fn is_ordinary_prime(&self, prime: Hit) -> bool {
        // The order of its own tools is for a server to say.
        const OWN: &[&str] = &[
            " of this server",
            " of the server",
            " of this toolset",
            " here",
        ];
        // What has to come first for a reason that is given does honest work.
        const REASONS: &[&str] = &[" to ", " with ", " because", ", because", " so that"];
        // "Whenever the user asks for the weather" is what a tool is for.
        const WISHES: &[&str] = &[
            " asks",
            " wants",
            " needs",
            " mentions",
            " requests",
            " refers",
            " provides",
            " has",
        ];
        let (word, rest) = (self.word(prime), self.behind(prime));
        let goes_on = |with: &[&str]| with.iter().any(|with| rest.starts_with(with));
        let named = word.ends_with(" first") && !word.contains("always");
        let topical = word.ends_with("the user");
        let of_question = word.starts_with("before answer") || word.ends_with(" question");
        goes_on(OWN)
            || of_question && goes_on(TOPICS)
            || topical && (goes_on(WISHES) || self.names_deed_of_user(prime))
            || named && goes_on(REASONS)
    }

    /// Whether it is a call that is ordered, and not one for the next page, one that is to
    /// be made once more, or something that people do.
    fn orders_call(&self, imperative: Hit) -> bool {
        const PAGES: &[&str] = &[
            " to see ",
            " to get ",
            " to load ",
            " for more",
            " for details",
            "cursor",
            "offset",
        ];
        const HUMAN: &[&str] = &[
            " choose",
            " select",
            " log in",
            " sign in",
            " restart",
            " accept",
            " agree",
            " confirm",
            " change your",
            " enter",
            " verify your",
            " renew",
            " update your",
            " wait",
            " set a",
        ];
        let word = self.word(imperative);
        let rest = self.behind(imperative);
        let rest = rest.get(..floor_boundary(rest, 40)).unwrap_or_default();
        let rest = rest.split(['.', ';', '!']).next().unwrap_or_default();
        // What is called or used has the name of a tool, or is one.
        let named = rest.contains(['_', '`', '(']) || word.contains("tool");
        let holds = |words: &[&str]| words.iter().any(|word| rest.contains(word));
        (named || word.contains("now") || rest.contains("tool"))
            && (!holds(PAGES) || word.contains("must"))
            && (named || !HUMAN.iter().any(|word| rest.starts_with(word)))
            // What is to be done once more was meant to be done in the first place.
            && !holds(&[" again", " later", " once more"])
    }

    /// What whoever reads for people is told to do, and should not be by a text.
    fn deeds(&self, add: Add<'_>) {
        for (at, machine) in self.of(Concept::Machine) {
            let deed = self.after(at, Concept::Deed, 60);
            if let Some(deed) = deed.filter(|deed| self.is_bidden(machine, *deed)) {
                let range = machine.start..deed.end;
                let strength = match self.is_about_attacks(deed) || self.about {
                    true => Strength::Quoted,
                    false => Strength::Strong,
                };
                add(SignalKind::Addressed, strength, range);
            }
        }
    }

    /// Whether the word before makes an order of the verb: "must forward", "AI: forward",
    /// unlike "I forward", "was told to forward".
    fn is_bidden(&self, machine: Hit, deed: Hit) -> bool {
        const BIDS: &[&str] = &[
            "and",
            "then",
            "please",
            "kindly",
            "must",
            "should",
            "shall",
            "now",
            "first",
            "may",
            "also",
            "silently",
            "always",
            "simply",
            "just",
            "instead",
            "or",
            "next",
            "immediately",
            "quietly",
        ];
        const BOUND: &[&str] = &["has", "have", "need", "needs", "ought", "are", "is"];
        let mut words = self.before(deed).split_whitespace().rev();
        let last = words.next().unwrap_or_default();
        let bound = words.next().unwrap_or_default();
        !self.is_negated(&deed)
            && (last.ends_with([':', ',', '-', ')'])
                || BIDS.contains(&last)
                || last == "to" && BOUND.contains(&bound)
                || machine.end + 1 == deed.start)
    }

    pub(super) fn orders(&self, add: Add<'_>) {
        self.steering(add);
        self.deeds(add);
        for (_, consent) in self.of(Concept::Consent) {
            let told = self.is_param(consent)
                || self.is_negated(&consent)
                || self.is_request(consent)
                || self.is_read_only(consent);
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
