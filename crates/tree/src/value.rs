//! Reading of whole values: the part that is stored with the key, and the rest in a body file.

use std::sync::Arc;

use bytes::Bytes;

use crate::{
    cache::Item,
    entry::SlotRef,
    error::{Error, Result},
    files::{Caching, Files, file_name},
    frame::Place,
    version::Version,
};

/// A value that is a smaller part of its buffer than this is copied, so that it does not keep the
/// buffer in memory.
const PART_OF_BUFFER: usize = 4;
/// The same limit for scans, whose next values are usually in the same buffer: a copy of each costs a
/// tenth of a scan of small documents.
const PART_IN_SCAN: usize = 128;

/// Number of body files of which a scan keeps the frame that it has read last.
const RECENT_FILES: usize = 8;
/// Size of a frame that a scan keeps only alone.
const LARGE_FRAME: u64 = 64 << 10;

/// The frames of bodies that a scan has read last, by file: in the order of keys the next body of a
/// file is usually in the same frame.
#[derive(Debug, Default)]
pub(crate) struct RecentFrames([Option<Arc<Item>>; RECENT_FILES]);

impl RecentFrames {
    fn get(&self, place: Place) -> Option<&Arc<Item>> {
        let item = self.0[place.0 as usize % RECENT_FILES].as_ref();
        item.filter(|item| item.place == place)
    }

    fn insert(&mut self, item: Arc<Item>) {
        if LARGE_FRAME < item.bytes() {
            self.0 = Default::default();
        }
        let at = item.place.0 as usize % RECENT_FILES;
        self.0[at] = Some(item);
    }
}

/// Returns the whole value of a version; `None` if it is a deletion or its body file has ended.
pub(crate) fn value_of(
    files: &Files,
    version: &Version,
    slot: SlotRef<'_>,
    caching: Caching,
    recent: Option<&mut RecentFrames>,
) -> Result<Option<Bytes>> {
    let least = if recent.is_some() { PART_IN_SCAN } else { PART_OF_BUFFER };
    let (handle, inline) = match slot {
        SlotRef::Removed => return Ok(None),
        SlotRef::Inline { value, buffer } => return Ok(Some(part_of(buffer, value, least))),
        SlotRef::Apart { handle, inline, .. } => (handle, inline),
    };
    let Some(file) = version.bodies.get(&handle.body) else {
        if version.ended.contains_key(&handle.body) {
            return Ok(None);
        }
        return Err(Error::damaged(&file_name(handle.body), 0, "the body file is not listed"));
    };
    let (offset, len) = file.place_of(files, handle)?;
    let place = (file.meta.file, offset);
    let join = |frame: &Bytes| {
        let body = file.body_in(frame, offset, handle)?;
        let alone = inline.is_empty();
        Ok(Some(if alone { part_of(frame, body, least) } else { joined(inline, body) }))
    };
    if let Some(frame) = recent.as_ref().and_then(|recent| recent.get(place)?.bodies()) {
        return join(frame);
    }
    let held = files.bodies(place.0, offset, len, caching)?;
    let value = join(held.bodies().unwrap_or(&Bytes::new()));
    if let (Some(recent), Some(item)) = (recent, held.into_item()) {
        recent.insert(item);
    }
    value
}

/// Returns a part of a buffer; a copy if it is smaller than `1/least` of it.
fn part_of(buffer: &Bytes, part: &[u8], least: usize) -> Bytes {
    if part.len() < buffer.len() / least {
        Bytes::copy_from_slice(part)
    } else {
        buffer.slice_ref(part)
    }
}

fn joined(inline: &[u8], body: &[u8]) -> Bytes {
    let mut value = Vec::with_capacity(inline.len() + body.len());
    value.extend_from_slice(inline);
    value.extend_from_slice(body);
    Bytes::from(value)
}
