//! Terminal escape sequences (ECMA-48): where one ends and what it carries.
//!
//! The parser reads untrusted text and must stay linear, so a string sequence
//! (OSC, DCS, SOS, PM, APC) ends at the first control character of any sort.
//! Only BEL and ST count as a proper end; otherwise just the introducer is
//! taken, because a model still reads the text that a terminal would swallow.

/// One escape sequence at the start of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sequence<'t> {
    /// Bytes that the sequence takes, introducer and terminator included.
    pub(crate) len: usize,
    /// What the sequence is.
    pub(crate) kind: SequenceKind<'t>,
}

/// The families of escape sequences that matter to a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SequenceKind<'t> {
    /// Select graphic rendition (`CSI … m`) with its parameters.
    Style(&'t str),
    /// Any other control sequence: cursor movement, erasing, modes.
    Csi,
    /// An operating system command with its text: titles, links, clipboard.
    Osc(&'t str),
    /// A device control, privacy or application string with its text.
    Text(&'t str),
    /// A two-character escape, or an introducer whose sequence never ends.
    Other,
}

/// Reads the escape sequence that starts `text`, if its first character is
/// ESC or one of the C1 introducers.
pub(crate) fn parse(text: &str) -> Option<Sequence<'_>> {
    let mut chars = text.chars();
    match chars.next()? {
        '\u{1b}' => {
            let body = chars.as_str();
            let introducer = match body.chars().next() {
                Some('[') => return Some(csi(body.get(1..)?, 2)),
                Some(letter @ (']' | 'P' | 'X' | '^' | '_')) => letter,
                _ => return Some(short_escape(body)),
            };
            Some(string_sequence(body.get(1..)?, 2, introducer == ']'))
        }
        '\u{9b}' => Some(csi(chars.as_str(), 2)),
        '\u{9d}' => Some(string_sequence(chars.as_str(), 2, true)),
        '\u{90}' | '\u{98}' | '\u{9e}' | '\u{9f}' => {
            Some(string_sequence(chars.as_str(), 2, false))
        }
        _ => None,
    }
}

fn csi(body: &str, introducer: usize) -> Sequence<'_> {
    let bytes = body.as_bytes();
    let parameters = prefix(bytes, |byte| (0x30..=0x3f).contains(&byte));
    let middle = prefix(bytes.get(parameters..).unwrap_or_default(), |byte| {
        (0x20..=0x2f).contains(&byte)
    });
    let last = parameters + middle;
    let Some(end) = bytes.get(last).filter(|byte| (0x40..=0x7e).contains(*byte)) else {
        return Sequence {
            len: introducer,
            kind: SequenceKind::Other,
        };
    };
    let kind = if *end == b'm' && middle == 0 {
        SequenceKind::Style(body.get(..parameters).unwrap_or_default())
    } else {
        SequenceKind::Csi
    };
    Sequence {
        len: introducer + last + 1,
        kind,
    }
}

fn string_sequence(body: &str, introducer: usize, osc: bool) -> Sequence<'_> {
    let unterminated = Sequence {
        len: introducer,
        kind: SequenceKind::Other,
    };
    let Some(stop) = body.find(char::is_control) else {
        return unterminated;
    };
    let (carried, rest) = body.split_at(stop);
    let terminator = if rest.starts_with('\u{7}') {
        1
    } else if rest.starts_with("\u{1b}\\") || rest.starts_with('\u{9c}') {
        2
    } else {
        return unterminated;
    };
    Sequence {
        len: introducer + stop + terminator,
        kind: if osc {
            SequenceKind::Osc(carried)
        } else {
            SequenceKind::Text(carried)
        },
    }
}

/// ESC, any intermediate bytes, one final byte; or ESC alone.
fn short_escape(body: &str) -> Sequence<'_> {
    let bytes = body.as_bytes();
    let middle = prefix(bytes, |byte| (0x20..=0x2f).contains(&byte));
    let finished = bytes
        .get(middle)
        .is_some_and(|byte| (0x30..=0x7e).contains(byte));
    Sequence {
        len: if finished { middle + 2 } else { 1 },
        kind: SequenceKind::Other,
    }
}

/// Intermediate and parameter bytes are few in any real sequence; the cap
/// keeps a run of introducers from being read again and again.
fn prefix(bytes: &[u8], belongs: impl Fn(u8) -> bool) -> usize {
    const LONGEST: usize = 256;
    bytes
        .iter()
        .take(LONGEST)
        .take_while(|byte| belongs(**byte))
        .count()
}

/// Whether the parameters of a style sequence ask for concealed text.
///
/// The `8` of an extended colour (`38;5;8`) is an argument, not a style.
pub(crate) fn conceals(parameters: &str) -> bool {
    let mut words = parameters.split(';');
    while let Some(word) = words.next() {
        match word {
            "8" | "08" => return true,
            "38" | "48" | "58" => match words.next() {
                Some("5") => drop(words.next()),
                Some("2") => drop(words.nth(2)),
                _ => {}
            },
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(text: &str) -> (usize, SequenceKind<'_>) {
        let sequence = parse(text).expect("a sequence");
        (sequence.len, sequence.kind)
    }

    #[test]
    fn sequences_end_where_a_terminal_ends_them() {
        assert_eq!(kind("\u{1b}[1;31mred"), (7, SequenceKind::Style("1;31")));
        assert_eq!(kind("\u{9b}0mx"), (4, SequenceKind::Style("0")));
        assert_eq!(kind("\u{1b}[2Kx"), (4, SequenceKind::Csi));
        assert_eq!(
            kind("\u{1b}]0;title\u{7}x"),
            (10, SequenceKind::Osc("0;title"))
        );
        assert_eq!(kind("\u{1b}]8;;u\u{1b}\\x"), (8, SequenceKind::Osc("8;;u")));
        assert_eq!(kind("\u{1b}Pq\u{9c}x"), (5, SequenceKind::Text("q")));
        assert_eq!(kind("\u{1b}(Bx"), (3, SequenceKind::Other));
        assert_eq!(kind("\u{1b}"), (1, SequenceKind::Other));
        assert_eq!(parse("plain"), None);
    }

    #[test]
    fn an_unfinished_sequence_takes_only_its_introducer() {
        assert_eq!(kind("\u{1b}]0;no end"), (2, SequenceKind::Other));
        assert_eq!(kind("\u{1b}]0;cut\nline\u{7}"), (2, SequenceKind::Other));
        assert_eq!(kind("\u{1b}[12"), (2, SequenceKind::Other));
        assert_eq!(kind("\u{1b}é"), (1, SequenceKind::Other));
    }

    #[test]
    fn an_extended_colour_is_not_concealment() {
        assert!(conceals("8"));
        assert!(conceals("1;8;31"));
        assert!(conceals("38;5;8;8"));
        assert!(!conceals("38;5;8"));
        assert!(!conceals("48;2;8;8;8"));
        assert!(!conceals("28"));
        assert!(!conceals(""));
    }
}
