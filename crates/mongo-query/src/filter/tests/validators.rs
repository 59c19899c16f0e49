//! Validators: which documents they refuse, and how they describe it.

use document::{DocRef, Document};
use evaluation::Context;
use pipeline::filter::DetailLimits;

use crate::{
    filter::{parse, parse_validator},
    shell_text,
};

const LIMITS: DetailLimits = DetailLimits {
    bytes: 1 << 20,
    depth: 180,
    shows_values: true,
    code_name: |code| format!("Name{code}"),
};

/// Returns the description of a document that fails, asserting that the filter fails, too.
fn explained(validator: &str, document: &str, limits: DetailLimits) -> Document {
    let (source, document) = (shell_text::document(validator), shell_text::document(document));
    let context = Context::default();
    let clause = parse_validator(DocRef::Tree(&source)).unwrap();
    let document = document.to_buf();
    assert_eq!(clause.matches(document.as_ref(), &context), Ok(false), "{validator}");
    let filter = parse(DocRef::Tree(&source)).unwrap();
    assert!(!matches!(filter.matches(document.as_ref(), &context), Ok(true)), "{validator}");
    clause.explain(document.as_ref(), &context, limits).unwrap()
}

fn check(rows: &[[&str; 3]]) {
    for [validator, document, expected] in rows {
        let found = explained(validator, document, LIMITS);
        let expected = shell_text::document(&format!("{{details: {expected}}}"));
        assert_eq!(found, expected, "{validator} {document}");
    }
}

#[test]
fn operators_of_fields_show_what_they_considered() {
    check(&[
        [
            "{quay: 'north'}",
            "{quay: 'east'}",
            "{operatorName: '$eq', specifiedAs: {quay: 'north'}, reason: 'comparison failed', consideredValue: 'east'}",
        ],
        [
            "{'hull.draft': {$gte: 4.5}}",
            "{hull: {beam: 12}}",
            "{operatorName: '$gte', specifiedAs: {'hull.draft': {$gte: 4.5}}, reason: 'field was missing'}",
        ],
        [
            "{tides: {$lt: 140}}",
            "{tides: [171, 162, 155]}",
            "{operatorName: '$lt', specifiedAs: {tides: {$lt: 140}}, reason: 'comparison failed', consideredValues: [171, 162, 155]}",
        ],
        [
            "{flag: {$ne: 'none'}}",
            "{flag: 'none', crew: 8}",
            "{operatorName: '$ne', specifiedAs: {flag: {$ne: 'none'}}, reason: 'comparison succeeded', consideredValue: 'none'}",
        ],
        [
            "{cargo: {$in: ['grain', 'salt', 'slate']}}",
            "{cargo: 'coal'}",
            "{operatorName: '$in', specifiedAs: {cargo: {$in: ['grain', 'salt', 'slate']}}, reason: 'no matching value found in array', consideredValue: 'coal'}",
        ],
        [
            "{pilot: {$exists: true}}",
            "{_id: 77, crew: 8}",
            "{operatorName: '$exists', specifiedAs: {pilot: {$exists: true}}, reason: 'path does not exist'}",
        ],
        [
            "{'hull.damage': {$exists: false}}",
            "{hull: {damage: null}}",
            "{operatorName: '$exists', specifiedAs: {'hull.damage': {$exists: false}}, reason: 'path does exist'}",
        ],
        [
            "{arrival: {$type: 'date'}}",
            "{arrival: 'noon'}",
            "{operatorName: '$type', specifiedAs: {arrival: {$type: 'date'}}, reason: 'type did not match', consideredValue: 'noon', consideredType: 'string'}",
        ],
        [
            "{berth: {$mod: [12, 5]}}",
            "{berth: true}",
            "{operatorName: '$mod', specifiedAs: {berth: {$mod: [12, 5]}}, reason: 'type did not match', consideredType: 'bool', expectedTypes: ['decimal', 'double', 'int', 'long'], consideredValue: true}",
        ],
        [
            "{call: {$regex: 'q[0-9]+$', $options: 'i'}}",
            "{call: 'DLQ-7x'}",
            "{operatorName: '$regex', specifiedAs: {call: {$regex: 'q[0-9]+$', $options: 'i'}}, reason: 'regular expression did not match', consideredValue: 'DLQ-7x'}",
        ],
        [
            "{masts: {$size: 3}}",
            "{masts: {fore: 21}}",
            "{operatorName: '$size', specifiedAs: {masts: {$size: 3}}, reason: 'type did not match', consideredType: 'object', expectedType: 'array', consideredValue: {fore: 21}}",
        ],
        [
            "{ports: {$all: ['Kiel', 'Riga']}}",
            "{ports: ['Oslo', 'Riga', 'Turku']}",
            "{operatorName: '$all', specifiedAs: {ports: {$all: ['Kiel', 'Riga']}}, reason: 'array did not contain all specified values', consideredValue: ['Oslo', 'Riga', 'Turku']}",
        ],
        [
            "{holds: {$elemMatch: {tons: {$gt: 80}, wet: false}}}",
            "{holds: [{tons: 95, wet: true}]}",
            "{operatorName: '$elemMatch', specifiedAs: {holds: {$elemMatch: {tons: {$gt: 80}, wet: false}}}, reason: 'array did not satisfy the child predicate', consideredValue: [{tons: 95, wet: true}]}",
        ],
        [
            "{lamps: {$bitsAllSet: 9}}",
            "{lamps: 12}",
            "{operatorName: '$bitsAllSet', specifiedAs: {lamps: {$bitsAllSet: 9}}, reason: 'bitwise operator failed to match', consideredValue: 12}",
        ],
    ]);
}

