//! The results of one message, read in one scan of its payload.

use super::surface::Listing;
use crate::wire::json::{Kind, Scanner, Span, Token, decode};
use crate::wire::mcp::Level;

/// What one result holds, as far as surfaces go. Of repeated members the last
/// counts, except that definitions of repeated lists all do.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    /// In the order of the file.
    pub(crate) listed: Vec<Listed>,
    /// The listings that have an array here, even an empty one.
    pub(crate) lists: Vec<Listing>,
    /// The value of `nextCursor`.
    pub(crate) next: Option<Span>,
    /// The value of `instructions`.
    pub(crate) instructions: Option<Span>,
    /// The value of `serverInfo`.
    pub(crate) server_info: Option<Span>,
    /// Whether it has a member that only an answer to a greeting has.
    pub(crate) greets: bool,
    /// The first name of a member of the result or of a definition that another reader
    /// could take for another one.
    pub(crate) doubtful: Option<Span>,
    seen: Vec<Listing>,
}

/// One element of a listing's array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listed {
    pub(crate) listing: Listing,
    /// The string that names it.
    pub(crate) name: Option<Span>,
    pub(crate) span: Span,
}

/// All objects under `result`: of a repeated `result` each, because a client may read any.
pub(crate) fn answers(text: &str, payload: Span) -> Vec<Answer> {
    let mut reader = Reader {
        text,
        found: Vec::new(),
        in_result: false,
        member: Member::Other,
        start: 0,
        list: None,
        item: Item::default(),
    };
    let mut scanner = Scanner::over(text, payload);
    while let Ok(Some(token)) = scanner.next_token() {
        reader.take(token, scanner.depth());
    }
    reader.found
}

/// The members of a result that matter here.
#[derive(Clone, Copy)]
enum Member {
    List(Listing),
    Next,
    Instructions,
    ServerInfo,
    Greeting,
    Other,
}

struct Reader<'a> {
    text: &'a str,
    found: Vec<Answer>,
    /// Whether the member of the payload that is being read is an object under `result`.
    in_result: bool,
    /// The member of the result that is being read, and where its value starts.
    member: Member,
    start: u32,
    /// The listing whose array is open.
    list: Option<Listing>,
    item: Item,
}

/// The element that is being read.
#[derive(Default)]
struct Item {
    start: u32,
    name: Option<Span>,
    /// Whether the next value is its name.
    name_next: bool,
}

impl<'a> Reader<'a> {
    /// Takes a token. `depth` counts the containers that are open after it: 1 is
    /// the payload, 2 a result, 3 a value of its members, 4 an element of a list.
    fn take(&mut self, token: Token, depth: usize) {
        let ends = matches!(token.kind, Kind::EndObject | Kind::EndArray);
        let begins = matches!(token.kind, Kind::BeginObject | Kind::BeginArray);
        match depth {
            1 if token.kind == Kind::Key => self.in_result = self.spells(token) == "result",
            2 if begins && self.in_result => self.result(token),
            _ if !self.in_result => {}
            2 if token.kind == Kind::Key => {
                self.member = self.member(token);
                self.doubt_member(token);
            }
            2 if ends => self.ended(self.start..token.span.end),
            2 => self.ended(token.span.start..token.span.end),
            3 if begins => self.value(token),
            3.. if self.list.is_some() => self.element(token, depth, begins, ends),
            _ => {}
        }
    }

    fn result(&mut self, token: Token) {
        self.in_result = token.kind == Kind::BeginObject;
        if self.in_result {
            self.found.push(Answer::default());
        }
        self.member = Member::Other;
        self.list = None;
    }

    /// Notes a member of the result that stands twice, or in another case.
    fn doubt_member(&mut self, key: Token) {
        let member = self.member;
        let variant = Level::Result.variant(&self.spells(key)).is_some();
        let Some(answer) = self.found.last_mut() else {
            return;
        };
        let repeated = match member {
            Member::List(listing) if answer.seen.contains(&listing) => true,
            Member::List(listing) => {
                answer.seen.push(listing);
                false
            }
            Member::Next => answer.next.is_some(),
            Member::Instructions => answer.instructions.is_some(),
            Member::ServerInfo => answer.server_info.is_some(),
            Member::Greeting | Member::Other => false,
        };
        if variant || repeated {
            answer.doubtful.get_or_insert(key.span);
        }
    }

    fn member(&self, key: Token) -> Member {
        let name = self.spells(key);
        match &*name {
            "nextCursor" => Member::Next,
            "instructions" => Member::Instructions,
            "serverInfo" => Member::ServerInfo,
            "capabilities" | "protocolVersion" => Member::Greeting,
            name => Listing::ALL
                .into_iter()
                .find(|listing| listing.member() == name)
                .map_or(Member::Other, Member::List),
        }
    }

    /// A container begins that is the value of a member of the result.
    fn value(&mut self, token: Token) {
        self.start = token.span.start;
        self.list = match self.member {
            Member::List(listing) if token.kind == Kind::BeginArray => Some(listing),
            _ => None,
        };
        if let (Some(listing), Some(answer)) = (self.list, self.found.last_mut()) {
            answer.lists.push(listing);
        }
    }

