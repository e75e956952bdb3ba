//! From what a check saw to a finding with a place, a name that lasts and the line
//! it stands on.

use super::Cassette;
use super::locate::{pointers, positions, whole};
use crate::finding::{Excerpt, Finding, Position, Region, RuleId, Severity, Status};
use crate::secrets::conceal::{self, SEARCHED, floor_boundary, secrets_in};
use crate::wire::json::{Span, raw_offsets};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::ops::Range;

/// A finding whose place is not worked out yet.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub(crate) rule: RuleId,
    pub(crate) severity: Severity,
    pub(crate) message: String,
    pub(crate) tool: Option<String>,
    /// The value that it is about, without quotes if it is a string.
    pub(crate) value: Span,
    /// The part of the string's decoded text; `None` for the whole value.
    pub(crate) part: Option<Range<usize>>,
    /// The kind of place, for the fingerprint.
    pub(crate) noun: &'static str,
    pub(crate) identity: Identity,
    pub(crate) evidence: Option<String>,
}

/// What makes a finding the same one in another recording.
#[derive(Clone, Debug)]
pub(crate) enum Identity {
    /// The text of the place, already hashed because it may be long.
    Text([u8; 32]),
    /// A secret: a few of its characters and its pointer without indices, never its value.
    Secret(String),
}

