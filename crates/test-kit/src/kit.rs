//! An engine with store, clock and one collection for tests. Times are milliseconds since
//! [`START_MS`], so that tests read as time lines.

use std::{sync::Arc, time::Duration};

use clock::{Clock, ClockMode, ClockSource, Instant};
use document::{DocBuf, DocRef, Document, Value};
use engine::{
    Amount, BatchLimit, Collection, Cursor, Dialect, Edited, Engine, Error, Find, Hint,
    IndexChange, IndexSpec, Inserted, Kind, ListOrdering, Model, Namespace, Options, Plan, Rules,
    Update, Updated,
};
use evaluation::Context;
use expiry::{DefaultTtl, Lifetime};
use pipeline::{Filter, edit::Edit};

use crate::{
    build::{EqualityDialect, TtlField, equal},
    pausing::PausingStore,
    ready,
};

/// Initial time of test clocks, in milliseconds since 1970.
pub const START_MS: i64 = 1_700_000_000_000;

/// Machine clocks that do not advance, so that time passes only by [`Kit::move_to`].
#[derive(Debug)]
struct StillSource;

impl ClockSource for StillSource {
    fn boot_ns(&self) -> i64 {
        0
    }

    fn wall_ms(&self) -> i64 {
        START_MS
    }
}

/// Parameters of an engine under test.
#[derive(Clone)]
pub struct Setup {
    /// The rules of views and of commit order, which tests can disable.
    pub rules: Rules,
    /// Parses the filters of partial indexes.
    pub dialect: Arc<dyn Dialect>,
    /// Minimum delay between expiration and the removal of bytes.
    pub reap_delay: Duration,
    /// Memory that all writes of large documents may hold together, in bytes.
    pub large_write_bytes: usize,
    /// Size of the change log beyond which its oldest records are dropped.
    pub change_log_bytes: u64,
    /// Size of the store beyond which it refuses commits that need space.
    pub store_bytes: usize,
}

impl std::fmt::Debug for Setup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Setup").field("rules", &self.rules).finish_non_exhaustive()
    }
}

impl Default for Setup {
    fn default() -> Self {
        let dialect = Arc::new(EqualityDialect);
        Self {
            rules: Rules::default(),
            dialect,
            reap_delay: Duration::ZERO,
            large_write_bytes: 1 << 30,
            change_log_bytes: u64::MAX,
            store_bytes: usize::MAX,
        }
    }
}

/// An engine with one collection.
#[derive(Debug)]
pub struct Kit {
    /// The engine that is tested.
    pub engine: Engine,
    /// The store of the engine, whose operations can be paused.
    pub store: PausingStore,
    /// The manual clock of the engine.
    pub clock: Arc<Clock>,
    /// The parameters with which the engine was created, for restarts.
    setup: Setup,
    /// Number of passes of the reaper; each advances its clock by one second.
    passes: u64,
}

/// Starts a manual clock that is usable at once, from the beginning or from an earlier checkpoint.
pub fn start_clock(last: Option<clock::Checkpoint>) -> Arc<Clock> {
    let clock = Clock::start(ClockMode::Manual, Box::new(StillSource), [7; 16], last);
    let clock = clock.expect("a manual clock starts");
    clock.mark_persisted(&clock.tick());
    Arc::new(clock)
}

/// Opens an engine as the server does, and finishes pending index builds.
fn open_engine(store: PausingStore, clock: &Arc<Clock>, setup: &Setup) -> Engine {
    let (dialect, persist) = (Arc::clone(&setup.dialect), Arc::new(engine::DiscardCheckpoints));
    let mut options = Options::new(Arc::clone(clock), dialect, persist).with_rules(setup.rules);
    options.reap_delay = setup.reap_delay;
    options.large_write_bytes = setup.large_write_bytes;
    options.change_log_bytes = setup.change_log_bytes;
    // The memory store never waits, so opening needs no runtime.
    let engine = ready(Engine::open(Arc::new(store), options)).expect("the engine opens");
    ready(engine.resume_builds()).expect("builds are finished");
    engine
}

impl Default for Kit {
    fn default() -> Self {
        Self::new(Setup::default())
    }
}

