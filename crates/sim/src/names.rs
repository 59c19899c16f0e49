//! Random histories of names: collections are created, renamed, replaced and dropped while
//! documents are inserted. Acknowledged documents have to exist under the final name of their
//! collection, and collections disappear only if dropped or replaced.
//!
//! Several operations run concurrently, and there is no model of their order. Therefore only
//! properties are checked that hold in any order: every collection has one name and one id,
//! acknowledged documents are in their collection, no stored data is orphaned, and a restart
//! changes nothing.

use std::collections::{BTreeMap, BTreeSet};

use document::{DocRef, doc};
use engine::{BatchLimit, Engine, Kind, Model, Namespace, Plan};
use pipeline::Filter;
use store::{Space, Store as _};
use test_kit::{Kit, Setup, Task, context, default_ttl, ids_of, insert_one, plain_index, ready};

const STEPS: usize = 60;
/// The names of collections. There are few, so that operations conflict.
const NAMES: [&str; 4] = ["a", "b", "c", "d"];
/// Maximum number of concurrent operations.
const MAX_PENDING: usize = 6;

/// A collection name, one of [`NAMES`].
type Name = &'static str;

#[derive(Clone, Copy, Debug)]
enum NameOp {
    /// Creates the collection if missing.
    Create(Name),
    /// Inserts a document with this id.
    Insert(Name, i32),
    Rename {
        from: Name,
        to: Name,
        replace: bool,
    },
    Drop(Name),
    /// Changes the default TTL in the collection's record, which must not recreate a dropped
    /// collection.
    SetDefault(Name),
    Index(Name),
}

#[derive(Debug)]
enum NameOutcome {
    /// Created the collection with this id.
    Made(u32),
    /// The document with the second number as its id was inserted into the collection with the
    /// first number as its id.
    Inserted(u32, i32),
    Dropped,
    Renamed,
    Nothing,
}

/// Returns the namespace of a name.
fn namespace_of(name: Name) -> Namespace {
    Namespace::new("db", name)
}

/// Executes one operation on the engine.
async fn run_op(op: NameOp, engine: Engine) -> Result<NameOutcome, engine::Error> {
    let model = Model::Documents;
    Ok(match op {
        NameOp::Create(name) => {
            let (made, new) = engine.ensure_collection(model, &namespace_of(name)).await?;
            if new { NameOutcome::Made(made.id) } else { NameOutcome::Nothing }
        }
        NameOp::Insert(name, id) => {
            let (collection, _) = engine.ensure_collection(model, &namespace_of(name)).await?;
            let of = collection.id;
            let inserted = insert_one(engine, collection, doc! { "_id": id }).await?;
            assert_eq!(inserted.count, 1);
            NameOutcome::Inserted(of, id)
        }
        NameOp::Rename { from, to, replace } => {
            engine
                .rename_collection(model, &namespace_of(from), &namespace_of(to), replace)
                .await?;
            NameOutcome::Renamed
        }
        NameOp::Drop(name) => {
            let dropped = engine.drop_collection(model, &namespace_of(name)).await?;
            if dropped { NameOutcome::Dropped } else { NameOutcome::Nothing }
        }
        NameOp::SetDefault(name) => {
            let collection = engine.expect_collection(model, &namespace_of(name))?;
            engine.set_default_ttl(&collection, default_ttl(Some(1_000_000))).await?;
            NameOutcome::Nothing
        }
        NameOp::Index(name) => {
            let collection = engine.expect_collection(model, &namespace_of(name))?;
            engine.create_indexes(&collection, vec![plain_index("v")]).await?;
            NameOutcome::Nothing
        }
    })
}

/// The acknowledged operations on a collection. Other inserts may or may not have taken effect.
#[derive(Debug, Default)]
struct Known {
    /// Documents whose inserts were acknowledged.
    acknowledged: BTreeSet<i32>,
    /// Whether the operation that created this collection was acknowledged. A second creation with
    /// the same id would be an error.
    made: bool,
}

/// The engine and the acknowledged state.
struct NamesWorld {
    kit: Kit,
    /// Operations in progress, which are polled in random order.
    pending: Vec<(NameOp, Task<Result<NameOutcome, engine::Error>>)>,
    /// Acknowledged state of each collection, by id.
    known: BTreeMap<u32, Known>,
    /// Number of operations that may have removed a collection.
    removals: usize,
    /// Ids of documents whose insert has an unknown result.
    doubtful: BTreeSet<i32>,
    /// Whether an operation was abandoned. The next start then has to remove the spaces it created.
    left: bool,
    next_id: i32,
    log: Vec<String>,
}

