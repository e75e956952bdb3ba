//! The commands that the documents show do what they are shown to do.
//!
//! Each document is one session of a shell, in a folder of its own that has the `examples` of this
//! repository, with `mcp-cassette` and `demo_server` on its path. In its blocks
//!
//! - `console`: a line that begins with `$ ` is a command, and what follows up to the next one is its
//!   whole output; a last line `(exit code N)` stands for a code other than 0. `cargo run --release --`
//!   is the program. A command that ends in `&` stays, and what it says later is shown with what
//!   is run then.
//! - `sh`: commands without a shown output. They must succeed, but for [`NOT_RUN`].
//! - with a name after the language, as in `toml mcp-cassette.toml`: a file, which is written.
//!
//! The ports 8123 and 8124 stand for free ones, and a full commit id for any.
//! `UPDATE_FIXTURES=1` writes the output into the documents.
#![cfg(unix)]

use crate::support::root;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Lines of `sh` and `console` blocks that are not run here, and why.
const NOT_RUN: &[(&str, &str)] = &[
    ("git clone ", "needs a network"),
    ("cargo install ", "builds for minutes"),
    (".ci/figures", "measures for half an hour"),
    ("cargo test", "is what runs this"),
];

/// What every commit id is shown as.
const COMMIT: &str = "4f2c1d09e8b7a6f5d4c3b2a1908f7e6d5c4b3a29";
/// What free ports are shown as.
const PORTS: [&str; 2] = ["8123", "8124"];

fn documents() -> Vec<String> {
    let guide = std::fs::read_dir(root().join("docs/guide")).expect("the guide");
    let mut pages: Vec<String> = guide
        .map(|page| page.expect("a page").file_name())
        .map(|name| format!("docs/guide/{}", name.to_string_lossy()))
        .collect();
    pages.sort();
    let others = ["README.md", "examples/README.md", "docs/cli.md"];
    others.into_iter().map(str::to_owned).chain(pages).collect()
}

#[test]
fn documented_commands_print_what_is_shown() {
    let update = std::env::var_os("UPDATE_FIXTURES").is_some();
    let mut commands = 0;
    let mut problems: Vec<String> = Vec::new();
    let mut not_run = BTreeSet::new();
    for document in documents() {
        let path = root().join(&document);
        let text = std::fs::read_to_string(&path).expect("the document");
        let page = Page::read(&document, &text, &mut not_run);
        commands += page.commands();
        let expected = match page.played() {
            Ok(expected) => expected,
            Err(problem) => {
                problems.push(format!("{document}: {problem}"));
                continue;
            }
        };
        if update {
            std::fs::write(&path, &expected).expect("a writable document");
        }
        let shown = std::fs::read_to_string(&path).expect("the document");
        if shown != expected {
            let mut lines = shown.lines().zip(expected.lines());
            let (shown, is) = lines.find(|(shown, is)| shown != is).unwrap_or_default();
            problems.push(format!("{document} shows\n  {shown}\nand it is\n  {is}"));
        }
    }
    assert!(
        problems.is_empty(),
        "{}\nUPDATE_FIXTURES=1 writes what is printed",
        problems.join("\n\n")
    );
    assert!(commands >= 60, "only {commands} commands are shown");
    for (line, _) in NOT_RUN {
        assert!(not_run.contains(line), "no document says {line:?} any more");
    }
}

/// A document as lines that stay, and steps between them.
struct Page {
    parts: Vec<Part>,
}

enum Part {
    Line(String),
    /// A command with an output to show.
    Shown(String),
    /// Commands that only have to succeed.
    Silent(String),
    File {
        name: String,
        content: String,
    },
}

