//! Text inside base64 and hexadecimal, and payloads that are known to be binary.

/// The shortest token, in characters, that is decoded.
pub(crate) const SHORTEST: usize = 20;

/// How much of a token is decoded to see whether the rest is worth it.
const PEEK: usize = 64;

/// The first characters of base64 payloads of images, sound, fonts, archives and
/// documents, and of public keys.
#[rustfmt::skip]
const BINARY: &[&str] = &[
    "iVBORw0KGgo", "/9j/", "R0lGOD", "UklGR", "AAABAA", "SUkqA", "TU0AK", "JVBERi0", "UEsDB",
    "H4sIA", "AAAAIGZ0eX", "AAAAHGZ0eX", "AAAAGGZ0eX", "SUQz", "//uQ", "T2dnUw", "ZkxhQ",
    "d09GMg", "d09GRg", "AAEAAAA", "T1RUTw", "AGFzbQ", "GkXfo", "N3q8rycc", "KLUv", "QlpoOT",
    "/Td6WFo", "AAAAB3NzaC1", "AAAAC3NzaC1", "AAAAE2VjZHNh", "AAAAGnNrLX",
];

/// The text that a token of key characters encodes, if it is readable text.
pub(crate) fn decode(token: &str) -> Option<String> {
    if token.len() < SHORTEST {
        return None;
    }
    let decoded = if is_hex(token) {
        decode_with(token, hex)
    } else {
        decode_with(token, base64)
    }?;
    let text = String::from_utf8(decoded).ok()?;
    text.chars().all(is_readable).then_some(text)
}

/// Whether a token begins like binary content or a public key.
pub(super) fn is_binary(token: &str) -> bool {
    BINARY.iter().any(|start| token.starts_with(start))
}

fn is_readable(c: char) -> bool {
    !c.is_control() || matches!(c, '\n' | '\r' | '\t')
}

fn is_hex(token: &str) -> bool {
    token.len().is_multiple_of(2) && token.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn decode_with(token: &str, decode: fn(&[u8]) -> Option<Vec<u8>>) -> Option<Vec<u8>> {
    let bytes = token.as_bytes();
    if let Some(head) = bytes.get(..PEEK) {
        let head = decode(head)?;
        // The cut may have split a character, which is no error of the text.
        let readable = match std::str::from_utf8(&head) {
            Ok(text) => text.chars().all(is_readable),
            Err(error) => error.error_len().is_none(),
        };
        if !readable {
            return None;
        }
    }
    decode(bytes)
}

fn hex(bytes: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| {
        char::from(byte)
            .to_digit(16)
            .and_then(|digit| u8::try_from(digit).ok())
    };
    bytes
        .chunks_exact(2)
        .map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?))
        .collect()
}

/// Either alphabet, without padding.
pub(crate) fn base64(bytes: &[u8]) -> Option<Vec<u8>> {
    if bytes.len() % 4 == 1 {
        return None;
    }
    let mut decoded = Vec::with_capacity(bytes.len() / 4 * 3 + 3);
    let (mut buffer, mut filled) = (0_u32, 0_u32);
    for byte in bytes {
        buffer = buffer << 6 | u32::from(sextet(*byte)?);
        filled += 6;
        if filled >= 8 {
            filled -= 8;
            let [.., low] = (buffer >> filled).to_be_bytes();
            decoded.push(low);
        }
    }
    Some(decoded)
}

fn sextet(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readable_text_is_decoded() {
        assert_eq!(
            decode("SGVsbG8gd29ybGQsIGhlbGxv").as_deref(),
            Some("Hello world, hello")
        );
        assert_eq!(
            decode("eyJvZmZzZXQiOjIwLCJhIjoxfQ").as_deref(),
            Some("{\"offset\":20,\"a\":1}")
        );
        assert_eq!(
            decode("48656c6c6f20776f726c642c2068656c6c6f").as_deref(),
            Some("Hello world, hello")
        );
    }

    #[test]
    fn random_and_short_tokens_are_not() {
        for token in [
            "q8N2vR5xL1mZ7pK4tW9yB3cF6hJ0dG2sA5eU8iO1",
            "SGVsbG8",
            "getPullRequestReviewComments",
            "da39a3ee5e6b4b0d3255bfef95601890afd80709",
        ] {
            assert_eq!(decode(token), None, "{token}");
        }
    }
}