#[test]
fn logical_operators_list_the_clauses_that_decide() {
    check(&[
        [
            "{tons: {$gte: 15, $lt: 90}, quay: 'west'}",
            "{tons: 120, quay: 'west'}",
            "{operatorName: '$and', clausesNotSatisfied: [{index: 1, details: {operatorName: '$lt', specifiedAs: {tons: {$lt: 90}}, reason: 'comparison failed', consideredValue: 120}}]}",
        ],
        [
            "{$or: [{sail: 'lateen'}, {engine: 'steam'}, {oars: 16}]}",
            "{sail: 'gaff', oars: 2}",
            "{operatorName: '$or', clausesNotSatisfied: [{index: 0, details: {operatorName: '$eq', specifiedAs: {sail: 'lateen'}, reason: 'comparison failed', consideredValue: 'gaff'}}, {index: 1, details: {operatorName: '$eq', specifiedAs: {engine: 'steam'}, reason: 'field was missing'}}, {index: 2, details: {operatorName: '$eq', specifiedAs: {oars: 16}, reason: 'comparison failed', consideredValue: 2}}]}",
        ],
        [
            "{$nor: [{fuel: 'peat'}, {leaks: {$gte: 3}}, {rats: {$exists: true}}]}",
            "{fuel: 'oil', leaks: 4}",
            "{operatorName: '$nor', clausesSatisfied: [{index: 1, details: {operatorName: '$gte', specifiedAs: {leaks: {$gte: 3}}, reason: 'comparison succeeded', consideredValue: 4}}]}",
        ],
        [
            "{knots: {$not: {$gte: 30, $ne: 44}}}",
            "{knots: 36}",
            "{operatorName: '$not', details: {operatorName: '$and', clausesSatisfied: [{index: 0, details: {operatorName: '$gte', specifiedAs: {knots: {$gte: 30}}, reason: 'comparison succeeded', consideredValue: 36}}, {index: 1, details: {operatorName: '$ne', specifiedAs: {knots: {$ne: 44}}, reason: 'comparison failed', consideredValue: 36}}]}}",
        ],
        [
            "{port: {$not: {$not: {$in: ['Gdynia', 'Narva']}}}}",
            "{port: 'Visby'}",
            "{operatorName: '$not', details: {operatorName: '$not', details: {operatorName: '$in', specifiedAs: {port: {$in: ['Gdynia', 'Narva']}}, reason: 'no matching value found in array', consideredValue: 'Visby'}}}",
        ],
        [
            "{$nor: [{$jsonSchema: {properties: {crew: {type: 'number', multipleOf: 4}}}}]}",
            "{crew: 20}",
            "{operatorName: '$nor', clausesSatisfied: [{index: 0, details: {operatorName: '$jsonSchema', reason: 'schema matched'}}]}",
        ],
        [
            "{$expr: {$gt: ['$length', '$beam']}}",
            "{length: 6, beam: 14}",
            "{operatorName: '$expr', specifiedAs: {$expr: {$gt: ['$length', '$beam']}}, reason: 'expression did not match', expressionResult: false}",
        ],
        [
            "{$alwaysFalse: 1}",
            "{sunk: true}",
            "{operatorName: '$alwaysFalse', specifiedAs: {$alwaysFalse: 1}, reason: 'expression always evaluates to false'}",
        ],
    ]);
    let failed = explained("{$expr: {$mod: ['$tons', '$holds']}}", "{tons: 7, holds: 0}", LIMITS);
    let text = format!("{failed:?}");
    assert!(text.contains("failed to evaluate aggregation expression"), "{text}");
    assert!(text.contains("can't $mod by zero"), "{text}");
}

