//! Whether what stands under a telling name is a secret, or a placeholder, a type,
//! a reference to one or plain words.

use super::placeholder;
use super::words;

/// How a value was written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A JSON member or a quoted string.
    Quoted,
    /// Bare in running text or code.
    Bare,
}

/// Words that stand where a secret would and are none: types, states, advice.
#[rustfmt::skip]
const STOP_WORDS: &[&str] = &[
    "string", "str", "number", "integer", "int", "boolean", "bool", "object", "array", "list",
    "dict", "bytes", "buffer", "any", "unknown", "void", "null", "nil", "none", "undefined",
    "true", "false", "yes", "no", "on", "off", "optional", "required", "mandatory", "hidden",
    "masked", "redacted", "removed", "omitted", "unset", "empty", "n/a", "na", "tbd", "todo",
    "default", "valid", "invalid", "expired", "missing", "present", "enabled", "disabled",
    "active", "revoked", "bearer", "basic", "digest", "negotiate", "oauth", "oauth2", "sso",
    "jwt", "saml", "ldap", "apikey", "env", "file", "environment", "header", "query", "body",
    "cookie", "prompt", "stdin", "keychain", "vault", "config", "self", "this", "option",
    "result", "field", "text", "password", "passwd", "pass", "token", "secret", "credentials",
    "overview", "usage", "example", "examples", "description", "note", "notes", "see", "use",
    "not", "the", "and", "for", "with", "used", "set", "tokens", "keys", "secrets", "passwords",
    "authentication", "authorization", "deleted", "custom", "secretstr", "sensitive",
    "confidential", "generated", "auto", "same-origin", "include", "omit", "plain", "encrypted",
];

/// Words of which placeholders such as `your-api-key-here` are made.
#[rustfmt::skip]
const FILLER_WORDS: &[&str] = &[
    "your", "my", "the", "a", "an", "some", "here", "insert", "enter", "replace", "with", "put",
    "add", "example", "sample", "placeholder", "dummy", "fake", "change", "changeme", "me",
    "token", "secret", "password", "pass", "key", "api", "access", "auth", "value", "string",
    "goes", "user", "username", "name", "this", "to", "be", "set", "new", "old", "current",
    "valid", "invalid", "env", "var", "variable", "from", "bearer", "client", "id", "private",
    "public", "field", "text", "todo", "redacted", "hidden", "masked", "removed", "omitted",
    "personal", "actual", "real", "refresh", "app", "apikey", "authorization", "credentials",
    "test", "in", "of", "is", "and", "or",
];

/// Beginnings of expressions that fetch a secret instead of holding one.
#[rustfmt::skip]
const REFERENCES: &[&str] = &[
    "process.env", "os.environ", "os.getenv", "getenv", "env.", "env:", "secrets.", "vault:",
    "import.meta", "config.", "settings.", "self.", "this.", "args.", "options.", "ctx.",
    "http://", "https://", "arn:", "/", "./", "../", "~/", "projects/", "op://", "ref+", "!ref",
    "!sub", "file:", "urn:", "data:",
];

/// Whether a value holds nothing to hide. What stands beside a marker is a value of its own.
pub(super) fn is_harmless(value: &str, form: Form) -> bool {
    let value = value.trim();
    if let Some(left) = placeholder::beside_markers(value) {
        return !left.contains(char::is_alphanumeric) || is_plainly_harmless(left.trim(), form);
    }
    is_plainly_harmless(value, form)
}

fn is_plainly_harmless(value: &str, form: Form) -> bool {
    value.len() < 3
        || placeholder::is_marker(value)
        || is_template(value)
        || is_stop_word(value)
        || is_made_of_filler(value)
        || is_variable_name(value)
        || is_few_characters(value)
        || is_reference(value)
        || is_prose(value)
        || form == Form::Bare && is_expression(value)
}

/// Whether a value looks like a key or a chosen password rather than a word.
pub(super) fn is_credible(value: &str) -> bool {
    let letters = value.bytes().any(|byte| byte.is_ascii_alphabetic());
    let digits = value.bytes().any(|byte| byte.is_ascii_digit());
    let symbols = value.bytes().any(|byte| {
        matches!(
            byte,
            b'!' | b'@' | b'#' | b'$' | b'%' | b'^' | b'&' | b'*' | b'~'
        )
    });
    value.len() >= 6
        && !value.contains(char::is_whitespace)
        && letters
        && (digits || symbols || !is_words(value))
        && !is_version_or_date(value)
}

fn is_version_or_date(value: &str) -> bool {
    let letters = value.bytes().filter(u8::is_ascii_alphabetic).count();
    letters <= 1
        && value.bytes().all(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'/' | b':' | b'+')
        })
}

/// Whether every run of letters reads like a word.
pub(super) fn is_words(value: &str) -> bool {
    let plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/' | b':');
    value.bytes().all(plain) && words::composition(&words::segments(value)).0 >= 0.6
}