impl Page {
    fn read(document: &str, text: &str, not_run: &mut BTreeSet<&'static str>) -> Page {
        let mut parts = Vec::new();
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            parts.push(Part::Line(line.to_owned()));
            let Some(info) = line.trim_start().strip_prefix("```") else {
                continue;
            };
            let mut block = Vec::new();
            while let Some(line) = lines.next_if(|line| line.trim() != "```") {
                block.push(line.to_owned());
            }
            let end = lines.next().unwrap_or_default();
            match info.split_once(' ') {
                Some((_, name)) => {
                    let content = block.join("\n") + "\n";
                    let name = name.to_owned();
                    parts.extend(block.into_iter().map(Part::Line));
                    parts.push(Part::File { name, content });
                }
                None if info == "console" => console(&block, &mut parts, not_run),
                None if info == "sh" => {
                    let run: Vec<&str> = block
                        .iter()
                        .map(String::as_str)
                        .filter(|line| is_run(line, not_run))
                        .collect();
                    let run = run.join("\n");
                    parts.extend(block.into_iter().map(Part::Line));
                    parts.push(Part::Silent(run));
                }
                None => {
                    let shells = ["bash", "shell", "zsh"];
                    assert!(
                        !shells.contains(&info),
                        "{document}: write `sh`, not {info}"
                    );
                    parts.extend(block.into_iter().map(Part::Line));
                }
            }
            parts.push(Part::Line(end.to_owned()));
        }
        Page { parts }
    }

    fn commands(&self) -> usize {
        let runs = |part: &&Part| matches!(part, Part::Shown(_) | Part::Silent(_));
        self.parts.iter().filter(runs).count()
    }

    /// Runs every step in one shell and gives the document with what they printed.
    fn played(&self) -> Result<String, String> {
        let scratch = Scratch::new();
        let mut script = String::from(PRELUDE);
        for (step, part) in self.parts.iter().enumerate() {
            let command = match part {
                Part::Shown(command) => command.replace("cargo run --release -- ", "mcp-cassette "),
                Part::Silent(commands) => format!("set -e\n{commands}\nset +e"),
                Part::File { name, content } => {
                    let end = "END_OF_THE_FILE";
                    format!("cat > '{name}' <<'{end}'\n{content}{end}")
                }
                Part::Line(_) => continue,
            };
            let stays = command.ends_with('&');
            let begin = if stays { "begin_job" } else { "begin" };
            let _ = write!(script, "{begin} {step}\n{command}\nend {step}\n");
        }
        scratch.run(&script);
        let mut text = String::new();
        for (step, part) in self.parts.iter().enumerate() {
            match part {
                Part::Line(line) => {
                    let _ = writeln!(text, "{line}");
                }
                Part::Shown(command) => {
                    let output = scratch.output(step);
                    let _ = write!(text, "$ {command}\n{output}");
                    let code = scratch.code(step);
                    if code != "0" {
                        let _ = writeln!(text, "(exit code {code})");
                    }
                }
                Part::Silent(what) | Part::File { name: what, .. } => {
                    if scratch.code(step) != "0" {
                        return Err(format!("{what}\n{}", scratch.output(step)));
                    }
                }
            }
        }
        Ok(text)
    }
}

/// The commands of a `console` block; what was shown after each is left out.
fn console(block: &[String], parts: &mut Vec<Part>, not_run: &mut BTreeSet<&'static str>) {
    let mut is_shown = false;
    for line in block {
        match line.strip_prefix("$ ") {
            Some(command) if is_run(command, not_run) => {
                parts.push(Part::Shown(command.to_owned()));
                is_shown = true;
            }
            Some(_) => {
                parts.push(Part::Line(line.clone()));
                is_shown = false;
            }
            None if is_shown => {}
            None => parts.push(Part::Line(line.clone())),
        }
    }
}

fn is_run(line: &str, not_run: &mut BTreeSet<&'static str>) -> bool {
    let ours = line.starts_with("cargo run --release -- ");
    let found = NOT_RUN.iter().find(|(start, _)| line.starts_with(start));
    not_run.extend(found.map(|(start, _)| *start));
    ours || found.is_none()
}

