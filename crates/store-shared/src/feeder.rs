//! The thread that feeds the tree: what the driver says has come to be is done there, in order, so
//! that the driver never waits for a disk. What the tree cannot do is told as the role; it is tried again
//! with each note of the place, after longer and longer pauses.
//!
//! ```text
//!  fed ──(a step fails)──▶ waits ──(the store works again)──▶ told ──(went on)──▶ fed
//!                            │ ▲
//!                    damaged ▼ │ wiped
//! ```

use std::sync::Arc;

use bytes::Bytes;
use cluster::{BaseRecord, Entry, Heritage, Place};
use journal::EncodedEntry;
use store::{Error, Health, Kind, Store as _};
use tokio::sync::{
    mpsc::{self, UnboundedReceiver},
    oneshot, watch,
};

use crate::{
    entries::entries_of,
    node_clock::NodeClock,
    outstanding::{Outstanding, backlog_of},
    own_copy::{FIRST, Made, OwnCopy},
    place_file::Noted,
    replicator::{Command, Commands, Replicator},
    role::Role,
};

/// Entries that are handed to the tree before it is waited for.
const AT_ONCE: usize = 64;
/// Notes that pass before it is tried again at the most: they come once a second.
const PAUSE_MAX: u32 = 60;

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
    /// The own copy does not have what is committed, or is damaged.
    CopyFailed(Error),
    /// A piece of a base is to be kept; who waits for that.
    Piece { number: u32, body: Bytes, kept: oneshot::Sender<()> },
    /// All pieces of a base were kept: the tree is to be made of it.
    BaseThere(BaseRecord),
    /// A base that was being loaded is not there any more.
    BaseGone,
    /// All that is visible is to be read, in pieces of this size.
    MakeBase(mpsc::Sender<Made>, usize),
    /// What comes from here on is behind the place that the driver was told.
    WentOn,
    /// A second has passed.
    Note,
}

/// How far it is with a tree that could not go on.
#[derive(Debug)]
enum Mending {
    /// It is tried after so many notes.
    Waits { error: Error, notes: u32 },
    /// The tree is made of a base.
    Loads(BaseRecord),
    /// The store works, and the driver was told from where to follow.
    Told,
}

/// The thread's own state.
pub(crate) struct Feeder {
    pub(crate) copy: OwnCopy,
    pub(crate) clock: Arc<dyn NodeClock>,
    pub(crate) role: watch::Sender<Role>,
    pub(crate) outstanding: Arc<Outstanding>,
    pub(crate) commands: Commands,
    pub(crate) replicator: Arc<Replicator>,
    mending: Option<Mending>,
    pause: u32,
}

impl Feeder {
    pub(crate) fn new(
        copy: OwnCopy,
        clock: Arc<dyn NodeClock>,
        role: watch::Sender<Role>,
        outstanding: Arc<Outstanding>,
        commands: Commands,
        replicator: Arc<Replicator>,
    ) -> Self {
        let (mending, pause) = (None, 0);
        Self { copy, clock, role, outstanding, commands, replicator, mending, pause }
    }

    /// Feeds until the driver ends.
    pub(crate) fn run(mut self, mut steps: UnboundedReceiver<Step>) {
        while let Some(step) = steps.blocking_recv() {
            if self.mending.is_some() {
                self.mend(step);
                continue;
            }
            let mut entries = Vec::new();
            let mut next = Some(step);
            while let Some(Step::Apply(entry, place)) = next {
                entries.push((entry, place));
                next = if entries.len() < AT_ONCE { steps.try_recv().ok() } else { None };
            }
            let backlog = backlog_of(entries.iter().map(|(entry, _)| entry));
            let applied = self.apply(entries);
            self.outstanding.remove(backlog);
            if let Err(error) = applied.and_then(|()| next.map_or(Ok(()), |step| self.act(step))) {
                self.fail(error);
            }
        }
    }

