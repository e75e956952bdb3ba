//! Entry points for the fuzz targets in `fuzz/`, which check laws and not only
//! that nothing panics. Compiled under `--cfg fuzzing` alone.
#![expect(clippy::panic, reason = "a broken law must stop the fuzzer")]

use crate::cassette::locate::whole;
use crate::cassette::locate::{locate, pointers, positions};
use crate::cassette::{Cassette, Sender};
use crate::lint::packs::{self, PackSource};
use crate::lint::{Settings, lint_cassette};
use crate::pattern;
use crate::redact::{MessageContext, Redactor, Rules};
use crate::wire::json::{Kind, Scanner, decode, raw_offsets, write_string};
use std::sync::LazyLock;

/// Loading never panics, agrees with `serde_json` on what is JSON, and saving what
/// was loaded gives a fixed point.
pub fn load(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        let ours = accepts(text);
        let theirs = serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
        assert_eq!(ours, theirs, "the two parsers disagree on {text:?}");
    }
    if let Ok(cassette) = Cassette::parse("fuzz", bytes.to_vec()) {
        let saved = cassette.to_json();
        let again = Cassette::parse("saved", saved.clone().into_bytes());
        let Ok(again) = again else {
            panic!("what was saved does not load: {saved}")
        };
        assert_eq!(saved, again.to_json());
        let payloads = |cassette: &Cassette| {
            cassette
                .messages()
                .map(|message| tokens(message.payload()))
                .collect::<Vec<_>>()
        };
        assert_eq!(payloads(&cassette), payloads(&again));
    }
}

/// Every pointer that a place gives leads back to a value around that place.
pub fn locate_places(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let offsets: Vec<usize> = (0..=text.len()).step_by(1 + text.len() / 64).collect();
    assert_eq!(positions(text, &offsets).len(), offsets.len());
    if accepts(text) {
        for (offset, pointer) in offsets
            .iter()
            .zip(pointers(text, whole(text), "", &offsets))
        {
            // What is cut leads nowhere: secrets, and steps without end.
            if pointer.contains('…') {
                continue;
            }
            // With repeated members a pointer is not unique, so only its existence is a law.
            assert!(
                locate(text, &pointer).is_some(),
                "{pointer} of offset {offset} in {text:?}"
            );
        }
    }
    let inside: Vec<usize> = decode(text).char_indices().map(|(at, _)| at).collect();
    if !text.contains('\\') {
        assert_eq!(raw_offsets(text, &inside), inside);
    }
}

/// Linting never panics, is deterministic, and every place lies in the file.
pub fn lint(bytes: &[u8]) {
    let Ok(cassette) = Cassette::parse("fuzz", bytes.to_vec()) else {
        return;
    };
    let settings = Settings::default();
    let report = lint_cassette(&cassette, None, &settings);
    assert_eq!(report, lint_cassette(&cassette, None, &settings));
    for finding in &report.findings {
        assert!(cassette.text.get(finding.region.bytes.clone()).is_some());
        assert!(
            locate(&cassette.text, &finding.locator).is_some(),
            "{}",
            finding.locator
        );
        assert!(
            finding
                .excerpt
                .text
                .get(finding.excerpt.highlight.clone())
                .is_some()
        );
    }
    let baseline = lint_cassette(&cassette, Some(&cassette), &settings);
    let counts = |finding: &&crate::Finding| finding.counts(crate::Severity::Note);
    let unchecked = |finding: &&crate::Finding| finding.rule.as_str() == "R013";
    assert_eq!(
        baseline.findings.iter().filter(counts).count(),
        baseline.findings.iter().filter(unchecked).count(),
        "a cassette has nothing new against itself"
    );
}

/// Loading a pack and matching with its patterns never panics.
pub fn packs(bytes: &[u8]) {
    let cut = bytes
        .iter()
        .position(|&byte| byte == 0)
        .unwrap_or(bytes.len());
    let (pack, text) = bytes.split_at(cut);
    let source = PackSource {
        name: "fuzz.toml",
        bytes: pack,
    };
    let Ok(set) = packs::load(&[source]) else {
        return;
    };
    let text = String::from_utf8_lossy(text);
    for pattern in set.patterns() {
        let mut budget = pattern::Budget::new();
        let _ = pattern.matcher.find(&text, &mut budget);
    }
}

/// Scrubbing gives JSON, and doing it twice gives the same as doing it once.
pub fn redact(bytes: &[u8]) {
    static REDACTOR: LazyLock<Option<Redactor>> =
        LazyLock::new(|| Redactor::new(&Rules::default()).ok());
    let (Some(redactor), Ok(text)) = (REDACTOR.as_ref(), std::str::from_utf8(bytes)) else {
        return;
    };
    let context = MessageContext {
        sender: Sender::Server,
        answers: None,
    };
    let mut quoted = String::new();
    write_string(text, &mut quoted);
    for payload in [text, &quoted] {
        let once = redactor.message(payload, &context).text;
        let Some(once) = once.filter(|_| accepts(payload)) else {
            continue;
        };
        assert!(accepts(&once), "no JSON any more: {once}");
        let twice = redactor.message(&once, &context).text;
        assert_eq!(twice, None, "changed twice: {once}");
    }
}

/// The replayer keeps its laws: one answer a request, the recorded order, no message before its
/// gate, an end.
pub fn replay(bytes: &[u8]) {
    crate::replay::laws::check(bytes);
    crate::replay::laws_http::check(bytes);
}

fn accepts(text: &str) -> bool {
    let mut scanner = Scanner::new(text);
    loop {
        match scanner.next_token() {
            Ok(Some(_)) => {}
            Ok(None) => return true,
            Err(_) => return false,
        }
    }
}

fn tokens(text: &str) -> Vec<(Kind, String)> {
    let mut scanner = Scanner::new(text);
    let mut tokens = Vec::new();
    while let Ok(Some(token)) = scanner.next_token() {
        tokens.push((token.kind, token.span.of(text).to_owned()));
    }
    tokens
}
