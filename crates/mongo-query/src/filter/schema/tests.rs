//! Each keyword: which values match, and which schemas are refused.

use document::{DocRef, ValueRef, doc};
use evaluation::Context;

use crate::{filter::parse, shell_text};

/// Returns whether a document matches a schema, asserting the same for raw bytes and a tree.
fn matches(schema: &str, document: &str) -> bool {
    let filter = shell_text::document(&format!("{{$jsonSchema: {schema}}}"));
    let parsed = parse(DocRef::Tree(&filter)).unwrap_or_else(|error| panic!("{schema}: {error}"));
    let (tree, context) = (shell_text::document(document), Context::default());
    let raw = tree.to_buf();
    let found = parsed.matches(raw.as_ref(), &context).unwrap();
    assert_eq!(parsed.matches(DocRef::Tree(&tree), &context), Ok(found), "{schema} {document}");
    found
}

/// Asserts that a field `a` with the values of the first list matches, and with those of the second
/// does not.
fn check(schema: &str, good: &[&str], bad: &[&str]) {
    let whole = format!("{{properties: {{a: {schema}}}}}");
    for (values, expected) in [(good, true), (bad, false)] {
        for value in values {
            let found = matches(&whole, &format!("{{a: {value}}}"));
            assert_eq!(found, expected, "{schema} {value}");
        }
    }
    assert!(matches(&whole, "{b: 1}"), "{schema}: a missing field matches");
}

#[test]
fn types_are_those_of_json_or_bson() {
    check("{type: 'string'}", &["'x'", "''"], &["1", "null", "['x']", "{}"]);
    check("{type: 'number'}", &["1", "1.5", "NumberLong(1)"], &["'1'", "true"]);
    check("{type: ['boolean', 'null']}", &["true", "null"], &["0", "[]"]);
    check("{type: 'object'}", &["{}", "{b: 1}"], &["[]", "1"]);
    check("{type: 'array'}", &["[]", "[1]"], &["{}", "1"]);
    check("{bsonType: 'int'}", &["1"], &["1.5", "NumberLong(1)"]);
    check("{bsonType: 'number'}", &["1", "1.5"], &["'1'"]);
    check("{bsonType: ['bool', 'string']}", &["true", "'x'"], &["1"]);
    check("{bsonType: 'object'}", &["{}"], &["[]"]);
}

#[test]
fn numbers_have_limits_and_divisors() {
    check("{minimum: 2}", &["2", "2.5", "'x'", "null"], &["1", "1.9", "NumberLong(0)"]);
    check("{minimum: 2, exclusiveMinimum: true}", &["2.1", "3"], &["2", "2.0"]);
    check("{minimum: 2, exclusiveMinimum: false}", &["2"], &["1"]);
    check("{maximum: 2}", &["2", "-5", "'x'"], &["3", "2.1"]);
    check("{maximum: 2, exclusiveMaximum: true}", &["1.9"], &["2"]);
    check("{multipleOf: 3}", &["0", "3", "-6", "9.0", "'x'"], &["1", "2.5"]);
    check("{bsonType: 'double', minimum: 2}", &["2.5"], &["1.5", "3"]);
    check("{multipleOf: 0.1}", &["0.3", "1", "0.7"], &["0.35"]);
}

#[test]
fn strings_have_lengths_in_characters_and_patterns() {
    check("{minLength: 2}", &["'ab'", "'äö'", "1"], &["'a'", "'ä'", "''"]);
    check("{maxLength: 2}", &["'ab'", "'äö'", "''", "[1, 2, 3]"], &["'abc'"]);
    check("{pattern: '^a+$'}", &["'aa'", "1"], &["'ab'", "''"]);
    check("{pattern: 'b'}", &["'abc'"], &["'B'"]);
}

