//! The array index at which a filter matched.

use evaluation::Context;

use super::parse;
use crate::shell_text::document;

#[test]
fn the_last_walked_array_decides() {
    for (filter, text, expected) in [
        ("{a: 2}", "{a: [1, 2]}", Some(1)),
        ("{a: {$gt: 0}}", "{a: [0, 5, 6]}", Some(1)),
        ("{a: 1}", "{a: 1}", None),
        ("{'a.b': 2}", "{a: [{b: 1}, {b: [3, 2]}]}", Some(1)),
        ("{'a.1': 2}", "{a: [1, 2]}", None),
        ("{'a.1.b': 2}", "{a: [1, {b: [1, 2]}]}", Some(1)),
        ("{a: {$elemMatch: {b: 2}}}", "{a: [{b: 1}, {b: 2}]}", Some(1)),
        ("{a: {$elemMatch: {$gt: 1}}}", "{a: [1, 1, 2]}", Some(2)),
        ("{'a.b': {$elemMatch: {$gt: 1}}}", "{a: [{}, {b: [1, 2]}]}", Some(1)),
        ("{a: 2, b: 3}", "{a: [1, 2], b: [3]}", Some(0)),
        ("{b: 3, a: 2}", "{a: [1, 2], b: 3}", Some(1)),
        ("{a: {$ne: 5}}", "{a: [1, 2]}", None),
        ("{$nor: [{a: 5}]}", "{a: [1, 2]}", None),
        ("{$or: [{a: 2}]}", "{a: [1, 2]}", Some(1)),
        // Alternatives that become a list of values provide the index, others do not.
        ("{$or: [{a: 2}, {a: 9}]}", "{a: [1, 2]}", Some(1)),
        ("{$or: [{a: 2}, {a: 1}]}", "{a: [1, 2]}", Some(0)),
        ("{$and: [{$or: [{a: /x/}, {a: {$in: [2]}}]}]}", "{a: [1, 2]}", Some(1)),
        ("{$or: [{a: 2}, {a: {$gt: 9}}]}", "{a: [1, 2]}", None),
        ("{$or: [{a: 2}, {b: 9}]}", "{a: [1, 2]}", None),
        ("{a: [1, 2]}", "{a: [1, 2]}", None),
        ("{a: 9}", "{a: [1, 2]}", None),
        ("{a: {$all: [2, 1]}}", "{a: [1, 2]}", Some(0)),
        ("{a: {$in: [2, 7]}}", "{a: [1, 2]}", Some(1)),
        ("{a: {$elemMatch: {$id: 2}}}", "{a: [{$ref: 'x', $id: 1}, {$ref: 'x', $id: 2}]}", Some(1)),
        ("{a: {$size: 2}}", "{a: [1, 2]}", None),
    ] {
        let parsed = parse(document(filter).to_buf().as_ref()).unwrap();
        let raw = document(text).to_buf();
        let found = parsed.matched_index(raw.as_ref(), &Context::default());
        assert_eq!(found, Ok(expected), "{filter} {text}");
    }
}
