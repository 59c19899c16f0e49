//! Measures stores side by side: `compare tree|lsm FOLDER`.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::disallowed_methods, missing_docs)]

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use store::{
    Commit, Direction, KeyRange, Limit, Mutation, Snapshot, Space, Store, laws::ManualTime,
};

const ROWS: Space = Space::Rows(1);
const INDEX: Space = Space::Index(1);

fn wait<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

fn value(rng: &mut fastrand::Rng, bytes: usize) -> Vec<u8> {
    // Half of it compresses.
    (0..bytes).map(|at| if at % 2 == 0 { rng.u8(..) } else { b'a' }).collect()
}

fn cpu() -> Duration {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = text.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    Duration::from_millis(ticks * 10)
}

fn report(what: &str, count: u64, began: Instant, cpu_began: Duration) {
    let (took, used) = (began.elapsed(), cpu() - cpu_began);
    println!(
        "{what:<34} {:>10.0} /s  {:>8.2} us CPU",
        count as f64 / took.as_secs_f64(),
        used.as_secs_f64() * 1e6 / count as f64
    );
}

fn load(
    store: &Arc<impl Store>,
    what: &str,
    threads: u64,
    time: Duration,
    commits: impl Fn(&mut fastrand::Rng) -> Vec<Commit> + Sync,
) {
    let done = AtomicU64::new(0);
    let (began, used) = (Instant::now(), cpu());
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (done, commits) = (&done, &commits);
            let store = Arc::clone(store);
            scope.spawn(move || {
                let mut rng = fastrand::Rng::with_seed(thread + 7);
                let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                while began.elapsed() < time {
                    let made = commits(&mut rng);
                    let count = made.len() as u64;
                    runtime.block_on(store.commit(made)).unwrap();
                    done.fetch_add(count, Ordering::Relaxed);
                }
            });
        }
    });
    report(what, done.load(Ordering::Relaxed), began, used);
}

fn put(space: Space, key: Vec<u8>, value: Vec<u8>) -> Mutation {
    Mutation::Put { space, key: key.into(), value: value.into() }
}

fn row(rng: &mut fastrand::Rng) -> Commit {
    let (key, body) = (rng.u64(..).to_be_bytes().repeat(3), value(rng, 1_000));
    Commit::new(vec![], move |_| {
        let sum = Mutation::Add { space: Space::Counts, key: "c".into(), by: [1, 1_000] };
        vec![put(ROWS, key, body), sum]
    })
}

fn keys(rng: &mut fastrand::Rng) -> Commit {
    let all: Vec<u64> = (0..30).map(|_| rng.u64(..)).collect();
    Commit::new(vec![], move |_| {
        all.into_iter()
            .enumerate()
            .map(|(at, key)| {
                let mut path = vec![at as u8; 60];
                path.extend_from_slice(&key.to_be_bytes());
                put(INDEX, path, vec![7; 20])
            })
            .collect()
    })
}

fn reads(store: &impl Store) {
    let everything = Limit { rows: 100_000, bytes: usize::MAX };
    let all = wait(store.snapshot().scan(ROWS, &KeyRange::all(), Direction::Forward, everything));
    let mut held: Vec<_> = all.unwrap().rows.into_iter().map(|(key, _)| key).collect();
    fastrand::Rng::with_seed(3).shuffle(&mut held);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let (began, used) = (Instant::now(), cpu());
    for _ in 0..3 {
        for key in &held {
            assert!(runtime.block_on(store.snapshot().get(ROWS, key)).unwrap().is_some());
        }
    }
    report("get, at rest", 3 * held.len() as u64, began, used);
    let (began, used) = (Instant::now(), cpu());
    let limit = Limit { rows: 50, bytes: usize::MAX };
    for key in &held {
        let range = KeyRange { start: key.to_vec(), end: None };
        runtime.block_on(store.snapshot().scan(ROWS, &range, Direction::Forward, limit)).unwrap();
    }
    report("scan of 50, at rest", held.len() as u64, began, used);
}

fn measure<S: Store>(open: impl Fn(&Path) -> S, folder: &Path) {
    let time = Duration::from_secs(4);
    let fresh = |name: &str| {
        let path = folder.join(name);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        let store = Arc::new(open(&path));
        store.create_space(ROWS).unwrap();
        store.create_space(INDEX).unwrap();
        (store, path)
    };
    let (store, _) = fresh("single");
    for threads in [1, 8, 32] {
        load(&store, &format!("1 row a commit, {threads} threads"), threads, time, |rng| vec![row(rng)]);
    }
    drop(store);
    if std::env::var_os("SHORT").is_some() {
        return;
    }
    let (store, _) = fresh("keys");
    for threads in [8, 32] {
        load(&store, &format!("30 keys a commit, {threads} threads"), threads, time, |rng| vec![keys(rng)]);
    }
    drop(store);
    let (store, path) = fresh("many");
    for threads in [1, 8] {
        load(&store, &format!("1,000 rows a call, {threads} threads"), threads, time, |rng| {
            (0..1_000).map(|_| row(rng)).collect()
        });
    }
    std::thread::sleep(Duration::from_secs(8));
    reads(&*store);
    let disk = std::process::Command::new("du").arg("-sm").arg(&path).output().unwrap();
    println!("disk after: {}", String::from_utf8_lossy(&disk.stdout).trim());
    drop(store);
    let (store, path) = fresh("killed");
    let mut rng = fastrand::Rng::with_seed(1);
    for _ in 0..60 {
        wait(store.commit((0..1_000).map(|_| row(&mut rng)).collect())).unwrap();
    }
    let killed = folder.join("copy");
    let _ = std::fs::remove_dir_all(&killed);
    assert!(std::process::Command::new("cp").arg("-r").arg(&path).arg(&killed).status().unwrap().success());
    drop(store);
    let began = Instant::now();
    let store = open(&killed);
    println!("start with 60 MB in the journal: {:?}", began.elapsed());
    drop(store);
}

fn main() {
    let mut args = std::env::args().skip(1);
    let (which, folder) = (args.next().unwrap(), args.next().unwrap());
    let folder = Path::new(&folder);
    match which.as_str() {
        "tree" => measure(
            |path| {
                let options = store_tree::TreeOptions { journal_bytes: 128 << 20, ..store_tree::TreeOptions::new(path) };
                store_tree::TreeStore::open(&options, ManualTime::default().timepiece()).unwrap()
            },
            folder,
        ),
        _ => measure(
            |path| {
                let options = store_lsm::LsmOptions::new(path);
                store_lsm::LsmStore::open(&options, ManualTime::default().timepiece()).unwrap()
            },
            folder,
        ),
    }
}
