//! Faults: what a test wants to go wrong, and on which request.
//!
//! A misspelt fault would test nothing and pass, so that the overlay file is read strictly: every
//! member, type and value that is not known is an error with its line.

mod recorded;

pub(crate) use recorded::{DryRun, Hit};

use crate::cassette::Transport;
use crate::cassette::locate::position;
use crate::wire::json::{Scanner, Span};
use crate::wire::mcp::code;
use crate::wire::node::{Data, Member, Node};
use std::time::Duration;

/// The faults of an overlay file, in its order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Overlay {
    faults: Vec<Planned>,
}

/// A fault and the requests that it is for.
#[derive(Clone, Debug)]
struct Planned {
    method: String,
    /// The n-th request that fits, from 1; each without one.
    nth: Option<u64>,
    tool: Option<String>,
    fault: Fault,
    /// How many requests fitted so far.
    seen: u64,
    fired: bool,
    /// Another fault was first at least once, and that was said.
    shadowed: bool,
}

/// What goes wrong with an answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fault {
    /// It comes so much later.
    Delay(Duration),
    /// It never comes.
    Timeout,
    /// An error comes in its place.
    Error { code: i64, message: String },
    /// Something comes that is no answer.
    Malformed(Strategy),
    /// The connection ends.
    Disconnect { after_response: bool },
    /// Over HTTP: another response comes.
    HttpStatus {
        status: u16,
        /// In seconds.
        retry_after: Option<u64>,
        body: Option<String>,
    },
    /// Over HTTP: the stream breaks off after so many messages. Whoever asks for the rest gets it.
    CutStream { after_events: u64 },
    /// Over HTTP: the session is not known any more, until the client begins a new one.
    SessionExpired,
}

/// How an answer is spoilt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strategy {
    /// Only its first half comes.
    Truncate,
    /// A line comes that is no JSON.
    NotJson,
    /// It has the id of no request.
    WrongId,
}

/// What is wrong with an overlay file.
#[derive(Debug, thiserror::Error)]
#[error("{name}:{line}: {problem}")]
pub(crate) struct OverlayError {
    name: String,
    line: u32,
    problem: String,
}

const TYPES: [&str; 8] = [
    "delay",
    "timeout",
    "error",
    "malformed",
    "disconnect",
    "http_status",
    "cut_stream",
    "session_expired",
];

impl Fault {
    /// The type as the file names it.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Fault::Delay(_) => "delay",
            Fault::Timeout => "timeout",
            Fault::Error { .. } => "error",
            Fault::Malformed(_) => "malformed",
            Fault::Disconnect { .. } => "disconnect",
            Fault::HttpStatus { .. } => "http_status",
            Fault::CutStream { .. } => "cut_stream",
            Fault::SessionExpired => "session_expired",
        }
    }
}

impl Overlay {
    /// Reads an overlay for recordings of that transport.
    ///
    /// # Errors
    ///
    /// Whatever is not exactly an overlay, with its line.
    pub(crate) fn parse(
        name: &str,
        bytes: &[u8],
        transport: Transport,
    ) -> Result<Overlay, OverlayError> {
        let fail = |line, problem| OverlayError {
            name: name.to_owned(),
            line,
            problem,
        };
        let text =
            std::str::from_utf8(bytes).map_err(|_| fail(1, "is not UTF-8 text".to_owned()))?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let line = |at| position(text, at).line;
        let mut scanner = Scanner::new(text);
        scanner
            .value()
            .and_then(|_| scanner.finish())
            .map_err(|error| fail(line(error.at), format!("is not valid JSON: {error}")))?;
        let root = Node::read(text, Span::new(0, text.len()))
            .map_err(|error| fail(1, error.to_string()))?;
        let reader = Reader { text, transport };
        match reader.overlay(&root) {
            Ok(faults) => Ok(Overlay { faults }),
            Err(Wrong { at, problem }) => Err(fail(line(at), problem)),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.faults.is_empty()
    }

    /// Whether a fault looks at the name of the tool.
    pub(crate) fn names_tools(&self) -> bool {
        self.faults.iter().any(|planned| planned.tool.is_some())
    }

    /// What goes wrong with the next request of that method and tool: the first fault of the file
    /// that fits. `warn` is told of others that would have fired as well.
    pub(crate) fn next(
        &mut self,
        method: &str,
        tool: Option<&str>,
        mut warn: impl FnMut(String),
    ) -> Option<Fault> {
        let mut found: Option<Fault> = None;
        for planned in &mut self.faults {
            let fits = planned.method == method
                && planned
                    .tool
                    .as_deref()
                    .is_none_or(|wanted| tool == Some(wanted));
            if !fits {
                continue;
            }
            planned.seen += 1;
            if planned.nth.is_some_and(|nth| nth != planned.seen) {
                continue;
            }
            match &found {
                None => {
                    planned.fired = true;
                    found = Some(planned.fault.clone());
                }
                Some(first) if !planned.shadowed => {
                    planned.shadowed = true;
                    let (first, second) = (first.name(), planned.label());
                    warn(format!(
                        "fault {second} does not fire on a request that {first} fires on already"
                    ));
                }
                Some(_) => {}
            }
        }
        found
    }

    /// The faults that never fired, for people.
    pub(crate) fn unused(&self) -> Vec<String> {
        let unused = self.faults.iter().filter(|planned| !planned.fired);
        unused.map(Planned::label).collect()
    }
}

impl Planned {
    fn label(&self) -> String {
        let mut label = format!("{} on {}", self.fault.name(), self.method);
        if let Some(tool) = &self.tool {
            label.push_str(&format!(" of tool {tool}"));
        }
        if let Some(nth) = self.nth {
            label.push_str(&format!(" number {nth}"));
        }
        label
    }
}

struct Wrong {
    at: usize,
    problem: String,
}

fn wrong<T>(span: Span, problem: impl Into<String>) -> Result<T, Wrong> {
    Err(Wrong {
        at: span.start as usize,
        problem: problem.into(),
    })
}

struct Reader<'a> {
    text: &'a str,
    transport: Transport,
}

