//! A process that writes, drops, creates, reaps and reads is killed repeatedly. Data that it
//! reported as durable must exist afterwards, and nothing else except data of its last step.
//!
//! Every step is a function of its number and of the previous state, so that this process and the
//! killed one have the same model. Budgets are so small that the store flushes, compacts and
//! truncates its journal all the time.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Command, Stdio},
    sync::mpsc,
    time::Duration,
};

use store::{
    Commit, Direction, KeyRange, Limit, Mutation, Snapshot, Space, Store, laws::ManualTime,
};
use store_tree::{TreeOptions, TreeStore};

/// Marks the process to be killed: seed, first step, directory.
const VICTIM: &str = "STORE_TREE_VICTIM";
const KILLS: u64 = 60;
const SPACES: [Space; 4] = [Space::Rows(1), Space::Index(1), Space::Rows(2), Space::Index(2)];

type Rows = BTreeMap<Vec<u8>, Vec<u8>>;
type Model = BTreeMap<Space, Rows>;

/// One step, chosen by its number.
enum Step {
    Write(Vec<(Space, Vec<u8>, Option<Vec<u8>>)>),
    Make(Space),
    Drop(Space),
    Reap(Space),
}

fn step(seed: u64, number: u64, model: &Model) -> Step {
    let mut rng = fastrand::Rng::with_seed(seed.wrapping_mul(0x9e37_79b9) ^ number);
    let space = SPACES[rng.usize(0..SPACES.len())];
    if !model.contains_key(&space) {
        return Step::Make(space);
    }
    match rng.u8(0..60) {
        0 => return Step::Drop(space),
        1 => return Step::Reap(space),
        _ => {}
    }
    let mut writes = Vec::new();
    for _ in 0..rng.usize(1..40) {
        let of = if rng.bool() { space } else { SPACES[rng.usize(0..SPACES.len())] };
        let key = rng.u16(0..2_000).to_be_bytes().to_vec();
        let value = (rng.u8(0..5) != 0).then(|| vec![rng.u8(..); rng.usize(0..300)]);
        writes.push((of, key, value));
    }
    Step::Write(writes)
}

fn follow(model: &mut Model, step: &Step) {
    match step {
        Step::Make(space) => drop(model.insert(*space, Rows::new())),
        Step::Drop(space) => drop(model.remove(space)),
        Step::Reap(_) => {}
        Step::Write(writes) => {
            for (space, key, value) in writes {
                let Some(rows) = model.get_mut(space) else { continue };
                match value {
                    Some(value) => rows.insert(key.clone(), value.clone()),
                    None => rows.remove(key),
                };
            }
        }
    }
}

fn model_at(seed: u64, number: u64) -> Model {
    let mut model = Model::new();
    for at in 0..number {
        let step = step(seed, at, &model);
        follow(&mut model, &step);
    }
    model
}

async fn act(store: &TreeStore, step: Step) {
    match step {
        Step::Make(space) => store.create_space(space).unwrap(),
        Step::Drop(space) => store.drop_space(space).unwrap(),
        Step::Reap(space) => store.reap_space(space).await.unwrap(),
        Step::Write(writes) => {
            let mutation = |(space, key, value): (Space, Vec<u8>, Option<Vec<u8>>)| match value {
                Some(value) => Mutation::Put { space, key: key.into(), value: value.into() },
                None => Mutation::Delete { space, key: key.into() },
            };
            let mutations: Vec<_> = writes.into_iter().map(mutation).collect();
            store.commit(vec![Commit::new(vec![], move |_| mutations)]).await.unwrap();
        }
    }
}

async fn read(snapshot: &dyn Snapshot, space: Space) -> Rows {
    let limit = Limit { rows: 100_000, bytes: usize::MAX };
    let page = snapshot.scan(space, &KeyRange::all(), Direction::Forward, limit).await.unwrap();
    page.rows.into_iter().map(|(key, value)| (key.to_vec(), value.to_vec())).collect()
}

