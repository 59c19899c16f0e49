//! Documents with a time to live over many owners: random histories checked against a model.
//! Expired documents disappear at their second on every node and never reappear, whichever node
//! becomes the owner.

use std::{collections::BTreeMap, future::Future, pin::Pin, sync::Arc, time::Duration};

use clock::{Checkpoint, ClockMode};
use document::{DocBuf, Document, doc};
use engine::{
    BatchLimit, CopyReaper, Engine, Find, ListOrdering, Model, Namespace, Options, Persist, Plan,
    Update, compare_copies,
};
use expiry::Lifetime;
use fastrand::Rng;
use pipeline::{Filter, edit::Edit};
use store::{Direction, KeyRange, Limit, Space, Store as _, laws::ManualTime};
use store_shared::ShardClock;
use store_tree::TreeStore;
use test_kit::{Setup, TtlField, context, default_ttl, equal, ids_of};

use crate::{
    Owned,
    clocks::{Timed, start},
    nodes::{Nodes, wait_until_level},
};

/// Number of histories, and operations of each.
const HISTORIES: u64 = 3;
const OPERATIONS: usize = 80;

/// Makes moves of the clock durable with heartbeats.
struct ByBeat(Arc<ShardClock>);

impl Persist for ByBeat {
    fn persist_checkpoint(
        &self,
        checkpoint: Checkpoint,
    ) -> Pin<Box<dyn Future<Output = bool> + Send + '_>> {
        Box::pin(self.0.persist(checkpoint))
    }
}

/// The documents that clients must see: for each id, the second of its write and its own `ttl`.
#[derive(Default)]
struct Shown {
    documents: BTreeMap<i64, (i64, Option<i64>)>,
    default: Option<i64>,
    now_s: i64,
}

impl Shown {
    fn expire(&mut self) {
        let (now, default) = (self.now_s, self.default);
        self.documents.retain(|_, (written, ttl)| match ttl.or(default) {
            // Without a default, `ttl` is ignored; -1 means never.
            _ if default.is_none() => true,
            None | Some(-1) => true,
            Some(seconds) => now < *written + seconds,
        });
    }
}

/// The owner, its engine, and an optional follower.
struct World {
    nodes: Nodes,
    /// Dropped before the owner, whose directory it uses.
    engine: Engine,
    owner: Owned,
    clock: Arc<ShardClock>,
    follower: Option<(Timed, CopyReaper)>,
    /// Monotonic time passed to reapers.
    elapsed: Duration,
}

fn start_follower(nodes: &Nodes, ahead_ms: i64) -> (Timed, CopyReaper) {
    let (follower, reaper) = (start(nodes, ClockMode::Manual, ahead_ms), CopyReaper::default());
    reaper.put_in_force(&**follower.node.tree());
    (follower, reaper)
}

fn namespace() -> Namespace {
    Namespace::new("db", "c")
}

/// Opens an engine on a node once it serves.
async fn open(nodes: &Nodes, timed: Timed) -> (Owned, Arc<ShardClock>, Engine) {
    nodes.take_over(&timed.node);
    let Timed { node, machine, clock } = timed;
    let owned = Owned::new(node, machine);
    let current = clock.current().unwrap();
    let persist = Arc::new(ByBeat(Arc::clone(&clock)));
    let options = Options::new(current, Setup::default().dialect, persist);
    let tree = Arc::clone(owned.node.tree());
    let engine = Engine::open(tree, options).await.unwrap();
    engine.resume_builds().await.unwrap();
    (owned, clock, engine)
}

impl World {
    async fn new() -> Self {
        let nodes = Nodes::new(ManualTime::default());
        let first = start(&nodes, ClockMode::Manual, 0);
        let (owner, clock, engine) = open(&nodes, first).await;
        engine.ensure_collection(Model::Documents, &namespace()).await.unwrap();
        Self { nodes, owner, clock, engine, follower: None, elapsed: Duration::ZERO }
    }

    fn collection(&self) -> Arc<engine::Collection> {
        self.engine.expect_collection(Model::Documents, &namespace()).unwrap()
    }

    async fn ids(&self) -> Vec<i64> {
        let plan = Plan::new(Filter::always());
        let cursor = self.engine.begin_query(Model::Documents, &namespace(), plan, context());
        let limit = BatchLimit { documents: usize::MAX, bytes: usize::MAX };
        let batch = cursor.unwrap().next_batch(limit).await.unwrap();
        let tree = |bytes: &bytes::Bytes| document::DocRef::Raw(bytes).to_tree();
        let found: Vec<Document> = batch.documents.iter().map(tree).collect();
        ids_of(&found)
    }

