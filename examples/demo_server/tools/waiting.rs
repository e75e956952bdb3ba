//! The tools that wait: for a clock, for the client's model, for the user.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{CallResult, arguments};
use crate::session::{Call, Stop};

pub(crate) const MAX_STEPS: u64 = 100;
pub(crate) const MAX_DELAY_MS: u64 = 10_000;

type Outcome = Result<CallResult, Stop>;

#[derive(Deserialize)]
struct SlowArguments {
    steps: u64,
    #[serde(default)]
    delay_ms: u64,
}

pub(super) fn slow(call: &Call<'_>, given: Value) -> Outcome {
    let SlowArguments { steps, delay_ms } = arguments(given).map_err(Stop::Failed)?;
    if steps == 0 || steps > MAX_STEPS || delay_ms > MAX_DELAY_MS {
        return Err(Stop::Failed(format!(
            "wrong arguments: steps is 1 to {MAX_STEPS}, delay_ms is 0 to {MAX_DELAY_MS}"
        )));
    }
    for step in 1..=steps {
        // Progress comes before the work and not after it, because some clients lose a progress
        // message that reaches them together with the answer.
        call.progress(step - 1, steps, &format!("step {step} of {steps}"));
        call.pause(Duration::from_millis(delay_ms))?;
    }
    Ok(CallResult::text(format!("finished after {steps} steps")))
}

#[derive(Deserialize)]
struct SummarizeArguments {
    text: String,
}

pub(super) fn summarize(call: &Call<'_>, given: Value) -> Outcome {
    let SummarizeArguments { text } = arguments(given).map_err(Stop::Failed)?;
    if call.session.capability("sampling").is_none() {
        return Err(Stop::Failed(
            "summarize needs a client that offers sampling".to_owned(),
        ));
    }
    let answer = call.ask(
        "sampling/createMessage",
        json!({
            "messages": [{
                "role": "user",
                "content": {"type": "text", "text": format!("Summarize in one sentence:\n\n{text}")},
            }],
            "systemPrompt": "You write short and plain summaries.",
            "maxTokens": 200,
        }),
    )?;
    // One block, or since 2025-11-25 also a list of them.
    let blocks = match answer.get("content") {
        Some(Value::Array(blocks)) => blocks.as_slice(),
        Some(block) => std::slice::from_ref(block),
        None => &[],
    };
    let summary: Vec<&str> = blocks
        .iter()
        .filter_map(|block| block.get("text").and_then(Value::as_str))
        .collect();
    if summary.is_empty() {
        return Err(Stop::Failed("the client's answer has no text".to_owned()));
    }
    Ok(CallResult::text(summary.join("\n")))
}

#[derive(Deserialize)]
struct AskUserArguments {
    question: String,
}

pub(super) fn ask_user(call: &Call<'_>, given: Value) -> Outcome {
    let AskUserArguments { question } = arguments(given).map_err(Stop::Failed)?;
    if !offers_forms(call.session.capability("elicitation").as_ref()) {
        return Err(Stop::Failed(
            "ask_user needs a client that offers elicitation by form".to_owned(),
        ));
    }
    let answer = call.ask(
        "elicitation/create",
        json!({
            "message": question,
            "requestedSchema": {
                "type": "object",
                "properties": {"answer": {"type": "string", "description": "Your answer."}},
                "required": ["answer"],
            },
        }),
    )?;
    match answer.get("action").and_then(Value::as_str) {
        Some("accept") => match answer.pointer("/content/answer").and_then(Value::as_str) {
            Some(text) => Ok(CallResult::text(format!("The user answered: {text}"))),
            None => Err(Stop::Failed("the client's answer has no text".to_owned())),
        },
        Some("decline") => Ok(CallResult::text("The user declined to answer.")),
        Some("cancel") => Ok(CallResult::text("The user closed the question.")),
        _ => Err(Stop::Failed("the client's answer has no action".to_owned())),
    }
}

/// An empty capability means forms, as before 2025-11-25 there was nothing else; a client that
/// names its modes has to name this one.
fn offers_forms(elicitation: Option<&Value>) -> bool {
    match elicitation {
        Some(Value::Object(modes)) => modes.is_empty() || modes.contains_key("form"),
        _ => false,
    }
}