#[test]
fn arrays_have_lengths_and_schemas_for_their_elements() {
    check("{minItems: 1}", &["[1]", "'x'"], &["[]"]);
    check("{maxItems: 1}", &["[]", "[1]", "{b: 1, c: 2}"], &["[1, 2]"]);
    check("{items: {type: 'number'}}", &["[]", "[1, 2]", "'x'"], &["[1, 'x']"]);
    let list = "{items: [{type: 'number'}, {type: 'string'}]}";
    check(list, &["[]", "[1]", "[1, 'x', {}]"], &["['x']", "[1, 2]"]);
    let closed = "{items: [{type: 'number'}], additionalItems: false}";
    check(closed, &["[]", "[1]"], &["[1, 2]"]);
    let typed = "{items: [{type: 'number'}], additionalItems: {type: 'string'}}";
    check(typed, &["[1]", "[1, 'x', 'y']"], &["[1, 2]", "[1, 'x', 2]"]);
    check("{additionalItems: false}", &["[1]"], &[]);
    check("{items: {}, additionalItems: false}", &["[1]"], &[]);
}

#[test]
fn unique_items_ignore_the_order_of_fields() {
    check(
        "{uniqueItems: true}",
        &["[]", "[1, 2, '1']", "[[1], [1, 2]]", "[{b: 1}, {b: 2}]", "'x'"],
        &[
            "[1, 1]",
            "[1, 2, 1.0]",
            "[{b: 1, c: 2}, {c: 2, b: 1}]",
            "[[{b: 1, c: 2}], [{c: 2, b: 1}]]",
        ],
    );
    check("{uniqueItems: false}", &["[1, 1]"], &[]);
}

#[test]
fn documents_have_required_and_additional_properties() {
    for (schema, good, bad) in [
        ("{required: ['a', 'b']}", "{a: null, b: 1}", "{a: 1}"),
        ("{properties: {a: {minimum: 1}}}", "{b: 0}", "{a: 0}"),
        ("{properties: {_id: {}}, additionalProperties: false}", "{_id: 1}", "{_id: 1, a: 1}"),
        ("{additionalProperties: {type: 'number'}}", "{a: 1, b: 2}", "{a: 1, b: 'x'}"),
        ("{patternProperties: {'^n_': {type: 'number'}}}", "{n_a: 1, b: 'x'}", "{n_a: 'x'}"),
        (
            "{patternProperties: {'^n_': {type: 'number'}}, additionalProperties: false}",
            "{n_a: 1}",
            "{n_a: 1, b: 1}",
        ),
        (
            "{properties: {ab: {minimum: 2}}, patternProperties: {'^a': {maximum: 5}}}",
            "{ab: 3}",
            "{ab: 6}",
        ),
        ("{minProperties: 2}", "{a: 1, b: 1}", "{a: 1}"),
        ("{maxProperties: 1}", "{a: 1}", "{a: 1, b: 1}"),
        ("{dependencies: {a: ['b', 'c']}}", "{b: 1}", "{a: 1, b: 1}"),
        ("{dependencies: {a: ['b']}}", "{a: 1, b: 1}", "{a: 1}"),
        ("{dependencies: {a: {required: ['b']}}}", "{a: 1, b: 1}", "{a: 1}"),
        ("{properties: {a: {required: ['b']}}}", "{a: 1}", "{a: {c: 1}}"),
        ("{properties: {a: {properties: {b: {type: 'string'}}}}}", "{a: {c: 1}}", "{a: {b: 1}}"),
        ("{required: ['a.b']}", "{a: {b: 1}}", "{a: {c: 1}}"),
    ] {
        assert!(matches(schema, good), "{schema} {good}");
        assert!(!matches(schema, bad), "{schema} {bad}");
    }
}

