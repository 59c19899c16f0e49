//! Measures a tree with one space of rows: `cargo run --release -p tree --example measure -- DIR ROWS
//! [SECONDS]`. One thread flushes and one compacts, and there is no log. Creates a folder in DIR and
//! removes it. Decision 017 has figures of the crate `lsm-tree` at the same work.
#![expect(clippy::print_stdout, reason = "the example prints its measurements")]
#![expect(clippy::disallowed_methods, reason = "it measures and waits")]

mod engine;

use std::{
    error::Error,
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use bytes::Bytes;

use engine::{Engine, open};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Size of a value in bytes.
const VALUE_BYTES: usize = 1_000;
/// Rows in a batch of the load, and in one of the updates beside readers.
const LOAD_BATCH: u64 = 1_000;
const UPDATE_BATCH: u64 = 20;
/// Bytes of memtables that start a flush.
const FLUSH_BYTES: u64 = 64 << 20;
/// Default number of seconds for which readers run concurrently with updates.
const MIXED_SECONDS: u64 = 20;

/// Returns a key of 24 bytes; consecutive numbers are far apart.
fn key_of(n: u64) -> Bytes {
    let scattered = n.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(31);
    Bytes::from(format!("{scattered:016x}{:08x}", n as u32))
}

/// Returns a value of which about half is compressible.
fn value_of(random: &mut fastrand::Rng) -> Bytes {
    let mut value = vec![b'v'; VALUE_BYTES];
    for byte in value.iter_mut().skip(VALUE_BYTES / 2) {
        *byte = random.u8(..);
    }
    Bytes::from(value)
}

/// Returns the processor time of this process in milliseconds, and the bytes it has written.
fn used() -> (u64, u64) {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or("").split(' ').collect();
    let ticks = |at: usize| fields.get(at).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
    let io = fs::read_to_string("/proc/self/io").unwrap_or_default();
    let written = io.lines().find_map(|line| line.strip_prefix("wchar: ")?.parse().ok());
    ((ticks(11) + ticks(12)) * 10, written.unwrap_or(0))
}

/// Flushes and compacts until it is done; writers wait beyond twice the memory of a flush.
fn maintain(engine: &Engine, done: &AtomicBool, flushes: bool) -> Outcome<()> {
    while !done.load(Ordering::SeqCst) {
        let busy = if flushes {
            let due = FLUSH_BYTES <= engine.memory();
            if due {
                engine.flush()?;
            }
            due
        } else {
            engine.compact()?
        };
        if !busy {
            std::thread::sleep(Duration::from_millis(2));
        }
    }
    Ok(())
}

fn with_maintenance<T>(
    engine: &Engine,
    work: impl FnOnce(&AtomicBool) -> Outcome<T>,
) -> Outcome<T> {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let flusher = scope.spawn(|| maintain(engine, &done, true));
        let compactor = scope.spawn(|| maintain(engine, &done, false));
        let worked = work(&done);
        done.store(true, Ordering::SeqCst);
        for thread in [flusher, compactor] {
            thread.join().map_err(|_| "a thread has panicked")??;
        }
        worked
    })
}

/// Inserts rows in batches from number `first` on.
fn write(
    engine: &Engine,
    first: u64,
    rows: impl Iterator<Item = u64>,
    size: u64,
    done: &AtomicBool,
) -> Outcome<u64> {
    let mut random = fastrand::Rng::with_seed(1);
    let (mut number, mut batch) = (first, Vec::new());
    for n in rows {
        batch.push((key_of(n), value_of(&mut random)));
        if batch.len() as u64 == size {
            while 2 * FLUSH_BYTES <= engine.memory() {
                std::thread::sleep(Duration::from_millis(1));
            }
            batch.sort();
            engine.insert(number, std::mem::take(&mut batch))?;
            number += 1;
        }
        if done.load(Ordering::Relaxed) {
            break;
        }
    }
    Ok(number)
}

fn load(engine: &Engine, rows: u64) -> Outcome<u64> {
    let (began, before) = (Instant::now(), used());
    let number = with_maintenance(engine, |done| write(engine, 1, 0..rows, LOAD_BATCH, done))?;
    engine.flush()?;
    let loaded = began.elapsed();
    while engine.compact()? {}
    let after = used();
    println!(
        "load {:.0} rows/s, {:.1} us of processor a row with all compactions, {:.2} bytes \
         written a byte",
        rows as f64 / loaded.as_secs_f64(),
        (after.0 - before.0) as f64 * 1000.0 / rows as f64,
        (after.1 - before.1) as f64 / (rows * (24 + VALUE_BYTES as u64)) as f64,
    );
    Ok(number)
}

