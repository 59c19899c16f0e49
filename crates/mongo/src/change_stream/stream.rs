//! An open change stream: reads pages of the change log and makes batches of events.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use bytes::Bytes;
use clock::Instant;
use document::{DocBuf, DocRef, Value, doc};
use engine::{
    Batch, BatchLimit, Change, ChangeKind, ChangeLogPage, ChangeLogQuery, ChangePosition,
    ChangeScope, ChangeWait, Engine, Kind, Model, Plan,
};
use evaluation::Context;
use memory::Share;
use pipeline::exec::Stage;

use super::{
    event::{self, event_of, invalidation_of, invalidation_token, is_expanded_only, kind_name},
    options::{StreamOptions, is_internal},
    split::fragments_of,
    stages::EventStages,
    token::{EventToken, Token},
};
use crate::{
    errors::{ChangeStreamHistoryLost, Error, Result},
    names::SYSTEM_DATABASES,
};

/// Memory of an idle stream, in bytes, besides events that are held back.
const STREAM_BYTES: usize = 2048;

/// Maximum number of changes that are read from the log at once.
const PAGE_CHANGES: usize = 256;

/// Maximum number of pages that a batch without events reads, so that a request whose stages drop
/// everything ends.
const PAGES_AT_ONCE: usize = 64;

/// The shortest time that a stream waits for an expiration that is due.
const MIN_WAIT: Duration = Duration::from_millis(1);

/// A change stream: its scope and options, its position in the log, and the pipeline behind the
/// stage.
pub(crate) struct ChangeStream {
    engine: Engine,
    options: StreamOptions,
    stages: EventStages,
    splits: bool,
    context: Arc<Context>,
    /// Position at which the next page starts.
    position: ChangePosition,
    /// Fragments of the first event up to this number were returned before the stream was resumed.
    skips: Option<u32>,
    /// Events that are not returned yet, with their tokens.
    pending: VecDeque<(Bytes, DocBuf)>,
    /// Whether an invalidation is the last of the pending events, or was returned.
    invalidated: bool,
    /// Whether the last page ended before the end of the log.
    more: bool,
    /// The token of the place up to which everything was returned.
    token: DocBuf,
    /// The last page, without its changes: the stream waits for its commits in flight.
    page: Option<ChangeLogPage>,
    share: Share,
}

/// A batch of events, and the token of the place after it.
pub(crate) struct StreamBatch {
    pub(crate) batch: Batch,
    pub(crate) token: DocBuf,
    /// Whether an empty batch does not mean that there are no events.
    pub(crate) more: bool,
}

impl std::fmt::Debug for ChangeStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChangeStream").field("options", &self.options).finish_non_exhaustive()
    }
}

impl ChangeStream {
    /// Creates a stream that starts at a place in the log.
    pub(crate) fn new(
        engine: &Engine,
        options: StreamOptions,
        (stages, splits): (Vec<Stage>, bool),
        (position, skips): (ChangePosition, Option<u32>),
        context: Arc<Context>,
    ) -> Result<Self> {
        let mut share = context.operation_memory.share();
        share.set(STREAM_BYTES)?;
        Ok(Self {
            engine: engine.clone(),
            stages: EventStages::new(stages, &context),
            token: Token::Time(position.time()).to_document(),
            options,
            splits,
            context,
            position,
            skips,
            pending: VecDeque::new(),
            invalidated: false,
            more: true,
            page: None,
            share,
        })
    }

    /// Returns the token of the place up to which everything was returned.
    pub(crate) fn token(&self) -> &DocBuf {
        &self.token
    }

    /// Sets the token of the place at which the stream was resumed.
    pub(crate) fn set_token(&mut self, token: DocBuf) {
        self.token = token;
    }

    /// Returns the engine whose log the stream reads.
    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Returns the collections that the stream watches.
    pub(crate) fn scope(&self) -> &ChangeScope {
        &self.options.scope
    }

