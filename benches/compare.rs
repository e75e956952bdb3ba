//! Whole processes side by side: `cargo bench --bench compare [-- 1 10 100]`.
//!
//! The comparator is a process that reads the file and runs `serde_json`'s
//! `IgnoredAny` over it (a bare validation pass), and for cold starts a Rust
//! program that prints one line. Runs of all contestants are interleaved, so that
//! a slow minute of the machine hits them all; the figures are medians, and the
//! ratios of one run are what counts. With `MCP_CASSETTE_0_4_0` naming the
//! executable of the Python tool, it takes part at every size, with one run where that
//! takes seconds. `docs/performance.md` says what was seen.
#![expect(clippy::print_stdout, reason = "the table is what a benchmark is for")]
#![expect(clippy::expect_used, reason = "a benchmark that cannot run must stop")]

mod common;

use common::{Contestant, Language, cassette, measure, shown, table};
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [mode, path] = arguments.as_slice()
        && mode == "--validate"
    {
        return common::validate(Path::new(path));
    }
    let sizes: Vec<usize> = arguments
        .iter()
        .filter_map(|argument| argument.parse().ok())
        .collect();
    let sizes = if sizes.is_empty() {
        vec![1, 10, 100]
    } else {
        sizes
    };
    let bench = Bench::new();
    bench.cold_starts();
    for size in sizes {
        for language in [Language::English, Language::Russian, Language::Chinese] {
            bench.files(size, language);
        }
    }
}

struct Bench {
    folder: tempfile::TempDir,
    ours: PathBuf,
    hello: PathBuf,
    python: Option<PathBuf>,
}

impl Bench {
    fn new() -> Bench {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let source = folder.path().join("hello.rs");
        std::fs::write(&source, "fn main() { println!(\"hello\"); }").expect("a writable folder");
        let hello = folder.path().join("hello");
        let compiled = Command::new("rustc")
            .args(["-O", "-o"])
            .arg(&hello)
            .arg(&source)
            .status();
        assert!(compiled.expect("rustc runs").success());
        Bench {
            folder,
            ours: PathBuf::from(env!("CARGO_BIN_EXE_mcp-cassette")),
            hello,
            python: std::env::var_os("MCP_CASSETTE_0_4_0").map(PathBuf::from),
        }
    }

    fn cold_starts(&self) {
        let small = self.write("small.mcp.json", &cassette(60_000, Language::English));
        let mut contestants = vec![
            Contestant::new("hello world", vec![shown(&self.hello)]),
            Contestant::new("mcp-cassette --version", self.command(&["--version"])),
            Contestant::new(
                "mcp-cassette lint (60 KB)",
                self.command(&["lint", "--no-config", &small]),
            ),
            Contestant::new("validation (60 KB)", Self::validation(&small)),
        ];
        contestants.extend(self.python("0.4.0 lint (60 KB)", &["lint", "--no-config", &small]));
        table("Cold start", &contestants, &measure(&contestants, 41));
    }

    fn files(&self, megabytes: usize, language: Language) {
        let bytes = megabytes * 1_000_000;
        let old = self.write("old.mcp.json", &cassette(bytes, language));
        let changed = cassette(bytes, language).replacen("Adds", "Sums", 1);
        let new = self.write("new.mcp.json", &changed);
        let lint = ["lint", "--no-config", "--output", "text", &old];
        let diff = ["diff", "--tools-only", &old, &new];
        let mut contestants = vec![
            Contestant::new("validation", Self::validation(&old)),
            Contestant::new("mcp-cassette lint", self.command(&lint)),
            Contestant::new(
                "mcp-cassette diff --tools-only (two files)",
                self.command(&diff),
            ),
        ];
        let python = [
            self.python("0.4.0 lint", &["lint", "--no-config", &old]),
            self.python("0.4.0 diff --tools-only", &diff),
        ];
        contestants.extend(python.into_iter().flatten().map(|contestant| Contestant {
            slow: megabytes > 20,
            ..contestant
        }));
        let rounds = if megabytes > 20 { 5 } else { 11 };
        let title = format!("{megabytes} MB, {language:?}");
        table(&title, &contestants, &measure(&contestants, rounds));
    }

    /// The Python tool, if it takes part.
    fn python(&self, name: &'static str, arguments: &[&str]) -> Option<Contestant> {
        let mut command = vec![shown(self.python.as_deref()?)];
        command.extend(arguments.iter().map(|argument| (*argument).to_owned()));
        Some(Contestant::new(name, command))
    }

    fn command(&self, arguments: &[&str]) -> Vec<String> {
        let mut command = vec![shown(&self.ours)];
        command.extend(arguments.iter().map(|argument| (*argument).to_owned()));
        command
    }

    fn validation(path: &str) -> Vec<String> {
        let this = std::env::current_exe().expect("this program");
        vec![shown(&this), "--validate".into(), path.into()]
    }

    fn write(&self, name: &str, content: &str) -> String {
        let path = self.folder.path().join(name);
        std::fs::write(&path, content).expect("a writable folder");
        shown(&path)
    }
}