/// `$TOKEN`, `${TOKEN}`, `{{ token }}`, `%(token)s`, `<your token>`, `[token]`, `sk-...`.
fn is_template(value: &str) -> bool {
    let opens = value.starts_with(['$', '{', '[', '('])
        || ["%(", "%s", "%d"]
            .iter()
            .any(|start| value.starts_with(start));
    let angled = value.starts_with('<') && value.ends_with('>') || value.starts_with("&lt;");
    let holds = ["${", "{{", "$(", "<%", "...", "…", "%s"];
    let hidden = ["xxxx", "XXXX"];
    let masked = ["••", "***"];
    opens
        || angled
        || holds.iter().chain(&hidden).any(|part| value.contains(part))
        || masked.iter().any(|part| value.contains(part)) && !shows_a_value(value)
}

/// Whether so much stands beside a mask that it is no rest of what was masked: masks show
/// a few characters at either end.
fn shows_a_value(value: &str) -> bool {
    const MOST_BEFORE: usize = 8;
    let parts: Vec<&str> = value.split(['•', '*']).collect();
    let last = parts.len().saturating_sub(1);
    parts.iter().enumerate().any(|(at, part)| {
        let most = MOST_BEFORE - usize::from(at == last);
        part.chars().count() > most && is_credible(part)
    })
}

fn is_stop_word(value: &str) -> bool {
    let bare = value.trim_end_matches(['?', '.', '!', ':']);
    STOP_WORDS
        .iter()
        .any(|word| bare.eq_ignore_ascii_case(word))
}

fn is_made_of_filler(value: &str) -> bool {
    if value.len() > 64 {
        return false;
    }
    let words = super::context::words(value);
    !words.is_empty()
        && words
            .iter()
            .all(|word| FILLER_WORDS.contains(&word.as_str()))
        || words.first().is_some_and(|word| word == "your")
        || words
            .iter()
            .any(|word| word == "placeholder" || word == "changeme")
}

/// `GITHUB_TOKEN`: the name of a variable.
fn is_variable_name(value: &str) -> bool {
    value.contains('_')
        && value
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte == b'_' || byte.is_ascii_digit())
        && is_words(value)
}

fn is_few_characters(value: &str) -> bool {
    let first = value.chars().next();
    value.chars().all(|c| Some(c) == first)
}

fn is_reference(value: &str) -> bool {
    let known = REFERENCES.iter().any(|start| {
        value
            .get(..start.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(start))
    });
    // A base64 key may begin with a slash; a path is made of words.
    known && (!value.starts_with('/') || is_words(value))
}

/// Two words or more: a label, a sentence, an explanation.
fn is_prose(value: &str) -> bool {
    value.split_whitespace().nth(1).is_some()
}

/// `config.token`, `getToken()`, `a::b`, `response_token`.
fn is_expression(value: &str) -> bool {
    let called = value.contains('(') || value.contains("->") || value.contains("::");
    let dotted = value.contains('.')
        && value.split('.').all(|part| {
            part.bytes()
                .next()
                .is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
                && is_words(part)
                && part
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        });
    called || dotted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stand_ins_are_harmless() {
        for value in [
            "",
            "ab",
            "string",
            "None",
            "<your token>",
            "$TOKEN",
            "${TOKEN}",
            "{{ token }}",
            "your-api-key-here",
            "YOUR_API_KEY",
            "GITHUB_TOKEN",
            "my_token",
            "REDACTED",
            "••••••6411",
            "********",
            "sk-...",
            "https://example.org/token",
            "/etc/ssl/private/server.pem",
            "Access token",
            "process.env.TOKEN",
            "<TOKEN>_0123456789ab",
        ] {
            assert!(is_harmless(value, Form::Quoted), "{value}");
        }
        assert!(is_harmless("config_value.token", Form::Bare));
        assert!(is_harmless("fetchToken(user)", Form::Bare));
    }

    #[test]
    fn values_are_not_harmless() {
        for value in [
            "SomeWordsXyz",
            "aAbBcCdDeF",
            "abc",
            "s3cr3t-value-1",
            "a<b>",
            "hunter2",
            "8f14e45f-not-real",
            "correct-horse",
        ] {
            assert!(!is_harmless(value, Form::Quoted), "{value}");
        }
    }

    #[test]
    fn credible_values_do_not_read_like_words() {
        for value in [
            "hunter2",
            "aAbBcCdDeF",
            "s3cr3t-value-1",
            "pa$$word",
            "q8N2vR5x",
        ] {
            assert!(is_credible(value), "{value}");
        }
        for value in [
            "abc",
            "swordfish",
            "Overview",
            "1.2.3",
            "2024-01-02",
            "two words1",
        ] {
            assert!(!is_credible(value), "{value}");
        }
    }
}
