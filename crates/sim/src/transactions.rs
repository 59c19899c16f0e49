//! Random histories of transactions: several are open while other writers, changes of settings,
//! moves of the clock and the reaper run. The results of each statement are checked against the laws
//! of `docs/ttl.md`, and the committed documents against the model.
//!
//! ```text
//!  a statement returns no document that has expired at its instant
//!  all that a transaction was shown is true together at one instant
//!  the documents that it left out had expired, and were not prolonged
//!  its own writes are live for it
//!  a commit finds all that its writes matched live and unchanged, under unchanged settings
//!  a failure has a reason
//! ```
//!
//! Nothing is held between stamp and publication here, so an operation completes when it is called.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use engine::{CounterState, Engine, Error, Kind, Plan, Record, Rules};
use pipeline::Filter;
use test_kit::{Kit, START_MS, Setup, equal, find_all, ready};

use crate::{
    ParsedDialect,
    model::Model,
    op::{self, Index, Op, Outcome},
    open_transaction::{Base, Checked, Committed, Open},
};

/// Number of steps of a history.
const STEPS: usize = 60;
/// Number of ids. There are few, so that writers conflict.
const IDS: i32 = 5;
/// Maximum number of transactions that are open at the same time.
const MAX_OPEN: usize = 3;
/// Name, path and partiality of each index; the last two may expire documents by a date.
const INDEXES: [(&str, &str, bool); 3] =
    [("v_1", "v", false), ("d_1", "d", false), ("e_1", "e", true)];

struct World {
    kit: Kit,
    committed: Committed,
    open: Vec<Open>,
    passes: u64,
    log: String,
}

/// Runs the history of a seed.
///
/// # Errors
///
/// Returns the first broken law, with all steps so far.
pub fn run_transactions(seed: u64, rules: Rules) -> Result<(), String> {
    let setup = Setup { rules, dialect: Arc::new(ParsedDialect), ..Setup::default() };
    let mut world = World {
        kit: Kit::new(setup),
        committed: Committed { model: Model::new(START_MS), deaths: BTreeMap::new(), epoch: 0 },
        open: Vec::new(),
        passes: 0,
        log: String::new(),
    };
    let mut rng = fastrand::Rng::with_seed(seed);
    let ran = catch_unwind(AssertUnwindSafe(|| world.run_steps(&mut rng)));
    let ran = ran.unwrap_or_else(|_| Err("a panic".to_owned()));
    ran.map_err(|failure| format!("seed {seed}: {failure}\n{}", world.log))
}

/// Returns the record without what writers and the reaper record in passing.
fn settings_of(kit: &Kit) -> Record {
    let mut record = kit.collection().state().record.clone();
    record.indexes.iter_mut().for_each(|index| index.multikey = false);
    let present: Vec<u32> = record.indexes.iter().map(|index| index.id).collect();
    record.settings.dates.retain(|rule| present.contains(&rule.index));
    record.dropped.clear();
    record.counters = CounterState::Off;
    record
}

impl World {
    fn run_steps(&mut self, rng: &mut fastrand::Rng) -> Checked {
        self.change_settings(&Op::SetDefault(Some(rng.i64(2..6))));
        for _ in 0..STEPS {
            self.random_step(rng)?;
            self.check_committed()?;
        }
        Ok(())
    }

    fn record(&mut self, what: &dyn std::fmt::Debug) {
        let ms = self.committed.model.now_ms - START_MS;
        let _ = writeln!(self.log, "  at {ms}: {what:?}");
    }

    fn random_step(&mut self, rng: &mut fastrand::Rng) -> Checked {
        match rng.u8(0..32) {
            0..=2 if self.open.len() < MAX_OPEN => self.begin(),
            3..=9 if !self.open.is_empty() => self.read_in_transaction(rng),
            10..=15 if !self.open.is_empty() => self.write_in_transaction(rng),
            16..=18 if !self.open.is_empty() => self.end_transaction(rng),
            19..=23 => self.move_clock(rng),
            24 => self.change_settings(&random_settings(&self.committed.model, rng)),
            25 => self.reap(),
            26 if rng.u8(0..4) == 0 => self.restart(),
            _ => self.write_outside(rng),
        }
        .map_or_else(|| Ok(()), Err)
    }

    fn begin(&mut self) -> Option<String> {
        let transaction = self.kit.engine.begin_transaction(Default::default());
        let engine = self.kit.engine.in_transaction(&transaction);
        self.record(&("begin", self.open.len()));
        self.open.push(Open::new(transaction, engine));
        None
    }

