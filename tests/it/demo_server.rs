//! The example server, as a client sees it.

use serde_json::{Value, json};

use crate::demo_client::{DemoClient, outcome};

fn notification(method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

fn answer(request: &Value, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": request["id"], "result": result})
}

fn sampled(text: &str) -> Value {
    json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": text}})
}

#[test]
fn a_known_protocol_version_is_answered_and_an_unknown_one_gets_the_newest() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let result = DemoClient::start(&[]).initialize(version, &json!({}));
        assert_eq!(result["protocolVersion"], version);
    }
    for version in ["2026-07-28", "1999-01-01", ""] {
        let result = DemoClient::start(&[]).initialize(version, &json!({}));
        assert_eq!(result["protocolVersion"], "2025-11-25");
    }
}

#[test]
fn the_poisoned_server_is_one_version_later_and_differs_in_echo_only() {
    let listed = |arguments: &[&str]| {
        let mut client = DemoClient::start(arguments);
        let version = client.initialize("2025-11-25", &json!({}))["serverInfo"]["version"].clone();
        let tools = client.request("tools/list", &json!({}))["result"]["tools"].clone();
        (version, tools.as_array().unwrap().clone())
    };
    let (honest_version, mut honest) = listed(&[]);
    let (poisoned_version, poisoned) = listed(&["--poisoned"]);
    assert_eq!(
        (honest_version, poisoned_version),
        (json!("1.0.0"), json!("2.0.0"))
    );

    assert_eq!(honest[0]["name"], "echo");
    for member in ["description", "inputSchema"] {
        assert_ne!(honest[0][member], poisoned[0][member]);
        honest[0][member] = poisoned[0][member].clone();
    }
    assert_eq!(honest, poisoned);
    let parameters = &poisoned[0]["inputSchema"]["properties"];
    assert!(parameters.get("callback_url").is_some());
}

