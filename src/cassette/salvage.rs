//! Unfinished recordings: what a `*.partial` still holds when its writer was killed.
//!
//! The recorder writes new messages together with the closing brackets, but a kill in the
//! middle of such a write leaves a torn tail. Everything up to the last whole message is
//! good; only that is taken, and how much was not is told.

use super::file::{LoadError, LoadProblem, read};
use super::model::Cassette;
use super::write::Ending;
use crate::wire::json::{Kind, Scanner, decode};
use std::path::Path;

/// A cassette that may be unfinished.
#[derive(Clone, Debug)]
pub struct Salvaged {
    /// The recording, as far as it goes.
    pub cassette: Cassette,
    /// How many bytes of an unfinished message were left out.
    pub dropped: u64,
}

impl Salvaged {
    /// What the user should know, if anything was left out.
    pub(crate) fn note(&self) -> Option<String> {
        (self.dropped > 0).then(|| {
            format!(
                "note: {}: {} bytes of an unfinished message dropped",
                self.cassette.name(),
                self.dropped
            )
        })
    }
}

/// Whether a file is what a recording writes while it runs.
pub(super) fn is_partial(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "partial")
}

impl Cassette {
    /// As [`Cassette::load`], but takes a `*.partial` too: up to its last whole message.
    ///
    /// # Errors
    ///
    /// As [`Cassette::load`]; of a `*.partial` at least the beginning must be whole.
    pub fn load_unfinished(path: impl AsRef<Path>) -> Result<Salvaged, LoadError> {
        let path = path.as_ref();
        if !is_partial(path) {
            let cassette = Cassette::load(path)?;
            return Ok(Salvaged {
                cassette,
                dropped: 0,
            });
        }
        let name = path.display().to_string();
        let bytes = read(path).map_err(|problem| LoadError {
            name: name.clone(),
            position: None,
            problem,
        })?;
        let (bytes, dropped) = mended(bytes);
        let mut cassette = Cassette::parse(name, bytes)?;
        cassette.head.interrupted = true;
        Ok(Salvaged { cassette, dropped })
    }

    /// Refuses what is no finished cassette.
    pub(super) fn check_finished(path: &Path) -> Result<(), LoadProblem> {
        match is_partial(path) {
            true => Err(LoadProblem::Partial),
            false => Ok(()),
        }
    }
}

/// The text with its torn tail replaced by closing brackets, and how much was torn; the text
/// itself if it is whole, or torn before the first message could begin.
fn mended(bytes: Vec<u8>) -> (Vec<u8>, u64) {
    let valid = match std::str::from_utf8(&bytes) {
        Ok(text) => text,
        Err(error) => {
            let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
            std::str::from_utf8(valid).unwrap_or_default()
        }
    };
    let Some(Good { end, any }) = good_part(valid) else {
        return (bytes, 0);
    };
    let mut text = valid.get(..end).unwrap_or_default().to_owned();
    text.push_str(&Ending::default().text(any, true));
    let dropped = u64::try_from(bytes.len() - end).unwrap_or(u64::MAX);
    (text.into_bytes(), dropped)
}

/// The part of a torn text that can be kept.
struct Good {
    /// Where the last whole message ends, or where the messages begin.
    end: usize,
    any: bool,
}

/// `None` if nothing is torn, or if it is torn before the messages.
fn good_part(text: &str) -> Option<Good> {
    let mut scanner = Scanner::new(text);
    if scanner.require().ok()?.kind != Kind::BeginObject {
        return None;
    }
    loop {
        let key = scanner.next_key().ok()??;
        if decode(key.inner().of(text)) == "messages" {
            break;
        }
        scanner.value().ok()?;
    }
    let open = scanner.require().ok()?;
    if open.kind != Kind::BeginArray {
        return None;
    }
    let mut good = Good {
        end: open.span.end as usize,
        any: false,
    };
    loop {
        match scanner.next_item() {
            Ok(Some(item)) => {
                good.end = item.span.end as usize;
                good.any = true;
            }
            // What follows the messages may be torn as well.
            Ok(None) => break,
            Err(_) => return Some(good),
        }
    }
    loop {
        match scanner.next_token() {
            Ok(Some(_)) => {}
            Ok(None) => return None,
            Err(_) => return Some(good),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = "{\n  \"format_version\": 3,\n  \"messages\": [\n    \
        {\"sender\": \"client\", \"kind\": \"raw\", \"payload\": \"é1\"},\n    \
        {\"sender\": \"server\", \"kind\": \"raw\", \"payload\": \"é2\"}\n  ]\n}\n";

    #[test]
    fn a_file_cut_anywhere_after_its_head_loads_with_its_whole_messages() {
        let first = WHOLE.find("[\n").unwrap() + 1;
        for cut in first..WHOLE.len() {
            let bytes = WHOLE.as_bytes()[..cut].to_vec();
            let (mended, dropped) = mended(bytes);
            let cassette = Cassette::parse("c.partial", mended).unwrap();
            let whole = WHOLE[..].match_indices('}').filter(|(at, _)| *at < cut);
            let count = whole.count().min(2);
            assert_eq!(cassette.messages().len(), count, "cut at {cut}");
            let kept = if count == 0 {
                first
            } else {
                WHOLE.match_indices('}').nth(count - 1).unwrap().0 + 1
            };
            // The very last byte is a line feed, without which the file is whole.
            let expected = if cut == WHOLE.len() - 1 {
                0
            } else {
                cut - kept
            };
            assert_eq!(dropped, expected as u64, "cut at {cut}");
        }
    }

    #[test]
    fn a_whole_file_stays_as_it_is() {
        assert_eq!(mended(WHOLE.into()), (WHOLE.as_bytes().to_vec(), 0));
    }

    #[test]
    fn zeros_that_a_crash_left_are_dropped() {
        let mut bytes = WHOLE.as_bytes()[..WHOLE.len() - 6].to_vec();
        bytes.extend([0; 100]);
        let (mended, _) = mended(bytes);
        let cassette = Cassette::parse("c.partial", mended).unwrap();
        assert_eq!(cassette.messages().len(), 2);
    }
}
