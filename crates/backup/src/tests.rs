//! Valid streams, and all ways in which they can be damaged.

use bytes::Bytes;
use uuid::Uuid;

use crate::{Clock, Error, Header, Kind, Part, Reader, Stamp, Writer, copy_checked, survey};

fn header(kind: Kind) -> Header {
    let is_full = kind == Kind::Full;
    Header {
        kind,
        ebb: "0.1.0".to_owned(),
        id: Uuid::from_u128(1),
        lineage: Uuid::from_u128(2),
        after_entry: if is_full { 0 } else { 7 },
        after_stamp: (!is_full).then_some(Stamp { seq: 3, at_ms: 4 }),
        last_entry: 9,
        last_stamp: Stamp { seq: 5, at_ms: 6 },
        clock: Clock::System,
        began_ms: 6,
    }
}

fn written() -> Vec<u8> {
    let mut writer = Writer::begin(Vec::new(), &header(Kind::Full)).unwrap();
    writer.piece(b"directory").unwrap();
    writer.piece(&[7; 100_000]).unwrap();
    writer.finish(b"clock", Some(b"switches")).unwrap().0
}

fn read_all(bytes: &[u8]) -> Result<(Header, Vec<Part>), Error> {
    let mut reader = Reader::open(bytes)?;
    let mut parts = Vec::new();
    while let Some(part) = reader.next_part()? {
        parts.push(part);
    }
    Ok((reader.header().clone(), parts))
}

fn copied(bytes: &[u8]) -> Result<Vec<u8>, Error> {
    let mut out = Vec::new();
    copy_checked(bytes, &mut out, &mut |_, _| {}).map(|_| out)
}

#[test]
fn what_was_written_is_read() {
    let bytes = written();
    assert!(bytes.starts_with(b"ebb backup, format 1\n") && bytes.len() < 2_000);
    let (read, parts) = read_all(&bytes).unwrap();
    assert_eq!(read, header(Kind::Full));
    let want = [
        Part::Piece(Bytes::from_static(b"directory")),
        Part::Piece(vec![7; 100_000].into()),
        Part::Clock(Bytes::from_static(b"clock")),
        Part::Switches(Bytes::from_static(b"switches")),
    ];
    assert_eq!(parts, want);
    assert_eq!(copied(&bytes).unwrap(), bytes);
}

#[test]
fn every_end_that_is_too_early_is_found() {
    let bytes = written();
    for length in 0..bytes.len() {
        let part = bytes.get(..length).unwrap();
        assert!(read_all(part).is_err(), "{length} bytes are taken for a backup");
        assert!(copied(part).is_err(), "{length} bytes are copied as a backup");
    }
    let longer = [&bytes[..], b"x"].concat();
    assert!(read_all(&longer).is_err() && copied(&longer).is_err());
    let twice = [&bytes[..], &bytes[..]].concat();
    assert!(read_all(&twice).is_err() && copied(&twice).is_err());
}

#[test]
fn every_bit_that_is_turned_is_found() {
    let bytes = written();
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1 << (at % 8);
        assert!(read_all(&changed).is_err(), "a bit of byte {at} is taken");
        assert!(copied(&changed).is_err(), "a bit of byte {at} is copied");
    }
}

#[test]
fn random_changes_never_panic() {
    let bytes = written();
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..2_000 {
        let mut changed = bytes.clone();
        for _ in 0..random.usize(1..8) {
            let at = random.usize(..changed.len());
            changed[at] = random.u8(..);
        }
        if changed != bytes {
            assert!(read_all(&changed).is_err());
        }
    }
}

#[test]
fn frames_out_of_their_place_are_refused() {
    let mut incremental = Writer::begin(Vec::new(), &header(Kind::Incremental)).unwrap();
    incremental.piece(b"piece").unwrap();
    let (bytes, _) = incremental.finish(b"clock", None).unwrap();
    let refused = read_all(&bytes).unwrap_err().to_string();
    assert!(refused.contains("out of order"), "{refused}");
    assert!(copied(&bytes).is_err());
}