impl Kit {
    /// Creates an engine with an empty collection.
    pub fn new(setup: Setup) -> Self {
        let clock = start_clock(None);
        let store = PausingStore::bounded(setup.store_bytes, Engine::commit_clock(&clock));
        let engine = open_engine(store.clone(), &clock, &setup);
        let kit = Self { engine, store, clock, setup, passes: 0 };
        ready(kit.engine.ensure_collection(Model::Documents, &kit.namespace()))
            .expect("a collection");
        kit
    }

    /// Simulates a crash and a restart at the same instant of the clock.
    pub fn restart(&mut self) {
        self.clock = start_clock(Some(self.clock.tick()));
        self.store = self.store.reopen(Engine::commit_clock(&self.clock));
        self.engine = open_engine(self.store.clone(), &self.clock, &self.setup);
    }

    /// Opens another engine on the same store, which is not notified of changes by the first.
    pub fn other_engine(&self) -> Engine {
        open_engine(self.store.clone(), &self.clock, &self.setup)
    }

    /// Returns the name of the kit's collection.
    pub fn namespace(&self) -> Namespace {
        Namespace::new("db", "c")
    }

    /// Returns the kit's collection, which must exist.
    pub fn collection(&self) -> Arc<Collection> {
        self.engine.expect_collection(Model::Documents, &self.namespace()).expect("the collection")
    }

    /// Returns database time in milliseconds since the start of the test.
    pub fn now_ms(&self) -> i64 {
        self.clock.last_used().ms - START_MS
    }

    /// Moves the clock to this many milliseconds after the start of the test.
    pub fn move_to(&self, ms: i64) {
        let checkpoint = self.clock.move_to(Instant::from_ms(START_MS + ms));
        self.clock.mark_persisted(&checkpoint.expect("time goes forward"));
    }

    /// Inserts one document into the collection.
    pub fn insert(&self, document: Document) -> Result<(), Error> {
        first_failure(ready(insert_one(self.engine.clone(), self.collection(), document))?)
    }

    /// Replaces the document with the same id, or upserts if requested.
    pub fn replace(&self, document: Document, upsert: bool) -> Result<Updated, Error> {
        ready(replace_one(self.engine.clone(), self.collection(), document, upsert))
    }

    /// Replaces a document and returns the previous one.
    pub fn find_and_replace(&self, document: Document) -> Result<Edited, Error> {
        let (update, edit) = replacement(document, false);
        let update = Update { edit: &edit, ..update };
        ready(self.engine.find_and_update(&self.collection(), &update))
    }

    /// Removes the document with this id; returns the number removed.
    pub fn remove_by_id(&self, id: impl Into<Value>) -> usize {
        let find = Find::new(equal("_id", id));
        let (collection, context) = (self.collection(), context());
        let removed = ready(self.engine.remove(&collection, &find, false, &context));
        removed.expect("removed").count
    }

    /// Returns all documents that match a filter, in query order.
    pub fn find_documents(&self, filter: Filter, hint: Hint) -> Result<Vec<Document>, Error> {
        ready(find_all(self.engine.clone(), self.namespace(), Plan { hint, ..Plan::new(filter) }))
    }

    /// Returns the ids of all documents, by a scan of the rows.
    pub fn all_ids(&self) -> Vec<i64> {
        ids_of(&self.find_documents(Filter::always(), Hint::None).expect("found"))
    }

    /// Returns the ids of all documents in an index, in index order.
    pub fn ids_by(&self, index: &str) -> Vec<i64> {
        ids_of(&self.find_documents(Filter::always(), Hint::Index(index.into())).expect("found"))
    }

    /// Starts a query on the collection.
    pub fn begin_query(&self, plan: Plan) -> Cursor {
        self.engine
            .begin_query(Model::Documents, &self.namespace(), plan, context())
            .expect("a cursor")
    }

    /// Returns the exact number and bytes of live documents.
    pub fn live_amount(&self) -> Amount {
        ready(self.engine.live_amount(&self.collection())).expect("counted")
    }

    /// Sets the default TTL; `None` turns it off.
    pub fn set_default(&self, default: Option<i64>) {
        let collection = self.collection();
        let changed = ready(self.engine.set_default_ttl(&collection, default_ttl(default)));
        changed.expect("changed");
    }

    /// Creates an index on the collection.
    pub fn create_index(&self, spec: IndexSpec) -> Result<(), Error> {
        ready(self.engine.create_indexes(&self.collection(), vec![spec])).map(|_| ())
    }

