//! The names that the Model Context Protocol gives to methods and members, as
//! far as this project treats one of them specially. Everything else passes
//! through by whatever name it has.

/// Methods and notifications.
pub(crate) mod method {
    pub(crate) const INITIALIZE: &str = "initialize";
    pub(crate) const INITIALIZED: &str = "notifications/initialized";
    pub(crate) const DISCOVER: &str = "server/discover";
    pub(crate) const TOOLS_LIST: &str = "tools/list";
    pub(crate) const TOOLS_CALL: &str = "tools/call";
    pub(crate) const TOOLS_CHANGED: &str = "notifications/tools/list_changed";
    pub(crate) const PROMPTS_CHANGED: &str = "notifications/prompts/list_changed";
    pub(crate) const RESOURCES_CHANGED: &str = "notifications/resources/list_changed";
    pub(crate) const RESOURCE_UPDATED: &str = "notifications/resources/updated";
    pub(crate) const PROMPTS_LIST: &str = "prompts/list";
    pub(crate) const PROMPTS_GET: &str = "prompts/get";
    pub(crate) const RESOURCES_LIST: &str = "resources/list";
    pub(crate) const TEMPLATES_LIST: &str = "resources/templates/list";
    pub(crate) const RESOURCES_READ: &str = "resources/read";
    pub(crate) const COMPLETE: &str = "completion/complete";
    pub(crate) const TASKS_GET: &str = "tasks/get";
    pub(crate) const LISTEN: &str = "subscriptions/listen";
    pub(crate) const PING: &str = "ping";
    pub(crate) const CANCELLED: &str = "notifications/cancelled";
    pub(crate) const PROGRESS: &str = "notifications/progress";
}

/// Members that refer to one request or one connection.
pub(crate) mod name {
    pub(crate) const META: &str = "_meta";
    pub(crate) const PROGRESS_TOKEN: &str = "progressToken";
    pub(crate) const REQUEST_ID: &str = "requestId";
    pub(crate) const PROTOCOL_VERSION: &str = "protocolVersion";
    /// In `_meta` of every request of the modern era.
    pub(crate) const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    /// In `_meta` of results of the modern era: the name and version of the server.
    pub(crate) const META_SERVER: &str = "io.modelcontextprotocol/serverInfo";
    /// In `_meta` of what belongs to a `subscriptions/listen`: the id of that request.
    pub(crate) const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
}

/// What a server can do, as its greeting names it: the methods that begin like this, and the
/// notifications that announce a member of it.
pub(crate) const CAPABILITIES: &[Capability] = &[
    Capability {
        name: "tools",
        methods: "tools/",
        members: &[(method::TOOLS_CHANGED, "listChanged")],
    },
    Capability {
        name: "prompts",
        methods: "prompts/",
        members: &[(method::PROMPTS_CHANGED, "listChanged")],
    },
    Capability {
        name: "resources",
        methods: "resources/",
        members: &[
            (method::RESOURCES_CHANGED, "listChanged"),
            (method::RESOURCE_UPDATED, "subscribe"),
        ],
    },
    Capability {
        name: "completions",
        methods: "completion/",
        members: &[],
    },
];

/// See [`CAPABILITIES`].
pub(crate) struct Capability {
    pub(crate) name: &'static str,
    pub(crate) methods: &'static str,
    pub(crate) members: &'static [(&'static str, &'static str)],
}

/// JSON-RPC error codes.
pub(crate) mod code {
    pub(crate) const PARSE_ERROR: i64 = -32_700;
    pub(crate) const INVALID_REQUEST: i64 = -32_600;
    pub(crate) const METHOD_NOT_FOUND: i64 = -32_601;
    pub(crate) const INTERNAL_ERROR: i64 = -32_603;
    /// What servers of the older era say of a request that they cannot take.
    pub(crate) const BAD_REQUEST: i64 = -32_000;
    /// What they say of a session that they do not know.
    pub(crate) const SESSION_NOT_FOUND: i64 = -32_001;
    /// Of the modern era: headers that do not say what the body says.
    pub(crate) const HEADER_MISMATCH: i64 = -32_020;
    /// Of the modern era; its data names the supported versions.
    pub(crate) const UNSUPPORTED_VERSION: i64 = -32_022;
    /// Ours: the recording has no answer.
    pub(crate) const NOT_RECORDED: i64 = -32_001;
}