/// Does something this many times; returns the microseconds of processor time and of real time each.
fn each(times: u64, mut work: impl FnMut(u64) -> Outcome<()>) -> Outcome<(f64, f64)> {
    let (began, before) = (Instant::now(), used());
    for n in 0..times {
        work(n)?;
    }
    let real = began.elapsed().as_secs_f64() * 1e6 / times as f64;
    Ok(((used().0 - before.0) as f64 * 1e3 / times as f64, real))
}

fn reads(engine: &Engine, rows: u64) -> Outcome<()> {
    let mut random = fastrand::Rng::with_seed(2);
    let mut get = |_| engine.get(&key_of(random.u64(..rows))).map(|found| assert!(found));
    let (cold, warm) = (each(200_000, &mut get)?, each(600_000, &mut get)?);
    let absent = each(600_000, |n| engine.get(&key_of(rows + n)).map(|found| assert!(!found)))?;
    let scan = each(20_000, |_| engine.scan(&key_of(random.u64(..rows)), 50).map(drop))?;
    for (what, (processor, real)) in
        [("cold read", cold), ("warm read", warm), ("absent key", absent), ("scan of 50", scan)]
    {
        println!("{what} {processor:.2} us of processor, {real:.2} us");
    }
    Ok(())
}

/// Returns how often this thread has waited, other than for a processor.
fn waits() -> u64 {
    let status = fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    line.and_then(|count| count.trim().parse().ok()).unwrap_or(0)
}

/// Reads with one thread beside a writer that updates as fast as it can.
fn mixed(engine: &Engine, rows: u64, first: u64, duration: Duration) -> Outcome<()> {
    let (began, mut taken, mut waited) = (Instant::now(), Vec::new(), 0);
    let updates = with_maintenance(engine, |_| {
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                let mut random = fastrand::Rng::with_seed(3);
                let all = std::iter::repeat_with(|| random.u64(..rows));
                write(engine, first, all, UPDATE_BATCH, &stop)
            });
            let mut random = fastrand::Rng::with_seed(4);
            let (mut outcome, before) = (Ok(()), waits());
            while began.elapsed() < duration && outcome.is_ok() {
                let key = key_of(random.u64(..rows));
                let start = Instant::now();
                outcome = engine.get(&key).map(drop);
                taken.push(start.elapsed().as_micros());
            }
            waited = waits() - before;
            stop.store(true, Ordering::SeqCst);
            let last = writer.join().map_err(|_| "the writer has panicked")??;
            outcome.map(|()| (last - first) * UPDATE_BATCH)
        })
    })?;
    taken.sort_unstable();
    let at = |part: usize| taken.get((taken.len() - 1) * part / 100_000).copied().unwrap_or(0);
    println!(
        "beside {:.0} updates/s: {:.0} reads/s, median {} us, p99 {} us, p99.9 {} us, \
         p99.99 {} us, longest {} us; the reader waited {waited} times",
        updates as f64 / duration.as_secs_f64(),
        taken.len() as f64 / duration.as_secs_f64(),
        at(50_000),
        at(99_000),
        at(99_900),
        at(99_990),
        at(100_000),
    );
    Ok(())
}

fn disk_bytes(path: &Path) -> u64 {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(meta) if meta.is_dir() => disk_bytes(&entry.path()),
        Ok(meta) => meta.len(),
        Err(_) => 0,
    });
    sizes.sum()
}

fn run(path: &Path, rows: u64, mixed_for: Duration) -> Outcome<()> {
    let engine = open(path)?;
    let number = load(&engine, rows)?;
    println!("{:.2} bytes on disk a byte", {
        disk_bytes(path) as f64 / (rows * (24 + VALUE_BYTES as u64)) as f64
    });
    drop(engine);
    let began = Instant::now();
    let engine = open(path)?;
    println!("start {} us", began.elapsed().as_micros());
    reads(&engine, rows)?;
    if !mixed_for.is_zero() {
        mixed(&engine, rows, number, mixed_for)?;
    }
    drop(engine);
    fs::remove_dir_all(path)?;
    Ok(())
}

fn main() -> Outcome<()> {
    let mut arguments = std::env::args_os().skip(1);
    let parent = PathBuf::from(arguments.next().ok_or("which folder? measure DIR ROWS [SECONDS]")?);
    let rows = arguments.next().and_then(|text| text.to_str()?.parse().ok()).unwrap_or(500_000);
    let seconds = arguments.next().and_then(|text| text.to_str()?.parse().ok());
    let mixed_for = Duration::from_secs(seconds.unwrap_or(MIXED_SECONDS));
    run(&parent.join("measured-tree"), rows, mixed_for)?;
    Ok(())
}
