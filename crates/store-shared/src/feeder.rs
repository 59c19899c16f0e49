//! The thread that feeds the tree: what the driver says has come to be is done there, in order, so
//! that the driver never waits for a disk.

use std::{path::PathBuf, sync::Arc};

use bytes::Bytes;
use cluster::{Entry, Heritage, Place};
use journal::EncodedEntry;
use store::{Error, Store as _};
use store_tree::TreeStore;
use tokio::sync::{mpsc::UnboundedReceiver, watch};

use crate::{
    journal::PlaceBook,
    node_clock::NodeClock,
    place_file::{Noted, PlaceFile},
    role::Role,
};

/// Entries that are handed to the tree before it is waited for.
const AT_ONCE: usize = 64;

/// What has come to be.
#[derive(Debug)]
pub(crate) enum Step {
    /// Another owner's entry, or one that was adopted, is committed.
    Apply(Entry, Place),
    /// This node owns the shard.
    Opened(u64, Heritage),
    /// Its lease says so, too.
    Serving,
    /// It does not any more.
    Ended,
    /// The cluster's journal cannot be followed from here.
    Failed(String),
    /// A second has passed.
    Note,
}

/// The thread's own state.
pub(crate) struct Feeder {
    pub(crate) tree: Arc<TreeStore>,
    pub(crate) clock: Arc<dyn NodeClock>,
    pub(crate) book: Arc<PlaceBook>,
    pub(crate) place_file: PlaceFile,
    pub(crate) path: PathBuf,
    pub(crate) role: watch::Sender<Role>,
}

impl Feeder {
    /// Feeds until the driver ends. What fails ends the node's part; it is told as the role.
    pub(crate) fn run(mut self, mut steps: UnboundedReceiver<Step>) {
        while let Some(step) = steps.blocking_recv() {
            let mut entries = Vec::new();
            let mut next = Some(step);
            while let Some(Step::Apply(entry, place)) = next {
                entries.push((entry, place));
                next = if entries.len() < AT_ONCE { steps.try_recv().ok() } else { None };
            }
            let done =
                self.apply(entries).and_then(|()| next.map_or(Ok(()), |step| self.act(step)));
            if let Err(error) = done {
                self.role.send_replace(Role::Failed(error.to_string()));
                return;
            }
        }
    }

    /// Follows entries.
    fn apply(&mut self, entries: Vec<(Entry, Place)>) -> Result<(), Error> {
        let Some((_, last)) = entries.last() else { return Ok(()) };
        let place = *last;
        let known = self.tree.last_entry()?;
        let mut wanted = Vec::new();
        for (entry, _) in entries {
            wanted.extend(entries_of(entry.body)?.into_iter().filter(|one| known < one.n()));
        }
        let n = wanted.last().map_or(known, EncodedEntry::n);
        self.tree.follow(wanted)?;
        self.book.note(Noted { n, place });
        Ok(())
    }

    /// Does what is no entry.
    fn act(&mut self, step: Step) -> Result<(), Error> {
        match step {
            // Given by the caller.
            Step::Apply(..) => {}
            Step::Opened(epoch, heritage) => {
                self.clock.open(&heritage)?;
                self.tree.lead()?;
                self.role.send_replace(Role::Opened { epoch, heritage: Arc::new(heritage) });
            }
            Step::Serving => {
                self.role.send_modify(|role| {
                    if let Role::Opened { epoch, .. } = role {
                        *role = Role::Serving { epoch: *epoch };
                    }
                });
            }
            Step::Ended => {
                // Whoever serves hears of it before anything of the next owner is seen.
                self.role.send_replace(Role::Following);
                self.clock.end();
                self.tree.leave()?;
            }
            Step::Failed(why) => {
                self.role.send_replace(Role::Failed(why));
            }
            Step::Note => {
                let newest = self.book.newest();
                let context = |error| {
                    let text = format!("note the place in {}: {error}", self.path.display());
                    Error::new(store::Kind::Unavailable, text)
                };
                self.place_file.write(newest).map_err(context)?;
                self.tree.tick()?;
            }
        }
        Ok(())
    }
}

/// The journal's entries in the body of one of the cluster's: each begins with its length.
fn entries_of(body: Bytes) -> Result<Vec<EncodedEntry>, Error> {
    let mut entries = Vec::new();
    let mut rest = body;
    while !rest.is_empty() {
        let (entry, behind) = EncodedEntry::first_of(&rest)?;
        entries.push(entry);
        rest = behind;
    }
    Ok(entries)
}
