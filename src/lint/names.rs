//! Tool names: what a name pretends to be, and which names are one to a reader.
//!
//! A client picks a tool by its name, so a name that looks like another one
//! takes its calls. Two keys compare names of one listing with each other:
//! [`name_key`] for names that are the same but for case, spaces and script,
//! and [`look_alike_key`] for ASCII names that are drawn alike.

use std::fmt;

use unicode_normalization::UnicodeNormalization;
use unicode_script::{Script, UnicodeScript};
use unicode_security::MixedScript;

use super::fold::{Fold, fold, imitated};
use super::invisible::class::glyphless;

/// The longest name that the naming rules of the 2025-11-25 revision allow.
pub(crate) const LONGEST_NAME: usize = 128;

/// A name with characters beyond ASCII. Displays as 0.4.0 worded it, with the
/// characters after a colon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NameIssue {
    /// The scripts of its letters in upper case, sorted; more than one only if
    /// they do not belong to one writing system.
    pub(crate) scripts: Vec<String>,
    /// Whether the name mixes scripts.
    pub(crate) mixed: bool,
    /// Each character beyond ASCII, once, in the order of the name.
    pub(crate) characters: Vec<NameCharacter>,
}

/// One character beyond ASCII in a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NameCharacter {
    /// The character.
    pub(crate) character: char,
    /// Its Unicode name, or `<unnamed>`.
    pub(crate) name: String,
    /// The ASCII text it is drawn like, if any.
    pub(crate) imitates: Option<String>,
    /// Whether it is not drawn at all.
    pub(crate) invisible: bool,
}

impl fmt::Display for NameIssue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.mixed {
            write!(f, "mixed-script tool name ({}): ", self.scripts.join(", "))?;
        } else {
            write!(f, "non-ASCII tool name: ")?;
        }
        for (index, character) in self.characters.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{character}")?;
        }
        Ok(())
    }
}

impl fmt::Display for NameCharacter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "U+{:04X} {}", u32::from(self.character), self.name)?;
        match &self.imitates {
            _ if self.invisible => write!(f, " (invisible)"),
            Some(ascii) => write!(f, " (looks like \"{ascii}\")"),
            None => Ok(()),
        }
    }
}

/// What is beyond ASCII in a name; none for an ASCII name.
pub(crate) fn describe_name(name: &str) -> Option<NameIssue> {
    let mut characters: Vec<NameCharacter> = Vec::new();
    for character in name.chars().filter(|c| !c.is_ascii()) {
        if characters.iter().any(|known| known.character == character) {
            continue;
        }
        let invisible = glyphless(character).is_some();
        characters.push(NameCharacter {
            character,
            name: unicode_names2::name(character)
                .map_or_else(|| "<unnamed>".to_owned(), |name| name.to_string()),
            imitates: imitated(character).filter(|_| !invisible),
            invisible,
        });
    }
    if characters.is_empty() {
        return None;
    }
    Some(NameIssue {
        scripts: scripts(name),
        mixed: !name.is_single_script(),
        characters,
    })
}

fn scripts(name: &str) -> Vec<String> {
    let mut scripts: Vec<String> = name
        .chars()
        .map(|c| c.script())
        .filter(|script| !matches!(script, Script::Common | Script::Inherited | Script::Unknown))
        .map(|script| script.full_name().to_uppercase())
        .collect();
    scripts.sort();
    scripts.dedup();
    scripts
}

/// What is odd about the spelling of a name, whatever its script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameFault {
    /// The name is empty or blank.
    Empty,
    /// The name has white space in it or around it.
    Space,
    /// The name has more than [`LONGEST_NAME`] characters; so many.
    TooLong(usize),
}

impl fmt::Display for NameFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "empty tool name"),
            Self::Space => write!(f, "white space in a tool name"),
            Self::TooLong(length) => write!(
                f,
                "tool name of {length} characters, more than the {LONGEST_NAME} allowed"
            ),
        }
    }
}

/// Checks the spelling of a name. Dots and slashes are allowed.
pub(crate) fn name_fault(name: &str) -> Option<NameFault> {
    let length = name.chars().count();
    if name.trim().is_empty() {
        Some(NameFault::Empty)
    } else if length > LONGEST_NAME {
        Some(NameFault::TooLong(length))
    } else if name.contains(char::is_whitespace) {
        Some(NameFault::Space)
    } else {
        None
    }
}

/// The key by which two names are one name: compatibility form, case, outer
/// spaces, invisible characters and look-alikes of other scripts do not count.
pub(crate) fn name_key(name: &str) -> String {
    fold(Fold::Skeleton, name)
}

