//! Documents with a time to live over many owners: random histories against a model. What has expired
//! is gone at its second on whichever node, and stays gone, whoever becomes the owner.

use std::{collections::BTreeMap, future::Future, pin::Pin, sync::Arc};

use clock::{Checkpoint, ClockMode};
use document::{DocBuf, Document, doc};
use engine::{
    BatchLimit, Engine, Find, ListOrdering, Model, Namespace, Options, Persist, Plan, Update,
};
use expiry::Lifetime;
use fastrand::Rng;
use pipeline::{Filter, edit::Edit};
use store::laws::ManualTime;
use store_shared::ShardClock;
use test_kit::{Setup, TtlField, context, default_ttl, equal, ids_of};

use crate::{
    clocks::{Timed, start},
    nodes::Nodes,
    owned::Owned,
};

/// Histories, and operations of each.
const HISTORIES: u64 = 3;
const OPERATIONS: usize = 80;

/// Moves are carried by beats.
struct ByBeat(Arc<ShardClock>);

impl Persist for ByBeat {
    fn persist_checkpoint(
        &self,
        checkpoint: Checkpoint,
    ) -> Pin<Box<dyn Future<Output = bool> + Send + '_>> {
        Box::pin(self.0.persist(checkpoint))
    }
}

/// What should be there: each document with the second it was written in and its own `ttl`.
#[derive(Default)]
struct Shown {
    documents: BTreeMap<i64, (i64, Option<i64>)>,
    default: Option<i64>,
    now_s: i64,
}

impl Shown {
    /// What has expired by now is gone for good.
    fn expire(&mut self) {
        let (now, default) = (self.now_s, self.default);
        self.documents.retain(|_, (written, ttl)| match ttl.or(default) {
            // Without a default `ttl` does not count, and -1 is never.
            _ if default.is_none() => true,
            None | Some(-1) => true,
            Some(seconds) => now < *written + seconds,
        });
    }
}

/// The owner, its engine, and who follows.
struct World {
    nodes: Nodes,
    owner: Owned,
    clock: Arc<ShardClock>,
    engine: Engine<Owned>,
    follower: Option<Timed>,
}

fn namespace() -> Namespace {
    Namespace::new("db", "c")
}

/// Opens an engine on a node once it serves.
async fn open(nodes: &Nodes, timed: Timed) -> (Owned, Arc<ShardClock>, Engine<Owned>) {
    nodes.take_over(&timed.node);
    let Timed { node, machine, clock } = timed;
    let owned = Owned::new(node, machine);
    let current = clock.current().unwrap();
    let persist = Arc::new(ByBeat(Arc::clone(&clock)));
    let options = Options::new(current, Setup::default().dialect, persist);
    let engine = Engine::open(owned.clone(), options).await.unwrap();
    engine.resume_builds().await.unwrap();
    (owned, clock, engine)
}

impl World {
    async fn new() -> Self {
        let nodes = Nodes::new(ManualTime::default());
        let first = start(&nodes, ClockMode::Manual, 0);
        let (owner, clock, engine) = open(&nodes, first).await;
        engine.ensure_collection(Model::Documents, &namespace()).await.unwrap();
        Self { nodes, owner, clock, engine, follower: None }
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

    /// Another node becomes the owner: by a word, or because this one is killed.
    async fn change_owner(&mut self, by_word: bool) {
        let next = self.follower.take();
        let next = next.unwrap_or_else(|| start(&self.nodes, ClockMode::Manual, 5_000));
        match by_word {
            true => self.owner.node.hand_over(),
            false => self.owner.node.stop(),
        }
        let (owner, clock, engine) = open(&self.nodes, next).await;
        let former = std::mem::replace(&mut self.engine, engine);
        (self.owner, self.clock) = (owner, clock);
        // The former owner's engine shows nothing any more. That of a killed one is not asked: its
        // time has run out, and nobody renews it.
        if by_word {
            let ended = former.now().await.map_err(|error| error.kind);
            assert_eq!(ended, Err(engine::Kind::Moved));
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
            16 => {
                self.engine.reap_now(&self.collection()).await.unwrap();
            }
            17 => self.follower = Some(start(&self.nodes, ClockMode::Manual, -5_000)),
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