/// What the steps are run with. The output of a step is in files named by its number, and what jobs
/// say is put to that of the step that runs then.
const PRELUDE: &str = r#"set -m
told=0
: > "$OUT/jobs"
exec 3>&1 4>&2
begin() { exec > "$OUT/$1.out" 2> "$OUT/$1.err"; }
begin_job() { exec >> "$OUT/jobs" 2>&1; spoken=$(grep -c 'http://' "$OUT/jobs"); }
end() {
  code=$?
  exec >&3 2>&4
  echo "$code" > "$OUT/$1.code"
  if [ -n "$!" ] && [ "$!" != "${last-}" ]; then
    last=$!
    until [ "$(grep -c 'http://' "$OUT/jobs")" -gt "$spoken" ] || ! kill -0 "$last"; do :; done
  fi
  tail -c "+$((told + 1))" "$OUT/jobs" > "$OUT/$1.job"
  told=$((told + $(wc -c < "$OUT/$1.job")))
}
"#;

/// The folders of one document.
struct Scratch {
    folder: tempfile::TempDir,
    ports: [String; 2],
}

impl Scratch {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["bin", "home", "out", "work"] {
            std::fs::create_dir(folder.path().join(name)).expect("a folder");
        }
        let program = Path::new(env!("CARGO_BIN_EXE_mcp-cassette"));
        let server = program.with_file_name("examples").join("demo_server");
        assert!(server.is_file(), "cargo builds the examples for tests");
        let link = |to: &Path, name: &str| {
            std::os::unix::fs::symlink(to, folder.path().join(name)).expect("a link");
        };
        link(program, "bin/mcp-cassette");
        link(&server, "bin/demo_server");
        let copied = Command::new("cp")
            .arg("-R")
            .arg(root().join("examples"))
            .arg(folder.path().join("work/examples"))
            .status();
        assert!(copied.expect("cp").success());
        // Both are held until both are known.
        let free = PORTS.map(|_| TcpListener::bind("127.0.0.1:0").expect("a port"));
        let ports = free.map(|port| port.local_addr().expect("an address").port().to_string());
        Scratch { folder, ports }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, script: &str) {
        let mut script = script.to_owned();
        for (shown, port) in PORTS.iter().zip(&self.ports) {
            script = script.replace(shown, port);
        }
        std::fs::write(
            self.path("script"),
            script + "kill $(jobs -p) 2> /dev/null\n",
        )
        .expect("a script");
        let path = std::env::var("PATH").expect("a path");
        let status = Command::new("bash")
            .arg(self.path("script"))
            .current_dir(self.path("work"))
            .env_clear()
            .env("PATH", format!("{}:{path}", self.path("bin").display()))
            .env("HOME", self.path("home"))
            .env("OUT", self.path("out"))
            .env("LC_ALL", "C.UTF-8")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_AUTHOR_NAME", "a")
            .env("GIT_AUTHOR_EMAIL", "a@example.com")
            .env("GIT_COMMITTER_NAME", "a")
            .env("GIT_COMMITTER_EMAIL", "a@example.com")
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .expect("bash");
        // The shell ends with the code of its last command; each step has been written down.
        assert!(status.code().is_some(), "{status}");
    }

    fn read(&self, step: usize, kind: &str) -> String {
        let path = self.path("out").join(format!("{step}.{kind}"));
        std::fs::read_to_string(path).unwrap_or_default()
    }

    fn code(&self, step: usize) -> String {
        self.read(step, "code").trim().to_owned()
    }

    /// What a step printed: its output, its errors, and what jobs said meanwhile.
    fn output(&self, step: usize) -> String {
        let mut output = ["out", "err", "job"]
            .map(|kind| self.read(step, kind))
            .concat();
        for (shown, port) in PORTS.iter().zip(&self.ports) {
            output = output.replace(&format!(":{port}"), &format!(":{shown}"));
        }
        let work = self.path("work").display().to_string();
        with_one_commit(&output.replace(&work, "/home/me/project"))
    }
}

/// Every full commit id as the same one.
fn with_one_commit(text: &str) -> String {
    let mut out = String::new();
    for word in text.split_inclusive(|c: char| !c.is_ascii_alphanumeric()) {
        let id = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        let is_commit = id.len() == COMMIT.len() && id.bytes().all(|b| b.is_ascii_hexdigit());
        if is_commit {
            out.push_str(COMMIT);
            out.push_str(&word[id.len()..]);
        } else {
            out.push_str(word);
        }
    }
    out
}
