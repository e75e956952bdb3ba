//! What can be typed about a real server over HTTP, besides its address.

use crate::command::{Hidden, ServerFlags};
use clap::Args;
use std::path::PathBuf;

#[derive(Args)]
pub(super) struct ServerArgs {
    /// A header for the server, which is never recorded (repeatable)
    #[arg(long = "header", value_name = "NAME: VALUE")]
    headers: Vec<String>,
    /// Also trust the certificates in this file
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
    /// Reach the server through this proxy
    #[arg(long, value_name = "URL")]
    proxy: Option<String>,
}

impl ServerArgs {
    pub(super) fn flags(self, url: Option<String>) -> ServerFlags {
        ServerFlags {
            url: url.map(Hidden),
            headers: self.headers.into_iter().map(Hidden).collect(),
            ca_file: self.ca_file,
            proxy: self.proxy.map(Hidden),
        }
    }
}
