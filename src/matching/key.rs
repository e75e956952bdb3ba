//! The key of a request: method and parameters as values.
//!
//! Member order, white space and the spelling of numbers and strings do not count, the order of
//! array elements does. Containers are replaced by the hash of what they hold as soon as they
//! end, so that depth costs neither recursion nor copies of copies.

use crate::wire::json::{Kind, Scanner, Span, Token, decode, decode_bytes};
use crate::wire::mcp::{VOLATILE, name};
use crate::wire::node::Number;
use std::borrow::Cow;
use std::hash::{DefaultHasher, Hasher as _};

/// Equal for requests that ask the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Key(u128);

/// A pointer after `--ignore-param` that leads nowhere.
#[derive(Debug, thiserror::Error)]
#[error(
    "'{pointer}' is not a pointer to a parameter; write it as misses show it: /params/arguments/name"
)]
pub(crate) struct PointerError {
    pointer: String,
}

/// Computes keys. It keeps its buffers, because a start computes hundreds of thousands.
#[derive(Debug)]
pub(crate) struct Keyer {
    /// Paths below the parameters whose values do not count, with the method that this is about.
    ignored: Vec<(Option<String>, Vec<String>)>,
    /// The members of `_meta` that count.
    meta: Vec<String>,
    out: Vec<u8>,
    members: Vec<MemberAt>,
    frames: Vec<Frame>,
}

/// A member of an open object, in `out`.
#[derive(Clone, Copy, Debug)]
struct MemberAt {
    start: usize,
    name_end: usize,
}

#[derive(Debug)]
struct Frame {
    object: bool,
    /// Where its content begins in `out`.
    start: usize,
    /// Where its members begin in `members`.
    members: usize,
    /// The ignored paths that lead through here.
    paths: Vec<u16>,
    /// In an array: the elements so far.
    count: usize,
    /// It is the parameters' `_meta`.
    meta: bool,
}

impl Keyer {
    /// `ignored` are JSON pointers into a request, `meta` names of members of `_meta` that count.
    ///
    /// # Errors
    ///
    /// Something that is no pointer, or points at no parameter.
    pub(crate) fn new(ignored: &[String], meta: Vec<String>) -> Result<Keyer, PointerError> {
        let volatile = VOLATILE.iter().map(|(method, path)| {
            let path = path.iter().map(|&step| step.to_owned()).collect();
            (method.map(str::to_owned), path)
        });
        let mut ignored_paths: Vec<_> = volatile.collect();
        for pointer in ignored {
            let path = below_params(pointer).ok_or_else(|| PointerError {
                pointer: pointer.clone(),
            })?;
            ignored_paths.push((None, path));
        }
        Ok(Keyer {
            ignored: ignored_paths,
            meta,
            out: Vec::new(),
            members: Vec::new(),
            frames: Vec::new(),
        })
    }

    /// The key of a request whose parameters stand at `params` of `text`.
    pub(crate) fn key(&mut self, method: &str, text: &str, params: Option<Span>) -> Key {
        self.out.clear();
        self.members.clear();
        self.frames.clear();
        match params {
            Some(params) => self.params(method, text, params),
            None => self.push_digest(b'o', &[]),
        }
        let params = std::mem::take(&mut self.out);
        let mut whole = Digest::new();
        whole.part(method.as_bytes());
        whole.part(&params);
        self.out = params;
        Key(whole.finish())
    }

    fn params(&mut self, method: &str, text: &str, params: Span) {
        let mut scanner = Scanner::over(text, params);
        // What the tokenizer refuses is no request and was refused before.
        while let Ok(Some(token)) = scanner.next_token() {
            if self.token(method, text, token) {
                if scanner.value().is_err() {
                    return;
                }
                self.skipped();
            }
        }
    }

