//! Files that are no cassettes, or no longer: each is refused with its own message
//! and exit code 2, and never called clean.

use crate::support::{run, session, write};
use std::path::Path;

/// A cassette that lints clean.
fn clean() -> String {
    session(
        r#"[{"name": "echo", "description": "Returns the text.", "inputSchema": {"type": "object"}}]"#,
        &[],
    )
}

fn refused(path: &Path) -> String {
    let path = path.to_str().expect("a plain path");
    for command in [
        vec!["lint", "--no-config", path],
        vec!["inspect", path],
        vec!["diff", path, path],
    ] {
        let run = run(&command);
        assert_eq!(run.code, 2, "{command:?}: {}{}", run.stdout, run.stderr);
        assert!(
            !run.stdout.contains("clean") && !run.stdout.contains("identical"),
            "{}",
            run.stdout
        );
        assert!(
            run.stderr
                .starts_with(&format!("mcp-cassette {}: ", command[0])),
            "{}",
            run.stderr
        );
    }
    run(&["lint", "--no-config", path]).stderr
}

#[expect(clippy::too_many_lines, reason = "a table")]
fn broken_files() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let utf16: Vec<u8> = [0xff, 0xfe]
        .into_iter()
        .chain(clean().encode_utf16().flat_map(u16::to_le_bytes))
        .collect();
    let cut = clean().split_at(150).0.to_owned();
    let conflict = clean().replace(
        "\"messages\"",
        "\n<<<<<<< HEAD\n\"messages\"\n=======\n>>>>>>> other\n",
    );
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n";
    vec![
        ("empty", vec![], "is empty"),
        ("blank", b" \n\n ".to_vec(), "is empty"),
        ("nul", vec![0; 4096], "NUL"),
        (
            "nul-inside",
            clean().replace("echo", "ec\0o").into_bytes(),
            "NUL",
        ),
        ("cut", cut.into_bytes(), "cut off"),
        ("utf16", utf16, "UTF-16"),
        (
            "latin1",
            clean()
                .replace("text", "t\u{e9}xt")
                .chars()
                .map(|c| c as u8)
                .collect(),
            "not UTF-8",
        ),
        ("lfs", pointer.into(), "Git LFS pointer"),
        ("conflict", conflict.into_bytes(), "merge-conflict"),
        ("png", b"\x89PNG\r\n\x1a\n\0\0".to_vec(), "PNG image"),
        ("prose", b"hello".to_vec(), "not a cassette"),
        ("array", b"[1, 2, 3]".to_vec(), "not a cassette"),
        ("object", b"{\"name\": \"x\"}".to_vec(), "not a cassette"),
        (
            "chat",
            br#"{"messages": [{"role": "user"}]}"#.to_vec(),
            "\"sender\"",
        ),
        (
            "newer",
            clean()
                .replace("\"format_version\": 3", "\"format_version\": 4")
                .into_bytes(),
            "newer version",
        ),
        (
            "version",
            clean()
                .replace("\"format_version\": 3", "\"format_version\": \"3\"")
                .into_bytes(),
            "format_version",
        ),
        (
            "comma",
            clean().replace("\"kind\"", ",\"kind\"").into_bytes(),
            "not valid JSON",
        ),
        (
            "twice",
            clean()
                .replace("\"format_version\": 3,", "\"messages\": [], ")
                .into_bytes(),
            "twice",
        ),
        (
            "sender",
            clean()
                .replace("\"sender\": \"client\"", "\"sender\": \"nobody\"")
                .into_bytes(),
            "sender",
        ),
        (
            "seconds",
            clean()
                .replace("{\"sender\"", "{\"seq\": 1.5, \"sender\"")
                .into_bytes(),
            "seq",
        ),
    ]
}

#[test]
fn each_kind_of_broken_file_has_its_own_message() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut seen = Vec::new();
    for (name, content, expected) in broken_files() {
        let path = write(folder.path(), &format!("{name}.mcp.json"), content);
        let error = refused(&path);
        assert!(error.contains(expected), "{name}: {error}");
        seen.push(error);
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 20, "every file has a message of its own");
}

#[test]
fn what_is_not_a_regular_file_is_refused_without_waiting_for_it() {
    let folder = tempfile::tempdir().expect("a folder");
    assert!(refused(folder.path()).contains("directory"));
    assert!(refused(&folder.path().join("absent.mcp.json")).contains("absent.mcp.json"));
    #[cfg(unix)]
    {
        let fifo = folder.path().join("fifo.mcp.json");
        let made = std::process::Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .expect("mkfifo runs");
        assert!(made.success());
        assert!(refused(&fifo).contains("not a regular file"));
        assert!(refused(Path::new("/dev/null")).contains("not a regular file"));
    }
}

#[test]
fn a_byte_order_mark_is_accepted() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = write(
        folder.path(),
        "bom.mcp.json",
        format!("\u{feff}{}", clean()),
    );
    let run = run(&["lint", "--no-config", path.to_str().expect("plain")]);
    assert_eq!(
        (run.code, run.stdout.as_str()),
        (0, "clean: no findings\n"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_file_cut_anywhere_never_passes() {
    let folder = tempfile::tempdir().expect("a folder");
    let whole = std::fs::read(crate::support::example("tools")).expect("the example");
    // A fixed stride with a prime step reaches 200 different places in every part of the file.
    for i in 0..200_usize {
        let at = (i * 7919) % (whole.len() - 2);
        let path = write(folder.path(), "cut.mcp.json", &whole[..at]);
        let run = run(&["lint", "--no-config", path.to_str().expect("plain")]);
        assert_eq!(run.code, 2, "cut at {at}: {}{}", run.stdout, run.stderr);
        assert!(!run.stderr.contains("panicked"), "{}", run.stderr);
    }
}

#[test]
fn the_place_of_an_error_is_the_line_and_column_in_the_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = write(
        folder.path(),
        "c.mcp.json",
        "{\n  \"format_version\": 3,\n  \"messages\": [\n    é]\n}",
    );
    let error = refused(&path);
    assert!(error.contains("c.mcp.json:4:5: "), "{error}");
}