    /// Applies a change to the model and records which versions die by it.
    fn change_model(&mut self, change: impl FnOnce(&mut Model)) {
        let before: Vec<_> = self
            .committed
            .model
            .live_documents()
            .map(|(id, held)| (*id, held.version, self.committed.model.expiry_of(*id)))
            .collect();
        change(&mut self.committed.model);
        let now_ms = self.committed.model.now_ms;
        for (id, version, expiry) in before {
            if self.committed.model.has_died(id, version) {
                let at = expiry.filter(|expiry| *expiry <= now_ms).unwrap_or(now_ms);
                self.committed.deaths.insert(version, at);
            }
        }
    }

    fn move_clock(&mut self, rng: &mut fastrand::Rng) -> Option<String> {
        let coming = self.committed.model.coming_expirations();
        let now_ms = self.committed.model.now_ms;
        let to = match coming.get(rng.usize(0..=coming.len())) {
            Some(at) if now_ms < at + 1 => (at + rng.i64(-1..2)).max(now_ms),
            _ => now_ms + [1, 400, 1_000, 2_500][rng.usize(0..4)],
        };
        self.record(&("move", to - now_ms));
        self.kit.move_to(to - START_MS);
        self.change_model(|model| model.move_to(to));
        None
    }

    fn change_settings(&mut self, change: &Op) -> Option<String> {
        self.record(change);
        let before = settings_of(&self.kit);
        let engine = self.kit.engine.clone();
        let outcome = ready(change.clone().run_op(engine, self.kit.namespace()));
        self.change_model(|model| drop(model.apply_op(change)));
        self.committed.epoch += usize::from(settings_of(&self.kit) != before);
        (outcome != Outcome::Done).then(|| format!("{change:?}: {outcome:?}"))
    }

    fn reap(&mut self) -> Option<String> {
        self.record(&"reap");
        self.passes += 1;
        let elapsed = std::time::Duration::from_secs(self.passes);
        ready(async {
            self.kit.engine.reap_once(elapsed).await.expect("a pass");
            self.kit.engine.reap_now(&self.kit.collection()).await.expect("reaped");
        });
        None
    }

    fn restart(&mut self) -> Option<String> {
        self.record(&"restart");
        self.open.clear();
        self.kit.restart();
        None
    }

    /// Returns whether a transaction other than this one has written a document and may commit.
    fn is_held(&self, id: i32, except: Option<usize>) -> bool {
        let now_ms = self.committed.model.now_ms;
        self.open.iter().enumerate().any(|(at, open)| {
            Some(at) != except && open.own.contains_key(&id) && !open.is_doomed(now_ms)
        })
    }

    fn write_outside(&mut self, rng: &mut fastrand::Rng) -> Option<String> {
        let id = rng.i32(0..IDS);
        if self.is_held(id, None) {
            return None;
        }
        let write = random_write(&self.committed.model, rng, id);
        self.record(&write);
        let outcome = ready(write.clone().run_op(self.kit.engine.clone(), self.kit.namespace()));
        let mut want = Outcome::Done;
        self.change_model(|model| want = model.apply_op(&write));
        (outcome != want).then(|| format!("{write:?} returned {outcome:?} instead of {want:?}"))
    }

    /// Takes the base of a transaction with its first statement.
    fn take_base(&mut self, at: usize) {
        if self.open[at].base.is_none() {
            let docs = self.committed.model.live_documents();
            let docs = docs.map(|(id, held)| (*id, (held.version, held.body.clone()))).collect();
            let versions = (0..IDS).map(|id| (id, self.committed.model.version_of(id))).collect();
            let (first_ms, epoch) = (self.committed.model.now_ms, self.committed.epoch);
            self.open[at].base = Some(Base { first_ms, docs, versions, epoch });
        }
    }

    fn read_in_transaction(&mut self, rng: &mut fastrand::Rng) -> Option<String> {
        let at = rng.usize(0..self.open.len());
        let only = (rng.u8(0..3) == 0).then(|| rng.i32(0..IDS));
        self.record(&("read", at, only));
        self.take_base(at);
        let filter = only.map_or(Filter::always(), |id| equal("_id", id));
        let (engine, name) = (self.open[at].engine.clone(), self.kit.namespace());
        let found = ready(find_all(engine, name, Plan::new(filter)));
        let ended = ready(self.kit.engine.end_statement(&self.open[at].transaction));
        match found.and_then(|found| ended.map(|()| found)) {
            Ok(found) => self.open[at].check_read(&self.committed, 0..IDS, only, &found).err(),
            Err(error) => self.open.swap_remove(at).failed(&self.committed, &error, None, false),
        }
    }

