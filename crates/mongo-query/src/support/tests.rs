//! Compares the table with the parsers, in both directions.

use std::collections::BTreeSet;

use crate::{
    Error, filter, projection,
    shell_text::document,
    sort,
    support::{LanguagePart, Row, Support, TABLE},
    update,
};

/// Returns the shortest use of an operator.
fn example(row: &Row) -> String {
    let name = row.name;
    match (row.part, name) {
        (LanguagePart::Filter, "$and" | "$or" | "$nor") => format!("{{{name}: [{{a: 1}}]}}"),
        (
            LanguagePart::Filter,
            "$expr" | "$comment" | "$alwaysTrue" | "$alwaysFalse" | "$sampleRate",
        ) => {
            format!("{{{name}: 1}}")
        }
        (LanguagePart::Filter, "$near" | "$nearSphere" | "$geoNear") => {
            format!("{{a: {{{name}: [1, 2]}}}}")
        }
        (LanguagePart::Filter, "$geoWithin" | "$within" | "$uniqueDocs") => {
            let name = if name == "$within" { name } else { "$geoWithin" };
            format!("{{a: {{{name}: {{$box: [[0, 0], [1, 1]], $uniqueDocs: 1}}}}}}")
        }
        (LanguagePart::Filter, "$geoIntersects" | "$geometry") => {
            "{a: {$geoIntersects: {$geometry: {type: 'Point', coordinates: [1, 2]}}}}".to_owned()
        }
        (LanguagePart::Filter, "$box" | "$polygon") => {
            format!("{{a: {{$geoWithin: {{{name}: [[0, 0], [1, 1]{}]}}}}}}", more(name))
        }
        (LanguagePart::Filter, "$center" | "$centerSphere") => {
            format!("{{a: {{$geoWithin: {{{name}: [[0, 0], 1]}}}}}}")
        }
        (LanguagePart::Filter, "$maxDistance" | "$minDistance") => {
            format!("{{a: {{$near: [1, 2], {name}: 1}}}}")
        }
        (LanguagePart::Filter, "$text") => "{$text: {$search: 'a'}}".to_owned(),
        (LanguagePart::Filter, "$jsonSchema" | "$where") => format!("{{{name}: {{}}}}"),
        (LanguagePart::Filter, "$in" | "$nin" | "$all") => format!("{{a: {{{name}: [1]}}}}"),
        (LanguagePart::Filter, "$not") => "{a: {$not: {$gt: 1}}}".to_owned(),
        (LanguagePart::Filter, "$elemMatch") => "{a: {$elemMatch: {b: 1}}}".to_owned(),
        (LanguagePart::Filter, "$mod") => "{a: {$mod: [2, 1]}}".to_owned(),
        (LanguagePart::Filter, "$regex") => "{a: {$regex: 'x'}}".to_owned(),
        (LanguagePart::Filter, "$options") => "{a: {$regex: 'x', $options: 'i'}}".to_owned(),
        (LanguagePart::Filter, _) => format!("{{a: {{{name}: 1}}}}"),
        (LanguagePart::Projection, "$") => "{'a.$': 1}".to_owned(),
        (LanguagePart::Projection, "$elemMatch") => "{a: {$elemMatch: {b: 1}}}".to_owned(),
        (LanguagePart::Projection, "$meta") => "{a: {$meta: 'textScore'}}".to_owned(),
        (LanguagePart::Projection, _) => format!("{{a: {{{name}: 1}}}}"),
        (LanguagePart::Sort, "$meta") => "{a: {$meta: 'textScore'}}".to_owned(),
        (LanguagePart::Sort, "$natural") => "{$natural: 1}".to_owned(),
        (LanguagePart::Sort, order) => format!("{{a: {order}}}"),
        (LanguagePart::Update, "$[<identifier>]") => "{$set: {'a.$[x]': 1}}".to_owned(),
        (LanguagePart::Update, "$" | "$[]") => format!("{{$set: {{'a.{name}': 1}}}}"),
        (LanguagePart::Update, "$rename") => "{$rename: {a: 'b'}}".to_owned(),
        (LanguagePart::Update, "$currentDate") => "{$currentDate: {a: true}}".to_owned(),
        (LanguagePart::Update, "$bit") => "{$bit: {a: {or: 1}}}".to_owned(),
        (LanguagePart::Update, "$pullAll") => "{$pullAll: {a: [1]}}".to_owned(),
        (LanguagePart::Update, _) => format!("{{{name}: {{a: 1}}}}"),
        (LanguagePart::UpdateModifier, "$each") => "{$push: {a: {$each: []}}}".to_owned(),
        (LanguagePart::UpdateModifier, _) => format!("{{$push: {{a: {{$each: [], {name}: 1}}}}}}"),
    }
}

/// Returns the third point of a polygon.
fn more(name: &str) -> &'static str {
    if name == "$polygon" { ", [0, 1]" } else { "" }
}

fn parse(row: &Row) -> Result<(), Error> {
    let text = document(&example(row)).to_buf();
    let text = text.as_ref();
    match row.part {
        LanguagePart::Filter => filter::parse(text).map(drop),
        LanguagePart::Projection => projection::parse_find(text).map(drop),
        LanguagePart::Sort => sort::parse_scored(text).map(drop),
        LanguagePart::Update | LanguagePart::UpdateModifier => {
            let filters = document("{f: [{x: 1}]}");
            let filters = filters.get("f").and_then(|filters| filters.as_ref().as_array());
            let filters = filters.filter(|_| row.name == "$[<identifier>]");
            update::parse(document::ValueRef::Document(text), filters, false).map(drop)
        }
    }
}

#[test]
fn rows_say_what_parsers_do() {
    for row in TABLE {
        let parsed = parse(row);
        // `find` takes `$natural` as the direction of the scan and does not pass it to the parser.
        if (row.part, row.name) == (LanguagePart::Sort, "$natural") {
            assert!(parsed.is_err(), "{row:?}");
            continue;
        }
        match row.support {
            Support::Works | Support::Differs(_) => assert_eq!(parsed, Ok(()), "{row:?}"),
            Support::NotYet => {
                let message = parsed.map_err(|error| error.message).err().unwrap_or_default();
                assert!(message.contains(row.name), "{row:?}: {message}");
            }
        }
    }
}

#[test]
fn parsers_know_nothing_without_a_row() {
    let rows = |part| -> BTreeSet<&str> {
        TABLE.iter().filter(|row| row.part == part).map(|row| row.name).collect()
    };
    let missing = |part, known: Vec<&'static str>| -> Vec<&'static str> {
        known.into_iter().filter(|name| !rows(part).contains(name)).collect()
    };
    let names = filter::FIELD_OPERATORS.iter().map(|(name, _)| *name);
    let top = filter::TOP_OPERATORS.iter().map(|(name, _)| *name);
    let none: Vec<&str> = Vec::new();
    assert_eq!(missing(LanguagePart::Filter, names.chain(top).collect()), none);
    let names = projection::FIND_OPERATORS.iter().map(|(name, _)| *name);
    assert_eq!(missing(LanguagePart::Projection, names.collect()), none);
    let names = update::UPDATE_OPERATORS.iter().map(|(name, _)| *name);
    assert_eq!(missing(LanguagePart::Update, names.collect()), none);
    let names = update::PUSH_MODIFIERS.iter().map(|(name, _)| *name);
    assert_eq!(missing(LanguagePart::UpdateModifier, names.collect()), none);
}

#[test]
fn rows_stand_once() {
    let mut seen = BTreeSet::new();
    for row in TABLE {
        assert!(seen.insert((format!("{:?}", row.part), row.name)), "{row:?}");
    }
}
