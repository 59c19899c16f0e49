//! Round trips of entries, and rejection of damaged bytes.

use bytes::Bytes;
use store::{Kind, Stamp};

use super::{Entry, HEAD_BYTES, Mutation};

fn entry(n: u64, dropped: &[u64], mutations: &[(u64, &str, Option<&str>)]) -> Entry {
    let mutation = |(space, key, value): &(u64, &str, Option<&str>)| Mutation {
        space: *space,
        key: Bytes::copy_from_slice(key.as_bytes()),
        value: value.map(|value| Bytes::copy_from_slice(value.as_bytes())),
    };
    Entry {
        n,
        last: Stamp { seq: n * 3, at_ms: -(n as i64) },
        under: u64::MAX - n,
        dropped: dropped.to_vec(),
        mutations: mutations.iter().map(mutation).collect(),
    }
}

fn samples() -> Vec<Entry> {
    let long = "x".repeat(70_000);
    vec![
        entry(0, &[], &[]),
        entry(1, &[7, u64::MAX], &[]),
        entry(2, &[], &[(0, "", None)]),
        entry(3, &[], &[(0, "", Some(""))]),
        entry(4, &[1], &[(1, "a", Some("b")), (1, "c", None), (300, "a", Some(&long))]),
        entry(u64::MAX / 3, &[], &[(1, "a", None), (2, "a", None), (1, &long, Some("b"))]),
    ]
}

/// Fixes length and checksum of otherwise damaged bytes.
fn resign(mut bytes: Vec<u8>) -> Bytes {
    let length = u32::try_from(bytes.len()).unwrap();
    bytes[..4].copy_from_slice(&length.to_le_bytes());
    let checksum = crc32c::crc32c(&bytes[8..]);
    bytes[4..8].copy_from_slice(&checksum.to_le_bytes());
    Bytes::from(bytes)
}

#[test]
fn entries_go_through_bytes_unchanged() {
    for entry in samples() {
        let encoded = entry.encode().unwrap();
        assert_eq!(encoded.n(), entry.n);
        assert_eq!(Entry::decode(encoded.bytes()).unwrap(), entry);
    }
}

#[test]
fn the_layout_is_the_one_that_is_written_down() {
    let encoded = entry(2, &[5], &[(300, "k", Some("vw")), (300, "l", None)]).encode().unwrap();
    let mut expected = vec![0; 8];
    expected.push(1);
    expected.extend(2u64.to_le_bytes());
    expected.extend(6u64.to_le_bytes());
    expected.extend((-2i64).to_le_bytes());
    expected.extend((u64::MAX - 2).to_le_bytes());
    expected.extend([1, 5, 1, 0xac, 2, 2, 1, 3, b'k', b'v', b'w', 1, 0, b'l']);
    assert_eq!(encoded.bytes(), &resign(expected));
}

#[test]
fn every_flipped_bit_and_every_cut_is_damage() {
    for entry in samples().iter().filter(|entry| entry.n < 4) {
        let bytes = entry.encode().unwrap().bytes().to_vec();
        for at in 0..bytes.len() * 8 {
            let mut bytes = bytes.clone();
            bytes[at / 8] ^= 1 << (at % 8);
            let error = Entry::decode(&Bytes::from(bytes)).unwrap_err();
            assert_eq!(error.kind, Kind::Corrupt, "bit {at}");
        }
        for end in 0..bytes.len() {
            let error = Entry::decode(&Bytes::copy_from_slice(&bytes[..end])).unwrap_err();
            assert_eq!(error.kind, Kind::Corrupt, "cut at {end}");
        }
    }
}

#[test]
fn bytes_with_a_good_checksum_are_not_trusted_either() {
    let bytes = samples()[4].encode().unwrap().bytes().slice(..64).to_vec();
    let mut random = fastrand::Rng::with_seed(1);
    for _ in 0..50_000 {
        let mut bytes = bytes.clone();
        for _ in 0..random.usize(1..4) {
            let at = random.usize(HEAD_BYTES..bytes.len());
            bytes[at] = random.u8(..);
        }
        bytes.truncate(random.usize(HEAD_BYTES..=bytes.len()));
        let bytes = resign(bytes);
        if let Ok(entry) = Entry::decode(&bytes) {
            // Every decoded entry has to survive a round trip.
            assert_eq!(Entry::decode(entry.encode().unwrap().bytes()).unwrap(), entry);
        }
    }
}

#[test]
fn counts_that_are_too_large_ask_for_no_memory() {
    let head = samples()[0].encode().unwrap().bytes().slice(..HEAD_BYTES).to_vec();
    let huge = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
    let too_many_bits = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2];
    for (name, tail) in [
        ("spaces", huge.to_vec()),
        ("runs", [&[0], &huge[..]].concat()),
        ("mutations", [&[0, 1, 1], &huge[..]].concat()),
        ("key", [&[0, 1, 1, 1], &huge[..], &[0]].concat()),
        ("value", [&[0, 1, 1, 1, 0], &huge[..]].concat()),
        ("a number of 65 bits", too_many_bits.to_vec()),
        ("no end of a number", vec![0x80; 12]),
        ("more behind the end", vec![0, 0, 0]),
    ] {
        let error = Entry::decode(&resign([&head[..], &tail].concat())).unwrap_err();
        assert_eq!(error.kind, Kind::Corrupt, "{name}");
    }
}

#[test]
fn another_version_is_refused_by_name() {
    let mut bytes = samples()[0].encode().unwrap().bytes().to_vec();
    bytes[8] = 2;
    let error = Entry::decode(&resign(bytes)).unwrap_err();
    assert_eq!(error.kind, Kind::Refused);
    assert!(error.message.contains("version 2"), "{error}");
}
