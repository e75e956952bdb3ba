//! Unified diffs and changed words.

use super::super::text::{counts, sequence, unified, words};
use super::{Session, details, tool, tools_only};

#[test]
fn a_unified_diff_has_headers_hunks_and_three_lines_around() {
    let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12";
    let new = old.replace("\n2\n", "\ntwo\n").replace("\n12", "\n12\n13");
    assert_eq!(
        unified(Some(old), Some(&new)),
        [
            "--- baseline",
            "+++ current",
            "@@ -1,5 +1,5 @@",
            " 1",
            "-2",
            "+two",
            " 3",
            " 4",
            " 5",
            "@@ -10,3 +10,4 @@",
            " 10",
            " 11",
            " 12",
            "+13"
        ]
    );
    assert_eq!(counts(&unified(Some(old), Some(&new))), (2, 1));
}

#[test]
fn lines_that_look_like_headers_are_counted() {
    let found = unified(Some("-- a"), Some("++ a"));
    assert_eq!(found[3..], ["--- a", "+++ a"]);
    assert_eq!(counts(&found), (1, 1));
}

#[test]
fn equal_texts_have_no_diff() {
    assert_eq!(unified(Some("a\nb"), Some("a\nb")), [""; 0]);
    assert_eq!(unified(None, None), [""; 0]);
}

#[test]
fn an_absent_text_is_not_an_empty_one() {
    assert_eq!(unified(None, Some(""))[2..], ["@@ -0,0 +1 @@", "+"]);
    assert_eq!(unified(Some("a"), None)[2..], ["@@ -1 +0,0 @@", "-a"]);
}

#[test]
fn ends_of_lines_show() {
    assert_eq!(unified(Some("a\r\nb"), Some("a\nb"))[3..5], ["-a\r", "+a"]);
    assert_eq!(unified(Some("a"), Some("a\n"))[3..], [" a", "+"]);
}

#[test]
fn long_texts_without_a_common_line_are_one_replacement() {
    let old: Vec<String> = (0..30_000).map(|n| format!("old {n}")).collect();
    let new: Vec<String> = (0..30_000).map(|n| format!("new {n}")).collect();
    let found = unified(
        Some(&format!("head\n{}\ntail", old.join("\n"))),
        Some(&format!("head\n{}\ntail", new.join("\n"))),
    );
    assert_eq!(found[2..5], ["@@ -1,30002 +1,30002 @@", " head", "-old 0"]);
    assert_eq!(counts(&found), (30_000, 30_000));
}

#[test]
fn long_sequences_that_are_close_are_aligned() {
    let old: Vec<&str> = (0..200_000).map(|n| ["a", "b", "c"][n % 3]).collect();
    let mut new = old.clone();
    new.insert(3, "x");
    new.remove(100_000);
    new.push("y");
    let found = sequence(&old, &new);
    let (added, removed) = counts(&found);
    assert!(found.contains(&"+x".to_owned()) && found.contains(&"+y".to_owned()));
    assert_eq!(added, removed + 1);
    assert!(removed <= 3, "{found:?}");
}

#[test]
fn long_sequences_that_are_far_apart_are_summed_up() {
    let old: Vec<&str> = (0..60_000).map(|n| ["a", "b"][n % 2]).collect();
    let new: Vec<&str> = (0..50_000).map(|n| ["c", "a"][n % 2]).collect();
    let found = sequence(&old, &new);
    assert_eq!(found.len(), 4);
    assert_eq!(
        found[3],
        "… too far apart to align: after the first 0, the order of 60000 of 60000 requests \
         became that of 50000 of 50000"
    );
}

#[test]
fn a_sequence_diff_is_cut_with_a_word() {
    let old: Vec<&str> = vec!["a"; 4_000];
    let new: Vec<&str> = vec!["b"; 4_000];
    let found = sequence(&old, &new);
    assert_eq!(found.len(), 2_001);
    assert_eq!(found[2_000], "… and 6003 more lines");
}

const LONG: &str = "Search the documents of the workspace and return the ten best of them, sorted.";

#[test]
fn changed_words_of_a_long_line_are_quoted() {
    let new = LONG.replace("ten best", "twenty newest") + " Be quick.";
    assert_eq!(
        words(LONG, &new).as_deref(),
        Some(r#"words: -"ten best" +"twenty newest", +"Be quick.""#)
    );
    let found = tools_only(
        &Session::new().tools(&[&tool("t", LONG)]),
        &Session::new().tools(&[&tool("t", &new)]),
    );
    assert_eq!(
        details(&found.tools),
        [r#"compatible: words: -"ten best" +"twenty newest", +"Be quick.""#]
    );
}

#[test]
fn short_lines_need_no_words() {
    assert_eq!(words("a b", "a c"), None);
}

#[test]
fn many_and_long_phrases_are_cut() {
    let old: Vec<String> = (0..40).map(|n| format!("keep{n} also{n} old{n}")).collect();
    let new: Vec<String> = (0..40).map(|n| format!("keep{n} also{n} new{n}")).collect();
    let found = words(&old.join(" "), &new.join(" ")).expect("words");
    assert!(found.ends_with(", and 34 more"), "{found}");
    let found = words(LONG, &format!("{LONG} {}", "x".repeat(1_000))).expect("words");
    assert!(found.ends_with("x…\""), "{found}");
    assert!(found.chars().count() < 200);
}
