//! Verification of every byte of the listed files.

use std::sync::Arc;

use crate::{
    body_file::{BodyFile, count_in},
    disk::Disk,
    entry::{Entry, Slot},
    error::{Damage, Error, Result},
    files::{Caching, Files, file_name},
    frame::{self, FrameKind, HEADER_BYTES},
    group::Group,
    key_filter,
    metadata::TableMeta,
    options::Options,
    recovery,
    run_cursor::RunCursor,
    table::{FOOTER_BYTES, Table},
    tree::Tree,
    version::{Version, alone},
};

impl Tree {
    /// Reads all listed files and returns the damaged parts. Fails only if the disk does.
    pub fn verify(&self) -> Result<Vec<Damage>> {
        let mut damages = Vec::new();
        collect(&mut damages, self.shared.check_manifest())?;
        for space in self.shared.all_spaces().values() {
            let version = Arc::clone(&space.load().version);
            verify_version(self.shared.files(), &version, &mut damages)?;
        }
        Ok(damages)
    }
}

/// Reads all listed files of a tree that is not open and returns the damaged parts. Changes nothing.
/// Fails only if the disk does. `last_edit` is that of [`Options`].
pub fn verify_closed(disk: Arc<dyn Disk>, last_edit: u64) -> Result<Vec<Damage>> {
    let files = Files::new(Arc::clone(&disk), &Options::default());
    let mut damages = Vec::new();
    let found = collect(&mut damages, recovery::find(&*disk, &files.trash, last_edit))?;
    for version in found.iter().flat_map(|found| found.versions.values()) {
        verify_version(&files, version, &mut damages)?;
    }
    Ok(damages)
}

fn verify_version(files: &Files, version: &Version, damages: &mut Vec<Damage>) -> Result<()> {
    for table in version.tables() {
        verify_table(files, version, table, damages)?;
    }
    for body in version.bodies.values() {
        collect(damages, verify_bodies(files, body))?;
    }
    Ok(())
}

