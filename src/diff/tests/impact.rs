//! The impact table of the gate, one row a test, in both directions.

use super::{Session, details, summary, tool, tool_with, tools_only};

fn members(old: &str, new: &str) -> Vec<String> {
    let (old, new) = (tool_with("t", old), tool_with("t", new));
    let found = tools_only(
        &Session::new().tools(&[&old]),
        &Session::new().tools(&[&new]),
    );
    details(&found.tools)
}

/// The details of two input schemas.
fn input(old: &str, new: &str) -> Vec<String> {
    members(
        &format!(r#""inputSchema": {old}"#),
        &format!(r#""inputSchema": {new}"#),
    )
}

fn output(old: &str, new: &str) -> Vec<String> {
    members(
        &format!(r#""outputSchema": {old}"#),
        &format!(r#""outputSchema": {new}"#),
    )
}

/// The details of the schemas of one parameter, forwards and backwards.
fn parameter(old: &str, new: &str) -> [String; 2] {
    let schema = |of: &str| format!(r#"{{"properties": {{"q": {of}}}}}"#);
    [(old, new), (new, old)].map(|(old, new)| input(&schema(old), &schema(new)).join("; "))
}

fn output_property(old: &str, new: &str) -> [String; 2] {
    let schema = |of: &str| format!(r#"{{"properties": {{"q": {of}}}}}"#);
    [(old, new), (new, old)].map(|(old, new)| output(&schema(old), &schema(new)).join("; "))
}

#[test]
fn a_tool_removed_breaks_and_a_tool_added_does_not() {
    let both = Session::new().tools(&[
        &tool("a", "x"),
        &tool_with("b", r#""inputSchema": {"properties": {}}"#),
    ]);
    let one = Session::new().tools(&[&tool("a", "x")]);
    assert_eq!(
        summary(&tools_only(&both, &one).tools),
        ["b removed breaking"]
    );
    assert_eq!(
        summary(&tools_only(&one, &both).tools),
        ["b added compatible"]
    );
}

#[test]
fn a_parameter_removed_breaks_even_where_others_are_allowed() {
    let closed = r#"{"additionalProperties": false, "properties": {"q": {}}}"#;
    let bare = r#"{"additionalProperties": false, "properties": {}}"#;
    assert_eq!(input(closed, bare), ["breaking: parameter `q` was removed"]);
    assert_eq!(
        input(r#"{"properties": {"q": {}}}"#, r#"{"properties": {}}"#),
        ["breaking: parameter `q` was removed"]
    );
}

#[test]
fn a_parameter_added_breaks_if_it_is_required() {
    let old = r#"{"properties": {}}"#;
    assert_eq!(
        input(old, r#"{"properties": {"q": {}}, "required": ["q"]}"#),
        ["breaking: required parameter `q` was added"]
    );
    assert_eq!(
        input(old, r#"{"properties": {"q": {}}}"#),
        ["compatible: optional parameter `q` was added"]
    );
}

#[test]
fn a_parameter_that_becomes_required_breaks_and_one_that_becomes_optional_does_not() {
    let optional = r#"{"properties": {"q": {}}}"#;
    let required = r#"{"properties": {"q": {}}, "required": ["q"]}"#;
    assert_eq!(
        input(optional, required),
        ["breaking: parameter `q` is now required"]
    );
    assert_eq!(
        input(required, optional),
        ["compatible: parameter `q` is now optional"]
    );
}

#[test]
fn a_required_name_that_is_not_declared_counts_too() {
    assert_eq!(
        input("{}", r#"{"required": ["q"]}"#),
        ["breaking: parameter `q` is now required"]
    );
}

#[test]
fn a_type_that_changes_or_narrows_breaks_and_one_that_widens_does_not() {
    assert_eq!(
        parameter(r#"{"type": "string"}"#, r#"{"type": "integer"}"#),
        [
            "breaking: type of parameter `q` changed from `string` to `integer`",
            "breaking: type of parameter `q` changed from `integer` to `string`"
        ]
    );
    assert_eq!(
        parameter(r#"{"type": ["string", "null"]}"#, r#"{"type": "string"}"#),
        [
            "breaking: type of parameter `q` was narrowed from `null` or `string` to `string`",
            "compatible: type of parameter `q` was widened from `string` to `null` or `string`"
        ]
    );
    assert_eq!(
        parameter(r#"{"type": "number"}"#, r#"{"type": "integer"}"#),
        [
            "breaking: type of parameter `q` was narrowed from `number` to `integer`",
            "compatible: type of parameter `q` was widened from `integer` to `number`"
        ]
    );
    assert_eq!(
        parameter("{}", r#"{"type": "string"}"#),
        [
            "breaking: type of parameter `q` was narrowed from any to `string`",
            "compatible: type of parameter `q` was widened from `string` to any"
        ]
    );
}

#[test]
fn an_enum_value_removed_breaks_and_one_added_does_not() {
    assert_eq!(
        parameter(r#"{"enum": ["a", "b"]}"#, r#"{"enum": ["a"]}"#),
        [
            r#"breaking: parameter `q` no longer accepts "b""#,
            r#"compatible: parameter `q` now accepts "b" too"#
        ]
    );
    assert_eq!(
        parameter("{}", r#"{"enum": ["a", 1]}"#),
        [
            r#"breaking: parameter `q` is now limited to 1, "a""#,
            "compatible: parameter `q` is no longer limited to fixed values"
        ]
    );
}

#[test]
fn const_is_an_enum_of_one() {
    assert_eq!(
        parameter(r#"{"const": "a"}"#, r#"{"enum": ["a", "b"]}"#),
        [
            r#"compatible: parameter `q` now accepts "b" too"#,
            r#"breaking: parameter `q` no longer accepts "b""#
        ]
    );
    assert_eq!(
        parameter(r#"{"const": 1}"#, r#"{"const": 2}"#)[0],
        "breaking: parameter `q` no longer accepts 1; compatible: parameter `q` now accepts 2 too"
    );
}

#[test]
fn const_beside_enum_is_not_judged() {
    assert_eq!(
        parameter(
            r#"{"enum": [1, 2], "const": 1}"#,
            r#"{"enum": [1, 2], "const": 2}"#
        )[0],
        "unclassified: `const` of parameter `q` changed"
    );
}

#[test]
fn a_bound_tightened_breaks_and_one_loosened_does_not() {
    let cases = [
        ("minimum", "1", "2"),
        ("exclusiveMinimum", "1", "1.5"),
        ("maximum", "10", "9"),
        ("exclusiveMaximum", "1e2", "99"),
        ("minLength", "1", "2"),
        ("maxLength", "20", "2"),
        ("minItems", "0", "1"),
        ("maxItems", "3", "2"),
        ("minProperties", "1", "2"),
        ("maxProperties", "2", "1"),
    ];
    for (keyword, loose, tight) in cases {
        let [forwards, backwards] = parameter(
            &format!(r#"{{"{keyword}": {loose}}}"#),
            &format!(r#"{{"{keyword}": {tight}}}"#),
        );
        let loose = if loose == "1e2" { "100" } else { loose };
        assert_eq!(
            forwards,
            format!("breaking: `{keyword}` of parameter `q` was tightened from {loose} to {tight}")
        );
        assert_eq!(
            backwards,
            format!(
                "compatible: `{keyword}` of parameter `q` was loosened from {tight} to {loose}"
            )
        );
    }
}

#[test]
fn a_bound_that_comes_tightens_and_one_that_goes_loosens() {
    for bound in [
        r#""minimum": 0"#,
        r#""maxLength": 5"#,
        r#""minItems": 1"#,
        r#""pattern": "^a""#,
        r#""format": "uri""#,
        r#""multipleOf": 2"#,
        r#""uniqueItems": true"#,
    ] {
        let [forwards, backwards] = parameter("{}", &format!("{{{bound}}}"));
        assert!(forwards.starts_with("breaking: "), "{bound}: {forwards}");
        assert!(
            backwards.starts_with("compatible: "),
            "{bound}: {backwards}"
        );
    }
    let [forwards, _] = parameter("{}", r#"{"minLength": 0}"#);
    assert_eq!(
        forwards,
        "compatible: `minLength` 0 was added to parameter `q`"
    );
}

#[test]
fn limits_that_cannot_be_ordered_are_unclassified() {
    for (old, new) in [
        (r#""pattern": "^a""#, r#""pattern": "^b""#),
        (r#""format": "uri""#, r#""format": "email""#),
        (r#""multipleOf": 2"#, r#""multipleOf": 3"#),
        (
            r#""exclusiveMinimum": true"#,
            r#""exclusiveMinimum": false"#,
        ),
        (
            r#""minimum": 9007199254740993"#,
            r#""minimum": 9007199254740992"#,
        ),
    ] {
        for found in parameter(&format!("{{{old}}}"), &format!("{{{new}}}")) {
            assert!(found.starts_with("unclassified: "), "{old} {new}: {found}");
        }
    }
}

#[test]
fn additional_properties_closed_breaks_and_opened_does_not() {
    assert_eq!(
        parameter("{}", r#"{"additionalProperties": false}"#),
        [
            "breaking: parameter `q` no longer accepts additional properties",
            "compatible: parameter `q` now accepts more additional properties"
        ]
    );
    assert_eq!(
        parameter(
            r#"{"additionalProperties": true}"#,
            r#"{"additionalProperties": {"type": "string"}}"#
        ),
        [
            "breaking: parameter `q` now limits additional properties",
            "compatible: parameter `q` now accepts more additional properties"
        ]
    );
    assert_eq!(
        parameter(
            r#"{"additionalProperties": {"type": "string"}}"#,
            r#"{"additionalProperties": {"type": "number"}}"#
        )[0],
        "breaking: type of parameter `q.*` changed from `string` to `number`"
    );
    assert_eq!(
        input(
            r#"{"type": "object"}"#,
            r#"{"type": "object", "additionalProperties": false}"#
        ),
        ["breaking: the input no longer accepts additional properties"]
    );
}

#[test]
fn what_an_output_loses_breaks_and_what_it_gains_does_not() {
    let (one, two) = (
        r#"{"properties": {"a": {}}}"#,
        r#"{"properties": {"a": {}, "b": {}}}"#,
    );
    assert_eq!(
        output(two, one),
        ["breaking: output property `b` was removed"]
    );
    assert_eq!(
        output(one, two),
        ["compatible: output property `b` was added"]
    );
    assert_eq!(
        output(
            one,
            r#"{"properties": {"a": {}, "b": {}}, "required": ["b"]}"#
        ),
        ["compatible: output property `b` was added"]
    );
}

#[test]
fn an_output_type_that_changes_breaks_in_either_direction() {
    for found in output_property(r#"{"type": ["string", "null"]}"#, r#"{"type": "string"}"#) {
        assert!(
            found.starts_with("breaking: type of output property `q` changed"),
            "{found}"
        );
    }
    assert_eq!(
        output_property("{}", r#"{"type": "string"}"#),
        [
            "compatible: type of output property `q` changed from any to `string`",
            "breaking: type of output property `q` changed from `string` to any"
        ]
    );
}

#[test]
fn values_flow_the_other_way_through_an_output() {
    assert_eq!(
        output_property(r#"{"enum": ["a", "b"]}"#, r#"{"enum": ["a"]}"#),
        [
            r#"compatible: output property `q` no longer accepts "b""#,
            r#"breaking: output property `q` now accepts "b" too"#
        ]
    );
    assert_eq!(
        output_property(r#"{"maximum": 5}"#, r#"{"maximum": 4}"#),
        [
            "compatible: `maximum` of output property `q` was tightened from 5 to 4",
            "breaking: `maximum` of output property `q` was loosened from 4 to 5"
        ]
    );
    let optional = r#"{"properties": {"q": {}}}"#;
    let required = r#"{"properties": {"q": {}}, "required": ["q"]}"#;
    assert_eq!(
        output(required, optional),
        ["breaking: output property `q` is now optional"]
    );
    assert_eq!(
        output(optional, required),
        ["compatible: output property `q` is now required"]
    );
}

#[test]
fn hints_that_take_back_a_promise_break() {
    let hints = |json: &str| format!(r#""annotations": {{{json}}}"#);
    assert_eq!(
        members(
            &hints(r#""readOnlyHint": true"#),
            &hints(r#""readOnlyHint": false"#)
        ),
        ["breaking: `readOnlyHint` changed from true to false"]
    );
    assert_eq!(
        members(
            &hints(r#""destructiveHint": false"#),
            &hints(r#""destructiveHint": true"#)
        ),
        ["breaking: `destructiveHint` changed from false to true"]
    );
    assert_eq!(
        members(
            &hints(r#""readOnlyHint": false"#),
            &hints(r#""readOnlyHint": true"#)
        ),
        ["compatible: `readOnlyHint` changed from false to true"]
    );
    assert_eq!(
        members(
            &hints(r#""idempotentHint": true, "openWorldHint": false"#),
            &hints(r#""title": "T""#)
        ),
        [
            "compatible: `idempotentHint` changed from true to false",
            "compatible: `openWorldHint` changed from false to true",
            r#"compatible: `title` changed from absent to "T""#
        ]
    );
}

#[test]
fn a_hint_that_goes_falls_back_to_its_default() {
    assert_eq!(
        members(
            r#""annotations": {"readOnlyHint": true, "destructiveHint": false}"#,
            r#""annotations": {}"#
        ),
        [
            "breaking: `destructiveHint` changed from false to true",
            "breaking: `readOnlyHint` changed from true to false"
        ]
    );
}

#[test]
fn spelling_out_the_defaults_is_no_change() {
    let spelled = r#""annotations": {"readOnlyHint": false, "destructiveHint": true, "idempotentHint": false, "openWorldHint": true}"#;
    assert_eq!(members(spelled, r#""annotations": {}"#), [""; 0]);
    assert_eq!(members(r#""annotations": null"#, spelled), [""; 0]);
}

#[test]
fn texts_and_defaults_are_compatible() {
    assert_eq!(
        parameter(r#"{"description": "old"}"#, r#"{"description": "new"}"#)[0],
        r#"compatible: description of parameter `q` changed: -"old" +"new""#
    );
    assert_eq!(
        parameter(r#"{"title": "old"}"#, "{}"),
        [
            "compatible: title of parameter `q` was removed",
            "compatible: title of parameter `q` was added"
        ]
    );
    assert_eq!(
        parameter(r#"{"default": 1}"#, r#"{"default": 2}"#)[0],
        "compatible: default of parameter `q` changed from 1 to 2"
    );
    let (old, new) = (
        tool_with("t", r#""title": "A", "description": "a""#),
        tool_with("t", r#""title": "B", "description": "b""#),
    );
    let found = tools_only(
        &Session::new().tools(&[&old]),
        &Session::new().tools(&[&new]),
    );
    assert_eq!(
        summary(&found.tools),
        ["t description compatible", "t title compatible"]
    );
}

#[test]
fn what_is_in_no_row_is_unclassified() {
    for (keyword, old, new) in [
        ("$ref", r##""#/$defs/a""##, r##""#/$defs/b""##),
        ("anyOf", r#"[{"type": "string"}]"#, r#"[{"type": "null"}]"#),
        ("oneOf", "[{}]", "[{}, {}]"),
        ("allOf", "[{}]", r#"[{"description": "x"}]"#),
        ("not", "{}", r#"{"type": "null"}"#),
        ("if", "{}", r#"{"type": "null"}"#),
        ("then", "{}", r#"{"type": "null"}"#),
        ("patternProperties", r#"{"^a": {}}"#, r#"{"^b": {}}"#),
        ("propertyNames", "{}", r#"{"maxLength": 1}"#),
        ("dependentRequired", r#"{"a": ["b"]}"#, r#"{"a": ["c"]}"#),
        ("x-vendor", "1", "2"),
        ("examples", r#"["a"]"#, r#"["b"]"#),
    ] {
        for found in parameter(
            &format!(r#"{{"{keyword}": {old}}}"#),
            &format!(r#"{{"{keyword}": {new}}}"#),
        ) {
            assert_eq!(
                found,
                format!("unclassified: `{keyword}` of parameter `q` changed")
            );
        }
    }
}

#[test]
fn a_changed_definition_is_named() {
    assert_eq!(
        input(
            r#"{"$defs": {"A": {"type": "string"}, "B": {}}}"#,
            r#"{"$defs": {"A": {"type": "null"}, "B": {}}}"#
        ),
        ["unclassified: `A` in `$defs` changed"]
    );
}

#[test]
fn properties_and_elements_are_followed_inwards() {
    let schema = |kind: &str| {
        format!(
            r#"{{"properties": {{"filters": {{"type": "array", "items": {{"type": "object", "properties": {{"on": {{"type": "{kind}"}}}}}}}}}}}}"#
        )
    };
    assert_eq!(
        input(&schema("string"), &schema("boolean")),
        ["breaking: type of parameter `filters[].on` changed from `string` to `boolean`"]
    );
    assert_eq!(
        parameter(r#"{"items": [{}, {}]}"#, r#"{"items": [{}]}"#)[0],
        "unclassified: the elements of parameter `q` changed"
    );
}

#[test]
fn nesting_beyond_the_limit_is_unclassified_rather_than_unseen() {
    let nest = |leaf: &str| {
        let mut schema = leaf.to_owned();
        for _ in 0..100 {
            schema = format!(r#"{{"properties": {{"p": {schema}}}}}"#);
        }
        schema
    };
    let found = input(&nest(r#"{"type": "string"}"#), &nest(r#"{"type": "null"}"#));
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("unclassified: the schema of parameter `p.p."));
    assert!(found[0].ends_with("changed, deep inside"));
}

#[test]
fn malformed_schemas_are_unclassified_rather_than_equal() {
    for (old, new) in [
        ("{}", "7"),
        ("{}", "false"),
        ("{}", r#"{"type": 3}"#),
        ("{}", r#"{"required": true}"#),
        ("{}", r#"{"properties": []}"#),
        ("{}", r#"{"enum": "a"}"#),
        (r#"{"description": "a"}"#, r#"{"description": ["a"]}"#),
    ] {
        for found in parameter(old, new) {
            assert!(found.starts_with("unclassified: "), "{old} {new}: {found}");
        }
    }
}

#[test]
fn repeated_members_of_a_schema_are_compared_one_by_one() {
    let once = r#"{"properties": {"q": {"type": "string"}}}"#;
    let twice = r#"{"properties": {"q": {"type": "null"}, "q": {"type": "string"}}}"#;
    assert_eq!(
        input(once, twice),
        ["unclassified: the input declares a property more than once"]
    );
    assert_eq!(
        input(
            r#"{"type": "object"}"#,
            r#"{"type": "array", "type": "object"}"#
        )[0],
        "unclassified: the input has `type` more than once"
    );
}

#[test]
fn true_and_an_empty_schema_say_the_same_and_still_show() {
    assert_eq!(
        parameter("true", "{}")[0],
        "compatible: parameter `q` is written in another way"
    );
}

#[test]
fn parameters_that_vanish_with_their_schema_are_named() {
    assert_eq!(
        members(
            r#""inputSchema": {"$schema": "a", "type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}"#,
            r#""inputSchema": {"$schema": "a"}"#
        ),
        [
            "breaking: parameter `id` was removed",
            "compatible: type of the input was widened from `object` to any"
        ]
    );
}

#[test]
fn a_schema_that_comes_or_goes_is_a_change_even_if_it_says_nothing() {
    assert_eq!(
        members(
            r#""description": "d""#,
            r#""description": "d", "outputSchema": {}"#
        ),
        ["compatible: the output schema was added and says nothing"]
    );
    assert_eq!(
        members(
            r#""description": "d", "inputSchema": {}"#,
            r#""description": "d""#
        ),
        ["compatible: the input schema was removed and said nothing"]
    );
}

#[test]
fn the_worst_detail_is_the_impact_of_the_change() {
    let (old, new) = (
        tool_with("t", r#""inputSchema": {"properties": {"a": {}}}"#),
        tool_with(
            "t",
            r#""inputSchema": {"properties": {"a": {}, "b": {}}, "required": ["a"]}"#,
        ),
    );
    let found = tools_only(
        &Session::new().tools(&[&old]),
        &Session::new().tools(&[&new]),
    );
    assert_eq!(summary(&found.tools), ["t input_schema breaking"]);
}

#[test]
fn a_flood_of_details_is_counted_not_listed() {
    let properties: Vec<String> = (0..500).map(|n| format!(r#""p{n}": {{}}"#)).collect();
    let found = input(
        "{}",
        &format!(
            r#"{{"properties": {{{}}}, "required": ["p99"]}}"#,
            properties.join(", ")
        ),
    );
    assert_eq!(found.len(), 201);
    assert_eq!(found[200], "breaking: and 300 more changes");
}

#[test]
fn numbers_are_shown_with_every_digit() {
    for (written, shown) in [
        ("9007199254740993", "9007199254740993"),
        ("-1.50", "-1.5"),
        ("12e3", "12000"),
        ("0.001", "0.001"),
        ("-0", "0"),
        ("1e400", "1e400"),
        ("25e-30", "25e-30"),
    ] {
        let [forwards, _] = parameter("{}", &format!(r#"{{"default": {written}}}"#));
        assert_eq!(
            forwards,
            format!("compatible: default {shown} was added to parameter `q`")
        );
    }
}
