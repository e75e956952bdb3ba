//! `initialize`: which recorded session begins, and what is not as it was; and `server/discover` on
//! a recording that has none.

use super::plan::{Era, NONE};
use super::render;
use super::replayer::{Once, Replayer};
use super::requests::Asked;
use crate::cassette::Sender;
use crate::cassette::model::string_value;
use crate::wire::json::{member, nested, write_string};
use crate::wire::lane::Lane;
use crate::wire::mcp::{CAPABILITIES, MODERN_REVISION, code, method, name};
use std::collections::BTreeSet;

impl Replayer {
    /// The n-th `initialize` begins the n-th recorded session, beyond the last one that again.
    pub(super) fn initialize(&mut self, asked: Asked<'_>) {
        let greeted = &self.plan.greeted;
        let at = (self.initialized as usize).min(greeted.len().saturating_sub(1));
        let session = greeted.get(at).copied().unwrap_or(0);
        let recorded = self.plan.sessions.get(session as usize);
        let Some(exchange) = recorded.and_then(|session| session.initialize) else {
            return match self.plan.era {
                Era::Modern => self.refuse_initialize(asked),
                Era::Legacy => {
                    if asked.lane != Lane::Stdio && self.upstreams.is_some() {
                        // The real server begins one.
                        self.speaking = self.new_session();
                        self.latest = Some(self.speaking);
                    }
                    self.miss(asked, "the recording has no `initialize`");
                }
            };
        };
        // A GET of 2024-11-05 has begun it already.
        if !self.plan.endpoints || asked.lane == Lane::Stdio {
            self.speaking = self.new_session();
        }
        self.latest = Some(self.speaking);
        self.expired = false;
        self.initialized += 1;
        let greets = self.plan.playlists.get(exchange as usize);
        let answer = greets.and_then(|greets| self.cassette.rows.get(greets.answer as usize));
        let text = &self.cassette.text;
        let succeeds = match answer {
            Some(row) => member(text, row.payload, "result").is_some(),
            // The session is named in the head, which the client may have been content with.
            None => greets.is_some_and(|greets| self.left_early(greets)),
        };
        if asked.lane != Lane::Stdio && succeeds && self.gives_ids() {
            self.name_session(self.speaking);
        }
        let version = self.compare_greetings(exchange, asked);
        if let Some(live) = self.live() {
            live.session = session;
            live.version = version;
            live.usage.begin_at(exchange + 1);
        }
        self.keep_greeting(exchange, asked);
        self.begin(exchange, asked, false);
    }

    /// Warns of what is not as it was, and gives the version that the session will have.
    fn compare_greetings(&mut self, exchange: u32, asked: Asked<'_>) -> Option<String> {
        let cassette = std::sync::Arc::clone(&self.cassette);
        let playlist = self.plan.playlists.get(exchange as usize).copied()?;
        let recorded = |row: u32, path: &[&str]| {
            let row = cassette.rows.get(row as usize)?;
            let value = nested(&cassette.text, row.payload, path)?;
            Some(value.span.of(&cassette.text))
        };
        let live = |name: &str| {
            let value = member(asked.text, asked.envelope.params?, name)?;
            Some((value.span, value.span.of(asked.text)))
        };
        let version = |token: Option<&str>| Some(string_value(token?)?.into_owned());
        let asked_then = version(recorded(
            playlist.begins,
            &["params", name::PROTOCOL_VERSION],
        ));
        let answered = version(recorded(
            playlist.answer,
            &["result", name::PROTOCOL_VERSION],
        ));
        let asks = version(live(name::PROTOCOL_VERSION).map(|(_, token)| token));
        if asks != asked_then && asks != answered && !self.rewrite_version {
            let shown = |version: &Option<String>| match version {
                Some(version) => crate::secrets::conceal::name(version).into_owned(),
                None => "no version".to_owned(),
            };
            if self.told.insert(Once::Version) {
                self.notices.push(format!(
                    "the client asks for protocol version {}, and the recording answers {}; \
                     --rewrite-protocol-version claims the client's",
                    shown(&asks),
                    shown(&answered)
                ));
            }
        }
        let row = cassette.rows.get(playlist.begins as usize);
        let then =
            row.and_then(|row| nested(&cassette.text, row.payload, &["params", "capabilities"]));
        let now = live("capabilities").map(|(span, _)| span);
        let then = self
            .keyer
            .key("", &cassette.text, then.map(|value| value.span));
        let now = self.keyer.key("", asked.text, now);
        if then != now && self.told.insert(Once::Capabilities) {
            self.notices.push(
                "the client's capabilities are not those of the recording, in which the server \
                 may have made use of others"
                    .to_owned(),
            );
        }
        if self.rewrite_version {
            asks.or(answered)
        } else {
            answered
        }
    }

