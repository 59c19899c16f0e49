//! Updates of the same document by several operations, committed as one write.
//!
//! The updates are drafted one after the other in one view, each on the version that the one before
//! has made. They are concurrent, so this is one of the orders in which they may take effect. The
//! commit writes the last version over the stored one, and records every update in the change log.
//!
//! ```text
//!  stored ──update 1──▶ version ──update 2──▶ version ──update 3──▶ newest
//!    │                                                                 │
//!    └────────── one commit: conditions and effects of all ────────────┘
//! ```
//!
//! All versions but the last one are seen only by the updates of the batch, which are answered when
//! its commit is durable and visible, and repeated if it is refused. That holds for updates that
//! change nothing or find nothing, too: their result depends on those versions.

use std::sync::Arc;

use bytes::Bytes;
use clock::Instant;
use document::{DocBuf, DocRef, Value};
use expiry::{Header, HeaderDraft, Lifetime};
use futures_util::future::{BoxFuture, FutureExt as _, Shared};
use store::{Commit, Condition, Stamp};
use tokio::sync::oneshot;

use super::{
    DocumentEntries, Effect, PreviousVersion, Receipts, Update, WriteDraft, as_one,
    intent_waits::OnIntent, logged::WriteForm,
};
use crate::{
    catalog::CollectionState,
    changes::DraftedChange,
    engine::Engine,
    error::{Error, Halt},
    limits::{GROUP_VIEW_MS, UNIT_BYTES},
    row_queues::RowTurn,
    view::LiveView,
};

/// Maximum number of operations whose updates are committed together.
const MAX_UPDATES: usize = 256;

/// The commit of a batch, which completes if any of its operations polls it.
pub(super) type BatchCommit = Shared<BoxFuture<'static, Result<Option<Stamp>, Error>>>;

/// A version of the document that an update has made.
pub(super) struct Version {
    body: DocBuf,
    lifetime: Lifetime,
    entries: DocumentEntries,
    form: WriteForm,
    /// The version that was updated; `None` for the stored one.
    base: Option<DocBuf>,
}

/// Receipts that are stored by the batch's commit.
#[derive(Default)]
pub(super) struct DraftedReceipts {
    ids: Vec<Value>,
    commits: Vec<Commit>,
}

/// Updates of one document that are committed together.
pub(crate) struct UpdateBatch {
    view: LiveView,
    previous: PreviousVersion,
    newest: Version,
    /// Change records of the updates before the last one.
    changes: Vec<DraftedChange>,
    /// Unique keys of the versions before the newest one, which must be free at the commit, too.
    unique: Vec<Bytes>,
    /// Instant at which the first of the versions that updates have found expires.
    found_until: Instant,
    receipts: DraftedReceipts,
    /// The operations that wait for the commit.
    members: Vec<oneshot::Sender<BatchCommit>>,
    /// Total size of the versions in bytes.
    bytes: usize,
}

/// Applies an update to a version of the document with this row key, and checks the result; `None`
/// if the update changes nothing.
pub(super) async fn edit_version(
    view: &LiveView,
    row_key: &Bytes,
    document: DocRef<'_>,
    update: &Update<'_>,
) -> Result<Option<Version>, Halt> {
    let outcome = update.apply(document)?;
    if !outcome.changed {
        return Ok(None);
    }
    let body = outcome.document;
    let lifetime = update.writer.lifetime_of(&body)?;
    let form = WriteForm::of(update.edit);
    let draft = WriteDraft { form, ..WriteDraft::of(view) };
    draft.check_rule(update.rule_context(), body.as_ref(), Some(document)).await?;
    let entries = draft.entries_of(body.as_ref(), row_key)?;
    if !entries.multikey.is_empty() {
        return Err(Halt::Multikey(entries.multikey));
    }
    draft.check_unique(&entries, body.as_ref(), row_key).await?;
    Ok(Some(Version { body, lifetime, entries, form, base: None }))
}

impl Version {
    /// Returns the bytes of the document, which are shared.
    pub(super) fn bytes(&self) -> Bytes {
        self.body.clone().into_bytes()
    }
}

