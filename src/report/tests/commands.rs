//! The two command parsers of a GitHub Actions runner, for the tests of the reports and
//! for those of the binary.

/// One command that a runner would carry out.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Command {
    pub(crate) name: String,
    pub(crate) properties: Vec<(String, String)>,
    pub(crate) data: String,
}

const KNOWN: [&str; 12] = [
    "add-mask",
    "add-matcher",
    "add-path",
    "debug",
    "echo",
    "endgroup",
    "error",
    "group",
    "notice",
    "set-env",
    "stop-commands",
    "warning",
];

/// Reads output line by line, as the runner's process reader splits it: at line
/// feed, carriage return, or both.
pub(crate) fn commands_in(output: &str) -> Vec<Command> {
    let mut seen = Vec::new();
    let mut stopped_until: Option<String> = None;
    for line in output.replace("\r\n", "\n").split(['\n', '\r']) {
        let known = |name: &str| {
            KNOWN.contains(&name.to_lowercase().as_str())
                || stopped_until
                    .as_deref()
                    .is_some_and(|token| token.eq_ignore_ascii_case(name))
        };
        let Some(command) = newer(line, known).or_else(|| older(line, known)) else {
            continue;
        };
        match &stopped_until {
            Some(token) if command.name.eq_ignore_ascii_case(token) => stopped_until = None,
            Some(_) => {}
            None if command.name.eq_ignore_ascii_case("stop-commands") => {
                stopped_until = Some(command.data);
            }
            None => seen.push(command),
        }
    }
    assert_eq!(stopped_until, None, "commands stay switched off");
    seen
}

/// `::name key=value,key=value::data` after leading blanks of any kind.
fn newer(line: &str, known: impl Fn(&str) -> bool) -> Option<Command> {
    let (head, data) = line.trim_start().strip_prefix("::")?.split_once("::")?;
    let (name, properties) = head.split_once(' ').unwrap_or((head, ""));
    known(name).then(|| Command {
        name: name.to_owned(),
        properties: split_properties(properties, ','),
        data: unescaped(data),
    })
}

/// `##[name key=value;key=value]data` anywhere in a line.
fn older(line: &str, known: impl Fn(&str) -> bool) -> Option<Command> {
    let (_, rest) = line.split_once("##[")?;
    let (head, data) = rest.split_once(']')?;
    let (name, properties) = head.split_once(' ').unwrap_or((head, ""));
    known(name).then(|| Command {
        name: name.to_owned(),
        properties: split_properties(properties, ';'),
        data: data.to_owned(),
    })
}

fn split_properties(text: &str, separator: char) -> Vec<(String, String)> {
    text.split(separator)
        .filter_map(|pair| pair.trim().split_once('='))
        .map(|(key, value)| (key.to_owned(), unescaped(value)))
        .collect()
}

fn unescaped(text: &str) -> String {
    let pairs = [
        ("%0D", "\r"),
        ("%0A", "\n"),
        ("%3A", ":"),
        ("%2C", ","),
        ("%25", "%"),
    ];
    pairs
        .iter()
        .fold(text.to_owned(), |text, (escape, c)| text.replace(escape, c))
}