    /// Returns the memory that the stream holds, in bytes.
    pub(crate) fn memory_used(&self) -> usize {
        self.context.operation_memory.used_bytes()
    }

    /// Reserves additional memory for the stream's lifetime.
    pub(crate) fn keep_memory(&self, bytes: usize) -> Result<()> {
        Ok(self.context.operation_memory.keep_for_operation(bytes)?)
    }

    /// Returns the next batch without waiting.
    ///
    /// Fails with 286 if the place of the stream is no longer kept, 10334 if an event is too large,
    /// 47 if a required image is missing, and 280 if a stage changes the token of an event.
    pub(crate) async fn next_batch(&mut self, limit: BatchLimit) -> Result<StreamBatch> {
        let mut batch = Batch::default();
        batch.held = self.context.operation_memory.share();
        let (mut bytes, mut pages) = (0, 0);
        loop {
            let is_full = self.fill(&mut batch, limit, &mut bytes)?;
            if is_full || self.invalidated || PAGES_AT_ONCE <= pages || !self.more && 0 < pages {
                break;
            }
            pages += 1;
            if self.read_page(limit, batch.documents.is_empty()).await? {
                self.fill(&mut batch, limit, &mut bytes)?;
                break;
            }
        }
        if self.pending.is_empty() && !self.more && !self.invalidated {
            self.token = Token::Time(self.position.time()).to_document();
        }
        batch.done = self.invalidated && self.pending.is_empty();
        let held = self.pending.iter().map(|(event, token)| event.len() + token.bytes().len());
        self.share.set(STREAM_BYTES + held.sum::<usize>())?;
        let more = self.more || !self.pending.is_empty();
        Ok(StreamBatch { batch, token: self.token.clone(), more })
    }

    /// Moves pending events into the batch. Returns whether the batch is full.
    fn fill(&mut self, batch: &mut Batch, limit: BatchLimit, bytes: &mut usize) -> Result<bool> {
        while let Some((event, token)) = self.pending.pop_front() {
            let fits = batch.documents.len() < limit.documents
                && (batch.documents.is_empty() || *bytes + event.len() <= limit.bytes);
            if !fits {
                self.pending.push_front((event, token));
                return Ok(true);
            }
            batch.held.grow(event.len() * 2)?;
            *bytes += event.len();
            batch.documents.push(event);
            self.token = token;
        }
        Ok(limit.documents <= batch.documents.len())
    }

    /// Reads a page of the log into the pending events. Returns whether it has stopped before a
    /// change whose event is an error; it is an error of the batch that begins with this change.
    async fn read_page(&mut self, limit: BatchLimit, is_first: bool) -> Result<bool> {
        let query = ChangeLogQuery {
            from: self.position.clone(),
            scope: self.options.scope.clone(),
            changes: limit.documents.clamp(1, PAGE_CHANGES),
            bytes: limit.bytes,
        };
        let read = self.engine.read_changes(&query, &self.context).await;
        let mut page = read.map_err(lost_or)?;
        self.more = page.more;
        for change in std::mem::take(&mut page.changes) {
            match self.take_change(&change).await {
                Ok(()) if self.invalidated => break,
                Ok(()) => {}
                Err(error) if is_first && self.pending.is_empty() => return Err(error),
                Err(_) => {
                    (self.position, self.more) = (change.position(), true);
                    return Ok(true);
                }
            }
        }
        self.position = page.next.clone();
        self.page = Some(page);
        Ok(false)
    }

