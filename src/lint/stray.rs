//! Private material that has nothing to do with the tool that speaks of it.
//!
//! A tool for mails may speak of the mailbox and one that signs of a key. Where neither
//! the name of a tool, nor what it does by its own first sentence, nor a name of a
//! parameter has to do with such material, a text that wants it wants it for something
//! else, in whatever words.

use super::fold::{Fold, fold};
use super::reading::signals_of;
use super::signals::{Signal, SignalKind, Strength, tells_of_tool};
use super::surfaces::{Defined, Definition, Surface, Text};
use crate::needles::Needles;
use crate::secrets::placeholder::is_marker;
use crate::wire::json::Span;
use std::ops::ControlFlow;
use std::sync::OnceLock;

/// A kind of material: what it is called, parted by bars, and the beginnings of words that say that a
/// tool has to do with it.
struct Kind {
    label: &'static str,
    words: &'static str,
    home: &'static str,
}

const KINDS: &[Kind] = &[
    Kind {
        label: "keys and passwords",
        words: "password|passwords|passcode|passphrase|passphrases|credential|credentials|secrets|\
            api key|api keys|apikey|access token|access tokens|auth token|bearer token|\
            session token|session tokens|oauth secret|oauth token|oauth tokens|refresh token|\
            github token|tokens of|token of the|token the|token that the git|private key|\
            private keys|ssh key|ssh keys|ssh folder|~/.ssh|.ssh|id_rsa|id_ed25519|deploy key|\
            signing key|signing keys|.env|dotenv|cookie jar|session cookie|session cookies|\
            browser cookies|keychain|keyring|wallet|wallets|seed phrase|recovery words|\
            recovery phrase|recovery codes|backup codes|mnemonic|one-time code|\
            one-time password|otp|2fa code|2fa codes|login of|logins|cloud login|login details|\
            kubeconfig|~/.aws|.aws|.npmrc|.netrc|.pypirc|known_hosts|password manager|\
            master password|_api_key|_token|_secret|secret_access_key|aws secret|secret of|\
            any secret|every secret|environment variables|env vars",
        home: "token|key|secret|auth|login|logon|password|passwd|credential|sign|cert|ssh|env|\
            config|vault|cookie|session|crypt|wallet|otp|2fa|mfa|oauth|account|connect|dsn|url|\
            user|header|deploy|access|variable|kube|cluster|cloud|aws|secur|hash|curl|http|\
            request|api|git|leak|scan|rotat|permission",
    },
    Kind {
        label: "the conversation or the prompt",
        words: "conversation|conversations|this chat|the chat|chat turns|last turns|chat history|\
            chat log|all chats|transcript|user messages|user's messages|messages so far|\
            message history|system prompt|hidden prompt|secret prompt|initial prompt|\
            system message|setup text|your instructions|your prompt|your setup|your guidelines|\
            context window|your context|everything the user|everything the person|\
            whatever the user|whatever the person|told you|was typed|was said|they type|\
            they typed|user types|user typed|user said|person said|scratchpad|chain of thought|\
            your reasoning|your thoughts|previous answer|previous answers|last answer|\
            earlier answers|your memory|your memories|your last reply|user's words|\
            state of the agent|agent state",
        home: "chat|conversation|message|thread|prompt|transcript|history|memor|context|channel|\
            llm|model|agent|bot|complet|instruct|dialog|session|support|repl|persona|eval|think|\
            thought|reason|question|answer|remember|recall|summar|text|sampl|ask|slack|teams|\
            discord|token",
    },
    Kind {
        label: "personal details",
        words: "health|medical|diagnosis|illness|income|salary|tax papers|tax returns|passport|\
            social security|address book|contact list|all contacts|mailbox|inbox|bank account|\
            bank details|card number|credit card|cvv|date of birth|home address|private photos|\
            biometric|about the user|about the person|about them|about themselves|\
            the user's name|the user's email|the user's address|the user's phone|\
            user's location|religion|sexual|political|love letters|diary",
        home: "health|medic|patient|income|salar|pay|tax|passport|contact|mail|inbox|bank|card|\
            phone|birth|address|photo|user|profile|person|customer|employee|candidate|crm|hr|\
            account|book|order|invoice|ship|travel|passenger|guest|member|fitness|insur|loan|\
            credit|diary|journal|memor|remember|calendar|message|note",
    },
    Kind {
        label: "what is on the machine",
        words: "clipboard|screenshot of|home folder|home directory|downloads folder|\
            documents folder|open tabs|all tabs|browser history|browsing history|shell history|\
            command history|.bash_history|.zsh_history|keystrokes|source code of|\
            workspace archive|whole workspace|entire workspace|whole repository|\
            entire repository|private repositories|private files|/etc/passwd|/etc/shadow|\
            process list|installed programs|wifi",
        home: "clip|screen|shot|home|download|tab|brows|shell|key|code|repo|workspace|file|folder|\
            director|path|env|host|network|git|project|source|archive|system|process|terminal|\
            document|history|linux|backup|search|wifi",
    },
    Kind {
        label: "what other tools do",
        words: "other tools|other servers|another server|tool results|tool outputs|tool calls|\
            tool call history|available tools|tool list|tools list|tool definitions|\
            neighbouring tools|neighboring tools|results of every tool|last results",
        home: "tool|server|mcp|plugin|gateway|proxy|registr|agent",
    },
];

