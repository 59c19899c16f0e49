//! The list of files: a log of edits. A start reads it instead of the files.
//!
//! ```text
//! manifest-N: "ebbman01" | record ...      first record: all files; further ones: edits
//! record:     length u32 | CRC-32C u32 | sequence u64 | edits | zeros up to a multiple of 8
//! current-N:  empty; the greatest N is the valid list
//! ```
//!
//! A record is written when the previous one is durable. So only the last record may be torn; an
//! invalid record with a valid one behind it is damage. Every start begins a new list before it
//! uses a file number, so that a record that an earlier start did not see can never come back.

use std::{io, sync::Arc};

use crate::{
    codec::Decoder,
    disk::{Disk, DiskFile},
    error::{Error, Result},
    version::Edit,
};

const MAGIC: &[u8; 8] = b"ebbman01";
/// Size of the fields before the edits of a record.
const RECORD_HEADER: usize = 16;
const MANIFEST: &str = "manifest-";
const CURRENT: &str = "current-";

/// The list that new edits are appended to.
#[derive(Debug)]
pub(crate) struct Manifest {
    disk: Arc<dyn Disk>,
    /// Number in the file's name.
    number: u64,
    file: Arc<dyn DiskFile>,
    /// Offset of the next record.
    at: u64,
    /// Sequence number of the last record.
    sequence: u64,
    /// Length after the first record.
    first_bytes: u64,
}

/// The contents of a list on disk.
#[derive(Debug, Default)]
pub(crate) struct Listed {
    /// Number of the file; 0 if it does not exist.
    pub(crate) number: u64,
    pub(crate) edits: Vec<Edit>,
    /// Sequence number of the last record.
    pub(crate) sequence: u64,
}

fn numbered(names: &[String], prefix: &str) -> impl Iterator<Item = u64> {
    names.iter().filter_map(move |name| name.strip_prefix(prefix)?.parse().ok())
}

/// Reads the valid list. `names` are the names on the disk.
pub(crate) fn read(disk: &dyn Disk, names: &[String]) -> Result<Listed> {
    let Some(number) = numbered(names, CURRENT).max() else {
        // A killed first start leaves a list without a marker, and no files.
        return match names.iter().find(|name| crate::files::file_id(name).is_some()) {
            Some(file) => Err(Error::damaged(file, 0, "the list of files is missing")),
            None => Ok(Listed::default()),
        };
    };
    let name = format!("{MANIFEST}{number}");
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => Error::damaged(&name, 0, "the file is missing"),
        _ => Error::io("read", &name, error),
    };
    let file = disk.open(&name).map_err(failed)?;
    let mut bytes = vec![0; file.length().map_err(failed)? as usize];
    file.read_at(&mut bytes, 0).map_err(failed)?;
    let (edits, sequence) =
        parse(&bytes).map_err(|(offset, problem)| Error::damaged(&name, offset as u64, problem))?;
    Ok(Listed { number, edits, sequence })
}

/// Reads all records; returns their edits and the last sequence number, or the offset of the damage.
pub(crate) fn parse(bytes: &[u8]) -> std::result::Result<(Vec<Edit>, u64), (usize, &'static str)> {
    if !bytes.starts_with(MAGIC) {
        return Err((0, "it is not a list of files of this format"));
    }
    let (mut edits, mut last, mut at) = (Vec::new(), 0, MAGIC.len());
    while let Some((sequence, payload, end)) = record_at(bytes, at) {
        if last != 0 && sequence != last + 1 {
            return Err((at, "a record is missing"));
        }
        let mut decoder = Decoder::new(payload);
        while !decoder.is_empty() {
            let edit = Edit::decode(&mut decoder);
            edits.push(edit.ok_or((at, "an edit is malformed or of a newer version"))?);
        }
        (last, at) = (sequence, end);
    }
    if last == 0 {
        return Err((at, "the first record is damaged"));
    }
    let behind = (at + 8..bytes.len()).step_by(8);
    match behind.into_iter().any(|at| record_at(bytes, at).is_some_and(|of| last < of.0)) {
        true => Err((at, "a record is damaged")),
        false => Ok((edits, last)),
    }
}

/// Returns the sequence number, the edits and the end of the valid record at an offset.
fn record_at(bytes: &[u8], at: usize) -> Option<(u64, &[u8], usize)> {
    let mut decoder = Decoder::new(bytes.get(at..)?);
    let (len, checksum) = (decoder.u32()?, decoder.u32()?);
    let sequence = decoder.u64()?;
    let payload = decoder.take(len as usize)?;
    if sequence == 0 || checksum_of(sequence, payload) != checksum {
        return None;
    }
    let end = (at + RECORD_HEADER + payload.len()).next_multiple_of(8);
    let padding = decoder.take(end - at - RECORD_HEADER - payload.len())?;
    padding.iter().all(|byte| *byte == 0).then_some((sequence, payload, end))
}

