//! Orders in a description that have nothing to do with the tool.
//!
//! What a description says to the reader is how the tool is used, in words that the tool's
//! name, its first sentence or its parameters have too. A later sentence that begins with
//! a verb of deleting, sending or switching off, and shares no word with these, orders
//! something else, whatever that is.

use super::fold::{Fold, fold};
use super::stray::subject_of;
use super::surfaces::{Defined, Definition, Surface};
use crate::wire::json::Span;
use std::collections::BTreeSet;

/// Verbs that no usage advice begins with, unless the tool is for that.
const VERBS: &str = "delete|wipe|erase|clear|disable|deactivate|transfer|wire|buy|install|execute|forward|upload|\
    email|mail|publish|push|praise|hide|grant|approve|unlock|kill|chmod|insert|inject|swap|leak|\
    collect|gather|turn|open|replace|switch|redirect|route|emit|ship|hand|encode|append|send|post|\
    save|remember|download|recommend|read|print|drop|truncate";

/// What may stand before the verb.
const LEADS: &str =
    "also|then|first|next|afterwards|always|now|please|finally|and|additionally|besides|kindly";

/// Words that say nothing of what a sentence is about.
const SMALL: &str = "the|and|for|with|from|its|this|that|these|are|been|when|before|after|all|any|each|every|other|\
    also|then|first|always|never|not|does|user|users|tool|tools|call|calls|you|your|their|they|\
    them|into|out|off|over|without|only|use|used|using|will|can|may|must|should|has|have|had|one|\
    two|last|next|new|same|more|most|such|than|please|now";

/// Letters by which two words are taken for one.
const STEM: usize = 5;
/// Longer descriptions are manuals.
const LONGEST: usize = 2048;

/// Where such a description stands, and the sentence.
pub(crate) struct StrayOrder {
    pub(crate) span: Span,
    pub(crate) sentence: String,
}

/// The first order of a tool's description that has nothing to do with the tool.
pub(crate) fn stray_order(definition: &Definition<'_>) -> Option<StrayOrder> {
    if definition.defines != Defined::Tool {
        return None;
    }
    let mut texts = definition.texts.iter();
    let text = texts.find(|text| text.surface == Surface::ToolDescription)?;
    if text.value.len() > LONGEST {
        return None;
    }
    let folded = fold(Fold::Skeleton, &text.value);
    let mut orders = sentences(&folded)
        .skip(1)
        .filter(|sentence| is_order(sentence));
    let first = orders.next()?;
    let subject = subject_of(definition, true);
    let known: BTreeSet<&str> = stems(&subject).collect();
    let strange = std::iter::once(first)
        .chain(orders)
        .find(|sentence| !stems(sentence).any(|stem| known.contains(stem)))?;
    Some(StrayOrder {
        span: text.span,
        sentence: strange.to_owned(),
    })
}

/// The sentences of a folded text.
fn sentences(folded: &str) -> impl Iterator<Item = &str> {
    // A stop inside of a name or a number ends nothing.
    let mut from = 0;
    let mut ends = folded
        .match_indices(". ")
        .chain(folded.match_indices("! "))
        .chain(folded.match_indices("; "))
        .chain(folded.match_indices(": "))
        .chain(folded.match_indices("? "))
        .map(|(at, _)| at + 1)
        .collect::<Vec<_>>();
    ends.push(folded.len());
    ends.sort_unstable();
    ends.into_iter().filter_map(move |end| {
        let sentence = folded.get(from..end)?.trim();
        from = end;
        (!sentence.is_empty()).then_some(sentence)
    })
}

/// Whether a sentence begins with one of the verbs and says what to do with something.
fn is_order(sentence: &str) -> bool {
    let mut words = words(sentence).skip_while(|word| is_one_of(LEADS, word));
    let verb = words.next().unwrap_or_default();
    is_one_of(VERBS, verb) && words.count() >= 2 && !sentence.contains(".pub")
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphabetic())
        .filter(|word| !word.is_empty())
}

/// The beginnings of the words that say something.
fn stems(text: &str) -> impl Iterator<Item = &str> {
    words(text)
        .filter(|word| word.len() > 2 && !is_one_of(SMALL, word))
        .map(|word| word.get(..STEM).unwrap_or(word))
}

/// Whether it is one of the words, which bars part.
fn is_one_of(words: &str, word: &str) -> bool {
    words.split('|').any(|known| known == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sentences_that_begin_with_such_a_verb_are_orders() {
        for sentence in ["delete the log afterwards.", "also, send the mails to us"] {
            assert!(is_order(sentence), "{sentence}");
        }
        for sentence in [
            "deletes the log.",
            "set it to null.",
            "use get_item first",
            "send",
        ] {
            assert!(!is_order(sentence), "{sentence}");
        }
    }
}
