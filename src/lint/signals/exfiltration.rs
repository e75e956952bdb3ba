//! Passing private material on.

use super::{Add, Concept, Hit, Hits, SignalKind, Strength};
use crate::secrets::conceal::floor_boundary;

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
pub(super) const OF_PROJECTS: &[&str] = &[
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
    pub(super) fn exfiltration(&self, add: Add<'_>) {
        for (at, path) in self.of(Concept::PrivatePath) {
            if self.is_public_half(path) {
                continue;
            }
            if let Some((verb, strength)) = self.passed_on(at, path) {
                let strength = match self.about && self.tells_of_tool(path) {
                    true => Strength::Quoted,
                    false => strength,
                };
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
            if self.is_label(private) {
                continue;
            }
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
    pub(super) fn is_default(&self, path: Hit) -> bool {
        let before = self.before(path);
        let reach = floor_boundary(before, before.len().saturating_sub(40));
        let near = before.get(reach..).unwrap_or_default();
        let near = near.rsplit(['.', ';']).next().unwrap_or_default();
        const DEFAULTS: &[&str] = &[
            "default",
            "falls back to",
            "fall back to",
            "using the credentials in",
            "with the credentials in",
            "using the key in",
            "with the key in",
            "credentials are read from",
        ];
        DEFAULTS.iter().any(|words| near.contains(words))
    }

    /// Whether the path goes on to `.pub`, the half of a key that is meant to be given away,
    /// or to `.example`, which holds no value.
    pub(super) fn is_public_half(&self, path: Hit) -> bool {
        let rest = self.behind(path);
        let ends = |c: char| c.is_whitespace() || "`\"'(),;:<>".contains(c);
        let word = rest.split(ends).next().unwrap_or_default();
        let word = word.trim_end_matches('.');
        [".pub", ".example", ".sample", ".template", ".dist"]
            .iter()
            .any(|end| word.ends_with(end))
    }
}