/// The key by which two ASCII names are drawn alike: `l`, `1` and a capital
/// `I`, `0` and `O`, `rn` and `m`, `vv` and `w`. Many honest names share such
/// letters, so it only serves to compare names of one listing.
pub(crate) fn look_alike_key(name: &str) -> String {
    let drawn: String = name
        .nfkc()
        .filter(|c| glyphless(*c).is_none())
        .flat_map(|c| imitated(c).map_or_else(|| vec![c], |ascii| ascii.chars().collect()))
        .map(|c| match c {
            'I' | '1' | '|' => 'l',
            '0' | 'O' => 'o',
            _ => c.to_ascii_lowercase(),
        })
        .collect();
    drawn.trim().replace("rn", "m").replace("vv", "w")
}

/// Where a capital `I` stands for an `l` in a name: alone among small letters, before a
/// vowel, as in `Iist` and `fiIe`. Words that begin with `I` seldom go on with one.
pub(crate) fn capital_for_l(name: &str) -> Option<usize> {
    const WORDS: &[&str] = &["am", "an", "ata", "eee", "on", "ons", "os", "ot"];
    let (at, _) = name.match_indices('I').next()?;
    let others = name.bytes().filter(u8::is_ascii_uppercase).count();
    let rest = name.get(at + 1..)?;
    let word = rest
        .split(|c: char| !c.is_ascii_lowercase())
        .next()
        .unwrap_or_default();
    let reads_on = word.len() > 1 || !name.get(..at)?.is_empty() && !word.is_empty();
    let vowel = word.starts_with(['a', 'e', 'i', 'o', 'u']);
    (others == 1 && reads_on && vowel && !WORDS.contains(&word)).then_some(at)
}

