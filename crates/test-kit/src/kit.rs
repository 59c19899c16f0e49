//! The engine with its store and clock, and one collection that tests work on. Times are
//! milliseconds since [`START_MS`], so that tests read as time lines.

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
    task::ready,
};

/// Where clocks of tests start.
pub const START_MS: i64 = 1_700_000_000_000;

/// The machine's clocks, standing still: only [`Kit::move_to`] moves time.
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

/// What an engine is opened with.
#[derive(Clone)]
pub struct Setup {
    /// The rules of views and order.
    pub rules: Rules,
    /// The language of stored filters.
    pub dialect: Arc<dyn Dialect>,
    /// How long ago a document has to have expired before its bytes may go.
    pub reap_delay: Duration,
}

impl std::fmt::Debug for Setup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Setup").field("rules", &self.rules).finish_non_exhaustive()
    }
}

impl Default for Setup {
    fn default() -> Self {
        let dialect = Arc::new(EqualityDialect);
        Self { rules: Rules::default(), dialect, reap_delay: Duration::ZERO }
    }
}

/// An engine with one collection.
#[derive(Debug)]
pub struct Kit {
    /// The engine.
    pub engine: Engine<PausingStore>,
    /// Its store.
    pub store: PausingStore,
    /// Its clock.
    pub clock: Arc<Clock>,
    /// Kept for restarts.
    setup: Setup,
    /// Of the reaper; its clock goes on by one second each.
    passes: u64,
}

/// A manual clock that may be used at once, at its beginning or where an earlier one stood.
pub fn start_clock(last: Option<clock::Checkpoint>) -> Arc<Clock> {
    let clock = Clock::start(ClockMode::Manual, Box::new(StillSource), [7; 16], last);
    let clock = clock.expect("a manual clock starts");
    clock.mark_persisted(&clock.tick());
    Arc::new(clock)
}

/// Opens an engine as the server does, and finishes the builds that an earlier one began.
fn open_engine(store: PausingStore, clock: &Arc<Clock>, setup: &Setup) -> Engine<PausingStore> {
    let (dialect, persist) = (Arc::clone(&setup.dialect), Arc::new(engine::KeepNothing));
    let mut options = Options::new(Arc::clone(clock), dialect, persist).with_rules(setup.rules);
    options.reap_delay = setup.reap_delay;
    // The memory store never waits for anything, so that opening needs no runtime.
    let engine = ready(Engine::open(store, options)).expect("the engine opens");
    ready(engine.resume_builds()).expect("builds are finished");
    engine
}

impl Default for Kit {
    fn default() -> Self {
        Self::new(Setup::default())
    }
}

impl Kit {
    /// A new engine with an empty collection.
    pub fn new(setup: Setup) -> Self {
        let clock = start_clock(None);
        let store = PausingStore::new(Engine::<PausingStore>::timepiece(&clock));
        let engine = open_engine(store.clone(), &clock, &setup);
        let kit = Self { engine, store, clock, setup, passes: 0 };
        ready(kit.engine.ensure_collection(Model::Documents, &kit.namespace()))
            .expect("a collection");
        kit
    }

    /// Kills the process and starts it again at the same instant.
    pub fn restart(&mut self) {
        self.clock = start_clock(Some(self.clock.tick()));
        self.store = self.store.reopen(Engine::<PausingStore>::timepiece(&self.clock));
        self.engine = open_engine(self.store.clone(), &self.clock, &self.setup);
    }

    /// Another engine on the same store, which this one knows nothing of.
    pub fn other_engine(&self) -> Engine<PausingStore> {
        open_engine(self.store.clone(), &self.clock, &self.setup)
    }

    /// The collection's name.
    pub fn namespace(&self) -> Namespace {
        Namespace::new("db", "c")
    }

    /// The collection.
    pub fn collection(&self) -> Arc<Collection> {
        self.engine.expect_collection(Model::Documents, &self.namespace()).expect("the collection")
    }

    /// Database time, milliseconds since the start of the test.
    pub fn now_ms(&self) -> i64 {
        self.clock.last_used().ms - START_MS
    }

    /// Moves the clock to this many milliseconds after the start of the test.
    pub fn move_to(&self, ms: i64) {
        let checkpoint = self.clock.move_to(Instant::from_ms(START_MS + ms));
        self.clock.mark_persisted(&checkpoint.expect("time goes forward"));
    }

    /// Inserts one document.
    pub fn insert(&self, document: Document) -> Result<(), Error> {
        first_failure(ready(insert_one(self.engine.clone(), self.collection(), document))?)
    }

    /// Puts a document in the place of the one with its id; upserts when asked.
    pub fn replace(&self, document: Document, upsert: bool) -> Result<Updated, Error> {
        ready(replace_one(self.engine.clone(), self.collection(), document, upsert))
    }

    /// Puts a document in place and returns what was there.
    pub fn find_and_replace(&self, document: Document) -> Result<Edited, Error> {
        let (update, edit) = replacement(document, false);
        let update = Update { edit: &edit, ..update };
        ready(self.engine.find_and_update(&self.collection(), &update))
    }

    /// Removes the document with this id and returns how many there were.
    pub fn remove_by_id(&self, id: impl Into<Value>) -> usize {
        let find = Find::new(equal("_id", id));
        let (collection, context) = (self.collection(), context());
        let removed = ready(self.engine.remove(&collection, &find, false, &context));
        removed.expect("removed").count
    }

