//! Encoding of entries.

use bytes::Bytes;
use store::Error;

use super::{Entry, HEAD_BYTES, Mutation, VERSION};
use crate::errors::invalid;

/// Estimated bytes of a mutation's two lengths.
const LENGTHS: usize = 4;

pub(super) fn encode(entry: &Entry) -> Result<Bytes, Error> {
    let mut out = Vec::with_capacity(guess_bytes(entry));
    // Length and checksum are filled in at the end.
    out.extend_from_slice(&[0; 8]);
    out.push(VERSION);
    out.extend_from_slice(&entry.n.to_le_bytes());
    out.extend_from_slice(&entry.last.seq.to_le_bytes());
    out.extend_from_slice(&entry.last.at_ms.to_le_bytes());
    out.extend_from_slice(&entry.under.to_le_bytes());
    put_number(&mut out, entry.dropped.len() as u64);
    for space in &entry.dropped {
        put_number(&mut out, *space);
    }
    let runs = || entry.mutations.chunk_by(|a, b| a.space == b.space);
    put_number(&mut out, runs().count() as u64);
    for run in runs() {
        put_number(&mut out, run.first().map_or(0, |first| first.space));
        put_number(&mut out, run.len() as u64);
        run.iter().for_each(|mutation| put_mutation(&mut out, mutation));
    }
    let length = u32::try_from(out.len()).map_err(|_| {
        invalid(format!("entry {} has {} bytes, which is too large", entry.n, out.len()))
    })?;
    let checksum = crc32c::crc32c(out.get(8..).unwrap_or_default());
    out.splice(..8, length.to_le_bytes().into_iter().chain(checksum.to_le_bytes()));
    Ok(Bytes::from(out))
}

/// Estimates the encoded size of an entry, so that the buffer need not grow.
fn guess_bytes(entry: &Entry) -> usize {
    let of_mutation = |mutation: &Mutation| {
        LENGTHS + mutation.key.len() + mutation.value.as_ref().map_or(0, Bytes::len)
    };
    let mutations: usize = entry.mutations.iter().map(of_mutation).sum();
    HEAD_BYTES + 16 + 10 * entry.dropped.len() + mutations + mutations / 64
}

fn put_mutation(out: &mut Vec<u8>, mutation: &Mutation) {
    put_number(out, mutation.key.len() as u64);
    put_number(out, mutation.value.as_ref().map_or(0, |value| value.len() as u64 + 1));
    out.extend_from_slice(&mutation.key);
    out.extend_from_slice(mutation.value.as_deref().unwrap_or_default());
}

/// Appends a variable-length integer, 7 bits per byte.
fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while 0x80 <= number {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}
