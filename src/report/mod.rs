//! Reports. The renderers of `lint` and `diff` are written on another branch,
//! whose version of this folder replaces this file.

use crate::diff::Diff;
use crate::finding::{Report, Severity};
use std::borrow::Cow;

/// How a report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Full,
    Text,
    Json,
    Github,
}

/// How a report looks, and who reads it.
#[derive(Clone, Debug)]
pub(crate) struct Style {
    pub(crate) color: bool,
    pub(crate) width: usize,
    pub(crate) github_actions: bool,
    pub(crate) workspace: Option<String>,
    pub(crate) working_directory: Option<String>,
}

impl Default for Style {
    fn default() -> Self {
        Style {
            color: false,
            width: 100,
            github_actions: false,
            workspace: None,
            working_directory: None,
        }
    }
}

pub(crate) fn render_lint(_: Format, reports: &[Report], _: &Style, _: Severity) -> String {
    format!("{reports:#?}\n")
}

pub(crate) fn render_diff(_: Format, diff: &Diff, _: bool, _: &Style) -> String {
    format!("{diff:#?}\n")
}

pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::new();
    for c in text.chars() {
        match c {
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            c if c.is_control() => shown.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
            c => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

pub(crate) fn guard_runner(block: &str) -> String {
    use sha2::{Digest as _, Sha256};
    let hash = Sha256::digest(block.as_bytes());
    let token: String = hash.iter().take(16).map(|b| format!("{b:02x}")).collect();
    format!("::stop-commands::{token}\n{block}::{token}::\n")
}
