//! The flags that say what to redact, which `redact` and `record` share, and the files
//! that they name.

use super::Context;
use crate::redact::{Rules, Salt};
use crate::regular_file::{self, LARGEST_BY_HAND};
use std::path::{Path, PathBuf};

/// What was given on the command line.
#[derive(Clone, Debug, Default)]
pub(crate) struct RuleFlags {
    /// `LOCATOR[=REPLACEMENT]`.
    pub(crate) redact: Vec<String>,
    pub(crate) no_defaults: bool,
    pub(crate) packs: Vec<PathBuf>,
    pub(crate) profile: Option<String>,
    pub(crate) salt_env: bool,
    pub(crate) salt_file: Option<PathBuf>,
}

impl RuleFlags {
    /// Reads the files that the flags name.
    pub(crate) fn rules(&self, context: &Context) -> Result<Rules, String> {
        Ok(Rules {
            redact: self.redact.clone(),
            defaults: !self.no_defaults,
            packs: packs(&self.packs)?,
            profile: self.profile.clone(),
            salt: self.salt(context)?,
        })
    }

    /// The salt that is asked for, or the one that everybody has.
    pub(super) fn salt(&self, context: &Context) -> Result<Salt, String> {
        if let Some(path) = &self.salt_file {
            let mut bytes = read(path)
                .map_err(|error| format!("--redact-salt-file {}: {error}", path.display()))?;
            while bytes
                .last()
                .is_some_and(|byte| matches!(byte, b'\n' | b'\r'))
            {
                bytes.pop();
            }
            return Ok(Salt::keyed(bytes, "file"));
        }
        if !self.salt_env {
            return Ok(Salt::stable());
        }
        match &context.redact_salt {
            Some(salt) => Ok(Salt::keyed(salt.as_encoded_bytes().to_vec(), "env")),
            None => Err(
                "--redact-salt-env needs a salt in the variable MCP_CASSETTE_REDACT_SALT, which \
                 is not set"
                    .to_owned(),
            ),
        }
    }
}

/// The packs at these paths, each with its name.
pub(super) fn packs(paths: &[PathBuf]) -> Result<Vec<(String, Vec<u8>)>, String> {
    let read = |path: &PathBuf| {
        let name = path.display().to_string();
        match read(path) {
            Ok(bytes) => Ok((name, bytes)),
            Err(error) => Err(format!("redaction pack {name}: {error}")),
        }
    };
    paths.iter().map(read).collect()
}

/// The pack that a manifest says it was read from, if there is still such a file.
pub(super) fn recorded_pack(path: &str) -> Option<Vec<u8>> {
    read(Path::new(path)).ok()
}

/// A path out of a cassette may lead to a device.
fn read(path: &Path) -> Result<Vec<u8>, String> {
    regular_file::read(path, LARGEST_BY_HAND).map_err(|error| error.to_string())
}