/// Returns whether a snapshot has exactly these rows.
async fn shows(snapshot: &dyn Snapshot, model: &Model) -> bool {
    for space in SPACES {
        let empty = Rows::new();
        if read(snapshot, space).await != *model.get(&space).unwrap_or(&empty) {
            return false;
        }
    }
    true
}

fn open(path: &Path) -> TreeStore {
    let options = TreeOptions {
        cache_bytes: 1 << 20,
        journal_bytes: 600 * 1024,
        buffer_bytes: 300 * 1024,
        segment_bytes: 128 * 1024,
        ..TreeOptions::new(path)
    };
    TreeStore::open(&options, ManualTime::default().commit_clock()).unwrap()
}

/// Runs steps until it is killed, reporting progress.
async fn be_killed(seed: u64, first: u64, path: &Path) {
    let store = open(path);
    let mut model = model_at(seed, first);
    let mut held = Vec::new();
    let mut out = std::io::stdout();
    for number in first.. {
        let step = step(seed, number, &model);
        let drops = matches!(step, Step::Drop(_));
        follow(&mut model, &step);
        act(&store, step).await;
        writeln!(out, "done {number}").unwrap();
        out.flush().unwrap();
        if number % 16 == 0 {
            store.tick().unwrap();
        }
        // A space that is dropped may disappear from open snapshots, so they are no longer checked.
        if drops {
            held.clear();
        }
        if number % 10 == 0 {
            held.push((store.snapshot(), model.clone()));
        }
        if number % 25 == 0 {
            for (snapshot, model) in &held {
                if !shows(&**snapshot, model).await {
                    writeln!(out, "wrong {number}").unwrap();
                }
            }
            held.truncate(3);
        }
    }
}

#[tokio::test]
async fn a_killed_process_has_lost_nothing_that_it_was_told_to_be_durable() {
    if let Ok(victim) = std::env::var(VICTIM) {
        let mut parts = victim.splitn(3, ' ');
        let mut number = || parts.next().unwrap().parse().unwrap();
        let (seed, first) = (number(), number());
        be_killed(seed, first, Path::new(parts.next().unwrap())).await;
    }
    let directory = tempfile::tempdir().unwrap();
    let seed = 20_261_123;
    let mut next = 0;
    let mut rng = fastrand::Rng::with_seed(1);
    for kill in 0..KILLS {
        let name = "kills::a_killed_process_has_lost_nothing_that_it_was_told_to_be_durable";
        let mut victim = Command::new(std::env::current_exe().unwrap())
            .args([name, "--exact", "--nocapture"])
            .env(VICTIM, format!("{seed} {next} {}", directory.path().display()))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let out = BufReader::new(victim.stdout.take().unwrap());
        let (works, begun) = mpsc::channel::<()>();
        std::thread::scope(|scope| {
            let reader = scope.spawn(move || {
                let mut last = None;
                let mut told = Some(works);
                for line in out.lines().map_while(Result::ok) {
                    assert!(!line.contains("wrong"), "{line}");
                    // The test harness writes text without a newline before the first line.
                    if let Some((_, number)) = line.rsplit_once("done ") {
                        last = number.parse::<u64>().ok().or(last);
                        drop(told.take());
                    }
                }
                last
            });
            // Every eighth kill does not wait for the process's first step.
            if kill % 8 != 0 {
                let _ = begun.recv_timeout(Duration::from_secs(30));
            }
            std::thread::park_timeout(Duration::from_millis(rng.u64(0..400)));
            victim.kill().unwrap();
            victim.wait().unwrap();
            if let Some(last) = reader.join().unwrap() {
                next = last + 1;
            }
        });
        let store = open(directory.path());
        let (certain, perhaps) = (model_at(seed, next), model_at(seed, next + 1));
        let snapshot = store.snapshot();
        if !shows(&*snapshot, &certain).await {
            assert!(shows(&*snapshot, &perhaps).await, "kill {kill}, after step {next}");
            next += 1;
        }
        if kill % 7 == 0 {
            store.close().await.unwrap();
        }
    }
    assert!(KILLS < next, "{next} steps");
}
