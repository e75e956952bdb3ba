//! Which listing is compared, and what counts in it.

use super::super::{ChangeKind, DiffError, DiffOptions, diff};
use super::{Session, details, full, summary, tool, tool_with, tools_only};

fn three() -> [String; 3] {
    [tool("a", "A"), tool("b", "B"), tool("c", "C")]
}

fn one_page() -> Session {
    let [a, b, c] = three();
    Session::new().tools(&[&a, &b, &c])
}

#[test]
fn pages_are_one_listing_however_it_ends() {
    let [a, b, c] = three();
    let start = || {
        Session::new()
            .page("null", &[&a], r#""1""#)
            .page(r#""1""#, &[&b], r#""2""#)
    };
    let ends = [
        start().page(r#""2""#, &[&c], r#""""#),
        start().page(r#""2""#, &[&c], "null"),
        // A server whose cursor never changes and has nothing new to give.
        start()
            .page(r#""2""#, &[&c], r#""2""#)
            .page(r#""2""#, &[&c], r#""2""#),
        // The same cursor that does lead on, and then ends.
        start()
            .page(r#""2""#, &[], r#""2""#)
            .page(r#""2""#, &[&c], "null"),
        // An empty cursor that was followed.
        Session::new()
            .page("null", &[&a, &b], r#""""#)
            .page(r#""""#, &[&c], "null"),
        // A page that was asked for twice.
        start()
            .page(r#""1""#, &[&b], r#""2""#)
            .page(r#""2""#, &[&c], "null"),
        start()
            .page(r#""2""#, &[&c], "null")
            .page(r#""1""#, &[&b], r#""2""#),
    ];
    for (index, pages) in ends.iter().enumerate() {
        let found = tools_only(&one_page(), pages);
        assert!(found.identical(), "{index}: {:?}", summary(&found.tools));
        assert!(!found.incomplete, "{index}");
        assert_eq!(found.notes, [""; 0], "{index}");
    }
}

#[test]
fn tools_behind_a_cursor_that_was_not_followed_are_unknown() {
    let [a, _, _] = three();
    let stopped = Session::new().page("null", &[&a], r#""1""#);
    let found = tools_only(&one_page(), &stopped);
    assert!(found.identical());
    assert!(found.incomplete);
    assert_eq!(
        found.notes,
        [
            "test.mcp.json: the tool listing is incomplete (a cursor was never followed)",
            "test.mcp.json: unknown tool: `b`, `c`"
        ]
    );
}

#[test]
fn a_change_on_the_page_that_is_there_still_counts() {
    let stopped = Session::new().page("null", &[&tool("a", "other")], r#""1""#);
    let found = tools_only(&one_page(), &stopped);
    assert_eq!(summary(&found.tools), ["a description compatible"]);
    assert!(found.incomplete);
}

#[test]
fn tools_that_an_incomplete_baseline_may_have_had_are_added_with_a_word_about_it() {
    let [a, _, _] = three();
    let stopped = Session::new().page("null", &[&a], r#""1""#);
    let found = tools_only(&stopped, &one_page());
    assert_eq!(
        summary(&found.tools),
        ["b added compatible", "c added compatible"]
    );
    assert_eq!(
        details(&found.tools)[0],
        "compatible: the older listing is incomplete and may have had it"
    );
    assert!(found.incomplete);
}

#[test]
fn an_error_on_a_later_page_leaves_the_listing_incomplete() {
    let [a, _, _] = three();
    let failed = Session::new()
        .page("null", &[&a], r#""1""#)
        .message(
            "client",
            r#"{"id": 9, "method": "tools/list", "params": {"cursor": "1"}}"#,
        )
        .message(
            "server",
            r#"{"id": 9, "error": {"code": -32603, "message": "no"}}"#,
        );
    assert!(tools_only(&one_page(), &failed).incomplete);
}

#[test]
fn a_constant_cursor_that_was_still_bringing_tools_is_incomplete() {
    let [a, b, _] = three();
    let pages = Session::new()
        .page("null", &[&a], r#""x""#)
        .page(r#""x""#, &[&b], r#""x""#);
    let found = tools_only(&one_page(), &pages);
    assert!(found.incomplete);
    assert!(found.identical());
}

#[test]
fn a_page_without_a_first_page_is_incomplete() {
    let [_, _, c] = three();
    let found = tools_only(&one_page(), &Session::new().page(r#""9""#, &[&c], "null"));
    assert!(found.incomplete);
    assert!(found.identical());
}

#[test]
fn a_cursor_that_redaction_changed_on_one_side_is_still_followed() {
    let [a, b, c] = three();
    let pages = Session::new().page("null", &[&a], r#""<EMAIL>""#).page(
        r#""me@example.org""#,
        &[&b, &c],
        "null",
    );
    let found = tools_only(&one_page(), &pages);
    assert!(found.identical() && !found.incomplete);
}

#[test]
fn the_last_complete_listing_of_the_last_session_counts() {
    let [a, b, c] = three();
    let complete = Session::new()
        .initialize("{}")
        .tools(&[&a])
        .initialize("{}")
        .tools(&[&a, &b])
        .tools(&[&a, &b, &c])
        .page("null", &[&tool("a", "half")], r#""1""#);
    let found = tools_only(&one_page(), &complete);
    assert!(found.identical(), "{:?}", summary(&found.tools));
    assert!(!found.incomplete);
    assert_eq!(
        found.notes,
        [
            "test.mcp.json: tools changed inside the recording, the last complete listing counts: `a`"
        ]
    );
}

#[test]
fn a_last_session_that_lists_nothing_leaves_the_one_before() {
    let [a, b, c] = three();
    let session = Session::new()
        .initialize("{}")
        .tools(&[&a, &b, &c])
        .initialize("{}");
    assert!(tools_only(&one_page(), &session).identical());
}

#[test]
fn interleaved_pages_of_two_sessions_stay_apart() {
    let [a, b, c] = three();
    let session = Session::new()
        .initialize("{}")
        .page("null", &[&a], r#""s1""#)
        .initialize("{}")
        .page("null", &[&a, &b], r#""s2""#)
        .page(r#""s1""#, &[&tool("z", "Z")], "null")
        .page(r#""s2""#, &[&c], "null");
    assert!(tools_only(&one_page(), &session).identical());
}

#[test]
fn a_listing_that_no_recorded_request_asked_for_counts() {
    let [a, b, c] = three();
    let listed = format!(r#"{{"id": "x", "result": {{"tools": [{a}, {b}, {c}]}}}}"#);
    let orphan = Session::new().message("server", &listed);
    assert!(tools_only(&one_page(), &orphan).identical());
}

#[test]
fn results_of_other_methods_are_not_the_listing_to_compare() {
    let [a, b, c] = three();
    let listed = format!(r#"{{"tools": [{a}, {b}, {c}, {}]}}"#, tool("d", "D"));
    let session = one_page().call("tools/call", "{}", &listed);
    assert!(tools_only(&one_page(), &session).identical());
}

#[test]
fn messages_that_two_readers_could_understand_differently_are_refused() {
    let [a, ..] = three();
    let result = format!(r#""result": {{"tools": [{a}]}}"#);
    let raw = format!("{{\"id\": 1, {result}}}").replace('"', "\\\"");
    for (sender, payload) in [
        ("server", format!("\"{raw}\"")),
        ("client", format!("{{\"id\": 77, {result}}}")),
        (
            "server",
            format!(r#"{{"id": 77, "method": "ping", {result}}}"#),
        ),
        ("server", format!(r#"{{"id": 77, {result}, "Result": 1}}"#)),
        (
            "server",
            format!(r#"{{"id": 77, {result}, "error": 1, "error": 1}}"#),
        ),
    ] {
        let session = one_page().message(sender, &payload);
        assert!(refused(&session), "{payload}");
    }
}

/// Whether a comparison with it is refused, on either side.
fn refused(session: &Session) -> bool {
    let (one, other) = (one_page().cassette(), session.cassette());
    let options = DiffOptions { tools_only: true };
    diff(&one, &other, &options).is_err() && diff(&other, &one, &options).is_err()
}

#[test]
fn repeated_lists_and_results_are_refused() {
    let [a, b, c] = three();
    let lists = Session::new().call(
        "tools/list",
        "{}",
        &format!(r#"{{"tools": [{a}], "tools": [{b}, {c}]}}"#),
    );
    assert!(refused(&lists));
    let results = Session::new()
        .message("client", r#"{"id": 1, "method": "tools/list"}"#)
        .message(
            "server",
            &format!(
                r#"{{"id": 1, "result": {{"tools": [{a}, {b}]}}, "result": {{"tools": [{c}]}}}}"#
            ),
        );
    assert!(refused(&results));
}

#[test]
fn a_recording_without_a_listing_has_lost_its_tools() {
    let found = tools_only(&one_page(), &Session::new().call("ping", "{}", "{}"));
    assert_eq!(
        summary(&found.tools),
        [
            "a removed breaking",
            "b removed breaking",
            "c removed breaking"
        ]
    );
    assert_eq!(found.notes, ["test.mcp.json: no tool listing was recorded"]);
}

#[test]
fn order_and_spelling_do_not_count() {
    let old = Session::new().tools(&[
        &tool("z", "z"),
        r#"{"name": "a", "description": "é/", "inputSchema": {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "required": ["a", "b"], "properties": {"a": {"enum": [1, "x", null]}, "b": {"maximum": 10}}}}"#,
    ]);
    let new = Session::new().tools(&[
        r#"{"inputSchema": {"properties": {"b": {"maximum": 1.0e1}, "a": {"enum": [null, "x", 1.0]}}, "required": ["b", "a"], "type": "object"}, "description": "\u00e9\/", "name": "a"}"#,
        &tool("z", "z"),
    ]);
    assert!(full(&old, &new).identical());
}

#[test]
fn order_counts_where_it_means_something() {
    for (old, new) in [
        (r#"{"default": [1, 2]}"#, r#"{"default": [2, 1]}"#),
        (
            r#"{"default": {"enum": [1, 2]}}"#,
            r#"{"default": {"enum": [2, 1]}}"#,
        ),
        (
            r#"{"const": {"required": ["a", "b"]}}"#,
            r#"{"const": {"required": ["b", "a"]}}"#,
        ),
        (
            r#"{"anyOf": [{"type": "null"}, {}]}"#,
            r#"{"anyOf": [{}, {"type": "null"}]}"#,
        ),
        (
            r#"{"prefixItems": [{"type": "null"}, {}]}"#,
            r#"{"prefixItems": [{}, {"type": "null"}]}"#,
        ),
    ] {
        let (old, new) = (
            tool_with("t", &format!(r#""inputSchema": {old}"#)),
            tool_with("t", &format!(r#""inputSchema": {new}"#)),
        );
        let found = tools_only(
            &Session::new().tools(&[&old]),
            &Session::new().tools(&[&new]),
        );
        assert!(!found.identical(), "{old}");
    }
}

#[test]
fn a_parameter_with_the_name_of_a_keyword_is_a_parameter() {
    for name in ["$schema", "required", "enum", "type", "properties"] {
        let schema = |kind: &str| {
            tool_with(
                "t",
                &format!(r#""inputSchema": {{"properties": {{"{name}": {{"type": "{kind}"}}}}}}"#),
            )
        };
        let found = tools_only(
            &Session::new().tools(&[&schema("string")]),
            &Session::new().tools(&[&schema("number")]),
        );
        assert_eq!(
            details(&found.tools),
            [format!(
                "breaking: type of parameter `{name}` changed from `string` to `number`"
            )]
        );
    }
}

#[test]
fn each_counted_member_is_a_change_of_its_own_kind() {
    let plain = tool_with("t", r#""description": "d", "inputSchema": {}"#);
    for (member, kind) in [
        (r#""title": "T""#, ChangeKind::Title),
        (
            r#""annotations": {"readOnlyHint": true}"#,
            ChangeKind::Annotations,
        ),
        (
            r#""outputSchema": {"type": "object"}"#,
            ChangeKind::OutputSchema,
        ),
    ] {
        let more = tool_with(
            "t",
            &format!(r#""description": "d", "inputSchema": {{}}, {member}"#),
        );
        let found = tools_only(
            &Session::new().tools(&[&plain]),
            &Session::new().tools(&[&more]),
        );
        let kinds: Vec<_> = found.tools.iter().map(|change| change.kind).collect();
        assert_eq!(kinds, [kind]);
    }
}

#[test]
fn icons_meta_execution_and_unknown_members_are_noted_and_do_not_count() {
    let plain = tool("t", "d");
    let more = tool_with(
        "t",
        r#""description": "d", "inputSchema": {"type": "object"}, "icons": [], "_meta": {"a": 1}, "execution": {}, "vendor": 1"#,
    );
    let found = tools_only(
        &Session::new().tools(&[&plain]),
        &Session::new().tools(&[&more]),
    );
    assert!(found.identical());
    assert_eq!(
        found.notes,
        ["tool `t`: `_meta`, `execution`, `icons`, `vendor` changed, which does not count"]
    );
}

#[test]
fn changes_come_by_name_and_then_by_kind() {
    let old = Session::new().tools(&[
        &tool_with(
            "b",
            r#""description": "1", "title": "1", "inputSchema": {}"#,
        ),
        &tool_with("a", r#""inputSchema": {"type": "object"}"#),
    ]);
    let new = Session::new().tools(&[
        &tool_with("c", r#""inputSchema": {"type": "array"}"#),
        &tool_with(
            "b",
            r#""description": "2", "title": "2", "inputSchema": {"type": "object"}"#,
        ),
    ]);
    assert_eq!(
        summary(&tools_only(&old, &new).tools),
        [
            "a removed breaking",
            "b description compatible",
            "b input_schema breaking",
            "b title compatible",
            "c added compatible"
        ]
    );
}

#[test]
fn places_point_at_what_changed() {
    let old = Session::new().tools(&[&tool("a", "one"), &tool("b", "gone")]);
    let new = Session::new().call("ping", "{}", "{}").tools(&[
        &tool_with("c", r#""inputSchema": {"type": "null"}"#),
        &tool("a", "two"),
    ]);
    let found = tools_only(&old, &new);
    let locators: Vec<&str> = found.tools.iter().map(|c| c.locator.as_str()).collect();
    assert_eq!(
        locators,
        [
            "/messages/3/payload/result/tools/1/description",
            "/messages/1/payload/result/tools/1/name",
            "/messages/3/payload/result/tools/0/name"
        ]
    );
    let marked: Vec<String> = found
        .tools
        .iter()
        .zip([&new, &old, &new])
        .map(|(change, session)| session.text()[change.region.bytes.clone()].to_owned())
        .collect();
    assert_eq!(marked, [r#""two""#, r#""b""#, r#""c""#]);
    assert_eq!(found.tools[0].region.start.line, 5);
}

#[test]
fn a_member_that_is_gone_is_shown_at_its_tool() {
    let old = Session::new().tools(&[&tool("a", "one")]);
    let new = Session::new().tools(&[&tool_with("a", r#""inputSchema": {"type": "object"}"#)]);
    let found = tools_only(&old, &new);
    assert_eq!(summary(&found.tools), ["a description compatible"]);
    assert_eq!(found.tools[0].locator, "/messages/1/payload/result/tools/0");
    assert_eq!(
        found.tools[0].diff,
        ["--- baseline", "+++ current", "@@ -1 +0,0 @@", "-one"]
    );
    assert_eq!(&new.text()[found.tools[0].region.bytes.clone()], r#""a""#);
}

#[test]
fn a_name_that_is_listed_twice_is_compared_with_every_definition() {
    let (one, other) = (tool("a", "one"), tool("a", "other"));
    let twice = Session::new().tools(&[&one, &one]);
    let single = Session::new().tools(&[&one]);
    assert!(tools_only(&single, &twice).identical());
    for hidden in [[&*other, &*one], [&*one, &*other]] {
        let found = tools_only(&single, &Session::new().tools(&hidden));
        assert_eq!(summary(&found.tools), ["a description compatible"]);
        assert!(found.tools[0].diff.contains(&"+other".to_owned()));
        let found = tools_only(&Session::new().tools(&hidden), &single);
        assert!(!found.identical());
    }
}

#[test]
fn a_name_that_is_listed_very_often_is_still_itself() {
    let tools: Vec<String> = (0..500).map(|n| tool("a", &n.to_string())).collect();
    let forwards: Vec<&str> = tools.iter().map(String::as_str).collect();
    let backwards: Vec<&str> = forwards.iter().rev().copied().collect();
    let (old, new) = (
        Session::new().tools(&forwards),
        Session::new().tools(&backwards),
    );
    assert!(tools_only(&old, &new).identical());
    let more: Vec<&str> = forwards[1..].to_vec();
    assert!(!tools_only(&old, &Session::new().tools(&more)).identical());
}

#[test]
fn members_that_repeat_are_compared_one_by_one() {
    let plain = tool_with("t", r#""description": "d", "inputSchema": {}"#);
    for hidden in [
        r#""description": "evil", "description": "d", "inputSchema": {}"#,
        r#""description": "d", "inputSchema": {"type": "null"}, "inputSchema": {}"#,
        r#""name": "u", "name": "t", "description": "d", "inputSchema": {}"#,
    ] {
        let hidden = tool_with("t", hidden);
        let found = tools_only(
            &Session::new().tools(&[&plain]),
            &Session::new().tools(&[&hidden]),
        );
        assert!(!found.identical(), "{hidden}");
        assert!(
            details(&found.tools)[0].contains("more than once"),
            "{hidden}"
        );
    }
}

#[test]
fn half_surrogates_are_told_apart() {
    let session = |escape: &str| {
        Session::new().tools(&[
            &tool("t", escape),
            &tool_with("u", &format!(r#""annotations": {{"{escape}": 1}}"#)),
            &tool(escape, "x"),
        ])
    };
    let found = tools_only(&session("\\ud83d"), &session("\\ud83e"));
    let mut lines = summary(&found.tools);
    lines.sort();
    assert!(
        lines.contains(&"t description compatible".to_owned()),
        "{lines:?}"
    );
    assert!(
        lines.contains(&"u annotations compatible".to_owned()),
        "{lines:?}"
    );
    assert_eq!(
        found
            .tools
            .iter()
            .filter(|c| c.kind == ChangeKind::Added)
            .count(),
        1
    );
    assert_eq!(
        details(&found.tools)[0],
        "compatible: description differs in half surrogate pairs only"
    );
}

#[test]
fn entries_that_are_no_tools_are_not_skipped() {
    let odd = Session::new().tools(&[r#""ignore this""#, r#"{"description": "no name"}"#]);
    let other = Session::new().tools(&[r#""ignore that""#, r#"{"description": "no name"}"#]);
    assert!(tools_only(&odd, &odd).identical());
    let found = tools_only(&odd, &other);
    assert_eq!(summary(&found.tools), ["(no name) attributes unclassified"]);
}

#[test]
fn a_renamed_tool_is_suggested() {
    let schema = r#""inputSchema": {"type": "object", "properties": {"q": {}}}"#;
    let old = Session::new().tools(&[&tool_with("get-docs", schema), &tool("other", "x")]);
    let new = Session::new().tools(&[
        &tool_with("query-docs", &format!(r#"{schema}, "description": "new""#)),
        &tool("another", "x"),
    ]);
    let found = tools_only(&old, &new);
    let renamed: Vec<_> = found
        .tools
        .iter()
        .map(|change| (&*change.name, change.kind, change.renamed.as_deref()))
        .collect();
    assert_eq!(
        renamed,
        [
            ("another", ChangeKind::Added, Some("other")),
            ("get-docs", ChangeKind::Removed, Some("query-docs")),
            ("other", ChangeKind::Removed, Some("another")),
            ("query-docs", ChangeKind::Added, Some("get-docs")),
        ]
    );
    assert_eq!(
        details(&found.tools),
        ["compatible: differs from `get-docs` in: description"]
    );
}

#[test]
fn a_tool_with_another_schema_is_no_rename() {
    let old = Session::new().tools(&[&tool_with("a", r#""inputSchema": {"type": "object"}"#)]);
    let new = Session::new().tools(&[&tool_with("b", r#""inputSchema": {"type": "array"}"#)]);
    let found = tools_only(&old, &new);
    assert!(found.tools.iter().all(|change| change.renamed.is_none()));
}

#[test]
fn among_several_candidates_the_likeliest_is_suggested() {
    let old = Session::new().tools(&[&tool("list_files", "x"), &tool("read_clock", "y")]);
    let new = Session::new().tools(&[&tool("clock_read", "y"), &tool("list_all_files", "z")]);
    let found = tools_only(&old, &new);
    let of = |name: &str| {
        let change = found.tools.iter().find(|change| change.name == name);
        change.and_then(|change| change.renamed.as_deref())
    };
    assert_eq!(of("clock_read"), Some("read_clock"));
    assert_eq!(of("list_all_files"), Some("list_files"));
}

#[test]
fn a_definition_too_deep_to_compare_is_an_error_with_its_place() {
    let deep = |depth: usize| {
        let (open, close) = (r#"{"a":"#.repeat(depth), "}".repeat(depth));
        let deep = tool_with("t", &format!(r#""inputSchema": {open}1{close}"#));
        let tools = [tool("fine", "x"), deep];
        Session::new()
            .tools(&tools.each_ref().map(String::as_str))
            .cassette()
    };
    let options = DiffOptions { tools_only: true };
    let fine = deep(500);
    assert!(diff(&fine, &fine, &options).expect("a diff").identical());
    for depth in [512, 100_000] {
        let deep = deep(depth);
        let error = diff(&deep, &deep, &options).map_err(|error| error.to_string());
        assert_eq!(
            error,
            Err(
                "test.mcp.json:3:202: /messages/1/payload/result/tools/1 cannot be compared: \
                 the value is nested more than 512 levels deep"
                    .to_owned()
            )
        );
        let Err(DiffError::Definition {
            file,
            pointer,
            position,
            ..
        }) = diff(&deep, &deep, &options)
        else {
            panic!("{depth} levels were compared");
        };
        assert_eq!(file, "test.mcp.json");
        assert_eq!(pointer, "/messages/1/payload/result/tools/1");
        assert_eq!(position.line, 3);
    }
}

#[test]
fn prompts_are_compared_by_name() {
    let session = |prompts: &str| {
        Session::new().call(
            "prompts/list",
            "{}",
            &format!(r#"{{"prompts": [{prompts}]}}"#),
        )
    };
    let found = full(
        &session(
            r#"{"name": "p", "title": "A", "description": "a", "arguments": [{"name": "x"}, {"name": "y", "required": true, "description": "1"}, {"name": "w"}]}, {"name": "gone"}"#,
        ),
        &session(
            r#"{"name": "p", "title": "B", "description": "b", "arguments": [{"name": "z", "required": true}, {"name": "y", "required": false, "description": "2"}, {"name": "x", "required": true}]}, {"name": "new"}"#,
        ),
    );
    assert_eq!(
        summary(&found.prompts),
        [
            "gone removed breaking",
            "new added compatible",
            "p description compatible",
            "p title compatible",
            "p arguments breaking"
        ]
    );
    assert_eq!(
        details(&found.prompts),
        [
            "breaking: argument `w` was removed",
            "breaking: argument `x` is now required",
            "compatible: description of argument `y` changed",
            "compatible: argument `y` is now optional",
            "breaking: required argument `z` was added"
        ]
    );
    assert_eq!(
        found.prompts[4].locator,
        "/messages/1/payload/result/prompts/0/arguments"
    );
}

#[test]
fn the_order_of_arguments_does_not_count_and_odd_ones_do() {
    let session = |arguments: &str| {
        Session::new().call(
            "prompts/list",
            "{}",
            &format!(r#"{{"prompts": [{{"name": "p", "arguments": {arguments}}}]}}"#),
        )
    };
    let old = session(r#"[{"name": "a"}, {"name": "b", "required": false}]"#);
    assert!(full(&old, &session(r#"[{"name": "b"}, {"name": "a"}]"#)).identical());
    for odd in [
        r#"{"a": 1}"#,
        r#"[{"name": "a"}, {"name": "a"}]"#,
        r#"["a"]"#,
    ] {
        assert_eq!(
            details(&full(&old, &session(odd)).prompts),
            ["unclassified: arguments are not a list of named objects"]
        );
    }
    assert_eq!(
        details(
            &full(
                &old,
                &session(r#"[{"name": "a", "x": 1}, {"name": "b", "required": "yes"}]"#)
            )
            .prompts
        ),
        [
            "unclassified: `x` of argument `a` changed",
            "unclassified: `required` of argument `b` changed"
        ]
    );
}

#[test]
fn resources_and_templates_are_compared_by_uri() {
    let session = |resources: &str, templates: &str| {
        Session::new()
            .call(
                "resources/list",
                "{}",
                &format!(r#"{{"resources": [{resources}]}}"#),
            )
            .call(
                "resources/templates/list",
                "{}",
                &format!(r#"{{"resourceTemplates": [{templates}]}}"#),
            )
    };
    let found = full(
        &session(
            r#"{"uri": "a://1", "name": "one", "mimeType": "text/plain", "size": 1}"#,
            r#"{"uriTemplate": "a://{x}", "name": "t", "description": "d"}"#,
        ),
        &session(
            r#"{"uri": "a://1", "name": "uno", "mimeType": "text/html", "size": 2}"#,
            r#"{"uriTemplate": "a://{x}", "name": "t", "description": "e"}, {"uriTemplate": "b://{x}", "name": "t"}"#,
        ),
    );
    assert_eq!(
        summary(&found.resources),
        [
            "a://1 attributes unclassified",
            "a://{x} description compatible",
            "b://{x} added compatible"
        ]
    );
    assert_eq!(
        details(&found.resources),
        [
            r#"unclassified: name changed from "one" to "uno""#,
            r#"unclassified: mimeType changed from "text/plain" to "text/html""#
        ]
    );
    assert_eq!(
        found.notes,
        ["resource `a://1`: `size` changed, which does not count"]
    );
}

#[test]
fn prompts_that_nobody_listed_are_unknown_rather_than_removed() {
    let listed = Session::new().call("prompts/list", "{}", r#"{"prompts": [{"name": "p"}]}"#);
    let found = full(&listed, &Session::new().call("ping", "{}", "{}"));
    assert_eq!(summary(&found.prompts), [""; 0]);
    assert_eq!(
        found.notes,
        [
            "test.mcp.json: no prompt listing was recorded",
            "test.mcp.json: unknown prompt: `p`"
        ]
    );
    assert!(!found.identical(), "the request is missing");
}

#[test]
fn instructions_are_those_of_the_last_greeting() {
    let greeted = |texts: &[&str]| {
        texts.iter().fold(Session::new(), |session, text| {
            session.initialize(&format!(r#"{{"instructions": "{text}"}}"#))
        })
    };
    let found = full(&greeted(&["x", "a"]), &greeted(&["y", "b"]));
    assert_eq!(
        summary(&found.instructions),
        ["instructions text compatible"]
    );
    assert_eq!(
        found.instructions[0].diff,
        ["--- baseline", "+++ current", "@@ -1 +1 @@", "-a", "+b"]
    );
    assert_eq!(
        found.instructions[0].locator,
        "/messages/3/payload/result/instructions"
    );
    assert!(full(&greeted(&["x", "a"]), &greeted(&["y", "a"])).identical());
}

#[test]
fn instructions_come_and_go() {
    let none = Session::new().initialize("{}");
    let some = Session::new().initialize(r#"{"instructions": "be nice"}"#);
    let found = full(&none, &some);
    assert_eq!(
        summary(&found.instructions),
        ["instructions added compatible"]
    );
    assert_eq!(found.instructions[0].diff[3], "+be nice");
    assert_eq!(
        summary(&full(&some, &none).instructions),
        ["instructions removed compatible"]
    );
}

#[test]
fn modern_servers_give_instructions_when_they_are_discovered() {
    let session = |text: &str| {
        Session::new().call(
            "server/discover",
            "{}",
            &format!(r#"{{"instructions": "{text}"}}"#),
        )
    };
    assert!(!full(&session("a"), &session("b")).identical());
}

#[test]
fn tools_only_leaves_everything_else_alone() {
    let old = one_page()
        .call("prompts/list", "{}", r#"{"prompts": [{"name": "p"}]}"#)
        .initialize(r#"{"instructions": "a"}"#);
    let new = Session::new()
        .head(r#""transport": "http""#)
        .initialize(r#"{"instructions": "b"}"#)
        .tools(&three().each_ref().map(String::as_str));
    assert!(tools_only(&old, &new).identical());
    assert!(!full(&old, &new).identical());
}
