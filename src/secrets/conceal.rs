//! Cutting secrets out of text that is quoted: changed definitions may hold keys,
//! and a report that quotes them must not spread them.

use super::{Entropy, Place, Secret, TextContext, context, prefilter, sample, scan};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::ops::Range;

/// The longest name or step of a pointer, in characters, that is shown whole. The
/// protocol allows names of 128.
const LONGEST_NAME: usize = 200;

/// How many bytes after what is shown are searched, so that no secret is cut in two
/// before it is recognised. A private key of 4,096 bits takes 3,300.
pub(crate) const SEARCHED: usize = 8 * 1024;

/// The text with each secret cut to its first six characters and `…`.
pub(crate) fn conceal(text: &mut String) {
    let mut lines = vec![std::mem::take(text)];
    conceal_lines(&mut lines, |_| 0);
    *text = lines.pop().unwrap_or_default();
}

/// The same for a sentence about a value, in which names stand between back quotes and
/// values between quotation marks: a value whose name promises a secret is cut too.
pub(crate) fn conceal_statement(text: &mut String) {
    conceal(text);
    let promises = |name: &str| context::promise(name).is_some();
    if !text.split('`').skip(1).step_by(2).any(promises) {
        return;
    }
    let mut out = String::with_capacity(text.len());
    for (at, part) in text.split('"').enumerate() {
        if at > 0 {
            out.push('"');
        }
        // Every second part stands between two quotation marks.
        if at % 2 == 1 && part.chars().count() > 6 {
            out.push_str(&sample(part));
        } else {
            out.push_str(part);
        }
    }
    *text = out;
}

/// A value that stands under `name`: if the name promises a secret, six characters of it.
pub(crate) fn of_name(name: &str, value: String) -> String {
    let short = value.trim_start_matches('"').chars().count() <= 6;
    match context::promise(name) {
        Some(_) if !short => {
            let (quote, inner) = match value.strip_prefix('"') {
                Some(inner) => ("\"", inner),
                None => ("", &*value),
            };
            format!("{quote}{}", sample(inner))
        }
        _ => value,
    }
}

/// The same for a text with JSON pointers in it, in which `/` is spelled `~1`.
pub(crate) fn conceal_pointer(text: &mut String) {
    let plain = text.replace("~1", "/").replace("~0", "~");
    let mut shown = plain.clone();
    conceal(&mut shown);
    if shown != plain {
        *text = shown;
    }
}

/// The same for the lines of a unified diff. They are searched together and without
/// their signs, because a key may be several lines long.
pub(crate) fn conceal_diff(lines: &mut [String]) {
    conceal_lines(lines, |line| usize::from(line.starts_with(['+', '-', ' '])));
}

/// A recorded name for people: its secrets cut, and itself cut if it is longer than
/// any name should be. Two long names stay apart by what stands for the rest.
pub(crate) fn name(name: &str) -> Cow<'_, str> {
    let mut shown = Cow::Borrowed(name);
    if prefilter::may_hold_secret(name, usize::MAX) {
        let found = apart(scan(name, &Entropy::default(), context(Place::Title)));
        if !found.is_empty() {
            shown = Cow::Owned(without(name, 0..name.len(), found.iter()));
        }
    }
    match clipped(&shown, LONGEST_NAME) {
        Some(clipped) => Cow::Owned(clipped),
        None => shown,
    }
}

/// A text cut to `longest` characters, and how long it is and a hash in place of the
/// rest; `None` if it is no longer.
pub(crate) fn clipped(text: &str, longest: usize) -> Option<String> {
    let (at, _) = text.char_indices().nth(longest)?;
    let hash = Sha256::digest(text);
    let hex: String = hash.iter().take(4).map(|b| format!("{b:02x}")).collect();
    let chars = text.chars().count();
    let start = text.get(..at).unwrap_or_default();
    Some(format!("{start}…({chars} characters, {hex})"))
}

/// The beginning of a recorded text, at most `longest` characters of it, with its
/// secrets cut. What is further on is not looked at.
pub(crate) fn beginning(text: &str, longest: usize) -> String {
    let shown = text.char_indices().nth(longest);
    let searched = shown.map_or(text.len(), |(at, _)| at + SEARCHED);
    let searched = floor_boundary(text, searched);
    let mut start = text.get(..searched).unwrap_or_default().to_owned();
    conceal(&mut start);
    if let Some((at, _)) = start.char_indices().nth(longest) {
        start.truncate(at);
        start.push('…');
    } else if searched < text.len() {
        start.push('…');
    }
    start
}

/// The last character boundary at or before `at`.
pub(crate) fn floor_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The part `window` of the text without the secrets that are known to be in the text.
pub(crate) fn part(text: &str, window: Range<usize>, secrets: &[Range<usize>]) -> String {
    let here = |secret: &&Range<usize>| secret.end > window.start && secret.start < window.end;
    without(text, window.clone(), secrets.iter().filter(here))
}