    /// Follows entries.
    fn apply(&mut self, entries: Vec<(Entry, Place)>) -> Result<(), Error> {
        let Some((_, last)) = entries.last() else { return Ok(()) };
        let place = *last;
        let known = self.copy.tree.last_entry()?;
        // The first entry of a store is the same everywhere, and nobody's news.
        let mut n = known.min(FIRST);
        let mut wanted = Vec::new();
        for (entry, _) in entries {
            let own = entries_of(entry.body)?;
            // Also where the copy has more: what is noted belongs together.
            n = own.last().map_or(n, EncodedEntry::n);
            wanted.extend(own.into_iter().filter(|one| known < one.n()));
        }
        self.copy.tree.follow(wanted)?;
        self.copy.book.note(Noted { n, place });
        // What was missing is there.
        self.role.send_if_modified(|role| {
            let failed = matches!(role, Role::Failed(_));
            if failed {
                *role = Role::Following;
            }
            failed
        });
        Ok(())
    }

    /// Does what is no entry.
    fn act(&mut self, step: Step) -> Result<(), Error> {
        match step {
            // Given by the caller; or of a time in which nothing failed.
            Step::Apply(..) | Step::WentOn => {}
            Step::Opened(epoch, heritage) => {
                self.clock.open(&heritage)?;
                self.replicator.open();
                self.copy.tree.lead()?;
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
                self.copy.tree.leave()?;
            }
            Step::Failed(why) => self.tell_failed(why),
            Step::CopyFailed(error) => return Err(error),
            Step::Piece { number, body, kept } => {
                self.tell_failed("the node loads what others had before it".to_owned());
                self.copy.tree.keep_piece(number, &body)?;
                let _ = kept.send(());
            }
            Step::BaseThere(base) => {
                self.copy.begin_load(&base)?;
                self.mending = Some(Mending::Loads(base));
            }
            Step::BaseGone => {
                let text = "what the node was loading is not there any more";
                return Err(Error::new(Kind::Unavailable, text));
            }
            Step::MakeBase(made, piece_bytes) => self.copy.make_base(made, piece_bytes),
            Step::Note => {
                self.copy.note_place()?;
                self.copy.tree.tick()?;
                // A full disk refuses commits by name, and gives room back by those that delete.
                if let Health::Refusing(error) = self.copy.tree.health()
                    && error.kind != Kind::Full
                {
                    return Err(error);
                }
                self.pause = 0;
            }
        }
        Ok(())
    }

    fn tell_failed(&self, why: String) {
        let failed = Role::Failed(why);
        self.role.send_if_modified(|role| {
            let is_new = *role != failed;
            *role = failed;
            is_new
        });
    }

    /// The tree did not do what it had to: whoever serves stops at once, the shard is given up, and
    /// nothing is done any more until the tree works again.
    fn fail(&mut self, error: Error) {
        self.tell_failed(error.to_string());
        // The clock ends there, with what it is given up with.
        self.commands.send(Command::StandDown);
        self.wait(error);
    }

    fn wait(&mut self, error: Error) {
        self.mending = Some(Mending::Waits { error, notes: self.pause });
        self.pause = (2 * self.pause).clamp(1, PAUSE_MAX);
    }

    /// Steps while the tree cannot go on. What is told before it went on is nothing to it.
    fn mend(&mut self, step: Step) {
        match (step, &mut self.mending) {
            (Step::Apply(entry, _), _) => self.outstanding.remove(backlog_of([&entry])),
            (Step::CopyFailed(error), _) => {
                self.tell_failed(error.to_string());
                self.wait(error);
            }
            (Step::WentOn, Some(Mending::Told)) => {
                self.mending = None;
                self.role.send_replace(Role::Following);
            }
            (Step::Note, Some(Mending::Waits { notes: notes @ 1.., .. })) => *notes -= 1,
            (Step::Note, Some(Mending::Waits { error, .. })) => {
                let mended = self.copy.mend(error);
                self.go_on(mended);
            }
            (Step::Note, Some(Mending::Loads(base))) => {
                let loaded = self.copy.loaded(base);
                self.go_on(loaded);
            }
            _ => {}
        }
    }

    /// Has the driver follow from where the tree stands, once that is known.
    fn go_on(&mut self, stands: Result<Option<Place>, Error>) {
        match stands {
            Ok(None) => {}
            Ok(Some(place)) => {
                let unsure = self.copy.is_unsure();
                self.commands.send(Command::FollowFrom(place, unsure));
                self.mending = Some(Mending::Told);
            }
            Err(error) => {
                self.tell_failed(error.to_string());
                self.wait(error);
            }
        }
    }
}
