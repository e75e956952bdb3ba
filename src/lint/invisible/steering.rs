//! Control characters and terminal sequences.

use super::{HiddenKind, SHOWN, Scanner};
use crate::lint::ansi::{self, SequenceKind};

impl Scanner<'_> {
    /// Judges the control character at `at`; returns where to look on.
    pub(super) fn steering(&mut self, c: char, at: usize) -> usize {
        let rest = self.slice(at..self.text.len());
        match c {
            '\r' => self.carriage_return(at),
            '\u{8}' => self.backspaces(at, rest),
            _ => match ansi::parse(rest) {
                Some(sequence) => {
                    let end = at + sequence.len;
                    self.step(sequence.len);
                    self.sequence(at, end, sequence.kind);
                    end
                }
                None => {
                    let end = at + c.len_utf8();
                    self.report(at..end, HiddenKind::Control, None);
                    end
                }
            },
        }
    }

    fn sequence(&mut self, at: usize, end: usize, kind: SequenceKind<'_>) {
        let (kind, decoded) = match kind {
            SequenceKind::Style(parameters) if ansi::conceals(parameters) => {
                let rest = self.slice(end..self.text.len());
                let concealed = rest
                    .chars()
                    .take(SHOWN)
                    .take_while(|c| !matches!(c, '\u{1b}' | '\u{9b}'));
                (HiddenKind::Conceal, Some(concealed.collect()))
            }
            SequenceKind::Style(_) => (HiddenKind::Colour, None),
            SequenceKind::Osc(text) => match link_target(text) {
                // The end of a link has no target and says nothing.
                Some("") => (HiddenKind::Hyperlink, None),
                Some(target) => (HiddenKind::Hyperlink, Some(shown(target))),
                None => (HiddenKind::Escape, Some(shown(text))),
            },
            SequenceKind::Text(text) => (HiddenKind::Escape, Some(shown(text))),
            SequenceKind::Csi | SequenceKind::Other => (HiddenKind::Escape, None),
        };
        self.report(at..end, kind, decoded);
    }

    /// A return in mid-line puts later text over earlier text.
    fn carriage_return(&mut self, at: usize) -> usize {
        let rest = self.slice(at..self.text.len());
        let end = at + rest.len() - rest.trim_start_matches('\r').len();
        let before = self.slice(self.line_start..at);
        let line = before.rfind('\n').map_or(before, |newline| {
            before.get(newline + 1..).unwrap_or_default()
        });
        self.step(line.len() + end - at);
        self.line_start = end;
        let after = self.slice(end..self.text.len()).chars().next();
        if !line.is_empty() && after.is_some_and(|c| c != '\n') {
            self.report(at..end, HiddenKind::Overwrite, Some(shown(line)));
        }
        end
    }

    /// Backspaces wipe as many characters as they are.
    fn backspaces(&mut self, at: usize, rest: &str) -> usize {
        let count = rest.bytes().take_while(|byte| *byte == 8).count();
        self.step(count);
        let before = self.slice(0..at).chars().rev();
        let wiped: Vec<char> = before
            .take(count.min(SHOWN))
            .take_while(|c| !c.is_control())
            .collect();
        let wiped: String = wiped.into_iter().rev().collect();
        let decoded = Some(wiped).filter(|wiped| !wiped.is_empty());
        self.report(at..at + count, HiddenKind::Overwrite, decoded);
        at + count
    }
}

/// The target of `8;parameters;target`, empty at the end of a link.
fn link_target(osc: &str) -> Option<&str> {
    let (_, target) = osc.strip_prefix("8;")?.split_once(';')?;
    Some(target)
}

fn shown(text: &str) -> String {
    text.chars().take(SHOWN).collect()
}