#[test]
fn schemas_show_the_rules_that_are_not_met() {
    for (schema, value, details) in OF_VALUES {
        let validator = format!("{{$jsonSchema: {{properties: {{hull: {schema}}}}}}}");
        let expected = format!(
            "{{operatorName: '$jsonSchema', schemaRulesNotSatisfied: [{{operatorName: 'properties', \
             propertiesNotSatisfied: [{{propertyName: 'hull', details: [{details}]}}]}}]}}"
        );
        check(&[[&validator, &format!("{{hull: {value}}}"), &expected]]);
    }
}

/// Schemas of a field, values that fail, and their descriptions.
const OF_VALUES: &[(&str, &str, &str)] = &[
    (
        "{maximum: 7.5, exclusiveMaximum: true}",
        "7.5",
        "{operatorName: 'maximum', specifiedAs: {maximum: 7.5, exclusiveMaximum: true}, reason: 'comparison failed', consideredValue: 7.5}",
    ),
    (
        "{minimum: 63, maximum: 21}",
        "42",
        "{operatorName: 'maximum', specifiedAs: {maximum: 21}, reason: 'comparison failed', consideredValue: 42}, {operatorName: 'minimum', specifiedAs: {minimum: 63}, reason: 'comparison failed', consideredValue: 42}",
    ),
    (
        "{bsonType: 'array', maxLength: 2}",
        "'oak'",
        "{operatorName: 'bsonType', specifiedAs: {bsonType: 'array'}, reason: 'type did not match', consideredValue: 'oak', consideredType: 'string'}",
    ),
    (
        "{maxLength: 5}",
        "'carvel'",
        "{operatorName: 'maxLength', specifiedAs: {maxLength: 5}, reason: 'specified string length was not satisfied', consideredValue: 'carvel'}",
    ),
    (
        "{pattern: '(oak|larch)$'}",
        "'larchwood'",
        "{operatorName: 'pattern', specifiedAs: {pattern: '(oak|larch)$'}, reason: 'regular expression did not match', consideredValue: 'larchwood'}",
    ),
    (
        "{multipleOf: 0.25}",
        "10.2",
        "{operatorName: 'multipleOf', specifiedAs: {multipleOf: 0.25}, reason: 'considered value is not a multiple of the specified value', consideredValue: 10.2}",
    ),
    (
        "{enum: ['steel', {wood: 'elm'}]}",
        "{wood: 'ash'}",
        "{operatorName: 'enum', specifiedAs: {enum: ['steel', {wood: 'elm'}]}, reason: 'value was not found in enum', consideredValue: {wood: 'ash'}}",
    ),
    (
        "{maxItems: 2}",
        "['bow', 'keel', 'rudder']",
        "{operatorName: 'maxItems', specifiedAs: {maxItems: 2}, reason: 'array did not match specified length', consideredValue: ['bow', 'keel', 'rudder'], numberOfItems: 3}",
    ),
    (
        "{uniqueItems: true}",
        "['rib', 'plank', 'stem', 'plank']",
        "{operatorName: 'uniqueItems', specifiedAs: {uniqueItems: true}, reason: 'found a duplicate item', consideredValue: ['rib', 'plank', 'stem', 'plank'], duplicatedValue: 'plank'}",
    ),
    (
        "{items: {bsonType: 'int', title: 'frames', description: 'in order'}}",
        "[11, 12, null]",
        "{operatorName: 'items', title: 'frames', description: 'in order', reason: 'At least one item did not match the sub-schema', itemIndex: 2, details: [{operatorName: 'bsonType', specifiedAs: {bsonType: 'int'}, reason: 'type did not match', consideredValue: null, consideredType: 'null'}]}",
    ),
    (
        "{items: [{minLength: 3}, {}, {multipleOf: 5}], additionalItems: false}",
        "['ab', 'x', 12, true]",
        "{operatorName: 'items', details: [{itemIndex: 0, details: [{operatorName: 'minLength', specifiedAs: {minLength: 3}, reason: 'specified string length was not satisfied', consideredValue: 'ab'}]}, {itemIndex: 2, details: [{operatorName: 'multipleOf', specifiedAs: {multipleOf: 5}, reason: 'considered value is not a multiple of the specified value', consideredValue: 12}]}]}, {operatorName: 'additionalItems', specifiedAs: {additionalItems: false}, reason: 'found additional items', additionalItems: [true]}",
    ),
    (
        "{maxProperties: 1}",
        "{bow: 'raked', stern: 'round'}",
        "{operatorName: 'maxProperties', specifiedAs: {maxProperties: 1}, reason: 'specified number of properties was not satisfied', numberOfProperties: 2}",
    ),
    (
        "{not: {bsonType: ['null', 'bool']}}",
        "false",
        "{operatorName: 'not', reason: 'child expression matched'}",
    ),
    (
        "{oneOf: [{multipleOf: 4}, {minimum: 50}, {multipleOf: 6}]}",
        "24",
        "{operatorName: 'oneOf', reason: 'more than one subschema matched', matchingSchemaIndexes: [0, 2]}",
    ),
    (
        "{anyOf: [{bsonType: 'date', title: 'launch'}, {minLength: 9}]}",
        "'unknown'",
        "{operatorName: 'anyOf', schemasNotSatisfied: [{index: 0, title: 'launch', details: [{operatorName: 'bsonType', specifiedAs: {bsonType: 'date'}, reason: 'type did not match', consideredValue: 'unknown', consideredType: 'string'}]}, {index: 1, details: [{operatorName: 'minLength', specifiedAs: {minLength: 9}, reason: 'specified string length was not satisfied', consideredValue: 'unknown'}]}]}",
    ),
];

