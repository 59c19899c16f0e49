//! Random histories of names: collections are made, renamed, replaced and dropped at the same time
//! as documents are inserted. What was acknowledged is there under whatever name its collection has
//! in the end, and a collection goes only when somebody dropped or replaced it.
//!
//! There is no model of the order here, since several operations are under way at once; what is
//! checked is what has to hold in any order: every collection has one name and one id, acknowledged
//! documents are in their collection, no space belongs to nobody, and a restart changes nothing.

use std::collections::{BTreeMap, BTreeSet};

use document::{DocRef, doc};
use engine::{BatchLimit, Engine, Kind, Model, Namespace, Plan};
use pipeline::Filter;
use store::{Space, Store as _};
use test_kit::{
    Kit, PausingStore, Setup, Task, context, default_ttl, ids_of, insert_one, plain_index, ready,
};

/// Of one history.
const STEPS: usize = 60;
/// Few, so that operations meet.
const NAMES: [&str; 4] = ["a", "b", "c", "d"];
/// Operations at once.
const MOST_UNDER_WAY: usize = 6;

/// One of [`NAMES`].
type Name = &'static str;

/// What is done.
#[derive(Clone, Copy, Debug)]
enum NameOp {
    /// Makes the collection where it is missing.
    Create(Name),
    /// Inserts a document with this id.
    Insert(Name, i32),
    Rename {
        from: Name,
        to: Name,
        replace: bool,
    },
    /// Drops the collection.
    Drop(Name),
    /// Changes its record: a change that must not bring a dropped collection back.
    SetDefault(Name),
    /// Makes an index.
    Index(Name),
}

/// What the caller of an operation is told.
#[derive(Debug)]
enum NameOutcome {
    /// The collection with this id was made.
    Made(u32),
    /// The collection that has the document.
    Inserted(u32, i32),
    Dropped,
    /// It has the new name.
    Renamed,
    /// There was nothing to do.
    Nothing,
}

/// A collection's name in the one database.
fn namespace_of(name: Name) -> Namespace {
    Namespace::new("db", name)
}

/// Does one operation.
async fn run_op(op: NameOp, engine: Engine<PausingStore>) -> Result<NameOutcome, engine::Error> {
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

/// What is known of a collection.
/// Only what was acknowledged counts: an insert that nobody heard of may be there or not.
#[derive(Debug, Default)]
struct Known {
    /// Documents whose inserts were acknowledged.
    acknowledged: BTreeSet<i32>,
    /// Somebody was told that it made this collection; two would be wrong.
    made: bool,
}

/// The engine and what was acknowledged.
struct NamesWorld {
    kit: Kit,
    /// Operations under way, polled in random order.
    under: Vec<(NameOp, Task<Result<NameOutcome, engine::Error>>)>,
    /// By the collection's id.
    known: BTreeMap<u32, Known>,
    /// Operations that may have taken a collection away.
    takers: usize,
    /// Documents of inserts that nobody waited for to the end.
    doubtful: BTreeSet<i32>,
    /// Somebody left in the middle of an operation: what it made goes at the next start.
    left: bool,
    next_id: i32,
    log: Vec<String>,
}

/// Runs the history of a seed; on failure tells what was done.
///
/// # Errors
///
/// What does not hold, with everything that was done and told up to there.
pub fn run_names(seed: u64) -> Result<(), String> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut world = NamesWorld {
        kit: Kit::new(Setup::default()),
        under: Vec::new(),
        known: BTreeMap::new(),
        takers: 0,
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
        return failed(&world, format!("before a start {before:?}, behind it {names:?}"));
    }
    world.check_world().or_else(|failure| failed(&world, failure))
}

impl NamesWorld {
    /// What there is now.
    fn names_and_ids(&self) -> BTreeMap<Namespace, u32> {
        let all = self.kit.engine.collections(Model::Documents);
        all.into_iter().map(|(name, collection)| (name, collection.id)).collect()
    }

    /// An operation, with the odds of each kind.
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

