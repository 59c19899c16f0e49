//! Readers and the writer proceed while a flush or job waits for the disk.

use std::{
    io,
    sync::{Arc, Condvar, Mutex, mpsc},
};

use bytes::Bytes;

use super::sim_disk::SimDisk;
use crate::{
    Caching, Direction, Disk, DiskFile, JobKind, KeepAll, Layout, Tree, Write,
    tests::world::small_options,
};

/// A disk whose syncs wait while the gate is closed.
#[derive(Clone, Debug)]
struct GatedDisk {
    disk: SimDisk,
    gate: Arc<Gate>,
}

#[derive(Debug, Default)]
struct Gate {
    closed: Mutex<bool>,
    changed: Condvar,
    waiting: Mutex<Option<mpsc::Sender<()>>>,
}

#[derive(Debug)]
struct GatedFile(Arc<dyn DiskFile>, Arc<Gate>);

impl Gate {
    /// Closes the gate; the returned channel reports the first sync that waits.
    fn close(&self) -> mpsc::Receiver<()> {
        let (sender, receiver) = mpsc::channel();
        *self.waiting.lock().unwrap() = Some(sender);
        *self.closed.lock().unwrap() = true;
        receiver
    }

    fn open(&self) {
        *self.closed.lock().unwrap() = false;
        self.changed.notify_all();
    }

    fn pass(&self) {
        let mut closed = self.closed.lock().unwrap();
        while *closed {
            if let Some(sender) = self.waiting.lock().unwrap().take() {
                sender.send(()).unwrap();
            }
            closed = self.changed.wait(closed).unwrap();
        }
    }
}

impl Disk for GatedDisk {
    fn names(&self) -> io::Result<Vec<String>> {
        self.disk.names()
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        let file = self.disk.create(name)?;
        Ok(Arc::new(GatedFile(file, Arc::clone(&self.gate))))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        let file = self.disk.open(name)?;
        Ok(Arc::new(GatedFile(file, Arc::clone(&self.gate))))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.disk.remove(name)
    }

    fn sync_names(&self) -> io::Result<()> {
        self.gate.pass();
        self.disk.sync_names()
    }
}

impl DiskFile for GatedFile {
    fn length(&self) -> io::Result<u64> {
        self.0.length()
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.0.read_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.0.write_at(bytes, offset)
    }

    fn start_writing(&self, _: u64, _: u64) {}

    fn sync(&self) -> io::Result<()> {
        self.1.pass();
        self.0.sync()
    }
}

fn writes(space: u64) -> Vec<Write> {
    let write = |n: u32| Write {
        space,
        key: Bytes::from(format!("{n:05}")),
        value: Some(Bytes::from_static(b"value")),
    };
    (0..100).map(write).collect()
}

/// Does everything that readers and the writer do; returns the number of the last batch.
fn work(tree: &Tree, mut number: u64) -> u64 {
    for _ in 0..3 {
        number += 1;
        tree.apply(number, writes(1)).unwrap();
        tree.publish(number).unwrap();
        let snapshot = tree.snapshot();
        assert!(snapshot.get(1, b"00007").unwrap().is_some());
        assert_eq!(snapshot.get(1, b"absent").unwrap(), None);
        assert!(snapshot.get_many(1, &[Bytes::from_static(b"00009")]).unwrap()[0].is_some());
        for direction in [Direction::Forward, Direction::Backward] {
            let scan = snapshot.scan(1, b"", None, direction, Caching::Fill).unwrap();
            assert_eq!(scan.count(), 100);
        }
    }
    tree.create_space(number, Layout::Ranges).unwrap();
    tree.drop_space(number).unwrap();
    assert!(0 < tree.figures().memory_bytes);
    assert!(tree.first_unflushed(None).is_some());
    number
}

#[test]
fn nobody_waits_for_the_sync_of_a_flush_or_job() {
    let (disk, gate) = (SimDisk::default(), Arc::<Gate>::default());
    let gated = GatedDisk { disk, gate: Arc::clone(&gate) };
    let tree = Tree::open(Arc::new(gated), Arc::new(KeepAll), small_options()).unwrap();
    tree.create_space(1, Layout::Points).unwrap();
    let mut number = work(&tree, 100);
    for round in 0..8 {
        // The drop of a space without files needs no disk.
        while let Some(job) = tree.pick(|_| Some(1)).filter(|job| job.kind() == JobKind::Forget) {
            tree.run(&job).unwrap();
        }
        std::thread::scope(|scope| {
            let waiting = gate.close();
            let busy = scope.spawn(|| {
                let job = if round % 2 == 0 { None } else { tree.pick(|_| Some(1)) };
                match job {
                    Some(job) => drop(tree.run(&job).unwrap()),
                    None => drop(tree.flush(1).unwrap()),
                }
                // The test fails if nothing has waited.
                drop(gate.waiting.lock().unwrap().take());
            });
            // The other thread is in the middle of a sync, with all locks that it holds.
            waiting.recv().unwrap();
            number = work(&tree, number);
            gate.open();
            busy.join().unwrap();
        });
    }
    assert_eq!(tree.verify().unwrap(), []);
}