    /// Takes a token, and tells whether the value after it is to be skipped.
    fn token(&mut self, method: &str, text: &str, token: Token) -> bool {
        let mut start = self.out.len();
        match token.kind {
            Kind::Key => return self.member(text, token),
            Kind::BeginObject => self.begin(true, method),
            Kind::BeginArray => self.begin(false, method),
            Kind::EndObject => start = self.end_object(),
            Kind::EndArray => start = self.end_array(),
            Kind::String => self.push_string(text, token),
            Kind::Number => {
                self.out.push(b'n');
                Number::push_canonical(token.span.of(text), &mut self.out);
            }
            Kind::True => self.out.push(b't'),
            Kind::False => self.out.push(b'f'),
            Kind::Null => self.out.push(b'0'),
        }
        if !matches!(token.kind, Kind::BeginObject | Kind::BeginArray) {
            self.element_ended(start);
        }
        false
    }

    /// After a value that began at `start` of `out`. An element of an array that a path leads to
    /// is there, and what it is does not count.
    fn element_ended(&mut self, start: usize) {
        let depth = self.frames.len();
        let Some(frame) = self.frames.last_mut().filter(|frame| !frame.object) else {
            return;
        };
        if !frame.paths.is_empty() {
            let step = frame.count.to_string();
            let ends = frame.paths.iter().any(|&at| {
                let path = self.ignored.get(usize::from(at));
                path.is_some_and(|(_, path)| path.len() == depth && path.last() == Some(&step))
            });
            if ends {
                self.out.truncate(start);
                self.out.push(b'-');
            }
        }
        frame.count += 1;
    }

    /// A member that is skipped leaves nothing behind.
    fn skipped(&mut self) {
        if let Some(member) = self.members.pop() {
            self.out.truncate(member.start);
        }
    }

    fn begin(&mut self, object: bool, method: &str) {
        let (paths, meta) = match self.frames.last() {
            None => {
                let about = |of: &Option<String>| of.as_deref().is_none_or(|of| of == method);
                let paths = self.ignored.iter().enumerate();
                let paths = paths.filter(|(_, (of, _))| about(of));
                (
                    paths.filter_map(|(at, _)| u16::try_from(at).ok()).collect(),
                    false,
                )
            }
            Some(parent) => (self.paths_into(parent), self.is_meta(parent)),
        };
        self.frames.push(Frame {
            object,
            start: self.out.len(),
            members: self.members.len(),
            paths,
            count: 0,
            meta,
        });
    }

    /// The ignored paths that go on into the value which begins now.
    fn paths_into(&self, parent: &Frame) -> Vec<u16> {
        if parent.paths.is_empty() {
            return Vec::new();
        }
        let step = match parent.object {
            true => self.name_of_last(),
            false => Cow::Owned(parent.count.to_string().into_bytes()),
        };
        let depth = self.frames.len() - 1;
        let leads = |&&at: &&u16| self.step(at, depth).is_some_and(|s| s.as_bytes() == &*step);
        parent.paths.iter().filter(leads).copied().collect()
    }

    fn is_meta(&self, parent: &Frame) -> bool {
        self.frames.len() == 1 && parent.object && &*self.name_of_last() == name::META.as_bytes()
    }

    fn step(&self, path: u16, depth: usize) -> Option<&str> {
        let (_, path) = self.ignored.get(usize::from(path))?;
        path.get(depth).map(String::as_str)
    }

