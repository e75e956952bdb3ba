//! The redactor: made once, then asked about one message after the other.

use super::locator::{Locators, Structural};
use super::markers::Own;
use super::pack::{Pack, PackRule, Strategy};
use super::pseudonym::{Key, Salt};
use super::walk::{Found, Run};
use super::{RedactError, bundled, pack};
use crate::cassette::Sender;
use crate::pattern::PackSource;
use crate::wire::json::Span;
use std::ops::Range;

/// How often the rules are applied to what they wrote, at most.
const PASSES: usize = 16;

/// What to redact, as a command line or a test asks for it.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    /// Locators with their replacements, as typed after `--redact`.
    pub(crate) redact: Vec<String>,
    /// Whether the default names and the bundled pack apply.
    pub(crate) defaults: bool,
    /// Packs: the name of the file, for messages and the manifest, and its bytes.
    pub(crate) packs: Vec<(String, Vec<u8>)>,
    /// The name for the manifest.
    pub(crate) profile: Option<String>,
    pub(crate) salt: Salt,
}

impl Default for Rules {
    fn default() -> Self {
        Rules {
            redact: Vec::new(),
            defaults: true,
            packs: Vec::new(),
            profile: None,
            salt: Salt::stable(),
        }
    }
}

/// What is known of a message besides its payload.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MessageContext<'a> {
    pub(crate) sender: Sender,
    /// The method of the request that a response answers, if it is known.
    pub(crate) answers: Option<&'a str>,
}

/// What became of a payload.
#[derive(Clone, Debug, Default)]
pub(crate) struct Redaction {
    /// The new payload; `None` if nothing changed.
    pub(crate) text: Option<String>,
    /// Places count in the payload as it was when a rule saw it.
    pub(crate) hits: Vec<Hit>,
}

/// A token and what is written in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) span: Span,
    pub(crate) text: String,
}

/// Something that a rule found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hit {
    /// `pack/rule`, or the locator of a structural rule.
    pub(crate) rule: String,
    /// A JSON pointer into the payload.
    pub(crate) pointer: String,
    /// The value or member name, without quotes if it is a string.
    pub(crate) span: Span,
    /// The part of the string's decoded text, if the match stands there as it is.
    pub(crate) part: Option<Range<usize>>,
    /// Whether it stands in a member name, which pointers must not tell either.
    pub(crate) in_name: bool,
    /// At most six characters of what was found, and `…`.
    pub(crate) sample: String,
    pub(crate) action: Action,
}

/// What was done about a [`Hit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Replaced,
    /// Personal data in a member name, which is not rewritten.
    Reported,
    /// It could not be looked at.
    Unscanned,
}

/// A rule of a pack with its key.
#[derive(Debug)]
pub(super) struct Active {
    pub(super) rule: PackRule,
    pub(super) key: Key,
    /// A rule of 0.4.0, which sees nothing but the strings of payloads.
    pub(super) past: bool,
}

/// A pack as the manifest names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PackEntry {
    pub(super) id: String,
    pub(super) path: String,
    pub(super) sha256: String,
}

/// Applies a fixed set of rules to messages.
#[derive(Debug)]
pub(crate) struct Redactor {
    pub(super) locators: Locators,
    pub(super) active: Vec<Active>,
    /// What the active rules write.
    pub(super) own: Own,
    /// Whether keys and named values are looked for.
    pub(super) secrets: bool,
    pub(super) packs: Vec<PackEntry>,
    /// `pack/rule` of every rule, in order.
    pub(super) rule_ids: Vec<String>,
    pub(super) profile: Option<String>,
    pub(super) salt: Salt,
    /// Rewrites exactly as 0.4.0 did: every string alone, every glob everywhere.
    pub(super) past: bool,
}

impl Redactor {
    /// A redactor of these rules.
    ///
    /// # Errors
    ///
    /// A pack or a locator that cannot be used, a pack id twice, an empty salt.
    pub(crate) fn new(rules: &Rules) -> Result<Redactor, RedactError> {
        let mut structural = Vec::new();
        for text in &rules.redact {
            structural.push(Structural::parse(text)?);
        }
        let mut packs = Vec::new();
        if rules.defaults {
            structural.extend(Structural::defaults());
            packs.push(bundled::common()?);
        }
        for (name, bytes) in &rules.packs {
            packs.push(pack::load(PackSource { name, bytes })?);
        }
        for (at, pack) in packs.iter().enumerate() {
            let mut earlier = packs.iter().take(at);
            if let Some(first) = earlier.find(|other| other.id == pack.id) {
                return Err(RedactError::PackTwice {
                    id: pack.id.clone(),
                    first: first.path.clone(),
                    second: pack.path.clone(),
                });
            }
        }
        let parts = Parts {
            structural,
            packs,
            profile: rules.profile.clone(),
            salt: rules.salt.clone(),
            past: false,
        };
        Redactor::assemble(parts)
    }