    /// Begins an operation, lets one go on, opens a gate, restarts, or has a client leave.
    fn random_step(&mut self, rng: &mut fastrand::Rng) -> Result<(), String> {
        match rng.u8(0..20) {
            0..=8 if self.under.len() < MOST_UNDER_WAY => {
                let op = self.random_op(rng);
                match rng.u8(0..4) {
                    0 => self.kit.store.gate().shut(),
                    1 => self.kit.store.turnstile().stop_nth(rng.u64(1..6)),
                    _ => {}
                }
                self.log.push(format!("{op:?}"));
                let engine = self.kit.engine.clone();
                self.under.push((op, Task::new(run_op(op, engine))));
                self.poll_op(self.under.len() - 1)?;
                self.kit.store.turnstile().disarm();
            }
            9..=15 if !self.under.is_empty() => self.poll_op(rng.usize(0..self.under.len()))?,
            16 => self.kit.store.gate().open(),
            17 => self.kit.store.turnstile().open(),
            18 if rng.u8(0..4) == 0 => self.restart(),
            // Its client leaves. (A commit that has begun goes on without its asker in a store that
            // orders on a thread of its own, but not in this one.)
            19 if rng.u8(0..4) == 0 && !self.under.is_empty() => {
                self.kit.store.gate().open();
                let (op, mut task) = self.under.remove(rng.usize(0..self.under.len()));
                if let Some(told) = task.poll() {
                    return self.note_outcome(op, told);
                }
                self.log.push(format!("nobody waits for {op:?}"));
                drop(task);
                self.left = true;
                self.note_doubt(op);
            }
            _ => {}
        }
        Ok(())
    }

    /// Nobody knows whether it took place: both are right from now on.
    fn note_doubt(&mut self, op: NameOp) {
        match op {
            NameOp::Insert(_, id) => {
                self.doubtful.insert(id);
            }
            NameOp::Drop(_) | NameOp::Rename { replace: true, .. } => self.takers += 1,
            _ => {}
        }
    }

    /// Ends the process with all that is under way, and starts it again.
    fn restart(&mut self) {
        self.log.push("restart".into());
        self.kit.store.gate().open();
        self.kit.store.turnstile().open();
        for (op, _) in std::mem::take(&mut self.under) {
            self.note_doubt(op);
        }
        self.kit.restart();
        self.left = false;
    }

    /// Takes an operation one step further.
    fn poll_op(&mut self, at: usize) -> Result<(), String> {
        let Some(told) = self.under[at].1.poll() else { return Ok(()) };
        let (op, _) = self.under.remove(at);
        self.note_outcome(op, told)
    }

    /// Notes what the caller was told. Not to find a name, or to find it taken, is no failure here:
    /// another operation came first.
    fn note_outcome(
        &mut self,
        op: NameOp,
        told: Result<NameOutcome, engine::Error>,
    ) -> Result<(), String> {
        self.log.push(format!("{op:?} is told {told:?}"));
        match told {
            Ok(NameOutcome::Made(id)) => {
                // Ids are given once, so a second "made" with the same id is a second collection in
                // its place.
                let known = self.known.entry(id).or_default();
                if std::mem::replace(&mut known.made, true) {
                    return Err(format!("two collections got the id {id}"));
                }
            }
            Ok(NameOutcome::Inserted(of, id)) => {
                self.known.entry(of).or_default().acknowledged.insert(id);
            }
            Ok(NameOutcome::Dropped | NameOutcome::Renamed) => self.note_doubt(op),
            Ok(NameOutcome::Nothing) => {}
            Err(error) => match error.kind {
                Kind::NotFound(_) | Kind::Exists(_) => {}
                _ => return Err(format!("{op:?}: {error}")),
            },
        }
        Ok(())
    }

    /// Lets everything end.
    fn finish_all(&mut self) -> Result<(), String> {
        self.kit.store.gate().open();
        self.kit.store.turnstile().open();
        // More rounds than any chain of operations that wait for each other.
        for _ in 0..10_000 {
            if self.under.is_empty() {
                return Ok(());
            }
            for at in (0..self.under.len()).rev() {
                self.poll_op(at)?;
            }
        }
        Err(format!("{} operations wait for ever", self.under.len()))
    }

    /// Compares what is there with what was acknowledged; nothing is under way.
    fn check_world(&self) -> Result<(), String> {
        let names = self.names_and_ids();
        // Two names with one id would be one collection under both.
        let there: BTreeSet<u32> = names.values().copied().collect();
        if there.len() != names.len() {
            return Err(format!("a collection has two names: {names:?}"));
        }
        // Who took which one away is not known, since names moved meanwhile; the number is.
        let lost = self.known.keys().filter(|id| !there.contains(id)).count();
        if self.takers < lost {
            let takers = self.takers;
            return Err(format!(
                "{lost} collections are gone, {takers} were taken away: {names:?}"
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
                // A client that left in the middle of a creation leaves spaces, which the next
                // start removes.
                && !self.left
                && !there.contains(&id)
            {
                return Err(format!("space {} belongs to nobody", space.name()));
            }
        }
        Ok(())
    }

    /// Ids of the documents under a name.
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
