//! What a recording learns of the session for the members before its messages.

use super::payload::with_visible_characters;
use super::probe::Probe;
use crate::cassette::Transport;
use crate::cassette::write::{HeadText, head};
use crate::redact::Redactor;
use crate::wire::json::{Kind, Span, Value, member, nested, write_string};
use crate::wire::mcp::name;

/// The members before the messages, as JSON values.
#[derive(Debug)]
pub(super) struct Head {
    transport: Transport,
    recorded_at: String,
    redaction: String,
    server_url: Option<String>,
    session_id: Option<String>,
    protocol_version: Option<String>,
    server_info: Option<String>,
    /// Whether a handshake told the version, which then stands.
    greeted: bool,
    changed: bool,
}

impl Head {
    /// One that knows nothing of the session so far. `redaction` is the manifest, `server_url`
    /// a JSON string.
    pub(super) fn new(
        transport: Transport,
        recorded_at: &str,
        redaction: String,
        server_url: Option<String>,
    ) -> Head {
        Head {
            transport,
            recorded_at: quoted(recorded_at),
            redaction,
            server_url,
            session_id: None,
            protocol_version: None,
            server_info: None,
            greeted: false,
            changed: false,
        }
    }

    /// What stands in the file already does not change.
    pub(super) fn settle(&mut self) {
        self.greeted = true;
    }

    /// The text of the file up to the first message.
    pub(super) fn write(&self) -> String {
        let mut out = String::new();
        let text = HeadText {
            recorded_at: Some(&self.recorded_at),
            transport: self.transport,
            server_url: self.server_url.as_deref(),
            session_id: self.session_id.as_deref(),
            protocol_version: self.protocol_version.as_deref(),
            server_info: self.server_info.as_deref(),
            redaction: Some(&self.redaction),
        };
        head(&text, &mut out);
        out
    }

    /// Whether it has changed since this was last asked.
    pub(super) fn has_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    /// Takes the stand-in for the id of a session; the first one stands.
    pub(super) fn session(&mut self, stand_in: &str) {
        if self.session_id.is_none() {
            self.session_id = Some(quoted(stand_in));
            self.changed = true;
        }
    }

    /// Takes version and server from a result: of `initialize` if it `greets`, and otherwise
    /// of a request that said which `revision` it speaks.
    pub(super) fn learn(
        &mut self,
        text: &str,
        result: Span,
        greets: bool,
        revision: Option<String>,
    ) {
        if self.greeted {
            return;
        }
        let server = || member(text, result, "serverInfo");
        let (version, server) = if greets {
            let version = member(text, result, name::PROTOCOL_VERSION);
            let version = version.and_then(|version| string_token(text, version));
            (version, server())
        } else if revision.is_some() && self.server_info.is_none() {
            let modern = nested(text, result, &[name::META, name::META_SERVER]);
            (revision, modern.or_else(server))
        } else {
            return;
        };
        self.greeted = greets;
        let version = version.map(|version| with_visible_characters(&version).into_owned());
        let server = server.and_then(|server| server_info(text, server.span));
        if version.is_some() && version != self.protocol_version {
            self.protocol_version = version;
            self.changed = true;
        }
        if server.is_some() && server != self.server_info {
            self.server_info = server;
            self.changed = true;
        }
    }

    /// Takes what the head of a probe tells and this one does not.
    pub(super) fn take_over(&mut self, probe: &Probe) {
        let pairs = [
            (&mut self.protocol_version, probe.protocol_version()),
            (&mut self.server_info, probe.server_info()),
        ];
        for (own, told) in pairs {
            if let (None, Some(told)) = (&own, told) {
                *own = Some(told.to_owned());
                self.changed = true;
            }
        }
    }

    pub(super) fn scrub(&mut self, redactor: &Redactor) {
        if !self.changed {
            return;
        }
        if let Some(server) = &mut self.server_info
            && let Some(scrubbed) = redactor.head(server, "server_info").text
        {
            *server = scrubbed;
        }
    }
}

/// Name and version of a server, which are strings.
fn server_info(text: &str, span: Span) -> Option<String> {
    let string = |name| string_token(text, member(text, span, name)?);
    let (name, version) = (string("name"), string("version"));
    if name.is_none() && version.is_none() {
        return None;
    }
    let or_empty = |token: Option<String>| token.unwrap_or_else(|| "\"\"".to_owned());
    let (name, version) = (or_empty(name), or_empty(version));
    let json = format!("{{\"name\": {name}, \"version\": {version}}}");
    Some(with_visible_characters(&json).into_owned())
}

/// The token of a value that is a string.
pub(super) fn string_token(text: &str, value: Value) -> Option<String> {
    (value.kind == Kind::String).then(|| value.span.of(text).to_owned())
}

fn quoted(text: &str) -> String {
    let mut out = String::new();
    write_string(text, &mut out);
    out
}
