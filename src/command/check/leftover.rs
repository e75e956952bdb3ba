//! What recordings that run, or were killed, have beside the cassettes.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// A note for each such file in the directories of these cassettes, in their order. None of them is
/// a cassette, so that nothing else would name it.
pub(super) fn notes<'p>(cassettes: impl Iterator<Item = &'p Path>) -> Vec<String> {
    let directories: BTreeSet<&Path> = cassettes.filter_map(Path::parent).collect();
    let mut files: BTreeSet<PathBuf> = BTreeSet::new();
    for directory in directories {
        let here = if directory.as_os_str().is_empty() {
            Path::new(".")
        } else {
            directory
        };
        // What cannot be listed was told where cassettes were looked for in it.
        let entries = std::fs::read_dir(here).into_iter().flatten().flatten();
        files.extend(entries.map(|entry| directory.join(entry.file_name())));
    }
    files.iter().filter_map(|file| note(file)).collect()
}

fn note(file: &Path) -> Option<String> {
    let shown = file.display();
    let of_cassette = Path::new(file.file_stem()?);
    if of_cassette.extension() != Some(OsStr::new("json")) {
        return None;
    }
    match file.extension()?.to_str()? {
        "partial" => Some(format!(
            "note: {shown} is not checked: a recording is running, or was killed and left it. \
             `mcp-cassette redact {shown} --to FILE` makes a cassette of it; otherwise remove it"
        )),
        "claim" => Some(format!(
            "note: {shown}: a recording is running, or was killed; then remove it, or let the next \
             recording take it over"
        )),
        _ => None,
    }
}