    fn write_in_transaction(&mut self, rng: &mut fastrand::Rng) -> Option<String> {
        let (at, id) = (rng.usize(0..self.open.len()), rng.i32(0..IDS));
        let write = random_write(&self.committed.model, rng, id);
        self.record(&("write", at, &write));
        self.take_base(at);
        let (engine, name) = (self.open[at].engine.clone(), self.kit.namespace());
        let outcome = ready(run_write(write.clone(), engine, name));
        let ended = ready(self.kit.engine.end_statement(&self.open[at].transaction));
        let outcome = match outcome.and_then(|outcome| ended.map(|()| outcome)) {
            Ok(outcome) => outcome,
            Err(error) if matches!(error.kind, Kind::DuplicateKey { .. }) => {
                self.open.swap_remove(at).transaction.abort();
                return None;
            }
            Err(error) => {
                let open = self.open.swap_remove(at);
                let is_held = self.open.iter().any(|other| other.own.contains_key(&id));
                return open.failed(&self.committed, &error, Some(id), is_held);
            }
        };
        let place = (id, self.is_held(id, Some(at)));
        self.open[at].note_write(&self.committed, place, &write, &outcome).err()
    }

    fn end_transaction(&mut self, rng: &mut fastrand::Rng) -> Option<String> {
        let at = rng.usize(0..self.open.len());
        let commits = rng.u8(0..4) != 0;
        self.record(&("end", at, commits));
        let open = self.open.swap_remove(at);
        if !commits {
            open.transaction.abort();
            return None;
        }
        let committed = ready(self.kit.engine.commit_transaction(&open.transaction, None));
        let Some(base) = &open.base else { return None };
        let is_doomed = open.is_doomed(self.committed.model.now_ms);
        // Others may change a document that was matched and left unchanged, but it must not expire.
        let is_changed = |(id, version, is_written): &(i32, u32, bool)| {
            let held = self.committed.model.live_document(*id).map(|held| held.version);
            held != Some(*version) && (*is_written || self.committed.deaths.contains_key(version))
        };
        let changed: Vec<_> = open.relied.iter().filter(|relied| is_changed(relied)).collect();
        let others = base.epoch != self.committed.epoch;
        match committed {
            Ok(_) if open.own.is_empty() => None,
            Ok(_) if !changed.is_empty() => Some(format!("it relied on {changed:?}")),
            Ok(_) if others => Some("settings changed before its commit".to_owned()),
            Ok(_) => {
                self.change_model(|model| {
                    for (id, body) in open.own {
                        if body.is_none() || open.reborn.contains(&id) {
                            model.apply_op(&Op::Remove { id });
                        }
                        if let Some(body) = body {
                            model.rewrite(body);
                        }
                    }
                });
                None
            }
            Err(_) if others || !changed.is_empty() || is_doomed => None,
            Err(error) => Some(format!("its commit failed without a reason: {error:?}")),
        }
    }

    /// Compares the committed documents with the model.
    fn check_committed(&mut self) -> Checked {
        let (engine, name) = (self.kit.engine.clone(), self.kit.namespace());
        let found = ready(find_all(engine, name, Plan::new(Filter::always())));
        let found = found.map_err(|error| format!("{error:?}"))?;
        let wanted: Vec<_> =
            self.committed.model.live_documents().map(|(_, held)| held.body.clone()).collect();
        if found != wanted {
            return Err(format!("{found:?} instead of {wanted:?}"));
        }
        let amount = self.kit.live_amount();
        match (amount.documents, amount.bytes) == self.committed.model.live_amount() {
            true => Ok(()),
            false => Err(format!("{amount:?} are counted")),
        }
    }
}

/// Runs a write, whose errors are returned.
async fn run_write(write: Op, engine: Engine, name: engine::Namespace) -> Result<Outcome, Error> {
    let collection = engine.expect_collection(engine::Model::Documents, &name)?;
    write.run_in(&engine, &collection).await
}

/// Returns a random write of one document.
fn random_write(model: &Model, rng: &mut fastrand::Rng, id: i32) -> Op {
    let now_ms = model.now_ms;
    // Unlike all other values, so that a replacement always changes the document.
    let mut body = op::random_body(rng, id, now_ms);
    body.push("x", rng.i64(0..i64::MAX));
    match rng.u8(0..10) {
        0 | 1 => Op::Insert(body),
        2..=4 => Op::Replace { body, upsert: rng.bool() },
        5 | 6 => Op::Increment { id },
        7 => Op::Set { id, field: "ttl".into(), value: op::random_ttl(rng) },
        _ => Op::Remove { id },
    }
}

/// Returns a random change of settings.
fn random_settings(model: &Model, rng: &mut fastrand::Rng) -> Op {
    if rng.bool() {
        return Op::SetDefault([None, Some(-1), Some(rng.i64(1..6)), Some(4000)][rng.usize(0..4)]);
    }
    let (name, path, partial) = INDEXES[rng.usize(0..INDEXES.len())];
    let is_dated = name != "v_1";
    match model.indexes.get(name) {
        None => {
            let after = (is_dated && rng.bool()).then(|| rng.i64(0..6));
            Op::CreateIndex { name, index: Index { path, unique: false, partial, after } }
        }
        Some(_) if is_dated && rng.bool() => Op::ChangeIndex { name, after: rng.i64(0..9) },
        Some(_) => Op::DropIndex { name },
    }
}