    async fn insert(&self, document: Document) -> bool {
        let document: DocBuf = document.to_buf();
        let lifetime = Lifetime::from_ttl(document.get("ttl"));
        let documents = vec![(document, lifetime)];
        let done = self.engine.insert(&self.collection(), documents, ListOrdering::Ordered).await;
        done.unwrap().count == 1
    }

    async fn replace(&self, id: i64, document: Document) -> bool {
        let edit = Edit::Replacement(document);
        let find = Find::new(equal("_id", id));
        let writer = &TtlField;
        let context = context();
        let update = Update { find, edit: &edit, many: false, upsert: false, context, writer };
        self.engine.update(&self.collection(), &update).await.unwrap().matched == 1
    }

    /// Makes another node the owner, by a release or by killing the owner.
    async fn change_owner(&mut self, by_word: bool) {
        let next = self.follower.take();
        let (next, _) = next.unwrap_or_else(|| start_follower(&self.nodes, 5_000));
        match by_word {
            true => self.owner.node.hand_over(),
            false => self.owner.node.stop(),
        }
        let (owner, clock, engine) = open(&self.nodes, next).await;
        self.clock = clock;
        // The former owner is dropped after its engine, which uses its directory.
        let _former_owner = std::mem::replace(&mut self.owner, owner);
        let former = std::mem::replace(&mut self.engine, engine);
        // The former owner's engine returns nothing any more. This is not checked after a kill,
        // since its clock then has no lease and a call would wait.
        if by_word {
            let ended = former.now().await.map_err(|error| error.kind);
            assert_eq!(ended, Err(engine::Kind::Moved));
        }
    }

    /// Reaps everything that has expired, first at the owner, then at the follower.
    async fn reap(&mut self) {
        self.elapsed += Duration::from_secs(10);
        self.engine.reap_once(self.elapsed).await.unwrap();
        self.engine.reap_now(&self.collection()).await.unwrap();
        if let Some((follower, reaper)) = &mut self.follower {
            wait_until_level(&follower.node, &self.owner.node);
            reaper.reap_committed(&**follower.node.tree()).await.unwrap();
            let (copy, own) = (follower.node.tree(), self.owner.node.tree());
            let now = self.engine.now().await.unwrap();
            let compared = compare_copies(&**copy, &**own, now).await.unwrap();
            assert_eq!(compared.differences.listed, Vec::<String>::new());
            assert!(0 < compared.rows, "{compared:?}");
        }
    }