#[test]
fn schemas_are_combined() {
    check("{allOf: [{minimum: 1}, {maximum: 3}]}", &["2", "'x'"], &["0", "4"]);
    check("{anyOf: [{type: 'string'}, {minimum: 5}]}", &["'x'", "6", "null"], &["1"]);
    check("{oneOf: [{minimum: 1}, {maximum: 3}]}", &["0", "4"], &["2", "'x'"]);
    check("{not: {type: 'string'}}", &["1", "null"], &["'x'"]);
    check(
        "{enum: [1, 'x', null, {b: 1, c: 2}, [3]]}",
        &["1.0", "'x'", "null", "{c: 2, b: 1}", "[3]"],
        &["2", "'y'", "{b: 1}", "[3, 3]"],
    );
    assert!(matches("{enum: [{a: 1, b: 2}, 5]}", "{b: 2, a: 1}"));
    assert!(!matches("{enum: [5]}", "{a: 5}"));
}

#[test]
fn keywords_of_scalars_have_no_effect_on_documents() {
    for schema in [
        "{}",
        "{minimum: 1}",
        "{maxLength: 0}",
        "{pattern: 'x'}",
        "{minItems: 2}",
        "{uniqueItems: true}",
        "{items: {type: 'string'}}",
        "{type: 'object', title: 'x', description: 'y'}",
        "{bsonType: ['object', 'string']}",
    ] {
        assert!(matches(schema, "{a: 1}"), "{schema}");
    }
    assert!(!matches("{type: 'number'}", "{a: 1}"));
    assert!(!matches("{not: {}}", "{a: 1}"));
}

#[test]
fn a_schema_is_a_filter_among_others() {
    for (filter, expected) in [
        ("{a: 1, $jsonSchema: {required: ['b']}}", true),
        ("{$nor: [{$jsonSchema: {required: ['c']}}]}", true),
        ("{$or: [{$jsonSchema: {required: ['c']}}, {a: 1}]}", true),
        ("{l: {$elemMatch: {$jsonSchema: {required: ['x']}}}}", true),
        ("{l: {$elemMatch: {$jsonSchema: {required: ['y']}}}}", false),
    ] {
        let parsed = parse(shell_text::document(filter).to_buf().as_ref()).unwrap();
        let document = shell_text::document("{a: 1, b: 2, l: [{x: 1}]}").to_buf();
        let found = parsed.matches(document.as_ref(), &Context::default());
        assert_eq!(found, Ok(expected), "{filter}");
    }
}

#[test]
fn refusals_have_codes_and_texts() {
    for [schema, expected] in REFUSED {
        let filter = shell_text::document(&format!("{{$jsonSchema: {schema}}}"));
        let error = parse(DocRef::Tree(&filter)).map_err(|error| {
            let text = error.message.replace("$jsonSchema keyword ", "~");
            format!("{} {text}", error.code)
        });
        assert_eq!(error.err().as_deref(), Some(*expected), "{schema}");
    }
}

