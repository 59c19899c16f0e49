//! Random histories of names: collections are made, renamed, replaced and dropped at the same time
//! as documents are inserted. What was acknowledged is there under whatever name its collection has
//! in the end, and a collection goes only when somebody dropped or replaced it.

use std::collections::{BTreeMap, BTreeSet};

use document::{DocRef, doc};
use engine::{BatchLimit, Engine, Kind, Model, Namespace, Plan};
use pipeline::Filter;
use store::{Space, Store as _};
use test_kit::{Kit, PausingStore, Setup, Task, context, default_ttl, ids, index, insert, ready};

const STEPS: usize = 60;
const NAMES: [&str; 4] = ["a", "b", "c", "d"];
const MOST_UNDER_WAY: usize = 6;

type Name = &'static str;

#[derive(Clone, Copy, Debug)]
enum Op {
    Create(Name),
    Insert(Name, i32),
    Rename { from: Name, to: Name, replace: bool },
    Drop(Name),
    SetDefault(Name),
    Index(Name),
}

/// What the caller of an operation is told.
#[derive(Debug)]
enum Told {
    Made(u32),
    /// The collection that has the document.
    Inserted(u32, i32),
    Dropped,
    Renamed,
    Nothing,
}

fn namespace(name: Name) -> Namespace {
    Namespace::new("db", name)
}

async fn run(op: Op, engine: Engine<PausingStore>) -> Result<Told, engine::Error> {
    let model = Model::Documents;
    Ok(match op {
        Op::Create(name) => {
            let (made, new) = engine.ensure(model, &namespace(name)).await?;
            if new { Told::Made(made.id) } else { Told::Nothing }
        }
        Op::Insert(name, id) => {
            let (collection, _) = engine.ensure(model, &namespace(name)).await?;
            let of = collection.id;
            let inserted = insert(engine, collection, doc! { "_id": id }).await?;
            assert_eq!(inserted.count, 1);
            Told::Inserted(of, id)
        }
        Op::Rename { from, to, replace } => {
            engine.rename(model, &namespace(from), &namespace(to), replace).await?;
            Told::Renamed
        }
        Op::Drop(name) => {
            let dropped = engine.drop_collection(model, &namespace(name)).await?;
            if dropped { Told::Dropped } else { Told::Nothing }
        }
        Op::SetDefault(name) => {
            let collection = engine.expect(model, &namespace(name))?;
            engine.set_default_ttl(&collection, default_ttl(Some(1_000_000))).await?;
            Told::Nothing
        }
        Op::Index(name) => {
            let collection = engine.expect(model, &namespace(name))?;
            engine.create_indexes(&collection, vec![index("v")]).await?;
            Told::Nothing
        }
    })
}

/// What is known of a collection.
#[derive(Debug, Default)]
struct Known {
    /// Documents whose inserts were acknowledged.
    acknowledged: BTreeSet<i32>,
    made: bool,
}

struct World {
    kit: Kit,
    under: Vec<(Op, Task<Result<Told, engine::Error>>)>,
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
pub fn run_names(seed: u64) -> Result<(), String> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut world = World {
        kit: Kit::new(Setup::default()),
        under: Vec::new(),
        known: BTreeMap::new(),
        takers: 0,
        doubtful: BTreeSet::new(),
        left: false,
        next_id: 0,
        log: Vec::new(),
    };
    let failed = |world: &World, failure| {
        let log = world.log.join("\n  ");
        Err(format!("seed {seed}: {failure}\n  {log}"))
    };
    for _ in 0..STEPS {
        if let Err(failure) = world.step(&mut rng) {
            return failed(&world, failure);
        }
    }
    match world.finish().and_then(|()| world.check()) {
        Ok(()) => {}
        Err(failure) => return failed(&world, failure),
    }
    let before = world.names();
    world.restart();
    if before != world.names() {
        let names = world.names();
        return failed(&world, format!("before a start {before:?}, behind it {names:?}"));
    }
    world.check().or_else(|failure| failed(&world, failure))
}

impl World {
    fn names(&self) -> BTreeMap<Namespace, u32> {
        let all = self.kit.engine.collections(Model::Documents);
        all.into_iter().map(|(name, collection)| (name, collection.id)).collect()
    }

    fn random_op(&mut self, rng: &mut fastrand::Rng) -> Op {
        let mut name = || NAMES[rng.usize(0..NAMES.len())];
        let (one, other) = (name(), name());
        match rng.u8(0..16) {
            0..=6 => {
                self.next_id += 1;
                Op::Insert(one, self.next_id)
            }
            7 | 8 => Op::Create(one),
            9..=11 if one != other => Op::Rename { from: one, to: other, replace: rng.bool() },
            12 => Op::SetDefault(one),
            13 => Op::Index(one),
            _ => Op::Drop(one),
        }
    }