    /// All documents that a filter means, in the order they come.
    pub fn find_documents(&self, filter: Filter, hint: Hint) -> Result<Vec<Document>, Error> {
        ready(find_all(self.engine.clone(), self.namespace(), Plan { hint, ..Plan::new(filter) }))
    }

    /// The ids of all documents, by a scan of the rows.
    pub fn all_ids(&self) -> Vec<i64> {
        ids_of(&self.find_documents(Filter::always(), Hint::None).expect("found"))
    }

    /// The ids of all documents in an index, in its order.
    pub fn ids_by(&self, index: &str) -> Vec<i64> {
        ids_of(&self.find_documents(Filter::always(), Hint::Index(index.into())).expect("found"))
    }

    /// Starts a query.
    pub fn begin_query(&self, plan: Plan) -> Cursor<PausingStore> {
        self.engine
            .begin_query(Model::Documents, &self.namespace(), plan, context())
            .expect("a cursor")
    }

    /// Exact live documents.
    pub fn live_amount(&self) -> Amount {
        ready(self.engine.live_amount(&self.collection())).expect("counted")
    }

    /// Changes the default TTL: `None` is off.
    pub fn set_default(&self, default: Option<i64>) {
        let collection = self.collection();
        let changed = ready(self.engine.set_default_ttl(&collection, default_ttl(default)));
        changed.expect("changed");
    }

    /// Makes an index.
    pub fn create_index(&self, spec: IndexSpec) -> Result<(), Error> {
        ready(self.engine.create_indexes(&self.collection(), vec![spec])).map(|_| ())
    }

    /// Drops an index.
    pub fn drop_index(&self, name: &str) {
        let collection = self.collection();
        ready(self.engine.drop_indexes(&collection, vec![name.into()])).expect("dropped");
    }

    /// Changes or sets the seconds of an index.
    pub fn change_index(&self, name: &str, seconds: i64) {
        let change = IndexChange { expire_after: Some(seconds), hidden: None };
        ready(self.engine.change_index(&self.collection(), name, change)).expect("changed");
    }

    /// Reaps what may be reaped now, worth it or not.
    pub fn reap_all(&mut self) {
        self.passes += 1;
        ready(self.engine.reap_once(Duration::from_secs(self.passes))).expect("a pass");
        ready(self.engine.reap_now(&self.collection())).expect("reaped");
    }

    /// Bytes of the rows on disk.
    pub fn row_bytes(&self) -> u64 {
        use store::Store as _;
        self.store.space_bytes(store::Space::Rows(self.collection().id))
    }

    /// Bytes of the index entries on disk.
    pub fn entry_bytes(&self) -> u64 {
        use store::Store as _;
        self.store.space_bytes(store::Space::Index(self.collection().id))
    }
}

/// What callers pass as the operation.
pub fn context() -> Arc<Context> {
    Arc::new(Context::default())
}

/// The default TTL as a number; `None` is off.
pub fn default_ttl(default: Option<i64>) -> DefaultTtl {
    match default {
        None => DefaultTtl::Off,
        Some(-1) => DefaultTtl::Infinite,
        Some(n) => DefaultTtl::Seconds(n),
    }
}

/// An insert to be polled.
pub async fn insert_one(
    engine: Engine<PausingStore>,
    collection: Arc<Collection>,
    document: Document,
) -> Result<Inserted, Error> {
    let document: DocBuf = document.to_buf();
    let lifetime = Lifetime::from_ttl(document.get("ttl"));
    engine.insert(&collection, vec![(document, lifetime)], ListOrdering::Ordered).await
}

/// The failure of an insert of one document.
pub fn first_failure(inserted: Inserted) -> Result<(), Error> {
    match inserted.failed.into_iter().next() {
        Some((_, error)) => Err(error),
        None if inserted.count == 1 => Ok(()),
        None => Err(Error::new(Kind::Conflict, "neither inserted nor refused")),
    }
}

/// An update that replaces the document with the id of this one, and its edit.
fn replacement(document: Document, upsert: bool) -> (Update<'static>, Edit) {
    /// Stands in the update until the caller puts the edit in.
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

/// A replacement to be polled.
pub async fn replace_one(
    engine: Engine<PausingStore>,
    collection: Arc<Collection>,
    document: Document,
    upsert: bool,
) -> Result<Updated, Error> {
    let (update, edit) = replacement(document, upsert);
    engine.update(&collection, &Update { edit: &edit, ..update }).await
}

/// A query to be polled, all in one batch.
pub async fn find_all(
    engine: Engine<PausingStore>,
    namespace: Namespace,
    plan: Plan,
) -> Result<Vec<Document>, Error> {
    let mut cursor = engine.begin_query(Model::Documents, &namespace, plan, context())?;
    let batch = cursor.next_batch(BatchLimit { documents: usize::MAX, bytes: usize::MAX }).await?;
    Ok(batch.documents.iter().map(|bytes| DocRef::Raw(bytes).to_tree()).collect())
}

/// The numbers that documents have as ids.
pub fn ids_of(documents: &[Document]) -> Vec<i64> {
    let id = |document: &Document| {
        let number = document.get("_id").and_then(|id| document::Number::of(id.as_ref()));
        number.and_then(document::Number::to_i64_exact).unwrap_or(-1)
    };
    documents.iter().map(id).collect()
}
