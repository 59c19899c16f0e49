//! Opens the journal in a local folder, with a segment size that suits the device.

use std::{path::PathBuf, sync::Arc};

use store::Error;

use crate::{
    contract::{Journal, OpenJournal},
    errors::from_io,
    local::LocalJournal,
    options::JournalOptions,
};

/// Smallest segment size chosen for a small device, in bytes.
const LEAST_SEGMENT: u64 = 1024 * 1024;
/// A segment takes at most 1/`SEGMENT_PART` of the device.
const SEGMENT_PART: u64 = 64;

/// The journal in a folder.
#[derive(Clone, Debug)]
pub struct JournalFolder {
    /// Directory of the journal; created if missing.
    pub path: PathBuf,
    /// Options; `known_durable` and `accept_loss` are set by each opening.
    pub options: JournalOptions,
}

impl OpenJournal for JournalFolder {
    fn open(&self, known_durable: u64, accept_loss: bool) -> Result<Arc<dyn Journal>, Error> {
        let options = JournalOptions {
            segment_bytes: self.segment_bytes(),
            known_durable,
            empty_after: if accept_loss { known_durable } else { 0 },
            accept_loss,
            ..self.options.clone()
        };
        Ok(Arc::new(LocalJournal::open(&self.path, &options)?))
    }

    fn wipe(&self) -> Result<(), Error> {
        match std::fs::remove_dir_all(&self.path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(from_io("wipe the journal", &error))
            }
            _ => Ok(()),
        }
    }
}

impl JournalFolder {
    /// Returns the segment size, reduced on a small device.
    fn segment_bytes(&self) -> u64 {
        let device = self.path.parent().unwrap_or(&self.path);
        let total = rustix::fs::statvfs(device)
            .map_or(u64::MAX, |stat| stat.f_blocks.saturating_mul(stat.f_frsize));
        self.options.segment_bytes.min((total / SEGMENT_PART).max(LEAST_SEGMENT))
    }
}
