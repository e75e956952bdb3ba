//! What redaction leaves in place of what it took out.

/// Whether the text is one marker and nothing else: `REDACTED`, `<LABEL>`,
/// `<LABEL>_` and twelve hexadecimal digits, or a run of mask bullets with at most
/// four characters after it.
pub(crate) fn is_marker(text: &str) -> bool {
    text == "REDACTED" || is_label(text) || is_mask(text)
}

fn is_label(text: &str) -> bool {
    let Some((label, rest)) = text.strip_prefix('<').and_then(|rest| rest.split_once('>')) else {
        return false;
    };
    let named = label.starts_with(|c: char| c.is_ascii_uppercase())
        && label
            .bytes()
            .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_' || b == b'-');
    let hash = rest.strip_prefix('_').is_some_and(|hash| {
        hash.len() == 12
            && hash
                .bytes()
                .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    });
    named && (rest.is_empty() || hash)
}

fn is_mask(text: &str) -> bool {
    let kept = text.trim_start_matches('•');
    text.starts_with('•') && kept.chars().count() <= 4 && !kept.contains(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::is_marker;

    #[test]
    fn only_whole_markers_are_markers() {
        for marker in [
            "REDACTED",
            "<EMAIL>",
            "<EMAIL>_0123456789ab",
            "<US-SSN>",
            "••••6411",
            "••••",
        ] {
            assert!(is_marker(marker), "{marker}");
        }
        for text in [
            "was REDACTED here",
            "<email>",
            "<EMAIL>_0123",
            "<EMAIL> x",
            "6411",
            "",
            "•••• send it",
        ] {
            assert!(!is_marker(text), "{text}");
        }
    }
}
