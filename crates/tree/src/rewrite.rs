//! Rewriting of a body file without the bodies to which no table refers. Tables are not changed:
//! the new file takes the place of the old one under the same number, with a map from old places to
//! new ones.

use std::{collections::BTreeMap, sync::Arc};

use bytes::Bytes;

use crate::{
    body_file::{BodyFile, body_in, count_in},
    body_writer::BodyWriter,
    entry::{Handle, Slot},
    error::{Error, Result},
    files::{Caching, file_name},
    frame::FrameKind,
    job::{Job, JobReport},
    run_cursor::RunCursor,
    version::{Edit, alone},
};

/// The bodies of one frame to which tables refer.
#[derive(Debug)]
struct LiveFrame {
    /// A handle into the frame.
    handle: Handle,
    /// Positions of these bodies in the frame.
    live: Vec<u16>,
}

/// Rewrites a body file. It is claimed, so that no flush extends it, and tables written during the job
/// refer only to bodies to which the tables of the current version refer.
pub(crate) fn run(job: &Job, body: &Arc<BodyFile>) -> Result<JobReport> {
    let Some(frames) = live_frames(job, body)? else { return Ok(Job::cancelled()) };
    let files = job.shared.files();
    let mut writer = BodyWriter::replace(&job.shared.maker, &body.meta)?;
    let mut map = Vec::with_capacity(frames.len());
    for (from, frame) in frames {
        if job.is_cancelled() {
            return Ok(Job::cancelled());
        }
        let (offset, len) = body.place_of(files, frame.handle)?;
        let raw = files.read_frame(body.meta.file, FrameKind::Bodies, offset, len)?;
        let bodies = only_live(&raw, &frame.live);
        let bodies = bodies.ok_or_else(|| {
            let problem = "a body is not where its key says";
            Error::damaged(&file_name(body.meta.file), offset, problem)
        })?;
        map.push(writer.add_frame(from, &bodies, frame.live.len() as u64)?);
    }
    let meta = writer.finish_replacement(&map)?;
    let edits = vec![Edit::SetBody { space: job.space.number, meta }];
    job.complete(edits, body.meta.bytes)
}

/// Returns the bodies of a frame with the dead ones emptied.
fn only_live(raw: &Bytes, live: &[u16]) -> Option<Vec<Bytes>> {
    let body = |index| match live.binary_search(&index) {
        Ok(_) => body_in(raw, index, None).map(|body| raw.slice_ref(body)),
        Err(_) => Some(Bytes::new()),
    };
    (0..count_in(raw)?).map(body).collect()
}

/// Returns the frames with live bodies by their original offsets; `None` if the job was cancelled.
fn live_frames(job: &Job, body: &BodyFile) -> Result<Option<BTreeMap<u32, LiveFrame>>> {
    let version = Arc::clone(&job.space.load().version);
    let refers =
        |meta: &crate::metadata::TableMeta| meta.body_uses.iter().any(|of| of.body == body.meta.id);
    let mut frames = BTreeMap::<u32, LiveFrame>::new();
    for table in version.tables().filter(|table| refers(&table.meta)) {
        if job.is_cancelled() {
            return Ok(None);
        }
        let files = job.shared.files();
        let mut cursor = RunCursor::forward(files, Caching::Bypass, &alone(table), b"")?;
        while let Some(entry) = cursor.next()? {
            let Slot::Apart { handle, .. } = entry.slot else { continue };
            if handle.body == body.meta.id {
                let new = || LiveFrame { handle, live: Vec::new() };
                frames.entry(handle.offset).or_insert_with(new).live.push(handle.index);
            }
        }
    }
    for frame in frames.values_mut() {
        frame.live.sort_unstable();
        frame.live.dedup();
    }
    Ok(Some(frames))
}