impl UpdateBatch {
    /// Creates a batch with the update of a stored row.
    pub(super) fn new(
        view: LiveView,
        previous: PreviousVersion,
        newest: Version,
        receipts: DraftedReceipts,
    ) -> Self {
        let bytes = previous.row.value.len() + newest.body.bytes().len();
        let (changes, unique, members) = (Vec::new(), Vec::new(), Vec::new());
        let found_until = Instant::MAX;
        Self { view, previous, newest, changes, unique, found_until, receipts, members, bytes }
    }

    /// Returns the view in which all updates are drafted.
    pub(super) fn view(&self) -> &LiveView {
        &self.view
    }

    pub(super) fn row_key(&self) -> &Bytes {
        &self.previous.row.key
    }

    /// Returns the document after all updates of the batch.
    pub(super) fn newest(&self) -> &DocBuf {
        &self.newest.body
    }

    /// Returns whether another operation that was planned for these settings may join. An older
    /// view shows documents that have expired since, and its commit is more likely to be refused.
    pub(super) fn is_open_to(&self, engine: &Engine, state: &Arc<CollectionState>) -> bool {
        let now = engine.inner.clock().try_now();
        let is_young = now.is_some_and(|now| now.since_ms(self.view.instant) < GROUP_VIEW_MS);
        is_young
            && Arc::ptr_eq(&self.view.state, state)
            && self.members.len() < MAX_UPDATES
            && self.bytes < UNIT_BYTES
            && self.lives()
    }

    /// Returns whether the newest version is live in the view if it is written then. An update must
    /// not find it otherwise.
    fn lives(&self) -> bool {
        self.view.instant < self.newest_expiry() || !self.view.rules().batch_lives()
    }

    /// Returns when the newest version expires, or earlier: the second of the commit may be later
    /// than that of the view.
    fn newest_expiry(&self) -> Instant {
        let (settings, newest) = (&self.view.state.record.settings, &self.newest);
        if !settings.can_expire() {
            return Instant::MAX;
        }
        let draft = HeaderDraft {
            lifetime: newest.lifetime,
            creation_stamp: None,
            dates: newest.entries.dates.clone(),
            body_checksum: 0,
        };
        // Settings apply to a stamp above all others as to that of the commit.
        let header = draft.encode_stamped(u64::MAX, self.view.instant.seconds());
        Header::split(&header).map_or(Instant::MIN, |(header, _)| settings.expires_at(&header))
    }

    /// Makes the commit depend on the newest version being live at the commit's stamp, since
    /// another update finds it.
    pub(super) fn rely_on_newest(&mut self) {
        self.found_until = self.found_until.min(self.newest_expiry());
    }

    /// Returns whether the batch stores a receipt with the same id, so that it contains the same
    /// operation.
    pub(super) fn has_receipt_of(&self, receipts: &DraftedReceipts) -> bool {
        self.view.rules().batch_receipts()
            && receipts.ids.iter().any(|id| self.receipts.ids.contains(id))
    }

    /// Adds an update of the newest version.
    pub(super) fn add(&mut self, version: Version, mut receipts: DraftedReceipts) {
        let Version { base, form, .. } = &self.newest;
        let draft = WriteDraft {
            form: *form,
            base: base.as_ref().map(DocBuf::as_ref),
            ..WriteDraft::of(&self.view)
        };
        let change = draft.logged_put(self.row_key(), &self.newest.body, Some(&self.previous));
        let unique = draft.unique_keys_of(Some(&self.newest.entries), None);
        self.changes.extend(change);
        self.unique.extend(unique);
        self.bytes += version.body.bytes().len();
        let replaced = std::mem::replace(&mut self.newest, version);
        self.newest.base = Some(replaced.body);
        self.receipts.ids.append(&mut receipts.ids);
        self.receipts.commits.append(&mut receipts.commits);
    }