    async fn step(&mut self, rng: &mut Rng, shown: &mut Shown) {
        let id = rng.i64(0..12);
        let ttl = [None, Some(-1), Some(2), Some(5), Some(9)][rng.usize(0..5)];
        let mut document = doc! { "_id": id };
        document.push("n", rng.i64(..));
        ttl.into_iter().for_each(|ttl| document.push("ttl", ttl));
        match rng.u8(0..20) {
            0..6 => {
                let is_new = !shown.documents.contains_key(&id);
                assert_eq!(self.insert(document).await, is_new, "insert {id}");
                if is_new {
                    shown.documents.insert(id, (shown.now_s, ttl));
                }
            }
            6..10 => {
                let is_there = shown.documents.contains_key(&id);
                assert_eq!(self.replace(id, document).await, is_there, "replace {id}");
                if is_there {
                    shown.documents.insert(id, (shown.now_s, ttl));
                }
            }
            10..14 => {
                shown.now_s += rng.i64(1..5);
                let to = clock::Instant::from_ms(shown.now_s * 1_000);
                assert_eq!(self.engine.move_clock(to).await, Ok(to));
                shown.expire();
            }
            14..16 => {
                shown.default = [None, Some(-1), Some(3), Some(6)][rng.usize(0..4)];
                let default = default_ttl(shown.default);
                self.engine.set_default_ttl(&self.collection(), default).await.unwrap();
                shown.expire();
            }
            16 => self.reap().await,
            17 => self.follower = Some(start_follower(&self.nodes, -5_000)),
            other => self.change_owner(other == 18).await,
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_has_expired_stays_gone_over_owners() {
    for seed in 0..HISTORIES {
        let mut rng = Rng::with_seed(seed);
        let mut world = World::new().await;
        let now_s = world.engine.now().await.unwrap().ms / 1_000;
        let mut shown = Shown { now_s, ..Shown::default() };
        for operation in 0..OPERATIONS {
            world.step(&mut rng, &mut shown).await;
            let mut found = world.ids().await;
            found.sort_unstable();
            let wanted: Vec<i64> = shown.documents.keys().copied().collect();
            assert_eq!(found, wanted, "seed {seed}, operation {operation}");
        }
    }
}

/// Counts the rows of a space in a store, including expired ones.
async fn rows_in(store: &TreeStore, space: Space, range: KeyRange) -> usize {
    let limit = Limit { rows: usize::MAX, bytes: usize::MAX };
    let page = store.snapshot().scan(space, &range, Direction::Forward, limit).await.unwrap();
    page.rows.len()
}

/// Counts the catalog's rows with reap floors, by which copies remove expired documents.
async fn floors_in(store: &TreeStore) -> usize {
    rows_in(store, Space::Catalog, KeyRange::with_prefix(b"f")).await
}

/// Counts the rows that a base would have in all spaces.
fn rows_in_base(store: &TreeStore) -> usize {
    let mut reader = store.base().unwrap();
    let mut rows = 0;
    while let Some(piece) = reader.next_piece(1 << 20).unwrap() {
        rows += journal::Entry::decode(&piece).unwrap().mutations.len();
    }
    rows
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_reaped_goes_from_copies_and_is_in_no_base() {
    let mut world = World::new().await;
    world.follower = Some(start_follower(&world.nodes, 5_000));
    // The first pass treats existing data as compacted.
    world.reap().await;
    world.engine.set_default_ttl(&world.collection(), default_ttl(Some(5))).await.unwrap();
    let now_ms = world.engine.now().await.unwrap().ms;
    for id in 0..200 {
        let mut document = doc! { "_id": id };
        if id < 20 {
            document.push("ttl", -1_i64);
        }
        assert!(world.insert(document).await);
    }
    world.engine.move_clock(clock::Instant::from_ms(now_ms + 9_000)).await.unwrap();
    let space = Space::Rows(world.collection().id);
    let base_before = rows_in_base(world.owner.node.tree());
    assert_eq!(rows_in(world.owner.node.tree(), space, KeyRange::all()).await, 200);
    world.reap().await;
    assert_eq!(rows_in(world.owner.node.tree(), space, KeyRange::all()).await, 20);
    assert_eq!(floors_in(world.owner.node.tree()).await, 1);
    let (follower, reaper) = world.follower.as_mut().unwrap();
    assert_eq!(rows_in(follower.node.tree(), space, KeyRange::all()).await, 20);
    let base = rows_in_base(follower.node.tree());
    assert!(base + 180 <= base_before, "{base} of {base_before}");
    // The floors have not changed, so the copy's reaper has nothing to do.
    assert_eq!(reaper.reap_committed(&**follower.node.tree()).await.unwrap(), 0);
    // A copy that has not reaped differs from the owner only in expired rows; a copy that misses a
    // write is reported.
    let late = start(&world.nodes, ClockMode::Manual, 0);
    wait_until_level(&late.node, &world.owner.node);
    let now = world.engine.now().await.unwrap();
    let (late, own) = (late.node, world.owner.node.tree());
    let compared = compare_copies(&**late.tree(), &**own, now).await.unwrap();
    assert_eq!((compared.differences.count, compared.expired), (0, 180), "{compared:?}");
    late.stop();
    assert!(world.insert(doc! { "_id": 1_000, "ttl": -1_i64 }).await);
    let own = world.owner.node.tree();
    let compared = compare_copies(&**late.tree(), &**own, now).await.unwrap();
    assert!(compared.differences.listed.iter().any(|text| text.contains("missing from the copy")));
    assert!(world.replace(1_000, doc! { "_id": 1_000, "ttl": 1_i64 }).await);
    // No expired document reappears under any default TTL, at the next owner either.
    world.change_owner(true).await;
    let now_ms = world.engine.now().await.unwrap().ms;
    world.engine.move_clock(clock::Instant::from_ms(now_ms + 2_000)).await.unwrap();
    world.engine.set_default_ttl(&world.collection(), default_ttl(None)).await.unwrap();
    assert_eq!(world.ids().await, (0..20).collect::<Vec<i64>>());
    // A dropped collection leaves no floors.
    world.follower = Some(start_follower(&world.nodes, 5_000));
    world.reap().await;
    world.engine.drop_collection(Model::Documents, &namespace()).await.unwrap();
    let (follower, reaper) = world.follower.as_mut().unwrap();
    wait_until_level(&follower.node, &world.owner.node);
    assert_eq!(floors_in(follower.node.tree()).await, 0);
    assert_eq!(reaper.reap_committed(&**follower.node.tree()).await.unwrap(), 0);
}