    /// Makes the events of a change.
    async fn take_change(&mut self, change: &Change) -> Result<()> {
        let skips = self.skips.take();
        if self.is_shown(change) {
            let place = EventToken::of_change(change, kind_name(change.kind));
            let token = Token::Event(place.clone()).to_document();
            let current = match event::looked_up(change, &self.options) {
                Some(id) => Some(self.look_up(change, id).await?),
                None => None,
            };
            let event = event_of(change, &token, &self.options, current)?;
            if let Some(event) = self.stages.run(event, &token).await? {
                let fragments = fragments_of(event, (&place, token), self.splits)?;
                let first = skips.map_or(0, |skips| skips as usize + 1);
                for (event, token) in fragments.into_iter().skip(first) {
                    self.hold_back(event, token)?;
                }
            }
        }
        if self.ends_with(change) {
            let token = Token::Event(invalidation_token(change)).to_document();
            let event = invalidation_of(change, &token);
            if let Some(event) = self.stages.run(event, &token).await? {
                self.hold_back(event, token)?;
            }
            self.invalidated = true;
        }
        Ok(())
    }

    fn hold_back(&mut self, event: DocBuf, token: DocBuf) -> Result<()> {
        self.share.grow(event.bytes().len() + token.bytes().len())?;
        self.pending.push_back((event.into_bytes(), token));
        Ok(())
    }

    fn is_shown(&self, change: &Change) -> bool {
        let namespace = &change.namespace;
        let is_own = match self.options.scope {
            ChangeScope::Collection(_) => false,
            ChangeScope::Database(_) => is_internal(&namespace.collection),
            ChangeScope::All => {
                SYSTEM_DATABASES.contains(&&*namespace.database)
                    || is_internal(&namespace.collection)
            }
        };
        !is_own && (self.options.expanded || !is_expanded_only(change.kind))
    }

    /// Returns whether the stream ends after this change.
    fn ends_with(&self, change: &Change) -> bool {
        matches!(
            (&self.options.scope, change.kind),
            (ChangeScope::Collection(_), ChangeKind::Drop | ChangeKind::Rename)
                | (ChangeScope::Database(_), ChangeKind::DropDatabase)
        )
    }

    /// Returns the changed document as it is now; `None` if it, or its collection, is not there.
    async fn look_up(&self, change: &Change, id: &Value) -> Result<Option<DocBuf>> {
        let Some(collection) = self.engine.collection(Model::Documents, &change.namespace) else {
            return Ok(None);
        };
        if collection.state().record.uuid() != change.uuid {
            return Ok(None);
        }
        let filter = doc! { "_id": doc! { "$eq": id.clone() } };
        let filter = mongo_query::filter::parse(DocRef::Tree(&filter))?;
        let (plan, context) = (Plan::new(filter), Arc::clone(&self.context));
        let mut cursor =
            self.engine.begin_query(Model::Documents, &change.namespace, plan, context)?;
        let limit = BatchLimit { documents: 1, bytes: usize::MAX };
        let found = cursor.next_batch(limit).await?.documents.into_iter().next();
        Ok(found.map(DocBuf::from_trusted))
    }

    /// Waits until changes may be there: for commits in flight, for the next change of the scope
    /// since `changes` was registered, or for the next expiration.
    pub(crate) async fn wait(&self, changes: &mut ChangeWait<'_>) -> Result<()> {
        if let Some(page) = &self.page
            && self.engine.wait_for_in_flight_changes(page).await
        {
            return Ok(());
        }
        let next = self.engine.next_expiration_in(&self.options.scope);
        if next == Instant::MAX {
            changes.woken().await;
            return Ok(());
        }
        let now = self.engine.now().await?;
        let left = u64::try_from(next.since_ms(now)).map_or(MIN_WAIT, Duration::from_millis);
        tokio::select! {
            () = changes.woken() => {}
            () = crate::pause::sleep(left.max(MIN_WAIT)) => {}
        }
        Ok(())
    }
}

/// Returns error 286 for a place in the log that is no longer kept, and other errors unchanged.
pub(crate) fn lost_or(error: engine::Error) -> Error {
    if error.kind != Kind::PositionLost {
        return error.into();
    }
    let message = "Resume of change stream was not possible, as the resume point may no longer be \
                   in the oplog.";
    Error::new(ChangeStreamHistoryLost, message)
}
