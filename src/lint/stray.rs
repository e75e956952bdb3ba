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
use std::cell::OnceCell;
use std::ops::ControlFlow;
use std::sync::OnceLock;

/// A kind of material: what it is called, parted by bars, and the beginnings of words that say that a
/// tool has to do with it.
struct Kind {
    label: &'static str,
    words: &'static str,
    home: &'static str,
    /// Whether the name alone of a parameter makes models volunteer it.
    is_wanted_by_name: bool,
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
            user api keys|user api key|user credentials|user secrets|id rsa|id ed25519|etc passwd|\
            etc shadow|dump of environment|environment dump|env dump|any secret|every secret|one secret|secret found|secrets found|tokens found|keys found|\
            passwords found|the vault|environment variables|env vars|env file|environment value|\
            environment values|ending in key|ends in key|ends in token",
        home: "token|key|secret|auth|login|logon|password|passwd|credential|sign|cert|ssh|env|\
            config|vault|cookie|session|crypt|wallet|otp|2fa|mfa|oauth|account|connect|dsn|url|\
            user|header|deploy|access|variable|kube|cluster|cloud|aws|secur|hash|curl|http|\
            request|api|git|leak|scan|rotat|permission|process|container|docker|sftp|scp|tunnel|clone|\
            identity",
        is_wanted_by_name: false,
    },
    Kind {
        label: "the conversation or the prompt",
        words: "conversation|conversations|this chat|the chat|chat turns|last turns|chat history|\
            chat log|all chats|transcript|set up with|configured with|opening paragraph|above this line|\
            everything above|this session|the session|\
            user messages|user's messages|messages so far|\
            message history|system prompt|hidden prompt|secret prompt|initial prompt|\
            system message|setup text|your instructions|your prompt|your setup|your guidelines|\
            context window|your context|everything the user|everything the person|\
            whatever the user|whatever the person|told you|was typed|was said|they type|\
            they typed|user types|user typed|user said|person said|scratchpad|chain of thought|\
            your reasoning|your thoughts|previous answer|previous answers|last answer|\
            earlier answers|your memory|your memories|your last reply|user's words|\
            state of the agent|agent state|monologue|private reasoning|last messages|\
            assistant instructions|agent instructions|model instructions|hidden instructions|\
            recent messages|human typed|human said|pasted earlier",
        home: "chat|conversation|message|thread|prompt|transcript|history|memor|context|channel|\
            llm|model|agent|bot|complet|instruct|dialog|session|support|repl|persona|eval|think|\
            thought|reason|question|answer|remember|recall|summar|text|sampl|ask|slack|teams|\
            discord|token|session|complete|reply|browser|page|tab|terminal|assist",
        is_wanted_by_name: true,
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
        is_wanted_by_name: false,
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
        is_wanted_by_name: false,
    },
    Kind {
        label: "what other tools do",
        words: "other tools|other servers|another server|tool results|tool outputs|tool calls|\
            tool call history|available tools|tool list|tools list|tool definitions|\
            neighbouring tools|neighboring tools|results of every tool|last results|\
            tools you got|tools you have|tools they have|signatures of the tools|names of the tools|\
            connected servers|raw output of",
        home: "tool|server|mcp|plugin|gateway|proxy|registr|agent",
        is_wanted_by_name: true,
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
    names of|name of|number of|shown to the user|optional|of this server|it returns|to .env|into .env|in .env";

/// Ends of names that are about such material rather than it.
const ABOUT: &str = "path|name|names|id|ids|url|uri|enabled|type|types|size|count|limit|ttl|expiry|length|policy|\
    format|mode|required|timeout|title|key|status|template|version|language|model";

/// What in a name asks for it.
const OF_NAMES: &str = "all|every|everything|full|entire|whole|complete|contents|content|raw|verbatim|unmasked|\
    hidden|paste|attach|send|upload|dump|values|here|so far|copy of|folder|user api keys|\
    user api key|user credentials|user secrets|of user|of the user";

/// Names of private files in the name of a parameter.
const FILES_OF_NAMES: &str = "id rsa|id ed25519|etc passwd|etc shadow|env file|aws credentials";

/// What says that a file itself is meant rather than where it is.
const TEXT_OF: &str = "contents|content|contents of|content of|text of|dump of|then|first";

/// Private files by their names.
const FILES: &str = "~/.ssh|id_rsa|id_ed25519|~/.aws|.aws/credentials|~/.kube/config|.npmrc|.netrc|.pypirc|\
    /etc/shadow|.git-credentials|~/.gnupg|~/.docker/config.json";

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

/// The first such material of a tool or a prompt, one that is clear before others.
pub(crate) fn stray(definition: &Definition<'_>) -> Option<Stray> {
    if definition.defines == Defined::Resource {
        return None;
    }
    let subject = Subject {
        definition,
        whole: OnceCell::new(),
        narrow: OnceCell::new(),
    };
    let mut best: Option<Stray> = None;
    let texts = definition.texts.iter();
    for text in texts.filter(|text| text.value.len() <= LONGEST && !is_marker(&text.value)) {
        let found = match how(text) {
            Read::Name => of_name(text, &subject),
            Read::Value => of_value(text, &subject),
            Read::Prose => of_prose(text, &subject),
            Read::Not => None,
        };
        if let Some(found) = found
            && best.as_ref().is_none_or(|best| found.clear && !best.clear)
        {
            best = Some(found);
        }
    }
    best
}

/// Whether a question to a person wants a key or a password typed in.
pub(crate) fn asks_person(question: &str) -> bool {
    const TYPED: &str =
        "enter|type|paste|provide|give|input|submit|fill in|share|what is your|send";
    const ASKED: &str = "your password|your passwords|your passphrase|your private key|seed phrase|\
        recovery phrase|your api key|your access token|your token|your pin|your cvv|card number|\
        digits of your card|your card|maiden name|social security|authenticator app|one-time code|\
        2fa code|github password|account password|wallet's|master password";
    if question.len() > LONGEST {
        return false;
    }
    let folded = fold(Fold::Skeleton, question);
    has(&folded, ASKED) && has(&folded, TYPED) && !has(&folded, "never|not|don't|without")
}

/// How a text may ask for something.
enum Read {
    /// As a name of a parameter: the model fills it with what it is called.
    Name,
    /// As a value that is there to be sent back.
    Value,
    Prose,
    Not,
}

fn how(text: &Text<'_>) -> Read {
    match text.surface {
        Surface::SchemaName => Read::Name,
        _ if text.is_name => Read::Not,
        Surface::SchemaEnum | Surface::SchemaText => Read::Value,
        Surface::ToolDescription
        | Surface::ToolTitle
        | Surface::SchemaDescription
        | Surface::OutputSchema
        | Surface::Prompt => Read::Prose,
        _ => Read::Not,
    }
}

fn of_prose(text: &Text<'_>, subject: &Subject<'_>) -> Option<Stray> {
    let folded = fold(Fold::Skeleton, &text.value);
    let may_want = may_want(&folded);
    if text.surface.is_schema()
        && let Some(found) = of_material(text, &folded, subject)
    {
        return Some(found);
    }
    // What a tool returns is for it to know.
    if !may_want || text.surface == Surface::OutputSchema || is_told_already(text) {
        return None;
    }
    let mut best: Option<Stray> = None;
    for (sentence, kind) in wanted(&folded) {
        if !is_at_home(kind, subject.whole())
            && let Some(clear) = asks(sentence, text.surface)
            && best.as_ref().is_none_or(|best| clear && !best.clear)
        {
            best = Some(Stray::new(text, kind.label, sentence, clear));
        }
    }
    best
}

/// All of something private as what a parameter holds. The name of the parameter is part
/// of what asks for it, so it says nothing of the tool.
fn of_material(text: &Text<'_>, folded: &str, subject: &Subject<'_>) -> Option<Stray> {
    let is_material = |signal: &Signal| signal.kind == SignalKind::Material;
    if !signals_of(&text.value, false).iter().any(is_material) {
        return None;
    }
    let mut kinds = KINDS
        .iter()
        .filter(|kind| has(folded, kind.words))
        .peekable();
    let known = kinds.peek().map(|kind| kind.label);
    // Words of other languages are of no kind here, so any will do.
    let at_home = match known {
        Some(_) => kinds.any(|kind| is_at_home(kind, subject.narrow())),
        None => KINDS.iter().any(|kind| is_at_home(kind, subject.narrow())),
    };
    let label = known.unwrap_or("private material");
    (!at_home).then(|| Stray::new(text, label, folded, known.is_some()))
}

/// A name that says how much of something is wanted, or that names what no tool needs.
fn of_name(text: &Text<'_>, subject: &Subject<'_>) -> Option<Stray> {
    let name = spaced(&text.value);
    let name = name.trim();
    let last = name.rsplit(' ').next().unwrap_or_default();
    if !may_want(name) || is_word_of(ABOUT, last) {
        return None;
    }
    let kind = KINDS.iter().find(|kind| has(name, kind.words))?;
    let wanted = kind.is_wanted_by_name || has(name, OF_NAMES);
    (wanted && !is_at_home(kind, subject.narrow())).then(|| {
        let clear = has(name, FILES_OF_NAMES) && has(name, TEXT_OF);
        Stray::new(text, kind.label, name, clear)
    })
}

/// A private file as a value that stands ready.
fn of_value(text: &Text<'_>, subject: &Subject<'_>) -> Option<Stray> {
    let folded = fold(Fold::Skeleton, &text.value);
    let kind = KINDS.first()?;
    (has(&folded, FILES) && !is_told_already(text) && !is_at_home(kind, subject.whole()))
        .then(|| Stray::new(text, kind.label, &folded, has(&folded, TEXT_OF)))
}

impl Stray {
    fn new(text: &Text<'_>, label: &'static str, sentence: &str, clear: bool) -> Stray {
        Stray {
            label,
            span: text.span,
            noun: text.surface.noun(),
            sentence: sentence.to_owned(),
            clear,
        }
    }
}

/// What a definition is about, worked out when somebody asks.
struct Subject<'d> {
    definition: &'d Definition<'d>,
    whole: OnceCell<String>,
    narrow: OnceCell<String>,
}