#[test]
fn schemas_of_documents_show_missing_and_additional_fields() {
    check(&[
        [
            "{$jsonSchema: {required: ['quay', 'crew', 'call'], title: 'ship', properties: {tons: {maximum: 900}}}}",
            "{crew: 5, tons: 310}",
            "{operatorName: '$jsonSchema', title: 'ship', schemaRulesNotSatisfied: [{operatorName: 'required', specifiedAs: {required: ['quay', 'crew', 'call']}, missingProperties: ['call', 'quay']}]}",
        ],
        [
            "{$jsonSchema: {properties: {_id: {}, tons: {}}, additionalProperties: false}}",
            "{_id: 5, tons: 40, flag: 'red', crew: 3}",
            "{operatorName: '$jsonSchema', schemaRulesNotSatisfied: [{operatorName: 'additionalProperties', specifiedAs: {additionalProperties: false}, additionalProperties: ['flag', 'crew']}]}",
        ],
        [
            "{$jsonSchema: {patternProperties: {'_kg$': {bsonType: 'int', description: 'a weight'}}, additionalProperties: {bsonType: 'bool'}}}",
            "{rope_kg: 'heavy', towed: true, flag: 'blue'}",
            "{operatorName: '$jsonSchema', schemaRulesNotSatisfied: [{operatorName: 'additionalProperties', reason: 'at least one additional property did not match the subschema', failingProperty: 'flag', details: [{operatorName: 'bsonType', specifiedAs: {bsonType: 'bool'}, reason: 'type did not match', consideredValue: 'blue', consideredType: 'string'}]}, {operatorName: 'patternProperties', details: [{propertyName: 'rope_kg', description: 'a weight', regexMatched: '_kg$', details: [{operatorName: 'bsonType', specifiedAs: {bsonType: 'int'}, reason: 'type did not match', consideredValue: 'heavy', consideredType: 'string'}]}]}]}",
        ],
        [
            "{$jsonSchema: {dependencies: {sail: {minProperties: 4}, engine: ['fuel', 'cylinders']}}}",
            "{sail: 'lug', engine: 'diesel', cylinders: 2}",
            "{operatorName: '$jsonSchema', schemaRulesNotSatisfied: [{operatorName: 'dependencies', failingDependencies: [{conditionalProperty: 'sail', details: [{operatorName: 'minProperties', specifiedAs: {minProperties: 4}, reason: 'specified number of properties was not satisfied', numberOfProperties: 3}]}, {conditionalProperty: 'engine', missingProperties: ['fuel']}]}]}",
        ],
        [
            "{$jsonSchema: {bsonType: 'array'}}",
            "{crew: 5}",
            "{operatorName: '$jsonSchema', specifiedAs: {$jsonSchema: {bsonType: 'array'}}, reason: 'expression always evaluates to false'}",
        ],
    ]);
}

