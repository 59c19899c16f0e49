//! Tests of encoded bodies, byte by byte.

use document::{Value, json};

use super::{FIRST, is_binary, read_document, read_value};

const ROOM: usize = 1 << 20;

/// Returns a body from hexadecimal text; the format byte is prepended.
fn body(hex: &str) -> Vec<u8> {
    let digits: Vec<u32> = hex.chars().filter_map(|digit| digit.to_digit(16)).collect();
    let bytes = digits.chunks(2).map(|pair| (16 * pair[0] + pair[1]) as u8);
    std::iter::once(FIRST).chain(bytes).collect()
}

fn round(hex: &str) -> String {
    match read_value(&body(hex), 128, ROOM) {
        Ok(value) => json::to_string(value.as_ref()),
        Err(failure) => failure.text.into_owned(),
    }
}

fn wrong(what: &str, at: usize) -> String {
    format!("The input content is invalid binary JSON: {what} at byte {at}")
}

/// Encoded by the Rust SDK 1.1.0-beta.1.
#[test]
fn an_item_of_a_client() {
    let hex = concat!(
        "edec0d82696482613184746f776e88c3856c6573756e64866e696768747303857072696365cc00000000",
        "002a944085726f756e64cc0000000000003440866f6666736574cbe0e3ffffffffffff83626967c7ffff",
        "ffffffffffff8474616773e50502837365618085656d707479e50000846e6f6e65d0846f70656ed2866e",
        "6573746564ed1c0185c3a9e697a5e51303cbffffffffffffffff1fcb2000000000000000846c6f6e67c0",
        "467a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a",
        "7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a",
    );
    let text = concat!(
        r#"{"id":"a1","town":"Ålesund","nights":3,"price":1290.5,"round":20.0,"offset":-720"#,
        r#"0,"big":18446744073709551615,"tags":["sea",""],"empty":[],"none":null,"open":tru"#,
        r#"e,"nested":{"é日":[-1,31,32]},"long":"zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz"#,
        r#"zzzzzzzzzzzzzzzzzzzzzzzzzzz"}"#,
    );
    let want = json::parse_document(text.as_bytes(), 3).unwrap();
    assert_eq!(read_document(&body(hex), 3, text.len()), Ok(want));
    assert!(is_binary(&body(hex)));
    assert!(!is_binary(text.as_bytes()) && !is_binary(b""));
}

