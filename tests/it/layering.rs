//! The layers of the crate: a module uses the ones above it in the table that it
//! needs and none below, and crates with a price stay in their homes.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use syn::visit::Visit;

/// Each module with the modules that it may use.
const LAYERS: &[(&str, &[&str])] = &[
    ("blocks", &[]),
    ("needles", &["blocks"]),
    ("wire", &["blocks"]),
    ("finding", &[]),
    ("pattern", &[]),
    ("regular_file", &[]),
    ("secrets", &["blocks", "needles", "wire"]),
    ("cassette", &["wire", "finding", "regular_file", "secrets"]),
    (
        "redact",
        &["wire", "finding", "pattern", "secrets", "cassette"],
    ),
    ("matching", &["wire", "secrets"]),
    (
        "replay",
        &["wire", "secrets", "cassette", "redact", "matching"],
    ),
    ("record", &["wire", "regular_file", "cassette", "redact"]),
    ("diff", &["wire", "finding", "secrets", "cassette"]),
    (
        "lint",
        &[
            "blocks",
            "needles",
            "wire",
            "finding",
            "pattern",
            "regular_file",
            "secrets",
            "cassette",
            "redact",
            "diff",
        ],
    ),
    ("baseline", &["finding", "cassette"]),
    ("config", &["finding", "regular_file", "lint"]),
    ("report", &["finding", "cassette", "redact", "diff", "lint"]),
    ("transport", &["wire", "cassette", "replay", "record"]),
    ("session", &["record"]),
    (
        "command",
        &[
            "finding",
            "regular_file",
            "wire",
            "pattern",
            "secrets",
            "cassette",
            "redact",
            "diff",
            "lint",
            "baseline",
            "config",
            "report",
            "matching",
            "replay",
            "record",
            "transport",
        ],
    ),
    (
        "args",
        &[
            "finding", "matching", "record", "lint", "config", "report", "command",
        ],
    ),
];

/// Crates that only some files may name; a home that ends in `/` is all that is below it.
const CONFINED: &[(&str, &[&str])] = &[
    (
        "clap",
        &[
            "args.rs",
            "args/output.rs",
            "args/pages.rs",
            "args/real_server.rs",
            "args/record.rs",
            "args/redaction.rs",
            "args/refusal.rs",
            "args/serve.rs",
        ],
    ),
    ("clap_complete", &["args.rs", "args/pages.rs"]),
    ("clap_mangen", &["args/pages.rs"]),
    ("annotate_snippets", &["report/full.rs"]),
    ("fancy_regex", &["pattern/backtracking.rs"]),
    (
        "toml",
        &[
            "config/reader.rs",
            "pattern/table.rs",
            "lint/signals/language.rs",
            "lint/signals/vocabulary.rs",
            "redact/names.rs",
            "secrets/shapes.rs",
        ],
    ),
    (
        "git2",
        &[
            "baseline/git/index.rs",
            "baseline/git/mod.rs",
            "baseline/git/pairing.rs",
            "baseline/git/resolve.rs",
            "baseline/git/similar.rs",
            "baseline/git/tree.rs",
        ],
    ),
    (
        "tokio",
        &["session/mod.rs", "transport/signals.rs", "transport/http/"],
    ),
    ("hyper", &["transport/http/"]),
    ("hyper_util", &["transport/http/"]),
    ("hyper_rustls", &["transport/http/"]),
    ("rustls", &["transport/http/"]),
    ("rustls_native_certs", &["transport/http/"]),
    ("tower_service", &["transport/http/"]),
    ("http_body_util", &["transport/http/"]),
    ("async_compression", &["transport/http/"]),
    ("bytes", &["transport/http/"]),
];

#[test]
fn every_module_keeps_to_its_layer() {
    let violations: Vec<String> = sources()
        .iter()
        .flat_map(|file| file.violations())
        .collect();
    assert!(violations.is_empty(), "{}", violations.join("\n"));
}

