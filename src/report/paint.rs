//! Colours and line breaks for terminals. Everything here takes text that
//! `sanitize` has made harmless.

use unicode_width::UnicodeWidthChar;

/// Colours, or none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paint {
    on: bool,
}

/// A role of text, each with its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ink {
    Plain,
    Bold,
    Dim,
    Frame,
    Error,
    Warning,
    Note,
    Help,
    Added,
    Removed,
    AddedWord,
    RemovedWord,
}

impl Ink {
    /// The parameters of the SGR sequence.
    fn codes(self) -> &'static str {
        match self {
            Ink::Plain => "",
            Ink::Bold => "1",
            Ink::Dim => "2",
            Ink::Frame => "1;94",
            Ink::Error => "1;91",
            Ink::Warning => "1;33",
            Ink::Note => "1;92",
            Ink::Help => "1;96",
            Ink::Added => "32",
            Ink::Removed => "31",
            Ink::AddedWord => "1;7;32",
            Ink::RemovedWord => "1;7;31",
        }
    }
}

impl Paint {
    pub(super) fn new(on: bool) -> Self {
        Paint { on }
    }

    pub(super) fn is_on(self) -> bool {
        self.on
    }

    /// The text in its colour.
    pub(super) fn with(self, ink: Ink, text: &str) -> String {
        if !self.on || ink == Ink::Plain || text.is_empty() {
            return text.to_owned();
        }
        format!("\u{1b}[{}m{text}\u{1b}[0m", ink.codes())
    }
}

/// The columns that a character fills.
pub(super) fn columns_of(c: char) -> usize {
    c.width().unwrap_or(0)
}

/// The columns that a text fills.
pub(super) fn columns(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

/// Breaks characters that carry a mark into lines, after a blank where that leaves
/// a line at least half full. The first line has `first` columns and the others have
/// `rest`. Nothing is dropped, so a blank may hang over the end; no characters are
/// one empty line.
pub(super) fn broken<T>(
    cells: &[(char, T)],
    first: usize,
    rest: usize,
) -> impl Iterator<Item = &[(char, T)]> {
    let mut left = Some(cells);
    let mut room = first.max(2);
    std::iter::from_fn(move || {
        let cells = left?;
        let (line, after) = cells.split_at(fitting(cells, room));
        left = (!after.is_empty()).then_some(after);
        room = rest.max(2);
        Some(line)
    })
}

/// How many cells go on a line with that room.
fn fitting<T>(cells: &[(char, T)], room: usize) -> usize {
    let (mut filled, mut after_blank) = (0, None);
    for (index, (c, _)) in cells.iter().enumerate() {
        filled += columns_of(*c);
        if filled > room && *c != ' ' {
            return after_blank.filter(|_| index > 0).unwrap_or(index.max(1));
        }
        if *c == ' ' && filled * 2 >= room {
            after_blank = Some(index + 1);
        }
        if filled > room {
            return index + 1;
        }
    }
    cells.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(text: &str, first: usize, rest: usize) -> Vec<String> {
        let cells: Vec<(char, ())> = text.chars().map(|c| (c, ())).collect();
        broken(&cells, first, rest)
            .map(|line| line.iter().map(|(c, ())| c).collect())
            .collect()
    }

    #[test]
    fn lines_break_at_blanks_and_inside_long_words() {
        assert_eq!(wrapped("one two three", 8, 8), ["one two ", "three"]);
        assert_eq!(wrapped("abcdefghij", 4, 3), ["abcd", "efg", "hij"]);
        assert_eq!(wrapped("a abcdefghij", 6, 6), ["a abcd", "efghij"]);
        assert_eq!(wrapped("", 4, 4), [""]);
        assert_eq!(wrapped("one two ", 7, 7), ["one two "]);
    }

    #[test]
    fn wide_characters_fill_two_columns() {
        assert_eq!(wrapped("中文中文", 5, 4), ["中文", "中文"]);
        assert_eq!(columns("中a"), 3);
    }

    #[test]
    fn colour_is_reset_and_absent_when_off() {
        assert_eq!(
            Paint::new(true).with(Ink::Added, "x"),
            "\u{1b}[32mx\u{1b}[0m"
        );
        assert_eq!(Paint::new(false).with(Ink::Added, "x"), "x");
        assert_eq!(Paint::new(true).with(Ink::Added, ""), "");
    }
}