#[test]
fn values() {
    for (hex, want) in [
        ("d0", "null"),
        ("d1", "false"),
        ("d2", "true"),
        ("00", "0"),
        ("1f", "31"),
        ("c8ff", "255"),
        ("c90080", "-32768"),
        ("caffffff7f", "2147483647"),
        ("cb0000000000000080", "-9223372036854775808"),
        ("c7ffffffffffffff7f", "9223372036854775807"),
        ("c70000000000000080", "9.223372036854776e+18"),
        ("cc0000000000003440", "20"),
        ("cc0000000000000080", "-0"),
        ("cd0000203e", "0.15625"),
        ("ce9a9999999999b93f", "0.1"),
        ("d7ff", "255"),
        ("d8ff", "-1"),
        ("d9feff", "-2"),
        ("da00000080", "-2147483648"),
        ("dbffffffffffffffff", "-1"),
        ("dcffffffff", "4294967295"),
        ("e0", "[]"),
        ("e1e1e0", "[[[]]]"),
        ("e2020102", "[1,2]"),
        ("e302000102", "[1,2]"),
        ("e4020000000102", "[1,2]"),
        ("e502020102", "[1,2]"),
        ("e6020002000102", "[1,2]"),
        ("e702000000020000000102", "[1,2]"),
        ("e200", "[]"),
        ("e50000", "[]"),
        ("e8", "{}"),
        ("e92c01", r#"{"id":1}"#),
        ("ea042c013502", r#"{"id":1,"name":2}"#),
        ("eb04002c013502", r#"{"id":1,"name":2}"#),
        ("ec040000002c013502", r#"{"id":1,"name":2}"#),
        ("ed04022c013502", r#"{"id":1,"name":2}"#),
        ("ee040002002c013502", r#"{"id":1,"name":2}"#),
        ("ef04000000020000002c013502", r#"{"id":1,"name":2}"#),
        ("f0d80301ff02", "[1,-1,2]"),
        ("f1d902000001ff7f", "[256,32767]"),
        ("f0cd010000803f", "[1]"),
        ("f2f0d7020301020304 0506", "[[1,2],[3,4],[5,6]]"),
        ("f3f1d70100020007 08", "[[7],[8]]"),
        ("f2f0d70003", "[[],[],[]]"),
    ] {
        assert_eq!(round(hex), want, "{hex}");
    }
}

#[test]
fn strings() {
    for (hex, want) in [
        ("20", "$s"),
        ("3f", "_id"),
        ("80", ""),
        ("83616263", "abc"),
        ("85c3a9e697a5", "é日"),
        ("c003616263", "abc"),
        ("c10300616263", "abc"),
        ("c203000000616263", "abc"),
        ("750123456789abcdef0123456789abcdef", "10325476-98ba-dcfe-1032-547698badcfe"),
        ("760123456789abcdef0123456789abcdef", "10325476-98BA-DCFE-1032-547698BADCFE"),
        ("770123456789abcdef0123456789abcdef", "\\\"10325476-98ba-dcfe-1032-547698badcfe\\\""),
        ("d30123456789abcdef0123456789abcdef", "67452301-ab89-efcd-0123-456789abcdef"),
        ("710200 4d616e4d616e", "TWFuTWFu"),
        ("710101 4d61", "TWE="),
        ("7101fd 4d", "TQ"),
        ("72010000 fbeffe", "++/+"),
        ("730100 fbeffe", "--_-"),
        ("740100fe fbef", "--8"),
        ("7805103204", "01234"),
        ("7904badc", "ABCD"),
        ("7a16 13531cc8212eb1134bd1f6", "2024-07-01T10:20:30.5Z"),
        ("7b024110", "AB"),
        ("7c0361 4008", "acc"),
        ("7d0261 4100", "bb"),
        ("7e02c834", "Hi"),
        ("7f0200c834", "Hi"),
        ("dd03000102", "AAEC"),
        ("de0100ff", "/w=="),
        ("df00000000", ""),
    ] {
        assert_eq!(round(hex), format!("\"{want}\""), "{hex}");
    }
}

#[test]
fn references() {
    for (hex, want) in [
        ("e205826869c303", r#"["hi","hi"]"#.to_owned()),
        ("e206826869c40300", r#"["hi","hi"]"#.to_owned()),
        ("e207826869c5030000", r#"["hi","hi"]"#.to_owned()),
        ("e208826869c603000000", r#"["hi","hi"]"#.to_owned()),
        ("e209e982616201e9c30402", r#"[{"ab":1},{"ab":2}]"#.to_owned()),
        ("ea0781610181 62c303", r#"{"a":1,"b":"a"}"#.to_owned()),
        ("e2032cc303", r#"["id","id"]"#.to_owned()),
        ("e207826869c303c306", wrong("a reference is to no earlier string", 8)),
        ("e204c3038161", wrong("a reference is to no earlier string", 3)),
        ("c301", wrong("a reference is to no earlier string", 1)),
        ("c300", wrong("a reference is to no earlier string", 1)),
        ("c3ff", wrong("a reference is to no earlier string", 1)),
        ("e20301c303", wrong("there is no string", 3)),
        ("e205827e05c304", wrong("a value ends early", 6)),
    ] {
        assert_eq!(round(hex), want, "{hex}");
    }
}

#[test]
fn damaged_values() {
    for (hex, what, at) in [
        ("", "a value ends early", 1),
        ("d0d0", "there is more than one value", 2),
        ("68", "marker 0x68 is unknown", 1),
        ("cf0000", "marker 0xcf is unknown", 1),
        ("d4", "marker 0xd4 is unknown", 1),
        ("f4", "marker 0xf4 is unknown", 1),
        ("ff", "marker 0xff is unknown", 1),
        ("40", "a string of a dictionary is not supported", 1),
        ("6700", "a string of a dictionary is not supported", 1),
        ("ca010203", "a value ends early", 2),
        ("cc000000000000f07f", "a number is not finite", 2),
        ("cc010000000000f87f", "a number is not finite", 2),
        ("cd0000807f", "a number is not finite", 2),
        ("82ff61", "a string is not UTF-8", 1),
        ("83eda080", "a string is not UTF-8", 1),
        ("c2ffffffff61", "a value ends early", 6),
        ("e2050102", "a length is beyond the end", 3),
        ("e4ffffffff01", "a length is beyond the end", 6),
        ("e502030102", "a count is wrong", 2),
        ("e5020101 02", "a count is wrong", 2),
        ("e202e2020102", "a length is beyond the end", 5),
        ("e201ca01020304", "a value ends early", 4),
        ("e90101", "there is no string", 2),
        ("e9d001", "there is no string", 2),
        ("e9d30123456789abcdef0123456789abcdef01", "there is no string", 2),
        ("ea012c", "a value ends early", 4),
        ("ea042c012c02", "property 'id' occurs twice", 2),
        ("ea062c0182696402", "property 'id' occurs twice", 2),
        ("e982610001", "a property name holds the character U+0000", 2),
        ("f0c80101", "there is no type of numbers", 2),
        ("f2f1d7010101", "there is no array of numbers", 2),
        ("f3f0d701000100 01", "there is no array of numbers", 2),
        ("710003", "a string of base64 has a wrong end", 1),
        ("710001", "a string of base64 has a wrong end", 1),
        ("7101fc4d", "a string of base64 has a wrong end", 1),
        ("780110", "a packed string has an excess character", 1),
        ("7b018001", "a packed string is not ASCII", 1),
        ("7b01ff01", "a packed string is not ASCII", 1),
    ] {
        let found = read_value(&body(hex), 128, ROOM).map_err(|failure| failure.text.into_owned());
        assert_eq!(found, Err(wrong(what, at)), "{hex}");
    }
    assert!(read_document(&body("e0"), 128, ROOM).is_err());
    assert!(read_document(&[], 128, ROOM).is_err());
}

#[test]
fn depth_is_limited_exactly() {
    for (hex, depth) in
        [("e0", 1), ("e8", 1), ("e1e0", 2), ("e92ce8", 2), ("f0d700", 1), ("f2f0d70000", 2)]
    {
        assert!(read_value(&body(hex), depth, ROOM).is_ok(), "{hex}");
        assert!(read_value(&body(hex), depth - 1, ROOM).is_err(), "{hex}");
    }
    for (depth, good) in [(127, true), (128, false), (1_000_000, false)] {
        let arrays = body(&format!("{}e0", "e1".repeat(depth)));
        assert_eq!(read_value(&arrays, 128, 1 << 22).is_ok(), good, "{depth}");
    }
}

#[test]
fn what_is_small_cannot_become_large() {
    // A string of 60,000 bytes and as many references to it as fit after it.
    let mut references = body("e4 00000000 c1 60ea");
    references.resize(references.len() + 60_000, b'x');
    (0..300).for_each(|_| references.extend_from_slice(&[0xc3, 6]));
    let len = u32::try_from(references.len() - 6).unwrap();
    references[2..6].copy_from_slice(&len.to_le_bytes());
    let tables = body(&format!("e4 {} {}", "00020000", "f3f1d70000ffff00".repeat(64)));
    let small = |count: usize| body(&format!("e4 {:02x}{:02x}0000", count % 256, count / 256));
    let numbers = [small(60_000), vec![1; 60_000]].concat();
    for (what, body, max_text_bytes, good) in [
        ("references", &references, 301 * 60_000, false),
        ("references", &references, 301 * 60_003, true),
        ("numbers", &numbers, 120_000, false),
        ("numbers", &numbers, 120_001, true),
        ("tables", &tables, 1 << 20, false),
    ] {
        let found = read_value(body, 3, max_text_bytes);
        assert_eq!(found.is_ok(), good, "{what} in {max_text_bytes}");
        assert!(found.is_ok() || found.is_err_and(|failure| failure.fault.status() == 413));
    }
}

#[test]
fn only_an_object_is_a_document() {
    assert_eq!(read_document(&body("e92c8161"), 1, 11).unwrap().len(), 1);
    assert_eq!(read_value(&body("8161"), 0, 3), Ok(Value::String("a".to_owned())));
}
