//! Tears the last group in every way: it is missing or complete, and the journal continues. In new
//! segments, and in reused ones with stale groups underneath.

use super::{
    run::{Run, assert_same, encode, entry, open, options, read_all},
    sim_disk::{Image, SECTOR, SimDisk},
};
use crate::contract::Journal;

/// A journal before and after its last group is written.
struct Torn {
    before: Image,
    after: Image,
    run: Run,
}

impl Torn {
    fn new(bytes: usize, used: bool) -> Self {
        let mut run = Run::new();
        if used {
            // Segments that are reused, with stale groups at the same offsets.
            for _ in 0..9 {
                run.append(&[3_000, 2_000]);
            }
            run.truncate_before(run.list.len() as u64);
            run.append(&[15_000]);
        } else {
            run.append(&[700]);
        }
        run.append(&[100, 20]);
        let before = run.disk.image();
        run.append(&[bytes]);
        Self { before, after: run.disk.image(), run }
    }

    /// Returns the file and byte range of the last group.
    fn place(&self) -> (String, std::ops::Range<usize>) {
        let differs = |name: &&String| self.before[*name] != self.after[*name];
        let name = self.after.keys().find(differs).unwrap().clone();
        let (before, after) = (&self.before[&name], &self.after[&name]);
        let first = (0..after.len()).find(|at| before[*at] != after[*at]).unwrap();
        let last = (0..after.len()).rfind(|at| before[*at] != after[*at]).unwrap();
        (name, first..last + 1)
    }

    /// Opens a journal with these bytes, appends to it, and reopens it.
    fn check(&self, name: &str, bytes: Vec<u8>, whole: bool) {
        let mut image = self.after.clone();
        image.insert(name.to_owned(), bytes);
        let disk = SimDisk::of_image(&image);
        let acknowledged = self.run.list.len() as u64 - 1;
        let journal = open(&disk, &options(acknowledged)).unwrap();
        assert_eq!(journal.end(), acknowledged + u64::from(whole));
        let mut expected = self.run.list[journal.extent().first as usize - 1..].to_vec();
        expected.truncate(expected.len() - usize::from(!whole));
        assert_same(&read_all(&journal).unwrap(), &expected, "torn");
        // A small group, and one that needs the next segment.
        for bytes in [50, 12_000] {
            let next = entry(journal.end() + 1, 1_000, bytes);
            journal.append(&encode(std::slice::from_ref(&next))).unwrap();
            expected.push(next);
        }
        let journal = open(&disk, &options(journal.end())).unwrap();
        assert_same(&read_all(&journal).unwrap(), &expected, "torn");
    }
}

#[test]
fn a_group_that_was_cut_short_is_not_there() {
    for used in [false, true] {
        let torn = Torn::new(900, used);
        let (name, range) = torn.place();
        for end in range.clone() {
            let mut bytes = torn.after[&name].clone();
            bytes[end..range.end].copy_from_slice(&torn.before[&name][end..range.end]);
            torn.check(&name, bytes.clone(), false);
            bytes[end..].fill(0);
            torn.check(&name, bytes, false);
        }
        torn.check(&name, torn.after[&name].clone(), true);
    }
}

#[test]
fn any_sectors_of_a_group_may_be_missing() {
    for used in [false, true] {
        let torn = Torn::new(7_000, used);
        let (name, range) = torn.place();
        let mut random = fastrand::Rng::with_seed(3);
        for _ in 0..300 {
            let mut bytes = torn.after[&name].clone();
            let most = random.u32(1..8);
            for at in (range.start / SECTOR * SECTOR..range.end).step_by(SECTOR) {
                if random.u32(..8) < most {
                    let sector = at..at + SECTOR;
                    bytes[sector.clone()].copy_from_slice(&torn.before[&name][sector]);
                }
            }
            let whole = bytes == torn.after[&name];
            torn.check(&name, bytes, whole);
        }
    }
}