/// What asks the reader for something.
const ASKS: &str = "send|append|attach|include|prefix|enclose|hand|pass|put|add|encode|post|forward|upload|copy|\
    paste|quote|fill|supply|provide|give|write|read|grab|gather|collect|look|open|record|dump|\
    repeat|share|submit|embed|insert|mail|email|report|tell|return|use|enter|type|wants|needs|\
    need|expects|requires|belong|belongs|goes|go|best|carries|carry|hold|holds|starts|begins|\
    asks|plus|fetch|take|let|load|loaded|extract|print|reveal|show|recite|summarise|summarize|\
    supplying|ends|end|followed|place|drop|store|save|please|must|shall|should|has to|have to|\
    find|mention|sharpest|works|learns";

/// Where it is to go.
const WHERE: &str = "`|http://|https://|header|argument|parameter|field|file name|query|url|comment|base64|here|\
    @|value of|server";

/// How much of it.
const REACH: &str = "all|every|everything|whatever|whichever|any|anything|last|latest|contents|content|full|\
    entire|whole|complete|verbatim|unedited|so far|user's|host|machine|browser|your|hidden|just";

/// What takes it back.
const DENIED: &str = "default|defaults|path|against|not|never|don't|without|no|nor|neither|avoid|masked|redacted|\
    hidden by|untrusted|cannot|can't|isn't|aren't|doesn't|encrypted|unless|instead|detect|\
    optional|to .env|into .env|in .env";

/// Texts longer than this say enough to be read for what they ask.
const LONGEST: usize = 2048;

/// Material that a definition wants and has nothing to do with.
pub(crate) struct Stray {
    pub(crate) label: &'static str,
    pub(crate) span: Span,
    pub(crate) noun: &'static str,
    pub(crate) sentence: String,
    /// Whether several things say that it is wanted.
    pub(crate) clear: bool,
}

/// The first such material of a tool.
pub(crate) fn stray(definition: &Definition<'_>) -> Option<Stray> {
    if definition.defines != Defined::Tool {
        return None;
    }
    let mut texts = definition
        .texts
        .iter()
        .filter(|text| is_read(text))
        .peekable();
    texts.peek()?;
    let mut home: Option<String> = None;
    let mut best: Option<Stray> = None;
    for text in texts {
        let folded = fold(Fold::Skeleton, &text.value);
        if !may_want(&folded) || is_told_already(text) {
            continue;
        }
        for (sentence, kind) in wanted(&folded) {
            let home = home.get_or_insert_with(|| subject_of(definition));
            if !is_at_home(kind, home)
                && let Some(clear) = asks(sentence, text.surface)
                && best.as_ref().is_none_or(|best| clear && !best.clear)
            {
                best = Some(Stray {
                    label: kind.label,
                    span: text.span,
                    noun: text.surface.noun(),
                    sentence: sentence.to_owned(),
                    clear,
                });
            }
        }
    }
    best
}

fn is_read(text: &Text<'_>) -> bool {
    let prose = matches!(
        text.surface,
        Surface::ToolDescription | Surface::SchemaDescription | Surface::ToolTitle
    );
    prose && !text.is_name && text.value.len() <= LONGEST && !is_marker(&text.value)
}

