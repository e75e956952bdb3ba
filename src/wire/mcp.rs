//! The names that the Model Context Protocol gives to methods and members, as
//! far as this project treats one of them specially. Everything else passes
//! through by whatever name it has.

/// Methods and notifications.
pub(crate) mod method {
    pub(crate) const INITIALIZE: &str = "initialize";
    pub(crate) const DISCOVER: &str = "server/discover";
    pub(crate) const TOOLS_LIST: &str = "tools/list";
    pub(crate) const TOOLS_CALL: &str = "tools/call";
    pub(crate) const TOOLS_CHANGED: &str = "notifications/tools/list_changed";
    pub(crate) const PROMPTS_LIST: &str = "prompts/list";
    pub(crate) const PROMPTS_GET: &str = "prompts/get";
    pub(crate) const RESOURCES_LIST: &str = "resources/list";
    pub(crate) const TEMPLATES_LIST: &str = "resources/templates/list";
    pub(crate) const RESOURCES_READ: &str = "resources/read";
}

/// The first revision without `initialize` and without requests from the server.
pub(crate) const MODERN_REVISION: &str = "2026-07-28";
