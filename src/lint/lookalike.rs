//! Names in plain letters that are drawn like a common word: `rnessage`, `fi1es`.
//!
//! Names of one listing are compared with each other elsewhere. Here a part of a name is
//! compared with the words that names of tools are made of, which needs no other name.

/// Words that names of tools are made of and that can be drawn in other letters.
const WORDS: &[&str] = &[
    "account",
    "admin",
    "amazon",
    "archive",
    "article",
    "assign",
    "attach",
    "bill",
    "billing",
    "bitcoin",
    "board",
    "book",
    "branch",
    "browser",
    "build",
    "calendar",
    "call",
    "cancel",
    "channel",
    "chat",
    "click",
    "client",
    "clone",
    "close",
    "cloud",
    "code",
    "comment",
    "commit",
    "company",
    "confirm",
    "contact",
    "container",
    "content",
    "copy",
    "customer",
    "database",
    "delete",
    "deploy",
    "dialog",
    "directory",
    "discord",
    "docker",
    "document",
    "documents",
    "domain",
    "download",
    "email",
    "emails",
    "employee",
    "execute",
    "facebook",
    "file",
    "files",
    "folder",
    "forecast",
    "form",
    "google",
    "gitlab",
    "github",
    "gmail",
    "image",
    "images",
    "import",
    "inbox",
    "invoice",
    "invoices",
    "issue",
    "issues",
    "item",
    "items",
    "label",
    "link",
    "links",
    "list",
    "load",
    "local",
    "log",
    "login",
    "logs",
    "mail",
    "mails",
    "merge",
    "message",
    "messages",
    "microsoft",
    "model",
    "money",
    "move",
    "notion",
    "open",
    "order",
    "orders",
    "payment",
    "payments",
    "paypal",
    "poll",
    "post",
    "posts",
    "product",
    "products",
    "profile",
    "project",
    "projects",
    "pull",
    "record",
    "records",
    "remove",
    "rename",
    "repo",
    "repository",
    "resolve",
    "role",
    "rollback",
    "salesforce",
    "schema",
    "scroll",
    "shell",
    "skill",
    "slack",
    "solve",
    "sql",
    "table",
    "tables",
    "telegram",
    "terminal",
    "ticket",
    "tickets",
    "token",
    "tool",
    "tools",
    "transform",
    "translate",
    "tweet",
    "update",
    "upload",
    "url",
    "value",
    "volume",
    "wallet",
    "weather",
    "web",
    "webhook",
    "workflow",
    "world",
    "write",
];

/// The part of a name that is drawn like one of the words and is another, and the word.
pub(crate) fn drawn_like(name: &str) -> Option<(&str, &'static str)> {
    let parts = name.split(|c: char| !c.is_ascii_alphanumeric());
    parts.filter(|part| part.len() > 2).find_map(|part| {
        let drawn = drawn(part);
        let like = WORDS
            .iter()
            .copied()
            .find(|word| drawn.contains(&(*word).to_owned()))?;
        // Capitals are no disguise, and neither is a number behind a word.
        let same = part.eq_ignore_ascii_case(like);
        let stem = part.trim_end_matches(|c: char| c.is_ascii_digit());
        let is_word = WORDS.iter().any(|word| word.eq_ignore_ascii_case(stem));
        let numbered = stem != part && (part.len() != like.len() || is_word);
        (!same && !numbered).then_some((part, like))
    })
}

/// What a part of a name may be read as; a one is drawn like two letters.
fn drawn(part: &str) -> Vec<String> {
    let mixed = part.bytes().any(|byte| byte.is_ascii_lowercase());
    let plain: String = part
        .chars()
        .map(|c| match c {
            '0' => 'o',
            '5' => 's',
            '3' => 'e',
            // A capital I among small letters is read as an l.
            'I' if mixed => 'l',
            c => c.to_ascii_lowercase(),
        })
        .collect();
    let plain = plain
        .replace("rn", "m")
        .replace("vv", "w")
        .replace("lnu", "hu");
    let mut all = vec![plain.replace('1', "l"), plain.replace('1', "i")];
    // Among capitals a small l is read as an I.
    if part.contains('l') && part.bytes().filter(u8::is_ascii_uppercase).count() > 1 {
        all.push(part.replace('l', "I").to_ascii_lowercase());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_in_other_letters_are_found() {
        for (name, part) in [
            ("send_rnessage", "rnessage"),
            ("list_fi1es", "fi1es"),
            ("vvrite_file", "vvrite"),
            ("g00gle_search", "g00gle"),
            ("READ_FlLE", "FlLE"),
            ("send_ema1l", "ema1l"),
            ("paypaI_send", "paypaI"),
            ("paypa1_send", "paypa1"),
            ("get_fi1e5", "fi1e5"),
        ] {
            assert_eq!(drawn_like(name).map(|(part, _)| part), Some(part), "{name}");
        }
    }

    #[test]
    fn honest_names_are_left_alone() {
        for name in [
            "send_message",
            "modern_list",
            "get_file1",
            "tool5",
            "file5_of_50",
            "read_file2",
            "list_files_v1",
            "LIST_FILES",
            "o365_mail",
            "s3_upload",
            "kernel_info",
            "burn_calories",
            "turn_on",
            "web3_call",
            "h1_title",
            "base64_encode",
            "md5_hash",
            "fern_book",
            "corner_case",
            "getFile",
            "URL_open",
            "x1_item",
        ] {
            assert_eq!(drawn_like(name), None, "{name}");
        }
    }
}