/// Whether the name of a parameter asks for a private file: `content_of_id_rsa`,
/// `send_env_file`. A path or a name of one is for the user to give.
pub(crate) fn asks_for_private_file(name: &str) -> bool {
    const FILES: &[&str] = &[
        "_id_rsa_",
        "_id_ed25519_",
        "_env_file_",
        "_dotenv_",
        "_etc_passwd_",
        "_etc_shadow_",
        "_aws_credentials_",
        "_ssh_keys_",
        "_ssh_private_key_",
        "_private_key_",
        "_ssh_folder_",
    ];
    const ORDERS: &[&str] = &[
        "_content_of_",
        "_contents_of_",
        "_send_",
        "_upload_",
        "_dump_of_",
        "_attach_",
        "_paste_",
        "_read_",
    ];
    // A place, a choice or a number of it is not the file.
    const ABOUT: &[&str] = &["path", "name", "id", "url", "enabled", "type", "size"];
    let words: Vec<String> = name
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .collect();
    if words
        .last()
        .is_some_and(|word| ABOUT.contains(&word.as_str()))
    {
        return false;
    }
    let joined = format!("_{}_", words.join("_"));
    let has = |parts: &[&str]| parts.iter().any(|part| joined.contains(part));
    has(FILES) && has(ORDERS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capital_that_is_drawn_like_an_l_is_found_in_small_letters_only() {
        for name in [
            "github_Iist_issues",
            "read_fiIe",
            "deIete_all",
            "Iogin",
            "upIoad",
        ] {
            assert!(capital_for_l(name).is_some(), "{name}");
        }
        for name in [
            "list_issues",
            "includeImage",
            "resourceId",
            "get_Id",
            "show_Info",
            "Invoice",
            "aws_Iam",
            "app_Ios",
            "API-post-search",
            "IoTDevice",
            "getItem",
            "I",
            "",
        ] {
            assert_eq!(capital_for_l(name), None, "{name}");
        }
    }

    #[test]
    fn names_that_ask_for_a_private_file_are_told_from_names_of_its_place() {
        for name in [
            "content_of_home_ssh_id_rsa",
            "send_env_file_first",
            "Contents-Of-Etc-Passwd",
        ] {
            assert!(asks_for_private_file(name), "{name}");
        }
        for name in [
            "env_file",
            "id_rsa_path",
            "send_env_file_path",
            "ssh_keys",
            "content",
            "upload_file",
            "content_of_message",
            "",
        ] {
            assert!(!asks_for_private_file(name), "{name}");
        }
    }

    #[test]
    fn a_mixed_name_lists_its_scripts_and_the_substituted_character() {
        let issue = describe_name("f\u{438}nd").expect("an issue");
        assert!(issue.mixed);
        assert_eq!(
            issue.to_string(),
            "mixed-script tool name (CYRILLIC, LATIN): U+0438 CYRILLIC SMALL LETTER I"
        );
        assert_eq!(
            describe_name("\u{455}end_email").map(|issue| issue.to_string()),
            Some(
                "mixed-script tool name (CYRILLIC, LATIN): \
                 U+0455 CYRILLIC SMALL LETTER DZE (looks like \"s\")"
                    .to_owned()
            )
        );
    }

    #[test]
    fn each_disguise_names_what_it_imitates() {
        for (name, mixed, parts) in [
            ("g\u{456}thub_create_issue", true, "(looks like \"i\")"),
            (
                "\u{3c4}ransfer_funds",
                true,
                "U+03C4 GREEK SMALL LETTER TAU (looks like \"t\")",
            ),
            (
                "read_file\u{e0078}",
                false,
                "U+E0078 TAG LATIN SMALL LETTER X (invisible)",
            ),
            (
                "𝚛𝚎𝚊𝚍_𝚏𝚒𝚕𝚎",
                false,
                "U+1D69B MATHEMATICAL MONOSPACE SMALL R (looks like \"r\")",
            ),
            (
                "ｒｅａｄ",
                false,
                "U+FF52 FULLWIDTH LATIN SMALL LETTER R (looks like \"r\")",
            ),
            ("поиск", false, "U+043F CYRILLIC SMALL LETTER PE"),
            ("検索する", false, "CJK UNIFIED IDEOGRAPH"),
            (
                "caf\u{e9}",
                false,
                "LATIN SMALL LETTER E WITH ACUTE (looks like \"e\")",
            ),
            ("re\u{200b}ad", false, "U+200B ZERO WIDTH SPACE (invisible)"),
            (
                "Ι\u{399}read",
                true,
                "GREEK CAPITAL LETTER IOTA (looks like \"I\")",
            ),
        ] {
            let issue = describe_name(name).expect(name);
            assert_eq!(issue.mixed, mixed, "{name}");
            let shown = issue.to_string();
            assert!(shown.contains(parts), "{name}: {shown}");
            let start = if mixed { "mixed-script" } else { "non-ASCII" };
            assert!(shown.starts_with(start), "{name}: {shown}");
        }
        for name in ["find_records", "a.b/c-d", "", "Create CIFS Share"] {
            assert_eq!(describe_name(name), None, "{name}");
        }
        let repeated = describe_name("ѕѕѕ").expect("an issue");
        assert_eq!(repeated.characters.len(), 1);
    }

    #[test]
    fn names_that_read_the_same_share_a_key() {
        for name in [
            "send_email",
            "Send_Email",
            " Send_Email ",
            "\u{455}end_email",
            "send_em\u{430}il",
            "ѕеnd_еmаil",
            "ｓｅｎｄ＿ｅｍａｉｌ",
            "𝘴𝘦𝘯𝘥_𝘦𝘮𝘢𝘪𝘭",
            "se\u{200b}nd_email\u{e0041}",
            "ꜱᴇɴᴅ_ᴇᴍᴀɪʟ",
            "ѕеnԁ_email",
        ] {
            assert_eq!(name_key(name), "send_email", "{name}");
        }
        assert_eq!(name_key("сору"), name_key("copy"));
        for (a, b) in [
            ("send_email", "send-email"),
            ("send_email", "send_emails"),
            ("поиск", "найти"),
            ("list", "Iist"),
        ] {
            assert_ne!(name_key(a), name_key(b), "{a} {b}");
        }
    }

    #[test]
    fn ascii_names_that_are_drawn_alike_share_the_looser_key() {
        for (a, b) in [
            ("list_files", "Iist_files"),
            ("list_files", "1ist_files"),
            ("message", "rnessage"),
            ("write_file", "vvrite_file"),
            ("GO", "G0"),
            ("o365", "0365"),
            ("list_files", "ӏist_files"),
        ] {
            assert_eq!(look_alike_key(a), look_alike_key(b), "{a} {b}");
        }
        for (a, b) in [("list", "last"), ("pin", "pln"), ("read", "write")] {
            assert_ne!(look_alike_key(a), look_alike_key(b), "{a} {b}");
        }
    }

    #[test]
    fn odd_but_legal_names_pass_and_broken_ones_do_not() {
        for name in ["coding.start", "admin/users", "get-x_1", "поиск"] {
            assert_eq!(name_fault(name), None, "{name}");
        }
        assert_eq!(name_fault(&"x".repeat(128)), None);
        assert_eq!(name_fault(&"x".repeat(129)), Some(NameFault::TooLong(129)));
        assert_eq!(name_fault("Create CIFS Share"), Some(NameFault::Space));
        assert_eq!(name_fault("tab\tname"), Some(NameFault::Space));
        assert_eq!(name_fault(""), Some(NameFault::Empty));
        assert_eq!(name_fault(" \n"), Some(NameFault::Empty));
        assert_eq!(
            NameFault::TooLong(129).to_string(),
            "tool name of 129 characters, more than the 128 allowed"
        );
    }
}
