//! One random history: its operations, their order, and their interleaving.
//!
//! A step does one thing: an operation, a read, a move of the clock, a pass of the reaper, a
//! restart, the next batch of a cursor. At any time at most one operation is held between the stamp
//! and the publication of its commit, and at most one is paused within a read. After every step one
//! random read path is checked, and at the end all paths.

use std::{
    fmt::Write as _,
    panic::{AssertUnwindSafe, catch_unwind},
};

use document::Value;
use engine::Rules;

use crate::{
    model::Model,
    op::{self, Index, Op},
    path::Path,
    world::{StopPoint, World},
};

/// Number of steps of a history. Short histories are easier to read after a failure, and there are
/// thousands of seeds.
const STEPS: usize = 30;
/// Number of ids. There are few, so that operations conflict.
const IDS: i32 = 5;

/// Name, path, uniqueness and partiality of each index. The indexes on `d` and `e` may expire
/// documents by a date.
const INDEXES: [(&str, &str, bool, bool); 5] = [
    ("v_1", "v", false, false),
    ("u_1", "u", true, false),
    ("d_1", "d", false, false),
    ("e_1", "e", false, true),
    ("t_1", "t", false, false),
];

/// Log of the steps, one line each, for the report of a failure.
#[derive(Debug, Default)]
struct Log(String);

impl Log {
    /// Records the next step, with the database time since the start.
    fn record_step(&mut self, model: &Model, what: &dyn std::fmt::Debug) {
        let ms = model.now_ms - test_kit::START_MS;
        let _ = writeln!(self.0, "  at {ms}: {what:?}");
    }
}

/// Runs the history of a seed.
///
/// # Errors
///
/// Returns the first mismatch, with all steps so far and their times, so that the history can be
/// read without running it again.
pub fn run_history(seed: u64, rules: Rules) -> Result<(), String> {
    let mut log = Log::default();
    run_steps(seed, rules, &mut log).map_err(|failure| format!("seed {seed}: {failure}\n{}", log.0))
}

/// Runs a history as `run_history` does, but reports a panic as a failure.
pub fn run_caught(seed: u64, rules: Rules) -> Result<(), String> {
    catch_unwind(AssertUnwindSafe(|| run_history(seed, rules)))
        .unwrap_or_else(|_| Err(format!("seed {seed}: a panic")))
}

/// Runs the history; records its steps in `log`.
fn run_steps(seed: u64, rules: Rules, log: &mut Log) -> Result<(), String> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut world = World::new(rules);
    if rng.bool() {
        let default = Some(rng.i64(1..6));
        world.operate(Op::SetDefault(default), StopPoint::Through)?;
        log.record_step(&world.model, &Op::SetDefault(default));
    }
    for _ in 0..STEPS {
        random_step(&mut world, &mut rng, log)?;
        if !world.is_held() {
            let path = Path::random_path(&mut rng, &world.model, IDS);
            world.look(path, StopPoint::Through)?;
        }
    }
    log.record_step(&world.model, &"the end");
    world.let_go()?;
    world.open_gate()?;
    world.read_everywhere(IDS)
}

fn random_step(world: &mut World, rng: &mut fastrand::Rng, log: &mut Log) -> Result<(), String> {
    match rng.u8(0..32) {
        0..=12 => operate_step(world, rng, log),
        13..=18 => {
            let to = later_instant(&world.model, rng);
            log.record_step(&world.model, &("move", to - world.model.now_ms));
            world.move_to(to);
            Ok(())
        }
        19..=21 if world.is_held() => {
            log.record_step(&world.model, &"publish");
            world.open_gate()
        }
        19..=21 if world.has_stopped() => {
            log.record_step(&world.model, &"let go");
            world.let_go()
        }
        22..=24 if world.has_stopped() => {
            log.record_step(&world.model, &"let go");
            world.let_go()
        }
        25 | 26 => {
            log.record_step(&world.model, &"reap");
            world.reap()
        }
        27 => {
            log.record_step(&world.model, &"restart");
            world.restart()
        }
        28..=30 if !world.is_held() => cursor_step(world, rng, log),
        _ => read_step(world, rng, log),
    }
}

/// Reads the next batch of an existing or new cursor.
fn cursor_step(world: &mut World, rng: &mut fastrand::Rng, log: &mut Log) -> Result<(), String> {
    if world.cursor_count() == 0 || rng.u8(0..4) == 0 {
        let sorted = rng.bool();
        log.record_step(&world.model, &("cursor", sorted));
        world.open_cursor(sorted);
    }
    let which = rng.usize(0..world.cursor_count());
    log.record_step(&world.model, &("next batch of cursor", which));
    world.next_batch(which, rng.usize(1..3))
}

