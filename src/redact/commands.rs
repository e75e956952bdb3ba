//! Passwords in commands: `curl -u user:password`.

use regex::Regex;
use std::ops::Range;
use std::sync::OnceLock;

/// How much of a command is read, in bytes.
const LONGEST: usize = 4096;

/// The passwords that are given to `curl` in a text, from left to right.
pub(super) fn passwords(text: &str) -> Vec<Range<usize>> {
    static CURL: OnceLock<Option<Regex>> = OnceLock::new();
    static OPTION: OnceLock<Option<Regex>> = OnceLock::new();
    let mut found = Vec::new();
    if memchr::memmem::find(text.as_bytes(), b"curl").is_none() {
        return found;
    }
    let curl = CURL.get_or_init(|| Regex::new(r"\bcurl(?:\.exe)?[\s\\]").ok());
    // Short options may be written together, and with the value right behind.
    let option = OPTION.get_or_init(|| {
        Regex::new(
            r#"(?:\s|\\n)(?:-[a-zA-Z]*?[uU]|--user|--proxy-user)(?:[ \t=]*)\\*(?:"(?P<a>[^"\n]*)"|'(?P<b>[^'\n]*)'|(?P<c>[^\s"'\\]+))"#,
        )
        .ok()
    });
    let (Some(curl), Some(option)) = (curl.as_ref(), option.as_ref()) else {
        return found;
    };
    let mut from = 0;
    while let Some(start) = curl.find_at(text, from) {
        let end = command_end(text, start.end());
        // The blank after the command may be the one before the option.
        let at = start.end() - 1;
        let command = text.get(at..end).unwrap_or_default();
        for option in option.captures_iter(command) {
            let value = ["a", "b", "c"].iter().find_map(|name| option.name(name));
            let password = value.and_then(|value| {
                let inner = password(value.as_str())?;
                let start = at + value.start();
                Some(start + inner.start..start + inner.end)
            });
            found.extend(password);
        }
        from = end.max(start.end());
    }
    found
}

/// The password of `user:password`, without a backslash of an escaped quote behind it.
pub(super) fn password(pair: &str) -> Option<Range<usize>> {
    let colon = pair.find(':')?;
    let end = pair.trim_end_matches('\\').len();
    let user = pair.get(..colon).unwrap_or_default();
    let url = pair
        .get(colon + 1..)
        .is_some_and(|rest| rest.starts_with("//"));
    let plain = !user.is_empty() && !user.contains(char::is_whitespace) && !url;
    (plain && colon + 1 < end).then_some(colon + 1..end)
}

/// The end of the command line, over lines that go on.
fn command_end(text: &str, from: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = from;
    let most = text.len().min(from.saturating_add(LONGEST));
    while at < most {
        let goes_on = at > 0 && bytes.get(at - 1) == Some(&b'\\');
        match bytes.get(at) {
            Some(b'\n') if !goes_on => break,
            Some(b';' | b'|') => break,
            _ => at += 1,
        }
    }
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        passwords(text)
            .into_iter()
            .map(|range| &text[range])
            .collect()
    }

    #[test]
    fn passwords_of_curl_are_found_however_they_are_given() {
        for text in [
            "curl -u jane:Kettle9 https://h",
            "curl -sSu jane:Kettle9 https://h",
            "curl -ujane:Kettle9 https://h",
            "curl https://h --user jane:Kettle9",
            "curl --user=jane:Kettle9 h",
            "curl -X GET \\\n  --user 'jane:Kettle9' h",
            "curl --proxy-user \"jane:Kettle9\" h",
            "a && /usr/bin/curl -U jane:Kettle9 h; ls",
            "sh -c \\\"curl -u \\\"jane:Kettle9\\\" h",
        ] {
            assert_eq!(found(text), ["Kettle9"], "{text}");
        }
    }

    #[test]
    fn other_commands_and_users_without_a_password_have_none() {
        for text in [
            "docker run --user 1000:1000 x",
            "curl -u jane https://h:80/x",
            "curl -o out:put x",
            "curl x\nsudo -u jane:x",
            "curl -A 'x' https://h",
            "the curl of u: v",
        ] {
            assert!(found(text).is_empty(), "{text} {:?}", found(text));
        }
    }
}
