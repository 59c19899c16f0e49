//! Parsing of any bytes, for fuzz tests. Checksums keep damaged data from the parsers; here they get
//! it.

use bytes::Bytes;

use crate::{
    block::Block,
    body_file,
    codec::Decoder,
    group::Group,
    key_filter, manifest,
    table::{Footer, TableIndex},
    version::Edit,
};

/// Parses bytes as a list of files, its edits, a block, bodies, and the footer, index and filter of
/// a table. Each is refused or parsed without a panic.
pub fn parse_untrusted(bytes: &[u8]) {
    let owned = Bytes::copy_from_slice(bytes);
    let _ = manifest::parse(bytes);
    let mut decoder = Decoder::new(bytes);
    while !decoder.is_empty() && Edit::decode(&mut decoder).is_some() {}
    if let Some(block) = Block::parse(owned.clone()) {
        let mut group = Group::default();
        for number in 0..block.groups() {
            if group.read(&block, number).is_some() {
                (0..group.len()).for_each(|at| drop(group.entry(&block, at)));
            }
        }
        let key = &bytes[..bytes.len().min(8)];
        let _ = block.get(key, key_filter::hash_of(key), u64::MAX);
        let _ = block.group_of(key);
    }
    for index in 0..body_file::count_in(&owned).unwrap_or(0) {
        let _ = body_file::body_in(bytes, index, None);
    }
    if let Some(checksum) = bytes.last_chunk() {
        let _ = Footer::decode(bytes, u32::from_le_bytes(*checksum));
    }
    if let Some(index) = TableIndex::decode(bytes, owned) {
        let _ = index.block_of(bytes);
    }
    let _ = key_filter::may_contain(bytes, 7);
}