    /// The value of a member of the result has ended.
    fn ended(&mut self, span: std::ops::Range<u32>) {
        let value = Some(Span {
            start: span.start,
            end: span.end,
        });
        self.list = None;
        if let Some(answer) = self.found.last_mut() {
            match self.member {
                Member::Next => answer.next = value,
                Member::Instructions => answer.instructions = value,
                Member::ServerInfo => {
                    answer.greets = true;
                    answer.server_info = value;
                }
                Member::Greeting => answer.greets = true,
                Member::List(_) | Member::Other => {}
            }
        }
    }

    fn element(&mut self, token: Token, depth: usize, begins: bool, ends: bool) {
        match depth {
            3 if ends => self.listed(self.item.start, token.span.end),
            3 => {
                self.item.name = None;
                self.listed(token.span.start, token.span.end);
            }
            4 if begins => {
                self.item.start = token.span.start;
                self.item.name = None;
                self.item.name_next = false;
            }
            4 if token.kind == Kind::Key => {
                let Some(listing) = self.list else { return };
                let name = self.spells(token);
                self.item.name_next = listing.key() == name;
                let variant = listing.level().variant(&name).is_some();
                if variant && let Some(answer) = self.found.last_mut() {
                    answer.doubtful.get_or_insert(token.span);
                }
            }
            4 if self.item.name_next => {
                self.item.name = (token.kind == Kind::String).then_some(token.span);
                self.item.name_next = false;
            }
            _ => {}
        }
    }

    fn listed(&mut self, start: u32, end: u32) {
        if let (Some(listing), Some(answer)) = (self.list, self.found.last_mut()) {
            answer.listed.push(Listed {
                listing,
                name: self.item.name,
                span: Span { start, end },
            });
        }
    }

    fn spells(&self, key: Token) -> std::borrow::Cow<'a, str> {
        decode(key.inner().of(self.text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<Answer> {
        answers(text, Span::new(0, text.len()))
    }

    fn listed(text: &str) -> Vec<(&'static str, &str, &str)> {
        let mut found = Vec::new();
        for answer in read(text) {
            for item in answer.listed {
                let name = item.name.map_or("-", |span| span.of(text));
                let span = item.span.of(text);
                found.push((item.listing.member(), name, span));
            }
        }
        found
    }

    #[test]
    fn elements_have_a_name_and_a_span() {
        let text = r#"{"id": 1, "result": {"a": [[1]], "tools": [{"x": {"name": "no"}, "n\u0061me": "t"}, 7, [{"name": "no"}], {"name": "a", "name": [1]}], "prompts": [{"name": "p"}]}}"#;
        assert_eq!(
            listed(text),
            [
                (
                    "tools",
                    r#""t""#,
                    r#"{"x": {"name": "no"}, "n\u0061me": "t"}"#
                ),
                ("tools", "-", "7"),
                ("tools", "-", r#"[{"name": "no"}]"#),
                ("tools", "-", r#"{"name": "a", "name": [1]}"#),
                ("prompts", r#""p""#, r#"{"name": "p"}"#),
            ]
        );
    }

    #[test]
    fn only_lists_right_under_a_result_count() {
        for text in [
            r#"{"params": {"tools": [{"name": "t"}]}}"#,
            r#"{"result": {"a": {"tools": [{"name": "t"}]}}}"#,
            r#"{"result": [{"tools": [{"name": "t"}]}]}"#,
            r#"{"result": {"tools": {"name": ["t"]}}}"#,
            r#"{"result": null, "tools": [{"name": "t"}]}"#,
            r#"{"result": 1, "error": {"tools": [{"name": "t"}]}}"#,
            r#"[{"result": {"tools": [{"name": "t"}]}}]"#,
        ] {
            assert_eq!(listed(text), [], "{text}");
        }
    }

    #[test]
    fn repeated_lists_and_results_are_all_read() {
        let text = r#"{"result": {"tools": [{"name": "a"}], "tools": [{"name": "b"}]}, "result": {"tools": [{"name": "c"}]}}"#;
        let names: Vec<_> = listed(text).iter().map(|item| item.1).collect();
        assert_eq!(names, [r#""a""#, r#""b""#, r#""c""#]);
        assert_eq!(read(text).len(), 2);
    }

    #[test]
    fn cursors_instructions_and_greetings_are_found() {
        let text = r#"{"result": {"tools": [], "nextCursor": "x", "instructions": {"a": [1]}, "serverInfo": {}}}"#;
        let found = read(text);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].lists, [Listing::Tools]);
        assert_eq!(found[0].next.map(|span| span.of(text)), Some(r#""x""#));
        let instructions = found[0].instructions.map(|span| span.of(text));
        assert_eq!(instructions, Some(r#"{"a": [1]}"#));
        assert!(found[0].greets);
    }
}