const REFUSED: &[[&str; 2]] = &[
    ["1", "14 $jsonSchema must be an object"],
    ["{x: 1}", "9 Unknown $jsonSchema keyword: x"],
    ["{$ref: 'x'}", "9 ~'$ref' is not currently supported"],
    ["{$schema: 'x'}", "9 ~'$schema' is not currently supported"],
    ["{default: 1}", "9 ~'default' is not currently supported"],
    ["{definitions: {}}", "9 ~'definitions' is not currently supported"],
    ["{format: 'x'}", "9 ~'format' is not currently supported"],
    ["{id: 'x'}", "9 ~'id' is not currently supported"],
    ["{encrypt: {}}", "238 ~'encrypt' is not supported"],
    ["{type: 'integer'}", "9 $jsonSchema type 'integer' is not currently supported."],
    ["{type: 1}", "14 ~'type' must be either a string or an array of strings"],
    ["{type: []}", "9 ~'type' must name at least one type"],
    ["{type: [1]}", "14 ~'type' array elements must be strings"],
    ["{type: ['null', 'null']}", "9 ~'type' has duplicate value: null"],
    ["{type: 'int'}", "2 Unknown type name alias: int"],
    ["{bsonType: 'boolean'}", "2 Unknown type name alias: boolean"],
    [
        "{type: 'null', bsonType: 'null'}",
        "9 Cannot specify both $jsonSchema keywords 'type' and 'bsonType'",
    ],
    ["{title: 1}", "14 ~'title' must be of type string"],
    ["{minimum: 'x'}", "14 ~'minimum' must be a number"],
    ["{minimum: 1, exclusiveMinimum: 1}", "14 ~'exclusiveMinimum' must be a boolean"],
    ["{exclusiveMaximum: true}", "9 ~'maximum' must be a present if exclusiveMaximum is present"],
    ["{multipleOf: 0}", "9 ~'multipleOf' must have a positive value"],
    ["{multipleOf: 'x'}", "14 ~'multipleOf' must be a number"],
    ["{minLength: -1}", "9 Expected a non-negative number in: minLength: -1"],
    ["{maxItems: 'x'}", "9 Expected a number in: maxItems: \"x\""],
    ["{pattern: 1}", "14 ~'pattern' must be a string"],
    ["{uniqueItems: 1}", "14 ~'uniqueItems' must be a boolean"],
    ["{items: 1}", "14 ~'items' must be an array or an object, not int"],
    [
        "{items: [1]}",
        "14 ~'items' requires that each element of the array is an object, but found a int",
    ],
    [
        "{additionalItems: 1}",
        "14 ~'additionalItems' must be either an object or a boolean, but got a int",
    ],
    ["{properties: 1}", "14 ~'properties' must be an object"],
    ["{properties: {a: 1}}", "14 Nested schema for $jsonSchema property 'a' must be an object"],
    ["{properties: {a: {x: 1}}}", "9 Unknown $jsonSchema keyword: x"],
    [
        "{patternProperties: {a: 1}}",
        "14 ~'patternProperties' has property 'a' which is not an object",
    ],
    ["{additionalProperties: 1}", "14 ~'additionalProperties' must be an object or a boolean"],
    ["{required: 'a'}", "14 ~'required' must be an array, but found an element of type string"],
    ["{required: []}", "9 ~'required' cannot be an empty array"],
    ["{required: ['a', 'a']}", "9 ~'required' array cannot contain duplicate values"],
    [
        "{required: [1]}",
        "14 ~'required' must be an array of strings, but found an element of type: int",
    ],
    ["{dependencies: 1}", "14 ~'dependencies' must be an object"],
    [
        "{dependencies: {a: 1}}",
        "14 property 'a' in ~'dependencies' must be either an object or an array",
    ],
    ["{dependencies: {a: []}}", "9 property 'a' in ~'dependencies' cannot be an empty array"],
    [
        "{dependencies: {a: ['b', 'b']}}",
        "9 array 'a' in ~'dependencies' contains duplicate element: b",
    ],
    ["{allOf: 1}", "14 ~'allOf' must be an array"],
    ["{anyOf: []}", "2 ~'anyOf' must be a non-empty array"],
    ["{oneOf: [1]}", "14 ~'oneOf' must be an array of objects, but found an element of type int"],
    ["{not: 1}", "14 ~'not' must be an object, but found an element of type int"],
    ["{enum: 1}", "14 ~'enum' must be an array, but found an element of type int"],
    ["{enum: []}", "9 ~'enum' cannot be an empty array"],
    ["{enum: [1, 1.0]}", "9 ~'enum' array cannot contain duplicate values."],
];

#[test]
fn a_pattern_contains_no_zero_byte() {
    let filter = doc! { "$jsonSchema": doc! { "pattern": "a\0b" } };
    assert_eq!(parse(DocRef::Tree(&filter)).map(drop).map_err(|error| error.code), Err(2));
}

#[test]
fn nesting_is_limited() {
    let nested = |levels: usize| {
        let mut schema = "{}".to_owned();
        for _ in 0..levels {
            schema = format!("{{not: {schema}}}");
        }
        let filter = shell_text::document(&format!("{{$jsonSchema: {schema}}}"));
        parse(DocRef::Tree(&filter)).map(drop).map_err(|error| error.code)
    };
    assert_eq!(nested(90), Ok(()));
    assert_eq!(nested(101), Err(2));
}