/// Members of the parameters that differ from one run of a client to the next although it asks
/// the same: the method (any without one) and the path below `params`. `_meta` is one more, and
/// the user can name some of it that count.
pub(crate) const VOLATILE: &[(Option<&str>, &[&str])] = &[
    (Some(method::INITIALIZE), &["clientInfo"]),
    (Some(method::INITIALIZE), &["capabilities"]),
    (None, &["requestState"]),
    (None, &["task", "ttl"]),
];

/// Whether real clients ask this as often as they like, so that a recording cannot know how often.
pub(crate) fn is_asked_at_will(method: &str) -> bool {
    method.ends_with("/list")
        || [
            method::RESOURCES_READ,
            method::PROMPTS_GET,
            method::COMPLETE,
            method::TASKS_GET,
            method::PING,
        ]
        .contains(&method)
}

/// The one revision of the protocol that has batches.
pub(crate) const BATCH_REVISION: &str = "2025-03-26";

/// The first revision without `initialize` and without requests from the server.
pub(crate) const MODERN_REVISION: &str = "2026-07-28";

/// The objects of the protocol in which a member decides what a server is or said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Message,
    Result,
    Tool,
    Annotations,
    Prompt,
    /// An argument of a prompt.
    Argument,
    /// A resource or a template.
    Resource,
}

impl Level {
    fn members(self) -> &'static [&'static str] {
        match self {
            Level::Message => &["jsonrpc", "id", "method", "params", "result", "error"],
            Level::Result => &[
                "tools",
                "prompts",
                "resources",
                "resourceTemplates",
                "nextCursor",
                "instructions",
                "serverInfo",
                "capabilities",
                "protocolVersion",
            ],
            Level::Tool => &[
                "name",
                "title",
                "description",
                "inputSchema",
                "outputSchema",
                "annotations",
            ],
            Level::Annotations => &[
                "title",
                "readOnlyHint",
                "destructiveHint",
                "idempotentHint",
                "openWorldHint",
            ],
            Level::Argument => &["name", "title", "description", "required"],
            Level::Prompt => &["name", "title", "description", "arguments"],
            Level::Resource => &[
                "name",
                "title",
                "description",
                "uri",
                "uriTemplate",
                "mimeType",
            ],
        }
    }

    /// Whether the protocol gives an object of this level a member of that name.
    pub(crate) fn has(self, name: &str) -> bool {
        self.members().contains(&name)
    }

    /// The member of the protocol that `name` is but for the case of letters. Some
    /// libraries (Go's `encoding/json`, .NET with its web defaults) take one for the
    /// other, some do not.
    pub(crate) fn variant(self, name: &str) -> Option<&'static str> {
        let folded;
        let name_in_ascii = if name.is_ascii() {
            name
        } else {
            // The two characters outside ASCII that fold to a letter of it.
            folded = name.replace('\u{17f}', "s").replace('\u{212a}', "k");
            &folded
        };
        let mut members = self.members().iter();
        members
            .find(|member| member.eq_ignore_ascii_case(name_in_ascii))
            .filter(|member| **member != name)
            .copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_in_another_case_is_told_from_one_of_the_protocol_and_from_others() {
        for (level, name, expected) in [
            (Level::Message, "Result", Some("result")),
            (Level::Message, "re\u{17f}ult", Some("result")),
            (Level::Message, "result", None),
            (Level::Tool, "inputschema", Some("inputSchema")),
            (Level::Tool, "input_schema", None),
            (Level::Tool, "Result", None),
            (Level::Result, "\u{212a}ools", None),
        ] {
            assert_eq!(level.variant(name), expected, "{name}");
        }
    }
}