impl Subject<'_> {
    /// By its name, its first sentence and the names of its parameters.
    fn whole(&self) -> &str {
        self.whole.get_or_init(|| subject_of(self.definition, true))
    }

    /// The same without the parameters.
    fn narrow(&self) -> &str {
        self.narrow
            .get_or_init(|| subject_of(self.definition, false))
    }
}

/// Whether a text speaks of any private material: most do not, and need no closer look.
fn may_want(folded: &str) -> bool {
    static WORDS: OnceLock<Needles> = OnceLock::new();
    let words = WORDS.get_or_init(|| {
        let words = KINDS.iter().flat_map(|kind| kind.words.split('|'));
        Needles::new(words)
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

/// Whether it is one of the words, which bars part.
fn is_word_of(words: &str, word: &str) -> bool {
    words.split('|').any(|known| known == word)
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
pub(super) fn subject_of(definition: &Definition<'_>, with_parameters: bool) -> String {
    let mut subject = definition
        .name
        .as_ref()
        .map_or_else(String::new, |(name, _)| spaced(name));
    let mut described = false;
    for text in &definition.texts {
        let part = match text.surface {
            Surface::SchemaName if with_parameters => spaced(&text.value),
            // The first text of a prompt with a blank is what describes it.
            Surface::Prompt if !text.value.contains(' ') => spaced(&text.value),
            Surface::Prompt if described => continue,
            Surface::ToolDescription | Surface::Prompt => {
                described = true;
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