    /// The name of the member whose value comes now, as WTF-8.
    fn name_of_last(&self) -> Cow<'_, [u8]> {
        let last = self.members.last();
        let name = last.and_then(|member| self.out.get(member.start + 4..member.name_end));
        Cow::Borrowed(name.unwrap_or_default())
    }

    fn member(&mut self, text: &str, token: Token) -> bool {
        let start = self.out.len();
        self.push_text(text, token);
        self.members.push(MemberAt {
            start,
            name_end: self.out.len(),
        });
        let depth = self.frames.len() - 1;
        let Some(frame) = self.frames.last() else {
            return false;
        };
        if frame.paths.is_empty() && depth > 0 && !frame.meta {
            return false;
        }
        let name = self.name_of_last();
        if depth == 0 && self.meta.is_empty() && &*name == name::META.as_bytes() {
            return true;
        }
        if frame.meta {
            return !self.meta.iter().any(|wanted| wanted.as_bytes() == &*name);
        }
        frame.paths.iter().any(|&at| {
            let ends = self
                .ignored
                .get(usize::from(at))
                .is_some_and(|(_, path)| path.len() == depth + 1);
            ends && self.step(at, depth).is_some_and(|s| s.as_bytes() == &*name)
        })
    }

    /// Ends an object, and tells where it began.
    fn end_object(&mut self) -> usize {
        let Some(frame) = self.frames.pop() else {
            return 0;
        };
        let mut members = self
            .members
            .split_off(frame.members.min(self.members.len()));
        let end = self.out.len();
        let ends: Vec<usize> = members
            .iter()
            .skip(1)
            .map(|member| member.start)
            .chain([end])
            .collect();
        let mut whole: Vec<(&[u8], &[u8])> = members
            .drain(..)
            .zip(ends)
            .map(|(member, end)| {
                let part = |range| self.out.get(range).unwrap_or_default();
                (
                    part(member.start..member.name_end),
                    part(member.name_end..end),
                )
            })
            .collect();
        if self.frames.is_empty() {
            // Absent and empty arguments are the same to every server.
            let mut empty = vec![b'o'];
            empty.extend_from_slice(&Digest::new().finish().to_be_bytes());
            whole.retain(|(name, value)| {
                let name = name.get(4..).unwrap_or_default();
                *value != empty.as_slice() || name != b"arguments" && name != name::META.as_bytes()
            });
        }
        // Repeated members keep their order.
        whole.sort_by_key(|(name, _)| *name);
        let mut digest = Digest::new();
        for (name, value) in whole {
            digest.part(name);
            digest.part(value);
        }
        let digest = digest.finish();
        self.close(frame.start, b'o', digest)
    }

    fn end_array(&mut self) -> usize {
        let Some(frame) = self.frames.pop() else {
            return 0;
        };
        let mut digest = Digest::new();
        let content = self.out.get(frame.start..).unwrap_or_default();
        if !content.is_empty() {
            digest.part(content);
        }
        let digest = digest.finish();
        self.close(frame.start, b'a', digest)
    }

    fn close(&mut self, start: usize, tag: u8, digest: u128) -> usize {
        self.out.truncate(start);
        self.out.push(tag);
        self.out.extend_from_slice(&digest.to_be_bytes());
        start
    }

    fn push_digest(&mut self, tag: u8, parts: &[&[u8]]) {
        let mut digest = Digest::new();
        parts.iter().for_each(|part| digest.part(part));
        self.out.push(tag);
        self.out.extend_from_slice(&digest.finish().to_be_bytes());
    }

    fn push_string(&mut self, text: &str, token: Token) {
        self.out.push(b's');
        self.push_text(text, token);
    }

    /// A string with its length in front.
    fn push_text(&mut self, text: &str, token: Token) {
        let raw = token.inner().of(text);
        let bytes = match token.escaped {
            true => Cow::Owned(decode_bytes(raw)),
            false => Cow::Borrowed(raw.as_bytes()),
        };
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        self.out.extend_from_slice(&length.to_be_bytes());
        self.out.extend_from_slice(&bytes);
    }
}

/// Two differently seeded hashes of the standard library as one of 128 bits.
struct Digest {
    one: DefaultHasher,
    other: DefaultHasher,
}

impl Digest {
    fn new() -> Digest {
        let mut other = DefaultHasher::new();
        other.write_u8(0xa5);
        Digest {
            one: DefaultHasher::new(),
            other,
        }
    }

    fn part(&mut self, bytes: &[u8]) {
        for hasher in [&mut self.one, &mut self.other] {
            hasher.write_usize(bytes.len());
            hasher.write(bytes);
        }
    }