fn conceal_lines(lines: &mut [String], sign: impl Fn(&str) -> usize) {
    let mut joined = String::new();
    for line in lines.iter() {
        joined.push_str(line.get(sign(line)..).unwrap_or_default());
        joined.push('\n');
    }
    joined.pop();
    let found = secrets_in(&joined);
    if found.is_empty() {
        return;
    }
    let mut start = 0;
    for line in lines {
        let signed = sign(line);
        let end = start + line.len() - signed;
        let first = found.partition_point(|range| range.end <= start);
        let here = found.get(first..).unwrap_or_default();
        let here = here.iter().take_while(|range| range.start < end);
        let cut = without(&joined, start..end, here);
        line.truncate(signed);
        line.push_str(&cut);
        start = end + 1;
    }
}

/// Where the secrets of a text are, in order and apart from each other.
pub(crate) fn secrets_in(text: &str) -> Vec<Range<usize>> {
    apart(scan(text, &Entropy::default(), context(Place::Definition)))
}

fn context(place: Place) -> TextContext<'static> {
    TextContext {
        place,
        ..TextContext::default()
    }
}

/// The ranges of secrets, joined where they overlap.
fn apart(secrets: Vec<Secret>) -> Vec<Range<usize>> {
    joined(secrets.into_iter().map(|secret| secret.range).collect())
}

/// Ranges in order, joined where they overlap.
pub(crate) fn joined(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_unstable_by_key(|range| (range.start, range.end));
    let mut apart: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match apart.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => apart.push(range),
        }
    }
    apart
}

/// The part `window` of the text. Of a secret that began before it nothing is shown.
fn without<'r>(
    text: &str,
    window: Range<usize>,
    secrets: impl Iterator<Item = &'r Range<usize>>,
) -> String {
    let mut out = String::new();
    let mut at = window.start;
    for secret in secrets {
        out.push_str(text.get(at..secret.start.max(at)).unwrap_or_default());
        if secret.start >= window.start {
            let shown = secret.start..secret.end.min(window.end);
            out.push_str(&sample(text.get(shown).unwrap_or_default()));
        } else {
            out.push('…');
        }
        at = secret.end.min(window.end);
    }
    out.push_str(text.get(at..window.end).unwrap_or_default());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Put together here, so that no scanner takes this file for a leak.
    fn key() -> String {
        format!("ghp_{}", "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5")
    }

    #[test]
    fn a_value_is_cut_by_the_name_that_a_statement_gives_it() {
        for (text, shown) in [
            (
                "default of parameter `password` changed from \"Kettle-Blue-1\" to \"x\"",
                "default of parameter `password` changed from \"Kettle…\" to \"x\"",
            ),
            (
                "parameter `color` no longer accepts \"Kettle-Blue-1\"",
                "parameter `color` no longer accepts \"Kettle-Blue-1\"",
            ),
        ] {
            let mut text = text.to_owned();
            conceal_statement(&mut text);
            assert_eq!(text, shown);
        }
    }

    #[test]
    fn a_key_is_cut_to_six_characters_and_the_rest_stays() {
        let mut text = format!("use {} here\nand there", key());
        conceal(&mut text);
        assert_eq!(text, "use ghp_aB… here\nand there");
        let mut plain = "nothing to hide".to_owned();
        conceal(&mut plain);
        assert_eq!(plain, "nothing to hide");
    }

    #[test]
    fn names_are_cut_where_they_hold_a_key_and_where_they_never_end() {
        assert_eq!(name("list_files"), "list_files");
        assert_eq!(name(&key()), "ghp_aB…");
        assert_eq!(name(&format!("use/{}", key())), "use/ghp_aB…");
        let (one, other) = ("k".repeat(1_000), format!("{}l", "k".repeat(999)));
        let shown = name(&one);
        assert!(shown.starts_with(&"k".repeat(LONGEST_NAME)), "{shown}");
        assert!(shown.chars().count() < LONGEST_NAME + 40, "{shown}");
        assert_ne!(shown, name(&other));
    }

    #[test]
    fn a_beginning_never_ends_inside_a_key() {
        let text = format!("{} {} and more", "x".repeat(70), key());
        let shown = beginning(&text, 80);
        assert_eq!(shown, format!("{} ghp_aB… a…", "x".repeat(70)));
        assert_eq!(beginning("short", 80), "short");
    }

    #[test]
    fn a_part_that_begins_inside_a_key_shows_nothing_of_it() {
        let text = format!("a {} b", key());
        let secrets = secrets_in(&text);
        assert_eq!(part(&text, 10..text.len(), &secrets), "… b");
        assert_eq!(part(&text, 0..20, &secrets), "a ghp_aB…");
        assert_eq!(part(&text, 0..1, &secrets), "a");
    }

    #[test]
    fn a_key_over_several_lines_of_a_diff_is_cut_in_each() {
        let (begin, end) = (
            "-----BEGIN RSA PRIVATE KEY-----",
            "-----END RSA PRIVATE KEY-----",
        );
        let body = "MIIEowIBAAKCAQEAx5".repeat(3);
        let mut lines = ["@@ -1 +1,4 @@", " before"]
            .into_iter()
            .map(str::to_owned)
            .chain([begin, &*body, &*body, end, "after"].map(|line| format!("+{line}")))
            .collect::<Vec<String>>();
        conceal_diff(&mut lines);
        assert_eq!(lines[1], " before");
        assert_eq!(lines.last().map(String::as_str), Some("+after"));
        let all = lines.join("\n");
        assert!(!all.contains("MIIEowIB"), "{all}");
        assert!(
            lines[3..6].iter().all(|line| line.starts_with('+')),
            "{all}"
        );
    }
}