/// Runs the history of a seed.
///
/// # Errors
///
/// Returns the first violation, with all operations and results so far.
pub fn run_names(seed: u64) -> Result<(), String> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut world = NamesWorld {
        kit: Kit::new(Setup::default()),
        pending: Vec::new(),
        known: BTreeMap::new(),
        removals: 0,
        doubtful: BTreeSet::new(),
        left: false,
        next_id: 0,
        log: Vec::new(),
    };
    let failed = |world: &NamesWorld, failure| {
        let log = world.log.join("\n  ");
        Err(format!("seed {seed}: {failure}\n  {log}"))
    };
    for _ in 0..STEPS {
        if let Err(failure) = world.random_step(&mut rng) {
            return failed(&world, failure);
        }
    }
    match world.finish_all().and_then(|()| world.check_world()) {
        Ok(()) => {}
        Err(failure) => return failed(&world, failure),
    }
    let before = world.names_and_ids();
    world.restart();
    if before != world.names_and_ids() {
        let names = world.names_and_ids();
        return failed(&world, format!("names before the restart {before:?}, after it {names:?}"));
    }
    world.check_world().or_else(|failure| failed(&world, failure))
}

impl NamesWorld {
    fn names_and_ids(&self) -> BTreeMap<Namespace, u32> {
        let all = self.kit.engine.collections(Model::Documents);
        all.into_iter().map(|(name, collection)| (name, collection.id)).collect()
    }

    fn random_op(&mut self, rng: &mut fastrand::Rng) -> NameOp {
        let mut name = || NAMES[rng.usize(0..NAMES.len())];
        let (one, other) = (name(), name());
        match rng.u8(0..16) {
            0..=6 => {
                self.next_id += 1;
                NameOp::Insert(one, self.next_id)
            }
            7 | 8 => NameOp::Create(one),
            9..=11 if one != other => NameOp::Rename { from: one, to: other, replace: rng.bool() },
            12 => NameOp::SetDefault(one),
            13 => NameOp::Index(one),
            _ => NameOp::Drop(one),
        }
    }

    /// Does a random step: starts, continues or abandons an operation, publishes held commits,
    /// resumes a paused read, or restarts.
    fn random_step(&mut self, rng: &mut fastrand::Rng) -> Result<(), String> {
        match rng.u8(0..20) {
            0..=8 if self.pending.len() < MAX_PENDING => {
                let op = self.random_op(rng);
                match rng.u8(0..4) {
                    0 => self.kit.store.gate().shut(),
                    1 => self.kit.store.turnstile().stop_nth(rng.u64(1..6)),
                    _ => {}
                }
                self.log.push(format!("{op:?}"));
                let engine = self.kit.engine.clone();
                self.pending.push((op, Task::new(run_op(op, engine))));
                self.poll_op(self.pending.len() - 1)?;
                self.kit.store.turnstile().disarm();
            }
            9..=15 if !self.pending.is_empty() => self.poll_op(rng.usize(0..self.pending.len()))?,
            16 => self.kit.store.gate().open(),
            17 => self.kit.store.turnstile().open(),
            18 if rng.u8(0..4) == 0 => self.restart(),
            // The client of the operation disconnects. (A store that orders commits on a thread of
            // its own completes a commit that has begun; this memory store abandons it.)
            19 if rng.u8(0..4) == 0 && !self.pending.is_empty() => {
                self.kit.store.gate().open();
                let (op, mut task) = self.pending.remove(rng.usize(0..self.pending.len()));
                if let Some(outcome) = task.poll() {
                    return self.record_outcome(op, outcome);
                }
                self.log.push(format!("nobody waits for {op:?}"));
                drop(task);
                self.left = true;
                self.record_doubt(op);
            }
            _ => {}
        }
        Ok(())
    }

    /// Records that an unfinished operation may or may not have taken effect.
    fn record_doubt(&mut self, op: NameOp) {
        match op {
            NameOp::Insert(_, id) => {
                self.doubtful.insert(id);
            }
            NameOp::Drop(_) | NameOp::Rename { replace: true, .. } => self.removals += 1,
            _ => {}
        }
    }

    /// Kills the process with all operations in progress, and restarts it.
    fn restart(&mut self) {
        self.log.push("restart".into());
        self.kit.store.gate().open();
        self.kit.store.turnstile().open();
        for (op, _) in std::mem::take(&mut self.pending) {
            self.record_doubt(op);
        }
        self.kit.restart();
        self.left = false;
    }