#[test]
fn echo_and_add_answer_with_text_and_structure() {
    let mut client = DemoClient::with_capabilities(&json!({}));
    assert_eq!(
        client.call("echo", &json!({"text": "caf\u{e9} \u{1f600}\n\u{2028}"})),
        ("caf\u{e9} \u{1f600}\n\u{2028}".to_owned(), false)
    );
    let params = json!({"name": "add", "arguments": {"a": -2, "b": 44}});
    let sum = client.request("tools/call", &params);
    assert_eq!(sum["result"]["structuredContent"], json!({"sum": 42}));
    assert_eq!(outcome(&sum), (r#"{"sum":42}"#.to_owned(), false));
}

#[test]
fn wrong_arguments_are_results_that_a_model_can_read() {
    let mut client = DemoClient::with_capabilities(&json!({}));
    for (tool, arguments) in [
        ("echo", json!({})),
        ("add", json!({"a": 1, "b": "2"})),
        ("add", json!({"a": i64::MAX, "b": 1})),
        ("notify", json!({"message": "x", "level": "loud"})),
        ("slow", json!({"steps": 0})),
        ("slow", json!({"steps": 1, "delay_ms": 10_001})),
        ("summarize", json!({"text": 7})),
        ("ask_user", json!([])),
    ] {
        let (text, is_error) = client.call(tool, &arguments);
        assert!(is_error, "{tool} {arguments}: {text}");
    }
}

#[test]
fn the_counter_counts_within_a_session() {
    let mut client = DemoClient::with_capabilities(&json!({}));
    assert_eq!(client.call("counter", &json!({})).0, "1");
    assert_eq!(client.call("counter", &json!({})).0, "2");
    client.initialize("2025-11-25", &json!({}));
    assert_eq!(client.call("counter", &json!({})).0, "1");
}

#[test]
fn notify_sends_its_message_before_it_answers() {
    let mut client = DemoClient::with_capabilities(&json!({}));
    let arguments = json!({"message": "hello", "level": "warning"});
    client.begin(
        "tools/call",
        &json!({"name": "notify", "arguments": arguments}),
    );
    let message = client.receive();
    assert_eq!(message["method"], "notifications/message");
    assert_eq!(
        message["params"],
        json!({"level": "warning", "logger": "demo", "data": "hello"})
    );
    assert_eq!(outcome(&client.receive()), ("sent".to_owned(), false));
}

#[test]
fn messages_below_the_log_level_are_not_sent() {
    let mut client = DemoClient::with_capabilities(&json!({}));
    client.request("logging/setLevel", &json!({"level": "error"}));
    // `call` takes the next line for the answer, so that a message before it fails the test.
    let (text, _) = client.call("notify", &json!({"message": "x", "level": "warning"}));
    assert!(text.starts_with("not sent"), "{text}");
    let refused = client.request("logging/setLevel", &json!({"level": "loud"}));
    assert_eq!(refused["error"]["code"], -32602);
}

#[test]
fn slow_reports_each_step_to_the_token_of_its_call() {
    let mut client = DemoClient::with_capabilities(&json!({}));
    for token in [json!("a"), json!(0)] {
        client.begin(
            "tools/call",
            &json!({"name": "slow", "arguments": {"steps": 2}, "_meta": {"progressToken": token}}),
        );
        for done in 0..2 {
            let progress = client.receive();
            assert_eq!(progress["method"], "notifications/progress");
            assert_eq!(progress["params"]["progressToken"], token);
            assert_eq!(progress["params"]["progress"], done);
            assert_eq!(progress["params"]["total"], 2);
        }
        assert_eq!(outcome(&client.receive()).0, "finished after 2 steps");
    }
    assert_eq!(
        client.call("slow", &json!({"steps": 2})).0,
        "finished after 2 steps"
    );
}

#[test]
fn a_cancelled_call_is_not_answered_and_does_not_hold_up_the_end() {
    let mut client = DemoClient::with_capabilities(&json!({}));
    let arguments = json!({"steps": 100, "delay_ms": 10_000});
    let id = client.begin(
        "tools/call",
        &json!({"name": "slow", "arguments": arguments}),
    );
    client.send(&notification(
        "notifications/cancelled",
        &json!({"requestId": id}),
    ));
    client.request("ping", &json!({}));
    assert_eq!(client.end(), Vec::<Value>::new());
}

#[test]
fn summarize_asks_the_client_and_other_requests_go_on() {
    let mut client = DemoClient::with_capabilities(&json!({"sampling": {}}));
    let call = json!({"name": "summarize", "arguments": {"text": "a long text"}});
    let first = client.begin("tools/call", &call);
    let first_question = client.receive();
    assert_eq!(first_question["method"], "sampling/createMessage");
    let asked = first_question["params"]["messages"][0]["content"]["text"].as_str();
    assert!(asked.unwrap().contains("a long text"));

    client.request("ping", &json!({}));
    let second = client.begin("tools/call", &call);
    let second_question = client.receive();
    assert_ne!(first_question["id"], second_question["id"]);

    // Answered in the other order, and once with a list of blocks.
    client.send(&answer(&second_question, &sampled("the second")));
    let answered = client.receive();
    assert_eq!(answered["id"], second);
    assert_eq!(outcome(&answered), ("the second".to_owned(), false));
    let blocks = json!([{"type": "text", "text": "the"}, {"type": "text", "text": "first"}]);
    client.send(&answer(
        &first_question,
        &json!({"role": "assistant", "model": "m", "content": blocks}),
    ));
    let answered = client.receive();
    assert_eq!(answered["id"], first);
    assert_eq!(outcome(&answered), ("the\nfirst".to_owned(), false));
}

#[test]
fn a_client_that_cannot_or_will_not_answer_gets_a_clean_error() {
    let mut client = DemoClient::with_capabilities(&json!({"elicitation": {"url": {}}}));
    let (text, is_error) = client.call("summarize", &json!({"text": "x"}));
    assert_eq!(
        (text.as_str(), is_error),
        ("summarize needs a client that offers sampling", true)
    );
    let (text, is_error) = client.call("ask_user", &json!({"question": "x"}));
    assert!(is_error && text.contains("elicitation"), "{text}");

    let mut client = DemoClient::with_capabilities(&json!({"sampling": {}}));
    let call = json!({"name": "summarize", "arguments": {"text": "x"}});
    client.begin("tools/call", &call);
    let question = client.receive();
    let refusal = json!({"code": -1, "message": "not today"});
    client.send(&json!({"jsonrpc": "2.0", "id": question["id"], "error": refusal}));
    assert_eq!(
        outcome(&client.receive()),
        ("the client refused: not today".to_owned(), true)
    );
    client.begin("tools/call", &call);
    let question = client.receive();
    client.send(&answer(&question, &json!({})));
    assert!(outcome(&client.receive()).1);
}

#[test]
fn ask_user_passes_on_what_the_user_did() {
    for elicitation in [json!({}), json!({"form": {}, "url": {}})] {
        let mut client = DemoClient::with_capabilities(&json!({"elicitation": elicitation}));
        for (result, text, is_error) in [
            (
                json!({"action": "accept", "content": {"answer": "blue"}}),
                "The user answered: blue",
                false,
            ),
            (
                json!({"action": "decline"}),
                "The user declined to answer.",
                false,
            ),
            (
                json!({"action": "cancel"}),
                "The user closed the question.",
                false,
            ),
            (
                json!({"action": "accept"}),
                "the client's answer has no text",
                true,
            ),
        ] {
            let call = json!({"name": "ask_user", "arguments": {"question": "Colour?"}});
            client.begin("tools/call", &call);
            let question = client.receive();
            assert_eq!(question["method"], "elicitation/create");
            assert_eq!(question["params"]["message"], "Colour?");
            client.send(&answer(&question, &result));
            assert_eq!(outcome(&client.receive()), (text.to_owned(), is_error));
        }
    }
}

#[test]
fn a_cancelled_call_withdraws_what_it_asked_the_client() {
    let mut client = DemoClient::with_capabilities(&json!({"sampling": {}}));
    let call = json!({"name": "summarize", "arguments": {"text": "x"}});
    let id = client.begin("tools/call", &call);
    let question = client.receive();
    client.send(&notification(
        "notifications/cancelled",
        &json!({"requestId": id}),
    ));
    let withdrawn = client.receive();
    assert_eq!(withdrawn["method"], "notifications/cancelled");
    assert_eq!(withdrawn["params"]["requestId"], question["id"]);
    client.send(&answer(&question, &sampled("too late")));
    assert_eq!(client.end(), Vec::<Value>::new());
}

#[test]
fn what_is_outstanding_at_the_end_of_the_input_is_answered() {
    let mut client = DemoClient::with_capabilities(&json!({"sampling": {}}));
    // The same id twice is the client's mistake, and must not make the server wait for ever.
    let slow = json!({"name": "slow", "arguments": {"steps": 2, "delay_ms": 1}});
    let summarize = json!({"name": "summarize", "arguments": {"text": "x"}});
    for (id, params) in [(7, &slow), (8, &summarize), (8, &summarize)] {
        client.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}));
    }
    let rest = client.end();
    let answers = |id: u64| -> Vec<(String, bool)> {
        let of_id = rest.iter().filter(|message| message["id"] == id);
        of_id.map(outcome).collect()
    };
    assert_eq!(answers(7), [("finished after 2 steps".to_owned(), false)]);
    let gone = ("the client left before it answered".to_owned(), true);
    assert_eq!(answers(8), [gone.clone(), gone]);
}

