//! Why redaction cannot run, in words that name what to do about it.

use crate::cassette::LoadError;
use crate::pattern::PackError;

/// Why a redactor could not be made, or a cassette could not be scrubbed or checked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RedactError {
    #[error(transparent)]
    Pack(#[from] Box<PackError>),
    #[error("redaction pack id '{id}' is loaded twice ({first} and {second})")]
    PackTwice {
        id: String,
        first: String,
        second: String,
    },
    #[error("--redact {locator}: {problem}")]
    Locator {
        locator: String,
        problem: &'static str,
    },
    #[error(
        "the redaction manifest names the pack '{id}' (sha256 {sha256}), which is neither given nor \
         at {path} nor bundled; pass the file with --pii-pack, restore it, or re-record"
    )]
    UnresolvedPack {
        id: String,
        sha256: String,
        path: String,
    },
    #[error(
        "the recording's pseudonyms are keyed (salt_mode '{mode}'); give the same salt with \
         --redact-salt-env or --redact-salt-file"
    )]
    MissingSalt { mode: String },
    #[error(
        "the cassette was scrubbed with {found} pseudonyms and would now get {wanted} ones, which \
         would no longer match each other; {fix}"
    )]
    SaltDiffers {
        found: String,
        wanted: &'static str,
        fix: &'static str,
    },
    #[error("too many member names hold secrets or personal data to report them")]
    TooManyNames,
    #[error("the salt is empty")]
    EmptySalt,
    #[error("the redaction manifest is damaged: {what}")]
    Manifest { what: &'static str },
    #[error("the scrubbed text would no longer be a cassette: {0}")]
    Broken(#[from] Box<LoadError>),
}

impl From<PackError> for RedactError {
    fn from(error: PackError) -> Self {
        RedactError::Pack(Box::new(error))
    }
}
