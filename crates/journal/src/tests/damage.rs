//! Damages every byte of a small journal. Given the watermark (the number of the last durable
//! entry), startup finds everything or refuses. Without it, the last group may be taken for torn,
//! and a truncated end is not detected.

use store::Kind;

use super::{
    run::{Run, assert_same, encode, entry, open, options, read_all},
    sim_disk::{Image, SECTOR, SimDisk},
};
use crate::{
    contract::Journal,
    entry::Entry,
    group::BLOCK,
    options::JournalOptions,
    segment_header::{COPY_BYTES, GROUPS_AT, SegmentHeader},
};

/// A journal of three segments, one of them reused, and a spare one that was used before.
struct Sample {
    image: Image,
    list: Vec<Entry>,
    /// Number of the first entry held.
    first: u64,
    /// Number of entries in the last group.
    last_group: usize,
}

impl Sample {
    fn new() -> Self {
        let mut run = Run::new();
        for sizes in [&[10][..], &[5_000, 10], &[50, 60], &[9_000], &[5_000], &[40], &[9_000, 1]] {
            run.append(sizes);
        }
        run.truncate_before(run.list.len() as u64);
        for sizes in [&[30, 20][..], &[6_000], &[70], &[80], &[90], &[3], &[100, 2], &[7]] {
            run.append(sizes);
        }
        for sizes in [&[12][..], &[13, 4], &[5]] {
            run.append(sizes);
        }
        // The segment before the newest becomes a spare one.
        run.truncate_before(13);
        let first = run.journal.as_ref().unwrap().extent().first;
        assert_eq!(first, 13);
        assert_eq!(run.disk.image().len(), 4);
        Self { image: run.disk.image(), list: run.list, first, last_group: 1 }
    }

    fn end(&self) -> u64 {
        self.list.len() as u64
    }

    /// Returns the offsets worth damaging: all but most trailing zeros of blocks.
    fn bytes_that_matter(&self, name: &str) -> Vec<usize> {
        let bytes = &self.image[name];
        let block = |at: usize| at / BLOCK as usize * BLOCK as usize;
        let used = |at: usize| bytes[at..block(at) + BLOCK as usize].iter().any(|byte| *byte != 0);
        (0..bytes.len()).filter(|at| used(*at) || at % 509 == 0).collect()
    }

    /// Opens a damaged journal with the watermark, with an accepted loss, and without the
    /// watermark, when up to `may_miss` entries may be missing.
    fn check(&self, image: &Image, may_miss: usize, context: &str) {
        if let Some(disk) = self.check_marked(image, context) {
            self.check_accepted(&disk, context);
        }
        self.check_unmarked(image, may_miss, context);
    }

    /// Without the watermark: reports damage, or finds all but `may_miss` entries at the end.
    fn check_unmarked(&self, image: &Image, may_miss: usize, context: &str) {
        match open(&SimDisk::of_image(image), &options(0)) {
            Err(error) => assert_eq!(error.kind, Kind::Corrupt, "{context}: {error}"),
            Ok(journal) => {
                let end = journal.end() as usize;
                assert!(self.list.len() - may_miss <= end, "{context}: {end}");
                let Some(read) = self.list.get(journal.extent().first as usize - 1..end) else {
                    assert_eq!(journal.extent().first, journal.end() + 1, "{context}");
                    return;
                };
                assert_same(&read_all(&journal).unwrap(), read, context);
            }
        }
    }

    /// Opens the image with the watermark of all entries. Either the journal has all entries, or
    /// the open fails and changes nothing; then returns the disk.
    fn check_marked(&self, image: &Image, context: &str) -> Option<SimDisk> {
        let disk = SimDisk::of_image(image);
        match open(&disk, &options(self.end())) {
            Err(error) => {
                assert_eq!(error.kind, Kind::Corrupt, "{context}: {error}");
                assert_eq!(&disk.image(), image, "{context}");
                Some(disk)
            }
            Ok(journal) => {
                let first = journal.extent().first;
                assert!(first <= self.first, "{context}");
                let read = &self.list[first as usize - 1..];
                assert_same(&read_all(&journal).unwrap(), read, context);
                // One valid header copy is enough, but the open has to repair the other.
                for bytes in disk.image().values() {
                    let (one, other) = bytes[..2 * COPY_BYTES].split_at(COPY_BYTES);
                    let copies = [one, other].map(|copy| SegmentHeader::decode(copy).unwrap());
                    assert_eq!(copies[0], copies[1], "{context}");
                }
                None
            }
        }
    }

