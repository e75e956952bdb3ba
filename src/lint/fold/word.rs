//! The second view: which words are spelled in look-alikes, and their ASCII.
//!
//! Folding reports letters and word ends while it writes the plain view. The
//! skeleton is written only once a word differs; until then nothing is copied.

use std::ops::Range;

use unicode_script::{Script, UnicodeScript};

use super::confusable::native_letter;
use super::glyph::{Form, ROLES, Role, expansion, glyph};
use super::map::Trace;
use super::{Token, next_token};

/// A place in the source and in the plain view.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    source: Range<usize>,
    plain: Range<usize>,
    /// Whether it has letters that look like no ASCII letter.
    native: bool,
}

/// The letters of the word that is being read.
#[derive(Debug, Default)]
struct Word {
    source: usize,
    plain: usize,
    /// How many characters of each role it has.
    counts: [usize; ROLES],
    active: bool,
}

impl Word {
    fn count(&self, role: Role) -> usize {
        self.counts[role as usize]
    }

    fn is_latin(&self) -> bool {
        self.count(Role::Latin) + self.count(Role::Styled) > 0
    }

    fn is_disguised(&self) -> bool {
        [Role::Styled, Role::Alike, Role::Native, Role::Mark]
            .into_iter()
            .any(|role| self.count(role) > 0)
    }

    fn place(&self, source: usize, plain: usize) -> Place {
        Place {
            source: self.source..source,
            plain: self.plain..plain,
            native: self.count(Role::Native) > 0,
        }
    }
}

/// What the words before say about the language of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Around {
    Nothing,
    Latin,
    Other,
}

/// Follows the words of a text and writes the skeleton.
#[derive(Debug)]
pub(super) struct Words<'t, T> {
    text: &'t str,
    pub(super) skeleton: String,
    pub(super) trace: T,
    word: Word,
    around: Around,
    /// Words of look-alikes only, with no word of another script before them,
    /// that wait for the next word to decide.
    pending: Option<Place>,
    /// How much of the plain view the skeleton has taken over.
    taken: usize,
    changed: bool,
    #[cfg(test)]
    pub(super) steps: usize,
}

impl<'t, T: Trace> Words<'t, T> {
    pub(super) fn new(text: &'t str, skeleton: String) -> Self {
        Self {
            text,
            skeleton,
            trace: T::default(),
            word: Word::default(),
            around: Around::Nothing,
            pending: None,
            taken: 0,
            changed: false,
            #[cfg(test)]
            steps: 0,
        }
    }

    /// Whether the skeleton differs from the plain view.
    pub(super) fn changed(&self) -> bool {
        self.changed
    }

    /// The part of the plain view that must not change any more.
    pub(super) fn settled(&self) -> usize {
        self.taken
    }

    #[inline]
    pub(super) fn letter(&mut self, role: Role, source: usize, plain: usize) {
        let word = &mut self.word;
        if !word.active {
            // A mark alone is no word.
            if role == Role::Mark {
                return;
            }
            *word = Word {
                source,
                plain,
                active: true,
                ..Word::default()
            };
        }
        word.counts[role as usize] += 1;
    }

    pub(super) fn mark(&mut self) {
        self.word.counts[Role::Mark as usize] += 1;
    }

    pub(super) fn saw_other_script(&mut self) {
        self.around = Around::Other;
        self.pending = None;
    }

    /// Follows a run of ASCII that ends the plain view.
    pub(super) fn ascii(&mut self, run: &str, source: usize, plain_text: &str, plain_trace: &T) {
        let bytes = run.as_bytes();
        let plain = plain_text.len() - run.len();
        let mut head = 0;
        if self.word.active {
            head = leading(bytes.iter().copied());
            self.word.counts[Role::Latin as usize] += letters(bytes.get(..head));
            if head == bytes.len() {
                return;
            }
            let before = plain_text.get(..plain + head).unwrap_or_default();
            self.end(source + head, before, plain_trace);
        }
        let middle = bytes.get(head..).unwrap_or_default();
        let tail = bytes.len() - leading(middle.iter().rev().copied());
        let full_words = bytes.get(head..tail).unwrap_or_default();
        if full_words.iter().any(u8::is_ascii_alphabetic) {
            self.latin_word(plain_text, plain_trace);
        }
        if tail < bytes.len() {
            self.letter(Role::Neutral, source + tail, plain + tail);
            self.word.counts[Role::Latin as usize] = letters(bytes.get(tail..));
        }
    }

