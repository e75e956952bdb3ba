//! What the faults of an overlay do to a recording, and which of them can do nothing.

use super::{Overlay, Planned, meant};
use crate::cassette::model::string_value;
use crate::cassette::view::{Exchanges, Role};
use crate::cassette::{Cassette, Sender};
use crate::secrets::conceal;
use crate::wire::json::member;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// What an overlay would do to a recorded session.
#[derive(Clone, Debug, Default)]
pub(crate) struct DryRun {
    pub(crate) hits: Vec<Hit>,
    /// Faults that fire on nothing, or not where another one does.
    pub(crate) warnings: Vec<String>,
}

/// A fault and the recorded request that it fires on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hit {
    pub(crate) seq: i64,
    pub(crate) method: String,
    pub(crate) kind: &'static str,
}

/// A recorded request of the client.
struct Request<'a> {
    seq: i64,
    method: Cow<'a, str>,
    /// The member `name` of its parameters.
    tool: Option<Cow<'a, str>>,
}

impl Overlay {
    /// Which recorded requests the faults would fire on if the recorded session were played.
    pub(crate) fn dry_run(mut self, cassette: &Cassette) -> DryRun {
        let mut dry = DryRun::default();
        for request in requests(cassette) {
            let warnings = &mut dry.warnings;
            let fault = self.next(&request.method, request.tool.as_deref(), |warning| {
                warnings.push(warning);
            });
            if let Some(fault) = fault {
                dry.hits.push(Hit {
                    seq: request.seq,
                    method: request.method.into_owned(),
                    kind: fault.name(),
                });
            }
        }
        let unused = self.unused().into_iter();
        let unused = unused.map(|label| format!("{label} matches nothing"));
        dry.warnings.extend(unused);
        dry
    }

    /// The faults for a method or a tool that nothing recorded has: they cannot fire, because
    /// only matched requests count.
    pub(crate) fn cannot_fire(&self, cassette: &Cassette) -> Vec<String> {
        if self.is_empty() {
            return Vec::new();
        }
        let (mut methods, mut tools) = (BTreeSet::new(), BTreeSet::new());
        for request in requests(cassette) {
            if request.method == crate::wire::mcp::method::TOOLS_CALL {
                tools.extend(request.tool);
            }
            methods.insert(request.method);
        }
        let faults = self.faults.iter();
        faults
            .filter_map(|planned| planned.doubt(&methods, &tools))
            .collect()
    }
}

impl Planned {
    fn doubt(
        &self,
        methods: &BTreeSet<Cow<'_, str>>,
        tools: &BTreeSet<Cow<'_, str>>,
    ) -> Option<String> {
        let absent = |what: &str, name: &str, known: &BTreeSet<Cow<'_, str>>| {
            let known: Vec<Cow<'_, str>> = known.iter().map(|name| conceal::name(name)).collect();
            let known: Vec<&str> = known.iter().map(Cow::as_ref).collect();
            let (label, name, known) = (self.label(), conceal::name(name), meant(name, &known));
            format!("the fault {label} cannot fire: no recorded {what} `{name}`; {known}")
        };
        match &self.tool {
            _ if !methods.contains(self.method.as_str()) => {
                Some(absent("request has the method", &self.method, methods))
            }
            Some(tool) if !tools.contains(tool.as_str()) => {
                Some(absent("call is of the tool", tool, tools))
            }
            _ => None,
        }
    }
}

/// The requests of the client that a recording has, in its order.
fn requests(cassette: &Cassette) -> impl Iterator<Item = Request<'_>> {
    let text = &cassette.text;
    Exchanges::new(cassette).filter_map(move |paired| {
        let row = cassette.rows.get(paired.index as usize)?;
        let is_request = row.sender == Sender::Client && paired.role == Role::Request;
        let params = paired.envelope.params;
        is_request.then_some(Request {
            seq: row.seq,
            method: paired.envelope.method_name(text)?,
            tool: params
                .and_then(|params| member(text, params, "name"))
                .and_then(|tool| string_value(tool.span.of(text))),
        })
    })
}