    /// Opens the disk with an accepted loss: the journal has a prefix of the entries, and can
    /// continue.
    fn check_accepted(&self, disk: &SimDisk, context: &str) {
        // Keep all files, so that nothing disappears merely because its file was deleted.
        let accepting =
            JournalOptions { accept_loss: true, spare_segments: 4, ..options(self.end()) };
        let journal = open(disk, &accepting).unwrap();
        let end = journal.end();
        assert!(end <= self.end(), "{context}");
        let mut expected = read_all(&journal).unwrap();
        if let Some(first) = expected.first() {
            assert_same(&expected, &self.list[first.n as usize - 1..end as usize], context);
        }
        drop(journal);
        // No dropped entry may reappear, even if little is written over it.
        for bytes in [10, 9_000, 9_000] {
            let journal = open(disk, &options(expected.last().map_or(0, |last| last.n))).unwrap();
            assert_same(&read_all(&journal).unwrap(), &expected, context);
            let next = entry(journal.end() + 1, 1_000, bytes);
            journal.append(&encode(std::slice::from_ref(&next))).unwrap();
            expected.push(next);
        }
    }

    /// Returns the image with one file changed.
    fn with_file(&self, name: &str, change: impl FnOnce(&mut Vec<u8>)) -> Image {
        let mut image = self.image.clone();
        change(image.get_mut(name).unwrap());
        image
    }
}

#[test]
fn every_flipped_bit_is_noticed_or_changes_nothing() {
    let sample = Sample::new();
    for name in sample.image.keys() {
        for at in sample.bytes_that_matter(name) {
            let bits = [at % 8, (at + 3) % 8, (at + 6) % 8];
            for bit in bits {
                let image = sample.with_file(name, |bytes| bytes[at] ^= 1 << bit);
                let context = format!("{name} byte {at} bit {bit}");
                let refused = sample.check_marked(&image, &context);
                sample.check_unmarked(&image, sample.last_group, &context);
                // This takes ten times as long as the other checks.
                if let Some(disk) = refused.filter(|_| at % 11 == 0) {
                    sample.check_accepted(&disk, &context);
                }
            }
        }
    }
}

#[test]
fn every_zeroed_byte_and_block_is_noticed_or_changes_nothing() {
    let sample = Sample::new();
    for name in sample.image.keys() {
        let len = sample.image[name].len();
        for at in sample.bytes_that_matter(name).into_iter().filter(|at| at % BLOCK as usize <= 256)
        {
            let image = sample.with_file(name, |bytes| bytes[at] = 0);
            sample.check(&image, sample.last_group, &format!("{name} byte {at}"));
        }
        for (step, size) in [(512, 512), (4_096, 4_096), (4_096, 3 * 4_096), (8_192, 16_384)] {
            for at in (0..len).step_by(step) {
                let image = sample.with_file(name, |bytes| bytes[at..len.min(at + size)].fill(0));
                let may_miss = sample.list.len();
                sample.check(&image, may_miss, &format!("{name} bytes {at}, {size}"));
            }
        }
    }
}

#[test]
fn every_file_that_is_cut_is_noticed() {
    let sample = Sample::new();
    for name in sample.image.keys() {
        let len = sample.image[name].len();
        for end in (0..len).filter(|end| end % 4_096 < 60 || end % 509 == 0) {
            let context = format!("{name} ends at {end}");
            let image = sample.with_file(name, |bytes| bytes.truncate(end));
            let disk = SimDisk::of_image(&image);
            let error = open(&disk, &options(0)).unwrap_err();
            assert_eq!(error.kind, Kind::Corrupt, "{context}");
            sample.check_accepted(&disk, &context);
            // If the missing bytes are replaced by zeros, the last entries may be lost unnoticed.
            let image = sample.with_file(name, |bytes| bytes[end..].fill(0));
            sample.check(&image, sample.list.len(), &context);
        }
        let image = sample.with_file(name, |bytes| bytes.push(0));
        sample.check(&image, 0, &format!("{name} is longer"));
    }
}

#[test]
fn files_that_are_missing_old_or_in_the_wrong_place_are_noticed() {
    let sample = Sample::new();
    let names: Vec<_> = sample.image.keys().cloned().collect();
    for name in &names {
        let mut image = sample.image.clone();
        image.remove(name);
        sample.check(&image, sample.list.len(), &format!("without {name}"));
        for other in &names {
            let mut image = sample.image.clone();
            image.insert(name.clone(), sample.image[other].clone());
            sample.check(&image, 0, &format!("{other} as {name}"));
        }
        let mut image = sample.image.clone();
        image.insert("99.journal".to_owned(), sample.image[name].clone());
        sample.check(&image, 0, &format!("a copy of {name}"));
    }
    sample.check(&Image::new(), sample.list.len(), "nothing");
}