    /// Ends the word at the end of the plain view, if there is one.
    #[inline]
    pub(super) fn end(&mut self, source: usize, plain_text: &str, plain_trace: &T) {
        if self.word.active {
            self.judge(source, plain_text, plain_trace);
        }
    }

    fn judge(&mut self, source: usize, plain_text: &str, plain_trace: &T) {
        if self.settles() {
            self.settle(source, plain_text.len());
            return;
        }
        let word = std::mem::take(&mut self.word);
        self.latin_word(plain_text, plain_trace);
        if word.is_disguised() {
            let place = word.place(source, plain_text.len());
            self.respell(&place, plain_text, plain_trace);
        }
    }

    /// Whether the word can end without anything being respelled.
    fn settles(&self) -> bool {
        let word = &self.word;
        !word.is_latin() || (!word.is_disguised() && self.pending.is_none())
    }

    fn settle(&mut self, source: usize, plain: usize) {
        let word = std::mem::take(&mut self.word);
        if word.is_latin() {
            self.around = Around::Latin;
        } else if word.count(Role::Native) > 0 {
            self.saw_other_script();
        } else if word.count(Role::Alike) > 1 && self.around != Around::Other {
            // A single letter is more often a symbol, or a Russian preposition.
            self.wait(word.place(source, plain));
        }
    }

    /// Follows one character that the plain view keeps but has not written
    /// yet. False if a word has to be respelled before it, for which the plain
    /// view must be written first.
    #[inline]
    pub(super) fn follow(&mut self, role: Role, source: usize, plain: usize) -> bool {
        if role > Role::Foreign {
            self.letter(role, source, plain);
            return true;
        }
        if self.word.active {
            if !self.settles() {
                return false;
            }
            self.settle(source, plain);
        }
        if role == Role::Foreign {
            self.saw_other_script();
        }
        true
    }

    fn wait(&mut self, place: Place) {
        match &mut self.pending {
            Some(pending) => {
                pending.source.end = place.source.end;
                pending.plain.end = place.plain.end;
            }
            None => self.pending = Some(place),
        }
    }

    /// A Latin word makes the look-alikes before it Latin too.
    fn latin_word(&mut self, plain_text: &str, plain_trace: &T) {
        self.around = Around::Latin;
        if let Some(place) = self.pending.take() {
            self.respell(&place, plain_text, plain_trace);
        }
    }

    /// Ends the skeleton. Words of look-alikes at its end have no neighbour of
    /// another script, so they are Latin.
    pub(super) fn finish(&mut self, plain_text: &str, plain_trace: &T) {
        if self.pending.is_some() {
            self.latin_word(plain_text, plain_trace);
        }
        if self.changed {
            self.take_over(plain_text.len(), plain_text, plain_trace);
        }
    }

    fn take_over(&mut self, end: usize, plain_text: &str, plain_trace: &T) {
        let part = self.taken..end;
        self.trace
            .appended(self.skeleton.len(), plain_trace, part.clone());
        self.skeleton
            .push_str(plain_text.get(part).unwrap_or_default());
        self.taken = end;
    }