/// Whether a text speaks of any private material: most do not, and need no closer look.
fn may_want(folded: &str) -> bool {
    static WORDS: OnceLock<Needles> = OnceLock::new();
    let words = WORDS.get_or_init(|| {
        let words = KINDS.iter().flat_map(|kind| kind.words.split('|'));
        Needles::new(8, words)
    });
    // The ends of names of variables are not where a word begins.
    let in_name = |end: &&str| end.starts_with('_') && folded.contains(*end);
    let any = words.walk_words(folded.as_bytes(), |_, _| ControlFlow::Break(()));
    any.is_break()
        || folded.contains('_')
            && KINDS
                .iter()
                .flat_map(|kind| kind.words.split('|'))
                .any(|end| in_name(&end))
}

/// Whether the words of the text say by themselves that it wants something private.
fn is_told_already(text: &Text<'_>) -> bool {
    let wants = |signal: &Signal| match signal.kind {
        SignalKind::Exfiltrate => signal.strength == Strength::Strong,
        SignalKind::Material => text.surface.is_schema(),
        _ => false,
    };
    signals_of(&text.value, false).iter().any(wants)
}

/// The sentences that speak of private material, and of which.
fn wanted(folded: &str) -> impl Iterator<Item = (&str, &'static Kind)> {
    let sentences = folded.split(". ").flat_map(|part| part.split(['!', '\n']));
    sentences.flat_map(|sentence| {
        let kinds = KINDS.iter().filter(move |kind| has(sentence, kind.words));
        kinds.map(move |kind| (sentence, kind))
    })
}

/// Whether one of the words, which bars part, stands in the sentence.
fn has(sentence: &str, words: &str) -> bool {
    words.split('|').any(|word| holds(sentence, word))
}

/// Whether a word or phrase stands in the sentence, not inside of a longer word.
fn holds(sentence: &str, word: &str) -> bool {
    let is_letter = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric());
    sentence.match_indices(word).any(|(at, found)| {
        let before = sentence.get(..at).unwrap_or_default().chars().next_back();
        let rest = sentence.get(at + found.len()..).unwrap_or_default();
        let after = rest.chars().next();
        let begins = found.starts_with(|c: char| c.is_alphanumeric());
        let ends = found.ends_with(|c: char| c.is_alphanumeric());
        let goes_on = after == Some('.') && is_letter(rest.chars().nth(1));
        !(begins && is_letter(before)) && !(ends && (is_letter(after) || goes_on))
    })
}

/// Name, first sentence and names of parameters, which say what a tool is about.
fn subject_of(definition: &Definition<'_>) -> String {
    let mut subject = definition
        .name
        .as_ref()
        .map_or_else(String::new, |(name, _)| spaced(name));
    for text in &definition.texts {
        let part = match text.surface {
            Surface::SchemaName => spaced(&text.value),
            Surface::ToolDescription => {
                let folded = fold(Fold::Skeleton, &text.value);
                folded
                    .split(['.', '!', ';', '\n'])
                    .next()
                    .unwrap_or_default()
                    .to_owned()
            }
            _ => continue,
        };
        subject.push(' ');
        subject.push_str(&part);
    }
    subject
}

/// A name as words: at signs and where a capital follows a small letter.
fn spaced(name: &str) -> String {
    let mut words = String::new();
    let mut small = false;
    for c in name.chars().take(256) {
        if c.is_uppercase() && small || !c.is_alphanumeric() {
            words.push(' ');
        }
        small = c.is_lowercase();
        if c.is_alphanumeric() {
            words.extend(c.to_lowercase());
        }
    }
    words
}

fn is_at_home(kind: &Kind, subject: &str) -> bool {
    subject
        .split(|c: char| !c.is_alphanumeric())
        .any(|word| kind.home.split('|').any(|home| word.starts_with(home)))
}

/// Whether the sentence asks for it, and whether it does so clearly.
fn asks(sentence: &str, surface: Surface) -> Option<bool> {
    if has(sentence, DENIED) || tells_of_tool(sentence.trim()) {
        return None;
    }
    let asked = has(sentence, ASKS);
    let placed = has(sentence, WHERE);
    let much = has(sentence, REACH);
    let schema = surface.is_schema();
    let signs = usize::from(asked) + usize::from(placed) + usize::from(much) + usize::from(schema);
    (signs >= 1).then_some(signs >= 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_words() {
        assert_eq!(spaced("sendEMail_now"), "send email now");
    }
}
