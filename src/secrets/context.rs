//! What a string's place says about it: the name it stands under, and names that
//! promise a secret or rule one out.
//!
//! A name is cut into words at separators and case changes and judged by whole
//! words, so that `accessToken` promises a secret and `tokenizer` does not. A
//! counting, typing or describing word beside the telling one rules it out.

use super::prefilter;

/// Where a string stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Place {
    /// Arguments, results and everything else that carries data.
    #[default]
    Data,
    /// A tool, prompt or resource definition or instructions. Names there describe
    /// values, so that only values that look like secrets count as named ones.
    Definition,
    /// The title of a schema or a tool: an identifier, never measured for entropy.
    Title,
    /// Image, audio or binary content: only key shapes are looked for.
    Media,
}

/// What is known of a string.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TextContext<'a> {
    /// The name it stands under: its member name, the name of the array or object
    /// around it (see [`effective_name`]), the header or argument it belongs to. Empty if none.
    pub(crate) name: &'a str,
    pub(crate) place: Place,
}

/// How firmly a name promises a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Promise {
    /// Any value is a secret unless it is a stand-in.
    Firm(&'static str),
    /// Only a value that looks like a key is.
    Weak(&'static str),
}

#[rustfmt::skip]
const FIRM: &[&str] = &[
    "token", "secret", "password", "passwd", "pwd", "passphrase", "passcode", "apikey",
    "authorization", "cookie", "credential", "authtoken", "accesstoken", "refreshtoken",
    "sessiontoken", "apitoken", "bearertoken", "clientsecret", "appsecret", "apisecret",
    "secretkey", "privatekey", "accesskey", "accountkey", "masterkey", "encryptionkey",
    "signingkey", "sessionkey", "authkey", "sharedkey", "servicekey", "webhooksecret",
    "dbpassword", "userpassword", "dbpass", "userpass", "sshkey", "storagekey", "subscriptionkey",
    "deploykey",
];

#[rustfmt::skip]
const WEAK: &[&str] = &[
    "tokens", "secrets", "passwords", "credentials", "cookies", "apikeys", "bearer", "jwt",
    "signature", "sig",
];

/// Words that make a key of the word `key` after them.
#[rustfmt::skip]
pub(super) const KEY_KINDS: &[&str] = &[
    "api", "private", "secret", "access", "account", "master", "encryption", "signing", "session",
    "auth", "subscription", "shared", "service", "storage", "ssh", "webhook", "deploy",
];

/// Words beside the telling one that count, type, describe or locate it.
#[rustfmt::skip]
const EXEMPT: &[&str] = &[
    "max", "maximum", "min", "minimum", "total", "count", "counts", "counter", "limit", "limits",
    "type", "types", "kind", "kinds", "description", "desc", "page", "next", "prev", "previous",
    "cursor", "progress", "continuation", "continue", "sync", "size", "length", "len", "usage",
    "used", "per", "num", "number", "budget", "cached", "completion", "reasoning", "remaining",
    "names", "label", "title", "ids", "url", "urls", "uri", "endpoint", "path", "file",
    "filename", "dir", "location", "expires", "expiry", "expiration", "expire", "ttl", "age",
    "created", "updated", "rotated", "status", "state", "enabled", "disabled", "required",
    "optional", "valid", "invalid", "verified", "format", "policy", "policies", "rotation",
    "version", "provider", "scope", "scopes", "env", "var", "variable", "field", "fields",
    "param", "parameter", "prefix", "suffix", "hint", "placeholder", "example", "schema",
    "consent", "banner", "lifetime", "timeout", "issuer", "algorithm", "alg", "strength", "reset",
    "manager", "scanning", "alert", "alerts", "arn", "ref", "reference", "public", "symbol",
    "address", "contract", "decimals", "mint", "supply", "price", "index", "position", "offset",
    "rate", "cost", "pricing", "window", "mode", "method", "strategy", "source", "store",
    "storage_class", "error", "message", "text_input", "help", "note", "santa", "design", "theme",
    "csrf", "xsrf", "encoding", "estimate", "estimated", "stop", "special", "eos", "bos", "pad",
    "mask", "ms", "millis", "milliseconds", "seconds", "secs", "latency", "duration", "elapsed",
    "throughput",
];

/// Words of names whose values are random and no secrets.
#[rustfmt::skip]
const INERT: &[&str] = &[
    "cursor", "etag", "digest", "checksum", "integrity", "fingerprint", "sha", "sha1", "sha224",
    "sha256", "sha384", "sha512", "md5", "crc", "uuid", "guid", "ulid", "commit", "revision",
    "rev", "gclid", "fbclid", "msclkid", "dclid", "wbraid", "gbraid", "traceparent", "hash",
    "utm",
];

/// Pairs of adjacent words that do the same.
#[rustfmt::skip]
const INERT_PAIRS: &[(&str, &str)] = &[
    ("page", "token"), ("continuation", "token"), ("sync", "token"), ("progress", "token"),
    ("request", "state"), ("node", "id"), ("message", "id"), ("public", "key"), ("trace", "id"),
    ("span", "id"), ("task", "id"), ("object", "id"), ("start", "key"), ("next", "token"),
    ("content", "md5"), ("if", "match"), ("e", "tag"),
];

/// The words of a name, in lower case.
pub(crate) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let chars: Vec<char> = name.chars().take(128).collect();
    let mut word = String::new();
    for (i, c) in chars.iter().enumerate() {
        let previous = i.checked_sub(1).and_then(|i| chars.get(i));
        let next = chars.get(i + 1);
        let hump = c.is_uppercase()
            && (previous.is_some_and(|p| p.is_lowercase() || p.is_ascii_digit())
                || previous.is_some_and(|p| p.is_uppercase())
                    && next.is_some_and(|n| n.is_lowercase()));
        if (hump || !c.is_alphanumeric()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// What a name promises, or `None` if it promises nothing or a word rules it out.
pub(super) fn promise(name: &str) -> Option<Promise> {
    let possible = name.len() <= 4 || prefilter::holds_stem(name);
    if !possible {
        return None;
    }
    promise_of_words(&words(name))
}

/// As [`promise`], for a name that was cut into words already.
pub(super) fn promise_of_words(words: &[String]) -> Option<Promise> {
    let found = words
        .iter()
        .enumerate()
        .find_map(|(i, word)| telling(words, i, word))?;
    (!is_exempt(words)).then_some(found)
}

fn telling(words: &[String], at: usize, word: &str) -> Option<Promise> {
    let stem = word.trim_end_matches(|c: char| c.is_ascii_digit());
    let before = at
        .checked_sub(1)
        .and_then(|i| words.get(i))
        .map(String::as_str);
    let listed = |list: &'static [&'static str]| list.iter().find(|known| **known == stem).copied();
    if let Some(known) = listed(FIRM) {
        return Some(Promise::Firm(known));
    }
    match (before, stem) {
        (Some(kind), "key") if KEY_KINDS.contains(&kind) => Some(Promise::Firm("key")),
        (Some("x"), "auth") => Some(Promise::Firm("auth")),
        (
            Some("db" | "database" | "user" | "smtp" | "mysql" | "root" | "admin" | "ftp"),
            "pass",
        ) => Some(Promise::Firm("pass")),
        (None, "auth" | "pass") if words.len() == 1 => Some(Promise::Weak("auth")),
        _ => listed(WEAK).map(Promise::Weak),
    }
}

fn is_exempt(words: &[String]) -> bool {
    let first = words.first().map(String::as_str);
    let last = words.last().map(String::as_str);
    matches!(
        first,
        Some(
            "is" | "has"
                | "can"
                | "should"
                | "use"
                | "show"
                | "input"
                | "output"
                | "no"
                | "require"
        )
    ) || matches!(
        last,
        Some("id" | "name" | "at" | "less" | "required" | "key" | "date" | "time" | "on")
    ) && !ends_in_key(words)
        || words.iter().any(|word| EXEMPT.contains(&word.as_str()))
}

/// `secret_key` and `x-api-key` are keys; `token_key` names one.
fn ends_in_key(words: &[String]) -> bool {
    match words {
        [.., kind, last] => last == "key" && KEY_KINDS.contains(&kind.as_str()),
        _ => false,
    }
}

/// Whether values under a name are random by nature and no secrets: cursors, ETags,
/// digests, ids of commits and traces.
pub(super) fn is_inert(name: &str) -> bool {
    let words = words(name);
    let pair = |pair: &[String]| {
        INERT_PAIRS
            .iter()
            .any(|(one, two)| pair[0] == *one && pair[1] == *two)
    };
    words.iter().any(|word| INERT.contains(&word.as_str())) && promise_of_words(&words).is_none()
        || words.windows(2).any(pair)
}

/// The name that a string under `inner` inside a value called `outer` goes by: in
/// `{"token": {"value": "abc"}}` and `{"token": ["abc"]}` the outer one.
pub(crate) fn effective_name<'a>(outer: &'a str, inner: &'a str) -> &'a str {
    const GENERIC: [&str; 10] = [
        "",
        "value",
        "val",
        "text",
        "raw",
        "content",
        "plain",
        "plaintext",
        "data",
        "string",
    ];
    let generic = GENERIC.iter().any(|name| inner.eq_ignore_ascii_case(name));
    let telling = inner.is_empty() || generic && (promise(outer).is_some() || is_inert(outer));
    if telling { outer } else { inner }
}

/// The name in an argument such as `--api-key`, whose value is the next argument.
pub(crate) fn flag_name(argument: &str) -> Option<&str> {
    let name = argument
        .strip_prefix("--")
        .or_else(|| argument.strip_prefix('-'))?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    (!name.is_empty() && name.bytes().all(plain)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_split_into_words() {
        assert_eq!(
            words("nextPageToken_description"),
            ["next", "page", "token", "description"]
        );
        assert_eq!(words("X-API-Key"), ["x", "api", "key"]);
        assert_eq!(words("HTTPServerKey2"), ["http", "server", "key2"]);
        assert_eq!(words("ACCESS_TOKEN"), ["access", "token"]);
        assert_eq!(words(""), [""; 0]);
    }

    #[test]
    fn telling_names_promise_a_secret() {
        for name in [
            "token",
            "accessToken",
            "ACCESS_TOKEN",
            "access-token",
            "x-api-key",
            "apikey",
            "api_key",
            "apiKey",
            "APIKey",
            "clientSecret",
            "db_password",
            "passwd",
            "Authorization",
            "set-cookie",
            "private_key",
            "aws_secret_access_key",
            "credential",
            "x-auth",
            "id_token",
            "token2",
            "secretAccessKey",
            "DB_PASS",
            "AccountKey",
            "github.token",
            "_authToken",
        ] {
            assert!(matches!(promise(name), Some(Promise::Firm(_))), "{name}");
        }
    }

    #[test]
    fn names_that_count_type_or_describe_promise_nothing() {
        for name in [
            "max_tokens",
            "total_tokens",
            "tokenizer",
            "tokenType",
            "token_count",
            "issue_key",
            "keyword",
            "author",
            "isSecret",
            "secret_type",
            "page_token",
            "nextPageToken",
            "progressToken",
            "continuationToken",
            "nextPageToken_description",
            "passwordless",
            "secretary",
            "credentialed",
            "cookieConsent",
            "session_count",
            "password_policy",
            "tokenEndpoint",
            "public_key",
            "key",
            "primary_key",
            "hasPassword",
            "secretName",
            "send_secret_santa_mail",
            "token_id",
            "",
        ] {
            assert_eq!(promise(name), None, "{name}");
        }
    }

    #[test]
    fn cursors_and_digests_are_inert() {
        for name in [
            "nextCursor",
            "ETag",
            "sha256",
            "pageToken",
            "commit",
            "file_hash",
            "node_id",
            "publicKey",
        ] {
            assert!(is_inert(name), "{name}");
        }
        for name in ["token", "name", "data", "passwordHash", "shape"] {
            assert!(!is_inert(name), "{name}");
        }
    }

    #[test]
    fn generic_names_take_the_outer_one() {
        assert_eq!(effective_name("token", "value"), "token");
        assert_eq!(effective_name("token", ""), "token");
        assert_eq!(effective_name("token", "type"), "type");
        assert_eq!(effective_name("content", "text"), "text");
        assert_eq!(flag_name("--api-key"), Some("api-key"));
        assert_eq!(flag_name("api-key"), None);
        assert_eq!(flag_name("--"), None);
    }
}