    /// Drops an index of the collection.
    pub fn drop_index(&self, name: &str) {
        let collection = self.collection();
        ready(self.engine.drop_indexes(&collection, vec![name.into()])).expect("dropped");
    }

    /// Sets the expiration seconds of an index.
    pub fn change_index(&self, name: &str, seconds: i64) {
        let change = IndexChange { expire_after: Some(seconds), hidden: None };
        ready(self.engine.change_index(&self.collection(), name, change)).expect("changed");
    }

    /// Reaps everything that may be reaped now, even if the reaper itself would wait for more.
    pub fn reap_all(&mut self) {
        self.passes += 1;
        ready(self.engine.reap_once(Duration::from_secs(self.passes))).expect("a pass");
        ready(self.engine.reap_now(&self.collection())).expect("reaped");
    }

    /// Returns the bytes of the rows in the store.
    pub fn row_bytes(&self) -> u64 {
        use store::Store as _;
        self.store.space_bytes(store::Space::Rows(self.collection().id))
    }

    /// Returns the bytes of the index entries in the store.
    pub fn entry_bytes(&self) -> u64 {
        use store::Store as _;
        self.store.space_bytes(store::Space::Index(self.collection().id))
    }
}

/// Returns an operation context without limits.
pub fn context() -> Arc<Context> {
    Arc::new(Context::default())
}

/// Converts a default TTL from a number; `None` is off.
pub fn default_ttl(default: Option<i64>) -> DefaultTtl {
    match default {
        None => DefaultTtl::Off,
        Some(-1) => DefaultTtl::Infinite,
        Some(n) => DefaultTtl::Seconds(n),
    }
}

/// Inserts one document; the test polls the returned future.
pub async fn insert_one(
    engine: Engine,
    collection: Arc<Collection>,
    document: Document,
) -> Result<Inserted, Error> {
    let document: DocBuf = document.to_buf();
    let lifetime = Lifetime::from_ttl(document.get("ttl"));
    engine.insert(&collection, vec![(document, lifetime)], ListOrdering::Ordered).await
}

/// Returns the error of a one-document insert, if any.
pub fn first_failure(inserted: Inserted) -> Result<(), Error> {
    match inserted.failed.into_iter().next() {
        Some((_, error)) => Err(error),
        None if inserted.count == 1 => Ok(()),
        None => Err(Error::new(Kind::Conflict, "neither inserted nor refused")),
    }
}

/// Builds an edit that replaces a document, and the update of the document with the same id.
fn replacement(document: Document, upsert: bool) -> (Update<'static>, Edit) {
    /// Placeholder until the caller sets the edit.
    static NOTHING: Edit = Edit::Pipeline(Vec::new());
    let id = document.get("_id").cloned().unwrap_or(Value::Null);
    let update = Update {
        find: Find::new(equal("_id", id)),
        edit: &NOTHING,
        many: false,
        upsert,
        context: context(),
        writer: &TtlField,
    };
    (update, Edit::Replacement(document))
}

/// Replaces one document; the test polls the returned future.
pub async fn replace_one(
    engine: Engine,
    collection: Arc<Collection>,
    document: Document,
    upsert: bool,
) -> Result<Updated, Error> {
    let (update, edit) = replacement(document, upsert);
    engine.update(&collection, &Update { edit: &edit, ..update }).await
}

/// Runs a query in a single batch; the test polls the returned future.
pub async fn find_all(
    engine: Engine,
    namespace: Namespace,
    plan: Plan,
) -> Result<Vec<Document>, Error> {
    let mut cursor = engine.begin_query(Model::Documents, &namespace, plan, context())?;
    let batch = cursor.next_batch(BatchLimit { documents: usize::MAX, bytes: usize::MAX }).await?;
    Ok(batch.documents.iter().map(|bytes| DocRef::Raw(bytes).to_tree()).collect())
}

/// Returns the numeric ids of documents.
pub fn ids_of(documents: &[Document]) -> Vec<i64> {
    let id = |document: &Document| {
        let number = document.get("_id").and_then(|id| document::Number::of(id.as_ref()));
        number.and_then(document::Number::to_i64_exact).unwrap_or(-1)
    };
    documents.iter().map(id).collect()
}
