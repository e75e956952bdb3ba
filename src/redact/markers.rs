//! What earlier runs wrote: markers, which no rule may match again.

use super::pack::PackRule;
use std::borrow::Cow;
use std::ops::Range;

/// What is worked out about a text once somebody asks.
pub(super) struct Facts<'t> {
    text: &'t str,
    digits: Option<usize>,
    markers: Option<Vec<Range<usize>>>,
}

impl<'t> Facts<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Facts {
            text,
            digits: None,
            markers: None,
        }
    }

    /// The cheap tests before a rule is tried.
    pub(super) fn meets(&mut self, rule: &PackRule) -> bool {
        let needs = rule.needs;
        let text = self.text;
        let count = |text: &str| text.bytes().filter(u8::is_ascii_digit).take(20).count();
        needs.digits <= *self.digits.get_or_insert_with(|| count(text))
            && needs
                .anchor
                .is_none_or(|byte| memchr::memchr(byte, text.as_bytes()).is_some())
    }

    /// Whether a range touches what an earlier run wrote.
    pub(super) fn in_marker(&mut self, range: &Range<usize>) -> bool {
        let text = self.text;
        let markers = self.markers.get_or_insert_with(|| markers(text));
        let after = markers.partition_point(|marker| marker.end <= range.start);
        markers
            .get(after)
            .is_some_and(|marker| marker.start < range.end)
    }
}

/// A name without the markers in it, whose labels are no words of the name.
pub(super) fn without_markers(name: &str) -> Cow<'_, str> {
    if !name.contains(['<', '•']) {
        return Cow::Borrowed(name);
    }
    let mut out = String::with_capacity(name.len());
    let mut at = 0;
    for marker in markers(name) {
        out.push_str(name.get(at..marker.start).unwrap_or_default());
        out.push(' ');
        at = at.max(marker.end);
    }
    out.push_str(name.get(at..).unwrap_or_default());
    Cow::Owned(out)
}

/// The fewest bullets that `mask` leaves: a match of eight characters shows four. Fewer
/// are a list or an ornament.
const LEAST_MASKED: usize = 4;

/// The bytes of the four characters that `mask` shows after its bullets, if what follows
/// them is that and no word of its own.
fn masked_tail(shown: &str) -> Option<usize> {
    let mut chars = shown.chars();
    let tail: Vec<char> = chars.by_ref().take(4).collect();
    let goes_on = |c: char| c.is_alphanumeric() || "._-+@/:=%".contains(c);
    let whole = tail.len() == 4
        && !tail.iter().any(|c| c.is_whitespace() || *c == '•')
        && !chars.next().is_some_and(goes_on);
    whole.then(|| tail.iter().map(|c| c.len_utf8()).sum())
}

/// `<LABEL>`, `<LABEL>_` with 12 digits, and runs of bullets with up to four characters.
fn markers(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    for start in memchr::memchr_iter(b'<', bytes) {
        let window = bytes
            .get(start..(start + 66).min(bytes.len()))
            .unwrap_or_default();
        let Some(close) = memchr::memchr(b'>', window) else {
            continue;
        };
        let label = window.get(1..close).unwrap_or_default();
        let fits =
            |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || b"_- ".contains(byte);
        if !label.first().is_some_and(u8::is_ascii_uppercase) || !label.iter().all(fits) {
            continue;
        }
        let end = start + close + 1;
        let tail = bytes.get(end..end + 13).unwrap_or_default();
        let hashed =
            matches!(tail, [b'_', digits @ ..] if digits.iter().all(u8::is_ascii_hexdigit));
        found.push(start..if hashed { end + 13 } else { end });
    }
    if text.contains('•') {
        let mut at = 0;
        while let Some(begin) = text.get(at..).and_then(|rest| rest.find('•')) {
            let start = at + begin;
            let rest = text.get(start..).unwrap_or_default();
            let length = rest.len() - rest.trim_start_matches('•').len();
            let shown = rest.get(length..).unwrap_or_default();
            at = start + length;
            if length >= LEAST_MASKED * '•'.len_utf8()
                && let Some(tail) = masked_tail(shown)
            {
                found.push(start..at + tail);
            }
        }
        found.sort_by_key(|range| range.start);
    }
    found
}
