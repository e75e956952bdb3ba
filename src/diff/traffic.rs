//! What two cassettes say apart from their surfaces: the head, how often each
//! method was used, and the order of the client's requests.

use super::surface::Recorded;
use super::{FieldChange, MethodCount, text};
use crate::cassette::Cassette;
use crate::cassette::model::{Sender, member_string};
use crate::cassette::view::{Paired, Role};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

/// Methods of one cassette, read from its payloads.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    numbers: HashMap<String, u32>,
    names: Vec<String>,
    counts: Vec<usize>,
    /// The client's requests, as indices into `names`.
    requests: Vec<u32>,
}

impl Traffic {
    /// Takes the next message of the file.
    pub(crate) fn take(&mut self, cassette: &Cassette, paired: &Paired) {
        let name = paired.envelope.method_name(&cassette.text);
        let name = name.unwrap_or(Cow::Borrowed(match paired.role {
            Role::Request => "<request>",
            Role::Notification => "<notification>",
            Role::Response => "<response>",
            Role::Unclassified => "<unclassified>",
            Role::Raw => "<raw>",
        }));
        let number = self.number(name);
        if let Some(count) = self.counts.get_mut(number as usize) {
            *count += 1;
        }
        let row = cassette.rows.get(paired.index as usize);
        if paired.role == Role::Request && row.is_some_and(|row| row.sender == Sender::Client) {
            self.requests.push(number);
        }
    }

    fn number(&mut self, name: Cow<'_, str>) -> u32 {
        if let Some(&number) = self.numbers.get(&*name) {
            return number;
        }
        let number = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        let name = name.into_owned();
        self.names.push(name.clone());
        self.counts.push(0);
        self.numbers.insert(name, number);
        number
    }

    fn count(&self, name: &str) -> usize {
        let number = self.numbers.get(name);
        let count = number.and_then(|&number| self.counts.get(number as usize));
        count.copied().unwrap_or(0)
    }

    fn sequence(&self) -> Vec<&str> {
        let name = |&number: &u32| self.names.get(number as usize).map_or("", String::as_str);
        self.requests.iter().map(name).collect()
    }
}

/// Methods that occur more or less often, in order of their names.
pub(crate) fn methods(old: &Traffic, new: &Traffic) -> Vec<MethodCount> {
    let names: BTreeSet<&String> = old.names.iter().chain(&new.names).collect();
    let counted = names.into_iter().map(|method| MethodCount {
        old_count: old.count(method),
        new_count: new.count(method),
        method: method.clone(),
    });
    counted
        .filter(|count| count.old_count != count.new_count)
        .collect()
}

/// The order of the client's requests as a unified diff.
pub(crate) fn sequence(old: &Traffic, new: &Traffic) -> Vec<String> {
    text::sequence(&old.sequence(), &new.sequence())
}

/// What the head and the greeting say of the server, where it differs. The recorded
/// greeting itself goes before what the head repeats of it.
pub(crate) fn metadata(old: &Recorded<'_>, new: &Recorded<'_>) -> Vec<FieldChange> {
    let own = |text: Option<Cow<'_, str>>| text.map(Cow::into_owned);
    let fields = |recorded: &Recorded<'_>| {
        let cassette = recorded.cassette;
        let (name, version) = cassette.server_info().unzip();
        let mut greetings = recorded.greetings.iter().rev();
        let info = greetings.find_map(|greeting| greeting.server_info);
        let said = |member| member_string(&cassette.text, info?, member);
        [
            Some(cassette.transport().as_str().to_owned()),
            own(cassette.protocol_version()),
            said("name").or(name),
            said("title"),
            said("version").or(version),
            said("description"),
            said("websiteUrl"),
            cassette.server_url().map(|url| host(&url).to_owned()),
        ]
    };
    const NAMES: [&str; 8] = [
        "transport",
        "protocol_version",
        "server_info.name",
        "server_info.title",
        "server_info.version",
        "server_info.description",
        "server_info.website_url",
        "server_host",
    ];
    let pairs = fields(old).into_iter().zip(fields(new));
    NAMES
        .iter()
        .zip(pairs)
        .filter(|(_, (old, new))| old != new)
        .map(|(field, (old, new))| FieldChange {
            field: (*field).to_owned(),
            old,
            new,
        })
        .collect()
}

/// Host and port of a URL. Paths, queries and user names can hold secrets and never show.
fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    authority.rsplit('@').next().unwrap_or_default()
}
