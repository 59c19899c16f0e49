//! Tests with captured streams, streams built byte by byte, and invalid streams. The files in
//! `captured` are bodies that Microsoft.Azure.Cosmos for .NET sent or accepted.
#![allow(clippy::unwrap_used, reason = "a failed assumption fails the test")]

use std::{fs, path::PathBuf};

use hybrid_row::{
    Operation, OperationResult, ResultWriter, count_records, is_hybrid_row, read_operations,
    read_results, write_operations,
};

const SEGMENT: [u8; 10] = [0x81, 0xf0, 0xd8, 0xff, 0x7f, 1, 10, 0, 0, 0];
const OPERATION: [u8; 5] = [0x81, 0x70, 0x54, 0xe1, 0x7f];

/// Returns the captured bodies whose file name has this ending.
fn captured(ending: &str) -> Vec<(String, Vec<u8>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/captured");
    let mut found: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|found| found == ending))
        .map(|path| (path.display().to_string(), fs::read(&path).unwrap()))
        .collect();
    found.sort();
    assert!(50 <= found.len(), "{} with .{ending}", found.len());
    found
}

fn write_results(results: &[OperationResult<'_>]) -> Vec<u8> {
    let mut writer = ResultWriter::with_capacity(0);
    results.iter().for_each(|result| writer.push(result));
    writer.finish()
}

/// Returns a stream with records of these bodies and valid checksums.
fn stream(bodies: &[&[u8]]) -> Vec<u8> {
    let mut out = SEGMENT.to_vec();
    for body in bodies {
        out.extend_from_slice(&[0x81, 0xf1, 0xd8, 0xff, 0x7f]);
        out.extend_from_slice(&u32::try_from(body.len()).unwrap().to_le_bytes());
        out.extend_from_slice(&crc32fast::hash(body).to_le_bytes());
        out.extend_from_slice(body);
    }
    out
}

/// Returns a stream with one operation whose row consists of the header and these bytes.
fn operation(rest: &[u8]) -> Vec<u8> {
    stream(&[&[&OPERATION, rest].concat()])
}

fn refused(bytes: &[u8]) -> String {
    read_operations(bytes).map_or_else(|error| error.to_string(), |found| format!("{found:?}"))
}

#[test]
fn captured_requests_are_written_again_to_the_same_bytes() {
    for (name, bytes) in captured("request") {
        assert!(is_hybrid_row(&bytes));
        let operations = read_operations(&bytes).unwrap();
        assert_eq!(count_records(&bytes), Ok(operations.len()), "{name}");
        assert!(operations.iter().all(|found| found.resource_type == Some(2)), "{name}");
        assert!(write_operations(&operations) == bytes, "{name}: {operations:?}");
    }
}

/// Captured responses that differ in bytes after decoding and encoding. They have sparse columns in
/// another order, named by text, or unknown; nonzero bytes in an absent fixed column; or segment
/// headers that are longer or repeated.
const OTHER_BYTES: [&str; 6] = [
    "read-literal",
    "read-longsegment",
    "read-nostatus",
    "read-order",
    "read-segments",
    "read-unknown",
];

/// Responses made invalid, and the errors.
const WRONG: [(&str, &str); 4] = [
    ("read-crc", "the checksum of a record does not match"),
    ("read-trailing", "the version of a row is not 0x81"),
    ("read-trailingmore", "the version of a row is not 0x81"),
    ("read-wrongtype", "a column has a value of another type"),
];

#[test]
fn captured_responses_are_written_again_to_the_same_bytes() {
    let (mut others, mut wrong) = (0, 0);
    for (path, bytes) in captured("response") {
        let name = path.rsplit('/').next().unwrap().trim_end_matches(".response");
        if let Some((_, why)) = WRONG.iter().find(|(known, _)| *known == name) {
            let error = read_results(&bytes).unwrap_err();
            assert_eq!(error.what, *why, "{name}");
            wrong += 1;
            continue;
        }
        let results = read_results(&bytes).unwrap();
        let same = !OTHER_BYTES.contains(&name);
        others += usize::from(!same);
        assert_eq!(write_results(&results) == bytes, same, "{name}: {results:?}");
        assert_eq!(read_results(&write_results(&results)).unwrap(), results, "{name}");
    }
    assert_eq!((others, wrong), (OTHER_BYTES.len(), WRONG.len()));
}

#[test]
fn a_truncated_stream_is_refused_except_between_records() {
    for (name, bytes) in captured("request").into_iter().filter(|(_, bytes)| bytes.len() < 2000) {
        let all = read_operations(&bytes).unwrap();
        let mut whole = 0;
        for cut in 0..bytes.len() {
            if let Ok(found) = read_operations(bytes.get(..cut).unwrap()) {
                assert_eq!(found, all.get(..found.len()).unwrap(), "{name} at {cut}");
                assert_eq!(count_records(bytes.get(..cut).unwrap()), Ok(whole), "{name} at {cut}");
                whole += 1;
            }
        }
        assert_eq!(whole, all.len(), "{name}");
    }
}

#[test]
fn a_changed_byte_is_found() {
    let short = |(_, bytes): &(String, Vec<u8>)| bytes.len() < 160;
    for (name, bytes) in captured("request").into_iter().filter(short) {
        for at in 0..bytes.len() {
            for change in [1, 0x80, 0xff] {
                let mut changed = bytes.clone();
                *changed.get_mut(at).unwrap() ^= change;
                assert!(read_operations(&changed).is_err(), "{name}, byte {at} ^ {change}");
            }
        }
    }
}

#[test]
fn a_row_with_a_changed_byte_and_a_right_checksum_is_refused_or_read_whole() {
    let row = [
        &OPERATION[..],
        &[0x5f, 20, 0, 0, 0, 2, 0, 0, 0],
        b"\x05[\"a\"]\x02\x01\x02\x011\x02{}",
        b"\x14\x09\x04\"e1\"\x03\x0c\x07\x0b\x05\0\0\0",
    ]
    .concat();
    let bytes = stream(&[&row]);
    let read = read_operations(&bytes).unwrap();
    let first = read.first().unwrap();
    assert_eq!(first.time_to_live_in_seconds, Some(5), "{first:?}");
    for at in 0..row.len() {
        for value in 0..=255 {
            let mut changed = row.clone();
            *changed.get_mut(at).unwrap() = value;
            if let Ok(found) = read_operations(&stream(&[&changed])) {
                let again = write_operations(&found);
                assert_eq!(read_operations(&again).unwrap(), found, "byte {at} = {value}");
            }
        }
    }
}

#[test]
fn requests_are_read_byte_by_byte() {
    let first = b"\x81\x70\x54\xe1\x7f\x43\0\0\0\0\x02\0\0\0\x13{\"id\":\"1\",\"pk\":\"a\"}";
    let second = b"\x81\x70\x54\xe1\x7f\x13\x04\0\0\0\x02\0\0\0\x012\x14\x09\x04\"e1\"";
    let bytes = stream(&[first, second]);
    assert_eq!(bytes.get(19..23), Some(&0xaa47_ef50_u32.to_le_bytes()[..]));
    let of_documents = Operation { resource_type: Some(2), ..Operation::default() };
    let create = Operation {
        operation_type: Some(0),
        resource_body: Some(br#"{"id":"1","pk":"a"}"#),
        ..of_documents
    };
    let delete = Operation {
        operation_type: Some(4),
        id: Some("2"),
        if_match: Some("\"e1\""),
        ..of_documents
    };
    assert_eq!(read_operations(&bytes).unwrap(), [create, delete]);
    assert_eq!(write_operations(&[create, delete]), bytes);
}

#[test]
fn responses_are_written_byte_by_byte() {
    let made = OperationResult {
        status_code: Some(201),
        sub_status_code: Some(0),
        etag: Some("\"e2\""),
        resource_body: Some(br#"{"id":"1"}"#),
        request_charge: Some(6.0),
        ..OperationResult::default()
    };
    let later = OperationResult {
        status_code: Some(429),
        sub_status_code: Some(3200),
        retry_after_milliseconds: Some(200),
        request_charge: Some(0.0),
        ..OperationResult::default()
    };
    let first = b"\x81\x71\x54\xe1\x7f\x0f\xc9\0\0\0\0\0\0\0\x04\"e2\"\x0a{\"id\":\"1\"}\x10\x06\0\0\0\0\0\0\x18\x40";
    let second = b"\x81\x71\x54\xe1\x7f\x03\xad\x01\0\0\x80\x0c\0\0\x0b\x05\xc8\0\0\0\x10\x06\0\0\0\0\0\0\0\0";
    assert_eq!(write_results(&[made, later]), stream(&[first, second]));
    assert_eq!(write_results(&[]), SEGMENT);
}

#[test]
fn long_values_have_lengths_of_several_bytes() {
    for len in [0, 127, 128, 16_383, 16_384, 70_000] {
        let body = vec![b'x'; len];
        let given = Operation { resource_body: Some(&body), ..Operation::default() };
        let bytes = write_operations(&[given]);
        assert_eq!(read_operations(&bytes).unwrap(), [given], "{len}");
    }
}

#[test]
fn segment_headers_may_be_long_and_may_repeat() {
    let one = operation(&[3, 2, 0, 0, 0, 2, 0, 0, 0]);
    let record = one.get(SEGMENT.len()..).unwrap();
    let mut long = SEGMENT.to_vec();
    *long.get_mut(6).unwrap() = 15;
    long.extend_from_slice(b"\x14\x02\x02hi");
    let bytes = [&long, record, &SEGMENT, record, &SEGMENT].concat();
    assert_eq!((read_operations(&bytes).unwrap().len(), count_records(&bytes)), (2, Ok(2)));
}

#[test]
fn sparse_columns_may_be_named_by_text_and_unknown_ones_are_skipped() {
    let fixed = [3, 2, 0, 0, 0, 2, 0, 0, 0];
    let named = [&fixed[..], b"\x14\x14ifMatch\x01e"].concat();
    assert_eq!(read_operations(&operation(&named)).unwrap()[0].if_match, Some("e"));
    let scalars: [(u8, &[u8]); 23] = [
        (1, b""),
        (2, b""),
        (3, b""),
        (5, &[0; 1]),
        (6, &[0; 2]),
        (7, &[0; 4]),
        (8, &[0; 8]),
        (9, &[0; 1]),
        (10, &[0; 2]),
        (11, &[0; 4]),
        (12, &[0; 8]),
        (13, b"\x80\x01"),
        (14, b"\x80\x80\x01"),
        (15, &[0; 4]),
        (16, &[0; 8]),
        (17, &[0; 16]),
        (18, &[0; 8]),
        (19, &[0; 16]),
        (20, b"\x01a"),
        (21, b"\x01\xff"),
        (22, &[0; 16]),
        (23, &[0; 8]),
        (24, &[0; 12]),
    ];
    for (code, value) in scalars {
        let unknown = [&[code, 14][..], b"z", value].concat();
        let row = [&fixed[..], &unknown, &unknown, b"\x03\x0c"].concat();
        let bytes = operation(&row);
        let found = read_operations(&bytes).unwrap();
        assert_eq!(found[0].minimal_return_preference, Some(true), "type code {code:#x}");
        let short = row.get(..fixed.len() + unknown.len() - 1).unwrap();
        assert!(value.is_empty() || read_operations(&operation(short)).is_err(), "{code:#x}");
    }
    for code in (0..=255).filter(|code| scalars.iter().all(|(scalar, _)| scalar != code)) {
        let row = [&fixed[..], &[code, 14], b"z", &[0; 32]].concat();
        let want = "a value has an unknown or nested type at byte 40";
        assert_eq!(refused(&operation(&row)), want, "{code:#x}");
    }
}

#[test]
fn wrong_rows_are_refused_with_the_reason() {
    let fixed = [3, 2, 0, 0, 0, 2, 0, 0, 0];
    let with = |rest: &[u8]| operation(&[&fixed[..], rest].concat());
    let huge = b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
    for (bytes, want) in [
        (operation(&[0x83, 2, 0, 0, 0, 2, 0, 0, 0]), "a presence bit belongs to no column"),
        (operation(&[3, 2, 0, 0, 0, 2, 0, 0]), "a value ends beyond the end of its row or stream"),
        (operation(&[0x10, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff]), "a string is not valid UTF-8"),
        (
            operation(&[&[0x10, 0, 0, 0, 0, 0, 0, 0, 0][..], huge].concat()),
            "a value ends beyond the end of its row or stream",
        ),
        (
            operation(&[&[0x10, 0, 0, 0, 0, 0, 0, 0, 0][..], &[0xff; 9], &[2]].concat()),
            "a variable-length number is too long",
        ),
        (
            operation(&[&[0x10, 0, 0, 0, 0, 0, 0, 0, 0][..], &[0x80; 11]].concat()),
            "a variable-length number is too long",
        ),
        (with(b"\x14\x09\x01e\x14\x09\x01e"), "a column occurs twice"),
        (with(b"\x14\x09\x01e\x14\x14ifMatch\x01e"), "a column occurs twice"),
        (with(b"\x15\x09\x01e"), "a column has a value of another type"),
        (with(b"\x01\x0c"), "a column has a value of another type"),
        (with(b"\x07\x01\0\0\0\0"), "a non-sparse column is among the sparse columns"),
        (with(b"\x14\x0fid\x01e"), "a non-sparse column is among the sparse columns"),
        (with(&[b"\x14", &huge[..]].concat()), "a value ends beyond the end of its row or stream"),
        (with(b"\x14"), "a value ends beyond the end of its row or stream"),
        (stream(&[b"\x81\x71\x54\xe1\x7f\x03\0\0\0\0\0\0\0\0"]), "a row has an unexpected schema"),
        (stream(&[b""]), "a value ends beyond the end of its row or stream"),
        (stream(&[b"\x80\x70\x54\xe1\x7f"]), "the version of a row is not 0x81"),
    ] {
        let found = refused(&bytes);
        assert!(found.starts_with(want), "{found}, not {want}: {bytes:x?}");
    }
}

#[test]
fn wrong_streams_are_refused_with_the_reason() {
    let good = operation(&[3, 2, 0, 0, 0, 2, 0, 0, 0]);
    let with = |at: usize, bytes: &[u8]| {
        let mut changed = good.clone();
        changed.get_mut(at..at + bytes.len()).unwrap().copy_from_slice(bytes);
        changed
    };
    let after = |bytes: &[u8]| [&good[..], bytes].concat();
    for (bytes, want) in [
        (Vec::new(), "a value ends beyond the end of its row or stream at byte 0"),
        (b"[]".to_vec(), "the version of a row is not 0x81 at byte 0"),
        (with(1, &[0xf1]), "a row has an unexpected schema at byte 1"),
        (with(5, &[0]), "a segment header has no length at byte 5"),
        (with(6, &[9]), "the length of a segment header is wrong at byte 6"),
        (with(6, &[11]), "a value ends beyond the end of its row or stream at byte 11"),
        (with(6, &[23]), "a value ends beyond the end of its row or stream"),
        (with(6, &[42]), "a value ends beyond the end of its row or stream"),
        (with(6, &[0xff; 4]), "a length is negative at byte 6"),
        (with(6, &[0xff, 0xff, 0xff, 0x7f]), "a value ends beyond the end of its row or stream"),
        (with(15, &[0xff; 4]), "a length is negative at byte 15"),
        (with(15, &[0xff, 0xff, 0xff, 0x7f]), "a value ends beyond the end of its row or stream"),
        (with(15, &[13]), "the version of a row is not 0x81"),
        (with(19, &[0; 4]), "the checksum of a record does not match at byte 23"),
        (after(&[0]), "the version of a row is not 0x81"),
        (after(&[0; 13]), "the version of a row is not 0x81"),
        (after(&[0x81]), "a value ends beyond the end of its row or stream"),
    ] {
        // A truncated row whose rest is counted as another record fails by its checksum.
        let found = refused(&bytes);
        let cut = found.starts_with("the checksum of a record does not match");
        assert!(found.starts_with(want) || (cut && bytes == with(15, &[13])), "{found}: {want}");
    }
}

#[test]
fn a_million_records_are_counted_without_reading_them() {
    // The shortest possible records, for the maximum count per byte.
    let record = stream(&[b""]).split_off(SEGMENT.len());
    let mut bytes = SEGMENT.to_vec();
    bytes.extend(record.repeat(1_000_000));
    assert_eq!(count_records(&bytes), Ok(1_000_000));
    // The first record is not a row, and decoding stops there.
    let error = read_operations(&bytes).unwrap_err();
    assert_eq!(error.at, SEGMENT.len() + record.len());
    bytes.push(0x81);
    assert!(count_records(&bytes).is_err());
}

#[test]
fn a_million_segment_headers_hold_nothing() {
    let bytes = SEGMENT.repeat(1_000_000);
    assert_eq!(count_records(&bytes), Ok(0));
    assert_eq!(read_operations(&bytes), Ok(Vec::new()));
}

#[test]
fn a_million_unknown_columns_are_skipped() {
    let fixed = [3, 2, 0, 0, 0, 2, 0, 0, 0];
    // A column of type null with a one-byte name that is not in the schema.
    let row = [&fixed[..], &b"\x01\x0ez".repeat(1_000_000)].concat();
    let bytes = operation(&row);
    let read = read_operations(&bytes).unwrap();
    let want =
        Operation { operation_type: Some(2), resource_type: Some(2), ..Operation::default() };
    assert_eq!(read, [want]);
}

/// Returns the record bodies of a stream with one segment header.
fn bodies(bytes: &[u8]) -> Vec<&[u8]> {
    let (mut rest, mut found) = (bytes.get(SEGMENT.len()..).unwrap(), Vec::new());
    while !rest.is_empty() {
        let len = u32::from_le_bytes(rest.get(5..9).unwrap().try_into().unwrap());
        let (body, after) = rest.get(13..).unwrap().split_at(usize::try_from(len).unwrap());
        found.push(body);
        rest = after;
    }
    found
}

#[test]
fn a_row_cut_at_any_byte_is_refused_or_lacks_its_last_columns() {
    for (name, bytes) in captured("request").into_iter().filter(|(_, bytes)| bytes.len() < 2000) {
        for body in bodies(&bytes) {
            let whole = read_operations(&stream(&[body])).unwrap().remove(0).operation_type;
            for cut in 0..body.len() {
                let bytes = stream(&[body.get(..cut).unwrap()]);
                let Ok(read) = read_operations(&bytes) else { continue };
                assert_eq!(read.first().map(|row| row.operation_type), Some(whole), "{name}");
                // Only sparse columns can be absent without a presence bit.
                assert_eq!(write_operations(&read), bytes, "{name} at {cut}");
            }
        }
    }
}

#[test]
fn a_record_of_another_length_is_refused() {
    for (name, bytes) in captured("request").into_iter().filter(|(_, bytes)| bytes.len() < 800) {
        let mut at = SEGMENT.len() + 5;
        for body in bodies(&bytes) {
            let len = u32::try_from(body.len()).unwrap();
            for other in [0, 1, len - 1, len + 1, 2 * len, 0x7fff_ffff, 0x8000_0000, u32::MAX] {
                let mut changed = bytes.clone();
                changed.get_mut(at..at + 4).unwrap().copy_from_slice(&other.to_le_bytes());
                assert!(read_operations(&changed).is_err(), "{name}: {other} at {at}");
            }
            at += 13 + body.len();
        }
    }
}

#[test]
fn a_row_of_another_schema_is_refused() {
    let row = [&OPERATION[..], &[3, 2, 0, 0, 0, 2, 0, 0, 0]].concat();
    let known = i32::from_le_bytes(row.get(1..5).unwrap().try_into().unwrap());
    assert_eq!(known, 2_145_473_648);
    let near = known - 2..=known + 8;
    let system = 2_147_473_647..=i32::MAX;
    for id in near.chain(system).chain([0, 1, -1, 1_000_000, -1_000_000, i32::MIN]) {
        let mut other = row.clone();
        other.get_mut(1..5).unwrap().copy_from_slice(&id.to_le_bytes());
        let read = read_operations(&stream(&[&other])).map(|read| read.len());
        let want = "a row has an unexpected schema";
        match id == known {
            true => assert_eq!(read, Ok(1)),
            false => assert_eq!(read.unwrap_err().what, want, "{id}"),
        }
    }
}
