//! Why a live request has no answer: the nearest recorded one, and where the two differ.

use super::key::string_of;
use crate::secrets::conceal;
use crate::wire::compact::readable;
use crate::wire::json::{Kind, Scanner, Span, decode};
use crate::wire::node::{Data, Node};
use std::borrow::Cow;
use std::fmt::Write as _;

/// How many recorded requests a live one is compared with.
const MOST_COMPARED: usize = 200;
/// How many differences are told.
const MOST_TOLD: usize = 3;
/// How much of a value is told, in characters.
const LONGEST_VALUE: usize = 60;
/// How much of the parameters is told, in characters.
const LONGEST_PARAMS: usize = 200;

/// Parameters of a recorded request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate<'a> {
    pub(crate) text: &'a str,
    pub(crate) params: Option<Span>,
}

/// The parameters of a request for people: on one line, cut, without secrets.
pub(crate) fn shown_params(text: &str, params: Option<Span>) -> String {
    let Some(params) = params else {
        return "{}".to_owned();
    };
    let mut out = String::new();
    let mut scanner = Scanner::over(text, params);
    let mut ended = false;
    // The name that the value which comes now stands under.
    let mut name = Cow::Borrowed("");
    while let Ok(Some(token)) = scanner.next_token() {
        if out.len() > LONGEST_PARAMS * 4 + conceal::SEARCHED {
            break;
        }
        let closes = matches!(token.kind, Kind::EndObject | Kind::EndArray);
        let opens = matches!(token.kind, Kind::BeginObject | Kind::BeginArray);
        if ended && !closes {
            out.push(',');
        }
        match token.kind {
            Kind::Key => {
                name = decode(token.inner().of(text));
                out.push_str(&readable(text, token.span));
                out.push(':');
            }
            _ if opens || closes => out.push_str(token.span.of(text)),
            _ => out.push_str(&conceal::of_name(&name, readable(text, token.span))),
        }
        ended = !opens && token.kind != Kind::Key;
    }
    conceal::beginning(&out, LONGEST_PARAMS)
}

/// What is nearest among recorded requests of the same method, in words; empty if there is none.
pub(crate) fn explain<'a>(
    live: Candidate<'_>,
    recorded: impl Iterator<Item = Candidate<'a>>,
) -> String {
    let Some(live) = Side::read(live) else {
        return String::new();
    };
    let mut nearest: Option<Differences> = None;
    let mut names = Vec::new();
    let mut same_name = live.name().is_none();
    for candidate in recorded.take(MOST_COMPARED) {
        let Some(recorded) = Side::read(candidate) else {
            continue;
        };
        if live.name().is_some() {
            if live.name() == recorded.name() {
                same_name = true;
            } else if let Some(name) = recorded.name()
                && !names.contains(&name)
            {
                names.push(name);
            }
        }
        let differences = Differences::between(&recorded, &live);
        if nearest
            .as_ref()
            .is_none_or(|best| differences.count < best.count)
        {
            nearest = Some(differences);
        }
    }
    let mut told = String::new();
    if !same_name && !names.is_empty() {
        names.truncate(10);
        let names: Vec<_> = names.iter().map(|name| conceal::name(name)).collect();
        // Writing to a string cannot fail.
        let _ = write!(told, "recorded with the names {}", names.join(", "));
    }
    if let Some(nearest) = nearest.filter(|nearest| nearest.count > 0) {
        if !told.is_empty() {
            told.push_str("; ");
        }
        let _ = write!(told, "nearest recorded: {}", nearest.told.join("; "));
        let more = nearest.count - nearest.told.len();
        if more > 0 {
            let _ = write!(told, "; and {more} more");
        }
    }
    told
}

/// One of the two requests that are compared.
struct Side<'a> {
    text: &'a str,
    params: Option<Node>,
}