    /// Adds an operation that waits for the commit, and returns the receiver of the result. The sender is
    /// dropped if the batch is not committed.
    pub(super) fn add_member(&mut self) -> oneshot::Receiver<BatchCommit> {
        let (sender, receiver) = oneshot::channel();
        self.members.push(sender);
        receiver
    }

    /// Returns the number of operations that wait for the commit.
    pub(super) fn members(&self) -> usize {
        self.members.len()
    }

    /// Returns the commits of all updates, to be committed as one.
    fn into_commits(self) -> Result<Vec<Commit>, Halt> {
        let Self { view, previous, newest, changes, unique, found_until, receipts, .. } = self;
        let Version { body, lifetime, entries, form, base } = newest;
        let base = base.as_ref().map(DocBuf::as_ref);
        let draft = WriteDraft { form, base, ..WriteDraft::of(&view) };
        let mut commits = Vec::with_capacity(2 + receipts.commits.len());
        let lives_until = Some(found_until).filter(|until| *until != Instant::MAX);
        if !changes.is_empty() || !unique.is_empty() || lives_until.is_some() {
            let unique = if view.rules().batch_unique() { unique } else { Vec::new() };
            let mut conditions: Vec<_> = draft.not_newer(&unique).collect();
            if view.rules().batch_lives() {
                conditions.extend(lives_until.map(|until| Condition::Before(until.ms)));
            }
            commits.push(Commit::new(conditions, move |stamp| {
                let mut out = Vec::with_capacity(changes.len());
                changes.into_iter().for_each(|change| change.put(stamp, &mut out));
                out
            }));
        }
        let key = previous.row.key.clone();
        commits.push(draft.put_checked(key, body, lifetime, Some(previous), entries, None)?);
        commits.extend(receipts.commits);
        Ok(commits)
    }
}

impl Engine {
    /// Drafts the receipts of an update that joins a batch.
    pub(super) async fn draft_batch_receipts(
        &self,
        receipts: Option<&dyn Receipts>,
        (before, after): (&Bytes, &Bytes),
    ) -> Result<DraftedReceipts, Error> {
        let Some(receipts) = receipts else { return Ok(DraftedReceipts::default()) };
        let puts = receipts.receipts_for(Effect::Edited { before, after })?;
        let commits = self.receipt_commits(&puts).await?;
        Ok(DraftedReceipts { ids: puts.into_iter().map(|put| put.id).collect(), commits })
    }

    /// Commits the batch that a turn carries, and gives the commit to its members. The turn ends
    /// when the commit is visible or has failed, so that the next view shows it. `None` if the turn
    /// carries no batch.
    pub(super) fn commit_batch(&self, mut turn: RowTurn) -> Option<BatchCommit> {
        let mut batch = turn.take_work::<UpdateBatch>()?;
        let members = std::mem::take(&mut batch.members);
        // The view is closed before the commit, so that reaping need not wait for it.
        let (commits, engine) = (batch.into_commits(), self.clone());
        let commit = async move {
            let stamp = engine.commit_drafted(commits).await;
            drop(turn);
            stamp
        };
        let commit = commit.boxed().shared();
        for member in members {
            // The receiver may have been dropped.
            let _ = member.send(commit.clone());
        }
        Some(commit)
    }

    /// Commits the batch that a turn carries and that no other operation waits for. Returns its
    /// stamp, or `None` if it was refused.
    pub(super) async fn commit_lone(&self, mut turn: RowTurn) -> Result<Option<Stamp>, Error> {
        let Some(batch) = turn.take_work::<UpdateBatch>() else { return Ok(None) };
        let commits = batch.into_commits();
        let stamp = self.commit_drafted(commits).await;
        // As in `commit_batch`.
        drop(turn);
        stamp
    }

    async fn commit_drafted(
        &self,
        commits: Result<Vec<Commit>, Halt>,
    ) -> Result<Option<Stamp>, Error> {
        match commits {
            Ok(commits) => {
                self.commit_write(as_one(commits, self.kept_log()), OnIntent::Refuse).await
            }
            Err(Halt::Failed(error)) => Err(error),
            Err(_) => Ok(None),
        }
    }
}