#[test]
fn a_module_that_reaches_down_is_caught() {
    for (path, code, expected) in [
        (
            "wire/json.rs",
            "use crate::lint::Options;",
            "wire uses lint",
        ),
        (
            "cassette/view.rs",
            "fn f() { crate::report::text::render(); }",
            "cassette uses report",
        ),
        ("lint/run.rs", "use clap::Parser;", "names clap"),
        (
            "diff/mod.rs",
            "use crate::{config::Config, wire};",
            "diff uses config",
        ),
        ("novel/mod.rs", "fn f() {}", "is in no layer"),
    ] {
        let source = Source {
            path: PathBuf::from(path),
            file: syn::parse_str(code).expect("code"),
        };
        let found = source.violations().join("\n");
        assert!(found.contains(expected), "{path}: {found:?}");
    }
}

#[test]
fn every_module_is_in_the_table_and_every_row_has_a_module() {
    let modules: BTreeSet<String> = sources().iter().filter_map(Source::module).collect();
    let rows: BTreeSet<String> = LAYERS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(modules, rows);
}

struct Source {
    /// Below `src/`.
    path: PathBuf,
    file: syn::File,
}

impl Source {
    /// The top-level module; none for the crate roots, of which `fuzzing` is a third.
    fn module(&self) -> Option<String> {
        let first = self.path.iter().next()?.to_str()?;
        let name = first.trim_end_matches(".rs");
        (!["lib", "main", "fuzzing"].contains(&name)).then(|| name.to_owned())
    }

    fn violations(&self) -> Vec<String> {
        let mut uses = Uses::default();
        uses.visit_file(&self.file);
        let path = self.path.to_string_lossy().replace('\\', "/");
        let mut found = Vec::new();
        if let Some(module) = self.module() {
            match LAYERS.iter().find(|(name, _)| *name == module) {
                None => found.push(format!("src/{path} is in no layer")),
                Some((_, allowed)) => {
                    for used in &uses.modules {
                        let known = LAYERS.iter().any(|(name, _)| name == used);
                        if known && *used != module && !allowed.contains(&used.as_str()) {
                            found.push(format!("src/{path}: {module} uses {used}"));
                        }
                    }
                }
            }
        }
        for (name, homes) in CONFINED {
            let at_home =
                |home: &&str| path == *home || home.ends_with('/') && path.starts_with(home);
            if uses.crates.contains(*name) && !homes.iter().any(at_home) {
                found.push(format!("src/{path} names {name}"));
            }
        }
        found
    }
}

/// The paths that a file names: modules of this crate, and other crates.
#[derive(Default)]
struct Uses {
    modules: BTreeSet<String>,
    crates: BTreeSet<String>,
}

impl Uses {
    fn take(&mut self, path: &[String]) {
        match path {
            [first, second, ..] if first == "crate" || first == "mcp_cassette" => {
                self.modules.insert(second.clone());
            }
            [first, ..] => {
                self.crates.insert(first.clone());
            }
            [] => {}
        }
    }

    fn tree(&mut self, prefix: &[String], tree: &syn::UseTree) {
        match tree {
            syn::UseTree::Path(path) => {
                let longer = [prefix, &[path.ident.to_string()]].concat();
                self.tree(&longer, &path.tree);
            }
            syn::UseTree::Group(group) => {
                group.items.iter().for_each(|tree| self.tree(prefix, tree))
            }
            syn::UseTree::Name(name) => self.take(&[prefix, &[name.ident.to_string()]].concat()),
            syn::UseTree::Rename(name) => self.take(&[prefix, &[name.ident.to_string()]].concat()),
            syn::UseTree::Glob(_) => self.take(prefix),
        }
    }
}

impl<'ast> Visit<'ast> for Uses {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.tree(&[], &item.tree);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path
            .segments
            .iter()
            .map(|segment| segment.ident.to_string())
            .collect();
        if names.len() > 1 {
            self.take(&names);
        }
        syn::visit::visit_path(self, path);
    }
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    collect(&root, &root, &mut files);
    assert!(files.len() > 10, "found only {} sources", files.len());
    files
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<Source>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(root, &path, files);
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            let code = fs::read_to_string(&path).expect("a source");
            let file = syn::parse_file(&code)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            files.push(Source {
                path: path.strip_prefix(root).expect("below src").to_owned(),
                file,
            });
        }
    }
}