/// Reads along a random path. The read may be stopped after it has opened its view.
fn read_step(world: &mut World, rng: &mut fastrand::Rng, log: &mut Log) -> Result<(), String> {
    let path = Path::random_path(rng, &world.model, IDS);
    let stop = !world.is_held() && !world.has_stopped() && rng.bool();
    let how = if stop { StopPoint::Stopped(rng.u64(1..4)) } else { StopPoint::Through };
    log.record_step(&world.model, &(&path, how));
    world.look(path, how)
}

/// Performs a random operation, which may be held before publication or paused at a read.
fn operate_step(world: &mut World, rng: &mut fastrand::Rng, log: &mut Log) -> Result<(), String> {
    let op = random_op(world, rng);
    let free = !world.is_held() && world.under_way() < 4;
    // Multi-document writes commit document by document, which the model cannot do, so no other
    // operation may be in progress.
    if !op.is_single() && (!free || world.under_way() != 0) {
        return Ok(());
    }
    // The model would not know the order of two concurrent changes of settings.
    if op.is_settings() && world.changes_settings() {
        return Ok(());
    }
    // The first array in an indexed field is recorded by a commit of its own; the gate would hold
    // that commit instead of the write's.
    let arrays = world.notes_arrays(&op);
    let how = match rng.u8(0..8) {
        0 | 1 if free && op.is_single() && !arrays => StopPoint::Held,
        2 | 3 if free && op.is_single() && !world.has_stopped() => {
            StopPoint::Stopped(rng.u64(1..5))
        }
        _ => StopPoint::Through,
    };
    log.record_step(&world.model, &(&op, how));
    world.operate(op, how)
}

fn random_op(world: &World, rng: &mut fastrand::Rng) -> Op {
    let (id, now_ms) = (rng.i32(0..IDS), world.model.now_ms);
    match rng.u8(0..30) {
        0..=6 => Op::Insert(op::random_body(rng, id, now_ms)),
        7..=9 => Op::Replace { body: op::random_body(rng, id, now_ms), upsert: rng.bool() },
        10..=12 => Op::Increment { id },
        13 => Op::Set { id, field: "v".into(), value: Some(Value::Int32(rng.i32(0..3))) },
        14 => Op::Set { id, field: "ttl".into(), value: op::random_ttl(rng) },
        15 => Op::Set { id, field: "d".into(), value: Some(op::random_date(rng, now_ms)) },
        16 => Op::FindAndReplace(op::random_body(rng, id, now_ms)),
        17 => Op::FindAndRemove { id },
        18 | 19 => Op::Remove { id },
        20 => Op::UpdateMany { v: rng.i32(0..3) },
        21 => Op::RemoveMany { v: rng.i32(0..3) },
        22..=24 => {
            Op::SetDefault([None, Some(-1), Some(rng.i64(1..6)), Some(4000)][rng.usize(0..4)])
        }
        _ => index_op(&world.model, rng),
    }
}

/// Returns a change of a random index: creation if missing, else change or drop.
fn index_op(model: &Model, rng: &mut fastrand::Rng) -> Op {
    let (name, path, unique, partial) = INDEXES[rng.usize(0..INDEXES.len())];
    let dates = matches!(name, "d_1" | "e_1");
    match model.indexes.get(name) {
        None => {
            let after = (dates && rng.u8(0..3) != 0).then(|| rng.i64(0..6));
            Op::CreateIndex { name, index: Index { path, unique, partial, after } }
        }
        Some(_) if dates && rng.bool() => Op::ChangeIndex { name, after: rng.i64(0..9) },
        Some(_) => Op::DropIndex { name },
    }
}

/// Returns a later instant. With a probability of two thirds it is within a millisecond of an
/// expiration, where errors are most likely.
fn later_instant(model: &Model, rng: &mut fastrand::Rng) -> i64 {
    let deadlines = model.coming_expirations();
    if rng.u8(0..3) != 0 && !deadlines.is_empty() {
        let at = deadlines[rng.usize(0..deadlines.len())] + rng.i64(-1..2);
        if model.now_ms < at {
            return at;
        }
    }
    model.now_ms + [1, 250, 999, 1_000, 2_500][rng.usize(0..5)]
}
