//! A tree with its log and a model: random operations, crashes and checks. One seed gives one
//! history; jobs run between operations, so that the interleaving is part of the history.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use bytes::Bytes;

use super::{
    rules::{Rules, value},
    sim_disk::SimDisk,
};
use crate::{
    Caching, Direction, Error, Layout, Options, Result, Snapshot, Tree, Write, hooks::Hooks,
};

#[derive(Clone, Debug)]
enum Change {
    Batch(Vec<Write>),
    Create(u64),
    Drop(u64),
}

/// Versions of a key in ascending order of numbers.
type Versions = Vec<(u64, Option<Bytes>)>;

pub(super) struct World {
    pub(super) random: fastrand::Rng,
    pub(super) disk: SimDisk,
    pub(super) rules: Rules,
    pub(super) options: Options,
    pub(super) tree: Tree,
    /// All changes; the number of a change is its position plus one.
    log: Vec<Change>,
    /// Number of published changes, which a crash does not lose.
    published: u64,
    /// First change that startup applies.
    floor: u64,
    versions: BTreeMap<u64, BTreeMap<Bytes, Versions>>,
    spaces: BTreeSet<u64>,
    snapshots: Vec<Snapshot>,
    /// Number of crashes so far.
    pub(super) crashes: u64,
    keys: u32,
}

/// Sizes at which everything happens often.
pub(super) fn small_options() -> Options {
    Options {
        cache_bytes: 20_000,
        open_files: 4,
        block_bytes: 200,
        table_bytes: 1_500,
        level_bytes: 4_000,
        growth: 3,
        apart_bytes: 30,
        body_block_bytes: 300,
        body_file_bytes: 3_000,
        group_bytes: 300,
        open_groups: 3,
        garbage_percent: 30,
        manifest_bytes: 3_000,
        last_edit: 0,
    }
}

/// Draws sizes between one entry in each file and everything in one file.
pub(super) fn random_options(random: &mut fastrand::Rng) -> Options {
    Options {
        cache_bytes: 1 << random.u64(8..18),
        open_files: random.usize(1..10),
        block_bytes: 1 << random.usize(0..12),
        table_bytes: 1 << random.u64(0..14),
        level_bytes: 1 << random.u64(8..16),
        growth: random.u64(2..6),
        apart_bytes: random.usize(0..60),
        body_block_bytes: 1 << random.usize(0..12),
        body_file_bytes: 1 << random.u64(0..15),
        group_bytes: 1 << random.u64(0..12),
        open_groups: random.usize(0..6),
        garbage_percent: random.u64(1..60),
        manifest_bytes: 1 << random.u64(0..14),
        last_edit: 0,
    }
}

impl World {
    pub(super) fn new(seed: u64, options: Options) -> Self {
        let (disk, rules) = (SimDisk::default(), Rules::default());
        let tree = open(&disk, &rules, &options).unwrap();
        let mut random = fastrand::Rng::with_seed(seed);
        let keys = if random.bool() { 40 } else { 400 };
        let mut world = Self {
            random,
            disk,
            rules,
            options,
            tree,
            log: Vec::new(),
            published: 0,
            floor: 1,
            versions: BTreeMap::new(),
            spaces: BTreeSet::new(),
            snapshots: Vec::new(),
            crashes: 0,
            keys,
        };
        for _ in 0..3 {
            world.create_space();
        }
        world
    }

    fn number(&self) -> u64 {
        self.log.len() as u64
    }

    fn create_space(&mut self) {
        let space = self.versions.len() as u64 + 1;
        self.log.push(Change::Create(space));
        self.tree.create_space(space, layout_of(space)).unwrap();
        self.spaces.insert(space);
        self.versions.insert(space, BTreeMap::new());
    }

    fn drop_space(&mut self) {
        let Some(space) = self.random.choice(self.spaces.iter().copied()) else { return };
        self.log.push(Change::Drop(space));
        self.tree.drop_space(space).unwrap();
        self.spaces.remove(&space);
        // Published and durable before it is applied, like every change.
        self.publish();
    }

    fn random_key(&mut self) -> Bytes {
        let n = self.random.u32(..self.keys);
        // Some keys are prefixes of others, and some are long.
        let long = if n.is_multiple_of(23) { 300 } else { 0 };
        Bytes::from(format!("{:03}{}{}", n / 3, "x".repeat((n % 3) as usize), "y".repeat(long)))
    }

    fn random_value(&mut self) -> Option<Bytes> {
        if self.random.u32(..6) == 0 {
            return None;
        }
        let now = self.rules.now();
        let (kind, end) = match self.random.u32(..4) {
            0 => (0, 0),
            1 => (2, now + self.random.i64(-5..400)),
            _ => (1, now + 60),
        };
        let len = match self.random.u32(..20) {
            0 => self.random.usize(..2_000),
            n if n < 9 => self.random.usize(..20),
            _ => self.random.usize(..150),
        };
        let byte = self.random.u8(..);
        let body: Vec<u8> = match self.random.bool() {
            true => vec![byte; len],
            false => (0..len).map(|_| self.random.u8(..)).collect(),
        };
        Some(value(kind, end, &body))
    }

