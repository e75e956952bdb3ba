//! Cutting secrets out of text that is quoted: changed definitions may hold keys,
//! and a report that quotes them must not spread them.

use super::{Entropy, Place, TextContext, sample, scan};
use std::ops::Range;

/// The text with each secret cut to its first six characters and `…`.
pub(crate) fn conceal(text: &mut String) {
    let mut lines = vec![std::mem::take(text)];
    conceal_lines(&mut lines, |_| 0);
    *text = lines.pop().unwrap_or_default();
}

/// The same for the lines of a unified diff. They are searched together and without
/// their signs, because a key may be several lines long.
pub(crate) fn conceal_diff(lines: &mut [String]) {
    conceal_lines(lines, |line| usize::from(line.starts_with(['+', '-', ' '])));
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
    let context = TextContext {
        place: Place::Definition,
        ..TextContext::default()
    };
    let mut apart: Vec<Range<usize>> = Vec::new();
    for secret in scan(text, &Entropy::default(), context) {
        match apart.last_mut() {
            Some(last) if secret.range.start < last.end => {
                last.end = last.end.max(secret.range.end);
            }
            _ => apart.push(secret.range),
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
    fn a_key_is_cut_to_six_characters_and_the_rest_stays() {
        let mut text = format!("use {} here\nand there", key());
        conceal(&mut text);
        assert_eq!(text, "use ghp_aB… here\nand there");
        let mut plain = "nothing to hide".to_owned();
        conceal(&mut plain);
        assert_eq!(plain, "nothing to hide");
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