    fn poll_op(&mut self, at: usize) -> Result<(), String> {
        let Some(outcome) = self.pending[at].1.poll() else { return Ok(()) };
        let (op, _) = self.pending.remove(at);
        self.record_outcome(op, outcome)
    }

    /// Records the result of an operation. A name that is missing, or that exists already, is no
    /// error here: another operation may have run before.
    fn record_outcome(
        &mut self,
        op: NameOp,
        outcome: Result<NameOutcome, engine::Error>,
    ) -> Result<(), String> {
        self.log.push(format!("{op:?} returned {outcome:?}"));
        match outcome {
            Ok(NameOutcome::Made(id)) => {
                // Ids are never reused, so a second creation with the same id means that two
                // collections have it.
                let known = self.known.entry(id).or_default();
                if std::mem::replace(&mut known.made, true) {
                    return Err(format!("two collections got the id {id}"));
                }
            }
            Ok(NameOutcome::Inserted(of, id)) => {
                self.known.entry(of).or_default().acknowledged.insert(id);
            }
            Ok(NameOutcome::Dropped | NameOutcome::Renamed) => self.record_doubt(op),
            Ok(NameOutcome::Nothing) => {}
            Err(error) => match error.kind {
                Kind::NotFound(_) | Kind::Exists(_) => {}
                _ => return Err(format!("{op:?}: {error}")),
            },
        }
        Ok(())
    }

    fn finish_all(&mut self) -> Result<(), String> {
        self.kit.store.gate().open();
        self.kit.store.turnstile().open();
        // More rounds than any chain of operations waiting for each other.
        for _ in 0..10_000 {
            if self.pending.is_empty() {
                return Ok(());
            }
            for at in (0..self.pending.len()).rev() {
                self.poll_op(at)?;
            }
        }
        Err(format!("{} operations never end", self.pending.len()))
    }

    /// Compares the state of the engine with all acknowledged results. No operation may be in
    /// progress.
    fn check_world(&self) -> Result<(), String> {
        let names = self.names_and_ids();
        // Every name must refer to a collection of its own.
        let there: BTreeSet<u32> = names.values().copied().collect();
        if there.len() != names.len() {
            return Err(format!("a collection has two names: {names:?}"));
        }
        // Operations may have run under a name before or after it was renamed, so only the number
        // of removed collections is known, not which ones.
        let lost = self.known.keys().filter(|id| !there.contains(id)).count();
        if self.removals < lost {
            let removals = self.removals;
            return Err(format!(
                "{lost} collections do not exist, but operations removed only {removals}: {names:?}"
            ));
        }
        for (name, id) in &names {
            let found = self.found_ids(name);
            let known = self.known.get(id).map(|known| &known.acknowledged);
            let missing: Vec<_> =
                known.into_iter().flatten().filter(|id| !found.contains(id)).collect();
            if !missing.is_empty() {
                return Err(format!("{name} lacks {missing:?}"));
            }
            let acknowledged = |id: &i32| known.is_some_and(|known| known.contains(id));
            if let Some(id) =
                found.iter().find(|id| !acknowledged(id) && !self.doubtful.contains(id))
            {
                return Err(format!("{name} has {id}, which was never inserted there"));
            }
            let collection = self
                .kit
                .engine
                .expect_collection(Model::Documents, name)
                .map_err(|e| e.to_string())?;
            let checked =
                ready(self.kit.engine.check_collection(&collection)).map_err(|e| e.to_string())?;
            if !checked.differences.listed.is_empty() {
                return Err(format!("{name}: {:?}", checked.differences.listed));
            }
        }
        for space in self.kit.store.all_spaces() {
            if let Space::Rows(id) | Space::Index(id) = space
                // An abandoned creation leaves spaces, which the next start removes.
                && !self.left
                && !there.contains(&id)
            {
                return Err(format!("space {} belongs to nobody", space.name()));
            }
        }
        Ok(())
    }

    /// Returns the ids of the documents under a name.
    fn found_ids(&self, name: &Namespace) -> BTreeSet<i32> {
        let plan = Plan::new(Filter::always());
        let cursor = self.kit.engine.begin_query(Model::Documents, name, plan, context());
        let all = BatchLimit { documents: usize::MAX, bytes: usize::MAX };
        let batch = ready(cursor.expect("a cursor").next_batch(all)).expect("a batch");
        let trees: Vec<_> =
            batch.documents.iter().map(|bytes| DocRef::Raw(bytes).to_tree()).collect();
        ids_of(&trees).into_iter().filter_map(|id| i32::try_from(id).ok()).collect()
    }
}