    fn apply(&mut self) {
        let spaces: Vec<u64> = self.spaces.iter().copied().collect();
        let mut writes = Vec::new();
        for _ in 0..self.random.usize(1..12) {
            let Some(space) = self.random.choice(spaces.iter().copied()) else { break };
            let (key, value) = (self.random_key(), self.random_value());
            writes.push(Write { space, key, value });
        }
        self.log.push(Change::Batch(writes.clone()));
        let number = self.number();
        self.tree.apply(number, writes.clone()).unwrap();
        self.record(number, &writes);
    }

    fn record(&mut self, number: u64, writes: &[Write]) {
        for Write { space, key, value } in writes {
            let versions = self.versions.entry(*space).or_default().entry(key.clone()).or_default();
            versions.retain(|(of, _)| *of != number);
            versions.push((number, value.clone()));
        }
    }

    fn publish(&mut self) {
        self.published = self.number();
        self.tree.publish(self.published).unwrap();
    }

    /// Does one random operation. Errors of the simulated disk are returned.
    pub(super) fn step(&mut self) -> Result<()> {
        match self.random.u32(..100) {
            0..35 => {
                self.apply();
                if self.random.u32(..4) != 0 {
                    self.publish();
                }
            }
            35..43 => self.flush()?,
            43..55 => self.run_job()?,
            55..57 => self.run_whole()?,
            57..60 => drop(self.tree.expire()?),
            60..65 => {
                let later = self.rules.now() + self.random.i64(1..15);
                self.rules.set_now(later);
            }
            65..70 => drop(self.tree.sweep()?),
            70..74 => self.snapshots.push(self.tree.snapshot()),
            74..79 if !self.snapshots.is_empty() => {
                let at = self.random.usize(..self.snapshots.len());
                self.snapshots.swap_remove(at);
            }
            79 => {
                let number = self.random.u64(..self.number() + 1);
                self.tree.end_snapshots(number);
            }
            80 if self.random.u32(..4) == 0 => match self.random.bool() {
                true => self.create_space(),
                false => self.drop_space(),
            },
            81..84 => {
                // The owner records the edit before it cuts its log.
                self.floor = self.tree.first_unflushed(None).unwrap_or(self.number() + 1);
                self.options.last_edit = self.tree.last_edit();
            }
            84..92 => self.check_some_keys()?,
            92..97 => self.check_some_scan()?,
            97 => {
                let damages = self.tree.verify()?;
                assert_eq!(damages, [], "verify");
                assert_eq!(self.tree.verify_handles()?, [], "verify_handles");
            }
            _ => {}
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        let Some(space) = self.random.choice(self.spaces.iter().copied()) else { return Ok(()) };
        self.tree.flush(space).map(|_| ())
    }

    fn run_job(&mut self) -> Result<()> {
        let first_runs = self.random.usize(1..5);
        match self.tree.pick(|_| Some(first_runs)) {
            Some(job) => self.tree.run(&job).map(|_| ()),
            None => Ok(()),
        }
    }

    fn run_whole(&mut self) -> Result<()> {
        let Some(space) = self.random.choice(self.spaces.iter().copied()) else { return Ok(()) };
        match self.tree.pick_whole(space)? {
            Some(job) => self.tree.run(&job).map(|_| ()),
            None => Ok(()),
        }
    }

    /// Returns a random open snapshot, or a new one.
    fn random_snapshot(&mut self) -> Snapshot {
        let at = self.random.usize(..self.snapshots.len() + 1);
        self.snapshots.get(at).cloned().unwrap_or_else(|| self.tree.snapshot())
    }

    fn visible(&self, space: u64, key: &Bytes, number: u64) -> Option<Bytes> {
        if !self.spaces.contains(&space) {
            return None;
        }
        let versions = self.versions.get(&space)?.get(key)?;
        versions.iter().rfind(|(of, _)| *of <= number)?.1.clone()
    }

    fn check_value(&self, snapshot: &Snapshot, space: u64, key: &Bytes, found: Option<&Bytes>) {
        self.check_value_at(snapshot.number(), space, key, found);
    }

    fn check_value_at(&self, number: u64, space: u64, key: &Bytes, found: Option<&Bytes>) {
        let want = self.visible(space, key, number);
        // A dead value may have been dropped, but no other version may be found instead.
        let dropped = found.is_none() && want.as_ref().is_some_and(|want| self.rules.is_dead(want));
        if !dropped {
            assert_eq!(found, want.as_ref(), "{key:?} of {space} at {number}");
        }
    }

    fn check_some_keys(&mut self) -> Result<()> {
        let snapshot = self.random_snapshot();
        let space = self.random.u64(1..self.versions.len() as u64 + 1);
        let keys: Vec<Bytes> = (0..5).map(|_| self.random_key()).collect();
        for key in &keys {
            self.check_value_at(u64::MAX, space, key, self.tree.newest(space, key)?.as_ref());
        }
        let many = match snapshot.get_many(space, &keys) {
            Err(Error::SnapshotEnded) => return Ok(()),
            many => many?,
        };
        for (key, found) in keys.iter().zip(&many) {
            self.check_value(&snapshot, space, key, found.as_ref());
            self.check_value(&snapshot, space, key, snapshot.get(space, key)?.as_ref());
        }
        Ok(())
    }

    fn check_some_scan(&mut self) -> Result<()> {
        let snapshot = self.random_snapshot();
        let space = self.random.u64(1..self.versions.len() as u64 + 1);
        let (start, end) = (self.random_key(), self.random_key());
        let start = if self.random.bool() { start } else { Bytes::new() };
        let end = self.random.bool().then_some(end);
        let direction = [Direction::Forward, Direction::Backward][self.random.usize(..2)];
        let caching = [Caching::Fill, Caching::Bypass][self.random.usize(..2)];
        match self.check_scan(&snapshot, space, &start, end.as_deref(), direction, caching) {
            Err(Error::SnapshotEnded) => Ok(()),
            checked => checked,
        }
    }

    fn check_scan(
        &self,
        snapshot: &Snapshot,
        space: u64,
        start: &[u8],
        end: Option<&[u8]>,
        direction: Direction,
        caching: Caching,
    ) -> Result<()> {
        let scan = snapshot.scan(space, start, end, direction, caching)?;
        let mut rows = scan.collect::<Result<Vec<_>>>()?;
        if direction == Direction::Backward {
            rows.reverse();
        }
        let mut rows = rows.into_iter().peekable();
        for key in self.versions.get(&space).into_iter().flat_map(BTreeMap::keys) {
            if key.as_ref() < start || end.is_some_and(|end| end <= key.as_ref()) {
                continue;
            }
            let found = rows.next_if(|(found, _)| found == key).map(|(_, value)| value);
            self.check_value(snapshot, space, key, found.as_ref());
        }
        assert_eq!(rows.next(), None, "a row that no key has, or out of order");
        Ok(())
    }

    /// Compares every key with the model.
    pub(super) fn check_all(&self) -> Result<()> {
        let snapshot = self.tree.snapshot();
        for space in self.versions.keys() {
            for direction in [Direction::Forward, Direction::Backward] {
                self.check_scan(&snapshot, *space, b"", None, direction, Caching::Bypass)?;
            }
        }
        Ok(())
    }

    /// Replaces the disk by what a crash left, and opens the tree again. Batches that were applied but not
    /// published may be lost from the log.
    pub(super) fn crash(&mut self, disk: SimDisk) -> Result<()> {
        self.crashes += 1;
        self.snapshots.clear();
        self.disk = disk;
        // Tables must not be ahead of the log.
        let least = self.published.max(self.rules.synced().min(self.number()));
        let kept = self.random.u64(least..=self.number());
        self.log.truncate(kept as usize);
        self.reopen()
    }

    /// Opens the tree on the current disk and applies the log.
    pub(super) fn reopen(&mut self) -> Result<()> {
        self.snapshots.clear();
        self.tree = open(&self.disk, &self.rules, &self.options)?;
        self.versions.values_mut().for_each(BTreeMap::clear);
        let (mut spaces, log) = (BTreeSet::new(), self.log.clone());
        for (change, number) in log.iter().zip(1..) {
            match change {
                Change::Create(space) => drop(spaces.insert(*space)),
                Change::Drop(space) => drop(spaces.remove(space)),
                Change::Batch(writes) => self.record(number, writes),
            }
        }
        self.spaces = spaces;
        for space in &self.spaces {
            self.tree.create_space(*space, layout_of(*space))?;
        }
        let spaces: Vec<u64> = self.spaces.iter().copied().collect();
        self.tree.retain_spaces(&spaces)?;
        let several = self.random.bool();
        if several {
            self.replay_from_threads(&log);
        }
        for (change, number) in log.iter().zip(1..).skip(self.floor as usize - 1) {
            let Change::Batch(writes) = change else { continue };
            if several {
                break;
            }
            let kept = writes.iter().filter(|write| self.spaces.contains(&write.space));
            self.tree.apply(number, kept.cloned().collect())?;
            if self.random.u32(..40) == 0 {
                self.flush()?;
            }
        }
        self.publish();
        self.check_all()
    }
}

impl World {
    /// Applies the log from several threads, each with spaces of its own.
    fn replay_from_threads(&self, log: &[Change]) {
        const THREADS: u64 = 3;
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                scope.spawn(move || {
                    for (change, number) in log.iter().zip(1..).skip(self.floor as usize - 1) {
                        let Change::Batch(writes) = change else { continue };
                        let mine = writes.iter().filter(|write| {
                            write.space % THREADS == thread && self.spaces.contains(&write.space)
                        });
                        self.tree.replay(number, mine.cloned().collect()).unwrap();
                    }
                });
            }
        });
    }
}

fn layout_of(space: u64) -> Layout {
    if space.is_multiple_of(2) { Layout::Points } else { Layout::Ranges }
}

pub(super) fn open(disk: &SimDisk, rules: &Rules, options: &Options) -> Result<Tree> {
    let hooks: Arc<dyn Hooks> = Arc::new(rules.clone());
    Tree::open(Arc::new(disk.clone()), hooks, options.clone())
}