#[test]
fn descriptions_are_limited() {
    let small = DetailLimits { bytes: 200, ..LIMITS };
    let found = explained("{a: {$lt: 0}}", "{a: [1]}", small);
    assert_eq!(found.get("truncated"), None);
    let long = format!("{{a: '{}'}}", "x".repeat(300));
    let found = explained("{a: {$lt: 0}}", &long, small);
    let cut = shell_text::document(
        "{details: {operatorName: '$lt', reason: 'comparison failed'}, truncated: true}",
    );
    assert_eq!(found, cut);
    let clauses = "{b: 1},".repeat(100);
    let many = format!("{{$or: [{}]}}", clauses.trim_end_matches(','));
    let note = shell_text::document("{note: 'detailed error was too large'}");
    assert_eq!(explained(&many, "{a: 1}", small), note);
    let flat = DetailLimits { depth: 3, ..LIMITS };
    let found = explained("{$or: [{$or: [{a: 1}]}]}", "{b: 1}", flat);
    let deep = "{reason: 'generated error was too deeply nested', truncated: true}";
    assert_eq!(found, shell_text::document(deep));
    let values = "1,".repeat(50);
    let array = format!("{{a: [{}]}}", values.trim_end_matches(','));
    let found = format!("{:?}", explained("{a: {$lt: 0}}", &array, LIMITS));
    assert!(found.contains("consideredValuesTruncated"), "{found}");
}

#[test]
fn descriptions_without_values_show_neither_documents_nor_clauses() {
    let hidden = DetailLimits { shows_values: false, ..LIMITS };
    for (validator, document) in [
        ("{a: {$ne: 'secret'}}", "{a: 'secret'}"),
        ("{a: {$size: 1}}", "{a: 'secret'}"),
        ("{$expr: {$toInt: '$a'}}", "{a: 'secret'}"),
        ("{$jsonSchema: {properties: {a: {enum: ['x']}}}}", "{a: 'secret'}"),
        (
            "{$jsonSchema: {properties: {a: {items: [], additionalItems: false}}}}",
            "{a: ['secret']}",
        ),
        ("{$jsonSchema: {properties: {a: {uniqueItems: true}}}}", "{a: ['secret', 'secret']}"),
    ] {
        let found = format!("{:?}", explained(validator, document, hidden));
        assert!(found.contains("reason"), "{validator}: {found}");
        assert!(!found.contains("secret"), "{validator}: {found}");
        let shown = format!("{:?}", explained(validator, document, LIMITS));
        assert!(shown.contains("secret"), "{validator}: {shown}");
    }
}

#[test]
fn errors_of_negated_operators_name_the_field() {
    let source = shell_text::document("{quay: {$not: {$gt: /x/}}}");
    let error = parse_validator(DocRef::Tree(&source)).map(drop).unwrap_err();
    assert!(error.message.contains("'quay'"), "{error}");
}

#[test]
fn operators_that_need_an_index_or_scripts_are_refused() {
    for (validator, code) in [
        ("{$text: {$search: 'x'}}", 2),
        ("{$where: 'x'}", 2),
        ("{a: {$near: [0, 0]}}", 5_626_500),
        ("{a: {$nearSphere: [0, 0]}}", 5_626_500),
        ("{a: {$not: {$near: [0, 0]}}}", 5_626_500),
        ("{a: {$not: {$geoWithin: {}}}}", 2),
        ("{$or: []}", 2),
        ("{$or: 1}", 2),
        ("{$x: 1}", 2),
        ("{a: {$x: 1}}", 2),
        ("{a: {$options: 'i'}}", 2),
        ("{a: {$gt: 1, b: 2}}", 2),
        ("{a: {$not: {b: 2}}}", 2),
        ("{a: {$not: {$gt: 1, b: 2}}}", 2),
        ("{a: {$not: {$not: {}}}}", 2),
        ("{a: {$not: 1}}", 2),
        ("{$jsonSchema: {x: 1}}", 9),
        ("{$expr: '$$UNBOUND'}", 17276),
    ] {
        let source = shell_text::document(validator);
        let error = parse_validator(DocRef::Tree(&source)).map(drop).map_err(|error| error.code);
        assert_eq!(error, Err(code), "{validator}");
    }
    for validator in ["{}", "{$comment: 'x'}", "{$and: [{}]}"] {
        let source = shell_text::document(validator);
        let clause = parse_validator(DocRef::Tree(&source)).unwrap();
        let document = shell_text::document("{a: 1}");
        assert_eq!(clause.matches(DocRef::Tree(&document), &Context::default()), Ok(true));
    }
}