impl<'a> Side<'a> {
    /// `None` for parameters that are nested too deeply to be compared.
    fn read(candidate: Candidate<'a>) -> Option<Side<'a>> {
        let params = match candidate.params {
            Some(params) => Some(Node::read(candidate.text, params).ok()?),
            None => None,
        };
        Some(Side {
            text: candidate.text,
            params,
        })
    }

    /// What the request is about: the tool or prompt, or the resource.
    fn name(&self) -> Option<String> {
        let params = self.params.as_ref()?;
        let node = params.member("name").or_else(|| params.member("uri"))?;
        string_of(node.span.of(self.text)).map(std::borrow::Cow::into_owned)
    }

    fn shown(&self, node: &Node, path: &str) -> String {
        let text = readable(self.text, node.span);
        let shown = conceal::beginning(&text, LONGEST_VALUE);
        // The value is told with the name that it has, which may promise a secret.
        let name = path.rsplit('/').next().unwrap_or_default();
        conceal::of_name(name, shown)
    }
}

struct Differences {
    count: usize,
    told: Vec<String>,
}

impl Differences {
    fn between(recorded: &Side<'_>, live: &Side<'_>) -> Differences {
        let mut found = Differences {
            count: 0,
            told: Vec::new(),
        };
        let sides = (recorded, live);
        found.compare(
            "/params",
            recorded.params.as_ref(),
            live.params.as_ref(),
            sides,
        );
        found
    }

    /// Recursion is bounded by the depth limit of [`Node::read`].
    fn compare(
        &mut self,
        path: &str,
        old: Option<&Node>,
        new: Option<&Node>,
        sides: (&Side<'_>, &Side<'_>),
    ) {
        let empty: &[_] = &[];
        match (old.map(|node| &node.data), new.map(|node| &node.data)) {
            (Some(Data::Object(_)), Some(Data::Object(_)) | None)
            | (None, Some(Data::Object(_))) => {
                let old = old.map_or(empty, Node::members);
                let new_members = new.map_or(empty, Node::members);
                for member in old {
                    let name = member.name.show();
                    let other = new.and_then(|node| node.member(&name));
                    self.step(path, &name, Some(&member.value), other, sides);
                }
                for member in new_members {
                    let name = member.name.show();
                    if !old.iter().any(|old| old.name == member.name) {
                        self.step(path, &name, None, Some(&member.value), sides);
                    }
                }
            }
            (Some(Data::Array(old)), Some(Data::Array(new))) => {
                for at in 0..old.len().max(new.len()) {
                    self.step(path, &at.to_string(), old.get(at), new.get(at), sides);
                }
            }
            (Some(Data::Number(old)), Some(Data::Number(new))) if old == new => {}
            (Some(Data::Text(old)), Some(Data::Text(new))) if old == new => {}
            (Some(Data::Bool(old)), Some(Data::Bool(new))) if old == new => {}
            (Some(Data::Null), Some(Data::Null)) | (None, None) => {}
            _ => self.note(path, old, new, sides),
        }
    }

    fn step(
        &mut self,
        path: &str,
        name: &str,
        old: Option<&Node>,
        new: Option<&Node>,
        sides: (&Side<'_>, &Side<'_>),
    ) {
        if path == "/params" && name == crate::wire::mcp::name::META {
            return;
        }
        // Beyond what is told, places are only counted.
        let path = match self.told.len() < MOST_TOLD {
            true => format!("{path}/{}", name.replace('~', "~0").replace('/', "~1")),
            false => String::new(),
        };
        self.compare(&path, old, new, sides);
    }

    fn note(
        &mut self,
        path: &str,
        old: Option<&Node>,
        new: Option<&Node>,
        (recorded, live): (&Side<'_>, &Side<'_>),
    ) {
        self.count += 1;
        if self.told.len() >= MOST_TOLD {
            return;
        }
        let mut shown = path.to_owned();
        conceal::conceal_pointer(&mut shown);
        let shown = conceal::beginning(&shown, LONGEST_PARAMS);
        let value = |side: &Side<'_>, node: Option<&Node>| match node {
            Some(node) => side.shown(node, path),
            None => "nothing".to_owned(),
        };
        let (old, new) = (value(recorded, old), value(live, new));
        self.told
            .push(format!("{shown}: recorded {old}, got {new}"));
    }
}