#[test]
fn sectors_in_the_wrong_place_and_random_bytes_are_noticed() {
    let sample = Sample::new();
    let names: Vec<_> = sample.image.keys().collect();
    for seed in 0..3_000 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut image = sample.image.clone();
        for _ in 0..random.usize(1..4) {
            let (from, to) = (random.choice(&names).unwrap(), random.choice(&names).unwrap());
            // Units that a device or the journal writes: a sector, a block, a copy of a header.
            let size = random.choice([SECTOR, BLOCK as usize, COPY_BYTES]).unwrap();
            let places = sample.image[*from].len() / size;
            let [source, place] = [(); 2].map(|()| random.usize(..places) * size);
            let mut bytes = sample.image[*from][source..source + size].to_vec();
            if random.bool() {
                bytes.truncate(random.usize(1..9));
                random.fill(&mut bytes);
            }
            image.get_mut(*to).unwrap()[place..place + bytes.len()].copy_from_slice(&bytes);
        }
        let context = format!("seed {seed}");
        sample.check(&image, sample.list.len(), &context);
    }
}

#[test]
fn a_missing_segment_is_named_and_all_before_it_is_kept() {
    let sample = Sample::new();
    let header = |name: &String| SegmentHeader::decode(&sample.image[name][..COPY_BYTES]).unwrap();
    let mut files: Vec<_> = sample.image.keys().map(|name| (header(name), name)).collect();
    files.sort_by_key(|(header, _)| header.generation);
    // One spare segment, then three of the journal.
    let (middle, name) = &files[2];
    let mut image = sample.image.clone();
    image.remove(*name);
    let disk = SimDisk::of_image(&image);
    let error = open(&disk, &options(0)).unwrap_err();
    let text = format!("the journal's segment of generation {} is missing", middle.generation);
    assert_eq!((error.kind, error.message), (Kind::Corrupt, text));
    let accepting = JournalOptions { accept_loss: true, ..options(0) };
    let journal = open(&disk, &accepting).unwrap();
    assert_eq!((journal.extent().first, journal.end()), (sample.first, middle.first - 1));
}

#[test]
fn a_group_that_was_written_over_and_is_back_is_noticed() {
    let mut run = Run::new();
    run.append(&[10]);
    let disk = run.disk.after_kill();
    let other = open(&disk, &options(1)).unwrap();
    other.append(&encode(&[entry(2, 77, 10)])).unwrap();
    run.append(&[10]);
    run.append(&[10]);
    let mut image = run.disk.image();
    // The second group is replaced by the other journal's at the same offset, which is intact and
    // continues the first group, but is not the group that the third one continues.
    let place = (GROUPS_AT + BLOCK) as usize..(GROUPS_AT + 2 * BLOCK) as usize;
    let (name, bytes) = image.iter_mut().next().unwrap();
    bytes[place.clone()].copy_from_slice(&disk.image()[name][place.clone()]);
    assert_ne!(bytes, &run.disk.image()[name]);
    let error = open(&SimDisk::of_image(&image), &options(0)).unwrap_err();
    assert_eq!(error.kind, Kind::Corrupt);
}

#[test]
fn a_loss_can_be_accepted_again_when_the_machine_stops_meanwhile() {
    let sample = Sample::new();
    let accepting = JournalOptions { accept_loss: true, ..options(0) };
    for name in sample.image.keys() {
        let image = sample.with_file(name, |bytes| bytes[GROUPS_AT as usize + 60] ^= 1);
        let whole = SimDisk::of_image(&image);
        let end = open(&whole, &accepting).unwrap().end();
        for nth in 1.. {
            let mut random = fastrand::Rng::with_seed(nth);
            let disk = SimDisk::of_image(&image);
            disk.fail_nth(nth, 5, true);
            let opened = open(&disk, &accepting).is_ok();
            let disk = disk.after_power_cut(&mut random);
            let context = format!("{name}, call {nth}");
            assert_eq!(open(&disk, &accepting).unwrap().end(), end, "{context}");
            sample.check_accepted(&disk, &context);
            if opened {
                break;
            }
        }
    }
}

#[test]
fn a_message_names_the_file_and_the_byte() {
    let sample = Sample::new();
    open(&SimDisk::of_image(&sample.image), &options(sample.end())).unwrap();
    let name = sample.image.keys().next().unwrap();
    let image = sample.with_file(name, |bytes| {
        bytes[20] ^= 1;
        bytes[COPY_BYTES + 20] ^= 1;
    });
    let error = open(&SimDisk::of_image(&image), &options(0)).unwrap_err();
    assert!(error.message.contains(&format!("{name} of the journal is damaged at byte 0")));
    let mut named = 0;
    for name in sample.image.keys() {
        let image = sample.with_file(name, |bytes| bytes[GROUPS_AT as usize + 60] ^= 1);
        if let Err(error) = open(&SimDisk::of_image(&image), &options(0)) {
            let place = format!("{name} of the journal is damaged at byte {GROUPS_AT}");
            assert!(error.message.contains(&place), "{error}");
            named += 1;
        }
    }
    assert_eq!(named, 3);
}
