//! Access to the files of a tree: open handles and cached blocks, both bounded.

use std::{io, sync::Arc};

use bytes::Bytes;

use crate::{
    block::Block,
    cache::{Cache, Contents, Held, Item},
    disk::{Disk, DiskFile},
    error::{Error, Result},
    frame::{self, FrameKind, Place},
    options::Options,
    trash::Trash,
};

/// Whether a read stores blocks in the cache that it had to read from disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caching {
    /// Blocks are stored in the cache.
    Fill,
    /// Blocks are not cached, because a long scan would displace all others.
    Bypass,
}

/// The files of a tree.
#[derive(Debug)]
pub(crate) struct Files {
    disk: Arc<dyn Disk>,
    /// Open files by their numbers.
    handles: quick_cache::sync::Cache<u64, Arc<dyn DiskFile>>,
    /// Blocks by file and offset. A number of a file is never reused while the tree is open, so
    /// that nothing has to be invalidated.
    blocks: Cache,
    pub(crate) trash: Arc<Trash>,
}

/// Returns the name of a table or body file.
pub(crate) fn file_name(id: u64) -> String {
    format!("{id}.ebb")
}

/// Returns the number of the table or body file with this name.
pub(crate) fn file_id(name: &str) -> Option<u64> {
    let id = name.strip_suffix(".ebb")?.parse().ok()?;
    (file_name(id) == name).then_some(id)
}

impl Files {
    pub(crate) fn new(disk: Arc<dyn Disk>, options: &Options) -> Self {
        Self {
            disk,
            handles: quick_cache::sync::Cache::new(options.open_files.max(1)),
            blocks: Cache::new(options.cache_bytes),
            trash: Arc::default(),
        }
    }

    pub(crate) fn disk(&self) -> &Arc<dyn Disk> {
        &self.disk
    }

    /// Creates a file with this number.
    pub(crate) fn create(&self, id: u64) -> Result<Arc<dyn DiskFile>> {
        let name = file_name(id);
        self.disk.create(&name).map_err(|error| Error::io("create", &name, error))
    }

    /// Returns an open handle of a file.
    pub(crate) fn open(&self, id: u64) -> Result<Arc<dyn DiskFile>> {
        if let Some(handle) = self.handles.get(&id) {
            return Ok(handle);
        }
        let name = file_name(id);
        let handle = self.disk.open(&name).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Error::damaged(&name, 0, "the file is missing"),
            _ => Error::io("open", &name, error),
        })?;
        self.handles.insert(id, Arc::clone(&handle));
        Ok(handle)
    }

    /// Reads a part of a file.
    pub(crate) fn read(&self, id: u64, offset: u64, len: usize) -> Result<Bytes> {
        let mut buffer = vec![0; len];
        self.open(id)?.read_at(&mut buffer, offset).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                Error::damaged(&file_name(id), offset, "the file is too short")
            }
            _ => Error::io("read", &file_name(id), error),
        })?;
        Ok(Bytes::from(buffer))
    }

    /// Reads and verifies a frame, and returns its contents.
    pub(crate) fn read_frame(
        &self,
        id: u64,
        kind: FrameKind,
        offset: u64,
        len: u32,
    ) -> Result<Bytes> {
        let bytes = self.read(id, offset, len as usize)?;
        frame::decode((id, offset), kind, &bytes)
            .map_err(|problem| Error::damaged(&file_name(id), offset, problem))
    }

    /// Returns a block of a table, from the cache if possible.
    pub(crate) fn block(&self, id: u64, offset: u64, len: u32, caching: Caching) -> Result<Held> {
        if let Some(held) = self.blocks.get((id, offset))
            && held.block().is_some()
        {
            return Ok(held);
        }
        let raw = self.read_frame(id, FrameKind::Data, offset, len)?;
        let malformed = || Error::damaged(&file_name(id), offset, "the block is malformed");
        let block = Block::parse(raw).ok_or_else(malformed)?;
        Ok(self.cached((id, offset), Contents::Entries(block), caching))
    }

    /// Returns the contents of a frame of bodies, from the cache if possible.
    pub(crate) fn bodies(&self, id: u64, offset: u64, len: u32, caching: Caching) -> Result<Held> {
        if let Some(held) = self.blocks.get((id, offset))
            && held.bodies().is_some()
        {
            return Ok(held);
        }
        let raw = self.read_frame(id, FrameKind::Bodies, offset, len)?;
        Ok(self.cached((id, offset), Contents::Bodies(raw), caching))
    }

    fn cached(&self, place: Place, contents: Contents, caching: Caching) -> Held {
        let item = Item::new(place, contents);
        if caching == Caching::Fill {
            self.blocks.insert(&item);
        }
        Held::new(item)
    }

    /// Frees unreferenced memory and removes files that are no longer listed. A file that cannot be
    /// removed is removed by the next start.
    pub(crate) fn sweep(&self) -> Result<usize> {
        let ids = self.trash.empty();
        let mut failed = None;
        for id in &ids {
            self.handles.remove(id);
            let name = file_name(*id);
            match self.disk.remove(&name) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    failed = Some(Error::io("remove", &name, error));
                }
                _ => {}
            }
        }
        failed.map_or(Ok(ids.len()), Err)
    }

    /// Returns the bytes of cached blocks.
    pub(crate) fn cached_bytes(&self) -> u64 {
        self.blocks.bytes()
    }
}
