//! What the documents link to is there: files of this repository, and headings in them.

use crate::support::root;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

#[test]
fn documents_link_to_what_is_there() {
    let mut broken = Vec::new();
    let mut links = 0;
    for document in documents() {
        let text = std::fs::read_to_string(&document).expect("a document");
        let folder = document.parent().expect("it is in a folder");
        for target in targets(&text) {
            links += 1;
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let path = if file.is_empty() {
                document.clone()
            } else {
                folder.join(file)
            };
            if !path.exists() || !(heading.is_empty() || headings(&path).contains(heading)) {
                broken.push(format!("{}: {target}", document.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    assert!(links > 100, "only {links} links were found");
}

/// README, what is beside it, and everything below `docs`, `examples` and `dist`.
fn documents() -> Vec<PathBuf> {
    let mut documents = Vec::new();
    let mut folders = vec![root().to_owned()];
    folders.extend(
        ["docs", "docs/guide", "docs/rules", "examples", "dist"].map(|name| root().join(name)),
    );
    for folder in folders {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|extension| extension == "md") {
                documents.push(path);
            }
        }
    }
    documents
}

/// The targets of the links outside of blocks of code, but for those that lead elsewhere.
fn targets(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    let lines = text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        is_code ^= fence;
        !is_code && !fence
    });
    lines
        .flat_map(|line| line.split("](").skip(1))
        .filter_map(|rest| rest.split_once(')'))
        .map(|(target, _)| target)
        .filter(|target| !target.contains("://"))
}

/// The names that GitHub gives to the headings of a page.
fn headings(path: &Path) -> BTreeSet<String> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let titles = text.lines().filter(|line| line.starts_with('#'));
    titles
        .map(|line| {
            let title = line.trim_start_matches('#').trim().to_lowercase();
            let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
            title
                .chars()
                .filter(kept)
                .collect::<String>()
                .replace(' ', "-")
        })
        .collect()
}
