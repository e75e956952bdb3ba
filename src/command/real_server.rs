//! The flags about a real server over HTTP, which `record` and `serve` share.

use crate::transport::http::{Upstream, UpstreamOptions};
use std::path::PathBuf;

pub(crate) use crate::transport::http::Hidden;

/// What was given on the command line.
#[derive(Clone, Debug, Default)]
pub(crate) struct ServerFlags {
    pub(crate) url: Option<Hidden>,
    /// For the server alone: `Name: value`.
    pub(crate) headers: Vec<Hidden>,
    pub(crate) ca_file: Option<PathBuf>,
    pub(crate) proxy: Option<Hidden>,
}

impl ServerFlags {
    /// The flags that were given and mean nothing without `--url`.
    pub(crate) fn beside_url(&self) -> Vec<&'static str> {
        let flags = [
            ("--header", !self.headers.is_empty()),
            ("--ca-file", self.ca_file.is_some()),
            ("--proxy", self.proxy.is_some()),
        ];
        let given = flags.into_iter().filter(|(_, given)| *given);
        given.map(|(name, _)| name).collect()
    }

    /// The way to the server, if there is one. Nothing is connected so far.
    pub(super) fn upstream(&self) -> Result<Option<Upstream>, String> {
        let Some(url) = &self.url else {
            return Ok(None);
        };
        let options = UpstreamOptions {
            url: url.clone(),
            headers: self.headers.clone(),
            ca_file: self.ca_file.clone(),
            proxy: self.proxy.clone(),
        };
        let upstream = Upstream::new(&options).map_err(|error| error.to_string())?;
        Ok(Some(upstream))
    }
}