#[test]
fn work_is_counted_so_that_a_long_check_can_be_stopped() {
    let values = "1,".repeat(1_000);
    let filter = shell_text::document("{$jsonSchema: {properties: {a: {items: {minimum: 0}}}}}");
    let parsed = parse(DocRef::Tree(&filter)).unwrap();
    let document = shell_text::document(&format!("{{a: [{}]}}", values.trim_end_matches(',')));
    let context = Context::default();
    assert_eq!(parsed.matches(document.to_buf().as_ref(), &context), Ok(true));
    assert!(1_000 * 100 < context.budget.spent(), "{}", context.budget.spent());
    assert!(matches!(document.get("a").map(document::Value::as_ref), Some(ValueRef::Array(_))));
}

#[test]
fn many_names_match_the_same_documents_as_few() {
    let more: Vec<String> = (0..20).map(|i| format!("'x{i:02}'")).collect();
    let fields = more.iter().map(|name| format!("{name}: 1")).collect::<Vec<_>>().join(", ");
    let names = more.join(", ");
    for (name, good, bad) in [
        ("'b'", "b: 1", "c: 1"),
        ("'b.c'", "b: {c: 1}", "b: {d: 1}"),
        ("'b.c.d'", "b: {c: {d: 1, e: 2}}", "b: {c: 1}"),
        ("'b.c', 'b'", "b: {c: 1}", "b: 1"),
        ("'b.c', 'b.d', 'b-c'", "'b-c': 1, b: {d: 1, c: 1}", "b: {d: 1, c: 1}"),
        ("'b.c'", "b: {c: 1}, b: 1", "b: 1, b: {c: 1}"),
    ] {
        let schema = format!("{{required: [{names}, {name}]}}");
        assert!(matches(&schema, &format!("{{{fields}, {good}}}")), "{name}");
        assert!(!matches(&schema, &format!("{{{fields}, {bad}}}")), "{name}");
        assert!(!matches(&schema, &format!("{{{good}}}")), "{name}");
    }
    let numbers = |name: &String| format!("{name}: {{type: 'number'}}");
    let schemas = more.iter().map(numbers).collect::<Vec<_>>().join(", ");
    let schema = format!("{{properties: {{{schemas}, 'b.c': {{minimum: 2}}}}}}");
    assert!(matches(&schema, "{a: 1, b: {c: 2}}"));
    assert!(!matches(&schema, "{a: 1, b: {c: 1}}"));
    assert!(!matches(&schema, "{x07: 'x', b: {c: 2}}"));
    // The first of two fields with one name counts.
    assert!(matches(&schema, "{x07: 1, x07: 'x'}"));
    assert!(!matches(&schema, "{x07: 'x', x07: 1}"));
}

#[test]
fn the_work_grows_with_the_sum_of_names_and_fields() {
    let spent = |count: usize| {
        let names: Vec<String> = (0..count).map(|i| format!("f{i}")).collect();
        let numbers = names.iter().map(|name| format!("{name}: {{type: 'number'}}"));
        let numbers = numbers.collect::<Vec<_>>().join(", ");
        let list = names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ");
        let below = names.iter().map(|name| format!("'d.{name}'")).collect::<Vec<_>>().join(", ");
        let filter = shell_text::document(&format!(
            "{{$jsonSchema: {{properties: {{{numbers}}}, required: [{list}, {below}], \
             dependencies: {{z: [{list}]}}}}}}"
        ));
        let fields = names.iter().map(|name| format!("{name}: 1")).collect::<Vec<_>>().join(", ");
        let document = shell_text::document(&format!("{{{fields}, z: 1, d: {{{fields}}}}}"));
        let context = Context::default();
        let parsed = parse(DocRef::Tree(&filter)).unwrap();
        assert_eq!(parsed.matches(document.to_buf().as_ref(), &context), Ok(true));
        context.budget.spent()
    };
    let (few, many) = (spent(200), spent(1_600));
    assert!(many < 10 * few, "{few} and {many}");
}