    pub(super) fn assemble(parts: Parts) -> Result<Redactor, RedactError> {
        if parts.salt.is_empty() {
            return Err(RedactError::EmptySalt);
        }
        let mut redactor = Redactor {
            locators: Locators::new(parts.structural),
            active: Vec::new(),
            own: Own::default(),
            secrets: false,
            packs: Vec::new(),
            rule_ids: Vec::new(),
            profile: parts.profile,
            salt: parts.salt,
            past: parts.past,
        };
        for pack in parts.packs {
            redactor.add(pack);
        }
        Ok(redactor)
    }

    fn add(&mut self, pack: Pack) {
        let past = pack.sha256 == bundled::HASH_0_4_0;
        self.secrets |= pack.secrets;
        self.rule_ids
            .extend(pack.rules.iter().map(|rule| rule.id.clone()));
        if pack.secrets {
            self.rule_ids.extend(super::scan::secret_rule_ids());
        }
        self.packs.push(PackEntry {
            id: pack.id,
            path: pack.path,
            sha256: pack.sha256,
        });
        for rule in pack.rules {
            let key = self.salt.key(&rule.id);
            self.own.add(&rule);
            self.active.push(Active { rule, key, past });
        }
    }

    /// What the user should know of the rules before they are applied.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let collapses = |active: &&Active| {
            let rule = &active.rule;
            rule.strategy == Strategy::Replace && !rule.server_only
        };
        let warning = |active: &Active| {
            format!(
                "rule {} replaces in both directions, so that different values in requests \
                 collapse into one and replay cannot tell them apart; use strategy = \"hash\" or \
                 direction = \"server\"",
                active.rule.id
            )
        };
        self.active.iter().filter(collapses).map(warning).collect()
    }

    /// Rewrites one payload, which must be a JSON value: a recorded message as it is
    /// about to be stored, or as it stands in a cassette (a raw one as a string).
    ///
    /// Doing it again changes nothing.
    pub(crate) fn message(&self, payload: &str, context: &MessageContext<'_>) -> Redaction {
        self.settle(payload, |text| {
            Run::new(self, context.sender).payload(text, context)
        })
    }

    /// What stands for the id of a session over HTTP, whatever the rules are.
    pub(crate) fn session(&self, id: &str) -> String {
        self.salt
            .key("mcp-cassette/session")
            .pseudonym("SESSION", id)
    }

    /// The same for a value of the file outside the messages, under a member called `name`.
    pub(crate) fn head(&self, value: &str, name: &str) -> Redaction {
        self.settle(value, |text| {
            Run::new(self, Sender::Server).head(text, name)
        })
    }

    /// What the rules find in a payload as it stands.
    pub(super) fn scan(&self, payload: &str, context: &MessageContext<'_>) -> Found {
        Run::new(self, context.sender).payload(payload, context)
    }

    /// What they find in a value outside the messages.
    pub(super) fn scan_head(&self, value: &str, name: &str) -> Found {
        Run::new(self, Sender::Server).head(value, name)
    }

    /// Applies the rules until they find nothing: a marker may end a word that another
    /// rule then matches. 0.4.0 applies them once.
    fn settle(&self, text: &str, find: impl Fn(&str) -> Found) -> Redaction {
        let mut redaction = Redaction::default();
        let passes = if self.past { 1 } else { PASSES };
        for pass in 0..passes {
            let current = redaction.text.as_deref().unwrap_or(text);
            let found = find(current);
            let next = apply(current, &found.edits);
            // What still changes at the end was not settled, and nobody may believe it.
            if !self.past && pass + 1 == passes {
                let hits = found.hits.into_iter();
                redaction.hits.extend(hits.map(|hit| Hit {
                    action: Action::Unscanned,
                    ..hit
                }));
                break;
            }
            if pass == 0 {
                redaction.hits = found.hits;
            } else {
                let replaced = |hit: &Hit| hit.action == Action::Replaced;
                redaction
                    .hits
                    .extend(found.hits.into_iter().filter(replaced));
            }
            match next {
                Some(next) => redaction.text = Some(next),
                None => break,
            }
        }
        redaction
    }
}

/// What a redactor is put together from.
pub(super) struct Parts {
    pub(super) structural: Vec<Structural>,
    pub(super) packs: Vec<Pack>,
    pub(super) profile: Option<String>,
    pub(super) salt: Salt,
    pub(super) past: bool,
}

/// A text with its edits made, which are in order and apart; `None` if there are none.
pub(super) fn apply(text: &str, edits: &[Edit]) -> Option<String> {
    if edits.is_empty() {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for edit in edits {
        let range = edit.span.range();
        if range.start < at {
            continue;
        }
        out.push_str(text.get(at..range.start).unwrap_or_default());
        out.push_str(&edit.text);
        at = range.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    Some(out)
}