#[cfg(test)]
thread_local! {
    /// How many bytes were hashed, to see that the work is linear.
    pub(crate) static HASHED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

impl Identity {
    /// By the text of the place, white space folded.
    pub(crate) fn text(text: &str) -> Identity {
        #[cfg(test)]
        HASHED.with(|hashed| hashed.set(hashed.get() + text.len()));
        let mut hash = Sha256::new();
        for (i, word) in text.split_whitespace().enumerate() {
            if i > 0 {
                hash.update(b" ");
            }
            hash.update(word.as_bytes());
        }
        Identity::Text(hash.finalize().into())
    }
}

/// A secret that no finding is about and that must not be shown all the same.
#[derive(Clone, Debug)]
pub(crate) struct Mask {
    /// The string, without quotes.
    pub(crate) value: Span,
    /// The part of its decoded text.
    pub(crate) part: Range<usize>,
}

/// Works out the places of all drafts in a few passes over the text, and sorts
/// them by place, then by rule. Of secrets nothing is told but the first six characters.
pub(crate) fn place(cassette: &Cassette, drafts: Vec<Draft>) -> Vec<Finding> {
    place_masking(cassette, drafts, &[])
}

/// The same where secrets are known that are no findings.
pub(crate) fn place_masking(
    cassette: &Cassette,
    drafts: Vec<Draft>,
    masks: &[Mask],
) -> Vec<Finding> {
    let text = &cassette.text;
    let spans = resolve_parts(text, drafts.iter().map(|draft| (draft.value, &draft.part)));
    let parts: Vec<Option<Range<usize>>> =
        masks.iter().map(|mask| Some(mask.part.clone())).collect();
    let masked = resolve_parts(text, masks.iter().map(|mask| mask.value).zip(&parts));
    let mut items: Vec<(Draft, Span)> = drafts.into_iter().zip(spans).collect();
    items.sort_by(|(a, a_at), (b, b_at)| {
        (a.value.start, &a.rule, a_at.start, &a.message).cmp(&(
            b.value.start,
            &b.rule,
            b_at.start,
            &b.message,
        ))
    });
    let positions = positions_of(text, &items);
    let locators = locators_of(cassette, &items);
    let secrets = secret_ranges(text, &items, masked);
    items
        .into_iter()
        .zip(locators)
        .map(|((draft, span), locator)| {
            let at = |offset: u32| positions.get(&offset).copied().unwrap_or_default();
            let region = Region {
                start: at(span.start),
                end: at(span.end),
                bytes: span.range(),
            };
            draft.finding(locator, excerpt(text, &region, &secrets), region)
        })
        .collect()
}

/// The byte ranges in the file, found once a string rather than once a finding.
fn resolve_parts<'p>(
    text: &str,
    parts: impl Iterator<Item = (Span, &'p Option<Range<usize>>)> + Clone,
) -> Vec<Span> {
    let mut by_value: BTreeMap<Span, Vec<usize>> = BTreeMap::new();
    for (value, part) in parts.clone() {
        if let Some(part) = part {
            by_value
                .entry(value)
                .or_default()
                .extend([part.start, part.end]);
        }
    }
    let mut raw: BTreeMap<(Span, usize), usize> = BTreeMap::new();
    for (value, mut offsets) in by_value {
        offsets.sort_unstable();
        offsets.dedup();
        for (decoded, at) in offsets.iter().zip(raw_offsets(value.of(text), &offsets)) {
            raw.insert((value, *decoded), at);
        }
    }
    parts
        .map(|(value, part)| {
            let Some(part) = part else { return value };
            let at = |offset| raw.get(&(value, offset)).copied().unwrap_or(0);
            let start = value.start as usize;
            Span::new(start + at(part.start), start + at(part.end))
        })
        .collect()
}

fn positions_of(text: &str, items: &[(Draft, Span)]) -> BTreeMap<u32, Position> {
    let mut offsets: Vec<u32> = items
        .iter()
        .flat_map(|(_, span)| [span.start, span.end])
        .collect();
    offsets.sort_unstable();
    offsets.dedup();
    let wide: Vec<usize> = offsets.iter().map(|&offset| offset as usize).collect();
    offsets.into_iter().zip(positions(text, &wide)).collect()
}

/// The JSON pointers, one walk a message; `items` are in the order of the file.
fn locators_of(cassette: &Cassette, items: &[(Draft, Span)]) -> Vec<String> {
    let message_of = |offset: u32| {
        let after = cassette
            .rows
            .partition_point(|row| row.span.start <= offset);
        let index = after.checked_sub(1)?;
        cassette
            .rows
            .get(index)
            .filter(|row| offset < row.span.end)
            .map(|row| (index, row.span))
    };
    let mut locators = Vec::with_capacity(items.len());
    let mut rest = items;
    while let Some((first, _)) = rest.first() {
        let message = message_of(first.value.start);
        let same = rest.partition_point(|(draft, _)| message_of(draft.value.start) == message);
        let (group, later) = rest.split_at(same.max(1));
        let offsets: Vec<usize> = group
            .iter()
            .map(|(draft, _)| draft.value.start as usize)
            .collect();
        locators.extend(match message {
            Some((index, span)) => pointers(
                &cassette.text,
                span,
                &format!("/messages/{index}"),
                &offsets,
            ),
            None => pointers(&cassette.text, whole(&cassette.text), "", &offsets),
        });
        rest = later;
    }
    locators
}

/// All that must not be shown around the places: secrets that were found, and what looks
/// like one to a second look, so that it does not matter which rules ran.
fn secret_ranges(text: &str, items: &[(Draft, Span)], masked: Vec<Span>) -> Vec<Span> {
    let secret = |draft: &Draft| matches!(draft.identity, Identity::Secret(_));
    let found = items.iter().filter(|(draft, _)| secret(draft));
    let mut ranges: Vec<Range<usize>> = found
        .map(|(_, span)| span.range())
        .chain(masked.into_iter().map(Span::range))
        .collect();
    let shown = items.iter().map(|(_, span)| {
        let range = span.range();
        let end = range
            .end
            .min(range.start.saturating_add(EXCERPT_HIGHLIGHT * 4));
        range.start.saturating_sub(SEARCHED)..end.saturating_add(SEARCHED).min(text.len())
    });
    for window in conceal::joined(shown.collect()) {
        let start = floor_boundary(text, window.start);
        let window = text.get(start..floor_boundary(text, window.end));
        let secrets = secrets_in(window.unwrap_or_default());
        ranges.extend(
            secrets
                .into_iter()
                .map(|at| start + at.start..start + at.end),
        );
    }
    let spans = conceal::joined(ranges).into_iter();
    spans
        .map(|range| Span::new(range.start, range.end))
        .collect()
}

impl Draft {
    /// The finding, with nothing in it that would give a secret away.
    fn finding(mut self, locator: String, excerpt: Excerpt, region: Region) -> Finding {
        let tool = self.tool.as_deref();
        let fingerprint = fingerprint(&self.rule, tool, self.noun, &self.identity, &locator);
        conceal::conceal(&mut self.message);
        // The sample of a secret is cut already.
        if !matches!(self.identity, Identity::Secret(_)) {
            self.evidence.iter_mut().for_each(conceal::conceal);
        }
        Finding {
            rule: self.rule,
            severity: self.severity,
            message: self.message,
            locator,
            tool: self.tool,
            region,
            fingerprint,
            evidence: self.evidence,
            excerpt,
            status: Status::New,
        }
    }
}

/// `v1:` and the first 16 hexadecimal digits of a SHA-256: rule, tool, kind of place and text.
pub(crate) fn fingerprint(
    rule: &RuleId,
    tool: Option<&str>,
    noun: &str,
    identity: &Identity,
    locator: &str,
) -> String {
    let mut hash = Sha256::new();
    let mut part = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    part(rule.as_str().as_bytes());
    part(tool.unwrap_or_default().as_bytes());
    part(noun.as_bytes());
    match identity {
        Identity::Text(digest) => part(digest),
        Identity::Secret(sample) => {
            let steps = locator
                .split('/')
                .filter(|step| step.parse::<u64>().is_err());
            part(steps.collect::<Vec<_>>().join("/").as_bytes());
            part(sample.as_bytes());
        }
    }
    let digest = hash.finalize();
    let hex: String = digest
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("v1:{hex}")
}

/// How many characters of the line a report gets to see before and after the place.
const EXCERPT_CONTEXT: usize = 200;
/// The longest part of the place itself that is shown.
const EXCERPT_HIGHLIGHT: usize = 400;

/// The window of the file's line around a place, with secrets cut to six characters.
pub(crate) fn excerpt(text: &str, region: &Region, secrets: &[Span]) -> Excerpt {
    let start = region.bytes.start.min(text.len());
    let end = region.bytes.end.clamp(start, text.len());
    let line_start = |text: &str| text.rfind('\n').map_or(0, |at| at + 1);
    let before = text.get(..start).unwrap_or_default();
    let window_start = before
        .char_indices()
        .rev()
        .nth(EXCERPT_CONTEXT - 1)
        .map_or(0, |(at, _)| at);
    let from = window_start + line_start(before.get(window_start..).unwrap_or_default());
    let cut_before = from > 0 && !before.get(..from).unwrap_or_default().ends_with('\n');
    let shown = text.get(start..end).unwrap_or_default();
    // No character takes more than four bytes, so nothing behind these is shown.
    let shown = shown.get(..floor_boundary(shown, EXCERPT_HIGHLIGHT * 4 + 4));
    let shown = shown.unwrap_or_default();
    let shown = shown.split(['\n', '\r']).next().unwrap_or_default();
    let shown_end = start
        + shown
            .char_indices()
            .nth(EXCERPT_HIGHLIGHT)
            .map_or(shown.len(), |(at, _)| at);
    let rest = text.get(shown_end..).unwrap_or_default();
    let rest_end = rest
        .char_indices()
        .take(EXCERPT_CONTEXT)
        .find(|(_, c)| matches!(c, '\n' | '\r'));
    let to = shown_end
        + match rest_end {
            Some((at, _)) => at,
            None => rest
                .char_indices()
                .nth(EXCERPT_CONTEXT)
                .map_or(rest.len(), |(at, _)| at),
        };
    let cut_after = text
        .get(to..)
        .is_some_and(|rest| !rest.is_empty() && !rest.starts_with(['\n', '\r']));
    let (masked, highlight) = mask(text, from..to, start..shown_end, secrets);
    let column_back = text.get(from..start).unwrap_or_default().chars().count();
    let column = region
        .start
        .column
        .saturating_sub(u32::try_from(column_back).unwrap_or(0))
        .max(1);
    Excerpt {
        text: masked,
        line: region.start.line,
        column,
        highlight,
        cut_before,
        cut_after,
    }
}

/// The text of `window` with every secret cut, and where `highlight` is in it then.
fn mask(
    text: &str,
    window: Range<usize>,
    highlight: Range<usize>,
    secrets: &[Span],
) -> (String, Range<usize>) {
    let mut out = String::new();
    let mut at = window.start;
    let (mut from, mut to) = (None, None);
    let first = secrets.partition_point(|secret| (secret.end as usize) <= window.start);
    for secret in secrets.get(first..).unwrap_or_default() {
        let range = secret.range();
        if range.start >= window.end {
            break;
        }
        if range.end <= at {
            continue;
        }
        copy(
            text,
            at..range.start.max(at),
            &highlight,
            &mut out,
            &mut from,
            &mut to,
        );
        let value = text.get(range.clone()).unwrap_or_default();
        if range.start >= at {
            from = from.or((highlight.start <= range.start).then_some(out.len()));
            // Of a short value six characters would be most of it.
            let shown = (value.chars().take(12).count() / 2).min(6);
            out.extend(value.chars().take(shown));
        }
        out.push('…');
        if highlight.end <= range.end && to.is_none() {
            to = Some(out.len());
        }
        at = range.end;
    }
    if at < window.end {
        copy(
            text,
            at..window.end,
            &highlight,
            &mut out,
            &mut from,
            &mut to,
        );
    }
    let from = from.unwrap_or(out.len());
    let to = to.unwrap_or(out.len()).max(from);
    (out, from..to)
}

fn copy(
    text: &str,
    range: Range<usize>,
    highlight: &Range<usize>,
    out: &mut String,
    from: &mut Option<usize>,
    to: &mut Option<usize>,
) {
    if from.is_none() && highlight.start < range.end {
        *from = Some(out.len() + highlight.start.saturating_sub(range.start));
    }
    if to.is_none() && highlight.end <= range.end {
        *to = Some(out.len() + highlight.end.saturating_sub(range.start));
    }
    out.push_str(text.get(range).unwrap_or_default());
}