impl Reader<'_> {
    fn overlay(&self, root: &Node) -> Result<Vec<Planned>, Wrong> {
        self.members(root, "the overlay", &["faults"])?;
        let Some(faults) = given(root, "faults") else {
            return wrong(root.span, "the member `faults` is missing");
        };
        if !matches!(faults.data, Data::Array(_)) {
            return wrong(faults.span, "`faults` is not an array");
        }
        faults.items().iter().map(|item| self.fault(item)).collect()
    }

    fn fault(&self, node: &Node) -> Result<Planned, Wrong> {
        self.members(node, "a fault", &["target", "type", "params"])?;
        let Some(target) = given(node, "target") else {
            return wrong(node.span, "a fault has no `target`");
        };
        self.members(target, "`target`", &["method", "nth", "tool"])?;
        let Some(method) = given(target, "method") else {
            return wrong(target.span, "`target` has no `method`");
        };
        let method = self.string(method, "`method`")?;
        let nth = match given(target, "nth") {
            Some(nth) => match self.whole(nth) {
                Some(nth) if nth >= 1 => u64::try_from(nth).ok(),
                _ => return wrong(nth.span, "`nth` is not a whole number from 1 on"),
            },
            None => None,
        };
        let tool = match given(target, "tool") {
            Some(_) if method != "tools/call" => {
                return wrong(target.span, "`tool` goes with the method tools/call only");
            }
            Some(tool) => Some(self.string(tool, "`tool`")?),
            None => None,
        };
        let Some(kind) = given(node, "type") else {
            return wrong(node.span, "a fault has no `type`");
        };
        let name = self.string(kind, "`type`")?;
        let Some(&known) = TYPES.iter().find(|known| **known == name) else {
            return wrong(kind.span, unknown("type", &name, &TYPES));
        };
        let fault = self.of_type(known, kind, node)?;
        Ok(Planned {
            method,
            nth,
            tool,
            fault,
            seen: 0,
            fired: false,
            shadowed: false,
        })
    }

    fn of_type(&self, name: &'static str, kind: &Node, node: &Node) -> Result<Fault, Wrong> {
        let params = given(node, "params");
        let known: &[&str] = match name {
            "delay" => &["ms"],
            "error" => &["code", "message"],
            "malformed" => &["strategy"],
            "disconnect" => &["after_response"],
            "http_status" => &["status", "retry_after", "body"],
            "cut_stream" => &["after_events"],
            _ => &[],
        };
        if let Some(params) = params {
            self.members(params, &format!("`params` of {name}"), known)?;
        }
        let param = |wanted: &str| params.and_then(|params| given(params, wanted));
        let number = |wanted, least, most| self.number(param(wanted), wanted, least, most);
        match name {
            "delay" => match number("ms", 0, i64::from(u32::MAX))? {
                Some(ms) => Ok(Fault::Delay(Duration::from_millis(ms.unsigned_abs()))),
                None => wrong(node.span, "a delay has no `ms` in `params`"),
            },
            "timeout" => Ok(Fault::Timeout),
            "error" => Ok(Fault::Error {
                code: number("code", i64::from(i32::MIN), i64::from(i32::MAX))?
                    .unwrap_or(code::INTERNAL_ERROR),
                message: match param("message") {
                    Some(message) => self.string(message, "`message`")?,
                    None => "mcp-cassette injected error".to_owned(),
                },
            }),
            "malformed" => self.malformed(param("strategy"), node),
            "disconnect" => match param("after_response").map(|value| (&value.data, value.span)) {
                None => Ok(Fault::Disconnect {
                    after_response: false,
                }),
                Some((&Data::Bool(after_response), _)) => Ok(Fault::Disconnect { after_response }),
                Some((_, span)) => wrong(span, "`after_response` is neither true nor false"),
            },
            _ if self.transport == Transport::Stdio => wrong(
                kind.span,
                format!("the fault {name} is for HTTP; this recording is of stdio"),
            ),
            "http_status" => self.http_status(params, node),
            "cut_stream" => Ok(Fault::CutStream {
                after_events: number("after_events", 0, i64::from(u32::MAX))?
                    .unwrap_or(0)
                    .unsigned_abs(),
            }),
            _ => Ok(Fault::SessionExpired),
        }
    }

    fn http_status(&self, params: Option<&Node>, node: &Node) -> Result<Fault, Wrong> {
        let param = |wanted: &str| params.and_then(|params| given(params, wanted));
        let Some(status) = self.number(param("status"), "status", 200, 599)? else {
            return wrong(node.span, "an http_status has no `status` in `params`");
        };
        let retry_after =
            self.number(param("retry_after"), "retry_after", 0, i64::from(u32::MAX))?;
        let body = param("body").map(|body| self.string(body, "`body`"));
        Ok(Fault::HttpStatus {
            status: u16::try_from(status).unwrap_or(500),
            retry_after: retry_after.map(i64::unsigned_abs),
            body: body.transpose()?,
        })
    }

    /// A parameter that is a whole number of that range, if it is there.
    fn number(
        &self,
        param: Option<&Node>,
        name: &str,
        least: i64,
        most: i64,
    ) -> Result<Option<i64>, Wrong> {
        let Some(param) = param else { return Ok(None) };
        match self.whole(param) {
            Some(number) if (least..=most).contains(&number) => Ok(Some(number)),
            _ => wrong(
                param.span,
                format!("`{name}` is not a whole number from {least} to {most}"),
            ),
        }
    }

    fn malformed(&self, strategy: Option<&Node>, node: &Node) -> Result<Fault, Wrong> {
        const STRATEGIES: [(&str, Strategy); 3] = [
            ("truncate", Strategy::Truncate),
            ("not_json", Strategy::NotJson),
            ("wrong_id", Strategy::WrongId),
        ];
        let Some(strategy) = strategy else {
            return wrong(
                node.span,
                "a malformed has no `strategy` in `params`: truncate, not_json or wrong_id",
            );
        };
        let name = self.string(strategy, "`strategy`")?;
        match STRATEGIES.iter().find(|(known, _)| *known == name) {
            Some((_, strategy)) => Ok(Fault::Malformed(*strategy)),
            None => {
                let known = STRATEGIES.map(|(known, _)| known);
                wrong(strategy.span, unknown("strategy", &name, &known))
            }
        }
    }

    /// An object with these members at most, each once.
    fn members(&self, node: &Node, what: &str, known: &[&str]) -> Result<(), Wrong> {
        if !matches!(node.data, Data::Object(_)) {
            return wrong(node.span, format!("{what} is not an object"));
        }
        let members: &[Member] = node.members();
        for (at, member) in members.iter().enumerate() {
            let name = member.name.show();
            if !known.contains(&&*name) {
                return wrong(member.span, unknown("member", &name, known));
            }
            if members
                .iter()
                .take(at)
                .any(|earlier| earlier.name == member.name)
            {
                return wrong(
                    member.span,
                    format!("the member `{name}` stands here twice"),
                );
            }
        }
        Ok(())
    }

    fn string(&self, node: &Node, what: &str) -> Result<String, Wrong> {
        match &node.data {
            Data::Text(text) => Ok(text.show().into_owned()),
            _ => wrong(node.span, format!("{what} is not a string")),
        }
    }

    fn whole(&self, node: &Node) -> Option<i64> {
        node.span.of(self.text).parse().ok()
    }
}

/// A member that says something. Libraries write a member that was not given as null.
fn given<'a>(node: &'a Node, name: &str) -> Option<&'a Node> {
    node.member(name)
        .filter(|member| !matches!(member.data, Data::Null))
}

/// An unknown word, with the known one that was probably meant.
fn unknown(what: &str, name: &str, known: &[&str]) -> String {
    let shown = crate::secrets::conceal::name(name);
    let known = meant(name, known);
    format!("unknown {what} `{shown}`; {known}")
}

/// The known word that was probably meant, or all of them.
fn meant(name: &str, known: &[&str]) -> String {
    /// Below this, two words have little to do with each other.
    const ALIKE: f64 = 0.75;
    let alike = known
        .iter()
        .map(|known| (strsim::jaro_winkler(name, known), known))
        .filter(|(alike, _)| *alike >= ALIKE)
        .max_by(|one, other| one.0.total_cmp(&other.0));
    match (alike, known) {
        (Some((_, meant)), _) => format!("did you mean `{meant}`?"),
        (None, []) => "there are none here".to_owned(),
        (None, known) => format!("known are {}", known.join(", ")),
    }
}
