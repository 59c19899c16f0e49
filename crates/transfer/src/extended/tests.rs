//! Tests of parsing and writing documents in the JSON styles.

use document::{DocBuf, Value, array, doc};

use super::*;

fn written(document: &DocBuf, style: Style) -> String {
    let mut out = Vec::new();
    write_document(document.as_ref(), style, &mut out);
    String::from_utf8(out).unwrap()
}

/// Returns a document with every type, including edge cases.
fn every_type() -> DocBuf {
    let id = document::ObjectId([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    let decimals = ["0", "-0", "1.00", "1E+6144", "1E-6176", "NaN", "Infinity", "-Infinity"];
    let decimals = decimals.map(|text| Value::from(document::Decimal128::parse(text).unwrap()));
    let doubles = [0.0, -0.0, 1.0, 0.1, 1e300, 5e-324, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    let binary = |subtype, bytes: &[u8]| Value::Binary { subtype, bytes: bytes.to_vec() };
    let scope = doc! { "x": 1, "y": doc! { "z": Value::DateTime(5) } };
    let mut tree = doc! {
        "_id": id,
        "doubles": Value::Array(doubles.map(Value::from).to_vec()),
        "strings": array!["", "é\"\\\n\u{0}", "$oid"],
        "documents": array![doc! {}, doc! { "a": doc! { "": 1 } }],
        "arrays": array![array![], array![array![1]]],
        "binary": array![
            binary(0, b""), binary(4, &[7; 16]), binary(0x80, b"\xff\x00"),
            binary(2, &[2, 0, 0, 0, 9, 9]), binary(2, &[0, 0, 0, 0])
        ],
        "undefined": Value::Undefined,
        "bools": array![true, false],
        "dates": Value::Array([0, -1, 1, i64::MIN, i64::MAX, 253_402_300_799_999, 1000]
            .map(Value::DateTime).to_vec()),
        "null": Value::Null,
        "regex": Value::Regex { pattern: "^a/\"b".to_owned(), options: "im".to_owned() },
        "pointer": Value::DbPointer { namespace: "a.b".to_owned(), id },
        "code": Value::JavaScript("f()".to_owned()),
        "symbol": Value::Symbol("s".to_owned()),
        "scoped": Value::JavaScriptWithScope { code: "g()".to_owned(), scope },
        "ints": array![0, i32::MIN, i32::MAX, 5_i64, i64::MIN, i64::MAX],
        "timestamps": array![Value::Timestamp(0), Value::Timestamp(u64::MAX), Value::Timestamp(5 << 32 | 6)],
        "decimals": Value::Array(decimals.to_vec()),
        "max": Value::MaxKey,
        "min": Value::MinKey,
        "dotted.$name": 1,
    };
    tree.push("twice", 1);
    tree.push("twice", 2);
    tree.to_buf()
}

#[test]
fn every_type_comes_back_byte_for_byte() {
    let document = every_type();
    document::validate(document.bytes()).unwrap();
    let text = written(&document, Style::Canonical);
    let back = parse_document(text.as_bytes(), Reading::Extended).unwrap();
    assert_eq!(back.bytes(), document.bytes(), "{text}");
    // The relaxed form loses only the width of integers.
    let relaxed = written(&document, Style::Relaxed);
    let back = parse_document(relaxed.as_bytes(), Reading::Extended).unwrap();
    assert_eq!(written(&back, Style::Relaxed), relaxed);
    let plain = written(&document, Style::Plain);
    parse_document(plain.as_bytes(), Reading::Plain).unwrap();
}

#[test]
fn each_style_has_its_form() {
    for (value, canonical, relaxed, plain) in [
        (Value::from(1), r#"{"$numberInt":"1"}"#, "1", "1"),
        (Value::from(1_i64), r#"{"$numberLong":"1"}"#, "1", "1"),
        (Value::from(1.0), r#"{"$numberDouble":"1.0"}"#, "1.0", "1.0"),
        (Value::from(f64::NAN), r#"{"$numberDouble":"NaN"}"#, r#"{"$numberDouble":"NaN"}"#, "null"),
        (
            Value::DateTime(1_500),
            r#"{"$date":{"$numberLong":"1500"}}"#,
            r#"{"$date":"1970-01-01T00:00:01.500Z"}"#,
            r#""1970-01-01T00:00:01.500Z""#,
        ),
        (
            Value::DateTime(-1),
            r#"{"$date":{"$numberLong":"-1"}}"#,
            r#"{"$date":{"$numberLong":"-1"}}"#,
            r#""1969-12-31T23:59:59.999Z""#,
        ),
        (
            Value::Binary { subtype: 0, bytes: b"hi".to_vec() },
            r#"{"$binary":{"base64":"aGk=","subType":"00"}}"#,
            r#"{"$binary":{"base64":"aGk=","subType":"00"}}"#,
            r#""aGk=""#,
        ),
    ] {
        let document = doc! { "a": value }.to_buf();
        for (style, want) in
            [(Style::Canonical, canonical), (Style::Relaxed, relaxed), (Style::Plain, plain)]
        {
            assert_eq!(written(&document, style), format!("{{\"a\":{want}}}"), "{style:?}");
        }
    }
}

#[test]
fn texts_are_read_or_refused_by_a_reason() {
    for (text, want) in [
        (
            r#"{"a":1,"b":3000000000,"c":1.5}"#,
            Ok(doc! { "a": 1, "b": 3_000_000_000_i64, "c": 1.5 }),
        ),
        (
            r#"{"a":{"$uuid":"00000000-0000-0000-0000-0000000000ff"}}"#,
            Ok(doc! {
            "a": Value::Binary { subtype: 4, bytes: [vec![0; 15], vec![255]].concat() } }),
        ),
        (r#"{"a":{"$date":"1970-01-01T00:00:01Z"}}"#, Ok(doc! { "a": Value::DateTime(1000) })),
        (r#"{"a":{"$date":1}}"#, Ok(doc! { "a": Value::DateTime(1) })),
        (r#"{"a":{"$set":{"b":1}}}"#, Ok(doc! { "a": doc! { "$set": doc! { "b": 1 } } })),
        (r#"{"$oid":"x"}"#, Ok(doc! { "$oid": "x" })),
        ("[1]", Err("expected an object")),
        ("", Err("EOF")),
        ("{\"a\":1} x", Err("trailing")),
        ("{\"a\":1", Err("EOF")),
        (r#"{"a":{"$oid":"xyz"}}"#, Err("the value of $oid")),
        (r#"{"a":{"$oid":5}}"#, Err("the value of $oid")),
        (r#"{"a":{"$oid":[1]}}"#, Err("invalid type: sequence")),
        (r#"{"a":{"$date":{"x":1}}}"#, Err("unknown field `x`")),
        (r#"{"a":{"$numberInt":"3000000000"}}"#, Err("the value of $numberInt")),
        (r#"{"a":{"$numberInt":"1","b":2}}"#, Err("must be the only name")),
        (r#"{"a":{"$regularExpression":{"pattern":"a\u0000","options":""}}}"#, Err("the value of")),
        ("{\"a\\u0000\":1}", Err("U+0000")),
        ("{\"a\":1e999}", Err("out of range")),
    ] {
        let got = parse_document(text.as_bytes(), Reading::Extended);
        match (got, want) {
            (Ok(got), Ok(want)) => assert_eq!(got.bytes(), want.to_buf().bytes(), "{text}"),
            (Err(got), Err(want)) => assert!(got.contains(want), "{text}: {got}"),
            (got, want) => panic!("{text}: {got:?} instead of {want:?}"),
        }
    }
    let plain = parse_document(br#"{"a":{"$oid":"x"}}"#, Reading::Plain).unwrap();
    assert_eq!(plain.bytes(), doc! { "a": doc! { "$oid": "x" } }.to_buf().bytes());
    assert!(parse_document(b"{\"a\":\"\xff\"}", Reading::Extended).is_err());
}

#[test]
fn nesting_and_size_are_bounded() {
    for (depth, good) in [(178, true), (179, true), (180, false), (100_000, false)] {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let text = format!("{{\"a\":{}1{}}}", open.repeat(depth), close.repeat(depth));
            let read = parse_document(text.as_bytes(), Reading::Extended);
            assert_eq!(read.is_ok(), good, "{depth} {open}");
        }
        let wrapped = format!("{{\"a\":{{\"$oid\":{}", "[".repeat(depth));
        assert!(parse_document(wrapped.as_bytes(), Reading::Extended).is_err());
        let scope = format!("{{\"a\":{{\"$code\":\"\",\"$scope\":{}", "{\"a\":".repeat(depth));
        assert!(parse_document(scope.as_bytes(), Reading::Extended).is_err());
    }
    // Each element takes three bytes of text and about twelve of BSON.
    let many = format!("{{\"a\":[{}[]]}}", "[],".repeat(3_000_000));
    let refused = parse_document(many.as_bytes(), Reading::Plain).unwrap_err();
    assert!(refused.contains("larger than 16 MiB"), "{refused}");
}

#[test]
fn texts_that_were_changed_are_refused_or_read_whole() {
    let text = written(&every_type(), Style::Canonical).into_bytes();
    for seed in 0..3_000 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut changed = text.clone();
        for _ in 0..random.usize(1..4) {
            let at = random.usize(..changed.len());
            match random.u8(..4) {
                0 => changed[at] = random.u8(..),
                1 => changed[at] = *random.choice(b"{}[]\",:0$e-").unwrap(),
                2 => drop(changed.remove(at)),
                _ => {
                    let part: Vec<u8> = changed[at..(at + 20).min(changed.len())].to_vec();
                    changed.splice(at..at, part);
                }
            }
        }
        for reading in [Reading::Extended, Reading::Plain] {
            if let Ok(read) = parse_document(&changed, reading) {
                document::validate(read.bytes()).unwrap_or_else(|error| panic!("{seed}: {error}"));
                let again = written(&read, Style::Canonical);
                let again = parse_document(again.as_bytes(), Reading::Extended);
                // A text read as plain JSON may contain a name such as `$oid`, which is then
                // written unchanged and cannot be read as a type wrapper.
                assert!(again.is_ok() || reading == Reading::Plain, "{seed}: {again:?}");
            }
        }
    }
}