/// Adds damage to the list; returns other errors.
fn collect<T>(damages: &mut Vec<Damage>, result: Result<T>) -> Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Error::Damaged(damage)) => {
            damages.push(damage);
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Results of a walk over a table.
#[derive(Debug, Default)]
struct Walk {
    last: Option<Entry>,
    entries: u64,
    at: u64,
}

fn verify_table(
    files: &Files,
    version: &Version,
    table: &Table,
    damages: &mut Vec<Damage>,
) -> Result<()> {
    let id = table.meta.id;
    let footer = collect(damages, table.footer(files))?;
    let index = collect(damages, table.index(files))?;
    let (Some(footer), Some(index)) = (footer, index) else { return Ok(()) };
    let metadata = files.read_frame(id, FrameKind::Metadata, footer.metadata.0, footer.metadata.1);
    if let Some(raw) = collect(damages, metadata)? {
        let stored = TableMeta::decode(&mut crate::codec::Decoder::new(&raw));
        let same = stored.is_some_and(|stored| {
            TableMeta { bytes: table.meta.bytes, footer: table.meta.footer, ..stored } == table.meta
        });
        if !same {
            let problem = "the table differs from its entry in the list of files";
            damages.push(Damage {
                file: file_name(id),
                offset: footer.metadata.0,
                problem: problem.to_owned(),
            });
        }
    }
    let before = damages.len();
    let mut walk = Walk::default();
    for (offset, len) in index.blocks().iter().copied() {
        let checked = verify_block(files, version, table, (offset, len), &mut walk);
        collect(damages, checked)?;
    }
    // Every byte belongs to a part: the blocks, then index, filter, metadata and footer.
    for (offset, len) in [footer.index, footer.filter, footer.metadata] {
        let problem =
            Error::damaged(&file_name(id), offset, "a part does not follow the previous one");
        let fits = if offset == walk.at { Ok(()) } else { Err(problem) };
        collect(damages, fits)?;
        walk.at = offset + u64::from(len);
    }
    let complete =
        walk.at + FOOTER_BYTES as u64 == table.meta.bytes && walk.entries == table.meta.entries;
    if !complete && damages.len() == before {
        let problem = "the parts of the table differ from its entry in the list of files";
        damages.push(Damage { file: file_name(id), offset: walk.at, problem: problem.to_owned() });
    }
    Ok(())
}

fn verify_block(
    files: &Files,
    version: &Version,
    table: &Table,
    (offset, len): (u64, u32),
    walk: &mut Walk,
) -> Result<()> {
    let damaged = |problem: &str| Error::damaged(&file_name(table.meta.id), offset, problem);
    let follows = offset == walk.at;
    walk.at = offset + u64::from(len);
    // Blocks of tables are read from the disk, not from the cache.
    let raw = files.read_frame(table.meta.id, FrameKind::Data, offset, len)?;
    let block = crate::block::Block::parse(raw).ok_or_else(|| damaged("the block is malformed"))?;
    let (mut group, mut entries) = (Group::default(), Vec::new());
    for number in 0..block.groups() {
        let read = group.read(&block, number);
        let of_group =
            read.and_then(|()| (0..group.len()).map(|at| group.entry(&block, at)).collect());
        let of_group: Vec<Entry> = of_group.ok_or_else(|| damaged("a group is malformed"))?;
        entries.extend(of_group);
    }
    if !follows {
        return Err(damaged("the block does not follow the previous one"));
    }
    for entry in entries {
        let ordered = walk.last.as_ref().is_none_or(|last| {
            last.key < entry.key || last.key == entry.key && entry.number < last.number
        });
        if !ordered {
            return Err(damaged("the keys are not in order"));
        }
        let hash = key_filter::hash_of(&entry.key);
        let found = block.get(&entry.key, hash, entry.number);
        if found.flatten().is_none_or(|(number, _)| number != entry.number) {
            return Err(damaged("a key is not found in its block"));
        }
        if let Slot::Apart { handle, .. } = &entry.slot {
            let listed = version.bodies.contains_key(&handle.body)
                || version.ended.contains_key(&handle.body);
            if !listed {
                return Err(damaged("a key refers to a body file that is not listed"));
            }
        }
        walk.entries += 1;
        walk.last = Some(entry);
    }
    Ok(())
}

/// Reads all frames of a body file.
fn verify_bodies(files: &Files, body: &BodyFile) -> Result<()> {
    let file = body.meta.file;
    let damaged = |offset, problem: &str| Error::damaged(&file_name(file), offset, problem);
    let end = body.meta.map.map_or(body.meta.bytes, |(at, _)| at);
    let (mut at, mut count) = (0, 0);
    while at < end {
        let header = files.read(file, at, HEADER_BYTES)?;
        let header =
            header.as_ref().try_into().map_err(|_| damaged(at, "the frame is truncated"))?;
        let len = frame::length_of(header);
        if end - at < len {
            return Err(damaged(at, "the length of the frame is wrong"));
        }
        let raw = files.read_frame(file, FrameKind::Bodies, at, len as u32)?;
        let bodies = count_in(&raw).ok_or_else(|| damaged(at, "the frame is malformed"))?;
        count += u64::from(bodies);
        at += len;
    }
    // A rewritten file keeps the positions of removed bodies.
    if body.map(files)?.is_none() && count != body.meta.count {
        return Err(damaged(at, "the number of bodies is wrong"));
    }
    Ok(())
}

impl Tree {
    /// Reads every body to which a table refers, through its handle, and returns the damaged
    /// parts. This is slower than [`verify`](Self::verify), which does not follow handles.
    pub fn verify_handles(&self) -> Result<Vec<Damage>> {
        let mut damages = Vec::new();
        let files = self.shared.files();
        for space in self.shared.all_spaces().values() {
            let version = Arc::clone(&space.load().version);
            for table in version.tables() {
                let cursor = RunCursor::forward(files, Caching::Bypass, &alone(table), b"");
                let Some(mut cursor) = collect(&mut damages, cursor)? else { continue };
                while let Some(Some(entry)) = collect(&mut damages, cursor.next())? {
                    let Slot::Apart { handle, .. } = entry.slot else { continue };
                    let Some(body) = version.bodies.get(&handle.body) else { continue };
                    let read = body.place_of(files, handle).and_then(|(offset, len)| {
                        let frame = files.bodies(body.meta.file, offset, len, Caching::Bypass)?;
                        let frame = frame.bodies().map_or(&[][..], |raw| &raw[..]);
                        body.body_in(frame, offset, handle).map(drop)
                    });
                    collect(&mut damages, read)?;
                }
            }
        }
        Ok(damages)
    }
}