#[test]
fn other_formats_are_named() {
    for (line, want) in [
        ("ebb backup, format 2\nrest", "format 2"),
        ("", "empty"),
        ("something else entirely, and longer than a line", "not an ebb backup"),
    ] {
        let refused = read_all(line.as_bytes()).unwrap_err().to_string();
        assert!(refused.contains(want), "{refused}");
    }
    let newer = read_all(b"ebb backup, format 2\n").unwrap_err().to_string();
    assert!(newer.contains("the version that wrote it"), "{newer}");
}

#[test]
fn a_writer_that_cannot_go_on_says_why() {
    let mut bytes = Vec::new();
    let mut failing = Writer::begin(&mut bytes, &header(Kind::Full)).unwrap();
    failing.piece(b"directory").unwrap();
    failing.fail("the server stops").unwrap();
    for error in [read_all(&bytes).unwrap_err(), copied(&bytes).unwrap_err()] {
        assert!(error.to_string().contains("the server stops"), "{error}");
    }
}

#[test]
fn a_look_finds_header_clock_and_end() {
    let bytes = written();
    let skip = |input: &mut &[u8], count: u64| {
        *input = input.get(count as usize..).unwrap_or_default();
        Ok(())
    };
    let found = survey(&bytes[..], &skip).unwrap();
    assert_eq!((found.header, &found.clock[..]), (header(Kind::Full), &b"clock"[..]));
    assert_eq!(found.trailer.bytes, 100_009);
    for length in 0..bytes.len() {
        assert!(survey(&bytes[..length], &skip).is_err(), "{length} bytes are taken for a backup");
    }
}

/// Builds a frame with a correct checksum but a given uncompressed length.
fn frame(kind: u8, packed: &[u8], plain: u32) -> Vec<u8> {
    let mut out = vec![kind];
    out.extend(u32::try_from(packed.len()).unwrap().to_le_bytes());
    out.extend(plain.to_le_bytes());
    let checksum = crc32c::crc32c_append(crc32c::crc32c(&out), packed);
    out.extend(checksum.to_le_bytes());
    out.extend(packed);
    out
}

#[test]
fn a_payload_that_would_be_too_large_is_refused_before_it_is_unpacked() {
    let header_bytes = serde_json::to_vec(&header(Kind::Full)).unwrap();
    let packed = |plain: &[u8]| zstd::bulk::compress(plain, 1).unwrap();
    let header = frame(1, &packed(&header_bytes), u32::try_from(header_bytes.len()).unwrap());
    let line = b"ebb backup, format 1\n";
    let bomb = packed(&vec![0; 4 << 20]);
    for (kind, plain, want) in [
        (2_u8, (128 << 20) + 1, "size limit"),
        (1, (1 << 20) + 1, "size limit"),
        (4, (1 << 20) + 1, "size limit"),
        (5, (1 << 20) + 1, "size limit"),
        (6, (1 << 20) + 1, "size limit"),
        // Decompresses to more, or less, than stated.
        (2, (4 << 20) - 1, "cannot be decompressed"),
        (2, (4 << 20) + 1, "cannot be decompressed"),
    ] {
        let bytes = match kind {
            1 => [&line[..], &frame(1, &bomb, plain)].concat(),
            _ => [&line[..], &header, &frame(kind, &bomb, plain)].concat(),
        };
        let refused = read_all(&bytes).unwrap_err();
        assert!(refused.to_string().contains(want), "{kind}, {plain}: {refused}");
    }
}

#[test]
fn a_large_payload_is_unpacked_whole() {
    let large: Vec<u8> = (0..20_u32 << 20).map(|at| (at >> 9) as u8).collect();
    let mut writer = Writer::begin(Vec::new(), &header(Kind::Full)).unwrap();
    writer.piece(&large).unwrap();
    let bytes = writer.finish(b"clock", None).unwrap().0;
    let mut asked = Vec::new();
    let mut reader = Reader::open(&bytes[..]).unwrap();
    let part = reader.next_part_in(&mut |wanted| asked.push(wanted)).unwrap().unwrap();
    assert_eq!(part, Part::Piece(large.clone().into()));
    assert!(asked.len() == 1 && large.len() as u64 <= asked[0], "{asked:?}");
}