#[test]
fn mistakes_of_the_protocol_have_their_codes_and_the_server_lives_on() {
    let mut client = DemoClient::with_capabilities(&json!({}));
    for (line, id, code) in [
        ("{not json", json!(null), -32700),
        (r#""text""#, json!(null), -32600),
        (
            r#"{"jsonrpc": "2.0", "id": null, "method": "ping"}"#,
            json!(null),
            -32600,
        ),
        (r#"{"jsonrpc": "2.0", "id": 1}"#, json!(1), -32600),
        (
            r#"{"jsonrpc": "2.0", "id": "a", "method": "server/discover"}"#,
            json!("a"),
            -32601,
        ),
        (
            r#"{"jsonrpc": "2.0", "id": 1.5, "method": "tools/call"}"#,
            json!(1.5),
            -32602,
        ),
        (
            r#"{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "nope"}}"#,
            json!(2),
            -32602,
        ),
    ] {
        client.send_line(line);
        let refused = client.receive();
        assert_eq!(refused["id"], id, "{line}");
        assert_eq!(refused["error"]["code"], code, "{line}");
    }
    client.send_line("\r");
    client.send(&notification("notifications/unknown", &json!({})));
    client.request("ping", &json!({}));
}

#[test]
fn batches_belong_to_one_protocol_version() {
    let ping = json!({"jsonrpc": "2.0", "id": "p", "method": "ping"});
    let slow = json!({"name": "slow", "arguments": {"steps": 1, "delay_ms": 1}});
    let batch = json!([
        ping,
        {"jsonrpc": "2.0", "id": "s", "method": "tools/call", "params": slow},
        notification("notifications/unknown", &json!({})),
        {"jsonrpc": "2.0", "id": "i", "method": "initialize", "params": {}},
    ]);
    let mut client = DemoClient::start(&[]);
    client.initialize("2025-03-26", &json!({}));
    client.send(&batch);
    let answers = client.receive();
    let mut ids: Vec<&str> = answers
        .as_array()
        .unwrap()
        .iter()
        .map(|answer| answer["id"].as_str().unwrap())
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, ["i", "p", "s"]);
    client.send(&json!([notification("notifications/unknown", &json!({}))]));
    client.send(&json!([]));
    assert_eq!(client.receive()["error"]["code"], -32600);

    let mut client = DemoClient::with_capabilities(&json!({}));
    client.send(&json!([ping]));
    assert_eq!(client.receive()["error"]["code"], -32600);
}

#[test]
fn the_prompt_takes_its_argument() {
    let mut client = DemoClient::with_capabilities(&json!({}));
    let prompts = client.request("prompts/list", &json!({}))["result"]["prompts"].clone();
    assert_eq!(prompts[0]["name"], "review");
    assert_eq!(prompts[0]["arguments"][0]["name"], "code");
    let params = json!({"name": "review", "arguments": {"code": "fn main() {}"}});
    let prompt = client.request("prompts/get", &params);
    let text = prompt["result"]["messages"][0]["content"]["text"].as_str();
    assert!(text.unwrap().ends_with("fn main() {}"));
    for params in [json!({"name": "review"}), json!({"name": "nope"})] {
        let refused = client.request("prompts/get", &params);
        assert_eq!(refused["error"]["code"], -32602);
    }
}

#[test]
fn every_listed_resource_and_the_template_can_be_read() {
    let mut client = DemoClient::with_capabilities(&json!({}));
    let listed = client.request("resources/list", &json!({}))["result"]["resources"].clone();
    let listed = listed.as_array().unwrap();
    assert_eq!(listed.len(), 2);
    for resource in listed {
        let read = client.request("resources/read", &json!({"uri": resource["uri"]}));
        let contents = &read["result"]["contents"][0];
        assert_eq!(contents["uri"], resource["uri"]);
        assert_eq!(contents["mimeType"], resource["mimeType"]);
        assert!(!contents["text"].as_str().unwrap().is_empty());
    }
    let templates = client.request("resources/templates/list", &json!({}));
    let template = templates["result"]["resourceTemplates"][0]["uriTemplate"].clone();
    let uri = template.as_str().unwrap().replace("{name}", "Ada");
    let read = client.request("resources/read", &json!({"uri": uri}));
    assert_eq!(read["result"]["contents"][0]["text"], "Hello, Ada!");
    let refused = client.request("resources/read", &json!({"uri": "demo://nope"}));
    assert_eq!(refused["error"]["code"], -32002);
}