fn checksum_of(sequence: u64, payload: &[u8]) -> u32 {
    let seed = crc32c::crc32c(&sequence.to_le_bytes());
    let seed = crc32c::crc32c_append(seed, &(payload.len() as u32).to_le_bytes());
    crc32c::crc32c_append(seed, payload)
}

fn encode_record(out: &mut Vec<u8>, sequence: u64, edits: &[Edit]) {
    let mut payload = Vec::new();
    for edit in edits {
        edit.encode(&mut payload);
    }
    out.extend_from_slice(&(payload.len() as u32).to_le_bytes());
    out.extend_from_slice(&checksum_of(sequence, &payload).to_le_bytes());
    out.extend_from_slice(&sequence.to_le_bytes());
    out.extend_from_slice(&payload);
    out.resize(out.len().next_multiple_of(8), 0);
}

impl Manifest {
    /// Begins a new list with these files, and makes it the valid one.
    pub(crate) fn create(
        disk: &Arc<dyn Disk>,
        number: u64,
        sequence: u64,
        edits: &[Edit],
    ) -> Result<Self> {
        let mut bytes = MAGIC.to_vec();
        encode_record(&mut bytes, sequence, edits);
        let name = format!("{MANIFEST}{number}");
        let written = disk.create(&name).and_then(|file| {
            file.write_at(&bytes, 0)?;
            file.sync()?;
            // The name must be durable before the marker, or the marker could name nothing.
            disk.sync_names()?;
            disk.create(&format!("{CURRENT}{number}"))?;
            disk.sync_names()?;
            Ok(file)
        });
        let file = written.map_err(|error| Error::io("write", &name, error))?;
        let (disk, at) = (Arc::clone(disk), bytes.len() as u64);
        Ok(Self { disk, number, file, at, sequence, first_bytes: at })
    }

    /// Appends edits and makes them durable; returns the sequence number of the record. After a
    /// failure it is unknown whether they are, and nothing may be appended any more.
    pub(crate) fn append(&mut self, edits: &[Edit]) -> Result<u64> {
        let mut record = Vec::new();
        encode_record(&mut record, self.sequence + 1, edits);
        let written = self.file.write_at(&record, self.at).and_then(|()| self.file.sync());
        let name = || format!("{MANIFEST}{}", self.number);
        written.map_err(|error| Error::io("write", &name(), error))?;
        self.at += record.len() as u64;
        self.sequence += 1;
        Ok(self.sequence)
    }

    pub(crate) fn sequence(&self) -> u64 {
        self.sequence
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Returns whether the list is at least this long and has doubled since it was begun.
    pub(crate) fn is_long(&self, bytes: u64) -> bool {
        bytes <= self.at && self.first_bytes * 2 <= self.at
    }

    /// Removes all other lists and their markers. A list that cannot be removed is harmless: its
    /// number is smaller.
    pub(crate) fn remove_others(&self, names: &[String]) {
        for prefix in [CURRENT, MANIFEST] {
            for number in numbered(names, prefix).filter(|number| *number != self.number) {
                let _ = self.disk.remove(&format!("{prefix}{number}"));
            }
        }
    }
}

/// Returns the greatest number of a list among these names, valid or not.
pub(crate) fn greatest_number(names: &[String]) -> u64 {
    numbered(names, MANIFEST).chain(numbered(names, CURRENT)).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes_of(records: u64) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        for sequence in 7..7 + records {
            let edits = [Edit::DropSpace { space: sequence }, Edit::DropSpace { space: 1 << 40 }];
            encode_record(&mut bytes, sequence, &edits);
        }
        bytes
    }

    #[test]
    fn a_torn_last_record_is_cut_and_other_damage_is_refused() {
        let (whole, shorter) = (bytes_of(3), bytes_of(2));
        assert_eq!(parse(&whole).map(|(edits, last)| (edits.len(), last)), Ok((6, 9)));
        for len in 0..whole.len() {
            let parsed = parse(&whole[..len]).map(|(edits, _)| edits.len());
            match parsed {
                Ok(edits) => assert!(bytes_of(1).len() - 8 < len && edits % 2 == 0),
                Err(_) => assert!(len < bytes_of(1).len()),
            }
        }
        for bit in 0..whole.len() * 8 {
            let mut flipped = whole.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            match parse(&flipped) {
                // The last record cannot be told from a torn one: see `Options::last_edit`.
                Ok((_, last)) => assert!(shorter.len() <= bit / 8 || last == 9),
                Err((at, _)) => assert!(at <= bit / 8 && bit / 8 < shorter.len()),
            }
        }
    }
}