    fn refuse_initialize(&mut self, asked: Asked<'_>) {
        let supported = self.cassette.protocol_version();
        let supported = supported.as_deref().unwrap_or(MODERN_REVISION);
        let mut data = String::from("{\"supported\":[");
        write_string(supported, &mut data);
        data.push(']');
        let version = asked
            .envelope
            .params
            .and_then(|params| member(asked.text, params, name::PROTOCOL_VERSION));
        if let Some(version) = version {
            data.push_str(",\"requested\":");
            data.push_str(version.span.of(asked.text));
        }
        data.push('}');
        let message = format!(
            "mcp-cassette: the recording has no `initialize`; it speaks protocol version {supported}"
        );
        let code = code::UNSUPPORTED_VERSION;
        let bytes = render::error(asked.id, code, &message, Some(&data));
        self.reply_as(400, asked, bytes);
    }

    /// Whether the recording has an answer to `server/discover`.
    pub(super) fn describes_itself(&self) -> bool {
        let answered = self.plan.playlists.iter();
        let mut answered = answered.filter(|playlist| playlist.answer != NONE);
        answered.any(|playlist| {
            let row = self.cassette.rows.get(playlist.begins as usize);
            row.is_some_and(|row| render::is_method(&self.cassette.text, row, method::DISCOVER))
        })
    }

    /// `server/discover` where the recorded client did not ask it, or left before the answer: some
    /// clients ask in a process of its own. The answer says what the recording shows.
    pub(super) fn describe(&mut self, asked: Asked<'_>) {
        let supported = self.cassette.protocol_version();
        let supported = supported.as_deref().unwrap_or(MODERN_REVISION);
        let mut result = String::from("{\"supportedVersions\":[");
        write_string(supported, &mut result);
        result.push_str("],\"capabilities\":");
        result.push_str(&self.shown_capabilities());
        result.push_str(",\"resultType\":\"complete\",\"ttlMs\":0,\"cacheScope\":\"private\"");
        if let Some((server, version)) = self.cassette.server_info() {
            result.push_str(",\"_meta\":{");
            write_string(name::META_SERVER, &mut result);
            result.push_str(":{\"name\":");
            write_string(&server, &mut result);
            result.push_str(",\"version\":");
            write_string(&version, &mut result);
            result.push_str("}}");
        }
        result.push('}');
        let bytes = render::result(asked.id, &result);
        self.reply(asked.lane, asked.batch, bytes);
    }

    /// What the server gave results for and told of, as JSON.
    fn shown_capabilities(&self) -> String {
        let text = &self.cassette.text;
        let rows = &self.cassette.rows;
        let method_of = |row: &crate::cassette::model::Row| {
            let method = member(text, row.payload, "method")?;
            string_value(method.span.of(text))
        };
        let answered = self.plan.playlists.iter().filter_map(|playlist| {
            let answer = rows.get(playlist.answer as usize)?;
            member(text, answer.payload, "result")?;
            method_of(rows.get(playlist.begins as usize)?)
        });
        let told = rows.iter().filter(|row| row.sender == Sender::Server);
        let shown: BTreeSet<_> = answered.chain(told.filter_map(method_of)).collect();
        let mut out = String::from("{");
        for capability in CAPABILITIES {
            let members = capability.members.iter();
            let members: Vec<String> = members
                .filter(|(method, _)| shown.contains(*method))
                .map(|(_, member)| format!("\"{member}\":true"))
                .collect();
            let gives = |method: &std::borrow::Cow<'_, str>| method.starts_with(capability.methods);
            if members.is_empty() && !shown.iter().any(gives) {
                continue;
            }
            let comma = if out.len() > 1 { "," } else { "" };
            let (name, members) = (capability.name, members.join(","));
            out.push_str(&format!("{comma}\"{name}\":{{{members}}}"));
        }
        out.push('}');
        out
    }
}