    fn respell(&mut self, place: &Place, plain_text: &str, plain_trace: &T) {
        self.take_over(place.plain.start, plain_text, plain_trace);
        let native = place
            .native
            .then(|| native_script(self.text, &place.source))
            .flatten();
        let word = place.source.clone();
        let mut at = word.start;
        while let Some(rest) = self.text.get(at..word.end).filter(|rest| !rest.is_empty()) {
            let mut taken = if native.is_some() {
                0
            } else {
                self.copy_ascii(rest, at)
            };
            if taken == 0 {
                taken = match next_token(rest) {
                    Some(Token::Character { c, len, .. }) => {
                        self.respell_character(c, at..at + len, native);
                        len
                    }
                    Some(Token::Sequence { len }) => len,
                    None => rest.len(),
                };
            }
            at += taken;
            #[cfg(test)]
            {
                self.steps += taken;
            }
        }
        self.taken = place.plain.end;
        self.changed = true;
    }

    /// Copies the ASCII letters at the start of `rest`; returns how many.
    fn copy_ascii(&mut self, rest: &str, at: usize) -> usize {
        let len = leading(rest.bytes());
        if let Some(copied) = rest.get(..len).filter(|copied| !copied.is_empty()) {
            let start = self.skeleton.len();
            self.trace.copied(start, at);
            self.skeleton.push_str(copied);
            if let Some(added) = self.skeleton.get_mut(start..) {
                added.make_ascii_lowercase();
            }
        }
        len
    }

    fn respell_character(&mut self, c: char, source: Range<usize>, native: Option<Script>) {
        let start = self.skeleton.len();
        if let Some(letter) = native.and_then(|script| native_letter(script, c)) {
            self.skeleton.push(letter);
            self.trace.produced(start, source);
            return;
        }
        if c.is_ascii_graphic() {
            self.skeleton.push(c.to_ascii_lowercase());
            self.trace.produced(start, source);
            return;
        }
        let glyph = glyph(c);
        if glyph.role == Role::Mark && native.is_none() {
            self.trace.extended(start, source.end);
            return;
        }
        if glyph.ascii[0] != 0 && native.is_none() {
            let [first, second] = glyph.ascii;
            self.skeleton.push(char::from(first));
            if second != 0 {
                self.skeleton.push(char::from(second));
            }
        } else {
            match glyph.form {
                Form::Nothing => return,
                Form::Blank if self.skeleton.ends_with(' ') => return,
                Form::Blank => self.skeleton.push(' '),
                Form::Other => self.skeleton.push(glyph.other()),
                Form::Longer => self.skeleton.push_str(expansion(c, glyph)),
                Form::Same | Form::Trailing | Form::Combining => self.skeleton.push(c),
            }
        }
        self.trace.produced(start, source);
    }
}

/// The characters of a part of the text, escapes decoded, with their places.
fn characters<'t>(
    text: &'t str,
    part: &Range<usize>,
) -> impl Iterator<Item = (char, Range<usize>)> + use<'t> {
    let Range { start, end } = *part;
    let mut at = start;
    std::iter::from_fn(move || {
        loop {
            match next_token(text.get(at..end)?)? {
                Token::Character { c, len, .. } => {
                    at += len;
                    return Some((c, at - len..at));
                }
                Token::Sequence { len } => at += len,
            }
        }
    })
}

/// The script of a Russian or Greek word in which every ASCII letter stands
/// for a look-alike, or none for a word that is better read as Latin.
fn native_script(text: &str, word: &Range<usize>) -> Option<Script> {
    let script = characters(text, word)
        .filter(|(c, _)| glyph(*c).role == Role::Native)
        .map(|(c, _)| c.script())
        .find(|script| matches!(script, Script::Cyrillic | Script::Greek))?;
    characters(text, word)
        .filter(|(c, _)| c.is_ascii_alphabetic())
        .all(|(c, _)| native_letter(script, c).is_some())
        .then_some(script)
}

fn leading(bytes: impl Iterator<Item = u8>) -> usize {
    bytes.take_while(u8::is_ascii_alphanumeric).count()
}

fn letters(bytes: Option<&[u8]>) -> usize {
    bytes
        .unwrap_or_default()
        .iter()
        .filter(|byte| byte.is_ascii_alphabetic())
        .count()
}
