//! What earlier runs wrote: markers, which no rule may match again.

use super::pack::PackRule;
use crate::secrets::placeholder::{WORD, marker_at};
use std::borrow::Cow;
use std::ops::Range;

/// What the rules of one redactor write, besides markers that any of them writes.
#[derive(Debug, Default)]
pub(super) struct Own {
    labels: Vec<String>,
    /// Texts that stand for a value. They are no markers: a rule may match them as part of
    /// something else.
    words: Vec<String>,
}

impl Own {
    /// A shorter replacement is an ornament, at which no text is cut.
    const SHORTEST: usize = 4;

    pub(super) fn add(&mut self, rule: &PackRule) {
        self.labels.push(rule.label.clone());
        let words = rule.replacement.iter();
        self.words
            .extend(words.filter(|word| word.len() >= Self::SHORTEST).cloned());
    }

    /// Whether a text ends in `<LABEL>` with a label of these rules.
    pub(super) fn ends(&self, text: &str) -> bool {
        let Some(inner) = text.strip_suffix('>') else {
            return false;
        };
        self.labels.iter().any(|label| {
            let rest = inner.strip_suffix(label.as_str());
            rest.is_some_and(|rest| rest.ends_with('<'))
        })
    }
}

/// What is worked out about a text once somebody asks.
pub(super) struct Facts<'t> {
    text: &'t str,
    own: &'t Own,
    digits: Option<usize>,
    markers: Option<Vec<Range<usize>>>,
}

impl<'t> Facts<'t> {
    pub(super) fn new(text: &'t str, own: &'t Own) -> Self {
        Facts {
            text,
            own,
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

    fn markers(&mut self) -> &[Range<usize>] {
        let (text, own) = (self.text, self.own);
        self.markers.get_or_insert_with(|| markers(text, own))
    }

    /// Whether a range touches what an earlier run wrote.
    pub(super) fn in_marker(&mut self, range: &Range<usize>) -> bool {
        let markers = self.markers();
        let after = markers.partition_point(|marker| marker.end <= range.start);
        markers
            .get(after)
            .is_some_and(|marker| marker.start < range.end)
    }

    /// Whether a range touches a marker and holds nothing besides that could be a value.
    pub(super) fn is_spent(&mut self, range: &Range<usize>) -> bool {
        if !self.in_marker(range) {
            return false;
        }
        let text = self.text;
        let mut at = range.start;
        let mut left = String::new();
        let markers = self.markers();
        let first = markers.partition_point(|marker| marker.end <= range.start);
        for marker in markers.iter().skip(first) {
            if marker.start >= range.end {
                break;
            }
            left.push_str(text.get(at..marker.start).unwrap_or_default());
            at = at.max(marker.end);
        }
        left.push_str(text.get(at..range.end).unwrap_or_default());
        !left.contains(char::is_alphanumeric)
    }

    /// The pieces of the text between what earlier runs wrote, which are texts of their
    /// own; none if nothing was written. Pieces that blanks set apart are left out unless
    /// `all` are asked for: a rule sees those as they are.
    pub(super) fn pieces(&mut self, all: bool) -> Vec<Range<usize>> {
        let (text, own) = (self.text, self.own);
        let mut cuts = self.markers().to_vec();
        for word in own.words.iter().map(String::as_str).chain([WORD]) {
            let found = memchr::memmem::find_iter(text.as_bytes(), word);
            cuts.extend(found.map(|at| at..at + word.len()));
        }
        cuts.extend(masks(text).map(|mask| mask.shown));
        if cuts.is_empty() {
            return Vec::new();
        }
        cuts.sort_by_key(|cut| cut.start);
        let mut pieces = Vec::new();
        let mut at = 0;
        for cut in cuts.iter().chain([&(text.len()..text.len())]) {
            if cut.start > at {
                pieces.push(at..cut.start);
            }
            at = at.max(cut.end);
        }
        let glued = |piece: &Range<usize>| {
            let inner = text.get(piece.clone()).unwrap_or_default();
            let apart = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`');
            all || piece.start > 0 && !inner.starts_with(apart)
                || piece.end < text.len() && !inner.ends_with(apart)
        };
        pieces.retain(glued);
        pieces
    }
}

/// A name without the markers in it, whose labels are no words of the name.
pub(super) fn without_markers(name: &str) -> Cow<'_, str> {
    if !name.contains(['<', '•']) && !name.contains(WORD) {
        return Cow::Borrowed(name);
    }
    let mut out = String::with_capacity(name.len());
    let mut at = 0;
    let mut found = markers(name, &Own::default());
    found.extend(
        name.match_indices(WORD)
            .map(|(at, word)| at..at + word.len()),
    );
    found.sort_by_key(|range| range.start);
    for marker in found {
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

/// A run of bullets and what it may show.
struct Mask {
    /// The bullets and the four characters after them.
    shown: Range<usize>,
    /// Whether what follows is no word that goes on.
    whole: bool,
}

/// The masks in a text, from left to right.
fn masks(text: &str) -> impl Iterator<Item = Mask> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at + text.get(at..)?.find('•')?;
            let rest = text.get(start..)?;
            let length = rest.len() - rest.trim_start_matches('•').len();
            at = start + length;
            let mut chars = rest.get(length..)?.chars();
            let tail: Vec<char> = chars.by_ref().take(4).collect();
            let shows = tail.len() == 4 && !tail.iter().any(|c| c.is_whitespace() || *c == '•');
            if length >= LEAST_MASKED * '•'.len_utf8() && shows {
                let goes_on = |c: char| c.is_alphanumeric() || "._-+@/:=%".contains(c);
                let shown: usize = tail.iter().map(|c| c.len_utf8()).sum();
                return Some(Mask {
                    shown: start..at + shown,
                    whole: !chars.next().is_some_and(goes_on),
                });
            }
        }
    })
}

/// `<LABEL>`, `<LABEL>_` with 12 digits, and runs of bullets with up to four characters.
fn markers(text: &str, own: &Own) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    for start in memchr::memchr_iter(b'<', bytes) {
        let rest = text.get(start..).unwrap_or_default();
        let length = marker_at(rest).or_else(|| {
            let labels = own.labels.iter();
            let lengths = labels.filter_map(|label| {
                let inner = rest.strip_prefix('<')?.strip_prefix(label.as_str())?;
                inner.starts_with('>').then_some(label.len() + 2)
            });
            lengths.max()
        });
        found.extend(length.map(|length| start..start + length));
    }
    let before = found.len();
    let whole = masks(text).filter(|mask| mask.whole);
    found.extend(whole.map(|mask| mask.shown));
    if found.len() > before {
        found.sort_by_key(|range| range.start);
    }
    found
}
