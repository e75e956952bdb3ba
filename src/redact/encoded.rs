//! Text inside base64 and hexadecimal: taken out, and put back the way it was written.

use crate::secrets::encoded::{SHORTEST, decode};
use crate::secrets::prefilter::next_run;
use std::fmt::Write;
use std::ops::Range;

/// An encoded text inside another.
pub(super) struct Encoded {
    /// Where it stands, padding included.
    pub(super) range: Range<usize>,
    /// What it says.
    pub(super) text: String,
    form: Form,
}

#[derive(Clone, Copy)]
enum Form {
    Hex { upper: bool },
    Base64 { url: bool, padded: bool },
}

/// The encoded texts in `text`, from left to right.
pub(super) fn find(text: &str) -> Vec<Encoded> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(run) = next_run(bytes, from, SHORTEST) {
        from = run.end;
        let Some(token) = text.get(run.clone()) else {
            continue;
        };
        let Some(inside) = decode(token) else {
            continue;
        };
        let rest = bytes.get(run.end..).unwrap_or_default();
        let padding = rest
            .iter()
            .take(2)
            .take_while(|byte| **byte == b'=')
            .count();
        let hex = token.len().is_multiple_of(2) && token.bytes().all(|b| b.is_ascii_hexdigit());
        let form = match hex {
            true => Form::Hex {
                upper: token.bytes().any(|byte| byte.is_ascii_uppercase()),
            },
            false => Form::Base64 {
                url: token.contains(['-', '_']),
                padded: padding > 0 || token.len().is_multiple_of(4),
            },
        };
        found.push(Encoded {
            range: run.start..run.end + padding,
            text: inside,
            form,
        });
    }
    found
}

impl Encoded {
    /// Another text in the same encoding.
    pub(super) fn encode(&self, text: &str) -> String {
        match self.form {
            Form::Hex { upper } => text.bytes().fold(String::new(), |mut out, byte| {
                // Writing to a string cannot fail.
                let _ = match upper {
                    true => write!(out, "{byte:02X}"),
                    false => write!(out, "{byte:02x}"),
                };
                out
            }),
            Form::Base64 { url, padded } => base64(text.as_bytes(), url, padded),
        }
    }
}

/// RFC 4648, sections 4 and 5.
fn base64(bytes: &[u8], url: bool, padded: bool) -> String {
    const PLAIN: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const URL: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let alphabet = if url { URL } else { PLAIN };
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let group = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            if place <= chunk.len() {
                let index = (group >> (18 - 6 * place)) & 0x3f;
                let letter = alphabet.get(index as usize).copied().unwrap_or(b'A');
                out.push(char::from(letter));
            } else if padded {
                out.push('=');
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoded_text_comes_back_the_way_it_was_written() {
        for text in [
            "amFuZUBleGFtcGxlLm9yZyBpcyBoZXJlLg==",
            "amFuZUBleGFtcGxlLm9yZyBpcyBoZXJlLg",
            "6a616e65406578616d706c652e6f7267",
            "6A616E65406578616D706C652E6F7267",
            "x: amFuZUBleGFtcGxlLm9yZyBpcyBoZXJlLi4u, y",
        ] {
            let found = find(text);
            assert_eq!(found.len(), 1, "{text}");
            let encoded = &found[0];
            assert_eq!(encoded.encode(&encoded.text), text[encoded.range.clone()]);
        }
        assert!(find("plain words that are no code at all").is_empty());
    }
}