    fn finish(&self) -> u128 {
        u128::from(self.one.finish()) << 64 | u128::from(self.other.finish())
    }
}

/// The steps of a pointer below `params`. `/params/…` counts from the request, as misses show it,
/// anything else from the parameters.
fn below_params(pointer: &str) -> Option<Vec<String>> {
    let rest = pointer.strip_prefix("/params/");
    let rest = rest.or_else(|| pointer.strip_prefix('/'))?;
    if rest.is_empty() || rest == "params" {
        return None;
    }
    let unescape = |step: &str| step.replace("~1", "/").replace("~0", "~");
    Some(rest.split('/').map(unescape).collect())
}

/// A string token as the text that it spells.
pub(super) fn string_of(token: &str) -> Option<Cow<'_, str>> {
    let inner = token.strip_prefix('"')?.strip_suffix('"')?;
    Some(decode(inner))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    fn key_with(keyer: &mut Keyer, params: &str) -> Key {
        keyer.key("m", params, Some(Span::new(0, params.len())))
    }

    fn keyer(ignored: &[&str], meta: &[&str]) -> Keyer {
        let owned = |list: &[&str]| list.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
        Keyer::new(&owned(ignored), owned(meta)).expect("pointers")
    }

    fn key(params: &str) -> Key {
        key_with(&mut keyer(&[], &[]), params)
    }

    #[test]
    fn equal_values_have_one_key_and_others_have_not() {
        for (one, other, equal) in [
            (
                r#"{"a":1,"b":[1,2]}"#,
                r#"{ "b" : [1.0, 2e0],"a":10e-1 }"#,
                true,
            ),
            (r#"{"b":[1,2]}"#, r#"{"b":[2,1]}"#, false),
            (r#"{"a":"\u00e9\ud83d"}"#, "{\"a\":\"\u{e9}\\ud83d\"}", true),
            (r#"{"a":"1"}"#, r#"{"a":1}"#, false),
            (r#"{"a":null}"#, "{}", false),
            (r#"{"a":{"a":{}}}"#, r#"{"a":{"a":[]}}"#, false),
            (r#"{"a":1,"a":2}"#, r#"{"a":2,"a":1}"#, false),
            (r#"{"a":["b","c"]}"#, r#"{"a":["bc"]}"#, false),
            (
                r#"{"a":9007199254740993}"#,
                r#"{"a":9007199254740992}"#,
                false,
            ),
            (r#"{"a":-0}"#, r#"{"a":0.0}"#, true),
            (r#"{"a":1e400}"#, r#"{"a":10e399}"#, true),
            (r#"{"name":"t","arguments":{}}"#, r#"{"name":"t"}"#, true),
            (r#"{"name":"t","arguments":[]}"#, r#"{"name":"t"}"#, false),
            (r#"{"a":{"arguments":{}}}"#, r#"{"a":{}}"#, false),
            (r#"{"_meta":{"x":1},"a":2}"#, r#"{"a":2}"#, true),
            (r#"{"a":{"_meta":1}}"#, r#"{"a":{}}"#, false),
            (r#"{"task":{"ttl":5,"x":1}}"#, r#"{"task":{"x":1}}"#, true),
            (r#"{"x":{"task":{"ttl":5}}}"#, r#"{"x":{"task":{}}}"#, false),
        ] {
            assert_eq!(key(one) == key(other), equal, "{one} and {other}");
        }
        let absent = keyer(&[], &[]).key("m", "", None);
        assert_eq!(absent, key("{}"));
        assert_eq!(absent, key(r#"{"_meta":{"progressToken":1}}"#));
        assert_ne!(absent, keyer(&[], &[]).key("other", "", None));
    }

    #[test]
    fn ignored_pointers_lead_through_objects_and_arrays() {
        for (pointer, one, other, equal) in [
            (
                "/params/a/b",
                r#"{"a":{"b":1,"c":2}}"#,
                r#"{"a":{"b":[9],"c":2}}"#,
                true,
            ),
            (
                "/params/a/b",
                r#"{"a":{"b":1,"c":2}}"#,
                r#"{"a":{"c":2}}"#,
                true,
            ),
            (
                "/params/a/b",
                r#"{"a":{"b":1,"c":2}}"#,
                r#"{"a":{"b":1,"c":3}}"#,
                false,
            ),
            ("/a/1", r#"{"a":[1,2,3]}"#, r#"{"a":[1,{"x":[]},3]}"#, true),
            ("/a/1", r#"{"a":[1,2,3]}"#, r#"{"a":[1,3]}"#, false),
            (
                "/a/1/b",
                r#"{"a":[1,{"b":2}]}"#,
                r#"{"a":[1,{"b":3}]}"#,
                true,
            ),
            (
                "/a/1/b",
                r#"{"a":[{"b":2},1]}"#,
                r#"{"a":[{"b":3},1]}"#,
                false,
            ),
            ("/a~1b/c~0d", r#"{"a/b":{"c~d":1}}"#, r#"{"a/b":{}}"#, true),
            ("/arguments/x", r#"{"arguments":{"x":1}}"#, "{}", true),
        ] {
            let mut keyer = keyer(&[pointer], &[]);
            let keys = [one, other].map(|params| key_with(&mut keyer, params));
            assert_eq!(keys[0] == keys[1], equal, "{pointer}: {one} and {other}");
        }
        for pointer in ["", "a", "/", "/params", "/params/"] {
            assert!(
                Keyer::new(&[pointer.to_owned()], Vec::new()).is_err(),
                "{pointer}"
            );
        }
    }

    #[test]
    fn named_members_of_meta_count_and_no_others() {
        let mut keyer = keyer(&[], &["vendor/x"]);
        let mut key = |params: &str| key_with(&mut keyer, params);
        let one = key(r#"{"_meta":{"vendor/x":{"a":1},"progressToken":1}}"#);
        assert_eq!(
            one,
            key(r#"{"_meta":{"progressToken":2,"vendor/x":{"a":1.0}}}"#)
        );
        assert_ne!(one, key(r#"{"_meta":{"vendor/x":{"a":2}}}"#));
        assert_eq!(key(r#"{"_meta":{"progressToken":2}}"#), key("{}"));
    }

    #[test]
    fn depth_costs_no_stack_and_no_square_of_time() {
        let deep = |inner: &str| {
            let open = r#"{"b":0,"a":"#.repeat(100_000);
            format!("{open}{inner}{}", "}".repeat(100_000))
        };
        assert_eq!(key(&deep("1")), key(&deep("1.0")));
        assert_ne!(key(&deep("1")), key(&deep("2")));
        let arrays = |n: usize| format!("{{\"a\":{}{}}}", "[".repeat(n), "]".repeat(n));
        assert_ne!(key(&arrays(100_000)), key(&arrays(99_999)));
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "[a-c]{0,2}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::btree_map("[a-d]", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    /// The same value with its members the other way round and white space between tokens.
    fn spread(value: &Value) -> String {
        match value {
            Value::Object(members) => {
                let members: Vec<String> = members
                    .iter()
                    .rev()
                    .map(|(name, value)| format!(" \"{name}\" :\n{}", spread(value)))
                    .collect();
                format!("{{{} }}", members.join(" ,"))
            }
            Value::Array(items) => {
                let items: Vec<String> = items.iter().map(spread).collect();
                format!("[ {}]", items.join(", "))
            }
            other => other.to_string(),
        }
    }

    proptest! {
        #[test]
        fn the_key_goes_by_value(one in json(), other in json()) {
            let (a, b) = (format!("{{\"x\":{one}}}"), format!("{{\"x\":{other}}}"));
            prop_assert_eq!(key(&a), key(&format!("{{\"x\":{}}}", spread(&one))));
            prop_assert_eq!(key(&a) == key(&b), one == other);
        }
    }
}