    fn step(&mut self, rng: &mut fastrand::Rng) -> Result<(), String> {
        match rng.u8(0..20) {
            0..=8 if self.under.len() < MOST_UNDER_WAY => {
                let op = self.random_op(rng);
                match rng.u8(0..4) {
                    0 => self.kit.store.gate().shut(),
                    1 => self.kit.store.turnstile().stop(rng.u64(1..6)),
                    _ => {}
                }
                self.log.push(format!("{op:?}"));
                let engine = self.kit.engine.clone();
                self.under.push((op, Task::new(run(op, engine))));
                self.poll(self.under.len() - 1)?;
                self.kit.store.turnstile().disarm();
            }
            9..=15 if !self.under.is_empty() => self.poll(rng.usize(0..self.under.len()))?,
            16 => self.kit.store.gate().open(),
            17 => self.kit.store.turnstile().open(),
            18 if rng.u8(0..4) == 0 => self.restart(),
            // Its client leaves. (A commit that has begun goes on without its asker in a store that
            // orders on a thread of its own, but not in this one.)
            19 if rng.u8(0..4) == 0 && !self.under.is_empty() => {
                self.kit.store.gate().open();
                let (op, mut task) = self.under.remove(rng.usize(0..self.under.len()));
                if let Some(told) = task.poll() {
                    return self.told(op, told);
                }
                self.log.push(format!("nobody waits for {op:?}"));
                drop(task);
                self.left = true;
                self.doubt(op);
            }
            _ => {}
        }
        Ok(())
    }

    fn doubt(&mut self, op: Op) {
        match op {
            Op::Insert(_, id) => {
                self.doubtful.insert(id);
            }
            Op::Drop(_) | Op::Rename { replace: true, .. } => self.takers += 1,
            _ => {}
        }
    }

    fn restart(&mut self) {
        self.log.push("restart".into());
        self.kit.store.gate().open();
        self.kit.store.turnstile().open();
        for (op, _) in std::mem::take(&mut self.under) {
            self.doubt(op);
        }
        self.kit.restart();
        self.left = false;
    }

    fn poll(&mut self, at: usize) -> Result<(), String> {
        let Some(told) = self.under[at].1.poll() else { return Ok(()) };
        let (op, _) = self.under.remove(at);
        self.told(op, told)
    }

    fn told(&mut self, op: Op, told: Result<Told, engine::Error>) -> Result<(), String> {
        self.log.push(format!("{op:?} is told {told:?}"));
        match told {
            Ok(Told::Made(id)) => {
                let known = self.known.entry(id).or_default();
                if std::mem::replace(&mut known.made, true) {
                    return Err(format!("two collections got the id {id}"));
                }
            }
            Ok(Told::Inserted(of, id)) => {
                self.known.entry(of).or_default().acknowledged.insert(id);
            }
            Ok(Told::Dropped | Told::Renamed) => self.doubt(op),
            Ok(Told::Nothing) => {}
            Err(error) => match error.kind {
                Kind::NotFound(_) | Kind::Exists(_) => {}
                _ => return Err(format!("{op:?}: {error}")),
            },
        }
        Ok(())
    }

    /// Lets everything end.
    fn finish(&mut self) -> Result<(), String> {
        self.kit.store.gate().open();
        self.kit.store.turnstile().open();
        for _ in 0..10_000 {
            if self.under.is_empty() {
                return Ok(());
            }
            for at in (0..self.under.len()).rev() {
                self.poll(at)?;
            }
        }
        Err(format!("{} operations wait for ever", self.under.len()))
    }

    fn check(&self) -> Result<(), String> {
        let names = self.names();
        let alive: BTreeSet<u32> = names.values().copied().collect();
        if alive.len() != names.len() {
            return Err(format!("a collection has two names: {names:?}"));
        }
        let lost = self.known.keys().filter(|id| !alive.contains(id)).count();
        if self.takers < lost {
            let takers = self.takers;
            return Err(format!(
                "{lost} collections are gone, {takers} were taken away: {names:?}"
            ));
        }
        for (name, id) in &names {
            let found = self.found(name);
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
            let collection =
                self.kit.engine.expect(Model::Documents, name).map_err(|e| e.to_string())?;
            let checked = ready(self.kit.engine.check(&collection)).map_err(|e| e.to_string())?;
            if !checked.differences.is_empty() {
                return Err(format!("{name}: {:?}", checked.differences));
            }
        }
        for space in self.kit.store.spaces() {
            if let Space::Rows(id) | Space::Index(id) = space
                && !self.left
                && !alive.contains(&id)
            {
                return Err(format!("space {} belongs to nobody", space.name()));
            }
        }
        Ok(())
    }

    fn found(&self, name: &Namespace) -> BTreeSet<i32> {
        let plan = Plan::new(Filter::always());
        let cursor = self.kit.engine.query(Model::Documents, name, plan, context());
        let all = BatchLimit { documents: usize::MAX, bytes: usize::MAX };
        let batch = ready(cursor.expect("a cursor").next(all)).expect("a batch");
        let trees: Vec<_> =
            batch.documents.iter().map(|bytes| DocRef::Raw(bytes).to_tree()).collect();
        ids(&trees).into_iter().filter_map(|id| i32::try_from(id).ok()).collect()
    }
}
