//! Values whose names are items before them: lists of headers, arguments of a command.

use super::markers::without_markers;
use super::names::undisguised;
use crate::secrets::{flag_name, words};
use std::borrow::Cow;

/// A name as rules compare it: without markers in it, and as a reader sees it.
pub(super) fn plain_name(name: &str) -> Cow<'_, str> {
    match without_markers(name) {
        Cow::Borrowed(name) => undisguised(name),
        Cow::Owned(name) => Cow::Owned(undisguised(&name).into_owned()),
    }
}

/// What an array is a list of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct List {
    /// It stands under a name that promises headers with their values.
    headers: bool,
    /// It is an item of another array, as `["Authorization", "…"]` is.
    inner: bool,
    /// Its first item is `curl`.
    curl: bool,
}

/// What the next item of an array is, by the one before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The value of that name, whatever it is.
    Value(String),
    /// The value of that header, if it is no name of another one.
    Header(String),
    /// `user:password`.
    UserAndPassword,
}

impl List {
    /// An array under that name. `inner` is whether it stands in an array itself.
    pub(super) fn under(name: &str, inner: bool) -> List {
        /// Names of lists that hold names only.
        const OTHERS: [&str; 10] = [
            "allow",
            "allowed",
            "expose",
            "exposed",
            "required",
            "names",
            "vary",
            "accept",
            "accepted",
            "forbidden",
        ];
        let words = words(&undisguised(name));
        let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
        List {
            headers: has(&["headers", "header", "rawheaders"]) && !has(&OTHERS),
            inner,
            curl: false,
        }
    }

    /// What comes after an item, which is the one at `index`.
    pub(super) fn after(&mut self, item: &str, index: usize) -> Option<Next> {
        if index == 0 {
            self.curl = is_curl(item);
        }
        if self.curl && matches!(item, "-u" | "--user" | "-U" | "--proxy-user") {
            return Some(Next::UserAndPassword);
        }
        if item.starts_with("--") {
            return flag_name(item).map(|flag| Next::Value(flag.to_owned()));
        }
        // Names stand at every other place.
        let named = self.headers || self.inner && index == 0 && is_header(item);
        (named && index.is_multiple_of(2)).then(|| Next::Header(item.to_owned()))
    }
}

/// `curl`, `/usr/bin/curl`, `curl.exe`.
fn is_curl(command: &str) -> bool {
    let name = command.rsplit(['/', '\\']).next().unwrap_or_default();
    matches!(name, "curl" | "curl.exe")
}

/// Whether an item is a header by itself, and no word of another list.
fn is_header(item: &str) -> bool {
    let plain = undisguised(item);
    let known = ["authorization", "cookie"];
    plain.contains('-') || known.iter().any(|name| plain.eq_ignore_ascii_case(name))
}

/// Whether the item after a header is the name of the next one: words of letters, the
/// first of them with a capital or all of them known.
pub(super) fn is_header_name(item: &str) -> bool {
    const KNOWN: [&str; 8] = [
        "accept",
        "content-type",
        "host",
        "origin",
        "user-agent",
        "cookie",
        "authorization",
        "referer",
    ];
    let capital = |part: &str| {
        let mut letters = part.chars();
        letters.next().is_some_and(|c| c.is_ascii_uppercase())
            && letters.all(|c| c.is_ascii_lowercase())
    };
    KNOWN.contains(&item.to_ascii_lowercase().as_str())
        || item.starts_with("x-") && item.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')
        || item.contains('-') && item.split('-').all(|part| capital(part) || part == "API")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_headers_are_told_from_values() {
        for name in [
            "Content-Type",
            "X-Api-Key",
            "Accept",
            "x-request-id",
            "cookie",
        ] {
            assert!(is_header_name(name), "{name}");
        }
        for value in [
            "Bearer abc",
            "hunter2",
            "Kettle-blue-92",
            "sid=abc",
            "Swordfish",
        ] {
            assert!(!is_header_name(value), "{value}");
        }
    }

    #[test]
    fn an_item_names_the_next_one_where_headers_or_arguments_stand() {
        let next = |name: &str, inner: bool, items: &[&str]| {
            let mut list = List::under(name, inner);
            let mut last = None;
            for (index, item) in items.iter().enumerate() {
                last = list.after(item, index);
            }
            last
        };
        let header = Some(Next::Header("Authorization".to_owned()));
        assert_eq!(next("rawHeaders", false, &["Authorization"]), header);
        assert_eq!(
            next("rawHeaders", false, &["Host", "h", "Authorization"]),
            header
        );
        assert_eq!(next("rawHeaders", false, &["Host", "Authorization"]), None);
        assert_eq!(next("", true, &["Authorization"]), header);
        assert_eq!(next("", true, &["password"]), None);
        assert_eq!(next("", false, &["Authorization"]), None);
        assert_eq!(next("allowedHeaders", false, &["Authorization"]), None);
        let pair = Some(Next::UserAndPassword);
        assert_eq!(next("args", false, &["/usr/bin/curl", "-s", "-u"]), pair);
        assert_eq!(
            next("args", false, &["docker", "--user"]),
            Some(Next::Value("user".to_owned()))
        );
        let value = Some(Next::Value("api-key".to_owned()));
        assert_eq!(next("args", false, &["x", "--api-key"]), value);
    }
}
