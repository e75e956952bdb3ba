//! What a tool claims of itself, against what its name says that it does.
//!
//! A client asks nobody before it calls a tool that claims only to read.

use super::surfaces::{Defined, Definition};
use crate::wire::json::{Kind, Span, nested};

/// Verbs at the beginning of a name after which something is gone or on its way.
const CHANGING: &str = "delete|drop|purge|wipe|erase|destroy|truncate|remove|uninstall|overwrite|send|pay|transfer|\
    write|merge";
/// Those of them after which something is gone.
const DESTROYING: &str = "delete|drop|purge|wipe|erase|destroy|truncate";

/// A hint that the name of the tool contradicts.
pub(crate) struct Lie {
    /// Where the hint's value stands.
    pub(crate) span: Span,
    /// What the hint claims.
    pub(crate) claim: &'static str,
    /// What the name says.
    pub(crate) verb: String,
}

/// The first hint of a tool that is not true by the tool's own name.
pub(crate) fn lie(source: &str, definition: &Definition<'_>) -> Option<Lie> {
    let (name, _) = definition.name.as_ref()?;
    if definition.defines != Defined::Tool {
        return None;
    }
    let verb = first_verb(name);
    // Most names need no look into the definition.
    if !is_one_of(CHANGING, &verb) {
        return None;
    }
    [
        ("readOnlyHint", Kind::True, CHANGING, "only reads"),
        (
            "destructiveHint",
            Kind::False,
            DESTROYING,
            "destroys nothing",
        ),
    ]
    .into_iter()
    .find_map(|(hint, value, verbs, claim)| {
        let told = nested(source, definition.span, &["annotations", hint])?;
        let contradicts = told.kind == value && is_one_of(verbs, &verb);
        contradicts.then(|| Lie {
            span: told.span,
            claim,
            verb: verb.clone(),
        })
    })
}

/// Whether it is one of the words, which bars part.
fn is_one_of(words: &str, word: &str) -> bool {
    words.split('|').any(|known| known == word)
}

/// The first word of a name: `delete` of `delete_file` and of `deleteFile`.
fn first_verb(name: &str) -> String {
    let letters = name.trim_start_matches(|c: char| !c.is_ascii_alphabetic());
    letters
        .char_indices()
        .take_while(|(at, c)| c.is_ascii_alphabetic() && (*at == 0 || c.is_ascii_lowercase()))
        .map(|(_, c)| c.to_ascii_lowercase())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_word_of_a_name_is_its_verb() {
        for (name, verb) in [
            ("delete_file", "delete"),
            ("deleteFile", "delete"),
            ("Delete-File", "delete"),
            ("list_deleted", "list"),
            ("_drop", "drop"),
            ("", ""),
        ] {
            assert_eq!(first_verb(name), verb);
        }
    }
}
